/* facility/plan.h - how robots get to t = 0, on devices: which arms they are, where they stand before the
 * start and how they get up to speed. The loop and the virtual devices must agree on it. */
#ifndef FF_FACILITY_PLAN_H
#define FF_FACILITY_PLAN_H

#include "freefloat/output.h"
#include "scenario/scenario.h"

typedef struct ff_plan_body {
    ff_arm_model arm;           /* base in the world, tool from flange to CoM */
    ff_arm_joints home;         /* where the arm stands at the park pose */
    bool cartesian, increments; /* how the robot is commanded: by poses, by what to add */
    bool heartbeat;             /* with a counter and the run's state */
    ff_setpoint start;          /* at t = 0: pose and twist */
    double delay;               /* [s] of the robot, as the scenario says */
    double lag;                 /* [s] it is behind that in a steady motion */
    ff_output_config output;    /* what every answer keeps */
} ff_plan_body;

typedef struct ff_plan {
    int bodies;
    double cycle;   /* [s] */
    uint64_t runup; /* [cycles] before t = 0 in which the robots get up to speed; 0: they start at rest */
    double cruise, ramp; /* [s] its parts */
    ff_plan_body body[FF_MAX_BODIES];
} ff_plan;

/* FF_ERR_ARGUMENT, FF_ERR_REACH, FF_ERR_UNSUPPORTED with a sentence. */
ff_status ff_plan_create(const ff_scenario *scenario, ff_plan *plan, char *message, size_t size);
/* Which arm carries a satellite, where it stands, and how it stands when the satellite starts. A device's and
 * in virtual time that of elastic gears are the scenario's; any other robot is a KR 120 placed so that it is
 * at (0, -90, 120, 0, 60, 0) deg then: on devices with the scenario's tool, in virtual time upright, with the
 * mock-up bolted on as the start asks. A device's joints are those that the run-up leads to, on devices and
 * in virtual time alike. */
ff_status ff_plan_place(const ff_scenario *scenario, int body, bool devices, ff_arm_model *arm,
                        ff_arm_joints *joints, char *message, size_t size);
/* What the answers to one robot are bounded by: the smaller of `limits` and `safety` where one is named, else
 * the cautious values of ff_output_default. */
void ff_plan_output(const ff_satellite *satellite, const ff_safety_limits *safety, double cycle,
                    ff_output_config *output);
/* The commanded motion at t <= 0 [s]: at rest at the park pose, a smooth ramp along the constant initial
 * twist, then steady motion that reaches the start at t = 0. */
ff_setpoint ff_plan_runup(const ff_plan *plan, int body, double t);
/* A body's pose as its robot's controller has it: the tool, at the CoM, in the robot's base. */
ff_pose ff_plan_to_base(const ff_plan_body *body, ff_pose T_wb);
ff_pose ff_plan_from_base(const ff_plan_body *body, ff_pose T_bt);

#endif
