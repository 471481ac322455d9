/* lib/loop: bad samples hold the last safe command, the state stays finite, nothing is allocated. */
#include "mini_plant.h"

#include <malloc.h>

TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static ff_loop_info info;
static ff_loop_in in;
static ff_loop_out out;

static ff_loop_config base_config(void) {
    ff_loop_config config;
    ff_loop_default(&config);
    config.body[0].rigid = (ff_rigid_config){280, ff_mat3_diag(18, 20, 22)};
    config.body[0].start.velocity = ff_vec3_make(0.01, 0.02, 0.03);
    config.body[0].start.omega = ff_vec3_make(0.1, 0.2, 0.3);
    return config;
}

static void start(const ff_loop_config *config) {
    char message[128] = "";
    assert_int_equal(test_loop_create(config, model, message, sizeof message), FF_OK);
    test_loop_reset(model, state, &info, &out);
    in = (ff_loop_in){0};
    for (int i = 0; i < FF_MAX_BODIES; i++)
        in.sensor[i].T_wb = ff_pose_identity();
}

static void test_bad_sample_holds_last_safe_command(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    config.body[0].wrench.max_age = 0.01;
    config.body[0].wrench.force_limit = 100;
    start(&config);
    for (int k = 0; k < 10; k++)
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    const ff_setpoint safe = out.next[0];
    const ff_rigid_state before = state->body[0];
    const double bad[] = {FF_NAN, FF_INF, -FF_INF};
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 6; a++) {
            in.sensor[0].f_s = ff_wrench_zero();
            *(a < 3 ? &in.sensor[0].f_s.f.a[a] : &in.sensor[0].f_s.t.a[a - 3]) = bad[i];
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
            assert_int_equal(out.sensor_status[0], FF_ERR_NOT_FINITE);
            assert_vec3_near(out.command[0].T.p, safe.T.p, 0.0);
            assert_vec3_near(out.command[0].twist.v, ff_vec3_zero(), 0.0);
            assert_vec3_near(state->body[0].position, before.position, 0.0);
        }
    assert_int_equal(info.not_finite, 18);
    in.sensor[0].f_s = ff_wrench_zero();
    in.sensor[0].age = 0.011;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
    assert_int_equal(info.stale, 1);
    in.sensor[0].age = 0;
    in.sensor[0].f_s.f.y = -100;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
    assert_int_equal(info.saturated, 1);
    in.sensor[0].f_s.f.y = 0;
    in.load[0].force.x = FF_NAN;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
    in.load[0].force.x = 0;
    in.sensor[0].twist.v.z = FF_NAN;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
    in.sensor[0].twist.v.z = 0;
    assert_int_equal(info.held, 22);
    /* and it continues from where it stood */
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    assert_vec3_near(out.command[0].T.p, before.position, 1e-15);
}

static void test_overflow_is_diverged_and_state_stays_finite(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    test_method(&config, &ff_method_direct, 0);
    start(&config);
    in.sensor[0].f_s.t = ff_vec3_make(1e300, 1e300, 1e300);
    ff_status status = FF_OK;
    for (int k = 0; k < 20 && status == FF_OK; k++)
        status = ff_loop_step(model, state, &info, &in, &out);
    assert_int_equal(status, FF_ERR_DIVERGED);
    assert_true(ff_rigid_finite(&state->body[0]));
    assert_true(ff_pose_finite(out.command[0].T));
}

static void test_create_names_what_is_wrong(void **unused) {
    (void)unused;
    char message[128];
    ff_loop_config config = base_config();
    config.bodies = 0;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_ARGUMENT);
    config = base_config();
    config.bodies = 2;
    config.body[1].rigid.mass = -1;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_MASS);
    assert_string_equal(message, "body 1: mass and inertia: the mass must be positive");
    config = base_config();
    config.integrate.cycle = 0;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_ARGUMENT);
    config = base_config();
    config.method = NULL;
    assert_int_equal(test_loop_create(&config, model, message, 8), FF_ERR_UNSUPPORTED);
    assert_int_equal(strlen(message), 7);
    config = base_config();
    config.body[0].wrench.force_limit = 0;
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_ERR_ARGUMENT);
    config = base_config();
    config.body[0].gate.velocity = -1;
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_ERR_ARGUMENT);
    config = base_config();
    config.body[0].start.position.x = FF_NAN;
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_ERR_NOT_FINITE);
    config = base_config();
    config.world.force_noise = FF_NAN; /* and so is the threshold */
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_ARGUMENT);
    assert_non_null(strstr(message, "thresholds must not be negative"));
    config = base_config();
    ff_mount_default(&config.body[0].mount);
    config.body[0].mount.rate = 100.0;
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_OK);
    assert_true(model->mount[0].elastic);
    config.body[0].mount.ratio = -1.0;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_ARGUMENT);
    assert_non_null(strstr(message, "body 0: elastic mount"));
    config.body[0].mount.ratio = 0.02;
    config.body[0].wrench.environment = true; /* that sensor does not bend with the mock-up */
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_ERR_UNSUPPORTED);
}

/* The ledger closes to 1e-12 of the energy exchanged, for every scheme and both tdpa readings, in contact. */
static void test_ledger_closes(void **unused) {
    (void)unused;
    for (int scheme = 0; scheme < 4; scheme++)
        for (int printed = 0; printed < 2; printed++) {
            ff_loop_config config = base_config();
            config.integrate.scheme = (ff_scheme)scheme;
            config.body[0].start.omega = ff_vec3_make(0.01, 0.02, 0.03);
            if (printed)
                test_method(&config, &ff_method_tdpa, 1);
            start(&config);
            mini_plant plant = {.delay = 5,
                                .point_b = {{0.3, -0.2, 0.4}},
                                .at = {{0, 0, 0.41}},
                                .normal = {{0, 0, -1}},
                                .stiffness = 5000,
                                .damping = 30};
            mini_plant_start(&plant, &config);
            const double begin = state->energy[0].kinetic;
            double flow = 0, last = 0, worst = 0;
            for (int k = 0; k < 1500; k++) {
                mini_plant_cycle(&plant, (uint64_t)k, &out.next[0], &in);
                in.load[0] = (ff_rigid_load){{{1, -2, 0.5}}, {{0.1, 0.2, -0.1}}};
                assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
                const ff_energy *e = &state->energy[0];
                flow += fabs(e->exchanged - last);
                last = e->exchanged;
                worst = fmax(worst, fabs(e->kinetic - begin - ff_energy_sum(e)));
            }
            print_message("%s%s: %.2g of %.3g J\n", ff_scheme_name((ff_scheme)scheme),
                          printed ? " printed" : "", worst, flow);
            assert_true(flow > 0.01);
            assert_true(worst < 1e-12 * flow);
        }
}

static void test_million_steps_allocate_nothing(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    start(&config);
    mini_plant plant = {.delay = 10,
                        .point_b = {{0.3, -0.2, 0.4}},
                        .at = {{0, 0, 0.5}},
                        .normal = {{0, 0, -1}},
                        .stiffness = 2000,
                        .damping = 5};
    mini_plant_start(&plant, &config);
    const struct mallinfo2 before = mallinfo2();
    for (int k = 0; k < 1000000; k++) {
        mini_plant_cycle(&plant, (uint64_t)k, &out.next[0], &in);
        if (ff_loop_step(model, state, &info, &in, &out) != FF_OK)
            fail_msg("cycle %d", k);
        if (k % 100000 == 0)
            plant.at.z = state->body[0].position.z + 0.45;
    }
    const struct mallinfo2 after = mallinfo2();
    assert_int_equal(after.uordblks, before.uordblks);
    assert_int_equal(after.hblkhd, before.hblkhd);
    assert_int_equal(state->k, 1000000);
}

/* Limits hold on every axis, and what is not limited passes unchanged. */
static void test_gate_limits_commands(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    config.body[0].gate.velocity = 0.02; /* the satellite: 0.01, 0.02, 0.03 m/s */
    config.body[0].gate.angular_velocity = 0.1;
    start(&config);
    ff_setpoint last = out.next[0];
    for (int k = 0; k < 100; k++) {
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        const ff_vec3 step = ff_vec3_sub(out.next[0].T.p, last.T.p);
        const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(last.T.q), out.next[0].T.q));
        for (int a = 0; a < 3; a++) {
            assert_true(fabs(step.a[a]) <= 0.02 * 0.004 * (1 + 1e-9));
            assert_true(fabs(turn.a[a]) <= 0.1 * 0.004 * (1 + 1e-3));
            assert_true(fabs(out.next[0].twist.w.a[a]) <= 0.1 * (1 + 1e-12));
        }
        assert_near(step.x, 0.01 * 0.004, 1e-15);
        assert_near(step.z, 0.02 * 0.004, 1e-15);
        assert_int_equal(out.gate_status[0], FF_INFO_LIMITED);
        last = out.next[0];
    }
    assert_int_equal(info.gate[0].limited, 100);
}

/* After a jump of the wish the gate follows within velocity, acceleration and jerk, meets it without
 * overshoot, and then passes it through bit by bit. */
static void test_gate_follows_within_all_limits(void **unused) {
    (void)unused;
    ff_gate_config config;
    ff_gate_default(&config);
    config.velocity = 0.5;
    config.acceleration = 2.0;
    config.jerk = 50.0;
    config.angular_velocity = 1.0;
    config.angular_acceleration = 5.0;
    config.angular_jerk = 100.0;
    assert_int_equal(ff_gate_validate(&config), FF_OK);
    ff_gate_state gate;
    ff_gate_info counts;
    const ff_setpoint home = {ff_pose_identity(), ff_twist_zero()};
    ff_gate_reset(home, &gate, &counts);
    const ff_setpoint wish = {{ff_quat_exp(ff_vec3_make(0, 0.3, 0)), {{0.2, -0.1, 0}}}, ff_twist_zero()};
    ff_setpoint last = home, command = home;
    ff_vec3 acceleration = ff_vec3_zero();
    int k = 0;
    for (; k < 1000; k++) {
        const ff_status status = ff_gate_step(&config, &gate, &counts, wish, &command);
        const ff_vec3 a = ff_vec3_scale(1 / config.cycle, ff_vec3_sub(command.twist.v, last.twist.v));
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(command.twist.v.a[i]) <= 0.5 * (1 + 1e-9));
            assert_true(fabs(a.a[i]) <= 2.0 * (1 + 1e-9));
            assert_true(fabs(a.a[i] - acceleration.a[i]) <= 50.0 * config.cycle * (1 + 1e-6));
            assert_true(fabs(command.twist.w.a[i]) <= 1.0 * (1 + 1e-9));
        }
        assert_true(command.T.p.x <= 0.2 * (1 + 1e-9) && command.T.p.y >= -0.1 * (1 + 1e-9));
        acceleration = a;
        last = command;
        if (status == FF_OK)
            break;
    }
    assert_true(k > 10 && k < 200);
    assert_int_equal(counts.limited, (uint64_t)k);
    assert_memory_equal(&command, &wish, sizeof wish);
    assert_int_equal(ff_gate_step(&config, &gate, &counts, wish, &command), FF_OK);
    ff_setpoint bad = wish;
    bad.twist.v.y = FF_NAN;
    assert_int_equal(ff_gate_step(&config, &gate, &counts, bad, &command), FF_INFO_HELD);
    assert_int_equal(counts.held, 1);
    assert_memory_equal(&command, &wish, sizeof wish); /* which stands still */
    config.jerk = 0.0;
    assert_int_equal(ff_gate_validate(&config), FF_ERR_ARGUMENT);
}

/* A steady motion within the limits passes untouched, whatever its pose; each limit alone acts; and what
 * holds stands still: it starts again from rest. */
static void test_gate_of_a_moving_wish(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < 20; n++) {
        ff_gate_config config;
        ff_gate_default(&config);
        config.velocity = config.angular_velocity = 1.0;
        config.acceleration = config.angular_acceleration = 10.0;
        config.jerk = config.angular_jerk = 1000.0;
        ff_setpoint wish = {test_random_pose(&rng, 1.0),
                            {test_random_vec3(&rng, 0.3), test_random_vec3(&rng, 0.3)}},
                    command;
        ff_gate_state gate;
        ff_gate_info counts;
        ff_gate_reset(wish, &gate, &counts);
        for (int k = 0; k < 20; k++) {
            wish.T.p = ff_vec3_axpy(config.cycle, wish.twist.v, wish.T.p);
            wish.T.q =
                ff_quat_unit(ff_quat_mul(wish.T.q, ff_quat_exp(ff_vec3_scale(config.cycle, wish.twist.w))));
            const ff_status status = ff_gate_step(&config, &gate, &counts, wish, &command);
            /* to rounding it is met in the cycle; what is sent then is the wish itself */
            if (status == FF_OK)
                assert_memory_equal(&command, &wish, sizeof wish);
            assert_vec3_near(command.T.p, wish.T.p, 1e-12);
            assert_vec3_near(command.twist.v, wish.twist.v, 1e-9);
            assert_vec3_near(command.twist.w, wish.twist.w, 1e-9);
            assert_true(ff_quat_angle(command.T.q, wish.T.q) < 1e-9);
        }
        wish.T.p.x += 0.5; /* in the middle of a limited motion the wish is lost: it stands, and forgets */
        for (int k = 0; k < 3; k++)
            assert_int_equal(ff_gate_step(&config, &gate, &counts, wish, &command), FF_INFO_LIMITED);
        assert_true(ff_vec3_norm(gate.acceleration.v) > 1.0);
        const ff_setpoint before = command;
        ff_setpoint bad = wish;
        bad.T.p.z = FF_NAN;
        assert_int_equal(ff_gate_step(&config, &gate, &counts, bad, &command), FF_INFO_HELD);
        assert_memory_equal(&command.T, &before.T, sizeof command.T);
        assert_vec3_near(command.twist.v, ff_vec3_zero(), 0.0);
        assert_vec3_near(command.twist.w, ff_vec3_zero(), 0.0);
        assert_vec3_near(gate.acceleration.v, ff_vec3_zero(), 0.0);
        assert_vec3_near(gate.acceleration.w, ff_vec3_zero(), 0.0);
    }
    for (int n = 0; n < 6; n++) {
        ff_gate_config config;
        ff_gate_default(&config);
        double *const limit[] = {
            &config.velocity,         &config.acceleration,         &config.jerk,
            &config.angular_velocity, &config.angular_acceleration, &config.angular_jerk};
        *limit[n] = 0.1;
        ff_gate_state gate;
        ff_gate_info counts;
        ff_gate_reset((ff_setpoint){ff_pose_identity(), ff_twist_zero()}, &gate, &counts);
        const ff_setpoint wish = {{ff_quat_exp(ff_vec3_make(0.2, 0, 0)), {{0.1, 0, 0}}}, ff_twist_zero()};
        ff_setpoint command;
        assert_int_equal(ff_gate_step(&config, &gate, &counts, wish, &command), FF_INFO_LIMITED);
        assert_true(n < 3 ? command.T.p.x < 0.001 : ff_quat_log(command.T.q).x < 0.001);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_sample_holds_last_safe_command),
        cmocka_unit_test(test_overflow_is_diverged_and_state_stays_finite),
        cmocka_unit_test(test_create_names_what_is_wrong),
        cmocka_unit_test(test_ledger_closes),
        cmocka_unit_test(test_million_steps_allocate_nothing),
        cmocka_unit_test(test_gate_limits_commands),
        cmocka_unit_test(test_gate_follows_within_all_limits),
        cmocka_unit_test(test_gate_of_a_moving_wish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
