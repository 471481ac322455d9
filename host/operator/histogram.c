#include "operator/histogram.h"

void ff_histogram_add(ff_histogram *h, int64_t ns) {
    const int64_t us = ns < 0 ? 0 : ns / 1000;
    h->bin[us < FF_HISTOGRAM_BINS ? us : FF_HISTOGRAM_BINS - 1]++;
    h->count++;
    if (ns > h->largest_ns)
        h->largest_ns = ns;
}

double ff_histogram_at(const ff_histogram *h, double part) {
    uint64_t sum = 0;
    for (int i = 0; i < FF_HISTOGRAM_BINS; i++) {
        sum += h->bin[i];
        if ((double)sum >= part * (double)h->count && h->count)
            return i + 1 < FF_HISTOGRAM_BINS ? (double)(i + 1) : 1e-3 * (double)h->largest_ns;
    }
    return 0.0;
}
