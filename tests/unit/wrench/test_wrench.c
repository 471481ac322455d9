/* lib/wrench: frames and mock-up, each with a case that a wrong sign fails. */
#include "support.h"

#include "freefloat/wrench.h"

/* A unit force on each axis at a lever arm, seen by a turned sensor: the wrench at the CoM is r x f and f. */
static void test_lever_arm_on_six_axes(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 100; n++) {
        ff_wrench_config config;
        ff_wrench_default(&config);
        config.T_bs = test_random_pose(&rng, 0.5);
        for (int a = 0; a < 6; a++) {
            ff_wrench_in in = {.T_wb = test_random_pose(&rng, 2)};
            *(a < 3 ? &in.f_s.f.a[a] : &in.f_s.t.a[a - 3]) = 1.0;
            ff_wrench got;
            assert_int_equal(ff_wrench_condition(&config, &in, &got), FF_OK);
            const ff_vec3 f = ff_quat_rotate(config.T_bs.q, in.f_s.f);
            assert_vec3_near(got.f, f, 1e-15);
            assert_vec3_near(
                got.t, ff_vec3_add(ff_quat_rotate(config.T_bs.q, in.f_s.t), ff_vec3_cross(config.T_bs.p, f)),
                1e-14);
        }
    }
    /* by hand: sensor 1 m along x, turned 90 deg about z; a force along its x is along body y and turns about
     * +z */
    ff_wrench_config config;
    ff_wrench_default(&config);
    config.T_bs = (ff_pose){ff_quat_exp(ff_vec3_make(0, 0, FF_PI / 2)), {{1, 0, 0}}};
    const ff_wrench_in in = {.f_s = {.f = {{2, 0, 0}}}, .T_wb = ff_pose_identity()};
    ff_wrench got;
    ff_wrench_condition(&config, &in, &got);
    assert_vec3_near(got.f, ff_vec3_make(0, 2, 0), 1e-15);
    assert_vec3_near(got.t, ff_vec3_make(0, 0, 2), 1e-15);
}

static void test_environment_mount_follows_the_robot(void **state) {
    (void)state;
    ff_wrench_config config;
    ff_wrench_default(&config);
    config.environment = true;
    config.T_ws = (ff_pose){ff_quat_identity(), {{2, 0, 0}}};
    /* body at (1, -1, 0) turned 90 deg about z: a lab force along x at (2, 0, 0) is body -y at body (1, -1,
     * 0) */
    const ff_wrench_in in = {.f_s = {.f = {{3, 0, 0}}},
                             .T_wb = {ff_quat_exp(ff_vec3_make(0, 0, FF_PI / 2)), {{1, -1, 0}}}};
    ff_wrench got;
    ff_wrench_condition(&config, &in, &got);
    assert_vec3_near(got.f, ff_vec3_make(0, -3, 0), 1e-14);
    assert_vec3_near(got.t, ff_vec3_make(0, 0, -3), 1e-14);
}

/* Weight alone: the sensor reads m g at the mock-up's CoM; what remains is the bias-free contact wrench. */
static void test_mockup_weight_and_inertia(void **state) {
    (void)state;
    ff_wrench_config config;
    ff_wrench_default(&config);
    config.mockup_mass = 10;
    config.mockup_com_b = ff_vec3_make(0.2, 0, 0);
    config.mockup_inertia = ff_mat3_diag(1, 2, 3);
    config.gravity_w = ff_vec3_make(0, 0, -9.81);
    ff_wrench_in in = {.f_s = {.t = {{0, 0.2 * 98.1, 0}}, .f = {{0, 0, -98.1}}}, .T_wb = ff_pose_identity()};
    ff_wrench got;
    assert_int_equal(ff_wrench_condition(&config, &in, &got), FF_OK);
    assert_vec3_near(got.f, ff_vec3_zero(), 1e-12);
    assert_vec3_near(got.t, ff_vec3_zero(), 1e-12);
    /* upward acceleration of 1 m/s2 adds -10 N; an angular one about z adds -3 N m and -10 (0.2) N along y */
    in = (ff_wrench_in){.T_wb = ff_pose_identity(), .acceleration = {.w = {{0, 0, 1}}, .v = {{0, 0, 1}}}};
    config.gravity_w = ff_vec3_zero();
    const ff_wrench w = ff_wrench_mockup(&config, &in);
    assert_vec3_near(w.f, ff_vec3_make(0, -2, -10), 1e-12);
    assert_vec3_near(w.t, ff_vec3_make(0, 2, -3 - 0.4), 1e-12);
    /* spinning about x with inertia diag: centripetal force towards the axis pulls outwards on the sensor */
    in = (ff_wrench_in){.T_wb = ff_pose_identity(), .twist = {.w = {{0, 0, 2}}}};
    assert_vec3_near(ff_wrench_mockup(&config, &in).f, ff_vec3_make(10 * 4 * 0.2, 0, 0), 1e-12);
}

static void test_statuses(void **state) {
    (void)state;
    ff_wrench_config config;
    ff_wrench_default(&config);
    assert_int_equal(ff_wrench_validate(&config), FF_OK);
    config.mockup_mass = -1;
    assert_int_equal(ff_wrench_validate(&config), FF_ERR_ARGUMENT);
    config.mockup_mass = 0;
    config.gravity_w.x = FF_NAN;
    assert_int_equal(ff_wrench_validate(&config), FF_ERR_NOT_FINITE);
    ff_wrench_default(&config);
    config.force_limit = 10;
    config.max_age = 0.1;
    config.bias_s.f.x = 1;
    ff_wrench got = {.f = {{7, 7, 7}}};
    ff_wrench_in in = {.f_s = {.f = {{FF_NAN, 0, 0}}}, .T_wb = ff_pose_identity()};
    assert_int_equal(ff_wrench_condition(&config, &in, &got), FF_ERR_NOT_FINITE);
    in.f_s.f.x = 10;
    assert_int_equal(ff_wrench_condition(&config, &in, &got), FF_INFO_SATURATED);
    in.f_s.f.x = 3;
    in.age = 0.2;
    assert_int_equal(ff_wrench_condition(&config, &in, &got), FF_INFO_STALE);
    assert_near(got.f.x, 7, 0);
    in.age = 0;
    assert_int_equal(ff_wrench_condition(&config, &in, &got), FF_OK);
    assert_near(got.f.x, 2, 0);
}

/* Each number of the configuration and of a sample that is not finite, or a limit that is none, is refused,
 * and the last wrench stays. */
static void test_every_bad_number_is_refused(void **state) {
    (void)state;
    for (int k = 0; k < 36; k++) {
        ff_wrench_config c;
        ff_wrench_default(&c);
        double *at[] = {&c.T_bs.q.w,       &c.T_bs.q.x,      &c.T_bs.q.y,    &c.T_bs.q.z,
                        &c.T_bs.p.x,       &c.T_bs.p.y,      &c.T_bs.p.z,    &c.T_ws.q.w,
                        &c.T_ws.q.x,       &c.T_ws.q.y,      &c.T_ws.q.z,    &c.T_ws.p.x,
                        &c.T_ws.p.y,       &c.T_ws.p.z,      &c.bias_s.f.x,  &c.bias_s.f.y,
                        &c.bias_s.f.z,     &c.bias_s.t.x,    &c.bias_s.t.y,  &c.bias_s.t.z,
                        &c.gravity_w.x,    &c.gravity_w.y,   &c.gravity_w.z, &c.mockup_com_b.x,
                        &c.mockup_com_b.y, &c.mockup_com_b.z};
        double *const bad = k < 26   ? at[k]
                            : k < 35 ? &c.mockup_inertia.m[(k - 26) / 3][(k - 26) % 3]
                                     : &c.mockup_mass;
        *bad = k % 2 && k < 35 ? FF_NAN : FF_INF;
        assert_int_equal(ff_wrench_validate(&c), FF_ERR_NOT_FINITE);
    }
    for (int k = 0; k < 4; k++)
        for (int b = 0; b < 3; b++) {
            ff_wrench_config c;
            ff_wrench_default(&c);
            double *at[] = {&c.mockup_mass, &c.force_limit, &c.torque_limit, &c.max_age};
            *at[k] = (const double[]){-1e-9, FF_NAN, 0.0}[b];
            const bool zero_may_be = b == 2 && (k == 0 || k == 3);
            assert_int_equal(ff_wrench_validate(&c), zero_may_be ? FF_OK : FF_ERR_ARGUMENT);
        }
    for (int k = 0; k < 26; k++)
        for (int heavy = 0; heavy < 2; heavy++) {
            ff_wrench_config c;
            ff_wrench_default(&c);
            c.mockup_mass = heavy;
            ff_wrench_in in = {.T_wb = ff_pose_identity()};
            double *at[] = {
                &in.f_s.f.x,          &in.f_s.f.y,          &in.f_s.f.z,          &in.f_s.t.x,
                &in.f_s.t.y,          &in.f_s.t.z,          &in.T_wb.q.w,         &in.T_wb.q.x,
                &in.T_wb.q.y,         &in.T_wb.q.z,         &in.T_wb.p.x,         &in.T_wb.p.y,
                &in.T_wb.p.z,         &in.twist.w.x,        &in.twist.w.y,        &in.twist.w.z,
                &in.twist.v.x,        &in.twist.v.y,        &in.twist.v.z,        &in.age,
                &in.acceleration.w.x, &in.acceleration.w.y, &in.acceleration.w.z, &in.acceleration.v.x,
                &in.acceleration.v.y, &in.acceleration.v.z};
            *at[k] = k == 19 || k % 2 ? FF_NAN : -FF_INF;
            ff_wrench got = {.f = {{7, 7, 7}}};
            /* without a mock-up its acceleration is not asked */
            const ff_status status = ff_wrench_condition(&c, &in, &got);
            assert_int_equal(status, k >= 20 && !heavy ? FF_OK : FF_ERR_NOT_FINITE);
            assert_near(got.f.x, status == FF_OK ? 0 : 7, 0);
        }
    /* each of the six readings at its limit, from both sides */
    for (int a = 0; a < 6; a++)
        for (int side = -1; side <= 1; side += 2) {
            ff_wrench_config c;
            ff_wrench_default(&c);
            c.force_limit = 10;
            c.torque_limit = 2;
            const double limit = a < 3 ? 10 : 2;
            ff_wrench_in in = {.T_wb = ff_pose_identity()};
            double *at = a < 3 ? &in.f_s.f.a[a] : &in.f_s.t.a[a - 3];
            ff_wrench got;
            *at = side * limit;
            assert_int_equal(ff_wrench_condition(&c, &in, &got), FF_INFO_SATURATED);
            *at = side * limit * (1 - 1e-12);
            assert_int_equal(ff_wrench_condition(&c, &in, &got), FF_OK);
        }
    /* a sensor in the environment does not carry the mock-up; a sample as old as it may be is fresh */
    ff_wrench_config c;
    ff_wrench_default(&c);
    c.environment = true;
    c.mockup_mass = 5;
    c.gravity_w = ff_vec3_make(0, 0, -9.81);
    c.max_age = 0.1;
    const ff_wrench_in in = {.f_s = {.f = {{1, 2, 3}}}, .T_wb = ff_pose_identity(), .age = 0.1};
    ff_wrench got;
    assert_int_equal(ff_wrench_condition(&c, &in, &got), FF_OK);
    assert_vec3_near(got.f, ff_vec3_make(1, 2, 3), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lever_arm_on_six_axes),
        cmocka_unit_test(test_environment_mount_follows_the_robot),
        cmocka_unit_test(test_mockup_weight_and_inertia),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_every_bad_number_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
