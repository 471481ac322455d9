/* States and events: every cell of the table, by the rules that the table must obey; and the walk's latch. */
#include "support.h"

#include "executive/walk.h"

static bool is(ff_state s, const char *names) {
    char padded[32];
    snprintf(padded, sizeof padded, " %s ", ff_state_name(s));
    return strstr(names, padded) != NULL;
}

#define AT_REST " OFF CHECK ZEROED ARMED "
#define MOVES " TEST APPROACH RUNUP FLOAT CONTACT "
#define STOPS " BRAKE RETREAT "

/* The cells that lead elsewhere, and no others. */
static ff_state expected(ff_state s, ff_state_event e) {
    if (s == FF_STATE_END || e == FF_ON_CLOSE)
        return FF_STATE_END;
    if (s == FF_STATE_FAULT || e == FF_ON_GONE)
        return FF_STATE_FAULT;
    static const struct {
        const char *from;
        ff_state_event on;
        ff_state to;
    } rule[] = {
        {" OFF ", FF_ON_READY, FF_STATE_CHECK},        {" CHECK ", FF_ON_TEST, FF_STATE_TEST},
        {" TEST ", FF_ON_TESTED, FF_STATE_CHECK},      {" CHECK ", FF_ON_PASSED, FF_STATE_ZEROED},
        {" ZEROED ", FF_ON_ARM, FF_STATE_ARMED},       {" ARMED ", FF_ON_START, FF_STATE_APPROACH},
        {" APPROACH ", FF_ON_ARRIVED, FF_STATE_RUNUP}, {" RUNUP ", FF_ON_BEGIN, FF_STATE_FLOAT},
        {" FLOAT ", FF_ON_TOUCH, FF_STATE_CONTACT},    {" CONTACT ", FF_ON_FREE, FF_STATE_FLOAT},
        {AT_REST, FF_ON_STOP, FF_STATE_HOLD},          {AT_REST, FF_ON_TRIP, FF_STATE_FAULT},
        {MOVES, FF_ON_STOP, FF_STATE_BRAKE},           {MOVES, FF_ON_TRIP, FF_STATE_BRAKE},
        {" BRAKE ", FF_ON_PUSHED, FF_STATE_RETREAT},   {STOPS, FF_ON_RESTED, FF_STATE_HOLD},
        {STOPS, FF_ON_FAILED, FF_STATE_FAULT},         {" HOLD ", FF_ON_TRIP, FF_STATE_FAULT},
        {" HOLD ", FF_ON_FAILED, FF_STATE_FAULT},
    };
    for (size_t r = 0; r < sizeof rule / sizeof *rule; r++)
        if (rule[r].on == e && is(s, rule[r].from))
            return rule[r].to;
    return s;
}

static void test_every_cell_of_the_table(void **unused) {
    (void)unused;
    for (int s = 0; s < FF_STATE_COUNT; s++)
        for (int e = 0; e < FF_ON_COUNT; e++) {
            const ff_state got = ff_state_next((ff_state)s, (ff_state_event)e),
                           want = expected((ff_state)s, (ff_state_event)e);
            if (got != want)
                fail_msg("%s on %s: %s, must be %s", ff_state_name((ff_state)s),
                         ff_state_event_name((ff_state_event)e), ff_state_name(got), ff_state_name(want));
        }
    for (int s = 0; s < FF_STATE_COUNT; s++)
        assert_int_equal(ff_state_moves((ff_state)s), is((ff_state)s, MOVES));
    for (int s = 0; s < FF_STATE_COUNT; s++) {
        const ff_commands sent = ff_state_commands((ff_state)s);
        assert_int_equal(sent == FF_COMMANDS_STOP, is((ff_state)s, STOPS " HOLD FAULT "));
        assert_int_equal(sent == FF_COMMANDS_LOOP, is((ff_state)s, " FLOAT CONTACT "));
        assert_int_equal(sent == FF_COMMANDS_NONE, s == FF_STATE_END);
        assert_int_equal(ff_state_leads((ff_state)s), is((ff_state)s, " APPROACH RUNUP FLOAT CONTACT "));
    }
}

/* Whatever happens in whatever order: nothing resumes. Once it stops, the robots are never commanded by the
 * loop again; a fault never becomes an orderly end. Random events, fresh seed. */
static void test_nothing_resumes_after_a_stop(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < test_count(2000, 200000); n++) {
        ff_state s = FF_STATE_OFF;
        bool stopped = false, failed = false, armed = false;
        for (int j = 0; j < 60; j++) {
            const ff_state_event e =
                (ff_state_event)fmin(FF_ON_COUNT - 1, ff_rng_range(&rng, 0, FF_ON_COUNT));
            s = ff_state_next(s, e);
            stopped |= is(s, STOPS " HOLD FAULT END ");
            failed |= s == FF_STATE_FAULT;
            armed |= s == FF_STATE_ARMED;
            assert_false(stopped && ff_state_moves(s));
            assert_false(failed && s == FF_STATE_HOLD);
            assert_false(!armed && is(s, " APPROACH RUNUP FLOAT CONTACT "));
        }
    }
}

static const ff_trip none = {.code = FF_TRIP_NONE};

static void test_the_first_fault_is_the_cause_and_replaces_only_an_orderly_one(void **unused) {
    (void)unused;
    const ff_trip_code codes[] = {FF_TRIP_NONE, FF_TRIP_OPERATOR, FF_TRIP_FINISHED, FF_TRIP_FORCE,
                                  FF_TRIP_SILENT};
    for (int s = 0; s < FF_STATE_COUNT; s++)
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < 5; b++) {
                ff_walk w;
                ff_walk_reset(&w, (ff_state)s);
                const ff_trip first = {.code = codes[a], .value = 1.0},
                              second = {.code = codes[b], .value = 2.0};
                assert_int_equal(ff_walk_end(&w, first), a > 0);
                assert_int_equal(ff_walk_end(&w, second), b > 0 && (a == 0 || (a < 3 && b > 2)));
                const int cause = a > 2 ? a : b > 2 ? b : a ? a : b;
                assert_int_equal(w.cause.code, codes[cause]);
                assert_int_equal(ff_walk_failed(&w), cause > 2);
                assert_false(cause > 0 && ff_state_moves(w.state));
                ff_walk_rested(&w);
                if (cause > 0 && s != FF_STATE_FAULT && s != FF_STATE_END) {
                    /* a stop that was fed to a state that had stopped without a cause stays there */
                    const ff_state end = cause > 2 ? FF_STATE_FAULT : FF_STATE_HOLD;
                    assert_int_equal(w.state, end);
                }
            }
}

static ff_safety_config wide(void) {
    ff_safety_config c = {.bodies = 1, .cycle = 0.004};
    ff_safety_limits *l = &c.limits[0];
    l->box = (ff_vec3){{FF_INF, FF_INF, FF_INF}};
    l->velocity = l->angular_velocity = l->acceleration = l->angular_acceleration = l->jerk = FF_INF;
    l->torque = l->spike = l->energy = l->tracking = l->age = l->missed = FF_INF;
    l->force = 40.0;
    l->stop_acceleration = 1.0;
    c.stop_jerk[0] = FF_INF;
    ff_limiter_default(&c.bounded[0]);
    c.contact[0] = 0.5;
    return c;
}

static void test_a_sample_is_judged_by_the_state(void **unused) {
    (void)unused;
    const ff_safety_config config = wide();
    for (int s = 0; s < FF_STATE_COUNT; s++) {
        ff_walk w;
        ff_walk_reset(&w, (ff_state)s);
        ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
        in.body[0].f_b.f.x = 41.0;
        const bool moves = ff_state_moves((ff_state)s);
        assert_int_equal(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE), moves);
        assert_int_equal(w.cause.code, moves ? FF_TRIP_FORCE : FF_TRIP_NONE);
        assert_int_equal(w.state, moves ? FF_STATE_BRAKE : (ff_state)s);
        if (moves) {
            assert_near(w.cause.value, 41.0, 0.0);
            assert_near(w.cause.limit, 40.0, 0.0);
        }
    }
}

/* An orderly stop is watched on: a hand that presses harder than the limit makes it a fault. A stop out of
 * the tests of the check is not: there is no zero yet. */
static void test_a_stop_in_order_is_watched_and_a_test_without_a_zero_is_not(void **unused) {
    (void)unused;
    const ff_safety_config config = wide();
    const ff_state from[] = {FF_STATE_TEST, FF_STATE_APPROACH, FF_STATE_RUNUP, FF_STATE_FLOAT,
                             FF_STATE_CONTACT};
    for (int f = 0; f < 5; f++)
        for (int hold = 0; hold < 2; hold++) {
            ff_walk w;
            ff_walk_reset(&w, from[f]);
            ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
            assert_true(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR));
            assert_int_equal(w.state, FF_STATE_BRAKE);
            if (hold)
                ff_walk_rested(&w);
            in.body[0].f_b.f.y = -60.0;
            const bool watched = f > 0;
            assert_int_equal(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR), watched);
            assert_int_equal(w.cause.code, watched ? FF_TRIP_FORCE : FF_TRIP_OPERATOR);
            assert_int_equal(w.state, !hold ? FF_STATE_BRAKE : watched ? FF_STATE_FAULT : FF_STATE_HOLD);
            in.body[0].f_b.f.y = -90.0; /* and the fault is latched */
            assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR));
            if (watched)
                assert_near(w.cause.value, 60.0, 0.0);
        }
}

/* What the devices report is watched until they are released, after a test of the check, too; after a fault
 * it does not become the cause. A stop out of a state at rest was never in motion. */
static void test_a_dead_sensor_is_a_fault_in_every_stop(void **unused) {
    (void)unused;
    const ff_safety_config config = wide();
    for (int s = 0; s < FF_STATE_END; s++)
        for (int rested = 0; rested < 2; rested++)
            for (int failed = 0; failed < 2; failed++) {
                ff_walk w;
                ff_walk_reset(&w, (ff_state)s);
                const bool moves = ff_state_moves((ff_state)s);
                const ff_trip first = {.code = failed ? FF_TRIP_FORCE : FF_TRIP_OPERATOR, .value = 3.0};
                ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
                assert_true(ff_walk_judge(&config, &w, &in, first, FF_TRIP_NONE));
                if (rested)
                    ff_walk_rested(&w);
                for (int n = 0; n < 3; n++)
                    assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE));
                assert_int_equal(w.further.code, FF_TRIP_NONE);
                in.body[0].sensor = FF_TRIP_AGE;
                in.body[0].sensor_value = 0.5;
                in.body[0].sensor_limit = 0.02;
                assert_int_equal(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE), moves && !failed);
                assert_int_equal(w.cause.code, moves && !failed ? FF_TRIP_AGE : first.code);
                assert_int_equal(w.further.code, moves && failed ? FF_TRIP_AGE : FF_TRIP_NONE);
                in.body[0].sensor = FF_TRIP_RANGE; /* the first of them is kept */
                assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE));
                assert_true(w.further.code != FF_TRIP_RANGE || !failed);
                ff_walk_rested(&w);
                assert_int_equal(w.state,
                                 failed || moves || s == FF_STATE_FAULT ? FF_STATE_FAULT : FF_STATE_HOLD);
            }
}

/* A jump of the force that the stop makes is none; one after it is. */
static void test_a_spike_counts_once_the_stop_is_over(void **unused) {
    (void)unused;
    ff_safety_config config = wide();
    config.limits[0].spike = 5.0;
    ff_walk w;
    ff_walk_reset(&w, FF_STATE_CONTACT);
    ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
    const double force[] = {20.0, 20.0, 0.0, 10.0, 0.0};
    for (int n = 0; n < 5; n++) {
        in.body[0].f_b.f.x = force[n];
        ff_walk_judge(&config, &w, &in, none, n ? FF_TRIP_OPERATOR : FF_TRIP_NONE);
        assert_int_equal(w.state, n ? FF_STATE_BRAKE : FF_STATE_CONTACT);
    }
    ff_walk_rested(&w);
    in.body[0].f_b.f.x = 30.0;
    assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR));
    in.body[0].f_b.f.x = 26.0;
    assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR));
    in.body[0].f_b.f.x = 32.0;
    assert_true(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR));
    assert_int_equal(w.cause.code, FF_TRIP_SPIKE);
    assert_int_equal(w.state, FF_STATE_FAULT);
}

static void test_contact_follows_the_last_valid_force(void **unused) {
    (void)unused;
    const ff_safety_config config = wide();
    ff_walk w;
    ff_walk_reset(&w, FF_STATE_FLOAT);
    const struct {
        double force;
        bool valid;
        ff_state state;
    } step[] = {{0.4, true, FF_STATE_FLOAT},    {0.6, true, FF_STATE_CONTACT}, {0.0, false, FF_STATE_CONTACT},
                {0.6, false, FF_STATE_CONTACT}, {0.4, true, FF_STATE_FLOAT},   {0.6, false, FF_STATE_FLOAT},
                {-0.6, true, FF_STATE_CONTACT}, {-0.4, true, FF_STATE_FLOAT}};
    for (size_t n = 0; n < sizeof step / sizeof *step; n++) {
        ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = step[n].valid}};
        in.body[0].f_b.f.z = step[n].force;
        assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE));
        assert_int_equal(w.state, step[n].state);
    }
}

/* Differences begin anew with a motion, and only then; what the caller found comes before the limits, and
 * each sample is remembered for the next. */
static void test_differences_begin_with_the_motion(void **unused) {
    (void)unused;
    ff_safety_config config = wide();
    for (int s = 0; s < FF_STATE_COUNT; s++)
        for (int e = 0; e < FF_ON_COUNT; e++) {
            ff_walk w;
            ff_walk_reset(&w, (ff_state)s);
            w.memory.seen = 3;
            const bool changed = ff_walk_on(&w, (ff_state_event)e);
            assert_int_equal(changed, w.state != (ff_state)s);
            const bool begins = !ff_state_moves((ff_state)s) && ff_state_moves(w.state);
            assert_int_equal(w.memory.seen, begins || is(w.state, STOPS) ? 0 : 3);
        }
    config.limits[0].spike = 5.0;
    ff_walk w;
    ff_walk_reset(&w, FF_STATE_FLOAT);
    ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
    in.body[0].f_b.f.x = 20.0;
    assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE)); /* the first has no neighbour */
    in.body[0].f_b.f.x = 24.0;
    assert_false(ff_walk_judge(&config, &w, &in, none, FF_TRIP_NONE));
    in.body[0].f_b.f.x = 30.0;
    const ff_trip found = {.code = FF_TRIP_LATE, .value = 9.0};
    ff_walk other = w;
    assert_true(ff_walk_judge(&config, &w, &in, none, FF_TRIP_OPERATOR));
    assert_int_equal(w.cause.code, FF_TRIP_SPIKE);
    assert_near(w.cause.value, 6.0, 1e-12);
    assert_true(ff_walk_judge(&config, &other, &in, found, FF_TRIP_OPERATOR));
    assert_int_equal(other.cause.code, FF_TRIP_LATE);
}

/* The page's table of states and events is this one. FF_UPDATE=1 writes it there. */
static void test_the_page_shows_the_table(void **unused) {
    (void)unused;
    static const char begin[] = "<!-- states: written by unit/executive/states -->\n",
                      end[] = "<!-- /states -->\n", path[] = FF_SOURCE_DIR "/docs/safety.md";
    static const char *const sent[] = {"rest", "test", "path", "loop", "stop", "nothing"};
    static char table[8192], page[200000];
    size_t n = (size_t)sprintf(table, "| state | sent |");
    for (int e = 0; e < FF_ON_COUNT; e++)
        n += (size_t)sprintf(table + n, " %s |", ff_state_event_name((ff_state_event)e));
    n += (size_t)sprintf(table + n, "\n|---|---|");
    for (int e = 0; e < FF_ON_COUNT; e++)
        n += (size_t)sprintf(table + n, "---|");
    for (int s = 0; s < FF_STATE_COUNT; s++) {
        n += (size_t)sprintf(table + n, "\n| %s | %s |", ff_state_name((ff_state)s),
                             sent[ff_state_commands((ff_state)s)]);
        for (int e = 0; e < FF_ON_COUNT; e++) {
            const ff_state to = ff_state_next((ff_state)s, (ff_state_event)e);
            n += (size_t)sprintf(table + n, " %s |", (int)to == s ? "" : ff_state_name(to));
        }
    }
    sprintf(table + n, "\n");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[size] = 0;
    char *from = strstr(page, begin), *to = from ? strstr(from, end) : NULL;
    assert_non_null(to);
    from += strlen(begin);
    const bool same = (size_t)(to - from) == strlen(table) && strncmp(from, table, strlen(table)) == 0;
    const char *update = getenv("FF_UPDATE");
    if (!same && update && *update) {
        assert_non_null(file = fopen(path, "w"));
        fprintf(file, "%.*s%s%s", (int)(from - page), page, table, to);
        fclose(file);
    } else if (!same)
        fail_msg("docs/safety.md has another table of states: FF_UPDATE=1 writes it");
}

/* Every state and event has a name of its own; a state, a sentence. */
static void test_names(void **unused) {
    (void)unused;
    for (int s = 0; s < FF_STATE_COUNT; s++) {
        assert_true(strlen(ff_state_text((ff_state)s)) > 8);
        for (int r = 0; r < s; r++)
            assert_string_not_equal(ff_state_name((ff_state)s), ff_state_name((ff_state)r));
    }
    for (int e = 0; e < FF_ON_COUNT; e++)
        for (int r = 0; r < e; r++)
            assert_string_not_equal(ff_state_event_name((ff_state_event)e),
                                    ff_state_event_name((ff_state_event)r));
    assert_string_equal(ff_state_event_name(FF_ON_TRIP), "TRIP");
    assert_string_equal(ff_state_name((ff_state)FF_STATE_COUNT), "?");
    assert_string_equal(ff_state_text((ff_state)FF_STATE_COUNT), "?");
    assert_string_equal(ff_state_event_name((ff_state_event)FF_ON_COUNT), "?");
    assert_string_equal(ff_state_name((ff_state)-1), "?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cell_of_the_table),
        cmocka_unit_test(test_nothing_resumes_after_a_stop),
        cmocka_unit_test(test_the_first_fault_is_the_cause_and_replaces_only_an_orderly_one),
        cmocka_unit_test(test_a_sample_is_judged_by_the_state),
        cmocka_unit_test(test_a_stop_in_order_is_watched_and_a_test_without_a_zero_is_not),
        cmocka_unit_test(test_a_dead_sensor_is_a_fault_in_every_stop),
        cmocka_unit_test(test_a_spike_counts_once_the_stop_is_over),
        cmocka_unit_test(test_contact_follows_the_last_valid_force),
        cmocka_unit_test(test_differences_begin_with_the_motion),
        cmocka_unit_test(test_the_page_shows_the_table),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
