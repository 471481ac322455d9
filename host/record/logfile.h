/* record/logfile.h - reads a log.mcap back: its scenario, its columns, its inputs. */
#ifndef FF_RECORD_LOGFILE_H
#define FF_RECORD_LOGFILE_H

#include <stdio.h>

#include "record/log.h"

typedef struct ff_logfile {
    ff_mcap_reader *reader;
    int columns;
    char (*name)[FF_COLUMN_NAME];
    uint16_t cycle, input, tuning; /* channels; 0 before they were seen */
    /* what was tuned, as the last such message said: it stands before the row that it holds from */
    bool retuned; /* it was not looked at yet */
    uint64_t tuned_from;
    size_t tuned_count;
    double tuned[FF_COLUMNS_TUNING_MAX];
    uint64_t next;    /* no row before this one is given any more */
    bool displaced;   /* the row before was such a one */
    char version[32]; /* of the program that wrote it */
    int format;       /* FF_LOG_FORMAT of that program */
    /* Of a replay, to be set after opening: may be NULL; false stops it. */
    bool (*progress)(void *user, double part);
    void *user;
} ff_logfile;

/* FF_ERR_IO, FF_ERR_FORMAT (no log of ours), FF_ERR_MEMORY, with one sentence. */
ff_status ff_logfile_open(const char *path, ff_logfile *file, char *message, size_t size);
void ff_logfile_close(ff_logfile *file);
/* What such a status means of a log. */
const char *ff_logfile_text(ff_status status);
/* The scenario that stands in the log, with its overrides. FF_ERR_FORMAT: the log holds none, it is not valid
 * any more, or its method library is not the file it was. */
ff_status ff_logfile_scenario(const ff_logfile *file, const ff_catalog *catalog, ff_scenario *scenario,
                              char *message, size_t size);

typedef enum ff_logfile_kind { FF_LOGFILE_END, FF_LOGFILE_CYCLE, FF_LOGFILE_INPUT } ff_logfile_kind;

/* From the beginning again. */
void ff_logfile_rewind(ff_logfile *file);
/* The next row or input in file order; other messages are passed over. Rows ascend: those of a chunk that
 * stands there twice, or behind a later one, are passed over as damaged. values holds `capacity` numbers, *n
 * of them are written. Damaged chunks are passed over and counted in *damaged. FF_ERR_SIZE, FF_ERR_FORMAT;
 * FF_ERR_IO: the file became shorter or cannot be read any more, FF_ERR_MEMORY. */
ff_status ff_logfile_next(ff_logfile *file, ff_logfile_kind *kind, uint64_t *k, double *values,
                          size_t capacity, size_t *n, uint64_t *damaged);

/* What of the log is missing, `damaged` parts passed over so far, as a warning; "" and false: nothing is. */
bool ff_logfile_loss(const ff_logfile *file, uint64_t damaged, char *text, size_t size);

/* MATLAB v5, one variable a column (letters, digits and _). FF_ERR_IO, FF_ERR_MEMORY. */
ff_status ff_matlab_write(FILE *file, int columns, char (*name)[FF_COLUMN_NAME], const double *values,
                          size_t rows);

#endif
