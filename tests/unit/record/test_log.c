/* The log of a run: written by the sink, read back, replayed bit for bit; a changed number is found. */
#include "support.h"

#include "record/replay.h"
#include "executive/run.h"

#include <unistd.h>

static const char text[] =
    "name: log\n"
    "time: {cycle: 0.004, duration: 2}\n"
    "method: tdpa\n"
    "satellites:\n"
    "  body:\n"
    "    mass: 20\n"
    "    inertia: [2, 2, 2]\n"
    "    velocity: [0.05, 0.01, 0]\n"
    "    angular_velocity: [0.1, 0.2, 0.3]\n"
    "    robot: {kind: delay, delay: 0.02}\n"
    "    sensor: {kind: noisy, force_noise: 0.1, torque_noise: 0.01}\n"
    "contacts:\n"
    "  - {name: right, kind: wall, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 2000}\n"
    "loads:\n"
    "  - {force: [0.3, 0, 0], from: 0.5, to: 1}\n";

typedef struct tamper {
    ff_log *log;
    uint64_t cycle; /* whose command is changed in its last bit */
} tamper;

static ff_status tampered_row(void *self, const ff_row *row) {
    const tamper *t = self;
    ff_row copy = *row;
    if (row->k == t->cycle)
        copy.body[0].command.T.p.y = nextafter(copy.body[0].command.T.p.y, 1.0);
    const ff_sink sink = ff_log_sink(t->log);
    return sink.row(sink.self, &copy);
}

static void make_log(const char *path, ff_scenario *scenario, uint64_t cycle) {
    char message[256], warnings[256];
    const char *const set[] = {"satellites.body.mass=30"};
    const ff_scenario_options options = {.set = set, .sets = 1, .method = "direct"};
    assert_int_equal(ff_scenario_parse("log", text, sizeof text - 1, &options, scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    const ff_log_source source = {
        .path = "log", .text = text, .length = sizeof text - 1, .set = set, .sets = 1, .method = "direct"};
    ff_log log;
    assert_int_equal(ff_log_open(path, scenario, &source, &log), FF_OK);
    tamper t = {&log, cycle};
    const ff_sink sink = {.self = &t, .row = tampered_row};
    const ff_run_options run = {.sinks = &sink, .count = 1};
    ff_run_result result;
    ff_run(scenario, &run, &result);
    assert_int_equal(result.status, FF_OK);
    assert_int_equal(ff_log_close(&log), FF_OK);
}

static ff_replay_result replay(const char *path) {
    ff_logfile file;
    ff_scenario *scenario = malloc(sizeof *scenario);
    ff_replay_result result;
    char message[256] = "";
    assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
    assert_int_equal(ff_logfile_scenario(&file, NULL, scenario, message, sizeof message), FF_OK);
    assert_near(scenario->satellite[0].rigid.mass, 30.0, 0.0); /* the override came along */
    assert_int_equal(scenario->method == &ff_method_direct, true);
    assert_int_equal(ff_replay(&file, scenario, &result, message, sizeof message), FF_OK);
    ff_logfile_close(&file);
    free(scenario);
    return result;
}

static void path_of(char path[64]) {
    snprintf(path, 64, "/tmp/freefloat-log-XXXXXX");
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
}

static void test_replay_whole_log_same_bits(void **state) {
    (void)state;
    char path[64];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    make_log(path, scenario, UINT64_MAX);
    const ff_replay_result result = replay(path);
    if (result.differs)
        fail_msg("cycle %llu, %s: recorded %.17g, replayed %.17g", (unsigned long long)result.cycle,
                 result.column, result.recorded, result.replayed);
    assert_false(result.cut);
    assert_int_equal(result.cycles, 501); /* every cycle and the final row */
    unlink(path);
    free(scenario);
}

static void test_replay_changed_bit_names_cycle_and_column(void **state) {
    (void)state;
    char path[64];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    make_log(path, scenario, 217);
    const ff_replay_result result = replay(path);
    assert_true(result.differs);
    assert_int_equal(result.cycle, 217);
    assert_string_equal(result.column, "body.command.position.y [m]");
    assert_true(result.recorded > result.replayed);
    unlink(path);
    free(scenario);
}

/* Cut anywhere: all but the last 0.1 s can be replayed. */
static void test_replay_cut_log_loses_at_most_a_tenth(void **state) {
    (void)state;
    char path[64];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    make_log(path, scenario, UINT64_MAX);
    FILE *file = fopen(path, "r");
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    uint64_t last = 0;
    for (long cut = size - 2000; cut > size / 2; cut -= size / 200) {
        assert_int_equal(truncate(path, cut), 0);
        const ff_replay_result result = replay(path);
        assert_true(result.cut);
        assert_false(result.differs);
        /* the next chunk back holds at most 0.1 s, 25 cycles */
        assert_true(last == 0 || (result.cycles <= last && result.cycles + 25 >= last));
        last = result.cycles;
    }
    unlink(path);
    free(scenario);
}

/* ------------------------------------------------------------------------------------------------ orders --
 */

enum { KEPT, BIAS_BIT, THRESHOLD, ORDERS_LOST, MOVED, IMPOSSIBLE };

typedef struct tuner {
    ff_log *log;
    int damage;
    ff_tuned tuned;
} tuner;

/* As the live page does it: thresholds and bias of the model between two cycles. */
static bool tune(void *self, const ff_run_access *access) {
    (void)self;
    ff_loop_model *model = access->model;
    ff_settings setting = model->config.setting;
    ff_wrench *bias = &access->model->config.body[0].wrench.bias_s;
    if (access->k == 20 || access->k == 200) {
        const bool force = access->k == 20;
        assert_int_equal(ff_settings_set(model->config.method, &setting,
                                         force ? "threshold" : "torque_threshold", force ? 6.0 : 3.0),
                         FF_OK);
        assert_int_equal(ff_loop_update(model, &model->config.world, &setting), FF_OK);
    }
    if (access->k >= 40 && access->k < 60)
        bias->f.y += 0.01;
    return true;
}

static ff_status tuned_row(void *self, const ff_row *row) {
    tuner *t = self;
    ff_row copy = *row;
    if (t->damage == BIAS_BIT && row->k == 50)
        copy.tuned.bias_s[0].f.y = nextafter(copy.tuned.bias_s[0].f.y, 1.0);
    if (t->damage == THRESHOLD && row->k >= 20)
        copy.tuned.setting[0] = 3.0;
    if (t->damage == ORDERS_LOST && row->k > 0)
        copy.tuned = t->tuned;
    if (t->damage == IMPOSSIBLE && row->k >= 20)
        copy.tuned.setting[0] = -1.0;
    t->tuned = row->k == 0 ? copy.tuned : t->tuned;
    const ff_sink sink = ff_log_sink(t->log);
    if (t->damage == MOVED && row->k == 20) { /* the order's message says another cycle than the row's */
        t->log->has_tuned = false;
        copy.k = 21;
    }
    return sink.row(sink.self, &copy);
}

static ff_status replay_tuned(int damage, ff_replay_result *result, char *message, size_t size) {
    char path[64], warnings[256];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    const ff_scenario_options options = {0};
    assert_int_equal(
        ff_scenario_parse("log", text, sizeof text - 1, &options, scenario, message, size, warnings, 256),
        FF_OK);
    const ff_log_source source = {.path = "log", .text = text, .length = sizeof text - 1};
    ff_log log;
    assert_int_equal(ff_log_open(path, scenario, &source, &log), FF_OK);
    tuner t = {&log, damage, {0}};
    const ff_sink sink = {.self = &t, .row = tuned_row};
    const ff_run_options run = {.sinks = &sink, .count = 1, .between = tune};
    ff_run_result done;
    ff_run(scenario, &run, &done);
    assert_int_equal(done.status, FF_OK);
    assert_int_equal(ff_log_close(&log), FF_OK);
    ff_logfile file;
    assert_int_equal(ff_logfile_open(path, &file, message, size), FF_OK);
    assert_int_equal(ff_logfile_scenario(&file, NULL, scenario, message, size), FF_OK);
    const ff_status status = ff_replay(&file, scenario, result, message, size);
    ff_logfile_close(&file);
    unlink(path);
    free(scenario);
    return status;
}

/* A run whose thresholds and bias were changed during it: the log knows it. */
static void test_replay_applies_orders(void **state) {
    (void)state;
    char message[256];
    ff_replay_result r;
    assert_int_equal(replay_tuned(KEPT, &r, message, sizeof message), FF_OK);
    if (r.differs)
        fail_msg("cycle %llu, %s: recorded %.17g, replayed %.17g", (unsigned long long)r.cycle, r.column,
                 r.recorded, r.replayed);
    assert_int_equal(r.cycles, 501);
}

static void test_replay_finds_damaged_orders(void **state) {
    (void)state;
    char message[256];
    ff_replay_result r;
    /* a bias moves the measured force in its own cycle */
    assert_int_equal(replay_tuned(BIAS_BIT, &r, message, sizeof message), FF_OK);
    assert_true(r.differs && r.cycle == 50);
    /* a threshold shows when a force lies between it and the true one */
    assert_int_equal(replay_tuned(THRESHOLD, &r, message, sizeof message), FF_OK);
    assert_true(r.differs && r.cycle > 20);
    print_message("another threshold: cycle %llu, %s\n", (unsigned long long)r.cycle, r.column);
    assert_int_equal(replay_tuned(ORDERS_LOST, &r, message, sizeof message), FF_OK);
    assert_true(r.differs && r.cycle >= 20 && r.cycle <= 40);
    assert_int_equal(replay_tuned(MOVED, &r, message, sizeof message), FF_ERR_FORMAT);
    assert_int_equal(replay_tuned(IMPOSSIBLE, &r, message, sizeof message), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "an order in the log"));
}

/* A log of before says which version replays it; one of a later program, too. */
static void test_replay_of_another_format_is_refused(void **state) {
    (void)state;
    char path[64], message[256], expected[64];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    make_log(path, scenario, UINT64_MAX);
    for (char format = '0'; format <= '9'; format++) {
        FILE *f = fopen(path, "r+b");
        assert_non_null(f);
        static char
            bytes[4096]; /* the metadata stands at the beginning of the file, and once more at its end */
        static const char key[] = "\6\0\0\0format\1\0\0";
        int patched = 0;
        for (size_t at = 0, n; (n = fread(bytes, 1, sizeof bytes, f)) > sizeof key; at += n - sizeof key) {
            for (size_t i = 0; i + sizeof key < n; i++)
                if (memcmp(bytes + i, key, sizeof key) == 0) {
                    fseek(f, (long)(at + i + sizeof key), SEEK_SET);
                    fputc(format, f);
                    patched++;
                }
            fseek(f, (long)(at + n - sizeof key), SEEK_SET);
        }
        fclose(f);
        assert_int_equal(patched, 1);
        ff_logfile file;
        assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
        assert_int_equal(file.format, format - '0');
        if (format - '0' == FF_LOG_FORMAT) {
            assert_int_equal(ff_replay_check(&file, message, sizeof message), FF_OK);
        } else {
            assert_int_equal(ff_replay_check(&file, message, sizeof message), FF_ERR_UNSUPPORTED);
            snprintf(expected, sizeof expected, "replay it with version %s", FF_VERSION);
            assert_non_null(strstr(message, expected));
        }
        ff_logfile_close(&file);
    }
    unlink(path);
    free(scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay_whole_log_same_bits),
        cmocka_unit_test(test_replay_changed_bit_names_cycle_and_column),
        cmocka_unit_test(test_replay_cut_log_loses_at_most_a_tenth),
        cmocka_unit_test(test_replay_of_another_format_is_refused),
        cmocka_unit_test(test_replay_applies_orders),
        cmocka_unit_test(test_replay_finds_damaged_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
