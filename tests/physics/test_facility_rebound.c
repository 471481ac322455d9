/* The loop closed over the virtual facility: what each robot makes of one elastic rebound under `direct`.
 *
 * readings.md, laws: without compensation a rebound is multiplied by about exp(pi w tau/2); the newest
 * velocity in the position makes contact without delay lossless. A lag adds the phase of its own transfer
 * function. */
#include "unit/facility/plants.h"

#include "loop_support.h"

typedef struct rebound {
    double ratio; /* speed after over before */
    ff_vec3 v;    /* velocity after */
    double peak;  /* largest force on the robot [N] */
} rebound;

static void wall_scenario(ff_scenario *s, double delay) {
    make_scenario(s, 1);
    s->integrate = (ff_integrate_config){.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = s->cycle};
    test_methods(s, &ff_method_direct);
    ff_limiter_default(&s->satellite[0].limits);
    s->satellite[0].start.velocity = ff_vec3_make(0, 0, 0.02);
    s->satellite[0].robot.kind = FF_ROBOT_DELAY;
    s->satellite[0].robot.delay = delay;
    s->contacts = 1;
    s->contact[0] = make_wall(ff_vec3_zero(), ff_vec3_make(0, 0, 0.0101), ff_vec3_make(0, 0, -1), 2000, 0);
}

static rebound run(const ff_scenario *s) {
    static ff_loop_config config;
    TEST_LOOP_MODEL(model);
    TEST_LOOP_STATE(state);
    static ff_loop_info info;
    static ff_loop_in in;
    static ff_loop_out out;
    ff_scenario_loop(s, &config);
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_OK);
    test_loop_reset(model, state, &info, &out);
    ff_plant *plant = make_plant(s);
    ff_truth truth;
    rebound r = {0};
    bool touched = false;
    int away = 0;
    for (uint64_t k = 0; k < 5000 && away < 50; k++) {
        ff_plant_write(plant, k, out.next);
        assert_int_equal(ff_plant_read(plant, k, &in, &truth), FF_OK);
        in.load[0] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        ff_plant_write(plant, k, out.command);
        touched |= truth.touching[0];
        away = touched && !truth.touching[0] ? away + 1 : 0;
        r.peak = fmax(r.peak, ff_vec3_norm(truth.force[0]));
    }
    assert_true(away == 50);
    r.v = state->body[0].velocity;
    r.ratio = ff_vec3_norm(r.v) / ff_vec3_norm(s->satellite[0].start.velocity);
    ff_plant_free(plant);
    return r;
}

static void test_rebound_without_delay_is_lossless(void **state) {
    (void)state;
    ff_scenario s;
    wall_scenario(&s, 0.0);
    const rebound r = run(&s);
    /* the impact's phase in the cycle leaves (w T)^2/8 = 1e-5 */
    assert_vec3_near(r.v, ff_vec3_make(0, 0, -0.02), 0.02 * 5e-5);
    assert_near(r.peak / (0.02 * sqrt(2000.0 * 280.0)), 1.0, 1e-3);
}

static void test_rebound_grows_with_delay(void **state) {
    (void)state;
    const double w = sqrt(2000.0 / 280.0);
    for (int i = 1; i <= 7; i++) { /* up to w tau = 0.13, whole and fractional cycles */
        const double tau = 0.13 / w * i / 7.0;
        ff_scenario s;
        wall_scenario(&s, tau);
        const double law = exp(0.5 * FF_PI * w * tau), ratio = run(&s).ratio;
        print_message("delay %5.1f ms  w tau %.3f  rebound %.4f  law %.4f\n", 1e3 * tau, w * tau, ratio, law);
        assert_near(ratio / law, 1.0, 0.003);
    }
}

/* The continuous loop: satellite m x'' = -k y while y > 0, robot y'' = wn^2 (x - y) + 2 z wn (x' - y'), both
 * arriving with the same velocity. Fine Runge-Kutta steps; nothing shared with the plant. */
static void lag_rates(const double s[4], double w2, double wn, double z, double d[4]) {
    d[0] = s[1];
    d[1] = s[2] > 0.0 ? -w2 * s[2] : 0.0;
    d[2] = s[3];
    d[3] = wn * wn * (s[0] - s[2]) + 2 * z * wn * (s[1] - s[3]);
}

static double lag_truth(double w2, double wn, double z) {
    double s[4] = {0, 1, 0, 1};
    const double h = 1e-5;
    for (int n = 0; n < 1000000 && (n < 10 || s[2] > 0.0); n++) {
        double k[4][4], u[4];
        for (int j = 0; j < 4; j++) {
            const double c = j == 0 ? 0.0 : j == 3 ? h : 0.5 * h;
            for (int i = 0; i < 4; i++)
                u[i] = s[i] + (j ? c * k[j - 1][i] : 0.0);
            lag_rates(u, w2, wn, z, k[j]);
        }
        for (int i = 0; i < 4; i++)
            s[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    return -s[1];
}

/* The commanded velocity is the one that led to the commanded position, half a cycle old, and the lag feeds
 * it forward: the sampled loop differs from the continuous one by a term in T. Two cycles extrapolate it
 * away. */
static void test_rebound_of_lag_robots(void **state) {
    (void)state;
    const double w2 = 2000.0 / 280.0;
    const double frequency[] = {1.0, 2.0, 4.0, 10.0}, damping[] = {0.5, 1.0, 1.5};
    for (int f = 0; f < 4; f++)
        for (int z = 0; z < 3; z++) {
            double ratio[2];
            for (int i = 0; i < 2; i++) {
                ff_scenario s;
                wall_scenario(&s, 0.0);
                s.cycle = s.integrate.cycle = i ? 0.001 : 0.002;
                s.satellite[0].robot.kind = FF_ROBOT_LAG;
                s.satellite[0].robot.frequency = frequency[f];
                s.satellite[0].robot.damping = damping[z];
                ratio[i] = run(&s).ratio;
            }
            const double truth = lag_truth(w2, 2 * FF_PI * frequency[f], damping[z]);
            print_message("lag %4.1f Hz, damping %.1f: rebound %.5f at 2 ms, %.5f at 1 ms, continuous %.5f\n",
                          frequency[f], damping[z], ratio[0], ratio[1], truth);
            assert_near(2 * ratio[1] - ratio[0], truth, 5e-5);
        }
}

/* A robot whose limits do not bind is the delay robot; one that must brake late presses harder, as lange's
 * Fig. 6 shows. */
static void test_rebound_of_limited_robots(void **state) {
    (void)state;
    ff_scenario s;
    wall_scenario(&s, 0.020);
    const rebound plain = run(&s);
    s.satellite[0].robot.kind = FF_ROBOT_LIMITED;
    const double limit[] = {FF_INF, 1.0, 0.1, 0.05, 0.03};
    double last = 0.0;
    for (int i = 0; i < 5; i++) { /* the contact needs v w = 0.053 m/s2 */
        s.satellite[0].robot.acceleration = limit[i];
        const rebound r = run(&s);
        print_message("limited to %g m/s2: rebound %.4f, peak %.2f N (delay robot %.4f, %.2f N)\n", limit[i],
                      r.ratio, r.peak, plain.ratio, plain.peak);
        if (i == 0) {
            assert_near(r.ratio, plain.ratio, 1e-12);
            assert_near(r.peak, plain.peak, 1e-12);
        }
        assert_true(r.peak >= last * (1 - 1e-3));
        last = r.peak;
        s.satellite[0].robot.jerk = 10.0;
        const rebound j = run(&s);
        print_message("    and 10 m/s3:    rebound %.4f, peak %.2f N\n", j.ratio, j.peak);
        s.satellite[0].robot.jerk = FF_INF;
    }
    assert_true(last > 1.1 * plain.peak);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rebound_without_delay_is_lossless),
        cmocka_unit_test(test_rebound_grows_with_delay),
        cmocka_unit_test(test_rebound_of_lag_robots),
        cmocka_unit_test(test_rebound_of_limited_robots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
