/* emulate/arm.h - the scenario's form of an emulated arm: links as a table, rigid or flexible joints, fixed
 * or floating base, and the rigid arm that stands in for it. Plain data, copied freely. */
#ifndef FF_EMULATE_ARM_H
#define FF_EMULATE_ARM_H

#include "emulate/emulate.h"

enum { FF_ARM_LINKS_MAX = 7 };

/* One link and the joint that carries it; each stands on the one before. */
typedef struct ff_emulate_link {
    double mass;           /* [kg] */
    ff_vec3 com;           /* [m] link frame */
    ff_mat3 inertia;       /* [kg m2] about its CoM */
    ff_pose pose;          /* joint frame in the link before */
    ff_vec3 axis;          /* unit, link frame */
    double start;          /* [rad] */
    double speed;          /* [rad/s] at the start */
    double friction;       /* [N m s/rad] viscous, at the joint */
    double motor_inertia;  /* [kg m2] flexible joints: the motor behind the spring, joint side of the gear */
    double stiffness;      /* [N m/rad] */
    double damping;        /* [N m s/rad] */
    double motor_friction; /* [N m s/rad] */
    double torque;       /* [N m] at the motor (flexible) or the joint (rigid); the target's own controller */
    double torque_limit; /* [N m] robot: what the motor can give; FF_INF */
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

/* As ff_emulate_joint_run. Also FF_ERR_SIZE (joints against the task), FF_ERR_INERTIA, FF_ERR_MASS (which
 * link), FF_ERR_REACH (the robot cannot show the target's start pose). */
ff_status ff_emulate_arms_run(const ff_emulate_arms *arms, ff_emulate_result *result, char *message,
                              size_t size, char *warnings, size_t warnings_size);
/* Q = M_s M_r^-1 at the start, n x n (n = 2 or 6). */
ff_status ff_emulate_arms_ratio(const ff_emulate_arms *arms, size_t *n, double *Q, char *message,
                                size_t size);

#endif
