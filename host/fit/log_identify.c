#include "fit/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ff_status fail(ff_status status, char *message, size_t size, const char *text) {
    if (message && size)
        snprintf(message, size, "%s", text);
    return status;
}

/* --------------------------------------------------------------------------------------------- columns -- */

/* Three (or four) columns that follow each other. */
typedef struct group {
    const double *at; /* first row's first value; NULL: missing */
    size_t stride;
} group;

static group find(const ff_log_table *t, int body, const char *what) {
    char name[2 * FF_LOG_NAME];
    snprintf(name, sizeof name, "%s.%s", t->body[body], what);
    const int column = ff_log_table_column(t, name);
    return (group){column < 0 ? NULL : t->value + column, (size_t)t->columns};
}

static ff_vec3 vec3_at(group g, size_t k) {
    const double *v = g.at + k * g.stride;
    return ff_vec3_make(v[0], v[1], v[2]);
}

static ff_quat quat_at(group g, size_t k) {
    const double *v = g.at + k * g.stride;
    return (ff_quat){v[0], v[1], v[2], v[3]};
}

/* Robot's motion and wrench of one body. */
typedef struct motion {
    group p, q, v, w, f, t;
} motion;

static bool find_motion(const ff_log_table *t, int body, motion *m) {
    *m = (motion){find(t, body, "robot.position.x"), find(t, body, "robot.attitude.w"),
                  find(t, body, "robot.velocity.x"), find(t, body, "robot.angular_velocity.x"),
                  find(t, body, "force_measured.x"), find(t, body, "torque_measured.x")};
    return m->p.at && m->q.at && m->v.at && m->w.at && m->f.at && m->t.at;
}

/* ----------------------------------------------------------------------------------------------- delay -- */

enum { SIGNALS = 3, FIT_ROWS = 12000, PARAMETERS = 3 };

/* Command and robot along three coordinates, with rates. */
typedef struct series {
    size_t rows, first; /* residuals count from `first` on: before it the command's past is not in the log */
    double cycle;
    double *u, *du, *x, *dx; /* [rows][3] */
    double *out;             /* model */
} series;

/* Commanded coordinate at t_k - delay, linear between rows, as robots are told it. */
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

/* Levenberg-Marquardt; shape parameters (all but the delay) by their logarithm. Covariance in `cov`. */
static double fit(const series *s, ff_log_lag lag, int n, double delay_max, double *theta, double *cov) {
    const size_t total = s->rows * SIGNALS, from = s->first * SIGNALS;
    double *base = malloc((size_t)(n + 1) * total * sizeof *base);
    if (!base)
        return FF_NAN;
    double *jac = base + total; /* column by column */
    double damping = 1e-6, best = squares(s, lag, theta);
    double A[PARAMETERS * PARAMETERS] = {0}, g[PARAMETERS] = {0};
    for (int iteration = 0; iteration < 40; iteration++) {
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
        bool moved = false;
        for (int attempt = 0; attempt < 8 && !moved; attempt++) {
            double B[PARAMETERS * PARAMETERS], d[PARAMETERS], other[PARAMETERS];
            memcpy(B, A, sizeof B);
            memcpy(d, g, sizeof d);
            for (int p = 0; p < n; p++)
                B[p * n + p] *= 1.0 + damping;
            if (ff_cholesky_factor((size_t)n, B) != FF_OK)
                break;
            ff_cholesky_solve((size_t)n, B, d);
            memcpy(other, theta, sizeof other);
            other[0] = fmin(fmax(other[0] + d[0], 0.0), delay_max);
            for (int p = 1; p < n; p++)
                other[p] *= exp(fmin(fmax(d[p], -1.0), 1.0));
            const double sum = squares(s, lag, other);
            if (sum < best) {
                moved = best - sum > 1e-13 * best;
                best = sum;
                memcpy(theta, other, sizeof other);
                damping *= 0.2;
                if (!moved)
                    break;
            } else {
                damping = fmax(10.0 * damping, 1e-6);
            }
        }
        if (!moved)
            break;
    }
    /* Residuals that are alike from row to row say less than their number. */
    model(s, lag, theta);
    double sum = 0.0, lagged = 0.0;
    for (size_t i = from; i < total; i++) {
        const double r = s->x[i] - s->out[i];
        sum += r * r;
        if (i >= from + SIGNALS)
            lagged += r * (s->x[i - SIGNALS] - s->out[i - SIGNALS]);
    }
    const double rho = sum > 0.0 ? fmin(fmax(lagged / sum, 0.0), 0.999) : 0.0;
    const double variance = sum / (double)(total - from) * (1.0 + rho) / (1.0 - rho);
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
    free(base);
    return best;
}

static ff_status load_series(const ff_log_table *t, int body, double delay_max, series *s, bool *rotation,
                             char *message, size_t size) {
    const group p = find(t, body, "command.position.x"), q = find(t, body, "command.attitude.w"),
                v = find(t, body, "command.velocity.x"), w = find(t, body, "command.angular_velocity.x");
    motion m;
    if (!p.at || !q.at || !v.at || !w.at || !find_motion(t, body, &m))
        return fail(FF_ERR_ARGUMENT, message, size, "the log lacks command or robot columns of this body");
    double travel = 0.0, turn = 0.0;
    for (size_t k = 0; k < t->rows; k++) {
        travel = fmax(travel, ff_vec3_norm(ff_vec3_sub(vec3_at(p, k), vec3_at(p, 0))));
        turn = fmax(turn, ff_vec3_norm(ff_quat_log(ff_quat_mul(ff_quat_conj(quat_at(q, 0)), quat_at(q, k)))));
    }
    *rotation = travel < 1e-4;
    if (*rotation && turn < 1e-4)
        return fail(FF_ERR_ARGUMENT, message, size, "the robot hardly moved: its delay cannot be seen");
    /* The busiest stretch: where the commanded velocity changes most. */
    size_t rows = t->rows, begin = 0;
    if (rows > FIT_ROWS) {
        rows = FIT_ROWS;
        double most = -1.0;
        for (size_t b = 0; b + rows <= t->rows; b += rows / 4) {
            double sum = 0.0;
            for (size_t k = b + 1; k < b + rows; k++)
                sum += *rotation ? ff_vec3_norm(ff_vec3_sub(vec3_at(w, k), vec3_at(w, k - 1)))
                                 : ff_vec3_norm(ff_vec3_sub(vec3_at(v, k), vec3_at(v, k - 1)));
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
        return fail(FF_ERR_ARGUMENT, message, size,
                    "the log is too short for the largest delay that is tried");
    s->first = (size_t)first;
    s->u = malloc(5 * rows * SIGNALS * sizeof *s->u);
    if (!s->u)
        return fail(FF_ERR_MEMORY, message, size, "no memory");
    s->du = s->u + rows * SIGNALS;
    s->x = s->du + rows * SIGNALS;
    s->dx = s->x + rows * SIGNALS;
    s->out = s->dx + rows * SIGNALS;
    const ff_quat origin = ff_quat_conj(quat_at(m.q, begin));
    for (size_t k = 0; k < rows; k++) {
        ff_vec3 u = vec3_at(p, begin + k), du = vec3_at(v, begin + k);
        ff_vec3 x = vec3_at(m.p, begin + k), dx = vec3_at(m.v, begin + k);
        if (*rotation) { /* turns of less than half a circle in one stretch */
            u = ff_quat_log(ff_quat_mul(origin, quat_at(q, begin + k)));
            x = ff_quat_log(ff_quat_mul(origin, quat_at(m.q, begin + k)));
            du = vec3_at(w, begin + k);
            dx = vec3_at(m.w, begin + k);
        }
        for (size_t a = 0; a < SIGNALS; a++) {
            s->u[k * SIGNALS + a] = u.a[a];
            s->du[k * SIGNALS + a] = du.a[a];
            s->x[k * SIGNALS + a] = x.a[a];
            s->dx[k * SIGNALS + a] = dx.a[a];
        }
        if (!ff_vec3_finite(u) || !ff_vec3_finite(x) || !ff_vec3_finite(du) || !ff_vec3_finite(dx)) {
            free(s->u);
            return fail(FF_ERR_ARGUMENT, message, size, "the log holds values that are not finite");
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
        return fail(FF_ERR_ARGUMENT, message, size, "the log has no such body");
    if (isnan(delay_max))
        delay_max = fmin(0.5, 0.25 * table->cycle * (double)table->rows);
    if (!(delay_max > 0.0))
        return fail(FF_ERR_ARGUMENT, message, size, "the largest delay must be > 0");
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
        const double sum = fit(&s, (ff_log_lag)lag, n, delay_max, theta, cov);
        if (isnan(sum)) {
            status = fail(FF_ERR_MEMORY, message, size, "no memory");
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
    return status;
}

/* --------------------------------------------------------------------------------------------- contact -- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Force above which there is contact: five times the noise of the quieter half, and a thousandth of the
 * largest. FF_NAN: out of memory. */
static double threshold(const ff_log_table *t, group f, double *noise) {
    double *all = malloc(t->rows * sizeof *all), peak = 0.0;
    if (!all)
        return FF_NAN;
    for (size_t k = 0; k < t->rows; k++) {
        all[k] = ff_vec3_norm(vec3_at(f, k));
        peak = fmax(peak, all[k]);
    }
    qsort(all, t->rows, sizeof *all, by_size);
    const double quiet = all[t->rows / 4]; /* a quarter of |noise| of three axes lies below 1.1 sd */
    free(all);
    *noise = quiet / 1.1;
    return fmax(5.0 * *noise, 1e-3 * peak);
}

/* Point of application: r x f = t. Its part along the force shows only as the force turns in the body; noise
 * in f would pull that part to zero, so rows are averaged in about 24 blocks and the variance that is left
 * (noise: sd of one axis of one row) is taken out again. */
static ff_vec3 application_point(const motion *m, size_t from, size_t to, double noise) {
    const size_t block = (to - from) / 24 + 1;
    double A[9] = {0}, b[3] = {0}, size = 0.0, excess = 0.0;
    for (size_t k = from; k < to; k += block) {
        const size_t end = k + block < to ? k + block : to;
        const double part = 1.0 / (double)(end - k);
        ff_vec3 f = ff_vec3_zero(), t = ff_vec3_zero();
        for (size_t i = k; i < end; i++) {
            f = ff_vec3_axpy(part, vec3_at(m->f, i), f);
            t = ff_vec3_axpy(part, vec3_at(m->t, i), t);
        }
        const ff_vec3 moment = ff_vec3_cross(f, t);
        const double f2 = ff_vec3_dot(f, f);
        size += f2;
        excess += 2.0 * noise * noise * part;
        for (int i = 0; i < 3; i++) {
            b[i] += moment.a[i];
            for (int j = 0; j < 3; j++)
                A[3 * i + j] += (i == j ? f2 : 0.0) - f.a[i] * f.a[j];
        }
    }
    if (!(size > 0.0))
        return ff_vec3_zero();
    double L[9];
    for (int attempt = 0; attempt < 2; attempt++) { /* less than its own noise: the part along f stays zero */
        memcpy(L, A, sizeof L);
        for (int i = 0; i < 3; i++)
            L[4 * i] += 1e-9 * size + (attempt ? excess : -excess);
        double r[3] = {b[0], b[1], b[2]};
        if (ff_cholesky_factor(3, L) != FF_OK)
            continue;
        ff_cholesky_solve(3, L, r);
        const ff_vec3 point = ff_vec3_make(r[0], r[1], r[2]);
        double least = FF_INF;
        for (int i = 0; i < 3; i++)
            least = fmin(least, L[4 * i] * L[4 * i]);
        if (attempt || least > excess)
            return point;
    }
    return ff_vec3_zero();
}

/* Position and velocity of a body point in row k, shifted back by `skew` cycles. */
static void point_motion(const motion *m, ff_vec3 r, size_t k, double skew, ff_vec3 *p, ff_vec3 *v) {
    const ff_quat q = quat_at(m->q, k);
    *v = ff_vec3_add(vec3_at(m->v, k), ff_quat_rotate(q, ff_vec3_cross(vec3_at(m->w, k), r)));
    *p = ff_vec3_add(vec3_at(m->p, k), ff_quat_rotate(q, r));
    if (skew == 0.0)
        return;
    const double back = (double)k - skew;
    if (back < 1.0)
        return;
    const size_t i = (size_t)back;
    const double part = back - (double)i;
    ff_vec3 p0, v0, p1, v1;
    point_motion(m, r, i, 0.0, &p0, &v0);
    point_motion(m, r, part > 0.0 ? i + 1 : i, 0.0, &p1, &v1);
    *p = ff_vec3_axpy(part, ff_vec3_sub(p1, p0), p0);
    *v = ff_vec3_axpy(part, ff_vec3_sub(v1, v0), v0);
}

static ff_vec3 inertial_force(const motion *m, size_t k) {
    return ff_quat_rotate(quat_at(m->q, k), vec3_at(m->f, k));
}

/* The body that felt the opposite force over these rows, or -1. */
static int find_other(const ff_log_table *t, int body, const motion *m, size_t from, size_t to) {
    for (int j = 0; j < t->bodies; j++) {
        motion o;
        double with = 0.0, own = 0.0, its = 0.0;
        if (j == body || !find_motion(t, j, &o))
            continue;
        for (size_t k = from; k < to; k++) {
            const ff_vec3 a = inertial_force(m, k), b = inertial_force(&o, k);
            with += ff_vec3_dot(a, b);
            own += ff_vec3_dot(a, a);
            its += ff_vec3_dot(b, b);
        }
        if (with < -0.9 * sqrt(own * its) && its > 0.25 * own)
            return j;
    }
    return -1;
}

/* Sums of the regression f = k d + c d' + offset(contact), after the mean of each contact is removed. */
typedef struct sums {
    double dd, dv, vv, df, vf, ff;
    size_t rows;
    int contacts;
} sums;

static void add_contact(const ff_log_table *t, const motion *m, const motion *other, double skew,
                        double noise, size_t from, size_t to, sums *s, ff_vec3 *point) {
    const ff_vec3 r = application_point(m, from, to, noise);
    const ff_vec3 r_other = other ? application_point(other, from, to, noise) : ff_vec3_zero();
    ff_vec3 sum = ff_vec3_zero();
    for (size_t k = from; k < to; k++)
        sum = ff_vec3_add(sum, inertial_force(m, k));
    const ff_vec3 n = ff_vec3_unit(sum);
    double mean_d = 0.0, mean_v = 0.0, mean_f = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        double total_d = 0.0, total_v = 0.0, total_f = 0.0;
        size_t rows = 0;
        /* the first and last row may hold a force that began or ended inside the cycle, or was cut at zero */
        for (size_t k = from + 1; k + 1 < to; k++) {
            const ff_vec3 f = inertial_force(m, k);
            const double along = ff_vec3_dot(f, n);
            if (ff_vec3_norm(ff_vec3_axpy(-along, n, f)) > 0.3 * fabs(along))
                continue; /* another surface pushes too */
            ff_vec3 p, v;
            point_motion(m, r, k, skew / t->cycle, &p, &v);
            if (other) {
                ff_vec3 po, vo;
                point_motion(other, r_other, k, skew / t->cycle, &po, &vo);
                p = ff_vec3_sub(p, po);
                v = ff_vec3_sub(v, vo);
            }
            const double d = -ff_vec3_dot(n, p), rate = -ff_vec3_dot(n, v);
            rows++;
            if (pass == 0) {
                total_d += d;
                total_v += rate;
                total_f += along;
                continue;
            }
            const double x = d - mean_d, y = rate - mean_v, g = along - mean_f;
            s->dd += x * x;
            s->dv += x * y;
            s->vv += y * y;
            s->df += x * g;
            s->vf += y * g;
            s->ff += g * g;
        }
        if (rows < 3)
            return;
        if (pass == 0) {
            mean_d = total_d / (double)rows;
            mean_v = total_v / (double)rows;
            mean_f = total_f / (double)rows;
        } else {
            s->rows += rows;
            s->contacts++;
            *point = ff_vec3_add(*point, r);
        }
    }
}

ff_status ff_log_identify_contact(const ff_log_table *table, int body, double skew, ff_log_contact *out,
                                  char *message, size_t size) {
    *out = (ff_log_contact){.stiffness = {FF_NAN, FF_NAN}, .damping = {FF_NAN, FF_NAN}, .other = -1};
    motion m, o;
    if (body < 0 || body >= table->bodies || !find_motion(table, body, &m))
        return fail(FF_ERR_ARGUMENT, message, size, "the log lacks robot or force columns of this body");
    double noise = 0.0;
    const double on = threshold(table, m.f, &noise);
    if (isnan(on))
        return fail(FF_ERR_MEMORY, message, size, "no memory");
    sums s = {0};
    ff_vec3 point = ff_vec3_zero();
    for (size_t k = 0, from = 0; k <= table->rows; k++) {
        if (k < table->rows && ff_vec3_norm(vec3_at(m.f, k)) > on)
            continue;
        if (k - from >= 6) {
            const int other = find_other(table, body, &m, from, k);
            const bool pair = other >= 0 && find_motion(table, other, &o);
            add_contact(table, &m, pair ? &o : NULL, skew, noise, from, k, &s, &point);
            if (pair)
                out->other = other;
        }
        from = k + 1;
    }
    const double det = s.dd * s.vv - s.dv * s.dv;
    if (s.contacts == 0 || s.rows < (size_t)s.contacts + 4 || !(det > 0.0))
        return fail(FF_ERR_ARGUMENT, message, size,
                    "the log holds no contact of at least six rows of this body");
    const double k = (s.vv * s.df - s.dv * s.vf) / det, c = (s.dd * s.vf - s.dv * s.df) / det;
    const double rest = fmax(0.0, s.ff - k * s.df - c * s.vf);
    const double variance = rest / (double)(s.rows - (size_t)s.contacts - 2);
    out->stiffness = (ff_estimate){k, sqrt(variance * s.vv / det)};
    out->damping = (ff_estimate){c, sqrt(variance * s.dd / det)};
    out->point = ff_vec3_scale(1.0 / s.contacts, point);
    out->contacts = s.contacts;
    out->rows = s.rows;
    out->residual = sqrt(rest / (double)s.rows);
    return FF_OK;
}

/* --------------------------------------------------------------------------------------------- payload -- */

enum { MASS = 0, FIRST = 1, INERTIA = 4, BIAS = 10, UNKNOWNS = 16 };

/* Wrench about the body's origin in body axes from a mock-up at rest in it: with h = R^T (g - a),
 *   f = m h - w' x s - w x (w x s),   t = s x h - J w' - w x J w,   s = m c, J about the body's origin;
 * linear in m, s, J; a constant bias is added. Columns of the 6 x 16 regressor. */
static void payload_rows(ff_vec3 h, ff_vec3 w, ff_vec3 dw, double force[3][UNKNOWNS],
                         double torque[3][UNKNOWNS]) {
    memset(force, 0, 3 * sizeof *force);
    memset(torque, 0, 3 * sizeof *torque);
    for (int i = 0; i < 3; i++) {
        force[i][MASS] = h.a[i];
        force[i][BIAS + i] = 1.0;
        torque[i][BIAS + 3 + i] = 1.0;
    }
    for (int j = 0; j < 3; j++) {
        ff_vec3 e = ff_vec3_zero();
        e.a[j] = 1.0;
        const ff_vec3 f = ff_vec3_add(ff_vec3_cross(dw, e), ff_vec3_cross(w, ff_vec3_cross(w, e)));
        const ff_vec3 t = ff_vec3_cross(e, h);
        for (int i = 0; i < 3; i++) {
            force[i][FIRST + j] = -f.a[i];
            torque[i][FIRST + j] = t.a[i];
        }
    }
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int j = 0; j < 6; j++) {
        ff_vec3 Jdw = ff_vec3_zero(), Jw = ff_vec3_zero();
        const int a = pair[j][0], b = pair[j][1];
        Jdw.a[a] = dw.a[b];
        Jw.a[a] = w.a[b];
        if (a != b) {
            Jdw.a[b] = dw.a[a];
            Jw.a[b] = w.a[a];
        }
        const ff_vec3 t = ff_vec3_add(Jdw, ff_vec3_cross(w, Jw));
        for (int i = 0; i < 3; i++)
            torque[i][INERTIA + j] = -t.a[i];
    }
}

typedef struct normal_equations {
    double A[UNKNOWNS * UNKNOWNS], b[UNKNOWNS];
} normal_equations;

static void accumulate(normal_equations *n, const double *row, double value, double weight) {
    for (int i = 0; i < UNKNOWNS; i++) {
        n->b[i] += weight * row[i] * value;
        for (int j = 0; j < UNKNOWNS; j++)
            n->A[i * UNKNOWNS + j] += weight * row[i] * row[j];
    }
}

/* What says that a row is in contact: the simulated contacts themselves, or the loop's detector, unless a
 * bias keeps that one on. */
typedef struct contact_columns {
    const ff_log_table *table;
    int column[32], count;
} contact_columns;

static contact_columns find_contacts(const ff_log_table *t, int body) {
    contact_columns c = {.table = t};
    for (int i = 0; i < t->columns && c.count < 32; i++) {
        const size_t n = strlen(t->name[i]);
        if (n > 16 && strncmp(t->name[i], "contact.", 8) == 0 && strcmp(t->name[i] + n - 9, ".touching") == 0)
            c.column[c.count++] = i;
    }
    if (c.count)
        return c;
    char name[2 * FF_LOG_NAME];
    snprintf(name, sizeof name, "%s.in_contact", t->body[body]);
    const int column = ff_log_table_column(t, name);
    size_t on = 0;
    for (size_t k = 0; column >= 0 && k < t->rows; k++)
        on += t->value[k * (size_t)t->columns + (size_t)column] > 0.5;
    if (column >= 0 && on < 9 * (t->rows / 10))
        c.column[c.count++] = column;
    return c;
}

static bool touches(const contact_columns *c, size_t k) {
    for (int i = 0; i < c->count; i++)
        if (c->table->value[k * (size_t)c->table->columns + (size_t)c->column[i]] > 0.5)
            return true;
    return false;
}

ff_status ff_log_identify_payload(const ff_log_table *table, int body, ff_vec3 gravity_w, ff_pose T_bs,
                                  ff_log_payload *out, char *message, size_t size) {
    *out = (ff_log_payload){.mass = {FF_NAN, FF_NAN}};
    motion m;
    if (body < 0 || body >= table->bodies || !find_motion(table, body, &m))
        return fail(FF_ERR_ARGUMENT, message, size, "the log lacks robot columns of this body");
    m.f = find(table, body, "sensor.force.x");
    m.t = find(table, body, "sensor.torque.x");
    const contact_columns contacts = find_contacts(table, body);
    if (!m.f.at || !m.t.at)
        return fail(FF_ERR_ARGUMENT, message, size,
                    "the log lacks the sensor's raw reading (NAME.sensor.force, NAME.sensor.torque)");
    const double g = ff_vec3_norm(gravity_w);
    if (!(g > 0.0) || !ff_vec3_finite(gravity_w))
        return fail(FF_ERR_ARGUMENT, message, size, "without gravity a mock-up at rest weighs nothing");
    normal_equations *sum = calloc(1, sizeof *sum);
    if (!sum)
        return fail(FF_ERR_MEMORY, message, size, "no memory");
    const ff_vec3 down0 = ff_quat_unrotate(quat_at(m.q, 0), gravity_w);
    double force[3][UNKNOWNS], torque[3][UNKNOWNS], theta[UNKNOWNS] = {0}, L[UNKNOWNS * UNKNOWNS];
    double rest_f = 0.0, rest_t = 0.0, weight_t = 1.0;
    ff_status status = FF_OK;
    /* Fit, residuals, fit again with torques that weigh as their residuals say, residuals. */
    for (int pass = 0; pass < 4 && status == FF_OK; pass++) {
        const bool gather = pass % 2 == 0;
        if (gather)
            memset(sum, 0, sizeof *sum);
        rest_f = rest_t = 0.0;
        out->rows = 0;
        for (size_t k = 1; k + 1 < table->rows; k++) {
            if (touches(&contacts, k - 1) || touches(&contacts, k) || touches(&contacts, k + 1))
                continue;
            const double half = 0.5 / table->cycle;
            const ff_quat q = quat_at(m.q, k);
            const ff_vec3 a = ff_vec3_scale(half, ff_vec3_sub(vec3_at(m.v, k + 1), vec3_at(m.v, k - 1)));
            const ff_vec3 dw = ff_vec3_scale(half, ff_vec3_sub(vec3_at(m.w, k + 1), vec3_at(m.w, k - 1)));
            const ff_vec3 h = ff_quat_unrotate(q, ff_vec3_sub(gravity_w, a));
            const ff_wrench at_sensor = {vec3_at(m.t, k), vec3_at(m.f, k)};
            const ff_wrench w = ff_wrench_transform(T_bs, at_sensor);
            const ff_vec3 down = ff_quat_unrotate(q, gravity_w);
            out->turned =
                fmax(out->turned, atan2(ff_vec3_norm(ff_vec3_cross(down0, down)), ff_vec3_dot(down0, down)));
            payload_rows(h, vec3_at(m.w, k), dw, force, torque);
            for (int i = 0; i < 3; i++) {
                if (gather) {
                    accumulate(sum, force[i], w.f.a[i], 1.0);
                    accumulate(sum, torque[i], w.t.a[i], weight_t);
                }
                double ef = w.f.a[i], et = w.t.a[i];
                for (int j = 0; j < UNKNOWNS; j++) {
                    ef -= force[i][j] * theta[j];
                    et -= torque[i][j] * theta[j];
                }
                rest_f += ef * ef;
                rest_t += et * et;
            }
            out->rows++;
        }
        if (out->rows < 10) {
            status =
                fail(FF_ERR_ARGUMENT, message, size, "the log holds fewer than ten rows without contact");
            break;
        }
        if (pass == 1 && rest_f > 0.0 && rest_t > 0.0)
            weight_t = fmin(fmax(rest_f / rest_t, 1e-6), 1e6);
        if (!gather)
            continue;
        memcpy(L, sum->A, sizeof L);
        double trace = 0.0;
        for (int i = 0; i < UNKNOWNS; i++)
            trace = fmax(trace, L[i * UNKNOWNS + i]);
        for (int i = 0; i < UNKNOWNS; i++) /* a slow motion says nothing of the inertia: held at zero */
            L[i * UNKNOWNS + i] += (i >= INERTIA && i < BIAS ? 1e-9 : 1e-14) * trace;
        if (ff_cholesky_factor(UNKNOWNS, L) != FF_OK) {
            status = fail(FF_ERR_ARGUMENT, message, size, "the motion does not tell mass and bias apart");
            break;
        }
        memcpy(theta, sum->b, sizeof theta);
        ff_cholesky_solve(UNKNOWNS, L, theta);
    }
    free(sum);
    if (status != FF_OK)
        return status;
    if (out->turned < 0.05)
        return fail(
            FF_ERR_ARGUMENT, message, size,
            "the mock-up turned by less than 3 degrees: its weight cannot be told from the sensor's bias");
    const double n = 3.0 * (double)out->rows;
    const double variance = rest_f / (n - UNKNOWNS); /* of a row of weight 1 */
    double sd[UNKNOWNS];
    for (int p = 0; p < UNKNOWNS; p++) {
        double e[UNKNOWNS] = {0};
        e[p] = 1.0;
        ff_cholesky_solve(UNKNOWNS, L, e);
        sd[p] = sqrt(fmax(0.0, variance * e[p]));
    }
    const double mass = theta[MASS];
    if (!(fabs(mass) > fmax(1e-6, 3.0 * sd[MASS])))
        return fail(FF_ERR_ARGUMENT, message, size,
                    "the sensor reads no weight: there is no mock-up, or the run had no gravity");
    out->mass = (ff_estimate){mass, sd[MASS]};
    for (int i = 0; i < 3; i++)
        out->com[i] = (ff_estimate){theta[FIRST + i] / mass,
                                    hypot(sd[FIRST + i], theta[FIRST + i] / mass * sd[MASS]) / fabs(mass)};
    ff_wrench bias;
    for (int i = 0; i < 3; i++) {
        bias.f.a[i] = theta[BIAS + i];
        bias.t.a[i] = theta[BIAS + 3 + i];
        out->bias_sd.f.a[i] = sd[BIAS + i];
        out->bias_sd.t.a[i] = sd[BIAS + 3 + i];
    }
    out->bias = ff_wrench_transform(ff_pose_inverse(T_bs), bias);
    out->residual_force = sqrt(rest_f / n);
    out->residual_torque = sqrt(rest_t / n);
    return FF_OK;
}
