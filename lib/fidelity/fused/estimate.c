/* fused: one estimate of a contact from all its rows, spread over cycles (docs/methods/fused.md, 3 and 10).
 */
#include "fidelity/fused/fused.h"

static void random_surface(fused_state *state, double lo, double hi, ff_profile *e) {
    ff_rng *rng = &state->rng;
    *e = (ff_profile){.valid = true,
                      .law = (int)(ff_rng_next(rng) & 3u),
                      .k = exp(ff_rng_range(rng, 0.0, 14.0)),
                      .c = exp(ff_rng_range(rng, 0.0, 9.0)) - 1.0,
                      .x0 = ff_rng_range(rng, lo - 0.01, hi + 0.01)};
}

static void begin_rows(fused_contact *c, int stage) {
    c->stage = stage;
    c->row = c->row_from;
    c->taken.force = c->taken.torque = c->taken.peak = 0.0;
    c->taken.last[0] = c->taken.last[1] = 0.0;
}

static void begin_fit(const ff_profile_in *in, fused_contact *c, int stage) {
    c->stage = stage;
    ff_profile_begin(in, &c->search);
}

/* Which other laws to try after the first fit. One at each estimate, rounds at growing distance; a long
 * contact has tried them all several times, a short one does so at its end. */
static void choose_rivals(const fused_state *state, fused_contact *c, bool heard, uint64_t k, bool final) {
    const uint64_t age = k - c->detected;
    c->laws.left = 0;
    if (k >= c->laws.due && age >= 8 && c->laws.trial == 0) {
        c->laws.trial = 1;
        c->laws.due = k + 4 + age / 2;
    }
    if (!c->next.surface.valid || (final && c->passes > 0))
        return;
    if (final && heard && c->more == 0 &&
        c->next.surface.J >
            poor_misfit * (double)(c->until - c->row_from + 1)) /* it is sought afresh first */
        return;
    if (final && !ff__fused_lone(state, c)) /* those beside it are fitted with it next */
        return;
    if (final) {
        c->laws.left = 0x1eu;
        c->laws.trial = 0;
    } else if (c->laws.trial) {
        c->laws.left = 1u << c->laws.trial;
        /* the depth of growing damping takes many fits: a short contact has better things to do */
        c->laws.trial = (c->laws.trial + 1) % (age < 48 ? FF_PROFILE_STEP : FF_PROFILE_LAWS);
    }
    c->laws.left &= ~(1u << c->next.surface.law);
    if (c->next.surface.law == FF_PROFILE_STEP)
        c->laws.left |= 1u << FF_PROFILE_STEP; /* its depth again */
    c->laws.grows.trial = 0;
    if (c->next.surface.law == 0 && c->next.surface.J <= 20.0) /* no rival can reach half of it less ten */
        c->laws.left = 0;
    c->laws.zero = c->next.surface;
    if (c->laws.left && c->next.surface.law != 0)
        c->laws.left |= 1u; /* the first law again, to compare with */
}

/* Logarithm of the next depth to try: three along the search direction in turn, from the deepest row down
 * until the misfit rises again (or beside the depth known so far), then the least of the parabola through
 * them. False at the end. */
static bool next_depth(fused_depth *z, bool known) {
    enum { COARSE = 9, FINE = 9 };
    const double step = known ? 0.03 : 0.35;
    const bool rises = z->trial >= 3 && z->J[1] <= z->J[0] && z->J[1] <= z->J[2];
    if (z->trial < 3 || (!rises && z->trial < COARSE)) {
        if (z->trial >= 3 && z->J[0] < z->J[2]) /* the other direction */
            z->next = z->x[0] - fabs(step);
        else
            z->next = z->trial ? z->x[(z->trial < 3 ? z->trial : 3) - 1] + step : z->next;
        return true;
    }
    if (!rises || z->trial >= COARSE + FINE)
        return false;
    const double a = z->x[1] - z->x[0], b = z->x[1] - z->x[2], fa = z->J[1] - z->J[2], fb = z->J[1] - z->J[0];
    const double bottom = a * fa - b * fb;
    if (!(fabs(bottom) > 0.0))
        return false;
    const double x = z->x[1] - 0.5 * (a * a * fa - b * b * fb) / bottom;
    if (!(x > z->x[0] && x < z->x[2]) || fabs(x - z->x[1]) < 1e-7)
        return false;
    z->next = x;
    return true;
}

/* A trial takes its place among the three, which stay in order. */
static void place_depth(fused_depth *z, double J) {
    const double x = z->next;
    const int have = z->trial < 3 ? z->trial : 3;
    if (have < 3) {
        z->x[have] = x;
        z->J[have] = J;
    } else if (x < z->x[0] || x > z->x[2]) { /* further along */
        const bool up = x > z->x[2];
        for (int i = 0; i < 2; i++) {
            const int to = up ? i : 2 - i, from = up ? i + 1 : 1 - i;
            z->x[to] = z->x[from];
            z->J[to] = z->J[from];
        }
        z->x[up ? 2 : 0] = x;
        z->J[up ? 2 : 0] = J;
    } else { /* the least of the four is the new middle, or beside it */
        const bool upper = x > z->x[1];
        if (J < z->J[1]) {
            z->x[upper ? 0 : 2] = z->x[1];
            z->J[upper ? 0 : 2] = z->J[1];
            z->x[1] = x;
            z->J[1] = J;
        } else {
            z->x[upper ? 2 : 0] = x;
            z->J[upper ? 2 : 0] = J;
        }
    }
    z->trial++;
}

/* The law whose damping grows with depth: its depth is sought beside the rest. */
static ff_profile_progress try_depth(const ff_profile_in *in, fused_contact *c, int *work) {
    fused_depth *z = &c->laws.grows;
    const bool known = c->next.surface.law == FF_PROFILE_STEP;
    if (z->trial == 0) {
        double deepest = 0.0;
        for (int i = 0; i < in->rows; i++)
            if (in->use[i])
                deepest = fmax(deepest, in->s[i] - c->next.surface.x0);
        if (!(deepest > 0.0))
            return FF_PROFILE_NONE;
        z->next = known ? log(c->next.surface.depth) - 0.03 : log(0.3 * deepest);
        z->best = (ff_profile){.J = FF_INF};
    }
    while (next_depth(z, known)) {
        ff_profile_in at = *in;
        ff_profile trial = c->surface;
        at.depth = exp(z->next);
        at.thin = 64;
        const ff_profile_progress progress =
            ff_profile_continue(&at, FF_PROFILE_STEP, &c->search, work, &trial);
        if (progress == FF_PROFILE_MORE)
            return progress;
        ff_profile_begin(in, &c->search);
        if (progress == FF_PROFILE_DONE && trial.J < z->best.J)
            z->best = trial;
        place_depth(z, progress == FF_PROFILE_DONE ? trial.J : FF_INF);
        if (*work <= 0)
            return FF_PROFILE_MORE;
    }
    c->rival = z->best;
    if (!z->best.valid)
        return FF_PROFILE_NONE;
    /* it has one parameter more than the others: a better misfit alone is not enough */
    if (!known && c->next.surface.law && !(z->best.J < 0.25 * c->next.surface.J - 10.0))
        return FF_PROFILE_NONE;
    return FF_PROFILE_DONE;
}

/* The next part of a trial of another law, of those that are left. */
static void try_rival(const ff_profile_in *in, fused_state *state, fused_contact *c, int *work) {
    int law = 0;
    while (!(c->laws.left >> law & 1u))
        law++;
    ff_profile_in coarse = *in; /* enough to tell the laws apart; the chosen one gets all its rows */
    if (law)
        coarse.thin = 48;
    c->rival = law ? c->surface : c->laws.zero;
    const ff_profile_progress progress = law == FF_PROFILE_STEP
                                             ? try_depth(in, c, work)
                                             : ff_profile_continue(&coarse, law, &c->search, work, &c->rival);
    if (progress == FF_PROFILE_MORE)
        return;
    c->laws.left &= ~(1u << law);
    ff_profile_begin(in, &c->search);
    if (progress == FF_PROFILE_DONE && law == 0)
        c->laws.zero = c->rival;
    else if (progress == FF_PROFILE_DONE && c->rival.J < 0.5 * c->laws.zero.J - 10.0 &&
             (c->next.surface.law == 0 || c->rival.J < c->next.surface.J)) {
        c->next.surface = c->rival;
        state->info.law_switches++;
    } else if (law == 0)
        c->laws.left = 0; /* nothing to compare with */
}

/* The new estimate takes effect: rows and residuals. */
static void commit(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last) {
    const fused_config *config = &model->config;
    const ff_profile_channel *channel = ff__fused_channel(model, state, c);
    fused_heard z = {0};
    c->n = c->next.n;
    c->r = c->next.r;
    c->surface = c->next.surface;
    c->side = ff__fused_across(config, c);
    for (uint64_t i = c->until + 1; i <= last; i++) {
        ff__fused_take_row(state, c, i);
        fused_row_of(c, i)->use = 1;
    }
    if (!c->surface.valid)
        return;
    state->info.bounds += c->surface.k_bound;
    const double least = fused_threshold(config, c);
    for (uint64_t i = c->row_from; i <= last; i++) {
        fused_row *const q = fused_row_of(c, i);
        const double law = channel ? ff__fused_law(channel, c, i, &z) : fused_force(&c->surface, q->s, q->v);
        q->residual =
            (law > 0.0 || q->f > least) && q->use != 2 && fused_sample_ok(state, c, i) ? q->f - law : 0.0;
    }
}

/* Mean misfit of the rows that took part. */
static double misfit(const fused_contact *c) {
    int rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i++)
        rows += fused_row_of(c, i)->use == 1;
    return c->next.surface.J / fmax(1.0, (double)rows);
}

/* The settlement's second pass judges the rows by the first one's surface. Where it then explains them far
 * worse, that surface has let in rows that are none of the contact's: the first pass stands. True where the
 * rows must then be taken along its normal again.
 * Through a sensor that is late (heard) a surface also says where it has let go, and what follows is another
 * force by that: where it does not explain its rows it is sought afresh, and again while that makes it
 * better.
 */
static bool keep_better(fused_contact *c, bool heard) {
    enum { MORE = 4 };
    if (!c->closing || !c->next.surface.valid || c->one.judged)
        return false;
    const double now = misfit(c);
    const fused_settled found = {c->next.surface, c->next.n, c->next.r, c->mu, now};
    if (c->passes > 0) {
        if (c->more == 0)
            c->first = found;
        return false;
    }
    const bool worse =
        c->first.surface.valid && (c->more ? now > c->first.misfit : now > 4.0 * c->first.misfit + 3.0);
    if (worse) {
        c->next.surface = c->first.surface;
        c->next.n = c->first.n;
        c->next.r = c->first.r;
        c->mu = c->first.mu;
        c->first.surface.valid = false;
        return true;
    }
    if (heard && now > poor_misfit && c->more < MORE && (c->more == 0 || now < 0.7 * c->first.misfit)) {
        c->passes = c->more == 0 ? 2 : 1;
        c->more++;
        c->first = found;
    }
    return false;
}

/* All that was measured, also in rows that no fit took: does friction explain what lies across the normal? */
static bool in_cone(const fused_config *config, fused_state *state, const fused_contact *c) {
    double along = 0.0, across = 0.0;
    for (uint64_t i = c->row_from; i <= c->until; i++) {
        const ff_vec3 F = fused_measured_force(state, c->a, c->b, i);
        const double f = ff_vec3_dot(c->next.n, F);
        along += fabs(f);
        across += ff_vec3_norm(ff_vec3_axpy(-f, c->next.n, F));
    }
    /* of noise alone, across: sqrt(pi/2) of its standard deviation */
    const double blur = 1.3 * fused_noise_of(config, c) * (double)(c->until - c->row_from + 1);
    return c->mu > 0.0 && across - blur < (c->mu + 0.05) * along;
}

/* One contact with friction in place of several: it stands if it explains force and sliding to the noise or
 * to 2 % of the force and ten times better than the several do (without noise: exactly), otherwise all is as
 * it was. True where the rows must be taken again. */
static bool judge_union(const fused_config *config, fused_state *state, fused_contact *c) {
    const double left = sqrt(c->lean.misfit) * fused_noise_of(config, c), several = c->one.before.misfit;
    const bool explains =
        fused_noisy(config, c)
            ? c->lean.misfit < union_misfit || (c->lean.misfit < 0.1 * several && left < 0.02 * c->force_max)
            : c->lean.misfit < exact_misfit;
    if (c->next.surface.valid && c->lean.tried > 0 && explains && in_cone(config, state, c)) {
        ff__fused_absorb(state, c);
        c->one.judged = false;
        return false;
    }
    ff__fused_part(c);
    return true;
}

/* The stages of an estimate. Each returns true where it is done, and stops where the work of the cycle ends.
 */
static bool place(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last, int *work) {
    const fused_config *config = &model->config;
    const fused_reach z = ff__fused_reach_of(state, c, last);
    if (c->row <= c->row_from) {
        c->row = c->row_from;
        c->sum = (fused_sums){0};
    }
    for (; c->row <= last && *work > 0; c->row++, *work -= WORK_PLACE)
        ff__fused_add_place(config, state, c, &z, c->row);
    if (c->row <= last)
        return false;
    ff__fused_find_place(config, state, c, &z, last);
    /* the settlement waits for the axes behind gears; before, they are found beside the estimates */
    const bool tip = (c->closing ? c->passes > 0 : last >= c->tip_due && ff__fused_tip_done(state, c)) &&
                     ff__fused_tip_begin(model, state, c, last);
    if (tip && c->closing)
        c->stage = TIP;
    else
        begin_rows(c, TAKE);
    return true;
}

static bool take(fused_state *state, fused_contact *c, uint64_t last, int *work) {
    ff__fused_take_rows(state, c, last, work);
    if (c->row <= last)
        return false;
    c->force_max = c->taken.force;
    c->torque_max = c->taken.torque;
    return true;
}

/* The rows are there: what the fit begins with. */
static void prepare_fit(const fused_model *model, fused_state *state, fused_contact *c) {
    const fused_config *config = &model->config;
    const bool again = c->stage == TAKE_AGAIN;
    c->until = c->row - 1;
    if (!again)
        ff__fused_choose_rows(model, state, c);
    c->next.surface = again ? c->rival : c->surface;
    if (c->closing && c->passes > 0 && !again)
        c->next.surface.law = 0; /* friction may have mimicked another law */
    c->lean.side = 0;
    c->lean.tried = again ? c->lean.tried : 0;
    if (config->random_estimates) {
        random_surface(state, fused_row_of(c, c->row_from)->s, fused_row_of(c, c->detected)->s,
                       &c->next.surface);
        c->stage = COMMIT;
    } else
        c->stage = again ? FIT_AGAIN : FIT;
    c->search.level = -1;
}

static bool fit(const fused_model *model, fused_state *state, fused_contact *c, int *work) {
    if (*work <= 0)
        return false;
    fused_table t;
    ff_profile_in in;
    ff__fused_fill_table(model, state, c, &t, &in);
    *work -= (int)(c->until - c->row_from) / 2;
    if (c->stage != RIVAL) {
        if (c->search.level < 0)
            ff_profile_begin(&in, &c->search);
        const int law = c->next.surface.valid ? c->next.surface.law : 0;
        if (ff_profile_continue(&in, law, &c->search, work, &c->next.surface) == FF_PROFILE_MORE)
            return false;
        if (c->stage == FIT) {
            choose_rivals(state, c, in.channel != NULL, c->until, c->closing);
            begin_fit(&in, c, RIVAL);
        } else
            c->stage = FRICTION;
    }
    if (c->stage == RIVAL) {
        while (*work > 0 && c->laws.left)
            try_rival(&in, state, c, work);
        if (c->laws.left)
            return false;
        c->stage = FRICTION;
    }
    return true;
}

/* Friction explains force and motion, as well as the noise or the law's own exactness lets it. */
static bool by_friction(const fused_config *config, const fused_contact *c) {
    return c->lean.tried > 0 && c->mu > 0.0 && c->lean.misfit < (fused_noisy(config, c) ? 4.0 : exact_misfit);
}

/* False also where a friction was found, whose rows and surface come first, and where what friction does not
 * explain is tried as several contacts. */
static bool find_friction(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k,
                          int *work) {
    const fused_config *config = &model->config;
    const uint64_t age = c->until - c->detected;
    const double rows = (double)(c->until - c->row_from + 1);
    const bool fitted = c->next.surface.valid && config->random_estimates == 0,
               lone = fitted && ff__fused_lone(state, c);
    const bool may = lone && !c->torque && age >= 8 && c->slides && c->lean.tried == 0 &&
                     (!c->closing || ff__fused_one_point(model, c->a, &c->sum, c->next.r, 0.01)) &&
                     ((c->closing && fused_noisy(config, c)) || c->mu > 0.0 ||
                      c->next.surface.J > (fused_noisy(config, c) ? 4.0 : 0.004) * rows);
    while (may) {
        if (*work <= 0)
            return false;
        if (!(c->closing ? ff__fused_settle_friction(model, state, c, work)
                         : ff__fused_step_friction(model, state, c, work)))
            continue;
        c->lean.tried++;
        if (c->lean.mu != c->mu || c->closing) {
            c->mu = c->lean.mu;
            c->next.n = c->lean.n;
            begin_rows(c, TAKE_AGAIN);
            return false;
        }
        break;
    }
    if (lone && !c->one.judged && !by_friction(config, c) && ff__fused_join_alone(model, state, c, k))
        return false;
    c->stage = COMMIT;
    return true;
}

/* The estimate is complete. */
static void finish(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last, uint64_t k,
                   int *work) {
    /* a replay that is past the onset has begun with the last estimate and must end with it, unless there
     * is little to repeat */
    if (*work <= 0 || (k - c->anchor > 24 &&
                       ff__replay_reached(state->replay, ff__fused_group_of(state, c->a)) > c->anchor))
        return;
    if (keep_better(c, ff__fused_channel(model, state, c) != NULL) ||
        (c->one.judged && c->passes == 0 && judge_union(&model->config, state, c))) {
        begin_rows(c, TAKE_FIRST);
        return;
    }
    ff__fused_lean_on_wall(&model->config, state, c);
    commit(model, state, c, last);
    *work -= 3 * (int)(last - c->row_from);
    if (c->closing && c->passes > 0) {
        c->passes--;
        c->stage = PLACE;
        c->row = c->row_from;
        return;
    }
    ff__replay_ask(state->replay, ff__fused_group_of(state, c->a), c->anchor);
    c->stage = c->closing ? SETTLE : REST;
}

/* One estimate from all rows up to `last`: place, surface, residuals; then the replay is asked for. Bounded
 * work in a cycle: it stops where the work ends and continues in the next one. */
void ff__fused_estimate(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last,
                        uint64_t k, int *work) {
    if (c->stage == PLACE && c->frozen && c->surface.valid) {
        /* the onset has left the history: what it taught stands */
        c->stage = c->closing ? SETTLE : REST;
        return;
    }
    if (c->stage == PLACE && !place(model, state, c, last, work))
        return;
    if (c->stage == TIP) {
        if (!ff__fused_tip_done(state, c))
            return;
        begin_rows(c, TAKE);
    }
    if (c->stage == TAKE && c->one.judged && !ff__fused_one_point(model, c->a, &c->sum, c->next.r, 0.01)) {
        ff__fused_part(c);
        begin_rows(c, TAKE_FIRST);
    }
    if (c->stage == TAKE || c->stage == TAKE_AGAIN) {
        if (!take(state, c, c->stage == TAKE ? last : c->until, work))
            return;
        prepare_fit(model, state, c);
        *work -= 2 * (int)(c->until - c->row_from);
    }
    if ((c->stage == FIT || c->stage == FIT_AGAIN || c->stage == RIVAL) && !fit(model, state, c, work))
        return;
    if (c->stage == FRICTION && !find_friction(model, state, c, k, work))
        return;
    if (c->stage == TAKE_FIRST) {
        if (!take(state, c, c->until, work))
            return;
        ff__fused_choose_rows(model, state, c);
        c->stage = COMMIT;
    }
    if (c->stage == COMMIT)
        finish(model, state, c, last, k, work);
}
