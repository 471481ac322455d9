/* summary.json, design.md section 4.3. Keys are a contract: extend, never rename. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/version.h"
#include "text/json.h"
#include "report/metrics.h"

static void twist(ff_json *json, const char *key, const ff_setpoint *setpoint) {
    /* files that users read: body axes, linear then angular */
    const ff_vec3 v = ff_quat_unrotate(setpoint->T.q, setpoint->twist.v), w = setpoint->twist.w;
    const double values[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    ff_json_vector(json, key, values, 6);
}

/* "inside", or "outside: because this, that": the labels of a column of flags. */
static void put_flags(ff_json *json, const ff_report_column *column, unsigned flags) {
    char text[480];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", column->label[flags ? 1 : 0]), shown = 0;
    for (size_t i = 0; column->label[i + 2] && used < sizeof text; i++)
        if (flags >> i & 1u)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", shown++ ? ", " : "",
                                     column->label[i + 2]);
    ff_json_string(json, column->name, text);
}

/* The label of a choice; NULL: there is none of this number. */
static const char *choice_of(const ff_report_column *column, double value) {
    int n = 0;
    while (column->label[n] && (double)n != value)
        n++;
    return column->label[n];
}

/* What the method reports of a contact, or of the run, by its own table. A value that its type does not have
 * is null. */
static void method_entry(ff_json *json, const ff_method *method, bool run, const double *value) {
    ff_json_open(json, method->name, '{');
    for (uint32_t n = 0; n < method->columns; n++) {
        const ff_report_column *c = &method->column[n];
        if (c->run != run)
            continue;
        switch (c->type) {
        case FF_REPORT_REAL:
            ff_json_number(json, c->name, *value);
            break;
        case FF_REPORT_INTEGER:
            if (fabs(*value) < 9e15)
                ff_json_integer(json, c->name, (long long)*value);
            else
                ff_json_number(json, c->name, FF_NAN);
            break;
        case FF_REPORT_BOOLEAN:
            ff_json_bool(json, c->name, *value != 0.0);
            break;
        case FF_REPORT_CHOICE:
            if (choice_of(c, *value))
                ff_json_string(json, c->name, choice_of(c, *value));
            else
                ff_json_number(json, c->name, FF_NAN);
            break;
        case FF_REPORT_FLAGS:
            if (*value >= 0.0 && *value <= (double)UINT32_MAX)
                put_flags(json, c, (unsigned)*value);
            else
                ff_json_number(json, c->name, FF_NAN);
            break;
        case FF_REPORT_VECTOR:
            ff_json_vec3(json, c->name, ff_vec3_make(value[0], value[1], value[2]));
            value += 2;
            break;
        }
        value++;
    }
    ff_json_close(json, '}');
}

static void contact_entry(ff_json *json, const ff_metrics *metrics, int n, int side) {
    const ff_episode *e = &metrics->episode[n];
    ff_episode_info info;
    ff_metrics_episode(metrics, n, &info);
    const double before = ff_vec3_norm(e->before[side].velocity),
                 after = ff_vec3_norm(e->after[side].velocity);
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "name", metrics->scenario->contact[e->contact].name);
    ff_json_number(json, "start_s", e->start);
    ff_json_number(json, "end_s", e->end);
    ff_json_number(json, "duration_s", e->end - e->start);
    ff_json_number(json, "speed_before_mps", before);
    ff_json_number(json, "speed_after_mps", after);
    ff_json_vec3(json, "velocity_before_mps", e->before[side].velocity);
    ff_json_vec3(json, "velocity_after_mps", e->after[side].velocity);
    ff_json_vec3(json, "angular_velocity_after_radps", e->after[side].omega);
    ff_json_number(json, "peak_force_N", e->peak_force[side]);
    ff_json_number(json, "peak_robot_force_N", e->peak_robot_force);
    ff_json_vec3(json, "impulse_Ns", e->impulse[side]);
    ff_json_string(json, "impulse_from", e->by_momentum ? "momentum" : "force");
    ff_json_number(json, "stiffness_Npm", e->stiffness);
    ff_json_number(json, "damping_Nspm", e->damping);
    ff_json_number(json, "damping_sd_Nspm", e->damping_sd);
    ff_json_integer(json, "identification_bounded_cycles", e->bounded);
    ff_json_number(json, "contact_frequency_Hz", info.frequency);
    ff_json_number(json, "cov", info.cov);
    ff_json_number(json, "cof", info.cof);
    ff_json_number(json, "restitution", info.restitution);
    ff_json_vec3(json, "contact_point_m", info.point[side]);
    if (e->reports)
        method_entry(json, metrics->scenario->method, false, e->report);
    ff_json_close(json, '}');
}

static void satellite(ff_json *json, const ff_metrics *metrics, int i) {
    const ff_scenario *scenario = metrics->scenario;
    const ff_body_metrics *m = &metrics->body[i];
    ff_json_open(json, scenario->satellite[i].name, '{');
    if (ff_scheme_holds(scenario->integrate.scheme)) /* the other integrators have their own rule */
        ff_json_string(json, "contact_wrench", ff_scenario_holds(scenario, i) ? "held" : "impulse");
    ff_json_open(json, "initial", '{');
    ff_json_number(json, "kinetic_energy_J", m->initial_energy);
    ff_json_close(json, '}');
    ff_json_open(json, "final", '{');
    ff_json_vec3(json, "position_m", m->final.position);
    ff_json_quat(json, "attitude_wxyz", m->final.attitude);
    ff_json_vec3(json, "velocity_mps", m->final.velocity);
    ff_json_vec3(json, "angular_velocity_radps", m->final.omega);
    ff_json_number(json, "kinetic_energy_J", m->final_energy);
    ff_json_close(json, '}');
    ff_json_number(json, "max_kinetic_energy_J", m->max_energy);
    ff_json_open(json, "error_vs_ideal", '{');
    ff_json_number(json, "velocity_mps", m->error_velocity);
    ff_json_number(json, "angular_velocity_radps", m->error_omega);
    ff_json_number(json, "position_m", m->error_position);
    ff_json_number(json, "attitude_rad", m->error_attitude);
    ff_json_number(json, "rebound_speed_mps", metrics->rebound_error[i]);
    ff_json_number(json, "peak_force_ratio", metrics->peak_force_ratio[i]);
    ff_json_number(json, "restitution_error", metrics->restitution_error[i]);
    ff_json_string(json, "contacts",
                   !metrics->compared            ? NULL
                   : isnan(metrics->diverged[i]) ? "paired"
                                                 : "trajectories have diverged");
    ff_json_number(json, "diverged_s", metrics->diverged[i]);
    ff_json_close(json, '}');
    ff_json_open(json, "contacts", '[');
    for (int n = 0; n < metrics->episodes; n++) {
        const ff_episode *e = &metrics->episode[n];
        const ff_contact *contact = &scenario->contact[e->contact];
        if (contact->body == i)
            contact_entry(json, metrics, n, 0);
        else if (contact->against == i)
            contact_entry(json, metrics, n, 1);
    }
    ff_json_close(json, ']');
    ff_json_open(json, "energy", '{');
    ff_json_number(json, "exchanged_J", m->energy.exchanged);
    ff_json_number(json, "delay_J", m->energy.delay);
    ff_json_number(json, "force_controller_J", m->energy.force_controller);
    ff_json_number(json, "velocity_controller_J", m->energy.velocity_controller);
    ff_json_number(json, "integration_J", m->energy.integration);
    ff_json_number(json, "loads_J", m->energy.loads);
    ff_json_number(json, "method_J", m->energy.method);
    if (scenario->satellite[i].arm.present)
        ff_json_number(json, "joints_J", m->energy.joints);
    ff_json_close(json, '}');
    ff_json_open(json, "passivity", '{');
    ff_json_vector(json, "observer_min_J", m->observer_min, m->observers);
    ff_json_number(json, "max_force_correction_N", m->max_force_correction);
    ff_json_number(json, "max_torque_correction_Nm", m->max_torque_correction);
    ff_json_number(json, "max_velocity_correction_mps", m->max_velocity_correction);
    ff_json_number(json, "max_angular_velocity_correction_radps", m->max_omega_correction);
    ff_json_close(json, '}');
    ff_json_open(json, "noise", '{');
    ff_json_number(json, "force_N", ff_metrics_noise(&m->force_noise));
    ff_json_number(json, "torque_Nm", ff_metrics_noise(&m->torque_noise));
    ff_json_close(json, '}');
    ff_json_open(json, "robot", '{');
    ff_json_open(json, "initial", '{');
    twist(json, "twist", &m->robot_initial);
    ff_json_close(json, '}');
    ff_json_open(json, "final", '{');
    ff_json_vec3(json, "position_m", m->robot_final.T.p);
    ff_json_quat(json, "attitude_wxyz", m->robot_final.T.q);
    twist(json, "twist", &m->robot_final);
    ff_json_close(json, '}');
    ff_json_number(json, "travel_m", m->travel);
    ff_json_number(json, "rotation_rad", m->rotation);
    ff_json_number(json, "max_tracking_error_m", m->tracking);
    ff_json_open(json, "formulations", '{');
    for (int w = 0; w < FF_MOTIONS; w++) {
        const ff_motion_metrics *motion = &m->motion[w];
        ff_json_open(json, w == FF_MOTION_ABSOLUTE ? "absolute" : "relative", '{');
        ff_json_number(json, "travel_m", motion->travel);
        ff_json_number(json, "rotation_rad", motion->rotation);
        ff_json_number(json, "path_m", motion->path);
        ff_json_number(json, "turned_rad", motion->turned);
        ff_json_number(json, "moving_s", motion->moving);
        ff_json_number(json, "ball_left_s", motion->ball);
        ff_json_close(json, '}');
    }
    ff_json_close(json, '}');
    ff_json_close(json, '}');
    ff_json_close(json, '}');
}

static void packets(ff_json *json, const ff_obsw_exchange_info *x) {
    ff_json_open(json, "packets", '{');
    ff_json_integer(json, "sent", (long long)x->sent);
    ff_json_integer(json, "taken", (long long)x->taken);
    ff_json_open(json, "refused", '{');
    for (int i = 0; i < FF_OBSW_REFUSALS; i++)
        ff_json_integer(json, ff_obsw_refusal_name((ff_obsw_refusal)i), (long long)x->refused[i]);
    ff_json_close(json, '}');
    ff_json_integer(json, "waited_out", (long long)x->waited_out);
    ff_json_number(json, "answer_mean_s", x->answer_mean_s);
    ff_json_number(json, "answer_max_s", x->answer_most);
    ff_json_number(json, "late_max_s", x->late_most);
    ff_json_close(json, '}');
}

/* A shared object's process; null: it did not happen. */
static void process(ff_json *json, const ff_obsw_shared_info *s) {
    ff_json_open(json, "process", '{');
    ff_json_integer(json, "steps_not_returned", (long long)s->stuck);
    ff_json_number(json, "not_returned_at_s", s->stuck ? s->stuck_at : FF_NAN);
    ff_json_number(json, "died_at_s", s->died ? s->died_at : FF_NAN);
    ff_json_number(json, "died_of_signal", s->died && s->died_signal ? s->died_signal : FF_NAN);
    ff_json_close(json, '}');
}

static void servicer(ff_json *json, const ff_metrics *metrics, const ff_run_result *run) {
    const ff_satellite *satellite = &metrics->scenario->satellite[ff_scenario_servicer(metrics->scenario)];
    const ff_servicer_metrics *m = &metrics->servicer;
    const ff_obsw_info *o = &run->obsw;
    ff_json_open(json, "obsw", '{');
    ff_json_string(json, "kind", ff_obsw_kind_name((ff_obsw_kind)satellite->obsw.kind));
    if (satellite->obsw.kind == FF_OBSW_UDP)
        ff_json_string(json, "mode", satellite->obsw.mode ? "free" : "lockstep");
    ff_json_integer(json, "cycles", (long long)o->steps);
    ff_json_integer(json, "missed", (long long)o->missed);
    ff_json_integer(json, "held", (long long)o->held);
    ff_json_integer(json, "zeroed", (long long)o->zeroed);
    ff_json_number(json, "longest_silence_s", o->longest_silence);
    if (satellite->obsw.kind == FF_OBSW_UDP)
        packets(json, &o->exchange);
    if (satellite->obsw.kind == FF_OBSW_SHARED)
        process(json, &o->shared);
    ff_json_close(json, '}');
    ff_json_open(json, "actuation", '{');
    ff_json_number(json, "max_force_N", m->max_force);
    ff_json_number(json, "max_torque_Nm", m->max_torque);
    ff_json_number(json, "max_force_asked_N", o->most_force);
    ff_json_number(json, "max_torque_asked_Nm", o->most_torque);
    ff_json_integer(json, "thrusters_saturated", (long long)m->thrust_saturated);
    ff_json_vector(json, "max_joint_torque_Nm", m->max_joint_torque, satellite->arm.joints);
    ff_json_vector(json, "max_motor_torque_Nm", m->max_motor_torque, satellite->arm.joints);
    ff_json_integer(json, "motors_saturated", (long long)m->motor_saturated);
    ff_json_close(json, '}');
    ff_json_open(json, "monitors", '{'); /* destefano2021, (24), (25), (28), (29) */
    ff_json_number(json, "W_c_start_J", m->W_c_start);
    ff_json_number(json, "W_c_drift_J", m->W_c_drift);
    ff_json_number(json, "W_a_max", m->W_a_most);
    ff_json_number(json, "W_a_rise_max", m->W_a_rise);
    ff_json_number(json, "W_a_rate_plus_delta_max", m->W_a_excess);
    ff_json_integer(json, "W_a_rises", (long long)m->W_a_rises);
    ff_json_integer(json, "W_a_cycles", (long long)m->W_a_cycles);
    ff_json_number(json, "port_energy_J", m->port_energy);
    ff_json_number(json, "port_power_min_W", m->port_power_min);
    ff_json_number(json, "port_power_max_W", m->port_power_max);
    ff_json_number(json, "bound_max", m->bound);
    ff_json_integer(json, "bound_violations", (long long)m->bound_violations);
    ff_json_close(json, '}');
}

/* How a run ended in which limits acted. */
static void safety(ff_json *json, const ff_scenario *scenario, const ff_run_safety *s) {
    const bool by_body = s->cause.code > FF_TRIP_FINISHED;
    ff_json_open(json, "safety", '{');
    ff_json_string(json, "state", ff_state_name(s->state));
    ff_json_string(json, "cause", ff_trip_name(s->cause.code));
    ff_json_string(json, "text", ff_trip_text(s->cause.code));
    if (*ff_trip_act(s->cause.code))
        ff_json_string(json, "act", ff_trip_act(s->cause.code));
    if (by_body) {
        ff_json_string(json, "satellite", scenario->satellite[s->cause.body].name);
        ff_json_number(json, "value", s->cause.value);
        ff_json_number(json, "limit", s->cause.limit);
        ff_json_string(json, "unit", ff_trip_unit(s->cause.code));
        ff_json_number(json, "time_s", s->ended);
    }
    ff_json_open(json, "satellites", '{');
    for (int i = 0; i < scenario->satellites; i++) {
        ff_json_open(json, scenario->satellite[i].name, '{');
        if (s->stopped[i]) {
            ff_json_string(json, "stop", ff_stop_text(s->why[i]));
            ff_json_bool(json, "retreated", s->retreated[i]);
        }
        ff_json_vec3(json, "position_m", s->rest[i].T.p);
        ff_json_vec3(json, "velocity_mps", s->rest[i].twist.v);
        ff_json_close(json, '}');
    }
    ff_json_close(json, '}');
    ff_json_close(json, '}');
}

/* A method from outside: which one it was, to the byte. */
static void library_entry(ff_json *json, const ff_scenario *scenario, const ff_method_library *library) {
    char settings[1024];
    ff_scenario_settings_text(scenario, settings, sizeof settings);
    ff_json_open(json, "method_library", '{');
    ff_json_string(json, "path", library->path);
    ff_json_string(json, "sha256", library->hash);
    ff_json_string(json, "version", scenario->method->version);
    ff_json_string(json, "settings", settings);
    ff_json_close(json, '}');
}

char *ff_summary_add(char *summary, const char *key, char *value) {
    char *end = strrchr(summary, '}');
    char *whole = value && end ? malloc(strlen(summary) + strlen(key) + strlen(value) + 32) : NULL;
    if (whole) {
        while (end > summary && (end[-1] == '\n' || end[-1] == ' '))
            end--;
        sprintf(whole, "%.*s,\n  \"%s\": %s\n}\n", (int)(end - summary), summary, key, value);
        free(summary);
        summary = whole;
    }
    free(value);
    return summary;
}

char *ff_summary_json(const ff_metrics *metrics, const ff_run_result *run) {
    const ff_scenario *scenario = metrics->scenario;
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "scenario", scenario->name);
    ff_json_string(&json, "method", ff_scenario_method_name(scenario));
    ff_json_string(&json, "integrator", ff_scheme_name(scenario->integrate.scheme));
    ff_json_string(&json, "version", ff_version());
    ff_json_integer(&json, "seed", (long long)scenario->seed);
    ff_json_number(&json, "cycle_s", scenario->cycle);
    ff_json_integer(&json, "cycles", (long long)run->cycles);
    ff_json_string(&json, "status", run->status < 0 ? run->message : "done");
    ff_json_open(&json, "satellites", '{');
    for (int i = 0; i < scenario->satellites; i++)
        satellite(&json, metrics, i);
    ff_json_close(&json, '}');
    ff_json_open(&json, "pairs", '{');
    for (int a = 0; a < scenario->satellites; a++)
        for (int b = a + 1; b < scenario->satellites; b++) {
            const ff_pair_metrics *p = &metrics->pair[a][b];
            char key[2 * FF_NAME_SIZE + 2];
            snprintf(key, sizeof key, "%s/%s", scenario->satellite[a].name, scenario->satellite[b].name);
            ff_json_open(&json, key, '{');
            ff_json_open(&json, "final", '{');
            ff_json_vec3(&json, "position_m", p->final.p);
            ff_json_quat(&json, "attitude_wxyz", p->final.q);
            ff_json_close(&json, '}');
            ff_json_open(&json, "error_vs_ideal", '{');
            ff_json_number(&json, "position_m", p->error_position);
            ff_json_number(&json, "attitude_rad", p->error_attitude);
            ff_json_close(&json, '}');
            ff_json_close(&json, '}');
        }
    ff_json_close(&json, '}');
    if (ff_scenario_servicer(scenario) >= 0)
        servicer(&json, metrics, run);
    if (run->reports)
        method_entry(&json, scenario->method, true, run->report);
    if (ff_scenario_library(scenario))
        library_entry(&json, scenario, ff_scenario_library(scenario));
    ff_json_open(&json, "timing", '{');
    ff_json_number(&json, "cycle_mean_ns", run->cycles ? run->cycle_mean_ns : FF_NAN);
    ff_json_number(&json, "cycle_max_ns", run->cycles ? run->cycle_max_ns : FF_NAN);
    ff_json_number(&json, "real_time_factor",
                   run->wall_s > 0.0 ? (double)run->cycles * scenario->cycle / run->wall_s : FF_NAN);
    ff_json_close(&json, '}');
    ff_json_open(&json, "counters", '{');
    ff_json_integer(&json, "held", (long long)run->info.held);
    ff_json_integer(&json, "not_finite", (long long)run->info.not_finite);
    ff_json_integer(&json, "stale", (long long)run->info.stale);
    ff_json_integer(&json, "saturated", (long long)run->info.saturated);
    ff_json_integer(&json, "limited", (long long)run->limited);
    ff_json_bool(&json, "all_contacts_listed", !metrics->more);
    ff_json_close(&json, '}');
    if (run->safety.watched)
        safety(&json, scenario, &run->safety);
    bool clocks = false;
    for (int i = 0; i < scenario->satellites; i++)
        clocks |= run->clock[i].known;
    if (clocks) { /* of a run on devices */
        ff_json_open(&json, "clocks", '{');
        for (int i = 0; i < scenario->satellites; i++) {
            const ff_run_clock *c = &run->clock[i];
            ff_json_open(&json, scenario->satellite[i].name, '{');
            ff_json_number(&json, "drift_ppm", c->known ? c->drift_ppm : FF_NAN);
            ff_json_number(&json, "residual_rms_s", c->known ? c->residual_s : FF_NAN);
            ff_json_number(&json, "residual_max_s", c->known ? c->largest_s : FF_NAN);
            ff_json_integer(&json, "restarts", (long long)c->restarts);
            ff_json_number(&json, "sensor_hz", c->sensor_hz > 0.0 ? c->sensor_hz : FF_NAN);
            ff_json_number(&json, "sensor_residual_rms_s", c->sensor_hz > 0.0 ? c->sensor_s : FF_NAN);
            ff_json_close(&json, '}');
        }
        ff_json_close(&json, '}');
    }
    ff_json_open(&json, "requirements", '[');
    for (int i = 0; i < FF_REQUIREMENTS; i++) {
        const ff_requirement_result *r = &metrics->requirement[i];
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "name", r->name);
        ff_json_number(&json, "limit", r->limit);
        ff_json_number(&json, "value", r->judged ? r->value : FF_NAN);
        ff_json_bool(&json, "judged", r->judged);
        ff_json_bool(&json, "met", r->met);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    ff_json_string(&json, "verdict", metrics->pass ? "pass" : "fail");
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}
