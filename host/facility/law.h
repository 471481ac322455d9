/* facility/law.h - the torque that the servicer's arm on the ground is given so that it moves as it would in
 * orbit: (22) of destefano2021, for one cycle of the arm's own, from what is known when that begins. The
 * virtual arm of `run` and an arm on devices (network/arm.c) are given it by the same lines.
 *
 * The base is known at the loop's cycles; between them it is led on by its twist and the twist's last change.
 */
#ifndef FF_FACILITY_LAW_H
#define FF_FACILITY_LAW_H

#include "scenario/scenario.h"

typedef struct ff_arm_law {
    double cycle; /* [s] the arm's own, */
    int parts;    /* so many in one of the loop's */
    size_t joints;
    ff_tree_memory orbit;
    ff_servicer_model model;
    ff_rigid_model free; /* whose unforced motion is the nominal one; */
    bool moves;          /* else it keeps its twist */
    /* state */
    struct ff_arm_law_state {
        bool known; /* the base has been seen */
        ff_pose T;  /* of it at t_k, in the robots' frame */
        ff_twist V, A;
        ff_servicer_in in;
    } state;
} ff_arm_law;

/* Of a scenario with an arm. FF_OK, or a negative status with a sentence and nothing held. */
ff_status ff_arm_law_open(ff_arm_law *law, const ff_scenario *scenario, char *message, size_t size);
void ff_arm_law_close(ff_arm_law *law);
void ff_arm_law_reset(ff_arm_law *law);
/* At t_k: the base as measured, in the robots' frame, and the nominal motion. */
void ff_arm_law_see(ff_arm_law *law, const ff_setpoint *base, const ff_rigid_state *nominal);
/* The torque for the arm's cycle that begins `part` of its cycles after t_k with these joints; `ordered` is
 * the on-board software's. It is held, so it is the one of the cycle's middle: at its start, gravity alone
 * would be half a cycle old. */
void ff_arm_law_torque(ff_arm_law *law, int part, const double *q, const double *qd, const double *ordered,
                       double *torque);
/* What the joints may do. */
void ff_arm_law_limits(const ff_servicer_arm *arm, ff_joint_limits *limits);
/* The gripper is to be closed at t [s]. Half a nanosecond of grace: t is a product, the times are decimal
 * fractions. */
bool ff_arm_law_grips(const ff_scenario *scenario, double t);

#endif
