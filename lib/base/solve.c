#include "freefloat/base.h"

ff_status ff_cholesky_factor(size_t n, double *a) {
    for (size_t j = 0; j < n; j++) {
        double d = a[j * n + j];
        for (size_t k = 0; k < j; k++)
            d -= a[j * n + k] * a[j * n + k];
        if (!(d > 0.0) || !isfinite(d))
            return FF_ERR_SINGULAR;
        const double root = sqrt(d), inverse = 1.0 / root;
        a[j * n + j] = root;
        for (size_t i = j + 1; i < n; i++) {
            double s = a[i * n + j];
            for (size_t k = 0; k < j; k++)
                s -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = s * inverse;
        }
    }
    return FF_OK;
}

void ff_cholesky_solve(size_t n, const double *factor, double *b) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            b[i] -= factor[i * n + k] * b[k];
        b[i] /= factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= factor[k * n + i] * b[k];
        b[i] /= factor[i * n + i];
    }
}

static inline ff_status lu_factor(size_t n, double *a, size_t *pivots) {
    for (size_t j = 0; j < n; j++) {
        size_t p = j;
        for (size_t i = j + 1; i < n; i++)
            if (fabs(a[i * n + j]) > fabs(a[p * n + j]))
                p = i;
        if (!(fabs(a[p * n + j]) > 0.0) || !isfinite(a[p * n + j]))
            return FF_ERR_SINGULAR;
        pivots[j] = p;
        if (p != j)
            for (size_t k = 0; k < n; k++) {
                const double swap = a[j * n + k];
                a[j * n + k] = a[p * n + k];
                a[p * n + k] = swap;
            }
        for (size_t i = j + 1; i < n; i++) {
            const double l = a[i * n + j] /= a[j * n + j];
            for (size_t k = j + 1; k < n; k++)
                a[i * n + k] -= l * a[j * n + k];
        }
    }
    return FF_OK;
}

/* Six rows, those of a robot's Jacobian, are compiled by themselves. */
ff_status ff_lu_factor(size_t n, double *a, size_t *pivots) {
    return n == 6 ? lu_factor(6, a, pivots) : lu_factor(n, a, pivots);
}

static inline void lu_solve(size_t n, const double *factor, const size_t *pivots, double *b) {
    for (size_t j = 0; j < n; j++) {
        const double swap = b[j];
        b[j] = b[pivots[j]];
        b[pivots[j]] = swap;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            b[i] -= factor[i * n + k] * b[k];
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            b[i] -= factor[i * n + k] * b[k];
        b[i] /= factor[i * n + i];
    }
}

void ff_lu_solve(size_t n, const double *factor, const size_t *pivots, double *b) {
    if (n == 6)
        lu_solve(6, factor, pivots, b);
    else
        lu_solve(n, factor, pivots, b);
}
