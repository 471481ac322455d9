/* emulate/arm.h - runs the emulation of an arm by another one, as the scenario describes them. */
#ifndef FF_EMULATE_ARM_H
#define FF_EMULATE_ARM_H

#include "emulate/emulate.h"

/* As ff_emulate_joint_run. Also FF_ERR_SIZE (joints against the task), FF_ERR_INERTIA, FF_ERR_MASS (which
 * link), FF_ERR_REACH (the robot cannot show the target's start pose). */
ff_status ff_emulate_arms_run(const ff_emulate_arms *arms, ff_emulate_result *result, char *message,
                              size_t size, char *warnings, size_t warnings_size);
/* As ff_emulate_joint_open. */
ff_status ff_emulate_arms_open(const ff_emulate_arms *arms, ff_emulate_machine *machine, char *message,
                               size_t size);
/* Q = M_s M_r^-1 at the start, n x n (n = 2 or 6). */
ff_status ff_emulate_arms_ratio(const ff_emulate_arms *arms, size_t *n, double *Q, char *message,
                                size_t size);

#endif
