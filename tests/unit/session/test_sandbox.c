/* The sandbox, each time in a process of its own, which it is never left by: what is read, what the system
 * refuses, what is limited; and that a run still runs. */
#include "session/sandbox.h"
#include "session/session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_support.h"
#include "text/file.h"

static char message[512];
static char *text;
static size_t length;

static bool reads(const char *path) {
    char why[300] = "";
    const ff_status status = ff_file_read(path, 1 << 20, &text, &length, why, sizeof why);
    free(text);
    if (status != FF_OK && !strstr(why, "no such file in the scenario's folder (--sandbox)"))
        print_message("%s: %s\n", path, why);
    return status == FF_OK;
}

/* 0, or the line of the first thing that was not as expected. */
#define EXPECT(condition)    \
    do {                     \
        if (!(condition))    \
            return __LINE__; \
    } while (0)

static int files(void) {
    EXPECT(ff_sandbox_enter(in_folder("in/s.yaml"), message, sizeof message) == FF_OK);
    EXPECT(reads(in_folder("in/s.yaml")));
    EXPECT(reads(in_folder("in/../in/s.yaml")));
    EXPECT(!reads(in_folder("outside.yaml")));
    EXPECT(!reads(in_folder("in/../outside.yaml")));
    EXPECT(!reads(in_folder("in/link.yaml"))); /* leads out */
    EXPECT(!reads(in_folder("inside.yaml")));  /* begins with the folder's name */
    EXPECT(!reads("/etc/passwd"));
    EXPECT(!reads(in_folder("in/none.yaml")));
    EXPECT(ff_file_read_own(in_folder("outside.yaml"), 1 << 20, &text, &length, NULL, 0) == FF_OK);
    free(text); /* a manifest of ours, which no scenario names */
    return 0;
}

/* While a name leads inside and out by turns: what is read is always what lies inside. */
static int swapped(void) {
    EXPECT(ff_sandbox_enter(in_folder("in/s.yaml"), message, sizeof message) == FF_OK);
    for (int i = 0, found = 0; i < test_count(20000, 200000) || !found; i++)
        if (ff_file_read(in_folder("in/swap.yaml"), 1 << 20, &text, &length, NULL, 0) == FF_OK) {
            EXPECT(strcmp(text, "name: s\n") == 0);
            free(text);
            found = 1;
        }
    return 0;
}

static void swap_forever(void) {
    for (int i = 0;; i++)
        if (symlink(i % 2 ? "s.yaml" : "../outside.yaml", in_folder("in/next")) != 0 ||
            rename(in_folder("in/next"), in_folder("in/swap.yaml")) != 0)
            _exit(1);
}

static void *nothing(void *self) {
    return self;
}

static int calls(void) {
    EXPECT(ff_sandbox_enter(in_folder("in/s.yaml"), message, sizeof message) == FF_OK);
    EXPECT(socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EPERM);
    EXPECT(socket(AF_UNIX, SOCK_DGRAM, 0) == -1 && errno == EPERM);
    EXPECT(fork() == -1 && errno == EPERM);
    char *const none[] = {NULL};
    EXPECT(execve("/bin/true", none, none) == -1 && errno == EPERM);
    EXPECT(kill(getppid(), 0) == -1 && errno == EPERM);
    pthread_t thread; /* is allowed */
    EXPECT(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
    return 0;
}

static int limits(void) {
    EXPECT(ff_sandbox_enter(in_folder("in/s.yaml"), message, sizeof message) == FF_OK);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    void *volatile much = malloc((size_t)(FF_SANDBOX_MEMORY + 1) << 20);
    EXPECT(!much);
#endif
    struct rlimit limit;
    EXPECT(getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur == FF_SANDBOX_TIME);
    FILE *f = fopen(in_folder("large"), "w");
    EXPECT(f && ftruncate(fileno(f), ((off_t)FF_SANDBOX_FILE << 20) + 1) == -1 && errno == EFBIG);
    const struct rlimit more = {FF_SANDBOX_TIME + 100, FF_SANDBOX_TIME + 100};
    EXPECT(getuid() == 0 || setrlimit(RLIMIT_CPU, &more) == -1);
    raise(SIGXCPU); /* says so and ends with 1 */
    return __LINE__;
}

static int whole_run(void) {
    EXPECT(ff_sandbox_enter(FF_SOURCE_DIR "/scenarios/wall.yaml", message, sizeof message) == FF_OK);
    ff_outcome outcome;
    ff_notes notes = {.error = ""};
    const ff_scenario_options load = {.catalog = &ff_sandbox_catalog};
    ff_session *session = ff_session_open(FF_SOURCE_DIR "/scenarios/wall.yaml", &load, &outcome, &notes);
    EXPECT(session && ff_sandbox_allows(&session->scenario, message, sizeof message));
    const ff_session_options options = {.out = in_folder("run"), .csv = true, .mcap = true};
    EXPECT(ff_session_execute(session, &options, &notes) == FF_DONE);
    session->scenario.satellite[0].obsw.kind = 1;
    EXPECT(!ff_sandbox_allows(&session->scenario, message, sizeof message));
    EXPECT(strstr(message, "satellites.body.obsw: --sandbox loads no library"));
    ff_session_close(session);
    const ff_scenario_options library = {.catalog = &ff_sandbox_catalog, .method = "./law.so"};
    EXPECT(!ff_session_open(FF_SOURCE_DIR "/scenarios/wall.yaml", &library, &outcome, &notes));
    EXPECT(strstr(notes.error, "--sandbox loads no library"));
    return 0;
}

static int in_a_process(int (*what)(void)) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int line = what();
        if (line)
            fprintf(stderr, "%s:%d: %s %s\n", __FILE__, line, message, strerror(errno));
        _exit(line ? 99 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_files_outside_are_not_read(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_folder("in"), 0777), 0);
    put_file("in/s.yaml", "name: s\n");
    put_file("outside.yaml", "name: o\n");
    put_file("inside.yaml", "name: i\n");
    assert_int_equal(symlink("../outside.yaml", in_folder("in/link.yaml")), 0);
    assert_int_equal(in_a_process(files), 0);
    const pid_t swaps = fork();
    assert_true(swaps >= 0);
    if (swaps == 0)
        swap_forever();
    const int status = in_a_process(swapped);
    kill(swaps, SIGKILL);
    waitpid(swaps, NULL, 0);
    assert_int_equal(status, 0);
    assert_int_equal(ff_sandbox_enter("/nowhere/at/all.yaml", message, sizeof message), FF_ERR_IO);
    assert_non_null(strstr(message, "/nowhere/at/: No such file"));
}

static void test_the_system_refuses_network_and_programs(void **state) {
    (void)state;
    assert_int_equal(in_a_process(calls), 0);
}

static void test_memory_time_and_files_are_limited(void **state) {
    (void)state;
    assert_int_equal(in_a_process(limits), 1);
}

static void test_a_run_runs_without_libraries(void **state) {
    (void)state;
    assert_int_equal(in_a_process(whole_run), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_outside_are_not_read),
        cmocka_unit_test(test_the_system_refuses_network_and_programs),
        cmocka_unit_test(test_memory_time_and_files_are_limited),
        cmocka_unit_test(test_a_run_runs_without_libraries),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
