/* fused: how far what is said of a contact may be off, by cause (docs/methods/fused.md, 13).
 *
 * Each cause has a standard deviation, relative to the impulse. Those of noise, time and gears follow from
 * the contact's frequency, its samples and what is known of sensor and robot; the coefficients of those that
 * no theory gives (an unexplained rest, other contacts, friction) are the ones of random contacts. */
#include "fidelity/fused/fused.h"

static const double inside = 0.01; /* three standard deviations are below 3 % */

/* How the robot gives way to a force along n at the contact point [m/N]: w^T C w, w = [r x n; n]. */
static double give_of(fused_state *state, int body, ff_vec3 r_b, ff_vec3 n, uint64_t k) {
    const fused_gears *g = &state->gears[body];
    if (!g->begun)
        return 0.0;
    const ff_vec3 m = ff_vec3_cross(ff_quat_rotate(fused_at(state, body, k)->T_r.q, r_b), n);
    const double w[6] = {m.x, m.y, m.z, n.x, n.y, n.z};
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sum += w[i] * g->C[i][j] * w[j];
    return sum;
}

/* Force that is left across the normal, noise and friction taken out, against the whole: part of the squares.
 */
double ff__fused_across(const fused_config *config, const fused_contact *c) {
    const double *S = c->sum.n, noise = fused_noise_of(config, c);
    const ff_vec3 n = c->next.n;
    const double whole = S[0] + S[3] + S[5];
    const double along = S[0] * n.x * n.x + S[3] * n.y * n.y + S[5] * n.z * n.z +
                         2.0 * (S[1] * n.x * n.y + S[2] * n.x * n.z + S[4] * n.y * n.z);
    const double left = whole - along * (1.0 + c->mu * c->mu) - 2.0 * noise * noise * c->sum.rows;
    return whole > 0.0 ? fmax(0.0, left) / whole : 0.0;
}

/* What the law leaves in all rows over its own peak, squares: a mock-up that is jerked makes the filter
 * swing, and neither those rows (the fit has left them out) nor their force may make the rest look small. */
static double left_by_swings(const fused_contact *c) {
    double sum = 0.0, most = 1e-9;
    for (uint64_t i = c->row_from; i <= c->until; i++) {
        const fused_row *q = fused_row_of(c, i);
        const double law = ff_profile_force(&c->surface, q->s, q->v);
        sum += square(q->f - law);
        most = fmax(most, law);
    }
    return sum / (square(most) * (double)(c->until - c->row_from + 1));
}

static double restitution_of(const fused_contact *c) {
    const ff_profile *e = &c->surface;
    if (!e->valid || e->law != 0)
        return 0.8;
    const double z = fmin(0.99, e->c / (2.0 * sqrt(e->k * c->mass)));
    return exp(-z * FF_PI / sqrt(1.0 - z * z));
}

void ff__fused_budget(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                      int body, double w, fused_report *r) {
    const fused_config *config = &model->config;
    const double peak = fmax(c->force_max, 1e-9), noise = fused_noise_of(config, c);
    const double rows = fmax(1.0, (double)r->samples), e = restitution_of(c);
    const ff_profile *s = &c->surface;
    double *sd = r->cause;
    /* Cramer and Rao: of e, docs 6; of the direction, two components. What the offset may be acts all along.
     */
    const double bound = (0.4 + 1.7 * e) * noise / (peak * sqrt(rows)),
                 turn = 2.0 * noise / (peak * sqrt(rows));
    /* The rows may tell less: approached at one speed, k (s - x0) + c v has one number for x0 and c. A place
     * that is uncertain is an onset that is, and acts like a skew of sd/v (docs 6). */
    const double place = s->valid && c->speed > 0.0 ? 0.5 * FF_PI * w * e * s->sd_x0 / c->speed : 0.0;
    const double offset = config->zero ? noise * sqrt(state->zero[c->a].P[0]) * 0.25 * FF_PI / peak : 0.0;
    sd[FUSED_BY_NOISE] = sqrt(square(fmax(bound, place)) / square(1.0 + e) + turn * turn + offset * offset) *
                         (c->b < 0 ? 1.0 : 1.4);
    /* a wrong time is a wrong damping: delay and low pass are modelled, and believed to .4 % */
    sd[FUSED_BY_TIME] = 0.004 * 0.5 * FF_PI * w * e / (1.0 + e) * (fabs(config->skew) + config->sensor_lag);
    /* the gears' motion is modelled: what that leaves grows with how much of the depth is theirs */
    const ff_vec3 n = c->b < 0 ? c->n : ff_quat_rotate(fused_at(state, c->b, k)->T_r.q, c->n);
    double give = c->torque ? 0.0 : give_of(state, c->a, c->r, n, k);
    if (c->b >= 0)
        give += give_of(state, c->b, ff_vec3_zero(), n, k);
    /* of a stiff surface the tip bounces between the samples: the fewer of these, the more; less where tip
     * and surface were found together */
    const double part = !s->valid ? 0.0 : give * (s->law == 0 ? s->k : c->mass * w * w);
    sd[FUSED_BY_GEARS] = (c->tip_found ? 0.006 : 0.04) * sqrt(part * w * model->integrate.cycle);
    sd[FUSED_BY_FRICTION] = 0.012 * c->mu;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (fused_beside(o, c) && (o->a == body || o->b == body))
            sd[FUSED_BY_OTHERS] = 0.03;
    }
    if (c->joined) { /* they share the rows, and the replay takes them in turn in a sub-step */
        sd[FUSED_BY_NOISE] *= 2.0;
        sd[FUSED_BY_OTHERS] = c->exact ? 0.001 + 0.015 * w * model->integrate.cycle : 0.03;
    }
    const double unit = fmax(noise, 1e-3 * peak), count = fmax(1.0, (double)(c->until - c->row_from + 1));
    double along = s->valid ? square(unit / peak) * s->J / count - square(noise / peak) : 0.0;
    if (config->swings && c->settled && s->valid)
        along = left_by_swings(c) - square(noise / peak);
    /* what a known mock-up leaves swings about zero within the contact: little of it is in the impulse */
    sd[FUSED_BY_MISFIT] = (config->swings ? 0.25
                           : part > 0.0   ? 1.6
                                          : 0.8) *
                          sqrt(fmax(0.0, along) + (c->torque ? 0.0 : c->side));
    double sum = square(1e-5);
    for (int i = 0; i < FUSED_CAUSES; i++)
        sum += sd[i] * sd[i];
    r->impulse_sd = s->valid ? sqrt(sum) : FF_INF;
    r->restitution_sd = (1.0 + e) * r->impulse_sd;
    if (r->impulse_sd < inside)
        return;
    static const unsigned flag[FUSED_CAUSES] = {FUSED_WEAK,     FUSED_SKEW,    FUSED_GEARS,
                                                FUSED_FRICTION, FUSED_SEVERAL, FUSED_MISFIT};
    int largest = 0;
    for (int i = 1; i < FUSED_CAUSES; i++)
        largest = sd[i] > sd[largest] ? i : largest;
    for (int i = 0; i < FUSED_CAUSES && s->valid; i++)
        if (i == largest || sd[i] > 0.5 * inside)
            r->outside |= flag[i];
}
