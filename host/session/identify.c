/* session/identify.c - the fits of fit/log.h on one log, in sentences and JSON. */
#include "session/identify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facility/sensors.h"
#include "record/logfile.h"
#include "record/table.h"
#include "text/json.h"

static const char *const words[] = {"delay", "contact", "payload"};

bool ff_log_identify_parse(const char *word, ff_log_identify_what *what) {
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *what = (ff_log_identify_what)i;
            return true;
        }
    return false;
}

static void put(ff_json *json, const char *key, const char *key_sd, ff_estimate e) {
    ff_json_number(json, key, e.value);
    ff_json_number(json, key_sd, e.sd);
}

static ff_status delay(const ff_log_identify_config *r, const ff_log_table *t, int body, ff_json *json,
                       char *line, size_t size) {
    static const char *const lag[] = {"none", "first order", "second order"};
    ff_log_delay d;
    char message[200];
    const ff_status status = ff_log_identify_delay(t, body, r->delay_max, &d, message, sizeof message);
    if (status != FF_OK) {
        snprintf(line, size, "%s%s", message, d.rows ? ": a larger delay-max is needed" : "");
        return status;
    }
    put(json, "delay_s", "delay_sd_s", d.delay);
    ff_json_string(json, "lag", lag[d.lag]);
    put(json, "lag_time_s", "lag_time_sd_s", d.time);
    put(json, "lag_frequency_Hz", "lag_frequency_sd_Hz", d.frequency);
    put(json, "lag_damping", "lag_damping_sd", d.damping);
    ff_json_number(json, d.rotation ? "residual_rad" : "residual_m", d.residual);
    ff_json_integer(json, "rows", (long long)d.rows);
    int n = snprintf(line, size, "delay %.3f +- %.3f ms", 1e3 * d.delay.value, 1e3 * d.delay.sd);
    if (d.lag == FF_LOG_LAG_FIRST)
        n += snprintf(line + n, size - (size_t)n, ", first-order lag %.3f +- %.3f ms", 1e3 * d.time.value,
                      1e3 * d.time.sd);
    if (d.lag == FF_LOG_LAG_SECOND)
        n += snprintf(line + n, size - (size_t)n,
                      ", second-order lag %.4g +- %.2g Hz, damping ratio %.3g +- %.2g", d.frequency.value,
                      d.frequency.sd, d.damping.value, d.damping.sd);
    if (d.lag == FF_LOG_LAG_NONE)
        n += snprintf(line + n, size - (size_t)n, ", no lag");
    snprintf(line + n, size - (size_t)n, "; the model leaves %.2g %s rms", d.residual,
             d.rotation ? "rad" : "m");
    return FF_OK;
}

static ff_status contact(const ff_log_identify_config *r, const ff_log_table *t, int body, ff_json *json,
                         char *line, size_t size) {
    ff_log_contact c;
    char message[200];
    const ff_status status = ff_log_identify_contact(t, body, r->skew, &c, message, sizeof message);
    if (status != FF_OK) {
        snprintf(line, size, "%s", message);
        return status;
    }
    put(json, "stiffness_Npm", "stiffness_sd_Npm", c.stiffness);
    put(json, "damping_Nspm", "damping_sd_Nspm", c.damping);
    ff_json_vec3(json, "point_m", c.point);
    ff_json_string(json, "against", c.other >= 0 ? t->body[c.other] : NULL);
    ff_json_integer(json, "contacts", c.contacts);
    ff_json_integer(json, "rows", (long long)c.rows);
    ff_json_number(json, "residual_N", c.residual);
    snprintf(line, size,
             "stiffness %.6g +- %.2g N/m, damping %.4g +- %.2g N s/m from %d contact%s with %s; the model "
             "leaves %.2g N rms",
             c.stiffness.value, c.stiffness.sd, c.damping.value, c.damping.sd, c.contacts,
             c.contacts == 1 ? "" : "s", c.other >= 0 ? t->body[c.other] : "the lab", c.residual);
    return FF_OK;
}

static ff_status payload(const ff_log_identify_config *r, const ff_log_table *t, int body, ff_json *json,
                         char *line, size_t size) {
    ff_log_payload p;
    char message[200];
    ff_vec3 gravity = r->gravity;
    ff_pose T_bs = ff_pose_identity();
    for (int i = 0; r->scenario && i < r->scenario->satellites; i++)
        if (strcmp(r->scenario->satellite[i].name, t->body[body]) == 0) {
            ff_wrench_config frames;
            ff_sensor_frames(r->scenario, i, &frames);
            gravity = frames.gravity_w;
            T_bs = frames.T_bs;
        }
    const ff_status status = ff_log_identify_payload(t, body, gravity, T_bs, &p, message, sizeof message);
    if (status != FF_OK) {
        snprintf(line, size, "%s", message);
        return status;
    }
    const double com[3] = {p.com[0].value, p.com[1].value, p.com[2].value},
                 sd[3] = {p.com[0].sd, p.com[1].sd, p.com[2].sd};
    put(json, "mass_kg", "mass_sd_kg", p.mass);
    ff_json_vector(json, "com_m", com, 3);
    ff_json_vector(json, "com_sd_m", sd, 3);
    ff_json_vec3(json, "bias_force_N", p.bias.f);
    ff_json_vec3(json, "bias_torque_Nm", p.bias.t);
    ff_json_vec3(json, "bias_force_sd_N", p.bias_sd.f);
    ff_json_vec3(json, "bias_torque_sd_Nm", p.bias_sd.t);
    ff_json_number(json, "turned_rad", p.turned);
    ff_json_integer(json, "rows", (long long)p.rows);
    ff_json_number(json, "residual_N", p.residual_force);
    ff_json_number(json, "residual_Nm", p.residual_torque);
    snprintf(line, size,
             "mock-up %.5g +- %.2g kg, CoM [%.5f, %.5f, %.5f] +- %.1e m, sensor bias [%.4g, %.4g, %.4g] N",
             p.mass.value, p.mass.sd, com[0], com[1], com[2], fmax(sd[0], fmax(sd[1], sd[2])), p.bias.f.x,
             p.bias.f.y, p.bias.f.z);
    return FF_OK;
}

/* The bodies that are asked for. Returns of how many something was found. */
static int fit_bodies(const ff_log_identify_config *r, const ff_log_table *t, ff_log_identified *out) {
    static ff_status (*const fit[])(const ff_log_identify_config *, const ff_log_table *, int, ff_json *,
                                    char *, size_t) = {delay, contact, payload};
    char line[512];
    int found = 0;
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "log", r->file);
    ff_json_string(&json, "identify", words[r->what]);
    ff_json_open(&json, "satellites", '{');
    for (int b = 0; b < t->bodies; b++) {
        if (r->body && strcmp(r->body, t->body[b]) != 0)
            continue;
        ff_json_open(&json, t->body[b], '{');
        found += fit[r->what](r, t, b, &json, line, sizeof line) == FF_OK;
        ff_json_string(&json, "sentence", line);
        ff_json_close(&json, '}');
        snprintf(out->line[out->bodies++], sizeof out->line[0], "%.150s: %s", t->body[b], line);
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    out->json = ff_json_take(&json);
    return found;
}

/* The scenario that stands in an MCAP log, malloc'ed; NULL: there is none. FF_ERR_MEMORY. */
static ff_status own_scenario(const ff_log_identify_config *config, ff_scenario **own) {
    ff_logfile log;
    char message[512];
    ff_scenario *scenario = malloc(sizeof *scenario);
    *own = NULL;
    if (!scenario)
        return FF_ERR_MEMORY;
    ff_status status = ff_logfile_open(config->file, &log, message, sizeof message);
    if (status == FF_OK) {
        status = ff_logfile_scenario(&log, config->catalog, scenario, message, sizeof message);
        ff_logfile_close(&log);
    }
    if (status == FF_OK)
        *own = scenario;
    else
        free(scenario);
    return status == FF_ERR_MEMORY ? FF_ERR_MEMORY : FF_OK;
}

/* The fits on a table, and what they come to. */
static ff_outcome identify(const ff_log_identify_config *config, const ff_log_table *table,
                           ff_log_identified *out, ff_notes *notes) {
    const int found = fit_bodies(config, table, out);
    if (out->bodies)
        return found ? FF_DONE : FF_FAILED;
    free(out->json);
    out->json = NULL;
    return ff_notes_error(notes, FF_REFUSED, "%s: no satellite '%s' in this log; it has '%s'", config->file,
                          config->body, table->body[0]);
}

ff_outcome ff_log_identify(const ff_log_identify_config *config, ff_log_identified *out, ff_notes *notes) {
    *out = (ff_log_identified){0};
    if (config->table)
        return identify(config, config->table, out, notes);
    ff_log_table table;
    char message[512] = "";
    if (ff_log_table_read(config->file, &table, message, sizeof message) != FF_OK)
        return ff_notes_error(notes, FF_REFUSED, "%s", message);
    if (*message)
        ff_notes_warning(notes, "warning: %s", message);
    ff_log_identify_config c = *config;
    ff_scenario *own = NULL;
    if (config->own && own_scenario(config, &own) != FF_OK) {
        ff_log_table_free(&table);
        return ff_notes_error(notes, FF_REFUSED, "%s: no memory for its scenario", config->file);
    }
    if (own)
        c.scenario = own;
    const ff_outcome outcome = identify(&c, &table, out, notes);
    ff_log_table_free(&table);
    free(own);
    return outcome;
}
