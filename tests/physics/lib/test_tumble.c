/* Free rotation [destefano2019, (2)]: the schemes against a converged reference, and what each conserves. */
#include "support.h"

#include "freefloat/integrate.h"

static ff_rigid_model body(double a, double b, double c) {
    const ff_rigid_config config = {.mass = 30, .inertia = ff_mat3_diag(a, b, c)};
    ff_rigid_model model;
    assert_int_equal(ff_rigid_create(&config, &model), FF_OK);
    return model;
}

static ff_rigid_state tumble(const ff_rigid_model *model, ff_scheme scheme, double T, double duration,
                             double *energy, double *momentum) {
    const ff_integrate_config config = {.scheme = scheme, .cycle = T};
    const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}};
    ff_rigid_state s = {.attitude = ff_quat_identity(), .omega = {{.2, .3, .4}}};
    ff_integrate_state state;
    ff_integrate_out out;
    ff_integrate_reset(&s, &state);
    const double H = ff_rigid_kinetic_energy(model, &s);
    const ff_vec3 L = ff_rigid_angular_momentum(model, &s);
    *energy = *momentum = 0.0;
    for (long k = 0; k < lround(duration / T); k++) {
        ff_integrate_step(&config, model, none, none, &s, &state, &out);
        *energy = fmax(*energy, fabs(ff_rigid_kinetic_energy(model, &s) / H - 1.0));
        *momentum = fmax(*momentum, ff_vec3_norm(ff_vec3_sub(ff_rigid_angular_momentum(model, &s), L)) /
                                        ff_vec3_norm(L));
    }
    return s;
}

/* readings.md: w(50 s) = (-.231836, -.255448, .413821) for I = (18, 20, 22), w0 = (.2, .3, .4). */
static void test_tumble_rate_after_50_s(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    const ff_vec3 expect = {{-.231836, -.255448, .413821}};
    double energy, momentum;
    for (int i = 0; i < 2; i++) {
        const ff_scheme scheme = i ? FF_SCHEME_SPLITTING : FF_SCHEME_LIE_MIDPOINT;
        const ff_rigid_state s = tumble(&model, scheme, 1e-3, 50.0, &energy, &momentum);
        print_message("%s: w = %.7f %.7f %.7f\n", ff_scheme_name(scheme), s.omega.x, s.omega.y, s.omega.z);
        assert_vec3_near(s.omega, expect, 1e-6);
    }
}

/* readings.md: at T = 0.1 the midpoint rule holds the energy 1e4 times and the attitude 890 times better than
 * Euler. */
static void test_midpoint_beats_euler(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    double exact_e, exact_m, euler_e, euler_m, lie_e, lie_m;
    const ff_rigid_state exact = tumble(&model, FF_SCHEME_SPLITTING, 1e-4, 50.0, &exact_e, &exact_m);
    const ff_rigid_state euler = tumble(&model, FF_SCHEME_EULER, 0.1, 50.0, &euler_e, &euler_m);
    const ff_rigid_state lie = tumble(&model, FF_SCHEME_LIE_MIDPOINT, 0.1, 50.0, &lie_e, &lie_m);
    const double ratio =
        ff_quat_angle(euler.attitude, exact.attitude) / ff_quat_angle(lie.attitude, exact.attitude);
    print_message("energy: euler %.3g, lie %.3g; attitude ratio %.0f\n", euler_e, lie_e, ratio);
    assert_true(euler_e / lie_e > 1e3);
    assert_true(ratio > 300);
}

/* An hour at 4 ms: the splitting scheme's errors stay bounded, with no trend between the halves. */
static void test_splitting_hour_has_no_trend(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    double half_e, half_m, energy, momentum;
    const double hour = test_long() ? 3600.0 : 360.0;
    tumble(&model, FF_SCHEME_SPLITTING, 0.004, 0.5 * hour, &half_e, &half_m);
    tumble(&model, FF_SCHEME_SPLITTING, 0.004, hour, &energy, &momentum);
    print_message("energy %.3g (first half %.3g), |L| %.3g (first half %.3g)\n", energy, half_e, momentum,
                  half_m);
    assert_true(energy < 1e-6 && momentum < 1e-6);
    assert_true(energy < 1.05 * half_e); /* the largest error of the second half is that of the first */
}

/* Both schemes are of second order: halving T divides the error by four. Inertia with products, any axes. */
static void test_order_two_with_products_of_inertia(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 5; n++) {
        const ff_quat q = test_random_quat(&rng);
        const ff_mat3 R = ff_quat_to_mat3(q);
        const ff_rigid_config config = {
            .mass = 30,
            .inertia = ff_mat3_mul(R, ff_mat3_mul(ff_mat3_diag(18, 20, 25), ff_mat3_transpose(R)))};
        ff_rigid_config symmetric = config;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < i; j++)
                symmetric.inertia.m[i][j] = symmetric.inertia.m[j][i];
        ff_rigid_model model;
        assert_int_equal(ff_rigid_create(&symmetric, &model), FF_OK);
        double e, m;
        const ff_rigid_state exact = tumble(&model, FF_SCHEME_SPLITTING, 2e-5, 2.0, &e, &m);
        for (int i = 0; i < 2; i++) {
            const ff_scheme scheme = i ? FF_SCHEME_SPLITTING : FF_SCHEME_LIE_MIDPOINT;
            const ff_rigid_state a = tumble(&model, scheme, 0.04, 2.0, &e, &m);
            const ff_rigid_state b = tumble(&model, scheme, 0.02, 2.0, &e, &m);
            const double ea = ff_vec3_norm(ff_vec3_sub(a.omega, exact.omega)),
                         eb = ff_vec3_norm(ff_vec3_sub(b.omega, exact.omega));
            assert_true(ea / eb > 3.6 && ea / eb < 4.4);
            const double qa = ff_quat_angle(a.attitude, exact.attitude),
                         qb = ff_quat_angle(b.attitude, exact.attitude);
            assert_true(qa / qb > 3.4 && qa / qb < 4.6);
        }
    }
}

/* A constant load for a cycle is exact in translation; torque about a principal axis is exact in rotation. */
static void test_constant_load_is_exact(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}}, load = {{{6, -3, 1}}, {{0, 0, 0.5}}};
    for (int i = 0; i < 2; i++) {
        const ff_integrate_config config = {.scheme = i ? FF_SCHEME_SPLITTING : FF_SCHEME_LIE_MIDPOINT,
                                            .cycle = 0.1};
        ff_rigid_state s = {.attitude = ff_quat_identity(), .velocity = {{.1, .2, .3}}};
        ff_integrate_state st;
        ff_integrate_out out;
        ff_integrate_reset(&s, &st);
        for (int k = 0; k < 50; k++)
            ff_integrate_step(&config, &model, none, load, &s, &st, &out);
        const double t = 5.0, v0[3] = {.1, .2, .3};
        for (int a = 0; a < 3; a++)
            assert_near(s.position.a[a], v0[a] * t + load.force.a[a] / 30 * t * t / 2, 1e-12);
        assert_near(ff_quat_log(s.attitude).z, 0.5 / 22 * t * t / 2, 1e-12);
    }
}

/* destefano2019 II-B and V: 30 kg, 6 N on [5, 10) and 12 N on [32, 37): Euler drifts by T dv/2, passive does
 * not. */
static void test_euler_drift_and_passive_integrator(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    for (int i = 0; i < 2; i++) {
        const double T = i ? 0.01 : 0.1;
        double drift[2][2];
        for (int p = 0; p < 2; p++) {
            const ff_integrate_config config = {.scheme = p ? FF_SCHEME_PASSIVE : FF_SCHEME_EULER,
                                                .cycle = T};
            ff_rigid_state s = {.attitude = ff_quat_identity()};
            ff_integrate_state st;
            ff_integrate_out out;
            ff_integrate_reset(&s, &st);
            for (long k = 0; k < lround(50.0 / T); k++) {
                const double t = (double)k * T + 1e-9;
                const double f = t >= 5 && t < 10 ? 6.0 : t >= 32 && t < 37 ? 12.0 : 0.0;
                const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}}, load = {{{f, 0, 0}}, {{0, 0, 0}}};
                if (k == lround(32.0 / T)) /* 1 m/s since 10 s, 2.5 m before */
                    drift[p][0] = s.position.x - (2.5 + 22.0);
                ff_integrate_step(&config, &model, none, load, &s, &st, &out);
            }
            drift[p][1] = s.position.x - (2.5 + 22.0 + 1.0 * 5 + 0.5 * 0.4 * 25 + 3.0 * 13);
        }
        print_message("T = %g: Euler %.5f %.5f m, passive %.2g %.2g m\n", T, drift[0][0], drift[0][1],
                      drift[1][0], drift[1][1]);
        assert_near(drift[0][0], 0.5 * T, 1e-9);
        assert_near(drift[0][1], 1.5 * T, 1e-9);
        assert_near(drift[1][0], 0.0, 1e-9);
        assert_near(drift[1][1], 0.0, 1e-9);
    }
}

/* (32) as printed: the output correction in free motion grows as 1/T, 0.55 rad/s at 4 ms; chi = torque gives
 * none. */
static void test_passive_rotation_printed_and_working(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}};
    for (int printed = 0; printed < 2; printed++) {
        double size[2];
        for (int i = 0; i < 2; i++) {
            const ff_integrate_config config = {
                .scheme = FF_SCHEME_PASSIVE, .cycle = i ? 0.002 : 0.004, .passive_printed = printed};
            ff_rigid_state s = {.attitude = ff_quat_identity(), .omega = {{.01, .02, .03}}};
            ff_integrate_state st;
            ff_integrate_out out;
            ff_integrate_reset(&s, &st);
            ff_integrate_step(&config, &model, none, none, &s, &st, &out);
            size[i] = ff_vec3_norm(ff_vec3_sub(s.omega, st.omega_c));
        }
        print_message("printed %d: %.4f rad/s at 4 ms, %.4f at 2 ms\n", printed, size[0], size[1]);
        if (printed) {
            assert_near(size[0], 0.55, 0.01);
            assert_near(size[1] / size[0], 2.0, 0.01);
        } else {
            assert_near(size[0], 0.0, 0.0);
        }
    }
    /* with a torque the correction is T I^-1 tau/2, of order 1e-4 */
    const ff_integrate_config config = {.scheme = FF_SCHEME_PASSIVE, .cycle = 0.004};
    ff_rigid_state s = {.attitude = ff_quat_identity()};
    ff_integrate_state st;
    ff_integrate_out out;
    ff_integrate_reset(&s, &st);
    const ff_rigid_load torque = {{{0, 0, 0}}, {{0, 0, 1.0}}};
    ff_integrate_step(&config, &model, torque, none, &s, &st, &out);
    assert_near(s.omega.z - st.omega_c.z, 0.5 * 0.004 / 22, 1e-12);
}

/* Every scheme books its energy: change of kinetic energy = contact + loads + scheme, random wrenches. */
static void test_step_energy_closes(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    const ff_rigid_model model = body(18, 20, 22);
    for (int n = 0; n < 2000; n++) {
        const ff_integrate_config config = {.scheme = (ff_scheme)(n % 4),
                                            .cycle = ff_rng_range(&rng, 1e-3, 0.1)};
        ff_rigid_state s = {.attitude = test_random_quat(&rng),
                            .velocity = test_random_vec3(&rng, 1),
                            .omega = test_random_vec3(&rng, 1)};
        const ff_rigid_load contact = {test_random_vec3(&rng, 50), test_random_vec3(&rng, 20)};
        const ff_rigid_load loads = {test_random_vec3(&rng, 50), test_random_vec3(&rng, 20)};
        ff_integrate_state st;
        ff_integrate_out out;
        ff_integrate_reset(&s, &st);
        const double before = ff_rigid_kinetic_energy(&model, &s);
        const double power = ff_rigid_power(contact, s.velocity, s.omega);
        ff_integrate_step(&config, &model, contact, loads, &s, &st, &out);
        assert_near(out.contact, config.cycle * power, 1e-12);
        assert_near(ff_rigid_kinetic_energy(&model, &s) - before, out.contact + out.loads + out.scheme,
                    1e-11);
    }
}

static void test_coast_returns_and_matches(void **state) {
    (void)state;
    const ff_rigid_model model = body(18, 20, 22);
    const ff_rigid_state start = {
        .attitude = ff_quat_identity(), .velocity = {{.1, 0, 0}}, .omega = {{.2, .3, .4}}};
    ff_rigid_state s = start;
    ff_integrate_coast(&model, 0.5, 1e-3, &s);
    assert_near(s.position.x, 0.05, 1e-15);
    ff_integrate_coast(&model, -0.5, 1e-3, &s);
    assert_vec3_near(s.omega, start.omega, 1e-9);
    assert_near(ff_quat_angle(s.attitude, start.attitude), 0.0, 1e-8);
}

static void test_validation(void **state) {
    (void)state;
    ff_integrate_config config = {.scheme = FF_SCHEME_EULER, .cycle = 0.0};
    assert_int_equal(ff_integrate_validate(&config), FF_ERR_ARGUMENT);
    config.cycle = FF_NAN;
    assert_int_equal(ff_integrate_validate(&config), FF_ERR_ARGUMENT);
    config.cycle = 1e-3;
    assert_int_equal(ff_integrate_validate(&config), FF_OK);
    config.scheme = (ff_scheme)17;
    assert_int_equal(ff_integrate_validate(&config), FF_ERR_ARGUMENT);
    assert_string_equal(ff_scheme_name(FF_SCHEME_SPLITTING), "splitting");
    ff_rigid_model model;
    ff_rigid_config rigid = {.mass = 0, .inertia = ff_mat3_identity()};
    assert_int_equal(ff_rigid_create(&rigid, &model), FF_ERR_MASS);
    rigid.mass = FF_NAN;
    assert_int_equal(ff_rigid_create(&rigid, &model), FF_ERR_NOT_FINITE);
    rigid.mass = 1;
    rigid.inertia = ff_mat3_diag(1, 1, 2.1);
    assert_int_equal(ff_rigid_create(&rigid, &model), FF_ERR_INERTIA);
    rigid.inertia = ff_mat3_diag(1, 1, 2.0);
    assert_int_equal(ff_rigid_create(&rigid, &model), FF_OK);
    rigid.inertia.m[0][1] = 0.1;
    assert_int_equal(ff_rigid_create(&rigid, &model), FF_ERR_INERTIA);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumble_rate_after_50_s),
        cmocka_unit_test(test_midpoint_beats_euler),
        cmocka_unit_test(test_splitting_hour_has_no_trend),
        cmocka_unit_test(test_order_two_with_products_of_inertia),
        cmocka_unit_test(test_constant_load_is_exact),
        cmocka_unit_test(test_euler_drift_and_passive_integrator),
        cmocka_unit_test(test_passive_rotation_printed_and_working),
        cmocka_unit_test(test_step_energy_closes),
        cmocka_unit_test(test_coast_returns_and_matches),
        cmocka_unit_test(test_validation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
