/* fused: which force and motion belong to a contact, its normal and its point (docs/methods/fused.md, 2). */
#include "fidelity/fused/fused.h"

/* Of the largest force: below it one that unloads may be over; and where no surface is believed yet. */
static const double over_part = 0.05, weak_part = 0.15;

/* The measured torque less that of the forces at their points, a's axes. */
ff_vec3 ff__fused_pure_torque(fused_state *state, int body, uint64_t k, const fused_contact *except) {
    const fused_sample *x = fused_at(state, body, k);
    ff_vec3 M = x->torque;
    int forces = 0;
    const fused_contact *only = NULL;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        if (!state->contact[i].torque && fused_acts_at(&state->contact[i], body, k)) {
            only = &state->contact[i];
            forces++;
        }
    if (forces == 1 && only != except) /* a point bears the whole force, friction included */
        return ff_vec3_sub(M, ff_vec3_cross(only->r, ff_quat_unrotate(x->T_r.q, x->force)));
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (o == except || o->torque || !fused_acts_at(o, body, k) || k < o->row_from)
            continue;
        const ff_vec3 n = o->b < 0 ? o->n : ff_quat_rotate(fused_at(state, o->b, k)->T_r.q, o->n);
        const ff_vec3 F = ff_quat_unrotate(x->T_r.q, ff_vec3_scale(fused_row_of(o, k)->f, n));
        M = ff_vec3_sub(M, ff_vec3_cross(o->r, F));
    }
    return M;
}

/* The measured force along contact c at sample k, with the share of the others that act on the same bodies
 * taken out: normals are made to bear only what their dual direction shows. */
double ff__fused_share(fused_state *state, const fused_contact *c, uint64_t k) {
    if (c->torque)
        return ff_vec3_dot(c->n, ff__fused_pure_torque(state, c->a, k, c));
    const ff_vec3 F = fused_measured_force(state, c->a, c->b, k);
    ff_vec3 n[FUSED_CONTACTS];
    int count = 1;
    n[0] = c->b < 0 ? c->n : ff_quat_rotate(fused_at(state, c->b, k)->T_r.q, c->n);
    const ff_vec3 own = n[0];
    for (int i = 0; i < FUSED_CONTACTS && !c->one.judged; i++) {
        const fused_contact *o = &state->contact[i];
        if (o == c || o->torque || !(o->open || o->settled) || o->a != c->a || k < o->anchor ||
            (o->settled && k >= o->end))
            continue;
        n[count++] = o->b < 0 ? o->n : ff_quat_rotate(fused_at(state, o->b, k)->T_r.q, o->n);
    }
    if (count == 1)
        return ff_vec3_dot(own, F);
    /* dual of `own`: own minus its part in the span of the others (Gram-Schmidt), scaled to own.dual = 1 */
    ff_vec3 dual = own;
    for (int i = 1; i < count; i++) {
        for (int j = 1; j < i; j++)
            n[i] = ff_vec3_axpy(-ff_vec3_dot(n[i], n[j]), n[j], n[i]);
        const double size = ff_vec3_norm(n[i]);
        n[i] = size > 1e-6 ? ff_vec3_scale(1.0 / size, n[i]) : ff_vec3_zero();
        dual = ff_vec3_axpy(-ff_vec3_dot(dual, n[i]), n[i], dual);
    }
    const double scale = ff_vec3_dot(own, dual);
    return scale > 0.05 ? ff_vec3_dot(dual, F) / scale : ff_vec3_dot(own, F);
}

/* No other contact acts, or acted, on its body a. */
static bool is_only(const fused_state *state, const fused_contact *c) {
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (o != c && (o->open || o->settled) && o->a == c->a)
            return false;
    }
    return true;
}

/* One on a fixed plane, with the whole force. */
static inline void take_only(const fused_contact *c, const fused_sample *x, fused_row *to) {
    const ff__place p = fused_contact_place(c);
    const ff_rigid_state a = fused_row_robot(x);
    ff__place_plane(&p, &a, &to->s, &to->v);
    to->f = ff_vec3_dot(c->n, x->force);
}

void ff__fused_take_row(fused_state *state, fused_contact *c, uint64_t k) {
    const ff_rigid_state a = fused_row_robot(fused_at(state, c->a, k));
    ff_rigid_state b;
    const ff_rigid_state *other = NULL;
    if (c->b >= 0) {
        b = fused_row_robot(fused_at(state, c->b, k));
        other = &b;
    }
    const ff__place p = fused_contact_place(c);
    fused_row *const i = fused_row_of(c, k);
    ff__place_coordinate(&p, state->start[c->a], &a, other, &i->s, &i->v);
    i->f = ff__fused_share(state, c, k);
}

/* The newest one, with what the law leaves of it. */
void ff__fused_new_row(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    ff__fused_take_row(state, c, k);
    fused_row *const row = fused_row_of(c, k);
    row->use = 1;
    row->residual = 0.0;
    if (c->surface.valid && fused_sample_ok(state, c, k)) {
        const double law = fused_force(&c->surface, row->s, row->v);
        if (law > 0.0 || row->f > fused_threshold(&model->config, c))
            row->residual = row->f - law;
    }
    c->force_max = fmax(c->force_max, row->f);
}

/* No other contact acts on its bodies. */
bool ff__fused_lone(const fused_state *state, const fused_contact *c) {
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (fused_beside(o, c) && (o->a == c->a || (c->b >= 0 && o->a == c->b) || o->b == c->a))
            return false;
    }
    return true;
}

fused_reach ff__fused_reach_of(const fused_state *state, const fused_contact *c, uint64_t k) {
    fused_reach z = {k, k, false, false, is_only(state, c)};
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (!fused_beside(o, c) || o->a != c->a)
            continue;
        if (c->torque) {
            if (o->torque && !fused_is_earlier(o, c) && o->anchor < z.last)
                z.last = o->anchor;
        } else if (o->torque) {
            if (o->anchor > c->anchor)
                z.last_r = o->anchor < z.last_r ? o->anchor : z.last_r;
            else
                z.turning = true;
        } else if (fused_is_earlier(o, c))
            z.earlier = true;
        else if (o->anchor < z.last)
            z.last = o->anchor;
    }
    z.last_r = z.last < z.last_r ? z.last : z.last_r;
    return z;
}

/* The force, or torque, of row i that is this contact's alone, in the axes of its normal. */
static ff_vec3 own_part(fused_state *state, const fused_contact *c, bool only, uint64_t i) {
    ff_vec3 F =
        c->torque ? ff__fused_pure_torque(state, c->a, i, c) : fused_measured_force(state, c->a, c->b, i);
    /* next to an earlier contact only the part across its normal is known to be ours */
    for (int o = 0; o < FUSED_CONTACTS && !only && !c->one.judged; o++) {
        const fused_contact *e = &state->contact[o];
        if (e == c || e->torque != c->torque || !fused_acts_at(e, c->a, i) || !fused_is_earlier(e, c))
            continue;
        const ff_vec3 m =
            e->b < 0 || e->torque ? e->n : ff_quat_rotate(fused_at(state, e->b, i)->T_r.q, e->n);
        F = ff_vec3_axpy(-ff_vec3_dot(F, m), m, F);
    }
    return c->b >= 0 && !c->torque ? ff_quat_unrotate(fused_at(state, c->b, i)->T_r.q, F) : F;
}

/* The force has left the direction of the rows before: a second surface, or friction that turns round, and no
 * word on this contact's normal until it is over. */
static bool turns_away(const fused_contact *c, ff_vec3 F, double noise) {
    const double *S = c->sum.n, all = S[0] + S[3] + S[5], size = ff_vec3_dot(F, F);
    const double across =
        size - ff_vec3_dot(F, fused_square_times(S, F)) / all; /* of one direction: squares */
    /* that direction is known: rows of noise, or weaker ones than this, do not tell it */
    const bool known = c->sum.rows >= 6 && all > 4.0 * size && all > 100.0 * c->sum.rows * noise * noise;
    return known && across > square(0.15) * size + 16.0 * noise * noise;
}

/* One row of the sums for normal and contact point. */
void ff__fused_add_place(const fused_config *config, fused_state *state, fused_contact *c,
                         const fused_reach *z, uint64_t i) {
    if (!fused_sample_ok(state, c, i))
        return;
    const double noise = fused_noise_of(config, c);
    if (i <= z->last) {
        const ff_vec3 F = own_part(state, c, z->only, i);
        if (ff_vec3_dot(c->n, F) > 2.0 * noise && (c->closing || z->earlier || !turns_away(c, F, noise)))
            fused_add_square(c->sum.n, F);
    }
    if (c->torque || i > z->last_r)
        return;
    const fused_sample *x = fused_at(state, c->a, i);
    const ff_vec3 F = ff_quat_unrotate(x->T_r.q, x->force);
    if (!(ff_vec3_dot(F, F) > 4.0 * noise * noise))
        return;
    const ff_vec3 M = ff_quat_rotate(x->T_r.q, x->torque);
    fused_add_square(c->sum.t, c->b < 0 ? M : ff_quat_unrotate(fused_at(state, c->b, i)->T_r.q, M));
    ff__fused_add_torque(&c->sum, F, x->torque);
}

/* [N2] What a known wall says of the normal: squares of the forces that it was learnt from. */
static double wall_weight(const fused_contact *c, const fused_wall *wall) {
    return fmax(10.0 * square(c->force_max), wall->squares);
}

/* The force's direction: the largest eigenvector of the sum of F F', by three steps n <- unit(S n) from where
 * it stands. A known wall adds weight. */
static ff_vec3 along_force(const fused_contact *c, const fused_wall *wall, ff_vec3 n) {
    const double *S = c->sum.n;
    for (int pass = 0; pass < 3; pass++) {
        ff_vec3 sum = wall ? ff_vec3_scale(wall_weight(c, wall), wall->n) : ff_vec3_zero();
        sum = ff_vec3_add(sum, fused_square_times(S, n));
        const double size = ff_vec3_norm(sum);
        if (size > 0.0)
            n = ff_vec3_scale(1.0 / size, sum);
    }
    return n;
}

/* The torque of a force is square to it: n is the vector that makes n'(S/sigma^2 - S_M/sigma_M^2) n largest.
 * Inverse iteration; the shift makes the matrix positive. A torque sensor is often the sharper one: at an arm
 * of 0.3 m, 0.015 N m see as much as 0.05 N. */
static ff_vec3 across_torque(const fused_config *config, const fused_contact *c, const fused_wall *wall,
                             ff_vec3 n) {
    const double noise = fused_noise_of(config, c),
                 ratio = noise * noise / (config->torque_noise * config->torque_noise);
    double S[6], a[9];
    for (int i = 0; i < 6; i++)
        S[i] = c->sum.n[i];
    if (wall) {
        fused_add_square(S, ff_vec3_scale(sqrt(wall_weight(c, wall)), wall->n));
    }
    const double shift = 1.001 * (S[0] + S[3] + S[5]);
    for (int i = 0; i < 6; i++)
        S[i] -= ratio * c->sum.t[i];
    const double full[9] = {S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]};
    for (int i = 0; i < 9; i++)
        a[i] = (i % 4 ? 0.0 : shift) - full[i];
    if (!(shift > 0.0) || ff_cholesky_factor(3, a) != FF_OK)
        return n;
    ff_vec3 m = n;
    for (int pass = 0; pass < 3; pass++) {
        ff_cholesky_solve(3, a, m.a);
        m = ff_vec3_unit(m);
    }
    return ff_vec3_dot(m, n) > 0.9 ? m : n; /* of a positive matrix: never turned round */
}

/* Normal and contact point from the sums. */
void ff__fused_find_place(const fused_config *config, fused_state *state, fused_contact *c,
                          const fused_reach *z, uint64_t k) {
    const fused_wall *wall = c->wall >= 0 && !c->torque ? &state->wall[c->wall] : NULL;
    /* both channels are distinguished by their noise, the torque is that of this force alone */
    const bool both = config->force_noise > 0.0 && config->torque_noise > 0.0 && !c->torque && !z->turning &&
                      !z->earlier && z->last_r == z->last && c->sum.rows >= 8 && c->mu == 0.0;
    c->next.n = c->next.force = c->n;
    c->next.r = c->r;
    if (z->last > c->detected + 2) {
        ff_vec3 n = along_force(c, wall, c->n);
        if (both)
            n = across_torque(config, c, wall, n);
        c->next.force = n;
        if (c->mu > 0.0 && c->closing)
            n = c->n; /* sought below */
        else if (c->mu > 0.0)
            n = ff__fused_normal_with_friction(config, state, c, k, c->mu, n, 1 + (k - c->row_from) / 96);
        c->next.n = n;
    }
    if (z->turning || z->earlier || c->torque)
        return;
    c->spot = ff__fused_point_of(config, state, c->a, &c->sum, c->torque_max, &c->next.r);
}

/* The model of the sensor between the surface and the rows' force; NULL: none. Gears move by the measured
 * wrench at its own time: behind them the motion is taken back instead. */
const ff_profile_channel *ff__fused_channel(const fused_model *model, const fused_state *state,
                                            const fused_contact *c) {
    const bool gears = state->gears[c->a].begun || (c->b >= 0 && state->gears[c->b].begun);
    return model->hears && !gears ? &model->channel : NULL;
}

/* [N] What the sensor reads of the contact's surface in row i; rows in order, z begins with zero. */
double ff__fused_law(const ff_profile_channel *channel, const fused_contact *c, uint64_t i, fused_heard *z) {
    double now = 0.0;
    if (i >= c->row_from + (uint64_t)channel->whole) {
        const fused_row *const q = fused_row_of(c, i - (uint64_t)channel->whole);
        now = ff_profile_force(&c->surface, q->s, q->v);
    }
    const double x = now + channel->part * (z->before - now);
    z->before = now;
    return ff_profile_low_pass(channel, x, &z->last, &z->y);
}

/* Where a damped surface has let go before the robot left it: both the last surface and the force must say
 * so. A low pass is undone for that, y + lag y'. A settlement that does not explain its rows
 * begins afresh with the force alone, then believes the surface that this gives: damping that is too small
 * lets go too late, takes what follows for force, and so stays too small; and a robot that is drawn back fast
 * is let go within a cycle or two, in the midst of the contact. */
static void mark_gone(const fused_config *config, const fused_contact *c, const ff_profile_channel *channel,
                      fused_table *t, int rows) {
    const bool again = c->closing && c->more > 0, afresh = again && c->passes > 0;
    const double steep = channel->corner > 0.0 ? 1.0 / channel->corner : 0.0;
    const double over = fmax(4.0 * fused_noise_of(config, c) * (1.0 + 1.5 * steep),
                             (afresh ? weak_part : over_part) * c->force_max);
    for (int i = 0; i < rows; i++) {
        const int j = i + channel->whole + (channel->part > 0.0) < rows - 1
                          ? i + channel->whole + (channel->part > 0.0)
                          : rows - 2;
        const bool by_law = ff_profile_force(&c->surface, t->s[i], t->v[i]) <= 0.0,
                   by_force = rows > 1 && t->f[j] + steep * (t->f[j + 1] - t->f[j]) < over;
        t->gone[i] = c->surface.valid && t->v[i] < 0.0 && (afresh ? by_force : by_law && (again || by_force));
    }
}

void ff__fused_fill_table(const fused_model *model, const fused_state *state, const fused_contact *c,
                          fused_table *t, ff_profile_in *in) {
    const fused_config *config = &model->config;
    const fused_row *const row = ff__ring_at(&c->rows, 0, 0);
    const uint64_t mask = c->rows.mask, until = c->until;
    int rows = 0;
    for (uint64_t i = c->row_from; i <= until; i++, rows++) {
        const fused_row *const q = &row[i & mask];
        t->s[rows] = q->s;
        t->v[rows] = q->v;
        t->f[rows] = q->f;
        t->use[rows] = q->use == 1;
    }
    const ff_profile_channel *channel = ff__fused_channel(model, state, c);
    uint64_t first = c->detected; /* of the force: the surface begins before it */
    if (channel) {
        const uint64_t late = (uint64_t)channel->whole;
        first = first > c->row_from + late ? first - late : c->row_from;
        mark_gone(config, c, channel, t, rows);
    }
    *in = (ff_profile_in){.channel = channel,
                          .gone = channel ? t->gone : NULL,
                          .rows = rows,
                          .s = t->s,
                          .v = t->v,
                          .f = t->f,
                          .use = t->use,
                          .lo = fused_row_of(c, c->row_from)->s,
                          .hi = fused_row_of(c, first)->s,
                          .noise = fmax(fused_row_noise(config, c), fmax(1e-3 * c->force_max, 1e-9)),
                          .noise_least = fmax(fused_row_noise(config, c), fmax(1e-6 * c->force_max, 1e-12)),
                          .speed = c->speed,
                          .depth = c->next.surface.depth,
                          .prior_k = c->torque ? 0.0 : config->stiffness};
    if (!(in->hi > in->lo))
        in->lo = in->hi - c->speed * model->integrate.cycle;
}

/* Which rows take part: c->use is 1, 0 (over, or no sample) or 2 (an outlier). With the last surface: both
 * model and force must say that the contact is over. A wrong model alone must not discard the data that
 * contradict it. */
void ff__fused_choose_rows(const fused_model *model, fused_state *state, fused_contact *c) {
    const fused_config *config = &model->config;
    const ff_profile_channel *channel = ff__fused_channel(model, state, c);
    fused_heard z = {0};
    const double noise = fused_row_noise(config, c), gate = fmax(8.0 * noise, 0.2 * c->taken.peak);
    const double over = fmax(4.0 * noise, over_part * c->force_max);
    /* A damped surface lets go before the robot has left it. A surface that takes those rows for force keeps
     * them: the settlement begins without any weak force of the unloading, and judges again with what it
     * found.
     */
    const bool afresh = c->closing && c->passes > 0;
    const double weak = fmax(4.0 * noise, weak_part * c->force_max);
    const bool outliers = c->surface.valid && c->until - c->detected >= 6;
    int bad = 0, contact_rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i++) {
        fused_row *const q = fused_row_of(c, i);
        q->use = fused_sample_ok(state, c, i);
        if (!c->surface.valid)
            continue;
        const double law = channel ? ff__fused_law(channel, c, i, &z) : fused_force(&c->surface, q->s, q->v);
        if (q->v < 0.0 && ((law < 0.02 * c->force_max && q->f < over) || (afresh && q->f < weak)))
            q->use = 0;
        contact_rows += law > 0.0;
        if (outliers && q->use && fabs(q->f - law) > gate) {
            q->use = 2;
            bad++;
        }
    }
    if (bad > 0 && 8 * bad > contact_rows) /* too many: it is the surface that is wrong */
        for (uint64_t i = c->row_from; i <= c->until; i++)
            fused_row_of(c, i)->use = fused_row_of(c, i)->use ? 1 : 0;
}

/* Rows along n_new, r_new; the largest force and the median-of-three peak among them. */
void ff__fused_take_rows(fused_state *state, fused_contact *c, uint64_t k, int *work) {
    const ff_vec3 n = c->n, r = c->r;
    c->n = c->next.n;
    c->r = c->next.r;
    if (c->row < c->row_from)
        c->row = c->row_from;
    const bool only = c->b < 0 && !c->torque && is_only(state, c);
    for (; c->row <= k && *work > 0; c->row++, *work -= WORK_ROW) {
        const fused_sample *const x = fused_at(state, c->a, c->row);
        fused_row *const row = fused_row_of(c, c->row);
        if (only)
            take_only(c, x, row);
        else
            ff__fused_take_row(state, c, c->row);
        const double f = row->f, before = c->taken.last[0], last = c->taken.last[1];
        if (c->row >= c->row_from + 2) {
            const double hi = before > last ? before : last, lo = before > last ? last : before;
            c->taken.peak = ff__larger(f < lo ? lo : f < hi ? f : hi, c->taken.peak);
        }
        c->taken.last[0] = last;
        c->taken.last[1] = f;
        if (fused_sample_ok(state, c, c->row)) {
            c->taken.force = ff__larger(f, c->taken.force);
            c->taken.torque = ff__larger(ff_vec3_norm(x->torque), c->taken.torque);
        }
    }
    c->n = n;
    c->r = r;
}
