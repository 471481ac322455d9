/* operator/selftest.h - may this computer close the loop? */
#ifndef FF_OPERATOR_SELFTEST_H
#define FF_OPERATOR_SELFTEST_H

#include "operator/operator.h"

typedef struct ff_selftest {
    char kernel[160];
    bool preempt_rt;
    char governor[64]; /* "?" where the system does not report it */
    long clock_ns;     /* resolution of the timer */
    ff_rights rights;
    ff_histogram wake; /* lateness of a 1 kHz timer */
    ff_histogram udp;  /* round trip over loopback */
    bool fit_250, fit_1000;
    char verdict[200]; /* one sentence */
} ff_selftest;

/* Takes about `seconds` of each measurement. `deep_idle`: deep idle states are not held off. */
ff_status ff_selftest_run(double seconds, bool deep_idle, ff_selftest *test);

#endif
