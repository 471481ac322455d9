/* What the benches share: the clock, sorting, the median, the line that tools/bench reads. */
#ifndef FF_BENCH_BENCH_H
#define FF_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "freefloat/loop.h"

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

/* What is compared with whom, for tools/bench; peer "": with nobody. */
static inline void bench_row(const char *name, const char *unit, double ours, const char *peer,
                             double theirs) {
    printf("@ %s|%s|%.6g|%s|%.6g\n", name, unit, ours, peer, theirs);
}

/* A loop in memory of its own size; NULL when the configuration is refused. */
static inline ff_loop_model *bench_loop(const ff_loop_config *config, ff_loop_state **state,
                                        ff_loop_info *info, ff_loop_out *out) {
    size_t model_bytes, state_bytes;
    char message[128] = "";
    if (ff_loop_bytes(config, &model_bytes, &state_bytes, message, sizeof message) != FF_OK) {
        fprintf(stderr, "%s\n", message);
        return NULL;
    }
    ff_loop_model *model = malloc(model_bytes);
    *state = malloc(state_bytes);
    if (!model || !*state || ff_loop_create(config, model, model_bytes, message, sizeof message) != FF_OK ||
        ff_loop_reset(model, *state, state_bytes, info, out) != FF_OK) {
        fprintf(stderr, "%s\n", message);
        return NULL;
    }
    return model;
}

#endif
