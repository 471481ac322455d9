/* destefano2021, IV: the monitors (24), (25), (28), (29), each against the same quantity computed another
 * way, so that a wrong sign fails; and the star tracker of Fig. 10. */
#include "report/metrics.h"
#include "mission_support.h"

static ff_scenario scenario;

static ff_twist body_twist(const ff_setpoint *s) {
    return (ff_twist){s->twist.w, ff_quat_unrotate(s->T.q, s->twist.v)};
}

static double size_of(ff_twist V) {
    return sqrt(ff_vec3_dot(V.w, V.w) + ff_vec3_dot(V.v, V.v));
}

/* (24) W_a' = -delta: what W_a loses is the integral of delta, and it never rises while the base
 * synchronises. */
static void test_24_storage_falls_by_its_dissipation(void **state) {
    (void)state;
    mission_load(NULL, 0, 9, &scenario);
    mission_run(&scenario, &facility);
    const double W0 = facility.row[0].actuation.storage;
    double lost = 0;
    assert_true(W0 > 0.01);
    for (int k = 1; k < facility.n; k++) {
        const ff_obsw_out *a = &facility.row[k - 1].actuation, *b = &facility.row[k].actuation;
        assert_int_equal(b->phase, 1);
        assert_true(b->storage < a->storage + 1e-6 * W0);
        assert_true(b->dissipation >= 0);
        lost += 0.5 * scenario.cycle * (a->dissipation + b->dissipation);
    }
    const double fell = W0 - facility.row[facility.n - 1].actuation.storage;
    print_message("W_a fell by %.9g of %.9g, delta says %.9g\n", fell, W0, lost);
    assert_near(fell / W0, lost / W0, 5e-3); /* a controller held for 4 ms */
    assert_true(fell > 0.999 * W0);
}

/* The monitor sees a controller with the wrong sign. */
static void test_24_monitor_sees_an_unstable_controller(void **state) {
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        ff_metrics metrics;
        mission_load(NULL, 0, 4, &scenario);
        if (wrong) /* e'' - 2 r e' + r^2 e = 0 */
            scenario.satellite[ff_scenario_servicer(&scenario)].obsw.sync_rate = -1.2;
        assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
        const ff_sink sink = ff_metrics_sink(&metrics);
        ff_run_result result;
        ff_run(&scenario, &(ff_run_options){.sinks = &sink, .count = 1}, &result);
        assert_int_equal(result.status, FF_OK);
        assert_int_equal(metrics.servicer.W_a_cycles, 1000);
        print_message("%s: W_a rose in %llu cycles\n", wrong ? "wrong" : "right",
                      (unsigned long long)metrics.servicer.W_a_rises);
        if (wrong)
            assert_true(metrics.servicer.W_a_rises > 500);
        else
            assert_int_equal(metrics.servicer.W_a_rises, 0);
        assert_true(metrics.servicer.W_c_drift < 1e-9 * metrics.servicer.W_c_start);
        assert_int_equal(metrics.servicer.bound_violations, 0);
        ff_metrics_free(&metrics);
    }
}

/* (25) with a nominal motion that is not the client's, so that V_c is not zero: W_c is the energy of V_c +
 * Delta V_c and constant; with the other sign it is neither. */
static void test_25_client_energy_is_constant(void **state) {
    (void)state;
    static const char *const set[] = {
        "nominal={kind: prescribed, pose: {position: [0.2, -0.1, 0]}, twist: [0.01, -0.02, "
        "0.015, 0.01, 0.02, -0.06]}"};
    ff_rigid_model model;
    mission_load(set, 1, 8, &scenario);
    mission_run(&scenario, &facility);
    assert_int_equal(ff_rigid_create(&scenario.satellite[CLIENT].rigid, &model), FF_OK);
    const double W = ff_rigid_kinetic_energy(&model, &scenario.satellite[CLIENT].start);
    const ff_rigid_state nominal = ff_scenario_nominal(&scenario);
    const ff_twist V_n = ff_rigid_twist(&nominal);
    double drift = 0, other_least = FF_INF, other_most = 0;
    for (int k = 0; k < facility.n; k++) {
        const mission_row *r = &facility.row[k];
        const ff_setpoint *s = &r->robot[CLIENT];
        const ff_twist V_c = body_twist(s), d = ff_relative_delta(s->T, V_n);
        drift = fmax(drift, fabs(r->W_c - W));
        double energy[2];
        for (int minus = 0; minus < 2; minus++) {
            const ff_twist V = minus ? ff_twist_sub(V_c, d) : ff_twist_add(V_c, d);
            energy[minus] =
                0.5 * (model.mass * ff_vec3_dot(V.v, V.v) +
                       ff_vec3_dot(V.w, ff_mat3_apply(&scenario.satellite[CLIENT].rigid.inertia, V.w)));
        }
        assert_near(r->W_c, energy[0], 1e-9 * W);
        other_least = fmin(other_least, energy[1]);
        other_most = fmax(other_most, energy[1]);
    }
    print_message("W_c %.9g J, changed by %.2g J; with the wrong sign %.3g to %.3g J\n", W, drift,
                  other_least, other_most);
    assert_true(drift < 1e-9 * W);
    assert_true(other_most - other_least > 0.1 * W);
}

/* (28): the port's power on the robots is that of F_e on both satellites in the inertial frame, the spring's
 * and the damper's: over the run it is minus what the spring holds and the damper took. */
static void test_28_port_power(void **state) {
    (void)state;
    char message[200];
    mission_load(NULL, 0, 6, &scenario);
    ff_contact *grip = &scenario.contact[GRIP];
    grip->closes = 0.5;    /* in the midst of the synchronisation: the gripper moves against the client */
    grip->stiffness = 200; /* soft: sums over cycles shall be integrals */
    grip->damping = 60;
    grip->rotation_stiffness = 4;
    grip->rotation_damping = 1;
    mission_run(&scenario, &facility);
    const ff_tree_frame frame = ff_scenario_gripper(&scenario.satellite[SERVICER]);
    ff_tree_memory tree;
    assert_int_equal(
        ff_tree_memory_open(&scenario.satellite[SERVICER], FF_TREE_ORBIT, &tree, message, sizeof message),
        FF_OK);
    ff_pose closed = ff_pose_identity();
    bool held = false;
    double work_done = 0, damped = 0, spring = 0, most = 0, last_power = 0, last_rate = 0;
    for (int k = 0; k < facility.n; k++) {
        const mission_row *r = &facility.row[k];
        ff_tree_state s;
        ff_tree_state_default(&s);
        const ff_setpoint *base = &r->inertial[SERVICER], *client = &r->inertial[CLIENT]; /* robots, (23) */
        s.base = base->T;
        s.twist = body_twist(base);
        memcpy(s.q, r->q, sizeof s.q);
        memcpy(s.qd, r->qd, sizeof s.qd);
        ff_tree_kinematics(tree.model, &s, tree.work, ff_vec3_zero());
        const ff_pose gripper = ff_tree_frame_pose(tree.model, tree.work, &frame),
                      T = ff_pose_mul(ff_pose_inverse(client->T), gripper);
        const ff_twist V_a = ff_tree_frame_twist(tree.model, tree.work, &frame), V_t = body_twist(client);
        /* (27): on the servicer at the gripper, and its reaction on the client about its CoM */
        const double on_servicer = ff_power(r->F_e, V_a),
                     on_client = -ff_power(ff_wrench_transform(T, r->F_e), V_t);
        assert_near(r->port_power, on_servicer + on_client, 1e-9 * (1 + fabs(on_servicer)));
        if (!r->held) {
            assert_near(r->port_power, 0, 0);
            continue;
        }
        if (!held)
            closed = T;
        held = true;
        const ff_twist V = ff_twist_sub(V_a, ff_twist_transform(ff_pose_inverse(T), V_t));
        const ff_vec3 x = ff_vec3_sub(T.p, closed.p),
                      turn = ff_quat_log(ff_quat_mul(ff_quat_conj(closed.q), T.q));
        const double rate =
            grip->damping * ff_vec3_dot(V.v, V.v) + grip->rotation_damping * ff_vec3_dot(V.w, V.w);
        spring =
            0.5 * (grip->stiffness * ff_vec3_dot(x, x) + grip->rotation_stiffness * ff_vec3_dot(turn, turn));
        work_done += 0.5 * scenario.cycle * (r->port_power + last_power);
        damped += 0.5 * scenario.cycle * (rate + last_rate);
        last_power = r->port_power;
        last_rate = rate;
        if (work_done == 0.5 * scenario.cycle * r->port_power) /* the first: nothing before it */
            work_done = damped = 0;
        most = fmax(most, fabs(r->port_power));
    }
    ff_tree_memory_close(&tree);
    print_message("port gave %.6g J; spring %.6g J, damper %.6g J; at most %.3g W\n", work_done, spring,
                  damped, most);
    assert_true(held && damped > 1e-4);
    assert_near(work_done, -spring - damped, 0.01 * (spring + damped));
}

/* (29) before a command leaves: V_s = V_b - Delta V_s and V_c = V_t - Delta V_c as vectors, and the bound is
 * theirs. */
static void test_29_bound_of_the_commands(void **state) {
    (void)state;
    mission_load(NULL, 0, 8, &scenario);
    mission_run(&scenario, &facility);
    for (int k = 1; k < facility.n; k++) {
        const mission_row *r = &facility.row[k];
        const ff_twist V_n =
            ff_rigid_twist(&r->client); /* unforced: the nominal motion is the client's own */
        const ff_twist V_b = ff_rigid_twist(&r->base), V_s = body_twist(&r->command[SERVICER]);
        const ff_twist d = ff_relative_delta(r->command[SERVICER].T, V_n);
        /* what differs is the joints' motion in the cycle, which the command could not know. In the first two
         * the arm's law does not know yet that the thrusters accelerate its base: a T = 1e-3 m/s, with which
         * w_n = 0.04 rad/s makes 1e-3 N m on links of 5 kg m2, 1e-6 rad/s after a cycle, of which a base of
         * eighty times their mass feels 1e-8 m/s */
        assert_true(size_of(ff_twist_sub(V_s, ff_twist_sub(V_b, d))) < (k <= 2 ? 1e-8 : 1e-9));
        assert_true(size_of(ff_twist_sub(V_s, ff_twist_add(V_b, d))) > 0.1); /* the wrong sign */
        const double servicer = size_of(V_s) - size_of(V_b) - size_of(d);
        const ff_twist V_c = body_twist(&r->command[CLIENT]),
                       dc = ff_relative_delta(r->command[CLIENT].T, V_n);
        const double client = size_of(V_c) - size_of(V_n) - size_of(dc);
        assert_true(size_of(ff_twist_sub(V_c, ff_twist_sub(V_n, dc))) < 1e-9);
        /* what left in cycle k - 1 is the command of cycle k */
        assert_near(facility.row[k - 1].bound, fmax(servicer, client), 1e-9);
        assert_true(facility.row[k - 1].bound <= 0);
    }
}

/* Fig. 10: the star tracker, computed from the poses of the robots through (23), is the orbit's before noise.
 */
static void test_star_tracker_is_the_orbits(void **state) {
    (void)state;
    mission_load(NULL, 0, 12, &scenario);
    mission_run(&scenario, &facility);
    mission_fly(&scenario, &orbit);
    double off = 0, moved = 0;
    for (int k = 0; k < facility.n; k++) {
        const mission_row *r = &facility.row[k], *o = &orbit.row[k];
        /* the sensor's own value, from the robots; the satellite's; the orbit's */
        const double *a = r->star_tracker;
        const ff_quat seen = {a[0], a[1], a[2], a[3]};
        assert_true(ff_quat_angle(seen, r->base.attitude) < 1e-9);
        off = fmax(off, ff_quat_angle(seen, o->base.attitude));
        moved = fmax(moved, ff_quat_angle(o->base.attitude, orbit.row[0].base.attitude));
    }
    print_message("star tracker against the orbit: %.2g rad while the base turned by %.2f rad\n", off, moved);
    assert_true(off < 1e-5);
    assert_true(moved > 0.4);
}

/* What the scenario says of sensors and thrusters is what the mission's computer gets. */
static void test_scenario_reaches_the_computer(void **state) {
    (void)state;
    static const char *const set[] = {
        "satellites.servicer.obsw={kind: udp, port: 7, local_port: 8, mode: free, packets: pus, apid: 9, "
        "command_apid: 10, "
        "timeout: 11, connect: 12, hold: 13, thrust: [14, 15], navigation: {rate: 1, delay: 2, position: 3, "
        "attitude: 4, "
        "velocity: 5, angular_rate: 6, star_tracker: 7, gyro: 8, encoder: 9, encoder_speed: 10, "
        "star_tracker_rate: 11, "
        "star_tracker_delay: 12, gyro_rate: 13, gyro_delay: 14, encoder_rate: 15, encoder_delay: 16}}"};
    ff_computer_config configured;
    mission_load(set, 1, 1, &scenario);
    ff_computer_configure(&scenario, &configured);
    const ff_computer_config *c = &configured;
    const ff_navigation_config expected = {.rate = 1,
                                           .delay = 2,
                                           .position = 3,
                                           .attitude = 4,
                                           .velocity = 5,
                                           .angular_rate = 6,
                                           .star_tracker = 7,
                                           .gyro = 8,
                                           .encoder = 9,
                                           .encoder_speed = 10,
                                           .star_tracker_rate = 11,
                                           .star_tracker_delay = 12,
                                           .gyro_rate = 13,
                                           .gyro_delay = 14,
                                           .encoder_rate = 15,
                                           .encoder_delay = 16};
    assert_memory_equal(&c->navigation, &expected, sizeof expected);
    assert_int_equal(c->kind, FF_OBSW_UDP);
    assert_true(c->udp.port == 7 && c->udp.local_port == 8 && c->udp.free && c->udp.wire.pus);
    assert_true(c->udp.wire.apid_sensors == 9 && c->udp.wire.apid_command == 10);
    assert_true(c->udp.timeout == 11 && c->udp.connect == 12 && c->hold == 13);
    assert_true(c->force_limit == 14 && c->torque_limit == 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_24_storage_falls_by_its_dissipation),
        cmocka_unit_test(test_24_monitor_sees_an_unstable_controller),
        cmocka_unit_test(test_25_client_energy_is_constant),
        cmocka_unit_test(test_28_port_power),
        cmocka_unit_test(test_29_bound_of_the_commands),
        cmocka_unit_test(test_star_tracker_is_the_orbits),
        cmocka_unit_test(test_scenario_reaches_the_computer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
