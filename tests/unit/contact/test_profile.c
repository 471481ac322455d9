#include "support.h"

#include "freefloat/contact.h"

enum { ROWS = 60 };

/* A body of 200 kg that meets the surface and leaves it, sampled; returns the rows. */
static int contact_rows(const ff_profile *truth, double noise, ff_rng *rng, double *s, double *v, double *f) {
    const double T = 0.004, h = T / 400.0, mass = 200.0;
    double x = truth->x0 - 0.05 * T * 4.3, speed = 0.05;
    for (int i = 0; i < ROWS; i++) {
        s[i] = x;
        v[i] = speed;
        f[i] = ff_profile_force(truth, x, speed) + noise * ff_rng_normal(rng);
        for (int j = 0; j < 400; j++) {
            x += 0.5 * h * speed;
            speed -= h * ff_profile_force(truth, x, speed) / mass;
            x += 0.5 * h * speed;
        }
        if (speed < 0.0 && ff_profile_force(truth, x, speed) == 0.0)
            return i + 1;
    }
    return ROWS;
}

static bool fit_all(const ff_profile_in *in, int law, ff_profile *fit) {
    ff_profile_search search;
    int work = INT32_MAX;
    ff_profile_begin(in, &search);
    return ff_profile_continue(in, law, &search, &work, fit) == FF_PROFILE_DONE;
}

static ff_profile fit_of(int law, const ff_profile *truth, double noise, ff_rng *rng) {
    double s[ROWS], v[ROWS], f[ROWS];
    unsigned char use[ROWS];
    memset(use, 1, sizeof use);
    const int rows = contact_rows(truth, noise, rng, s, v, f);
    double most = 0.0;
    for (int i = 0; i < rows; i++)
        most = fmax(most, f[i]);
    const ff_profile_in in = {.rows = rows,
                              .s = s,
                              .v = v,
                              .f = f,
                              .use = use,
                              .lo = s[0],
                              .hi = s[6],
                              .noise = fmax(noise, 1e-3 * most),
                              .noise_least = fmax(noise, 1e-6 * most),
                              .depth = truth->depth > 0.0 ? truth->depth : 0.001,
                              .speed = 0.05};
    ff_profile fit = {0};
    assert_true(fit_all(&in, law, &fit));
    return fit;
}

static void test_fit_finds_surface_stiffness_and_damping_of_each_law(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    const double k[FF_PROFILE_LAWS] = {2e5, 7e6, 2e5, 1.2e6, 2e5};
    for (int law = 0; law < FF_PROFILE_LAWS; law++)
        for (int damped = 0; damped < 2; damped++) {
            const ff_profile truth = {.law = law,
                                      .k = k[law],
                                      .c = !damped                 ? 0.0
                                           : law % FF_PROFILE_STEP ? 4.0 * k[law]
                                                                   : 2500.0,
                                      .depth = 0.0012,
                                      .x0 = 0.0123};
            const ff_profile fit = fit_of(law, &truth, 0.0, &rng);
            /* far finer than a row's weight, a thousandth of the peak, would have it: the rows fit exactly */
            assert_near(fit.x0, truth.x0, 1e-10);
            assert_near(fit.k / truth.k, 1.0, 1e-7);
            assert_near(fit.c, truth.c, 1e-6 * (law % FF_PROFILE_STEP ? truth.k / 0.05 : 2500.0));
            assert_true(fit.J < 1.0);
        }
}

/* [he2022, (24)]: half the damping at half the depth, all of it from there on. */
static void test_damping_grows_with_depth(void **unused) {
    (void)unused;
    const ff_profile e = {.law = FF_PROFILE_STEP, .k = 100.0, .c = 50.0, .depth = 0.5, .x0 = 1.0};
    assert_near(ff_profile_force(&e, 1.25, 2.0), 25.0 + 50.0, 1e-12);
    assert_near(ff_profile_force(&e, 1.5, 2.0), 50.0 + 100.0, 1e-12);
    assert_near(ff_profile_force(&e, 2.0, -0.5), 100.0 - 25.0, 1e-12);
}

static void test_misfit_tells_the_laws_apart(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    const ff_profile hertz = {.law = 1, .k = 7e6, .c = 7e6, .x0 = 0.01};
    const ff_profile right = fit_of(1, &hertz, 0.0, &rng), wrong = fit_of(0, &hertz, 0.0, &rng);
    assert_true(right.J < 0.5 * wrong.J - 10.0);
    const ff_profile linear = {.law = 0, .k = 2e5, .c = 1000.0, .x0 = 0.01};
    const ff_profile zero = fit_of(0, &linear, 0.0, &rng);
    for (int law = 1; law < FF_PROFILE_STEP; law++)
        assert_true(fit_of(law, &linear, 0.0, &rng).J > 0.5 * zero.J - 10.0);
}

/* Damping and offset look alike at constant speed; their errors must stay within the stated deviations. */
static void test_standard_deviations_hold_the_errors(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    const int count = test_count(200, 4000);
    double surface = 0.0;
    for (int i = 0; i < count; i++) {
        const ff_profile truth = {.law = 0, .k = 2e5, .c = 2500.0, .x0 = 0.01};
        const ff_profile fit = fit_of(0, &truth, 1.0, &rng);
        surface += (fit.x0 - truth.x0) * (fit.x0 - truth.x0) / (fit.sd_x0 * fit.sd_x0);
        assert_near(fit.k / truth.k, 1.0, 0.05);
    }
    print_message("mean square of the surface's error over its variance %.2f\n", surface / count);
    assert_true(surface / count < 2.0);
}

static void test_fit_without_a_row_behind_the_surface_fails(void **unused) {
    (void)unused;
    const double s[2] = {0.0, 0.1}, v[2] = {1, 1}, f[2] = {0, 0};
    const unsigned char use[2] = {1, 1};
    const ff_profile_in in = {
        .rows = 2, .s = s, .v = v, .f = f, .use = use, .lo = 0.0, .hi = 0.2, .noise = 1.0};
    ff_profile fit = {.k = 7.0};
    assert_false(fit_all(&in, 0, &fit));
    assert_true(fit.k == 7.0);
}

static void test_force_is_zero_outside_and_never_pulls(void **unused) {
    (void)unused;
    for (int law = 0; law < FF_PROFILE_LAWS; law++) {
        const ff_profile e = {.law = law, .k = 100.0, .c = 50.0, .depth = 0.5, .x0 = 1.0};
        assert_true(ff_profile_force(&e, 1.0, 5.0) == 0.0);
        assert_true(ff_profile_force(&e, 0.5, 5.0) == 0.0);
        assert_true(ff_profile_force(&e, 1.1, -1e3) == 0.0);
        if (law != FF_PROFILE_STEP)
            assert_near(ff_profile_force(&e, 1.16, 2.0),
                        law ? pow(0.16, ff_profile_exponent(law)) * 200.0 : 116.0, 1e-9);
    }
}

/* ------------------------------------------------------------------------- a surface that is known: k, c
 * alone -- */

typedef struct problem {
    double s[40], v[40], f[40];
    unsigned char use[40];
    ff_profile_in in;
    int law;
} problem;

/* What is to be least, straight from the rows. */
static double cost(const problem *p, double k, double c) {
    const double w = 1.0 / (p->in.noise * p->in.noise), K = p->in.prior_k;
    double sum = K > 0.0 ? (k / K - 1.0) * (k / K - 1.0) : 0.0;
    double aa = K > 0.0 ? 1.0 / (K * K) : 0.0, af = K > 0.0 ? 1.0 / K : 0.0;
    for (int i = 0; i < p->in.rows; i++) {
        if (!p->use[i])
            continue;
        const double d = p->s[i] - p->in.lo, a = pow(d, ff_profile_exponent(p->law)),
                     q = fmin(1.0, d / p->in.depth),
                     b = (p->law == 0                 ? 1.0
                          : p->law == FF_PROFILE_STEP ? q * q * (3.0 - 2.0 * q)
                                                      : a) *
                         p->v[i],
                     e = p->f[i] - k * a - c * b;
        sum += w * e * e;
        aa += w * a * a;
        af += w * a * p->f[i];
    }
    const double sd = p->in.speed > 0.0 ? 0.7 * fmax(af / aa, 1.0) / p->in.speed : FF_INF;
    return sum + (p->law % FF_PROFILE_STEP ? c * c / (sd * sd) : 0.0);
}

static void draw_problem(ff_rng *rng, int n, problem *p) {
    p->law = n % FF_PROFILE_LAWS;
    const bool still = n % 7 == 0;
    const double pull = n % 3 == 1 ? -1.0 : 1.0, brake = ff_rng_range(rng, -1.0, 3.0);
    p->in = (ff_profile_in){.rows = 40,
                            .s = p->s,
                            .v = p->v,
                            .f = p->f,
                            .use = p->use,
                            .lo = 0.5,
                            .hi = 0.5,
                            .noise = 0.5,
                            .speed = n % 4 ? 0.05 : 0.0,
                            .depth = 0.004,
                            .prior_k = n % 2 ? ff_rng_range(rng, 1e2, 1e5) : 0.0};
    for (int i = 0; i < 40; i++) {
        p->use[i] = ff_rng_uniform(rng) < 0.8;
        p->s[i] = p->use[i] ? 0.5 + ff_rng_range(rng, 1e-4, 0.01) : FF_NAN;
        p->v[i] = still ? 0.0 : ff_rng_range(rng, -0.05, 0.05);
        p->f[i] = pull * 1e4 * (p->s[i] - 0.5) * (1.0 + brake * p->v[i] * 10.0) + 0.5 * ff_rng_normal(rng);
    }
}

/* The fit is the least of a convex square over k >= 1 N/m, c >= 0: no step inside them lowers it. Its
 * standard deviations are those of the square's curvature, by differences. */
static void test_fit_is_the_least_square_inside_its_bounds(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    int bound = 0, undamped = 0;
    for (int n = 0; n < 420; n++) {
        problem p;
        draw_problem(&rng, n, &p);
        ff_profile fit = {0};
        assert_true(fit_all(&p.in, p.law, &fit));
        const double least = cost(&p, fit.k, fit.c);
        assert_true(fit.valid && fit.law == p.law && fit.depth == p.in.depth && fit.x0 == 0.5 &&
                    fit.sd_x0 == 0.0);
        assert_near(fit.J, least, 1e-9 * least + 1e-9);
        assert_true(fit.k >= 1.0 && fit.c >= 0.0 && fit.k_bound == (fit.k == 1.0));
        const double dk = 1e-3 * fmax(fit.k, 1e3), dc = 1e-3 * fmax(fit.c, 1e3);
        for (int way = 0; way < 9; way++) {
            const double k = fit.k + (way / 3 - 1) * dk, c = fit.c + (way % 3 - 1) * dc;
            if (k >= 1.0 && c >= 0.0)
                assert_true(cost(&p, k, c) >= least * (1.0 - 1e-9) - 1e-9);
        }
        /* half of the second derivatives of a square are exact differences, with any step */
        const double h = 1e6;
        const double aa = 0.5 * (cost(&p, h, 0) - 2.0 * cost(&p, 0, 0) + cost(&p, -h, 0)) / (h * h),
                     bb = 0.5 * (cost(&p, 0, h) - 2.0 * cost(&p, 0, 0) + cost(&p, 0, -h)) / (h * h),
                     ab = 0.5 * (cost(&p, h, h) - cost(&p, h, 0) - cost(&p, 0, h) + cost(&p, 0, 0)) / (h * h);
        if (n % 7 == 0 && !(p.law % FF_PROFILE_STEP && p.in.speed > 0.0)) {
            assert_true(fit.sd_k == FF_INF && fit.sd_c == FF_INF && fit.c == 0.0);
        } else {
            const double det = aa * bb - ab * ab;
            assert_near(fit.sd_k * fit.sd_k, bb / det, 1e-4 * bb / det);
            assert_near(fit.sd_c * fit.sd_c, aa / det, 1e-4 * aa / det);
        }
        bound += fit.k_bound;
        undamped += fit.c == 0.0;
    }
    assert_true(bound > 40 && undamped > 40);
}

/* A number that is not finite in a row behind the surface: no fit, and the one before stays. */
static void test_rows_that_are_not_finite_are_no_fit(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (int n = 0; n < 30; n++) {
        problem p;
        draw_problem(&rng, n, &p);
        p.use[3] = 1;
        double *const at[] = {p.s, p.v, p.f};
        for (int i = 0; i < 3; i++)
            at[i][3] = i ? 0.01 : 0.503;
        at[n / 5 % 3][3] = FF_NAN;
        ff_profile fit = {.k = 7.0};
        assert_false(fit_all(&p.in, p.law, &fit));
        assert_true(fit.k == 7.0 && !fit.valid);
    }
}

/* ---------------------------------------------------------------------------------------------- the search
 * -- */

/* Bought in pieces the search ends where it ends at once, to the bit; each piece costs what it says. */
static void test_search_in_pieces_is_the_same(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    for (int law = 0; law < FF_PROFILE_LAWS; law++) {
        const ff_profile truth = {.law = law, .k = 2e5, .c = 100.0, .depth = 0.001, .x0 = 0.0123};
        double s[ROWS], v[ROWS], f[ROWS];
        unsigned char use[ROWS];
        memset(use, 1, sizeof use);
        const int rows = contact_rows(&truth, 0.0, &rng, s, v, f);
        const ff_profile_in in = {.rows = rows,
                                  .s = s,
                                  .v = v,
                                  .f = f,
                                  .use = use,
                                  .lo = s[0],
                                  .hi = s[6],
                                  .noise = 0.1,
                                  .noise_least = 1e-4,
                                  .depth = 0.001,
                                  .speed = 0.05};
        ff_profile whole = {0}, part = {0};
        ff_profile_search search;
        int work = INT32_MAX;
        ff_profile_begin(&in, &search);
        assert_int_equal(ff_profile_continue(&in, law, &search, &work, &whole), FF_PROFILE_DONE);
        const int levels = search.level;
        int pieces = 0, edges = 0;
        for (int i = 0; i < rows; i++)
            edges += s[i] <= in.hi;
        ff_profile_begin(&in, &search);
        assert_true(search.level == 0 && search.lo == in.lo && search.hi == in.hi);
        for (ff_profile_progress is = FF_PROFILE_MORE; is == FF_PROFILE_MORE; pieces++) {
            work = 0; /* one level at least */
            is = ff_profile_continue(&in, law, &search, &work, &part);
            assert_int_equal(search.level, pieces + 1);
            /* two looks at each row, and for each point of the grid the rows near the surface, beyond law 0
             * all */
            assert_int_equal(work, -2 * rows - FF_PROFILE_GRID * (edges + (law ? rows : 0) + 4));
        }
        assert_true(pieces == levels && levels > 1);
        assert_memory_equal(&part, &whole, sizeof whole);
    }
}

/* Rows in front beyond 1024 do not count, and thinned rows of a law that holds give the same surface. */
static void test_many_rows(void **unused) {
    (void)unused;
    enum { FRONT = 1200, MANY = FRONT + 600 };
    static double s[MANY], v[MANY], f[MANY];
    static unsigned char use[MANY];
    for (int law = 0; law < FF_PROFILE_LAWS; law++) {
        const ff_profile truth = {.law = law, .k = 2e5, .c = 300.0, .depth = 0.002, .x0 = 0.0101};
        for (int i = 0; i < MANY; i++) {
            s[i] = i < FRONT ? 0.01 * i / FRONT : 0.0102 + 1e-5 * (i - FRONT);
            v[i] = 0.05 * cos(0.004 * i);
            f[i] = ff_profile_force(&truth, s[i], v[i]);
            use[i] = 1;
        }
        ff_profile_in in = {.rows = MANY,
                            .s = s,
                            .v = v,
                            .f = f,
                            .use = use,
                            .lo = 0.0099,
                            .hi = 0.01015,
                            .noise = 1.0,
                            .noise_least = 1e-3,
                            .depth = 0.002,
                            .speed = 0.05,
                            .thin = 50};
        ff_profile thin = {0}, all = {0};
        int work[2] = {INT32_MAX, INT32_MAX};
        ff_profile_search search;
        ff_profile_begin(&in, &search);
        assert_int_equal(ff_profile_continue(&in, law, &search, &work[0], &thin), FF_PROFILE_DONE);
        in.thin = MANY;
        ff_profile_begin(&in, &search);
        assert_int_equal(ff_profile_continue(&in, law, &search, &work[1], &all), FF_PROFILE_DONE);
        assert_near(thin.x0, truth.x0, 1e-7);
        assert_near(all.x0, truth.x0, 1e-7);
        assert_near(thin.k / all.k, 1.0, 1e-3);
        if (law)
            assert_true(INT32_MAX - work[0] < INT32_MAX - work[1]);
    }
}

/* A surface beyond either end of where it is looked for, by far or by a nanometre, is put at that end. */
static void test_surface_outside_the_search_is_at_its_end(void **unused) {
    (void)unused;
    for (int n = 0; n < 4; n++) {
        const int end = n % 2;
        const ff_profile truth = {.law = 0,
                                  .k = 2e5,
                                  .c = 0.0,
                                  .x0 = n < 2 ? 0.0
                                        : end ? -0.0004 + 1e-9
                                              : 5e-4 - 1e-9};
        double s[ROWS], v[ROWS], f[ROWS];
        unsigned char use[ROWS];
        for (int i = 0; i < ROWS; i++) {
            s[i] = -0.001 + 1e-4 * i;
            v[i] = 0.0; /* no damper that could stand in for the offset */
            f[i] = ff_profile_force(&truth, s[i], v[i]);
            use[i] = (unsigned char)(end ? i % 2 == 1 : s[i] > 4e-4);
        }
        const ff_profile_in in = {.rows = ROWS,
                                  .s = s,
                                  .v = v,
                                  .f = f,
                                  .use = use,
                                  .lo = end ? -0.0009 : 5e-4,
                                  .hi = end ? -0.0004 : 1e-3,
                                  .noise = 1e-2,
                                  .noise_least = 1e-5,
                                  .speed = 0.05};
        ff_profile fit = {0};
        assert_true(fit_all(&in, 0, &fit));
        assert_near(fit.x0, end ? in.hi : in.lo, n < 2 ? 1e-6 : 1e-9);
    }
}

/* Rows that fit better than their weight tell x0 better; unless it is not known how good a row is at best, or
 * there are fewer than six behind. */
static void test_exact_rows_sharpen_the_surface(void **unused) {
    (void)unused;
    const ff_profile truth = {.law = 0, .k = 2e5, .c = 500.0, .x0 = 0.00235}; /* between two rows */
    double sd[5];
    for (int kind = 0; kind < 5; kind++) {
        double s[ROWS], v[ROWS], f[ROWS];
        unsigned char use[ROWS];
        const bool few = kind >= 3;
        for (int i = 0; i < ROWS; i++) {
            s[i] = 1e-4 * i;
            v[i] = 0.05 * cos(0.02 * i);
            f[i] = ff_profile_force(&truth, s[i], v[i]);
            use[i] = !few || i < (kind == 3 ? 29 : 32); /* five or eight behind it */
        }
        const ff_profile_in in = {.rows = ROWS,
                                  .s = s,
                                  .v = v,
                                  .f = f,
                                  .use = use,
                                  .lo = 0.001,
                                  .hi = few ? 0.00255 : 0.0026,
                                  .noise = 0.1,
                                  .noise_least = (const double[]){0.001, 0.0, 0.1, 0.001, 0.001}[kind],
                                  .speed = 0.05};
        ff_profile fit = {0};
        assert_true(fit_all(&in, 0, &fit));
        assert_near(fit.x0, truth.x0, 3.0 * fit.sd_x0);
        sd[kind] = fit.sd_x0;
    }
    print_message("standard deviation of x0 %.3g %.3g %.3g %.3g %.3g m\n", sd[0], sd[1], sd[2], sd[3], sd[4]);
    /* a hundred times, as the noises are to each other, but for the grid */
    assert_near(sd[1] / sd[0], 100.0, 5.0);
    assert_true(sd[2] == sd[1] && sd[3] > 10.0 * sd[4]);
}

/* A sensor that is late and slow: the force of the rows, linear between them, delayed and low-passed in two
 * thousand steps a cycle. The fit through the model of that sensor finds the surface as if it had none.
 * Euler's step errs by T/lag/4000 of the change in a cycle, at most 2.5e-4 of the force. */
static void test_fit_through_a_sensor_that_is_late_and_slow(void **unused) {
    (void)unused;
    enum { FINE = 2000 };
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    for (int run = 0; run < 8; run++) {
        double s[ROWS], v[ROWS], f[ROWS], y[ROWS];
        unsigned char use[ROWS], gone[ROWS] = {0};
        memset(use, 1, sizeof use);
        const ff_profile truth = {.valid = true,
                                  .k = ff_rng_range(&rng, 6e4, 4e5),
                                  .c = ff_rng_range(&rng, 0, 2500),
                                  .x0 = ff_rng_range(&rng, 5e-4, 9e-4)};
        const int rows = contact_rows(&truth, 0.0, &rng, s, v, f);
        const double corner = run % 2 ? ff_rng_range(&rng, .2, 2) : 0.0, drawn = ff_rng_range(&rng, 0, 4);
        const double late = run % 2 ? floor(drawn) : drawn; /* what enters the low pass is linear, too */
        const ff_profile_channel channel = {
            .whole = (int)late, .part = late - (int)late, .corner = corner, .decay = exp(-corner)};
        double out = 0.0;
        for (int i = 0; i < rows; i++) {
            gone[i] = v[i] < 0.0 && f[i] <= 0.0;
            for (int j = 1; j <= FINE; j++) {
                const double at = i - 1 + (double)j / FINE - late, row = floor(at);
                const double f0 = row < 0 ? 0.0 : f[(int)row], f1 = row < -1 ? 0.0 : f[(int)row + (row < i)];
                const double x = f0 + (at - row) * (f1 - f0);
                out = corner > 0.0 ? out + corner / FINE * (x - out) : x;
            }
            y[i] = out;
        }
        double most = 0.0;
        for (int i = 0; i < rows; i++)
            most = fmax(most, y[i]);
        const ff_profile_in in = {.rows = rows,
                                  .s = s,
                                  .v = v,
                                  .f = y,
                                  .use = use,
                                  .lo = s[0],
                                  .hi = s[6],
                                  .noise = 1e-3 * most,
                                  .noise_least = 1e-6 * most,
                                  .speed = 0.05,
                                  .channel = &channel,
                                  .gone = gone};
        ff_profile fit = {0}, deaf = {0};
        assert_true(fit_all(&in, 0, &fit));
        const double rate = sqrt(truth.k * 200.0); /* of damping: 200 kg */
        assert_near(fit.k, truth.k, 2e-3 * truth.k);
        assert_near(fit.c, truth.c, 2e-3 * rate);
        ff_profile_in plain = in;
        plain.channel = NULL;
        assert_true(fit_all(&plain, 0, &deaf));
        if (late > 1.0) /* taken for a sensor of no delay it is a softer or less damped surface */
            assert_true(fabs(deaf.c - truth.c) + fabs(deaf.k - truth.k) / truth.k * rate > 0.02 * rate);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_through_a_sensor_that_is_late_and_slow),
        cmocka_unit_test(test_fit_finds_surface_stiffness_and_damping_of_each_law),
        cmocka_unit_test(test_damping_grows_with_depth),
        cmocka_unit_test(test_misfit_tells_the_laws_apart),
        cmocka_unit_test(test_standard_deviations_hold_the_errors),
        cmocka_unit_test(test_fit_without_a_row_behind_the_surface_fails),
        cmocka_unit_test(test_force_is_zero_outside_and_never_pulls),
        cmocka_unit_test(test_fit_is_the_least_square_inside_its_bounds),
        cmocka_unit_test(test_rows_that_are_not_finite_are_no_fit),
        cmocka_unit_test(test_search_in_pieces_is_the_same),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_surface_outside_the_search_is_at_its_end),
        cmocka_unit_test(test_exact_rows_sharpen_the_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
