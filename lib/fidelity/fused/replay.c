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

/* Actors of a group over the cycle that begins at sample i; j = i + 1, or i for the newest. */
int ff__fused_actors(fused_state *state, unsigned group, uint64_t i, uint64_t j, fused_actor *act) {
    int n = 0;
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if ((!x->open && !x->settled) || !(group >> x->a & 1u) || i < x->anchor ||
            (x->settled && i >= x->end))
            continue;
        act[n] = (fused_actor){.p = fused_contact_place(x), .mu = x->mu};
        if (x->surface.valid) {
            act[n].surface = &x->surface;
            act[n].f0 = fused_row_of(x, i)->residual;
            act[n].f1 = fused_row_of(x, j)->residual;
        } else {
            act[n].f0 = fmax(0.0, fused_row_of(x, i)->f);
            act[n].f1 = fmax(0.0, fused_row_of(x, j)->f);
        }
        n++;
    }
    return n;
}

/* From sample `from` towards k while there is work left; overwrites the satellites in between. Returns how
 * far it came. */
uint64_t ff__fused_replay_to(const fused_model *model, fused_state *state, unsigned group, uint64_t from,
                             uint64_t k, int *work) {
    const double T = model->integrate.cycle;
    ff_rigid_state x[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];
    fused_actor act[FUSED_CONTACTS];
    int first = 0, cost = 0;
    while (!(group >> first & 1u))
        first++;
    fused_flow w = ff__fused_flow_from(model, state, group, from, x, load, act);
    w.net = true;
    w.limit = fused_at(state, first, from)->limit;
    for (int i = 0; i < model->bodies; i++)
        if (group >> i & 1u)
            cost += ff_vec3_dot(x[i].omega, x[i].omega) > 0.0 ? WORK_SPIN : WORK_STEP;
    uint64_t i = from;
    for (; i<k && * work> 0; i++) {
        for (int b = 0; b < model->bodies; b++)
            load[b] = fused_at(state, b, i)->load;
        w.acts = ff__fused_actors(state, group, i, i + 1, act);
        *work -= cost * ff__fused_advance(&w, T);
        for (int b = 0; b < model->bodies; b++)
            if (group >> b & 1u) {
                fused_at(state, b, i + 1)->body = x[b];
                fused_at(state, b, i + 1)->limit = w.limit;
            }
    }
    state->info.net += w.net_count;
    return i;
}

/* Asks for a recomputation of these bodies from sample `from`: joined with those under way that share one. */
void ff__fused_replay_from(fused_state *state, unsigned bodies, uint64_t from) {
    fused_replay *slot = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < FF_MAX_BODIES; i++) {
            fused_replay *r = &state->replay[i];
            if (!r->active || !(r->bodies & bodies))
                continue;
            bodies |= r->bodies;
            from = r->at < from ? r->at : from;
            r->active = false;
        }
    for (int i = 0; i < FF_MAX_BODIES && !slot; i++)
        if (!state->replay[i].active)
            slot = &state->replay[i];
    if (slot)
        *slot = (fused_replay){true, bodies, from};
}

void ff__fused_replay_some(const fused_model *model, fused_state *state, uint64_t k, int *work) {
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        fused_replay *r = &state->replay[i];
        if (!r->active || *work <= 0)
            continue;
        if (k - r->at >
            (UINT64_C(1) << state->bits) - 16) { /* it has left the history: the satellite stays as it is */
            r->active = false;
            continue;
        }
        r->at = ff__fused_replay_to(model, state, r->bodies, r->at, k, work);
        r->active = r->at < k;
    }
}

/* How far a replay of these bodies has come; 0: none is under way. */
uint64_t ff__fused_replay_reached(const fused_state *state, unsigned bodies) {
    uint64_t at = 0;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (state->replay[i].active && (state->replay[i].bodies & bodies) && state->replay[i].at > at)
            at = state->replay[i].at;
    return at;
}

bool ff__fused_replaying(const fused_state *state, unsigned bodies) {
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (state->replay[i].active && (state->replay[i].bodies & bodies))
            return true;
    return false;
}

/* The group one delay ahead, with the surfaces in contact and those remembered; no residual. */
void ff__fused_predict(const fused_model *model, fused_state *state, int body, uint64_t k,
                       ff_rigid_state *command) {
    const double T = model->integrate.cycle, ahead = state->lead[body];
    ff_rigid_state x[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];
    fused_actor act[FUSED_CONTACTS + FUSED_WALLS];
    fused_flow flow = ff__fused_flow_from(model, state, ff__fused_group_of(state, body), k, x, load, act);
    if (!(ahead > 0.0)) {
        *command = x[body];
        return;
    }
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        const fused_contact *o = &state->contact[c];
        if (o->open && (flow.bodies >> o->a & 1u) && o->surface.valid)
            act[flow.acts++] =
                (fused_actor){.p = fused_contact_place(o), .surface = &o->surface, .mu = o->mu};
    }
    for (int w = 0; w < FUSED_WALLS; w++) {
        const fused_wall *o = &state->wall[w];
        if (!o->valid || !((flow.bodies >> o->a & 1u) || (o->b >= 0 && (flow.bodies >> o->b & 1u))))
            continue;
        bool open = false;
        for (int c = 0; c < FUSED_CONTACTS; c++)
            open |= state->contact[c].open && state->contact[c].wall == w;
        /* reached within the look-ahead, with room for the turn of the body? */
        const fused_place p = {o->torque, o->a, o->b, o->n, o->r};
        double s, v;
        ff__fused_coordinate(&p, state->start[o->a], &x[o->a], o->b < 0 ? NULL : &x[o->b], &s, &v);
        if (open || s + (fabs(v) * 1.5 + 1e-3) * ahead < o->surface.x0)
            continue;
        /* a satellite that leaves is not hit again from inside: the wall's own contact has just ended */
        if (s > o->surface.x0 && v < 0.0)
            continue;
        flow.bodies |= 1u << o->a | (o->b >= 0 ? 1u << o->b : 0u);
        act[flow.acts++] = (fused_actor){.p = p, .surface = &o->surface, .mu = o->mu};
    }
    /* no residual acts: pieces as long as the turn of the bodies allows, not cycles */
    double turn = 0.0;
    for (int i = 0; i < model->bodies; i++)
        if (flow.bodies >> i & 1u)
            turn = fmax(turn, ff_vec3_norm(x[i].omega));
    const double longest = fmax(T, fmin(0.02 / fmax(turn, 1e-3), STEPS_MAX * T));
    double left = ahead;
    while (left > 1e-12) {
        const double piece = left > longest ? longest : left;
        ff__fused_advance(&flow, piece);
        left -= piece;
    }
    *command = x[body];
}
