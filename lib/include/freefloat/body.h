/* freefloat/body.h - what floats: a rigid body, or a base with joints, and its view over one cycle.
 *
 * Joints are measured, never integrated. The state of a body with joints is the pose of its base and the
 * momentum of the whole, which outer wrenches alone change [destefano2021, (18) integrated once]; so free
 * flight needs no joint torques, and what the joints really do, not what a model expects, moves the base.
 *
 * Once a cycle a body yields a view: the body with its joints as they stand. In the view's axes (the base's)
 * inertia and joint momentum are constant over the cycle: a gyrostat. Its motion is an ff_rigid_state of the
 * CoM with the base's attitude and rate:
 *
 *     p = m v,   L = R (I w + spin),   L' = torque,   x_base = x - R com,   v_base = v - R (com' + w x com)
 *
 * A rigid body has one constant view without joint momentum, and the arithmetic of a rigid body. Everything
 * that looks back or ahead (replay, prediction, impulses) takes views: inline, no function pointers. */
#ifndef FREEFLOAT_BODY_H
#define FREEFLOAT_BODY_H

#include "freefloat/dynamics.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FF_MAX_BODIES 4     /* that a loop moves */
#define FF_BODY_PORTS_MAX 2 /* places that a body is touched at through its joints */

typedef struct ff_body_view {
    ff_rigid_model
        rigid;        /* all joints locked, about the CoM; with joints its principal axes are not filled */
    ff_vec3 com;      /* [m] CoM in the base frame; zero without joints */
    ff_vec3 com_rate; /* [m/s] of it, by the joints */
    ff_vec3 spin;     /* [N m s] angular momentum of the joints' motion about the CoM, base axes */
    double internal;  /* [J] kinetic energy of the joints' motion with CoM and base axes at rest */
    bool joints;      /* false: com, com_rate, spin, internal and moves are zero */
    int ports;
    ff_pose port[FF_BODY_PORTS_MAX];   /* in the base frame */
    ff_twist moves[FF_BODY_PORTS_MAX]; /* [rad/s, m/s] of the port against the base, taken at the base's
                                          origin, base axes: added to the base's twist it moves the port */
} ff_body_view;

/* -------------------------------------------------------------------------------- motion of a view -- */

/* The view's motion from that of the base frame (position and velocity of its origin), and back. */
static inline ff_rigid_state ff_view_from_base(const ff_body_view *view, const ff_rigid_state *base) {
    if (!view->joints)
        return *base;
    const ff_vec3 carried = ff_vec3_add(view->com_rate, ff_vec3_cross(base->omega, view->com));
    return (ff_rigid_state){
        ff_vec3_add(base->position, ff_quat_rotate(base->attitude, view->com)), base->attitude,
        ff_vec3_add(base->velocity, ff_quat_rotate(base->attitude, carried)), base->omega};
}
static inline ff_rigid_state ff_view_to_base(const ff_body_view *view, const ff_rigid_state *x) {
    if (!view->joints)
        return *x;
    const ff_vec3 carried = ff_vec3_add(view->com_rate, ff_vec3_cross(x->omega, view->com));
    return (ff_rigid_state){ff_vec3_sub(x->position, ff_quat_rotate(x->attitude, view->com)), x->attitude,
                            ff_vec3_sub(x->velocity, ff_quat_rotate(x->attitude, carried)), x->omega};
}
/* The locked body if it moved as its port does, joints included: pose as the view's, twist of the port, at
 * the CoM. Who takes power or relative velocity at the port takes them from this. `base`: motion of the base.
 */
static inline ff_rigid_state ff_view_ride(const ff_body_view *view, int port, const ff_rigid_state *base) {
    if (!view->joints)
        return *base;
    const ff_twist V = ff_twist_add(ff_rigid_twist(base), view->moves[port]);
    const ff_pose com = {base->attitude, ff_pose_apply(ff_rigid_pose(base), view->com)};
    return ff_rigid_from_twist(com, (ff_twist){V.w, ff_vec3_add(V.v, ff_vec3_cross(V.w, view->com))});
}
/* The port itself: pose, velocity of its origin [m/s], inertial, rate [rad/s] in base axes. `x`: of the view.
 */
static inline ff_rigid_state ff_view_port(const ff_body_view *view, int port, const ff_rigid_state *x) {
    const ff_rigid_state base = ff_view_to_base(view, x);
    const ff_twist V = ff_twist_add(ff_rigid_twist(&base), view->moves[port]);
    const ff_pose g = ff_pose_mul(ff_rigid_pose(&base), view->port[port]);
    const ff_vec3 v = ff_vec3_add(V.v, ff_vec3_cross(V.w, view->port[port].p));
    return (ff_rigid_state){g.p, g.q, ff_quat_rotate(base.attitude, v), V.w};
}

/* Angular momentum about the CoM [N m s], inertial axes: R (I w + spin). */
static inline ff_vec3 ff_view_angular_momentum(const ff_body_view *view, const ff_rigid_state *x) {
    const ff_vec3 Iw = ff_mat3_apply(&view->rigid.inertia, x->omega);
    return ff_quat_rotate(x->attitude, view->joints ? ff_vec3_add(Iw, view->spin) : Iw);
}
/* Kinetic energy [J], the joints' motion included: 1/2 m v.v + 1/2 w.I w + w.spin + internal. */
static inline double ff_view_energy(const ff_body_view *view, const ff_rigid_state *x) {
    const double locked = ff_rigid_kinetic_energy(&view->rigid, x);
    return view->joints ? locked + ff_vec3_dot(x->omega, view->spin) + view->internal : locked;
}

/* From one view of a body to another at one instant: CoM, attitude and both momenta stay, the rate follows
 * from I w + spin. */
static inline void ff_view_enter(const ff_body_view *from, const ff_body_view *to, ff_rigid_state *x) {
    if (!to->joints)
        return;
    const ff_vec3 L = ff_vec3_add(ff_mat3_apply(&from->rigid.inertia, x->omega), from->spin);
    x->omega = ff_mat3_apply(&to->rigid.inertia_inv, ff_vec3_sub(L, to->spin));
}

/* Wrench impulse J [N m s, N s] in base axes at the point r [m] from the CoM, base axes, the joints locked.
 */
static inline void ff_view_impulse(const ff_body_view *view, ff_vec3 r, ff_wrench J, ff_rigid_state *x) {
    x->velocity = ff_vec3_axpy(view->rigid.mass_inv, ff_quat_rotate(x->attitude, J.f), x->velocity);
    x->omega = ff_vec3_add(x->omega,
                           ff_mat3_apply(&view->rigid.inertia_inv, ff_vec3_add(J.t, ff_vec3_cross(r, J.f))));
}
/* How fast that point yields along d for a unit impulse along d [1/kg]; r from the CoM in base axes, d in
 * inertial ones: d.d/m + (r x d).I^-1 (r x d). */
static inline double ff_view_mobility(const ff_body_view *view, const ff_rigid_state *x, ff_vec3 r,
                                      ff_vec3 d) {
    const ff_vec3 moment = ff_vec3_cross(r, ff_quat_unrotate(x->attitude, d));
    return view->rigid.mass_inv * ff_vec3_dot(d, d) +
           ff_vec3_dot(moment, ff_mat3_apply(&view->rigid.inertia_inv, moment));
}

/* Angular acceleration in free flight [rad/s2], base axes: w' = I^-1 ((I w + spin) x w). */
static inline ff_vec3 ff_view_acceleration(const ff_body_view *view, ff_vec3 w) {
    const ff_vec3 L = ff_vec3_add(ff_mat3_apply(&view->rigid.inertia, w), view->spin);
    return ff_mat3_apply(&view->rigid.inertia_inv, ff_vec3_cross(L, w));
}

/* In principal axes six of the nine products are zeros. */
static inline ff_vec3 ff__times(const ff_mat3 *a, bool principal, ff_vec3 v) {
    return principal ? (ff_vec3){{a->m[0][0] * v.x, a->m[1][1] * v.y, a->m[2][2] * v.z}}
                     : ff_mat3_apply(a, v);
}
/* w' = I^-1 (I w x w) */
static inline ff_vec3 ff__euler(const ff_rigid_model *model, bool principal, ff_vec3 w) {
    const ff_vec3 Iw = ff__times(&model->inertia, principal, w);
    return ff__times(&model->inertia_inv, principal, ff_vec3_cross(Iw, w));
}
/* ff_rigid_drift of a body that turns; principal: known to the compiler. */
static inline void ff__drift(const ff_rigid_model *model, bool principal, double h, ff_rigid_state *x) {
    const ff_vec3 w = x->omega, Iw = ff__times(&model->inertia, principal, w);
    const ff_vec3 k1 = ff__times(&model->inertia_inv, principal, ff_vec3_cross(Iw, w));
    const ff_vec3 k2 = ff__euler(model, principal, ff_vec3_axpy(0.5 * h, k1, w));
    const ff_vec3 k3 = ff__euler(model, principal, ff_vec3_axpy(0.5 * h, k2, w));
    const ff_vec3 k4 = ff__euler(model, principal, ff_vec3_axpy(h, k3, w));
    const ff_vec3 slope = ff_vec3_add(ff_vec3_add(k1, k4), ff_vec3_scale(2.0, ff_vec3_add(k2, k3)));
    ff_vec3 w1 = ff_vec3_axpy(h / 6.0, slope, w);
    const double before = ff_vec3_dot(w, Iw),
                 after = ff_vec3_dot(w1, ff__times(&model->inertia, principal, w1));
    if (after > 0.0)
        w1 = ff_vec3_scale(sqrt(before / after), w1);
    /* mean rate (Hermite) and the commutator of body rates */
    ff_vec3 turn = ff_vec3_scale(0.5 * h, ff_vec3_add(w, w1));
    turn = ff_vec3_axpy(h * h / 12.0, ff_vec3_add(ff_vec3_sub(k1, k4), ff_vec3_cross(w, w1)), turn);
    const ff_quat q = ff_quat_mul(x->attitude, ff_quat_exp(turn));
    const double fix = 1.5 - 0.5 * (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    x->attitude = (ff_quat){fix * q.w, fix * q.x, fix * q.y, fix * q.z};
    x->omega = w1;
}

/* Free flight over h seconds (any sign) of a rigid body, keeping its kinetic energy: Euler's equation by
 * Runge and Kutta's fourth-order step, the attitude by the Magnus expansion to the same order, what is left
 * of the energy error taken out of the rate. One step: for turns below some hundredths of a radian. */
static inline void ff_rigid_drift(const ff_rigid_model *model, double h, ff_rigid_state *x) {
    if (h == 0.0)
        return;
    x->position = ff_vec3_axpy(h, x->velocity, x->position);
    if (x->omega.x == 0.0 && x->omega.y == 0.0 && x->omega.z == 0.0)
        return;
    if (model->inertia_is_diag)
        ff__drift(model, true, h, x);
    else
        ff__drift(model, false, h, x);
}

/* The same for a view. With joints, w' = I^-1 ((I w + spin) x w), and what is kept to rounding is the
 * momentum: the rate at the end is the one that the turned body needs for L. (The energy is not the view's to
 * keep: motors hold the joints' rates.) */
static inline void ff_view_drift(const ff_body_view *view, double h, ff_rigid_state *x) {
    const ff_rigid_model *model = &view->rigid;
    if (!view->joints) {
        ff_rigid_drift(model, h, x);
        return;
    }
    x->position = ff_vec3_axpy(h, x->velocity, x->position);
    const ff_vec3 w = x->omega;
    const ff_vec3 L = ff_vec3_add(ff_mat3_apply(&model->inertia, w), view->spin);
    const ff_vec3 k1 = ff_mat3_apply(&model->inertia_inv, ff_vec3_cross(L, w));
    const ff_vec3 k2 = ff_view_acceleration(view, ff_vec3_axpy(0.5 * h, k1, w));
    const ff_vec3 k3 = ff_view_acceleration(view, ff_vec3_axpy(0.5 * h, k2, w));
    const ff_vec3 k4 = ff_view_acceleration(view, ff_vec3_axpy(h, k3, w));
    const ff_vec3 slope = ff_vec3_add(ff_vec3_add(k1, k4), ff_vec3_scale(2.0, ff_vec3_add(k2, k3)));
    const ff_vec3 w1 = ff_vec3_axpy(h / 6.0, slope, w);
    ff_vec3 turn = ff_vec3_scale(0.5 * h, ff_vec3_add(w, w1));
    turn = ff_vec3_axpy(h * h / 12.0, ff_vec3_add(ff_vec3_sub(k1, k4), ff_vec3_cross(w, w1)), turn);
    const ff_quat step = ff_quat_exp(turn);
    x->attitude = ff_quat_unit(ff_quat_mul(x->attitude, step));
    x->omega = ff_mat3_apply(&model->inertia_inv, ff_vec3_sub(ff_quat_unrotate(step, L), view->spin));
}

/* ------------------------------------------------------------------------------------- the body -- */

typedef struct ff_body {
    const ff_tree_model *tree; /* NULL: rigid */
    ff_tree_frame port[FF_BODY_PORTS_MAX];
    ff_body_view still; /* rigid: its only view; with joints: mass, number of ports */
} ff_body;

/* All that is needed to resume. */
typedef struct ff_body_state {
    ff_rigid_state motion;         /* rigid: of the CoM; with joints: of the base frame, at the last joints */
    ff_vec3 linear;                /* [N s] with joints: momentum of the whole, inertial */
    ff_vec3 origin;                /* [N m s] about the inertial origin */
    double qd[FF_TREE_JOINTS_MAX]; /* joint rates measured last */
    double qdd[FF_TREE_JOINTS_MAX]; /* their change since the cycle before, for each second */
} ff_body_state;

typedef struct ff_body_work ff_body_work; /* lives in the caller's memory; measure fills it for step */

/* A rigid body; its ports are frames in body axes from the CoM. What ff_rigid_create says; FF_ERR_ARGUMENT
 * for too many ports. */
ff_status ff_body_rigid(const ff_rigid_config *config, int ports, const ff_pose *port, ff_body *body);
/* A base with joints; the tree is kept, not copied. FF_ERR_ARGUMENT: fixed base, ports, a port's link. */
ff_status ff_body_tree(const ff_tree_model *tree, int ports, const ff_tree_frame *port, ff_body *body);
int ff_body_joints(const ff_body *body); /* zero for a rigid one */

/* Bytes of caller memory for one work, aligned as any object; zero for a rigid body, which needs none. */
size_t ff_body_work_memsize(const ff_body *body);
/* FF_ERR_SIZE. A rigid body's work is NULL. */
ff_status ff_body_work_create(const ff_body *body, void *memory, size_t bytes, ff_body_work **work);

/* At `motion` (rigid: of the CoM, else of the base frame) with joints q, qd (NULL for a rigid body). */
void ff_body_reset(const ff_body *body, ff_body_work *work, const ff_rigid_state *motion, const double *q,
                   const double *qd, ff_body_state *state);
/* New joints, T seconds after the last: the motion of the base follows from momentum and rates, M_b V_b =
 * Ad(g_b)^T h - M_bq q', and the view is theirs. A rigid body is left as it is and its view is body->still.
 * FF_ERR_NOT_FINITE, with nothing changed, when a joint is not. Before stage 3 of a cycle. */
ff_status ff_body_measure(const ff_body *body, ff_body_work *work, double T, const double *q,
                          const double *qd, ff_body_state *state, ff_body_view *view);
/* The state after a method recomputed the view's motion: base and momenta follow from it. */
void ff_body_put(const ff_body_view *view, const ff_rigid_state *x, ff_body_state *state);

/* One cycle of T seconds of a body with joints after measure. `contact`: force [N] inertial, torque [N m] in
 * base axes about the base's origin, an impulse at the start of the cycle; `thrust`: base axes, over the
 * cycle. Between the cycles the joints are taken to continue at the q'' of the last one; what is guessed
 * wrong is not carried on, as the next rates are measured again: the pose is wrong by T^2/2 times the q'' of
 * now.
 */
void ff_body_fly(const ff_body *body, ff_body_work *work, double T, ff_rigid_load contact, ff_wrench thrust,
                 ff_body_state *state);
/* After it: what acts at the end of the cycle, the base standing at state->motion. */
void ff_body_fly_finish(const ff_body_work *work, double T, ff_rigid_load late, ff_body_state *state);
/* A port's pose in the base frame h seconds after its joints were measured, as `fly` takes them. */
ff_pose ff_body_port_ahead(const ff_body *body, ff_body_work *work, int port, double h,
                           const ff_body_state *state);

#ifdef __cplusplus
}
#endif
#endif
