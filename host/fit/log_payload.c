/* Mass and centre of mass of the mock-up, and the sensor's bias, from poses under gravity. */
#include "fit/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* One least-squares fit of the 16 unknowns over the rows without contact, and what it leaves. */
typedef struct payload_fit {
    const ff_log_table *table;
    ff__motion motion;
    contact_columns contacts;
    ff_vec3 gravity_w;
    ff_pose T_bs;
    normal_equations sum;
    double L[UNKNOWNS * UNKNOWNS]; /* of the last solution: its covariance */
    double theta[UNKNOWNS];
    double weight_t;       /* of a torque beside a force */
    double rest_f, rest_t; /* sums of squares of the last pass */
    double lagged;         /* sum of products of a force's residual with that of the row before */
    double last[3];        /* the row before, its residuals of the force */
    size_t last_row;
    double turned; /* rad, the largest turn against gravity */
    size_t rows;   /* of the last pass */
} payload_fit;

/* Row k into the normal equations, if `gather`, and into the sums of what theta leaves. */
static void take_row(payload_fit *p, size_t k, bool gather) {
    const ff__motion *m = &p->motion;
    const double half = 0.5 / p->table->cycle;
    const ff_quat q = ff__quat_at(m->q, k);
    const ff_vec3 a = ff_vec3_scale(half, ff_vec3_sub(ff__vec3_at(m->v, k + 1), ff__vec3_at(m->v, k - 1)));
    const ff_vec3 dw = ff_vec3_scale(half, ff_vec3_sub(ff__vec3_at(m->w, k + 1), ff__vec3_at(m->w, k - 1)));
    const ff_vec3 h = ff_quat_unrotate(q, ff_vec3_sub(p->gravity_w, a));
    const ff_wrench w = ff_wrench_transform(p->T_bs, (ff_wrench){ff__vec3_at(m->t, k), ff__vec3_at(m->f, k)});
    const ff_vec3 down0 = ff_quat_unrotate(ff__quat_at(m->q, 0), p->gravity_w),
                  down = ff_quat_unrotate(q, p->gravity_w);
    p->turned = fmax(p->turned, atan2(ff_vec3_norm(ff_vec3_cross(down0, down)), ff_vec3_dot(down0, down)));
    double force[3][UNKNOWNS], torque[3][UNKNOWNS];
    payload_rows(h, ff__vec3_at(m->w, k), dw, force, torque);
    for (int i = 0; i < 3; i++) {
        if (gather) {
            accumulate(&p->sum, force[i], w.f.a[i], 1.0);
            accumulate(&p->sum, torque[i], w.t.a[i], p->weight_t);
        }
        double ef = w.f.a[i], et = w.t.a[i];
        for (int j = 0; j < UNKNOWNS; j++) {
            ef -= force[i][j] * p->theta[j];
            et -= torque[i][j] * p->theta[j];
        }
        p->rest_f += ef * ef;
        p->rest_t += et * et;
        p->lagged += p->last_row + 1 == k ? ef * p->last[i] : 0.0;
        p->last[i] = ef;
    }
    p->last_row = k;
    p->rows++;
}

static void pass_over(payload_fit *p, bool gather) {
    if (gather)
        memset(&p->sum, 0, sizeof p->sum);
    p->rest_f = p->rest_t = p->lagged = 0.0;
    p->last_row = p->table->rows;
    p->rows = 0;
    for (size_t k = 1; k + 1 < p->table->rows; k++)
        if (!touches(&p->contacts, k - 1) && !touches(&p->contacts, k) && !touches(&p->contacts, k + 1))
            take_row(p, k, gather);
}

static ff_status solve(payload_fit *p) {
    memcpy(p->L, p->sum.A, sizeof p->L);
    double trace = 0.0;
    for (int i = 0; i < UNKNOWNS; i++)
        trace = fmax(trace, p->L[i * UNKNOWNS + i]);
    for (int i = 0; i < UNKNOWNS; i++) /* a slow motion says nothing of the inertia: held at zero */
        p->L[i * UNKNOWNS + i] += (i >= INERTIA && i < BIAS ? 1e-9 : 1e-14) * trace;
    const ff_status status = ff_cholesky_factor(UNKNOWNS, p->L);
    if (status != FF_OK)
        return status;
    memcpy(p->theta, p->sum.b, sizeof p->theta);
    ff_cholesky_solve(UNKNOWNS, p->L, p->theta);
    return FF_OK;
}

/* Fit, residuals, fit again with torques that weigh as their residuals say, residuals. */
static ff_status fit_payload(payload_fit *p, char *message, size_t size) {
    for (int pass = 0; pass < 4; pass++) {
        const bool gather = pass % 2 == 0;
        pass_over(p, gather);
        if (p->rows < 10)
            return ff_refuse(FF_ERR_ARGUMENT, message, size,
                             "the log holds fewer than ten rows without contact");
        if (pass == 1 && p->rest_f > 0.0 && p->rest_t > 0.0)
            p->weight_t = fmin(fmax(p->rest_f / p->rest_t, 1e-6), 1e6);
        if (gather && solve(p) != FF_OK)
            return ff_refuse(FF_ERR_ARGUMENT, message, size, "the motion does not separate mass and bias");
    }
    if (p->turned < 0.05)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the mock-up turned by less than 3 degrees: its weight cannot be separated from the "
                         "sensor's bias");
    return FF_OK;
}

/* Values with their standard deviations. */
static ff_status state(const payload_fit *p, ff_log_payload *out, char *message, size_t size) {
    const double n = 3.0 * (double)p->rows;
    /* of a row of weight 1 */
    const double variance = ff__residual_variance(p->rest_f, p->lagged, 3 * p->rows, UNKNOWNS);
    double sd[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++) {
        double e[UNKNOWNS] = {0};
        e[i] = 1.0;
        ff_cholesky_solve(UNKNOWNS, p->L, e);
        sd[i] = sqrt(fmax(0.0, variance * e[i]));
    }
    const double *theta = p->theta, mass = theta[MASS];
    if (!(fabs(mass) > fmax(1e-6, 3.0 * sd[MASS])))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
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
    out->bias = ff_wrench_transform(ff_pose_inverse(p->T_bs), bias);
    out->residual_force = sqrt(p->rest_f / n);
    out->residual_torque = sqrt(p->rest_t / n);
    return FF_OK;
}

ff_status ff_log_identify_payload(const ff_log_table *table, int body, ff_vec3 gravity_w, ff_pose T_bs,
                                  ff_log_payload *out, char *message, size_t size) {
    *out = (ff_log_payload){.mass = {FF_NAN, FF_NAN}};
    ff__motion m;
    if (body < 0 || body >= table->bodies || !ff__find_motion(table, body, &m))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log lacks robot columns of this body");
    m.f = ff__find(table, body, "sensor.force.x");
    m.t = ff__find(table, body, "sensor.torque.x");
    if (!m.f.at || !m.t.at)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the log lacks the sensor's raw reading (NAME.sensor.force, NAME.sensor.torque)");
    if (table->rows < 3)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log has %zu rows, allowed: 3 or more",
                         table->rows);
    if (!(ff_vec3_norm(gravity_w) > 0.0) || !ff_vec3_finite(gravity_w))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "without gravity a mock-up at rest weighs nothing");
    payload_fit *p = calloc(1, sizeof *p);
    if (!p)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    *p = (payload_fit){.table = table,
                       .motion = m,
                       .contacts = find_contacts(table, body),
                       .gravity_w = gravity_w,
                       .T_bs = T_bs,
                       .weight_t = 1.0};
    ff_status status = fit_payload(p, message, size);
    out->rows = p->rows;
    out->turned = p->turned;
    if (status == FF_OK)
        status = state(p, out, message, size);
    free(p);
    return status;
}
