/* Limits that the scenario names act in virtual time: the run trips, the robots brake through the output
 * stage and leave the contact, the cause is kept. Without a name nothing is judged. */
#include "unit/executive/script.h"

#include "executive/executive.h"
#include "facility/virtual.h"
#include "text/clock.h"

static ff_scenario scenario;
static ff_executive executive;
static ff_run_result result;

/* One body on a delay robot flies at 0.1 m/s into a wall at 50 mm. */
static void load(const char *safety, const char *more) {
    char text[2048], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: guard\ntime: {cycle: 0.004, duration: 2}\nmethod: direct\nsatellites:\n"
             "  body: {mass: 50, inertia: [5, 6, 7], velocity: [0.1, 0, 0], %s %s\n"
             "         robot: {kind: delay, delay: 0.02}}\n"
             "contacts:\n  - {name: wall, kind: wall, body: body, at: [0.05, 0, 0], normal: [-1, 0, 0],\n"
             "     stiffness: 5000, damping: 20}\n",
             safety, more);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

typedef struct seen {
    uint64_t rows;
    char states[128];
    int code;
    double force; /* largest measured */
    /* of what the robot really does, by the plant: */
    ff_vec3 p[3];
    int known;
    double speed, deceleration; /* largest after the trip */
    double furthest;            /* [m] along x, ever */
} seen;

static seen eye;

static ff_status see_row(void *self, const ff_row *row) {
    seen *s = self;
    s->rows++;
    s->force = fmax(s->force, ff_vec3_norm(row->body[0].measured_b.f));
    return FF_OK;
}

static ff_status see_state(void *self, double t, int state, const char *name) {
    seen *s = self;
    (void)t;
    (void)state;
    strcat(strcat(s->states, name), " ");
    return FF_OK;
}

static ff_status see_event(void *self, double t, int code, ff_event_level level, const char *text,
                           double value, double limit) {
    seen *s = self;
    (void)t;
    (void)text;
    (void)value;
    (void)limit;
    assert_int_equal(level, FF_EVENT_FAULT);
    s->code = code;
    return FF_OK;
}

static const ff_sink sink = {.self = &eye, .row = see_row, .state = see_state, .event = see_event};

static ff_virtual facility;

static ff_status run(void) {
    const ff_run_options options = {.sinks = &sink, .count = 1};
    eye = (seen){0};
    result = (ff_run_result){0};
    assert_int_equal(ff_executive_open(&executive, &scenario, ff_virtual_station(&facility, &scenario),
                                       &options, NULL, &result),
                     FF_OK);
    const double T = scenario.cycle;
    int cycles = 0;
    while (!executive.ended) {
        ff_executive_cycle(&executive);
        assert_true(++cycles < 3000);
        eye.p[2] = eye.p[1];
        eye.p[1] = eye.p[0];
        eye.p[0] = ff_plant_truth(facility.plant)->robot[0].T.p;
        eye.known++;
        eye.furthest = fmax(eye.furthest, eye.p[0].x);
        if (eye.known > 2 && executive.guard.walk.cause.code != FF_TRIP_NONE) {
            const ff_vec3 v = ff_vec3_scale(1.0 / T, ff_vec3_sub(eye.p[0], eye.p[1])),
                          u = ff_vec3_scale(1.0 / T, ff_vec3_sub(eye.p[1], eye.p[2]));
            eye.speed = ff_vec3_norm(v);
            eye.deceleration = fmax(eye.deceleration, ff_vec3_norm(ff_vec3_sub(v, u)) / T);
        }
    }
    ff_executive_close(&executive);
    return result.status;
}

static void test_nothing_is_judged_unless_a_limit_is_named(void **unused) {
    (void)unused;
    load("", "");
    assert_int_equal(run(), FF_OK);
    assert_false(result.safety.watched);
    assert_int_equal(eye.rows, scenario.cycles + 1);
    assert_string_equal(eye.states, "");
    const double force = eye.force;
    assert_true(force > 40.0); /* v sqrt(k m) = 50 N */

    load("safety: {stop_acceleration: 2},", ""); /* how it stops is not a limit */
    assert_int_equal(run(), FF_OK);
    assert_false(result.safety.watched);

    /* defaults on devices are not limits here: the robot is one delay, 2 mm, behind its command */
    load("safety: {force: 1000},", "limits: {velocity: 10},");
    assert_int_equal(run(), FF_OK);
    assert_true(result.safety.watched);
    assert_int_equal(result.safety.state, FF_STATE_END);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FINISHED);
    assert_near(eye.force, force, 0.0); /* and what does not trip changes no bit */
    assert_string_equal(eye.states, "CONTACT FLOAT ");
}

/* 5 N is reached at a depth of 0.6 mm, the damping adds 2 N. The robot brakes from 0.1 m/s with 5 m/s2: 1 mm,
 * and one delay, 2 mm, further; then out of the wall, for which 5 mm are allowed. */
static void test_a_force_beyond_its_limit_brakes_and_leaves_the_contact(void **unused) {
    (void)unused;
    load("safety: {force: 5, stop_acceleration: 5},", "");
    assert_int_equal(run(), FF_ERR_LIMIT);
    const ff_run_safety *s = &result.safety;
    assert_true(s->watched);
    assert_int_equal(s->state, FF_STATE_FAULT);
    assert_int_equal(s->cause.code, FF_TRIP_FORCE);
    assert_true(s->cause.value > 5.0 && s->cause.value < 8.0);
    assert_near(s->cause.limit, 5.0, 0.0);
    assert_int_equal(eye.code, FF_TRIP_FORCE);
    assert_string_equal(eye.states, "CONTACT BRAKE RETREAT FAULT ");
    assert_non_null(strstr(result.message, "FAULT, FORCE: "));
    assert_int_equal(s->why[0], FF_STOP_RETREATED);
    assert_true(s->stopped[0] && s->retreated[0]);
    assert_true(s->rest[0].T.p.x <= 0.05 + 1e-9);  /* out of the wall */
    assert_true(s->rest[0].T.p.x > 0.05 - 0.0021); /* but not far */
    assert_near(eye.speed, 0.0, 1e-12);
    assert_true(eye.rows == result.cycles + 1 && eye.rows < scenario.cycles);
}

/* Free motion: the plant's own second difference never exceeds the deceleration asked for. */
static void test_a_stop_keeps_its_deceleration(void **unused) {
    (void)unused;
    const double rates[] = {0.2, 1.0, 5.0};
    for (int n = 0; n < 3; n++) {
        char safety[96];
        snprintf(safety, sizeof safety, "safety: {box: [0.04, free, free], stop_acceleration: %g},",
                 rates[n]);
        load(safety, "");
        assert_int_equal(run(), FF_ERR_LIMIT);
        assert_int_equal(result.safety.cause.code, FF_TRIP_BOX);
        assert_string_equal(eye.states, "BRAKE FAULT ");
        assert_true(eye.deceleration <= rates[n] * (1.0 + 1e-6));
        assert_true(eye.deceleration > 0.5 * rates[n]);
        /* the box is kept: the stop was seen ahead, v delay + v^2/(2 a), and the cycle in which it trips */
        assert_true(result.safety.rest[0].T.p.x <= 0.04 + 0.1 * 0.004 + 0.5 * rates[n] * 0.004 * 0.02);
        assert_near(eye.speed, 0.0, 1e-12);
    }
}

static void test_each_limit_trips_with_its_own_code(void **unused) {
    (void)unused;
    const struct {
        const char *limit;
        ff_trip_code code;
    } each[] = {
        {"box: [0.01, free, free]", FF_TRIP_BOX},
        {"velocity: 0.05", FF_TRIP_VELOCITY},
        {"force: 10", FF_TRIP_FORCE},
        {"spike: 1", FF_TRIP_SPIKE},
        {"energy: 0.0001", FF_TRIP_ENERGY},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        char safety[96];
        snprintf(safety, sizeof safety, "safety: {%s},", each[n].limit);
        load(safety, "");
        assert_int_equal(run(), FF_ERR_LIMIT);
        if (result.safety.cause.code != each[n].code)
            fail_msg("%s: %s", each[n].limit, result.message);
        assert_int_equal(result.safety.state, FF_STATE_FAULT);
        assert_near(eye.speed, 0.0, 1e-12);
    }
}

/* A delay robot is on its own past commands to rounding. One that lags with 1 Hz runs on by about v/w = 16 mm
 * when its command turns round in the contact. */
static void test_tracking_is_judged_against_the_commands_that_the_robot_may_have_come_to(void **unused) {
    (void)unused;
    load("safety: {tracking: 1e-9},", "");
    scenario.contacts = 0;
    assert_int_equal(run(), FF_OK);
    load("safety: {tracking: 0.001},", "");
    scenario.satellite[0].robot.kind = FF_ROBOT_LAG;
    scenario.satellite[0].robot.frequency = 1.0;
    scenario.satellite[0].robot.damping = 1.0;
    assert_int_equal(run(), FF_ERR_LIMIT);
    assert_int_equal(result.safety.cause.code, FF_TRIP_TRACKING);
}

/* In virtual time too: what the limits hold back further than `tracking` ends the run, what the robot gets is
 * what the rows show, and the loop is given what was sent in the cycle before. Without `tracking` the robot
 * comes late, and nothing else happens. */
static struct {
    ff_sent last;
    uint64_t limited;
    double lag;
    bool known;
} sent;

static ff_status see_sent(void *self, const ff_row *row) {
    (void)self;
    const ff_row_body *b = &row->body[0];
    if (sent.known) {
        assert_memory_equal(&b->sent.to, &sent.last.to, sizeof b->sent.to);
        assert_true(b->sent.lag == sent.last.lag && b->sent.limited == sent.last.limited);
    }
    sent.last = (ff_sent){b->command, b->lag, b->limited};
    sent.known = true;
    sent.limited += b->limited && !row->final;
    sent.lag = fmax(sent.lag, b->lag);
    /* an ideal robot is where it was sent; a satellite that is not limited is where it is commanded */
    assert_memory_equal(&b->robot.T, &b->command.T, sizeof b->command.T);
    assert_near(b->lag, ff_vec3_norm(ff_vec3_sub(b->satellite.position, b->command.T.p)), 1e-12);
    assert_true(b->limited || b->lag == 0.0);
    return FF_OK;
}

static ff_status run_sent(void) {
    const ff_sink own = {.row = see_sent};
    const ff_run_options options = {.sinks = &own, .count = 1};
    memset(&sent, 0, sizeof sent);
    result = (ff_run_result){0};
    const double begin = ff_clock_seconds();
    ff_run(&scenario, &options, &result);
    assert_true(result.wall_s >= 0.0 && result.wall_s <= ff_clock_seconds() - begin);
    return result.status;
}

static void test_rows_hold_what_is_sent_and_lag_trips(void **unused) {
    (void)unused;
    load("", "limits: {acceleration: 1},"); /* the wall asks for about 5000 0.01/50 */
    scenario.satellite[0].robot.kind = FF_ROBOT_IDEAL;
    assert_int_equal(run_sent(), FF_OK);
    assert_false(result.safety.watched);
    assert_int_equal(result.limited, 0);

    load("", "limits: {acceleration: 0.2},");
    scenario.satellite[0].robot.kind = FF_ROBOT_IDEAL;
    assert_int_equal(run_sent(), FF_OK);
    assert_false(result.safety.watched);
    assert_true(sent.limited > 10 && sent.lag > 0.001);
    assert_int_equal(result.limited, sent.limited);

    load("safety: {tracking: 0.001},", "limits: {acceleration: 0.2},");
    scenario.satellite[0].robot.kind = FF_ROBOT_IDEAL;
    assert_int_equal(run_sent(), FF_ERR_LIMIT);
    assert_int_equal(result.safety.cause.code, FF_TRIP_LAG);
    assert_true(result.safety.cause.value > 0.001 && result.safety.cause.value < 0.0015);
    assert_near(result.safety.cause.limit, 0.001, 0.0);
}

/* A run that begins beyond its limit brakes from the velocity it has: the plant's second difference is the
 * stop's, and the path is v delay + v^2/(2 a) and a cycle. */
static void test_a_limit_broken_at_the_start_brakes_from_there(void **unused) {
    (void)unused;
    const char *const more[] = {"", ", acceleration: 50", ", acceleration: 50, jerk: 10000"};
    for (int n = 0; n < 3; n++) {
        char safety[128];
        snprintf(safety, sizeof safety, "safety: {velocity: 0.05, stop_acceleration: 0.5%s},", more[n]);
        load(safety, "");
        assert_int_equal(run(), FF_ERR_LIMIT);
        assert_int_equal(result.safety.cause.code, FF_TRIP_VELOCITY);
        assert_int_equal(result.cycles, 0);
        assert_true(eye.deceleration <= 0.5 * (1.0 + 1e-6) && eye.deceleration > 0.25);
        /* one cycle before t = 0 it was v T behind: from there the continuous stop; a jerk J adds v a/(2 J).
         * The other two axes have 2 % of the limits each */
        const double share = 1.0 / sqrt(1.0 + 2.0 * 0.02 * 0.02), a = 0.5 * share,
                     path = 0.1 * 0.1 / (2.0 * a) - 0.1 * scenario.cycle + (n == 2 ? 0.1 * 0.5 / 2e4 : 0.0);
        assert_near(result.safety.rest[0].T.p.x, path, 1e-8);
    }
}

/* A robot that lags with 2 Hz is at rest many time constants, 80 ms each, after its command: it has moved by
 * less than 2 um in half a period, 0.25 s. */
static void test_rest_is_that_of_the_robot(void **unused) {
    (void)unused;
    load("safety: {box: [0.02, free, free]},", "");
    scenario.satellite[0].robot.kind = FF_ROBOT_LAG;
    scenario.satellite[0].robot.frequency = 2.0;
    scenario.satellite[0].robot.damping = 1.0;
    assert_int_equal(run(), FF_ERR_LIMIT);
    assert_int_equal(result.safety.cause.code, FF_TRIP_BOX);
    assert_true(eye.speed < 2e-6 / 0.08);
    assert_true(ff_vec3_norm(result.safety.rest[0].twist.v) < 2e-6 / 0.08);
}

/* ---------------------------------------------------------------------------------------------- scripted --
 */

static struct {
    script *s;
    uint64_t force_at, stop_at; /* cycle from which 20 N press; before which the run is stopped */
    bool recorded;
} hand;

static bool between(void *user, const ff_run_access *access) {
    (void)user;
    if (access->k == hand.force_at)
        hand.s->force.f.y = 20.0;
    return access->k != hand.stop_at;
}

static ff_status play(script *s) {
    const ff_run_options options = {.sinks = &sink, .count = 1, .between = hand.s ? between : NULL};
    eye = (seen){0};
    result = (ff_run_result){0};
    s->bodies = scenario.satellites;
    ff_station station = script_station(s);
    station.recorded = hand.s && hand.recorded;
    assert_int_equal(ff_executive_open(&executive, &scenario, station, &options, NULL, &result), FF_OK);
    int cycles = 0;
    while (!executive.ended) {
        ff_executive_cycle(&executive);
        assert_true(++cycles < 3000);
    }
    const ff_status status = result.status;
    ff_executive_stop(&executive); /* what has ended stays as it ended */
    assert_int_equal(result.status, status);
    ff_executive_close(&executive);
    assert_int_equal(s->closed, 1);
    return result.status;
}

/* Any number of pose, twist or wrench that is not finite: the robots stop with that cause, at once, and what
 * is written stays finite. An age that is not a number is an age beyond its limit. */
static void test_a_sample_that_is_not_finite_stops_the_robots(void **unused) {
    (void)unused;
    const int numbers = (int)(offsetof(ff_wrench_in, acceleration) / sizeof(double)),
              age = (int)(offsetof(ff_wrench_in, age) / sizeof(double)),
              pose = (int)(offsetof(ff_wrench_in, T_wb) / sizeof(double));
    for (int n = 0; n < numbers; n++) {
        load("safety: {force: 1000, age: 0.1},", "");
        script s = {.spoils = n, .spoils_at = 30};
        const ff_status status = play(&s);
        if (n < age) { /* a reading that is not a number is not a measurement: held, not stopped */
            assert_int_equal(status, FF_OK);
            assert_int_equal(result.info.held, 1);
            continue;
        }
        assert_int_equal(status, FF_ERR_LIMIT);
        assert_int_equal(result.safety.cause.code, n < pose ? FF_TRIP_AGE : FF_TRIP_NOT_FINITE);
        assert_int_equal(result.safety.state, FF_STATE_FAULT);
        assert_string_equal(eye.states, "BRAKE FAULT ");
        assert_int_equal(eye.rows, 30);
        assert_true(ff_pose_finite(s.written[0].T) && ff_twist_finite(s.written[0].twist));
        assert_int_equal(s.led, 0);
    }
}

/* The walk with faults: a loop that diverges is braked like any other fault; a station that fails while the
 * robots brake ends the run with its own status; the first cause stays. */
static void test_faults_on_the_way(void **unused) {
    (void)unused;
    load("safety: {torque: 1000},", "");
    script diverges = {.spoils = -1, .force = {.f = {{1e300, 0, 0}}}};
    assert_int_equal(play(&diverges), FF_ERR_LIMIT);
    assert_int_equal(result.safety.cause.code, FF_TRIP_DIVERGED);
    assert_near(result.safety.cause.value, 0.1, 0.0); /* its speed before that force */
    assert_near(result.safety.cause.limit, 1e9, 0.0);
    assert_int_equal(result.safety.state, FF_STATE_FAULT);

    load("safety: {force: 10},", "");
    script fails = {.spoils = -1, .force = {.f = {{-20, 0, 0}}}, .fails_at = 3, .failure = FF_ERR_DEVICE};
    assert_int_equal(play(&fails), FF_ERR_DEVICE);
    assert_int_equal(result.safety.cause.code, FF_TRIP_FORCE);
    assert_int_equal(result.safety.state, FF_STATE_BRAKE);
    assert_string_equal(eye.states, "BRAKE ");
    assert_int_equal(eye.rows, 0);

    /* a force that never lets go: the retreat ends where it may go no further */
    load("safety: {force: 10},", "");
    script pushed = {.spoils = -1, .force = {.f = {{-20, 0, 0}}}};
    assert_int_equal(play(&pushed), FF_ERR_LIMIT);
    assert_int_equal(result.safety.why[0], FF_STOP_STILL_PUSHED);
    assert_string_equal(eye.states, "BRAKE RETREAT FAULT ");
    /* force/stiffness + 1 mm = 5 mm, along the force */
    assert_near(result.safety.rest[0].T.p.x, -0.005, 1e-4);
}

/* Limits act from the first cycle to the last that the loop computes, on a run that is not over already; what
 * is sent late counts while it floats. */
static void test_when_limits_act(void **unused) {
    (void)unused;
    const uint64_t never = UINT64_MAX;
    load("safety: {force: 10},", "");
    const struct {
        uint64_t force_at, stop_at;
        bool recorded;
        ff_status status;
        ff_trip_code cause;
        ff_state state;
    } each[] = {
        {never, never, false, FF_OK, FF_TRIP_FINISHED, FF_STATE_END},
        {never, 70, false, FF_ERR_LIMIT, FF_TRIP_OPERATOR, FF_STATE_END},
        {0, never, false, FF_ERR_LIMIT, FF_TRIP_FORCE, FF_STATE_FAULT},
        {70, never, false, FF_ERR_LIMIT, FF_TRIP_FORCE, FF_STATE_FAULT},
        {scenario.cycles - 1, never, false, FF_ERR_LIMIT, FF_TRIP_FORCE, FF_STATE_FAULT},
        {scenario.cycles, never, false, FF_OK, FF_TRIP_FINISHED, FF_STATE_END},
        {70, never, true, FF_OK, FF_TRIP_NONE, FF_STATE_OFF},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        load("safety: {force: 10},", "");
        script s = {.spoils = -1, .behind = 1e-6};
        hand.s = &s;
        hand.force_at = each[n].force_at;
        hand.stop_at = each[n].stop_at;
        hand.recorded = each[n].recorded;
        const ff_status status = play(&s);
        hand.s = NULL;
        assert_int_equal(status, each[n].status);
        assert_int_equal(result.safety.watched, !each[n].recorded);
        assert_int_equal(result.safety.cause.code, each[n].cause);
        assert_int_equal(result.safety.state, each[n].state);
        const uint64_t last = each[n].stop_at != never         ? 70
                              : each[n].cause == FF_TRIP_FORCE ? each[n].force_at
                                                               : scenario.cycles;
        assert_int_equal(result.limited, last);
        if (each[n].cause == FF_TRIP_FORCE) {
            assert_near(result.safety.ended, (double)each[n].force_at * scenario.cycle, 1e-12);
            assert_near(result.safety.cause.value, 20.0, 1e-12);
        }
    }
}

/* The robot accelerates towards the end of its box, and its jerk is small: what has begun cannot be taken
 * back at once. It comes to rest inside, by what it is sent and by what it does. With v = v0 + a t the
 * forecast from the velocity alone, v^2/(2 A) ahead, is short by several times. */
static double furthest_sent;

static ff_status see_furthest(void *self, const ff_row *row) {
    (void)self;
    furthest_sent = fmax(furthest_sent, fabs(row->body[0].command.T.p.x));
    return FF_OK;
}

static void test_the_box_is_kept_with_any_jerk(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int n = 0; n < 12; n++) {
        const double jerk = exp(ff_rng_range(&rng, log(0.3), log(300.0))),
                     box = ff_rng_range(&rng, 0.02, 0.1);
        char safety[160];
        snprintf(safety, sizeof safety,
                 "safety: {box: [%.17g, free, free], jerk: 1e6, stop_acceleration: %.17g},", box,
                 ff_rng_range(&rng, 0.3, 3.0));
        load(safety, "");
        scenario.contacts = 0;
        scenario.satellite[0].limits.jerk = jerk;
        scenario.satellite[0].start.velocity.x = 0.01;
        scenario.loads = 1; /* pushed from the first cycle on: 25 to 150 N on 50 kg */
        scenario.load[0] = (ff_load){.kind = FF_LOAD_PULSE, .from = 0.0, .to = 4.0};
        scenario.load[0].force.x = ff_rng_range(&rng, 25.0, 150.0);
        const ff_sink sinks[] = {sink, {.row = see_furthest}};
        const ff_run_options options = {.sinks = sinks, .count = 2};
        eye = (seen){0};
        result = (ff_run_result){0};
        furthest_sent = 0.0;
        ff_run(&scenario, &options, &result);
        assert_int_equal(result.status, FF_ERR_LIMIT);
        assert_int_equal(result.safety.cause.code, FF_TRIP_BOX);
        assert_near(result.safety.cause.limit, box, 0.0);
        assert_true(result.safety.cause.value > box);
        const double at = result.safety.rest[0].T.p.x;
        if (!(at <= box * (1.0 + 1e-8) && furthest_sent <= box * (1.0 + 1e-8)))
            fail_msg("box %g, jerk %g: at rest at %g, sent %g", box, jerk, at, furthest_sent);
        assert_true(at > 0.2 * box);
    }
}

/* A robot that lags swings beyond where its command comes to rest: the box is kept by what it does. Its error
 * follows y'' + 2 z w y' + w^2 y = a of the stop, so it passes its command, by a/w^2 or more if it swings. */
static void test_the_box_is_kept_by_a_robot_that_lags(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int n = 0; n < 8; n++) {
        const double frequency = ff_rng_range(&rng, 2.0, 12.0), z = ff_rng_range(&rng, 0.2, 1.5),
                     box = ff_rng_range(&rng, 0.05, 0.1), a = ff_rng_range(&rng, 0.3, 2.0),
                     v = ff_rng_range(&rng, 0.08, 0.15);
        char safety[160];
        snprintf(safety, sizeof safety, "safety: {box: [%.17g, free, free], stop_acceleration: %.17g},", box,
                 a);
        load(safety, "");
        scenario.contacts = 0;
        ff_robot_config *robot = &scenario.satellite[0].robot;
        robot->kind = FF_ROBOT_LAG;
        robot->frequency = frequency;
        robot->damping = z;
        scenario.satellite[0].start.velocity.x = v;
        assert_int_equal(run(), FF_ERR_LIMIT);
        assert_int_equal(result.safety.cause.code, FF_TRIP_BOX);
        const double at = result.safety.rest[0].T.p.x, w = 2.0 * FF_PI * frequency;
        if (!(eye.furthest <= box))
            fail_msg("box %g, %g Hz, damping %g, v %g, a %g: %g", box, frequency, z, v, a, eye.furthest);
        /* after a stop that lasts longer than the robot takes to settle, it passes its command by a/w^2 */
        if (v / a > 5.0 / (fmin(z, 0.5 / z) * w))
            assert_true(eye.furthest > at + 0.8 * a / (w * w));
        assert_true(eye.furthest > at && at > 0.3 * box);
    }
}

/* Beyond its range a sensor says no more than that: below the limit of the force it counts as that. The range
 * above the limit changes nothing. */
static void test_a_saturated_sensor_is_a_trip(void **unused) {
    (void)unused;
    for (int n = 0; n < 3; n++) {
        load(n < 2 ? "safety: {force: 20}," : "safety: {velocity: 5},", "");
        scenario.satellite[0].sensor.range_force = n == 1 ? 30.0 : 10.0;
        const ff_status status = run();
        if (n == 2) { /* no force is limited */
            assert_int_not_equal(result.safety.cause.code, FF_TRIP_RANGE);
            continue;
        }
        assert_int_equal(status, FF_ERR_LIMIT);
        assert_int_equal(result.safety.cause.code, n ? FF_TRIP_FORCE : FF_TRIP_RANGE);
        assert_near(result.safety.cause.limit, n ? 20.0 : 10.0, 0.0);
        assert_true(result.safety.cause.value >= result.safety.cause.limit);
    }
}

/* A sensor that is late by itself is older than `age` with every record. */
static void test_the_sensors_own_delay_counts_as_age(void **unused) {
    (void)unused;
    for (int late = 0; late < 2; late++) {
        load("safety: {age: 0.03},", "");
        scenario.satellite[0].sensor.delay = late ? 0.032 : 0.028;
        const ff_status status = run();
        assert_int_equal(status, late ? FF_ERR_LIMIT : FF_OK);
        assert_int_equal(result.safety.cause.code, late ? FF_TRIP_AGE : FF_TRIP_FINISHED);
        if (late)
            assert_near(result.safety.cause.value, 0.032, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_that_is_not_finite_stops_the_robots),
        cmocka_unit_test(test_faults_on_the_way),
        cmocka_unit_test(test_when_limits_act),
        cmocka_unit_test(test_nothing_is_judged_unless_a_limit_is_named),
        cmocka_unit_test(test_a_force_beyond_its_limit_brakes_and_leaves_the_contact),
        cmocka_unit_test(test_a_stop_keeps_its_deceleration),
        cmocka_unit_test(test_each_limit_trips_with_its_own_code),
        cmocka_unit_test(test_rows_hold_what_is_sent_and_lag_trips),
        cmocka_unit_test(test_a_limit_broken_at_the_start_brakes_from_there),
        cmocka_unit_test(test_rest_is_that_of_the_robot),
        cmocka_unit_test(test_tracking_is_judged_against_the_commands_that_the_robot_may_have_come_to),
        cmocka_unit_test(test_the_box_is_kept_with_any_jerk),
        cmocka_unit_test(test_the_box_is_kept_by_a_robot_that_lags),
        cmocka_unit_test(test_a_saturated_sensor_is_a_trip),
        cmocka_unit_test(test_the_sensors_own_delay_counts_as_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
