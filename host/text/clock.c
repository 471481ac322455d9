#include "text/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_clock(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t ff_clock_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double ff_clock_seconds(void) {
    return 1e-9 * (double)ff_clock_now();
}

double ff_clock_worked(void) {
    return 1e-9 * (double)read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t ff_clock_real(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t ff_clock_sleep_until(int64_t deadline_ns) {
    const struct timespec t = {(time_t)(deadline_ns / 1000000000), (long)(deadline_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
    return ff_clock_now() - deadline_ns;
}
