/* Sinks in turn: each call reaches those that take it, in order, and ends at the first one that fails. Rows
 * begin and settle as the loop's state says. */
#include "support.h"

#include "rows/sink.h"

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
    b.answer = FF_ERR_IO;
    expect(ff_sinks_row(sinks, 3, &r), FF_ERR_IO, "ar br ");
    expect(ff_sinks_event(sinks, 3, 2.0, 9, FF_EVENT_FAULT, "why", 4.0, FF_NAN), FF_ERR_IO, "be ");
    expect(ff_sinks_flush(sinks, 3), FF_ERR_IO, "bw ");
    b.answer = FF_INFO_GAP; /* information is not a failure */
    expect(ff_sinks_row(sinks, 3, &r), FF_OK, "ar br cr ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sinks_in_turn_and_only_those_that_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
