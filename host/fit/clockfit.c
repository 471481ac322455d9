#include "fit/clockfit.h"

#include <math.h>

/* [s] a computer cannot stamp arrivals better than this: keeps the gains positive on noiseless clocks */
#define FLOOR 1e-6

ff_clockfit_config ff_clockfit_default(void) {
    return (ff_clockfit_config){.jitter = 1e-3,
                                .drift = 300e-6,
                                .wander = 3e-8,
                                .clip = 2.0,
                                .lost = 0.1,
                                .patience = 25,
                                .ready = 50};
}

void ff_clockfit_reset(ff_clockfit_state *s) {
    *s = (ff_clockfit_state){0};
}

static void begin(const ff_clockfit_config *c, ff_clockfit_state *s, double stamp, double local) {
    const uint64_t restarts = s->restarts;
    *s = (ff_clockfit_state){.count = 1, .stamp = stamp, .offset = local - stamp, .restarts = restarts};
    s->p00 = c->jitter * c->jitter;
    s->p11 = c->drift * c->drift;
    s->median = c->jitter / 1.4826;
}

void ff_clockfit_add(const ff_clockfit_config *c, ff_clockfit_state *s, double stamp, double local) {
    if (s->count == 0) {
        begin(c, s, stamp, local);
        return;
    }
    const double dt = stamp - s->stamp;
    if (!(dt > 0.0) || !isfinite(local))
        return;
    s->stamp = stamp;
    s->offset += s->rate * dt;
    s->p00 += dt * (2.0 * s->p01 + dt * s->p11);
    s->p01 += dt * s->p11;
    s->p11 += c->wander * c->wander * dt;

    const double innovation = local - stamp - s->offset;
    s->residual = innovation;
    s->outside = fabs(innovation) > c->lost ? s->outside + 1 : 0;
    if (s->outside >= c->patience) {
        s->restarts++;
        begin(c, s, stamp, local);
        return;
    }
    /* half of the residuals lie beyond their median, however far: a late packet does not open the clip, and a
     * network that became worse opens it within a second */
    const double sd = fmax(FLOOR, 1.4826 * s->median);
    const double r2 = sd * sd, sum = s->p00 + r2, limit = c->clip * sqrt(sum);
    const double size = fmin(fabs(innovation), limit), used = copysign(size, innovation);
    const double g0 = s->p00 / sum, g1 = s->p01 / sum;
    s->offset += g0 * used;
    s->rate += g1 * used;
    s->p11 -= g1 * s->p01;
    s->p01 -= g0 * s->p01;
    s->p00 -= g0 * s->p00;
    s->count++;
    const double memory = 1.0 / fmin((double)s->count, 1000.0);
    s->median = fmax(FLOOR, s->median * (fabs(innovation) > s->median ? 1.02 : 1.0 / 1.02));
    s->square += memory * (innovation * innovation - s->square);
    if (s->count > c->ready)
        s->largest = fmax(s->largest, fabs(innovation));
}

bool ff_clockfit_ready(const ff_clockfit_config *c, const ff_clockfit_state *s) {
    return s->count >= c->ready;
}

double ff_clockfit_local(const ff_clockfit_state *s, double stamp) {
    return stamp + s->offset + s->rate * (stamp - s->stamp);
}

double ff_clockfit_ppm(const ff_clockfit_state *s) {
    return 1e6 * s->rate;
}

double ff_clockfit_rms(const ff_clockfit_state *s) {
    return sqrt(s->square);
}
