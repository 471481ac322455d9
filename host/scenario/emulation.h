/* scenario/emulation.h - the scenario's form of an emulation [aghili]: one flexible joint, or an arm (links
 * as a table, rigid or flexible joints, fixed or floating base) and the rigid arm that stands in for it.
 * Plain data, copied freely. */
#ifndef FF_SCENARIO_EMULATION_H
#define FF_SCENARIO_EMULATION_H

#include "freefloat/emulation.h"
#include "scenario/arm_link.h"

/* A half space in the task's position (plain tasks: x[0..n-1]; spatial: the frame's origin). Free side where
 * normal . (p - at) > 0; depth d = -normal . (p - at); force max(0, stiffness d + damping d') along normal
 * for d > 0. */
typedef struct ff_emulate_wall {
    bool present;
    double at[3];     /* [m] */
    double normal[3]; /* unit */
    double stiffness; /* [N/m] */
    double damping;   /* [N s/m] */
} ff_emulate_wall;

/* One flexible joint. Lengths of the task are turned into angles. */
typedef struct ff_emulate_joint {
    ff_flexible_joint target;
    double robot_inertia, robot_friction, gravity_torque; /* [kg m2], [N m s/rad], [N m] */
    double gravity_model_error;     /* the controller believes gravity_torque (1 + this) */
    double friction_model_error;    /* and robot_friction (1 + this) */
    double actuator_bandwidth;      /* [rad/s]; FF_INF: ideal */
    double actuator_delay;          /* [s] */
    double torque_limit;            /* [N m]; FF_INF */
    double force_bias, force_noise; /* [N] of the sensor; noise: sd, sampled only */
    uint64_t seed;
    ff_emulation_config emulation;
    double torque;                                /* [N m] on the target's motor */
    bool accommodates;                            /* ff_emulate_accommodate in place of `torque` */
    double rate, compliance, gain;                /* [m/s], [m/(s N)], [N m s/rad] */
    double wall_at, wall_stiffness, wall_damping; /* length*q [m]; stiffness 0: no wall */
    double duration, cycle;                       /* [s] */
    bool sampled;
} ff_emulate_joint;

enum { FF_ARM_LINKS_MAX = 7 };

/* One link and the joint that carries it; each stands on the one before. */
typedef struct ff_emulate_link {
    ff_link_row row;       /* its friction is viscous; its torque is what the robot's motor can give */
    double start;          /* [rad] */
    double speed;          /* [rad/s] at the start */
    double motor_inertia;  /* [kg m2] flexible joints: the motor behind the spring, joint side of the gear */
    double stiffness;      /* [N m/rad] */
    double damping;        /* [N m s/rad] */
    double motor_friction; /* [N m s/rad] */
    double drive; /* [N m] at the motor (flexible) or the joint (rigid); the target's own controller */
} ff_emulate_link;

typedef struct ff_emulate_arm {
    int links;
    ff_emulate_link link[FF_ARM_LINKS_MAX];
    bool flexible;        /* motors behind springs */
    bool floating;        /* the base floats */
    double base_mass;     /* [kg] floating */
    ff_vec3 base_com;     /* [m] */
    ff_mat3 base_inertia; /* [kg m2] */
    ff_pose base;         /* of a fixed base, or where a floating one starts */
    bool base_given;      /* robot: else its base stands where its end effector meets the target's */
    ff_pose tip;          /* end effector in the last link */
    ff_vec3 gravity;      /* [m/s2] */
} ff_emulate_arm;

typedef struct ff_emulate_arms {
    ff_emulate_arm target, robot;
    ff_tree_task task;
    double gravity_model_error, friction_model_error;
    double actuator_bandwidth, actuator_delay; /* [rad/s], [s] */
    double force_bias, force_noise;            /* [N] */
    uint64_t seed;
    ff_emulation_config emulation;
    ff_emulate_wall wall;
    bool accommodates;          /* resolved rate with force-moment accommodation in place of `torque` */
    ff_vec3 rate, angular_rate; /* [m/s], [rad/s] of the end effector */
    double compliance;          /* [m/(s N)] */
    double gain;                /* [N m s/rad] */
    double duration, cycle;     /* [s] */
    bool sampled;
} ff_emulate_arms;

#endif
