/* The caller's thread: records, evaluates the check, asks the operator, waits for the end. */
#include "operator/internal.h"

#include <stdio.h>

static void record_row(ff_operator *o, ff_row *row) {
    const ff_ideal_result *ideal = o->run->ideal;
    for (int i = 0; i < o->scenario->satellites; i++)
        if (ideal && row->k < ideal->samples)
            row->body[i].ideal = ideal->state[row->k * (uint64_t)ideal->bodies + (uint64_t)i];
    ff_touch_find(&o->touch, row);
    o->last[o->last_next] = *row;
    o->last_next = (o->last_next + 1) % o->last_capacity;
    o->last_count += o->last_count < o->last_capacity;
    if (row->aside)
        return;
    const ff_status status =
        o->recorder_status < 0 ? o->recorder_status : ff_sinks_row(o->run->sinks, o->run->count, row);
    if (status < 0) {
        o->recorder_status = status;
        atomic_store(&o->recorder_failed, true);
    }
    o->result->run.cycles = row->k;
}

static void write_note(const ff_operator *o, const ff_rt_note *note) {
    const ff_sink *sinks = o->run->sinks;
    const int count = o->run->count;
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
    if (note->kind == FF_NOTE_SAY)
        ff_sinks_event(sinks, count, note->t, 0, note->level, note->text, FF_NAN, FF_NAN);
}

/* What was held back gets its time: as many cycles before this one as have passed. */
static void write_held(ff_operator *o, double t, uint64_t cycle) {
    for (int i = 0; i < o->holds; i++) {
        ff_rt_note *note = &o->held[i];
        note->t = t - (double)(cycle - note->cycle) * o->plan.cycle;
        write_note(o, note);
    }
    o->holds = 0;
}

static void record_note(ff_operator *o, const ff_rt_note *note) {
    if (!note->timed && o->holds < FF_NOTES_HELD)
        o->held[o->holds++] = *note;
    else {
        write_held(o, note->t, note->cycle);
        write_note(o, note);
    }
    if (o->options->note)
        o->options->note(o->options->user, note);
}

/* What the loop will use in place of the scenario's values stands in the log: a replay needs it. */
static void record_found(ff_operator *o) {
    enum { LENGTH = FF_NAME_SIZE + 128 };
    char text[2 + 2 * FF_MAX_BODIES][LENGTH];
    const char *set[2 + 2 * FF_MAX_BODIES];
    int n = 0;
    double skew = -FF_INF;
    for (int i = 0; i < o->plan.bodies; i++) {
        const ff_check_body *found = &o->preflight.check.body[i];
        const char *name = o->scenario->satellite[i].name;
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
        ff_sinks_found(o->run->sinks, o->run->count, set, n);
}

static void ask_operator(ff_operator *o) {
    const ff_check *check = &o->preflight.check;
    const bool go = check->no_go.code == FF_TRIP_NONE;
    const bool yes = o->options->confirm ? o->options->confirm(o->options->user, check) : o->address.virtual;
    if (go)
        record_found(o);
    if (go)
        atomic_store_explicit(&o->preflight.passed, true, memory_order_release);
    if (go && yes)
        atomic_store_explicit(&o->preflight.armed, true, memory_order_release);
    else
        atomic_store_explicit(&o->preflight.refused, true, memory_order_release);
}

/* The table, and what follows the measured noise beside it. */
static void evaluate(ff_operator *o, bool tested) {
    ff_executive *e = &o->executive;
    const ff_preflight_view view = {e->loop.model, e->phases.output, o->run->ideal, &e->guard.config};
    ff_preflight_evaluate(&o->preflight, &view, tested);
    for (int i = 0; i < o->plan.bodies; i++) {
        o->touch.threshold[i] = fmax(2e-6, 5.0 * o->preflight.check.body[i].force_noise);
        atomic_store_explicit(&o->telemetry.threshold[i], o->touch.threshold[i], memory_order_relaxed);
    }
}

/* The tests of CHECK, if there are any. True: they run, or the operator refused; false: there is nothing more
 * to wait for. */
static bool begin_tests(ff_operator *o) {
    const ff_rt_options *options = o->options;
    bool moves;
    if (!ff_preflight_has_tests(&o->preflight, &moves))
        return false;
    const bool may = !moves || (options->permit ? options->permit(options->user, &o->preflight.check)
                                                : o->address.virtual);
    atomic_store_explicit(may ? &o->preflight.tests : &o->preflight.refused, true, memory_order_release);
    return true;
}

/* The check, as far as it can be evaluated by now. */
typedef struct progress {
    bool evaluated, decided;
} progress;

static void check(ff_operator *o, progress *done) {
    ff_preflight *preflight = &o->preflight;
    if (!done->evaluated && atomic_load_explicit(&preflight->measured, memory_order_acquire)) {
        done->evaluated = true;
        evaluate(o, false);
        if (preflight->check.no_go.code != FF_TRIP_NONE || !begin_tests(o)) {
            done->decided = true;
            if (preflight->check.no_go.code == FF_TRIP_NONE)
                evaluate(o, true); /* says what was left out */
            ask_operator(o);
        }
    }
    if (done->evaluated && !done->decided && atomic_load_explicit(&preflight->tested, memory_order_acquire)) {
        done->decided = true;
        evaluate(o, true);
        ask_operator(o);
    }
}

void ff__operator_attend(ff_operator *o) {
    progress done = {0};
    int64_t busy = ff_clock_now(); /* [ns] when the last row came */
    for (;;) {
        const bool ended = atomic_load_explicit(&o->ended, memory_order_acquire);
        ff_rt_note note;
        bool any = false;
        while (ff_ring_pop(&o->rows, &o->row)) {
            record_row(o, &o->row);
            any = true;
            if (ff_ring_dropped(&o->rows))
                atomic_store(&o->recorder_failed, true);
        }
        while (ff_ring_pop(&o->notes, &note))
            record_note(o, &note);
        if (any)
            busy = ff_clock_now();
        else if (ff_clock_now() - busy > (int64_t)(0.5e9 * FF_SINK_FLUSH)) { /* no rows: before, after them */
            ff_sinks_flush(o->run->sinks, o->run->count);
            busy = ff_clock_now();
        }
        if (ended && !any) {
            write_held(o, ff_executive_clock(&o->executive), o->executive.tick);
            break;
        }
        check(o, &done);
        if (o->run->progress && !any)
            o->run->progress(o->run->user, (double)o->result->run.cycles / (double)o->scenario->cycles);
        if (!any)
            ff_clock_sleep_until(ff_clock_now() + 2000000);
    }
}
