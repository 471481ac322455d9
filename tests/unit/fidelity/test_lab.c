/* Methods against the satellites' own contact: tips on levers, bodies that turn, two bodies with a robot
 * each, friction, dampers that grow with depth, cones, noise, several contacts in a row, robots of different
 * delay, mock-ups that are not the satellites. */
#include "lab.h"

static ff_rng rng;
TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static lab l;

/* What a method may be off after contact, as part of the approach speed: impact, which knows the surfaces, by
 * the truth's own steps (lab_bound); fused besides by what its search leaves of place and stiffness (5e-5 of
 * the depth, test_fused_rows.c) and of friction (4e-4, twice the impulse). Else, where no such bound is
 * known, twice the worst of some hundred draws. */
static void judge(const ff_method *method, double allowed, double peak) {
    ff_loop_config config;
    lab_configure(&l, method, 0, &config);
    lab_run(&l, &config, model, state);
    if (!(l.error < allowed) || !(fabs(l.peak / l.peak_truth - 1.0) < peak))
        fail_msg("%s: off by %.2g of the approach (%.2g allowed), peak force %.4f of the truth", method->name,
                 l.error, allowed, l.peak / l.peak_truth);
}

static double stiff(void) {
    return ff_rng_range(&rng, 6, 12);
}

static void test_plane_in_space_and_on_a_body(void **unused) {
    (void)unused;
    for (int i = 0; i < 12; i++) {
        lab_plane(&l, &rng, 1 + i % 2, i % 4 < 2 ? 0.1 : 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        lab_ideal(&l, 0.004);
        if (i % 3 == 0)
            judge(&ff_method_tdpa, 1.2e-2, 0.6);
        judge(&ff_method_damping, 1.2e-2, 0.6);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
        judge(&ff_method_fused, lab_bound(&l) + 5e-5, 2e-3);
    }
}

static void test_friction(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        /* it slides throughout, on a plane in space or on body 1 */
        const ff_vec3 n = l.contact[0].against < 0 ? l.contact[0].normal
                                                   : ff_quat_rotate(l.start[1].attitude, l.contact[0].normal);
        const ff_vec3 t = ff_vec3_unit(ff_vec3_cross(n, test_random_vec3(&rng, 1)));
        l.start[0].velocity = ff_vec3_axpy(0.8 * l.approach, t, l.start[0].velocity);
        l.contact[0].friction = 0.05;
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
        judge(&ff_method_fused, lab_bound(&l) + 5e-5 + 2.0 * 4e-4, 2e-3);
    }
}

static void test_cone(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_cone(&l, &rng, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        lab_ideal(&l, 0.004);
        judge(&ff_method_damping, 3e-2, 0.6);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
        judge(&ff_method_fused, 8e-3, 2e-3);
    }
}

static void test_noise(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.5, 450);
        l.noise = 0.2;
        l.torque_noise = 0.01;
        lab_ideal(&l, 0.004);
        judge(&ff_method_damping, 2.5e-2, 0.6);
        judge(&ff_method_impact, lab_bound(&l), 1e-2);
        judge(&ff_method_fused, 1e-2, 1.5e-2);
    }
}

/* A known load brings the body back: three or four contacts. */
static void test_several_contacts(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        lab_plane(&l, &rng, 1, 0.1, ff_rng_range(&rng, 8, 12), i % 3 * 0.05, 0.3, 900);
        l.load = ff_vec3_scale(-1.2 * l.approach * l.rigid[0].mass, l.contact[0].normal);
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, 1.5e-2, 2e-3);
        judge(&ff_method_fused, 8e-3, 2e-3);
    }
}

static void test_damping_that_grows_with_depth(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 2 ? 0.05 : 0.1, 0.3, 450);
        l.contact[0].damping_depth = 0.002;
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
        judge(&ff_method_fused, 1.5e-3, 5e-2);
    }
}

static void test_delays_that_differ(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        lab_plane(&l, &rng, 2, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        l.delay[i % 2] = 3;
        l.delay[1 - i % 2] = 11;
        lab_ideal(&l, 0.004);
        judge(&ff_method_damping, 6e-3, 0.6);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
        judge(&ff_method_fused, lab_bound(&l) + 5e-5, 2e-3);
    }
}

/* impact: the satellites' contact is softer or harder than that of the mock-ups. */
static void test_mockups_that_are_not_the_satellites(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), 0.02, 0.3, 450);
        l.contact[0].stiffness *= i % 3 ? 2.0 : 0.7;
        l.contact[0].damping *= 1.5;
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, lab_bound(&l), 10.0);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 29);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane_in_space_and_on_a_body),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_cone),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_several_contacts),
        cmocka_unit_test(test_damping_that_grows_with_depth),
        cmocka_unit_test(test_delays_that_differ),
        cmocka_unit_test(test_mockups_that_are_not_the_satellites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
