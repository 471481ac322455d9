/* The phases of a run on devices, on a scripted station whose robot is where it was commanded a cycle ago:
 * check, approach, run-up, loop and stop, lost telegrams, silence, a refusal, a robot that stands. No socket,
 * no thread, no clock. */
#include "support.h"

#include "executive/executive.h"

typedef struct bench {
    ff_plan plan;
    ff_pose at;
    ff_setpoint to;
    bool moved, rests;
    uint64_t waits, writes, leads, releases;
    uint64_t lose, filling; /* before this wait so many telegrams are lost; still to be filled */
    uint64_t silent_at;     /* wait */
    ff_trip trips;          /* found by the station, once */
    uint64_t trips_at;
    double largest_step; /* [m] of a command */
    bool stopped;        /* by the operator */
} bench;

static bench desk;
static ff_scenario scenario;
static ff_preflight preflight;
static ff_executive executive;
static ff_run_result result;

static ff_status open_bench(void *self, const double *lead, char *message, size_t size) {
    (void)self;
    (void)lead;
    (void)message;
    (void)size;
    return FF_OK;
}

static void offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal) {
    (void)self;
    (void)k;
    (void)next;
    (void)led;
    (void)nominal;
}

static ff_status wait(void *self, ff_sample *sample) {
    bench *b = self;
    b->waits++;
    sample->found = (ff_trip){.code = FF_TRIP_NONE};
    if (b->silent_at && b->waits >= b->silent_at) {
        sample->silent = true;
        sample->found = (ff_trip){.code = FF_TRIP_SILENT, .value = 0.1, .limit = 0.1};
        return FF_ERR_DEVICE;
    }
    const bool begins = b->filling == 0 && b->lose && executive.guard.walk.state == FF_STATE_FLOAT;
    if (begins)
        b->filling = b->lose + 1;
    sample->lost = begins ? b->lose : 0;
    if (begins)
        b->lose = 0;
    b->filling -= b->filling > 0;
    sample->filled = b->filling > 0;
    sample->speaks = true;
    if (b->trips_at && b->waits == b->trips_at)
        sample->found = b->trips;
    ff_sample_body *body = &sample->body[0];
    body->sensor = (ff_wrench_in){.T_wb = b->at, .twist = b->to.twist};
    body->sent = b->at;
    body->rests = b->rests;
    body->device = (ff_sample_device){.reached = true, .moved = b->moved, .to = b->to};
    ff_arm_info info;
    assert_int_equal(
        ff_arm_inverse(&b->plan.body[0].arm, &b->at, &b->plan.body[0].home, &body->device.joints, &info),
        FF_OK);
    return FF_OK;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *order) {
    bench *b = self;
    (void)k;
    (void)order;
    (void)measured_b;
    assert_int_equal(b->releases, 0);
    b->writes++;
    b->rests = !(led & 1u);
    b->to.twist = ff_twist_zero();
    if (!(led & 1u))
        return;
    b->leads++;
    b->moved = true;
    b->to = command[0];
    b->largest_step = fmax(b->largest_step, ff_vec3_norm(ff_vec3_sub(command[0].T.p, b->at.p)));
    b->at = command[0].T;
}

static const ff_truth *truth(const void *self) {
    (void)self;
    return NULL;
}

static void range(const void *self, int body, double *force, double *torque) {
    (void)self;
    (void)body;
    *force = 500.0;
    *torque = FF_INF;
}

static void bound(void *self, int body, const ff_safety_limits *limits, const ff_output_config *output) {
    (void)self;
    (void)body;
    assert_true(limits->force > 0.0 && ff_output_validate(output) == FF_OK);
}

static void show(void *self, int body, const char *text) {
    (void)self;
    (void)body;
    (void)text;
}

static void release(void *self) {
    ((bench *)self)->releases++;
}

static void close_bench(void *self) {
    (void)self;
}

static bool stops(void *self) {
    return ((bench *)self)->stopped;
}

static ff_trip finds(void *self) {
    (void)self;
    return (ff_trip){.code = FF_TRIP_NONE};
}

static struct {
    uint64_t rows, asides;
    ff_row first, last;
    char states[256];
    int event;
} seen;

static ff_status see_row(void *self, const ff_row *row) {
    (void)self;
    if (seen.rows++ == 0)
        seen.first = *row;
    assert_int_equal(row->k, seen.rows - 1);
    seen.last = *row;
    return FF_OK;
}

static void see_aside(void *self, const ff_row *row) {
    (void)self;
    assert_true(row->aside);
    seen.asides++;
}

static ff_status see_state(void *self, double t, int state, const char *name) {
    (void)self;
    (void)t;
    (void)state;
    strcat(strcat(seen.states, name), " ");
    return FF_OK;
}

static ff_status see_event(void *self, double t, int code, ff_event_level level, const char *text,
                           double value, double limit) {
    (void)self;
    (void)t;
    (void)level;
    (void)text;
    (void)value;
    (void)limit;
    seen.event = code;
    return FF_OK;
}

static const ff_sink sink = {.row = see_row, .state = see_state, .event = see_event, .aside = see_aside};
static const ff_run_options options = {.sinks = &sink, .count = 1};

/* A body at 50 mm/s that meets nothing, on a robot that stands `off` [m] beside its start. */
static void begin(double off) {
    static const char text[] =
        "name: phases\ntime: {cycle: 0.004, duration: 0.4}\nmethod: direct\nsatellites:\n"
        "  body: {mass: 50, inertia: [5, 6, 7], velocity: [0.05, 0, 0],\n"
        "         robot: {kind: delay, delay: 0.004}, check: {push: skip}}\n";
    char message[256] = "", warnings[512] = "";
    if (ff_scenario_parse("text", text, sizeof text - 1, NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    memset(&seen, 0, sizeof seen);
    memset(&preflight, 0, sizeof preflight);
    desk = (bench){.rests = true};
    result = (ff_run_result){0};
    assert_int_equal(ff_plan_create(&scenario, &desk.plan, message, sizeof message), FF_OK);
    desk.at = ff_plan_runup(&desk.plan, 0, -FF_INF).T;
    desk.at.p.y += off;
    assert_int_equal(ff_preflight_open(&preflight, &scenario, &desk.plan, true, message, sizeof message),
                     FF_OK);
    const ff_station station = {.self = &desk,
                                .devices = true,
                                .open = open_bench,
                                .offer = offer,
                                .wait = wait,
                                .write = write,
                                .truth = truth,
                                .range = range,
                                .bound = bound,
                                .show = show,
                                .release = release,
                                .close = close_bench};
    const ff_attendant attendant = {&desk, stops, finds};
    if (ff_executive_open_devices(&executive, &scenario, station, &desk.plan, &preflight, attendant, &options,
                                  NULL, &result) != FF_OK)
        fail_msg("%s", result.message);
    assert_near(executive.loop.model->config.body[0].wrench.force_limit, 500.0, 0.0);
}

/* What the attendant does, between two cycles. */
static void attend(bool arms) {
    static const ff_ideal_result *const none;
    const ff_preflight_view view = {executive.loop.model, executive.phases.output, none,
                                    &executive.guard.config};
    if (!atomic_load(&preflight.measured) || atomic_load(&preflight.passed) ||
        atomic_load(&preflight.refused))
        return;
    ff_preflight_evaluate(&preflight, &view, false);
    if (arms && preflight.check.no_go.code == FF_TRIP_NONE) {
        atomic_store(&preflight.passed, true);
        atomic_store(&preflight.armed, true);
    } else
        atomic_store(&preflight.refused, true);
}

static void end(bool arms) {
    for (int n = 0; n < 4000 && !executive.ended; n++) {
        ff_executive_cycle(&executive);
        attend(arms);
    }
    assert_true(executive.ended);
    ff_executive_close(&executive);
    ff_preflight_close(&preflight);
    assert_true(result.safety.watched);
}

static void test_from_off_to_end(void **state) {
    (void)state;
    begin(0.0);
    end(true);
    assert_string_equal(seen.states, "CHECK ZEROED ARMED APPROACH RUNUP FLOAT BRAKE HOLD END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_int_equal(result.safety.state, FF_STATE_HOLD);
    assert_int_equal(seen.rows, scenario.cycles + 1);
    assert_true(seen.last.final && desk.releases == 1);
    /* at t = 0 the robot, a cycle behind, is on its way to the start with the body's speed */
    assert_near(seen.first.body[0].robot.twist.v.x, 0.05, 1e-9);
    assert_near(seen.first.body[0].robot.T.p.x, -0.05 * 0.004, 1e-9);
    assert_near(seen.first.body[0].command.T.p.x, 0.0, 1e-12);
    assert_int_equal(seen.asides, desk.plan.runup); /* and it was there at the start of the approach */
    assert_true(desk.largest_step <= 0.05 * 0.004 * (1.0 + 1e-9));
    assert_near(result.safety.rest[0].T.p.x, 0.05 * 0.4, 1e-9); /* free flight */
}

/* 0.5 mm beside: the approach leads it to the start, by steps of at most 15/8 of the mean speed. */
static void test_approach(void **state) {
    (void)state;
    begin(5e-4);
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_int_equal(seen.asides, desk.plan.runup + 125);
    assert_near(seen.first.body[0].robot.T.p.y, 0.0, 1e-12);
    assert_true(desk.largest_step <= 0.05 * 0.004 * (1.0 + 1e-9));
}

/* 5 mm beside is refused: nothing is led. */
static void test_no_go(void **state) {
    (void)state;
    begin(5e-3);
    end(true);
    assert_string_equal(seen.states, "CHECK FAULT END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_START);
    assert_int_equal(desk.leads, 0);
    assert_int_equal(seen.rows, 0);
    assert_int_equal(desk.releases, 1);
}

static void test_refused_by_the_operator(void **state) {
    (void)state;
    begin(0.0);
    end(false);
    assert_string_equal(seen.states, "CHECK HOLD END ");
    assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
    assert_int_equal(desk.leads, 0);
}

/* Lost telegrams: their cycles are computed and recorded afterwards, and nothing is written for them. */
static void test_lost_telegrams(void **state) {
    (void)state;
    begin(0.0);
    desk.lose = 3;
    end(true);
    assert_int_equal(seen.rows, scenario.cycles + 1);
    assert_int_equal(executive.phases.missed, 3);
    assert_int_equal(executive.phases.missed_at_rest, 0);
    assert_int_equal(executive.phases.filled, 3);
    assert_int_equal(desk.writes, desk.waits - 3 - 1); /* and with the last of all the robot is released */
    assert_int_equal(seen.last.missed, 3);
}

static void test_silence(void **state) {
    (void)state;
    begin(0.0);
    desk.silent_at = 300;
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_SILENT);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);
    assert_int_equal(seen.event, FF_TRIP_SILENT);
    assert_int_equal(desk.releases, 1);
    assert_int_equal(desk.waits, 300);
}

/* Held, it stays until the stop. */
static void test_hold_stays(void **state) {
    (void)state;
    begin(0.0);
    while (executive.guard.walk.state != FF_STATE_FLOAT) {
        ff_executive_cycle(&executive);
        attend(true);
    }
    executive.phases.hold = true;
    for (int n = 0; n < 500; n++)
        assert_int_equal(ff_executive_cycle(&executive), FF_OK);
    assert_false(executive.ended);
    assert_int_equal(executive.guard.walk.state, FF_STATE_HOLD);
    desk.stopped = true;
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_OPERATOR);
    assert_true(seen.rows < scenario.cycles);
}

/* A robot that stood is led back to where it stands; a trip in the run-up ends the run before its first row.
 */
static void test_standing_robot(void **state) {
    (void)state;
    begin(0.0);
    while (executive.guard.walk.state != FF_STATE_RUNUP) {
        ff_executive_cycle(&executive);
        attend(true);
    }
    for (int n = 0; n < 20; n++)
        ff_executive_cycle(&executive);
    desk.trips_at = desk.waits + 1;
    desk.trips = (ff_trip){.code = FF_TRIP_STANDS, .value = 1e-3};
    end(true);
    assert_int_equal(result.safety.cause.code, FF_TRIP_STANDS);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);
    assert_int_equal(seen.rows, 0);
    assert_true(result.safety.ended < 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_off_to_end), cmocka_unit_test(test_approach),
        cmocka_unit_test(test_no_go),           cmocka_unit_test(test_refused_by_the_operator),
        cmocka_unit_test(test_lost_telegrams),  cmocka_unit_test(test_silence),
        cmocka_unit_test(test_hold_stays),      cmocka_unit_test(test_standing_robot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
