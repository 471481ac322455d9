/* Method libraries with one fault each (tests/cli/method_bad.c): what shows when a library is tried refuses
 * it, what only shows in the run ends it, each in one line that names the function; and what a library does
 * to itself alone has no effect. */
#include "support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalog/library.h"
#include "executive/executive.h"
#include "text/file.h"

static const char library_path[] = FF_BUILD_DIR "/tests/method_bad.so";

/* A satellite of 100 kg that meets a wall after 0.05 s. 120 cycles: more than a trial has. */
static const char scenario_text[] = "name: one\n"
                                    "time: {cycle: 0.004, duration: 0.48}\n"
                                    "satellites:\n"
                                    "  body: {mass: 100, inertia: [9, 10, 11], velocity: [0.2, 0, 0]}\n"
                                    "contacts:\n"
                                    "  - {name: front, kind: wall, body: body, at: [0.01, 0, 0],\n"
                                    "     normal: [-1, 0, 0], stiffness: 5000, damping: 20}\n";

static ff_status keep_row(void *self, const ff_row *row) {
    memcpy(self, row, sizeof *row);
    return FF_OK;
}

/* Tries the library, runs the scenario with it, prints where the satellite ends and what was reported. */
static void run_library(const char *path) {
    static ff_scenario scenario;
    char message[1024], warnings[1024];
    const ff_scenario_options options = {.method = path, .catalog = &ff_catalog_libraries};
    if (ff_scenario_parse("F", scenario_text, sizeof scenario_text - 1, &options, &scenario, message,
                          sizeof message, warnings, sizeof warnings) != FF_OK) {
        fprintf(stderr, "%s\n", message);
        ff_watch_end(2);
        _exit(2);
    }
    ff_run_result result;
    static ff_row last;
    const ff_sink sink = {.self = &last, .row = keep_row};
    const ff_run_options run = {.sinks = &sink, .count = 1};
    ff_run(&scenario, &run, &result);
    if (result.status != FF_OK)
        fprintf(stderr, "%s\n", result.message);
    else
        fprintf(stderr, "%.17g %.17g %.17g\n", last.body[0].satellite.position.x,
                last.body[0].satellite.velocity.x, result.report[3]);
    ff_watch_end(result.status == FF_OK ? 0 : 1);
    _exit(99);
}

/* In a process of its own with the fault; its exit status and what it printed. */
static int with(const char *fault, const char *path, char *text, size_t size) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        setenv("FF_BAD", fault, 1);
        run_library(path);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; used + 1 < size && (n = read(ends[0], text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* One line that holds `part`, and the status. */
static void expect(const char *fault, const char *path, int status, const char *part) {
    char text[4096];
    const int got = with(fault, path, text, sizeof text);
    const char *end = strchr(text, '\n');
    if (got != status || !strstr(text, part) || !end || end[1])
        fail_msg("%.60s: status %d, not %d, or not one line with '%s': %s", fault, got, status, part, text);
}

static void test_a_fault_in_the_trial_refuses_the_library(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"load:abort", "crashes when it is loaded: Aborted"},
        {"load:crash", "crashes when it is loaded: Segmentation fault"},
        {"load:exit", "ends the program when it is loaded"},
        {"load:_exit", "ends the program when it is loaded"},
        {"load:fork", "starts a process of its own when it is loaded"},
        {"load:clone", "starts a process of its own"},
        {"load:thread", "starts a thread of its own"},
        {"load:close-all", "closes or replaces the standard input when it is loaded"},
        {"load:chdir", "changes the working folder when it is loaded"},
        {"load:mask", "changes which signals are blocked when it is loaded"},
        {"entry:recurse", "crashes when it is loaded: Segmentation fault"},
        {"entry:handler", "changes the handler of a signal when it is loaded"},
        {"table:null", "built for another freefloat/method.h"},
        {"table:abi", "its abi is 5, allowed: 4"},
        {"table:size", "allowed: the size of ff_method"},
        {"table:no-step", "its table is refused: it lacks its step"},
        {"table:wild", "crashes when it is loaded: Segmentation fault"},
        {"table:name=tdpa", "named 'tdpa', as one that is built in"},
        {"table:name=time", "named 'time', as a key of the scenario"},
        {"table:name=verdict", "named 'verdict', as a key of summary.json"},
        {"table:name=a\nb", "its name is not 1 to 31 letters"},
        {"defaults:value=nan", "the default of its setting 'share' is nan, outside its range"},
        {"defaults:value=2", "the default of its setting 'share' is 2, outside its range"},
        {"defaults:write=settings+16",
         "reads or writes beyond its settings when it is asked for its defaults"},
        {"defaults:write=settings+8", "writes beyond its settings when it is asked for its defaults"},
        {"check:status=-1", "it refuses its own defaults: it never likes anything"},
        {"check:status=7777", "returns the status 7777, allowed: FF_OK or a fault"},
        {"check:complain",
         "it refuses its own defaults: its settings are refused, and it does not say why in"},
        {"check:complain-wild", "crashes when it is asked to check its settings: Segmentation fault"},
        {"table:late-name=tdpa", "its method is named 'tdpa' now, and was 'idle' when it was tried"},
        {"load:fill", " when it is loaded: "}, /* no memory: a crash, or a sanitizer that ends it */
        {"step:observers@5", "returns a number of observers that is not 0, 1 or 6 when it is stepped"},
        {"step:attitude@5", "returns an attitude that is not a unit quaternion when it is stepped"},
        {"step:lead@5", "returns a lead outside of 0 to 10 s when it is stepped"},
        {"bytes:value=69000000", "asks for more than 64 MB of memory"},
        {"create:write=model+8", "writes beyond its model when it is created"},
        {"create:write=model-1", "writes beyond its model when it is created"},
        {"create:write=model+16", "reads or writes beyond its model when it is created"},
        {"create:write=model-5000", "reads or writes beyond its model when it is created"},
        {"detector:value=-1", "gives thresholds that are negative or not finite"},
        {"reset:write=model+0", "writes into its model after it was created when it is reset"},
        {"reset:write=state+8", "writes beyond its state when it is reset"},
        {"lead:value=nan", "gives a lead of nan, allowed: 0 to 10 s"},
        {"step:nan@5", "its step fails in a simple contact"},
        {"step:status=-7777@5", "returns the status -7777"},
        {"step:crash@5", "crashes when it is stepped: Segmentation fault"},
        {"step:divide@5", "crashes when it is stepped: Floating point exception"},
        {"step:exit@5", "ends the program when it is stepped"},
        {"step:fork@5", "starts a process of its own when it is stepped"},
        {"step:write=model+0@5", "writes into its model after it was created when it is stepped"},
        {"report:write=values+32", "writes beyond its columns when it is asked for its report"},
        {"report:write=values-8", "writes beyond its columns when it is asked for its report"},
        {"report:write=state-1", "writes beyond its state when it is asked for its report"},
        {"report:write=model+0",
         "writes into its model after it was created when it is asked for its report"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i][0], library_path, 2, cases[i][1]);
    char long_name[10100] = "table:name=";
    memset(long_name + strlen(long_name), 'x', 10000);
    expect(long_name, library_path, 2, "its name is not 1 to 31 letters");
}

static void test_a_fault_in_the_run_ends_it(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"step:crash@80", "crashes when it is stepped: Segmentation fault"},
        {"step:recurse@80", "crashes when it is stepped: Segmentation fault"},
        {"step:divide@80", "crashes when it is stepped: Floating point exception"},
        {"step:exit@80", "ends the program when it is stepped: there is no result"},
        {"step:_exit@80", "ends the program when it is stepped: there is no result"},
#ifndef __SANITIZE_ADDRESS__ /* a process that ends this way is searched for leaks, on many lines */
        {"step:end-thread@80", "ends the program when it is stepped: there is no result"},
#endif
        {"step:terminate@80", "crashes when it is stepped: Terminated"},
        {"step:alarm@80", "crashes when it is stepped: Alarm clock"},
        {"step:fork@80", "starts a process of its own when it is stepped"},
        {"step:close@80", "closes or replaces the standard output"},
        {"step:replace@80", "closes or replaces the standard error"},
        {"step:close-all@80", "closes or replaces the standard input"},
        {"step:chdir@80", "changes the working folder"},
        {"step:limit@80", "changes a limit of the process"},
        {"step:handler@80", "changes the handler of a signal"},
        {"step:ignore@80", "changes the handler of a signal"},
        {"step:mask@80", "changes which signals are blocked"},
        {"step:write=state+8@80", "writes beyond its state when it is stepped"},
        {"step:write=state-1@80", "writes beyond its state when it is stepped"},
        {"step:write=state+16@80", "reads or writes beyond its state when it is stepped"},
        {"step:write=state+60000@80", "reads or writes beyond its state when it is stepped"},
        {"step:write=state-60000@80", "reads or writes beyond its state when it is stepped"},
        {"step:write=model+0@80", "writes into its model after it was created when it is stepped"},
        {"step:write=out-1@80", "writes beyond what it returns when it is stepped"},
        {"step:write=out-6000@80", "reads or writes beyond what it returns when it is stepped"},
        {"step:status=7777@80", "returns the status 7777, allowed: FF_OK or a fault of ff_status when it is"},
        {"report:abort@5", "crashes when it is asked for its report: Aborted"},
        {"report:write=values+32@5", "reads or writes beyond its columns when it is asked for its report"},
    };
    char line[2048];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line, "method 'idle' (%s) %s", library_path, cases[i][1]);
        expect(cases[i][0], library_path, 1, line);
    }
    expect("step:nan@80", library_path, 1, "at 0.316 s: method 'idle': ");
    expect("step:status=-5@80", library_path, 1, "at 0.316 s: method 'idle': ");
}

static void test_what_a_library_does_to_itself_has_no_effect(void **state) {
    (void)state;
    static const char *const cases[] = {
        "load:round",   "load:trap",     "defaults:trap", "step:trap@5",
        "step:trap@80", "step:round@80", "step:jump@80",  "step:write=input+0@80",
        "unload:abort", "unload:hang",   "report:round@5"};
    char good[4096], text[4096];
    assert_int_equal(with("", library_path, good, sizeof good), 0);
    double x = 0, v = 0, steps = 0;
    assert_int_equal(sscanf(good, "%lf %lf %lf", &x, &v, &steps), 3);
    assert_true(v < -0.1); /* it has met the wall */
    assert_near(steps, 120.0, 0.0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (with(cases[i], library_path, text, sizeof text) != 0 || strcmp(text, good) != 0)
            fail_msg("%s: not as without it: %s", cases[i], text);
    }
}

static void write_file(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

/* A library whose constructor puts another file in its place: what was tried is what runs. */
static void test_a_file_that_changes_is_loaded_as_it_was(void **state) {
    (void)state;
    char folder[] = "/tmp/ff-library-XXXXXX", path[64], other[64], *bytes = NULL;
    size_t n = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/mine.so", folder);
    snprintf(other, sizeof other, "%s/other.so", folder);
    assert_int_equal(ff_file_read(library_path, 1 << 24, &bytes, &n, NULL, 0), FF_OK);
    write_file(path, bytes, n);
    bytes[n - 1] ^= 1; /* in the section headers, which a loader does not read */
    write_file(other, bytes, n);
    setenv("FF_BAD_PATH", path, 1);
    setenv("FF_BAD_OTHER", other, 1);
    char good[4096], text[4096];
    assert_int_equal(with("", library_path, good, sizeof good), 0);
    if (with("load:swap", path, text, sizeof text) != 0 || strcmp(text, good) != 0)
        fail_msg("not as without it: %s", text);
    unlink(path);
    unlink(other);
    free(bytes);
    assert_int_equal(rmdir(folder), 0);
}

static void test_a_file_that_is_no_library_is_refused(void **state) {
    (void)state;
    char folder[] = "/tmp/ff-library-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    const struct {
        const char *name, *part;
    } cases[] = {{"none", "cannot be read: No such file or directory"},
                 {"loop", "cannot be read: Too many levels of symbolic links"},
                 {"pipe", "not a file but a pipe"},
                 {"empty", "not a shared library that loads here: file too short"},
                 {"text", "not a shared library that loads here: "},
                 {"elf32", "not a shared library that loads here: wrong ELF class"},
                 {"cut", "crashes when it is loaded: Bus error"}};
    char *bytes = NULL;
    size_t n = 0;
    assert_int_equal(ff_file_read(library_path, 1 << 24, &bytes, &n, NULL, 0), FF_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, cases[i].name);
        if (i == 1)
            assert_int_equal(symlink(path, path), 0);
        else if (i == 2)
            assert_int_equal(mkfifo(path, 0600), 0);
        else if (i == 3)
            write_file(path, "", 0);
        else if (i == 4)
            write_file(path, "nothing that a loader takes, but longer than the header of an ELF file is", 70);
        else if (i == 5) {
            bytes[4] = 1; /* EI_CLASS */
            write_file(path, bytes, n);
            bytes[4] = 2;
        } else if (i == 6)
            write_file(path, bytes, 3000);
        expect("", path, 2, cases[i].part);
        char text[4096], *second; /* and its path stands there once */
        with("", path, text, sizeof text);
        second = strstr(text, path);
        if (!second || strstr(second + 1, path))
            fail_msg("its path is not there once: %s", text);
        unlink(path);
    }
    free(bytes);
    expect("", folder, 2, "not a file but a folder");
    assert_int_equal(rmdir(folder), 0);
}

/* A second file whose method has the first one's name: refused by either list, also beside one of the other.
 */
static void test_two_of_one_name_are_refused(void **state) {
    (void)state;
    typedef const ff_method_library *(*opens)(const char *, char *, size_t);
    const opens open[] = {ff_library_open, ff_library_open_trusted};
    char folder[] = "/tmp/ff-library-XXXXXX", path[64], *bytes = NULL;
    size_t n = 0;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/twin.so", folder);
    assert_int_equal(ff_file_read(library_path, 1 << 24, &bytes, &n, NULL, 0), FF_OK);
    write_file(path, bytes, n);
    free(bytes);
    for (int first = 0; first < 2; first++)
        for (int second = 0; second < 2; second++) {
            int status;
            const pid_t child = fork();
            if (child == 0) {
                char message[1600] = "", part[1600];
                unsetenv("FF_BAD");
                int found = 1;
                const ff_method_library *l = open[first](library_path, message, sizeof message);
                if (l &&
                    open[first](library_path, message, sizeof message) == l) { /* the same file: as before */
                    snprintf(part, sizeof part, "its method is named '%s', as %s; allowed: another name",
                             l->method->name, l->path);
                    found = open[second](path, message, sizeof message) ? 2 : strcmp(message, part) ? 3 : 0;
                }
                ff_watch_end(found); /* one that is watched */
                _exit(found);
            }
            assert_int_equal(waitpid(child, &status, 0), child);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                fail_msg("lists %d and %d: status %x", first, second, status);
        }
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

/* Nothing that a library starts outlives the trial: what is left is this process' to find. */
static void test_nothing_is_left_behind(void **state) {
    (void)state;
    pid_t found = 1;
    for (int n = 0; n < 200 && found >= 0; n++) {
        found = waitpid(-1, NULL, WNOHANG);
        if (found == 0) /* one that lives */
            usleep(10000);
    }
    assert_int_equal(found, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_fault_in_the_trial_refuses_the_library),
                                       cmocka_unit_test(test_a_fault_in_the_run_ends_it),
                                       cmocka_unit_test(test_what_a_library_does_to_itself_has_no_effect),
                                       cmocka_unit_test(test_a_file_that_changes_is_loaded_as_it_was),
                                       cmocka_unit_test(test_a_file_that_is_no_library_is_refused),
                                       cmocka_unit_test(test_two_of_one_name_are_refused),
                                       cmocka_unit_test(test_nothing_is_left_behind)};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
