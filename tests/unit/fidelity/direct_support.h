/* A method without a loop around it: samples and detections as a test gives them. */
#ifndef FF_TESTS_DIRECT_SUPPORT_H
#define FF_TESTS_DIRECT_SUPPORT_H

#include "loop_support.h"

typedef struct instance {
    const ff_method *method;
    ff_world world;
    ff_settings setting;
    double model[1 << 10], state[1 << 17];
    ff_rigid_state body[FF_MAX_BODIES];
    ff_rigid_model rigid[FF_MAX_BODIES];
    ff_body_sample sample[FF_MAX_BODIES];
    ff_detection detected[FF_MAX_BODIES];
    ff_integrate_state output[FF_MAX_BODIES];
    ff_vec3 grasp_point;
    ff_method_out out;
} instance;

/* Random bodies at random poses; every sample valid, without a wrench, taken where the body is. */
static inline void instance_draw(instance *n, ff_rng *rng, const ff_method *method, int variant, int bodies) {
    memset(n, 0, sizeof *n);
    n->method = method;
    ff_settings_default(method, variant, &n->setting);
    n->world = (ff_world){.integrate = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004},
                          .bodies = bodies,
                          .grasp = {.body = -1}};
    for (int i = 0; i < bodies; i++) {
        const double mass = ff_rng_range(rng, 50, 300);
        const ff_mat3 R = ff_quat_to_mat3(test_random_quat(rng));
        ff_mat3 I = ff_mat3_mul(
            R, ff_mat3_mul(ff_mat3_diag(0.2 * mass, 0.25 * mass, 0.3 * mass), ff_mat3_transpose(R)));
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < r; c++)
                I.m[r][c] = I.m[c][r];
        const ff_rigid_config config = {mass, I};
        assert_int_equal(ff_rigid_create(&config, &n->rigid[i]), FF_OK);
        n->body[i] = (ff_rigid_state){test_random_vec3(rng, 1), test_random_quat(rng),
                                      test_random_vec3(rng, 0.05), test_random_vec3(rng, 0.05)};
        n->world.body[i] = (ff_world_body){.rigid = n->rigid[i], .start = n->body[i]};
        n->sample[i] = (ff_body_sample){.T_wr = ff_rigid_pose(&n->body[i]),
                                        .twist_r = {n->body[i].omega, n->body[i].velocity},
                                        .valid = true};
        n->output[i] = (ff_integrate_state){.velocity_c = n->body[i].velocity, .omega_c = n->body[i].omega};
    }
}

static inline void instance_set(instance *n, const char *name, double value) {
    if (ff_settings_set(n->method, &n->setting, name, value) != FF_OK)
        fail_msg("%s refuses %s: %g", n->method->name, name, value);
}

static inline void instance_start(instance *n) {
    ff_complaint complaint;
    size_t state_bytes;
    if (n->method->resolve)
        n->method->resolve(&n->world, n->setting.given, n->setting.bytes);
    assert_int_equal(ff_method_check(n->method, &n->world, n->setting.bytes, n->setting.given, &complaint),
                     FF_OK);
    assert_true(ff_method_bytes(n->method, &n->world, n->setting.bytes, &state_bytes) <= sizeof n->model);
    assert_true(state_bytes <= sizeof n->state);
    ff_method_create(n->method, &n->world, n->setting.bytes, n->setting.given, n->model);
    ff_method_reset(n->method, n->model, n->body, n->state);
}

static inline ff_status instance_step(instance *n) {
    n->out = (ff_method_out){0};
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        n->out.body[i] = n->body[i];
        n->out.stiffness[i] = n->out.damping[i] = n->out.damping_sd[i] = FF_NAN;
    }
    const ff_method_in in = {.cycle = n->world.integrate.cycle,
                             .bodies = n->world.bodies,
                             .body = n->body,
                             .rigid = n->rigid,
                             .sample = n->sample,
                             .detected = n->detected,
                             .output = n->output,
                             .grasp_point = n->grasp_point};
    return n->method->step(n->model, n->state, &in, &n->out);
}

/* Kinetic energy that an impulse T f (body axes, about the CoM) gives to a body [J], from before and after.
 */
static inline double instance_gain(const instance *n, int i, ff_wrench f, double T) {
    ff_rigid_state x = n->body[i];
    const double before = ff_rigid_kinetic_energy(&n->rigid[i], &x);
    x.velocity = ff_vec3_axpy(T * n->rigid[i].mass_inv, ff_quat_rotate(x.attitude, f.f), x.velocity);
    x.omega = ff_vec3_axpy(T, ff_mat3_apply(&n->rigid[i].inertia_inv, f.t), x.omega);
    return ff_rigid_kinetic_energy(&n->rigid[i], &x) - before;
}

#endif
