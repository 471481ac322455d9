/* What a run on devices needs: the operating system's rights (the processor is kept awake while it is asked
 * for, and a refusal is one sentence), a computer that is in time, an operator at the console and limits. */
#include "operator/rights.h"
#include "operator/selftest.h"
#include "support.h"
#include "text/file.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

typedef struct asked {
    bool awake, nobody;
    ff_rights rights;
    bool held; /* the request's file was open */
} asked;

/* In a thread of its own: rights are the thread's, and so is the user for files. */
static void *take(void *self) {
    asked *a = self;
    if (a->nobody)
        setfsuid(65534);
    ff_rights_take(1, -1, a->awake, &a->rights);
    a->held = a->rights.awake && fcntl(a->rights.latency_fd, F_GETFD) != -1;
    return NULL;
}

static asked ask(bool awake, bool nobody) {
    asked a = {.awake = awake, .nobody = nobody};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take, &a), 0);
    pthread_join(thread, NULL);
    return a;
}

static void test_rights_awake_until_released(void **state) {
    (void)state;
    if (access("/dev/cpu_dma_latency", R_OK | W_OK) != 0)
        test_skip("no access to /dev/cpu_dma_latency");
    asked a = ask(true, false);
    assert_true(a.rights.awake && a.held);
    assert_null(strstr(a.rights.missing, "awake"));
    const int fd = a.rights.latency_fd;
    ff_rights_release(&a.rights);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    ff_rights_release(&a.rights); /* twice does no harm */
    assert_true(a.rights.awake);  /* what was granted is remembered */
}

static void test_rights_idle_asks_for_nothing(void **state) {
    (void)state;
    asked a = ask(false, false);
    assert_false(a.rights.awake);
    assert_null(strstr(a.rights.missing, "awake"));
    ff_rights_release(&a.rights);
}

static void test_rights_refused_is_said(void **state) {
    (void)state;
    asked a = ask(true, true);
    assert_false(a.rights.awake);
    assert_non_null(strstr(a.rights.missing, "an awake processor (/dev/cpu_dma_latency)"));
    assert_non_null(strstr(a.rights.missing, "not granted: "));
    assert_non_null(strstr(a.rights.missing, "; running best effort"));
    ff_rights_release(&a.rights);
}

/* Off the loop's CPU, if there is another. */
static void *step_aside(void *self) {
    (void)self;
    cpu_set_t all, now, only;
    const int cpu = ff_rights_cpu(-1);
    ff_rights_stand_aside(-1, &all);
    ff_rights_stand_aside(CPU_SETSIZE + 5, &now);
    assert_true(CPU_EQUAL(&all, &now)); /* neither is one */
    ff_rights_stand_aside(cpu, &now);
    assert_true(CPU_EQUAL(&all, &now)); /* as it was before */
    sched_getaffinity(0, sizeof now, &now);
    assert_int_equal(CPU_COUNT(&now), CPU_COUNT(&all) > 1 ? CPU_COUNT(&all) - 1 : 1);
    assert_true(CPU_COUNT(&all) == 1 || !CPU_ISSET((size_t)cpu, &now));
    CPU_ZERO(&only);
    CPU_SET((size_t)cpu, &only);
    assert_int_equal(sched_setaffinity(0, sizeof only, &only), 0);
    ff_rights_stand_aside(cpu, NULL); /* the only one: it stays */
    sched_getaffinity(0, sizeof now, &now);
    assert_true(CPU_EQUAL(&only, &now));
    return NULL;
}

static void test_rights_stand_aside(void **state) {
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, step_aside, NULL), 0);
    pthread_join(thread, NULL);
}

/* What is freed is not given back while a loop runs: that would interrupt it. */
static void test_rights_memory_stays(void **state) {
    (void)state;
    asked a = ask(false, false);
    ff_rights_release(&a.rights);
    const size_t mapped = mallinfo2().hblks;
    void *volatile large = malloc(4 << 20);
    assert_non_null(large);
    assert_int_equal(mallinfo2().hblks, mapped);
    const size_t held = mallinfo2().arena;
    free(large);
    assert_int_equal(mallinfo2().arena, held);
}

static void test_histogram(void **state) {
    (void)state;
    ff_histogram h = {0};
    assert_near(ff_histogram_at(&h, 0.5), 0.0, 0); /* nothing was measured */
    ff_histogram_add(&h, -5);                      /* a clock that was set back: at once */
    ff_histogram_add(&h, 1500);
    ff_histogram_add(&h, 2500);
    ff_histogram_add(&h, 7777777); /* beyond the bins: the largest itself */
    assert_int_equal(h.count, 4);
    assert_near(ff_histogram_at(&h, 0.25), 1.0, 0);
    assert_near(ff_histogram_at(&h, 0.5), 2.0, 0);
    assert_near(ff_histogram_at(&h, 0.75), 3.0, 0);
    assert_near(ff_histogram_at(&h, 1.0), 7777.777, 1e-9);
}

/* What it says follows from what it has measured, whatever this computer is. */
static void test_selftest(void **state) {
    (void)state;
    static ff_selftest t;
    assert_int_equal(ff_selftest_run(0.01, true, &t), FF_OK);
    assert_true(strlen(t.kernel) > 2 && t.clock_ns > 0 && *t.governor);
    assert_int_equal(t.wake.count, 10);
    assert_true(t.udp.count > 0);
    assert_false(t.rights.awake); /* deep idle is allowed */
    const double late = ff_histogram_at(&t.wake, 0.99) + ff_histogram_at(&t.udp, 0.99);
    const bool rights = t.rights.fifo && t.rights.locked;
    assert_int_equal(t.fit_250, rights && late < 400.0 && ff_histogram_at(&t.wake, 0.9999) < 2000.0);
    assert_int_equal(t.fit_1000, rights && late < 100.0 && ff_histogram_at(&t.wake, 0.9999) < 500.0);
    assert_non_null(strstr(t.verdict, t.fit_1000  ? "may close a 1 kHz loop"
                                      : t.fit_250 ? "may close a 250 Hz loop, not a 1 kHz one"
                                                  : "should not close a loop on real devices"));
    assert_int_equal(strstr(t.verdict, "rights are missing") != NULL, !rights);
}

/* A verdict counts for this computer, its kernel, thirty days, and the loops that it allows. */
static void test_selftest_is_kept(void **state) {
    (void)state;
    char folder[64] = "/tmp/ff_selftest_XXXXXX", path[256], message[256];
    assert_non_null(mkdtemp(folder));
    setenv("XDG_STATE_HOME", folder, 1);
    static ff_selftest t;
    const int64_t now = 1800000000, day = 86400;
    const struct {
        bool fit_250, fit_1000;
        double cycle;
        int64_t later;
        const char *why; /* NULL: it is allowed */
    } each[] = {
        {true, false, 0.004, 0, NULL},        {true, false, 0.004, 30 * day, NULL},
        {true, false, 0.012, 30 * day, NULL}, {true, false, 0.004, 30 * day + 1, "30 days old, allowed 30"},
        {true, true, 0.004, -1, "days old"},  {true, false, 0.001, 0, "refuses a 1 kHz loop"},
        {true, true, 0.001, 0, NULL},         {false, false, 0.004, 0, "refuses a 250 Hz loop"}};
    assert_false(ff_selftest_allows(0.004, now, message, sizeof message));
    assert_non_null(strstr(message, "there is none: freefloat rt --selftest"));
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        t.fit_250 = each[n].fit_250;
        t.fit_1000 = each[n].fit_1000;
        assert_int_equal(ff_selftest_keep(&t, now, path, sizeof path), FF_OK);
        assert_int_equal(ff_selftest_allows(each[n].cycle, now + each[n].later, message, sizeof message),
                         !each[n].why);
        if (each[n].why)
            assert_non_null(strstr(message, each[n].why));
    }
    /* from elsewhere, and not one at all */
    static const struct {
        const char *text, *why;
    } other[] = {{"freefloat selftest 1\nmachine x\nkernel y\ntime 1800000000\nfit_250 1\nfit_1000 1\n",
                  "of another computer"},
                 {"freefloat selftest 2\n", "there is none"}};
    t.fit_250 = true;
    assert_int_equal(ff_selftest_keep(&t, now, path, sizeof path), FF_OK);
    char *text, *kernel;
    size_t length;
    assert_int_equal(ff_file_read(path, 4096, &text, &length, NULL, 0), FF_OK);
    assert_non_null(kernel = strstr(text, "kernel "));
    kernel[7] = '~';
    assert_int_equal(ff_file_replace(path, text), FF_OK);
    free(text);
    assert_false(ff_selftest_allows(0.004, now, message, sizeof message));
    assert_non_null(strstr(message, "with another kernel"));
    for (int n = 0; n < 2; n++) {
        assert_int_equal(ff_file_replace(path, other[n].text), FF_OK);
        assert_false(ff_selftest_allows(0.004, now, message, sizeof message));
        assert_non_null(strstr(message, other[n].why));
    }
    unlink(path);
    snprintf(path, sizeof path, "%s/freefloat", folder);
    rmdir(path);
    rmdir(folder);
    /* without a home there is no place for it */
    unsetenv("XDG_STATE_HOME");
    char *home = strdup(getenv("HOME") ? getenv("HOME") : "");
    unsetenv("HOME");
    assert_int_equal(ff_selftest_keep(&t, now, path, sizeof path), FF_ERR_ARGUMENT);
    setenv("HOME", home, 1);
    free(home);
    char *much = malloc(5000);
    memset(much, 'x', 4999);
    much[4999] = 0;
    setenv("XDG_STATE_HOME", much, 1);
    assert_int_equal(ff_selftest_keep(&t, now, path, sizeof path), FF_ERR_SIZE);
    free(much);
}

static bool agree(void *user, const ff_check *check) {
    (void)user;
    (void)check;
    return true;
}

/* Addresses beyond this computer (192.0.2.0/24 is nobody's, RFC 5737): nothing is opened before there are an
 * operator and limits. */
static void test_real_devices_need_more(void **state) {
    (void)state;
    static const char text[] =
        "name: real\ntime: {cycle: 0.004, duration: 1}\nmethod: direct\nsatellites:\n"
        "  body: {mass: 50, inertia: [5, 6, 7], robot: {kind: kuka-rsi, address: 192.0.2.7, delay: 0.016, "
        "base: {position: [-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}}}\n";
    static ff_scenario scenario;
    static ff_rt_result result;
    static const atomic_bool stop;
    char message[512] = "", warnings[256];
    if (ff_scenario_parse("text", text, sizeof text - 1, NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    const ff_run_options run = {0};
    ff_rt_options options = {.stop = &stop};
    ff_rt_run(&scenario, &run, &options, &result);
    assert_int_equal(result.run.status, FF_ERR_ARGUMENT);
    assert_non_null(strstr(result.run.message, "armed by the operator at the console"));
    options.confirm = agree;
    ff_rt_run(&scenario, &run, &options, &result);
    assert_int_equal(result.run.status, FF_ERR_ARGUMENT);
    assert_non_null(strstr(result.run.message, "none for force velocity angular_velocity box energy"));
    assert_non_null(strstr(result.run.message, "satellites.body.safety"));
    ff_safety_limits *limits = &scenario.satellite[0].safety;
    limits->force = limits->velocity = limits->angular_velocity = limits->energy = 1.0;
    assert_false(ff_rt_may_move(&scenario, message, sizeof message));
    assert_non_null(strstr(message, "none for box;"));
    limits->box = ff_vec3_make(1, 1, 1); /* now the rights decide */
    setenv("XDG_STATE_HOME", "/nonexistent", 1);
    assert_false(ff_rt_may_move(&scenario, message, sizeof message)); /* or, with them, the self-test */
    assert_true(strstr(message, "a real robot needs real-time rights") ||
                strstr(message, "a real robot needs a passed self-test of this computer, and there is none"));
    options.ports.rsi_port = 65536;
    ff_rt_run(&scenario, &run, &options, &result);
    assert_int_equal(result.run.status, FF_ERR_ARGUMENT);
    assert_non_null(strstr(result.run.message, "satellites.body: robot.address and port"));
    options.ports = (ff_ports){.rsi_port = 59000, .http_port = 65536};
    ff_rt_run(&scenario, &run, &options, &result);
    assert_non_null(strstr(result.run.message, "satellites.body: sensor.address and its ports"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rights_awake_until_released),
                                       cmocka_unit_test(test_rights_idle_asks_for_nothing),
                                       cmocka_unit_test(test_rights_refused_is_said),
                                       cmocka_unit_test(test_rights_stand_aside),
                                       cmocka_unit_test(test_rights_memory_stays),
                                       cmocka_unit_test(test_histogram),
                                       cmocka_unit_test(test_selftest),
                                       cmocka_unit_test(test_selftest_is_kept),
                                       cmocka_unit_test(test_real_devices_need_more)};
    return test_ended(cmocka_run_group_tests(tests, NULL, NULL));
}
