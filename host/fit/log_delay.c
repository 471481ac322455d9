/* The robot's delay and lag from commands and poses. */
#include "fit/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNALS = 3, FIT_ROWS = 12000, PARAMETERS = 3 };

/* Command and robot along three coordinates, with rates. */
typedef struct series {
    size_t rows, first; /* residuals count from `first` on: before it the command's past is not in the log */
    double cycle;
    double *u, *du, *x, *dx; /* [rows][3] */
    double *out;             /* model */
} series;

/* Commanded coordinate at t_k - delay, linear between rows, as robots are commanded. */
static void delayed(const series *s, size_t k, double delay, int a, double *u, double *du) {
    const double back = (double)k - delay / s->cycle;
    if (back <= 0.0) {
        *u = s->u[a] + back * s->cycle * s->du[a];
        *du = s->du[a];
        return;
    }
    const size_t i = (size_t)back;
    const double part = back - (double)i;
    if (i + 1 >= s->rows) {
        *u = s->u[(s->rows - 1) * SIGNALS + (size_t)a];
        *du = s->du[(s->rows - 1) * SIGNALS + (size_t)a];
        return;
    }
    const double *lo = &s->u[i * SIGNALS + (size_t)a], *dlo = &s->du[i * SIGNALS + (size_t)a];
    *u = lo[0] + part * (lo[SIGNALS] - lo[0]);
    *du = dlo[0] + part * (dlo[SIGNALS] - dlo[0]);
}

/* theta: delay; first order: + time constant; second order: + w, z. Small steps of the exact homogeneous
 * solution would do as well; four midpoint steps a cycle are finer than any log. */
static void model(const series *s, ff_log_lag lag, const double *theta) {
    for (int a = 0; a < SIGNALS; a++) {
        double u0, du0, x, v;
        delayed(s, s->first, theta[0], a, &u0, &du0);
        x = s->x[s->first * SIGNALS + (size_t)a];
        v = s->dx[s->first * SIGNALS + (size_t)a];
        for (size_t k = s->first; k < s->rows; k++) {
            double u1, du1;
            delayed(s, k, theta[0], a, &u1, &du1);
            if (lag == FF_LOG_LAG_NONE) {
                x = u1;
            } else if (k > s->first && lag == FF_LOG_LAG_FIRST) {
                /* exact for a command that runs linearly: x - (u - T u') decays */
                const double slope = (u1 - u0) / s->cycle, T = theta[1];
                x = u1 - T * slope + (x - u0 + T * slope) * exp(-s->cycle / T);
            } else if (k > s->first) {
                const double w = theta[1], z = theta[2];
                const int steps = 1 + (int)fmin(200.0, w * fmax(1.0, z) * s->cycle / 0.05);
                const double h = s->cycle / steps;
                for (int i = 0; i < steps; i++) { /* fourth order; the input is linear */
                    double kx[4], kv[4];
                    for (int stage = 0; stage < 4; stage++) {
                        const double c = stage == 0 ? 0.0 : stage == 3 ? 1.0 : 0.5;
                        const double xs = x + (stage ? c * h * kx[stage - 1] : 0.0);
                        const double vs = v + (stage ? c * h * kv[stage - 1] : 0.0);
                        const double r = (i + c) / steps, u = u0 + r * (u1 - u0), du = du0 + r * (du1 - du0);
                        kx[stage] = vs;
                        kv[stage] = w * w * (u - xs) + 2.0 * z * w * (du - vs);
                    }
                    x += h / 6.0 * (kx[0] + 2.0 * (kx[1] + kx[2]) + kx[3]);
                    v += h / 6.0 * (kv[0] + 2.0 * (kv[1] + kv[2]) + kv[3]);
                }
            }
            s->out[k * SIGNALS + (size_t)a] = x;
            u0 = u1;
            du0 = du1;
        }
    }
}

static double squares(const series *s, ff_log_lag lag, const double *theta) {
    double sum = 0.0;
    model(s, lag, theta);
    for (size_t i = s->first * SIGNALS; i < s->rows * SIGNALS; i++)
        sum += (s->out[i] - s->x[i]) * (s->out[i] - s->x[i]);
    return sum;
}

/* Normal equations of the step from theta: A = J^T J, g = J^T (x - model), J by differences, column by column
 * in `jac`. */
static void linearize(const series *s, ff_log_lag lag, int n, const double *theta, double *base, double *jac,
                      double *A, double *g) {
    const size_t total = s->rows * SIGNALS, from = s->first * SIGNALS;
    model(s, lag, theta);
    memcpy(base, s->out, total * sizeof *base);
    for (int p = 0; p < n; p++) {
        double other[PARAMETERS];
        memcpy(other, theta, sizeof other);
        const double step = p == 0 ? 1e-4 * s->cycle : 1e-6;
        if (p == 0)
            other[0] += step;
        else
            other[p] *= exp(step);
        model(s, lag, other);
        for (size_t i = from; i < total; i++)
            jac[(size_t)p * total + i] = (s->out[i] - base[i]) / step;
    }
    for (int p = 0; p < n; p++) {
        g[p] = 0.0;
        for (size_t i = from; i < total; i++)
            g[p] += jac[(size_t)p * total + i] * (s->x[i] - base[i]);
        for (int q = 0; q < n; q++) {
            A[p * n + q] = 0.0;
            for (size_t i = from; i < total; i++)
                A[p * n + q] += jac[(size_t)p * total + i] * jac[(size_t)q * total + i];
        }
    }
}

/* One step that lessens the squares, damped until it does; false when there is none worth taking. */
static bool improve(const series *s, ff_log_lag lag, int n, double delay_max, const double *A,
                    const double *g, double *theta, double *damping, double *best) {
    for (int attempt = 0; attempt < 8; attempt++) {
        double B[PARAMETERS * PARAMETERS], d[PARAMETERS], other[PARAMETERS];
        memcpy(B, A, sizeof B);
        memcpy(d, g, sizeof d);
        for (int p = 0; p < n; p++)
            B[p * n + p] *= 1.0 + *damping;
        if (ff_cholesky_factor((size_t)n, B) != FF_OK)
            return false;
        ff_cholesky_solve((size_t)n, B, d);
        memcpy(other, theta, sizeof other);
        other[0] = fmin(fmax(other[0] + d[0], 0.0), delay_max);
        for (int p = 1; p < n; p++)
            other[p] *= exp(fmin(fmax(d[p], -1.0), 1.0));
        const double sum = squares(s, lag, other);
        if (sum < *best) {
            const bool moved = *best - sum > 1e-13 * *best;
            *best = sum;
            memcpy(theta, other, sizeof other);
            *damping *= 0.2;
            return moved;
        }
        *damping = fmax(10.0 * *damping, 1e-6);
    }
    return false;
}

/* Variances of theta. */
static void judge(const series *s, ff_log_lag lag, int n, const double *theta, const double *A, double *cov) {
    const size_t total = s->rows * SIGNALS, from = s->first * SIGNALS;
    model(s, lag, theta);
    double sum = 0.0, lagged = 0.0;
    for (size_t i = from; i < total; i++) {
        const double r = s->x[i] - s->out[i];
        sum += r * r;
        if (i >= from + SIGNALS)
            lagged += r * (s->x[i - SIGNALS] - s->out[i - SIGNALS]);
    }
    const double variance = ff__residual_variance(sum, lagged, total - from, n);
    double L[PARAMETERS * PARAMETERS];
    memcpy(L, A, sizeof L);
    for (int p = 0; p < n; p++)
        cov[p] = FF_NAN;
    if (ff_cholesky_factor((size_t)n, L) == FF_OK)
        for (int p = 0; p < n; p++) {
            double e[PARAMETERS] = {0};
            e[p] = 1.0;
            ff_cholesky_solve((size_t)n, L, e);
            cov[p] = variance * e[p];
        }
}

/* Levenberg-Marquardt; shape parameters (all but the delay) by their logarithm. Variances in `cov`; the sum
 * of squares, or NaN. */
static double fit_delay(const series *s, ff_log_lag lag, int n, double delay_max, double *theta,
                        double *cov) {
    const size_t total = s->rows * SIGNALS;
    double *base = malloc((size_t)(n + 1) * total * sizeof *base);
    if (!base)
        return FF_NAN;
    double damping = 1e-6, best = squares(s, lag, theta);
    double A[PARAMETERS * PARAMETERS] = {0}, g[PARAMETERS] = {0};
    for (int iteration = 0; iteration < 40; iteration++) {
        linearize(s, lag, n, theta, base, base + total, A, g);
        if (!improve(s, lag, n, delay_max, A, g, theta, &damping, &best))
            break;
    }
    judge(s, lag, n, theta, A, cov);
    free(base);
    return best;
}

static ff_status load_series(const ff_log_table *t, int body, double delay_max, series *s, bool *rotation,
                             char *message, size_t size) {
    const ff__group p = ff__find(t, body, "command.position.x"), q = ff__find(t, body, "command.attitude.w"),
                    v = ff__find(t, body, "command.velocity.x"),
                    w = ff__find(t, body, "command.angular_velocity.x");
    ff__motion m;
    if (!p.at || !q.at || !v.at || !w.at || !ff__find_motion(t, body, &m))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the log lacks command or robot columns of this body");
    double travel = 0.0, turn = 0.0;
    for (size_t k = 0; k < t->rows; k++) {
        travel = fmax(travel, ff_vec3_norm(ff_vec3_sub(ff__vec3_at(p, k), ff__vec3_at(p, 0))));
        turn = fmax(
            turn, ff_vec3_norm(ff_quat_log(ff_quat_mul(ff_quat_conj(ff__quat_at(q, 0)), ff__quat_at(q, k)))));
    }
    *rotation = travel < 1e-4;
    if (*rotation && turn < 1e-4)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the robot hardly moved: its delay cannot be seen");
    /* The busiest stretch: where the commanded velocity changes most. */
    size_t rows = t->rows, begin = 0;
    if (rows > FIT_ROWS) {
        rows = FIT_ROWS;
        double most = -1.0;
        for (size_t b = 0; b + rows <= t->rows; b += rows / 4) {
            double sum = 0.0;
            for (size_t k = b + 1; k < b + rows; k++)
                sum += *rotation ? ff_vec3_norm(ff_vec3_sub(ff__vec3_at(w, k), ff__vec3_at(w, k - 1)))
                                 : ff_vec3_norm(ff_vec3_sub(ff__vec3_at(v, k), ff__vec3_at(v, k - 1)));
            if (sum > most) {
                most = sum;
                begin = b;
            }
        }
    }
    s->rows = rows;
    s->cycle = t->cycle;
    const double first = ceil(delay_max / t->cycle) + 1.0;
    if (rows < 21 || !(first + 20.0 <= (double)rows))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the log is too short for the largest delay that is tried");
    s->first = (size_t)first;
    s->u = malloc(5 * rows * SIGNALS * sizeof *s->u);
    if (!s->u)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    s->du = s->u + rows * SIGNALS;
    s->x = s->du + rows * SIGNALS;
    s->dx = s->x + rows * SIGNALS;
    s->out = s->dx + rows * SIGNALS;
    const ff_quat origin = ff_quat_conj(ff__quat_at(m.q, begin));
    for (size_t k = 0; k < rows; k++) {
        ff_vec3 u = ff__vec3_at(p, begin + k), du = ff__vec3_at(v, begin + k);
        ff_vec3 x = ff__vec3_at(m.p, begin + k), dx = ff__vec3_at(m.v, begin + k);
        if (*rotation) { /* turns of less than half a circle in one stretch */
            u = ff_quat_log(ff_quat_mul(origin, ff__quat_at(q, begin + k)));
            x = ff_quat_log(ff_quat_mul(origin, ff__quat_at(m.q, begin + k)));
            du = ff__vec3_at(w, begin + k);
            dx = ff__vec3_at(m.w, begin + k);
        }
        for (size_t a = 0; a < SIGNALS; a++) {
            s->u[k * SIGNALS + a] = u.a[a];
            s->du[k * SIGNALS + a] = du.a[a];
            s->x[k * SIGNALS + a] = x.a[a];
            s->dx[k * SIGNALS + a] = dx.a[a];
        }
        if (!ff_vec3_finite(u) || !ff_vec3_finite(x) || !ff_vec3_finite(du) || !ff_vec3_finite(dx)) {
            free(s->u);
            return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log holds values that are not finite");
        }
    }
    return FF_OK;
}

/* Best of a grid: the sum of squares has valleys. */
static void coarse(const series *s, ff_log_lag lag, double delay_max, double *theta) {
    static const double hertz[] = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}, late[] = {0.005, 0.02, 0.08};
    const int delays = lag == FF_LOG_LAG_NONE ? 200 : 25;
    const int shapes = lag == FF_LOG_LAG_NONE ? 1 : lag == FF_LOG_LAG_FIRST ? 3 : 6;
    double best = FF_INF;
    for (int i = 0; i <= delays; i++)
        for (int j = 0; j < shapes; j++) {
            const double shape = lag == FF_LOG_LAG_FIRST ? late[j] : 2.0 * FF_PI * hertz[j];
            const double one[PARAMETERS] = {delay_max * i / delays, shape, 0.8};
            const double sum = squares(s, lag, one);
            if (sum < best) {
                best = sum;
                memcpy(theta, one, sizeof one);
            }
        }
}

ff_status ff_log_identify_delay(const ff_log_table *table, int body, double delay_max, ff_log_delay *out,
                                char *message, size_t size) {
    const ff_estimate none = {FF_NAN, FF_NAN};
    *out = (ff_log_delay){.delay = none, .time = none, .frequency = none, .damping = none};
    if (body < 0 || body >= table->bodies)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log has no such body");
    if (isnan(delay_max))
        delay_max = fmin(0.5, 0.25 * table->cycle * (double)table->rows);
    if (!(delay_max > 0.0))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the largest delay must be > 0");
    series s = {0};
    ff_status status = load_series(table, body, delay_max, &s, &out->rotation, message, size);
    if (status != FF_OK)
        return status;
    double score = FF_INF;
    const double count = (double)((s.rows - s.first) * SIGNALS);
    for (int lag = FF_LOG_LAG_NONE; lag <= FF_LOG_LAG_SECOND; lag++) {
        const int n = lag == FF_LOG_LAG_NONE ? 1 : lag == FF_LOG_LAG_FIRST ? 2 : 3;
        double theta[PARAMETERS], cov[PARAMETERS];
        coarse(&s, (ff_log_lag)lag, delay_max, theta);
        const double sum = fit_delay(&s, (ff_log_lag)lag, n, delay_max, theta, cov);
        if (isnan(sum)) {
            status = ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
            break;
        }
        /* Bayes' criterion; below a hundredth of a micrometre all models are exact, and the plainest wins. */
        const double bic = count * log(sum / count + 1e-16) + n * log(count);
        if (bic < score - 10.0) {
            score = bic;
            out->lag = (ff_log_lag)lag;
            out->residual = sqrt(sum / count);
            out->delay = (ff_estimate){theta[0], sqrt(cov[0])};
            out->time = out->frequency = out->damping = none;
            if (lag == FF_LOG_LAG_FIRST)
                out->time = (ff_estimate){theta[1], theta[1] * sqrt(cov[1])};
            if (lag == FF_LOG_LAG_SECOND) {
                out->frequency =
                    (ff_estimate){theta[1] / (2.0 * FF_PI), theta[1] / (2.0 * FF_PI) * sqrt(cov[1])};
                out->damping = (ff_estimate){theta[2], theta[2] * sqrt(cov[2])};
            }
        }
        if (sum / count < 1e-18)
            break;
    }
    out->rows = s.rows - s.first;
    free(s.u);
    /* at the bound the search has ended, not the valley */
    if (status == FF_OK && !(out->delay.value + 3.0 * out->delay.sd < delay_max)) {
        *out = (ff_log_delay){
            .delay = none, .time = none, .frequency = none, .damping = none, .rows = out->rows};
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the delay is not below the largest that is tried, %.6g ms", 1e3 * delay_max);
    }
    return status;
}
