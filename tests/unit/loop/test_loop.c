/* lib/loop: bad samples hold the last safe command, the state stays finite, nothing is allocated; motion
 * relative to a satellite; reports. */
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

static void test_many_steps_allocate_nothing(void **unused) {
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
    const int steps = test_count(200000, 1000000);
    const struct mallinfo2 before = mallinfo2();
    for (int k = 0; k < steps; k++) {
        mini_plant_cycle(&plant, (uint64_t)k, &out.next[0], &in);
        if (ff_loop_step(model, state, &info, &in, &out) != FF_OK)
            fail_msg("cycle %d", k);
        if (k % 20000 == 0)
            plant.at.z = state->body[0].position.z + 0.45;
    }
    const struct mallinfo2 after = mallinfo2();
    assert_int_equal(after.uordblks, before.uordblks);
    assert_int_equal(after.hblkhd, before.hblkhd);
    assert_int_equal(state->k, steps);
}

/* Every number of every input in turn is not one, on both bodies: nothing moves, every robot is commanded its
 * last pose, standing still, and the run continues from there. Behind a mock-up the acceleration counts. */
static void test_not_finite_in_any_input_holds(void **unused) {
    (void)unused;
    enum { SENSOR = sizeof(ff_wrench_in) / sizeof(double), LOAD = 6, SENT = 14 };
    const double bad[] = {FF_NAN, FF_INF, -FF_INF};
    const size_t age = offsetof(ff_wrench_in, age) / sizeof(double);
    ff_loop_config config = base_config();
    config.bodies = 2;
    config.body[1] = config.body[0];
    config.body[0].wrench.mockup_mass = config.body[1].wrench.mockup_mass = 1.0;
    config.body[0].wrench.max_age = config.body[1].wrench.max_age = 0.01;
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < 2; i++)
            for (size_t n = 0; n < SENSOR + LOAD + SENT; n++) {
                start(&config);
                for (int k = 0; k < 3; k++)
                    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
                const ff_loop_in good = in;
                const ff_setpoint safe[2] = {out.next[0], out.next[1]};
                const ff_rigid_state before = state->body[0];
                double *const number = n < SENSOR          ? (double *)&in.sensor[i] + n
                                       : n < SENSOR + LOAD ? (double *)&in.load[i] + (n - SENSOR)
                                                           : (double *)&in.sent[i] + (n - SENSOR - LOAD);
                *number = bad[b];
                const bool young = n == age && b == 2; /* from the future: as good as fresh */
                const ff_status status = ff_loop_step(model, state, &info, &in, &out);
                for (int o = 0; o < 2; o++) {
                    assert_true(ff_pose_finite(out.command[o].T) && ff_twist_finite(out.command[o].twist));
                    assert_true(ff_pose_finite(out.next[o].T) && ff_twist_finite(out.next[o].twist));
                    assert_true(ff_wrench_finite(out.measured_b[o]));
                }
                if (young) {
                    assert_int_equal(status, FF_OK);
                    continue;
                }
                if (status != FF_INFO_HELD)
                    fail_msg("body %d, number %zu, %g: status %d", i, n, bad[b], status);
                assert_int_equal(info.held, 1);
                assert_int_equal(info.not_finite + info.stale, 1);
                for (int o = 0; o < 2; o++) {
                    assert_int_equal(out.command_status[o], FF_INFO_HELD);
                    assert_memory_equal(&out.command[o].T, &safe[o].T, sizeof safe[o].T);
                    assert_vec3_near(out.command[o].twist.v, ff_vec3_zero(), 0.0);
                    assert_vec3_near(out.command[o].twist.w, ff_vec3_zero(), 0.0);
                }
                assert_memory_equal(&state->body[0], &before, sizeof before);
                in = good;
                assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
                assert_true(ff_rigid_finite(&state->body[0]) && ff_rigid_finite(&state->body[1]));
                assert_int_equal(out.command_status[0], FF_OK);
            }
}

/* A method whose outputs are spoiled: number `spoils` of one struct of ff_method_out. */
static struct {
    int part, spoils;
    double value;
    ff_status status;
} spoil;

static ff_status spoiled_step(const void *m, void *s, const ff_method_in *given, ff_method_out *felt) {
    (void)m;
    (void)s;
    for (int i = 0; i < given->bodies; i++) {
        felt->command[i] = felt->next_command[i] = given->body[i];
        felt->next[i] = given->body[i];
    }
    felt->has_command = spoil.part == 0 || spoil.part == 1;
    felt->has_next[0] = spoil.part == 4;
    double *const part[] = {(double *)&felt->command[0], (double *)&felt->next_command[0],
                            (double *)&felt->f_b[0], (double *)&felt->body[0], (double *)&felt->next[0]};
    if (spoil.part >= 0)
        part[spoil.part][spoil.spoils] = spoil.value;
    return spoil.status;
}

/* A command that is not finite holds its own robot alone; a wrench or a motion that is not is a fault that
 * leaves the satellites as they were; a fault of the method's own is passed on. The commands stay finite. */
static void test_not_finite_from_a_method_holds(void **unused) {
    (void)unused;
    ff_method method = ff_method_direct;
    method.name = "spoiled";
    method.step = spoiled_step;
    ff_loop_config config = base_config();
    config.bodies = 2;
    config.body[1] = config.body[0];
    config.method = &method;
    const int sizes[] = {13, 13, 6, 13, 13};
    const double bad[] = {FF_NAN, FF_INF, -FF_INF};
    for (int part = 0; part < 5; part++)
        for (int n = 0; n < sizes[part]; n++)
            for (int b = 0; b < 3; b++) {
                spoil.part = -1;
                spoil.status = FF_OK;
                start(&config);
                for (int k = 0; k < 3; k++)
                    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
                const ff_setpoint safe = out.next[0];
                const ff_rigid_state before = state->body[0];
                spoil.part = part;
                spoil.spoils = n;
                spoil.value = bad[b];
                const ff_status status = ff_loop_step(model, state, &info, &in, &out);
                const ff_status expected = part < 2 ? FF_INFO_HELD : FF_ERR_DIVERGED;
                if (status != expected)
                    fail_msg("part %d, number %d, %g: status %d", part, n, bad[b], status);
                assert_memory_equal(&out.command[0].T, &safe.T, sizeof safe.T);
                assert_vec3_near(out.command[0].twist.v, ff_vec3_zero(), 0.0);
                assert_int_equal(out.command_status[0], FF_INFO_HELD);
                assert_int_equal(out.command_status[1], part < 2 ? FF_OK : FF_INFO_HELD);
                assert_true(ff_rigid_finite(&state->body[0]) && ff_rigid_finite(&state->body[1]));
                if (part >= 2)
                    assert_memory_equal(&state->body[0], &before, sizeof before);
                assert_int_equal(info.held, 1);
            }
    spoil.part = -1;
    spoil.status = FF_ERR_DEVICE;
    start(&config);
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_ERR_DEVICE);
    assert_int_equal(out.command_status[0], FF_INFO_HELD);
}

/* What was sent reaches the method as it was given. */
static const ff_sent *seen_sent;

static ff_status seeing_step(const void *m, void *s, const ff_method_in *given, ff_method_out *felt) {
    (void)m;
    (void)s;
    (void)felt;
    seen_sent = given->sent;
    return FF_OK;
}

static void test_what_was_sent_reaches_the_method(void **unused) {
    (void)unused;
    ff_method method = ff_method_direct;
    method.step = seeing_step;
    ff_loop_config config = base_config();
    config.method = &method;
    start(&config);
    in.sent[0] = (ff_sent){{{ff_quat_identity(), ff_vec3_make(1, 2, 3)}, ff_twist_zero()}, 0.25, true};
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    assert_memory_equal(seen_sent, &in.sent[0], sizeof *seen_sent);
}

/* Motion relative to one of the satellites, torque-free spheres: that one's robot stands still, the other's
 * makes the closed form, each for the time that its command leads. */
static void test_relative_to_a_satellite(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 48);
    for (int n = 0; n < 6; n++) {
        ff_loop_config config = base_config();
        config.bodies = 2;
        test_method(&config, n < 2 ? &ff_method_direct : &ff_method_fused, 0);
        config.relative = (ff_relative_config){.enabled = true, .nominal = FF_NOMINAL_SATELLITE, .of = n % 2};
        for (int i = 0; i < 2; i++) {
            config.body[i].rigid = (ff_rigid_config){50 + 20 * i, ff_mat3_diag(12, 12, 12)};
            config.body[i].start = (ff_rigid_state){test_random_vec3(&rng, 1), test_random_quat(&rng),
                                                    test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)};
            config.world.body[i].delay = n < 2 ? 0.0 : n < 4 ? 0.02 : 0.012 * (i + 1);
        }
        start(&config);
        const ff_setpoint same = {test_random_pose(&rng, 1),
                                  {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)}};
        for (int k = 0; k < 20; k++) {
            for (int i = 0; i < 2; i++)
                in.sensor[i] = (ff_wrench_in){.T_wb = out.next[i].T, .twist = out.next[i].twist};
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
            for (int i = 0; i < 2; i++) {
                const double t = k * config.integrate.cycle + ff_loop_lead(model, state, i);
                ff_pose at[2];
                for (int o = 0; o < 2; o++) {
                    const ff_rigid_state *x = &config.body[o].start;
                    at[o] = (ff_pose){ff_quat_mul(x->attitude, ff_quat_exp(ff_vec3_scale(t, x->omega))),
                                      ff_vec3_axpy(t, x->velocity, x->position)};
                }
                const ff_pose made = ff_pose_mul(ff_pose_inverse(at[n % 2]), at[i]);
                assert_vec3_near(out.command[i].T.p, made.p, 1e-11);
                assert_near(ff_quat_angle(out.command[i].T.q, made.q), 0.0, 1e-11);
            }
            assert_vec3_near(out.command[n % 2].twist.v, ff_vec3_zero(), 1e-12);
            assert_vec3_near(out.command[n % 2].twist.w, ff_vec3_zero(), 1e-12);
        }
        const ff_setpoint there = ff_loop_to_inertial(model, &state->nominal.motion, same);
        assert_vec3_near(there.T.p, ff_pose_mul(ff_rigid_pose(&state->body[n % 2]), same.T).p, 1e-12);
        /* without it the lab is the inertial frame */
        config.relative.enabled = false;
        start(&config);
        const ff_setpoint back = ff_loop_to_inertial(model, &state->nominal.motion, same);
        assert_memory_equal(&back, &same, sizeof same);
    }
}

static void test_reports_by_name(void **unused) {
    (void)unused;
    ff_loop_config config;
    for (int m = 0; ff_method_at(m); m++) {
        const ff_method *method = ff_method_at(m);
        ff_loop_default(&config);
        test_method(&config, method, 0);
        config.body[0].rigid = (ff_rigid_config){100, ff_mat3_diag(20, 21, 22)};
        char message[200] = "";
        if (test_loop_create(&config, model, message, sizeof message) != FF_OK)
            fail_msg("%s: %s", method->name, message);
        test_loop_reset(model, state, &info, &out);
        for (int run = 0; run < 2; run++) {
            double values[FF_METHOD_VALUES] = {0};
            const int count = ff_loop_report(model, state, run ? -1 : 0, values);
            assert_int_equal(count, ff_method_values(method, run));
            int at = 0;
            for (uint32_t c = 0; c < method->columns; c++) {
                if (method->column[c].run != (run != 0))
                    continue;
                /* each column where the ones before it end */
                assert_ptr_equal(ff_method_value(method, run, values, method->column[c].name), &values[at]);
                at += method->column[c].type == FF_REPORT_VECTOR ? 3 : 1;
            }
            assert_int_equal(at, count);
            assert_null(ff_method_value(method, run, values, "no such column"));
        }
    }
}

/* What is given of a body that there is not is not read, and nothing is kept of it. */
static void test_bodies_that_there_are_not_are_not_read(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    start(&config);
    ff_wrench_in none;
    for (size_t i = 0; i < sizeof none / sizeof(double); i++)
        memcpy((char *)&none + i * sizeof(double), &(double){FF_NAN}, sizeof(double));
    in.sensor[1] = none;
    in.load[1].force.x = in.sent[1].lag = FF_NAN;
    const ff_rigid_state body = state->body[1];
    const ff_wrench last = state->last_wrench[1];
    const ff_setpoint command = state->last[1];
    for (int k = 0; k < 3; k++)
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    assert_int_equal(info.not_finite + info.stale + info.saturated + info.held, 0);
    assert_memory_equal(&state->body[1], &body, sizeof body);
    assert_memory_equal(&state->last_wrench[1], &last, sizeof last);
    assert_memory_equal(&state->last[1], &command, sizeof command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_sample_holds_last_safe_command),
        cmocka_unit_test(test_overflow_is_diverged_and_state_stays_finite),
        cmocka_unit_test(test_create_names_what_is_wrong),
        cmocka_unit_test(test_ledger_closes),
        cmocka_unit_test(test_many_steps_allocate_nothing),
        cmocka_unit_test(test_not_finite_in_any_input_holds),
        cmocka_unit_test(test_not_finite_from_a_method_holds),
        cmocka_unit_test(test_what_was_sent_reaches_the_method),
        cmocka_unit_test(test_relative_to_a_satellite),
        cmocka_unit_test(test_reports_by_name),
        cmocka_unit_test(test_bodies_that_there_are_not_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
