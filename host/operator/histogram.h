/* operator/histogram.h - how long something took, counted. */
#ifndef FF_OPERATOR_HISTOGRAM_H
#define FF_OPERATOR_HISTOGRAM_H

#include <stdint.h>

/* Counts of durations in bins of 1 us up to 4 ms; what is longer lies in the last. */
enum { FF_HISTOGRAM_BINS = 4096 };
typedef struct ff_histogram {
    uint64_t count, bin[FF_HISTOGRAM_BINS];
    int64_t largest_ns;
} ff_histogram;

void ff_histogram_add(ff_histogram *histogram, int64_t ns);
/* [us] at least `part` of the durations are at most so long. */
double ff_histogram_at(const ff_histogram *histogram, double part);

#endif
