#include "campaign/metric.h"
#include "text/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- what there is -- */

typedef struct entry {
    const char *path;
    size_t offset;
    int components; /* 0: a number */
    bool ideal;
    const char *unit;
    bool changes; /* also in free flight after the last contact */
} entry;

#define BODY(field) offsetof(ff_body_metrics, field)
static const entry body_entries[] = {
    {"initial.kinetic_energy_J", BODY(initial_energy), 0, false, "J", false},
    {"final.kinetic_energy_J", BODY(final_energy), 0, false, "J", false},
    {"max_kinetic_energy_J", BODY(max_energy), 0, false, "J", false},
    {"final.position_m", BODY(final.position), 3, false, "m", true},
    {"final.attitude_wxyz", BODY(final.attitude), 4, false, "", true},
    {"final.velocity_mps", BODY(final.velocity), 3, false, "m/s", false},
    {"final.angular_velocity_radps", BODY(final.omega), 3, false, "rad/s", false},
    {"error_vs_ideal.velocity_mps", BODY(error_velocity), 0, true, "m/s", true},
    {"error_vs_ideal.angular_velocity_radps", BODY(error_omega), 0, true, "rad/s", true},
    {"error_vs_ideal.position_m", BODY(error_position), 0, true, "m", true},
    {"error_vs_ideal.attitude_rad", BODY(error_attitude), 0, true, "rad", true},
    {"passivity.max_force_correction_N", BODY(max_force_correction), 0, false, "N", false},
    {"passivity.max_velocity_correction_mps", BODY(max_velocity_correction), 0, false, "m/s", false},
    {"robot.travel_m", BODY(travel), 0, false, "m", true},
    {"robot.rotation_rad", BODY(rotation), 0, false, "rad", true},
    {"robot.max_tracking_error_m", BODY(tracking), 0, false, "m", true},
};

enum {
    CONTACT_START,
    CONTACT_END,
    CONTACT_DURATION,
    CONTACT_BEFORE,
    CONTACT_AFTER,
    CONTACT_VELOCITY_BEFORE,
    CONTACT_VELOCITY_AFTER,
    CONTACT_OMEGA_AFTER,
    CONTACT_FORCE,
    CONTACT_ROBOT_FORCE,
    CONTACT_IMPULSE,
    CONTACT_STIFFNESS,
    CONTACT_DAMPING,
    CONTACT_REPORT /* of ff_metric.column */
};
static const entry contact_entries[] = {
    {"start_s", CONTACT_START, 0, false, "s", false},
    {"end_s", CONTACT_END, 0, false, "s", false},
    {"duration_s", CONTACT_DURATION, 0, false, "s", false},
    {"speed_before_mps", CONTACT_BEFORE, 0, false, "m/s", false},
    {"speed_after_mps", CONTACT_AFTER, 0, false, "m/s", false},
    {"velocity_before_mps", CONTACT_VELOCITY_BEFORE, 3, false, "m/s", false},
    {"velocity_after_mps", CONTACT_VELOCITY_AFTER, 3, false, "m/s", false},
    {"angular_velocity_after_radps", CONTACT_OMEGA_AFTER, 3, false, "rad/s", false},
    {"peak_force_N", CONTACT_FORCE, 0, false, "N", false},
    {"peak_robot_force_N", CONTACT_ROBOT_FORCE, 0, false, "N", false},
    {"impulse_Ns", CONTACT_IMPULSE, 3, false, "N s", false},
    {"stiffness_Npm", CONTACT_STIFFNESS, 0, false, "N/m", false},
    {"damping_Nspm", CONTACT_DAMPING, 0, false, "N s/m", false},
};

enum {
    DERIVED_REBOUND_ERROR,
    DERIVED_REBOUND_RATIO,
    DERIVED_PEAK_FORCE_RATIO,
    DERIVED_OMEGA_TAU,
    DERIVED_RESTITUTION,
    DERIVED_ENERGY_RATIO,
    DERIVED_VELOCITY_ERROR,
    DERIVED_OMEGA_ERROR,
    DERIVED_CONTACTS,
    DERIVED_PASS,
    DERIVED_LIMIT /* and those after it: ff_limit */
};
static const entry derived_entries[] = {
    {"rebound_error", DERIVED_REBOUND_ERROR, 0, true, "m/s", false},
    {"rebound_ratio", DERIVED_REBOUND_RATIO, 0, true, "", false},
    {"peak_force_ratio", DERIVED_PEAK_FORCE_RATIO, 0, true, "", false},
    {"omega_tau", DERIVED_OMEGA_TAU, 0, false, "", false},
    {"restitution", DERIVED_RESTITUTION, 0, false, "", false},
    {"energy_ratio", DERIVED_ENERGY_RATIO, 0, false, "", false},
    {"velocity_error", DERIVED_VELOCITY_ERROR, 0, true, "m/s", true},
    {"angular_velocity_error", DERIVED_OMEGA_ERROR, 0, true, "rad/s", true},
    {"contacts", DERIVED_CONTACTS, 0, false, "", false},
    {"pass", DERIVED_PASS, 0, true, "", true},
    {"causal_limit", DERIVED_LIMIT + FF_LIMIT_CAUSAL, 0, false, "", false},
    {"causal_floor", DERIVED_LIMIT + FF_LIMIT_CAUSAL_FLOOR, 0, false, "", false},
    {"noise_limit", DERIVED_LIMIT + FF_LIMIT_NOISE, 0, false, "m/s", false},
    {"noise_figure", DERIVED_LIMIT + FF_LIMIT_NOISE_FIGURE, 0, false, "m/s", false},
    {"skew_limit", DERIVED_LIMIT + FF_LIMIT_SKEW, 0, false, "m/s", false},
    {"skew_share", DERIVED_LIMIT + FF_LIMIT_SKEW_SHARE, 0, false, "", false},
    {"direct_limit", DERIVED_LIMIT + FF_LIMIT_DIRECT, 0, false, "", false},
    {"samples_in_contact", DERIVED_LIMIT + FF_LIMIT_SAMPLES, 0, false, "", false},
    {"force_over_noise", DERIVED_LIMIT + FF_LIMIT_FORCE, 0, false, "", false},
};
#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* ------------------------------------------------------------------------------------------ parse -- */

/* The entry that `path` names, with its component. -1: none; -2: the component is missing or too large. */
static int find(const entry *table, int count, const char *path, int *component) {
    for (int i = 0; i < count; i++) {
        const size_t n = strlen(table[i].path);
        if (strncmp(path, table[i].path, n) != 0 || (path[n] != 0 && path[n] != '.'))
            continue;
        *component = 0;
        if (!table[i].components)
            return path[n] == 0 ? i : -1;
        if (path[n] != '.' || path[n + 1] < '0' || path[n + 1] >= '0' + table[i].components ||
            path[n + 2] != 0)
            return -2;
        *component = path[n + 1] - '0';
        return i;
    }
    return -1;
}

static const char *unit_by_suffix(const char *path) {
    static const char *const suffix[][2] = {
        {"_radps", "rad/s"}, {"_mps", "m/s"}, {"_Nspm", "N s/m"}, {"_Npm", "N/m"}, {"_Nm", "N m"},
        {"_rad", "rad"},     {"_m", "m"},     {"_s", "s"},        {"_N", "N"},     {"_J", "J"}};
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        const size_t m = strlen(suffix[i][0]);
        if (n > m && strcmp(path + n - m, suffix[i][0]) == 0)
            return suffix[i][1];
    }
    return "";
}

/* METHOD.COLUMN of a contact or of the run, for a vector with its component: what a method of this scenario
 * reports. FF_ERR_ARGUMENT: the path does not begin with the name of one. */
static ff_status parse_report(const ff_scenario *scenario, const char *path, const char *rest, bool run,
                              ff_metric *metric, char *message, size_t size) {
    const size_t n = strcspn(rest, ".");
    const ff_method *method = NULL;
    for (int m = 0; m < scenario->setups; m++)
        if (strlen(scenario->setup[m].method->name) == n &&
            strncmp(scenario->setup[m].method->name, rest, n) == 0)
            method = scenario->setup[m].method;
    if (!method || rest[n] != '.')
        return FF_ERR_ARGUMENT;
    rest += n + 1;
    const size_t length = strcspn(rest, ".");
    char names[400] = "";
    for (uint32_t c = 0; c < method->columns; c++) {
        const ff_report_column *column = &method->column[c];
        if (column->run != run)
            continue;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", column->name);
        if (strlen(column->name) != length || strncmp(column->name, rest, length) != 0)
            continue;
        const bool vector = column->type == FF_REPORT_VECTOR;
        if (column->type == FF_REPORT_CHOICE || column->type == FF_REPORT_FLAGS)
            return ff_refuse(FF_ERR_FORMAT, message, size, "'%s' is text, allowed: a number", path);
        if (vector ? rest[length] != '.' || !strchr("012", rest[length + 1]) || !rest[length + 1] ||
                         rest[length + 2]
                   : rest[length] != 0)
            return ff_refuse(FF_ERR_FORMAT, message, size, "'%s' is %s, allowed: %s", path,
                             vector ? "a list" : "one number",
                             vector ? "one component, e.g. '.0'" : "its name alone");
        metric->component = vector ? rest[length + 1] - '0' : 0;
        metric->method = method;
        metric->column = column->name;
        metric->unit = column->unit;
        return FF_OK;
    }
    return ff_refuse(FF_ERR_FORMAT, message, size,
                     "'%s': method '%s' reports no such number of %s, allowed: %s", path, method->name,
                     run ? "the run" : "a contact", *names ? names : "none");
}

/* A path that no table knows: look into the summary of a run that has just begun. */
static ff_status parse_text(const ff_scenario *scenario, const char *path, ff_metric *metric, char *message,
                            size_t size) {
    static const char *const changing[] = {"timing", "scenario", "method", "integrator", "version", "status"};
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++)
        if (strncmp(path, changing[i], strlen(changing[i])) == 0 &&
            strchr(".", path[strlen(changing[i])]) != NULL)
            return ff_refuse(FF_ERR_FORMAT, message, size,
                             "'%s' cannot be a metric (%s), allowed: a number that every rerun repeats", path,
                             i ? "it is text" : "times differ from run to run");
    ff_scenario *brief = malloc(sizeof *brief);
    ff_metrics metrics = {0};
    char *text = NULL;
    double value;
    ff_run_result result = {.status = FF_ERR_MEMORY};
    if (brief) {
        *brief = *scenario;
        brief->method = &ff_method_direct;
        brief->cycles = 1;
        if (ff_metrics_init(brief, &metrics) == FF_OK) {
            const ff_sink sink = ff_metrics_sink(&metrics);
            const ff_run_options options = {.sinks = &sink, .count = 1};
            ff_run(brief, &options, &result);
            ff_metrics_finish(&metrics, NULL, result.status);
            text = ff_summary_json(&metrics, &result);
        }
    }
    const bool has_text = text != NULL, found = text && ff_json_lookup(text, path, &value);
    free(text);
    ff_metrics_free(&metrics);
    free(brief);
    if (result.status == FF_ERR_MEMORY || !has_text)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory to look for '%s'", path);
    if (!found) {
        char names[400] = "";
        for (int i = 0; i < COUNT(derived_entries); i++) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, ", %s", derived_entries[i].path);
        }
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "no number '%s' in summary.json, allowed: a path such as "
                         "satellites.%s.contacts.0.speed_after_mps, or%s",
                         path, scenario->satellite[0].name, names + 1);
    }
    metric->kind = FF_METRIC_TEXT;
    metric->needs_ideal = strstr(path, "error_vs_ideal") || strncmp(path, "requirements", 12) == 0;
    metric->unit = unit_by_suffix(path);
    return FF_OK;
}

static ff_status parse_contact(const ff_scenario *scenario, const char *path, const char *rest,
                               ff_metric *metric, char *message, size_t size) {
    const size_t n = strcspn(rest, ".");
    if (n == 0 || n >= sizeof metric->contact || rest[n] != '.')
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "'%s' names no contact's value, allowed: contacts.0.speed_after_mps", path);
    char *end;
    metric->number = (int)strtol(rest, &end, 10);
    if (end != rest + n || metric->number < 0) {
        metric->number = -1;
        snprintf(metric->contact, sizeof metric->contact, "%.*s", (int)n, rest);
        bool known = false;
        for (int c = 0; c < scenario->contacts; c++)
            known = known || strcmp(scenario->contact[c].name, metric->contact) == 0;
        if (!known)
            return ff_refuse(FF_ERR_FORMAT, message, size,
                             "'%s': no contact is named '%s', allowed: a contact's name or number", path,
                             metric->contact);
    }
    metric->kind = FF_METRIC_CONTACT;
    metric->detailed = false;
    metric->settles = true;
    metric->code = CONTACT_REPORT;
    const ff_status reported = parse_report(scenario, path, rest + n + 1, false, metric, message, size);
    if (reported != FF_ERR_ARGUMENT)
        return reported;
    const int i = find(contact_entries, COUNT(contact_entries), rest + n + 1, &metric->component);
    if (i == -2)
        return ff_refuse(FF_ERR_FORMAT, message, size, "'%s' is a list, allowed: one component, e.g. '.0'",
                         path);
    if (i < 0) {
        char names[400] = "";
        for (int k = 0; k < COUNT(contact_entries); k++) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", k ? ", " : "", contact_entries[k].path);
        }
        return ff_refuse(FF_ERR_FORMAT, message, size, "'%s' is not a value of a contact, allowed: %s", path,
                         names);
    }
    metric->code = (int)contact_entries[i].offset;
    metric->unit = contact_entries[i].unit;
    return FF_OK;
}

/* As take_details in report/metrics.c. */
static bool is_detail(size_t offset) {
    static const size_t detail[] = {BODY(error_position), BODY(error_attitude), BODY(travel), BODY(rotation),
                                    BODY(tracking)};
    bool found = false;
    for (int i = 0; i < COUNT(detail); i++)
        found = found || offset == detail[i];
    return found;
}

ff_status ff_metric_parse(const ff_scenario *scenario, const char *name, const char *path, ff_metric *metric,
                          char *message, size_t size) {
    *metric = (ff_metric){.unit = ""};
    if (strlen(path) >= sizeof metric->path || strlen(name) >= sizeof metric->name)
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "'%.40s...' is too long, allowed: fewer than %zu bytes", path, sizeof metric->path);
    snprintf(metric->name, sizeof metric->name, "%s", name);
    snprintf(metric->path, sizeof metric->path, "%s", path);
    int i = find(derived_entries, COUNT(derived_entries), path, &metric->component);
    if (i >= 0) {
        metric->kind = FF_METRIC_DERIVED;
        metric->code = (int)derived_entries[i].offset;
        metric->needs_ideal = derived_entries[i].ideal;
        metric->unit = derived_entries[i].unit;
        metric->settles = !derived_entries[i].changes;
        metric->scenario_only = metric->code == DERIVED_OMEGA_TAU || metric->code == DERIVED_RESTITUTION ||
                                metric->code >= DERIVED_LIMIT;
        return FF_OK;
    }
    metric->kind = FF_METRIC_TEXT;
    metric->detailed = true;
    const ff_status reported = parse_report(scenario, path, path, true, metric, message, size);
    if (reported != FF_ERR_ARGUMENT)
        return reported;
    if (strncmp(path, "satellites.", 11) != 0)
        return parse_text(scenario, path, metric, message, size);
    const char *rest = path + 11;
    const size_t n = strcspn(rest, ".");
    metric->body = -1;
    for (int b = 0; b < scenario->satellites; b++)
        if (strlen(scenario->satellite[b].name) == n && strncmp(scenario->satellite[b].name, rest, n) == 0)
            metric->body = b;
    if (metric->body < 0 || rest[n] != '.')
        return ff_refuse(FF_ERR_FORMAT, message, size, "'%s': no satellite is named '%.*s', allowed: %s%s",
                         path, (int)n, rest, scenario->satellite[0].name,
                         scenario->satellites > 1 ? ", ..." : "");
    rest += n + 1;
    if (strncmp(rest, "contacts.", 9) == 0)
        return parse_contact(scenario, path, rest + 9, metric, message, size);
    const bool rebound = strcmp(rest, "error_vs_ideal.rebound_speed_mps") == 0;
    if (rebound || strcmp(rest, "error_vs_ideal.peak_force_ratio") == 0) {
        metric->kind = FF_METRIC_ERROR;
        metric->detailed = false;
        metric->settles = true;
        metric->code = rebound ? 0 : 1;
        metric->needs_ideal = true;
        metric->unit = rebound ? "m/s" : "";
        return FF_OK;
    }
    i = find(body_entries, COUNT(body_entries), rest, &metric->component);
    if (i == -2)
        return ff_refuse(FF_ERR_FORMAT, message, size, "'%s' is a list, allowed: one component, e.g. '.0'",
                         path);
    if (i < 0)
        return parse_text(scenario, path, metric, message, size);
    metric->kind = FF_METRIC_BODY;
    metric->offset = body_entries[i].offset + sizeof(double) * (size_t)metric->component;
    metric->needs_ideal = body_entries[i].ideal;
    metric->settles = !body_entries[i].changes;
    metric->detailed = is_detail(body_entries[i].offset);
    metric->unit = body_entries[i].unit;
    return FF_OK;
}

/* ------------------------------------------------------------------------------------ derived values -- */

/* Mobility of a body at a point along a direction: 1/m + (r x n) . J^-1 (r x n), all at the start. */
static double mobility(const ff_satellite *satellite, ff_vec3 r_b, ff_vec3 n_w) {
    ff_rigid_model model;
    if (ff_rigid_create(&satellite->rigid, &model) != FF_OK)
        return FF_NAN;
    const ff_vec3 n_b = ff_quat_unrotate(satellite->start.attitude, n_w);
    const ff_vec3 arm = ff_vec3_cross(r_b, n_b);
    /* J^-1 a is the angular acceleration that the torque a gives a body at rest */
    return model.mass_inv + ff_vec3_dot(arm, ff_rigid_angular_acceleration(&model, ff_vec3_zero(), arm));
}

double ff_effective_mass(const ff_scenario *scenario, const ff_contact *contact) {
    const ff_satellite *body = &scenario->satellite[contact->body];
    if (contact->kind == FF_CONTACT_STOPS)
        return body->rigid.mass;
    ff_vec3 n = contact->normal;
    if (contact->kind == FF_CONTACT_CONE || contact->kind == FF_CONTACT_GRASP)
        n = contact->axis;
    double sum;
    if (contact->against >= 0) {
        const ff_satellite *other = &scenario->satellite[contact->against];
        n = ff_quat_rotate(other->start.attitude, n);
        sum = mobility(body, contact->point, n) +
              mobility(other, contact->kind == FF_CONTACT_PAIR ? contact->at : contact->apex, n);
    } else
        sum = mobility(body, contact->point, n);
    return 1.0 / sum;
}

static double delay_of(const ff_robot_config *robot) {
    return robot->kind == FF_ROBOT_IDEAL ? 0.0 : robot->delay;
}

double ff_omega_tau(const ff_scenario *scenario) {
    if (!scenario->contacts)
        return FF_NAN;
    const ff_contact *contact = &scenario->contact[0];
    double delay = delay_of(&scenario->satellite[contact->body].robot);
    if (contact->against >= 0)
        delay = fmax(delay, delay_of(&scenario->satellite[contact->against].robot));
    return delay * sqrt(contact->stiffness / ff_effective_mass(scenario, contact));
}

/* Rebound speed over approach speed of the satellites' first contact (one degree of freedom, closed form).
 * m d'' + c d' + k d = 0 from d = 0, d' = 1 until the force k d + c d' ends. With a = c/2m, w0^2 = k/m,
 * wd^2 = w0^2 - a^2 the force is proportional to e^(-a t) ((w0^2 - 2 a^2) sin(wd t) + 2 a wd cos(wd t)). */
static double restitution(const ff_scenario *scenario) {
    if (!scenario->contacts)
        return FF_NAN;
    const ff_contact *contact = &scenario->contact[0];
    const double m = ff_effective_mass(scenario, contact), a = contact->satellite_damping / (2.0 * m),
                 w0 = contact->satellite_stiffness / m, wd2 = w0 - a * a;
    if (!(wd2 > 0.0))
        return FF_NAN;
    const double wd = sqrt(wd2), phase = FF_PI - atan2(2.0 * a * wd, w0 - 2.0 * a * a);
    return -exp(-a * phase / wd) * (cos(phase) - a / wd * sin(phase));
}

/* The nth episode of a contact. */
static const ff_episode *episode_of(const ff_metrics *metrics, int contact, int number) {
    for (int n = 0; n < metrics->episodes; n++)
        if (metrics->episode[n].contact == contact && number-- == 0)
            return &metrics->episode[n];
    return NULL;
}

/* Every contact that the reference finishes must have been finished by the run: without a rebound there is
 * no rebound speed, and no error of it. ratio: speed after the first contact over the reference's. */
static double rebound(const ff_metrics *metrics, const ff_ideal_result *ideal, bool ratio) {
    int number[FF_MAX_CONTACTS] = {0};
    double largest = FF_NAN;
    for (int i = 0; i < ideal->contacts; i++) {
        const ff_ideal_contact *x = &ideal->contact[i];
        const ff_episode *e = episode_of(metrics, x->contact, number[x->contact]++);
        if (isnan(x->end))
            continue;
        if (!e || isnan(e->end))
            return FF_NAN;
        const int sides = metrics->scenario->contact[x->contact].against >= 0 ? 2 : 1;
        for (int j = 0; j < sides; j++) {
            const double run = ff_vec3_norm(e->after[j].velocity), right = ff_vec3_norm(x->after[j].velocity);
            if (ratio)
                return run / right;
            if (!(fabs(run - right) <= largest))
                largest = fabs(run - right);
        }
    }
    return largest;
}

static double derived(const ff_metric *metric, const ff_metrics *metrics, const ff_ideal_result *ideal) {
    const ff_scenario *scenario = metrics->scenario;
    double value = 0.0, start = 0.0;
    switch (metric->code) {
    case DERIVED_REBOUND_ERROR:
    case DERIVED_REBOUND_RATIO:
        return ideal ? rebound(metrics, ideal, metric->code == DERIVED_REBOUND_RATIO) : FF_NAN;
    case DERIVED_PEAK_FORCE_RATIO:
        return ideal ? metrics->requirement[2].value : FF_NAN;
    case DERIVED_OMEGA_TAU:
        return ff_omega_tau(scenario);
    case DERIVED_RESTITUTION:
        return restitution(scenario);
    case DERIVED_ENERGY_RATIO:
        for (int i = 0; i < scenario->satellites; i++) {
            value += metrics->body[i].max_energy;
            start += metrics->body[i].initial_energy;
        }
        return start > 0.0 ? value / start : FF_NAN;
    case DERIVED_VELOCITY_ERROR:
        return ideal ? metrics->requirement[0].value : FF_NAN;
    case DERIVED_OMEGA_ERROR:
        return ideal ? metrics->requirement[1].value : FF_NAN;
    case DERIVED_CONTACTS:
        return metrics->episodes;
    case DERIVED_PASS:
        return metrics->pass ? 1.0 : 0.0;
    default:
        return ff_limit_value((ff_limit)(metric->code - DERIVED_LIMIT), scenario);
    }
}

static double contact_value(const ff_metric *metric, const ff_metrics *metrics) {
    const ff_scenario *scenario = metrics->scenario;
    int number = metric->number < 0 ? 0 : metric->number;
    for (int n = 0; n < metrics->episodes; n++) {
        const ff_episode *e = &metrics->episode[n];
        const ff_contact *contact = &scenario->contact[e->contact];
        if ((contact->body != metric->body && contact->against != metric->body) ||
            (metric->number < 0 && strcmp(contact->name, metric->contact) != 0) || number-- > 0)
            continue;
        const int side = contact->body == metric->body ? 0 : 1;
        const double *reported =
            metric->code == CONTACT_REPORT && e->reports && metric->method == scenario->method
                ? ff_method_value(metric->method, false, e->report, metric->column)
                : NULL;
        switch (metric->code) {
        case CONTACT_REPORT:
            return reported ? reported[metric->component] : FF_NAN;
        case CONTACT_START:
            return e->start;
        case CONTACT_END:
            return e->end;
        case CONTACT_DURATION:
            return e->end - e->start;
        case CONTACT_BEFORE:
            return ff_vec3_norm(e->before[side].velocity);
        case CONTACT_AFTER:
            return ff_vec3_norm(e->after[side].velocity);
        case CONTACT_VELOCITY_BEFORE:
            return e->before[side].velocity.a[metric->component];
        case CONTACT_VELOCITY_AFTER:
            return e->after[side].velocity.a[metric->component];
        case CONTACT_OMEGA_AFTER:
            return e->after[side].omega.a[metric->component];
        case CONTACT_FORCE:
            return e->peak_force[side];
        case CONTACT_ROBOT_FORCE:
            return e->peak_robot_force;
        case CONTACT_IMPULSE:
            return e->impulse[side].a[metric->component];
        case CONTACT_STIFFNESS:
            return e->stiffness;
        default:
            return e->damping;
        }
    }
    return FF_NAN;
}

double ff_metric_value(const ff_metric *metric, const ff_metrics *metrics, const ff_ideal_result *ideal,
                       const char *text) {
    double value = FF_NAN;
    switch (metric->kind) {
    case FF_METRIC_BODY:
        memcpy(&value, (const char *)&metrics->body[metric->body] + metric->offset, sizeof value);
        return value;
    case FF_METRIC_CONTACT:
        return contact_value(metric, metrics);
    case FF_METRIC_ERROR:
        return metric->code == 0 ? metrics->rebound_error[metric->body]
                                 : metrics->peak_force_ratio[metric->body];
    case FF_METRIC_DERIVED:
        return derived(metric, metrics, ideal);
    default:
        return text && ff_json_lookup(text, metric->path, &value) ? value : FF_NAN;
    }
}

bool ff_metric_share(const ff_metric *metric) {
    return metric->kind == FF_METRIC_DERIVED && metric->code == DERIVED_PASS;
}

double ff_metric_requirement(const ff_metric *metric, const ff_scenario *scenario) {
    const ff_requirements *r = &scenario->requirements;
    if (metric->kind == FF_METRIC_ERROR)
        return metric->code == 0 ? r->velocity_error : r->peak_force_ratio;
    if (metric->kind == FF_METRIC_BODY && metric->needs_ideal) {
        if (metric->offset == BODY(error_velocity))
            return r->velocity_error;
        return metric->offset == BODY(error_omega) ? r->angular_velocity_error : FF_NAN;
    }
    if (metric->kind != FF_METRIC_DERIVED)
        return FF_NAN;
    switch (metric->code) {
    case DERIVED_REBOUND_ERROR:
    case DERIVED_VELOCITY_ERROR:
        return r->velocity_error;
    case DERIVED_PEAK_FORCE_RATIO:
        return r->peak_force_ratio;
    case DERIVED_OMEGA_ERROR:
        return r->angular_velocity_error;
    default:
        return FF_NAN;
    }
}

/* --------------------------------------------------------------------------------------- JSON by path -- */

static const char *blank(const char *c) {
    while (*c == ' ' || *c == '\n' || *c == '\t' || *c == '\r')
        c++;
    return c;
}

static const char *skip_string(const char *c) {
    for (c++; *c && *c != '"'; c++)
        if (*c == '\\' && c[1])
            c++;
    return *c ? c + 1 : c;
}

/* Past one value; our own writer made the text, so brackets match. */
static const char *skip_value(const char *c) {
    int depth = 0;
    do {
        c = blank(c);
        if (*c == '"')
            c = skip_string(c);
        else if (*c == '{' || *c == '[') {
            depth++;
            c++;
        } else if (*c == '}' || *c == ']') {
            depth--;
            c++;
        } else if (depth && (*c == ',' || *c == ':'))
            c++;
        else
            c += strcspn(c, ",:]} \n\t\r");
    } while (*c && depth > 0);
    return c;
}

bool ff_json_lookup(const char *json, const char *path, double *value) {
    const char *c = blank(json);
    while (*path) {
        const size_t n = strcspn(path, ".");
        const bool map = *c == '{';
        if (!map && *c != '[')
            return false;
        const char close = map ? '}' : ']';
        char *end;
        long index = strtol(path, &end, 10);
        if (!map && end != path + n)
            return false;
        bool found = false;
        for (c = blank(c + 1); *c && *c != close; c = blank(c)) {
            bool here = !map && index-- == 0;
            if (map) {
                const char *key = c + 1;
                c = skip_string(c);
                here = (size_t)(c - key - 1) == n && strncmp(key, path, n) == 0;
                c = blank(c);
                c = blank(c + (*c == ':'));
            }
            if (here) {
                found = true;
                break;
            }
            c = blank(skip_value(c));
            c += *c == ',';
        }
        if (!found)
            return false;
        path += n + (path[n] == '.');
    }
    c = blank(c);
    if (strncmp(c, "null", 4) == 0) {
        *value = FF_NAN;
        return true;
    }
    if (strncmp(c, "true", 4) == 0 || strncmp(c, "false", 5) == 0) {
        *value = *c == 't';
        return true;
    }
    char *end;
    *value = strtod(c, &end);
    return end != c;
}
