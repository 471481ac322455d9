/* impact's parts one by one: bodies and contacts anywhere, wrenches that are known, a model and a state of
 * them. */
#ifndef FF_TESTS_IMPACT_BENCH_H
#define FF_TESTS_IMPACT_BENCH_H

#include "support.h"

#include "fidelity/impact/impact.h"

static ff_rng rng;
static const double T = 0.004;
static ff_world world;
static ff_settings settings;
static impact_model model;
static impact_state *state;
static ff_rigid_state robot[FF_MAX_BODIES]; /* also the satellites, where nothing else is said */
static ff_body_sample sample[FF_MAX_BODIES];
static ff_detection detected[FF_MAX_BODIES];

static inline ff_vec3 unit(void) {
    return ff_vec3_unit(ff_vec3_make(ff_rng_normal(&rng), ff_rng_normal(&rng), ff_rng_normal(&rng)));
}

static inline void set(const char *name, double value) {
    assert_int_equal(ff_settings_set(&ff_method_impact, &settings, name, value), FF_OK);
}

/* Bodies anywhere; contacts are the caller's. Settings stand as they were set since `fresh`. */
static inline void fresh(int bodies) {
    world = (ff_world){.integrate = {.cycle = T}, .bodies = bodies};
    for (int i = 0; i < bodies; i++) {
        const double mass = ff_rng_range(&rng, 100.0, 300.0);
        const ff_rigid_config config = {.mass = mass,
                                        .inertia = ff_mat3_diag(0.2 * mass, 0.25 * mass, 0.3 * mass)};
        assert_int_equal(ff_rigid_create(&config, &world.body[i].rigid), FF_OK);
        world.body[i].delay = 3 * T;
        robot[i] = (ff_rigid_state){test_random_vec3(&rng, 1.0), test_random_quat(&rng),
                                    test_random_vec3(&rng, 0.05), test_random_vec3(&rng, 0.05)};
        sample[i] = (ff_body_sample){.valid = true};
        detected[i] = (ff_detection){0};
    }
    ff_settings_default(&ff_method_impact, 0, &settings);
}

static inline void make(void) {
    ff_method_impact.resolve(&world, settings.given, settings.bytes);
    ff_complaint complaint;
    if (ff_method_impact.check(&world, settings.bytes, settings.given, &complaint) != FF_OK)
        fail_msg("%s", complaint.text);
    ff_method_impact.create(&world, settings.bytes, settings.given, &model);
    size_t bytes = 0;
    assert_int_equal(ff_method_impact.bytes(&world, settings.bytes, &bytes), sizeof model);
    state = realloc(state, bytes);
    assert_non_null(state);
    ff_method_impact.reset(&model, robot, state);
}

/* A plane of `against` through the tip, which stands `deep` behind it. */
static inline ff_world_contact *plane(int body, int against, double deep) {
    ff_world_contact *c = &world.contact[world.contacts++];
    *c = (ff_world_contact){.shape = FF_SHAPE_PLANE,
                            .body = body,
                            .against = against,
                            .point = test_random_vec3(&rng, 0.5),
                            .normal = unit(),
                            .stiffness = 2e4,
                            .satellite_stiffness = 1e4};
    const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&robot[body]), c->point);
    const ff_vec3 in =
        against < 0 ? tip : ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&robot[against])), tip);
    c->at = ff_vec3_axpy(deep, c->normal, in);
    return c;
}

static inline ff_vec3 normal_of(const ff_world_contact *c) {
    return c->against < 0 ? c->normal : ff_quat_rotate(robot[c->against].attitude, c->normal);
}

/* A force f along the normal of contact c, on both its bodies. */
static inline void press(const ff_world_contact *c, ff_vec3 F) {
    const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&robot[c->body]), c->point);
    const int pair[2] = {c->body, c->against};
    for (int j = 0; j < 2 && pair[j] >= 0; j++) {
        const ff_rigid_state *x = &robot[pair[j]];
        const ff_vec3 G = ff_vec3_scale(j ? -1.0 : 1.0, F), r = ff_vec3_sub(tip, x->position);
        ff_wrench *f = &sample[pair[j]].f_b;
        f->f = ff_vec3_add(f->f, ff_quat_unrotate(x->attitude, G));
        f->t = ff_vec3_add(f->t, ff_quat_unrotate(x->attitude, ff_vec3_cross(r, G)));
    }
}

static inline void measure(impact_measured *m) {
    for (int i = 0; i < world.bodies; i++) {
        sample[i].T_wr = ff_rigid_pose(&robot[i]);
        sample[i].twist_r = (ff_twist){robot[i].omega, robot[i].velocity};
        state->noise[i] = detected[i].force_noise;
        state->force_on[i] = detected[i].force_on;
    }
    const ff_method_in in = {
        .cycle = T, .bodies = world.bodies, .body = robot, .sample = sample, .detected = detected};
    ff__impact_measure(&model, &in, state, m);
}

#endif
