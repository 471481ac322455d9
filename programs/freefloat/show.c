/* What a session looks like on the terminal: its bar, its errors, its table. */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obsw/udp.h"

void ff_show_notes(const ff_notes *notes) {
    ff_cli_warn_lines(notes->warning);
    ff_cli_lines(notes->error);
}

ff_session *ff_show_open(const char *path, const ff_scenario_options *options, int *status) {
    ff_notes notes = {.error = ""};
    ff_outcome outcome;
    ff_session *session = ff_session_open(path, options, &outcome, &notes);
    ff_show_notes(&notes);
    *status = (int)outcome;
    return session;
}

static void next_phase(void *progress, double from, double to, double amount, const char *unit) {
    ff_progress_phase(progress, from, to, amount, unit);
}

int ff_show_executed(ff_session *session, const ff_session_options *options, bool quiet, ff_notes *notes) {
    ff_progress progress;
    ff_session_options shown = *options;
    ff_progress_start(&progress, session->label, quiet);
    shown.phase = next_phase;
    shown.progress = ff_progress_update;
    shown.user = &progress;
    shown.opener = ff_obsw_udp_open;
    const ff_outcome outcome = ff_session_execute(session, &shown, notes);
    ff_progress_stop(&progress);
    return (int)outcome;
}

int ff_show_execute(ff_session *session, const ff_session_options *options, bool quiet) {
    ff_notes notes = {.error = ""};
    const int outcome = ff_show_executed(session, options, quiet, &notes);
    ff_show_notes(&notes);
    return outcome;
}

int ff_show_report(const ff_session *const *sessions, int count, const char *folder) {
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_session_report(sessions, count, folder, &notes);
    ff_show_notes(&notes);
    return (int)outcome;
}

int ff_show_folder(const char *path) {
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_session_make_folder(path, &notes);
    ff_show_notes(&notes);
    return (int)outcome;
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
                 "contact|start s|restitution|CoV|CoF|stiffness N/m|damping N~s/m|frequency Hz|point m");
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
                     number(info.cof, 4).text, number(e->stiffness, 0).text, damping.text,
                     number(info.frequency, 3).text, point.text);
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
                 "N|impulse N~s");
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
        ff_table_add(&table, "%s|%.3f|%s|%s|%.5f|%s|%.2f|%.2f|%.3f", contact->name, e->start,
                     isnan(e->end) ? "open" : number(e->end, 3).text, number(e->end - e->start, 3).text,
                     ff_vec3_norm(e->before[side].velocity),
                     number(isnan(e->end) ? FF_NAN : ff_vec3_norm(e->after[side].velocity), 5).text,
                     e->peak_force[side], e->peak_robot_force, ff_vec3_norm(e->impulse[side]));
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
    printf("on-board software (%s): %llu cycles, %llu without a good answer;\n"
           "  the last one acted in %llu, nothing in %llu\n",
           ff_obsw_kind_name((ff_obsw_kind)satellite->obsw.kind), (unsigned long long)o->steps,
           (unsigned long long)o->missed, (unsigned long long)o->held, (unsigned long long)o->zeroed);
    char text[200];
    if (ff_obsw_shared_text(&o->shared, satellite->obsw.timeout, text, sizeof text))
        ff_cli_line("%s", text);
    bool any = false;
    for (int i = 0; i < FF_OBSW_REFUSALS; i++)
        if (o->exchange.refused[i]) {
            printf("%s %s %llu", any ? "," : "packets refused:", ff_obsw_refusal_name((ff_obsw_refusal)i),
                   (unsigned long long)o->exchange.refused[i]);
            any = true;
        }
    if (any)
        printf("\n");
    printf("thrusters: maximum %.4g N, %.4g N m, saturated in %llu cycles;\n"
           "  motors: maximum %.4g N m, saturated in %llu\n",
           m->max_force, m->max_torque, (unsigned long long)m->thrust_saturated, motor,
           (unsigned long long)m->motor_saturated);
    printf("monitors: W_c (25) %.6g J, changed by %.2g J before contact;\n  ", m->W_c_start, m->W_c_drift);
    if (m->W_a_cycles)
        printf("W_a (24) rose in %llu of %llu cycles;\n  ", (unsigned long long)m->W_a_rises,
               (unsigned long long)m->W_a_cycles);
    else
        printf("W_a (24) not reported;\n  ");
    printf("port (28) %.4g J; bound (29) %.3g, above zero in %llu\n", m->port_energy, m->bound,
           (unsigned long long)m->bound_violations);
}

static void print_emulation(const ff_session *session) {
    const ff_emulate_result *r = &session->emulation;
    printf("%s%s%s: emulation, %s scheme, %s controller\n", ff_cli_bold(), session->scenario.name,
           ff_cli_plain(), ff_session_scheme(session), ff_session_controller(session));
    ff_table table;
    ff_table_init(&table, 3);
    ff_table_add(&table, "quantity|emulated|simulated directly");
    if (isnan(r->contact_s))
        ff_table_add(&table, "contact s|none|%s", isnan(r->contact_direct_s) ? "none" : "yes");
    else
        ff_table_add(&table, "contact s|%.6f|%.6f", r->contact_s, r->contact_direct_s);
    const ff_emulate_sample *last = r->samples ? &r->sample[r->samples - 1] : NULL;
    const bool arm = session->scenario.target == FF_TARGET_ARM;
    if (last && arm) {
        const size_t n = (size_t)session->scenario.arms.robot.links;
        ff_table_add(&table, "peak force N|%.4f|-", r->peak_force);
        for (size_t i = 0; i < n; i++)
            ff_table_add(&table, "final %s %c%s|%.9f|%.9f", n == 6 && i < 3 ? "rotation" : "position",
                         "xyz"[i % 3], n == 6 && i < 3 ? " rad" : " m", last->p_r[i], last->p_direct[i]);
    } else if (last) {
        ff_table_add(&table, "peak force N|%.4f|-", r->peak_force);
        ff_table_add(&table, "final force N|%.6f|%.6f", last->f[0], last->f_direct[0]);
        ff_table_add(&table, "final angle rad|%.9f|%.9f", last->p_r[0], last->p_direct[0]);
    }
    ff_table_print(&table);
    ff_table_free(&table);
    const char *const unit = !arm ? "rad" : session->scenario.arms.robot.links == 6 ? "m or rad" : "m";
    printf("largest differences: pose %.3g %s, contact force %.3g N,\n"
           "  |f - lambda| %.3g N, constraint %.3g %s\n",
           r->pose_error, unit, r->contact_error, r->force_error, r->constraint, unit);
    if (session->metrics.pass)
        printf("verdict pass: it ended well; nothing else is required of an emulation\n");
    else
        printf("verdict %sfail%s: the emulation did not come to its end\n", ff_cli_red(), ff_cli_plain());
}

/* A value beside its limit: below a millionth of the limit it is rounding, not a result. */
static cell judged(const ff_requirement_result *r) {
    cell c = {"0"};
    if (fabs(r->value) >= 1e-6 * r->limit)
        snprintf(c.text, sizeof c.text, "%.4g", r->value);
    return c;
}

/* When the first of all contacts without a partner in the reference began [s]; FF_NAN: none. */
static double diverged(const ff_metrics *metrics) {
    double first = FF_NAN;
    for (int i = 0; i < metrics->scenario->satellites; i++)
        first = fmin(first, metrics->diverged[i]);
    return first;
}

void ff_show_reason(const ff_session *session, char *text, size_t size) {
    static const char *const name[FF_REQUIREMENTS] = {"velocity error", "angular velocity error",
                                                      "peak force ratio", "restitution error"};
    static const char *const unit[FF_REQUIREMENTS] = {" m/s", " rad/s", "", ""};
    const ff_requirement_result *r = session->metrics.requirement;
    int worst = 0, broken = 0, unknown = 0;
    if (session->run.status < 0) {
        snprintf(text, size, "the run ended early, %s",
                 *session->run.message ? session->run.message : ff_status_text(session->run.status));
        return;
    }
    for (int i = 0; i < FF_REQUIREMENTS; i++) {
        unknown += !isfinite(r[i].value) && i < 3;
        broken += !r[i].met;
        if (isfinite(r[i].value) && r[i].judged &&
            (!isfinite(r[worst].value) || r[i].value / r[i].limit > r[worst].value / r[worst].limit))
            worst = i;
    }
    if (unknown == 3) {
        snprintf(text, size, "there is no ideal motion to compare with");
        return;
    }
    int n = snprintf(text, size, "%s%s %s %s %.4g%s", broken ? "" : "all limits kept; nearest: ", name[worst],
                     judged(&r[worst]).text, r[worst].met ? "<=" : ">", r[worst].limit, unit[worst]);
    for (int i = 0; i < FF_REQUIREMENTS && n > 0 && (size_t)n < size; i++)
        if (i != worst && !r[i].met && isfinite(r[i].value))
            n += snprintf(text + n, size - (size_t)n, ", %s %s > %.4g%s", name[i], judged(&r[i]).text,
                          r[i].limit, unit[i]);
    const double since = diverged(&session->metrics);
    if (!isnan(since) && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ", trajectories have diverged at %.3f s", since);
}

void ff_show_list(size_t column, const char *text) {
    enum { WIDTH = 80 };
    for (bool first = true; *text; first = false) {
        const char *comma = strstr(text, ", ");
        const size_t n = comma ? (size_t)(comma - text) + 1 : strlen(text);
        const bool fits = first || column + n + 1 <= WIDTH;
        printf("%s%.*s", first ? "" : fits ? " " : "\n  ", (int)n, text);
        column = fits ? column + n + 1 : n + 2;
        text += n + (comma != NULL);
    }
    printf("\n");
}

void ff_show_session(const ff_session *session) {
    const ff_scenario *scenario = &session->scenario;
    const ff_metrics *metrics = &session->metrics;
    if (scenario->emulates) {
        print_emulation(session);
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
            "look-back too short in %.0f cycles: contacts lasted longer than it (maximum 1023 cycles), later "
            "corrections were left out\n",
            *bounded);
    char reason[320];
    ff_show_reason(session, reason, sizeof reason);
    printf("verdict %s%s%s: ", metrics->pass ? ff_cli_green() : ff_cli_red(), metrics->pass ? "pass" : "fail",
           ff_cli_plain());
    ff_show_list(14, reason);
}

int ff_show_logs(const char *list, ff_session_options *options) {
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_session_logs(list, options, &notes);
    ff_show_notes(&notes);
    return outcome == FF_DONE ? 0 : -1;
}

int ff_show_begin(const ff_run_wanted *wanted, ff_run_folder *run) {
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_run_begin(wanted, run, &notes);
    ff_show_notes(&notes);
    return (int)outcome;
}

int ff_show_finish(ff_run_folder *run, const ff_run_end *end) {
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_run_finish(run, end, &notes);
    ff_show_notes(&notes);
    return end->exit_status == FF_EXIT_DONE ? (int)outcome : end->exit_status;
}

int ff_show_result(const ff_session *session, ff_run_folder *run, const ff_show_ask *ask, int status,
                   bool stopped, void (*more)(const void *), const void *user) {
    ff_notes notes = {.error = ""};
    const char *folder;
    status = (int)ff_session_settle(session, run, (ff_outcome)status, stopped, &folder, &notes);
    ff_show_notes(&notes);
    if (!session->summary)
        return status;
    if (ask->json) {
        fputs(session->summary, stdout);
    } else if (!ask->quiet) {
        ff_show_session(session);
        if (more)
            more(user);
        if (folder)
            ff_cli_line("report %s/report.html", folder);
    }
    return ask->strict && status == FF_EXIT_DONE && !session->metrics.pass ? FF_EXIT_FAILED : status;
}

void ff_show_verdict_live(const ff_session *session, ff_live *live) {
    char reason[200], text[260];
    ff_show_reason(session, reason, sizeof reason);
    snprintf(text, sizeof text, "ended: %s: %s", session->metrics.pass ? "pass" : "fail", reason);
    ff_live_event(live, session->metrics.pass ? FF_LIVE_INFO : FF_LIVE_WARNING,
                  (double)session->run.cycles * session->scenario.cycle, text);
}
