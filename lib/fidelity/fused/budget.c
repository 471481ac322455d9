/* fused: how far what is said of a contact may be off, by cause (docs/methods/fused.md, 13).
 *
 * Each cause has a standard deviation, relative to the impulse. Those of noise, time and gears follow from
 * the contact's frequency, its samples and what is known of sensor and robot; the coefficients of those that
 * no theory gives (an unexplained rest, other contacts, friction) are the ones of random contacts. */
#include "fidelity/fused/fused.h"

static const double by_known = 0.006; /* beside another contact, on a wall that is known by itself */
static const double inside = 0.01;    /* three standard deviations are below 3 % */
static const double numerical = 1e-5; /* of the impulse: what sub-steps leave where nothing else does */
/* By random contacts (docs 13, the table of coefficients): of sqrt(p w T), of the coefficient of friction. */
static const double gears_linear = 0.028, gears_found = 0.0042, friction_part = 0.018;
static const double time_trust = 0.001; /* of the skew and of the low pass's time constant */
/* An offset b across the force turns its direction, the main axis of sum F F', by b sum f/sum f^2: of a half
 * sine 4/pi of b over the peak, in two components. */
static const double offset_turns = 1.8;

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
    /* of noise: two components a row, and two standard deviations of that sum */
    const double rows = c->sum.rows, blur = (2.0 * rows + 4.0 * sqrt(rows)) * noise * noise;
    const double left = whole - along * (1.0 + c->mu * c->mu) - blur;
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

/* Half of the length that the sum of three errors square to each other (variances) exceeds as often as one
 * error exceeds two of its standard deviations: the squared length has about the distribution of a chi-square
 * with (sum v)^2/sum v^2 degrees of freedom; its quantile by Wilson and Hilferty. */
static double covering(double x, double y, double z) {
    static const double one_sided = 1.69; /* of a normal distribution: 4.55 % lie above */
    const double sum = x + y + z, v = 2.0 / 9.0 * (x * x + y * y + z * z) / (sum * sum);
    return 0.5 * sqrt(sum) * pow(1.0 - v + one_sided * sqrt(v), 1.5);
}

/* [N] The sensor's offset in the middle of the contact: it is not learnt while that lasts. */
static double offset_of(const fused_config *config, const fused_contact *c, uint64_t k, double T) {
    const double t = 0.5 * (double)(k - c->detected) * T, *P = c->zero_P;
    return fmax(fused_noise_of(config, c), zero_noise_least) * sqrt(P[0] + t * (2.0 * P[1] + t * P[2]));
}

/* Of the direction: two tilts, the one along the torque known by it as well. */
static double turned_by(const fused_config *config, const fused_contact *c, double noise, double peak,
                        double rows) {
    const double *S = c->sum.n, seen = S[0] + S[3] + S[5] - 3.0 * noise * noise * c->sum.rows;
    const double half = 0.5 * square(peak) * rows; /* of a half sine */
    /* the sums of one that was found together with others are of the rows in which it seemed alone */
    const double squares = c->settled && !c->joined && seen > 0.0 ? seen : half;
    const double sharp = config->torque_noise > 0.0 && c->mu == 0.0
                             ? square(noise / config->torque_noise) *
                                   (ff_vec3_dot(c->r, c->r) - square(ff_vec3_dot(c->r, c->n)))
                             : 0.0;
    return c->torque ? 0.0 : noise * sqrt((1.0 + 1.0 / (1.0 + fmax(0.0, sharp))) / squares);
}

/* Of the size while the contact lasts: Cramer and Rao's bound of e (docs 6), or what the rows tell less:
 * approached at one speed, k (s - x0) + c v has one number for x0 and c. A place that is uncertain is an
 * onset that is, and acts like a skew of sd/v. */
static double live_spread(const fused_contact *c, double noise, double peak, double rows, double e,
                          double w) {
    const double bound = (0.4 + 1.7 * e) * noise / (peak * sqrt(rows));
    const double place =
        c->surface.valid && c->speed > 0.0 ? 0.5 * FF_PI * w * e * c->surface.sd_x0 / c->speed : 0.0;
    return fmax(bound, place) / (1.0 + e);
}

/* Of the angular impulse r x J about the CoM of a, relative to J times the radius of gyration: the point, by
 * noise and offset of the torque, and the impulse itself at its arm. */
static double turn_sd(const fused_model *model, fused_state *state, const fused_contact *c, double zero,
                      double peak, double impulse_sd) {
    const fused_config *config = &model->config;
    const ff_rigid_model *m = &model->view[c->a].rigid;
    const double radius =
        sqrt(0.5 * (m->inertia.m[0][0] + m->inertia.m[1][1] + m->inertia.m[2][2]) / m->mass);
    const ff_quat q = fused_at(state, c->a, c->detected)->T_r.q;
    const ff_vec3 n = ff_quat_unrotate(
        q, c->b < 0 ? c->n : ff_quat_rotate(fused_at(state, c->b, c->detected)->T_r.q, c->n));
    const ff_vec3 across = ff_vec3_axpy(-ff_vec3_dot(n, c->r), n, c->r);
    const double arm = ff_vec3_norm(across) / radius;
    if (c->torque)
        return impulse_sd;
    /* the torque's offset is in the ratio of its noise to the force's; a half sine's sum f/sum f^2 */
    const double ratio = config->torque_noise / fmax(config->force_noise, zero_noise_least);
    const double point =
        hypot(ff__fused_point_sd(config, &c->sum, across), 4.0 / FF_PI * ratio * zero / peak);
    const double by_point = square(point / radius), by_impulse = square(arm * impulse_sd);
    return covering(by_point, by_point, by_impulse);
}

void ff__fused_budget(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                      int body, double w, fused_report *r) {
    const fused_config *config = &model->config;
    const double peak = fmax(c->force_max, 1e-9), noise = fused_noise_of(config, c);
    const double rows = fmax(1.0, (double)r->samples), e = restitution_of(c);
    const ff_profile *s = &c->surface;
    double *sd = r->cause;
    const bool lone = c->settled && !c->joined && !c->torque && ff__fused_lone(state, c);
    const double turn = turned_by(config, c, noise, peak, rows);
    const double zero = config->zero ? offset_of(config, c, k, model->integrate.cycle) : 0.0,
                 offset = offset_turns * zero / peak;
    const double along =
        lone ? ff__fused_spread(model, state, c, k, noise, zero, sqrt(0.5) * hypot(turn, offset)) : FF_INF;
    const double size = isfinite(along) ? along : live_spread(c, noise, peak, rows, e, w);
    sd[FUSED_BY_NOISE] = sqrt(size * size + turn * turn + offset * offset) * (c->b < 0 ? 1.0 : 1.4);
    /* poses: as if the force had that noise, but for its direction */
    const double shaken = fused_pose_noise(config, c);
    const double by_pose =
        lone && shaken > 0.0 ? ff__fused_spread(model, state, c, k, shaken, 0.0, 0.0) : FF_INF;
    sd[FUSED_BY_POSE] = isfinite(by_pose) ? by_pose : live_spread(c, shaken, peak, rows, e, w);
    if (!(shaken > 0.0))
        sd[FUSED_BY_POSE] = 0.0;
    /* a wrong time is a wrong damping: delay and low pass are modelled, and believed to a thousandth */
    const double late = time_trust * 0.5 * FF_PI * w * e / (1.0 + e);
    sd[FUSED_BY_TIME] = late * fabs(config->skew);
    sd[FUSED_BY_BANDWIDTH] = late * config->sensor_lag;
    /* the gears' motion is modelled: what that leaves grows with how much of the depth is theirs */
    const ff_vec3 n = c->b < 0 ? c->n : ff_quat_rotate(fused_at(state, c->b, k)->T_r.q, c->n);
    double give = c->torque ? 0.0 : give_of(state, c->a, c->r, n, k);
    if (c->b >= 0)
        give += give_of(state, c->b, ff_vec3_zero(), n, k);
    /* of a stiff surface the tip bounces between the samples: the fewer of these, the more; less where tip
     * and surface were found together */
    const double part = !s->valid ? 0.0 : give * (s->law == 0 ? s->k : c->mass * w * w);
    sd[FUSED_BY_GEARS] =
        (c->tip_found ? gears_found : gears_linear) * sqrt(part * w * model->integrate.cycle);
    sd[FUSED_BY_FRICTION] = friction_part * c->mu;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (fused_beside(o, c) && (o->a == body || o->b == body))
            sd[FUSED_BY_OTHERS] = c->leans ? by_known : 0.03;
    }
    if (c->joined) { /* they share the rows, and the replay takes them in turn in a sub-step */
        sd[FUSED_BY_NOISE] *= 2.0;
        sd[FUSED_BY_OTHERS] = c->exact ? 0.001 + 0.015 * w * model->integrate.cycle : 0.03;
    }
    /* the force was not gone for long enough to say where one ends and the other begins */
    if (c->settled && state->followed[body] > 0 &&
        (state->followed[body] == c->end || state->followed[body] == c->anchor))
        sd[FUSED_BY_OTHERS] = fmax(sd[FUSED_BY_OTHERS], 0.03);
    const double unit = fmax(fused_row_noise(config, c), 1e-3 * peak),
                 count = fmax(1.0, (double)(c->until - c->row_from + 1));
    /* what noise may leave: its square, and two standard deviations of the mean of so many */
    const double blur = square(fused_row_noise(config, c) / peak) * (1.0 + 2.0 * sqrt(2.0 / count));
    double left = s->valid ? square(unit / peak) * s->J / count - blur : 0.0;
    if (config->swings && c->settled && s->valid)
        left = left_by_swings(c) - blur;
    /* what a known mock-up leaves swings about zero within the contact: little of it is in the impulse */
    const double side = c->torque                   ? 0.0
                        : c->settled && c->mu > 0.0 ? fmax(c->side, ff__fused_slant_left(model, state, c))
                                                    : c->side;
    sd[FUSED_BY_MISFIT] = (config->swings ? 0.25 : part > 0.0 ? 1.6 : 0.8) * sqrt(fmax(0.0, left) + side);
    /* live and settled do not agree, and which is right is not known */
    if (c->settled)
        sd[FUSED_BY_MISFIT] = hypot(sd[FUSED_BY_MISFIT], c->refused);
    double sum = square(numerical);
    for (int i = 0; i < FUSED_CAUSES; i++)
        sum += sd[i] * sd[i];
    /* the direction is half of the noise's and the offset's squares each in two components across */
    const double across =
        fmin(0.9, square(c->b < 0 ? 1.0 : 1.4) * (turn * turn + offset * offset) / sum) * sum;
    r->impulse_sd = s->valid ? covering(sum - across, 0.5 * across, 0.5 * across) : FF_INF;
    r->turn_sd = s->valid && c->settled ? turn_sd(model, state, c, zero, peak, r->impulse_sd) : FF_NAN;
    r->restitution = e;
    r->restitution_sd = s->valid ? (1.0 + e) * sqrt(sum - across) : FF_INF;
    if (r->impulse_sd < inside)
        return;
    static const unsigned flag[FUSED_CAUSES] = {FUSED_WEAK,  FUSED_SKEW,     FUSED_BANDWIDTH, FUSED_POSE,
                                                FUSED_GEARS, FUSED_FRICTION, FUSED_SEVERAL,   FUSED_MISFIT};
    int largest = 0;
    for (int i = 1; i < FUSED_CAUSES; i++)
        largest = sd[i] > sd[largest] ? i : largest;
    for (int i = 0; i < FUSED_CAUSES && s->valid; i++)
        if (i == largest || sd[i] > 0.5 * inside)
            r->outside |= flag[i];
}
