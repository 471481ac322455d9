/* study/study_json.c - what the studies found as one JSON object each. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/contact_stability.h"
#include "study/delay_margin.h"
#include "study/workspace.h"
#include "text/json.h"

static void put_case(ff_json *json, const ff_delay_case *c) {
    ff_json_string(json, "status", ff_status_name(c->status));
    ff_json_number(json, "rebound", c->rebound);
    ff_json_number(json, "peak_force_N", c->peak_force);
    ff_json_number(json, "peak_force_ratio", c->peak_force_ratio);
    ff_json_number(json, "velocity_error_mps", c->velocity_error);
    ff_json_number(json, "angular_velocity_error_radps", c->angular_velocity_error);
    ff_json_bool(json, "met", c->met);
}

char *ff_delay_margin_json(const ff_scenario *s, const ff_delay_margin *m, const char *csv,
                           const char *html) {
    char sentence[512];
    ff_delay_margin_sentence(s, m, sentence, sizeof sentence);
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "scenario", s->name);
    ff_json_string(&json, "method", ff_scenario_method_name(s));
    ff_json_string(&json, "contact", s->contact[m->contact].name);
    ff_json_number(&json, "contact_start_s", m->start);
    ff_json_number(&json, "effective_mass_kg", m->mass);
    ff_json_number(&json, "stiffness_Npm", m->stiffness);
    ff_json_number(&json, "damping_Nspm", m->damping);
    ff_json_number(&json, "approach_speed_mps", m->speed);
    ff_json_number(&json, "frequency_radps", m->frequency);
    ff_json_number(&json, "robot_delay_s", m->robot_delay);
    ff_json_number(&json, "delay_s", m->delay);
    ff_json_number(&json, "w_tau", m->w_tau);
    ff_json_number(&json, "rebound_ideal", m->rebound_ideal);
    ff_json_number(&json, "peak_force_ideal_N", m->peak_ideal);
    ff_json_number(&json, "rebound_law", m->rebound_law);
    ff_json_number(&json, "delay_max_s", m->delay_max);
    bool go = false;
    ff_json_open(&json, "methods", '[');
    for (int i = 0; i < m->methods; i++) {
        const ff_delay_method *one = &m->method[i];
        go = go || (one->method == s->method && one->now.met);
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "method", one->method->name);
        ff_json_number(&json, "rebound_theory", one->rebound_theory);
        ff_json_number(&json, "peak_force_theory_N", one->peak_force_theory);
        put_case(&json, &one->now);
        ff_json_number(&json, "largest_delay_s", one->largest_delay);
        ff_json_bool(&json, "at_least", one->at_least);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    ff_json_open(&json, "map", '[');
    for (int i = 0; i < m->cells; i++) {
        const ff_delay_cell *c = &m->cell[i];
        ff_json_open(&json, NULL, '{');
        ff_json_string(&json, "method", c->method->name);
        ff_json_number(&json, "stiffness_Npm", c->stiffness);
        ff_json_number(&json, "delay_s", c->delay);
        ff_json_number(&json, "w_tau", c->w_tau);
        put_case(&json, &c->run);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, ']');
    ff_json_string(&json, "csv", csv);
    ff_json_string(&json, "html", html);
    ff_json_bool(&json, "go", go);
    ff_json_string(&json, "sentence", sentence);
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

static void put_span(ff_json *json, const char *key, const ff_workspace_span *s) {
    double deg[FF_ARM_AXES];
    const int axes = s->axes > 0 ? s->axes : 6;
    ff_json_open(json, key, '{');
    ff_json_number(json, "inside_from_s", s->from);
    ff_json_number(json, "outside_from_s", s->reason == FF_WORKSPACE_INSIDE ? FF_NAN : s->until);
    ff_json_number(json, "inside_s", isnan(s->from) ? 0.0 : s->until - s->from);
    ff_json_bool(json, "to_the_end", s->reason == FF_WORKSPACE_INSIDE && !isnan(s->from));
    ff_json_string(json, "reason", ff_workspace_reason_text(s->reason));
    ff_json_integer(json, "axis", s->axis);
    ff_json_number(json, "distance_m", s->distance);
    ff_json_number(json, "rotation_rad", s->rotation);
    ff_json_number(json, "travel_m", s->travel);
    ff_json_number(json, "turn_rad", s->turn);
    ff_json_number(json, "ball_left_s", s->ball);
    ff_json_number(json, "singularity_margin", s->margin);
    ff_json_bool(json, "placed", s->placed);
    ff_json_open(json, "base", '{');
    ff_json_vec3(json, "position_m", s->base.p);
    ff_json_quat(json, "attitude_wxyz", s->base.q);
    ff_json_close(json, '}');
    ff_json_open(json, "tool", '{');
    ff_json_vec3(json, "position_m", s->tool.p);
    ff_json_quat(json, "attitude_wxyz", s->tool.q);
    ff_json_close(json, '}');
    for (int i = 0; i < axes; i++)
        deg[i] = s->start.a[i] * 180.0 / FF_PI;
    ff_json_vector(json, "start_axes_deg", deg, (size_t)axes);
    ff_json_close(json, '}');
}

char *ff_workspace_json(const ff_scenario *s, const ff_workspace *w, const ff_workspace_config *config) {
    ff_json json;
    char sentence[512];
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "scenario", s->name);
    ff_json_string(&json, "arm", config->name);
    ff_json_number(&json, "duration_s", w->duration);
    ff_json_number(&json, "ball_m", config->ball);
    ff_json_open(&json, "satellites", '{');
    for (int i = 0; i < w->bodies; i++) {
        ff_json_open(&json, s->satellite[i].name, '{');
        put_span(&json, "absolute", &w->absolute[i]);
        put_span(&json, "relative", &w->relative[i]);
        ff_workspace_sentence(s, w, i, sentence, sizeof sentence);
        ff_json_string(&json, "sentence", sentence);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

/* One object of a bounded size: text in memory, appended to. */
typedef struct object {
    char *text;
    size_t length, size;
} object;

static void add(object *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(object *o, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    o->length += (size_t)vsnprintf(o->text + o->length, o->size - o->length, format, arguments);
    va_end(arguments);
}

static void add_number(object *o, const char *key, double value, const char *end) {
    if (isfinite(value))
        add(o, "\"%s\": %.15g%s", key, value, end);
    else
        add(o, "\"%s\": null%s", key, end);
}

char *ff_contact_stability_json(const ff_contact_stability_config *c, const ff_contact_stability *r,
                                bool asked, const ff_contact_stability_axes *axes) {
    enum { LINES = 32, LINE = 64 }; /* 13 numbers, two rows of up to six, one word: a line would hold each */
    object o = {.text = malloc(LINES * LINE), .size = LINES * LINE};
    if (!o.text)
        return NULL;
    add(&o, "{");
    add_number(&o, "velocity_gain", c->velocity_gain, ", ");
    add_number(&o, "position_gain", c->position_gain, ", ");
    add_number(&o, "bandwidth_radps", c->bandwidth, ", ");
    add_number(&o, "delay_s", c->delay, ", ");
    add_number(&o, "inertia_ratio", c->inertia_ratio, ",\n ");
    add_number(&o, "q_critical", r->q_critical, ", ");
    add_number(&o, "q_low", r->q_low, ", ");
    add_number(&o, "q_high", r->q_high, ",\n ");
    add_number(&o, "growth_rate", r->growth_rate, ", ");
    add_number(&o, "peak_transmissivity", r->peak_transmissivity, ", ");
    add_number(&o, "peak_frequency_radps", r->peak_frequency_radps, ",\n ");
    add_number(&o, "constraint_sensitivity_s2", r->constraint_sensitivity, ", ");
    add_number(&o, "force_sensitivity", r->force_sensitivity, ",\n ");
    if (axes->n > 1) {
        add(&o, "\"eigenvalues\": [");
        for (size_t i = 0; i < axes->n; i++)
            add(&o, "%s%.15g", i ? ", " : "", axes->value[i]);
        add(&o, "], \"worst_direction\": [");
        for (size_t i = 0; i < axes->n; i++)
            add(&o, "%s%.15g", i ? ", " : "", axes->direction[axes->worst][i]);
        add(&o, "],\n ");
    }
    add(&o, "\"stable\": %s}\n", !asked ? "null" : r->stable ? "true" : "false");
    return o.text;
}
