/* fused: the satellites recomputed from before the onset of a contact, and predicted one delay ahead
 * (docs/methods/fused.md, 1 and 4). */
#include "fidelity/fused/fused.h"

enum {
    WORK_STEP = 60, /* a sub-step of the replay, for each body; of a spinning body */
    WORK_SPIN = 125
};

unsigned ff__fused_group_of(const fused_state *state, int body) {
    unsigned mask = 1u << body;
    for (int pass = 0; pass < FF_MAX_BODIES; pass++)
        for (int c = 0; c < FUSED_CONTACTS; c++) {
            const fused_contact *x = &state->contact[c];
            if ((!x->open && !x->settled) || x->b < 0)
                continue;
            const unsigned both = 1u << x->a | 1u << x->b;
            if (mask & both)
                mask |= both;
        }
    return mask;
}

/* The contacts that act, or acted, on a group: on all of their bodies or on none. */
int ff__fused_actors(fused_state *state, unsigned group, ff__actor *act) {
    int n = 0;
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if ((!x->open && !x->settled) || !(group >> x->a & 1u) || (x->b >= 0 && !(group >> x->b & 1u)))
            continue;
        const bool known = x->surface.valid;
        act[n++] = (ff__actor){.p = fused_contact_place(x),
                               .surface = known ? &x->surface : NULL,
                               .mu = x->mu,
                               .from = x->anchor,
                               .until = x->settled ? x->end : UINT64_MAX,
                               .series = &x->rows,
                               .column = known ? offsetof(fused_row, residual) : offsetof(fused_row, f)};
    }
    return n;
}

/* These bodies from sample k, where they stand and with what loads them there. */
void ff__fused_march_from(const fused_model *model, fused_state *state, unsigned bodies, uint64_t k,
                          ff__actor *act, ff__march *w) {
    ff__march_begin(w, model->view, state->start, model->integrate.cycle, model->bodies, bodies, act);
    ff__replay_load(w, &state->history, k);
}

/* From sample `from` towards k while there is work left; overwrites the satellites in between. Returns how
 * far it came. */
uint64_t ff__fused_replay_to(const fused_model *model, fused_state *state, unsigned group, uint64_t from,
                             uint64_t k, int *work) {
    ff__march w;
    ff__actor act[FUSED_CONTACTS];
    int first = 0, cost = 0;
    while (!(group >> first & 1u))
        first++;
    ff__fused_march_from(model, state, group, from, act, &w);
    w.acts = ff__fused_actors(state, group, act);
    w.net = true;
    w.limit = fused_at(state, first, from)->past.limit;
    for (int i = 0; i < model->bodies; i++)
        if (group >> i & 1u)
            cost += ff_vec3_dot(w.x[i].omega, w.x[i].omega) > 0.0 ? WORK_SPIN : WORK_STEP;
    bool joined = false; /* fitted together: the replay of all at once, each met in every sub-step */
    for (int i = 0; i < FUSED_CONTACTS; i++)
        joined = joined || (state->contact[i].joined && state->contact[i].closing);
    cost *= joined && w.acts > 1 ? w.acts : 1;
    const uint64_t reached = ff__replay_rows(&w, &state->history, from, k, cost, work);
    state->info.net += w.net_count;
    return reached;
}

/* The first contact up to sample k whose settlement this replay brings, and which is to be checked. */
static fused_contact *settled_by(fused_state *state, const ff__replay *r, uint64_t k) {
    fused_contact *first = NULL;
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (x->closing && x->stage == SETTLE && !x->checked && (r->bodies >> x->a & 1u) && x->end > r->at &&
            x->end <= k && (!first || x->end < first->end))
            first = x;
    }
    return first;
}

/* As far as the work allows; not beyond a settlement that does not stand. */
static void replay(const fused_model *model, fused_state *state, ff__replay *r, uint64_t k, int *work) {
    while (r->active && *work > 0) {
        fused_contact *const c = settled_by(state, r, k);
        const uint64_t to = c ? c->end : k;
        ff_rigid_state was[FF_MAX_BODIES];
        for (int i = 0; i < model->bodies; i++)
            was[i] = fused_at(state, i, to)->past.body;
        r->at = ff__fused_replay_to(model, state, r->bodies, r->at, to, work);
        r->active = r->at < k;
        if (c && r->at == to && !ff__fused_stands(state, c, was))
            r->active = false;
    }
}

void ff__fused_replay_some(const fused_model *model, fused_state *state, uint64_t k, int *work) {
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff__replay *r = &state->replay[i];
        if (!r->active || *work <= 0)
            continue;
        if (k - r->at > ff__ring_rows(&state->history.ring) -
                            16) { /* it has left the history: the satellite stays as it is */
            r->active = false;
            continue;
        }
        replay(model, state, r, k, work);
    }
}

/* The group one delay ahead, with the surfaces in contact and those remembered; no residual. */
void ff__fused_predict(const fused_model *model, fused_state *state, int body, uint64_t k,
                       ff_rigid_state *command) {
    const double ahead = state->lead[body];
    ff__march w;
    ff__actor act[FUSED_CONTACTS + FUSED_WALLS];
    ff__fused_march_from(model, state, ff__fused_group_of(state, body), k, act, &w);
    for (int c = 0; c < FUSED_CONTACTS && ahead > 0.0; c++) {
        const fused_contact *o = &state->contact[c];
        if (o->open && (w.moving >> o->a & 1u) && o->surface.valid)
            act[w.acts++] = (ff__actor){.p = fused_contact_place(o), .surface = &o->surface, .mu = o->mu};
    }
    for (int n = 0; n < FUSED_WALLS && ahead > 0.0; n++) {
        const fused_wall *o = &state->wall[n];
        if (!o->valid || !((w.moving >> o->a & 1u) || (o->b >= 0 && (w.moving >> o->b & 1u))))
            continue;
        bool open = false;
        for (int c = 0; c < FUSED_CONTACTS; c++)
            open |= state->contact[c].open && state->contact[c].wall == n;
        /* reached within the look-ahead, with room for the turn of the body? */
        const ff__place p = fused_wall_place(o);
        double s, v;
        ff__place_coordinate(&p, state->start[o->a], &w.x[o->a], o->b < 0 ? NULL : &w.x[o->b], &s, &v);
        if (open || s + (fabs(v) * 1.5 + 1e-3) * ahead < o->surface.x0)
            continue;
        /* a satellite that leaves is not hit again from inside: the wall's own contact has just ended */
        if (s > o->surface.x0 && v < 0.0)
            continue;
        /* nor by a wall that would give back more than the bodies have: it is not where it was */
        if (0.5 * (s - o->surface.x0) * ff_profile_force(&o->surface, s, 0.0) > ff__march_energy(&w))
            continue;
        w.moving |= 1u << o->a | (o->b >= 0 ? 1u << o->b : 0u);
        act[w.acts++] = (ff__actor){.p = p, .surface = &o->surface, .mu = o->mu};
    }
    if (w.acts > 0) { /* what is foreseen obeys the net, too */
        const double energy = ff__march_energy(&w);
        w.net = true;
        w.limit =
            ff__fused_touched(state, body) ? fmax(energy, fused_at(state, body, k)->past.limit) : energy;
    }
    ff__march_ahead(&w, ahead);
    *command = w.x[body];
}
