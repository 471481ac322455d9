#include "run/run.h"

#include "run/capture.h"

#include <stdio.h>
#include <stdlib.h>

#include "facility/plant.h"
#include "text/clock.h"

/* About a hundred calls a run, never more: the callback may draw. */
static bool report_progress(const ff_run_options *options, uint64_t k, uint64_t cycles) {
    const uint64_t stride = cycles / 128 + 1;
    if (!options->progress || k % stride)
        return true;
    return options->progress(options->user, (double)k / (double)cycles);
}

static ff_setpoint relative_to(const ff_scenario *scenario, const ff_rigid_state *nominal,
                               const ff_rigid_state *s) {
    const ff_rigid_state c =
        scenario->frame == FF_FRAME_RELATIVE ? ff_relative_from_absolute(nominal, s) : *s;
    return (ff_setpoint){ff_rigid_pose(&c), {c.omega, c.velocity}};
}

/* The reference itself as a run: satellite, robot and ideal are one. */
static void run_ideal(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    const ff_ideal_result *ideal = options->ideal;
    ff_rigid_model model[FF_MAX_BODIES];
    for (int i = 0; i < scenario->satellites; i++)
        ff_rigid_create(&scenario->satellite[i].rigid, &model[i]);
    ff_row row = {0};
    int next = 0; /* contacts of the reference are in order of start */
    int open[FF_MAX_CONTACTS];
    for (int c = 0; c < scenario->contacts; c++)
        open[c] = -1;
    const ff_nominal_config motion = {.kind = scenario->nominal, .model = model[scenario->nominal_of]};
    ff_rigid_state nominal = ff_scenario_nominal(scenario);
    for (uint64_t k = 0; k < ideal->samples && result->status == FF_OK; k++) {
        if (scenario->nominal == FF_NOMINAL_SATELLITE)
            nominal = ideal->state[k * (uint64_t)ideal->bodies + (uint64_t)scenario->nominal_of];
        else if (k > 0 && scenario->frame == FF_FRAME_RELATIVE)
            nominal = ff_nominal_coast(&motion, scenario->cycle, scenario->cycle / 16.0, &nominal);
        row.k = k;
        row.t = (double)k * scenario->cycle;
        row.final = k == scenario->cycles;
        const ff_run_access access = {.k = k, .t = row.t};
        if (options->between && !options->between(options->between_user, &access)) {
            snprintf(result->message, sizeof result->message, "stopped at %.3f s", row.t);
            result->status = FF_ERR_LIMIT;
            return;
        }
        while (next < ideal->contacts && ideal->contact[next].start <= row.t) {
            open[ideal->contact[next].contact] = next;
            next++;
        }
        for (int c = 0; c < scenario->contacts; c++) {
            const int e = open[c];
            row.touching[c] = e >= 0 && !(ideal->contact[e].end <= row.t);
            const ff_rigid_load load =
                ideal->contact_load[k * (uint64_t)ideal->bodies + (uint64_t)scenario->contact[c].body];
            row.contact_force[c] = row.touching[c] ? load.force : ff_vec3_zero();
        }
        for (int i = 0; i < scenario->satellites; i++) {
            ff_row_body *b = &row.body[i];
            const ff_rigid_state *s = &ideal->state[k * (uint64_t)ideal->bodies + (uint64_t)i];
            const ff_rigid_load load = ideal->contact_load[k * (uint64_t)ideal->bodies + (uint64_t)i];
            b->satellite = b->ideal = *s;
            b->inertial = (ff_setpoint){ff_rigid_pose(s), {s->omega, s->velocity}};
            b->command = b->robot = relative_to(scenario, &nominal, s);
            b->corrected_b = b->measured_b =
                (ff_wrench){load.torque, ff_quat_unrotate(s->attitude, load.force)};
            b->load = ff_scenario_load_at(scenario, i, row.t);
            b->energy.kinetic = ff_rigid_kinetic_energy(&model[i], s);
            b->in_contact = ff_vec3_norm(load.force) > 0.0 || ff_vec3_norm(load.torque) > 0.0;
            for (int a = 0; a < 6; a++)
                b->observer[a] = FF_NAN;
            b->identified_stiffness = b->identified_damping = b->identified_damping_sd = FF_NAN;
        }
        result->status = ff_sinks_row(options->sinks, options->count, &row);
        result->cycles = k;
        if (!report_progress(options, k, scenario->cycles)) {
            snprintf(result->message, sizeof result->message, "stopped");
            result->status = FF_ERR_LIMIT;
        }
    }
}

/* Adds the reference and what the plant says of cycle k. */
static void fill_row(const ff_scenario *scenario, const ff_ideal_result *ideal, const ff_plant_truth *truth,
                     ff_row *row) {
    for (int i = 0; i < scenario->satellites; i++) {
        if (ideal && row->k < ideal->samples)
            row->body[i].ideal = ideal->state[row->k * (uint64_t)ideal->bodies + (uint64_t)i];
        row->body[i].robot = truth->robot[i];
        row->body[i].inertial = truth->inertial[i];
    }
    for (int c = 0; c < scenario->contacts; c++) {
        row->contact_force[c] = truth->force[c];
        row->touching[c] = truth->touching[c];
    }
}

typedef struct run_memory { /* large: not on the stack */
    ff_loop_config config;
    ff_loop_memory loop;
    ff_loop_in in;
    ff_loop_out out;
    ff_plant_truth truth;
    ff_row row;
} run_memory;

static void run_loop(const ff_scenario *scenario, const ff_run_options *options, ff_plant *plant,
                     run_memory *m, ff_run_result *result) {
    ff_loop_model *model = m->loop.model;
    ff_loop_state *state = m->loop.state;
    ff_loop_reset(model, state, m->loop.state_bytes, &result->info, &m->out);
    for (int i = 0; i < scenario->satellites; i++) { /* a predicting method was already running */
        const double lead = ff_loop_lead(model, state, i);
        if (lead > 0.0)
            ff_plant_set_lead(plant, i, lead);
    }
    double total = 0.0;
    const double begin = (double)ff_clock_now();
    for (uint64_t k = 0; k <= scenario->cycles; k++) {
        const double t = (double)k * scenario->cycle;
        const ff_run_access access = {k, t, model, &m->in, &m->out};
        if (options->between && !options->between(options->between_user, &access)) {
            result->status = FF_ERR_LIMIT;
            snprintf(result->message, sizeof result->message, "stopped at %.3f s", t);
            break;
        }
        ff_row_begin(scenario, state, k, k == scenario->cycles, &m->row);
        for (int i = 0; i < scenario->satellites; i++)
            m->in.load[i] = ff_scenario_load_at(scenario, i, t);
        ff_plant_write_nominal(plant, &state->nominal.motion);
        ff_plant_write(plant, k, m->out.next);
        ff_status status = ff_plant_read(plant, k, &m->in, &m->truth);
        if (status < 0) {
            result->status = status;
            snprintf(result->message, sizeof result->message, "at %.3f s: %s", t, ff_status_text(status));
            break;
        }
        if (m->row.final) { /* where everything stands at the end */
            ff_row_settle(scenario, &m->out);
        } else {
            ff_tuned_get(model, scenario->satellites, &m->row.tuned);
            const double start = options->timing ? (double)ff_clock_now() : 0.0;
            status = ff_loop_step(model, state, &result->info, &m->in, &m->out);
            if (options->timing) {
                m->row.compute_ns = (double)ff_clock_now() - start;
                total += m->row.compute_ns;
                if (m->row.compute_ns > result->cycle_max_ns)
                    result->cycle_max_ns = m->row.compute_ns;
            }
            ff_plant_write(plant, k, m->out.command);
            ff_plant_write_contact(plant, m->out.measured_b);
        }
        if (options->count) {
            ff_row_loop(scenario, model, state, &m->in, &m->out, status, &m->row);
            fill_row(scenario, options->ideal, &m->truth, &m->row);
            const ff_status fed = ff_sinks_row(options->sinks, options->count, &m->row);
            if (fed < 0) {
                result->status = fed;
                snprintf(result->message, sizeof result->message, "%s", ff_status_text(fed));
                break;
            }
        }
        result->cycles = k;
        if (status < 0) {
            result->status = status;
            snprintf(result->message, sizeof result->message, "at %.3f s: %s", t, ff_status_text(status));
            break;
        }
        if (!report_progress(options, k, scenario->cycles)) {
            result->status = FF_ERR_LIMIT;
            snprintf(result->message, sizeof result->message, "stopped at %.3f s", t);
            break;
        }
    }
    result->reports = ff_loop_report(model, state, -1, result->report);
    result->wall_s = 1e-9 * ((double)ff_clock_now() - begin);
    if (options->timing && result->cycles)
        result->cycle_mean_ns = total / (double)result->cycles;
}

void ff_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    *result = (ff_run_result){0};
    if (ff_scenario_servicer(scenario) >= 0) {
        ff_capture_run(scenario, options, result);
        return;
    }
    if (!scenario->method) {
        if (!options->ideal) {
            result->status = FF_ERR_ARGUMENT;
            snprintf(result->message, sizeof result->message, "the ideal method needs its reference");
            return;
        }
        const double begin = (double)ff_clock_now();
        run_ideal(scenario, options, result);
        result->wall_s = 1e-9 * ((double)ff_clock_now() - begin);
        return;
    }
    run_memory *m = malloc(sizeof *m);
    if (m)
        m->row = (ff_row){0};
    ff_plant *plant = ff_plant_create(scenario, result->message, sizeof result->message);
    if (!m || !plant) {
        result->status = m ? FF_ERR_UNSUPPORTED : FF_ERR_MEMORY;
    } else {
        ff_scenario_loop(scenario, &m->config);
        result->status = ff_loop_memory_open(&m->config, &m->loop, result->message, sizeof result->message);
        if (result->status == FF_OK) {
            run_loop(scenario, options, plant, m, result);
            ff_loop_memory_close(&m->loop);
        }
    }
    ff_plant_free(plant);
    free(m);
}
