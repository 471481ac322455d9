/* rt/plan.h - what the executive and the virtual devices must agree on: addresses, arms, where the robot
 * stands before the start and how it gets up to speed. */
#ifndef FF_RT_PLAN_H
#define FF_RT_PLAN_H

#include "devices/device.h"
#include "freefloat/output.h"
#include "net/socket.h"
#include "scenario/scenario.h"

typedef struct ff_plan_options {
    unsigned rsi_port, ati_port, http_port; /* 0: the scenario's; the second body takes the next one */
} ff_plan_options;

typedef struct ff_plan_body {
    const ff_device *robot, *sensor;
    struct sockaddr_in robot_at;           /* where this computer listens for the controller */
    struct sockaddr_in sensor_at, page_at; /* the sensor */
    bool virtual;                          /* nothing outside this computer can be behind these addresses */
    ff_arm_model arm;                      /* base in the world, tool from flange to CoM */
    ff_arm_joints home;                    /* where the arm stands at the park pose */
    bool cartesian, increments;            /* how the robot is commanded: by poses, by what to add */
    ff_setpoint start;                     /* at t = 0: pose and twist */
    double delay;                          /* [s] of the robot, as the scenario says */
    double lag;                            /* [s] it is behind that in a steady motion */
    ff_output_config output;               /* what every answer keeps */
} ff_plan_body;

typedef struct ff_plan {
    int bodies;
    double cycle;   /* [s] */
    uint64_t runup; /* [cycles] before t = 0 in which the robots get up to speed; 0: they start at rest */
    double cruise, ramp; /* [s] its parts */
    bool virtual;        /* all devices are */
    ff_plan_body body[FF_MAX_BODIES];
} ff_plan;

/* FF_ERR_ARGUMENT, FF_ERR_REACH, FF_ERR_UNSUPPORTED with a sentence. A robot without base (all but kuka-rsi)
 * is placed so that the arm is at (0, -90, 120, 0, 60, 0) deg when the satellite starts. */
ff_status ff_plan_create(const ff_scenario *scenario, const ff_plan_options *options, ff_plan *plan,
                         char *message, size_t size);
/* What the answers to one robot are bounded by: the smaller of `limits` and `safety` where one is named, else
 * the cautious values of ff_output_default. */
void ff_plan_output(const ff_satellite *satellite, const ff_safety_limits *safety, double cycle,
                    ff_output_config *output);
/* The commanded motion at t <= 0 [s]: at rest at the park pose, a smooth ramp along the constant initial
 * twist, then steady motion that reaches the start at t = 0. */
ff_setpoint ff_plan_runup(const ff_plan *plan, int body, double t);
/* KUKA's view of a body's pose: RIst in the robot's base, TCP at the CoM. */
ff_pose ff_plan_to_rist(const ff_plan_body *body, ff_pose T_wb);
ff_pose ff_plan_from_rist(const ff_plan_body *body, ff_pose rist);

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

#endif
