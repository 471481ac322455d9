/* The log of a run: written by the sink, read back, replayed bit for bit; a changed number is found. And the
 * same as a table, CSV and MATLAB. */
#include "folder_support.h"

#include "executive/run.h"
#include "record/csv.h"
#include "record/replay.h"
#include "record/table.h"
#include "session/session.h"

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
        t->log->topics.has_tuned = false;
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

/* A log that another process cuts while it is replayed or listed ends with a line, not with a signal. */
static void test_a_log_that_shrinks_is_said(void **state) {
    (void)state;
    char path[64], message[256];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    make_log(path, scenario, UINT64_MAX);
    ff_logfile file;
    assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
    assert_int_equal(truncate(path, 5000), 0);
    ff_replay_result result;
    assert_int_equal(ff_replay(&file, scenario, &result, message, sizeof message), FF_ERR_IO);
    assert_non_null(strstr(message, "became shorter while it was read"));
    ff_logfile_close(&file);
    unlink(path);
    free(scenario);
}

/* --------------------------------------------------------------------------------------- captures -- */

static bool stop_half(void *user, double part) {
    (void)user;
    return part < 0.5;
}

/* With an arm the on-board software's answers are the log's: it is not started again. */
static void test_replay_of_a_capture(void **state) {
    (void)state;
    static const char *const set[] = {"time.duration=0.3"};
    static const char *const method[] = {"direct", "ideal"};
    char message[512], path[600];
    for (int m = 0; m < 2; m++) {
        const ff_scenario_options load = {.set = set, .sets = 1, .method = method[m]};
        ff_outcome outcome;
        ff_notes notes = {.error = ""};
        ff_session *session =
            ff_session_open(FF_SOURCE_DIR "/scenarios/envisat-capture.yaml", &load, &outcome, &notes);
        if (!session)
            fail_msg("%s", notes.error);
        const ff_session_options options = {.out = in_folder(method[m]), .mcap = true};
        assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
        snprintf(path, sizeof path, "%s/log.mcap", in_folder(method[m]));
        ff_logfile file;
        ff_scenario *scenario = malloc(sizeof *scenario);
        assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
        assert_int_equal(ff_logfile_scenario(&file, NULL, scenario, message, sizeof message), FF_OK);
        ff_replay_result result;
        if (m) { /* nothing was measured: there is nothing to repeat */
            assert_int_equal(ff_replay(&file, scenario, &result, message, sizeof message),
                             FF_ERR_UNSUPPORTED);
            assert_int_not_equal(message[0], 0);
        } else {
            assert_int_equal(ff_replay(&file, scenario, &result, message, sizeof message), FF_OK);
            if (result.differs)
                fail_msg("cycle %llu, %s", (unsigned long long)result.cycle, result.column);
            assert_int_equal(result.cycles, session->run.cycles + 1);
            file.progress = stop_half;
            assert_int_equal(ff_replay(&file, scenario, &result, message, sizeof message), FF_ERR_LIMIT);
            assert_string_equal(message, "stopped");
            ff_logfile_close(&file);
            struct stat info;
            assert_int_equal(stat(path, &info), 0);
            assert_int_equal(truncate(path, info.st_size / 2), 0); /* cut off: as far as it goes, the same */
            assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
            assert_int_equal(ff_replay(&file, scenario, &result, message, sizeof message), FF_OK);
            assert_true(result.cut && !result.differs);
            assert_true(result.cycles > 10 && result.cycles < session->run.cycles);
        }
        ff_logfile_close(&file);
        ff_session_close(session);
        free(scenario);
    }
}

/* ------------------------------------------------------------------------------------ on devices -- */

static int count_topic(const char *path, const char *topic) {
    ff_mcap_reader *reader;
    assert_int_equal(ff_mcap_reader_open(path, &reader), FF_OK);
    int n = 0;
    for (;;) {
        ff_mcap_message message;
        bool end = false;
        assert_int_equal(ff_mcap_reader_next(reader, &message, &end), FF_OK);
        if (end)
            break;
        const ff_mcap_channel *channel = ff_mcap_reader_channel(reader, message.channel);
        n += channel && ff_mcap_text_equal(channel->topic, topic);
    }
    ff_mcap_reader_close(reader);
    return n;
}

/* What only devices have: states, findings of the check, joints, clocks, events of the loop's status. */
static void test_log_of_devices(void **state) {
    (void)state;
    char message[256], warnings[256];
    static ff_scenario scenario;
    const ff_scenario_options none = {0};
    assert_int_equal(ff_scenario_parse("log", text, sizeof text - 1, &none, &scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    const ff_log_source source = {.path = "log", .text = text, .length = sizeof text - 1};
    const char *path = in_folder("devices.mcap");
    ff_log log;
    assert_int_equal(ff_log_open(path, &scenario, &source, &log), FF_OK);
    const ff_sink sink = ff_log_sink(&log);
    assert_int_equal(sink.state(sink.self, 0.0, 3, "ZEROED"), FF_OK);
    static const char *const found[] = {"satellites.body.robot.delay=0.021", "fused.skew=0.001"};
    assert_int_equal(sink.found(sink.self, found, 2), FF_OK);
    const char *many[FF_LOG_MAX_FOUND + 1];
    for (int i = 0; i <= FF_LOG_MAX_FOUND; i++)
        many[i] = found[0];
    assert_int_equal(sink.found(sink.self, many, FF_LOG_MAX_FOUND + 1), FF_ERR_SIZE);
    assert_int_equal(sink.event(sink.self, 0.0, 1, FF_EVENT_WARNING, "text", 1.0, 2.0), FF_OK);
    static ff_row row;
    static const ff_status status[] = {FF_OK, FF_OK, 1, 1, FF_ERR_LIMIT, FF_OK};
    for (int k = 0; k < 6; k++) {
        row.k = (uint64_t)k;
        row.t = 0.004 * k;
        row.status = status[k];
        row.body[0].satellite.attitude = row.body[0].command.T.q = row.body[0].robot.T.q = ff_quat_identity();
        row.body[0].device = (ff_row_device){.has_joints = k > 1, .has_clock = k > 2, .drift = 1e-5};
        row.body[0].in_contact = k == 3;
        assert_int_equal(sink.row(sink.self, &row), FF_OK);
    }
    assert_int_equal(sink.flush(sink.self), FF_OK);
    assert_int_equal(ff_log_close(&log), FF_OK);
    assert_int_equal(count_topic(path, "/cycle"), 6);
    assert_int_equal(count_topic(path, "/state"), 1);
    assert_int_equal(count_topic(path, "/event"),
                     1 + 3 + 2); /* given; status 1, fault, good again; contact */
    assert_int_equal(count_topic(path, "/joint_states"), 4);
    assert_int_equal(count_topic(path, "/clock"), 6);
    assert_int_equal(count_topic(path, "/tf_static"), 1);
    assert_int_equal(count_topic(path, "/body/clock"), 3);
    ff_logfile file; /* what the check found is applied after the overrides of the command line */
    assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
    assert_int_equal(ff_logfile_scenario(&file, NULL, &scenario, message, sizeof message), FF_OK);
    assert_near(scenario.satellite[0].robot.delay, 0.021, 0.0);
    ff_logfile_close(&file);
}

/* ---------------------------------------------------------------------------- table, CSV, MATLAB -- */

/* Whole chunks that stand there twice or in another order, each with its right checksum: rows ascend, none
 * comes twice, and it is said that something is missing. */
static void test_rows_ascend_whatever_the_order_of_chunks(void **state) {
    (void)state;
    char path[64], message[256];
    ff_scenario *scenario = malloc(sizeof *scenario);
    path_of(path);
    make_log(path, scenario, UINT64_MAX);
    FILE *file = fopen(path, "r");
    static uint8_t bytes[4 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    size_t chunk[64], end[64];
    int chunks = 0;
    for (size_t at = 8, next; at + 9 < size && chunks < 64; at = next) { /* op, length, body */
        uint64_t length = 0;
        for (int i = 7; i >= 0; i--)
            length = length << 8 | bytes[at + 1 + (size_t)i];
        next = at + 9 + (size_t)length;
        if (bytes[at] == 6 && next <= size) {
            chunk[chunks] = at;
            end[chunks++] = next;
        }
    }
    assert_true(chunks > 8);
    for (int swap = 0; swap < 2; swap++) {
        file = fopen(path, "w");
        fwrite(bytes, 1, chunk[4], file);
        if (swap) /* 5 before 4 */
            fwrite(bytes + chunk[5], 1, end[5] - chunk[5], file);
        fwrite(bytes + chunk[4], 1, end[4] - chunk[4], file);
        if (!swap) { /* 4 twice */
            fwrite(bytes + chunk[4], 1, end[4] - chunk[4], file);
            fwrite(bytes + chunk[5], 1, end[5] - chunk[5], file);
        }
        fwrite(bytes + end[5], 1, size - end[5], file);
        fclose(file);
        ff_logfile log;
        assert_int_equal(ff_logfile_open(path, &log, message, sizeof message), FF_OK);
        uint64_t k, rows = 0, next = 0, damaged = 0;
        double values[512];
        size_t n;
        for (ff_logfile_kind kind = FF_LOGFILE_CYCLE; kind != FF_LOGFILE_END;) {
            assert_int_equal(ff_logfile_next(&log, &kind, &k, values, 512, &n, &damaged), FF_OK);
            if (kind != FF_LOGFILE_CYCLE)
                continue;
            assert_true(k >= next);
            next = k + 1;
            rows++;
        }
        ff_logfile_close(&log);
        assert_int_equal(next, 501);
        assert_int_equal(damaged, 2); /* the chunk, and the checksum of all the data */
        assert_true(swap ? rows >= 501 - 26 && rows < 501 : rows == 501); /* a chunk is .1 s, 25 rows */
    }
    free(scenario);
    unlink(path);
}

static void test_a_table_that_is_none_is_refused(void **state) {
    (void)state;
    ff_log_table table;
    char message[1024];
#define EIGHT "0,1\n0.1,1\n0.2,1\n0.3,\n0.4,\n0.5,1\n0.6,1\n0.7,1\n"
    static const struct {
        const char *text, *says;
    } cases[] = {{"", "bad.csv:1: no header of a log"},
                 {"x,y\n", "bad.csv:1: no header of a log"},
                 {"t [s],a.robot.position.x [m]\n" EIGHT "0.8\n", "bad.csv:10: not 2 numbers"},
                 {"t [s],a.robot.position.x [m]\n" EIGHT "0.8,1,2\n", "bad.csv:10: not 2 numbers"},
                 {"t [s],a.robot.position.x [m]\n" EIGHT "0.8,0.01p3\n", "bad.csv:10: not 2 numbers"},
                 {"t [s],a.robot.position.x [m]\n0,1\n0.1,2\n", "2 rows, allowed: at least 8"},
                 {"t [s],a.robot.position.x [m]\n" EIGHT "0.9,1\n", "allowed: equal steps (0.1125 s)"},
                 {"t [s],a.robot.position.x [m]\n" EIGHT "x,1\n", "bad.csv:10: not 2 numbers"},
                 {"t [s],a.robot.position.x [m]\n" EIGHT ",1\n", "allowed: equal steps (nan s)"},
                 {"t [s],a.position.x [m]\n" EIGHT, "no column NAME.robot.position.x"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        *message = 0;
        assert_true(ff_log_table_read(put_file("bad.csv", cases[i].text), &table, message, sizeof message) <
                    0);
        if (!strstr(message, cases[i].says))
            fail_msg("%s: %s", cases[i].says, message);
    }
    char wide[10000] = "t [s]";
    for (int i = 0; i < 4600; i++)
        strcat(wide, ",a");
    assert_int_equal(ff_log_table_read(put_file("bad.csv", wide), &table, message, sizeof message),
                     FF_ERR_FORMAT);
    assert_int_equal(ff_log_table_read(in_folder("none.csv"), &table, message, sizeof message), FF_ERR_IO);
    assert_non_null(strstr(message, "cannot be read"));
    /* cut off in its last line: the whole ones are good; an empty field is not a number */
    const char *path = put_file(
        "good.csv", "t [s],a.robot.position.x [m],b.robot.position.x [m]\r\n0,1,2\n0.1,1,2\n0.2,1,2\n"
                    "0.3,,2\n0.4,,2\n0.5,1,2\n0.6,1,2\n0.7,1,-2.5\n0.8,1");
    assert_int_equal(ff_log_table_read(path, &table, message, sizeof message), FF_OK);
    assert_int_equal(table.rows, 8);
    assert_near(table.cycle, 0.1, 1e-12);
    assert_int_equal(table.bodies, 2);
    assert_string_equal(table.body[1], "b");
    assert_true(isnan(table.value[3 * 3 + 1]) && isnan(table.value[4 * 3 + 1]));
    assert_near(table.value[7 * 3 + 2], -2.5, 0.0);
    ff_log_table_free(&table);
}

/* Names of a log that somebody else wrote may hold anything. */
static void test_names_in_csv_are_quoted(void **state) {
    (void)state;
    char name[4][FF_COLUMN_NAME] = {"t [s]", "a,b", "say \"hi\"", "two\nlines"};
    const double values[] = {0.0, FF_NAN, -0.0, -1e-300}; /* the sign of a zero, too */
    FILE *file = fopen(in_folder("quoted.csv"), "w");
    assert_int_equal(ff_csv_write_header(file, 4, name), FF_OK);
    assert_int_equal(ff_csv_write_line(file, 4, values), FF_OK);
    fclose(file);
    char *csv = get_file(in_folder("quoted.csv"));
    assert_string_equal(csv, "t [s],\"a,b\",\"say \"\"hi\"\"\",\"two lines\"\n0,,-0,-1e-300\n");
    free(csv);
    file = fopen("/dev/full", "w");
    setvbuf(file, NULL, _IONBF, 0);
    assert_int_equal(ff_csv_write_header(file, 4, name), FF_ERR_IO);
    assert_int_equal(ff_csv_write_line(file, 4, values), FF_ERR_IO);
    fclose(file);
}

static void test_matlab_reads_every_column_back(void **state) {
    (void)state;
    enum { COLUMNS = 6, ROWS = 3 };
    char name[COLUMNS][FF_COLUMN_NAME] = {"t [s]", "a.velocity.x [m/s]", "a-velocity.x [m/s]", "1st [m]",
                                          "a [b].x"};
    memset(name[5], 'n', 100);
    strcpy(name[5] + 90, ".velocity.x [m/s]");
    static const char *const expected[COLUMNS] = {
        "t",    "a_velocity_x", "a_velocity_x_2",
        "x1st", "a__b__x",      "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn_nnnnnnnnnnnnnnnnnnnnn_velocity_x"};
    double values[COLUMNS * ROWS];
    for (int i = 0; i < COLUMNS * ROWS; i++)
        values[i] = i == 4 ? FF_NAN : exp(i) / 3.0;
    const char *path = in_folder("log.mat");
    FILE *file = fopen(path, "wb");
    assert_int_equal(ff_matlab_write(file, COLUMNS, name, values, ROWS), FF_OK);
    assert_int_equal(fclose(file), 0);
    /* as MathWorks' MAT-File Format, level 5, says: 128 bytes, then an element for each variable */
    file = fopen(path, "rb");
    char says[117] = "";
    uint16_t version[6];
    assert_int_equal(fread(says, 116, 1, file), 1);
    assert_int_equal(fread(version, sizeof version, 1, file), 1);
    assert_memory_equal(says, "MATLAB 5.0 MAT-file", 19);
    assert_int_equal(version[4], 0x0100);
    assert_int_equal(version[5], 0x4D49); /* "MI" as a number: readers see the byte order by it */
    for (int c = 0; c < COLUMNS; c++) {
        const uint32_t length = (uint32_t)strlen(expected[c]), filled = (length + 7u) & ~7u;
        uint32_t tag[12];
        char variable[64] = "";
        double read[ROWS];
        assert_int_equal(fread(tag, sizeof tag, 1, file), 1);
        assert_int_equal(fread(variable, filled, 1, file), 1);
        const uint32_t head[12] = {14, 48 + filled + sizeof read, 6, 8, 6, 0, 5, 8, ROWS, 1, 1, length};
        assert_memory_equal(tag, head, sizeof head);
        assert_string_equal(variable, expected[c]);
        assert_int_equal(fread(tag, 8, 1, file), 1);
        assert_true(tag[0] == 9 && tag[1] == sizeof read);
        assert_int_equal(fread(read, sizeof read, 1, file), 1);
        assert_memory_equal(read, values + (size_t)c * ROWS, sizeof read);
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    file = fopen("/dev/full", "wb");
    assert_int_equal(ff_matlab_write(file, COLUMNS, name, values, ROWS), FF_ERR_IO);
    assert_int_equal(ff_matlab_write(file, 1, name, values, (size_t)1 << 28), FF_ERR_IO);
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay_whole_log_same_bits),
        cmocka_unit_test(test_replay_changed_bit_names_cycle_and_column),
        cmocka_unit_test(test_replay_cut_log_loses_at_most_a_tenth),
        cmocka_unit_test(test_replay_of_another_format_is_refused),
        cmocka_unit_test(test_a_log_that_shrinks_is_said),
        cmocka_unit_test(test_replay_applies_orders),
        cmocka_unit_test(test_replay_finds_damaged_orders),
        cmocka_unit_test(test_replay_of_a_capture),
        cmocka_unit_test(test_log_of_devices),
        cmocka_unit_test(test_rows_ascend_whatever_the_order_of_chunks),
        cmocka_unit_test(test_a_table_that_is_none_is_refused),
        cmocka_unit_test(test_names_in_csv_are_quoted),
        cmocka_unit_test(test_matlab_reads_every_column_back),
    };
    return test_ended(cmocka_run_group_tests(tests, make_folder, remove_folder));
}
