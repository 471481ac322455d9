/* Sensors of the on-board software: rate, delay, seeded noise. */
#include "obsw/sensors.h"
#include "support.h"

#define CYCLE 0.004
enum { JOINTS = 3, ROWS = 20000 };

static ff_rigid_state client_at(double t) {
    return (ff_rigid_state){.position = {{1 + 0.1 * t, -2, 0.3 * t}},
                            .attitude = ff_quat_exp(ff_vec3_make(0.1 * t, 0.2, -0.05 * t)),
                            .velocity = {{0.1, 0, 0.3}},
                            .omega = {{0.02, -0.03, 0.01 * t}}};
}

static ff_rigid_state base_at(double t) {
    return (ff_rigid_state){.position = {{-3, 0.2 * t, 0}},
                            .attitude = ff_quat_exp(ff_vec3_make(0.3, -0.1 * t, 0.02 * t)),
                            .velocity = {{0, 0.2, 0}},
                            .omega = {{-0.04, 0.05 * t, 0.06}}};
}

static void joints_at(double t, double *q, double *qd) {
    for (int i = 0; i < JOINTS; i++) {
        q[i] = sin(t + i);
        qd[i] = cos(t + i);
    }
}

/* What perfect sensors say of the state at t. */
static void truth_at(double t, ff_obsw_in *in) {
    ff_obsw_sensors exact;
    const ff_navigation_config none = {0};
    const ff_rigid_state client = client_at(t), base = base_at(t);
    double q[JOINTS], qd[JOINTS];
    *in = (ff_obsw_in){0};
    joints_at(t, q, qd);
    assert_int_equal(ff_obsw_sensors_create(&none, CYCLE, JOINTS, 1, &exact), FF_OK);
    ff_obsw_sensors_step(&exact, t, &client, &base, q, qd, in);
    ff_obsw_sensors_free(&exact);
    assert_near(in->camera_t, t, 0);
}

static void step(ff_obsw_sensors *s, int k, ff_obsw_in *in) {
    const double t = k * CYCLE;
    const ff_rigid_state client = client_at(t), base = base_at(t);
    double q[JOINTS], qd[JOINTS];
    joints_at(t, q, qd);
    ff_obsw_sensors_step(s, t, &client, &base, q, qd, in);
}

/* The camera's values are the pose of the client in the base frame and its rates, base axes. */
static void test_values_are_those_of_the_relative_motion(void **state) {
    (void)state;
    const double t = 0.4, h = 1e-6;
    ff_obsw_in x, y;
    const ff_rigid_state client = client_at(t), base = base_at(t);
    truth_at(t, &x);
    const ff_vec3 p = ff_quat_unrotate(base.attitude, ff_vec3_sub(client.position, base.position));
    for (int i = 0; i < 3; i++)
        assert_near(x.client_position[i], p.a[i], 1e-14);
    const ff_vec3 wc = ff_quat_rotate(client.attitude, client.omega),
                  wb = ff_quat_rotate(base.attitude, base.omega);
    const ff_vec3 w = ff_quat_unrotate(base.attitude, ff_vec3_sub(wc, wb));
    /* the derivative of the position for states that move on with the velocities given */
    ff_rigid_state c2 = client, b2 = base;
    c2.position = ff_vec3_axpy(h, client.velocity, client.position);
    b2.position = ff_vec3_axpy(h, base.velocity, base.position);
    b2.attitude = ff_quat_mul(base.attitude, ff_quat_exp(ff_vec3_scale(h, base.omega)));
    const ff_vec3 p2 = ff_quat_unrotate(b2.attitude, ff_vec3_sub(c2.position, b2.position));
    for (int i = 0; i < 3; i++) {
        assert_near(x.client_angular_velocity[i], w.a[i], 1e-14);
        assert_near(x.client_velocity[i], (p2.a[i] - p.a[i]) / h, 1e-5);
        assert_near(x.angular_velocity[i], base.omega.a[i], 0);
    }
    assert_near(x.attitude[0], base.attitude.w, 0);
    truth_at(t, &y);
    assert_memory_equal(&x, &y, sizeof x);
}

/* Each sensor delivers in the first cycle at or after taken + delay exactly what was true then. */
static void test_delayed_sample_is_the_state_then(void **state) {
    (void)state;
    const ff_navigation_config c = {.rate = 10,
                                    .delay = 0.1234,
                                    .star_tracker_rate = 4,
                                    .star_tracker_delay = 0.5,
                                    .gyro_delay = 0.02,
                                    .encoder_rate = 60,
                                    .encoder_delay = 0.001};
    const double rate[4] = {10, 4, 250, 60}, delay[4] = {0.1234, 0.5, 0.02, 0.001};
    ff_obsw_sensors s;
    ff_obsw_in in = {0};
    assert_int_equal(ff_obsw_sensors_create(&c, CYCLE, JOINTS, 1, &s), FF_OK);
    double last[4] = {0}, longest[4] = {0};
    for (int k = 0; k <= 1000; k++) {
        const double t = k * CYCLE;
        ff_obsw_in then;
        step(&s, k, &in);
        const double taken[4] = {in.camera_t, in.star_tracker_t, in.gyro_t, in.encoder_t};
        for (int i = 0; i < 4; i++) {
            const double age = t - taken[i];
            /* not before its delay (but for the first), and not later than the next one could be there */
            assert_true(taken[i] == 0 || age >= delay[i] - 1e-9);
            assert_true(age <= delay[i] + 1 / rate[i] + CYCLE + 1e-9);
            assert_true(taken[i] >= last[i]);
            if (taken[i] > last[i] && last[i] > 0)
                longest[i] = fmax(longest[i], taken[i] - last[i]);
            last[i] = taken[i];
        }
        truth_at(in.camera_t, &then);
        assert_memory_equal(in.client_position, then.client_position, sizeof in.client_position);
        assert_memory_equal(in.client_attitude, then.client_attitude, sizeof in.client_attitude);
        assert_memory_equal(in.client_velocity, then.client_velocity, sizeof in.client_velocity);
        assert_memory_equal(in.client_angular_velocity, then.client_angular_velocity,
                            sizeof in.client_angular_velocity);
        truth_at(in.star_tracker_t, &then);
        assert_memory_equal(in.attitude, then.attitude, sizeof in.attitude);
        truth_at(in.gyro_t, &then);
        assert_memory_equal(in.angular_velocity, then.angular_velocity, sizeof in.angular_velocity);
        truth_at(in.encoder_t, &then);
        assert_memory_equal(in.q, then.q, sizeof in.q);
        assert_memory_equal(in.qd, then.qd, sizeof in.qd);
    }
    for (int i = 0; i < 4; i++) { /* each ran at its rate to the end */
        assert_true(longest[i] <= 1 / rate[i] + CYCLE + 1e-9);
        assert_true(last[i] >= 4.0 - delay[i] - 1 / rate[i] - CYCLE);
    }
    ff_obsw_sensors_free(&s);
}

/* A rate that the cycle does not divide keeps its mean: 30 Hz for 80 s are 2400 samples. */
static void test_rate_does_not_drift(void **state) {
    (void)state;
    const ff_navigation_config c = {.rate = 30};
    ff_obsw_sensors s;
    ff_obsw_in in = {0};
    int samples = 0;
    double last = -1;
    assert_int_equal(ff_obsw_sensors_create(&c, CYCLE, JOINTS, 1, &s), FF_OK);
    for (int k = 0; k < ROWS; k++) {
        step(&s, k, &in);
        samples += in.camera_t != last;
        last = in.camera_t;
    }
    assert_int_equal(samples, 2400);
    ff_obsw_sensors_free(&s);
}

typedef struct statistics {
    int n;
    double sum, square, most;
} statistics;

static void add(statistics *s, double x) {
    s->n++;
    s->sum += x;
    s->square += x * x;
    s->most = fmax(s->most, fabs(x));
}

/* Uniform of half width a: mean 0, sd a/sqrt(3), never beyond a; bounds are 5 sd of the estimate. */
static void judge(const statistics *s, double a) {
    const double sd = a / sqrt(3);
    assert_true(fabs(s->sum / s->n) < 5 * sd / sqrt(s->n));
    assert_true(fabs(s->square / s->n / (sd * sd) - 1) < 5 * sqrt(0.8 / s->n));
    assert_true(s->most <= a * (1 + 1e-9) && s->most > 0.99 * a);
}

static ff_vec3 turn_of(const double *measured, const double *truth) {
    const ff_quat m = {measured[0], measured[1], measured[2], measured[3]},
                  t = {truth[0], truth[1], truth[2], truth[3]};
    return ff_quat_log(ff_quat_mul(ff_quat_conj(t), m));
}

static void test_noise_has_its_statistics_and_its_seed(void **state) {
    (void)state;
    const ff_navigation_config c = {.position = 5e-3,
                                    .attitude = 3e-3,
                                    .velocity = 2e-3,
                                    .angular_rate = 1e-3,
                                    .star_tracker = 4e-4,
                                    .gyro = 3e-5,
                                    .encoder = 2e-4,
                                    .encoder_speed = 1e-2};
    ff_navigation_config without = c;
    ff_obsw_sensors s, again, other, quiet;
    without.position = without.attitude = without.velocity = without.angular_rate = 0;
    const uint64_t seed = test_seed();
    assert_int_equal(ff_obsw_sensors_create(&c, CYCLE, JOINTS, seed, &s), FF_OK);
    assert_int_equal(ff_obsw_sensors_create(&c, CYCLE, JOINTS, seed, &again), FF_OK);
    assert_int_equal(ff_obsw_sensors_create(&c, CYCLE, JOINTS, seed + 1, &other), FF_OK);
    assert_int_equal(ff_obsw_sensors_create(&without, CYCLE, JOINTS, seed, &quiet), FF_OK);
    statistics x[8] = {0};
    for (int k = 0; k < ROWS; k++) {
        ff_obsw_in a = {0}, b = {0}, o = {0}, n = {0}, truth;
        step(&s, k, &a);
        step(&again, k, &b);
        step(&other, k, &o);
        step(&quiet, k, &n);
        assert_memory_equal(&a, &b, sizeof a);
        assert_memory_not_equal(&a, &o, sizeof a);
        /* the camera's noise switched off: the others' stays the same */
        assert_memory_equal(a.attitude, n.attitude, sizeof a.attitude);
        assert_memory_equal(a.angular_velocity, n.angular_velocity, sizeof a.angular_velocity);
        assert_memory_equal(a.q, n.q, sizeof a.q);
        truth_at(k * CYCLE, &truth);
        const ff_vec3 camera = turn_of(a.client_attitude, truth.client_attitude),
                      star = turn_of(a.attitude, truth.attitude);
        for (int i = 0; i < 3; i++) {
            add(&x[0], a.client_position[i] - truth.client_position[i]);
            add(&x[1], camera.a[i]);
            add(&x[2], a.client_velocity[i] - truth.client_velocity[i]);
            add(&x[3], a.client_angular_velocity[i] - truth.client_angular_velocity[i]);
            add(&x[4], star.a[i]);
            add(&x[5], a.angular_velocity[i] - truth.angular_velocity[i]);
            add(&x[6], a.q[i] - truth.q[i]);
            add(&x[7], a.qd[i] - truth.qd[i]);
        }
    }
    const double width[8] = {c.position,     c.attitude, c.velocity, c.angular_rate,
                             c.star_tracker, c.gyro,     c.encoder,  c.encoder_speed};
    for (int i = 0; i < 8; i++)
        judge(&x[i], width[i]);
    ff_obsw_sensors_free(&s);
    ff_obsw_sensors_free(&again);
    ff_obsw_sensors_free(&other);
    ff_obsw_sensors_free(&quiet);
}

static void test_impossible_sensors_are_refused(void **state) {
    (void)state;
    ff_obsw_sensors s;
    const ff_navigation_config bad[] = {
        {.rate = -1}, {.delay = FF_INF}, {.gyro = FF_NAN}, {.encoder_delay = 1e9}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ff_obsw_sensors_create(&bad[i], CYCLE, JOINTS, 1, &s), FF_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_those_of_the_relative_motion),
        cmocka_unit_test(test_delayed_sample_is_the_state_then),
        cmocka_unit_test(test_rate_does_not_drift),
        cmocka_unit_test(test_noise_has_its_statistics_and_its_seed),
        cmocka_unit_test(test_impossible_sensors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
