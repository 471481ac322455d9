/* ideal/closed.h - the reference in closed form where one exists: bodies that fly straight, turn evenly, and
 * meet lossless or damped walls through their centre of mass. Exact to rounding and a hundred times quicker
 * than the solver; campaigns use it. */
#ifndef FF_IDEAL_CLOSED_H
#define FF_IDEAL_CLOSED_H

#include "ideal/ideal.h"

/* FF_OK with a result to be freed by ff_ideal_free; FF_ERR_UNSUPPORTED when no closed form is exact here
 * (then use ff_ideal_solve); FF_ERR_MEMORY. */
ff_status ff_ideal_closed(const ff_scenario *scenario, ff_ideal_result *result);

#endif
