/* A campaign conducted without a terminal: what it makes, what it refuses, what it finds when it is begun
 * again, and what stands in the folder when a file cannot be written. */
#include "campaign/conduct.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "folder_support.h"

static const char base[] =
    "name: base\n"
    "time: {cycle: 0.01, duration: 1}\n"
    "satellites:\n"
    "  body: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.02}}\n"
    "contacts:\n"
    "  - {name: right, kind: wall, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 2000}\n";
static const char six[] = "name: six\nbase: base.yaml\nmethods: [direct, tdpa]\nvary:\n"
                          "  contacts.right.stiffness: {list: [1000, 2000, 4000]}\n"
                          "metrics: {speed: satellites.body.final.velocity_mps.0}\n"
                          "keep: {worst: 1}\n";

static ff_notes notes;
static const ff_ranks alone = {.count = 1};

static ff_campaign *load(const char *text) {
    char message[1024];
    put_file("base.yaml", base);
    const char *path = put_file("c.yaml", text);
    ff_campaign *c = calloc(1, sizeof *c);
    if (ff_campaign_load(path, NULL, c, message, sizeof message, NULL, 0) != FF_OK)
        fail_msg("%s", message);
    ff_notes_clear(&notes);
    return c;
}

static void drop(ff_campaign *c) {
    ff_campaign_free(c);
    free(c);
}

static char begun[64];
static uint64_t most;
static bool answer;

static const char *change_at; /* the step before which the mesh becomes another one */
static int edges;             /* of the mesh */

static void put_mesh(int edge) {
    char text[64];
    snprintf(text, sizeof text, edge ? "v 0 0 0\nv %d 0 0\nv 0 1 0\nf 1 2 3\n" : "none %d\n", edge);
    put_file("cube.obj", text);
}

static void begin(void *user, const char *what) {
    (void)user;
    if (change_at && strcmp(what, change_at) == 0)
        put_mesh(edges);
    strcat(begun, what);
    strcat(begun, " ");
}

static void end(void *user) {
    (void)user;
    strcat(begun, "; ");
}

static bool progress(void *user, uint64_t done, uint64_t total) {
    (void)user;
    assert_true(done <= total);
    most = total > most ? total : most;
    return answer;
}

static ff_outcome conduct(const ff_campaign *c, const char *folder, ff_conduct *made) {
    const ff_conduct_options options = {
        .folder = folder, .threads = 2, .begin = begin, .progress = progress, .end = end};
    ff_ranks ranks = alone;
    begun[0] = 0;
    most = 0;
    answer = true;
    mkdir(folder, 0755); /* as ff_run_begin does for a command */
    ff_notes_clear(&notes);
    ff_outcome outcome = ff_conduct_begin(c, &ranks, &options, made, &notes);
    if (outcome == FF_DONE)
        outcome = ff_conduct_run(made, &ranks, &notes);
    return outcome == FF_DONE ? ff_conduct_finish(made, &notes) : outcome;
}

static void test_from_nothing_to_the_folder_and_again(void **state) {
    (void)state;
    ff_campaign *c = load(six);
    ff_conduct made;
    const char *folder = in_folder("a");
    assert_int_equal(conduct(c, folder, &made), FF_DONE);
    assert_string_equal(notes.error, "");
    assert_string_equal(begun, "checking ; runs ; logs ; ");
    assert_int_equal(most, 6);
    assert_int_equal(made.pool.runs, 6);
    assert_int_equal(made.output->runs, 6);
    assert_int_equal(made.kept, 2); /* the worst of each method */
    char *csv = get_file(in_folder("a/results.csv")), *command;
    assert_int_equal(count_lines(csv), 7);
    for (int m = 0; m < 2; m++) { /* what is kept holds its log, and how to make it again */
        char name[256];
        const uint64_t index = made.output->worst[m][0].slot / 2;
        snprintf(name, sizeof name, "a/kept/%llu-%s/log.csv", (unsigned long long)index,
                 c->method[m].variant.label);
        char *log = get_file(in_folder(name));
        assert_non_null(log);
        assert_int_equal(count_lines(log), 102);
        free(log);
        snprintf(name, sizeof name, "a/kept/%llu-%s/command", (unsigned long long)index,
                 c->method[m].variant.label);
        command = get_file(in_folder(name));
        assert_non_null(command);
        assert_line(command, "freefloat run");
        free(command);
    }
    ff_conduct_free(&made);
    /* begun again: nothing is run twice, and the table is the same; one that was cut is noticed */
    put_file("a/results.csv", "sample,cut");
    assert_int_equal(conduct(c, folder, &made), FF_DONE);
    assert_line(notes.warning, "results.csv was cut");
    assert_string_equal(begun, "runs ; logs ; ");
    assert_int_equal(made.pool.runs, 0);
    char *again = get_file(in_folder("a/results.csv"));
    assert_string_equal(again, csv);
    free(again);
    free(csv);
    ff_conduct_free(&made);
    drop(c);
}

static void test_a_torn_and_a_damaged_journal_are_repaired(void **state) {
    (void)state;
    ff_campaign *c = load(six);
    ff_conduct made;
    const char *folder = in_folder("torn");
    assert_int_equal(conduct(c, folder, &made), FF_DONE);
    const off_t size = (off_t)made.journal.size;
    ff_conduct_free(&made);
    char *csv = get_file(in_folder("torn/results.csv"));
    const char *journal = in_folder("torn/results.journal");
    assert_int_equal(truncate(journal, size - 5), 0);
    assert_int_equal(conduct(c, folder, &made), FF_DONE);
    assert_line(notes.warning, "ended in a torn record");
    assert_int_equal(made.pool.runs, 1);
    ff_conduct_free(&made);
    FILE *file = fopen(journal, "r+");
    assert_int_equal(fseek(file, size / 2, SEEK_SET), 0);
    const int was = fgetc(file);
    assert_int_equal(fseek(file, size / 2, SEEK_SET), 0);
    fputc(was ^ 0x55, file);
    fclose(file);
    assert_int_equal(conduct(c, folder, &made), FF_DONE);
    assert_line(notes.warning, "damaged bytes");
    assert_int_equal(made.pool.runs, 1);
    ff_conduct_free(&made);
    char *again = get_file(in_folder("torn/results.csv"));
    assert_string_equal(again, csv);
    free(again);
    free(csv);
    drop(c);
}

static void test_what_is_refused(void **state) {
    (void)state;
    ff_campaign *c = load(six);
    ff_conduct made;
    assert_int_equal(conduct(c, put_file("plain", ""), &made), FF_REFUSED);
    assert_line(notes.error, "plain");
    ff_conduct_free(&made);
    put_folder("other");
    put_file("other/results.journal", "this is not a journal, however long it may be, and never was one\n");
    assert_int_equal(conduct(c, in_folder("other"), &made), FF_REFUSED);
    assert_line(notes.error, "results.journal");
    ff_conduct_free(&made);
    drop(c);
    /* one sample of three has a scenario that is not valid: found before anything runs, and nothing is left
     */
    c = load("name: bad\nbase: base.yaml\nmethods: [direct]\nvary:\n"
             "  contacts.right.stiffness: {list: [1000, -2, 4000]}\n"
             "metrics: {speed: satellites.body.final.velocity_mps.0}\n");
    assert_int_equal(conduct(c, in_folder("bad"), &made), FF_REFUSED);
    assert_line(notes.error, "stiffness");
    assert_string_equal(begun, "checking ; ");
    assert_int_not_equal(access(in_folder("bad/results.journal"), F_OK), 0);
    ff_conduct_free(&made);
    drop(c);
}

static void test_stopped_it_fails_without_an_error_and_continues_later(void **state) {
    (void)state;
    ff_campaign *c = load(six);
    ff_conduct made;
    const ff_conduct_options options = {.folder = in_folder("stop"), .threads = 1, .progress = progress};
    ff_ranks ranks = alone;
    put_folder("stop");
    answer = false;
    assert_int_equal(ff_conduct_begin(c, &ranks, &options, &made, &notes), FF_DONE);
    assert_int_equal(ff_conduct_run(&made, &ranks, &notes), FF_FAILED);
    assert_true(made.pool.stopped);
    assert_string_equal(notes.error, "");
    ff_conduct_free(&made);
    assert_int_equal(conduct(c, in_folder("stop"), &made), FF_DONE);
    assert_int_equal(made.output->runs, 6);
    ff_conduct_free(&made);
    drop(c);
}

/* A file that the campaign names becomes another one, or goes, before the runs or before those that are kept
 * are made again: every run is of the bytes that were read when it was loaded, and the table is the same. */
static void test_an_input_that_changes_meanwhile_changes_nothing(void **state) {
    (void)state;
    static const struct {
        const char *at;
        int edge; /* 0: no mesh any more */
    } cases[] = {{"runs", 1}, {"runs", 2}, {"logs", 2}, {"runs", 0}, {"checking", 0}, {"logs", 0}};
    char text[512], *csv = NULL;
    snprintf(text, sizeof text, "%s  satellites.body.mesh: {list: [{file: cube.obj}]}\n%s",
             "name: six\nbase: base.yaml\nmethods: [direct, tdpa]\nvary:\n"
             "  contacts.right.stiffness: {list: [1000, 2000, 4000]}\n",
             strstr(six, "metrics:"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_conduct made;
        char name[32];
        put_mesh(1);
        ff_campaign *c = load(text);
        snprintf(name, sizeof name, "meanwhile%zu", i);
        change_at = cases[i].at;
        edges = cases[i].edge;
        assert_int_equal(conduct(c, in_folder(name), &made), FF_DONE);
        change_at = NULL;
        assert_int_equal(made.pool.runs, 6);
        ff_conduct_free(&made);
        drop(c);
        strcat(name, "/results.csv");
        char *again = get_file(in_folder(name));
        assert_string_equal(again, csv ? csv : again);
        if (csv)
            free(again);
        else
            csv = again;
    }
    free(csv);
}

/* What a complete run did is taken over by its bytes: whatever is appended then, the former file stays. */
static void test_a_journal_is_taken_over_as_a_copy(void **state) {
    (void)state;
    put_folder("former");
    put_folder("fresh");
    put_file("former/results.journal", "bytes\n");
    assert_int_equal(ff_journal_copy(in_folder("former"), in_folder("fresh")), FF_OK);
    FILE *file = fopen(in_folder("fresh/results.journal"), "a");
    assert_non_null(file);
    fputs("more\n", file);
    fclose(file);
    char *former = get_file(in_folder("former/results.journal")),
         *fresh = get_file(in_folder("fresh/results.journal"));
    assert_string_equal(former, "bytes\n");
    assert_string_equal(fresh, "bytes\nmore\n");
    free(former);
    free(fresh);
    assert_int_equal(ff_journal_copy(in_folder("nowhere"), in_folder("fresh")), FF_ERR_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(ff_journal_copy(in_folder("former"), in_folder("nowhere")), FF_ERR_IO);
    assert_int_equal(errno, ENOENT);
    put_folder("folder");
    put_folder("folder/results.journal");
    assert_int_equal(ff_journal_copy(in_folder("folder"), in_folder("former")), FF_ERR_IO);
    assert_int_equal(errno, EISDIR);
    former = get_file(in_folder("former/results.journal"));
    assert_string_equal(former, "bytes\n");
    free(former);
}

static void test_files_that_cannot_be_written_are_named_and_the_rest_is_there(void **state) {
    (void)state;
    static const char *const blocked[] = {"results.csv", "summary.json", "report.html",
                                          "distribution-speed.svg", "kept"};
    ff_campaign *c = load(six);
    for (size_t i = 0; i < sizeof blocked / sizeof *blocked; i++) {
        ff_conduct made;
        char name[64], folder[32];
        snprintf(folder, sizeof folder, "block%zu", i);
        const ff_conduct_options options = {.folder = in_folder(folder), .threads = 1};
        ff_ranks ranks = alone;
        put_folder(folder);
        ff_notes_clear(&notes);
        assert_int_equal(ff_conduct_begin(c, &ranks, &options, &made, &notes), FF_DONE);
        assert_int_equal(ff_conduct_run(&made, &ranks, &notes), FF_DONE);
        snprintf(name, sizeof name, "block%zu/%s", i, blocked[i]);
        if (strcmp(blocked[i], "kept") == 0) { /* a file where a folder is wanted */
            put_file(name, "");
        } else {
            put_folder(name);
            strcat(name, "/x");
            put_folder(name);
        }
        assert_int_equal(ff_conduct_finish(&made, &notes), FF_FAILED);
        assert_line(notes.error, blocked[i]);
        if (i > 0) { /* without the table there is nothing to write the others from */
            snprintf(name, sizeof name, "block%zu/results.csv", i);
            assert_int_equal(access(in_folder(name), F_OK), 0);
        }
        assert_int_equal(made.output != NULL, i > 0);
        ff_conduct_free(&made);
    }
    drop(c);
}

static void test_failed_runs_are_kept_with_their_reason(void **state) {
    (void)state;
    ff_campaign *c = load("name: diverges\nbase: base.yaml\nmethods: [direct]\nvary:\n"
                          "  satellites.body.mass: {list: [200, 0.001]}\n"
                          "  satellites.body.inertia: {list: [[1e-6, 1e-6, 1e-6]]}\n"
                          "  contacts.right.stiffness: {list: [1e12]}\n"
                          "  contacts.right.point: {list: [[0, 0.2, 0.1]]}\n"
                          "metrics: {speed: satellites.body.final.velocity_mps.0}\n"
                          "keep: {failed: true}\n");
    ff_conduct made;
    assert_int_equal(conduct(c, in_folder("failed"), &made), FF_DONE); /* a run that diverges is a result */
    assert_true(made.output->failed >= 1);
    assert_int_equal(made.output->faileds, made.output->failed);
    assert_int_equal(made.kept, made.output->failed);
    for (int i = 0; i < made.output->faileds; i++) {
        char name[64];
        assert_int_not_equal(made.output->listed[i].reason[0], 0);
        snprintf(name, sizeof name, "failed/kept/%llu-direct/log.csv",
                 (unsigned long long)made.output->listed[i].slot);
        assert_int_equal(access(in_folder(name), F_OK), 0);
    }
    ff_conduct_free(&made);
    drop(c);
}

static void test_estimate_counts_runs_and_bytes(void **state) {
    (void)state;
    ff_campaign *c = load(six);
    ff_conduct_cost cost;
    assert_int_equal(ff_conduct_estimate(c, 2.0, &cost, &notes), FF_DONE);
    assert_near(cost.runs, 6.0, 0.0);
    assert_true(cost.probes >= 2 && cost.probes <= 6); /* whole samples */
    assert_int_equal(cost.probes % 2, 0);
    assert_int_equal(cost.probes_failed, 0);
    assert_true(cost.sample_s > 0.0);
    assert_near(cost.seconds, cost.sample_s * 3.0 / 2.0 + 6.0 * 2e-5, 1e-12);
    assert_near(cost.bytes, 6.0 * (24 + 8 + 20 + 12 + 20), 1e-9); /* one metric, one varied key */
    drop(c);
}

/* A disk that fills up at every point: what fails is named, what was written stays, and the same command
 * continues from there once there is room. */
static void test_a_full_disk_stops_it_and_it_continues(void **state) {
    (void)state;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    ff_campaign *c = load(six);
    ff_conduct made;
    enum { HEAD = 64, RECORD = 32 }; /* of journal.c: 24 bytes and one metric */
    static const struct {
        rlim_t room;
        ff_outcome outcome;
        int lines;
        bool runs;                                             /* something has run */
    } cases[] = {{10, FF_REFUSED, 1, false},                   /* not even its head */
                 {HEAD + 5, FF_FAILED, 2, false},              /* that the samples were checked */
                 {HEAD + 3 * RECORD + 5, FF_FAILED, 2, true}}; /* the third run */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32];
        snprintf(name, sizeof name, "disk%zu", i);
        small = before;
        small.rlim_cur = cases[i].room;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const ff_outcome outcome = conduct(c, in_folder(name), &made);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(outcome, cases[i].outcome);
        assert_int_equal(count_lines(notes.error), cases[i].lines);
        assert_non_null(strstr(notes.error, "results.journal: cannot be written"));
        assert_non_null(strstr(notes.error, strerror(EFBIG)));
        if (cases[i].lines > 1)
            assert_non_null(strstr(notes.error, "free disk space and run the same command again"));
        ff_conduct_free(&made);
        assert_int_equal(conduct(c, in_folder(name), &made), FF_DONE);
        assert_int_equal(made.output->runs, 6);
        assert_int_equal(made.pool.runs < 6, cases[i].runs); /* no run is made twice */
        ff_conduct_free(&made);
    }
    drop(c);
}

/* Every map and curve that was asked for, with the limits by their names, on the page and as pictures. */
static void test_maps_and_curves_show_their_limits(void **state) {
    (void)state;
    ff_campaign *c =
        load("name: maps\nbase: base.yaml\nmethods: [direct, tdpa]\nvary:\n"
             "  contacts.right.stiffness: {log_grid: [1000, 30000, 4]}\n"
             "  satellites.body.robot.delay: {grid: [0, 0.06, 4]}\n"
             "metrics: {error: rebound_error, force: peak_force_ratio, limit: causal_limit, w: omega_tau, "
             "still: satellites.body.final.velocity_mps.1}\n"
             "maps:\n"
             "  - {x: contacts.right.stiffness, y: satellites.body.robot.delay, show: force, contour: 1.2,\n"
             "     limits: [{of: w, at: 0.3, label: 'no <method> passes'}, {of: w, at: 99}]}\n"
             "  - {x: satellites.body.robot.delay, show: error, limits: [{of: w, at: 0.2}]}\n"
             "  - {x: w, show: force, limits: [{of: limit}]}\n"
             "  - {x: satellites.body.robot.delay, show: still}\n");
    ff_conduct made;
    assert_int_equal(conduct(c, in_folder("maps"), &made), FF_DONE);
    assert_string_equal(notes.error, "");
    assert_int_equal(made.output->runs, 32);
    static const char *const files[] = {"map-1-force.svg",        "map-2-error.svg",
                                        "map-3-force.svg",        "map-4-still.svg",
                                        "distribution-error.svg", "distribution-still.svg"},
                             *const words[] = {
                                 "no &lt;method&gt; passes", "w = 0.2", "limit", "still", "error", "still"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[64];
        snprintf(name, sizeof name, "maps/%s", files[i]);
        char *svg = get_file(in_folder(name));
        if (!svg || !strstr(svg, words[i]) || !strstr(svg, "</svg>"))
            fail_msg("%s without '%s'", files[i], words[i]);
        assert_null(strstr(svg, "nan"));
        free(svg);
    }
    assert_int_not_equal(access(in_folder("maps/distribution-limit.svg"), F_OK),
                         0); /* known before any run */
    char *page = get_file(in_folder("maps/report.html"));
    assert_non_null(page);
    assert_non_null(strstr(page, "w = 0.2"));
    assert_non_null(strstr(page, "\"pieces\"")); /* the line where w tau is 0.3 */
    free(page);
    ff_conduct_free(&made);
    drop(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_nothing_to_the_folder_and_again),
        cmocka_unit_test(test_a_torn_and_a_damaged_journal_are_repaired),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_stopped_it_fails_without_an_error_and_continues_later),
        cmocka_unit_test(test_an_input_that_changes_meanwhile_changes_nothing),
        cmocka_unit_test(test_a_journal_is_taken_over_as_a_copy),
        cmocka_unit_test(test_files_that_cannot_be_written_are_named_and_the_rest_is_there),
        cmocka_unit_test(test_failed_runs_are_kept_with_their_reason),
        cmocka_unit_test(test_estimate_counts_runs_and_bytes),
        cmocka_unit_test(test_a_full_disk_stops_it_and_it_continues),
        cmocka_unit_test(test_maps_and_curves_show_their_limits),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
