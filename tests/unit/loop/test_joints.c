/* lib/loop with a body that has joints: momentum of the pair, the energy ledger, leads, refusals. */
#include "loop_support.h"

#include "servicer_model.h"

enum { CLIENT, SERVICER, N = SERVICER_JOINTS };

TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);
static ff_loop_info info;
static ff_loop_in in;
static ff_loop_out out;
static ff_tree_model *tree;
static ff_tree_work *tree_work;

static ff_loop_config base_config(void) {
    static _Alignas(64) unsigned char memory[3][200000];
    static servicer_model table;
    ff_loop_config config;
    ff_body body;
    servicer_model_make(&table);
    assert_int_equal(ff_tree_create(&table.config, memory[0], sizeof memory[0], &tree, NULL, 0), FF_OK);
    assert_int_equal(ff_tree_work_create(tree, memory[1], sizeof memory[1], &tree_work), FF_OK);
    ff_loop_default(&config);
    config.bodies = 2;
    config.body[CLIENT].rigid = envisat_rigid;
    config.body[CLIENT].start.omega = ff_vec3_make(0.01, -0.02, 0.03);
    config.body[CLIENT].reacts = true;
    ff_loop_joints_config *joints = &config.joints;
    joints->body = SERVICER;
    joints->tree = tree;
    joints->port = servicer_gripper();
    for (int i = 0; i < N; i++)
        joints->q[i] = servicer_reached[i];
    assert_int_equal(ff_body_tree(tree, 1, &joints->port, &body), FF_OK);
    assert_int_equal(ff_body_work_create(&body, memory[2], sizeof memory[2], &joints->work), FF_OK);
    config.body[SERVICER].start.position = ff_vec3_make(-5.1, 0.1, 0.2);
    config.body[SERVICER].start.velocity = ff_vec3_make(0.02, 0.01, -0.01);
    config.body[SERVICER].start.omega = ff_vec3_make(-0.02, 0.01, 0.02);
    test_method(&config, &ff_method_direct, 0);
    return config;
}

static void start(const ff_loop_config *config) {
    char message[160] = "";
    if (test_loop_create(config, model, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    test_loop_reset(model, state, &info, &out);
    in = (ff_loop_in){0};
    for (int i = 0; i < N; i++)
        in.q[SERVICER][i] = config->joints.q[i];
}

/* Robots follow without delay, and the joints swing. */
static void devices(int k) {
    for (int i = 0; i < 2; i++)
        in.sensor[i] = (ff_wrench_in){.T_wb = out.next[i].T, .twist = out.next[i].twist};
    for (int i = 0; i < N; i++) {
        in.q[SERVICER][i] = servicer_reached[i] + 0.2 * (1 - cos(0.004 * k * (1 + 0.2 * i)));
        in.qd[SERVICER][i] = 0.2 * (1 + 0.2 * i) * sin(0.004 * k * (1 + 0.2 * i));
    }
}

typedef struct momentum {
    ff_vec3 linear, origin;
} momentum;

static momentum of_the_pair(void) {
    const ff_rigid_state *c = &state->body[CLIENT];
    const ff_vec3 p = ff_vec3_scale(envisat_rigid.mass, c->velocity);
    return (momentum){ff_vec3_add(p, state->tree.linear),
                      ff_vec3_add(ff_vec3_add(ff_rigid_angular_momentum(&model->rigid[CLIENT], c),
                                              ff_vec3_cross(c->position, p)),
                                  state->tree.origin)};
}

/* Whatever the gripper measures and whatever a method makes of it: one wrench, equal and opposite about one
 * point. */
static void test_pair_keeps_its_momentum(void **unused) {
    (void)unused;
    static const ff_method *const methods[] = {&ff_method_direct, &ff_method_tdpa, &ff_method_damping,
                                               &ff_method_fused};
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    for (int n = 0; n < 16; n++) {
        ff_loop_config config = base_config();
        test_method(&config, methods[n % 4], 0);
        config.relative.enabled = n & 4;
        for (int i = 0; i < 2; i++) {
            config.body[i].held = n & 8;
            config.world.body[i].delay = 0.02;
        }
        config.world.grasp = (ff_world_grasp){.body = SERVICER, .against = CLIENT};
        config.body[CLIENT].start.omega = ff_vec3_zero(); /* the midpoint rule of a tumble is not exact */
        start(&config);
        const momentum before = of_the_pair();
        double force = 0, felt = 0;
        for (int k = 0; k < 500; k++) {
            devices(k);
            in.sensor[SERVICER].f_s = (ff_wrench){test_random_vec3(&rng, 5), test_random_vec3(&rng, 40)};
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
            force = fmax(force, ff_vec3_norm(out.measured_b[CLIENT].f));
            felt = fmax(felt, ff_vec3_norm(out.fidelity.f_b[SERVICER].f));
        }
        const momentum after = of_the_pair();
        assert_true(force > 40 && felt > 10);
        /* 500 cycles of a few roundings of 300 N s and 3000 N m s */
        assert_vec3_near(after.linear, before.linear, 500 * 4 * 2.2e-16 * 300);
        assert_vec3_near(after.origin, before.origin, 500 * 4 * 2.2e-16 * 3e4);
    }
}

/* A tree in orbit whose motors turn the joints, by Runge and Kutta in steps of a fortieth of the cycle; the
 * loop sees its joints. What the motors gave, the integral of torque times rate, is the ledger's `joints`. */
static void truth_rate(const ff_tree_state *x, double t, ff_tree_acceleration *a, double *power) {
    ff_tree_force force = {.base = ff_wrench_zero()};
    ff_tree_kinematics(tree, x, tree_work, ff_vec3_zero());
    *power = 0;
    for (int i = 0; i < N; i++) {
        force.torque[i] = 0.2 * cos(1.5 * t + i) / (1 + i);
        *power += force.torque[i] * x->qd[i];
    }
    assert_int_equal(ff_tree_forward_dynamics(tree, tree_work, &force, NULL, a), FF_OK);
}

static double truth_step(ff_tree_state *x, double t, double T) {
    enum { PARTS = 40 };
    const double h = T / PARTS;
    double work = 0;
    for (int n = 0; n < PARTS; n++) { /* midpoint rule: its error is a millionth here */
        ff_tree_acceleration a;
        double power;
        truth_rate(x, t + n * h, &a, &power);
        ff_tree_state y = *x;
        y.base = ff_pose_mul(x->base, ff_pose_exp(ff_twist_scale(0.5 * h, x->twist)));
        y.twist = ff_twist_add(x->twist, ff_twist_scale(0.5 * h, a.base));
        for (int i = 0; i < N; i++) {
            y.q[i] += 0.5 * h * x->qd[i];
            y.qd[i] += 0.5 * h * a.qdd[i];
        }
        truth_rate(&y, t + (n + 0.5) * h, &a, &power);
        work += h * power;
        x->base = ff_pose_mul(x->base, ff_pose_exp(ff_twist_scale(h, y.twist)));
        x->base.q = ff_quat_unit(x->base.q);
        x->twist = ff_twist_add(x->twist, ff_twist_scale(h, a.base));
        for (int i = 0; i < N; i++) {
            x->q[i] += h * y.qd[i];
            x->qd[i] += h * a.qdd[i];
        }
    }
    return work;
}

static void test_ledger_knows_the_work_of_the_joints(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    start(&config);
    ff_tree_state x;
    ff_tree_state_default(&x);
    x.base = ff_rigid_pose(&config.body[SERVICER].start);
    x.twist = ff_rigid_twist(&config.body[SERVICER].start);
    for (int i = 0; i < N; i++)
        x.q[i] = servicer_reached[i];
    const double at_start = state->energy[SERVICER].kinetic;
    double work = 0, most = 0;
    for (int k = 0; k < 500; k++) {
        devices(k);
        for (int i = 0; i < N; i++) {
            in.q[SERVICER][i] = x.q[i];
            in.qd[SERVICER][i] = x.qd[i];
        }
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        const ff_energy *e = &state->energy[SERVICER];
        assert_near(e->kinetic, at_start + ff_energy_sum(e), 1e-12);
        assert_near(e->joints, work, 1e-6);
        assert_near(ff_vec3_norm(ff_vec3_sub(out.base[SERVICER].position, x.base.p)), 0, 1e-6);
        most = fmax(most, fabs(work));
        work += truth_step(&x, k * 0.004, 0.004);
    }
    print_message("motors gave %.3g J, at most %.3g J\n", work, most);
    assert_true(most > 1e-3); /* a thousand times what is allowed */
    assert_near(state->energy[SERVICER].exchanged, 0, 0);
}

/* With a contact the whole balance closes too, on both bodies. */
static void test_ledger_closes_in_contact(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    test_method(&config, &ff_method_tdpa, 0);
    start(&config);
    double begin[2];
    for (int i = 0; i < 2; i++)
        begin[i] = state->energy[i].kinetic;
    for (int k = 0; k < 500; k++) {
        devices(k);
        in.sensor[SERVICER].f_s.f = ff_vec3_make(-20 * sin(0.01 * k), 3, 1);
        in.load[SERVICER].force = ff_vec3_make(1, 2, -1);
        in.thrust[SERVICER].t = ff_vec3_make(0.1, 0, -0.2);
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        for (int i = 0; i < 2; i++)
            assert_near(state->energy[i].kinetic, begin[i] + ff_energy_sum(&state->energy[i]), 1e-9);
    }
    assert_true(fabs(state->energy[SERVICER].exchanged) > 1e-3);
    assert_true(fabs(state->energy[SERVICER].loads) > 1e-3);
}

/* fused through joints: the command of t_k is where the base stands one delay later, under the wrench held.
 */
static void test_lead_is_where_the_base_will_be(void **unused) {
    (void)unused;
    enum { D = 10, CYCLES = 200 };
    ff_loop_config config = base_config();
    test_method(&config, &ff_method_fused, 0);
    for (int i = 0; i < 2; i++)
        config.world.body[i].delay = D * 0.004;
    start(&config);
    static ff_setpoint command[CYCLES][2];
    static ff_rigid_state body[CYCLES][2];
    for (int k = 0; k < CYCLES; k++) {
        for (int i = 0; i < 2; i++) /* robots late by D cycles: where the satellites are */
            in.sensor[i] = (ff_wrench_in){.T_wb = ff_rigid_pose(&state->body[i]),
                                          .twist = {state->body[i].omega, state->body[i].velocity}};
        in.sensor[SERVICER].f_s = (ff_wrench){{{0.5, 0, 0.3}}, {{20, -10, 5}}};
        for (int i = 0; i < 2; i++)
            body[k][i] = state->body[i];
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        for (int i = 0; i < 2; i++) {
            command[k][i] = out.command[i];
            assert_near(out.fidelity.lead[i], D * 0.004, 1e-12);
            assert_near(ff_loop_lead(model, state, i), D * 0.004, 1e-12);
        }
    }
    for (int k = 5; k + D < CYCLES; k++)
        for (int i = 0; i < 2; i++) {
            /* what differs: the wrench turns with the base, F/m t^2/2 w t, and the two rules of rotation */
            assert_vec3_near(command[k][i].T.p, body[k + D][i].position, 5e-8);
            assert_true(ff_quat_angle(command[k][i].T.q, body[k + D][i].attitude) < 2e-7);
            assert_vec3_near(command[k][i].twist.v, body[k + D][i].velocity, 2e-6);
        }
    const double moved = ff_vec3_norm(ff_vec3_sub(command[100][SERVICER].T.p, body[100][SERVICER].position));
    assert_true(moved > 5e-4);
}

static void test_bad_joints_hold_the_last_safe_command(void **unused) {
    (void)unused;
    ff_loop_config config = base_config();
    start(&config);
    for (int k = 0; k < 5; k++) {
        devices(k);
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
    }
    const ff_setpoint safe = out.next[SERVICER];
    const ff_body_state before = state->tree;
    const ff_loop_in good = in;
    for (int n = 0; n < 2 * N + 6; n++) {
        in = good;
        double *bad = n < N       ? &in.q[SERVICER][n]
                      : n < 2 * N ? &in.qd[SERVICER][n - N]
                                  : &((double *)&in.thrust[SERVICER])[n - 2 * N];
        *bad = n % 2 ? FF_NAN : -FF_INF;
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_INFO_HELD);
        assert_vec3_near(out.command[SERVICER].T.p, safe.T.p, 0);
        assert_vec3_near(out.command[SERVICER].twist.v, ff_vec3_zero(), 0);
        assert_memory_equal(&before, &state->tree, sizeof before);
    }
    assert_int_equal(info.not_finite, 2 * N + 6);
    in = good;
    assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
}

static void refused(const ff_loop_config *config, ff_status status, const char *part) {
    char message[200] = "";
    assert_int_equal(test_loop_create(config, model, message, sizeof message), status);
    if (!strstr(message, part))
        fail_msg("'%s' does not say '%s'", message, part);
}

static void test_refusals(void **unused) {
    (void)unused;
    const ff_loop_config good = base_config();
    ff_loop_config c = good;
    c.joints.work = NULL;
    refused(&c, FF_ERR_ARGUMENT, "body 1: joints");
    c = good;
    c.joints.port.link = N;
    refused(&c, FF_ERR_ARGUMENT, "body 1: joints");
    c = good;
    c.joints.q[3] = FF_NAN;
    refused(&c, FF_ERR_NOT_FINITE, "body 1: joints");
    c = good;
    c.integrate.scheme = FF_SCHEME_EULER;
    refused(&c, FF_ERR_UNSUPPORTED, "lie-midpoint");
    c = good;
    test_method(&c, &ff_method_impact, 0);
    refused(&c, FF_ERR_UNSUPPORTED, "a method that can take them");
    c = good;
    c.body[SERVICER].wrench.mockup_mass = 5;
    refused(&c, FF_ERR_UNSUPPORTED, "mock-up");
    c = good;
    c.body[SERVICER].reacts = true;
    refused(&c, FF_ERR_ARGUMENT, "reaction");
    for (int body = -1; body < 4; body += 3) {
        c = good;
        c.joints.body = body < 0 ? body : good.bodies;
        refused(&c, FF_ERR_ARGUMENT, "joints");
    }
    c = good;
    c.body[SERVICER].mount = (ff_mount_config){3.0, 80.0, 0.05, 0.004, 0.1, 100.0};
    refused(&c, FF_ERR_UNSUPPORTED, "a rigid mount");
    c = good;
    c.body[SERVICER].wrench.environment = true;
    refused(&c, FF_ERR_UNSUPPORTED, "a rigid mount");
    c = good;
    c.method = NULL;
    refused(&c, FF_ERR_UNSUPPORTED, "a method that can take them");
    c = good;
    c.relative = (ff_relative_config){.enabled = true, .of = CLIENT};
    assert_int_equal(test_loop_create(&c, model, NULL, 0), FF_OK);
    c.relative.integrated = true;
    refused(&c, FF_ERR_UNSUPPORTED, "the integrated form");
    c = good;
    c.body[CLIENT].held = true;
    refused(&c, FF_ERR_ARGUMENT, "reaction");
    c = good;
    c.relative = (ff_relative_config){.enabled = true, .of = SERVICER};
    refused(&c, FF_ERR_UNSUPPORTED, "nominal motion");
}

static struct {
    ff_body_sample sample[FF_MAX_BODIES];
    ff_rigid_state body[FF_MAX_BODIES], base[FF_MAX_BODIES];
    ff_vec3 grasp, port;
} spy;

static ff_status watch(const void *m, void *s, const ff_method_in *given, ff_method_out *result) {
    (void)m;
    (void)s;
    for (int i = 0; i < given->bodies; i++) {
        spy.sample[i] = given->sample[i];
        spy.body[i] = given->body[i];
        spy.base[i] = given->base[i];
        result->f_b[i] = given->sample[i].f_b;
    }
    spy.grasp = given->grasp_point;
    spy.port = ff_pose_mul(ff_rigid_pose(&given->base[SERVICER]), given->view[SERVICER]->port[0]).p;
    return FF_OK;
}

/* What a method is given of the pair: equal and opposite wrenches about one point, fresh only if both sensors
 * are, and where the gripper is, seen from the CoM with all joints. */
static void test_a_method_sees_the_pair(void **unused) {
    (void)unused;
    static const ff_method watching = {FF_METHOD("watching", "1", "A test."),
                                       .needs = FF_NEEDS_GRASP,
                                       .can = FF_CAN_TREE | FF_CAN_RELATIVE,
                                       .variants = 1,
                                       .model_bytes = 8,
                                       .state_bytes = 8,
                                       .step = watch};
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 49);
    for (int n = 0; n < 8; n++) {
        ff_loop_config config = base_config();
        test_method(&config, &watching, 0);
        const ff_vec3 point = ff_vec3_make(1, 2, 3);
        config.world.grasp = n & 1 ? (ff_world_grasp){.body = CLIENT, .against = SERVICER, .point = point}
                                   : (ff_world_grasp){.body = SERVICER, .against = CLIENT, .point = point};
        start(&config);
        for (int k = 0; k < 6; k++) {
            devices(k + 40);
            in.sensor[SERVICER].f_s = (ff_wrench){test_random_vec3(&rng, 5), test_random_vec3(&rng, 40)};
            in.sensor[CLIENT].age = n & 2 ? 0.004 : 0.0;
            in.sensor[SERVICER].age = n & 4 ? 0.004 : 0.0;
            assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
            assert_int_equal(spy.sample[SERVICER].valid, !(n & 4));
            assert_int_equal(spy.sample[CLIENT].valid, !(n & 6));
            ff_vec3 force = ff_vec3_zero(), torque = force;
            for (int i = 0; i < 2; i++) {
                const ff_body_sample *s = &spy.sample[i];
                const ff_vec3 f = ff_quat_rotate(s->T_wr.q, s->f_b.f);
                force = ff_vec3_add(force, f);
                torque = ff_vec3_add(
                    torque, ff_vec3_add(ff_quat_rotate(s->T_wr.q, s->f_b.t), ff_vec3_cross(s->T_wr.p, f)));
                if (i == SERVICER)
                    assert_near(ff_vec3_norm(f), ff_vec3_norm(in.sensor[SERVICER].f_s.f), 1e-11);
            }
            assert_vec3_near(force, ff_vec3_zero(), 1e-11);
            assert_vec3_near(torque, ff_vec3_zero(), 1e-10);
            const ff_rigid_state *com = &spy.body[SERVICER];
            const ff_vec3 gripper = ff_quat_unrotate(com->attitude, ff_vec3_sub(spy.port, com->position));
            assert_vec3_near(spy.grasp, n & 1 ? point : gripper, 1e-12);
            assert_true(ff_vec3_norm(ff_vec3_sub(com->position, spy.base[SERVICER].position)) > 1e-3);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pair_keeps_its_momentum),
        cmocka_unit_test(test_ledger_knows_the_work_of_the_joints),
        cmocka_unit_test(test_ledger_closes_in_contact),
        cmocka_unit_test(test_lead_is_where_the_base_will_be),
        cmocka_unit_test(test_bad_joints_hold_the_last_safe_command),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_method_sees_the_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
