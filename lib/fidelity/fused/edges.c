/* fused: contacts of one body at one time: where their fit begins (docs/methods/fused.md, 9).
 *
 * The wrenches of all rows lie in a cone whose edges are the contacts: rows in which one acts alone. From the
 * rows furthest outside each other's span each force follows by least squares, its surface from the profile.
 */
#include "fidelity/fused/several.h"

#include <string.h>

/* Forces of the contacts in `mask` that make up a wrench, by least squares. */
void ff__fused_divide(const fused_joint *z, const fused_point *q, const joint_act *act, unsigned mask,
                      ff_vec3 F, ff_vec3 M, double *f) {
    int who[FUSED_JOINT], n = 0;
    double A[FUSED_JOINT * FUSED_JOINT], b[FUSED_JOINT];
    const double wf = 1.0 / (z->unit * z->unit), wt = 1.0 / (z->unit_t * z->unit_t);
    for (int j = 0; j < z->count; j++) {
        f[j] = 0.0;
        if (mask >> j & 1u)
            who[n++] = j;
    }
    for (int i = 0; i < n; i++) {
        const joint_act *y = &act[who[i]];
        b[i] = wf * ff_vec3_dot(q[who[i]].n, F) + wt * ff_vec3_dot(y->arm, M);
        for (int j = 0; j < n; j++)
            A[i * n + j] =
                (wf * ff_vec3_dot(q[who[i]].n, q[who[j]].n) + wt * ff_vec3_dot(y->arm, act[who[j]].arm)) *
                (i == j ? 1.0 + 1e-6 : 1.0);
    }
    if (n == 0 || ff_cholesky_factor((size_t)n, A) != FF_OK)
        return;
    ff_cholesky_solve((size_t)n, A, b);
    for (int i = 0; i < n; i++)
        f[who[i]] = b[i];
}

static void wrench_of(const fused_joint *z, const joint_row *row, double *w) {
    const ff_vec3 M = ff_quat_rotate(row->x.attitude, row->M);
    for (int i = 0; i < 3; i++) {
        w[i] = row->F.a[i];
        w[3 + i] = M.a[i] / z->arm;
    }
}

static void take_out(const fused_joint *z, double *w) {
    for (int j = 0; j < z->count; j++) {
        const double part = joint_dot(z->basis[j], w);
        for (int i = 0; i < 6; i++)
            w[i] -= part * z->basis[j][i];
    }
}

/* The row that lies furthest outside the span of those picked; first of all the earliest one. */
void ff__fused_pick_row(fused_state *state, fused_joint *z, double noise) {
    z->extreme = 0.0;
    for (uint64_t i = z->from; i <= z->to; i++) {
        if (!fused_at(state, z->body, i)->valid)
            continue;
        const joint_row row = joint_row_of(state, z, i);
        double w[6];
        wrench_of(z, &row, w);
        const double size = sqrt(joint_dot(w, w));
        if (!(size > fmax(0.005 * z->peak, 10.0 * noise)))
            continue;
        take_out(z, w);
        const double part = sqrt(joint_dot(w, w)) / size - 4.0 * noise / size;
        if (part > z->extreme) {
            z->extreme = part;
            z->pick = i;
            if (z->count == 0)
                return;
        }
    }
}

/* The row picked joins the span. False where its wrench is not one of a force at a point. */
bool ff__fused_add_edge(fused_state *state, fused_joint *z) {
    const joint_row row = joint_row_of(state, z, z->pick);
    double *w = z->basis[z->count];
    wrench_of(z, &row, w);
    const double force = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), size = sqrt(joint_dot(w, w));
    take_out(z, w);
    const double left = sqrt(joint_dot(w, w));
    if (!(force > 0.2 * size) || !(left > 0.0))
        return false;
    for (int i = 0; i < 6; i++)
        w[i] /= left;
    z->picked[z->count++] = z->pick;
    return true;
}

enum { PROBES = 5, PROBE_PASSES = 2 };
static const double outwards[PROBES] = {0.15, 0.3, 0.5, 0.7, 0.9};

void ff__fused_next_start(fused_joint *z) {
    z->stage = ++z->start < JOINT_STARTS ? START : WRITE;
    if (z->stage == WRITE)
        return;
    z->probing = true;
    z->probe = 0;
    z->J_probe = FF_INF;
    for (int j = 0; j < FUSED_JOINT; j++)
        for (int o = 0; o < FUSED_JOINT; o++)
            z->out[j][o] = z->start ? 0.4 / (z->count - 1) : 0.0;
    z->far = z->out[0][0];
}

/* The edge that probe i moves, and away from which; the last one picked was seen least alone. */
static double *probed(fused_joint *z, int i) {
    const int others = z->count - 1, at = (i - 1) / PROBES % (z->count * others),
              j = z->count - 1 - at / others, o = at % others;
    return &z->out[j][o + (o >= j)];
}

void ff__fused_judge_probe(fused_joint *z, double J) {
    const int all = PROBES * PROBE_PASSES * z->count * (z->count - 1);
    if (z->probe > 0) {
        double *at = probed(z, z->probe);
        if (J < z->J_probe)
            z->far = *at;
        *at = (z->probe % PROBES == 0) ? z->far : *at;
    }
    z->J_probe = fmin(J, z->J_probe);
    if (z->J_probe < square(0.02 * z->peak / z->unit) * joint_rows(z) || z->probe == all) {
        if (z->probe > 0)
            *probed(z, z->probe) = z->far;
        z->probing = false;
        return;
    }
    double *next = probed(z, ++z->probe);
    if (z->probe % PROBES == 1)
        z->far = *next;
    *next = outwards[(z->probe - 1) % PROBES];
}

/* Where the fit begins. An edge that was seen only with others beside it lies within the cone: it is moved
 * outwards, away from the others' picks. */
bool ff__fused_place_points(fused_state *state, fused_joint *z) {
    double w[FUSED_JOINT][6], size[FUSED_JOINT];
    for (int j = 0; j < z->count; j++) {
        const joint_row row = joint_row_of(state, z, z->picked[j]);
        wrench_of(z, &row, w[j]);
        size[j] = sqrt(joint_dot(w[j], w[j]));
    }
    for (int j = 0; j < z->count; j++) {
        const joint_row row = joint_row_of(state, z, z->picked[j]);
        double x[6];
        for (int i = 0; i < 6; i++) {
            x[i] = w[j][i] / size[j];
            for (int o = 0; o < z->count; o++)
                x[i] -= o == j ? 0.0 : z->out[j][o] * w[o][i] / size[o];
        }
        const ff_vec3 F = ff_vec3_make(x[0], x[1], x[2]),
                      M = ff_vec3_scale(z->arm, ff_vec3_make(x[3], x[4], x[5]));
        const double force = ff_vec3_norm(F);
        fused_point *q = &z->now.at[j];
        if (!(force > 0.0))
            return false;
        *q = (fused_point){.n = ff_vec3_scale(1.0 / force, F),
                           .r = z->common
                                    ? z->r
                                    : ff_quat_unrotate(row.x.attitude, ff_vec3_scale(1.0 / (force * force),
                                                                                     ff_vec3_cross(F, M)))};
        q->at = ff_pose_apply(ff_rigid_pose(&row.x), q->r);
        if (!(ff_vec3_norm(q->r) < arm_longest))
            return false;
    }
    return true;
}

/* Contact j's force is by_F.F + by_M.M: exact where one point bears all, as normals do not turn, and for
 * others as the body lies in the middle row; it turns little in a contact. */
static void divide_once(fused_state *state, const fused_joint *z, const fused_point *q, int j, ff_vec3 *by_F,
                        ff_vec3 *by_M) {
    const joint_row row = joint_row_of(state, z, z->from + (z->to - z->from) / 2);
    joint_act act[FUSED_JOINT];
    double f[FUSED_JOINT];
    for (int m = 0; m < z->count; m++)
        act[m] = joint_act_of(&q[m], &row.x);
    for (int c = 0; c < 6; c++) {
        ff_vec3 unit[2] = {ff_vec3_zero(), ff_vec3_zero()};
        unit[c / 3].a[c % 3] = 1.0;
        ff__fused_divide(z, q, act, (1u << z->count) - 1u, unit[0], unit[1], f);
        (c < 3 ? by_F : by_M)->a[c % 3] = f[j];
    }
}

/* Stiffness, damping and place of contact j from its part of the wrenches. */
bool ff__fused_find_surface(const fused_model *model, fused_state *state, const fused_joint *z,
                            fused_point *q, int j, int *work) {
    fused_table t;
    int rows = 0, first = -1;
    double most = 0.0, lo = FF_INF;
    ff_vec3 by_F, by_M;
    divide_once(state, z, q, j, &by_F, &by_M);
    for (uint64_t i = z->from; i <= z->to; i++, rows++) {
        const fused_sample *x = fused_at(state, z->body, i);
        const ff_rigid_state robot = fused_robot_of(x);
        const ff_vec3 d = ff_vec3_sub(ff_pose_apply(x->T_r, q[j].r), q[j].at);
        t.s[rows] = -ff_vec3_dot(q[j].n, d);
        t.v[rows] = -ff_vec3_dot(q[j].n, ff_rigid_point_velocity(&robot, q[j].r));
        t.f[rows] = ff_vec3_dot(by_F, x->force) + ff_vec3_dot(by_M, x->torque);
        t.use[rows] = x->valid;
        most = fmax(most, t.f[rows]);
    }
    for (int i = 0; i < rows; i++) {
        const double noise = model->config.force_noise;
        if (first < 0 && t.f[i] > fmax(0.1 * most, 5.0 * noise))
            first = i;
        if (first < 0)
            lo = fmin(lo, t.s[i]);
        t.use[i] = t.use[i] && !(t.v[i] < 0.0 && t.f[i] < fmax(0.05 * most, 4.0 * noise));
    }
    if (first < 1 || !(most > 0.02 * z->peak) || !(t.v[first] > 0.0))
        return false;
    const ff_profile_in in = {.rows = rows,
                              .s = t.s,
                              .v = t.v,
                              .f = t.f,
                              .use = t.use,
                              .lo = fmin(lo, t.s[first] - 1e-6),
                              .hi = t.s[first],
                              .noise = fmax(z->unit, 1e-2 * most),
                              .speed = t.v[first]};
    ff_profile fit = {0};
    ff_profile_search search;
    int left = INT32_MAX;
    ff_profile_begin(&in, &search);
    const ff_profile_progress progress = ff_profile_continue(&in, 0, &search, &left, &fit);
    *work -= INT32_MAX - left;
    if (progress != FF_PROFILE_DONE)
        return false;
    q[j].x0 = fit.x0;
    q[j].k = fit.k;
    q[j].c = fit.c;
    return true;
}
