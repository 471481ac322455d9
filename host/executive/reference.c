#include "executive/reference.h"

#include "executive/executive.h"
#include "ideal/orbit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef ff_reference walk;

static void begin(walk *w, const ff_scenario *scenario, const ff_run_options *options,
                  ff_run_result *result) {
    *w = (walk){.scenario = scenario,
                .ideal = options->ideal,
                .options = options,
                .result = result,
                .nominal = ff_scenario_nominal(scenario)};
    for (int i = 0; i < scenario->satellites; i++)
        ff_rigid_create(&scenario->satellite[i].rigid, &w->model[i]);
    w->motion = (ff_nominal_config){.kind = scenario->nominal, .model = w->model[scenario->nominal_of]};
    for (int c = 0; c < scenario->contacts; c++)
        w->open[c] = -1;
    ff_row_arms_open(scenario, options->sinks, options->count, &w->arms);
}

static void open_row(walk *w, uint64_t k) {
    w->row.k = k;
    w->row.t = (double)k * w->scenario->cycle;
    w->row.final = k == w->scenario->cycles;
}

static const ff_rigid_state *body_state(const walk *w, int body) {
    return &w->ideal->state[w->row.k * (uint64_t)w->ideal->bodies + (uint64_t)body];
}

static ff_rigid_load load_of(const walk *w, int body) {
    return w->ideal->contact_load[w->row.k * (uint64_t)w->ideal->bodies + (uint64_t)body];
}

static void advance_nominal(walk *w) {
    const ff_scenario *s = w->scenario;
    if (s->nominal == FF_NOMINAL_SATELLITE) /* not with an arm */
        w->nominal = *body_state(w, s->nominal_of);
    else if (w->row.k > 0 && s->frame == FF_FRAME_RELATIVE)
        w->nominal = ff_nominal_coast(&w->motion, s->cycle, s->cycle / 16.0, &w->nominal);
}

static void fill_contacts(walk *w) {
    const ff_ideal_result *ideal = w->ideal;
    while (w->next < ideal->contacts && ideal->contact[w->next].start <= w->row.t) {
        w->open[ideal->contact[w->next].contact] = w->next;
        w->next++;
    }
    for (int c = 0; c < w->scenario->contacts; c++) {
        const int e = w->open[c];
        w->row.touching[c] = e >= 0 && !(ideal->contact[e].end <= w->row.t);
        w->row.contact_force[c] =
            w->row.touching[c] ? load_of(w, w->scenario->contact[c].body).force : ff_vec3_zero();
    }
}

static ff_setpoint as_commanded(const walk *w, const ff_rigid_state *s) {
    const ff_rigid_state c =
        w->scenario->frame == FF_FRAME_RELATIVE ? ff_relative_from_absolute(&w->nominal, s) : *s;
    return ff_setpoint_from_state(&c);
}

/* Satellite, robot and reference are one; nothing observes or identifies. */
static void fill_motion(walk *w, int i, const ff_rigid_state *s) {
    ff_row_body *b = &w->row.body[i];
    b->satellite = b->ideal = *s;
    b->inertial = ff_setpoint_from_state(s);
    b->command = b->robot = as_commanded(w, s);
    b->load = ff_scenario_load_at(w->scenario, i, w->row.t);
    for (int a = 0; a < 6; a++)
        b->observer[a] = FF_NAN;
    b->identified_stiffness = b->identified_damping = b->identified_damping_sd = FF_NAN;
}

static void fill_body(walk *w, int i) {
    ff_row_body *b = &w->row.body[i];
    const ff_rigid_state *s = body_state(w, i);
    const ff_rigid_load load = load_of(w, i);
    fill_motion(w, i, s);
    b->corrected_b = b->measured_b = (ff_wrench){load.torque, ff_quat_unrotate(s->attitude, load.force)};
    b->energy.kinetic = ff_rigid_kinetic_energy(&w->model[i], s);
    b->in_contact = ff_vec3_norm(load.force) > 0.0 || ff_vec3_norm(load.torque) > 0.0;
}

static ff_status halt(ff_run_result *result, double t) {
    snprintf(result->message, sizeof result->message, "stopped at %.3f s", t);
    return FF_ERR_LIMIT;
}

/* Before the row of cycle k: false when whoever commands stops the run. */
static bool may_continue(const walk *w) {
    const ff_run_access access = {.k = w->row.k, .t = w->row.t};
    if (!w->options->between || w->options->between(w->options->between_user, &access))
        return true;
    w->result->status = halt(w->result, w->row.t);
    return false;
}

/* ------------------------------------------------------------------------------------------- with an arm --
 */

typedef struct orbiter {
    walk walk;
    int servicer;
} orbiter;

static void fill_servicer(const ff_orbit_row *m, int joints, ff_row_servicer *row) {
    const ff_obsw_out *u = &m->actuation;
    for (int i = 0; i < joints; i++) {
        row->q[i] = m->q[i];
        row->qd[i] = m->qd[i];
        row->torque[i] = u->joint_torque[i];
    }
    row->thrust = ff_obsw_thrust(u);
    row->phase = (int)u->phase;
    row->action = (int)m->action;
    row->W_a = u->storage;
    row->delta = u->dissipation;
}

static ff_status feed(void *self, const ff_orbit_row *m) {
    orbiter *o = self;
    walk *w = &o->walk;
    const ff_scenario *s = w->scenario;
    ff_run_result *result = w->result;
    open_row(w, w->k++);
    if (!may_continue(w))
        return FF_ERR_LIMIT;
    advance_nominal(w);
    for (int i = 0; i < 2; i++) {
        ff_row_body *b = &w->row.body[i];
        fill_motion(w, i, i == o->servicer ? &m->base : &m->client);
        b->measured_b = b->corrected_b = i == o->servicer ? m->on_base : m->on_client;
        b->energy.kinetic = m->energy[i];
        b->in_contact = ff_vec3_norm(m->F_e.f) > 0.0;
        for (int c = 0; c < s->contacts; c++)
            b->in_contact = b->in_contact || m->touching[c];
    }
    for (int c = 0; c < s->contacts; c++) {
        w->row.contact_force[c] = m->force[c];
        w->row.touching[c] = m->touching[c];
    }
    fill_servicer(m, s->satellite[o->servicer].arm.joints, &w->row.servicer);
    w->row.servicer.W_c = m->energy[1 - o->servicer];
    ff_row_arms_find(&w->arms, &w->row);
    const ff_status status = ff_sinks_row(w->options->sinks, w->options->count, &w->row);
    result->cycles = w->row.k;
    if (status < 0)
        return status;
    if (!ff_run_progress(w->options, w->row.k, s->cycles))
        return halt(result, w->row.t);
    return FF_OK;
}

/* The orbit flown as the run: its rows have joints and orders, which a reference does not keep. */
void ff_reference_orbit(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    orbiter *o = calloc(1, sizeof *o);
    if (!o) {
        result->status = FF_ERR_MEMORY;
        snprintf(result->message, sizeof result->message, "no memory for the run");
        return;
    }
    begin(&o->walk, scenario, options, result);
    o->servicer = ff_scenario_servicer(scenario);
    result->status = ff_orbit_run(scenario, options->opener, options->record, (ff_orbit_sink){o, feed},
                                  result->message, sizeof result->message);
    if (result->status < 0 && !result->message[0])
        snprintf(result->message, sizeof result->message, "%s", ff_status_text(result->status));
    free(o);
}

/* -------------------------------------------------------------------------------------------- without -- */

ff_status ff_reference_open(ff_reference *w, const ff_scenario *scenario, const ff_run_options *options,
                            ff_run_result *result) {
    begin(w, scenario, options, result);
    if (!options->ideal) {
        result->status = FF_ERR_ARGUMENT;
        snprintf(result->message, sizeof result->message, "the ideal method needs its reference");
    }
    return result->status;
}

bool ff_reference_cycle(ff_reference *w) {
    ff_run_result *result = w->result;
    if (w->k >= w->ideal->samples || result->status != FF_OK)
        return false;
    open_row(w, w->k);
    if (!may_continue(w))
        return false;
    advance_nominal(w);
    fill_contacts(w);
    for (int i = 0; i < w->scenario->satellites; i++)
        fill_body(w, i);
    ff_row_arms_find(&w->arms, &w->row);
    result->status = ff_sinks_row(w->options->sinks, w->options->count, &w->row);
    result->cycles = w->k++;
    return true;
}

void ff_reference_stop(ff_reference *w) {
    w->result->status = halt(w->result, w->row.t);
}

void ff_reference_keep(ff_reference *w, ff_keeper *keeper) {
    ff_keep(keeper, &w->nominal, sizeof w->nominal);
    ff_keep(keeper, &w->k, sizeof w->k);
    ff_keep(keeper, &w->next, sizeof w->next);
    ff_keep(keeper, w->open, sizeof w->open);
    ff_keep(keeper, &w->row, sizeof w->row);
    ff_row_arms_keep(&w->arms, keeper);
    ff_keep(keeper, w->result, sizeof *w->result);
}
