/* The executive's cycle with an arm: its limits, what the arm does when one is broken, the ledger, and orders
 * that end a run. */
#include "mission_support.h"

#include "executive/reference.h"
#include "unit/executive/script.h"

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
static bool silent;

static ff_status refuse(void *self, double t, const ff_rigid_state *client, const ff_rigid_state *base,
                        const ff_sample_joints *joints, ff_guidance_order *order, char *message,
                        size_t size) {
    int *asked = self;
    (void)client;
    (void)base;
    (void)joints;
    *order = (ff_guidance_order){.storage = FF_NAN, .dissipation = FF_NAN};
    if (!silent)
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
    asked = 0;
    silent = true; /* then the status speaks */
    ff_run(&scenario, &(ff_run_options){.guidance = {&asked, refuse}}, &result);
    char says[160];
    snprintf(says, sizeof says, "at 0.040 s: %s", ff_status_text(FF_ERR_DEVICE));
    assert_string_equal(result.message, says);
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

/* ------------------------------------------------------------------------------------------- one cycle --
 */

static ff_executive executive;
static ff_row kept[64];
static int rows;

static ff_status keep(void *self, const ff_row *row) {
    (void)self;
    if (rows < 64)
        kept[rows++] = *row;
    return FF_OK;
}

static const ff_sink sink = {.row = keep};

/* What the robots' measured motion means in orbit. */
static ff_rigid_state in_orbit(const ff_executive *e, int body) {
    const ff_wrench_in *sensor = &e->sample.body[body].sensor;
    const ff_setpoint robot = {sensor->T_wb, sensor->twist};
    const ff_rigid_state c = ff_setpoint_to_state(&robot);
    return ff_relative_to_absolute(&e->loop.state->nominal.motion, &c);
}

static void assert_state_near(const ff_rigid_state *a, const ff_rigid_state *b) {
    assert_vec3_near(a->position, b->position, 1e-12);
    assert_vec3_near(a->velocity, b->velocity, 1e-12);
    assert_vec3_near(a->omega, b->omega, 1e-12);
    assert_near(ff_quat_angle(a->attitude, b->attitude), 0.0, 1e-7);
}

static const ff_guidance_order ordered = {.thrust = {{{1, 2, 3}}, {{4, 5, 6}}},
                                          .torque = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7},
                                          .phase = 3,
                                          .action = 1,
                                          .storage = 0.5,
                                          .dissipation = 0.25,
                                          .saturated = true};

static ff_status direct(void *self, double t, const ff_rigid_state *client, const ff_rigid_state *base,
                        const ff_sample_joints *joints, ff_guidance_order *order, char *message,
                        size_t size) {
    int *asked = self;
    (void)message;
    (void)size;
    assert_near(t, *asked * scenario.cycle, 1e-12);
    const ff_rigid_state there[2] = {in_orbit(&executive, CLIENT), in_orbit(&executive, SERVICER)};
    assert_state_near(client, &there[CLIENT]);
    assert_state_near(base, &there[SERVICER]);
    assert_near(joints->q[2], 0.3, 0.0);
    assert_near(joints->qd[1], -0.02, 0.0);
    *order = ordered;
    ++*asked;
    return FF_OK;
}

static double speed_of(ff_vec3 w, ff_vec3 v) {
    return sqrt(ff_vec3_dot(w, w) + ff_vec3_dot(v, v));
}

/* (29): |V| of what is commanded next, less |V| of the satellite, less |Ad(g^-1) V_n|. */
static double excess(const ff_executive *e, int i) {
    const ff_setpoint *next = &e->out.next[i];
    const ff_rigid_state *s = &e->loop.state->body[i], *n = &e->loop.state->nominal.motion;
    const ff_vec3 w_n = n->omega, v_n = ff_quat_unrotate(n->attitude, n->velocity); /* axes of the nominal */
    const ff_vec3 moved = ff_vec3_add(v_n, ff_vec3_cross(w_n, next->T.p));
    return speed_of(next->twist.w, next->twist.v) - speed_of(s->omega, s->velocity) - speed_of(w_n, moved);
}

/* Orders reach the station, the loop and the row; the row holds the joints, what is really there, and the
 * monitors of the paper. Without guidance nothing is ordered and nothing reported. */
static void test_orders_and_rows(void **state) {
    (void)state;
    static ff_truth there;
    there.arm.port_power = 1.5;
    for (int guided = 0; guided < 2; guided++) {
        int asked = 0;
        script s = {.spoils = -1, .bodies = 2, .truth = guided ? &there : NULL};
        s.joints.q[2] = 0.3;
        s.joints.qd[1] = -0.02;
        s.joints.saturated = guided;
        for (int i = 0; i < SERVICER_JOINTS && guided; i++)
            s.joints.motor[i] = 10.0 + i;
        mission_load(NULL, 0, 0.04, &scenario);
        const ff_run_options options = {
            .sinks = &sink, .count = 1, .guidance = {&asked, guided ? direct : NULL}};
        ff_run_result result = {0};
        rows = 0;
        assert_int_equal(
            ff_executive_open(&executive, &scenario, script_station(&s), &options, NULL, &result), FF_OK);
        double bound = 0.0;
        ff_rigid_model client;
        ff_rigid_create(&scenario.satellite[CLIENT].rigid, &client);
        while (!executive.ended) {
            const bool last = executive.k == scenario.cycles;
            assert_int_equal(ff_executive_cycle(&executive), FF_OK);
            assert_int_equal(s.arm.holds, false);
            for (int i = 0; i < SERVICER_JOINTS; i++)
                assert_near(s.arm.torque[i], guided ? ordered.torque[i] : 0.0, 0.0);
            assert_near(executive.in.q[SERVICER][2], 0.3, 0.0);
            assert_near(executive.in.qd[SERVICER][1], -0.02, 0.0);
            assert_vec3_near(executive.in.thrust[SERVICER].f, guided ? ordered.thrust.f : ff_vec3_zero(),
                             0.0);
            const ff_row_servicer *row = &kept[rows - 1].servicer;
            if (!last)
                bound = fmax(excess(&executive, 0), excess(&executive, 1));
            assert_near(row->bound, bound, 1e-12);
            assert_true(bound != 0.0);
        }
        ff_executive_close(&executive);
        assert_int_equal(asked, guided ? (int)scenario.cycles + 1 : 0);
        assert_int_equal(rows, scenario.cycles + 1);
        for (int k = 0; k < rows; k++) {
            const ff_row_servicer *row = &kept[k].servicer;
            assert_near(row->q[2], 0.3, 0.0);
            assert_near(row->qd[1], -0.02, 0.0);
            for (int i = 0; i < SERVICER_JOINTS; i++) {
                assert_near(row->torque[i], guided ? ordered.torque[i] : 0.0, 0.0);
                assert_near(row->motor[i], guided ? 10.0 + i : 0.0, 0.0);
            }
            assert_vec3_near(row->thrust.t, guided ? ordered.thrust.t : ff_vec3_zero(), 0.0);
            assert_int_equal(row->thrust_saturated, guided);
            assert_int_equal(row->motor_saturated, guided);
            assert_int_equal(row->phase, guided ? 3 : 0);
            assert_int_equal(row->action, guided ? 1 : 0);
            assert_true(guided ? row->W_a == 0.5 && row->delta == 0.25
                               : isnan(row->W_a) && isnan(row->delta));
            assert_near(row->port_power, guided ? 1.5 : 0.0, 0.0); /* nothing is touched */
            /* a robot that follows at once is where the satellite is */
            if (k < rows - 1)
                assert_near(row->W_c, ff_rigid_kinetic_energy(&client, &kept[k].body[CLIENT].satellite),
                            1e-6 * row->W_c);
        }
    }
}

/* ------------------------------------------------------------------------------------------- on board --
 */

/* Answers from a record reach the orders as they are, bounded by the thrusters; the sixth is missing. self:
 * none is too large. */
static bool answer(void *self, uint64_t k, ff_obsw_out *out) {
    *out = (ff_obsw_out){.phase = 2, .storage = 0.75, .dissipation = 0.125};
    for (int i = 0; i < 3; i++) {
        out->force[i] = k == 3 && !self ? 1e9 : 0.5 + i;
        out->torque[i] = -0.25 * i;
    }
    for (int i = 0; i < SERVICER_JOINTS; i++)
        out->joint_torque[i] = 0.01 * (i + 1);
    return k != 5;
}

static void test_on_board_answers_become_orders(void **state) {
    (void)state;
    static ff_mission mission;
    char message[200] = "";
    mission_load(NULL, 0, 0.04, &scenario);
    const ff_satellite *servicer = &scenario.satellite[SERVICER];
    assert_int_equal(
        ff_mission_open(&mission, &scenario, NULL, (ff_obsw_record){.read = answer}, message, sizeof message),
        FF_OK);
    assert_true(isinf(mission.computer.config.builtin.grasp));
    mission.computer.config.force_limit = 20.0;
    const ff_guidance guidance = ff_mission_guidance(&mission);
    ff_sample_joints joints = {0};
    for (int k = 0; k < 8; k++) {
        ff_guidance_order order;
        const double t = k * scenario.cycle;
        joints.closed = k >= 4;
        assert_int_equal(guidance.step(guidance.self, t, &scenario.satellite[CLIENT].start, &servicer->start,
                                       &joints, &order, message, sizeof message),
                         FF_OK);
        const bool held = k == 5, saturated = k == 3;
        assert_int_equal(order.saturated, saturated);
        assert_int_equal(order.phase, 2);
        assert_int_equal(order.action, held ? FF_OBSW_HELD : FF_OBSW_FRESH);
        assert_true(held ? isnan(order.storage) && isnan(order.dissipation)
                         : order.storage == 0.75 && order.dissipation == 0.125);
        for (int i = 0; i < SERVICER_JOINTS; i++)
            assert_near(order.torque[i], 0.01 * (i + 1), 0.0);
        for (int i = 0; i < 3; i++) {
            assert_near(order.thrust.f.a[i], saturated ? 20.0 : 0.5 + i, 0.0);
            assert_near(order.thrust.t.a[i], -0.25 * i, 0.0);
        }
        /* the gripper's report is the grasp */
        if (k < 4)
            assert_true(isinf(mission.computer.config.builtin.grasp));
        else
            assert_near(mission.computer.config.builtin.grasp, 4 * scenario.cycle, 1e-15);
    }
    assert_int_equal(mission.computer.info.steps, 8);
    ff_mission_close(&mission);
}

/* ------------------------------------------------------------------------------------------- reference --
 */

enum { ORBITS = 32 };
static ff_orbit_row flown[ORBITS];
static int flights;

static ff_status fly(void *self, const ff_orbit_row *row) {
    (void)self;
    if (flights < ORBITS)
        flown[flights++] = *row;
    return FF_OK;
}

static ff_status refuse_third(void *self, const ff_row *row) {
    (void)self;
    return row->k == 3 ? FF_ERR_IO : FF_OK;
}

static bool until_fourth(void *user, const ff_run_access *access) {
    (void)user;
    assert_near(access->t, (double)access->k * scenario.cycle, 1e-15);
    assert_null(access->model);
    return access->k < 4;
}

static bool until_half(void *user, double part) {
    (void)user;
    return part < 0.5;
}

/* The reference with an arm is the orbit's flight, row for row; its commands are relative to the nominal
 * motion. */
static void test_the_orbit_as_a_run(void **state) {
    (void)state;
    static const char *const set[] = {
        "contacts.grip.closes=0.04",
        "loads=[{body: servicer, kind: pulse, force: [3, 0, 1], torque: [0, 1, 0], from: 0.02, to: 0.06}]"};
    char message[300] = "";
    mission_load(set, 2, 0.08, &scenario);
    scenario.nominal_of = CLIENT;
    flights = rows = 0;
    const ff_obsw_record record = {message, answer};
    assert_int_equal(
        ff_orbit_run(&scenario, NULL, record, (ff_orbit_sink){NULL, fly}, message, sizeof message), FF_OK);
    assert_int_equal(flights, scenario.cycles + 1);
    assert_int_equal(flown[5].action, FF_OBSW_HELD);
    const ff_run_options options = {.sinks = &sink, .count = 1, .record = record};
    ff_run_result result = {0};
    ff_reference_orbit(&scenario, &options, &result);
    assert_int_equal(result.status, FF_OK);
    assert_int_equal(rows, flights);
    assert_int_equal(result.cycles, scenario.cycles);
    assert_string_equal(result.message, "");
    ff_nominal_config motion = {.kind = scenario.nominal};
    ff_rigid_create(&scenario.satellite[CLIENT].rigid, &motion.model);
    const ff_rigid_state start = ff_scenario_nominal(&scenario);
    int touched = 0, thrusts = 0;
    for (int k = 0; k < rows; k++) {
        const ff_row *row = &kept[k];
        const ff_orbit_row *m = &flown[k];
        assert_int_equal(row->k, k);
        assert_near(row->t, k * scenario.cycle, 1e-15);
        assert_int_equal(row->final, k == rows - 1);
        assert_memory_equal(&row->body[2], &(const ff_row_body){0}, sizeof row->body[2]); /* there are two */
        const ff_rigid_state nominal =
            k ? ff_nominal_coast(&motion, k * scenario.cycle, scenario.cycle / 16.0, &start) : start;
        bool contact = ff_vec3_norm(m->F_e.f) > 0.0;
        for (int c = 0; c < scenario.contacts; c++) {
            assert_int_equal(row->touching[c], m->touching[c]);
            assert_vec3_near(row->contact_force[c], m->force[c], 0.0);
            contact = contact || m->touching[c];
        }
        touched += contact;
        for (int i = 0; i < 2; i++) {
            const ff_row_body *b = &row->body[i];
            const ff_rigid_state *is = i == SERVICER ? &m->base : &m->client;
            const ff_rigid_state relative = ff_relative_from_absolute(&nominal, is);
            const ff_wrench *felt = i == SERVICER ? &m->on_base : &m->on_client;
            assert_memory_equal(&b->satellite, is, sizeof *is);
            assert_memory_equal(&b->ideal, is, sizeof *is);
            assert_vec3_near(b->command.T.p, relative.position, 1e-9);
            assert_vec3_near(b->command.twist.v, relative.velocity, 1e-9);
            assert_memory_equal(&b->measured_b, felt, sizeof *felt);
            assert_memory_equal(&b->corrected_b, felt, sizeof *felt);
            assert_near(b->energy.kinetic, m->energy[i], 0.0);
            assert_int_equal(b->in_contact, contact);
            const ff_rigid_load load = ff_scenario_load_at(&scenario, i, row->t);
            assert_memory_equal(&b->load, &load, sizeof load);
        }
        const ff_row_servicer *s = &row->servicer;
        const ff_wrench thrust = ff_obsw_thrust(&m->actuation);
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            assert_near(s->q[i], m->q[i], 0.0);
            assert_near(s->qd[i], m->qd[i], 0.0);
            assert_near(s->torque[i], m->actuation.joint_torque[i], 0.0);
        }
        assert_memory_equal(&s->thrust, &thrust, sizeof thrust);
        thrusts += ff_vec3_norm(thrust.f) > 0.0;
        assert_int_equal(s->phase, (int)m->actuation.phase);
        assert_int_equal(s->action, (int)m->action);
        assert_true(s->W_a == m->actuation.storage || (isnan(s->W_a) && isnan(m->actuation.storage)));
        assert_true(s->delta == m->actuation.dissipation ||
                    (isnan(s->delta) && isnan(m->actuation.dissipation)));
        assert_near(s->W_c, m->energy[CLIENT], 0.0);
    }
    assert_true(touched > 0 && touched < rows && thrusts > 0);
    /* who commands, who draws and who records may end it */
    const ff_sink refusing = {.row = refuse_third};
    const ff_run_options ends[] = {{.sinks = &sink, .count = 1, .between = until_fourth},
                                   {.sinks = &sink, .count = 1, .progress = until_half},
                                   {.sinks = &refusing, .count = 1}};
    static const char *const says[] = {"stopped at 0.016 s", "stopped at 0.040 s", NULL};
    for (int n = 0; n < 3; n++) {
        rows = 0;
        result = (ff_run_result){0};
        ff_reference_orbit(&scenario, &ends[n], &result);
        assert_int_equal(result.status, n == 2 ? FF_ERR_IO : FF_ERR_LIMIT);
        assert_string_equal(result.message, says[n] ? says[n] : ff_status_text(FF_ERR_IO));
        assert_int_equal(result.cycles, n == 0 ? 3 : n == 1 ? 10 : 3);
        assert_int_equal(rows, n == 0 ? 4 : n == 1 ? 11 : 0);
    }
}

/* A gripper that is closed holds the client, also where its joint is free to slide and carries no force. */
static void test_a_closed_gripper_without_force_is_in_contact(void **state) {
    (void)state;
    static const char *const set[] = {"contacts.grip.closes=0.04"};
    mission_load(set, 1, 0.08, &scenario);
    ff_contact *grip = &scenario.contact[GRIP];
    grip->stiffness = grip->satellite_stiffness = grip->damping = grip->satellite_damping = 0;
    rows = 0;
    const ff_run_options options = {.sinks = &sink, .count = 1};
    ff_run_result result = {0};
    ff_reference_orbit(&scenario, &options, &result);
    assert_int_equal(result.status, FF_OK);
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < 2; i++) {
            assert_near(ff_vec3_norm(kept[k].contact_force[GRIP]), 0, 0);
            assert_int_equal(kept[k].touching[GRIP], k >= 10);
            assert_int_equal(kept[k].body[i].in_contact, k >= 10);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_that_are_not_reached_change_nothing),
        cmocka_unit_test(test_a_broken_limit_stops_robots_and_arm),
        cmocka_unit_test(test_a_limit_of_the_client_acts),
        cmocka_unit_test(test_ledger_closes_with_joints),
        cmocka_unit_test(test_guidance_ends_a_run),
        cmocka_unit_test(test_no_thrust_after_release),
        cmocka_unit_test(test_orders_and_rows),
        cmocka_unit_test(test_on_board_answers_become_orders),
        cmocka_unit_test(test_the_orbit_as_a_run),
        cmocka_unit_test(test_a_closed_gripper_without_force_is_in_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
