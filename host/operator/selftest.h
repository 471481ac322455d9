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

enum { FF_SELFTEST_DAYS = 30 }; /* a self-test counts for so long */

/* Keeps the verdict for this computer and its kernel in $XDG_STATE_HOME/freefloat/selftest (without it
 * ~/.local/state). *path says where. FF_ERR_IO, FF_ERR_SIZE, FF_ERR_ARGUMENT (no home). */
ff_status ff_selftest_keep(const ff_selftest *test, int64_t now, char *path, size_t size);
/* A self-test of this computer, with this kernel, not older than FF_SELFTEST_DAYS at `now` [s since 1970],
 * allows a loop of this cycle [s]. False, with a sentence: there is none. */
bool ff_selftest_allows(double cycle, int64_t now, char *message, size_t size);

#endif
