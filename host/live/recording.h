/* live/recording.h - a recorded run as rows by number. log.csv is read where it lies: only
 * the starts of the lines are kept. log.mcap is taken into memory, at most FF_RECORDING_NUMBERS numbers;
 * of a longer one every second row is left out, as often as needed. */
#ifndef FF_LIVE_RECORDING_H
#define FF_LIVE_RECORDING_H

#include <stdio.h>

#include "live/live.h"

#define FF_RECORDING_NUMBERS ((size_t)64 << 20)

typedef struct ff_recording {
    FILE *file; /* CSV */
    bool lost;  /* it became shorter, or cannot be read any more */
    bool cut;   /* its last line has no end */
    int columns;
    char **name;
    size_t rows;
    size_t *line; /* offset of each row of a CSV file, and of what follows the last */
    char *text;   /* of one line */
    size_t room;
    double *stored; /* or the rows of an MCAP file */
} ff_recording;

/* A path that ends in .mcap, else CSV. FF_ERR_IO, FF_ERR_FORMAT (no header, no time column, or a row is
 * damaged), FF_ERR_MEMORY; `message` gets one sentence with the line. FF_OK with a message: what of
 * the log is missing. */
ff_status ff_recording_open(ff_recording *recording, const char *path, char *message, size_t size);
void ff_recording_close(ff_recording *recording);
/* values[columns]; an empty field is FF_NAN, and all are of a row that is lost. */
void ff_recording_row(ff_recording *recording, size_t row, double *values);
double ff_recording_time(ff_recording *recording, size_t row);
/* Last row at or before t, at least 0. */
size_t ff_recording_at(ff_recording *recording, double t);

/* Plays it on a live server with a clock of its own: hold, resume, speed, seek. */
typedef struct ff_player {
    ff_live *live;
    ff_recording *recording;
    double *values;
    double t, speed;
    bool playing, stopped;
    size_t next; /* row to be pushed next */
    int64_t last_ns;
} ff_player;

ff_status ff_player_init(ff_player *player, ff_live *live, ff_recording *recording);
void ff_player_free(ff_player *player);
/* One turn: commands, then the rows that are due now (CLOCK_MONOTONIC [ns]). False after `stop`,
 * or when the recording is lost. */
bool ff_player_step(ff_player *player, int64_t now_ns);

#endif
