/* A shared object in its own process: hand-over of the numbers, slow steps, and what it costs. The command
 * line tests have the hung, crashed and ended ones. */
#include "support.h"

#include <time.h>
#include <unistd.h>

#include "obsw/shared.h"

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void open_bad(ff_obsw_shared *s, const char *fault, const char *at, double timeout) {
    char message[300] = "";
    const ff_obsw_setup setup = {FF_OBSW_VERSION, 7, 0.004};
    setenv("OBSW_FAULT", fault, 1);
    setenv("OBSW_AT", at, 1);
    if (ff_obsw_shared_open(s, NULL, FF_BUILD_DIR "/tests/libobsw_bad.so", &setup, timeout, message,
                            sizeof message) != FF_OK)
        fail_msg("%s", message);
}

/* One that is late once: that step has no answer, the answer that comes is not used, and then it is asked
 * again. */
static void test_slow_step_is_missed_once(void **state) {
    (void)state;
    ff_obsw_shared s;
    char gate[] = "/tmp/ff-gate-XXXXXX";
    close(mkstemp(gate));
    unlink(gate);
    setenv("OBSW_GATE", gate, 1);
    open_bad(&s, "wait", "3", 60);
    int missed = 0;
    for (uint64_t k = 0; k < 8; k++) {
        s.timeout =
            k == 3 ? 0.02 : 60; /* only the one that waits shall be late, however busy the machine is */
        const ff_obsw_in in = {.sequence = k, .t = 0.004 * (double)k};
        ff_obsw_out out = {.force = {0}};
        const ff_status status = ff_obsw_shared_step(&s, &in, &out);
        if (k == 3)
            assert_int_equal(status, FF_INFO_HELD);
        if (k == 4) { /* not waited for again */
            assert_int_equal(status, FF_INFO_HELD);
            FILE *const opened = fopen(gate, "w");
            assert_non_null(opened);
            fclose(opened);
            while (s.busy) {
                usleep(1000);
                ff_obsw_shared_step(&s, &in, &out);
            }
        }
        if (status == FF_OK)
            assert_near(out.force[0], 1, 0);
        missed += status != FF_OK;
    }
    assert_int_equal(missed, 2);
    assert_int_equal(s.info.stuck, 1);
    assert_near(s.info.stuck_at, 0.012, 1e-12);
    assert_false(s.info.died);
    ff_obsw_shared_close(&s);
    ff_obsw_shared_close(&s);
    unlink(gate);
}

static void test_many_steps(void **state) {
    (void)state;
    ff_obsw_shared s;
    open_bad(&s, "none", "0", 60);
    const double begin = now_s();
    for (uint64_t k = 0; k < 5000; k++) {
        const ff_obsw_in in = {.sequence = k};
        ff_obsw_out out = {.force = {0}};
        assert_int_equal(ff_obsw_shared_step(&s, &in, &out), FF_OK);
    }
    print_message("a step through the other process: %.1f us\n", 1e6 * (now_s() - begin) / 5000);
    ff_obsw_shared_close(&s);
}

/* A second one beside the first, as facility and orbit have them; the first one's end is not the second's. */
static void test_two_at_once(void **state) {
    (void)state;
    ff_obsw_shared a, b;
    open_bad(&a, "crash", "2", 60);
    open_bad(&b, "none", "0", 60);
    for (uint64_t k = 0; k < 5; k++) {
        const ff_obsw_in in = {.sequence = k, .t = (double)k};
        ff_obsw_out out = {.force = {0}};
        assert_int_equal(ff_obsw_shared_step(&a, &in, &out), k < 2 ? FF_OK : FF_INFO_HELD);
        assert_int_equal(ff_obsw_shared_step(&b, &in, &out), FF_OK);
    }
    assert_true(a.info.died);
    assert_near(a.info.died_at, 2, 0);
    ff_obsw_shared_close(&b);
    ff_obsw_shared_close(&a);
}

/* A library that writes into every descriptor it can find reaches none of ours, nor our standard input. */
static void test_ours_are_out_of_its_reach(void **state) {
    (void)state;
    ff_obsw_shared s;
    FILE *const log = tmpfile(); /* open before the child is made, and not marked to be closed */
    assert_non_null(log);
    open_bad(&s, "scribble", "0", 60);
    const ff_obsw_in in = {.sequence = 0};
    ff_obsw_out out = {.force = {0}};
    assert_int_equal(ff_obsw_shared_step(&s, &in, &out), FF_OK);
    assert_near(out.force[0], 1, 0); /* 2: a write was taken */
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/%d/fd/0", (int)s.child);
    assert_true(readlink(path, target, sizeof target - 1) > 0);
    assert_string_equal(target, "/dev/null");
    ff_obsw_shared_close(&s);
    assert_int_equal(fseek(log, 0, SEEK_END), 0);
    assert_int_equal(ftell(log), 0);
    fclose(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ours_are_out_of_its_reach),
        cmocka_unit_test(test_slow_step_is_missed_once),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_two_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
