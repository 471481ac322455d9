/* freefloat/contact.h - stage 2: what is touched. */
#ifndef FREEFLOAT_CONTACT_H
#define FREEFLOAT_CONTACT_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Contact on or off from the size of the wrench, with hysteresis and a count of quiet cycles. A threshold of
 * zero takes every wrench that is not zero as contact: right where the sensor is ideal. */
typedef struct ff_detector_config {
    double force_on;  /* [N] contact begins above it; 3 to 5 standard deviations of the noise */
    double torque_on; /* [N m] likewise */
    double off_ratio; /* contact is quiet below this part of the thresholds, 0..1 */
    int quiet_cycles; /* so many quiet cycles end the contact */
} ff_detector_config;

typedef struct ff_detector_state {
    bool contact;
    int quiet;       /* quiet cycles so far */
    uint64_t cycles; /* cycles since this contact began */
} ff_detector_state;

void ff_detector_default(ff_detector_config *config);
ff_status ff_detector_validate(const ff_detector_config *config);
void ff_detector_reset(ff_detector_state *state);
/* Returns true while in contact; *began and *ended mark the edges of this cycle. */
bool ff_detector_step(const ff_detector_config *config, ff_detector_state *state, double force, double torque,
                      bool *began, bool *ended);

/* ------------------------------------------------------------------------------------ surface by profile --
 *
 * Where a surface begins and what law it obeys, from force against measured motion along one coordinate s
 * that grows into the surface. For each trial surface x0 the law is linear in its two parameters; the misfit
 * as a function of x0 alone is the profile. A sample before x0 must show no force, a damped surface must show
 * its step c v behind it: that tells damping and offset apart. docs/methods/fused.md derives it. */

enum {
    FF_PROFILE_LAWS = 4, /* p = s - x0: k p + c v; p^1.5 (k + c v); p (k + c v); p^1.25 (k + c v) */
    FF_PROFILE_GRID = 17,
    FF_PROFILE_LEVELS = 5,
    FF_PROFILE_ROWS = 128 /* of the laws beyond the first, rows beyond it are thinned out */
};

/* A surface along s. Force zero for s <= x0, never negative. */
typedef struct ff_profile {
    bool valid;
    int law;              /* 0..FF_PROFILE_LAWS - 1 */
    double k, c;          /* [N/m], [N s/m] of law 0; [N/m^n], [N s/m^(n+1)] of the others */
    double x0;            /* [m] */
    double sd_k, sd_c;    /* standard deviations at this x0 and over x0 */
    double sd_x0;         /* [m] */
    double J;             /* misfit, sum of squares over the variance */
    bool k_bound, c_bound; /* k at its least value, c at zero */
} ff_profile;

/* One row for each sample; arrays of the caller. */
typedef struct ff_profile_in {
    int rows;
    const double *s, *v, *f;  /* [m], [m/s], [N] */
    const unsigned char *use; /* 0: left out */
    double lo, hi;            /* [m] the surface lies between them */
    double noise;             /* [N] standard deviation that weighs a row, > 0 */
    double speed;             /* [m/s] at the onset; bounds the damping of laws 1 to 3 */
    double prior_k;           /* [N/m] a guess with itself as standard deviation; 0: none */
} ff_profile_in;

/* Force [N] of the surface at s moving with v. */
double ff_profile_force(const ff_profile *surface, double s, double v);
/* p^n of the law, and its exponent n. */
double ff_profile_shape(int law, double p);
double ff_profile_exponent(int law);
/* Best surface of one law. False when no row lies behind any trial surface; *fit is then untouched. Work:
 * rows + LEVELS GRID (rows at s <= hi) for law 0; LEVELS GRID (ROWS + rows at s <= hi) for the others. */
bool ff_profile_fit(const ff_profile_in *in, int law, ff_profile *fit);

#ifdef __cplusplus
}
#endif
#endif
