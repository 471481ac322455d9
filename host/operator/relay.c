/* What leaves the real-time thread, through rings, and the orders that come back. */
#include "operator/internal.h"

#include <string.h>

static ff_status push_row(void *self, const ff_row *row) {
    ff_operator *o = self;
    ff_row *slot = ff_ring_slot(&o->rows);
    if (slot) {
        *slot = *row;
        slot->dropped = ff_ring_dropped(&o->telemetry.samples);
        ff_ring_publish(&o->rows);
    }
    return FF_OK;
}

static void push_aside(void *self, const ff_row *row) {
    ff_operator *o = self;
    ff_ring_push(&o->rows, row);
}

/* In the state that it leads to. */
static ff_rt_note note_of(const ff_operator *o, ff_rt_note_kind kind, double t) {
    const ff_state state = o->executive.guard.walk.state;
    return (ff_rt_note){.kind = kind,
                        .t = t,
                        .timed = state >= FF_STATE_RUNUP,
                        .before = !o->executive.phases.begun,
                        .cycle = o->executive.tick,
                        .state = state};
}

static ff_status note_state(void *self, double t, int state, const char *name) {
    ff_operator *o = self;
    (void)state;
    (void)name;
    const ff_rt_note note = note_of(o, FF_NOTE_STATE, t);
    ff_ring_push(&o->notes, &note);
    return FF_OK;
}

static ff_status note_trip(void *self, double t, int code, ff_event_level level, const char *text,
                           double value, double limit) {
    ff_operator *o = self;
    ff_rt_note note = note_of(o, FF_NOTE_TRIP, t);
    (void)code;
    (void)level;
    (void)text;
    (void)value;
    (void)limit;
    note.trip = o->executive.guard.walk.cause; /* as it stands there, with body and axis */
    ff_ring_push(&o->notes, &note);
    return FF_OK;
}

static void copy(char *to, size_t size, const char *from) {
    size_t n = 0;
    for (; n + 1 < size && from[n]; n++)
        to[n] = from[n];
    to[n] = 0;
}

static void note_text(void *self, double t, ff_event_level level, const char *text) {
    ff_operator *o = self;
    ff_rt_note note = note_of(o, FF_NOTE_SAY, t);
    note.level = level;
    copy(note.text, sizeof note.text, text);
    ff_ring_push(&o->notes, &note);
}

ff_sink ff__operator_sink(ff_operator *o) {
    return (ff_sink){.self = o,
                     .row = push_row,
                     .state = note_state,
                     .event = note_trip,
                     .aside = push_aside,
                     .say = note_text};
}

void ff__operator_show(ff_operator *o) {
    ff_executive *e = &o->executive;
    const ff_state state = e->guard.walk.state;
    ff_telemetry_sample *s = o->telemetry.out;
    if (!s || state == FF_STATE_OFF)
        return;
    const bool looped = state >= FF_STATE_FLOAT && e->phases.runup >= o->plan.runup && e->phases.since == 0;
    if (!looped) {
        ff_executive_row(e, true, ff_executive_clock(e));
        e->row.io_ns = e->sample.io_ns;
        e->row.final = false;
    }
    s->row = e->row;
    s->state = state;
    memcpy(s->level, e->guard.level, sizeof s->level);
    ff_telemetry_push(&o->telemetry, s);
}

/* Into the log and to the operator: what was ordered, and the value before. */
static void note_order(ff_operator *o, double t, const char *name, double value, double was) {
    ff_rt_note note = note_of(o, FF_NOTE_TEXT, t);
    note.trip = (ff_trip){.value = value, .limit = was};
    copy(note.text, sizeof note.text, name);
    ff_ring_push(&o->notes, &note);
}

void ff__operator_orders(ff_operator *o) {
    ff_executive *e = &o->executive;
    const ff_state state = e->guard.walk.state;
    if (!o->telemetry.running)
        return;
    ff_tuning_access a = {.t = ff_executive_clock(e),
                          .cycle = o->plan.cycle,
                          .bodies = o->plan.bodies,
                          .moves = ff_state_leads(state),
                          .floats = state == FF_STATE_FLOAT || state == FF_STATE_CONTACT,
                          .held = state == FF_STATE_HOLD && e->phases.hold,
                          .touching = state == FF_STATE_CONTACT,
                          .model = e->loop.model,
                          .safety = &e->guard.config};
    for (int i = 0; i < o->plan.bodies; i++) {
        ff_wrench_config *wrench = &e->loop.model->config.body[i].wrench;
        a.touching |= e->loop.state->k > 0 && e->out.fidelity.in_contact[i];
        a.bias[i] = &wrench->bias_s;
        a.reading_s[i] = ff_tuning_reading(wrench, e->sample.body[i].sensor.T_wb, e->out.measured_b[i]);
    }
    ff_tuning_advance(&o->tuning, &a);
    ff_tuning_apply(&o->tuning, &a);
    e->phases.hold |= a.hold;
    if (a.retreat)
        ff_executive_retreat(e);
    o->stopped |= a.stop;
    if (a.changed) {
        ff_executive_bound(e);
        const ff_tuning_parameter *p = &o->tuning.table.parameter[a.changed - 1];
        note_order(o, a.t, p->name, p->value, a.was);
    }
    if (a.zeroed)
        note_order(o, a.t, "zeroed", a.removed, 0.0);
}

/* In lock step the run's time can pass faster than the wall's. There is no deadline then, and the recorder is
 * waited for; in wall-clock time this never waits. */
void ff__operator_spare(const ff_operator *o, uint64_t cycles) {
    while (ff_ring_count(&o->rows) > 3 * (o->rows.mask / 4) &&
           (!isnan(o->network.virtual_now) ||
            (double)(ff_clock_now() - o->began) < 0.5e9 * (double)cycles * o->plan.cycle) &&
           !atomic_load_explicit(&o->recorder_failed, memory_order_relaxed))
        ff_clock_sleep_until(ff_clock_now() + 1000000);
}
