/* facility/manipulator.h - the servicer's arm on the ground: a torque-controlled device on the servicer's
 * robot that feels gravity and the contact and has its own faster cycle, in which its motors are given the
 * torque (22) of destefano2021, so that it moves as it would in orbit; and its gripper, which grasps the
 * client or bumps into it. */
#ifndef FF_FACILITY_MANIPULATOR_H
#define FF_FACILITY_MANIPULATOR_H

#include "facility/robots.h"
#include "facility/station.h"

typedef struct ff_manipulator ff_manipulator;

/* Of a scenario with an arm; kept, not copied. NULL with a sentence. */
ff_manipulator *ff_manipulator_create(const ff_scenario *scenario, char *message, size_t size,
                                      ff_status *why);
void ff_manipulator_free(ff_manipulator *arm);
/* Its state (text/keep.h). */
void ff_manipulator_keep(ff_manipulator *arm, ff_keeper *keeper);
/* Back to t = 0. */
void ff_manipulator_reset(ff_manipulator *arm);
/* What it does from now on. */
void ff_manipulator_order(ff_manipulator *arm, const ff_arm_order *order);

/* What its controller measures when one of its cycles begins. */
typedef struct ff_arm_measured {
    const ff_sample_joints *joints;      /* motor: of the cycle before */
    ff_wrench port;                      /* contact wrench on the gripper, gripper axes */
    double external[FF_TREE_JOINTS_MAX]; /* [N m] what that does to the joints */
} ff_arm_measured;

/* Who commands the motors in place of the orders and (22): a controller on the network. */
typedef struct ff_arm_drive {
    void *self;
    /* The torque [N m] of the arm's cycle `part` of the loop's, and whether the gripper is to be closed.
     * False: its brakes hold the joints. */
    bool (*torque)(void *self, int part, const ff_arm_measured *measured, double *torque, bool *grips);
} ff_arm_drive;
void ff_manipulator_drive(ff_manipulator *arm, ff_arm_drive drive);
/* At part s (0 to 1) of the loop's cycle that is being made; of one that is done, 1. */
void ff_manipulator_measure(const ff_manipulator *arm, double s, ff_arm_measured *measured);

/* From t_(k-1) to t_k, after both robots (one per satellite) went there; `nominal` is the nominal motion at
 * t_k, which the torques of the coming cycle need. Gripper and contacts at t_k go into *truth; wrench robots
 * are pushed by them. FF_OK, FF_ERR_DIVERGED. */
ff_status ff_manipulator_step(ff_manipulator *arm, uint64_t k, ff_robot *robot, const ff_rigid_state *nominal,
                              ff_truth *truth);
/* The sample of the step before; the gripper's wrench is the servicer's sensor. */
const ff_sample_joints *ff_manipulator_joints(const ff_manipulator *arm);

#endif
