#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/table.h"
#include "catalog/library.h"
#include "analyze.h"
#include "facility/sensors.h"
#include "record/logfile.h"
#include "text/json.h"
#include "show.h"

static const char help[] =
    "usage: freefloat analyze log FILE --identify delay|contact|payload [options]\n\n"
    "What a recorded run (log.csv, log.mcap) says of the facility, each number with its standard deviation:\n"
    "  delay      the robot's pure delay, apart from its lag: command against robot pose\n"
    "  contact    stiffness and damping of what was touched: robot motion against measured force\n"
    "  payload    mass and centre of mass of the mock-up, and the sensor's bias: raw reading against "
    "gravity\n\n"
    "  --body NAME          only this satellite (default all)\n"
    "  --delay-max S        [s] delay: largest that is tried (default 0.5, at most a quarter of the log)\n"
    "  --skew S             [s] contact: by how much the force is older than the pose (default 0)\n"
    "  --scenario FILE      payload: gravity and the sensor's place from this scenario (an MCAP log brings "
    "its own)\n"
    "  --gravity X,Y,Z      [m/s2] payload: instead (default 0,0,-9.81)\n"
    "  --json               print one JSON object\n"
    "  --quiet              print nothing but errors\n\n"
    "exit status: 0 done, 1 nothing could be identified, 2 bad usage or log\n"
    "example: freefloat analyze log out/deos-client/log.csv --identify delay\n";

typedef struct request {
    const char *file, *what, *body;
    double delay_max, skew;
    ff_vec3 gravity;
    const ff_scenario *scenario; /* NULL: gravity as given, sensor at the CoM */
} request;

static void put(ff_json *json, const char *key, const char *key_sd, ff_estimate e) {
    ff_json_number(json, key, e.value);
    ff_json_number(json, key_sd, e.sd);
}

static ff_status delay(const request *r, const ff_log_table *t, int body, ff_json *json, char *line,
                       size_t size) {
    static const char *const lag[] = {"none", "first order", "second order"};
    ff_log_delay d;
    char message[200];
    const ff_status status = ff_log_identify_delay(t, body, r->delay_max, &d, message, sizeof message);
    if (status != FF_OK) {
        snprintf(line, size, "%s", message);
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

static ff_status contact(const request *r, const ff_log_table *t, int body, ff_json *json, char *line,
                         size_t size) {
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

static ff_status payload(const request *r, const ff_log_table *t, int body, ff_json *json, char *line,
                         size_t size) {
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

/* Goes through the bodies; one that says nothing does not silence the others. */
static int run(const request *r, const ff_log_table *t, bool json_wanted, bool quiet) {
    char line[512], lines[4][700];
    int count = 0, found = 0, asked = 0;
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "log", r->file);
    ff_json_string(&json, "identify", r->what);
    ff_json_open(&json, "satellites", '{');
    for (int b = 0; b < t->bodies; b++) {
        if (r->body && strcmp(r->body, t->body[b]) != 0)
            continue;
        asked++;
        ff_json_open(&json, t->body[b], '{');
        const ff_status status = strcmp(r->what, "delay") == 0 ? delay(r, t, b, &json, line, sizeof line)
                                 : strcmp(r->what, "contact") == 0
                                     ? contact(r, t, b, &json, line, sizeof line)
                                     : payload(r, t, b, &json, line, sizeof line);
        ff_json_string(&json, "sentence", line);
        ff_json_close(&json, '}');
        found += status == FF_OK;
        snprintf(lines[count++], sizeof lines[0], "%.150s: %s", t->body[b], line);
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    if (asked == 0)
        ff_cli_error("%s: no satellite '%s' in this log; it has '%s'", r->file, r->body, t->body[0]);
    else if (json_wanted && json.text)
        fputs(json.text, stdout);
    else if (!found)
        for (int i = 0; i < count; i++)
            ff_cli_error("%s: %s", r->file, lines[i]);
    else if (!quiet)
        for (int i = 0; i < count; i++)
            printf("%s\n", lines[i]);
    ff_json_free(&json);
    return asked == 0 ? FF_EXIT_USAGE : found ? FF_EXIT_DONE : FF_EXIT_FAILED;
}

static bool read_gravity(const char *text, ff_vec3 *g) {
    char part[64];
    for (int i = 0; i < 3; i++) {
        const size_t n = strcspn(text, ",");
        if (n == 0 || n >= sizeof part || (i < 2) != (text[n] == ','))
            return false;
        memcpy(part, text, n);
        part[n] = 0;
        if (!ff_cli_number(part, &g->a[i]))
            return false;
        text += n + 1;
    }
    return true;
}

/* The scenario that stands in an MCAP log, or NULL. */
static ff_session *own_scenario(const char *file) {
    ff_logfile log;
    char message[512];
    ff_session *session = calloc(1, sizeof *session);
    if (!session || ff_logfile_open(file, &log, message, sizeof message) != FF_OK) {
        free(session);
        return NULL;
    }
    const ff_status status =
        ff_logfile_scenario(&log, &ff_catalog_libraries, &session->scenario, message, sizeof message);
    ff_logfile_close(&log);
    if (status == FF_OK)
        return session;
    free(session);
    return NULL;
}

int ff_analyze_log(int argc, char **argv) {
    const char *file = NULL, *what = NULL, *body = NULL, *delay_max = NULL, *skew = NULL, *scenario = NULL,
               *gravity = NULL;
    int status;
    bool json = false, quiet = false;
    const ff_option options[] = {
        FF_OPT("--identify", &what),  FF_OPT("--body", &body),         FF_OPT("--delay-max", &delay_max),
        FF_OPT("--skew", &skew),      FF_OPT("--scenario", &scenario), FF_OPT("--gravity", &gravity),
        FF_OPT_FLAG("--json", &json), FF_OPT_FLAG("--quiet", &quiet),  {0}};
    if (ff_cli_parse(argc, argv, "analyze log", help, options, "log", &file, &status))
        return status;
    request r = {.file = file, .what = what, .body = body, .delay_max = FF_NAN, .gravity = {{0, 0, -9.81}}};
    if (!what ||
        (strcmp(what, "delay") != 0 && strcmp(what, "contact") != 0 && strcmp(what, "payload") != 0)) {
        ff_cli_error("freefloat analyze log: --identify '%s', allowed: delay, contact, payload",
                     what ? what : "");
        return FF_EXIT_USAGE;
    }
    if (delay_max && (!ff_cli_number(delay_max, &r.delay_max) || !(r.delay_max > 0.0))) {
        ff_cli_error("freefloat analyze log: --delay-max '%s', allowed: > 0 [s]", delay_max);
        return FF_EXIT_USAGE;
    }
    if (skew && (!ff_cli_number(skew, &r.skew) || !(r.skew >= 0.0))) {
        ff_cli_error("freefloat analyze log: --skew '%s', allowed: >= 0 [s]", skew);
        return FF_EXIT_USAGE;
    }
    if (gravity && !read_gravity(gravity, &r.gravity)) {
        ff_cli_error("freefloat analyze log: --gravity '%s', allowed: X,Y,Z [m/s2]", gravity);
        return FF_EXIT_USAGE;
    }
    ff_session *session = NULL;
    if (scenario) {
        session = ff_show_open(scenario, NULL, &status);
        if (!session)
            return status;
        r.scenario = &session->scenario;
    }
    ff_log_table table;
    char message[512] = "";
    if (!session && !gravity && strcmp(what, "payload") == 0) {
        session = own_scenario(file);
        r.scenario = session ? &session->scenario : NULL;
    }
    if (ff_log_table_read(file, &table, message, sizeof message) != FF_OK) {
        ff_cli_error("%s", message);
        status = FF_EXIT_USAGE;
    } else {
        status = run(&r, &table, json, quiet);
        ff_log_table_free(&table);
    }
    ff_session_close(session);
    return status;
}
