/* A loop that is killed in the middle of its run, by kill -9: its log holds every row that the recorder was
 * given but the last 0.1 s. FF_CUT_LOG=PATH keeps the last one for other readers. */
#include "support.h"

#include "record/log.h"
#include "record/replay.h"
#include "operator/operator.h"
#include "server/facility.h"
#include "rt/ports.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static const char text[] =
    "name: killed\n"
    "time: {cycle: 0.004, duration: 60}\n"
    "satellites:\n"
    "  body: {mass: 100, inertia: [10, 10, 10], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.016},\n"
    "    safety: {missed: 1000, age: 5}}\n"
    "contacts:\n"
    "  - {name: right, kind: wall, at: [0.05, 0, 0], normal: [-1, 0, 0], stiffness: 3000}\n"
    "  - {name: left, kind: wall, at: [-0.05, 0, 0], normal: [1, 0, 0], stiffness: 3000}\n";

static ff_scenario scenario;
static atomic_ullong *given; /* rows that the recorder has in hand; seen by both processes */
static ff_ports ports;
static atomic_bool stop;

static void *serve(void *self) {
    static ff_facility_result result;
    const ff_facility_options options = {.ports = ports, .once = true, .timeout = 1000, .stop = &stop};
    (void)self;
    ff_facility_run(&scenario, &options, &result);
    return NULL;
}

static ff_status count(void *self, const ff_row *row) {
    (void)self;
    atomic_store(given, row->k + 1);
    return FF_OK;
}

/* The process that will be killed: never returns. */
static void live(const char *path) {
    static ff_log log;
    static ff_rt_result result;
    const ff_log_source source = {.path = "killed", .text = text, .length = sizeof text - 1};
    pthread_t thread;
    if (ff_log_open(path, &scenario, &source, &log) != FF_OK || pthread_create(&thread, NULL, serve, NULL))
        _exit(1);
    const ff_sink sinks[] = {{.row = count}, ff_log_sink(&log)};
    const ff_run_options run = {.sinks = sinks, .count = 2};
    const ff_rt_options options = {.ports = ports, .wait = 20.0, .silence = 3.0, .stop = &stop};
    ff_rt_run(&scenario, &run, &options, &result);
    _exit(2); /* it ended before it was killed */
}

static void test_kill_loses_a_tenth_of_a_second_at_most(void **state) {
    (void)state;
    char message[256] = "", warnings[256], path[256];
    const ff_scenario_options options = {0};
    assert_int_equal(ff_scenario_parse("killed", text, sizeof text - 1, &options, &scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    given = mmap(NULL, sizeof *given, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(given != MAP_FAILED);
    const char *keep = getenv("FF_CUT_LOG");
    snprintf(path, sizeof path, "%s", keep ? keep : "/tmp/freefloat-killed-XXXXXX.mcap");
    if (!keep)
        close(mkstemps(path, 5));
    ff_rng rng;
    ff_rng_seed(&rng, (uint64_t)getpid(), 1);
    const int kills = keep ? 1 : test_count(3, 30); /* who asks for a log needs one */
    unsigned long long worst = 0;
    int again = 5; /* a loop that a busy machine lets fall silent ends by itself: another one */
    for (int n = 0; n < kills; n++) {
        atomic_store(given, 0);
        ports = free_ports();
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            live(path);
        const unsigned long long until = 100 + (unsigned long long)(150.0 * ff_rng_uniform(&rng));
        int status = 0;
        while (atomic_load(given) < until && waitpid(child, &status, WNOHANG) == 0)
            nanosleep(&(struct timespec){0, 300000}, NULL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (!WIFSIGNALED(status) && again-- > 0) {
            n--;
            continue;
        }
        assert_true(WIFSIGNALED(status));
        static ff_logfile file;
        static ff_scenario read;
        ff_replay_result replayed = {0};
        assert_int_equal(ff_logfile_open(path, &file, message, sizeof message), FF_OK);
        assert_int_equal(ff_logfile_scenario(&file, NULL, &read, message, sizeof message), FF_OK);
        assert_int_equal(ff_replay(&file, &read, &replayed, message, sizeof message), FF_OK);
        ff_logfile_close(&file);
        const unsigned long long rows = atomic_load(given), lost = rows - replayed.cycles;
        assert_true(replayed.cut && !replayed.differs);
        assert_true(rows >= replayed.cycles);
        worst = lost > worst ? lost : worst;
        /* the row in hand, and the 0.1 s that may wait for their chunk */
        assert_true((double)(lost - (lost > 0)) * scenario.cycle <= FF_SINK_FLUSH);
        if (keep)
            print_message("rows %llu\n", rows);
    }
    print_message("%d kills: at most %llu rows of 4 ms lost\n", kills, worst);
    if (!keep)
        unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill_loses_a_tenth_of_a_second_at_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
