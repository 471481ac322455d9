/* One cycle of any body: a rigid one is ff_integrate_step to the bit, one with joints gains the momentum of
 * its wrenches and books their work. */
#include "support.h"

#include "freefloat/integrate.h"
#include "servicer_model.h"

static const ff_scheme schemes[] = {FF_SCHEME_LIE_MIDPOINT, FF_SCHEME_EULER, FF_SCHEME_PASSIVE,
                                    FF_SCHEME_SPLITTING};

static ff_rigid_load random_load(ff_rng *rng) {
    return (ff_rigid_load){test_random_vec3(rng, 50), test_random_vec3(rng, 20)};
}

static void test_rigid_body_is_the_integrator(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    ff_body body;
    assert_int_equal(ff_body_rigid(&envisat_rigid, 0, NULL, &body), FF_OK);
    for (int n = 0; n < 200; n++) {
        const ff_integrate_config config = {.scheme = schemes[n % 4], .cycle = 0.004};
        const ff_rigid_state start = {test_random_vec3(&rng, 5), test_random_quat(&rng),
                                      test_random_vec3(&rng, 1), test_random_vec3(&rng, 0.3)};
        const ff_rigid_load contact = random_load(&rng), loads = random_load(&rng), late = random_load(&rng);
        ff_rigid_state plain = start;
        ff_integrate_state plain_output;
        ff_integrate_out plain_out;
        ff_integrate_reset(&start, &plain_output);
        ff_integrate_state output = plain_output;
        ff_integrate_out out;
        ff_body_state state;
        ff_body_reset(&body, NULL, &start, NULL, NULL, &state);
        ff_integrate_step(&config, &body.still.rigid, contact, loads, &plain, &plain_output, &plain_out);
        ff_body_in in = {.contact = contact, .loads = loads};
        ff_body_step(&body, &config, NULL, &in, &state, &output, &out);
        assert_memory_equal(&state.motion, &plain, sizeof plain);
        assert_memory_equal(&output, &plain_output, sizeof output);
        assert_memory_equal(&out, &plain_out, sizeof out);
        if (ff_scheme_holds(config.scheme)) {
            ff_integrate_finish(&body.still.rigid, config.cycle, late, &plain, &plain_output, &plain_out);
            ff_body_finish(&body, &config, NULL, late, &state, &output, &out);
            assert_memory_equal(&state.motion, &plain, sizeof plain);
            assert_memory_equal(&out, &plain_out, sizeof out);
        }
        /* thrust: the same force, given in body axes */
        ff_body_reset(&body, NULL, &start, NULL, NULL, &state);
        ff_integrate_reset(&start, &output);
        in = (ff_body_in){.contact = contact,
                          .thrust = {loads.torque, ff_quat_unrotate(start.attitude, loads.force)}};
        ff_body_step(&body, &config, NULL, &in, &state, &output, &out);
        plain = start;
        ff_integrate_reset(&start, &plain_output);
        ff_integrate_step(&config, &body.still.rigid, contact, loads, &plain, &plain_output, &plain_out);
        assert_vec3_near(state.motion.velocity, plain.velocity, 1e-15);
        assert_vec3_near(state.motion.omega, plain.omega, 1e-15);
    }
}

/* Whole momentum about the inertial origin after a cycle: what it was, plus T times each wrench where it acts
 * (thrust at the pose of the cycle's middle, which the momentum itself gives to second order). */
static void test_tree_gains_the_momentum_of_its_wrenches(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    static _Alignas(64) unsigned char memory[2][200000];
    servicer_model table;
    ff_tree_model *tree;
    ff_body body;
    ff_body_work *work;
    servicer_model_make(&table);
    assert_int_equal(ff_tree_create(&table.config, memory[0], sizeof memory[0], &tree, NULL, 0), FF_OK);
    const ff_tree_frame gripper = servicer_gripper();
    assert_int_equal(ff_body_tree(tree, 1, &gripper, &body), FF_OK);
    assert_int_equal(ff_body_work_create(&body, memory[1], sizeof memory[1], &work), FF_OK);
    const ff_integrate_config config = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004};
    const double T = config.cycle;
    for (int n = 0; n < 100; n++) {
        const ff_rigid_state start = {test_random_vec3(&rng, 5), test_random_quat(&rng),
                                      test_random_vec3(&rng, 0.3), test_random_vec3(&rng, 0.2)};
        double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX];
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            q[i] = ff_rng_range(&rng, -2, 2);
            qd[i] = ff_rng_range(&rng, -1, 1);
        }
        ff_body_state state;
        ff_body_view view;
        ff_integrate_state output;
        ff_integrate_out out;
        ff_body_reset(&body, work, &start, q, qd, &state);
        assert_int_equal(ff_body_measure(&body, work, T, q, qd, &state, &view), FF_OK);
        const ff_vec3 linear = state.linear, origin = state.origin;
        const ff_rigid_load late = random_load(&rng);
        const ff_body_in in = {.contact = random_load(&rng), .loads = random_load(&rng)};
        ff_body_step(&body, &config, work, &in, &state, &output, &out);
        const ff_vec3 R_contact = ff_quat_rotate(start.attitude, in.contact.torque);
        ff_vec3 p = ff_vec3_axpy(T, ff_vec3_add(in.contact.force, in.loads.force), linear);
        /* a load's force turns with the base: T w/2 of it */
        assert_vec3_near(state.linear, p, 0.5 * T * T * 0.4 * 90);
        ff_vec3 L =
            ff_vec3_axpy(T, ff_vec3_add(R_contact, ff_vec3_cross(start.position, in.contact.force)), origin);
        L = ff_vec3_axpy(T,
                         ff_vec3_add(ff_quat_rotate(start.attitude, in.loads.torque),
                                     ff_vec3_cross(start.position, in.loads.force)),
                         L);
        assert_vec3_near(state.origin, L, 0.5 * T * T * 90 * (0.4 * 9 + 1 + 0.4));
        assert_near(out.contact, T * ff_rigid_power(in.contact, start.velocity, start.omega), 1e-12);
        /* work of a constant load over the base's travel: trapezoid against displacement, T^2 w apart */
        assert_near(out.loads,
                    ff_vec3_dot(in.loads.force, ff_vec3_sub(state.motion.position, start.position)) +
                        T * ff_vec3_dot(in.loads.torque, start.omega),
                    1e-3);
        const ff_body_state before = state;
        ff_body_finish(&body, &config, work, late, &state, &output, &out);
        assert_vec3_near(state.linear, ff_vec3_axpy(T, late.force, before.linear), 1e-12);
        const ff_vec3 torque = ff_vec3_add(ff_quat_rotate(state.motion.attitude, late.torque),
                                           ff_vec3_cross(state.motion.position, late.force));
        assert_vec3_near(state.origin, ff_vec3_axpy(T, torque, before.origin), 1e-11);
        assert_vec3_near(state.motion.position, before.motion.position, 0);
        assert_near(out.contact, 2 * T * ff_rigid_power(in.contact, start.velocity, start.omega), 1e-12);
        assert_memory_equal(&output.velocity_c, &state.motion.velocity, sizeof output.velocity_c);
        assert_memory_equal(&output.omega_c, &state.motion.omega, sizeof output.omega_c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_body_is_the_integrator),
        cmocka_unit_test(test_tree_gains_the_momentum_of_its_wrenches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
