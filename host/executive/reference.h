/* executive/reference.h - the ideal reference itself as a run: satellite, robot and ideal are one. */
#ifndef FF_EXECUTIVE_REFERENCE_H
#define FF_EXECUTIVE_REFERENCE_H

#include "executive/run.h"

/* Where the run of the reference has come to. Large: not on the stack. */
typedef struct ff_reference {
    const ff_scenario *scenario; /* lent, as the next three */
    const ff_ideal_result *ideal;
    const ff_run_options *options;
    ff_run_result *result;
    ff_rigid_model model[FF_MAX_BODIES];
    ff_nominal_config motion;
    ff_rigid_state nominal;
    uint64_t k;                /* rows so far */
    int next;                  /* contacts of the reference are in order of start */
    int open[FF_MAX_CONTACTS]; /* the newest of each of the scenario's; -1: none yet */
    ff_row row;
    ff_row_arms arms;
} ff_reference;

/* Rows of options->ideal, one by one; FF_ERR_ARGUMENT without it. */
ff_status ff_reference_open(ff_reference *reference, const ff_scenario *scenario,
                            const ff_run_options *options, ff_run_result *result);
/* False: there is no further row, or result->status says why not. */
bool ff_reference_cycle(ff_reference *reference);
/* FF_ERR_LIMIT. */
void ff_reference_stop(ff_reference *reference);
/* Its state (text/keep.h). */
void ff_reference_keep(ff_reference *reference, ff_keeper *keeper);
/* With an arm, whole: the orbit is flown again, for its joints and orders. FF_ERR_LIMIT when it was stopped;
 * what a sink says. */
void ff_reference_orbit(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result);

#endif
