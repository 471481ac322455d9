/* freefloat/emulation.h - a rigid torque-controlled robot moves and pushes as another robot would [aghili].
 *
 * Target robot (index s, m velocities) and emulating robot (index r, n joints) meet in an n-dimensional task:
 *
 *     M_r v_r' + h_r = tau_r + J_r^T f        (1)
 *     M_s v_s' + h_s = B tau_s + J_s^T f      (2)
 *
 * f is what the environment does to the end effector, in the axes of the task velocity J v. All mechanisms,
 * from one flexible joint to an arm on a floating base, come through one interface and run through one code
 * path. */
#ifndef FREEFLOAT_EMULATION_H
#define FREEFLOAT_EMULATION_H

#include "freefloat/base.h"
#include "freefloat/dynamics.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FF_EMULATION_TASK_MAX 6                               /* n */
#define FF_EMULATION_DOF_MAX 20                               /* m: floating base, 7 joints, 7 motors */
#define FF_EMULATION_POSITIONS_MAX (FF_EMULATION_DOF_MAX + 1) /* a floating base has a quaternion */

/* -------------------------------------------------------------------------------------------- mechanisms --
 */

/* Where the end effector is. A plain task has n coordinates; a spatial one (n = 6) is a pose, and its
 * velocity is [w; v] in inertial axes, angular first: the geometric Jacobian in place of the paper's minimal
 * angles. */
typedef struct ff_task_pose {
    double x[FF_EMULATION_TASK_MAX]; /* [m] plain tasks */
    ff_pose pose;                    /* spatial task */
} ff_task_pose;

typedef struct ff_mechanism_terms {
    double M[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX];  /* m x m */
    double h[FF_EMULATION_DOF_MAX];                         /* Coriolis, gravity, friction, springs */
    double J[FF_EMULATION_TASK_MAX * FF_EMULATION_DOF_MAX]; /* n x m */
    double Jv[FF_EMULATION_TASK_MAX];                       /* J' v */
    ff_task_pose pose;
} ff_mechanism_terms;

typedef enum ff_terms_part {
    FF_TERMS_POSITION = 1, /* M, J, pose */
    FF_TERMS_VELOCITY = 2, /* h, Jv; after FF_TERMS_POSITION at the same q */
    FF_TERMS_ALL = 3
} ff_terms_part;

/* dof <= 20, task <= 6 and <= dof. The functions neither allocate nor keep anything but scratch in work. */
typedef struct ff_mechanism {
    size_t dof;       /* velocities */
    size_t positions; /* numbers in q: dof, or dof + 1 with a floating base (quaternion, position, joints) */
    size_t task;      /* n */
    bool spatial;     /* the task is a pose */
    const void *model;
    void *work;
    void (*terms)(const struct ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                  ff_mechanism_terms *out);
    /* q moved by a small step in velocity coordinates; NULL: q + step. */
    void (*displace)(const struct ff_mechanism *self, const double *q, const double *step, double *out);
    /* q' for solvers; NULL: v. */
    void (*rate)(const struct ff_mechanism *self, const double *q, const double *v, double *out);
    /* Kinetic and spring energy [J], for checks; NULL: not known. */
    double (*energy)(const struct ff_mechanism *self, const double *q, const double *v);
} ff_mechanism;

void ff_mechanism_displace(const ff_mechanism *self, const double *q, const double *step, double *out);
void ff_mechanism_rate(const ff_mechanism *self, const double *q, const double *v, double *out);
/* a - b: difference of coordinates, or rotation vector of R_a R_b^T and difference of positions. */
void ff_task_difference(const ff_mechanism *self, const ff_task_pose *a, const ff_task_pose *b, double *out);

/* One flexible joint [aghili, Appendix E]: q = [link, motor], task l*q_link. */
typedef struct ff_flexible_joint {
    double link_inertia;   /* [kg m2] m_s1 > 0 */
    double drive_inertia;  /* [kg m2] m_s2 > 0 */
    double length;         /* [m] l > 0 */
    double stiffness;      /* [N m/rad] k >= 0 */
    double damping;        /* [N m s/rad] zeta >= 0 */
    double drive_friction; /* [N m s/rad] c_s >= 0 */
} ff_flexible_joint;
/* The rigid robot of Appendix E: m_r q'' + c_r q' + w cos q = tau + l f. */
typedef struct ff_single_joint {
    double inertia;        /* [kg m2] m_r > 0 */
    double length;         /* [m] l > 0 */
    double friction;       /* [N m s/rad] c_r >= 0 */
    double gravity_torque; /* [N m] w */
} ff_single_joint;

/* FF_ERR_NOT_FINITE, FF_ERR_INERTIA, FF_ERR_ARGUMENT. The mechanism points at the config, which must stay. */
ff_status ff_flexible_joint_mechanism(const ff_flexible_joint *joint, ff_mechanism *mechanism);
ff_status ff_single_joint_mechanism(const ff_single_joint *joint, ff_mechanism *mechanism);

/* A tree (freefloat/dynamics.h) with joints rigid or flexible, base fixed or floating. With motors, q is
 * [base,] joints, motors: each motor turns against its joint's spring and only about its own axis, so M is
 * block diagonal (the usual reduced model of (23), M_s12 = 0). Friction of the tree's table acts on the
 * joints. */
typedef enum ff_tree_task {
    FF_TREE_TASK_POSE,  /* n = 6, of the frame */
    FF_TREE_TASK_PLANE, /* n = 2, x and y of the frame's origin */
} ff_tree_task;
typedef struct ff_tree_mechanism {
    const ff_tree_model *tree;
    ff_tree_work *tree_work;
    ff_tree_frame frame; /* end effector */
    ff_tree_task task;
    ff_vec3 gravity;         /* [m/s2] */
    ff_pose base;            /* of a fixed base */
    bool flexible;           /* motors behind springs */
    double motor_inertia[7]; /* [kg m2] at the joint side, > 0 */
    double stiffness[7];     /* [N m/rad] */
    double damping[7];       /* [N m s/rad] */
    double motor_friction[7];
    double joint_friction[FF_TREE_JOINTS_MAX]; /* [N m s/rad] viscous */
} ff_tree_mechanism;
/* FF_ERR_SIZE (m > 20, or more than 7 flexible joints), FF_ERR_INERTIA (a motor), FF_ERR_ARGUMENT (fewer
 * joints than the task asks for). The mechanism points at `tree`, which must stay. */
ff_status ff_tree_mechanism_create(const ff_tree_mechanism *tree, ff_mechanism *mechanism);

/* --------------------------------------------------------------------------------------------- emulation --
 */

typedef enum ff_emulation_scheme {
    FF_EMULATION_CONSTRAINED, /* the simulated end effector is held where the robot is; forces are matched */
    FF_EMULATION_FREE,        /* the measured force drives the simulation; poses are matched (section 3.2) */
} ff_emulation_scheme;

typedef enum ff_emulation_consistency {
    FF_CONSISTENCY_NEWTON, /* Appendix B */
    FF_CONSISTENCY_CLIK,   /* Theorem 1: q' = (I - J^+ J) v + J^T K Phi */
} ff_emulation_consistency;

typedef struct ff_emulation_config {
    ff_emulation_scheme scheme;
    double velocity_gain;    /* [1/s] G_v > 0 */
    double position_gain;    /* [1/s2] G_p > 0 */
    bool drift_compensation; /* false: u = ~a_s, without the feedback of (11); only with the constraint */
    double force_gain;       /* [1/kg] G_f >= 0; needs a measured task acceleration */
    ff_emulation_consistency consistency;
    double clik_gain;      /* K = k I; Theorem 1 bounds |Phi| by |p_r'|max / (k lambda_min(J_s J_s^T)) */
    double singular_ratio; /* a Jacobian whose smallest pivot is below this part of its size is damped */
    double torque_max[FF_EMULATION_TASK_MAX]; /* [N m]; FF_INF: no limit */
} ff_emulation_config;

typedef struct ff_emulation_model {
    ff_emulation_config config;
    ff_mechanism target; /* simulated */
    ff_mechanism robot;  /* what the controller believes the robot to be */
} ff_emulation_model;

typedef struct ff_emulation_state {
    double q[FF_EMULATION_POSITIONS_MAX]; /* target's configuration */
    double v[FF_EMULATION_DOF_MAX];       /* and velocity */
    ff_task_pose reference;               /* double integral of ~a_s (constrained scheme) */
    double reference_v[FF_EMULATION_TASK_MAX];
    double torque[FF_EMULATION_TASK_MAX]; /* [N m] last one sent; held on a fault */
} ff_emulation_state;

typedef struct ff_emulation_work {
    ff_mechanism_terms s, r;
    double q[FF_EMULATION_POSITIONS_MAX], v[FF_EMULATION_DOF_MAX]; /* consistent target state */
    double L[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX];         /* Cholesky of M_s */
    double X[FF_EMULATION_TASK_MAX * FF_EMULATION_DOF_MAX];        /* rows: columns of M_s^-1 J_s^T */
    double A[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX];       /* Cholesky of J_s M_s^-1 J_s^T */
    double a0[FF_EMULATION_DOF_MAX];                               /* M_s^-1 (B tau_s - h_s) */
    double G[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX];
    double factor[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX];
    size_t pivots[FF_EMULATION_TASK_MAX];
} ff_emulation_work;

typedef struct ff_emulation_in {
    const double *q_r, *v_r;    /* measured joints of the robot */
    const double *f;            /* [n] measured contact force on the end effector, task axes */
    const double *force;        /* [m] B tau_s, the target's own actuators */
    const double *acceleration; /* [n] measured task acceleration p_r''; NULL: the robot model's own */
} ff_emulation_in;

typedef struct ff_emulation_out {
    double torque[FF_EMULATION_TASK_MAX];      /* [N m] tau_r^c (10) */
    double a_s[FF_EMULATION_TASK_MAX];         /* ~a_s */
    double e_p[FF_EMULATION_TASK_MAX];         /* drift p_r - double integral of ~a_s, or Phi (free) */
    double constraint[FF_EMULATION_TASK_MAX];  /* Phi = p_r - p_s (4) */
    double lambda[FF_EMULATION_TASK_MAX];      /* Lagrange multiplier (7) */
    double force_error[FF_EMULATION_TASK_MAX]; /* e_f = f - lambda (13) */
    double acceleration[FF_EMULATION_DOF_MAX]; /* v_s' */
    double velocity[FF_EMULATION_DOF_MAX];     /* what q_s moves with (CLIK adds J^T K Phi) */
    bool robot_damped, target_damped;          /* a Jacobian was near singular */
    bool limited;                              /* a torque limit acted */
    bool unconverged;                          /* the target could not be brought onto the constraint */
} ff_emulation_out;

void ff_emulation_default(ff_emulation_config *config);
/* FF_ERR_NOT_FINITE, FF_ERR_ARGUMENT: gains, ratio, limits; message (may be NULL) names the field. */
ff_status ff_emulation_validate(const ff_emulation_config *config, char *message, size_t size);
/* Also FF_ERR_SIZE: the tasks of target and robot differ, or the robot's joints are not as many as its task.
 */
ff_status ff_emulation_create(const ff_emulation_config *config, const ff_mechanism *target,
                              const ff_mechanism *robot, ff_emulation_model *model, char *message,
                              size_t size);
/* Starts at a target state. The end effectors must agree to 1e-6 (FF_ERR_REACH) and neither Jacobian be
 * singular (FF_ERR_SINGULAR). */
ff_status ff_emulation_reset(const ff_emulation_model *model, ff_emulation_state *state,
                             ff_emulation_work *work, const double *q_s, const double *v_s, const double *q_r,
                             const double *v_r);

/* Stage 1, the torque: (10), (11). Reads the state, writes work and out. FF_ERR_NOT_FINITE, FF_ERR_SINGULAR:
 * out->torque is the last one sent. FF_INFO_LIMITED when a flag of out is set. */
ff_status ff_emulation_control(const ff_emulation_model *model, const ff_emulation_state *state,
                               ff_emulation_work *work, const ff_emulation_in *in, ff_emulation_out *out);
/* Stage 2, the target: (7), (18), (19). acceleration [n] is p_r''. After stage 1 with the same state. */
ff_status ff_emulation_target(const ff_emulation_model *model, const ff_emulation_state *state,
                              ff_emulation_work *work, const double *f, const double *acceleration,
                              ff_emulation_out *out);
/* One cycle of T seconds: both stages, then the target advances (velocity first, then pose with the new
 * velocity). On a fault the state is unchanged. */
ff_status ff_emulation_step(const ff_emulation_model *model, ff_emulation_state *state,
                            ff_emulation_work *work, const ff_emulation_in *in, double T,
                            ff_emulation_out *out);

/* (19) as it should read, N y = P^T (B tau_s - h_s) - P^T M_s J_s^+ c, v_s' = P y + J_s^+ c, for any basis P
 * of the null space. Stage 2 computes the same acceleration by (7); this is for analysis and tests. After
 * stage 1. */
ff_status ff_emulation_independent(const ff_emulation_model *model, const ff_emulation_work *work,
                                   const double *force, const double *acceleration, double *v_dot);

/* Appendix A: the largest G_f, 2 G_v / lambda_max(M'), for the rate of the target's Cartesian inertia (n x n,
 * symmetric) [kg/s]; FF_INF when no eigenvalue is positive. */
double ff_emulation_force_gain_bound(double velocity_gain, size_t n, const double *cartesian_inertia_rate);
/* Cartesian inertia (J M^-1 J^T)^-1 of a mechanism, n x n. FF_ERR_SINGULAR. */
ff_status ff_emulation_cartesian_inertia(const ff_mechanism *mechanism, const double *q,
                                         ff_emulation_work *work, double *inertia);

#ifdef __cplusplus
}
#endif
#endif
