/* fit/internal.h - what the fits share: columns of a log as vectors. */
#ifndef FF_FIT_INTERNAL_H
#define FF_FIT_INTERNAL_H

#include "fit/log.h"
#include "text/message.h"

/* Three (or four) columns that follow each other. */
typedef struct ff__group {
    const double *at; /* first row's first value; NULL: missing */
    size_t stride;
} ff__group;

/* Robot's motion and wrench of one body. */
typedef struct ff__motion {
    ff__group p, q, v, w, f, t;
} ff__motion;

ff__group ff__find(const ff_log_table *t, int body, const char *what);
bool ff__find_motion(const ff_log_table *t, int body, ff__motion *m); /* false: a column is missing */

static inline ff_vec3 ff__vec3_at(ff__group g, size_t k) {
    const double *v = g.at + k * g.stride;
    return ff_vec3_make(v[0], v[1], v[2]);
}

static inline ff_quat ff__quat_at(ff__group g, size_t k) {
    const double *v = g.at + k * g.stride;
    return (ff_quat){v[0], v[1], v[2], v[3]};
}

/* Variance by which the scatter of a fit is judged: of `count` residuals with this sum of squares and this
 * sum of products with the residual a row before, after a fit of `fitted` numbers. Residuals that are alike
 * from row to row say less than their number: what changes slowly against them is known as if each had (1 +
 * rho)/(1 - rho) of its variance. Rho of residuals is too small by (fitted (1 + rho) + 2 rho)/count, which is
 * put back, and a fit takes as many of the rows as its numbers see, of which at least half are left: beyond
 * that the first order does not hold. */
double ff__residual_variance(double sum, double lagged, size_t count, int fitted);

#endif
