#include "rt/internal.h"

#include <string.h>

void ff__rt_push_row(ff_executive *e) {
    e->row.missed = e->result->missed;
    e->row.dropped = ff_ring_dropped(&e->telemetry.samples);
    e->row.io_ns = e->io_ns;
    for (int i = 0; i < e->plan.bodies; i++) {
        const ff_rt_body *b = &e->body[i];
        const ff_clockfit_state *fit = &b->follow.fit;
        e->row.body[i].robot = b->measured;
        e->row.body[i].inertial = ff_loop_to_inertial(e->model, &e->nominal, b->measured);
        e->row.body[i].device = (ff_row_device){.has_joints = true,
                                                .has_clock = ff__rt_clock_known(e, b),
                                                .joints = b->report.joints,
                                                .drift = fit->rate,
                                                .offset = fit->offset,
                                                .residual = fit->residual,
                                                .rms = ff_clockfit_rms(fit)};
    }
    ff_ring_push(&e->rows, &e->row);
}

/* The row of a cycle in which nothing came out of the loop: what was measured and commanded. */
static void fill_aside(ff_executive *e, bool final, double t) {
    const double lateness = e->row.lateness_ns;
    ff_row_begin(e->scenario, e->state, e->state->k, final, &e->row);
    e->row.t = t;
    e->row.lateness_ns = lateness;
    e->row.missed = e->result->missed;
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_row_body *b = &e->row.body[i];
        b->robot = e->body[i].measured;
        b->inertial = ff_loop_to_inertial(e->model, &e->nominal, e->body[i].measured);
        b->command = e->body[i].command;
        b->measured_b = e->out.measured_b[i];
    }
}

/* Once a cycle, whatever the state: the newest row, and how far it is to each limit. */
void ff__rt_show_cycle(ff_executive *e) {
    ff_telemetry_sample *s = e->telemetry.out;
    if (!s || e->walk.state == FF_STATE_OFF)
        return;
    const bool looped = e->walk.state >= FF_STATE_FLOAT && e->runup >= e->plan.runup && e->since == 0;
    if (!looped) {
        fill_aside(e, true, ff__rt_now(e) + (double)e->since * e->plan.cycle);
        e->row.io_ns = e->io_ns;
        e->row.final = false;
    }
    s->row = e->row;
    s->state = e->walk.state;
    memcpy(s->level, e->level, sizeof s->level);
    ff_telemetry_push(&e->telemetry, s);
}

/* Into the log and to the operator: what was ordered, and the value before. */
static void note_order(ff_executive *e, double t, const char *name, double value, double was) {
    ff_rt_note note = {
        .kind = FF_NOTE_TEXT, .t = t, .state = e->walk.state, .trip = {.value = value, .limit = was}};
    for (size_t n = 0; n + 1 < sizeof note.text && name[n]; n++)
        note.text[n] = name[n];
    ff_ring_push(&e->notes, &note);
}

/* What the owner of commands asks, between two cycles. */
void ff__rt_take_orders(ff_executive *e) {
    if (!e->telemetry.running)
        return;
    ff_tuning_access a = {.t = ff__rt_now(e),
                          .cycle = e->plan.cycle,
                          .bodies = e->plan.bodies,
                          .moves = ff_state_moves(e->walk.state) && e->walk.state != FF_STATE_TEST,
                          .touching = e->walk.state == FF_STATE_CONTACT,
                          .model = e->model,
                          .safety = &e->safety_config};
    for (int i = 0; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        a.touching |= e->state->k > 0 && e->out.fidelity.in_contact[i];
        a.bias[i] = &e->model->config.body[i].wrench.bias_s;
        a.reading_s[i] = ff_tuning_reading(ff__rt_wrench(e, i), b->measured.T, e->out.measured_b[i]);
    }
    ff_tuning_advance(&e->tuning, &a);
    ff_tuning_apply(&e->tuning, &a);
    e->held |= a.hold;
    e->stopped |= a.stop;
    if (a.changed) {
        ff__rt_bound(e);
        const ff_tuning_parameter *p = &e->tuning.table.parameter[a.changed - 1];
        note_order(e, a.t, p->name, p->value, a.was);
    }
    if (a.zeroed)
        note_order(e, a.t, "zeroed", a.removed, 0.0);
}

/* A cycle outside the run, for the last 2 s before a fault: run-up, tests of CHECK, the one that tripped. */
void ff__rt_push_aside(ff_executive *e, double t) {
    fill_aside(e, false, t);
    e->row.aside = true;
    for (int i = 0; i < e->plan.bodies; i++)
        e->row.body[i].sensor = e->in.sensor[i];
    ff_ring_push(&e->rows, &e->row);
}

/* In lock step the run's time can pass faster than the wall's. There is no deadline then, and the recorder is
 * waited for; in wall-clock time this never waits. */
void ff__rt_spare_recorder(const ff_executive *e, int64_t began, uint64_t cycles) {
    while (ff_ring_count(&e->rows) > 3 * (e->rows.mask / 4) &&
           (!isnan(e->virtual_now) ||
            (double)(ff_clock_now() - began) < 0.5e9 * (double)cycles * e->plan.cycle) &&
           !atomic_load_explicit(&e->recorder_failed, memory_order_relaxed))
        ff_clock_sleep_until(ff_clock_now() + 1000000);
}
