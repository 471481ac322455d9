/* Orders to a running loop: bounded, checked twice, answered each, refused in contact; a bias comes in by a
 * ramp. And the telemetry between the loop and who watches and commands. */
#include "operator/console.h"
#include "operator/telemetry.h"
#include "operator/tuning.h"
#include "loop_support.h"

static ff_scenario scenario;
TEST_LOOP_MODEL(model);
static ff_safety_config safety;
static ff_tuning tuning;
static ff_wrench bias;

static const char text[] = "name: tuning\n"
                           "time: {cycle: 0.004, duration: 1}\n"
                           "method: tdpa\n"
                           "satellites:\n"
                           "  a b: {mass: 100, inertia: [10, 10, 10], safety: {force: 80, energy: 2}}\n"
                           "  c: {mass: 100, inertia: [10, 10, 10], safety: {force: 70}}\n";

static int setup(void **state) {
    (void)state;
    char message[256] = "", warnings[256];
    const ff_scenario_options none = {0};
    ff_loop_config config;
    if (ff_scenario_parse("tuning", text, sizeof text - 1, &none, &scenario, message, sizeof message,
                          warnings, sizeof warnings) < 0) {
        print_message("%s\n", message);
        return -1;
    }
    ff_scenario_loop(&scenario, &config);
    ff_safety_configure(&scenario, NULL, &safety);
    bias = ff_wrench_zero();
    return test_loop_create(&config, model, message, sizeof message) < 0 ||
           ff_tuning_create(&tuning, &scenario, true) < 0;
}

static int teardown(void **state) {
    (void)state;
    ff_tuning_free(&tuning);
    return 0;
}

static ff_tuning_access lend(bool touching) {
    return (ff_tuning_access){.t = 1.5,
                              .cycle = 0.004,
                              .bodies = 1,
                              .moves = true,
                              .floats = true,
                              .touching = touching,
                              .model = model,
                              .safety = &safety,
                              .bias = {&bias}};
}

static int find(const char *name) {
    for (int i = 0; i < tuning.table.count; i++)
        if (strcmp(tuning.table.parameter[i].name, name) == 0)
            return i;
    fail_msg("no parameter %s", name);
    return -1;
}

static ff_order_answer ask(ff_order order, bool touching) {
    ff_tuning_access access = lend(touching);
    ff_order_answer answer = {0};
    assert_true(ff_tuning_ask(&tuning, &order));
    ff_tuning_apply(&tuning, &access);
    assert_true(ff_tuning_answer(&tuning, &answer));
    assert_false(ff_tuning_answer(&tuning, &answer) && answer.done);
    return answer;
}

static void test_set_threshold_between_cycles(void **state) {
    (void)state;
    const int n = find("threshold");
    const ff_order_answer a = ask((ff_order){FF_ORDER_SET, n, 2.5, 7, 3, {0}}, false);
    assert_true(a.done);
    assert_int_equal(a.order.id, 7);
    assert_int_equal(a.order.from, 3);
    assert_near(model->stage.detector.force_on, 2.5, 0.0);
    assert_true(model->stage.detector.fixed); /* the measured noise does not move it again */
    const double torque = model->stage.detector.torque_on;
    assert_true(torque != 0.7);
    assert_true(ask((ff_order){FF_ORDER_SET, find("torque_threshold"), 0.7, 0, 0, {0}}, false).done);
    assert_near(model->stage.detector.torque_on, 0.7, 0.0);
    assert_near(model->stage.detector.force_on, 2.5, 0.0);
    char words[160];
    ff_tuning_text(&tuning, &a, words, sizeof words);
    assert_string_equal(words, "threshold is now 2.5 N, it was 0");
}

static void test_limits_only_tightened(void **state) {
    (void)state;
    const int n = find("a_b.limit.force"); /* one word on the wire */
    assert_true(ask((ff_order){FF_ORDER_SET, n, 40, 0, 0, {0}}, false).done);
    assert_near(safety.limits[0].force, 40, 0.0);
    assert_true(ask((ff_order){FF_ORDER_SET, n, 80, 0, 0, {0}}, false).done); /* back to the scenario's */
    assert_false(ask((ff_order){FF_ORDER_SET, n, 80.001, 0, 0, {0}}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, n, 0, 0, 0, {0}}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, n, FF_NAN, 0, 0, {0}}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, n, -1, 0, 0, {0}}, false).done);
    assert_near(safety.limits[0].force, 80, 0.0);
    assert_false(ask((ff_order){FF_ORDER_SET, -1, 1, 0, 0, {0}}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, tuning.table.count, 1, 0, 0, {0}}, false).done);
    /* the other satellite's limit is its own */
    assert_true(ask((ff_order){FF_ORDER_SET, find("c.limit.force"), 33, 0, 0, {0}}, false).done);
    assert_near(safety.limits[0].force, 80, 0.0);
    assert_near(safety.limits[1].force, 33, 0.0);
}

/* No threshold hides a contact that a limit is for: at most a tenth of the smallest force that is limited, as
 * tightened since, and of what the sensors read; where neither is there, the method's own range. A refusal
 * names value and limit. */
static void test_no_threshold_disarms_a_limit(void **state) {
    (void)state;
    const int force = find("threshold"), torque = find("torque_threshold");
    const double on = model->stage.detector.force_on;
    assert_near(tuning.table.parameter[force].high, 7.0, 1e-12); /* of 70 N */
    assert_near(tuning.table.parameter[torque].high, 20.0, 0.0);
    ff_order_answer a = ask((ff_order){FF_ORDER_SET, force, 50, 0, 0, {0}}, false);
    assert_false(a.done);
    char words[200];
    ff_tuning_text(&tuning, &a, words, sizeof words);
    assert_string_equal(words,
                        "threshold refused: 50 N, allowed 0 to 7: more would hide a contact; stop, and "
                        "ask for it in the scenario");
    assert_near(model->stage.detector.force_on, on, 0.0);
    assert_true(ask((ff_order){FF_ORDER_SET, find("a_b.limit.force"), 40, 0, 0, {0}}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, force, 4.001, 0, 0, {0}}, false).done);
    assert_true(ask((ff_order){FF_ORDER_SET, force, 3.999, 0, 0, {0}}, false).done);
    model->config.body[1].wrench.force_limit = 30; /* by the sensor's page */
    a = ask((ff_order){FF_ORDER_SET, force, 4.0, 0, 0, {0}}, false);
    assert_false(a.done);
    assert_near(a.high, 3.999, 0.0); /* what holds already is not refused */
    assert_true(ask((ff_order){FF_ORDER_SET, force, 2, 0, 0, {0}}, false).done);
    a = ask((ff_order){FF_ORDER_SET, force, FF_NAN, 0, 0, {0}}, false);
    assert_false(a.done);
    assert_near(a.high, 3.0, 1e-12);
    model->config.body[0].wrench.torque_limit = 5;
    assert_false(ask((ff_order){FF_ORDER_SET, torque, 0.501, 0, 0, {0}}, false).done);
    assert_true(ask((ff_order){FF_ORDER_SET, torque, 0.499, 0, 0, {0}}, false).done);
    a = ask((ff_order){FF_ORDER_SET, find("c.limit.force"), 70.5, 0, 0, {0}}, false);
    ff_tuning_text(&tuning, &a, words, sizeof words);
    assert_string_equal(words, "c.limit.force refused: 70.5 N, allowed 0.07 to 70: limits are only tightened "
                               "in flight");
}

/* Only limits that were given can be tightened, and each belongs to the level that it is held against. */
static void test_table_has_what_can_be_tightened(void **state) {
    (void)state;
    int limits = 0;
    for (int i = 0; i < tuning.table.count; i++) {
        const ff_tuning_parameter *p = &tuning.table.parameter[i];
        assert_true(isfinite(p->high) && p->low < p->high);
        int watched = 0;
        for (int level = 0; level < FF_LEVEL_COUNT; level++)
            if (ff_tuning_watches(p, (ff_level_name)level)) {
                watched++;
                assert_near(ff_level_limit(&scenario.satellite[p->body].safety, (ff_level_name)level),
                            p->high, 0.0);
                assert_non_null(strstr(p->effect, "stops the run"));
                assert_string_equal(p->unit, ff_level_unit((ff_level_name)level));
            }
        assert_int_equal(watched, p->kind == FF_TUNING_LIMIT);
        limits += watched;
    }
    int given = 0;
    for (int i = 0; i < 2; i++) {
        const ff_safety_limits *l = &scenario.satellite[i].safety;
        const double limit[] = {l->force, l->torque, l->velocity, l->energy, l->tracking};
        for (int n = 0; n < 5; n++)
            given += isfinite(limit[n]);
    }
    assert_int_equal(limits, given);
}

/* What is reported to the caller: which parameter changed and from what, or nothing where it was refused. */
static void test_caller_is_told_what_changed(void **state) {
    (void)state;
    const int n = find("a_b.limit.force");
    static const double value[] = {50, 90};
    for (int i = 0; i < 2; i++) {
        const ff_order order = {FF_ORDER_SET, n, value[i], 0, 0, {0}};
        ff_tuning_access access = lend(false);
        ff_order_answer a;
        assert_true(ff_tuning_ask(&tuning, &order));
        ff_tuning_apply(&tuning, &access);
        assert_true(ff_tuning_answer(&tuning, &a));
        assert_int_equal(access.changed, i ? 0 : n + 1);
        assert_near(access.was, i ? 50 : 80, 0.0);
        assert_near(a.was, i ? 50 : 80, 0.0);
        assert_near(a.t, 1.5, 0.0);
    }
}

static void test_refused_in_contact_and_at_rest(void **state) {
    (void)state;
    const double before = model->stage.detector.force_on;
    assert_false(ask((ff_order){FF_ORDER_SET, find("threshold"), 9, 0, 0, {0}}, true).done);
    assert_false(ask((ff_order){FF_ORDER_ZERO, 0, 0, 0, 0, {0}}, true).done);
    assert_near(model->stage.detector.force_on, before, 0.0);
    /* at rest, and before the satellite begins to float: what touches there is not known */
    const ff_order order[] = {{FF_ORDER_SET, find("threshold"), 1, 0, 0, {0}}, {.verb = FF_ORDER_ZERO}};
    for (int n = 0; n < 4; n++) {
        ff_tuning_access access = lend(false);
        access.floats = false;
        access.moves = n & 1;
        ff_order_answer a = {.done = true};
        assert_true(ff_tuning_ask(&tuning, &order[n / 2]));
        ff_tuning_apply(&tuning, &access);
        assert_true(ff_tuning_answer(&tuning, &a));
        assert_false(a.done);
        assert_string_equal(a.text, "refused: only while the satellite floats");
        assert_int_equal(tuning.zero_left, 0);
    }
    assert_near(model->stage.detector.force_on, before, 0.0);
}

static void test_hold_and_stop_always(void **state) {
    (void)state;
    ff_tuning_access access = lend(true);
    access.moves = false;
    const ff_order hold = {.verb = FF_ORDER_HOLD}, stop = {.verb = FF_ORDER_STOP};
    ff_order_answer a;
    assert_true(ff_tuning_ask(&tuning, &hold) && ff_tuning_ask(&tuning, &stop));
    ff_tuning_apply(&tuning, &access);
    assert_true(access.hold && !access.stop); /* one order a cycle */
    ff_tuning_apply(&tuning, &access);
    assert_true(access.stop);
    assert_true(ff_tuning_answer(&tuning, &a) && a.done && ff_tuning_answer(&tuning, &a) && a.done);
}

/* Retreat is a hold where the robot moves, and is passed on where it is held; elsewhere it is refused. */
static void test_retreat_moving_or_held(void **state) {
    (void)state;
    for (int n = 0; n < 4; n++) {
        ff_tuning_access access = lend(true);
        const ff_order order = {.verb = FF_ORDER_RETREAT, .id = 9};
        ff_order_answer a = {0};
        access.moves = n & 1;
        access.held = n & 2;
        assert_true(ff_tuning_ask(&tuning, &order));
        ff_tuning_apply(&tuning, &access);
        assert_true(ff_tuning_answer(&tuning, &a));
        assert_int_equal(a.done, n > 0);
        assert_int_equal(a.order.id, 9);
        assert_int_equal(access.hold, n > 0);
        assert_int_equal(access.retreat, n > 0);
        assert_false(access.stop);
    }
}

/* One word a line is an order, nothing near it; the help names them all. */
static void test_what_is_typed(void **state) {
    (void)state;
    static const struct {
        const char *line;
        ff_console_line is;
        ff_order_verb verb;
    } lines[] = {
        {"hold\n", FF_CONSOLE_ORDER, FF_ORDER_HOLD},
        {"  stop \r\n", FF_CONSOLE_ORDER, FF_ORDER_STOP},
        {"zero", FF_CONSOLE_ORDER, FF_ORDER_ZERO},
        {"\tretreat\n", FF_CONSOLE_ORDER, FF_ORDER_RETREAT},
        {"help\n", FF_CONSOLE_HELP, 0},
        {"", FF_CONSOLE_EMPTY, 0},
        {" \t\r\n", FF_CONSOLE_EMPTY, 0},
        {"Hold\n", FF_CONSOLE_UNKNOWN, 0},
        {"hol\n", FF_CONSOLE_UNKNOWN, 0},
        {"holds\n", FF_CONSOLE_UNKNOWN, 0},
        {"hold now\n", FF_CONSOLE_UNKNOWN, 0},
        {"hold\nstop\n", FF_CONSOLE_UNKNOWN, 0},
        {"arm\n", FF_CONSOLE_UNKNOWN, 0}, /* nothing arms here */
        {"set threshold 50\n", FF_CONSOLE_UNKNOWN, 0},
    };
    for (size_t n = 0; n < sizeof lines / sizeof *lines; n++) {
        ff_order order = {.verb = FF_ORDER_SET, .id = 5};
        if (ff_console_read(lines[n].line, &order) != lines[n].is)
            fail_msg("'%s'", lines[n].line);
        const bool is = lines[n].is == FF_CONSOLE_ORDER;
        assert_int_equal(order.verb, is ? lines[n].verb : FF_ORDER_SET);
        assert_int_equal(order.from, is ? FF_CONSOLE_VIEWER : 0);
    }
    static const char *const words[] = {"  hold: ", "  stop: ", "  zero: ", "  retreat: "};
    for (size_t n = 0; n < 4; n++)
        assert_non_null(strstr(ff_console_help(), words[n]));
}

static void test_queue_bounded(void **state) {
    (void)state;
    const ff_order stop = {.verb = FF_ORDER_STOP};
    int taken = 0;
    while (taken < 1000 && ff_tuning_ask(&tuning, &stop))
        taken++;
    assert_int_equal(taken, FF_TUNING_ORDERS);
    ff_tuning_access access = lend(false);
    ff_order_answer a;
    for (int i = 0; i < taken; i++)
        ff_tuning_apply(&tuning, &access);
    for (int i = 0; i < taken; i++)
        assert_true(ff_tuning_answer(&tuning, &a) && a.done); /* none is lost */
    assert_false(ff_tuning_answer(&tuning, &a));
}

/* No step of the bias is larger than its share of the ramp, and at its end the reading is zero. */
static void test_zero_ramps_the_bias_in(void **state) {
    (void)state;
    const ff_wrench drift = {.t = {{0.1, -0.2, 0.3}}, .f = {{0.3, -0.4, 1.2}}};
    const ff_order order = {.verb = FF_ORDER_ZERO, .id = 1};
    ff_order_answer a = {0};
    assert_true(ff_tuning_ask(&tuning, &order));
    bool answered = false;
    double most = 0.0;
    for (int k = 0; k < 200; k++) {
        ff_tuning_access access = lend(false);
        access.reading_s[0] = ff_wrench_sub(drift, bias);
        const ff_wrench before = bias;
        ff_tuning_advance(&tuning, &access);
        ff_tuning_apply(&tuning, &access);
        most = fmax(most, ff_vec3_norm(ff_vec3_sub(bias.f, before.f)));
        answered |= ff_tuning_answer(&tuning, &a);
    }
    assert_true(answered && a.done);
    assert_near(a.is, 1.3, 1e-12);
    assert_vec3_near(bias.f, drift.f, 1e-12);
    assert_vec3_near(bias.t, drift.t, 1e-12);
    assert_near(most, 1.3 / 63.0, 1e-12); /* 0.25 s of 4 ms */
}

static void test_zero_given_up_when_touched(void **state) {
    (void)state;
    const ff_order order = {.verb = FF_ORDER_ZERO};
    ff_order_answer a = {0};
    assert_true(ff_tuning_ask(&tuning, &order));
    for (int k = 0; k < 100; k++) {
        ff_tuning_access access = lend(k > 30);
        access.reading_s[0].f = ff_vec3_make(1, 1, 1);
        ff_tuning_advance(&tuning, &access);
        ff_tuning_apply(&tuning, &access);
    }
    assert_true(ff_tuning_answer(&tuning, &a));
    assert_false(a.done);
    assert_vec3_near(bias.f, ff_vec3_zero(), 0.0);
}

/* The asker waits no longer, before, while or after it is done: what it gave up has no effect and no answer,
 * and keeps no other order waiting. */
static void test_what_was_given_up_is_not_done(void **state) {
    (void)state;
    static ff_claims claims;
    ff_order_answer a;
    for (int given_up = 0; given_up < 64; given_up++) { /* in which cycle; 63 averages, then it is done */
        ff_order order = {.verb = FF_ORDER_ZERO, .id = 1, .claim = ff_claim_open(&claims)};
        bias = (ff_wrench){0};
        assert_true(ff_tuning_ask(&tuning, &order));
        bool void_now = false;
        for (int k = 0; k < 200; k++) {
            ff_tuning_access access = lend(false);
            access.reading_s[0].f = ff_vec3_sub(ff_vec3_make(0.01, 0, 0), bias.f);
            if (k == given_up)
                void_now = ff_claim_take(order.claim);
            ff_tuning_advance(&tuning, &access);
            ff_tuning_apply(&tuning, &access);
            if (k == 80 && void_now) { /* another one is taken at once */
                const ff_order next = {.verb = FF_ORDER_HOLD, .id = 2, .claim = ff_claim_open(&claims)};
                assert_true(ff_tuning_ask(&tuning, &next));
            }
        }
        assert_true(void_now == (given_up < 64));
        assert_true(ff_tuning_answer(&tuning, &a));
        assert_int_equal(a.order.id, 2);
        assert_false(ff_tuning_answer(&tuning, &a));
        assert_vec3_near(bias.f, ff_vec3_zero(), 0.0);
    }
    static const ff_order_verb verbs[] = {FF_ORDER_HOLD, FF_ORDER_STOP, FF_ORDER_RETREAT, FF_ORDER_SET};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const ff_order order = {.verb = verbs[i], .value = 1.0, .claim = ff_claim_open(&claims)};
        assert_true(ff_tuning_ask(&tuning, &order));
        assert_true(ff_claim_take(order.claim));
        ff_tuning_access access = lend(false);
        ff_tuning_apply(&tuning, &access);
        assert_false(access.hold || access.stop || access.retreat || access.changed);
        assert_false(ff_tuning_answer(&tuning, &a));
    }
}

static bool cycle(ff_wrench reading, bool moves, ff_order_answer *a, double *removed) {
    ff_tuning_access access = lend(false);
    access.moves = access.floats = moves;
    access.reading_s[0] = reading;
    ff_tuning_advance(&tuning, &access);
    ff_tuning_apply(&tuning, &access);
    if (access.zeroed)
        *removed = access.removed;
    return ff_tuning_answer(&tuning, a);
}

/* A second zeroing waits for the first one's ramp, and knows nothing of its sum; one whose run comes to rest
 * is given up. */
static void test_zero_once_more(void **state) {
    (void)state;
    const ff_order order = {.verb = FF_ORDER_ZERO};
    ff_order_answer a = {0};
    double removed = 0.0;
    ff_wrench drift = {.f = {{1, 2, 2}}};
    for (int round = 0; round < 2; round++, drift.f.x += 3.0) {
        assert_true(ff_tuning_ask(&tuning, &order));
        int k = 0;
        while (!cycle(ff_wrench_sub(drift, bias), true, &a, &removed) && k < 200)
            k++;
        assert_true(a.done);
        assert_near(removed, 3.0, 1e-12);            /* |1 2 2|, then |3 0 0| */
        assert_true(ff_tuning_ask(&tuning, &order)); /* while it ramps */
        assert_true(cycle(ff_wrench_sub(drift, bias), true, &a, &removed));
        assert_false(a.done);
        for (k = 0; k < 70; k++)
            cycle(ff_wrench_sub(drift, bias), true, &a, &removed);
        assert_vec3_near(bias.f, drift.f, 1e-12);
    }
    assert_true(ff_tuning_ask(&tuning, &order));
    for (int k = 0; k < 10; k++)
        assert_false(cycle(drift, true, &a, &removed));
    const ff_wrench before = bias;
    assert_true(cycle(drift, false, &a, &removed));
    assert_false(a.done);
    assert_non_null(strstr(a.text, "stands"));
    for (int k = 0; k < 100; k++)
        cycle(drift, true, &a, &removed);
    assert_vec3_near(bias.f, before.f, 0.0);
}

static bool zero(ff_wrench load) {
    const ff_order order = {.verb = FF_ORDER_ZERO};
    ff_order_answer a = {0}, more;
    double removed = 0.0;
    bool answered = false;
    assert_true(ff_tuning_ask(&tuning, &order));
    for (int k = 0; k < 200 && !answered; k++)
        answered = cycle(ff_wrench_sub(load, bias), true, &a, &removed);
    for (int k = 0; k < 70; k++) /* the ramp */
        assert_false(cycle(ff_wrench_sub(load, bias), true, &more, &removed));
    assert_true(answered && (a.done || strstr(a.text, "zero refused: all zeroings together")));
    return a.done;
}

/* A force that grows slowly, zeroed whenever it is still small: all together at most a tenth of its limit, of
 * the torque's, too, as they are now. What goes back again is not counted twice. */
static void test_zeroings_together_hide_no_limit(void **state) {
    (void)state;
    for (int part = 0; part < 2; part++) {
        const double limit = part ? 10.0 : 80.0;
        double *now = part ? &safety.limits[0].torque : &safety.limits[0].force;
        safety.limits[0].force = 80.0;
        safety.limits[0].torque = 10.0;
        bias = tuning.removed[0] = ff_wrench_zero();
        ff_wrench load = ff_wrench_zero();
        double *size = part ? &load.t.y : &load.f.y;
        /* hundredths of the limit: there, back, there again, and beyond */
        static const double share[] = {4.0, 8.0, 9.99, 5.0, 9.99, 10.01, 14.0};
        for (int n = 0; n < 7; n++) {
            *size = 0.01 * limit * share[n];
            assert_int_equal(zero(load), share[n] < 10.0);
            assert_near(part ? bias.t.y : bias.f.y, 0.01 * limit * fmin(share[n], 9.99), 1e-9);
        }
        *size = 0.0999 * limit;
        *now = 0.998 * limit; /* tightened */
        assert_false(zero(load));
        *now = 0.9991 * limit;
        assert_true(zero(load));
    }
}

/* A wrench on the body, as its sensor reads it, wherever that is: the force turned, the torque about the
 * sensor's own origin. */
static void test_reading_is_in_the_sensors_frame(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    for (int n = 0; n < 100; n++) {
        const ff_wrench_config config = {
            .environment = n % 2, .T_bs = test_random_pose(&rng, 0.3), .T_ws = test_random_pose(&rng, 0.3)};
        const ff_pose T_wb = test_random_pose(&rng, 1.0);
        const ff_wrench f_b = {.f = test_random_vec3(&rng, 10.0), .t = test_random_vec3(&rng, 1.0)};
        const ff_wrench f_s = ff_tuning_reading(&config, T_wb, f_b);
        /* by way of inertial axes: f, and the moment about the sensor's origin */
        const ff_pose T_ws = n % 2 ? config.T_ws : ff_pose_mul(T_wb, config.T_bs);
        const ff_vec3 f = ff_quat_rotate(T_wb.q, f_b.f),
                      t = ff_vec3_add(ff_quat_rotate(T_wb.q, f_b.t),
                                      ff_vec3_cross(ff_vec3_sub(T_wb.p, T_ws.p), f));
        assert_vec3_near(f_s.f, ff_quat_unrotate(T_ws.q, f), 1e-12);
        assert_vec3_near(f_s.t, ff_quat_unrotate(T_ws.q, t), 1e-12);
    }
}

enum { BEFORE = 40, LATE = 2 };

/* Who commands: more than may wait for the loop, and once more when the run is over. */
typedef struct watcher {
    atomic_int given, answers, samples;
    atomic_bool over;
    int answered[BEFORE + LATE], refused, ended;
    double reference[2];
} watcher;

static bool give(void *self, ff_order *order) {
    watcher *w = self;
    const int n = atomic_load(&w->given);
    if (n >= BEFORE + (atomic_load(&w->over) ? LATE : 0))
        return false;
    *order = (ff_order){.verb = n % 2 ? FF_ORDER_STOP : FF_ORDER_HOLD, .id = (uint32_t)n};
    atomic_store(&w->given, n + 1);
    return true;
}

static void hear(void *self, const ff_order_answer *answer, const char *sentence) {
    watcher *w = self;
    w->answered[answer->order.id]++;
    w->refused += strstr(answer->text, "too many orders") != NULL;
    w->ended += strcmp(answer->text, "the run has ended") == 0;
    /* a run that has ended has stopped, too */
    assert_int_equal(answer->done,
                     strcmp(answer->text, "the run has ended") == 0 && answer->order.verb == FF_ORDER_STOP);
    assert_true(*sentence);
    atomic_fetch_add(&w->answers, 1);
}

static void watch(void *self, const ff_telemetry_sample *shown) {
    watcher *w = self;
    w->reference[shown->row.k ? 1 : 0] = shown->row.body[0].ideal.position.x;
    atomic_fetch_add(&w->samples, 1);
}

/* The loop takes none of them here: 16 wait, the others are refused, and at the end every one has its answer.
 * A row has the reference beside it as far as there is one. */
static void test_every_order_is_answered(void **state) {
    (void)state;
    static watcher w;
    static ff_telemetry telemetry;
    static ff_telemetry_sample shown;
    ff_rigid_state reference[2] = {{.position = {{3, 0, 0}}}};
    const ff_ideal_result ideal = {.samples = 1, .bodies = 2, .state = reference};
    const ff_touch touch = {.scenario = &scenario, .threshold = {1.0, 1.0}, .touched = {-1, -1}};
    const ff_viewer viewer = {.self = &w, .sample = watch, .next = give, .answer = hear};
    assert_int_equal(ff_telemetry_start(&telemetry, &viewer, -1, &tuning, &touch, &ideal), FF_OK);
    for (uint64_t k = 0; k < 2; k++) {
        shown.row.k = k;
        ff_telemetry_push(&telemetry, &shown);
    }
    while (atomic_load(&w.answers) < BEFORE - FF_TUNING_ORDERS || atomic_load(&w.samples) < 2)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&w.over, true);
    ff_telemetry_stop(&telemetry);
    for (int i = 0; i < atomic_load(&w.given); i++)
        assert_int_equal(w.answered[i], 1);
    assert_int_equal(atomic_load(&w.given), BEFORE + LATE);
    assert_true(w.refused >= BEFORE - FF_TUNING_ORDERS && w.ended >= FF_TUNING_ORDERS);
    assert_int_equal(w.refused + w.ended, BEFORE + LATE);
    assert_near(w.reference[0], 3.0, 0);
    assert_true(isnan(w.reference[1]));    /* beyond the reference's end */
    ff_telemetry_push(&telemetry, &shown); /* nobody watches any more: nothing happens */
    assert_int_equal(atomic_load(&w.samples), 2);
}

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_set_threshold_between_cycles),
        CASE(test_limits_only_tightened),
        CASE(test_refused_in_contact_and_at_rest),
        CASE(test_hold_and_stop_always),
        CASE(test_retreat_moving_or_held),
        CASE(test_what_is_typed),
        CASE(test_queue_bounded),
        CASE(test_zero_ramps_the_bias_in),
        CASE(test_zero_given_up_when_touched),
        CASE(test_what_was_given_up_is_not_done),
        CASE(test_no_threshold_disarms_a_limit),
        CASE(test_table_has_what_can_be_tightened),
        CASE(test_caller_is_told_what_changed),
        CASE(test_zero_once_more),
        CASE(test_zeroings_together_hide_no_limit),
        CASE(test_reading_is_in_the_sensors_frame),
        CASE(test_every_order_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
