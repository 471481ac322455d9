/* The executive's cycle with an arm: its limits, what the arm does when one is broken, the ledger, and orders
 * that end a run. */
#include "mission_support.h"

static ff_scenario scenario;

/* A limit that is not reached changes no bit of the run. */
static void test_limits_that_are_not_reached_change_nothing(void **state) {
    (void)state;
    static const char *const set[] = {"satellites.servicer.safety={force: 1e4, velocity: 5}",
                                      "contacts.grip.closes=1"};
    mission_load(&set[1], 1, 2, &scenario);
    mission_run(&scenario, &orbit);
    mission_load(set, 2, 2, &scenario);
    assert_true(ff_scenario_watched(&scenario));
    mission_run(&scenario, &facility);
    for (int k = 0; k < facility.n; k++) {
        assert_memory_equal(&facility.row[k].base, &orbit.row[k].base, sizeof facility.row[k].base);
        assert_memory_equal(&facility.row[k].client, &orbit.row[k].client, sizeof facility.row[k].client);
        assert_memory_equal(facility.row[k].q, orbit.row[k].q, sizeof facility.row[k].q);
    }
}

typedef struct stopped {
    ff_executive executive;
    ff_virtual station;
    ff_mission mission;
    ff_run_result result;
    ff_sample_joints at; /* when the limit was broken */
    double moved, most;  /* [rad] since, of any joint; [rad/s] its speed at that moment */
    int cycles;          /* since */
} stopped;

static stopped run_to_stop;

static void go(stopped *r) {
    char message[300] = "";
    *r = (stopped){0};
    ff_run_options options = {0};
    assert_int_equal(
        ff_mission_open(&r->mission, &scenario, NULL, (ff_obsw_record){0}, message, sizeof message), FF_OK);
    options.guidance = ff_mission_guidance(&r->mission);
    assert_int_equal(ff_executive_open(&r->executive, &scenario, ff_virtual_station(&r->station, &scenario),
                                       &options, NULL, &r->result),
                     FF_OK);
    const ff_sample_joints *now = &r->executive.sample.joints;
    bool breaks = false;
    for (int k = 0; k < 5000 && !r->executive.ended; k++) {
        ff_executive_cycle(&r->executive);
        const ff_state s = r->executive.guard.walk.state;
        if (!breaks && s != FF_STATE_FLOAT && s != FF_STATE_CONTACT) {
            breaks = true;
            r->at = *now;
            for (int i = 0; i < SERVICER_JOINTS; i++)
                r->most = fmax(r->most, fabs(now->qd[i]));
        }
        r->cycles += breaks;
        for (int i = 0; i < SERVICER_JOINTS && breaks; i++)
            r->moved = fmax(r->moved, fabs(now->q[i] - r->at.q[i]));
    }
    assert_true(r->executive.ended);
    ff_executive_close(&r->executive);
    ff_mission_close(&r->mission);
}

/* The force of the grasp is above the limit: the robots come to rest, and the joints with them. A free arm
 * that moved at v comes v/(e r) further, r = 50 rad/s (unit/facility/manipulator); held by the client, whose
 * robot brakes too, it must stay below v/(2 r), where a brake without damping would let it go v/r. */
static void test_a_broken_limit_stops_robots_and_arm(void **state) {
    (void)state;
    static const char *const set[] = {"satellites.servicer.safety={force: 20}", "contacts.grip.closes=1"};
    mission_load(set, 2, 4, &scenario);
    stopped *r = &run_to_stop;
    go(r);
    const ff_run_safety *safety = &r->result.safety;
    double speed = 0;
    for (int i = 0; i < SERVICER_JOINTS; i++)
        speed = fmax(speed, fabs(r->executive.sample.joints.qd[i]));
    print_message("%s; joints at %.3g rad/s moved by %.3g rad, after %d cycles %.2g rad/s\n",
                  r->result.message, r->most, r->moved, r->cycles, speed);
    assert_int_equal(r->result.status, FF_ERR_LIMIT);
    assert_true(safety->watched && safety->state == FF_STATE_FAULT && safety->cause.code == FF_TRIP_FORCE);
    assert_true(safety->ended >= 1 && safety->ended < 2);
    assert_true(safety->cause.value > 20);
    for (int i = 0; i < 2; i++) {
        assert_true(safety->stopped[i]);
        assert_true(ff_vec3_norm(safety->rest[i].twist.v) < 1e-9);
    }
    assert_true(r->most > 1e-4);
    const double rt = 50.0 * scenario.cycle * (r->cycles - 1);
    assert_true(rt > 2);
    assert_true(r->moved < r->most / (2 * 50.0));
    assert_true(speed < 0.1 * r->most);
}

/* A limit on the client's own robot acts too, before any contact. */
static void test_a_limit_of_the_client_acts(void **state) {
    (void)state;
    static const char *const set[] = {"satellites.client.safety={angular_velocity: 1e-9}",
                                      "contacts.grip.closes=0.5"};
    mission_load(set, 2, 2, &scenario);
    go(&run_to_stop);
    assert_int_equal(run_to_stop.result.status, FF_ERR_LIMIT);
    assert_true(run_to_stop.result.safety.ended >= 0.5);
    assert_int_equal(run_to_stop.result.safety.state, FF_STATE_FAULT);
}

/* Nothing is lost in the ledger: at every row the kinetic energy of client and of base with arm, computed
 * from the motion itself, is the start's plus the sum of the entries. Each of `rows` cycles rounds up to ten
 * entries of at most E. */
static void test_ledger_closes_with_joints(void **state) {
    (void)state;
    static const char *const set[] = {
        "contacts.grip.closes=3", "satellites.client.robot={kind: delay, delay: 0.04}",
        "satellites.servicer.robot={kind: delay, delay: 0.04}", "method=tdpa",
        "loads=[{body: servicer, kind: pulse, force: [3, 0, 1], torque: [0, 1, 0], from: 1, to: 2}]"};
    mission_load(set, 5, 6, &scenario);
    for (int i = 0; i < 2; i++) {
        scenario.satellite[i].robot.kind = FF_ROBOT_DELAY;
        scenario.satellite[i].robot.delay = 0.04;
    }
    mission_run(&scenario, &facility);
    ff_rigid_model client;
    assert_int_equal(ff_rigid_create(&scenario.satellite[CLIENT].rigid, &client), FF_OK);
    double off[2] = {0, 0}, joints = 0, E = 0;
    for (int k = 0; k < facility.n; k++) {
        const mission_row *r = &facility.row[k];
        const double truth[2] = {ff_rigid_kinetic_energy(&client, &r->client), r->see.energy};
        for (int i = 0; i < 2; i++) {
            const double start =
                facility.row[0].energy[i].kinetic - ff_energy_sum(&facility.row[0].energy[i]);
            off[i] = fmax(off[i], fabs(truth[i] - start - ff_energy_sum(&r->energy[i])));
            E = fmax(E, truth[i]);
        }
        joints = fmax(joints, fabs(r->energy[SERVICER].joints));
    }
    const double bound = 10.0 * facility.n * 2.3e-16 * E;
    print_message("off by %.2g J (client), %.2g J (base and arm); bound %.2g J; joints up to %.3g J\n",
                  off[0], off[1], bound, joints);
    assert_true(off[CLIENT] < bound && off[SERVICER] < bound);
    assert_true(joints > 1e-3); /* it is an entry that matters */
    assert_near(facility.row[10].energy[CLIENT].joints, 0, 0);
}

/* Who guides the run ends it with its own sentence, and nothing more is commanded. */
static ff_status refuse(void *self, double t, const ff_rigid_state *client, const ff_rigid_state *base,
                        const ff_sample_joints *joints, ff_guidance_order *order, char *message,
                        size_t size) {
    int *asked = self;
    (void)client;
    (void)base;
    (void)joints;
    *order = (ff_guidance_order){.storage = FF_NAN, .dissipation = FF_NAN};
    snprintf(message, size, "no more orders at %.3f s", t);
    return ++*asked == 11 ? FF_ERR_DEVICE : FF_OK;
}

static void test_guidance_ends_a_run(void **state) {
    (void)state;
    int asked = 0;
    ff_run_result result;
    mission_load(NULL, 0, 2, &scenario);
    ff_run(&scenario, &(ff_run_options){.guidance = {&asked, refuse}}, &result);
    assert_int_equal(result.status, FF_ERR_DEVICE);
    assert_string_equal(result.message, "no more orders at 0.040 s");
    assert_int_equal(asked, 11);
}

/* After a release the built-in controller keeps its thrusters off and says so. */
static void test_no_thrust_after_release(void **state) {
    (void)state;
    static const char *const set[] = {"contacts.grip.closes=0.5", "contacts.grip.opens=1"};
    mission_load(set, 2, 2, &scenario);
    mission_run(&scenario, &facility);
    int released = 0;
    double before = 0;
    for (int k = 0; k < facility.n; k++) {
        const mission_row *r = &facility.row[k];
        const double *f = r->actuation.force, thrust = fabs(f[0]) + fabs(f[1]) + fabs(f[2]);
        if (r->t < 0.5 - 1e-9) {
            before = fmax(before, thrust);
            assert_int_equal(r->actuation.phase, 1);
        } else
            assert_near(thrust, 0, 0);
        if (r->t > 1 - 1e-9) {
            released++;
            assert_false(r->held);
            assert_int_equal(r->actuation.phase, 4);
        }
    }
    assert_true(before > 1);
    assert_int_equal(released, 251);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_that_are_not_reached_change_nothing),
        cmocka_unit_test(test_a_broken_limit_stops_robots_and_arm),
        cmocka_unit_test(test_a_limit_of_the_client_acts),
        cmocka_unit_test(test_ledger_closes_with_joints),
        cmocka_unit_test(test_guidance_ends_a_run),
        cmocka_unit_test(test_no_thrust_after_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
