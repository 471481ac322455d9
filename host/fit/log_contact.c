/* Stiffness, damping and point of a contact from poses and wrenches. */
#include "fit/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Force above which there is contact: five times the noise of the quieter half, and a thousandth of the
 * largest. FF_NAN: out of memory. */
static double threshold(const ff_log_table *t, ff__group f, double *noise) {
    double *all = malloc(t->rows * sizeof *all), peak = 0.0;
    if (!all)
        return FF_NAN;
    for (size_t k = 0; k < t->rows; k++) {
        all[k] = ff_vec3_norm(ff__vec3_at(f, k));
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
static ff_vec3 application_point(const ff__motion *m, size_t from, size_t to, double noise) {
    const size_t block = (to - from) / 24 + 1;
    double A[9] = {0}, b[3] = {0}, size = 0.0, excess = 0.0;
    for (size_t k = from; k < to; k += block) {
        const size_t end = k + block < to ? k + block : to;
        const double part = 1.0 / (double)(end - k);
        ff_vec3 f = ff_vec3_zero(), t = ff_vec3_zero();
        for (size_t i = k; i < end; i++) {
            f = ff_vec3_axpy(part, ff__vec3_at(m->f, i), f);
            t = ff_vec3_axpy(part, ff__vec3_at(m->t, i), t);
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
static void point_motion(const ff__motion *m, ff_vec3 r, size_t k, double skew, ff_vec3 *p, ff_vec3 *v) {
    const ff_quat q = ff__quat_at(m->q, k);
    *v = ff_vec3_add(ff__vec3_at(m->v, k), ff_quat_rotate(q, ff_vec3_cross(ff__vec3_at(m->w, k), r)));
    *p = ff_vec3_add(ff__vec3_at(m->p, k), ff_quat_rotate(q, r));
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

static ff_vec3 inertial_force(const ff__motion *m, size_t k) {
    return ff_quat_rotate(ff__quat_at(m->q, k), ff__vec3_at(m->f, k));
}

/* The body that felt the opposite force over these rows, or -1. */
static int find_other(const ff_log_table *t, int body, const ff__motion *m, size_t from, size_t to) {
    for (int j = 0; j < t->bodies; j++) {
        ff__motion o;
        double with = 0.0, own = 0.0, its = 0.0;
        if (j == body || !ff__find_motion(t, j, &o))
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

/* Sums of the regression f = k d + c d' + offset(contact), after the mean of each contact is removed: of
 * products of (d, d', f) with those of the same row and of the row before. */
typedef struct sums {
    double same[3][3], before[3][3];
    size_t rows;
    int contacts;
} sums;

/* a^T M a: of residuals, for a = (-k, -c, 1). */
static double form(double (*M)[3], const double *a) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += a[i] * M[i][j] * a[j];
    return sum;
}

static void add_contact(const ff_log_table *t, const ff__motion *m, const ff__motion *other, double skew,
                        double noise, size_t from, size_t to, sums *s, ff_vec3 *point) {
    const ff_vec3 r = application_point(m, from, to, noise);
    const ff_vec3 r_other = other ? application_point(other, from, to, noise) : ff_vec3_zero();
    ff_vec3 sum = ff_vec3_zero();
    for (size_t k = from; k < to; k++)
        sum = ff_vec3_add(sum, inertial_force(m, k));
    const ff_vec3 n = ff_vec3_unit(sum);
    double mean_d = 0.0, mean_v = 0.0, mean_f = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        double total_d = 0.0, total_v = 0.0, total_f = 0.0, last[3] = {0};
        size_t rows = 0, last_row = 0;
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
            const double now[3] = {d - mean_d, rate - mean_v, along - mean_f};
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    s->same[i][j] += now[i] * now[j];
                    if (last_row + 1 == k)
                        s->before[i][j] += now[i] * last[j];
                }
            memcpy(last, now, sizeof last);
            last_row = k;
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
    ff__motion m, o;
    if (body < 0 || body >= table->bodies || !ff__find_motion(table, body, &m))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log lacks robot or force columns of this body");
    double noise = 0.0;
    const double on = threshold(table, m.f, &noise);
    if (isnan(on))
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    sums s = {0};
    ff_vec3 point = ff_vec3_zero();
    for (size_t k = 0, from = 0; k <= table->rows; k++) {
        if (k < table->rows && ff_vec3_norm(ff__vec3_at(m.f, k)) > on)
            continue;
        if (k - from >= 6) {
            const int other = find_other(table, body, &m, from, k);
            const bool pair = other >= 0 && ff__find_motion(table, other, &o);
            add_contact(table, &m, pair ? &o : NULL, skew, noise, from, k, &s, &point);
            if (pair)
                out->other = other;
        }
        from = k + 1;
    }
    const double dd = s.same[0][0], dv = s.same[0][1], vv = s.same[1][1], df = s.same[0][2],
                 vf = s.same[1][2], det = dd * vv - dv * dv;
    if (s.contacts == 0 || s.rows < (size_t)s.contacts + 4 || !(det > 0.0))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the log holds no contact of at least six rows of this body");
    const double k = (vv * df - dv * vf) / det, c = (dd * vf - dv * df) / det, left[3] = {-k, -c, 1.0};
    const double rest = fmax(0.0, s.same[2][2] - k * df - c * vf);
    const double variance = ff__residual_variance(rest, form(s.before, left), s.rows, s.contacts + 2);
    out->stiffness = (ff_estimate){k, sqrt(variance * vv / det)};
    out->damping = (ff_estimate){c, sqrt(variance * dd / det)};
    out->point = ff_vec3_scale(1.0 / s.contacts, point);
    out->contacts = s.contacts;
    out->rows = s.rows;
    out->residual = sqrt(rest / (double)s.rows);
    return FF_OK;
}
