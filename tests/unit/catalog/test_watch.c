/* A watched program from outside: whatever ends the code inside, the watcher gives its status and one line,
 * and a program that ends by itself keeps its own. */
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalog/watch.h"

static void ends_well(void) {
    ff_watch_enter(1, "stepped");
    ff_watch_leave(false);
}
static void crashes(void) {
    ff_watch_enter(1, "stepped");
    raise(SIGSEGV);
}
static void crashes_later(void) {
    ff_watch_enter(1, "stepped");
    ff_watch_leave(false);
    raise(SIGBUS);
}
static void exits(void) {
    ff_watch_enter(1, "asked for its report");
    _exit(0);
}
static void exits_later(void) {
    ff_watch_enter(1, "stepped");
    ff_watch_leave(false);
    _exit(0);
}
static void hangs(void) {
    ff_watch_enter(1, "reset");
    for (;;)
        pause();
}
static void forks(void) {
    ff_watch_enter(1, "stepped");
    if (fork() >= 0)
        ff_watch_end(0); /* must not be reached, by neither */
}
static void overwrites(void) {
    ff_watch_enter(1, "stepped");
    ff_watch_fault(1, "writes beyond its state");
}
static void is_terminated(void) {
    raise(SIGTERM);
}
static void terminates(void) {
    ff_watch_enter(1, "stepped");
    raise(SIGTERM);
}
static void moves_later(void) {
    ends_well();
    if (chdir("/") == 0)
        ff_watch_end(0);
}

/* Status of the process in which the program is watched, and what it printed. */
static int watched(void (*act)(void), char *text, size_t size) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        if (ff_watch_start(act == hangs ? 0.3 : 60.0)) { /* however busy the machine is */
            ff_watch_name(1, "law", "/x/law.so");
            act();
            ff_watch_end(5);
        }
        _exit(99);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; used + 1 < size && (n = read(ends[0], text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void test_each_end_is_one_line(void **state) {
    (void)state;
    static const struct {
        void (*act)(void);
        int status;
        const char *line;
    } cases[] = {
        {ends_well, 5, ""},
        {crashes, 1, "method 'law' (/x/law.so) crashes when it is stepped: Segmentation fault\n"},
        {crashes_later, 1,
         "method 'law' (/x/law.so) may have overwritten memory that is not its own: the program crashed "
         "after "
         "it was called (Bus error)\n"},
        {exits, 1,
         "method 'law' (/x/law.so) ends the program when it is asked for its report: there is no result\n"},
        {exits_later, 1, "method 'law' (/x/law.so) ends the program: there is no result\n"},
        {hangs, 1, "method 'law' (/x/law.so) does not return when it is reset: ended after 0.3 s\n"},
        {forks, 1, "method 'law' (/x/law.so) starts a process of its own when it is stepped\n"},
        {terminates, 1, "method 'law' (/x/law.so) crashes when it is stepped: Terminated\n"},
        {moves_later, 1, "method 'law' (/x/law.so) changes the working folder\n"},
        {overwrites, 1, "method 'law' (/x/law.so) writes beyond its state when it is stepped\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        const int status = watched(cases[i].act, text, sizeof text);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), cases[i].status);
        assert_string_equal(text, cases[i].line);
    }
}

/* What asks the program to end is not its method's fault: the watcher ends by the same signal. */
static void test_a_signal_from_outside_ends_both(void **state) {
    (void)state;
    char text[256];
    const int status = watched(is_terminated, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    assert_string_equal(text, "");
}

static void try_ends_well(void *self) {
    *(int *)self = 1; /* of this process alone */
    ends_well();
}
static void try_hangs(void *self) {
    (void)self;
    hangs();
}
static void try_crashes(void *self) {
    (void)self;
    crashes();
}
static void try_exits(void *self) {
    (void)self;
    _exit(0);
}
/* No descriptor of ours is in its reach, and it may write to its own. */
static void try_writes(void *self) {
    const int *end = self;
    if (write(*end, "x", 1) >= 0 || write(1, "x", 1) != 1 || write(2, "x", 1) != 1)
        abort();
}

static void test_a_trial_returns_its_verdict(void **state) {
    (void)state;
    char why[400];
    int ends[2], value = 0;
    assert_int_equal(pipe(ends), 0);
    assert_true(ff_watch_try(60.0, try_ends_well, &value, why, sizeof why));
    assert_int_equal(value, 0);
    assert_string_equal(why, "");
    assert_true(ff_watch_try(60.0, try_writes, &ends[1], why, sizeof why));
    assert_false(ff_watch_try(0.1, try_hangs, NULL, why, sizeof why));
    assert_string_equal(why, "does not return when it is reset: ended after 0.1 s");
    assert_false(ff_watch_try(60.0, try_crashes, NULL, why, sizeof why));
    assert_string_equal(why, "crashes when it is stepped: Segmentation fault");
    assert_false(ff_watch_try(60.0, try_exits, NULL, why, sizeof why));
    assert_string_equal(why, "ends the program: there is no result");
    char byte;
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    ff_watch_end(3); /* this program is not watched */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_end_is_one_line),
                                       cmocka_unit_test(test_a_signal_from_outside_ends_both),
                                       cmocka_unit_test(test_a_trial_returns_its_verdict)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
