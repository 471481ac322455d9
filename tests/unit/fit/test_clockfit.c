/* The clocks' fit: drift and offset under jitter, outliers, steps; and the other robot's pose at the pacing
 * robot's time. */
#include "support.h"

#include "fit/clockfit.h"

static const ff_clockfit_config *config(void) {
    static ff_clockfit_config c;
    c = ff_clockfit_default();
    return &c;
}

/* Packets every 4 ms of the device, evenly scattered by +-jitter, a part of them lost or very late. Returns
 * the fit after `seconds`; truth: local = device (1 + drift) + offset. */
static ff_clockfit_state feed(ff_rng *rng, double drift, double offset, double jitter, double seconds,
                              double lost, double late) {
    ff_clockfit_state s;
    ff_clockfit_reset(&s);
    for (uint64_t k = 0; 0.004 * (double)k < seconds; k++) {
        const double stamp = 0.004 * (double)k;
        double local = stamp * (1.0 + drift) + offset + jitter * (2.0 * ff_rng_uniform(rng) - 1.0);
        if (ff_rng_uniform(rng) < lost)
            continue;
        if (ff_rng_uniform(rng) < late)
            local += 0.05 * ff_rng_uniform(rng);
        ff_clockfit_add(config(), &s, stamp, local);
    }
    return s;
}

static void test_noiseless_clock_is_exact(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, 1, 1);
    const double drift[] = {0.0, 200e-6, -150e-6};
    for (int i = 0; i < 3; i++) {
        const ff_clockfit_state s = feed(&rng, drift[i], 123.25, 0.0, 20.0, 0.0, 0.0);
        assert_true(fabs(s.rate - drift[i]) < 1e-9);
        assert_true(fabs(ff_clockfit_local(&s, 20.0) - (20.0 * (1.0 + drift[i]) + 123.25)) < 1e-9);
        assert_true(fabs(s.residual) < 1e-9);
        assert_true(ff_clockfit_ppm(&s) * drift[i] >= 0.0); /* a slow local clock would have the other sign */
    }
}

/* A line through n points over time t with scatter sd has its end known to 2 sd/sqrt(n), its slope to
 * sqrt(12) sd/(t sqrt(n)). Held to five times that, over random drifts: the fit forgets, and learns its own
 * scatter. */
static void test_drift_and_offset_under_jitter(void **state) {
    (void)state;
    const uint64_t seed = 20261115;
    ff_rng rng;
    ff_rng_seed(&rng, seed, 2);
    const int runs = test_count(40, 1000);
    double worst_ppm = 0.0, worst_us = 0.0;
    for (int run = 0; run < runs; run++) {
        const double drift = 300e-6 * (2.0 * ff_rng_uniform(&rng) - 1.0), t = 60.0, jitter = 0.002;
        const double offset = 1e3 * ff_rng_uniform(&rng), sd = jitter / sqrt(3.0), n = t / 0.004;
        const ff_clockfit_state s = feed(&rng, drift, offset, jitter, t, 0.01, 0.0);
        const double ppm = 1e6 * fabs(s.rate - drift),
                     at = fabs(ff_clockfit_local(&s, t) - (t * (1.0 + drift) + offset));
        worst_ppm = fmax(worst_ppm, ppm);
        worst_us = fmax(worst_us, 1e6 * at);
        assert_true(ppm < 5.0 * 1e6 * sqrt(12.0) * sd / (t * sqrt(n)));
        assert_true(at < 5.0 * 2.0 * sd / sqrt(n));
        assert_true(fabs(ff_clockfit_rms(&s) / sd - 1.0) < 0.1); /* the residual shown is the jitter */
    }
    print_message("seed %llu, %d runs of 60 s, +-2 ms: drift within %.2f ppm, offset within %.0f us\n",
                  (unsigned long long)seed, runs, worst_ppm, worst_us);
}

/* 2 % of the packets are up to 50 ms late: their pull is that of the clip, no more. */
static void test_late_packets_hardly_pull(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, 3, 3);
    const ff_clockfit_state s = feed(&rng, 100e-6, 5.0, 0.0001, 60.0, 0.0, 0.02);
    const double sd = 0.0001 / sqrt(3.0);
    assert_true(fabs(ff_clockfit_local(&s, 60.0) - (60.0 * (1.0 + 100e-6) + 5.0)) < sd);
    assert_true(fabs(s.rate - 100e-6) < 2e-6);
    assert_int_equal(s.restarts, 0);
}

static void test_a_clock_that_was_set_is_fitted_anew(void **state) {
    (void)state;
    ff_clockfit_state s;
    ff_clockfit_reset(&s);
    for (int k = 0; k < 5000; k++)
        ff_clockfit_add(config(), &s, 0.004 * k, 0.004 * k + (k < 2500 ? 1.0 : 1.5));
    assert_int_equal(s.restarts, 1);
    assert_true(fabs(s.offset - 1.5) < 1e-6);
}

static void test_stamps_that_do_not_grow_change_nothing(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, 4, 4);
    ff_clockfit_state s = feed(&rng, 0.0, 1.0, 0.001, 1.0, 0.0, 0.0);
    const ff_clockfit_state before = s;
    ff_clockfit_add(config(), &s, before.stamp, 99.0);
    ff_clockfit_add(config(), &s, before.stamp - 1.0, 99.0);
    ff_clockfit_add(config(), &s, before.stamp + 1.0, FF_NAN);
    assert_memory_equal(&s, &before, sizeof s);
}

/* Very late packets, one in three: never enough of them in a row for a clock that was set. */
static void test_very_late_packets_do_not_begin_anew(void **state) {
    (void)state;
    ff_clockfit_state s;
    ff_clockfit_reset(&s);
    for (int k = 0; k < 3000; k++)
        ff_clockfit_add(config(), &s, 0.004 * k, 0.004 * k + (k % 3 == 1 ? 1.2 : 1.0));
    assert_int_equal(s.restarts, 0);
    int after = 0;
    for (; s.restarts == 0 && after < 100; after++)
        ff_clockfit_add(config(), &s, 12.0 + 0.004 * after, 14.0 + 0.004 * after);
    assert_int_equal(after, config()->patience);
}

/* A rate that changes after minutes is followed within one: the fit does not become blind. */
static void test_a_rate_that_changes_is_followed(void **state) {
    (void)state;
    ff_clockfit_state s;
    ff_clockfit_reset(&s);
    double local = 7.0;
    for (int k = 0; k < 65000; k++, local += 0.004 * (1.0 + (k < 50000 ? 100e-6 : 105e-6)))
        ff_clockfit_add(config(), &s, 0.004 * k, local);
    assert_near(ff_clockfit_ppm(&s), 105.0, 0.1);
    assert_near(ff_clockfit_local(&s, 0.004 * 65000), local, 1e-6);
}

/* Used only from the 50th packet on, and the largest residual reported is of that time. */
static void test_ready_and_largest_residual(void **state) {
    (void)state;
    ff_clockfit_state s;
    ff_clockfit_reset(&s);
    for (int k = 0; k < 1000; k++) {
        assert_int_equal(ff_clockfit_ready(config(), &s), k >= 50);
        ff_clockfit_add(config(), &s, 0.004 * k, 0.004 * k + (k == 20 ? 0.05 : 0.0));
    }
    assert_true(s.largest < 0.002);
    ff_clockfit_add(config(), &s, 4.0, 4.03);
    assert_near(s.largest, 0.03, 1e-4);
    ff_clockfit_add(config(), &s, 4.004, 4.004 - 0.04);
    assert_near(s.largest, 0.04, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noiseless_clock_is_exact),
        cmocka_unit_test(test_drift_and_offset_under_jitter),
        cmocka_unit_test(test_late_packets_hardly_pull),
        cmocka_unit_test(test_a_clock_that_was_set_is_fitted_anew),
        cmocka_unit_test(test_stamps_that_do_not_grow_change_nothing),
        cmocka_unit_test(test_very_late_packets_do_not_begin_anew),
        cmocka_unit_test(test_a_rate_that_changes_is_followed),
        cmocka_unit_test(test_ready_and_largest_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
