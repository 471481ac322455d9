/* fused: friction, and the normal of a surface that has it (docs/methods/fused.md, 8). */
#include "fidelity/fused/fused.h"

enum {
    FRICTION_ROWS = 48, /* rows behind the onset that the search looks at */
    LOOKS = 330,        /* points of ten rings */
    STARTS = FUSED_STARTS,
    WORK_SLANT = 50 /* a row of the normal equations */
};
enum { ALONG, START, FOLLOW, LOOK }; /* parts of the search at the end */
/* Near rest friction is smooth, F_t = -mu f v/sqrt(v^2 + v_0^2), v_0 of the approach speed: where the search
 * begins, and at most. */
static const double rest_first = 0.003, rest_most = 0.04;

/* One pass over the rows: sum of f (F + mu f u), u the direction of sliding across n, or `along` where that
 * is given; and the sum of f^2 v. */
static void lean_back(const fused_config *config, fused_state *state, const fused_contact *c, uint64_t k,
                      double mu, ff_vec3 n, const ff_vec3 *along, uint64_t stride, ff_vec3 *normal,
                      ff_vec3 *path) {
    const double noise = fused_noise_of(config, c);
    *normal = *path = ff_vec3_zero();
    for (uint64_t i = c->row_from; i <= k; i += stride) {
        const ff_rigid_state a = fused_robot_of(fused_at(state, c->a, i));
        ff_vec3 F = fused_measured_force(state, c->a, c->b, i), v = ff_rigid_point_velocity(&a, c->r);
        if (c->b >= 0) {
            const ff_rigid_state b = fused_robot_of(fused_at(state, c->b, i));
            const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&a), c->r);
            const ff_vec3 tip_b = ff_quat_unrotate(b.attitude, ff_vec3_sub(tip, b.position));
            v = ff_quat_unrotate(b.attitude, ff_vec3_sub(v, ff_rigid_point_velocity(&b, tip_b)));
            F = ff_quat_unrotate(b.attitude, F);
        }
        const double f = ff_vec3_dot(n, F);
        if (!(f > 2.0 * noise) || !(f > 0.02 * c->force_max) || !fused_sample_ok(state, c, i))
            continue;
        const ff_vec3 u = along ? *along : ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, v), n, v));
        *normal = ff_vec3_axpy(f, ff_vec3_axpy(mu * f, u, F), *normal);
        *path = ff_vec3_axpy(f * f, v, *path);
    }
}

/* Normal of a surface with friction mu: the force leans back against the sliding u, F = f (n - mu u), so n is
 * along the sum of F + mu f u. u is across n itself. A steep impact slides so little that the lean alone
 * turns u round in loading; over loading and unloading the integral of f^2 dx shows the sliding, as that of
 * the normal part cancels (exactly on an elastic surface). From there on each row has its own u. */
ff_vec3 ff__fused_normal_with_friction(const fused_config *config, fused_state *state, const fused_contact *c,
                                       uint64_t k, double mu, ff_vec3 n, uint64_t stride) {
    ff_vec3 normal, path, u = ff_vec3_zero();
    for (int pass = 0; pass < (mu > 0.0 ? 6 : 2); pass++) {
        lean_back(config, state, c, k, pass ? mu : 0.0, n, pass < 3 ? &u : NULL, stride, &normal, &path);
        const double size = ff_vec3_norm(normal);
        if (size > 0.0)
            n = ff_vec3_scale(1.0 / size, normal);
        u = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, path), n, path));
    }
    return n;
}

/* Normal and rows of a trial friction; rows behind the onset thinned out. */
static void friction_table(const fused_model *model, fused_state *state, fused_contact *c, double mu,
                           fused_table *t, ff_profile_in *in, ff_vec3 *n) {
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    const ff__place p_0 = fused_contact_place(c);
    *n = mu == c->mu && mu > 0.0
             ? c->next.n
             : ff__fused_normal_with_friction(&model->config, state, c, c->until, mu, c->next.n, stride);
    ff__place p = p_0;
    p.n = *n;
    p.r = c->next.r;
    ff__fused_fill_table(model, state, c, t, in);
    in->channel = NULL; /* rows are thinned out: the motion is taken back instead */
    int rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride, rows++) {
        const ff_rigid_state a = fused_robot_of(fused_at(state, c->a, i));
        const ff_rigid_state b = c->b < 0 ? fused_at_rest() : fused_robot_of(fused_at(state, c->b, i));
        ff__place_coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &t->s[rows], &t->v[rows]);
        const ff_vec3 n_w = c->b < 0 ? *n : ff_quat_rotate(b.attitude, *n);
        t->f[rows] = ff_vec3_dot(n_w, fused_measured_force(state, c->a, c->b, i));
        t->use[rows] = fused_row_of(c, i)->use == 1;
        if (i == c->detected)
            in->hi = t->s[rows];
    }
    in->rows = rows;
    in->lo = t->s[0];
}

/* One trial friction; true where it explains the contact better than the best so far. */
static bool try_friction(const fused_model *model, fused_state *state, fused_contact *c, double mu, int law,
                         ff_profile *fit, ff_vec3 *n, int *work) {
    fused_table t;
    ff_profile_in in;
    friction_table(model, state, c, mu, &t, &in, n);
    *work -= in.rows * WORK_ROW + 2 * in.rows * WORK_PLACE;
    *fit = c->next.surface;
    ff_profile_search search;
    ff_profile_begin(&in, &search);
    int left = INT32_MAX;
    const bool done = in.hi > in.lo && ff_profile_continue(&in, law, &search, &left, fit) == FF_PROFILE_DONE;
    *work -= INT32_MAX - left;
    return done && (c->lean.mu < 0.0 || fit->J < c->rival.J);
}

static void keep_friction(fused_contact *c, double mu, const ff_profile *fit, ff_vec3 n) {
    c->rival = *fit;
    c->lean.mu = mu;
    c->lean.n = n;
}

/* Is a friction that lowers the misfit from `without` to `with` more than a chance? Motion that is taken back
 * for a late sensor leaves a misfit of its own, which friction can take up. */
static bool significant(const fused_model *model, const fused_contact *c, double without, double with) {
    const bool noisy = fused_noisy(&model->config, c);
    return with < (noisy && !model->hears ? 1.0 : 0.2) * without - (noisy ? 25.0 : 0.0);
}

/* The search for mu: the friction whose normal lets one law explain the whole contact. One trial in a call;
 * true when the step is done. During the contact, from where it stands: mu kept, raised, lowered. */
bool ff__fused_step_friction(const fused_model *model, fused_state *state, fused_contact *c, int *work) {
    ff_profile fit;
    ff_vec3 n;
    if (c->lean.side == 0)
        c->lean.mu = -1.0;
    const double wish = c->mu + (c->lean.side == 1 ? c->lean.step : c->lean.side == 2 ? -c->lean.step : 0.0);
    const double mu = wish > 1e-9 ? fmin(1.0, wish) : 0.0; /* steps down and up leave a rest */
    if ((c->lean.side == 0 || mu != c->mu) &&
        try_friction(model, state, c, mu, c->next.surface.law, &fit, &n, work) &&
        (c->lean.side == 0 || c->mu > 0.0 || significant(model, c, c->rival.J, fit.J)))
        keep_friction(c, mu, &fit, n);
    c->lean.side = (c->lean.side + 1) % 3;
    if (c->lean.side)
        return false;
    if (c->lean.mu < 0.0)
        c->lean.mu = c->mu;
    if (c->lean.mu == c->mu)
        c->lean.step = fmax(0.5 * c->lean.step, 5e-4);
    return true;
}

/* Force, place and velocity of the tip in row i, in the axes of the normal, with the new contact point. */
typedef struct slip_row {
    ff_vec3 F, tip, v;
} slip_row;

static slip_row slip_by(const ff_rigid_state *a, const ff_rigid_state *b, ff_vec3 r, ff_vec3 F) {
    slip_row x = {.F = F, .tip = ff_pose_apply(ff_rigid_pose(a), r), .v = ff_rigid_point_velocity(a, r)};
    if (!b)
        return x;
    x.tip = ff_quat_unrotate(b->attitude, ff_vec3_sub(x.tip, b->position));
    x.v = ff_quat_unrotate(b->attitude, ff_vec3_sub(x.v, ff_rigid_point_velocity(b, x.tip)));
    x.F = ff_quat_unrotate(b->attitude, x.F);
    return x;
}

static slip_row slip_of(fused_state *state, const fused_contact *c, uint64_t i) {
    const ff_rigid_state a = fused_robot_of(fused_at(state, c->a, i));
    const ff_rigid_state b = c->b < 0 ? fused_at_rest() : fused_robot_of(fused_at(state, c->b, i));
    return slip_by(&a, c->b < 0 ? NULL : &b, c->next.r, fused_measured_force(state, c->a, c->b, i));
}

/* Part of the full friction that a slip makes, and its direction. rest: [m2/s2] v_0^2 */
static ff_vec3 slide_of(ff_vec3 slip, double rest) {
    const double speed = sqrt(ff_vec3_dot(slip, slip) + rest);
    return speed > 0.0 ? ff_vec3_scale(1.0 / speed, slip) : ff_vec3_zero();
}

/* How well a trial normal explains force and motion: the law along it, and across it friction against the
 * sliding, whose mu comes out. Force and motion along n and across n are all that was measured. */
static double judge_normal(const fused_model *model, fused_state *state, fused_contact *c, ff_vec3 n,
                           double rest, bool friction, double *mu, ff_profile *fit, int *work) {
    fused_table t;
    ff_profile_in in;
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    ff__fused_fill_table(model, state, c, &t, &in);
    in.channel = NULL; /* as above */
    ff_vec3 across[FUSED_RING], slide[FUSED_RING];
    int rows = 0;
    double top = 0.0, bottom = 0.0, J = 0.0;
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride, rows++) {
        const slip_row x = slip_of(state, c, i);
        const double f = ff_vec3_dot(n, x.F);
        t.s[rows] = -ff_vec3_dot(n, x.tip);
        t.v[rows] = -ff_vec3_dot(n, x.v);
        t.f[rows] = f;
        t.use[rows] = fused_row_of(c, i)->use == 1;
        across[rows] = ff_vec3_axpy(-f, n, x.F);
        const ff_vec3 slip = ff_vec3_axpy(t.v[rows], n, x.v);
        slide[rows] = slide_of(slip, rest);
        if (t.use[rows] && f > 0.0) {
            top -= f * ff_vec3_dot(slide[rows], across[rows]);
            bottom += f * f * ff_vec3_dot(slide[rows], slide[rows]);
        }
        if (i == c->detected)
            in.hi = t.s[rows];
    }
    in.rows = rows;
    in.lo = t.s[0];
    *mu = friction && bottom > 0.0 ? fmin(1.0, fmax(0.0, top / bottom)) : 0.0;
    for (int i = 0; i < rows; i++)
        if (t.use[i]) {
            const ff_vec3 left = ff_vec3_axpy(*mu * fmax(0.0, t.f[i]), slide[i], across[i]);
            J += ff_vec3_dot(left, left);
        }
    J /= in.noise * in.noise;
    *fit = c->next.surface;
    ff_profile_search search;
    ff_profile_begin(&in, &search);
    int left = INT32_MAX;
    *work -= rows * WORK_ROW;
    const bool done = in.hi > in.lo &&
                      ff_profile_continue(&in, c->next.surface.law, &search, &left, fit) == FF_PROFILE_DONE;
    *work -= INT32_MAX - left;
    return done ? J + fit->J : FF_INF;
}

/* How many rows judge_normal() looks at. */
static double friction_rows(const fused_contact *c) {
    const uint64_t behind = c->until - c->detected, stride = 1 + behind / FRICTION_ROWS;
    const uint64_t rows = c->detected - c->row_from + 1 + behind / stride;
    return (double)rows;
}

static void tangents(ff_vec3 n, ff_vec3 e[2]) {
    e[0] = ff_vec3_unit(fabs(n.x) < 0.6 ? ff_vec3_cross(n, ff_vec3_make(1, 0, 0))
                                        : ff_vec3_cross(n, ff_vec3_make(0, 1, 0)));
    e[1] = ff_vec3_cross(n, e[0]);
}

static ff_vec3 tilted(ff_vec3 n, double x, double y) {
    ff_vec3 e[2];
    tangents(n, e);
    return ff_vec3_unit(ff_vec3_axpy(x, e[0], ff_vec3_axpy(y, e[1], n)));
}

/* What friction against the sliding leaves of the force across n, at the best mu: squares. */
static double left_across(const slip_row *x, int rows, ff_vec3 n, double rest) {
    double top = 0.0, bottom = 0.0, side = 0.0;
    for (int i = 0; i < rows; i++) { /* least of sum |F_t + mu f u|^2 over mu */
        const double f = ff_vec3_dot(n, x[i].F);
        const ff_vec3 slide = slide_of(ff_vec3_axpy(-ff_vec3_dot(n, x[i].v), n, x[i].v), rest);
        side += ff_vec3_dot(x[i].F, x[i].F) - f * f;
        if (f > 0.0) {
            top -= f * ff_vec3_dot(slide, x[i].F);
            bottom += f * f * ff_vec3_dot(slide, slide);
        }
    }
    const double mu = bottom > 0.0 ? fmin(1.0, fmax(0.0, top / bottom)) : 0.0;
    return side - 2.0 * mu * top + mu * mu * bottom;
}

static void keep_start(fused_look *z, ff_vec3 n, double J) {
    int slot = -1;
    for (int i = 0; i < STARTS && slot < 0; i++) /* a neighbour of one that is kept replaces it or goes */
        if (z->J[i] < FF_INF && ff_vec3_dot(z->start[i], n) > 0.9968)
            slot = J < z->J[i] ? i : STARTS;
    if (slot < 0) {
        slot = 0;
        for (int i = 1; i < STARTS; i++)
            slot = z->J[i] > z->J[slot] ? i : slot;
        slot = J < z->J[slot] ? slot : STARTS;
    }
    if (slot < STARTS) {
        z->J[slot] = J;
        z->start[slot] = n;
    }
}

/* Tilts of the force's direction on rings 0.05 apart, judged by the force across them alone: what friction
 * against the sliding leaves of it. The best three, well apart, are kept. */
static void look_on(fused_look *z, const slip_row *x, int rows, ff_vec3 force, double rest, int *work) {
    enum { IN_A_CALL = 16 };
    for (int i = 0; i < STARTS && z->tried == 0; i++)
        z->J[i] = FF_INF;
    for (int q = 0; q < IN_A_CALL && z->tried < LOOKS; q++, z->tried++) {
        /* ring r holds 6 r points, from number 3 r (r - 1) on */
        int ring = 1;
        while (3 * ring * (ring + 1) <= z->tried)
            ring++;
        const double angle = 1.0471975512 / ring * (z->tried - 3 * ring * (ring - 1));
        const ff_vec3 n = tilted(force, 0.05 * ring * cos(angle), 0.05 * ring * sin(angle));
        *work -= 2 * rows;
        keep_start(z, n, left_across(x, rows, n, rest));
    }
}

static void look_around(fused_state *state, fused_contact *c, int *work) {
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    slip_row x[2 * FRICTION_ROWS];
    int rows = 0;
    for (uint64_t i = c->detected; i <= c->until && rows < 2 * FRICTION_ROWS; i += stride)
        if (fused_row_of(c, i)->use == 1)
            x[rows++] = slip_of(state, c, i);
    *work -= rows * WORK_PLACE;
    look_on(&c->lean.cone.look, x, rows, c->next.force, square(rest_first * c->speed), work);
}

/* From one of the best of the rings to the bottom of its valley: six neighbours, nearer and nearer. */
static double nearest(const slip_row *x, int rows, ff_vec3 n, double J, double rest, int *work) {
    for (double step = 0.025; step > 1e-3;) {
        ff_vec3 best = n;
        double least = J;
        for (int i = 0; i < 6; i++) {
            const ff_vec3 near = tilted(n, step * cos(1.0471975512 * i), step * sin(1.0471975512 * i));
            const double at = left_across(x, rows, near, rest);
            if (at < least) {
                least = at;
                best = near;
            }
        }
        *work -= 24 * rows;
        if (!(least < 0.99 * J))
            step *= 0.5;
        J = least;
        n = best;
    }
    return J;
}

bool ff__fused_glance(fused_state *state, fused_glance *z, int *work) {
    slip_row x[FRICTION_ROWS + 1];
    const uint64_t stride = 1 + (z->to - z->from) / FRICTION_ROWS;
    int rows = 0;
    double fast = 0.0, whole = 0.0;
    ff_vec3 sum = ff_vec3_zero();
    for (uint64_t i = z->from; i <= z->to; i += stride) {
        const fused_sample *s = fused_at(state, z->body, i);
        if (!s->valid || !(ff_vec3_norm(s->force) > z->least))
            continue;
        const ff_rigid_state robot = fused_robot_of(s);
        x[rows] = slip_by(&robot, NULL, z->r, s->force);
        sum = ff_vec3_axpy(ff_vec3_norm(s->force), s->force, sum);
        whole += ff_vec3_dot(s->force, s->force);
        fast = fmax(fast, ff_vec3_norm(x[rows].v));
        rows++;
    }
    *work -= rows * WORK_PLACE;
    const double rest = square(rest_first * fast);
    if (z->look.tried < LOOKS) {
        look_on(&z->look, x, rows, ff_vec3_unit(sum), rest, work);
        return false;
    }
    const int i = z->followed++; /* one of them in a call */
    if (i == 0)
        z->left = FF_INF;
    if (z->look.J[i] < FF_INF)
        z->left = fmin(z->left, nearest(x, rows, z->look.start[i], z->look.J[i], rest, work));
    z->rows = rows;
    z->whole = whole;
    return z->followed == STARTS;
}

enum { TILT, TILT_2, MU, X0, K, C, AT_REST, PER }; /* parameters of a slant */

/* One measured component: what is left of it, and how the model grows with each parameter. */
static void add_component(fused_slants *s, double left, const double *slope) {
    s->J += left * left;
    for (int i = 0; i < PER; i++) {
        s->b[i] += slope[i] * left;
        for (int j = 0; j <= i; j++)
            s->A[PER * i + j] += slope[i] * slope[j];
    }
}

/* F = f (n - mu u), u the sliding, of a tip that moves as x on a surface of this kind whose depth is counted
 * from `from`; and how it grows with each parameter. */
static ff_vec3 slant_force(const fused_slant *q, const ff_profile *kind, ff_vec3 from, const slip_row *x,
                           ff_vec3 dF[PER]) {
    const int law = kind->law;
    const double depth = kind->depth;
    const ff_vec3 d = ff_vec3_sub(x->tip, from);
    const double p = -ff_vec3_dot(q->n, d) - q->x0, v = -ff_vec3_dot(q->n, x->v);
    double f = 0.0, f_v = 0.0, df[PER] = {0};
    if (p > 0.0) {
        const double a = ff_profile_shape(law, p), g = ff_profile_brake(law, depth, p), h = 1e-5 * p;
        f = fmax(0.0, q->k * a + q->c * v * g);
        if (f > 0.0) {
            df[X0] = -(q->k * (ff_profile_shape(law, p + h) - a) +
                       q->c * v * (ff_profile_brake(law, depth, p + h) - g)) /
                     h;
            df[K] = a;
            df[C] = v * g;
            f_v = q->c * g;
        }
    }
    const ff_vec3 slip = ff_vec3_axpy(v, q->n, x->v), u = slide_of(slip, q->rest),
                  lean = ff_vec3_axpy(-q->mu, u, q->n);
    const double speed_2 = fmax(ff_vec3_dot(slip, slip) + q->rest, 1e-30), speed = sqrt(speed_2);
    ff_vec3 e[2];
    tangents(q->n, e);
    for (int j = 0; j < 2; j++) {
        df[TILT + j] = df[X0] * ff_vec3_dot(e[j], d) - f_v * ff_vec3_dot(e[j], x->v);
        const ff_vec3 turn = ff_vec3_axpy(v, e[j], ff_vec3_scale(-ff_vec3_dot(e[j], x->v), q->n));
        const ff_vec3 du = ff_vec3_scale(1.0 / speed, ff_vec3_axpy(-ff_vec3_dot(u, turn), u, turn));
        dF[TILT + j] = ff_vec3_axpy(df[TILT + j], lean, ff_vec3_scale(f, ff_vec3_axpy(-q->mu, du, e[j])));
    }
    dF[MU] = ff_vec3_scale(-f, u);
    for (int j = X0; j <= C; j++)
        dF[j] = ff_vec3_scale(df[j], lean);
    dF[AT_REST] = ff_vec3_scale(0.5 * q->mu * f / speed_2, u);
    return ff_vec3_scale(f, lean);
}

/* One row: what is left of its force. */
static void add_slant(const ff_profile *kind, ff_vec3 from, const slip_row *x, fused_slants *s) {
    ff_vec3 dF[PER];
    const ff_vec3 left = ff_vec3_sub(x->F, slant_force(&s->at, kind, from, x, dF));
    for (int i = 0; i < 3; i++) {
        double slope[PER];
        for (int j = 0; j < PER; j++)
            slope[j] = dF[j].a[i];
        add_component(s, left.a[i], slope);
    }
}

/* The normal equations at s->at, over the rows of judge_normal(). */
static void build_slants(fused_state *state, fused_contact *c, fused_slants *s, int *work) {
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    const fused_slant at = s->at;
    *s = (fused_slants){.at = at};
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride)
        if (fused_row_of(c, i)->use == 1) {
            const slip_row x = slip_of(state, c, i);
            add_slant(&c->next.surface, c->lean.cone.from, &x, s);
            *work -= WORK_SLANT;
        }
}

/* Law and friction along a trial normal, and how they would change with it. The best is kept. */
static bool try_slant(const fused_model *model, fused_state *state, fused_contact *c, ff_vec3 n, double rest,
                      fused_slants *s, int *work) {
    fused_cone *z = &c->lean.cone;
    ff_profile fit;
    double mu;
    const double J = judge_normal(model, state, c, n, rest, true, &mu, &fit, work);
    if (!(J < FF_INF))
        return false;
    if (J < z->least) {
        z->least = J;
        keep_friction(c, mu, &fit, n);
    }
    s->at = (fused_slant){
        .n = n, .mu = mu, .x0 = fit.x0 + ff_vec3_dot(n, z->from), .k = fit.k, .c = fit.c, .rest = rest};
    build_slants(state, c, s, work);
    return true;
}

/* The next trial, from where the search stands: normal and slip at rest; the others follow from these. */
static bool step_slant(fused_cone *z, double rest_largest) {
    double A[PER * PER], b[PER], scale[PER];
    const fused_slants *const s = &z->now;
    const fused_slant *const q = &s->at;
    for (int i = 0; i < PER; i++)
        scale[i] = s->A[PER * i + i] > 0.0 ? 1.0 / sqrt(s->A[PER * i + i]) : 0.0;
    /* what stands at its bound and would pass it stays */
    if ((q->mu <= 0.0 && s->b[MU] < 0.0) || (q->mu >= 1.0 && s->b[MU] > 0.0))
        scale[MU] = 0.0;
    if (q->c <= 0.0 && s->b[C] < 0.0)
        scale[C] = 0.0;
    if ((q->rest <= 0.0 && s->b[AT_REST] < 0.0) || (q->rest >= rest_largest && s->b[AT_REST] > 0.0))
        scale[AT_REST] = 0.0;
    for (int i = 0; i < PER; i++) {
        b[i] = s->b[i] * scale[i];
        for (int j = 0; j < i; j++)
            A[PER * i + j] = A[PER * j + i] = s->A[PER * i + j] * scale[i] * scale[j];
        A[PER * i + i] = 1.0 + z->lambda;
    }
    if (ff_cholesky_factor(PER, A) != FF_OK)
        return false;
    ff_cholesky_solve(PER, A, b);
    const double x = b[TILT] * scale[TILT], y = b[TILT_2] * scale[TILT_2];
    z->next = tilted(q->n, x, y);
    z->rest = fmin(rest_largest, fmax(0.0, q->rest + b[AT_REST] * scale[AT_REST]));
    z->moved = fabs(x) + fabs(y) + fabs(z->rest - q->rest) / rest_largest;
    return isfinite(z->moved);
}

/* From a normal on. */
static bool begin_slant(const fused_model *model, fused_state *state, fused_contact *c, ff_vec3 n,
                        int *work) {
    fused_cone *z = &c->lean.cone;
    z->from = slip_of(state, c, c->detected).tip;
    z->lambda = 1e-3;
    z->trials = 0;
    return try_slant(model, state, c, n, square(rest_first * c->speed), &z->now, work) &&
           step_slant(z, square(rest_most * c->speed));
}

/* One trial; false at the end of the start. */
static bool follow_slant(const fused_model *model, fused_state *state, fused_contact *c, int *work) {
    enum { TRIALS = 16 };
    fused_cone *z = &c->lean.cone;
    const bool fits = try_slant(model, state, c, z->next, z->rest, &z->trial, work);
    const double gain = fits ? 1.0 - z->trial.J / z->now.J : -1.0;
    const bool still = z->moved < 1e-6 || (gain >= 0.0 && gain < 1e-4 && z->lambda < 1e-2);
    if (gain > 0.0) {
        z->now = z->trial;
        z->lambda = fmax(1e-9, 0.1 * z->lambda);
    } else
        z->lambda *= 8.0;
    return !still && ++z->trials < TRIALS && z->lambda < 1e6 && step_slant(z, square(rest_most * c->speed));
}

/* Where the search begins next; false where it has ended. */
static bool next_start(const fused_model *model, fused_contact *c) {
    fused_cone *z = &c->lean.cone;
    const double rows = fmin((double)(c->until - c->row_from), FRICTION_ROWS);
    if (z->least <= (fused_noisy(&model->config, c) ? 4.0 : 0.05) * rows || z->begun == STARTS + 1)
        return false;
    c->lean.side = LOOK;
    return true;
}

/* At its end normal, friction and surface are sought together, by Levenberg and Marquardt's method: with the
 * slope mu v_n/v_slide above one no iteration of mu and n in turn converges. From the force's own direction;
 * the misfit has other valleys, as the sliding turns round with the normal: where that does not explain the
 * contact, from where a look round finds least force across. One part in a call; true at the end. */
bool ff__fused_settle_friction(const fused_model *model, fused_state *state, fused_contact *c, int *work) {
    fused_cone *z = &c->lean.cone;
    ff_profile fit;
    double mu;
    if (c->lean.side == ALONG) {
        c->lean.without = judge_normal(model, state, c, c->next.force, 0.0, false, &mu, &fit, work);
        keep_friction(c, 0.0, &fit, c->next.force);
        *z = (fused_cone){.least = FF_INF, .look = {.start = {c->next.n}}};
        c->lean.side = START;
        return false;
    }
    if (c->lean.side == LOOK) {
        if (z->look.tried < LOOKS) {
            look_around(state, c, work);
            return false;
        }
        c->lean.side = START;
    }
    if (c->lean.side == START) {
        int best = 0;
        for (int i = 1; i < STARTS && z->begun; i++)
            best = z->look.J[i] < z->look.J[best] ? i : best;
        const ff_vec3 n = z->look.start[best];
        const bool none = z->begun && !(z->look.J[best] < FF_INF);
        z->look.J[best] = FF_INF;
        z->begun++;
        if (!none && begin_slant(model, state, c, n, work)) {
            c->lean.side = FOLLOW;
            return false;
        }
        if (!none && next_start(model, c))
            return false;
    } else if (follow_slant(model, state, c, work) || next_start(model, c))
        return false;
    c->lean.side = ALONG;
    c->lean.misfit = z->least / friction_rows(c);
    if (!significant(model, c, c->lean.without, z->least)) {
        c->lean.misfit = c->lean.without / friction_rows(c);
        c->lean.mu = 0.0;
        c->lean.n = c->next.force;
    }
    return true;
}

double ff__fused_slant_left(const fused_model *model, fused_state *state, const fused_contact *c) {
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    const ff_vec3 from = slip_of(state, c, c->detected).tip;
    const fused_slant at = {.n = c->n,
                            .mu = c->mu,
                            .x0 = c->surface.x0 + ff_vec3_dot(c->n, from),
                            .k = c->surface.k,
                            .c = c->surface.c,
                            .rest = square(rest_first * c->speed)};
    double J = 0.0, whole = 0.0, count = 0.0;
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride) {
        if (fused_row_of(c, i)->use != 1)
            continue;
        const slip_row x = slip_of(state, c, i);
        const ff_vec3 slip = ff_vec3_axpy(-ff_vec3_dot(c->n, x.v), c->n, x.v);
        if (ff_vec3_norm(slip) < 2.0 * rest_most * c->speed)
            continue; /* near rest friction may be anything below mu f */
        ff_vec3 slope[PER];
        const ff_vec3 left = ff_vec3_sub(x.F, slant_force(&at, &c->surface, from, &x, slope));
        J += ff_vec3_dot(left, left);
        whole += ff_vec3_dot(x.F, x.F);
        count += 3.0;
    }
    /* of noise: three components a row, and two standard deviations of that sum */
    const double blur = (count + 2.0 * sqrt(2.0 * count)) * square(fused_row_noise(&model->config, c));
    return whole > 0.0 ? fmax(0.0, J - blur) / whole : 0.0;
}
