/* fit/motion.h - velocity and acceleration of a robot that reports its pose once a cycle. */
#ifndef FF_FIT_MOTION_H
#define FF_FIT_MOTION_H

#include "freefloat/command.h"

/* Velocity from poses that come once a cycle: second-order backward differences,
 *   v_k = (3 p_k - 4 p_(k-1) + p_(k-2)) / (2 T), the same with rotation vectors in body axes;
 * a first-order difference would be half a cycle late, and the methods would take that for delay. */
typedef struct ff_motion_state {
    int known;       /* poses seen, up to 2 */
    ff_pose last[2]; /* newest first */
    ff_vec3 w_last;  /* last step's rotation over T, body axes */
    ff_twist twist;  /* last estimate */
} ff_motion_state;

ff_setpoint ff_motion_step(ff_motion_state *state, ff_pose T, double cycle, ff_twist *acceleration);
/* The same of a robot that reports its velocity, too: the acceleration is the difference of the last two. */
ff_setpoint ff_motion_given(ff_motion_state *state, const ff_setpoint *now, double cycle,
                            ff_twist *acceleration);

#endif
