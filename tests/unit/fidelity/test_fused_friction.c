/* fused, function by function: friction, and the normal behind it: the trials during a contact and the search
 * at its end, against sums over the rows and limits from both sides. */
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
        assert_true(calls > 1 && calls < 60);
        /* it ends where a step is below 1e-6. The tip never rests here: what friction would do then is free,
         * up to a slip of .04 of the approach */
        assert_near(c->lean.mu, z.mu, 0.5 * 0.04 * 0.04 * z.mu + 1e-6);
        assert_true(bench_angle(c->lean.n, z.n) < 1e-6);
        assert_int_equal(c->lean.side, 0); /* ready for the next */
        double rows = 0.0;                 /* thinned out behind the onset: at most 48 and those before */
        for (uint64_t i = c->row_from; i <= c->until; i += i < DETECTED ? 1 : 1 + (c->until - DETECTED) / 48)
            rows++;
        const double sum = rows * c->lean.misfit, least = c->lean.cone.least, without = c->lean.without;
        assert_true(fabs(sum - least) <= 1e-9 * least ||
                    (c->lean.mu == 0.0 && fabs(sum - without) <= 1e-9 * without));
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

int main(void) {
    ff_rng_seed(&rng, test_seed(), 89);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_behind_friction),  cmocka_unit_test(test_friction_step_by_step),
        cmocka_unit_test(test_friction_at_the_end),     cmocka_unit_test(test_the_normal_from_sums),
        cmocka_unit_test(test_trials_during_a_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
