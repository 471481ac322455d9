/* Profiled least squares over the unknown surface (docs/methods/fused.md, section 3).
 *
 * Trial x0, p = s - x0. Rows with p <= 0 must read zero and add f^2. The others are linear in (k, c):
 *   law 0: f = k p + c v;   laws 1, 2, 3: f = k p^n + c p^n v;   law 4: f = k p + c S(p/d) v
 * The rows behind every trial surface (s > hi) enter law 0 through ten moments about hi, taken once: with
 * d = hi - x0, p = (s - hi) + d, so that a trial costs only the rows near the onset. */
#include "freefloat/contact.h"

static const double k_min = 1.0; /* [N/m] softer than any surface, keeps the fit regular */

double ff_profile_exponent(int law) {
    static const double n[FF_PROFILE_LAWS] = {1.0, 1.5, 1.0, 1.25, 1.0};
    return n[law];
}

/* The same, to be put in place where the law is known to the compiler. */
static inline double shape(int law, double p) {
    if (law == 1)
        return p * sqrt(p);
    if (law == 3)
        return p * sqrt(sqrt(p));
    return p;
}

static inline double brake(int law, double depth, double p) {
    if (law == 0)
        return 1.0;
    if (law != FF_PROFILE_STEP)
        return shape(law, p);
    const double q = p < depth ? (p > 0.0 ? p : 0.0) / depth : 1.0;
    return q * q * (3.0 - 2.0 * q);
}

double ff_profile_shape(int law, double p) {
    return shape(law, p);
}

double ff_profile_brake(int law, double depth, double p) {
    return brake(law, depth, p);
}

double ff_profile_force(const ff_profile *surface, double s, double v) {
    const double p = s - surface->x0;
    if (!(p > 0.0))
        return 0.0;
    const double g = ff_profile_shape(surface->law, p);
    const double f = surface->k * g + surface->c * v * ff_profile_brake(surface->law, surface->depth, p);
    return f > 0.0 ? f : 0.0;
}

/* Sums of the normal equations: a, b are the features of k and c. */
typedef struct sums {
    double n, aa, ab, bb, af, bf, ff, before; /* before: f^2 of rows in front of the surface */
} sums;

static inline void add(sums *z, double a, double b, double f, double weight) {
    z->n += weight;
    z->aa += weight * a * a;
    z->ab += weight * a * b;
    z->bb += weight * b * b;
    z->af += weight * a * f;
    z->bf += weight * b * f;
    z->ff += weight * f * f;
}

/* Moments of law 0 about hi: u = s - hi. */
typedef struct moments {
    double n, u, uu, v, vv, uv, f, uf, vf, ff;
} moments;

double ff_profile_low_pass(const ff_profile_channel *channel, double x, double *last, double *y) {
    if (channel->corner > 0.0) {
        const double s = (x - *last) / channel->corner;
        *y = x - s + channel->decay * (*y - *last + s);
    } else
        *y = x;
    *last = x;
    return *y;
}

/* Features of a row before the sensor; those of rows before the first are zero. */
static void features(const ff_profile_in *in, int law, double x0, int i, double *a, double *b) {
    const double p = i < 0 ? 0.0 : in->s[i] - x0;
    *a = *b = 0.0;
    if (!(p > 0.0) || (in->gone && in->gone[i]))
        return;
    *a = ff_profile_shape(law, p);
    *b = ff_profile_brake(law, in->depth, p) * in->v[i];
}

/* The law is linear in (k, c), and so is the sensor: its features pass through it one by one. */
static sums hear_trial(const ff_profile_in *in, int law, double x0) {
    const ff_profile_channel *channel = in->channel;
    double a0, b0, a1, b1, last_a = 0.0, last_b = 0.0, a = 0.0, b = 0.0;
    sums z = {0};
    features(in, law, x0, -1, &a0, &b0);
    for (int i = 0; i < in->rows; i++) {
        features(in, law, x0, i - channel->whole, &a1, &b1);
        ff_profile_low_pass(channel, a1 + channel->part * (a0 - a1), &last_a, &a);
        ff_profile_low_pass(channel, b1 + channel->part * (b0 - b1), &last_b, &b);
        a0 = a1;
        b0 = b1;
        if (!in->use[i])
            continue;
        if (a > 0.0)
            add(&z, a, b, in->f[i], 1.0);
        else
            z.before += in->f[i] * in->f[i];
    }
    return z;
}

/* The rows of one law, summed beside what is there already. */
static inline sums sum_rows(const ff_profile_in *in, int law, int stride, double x0, const int *edge,
                            int edges, sums z) {
    for (int i = 0; law && i < in->rows; i += stride)
        if (in->use[i] && in->s[i] > in->hi) {
            const double p = in->s[i] - x0;
            add(&z, shape(law, p), brake(law, in->depth, p) * in->v[i], in->f[i], (double)stride);
        }
    for (int e = 0; e < edges; e++) {
        const int i = edge[e];
        const double p = in->s[i] - x0;
        if (p <= 0.0)
            z.before += in->f[i] * in->f[i];
        else
            add(&z, shape(law, p), brake(law, in->depth, p) * in->v[i], in->f[i], 1.0);
    }
    return z;
}

static sums take_trial(const ff_profile_in *in, int law, const moments *deep, int stride, double x0,
                       const int *edge, int edges) {
    if (in->channel)
        return hear_trial(in, law, x0);
    const double d = in->hi - x0;
    switch (law) {
    case 0:
        return sum_rows(in, 0, stride, x0, edge, edges,
                        (sums){.n = deep->n,
                               .aa = deep->uu + 2.0 * d * deep->u + d * d * deep->n,
                               .ab = deep->uv + d * deep->v,
                               .bb = deep->vv,
                               .af = deep->uf + d * deep->f,
                               .bf = deep->vf,
                               .ff = deep->ff});
    case 1:
        return sum_rows(in, 1, stride, x0, edge, edges, (sums){0});
    case 2:
        return sum_rows(in, 2, stride, x0, edge, edges, (sums){0});
    case 3:
        return sum_rows(in, 3, stride, x0, edge, edges, (sums){0});
    default:
        return sum_rows(in, FF_PROFILE_STEP, stride, x0, edge, edges, (sums){0});
    }
}

/* Solves for (k, c) with c >= 0, k >= k_min and the priors; returns the misfit. */
static double solve(const ff_profile_in *in, int law, const sums *z, ff_profile *fit) {
    const double w = 1.0 / (in->noise * in->noise);
    double aa = w * z->aa, ab = w * z->ab, bb = w * z->bb, af = w * z->af, bf = w * z->bf;
    double prior = 0.0; /* constant term of the priors */
    if (in->prior_k > 0.0) {
        aa += 1.0 / (in->prior_k * in->prior_k);
        af += 1.0 / in->prior_k;
        prior = 1.0;
    }
    if (law && law != FF_PROFILE_STEP && in->speed > 0.0) {
        /* k and c v are collinear while the speed is constant: c ~ N(0, (0.7 k_1/v)^2), k_1 with c = 0 */
        const double k_1 = aa > 0.0 ? af / aa : 0.0, sd = 0.7 * fmax(k_1, k_min) / in->speed;
        bb += 1.0 / (sd * sd);
    }
    const double det = aa * bb - ab * ab;
    double k = 0.0, c = 0.0;
    if (det > 1e-13 * aa * bb) {
        k = (bb * af - ab * bf) / det;
        c = (aa * bf - ab * af) / det;
    } else
        c = -1.0;
    if (!(c >= 0.0)) {
        c = 0.0;
        k = aa > 0.0 ? af / aa : 0.0;
    }
    fit->k_bound = !(k >= k_min);
    if (fit->k_bound) {
        k = k_min;
        c = bb > 0.0 ? fmax(0.0, (bf - ab * k) / bb) : 0.0;
    }
    fit->k = k;
    fit->c = c;
    fit->sd_k = det > 0.0 ? sqrt(bb / det) : FF_INF;
    fit->sd_c = det > 0.0 ? sqrt(aa / det) : FF_INF;
    fit->cov_kc = det > 0.0 ? -ab / det : 0.0;
    const double square =
        w * z->ff + prior - 2.0 * (k * af + c * bf) + k * k * aa + 2.0 * k * c * ab + c * c * bb;
    return (square < 0.0 ? 0.0 : square) + w * z->before; /* NaN stays: a row that is not finite is no fit */
}

void ff_profile_begin(const ff_profile_in *in, ff_profile_search *search) {
    *search = (ff_profile_search){.lo = in->lo, .hi = in->hi};
}

/* The mean over the kept points, not the minimum: J is flat while the robot still moves at constant speed. */
static void take_mean(const double *x, const double *J, double least, double sharp, int first, int last,
                      ff_profile *fit) {
    double sum = 0.0, mean = 0.0, square = 0.0, weight[FF_PROFILE_GRID];
    for (int i = first; i <= last; i++) {
        weight[i] = exp(-0.5 * sharp * (J[i] - least));
        sum += weight[i];
    }
    for (int i = first; i <= last; i++)
        mean += weight[i] / sum * (x[i] - x[first]);
    for (int i = first; i <= last; i++) {
        const double d = x[i] - x[first] - mean;
        square += weight[i] / sum * d * d;
    }
    const double cell = x[1] - x[0];
    fit->x0 = x[first] + mean;
    fit->sd_x0 = sqrt(square + cell * cell / 12.0);
}

/* How much better the best law explains the rows than the weight of a row says: J counts so many times where
 * x0 is weighed. A law that fits to a millionth tells x0 to a millionth, though the weight of a row is that
 * of a force known to a thousandth. */
static double sharpness(const ff_profile_in *in, double J, double rows) {
    if (!(in->noise_least > 0.0 && in->noise_least < in->noise && rows >= 6.0))
        return 1.0;
    const double floor = in->noise_least * in->noise_least / (in->noise * in->noise);
    return 1.0 / fmin(1.0, fmax(floor, J / (rows - 3.0)));
}

/* Least misfit of the parabola through the best point, which is better than the one before it, and its
 * neighbours; false at the ends of the grid. */
static bool vertex(const double *x, const double *J, int best, double *x0) {
    if (best < 1 || best > FF_PROFILE_GRID - 2)
        return false;
    const double fall = J[best - 1] - J[best], rise = J[best + 1] - J[best];
    *x0 = x[best] + 0.5 * (x[best + 1] - x[best]) * (fall - rise) / (fall + rise);
    return true;
}

ff_profile_progress ff_profile_continue(const ff_profile_in *in, int law, ff_profile_search *search,
                                        int *work, ff_profile *fit) {
    int edge[1024], edges = 0, deep_rows = 0;
    moments m = {0};
    for (int i = 0; i < in->rows; i++) {
        if (!in->use[i])
            continue;
        if (in->s[i] > in->hi) {
            deep_rows++;
            if (law)
                continue;
            const double u = in->s[i] - in->hi, v = in->v[i], f = in->f[i];
            m.n += 1.0;
            m.u += u;
            m.uu += u * u;
            m.v += v;
            m.vv += v * v;
            m.uv += u * v;
            m.f += f;
            m.uf += u * f;
            m.vf += v * f;
            m.ff += f * f;
        } else if (edges < 1024)
            edge[edges++] = i;
    }
    *work -= 2 * in->rows;
    if (deep_rows == 0)
        return FF_PROFILE_NONE;
    const int stride = 1 + deep_rows / (in->thin > 0 ? in->thin : FF_PROFILE_ROWS);
    const int level_work = in->channel ? 2 * FF_PROFILE_GRID * in->rows
                                       : FF_PROFILE_GRID * (edges + (law ? in->rows / stride : 0) + 4);

    double x[FF_PROFILE_GRID], J[FF_PROFILE_GRID], k[FF_PROFILE_GRID], c[FF_PROFILE_GRID];
    ff_profile trial = *fit;
    for (bool begun = false;; begun = true) {
        if (begun && *work < level_work)
            return FF_PROFILE_MORE;
        const double lo = search->lo, hi = search->hi;
        double least = FF_INF, behind = 0.0;
        int best = 0;
        for (int i = 0; i < FF_PROFILE_GRID; i++) {
            x[i] = lo + (hi - lo) * (double)i / (FF_PROFILE_GRID - 1);
            const sums z = take_trial(in, law, &m, stride, x[i], edge, edges);
            J[i] = solve(in, law, &z, &trial);
            k[i] = trial.k;
            c[i] = trial.c;
            if (J[i] < least) {
                least = J[i];
                best = i;
                behind = z.n;
            }
        }
        *work -= level_work;
        const double sharp = sharpness(in, least, behind);
        int first = FF_PROFILE_GRID, last = -1, kept = 0;
        for (int i = 0; i < FF_PROFILE_GRID; i++)
            if (sharp * (J[i] - least) < 14.0) {
                first = i < first ? i : first;
                last = i;
                kept++;
            }
        if (last < 0)
            return FF_PROFILE_NONE; /* not finite */
        search->level++;
        if (kept >= 9 || search->level == FF_PROFILE_LEVELS || !(hi > lo)) {
            take_mean(x, J, least, sharp, first, last, &trial);
            const int from = first < last ? first
                             : best > 0   ? best - 1
                                          : best,
                      to = first < last ? last
                           : best > 0   ? best
                                        : best + 1;
            trial.k_by_x0 = hi > lo ? (k[to] - k[from]) / (x[to] - x[from]) : 0.0;
            trial.c_by_x0 = hi > lo ? (c[to] - c[from]) / (x[to] - x[from]) : 0.0;
            double x0;
            if (kept < 9 && sharp > 1.0 && vertex(x, J, best, &x0)) { /* finer than the last grid */
                ff_profile at = trial;
                const sums z = take_trial(in, law, &m, stride, x0, edge, edges);
                if (solve(in, law, &z, &at) <= least)
                    trial.x0 = x0;
            }
            break;
        }
        search->lo = x[first > 0 ? first - 1 : 0];
        search->hi = x[last < FF_PROFILE_GRID - 1 ? last + 1 : FF_PROFILE_GRID - 1];
    }
    const sums z = take_trial(in, law, &m, stride, trial.x0, edge, edges);
    trial.J = solve(in, law, &z, &trial);
    trial.law = law;
    trial.unit = in->noise;
    trial.depth = in->depth;
    trial.valid = true;
    *fit = trial;
    return FF_PROFILE_DONE;
}
