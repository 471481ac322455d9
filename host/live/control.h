/* live/control.h - the executive's side of the page: paces a virtual run in wall-clock time, holds and stops
 * it, and applies what the page asks for, between cycles.
 *
 * Zeroing averages the contact wrench over FF_TUNING_ZERO_TIME and ramps it into the bias (rt/tuning.h).
 * Zeroing and tuning are refused while any body is in contact; a touch during zeroing gives it up. Nothing
 * here arms anything. */
#ifndef FF_LIVE_CONTROL_H
#define FF_LIVE_CONTROL_H

#include "live/live.h"
#include "operator/tuning.h"
#include "executive/run.h"

/* What may be tuned, as the page takes it. */
void ff_live_parameters(const ff_tuning_table *table, ff_live_config *config);

typedef struct ff_live_control {
    ff_live *live;
    const ff_scenario *scenario;
    ff_live_config config;     /* names of the parameters */
    bool (*interrupted)(void); /* may be NULL */
    bool paced;
    bool held, stopped;
    double speed;      /* seconds of the run in a second */
    int64_t anchor_ns; /* wall clock at anchor_t; 0: not yet */
    double anchor_t;
    ff_tuning tuning;
    ff_twist twist[FF_MAX_BODIES], acceleration[FF_MAX_BODIES]; /* of the last command, robots' frame */
    int seen; /* rows, up to 2: differences need neighbours */
} ff_live_control;

/* Fills verbs, limits and parameters of `config` for a scenario and opens the doors. As ff_live_open. */
ff_status ff_live_control_start(ff_live_control *control, const ff_scenario *scenario,
                                const ff_live_doors *doors, char *message, size_t size);
/* Ends the server and frees. */
void ff_live_control_stop(ff_live_control *control);
/* Pushes the rows, with the command's acceleration and jerk, which stand in no column; it never fails. */
ff_sink ff_live_control_sink(ff_live_control *control);
/* What it adds: for each satellite acceleration, angular acceleration, jerk, angular jerk. */
enum { FF_LIVE_GATE = 4 };
void ff_live_control_gauges(ff_live_control *control, const ff_row *row,
                            double gauge[FF_LIVE_GATE * FF_MAX_BODIES]);
/* For ff_run_options.between. */
bool ff_live_control_between(void *control, const ff_run_access *access);

#endif
