/* executive/mission.h - capture of a client by a servicer with an arm, on two virtual robots or in orbit.
 *
 * The facility: two robots carry client and base and make the motion relative to a nominal one; the arm is a
 * torque-controlled device on the servicer's robot that feels gravity and has its own faster cycle. The
 * orbit: (2) and (12) of destefano2021 as they stand, the same controller: the reference. */
#ifndef FF_EXECUTIVE_MISSION_H
#define FF_EXECUTIVE_MISSION_H

#include "facility/environment.h"
#include "facility/outputs.h"
#include "facility/robots.h"
#include "obsw/computer.h"

typedef struct ff_mission_config {
    double cycle, duration, arm_cycle; /* [s] arm_cycle divides cycle */
    uint64_t seed;
    ff_rigid_config client;
    ff_rigid_state client_start;
    const ff_tree_config *servicer; /* free base */
    ff_tree_frame gripper;
    ff_pose servicer_start; /* base in the client's body frame; it moves along with the client */
    bool absolute_start;    /* instead: */
    ff_rigid_state start;   /* the base at t = 0, inertial */
    double q_start[FF_TREE_JOINTS_MAX];
    bool prescribed;            /* the nominal motion is: */
    ff_rigid_state nominal;     /* and not the client's unforced one */
    double grasp_reach;         /* [m] the gripper closes only so near to `grapple`; FF_INF */
    bool bounded;               /* what the robots are sent keeps: */
    ff_output_config output[2]; /* client, servicer */
    const ff_method
        *method; /* one with FF_CAN_TREE: what the loop makes of the contact wrench; NULL: direct */
    ff_settings setting;
    ff_world world;
    /* Known loads on client (0) and servicer (1, at the base's origin) at time t; NULL: none. */
    ff_rigid_load (*load)(const void *of, int which, double t);
    const void *load_of;
    ff_vec3 grapple; /* [m] the place that is held, client's body frame */
    bool held;       /* the contact wrench is held over the cycle; else an impulse at its start */
    double opens;    /* [s] the gripper lets go, for good; FF_INF */
    /* what the gripper bumps into: pairs of the scenario, tip in the gripper's frame, plane in the client's
     */
    int bumps;
    ff_contact bump[FF_MAX_CONTACTS];
    double grasp_stiffness, grasp_damping, grasp_rotation_stiffness, grasp_rotation_damping;
    ff_pose lab;              /* placement of the robots' frame in the lab */
    ff_vec3 gravity;          /* [m/s2] lab */
    ff_robot_config robot[2]; /* client, servicer */
    /* on-board software; cycle, seed and the built-in controller are filled in */
    ff_computer_config computer;
    ff_builtin_config obsw; /* the built-in controller: tree and work are filled in */
    const ff_tree_config
        *real_arm; /* the arm on the ground where it is not the orbit's (assumption 2); NULL */
    bool friction; /* the joints' friction acts on the ground */
    bool absolute; /* command the absolute motion, to see where it leaves the workspace */
} ff_mission_config;

typedef struct ff_mission_row {
    double t;
    ff_rigid_state client, base; /* satellites */
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX];
    ff_obsw_out actuation; /* what acts: F_b and tau */
    ff_obsw_action action; /* new, held, or nothing */
    double
        motor[FF_TREE_JOINTS_MAX]; /* [N m] torque of the arm's motors on the ground, (22), within limits */
    bool thrust_saturated, motor_saturated; /* since the last row */
    ff_wrench F_e;                          /* on the gripper, gripper axes */
    ff_wrench on_base;                      /* the same about the base's origin, base axes */
    ff_wrench on_client;                    /* its reaction about the client's CoM, body axes */
    ff_wrench felt[2];                      /* by client and base after the method, about the same points */
    ff_rigid_load load[2];                  /* known loads on them */
    ff_wrench driven[2];                    /* wrench robots: their drive over the cycle before, body axes */
    double observer;                        /* [J] of the method; FF_NAN: it has none */
    ff_sent sent[2];                        /* what the robots are sent at t */
    ff_setpoint inertial[2];                /* the robots' motion mapped by (23) */
    double step_ns;
    ff_setpoint robot[2];          /* true motion in the robots' frame */
    ff_vec3 base_error;            /* [m] base against its goal, client's axes */
    ff_vec3 rate;                  /* [rad/s] base relative to the client, base axes */
    double gripper_speed;          /* [m/s] of the gripper relative to the grapple point */
    ff_vec3 linear, origin;        /* total momentum, inertial, about the origin */
    double W_c, bound, port_power; /* monitors: (25), (29), (28) */
    ff_quat
        mapped_attitude; /* of the base from the robots' motion: what the star tracker sees without noise */
    double star_tracker[4]; /* what the on-board software was given of it, noise included */
    bool held;
    ff_wrench grip;                /* on the gripper, gripper axes: of F_e, what the grasp gives */
    ff_vec3 bump[FF_MAX_CONTACTS]; /* [N] and what each plane gives; zero: not touched */
    ff_quat gripper;               /* its attitude, inertial */
} ff_mission_row;

typedef struct ff_mission_sink {
    void *self;
    ff_status (*row)(void *self, const ff_mission_row *row); /* negative: stop */
} ff_mission_sink;

typedef struct ff_mission_info {
    uint64_t cycles;
    ff_obsw_info obsw; /* what the on-board software did and what was done about it */
    double step_ns;    /* mean of the loop's step */
} ff_mission_info;

void ff_mission_default(ff_mission_config *config);
/* FF_OK, FF_ERR_MEMORY, FF_ERR_ARGUMENT, FF_ERR_DIVERGED; message gets one sentence. */
ff_status ff_mission_run(const ff_mission_config *config, ff_mission_sink sink, ff_mission_info *info,
                         char *message, size_t size);
/* The same mission in orbit: continuous, RK4 in steps of arm_cycle, controller sampled at cycle. */
ff_status ff_mission_orbit(const ff_mission_config *config, ff_mission_sink sink, char *message, size_t size);

#endif
