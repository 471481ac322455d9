/* fused: friction, and the normal of a surface that has it (docs/methods/fused.md, 8). */
#include "fidelity/fused/fused.h"

enum {
    FRICTION_ROWS = 48, /* rows behind the onset that the search looks at */
    LOOKS = 330         /* points of ten rings */
};

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
    const double mu = fmin(1.0, fmax(0.0, wish));
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

/* Force, and velocity of the tip, of row i in the axes of the normal, with the new contact point. */
static void slip_of(fused_state *state, const fused_contact *c, uint64_t i, ff_vec3 *F, ff_vec3 *v) {
    const ff_rigid_state a = fused_robot_of(fused_at(state, c->a, i));
    *F = fused_measured_force(state, c->a, c->b, i);
    *v = ff_rigid_point_velocity(&a, c->next.r);
    if (c->b < 0)
        return;
    const ff_rigid_state b = fused_robot_of(fused_at(state, c->b, i));
    const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&a), c->next.r);
    const ff_vec3 tip_b = ff_quat_unrotate(b.attitude, ff_vec3_sub(tip, b.position));
    *v = ff_quat_unrotate(b.attitude, ff_vec3_sub(*v, ff_rigid_point_velocity(&b, tip_b)));
    *F = ff_quat_unrotate(b.attitude, *F);
}

/* How well a trial normal explains force and motion: the law along it, and across it friction against the
 * sliding, whose mu comes out. Force and motion along n and across n are all that was measured. */
static double judge_normal(const fused_model *model, fused_state *state, fused_contact *c, ff_vec3 n,
                           bool friction, double *mu, ff_profile *fit, int *work) {
    fused_table t;
    ff_profile_in in;
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    const ff__place p = {c->torque, c->a, c->b, n, c->next.r, NULL};
    ff__fused_fill_table(model, state, c, &t, &in);
    in.channel = NULL; /* as above */
    ff_vec3 across[FUSED_RING], slide[FUSED_RING];
    int rows = 0;
    double top = 0.0, bottom = 0.0, J = 0.0;
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride, rows++) {
        const ff_rigid_state a = fused_robot_of(fused_at(state, c->a, i));
        const ff_rigid_state b = c->b < 0 ? fused_at_rest() : fused_robot_of(fused_at(state, c->b, i));
        ff__place_coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &t.s[rows], &t.v[rows]);
        ff_vec3 F, v;
        slip_of(state, c, i, &F, &v);
        const double f = ff_vec3_dot(n, F);
        t.f[rows] = f;
        t.use[rows] = fused_row_of(c, i)->use == 1;
        across[rows] = ff_vec3_axpy(-f, n, F);
        slide[rows] = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, v), n, v));
        if (t.use[rows] && f > 0.0) {
            top -= f * ff_vec3_dot(slide[rows], across[rows]);
            bottom += f * f;
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

static ff_vec3 tilted(ff_vec3 n, const double x[2]) {
    const ff_vec3 e1 = ff_vec3_unit(fabs(n.x) < 0.6 ? ff_vec3_cross(n, ff_vec3_make(1, 0, 0))
                                                    : ff_vec3_cross(n, ff_vec3_make(0, 1, 0)));
    return ff_vec3_unit(ff_vec3_axpy(x[0], e1, ff_vec3_axpy(x[1], ff_vec3_cross(n, e1), n)));
}

static void open_simplex(fused_simplex *z, double size, double turn) {
    for (int i = 0; i < 3; i++) {
        z->x[i][0] = size * cos(2.0943951 * i + turn);
        z->x[i][1] = size * sin(2.0943951 * i + turn);
    }
    z->kind = 0;
}

/* Tilts of the force's direction on rings 0.03 apart, judged by the force across them alone: what friction
 * against the sliding leaves of it. The best three, well apart, stay in the simplex's corners. */
static void look_around(fused_state *state, fused_contact *c, int *work) {
    enum { IN_A_CALL = 16 };
    fused_simplex *z = &c->lean.simplex;
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    ff_vec3 F[2 * FRICTION_ROWS], v[2 * FRICTION_ROWS];
    int rows = 0;
    for (uint64_t i = c->detected; i <= c->until && rows < 2 * FRICTION_ROWS; i += stride)
        if (fused_row_of(c, i)->use == 1) {
            slip_of(state, c, i, &F[rows], &v[rows]);
            rows++;
        }
    *work -= rows * WORK_PLACE;
    for (int q = 0; q < IN_A_CALL && z->look < LOOKS; q++, z->look++) {
        /* ring r holds 6 r points, from number 3 r (r - 1) on */
        int ring = 1;
        while (3 * ring * (ring + 1) <= z->look)
            ring++;
        const double angle = 1.0471975512 / ring * (z->look - 3 * ring * (ring - 1));
        const double x[2] = {0.03 * ring * cos(angle), 0.03 * ring * sin(angle)};
        const ff_vec3 n = tilted(z->middle, x);
        double top = 0.0, bottom = 0.0, square = 0.0;
        for (int i = 0; i < rows; i++) { /* least of sum |F_t + mu f u|^2 over mu */
            const double f = ff_vec3_dot(n, F[i]);
            const ff_vec3 slide = ff_vec3_axpy(-ff_vec3_dot(n, v[i]), n, v[i]);
            const double speed = ff_vec3_norm(slide);
            square += ff_vec3_dot(F[i], F[i]) - f * f;
            if (f > 0.0 && speed > 0.0) {
                top -= f * ff_vec3_dot(slide, F[i]) / speed;
                bottom += f * f;
            }
        }
        *work -= 2 * rows;
        const double mu = bottom > 0.0 ? fmin(1.0, fmax(0.0, top / bottom)) : 0.0;
        const double J = square - 2.0 * mu * top + mu * mu * bottom;
        int slot = -1;
        for (int i = 0; i < 3 && slot < 0; i++) /* a neighbour of one that is kept replaces it or goes */
            if (z->J[i] < FF_INF && hypot(z->x[i][0] - x[0], z->x[i][1] - x[1]) < 0.05)
                slot = J < z->J[i] ? i : 3;
        if (slot < 0) {
            slot = 0;
            for (int i = 1; i < 3; i++)
                slot = z->J[i] > z->J[slot] ? i : slot;
            slot = J < z->J[slot] ? slot : 3;
        }
        if (slot < 3) {
            z->J[slot] = J;
            z->x[slot][0] = x[0];
            z->x[slot][1] = x[1];
        }
    }
}

/* The corners by their misfit, and the worst mirrored. */
static void mirror_worst(fused_simplex *z) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (!(z->J[j] <= z->J[j + 1])) {
                const double J_j = z->J[j], x_j[2] = {z->x[j][0], z->x[j][1]};
                z->J[j] = z->J[j + 1];
                z->x[j][0] = z->x[j + 1][0];
                z->x[j][1] = z->x[j + 1][1];
                z->J[j + 1] = J_j;
                z->x[j + 1][0] = x_j[0];
                z->x[j + 1][1] = x_j[1];
            }
    for (int q = 0; q < 2; q++)
        z->trial[q] = z->x[0][q] + z->x[1][q] - z->x[2][q];
    z->kind = 3;
}

/* The misfit J of the trial at x. True where the corners have changed: the next trial mirrors the worst. */
static bool move_simplex(fused_simplex *z, const double *x, double J) {
    bool next = false;
    const double mean[2] = {0.5 * (z->x[0][0] + z->x[1][0]), 0.5 * (z->x[0][1] + z->x[1][1])};
    if (z->kind < 3) {
        z->J[z->kind] = J;
        next = ++z->kind == 3;
    } else if (z->kind == 3) {
        z->J_trial = J;
        z->first[0] = x[0];
        z->first[1] = x[1];
        const double out = J < z->J[0] ? 2.0 : J < z->J[2] ? 0.5 : -0.5;
        if (J >= z->J[0] && J < z->J[1]) {
            z->x[2][0] = x[0];
            z->x[2][1] = x[1];
            z->J[2] = J;
            next = true;
        } else {
            for (int q = 0; q < 2; q++)
                z->trial[q] = mean[q] + out * (mean[q] - z->x[2][q]);
            z->kind = J < z->J[0] ? 4 : 5;
        }
    } else if (z->kind < 6) {
        const bool better = J < (z->kind == 4 ? z->J_trial : fmin(z->J[2], z->J_trial));
        if (better || z->kind == 4) {
            for (int q = 0; q < 2; q++)
                z->x[2][q] = better ? x[q] : z->first[q];
            z->J[2] = better ? J : z->J_trial;
            next = true;
        } else {
            for (int i = 1; i < 3; i++)
                for (int q = 0; q < 2; q++)
                    z->x[i][q] = 0.5 * (z->x[i][q] + z->x[0][q]);
            z->kind = 6;
        }
    } else {
        z->J[z->kind - 5] = J;
        next = ++z->kind == 8;
    }
    if (next)
        mirror_worst(z);
    return next;
}

/* What comes before the simplex: the force's own direction without friction, and where it begins a second
 * time. False where it is the simplex's turn. */
static bool begin_search(const fused_model *model, fused_state *state, fused_contact *c, int *work) {
    fused_simplex *z = &c->lean.simplex;
    ff_profile fit;
    double mu;
    if (c->lean.side == 0) { /* the force's own direction, no friction */
        z->middle = c->next.n;
        c->lean.without = judge_normal(model, state, c, c->next.force, false, &mu, &fit, work);
        keep_friction(c, 0.0, &fit, c->next.force);
        z->least = FF_INF;
        z->again = false;
        open_simplex(z, c->mu > 0.0 ? 0.02 : 0.08, 0.4);
        c->lean.side = 1;
        return true;
    }
    if (z->again && z->look < LOOKS) {
        look_around(state, c, work);
        return true;
    }
    if (z->again && z->look < LOOKS + 3) { /* what was kept, judged by the law as well */
        const int i = z->look++ - LOOKS;
        z->J[i] = judge_normal(model, state, c, tilted(z->middle, z->x[i]), true, &mu, &fit, work);
        if (z->look < LOOKS + 3)
            return true;
        const int best = z->J[1] < z->J[0] ? 1 : 0, least = z->J[2] < z->J[best] ? 2 : best;
        z->middle = tilted(z->middle, z->x[least]);
        open_simplex(z, 0.02, 3.6);
        c->lean.side = 1;
        return true;
    }
    return false;
}

/* At its end the normal itself is sought, by the simplex of Nelder and Mead over its two tilts: with the
 * slope mu v_n/v_slide above one no iteration of mu and n in turn converges. One trial in a call. */
bool ff__fused_settle_friction(const fused_model *model, fused_state *state, fused_contact *c, int *work) {
    enum { TRIALS = 60 };
    fused_simplex *z = &c->lean.simplex;
    ff_profile fit;
    double mu;
    if (begin_search(model, state, c, work))
        return false;
    /* trial point: the corners first, then 3 mirrored, 4 beyond it, 5 drawn in, 6 and 7 all drawn in */
    double *x = z->kind < 3 ? z->x[z->kind] : z->kind < 6 ? z->trial : z->x[z->kind - 5];
    const ff_vec3 n = tilted(z->middle, x);
    const double J = judge_normal(model, state, c, n, true, &mu, &fit, work);
    if (J < z->least) {
        z->least = J;
        keep_friction(c, mu, &fit, n);
    }
    const bool next = move_simplex(z, x, J);
    const double size = fabs(z->x[2][0] - z->x[0][0]) + fabs(z->x[2][1] - z->x[0][1]);
    c->lean.side++;
    if (c->lean.side <= 3 || (c->lean.side < TRIALS && !(next && size < 2e-5)))
        return false;
    /* the misfit has other valleys, as the sliding turns round with the normal: they are looked for */
    const double rows = fmin((double)(c->until - c->row_from), FRICTION_ROWS);
    if (!z->again && z->least > (fused_noisy(&model->config, c) ? 4.0 : 0.05) * rows) {
        z->again = true;
        z->middle = c->next.force;
        z->look = 0;
        z->J[0] = z->J[1] = z->J[2] = FF_INF;
        return false;
    }
    c->lean.side = 0;
    c->lean.misfit = z->least / friction_rows(c);
    if (!significant(model, c, c->lean.without, z->least)) {
        c->lean.misfit = c->lean.without / friction_rows(c);
        c->lean.mu = 0.0;
        c->lean.n = c->next.force;
    }
    return true;
}
