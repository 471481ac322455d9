#include "study/contact_stability.h"
#include "text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [aghili, Eq. (30)], with the sign of lambda that follows from (10): in contact ~a_s = M_s^-1 (f_a -
 * lambda), so
 *
 *     f_a = -L (f_a - lambda),   L = Q^-1 L',   L' = H / (Z (1 - H)),   Z = s^2 / (s^2 + G_v s + G_p)
 *
 * The loop is unstable when 1 + L has a root on the right. (31) and (32) ask that for every eps in (0, 1];
 * that would exclude stable loops (a small eps acts as a large Q), so only eps = 1 counts here.
 *
 * Every case below is written as F(s) = Q a(s) + b(s) = 0:
 *   rigid contact, lag H = 1/(1 + s/w_a):   a = s^3/w_a             b = s^2 + G_v s + G_p        (Appendix D)
 *   rigid contact, delay E = exp(-s S):     a = s^2 (1 - E)         b = E (s^2 + G_v s + G_p)
 * A contact of stiffness K and damping B lets the robot move. With a rigid target of inertia Q M_r, and k =
 * K/M_r, d = B/M_r, the robot's equation M_r p'' = (1 - H) f + H M_r u, f = -(K + B s) p, gives elastic, lag:
 * a = s^5/w_a + (1 + d/w_a) s^4 + (k/w_a + G_v) s^3 + G_p s^2   b = (k + d s)(s^2 + G_v s + G_p) elastic,
 * delay:  a = s^2 (s^2 + (1 - E)(k + d s) + E (G_v s + G_p))            b = E (k + d s)(s^2 + G_v s + G_p) As
 * K grows, three roots of the elastic lag become those of the rigid contact and the other two a fast pair
 * with the real part (w_a/Q - w_a - d)/2: the lower bound Q > 1/(1 + B/(M_r w_a)) that (33) does not know. */

static const double complex J = (double complex)I; /* double: the macro is a float */

enum { CHAIN = 40 }; /* roots of a delayed rigid loop that are followed; the rest lies at the chain's limit */

typedef struct loop {
    double gv, gp;
    bool delayed, elastic;
    double wa, delay;
    double k, d; /* contact over M_r */
} loop;

static loop loop_of(const ff_contact_stability_config *c) {
    loop l = {
        .gv = c->velocity_gain, .gp = c->position_gain, .delayed = isfinite(c->delay), .wa = c->bandwidth};
    l.delay = l.delayed ? c->delay : 0.0;
    l.elastic = isfinite(c->contact_stiffness);
    if (isfinite(c->contact_damping))
        l.d = c->contact_damping / c->robot_inertia;
    if (l.elastic)
        l.k = c->contact_stiffness / c->robot_inertia;
    return l;
}

void ff_contact_stability_default(ff_contact_stability_config *config) {
    *config = (ff_contact_stability_config){FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN};
}

ff_status ff_contact_stability_validate(const ff_contact_stability_config *c, char *message, size_t size) {
    const struct {
        double value;
        const char *name;
        bool required, zero;
    } field[] = {
        {c->velocity_gain, "velocity gain", true, false},
        {c->position_gain, "position gain", true, false},
        {c->bandwidth, "bandwidth", false, false},
        {c->delay, "delay", false, false},
        {c->inertia_ratio, "inertia ratio", false, false},
        {c->robot_inertia, "robot inertia", false, false},
        {c->contact_damping, "contact damping", false, true},
    };
    char text[160];
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        const double v = field[i].value;
        if (isnan(v) && !field[i].required)
            continue;
        if (!isfinite(v) || v < 0.0 || (v <= 0.0 && !field[i].zero)) {
            snprintf(text, sizeof text, "%s is %g, allowed is a finite number %s 0", field[i].name, v,
                     field[i].zero ? ">=" : ">");
            if (isnan(v))
                snprintf(text, sizeof text, "%s is missing, allowed is a finite number > 0", field[i].name);
            return ff_refuse(isfinite(v) ? FF_ERR_ARGUMENT : FF_ERR_NOT_FINITE, message, size, "%s", text);
        }
    }
    if (isfinite(c->bandwidth) == isfinite(c->delay))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "give the actuators' bandwidth or their delay, one of the two");
    if (!isnan(c->contact_stiffness) && !(c->contact_stiffness > 0.0))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "contact stiffness must be > 0");
    const bool contact = !isnan(c->contact_damping) || isfinite(c->contact_stiffness);
    if (contact && isnan(c->robot_inertia))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "a contact's stiffness or damping needs the robot inertia to compare with");
    if (isfinite(c->delay) && !isnan(c->contact_damping) && !isfinite(c->contact_stiffness))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "contact damping with a pure delay needs the contact stiffness");
    return FF_OK;
}

/* ------------------------------------------------------------------------------------- characteristic -- */

static void parts(const loop *l, double complex s, double complex *a, double complex *b) {
    const double complex motion = s * s + l->gv * s + l->gp, contact = l->k + l->d * s;
    if (l->delayed) {
        const double complex E = cexp(-s * l->delay);
        if (l->elastic) {
            *a = s * s * (s * s + (1.0 - E) * contact + E * (l->gv * s + l->gp));
            *b = E * contact * motion;
        } else {
            *a = s * s * (1.0 - E);
            *b = E * motion;
        }
    } else if (l->elastic) {
        *a = s * s * (s * (s * (s / l->wa + 1.0 + l->d / l->wa) + l->k / l->wa + l->gv) + l->gp);
        *b = contact * motion;
    } else {
        *a = s * s * s / l->wa;
        *b = motion;
    }
}

static double complex characteristic(const loop *l, double q, double complex s) {
    double complex a, b;
    parts(l, s, &a, &b);
    return q * a + b;
}

static ff_status lag_growth(const loop *l, double q, double *growth) {
    double c[6] = {l->gp, l->gv, 1.0, q / l->wa, 0, 0};
    size_t n = 3;
    if (l->elastic) {
        n = 5;
        c[0] = l->k * l->gp;
        c[1] = l->k * l->gv + l->d * l->gp;
        c[2] = l->k + l->d * l->gv + q * l->gp;
        c[3] = l->d + q * (l->k / l->wa + l->gv);
        c[4] = q * (1.0 + l->d / l->wa);
        c[5] = q / l->wa;
    }
    double complex root[5];
    const ff_status status = ff_polynomial_roots(n, c, root);
    if (status != FF_OK)
        return status;
    *growth = creal(root[0]);
    for (size_t i = 1; i < n; i++)
        *growth = fmax(*growth, creal(root[i]));
    return FF_OK;
}

/* No root of a delayed loop has a real part above the returned bound: there |s| >= x and |E| <= 1, and the
 * terms that could balance the leading one are too small. Both conditions are monotone in x. */
static double right_bound(const loop *l, double q) {
    for (double x = 1e-3 / l->delay;; x *= 1.5) {
        const double motion = 1.0 + l->gv / x + l->gp / (x * x), contact = l->k / (x * x) + l->d / x;
        const bool none = l->elastic ? 2.0 * contact + (motion - 1.0) + contact * motion / q < 1.0
                                     : motion < q * (exp(x * l->delay) - 1.0);
        if (none || x > 1e12)
            return x;
    }
}

/* Above this frequency a root right of x cannot lie (elastic), or lies on the chain (rigid). */
static double top(const loop *l, double q, double x) {
    if (!l->elastic)
        return 2.0 * FF_PI * (CHAIN + 0.5) / l->delay;
    const double e = exp(-fmin(x, 0.0) * l->delay);
    for (double w = 1.0 / l->delay;; w *= 1.5) {
        const double motion = 1.0 + l->gv / w + l->gp / (w * w), contact = l->k / (w * w) + l->d / w;
        if ((1.0 + e) * contact + e * (motion - 1.0) + e * contact * motion / q < 1.0 || w > 1e7 / l->delay)
            return w;
    }
}

/* Change of arg F along a straight piece, halved until each step turns by less than half a radian. */
static double turn(const loop *l, double q, double complex s0, double complex F0, double complex s1,
                   double complex F1, int depth) {
    const double part = carg(F1 / F0);
    const double complex mid = 0.5 * (s0 + s1);
    if (depth <= 0 || (fabs(part) < 0.5 && depth <= 44))
        return part;
    const double complex F = characteristic(l, q, mid);
    if (F == 0.0)
        return FF_NAN;
    return turn(l, q, s0, F0, mid, F, depth - 1) + turn(l, q, mid, F, s1, F1, depth - 1);
}

/* Roots with real part in [x, right] and |imaginary part| < w: argument principle on the upper half, doubled.
 * A root on the path counts as one. */
static long count_right(const loop *l, double q, double x, double right, double w) {
    const double complex corner[] = {right, right + J * w, x + J * w, x};
    const double step = 0.25 / l->delay;
    double sum = 0.0;
    for (int edge = 0; edge < 3; edge++) {
        const double complex from = corner[edge], to = corner[edge + 1];
        const int pieces = 8 + (int)fmin(cabs(to - from) / step, 4e5);
        double complex s0 = from, F0 = characteristic(l, q, s0);
        for (int i = 1; i <= pieces; i++) {
            const double complex s1 = from + (to - from) * ((double)i / pieces);
            const double complex F1 = characteristic(l, q, s1);
            /* Depth 46 forces two halvings before the first test, so no turn by a whole circle slips through.
             */
            sum += F0 == 0.0 || F1 == 0.0 ? FF_NAN : turn(l, q, s0, F0, s1, F1, 46);
            s0 = s1;
            F0 = F1;
        }
    }
    return isnan(sum) ? 1 : lround(sum / FF_PI);
}

/* The chain of a rigid delayed loop: e^(s S) = 1 - 1/Q far from the origin. */
static double chain_growth(const loop *l, double q) {
    return log(fabs(1.0 - 1.0 / q)) / l->delay;
}

static bool delay_stable(const loop *l, double q) {
    if (!l->elastic && chain_growth(l, q) >= 0.0)
        return false;
    return count_right(l, q, 0.0, right_bound(l, q), top(l, q, 0.0)) == 0;
}

/* sup of x such that a root lies right of x, by bisection on the count; no start value, no root can be
 * missed. */
static ff_status delay_growth(const loop *l, double q, double *growth) {
    double high = right_bound(l, q), low = 0.0;
    const double right = 2.0 * high;
    if (count_right(l, q, high, right, top(l, q, 0.0)) != 0)
        return FF_ERR_CONVERGENCE;
    double step = 0.125 / l->delay;
    while (count_right(l, q, low, right, top(l, q, low)) == 0) {
        high = low;
        low -= step;
        step *= 2.0;
        if (low < -60.0 / l->delay)
            return FF_ERR_CONVERGENCE;
    }
    while (high - low > 1e-10 * (1.0 / l->delay + fabs(high))) {
        const double mid = 0.5 * (low + high);
        *(count_right(l, q, mid, right, top(l, q, mid)) > 0 ? &low : &high) = mid;
    }
    *growth = 0.5 * (low + high);
    if (!l->elastic)
        *growth = fmax(*growth, chain_growth(l, q));
    return FF_OK;
}

ff_status ff_contact_stability_growth(const ff_contact_stability_config *config, double q, double *growth) {
    const loop l = loop_of(config);
    if (l.delayed)
        return delay_growth(&l, q, growth);
    const ff_status status = lag_growth(&l, q, growth);
    if (status != FF_OK || l.elastic)
        return status;
    /* The stiff limit's fast pair. Its decay belongs to the environment, which may be unknown, so it counts
     * only where the emulation feeds it; without a known damping that is Q < 1. */
    const double fast = 0.5 * (l.wa / q - l.wa - l.d);
    if (fast > 0.0)
        *growth = fmax(*growth, fast);
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------------ band -- */

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool stable_at(const loop *l, double q) {
    double growth;
    if (l->delayed)
        return delay_stable(l, q);
    return lag_growth(l, q, &growth) == FF_OK && growth < 0.0;
}

/* Im(-b/a) at jw, without the division; a crossing of the imaginary axis at a real Q = -b/a is its zero. */
static double crossing(const loop *l, double w, double *q) {
    double complex a, b;
    parts(l, J * w, &a, &b);
    const double complex product = -b * conj(a);
    *q = creal(product) / (creal(a) * creal(a) + cimag(a) * cimag(a));
    return cimag(product) / (cabs(a) * cabs(b) + 1e-300);
}

/* Stability changes only at the crossings, so they cut the axis of Q into pieces that are stable or not. The
 * piece that holds the user's Q is returned if it is stable, else the widest stable one (by ratio). */
static void scan_band(const loop *l, double q, double *low, double *high) {
    enum { CUTS = 256 };
    double cut[CUTS + 3];
    size_t cuts = 0;
    const double Q_MIN = 1e-3, Q_MAX = 1e4;
    double w = 1e-3 * fmin(sqrt(l->gp), l->gp / l->gv);
    double end = 0.0;
    if (l->delayed)
        end = top(l, 0.05, 0.0);
    else
        end = 1e2 * (l->wa + l->gv + sqrt(l->gp) + sqrt(l->k) + l->d);
    const double step = l->delayed ? 0.05 / l->delay : FF_INF;
    double q0, g0 = crossing(l, w, &q0);
    while (w < end && cuts < CUTS) {
        const double w1 = fmin(w * 1.002, w + step);
        double q1;
        const double g1 = crossing(l, w1, &q1);
        if ((g0 < 0.0) != (g1 < 0.0)) {
            double lo = w, hi = w1, qm = q1;
            for (int i = 0; i < 80; i++) {
                const double mid = 0.5 * (lo + hi);
                *((crossing(l, mid, &qm) < 0.0) == (g0 < 0.0) ? &lo : &hi) = mid;
            }
            /* A pole of b/a also changes the sign of the product; there Q is beyond all limits. */
            if (qm > Q_MIN && qm < Q_MAX)
                cut[cuts++] = qm;
        }
        w = w1;
        g0 = g1;
    }
    if (l->delayed && !l->elastic)
        cut[cuts++] = 0.5; /* |1 - 1/Q| = 1: the chain crosses as a whole */
    qsort(cut, cuts, sizeof *cut, ascending);
    double best = 0.0;
    *low = *high = FF_NAN;
    double from = 0.0, open = FF_NAN;
    for (size_t i = 0; i <= cuts; i++) {
        const double to = i < cuts ? cut[i] : FF_INF;
        const double probe = i == cuts ? fmax(2.0 * from, 1.0) : from > 0.0 ? sqrt(from * to) : 0.5 * to;
        const bool stable = to > from * (1.0 + 1e-9) ? stable_at(l, probe) : !isnan(open);
        if (stable && isnan(open))
            open = from;
        if (!isnan(open) && (!stable || i == cuts)) {
            const double close = stable ? to : from;
            const double width = log(fmin(close, Q_MAX) / fmax(open, Q_MIN));
            if ((q > open && q < close) || width > best) {
                best = q > open && q < close ? FF_INF : width;
                *low = open;
                *high = close;
            }
            open = FF_NAN;
        }
        from = to;
    }
}

/* ------------------------------------------------------------------------------------- transmissivity -- */

double complex ff_contact_stability_transmissivity(const ff_contact_stability_config *config, double q,
                                                   double w) {
    loop l = loop_of(config);
    l.elastic = false;
    if (!(w > 0.0))
        return 1.0;
    /* (34): T = L' / (Q + L') = b / (Q a + b) */
    double complex a, b;
    parts(&l, J * w, &a, &b);
    return b / (q * a + b);
}

static void peak(const ff_contact_stability_config *c, double q, double *largest, double *at) {
    const loop l = loop_of(c);
    const double slow = 1e-3 * fmin(sqrt(l.gp), l.gp / l.gv);
    const double fast = l.delayed ? 2.0 * FF_PI * CHAIN / l.delay : 1e2 * (l.wa + l.gv + sqrt(l.gp));
    const double step = l.delayed ? 0.02 / l.delay : FF_INF;
    double best = 1.0, where = 0.0, previous = slow, left = slow, right = slow;
    double w = slow;
    while (w < fast) {
        const double t = cabs(ff_contact_stability_transmissivity(c, q, w));
        if (t > best) {
            best = t;
            where = w;
            left = previous;
            right = fmin(w * 1.005, w + step);
        }
        previous = w;
        w = fmin(w * 1.005, w + step);
    }
    if (where > 0.0) {
        const double ratio = 0.6180339887498949;
        for (int i = 0; i < 60; i++) {
            const double a = right - ratio * (right - left), b = left + ratio * (right - left);
            const bool keep_left = cabs(ff_contact_stability_transmissivity(c, q, a)) >
                                   cabs(ff_contact_stability_transmissivity(c, q, b));
            *(keep_left ? &right : &left) = keep_left ? b : a;
        }
        where = 0.5 * (left + right);
        best = cabs(ff_contact_stability_transmissivity(c, q, where));
    }
    *largest = best;
    *at = where;
}

/* ------------------------------------------------------------------------------------------------- all -- */

ff_status ff_contact_stability_analyze(const ff_contact_stability_config *config, ff_contact_stability *out,
                                       char *message, size_t size) {
    const ff_status valid = ff_contact_stability_validate(config, message, size);
    if (valid != FF_OK)
        return valid;
    const loop l = loop_of(config);
    const double q = config->inertia_ratio;
    ff_contact_stability r = {.growth_rate = FF_NAN,
                              .peak_transmissivity = FF_NAN,
                              .peak_frequency_radps = FF_NAN,
                              .force_sensitivity = FF_NAN};
    /* (33) lambda_max(Q) < 2 w_a/w_p, w_p = 2 G_p/G_v */
    r.q_critical = (l.delayed ? 1.0 / l.delay : l.wa) * l.gv / l.gp;
    if (!l.delayed && !l.elastic) {
        r.q_low = 1.0 / (1.0 + l.d / l.wa);
        r.q_high = r.q_critical;
        if (!(r.q_low < r.q_high))
            r.q_low = r.q_high = FF_NAN;
    } else {
        scan_band(&l, q, &r.q_low, &r.q_high);
    }
    /* (27), whose factor s^2 Z^-1 must read s^-2 Z = 1/(s^2 + G_v s + G_p): a static disturbance d shifts the
     * pose by d/(M_r G_p), it does not leave it alone. Largest over frequency; Z's own largest value is that
     * times G_p. */
    const bool resonant = l.gv * l.gv < 2.0 * l.gp;
    const double admittance = resonant ? 1.0 / (l.gv * sqrt(l.gp - 0.25 * l.gv * l.gv)) : 1.0 / l.gp;
    r.constraint_sensitivity = admittance;
    if (isfinite(q)) {
        const ff_status status = ff_contact_stability_growth(config, q, &r.growth_rate);
        if (status != FF_OK)
            return ff_refuse(status, message, size, "the rightmost root of the loop could not be confirmed");
        r.stable = r.growth_rate < 0.0;
        const double edge = 1e-9 * (l.gv + sqrt(l.gp));
        if (fabs(r.growth_rate) <= edge)
            r.peak_transmissivity = FF_INF;
        else if (r.stable)
            peak(config, q, &r.peak_transmissivity, &r.peak_frequency_radps);
        /* (28) e_f = -Z Q d */
        r.force_sensitivity = q * l.gp * admittance;
    }
    *out = r;
    return FF_OK;
}

/* ---------------------------------------------------------------------------------------------- matrix -- */

ff_status ff_contact_stability_ratio(size_t n, const double *M_s, const double *M_r, double *Q) {
    double factor[36], probe[36];
    if (n < 1 || n > FF_CONTACT_STABILITY_AXES)
        return FF_ERR_SIZE;
    memcpy(factor, M_r, n * n * sizeof *factor);
    memcpy(probe, M_s, n * n * sizeof *probe);
    if (ff_cholesky_factor(n, factor) != FF_OK || ff_cholesky_factor(n, probe) != FF_OK)
        return FF_ERR_INERTIA;
    /* Row i of Q solves M_r x = (row i of M_s), both matrices being symmetric. */
    memcpy(Q, M_s, n * n * sizeof *Q);
    for (size_t i = 0; i < n; i++)
        ff_cholesky_solve(n, factor, Q + i * n);
    return FF_OK;
}

/* Characteristic polynomial by Faddeev and LeVerrier; n <= 6 and inertia ratios keep it well scaled after the
 * trace has been divided out. */
static ff_status eigenvalues(size_t n, const double *Q, double *value) {
    double trace = 0.0;
    for (size_t i = 0; i < n; i++)
        trace += Q[i * n + i];
    if (!(trace > 0.0))
        return FF_ERR_INERTIA;
    double A[36], M[36] = {0}, c[7];
    for (size_t i = 0; i < n * n; i++)
        A[i] = Q[i] / trace;
    c[n] = 1.0;
    for (size_t k = 1; k <= n; k++) {
        double next[36];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = i == j ? c[n - k + 1] : 0.0;
                for (size_t h = 0; h < n; h++)
                    sum += A[i * n + h] * M[h * n + j];
                next[i * n + j] = sum;
            }
        memcpy(M, next, n * n * sizeof *M);
        double sum = 0.0;
        for (size_t i = 0; i < n; i++)
            for (size_t h = 0; h < n; h++)
                sum += A[i * n + h] * M[h * n + i];
        c[n - k] = -sum / (double)k;
    }
    double complex root[6];
    const ff_status status = ff_polynomial_roots(n, c, root);
    if (status != FF_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        /* A double eigenvalue splits by the square root of the rounding error. */
        if (!(creal(root[i]) > 0.0) || fabs(cimag(root[i])) > 1e-5 * cabs(root[i]))
            return FF_ERR_INERTIA;
        value[i] = creal(root[i]) * trace;
    }
    qsort(value, n, sizeof *value, ascending);
    return FF_OK;
}

/* Inverse iteration; the shift is a little off the eigenvalue so that the matrix can be factored. Directions
 * of a repeated eigenvalue are kept apart by removing those already found. */
static ff_status direction(size_t n, const double *Q, double value, size_t found, double d[][6], double *x) {
    double A[36];
    size_t pivots[6];
    memcpy(A, Q, n * n * sizeof *A);
    for (size_t i = 0; i < n; i++)
        A[i * n + i] -= value * (1.0 + 1e-7);
    if (ff_lu_factor(n, A, pivots) != FF_OK)
        return FF_ERR_SINGULAR;
    for (size_t i = 0; i < n; i++)
        x[i] = 1.0 + 0.1 * (double)((i * 7 + found * 3) % 5);
    for (int pass = 0; pass < 4; pass++) {
        if (pass > 0)
            ff_lu_solve(n, A, pivots, x);
        double norm = 0.0;
        for (size_t k = 0; k < found && pass < 1; k++) {
            double dot = 0.0;
            for (size_t i = 0; i < n; i++)
                dot += x[i] * d[k][i];
            for (size_t i = 0; i < n; i++)
                x[i] -= dot * d[k][i];
        }
        for (size_t i = 0; i < n; i++)
            norm += x[i] * x[i];
        norm = sqrt(norm);
        if (!(norm > 0.0) || !isfinite(norm))
            return FF_ERR_SINGULAR;
        for (size_t i = 0; i < n; i++)
            x[i] /= norm;
    }
    size_t largest = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[largest]))
            largest = i;
    if (x[largest] < 0.0)
        for (size_t i = 0; i < n; i++)
            x[i] = -x[i];
    return FF_OK;
}

ff_status ff_contact_stability_matrix(const ff_contact_stability_config *config, size_t n, const double *Q,
                                      ff_contact_stability_axes *axes, ff_contact_stability *out,
                                      char *message, size_t size) {
    if (n < 1 || n > FF_CONTACT_STABILITY_AXES)
        return ff_refuse(FF_ERR_SIZE, message, size, "the inertia ratio must be a matrix of 1 to 6 rows");
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(Q[i]))
            return ff_refuse(FF_ERR_NOT_FINITE, message, size,
                             "the inertia ratio has an entry that is not finite");
    ff_contact_stability_config one = *config;
    one.inertia_ratio = FF_NAN;
    ff_status status = ff_contact_stability_validate(&one, message, size);
    if (status != FF_OK)
        return status;
    ff_contact_stability_axes r = {.n = n};
    status = eigenvalues(n, Q, r.value);
    if (status != FF_OK)
        return ff_refuse(status, message, size,
                         "the inertia ratio's eigenvalues must be real and positive: it is not M_s M_r^-1 of "
                         "two inertias");
    for (size_t i = 0; i < n; i++) {
        status = direction(n, Q, r.value[i], i, r.direction, r.direction[i]);
        if (status == FF_OK)
            status = ff_contact_stability_growth(config, r.value[i], &r.growth[i]);
        if (status != FF_OK)
            return ff_refuse(status, message, size,
                             "the inertia ratio's worst direction could not be confirmed");
        if (r.growth[i] >= r.growth[r.worst])
            r.worst = i;
    }
    one.inertia_ratio = r.value[r.worst];
    status = ff_contact_stability_analyze(&one, out, message, size);
    if (status == FF_OK)
        *axes = r;
    return status;
}
