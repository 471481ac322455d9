#include "operator/selftest.h"

#include "text/clock.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void read_line(const char *path, char *text, size_t size) {
    FILE *file = fopen(path, "r");
    if (file) {
        if (fgets(text, (int)size, file))
            text[strcspn(text, "\n")] = 0;
        fclose(file);
    }
}

typedef struct job {
    ff_selftest *test;
    double seconds;
    bool deep_idle;
    ff_status status;
} job;

static void measure_wake(const job *j) {
    const int64_t period = 1000000;
    const int n = (int)(j->seconds * 1e9 / (double)period);
    int64_t deadline = ff_clock_now() + period;
    for (int i = 0; i < n; i++, deadline += period)
        ff_histogram_add(&j->test->wake, ff_clock_sleep_until(deadline));
}

static ff_status measure_udp(const job *j) {
    struct sockaddr_in at, a, b;
    int fd[2] = {-1, -1};
    char message[128], bytes[256] = "";
    ff_socket_address("127.0.0.1", 0, &at);
    ff_status status = ff_socket_open(&at, &fd[0], &a, message, sizeof message);
    if (!status)
        status = ff_socket_open(&at, &fd[1], &b, message, sizeof message);
    const int64_t end = ff_clock_now() + (int64_t)(1e9 * j->seconds);
    for (int n = 0; !status && n < 20000 && ff_clock_now() < end; n++) {
        const int64_t begin = ff_clock_now();
        for (int direction = 0; direction < 2; direction++) { /* there and back */
            struct sockaddr_in from;
            int64_t stamp;
            struct pollfd p = {.fd = fd[1 - direction], .events = POLLIN};
            ff_socket_send(fd[direction], bytes, sizeof bytes, direction ? &a : &b);
            poll(&p, 1, 100);
            ff_socket_receive(fd[1 - direction], bytes, sizeof bytes, &from, &stamp);
        }
        ff_histogram_add(&j->test->udp, ff_clock_now() - begin);
    }
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    return status;
}

static void *work(void *self) {
    job *j = self;
    ff_rights_take(80, -1, !j->deep_idle, &j->test->rights);
    measure_wake(j);
    j->status = measure_udp(j);
    return NULL;
}

ff_status ff_selftest_run(double seconds, bool deep_idle, ff_selftest *test) {
    *test = (ff_selftest){.governor = "?"};
    struct utsname name;
    char line[256] = "";
    if (uname(&name) == 0)
        snprintf(test->kernel, sizeof test->kernel, "%.60s %.90s", name.release, name.version);
    read_line("/sys/kernel/realtime", line, sizeof line);
    test->preempt_rt = line[0] == '1' || strstr(test->kernel, "PREEMPT_RT") != NULL;
    read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", test->governor, sizeof test->governor);
    struct timespec resolution = {0, 0};
    clock_getres(CLOCK_MONOTONIC, &resolution);
    test->clock_ns = resolution.tv_nsec;
    job j = {.test = test, .seconds = seconds, .deep_idle = deep_idle};
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &j) != 0)
        return FF_ERR_MEMORY;
    pthread_join(thread, NULL);
    ff_rights_release(&test->rights);
    /* A tenth of the cycle may be lost to the wake-up in 99 % of the cycles, half of it in 99.99 %. */
    const double p99 = ff_histogram_at(&test->wake, 0.99), p9999 = ff_histogram_at(&test->wake, 0.9999);
    const double trip = ff_histogram_at(&test->udp, 0.99);
    const bool rights = test->rights.fifo && test->rights.locked;
    test->fit_250 = rights && p99 + trip < 400.0 && p9999 < 2000.0;
    test->fit_1000 = rights && p99 + trip < 100.0 && p9999 < 500.0;
    snprintf(test->verdict, sizeof test->verdict, "this computer %s%s",
             test->fit_1000  ? "may close a 1 kHz loop"
             : test->fit_250 ? "may close a 250 Hz loop, not a 1 kHz one"
                             : "should not close a loop on real devices",
             !rights          ? " (rights are missing)"
             : !test->fit_250 ? " (its wake-ups are too late)"
                              : "");
    return j.status;
}
