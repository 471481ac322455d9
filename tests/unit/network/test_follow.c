/* The other robot's pose at the pacing robot's time, and its commands at its own. */
#include "support.h"

#include "network/follow.h"

static const double T = 0.004;

/* Telegrams at the device's k T, which are k T (1 + drift) + offset of ours, of a motion given in our time.
 */
static ff_follow feed(double drift, double offset, int count, ff_pose (*motion)(double t)) {
    const ff_clockfit_config config = ff_clockfit_default();
    ff_follow f = {0};
    for (int k = 0; k < count; k++) {
        const double local = k * T * (1.0 + drift) + offset;
        ff_follow_add(&config, &f, k * T, local, motion(local));
    }
    return f;
}

static ff_pose parabola(double t) {
    const ff_quat first = ff_quat_exp(ff_vec3_make(1.0, 0.5, -0.7)); /* the rates are of the body's axes */
    return (ff_pose){ff_quat_mul(first, ff_quat_exp(ff_vec3_scale(t, ff_vec3_make(0.1, -0.2, 0.3)))),
                     ff_vec3_make(1.0 + 0.5 * t, -0.2 * t + 3.0 * t * t, 0.4 - 2.0 * t * t)};
}

static ff_pose cubic(double t) {
    return (ff_pose){ff_quat_identity(), ff_vec3_make(2.0 * t * t * t, 0.0, 0.0)};
}

/* A parabola and a steady rotation are met exactly, before and after the newest telegram. */
static void test_parabola_and_steady_rotation_are_exact(void **state) {
    (void)state;
    const ff_follow f = feed(200e-6, 0.5, 2000, parabola);
    const double newest = ff_follow_time(&f);
    for (double h = -2.0 * T; h <= 1.5 * T; h += 0.1 * T) {
        const ff_pose at = ff_follow_at(&f, T, newest + h), want = parabola(newest + h);
        assert_vec3_near(at.p, want.p, 1e-9);
        assert_true(ff_quat_angle(at.q, want.q) < 1e-9);
    }
    const ff_pose at = ff_follow_at(&f, T, newest);
    assert_memory_equal(&at, &f.T[0], sizeof at);
}

/* p''' = 12 m/s3: the error is h (h + T) (h + 2 T) 12/6, with its sign. */
static void test_cubic_is_off_by_its_remainder(void **state) {
    (void)state;
    const ff_follow f = feed(0.0, 0.0, 500, cubic);
    for (double h = -2.0; h <= 1.5; h += 0.25) {
        const double t = ff_follow_time(&f) + h * T;
        const double error = cubic(t).p.x - ff_follow_at(&f, T, t).p.x;
        assert_near(error, 2.0 * T * T * T * h * (h + 1.0) * (h + 2.0), 1e-12);
    }
}

/* One telegram is a place, two are a line: what is not known yet counts for nothing. */
static void test_the_first_telegrams(void **state) {
    (void)state;
    const ff_follow one = feed(0.0, 0.0, 1, parabola), two = feed(0.0, 0.0, 2, parabola);
    assert_vec3_near(ff_follow_at(&one, T, ff_follow_time(&one) + T).p, parabola(0.0).p, 0.0);
    const double newest = ff_follow_time(&two);
    const ff_vec3 a = parabola(0.0).p, b = parabola(T).p;
    for (double h = -1.0; h <= 3.0; h += 0.5)
        assert_vec3_near(ff_follow_at(&two, T, newest + h * T).p, ff_vec3_axpy(h, ff_vec3_sub(b, a), b),
                         1e-12);
}

static void test_long_silence_goes_straight(void **state) {
    (void)state;
    const ff_follow f = feed(0.0, 0.0, 500, cubic);
    const double t = ff_follow_time(&f);
    const double a = ff_follow_at(&f, T, t + 3.0 * T).p.x, b = ff_follow_at(&f, T, t + 4.0 * T).p.x,
                 c = ff_follow_at(&f, T, t + 5.0 * T).p.x;
    assert_near(c - b, b - a, 1e-12);
    assert_true(b > a);
}

/* Beyond 1.5 cycles the slope at 1.5 cycles is kept, exactly. */
static void test_straight_on_has_the_last_slope(void **state) {
    (void)state;
    const ff_follow f = feed(0.0, 0.0, 500, parabola);
    const double newest = ff_follow_time(&f), t = newest + 1.5 * T;
    const ff_vec3 slope = ff_vec3_make(0.5, -0.2 + 6.0 * t, -4.0 * t);
    for (double h = 0.0; h < 4.0 * T; h += 0.3 * T)
        assert_vec3_near(ff_follow_at(&f, T, t + h).p, ff_vec3_axpy(h, slope, parabola(t).p), 1e-9);
}

/* A controller whose clock was set: what was before it is of another time, and no slope is made of it. */
static void test_a_clock_that_was_set_forgets_the_poses(void **state) {
    (void)state;
    const ff_clockfit_config config = ff_clockfit_default();
    ff_follow f = {0};
    int k = 0;
    for (; k < 500; k++)
        ff_follow_add(&config, &f, k * T, k * T, parabola(k * T));
    for (; f.fit.restarts == 0 && k < 1000; k++)
        ff_follow_add(&config, &f, k * T, k * T + 0.5, parabola(k * T + 0.5));
    assert_int_equal(f.fit.restarts, 1);
    assert_int_equal(f.count, 1);
    const ff_pose newest = f.T[0], at = ff_follow_at(&f, T, ff_follow_time(&f) + T);
    assert_memory_equal(&at, &newest, sizeof at);
}

/* Any pose and twist: along the velocity, turned about the body's own axes. */
static void test_commands_ahead_of_any_motion(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    for (int n = 0; n < 200; n++) {
        const ff_setpoint now = {test_random_pose(&rng, 1.0),
                                 {test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)}};
        const double dt = ff_rng_range(&rng, -10.0 * T, 10.0 * T);
        const ff_setpoint c = ff_follow_along(&now, dt);
        assert_vec3_near(c.T.p, ff_vec3_axpy(dt, now.twist.v, now.T.p), 1e-14);
        assert_vec3_near(ff_quat_log(ff_quat_mul(ff_quat_conj(now.T.q), c.T.q)),
                         ff_vec3_scale(dt, now.twist.w), 1e-12);
        assert_memory_equal(&c.twist, &now.twist, sizeof c.twist);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parabola_and_steady_rotation_are_exact),
        cmocka_unit_test(test_cubic_is_off_by_its_remainder),
        cmocka_unit_test(test_the_first_telegrams),
        cmocka_unit_test(test_long_silence_goes_straight),
        cmocka_unit_test(test_straight_on_has_the_last_slope),
        cmocka_unit_test(test_a_clock_that_was_set_forgets_the_poses),
        cmocka_unit_test(test_commands_ahead_of_any_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
