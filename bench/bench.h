/* What the benches share: the clock, sorting, the median. */
#ifndef FF_BENCH_BENCH_H
#define FF_BENCH_BENCH_H

#include <stdlib.h>
#include <time.h>

static inline double bench_clock_ns(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static inline double bench_now_ns(void) {
    return bench_clock_ns(CLOCK_MONOTONIC);
}

static inline int bench_by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void bench_sort(double *x, int n) {
    qsort(x, (size_t)n, sizeof *x, bench_by_size);
}

/* Sorts, too. */
static inline double bench_median(double *x, int n) {
    bench_sort(x, n);
    return x[n / 2];
}

#endif
