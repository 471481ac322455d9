/* freefloat rt --selftest, and the ports that rt and facility share. */
#include "operator/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "text/file.h"

static bool port(const char *name, const char *text, unsigned *value) {
    char *end = NULL;
    if (!text)
        return true;
    const long n = strtol(text, &end, 10);
    if (*text && !*end && n >= 1 && n <= 65531) {
        *value = (unsigned)n;
        return true;
    }
    ff_cli_error("%s %s: allowed: a port from 1 to 65531", name, text);
    return false;
}

int ff_cli_ports(const char *rsi, const char *ati, const char *http, struct ff_ports *ports) {
    return port("--rsi-port", rsi, &ports->rsi_port) && port("--ati-port", ati, &ports->ati_port) &&
                   port("--http-port", http, &ports->http_port)
               ? 0
               : -1;
}

static void bars(const ff_histogram *h) {
    static const int edge[] = {0, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, FF_HISTOGRAM_BINS};
    for (size_t e = 0; e + 1 < sizeof edge / sizeof *edge; e++) {
        uint64_t sum = 0;
        for (int i = edge[e]; i < edge[e + 1]; i++)
            sum += h->bin[i];
        if (!sum)
            continue;
        const int length = (int)(50.0 * (double)sum / (double)h->count + 0.999);
        char range[32];
        if (edge[e + 1] < FF_HISTOGRAM_BINS)
            snprintf(range, sizeof range, "%d to %d us", edge[e], edge[e + 1]);
        else
            snprintf(range, sizeof range, "%d us and more", edge[e]);
        printf("  %-16s %8llu ", range, (unsigned long long)sum);
        for (int i = 0; i < length; i++)
            putchar('#');
        putchar('\n');
    }
}

/* The verdict, for the runs on real devices to come. */
static void keep(const ff_selftest *test, bool quiet) {
    char path[FF_FILE_PATH];
    if (ff_selftest_keep(test, (int64_t)time(NULL), path, sizeof path) != FF_OK)
        ff_cli_error("the verdict cannot be kept (XDG_STATE_HOME, HOME): real devices will ask for it again");
    else if (!quiet)
        ff_cli_line("kept for %d days in %s", FF_SELFTEST_DAYS, path);
}

int ff_cli_selftest(bool json, bool deep_idle) {
    static ff_selftest test; /* large */
    if (ff_selftest_run(2.0, deep_idle, &test) != FF_OK) {
        ff_cli_error("freefloat rt --selftest: no thread or socket");
        return FF_EXIT_FAILED;
    }
    if (json)
        keep(&test, true);
    const ff_rights *rights = &test.rights;
    if (json) {
        printf("{\"preempt_rt\": %s, \"fifo\": %s, \"locked\": %s, \"pinned\": %s, \"awake\": %s, "
               "\"wake_p50_us\": %g, "
               "\"wake_p99_us\": %g, \"wake_max_us\": %g, \"udp_p99_us\": %g, \"may_250_hz\": %s, "
               "\"may_1000_hz\": "
               "%s}\n",
               test.preempt_rt ? "true" : "false", rights->fifo ? "true" : "false",
               rights->locked ? "true" : "false", rights->pinned ? "true" : "false",
               rights->awake ? "true" : "false", ff_histogram_at(&test.wake, 0.5),
               ff_histogram_at(&test.wake, 0.99), 1e-3 * (double)test.wake.largest_ns,
               ff_histogram_at(&test.udp, 0.99), test.fit_250 ? "true" : "false",
               test.fit_1000 ? "true" : "false");
        return FF_EXIT_DONE;
    }
    printf("kernel       %s%s\n", test.kernel, test.preempt_rt ? "" : " (not PREEMPT_RT)");
    printf("scheduler    %s\n", rights->fifo ? "SCHED_FIFO granted" : "SCHED_FIFO refused");
    printf("memory       %s\n", rights->locked ? "locked" : "cannot be locked");
    printf("CPU          %s %d, governor %s\n", rights->pinned ? "pinned to" : "could not be pinned to",
           rights->cpu, test.governor);
    printf("idle states  %s\n",
           rights->awake ? "held off while the loop runs (/dev/cpu_dma_latency at 0)"
           : deep_idle   ? "allowed by --idle: the processor wakes later"
                         : "cannot be held off (/dev/cpu_dma_latency): the processor may wake late");
    printf("timer        %ld ns\n", test.clock_ns);
    printf("wake-up      p50 %.0f us, p99 %.0f us, largest %.0f us of %llu at 1 kHz\n",
           ff_histogram_at(&test.wake, 0.5), ff_histogram_at(&test.wake, 0.99),
           1e-3 * (double)test.wake.largest_ns, (unsigned long long)test.wake.count);
    bars(&test.wake);
    printf("UDP          round trip on loopback p50 %.0f us, p99 %.0f us\n", ff_histogram_at(&test.udp, 0.5),
           ff_histogram_at(&test.udp, 0.99));
    printf("%s\n", test.verdict);
    keep(&test, false);
    return FF_EXIT_DONE;
}
