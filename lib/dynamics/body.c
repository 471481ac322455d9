/* The body: rigid, or a base with measured joints whose state is a momentum (freefloat/body.h). */
#include "freefloat/body.h"

enum { MOST = 6 + FF_TREE_JOINTS_MAX };

/* The base block of M with its factor, and the coupling with the joints. */
typedef struct base_block {
    double factor[36];
    double M_b[36];
    double M_qb[FF_TREE_JOINTS_MAX][6]; /* a joint's six numbers beside each other: whole vectors below */
} base_block;

struct ff_body_work {
    ff_tree_work *tree;
    base_block now;               /* at the joints measured */
    base_block half;              /* half a cycle later, by fly */
    ff_wrench momentum;           /* of the joints' motion as measured: M_bq q' of now */
    double q[FF_TREE_JOINTS_MAX]; /* joints measured */
    ff_wrench ahead;              /* M_bq q' at the end of the cycle, by fly */
};

/* --------------------------------------------------------------------------------------------- setup -- */

ff_status ff_body_rigid(const ff_rigid_config *config, int ports, const ff_pose *port, ff_body *body) {
    *body = (ff_body){.still = {.ports = ports}};
    if (ports < 0 || ports > FF_BODY_PORTS_MAX)
        return FF_ERR_ARGUMENT;
    for (int i = 0; i < ports; i++) {
        body->port[i] = (ff_tree_frame){FF_TREE_BASE, port[i]};
        body->still.port[i] = port[i];
    }
    return ff_rigid_create(config, &body->still.rigid);
}

ff_status ff_body_tree(const ff_tree_model *tree, int ports, const ff_tree_frame *port, ff_body *body) {
    *body = (ff_body){.tree = tree, .still = {.ports = ports, .joints = true}};
    if (!tree || ff_tree_fixed_base(tree) || ports < 0 || ports > FF_BODY_PORTS_MAX)
        return FF_ERR_ARGUMENT;
    body->still.rigid.mass = ff_tree_mass(tree);
    for (int i = 0; i < ports; i++) {
        if (port[i].link < FF_TREE_BASE || port[i].link >= (int)ff_tree_links(tree) ||
            !ff_pose_finite(port[i].offset))
            return FF_ERR_ARGUMENT;
        body->port[i] = port[i];
    }
    return FF_OK;
}

int ff_body_joints(const ff_body *body) {
    return body->tree ? (int)ff_tree_joints(body->tree) : 0;
}

size_t ff_body_work_memsize(const ff_body *body) {
    return body->tree ? sizeof(ff_body_work) + ff_tree_work_memsize(body->tree) : 0;
}

ff_status ff_body_work_create(const ff_body *body, void *memory, size_t bytes, ff_body_work **work) {
    *work = NULL;
    if (!body->tree)
        return FF_OK;
    if (!memory || bytes < ff_body_work_memsize(body))
        return FF_ERR_SIZE;
    ff_body_work *w = memory;
    *w = (ff_body_work){0};
    const ff_status status =
        ff_tree_work_create(body->tree, &w[1], bytes - sizeof *w, &w->tree); /* aligns itself */
    *work = w;
    return status;
}

/* ------------------------------------------------------------------------------------------- inertia -- */

static ff_wrench rows(const double *h) {
    return (ff_wrench){ff_vec3_make(h[0], h[1], h[2]), ff_vec3_make(h[3], h[4], h[5])};
}

/* The tree with its base at rest in the origin and joints h seconds on from those measured. */
static void place(const ff_body *body, ff_body_work *work, double h, const ff_body_state *state,
                  ff_tree_state *x) {
    x->base = ff_pose_identity();
    x->twist = ff_twist_zero();
    const size_t n = ff_tree_joints(body->tree);
    for (size_t i = 0; i < n; i++) {
        x->qd[i] = state->qd[i] + h * state->qdd[i];
        x->q[i] = work->q[i] + 0.5 * h * (state->qd[i] + x->qd[i]);
    }
    ff_tree_positions(body->tree, x, work->tree, ff_vec3_zero());
}

static void take_block(const ff_body *body, ff_body_work *work, base_block *b) {
    double M[MOST * MOST];
    const size_t n = ff_tree_dof(body->tree);
    ff_tree_mass_matrix(body->tree, work->tree, M);
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < 6; c++)
            if (r < 6)
                b->factor[6 * r + c] = b->M_b[6 * r + c] = M[n * r + c];
            else
                b->M_qb[r - 6][c] = M[n * r + c];
    ff_cholesky_factor(6, b->factor);
}

/* M_bq q' */
static ff_wrench coupling(size_t joints, const base_block *b, const double *qd) {
    double y[6] = {0};
    for (size_t c = 0; c < joints; c++)
        for (size_t r = 0; r < 6; r++)
            y[r] += b->M_qb[c][r] * qd[c];
    return rows(y);
}

/* M_b V_b = Ad(g_b)^T h - M_bq q' */
static ff_twist twist_at(const base_block *b, ff_pose g, const ff_body_state *state, ff_wrench coupled) {
    const ff_wrench h = ff_wrench_transform(ff_pose_inverse(g), (ff_wrench){state->origin, state->linear});
    const ff_wrench F = ff_wrench_sub(h, coupled);
    double x[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
    ff_cholesky_solve(6, b->factor, x);
    return (ff_twist){ff_vec3_make(x[0], x[1], x[2]), ff_vec3_make(x[3], x[4], x[5])};
}

/* Locked inertia about the CoM out of M_b = [I_o, m [c]; m [c]^T, m 1]; the joints' momentum out of M_bq q'.
 */
static void fill_view(const ff_body *body, ff_body_work *work, const ff_body_state *state,
                      ff_body_view *view) {
    const base_block *b = &work->now;
    const double m = b->M_b[6 * 3 + 3];
    const ff_vec3 c = ff_vec3_make(b->M_b[6 * 2 + 4] / m, b->M_b[6 * 0 + 5] / m, b->M_b[6 * 1 + 3] / m);
    const double c2 = ff_vec3_dot(c, c);
    *view = (ff_body_view){.rigid = {.mass = m, .mass_inv = 1.0 / m, .q_bp = {1, 0, 0, 0}},
                           .com = c,
                           .joints = true,
                           .ports = body->still.ports};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 3; j++)
            view->rigid.inertia.m[i][j] = b->M_b[6 * i + j] - m * ((i == j ? c2 : 0.0) - c.a[i] * c.a[j]);
    ff_mat3_inverse(view->rigid.inertia, &view->rigid.inertia_inv);
    const ff_wrench h = work->momentum;
    view->com_rate = ff_vec3_scale(1.0 / m, h.f);
    view->spin = ff_vec3_sub(h.t, ff_vec3_cross(c, h.f));
    ff_tree_state x;
    x.twist = ff_twist_zero();
    const size_t n = ff_tree_joints(body->tree);
    for (size_t i = 0; i < n; i++)
        x.qd[i] = state->qd[i];
    ff_tree_velocities(body->tree, &x, work->tree);
    view->internal = ff_tree_kinetic_energy(body->tree, work->tree) - 0.5 * ff_vec3_dot(h.f, view->com_rate);
    for (int i = 0; i < view->ports; i++) {
        view->port[i] = ff_tree_frame_in_base(body->tree, work->tree, &body->port[i]);
        view->moves[i] =
            ff_twist_transform(view->port[i], ff_tree_frame_twist(body->tree, work->tree, &body->port[i]));
    }
}

/* -------------------------------------------------------------------------------------------- cycles -- */

void ff_body_reset(const ff_body *body, ff_body_work *work, const ff_rigid_state *motion, const double *q,
                   const double *qd, ff_body_state *state) {
    *state = (ff_body_state){.motion = *motion};
    if (!body->tree)
        return;
    ff_tree_state x;
    x.base = ff_rigid_pose(motion);
    x.twist = ff_rigid_twist(motion);
    for (size_t i = 0; i < ff_tree_joints(body->tree); i++) {
        work->q[i] = x.q[i] = q[i];
        state->qd[i] = x.qd[i] = qd[i];
    }
    ff_tree_kinematics(body->tree, &x, work->tree, ff_vec3_zero());
    const ff_tree_momentum m = ff_tree_total_momentum(body->tree, work->tree);
    state->linear = m.linear;
    state->origin = m.origin;
}

ff_status ff_body_measure(const ff_body *body, ff_body_work *work, double T, const double *q,
                          const double *qd, ff_body_state *state, ff_body_view *view) {
    if (!body->tree) {
        *view = body->still;
        return FF_OK;
    }
    const size_t n = ff_tree_joints(body->tree);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(q[i]) || !isfinite(qd[i]))
            return FF_ERR_NOT_FINITE;
    for (size_t i = 0; i < n; i++) {
        work->q[i] = q[i];
        state->qdd[i] = T > 0.0 ? (qd[i] - state->qd[i]) / T : 0.0;
        state->qd[i] = qd[i];
    }
    ff_tree_state x;
    place(body, work, 0.0, state, &x);
    take_block(body, work, &work->now);
    work->momentum = coupling(n, &work->now, state->qd);
    fill_view(body, work, state, view);
    const ff_pose g = ff_rigid_pose(&state->motion);
    state->motion = ff_rigid_from_twist(g, twist_at(&work->now, g, state, work->momentum));
    return FF_OK;
}

void ff_body_put(const ff_body_view *view, const ff_rigid_state *x, ff_body_state *state) {
    state->motion = ff_view_to_base(view, x);
    state->linear = ff_vec3_scale(view->rigid.mass, x->velocity);
    state->origin = ff_vec3_add(ff_view_angular_momentum(view, x), ff_vec3_cross(x->position, state->linear));
}

/* Force inertial, torque in the axes of g about its origin, over h seconds. */
static void push(ff_pose g, ff_rigid_load load, double h, ff_body_state *state) {
    const ff_vec3 t = ff_vec3_add(ff_quat_rotate(g.q, load.torque), ff_vec3_cross(g.p, load.force));
    state->linear = ff_vec3_axpy(h, load.force, state->linear);
    state->origin = ff_vec3_axpy(h, t, state->origin);
}

void ff_body_fly(const ff_body *body, ff_body_work *work, double T, ff_rigid_load contact, ff_wrench thrust,
                 ff_body_state *state) {
    ff_tree_state x;
    ff_pose g = ff_rigid_pose(&state->motion);
    const size_t n = ff_tree_joints(body->tree);
    push(g, contact, T, state);
    const ff_twist V = twist_at(&work->now, g, state, work->momentum);
    const ff_pose half = ff_pose_mul(g, ff_pose_exp(ff_twist_scale(0.5 * T, V)));
    const ff_rigid_load loads = ff_rigid_load_from_body(half.q, thrust);
    push(half, loads, 0.5 * T, state);
    place(body, work, 0.5 * T, state, &x);
    take_block(body, work, &work->half);
    const ff_twist mean = twist_at(&work->half, half, state, coupling(n, &work->half, x.qd));
    g = ff_pose_mul(g, ff_pose_exp(ff_twist_scale(T, mean)));
    g.q = ff_quat_unit(g.q);
    push(half, loads, 0.5 * T, state);
    double qd[FF_TREE_JOINTS_MAX];
    for (size_t i = 0; i < n; i++)
        qd[i] = state->qd[i] + T * state->qdd[i];
    work->ahead = coupling(n, &work->half, qd);
    state->motion = ff_rigid_from_twist(g, twist_at(&work->half, g, state, work->ahead));
}

void ff_body_fly_finish(const ff_body_work *work, double T, ff_rigid_load late, ff_body_state *state) {
    const ff_pose g = ff_rigid_pose(&state->motion);
    push(g, late, T, state);
    state->motion = ff_rigid_from_twist(g, twist_at(&work->half, g, state, work->ahead));
}

ff_pose ff_body_port_ahead(const ff_body *body, ff_body_work *work, int port, double h,
                           const ff_body_state *state) {
    if (!body->tree)
        return body->still.port[port];
    ff_tree_state x;
    place(body, work, h, state, &x);
    return ff_tree_frame_in_base(body->tree, work->tree, &body->port[port]);
}
