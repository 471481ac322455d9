#include "executive/reference.h"

#include "executive/executive.h"

#include <stdio.h>

/* Where the run of the reference has come to. */
typedef struct walk {
    const ff_scenario *scenario;
    const ff_ideal_result *ideal;
    ff_rigid_model model[FF_MAX_BODIES];
    ff_nominal_config motion;
    ff_rigid_state nominal;
    int next;                  /* contacts of the reference are in order of start */
    int open[FF_MAX_CONTACTS]; /* the newest of each of the scenario's; -1: none yet */
    ff_row row;
} walk;

static void begin(walk *w, const ff_scenario *scenario, const ff_ideal_result *ideal) {
    *w = (walk){.scenario = scenario, .ideal = ideal, .nominal = ff_scenario_nominal(scenario)};
    for (int i = 0; i < scenario->satellites; i++)
        ff_rigid_create(&scenario->satellite[i].rigid, &w->model[i]);
    w->motion = (ff_nominal_config){.kind = scenario->nominal, .model = w->model[scenario->nominal_of]};
    for (int c = 0; c < scenario->contacts; c++)
        w->open[c] = -1;
}

static const ff_rigid_state *state_of(const walk *w, int body) {
    return &w->ideal->state[w->row.k * (uint64_t)w->ideal->bodies + (uint64_t)body];
}

static ff_rigid_load load_of(const walk *w, int body) {
    return w->ideal->contact_load[w->row.k * (uint64_t)w->ideal->bodies + (uint64_t)body];
}

static void advance_nominal(walk *w) {
    const ff_scenario *s = w->scenario;
    if (s->nominal == FF_NOMINAL_SATELLITE)
        w->nominal = *state_of(w, s->nominal_of);
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

static void fill_body(walk *w, int i) {
    ff_row_body *b = &w->row.body[i];
    const ff_rigid_state *s = state_of(w, i);
    const ff_rigid_load load = load_of(w, i);
    b->satellite = b->ideal = *s;
    b->inertial = ff_setpoint_from_state(s);
    b->command = b->robot = as_commanded(w, s);
    b->corrected_b = b->measured_b = (ff_wrench){load.torque, ff_quat_unrotate(s->attitude, load.force)};
    b->load = ff_scenario_load_at(w->scenario, i, w->row.t);
    b->energy.kinetic = ff_rigid_kinetic_energy(&w->model[i], s);
    b->in_contact = ff_vec3_norm(load.force) > 0.0 || ff_vec3_norm(load.torque) > 0.0;
    for (int a = 0; a < 6; a++)
        b->observer[a] = FF_NAN;
    b->identified_stiffness = b->identified_damping = b->identified_damping_sd = FF_NAN;
}

static ff_status halt(ff_run_result *result, double t) {
    snprintf(result->message, sizeof result->message, "stopped at %.3f s", t);
    return FF_ERR_LIMIT;
}

void ff_reference_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    if (!options->ideal) {
        result->status = FF_ERR_ARGUMENT;
        snprintf(result->message, sizeof result->message, "the ideal method needs its reference");
        return;
    }
    walk w;
    begin(&w, scenario, options->ideal);
    for (uint64_t k = 0; k < options->ideal->samples && result->status == FF_OK; k++) {
        w.row.k = k;
        w.row.t = (double)k * scenario->cycle;
        w.row.final = k == scenario->cycles;
        const ff_run_access access = {.k = k, .t = w.row.t};
        if (options->between && !options->between(options->between_user, &access)) {
            result->status = halt(result, w.row.t);
            return;
        }
        advance_nominal(&w);
        fill_contacts(&w);
        for (int i = 0; i < scenario->satellites; i++)
            fill_body(&w, i);
        result->status = ff_sinks_row(options->sinks, options->count, &w.row);
        result->cycles = k;
        if (!ff_run_progress(options, k, scenario->cycles))
            result->status = halt(result, w.row.t);
    }
}
