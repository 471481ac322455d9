/* impact: causality. A contact that is known now may have begun in steps that are done [lange, IV-F]: those
 * are computed again from the row before it began, by lib/history. */
#include "fidelity/impact/impact.h"

#define LEAST_ROWS 8 /* that a spread recomputation advances in a cycle which looks back besides */

void ff__impact_flow_begin(const impact_model *model, impact_flow *f) {
    ff__march_begin(&f->w, model->view, NULL, model->integrate.cycle, model->bodies, 0, f->act);
}

/* (12): f_d = k_d s + d_d s'. With (17) the direction is the measured force's, and friction is in it. */
void ff__impact_flow_add(const impact_model *model, const impact_episode *e, int contact, double offset,
                         double mu, impact_flow *f) {
    const ff_world_contact *c = &model->contact[contact];
    const int n = f->w.acts++;
    const bool measured = model->set.normal == NORMAL_FORCE;
    f->surface[n] = (ff_profile){.valid = true,
                                 .law = c->damping_depth > 0.0 ? FF_PROFILE_STEP : 0,
                                 .k = c->satellite_stiffness,
                                 .c = e->damping,
                                 .x0 = -offset - model->level[contact],
                                 .depth = c->damping_depth};
    f->act[n] = (ff__actor){.p = ff__impact_place(model, contact),
                            .surface = &f->surface[n],
                            .mu = measured ? 0.0 : mu,
                            .along = measured ? &e->n_o : NULL,
                            .beside = model->set.torque == TORQUE_MEASURED ? e->rest_b : NULL,
                            .until = UINT64_MAX};
    f->w.moving |= 1u << c->body;
    if (c->against >= 0)
        f->w.moving |= 1u << c->against;
}

/* How deep the satellites of one row stood in the surface [m]; not positive: outside. */
static double was_inside(const impact_model *model, int contact, double offset, const ff__history *history,
                         uint64_t k) {
    ff_rigid_state body[FF_MAX_BODIES];
    for (int i = 0; i < history->bodies; i++)
        body[i] = ff__history_at(history, i, k)->body;
    return ff__impact_touch(model, contact, body).s + offset;
}

/* Moves the begin of a contact back to the last row in which the satellites stood outside, within the
 * look-back. Returns how deep they stood there all the same [m]: it began before the look-back reaches. */
static double find_begin(const impact_model *model, const ff__history *history, int contact, uint64_t oldest,
                         double offset, impact_episode *e) {
    double inside;
    while ((inside = was_inside(model, contact, offset, history, e->begin)) > 0.0 && e->begin > oldest)
        e->begin--;
    return fmax(inside, 0.0);
}

static uint64_t oldest_row(const impact_model *model, uint64_t now) {
    const double most = ff__impact_look_back(model);
    return (double)now > most ? now - (uint64_t)most : 0;
}

/* A contact that acts on the satellites from row `start` on. */
static bool acts_from(const impact_episode *e, uint64_t start) {
    return e->known && (e->open || e->last >= start);
}

/* The rows from `from` to `to` again; the satellites of the last one into `body`. */
static void replay(impact_flow *f, ff__history *history, uint64_t from, uint64_t to, ff_rigid_state *body) {
    int whole = 1; /* the rows are counted by the caller */
    ff__replay_load(&f->w, history, from);
    ff__replay_rows(&f->w, history, from, to, 0, &whole);
    for (int i = 0; i < f->w.bodies; i++)
        if (f->w.moving >> i & 1u)
            body[i] = f->w.x[i];
}

/* Lets a contact act in the replay that is under way, from its begin on. */
static void join(impact_replay *r, int contact, const impact_episode *e) {
    r->contacts |= 1u << contact;
    r->offset[contact] = e->offset;
    r->mu[contact] = e->mu;
    if (e->begin < r->start)
        r->start = e->begin;
    if (e->begin < r->at)
        r->at = e->begin;
}

/* Until a recomputation is done the surface stands where the satellites are. */
static void wait_for_replay(const impact_model *model, impact_state *state, int contact, uint64_t now) {
    impact_episode *e = &state->episode[contact];
    e->offset -= fmax(was_inside(model, contact, e->offset, &state->history, now), 0.0);
}

/* Within this cycle: finds the row before each contact began, recomputes from there, and gives the satellites
 * of this cycle. What is too long for one cycle is added to *spread; what reaches back over a replay under
 * way joins it. Returns the rows. */
static int recompute(const impact_model *model, impact_state *state, uint64_t now, unsigned looks,
                     unsigned *spread, ff_rigid_state *body, bool *bounded) {
    impact_replay *r = &state->replay;
    const uint64_t oldest = oldest_row(model, now);
    uint64_t start = now;
    for (int c = 0; c < model->contacts; c++) {
        if (!(looks >> c & 1u))
            continue;
        impact_episode *e = &state->episode[c];
        /* Begun before the look-back reaches: a contact that starts compressed would give energy that nobody
         * put in, so the surface is taken to stand where the satellites are then. */
        const double inside = find_begin(model, &state->history, c, oldest, e->offset, e);
        if (inside > 0.0) {
            e->offset -= inside;
            *bounded = true;
        }
        if (now - e->begin > REPLAY_ROWS) {
            *spread |= 1u << c;
            wait_for_replay(model, state, c, now);
        } else if (r->running && e->begin < r->at) {
            join(r, c, e);
            wait_for_replay(model, state, c, now);
        } else if (e->begin < start) {
            start = e->begin;
        }
    }
    if (start == now)
        return 0;
    impact_flow f;
    ff__impact_flow_begin(model, &f);
    for (int c = 0; c < model->contacts; c++)
        if (acts_from(&state->episode[c], start))
            ff__impact_flow_add(model, &state->episode[c], c, state->episode[c].offset, state->episode[c].mu,
                                &f);
    replay(&f, &state->history, start, now, body);
    return (int)(now - start);
}

static void begin_replay(const impact_model *model, impact_state *state, uint64_t now, unsigned spread) {
    impact_replay *r = &state->replay;
    const uint64_t oldest = oldest_row(model, now);
    *r = (impact_replay){.running = true, .start = now};
    for (int c = 0; c < model->contacts; c++)
        if (spread >> c & 1u) {
            impact_episode *e = &state->episode[c];
            const double inside = find_begin(model, &state->history, c, oldest, e->estimate, e);
            r->offset[c] = e->estimate - inside;
            r->mu[c] = e->mu_found;
            if (e->begin < r->start)
                r->start = e->begin;
        }
    for (int c = 0; c < model->contacts; c++) {
        if (!acts_from(&state->episode[c], r->start))
            continue;
        r->contacts |= 1u << c;
        if (!(spread >> c & 1u)) {
            r->offset[c] = state->episode[c].offset;
            r->mu[c] = state->episode[c].mu;
        }
    }
    r->at = r->start;
}

/* At most so many rows more. When it has reached the present, its motion is the satellites' from then on.
 * Returns the rows looked back then, else 0. */
static int continue_replay(const impact_model *model, impact_state *state, uint64_t now, int rows,
                           ff_rigid_state *body) {
    impact_replay *r = &state->replay;
    for (int c = 0; c < model->contacts; c++) /* measured since it began */
        if (state->episode[c].open && !(r->contacts >> c & 1u))
            join(r, c, &state->episode[c]);
    impact_flow f;
    ff_rigid_state reached[FF_MAX_BODIES];
    ff__impact_flow_begin(model, &f);
    for (int c = 0; c < model->contacts; c++)
        if (r->contacts >> c & 1u)
            ff__impact_flow_add(model, &state->episode[c], c, r->offset[c], r->mu[c], &f);
    const uint64_t to = now - r->at > (uint64_t)rows ? r->at + (uint64_t)rows : now;
    replay(&f, &state->history, r->at, to, reached);
    r->at = to;
    if (to < now)
        return 0;
    r->running = false;
    for (int i = 0; i < model->bodies; i++)
        if (f.w.moving >> i & 1u)
            body[i] = reached[i];
    for (int c = 0; c < model->contacts; c++)
        if (r->contacts >> c & 1u) {
            impact_episode *e = &state->episode[c];
            e->offset = r->offset[c];
            e->mu = r->mu[c];
            e->again = true;
        }
    return (int)(now - r->start);
}

int ff__impact_recompute(const impact_model *model, impact_state *state, uint64_t now, unsigned looks,
                         unsigned spread, ff_rigid_state *body, bool *bounded) {
    const int rows = looks ? recompute(model, state, now, looks, &spread, body, bounded) : 0;
    if (spread && !state->replay.running)
        begin_replay(model, state, now, spread);
    if (!state->replay.running)
        return rows;
    const int left = REPLAY_ROWS - rows;
    const int far = continue_replay(model, state, now, left < LEAST_ROWS ? LEAST_ROWS : left, body);
    return far > rows ? far : rows;
}
