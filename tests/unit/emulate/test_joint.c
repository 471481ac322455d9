/* [aghili, Appendix E]: one flexible joint, both schemes, against the arm simulated directly. */
#include "support.h"

#include "emulate/emulate.h"

static ff_emulate_result run_joint(const ff_emulate_joint *joint) {
    ff_emulate_result r;
    char message[200] = "", warnings[400];
    const ff_status status =
        ff_emulate_joint_run(joint, &r, message, sizeof message, warnings, sizeof warnings);
    if (status != FF_OK)
        fail_msg("%s: %s", ff_status_name(status), message);
    return r;
}

static void test_both_schemes_equal_the_direct_arm(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 2; scheme++) {
        ff_emulate_joint joint;
        ff_emulate_joint_default(&joint);
        joint.emulation.scheme = scheme ? FF_EMULATION_FREE : FF_EMULATION_CONSTRAINED;
        ff_emulate_result r = run_joint(&joint);
        print_message(
            "%s: contact %.6f s (direct %.6f), peak %.4f N, f(15 s) %.6f N, pose %.2g rad, motor %.2g, force "
            "%.2g N, |f - lambda| %.2g N, constraint %.2g rad, energy %.2g J\n",
            scheme ? "free" : "constrained", r.contact_s, r.contact_direct_s, r.peak_force, r.final_force,
            r.pose_error, r.state_error, r.contact_error, r.force_error, r.constraint, r.energy_error);
        assert_int_equal(r.samples, 15001);
        assert_near(r.contact_s, 0.3949, 0.00006);
        assert_near(r.contact_s, r.contact_direct_s, 1e-9);
        assert_near(r.peak_force, 27.14, 0.05);
        assert_near(r.final_force, -1.6665, 0.0002);
        assert_true(r.pose_error <= 1e-8);
        assert_true(r.state_error <= 1e-8);
        assert_true(r.contact_error <= 1e-6);
        assert_true(r.force_error <= 1e-6);
        assert_true(fabs(r.constraint) <= 1e-8);
        assert_true(r.energy_error <= 1e-8);
        ff_emulate_free(&r);
    }
}

static void test_gravity_model_error_shows_where_the_scheme_says(void **state) {
    (void)state;
    ff_emulate_joint joint;
    ff_emulate_joint_default(&joint);
    joint.gravity_model_error = -0.1;
    joint.emulation.scheme = FF_EMULATION_FREE;
    ff_emulate_result r = run_joint(&joint);
    print_message("free: constraint %.5g rad\n", r.samples ? r.sample[r.samples - 1].constraint[0] : 0.0);
    assert_near(r.sample[r.samples - 1].constraint[0], -9.80e-3, 0.01 * 9.80e-3);
    assert_near(r.constraint, -9.80e-3, 0.03 * 9.80e-3);
    ff_emulate_free(&r);

    joint.emulation.scheme = FF_EMULATION_CONSTRAINED;
    joint.emulation.drift_compensation = false;
    r = run_joint(&joint);
    const ff_emulate_sample *last = &r.sample[r.samples - 1];
    print_message("constrained, drift off: |f - lambda| %.5g N, at the end %.5g N\n", r.force_error,
                  last->f[0] - last->lambda[0]);
    assert_near(r.force_error, 0.1667, 0.001667);
    assert_near(last->f[0] - last->lambda[0], 0.1633, 0.001633); /* the sign of (28) */
    assert_true(fabs(r.constraint) <= 1e-12);
    ff_emulate_free(&r);

    /* With (11) the error decays: Z(0) = 0. */
    joint.emulation.drift_compensation = true;
    r = run_joint(&joint);
    last = &r.sample[r.samples - 1];
    assert_near(last->f[0] - last->lambda[0], 0.0, 1e-4);
    ff_emulate_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_schemes_equal_the_direct_arm),
        cmocka_unit_test(test_gravity_model_error_shows_where_the_scheme_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
