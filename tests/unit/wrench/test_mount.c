/* An elastic mount seen through its sensor: against the closed form of the swing, exact for a force that is a
 * line, and its noise as it says. */
#include "support.h"

#include "freefloat/wrench.h"

static ff_mount_config config_of(double mass, double hertz, double ratio, double noise) {
    ff_mount_config c;
    ff_mount_default(&c);
    c.mass = mass;
    c.rate = 2.0 * FF_PI * hertz;
    c.ratio = ratio;
    c.noise = noise;
    return c;
}

static ff_mount_model model_of(const ff_mount_config *c) {
    ff_mount_model m;
    assert_int_equal(ff_mount_create(c, &m), FF_OK);
    return m;
}

/* d'' + 2 z w d' + w^2 d = F/m - a from rest, F = f0 + f1 t and a constant: a line and a decaying swing. */
static void closed_form(const ff_mount_config *c, double f0, double f1, double a, double t, double *d,
                        double *d_dot) {
    const double w = c->rate, z = c->ratio, wd = w * sqrt(1.0 - z * z);
    const double p1 = f1 / c->mass / (w * w), p0 = (f0 / c->mass - a - 2.0 * z * w * p1) / (w * w);
    /* d = p0 + p1 t + e^(-z w t) (A cos + B sin), d(0) = d'(0) = 0 */
    const double A = -p0, B = (-p1 + z * w * A) / wd, E = exp(-z * w * t);
    *d = p0 + p1 * t + E * (A * cos(wd * t) + B * sin(wd * t));
    *d_dot =
        p1 + E * (-z * w * (A * cos(wd * t) + B * sin(wd * t)) + wd * (-A * sin(wd * t) + B * cos(wd * t)));
}

static void test_a_cycle_is_the_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 50; n++) {
        const ff_mount_config c = config_of(ff_rng_range(&rng, 0.5, 30.0), ff_rng_range(&rng, 3.0, 200.0),
                                            ff_rng_range(&rng, 0.0, 0.3), 0.0);
        const ff_mount_model m = model_of(&c);
        const double f0 = ff_rng_range(&rng, -50, 50), f1 = ff_rng_range(&rng, -900, 900),
                     a = ff_rng_range(&rng, -2, 2);
        double d, d_dot;
        closed_form(&c, f0, f1, a, c.cycle, &d, &d_dot);
        const double x[4] = {0, 0, f0 / c.mass, f1 / c.mass};
        double next[4];
        for (int i = 0; i < 4; i++) {
            next[i] = m.B[i] * a;
            for (int j = 0; j < 4; j++)
                next[i] += m.A[i][j] * x[j];
        }
        assert_near(next[0], d, 1e-13 + 1e-11 * fabs(d));
        assert_near(next[1], d_dot, 1e-11 + 1e-11 * fabs(d_dot));
        assert_near(next[2], (f0 + f1 * c.cycle) / c.mass, 1e-12 * fabs(f0) + 1e-12);
        assert_near(next[3], f1 / c.mass, 1e-12);
    }
}

/* A body turned anyhow, with weight and flange acceleration, pushed by a line of force in any direction: what
 * comes out is force and motion of the mock-up, to rounding once the filter has settled. */
static void test_a_line_of_force_is_found_exactly(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < 20; n++) {
        const ff_mount_config c =
            config_of(ff_rng_range(&rng, 1.0, 20.0), ff_rng_range(&rng, 8.0, 110.0), 0.02, 0.0);
        const ff_mount_model m = model_of(&c);
        ff_wrench_config wrench;
        ff_wrench_default(&wrench);
        wrench.mockup_mass = c.mass;
        wrench.mockup_com_b = test_random_vec3(&rng, 0.3);
        wrench.gravity_w = ff_vec3_make(0, 0, -9.81);
        wrench.T_bs = test_random_pose(&rng, 0.2);
        wrench.bias_s = (ff_wrench){test_random_vec3(&rng, 1.0), test_random_vec3(&rng, 5.0)};
        const ff_vec3 f0 = test_random_vec3(&rng, 50), f1 = test_random_vec3(&rng, 40),
                      a = test_random_vec3(&rng, 1), arm = test_random_vec3(&rng, 0.4);
        ff_mount_state mount;
        ff_mount_reset(&mount);
        const ff_quat q = test_random_quat(&rng);
        for (int k = 1; k <= 500; k++) {
            const double t = k * c.cycle;
            ff_vec3 d, d_dot, swing;
            const ff_vec3 F = ff_vec3_axpy(t, f1, f0);
            for (int i = 0; i < 3; i++) {
                closed_form(&c, f0.a[i], f1.a[i], a.a[i], t, &d.a[i], &d_dot.a[i]);
                swing.a[i] =
                    F.a[i] / c.mass - a.a[i] - c.rate * c.rate * d.a[i] - 2.0 * c.ratio * c.rate * d_dot.a[i];
            }
            /* the sensor feels contact, weight and the mock-up's true acceleration */
            const ff_vec3 F_b = ff_quat_unrotate(q, F);
            ff_wrench_in in = {.T_wb = {q, test_random_vec3(&rng, 1)}, .twist.v = test_random_vec3(&rng, 1)};
            in.acceleration.v = ff_vec3_add(a, swing);
            const ff_wrench contact = {ff_vec3_cross(arm, F_b), F_b},
                            felt = ff_wrench_add(contact, ff_wrench_mockup(&wrench, &in));
            in.f_s = ff_wrench_add(ff_wrench_transform(ff_pose_inverse(wrench.T_bs), felt), wrench.bias_s);
            in.acceleration.v = a;
            ff_wrench_in tip;
            ff_wrench f_b;
            ff_mount_step(&m, &mount, &wrench, &in, true, &tip);
            assert_int_equal(ff_wrench_condition(&wrench, &tip, &f_b), FF_OK);
            if (k < 450)
                continue;
            assert_vec3_near(f_b.f, contact.f, 1e-7);
            assert_vec3_near(f_b.t, contact.t, 1e-7);
            assert_vec3_near(ff_vec3_sub(tip.T_wb.p, in.T_wb.p), d, 1e-9);
            assert_vec3_near(ff_vec3_sub(tip.twist.v, in.twist.v), d_dot, 1e-7);
        }
    }
}

static void test_the_noise_is_as_told(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    const double hertz[] = {10.0, 30.0, 80.0};
    for (int n = 0; n < 3; n++) {
        const ff_mount_config c = config_of(8.0, hertz[n], 0.02, 0.5);
        const ff_mount_model m = model_of(&c);
        ff_wrench_config wrench;
        ff_wrench_default(&wrench);
        ff_mount_state mount;
        ff_mount_reset(&mount);
        double sum = 0.0;
        enum { N = 40000 };
        for (int k = 0; k < N; k++) {
            ff_wrench_in in = {.T_wb = ff_pose_identity()}, tip;
            in.f_s.f.y = 0.5 * ff_rng_normal(&rng);
            ff_mount_step(&m, &mount, &wrench, &in, true, &tip);
            sum += c.mass * c.mass * mount.x[1][2] * mount.x[1][2];
        }
        const double sd = sqrt(sum / N);
        print_message("%g Hz: noise of the force %.3f N of 0.5 N read, reported %.3f\n", hertz[n], sd,
                      m.noise);
        assert_near(fmax(sd, 0.5), m.noise, 0.06 * m.noise);
    }
}

/* A lost reading: the filter continues by what it knows, and a free swing needs no reading at all. */
static void test_a_lost_reading_is_not_used(void **state) {
    (void)state;
    const ff_mount_config c = config_of(5.0, 20.0, 0.02, 0.0);
    const ff_mount_model m = model_of(&c);
    ff_wrench_config wrench;
    ff_wrench_default(&wrench);
    ff_mount_state mount = {.x = {{1e-4, 0.0, 0.0, 0.0}}};
    for (int k = 1; k <= 100; k++) {
        ff_wrench_in in = {.T_wb = ff_pose_identity()}, tip;
        in.f_s.f.x = 1e6; /* nonsense */
        ff_mount_step(&m, &mount, &wrench, &in, false, &tip);
        const double t = k * c.cycle, z = c.ratio, w = c.rate, wd = w * sqrt(1.0 - z * z);
        const double d = 1e-4 * exp(-z * w * t) * (cos(wd * t) + z * w / wd * sin(wd * t));
        assert_near(tip.T_wb.p.x, d, 1e-15);
    }
}

static void test_rigid_and_refused(void **state) {
    (void)state;
    ff_mount_config c;
    ff_mount_model m;
    ff_mount_default(&c);
    assert_int_equal(ff_mount_create(&c, &m), FF_OK);
    assert_false(m.elastic);
    ff_wrench_config wrench;
    ff_wrench_default(&wrench);
    ff_mount_state mount;
    ff_mount_reset(&mount);
    const ff_wrench_in in = {.T_wb = ff_pose_identity(), .f_s.f.x = 3.0, .acceleration.v.x = 1.0};
    ff_wrench_in tip;
    ff_mount_step(&m, &mount, &wrench, &in, true, &tip);
    assert_memory_equal(&tip, &in, sizeof in);
    for (int i = 0; i < 6; i++) {
        c = config_of(5.0, 20.0, 0.02, 0.1);
        double *const field[] = {&c.mass, &c.rate, &c.ratio, &c.cycle, &c.noise, &c.slope};
        *field[i] = -1.0;
        assert_int_equal(ff_mount_create(&c, &m), FF_ERR_ARGUMENT);
        *field[i] = FF_NAN;
        assert_int_equal(ff_mount_create(&c, &m), FF_ERR_NOT_FINITE);
        *field[i] = 0.0; /* no damping and no noise there may be */
        assert_int_equal(ff_mount_validate(&c), i == 2 || i == 4 ? FF_OK : FF_ERR_ARGUMENT);
    }
    /* a swing that no cycle resolves, or that is none */
    c = config_of(5.0, 20.0, 0.02, 0.1);
    c.rate = -FF_INF;
    assert_int_equal(ff_mount_create(&c, &m), FF_ERR_NOT_FINITE);
    c.rate = 1e40;
    assert_int_equal(ff_mount_create(&c, &m), FF_ERR_NOT_FINITE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cycle_is_the_closed_form),
        cmocka_unit_test(test_a_line_of_force_is_found_exactly),
        cmocka_unit_test(test_the_noise_is_as_told),
        cmocka_unit_test(test_a_lost_reading_is_not_used),
        cmocka_unit_test(test_rigid_and_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
