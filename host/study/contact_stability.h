/* study/contact_stability.h - will the contact of an emulating robot be stable? [aghili, section 4]
 *
 * The robot that stands in for a target presses on the environment. Its actuators have a bandwidth or a
 * delay, so the measured force returns through the simulator as a loop (30). Q = M_s / M_r, the target's
 * Cartesian inertia over the robot's, decides: a heavy target on a light robot is the difficult case. All
 * functions are pure. */
#ifndef FF_STUDY_CONTACT_STABILITY_H
#define FF_STUDY_CONTACT_STABILITY_H

#include "freefloat/base.h"

#include <complex.h>

#define FF_CONTACT_STABILITY_AXES 6

typedef struct ff_contact_stability_config {
    double velocity_gain;     /* [1/s] G_v > 0 */
    double position_gain;     /* [1/s2] G_p > 0 */
    double bandwidth;         /* [rad/s] w_a of a first-order actuator; FF_NAN: a delay is given */
    double delay;             /* [s] pure delay; FF_NAN: a bandwidth is given */
    double inertia_ratio;     /* Q > 0; FF_NAN: only the band is asked for */
    double robot_inertia;     /* [kg] M_r, Cartesian; needed with a contact, else FF_NAN */
    double contact_damping;   /* [N s/m] B >= 0; FF_NAN: not known */
    double contact_stiffness; /* [N/m] K > 0; FF_NAN or FF_INF: the stiff limit */
} ff_contact_stability_config;

typedef struct ff_contact_stability {
    double q_critical;          /* (33): 2 w_a / w_p = w_a G_v / G_p, with w_a = 1/delay for a pure delay */
    double q_low, q_high;       /* true band of stable Q; FF_INF: open above; both FF_NAN: none is stable */
    double growth_rate;         /* [1/s] real part of the rightmost root at Q; < 0 decays; FF_NAN without Q */
    double peak_transmissivity; /* largest |T(jw)| (34) at Q; FF_INF at the edge; FF_NAN when unstable */
    double peak_frequency_radps;   /* [rad/s] where; FF_NAN with it */
    double constraint_sensitivity; /* (27) largest |M_r Phi / d| [s2]; divide by M_r [kg] for m per N */
    double force_sensitivity;      /* (28) largest |e_f / d|; FF_NAN without Q */
    bool stable;                   /* growth_rate < 0; false without Q */
} ff_contact_stability;

void ff_contact_stability_default(ff_contact_stability_config *config);
/* FF_ERR_NOT_FINITE, FF_ERR_ARGUMENT: one sentence in message (may be NULL) names the field and what is
 * allowed. */
ff_status ff_contact_stability_validate(const ff_contact_stability_config *config, char *message,
                                        size_t size);
/* Also FF_ERR_CONVERGENCE when the rightmost root of a delayed loop could not be confirmed. */
ff_status ff_contact_stability_analyze(const ff_contact_stability_config *config, ff_contact_stability *out,
                                       char *message, size_t size);

/* Parts, for maps and plots. T(jw) of (34) at Q, rigid contact. */
double complex ff_contact_stability_transmissivity(const ff_contact_stability_config *config, double q,
                                                   double w);
/* Rightmost root's real part at Q. FF_ERR_CONVERGENCE. */
ff_status ff_contact_stability_growth(const ff_contact_stability_config *config, double q, double *growth);

/* Q as a matrix. Eigenvalues ascending; direction[i] is the unit force direction of value[i]; worst is the
 * axis with the largest growth rate (for a rigid contact: of the largest eigenvalue). */
typedef struct ff_contact_stability_axes {
    size_t n;
    double value[FF_CONTACT_STABILITY_AXES];
    double direction[FF_CONTACT_STABILITY_AXES][FF_CONTACT_STABILITY_AXES];
    double growth[FF_CONTACT_STABILITY_AXES]; /* [1/s] */
    size_t worst;
} ff_contact_stability_axes;

/* Q row-major n x n, 1 <= n <= 6; config->inertia_ratio is ignored. out is for the worst axis.
 * FF_ERR_INERTIA when an eigenvalue is not real and positive: then Q is not a ratio of two inertias. */
ff_status ff_contact_stability_matrix(const ff_contact_stability_config *config, size_t n, const double *Q,
                                      ff_contact_stability_axes *axes, ff_contact_stability *out,
                                      char *message, size_t size);
/* Q = M_s M_r^-1 of two Cartesian inertias (symmetric, positive definite, row-major). FF_ERR_INERTIA. */
ff_status ff_contact_stability_ratio(size_t n, const double *M_s, const double *M_r, double *Q);

/* All roots of c[0] + c[1] s + ... + c[n] s^n, n <= 12, c[n] != 0. FF_ERR_CONVERGENCE, FF_ERR_ARGUMENT. */
ff_status ff_polynomial_roots(size_t n, const double *c, double complex *root);

/* |T(jw)| and the growth rate over Q on a page with the report's plots. FF_ERR_IO, FF_ERR_MEMORY. */
ff_status ff_contact_stability_write_html(const ff_contact_stability_config *config,
                                          const ff_contact_stability *out, const char *path);
/* Everything as one JSON object, malloc'ed; NULL without memory. `asked`: a ratio was given, so `stable` is
 * an answer; axes->n <= 1: no matrix was given. */
char *ff_contact_stability_json(const ff_contact_stability_config *config, const ff_contact_stability *out,
                                bool asked, const ff_contact_stability_axes *axes);

#endif
