/* Every state of the executive with everything that may happen in it: the real executive on devices is
 * brought into the state, the thing happens through the door by which it comes, and after one cycle the state
 * must be the one that the table of states.c names, the robots must have been sent what that state says, and
 * the message must be the one of the cause. Then the run is ended, whatever state it is in. */
#include "unit/executive/bench.h"

/* ------------------------------------------------------------------------------------------ what happens --
 */

typedef enum door {
    STATION,   /* found by the devices' station, or by the loop, while it answers */
    ATTENDANT, /* found by the recorder */
    LIMIT,     /* a sample is beyond a limit */
    REPORT,    /* the devices report it */
    ORDER      /* from the operator, or the end of the run */
} door;

enum { NOTHING = -1 };
/* A limit is judged while something other than a stop moves the robots, and: */
enum { IN_MOTION, AT_REST, ONCE_AT_REST }; /* not after; until the release; once the stop is over */

static double *limit_of(ff_trip_code code) {
    ff_safety_config *c = &executive.guard.config;
    ff_safety_limits *l = &c->limits[0];
    switch ((int)code) {
    case FF_TRIP_BOX:
        return &l->box.y;
    case FF_TRIP_VELOCITY:
        return &l->velocity;
    case FF_TRIP_ANGULAR_VELOCITY:
        return &l->angular_velocity;
    case FF_TRIP_ACCELERATION:
        return &l->acceleration;
    case FF_TRIP_ANGULAR_ACCELERATION:
        return &l->angular_acceleration;
    case FF_TRIP_JERK:
        return &l->jerk;
    case FF_TRIP_FORCE:
        return &l->force;
    case FF_TRIP_TORQUE:
        return &l->torque;
    case FF_TRIP_SPIKE:
        return &l->spike;
    case FF_TRIP_ENERGY:
        return &l->energy;
    case FF_TRIP_TRACKING:
        return &l->tracking;
    case FF_TRIP_AGE:
        return &l->age;
    case FF_TRIP_MISSED:
        return &l->missed;
    case FF_TRIP_LAG:
        return &c->lag[0];
    case FF_TRIP_RANGE:
        return &executive.loop.model->config.body[0].wrench.force_limit;
    default:
        fail_msg("%s is not a limit", ff_trip_name(code));
        return NULL;
    }
}

static void pull_limit(int code) {
    *limit_of((ff_trip_code)code) = -1.0; /* nothing is allowed: whatever is measured is beyond */
}

static ff_trip_code reported;

static void alter(ff_sample *sample) {
    ff_sample_body *b = &sample->body[0];
    if (reported == FF_TRIP_NOT_FINITE)
        b->sensor.f_s.f.x = FF_NAN;
    else if (reported == FF_TRIP_CLIPPED)
        b->device.clipped = true;
    else
        b->device.health = reported == FF_TRIP_FROZEN  ? FF_INFO_HELD
                           : reported == FF_TRIP_RANGE ? FF_INFO_SATURATED
                                                       : FF_ERR_DEVICE;
}

static void pull_report(int code) {
    reported = (ff_trip_code)code;
    desk.alter = alter;
}

static void pull_station(int code) {
    desk.trips = (ff_trip){.code = (ff_trip_code)code, .value = 3.0, .limit = 2.0};
    desk.trips_at = desk.waits + 1;
}

static void pull_attendant(int code) {
    desk.attendant = (ff_trip){.code = (ff_trip_code)code, .value = 3.0, .limit = 2.0};
}

typedef enum order {
    STOP,
    HOLD,
    REFUSE,
    NO_GO,
    FINISH,
    PERMIT,
    PASS,
    ARM,
    TOUCH,
    FREE,
    RETREAT,
    LOSE,
    SILENCE,
    WAIT,
    ORDERS
} order;

static const struct {
    const char *name;
    ff_state_event event;
    int cause; /* with which it ends a run; NOTHING: it ends none */
} orders[ORDERS] = {
    [STOP] = {"stop", FF_ON_STOP, FF_TRIP_OPERATOR},
    [HOLD] = {"hold", FF_ON_STOP, FF_TRIP_OPERATOR},
    [REFUSE] = {"refuse", FF_ON_STOP, FF_TRIP_OPERATOR},
    [NO_GO] = {"no-go", FF_ON_TRIP, FF_TRIP_PUSH},
    [FINISH] = {"finish", FF_ON_STOP, FF_TRIP_FINISHED},
    [PERMIT] = {"test", FF_ON_TEST, NOTHING},
    [PASS] = {"pass", FF_ON_PASSED, NOTHING},
    [ARM] = {"arm", FF_ON_ARM, NOTHING},
    [TOUCH] = {"touch", FF_ON_TOUCH, NOTHING},
    [FREE] = {"free", FF_ON_FREE, NOTHING},
    [RETREAT] = {"retreat", FF_ON_COUNT, NOTHING},
    [LOSE] = {"lost telegram", FF_ON_COUNT, NOTHING},
    [SILENCE] = {"silence", FF_ON_GONE, FF_TRIP_SILENT},
    [WAIT] = {"nothing", FF_ON_COUNT, NOTHING},
};

static void pull_order(int which) {
    switch (which) {
    case STOP:
        desk.stopped = true;
        break;
    case HOLD:
        executive.phases.hold = true;
        break;
    case REFUSE:
        atomic_store(&preflight.refused, true);
        break;
    case NO_GO:
        preflight.check.no_go = (ff_trip){.code = FF_TRIP_PUSH, .value = 3.0, .limit = 2.0};
        atomic_store(&preflight.refused, true);
        break;
    case FINISH:
        executive.phases.finished = true;
        break;
    case PERMIT:
        atomic_store(&preflight.tests, true);
        break;
    case PASS:
        atomic_store(&preflight.passed, true);
        break;
    case ARM:
        atomic_store(&preflight.armed, true);
        break;
    case TOUCH:
        desk.force.y = 0.5;
        break;
    case FREE:
        desk.force.y = 0.0;
        break;
    case RETREAT:
        executive.phases.rest = 3;
        ff_executive_retreat(&executive);
        assert_int_equal(executive.phases.rest, 0); /* the rest is waited for anew */
        break;
    case LOSE:
        desk.lose_in = executive.guard.walk.state;
        desk.lose = 1;
        break;
    case SILENCE:
        desk.silent_at = desk.waits + 1;
        break;
    default:
        break;
    }
}

static const struct {
    ff_trip_code code;
    int watched;
} limits[] = {{FF_TRIP_BOX, AT_REST},
              {FF_TRIP_VELOCITY, AT_REST},
              {FF_TRIP_ANGULAR_VELOCITY, AT_REST},
              {FF_TRIP_ACCELERATION, IN_MOTION},
              {FF_TRIP_ANGULAR_ACCELERATION, IN_MOTION},
              {FF_TRIP_JERK, IN_MOTION},
              {FF_TRIP_FORCE, AT_REST},
              {FF_TRIP_TORQUE, AT_REST},
              {FF_TRIP_SPIKE, ONCE_AT_REST},
              {FF_TRIP_ENERGY, IN_MOTION},
              {FF_TRIP_TRACKING, AT_REST},
              {FF_TRIP_AGE, AT_REST},
              {FF_TRIP_MISSED, AT_REST},
              {FF_TRIP_LAG, IN_MOTION},
              {FF_TRIP_RANGE, AT_REST}};
static const ff_trip_code reports[] = {FF_TRIP_NOT_FINITE, FF_TRIP_CLIPPED, FF_TRIP_FROZEN, FF_TRIP_RANGE,
                                       FF_TRIP_SENSOR};

/* ---------------------------------------------------------------------------------------- into the state --
 */

static void cycles_until(ff_state state, int more) {
    for (int n = 0; n < 2000 && executive.guard.walk.state != state; n++)
        ff_executive_cycle(&executive);
    if (executive.guard.walk.state != state)
        fail_msg("%s not reached: %s", ff_state_name(state), seen.states);
    for (; more > 0; more--)
        ff_executive_cycle(&executive);
    assert_int_equal(executive.guard.walk.state, state);
}

/* Until the run floats, or short of it. */
static void towards(ff_state state) {
    if (state == FF_STATE_OFF) {
        desk.speaks_at = UINT64_MAX;
        cycles_until(state, 3);
        return;
    }
    cycles_until(FF_STATE_CHECK, 3);
    while (!atomic_load(&preflight.measured))
        ff_executive_cycle(&executive);
    if (state <= FF_STATE_TEST) {
        bool moves = false;
        assert_true(ff_preflight_has_tests(&preflight, &moves) && moves);
        if (state == FF_STATE_CHECK)
            return;
        atomic_store(&preflight.tests, true);
        cycles_until(FF_STATE_TEST, 5);
        return;
    }
    atomic_store(&preflight.passed, true);
    cycles_until(FF_STATE_ZEROED, 0);
    while (!preflight.renewed)
        ff_executive_cycle(&executive);
    if (state == FF_STATE_ZEROED)
        return;
    atomic_store(&preflight.armed, true);
    cycles_until(FF_STATE_ARMED, 0);
    if (state == FF_STATE_ARMED)
        return;
    cycles_until(FF_STATE_APPROACH, 5);
    if (state == FF_STATE_APPROACH)
        return;
    cycles_until(FF_STATE_RUNUP, 5);
    if (state == FF_STATE_RUNUP)
        return;
    cycles_until(FF_STATE_FLOAT, 5);
}

static void reach(ff_state state) {
    desk = fresh;
    tests_of_check = state <= FF_STATE_TEST ? "push: skip, delay: chirp" : "push: skip";
    assert_int_equal(try("direct", 0.05, "safety: {stop_acceleration: 0.2},", 5e-4), FF_OK);
    towards(state);
    if (state <= FF_STATE_FLOAT)
        return;
    desk.force.y = 0.5;
    cycles_until(FF_STATE_CONTACT, 5);
    if (state == FF_STATE_CONTACT)
        return;
    if (state == FF_STATE_FAULT)
        desk.attendant = (ff_trip){.code = FF_TRIP_RECORDER};
    else
        executive.phases.hold = true;
    if (state != FF_STATE_RETREAT)
        desk.force.y = 0.0;
    cycles_until(FF_STATE_BRAKE, 2);
    desk.attendant.code = FF_TRIP_NONE;
    if (state == FF_STATE_BRAKE)
        return;
    cycles_until(state == FF_STATE_END ? FF_STATE_HOLD : state, state == FF_STATE_RETREAT ? 1 : 3);
    if (state == FF_STATE_END) {
        desk.stopped = true;
        cycles_until(FF_STATE_END, 0);
    }
}

/* The whole run, kept, so that each cell begins from the same. */
typedef struct snapshot {
    bench desk;
    ff_executive executive;
    ff_preflight preflight;
    ff_run_result result;
    void *model, *state;
} snapshot;

static snapshot kept;

static void keep(void) {
    const ff_loop_memory *loop = &executive.loop;
    memcpy(&kept.preflight, &preflight, sizeof preflight);
    kept.desk = desk;
    kept.executive = executive;
    kept.result = result;
    kept.model = malloc(loop->model_bytes);
    kept.state = malloc(loop->state_bytes);
    memcpy(kept.model, loop->model, loop->model_bytes);
    memcpy(kept.state, loop->state, loop->state_bytes);
}

static void restore(void) {
    const ff_loop_memory *loop = &kept.executive.loop;
    memcpy(&preflight, &kept.preflight, sizeof preflight);
    desk = kept.desk;
    executive = kept.executive;
    result = kept.result;
    memcpy(loop->model, kept.model, loop->model_bytes);
    memcpy(loop->state, kept.state, loop->state_bytes);
    memset(&seen, 0, sizeof seen);
    seen.rows = executive.result->cycles ? executive.k : 0;
}

/* --------------------------------------------------------------------------------------------- one cell --
 */

static int cells;

/* What the table says that this does here: *event (FF_ON_COUNT: none) and the cause that it brings. */
static void meaning(ff_state state, door through, int what, ff_state_event *event, int *cause) {
    const bool stops = ff_state_commands(state) == FF_COMMANDS_STOP;
    *event = FF_ON_COUNT;
    *cause = NOTHING;
    if (through == ORDER) {
        const bool checks = state == FF_STATE_CHECK || state == FF_STATE_TEST;
        *event = what == NO_GO && !checks ? FF_ON_STOP : orders[what].event; /* elsewhere: no is no */
        *cause = what == NO_GO && !checks ? FF_TRIP_OPERATOR : orders[what].cause;
        return;
    }
    bool watched = true;
    if (through == LIMIT)
        watched = ff_state_moves(state) || (stops && limits[what].watched == AT_REST) ||
                  ((state == FF_STATE_HOLD || state == FF_STATE_FAULT) && limits[what].watched != IN_MOTION);
    if (through == REPORT)
        watched = ff_state_moves(state) || stops;
    if (!watched)
        return;
    *event = FF_ON_TRIP;
    *cause = through == LIMIT ? (int)limits[what].code : through == REPORT ? (int)reports[what] : what;
}

static void walk_cell(ff_state state, door through, int what, const char *name, bool to_the_end) {
    ff_state_event event;
    int cause;
    restore();
    meaning(state, through, what, &event, &cause);
    const ff_trip before = executive.guard.walk.cause;
    const uint64_t writes = desk.writes, releases = desk.releases;
    if (through == LIMIT)
        pull_limit(limits[what].code);
    else if (through == REPORT)
        pull_report(reports[what]);
    else if (through == ORDER)
        pull_order(what);
    else if (through == STATION)
        pull_station(what);
    else
        pull_attendant(what);
    ff_executive_cycle(&executive);
    cells++;

    /* the state */
    ff_state wanted = event < FF_ON_COUNT ? ff_state_next(state, event) : state;
    const bool lost = through == ORDER && what == LOSE, silent = through == ORDER && what == SILENCE;
    if (state == FF_STATE_ARMED && wanted == state && !lost) /* it is left at once */
        wanted = ff_state_next(state, FF_ON_START);
    if (silent)
        wanted = ff_state_next(wanted, FF_ON_CLOSE);
    const ff_state got = executive.guard.walk.state;
    if (got != wanted)
        fail_msg("%s, %s: %s, the table says %s", ff_state_name(state), name, ff_state_name(got),
                 ff_state_name(wanted));

    /* the command: nobody leads a robot in a cycle that does not begin and end in a state that does */
    const bool over = state == FF_STATE_END || lost || silent;
    if (desk.writes - writes != (over ? 0 : 1) ||
        (silent && state != FF_STATE_END && desk.releases == releases))
        fail_msg("%s, %s: %d commands, %d releases", ff_state_name(state), name, (int)(desk.writes - writes),
                 (int)desk.releases);
    const bool led = !over && (desk.led & 1u);
    const bool leads = ff_state_leads(state) && ff_state_leads(got),
               tests = ff_state_commands(got) == FF_COMMANDS_TEST;
    if (got != FF_STATE_RETREAT && !over && led != (leads || tests))
        fail_msg("%s, %s: the robot is %s", ff_state_name(state), name, led ? "led" : "not led");
    if (got == FF_STATE_BRAKE || got == FF_STATE_FAULT || got == FF_STATE_HOLD)
        assert_int_equal(desk.led, 0);

    /* the message */
    const bool orderly = cause == FF_TRIP_OPERATOR || cause == FF_TRIP_FINISHED;
    const bool first = before.code == FF_TRIP_NONE, failed = before.code > FF_TRIP_FINISHED;
    const bool is_new = state != FF_STATE_END && cause != NOTHING && !failed && (first || !orderly);
    if (is_new != (seen.event != 0) || (is_new && seen.event != cause))
        fail_msg("%s, %s: message %s", ff_state_name(state), name, ff_trip_name((ff_trip_code)seen.event));
    if (is_new) {
        assert_string_equal(seen.event_text, ff_trip_text((ff_trip_code)cause));
        assert_int_equal(seen.level, orderly ? FF_EVENT_INFO : FF_EVENT_FAULT);
    }
    assert_int_equal(executive.guard.walk.cause.code, is_new ? (ff_trip_code)cause : before.code);
    const bool further = state == FF_STATE_FAULT && cause > FF_TRIP_FINISHED && cause != (int)before.code;
    char said[64] = "";
    if (further)
        snprintf(said, sizeof said, "after the fault: %s", ff_trip_name((ff_trip_code)cause));
    if (strncmp(seen.said, said, strlen(said)) != 0 || (!further && strstr(seen.said, "after the fault")))
        fail_msg("%s, %s: said '%s'", ff_state_name(state), name, seen.said);
    assert_int_equal(seen.state_count > 0, got != state);

    /* and it ends, named, whatever has happened */
    if (!to_the_end)
        return;
    ff_safety_config *config = &executive.guard.config;
    *config = kept.executive.guard.config;
    executive.loop.model->config.body[0].wrench.force_limit = 500.0;
    desk.stopped = true;
    desk.attendant.code = FF_TRIP_NONE;
    desk.alter = NULL;
    desk.speaks_at = 0;
    for (int n = 0; n < 2000 && !executive.ended; n++)
        ff_executive_cycle(&executive);
    assert_true(executive.ended);
    assert_int_equal(executive.guard.walk.state, FF_STATE_END);
    assert_true(result.safety.state == FF_STATE_HOLD || result.safety.state == FF_STATE_FAULT);
    assert_int_equal(result.safety.state == FF_STATE_FAULT, result.safety.cause.code > FF_TRIP_FINISHED);
    assert_true(result.safety.cause.code != FF_TRIP_NONE);
}

static void test_every_state_with_everything_that_may_happen(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    const int share = test_count(12, 1); /* one in so many is walked to the end */
    for (int s = 0; s < FF_STATE_COUNT; s++) {
        const ff_state state = (ff_state)s;
        reach(state);
        keep();
        cells = 0;
#define END_TOO (ff_rng_range(&rng, 0.0, share) < 1.0)
        for (int code = FF_TRIP_FINISHED + 1; code < FF_TRIP_CODES; code++)
            walk_cell(state, STATION, code, ff_trip_name((ff_trip_code)code), END_TOO);
        walk_cell(state, ATTENDANT, FF_TRIP_RECORDER, "the recorder", END_TOO);
        for (int n = 0; n < (int)(sizeof limits / sizeof *limits); n++)
            walk_cell(state, LIMIT, n, ff_trip_name(limits[n].code), END_TOO);
        for (int n = 0; n < (int)(sizeof reports / sizeof *reports); n++)
            walk_cell(state, REPORT, n, ff_trip_name(reports[n]), END_TOO);
        for (int n = 0; n < ORDERS; n++)
            walk_cell(state, ORDER, n, orders[n].name, END_TOO);
#undef END_TOO
        assert_int_equal(cells, FF_TRIP_CODES - FF_TRIP_FINISHED - 1 + 1 + 15 + 5 + ORDERS);
        restore();
        ff_executive_close(&executive);
        ff_preflight_close(&preflight);
        free(kept.model);
        free(kept.state);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_state_with_everything_that_may_happen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
