/* Orders to a loop on devices, by the queue, in lock step: what they changed stands in the log at its cycle,
 * the log replays to the bit, and an order that was damaged is found. */
#include "sides.h"

#include "record/replay.h"

#include <unistd.h>

static const char text[] = BETWEEN_WALLS(
    "orders", "8",
    "    sensor: {kind: noisy, force_noise: 0.02, torque_noise: 0.002, bias: [0.5, -0.3, 0.2, 0.01, 0, 0]}\n"
    "    check: {push: skip}\n"
    "    safety: {force: 80}\n");

static const ff_order orders[] = {{.verb = FF_ORDER_SET, .parameter = 0, .value = 4.0},
                                  {.verb = FF_ORDER_ZERO},
                                  {.verb = FF_ORDER_SET, .parameter = 1, .value = 0.5},
                                  {.verb = FF_ORDER_SET, .parameter = 2, .value = 60.0}};
enum { ORDERS = sizeof orders / sizeof *orders };

typedef struct bench {
    ff_scenario scenario;
    ff_facility_result facility;
    ff_rt_result rt;
    atomic_bool floats;
    atomic_uint next; /* the order that is to be carried out now */
    bool waits;
    ff_log log[2];
    uint64_t first; /* cycle with another threshold than at the start */
    double start;
} bench;

static void watch(void *self, const ff_telemetry_sample *sample) {
    bench *b = self;
    if (sample->state == FF_STATE_FLOAT && sample->row.t > 0.2)
        atomic_store(&b->floats, true);
}

static bool give(void *self, ff_order *order) {
    bench *b = self;
    if (!atomic_load(&b->floats) || b->waits || b->next == ORDERS)
        return false;
    *order = orders[b->next];
    return b->waits = true;
}

static void answer(void *self, const ff_order_answer *a, const char *words) {
    bench *b = self;
    print_message("%.3f s: %s\n", a->t, words);
    b->waits = false;
    b->next += a->done ? 1 : 0; /* refused in contact: once more */
}

/* Both logs at once; in the second the threshold that was ordered is another. While orders are left it is
 * slow, and the loop in lock step waits: a busy machine gets to all of them. */
static ff_status keep(void *self, const ff_row *row) {
    bench *b = self;
    ff_row copy = *row;
    if (row->k == 0)
        b->start = row->tuned.setting[0];
    else if (!b->first && !row->final && row->tuned.setting[0] != b->start)
        b->first = row->k;
    if (b->first && !row->final)
        copy.tuned.setting[0] = 2.0;
    if (b->next < ORDERS)
        usleep(1000);
    ff_sink sink = ff_log_sink(&b->log[0]);
    const ff_status status = sink.row(sink.self, row);
    sink = ff_log_sink(&b->log[1]);
    return status ? status : sink.row(sink.self, &copy);
}

/* The trips and the operator's orders: in the first log only. */
static ff_status keep_event(void *self, double t, int code, ff_event_level level, const char *words,
                            double value, double limit) {
    bench *b = self;
    const ff_sink sink = ff_log_sink(&b->log[0]);
    return sink.event(sink.self, t, code, level, words, value, limit);
}

static ff_status keep_found(void *self, const char *const *set, int count) {
    bench *b = self;
    const ff_sink sink = ff_log_sink(&b->log[0]);
    return sink.found(sink.self, set, count);
}

/* The number of this column in a message of the list's. */
static double value_of(const ff_mcap_message *m, const ff_columns *columns, const char *what) {
    double values[256];
    uint64_t time, cycle;
    size_t n;
    const int at = ff_columns_find(columns, "body", what);
    assert_int_equal(
        ff_message_read_cycle(m->data, m->size, &time, &cycle, values, sizeof values / sizeof *values, &n),
        FF_OK);
    assert_true(at >= 0 && n == (size_t)columns->count);
    return values[at];
}

/* The log holds the reading as the sensor sent it, and what is subtracted from it, from the first cycle on:
 * the facility's bias of (0.5, -0.3, 0.2) N, each mean of at least 62 samples with 0.02 N of noise within six
 * of its deviations, each single sample within six of its own; after the order to zero another one. */
static void expect_raw_reading_and_bias(const char *path, const ff_scenario *scenario) {
    static const double bias[] = {0.5, -0.3, 0.2};
    static const char *const raw[] = {"sensor.force.x [N]", "sensor.force.y [N]", "sensor.force.z [N]"},
                             *const zero[] = {"bias.force.x [N]", "bias.force.y [N]", "bias.force.z [N]"};
    ff_columns input, tuning;
    ff_logfile file;
    char message[256] = "";
    int inputs = 0, tunings = 0;
    double first = FF_NAN, last = FF_NAN;
    assert_int_equal(ff_columns_init_input(scenario, &input), FF_OK);
    assert_int_equal(ff_columns_init_tuning(scenario, &tuning), FF_OK);
    assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
    for (bool end = false; !end;) {
        ff_mcap_message m;
        assert_int_equal(ff_mcap_reader_next(file.reader, &m, &end), FF_OK);
        const ff_mcap_channel *channel = end ? NULL : ff_mcap_reader_channel(file.reader, m.channel);
        for (int a = 0; channel && ff_mcap_text_equal(channel->topic, "/input") && inputs < 20 && a < 3; a++)
            assert_near(value_of(&m, &input, raw[a]), bias[a], 6.0 * 0.02); /* 80 ms: before the wall */
        for (int a = 0; channel && ff_mcap_text_equal(channel->topic, "/tuning") && a < 3; a++)
            assert_near(value_of(&m, &tuning, zero[a]), bias[a],
                        6.0 * 0.02 / sqrt(FF_TUNING_ZERO_TIME / 0.004));
        if (channel && ff_mcap_text_equal(channel->topic, "/input"))
            inputs++;
        if (channel && ff_mcap_text_equal(channel->topic, "/tuning")) {
            last = value_of(&m, &tuning, zero[0]);
            first = tunings++ ? first : last;
            assert_true(tunings > 1 || inputs == 0); /* before the first cycle */
        }
    }
    print_message("%d readings, %d biases, the first %.6f N, the last %.6f N along x\n", inputs, tunings,
                  first, last);
    assert_true(inputs > 1000 && tunings > 60 && first != last); /* zeroing ramps it in over 0.25 s */
    ff_columns_free(&input);
    ff_columns_free(&tuning);
    ff_logfile_close(&file);
}

static ff_replay_result replay(const char *path, int *zeroed, int *set) {
    ff_logfile file;
    ff_scenario *scenario = malloc(sizeof *scenario);
    ff_replay_result result;
    char message[256] = "";
    assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
    assert_int_equal(ff_logfile_scenario(&file, NULL, scenario, message, sizeof message), FF_OK);
    if (ff_replay(&file, scenario, &result, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    ff_mcap_reader_rewind(file.reader);
    for (bool end = false; !end;) { /* every order is an event, too */
        ff_mcap_message m;
        assert_int_equal(ff_mcap_reader_next(file.reader, &m, &end), FF_OK);
        const ff_mcap_channel *channel = end ? NULL : ff_mcap_reader_channel(file.reader, m.channel);
        if (!channel || !ff_mcap_text_equal(channel->topic, "/event"))
            continue;
        uint64_t time;
        int32_t code;
        uint8_t level;
        char words[160];
        double value, limit;
        assert_int_equal(
            ff_message_read_event(m.data, m.size, &time, &code, &level, words, sizeof words, &value, &limit),
            FF_OK);
        *zeroed += strcmp(words, "zeroed") == 0;
        *set += strstr(words, "threshold") != NULL || strstr(words, "body.limit.") != NULL;
    }
    ff_logfile_close(&file);
    free(scenario);
    return result;
}

static void test_run_with_orders_replays(void **state) {
    (void)state;
    bench *b = calloc(1, sizeof *b);
    char message[256] = "", warnings[256], path[2][64];
    const ff_scenario_options options = {0};
    assert_int_equal(ff_scenario_parse("orders", text, sizeof text - 1, &options, &b->scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    const ff_log_source source = {.path = "orders", .text = text, .length = sizeof text - 1};
    for (int n = 0; n < 2; n++) {
        snprintf(path[n], sizeof path[n], "/tmp/freefloat-orders-XXXXXX");
        const int file = mkstemp(path[n]);
        assert_true(file >= 0);
        close(file);
        assert_int_equal(ff_log_open(path[n], &b->scenario, &source, &b->log[n]), FF_OK);
    }
    sides both = {.scenario = &b->scenario,
                  .truth = &b->scenario,
                  .facility_options = {.lockstep = true},
                  .options = {.viewer = {b, watch, give, answer}},
                  .sink = {.self = b, .row = keep, .event = keep_event, .found = keep_found},
                  .facility = &b->facility,
                  .rt = &b->rt};
    run_sides(&both);
    if (b->rt.trip.code != FF_TRIP_FINISHED)
        fail_msg("%s %s", b->rt.run.message, b->facility.message);
    for (int n = 0; n < 2; n++)
        assert_int_equal(ff_log_close(&b->log[n]), FF_OK);
    assert_int_equal(b->next, ORDERS);
    assert_true(b->first > 0);

    expect_raw_reading_and_bias(path[0], &b->scenario);
    int zeroed = 0, set = 0, none = 0;
    const ff_replay_result good = replay(path[0], &zeroed, &set);
    if (good.differs)
        fail_msg("cycle %llu, %s: recorded %.17g, replayed %.17g", (unsigned long long)good.cycle,
                 good.column, good.recorded, good.replayed);
    assert_int_equal(good.cycles, b->scenario.cycles + 1);
    assert_int_equal(zeroed, 1);
    assert_int_equal(set, 3);
    const ff_replay_result bad = replay(path[1], &none, &none);
    assert_true(bad.differs && bad.cycle >= b->first);
    print_message("ordered in cycle %llu, a false order shows in cycle %llu: %s\n",
                  (unsigned long long)b->first, (unsigned long long)bad.cycle, bad.column);
    for (int n = 0; n < 2; n++)
        unlink(path[n]);
    free(b->rt.last);
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_with_orders_replays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
