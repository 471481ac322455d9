/* emulate/bounds.h - what [aghili] bounds, over a run: the constraint error of the closed-loop inverse
 * kinematics (Theorem 1, Appendix C) and the gain of the force-error feedback (Appendix A). */
#ifndef FF_EMULATE_BOUNDS_H
#define FF_EMULATE_BOUNDS_H

#include "freefloat/emulation.h"

typedef struct ff_emulate_bounds {
    double force_gain; /* [1/kg] least 2 G_v / lambda_max(M_s') so far; FF_INF: none */
    double speed;      /* [m/s] largest |p_r'|; a pose's in rad/s and m/s together */
    double least;      /* [m2] least eigenvalue of J_s J_s^T; a pose's in its mixed units */
    double inertia[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX]; /* M_s of the sample before */
    bool begun;
} ff_emulate_bounds;

/* One sample of the target at q and of the robot's task velocity, T seconds after the one before. `work` is
 * scratch. A singular pose is left out. */
void ff_emulate_bounds_see(ff_emulate_bounds *bounds, const ff_emulation_config *config,
                           const ff_mechanism *target, const double *q, const double *p_dot, double T,
                           ff_emulation_work *work);
/* The radius of Theorem 1's ball for K = k I: |p_r'|max / (k lambda_min(J_s J_s^T)). FF_NAN without samples.
 */
double ff_emulate_bounds_ball(const ff_emulate_bounds *bounds, const ff_emulation_config *config);

#endif
