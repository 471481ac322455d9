/* fit/clockfit.h - a device's clock against this computer's, from the arrivals of its stamped packets.
 *
 *   local = stamp + offset + rate * (stamp - newest stamp) + delay
 *
 * IPOC and ft_sequence count the device's own time; the packets come with jitter, some very late. Offset and
 * rate follow by a Kalman filter of two states whose innovations are clipped (Huber): a late packet counts no
 * more than one at the clip. The constant part of the transport's delay cannot be separated from the offset
 * and stays in it; two devices on one network have the same. Real-time safe. */
#ifndef FF_FIT_CLOCKFIT_H
#define FF_FIT_CLOCKFIT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ff_clockfit_config {
    double jitter; /* [s] sd of the arrivals at first, before it is known */
    double drift;  /* sd of the rate at first, 1 = 1e6 ppm */
    double wander; /* [1/sqrt(s)] random walk of the rate */
    double clip;   /* innovations are cut at so many sd */
    double lost;   /* [s] innovations beyond, `patience` of them in a row: the clock was set, begin again */
    unsigned patience;
    unsigned ready; /* packets before the fit is used */
} ff_clockfit_config;

typedef struct ff_clockfit_state {
    uint64_t count; /* packets since the (last) beginning */
    double stamp;   /* [s] newest stamp, device's clock */
    double offset;  /* [s] local minus device there */
    double rate;    /* drift: local seconds a device second, minus 1 */
    double p00, p01, p11;
    double median;     /* [s] of the residuals' size, followed */
    double residual;   /* [s] of the last packet: + late */
    double square;     /* [s2] running mean */
    double largest;    /* [s] in size since it was ready */
    uint64_t restarts; /* the clock was set */
    unsigned outside;
} ff_clockfit_state;

/* 1 ms, 300 ppm, 3e-8, 2 sd, 0.1 s, 25, 50 packets. */
ff_clockfit_config ff_clockfit_default(void);
void ff_clockfit_reset(ff_clockfit_state *state);
/* One packet: its stamp in the device's seconds, its arrival in ours. A stamp that does not grow changes
 * nothing. */
void ff_clockfit_add(const ff_clockfit_config *config, ff_clockfit_state *state, double stamp, double local);
bool ff_clockfit_ready(const ff_clockfit_config *config, const ff_clockfit_state *state);
/* [s] when the device's clock shows `stamp`, on ours. */
double ff_clockfit_local(const ff_clockfit_state *state, double stamp);
double ff_clockfit_ppm(const ff_clockfit_state *state);
double ff_clockfit_rms(const ff_clockfit_state *state); /* [s] of the residuals */

#endif
