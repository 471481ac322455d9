/* fused, function by function: friction, and the normal behind it. The search's trials, the points it looks
 * at and where it ends, against sums over the rows, a textbook's simplex and limits from both sides. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state

/* What a sample shows in axes of the surface: tip, its velocity and the force. */
typedef struct seen {
    ff_vec3 tip, v, F;
} seen;

static seen seen_at(const bench_truth *z, const fused_contact *c, uint64_t i) {
    ff_rigid_state robot[2];
    bench_at(z, (double)i * BENCH_T, robot);
    const ff_rigid_state *b = &robot[1]; /* at rest without a second body */
    const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&robot[0]), z->r),
                  p = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(b)), tip);
    const ff_vec3 v = ff_vec3_sub(ff_rigid_point_velocity(&robot[0], z->r), ff_rigid_point_velocity(b, p));
    ff_vec3 F = fused_at(S, c->a, i)->force;
    if (c->b >= 0) /* both sensors: the mean */
        F = ff_vec3_scale(0.5, ff_vec3_sub(F, fused_at(S, c->b, i)->force));
    return (seen){p, ff_quat_unrotate(b->attitude, v), ff_quat_unrotate(b->attitude, F)};
}

static ff_vec3 across(ff_vec3 n, ff_vec3 x) {
    return ff_vec3_axpy(-ff_vec3_dot(n, x), n, x);
}

/* Rows that the search looks at: all up to the onset, then at most 48. */
static int rows_of(const fused_contact *c, uint64_t *at) {
    int rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i++)
        if (i <= c->detected || (i - c->detected) % (1 + (c->until - c->detected) / 48) == 0)
            at[rows++] = i;
    return rows;
}

/* The law along n alone: its misfit, or infinite. Its search may follow the last bit of a row: place and
 * force are made of the same products. */
static double law_along(const fused_contact *c, ff_vec3 n, bool inertial, ff_profile *fit, int *work) {
    static fused_table t;
    static uint64_t at[FUSED_RING];
    ff_profile_in in;
    ff_profile_search search;
    const ff__place p = {false, c->a, c->b, n, c->next.r, NULL};
    ff__fused_fill_table(&bench_model, S, c, &t, &in);
    in.channel = NULL;
    in.rows = rows_of(c, at);
    for (int i = 0; i < in.rows; i++) {
        const ff_rigid_state a = fused_robot_of(fused_at(S, c->a, at[i])),
                             b = c->b < 0 ? a : fused_robot_of(fused_at(S, c->b, at[i]));
        const ff_vec3 F = fused_measured_force(S, c->a, c->b, at[i]);
        ff__place_coordinate(&p, S->start[c->a], &a, c->b < 0 ? NULL : &b, &t.s[i], &t.v[i]);
        t.f[i] = c->b < 0   ? ff_vec3_dot(n, F)
                 : inertial ? ff_vec3_dot(ff_quat_rotate(b.attitude, n), F)
                            : ff_vec3_dot(n, ff_quat_unrotate(b.attitude, F));
        t.use[i] = fused_row_of(c, at[i])->use == 1;
        if (at[i] == c->detected)
            in.hi = t.s[i];
    }
    in.lo = t.s[0];
    *fit = c->next.surface;
    ff_profile_begin(&in, &search);
    int left = INT32_MAX;
    *work += in.rows;
    const bool done = in.hi > in.lo &&
                      ff_profile_continue(&in, c->next.surface.law, &search, &left, fit) == FF_PROFILE_DONE;
    *work += (INT32_MAX - left) << 8;
    return done ? fit->J : FF_INF;
}

/* What friction mu against the sliding leaves of the force across n: sum of squares over the rows used. */
static double left_across(const seen *x, int rows, ff_vec3 n, double mu) {
    double sum = 0.0;
    for (int i = 0; i < rows; i++) {
        const double f = ff_vec3_dot(n, x[i].F);
        const ff_vec3 u = ff_vec3_unit(across(n, x[i].v)),
                      rest = ff_vec3_axpy(f > 0.0 ? mu * f : 0.0, u, across(n, x[i].F));
        sum += ff_vec3_dot(rest, rest);
    }
    return sum;
}

/* The mu that leaves least: of a parabola, from three of its points. */
static double best_mu(const seen *x, int rows, ff_vec3 n) {
    const double a = left_across(x, rows, n, 0.0), b = left_across(x, rows, n, 0.5),
                 c = left_across(x, rows, n, 1.0), bend = a - 2.0 * b + c;
    return bend > 0.0 ? fmin(1.0, fmax(0.0, 0.25 * (3.0 * a - 4.0 * b + c) / bend)) : 0.0;
}

/* How well n explains force and motion; *work: rows, and 256 times what the law's search has spent. */
static double judged(const bench_truth *z, const fused_contact *c, ff_vec3 n, bool friction, double *mu,
                     ff_profile *fit, int *work) {
    static seen x[FUSED_RING];
    static uint64_t at[FUSED_RING];
    int used = 0;
    for (int i = 0, rows = rows_of(c, at); i < rows; i++)
        if (fused_row_of(c, at[i])->use == 1)
            x[used++] = seen_at(z, c, at[i]);
    const double noise = fmax(fused_noise_of(&bench_model.config, c), fmax(1e-3 * c->force_max, 1e-9));
    *mu = friction ? best_mu(x, used, n) : 0.0;
    return left_across(x, used, n, *mu) / (noise * noise) + law_along(c, n, false, fit, work);
}

/* n tilted along two directions across it. */
static ff_vec3 tilt(ff_vec3 n, const double *x) {
    const ff_vec3 e =
        ff_vec3_unit(ff_vec3_cross(n, fabs(n.x) < 0.6 ? ff_vec3_make(1, 0, 0) : ff_vec3_make(0, 1, 0)));
    return ff_vec3_unit(
        ff_vec3_add(n, ff_vec3_add(ff_vec3_scale(x[0], e), ff_vec3_scale(x[1], ff_vec3_cross(n, e)))));
}

static void fit_of(fused_contact *c, const bench_truth *z) {
    c->next.surface = c->surface = z->law;
    c->n = z->n;
    c->r = c->next.r = z->r;
    for (uint64_t i = FROM; i < PLAY; i++) {
        ff__fused_take_row(bench_state, c, i);
        c->force_max = c->taken.peak = fmax(c->force_max, fused_row_of(c, i)->f);
    }
    ff__fused_choose_rows(&bench_model, bench_state, c);
}

/* A contact with friction whose force is shaken by `shake` of its largest in each row, and which is over;
 * two rows are left out. */
static fused_contact *shaken(bench_truth *z, int draw, double shake) {
    const int bodies = 1 + draw % 2;
    bench_draw(&rng, bodies, z);
    z->mu = ff_rng_range(&rng, 0.05, 0.3);
    z->slide = ff_rng_range(&rng, 1.0, 2.0) * z->speed;
    fused_contact *c = bench_played(&rng, z, bodies, 0.0, 0.0);
    const double most = c->force_max;
    for (uint64_t i = 0; i < PLAY; i++) /* before the onset, too: a force that pulls is not friction's */
        bench_press(z, i, z->r, test_random_vec3(&rng, shake * most));
    fit_of(c, z);
    fused_row_of(c, 30)->use = 2;
    fused_row_of(c, 33)->use = 0;
    c->closing = true;
    c->n = c->next.n = c->next.force = ff_vec3_unit(ff_vec3_axpy(-z->mu, z->along, z->n));
    c->mu = draw % 3 == 2 ? 0.1 : 0.0;
    return c;
}

static int spent_of(int work) {
    return (work & 255) * WORK_ROW + (work >> 8);
}

/* From the best corner to the worst. */
static double size_of(double (*x)[2]) {
    return fabs(x[2][0] - x[0][0]) + fabs(x[2][1] - x[0][1]);
}

/* F = f (n - mu u): the normal comes out where mu is known. Each pass leaves mu v_n/v_slide of the error. */
static void test_normal_behind_friction(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 40; draw++) {
        const int bodies = 1 + draw % 2;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.mu = draw % 5 ? ff_rng_range(&rng, 0.03, 0.15) : 0.0;
        z.slide = ff_rng_range(&rng, 1.5, 3.0) * z.speed;
        fused_contact *c = bench_played(&rng, &z, bodies, 0.0, 0.0);
        c->r = c->next.r = z.r;
        const ff_vec3 force = ff_vec3_unit(ff_vec3_axpy(-z.mu, z.along, z.n));
        const ff_vec3 n = ff__fused_normal_with_friction(&bench_model.config, bench_state, c, PLAY - 1, z.mu,
                                                         force, 1 + (uint64_t)draw % 3);
        const double leaves = z.mu * z.speed / z.slide;
        assert_true(bench_angle(n, z.n) < z.mu * pow(leaves, 3) + 1e-9);
    }
}

/* During a contact: of the friction that is believed and one step beside it the one that explains the rows.
 */
static void test_friction_step_by_step(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 18; draw++) {
        const int bodies = 1 + draw % 2, side = draw / 2 % 3 - 1;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.mu = 0.1 + 0.04 * side;
        z.slide = 2.0 * z.speed;
        fused_contact *c = bench_played(&rng, &z, bodies, 0.0, 0.0);
        const double believed = 0.1;
        fit_of(c, &z);
        c->mu = believed;
        c->lean.step = 0.04;
        c->n = c->next.n =
            ff__fused_normal_with_friction(&bench_model.config, bench_state, c, PLAY - 1, believed, z.n, 1);
        int work = 1 << 30, calls = 1;
        while (!ff__fused_step_friction(&bench_model, bench_state, c, &work))
            calls++;
        assert_int_equal(calls, 3);
        assert_true(work < 1 << 30);
        assert_near(c->lean.mu, z.mu, 1e-12);
        assert_near(c->lean.step, side ? 0.04 : 0.02, 1e-12); /* finer where it stands */
        assert_true(bench_angle(c->lean.n, z.n) < 1e-3);
        assert_near(c->rival.k, z.law.k, 0.01 * z.law.k);
    }
}

/* At its end: normal and friction together, from the force's own direction; sliding that turns round, too. */
static void test_friction_at_the_end(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 8; draw++) {
        const int bodies = 1 + draw % 2;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.mu = draw < 2 ? 0.0 : ff_rng_range(&rng, 0.03, 0.3);
        z.slide = ff_rng_range(&rng, 1.0, 2.0) * z.speed;
        fused_contact *c = bench_played(&rng, &z, bodies, 0.0, 0.0);
        fit_of(c, &z);
        c->closing = true;
        c->n = c->next.n = c->next.force = ff_vec3_unit(ff_vec3_axpy(-z.mu, z.along, z.n));
        int work = 1 << 30, calls = 1;
        while (!ff__fused_settle_friction(&bench_model, bench_state, c, &work) && calls < 200)
            calls++;
        assert_true(calls > 3 && calls < 130);
        /* to where 60 trials have led: as far as the simplex still spans */
        const double spans = size_of(c->lean.simplex.x);
        assert_true(spans < 2e-3);
        assert_near(c->lean.mu, z.mu, 2e-4 + spans);
        assert_true(bench_angle(c->lean.n, z.n) < 2e-4 + spans);
        assert_int_equal(c->lean.side, 0); /* ready for the next */
        double rows = 0.0;                 /* thinned out behind the onset: at most 48 and those before */
        for (uint64_t i = c->row_from; i <= c->until; i += i < DETECTED ? 1 : 1 + (c->until - DETECTED) / 48)
            rows++;
        assert_near(c->lean.misfit, fmin(c->lean.simplex.least, c->lean.without) / rows, 1e-12);
        assert_true(c->lean.misfit < 1.0);
    }
}

/* The normal of known friction from rows that shake: n is along the sum of f (F + mu f u), u the direction of
 * the path, sum f^2 v, in the first passes, then each row's own. Rows below twice the noise or a fiftieth of
 * the largest force have no say, nor samples that are none. */
static void test_the_normal_from_sums(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 12; draw++) {
        bench_truth z;
        fused_contact *c = shaken(&z, draw, 0.05);
        const double mu = draw % 3 ? z.mu : 0.0, noise = draw % 4 < 2 ? 0.02 * c->force_max : 0.0;
        const uint64_t stride = 1 + (uint64_t)draw % 3;
        bench_model.config.force_noise = noise;
        const double gate = fmax(2.0 * fused_noise_of(&bench_model.config, c), 0.02 * c->force_max);
        fused_at(S, 0, FROM + 2 * 18)->valid = false; /* of every stride */
        fused_at(S, 0, FROM + 2 * 18)->force = test_random_vec3(&rng, 100.0 * c->force_max);
        ff_vec3 n = c->next.n, u = ff_vec3_zero();
        int weak = 0, counted = 0;
        for (int pass = 0; pass < (mu > 0.0 ? 6 : 2); pass++) {
            ff_vec3 sum = ff_vec3_zero(), path = ff_vec3_zero();
            for (uint64_t i = FROM; i < PLAY; i += stride) {
                const seen x = seen_at(&z, c, i);
                const double f = ff_vec3_dot(n, x.F);
                weak += f > 0.0 && f <= gate;
                if (f <= gate || i == FROM + 2 * 18)
                    continue;
                counted++;
                const ff_vec3 slip = pass < 3 ? u : ff_vec3_unit(across(n, x.v));
                sum = ff_vec3_add(sum, ff_vec3_scale(f, x.F));
                if (pass)
                    sum = ff_vec3_axpy(mu * f * f, slip, sum);
                path = ff_vec3_axpy(f * f, x.v, path);
            }
            n = ff_vec3_unit(sum);
            u = ff_vec3_unit(across(n, path));
        }
        assert_true(weak > 0 && counted > 20);
        assert_vec3_near(
            ff__fused_normal_with_friction(&bench_model.config, S, c, PLAY - 1, mu, c->next.n, stride), n,
            1e-10);
    }
    bench_truth z; /* no row at all: it stays */
    fused_contact *c = shaken(&z, 0, 0.0);
    bench_model.config.force_noise = c->force_max;
    assert_vec3_near(ff__fused_normal_with_friction(&bench_model.config, S, c, PLAY - 1, 0.2, z.along, 1),
                     z.along, 0.0);
}

/* During a contact: mu as it is believed, a step more, a step less, within 0 and 1; kept is the one whose
 * normal lets the law explain the rows best, a first friction only where it is no chance. */
static void test_trials_during_a_contact(void **unused) {
    (void)unused;
    int chance = 0, first = 0;
    for (int draw = 0; draw < 16; draw++) {
        static const double believed[4] = {0.0, 0.03, 0.98, 0.2};
        bench_truth z;
        fused_contact *c = shaken(&z, draw / 4, draw % 8 < 4 ? 0.02 : 0.0);
        c->closing = false;
        c->mu = believed[draw % 4];
        c->lean.step = 0.05;
        c->surface.law = c->next.surface.law = 0;
        bench_model.config.force_noise = draw < 8 ? 0.0 : 0.01 * c->force_max;
        bench_model.hears = draw >= 12;
        double J = FF_INF, mu = -1.0;
        ff_vec3 n = ff_vec3_zero();
        ff_profile kept = {0};
        int used = 0;
        const bool noisy = bench_model.config.force_noise > 0.0;
        for (int side = 0; side < 3; side++) {
            const double tried = fmin(1.0, fmax(0.0, c->mu + (side == 1 ? 0.05 : side == 2 ? -0.05 : 0.0)));
            if (side && tried == c->mu)
                continue;
            const uint64_t stride = 1 + (c->until - c->detected) / 48;
            const ff_vec3 m = tried == c->mu && tried > 0.0
                                  ? c->next.n
                                  : ff__fused_normal_with_friction(&bench_model.config, S, c, c->until, tried,
                                                                   c->next.n, stride);
            ff_profile fit;
            int work = 0;
            const double misfit = law_along(c, m, true, &fit, &work);
            used += (work & 255) * (WORK_ROW + 2 * WORK_PLACE) + (work >> 8);
            if (!(misfit < J))
                continue;
            const double limit = (noisy && draw < 12 ? J : 0.2 * J) - (noisy ? 25.0 : 0.0);
            if (side && c->mu == 0.0) {
                chance += misfit >= limit;
                first += misfit < limit;
                if (misfit >= limit)
                    continue;
            }
            J = misfit;
            mu = tried;
            n = m;
            kept = fit;
        }
        int work = 1 << 30;
        assert_false(ff__fused_step_friction(&bench_model, S, c, &work));
        assert_false(ff__fused_step_friction(&bench_model, S, c, &work));
        assert_true(ff__fused_step_friction(&bench_model, S, c, &work));
        assert_int_equal(c->lean.side, 0);
        assert_near(c->lean.mu, mu, 1e-15);
        assert_vec3_near(c->lean.n, n, 1e-12);
        assert_near(c->rival.J, kept.J, 1e-6 * (kept.J + 1.0));
        assert_near(c->lean.step, mu == c->mu ? 0.025 : 0.05, 1e-15);
        assert_int_equal((1 << 30) - work, used);

        c->detected = c->row_from; /* no row before the onset: nothing can be tried, mu stands */
        c->lean.step = draw % 2 ? 9e-4 : 1.2e-3;
        for (int side = 0; side < 3; side++)
            ff__fused_step_friction(&bench_model, S, c, &work);
        assert_near(c->lean.mu, c->mu, 0.0);
        assert_near(c->lean.step, draw % 2 ? 5e-4 : 6e-4, 1e-15);
    }
    print_message("%d first frictions kept, %d by chance\n", first, chance);
}

/* The search at the end begins with the force's own direction without friction, and with a small triangle of
 * tilts, smaller where friction was known. */
static void test_the_search_begins(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 6; draw++) {
        bench_truth z;
        fused_contact *c = shaken(&z, draw, 0.01);
        fused_simplex *q = &c->lean.simplex;
        c->next.n = z.n;
        q->again = true;
        int work = 1 << 30, used = 0;
        assert_false(ff__fused_settle_friction(&bench_model, S, c, &work));
        double mu;
        ff_profile fit;
        const double J = judged(&z, c, c->next.force, false, &mu, &fit, &used);
        assert_near(c->lean.without / J, 1.0, 1e-7);
        assert_near(c->rival.J, fit.J, 1e-6 * (fit.J + 1.0));
        assert_true(c->lean.mu == 0.0 && c->lean.side == 1 && q->kind == 0 && !q->again && isinf(q->least));
        assert_vec3_near(c->lean.n, c->next.force, 0.0);
        assert_vec3_near(q->middle, z.n, 0.0);
        for (int i = 0; i < 3; i++) {
            const double turn = 2.0 * FF_PI / 3.0 * i + 0.4, size = c->mu > 0.0 ? 0.02 : 0.08;
            assert_near(q->x[i][0], size * cos(turn), 1e-8);
            assert_near(q->x[i][1], size * sin(turn), 1e-8);
        }
        assert_int_equal((1 << 30) - work, spent_of(used));
    }
}

typedef struct search {
    const bench_truth *z;
    fused_contact *c;
    bool done;
    double least;
    int calls;
} search;

/* One trial: the point that is tried is this one, and the best so far is kept. */
static double ask(search *s, const double *x) {
    fused_contact *c = s->c;
    fused_simplex *q = &c->lean.simplex;
    const double *at = q->kind < 3 ? q->x[q->kind] : q->kind < 6 ? q->trial : q->x[q->kind - 5];
    assert_near(at[0], x[0], 1e-9);
    assert_near(at[1], x[1], 1e-9);
    const double here[2] = {at[0], at[1]};
    double mu;
    ff_profile fit;
    int work = 1 << 30, used = 0;
    const double J = judged(s->z, c, tilt(q->middle, here), true, &mu, &fit, &used);
    s->done = ff__fused_settle_friction(&bench_model, S, c, &work);
    s->calls++;
    if (J < s->least) {
        s->least = J;
        assert_near(c->lean.mu, mu, 1e-9);
        assert_vec3_near(c->lean.n, tilt(q->middle, here), 1e-12);
        assert_near(c->rival.J, fit.J, 1e-6 * (fit.J + 1.0));
    }
    assert_near(q->least, s->least, 1e-7 * (s->least + 1.0)); /* 1e-16 of the force's squares over noise's */
    assert_int_equal((1 << 30) - work, spent_of(used));
    return J;
}

/* Corners by their misfit. */
static void sort(double x[3][2], double *J) {
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++)
            if (J[j] < J[i]) {
                for (int k = 0; k < 2; k++) {
                    const double t = x[i][k];
                    x[i][k] = x[j][k];
                    x[j][k] = t;
                }
                const double t = J[i];
                J[i] = J[j];
                J[j] = t;
            }
}

/* The simplex of Nelder and Mead as textbooks have it: mirror the worst; go twice as far, or half as far on
 * the better side; else draw all in. It ends when it is as small as 2e-5, or after 60 trials. */
static void test_the_simplex(void **unused) {
    (void)unused;
    int drawn_in = 0, further = 0, small = 0;
    for (int draw = 0; draw < 5; draw++) {
        bench_truth z;
        fused_contact *c = shaken(&z, draw, draw == 4 ? 0.05 : 0.0);
        fused_simplex *q = &c->lean.simplex;
        int work = 1 << 30;
        if (draw == 0)
            c->next.n = z.n; /* near the best */
        ff__fused_settle_friction(&bench_model, S, c, &work);
        for (int i = 0; i < 3; i++) {
            if (draw > 2) { /* a wide one that lies on a side */
                q->x[i][0] = 0.1 + 0.1 * i;
                q->x[i][1] = i == 1 ? 0.08 : 0.0;
            } else if (draw == 0) { /* and soon small */
                q->x[i][0] *= 0.02;
                q->x[i][1] *= 0.02;
            }
        }
        c->lean.simplex.again = true; /* a second beginning is another test's */
        c->lean.simplex.look = 400;
        double x[3][2], J[3];
        memcpy(x, q->x, sizeof x);
        search s = {&z, c, false, FF_INF, 0};
        for (int i = 0; i < 3; i++)
            J[i] = ask(&s, x[i]);
        for (int i = 0; i < 3 && draw > 2; i++) /* better than any other: all are drawn in */
            J[i] = q->J[i] = i - 1e3;
        if (draw > 2) { /* in the order of before */
            memcpy(x, q->x, sizeof x);
            memcpy(q->first, q->x[2], sizeof q->first);
        }
        while (!s.done && size_of(x) > 1e-3) { /* smaller ones differ by rounding */
            sort(x, J);
            double mean[2], t[2], there[2];
            for (int k = 0; k < 2; k++) {
                mean[k] = 0.5 * (x[0][k] + x[1][k]);
                t[k] = 2.0 * mean[k] - x[2][k];
            }
            double J_t = ask(&s, t);
            const bool best = J_t < J[0], good = !best && J_t < J[1];
            if (!good && !s.done) {
                const double out = best ? 2.0 : J_t < J[2] ? 0.5 : -0.5;
                for (int k = 0; k < 2; k++)
                    there[k] = mean[k] + out * (mean[k] - x[2][k]);
                const double J_there = ask(&s, there);
                further += best;
                if (J_there < (best ? J_t : fmin(J_t, J[2]))) {
                    memcpy(t, there, sizeof t);
                    J_t = J_there;
                } else if (!best && !s.done) { /* all drawn in */
                    drawn_in++;
                    for (int i = 1; i < 3; i++)
                        for (int k = 0; k < 2; k++)
                            x[i][k] = 0.5 * (x[i][k] + x[0][k]);
                    for (int i = 1; i < 3 && !s.done; i++)
                        J[i] = ask(&s, x[i]);
                    continue;
                }
            }
            if (s.done)
                break;
            memcpy(x[2], t, sizeof t);
            J[2] = J_t;
        }
        while (!s.done && s.calls < 70) {
            assert_true(q->kind != 3 || size_of(q->x) >= 2e-5); /* corners that are complete */
            s.done = ff__fused_settle_friction(&bench_model, S, c, &work);
            s.calls++;
        }
        assert_true(s.done && s.calls <= 59);
        assert_true(s.calls == 59 || size_of(q->x) < 2e-5);
        small += s.calls < 59;
    }
    print_message("%d times further, %d drawn in, %d became small\n", further, drawn_in, small);
    assert_true(further > 0 && drawn_in > 0 && small > 0);
}

/* Where the search ends: what is left decides whether it begins again, from the force's direction, once; and
 * whether the friction is kept: a fifth of what was left without it, under noise so much that 25 are gained.
 */
static void test_the_search_ends(void **unused) {
    (void)unused;
    for (int way = 0; way < 24; way++) {
        const bool noisy = way & 1, above = way >> 1 & 1, hears = noisy && way % 3 == 0;
        const int kind = way / 4 % 3; /* begins again; kept or not; too few trials */
        bench_truth z;
        fused_contact *c = shaken(&z, way / 4, 0.2);
        fused_simplex *q = &c->lean.simplex;
        int work = 1 << 30;
        if (way % 5 == 0)
            c->until = c->row_from + 40; /* of so few rows all count */
        ff__fused_settle_friction(&bench_model, S, c, &work);
        bench_model.config.force_noise = noisy ? 6e-4 * c->force_max : 2e-4 * c->force_max;
        bench_model.hears = hears;
        c->next.force = z.along;
        const double count = fmin((double)(c->until - c->row_from), 48.0),
                     limit = (noisy ? 4.0 : 0.05) * count;
        uint64_t at[FUSED_RING];
        const double rows = rows_of(c, at), beyond = above ? 1.0 + 1e-9 : 1.0 - 1e-9;
        q->least = kind == 0 ? limit * beyond : 0.5 * limit; /* each trial here leaves more */
        c->lean.mu = 0.123;
        c->lean.n = z.n;
        q->again = kind == 1;
        q->look = 400;
        c->lean.side = kind == 2 ? (above ? 59 : 58) : 59;
        const double part = noisy && !hears ? 1.0 : 0.2, gain = noisy ? 25.0 : 0.0;
        c->lean.without = kind == 1 ? (q->least + gain) / part * beyond : 1e9;
        const bool ended = ff__fused_settle_friction(&bench_model, S, c, &work);
        if (kind == 2 && !above) {
            assert_true(!ended && c->lean.side == 59);
            continue;
        }
        if (kind == 0 && above) {
            assert_true(!ended && q->again && q->look == 0 && isinf(q->J[0]) && isinf(q->J[1]) &&
                        isinf(q->J[2]));
            assert_vec3_near(q->middle, c->next.force, 0.0);
            continue;
        }
        assert_true(ended && c->lean.side == 0);
        const bool kept = kind != 1 || above;
        assert_near(c->lean.mu, kept ? 0.123 : 0.0, 0.0);
        assert_vec3_near(c->lean.n, kept ? z.n : c->next.force, 0.0);
        assert_near(c->lean.misfit, (kept ? q->least : c->lean.without) / rows, 1e-12 * c->lean.misfit);
    }
}

/* The second beginning looks at ten rings of tilts, 0.03 apart and ever six points more: what the best
 * friction leaves of the force across. The three that leave least, 0.05 apart, are judged by the law, too,
 * and around the best of them the simplex begins. */
static void test_the_search_looks_around(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 6; draw++) {
        bench_truth z;
        fused_contact *c = shaken(&z, draw, draw < 2 ? 0.3 : 0.02);
        fused_simplex *q = &c->lean.simplex;
        int work = 1 << 30;
        ff__fused_settle_friction(&bench_model, S, c, &work);
        q->again = true;
        q->middle = bench_tilted(&rng, z.n, 0.15);
        q->look = 0;
        q->J[0] = q->J[1] = q->J[2] = FF_INF;
        static seen x[FUSED_RING];
        uint64_t at[FUSED_RING];
        int used = 0;
        for (int i = 0, rows = rows_of(c, at); i < rows; i++)
            if (at[i] >= c->detected && fused_row_of(c, at[i])->use == 1)
                x[used++] = seen_at(&z, c, at[i]);
        double kept[3][2] = {{0}}, J[3] = {FF_INF, FF_INF, FF_INF};
        for (int look = 0; look < 330; look++) {
            if (look % 16 == 0) {
                work = 1 << 30;
                assert_false(ff__fused_settle_friction(&bench_model, S, c, &work));
                const int points = look + 16 < 330 ? 16 : 330 - look;
                assert_int_equal((1 << 30) - work, used * (WORK_PLACE + 2 * points));
                assert_int_equal(q->look, look + points);
            }
            int ring = 1, first = 0;
            for (; first + 6 * ring <= look; ring++)
                first += 6 * ring;
            const double angle = 2.0 * FF_PI * (look - first) / (6.0 * ring),
                         p[2] = {0.03 * ring * cos(angle), 0.03 * ring * sin(angle)};
            const ff_vec3 n = tilt(q->middle, p);
            const double left = left_across(x, used, n, best_mu(x, used, n));
            int slot = -1, worst = 0;
            for (int i = 2; i >= 0; i--) {
                if (isfinite(J[i]) && hypot(kept[i][0] - p[0], kept[i][1] - p[1]) < 0.05)
                    slot = i;
                worst = J[i] >= J[worst] ? i : worst;
            }
            slot = slot < 0 ? worst : slot;
            if (left < J[slot]) {
                J[slot] = left;
                memcpy(kept[slot], p, sizeof p);
            }
            for (int i = 0; i < 3 && (look % 16 == 15 || look == 329); i++) {
                if (isinf(J[i])) { /* none yet */
                    assert_true(isinf(q->J[i]));
                    continue;
                }
                assert_near(q->J[i], J[i], 1e-9 * J[i]);
                assert_near(q->x[i][0], kept[i][0], 1e-9);
                assert_near(q->x[i][1], kept[i][1], 1e-9);
            }
        }
        double least = FF_INF, mu;
        int best = 0;
        ff_profile fit;
        for (int i = 0; i < 3; i++) {
            c->lean.side = 50;
            const double is = judged(&z, c, tilt(q->middle, kept[i]), true, &mu, &fit, &used);
            best = is < least ? i : best;
            least = fmin(is, least);
        }
        const ff_vec3 middle = tilt(q->middle, kept[best]);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(c->lean.side, 50);
            assert_false(ff__fused_settle_friction(&bench_model, S, c, &work));
        }
        assert_vec3_near(q->middle, middle, 1e-9);
        assert_true(q->kind == 0 && c->lean.side == 1 && q->look == 333);
        for (int i = 0; i < 3; i++) {
            const double turn = 2.0 * FF_PI / 3.0 * i + 3.6;
            assert_near(q->x[i][0], 0.02 * cos(turn), 1e-8);
            assert_near(q->x[i][1], 0.02 * sin(turn), 1e-8);
        }
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 89);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_behind_friction),
        cmocka_unit_test(test_friction_step_by_step),
        cmocka_unit_test(test_friction_at_the_end),
        cmocka_unit_test(test_the_normal_from_sums),
        cmocka_unit_test(test_trials_during_a_contact),
        cmocka_unit_test(test_the_search_begins),
        cmocka_unit_test(test_the_simplex),
        cmocka_unit_test(test_the_search_ends),
        cmocka_unit_test(test_the_search_looks_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
