/* A session without a terminal: rows and summary of a run whose truth is known, every outcome with its line,
 * and what stands in the folder afterwards. */
#include "session/session.h"

#include "session/identify.h"
#include "session/inertia_ratio.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "folder_support.h"
#include "record/logfile.h"
#include "report/geometry.h"
#include "runs/runs.h"

static ff_notes notes;

/* No contact, no load: x = v t, and the run repeats it. */
static const char free_flight[] = "name: drift\n"
                                  "time: {cycle: 0.01, duration: 2}\n"
                                  "method: direct\n"
                                  "satellites:\n"
                                  "  body: {mass: 100, inertia: [10, 10, 10], velocity: [0.25, 0, -0.5]}\n";

static ff_session *open_text(const char *text, const char *method) {
    const char *path = put_file("s.yaml", text);
    const ff_scenario_options options = {.method = method};
    ff_outcome outcome;
    ff_notes_clear(&notes);
    ff_session *session = ff_session_open(path, &options, &outcome, &notes);
    if (!session)
        fail_msg("%s", notes.error);
    assert_int_equal(outcome, FF_DONE);
    return session;
}

typedef struct rows {
    uint64_t count, stop;
    double last_x, last_t;
} rows;

static ff_status take_row(void *self, const ff_row *row) {
    rows *r = self;
    r->count++;
    r->last_t = row->t;
    r->last_x = row->body[0].satellite.position.x;
    return FF_OK;
}

static bool has(const char *path) {
    return access(path, F_OK) == 0;
}

static void test_without_a_folder_rows_and_summary_are_all(void **state) {
    (void)state;
    ff_session *session = open_text(free_flight, NULL);
    rows seen = {0};
    const ff_session_options options = {.extra = {.self = &seen, .row = take_row}, .csv = true, .mcap = true};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
    assert_string_equal(notes.error, "");
    assert_int_equal(seen.count, 201); /* a row for each cycle, and the end */
    assert_near(seen.last_t, 2.0, 1e-12);
    assert_near(seen.last_x, 0.5, 1e-12); /* 0.25 m/s for 2 s */
    assert_int_equal(session->run.cycles, 200);
    assert_true(session->metrics.pass);
    assert_near(session->metrics.body[0].final.position.z, -1.0, 1e-12);
    assert_near(session->metrics.body[0].error_position, 0.0, 1e-9);
    assert_non_null(strstr(session->summary, "\"verdict\": \"pass\""));
    assert_string_equal(session->label, "direct");
    assert_false(has(in_folder("log.csv"))); /* nothing is written without a folder */
    ff_session_close(session);
}

static void test_the_folder_holds_what_was_asked_for(void **state) {
    (void)state;
    ff_session *session = open_text(free_flight, "ideal");
    const char *out = in_folder("deep/er");
    const ff_session_options options = {.out = out, .csv = true, .mcap = true};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
    const ff_session *const all[] = {session, session};
    assert_int_equal(ff_session_report(all, 1, out, &notes), FF_DONE);
    assert_string_equal(notes.error, "");
    char *summary = get_file(in_folder("deep/er/summary.json")),
         *csv = get_file(in_folder("deep/er/log.csv"));
    assert_non_null(summary);
    assert_non_null(csv);
    assert_string_equal(summary, session->summary);
    assert_int_equal(count_lines(csv), 202); /* head, 200 cycles, the end */
    assert_true(has(in_folder("deep/er/log.mcap")));
    char *page = get_file(in_folder("deep/er/report.html"));
    assert_non_null(page);
    assert_non_null(strstr(page, "drift, ideal"));
    free(page);
    assert_int_equal(ff_session_report(all, 2, out, &notes), FF_DONE);
    page = get_file(in_folder("deep/er/report.html"));
    assert_non_null(page);
    assert_non_null(strstr(page, "drift, 2 methods"));
    free(page);
    free(csv);
    free(summary);
    ff_session_close(session);
}

static void test_a_bad_scenario_is_refused_with_its_place(void **state) {
    (void)state;
    ff_outcome outcome = FF_DONE;
    ff_notes_clear(&notes);
    assert_null(ff_session_open(in_folder("nowhere.yaml"), NULL, &outcome, &notes));
    assert_int_equal(outcome, FF_REFUSED);
    assert_line(notes.error, "nowhere.yaml");
    ff_notes_clear(&notes);
    const char *path = put_file("bad.yaml", "name: x\ntime: {cycle: -1, duration: 1}\n"
                                            "satellites: {a: {mass: 1, inertia: [1, 1, 1]}}\n");
    assert_null(ff_session_open(path, NULL, &outcome, &notes));
    assert_int_equal(outcome, FF_REFUSED);
    assert_line(notes.error, "bad.yaml:2:");
    ff_session_close(NULL);
}

static void test_what_cannot_be_written_is_named(void **state) {
    (void)state;
    static const struct {
        const char *blocked; /* a folder of that name stands in the place of the file */
        ff_outcome outcome;
    } cases[] = {{"log.csv", FF_FAILED}, {"log.mcap", FF_REFUSED}, {"summary.json", FF_FAILED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        snprintf(name, sizeof name, "blocked%zu", i);
        const char *out = put_folder(name);
        snprintf(name, sizeof name, "blocked%zu/%s", i, cases[i].blocked);
        put_folder(name);
        strcat(name, "/x"); /* a folder that is not empty is not replaced */
        put_folder(name);
        ff_session *session = open_text(free_flight, NULL);
        const ff_session_options options = {.out = out, .csv = true, .mcap = true};
        assert_int_equal(ff_session_execute(session, &options, &notes), cases[i].outcome);
        assert_line(notes.error, cases[i].blocked);
        snprintf(name, sizeof name, "blocked%zu/.log.csv.part", i);
        assert_false(has(in_folder(name)));  /* nothing half written is left */
        if (cases[i].outcome == FF_FAILED) { /* the judgement is there all the same */
            assert_non_null(session->summary);
            assert_true(session->metrics.pass);
        }
        ff_session_close(session);
    }
    ff_session *session = open_text(free_flight, NULL);
    const ff_session_options options = {.out = put_file("plain", "")};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_REFUSED);
    assert_line(notes.error, "--out");
    ff_notes_clear(&notes);
    const ff_session *const all[] = {session};
    session->summary = strdup("{}");
    put_folder("page");
    put_folder("page/report.html");
    put_folder("page/report.html/x");
    assert_int_equal(ff_session_report(all, 1, in_folder("page"), &notes), FF_FAILED);
    assert_line(notes.error, "report.html");
    ff_session_close(session);
}

/* The disk is full in the middle of the run: files may not grow beyond 40 kB. */
static void test_a_full_disk_fails_the_run_and_says_which_log(void **state) {
    (void)state;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 40000;
    signal(SIGXFSZ, SIG_IGN);
    for (int mcap = 0; mcap < 2; mcap++) {
        ff_session *session = open_text(free_flight, NULL);
        const char *out = in_folder(mcap ? "full-mcap" : "full-csv");
        const ff_session_options options = {.out = out, .csv = !mcap, .mcap = mcap != 0};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const ff_outcome outcome = ff_session_execute(session, &options, &notes);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(outcome, FF_FAILED);
        assert_line(notes.error, mcap ? "log.mcap: cannot be written" : "log.csv: cannot be written");
        assert_non_null(strstr(notes.error, strerror(EFBIG)));
        assert_non_null(session->summary);
        ff_session_close(session);
    }
    /* the rows before are there: as many bytes as the disk took, from the first column on */
    char *text = get_file(in_folder("full-csv/log.csv"));
    assert_true(text && strlen(text) == 40000 && strncmp(text, "t [s],", 6) == 0);
    free(text);
    /* a disk that takes nothing is no mistake of the caller's: not even a log can be begun */
    ff_session *session = open_text(free_flight, NULL);
    const ff_session_options options = {.out = in_folder("full-begin"), .mcap = true};
    small.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const ff_outcome outcome = ff_session_execute(session, &options, &notes);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(outcome, FF_FAILED);
    ff_session_close(session);
}

static ff_status runner_status;

static void play(void *self, const ff_scenario *scenario, const ff_run_options *options,
                 ff_run_result *result) {
    (void)scenario;
    assert_non_null(options->ideal);
    assert_int_equal(options->count, 3); /* metrics, what happened and the report's collector */
    *result = (ff_run_result){.status = runner_status};
    snprintf(result->message, sizeof result->message, "%s", (const char *)self);
}

static char *add_key(void *self, char *summary) {
    (void)self;
    char *text = NULL;
    assert_true(asprintf(&text, "%s//added\n", summary) > 0);
    free(summary);
    return text;
}

static void test_another_runner_fails_or_refuses(void **state) {
    (void)state;
    char words[] = "the robot fell silent";
    const ff_session_options options = {
        .out = in_folder("runner"), .runner = play, .runner_self = words, .extend = add_key};
    runner_status = FF_ERR_DEVICE;
    ff_session *session = open_text(free_flight, NULL);
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_FAILED);
    assert_string_equal(notes.error, "drift: the run failed: the robot fell silent\n");
    assert_false(session->metrics.pass);
    assert_non_null(strstr(session->summary, "\"verdict\": \"fail\""));
    assert_non_null(strstr(session->summary, "//added"));
    ff_session_close(session);
    runner_status = FF_ERR_UNSUPPORTED;
    session = open_text(free_flight, NULL);
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_REFUSED);
    assert_string_equal(notes.error, "drift: the robot fell silent\n");
    assert_null(session->summary);
    ff_session_close(session);
}

static int phases;
static double phase_cycles;

static void next_phase(void *user, double from, double to, double amount, const char *unit) {
    (void)user, (void)unit;
    assert_true(from < to && to <= 1.0);
    phases++;
    phase_cycles = amount;
}

static bool stop_in_the_run(void *user, double part) {
    (void)user;
    assert_true(part >= 0.0 && part <= 1.0);
    return phases < 2;
}

static void test_progress_ends_the_run(void **state) {
    (void)state;
    ff_session *session = open_text(free_flight, NULL);
    phases = 0;
    const ff_session_options options = {.phase = next_phase, .progress = stop_in_the_run};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_FAILED);
    assert_int_equal(phases, 2);
    assert_near(phase_cycles, 200.0, 0.0);
    assert_true(session->run.cycles < 200);
    assert_line(notes.error, "drift: the run failed");
    assert_non_null(strstr(session->summary, "\"verdict\": \"fail\""));
    ff_session_close(session);
}

static bool stop_at_once(void *user, double part) {
    (void)user, (void)part;
    return false;
}

static void test_without_a_reference_there_is_no_run_but_a_summary(void **state) {
    (void)state;
    ff_session *session = open_text(free_flight, NULL);
    const char *out = in_folder("no-reference");
    const ff_session_options options = {.out = out, .csv = true, .progress = stop_at_once};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_FAILED);
    assert_line(notes.error, "the ideal reference: stopped at t = ");
    assert_int_equal(session->run.cycles, 0);
    assert_true(has(in_folder("no-reference/summary.json")));
    assert_false(has(in_folder("no-reference/log.csv")));
    assert_non_null(strstr(session->summary, "\"verdict\": \"fail\""));
    ff_session_close(session);
}

static void test_an_emulation_is_judged_against_its_target(void **state) {
    (void)state;
    ff_outcome outcome;
    ff_notes_clear(&notes);
    const char *set[] = {"time.duration=0.6"};
    const ff_scenario_options load = {.set = set, .sets = 1};
    ff_session *session =
        ff_session_open(FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml", &load, &outcome, &notes);
    assert_non_null(session);
    const ff_session_options options = {.out = in_folder("emulation"), .csv = true, .mcap = true};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
    assert_line(notes.error, "has no log.mcap");
    assert_string_equal(session->label, "emulation");
    assert_near(session->emulation.contact_s, 0.3949, 5e-5); /* aghili, appendix E */
    char *csv = get_file(in_folder("emulation/log.csv"));
    assert_non_null(csv);
    assert_int_equal(count_lines(csv), (int)session->emulation.samples + 1);
    free(csv);
    assert_int_equal(ff_report_series_rows(session->report.series), session->emulation.samples);
    ff_session_close(session);

    session =
        ff_session_open(FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml", &load, &outcome, &notes);
    assert_non_null(session);
    put_folder("emulation-blocked");
    put_folder("emulation-blocked/log.csv");
    put_folder("emulation-blocked/log.csv/x");
    put_folder("emulation-blocked/summary.json");
    put_folder("emulation-blocked/summary.json/x");
    const ff_session_options blocked = {.out = in_folder("emulation-blocked"), .csv = true};
    ff_notes_clear(&notes);
    assert_int_equal(ff_session_execute(session, &blocked, &notes), FF_FAILED);
    assert_int_equal(count_lines(notes.error), 2);
    assert_non_null(strstr(notes.error, "log.csv: cannot be written"));
    assert_non_null(strstr(notes.error, "summary.json: cannot be written"));
    const ff_session_options file = {.out = put_file("plain2", "")};
    ff_notes_clear(&notes);
    assert_int_equal(ff_session_execute(session, &file, &notes), FF_REFUSED);
    assert_line(notes.error, "plain2");
    ff_session_close(session);
    /* sampled far too slowly it diverges: the summary says so, and gives no figure for what has none */
    static const char *const slow[] = {"time.duration=3", "time.cycle=0.1", "emulation.controller=sampled",
                                       "emulation.scheme=free",
                                       "emulation.gains={velocity: 200, position: 10000}"};
    const ff_scenario_options diverges = {.set = slow, .sets = 5};
    ff_notes_clear(&notes);
    session = ff_session_open(FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml", &diverges, &outcome,
                              &notes);
    assert_non_null(session);
    const ff_session_options none = {0};
    assert_int_equal(ff_session_execute(session, &none, &notes), FF_FAILED);
    assert_line(notes.error, "the motion diverged");
    assert_string_equal(ff_session_scheme(session), "free");
    assert_string_equal(ff_session_controller(session), "sampled");
    assert_non_null(strstr(session->summary, "\"verdict\": \"fail\""));
    assert_non_null(strstr(session->summary, "\"pose_error_rad\": null"));
    ff_session_close(session);
}

/* Nothing can be said of a gripper before the run; after it, one line for each contact that it did not make.
 */
static void test_a_gripper_that_touches_nothing_is_said(void **state) {
    (void)state;
    static const char *const set[] = {"time.duration=0.2",
                                      "contacts=[{name: grip, kind: grasp, body: servicer, against: client, "
                                      "at: [-2.9, 0, 0], closes: 32.6, "
                                      "stiffness: 2000, rotation_stiffness: 200}, {name: plane, kind: pair, "
                                      "body: servicer, against: client, "
                                      "at: [-2.9, 0, 0], normal: [-1, 0, 0], stiffness: 100}]",
                                      "contacts.grip.closes=0.1", "contacts.grip.reach=0.001"};
    static const char *const says[] = {"closes at 32.6 s, the run ended at 0.2 s", "reach of 0.001 m"};
    for (int near = 0; near < 2; near++) {
        const ff_scenario_options options = {.set = set, .sets = near ? 4 : 2};
        const ff_session_options none = {0};
        ff_outcome outcome;
        ff_notes_clear(&notes);
        ff_session *session =
            ff_session_open(FF_SOURCE_DIR "/scenarios/envisat-capture.yaml", &options, &outcome, &notes);
        if (!session)
            fail_msg("%s", notes.error);
        assert_int_equal(ff_session_execute(session, &none, &notes), FF_DONE);
        assert_non_null(strstr(notes.warning, "contact 'grip' was not made"));
        assert_non_null(strstr(notes.warning, says[near]));
        assert_non_null(strstr(notes.warning, "contact 'plane' was not touched until the end at 0.2 s"));
        ff_session_close(session);
    }
}

/* An arm in the place of another: its log has the task's coordinates, its Q is a matrix, and both stay
 * together. */
static void test_an_arm_emulates_another(void **state) {
    (void)state;
    const char *const path = FF_SOURCE_DIR "/scenarios/planar-arm-emulation.yaml";
    const char *set[] = {"time.duration=0.05"};
    const ff_scenario_options load = {.set = set, .sets = 1};
    ff_outcome outcome;
    ff_notes_clear(&notes);
    ff_session *session = ff_session_open(path, &load, &outcome, &notes);
    if (!session)
        fail_msg("%s", notes.error);
    const ff_session_options options = {.out = in_folder("arms"), .csv = true};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
    assert_string_equal(ff_session_scheme(session), "constrained");
    assert_string_equal(ff_session_controller(session), "continuous");
    char *csv = get_file(in_folder("arms/log.csv"));
    assert_non_null(csv);
    assert_int_equal(count_lines(csv), (int)session->emulation.samples + 1);
    assert_memory_equal(csv, "t_s,robot.task1,robot.task2,direct.task1,direct.task2,", 54);
    free(csv);
    assert_int_equal(ff_report_series_rows(session->report.series), session->emulation.samples);
    double Q[36], of_summary[4];
    size_t n;
    char message[512];
    assert_int_equal(ff_inertia_ratio_read(path, &n, Q, message, sizeof message), FF_OK);
    assert_int_equal(n, 2);
    const char *at = strstr(session->summary, "\"inertia_ratio\": [");
    assert_non_null(at);
    at += strlen("\"inertia_ratio\": [");
    for (int i = 0; i < 4; i++) {
        char *end;
        of_summary[i] = strtod(at, &end);
        at = end + 1;
        assert_near(Q[i], of_summary[i], 1e-12 * fabs(Q[i]));
    }
    assert_true(session->emulation.pose_error < 1e-3); /* [m] over 50 ms; the arm reaches 0.9 m */
    const ff_session *const all[] = {session};
    assert_int_equal(ff_session_report(all, 1, in_folder("arms"), &notes), FF_DONE);
    ff_session_close(session);
}

/* ---------------------------------------------------------------------------------------- from logs -- */

/* Against two walls through a robot that is 17 ms late: delay, stiffness and damping come back; the other
 * satellite rests and says nothing. */
static const char log_scenario[] =
    "name: known\n"
    "time: {cycle: 0.002, duration: 3}\n"
    "method: direct\n"
    "facility: {gravity: [0, 0, -9.81]}\n"
    "satellites:\n"
    "  late: {mass: 120, inertia: [8, 9, 10], velocity: [0.04, 0.01, 0], angular_velocity: [0.2, 0.4, 0.1],\n"
    "    robot: {kind: delay, delay: 0.017}, mockup: {mass: 20, com: [0.05, -0.02, 0.1], inertia: [0.4, 0.5, "
    "0.6]}}\n"
    "  still: {mass: 1, inertia: [1, 1, 1], position: [9, 0, 0]}\n"
    "contacts:\n"
    "  - {name: right, kind: wall, body: late, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 3000, "
    "damping: 60}\n";

static double json_value(const char *json, const char *key) {
    char text[64];
    snprintf(text, sizeof text, "\"%s\": ", key);
    const char *at = strstr(json, text);
    return at ? strtod(at + strlen(text) + (at[strlen(text)] == '['), NULL) : FF_NAN;
}

static void test_a_log_says_what_the_facility_was(void **state) {
    (void)state;
    ff_session *session = open_text(log_scenario, NULL);
    const ff_session_options options = {.out = in_folder("known"), .csv = true, .mcap = true};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
    char csv[600], mcap[600];
    snprintf(csv, sizeof csv, "%s", in_folder("known/log.csv"));
    snprintf(mcap, sizeof mcap, "%s", in_folder("known/log.mcap"));
    ff_log_identify_what what;
    assert_false(ff_log_identify_parse("mass", &what));
    static const struct {
        const char *word, *key;
        double truth, within; /* docs: 0.2 ms, 1 %, 10 %, 0.5 % */
    } cases[] = {{"delay", "delay_s", 0.017, 2e-4},
                 {"contact", "stiffness_Npm", 3000, 30},
                 {"contact", "damping_Nspm", 60, 6},
                 {"payload", "mass_kg", 20, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_log_identified found;
        ff_log_identify_config config = {.file = i == 0 ? csv : mcap, .delay_max = FF_NAN, .own = true};
        assert_true(ff_log_identify_parse(cases[i].word, &config.what));
        ff_notes_clear(&notes);
        assert_int_equal(ff_log_identify(&config, &found, &notes), FF_DONE);
        assert_string_equal(notes.error, "");
        assert_int_equal(found.bodies, 2); /* what rests does not silence the other */
        assert_memory_equal(found.line[0], "late: ", 6);
        assert_memory_equal(found.line[1], "still: ", 7);
        assert_near(json_value(found.json, cases[i].key), cases[i].truth, cases[i].within);
        assert_non_null(strstr(found.json, cases[i].word));
        free(found.json);
        config.body = "still";
        assert_int_equal(ff_log_identify(&config, &found, &notes), FF_FAILED);
        assert_int_equal(found.bodies, 1);
        assert_memory_equal(found.line[0], "still: ", 7);
        free(found.json);
        config.body = "nobody";
        assert_int_equal(ff_log_identify(&config, &found, &notes), FF_REFUSED);
        assert_line(notes.error, "no satellite 'nobody' in this log; it has 'late'");
        assert_null(found.json);
    }
    /* behind its command by a lag of the second order; and a robot that only turns */
    static const struct {
        const char *set[2], *says;
        double truth;
        const char *key;
    } lags[] = {
        {{"satellites.late.robot={kind: lag, delay: 0.012, frequency: 8, damping: 1}", "time.duration=2"},
         "second-order lag",
         8.0,
         "lag_frequency_Hz"},
        {{"satellites.late.velocity=[0, 0, 0]", "time.duration=1"}, "rad rms", 0.017, "delay_s"}};
    for (size_t i = 0; i < sizeof lags / sizeof *lags; i++) {
        const ff_scenario_options load = {.set = lags[i].set, .sets = 2};
        ff_outcome outcome;
        ff_session *other = ff_session_open(in_folder("s.yaml"), &load, &outcome, &notes);
        if (!other)
            fail_msg("%s", notes.error);
        const ff_session_options into = {.out = in_folder("lag"), .csv = true};
        assert_int_equal(ff_session_execute(other, &into, &notes), FF_DONE);
        ff_log_identified found;
        const ff_log_identify_config config = {
            .file = in_folder("lag/log.csv"), .delay_max = 0.05, .body = "late"};
        assert_int_equal(ff_log_identify(&config, &found, &notes), FF_DONE);
        if (!strstr(found.line[0], lags[i].says))
            fail_msg("%s", found.line[0]);
        assert_near(json_value(found.json, lags[i].key), lags[i].truth, 0.012 * lags[i].truth);
        free(found.json);
        ff_session_close(other);
    }
    /* gravity as given, the sensor at the CoM; and a log that brings no scenario */
    ff_log_identified found;
    ff_log_identify_config config = {.file = csv,
                                     .what = FF_LOG_IDENTIFY_PAYLOAD,
                                     .body = "late",
                                     .gravity = {{0, 0, -9.81}},
                                     .own = true};
    assert_int_equal(ff_log_identify(&config, &found, &notes), FF_DONE);
    assert_near(json_value(found.json, "mass_kg"), 20.0, 0.1);
    free(found.json);
    config.own = false;
    config.gravity = ff_vec3_make(0, 0, -19.62); /* twice the field: half the mass */
    assert_int_equal(ff_log_identify(&config, &found, &notes), FF_DONE);
    assert_near(json_value(found.json, "mass_kg"), 10.0, 0.05);
    free(found.json);
    config.scenario = &session->scenario;
    assert_int_equal(ff_log_identify(&config, &found, &notes), FF_DONE);
    assert_near(json_value(found.json, "mass_kg"), 20.0, 0.1);
    free(found.json);
    config.file = in_folder("nothing.csv");
    ff_notes_clear(&notes);
    assert_int_equal(ff_log_identify(&config, &found, &notes), FF_REFUSED);
    assert_line(notes.error, "nothing.csv");
    ff_session_close(session);
}

/* What is saved, or removed, after a scenario was read is of the next run: this one computes, hashes, logs
 * and draws what was read. */
static void test_files_are_read_once(void **state) {
    (void)state;
    static const char meshed[] = "name: drift\n"
                                 "time: {cycle: 0.01, duration: 0.1}\n"
                                 "method: direct\n"
                                 "satellites:\n"
                                 "  body: {mass: 100, inertia: [10, 10, 10], mesh: {file: m.obj}}\n";
    char sha256[2][FF_SHA256_TEXT], message[512], text[sizeof meshed];
    static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    put_file("m.obj", triangle);
    ff_sha256(meshed, sizeof meshed - 1, sha256[0]);
    ff_sha256(triangle, sizeof triangle - 1, sha256[1]);
    ff_session *session = open_text(meshed, NULL);
    char *before = ff_report_geometry(&session->scenario, false);
    assert_non_null(strstr(before, "\"mesh\""));
    memcpy(text, meshed, sizeof text);
    memcpy(strstr(text, "100"), "300", 3);
    put_file("s.yaml", text);
    assert_int_equal(unlink(in_folder("m.obj")), 0);
    ff_run_inputs inputs = {0};
    ff_run_inputs_scenario(&inputs, session->path, &session->scenario);
    assert_int_equal(inputs.count, 2);
    for (int i = 0; i < 2; i++)
        assert_string_equal(inputs.item[i].sha256, sha256[i]);
    ff_run_inputs_free(&inputs);
    const ff_session_options options = {.out = in_folder("once"), .mcap = true};
    assert_int_equal(ff_session_execute(session, &options, &notes), FF_DONE);
    ff_logfile log;
    ff_scenario logged;
    assert_int_equal(ff_logfile_open(in_folder("once/log.mcap"), &log, message, sizeof message), FF_OK);
    assert_int_equal(ff_logfile_scenario(&log, NULL, &logged, message, sizeof message), FF_OK);
    ff_logfile_close(&log);
    assert_near(logged.satellite[0].rigid.mass, 100.0, 0.0);
    char *after = ff_report_geometry(&session->scenario, false);
    assert_string_equal(after, before);
    free(before);
    free(after);
    ff_session_close(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_a_folder_rows_and_summary_are_all),
        cmocka_unit_test(test_the_folder_holds_what_was_asked_for),
        cmocka_unit_test(test_a_bad_scenario_is_refused_with_its_place),
        cmocka_unit_test(test_what_cannot_be_written_is_named),
        cmocka_unit_test(test_a_full_disk_fails_the_run_and_says_which_log),
        cmocka_unit_test(test_another_runner_fails_or_refuses),
        cmocka_unit_test(test_progress_ends_the_run),
        cmocka_unit_test(test_without_a_reference_there_is_no_run_but_a_summary),
        cmocka_unit_test(test_an_emulation_is_judged_against_its_target),
        cmocka_unit_test(test_a_gripper_that_touches_nothing_is_said),
        cmocka_unit_test(test_an_arm_emulates_another),
        cmocka_unit_test(test_a_log_says_what_the_facility_was),
        cmocka_unit_test(test_files_are_read_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
