/* Memory that runs out while a log is read: as a table for the fits, for a replay, for the live page; in the
 * fits themselves; and before the live page is served. */
#include "fit/log.h"
#include "folder_support.h"
#include "live/control.h"
#include "live/recording.h"
#include "memory_support.h"
#include "record/replay.h"
#include "record/table.h"
#include "session/session.h"

static char message[1024];
static char csv[128], mcap[128];

/* A run that touches a wall: log.csv and log.mcap. */
static int record(void **state) {
    if (make_folder(state) != 0)
        return -1;
    ff_outcome outcome;
    ff_notes notes = {.error = ""};
    const char *set[] = {"time.duration=2.4", "satellites.body.robot.delay=0.012",
                         "facility={gravity: [0, 0, -9.81]}",
                         "satellites.body.mockup={mass: 3, com: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1]}",
                         "satellites.body.angular_velocity=[0.2, 0.1, 0]"};
    const ff_scenario_options load = {.set = set, .sets = 5};
    char out[96];
    snprintf(out, sizeof out, "%s/run", test_folder);
    ff_session *session = ff_session_open(FF_SOURCE_DIR "/scenarios/wall.yaml", &load, &outcome, &notes);
    const ff_session_options options = {.out = out, .csv = true, .mcap = true};
    const bool good = session && ff_session_execute(session, &options, &notes) == FF_DONE;
    ff_session_close(session);
    if (!good)
        print_message("%s", notes.error);
    snprintf(csv, sizeof csv, "%s/log.csv", out);
    snprintf(mcap, sizeof mcap, "%s/log.mcap", out);
    return good ? 0 : -1;
}

static bool say(ff_status status, const char **text) {
    if (status != FF_OK && !*message)
        snprintf(message, sizeof message, "%s", ff_status_text(status));
    *text = message;
    return status == FF_OK;
}

static bool read_table(void *path, const char **text) {
    ff_log_table table;
    message[0] = 0;
    const ff_status status = ff_log_table_read(path, &table, message, sizeof message);
    if (status == FF_OK)
        ff_log_table_free(&table);
    return say(status, text);
}

static void test_a_table(void **state) {
    (void)state;
    assert_true(memory_sweep(read_table, csv) > 1);
    assert_true(memory_sweep(read_table, mcap) > 5);
}

static bool replay(void *path, const char **text) {
    static ff_scenario scenario;
    ff_replay_result result;
    ff_logfile file;
    message[0] = 0;
    ff_status status = ff_logfile_open(path, &file, message, sizeof message);
    if (status == FF_OK) {
        status = ff_logfile_scenario(&file, NULL, &scenario, message, sizeof message);
        if (status == FF_OK)
            status = ff_replay(&file, &scenario, &result, message, sizeof message);
        ff_logfile_close(&file);
    }
    if (status == FF_OK) {
        assert_false(result.differs);
        assert_int_equal(result.cycles, 601);
    }
    return say(status, text);
}

static void test_a_replay(void **state) {
    (void)state;
    assert_true(memory_sweep(replay, mcap) > 10);
}

static bool recording(void *path, const char **text) {
    ff_recording r;
    message[0] = 0;
    const ff_status status = ff_recording_open(&r, path, message, sizeof message);
    if (status == FF_OK) {
        assert_int_equal(r.rows, 601);
        ff_recording_close(&r);
    }
    return say(status, text);
}

static void test_a_recording(void **state) {
    (void)state;
    assert_true(memory_sweep(recording, csv) > 2);
    assert_true(memory_sweep(recording, mcap) > 5);
}

static bool page(void *scenario, const char **text) {
    static ff_live_control control;
    message[0] = 0;
    const ff_status status =
        ff_live_control_start(&control, scenario, &(ff_live_doors){.page = "127.0.0.1:0", .control = true},
                              message, sizeof message);
    if (status == FF_OK)
        ff_live_control_stop(&control);
    return say(status, text);
}

static void test_a_live_page(void **state) {
    (void)state;
#ifdef FF_HAVE_WEBSOCKETS
    static ff_scenario scenario;
    char warnings[1024];
    assert_int_equal(ff_scenario_load(FF_SOURCE_DIR "/scenarios/wall.yaml", NULL, &scenario, message,
                                      sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_true(memory_sweep(page, &scenario) > 10);
#else
    (void)page;
    test_skip("built without libwebsockets");
#endif
}

static bool play(void *recording_open, const char **text) {
    ff_player p;
    message[0] = 0;
    const ff_status status = ff_player_init(&p, NULL, recording_open);
    if (status == FF_OK)
        ff_player_free(&p);
    return say(status, text);
}

static void test_a_player(void **state) {
    (void)state;
    ff_recording r;
    assert_int_equal(ff_recording_open(&r, mcap, message, sizeof message), FF_OK);
    double row[600];
    assert_true(r.columns < 600);
    ff_recording_row(&r, 600, row);
    assert_near(row[0], 2.4, 1e-12);
    assert_int_equal(ff_recording_at(&r, 1.2), 300);
    assert_int_equal(memory_sweep(play, &r), 1);
    ff_recording_close(&r);
}

static ff_log_table table;

static bool delay(void *user, const char **text) {
    (void)user;
    ff_log_delay d;
    message[0] = 0;
    const ff_status status = ff_log_identify_delay(&table, 0, 0.1, &d, message, sizeof message);
    if (status == FF_OK)
        assert_near(d.delay.value, 0.012, 2e-4);
    return say(status, text);
}

static bool contact(void *user, const char **text) {
    (void)user;
    ff_log_contact c;
    message[0] = 0;
    const ff_status status = ff_log_identify_contact(&table, 0, 0.0, &c, message, sizeof message);
    if (status == FF_OK)
        assert_int_equal(c.contacts, 1);
    return say(status, text);
}

static bool payload(void *user, const char **text) {
    (void)user;
    ff_log_payload p;
    message[0] = 0;
    const ff_status status = ff_log_identify_payload(&table, 0, ff_vec3_make(0, 0, -9.81), ff_pose_identity(),
                                                     &p, message, sizeof message);
    if (status == FF_OK)
        assert_near(p.mass.value, 3.0, 0.015);
    return say(status, text);
}

static void test_the_fits(void **state) {
    (void)state;
    assert_int_equal(ff_log_table_read(csv, &table, message, sizeof message), FF_OK);
    assert_true(memory_sweep(delay, NULL) > 1);
    assert_true(memory_sweep(contact, NULL) > 0);
    assert_true(memory_sweep(payload, NULL) > 0);
    ff_log_table_free(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table),     cmocka_unit_test(test_a_replay),
        cmocka_unit_test(test_a_recording), cmocka_unit_test(test_the_fits),
        cmocka_unit_test(test_a_live_page), cmocka_unit_test(test_a_player),
    };
    return cmocka_run_group_tests(tests, record, remove_folder);
}
