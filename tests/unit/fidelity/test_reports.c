/* What fused says of a contact, against the contact: stiffness, damping, place, normal, point, friction,
 * delay, peak forces and counts. */
#include "lab.h"

static ff_rng rng;
TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static lab l;
static double values[FF_METHOD_VALUES], totals[FF_METHOD_VALUES];

static double value(const char *name) {
    const double *v = ff_method_value(&ff_method_fused, false, values, name);
    assert_non_null(v);
    return *v;
}
static ff_vec3 vector(const char *name) {
    const double *v = ff_method_value(&ff_method_fused, false, values, name);
    assert_non_null(v);
    return ff_vec3_make(v[0], v[1], v[2]);
}
static double total(const char *name) {
    const double *v = ff_method_value(&ff_method_fused, true, totals, name);
    assert_non_null(v);
    return *v;
}
static void run(const ff_loop_config *config) {
    lab_run(&l, config, model, state);
    ff_loop_report(model, state, 0, values);
    ff_loop_report(model, state, -1, totals);
}

static ff_vec3 normal_of(void) { /* inertial, at the beginning */
    const ff_world_contact *c = &l.contact[0];
    return c->against < 0 ? c->normal : ff_quat_rotate(l.start[1].attitude, c->normal);
}

static void configure(ff_loop_config *config, int late) {
    lab_configure(&l, &ff_method_fused, 0, config);
    config->world.body[1].carries_surface = l.bodies == 2;
    for (int b = 0; b < l.bodies; b++) /* as configured: some cycles more than it is */
        config->world.body[b].delay += late * config->integrate.cycle;
}

static void no_trouble(int delay_changes) {
    assert_near(value("kind"), 0.0, 0.0);
    assert_near(value("validity"), 0.0, 0.0);
    if (!(l.noise > 0.0)) { /* noise may look like a touch, and its first samples like no surface at all */
        assert_near(total("false_alarms"), 0.0, 0.0);
        assert_near(total("stiffness_at_bound"), 0.0, 0.0);
    }
    assert_near(total("phantom_walls"), 0.0, 0.0);
    assert_near(total("look_back_reached"), 0.0, 0.0);
    assert_near(total("delay_changes"), delay_changes, 0.0);
}

/* Exact sensors: everything is found as it is. */
static void test_exact_sensors(void **unused) {
    (void)unused;
    for (int i = 0; i < 12; i++) {
        const double w = ff_rng_range(&rng, 6, 12), z = i % 3 * 0.05;
        const int late = i % 4 == 1 ? 2 : 0;
        lab_plane(&l, &rng, 1 + i % 2, 0.3, w, z, 0.5, 450);
        lab_ideal(&l, 0.004);
        ff_loop_config config;
        configure(&config, late);
        run(&config);
        const ff_world_contact *c = &l.contact[0];
        no_trouble(late ? l.bodies : 0);
        assert_near(value("law"), 1.0, 0.0);
        assert_near(total("law_switches"), 0.0, 0.0);
        assert_true(total("energy_net_active") <=
                    (z > 0.0 ? 0.0 : 20.0)); /* without a damper: the last kicks */
        assert_near(value("known_wall"), 0.0, 0.0);
        assert_near(value("stiffness") / c->stiffness, 1.0, 1e-4);
        assert_near(value("damping"), c->damping, 1e-3 * c->stiffness / w);
        assert_near(l.known[0], value("stiffness"), 0.0); /* each cycle says so, too */
        assert_near(l.known[1], value("damping"), 0.0);
        assert_near(l.known[2], value("damping_sd"), 0.0);
        assert_near(value("friction"), 0.0, 1e-6);
        assert_vec3_near(vector("normal"), c->normal, 1e-6);
        /* where the point is along the normal shows only as far as the body turns: it and the surface move
         * together */
        const ff_vec3 off = ff_vec3_sub(vector("contact_point_m"), c->point),
                      n = ff_quat_unrotate(l.start[0].attitude, normal_of());
        const double along = ff_vec3_dot(off, n);
        assert_true(ff_vec3_norm(ff_vec3_axpy(-along, n, off)) < 2e-6 + 0.01 * fabs(along));
        assert_true(fabs(along) < 1e-3);
        assert_near(ff_vec3_dot(c->normal, ff_vec3_sub(vector("surface_m"), c->at)), along,
                    2e-6 + 0.01 * fabs(along));
        assert_near(value("delay_s"), 8 * 0.004, 1e-5);
        assert_near(value("delay_configured_s"), (8 + late) * 0.004, 1e-12);
        assert_near(value("ideal_peak_N") / l.peak_truth, 1.0, 4e-3);
        assert_true(value("causal_peak_limit_N") > 0.0 && value("causal_peak_limit_N") < l.peak_truth);
        /* in contact for (pi - 2 asin z)/(w sqrt(1 - z2)): from touch to zero force, plus the phase to it */
        const double wd = w * sqrt(1.0 - z * z),
                     lasts = (FF_PI - atan2(2.0 * z * sqrt(1.0 - z * z), 1.0 - 2.0 * z * z)) / wd;
        assert_near(value("samples") * 0.004, lasts, 0.05 * lasts + 0.012);
        assert_true(value("stiffness_sd") > 0.0 && value("stiffness_sd") < 1e-3 * c->stiffness);
        assert_true(value("damping_sd") > 0.0 && value("damping_sd") < 0.01 * c->stiffness / w);
        assert_true(value("surface_sd_m") > 0.0 && value("surface_sd_m") < 1e-6);
    }
}

/* Noise: within some standard deviations that are stated, and what the model leaves out. */
static void test_noisy_sensors(void **unused) {
    (void)unused;
    int outside = 0, alarms = 0;
    for (int i = 0; i < 8; i++) {
        const double w = ff_rng_range(&rng, 6, 12), z = i % 3 * 0.05;
        lab_plane(&l, &rng, 1 + i % 2, 0.3, w, z, 0.5, 450);
        l.noise = 0.2;
        l.torque_noise = 0.01;
        lab_ideal(&l, 0.004);
        ff_loop_config config;
        configure(&config, 0);
        run(&config);
        const ff_world_contact *c = &l.contact[0];
        alarms += (int)total("false_alarms");
        if (value("validity") != 0.0) { /* it says that noise, or what noise made of it, is too much */
            outside++;
            continue;
        }
        no_trouble(0);
        assert_near(value("stiffness"), c->stiffness, 8.0 * value("stiffness_sd") + 2e-3 * c->stiffness);
        assert_near(value("damping"), c->damping, 8.0 * value("damping_sd") + 5e-3 * c->stiffness / w);
        assert_vec3_near(vector("normal"), c->normal, 3e-3);
        assert_near(value("friction"), 0.0, 0.02);
        /* the point is anywhere on the line of action: off it by the torque's noise */
        const ff_vec3 n = ff_quat_unrotate(l.start[0].attitude, normal_of()),
                      d = ff_vec3_sub(vector("contact_point_m"), c->point);
        assert_true(ff_vec3_norm(ff_vec3_cross(d, n)) < 1e-2);
        assert_near(value("ideal_peak_N") / l.peak_truth, 1.0, 0.12);
        assert_near(value("delay_s"), 8 * 0.004, 1e-4);
    }
    assert_true(outside <= 1); /* 1 of 350 was seen */
    /* three axes beyond 5 sigma: 1.5e-5 of a sample, so .08 in these 5400; more than 4 once in 1e7 */
    assert_true(alarms <= 4);
}

static void test_friction_is_found(void **unused) {
    (void)unused;
    int judged = 0;
    for (int i = 0; i < 8; i++) {
        const double mu = ff_rng_range(&rng, 0.03, 0.12), w = ff_rng_range(&rng, 6, 12);
        lab_plane(&l, &rng, 1 + i % 2, 0.3, w, i % 3 * 0.05, 0.5, 450);
        l.contact[0].friction = mu;
        const ff_vec3 t = ff_vec3_unit(ff_vec3_cross(normal_of(), test_random_vec3(&rng, 1)));
        l.start[0].velocity = ff_vec3_axpy(0.9 * l.approach, t, l.start[0].velocity);
        lab_ideal(&l, 0.004);
        ff_loop_config config;
        configure(&config, 0);
        run(&config);
        const ff_world_contact *c = &l.contact[0];
        if (value("validity") != 0.0)
            continue; /* it says itself that it cannot tell */
        judged++;
        no_trouble(0);
        assert_near(value("friction"), mu, 2e-3);
        assert_near(value("stiffness") / c->stiffness, 1.0, 1e-3);
        assert_near(value("damping"), c->damping, 5e-3 * c->stiffness / w);
        assert_vec3_near(vector("normal"), c->normal, 1e-3);
        assert_vec3_near(vector("contact_point_m"), c->point, 1e-5);
        assert_near(ff_vec3_dot(c->normal, ff_vec3_sub(vector("surface_m"), c->at)), 0.0, 1e-5);
    }
    assert_true(judged >= 4);
}

/* What is not touched any more is not known any more, to methods that ask of the contact at hand. */
static void test_known_while_it_lasts(void **unused) {
    (void)unused;
    const ff_method *method[] = {&ff_method_damping, &ff_method_impact};
    for (int i = 0; i < 2; i++) {
        lab_plane(&l, &rng, 1, 0.3, 9.0, 0.05, 0.5, 450);
        lab_ideal(&l, 0.004);
        ff_loop_config config;
        lab_configure(&l, method[i], 0, &config);
        lab_run(&l, &config, model, state);
        assert_true(l.said[2] > 0.0); /* was known for some cycles */
        assert_true(isnan(l.known[0]) && isnan(l.known[1]) && isnan(l.known[2]));
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 67);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_sensors),
        cmocka_unit_test(test_noisy_sensors),
        cmocka_unit_test(test_friction_is_found),
        cmocka_unit_test(test_known_while_it_lasts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
