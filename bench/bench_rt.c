/* Wake-up of the real-time thread beside cyclictest, five interleaved pairs at 1 kHz and SCHED_FIFO; then the
 * computing time of the loop's step. Medians and quantiles only: the maximum on a shared machine says
 * nothing. `bench_rt wake` and `bench_rt step [METHOD]` do one of them. */
#include "bench.h"
#include "operator/selftest.h"
#include "text/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 5, LOOPS = 2000 };

static void *wake_ups(void *self) {
    ff_histogram *h = self;
    ff_rights rights;
    ff_rights_take(80, -1, true, &rights);
    if (*rights.missing)
        printf("%s\n", rights.missing);
    int64_t deadline = ff_clock_now() + 1000000;
    for (int i = 0; i < LOOPS; i++, deadline += 1000000)
        ff_histogram_add(h, ff_clock_sleep_until(deadline));
    ff_rights_release(&rights);
    return NULL;
}

static bool cyclictest(ff_histogram *h) {
    char command[128], line[128];
    snprintf(command, sizeof command, "cyclictest -q -m -p 80 -i 1000 -l %d -t 1 -a 1 -h 4000 2>/dev/null",
             LOOPS);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    int us, count;
    while (fgets(line, sizeof line, pipe))
        if (line[0] != '#' && sscanf(line, "%d %d", &us, &count) == 2)
            for (int i = 0; i < count; i++)
                ff_histogram_add(h, 1000 * (int64_t)us);
    pclose(pipe);
    return h->count > LOOPS / 2;
}

static ff_status take_time(void *self, const ff_row *row) {
    if (!row->final)
        ff_histogram_add(self, (int64_t)row->compute_ns);
    return FF_OK;
}

static void compute_time(const char *method) {
    static const char text[] =
        "name: bench\ntime: {cycle: 0.001, duration: 20}\nsatellites:\n  client: {mass: 280, inertia: [18, "
        "20, "
        "22], velocity: [0.01, 0.015, 0.02], angular_velocity: [0.01, 0.02, 0.03], robot: {kind: delay, "
        "delay: "
        "0.04}}\ncontacts:\n  - {kind: wall, at: [0, 0, 0.03], normal: [0, 0, -1], stiffness: 2000, damping: "
        "5}\n  - {kind: wall, at: [0, 0, -0.03], normal: [0, 0, 1], stiffness: 2000, damping: 5}\n";
    static ff_scenario scenario;
    static ff_histogram h;
    char message[256], warnings[256];
    const ff_scenario_options options = {.method = method};
    h = (ff_histogram){0};
    if (ff_scenario_parse("bench", text, sizeof text - 1, &options, &scenario, message, sizeof message,
                          warnings, sizeof warnings) != FF_OK) {
        printf("%s\n", message);
        return;
    }
    const ff_sink sink = {.self = &h, .row = take_time};
    const ff_run_options run = {.sinks = &sink, .count = 1, .timing = true};
    ff_run_result result;
    ff_run(&scenario, &run, &result);
    char name[64];
    snprintf(name, sizeof name, "loop step at 1 kHz, %s: p99", method);
    bench_row(name, "us", ff_histogram_at(&h, 0.99), "", 0.0);
    printf("loop step, %s: p50 %.0f us, p99 %.0f us (wanted: p99 at most 20 us)\n", method,
           ff_histogram_at(&h, 0.5), ff_histogram_at(&h, 0.99));
}

static int wake_beside_cyclictest(void) {
    static ff_histogram ours[PAIRS], theirs[PAIRS];
    double p50[2][PAIRS], p99[2][PAIRS];
    bool other = true;
    for (int n = 0; n < PAIRS; n++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wake_ups, &ours[n]) != 0)
            return 1;
        pthread_join(thread, NULL);
        other = other && cyclictest(&theirs[n]);
        const ff_histogram *h[2] = {&ours[n], &theirs[n]};
        for (int i = 0; i < 2; i++) {
            p50[i][n] = ff_histogram_at(h[i], 0.5);
            p99[i][n] = ff_histogram_at(h[i], 0.99);
        }
    }
    const double own = bench_median(p50[0], PAIRS), own99 = bench_median(p99[0], PAIRS);
    printf("wake-up at 1 kHz, median of %d: p50 %.0f us, p99 %.0f us\n", PAIRS, own, own99);
    if (other) {
        bench_row("wake-up at 1 kHz: p50", "us", own, "cyclictest", bench_median(p50[1], PAIRS));
        bench_row("wake-up at 1 kHz: p99", "us", own99, "cyclictest", bench_median(p99[1], PAIRS));
        printf("cyclictest beside it:           p50 %.0f us, p99 %.0f us; ratio of p50 %.2f (wanted: at most "
               "1.25)\n",
               bench_median(p50[1], PAIRS), bench_median(p99[1], PAIRS), own / bench_median(p50[1], PAIRS));
    } else
        printf("cyclictest is not installed or not allowed: nothing to compare with\n");
    return 0;
}

int main(int argc, char **argv) {
    const char *part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "step") != 0 && wake_beside_cyclictest() != 0)
        return 1;
    if (strcmp(part, "wake") == 0)
        return 0;
    static const char *const method[] = {"direct", "tdpa", "damping", "impact", "fused"};
    for (size_t i = 0; i < sizeof method / sizeof *method; i++)
        if (argc < 3 || strcmp(argv[2], method[i]) == 0)
            compute_time(method[i]);
    return 0;
}
