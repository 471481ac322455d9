/* Contacts that are harder to render: surfaces that lie elsewhere than believed, strong friction, two tips
 * and corners, what impact is given (restitution, stiffness, no recomputation), long delays and short
 * memories. */
#include "lab.h"

static ff_rng rng;
TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static lab l;

static const char *names[12];
static double values[12];
static int given, variant;
static void set(const char *name, double value) {
    names[given] = name;
    values[given++] = value;
}

static void judge(const ff_method *method, double allowed, double peak) {
    ff_loop_config config;
    lab_configure(&l, method, variant, &config);
    for (int i = 0; i < given; i++)
        test_setting(&config, names[i], values[i]);
    lab_run(&l, &config, model, state);
    if (!(l.error < allowed) || !(fabs(l.peak / l.peak_truth - 1.0) < peak))
        fail_msg("%s: off by %.2g of the approach (%.2g allowed), peak force %.4f of the truth", method->name,
                 l.error, allowed, l.peak / l.peak_truth);
    given = variant = 0;
}

/* Where a method is outside its domain it still gives no energy: of all bodies together, against the truth's
 * beginning. */
static void judge_energy(const ff_method *method) {
    ff_loop_config config;
    lab_configure(&l, method, variant, &config);
    for (int i = 0; i < given; i++)
        test_setting(&config, names[i], values[i]);
    lab_run(&l, &config, model, state);
    double before = 0.0, after = 0.0;
    for (int i = 0; i < l.bodies; i++) {
        before += ff_rigid_kinetic_energy(&model->rigid[i], &l.start[i]);
        after += ff_rigid_kinetic_energy(&model->rigid[i], &l.end[i]);
    }
    if (!(after < before * (1.0 + 1e-3)))
        fail_msg("%s: %.5f of the energy before", method->name, after / before);
    given = variant = 0;
}

static double stiff(void) {
    return ff_rng_range(&rng, 6, 12);
}

static ff_vec3 normal_of(void) {
    const ff_world_contact *c = &l.contact[0];
    return c->against < 0 ? c->normal : ff_quat_rotate(l.start[c->against].attitude, c->normal);
}

static void test_surfaces_elsewhere(void **unused) {
    (void)unused;
    for (int i = 0; i < 8; i++) {
        if (i % 4 == 3)
            lab_cone(&l, &rng, 0.5, stiff(), i % 3 * 0.05, 0.4, 450);
        else
            lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.4, 450);
        l.shift = ff_vec3_axpy(i % 2 ? 4e-3 : -4e-3, l.contact[0].normal, test_random_vec3(&rng, 1e-3));
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, i % 4 == 3 ? 8e-2 : lab_bound(&l), 2e-3);
    }
}

static void test_surfaces_elsewhere_under_noise(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.5, 450);
        l.shift = ff_vec3_scale(ff_rng_range(&rng, -5e-3, 5e-3), l.contact[0].normal);
        l.noise = 0.3;
        l.torque_noise = 0.02;
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, lab_bound(&l), 1.5e-2);
    }
}

static void test_strong_friction(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        const ff_vec3 t = ff_vec3_unit(ff_vec3_cross(normal_of(), test_random_vec3(&rng, 1)));
        l.start[0].velocity = ff_vec3_axpy((i % 3) * 0.2 * l.approach, t, l.start[0].velocity);
        l.contact[0].friction = ff_rng_range(&rng, 0.1, 0.4);
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
        judge_energy(&ff_method_fused);
    }
}

/* Two tips on one plane: the second meets it while the first still touches, or just after. */
static void test_two_tips(void **unused) {
    (void)unused;
    for (int i = 0; i < 8; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.3, stiff(), i % 3 * 0.03, 0.3, 500);
        const ff_vec3 n = normal_of(), t = ff_vec3_unit(ff_vec3_cross(n, test_random_vec3(&rng, 1)));
        l.contacts = 2;
        l.contact[1] = l.contact[0];
        const ff_vec3 arm =
            ff_vec3_add(ff_quat_rotate(l.start[0].attitude, l.contact[0].point),
                        ff_vec3_axpy(ff_rng_range(&rng, 0.0, 2e-3), n, ff_vec3_scale(0.4, t)));
        l.contact[1].point = ff_quat_unrotate(l.start[0].attitude, arm);
        lab_ideal(&l, 0.004);
        /* the second tip is felt one delay and up to the cycle of its first sample late: meanwhile its spring
         * and damper leave k v t^3/6m and c v t^2/2m more of depth, of the peak's (w tau)^3/6 and z (w tau)^2
         */
        const double x = l.w * 9 * 0.004;
        judge(&ff_method_impact, 4e-3, x * x * x / 6.0 + l.z * x * x);
        judge_energy(&ff_method_fused);
    }
}

/* A second wall across the first, met by the same tip. */
static void test_corner(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1, 0.2, stiff(), i % 3 * 0.03, 0.3, 500);
        const ff_vec3 n = normal_of(), t = ff_vec3_unit(ff_vec3_cross(n, test_random_vec3(&rng, 1)));
        const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&l.start[0]), l.contact[0].point);
        const double away = ff_vec3_dot(ff_rigid_point_velocity(&l.start[0], l.contact[0].point), t),
                     speed = 0.6 * l.approach;
        l.start[0].velocity = ff_vec3_axpy(speed - away, t, l.start[0].velocity);
        l.contacts = 2;
        l.contact[1] = l.contact[0];
        l.contact[1].normal = ff_vec3_neg(t);
        l.contact[1].at = ff_vec3_axpy(speed * (0.3 + ff_rng_range(&rng, 0.05, 0.2)), t, tip);
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, 8e-4, 4e-2);
        judge_energy(&ff_method_fused);
    }
}

static void test_impact_is_given_a_restitution(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        const double z = ff_rng_range(&rng, 0.02, 0.2);
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), z, 0.3, 450);
        lab_ideal(&l, 0.004);
        l.contact[0].satellite_damping = 0.0; /* not what is used */
        set("restitution", ff_contact_restitution(z));
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
    }
}

static void test_impact_finds_the_stiffness(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), 0.02, 0.3, 450);
        lab_ideal(&l, 0.004);
        set("stiffness", FF_INF);
        set("guess", l.contact[0].stiffness * (i % 3 ? 1.4 : 0.7));
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
    }
}

static void test_impact_without_recomputation(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        lab_ideal(&l, 0.004);
        set("recomputation", 0);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
    }
}

static void test_impact_without_prediction(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        lab_ideal(&l, 0.004);
        set("prediction", 0);
        judge(&ff_method_impact, lab_bound(&l), 2e-3);
    }
}

static void test_impact_printed(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, stiff(), i % 3 * 0.05, 0.3, 450);
        lab_ideal(&l, 0.004);
        variant = 1;
        judge(&ff_method_impact, 4e-3, 0.25);
    }
}

static void test_long_delays(void **unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, 6, i % 3 * 0.05, 0.5, 600);
        l.delay[0] = l.delay[1] = 25;
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, lab_bound(&l), 1e-2);
        judge(&ff_method_fused, lab_bound(&l) + 5e-5, 1.5e-2);
    }
}

/* Pressed on for longer than the history: what the onset taught stands, the body comes to rest where the
 * spring bears the load, and the report says so. */
static void test_contacts_longer_than_the_history(void **unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        lab_plane(&l, &rng, 1, 0.1, ff_rng_range(&rng, 8, 12), 0.2, 0.3, 900);
        l.start[0].omega = ff_vec3_zero();
        l.load = ff_vec3_scale(-3.0 * l.approach * l.rigid[0].mass, l.contact[0].normal);
        lab_ideal(&l, 0.004);
        ff_loop_config config;
        lab_configure(&l, &ff_method_fused, 0, &config);
        test_setting(&config, "look_back", 0.5);
        lab_run(&l, &config, model, state);
        double report[FF_METHOD_VALUES];
        ff_loop_report(model, state, 0, report);
        const double outside = *ff_method_value(&ff_method_fused, false, report, "validity");
        ff_loop_report(model, state, -1, report);
        assert_true(*ff_method_value(&ff_method_fused, true, report, "look_back_reached") > 100.0);
        assert_near(outside, 8.0, 0.0); /* longer than the history, and nothing else */
        /* both swing out: exp(-z w t) of the approach is left after the three seconds, there and back */
        const double left = 4.0 * exp(-0.2 * 8.0 * 3.0),
                     rests = ff_vec3_norm(l.load) / l.contact[0].stiffness;
        if (!(l.error < left))
            fail_msg("off by %.2g of the approach, %.2g allowed", l.error, left);
        const ff_vec3 off = ff_vec3_sub(l.end[0].position, l.truth[0].position);
        assert_near(ff_vec3_dot(off, l.contact[0].normal) / rests, 0.0, left);
    }
}

/* Whatever the estimates say, the energy is not raised: they are drawn at random. */
static void test_random_estimates_give_no_energy(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.3, stiff(), i % 3 * 0.05, 0.3, 300);
        l.random = ff_rng_next(&rng) | 1u;
        l.noise = i < 3 ? 0.0 : 0.2;
        judge_energy(&ff_method_fused);
    }
}

/* A contact of ten cycles. */
static void test_hard_contacts(void **unused) {
    (void)unused;
    for (int i = 0; i < 6; i++) {
        lab_plane(&l, &rng, 1 + i % 2, 0.5, ff_rng_range(&rng, 50, 80), i % 3 * 0.05, 0.3, 200);
        lab_ideal(&l, 0.004);
        judge(&ff_method_impact, 5e-3, 6.0);
    }
}

static void test_damping_that_is_known(void **unused) {
    (void)unused;
    for (int i = 0; i < 8; i++) {
        const double z = i % 3 * 0.05;
        lab_plane(&l, &rng, 1 + i % 2, 0.1, stiff(), z, 0.3, 450);
        lab_ideal(&l, 0.004);
        set("known.stiffness", l.contact[0].stiffness);
        set("known.damping", l.contact[0].damping);
        judge(&ff_method_damping, 1.2e-2, 0.6);
        set("known.stiffness", l.contact[0].stiffness);
        judge(&ff_method_damping, 1.2e-2, 0.6);
        for (int budget = 1; budget < 3; budget++) {
            set("known.stiffness", l.contact[0].stiffness);
            set("known.damping", l.contact[0].damping);
            set("budget", budget);
            judge(&ff_method_damping, 0.12, 0.6);
        }
        for (int c = 0; c < 2; c++) { /* printed: along the force, and on each axis */
            variant = 1;
            set("axes", c);
            judge(&ff_method_damping, 0.9, 0.7);
        }
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 43);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_surfaces_elsewhere),
        cmocka_unit_test(test_surfaces_elsewhere_under_noise),
        cmocka_unit_test(test_strong_friction),
        cmocka_unit_test(test_two_tips),
        cmocka_unit_test(test_corner),
        cmocka_unit_test(test_impact_is_given_a_restitution),
        cmocka_unit_test(test_impact_finds_the_stiffness),
        cmocka_unit_test(test_impact_without_recomputation),
        cmocka_unit_test(test_impact_without_prediction),
        cmocka_unit_test(test_impact_printed),
        cmocka_unit_test(test_long_delays),
        cmocka_unit_test(test_contacts_longer_than_the_history),
        cmocka_unit_test(test_random_estimates_give_no_energy),
        cmocka_unit_test(test_hard_contacts),
        cmocka_unit_test(test_damping_that_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
