/* freefloat/dynamics.h - models of what floats. */
#ifndef FREEFLOAT_DYNAMICS_H
#define FREEFLOAT_DYNAMICS_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------ rigid body -- */

typedef struct ff_rigid_config {
    double mass;     /* [kg] > 0 */
    ff_mat3 inertia; /* [kg m2] about the CoM, body axes; symmetric, positive, triangle inequality */
} ff_rigid_config;

typedef struct ff_rigid_model {
    double mass, mass_inv;
    ff_mat3 inertia, inertia_inv;
    ff_vec3 principal;    /* [kg m2] principal moments, ascending */
    ff_quat q_bp;         /* principal axes to body axes */
    bool inertia_is_diag; /* the body axes are principal axes */
} ff_rigid_model;

/* All that is needed to resume a free body. */
typedef struct ff_rigid_state {
    ff_vec3 position; /* [m] CoM, inertial */
    ff_quat attitude; /* body to inertial */
    ff_vec3 velocity; /* [m/s] inertial */
    ff_vec3 omega;    /* [rad/s] body */
} ff_rigid_state;

/* A wrench on a free body as the equations of motion take it: force inertial, torque about the CoM in body
 * axes. */
typedef struct ff_rigid_load {
    ff_vec3 force;  /* [N] inertial */
    ff_vec3 torque; /* [N m] body */
} ff_rigid_load;

/* FF_ERR_MASS, FF_ERR_INERTIA (also for a matrix that is not symmetric to 1e-9), FF_ERR_NOT_FINITE. */
ff_status ff_rigid_validate(const ff_rigid_config *config);
ff_status ff_rigid_create(const ff_rigid_config *config, ff_rigid_model *model);

/* A motion set point: pose and velocity at one time, the numbers of an ff_rigid_state as robots take them. */
typedef struct ff_setpoint {
    ff_pose T;      /* body in the lab */
    ff_twist twist; /* w body [rad/s], v in the lab [m/s] */
} ff_setpoint;

/* One as the other: the same numbers, no rounding. */
static inline ff_setpoint ff_setpoint_from_state(const ff_rigid_state *state) {
    return (ff_setpoint){{state->attitude, state->position}, {state->omega, state->velocity}};
}
static inline ff_rigid_state ff_setpoint_to_state(const ff_setpoint *setpoint) {
    return (ff_rigid_state){setpoint->T.p, setpoint->T.q, setpoint->twist.v, setpoint->twist.w};
}
/* [destefano2019, (2)] w' = I^-1 (I w x w + torque) */
static inline ff_vec3 ff_rigid_angular_acceleration(const ff_rigid_model *model, ff_vec3 w, ff_vec3 torque) {
    const ff_vec3 Iw = ff_mat3_apply(&model->inertia, w);
    return ff_mat3_apply(&model->inertia_inv, ff_vec3_add(ff_vec3_cross(Iw, w), torque));
}
/* [destefano2019, (3)] H = 1/2 m v.v + 1/2 w.I w [J] */
double ff_rigid_kinetic_energy(const ff_rigid_model *model, const ff_rigid_state *state);
/* Angular momentum about the CoM, inertial axes [N m s]. */
ff_vec3 ff_rigid_angular_momentum(const ff_rigid_model *model, const ff_rigid_state *state);
bool ff_rigid_finite(const ff_rigid_state *state);
static inline ff_pose ff_rigid_pose(const ff_rigid_state *state) {
    return (ff_pose){state->attitude, state->position};
}
/* Velocity of a body-fixed point [m/s], inertial. */
static inline ff_vec3 ff_rigid_point_velocity(const ff_rigid_state *state, ff_vec3 r_b) {
    return ff_vec3_add(state->velocity, ff_quat_rotate(state->attitude, ff_vec3_cross(state->omega, r_b)));
}
/* Power of a load at a state [W]. */
static inline double ff_rigid_power(ff_rigid_load load, ff_vec3 velocity, ff_vec3 omega) {
    return ff_vec3_dot(load.force, velocity) + ff_vec3_dot(load.torque, omega);
}
/* A wrench in body axes about the CoM, turned into the load on a body with attitude q. */
static inline ff_rigid_load ff_rigid_load_from_body(ff_quat q, ff_wrench f_b) {
    return (ff_rigid_load){ff_quat_rotate(q, f_b.f), f_b.t};
}
static inline ff_rigid_load ff_rigid_load_scale(double s, ff_rigid_load a) {
    return (ff_rigid_load){ff_vec3_scale(s, a.force), ff_vec3_scale(s, a.torque)};
}
static inline ff_rigid_load ff_rigid_load_sub(ff_rigid_load a, ff_rigid_load b) {
    return (ff_rigid_load){ff_vec3_sub(a.force, b.force), ff_vec3_sub(a.torque, b.torque)};
}

/* ==================================== relative motion ==================================== */

/* Motion relative to a nominal one [destefano2021, III]. Twists are body twists, angular part first; V' is
 * the derivative of their coordinates. g_n, V_n is the nominal motion, g, V the motion relative to it:
 *
 *     g_t = g_n g (5),   V_t = V + Ad(g^-1) V_n (6)
 *
 * A relative motion is an ff_rigid_state too: then "inertial" means the axes of the nominal frame. */

static inline ff_twist ff_rigid_twist(const ff_rigid_state *state) /* V: body twist */
{
    return (ff_twist){state->omega, ff_quat_unrotate(state->attitude, state->velocity)};
}
static inline ff_rigid_state ff_rigid_from_twist(ff_pose g, ff_twist V) {
    return (ff_rigid_state){g.p, g.q, ff_quat_rotate(g.q, V.v), V.w};
}

/* (23) backwards: g = g_n^-1 g_t, V = V_t - Ad(g^-1) V_n. */
static inline ff_rigid_state ff_relative_from_absolute(const ff_rigid_state *n, const ff_rigid_state *t) {
    const ff_quat q_nt = ff_quat_conj(n->attitude);
    const ff_vec3 p = ff_quat_rotate(q_nt, ff_vec3_sub(t->position, n->position));
    const ff_quat q = ff_quat_mul(q_nt, t->attitude);
    /* v of (6) in the axes of the nominal frame: R_n^T (v_t - v_n) - w_n x p */
    const ff_vec3 v =
        ff_vec3_sub(ff_quat_rotate(q_nt, ff_vec3_sub(t->velocity, n->velocity)), ff_vec3_cross(n->omega, p));
    return (ff_rigid_state){p, q, v, ff_vec3_sub(t->omega, ff_quat_unrotate(q, n->omega))};
}
/* (23): g_t = g_n g, V_t = V + Ad(g^-1) V_n. */
static inline ff_rigid_state ff_relative_to_absolute(const ff_rigid_state *n, const ff_rigid_state *c) {
    const ff_vec3 v = ff_vec3_add(c->velocity, ff_vec3_cross(n->omega, c->position));
    return (ff_rigid_state){ff_vec3_add(n->position, ff_quat_rotate(n->attitude, c->position)),
                            ff_quat_mul(n->attitude, c->attitude),
                            ff_vec3_add(n->velocity, ff_quat_rotate(n->attitude, v)),
                            ff_vec3_add(c->omega, ff_quat_unrotate(c->attitude, n->omega))};
}

/* Delta V of (6) and (15): Ad(g^-1) V_n. */
static inline ff_twist ff_relative_delta(ff_pose g, ff_twist V_n) {
    return ff_twist_transform(ff_pose_inverse(g), V_n);
}
/* Its derivative for (7): Ad(g^-1) V_n' - ad(V) Ad(g^-1) V_n. The paper does not write the second term out;
 * without it a tumbling client drifts by a millimetre a minute. */
ff_twist ff_relative_delta_rate(ff_pose g, ff_twist V, ff_twist V_n, ff_twist A_n);

/* (2): V' = M^-1 (F - C(V) V) of a rigid body; F body axes, about the CoM. */
ff_twist ff_rigid_body_acceleration(const ff_rigid_model *model, ff_twist V, ff_wrench F);
/* (11): V_c' = M_t^-1 (F - C_t(V_t) V_t) - Delta V_c'. A_n = V_n'. */
ff_twist ff_relative_acceleration(const ff_rigid_model *model, ff_pose g_c, ff_twist V_c, ff_twist V_n,
                                  ff_twist A_n, ff_wrench F);
/* (9): the wrench F_c that moves a robot with the inertia M_c of `robot`, (3), as (11) moves the satellite.
 * F is the measured wrench, which acts on robot and satellite alike. */
ff_wrench ff_relative_robot_wrench(const ff_rigid_model *model, const ff_rigid_model *robot, ff_pose g_c,
                                   ff_twist V_c, ff_twist V_n, ff_twist A_n, ff_wrench F);

/* ======================================== tree ======================================== */

/* the floating-base tree: links behind revolute, prismatic and fixed joints on a free
 * base.
 *
 * Generalised velocity (docs/notation.md): v = [w_b; v_b; q'], the base's twist in base coordinates, angular
 * part first, then the joint rates. With that the mass matrix depends on q alone, and the equations of motion
 * are those of [destefano2021, Eq. (12)]:
 *
 *     M(q) v' + C(q, v) v + g = [F_b; tau] + sum J^T F_ext,   M = [M_b M_bq; M_bq^T M_q]
 *
 * g is the gravity force that the actuators hold, so it stands on the left. All matrices are row-major with
 * ff_tree_dof(model) columns: 6 + joints on a free base, joints on a fixed one.
 *
 * A cycle calls ff_tree_kinematics once and then whatever it needs; each function says what it reads. Nothing
 * here allocates or checks per call: values that are not finite come out as they go in, and the caller
 * must look at them. */

#define FF_TREE_JOINTS_MAX 32 /* joints that move */
#define FF_TREE_LINKS_MAX 96  /* rows of the table, fixed joints included */
#define FF_TREE_BASE (-1)     /* the base, wherever a link is named by its row */

typedef enum ff_joint_kind {
    FF_JOINT_REVOLUTE,
    FF_JOINT_PRISMATIC,
    FF_JOINT_FIXED, /* the link is merged into the link it stands on */
} ff_joint_kind;

/* One row of the table: a link and the joint that carries it. At q = 0 the link frame is the joint frame; it
 * turns about, or slides along, `axis`. */
typedef struct ff_tree_link_config {
    const char *name;    /* for messages; may be NULL */
    int parent;          /* row of the link that carries the joint, FF_TREE_BASE for the base; < own row */
    ff_joint_kind joint; /* */
    ff_vec3 axis;        /* in the link frame, any length but zero; default z */
    ff_pose pose;        /* joint frame in the parent's link frame */
    double mass;         /* [kg] > 0; zero only for a fixed joint (a frame without mass) */
    ff_vec3 com;         /* [m] link frame */
    double inertia[6]; /* [kg m2] about the CoM, link axes: xx yy zz xy xz yz, as they stand in the matrix */
    double rotor_inertia; /* [kg m2] or [kg], at the joint side of the gear; added to M_q's diagonal */
    double q_min, q_max;  /* [rad] or [m]; -HUGE_VAL, HUGE_VAL: no limit */
    double velocity_max;  /* [rad/s] or [m/s] */
    double torque_max;    /* [N m] or [N] */
    double viscous;       /* [N m s/rad] or [N s/m] friction; read by ff_tree_friction only */
    double coulomb;       /* [N m] or [N] */
} ff_tree_link_config;

typedef struct ff_tree_config {
    bool fixed_base;                 /* the base moves as the caller says (usually not at all) */
    double base_mass;                /* [kg] > 0; not used on a fixed base */
    ff_vec3 base_com;                /* [m] base frame */
    double base_inertia[6];          /* [kg m2] about the CoM, base axes: xx yy zz xy xz yz */
    size_t links;                    /* rows; 0 is a single rigid body */
    const ff_tree_link_config *link; /* [links] */
} ff_tree_config;

typedef struct ff_tree_model ff_tree_model; /* derived constants; lives in the caller's memory */
typedef struct ff_tree_work ff_tree_work;   /* one evaluation; lives in the caller's memory */

/* All that is needed to resume. Joints are numbered in the order of the table, fixed ones left out. */
typedef struct ff_tree_state {
    ff_pose base;                  /* base frame in the inertial one */
    ff_twist twist;                /* [rad/s, m/s] base twist, base coordinates */
    double q[FF_TREE_JOINTS_MAX];  /* [rad] or [m] */
    double qd[FF_TREE_JOINTS_MAX]; /* [rad/s] or [m/s] */
} ff_tree_state;

typedef struct ff_tree_acceleration {
    ff_twist base;                  /* [rad/s2, m/s2] V_b', the derivative of the body twist's coordinates */
    double qdd[FF_TREE_JOINTS_MAX]; /* [rad/s2] or [m/s2] */
} ff_tree_acceleration;

typedef struct ff_tree_force {
    ff_wrench base;                    /* [N m, N] F_b, base coordinates */
    double torque[FF_TREE_JOINTS_MAX]; /* [N m] or [N] */
} ff_tree_force;

/* A frame fixed to a link. */
typedef struct ff_tree_frame {
    int link;       /* row of the table (fixed rows too) or FF_TREE_BASE */
    ff_pose offset; /* frame in the link frame */
} ff_tree_frame;

typedef struct ff_tree_limits {
    double q_min, q_max, velocity_max, torque_max;
} ff_tree_limits;

/* Momentum of the whole tree in inertial axes. */
typedef struct ff_tree_momentum {
    double mass;    /* [kg] */
    ff_vec3 com;    /* [m] */
    ff_vec3 linear; /* [N s] */
    ff_vec3 spin;   /* [N m s] about the CoM: the centroidal angular momentum */
    ff_vec3 origin; /* [N m s] about the inertial origin */
} ff_tree_momentum;

/* --------------------------------------------------------------------------------------------- setup -- */

/* A free base without mass yet and no links; a revolute joint about z without limits, mass or friction. */
void ff_tree_config_default(ff_tree_config *config);
void ff_tree_link_default(ff_tree_link_config *link);

/* FF_OK, or what is wrong, with one sentence in message (may be NULL) that names the row:
 * FF_ERR_SIZE        too many links or joints
 * FF_ERR_ARGUMENT    parent not above its row (loops cannot be written otherwise), joint kind, pose, limits
 * FF_ERR_NOT_FINITE  NaN or infinity where a number is needed
 * FF_ERR_MASS        a moving link, or the free base, whose mass with all that is fixed to it is not positive
 * FF_ERR_INERTIA     not positive, or against the triangle inequality
 * FF_ERR_SINGULAR    axis of zero length */
ff_status ff_tree_validate(const ff_tree_config *config, char *message, size_t message_size);

/* Bytes of caller memory for the model and for one work, aligned as any object (malloc, max_align_t). */
size_t ff_tree_memsize(const ff_tree_config *config);
size_t ff_tree_work_memsize(const ff_tree_model *model);
/* Validates, merges fixed joints, derives the constants. Also FF_ERR_SIZE when bytes is below memsize. The
 * config is not needed afterwards; names are not kept. */
ff_status ff_tree_create(const ff_tree_config *config, void *memory, size_t bytes, ff_tree_model **model,
                         char *message, size_t message_size);
ff_status ff_tree_work_create(const ff_tree_model *model, void *memory, size_t bytes, ff_tree_work **work);

size_t ff_tree_joints(const ff_tree_model *model); /* joints that move */
size_t ff_tree_links(const ff_tree_model *model);  /* rows of the table */
size_t ff_tree_dof(const ff_tree_model *model);
bool ff_tree_fixed_base(const ff_tree_model *model);
double ff_tree_mass(const ff_tree_model *model); /* [kg] of base and links */
/* The joint that moves a row's link (a fixed row: the nearest moving joint below it), FF_TREE_BASE if none.
 */
int ff_tree_joint_of_link(const ff_tree_model *model, int link);
ff_tree_limits ff_tree_joint_limits(const ff_tree_model *model, size_t joint);
/* Friction torque that acts on the joints: -(viscous q' + coulomb tanh(q' / speed)); speed [rad/s] > 0 widens
 * the jump at rest. The dynamics below know no friction: add this to the torques. */
void ff_tree_friction(const ff_tree_model *model, const double *qd, double speed, double *torque);

/* A state at rest: base at the inertial origin, q = 0. */
void ff_tree_state_default(ff_tree_state *state);

/* ---------------------------------------------------------------------------------------- each cycle -- */

/* Both stages. gravity is the acceleration of free fall in inertial axes [m/s2], e.g. {0, 0, -9.81}. On a
 * fixed base, the base moves with state->twist (zero: at rest). */
void ff_tree_kinematics(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work,
                        ff_vec3 gravity);
/* The position stage alone, and the velocity stage again with other rates at the same positions (reads twist
 * and qd only): [destefano2021, Eq. (22)] needs C at V_b and at V_s. */
void ff_tree_positions(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work,
                       ff_vec3 gravity);
void ff_tree_velocities(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work);

void ff_tree_mass_matrix(const ff_tree_model *model, ff_tree_work *work, double *M); /* positions */
void ff_tree_bias(const ff_tree_model *model, ff_tree_work *work, double *bias);     /* C v + g */
void ff_tree_gravity(const ff_tree_model *model, ff_tree_work *work, double *g);     /* positions */
/* C(q, v) with M' - 2 C skew-symmetric; blocks C_b, C_bq, C_qb, C_q as those of M. */
void ff_tree_coriolis(const ff_tree_model *model, ff_tree_work *work, double *C);

/* external: NULL, or one wrench for each row of the table, in link coordinates at the link's origin, acting
 * on the link. The base's own goes into force->base. Inverse: force that gives the acceleration, base wrench
 * included (a fixed base: what holds it). Forward: acceleration under the force. On a fixed base,
 * acceleration->base is read, not written: set it. */
void ff_tree_inverse_dynamics(const ff_tree_model *model, ff_tree_work *work,
                              const ff_tree_acceleration *acceleration, const ff_wrench *external,
                              ff_tree_force *force);
/* FF_ERR_SINGULAR when a pivot is not positive (values that are not finite); the acceleration is untouched.
 */
ff_status ff_tree_forward_dynamics(const ff_tree_model *model, ff_tree_work *work, const ff_tree_force *force,
                                   const ff_wrench *external, ff_tree_acceleration *acceleration);

/* T of the frame in inertial and in base coordinates. */
ff_pose ff_tree_frame_pose(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame);
ff_pose ff_tree_frame_in_base(const ff_tree_model *model, const ff_tree_work *work,
                              const ff_tree_frame *frame);
/* Body twist of the frame, its Jacobian (6 x dof, angular first, frame coordinates: twist = J v), and J' v,
 * so that twist' = J v' + J' v. */
ff_twist ff_tree_frame_twist(const ff_tree_model *model, const ff_tree_work *work,
                             const ff_tree_frame *frame);
void ff_tree_frame_jacobian(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame,
                            double *J);
ff_twist ff_tree_frame_bias(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame);
/* The same for the velocity of the frame's origin in inertial axes: J is 3 x dof; J' v is the acceleration
 * that an observer at rest sees when v' = 0. */
ff_vec3 ff_tree_point_velocity(const ff_tree_model *model, const ff_tree_work *work,
                               const ff_tree_frame *frame);
void ff_tree_point_jacobian(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame,
                            double *J);
ff_vec3 ff_tree_point_bias(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame);

ff_tree_momentum ff_tree_total_momentum(const ff_tree_model *model, const ff_tree_work *work);
double ff_tree_kinetic_energy(const ff_tree_model *model, const ff_tree_work *work); /* [J] rotors included */
double ff_tree_potential_energy(const ff_tree_model *model,
                                const ff_tree_work *work); /* [J] zero at the origin */

/* ======================================== servicer ======================================== */

/* A base with an arm on the ground [destefano2021, III-B]: the base is carried by a robot that makes the
 * motion relative to a nominal one, the arm is a torque-controlled device that feels gravity. Twists and
 * wrenches are in base coordinates unless said otherwise, angular part first.
 *
 * With delay the commanded motion feeds (16) and (18), the measured one (22) and (23); joints are always
 * measured. One struct holds all of it; docs/methods/destefano2021.md has the table. */
typedef struct ff_servicer_in {
    /* nominal motion: (15), (23) */
    ff_pose g_n;  /* inertial */
    ff_twist V_n; /* body twist */
    ff_twist A_n; /* V_n' */
    /* commanded motion of the base in the robots' frame: (16), (18) */
    ff_pose g_s;
    ff_twist V_s;
    /* measured motion of the base in the robots' frame: (22), (23) */
    ff_pose g_m;
    ff_twist V_m;
    /* measured motion of the client in the robots' frame: (23), (25) */
    ff_pose g_cm;
    ff_twist V_cm;
    /* measured joints: every equation of the servicer; qdd (16) and (18) only */
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX], qdd[FF_TREE_JOINTS_MAX];
    /* actuation by the on-board software: F_b (13), (16), (18); tau (22) */
    ff_wrench F_b;
    double tau[FF_TREE_JOINTS_MAX];
    /* measured contact wrench on the gripper, gripper coordinates: (16), (18) */
    ff_wrench F_e;
} ff_servicer_in;

typedef struct ff_servicer_model {
    const ff_tree_model *tree; /* (12): free base, the orbit's inertia */
    ff_tree_frame gripper;     /* where F_e acts */
    ff_vec3 gravity;           /* [m/s2] in the robots' frame */
} ff_servicer_model;

/* (18): V_s' = M_b^-1 (J_b^T F_e + F_b - M_bq q'' - C_b V_b - C_bq q') - Delta V_s'. */
ff_twist ff_servicer_acceleration(const ff_servicer_model *model, ff_tree_work *work,
                                  const ff_servicer_in *in);
/* (22): the torque for the arm on the ground. ff1 = -M_bq^T Delta V_s'; of the two Coriolis feed-forwards
 * only the sum is unique, and it is formed as one. G at the measured attitude. */
void ff_servicer_torque(const ff_servicer_model *model, ff_tree_work *work, const ff_servicer_in *in,
                        double *tau_q);
/* (16), corrected (in print F_e stands twice and q'' is missing): the wrench F_s that moves a robot with the
 * base inertia of `robot` (the same arm), (14), as (18) does. robot_work belongs to robot. */
ff_wrench ff_servicer_robot_wrench(const ff_servicer_model *model, const ff_tree_model *robot,
                                   ff_tree_work *work, ff_tree_work *robot_work, const ff_servicer_in *in);
/* (23): the servicer in orbit as the measurements say it. */
void ff_servicer_map(const ff_servicer_model *model, const ff_servicer_in *in, ff_tree_state *orbit);

#ifdef __cplusplus
}
#endif
#endif
