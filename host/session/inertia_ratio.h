/* session/inertia_ratio.h - Q, the target's Cartesian inertia over the robot's, from a file: what
 * study/contact_stability.h is asked about. */
#ifndef FF_SESSION_INERTIA_RATIO_H
#define FF_SESSION_INERTIA_RATIO_H

#include "freefloat/base.h"

/* A scenario that emulates (.yaml, .yml): Q at its start; any other file: the rows of a square matrix of up
 * to 6 rows, '#' begins a comment. Q row-major n x n. FF_ERR_IO, FF_ERR_FORMAT, FF_ERR_MEMORY: one sentence
 * in message. */
ff_status ff_inertia_ratio_read(const char *path, size_t *n, double Q[36], char *message, size_t size);

#endif
