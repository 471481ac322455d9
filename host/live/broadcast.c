#include "live/broadcast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executive/states.h"

enum { PERIOD = 250000000 }; /* [ns] between diagnostics */

ff_status ff_broadcast_init(ff_broadcast *b, const ff_live *live, const ff_live_config *config) {
    *b = (ff_broadcast){.state = -1};
    ff_status status = ff_topics_init(config->scenario, FF_TOPIC_LIVE, &b->topics);
    if (status)
        return status;
    b->description = config->description ? strdup(config->description) : NULL;
    b->title = strdup(config->scenario->name);
    b->most = calloc(FF_LIVE_MAX_LIMITS, sizeof *b->most);
    b->diagnostic = calloc(FF_BROADCAST_DIAGNOSTICS, sizeof *b->diagnostic);
    b->message = calloc(FF_BROADCAST_DIAGNOSTICS, sizeof *b->message);
    b->name = calloc(FF_BROADCAST_DIAGNOSTICS, sizeof *b->name);
    if (!b->title || !b->most || !b->diagnostic || !b->message || !b->name ||
        (config->description && !b->description)) {
        ff_broadcast_free(b);
        return FF_ERR_MEMORY;
    }
    for (int i = 0; i < live->limits; i++)
        b->most[i] = FF_NAN;
    return FF_OK;
}

void ff_broadcast_free(ff_broadcast *b) {
    if (b->topics.count)
        ff_topics_free(&b->topics);
    free(b->description);
    free(b->title);
    free(b->most);
    free(b->diagnostic);
    free(b->message);
    free(b->name);
    *b = (ff_broadcast){0};
}

ff_status ff_broadcast_begin(ff_broadcast *b, const ff_topic_taker *taker) {
    ff_status status = FF_OK;
    if (b->description && b->topics.description >= 0)
        status = ff_topics_describe(&b->topics, b->description, strlen(b->description), taker);
    return status ? status : ff_topics_begin(&b->topics, taker);
}

static double rested(const ff_live *live) {
    return live->row ? live->row->rested : 0.0;
}

/* As the stamps of the newest row. */
static double time_of(const ff_live *live) {
    return live->last_t > -FF_INF ? live->last_t + rested(live) : 0.0;
}

static bool touches(const ff_live *live) {
    bool on = false;
    for (int i = 0; live->row && i < FF_MAX_BODIES; i++)
        on = on || live->row->body[i].in_contact;
    for (int i = 0; i < live->touches; i++)
        on = on || live->touch[i].on;
    return on;
}

/* A virtual run without safety states: what they would be. */
static ff_state state_of(const ff_live *live) {
    static const ff_state meant[] = {[FF_LIVE_STARTING] = FF_STATE_OFF, [FF_LIVE_RUNNING] = FF_STATE_FLOAT,
                                     [FF_LIVE_HELD] = FF_STATE_HOLD,    [FF_LIVE_ENDED] = FF_STATE_END,
                                     [FF_LIVE_STOPPED] = FF_STATE_END,  [FF_LIVE_FAULT] = FF_STATE_FAULT};
    const char *name = atomic_load_explicit(&live->state, memory_order_acquire);
    const int phase = atomic_load_explicit(&live->phase, memory_order_acquire);
    for (int i = 0; name && phase != FF_LIVE_ENDED && phase != FF_LIVE_STOPPED && i <= FF_STATE_END; i++)
        if (strcmp(ff_state_name((ff_state)i), name) == 0)
            return (ff_state)i;
    return meant[phase] == FF_STATE_FLOAT && touches(live) ? FF_STATE_CONTACT : meant[phase];
}

static ff_status say_events(ff_broadcast *b, const ff_live *live, const ff_topic_taker *taker) {
    const uint64_t kept = live->noted > FF_LIVE_EVENTS ? live->noted - FF_LIVE_EVENTS : 0;
    ff_status status = FF_OK;
    b->noted = b->noted > kept ? b->noted : kept;
    for (; b->noted < live->noted && !status; b->noted++) {
        const ff_live_note *n = &live->note[b->noted % FF_LIVE_EVENTS];
        const double t = isnan(n->t)
                             ? time_of(live)
                             : n->t + rested(live); /* before the motion: that of the rows beside it */
        status = ff_topics_event(&b->topics, t, 0, (ff_event_level)n->level, n->text, FF_NAN, FF_NAN, taker);
    }
    return status;
}

/* The largest values of the frames since the last diagnostics. */
static void gather(ff_broadcast *b, const ff_live *live) {
    const uint64_t kept = live->made > FF_LIVE_HISTORY ? live->made - FF_LIVE_HISTORY : 0;
    b->seen = b->seen > kept ? b->seen : kept;
    for (; b->seen < live->made; b->seen++) {
        const double *frame = live->frame + (b->seen % FF_LIVE_HISTORY) * (uint64_t)live->width;
        b->late = fmax(b->late, frame[4]);
        b->compute = fmax(b->compute, frame[5]);
        b->io = fmax(b->io, frame[6]);
        for (int i = 0; i < live->limits; i++)
            b->most[i] = fmax(b->most[i], frame[FF_LIVE_HEAD + i]);
    }
}

static void add_value(ff_message_diagnostic *d, const char *key, double value) {
    d->value[d->values].key = key;
    snprintf(d->value[d->values].value, sizeof d->value[d->values].value, "%.6g", value);
    d->values++;
}

static ff_message_diagnostic *next_of(ff_broadcast *b, int n, const char *name) {
    ff_message_diagnostic *d = &b->diagnostic[n];
    snprintf(b->name[n], sizeof b->name[n], "freefloat: %s", name);
    *d = (ff_message_diagnostic){.name = b->name[n], .message = b->message[n], .hardware = b->title};
    return d;
}

static void add_limit(ff_broadcast *b, const ff_live *live, int n, int i) {
    enum { GOOD, WARN, ERROR, STALE };
    ff_message_diagnostic *d = next_of(b, n, live->limit[i].name);
    const double limit = atomic_load_explicit(&live->limit_now[i], memory_order_relaxed), value = b->most[i];
    const double part = value / limit;
    d->level = isnan(part) ? STALE : part > 1.0 && live->limit[i].trips ? ERROR : part > 0.8 ? WARN : GOOD;
    if (isnan(part))
        snprintf(b->message[n], sizeof b->message[n], "no value");
    else
        snprintf(b->message[n], sizeof b->message[n], "%.3g %% of the limit", 100.0 * part);
    add_value(d, "value", value);
    add_value(d, "limit", limit);
    add_value(d, "left", limit - value);
    d->value[d->values].key = "unit";
    snprintf(d->value[d->values++].value, sizeof d->value[0].value, "%s", live->limit[i].unit);
}

static ff_status say_diagnostics(ff_broadcast *b, const ff_live *live, const ff_topic_taker *taker) {
    const ff_state state = state_of(live);
    ff_message_diagnostic *d = next_of(b, 0, "state");
    int n = 0;
    d->level = state == FF_STATE_FAULT ? 2 : state >= FF_STATE_BRAKE && state < FF_STATE_FAULT ? 1 : 0;
    snprintf(b->message[n++], sizeof *b->message, "%s", ff_state_name(state));
    d = next_of(b, n, "timing");
    snprintf(b->message[n++], sizeof *b->message, "latest wake-up %.3g ms", 1e-6 * b->late);
    add_value(d, "late [s]", 1e-9 * b->late);
    add_value(d, "compute [s]", 1e-9 * b->compute);
    add_value(d, "io [s]", 1e-9 * b->io);
    add_value(d, "rows dropped", (double)ff_ring_dropped(&live->ring));
    for (int i = 0; i < live->limits; i++) {
        add_limit(b, live, n++, i);
        b->most[i] = FF_NAN;
    }
    b->late = b->compute = b->io = 0.0;
    return ff_topics_diagnostics(&b->topics, time_of(live), n, b->diagnostic, taker);
}

ff_status ff_broadcast_tick(ff_broadcast *b, const ff_live *live, const ff_topic_taker *taker) {
    const int state = (int)state_of(live);
    ff_status status = FF_OK;
    if (state != b->state) {
        b->due = 0; /* said at once there, too */
        status = ff_topics_state(&b->topics, time_of(live), state, ff_state_name((ff_state)state), taker);
    }
    b->state = state;
    if (!status)
        status = say_events(b, live, taker);
    gather(b, live);
    const int64_t now = ff_clock_now();
    if (!status && now >= b->due) {
        b->due = now + PERIOD;
        status = say_diagnostics(b, live, taker);
    }
    return status;
}
