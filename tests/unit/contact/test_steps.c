/* Noise, detector, lead and the closed forms of a contact, step by step against their equations; every limit
 * from both sides. */
#include "support.h"

#include "freefloat/contact.h"

static ff_rng rng;

/* The running median written once more: it moves by a factor, up or down, with every pair that counts. */
static void test_noise_moves_by_its_gain(void **unused) {
    (void)unused;
    const double chi = 5.348120627447116;
    for (int n = 0; n < 6; n++) {
        ff_noise_state state = {0};
        const double sd = 0.3, start = n == 0 ? 0.0 : n % 2 ? 0.02 : 3.0;
        double median = fmax(chi * start * start, chi * FF_NOISE_LEAST * FF_NOISE_LEAST);
        ff_vec3 last = ff_vec3_zero();
        long count = 0, run = 0;
        for (int k = 0; k < 1500; k++) {
            ff_vec3 a = {{sd * ff_rng_normal(&rng), sd * ff_rng_normal(&rng), sd * ff_rng_normal(&rng)}};
            if (k % 50 > 40) /* a force that lasts */
                a = ff_vec3_add(a, ff_vec3_make(20, 5, 1));
            if (k % 97 == 3) { /* a sample that is not finite is passed over */
                ff_vec3 bad = a;
                bad.a[k % 3] = k % 2 ? FF_NAN : FF_INF;
                assert_near(ff_noise_step(&state, start, bad), sqrt(median / chi), k < 1 ? FF_INF : 1e-12);
            }
            const double got = ff_noise_step(&state, start, a);
            if (k > 0 && ff_vec3_norm(ff_vec3_add(a, last)) <= 2.0 * ff_vec3_norm(ff_vec3_sub(a, last))) {
                const bool above = ff_vec3_dot(a, a) + ff_vec3_dot(last, last) > median;
                run = above ? (run > 0 ? run + 1 : 1) : (run < 0 ? run - 1 : -1);
                count++;
                double gain = 5.0 / (double)count;
                gain = gain > 0.1 ? 0.1 : gain < 0.005 ? 0.005 : gain;
                if (labs(run) > 40)
                    gain = 0.1;
                median = fmax(median * exp(above ? gain : -gain), chi * FF_NOISE_LEAST * FF_NOISE_LEAST);
            }
            last = a;
            assert_near(got, sqrt(median / chi), 1e-12 * got);
            assert_near(ff_noise_deviation(&state), got, 0.0);
            assert_true(state.run <= 41 && state.run >= -41);
        }
        assert_near(ff_noise_deviation(&state), sd, 0.25 * sd);
    }
}

static void test_detector_at_its_limits(void **unused) {
    (void)unused;
    ff_detector_config c;
    ff_detector_default(&c);
    assert_int_equal(ff_detector_validate(&c), FF_OK);
    assert_true(c.force_on == 0.0 && c.torque_on == 0.0 && c.multiple == 0.0 && c.off_ratio == 0.5 &&
                c.quiet_cycles == 5);
    c.force_on = 4.0;
    c.torque_on = 1.0;
    c.quiet_cycles = 3;
    ff_detector_state s;
    bool began, ended;
    ff_detector_reset(&s);
    /* on: above either threshold, not at it */
    assert_false(ff_detector_step(&c, &s, 4.0, 1.0, &began, &ended));
    assert_false(began || ended);
    for (int torque = 0; torque < 2; torque++) {
        assert_true(ff_detector_step(&c, &s, torque ? 0.0 : 4.1, torque ? 1.1 : 0.0, &began, &ended));
        assert_true(began && !ended);
        /* still on: neither began nor ended */
        assert_true(ff_detector_step(&c, &s, 9.0, 9.0, &began, &ended));
        assert_false(began || ended);
        /* off: both at or below half of it, three cycles in a row */
        for (int k = 0; k < 2; k++)
            assert_true(ff_detector_step(&c, &s, 2.0, 0.5, &began, &ended));
        assert_true(ff_detector_step(&c, &s, torque ? 2.1 : 0.0, torque ? 0.0 : 0.6, &began,
                                     &ended)); /* counts anew */
        for (int k = 0; k < 2; k++)
            assert_true(ff_detector_step(&c, &s, 2.0, 0.5, &began, &ended));
        assert_false(ff_detector_step(&c, &s, 2.0, 0.5, &began, &ended));
        assert_true(ended && !began);
        assert_false(ff_detector_step(&c, &s, 0.0, 0.0, &began, &ended));
        assert_false(ended);
    }
}

static void test_detector_refuses(void **unused) {
    (void)unused;
    ff_detector_config good;
    ff_detector_default(&good);
    const double bad[] = {-1e-3, FF_NAN};
    for (int i = 0; i < 8; i++) {
        ff_detector_config c = good;
        double *x[] = {&c.force_on, &c.torque_on, &c.multiple, &c.off_ratio};
        *x[i / 2] = bad[i % 2];
        assert_int_equal(ff_detector_validate(&c), FF_ERR_ARGUMENT);
    }
    ff_detector_config c = good;
    c.multiple = FF_INF;
    assert_int_equal(ff_detector_validate(&c), FF_ERR_ARGUMENT);
    c = good;
    c.off_ratio = 1.001;
    assert_int_equal(ff_detector_validate(&c), FF_ERR_ARGUMENT);
    c.off_ratio = 1.0;
    assert_int_equal(ff_detector_validate(&c), FF_OK);
    c.quiet_cycles = 0;
    assert_int_equal(ff_detector_validate(&c), FF_ERR_ARGUMENT);
    c.quiet_cycles = 1;
    c.off_ratio = 0.0;
    assert_int_equal(ff_detector_validate(&c), FF_OK);
}

/* Force and torque each by their own noise; the configured threshold is the least one; fixed: the only one.
 */
static void test_detection_reports_threshold_and_noise(void **unused) {
    (void)unused;
    for (int n = 0; n < 8; n++) {
        ff_detector_config c;
        ff_detector_default(&c);
        c.force_on = n % 2 ? 5.0 : 0.01;
        c.torque_on = n % 2 ? 2.0 : 0.01;
        c.multiple = n >= 6 ? 0.0 : 4.0;
        c.fixed = n % 4 >= 2;
        ff_detector_state s;
        ff_detector_reset(&s);
        ff_noise_state f = {0}, t = {0};
        ff_detection d;
        for (int k = 0; k < 300; k++) {
            ff_wrench w;
            for (int i = 0; i < 3; i++) {
                w.f.a[i] = 0.1 * ff_rng_normal(&rng);
                w.t.a[i] = 0.05 * ff_rng_normal(&rng);
            }
            ff_detector_run(&c, &s, w, &d);
            if (c.multiple > 0.0) {
                ff_noise_step(&f, c.force_on / c.multiple, w.f);
                ff_noise_step(&t, c.torque_on / c.multiple, w.t);
            }
        }
        const double force = c.multiple > 0.0 ? ff_noise_deviation(&f) : 0.0,
                     torque = c.multiple > 0.0 ? ff_noise_deviation(&t) : 0.0;
        assert_near(d.force_noise, force, 1e-15);
        assert_near(d.force_on, fmax(c.force_on, c.fixed ? 0.0 : 4.0 * force), 1e-14);
        assert_near(s.torque_on, c.fixed ? 0.0 : 4.0 * torque, 1e-14);
        /* the force that is judged is its size, whatever the direction */
        const double on = d.force_on * 1.01;
        ff_wrench w = {ff_vec3_zero(), {{-0.6 * on, 0, 0.8 * on}}};
        ff_detector_config plain = c;
        plain.multiple = 0.0;
        s.contact = false;
        ff_detector_run(&plain, &s, w, &d);
        assert_true(d.contact && d.began);
        s.contact = false;
        w = (ff_wrench){{{0, -fmax(c.torque_on, s.torque_on) * 1.01, 0}}, ff_vec3_zero()};
        ff_detector_run(&plain, &s, w, &d);
        assert_true(d.contact && d.began);
    }
}

static void test_lead_is_its_difference_equation(void **unused) {
    (void)unused;
    const ff_lead_config off = {0.0, 0.01}, c = {0.02, 0.03};
    const double T = 0.004;
    ff_lead_state s;
    ff_lead_reset(&s);
    ff_wrench last = ff_wrench_zero(), slope = ff_wrench_zero();
    for (int k = 0; k < 50; k++) {
        const ff_wrench f = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
        if (k > 0)
            slope = ff_wrench_add(ff_wrench_scale(0.03 / 0.034, slope),
                                  ff_wrench_scale((0.004 / 0.034) / T, ff_wrench_sub(f, last)));
        last = f;
        const ff_wrench got = ff_lead_step(&c, &s, T, f),
                        expect = ff_wrench_add(f, ff_wrench_scale(0.02, slope));
        assert_vec3_near(got.f, expect.f, 1e-13);
        assert_vec3_near(got.t, expect.t, 1e-13);
        ff_lead_state other = s;
        const ff_wrench same = ff_lead_step(&off, &other, T, f);
        assert_memory_equal(&same, &f, sizeof f);
    }
    const double bad[] = {-1e-9, FF_NAN, FF_INF};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ff_lead_validate(&(ff_lead_config){bad[i], 0.0}), FF_ERR_ARGUMENT);
        assert_int_equal(ff_lead_validate(&(ff_lead_config){0.0, bad[i]}), FF_ERR_ARGUMENT);
    }
    assert_int_equal(ff_lead_validate(&(ff_lead_config){0.0, 0.0}), FF_OK);
}

/* m x'' = -k x - c x' by small steps until the force is zero. */
static void test_restitution_of_a_damper(void **unused) {
    (void)unused;
    for (int n = 0; n <= 18; n++) {
        const double z = 0.05 * n, h = 1e-4;
        double x = 0.0, v = 1.0;
        do { /* k = m = 1, c = 2 z; semi-implicit midpoint */
            const double xm = x + 0.5 * h * v, vm = v + 0.5 * h * (-x - 2 * z * v);
            x += h * vm;
            v += h * (-xm - 2 * z * vm);
        } while (x + 2 * z * v > 0.0);
        assert_near(ff_contact_restitution(z), -v, 3e-4);
        assert_near(ff_contact_damping_ratio(-v), z, 1e-3);
        assert_near(ff_contact_restitution(ff_contact_damping_ratio(ff_contact_restitution(z))),
                    ff_contact_restitution(z), 1e-12);
    }
    assert_near(ff_contact_damping_ratio(1.0), 0.0, 0.0);
    assert_near(ff_contact_damping_ratio(1.5), 0.0, 0.0);
    assert_near(ff_contact_damping_ratio(FF_NAN), 0.0, 0.0);
    assert_near(ff_contact_damping_ratio(exp(-2.0)), 1.0, 1e-6);
}

/* The point of the line of action that is nearest to the tool. */
static void test_tool_point_is_on_the_line_of_action(void **unused) {
    (void)unused;
    for (int n = 0; n < 50; n++) {
        const ff_vec3 f = test_random_vec3(&rng, n % 2 ? 10 : 0.01), d_t = test_random_vec3(&rng, 1),
                      at = test_random_vec3(&rng, 1);
        const ff_wrench w = {ff_vec3_cross(at, f), f};
        const ff_vec3 d = ff_contact_tool_point(w, d_t), u = ff_vec3_unit(f);
        assert_vec3_near(ff_vec3_cross(d, f), w.t, 1e-12);
        assert_near(ff_vec3_dot(ff_vec3_sub(d, d_t), u), 0.0, 1e-13);
        assert_vec3_near(ff_contact_tool_point((ff_wrench){w.t, ff_vec3_zero()}, d_t), d_t, 0.0);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 37);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_moves_by_its_gain),
        cmocka_unit_test(test_detector_at_its_limits),
        cmocka_unit_test(test_detector_refuses),
        cmocka_unit_test(test_detection_reports_threshold_and_noise),
        cmocka_unit_test(test_lead_is_its_difference_equation),
        cmocka_unit_test(test_restitution_of_a_damper),
        cmocka_unit_test(test_tool_point_is_on_the_line_of_action),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
