/* A row of log.csv and of log.mcap beside a plain fwrite of the same bytes: processor time in the sinks of
 * one run, files closed, in turns; the least of the rounds. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "executive/run.h"
#include "record/csv.h"
#include "record/log.h"

enum { ROUNDS = 9 };

static const char text[] =
    "name: bench\ntime: {cycle: 0.004, duration: 8}\nsatellites:\n"
    "  body: {mass: 280, inertia: [18, 20, 22], velocity: [0.005, 0, 0.05],\n"
    "         angular_velocity: [0.01, 0.02, 0.01], robot: {kind: delay, delay: 0.04},\n"
    "         sensor: {kind: noisy, force_noise: 0.2}}\n"
    "contacts:\n  - {kind: wall, at: [0, 0, 0.03], normal: [0, 0, -1], stiffness: 2000, damping: 5}\n";

/* of this thread: what else the machine does, and its disk, do not count */
static double cpu_ns(void) {
    return bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Rows are taken in batches: reading the clock takes as long as a part of a row. */
enum { BATCH = 50 };
static ff_sink inner;
static double spent;
static long rows;
static int held;

static ff_status flush_rows(const ff_row *row) {
    static ff_row batch[BATCH];
    if (row)
        batch[held++] = *row;
    if (held < BATCH && row)
        return FF_OK;
    ff_status status = FF_OK;
    const double begin = cpu_ns();
    for (int i = 0; i < held && status == FF_OK; i++)
        status = inner.row(inner.self, &batch[i]);
    spent += cpu_ns() - begin;
    rows += held;
    held = 0;
    return status;
}

static ff_status timed_row(void *self, const ff_row *row) {
    (void)self;
    return flush_rows(row);
}

static void run_into(const ff_scenario *scenario) {
    const ff_sink sink = {.row = timed_row};
    ff_run_result result;
    spent = 0.0;
    rows = 0;
    ff_run(scenario, &(ff_run_options){.sinks = &sink, .count = 1}, &result);
    flush_rows(NULL);
}

/* [ns] a row */
static double csv_row(const ff_scenario *scenario, const char *path) {
    static ff_csv csv;
    if (ff_csv_open(path, scenario, &csv) != FF_OK)
        return FF_NAN;
    inner = ff_csv_sink(&csv);
    run_into(scenario);
    const double begin = cpu_ns();
    ff_csv_close(&csv, true);
    return (spent + cpu_ns() - begin) / (double)rows;
}

static double mcap_row(const ff_scenario *scenario, const char *path) {
    static ff_log log;
    const ff_log_source source = {.path = "bench", .text = text, .length = sizeof text - 1};
    if (ff_log_open(path, scenario, &source, &log) != FF_OK)
        return FF_NAN;
    inner = ff_log_sink(&log);
    run_into(scenario);
    const double begin = cpu_ns();
    ff_log_close(&log);
    return (spent + cpu_ns() - begin) / (double)rows;
}

static double plain_row(size_t bytes, const char *path) {
    char *block = calloc(1, bytes);
    FILE *file = fopen(path, "w");
    if (!block || !file)
        return FF_NAN;
    const double begin = cpu_ns();
    for (long i = 0; i < rows; i++)
        fwrite(block, 1, bytes, file);
    fclose(file);
    const double took = cpu_ns() - begin;
    free(block);
    return took / (double)rows;
}

static void compare(const char *name, const ff_scenario *scenario, const char *path,
                    double (*row)(const ff_scenario *, const char *)) {
    double ours[ROUNDS], plain[ROUNDS];
    struct stat info;
    size_t bytes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = row(scenario, path);
        bytes = stat(path, &info) == 0 ? (size_t)info.st_size / (size_t)rows : 0;
        plain[i] = plain_row(bytes, path);
        unlink(path);
    }
    bench_sort(ours, ROUNDS);
    bench_sort(plain, ROUNDS);
    printf("%-10s %7.0f ns a row of %zu bytes, plain fwrite of as many %6.0f ns\n", name, ours[0], bytes,
           plain[0]);
    char label[64];
    snprintf(label, sizeof label, "%s, a row", name);
    bench_row(label, "ns", ours[0], "fwrite of as many bytes", plain[0]);
}

int main(void) {
    static ff_scenario scenario;
    char message[256], warnings[256], folder[] = "/tmp/ff_bench_XXXXXX", path[64];
    if (!mkdtemp(folder) ||
        ff_scenario_parse("bench", text, sizeof text - 1, &(ff_scenario_options){0}, &scenario, message,
                          sizeof message, warnings, sizeof warnings) != FF_OK)
        return 1;
    snprintf(path, sizeof path, "%s/log", folder);
    compare("log.csv", &scenario, path, csv_row);
    compare("log.mcap", &scenario, path, mcap_row);
    rmdir(folder);
    return 0;
}
