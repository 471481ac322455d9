/* The loop around a method that only watches: what reaches it, what becomes of its wrench (held or not,
 * absolute or relative), where the energy is booked, calibration between cycles, elastic mounts and arms, and
 * every refusal of a configuration. */
#include "loop_support.h"

static ff_rng rng;
TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static ff_loop_info info;
static ff_loop_in in;
static ff_loop_out out;

/* ------------------------------------------------------------------------------------ a method that watches
 * -- */

static struct {
    ff_body_sample sample[FF_MAX_BODIES];
    double compliance[FF_MAX_BODIES][6][6];
    bool compliant[FF_MAX_BODIES];
    double scale; /* of the measured wrench that it lets act */
    ff_status status;
    double skew;
} spy;

static ff_status watch(const void *m, void *s, const ff_method_in *given, ff_method_out *result) {
    (void)m;
    (void)s;
    for (int i = 0; i < given->bodies; i++) {
        spy.sample[i] = given->sample[i];
        spy.compliant[i] = given->sample[i].compliance != NULL;
        if (spy.compliant[i])
            memcpy(spy.compliance[i], given->sample[i].compliance, sizeof spy.compliance[i]);
        result->f_b[i] = ff_wrench_scale(spy.scale, given->sample[i].f_b);
    }
    return spy.status;
}

static void watch_create(const ff_world *world, const void *settings, uint64_t given, void *memory) {
    (void)settings;
    (void)given;
    (void)memory;
    spy.skew = world->skew;
}

static const ff_method watching = {FF_METHOD("watching", "1", "A test."),
                                   .needs = FF_NEEDS_COMPLIANCE,
                                   .can = FF_CAN_RELATIVE,
                                   .variants = 1,
                                   .model_bytes = 8,
                                   .state_bytes = 8,
                                   .create = watch_create,
                                   .step = watch};

static void start(const ff_loop_config *config) {
    char message[200] = "";
    if (test_loop_create(config, model, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    test_loop_reset(model, state, &info, &out);
    in = (ff_loop_in){0};
    for (int i = 0; i < config->bodies; i++)
        in.sensor[i] = (ff_wrench_in){.T_wb = ff_rigid_pose(&config->body[i].start),
                                      .twist = {config->body[i].start.omega, config->body[i].start.velocity}};
}

static void draw(ff_loop_config *config, int bodies) {
    ff_loop_default(config);
    test_method(config, &watching, 0);
    spy.scale = 1.0;
    spy.status = FF_OK;
    config->bodies = bodies;
    for (int i = 0; i < bodies; i++) {
        if (i)
            config->body[i] = config->body[0];
        config->body[i].rigid =
            (ff_rigid_config){ff_rng_range(&rng, 50, 200), ff_mat3_diag(ff_rng_range(&rng, 10, 12), 13, 14)};
        config->body[i].start = (ff_rigid_state){test_random_vec3(&rng, 1), test_random_quat(&rng),
                                                 test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)};
    }
}

static ff_wrench random_wrench(void) {
    return (ff_wrench){test_random_vec3(&rng, 5), test_random_vec3(&rng, 20)};
}

/* ------------------------------------------------------------------------------------------------- samples
 * -- */

static void test_a_sample_is_valid_when_fresh(void **unused) {
    (void)unused;
    ff_loop_config config;
    draw(&config, 2);
    start(&config);
    const double T = config.integrate.cycle;
    const double age[] = {0.0, 0.49, 0.51, 0.9, 1.5};
    for (int k = 0; k < 5; k++) {
        in.sensor[0].age = age[k] * T;
        in.sensor[1].age = 0.0;
        in.sensor[0].f_s = random_wrench();
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        assert_int_equal(spy.sample[0].valid, age[k] < 0.5);
        assert_true(spy.sample[1].valid);
        assert_vec3_near(spy.sample[0].f_b.f, in.sensor[0].f_s.f, 1e-13);
    }
}

/* Relative: robots make the motion relative to the nominal one; the method sees it in space, with what the
 * frame carries. */
static void test_relative_samples_are_mapped(void **unused) {
    (void)unused;
    for (int n = 0; n < 10; n++) {
        ff_loop_config config;
        draw(&config, 1);
        config.relative =
            (ff_relative_config){.enabled = true,
                                 .nominal = FF_NOMINAL_PRESCRIBED,
                                 .start = {test_random_vec3(&rng, 1), test_random_quat(&rng),
                                           test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)}};
        start(&config);
        const ff_rigid_state N = state->nominal.motion;
        in.sensor[0].T_wb = test_random_pose(&rng, 1);
        in.sensor[0].twist = (ff_twist){test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)};
        in.sensor[0].f_s = random_wrench();
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        const ff_pose at = ff_pose_mul(ff_rigid_pose(&N), in.sensor[0].T_wb);
        assert_vec3_near(spy.sample[0].T_wr.p, at.p, 1e-13);
        assert_near(ff_quat_angle(spy.sample[0].T_wr.q, at.q), 0.0, 1e-13);
        /* velocity of the place in the nominal frame, and the robot's own in its axes */
        const ff_vec3 carried = ff_vec3_add(
            N.velocity, ff_vec3_cross(ff_quat_rotate(N.attitude, N.omega), ff_vec3_sub(at.p, N.position)));
        assert_vec3_near(spy.sample[0].carried, carried, 1e-13);
        assert_vec3_near(spy.sample[0].twist_r.v,
                         ff_vec3_add(carried, ff_quat_rotate(N.attitude, in.sensor[0].twist.v)), 1e-13);
        assert_vec3_near(
            ff_quat_rotate(at.q, spy.sample[0].twist_r.w),
            ff_vec3_add(ff_quat_rotate(at.q, in.sensor[0].twist.w), ff_quat_rotate(N.attitude, N.omega)),
            1e-13);
        /* and back */
        const ff_setpoint robot = {in.sensor[0].T_wb, in.sensor[0].twist},
                          there = ff_loop_to_inertial(model, &N, robot),
                          back = ff_loop_to_robot(model, &N, there);
        assert_vec3_near(there.T.p, at.p, 1e-13);
        assert_vec3_near(back.T.p, robot.T.p, 1e-13);
        assert_vec3_near(back.twist.v, robot.twist.v, 1e-13);
        assert_vec3_near(back.twist.w, robot.twist.w, 1e-13);
    }
}

/* (11) as it stands, and recovered from (2) and (4): the same motion to the scheme's order. */
static void test_relative_integrated_is_the_same_motion(void **unused) {
    (void)unused;
    for (int n = 0; n < 6; n++) {
        ff_loop_config config;
        draw(&config, 1);
        config.relative =
            (ff_relative_config){.enabled = true,
                                 .nominal = n % 2 ? FF_NOMINAL_FREE : FF_NOMINAL_PRESCRIBED,
                                 .start = {test_random_vec3(&rng, 1), test_random_quat(&rng),
                                           test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)}};
        config.integrate.scheme = n < 3 ? FF_SCHEME_LIE_MIDPOINT : FF_SCHEME_EULER;
        const ff_wrench f = random_wrench();
        const ff_rigid_load load = {test_random_vec3(&rng, 5), test_random_vec3(&rng, 2)};
        ff_rigid_state end[2];
        for (int way = 0; way < 2; way++) {
            config.relative.integrated = way;
            start(&config);
            in.sensor[0].f_s = f;
            in.load[0] = load;
            for (int k = 0; k < 25; k++)
                assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
            end[way] = state->body[0];
            const ff_energy *e = &state->energy[0];
            assert_near(e->kinetic,
                        ff_rigid_kinetic_energy(&model->rigid[0], &config.body[0].start) + ff_energy_sum(e),
                        1e-11);
        }
        /* 0.1 s of at most 2 rad/s2: T t a of the first order, T^2 of the second */
        const double most = n < 3 ? 2e-5 : 5e-3;
        assert_vec3_near(end[0].velocity, end[1].velocity, most);
        assert_vec3_near(end[0].omega, end[1].omega, most);
        assert_vec3_near(end[0].position, end[1].position, most);
        assert_true(memcmp(&end[0], &end[1], sizeof *end) != 0); /* not the same arithmetic */
    }
}

/* --------------------------------------------------------------------------------------------------- held --
 */

/* Half of the wrench at each end. held_by: -1 keeps its direction in space, the body itself turns with it,
 * another body carries it. */
static void test_held_wrench_of_rigid_bodies(void **unused) {
    (void)unused;
    for (int n = 0; n < 30; n++) {
        ff_loop_config config;
        draw(&config, 2);
        const int by = n % 3 - 1;
        for (int i = 0; i < 2; i++) {
            config.body[i].held = true;
            config.body[i].held_by = by;
            config.body[i].start.omega = test_random_vec3(&rng, 1.0); /* so that directions differ */
        }
        start(&config);
        const double T = config.integrate.cycle;
        /* equal and opposite at one point of space */
        const ff_vec3 F = test_random_vec3(&rng, 50), at = test_random_vec3(&rng, 1);
        const ff_rigid_state x0[2] = {state->body[0], state->body[1]};
        ff_vec3 P0 = ff_vec3_zero(), L0 = P0;
        for (int i = 0; i < 2; i++) {
            const ff_vec3 f = ff_vec3_scale(i ? -1.0 : 1.0, F);
            in.sensor[i].f_s.f = ff_quat_unrotate(x0[i].attitude, f);
            in.sensor[i].f_s.t =
                ff_quat_unrotate(x0[i].attitude, ff_vec3_cross(ff_vec3_sub(at, x0[i].position), f));
            const ff_vec3 p = ff_vec3_scale(config.body[i].rigid.mass, x0[i].velocity);
            P0 = ff_vec3_add(P0, p);
            L0 = ff_vec3_add(L0, ff_vec3_add(ff_rigid_angular_momentum(&model->rigid[i], &x0[i]),
                                             ff_vec3_cross(x0[i].position, p)));
        }
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        ff_vec3 P = ff_vec3_zero(), L = P;
        for (int i = 0; i < 2; i++) {
            const ff_rigid_state *x = &state->body[i];
            const ff_vec3 f = ff_vec3_scale(i ? -1.0 : 1.0, F),
                          p = ff_vec3_scale(config.body[i].rigid.mass, x->velocity);
            P = ff_vec3_add(P, p);
            L = ff_vec3_add(L, ff_vec3_add(ff_rigid_angular_momentum(&model->rigid[i], x),
                                           ff_vec3_cross(x->position, p)));
            /* the path is that of a constant force */
            const ff_vec3 path = ff_vec3_axpy(0.5 * T * T / config.body[i].rigid.mass, f,
                                              ff_vec3_axpy(T, x0[i].velocity, x0[i].position));
            assert_vec3_near(x->position, path, 1e-14);
            /* the second half's direction: as it was, or turned with who carries it */
            const ff_quat turn = by < 0
                                     ? ff_quat_identity()
                                     : ff_quat_mul(state->body[by].attitude, ff_quat_conj(x0[by].attitude));
            const ff_vec3 gained = ff_vec3_scale(0.5 * T, ff_vec3_add(f, ff_quat_rotate(turn, f)));
            assert_vec3_near(ff_vec3_sub(p, ff_vec3_scale(config.body[i].rigid.mass, x0[i].velocity)), gained,
                             1e-12);
            const ff_energy *e = &state->energy[i];
            assert_near(e->kinetic, ff_rigid_kinetic_energy(&model->rigid[i], &x0[i]) + ff_energy_sum(e),
                        1e-12);
            assert_near(e->exchanged,
                        T * (ff_vec3_dot(f, x0[i].velocity) + ff_vec3_dot(in.sensor[i].f_s.t, x0[i].omega)),
                        1e-13);
        }
        assert_vec3_near(P, P0, 1e-11);
        if (by >= 0) /* one carries both: the line of action stays common, to the midpoint rule's own error */
            assert_vec3_near(L, L0, 2e-6);
    }
}

/* --------------------------------------------------------------------------------------------- the ledger --
 */

static void test_each_part_of_the_ledger(void **unused) {
    (void)unused;
    for (int n = 0; n < 12; n++) {
        ff_loop_config config;
        draw(&config, 1);
        config.integrate.scheme = (ff_scheme)(n % 4);
        start(&config);
        spy.scale = 0.7;
        const double T = config.integrate.cycle;
        ff_energy sum = {0};
        for (int k = 0; k < 5; k++) {
            in.sensor[0].T_wb = test_random_pose(&rng, 1); /* a robot somewhere else */
            in.sensor[0].twist = (ff_twist){test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)};
            in.sensor[0].f_s = random_wrench();
            in.load[0] = (ff_rigid_load){test_random_vec3(&rng, 5), test_random_vec3(&rng, 2)};
            const ff_rigid_state x = state->body[0];
            const ff_integrate_state output = state->integrate[0];
            const ff_wrench f = in.sensor[0].f_s;
            const ff_vec3 F =
                ff_quat_rotate(x.attitude, f.f); /* the robot's wrench in the satellite's axes */
            const double robot = ff_vec3_dot(ff_quat_rotate(in.sensor[0].T_wb.q, f.f), in.sensor[0].twist.v) +
                                 ff_vec3_dot(f.t, in.sensor[0].twist.w);
            const double commanded = ff_vec3_dot(F, output.velocity_c) + ff_vec3_dot(f.t, output.omega_c);
            const double satellite = ff_vec3_dot(F, x.velocity) + ff_vec3_dot(f.t, x.omega);
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
            sum.exchanged += T * robot;
            sum.delay += T * (commanded - robot);
            sum.force_controller += T * (0.7 - 1.0) * commanded;
            sum.velocity_controller += T * 0.7 * (satellite - commanded);
            const ff_energy *e = &state->energy[0];
            assert_near(e->exchanged, sum.exchanged, 1e-13);
            assert_near(e->delay, sum.delay, 1e-13);
            assert_near(e->force_controller, sum.force_controller, 1e-13);
            assert_near(e->velocity_controller, sum.velocity_controller, 1e-13);
            assert_near(e->method, 0.0, 0.0);
            assert_near(e->joints, 0.0, 0.0);
            assert_near(e->kinetic, ff_rigid_kinetic_energy(&model->rigid[0], &state->body[0]), 1e-14);
            assert_near(e->kinetic,
                        ff_rigid_kinetic_energy(&model->rigid[0], &config.body[0].start) + ff_energy_sum(e),
                        1e-11);
            assert_vec3_near(out.velocity_correction[0].v,
                             ff_vec3_sub(state->body[0].velocity, state->integrate[0].velocity_c), 1e-15);
            assert_vec3_near(out.velocity_correction[0].w,
                             ff_vec3_sub(state->body[0].omega, state->integrate[0].omega_c), 1e-15);
        }
    }
}

/* A method's fault: nothing moves. */
static void test_a_fault_of_the_method_changes_nothing(void **unused) {
    (void)unused;
    ff_loop_config config;
    draw(&config, 2);
    start(&config);
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    const ff_rigid_state before[2] = {state->body[0], state->body[1]};
    spy.status = FF_ERR_NOT_FINITE;
    in.sensor[0].f_s = random_wrench();
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_ERR_NOT_FINITE);
    assert_memory_equal(before, state->body, sizeof before);
    /* each component of a state that runs away is seen */
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < 3; a++) {
            draw(&config, 2);
            start(&config);
            in.load[i].force.a[a] = 1e300;
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_ERR_DIVERGED);
            in.load[i].force.a[a] = 0.0;
            in.load[i].torque.a[a] = 1e200;
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_ERR_DIVERGED);
            in.load[i].torque.a[a] = FF_NAN;
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
            /* finite, but beyond what a facility can mean: position, velocity, angular velocity */
            for (int kind = 0; kind < 6; kind++) {
                draw(&config, 2);
                config.body[i].rigid = (ff_rigid_config){100, ff_mat3_diag(10, 10, 10)};
                ff_rigid_state *x = &config.body[i].start;
                ff_vec3 *const at[] = {&x->position, &x->velocity, &x->omega};
                at[kind / 2]->a[a] = (kind % 2 ? 1.0 + 1e-6 : 1.0 - 1e-3) * FF_LOOP_LARGEST;
                start(&config);
                const ff_status status = ff_loop_step(model, state, &info, &in, &out);
                if (kind / 2 != 1 || kind % 2) /* so fast it is soon too far away, not yet */
                    assert_int_equal(status, kind % 2 ? FF_ERR_DIVERGED : FF_OK);
            }
        }
}

/* -------------------------------------------------------------------------------------------- calibration --
 */

static void test_calibration_between_cycles(void **unused) {
    (void)unused;
    ff_loop_config config;
    draw(&config, 2);
    for (int i = 0; i < 2; i++)
        config.body[i].wrench.gravity_w = ff_vec3_make(0, 0, -9.81);
    config.world.skew = 0.003;
    start(&config);
    ff_loop_calibration c, again;
    ff_loop_calibrated(model, &c);
    assert_near(c.skew, 0.003, 0.0);
    for (int i = 0; i < 2; i++) {
        c.sensor[i].bias_s = random_wrench();
        c.sensor[i].mockup_mass = 2.0 + i;
        c.sensor[i].mockup_com_b = test_random_vec3(&rng, 0.2);
        c.sensor[i].force_limit = 100.0 + i;
        c.sensor[i].torque_limit = 50.0 + i;
    }
    c.skew = 0.005;
    assert_int_equal(ff_loop_calibrate(model, &c), FF_OK);
    ff_loop_calibrated(model, &again);
    assert_memory_equal(&again.skew, &c.skew, sizeof c.skew);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(&again.sensor[i], &c.sensor[i], sizeof c.sensor[i]);
    assert_near(spy.skew, 0.005, 0.0); /* the method was made again with it */
    /* a robot at rest: the reading is bias and weight, so the wrench is zero */
    for (int i = 0; i < 2; i++) {
        in.sensor[i].twist = ff_twist_zero();
        const ff_vec3 weight =
            ff_quat_unrotate(in.sensor[i].T_wb.q, ff_vec3_make(0, 0, -9.81 * c.sensor[i].mockup_mass));
        in.sensor[i].f_s = ff_wrench_add(
            c.sensor[i].bias_s, (ff_wrench){ff_vec3_cross(c.sensor[i].mockup_com_b, weight), weight});
    }
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    for (int i = 0; i < 2; i++) {
        assert_vec3_near(out.measured_b[i].f, ff_vec3_zero(), 1e-12);
        assert_vec3_near(out.measured_b[i].t, ff_vec3_zero(), 1e-12);
    }
    in.sensor[1].f_s.f.x = 102.0; /* beyond 101 */
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
    assert_int_equal(out.sensor_status[1], FF_INFO_SATURATED);
    assert_int_equal(info.saturated, 1);
    /* one that is refused leaves everything as it was, also of the body before */
    ff_loop_calibration bad = c;
    bad.sensor[0].mockup_mass = 9.0;
    bad.sensor[1].mockup_mass = -1.0;
    bad.skew = 0.001;
    assert_true(ff_loop_calibrate(model, &bad) < 0);
    ff_loop_calibrated(model, &again);
    assert_near(again.sensor[0].mockup_mass, 2.0, 0.0);
    assert_near(again.skew, 0.005, 0.0);
}

/* An elastic mount: the loop's tip and wrench are those of mount and conditioning by hand; calibration
 * remakes the mount. */
static void test_elastic_mount_is_the_mounts_own(void **unused) {
    (void)unused;
    ff_loop_config config;
    draw(&config, 1);
    config.body[0].wrench.mockup_mass = 3.0;
    config.body[0].mount = (ff_mount_config){3.0, 80.0, 0.05, config.integrate.cycle, 0.1, 100.0};
    start(&config);
    ff_mount_model mount;
    ff_mount_state by_hand;
    ff_mount_config m = model->config.body[0].mount;
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(ff_mount_create(&m, &mount), FF_OK);
        test_loop_reset(model, state, &info, &out);
        ff_mount_reset(&by_hand);
        for (int k = 0; k < 50; k++) {
            if (k == 20) { /* a reading that is refused does not move the mount */
                in.sensor[0].f_s.f.x = FF_NAN;
                assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
                assert_int_equal(out.sensor_status[0], FF_ERR_NOT_FINITE);
            }
            in.sensor[0].f_s.f = ff_vec3_make(20 * sin(0.2 * k), 5, 1);
            in.sensor[0].age = k % 7 == 3 ? config.integrate.cycle : 0.0;
            in.sensor[0].twist.v = ff_vec3_make(0.01 * cos(0.1 * k), 0, 0);
            ff_wrench_in own = in.sensor[0];
            ff_wrench f = {{{0, 0, 0}}, {{0, 0, 0}}};
            ff_mount_step(&mount, &by_hand, &model->config.body[0].wrench, &in.sensor[0], k % 7 != 3, &own);
            assert_int_equal(ff_wrench_condition(&model->config.body[0].wrench, &own, &f), FF_OK);
            assert_int_equal(ff_loop_measure(model, state, &info, &in, &out), FF_OK);
            assert_memory_equal(&out.measured_b[0], &f, sizeof f);
            assert_memory_equal(&out.tip[0].T, &own.T_wb, sizeof own.T_wb);
            assert_memory_equal(&out.tip[0].twist, &own.twist, sizeof own.twist);
            assert_int_equal(ff_loop_advance(model, state, &info, &in, &out), FF_OK);
            assert_memory_equal(&spy.sample[0].T_wr, &own.T_wb, sizeof own.T_wb);
        }
        /* a mock-up of another mass bends otherwise */
        ff_loop_calibration c;
        ff_loop_calibrated(model, &c);
        c.sensor[0].mockup_mass = 5.0;
        assert_int_equal(ff_loop_calibrate(model, &c), FF_OK);
        assert_near(model->config.body[0].mount.mass, 5.0, 0.0);
        m.mass = 5.0;
    }
    assert_true(out.tip[0].T.p.x != in.sensor[0].T_wb.p.x);
}

/* ------------------------------------------------------------------------------------------------ compliance
 * -- */

/* Gears that yield: a wrench at the CoM moves the tool by J K^-1 J^T w, here by turning the joints and
 * looking. */
static void test_compliance_is_how_the_arm_yields(void **unused) {
    (void)unused;
    ff_loop_config config;
    draw(&config, 1);
    config.body[0].elastic = true;
    assert_int_equal(ff_arm_default(FF_ARM_KR120, &config.body[0].arm), FF_OK);
    for (int a = 0; a < 6; a++)
        config.body[0].gear_stiffness[a] = 1e6 * (1 + a);
    ff_arm_model arm;
    assert_int_equal(ff_arm_create(&config.body[0].arm, &arm), FF_OK);
    ff_arm_joints q = {0};
    const double pose[6] = {0.2, -1.2, 1.3, 0.3, 0.8, -0.4};
    memcpy(q.a, pose, sizeof pose);
    const ff_pose T = ff_arm_forward(&arm, &q);
    config.body[0].start.position = T.p;
    config.body[0].start.attitude = T.q;
    start(&config);
    in.sensor[0].T_wb = T;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    assert_true(spy.compliant[0]);
    for (int n = 0; n < 20; n++) {
        const ff_vec3 t = test_random_vec3(&rng, 1), f = test_random_vec3(&rng, 1);
        const double w[6] = {t.x, t.y, t.z, f.x, f.y, f.z};
        /* virtual work: joint a feels w . (motion of the tool per joint), by a difference */
        ff_arm_joints bent = q;
        const double h = 1e-6;
        for (int a = 0; a < 6; a++) {
            ff_arm_joints one = q, two = q;
            one.a[a] += h;
            two.a[a] -= h;
            const ff_pose A = ff_arm_forward(&arm, &one), B = ff_arm_forward(&arm, &two);
            const ff_vec3 turn = ff_vec3_scale(0.5 / h, ff_quat_log(ff_quat_mul(A.q, ff_quat_conj(B.q)))),
                          move = ff_vec3_scale(0.5 / h, ff_vec3_sub(A.p, B.p));
            bent.a[a] += (ff_vec3_dot(t, turn) + ff_vec3_dot(f, move)) / config.body[0].gear_stiffness[a];
        }
        const ff_pose to = ff_arm_forward(&arm, &bent);
        const ff_vec3 turn = ff_quat_log(ff_quat_mul(to.q, ff_quat_conj(T.q))), move = ff_vec3_sub(to.p, T.p);
        for (int r = 0; r < 6; r++) {
            double y = 0.0;
            for (int c = 0; c < 6; c++)
                y += spy.compliance[0][r][c] * w[c];
            assert_near(y, r < 3 ? turn.a[r] : move.a[r - 3], 1e-10);
        }
    }
    /* out of reach: stiff */
    in.sensor[0].T_wb.p = ff_vec3_make(50, 0, 0);
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    assert_false(spy.compliant[0]);
    /* robots that make the relative motion: arm and satellites are not in one frame */
    config.relative = (ff_relative_config){
        .enabled = true, .nominal = FF_NOMINAL_PRESCRIBED, .start = {.attitude = ff_quat_identity()}};
    start(&config);
    in.sensor[0].T_wb = T;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    assert_false(spy.compliant[0]);
}

/* -------------------------------------------------------------------------------------------------- refusals
 * -- */

static void refused(const ff_loop_config *config, ff_status status, const char *part) {
    char message[200] = "";
    const ff_status got = test_loop_create(config, model, message, sizeof message);
    if (got != status || !strstr(message, part))
        fail_msg("%s, \"%s\" instead of %s, \"%s\"", ff_status_name(got), message, ff_status_name(status),
                 part);
    assert_int_equal(test_loop_create(config, model, NULL, 0), status);
    assert_int_equal(test_loop_create(config, model, message, 0), status);
}

static void test_configurations_that_are_refused(void **unused) {
    (void)unused;
    ff_loop_config c;
    for (int scheme = FF_SCHEME_EULER; scheme <= FF_SCHEME_PASSIVE; scheme++) {
        draw(&c, 1);
        c.body[0].held = true;
        c.integrate.scheme = (ff_scheme)scheme;
        refused(&c, FF_ERR_UNSUPPORTED, "held");
    }
    draw(&c, 2);
    c.body[1].held = true;
    c.body[1].held_by = 2;
    refused(&c, FF_ERR_UNSUPPORTED, "held");
    c.body[1].held_by = 1;
    assert_int_equal(test_loop_create(&c, model, NULL, 0), FF_OK);
    for (int a = 0; a < 6; a++)
        for (int bad = 0; bad < 2; bad++) {
            draw(&c, 1);
            c.body[0].elastic = true;
            assert_int_equal(ff_arm_default(FF_ARM_KR16, &c.body[0].arm), FF_OK);
            for (int k = 0; k < 6; k++)
                c.body[0].gear_stiffness[k] = k == a ? (bad ? FF_NAN : 0.0) : 1e5;
            refused(&c, FF_ERR_ARGUMENT, "gear stiffness");
        }
    draw(&c, 1);
    c.body[0].elastic = true;
    for (int k = 0; k < 6; k++)
        c.body[0].gear_stiffness[k] = 1e5;
    c.body[0].arm.d1 = FF_NAN;
    char message[100] = "";
    assert_true(test_loop_create(&c, model, message, sizeof message) < 0);
    assert_non_null(strstr(message, "arm"));
    const int bodies[] = {0, -1, FF_MAX_BODIES + 1};
    for (int i = 0; i < 3; i++) {
        draw(&c, 1);
        c.bodies = bodies[i];
        assert_true(test_loop_create(&c, model, NULL, 0) < 0);
    }
    for (int kind = 0; kind < 3;
         kind++) { /* a mount that bends goes with a sensor on the flange and the lab's frame */
        draw(&c, 1);
        c.body[0].wrench.mockup_mass = 3.0;
        c.body[0].mount = (ff_mount_config){3.0, 80.0, 0.05, 0.004, 0.1, 100.0};
        c.body[0].wrench.environment = kind == 1;
        c.relative = (ff_relative_config){.enabled = kind == 2, .start = {.attitude = ff_quat_identity()}};
        if (kind)
            refused(&c, FF_ERR_UNSUPPORTED, "body 0: elastic mount");
        else
            assert_int_equal(test_loop_create(&c, model, NULL, 0), FF_OK);
    }
    draw(&c, 2);
    c.body[1].reacts = true; /* to whom? */
    refused(&c, FF_ERR_ARGUMENT, "body 1: reaction");
    for (int k = 0; k < 13; k++) {
        draw(&c, 1);
        c.relative = (ff_relative_config){
            .enabled = true, .nominal = FF_NOMINAL_PRESCRIBED, .start = {.attitude = ff_quat_identity()}};
        memcpy((char *)&c.relative.start + (size_t)k * sizeof(double), &(double){k % 2 ? FF_NAN : FF_INF},
               sizeof(double));
        refused(&c, FF_ERR_NOT_FINITE, "nominal motion");
    }
    /* the relative motion */
    const ff_relative_config relative = {
        .enabled = true, .nominal = FF_NOMINAL_FREE, .start = {.attitude = ff_quat_identity()}};
    for (int i = 0; i < 6; i++) {
        draw(&c, 2);
        c.relative = relative;
        assert_int_equal(test_loop_create(&c, model, NULL, 0), FF_OK);
        if (i == 0)
            c.relative.nominal = (ff_nominal_kind)3;
        if (i == 1)
            c.relative.of = -1;
        if (i == 2)
            c.relative.of = 2;
        if (i >= 3) {
            c.relative.integrated = true;
            assert_int_equal(test_loop_create(&c, model, NULL, 0), FF_OK);
            if (i == 3)
                c.relative.nominal = FF_NOMINAL_SATELLITE;
            else
                c.integrate.scheme = i == 4 ? FF_SCHEME_SPLITTING : FF_SCHEME_PASSIVE;
        }
        assert_true(test_loop_create(&c, model, NULL, 0) < 0);
    }
}

static ff_status refuse_update(void *m, const ff_world *world, const void *settings, uint64_t given) {
    (void)m;
    (void)world;
    (void)settings;
    (void)given;
    return FF_ERR_UNSUPPORTED;
}

/* An update that needs other memory is refused, one that does not is taken. */
static void test_updates_keep_their_memory(void **unused) {
    (void)unused;
    ff_loop_config config;
    ff_loop_default(&config);
    test_method(&config, &ff_method_fused, 0);
    test_setting(&config, "look_back", 0.2);
    config.body[0].rigid = (ff_rigid_config){100, ff_mat3_diag(20, 21, 22)};
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_OK);
    ff_settings longer = config.setting;
    assert_int_equal(ff_settings_set(&ff_method_fused, &longer, "look_back", 4.0), FF_OK);
    assert_int_equal(ff_loop_update(model, &model->config.world, &longer), FF_ERR_UNSUPPORTED);
    ff_settings same = config.setting;
    assert_int_equal(ff_settings_set(&ff_method_fused, &same, "force_noise", 0.5), FF_OK);
    ff_world world = model->config.world;
    assert_int_equal(ff_loop_update(model, &world, &same), FF_OK);
    assert_near(ff_settings_get(&ff_method_fused, &model->config.setting, "force_noise"), 0.5, 0.0);
    /* and one that the method itself refuses changes nothing */
    ff_method fixed = watching;
    fixed.update = refuse_update;
    draw(&config, 1);
    test_method(&config, &fixed, 0);
    assert_int_equal(test_loop_create(&config, model, NULL, 0), FF_OK);
    world = model->config.world;
    world.skew = 0.25;
    assert_int_equal(ff_loop_update(model, &world, &config.setting), FF_ERR_UNSUPPORTED);
    assert_true(model->config.world.skew != 0.25);
}

/* Memory that is a byte short is refused, by the model, by its method's part and by the state; nothing runs
 * on it. */
static void test_memory_that_is_too_small(void **unused) {
    (void)unused;
    ff_loop_config c;
    draw(&c, 1);
    size_t for_model = 0, for_state = 0;
    char message[200] = "";
    assert_int_equal(ff_loop_bytes(&c, &for_model, &for_state, message, sizeof message), FF_OK);
    assert_true(for_model >= sizeof(ff_loop_model) + 8 && for_state >= sizeof(ff_loop_state) + 8);
    const size_t small[] = {0, sizeof(ff_loop_model) - 1, for_model - 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ff_loop_create(&c, model, small[i], message, sizeof message), FF_ERR_SIZE);
        assert_non_null(strstr(message, "memory of the model"));
    }
    assert_int_equal(ff_loop_create(&c, model, for_model, message, sizeof message), FF_OK);
    assert_int_equal(ff_loop_reset(model, state, for_state - 1, &info, &out), FF_ERR_SIZE);
    assert_int_equal(ff_loop_reset(model, state, for_state, &info, &out), FF_OK);
    c.integrate.cycle = FF_NAN;
    const size_t kept = for_model;
    assert_true(ff_loop_bytes(&c, &for_model, &for_state, message, sizeof message) < 0);
    assert_int_equal(for_model, kept);
    /* a method that does not go with relative motion, and an update that its check refuses */
    ff_method still = watching;
    still.can = 0;
    draw(&c, 1);
    c.method = &still;
    c.relative = (ff_relative_config){
        .enabled = true, .nominal = FF_NOMINAL_FREE, .start = {.attitude = ff_quat_identity()}};
    refused(&c, FF_ERR_UNSUPPORTED, "relative motion");
    ff_loop_default(&c);
    test_method(&c, &ff_method_fused, 0);
    c.body[0].rigid = (ff_rigid_config){100, ff_mat3_diag(20, 21, 22)};
    assert_int_equal(test_loop_create(&c, model, NULL, 0), FF_OK);
    ff_world world = model->config.world;
    world.skew = 0.125;
    world.force_noise = FF_NAN; /* and so is the threshold */
    assert_int_equal(ff_loop_update(model, &world, &c.setting), FF_ERR_ARGUMENT);
    assert_true(model->config.world.skew != 0.125);
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 47);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_is_valid_when_fresh),
        cmocka_unit_test(test_relative_samples_are_mapped),
        cmocka_unit_test(test_relative_integrated_is_the_same_motion),
        cmocka_unit_test(test_held_wrench_of_rigid_bodies),
        cmocka_unit_test(test_each_part_of_the_ledger),
        cmocka_unit_test(test_a_fault_of_the_method_changes_nothing),
        cmocka_unit_test(test_calibration_between_cycles),
        cmocka_unit_test(test_elastic_mount_is_the_mounts_own),
        cmocka_unit_test(test_compliance_is_how_the_arm_yields),
        cmocka_unit_test(test_configurations_that_are_refused),
        cmocka_unit_test(test_updates_keep_their_memory),
        cmocka_unit_test(test_memory_that_is_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
