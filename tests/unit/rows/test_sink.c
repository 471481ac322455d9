/* Sinks in turn: each call reaches those that take it, in order, and ends at the first one that fails. Rows
 * begin and settle as the loop's state says. */
#include "support.h"

#include "rows/sink.h"
#include "rows/tuned.h"

typedef struct taker {
    char name;
    ff_status answer;
} taker;

static char said[64];

static ff_status say(void *self, char what) {
    const taker *t = self;
    const size_t n = strlen(said);
    snprintf(said + n, sizeof said - n, "%c%c ", t->name, what);
    return t->answer;
}

static ff_status row(void *self, const ff_row *r) {
    assert_int_equal(r->k, 7);
    return say(self, 'r');
}

static ff_status state(void *self, double t, int number, const char *name) {
    assert_true(t == -1.5 && number == 3);
    assert_string_equal(name, "FLOAT");
    return say(self, 's');
}

static ff_status event(void *self, double t, int code, ff_event_level level, const char *text, double value,
                       double limit) {
    assert_true(t == 2.0 && code == 9 && level == FF_EVENT_FAULT && value == 4.0 && isnan(limit));
    assert_string_equal(text, "why");
    return say(self, 'e');
}

static ff_status found(void *self, const char *const *set, int count) {
    assert_int_equal(count, 2);
    assert_string_equal(set[1], "b=2");
    return say(self, 'f');
}

static ff_status flush(void *self) {
    return say(self, 'w');
}

static void aside(void *self, const ff_row *r) {
    assert_int_equal(r->k, 7);
    say(self, 'a');
}

static void line(void *self, double t, ff_event_level level, const char *text) {
    assert_true(t == 0.5 && level == FF_EVENT_WARNING);
    assert_string_equal(text, "now");
    say(self, 'l');
}

static void expect(ff_status got, ff_status status, const char *calls) {
    assert_int_equal(got, status);
    assert_string_equal(said, calls);
    said[0] = 0;
}

static void test_sinks_in_turn_and_only_those_that_take(void **unused) {
    (void)unused;
    taker a = {'a', FF_OK}, b = {'b', FF_OK}, c = {'c', FF_OK};
    const ff_sink sinks[3] = {
        {.self = &a, .row = row},
        {.self = &b, .row = row, .state = state, .event = event, .found = found, .flush = flush},
        {.self = &c, .row = row, .event = event, .flush = flush}};
    static ff_row r;
    r.k = 7;
    const char *const set[2] = {"a=1", "b=2"};
    expect(ff_sinks_row(sinks, 3, &r), FF_OK, "ar br cr ");
    expect(ff_sinks_state(sinks, 3, -1.5, 3, "FLOAT"), FF_OK, "bs ");
    expect(ff_sinks_event(sinks, 3, 2.0, 9, FF_EVENT_FAULT, "why", 4.0, FF_NAN), FF_OK, "be ce ");
    expect(ff_sinks_found(sinks, 3, set, 2), FF_OK, "bf ");
    expect(ff_sinks_flush(sinks, 3), FF_OK, "bw cw ");
    expect(ff_sinks_row(NULL, 0, &r), FF_OK, "");
    const ff_sink attending[2] = {{.self = &a, .row = row},
                                  {.self = &b, .row = row, .aside = aside, .say = line}};
    ff_sinks_aside(attending, 2, &r);
    ff_sinks_say(attending, 2, 0.5, FF_EVENT_WARNING, "now");
    expect(FF_OK, FF_OK, "ba bl ");
    b.answer = FF_ERR_IO;
    expect(ff_sinks_row(sinks, 3, &r), FF_ERR_IO, "ar br ");
    expect(ff_sinks_event(sinks, 3, 2.0, 9, FF_EVENT_FAULT, "why", 4.0, FF_NAN), FF_ERR_IO, "be ");
    expect(ff_sinks_flush(sinks, 3), FF_ERR_IO, "bw ");
    expect(ff_sinks_state(sinks, 3, -1.5, 3, "FLOAT"), FF_ERR_IO, "bs ");
    expect(ff_sinks_found(sinks, 3, set, 2), FF_ERR_IO, "bf ");
    b.answer = FF_INFO_GAP; /* information is not a failure */
    expect(ff_sinks_row(sinks, 3, &r), FF_OK, "ar br cr ");
}

/* An order changes what may be tuned, keeps what was given fixed, and is refused whole where it is not valid.
 */
static void test_tuned(void **unused) {
    (void)unused;
    static ff_scenario s;
    static const char text[] = "name: a\ntime: {cycle: 0.004, duration: 1}\nmethod: tdpa\n"
                               "satellites: {b: {mass: 2, inertia: [1, 1, 1]}}\n";
    char message[256], warnings[256];
    assert_int_equal(ff_scenario_parse("F", text, strlen(text), NULL, &s, message, sizeof message, warnings,
                                       sizeof warnings),
                     FF_OK);
    static ff_loop_config config;
    ff_loop_memory memory;
    ff_scenario_loop(&s, &config);
    assert_int_equal(ff_loop_memory_open(&config, NULL, &memory, message, sizeof message), FF_OK);
    ff_loop_model *model = memory.model;
    ff_tuned was, now, next;
    ff_tuned_get(model, 1, &was);
    assert_true(was.known && !was.fixed);
    assert_string_equal(ff_tuned_setting(&ff_method_tdpa, 0)->name, "threshold");
    assert_string_equal(ff_tuned_setting(&ff_method_tdpa, 1)->name, "torque_threshold");
    assert_null(ff_tuned_setting(&ff_method_tdpa, 2));
    assert_null(ff_tuned_setting(NULL, 0));
    next = was;
    next.fixed = true;
    next.setting[0] = 3.5;
    next.setting[1] = 0.25;
    next.bias_s[0].f.x = -4.0;
    assert_int_equal(ff_tuned_apply(model, 1, &next), FF_OK);
    ff_tuned_get(model, 1, &now);
    assert_true(now.fixed && now.setting[0] == 3.5 && now.setting[1] == 0.25 && now.bias_s[0].f.x == -4.0);
    ff_tuned bad = next;
    bad.setting[1] = -1.0;
    bad.bias_s[0].f.x = 9.0;
    assert_int_equal(ff_tuned_apply(model, 1, &bad), FF_ERR_ARGUMENT);
    ff_tuned_get(model, 1, &now);
    assert_true(now.setting[0] == 3.5 && now.setting[1] == 0.25 && now.bias_s[0].f.x == -4.0);
    next.fixed = false; /* back to the method's own choice */
    assert_int_equal(ff_tuned_apply(model, 1, &next), FF_OK);
    ff_tuned_get(model, 1, &now);
    assert_false(now.fixed);
    ff_loop_memory_close(&memory);
    /* a method with nothing to tune takes a bias and no value */
    s.method = &ff_method_direct;
    ff_scenario_loop(&s, &config);
    assert_int_equal(ff_loop_memory_open(&config, NULL, &memory, message, sizeof message), FF_OK);
    ff_tuned_get(memory.model, 1, &now);
    assert_true(isnan(now.setting[0]) && isnan(now.setting[1]) && !now.fixed);
    now.bias_s[0].t.z = 0.5;
    assert_int_equal(ff_tuned_apply(memory.model, 1, &now), FF_OK);
    assert_true(memory.model->config.body[0].wrench.bias_s.t.z == 0.5);
    now.setting[0] = 1.0;
    assert_int_equal(ff_tuned_apply(memory.model, 1, &now), FF_ERR_ARGUMENT);
    ff_loop_memory_close(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sinks_in_turn_and_only_those_that_take),
        cmocka_unit_test(test_tuned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
