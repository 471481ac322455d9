/* A servicer with an arm on robots that are late, lag or have limits, with loads and with the methods that
 * know an arm [destefano2021]. */
#include "mission_support.h"

static ff_scenario scenario;

static void make(ff_scenario *c) {
    mission_make(c, ff_vec3_make(0.001, -0.002, -2.5 * DEG));
}

/* Held from the start, gripper at the grapple point, 2 mm/s between the two. */
static void held(ff_scenario *s, double K, const ff_method *method, double delay) {
    make(s);
    mission_last(s, 18);
    ff_contact *grip = &s->contact[GRIP];
    ff_satellite *servicer = &s->satellite[SERVICER];
    grip->closes = 0;
    grip->stiffness = grip->satellite_stiffness = K;
    grip->damping = grip->satellite_damping = 0;
    grip->rotation_stiffness = 0.5 * K;
    grip->rotation_damping = 0;
    memcpy(servicer->arm.q, servicer_reached, sizeof servicer_reached);
    mission_fly_along(s, servicer->obsw.goal);
    servicer->start.velocity =
        ff_vec3_axpy(0.002, ff_vec3_unit(ff_vec3_make(1, 1, 1)), servicer->start.velocity);
    s->method = method;
    for (int i = 0; i < 2; i++) {
        s->satellite[i].robot.kind = FF_ROBOT_DELAY;
        s->satellite[i].robot.delay = delay;
    }
}

/* The arm's joints yield and take energy, so `direct` grows only with more delay than a rigid grasp bears;
 * tdpa and damping see the port as it is and hold the pair, and no method makes momentum. */
static void test_methods_on_a_stiff_grasp(void **state) {
    (void)state;
    static const ff_method *const methods[] = {&ff_method_direct, &ff_method_tdpa, &ff_method_damping};
    static const double delay[] = {0.020, 0.040, 0.100, 0.150};
    for (int d = 0; d < 4; d++)
        for (int m = 0; m < 3; m++) {
            if (!test_long() && d < 3 && (d + m) % 2) /* each method at two delays and the largest */
                continue;
            held(&scenario, 1e4, methods[m], delay[d]);
            mission_run(&scenario, &facility);
            double most = 0, late = 0, linear = 0;
            for (int k = 0; k < facility.n; k++) {
                const mission_row *r = &facility.row[k];
                most = fmax(most, r->see.gripper_speed);
                if (r->t > 15)
                    late = fmax(late, r->see.gripper_speed);
                linear = fmax(linear, ff_vec3_norm(ff_vec3_sub(r->see.linear, facility.row[0].see.linear)));
            }
            print_message("%s, %.0f ms: largest %.2f mm/s, after 15 s %.2f; momentum %.2g N s\n",
                          methods[m]->name, 1e3 * delay[d], 1e3 * most, 1e3 * late, linear);
            assert_true(linear < 1e-9);
            if (methods[m] != &ff_method_direct)
                assert_true(most < 0.010);
            else if (d == 3)
                assert_true(late > 0.1); /* the test would show a method that does nothing */
        }
}

static double apart(const mission_record *a, const mission_record *b, int from, int to) {
    double most = 0;
    for (int k = from; k < to && k < a->n && k < b->n; k++) {
        most = fmax(most, ff_vec3_norm(ff_vec3_sub(a->row[k].base.position, b->row[k].base.position)));
        most = fmax(most, ff_vec3_norm(ff_vec3_sub(a->row[k].client.position, b->row[k].client.position)));
    }
    return most;
}

/* Known loads move client and base as in orbit, in both frames; the robots' path is the frame's. */
static void test_loads_as_in_orbit(void **state) {
    (void)state;
    static const ff_load pulses[] = {
        /* a nanosecond early: cycles are products, the edges decimal fractions */
        {.body = CLIENT,
         .force = {{200, -150, 80}},
         .torque = {{60, -90, 120}},
         .from = 4.8 - 1e-9,
         .to = 5.28 - 1e-9},
        {.body = CLIENT,
         .force = {{-1500, 900, 400}},
         .torque = {{300, 800, -1200}},
         .from = 10 - 1e-9,
         .to = 10.08 - 1e-9},
        {.body = SERVICER, .force = {{5, -3, 2}}, .torque = {{1, 2, -1}}, .from = 7 - 1e-9, .to = 8 - 1e-9}};
    make(&scenario);
    mission_last(&scenario, 15);
    mission_fly(&scenario, &orbit);
    const ff_vec3 free_end = orbit.row[orbit.n - 1].client.position;
    scenario.loads = 3;
    for (int i = 0; i < 3; i++) {
        scenario.load[i] = pulses[i];
        scenario.load[i].kind = FF_LOAD_PULSE;
    }
    mission_fly(&scenario, &orbit);
    assert_true(ff_vec3_norm(ff_vec3_sub(free_end, orbit.row[orbit.n - 1].client.position)) > 0.05);
    for (int absolute = 0; absolute < 2; absolute++) {
        scenario.frame = absolute ? FF_FRAME_ABSOLUTE : FF_FRAME_RELATIVE;
        mission_run(&scenario, &facility);
        const double off = apart(&facility, &orbit, 0, MISSION_ROWS);
        print_message("loads, %s: %.2g m off the orbit\n", absolute ? "absolute" : "relative", off);
        assert_true(off < 0.5e-3);
    }
}

/* Robots that are late, lag or are limited, on both sides: approach, grasp on time or on proximity, and
 * after. */
static void test_robots_and_closing(void **state) {
    (void)state;
    static const char *const name[] = {"delay 20 ms", "lag 8 Hz, 8 ms", "limited, 12 ms"};
    const ff_robot_config robot[] = {{.kind = FF_ROBOT_DELAY, .delay = 0.02},
                                     {.kind = FF_ROBOT_LAG, .delay = 0.008, .frequency = 8, .damping = 1},
                                     {.kind = FF_ROBOT_LIMITED,
                                      .delay = 0.012,
                                      .velocity = 0.5,
                                      .acceleration = 0.3,
                                      .jerk = 5,
                                      .angular_velocity = 0.5,
                                      .angular_acceleration = 0.3,
                                      .angular_jerk = 5}};
    for (int i = 0; i < 3; i++)
        for (int near = 0; near < 2; near++) {
            if (!test_long() && (i + near) % 2) /* each robot, and each way to close */
                continue;
            make(&scenario);
            for (int b = 0; b < 2; b++) {
                ff_robot_config *r = &scenario.satellite[b].robot;
                const ff_robot_config usual = *r;
                *r = robot[i];
                r->base = usual.base;
                r->tool = usual.tool;
            }
            scenario.contact[GRIP].closes = near ? 5 : 32.6; /* on proximity: armed at 5 s, within 3 mm */
            scenario.contact[GRIP].reach = near ? 0.003 : FF_INF;
            mission_run(&scenario, &facility);
            int closed = 0;
            while (closed < facility.n && !facility.row[closed].held)
                closed++;
            assert_in_range(closed, 1, facility.n - 1);
            const mission_row *g = &facility.row[closed], *e = &facility.row[facility.n - 1];
            double most = 0;
            for (int k = closed; k < facility.n; k++)
                most = fmax(most, facility.row[k].see.gripper_speed);
            print_message("%s, closes at %.3f s: base error at 9 s %.3f mm, largest speed after %.2f, at the "
                          "end %.2f mm/s, momentum %.2g\n",
                          name[i], g->t, 1e3 * ff_vec3_norm(facility.row[2250].see.base_error), 1e3 * most,
                          1e3 * e->see.gripper_speed,
                          ff_vec3_norm(ff_vec3_sub(e->see.linear, g->see.linear)) /
                              ff_vec3_norm(g->see.linear));
            if (near) {
                assert_true(g->t > 20 && g->t < 31.1); /* before the arm has come to rest */
                assert_true(e->held);
            } else
                assert_near(g->t, 32.6, 1e-9);
            assert_true(ff_vec3_norm(facility.row[2250].see.base_error) < 1e-3);
            assert_true(most < 0.02);
            assert_true(e->see.gripper_speed < 0.01);
            /* one force, equal and opposite: the robots' faults make no momentum */
            assert_true(ff_vec3_norm(ff_vec3_sub(e->see.linear, g->see.linear)) <
                        1e-10 * ff_vec3_norm(g->see.linear));
            assert_true(ff_vec3_norm(ff_vec3_sub(e->see.origin, g->see.origin)) <
                        1e-10 * ff_vec3_norm(g->see.origin));
        }
}

static _Alignas(64) unsigned char tree_a[200000], tree_b[200000], robot_a[200000], robot_b[200000];

/* Robots that are commanded by wrenches: the same motion to rounding, and the servicer's drive is (16). */
static void test_wrench_robots_move_as_commanded(void **state) {
    (void)state;
    for (int absolute = 0; absolute < 2; absolute++) {
        make(&scenario);
        mission_last(&scenario, 40);
        scenario.facility_gravity = ff_vec3_zero(); /* (16) has none; the drive would carry the weight */
        scenario.frame = absolute ? FF_FRAME_ABSOLUTE : FF_FRAME_RELATIVE;
        mission_run(&scenario, &orbit); /* the admittance form */
        const ff_rigid_config carry = {900, {{{250, 5, -4}, {5, 300, 3}, {-4, 3, 280}}}};
        for (int i = 0; i < 2; i++) {
            scenario.satellite[i].robot.kind = FF_ROBOT_WRENCH;
            scenario.satellite[i].robot.inertia = carry;
        }
        mission_run(&scenario, &facility);
        const double off = apart(&facility, &orbit, 0, MISSION_ROWS);
        assert_true(off < 1e-12);

        /* (16) with the base inertia of the robot and the same arm */
        servicer_model own;
        ff_tree_model *tree, *robot;
        ff_tree_work *work, *robot_work;
        servicer_model_make(&own);
        assert_int_equal(ff_tree_create(&own.config, tree_a, sizeof tree_a, &tree, NULL, 0), FF_OK);
        assert_int_equal(ff_tree_work_create(tree, tree_b, sizeof tree_b, &work), FF_OK);
        own.config.base_mass = carry.mass;
        const double inertia[6] = {250, 300, 280, 5, -4, 3};
        memcpy(own.config.base_inertia, inertia, sizeof inertia);
        assert_int_equal(ff_tree_create(&own.config, robot_a, sizeof robot_a, &robot, NULL, 0), FF_OK);
        assert_int_equal(ff_tree_work_create(robot, robot_b, sizeof robot_b, &robot_work), FF_OK);
        const ff_servicer_model model = {tree, servicer_gripper(), {{0, 0, 0}}};
        ff_rigid_model client;
        assert_int_equal(ff_rigid_create(&envisat_rigid, &client), FF_OK);
        double largest = 0, error = 0;
        /* relative: the approach, where the client moves as the nominal motion does; absolute: after the
         * grasp
         */
        const int from = absolute ? 8200 : 100, to = absolute ? 9900 : 7500;
        for (int k = from; k < to; k++) {
            const mission_row *r = &facility.row[k], *next = &facility.row[k + 1];
            ff_servicer_in in;
            const ff_rigid_state *n = &r->client;
            in.g_n = absolute ? ff_pose_identity() : ff_rigid_pose(n);
            in.V_n = absolute ? ff_twist_zero() : ff_rigid_twist(n);
            in.A_n =
                absolute ? ff_twist_zero() : ff_rigid_body_acceleration(&client, in.V_n, ff_wrench_zero());
            in.g_s = in.g_m = r->robot[1].T;
            in.V_s = in.V_m =
                (ff_twist){r->robot[1].twist.w, ff_quat_unrotate(r->robot[1].T.q, r->robot[1].twist.v)};
            for (int i = 0; i < SERVICER_JOINTS; i++) {
                in.q[i] = r->q[i];
                in.qd[i] = r->qd[i];
                in.qdd[i] = (next->qd[i] - r->qd[i]) / scenario.cycle;
                in.tau[i] = 0;
            }
            in.F_b = (ff_wrench){
                ff_vec3_make(r->actuation.torque[0], r->actuation.torque[1], r->actuation.torque[2]),
                ff_vec3_make(r->actuation.force[0], r->actuation.force[1], r->actuation.force[2])};
            in.F_e = r->F_e;
            const ff_wrench F_s = ff_servicer_robot_wrench(&model, robot, work, robot_work, &in);
            const ff_wrench d = ff_wrench_sub(next->drive[SERVICER], F_s);
            largest = fmax(largest, fmax(ff_vec3_norm(F_s.f), ff_vec3_norm(F_s.t)));
            error = fmax(error, fmax(ff_vec3_norm(d.f), ff_vec3_norm(d.t)));
        }
        print_message("wrench robots, %s: %.2g m off; drive %.3g off (16), which is up to %.3g\n",
                      absolute ? "absolute" : "relative", off, error, largest);
        assert_true(error < 0.02 * largest); /* first order in T; a wrong sign is of the size of its term */
    }
}

/* Bumped, grasped and released by an arm on robots that are 40 ms late: `fused` leads, and client and base
 * end as in orbit; `direct` shows what the delay would do (docs/methods/arm.md). */
static void test_bump_grasp_and_release(void **unused) {
    (void)unused;
    static const ff_method *const methods[] = {&ff_method_direct, &ff_method_fused};
    double error[2], peak[2];
    for (int m = 0; m < 2; m++) {
        held(&scenario, 2000, methods[m], 0.040);
        ff_rigid_state *start = &scenario.satellite[SERVICER].start;
        start->velocity = ff_vec3_axpy(0.02, ff_vec3_make(1, 0, 0), start->velocity);
        start->position.x -= 0.006; /* touches after 0.2 s */
        mission_last(&scenario, 8);
        scenario.contact[GRIP].closes = 3;
        scenario.contact[GRIP].opens = 5;
        scenario.contacts = 2;
        scenario.contact[GRIP + 1] = (ff_contact){.name = "bump",
                                                  .kind = FF_CONTACT_PAIR,
                                                  .body = SERVICER,
                                                  .against = CLIENT,
                                                  .at = scenario.contact[GRIP].at,
                                                  .normal = {{-1, 0, 0}},
                                                  .stiffness = 1e4,
                                                  .satellite_stiffness = 1e4};
        mission_fly(&scenario, &orbit);
        mission_run(&scenario, &facility);
        const mission_row *a = &facility.row[facility.n - 1], *o = &orbit.row[orbit.n - 1];
        double force[2] = {0, 0};
        int bumped[2] = {0, 0}, grasped[2] = {0, 0};
        for (int k = 0; k < facility.n; k++) {
            const mission_row *r[2] = {&facility.row[k], &orbit.row[k]};
            for (int n = 0; n < 2; n++) {
                force[n] = fmax(force[n], ff_vec3_norm(r[n]->bump));
                bumped[n] += ff_vec3_norm(r[n]->bump) > 0;
                grasped[n] += r[n]->held;
            }
        }
        error[m] = ff_vec3_norm(ff_vec3_sub(a->client.velocity, o->client.velocity));
        peak[m] = force[0] / force[1];
        print_message(
            "%s: client off by %.3g m/s of %.3g, base %.3g m/s, peak of the bump %.2f N, %.3f of the "
            "orbit's; in touch %d cycles (%d)\n",
            methods[m]->name, error[m], ff_vec3_norm(o->client.velocity),
            ff_vec3_norm(ff_vec3_sub(a->base.velocity, o->base.velocity)), force[0], peak[m], bumped[0],
            bumped[1]);
        for (int n = 0; n < 2; n++) {
            assert_int_equal(grasped[n], 500); /* 3 s to 5 s, and not again */
            assert_in_range(bumped[n], 20, 2000);
        }
    }
    assert_true(peak[1] > 0.99 && peak[1] < 1.01);
    assert_true(error[1] < 0.1 * error[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bump_grasp_and_release),
        cmocka_unit_test(test_methods_on_a_stiff_grasp),
        cmocka_unit_test(test_loads_as_in_orbit),
        cmocka_unit_test(test_robots_and_closing),
        cmocka_unit_test(test_wrench_robots_move_as_commanded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
