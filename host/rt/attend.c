#include "rt/internal.h"

#include <stdio.h>
#include <stdlib.h>

static void record_row(ff_executive *e, ff_row *row) {
    const ff_ideal_result *ideal = e->run->ideal;
    for (int i = 0; i < e->scenario->satellites; i++)
        if (ideal && row->k < ideal->samples)
            row->body[i].ideal = ideal->state[row->k * (uint64_t)ideal->bodies + (uint64_t)i];
    ff_touch_find(&e->touch, row);
    e->last[e->last_next] = *row;
    e->last_next = (e->last_next + 1) % e->last_capacity;
    e->last_count += e->last_count < e->last_capacity;
    if (row->aside)
        return;
    const ff_status status =
        e->recorder_status < 0 ? e->recorder_status : ff_sinks_row(e->run->sinks, e->run->count, row);
    if (status < 0) {
        e->recorder_status = status;
        atomic_store(&e->recorder_failed, true);
    }
    e->result->run.cycles = row->k;
}

static void record_note(ff_executive *e, const ff_rt_note *note) {
    const ff_sink *sinks = e->run->sinks;
    const int count = e->run->count;
    if (note->kind == FF_NOTE_STATE)
        ff_sinks_state(sinks, count, note->t, (int)note->state, ff_state_name(note->state));
    if (note->kind == FF_NOTE_TRIP) {
        const bool orderly = note->trip.code <= FF_TRIP_FINISHED;
        ff_sinks_event(sinks, count, note->t, (int)note->trip.code, orderly ? FF_EVENT_INFO : FF_EVENT_FAULT,
                       ff_trip_text(note->trip.code), note->trip.value, note->trip.limit);
    }
    if (note->kind == FF_NOTE_TEXT)
        ff_sinks_event(sinks, count, note->t, 0, FF_EVENT_INFO, note->text, note->trip.value,
                       note->trip.limit);
    if (e->options->note)
        e->options->note(e->options->user, note);
}

/* What the loop will use in place of the scenario's values stands in the log: a replay needs it. */
static void record_found(ff_executive *e) {
    enum { LENGTH = FF_NAME_SIZE + 128 };
    char text[2 + 2 * FF_MAX_BODIES][LENGTH];
    const char *set[2 + 2 * FF_MAX_BODIES];
    int n = 0;
    double skew = -FF_INF;
    for (int i = 0; i < e->plan.bodies; i++) {
        const ff_rt_check_body *found = &e->result->check.body[i];
        const char *name = e->scenario->satellite[i].name;
        if (found->aligned)
            skew = fmax(skew, found->skew.value);
        if (!found->weighed)
            continue;
        const ff_log_payload *p = &found->payload;
        snprintf(text[n++], LENGTH, "satellites.%s.mockup.mass=%.17g", name, p->mass.value);
        snprintf(text[n++], LENGTH, "satellites.%s.mockup.com=[%.17g, %.17g, %.17g]", name, p->com[0].value,
                 p->com[1].value, p->com[2].value);
    }
    if (isfinite(skew)) {
        snprintf(text[n++], LENGTH, "fused.skew=%.17g", skew);
        snprintf(text[n++], LENGTH, "damping.skew=%.17g", skew);
    }
    for (int i = 0; i < n; i++)
        set[i] = text[i];
    if (n)
        ff_sinks_found(e->run->sinks, e->run->count, set, n);
}

static void ask_operator(ff_executive *e) {
    const ff_rt_check *check = &e->result->check;
    const bool go = check->no_go.code == FF_TRIP_NONE;
    const bool yes = e->options->confirm ? e->options->confirm(e->options->user, check) : e->plan.virtual;
    if (go)
        record_found(e);
    if (go)
        atomic_store_explicit(&e->checked, true, memory_order_release);
    if (go && yes)
        atomic_store_explicit(&e->armed, true, memory_order_release);
    else
        atomic_store(&e->quit, true);
}

/* The caller's thread: records, asks the operator, waits for the end. */
void ff__rt_attend(ff_executive *e) {
    ff_row *row = malloc(sizeof *row);
    bool evaluated = false, decided = false;
    int64_t busy = ff_clock_now(); /* [ns] when the last row came */
    while (row) {
        const bool ended = atomic_load_explicit(&e->ended, memory_order_acquire);
        ff_rt_note note;
        bool any = false;
        while (ff_ring_pop(&e->rows, row)) {
            record_row(e, row);
            any = true;
            if (ff_ring_dropped(&e->rows))
                atomic_store(&e->recorder_failed, true);
        }
        while (ff_ring_pop(&e->notes, &note))
            record_note(e, &note);
        if (any)
            busy = ff_clock_now();
        else if (ff_clock_now() - busy > (int64_t)(0.5e9 * FF_SINK_FLUSH)) { /* no rows: before, after them */
            ff_sinks_flush(e->run->sinks, e->run->count);
            busy = ff_clock_now();
        }
        if (ended && !any)
            break;
        if (!evaluated && atomic_load_explicit(&e->measured, memory_order_acquire)) {
            evaluated = true;
            ff__rt_evaluate(e, false);
            if (e->result->check.no_go.code != FF_TRIP_NONE || !ff__rt_begin_tests(e)) {
                decided = true;
                if (e->result->check.no_go.code == FF_TRIP_NONE)
                    ff__rt_evaluate(e, true); /* says what was left out */
                ask_operator(e);
            }
        }
        if (evaluated && !decided && atomic_load_explicit(&e->tested, memory_order_acquire)) {
            decided = true;
            ff__rt_evaluate(e, true);
            ask_operator(e);
        }
        if (e->run->progress && !any)
            e->run->progress(e->run->user, (double)e->result->run.cycles / (double)e->scenario->cycles);
        if (!any)
            ff_clock_sleep_until(ff_clock_now() + 2000000);
    }
    free(row);
}
