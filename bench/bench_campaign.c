/* Campaigns: what a sample costs beside its simulation, samples a second and core, and what a second thread
 * or rank brings beside what it brings a loop of pure arithmetic in the same run. A shared or throttled
 * machine slows both sides of each comparison, so they are taken in turns, sample by sample or run by run,
 * and medians are kept. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "campaign/pool.h"
#include "campaign/worker.h"

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
             "  contacts.right.stiffness: {log: [10000, 40000]}\nmetrics: [%s]\n"
             "until: end\n", /* whole runs: a cycle is what is compared */
             method, samples, metrics);
    ff_campaign *c = calloc(1, sizeof *c);
    if (!c || !write_file(path, text) ||
        ff_campaign_load(path, NULL, c, message, sizeof message, NULL, 0) != FF_OK) {
        printf("%s\n", message);
        free(c);
        return NULL;
    }
    return c;
}

/* ------------------------------------------------------------------------- one core: overhead and rate -- */

/* of this thread */
static double cpu_s(void) {
    return 1e-9 * bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

typedef struct bench {
    const ff_campaign *c;
    ff_references *store;
    ff_worker *worker;
    ff_journal journal;
    ff_scenario_template *template;
    ff_scenario scenario;
    ff_metrics metrics;
    ff_campaign_case sample;
    ff_record record;
    unsigned char bytes[FF_RECORD_BYTES];
} bench;

/* The campaign's way: sample, read, reference, run, metrics, record, write. */
static double campaign_way(bench *b, uint64_t i) {
    int count;
    const double t0 = cpu_s();
    ff_worker_run(b->worker, i, 1, &b->record, &count);
    ff_journal_append(&b->journal, b->bytes, ff_record_encode(&b->record, b->c->metrics, b->bytes));
    return cpu_s() - t0;
}

/* The same simulation alone: `run` and the metrics it reports, the scenario and the reference at hand. */
static double simulation_alone(bench *b, uint64_t i, double *reference) {
    char message[512];
    ff_campaign_sample(b->c, i, &b->sample);
    ff_scenario_template_read(b->template, b->sample.value, &b->scenario, message, sizeof message);
    double t0 = cpu_s();
    const ff_reference *r = b->c->needs_ideal ? ff_references_take(b->store, &b->scenario, NULL, NULL) : NULL;
    const ff_ideal_result *ideal = r ? &r->result : NULL;
    *reference = cpu_s() - t0;
    t0 = cpu_s();
    ff_metrics_reset(&b->scenario, &b->metrics);
    const ff_sink sink = ff_metrics_sink(&b->metrics);
    const ff_run_options options = {.sinks = &sink, .count = 1, .ideal = ideal};
    ff_run_result result;
    ff_run(&b->scenario, &options, &result);
    ff_metrics_finish(&b->metrics, ideal, result.status);
    const double t = cpu_s() - t0;
    ff_references_release(b->store, r);
    return t;
}

/* Where the reference is a part of it, each way has a store of its own: else one would find what the other
 * has computed. */
static void one_core(const char *folder, const char *method, const char *metrics, const char *what) {
    enum { SAMPLES = 600 };
    static double whole[SAMPLES], alone[SAMPLES], check[SAMPLES], reference[SAMPLES], over[SAMPLES / 2];
    ff_campaign *c = load(folder, method, metrics, SAMPLES);
    bench *b = calloc(1, sizeof *b);
    ff_references *store = ff_references_create((size_t)16 << 20);
    char message[512] = "no memory";
    if (b) {
        b->c = c;
        b->store = ff_references_create((size_t)16 << 20);
    }
    if (!c || !b || !(b->worker = ff_worker_create(c, store, NULL, message, sizeof message)) ||
        ff_journal_open(folder, c, &b->journal, message, sizeof message) != FF_OK ||
        ff_campaign_template(c, 0, &b->template, message, sizeof message) != FF_OK ||
        ff_metrics_init(&b->scenario, &b->metrics) != FF_OK) {
        printf("%s\n", message);
        exit(1);
    }
    for (uint64_t i = 0; i < SAMPLES; i++) {
        const double t0 = cpu_s();
        ff_worker_check(b->worker, i, message, sizeof message);
        check[i] = cpu_s() - t0;
        if (i % 2 == 0)
            whole[i] = campaign_way(b, i);
        alone[i] = simulation_alone(b, i, &reference[i]);
        if (i % 2 == 1)
            whole[i] = campaign_way(b, i);
        whole[i] += check[i];
        /* who comes second finds caches and branches trained on this very sample: one of each order makes a
         * pair */
        if (i % 2 == 1)
            over[i / 2] = 0.5 * (whole[i] - alone[i] + whole[i - 1] - alone[i - 1]);
    }
    const double w = bench_median(whole, SAMPLES), a = bench_median(alone, SAMPLES),
                 ck = bench_median(check, SAMPLES), o = bench_median(over, SAMPLES / 2);
    printf("%-32s %6.0f samples/s and core, %6.1f us a sample, %6.1f simulation, overhead %5.1f us (%5.1f to "
           "%5.1f; the check %.1f, the "
           "reference %.1f of it)\n",
           what, 1.0 / w, 1e6 * w, 1e6 * a, 1e6 * o, 1e6 * over[SAMPLES / 8], 1e6 * over[3 * SAMPLES / 8],
           1e6 * ck, 1e6 * bench_median(reference, SAMPLES));
    ff_metrics_free(&b->metrics);
    ff_scenario_template_free(b->template);
    ff_worker_free(b->worker);
    ff_references_free(store);
    ff_references_free(b->store);
    ff_journal_close(&b->journal);
    unlink(b->journal.path);
    free(b);
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
    long each = steps / threads;
    const double t0 = bench_now_ns();
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, arithmetic, &each);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    return 1e-9 * (bench_now_ns() - t0);
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
    snprintf(command, sizeof command,
             "mpirun --allow-run-as-root --oversubscribe --bind-to none -np %d %s campaign %s/c.yaml --out "
             "%s/r --json > %s/json "
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

static double least(const double *values, int n) {
    double least = values[0];
    for (int i = 1; i < n; i++)
        least = fmin(least, values[i]);
    return least;
}

/* Everything in turns; the least of each, so that a neighbour's burst does not decide. Time is that of the
 * pool: MPI's own start, some 70 ms a rank, is not in it. */
static void two(const char *folder) {
    enum { ROUNDS = 5, STEPS = 60000000 };
    ff_campaign *c = load(folder, "tdpa", "contacts", 3000);
    double loop[2][ROUNDS], threads[2][ROUNDS], ranks[ROUNDS];
    if (!c)
        return;
    const bool mpi = system("command -v mpirun > /dev/null 2>&1") == 0 && isfinite(ranks_time(folder, 2));
    for (int i = 0; i < ROUNDS; i++) {
        for (int n = 0; n < 2; n++) {
            loop[n][i] = arithmetic_time(n + 1, STEPS);
            threads[n][i] = pool_time(folder, c, n + 1);
        }
        ranks[i] = mpi ? ranks_time(folder, 2) : FF_NAN;
    }
    const double l = least(loop[1], ROUNDS) / least(loop[0], ROUNDS),
                 t = least(threads[1], ROUNDS) / least(threads[0], ROUNDS);
    printf("time of two threads against one: arithmetic loop %.2f, campaign %.2f", l, t);
    bench_row("two threads: time against one", "", t, "a loop of arithmetic", l);
    if (mpi) {
        printf("; two ranks against two threads %.3f", least(ranks, ROUNDS) / least(threads[1], ROUNDS));
        bench_row("mpirun -n 2, 3000 samples", "s", least(ranks, ROUNDS), "two threads",
                  least(threads[1], ROUNDS));
    } else
        printf("; ranks not measured (no mpirun, or no program: FREEFLOAT names it)");
    printf(", %ld cores\n", sysconf(_SC_NPROCESSORS_ONLN));
    ff_campaign_free(c);
    free(c);
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/ff_bench_XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    printf("campaign: one contact, T = 4 ms, 2 s each\n");
    one_core(folder, "direct", "contacts", "direct, without the reference");
    one_core(folder, "tdpa", "contacts", "tdpa, without the reference");
    one_core(folder, "tdpa", "rebound_error, peak_force_ratio", "tdpa, reference in closed form");
    if (argc < 2 || strcmp(argv[1], "overhead") != 0)
        two(folder);
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? 0 : 1; /* NOLINT */
}
