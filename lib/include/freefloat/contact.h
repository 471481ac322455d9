/* freefloat/contact.h - stage 2: what is touched. */
#ifndef FREEFLOAT_CONTACT_H
#define FREEFLOAT_CONTACT_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Standard deviation of a sensor's noise per axis, measured in flight: a running median in bounded memory,
 * see detector.c. Contacts and single outliers hardly move it. All zero at first. */
typedef struct ff_noise_state {
    bool begun;
    ff_vec3 last;     /* sample before */
    double median;    /* of the squares of two neighbouring samples, summed */
    uint64_t samples; /* pairs that counted */
    int run;          /* pairs in a row on one side of the median, negative below it */
} ff_noise_state;

#define FF_NOISE_LEAST 1e-3 /* [N], [N m]: start where nothing is believed; what is smaller shows as this */

/* One sample; `start` > 0 is what is believed before the first one. Returns the standard deviation. */
double ff_noise_step(ff_noise_state *state, double start, ff_vec3 sample);
/* The standard deviation so far; 0 before the first sample. */
double ff_noise_deviation(const ff_noise_state *state);

/* Contact on or off from the size of the wrench, with hysteresis and a count of quiet cycles. A threshold of
 * zero takes every wrench that is not zero as contact: right where the sensor is ideal. */
typedef struct ff_detector_config {
    double force_on;  /* [N] contact begins above it; 3 to 5 standard deviations of the noise */
    double torque_on; /* [N m] likewise */
    double multiple;  /* thresholds are at least so many measured standard deviations; 0: not measured */
    bool fixed;       /* thresholds stay as given; the noise is measured all the same */
    double off_ratio; /* contact is quiet below this part of the thresholds, 0..1 */
    int quiet_cycles; /* so many quiet cycles end the contact */
} ff_detector_config;

typedef struct ff_detector_state {
    bool contact;
    int quiet; /* quiet cycles so far */
    ff_noise_state force_noise, torque_noise;
    double force_on, torque_on; /* [N], [N m] from the measured noise, 0: not measured */
} ff_detector_state;

void ff_detector_default(ff_detector_config *config);
ff_status ff_detector_validate(const ff_detector_config *config);
void ff_detector_reset(ff_detector_state *state);
/* Measures the noise, before the step of the same cycle. Does nothing when config->multiple is 0. */
void ff_detector_observe(const ff_detector_config *config, ff_detector_state *state, ff_wrench measured);
/* Force [N] above which contact begins now: the larger of the config's and that of the measured noise. */
double ff_detector_force_on(const ff_detector_config *config, const ff_detector_state *state);
/* Returns true while in contact; *began and *ended mark the edges of this cycle. */
bool ff_detector_step(const ff_detector_config *config, ff_detector_state *state, double force, double torque,
                      bool *began, bool *ended);

/* What stage 2 says of one body in one cycle. */
typedef struct ff_detection {
    bool contact, began, ended;
    double force_on;    /* [N] contact begins above it now */
    double force_noise; /* [N] standard deviation of one axis, measured; 0: not measured */
} ff_detection;

/* Observes and steps: stage 2 of one body. */
void ff_detector_run(const ff_detector_config *config, ff_detector_state *state, ff_wrench measured,
                     ff_detection *detected);

/* ---------------------------------------------------------------------------------------- identification --
 *
 * Stiffness and damping of the touched surface along the contact force, while in contact [he2022, 3.3]. */

/* How (21) is posed. OFFSET, the default: F = k p + c p' + F_0 over the whole contact, F_0 the force at the
 * first sample; nothing is differentiated. INCREMENTS, as printed: dF = k dp + c dp' from sample to sample.
 */
typedef enum ff_identify_form { FF_IDENTIFY_OFFSET, FF_IDENTIFY_INCREMENTS } ff_identify_form;
/* Which noise the Sage-Husa filter learns: none, that of the force, that of force and parameters. */
typedef enum ff_identify_adapt { FF_IDENTIFY_FIXED, FF_IDENTIFY_R, FF_IDENTIFY_RQ } ff_identify_adapt;

enum {                         /* bounds that acted in this cycle */
       FF_BOUND_STIFFNESS = 1, /* the estimate was not positive */
       FF_BOUND_DAMPING = 2,   /* the estimate was negative */
       FF_BOUND_RATE = 4,      /* it moved faster than allowed */
       FF_BOUND_NOISE = 8      /* the adapted noise left its range */
};

typedef struct ff_identify_config {
    ff_identify_form form;
    ff_identify_adapt adapt;
    double forget;         /* Sage-Husa's b, 0..1: the larger, the longer noise is averaged */
    double noise;          /* [N] standard deviation of the force along the normal */
    double skew;           /* [s] the force is so much older than the robot's pose */
    double prior;          /* standard deviation of the damping ratio before anything is known */
    double stiffness_walk; /* how far k may wander in one contact, as part of k */
    double damping_walk;   /* how far c may wander in one contact, as part of sqrt(k m) */
    double trust;          /* estimates are published once sd(k)/k is below it */
    bool shallow;          /* OFFSET: weigh each depth as the contact without delay would, see identify.c */
    bool graded;           /* OFFSET: the damping may change with depth, only its mean counts, likewise */
    double rate;           /* largest change of a published estimate in a cycle, as part of k, sqrt(k m) */
} ff_identify_config;

/* One sample of the port: all along the normal, which points out of the surface. */
typedef struct ff_identify_in {
    double cycle; /* [s] */
    double force; /* [N] >= 0 pushes out */
    double step;  /* [m] motion of the contact point into the surface since the last sample */
    double speed; /* [m/s] into the surface */
    double mass;  /* [kg] effective mass of the port: scales prior and walk */
} ff_identify_in;

typedef struct ff_identify_state {
    bool begun, started, published;
    double p, force, speed;          /* [m], [N], [m/s] of the last sample; p from the first one */
    double p_aligned, speed_aligned; /* the same at the force's time */
    double force_first, p_first;     /* where the contact began */
    double speed_first;
    double x[5], P[5][5]; /* k, c, F_0 (graded: c_1, c_2) and their covariance */
    double scale;         /* [m] graded: depth in which c, c_1, c_2 are powers */
    double q_sum, qq_sum; /* graded: p/scale and its square, summed over the contact */
    uint64_t updates;
    double R, R_nominal, Q[2];         /* noise as the filter knows it */
    double weight;                     /* b^n of the adaptation */
    double misfit, misfit_weight;      /* squared residuals, and what the filter expected of them */
    double stiffness, damping;         /* published */
    double stiffness_sum, damping_sum; /* over the contact, for the mean of INCREMENTS */
    uint64_t count;
} ff_identify_state;

typedef struct ff_identify_out {
    bool valid;                          /* something is published */
    double stiffness, damping;           /* [N/m] > 0, [N s/m] >= 0: best estimate now */
    double stiffness_sd, damping_sd;     /* their standard deviations as the filter sees them */
    double mean_stiffness, mean_damping; /* over the time of the contact so far */
    double mean_damping_sd;              /* [N s/m] */
    unsigned bounds;                     /* FF_BOUND_... */
} ff_identify_out;

void ff_identify_default(ff_identify_config *config);
/* [he2022, (22)] to the letter: increments. */
void ff_identify_printed(ff_identify_config *config);
ff_status ff_identify_validate(const ff_identify_config *config);
void ff_identify_reset(ff_identify_state *state);
/* One sample in contact. */
void ff_identify_step(const ff_identify_config *config, ff_identify_state *state, const ff_identify_in *in,
                      ff_identify_out *out);

/* Point of a wrench's line of action nearest to the origin, same axes [m]: r = f x t/f^2. Zero without force.
 */
ff_vec3 ff_contact_point(ff_wrench wrench);
/* Restitution of a spring-damper contact that releases at zero force, damping ratio z >= 0 [lange, IV-C]. */
double ff_contact_restitution(double z);
/* Its inverse for a restitution of 0.14 to 1. */
double ff_contact_damping_ratio(double restitution);
/* [lange, (38)] contact point on a tool whose surface normals pass the tool centre point d_t at a right angle
 * to the line to the contact (a cone's apex; any point of a plane): from force and torque about the CoM, all
 * in body axes. */
ff_vec3 ff_contact_tool_point(ff_wrench f_b, ff_vec3 d_t);
/* Part of its kinetic energy that a mass loses in this contact, 1 - e^2, as the sum of c v^2 T over it. */
double ff_contact_loss(double z);

/* [he2022, (10)] F_s = F + tau_m F', the derivative through a first-order filter. */
typedef struct ff_lead_config {
    double time;   /* [s] tau_m; 0: no lead */
    double filter; /* [s] time constant of the derivative's filter */
} ff_lead_config;

typedef struct ff_lead_state {
    bool begun;
    ff_wrench last, slope; /* last input; filtered derivative */
} ff_lead_state;

ff_status ff_lead_validate(const ff_lead_config *config);
void ff_lead_reset(ff_lead_state *state);
ff_wrench ff_lead_step(const ff_lead_config *config, ff_lead_state *state, double cycle, ff_wrench measured);
/* ------------------------------------------------------------------------------------ surface by profile --
 *
 * Where a surface begins and what law it obeys, from force against measured motion along one coordinate s
 * that grows into the surface. For each trial surface x0 the law is linear in its two parameters; the misfit
 * as a function of x0 alone is the profile. A sample before x0 must show no force, a damped surface must show
 * its step c v behind it: that tells damping and offset apart. docs/methods/fused.md derives it. */

enum {
    FF_PROFILE_LAWS = 5, /* p = s - x0: k p + c v; p^1.5 (k + c v); p (k + c v); p^1.25 (k + c v); and */
    FF_PROFILE_STEP = 4, /* k p + c S(p/d) v, damping that grows with depth, S(q) = q^2 (3 - 2 q) up to q = 1
                            [he2022, (23), (24)] */
    FF_PROFILE_GRID = 17,
    FF_PROFILE_LEVELS = 5,
    FF_PROFILE_ROWS = 128 /* of the laws beyond the first, rows beyond it are thinned out */
};

/* A surface along s. Force zero for s <= x0, never negative. */
typedef struct ff_profile {
    bool valid;
    int law;      /* 0..FF_PROFILE_LAWS - 1 */
    double k, c;  /* [N/m], [N s/m] of law 0; [N/m^n], [N s/m^(n+1)] of the others */
    double depth; /* [m] d of FF_PROFILE_STEP */
    double x0;    /* [m] */
    /* covariance of k and c at this x0, for rows whose force has the standard deviation `unit`; how they
     * follow x0; sd_x0 [m] by the rows' own misfit where that is less than the unit says */
    double sd_k, sd_c, cov_kc;
    double k_by_x0, c_by_x0;
    double sd_x0;
    double unit;  /* [N] weight of a row */
    double J;     /* misfit, sum of squares over the variance */
    bool k_bound; /* k at its least value */
} ff_profile;

/* What a sensor makes of a force that runs linearly between its cycles: late by whole + part cycles, then a
 * low pass y' = (x - y)/lag. */
typedef struct ff_profile_channel {
    int whole;            /* cycles, >= 0 */
    double part;          /* of a cycle, 0 to 1 */
    double corner, decay; /* T/lag and exp(-T/lag); corner 0: no low pass */
} ff_profile_channel;
/* The next output of the low pass for input x; last: the input before, y: the output. Both begin with 0. */
double ff_profile_low_pass(const ff_profile_channel *channel, double x, double *last, double *y);

/* One row for each sample; arrays of the caller. */
typedef struct ff_profile_in {
    int rows;
    const double *s, *v, *f;  /* [m], [m/s], [N] */
    const unsigned char *use; /* 0: left out */
    double lo, hi;            /* [m] the surface lies between them */
    double noise;             /* [N] standard deviation that weighs a row, > 0 */
    double noise_least;       /* [N] what it may be where the law explains the rows better; 0: the same */
    double speed;             /* [m/s] at the onset; bounds the damping of laws 1 to 3 */
    int thin;                 /* of laws beyond the first, so many rows at most (0: FF_PROFILE_ROWS) */
    double depth;             /* [m] d of FF_PROFILE_STEP, > 0 */
    double prior_k;           /* [N/m] a guess with itself as standard deviation; 0: none */
    /* NULL: f is of the row's own s and v. Otherwise f is what the sensor makes of the forces there, the rows
     * are those of successive cycles, and no thinning takes place. */
    const ff_profile_channel *channel;
    const unsigned char *gone; /* with a channel: 1 where the surface has let go; NULL: nowhere */
} ff_profile_in;

/* Force [N] of the surface at s moving with v. */
double ff_profile_force(const ff_profile *surface, double s, double v);
/* p^n of the law, and its exponent n. */
double ff_profile_shape(int law, double p);
double ff_profile_exponent(int law);
/* What c v is multiplied with at depth p. */
double ff_profile_brake(int law, double depth, double p);

/* Best surface of one law, in parts, for cycles of bounded work. NONE when no row lies behind any trial
 * surface; *fit is untouched unless DONE. *work is what may be spent, in row evaluations (about twenty
 * instructions each), and is lowered by what was; at least one level of the grid is done. The rows must not
 * change between the parts. In all: rows + LEVELS GRID (rows at s <= hi) for law 0; LEVELS GRID (ROWS + rows
 * at s <= hi) for the others. */
typedef enum ff_profile_progress { FF_PROFILE_MORE, FF_PROFILE_DONE, FF_PROFILE_NONE } ff_profile_progress;
typedef struct ff_profile_search {
    int level;
    double lo, hi; /* [m] the surface lies between them as far as is known */
} ff_profile_search;
void ff_profile_begin(const ff_profile_in *in, ff_profile_search *search);
ff_profile_progress ff_profile_continue(const ff_profile_in *in, int law, ff_profile_search *search,
                                        int *work, ff_profile *fit);

#ifdef __cplusplus
}
#endif
#endif
