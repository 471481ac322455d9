/* executive/reference.h - the ideal reference itself as a run: satellite, robot and ideal are one. */
#ifndef FF_EXECUTIVE_REFERENCE_H
#define FF_EXECUTIVE_REFERENCE_H

#include "executive/run.h"

/* Rows of options->ideal; with an arm the orbit is flown again, for its joints and orders. FF_ERR_ARGUMENT
 * without one; FF_ERR_LIMIT when it was stopped; what a sink says. */
void ff_reference_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result);

#endif
