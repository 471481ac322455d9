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

ff_status ff_log_identify_payload(const ff_log_table *table, int body, ff_vec3 gravity_w, ff_pose T_bs,
                                  ff_log_payload *out, char *message, size_t size) {
    *out = (ff_log_payload){.mass = {FF_NAN, FF_NAN}};
    ff__motion m;
    if (body < 0 || body >= table->bodies || !ff__find_motion(table, body, &m))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log lacks robot columns of this body");
    m.f = ff__find(table, body, "sensor.force.x");
    m.t = ff__find(table, body, "sensor.torque.x");
    const contact_columns contacts = find_contacts(table, body);
    if (!m.f.at || !m.t.at)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the log lacks the sensor's raw reading (NAME.sensor.force, NAME.sensor.torque)");
    if (table->rows < 3)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the log has %zu rows, allowed: 3 or more",
                         table->rows);
    const double g = ff_vec3_norm(gravity_w);
    if (!(g > 0.0) || !ff_vec3_finite(gravity_w))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "without gravity a mock-up at rest weighs nothing");
    normal_equations *sum = calloc(1, sizeof *sum);
    if (!sum)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    const ff_vec3 down0 = ff_quat_unrotate(ff__quat_at(m.q, 0), gravity_w);
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
            const ff_quat q = ff__quat_at(m.q, k);
            const ff_vec3 a =
                ff_vec3_scale(half, ff_vec3_sub(ff__vec3_at(m.v, k + 1), ff__vec3_at(m.v, k - 1)));
            const ff_vec3 dw =
                ff_vec3_scale(half, ff_vec3_sub(ff__vec3_at(m.w, k + 1), ff__vec3_at(m.w, k - 1)));
            const ff_vec3 h = ff_quat_unrotate(q, ff_vec3_sub(gravity_w, a));
            const ff_wrench at_sensor = {ff__vec3_at(m.t, k), ff__vec3_at(m.f, k)};
            const ff_wrench w = ff_wrench_transform(T_bs, at_sensor);
            const ff_vec3 down = ff_quat_unrotate(q, gravity_w);
            out->turned =
                fmax(out->turned, atan2(ff_vec3_norm(ff_vec3_cross(down0, down)), ff_vec3_dot(down0, down)));
            payload_rows(h, ff__vec3_at(m.w, k), dw, force, torque);
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
            status = ff_refuse(FF_ERR_ARGUMENT, message, size,
                               "the log holds fewer than ten rows without contact");
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
            status = ff_refuse(FF_ERR_ARGUMENT, message, size, "the motion does not separate mass and bias");
            break;
        }
        memcpy(theta, sum->b, sizeof theta);
        ff_cholesky_solve(UNKNOWNS, L, theta);
    }
    free(sum);
    if (status != FF_OK)
        return status;
    if (out->turned < 0.05)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the mock-up turned by less than 3 degrees: its weight cannot be separated from the "
                         "sensor's bias");
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
    out->bias = ff_wrench_transform(ff_pose_inverse(T_bs), bias);
    out->residual_force = sqrt(rest_f / n);
    out->residual_torque = sqrt(rest_t / n);
    return FF_OK;
}
