/* fused: one estimate of a contact from all its rows, spread over cycles (docs/methods/fused.md, 3 and 10).
 */
#include "fidelity/fused.h"

static void random_surface(ff_fused_state *state, const ff_fused_contact *c, double lo, double hi,
                           ff_profile *e) {
    ff_rng *rng = &state->rng;
    *e = (ff_profile){.valid = true,
                      .law = (int)(ff_rng_next(rng) & 3u),
                      .k = exp(ff_rng_range(rng, 0.0, 14.0)),
                      .c = exp(ff_rng_range(rng, 0.0, 9.0)) - 1.0,
                      .x0 = ff_rng_range(rng, lo - 0.01, hi + 0.01)};
    (void)c;
}

static void begin_rows(ff_fused_contact *c, int stage) {
    c->stage = stage;
    c->row = c->row_from;
    c->force_new = c->torque_new = c->peak = 0.0;
    c->f_last[0] = c->f_last[1] = 0.0;
}

static void begin_fit(const ff_profile_in *in, ff_fused_contact *c, int stage) {
    c->stage = stage;
    ff_profile_begin(in, &c->search);
}

/* Which other laws to try after the first fit. One at each estimate, rounds at growing distance; a long
 * contact has tried them all several times, a short one does so at its end. */
static void choose_rivals(ff_fused_contact *c, uint64_t k, bool final) {
    const uint64_t age = k - c->detected;
    c->laws = 0;
    if (k >= c->law_due && age >= 8 && c->law_trial == 0) {
        c->law_trial = 1;
        c->law_due = k + 4 + age / 2;
    }
    if (!c->fit.valid || (final && c->passes > 0))
        return;
    if (final) {
        c->laws = 0xeu;
        c->law_trial = 0;
    } else if (c->law_trial) {
        c->laws = 1u << c->law_trial;
        c->law_trial = (c->law_trial + 1) % FF_PROFILE_LAWS;
    }
    c->laws &= ~(1u << c->fit.law);
    if (c->fit.law == 0 && c->fit.J <= 20.0) /* no rival can reach half of it less ten */
        c->laws = 0;
    c->zero = c->fit;
    if (c->laws && c->fit.law != 0)
        c->laws |= 1u; /* the first law again, to compare with */
}

/* The next part of a trial of another law. True when all are done. */
static bool try_rival(const ff_profile_in *in, ff_fused_state *state, ff_fused_contact *c, int *work) {
    if (!c->laws)
        return true;
    int law = 0;
    while (!(c->laws >> law & 1u))
        law++;
    ff_profile_in coarse = *in; /* enough to tell the laws apart; the chosen one gets all its rows */
    if (law)
        coarse.thin = 48;
    c->rival = law ? c->surface : c->zero;
    const ff_profile_progress progress = ff_profile_continue(&coarse, law, &c->search, work, &c->rival);
    if (progress == FF_PROFILE_MORE)
        return false;
    c->laws &= ~(1u << law);
    ff_profile_begin(in, &c->search);
    if (progress == FF_PROFILE_DONE && law == 0)
        c->zero = c->rival;
    else if (progress == FF_PROFILE_DONE && c->rival.J < 0.5 * c->zero.J - 10.0 &&
             (c->fit.law == 0 || c->rival.J < c->fit.J)) {
        c->fit = c->rival;
        state->info.law_switches++;
    } else if (law == 0)
        c->laws = 0; /* nothing to compare with */
    return c->laws == 0;
}

/* The new estimate takes effect: rows and residuals. */
static void commit(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c, uint64_t last) {
    c->n = c->n_new;
    c->r = c->r_new;
    c->surface = c->fit;
    for (uint64_t i = c->until + 1; i <= last; i++) {
        ff__fused_take_row(state, c, i);
        c->use[i & MASK] = 1;
    }
    if (!c->surface.valid)
        return;
    state->info.bounds += c->surface.k_bound;
    const double least = fused_threshold(config, c);
    for (uint64_t i = c->row_from; i <= last; i++) {
        const size_t q = i & MASK;
        const double law = ff_profile_force(&c->surface, c->s[q], c->v[q]);
        c->residual[q] = (law > 0.0 || c->f[q] > least) && c->use[q] != 2 && fused_sample_ok(state, c, i)
                             ? c->f[q] - law
                             : 0.0;
    }
}

/* Mean misfit of the rows that took part. */
static double misfit(const ff_fused_contact *c) {
    int rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i++)
        rows += c->use[i & MASK] == 1;
    return c->fit.J / fmax(1.0, (double)rows);
}

/* The settlement's second pass judges the rows by the first one's surface. Where it then explains them far
 * worse, that surface has let in rows that are none of the contact's: the first pass stands. */
static void keep_better(ff_fused_contact *c) {
    if (!c->closing || !c->fit.valid)
        return;
    const double now = misfit(c);
    if (c->passes > 0) {
        c->first = (ff_fused_settled){c->fit, c->n_new, c->r_new, c->mu, now};
    } else if (c->first.surface.valid && now > 4.0 * c->first.misfit + 3.0) {
        c->fit = c->first.surface;
        c->n_new = c->first.n;
        c->r_new = c->first.r;
        c->mu = c->first.mu;
    }
}

/* One estimate from all rows up to `last`: place, surface, residuals; then the replay is asked for. Bounded
 * work in a cycle: it stops where the work ends and goes on in the next one. */
void ff__fused_estimate(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                        uint64_t last, uint64_t k, int *work) {
    const ff_fused_config *config = &model->config.fused;
    if (c->stage == PLACE && c->frozen && c->surface.valid) {
        /* the onset has left the history: what it taught stands */
        c->stage = c->closing ? SETTLE : REST;
        return;
    }
    if (c->stage == PLACE) {
        const fused_reach z = ff__fused_reach_of(state, c, last);
        if (c->row <= c->row_from) {
            c->row = c->row_from;
            for (int i = 0; i < 6; i++)
                c->sum_n[i] = c->sum_r[i] = c->sum_t[i] = 0.0;
            c->sum_y = ff_vec3_zero();
            c->sum_m = 0.0;
            c->rows_r = 0;
        }
        for (; c->row <= last && *work > 0; c->row++, *work -= WORK_PLACE)
            ff__fused_add_place(config, state, c, &z, c->row);
        if (c->row <= last)
            return;
        ff__fused_find_place(config, state, c, &z, last);
        begin_rows(c, TAKE);
    }
    if (c->stage == TAKE || c->stage == TAKE_AGAIN) {
        ff__fused_take_rows(state, c, c->stage == TAKE ? last : c->until, work);
        if (c->row <= (c->stage == TAKE ? last : c->until))
            return;
        c->until = c->row - 1;
        c->force_max = c->force_new;
        c->torque_max = c->torque_new;
        const bool again = c->stage == TAKE_AGAIN;
        if (!again)
            ff__fused_choose_rows(config, state, c);
        *work -= 2 * (int)(c->until - c->row_from);
        c->fit = again ? c->rival : c->surface;
        if (c->closing && c->passes > 0 && !again)
            c->fit.law = 0; /* friction may have feigned another law */
        c->have_fit = false;
        c->mu_side = 0;
        c->mu_try = again ? c->mu_try : 0;
        if (config->random_estimates) {
            random_surface(state, c, c->s[c->row_from & MASK], c->s[c->detected & MASK], &c->fit);
            c->stage = COMMIT;
        } else
            c->stage = again ? FIT_AGAIN : FIT;
        c->search.level = -1;
    }
    const bool fits = c->stage == FIT || c->stage == FIT_AGAIN || c->stage == RIVAL;
    if (fits) {
        if (*work <= 0)
            return;
        fused_table t;
        ff_profile_in in;
        ff__fused_fill_table(model, c, &t, &in);
        *work -= (int)(c->until - c->row_from) / 2;
        if (c->stage != RIVAL) {
            if (c->search.level < 0)
                ff_profile_begin(&in, &c->search);
            const int law = c->fit.valid ? c->fit.law : 0;
            if (ff_profile_continue(&in, law, &c->search, work, &c->fit) == FF_PROFILE_MORE)
                return;
            if (c->stage == FIT) {
                choose_rivals(c, c->until, c->closing);
                begin_fit(&in, c, RIVAL);
            } else
                c->stage = FRICTION;
        }
        if (c->stage == RIVAL) {
            while (*work > 0 && c->laws)
                try_rival(&in, state, c, work);
            if (c->laws)
                return;
            c->stage = FRICTION;
        }
    }
    if (c->stage == FRICTION) {
        const uint64_t age = c->until - c->detected;
        const double rows = (double)(c->until - c->row_from + 1);
        const bool may = c->fit.valid && config->random_estimates == 0 && !c->torque && age >= 8 &&
                         c->slides && ff__fused_lone(state, c) && c->mu_try == 0 &&
                         ((c->closing && fused_noisy(config, c)) || c->mu > 0.0 ||
                          c->fit.J > (fused_noisy(config, c) ? 4.0 : 0.004) * rows);
        while (may) {
            if (*work <= 0)
                return;
            if (!(c->closing ? ff__fused_settle_friction(model, state, c, work)
                             : ff__fused_step_friction(model, state, c, work)))
                continue;
            c->mu_try++;
            if (c->mu_best != c->mu || c->closing) { /* its rows and its surface */
                c->mu = c->mu_best;
                c->n_new = c->n_best;
                begin_rows(c, TAKE_AGAIN);
                return;
            }
            break;
        }
        c->stage = COMMIT;
    }
    if (c->stage == COMMIT) {
        /* a replay that is past the onset has begun with the last estimate and must end with it, unless there
         * is little to repeat */
        if (*work <= 0 || (k - c->anchor > 24 &&
                           ff__fused_replay_reached(state, ff__fused_group_of(state, c->a)) > c->anchor))
            return;
        keep_better(c);
        commit(config, state, c, last);
        *work -= 3 * (int)(last - c->row_from);
        if (c->closing && c->passes > 0) {
            c->passes--;
            c->stage = PLACE;
            c->row = c->row_from;
            return;
        }
        ff__fused_replay_from(state, ff__fused_group_of(state, c->a), c->anchor);
        c->stage = c->closing ? SETTLE : REST;
    }
}
