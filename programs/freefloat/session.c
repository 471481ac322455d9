#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/csv.h"
#include "report/geometry.h"
#include "obsw/udp.h"
#include "ideal/orbit.h"
#include "text/file.h"

ff_session *ff_session_open(const char *path, const ff_scenario_options *options, int *status) {
    ff_session *session = malloc(sizeof *session);
    *status = session ? ff_session_load(session, path, options) : FF_EXIT_FAILED;
    if (*status == FF_EXIT_DONE)
        return session;
    free(session);
    return NULL;
}

void ff_session_close(ff_session *session) {
    if (session)
        ff_session_free(session);
    free(session);
}

int ff_session_load(ff_session *session, const char *path, const ff_scenario_options *options) {
    char message[1024], warnings[4096];
    *session = (ff_session){0};
    const ff_status status = ff_scenario_load(path, options, &session->scenario, message, sizeof message,
                                              warnings, sizeof warnings);
    ff_cli_warn_lines(warnings);
    if (status < 0) {
        ff_cli_error("%s", message);
        return FF_EXIT_USAGE;
    }
    snprintf(session->label, sizeof session->label, "%s", ff_scenario_method_name(&session->scenario));
    session->path = path;
    session->method = options ? options->method : NULL;
    for (int i = 0; options && i < options->sets && i < FF_LOG_MAX_SETS; i++)
        session->set[session->sets++] = options->set[i];
    return FF_EXIT_DONE;
}

char *ff_session_folder(const char *out, const char *name, const char *sub) {
    char *path = malloc(4096);
    if (!path)
        return NULL;
    int n = snprintf(path, 4096, "%s", out ? out : "out/");
    const char *parts[2] = {out ? NULL : name, sub};
    for (int p = 0; p < 2; p++) {
        if (!parts[p])
            continue;
        if (p == 1 && n < 4094)
            path[n++] = '/';
        for (const char *c = parts[p]; *c && n < 4094; c++) {
            const bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                               (*c >= '0' && *c <= '9') || strchr("_=:-+,", *c) ||
                               (*c == '.' && c != parts[p]);
            path[n++] = plain ? *c : '_';
        }
        path[n] = 0;
    }
    return path;
}

int ff_make_folder(const char *path) {
    if (ff_folder_make(path) == FF_OK)
        return 0;
    ff_cli_error("%s: cannot write into this folder (%s); choose another with --out", path, strerror(errno));
    return -1;
}

int ff_write_whole(const char *folder, const char *name, const char *text) {
    char path[FF_FILE_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (ff_file_replace(path, text) == FF_OK)
        return 0;
    ff_cli_error("%s: cannot be written (%s)", path, strerror(errno));
    return -1;
}

/* The reference takes the first third of the bar, the run the rest. */
static int solve_ideal(ff_session *session, ff_progress *progress) {
    char message[224] = ""; /* the run's own message holds it behind its first words */
    ff_progress_phase(progress, 0.0, 0.3, 0.0, "");
    const ff_status status =
        ff_scenario_servicer(&session->scenario) >= 0
            ? ff_orbit_solve(&session->scenario, ff_obsw_udp_open, &session->ideal, message, sizeof message)
            : ff_ideal_solve(&session->scenario, ff_progress_update, progress, &session->ideal, message,
                             sizeof message);
    if (status >= 0)
        return FF_EXIT_DONE;
    ff_progress_stop(progress);
    ff_cli_error("%s: the ideal reference failed: %s", session->scenario.name,
                 *message ? message : ff_status_text(status));
    session->run.status = status;
    snprintf(session->run.message, sizeof session->run.message, "the ideal reference failed: %s",
             *message ? message : ff_status_text(status));
    return FF_EXIT_FAILED;
}

/* The scenario's text, malloc'ed; NULL when it cannot be read twice (a pipe). */
static char *read_again(const char *path, size_t *length) {
    struct stat info;
    char *text = NULL;
    *length = 0;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        ff_file_read(path, (size_t)info.st_size, &text, length, NULL, 0);
    return text;
}

/* Written in place, not renamed at the end: what is flushed shall survive a kill. */
static ff_status open_log(const ff_session *session, const char *path, ff_log *log) {
    ff_log_source source = {
        .path = session->path, .set = session->set, .sets = session->sets, .method = session->method};
    char *text = read_again(session->path, &source.length), *model[FF_MAX_MODELS] = {NULL};
    source.text = text;
    for (int i = 0; i < session->scenario.models; i++) { /* names start from the scenario's folder */
        char place[4400];
        const char *name = session->scenario.model[i], *slash = strrchr(session->path, '/');
        const int folder = *name != '/' && slash ? (int)(slash - session->path) + 1 : 0;
        snprintf(place, sizeof place, "%.*s%s", folder, session->path, name);
        source.model_text[i] = model[i] = read_again(place, &source.model_length[i]);
    }
    const ff_status status = ff_log_open(path, &session->scenario, &source, log);
    for (int i = 0; i < FF_MAX_MODELS; i++)
        free(model[i]);
    free(text);
    return status;
}

int ff_session_execute(ff_session *session, const ff_session_options *options) {
    if (session->scenario.emulates)
        return ff_session_emulate(session, options);
    char csv_path[FF_FILE_PATH], mcap_path[FF_FILE_PATH];
    if (options->out && ff_make_folder(options->out) != 0)
        return FF_EXIT_USAGE;
    snprintf(csv_path, sizeof csv_path, "%s/log.csv", options->out ? options->out : "");
    snprintf(mcap_path, sizeof mcap_path, "%s/log.mcap", options->out ? options->out : "");
    ff_progress progress;
    ff_progress_start(&progress, session->label, options->quiet);
    int result = solve_ideal(session, &progress);
    if (ff_metrics_init(&session->scenario, &session->metrics) != FF_OK) {
        ff_cli_error("no memory");
        return FF_EXIT_FAILED;
    }
    if (result != FF_EXIT_DONE) { /* there is nothing to compare with: the summary says why */
        ff_metrics_finish(&session->metrics, NULL, session->run.status);
        session->summary = ff_summary_json(&session->metrics, &session->run);
        if (options->out && session->summary)
            ff_write_whole(options->out, "summary.json", session->summary);
        return result;
    }
    ff_csv csv = {0};
    ff_sink sinks[5] = {ff_metrics_sink(&session->metrics)};
    int count = 1;
    if (options->out) {
        if (ff_report_collector_init(&session->scenario, &session->report) != FF_OK) {
            ff_cli_error("no memory");
            return FF_EXIT_FAILED;
        }
        sinks[count++] = ff_report_collector_sink(&session->report);
    }
    if (options->extra.row)
        sinks[count++] = options->extra;
    const bool log = options->out && options->csv;
    if (log) {
        if (ff_csv_open(csv_path, &session->scenario, &csv) != FF_OK) {
            ff_cli_error("%s: cannot be written (%s)", csv_path, strerror(errno));
            return FF_EXIT_USAGE;
        }
        sinks[count++] = ff_csv_sink(&csv);
    }
    ff_log mcap = {0};
    const bool log_mcap = options->out && options->mcap;
    if (log_mcap) {
        if (open_log(session, mcap_path, &mcap) != FF_OK) {
            ff_cli_error("%s: cannot be written (%s)", mcap_path, strerror(errno));
            return FF_EXIT_USAGE;
        }
        sinks[count++] = ff_log_sink(&mcap);
    }
    ff_progress_phase(&progress, 0.3, 1.0, (double)session->scenario.cycles, "cycles");
    const ff_run_options run = {.ideal = &session->ideal,
                                .sinks = sinks,
                                .count = count,
                                .timing = true,
                                .progress = ff_progress_update,
                                .user = &progress,
                                .between = options->between,
                                .between_user = options->between_user,
                                .opener = ff_obsw_udp_open};
    if (options->runner)
        options->runner(options->runner_self, &session->scenario, &run, &session->run);
    else
        ff_run(&session->scenario, &run, &session->run);
    ff_progress_stop(&progress);
    if (log_mcap && ff_log_close(&mcap) < 0) {
        ff_cli_error("%s: cannot be written (%s); what was flushed before can be read", mcap_path,
                     strerror(errno ? errno : ENOSPC));
        result = FF_EXIT_FAILED;
    }
    if (log && ff_csv_close(&csv, session->run.status != FF_ERR_IO) < 0) {
        ff_cli_error("%s: cannot be written (%s)", csv_path, strerror(errno));
        result = FF_EXIT_FAILED;
    }
    if (session->run.status == FF_ERR_UNSUPPORTED) {
        ff_cli_error("%s: %s", session->scenario.name, session->run.message);
        return FF_EXIT_USAGE;
    }
    if (session->run.status < 0 && result == FF_EXIT_DONE) {
        ff_cli_error("%s: the run failed: %s", session->scenario.name, session->run.message);
        result = FF_EXIT_FAILED;
    }
    ff_metrics_finish(&session->metrics, &session->ideal, session->run.status);
    session->summary = ff_summary_json(&session->metrics, &session->run);
    if (options->extend && session->summary)
        session->summary = options->extend(options->runner_self, session->summary);
    if (options->out && session->summary &&
        ff_write_whole(options->out, "summary.json", session->summary) != 0)
        result = FF_EXIT_FAILED;
    return result;
}

int ff_session_report(const ff_session *const *sessions, int count, const char *folder) {
    const char *scenario = count > 0 ? sessions[0]->scenario.name : "";
    ff_report_run *runs = calloc((size_t)count + 1, sizeof *runs);
    char **geometry = calloc((size_t)count + 1, sizeof *geometry);
    char path[4400], title[2 * FF_NAME_SIZE + 32];
    snprintf(path, sizeof path, "%s/report.html", folder);
    if (count == 1)
        snprintf(title, sizeof title, "%s, %s", scenario, sessions[0]->label);
    else
        snprintf(title, sizeof title, "%s, %d methods", scenario, count);
    ff_status status = runs && geometry ? FF_OK : FF_ERR_MEMORY;
    for (int i = 0; i < count && !status; i++) {
        geometry[i] = ff_report_geometry(&sessions[i]->scenario, sessions[i]->devices);
        runs[i] = (ff_report_run){.label = sessions[i]->label,
                                  .summary = sessions[i]->summary,
                                  .series = sessions[i]->report.series,
                                  .geometry = geometry[i]};
    }
    if (!status)
        status = ff_report_write(path, title, runs, count);
    for (int i = 0; geometry && i < count; i++)
        free(geometry[i]);
    free(geometry);
    free(runs);
    if (!status)
        return 0;
    ff_cli_error("%s: %s", path, ff_status_text(status));
    return -1;
}

void ff_session_free(ff_session *session) {
    ff_emulate_free(&session->emulation);
    ff_report_collector_free(&session->report);
    ff_ideal_free(&session->ideal);
    ff_metrics_free(&session->metrics);
    free(session->summary);
    session->summary = NULL;
}

enum { SHOWN_CONTACTS = 12 };

typedef struct cell {
    char text[64];
} cell;

/* A number, or "-" where there is none. */
static cell number(double value, int digits) {
    cell c = {"-"};
    if (isfinite(value))
        snprintf(c.text, sizeof c.text, "%.*f", digits, value);
    return c;
}

/* What each contact was, once for both satellites of a pair. */
static void print_contacts(const ff_metrics *metrics) {
    ff_table table;
    ff_table_init(&table, 9);
    ff_table_add(&table,
                 "contact|start s|restitution|CoV|CoF|point m|stiffness N/m|damping N s/m|frequency Hz");
    for (int n = 0; n < metrics->episodes; n++) {
        const ff_episode *e = &metrics->episode[n];
        if (n == SHOWN_CONTACTS) {
            ff_table_add(&table, "...");
            break;
        }
        ff_episode_info info;
        ff_metrics_episode(metrics, n, &info);
        cell point = {"-"}, damping = number(e->damping, 1);
        if (ff_vec3_finite(info.point[0]))
            snprintf(point.text, sizeof point.text, "%.3f %.3f %.3f", info.point[0].x, info.point[0].y,
                     info.point[0].z);
        if (isfinite(e->damping) && isfinite(e->damping_sd))
            snprintf(damping.text, sizeof damping.text, "%.1f +- %.1f", e->damping, e->damping_sd);
        ff_table_add(&table, "%s|%.3f|%s|%s|%s|%s|%s|%s|%s", metrics->scenario->contact[e->contact].name,
                     e->start, number(info.restitution, 4).text, number(info.cov, 4).text,
                     number(info.cof, 4).text, point.text, number(e->stiffness, 0).text, damping.text,
                     number(info.frequency, 3).text);
    }
    if (metrics->episodes)
        ff_table_print(&table);
    ff_table_free(&table);
}

static void print_satellite(const ff_metrics *metrics, int i) {
    const ff_scenario *scenario = metrics->scenario;
    ff_table table;
    ff_table_init(&table, 9);
    ff_table_add(&table,
                 "contact|start s|end s|duration s|speed before m/s|speed after m/s|force N|robot force "
                 "N|impulse N s");
    int shown = 0;
    for (int n = 0; n < metrics->episodes; n++) {
        const ff_episode *e = &metrics->episode[n];
        const ff_contact *contact = &scenario->contact[e->contact];
        if (contact->body != i && contact->against != i)
            continue;
        const int side = contact->body == i ? 0 : 1;
        if (shown++ == SHOWN_CONTACTS) {
            ff_table_add(&table, "...");
            break;
        }
        ff_table_add(&table, "%s|%.3f|%s|%s|%.5f|%.5f|%.2f|%.2f|%.3f", contact->name, e->start,
                     isnan(e->end) ? "open" : number(e->end, 3).text, number(e->end - e->start, 3).text,
                     ff_vec3_norm(e->before[side].velocity), ff_vec3_norm(e->after[side].velocity),
                     e->peak_force[side], e->peak_robot_force, ff_vec3_norm(e->impulse));
    }
    if (shown)
        ff_table_print(&table);
    else
        printf("no contact\n");
    if (metrics->more)
        printf("later contacts are not listed: more than %d\n", FF_MAX_EPISODES);
    ff_table_free(&table);
    const ff_body_metrics *m = &metrics->body[i];
    printf("energy %.6g J at start, %.6g J at end, maximum %.6g J\n", m->initial_energy, m->final_energy,
           m->max_energy);
    const double force = ff_metrics_noise(&m->force_noise), torque = ff_metrics_noise(&m->torque_noise);
    if (!isnan(force))
        printf("sensor's noise, measured: %.3g N, %.3g N m per axis\n", force, torque);
}

static void print_servicer(const ff_session *session) {
    const ff_satellite *satellite = &session->scenario.satellite[ff_scenario_servicer(&session->scenario)];
    const ff_servicer_metrics *m = &session->metrics.servicer;
    const ff_obsw_info *o = &session->run.obsw;
    double motor = 0.0;
    for (int i = 0; i < satellite->arm.joints; i++)
        motor = fmax(motor, m->max_motor_torque[i]);
    printf("on-board software (%s): %llu cycles, %llu without a good answer; the last one acted in %llu, "
           "nothing in %llu\n",
           ff_obsw_kind_name((ff_obsw_kind)satellite->obsw.kind), (unsigned long long)o->steps,
           (unsigned long long)o->missed, (unsigned long long)o->held, (unsigned long long)o->zeroed);
    char text[200];
    if (ff_obsw_shared_text(&o->shared, satellite->obsw.timeout, text, sizeof text))
        printf("%s\n", text);
    bool any = false;
    for (int i = 0; i < FF_OBSW_REFUSALS; i++)
        if (o->exchange.refused[i]) {
            printf("%s %s %llu", any ? "," : "packets refused:", ff_obsw_refusal_name((ff_obsw_refusal)i),
                   (unsigned long long)o->exchange.refused[i]);
            any = true;
        }
    if (any)
        printf("\n");
    printf("thrusters: maximum %.4g N, %.4g N m, saturated in %llu cycles; motors: maximum %.4g N m, "
           "saturated in %llu\n",
           m->max_force, m->max_torque, (unsigned long long)m->thrust_saturated, motor,
           (unsigned long long)m->motor_saturated);
    printf("monitors: W_c (25) %.6g J, changed by %.2g J before contact; ", m->W_c_start, m->W_c_drift);
    if (m->W_a_cycles)
        printf("W_a (24) rose in %llu of %llu cycles; ", (unsigned long long)m->W_a_rises,
               (unsigned long long)m->W_a_cycles);
    else
        printf("W_a (24) not reported; ");
    printf("port (28) %.4g J; bound (29) %.3g, above zero in %llu\n", m->port_energy, m->bound,
           (unsigned long long)m->bound_violations);
}

void ff_session_print(const ff_session *session) {
    const ff_scenario *scenario = &session->scenario;
    const ff_metrics *metrics = &session->metrics;
    if (scenario->emulates) {
        ff_session_print_emulation(session);
        return;
    }
    if (metrics->rows == 0) {
        printf("no cycle was run\n");
        return;
    }
    for (int i = 0; i < scenario->satellites; i++) {
        printf("%s%s%s under %s (%s)\n", ff_cli_bold(), scenario->satellite[i].name, ff_cli_plain(),
               session->label, ff_scheme_name(scenario->integrate.scheme));
        print_satellite(metrics, i);
    }
    if (ff_scenario_servicer(scenario) >= 0)
        print_servicer(session);
    print_contacts(metrics);
    const double *bounded =
        session->run.reports
            ? ff_method_value(scenario->method, true, session->run.report, "look_back_bounded_cycles")
            : NULL;
    if (bounded && *bounded > 0.0)
        printf(
            "look-back too short in %.0f cycles: contacts lasted longer than it (at most 1023 cycles), later "
            "corrections were left out\n",
            *bounded);
    ff_table table;
    ff_table_init(&table, 4);
    ff_table_add(&table, "requirement|value|limit|met");
    for (int i = 0; i < 3; i++) {
        const ff_requirement_result *r = &metrics->requirement[i];
        char value[32] = "-";
        if (isfinite(r->value))
            snprintf(value, sizeof value, "%.5g", r->value);
        ff_table_add(&table, "%s|%s|%.5g|%s", r->name, value, r->limit, r->met ? "yes" : "no");
    }
    ff_table_print(&table);
    ff_table_free(&table);
    printf("verdict %s%s%s\n", metrics->pass ? ff_cli_green() : ff_cli_red(), metrics->pass ? "pass" : "fail",
           ff_cli_plain());
}

int ff_session_logs(const char *list, ff_session_options *options) {
    for (const char *c = list; *c;) {
        const size_t n = strcspn(c, ",");
        if (n == 3 && strncmp(c, "csv", n) == 0) {
            options->csv = true;
        } else if (n == 4 && strncmp(c, "mcap", n) == 0) {
            options->mcap = true;
        } else if (!(n == 4 && strncmp(c, "none", n) == 0)) {
            ff_cli_error("--log %s: '%.*s' is not a log format; allowed: csv, mcap, none", list, (int)n, c);
            return -1;
        }
        c += n + (c[n] == ',');
    }
    return 0;
}

int ff_session_show(const ff_session *session, const char *folder, const ff_session_ask *ask, int status,
                    void (*more)(const void *), const void *user) {
    const bool written = ff_session_report(&session, 1, folder) == 0;
    if (!written && status == FF_EXIT_DONE)
        status = FF_EXIT_FAILED;
    if (ask->json) {
        fputs(session->summary, stdout);
    } else if (!ask->quiet) {
        ff_session_print(session);
        if (more)
            more(user);
        if (written)
            printf("report %s/report.html\n", folder);
    }
    return ask->strict && status == FF_EXIT_DONE && !session->metrics.pass ? FF_EXIT_FAILED : status;
}

void ff_session_tell(const ff_session *session, ff_live *live) {
    ff_live_event(live, session->metrics.pass ? FF_LIVE_INFO : FF_LIVE_WARNING,
                  (double)session->run.cycles * session->scenario.cycle,
                  session->metrics.pass ? "ended: every requirement is met"
                                        : "ended: not every requirement is met, the report says which");
}
