/* record/station.h - a recorded log as a station: its inputs are the samples, its rows are kept beside them
 * to compare with. */
#ifndef FF_RECORD_STATION_H
#define FF_RECORD_STATION_H

#include "executive/run.h"
#include "facility/station.h"
#include "record/logfile.h"

typedef struct ff_log_station {
    ff_logfile *file;
    const ff_scenario *scenario;
    size_t columns;   /* of a row */
    double *recorded; /* the row of the cycle that runs, as many */
    /* the station's own: */
    uint64_t k;                         /* offered last */
    ff_setpoint offered[FF_MAX_BODIES]; /* then */
    struct {
        int command, lag, limited; /* columns of a row; motion: position, attitude, velocities */
    } column[FF_MAX_BODIES];
    ff_columns inputs, tunings; /* from open to close */
    double *values;
    ff_row given;     /* what the values say: input and tuning */
    bool cut;         /* the log was not closed: its last row may have lost its input */
    uint64_t damaged; /* chunks */
    ff_status status; /* negative: why nothing more can be read; FF_OK at the log's end, too */
    const char *why;  /* a sentence with it */
} ff_log_station;

/* The station of an open log, from its first row on; the first four fields are the caller's. */
ff_station ff_log_station_make(ff_log_station *self);
/* For ff_run_options.between, with the ff_log_station as user: reads the row of the coming cycle and gives
 * the loop what was tuned before it. False at the end of the log, or when `status` says why. */
bool ff_log_station_between(void *self, const ff_run_access *access);

#endif
