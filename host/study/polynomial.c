#include "study/contact_stability.h"

static const double complex imaginary = (double complex)I; /* double: the macro is a float */

enum { DEGREE_MAX = 12, STEPS_MAX = 200 };
/* What the evaluation itself may err by, of the sum of its terms: 2 DEGREE_MAX sqrt(5) 2^-53. An iterate that
 * wanders within it is a root. */
#define ROUNDING 6e-15

static double complex value(size_t n, const double complex *c, double complex s) {
    double complex p = c[n];
    for (size_t i = n; i-- > 0;)
        p = p * s + c[i];
    return p;
}

/* Laguerre's iteration: converges from every start for polynomials with real roots, and in practice for all;
 * a fractional step every tenth time leaves the rare cycle. */
static bool laguerre(size_t n, const double complex *c, double complex *root) {
    static const double fraction[] = {0.5, 0.25, 0.75, 0.13, 0.38, 0.62, 0.88, 1.0};
    double complex s = *root;
    const double degree = (double)n;
    for (int step = 1; step <= STEPS_MAX; step++) {
        double complex p = c[n], d = 0.0, h = 0.0;
        double bound = cabs(p);
        const double size = cabs(s);
        for (size_t i = n; i-- > 0;) {
            h = h * s + d;
            d = d * s + p;
            p = p * s + c[i];
            bound = bound * size + cabs(p);
        }
        if (cabs(p) <= (step < STEPS_MAX ? 1e-16 : ROUNDING) * bound) {
            *root = s;
            return true;
        }
        const double complex g = d / p, g2 = g * g, curvature = g2 - 2.0 * h / p;
        const double complex root2 = csqrt((degree - 1.0) * (degree * curvature - g2));
        const double complex plus = g + root2, minus = g - root2;
        const double complex denominator = cabs(plus) > cabs(minus) ? plus : minus;
        const double complex dx = cabs(denominator) > 0.0
                                      ? degree / denominator
                                      : (1.0 + size) * (cos((double)step) + imaginary * sin((double)step));
        const double complex next = step % 10 ? s - dx : s - fraction[(step / 10) % 8] * dx;
        if (next == s) {
            *root = s;
            return true;
        }
        s = next;
    }
    return false;
}

ff_status ff_polynomial_roots(size_t n, const double *c, double complex *root) {
    if (n < 1 || n > DEGREE_MAX || !(fabs(c[n]) > 0.0))
        return FF_ERR_ARGUMENT;
    double complex full[DEGREE_MAX + 1], rest[DEGREE_MAX + 1];
    for (size_t i = 0; i <= n; i++) {
        if (!isfinite(c[i]))
            return FF_ERR_ARGUMENT;
        full[i] = rest[i] = c[i];
    }
    /* From the origin the small roots come first, which keeps the deflation stable; each root is then
     * polished on the whole polynomial. */
    for (size_t k = 0; k < n; k++) {
        const size_t degree = n - k;
        double complex s = 0.0;
        if (!laguerre(degree, rest, &s)) {
            /* close to c_0 + c_n s^n the origin is a point of symmetry, which the iteration leaves and comes
             * back to: then from the mean size of the roots, beside every axis of symmetry */
            s = pow(cabs(rest[0] / rest[degree]), 1.0 / (double)degree) * (cos(1.0) + imaginary * sin(1.0));
            if (!laguerre(degree, rest, &s))
                return FF_ERR_CONVERGENCE;
        }
        double complex carry = rest[degree];
        for (size_t i = degree; i-- > 0;) {
            const double complex old = rest[i];
            rest[i] = carry;
            carry = old + s * carry;
        }
        if (k > 0) {
            double complex polished = s;
            if (laguerre(n, full, &polished) && cabs(value(n, full, polished)) <= cabs(value(n, full, s)) &&
                cabs(polished - s) <= 1e-3 * (cabs(s) + 1e-300))
                s = polished;
        }
        root[k] = s;
    }
    return FF_OK;
}
