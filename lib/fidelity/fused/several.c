/* fused: contacts of one body that acted at one time, fitted together once they are over
 * (docs/methods/fused.md, 9).
 *
 * The wrenches of all rows lie in a cone whose edges are the contacts: rows in which one acts alone. From the
 * rows furthest outside each other's span each force follows by least squares, its surface from the profile;
 * then normals, points and surfaces of all are refined by Levenberg and Marquardt's method on force and
 * torque. */
#include "fidelity/fused/fused.h"

#include <string.h>

enum { REST_JOINT, PICK, START, SURFACE, BUILD, WRITE, REPLAY };
enum {
    PER = 8,          /* parameters of a contact: tilt 2, point 3, surface, stiffness, damping */
    ROWS = 64,        /* rows of a fit, at most: beyond they are thinned out */
    TRIALS = 24,      /* of a start */
    TRIALS_NEAR = 60, /* of one that comes near */
    STARTS = 7,
    WORK_JOINT = 40000, /* of a cycle */
    WORK_PICK = 10      /* of a row */
};
static const double edge = 0.03; /* part of a wrench outside the span of the others: another contact */
static const double damping_unit = 0.01; /* [s] of stiffness */

typedef struct joint_row {
    ff_rigid_state x;
    ff_vec3 F, M; /* inertial, body axes */
} joint_row;

/* One contact in one row: n in body axes, depth, its rate, and what the surface makes of them. */
typedef struct joint_act {
    ff_vec3 a, arm, d, u; /* normal in body axes, r x a, tip from where depth is counted, its velocity */
    double p, v, f;
} joint_act;

static joint_row row_of(fused_state *state, const fused_joint *z, uint64_t i) {
    const fused_sample *s = fused_at(state, z->body, i);
    return (joint_row){fused_robot_of(s), s->force, s->torque};
}

static joint_act act_of(const fused_point *q, const ff_rigid_state *x) {
    joint_act y;
    y.a = ff_quat_unrotate(x->attitude, q->n);
    y.arm = ff_vec3_cross(q->r, y.a);
    y.d = ff_vec3_sub(ff_pose_apply(ff_rigid_pose(x), q->r), q->at);
    y.u = ff_rigid_point_velocity(x, q->r);
    y.p = -ff_vec3_dot(q->n, y.d) - q->x0;
    y.v = -ff_vec3_dot(q->n, y.u);
    y.f = y.p > 0.0 ? fmax(0.0, q->k * y.p + q->c * y.v) : 0.0;
    return y;
}

/* Forces of the contacts in `mask` that make up a wrench, by least squares. */
static void divide(const fused_joint *z, const fused_point *q, const joint_act *act, unsigned mask, ff_vec3 F,
                   ff_vec3 M, double *f) {
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

static double dot6(const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        sum += a[i] * b[i];
    return sum;
}

static void take_out(const fused_joint *z, double *w) {
    for (int j = 0; j < z->count; j++) {
        const double part = dot6(z->basis[j], w);
        for (int i = 0; i < 6; i++)
            w[i] -= part * z->basis[j][i];
    }
}

/* The row that lies furthest outside the span of those picked; first of all the earliest one. */
static void pick_row(fused_state *state, fused_joint *z, double noise) {
    z->extreme = 0.0;
    for (uint64_t i = z->from; i <= z->to; i++) {
        if (!fused_at(state, z->body, i)->valid)
            continue;
        const joint_row row = row_of(state, z, i);
        double w[6];
        wrench_of(z, &row, w);
        const double size = sqrt(dot6(w, w));
        if (!(size > fmax(0.005 * z->peak, 10.0 * noise)))
            continue;
        take_out(z, w);
        const double part = sqrt(dot6(w, w)) / size - 4.0 * noise / size;
        if (part > z->extreme) {
            z->extreme = part;
            z->pick = i;
            if (z->count == 0)
                return;
        }
    }
}

/* The row picked joins the span. False where its wrench is not one of a force at a point. */
static bool add_edge(fused_state *state, fused_joint *z) {
    const joint_row row = row_of(state, z, z->pick);
    double *w = z->basis[z->count];
    wrench_of(z, &row, w);
    const double force = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), size = sqrt(dot6(w, w));
    take_out(z, w);
    const double left = sqrt(dot6(w, w));
    if (!(force > 0.2 * size) || !(left > 0.0))
        return false;
    for (int i = 0; i < 6; i++)
        w[i] /= left;
    z->picked[z->count++] = z->pick;
    return true;
}

/* Where the fit begins. An edge that was seen only with others beside it lies within the cone: it is moved
 * outwards, away from the others' picks. */
static bool place_points(fused_state *state, fused_joint *z) {
    static const double outwards[STARTS][2] = {{0, 0},     {0, 0.3}, {0.3, 0},  {0, 0.7},
                                               {0.2, 0.2}, {0.7, 0}, {0.5, 0.5}}; /* the first, later ones */
    double w[FUSED_JOINT][6], size[FUSED_JOINT];
    for (int j = 0; j < z->count; j++) {
        const joint_row row = row_of(state, z, z->picked[j]);
        wrench_of(z, &row, w[j]);
        size[j] = sqrt(dot6(w[j], w[j]));
    }
    for (int j = 0; j < z->count; j++) {
        const joint_row row = row_of(state, z, z->picked[j]);
        const double part = outwards[z->start][j > 0] / (z->count - 1);
        double x[6];
        for (int i = 0; i < 6; i++) {
            x[i] = w[j][i] / size[j];
            for (int o = 0; o < z->count; o++)
                x[i] -= o == j ? 0.0 : part * w[o][i] / size[o];
        }
        const ff_vec3 F = ff_vec3_make(x[0], x[1], x[2]),
                      M = ff_vec3_scale(z->arm, ff_vec3_make(x[3], x[4], x[5]));
        const double force = ff_vec3_norm(F);
        fused_point *q = &z->now.at[j];
        if (!(force > 0.0))
            return false;
        *q = (fused_point){
            .n = ff_vec3_scale(1.0 / force, F),
            .r = ff_quat_unrotate(row.x.attitude, ff_vec3_scale(1.0 / (force * force), ff_vec3_cross(F, M)))};
        q->at = ff_pose_apply(ff_rigid_pose(&row.x), q->r);
        if (!(ff_vec3_norm(q->r) < arm_longest))
            return false;
    }
    return true;
}

/* Stiffness, damping and place of contact j from its part of the wrenches. */
static bool find_surface(const fused_model *model, fused_state *state, fused_joint *z, int j, int *work) {
    fused_table t;
    int rows = 0, first = -1;
    double most = 0.0, lo = FF_INF;
    fused_point *q = z->now.at;
    for (uint64_t i = z->from; i <= z->to; i++, rows++) {
        const joint_row row = row_of(state, z, i);
        joint_act act[FUSED_JOINT];
        double f[FUSED_JOINT];
        for (int m = 0; m < z->count; m++)
            act[m] = act_of(&q[m], &row.x);
        divide(z, q, act, (1u << z->count) - 1u, row.F, row.M, f);
        t.s[rows] = act[j].p + q[j].x0;
        t.v[rows] = act[j].v;
        t.f[rows] = f[j];
        t.use[rows] = fused_at(state, z->body, i)->valid;
        most = fmax(most, f[j]);
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

static void tangents(ff_vec3 n, ff_vec3 e[2]) {
    e[0] = ff_vec3_unit(fabs(n.x) < 0.6 ? ff_vec3_cross(n, ff_vec3_make(1, 0, 0))
                                        : ff_vec3_cross(n, ff_vec3_make(0, 1, 0)));
    e[1] = ff_vec3_cross(n, e[0]);
}

/* What parameter q of a contact changes: of the normal, the point, the force. */
static void slope_of(const fused_point *q, const joint_act *y, const ff_rigid_state *x, const ff_vec3 *e,
                     int which, ff_vec3 *dF, ff_vec3 *dM) {
    double df = 0.0;
    *dF = *dM = ff_vec3_zero();
    if (which < 2) {
        df = -q->k * ff_vec3_dot(e[which], y->d) - q->c * ff_vec3_dot(e[which], y->u);
        *dF = ff_vec3_scale(y->f, e[which]);
        *dM = ff_vec3_scale(y->f, ff_vec3_cross(q->r, ff_quat_unrotate(x->attitude, e[which])));
    } else if (which < 5) {
        ff_vec3 unit = ff_vec3_zero();
        unit.a[which - 2] = 1.0;
        df = -q->k * y->a.a[which - 2] - q->c * ff_vec3_cross(y->a, x->omega).a[which - 2];
        *dM = ff_vec3_scale(y->f, ff_vec3_cross(unit, y->a));
    } else
        df = which == 5 ? -q->k : which == 6 ? q->k * y->p : damping_unit * q->k * y->v;
    *dF = ff_vec3_axpy(df, q->n, *dF);
    *dM = ff_vec3_axpy(df, y->arm, *dM);
}

/* Adds row i to the sums. */
static void add_row(fused_state *state, const fused_joint *z, fused_system *s, uint64_t i) {
    const joint_row row = row_of(state, z, i);
    const int all = PER * z->count;
    joint_act act[FUSED_JOINT];
    int on[FUSED_JOINT], n = 0;
    ff_vec3 F = row.F, M = row.M;
    for (int j = 0; j < z->count; j++) {
        act[j] = act_of(&s->at[j], &row.x);
        if (!(act[j].f > 0.0))
            continue;
        on[n++] = j;
        F = ff_vec3_axpy(-act[j].f, s->at[j].n, F);
        M = ff_vec3_axpy(-act[j].f, act[j].arm, M);
    }
    double left[6], g[FUSED_JOINT_ALL][6];
    for (int c = 0; c < 3; c++) {
        left[c] = F.a[c] / z->unit;
        left[3 + c] = M.a[c] / z->unit_t;
    }
    s->J += dot6(left, left);
    s->J_force += left[0] * left[0] + left[1] * left[1] + left[2] * left[2];
    for (int m = 0; m < n; m++) {
        ff_vec3 e[2], dF, dM;
        tangents(s->at[on[m]].n, e);
        for (int q = 0; q < PER; q++) {
            slope_of(&s->at[on[m]], &act[on[m]], &row.x, e, q, &dF, &dM);
            for (int c = 0; c < 3; c++) {
                g[PER * m + q][c] = dF.a[c] / z->unit;
                g[PER * m + q][3 + c] = dM.a[c] / z->unit_t;
            }
        }
    }
    for (int m = 0; m < PER * n; m++) {
        const int to = PER * on[m / PER] + m % PER;
        s->b[to] += dot6(g[m], left);
        for (int o = 0; o <= m / PER; o++) {
            double *a = &s->A[to * all + PER * on[o]];
            const int last = o < m / PER ? PER - 1 : m % PER;
            for (int q = 0; q <= last; q++)
                a[q] += dot6(g[m], g[PER * o + q]);
        }
    }
}

/* The points after one step of Levenberg and Marquardt. */
static bool step_points(const fused_joint *z, const fused_system *s, fused_point *to) {
    const int all = PER * z->count;
    double A[FUSED_JOINT_ALL * FUSED_JOINT_ALL], b[FUSED_JOINT_ALL];
    /* a point along its normal, or a contact that acts in no row, is held by a weak prior: 1 m, 1 rad, all of
     * k */
    static const double prior[PER] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    for (int i = 0; i < all; i++) {
        b[i] = s->b[i];
        for (int j = 0; j <= i; j++)
            A[i * all + j] = A[j * all + i] = s->A[i * all + j];
        A[i * all + i] = (1.0 + z->lambda) * A[i * all + i] + prior[i % PER];
    }
    if (ff_cholesky_factor((size_t)all, A) != FF_OK)
        return false;
    ff_cholesky_solve((size_t)all, A, b);
    for (int j = 0; j < z->count; j++) {
        const double *x = &b[PER * j];
        ff_vec3 e[2];
        fused_point *q = &to[j];
        *q = s->at[j];
        tangents(q->n, e);
        q->n = ff_vec3_unit(ff_vec3_axpy(x[0], e[0], ff_vec3_axpy(x[1], e[1], q->n)));
        q->r = ff_vec3_add(q->r, ff_vec3_make(x[2], x[3], x[4]));
        q->x0 += x[5];
        q->c = fmax(0.0, q->c + damping_unit * q->k * x[7]);
        q->k *= exp(fmax(-1.0, fmin(1.0, x[6])));
        if (!ff_vec3_finite(q->r) || !isfinite(q->x0 + q->k + q->c) || !(ff_vec3_norm(q->r) < arm_longest))
            return false;
    }
    return true;
}

static void begin_build(fused_joint *z, fused_system *s) {
    z->stage = BUILD;
    z->row = z->from;
    s->J = s->J_force = 0.0;
    memset(s->A, 0, sizeof s->A);
    memset(s->b, 0, sizeof s->b);
}

/* One contact with friction looks like several, but for an exact fit: it is not tried for long. */
static int starts_of(const fused_joint *z) {
    return z->alone ? 4 : STARTS;
}

/* Misfit of a row that noise makes. */
static double expected(const fused_config *config, const fused_joint *z) {
    return 3.0 * square(config->force_noise / z->unit) + 3.0 * square(config->torque_noise / z->unit_t);
}

static double rows_of(const fused_joint *z) {
    return (double)(1 + (z->to - z->from) / (1 + (z->to - z->from) / ROWS));
}

static bool is_exact(const fused_config *config, const fused_joint *z) {
    return z->J_best < rows_of(z) * (1.3 * expected(config, z) + 0.05);
}

/* The end of a start: the best so far is kept, and the others tried where it does not explain the wrench. */
static void end_start(const fused_config *config, fused_joint *z) {
    if (z->now.J < z->J_best) {
        z->J_best = z->now.J;
        z->J_force = z->now.J_force;
        memcpy(z->best, z->now.at, sizeof z->best);
    }
    z->stage = is_exact(config, z) || ++z->start >= starts_of(z) ? WRITE : START;
}

/* The next trial, or the end of the start. */
static void next_trial(const fused_config *config, fused_joint *z) {
    const double near = rows_of(z) * (3.0 * expected(config, z) + 30.0);
    while (z->trials < (z->now.J < near ? TRIALS_NEAR : TRIALS) && z->lambda < 1e8) {
        z->trials++;
        if (step_points(z, &z->now, z->trial.at)) {
            begin_build(z, &z->trial);
            return;
        }
        z->lambda *= 8.0;
    }
    end_start(config, z);
}

/* The sums at the first points of a start, or at a trial, are complete. */
static void judge_trial(const fused_config *config, fused_joint *z) {
    if (z->trials == 0) {
        z->lambda = 1e-2;
        next_trial(config, z);
        return;
    }
    const double gain = z->now.J - z->trial.J;
    if (gain > 0.0)
        z->now = z->trial;
    z->lambda = gain > 0.0 ? fmax(1e-9, 0.1 * z->lambda) : 8.0 * z->lambda;
    if ((gain >= 0.0 && gain < 1e-3 * z->now.J && z->lambda < 1.0) || z->now.J < 1e-6 * rows_of(z))
        end_start(config, z);
    else
        next_trial(config, z);
}

/* Rows of the best: what each contact bears, and of that what its surface does not explain. */
static void write_rows(fused_state *state, const fused_joint *z, fused_contact *const *c) {
    for (int j = 0; j < z->count; j++) {
        c[j]->force_max = 0.0;
        c[j]->detected = z->to;
    }
    for (uint64_t i = z->to + 1; i-- > z->from;) {
        const joint_row row = row_of(state, z, i);
        const bool valid = fused_at(state, z->body, i)->valid;
        joint_act act[FUSED_JOINT];
        double f[FUSED_JOINT];
        unsigned mask = 0;
        ff_vec3 F = row.F, M = row.M;
        for (int m = 0; m < z->count; m++) {
            act[m] = act_of(&z->best[m], &row.x);
            mask |= act[m].f > 0.0 ? 1u << m : 0u;
            F = ff_vec3_axpy(-act[m].f, z->best[m].n, F);
            M = ff_vec3_axpy(-act[m].f, act[m].arm, M);
        }
        divide(z, z->best, act, mask, F, M, f);
        for (int j = 0; j < z->count; j++) {
            fused_row *const q = fused_row_of(c[j], i);
            q->s = act[j].p + c[j]->surface.x0;
            q->v = act[j].v;
            q->use = valid;
            q->residual = valid ? f[j] : 0.0;
            q->f = act[j].f + q->residual;
            c[j]->force_max = fmax(c[j]->force_max, q->f);
            if (act[j].p > 0.0)
                c[j]->detected = i;
        }
    }
}

/* All press in one direction. */
static bool is_parallel(const fused_joint *z) {
    for (int j = 1; j < z->count; j++)
        if (ff_vec3_dot(z->best[0].n, z->best[j].n) < 0.98)
            return false;
    return true;
}

/* Contact j of the best becomes this record. */
static void write_contact(const fused_model *model, fused_state *state, const fused_joint *z,
                          fused_contact *c, int j) {
    const fused_point *q = &z->best[j];
    c->torque = c->open = c->frozen = c->closing = c->one.judged = false;
    c->settled = c->joined = c->one.tried = true;
    c->exact = is_exact(&model->config, z) || is_parallel(z);
    c->a = z->body;
    c->b = -1;
    c->n = c->next.n = q->n;
    c->r = c->next.r = q->r;
    c->mu = 0.0;
    c->surface =
        (ff_profile){.valid = true, .k = q->k, .c = q->c, .x0 = q->x0 - ff_vec3_dot(q->n, q->at), .J = 0.0};
    c->anchor = c->row_from = z->from;
    c->end = c->until = z->to;
    /* what is left of force and torque, against the force; how parallel forces are divided hardly matters */
    c->side = fmax(0.0, z->J_best / rows_of(z) - expected(&model->config, z)) * square(z->unit / z->peak);
    if (c->exact && !is_exact(&model->config, z))
        c->side = square(0.004) + 0.25 * z->J_force / rows_of(z) * square(z->unit / z->peak);
    const ff__place p = fused_contact_place(c);
    const fused_sample *x = fused_at(state, z->body, z->from);
    ff__port port;
    ff__place_open(model->view, &p, &x->past.body, NULL, q->n, ff_vec3_zero(), &port);
    c->mass = 1.0 / port.mobility;
    double s;
    ff__place_coordinate(&p, state->start[z->body], &x->past.body, NULL, &s, &c->speed);
    c->speed = fabs(c->speed);
}

static fused_contact *record_for(fused_state *state, fused_joint *z) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < FUSED_CONTACTS; i++) {
            fused_contact *c = &state->contact[i];
            if (pass ? !c->open && !c->settled && !c->closing : (z->members >> i & 1u) != 0) {
                if (pass) { /* one more than was found before */
                    c->wall = -1;
                    c->wall_used = c->over.abandoned = false;
                }
                z->members &= ~(1u << i);
                return c;
            }
        }
    return NULL;
}

/* The records as they were are final. */
static void leave(fused_state *state, fused_joint *z) {
    z->stage = REST_JOINT;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        if (z->members >> i & 1u) {
            fused_contact *c = &state->contact[i];
            if (c->stage == JOINING)
                c->stage = FRICTION; /* the estimate goes on */
            else
                c->closing = false;
        }
}

static void write_all(const fused_model *model, fused_state *state, fused_joint *z) {
    int records = 0;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        records += (z->members >> i & 1u) || (!state->contact[i].open && !state->contact[i].settled);
    /* A fit to three percent is better than what each was by itself; under noise it may be friction instead.
     */
    const bool near = !z->alone && (model->config.force_noise == 0.0 || is_parallel(z)) &&
                      z->J_best < square(0.03 * z->peak / z->unit) * rows_of(z);
    if (!(near || is_exact(&model->config, z)) || records < z->count) {
        leave(state, z);
        return;
    }
    const unsigned old = z->members;
    unsigned now = 0;
    fused_contact *c[FUSED_JOINT];
    for (int j = 0; j < z->count; j++) {
        c[j] = record_for(state, z);
        write_contact(model, state, z, c[j], j);
        c[j]->closing = true; /* until the replay is done */
        c[j]->stage = REST;
        now |= 1u << (c[j] - state->contact);
    }
    write_rows(state, z, c);
    for (int i = 0; i < FUSED_CONTACTS; i++) /* fewer than were found before */
        if (old & ~now & 1u << i) {
            fused_contact *o = &state->contact[i];
            o->settled = o->closing = false;
            if (o->wall >= 0)
                state->wall[o->wall].valid = false;
        }
    z->members = now;
    z->stage = REPLAY;
    ff__replay_ask(state->replay, ff__fused_group_of(state, z->body), z->from);
}

/* What is known of them is final; the report is that of the stiffest. */
static void conclude_all(const fused_model *model, fused_state *state, fused_joint *z) {
    const uint32_t contacts = state->report[z->body].contacts + (z->alone ? 1u : 0u);
    fused_contact *last = NULL;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *c = &state->contact[i];
        if (!(z->members >> i & 1u))
            continue;
        if (last)
            ff__fused_conclude(model, state, c->surface.k > last->surface.k ? last : c);
        last = last && last->surface.k >= c->surface.k ? last : c;
    }
    ff__fused_conclude(model, state, last);
    state->report[z->body].contacts = contacts;
    z->stage = REST_JOINT;
}

/* The records are fitted together in the cycles that follow. */
static bool begin(const fused_model *model, fused_state *state, int body, unsigned members, uint64_t from,
                  uint64_t to, bool alone) {
    fused_joint *z = &state->joint;
    const ff_rigid_model *m = &model->view[body].rigid;
    *z = (fused_joint){
        .body = body, .members = members, .from = from, .to = to, .alone = alone, .J_best = FF_INF};
    z->arm = sqrt((m->inertia.m[0][0] + m->inertia.m[1][1] + m->inertia.m[2][2]) / (3.0 * m->mass));
    for (uint64_t i = from; i <= to; i++)
        if (fused_at(state, z->body, i)->valid)
            z->peak = fmax(z->peak, ff_vec3_norm(fused_at(state, z->body, i)->force));
    z->unit = fmax(model->config.force_noise, 1e-3 * z->peak);
    z->unit_t = fmax(model->config.torque_noise, 1e-3 * z->peak * z->arm);
    if (!(z->peak > 0.0) || !(z->arm > 0.0))
        return false;
    z->stage = PICK;
    return true;
}

/* The contacts that acted at one time with one that has just been settled, where all are over. False where
 * there are not several, or others to wait for. */
bool ff__fused_join(const fused_model *model, fused_state *state, fused_contact *last, uint64_t k) {
    unsigned members = 0;
    int count = 0;
    uint64_t from = UINT64_MAX, to = 0;
    if (state->joint.stage != REST_JOINT || last->joined || model->config.random_estimates || last->b >= 0)
        return false;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (o != last && !(fused_beside(o, last) && (o->a == last->a || o->b == last->a)))
            continue;
        if (o->open || o->closing || o->frozen || o->b >= 0 || o->joined)
            return false;
        members |= 1u << i;
        count++;
        from = o->row_from < from ? o->row_from : from;
        to = o->end > to ? o->end : to;
    }
    if (count < 2 || k - from > ff__ring_rows(&state->history.ring) / 2 ||
        !begin(model, state, last->a, members, from, to, false))
        return false;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        if (members >> i & 1u)
            state->contact[i].closing = true;
    return true;
}

/* Force across the normal, or torque that no point of it explains, beyond a hundredth and the noise. */
static bool looks_several(const fused_model *model, const fused_contact *c) {
    const fused_config *config = &model->config;
    const double *R = c->sum.r, trace = R[0] + R[3] + R[5], rows = (double)c->sum.rows;
    const double scatter = trace > 0.0 ? 6.0 * sqrt(rows) * square(config->force_noise) / trace : 0.0;
    return !ff__fused_one_point(model, c) || ff__fused_across(config, c) > 1e-4 + scatter;
}

/* One contact that is over may have been several at about one time, of which none was seen alone. */
bool ff__fused_join_alone(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    if (c->alone || !c->closing || c->torque || c->b >= 0 || c->frozen || state->joint.stage != REST_JOINT ||
        k - c->row_from > ff__ring_rows(&state->history.ring) / 2 || !looks_several(model, c))
        return false;
    c->alone = true;
    if (!begin(model, state, c->a, 1u << (c - state->contact), c->row_from, c->until, true))
        return false;
    c->stage = JOINING;
    return true;
}

/* One cycle of it. */
void ff__fused_join_on(const fused_model *model, fused_state *state, uint64_t k) {
    fused_joint *z = &state->joint;
    int work = WORK_JOINT;
    if (z->stage == REST_JOINT)
        return;
    if (k - z->from > ff__ring_rows(&state->history.ring) - 32) { /* its rows leave the history */
        if (z->stage == REPLAY)
            conclude_all(model, state, z);
        else
            leave(state, z);
        return;
    }
    const int rows = (int)(z->to - z->from);
    while (work > 0 && z->stage != REST_JOINT) {
        if (z->stage == PICK) {
            work -= rows * WORK_PICK * (1 + z->count);
            pick_row(state, z, model->config.force_noise);
            if (z->extreme > edge && z->count < FUSED_JOINT) {
                if (!add_edge(state, z)) {
                    leave(state, z);
                    return;
                }
                continue;
            }
            if (z->count < 2) {
                leave(state, z);
                return;
            }
            z->stage = START;
        } else if (z->stage == START) {
            z->stage = SURFACE;
            z->row = 0;
            if (!place_points(state, z))
                z->stage = ++z->start >= starts_of(z) ? WRITE : START;
        } else if (z->stage == SURFACE) {
            work -= 60 * rows;
            if (!find_surface(model, state, z, (int)z->row, &work)) {
                z->stage = ++z->start >= starts_of(z) ? WRITE : START;
                continue;
            }
            if ((int)++z->row == z->count) {
                z->trials = 0;
                begin_build(z, &z->now);
            }
        } else if (z->stage == BUILD) {
            const uint64_t stride = 1 + (uint64_t)rows / ROWS;
            fused_system *s = z->trials ? &z->trial : &z->now;
            for (; z->row <= z->to && work > 0; z->row += stride, work -= 150 + 70 * z->count * z->count)
                if (fused_at(state, z->body, z->row)->valid)
                    add_row(state, z, s, z->row);
            if (z->row > z->to) {
                work -= 1000;
                judge_trial(&model->config, z);
            }
        } else if (z->stage == WRITE) {
            write_all(model, state, z);
            return;
        } else {
            ff__fused_replay_some(model, state, k, &work);
            if (!ff__replay_active(state->replay, ff__fused_group_of(state, z->body)))
                conclude_all(model, state, z);
            return;
        }
    }
}
