/* The guard alone: which number of a sample trips which limit, and what a stop makes of it, one sample at a
 * time. */
#include "support.h"

#include "executive/guard.h"

static ff_scenario scenario;

/* One body on a delay robot before a wall. */
static void load(const char *safety) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: guard\ntime: {cycle: 0.004, duration: 2}\nmethod: direct\nsatellites:\n"
             "  body: {mass: 50, inertia: [5, 6, 7], velocity: [0.1, 0, 0], %s\n"
             "         robot: {kind: delay, delay: 0.02}}\n"
             "contacts:\n  - {name: wall, kind: wall, body: body, at: [0.05, 0, 0], normal: [-1, 0, 0],\n"
             "     stiffness: 5000, damping: 20}\n",
             safety);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

/* The guard alone, asked about one sample: a robot that stands at its command and feels nothing. */
static struct {
    ff_guard guard;
    ff_loop_model model;
    ff_loop_state state;
    ff_loop_out out;
    ff_sample sample;
} lone;

static const ff_trip nothing = {.code = FF_TRIP_NONE};

static void alone(const char *safety, bool devices) {
    load(safety);
    memset(&lone, 0, sizeof lone);
    ff_guard_open(&lone.guard, &scenario, devices);
    ff_wrench_config *wrench = &lone.model.config.body[0].wrench;
    wrench->force_limit = 100.0;
    wrench->torque_limit = 10.0;
    lone.out.command[0].T = ff_pose_identity();
    ff_sample_body *b = &lone.sample.body[0];
    b->sensor.T_wb = b->sent.to.T = b->next.to.T = ff_pose_identity();
    if (devices) {
        assert_int_equal(lone.guard.walk.state, FF_STATE_OFF);
        ff_walk_reset(&lone.guard.walk, FF_STATE_FLOAT);
        ff_safety_limits *l = &lone.guard.config.limits[0];
        l->box = (ff_vec3){{FF_INF, FF_INF, FF_INF}};
        l->velocity = l->angular_velocity = l->acceleration = l->angular_acceleration = l->jerk = FF_INF;
        l->force = l->torque = l->spike = l->energy = l->tracking = l->missed = lone.guard.config.lag[0] =
            FF_INF;
        l->age = 0.01;
        b->device.reached = b->device.moved = true;
        b->device.force = 0.25;
        b->device.torque = 0.125;
    }
    assert_true(lone.guard.watches);
}

/* What ends the run with this sample. */
static ff_trip ends(void) {
    const bool new =
        ff_guard_judge(&lone.guard, &lone.sample, &lone.model, &lone.state, &lone.out, nothing, FF_TRIP_NONE);
    assert_int_equal(new, lone.guard.walk.cause.code != FF_TRIP_NONE);
    return lone.guard.walk.cause;
}

/* Random wrenches on a free body, each held for a cycle or, where telegrams are lost, for several: v changes
 * by F T/m, w by T I^-1 t, and what the guard calls the contact's energy is the change of the kinetic one to
 * rounding. The ledger alone is below it. Before t = 0 nothing counts. */
static void test_energy_of_the_contact_is_the_satellites(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int devices = 0; devices < 2; devices++) {
        alone("safety: {energy: 1000},", devices);
        ff_rigid_config rigid = {.mass = 3.0, .inertia = {{{0.5, 0, 0}, {0, 0.7, 0.1}, {0, 0.1, 0.9}}}};
        assert_int_equal(ff_rigid_create(&rigid, &lone.model.rigid[0]), FF_OK);
        if (devices) {
            lone.out.measured_b[0].f.x = 50.0;
            ff_walk_reset(&lone.guard.walk, FF_STATE_RUNUP);
            assert_int_equal(ends().code, FF_TRIP_NONE);
            ff_walk_reset(&lone.guard.walk, FF_STATE_FLOAT);
        }
        const double T = scenario.cycle;
        ff_vec3 v = test_random_vec3(&rng, 0.3), w = test_random_vec3(&rng, 0.3);
        double first = 0.0, energy = 0.0;
        for (int k = 0; k < 200; k++) {
            energy = 0.5 * 3.0 * ff_vec3_dot(v, v) +
                     0.5 * ff_vec3_dot(w, ff_mat3_apply(&lone.model.rigid[0].inertia, w));
            first = k ? first : energy;
            const ff_wrench F = {.f = test_random_vec3(&rng, 80.0), .t = test_random_vec3(&rng, 5.0)};
            const int lost = k % 20 == 7 ? 3 : 0;
            lone.out.measured_b[0] = F;
            lone.guard.in.filled = lost;
            assert_int_equal(ends().code, FF_TRIP_NONE);
            assert_near(lone.guard.in.body[0].energy, energy - first, 1e-12 * (1.0 + energy));
            for (int n = 0; n <= lost; n++) {
                lone.state.energy[0].exchanged += 0.4 * T * (ff_vec3_dot(F.f, v) + ff_vec3_dot(F.t, w));
                lone.state.energy[0].delay += 0.6 * T * (ff_vec3_dot(F.f, v) + ff_vec3_dot(F.t, w));
                v = ff_vec3_axpy(T / 3.0, F.f, v);
                w = ff_vec3_axpy(T, ff_mat3_apply(&lone.model.rigid[0].inertia_inv, F.t), w);
            }
        }
        assert_true(lone.state.energy[0].exchanged + lone.state.energy[0].delay < energy - first - 0.1);
    }
}

#define assert_trip(trip, what, is, allowed)        \
    do {                                            \
        const ff_trip trip_ = (trip);               \
        assert_int_equal(trip_.code, (what));       \
        assert_near(trip_.value, (is), 1e-12);      \
        assert_near(trip_.limit, (allowed), 1e-12); \
    } while (0)

static void test_what_a_sample_says_is_what_is_judged(void **unused) {
    (void)unused;
    for (int devices = 0; devices < 2; devices++) {
        alone("safety: {force: 1000, torque: 100, age: 0.01, velocity: 9},", devices);
        ff_sample_body *b = &lone.sample.body[0];
        b->sensor.T_wb = (ff_pose){{sqrt(0.5), 0, 0, sqrt(0.5)}, {{0.1, 0.2, 0.3}}}; /* x to y */
        b->sensor.twist = (ff_twist){{{0.01, 0.02, 0.03}}, {{0.4, 0.5, 0.6}}};
        b->sensor.age = 0.0015;
        b->rest = ff_vec3_make(7, 8, 9);
        b->sent.lag = 0.0;
        b->device.tracking = 0.004;
        b->device.apart = 3.0;
        b->device.joint = 0.7;
        b->device.repeats = 21.0;
        b->device.clipped_by = 0.3;
        b->device.clipped_limit = 0.4;
        lone.sample.missed = 2.0;
        lone.guard.config.latency[0] = 0.002;
        lone.out.measured_b[0] = (ff_wrench){{{1, 2, 3}}, {{4, 5, 6}}};
        lone.out.command[0].twist.v.y = 0.01;
        lone.state.energy[0].exchanged = 0.5;
        lone.state.energy[0].delay = -0.2;
        assert_int_equal(ends().code, FF_TRIP_NONE);
        const ff_safety_body_in *in = &lone.guard.in.body[0];
        assert_memory_equal(&in->measured.T, &b->sensor.T_wb, sizeof in->measured.T);
        assert_memory_equal(&in->measured.twist, &b->sensor.twist, sizeof in->measured.twist);
        assert_memory_equal(&in->command, &lone.out.command[0], sizeof in->command);
        assert_memory_equal(&in->f_b, &lone.out.measured_b[0], sizeof in->f_b);
        assert_near(in->age, 0.0035, 1e-15);
        assert_vec3_near(in->rest, b->rest, 0.0);
        assert_near(in->energy, 0.3, 1e-15);
        assert_near(lone.guard.in.missed, 2.0, 0.0);
        assert_true(in->force_valid);
        assert_vec3_near(lone.guard.body[0].force, ff_vec3_make(-5, 4, 6), 1e-12);
        assert_near(in->tracking, devices ? 0.004 : 0.0, 0.0); /* no limit on it is named */
        if (!devices)
            continue;
        assert_near(in->apart, 3.0, 0.0);
        assert_near(in->joint, 0.7, 0.0);
        assert_near(in->clipped_by, 0.3, 0.0);
        assert_near(in->clipped_limit, 0.4, 0.0);
        assert_near(in->same, 0.0, 0.0); /* a sensor without noise repeats itself */
        lone.guard.body[0].noisy = true;
        ends();
        assert_near(in->same, 21.0, 0.0);
        /* in the tests of the check what was felt at standstill is not a contact */
        lone.guard.body[0].rest_b = (ff_wrench){{{0.5, 0, 0}}, {{0, 1, 0}}};
        ends();
        assert_near(in->f_b.f.y, 5.0, 0.0);
        lone.guard.walk.state = FF_STATE_TEST;
        ends();
        assert_near(in->f_b.f.y, 4.0, 0.0);
        assert_near(in->f_b.t.x, 0.5, 0.0);
    }
}

/* A force counts as measured if the loop took it and it is younger than half a cycle; on devices also if the
 * record is healthy and no component is at the end of its range. Else the last one stays. */
static void test_which_force_is_valid(void **unused) {
    (void)unused;
    const struct {
        double age, fx, ty;
        ff_status loop, health;
        bool valid, of_device;
    } each[] = {
        {0.0019, 1, 0, FF_OK, FF_OK, true, true},       {0.002, 1, 0, FF_OK, FF_OK, false, false},
        {0.0, 1, 0, FF_INFO_HELD, FF_OK, false, false}, {0.0, 1, 0, FF_OK, FF_ERR_DEVICE, true, false},
        {0.0, -99.7, -9.8, FF_OK, FF_OK, true, true},   {0.0, -99.75, 0, FF_OK, FF_OK, true, false},
        {0.0, 0, 9.875, FF_OK, FF_OK, true, false},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++)
        for (int devices = 0; devices < 2; devices++) {
            alone("safety: {velocity: 9},", devices);
            ff_sample_body *b = &lone.sample.body[0];
            b->sensor.age = each[n].age;
            b->sensor.f_s.f.x = each[n].fx;
            b->sensor.f_s.t.y = each[n].ty;
            b->device.health = each[n].health;
            lone.out.sensor_status[0] = each[n].loop;
            lone.out.measured_b[0].f.z = 3.0;
            lone.guard.body[0].force.z = 8.0;
            ends();
            const bool valid = devices ? each[n].of_device : each[n].valid;
            assert_int_equal(lone.guard.in.body[0].force_valid, valid);
            assert_near(lone.guard.body[0].force.z, valid ? 3.0 : 8.0, 0.0);
        }
}

/* In virtual time: the end of the range counts where a force or a torque is limited, each component by
 * itself, unless the reading is beyond the limit anyway. */
static void test_the_end_of_the_range_in_virtual_time(void **unused) {
    (void)unused;
    const struct {
        const char *safety;
        double fz, tx;
        ff_trip_code code;
        double value, limit;
    } each[] = {
        {"force: 1000, torque: 1000", -99.9, 9.9, FF_TRIP_NONE, 0, 0},
        {"force: 1000, torque: 1000", -100, 0, FF_TRIP_RANGE, 100, 100},
        {"force: 1000, torque: 1000", 0, -10, FF_TRIP_RANGE, 10, 10},
        {"force: 1000, torque: 1000", 101, 11, FF_TRIP_RANGE, 101, 100},
        {"force: 1000", 100, 0, FF_TRIP_RANGE, 100, 100},
        {"torque: 1000", 100, 0, FF_TRIP_RANGE, 100, 100},
        {"force: 1000", 0, 12, FF_TRIP_RANGE, 12, 10},
        {"force: 100", 100, 0, FF_TRIP_RANGE, 100, 100},
        {"torque: 10", 0, 10, FF_TRIP_RANGE, 10, 10},
        {"force: 100", 100.1, 0, FF_TRIP_NONE, 0, 0},
        {"torque: 10", 0, 10.1, FF_TRIP_NONE, 0, 0},
        {"force: 50", 60, 11, FF_TRIP_NONE, 0, 0},
        {"velocity: 9", 200, 20, FF_TRIP_NONE, 0, 0},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        char safety[96];
        snprintf(safety, sizeof safety, "safety: {%s},", each[n].safety);
        alone(safety, false);
        lone.sample.body[0].sensor.f_s.f.z = each[n].fz;
        lone.sample.body[0].sensor.f_s.t.x = each[n].tx;
        assert_trip(ends(), each[n].code, each[n].value, each[n].limit);
    }
}

/* The same on devices, by what the device says, first its age; a count below the end of the range is at it,
 * with the bias and without. */
static void test_what_is_wrong_with_a_sensor(void **unused) {
    (void)unused;
    const struct {
        double age;
        bool given_up;
        ff_status health;
        double fx, bias_x, ty, bias_ty;
        ff_trip_code code;
        double value, limit;
    } each[] = {
        {0.01, false, FF_OK, 0, 0, 0, 0, FF_TRIP_NONE, 0, 0},
        {0.0101, false, FF_ERR_DEVICE, 200, 0, 0, 0, FF_TRIP_AGE, 0.0101, 0.01},
        {0.003, true, FF_OK, 0, 0, 0, 0, FF_TRIP_AGE, 0.003, 0.01},
        {0, false, FF_INFO_SATURATED, 0, 0, 0, 0, FF_TRIP_RANGE, 77, 0},
        {0, false, FF_INFO_HELD, 0, 0, 0, 0, FF_TRIP_FROZEN, 77, 0},
        {0, false, FF_ERR_DEVICE, 0, 0, 0, 0, FF_TRIP_SENSOR, 77, 0},
        {0, false, FF_OK, -99.7, 0, 0, 0, FF_TRIP_NONE, 0, 0},
        {0, false, FF_OK, -99.75, 0, 0, 0, FF_TRIP_RANGE, 99.75, 100},
        {0, false, FF_OK, 60, -39.7, 0, 0, FF_TRIP_NONE, 0, 0},
        {0, false, FF_OK, 60, -40, 0, 0, FF_TRIP_RANGE, 100, 100},
        {0, false, FF_OK, 99.8, 50, 0, 0, FF_TRIP_RANGE, 99.8, 100},
        {0, false, FF_OK, 0, 0, 9.8, 0, FF_TRIP_NONE, 0, 0},
        {0, false, FF_OK, 0, 0, -9.875, 0, FF_TRIP_RANGE, 9.875, 10},
        {0, false, FF_OK, 0, 0, 6, -4, FF_TRIP_RANGE, 10, 10},
        {0, false, FF_OK, 0, 0, 9.9, 5, FF_TRIP_RANGE, 9.9, 10},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        alone("safety: {velocity: 9},", true);
        ff_sample_body *b = &lone.sample.body[0];
        b->sensor.age = each[n].age;
        b->sensor.f_s.f.x = each[n].fx;
        b->sensor.f_s.t.y = each[n].ty;
        b->device.given_up = each[n].given_up;
        b->device.health = each[n].health;
        b->device.word = 77.0;
        lone.model.config.body[0].wrench.bias_s.f.x = each[n].bias_x;
        lone.model.config.body[0].wrench.bias_s.t.y = each[n].bias_ty;
        assert_trip(ends(), each[n].code, each[n].value, each[n].limit);
    }
    /* a record before the newest counts as that does */
    for (int kind = 0; kind < 3; kind++) {
        alone("safety: {velocity: 9},", true);
        lone.guard.config.limits[0].spike = 50.0;
        ff_sample_device *d = &lone.sample.body[0].device;
        assert_trip(ends(), FF_TRIP_NONE, 0.0, 0.0);
        *(kind == 0 ? &d->most_force : kind == 1 ? &d->most_torque : &d->jump) = kind == 1 ? 9.9 : 99.9;
        assert_trip(ends(), kind < 2 ? FF_TRIP_RANGE : FF_TRIP_SPIKE, kind == 1 ? 9.9 : 99.9,
                    kind == 0   ? 100.0
                    : kind == 1 ? 10.0
                                : 50.0);
        assert_int_equal(lone.guard.in.body[0].force_valid, kind == 2);
    }
    /* in virtual time there is an age alone */
    for (int late = 0; late < 2; late++) {
        alone("safety: {age: 0.01},", false);
        lone.sample.body[0].sensor.age = late ? 0.0101 : 0.01;
        assert_trip(ends(), late ? FF_TRIP_AGE : FF_TRIP_NONE, late ? 0.0101 : 0.0, late ? 0.01 : 0.0);
    }
}

/* In virtual time the robot is compared with the last 55 commands: its delay, 5 cycles, and 50 more. Before
 * the first they lie on the initial motion, 0.4 mm a cycle. */
static void test_the_commands_that_the_robot_may_have_come_to(void **unused) {
    (void)unused;
    const struct {
        double back, beside, error; /* [cycles], [m], [m] */
    } each[] = {{0, 0, 0},
                {54, 0, 0},
                {55, 0, 0.0004},
                {20, 0.0009, 0.0009},
                {20, 0.0011, 0.0011},
                {-2, 0, 0.0008},
                /* the oldest that is remembered is none that it may be at */
                {FF_GUARD_TRACK - 1, 0, 0.0004 * (FF_GUARD_TRACK - 1 - 54)}};
    for (size_t n = 0; n < sizeof each / sizeof *each; n++)
        for (int later = 0; later < 600; later += 299) { /* cycles; more than are remembered */
            alone("safety: {tracking: 0.001},", false);
            assert_int_equal(lone.guard.body[0].window, 55);
            assert_near(lone.guard.config.lag[0], 0.001, 0.0);
            lone.out.command[0].twist.v.x = 0.1;
            ff_sample_body *b = &lone.sample.body[0];
            for (int k = 0; k < later; k++) {
                b->sensor.T_wb.p.x = b->next.to.T.p.x = 0.0004 * k;
                assert_int_equal(ends().code, FF_TRIP_NONE);
            }
            b->next.to.T.p.x = 0.0004 * later;
            b->sensor.T_wb.p = ff_vec3_make(0.0004 * (later - each[n].back), each[n].beside, 0);
            const ff_trip trip = ends();
            assert_near(lone.guard.in.body[0].tracking, each[n].error, 1e-12);
            assert_int_equal(trip.code, each[n].error > 0.001 ? FF_TRIP_TRACKING : FF_TRIP_NONE);
        }
    load("safety: {tracking: 0.001},");
    scenario.satellite[0].robot.delay = 100.0;
    ff_guard_open(&lone.guard, &scenario, false);
    assert_int_equal(lone.guard.body[0].window, FF_GUARD_TRACK);
}

/* How far it is to each limit is computed only where somebody looks. */
static void test_levels_are_shown_on_demand(void **unused) {
    (void)unused;
    for (int shows = 0; shows < 2; shows++) {
        alone("safety: {force: 40},", false);
        lone.guard.shows = shows;
        lone.out.measured_b[0].f.x = 10.0;
        double want[FF_LEVEL_COUNT] = {0};
        ends();
        if (shows)
            ff_levels(&lone.guard.config, &(ff_safety_memory){0}, &lone.guard.in, 0, want);
        for (int l = 0; l < FF_LEVEL_COUNT; l++)
            assert_true(lone.guard.level[0][l] == want[l] ||
                        (isnan(want[l]) && isnan(lone.guard.level[0][l])));
        for (int l = 0; l < FF_LEVEL_COUNT; l++) /* there is one body, none behind it */
            assert_true(lone.guard.level[1][l] == 0.0);
    }
}

/* ----------------------------------------------------------------------------------------------- stops --
 */

/* A second body beside the first, both moved and at rest; the cause is a fault of body 0. */
static void stopping(bool devices, ff_trip_code code) {
    alone("safety: {velocity: 9},", devices);
    ff_guard *g = &lone.guard;
    g->config.bodies = 2;
    g->config.limits[1] = g->config.limits[0];
    g->config.bounded[1] = g->config.bounded[0];
    g->config.stop_jerk[1] = g->config.stop_jerk[0];
    g->config.stiffness[1] = g->config.stiffness[0];
    g->config.settle[1] = g->config.settle[0];
    g->config.contact[1] = g->config.contact[0];
    g->config.grasp[1] = FF_INF;
    lone.sample.body[1] = lone.sample.body[0];
    ff_walk_end(&g->walk, (ff_trip){.code = code});
    for (int i = 0; i < 2; i++) {
        g->in.body[i].force_valid = true;
        lone.sample.body[i].rests = true;
        lone.sample.body[i].sent.to.T.p.z = 0.5;
    }
}

static void test_a_stop_waits_for_every_body(void **unused) {
    (void)unused;
    for (int devices = 0; devices < 2; devices++) {
        stopping(devices, FF_TRIP_BOX);
        ff_guard *g = &lone.guard;
        ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
        lone.sample.body[1].rests = false;
        for (int k = 0; k < 200; k++)
            assert_int_equal(ff_guard_stop(g, &lone.sample, 0.0, command), 0);
        assert_true(g->body[0].stop.done && !g->body[1].stop.done);
        assert_false(g->rested);
        assert_int_equal(g->walk.state, FF_STATE_BRAKE);
        /* on devices a robot that is not led is sent the same again */
        assert_near(command[0].T.p.z, devices ? 0.5 : 0.0, 0.0);
        lone.sample.body[1].rests = true;
        int k = 0;
        while (!g->rested && k < 200) {
            ff_guard_stop(g, &lone.sample, 0.0, command);
            k++;
        }
        assert_int_equal(g->walk.state, FF_STATE_FAULT);
        /* `settle`, 0.1 s, and two cycles: 27, beside the one that was the last before */
        assert_int_equal(k, 27);
    }
    /* a robot that never moved or is not reached is not waited for */
    for (int n = 0; n < 2; n++) {
        stopping(true, FF_TRIP_BOX);
        ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
        for (int i = 0; i < 2; i++)
            *(n ? &lone.sample.body[i].device.reached : &lone.sample.body[i].device.moved) = false;
        assert_int_equal(ff_guard_stop(&lone.guard, &lone.sample, 0.0, command), 0);
        assert_true(lone.guard.rested && !lone.guard.body[0].stop.started);
        assert_int_equal(lone.guard.walk.state, FF_STATE_FAULT);
        assert_near(command[0].T.p.z, 0.0, 0.0);
    }
}

/* On devices `rests` speaks of the command before the stop: its first cycle does not count. */
static void test_the_first_cycle_of_a_stop(void **unused) {
    (void)unused;
    for (int devices = 0; devices < 2; devices++)
        for (int late = 0; late < 2; late++) {
            stopping(devices, FF_TRIP_BOX);
            ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
            lone.guard.config.grasp[0] = 2.0;
            ff_guard_stop(&lone.guard, &lone.sample, late ? 2.0 : 1.999, command);
            assert_int_equal(lone.guard.body[0].stop.rested, devices ? 0 : 1);
            assert_int_equal(lone.guard.body[0].stop.grasped, late);
            ff_guard_stop(&lone.guard, &lone.sample, 5.0, command);
            assert_int_equal(lone.guard.body[0].stop.rested, devices ? 1 : 2);
            assert_int_equal(lone.guard.body[0].stop.grasped, late);
        }
}

/* A force that is trusted leads out of the contact, along it; one of a sensor that failed, or that is not
 * valid, leads nowhere. */
static void test_only_a_trusted_force_leads(void **unused) {
    (void)unused;
    for (int n = 0; n < 3; n++) {
        stopping(true, n == 1 ? FF_TRIP_RANGE : FF_TRIP_FORCE);
        ff_guard *g = &lone.guard;
        ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
        g->body[1].force = ff_vec3_make(0, -20, 0);
        g->in.body[1].force_valid = n != 2;
        unsigned led = 0;
        for (int k = 0; k < 200 && !led && !g->rested; k++)
            led = ff_guard_stop(g, &lone.sample, 0.0, command);
        assert_int_equal(led, n ? 0 : 2);
        assert_int_equal(g->walk.state, n ? FF_STATE_FAULT : FF_STATE_RETREAT);
        assert_int_equal(g->body[1].stop.why, n ? FF_STOP_NO_FORCE : FF_STOP_FREE);
        if (!n) {
            led = ff_guard_stop(g, &lone.sample, 0.0, command);
            assert_int_equal(led, 2);
            assert_true(command[1].T.p.y < 0.0 && command[1].twist.v.y < 0.0);
            assert_near(command[0].T.p.z, 0.5, 0.0);
        }
    }
}

/* A robot that stands against its command, when a stop begins or in the middle of it, is led back to where it
 * stands, while the command is further from it than 10 um or 10 urad; whatever the cause is. No other body
 * is. */
static void test_a_robot_that_stands_is_led_back(void **unused) {
    (void)unused;
    const struct {
        ff_trip_code code;
        int body;
        double off, turned;
        bool back;
    } each[] = {
        {FF_TRIP_STANDS, 0, 1.1e-5, 0, true},  {FF_TRIP_STANDS, 0, 0.9e-5, 0, false},
        {FF_TRIP_STANDS, 0, 0, 1.1e-5, true},  {FF_TRIP_STANDS, 0, 0, 0.9e-5, false},
        {FF_TRIP_STANDS, 1, 1e-3, 0, false},   {FF_TRIP_CONTROLLER, 0, 1e-3, 0, true},
        {FF_TRIP_STANDS, 0, 1e-3, 1e-3, true},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        stopping(true, each[n].code);
        ff_guard *g = &lone.guard;
        lone.sample.body[each[n].body].device.stands = true;
        ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
        ff_sample_body *b = &lone.sample.body[0];
        b->sensor.T_wb.p.y = 0.2;
        b->next.to.T = b->sensor.T_wb;
        b->next.to.T.p.x += each[n].off;
        b->next.to.T.q = ff_quat_exp(ff_vec3_make(0, 0, each[n].turned));
        command[0].twist.v.x = 1.0;
        const unsigned led = ff_guard_stop(g, &lone.sample, 0.0, command);
        assert_int_equal(led, each[n].back ? 1 : 0);
        assert_int_equal(g->body[0].back, each[n].back);
        assert_int_equal(g->body[1].back, false);
        if (!each[n].back)
            continue;
        assert_vec3_near(command[0].T.p, ff_vec3_make(0, 0.2, 0), 0.0);
        assert_vec3_near(command[0].twist.v, ff_vec3_zero(), 0.0);
        assert_near(g->body[0].stop.taken, 0.0, 0.0); /* the stop itself begins when it is there */
        b->next.to.T = b->sensor.T_wb;
        b->sensor.T_wb.p.y = 0.3; /* where it stood counts, not where it is, nor whether it stands still */
        b->device.stands = n % 2;
        assert_int_equal(ff_guard_stop(g, &lone.sample, 0.0, command), 0);
        assert_true(g->body[0].stop.taken > 0.0);
        assert_vec3_near(g->body[0].stood.p, ff_vec3_make(0, 0.2, 0), 0.0);
    }
}

/* One that is said to stand where its command cannot have left it behind, because what it reports has jumped,
 * is not led there: at most as far as the largest speed goes in its delay, its settling and 18 cycles. */
static void test_a_robot_that_is_said_to_be_elsewhere_is_not_led_there(void **unused) {
    (void)unused;
    for (int n = 0; n < 12; n++) {
        stopping(true, FF_TRIP_STANDS);
        ff_guard *g = &lone.guard;
        const bool beyond = n % 2, turns = n / 2 % 2;
        const int which = n / 4; /* the limit of safety, of limits, or neither */
        g->config.delay[0] = 0.03;
        g->config.limits[0].velocity = which == 0 ? 0.1 : FF_INF;
        g->config.limits[0].angular_velocity = which == 0 ? 0.2 : FF_INF;
        g->config.bounded[0].velocity = which == 1 ? 0.3 : FF_INF;
        g->config.bounded[0].angular_velocity = which == 1 ? 0.4 : FF_INF;
        static const double most[2][3] = {{0.1, 0.3, 2.0}, {0.2, 0.4, 3.0}};
        const double far = most[turns][which] * (0.03 + g->config.settle[0] + 18.0 * g->config.cycle) *
                           (beyond ? 1.001 : 0.999);
        ff_sample_body *b = &lone.sample.body[0];
        b->device.stands = true;
        b->next.to.T = b->sensor.T_wb;
        if (turns)
            b->next.to.T.q = ff_quat_mul(b->sensor.T_wb.q, ff_quat_exp(ff_vec3_make(0, far, 0)));
        else
            b->next.to.T.p.z += far;
        ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
        assert_int_equal(ff_guard_stop(g, &lone.sample, 0.0, command), beyond ? 0 : 1);
        assert_int_equal(g->body[0].back, !beyond);
    }
}

/* A robot that stood against its command is led back to where it stands, and from there out of its contact:
 * not to and fro between the two. */
static void test_a_retreat_after_standing_is_not_taken_back(void **unused) {
    (void)unused;
    stopping(true, FF_TRIP_STANDS);
    ff_guard *g = &lone.guard;
    ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
    ff_sample_body *b = &lone.sample.body[1];
    const double stood = b->sensor.T_wb.p.y;
    b->device.stands = true;
    g->config.stiffness[1] = 2000.0;
    g->body[1].force = ff_vec3_make(0, -8, 0); /* 4 mm + 1 mm, less two cycles, and it never ends */
    b->next.to.T.p.y = 0.02;
    int turns = 0;
    double step = 0.0;
    for (int k = 0; k < 1000 && !g->rested; k++) {
        const unsigned led = ff_guard_stop(g, &lone.sample, 0.0, command);
        const double y = led & 2u ? command[1].T.p.y : b->next.to.T.p.y, moved = y - b->next.to.T.p.y;
        turns += moved * step < 0.0;
        step = moved != 0.0 ? moved : step;
        b->next.to.T.p.y = y;
        b->sensor.T_wb = b->next.to.T;
        b->rests = !(led & 2u);
        b->device.stands = false; /* it moves again */
    }
    assert_true(g->rested && g->body[1].stop.why == FF_STOP_STILL_PUSHED);
    assert_int_equal(turns, 0);
    assert_near(b->next.to.T.p.y, stood - 0.005 + 2.0 * 0.010 * g->config.cycle, 1e-6);
}

/* A robot that does not follow its retreat, either, is led back once more to where it stands, and no more: it
 * stays behind no command. One that leaves its contact meanwhile has retreated. */
static void test_a_retreat_that_is_not_followed_is_taken_back(void **unused) {
    (void)unused;
    for (int freed = 0; freed < 2; freed++) {
        stopping(true, freed ? FF_TRIP_FORCE : FF_TRIP_STANDS);
        ff_guard *g = &lone.guard;
        ff_setpoint command[2] = {{.T = ff_pose_identity()}, {.T = ff_pose_identity()}};
        ff_sample_body *b = &lone.sample.body[1];
        const ff_pose stood = b->sensor.T_wb;
        g->config.stiffness[1] = 2000.0;
        g->body[1].force = ff_vec3_make(0, -8, 0);
        b->next.to.T = stood;
        b->rests = true;
        int retreats = 0, backs = 0;
        double most = 0.0;
        for (int k = 0; k < 1000 && !g->rested; k++) {
            const unsigned led = ff_guard_stop(g, &lone.sample, 0.0, command);
            retreats += g->body[1].stop.goes;
            backs += g->body[1].back;
            assert_true(!(led & 2u) || g->body[1].stop.goes || g->body[1].back);
            if (led & 2u)
                b->next.to.T = command[1].T;
            most = fmax(most, stood.p.y - b->next.to.T.p.y);
            b->rests = !(led & 2u);
            b->device.stands = retreats > 12; /* as the network finds it, and for as long as it likes */
            if (freed && backs)
                g->body[1].force = ff_vec3_zero();
        }
        assert_true(g->rested && g->body[1].stop.held);
        assert_int_equal(g->body[1].stop.why, freed ? FF_STOP_RETREATED : FF_STOP_HELD);
        assert_int_equal(retreats, 13);
        assert_int_equal(backs, 1);
        assert_true(most > 1e-4 && most < 0.010 * 13 * g->config.cycle);
        assert_near(b->next.to.T.p.y, stood.p.y, 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_sample_says_is_what_is_judged),
        cmocka_unit_test(test_energy_of_the_contact_is_the_satellites),
        cmocka_unit_test(test_which_force_is_valid),
        cmocka_unit_test(test_the_end_of_the_range_in_virtual_time),
        cmocka_unit_test(test_what_is_wrong_with_a_sensor),
        cmocka_unit_test(test_the_commands_that_the_robot_may_have_come_to),
        cmocka_unit_test(test_levels_are_shown_on_demand),
        cmocka_unit_test(test_a_stop_waits_for_every_body),
        cmocka_unit_test(test_the_first_cycle_of_a_stop),
        cmocka_unit_test(test_only_a_trusted_force_leads),
        cmocka_unit_test(test_a_retreat_after_standing_is_not_taken_back),
        cmocka_unit_test(test_a_robot_that_stands_is_led_back),
        cmocka_unit_test(test_a_retreat_that_is_not_followed_is_taken_back),
        cmocka_unit_test(test_a_robot_that_is_said_to_be_elsewhere_is_not_led_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
