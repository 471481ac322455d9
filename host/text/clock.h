/* text/clock.h - the computer's clocks. */
#ifndef FF_TEXT_CLOCK_H
#define FF_TEXT_CLOCK_H

#include "freefloat/base.h"

int64_t ff_clock_now(void);    /* [ns] CLOCK_MONOTONIC */
double ff_clock_seconds(void); /* [s] the same */
double ff_clock_worked(void);  /* [s] processor time of the calling thread: it stands while that is stopped */
int64_t ff_clock_real(void);   /* [ns] CLOCK_REALTIME, the clock of the kernel's packet stamps */
/* Absolute deadline on CLOCK_MONOTONIC; returns how late it woke [ns]. */
int64_t ff_clock_sleep_until(int64_t deadline_ns);

#endif
