/* Orders to a running loop: bounded, checked twice, answered each, refused in contact; a bias comes in by a
 * ramp. */
#include "rt/tuning.h"
#include "support.h"

static ff_scenario scenario;
static ff_loop_model model;
static ff_safety_config safety;
static ff_tuning tuning;
static ff_wrench bias;

static const char text[] = "name: tuning\n"
                           "time: {cycle: 0.004, duration: 1}\n"
                           "method: tdpa\n"
                           "satellites:\n"
                           "  a b: {mass: 100, inertia: [10, 10, 10], safety: {force: 80, energy: 2}}\n";

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
    return ff_loop_create(&config, &model, message, sizeof message) < 0 ||
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
                              .touching = touching,
                              .model = &model,
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
    const ff_order_answer a = ask((ff_order){FF_ORDER_SET, n, 2.5, 7, 3}, false);
    assert_true(a.done);
    assert_int_equal(a.order.id, 7);
    assert_int_equal(a.order.from, 3);
    assert_near(model.fidelity.config.tdpa.detector.force_on, 2.5, 0.0);
    char words[160];
    ff_tuning_text(&tuning, &a, words, sizeof words);
    assert_string_equal(words, "threshold is now 2.5 N, it was 0");
}

static void test_limits_only_tightened(void **state) {
    (void)state;
    const int n = find("a_b.limit.force"); /* one word on the wire */
    assert_true(ask((ff_order){FF_ORDER_SET, n, 40, 0, 0}, false).done);
    assert_near(safety.limits[0].force, 40, 0.0);
    assert_true(ask((ff_order){FF_ORDER_SET, n, 80, 0, 0}, false).done); /* back to the scenario's */
    assert_false(ask((ff_order){FF_ORDER_SET, n, 80.001, 0, 0}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, n, 0, 0, 0}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, n, FF_NAN, 0, 0}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, n, -1, 0, 0}, false).done);
    assert_near(safety.limits[0].force, 80, 0.0);
    assert_false(ask((ff_order){FF_ORDER_SET, -1, 1, 0, 0}, false).done);
    assert_false(ask((ff_order){FF_ORDER_SET, tuning.table.count, 1, 0, 0}, false).done);
}

static void test_refused_in_contact_and_at_rest(void **state) {
    (void)state;
    const double before = model.fidelity.config.tdpa.detector.force_on;
    assert_false(ask((ff_order){FF_ORDER_SET, find("threshold"), 9, 0, 0}, true).done);
    assert_false(ask((ff_order){FF_ORDER_ZERO, 0, 0, 0, 0}, true).done);
    assert_near(model.fidelity.config.tdpa.detector.force_on, before, 0.0);
    ff_tuning_access access = lend(false);
    access.moves = false;
    const ff_order order = {FF_ORDER_SET, find("threshold"), 9, 0, 0};
    ff_order_answer a;
    assert_true(ff_tuning_ask(&tuning, &order));
    ff_tuning_apply(&tuning, &access);
    assert_true(ff_tuning_answer(&tuning, &a));
    assert_false(a.done);
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
    const ff_wrench drift = {.t = {{0.1, -0.2, 0.3}}, .f = {{3, -4, 12}}};
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
    assert_near(a.is, 13.0, 1e-12);
    assert_vec3_near(bias.f, drift.f, 1e-12);
    assert_vec3_near(bias.t, drift.t, 1e-12);
    assert_near(most, 13.0 / 63.0, 1e-12); /* 0.25 s of 4 ms */
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

int main(void) {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_set_threshold_between_cycles),
        CASE(test_limits_only_tightened),
        CASE(test_refused_in_contact_and_at_rest),
        CASE(test_hold_and_stop_always),
        CASE(test_queue_bounded),
        CASE(test_zero_ramps_the_bias_in),
        CASE(test_zero_given_up_when_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
