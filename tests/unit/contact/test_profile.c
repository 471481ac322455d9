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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit_finds_surface_stiffness_and_damping_of_each_law),
        cmocka_unit_test(test_damping_grows_with_depth),
        cmocka_unit_test(test_misfit_tells_the_laws_apart),
        cmocka_unit_test(test_standard_deviations_hold_the_errors),
        cmocka_unit_test(test_fit_without_a_row_behind_the_surface_fails),
        cmocka_unit_test(test_force_is_zero_outside_and_never_pulls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
