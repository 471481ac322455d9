/* Campaigns: what a sample costs beside its simulation, samples a second and core, and what a second thread
 * brings beside what it brings a loop of pure arithmetic in the same run (a shared or throttled machine slows
 * both). Times are of the process's own processor time where one thread works, so that neighbours matter
 * less. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "campaign/pool.h"
#include "campaign/worker.h"

static double clock_s(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char scenario[] =
    "name: wall\ntime: {cycle: 0.004, duration: 2}\nsatellites:\n"
    "  body: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.016}}\n"
    "contacts:\n"
    "  - {name: right, kind: wall, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 20000, damping: 0}\n";

static bool write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

static ff_campaign *load(const char *folder, const char *method, const char *metrics, unsigned samples) {
    static char path[256], text[1024], message[1024];
    snprintf(path, sizeof path, "%s/base.yaml", folder);
    if (!write_file(path, scenario))
        return NULL;
    snprintf(path, sizeof path, "%s/c.yaml", folder);
    snprintf(text, sizeof text,
             "name: bench\nbase: base.yaml\nmethods: [%s]\nsamples: %u\nvary:\n"
             "  satellites.body.robot.delay: {uniform: [0.005, 0.03]}\n"
             "  contacts.right.stiffness: {log: [10000, 40000]}\nmetrics: [%s]\n",
             method, samples, metrics);
    ff_campaign *c = calloc(1, sizeof *c);
    if (!c || !write_file(path, text) ||
        ff_campaign_load(path, c, message, sizeof message, NULL, 0) != FF_OK) {
        printf("%s\n", message);
        free(c);
        return NULL;
    }
    return c;
}

/* ------------------------------------------------------------------------- one core: overhead and rate -- */

static void one_core(const char *folder, const char *method, const char *metrics, const char *what) {
    ff_campaign *c = load(folder, method, metrics, 4000);
    char message[512];
    if (!c)
        return;
    ff_references *store = ff_references_create((size_t)16 << 20);
    ff_worker *worker = ff_worker_create(c, store, NULL, message, sizeof message);
    ff_journal journal;
    if (!worker || ff_journal_open(folder, c, &journal, message, sizeof message) != FF_OK) {
        printf("%s\n", message);
        return;
    }
    ff_scenario *s = malloc(sizeof *s);
    ff_scenario_template *t = NULL;
    ff_metrics metrics_memory;
    ff_sample sample;
    ff_record record;
    unsigned char bytes[FF_RECORD_BYTES];
    ff_campaign_template(c, 0, &t, message, sizeof message);
    ff_metrics_init(s, &metrics_memory);
    double whole = FF_INF, bare = FF_INF, check = FF_INF;
    enum { BATCH = 400, BATCHES = 10 };
    for (int b = 0; b < BATCHES; b++) {
        double t0 = clock_s(CLOCK_THREAD_CPUTIME_ID);
        for (uint64_t i = 0; i < BATCH; i++)
            ff_worker_check(worker, (uint64_t)b * BATCH + i, message, sizeof message);
        check = fmin(check, (clock_s(CLOCK_THREAD_CPUTIME_ID) - t0) / BATCH);
        /* the campaign's way: sample, read, run, metrics, record, write */
        t0 = clock_s(CLOCK_THREAD_CPUTIME_ID);
        for (uint64_t i = 0; i < BATCH; i++) {
            int count;
            ff_worker_run(worker, (uint64_t)b * BATCH + i, 1, &record, &count);
            ff_journal_append(&journal, bytes, ff_record_encode(&record, c->metrics, bytes));
        }
        whole = fmin(whole, (clock_s(CLOCK_THREAD_CPUTIME_ID) - t0) / BATCH);
        /* the same simulations alone */
        double sum = 0.0;
        for (uint64_t i = 0; i < BATCH; i++) {
            ff_campaign_sample(c, (uint64_t)b * BATCH + i, &sample);
            ff_scenario_template_read(t, sample.value, s, message, sizeof message);
            const ff_reference *r = c->needs_ideal ? ff_references_take(store, s, NULL, NULL) : NULL;
            t0 = clock_s(CLOCK_THREAD_CPUTIME_ID);
            ff_metrics_reset(s, &metrics_memory);
            const ff_sink sink = ff_metrics_sink(&metrics_memory);
            const ff_run_options options = {.sinks = &sink, .count = 1, .ideal = r ? &r->result : NULL};
            ff_run_result result;
            ff_run(s, &options, &result);
            sum += clock_s(CLOCK_THREAD_CPUTIME_ID) - t0;
            ff_references_release(store, r);
        }
        bare = fmin(bare, sum / BATCH);
    }
    printf("%-34s %7.0f samples/s and core, %6.1f us a sample, overhead %5.1f us (check %.1f us of it)\n",
           what, 1.0 / (whole + check), 1e6 * (whole + check), 1e6 * (whole - bare + check), 1e6 * check);
    ff_metrics_free(&metrics_memory);
    ff_scenario_template_free(t);
    free(s);
    ff_worker_free(worker);
    ff_references_free(store);
    ff_journal_close(&journal);
    unlink(journal.path);
    ff_campaign_free(c);
    free(c);
}

/* --------------------------------------------------------------------------------- two threads, two ranks --
 */

static void *arithmetic(void *user) {
    double x = 0.5;
    for (long i = 0; i < *(long *)user; i++)
        x = 3.9 * x * (1.0 - x);
    return x > 2.0 ? user : NULL;
}

static double arithmetic_time(int threads, long steps) {
    pthread_t thread[2];
    const double t0 = clock_s(CLOCK_MONOTONIC);
    long each = steps / threads;
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, arithmetic, &each);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return clock_s(CLOCK_MONOTONIC) - t0;
}

static double pool_time(const char *folder, const ff_campaign *c, int threads) {
    char message[512];
    ff_journal journal;
    if (ff_journal_open(folder, c, &journal, message, sizeof message) != FF_OK)
        return FF_NAN;
    const ff_ranks ranks = {.count = 1};
    const ff_pool_options options = {.threads = threads};
    ff_pool_result result;
    ff_pool_run(c, &journal, &ranks, &options, &result);
    ff_journal_close(&journal);
    unlink(journal.path);
    return result.seconds;
}

static double ranks_time(const char *folder, int ranks) {
    char command[1024];
    const char *program = getenv("FREEFLOAT");
    snprintf(
        command, sizeof command,
        "mpirun --allow-run-as-root --oversubscribe -np %d %s campaign %s/c.yaml --out %s/r --json > %s/json "
        "2>/dev/null",
        ranks, program ? program : "build-release/freefloat", folder, folder, folder);
    if (system(command) != 0) /* NOLINT: our own words */
        return FF_NAN;
    snprintf(command, sizeof command, "%s/json", folder);
    FILE *file = fopen(command, "r");
    static char text[65536];
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = 0;
    double seconds = FF_NAN;
    ff_json_lookup(text, "seconds", &seconds);
    snprintf(command, sizeof command, "rm -rf %s/r", folder);
    return system(command) == 0 ? seconds : FF_NAN; /* NOLINT */
}

/* Pairs taken in turns; the medians of the ratios, so that a neighbour's burst does not decide. */
static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void two(const char *folder) {
    enum { ROUNDS = 7 };
    ff_campaign *c = load(folder, "tdpa", "contacts", 3000);
    double loop[ROUNDS], threads[ROUNDS], ranks[ROUNDS];
    if (!c)
        return;
    for (int i = 0; i < ROUNDS; i++) {
        loop[i] = arithmetic_time(1, 200000000) / arithmetic_time(2, 200000000);
        threads[i] = pool_time(folder, c, 1) / pool_time(folder, c, 2);
        ranks[i] = ranks_time(folder, 1) / ranks_time(folder, 2);
    }
    qsort(loop, ROUNDS, sizeof *loop, by_value);
    qsort(threads, ROUNDS, sizeof *threads, by_value);
    qsort(ranks, ROUNDS, sizeof *ranks, by_value);
    const double l = loop[ROUNDS / 2];
    printf("speed-up of two: arithmetic loop %.2f, threads %.2f (%.2f of it), ranks %.2f (%.2f of it), %ld "
           "cores\n",
           l, threads[ROUNDS / 2], threads[ROUNDS / 2] / l, ranks[ROUNDS / 2], ranks[ROUNDS / 2] / l,
           sysconf(_SC_NPROCESSORS_ONLN));
    ff_campaign_free(c);
    free(c);
}

int main(void) {
    char folder[] = "/tmp/ff_bench_XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    printf("campaign: one contact, T = 4 ms, 2 s each\n");
    one_core(folder, "direct", "contacts", "direct, without the reference");
    one_core(folder, "tdpa", "contacts", "tdpa, without the reference");
    one_core(folder, "tdpa", "rebound_error, peak_force_ratio", "tdpa, reference in closed form");
    two(folder);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1; /* NOLINT */
}
