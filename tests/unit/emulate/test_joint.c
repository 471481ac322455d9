/* [aghili, Appendix E]: one flexible joint, both schemes, against the arm simulated directly. */
#include "support.h"

#include "emulate/bounds.h"
#include "emulate/emulate.h"

/* [aghili, Appendix E]; c_s, the gains, the wall and the torque are not printed there:
 * docs/methods/aghili.md names them. */
static void set_appendix_e(ff_emulate_joint *joint) {
    *joint = (ff_emulate_joint){.target = {.link_inertia = 0.05,
                                           .drive_inertia = 0.1,
                                           .length = 0.3,
                                           .stiffness = 3.0,
                                           .damping = 0.1,
                                           .drive_friction = 0.022},
                                .robot_inertia = 0.05,
                                .robot_friction = 0.022,
                                .gravity_torque = 0.5,
                                .actuator_bandwidth = FF_INF,
                                .torque_limit = FF_INF,
                                .seed = 1,
                                .torque = 0.5,
                                .wall_at = 0.06,
                                .wall_stiffness = 1e4,
                                .wall_damping = 20.0,
                                .duration = 15.0,
                                .cycle = 0.001};
    ff_emulation_default(&joint->emulation);
}

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
        set_appendix_e(&joint);
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

/* Theorem 1: the constraint stays inside a ball of |p_r'|max/(k l^2), in angles over l, which the run reports
 * from its own largest speed; and Appendix A has no bound for an inertia that does not change. */
static void test_clik_stays_in_its_ball(void **state) {
    (void)state;
    double last = FF_INF;
    for (int k = 0; k < 2; k++) {
        ff_emulate_joint joint;
        set_appendix_e(&joint);
        joint.duration = 1.0;
        joint.emulation.consistency = FF_CONSISTENCY_CLIK;
        joint.emulation.clik_gain = k ? 8000.0 : 2000.0;
        ff_emulate_result r = run_joint(&joint);
        double speed =
            0.0; /* by differences; it is largest at the impact, where they are late by T: below 1 % */
        for (size_t i = 2; i < r.samples; i++)
            speed = fmax(speed, fabs(r.sample[i].p_r[0] - r.sample[i - 2].p_r[0]) / 0.002);
        const double ball = speed * 0.3 / (joint.emulation.clik_gain * 0.09) / 0.3;
        assert_near(r.clik_bound, ball, 1e-2 * ball);
        assert_true(fabs(r.constraint) <= r.clik_bound && fabs(r.constraint) > 0.5 * r.clik_bound);
        assert_true(isinf(r.force_gain_bound));
        assert_true(k == 0 || fabs(r.constraint) < 0.3 * last);
        last = fabs(r.constraint);
        ff_emulate_free(&r);
    }
}

/* Two coordinates whose Cartesian inertia is R diag(2 + q, 5) R^T and whose Jacobian has the singular values
 * 3 and 0.5: M = J^T R diag R^T J. */
static const double turn = 0.7;
static void two_terms(const ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                      ff_mechanism_terms *out) {
    (void)self, (void)v, (void)part;
    const double c = cos(turn), s = sin(turn), a = 2.0 + q[0], b = 5.0;
    const double L[2][2] = {{c * c * a + s * s * b, c * s * (a - b)},
                            {c * s * (a - b), s * s * a + c * c * b}};
    const double J[2][2] = {{3.0 * cos(0.4), -0.5 * sin(0.4)}, {3.0 * sin(0.4), 0.5 * cos(0.4)}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            out->J[2 * i + k] = J[i][k];
            out->M[2 * i + k] = 0.0;
            for (int x = 0; x < 2; x++)
                for (int y = 0; y < 2; y++)
                    out->M[2 * i + k] += J[x][i] * L[x][y] * J[y][k];
        }
}

/* Appendix A: only an inertia that grows bounds the gain, and the fastest growth of the run does, in whatever
 * direction; Theorem 1: the largest speed over k times the least eigenvalue of J J^T. */
static void test_bounds_of_a_known_inertia(void **state) {
    (void)state;
    const ff_mechanism two = {.dof = 2, .positions = 2, .task = 2, .terms = two_terms};
    ff_emulation_config config;
    ff_emulation_default(&config);
    config.velocity_gain = 7.0;
    config.clik_gain = 40.0;
    static ff_emulation_work work;
    ff_emulate_bounds b = {0};
    assert_true(isnan(ff_emulate_bounds_ball(&b, &config)));
    const double q[][2] = {{0.0, 0}, {-0.3, 0}, {-0.2, 0}, {0.2, 0}, {0.25, 0}};
    const double speed[][2] = {{0.1, 0}, {0.3, 0.4}, {0, 0.2}, {0, 0}, {-0.1, 0.1}};
    const double expected[] = {FF_INF, FF_INF, 14.0 * 0.01 / 0.1, 14.0 * 0.01 / 0.4, 14.0 * 0.01 / 0.4};
    for (int k = 0; k < 5; k++) {
        ff_emulate_bounds_see(&b, &config, &two, q[k], speed[k], 0.01, &work);
        if (isinf(expected[k]))
            assert_true(isinf(b.force_gain) || b.force_gain > 1e9); /* rounding of a rate that is zero */
        else
            assert_near(b.force_gain, expected[k], 1e-9 * expected[k]);
    }
    assert_near(ff_emulate_bounds_ball(&b, &config), 0.5 / (40.0 * 0.25), 1e-12);
}

static void test_gravity_model_error_shows_where_the_scheme_says(void **state) {
    (void)state;
    ff_emulate_joint joint;
    set_appendix_e(&joint);
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

/* Held for a cycle, the emulation errs by the order of the cycle, in both schemes. */
static void test_sampled_controller_converges_with_the_cycle(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 2; scheme++) {
        double error[3];
        for (int k = 0; k < 3; k++) {
            ff_emulate_joint joint;
            set_appendix_e(&joint);
            joint.emulation.scheme = scheme ? FF_EMULATION_FREE : FF_EMULATION_CONSTRAINED;
            joint.sampled = true;
            joint.duration = 0.39; /* free motion; the impact's own jump would hide the order */
            joint.cycle = 1e-3 / (1 << k);
            ff_emulate_result r = run_joint(&joint);
            error[k] = r.pose_error;
            ff_emulate_free(&r);
        }
        print_message("%s, sampled at 1, .5, .25 ms: %.3g %.3g %.3g rad\n", scheme ? "free" : "constrained",
                      error[0], error[1], error[2]);
        assert_true(error[0] < 1e-3);
        assert_near(error[0] / error[1], 2.0, 0.3);
        assert_near(error[1] / error[2], 2.0, 0.3);
    }
}

static void test_sampled_contact_settles_on_the_same_force(void **state) {
    (void)state;
    for (int scheme = 0; scheme < 2; scheme++) {
        ff_emulate_joint joint;
        set_appendix_e(&joint);
        joint.emulation.scheme = scheme ? FF_EMULATION_FREE : FF_EMULATION_CONSTRAINED;
        joint.sampled = true;
        joint.duration = 8;
        joint.target.link_inertia = 0.075; /* Q = 1.5, inside the band of a delayed actuator */
        ff_emulate_result r = run_joint(&joint);
        print_message("%s, sampled at 1 ms: contact %.4f s (direct %.4f), peak %.2f N, final %.4f N\n",
                      scheme ? "free" : "constrained", r.contact_s, r.contact_direct_s, r.peak_force,
                      r.final_force);
        assert_near(r.contact_s, r.contact_direct_s, 0.001);
        assert_near(r.final_force, r.sample[r.samples - 1].f_direct[0], 0.05);
        ff_emulate_free(&r);
    }
}

/* The analysis of host/analysis is about this loop: an actuator of 25 rad/s rings below the lower bound of Q
 * and above the upper, and settles between. Growth is read from the force once the target's own motion has
 * died. */
static void test_actuator_bandwidth_decides_as_the_analysis_says(void **state) {
    (void)state;
    static const struct {
        double q;
        bool stable;
    } at[] = {{0.3, false}, {2.0, true}, {7.0, false}};
    for (size_t k = 0; k < 3; k++) {
        ff_emulate_joint joint;
        set_appendix_e(&joint);
        joint.target.link_inertia = at[k].q * joint.robot_inertia;
        joint.actuator_bandwidth = 25;
        joint.duration = 4;
        char message[200] = "", warnings[400] = "";
        ff_emulate_result r;
        const ff_status status =
            ff_emulate_joint_run(&joint, &r, message, sizeof message, warnings, sizeof warnings);
        assert_int_equal(strstr(warnings, "not stable") == NULL, at[k].stable);
        double late = 0;
        for (size_t i = r.samples > 1000 ? r.samples - 1000 : 0; i < r.samples; i++)
            late = fmax(late, fabs(r.sample[i].f[0] - r.sample[i].f_direct[0]));
        print_message("Q = %.1f: %s, late force difference %.3g N, %s", at[k].q, ff_status_name(status), late,
                      *warnings ? warnings : "no warning\n");
        assert_int_equal(status == FF_OK && late < 1.0, at[k].stable);
        ff_emulate_free(&r);
    }
}

static void test_force_error_feedback_keeps_the_emulation_exact(void **state) {
    (void)state;
    ff_emulate_joint joint;
    set_appendix_e(&joint);
    joint.duration = 2;
    joint.emulation.force_gain = 0.5;
    ff_emulate_result r = run_joint(&joint);
    assert_true(r.pose_error <= 1e-8);
    assert_true(r.force_error <= 1e-6);
    ff_emulate_free(&r);
    /* With drift terms off a disturbance leaves e_f = -(1 + G_f M_s)^-1 Q d: the feedback divides it. */
    joint.gravity_model_error = -0.1;
    joint.emulation.drift_compensation = false;
    joint.wall_stiffness = 0;
    r = run_joint(&joint);
    const double mass = joint.target.link_inertia / (joint.target.length * joint.target.length);
    assert_near(r.sample[0].f[0] - r.sample[0].lambda[0], 0.1 * 0.5 / 0.3 / (1 + 0.5 * mass), 1e-9);
    ff_emulate_free(&r);
}

static void test_bad_input_is_refused(void **state) {
    (void)state;
    for (int which = 0; which < 9; which++) {
        ff_emulate_joint joint;
        set_appendix_e(&joint);
        joint.duration = 0.01;
        const char *says = "";
        switch (which) {
        case 0:
            joint.emulation.velocity_gain = 0, says = "velocity";
            break;
        case 1:
            joint.emulation.position_gain = -1, says = "position";
            break;
        case 2:
            joint.robot_inertia = 0, says = "robot";
            break;
        case 3:
            joint.target.drive_inertia = -1, says = "target";
            break;
        case 4:
            joint.wall_at = -0.1, says = "wall";
            break;
        case 5:
            joint.wall_at = 2, says = "wall";
            break;
        case 6:
            joint.wall_stiffness = -5, says = "wall";
            break;
        case 7:
            joint.actuator_delay = 0.01, says = "sampled";
            break;
        default:
            joint.cycle = 0, says = "cycle";
            break;
        }
        ff_emulate_result r;
        char message[200] = "", warnings[200];
        assert_true(ff_emulate_joint_run(&joint, &r, message, sizeof message, warnings, sizeof warnings) < 0);
        if (!strstr(message, says))
            fail_msg("'%s' does not name '%s'", message, says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sampled_controller_converges_with_the_cycle),
        cmocka_unit_test(test_sampled_contact_settles_on_the_same_force),
        cmocka_unit_test(test_actuator_bandwidth_decides_as_the_analysis_says),
        cmocka_unit_test(test_force_error_feedback_keeps_the_emulation_exact),
        cmocka_unit_test(test_bad_input_is_refused),
        cmocka_unit_test(test_both_schemes_equal_the_direct_arm),
        cmocka_unit_test(test_clik_stays_in_its_ball),
        cmocka_unit_test(test_bounds_of_a_known_inertia),
        cmocka_unit_test(test_gravity_model_error_shows_where_the_scheme_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
