/* Where a tip stands in a surface, and what an impulse there does. */
#include "history/history.h"

void ff__place_coordinate(const ff__place *p, ff_quat start, const ff_rigid_state *a, const ff_rigid_state *b,
                          double *s, double *s_dot) {
    if (p->turn) {
        const ff_quat turn = ff_quat_mul(ff_quat_conj(start), a->attitude);
        *s = -ff_vec3_dot(p->n, ff_quat_log(turn));
        *s_dot = -ff_vec3_dot(p->n, a->omega);
        return;
    }
    if (!b) {
        ff__place_plane(p, a, s, s_dot);
        return;
    }
    const ff_vec3 tip = ff_vec3_add(a->position, ff_quat_rotate(a->attitude, p->r));
    const ff_vec3 v = ff_rigid_point_velocity(a, p->r);
    const ff_vec3 tip_b = ff_quat_unrotate(b->attitude, ff_vec3_sub(tip, b->position));
    const ff_vec3 v_b = ff_vec3_sub(ff_quat_unrotate(b->attitude, ff_vec3_sub(v, b->velocity)),
                                    ff_vec3_cross(b->omega, tip_b));
    *s = -ff_vec3_dot(p->n, tip_b);
    *s_dot = -ff_vec3_dot(p->n, v_b);
}

/* Depth below the nearest of the cone's surfaces, its wall and the face around its mouth, and the normal
 * there, b's axes. */
static double below_cone(const ff__place *p, ff_vec3 tip_b, ff_vec3 *n) {
    const ff__cone *c = p->cone;
    const ff_vec3 r = ff_vec3_sub(tip_b, c->apex);
    const double z = ff_vec3_dot(p->n, r);
    const ff_vec3 across = ff_vec3_axpy(-z, p->n, r);
    const double rho = ff_vec3_norm(across), along = z * c->cos + rho * c->sin;
    const double wall = along > 0.0 ? rho * c->cos - z * c->sin : ff_vec3_norm(r), face = c->depth - z;
    *n = p->n;
    if (face < wall)
        return face;
    if (along > 0.0) {
        *n = ff_vec3_scale(c->sin, p->n);
        if (rho > 0.0)
            *n = ff_vec3_axpy(-c->cos / rho, across, *n);
    } else if (wall > 0.0)
        *n = ff_vec3_scale(-1.0 / wall, r);
    return wall;
}

ff__touch ff__place_touch(const ff__place *p, const ff_rigid_state *a, const ff_rigid_state *b) {
    ff__touch t = {.tip = ff_vec3_add(a->position, ff_quat_rotate(a->attitude, p->r)),
                   .slip = ff_rigid_point_velocity(a, p->r)};
    ff_vec3 tip_b = t.tip, n = p->n;
    if (b) {
        tip_b = ff_quat_unrotate(b->attitude, ff_vec3_sub(t.tip, b->position));
        t.slip = ff_vec3_sub(t.slip, ff_rigid_point_velocity(b, tip_b));
    }
    t.s = p->cone ? below_cone(p, tip_b, &n) : -ff_vec3_dot(n, tip_b);
    t.n = b ? ff_quat_rotate(b->attitude, n) : n;
    t.v = -ff_vec3_dot(t.n, t.slip);
    return t;
}

static inline ff_vec3 turned_by(const ff_rigid_model *model, ff_vec3 moment) {
    return ff__times(&model->inertia_inv, model->inertia_is_diag, moment);
}

/* To be put in place twice: of the second nothing but the mobility is computed. */
static inline void open_port(const ff_body_view *view, const ff__place *p, const ff_rigid_state *a,
                             const ff_rigid_state *b, ff_vec3 n, ff_vec3 side, ff__port *q) {
    const ff_rigid_model *A = &view[p->a].rigid;
    if (p->turn) {
        q->moment_a = n;
        q->arm_a = turned_by(A, n);
        q->mobility = ff_vec3_dot(n, q->arm_a);
        q->u = ff_vec3_dot(n, a->omega);
        return;
    }
    q->d_w = ff_vec3_add(n, side);
    const ff_vec3 d_a = ff_quat_unrotate(a->attitude, q->d_w);
    q->moment_a = ff_vec3_cross(p->r, d_a);
    q->arm_a = turned_by(A, q->moment_a);
    const double dd = ff_vec3_dot(q->d_w, q->d_w);
    q->mobility = A->mass_inv * dd + ff_vec3_dot(q->moment_a, q->arm_a);
    q->u = ff_vec3_dot(q->d_w, a->velocity) + ff_vec3_dot(q->moment_a, a->omega);
    if (b) {
        const ff_rigid_model *B = &view[p->b].rigid;
        const ff_vec3 tip = ff_vec3_add(a->position, ff_quat_rotate(a->attitude, p->r));
        const ff_vec3 r_b = ff_quat_unrotate(b->attitude, ff_vec3_sub(tip, b->position));
        q->moment_b = ff_vec3_cross(r_b, ff_quat_unrotate(b->attitude, q->d_w));
        q->arm_b = turned_by(B, q->moment_b);
        q->mobility += B->mass_inv * dd + ff_vec3_dot(q->moment_b, q->arm_b);
        q->u -= ff_vec3_dot(q->d_w, b->velocity) + ff_vec3_dot(q->moment_b, b->omega);
    }
}

void ff__place_open(const ff_body_view *view, const ff__place *p, const ff_rigid_state *a,
                    const ff_rigid_state *b, ff_vec3 n, ff_vec3 side, ff__port *q) {
    open_port(view, p, a, b, n, side, q);
}

double ff__place_mobility(const ff_body_view *view, const ff__place *p, const ff_rigid_state *a,
                          const ff_rigid_state *b, const ff_vec3 *n) {
    ff__port q;
    open_port(view, p, a, b, *n, ff_vec3_zero(), &q);
    return q.mobility;
}
