/* Bodies marched from row to row of their history, with the surfaces that acted there. */
#include "history/history.h"

void ff__replay_load(ff__march *w, const ff__history *history, uint64_t k) {
    for (int i = 0; i < w->bodies; i++) {
        const ff__past *row = ff__history_at(history, i, k);
        w->x[i] = row->body;
        w->load[i] = row->load;
    }
}

void ff__replay_row(ff__march *w, uint64_t k, uint64_t j) {
    for (int c = 0; c < w->acts; c++) {
        ff__actor *z = &w->act[c];
        z->off = k < z->from || k >= z->until;
        if (z->off || !z->series)
            continue;
        z->f0 = *(const double *)((uintptr_t)ff__ring_at(z->series, 0, k) + z->column);
        z->f1 = *(const double *)((uintptr_t)ff__ring_at(z->series, 0, j) + z->column);
        if (!z->surface) {
            z->f0 = fmax(0.0, z->f0);
            z->f1 = fmax(0.0, z->f1);
        }
    }
}

uint64_t ff__replay_rows(ff__march *w, ff__history *history, uint64_t from, uint64_t to, int cost,
                         int *work) {
    uint64_t k = from;
    for (; k<to && * work> 0; k++) {
        for (int i = 0; i < w->bodies; i++) {
            const ff__past *row = ff__history_at(history, i, k);
            w->load[i] = row->load;
            if (!(w->moving >> i & 1u))
                w->x[i] = row->body;
        }
        ff__replay_row(w, k, k + 1);
        *work -= cost * ff__march_step(w, w->cycle);
        for (int i = 0; i < w->bodies; i++)
            if (w->moving >> i & 1u) {
                ff__past *row = ff__history_at(history, i, k + 1);
                row->body = w->x[i];
                row->limit = w->limit;
            }
    }
    return k;
}

/* Those under way share no body, so joining one makes none of the others overlap; and there is always a slot.
 */
void ff__replay_ask(ff__replay *replay, unsigned bodies, uint64_t from) {
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff__replay *r = &replay[i];
        if (!r->active || !(r->bodies & bodies))
            continue;
        bodies |= r->bodies;
        from = r->at < from ? r->at : from;
        r->active = false;
    }
    ff__replay *slot = replay;
    while (slot->active)
        slot++;
    *slot = (ff__replay){true, bodies, from};
}

uint64_t ff__replay_reached(const ff__replay *replay, unsigned bodies) {
    uint64_t at = 0;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (replay[i].active && (replay[i].bodies & bodies) && replay[i].at > at)
            at = replay[i].at;
    return at;
}

bool ff__replay_active(const ff__replay *replay, unsigned bodies) {
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (replay[i].active && (replay[i].bodies & bodies))
            return true;
    return false;
}
