/* session/session.c - load, reference, run, judge, write. */
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ideal/orbit.h"
#include "record/csv.h"
#include "report/geometry.h"
#include "session/internal.h"
#include "session/variant.h"
#include "text/file.h"

ff_session *ff_session_open(const char *path, const ff_scenario_options *options, ff_outcome *outcome,
                            ff_notes *notes) {
    ff_session *session = malloc(sizeof *session);
    ff_variant *variant = malloc(sizeof *variant);
    *outcome = session && variant ? ff_variant_load_named(session, path, options, variant, notes)
                                  : ff_notes_error(notes, FF_FAILED, "%s: no memory", path);
    if (*outcome == FF_DONE) {
        session->variant = variant;
        return session;
    }
    free(variant);
    free(session);
    return NULL;
}

void ff_session_close(ff_session *session) {
    if (session)
        ff_session_free(session);
    free(session);
}

ff_outcome ff_session_load(ff_session *session, const char *path, const ff_scenario_options *options,
                           ff_notes *notes) {
    char message[1024], warnings[4096];
    *session = (ff_session){0};
    ff_scenario_options load = options ? *options : (ff_scenario_options){0};
    load.held = load.held ? load.held : &session->held;
    const ff_status status =
        ff_scenario_load(path, &load, &session->scenario, message, sizeof message, warnings, sizeof warnings);
    ff_notes_warning(notes, "%s", warnings);
    if (status < 0) {
        ff_held_free(&session->held);
        session->run.status = status;
        memcpy(session->refusal, message, sizeof session->refusal);
        return ff_notes_error(notes, FF_REFUSED, "%s", message);
    }
    snprintf(session->label, sizeof session->label, "%s", ff_scenario_method_name(&session->scenario));
    session->path = path;
    session->method = load.method;
    for (int i = 0; i < load.sets && i < FF_LOG_MAX_SETS; i++)
        session->set[session->sets++] = load.set[i];
    return FF_DONE;
}

void ff_session_free(ff_session *session) {
    ff_session_leave(session);
    ff_emulate_free(&session->emulation);
    ff_report_collector_free(&session->report);
    ff_ideal_free(&session->ideal);
    ff_metrics_free(&session->metrics);
    ff_held_free(&session->held);
    free(session->variant);
    session->variant = NULL;
    free(session->summary);
    session->summary = NULL;
}

/* ------------------------------------------------------------------------------------- under way -- */

/* The consumers of the rows, and the logs among them. */
typedef struct outputs {
    ff_sink sink[6];
    int sinks;
    ff_csv csv;
    ff_log mcap;
    bool has_csv, has_mcap;
    char csv_path[FF_FILE_PATH], mcap_path[FF_FILE_PATH];
} outputs;

/* What a session needs between its begin and its end. */
typedef struct ff_session_course {
    ff_session_options options;
    outputs outputs;
    ff_run_options run;
    ff_running *running;
} ff_session_course;

static void begin_phase(const ff_session_options *options, double from, double to, double amount,
                        const char *unit) {
    if (options->phase)
        options->phase(options->user, from, to, amount, unit);
}

/* The reference takes the first third of the time, the run the rest. */
static ff_outcome solve_ideal(ff_session *session, const ff_session_options *options, ff_notes *notes) {
    char message[224] = ""; /* the run's own message holds it behind its first words */
    begin_phase(options, 0.0, 0.3, 0.0, "");
    const ff_status status =
        ff_scenario_servicer(&session->scenario) >= 0
            ? ff_orbit_solve(&session->scenario, options->opener, &session->ideal, message, sizeof message)
            : ff_ideal_solve(&session->scenario, options->progress, options->user, &session->ideal, message,
                             sizeof message);
    if (status >= 0)
        return FF_DONE;
    session->run.status = status;
    snprintf(session->run.message, sizeof session->run.message, "the ideal reference%s: %s",
             status == FF_ERR_LIMIT ? "" : " failed", *message ? message : ff_status_text(status));
    return ff_notes_error(notes, FF_FAILED, "%s: %s", session->scenario.name, session->run.message);
}

/* The text of a file that the scenario names; NULL: it is not held. */
static const char *beside(const ff_session *session, const char *name, size_t *length) {
    char place[FF_FILE_PATH];
    ff_scenario_place(session->path, name, place);
    const ff_held_file *file = *name ? ff_held_find(session->scenario.held, place) : NULL;
    *length = file ? file->length : 0;
    return file ? file->text : NULL;
}

const char *ff_session_description(const ff_session *session) {
    size_t length;
    return session->scenario.models ? beside(session, session->scenario.model[0], &length) : NULL;
}

/* Written in place, not renamed at the end: what is flushed shall survive a kill, and with `sync` (on
 * devices, by the recorder's thread) a power cut. */
static ff_status open_mcap(const ff_session *session, const char *path, const ff_session_options *options,
                           ff_log *log) {
    ff_log_source source = {.path = session->path,
                            .set = session->set,
                            .sets = session->sets,
                            .method = session->method,
                            .sync = options->runner != NULL,
                            .compress = !options->plain};
    const ff_held_file *file = ff_held_find(session->scenario.held, session->path);
    source.text = file ? file->text : NULL;
    source.length = file ? file->length : 0;
    source.site_text = beside(session, session->scenario.site, &source.site_length);
    for (int i = 0; i < session->scenario.models; i++)
        source.model_text[i] = beside(session, session->scenario.model[i], &source.model_length[i]);
    return ff_log_open(path, &session->scenario, &source, log);
}

/* Why a log could not be opened or closed. */
static const char *reason(ff_status status) {
    return status == FF_ERR_MEMORY ? "no memory" : strerror(errno ? errno : ENOSPC);
}

/* A folder that does not take the log is the caller's choice, a full disk is not. */
static ff_outcome unopened(ff_status status, const char *path, ff_notes *notes) {
    const bool failed = status == FF_ERR_MEMORY || errno == ENOSPC || errno == EDQUOT || errno == EFBIG ||
                        errno == EIO || errno == 0;
    return ff_notes_error(notes, failed ? FF_FAILED : FF_REFUSED, "%s: cannot be written (%s)", path,
                          reason(status));
}

static ff_outcome open_outputs(ff_session *session, const ff_session_options *options, outputs *o,
                               ff_notes *notes) {
    o->sink[o->sinks++] = ff_metrics_sink(&session->metrics);
    o->sink[o->sinks++] = ff_history_sink(&session->history);
    if (options->out) {
        if (ff_report_collector_init(&session->scenario, &session->report) != FF_OK)
            return ff_notes_error(notes, FF_FAILED, "no memory");
        o->sink[o->sinks++] = ff_report_collector_sink(&session->report);
    }
    if (options->extra.row)
        o->sink[o->sinks++] = options->extra;
    snprintf(o->csv_path, sizeof o->csv_path, "%s/log.csv", options->out ? options->out : "");
    snprintf(o->mcap_path, sizeof o->mcap_path, "%s/log.mcap", options->out ? options->out : "");
    if (options->out && options->csv) {
        const ff_status status = ff_csv_open(o->csv_path, &session->scenario, &o->csv);
        if (status != FF_OK)
            return unopened(status, o->csv_path, notes);
        o->has_csv = true;
        o->sink[o->sinks++] = ff_csv_sink(&o->csv);
    }
    if (options->out && options->mcap) {
        const ff_status status = open_mcap(session, o->mcap_path, options, &o->mcap);
        if (status != FF_OK) {
            const ff_outcome outcome = unopened(status, o->mcap_path, notes);
            if (o->has_csv)
                ff_csv_close(&o->csv, false);
            o->has_csv = false;
            return outcome;
        }
        o->has_mcap = true;
        o->sink[o->sinks++] = ff_log_sink(&o->mcap);
    }
    return FF_DONE;
}

static ff_outcome close_outputs(outputs *o, ff_notes *notes) {
    ff_outcome outcome = FF_DONE;
    const bool has_csv = o->has_csv;
    const ff_status mcap = o->has_mcap ? ff_log_close(&o->mcap) : FF_OK;
    o->has_csv = o->has_mcap = false;
    if (mcap < 0)
        outcome = ff_notes_error(notes, FF_FAILED,
                                 "%s: cannot be written (%s); what was flushed before can be read",
                                 o->mcap_path, reason(mcap));
    if (has_csv && ff_csv_close(&o->csv, true) < 0)
        outcome =
            ff_notes_error(notes, FF_FAILED, "%s: cannot be written (%s); the rows before are in log.cut.csv",
                           o->csv_path, strerror(errno));
    return outcome;
}

/* The judgement, as summary.json. */
static ff_outcome conclude(ff_session *session, const ff_session_options *options,
                           const ff_ideal_result *ideal, ff_notes *notes) {
    ff_metrics_finish(&session->metrics, ideal, session->run.status);
    session->summary = ff_summary_json(&session->metrics, &session->run);
    if (session->summary && session->history.count)
        session->summary = ff_summary_add(session->summary, "events", ff_history_json(&session->history));
    if (ideal && options->extend && session->summary)
        session->summary = options->extend(options->runner_self, session->summary);
    if (!session->summary)
        return ff_notes_error(notes, FF_FAILED, "%s: no memory for the summary", session->scenario.name);
    if (options->out)
        return ff_session_write(options->out, "summary.json", session->summary, notes);
    return FF_DONE;
}

/* An arm's contacts are met by on-board software, so nothing can be said of them before the run. */
static void warn_untouched(const ff_session *session, ff_notes *notes) {
    const ff_scenario *s = &session->scenario;
    const double end = (double)session->run.cycles * s->cycle;
    for (int c = 0; c < s->contacts && ff_scenario_servicer(s) >= 0; c++) {
        const ff_contact *contact = &s->contact[c];
        bool touched = false;
        for (int n = 0; n < session->metrics.episodes; n++)
            touched = touched || session->metrics.episode[n].contact == c;
        if (touched)
            continue;
        if (contact->kind != FF_CONTACT_GRASP)
            ff_notes_warning(notes, "warning: %s: contact '%s' was not touched until the end at %.9g s",
                             s->name, contact->name, end);
        else if (contact->closes > end)
            ff_notes_warning(notes,
                             "warning: %s: contact '%s' was not made: it closes at %.9g s, the run ended at "
                             "%.9g s (time.duration)",
                             s->name, contact->name, contact->closes, end);
        else
            ff_notes_warning(
                notes,
                "warning: %s: contact '%s' was not made until the end at %.9g s: the gripper did "
                "not come within its reach of %.3g m",
                s->name, contact->name, end, contact->reach);
    }
}

static ff_outcome prepare(const ff_scenario *scenario, ff_run_result *run, ff_notes *notes) {
    ff_run_prepare(scenario, run);
    if (run->status == FF_OK)
        return FF_DONE;
    return ff_notes_error(notes, run->status == FF_ERR_MEMORY ? FF_FAILED : FF_REFUSED, "%s: %s",
                          scenario->name, *run->message ? run->message : ff_status_text(run->status));
}

ff_outcome ff_session_prepare(const ff_scenario *scenario, ff_notes *notes) {
    ff_run_result run;
    return scenario->emulates ? ff__session_prepare_emulation(scenario, notes)
                              : prepare(scenario, &run, notes);
}

void ff_session_leave(ff_session *session) {
    ff_notes notes = {.error = ""};
    if (!session || !session->course)
        return;
    close_outputs(&session->course->outputs, &notes);
    ff_running_close(session->course->running);
    free(session->course);
    session->course = NULL;
}

/* Everything before the first cycle. */
static ff_outcome start(ff_session *session, const ff_session_options *options, ff_notes *notes) {
    if (!options->runner) { /* on devices there are others to refuse it */
        const ff_outcome prepared = prepare(&session->scenario, &session->run, notes);
        if (prepared != FF_DONE)
            return prepared;
    }
    if (options->out && ff_session_make_folder(options->out, notes) != FF_DONE)
        return FF_REFUSED;
    const ff_outcome solved = options->unjudged ? FF_DONE : solve_ideal(session, options, notes);
    if (ff_metrics_init(&session->scenario, &session->metrics) != FF_OK)
        return ff_notes_error(notes, FF_FAILED, "no memory");
    if (solved != FF_DONE) { /* there is nothing to compare with: the summary says why */
        session->whole = conclude(session, options, NULL, notes) == FF_DONE;
        return solved;
    }
    ff_session_course *c = session->course = calloc(1, sizeof *c);
    if (!c)
        return ff_notes_error(notes, FF_FAILED, "no memory");
    c->options = *options;
    const ff_outcome opened = open_outputs(session, options, &c->outputs, notes);
    if (opened != FF_DONE) {
        ff_session_leave(session);
        return opened;
    }
    /* on devices it takes its own time, beside which the reference took none */
    begin_phase(options, options->runner ? 0.0 : 0.3, 1.0, (double)session->scenario.cycles, "cycles");
    c->run = (ff_run_options){.ideal = options->unjudged ? NULL : &session->ideal,
                              .sinks = c->outputs.sink,
                              .count = c->outputs.sinks,
                              .timing = true,
                              .progress = options->progress,
                              .user = options->user,
                              .between = options->between,
                              .between_user = options->between_user,
                              .opener = options->opener};
    return FF_DONE;
}

ff_outcome ff_session_failure(const ff_session *session, ff_notes *notes) {
    if (session->run.status >= 0)
        return FF_DONE;
    return ff_notes_error(notes, FF_FAILED, "%s: the run failed: %s", session->scenario.name,
                          *session->run.message ? session->run.message : ff_status_text(session->run.status));
}

/* And everything after the last. */
static ff_outcome finish(ff_session *session, ff_notes *notes) {
    ff_session_course *c = session->course;
    ff_running_close(c->running);
    c->running = NULL;
    ff_outcome outcome = close_outputs(&c->outputs, notes);
    const ff_outcome closed = outcome;
    if (session->run.status == FF_ERR_UNSUPPORTED) {
        ff_session_leave(session);
        return ff_notes_error(notes, FF_REFUSED, "%s: %s", session->scenario.name, session->run.message);
    }
    if (outcome == FF_DONE)
        outcome = ff_session_failure(session, notes);
    const ff_outcome written =
        conclude(session, &c->options, c->options.unjudged ? NULL : &session->ideal, notes);
    session->whole = closed == FF_DONE && written == FF_DONE;
    warn_untouched(session, notes);
    ff_session_leave(session);
    return outcome == FF_DONE ? written : outcome;
}

ff_outcome ff_session_execute(ff_session *session, const ff_session_options *options, ff_notes *notes) {
    if (session->scenario.emulates)
        return ff__session_emulate(session, options, notes);
    const ff_outcome started = start(session, options, notes);
    if (started != FF_DONE)
        return started;
    const ff_run_options *run = &session->course->run;
    if (options->runner)
        options->runner(options->runner_self, &session->scenario, run, &session->run);
    else
        ff_run(&session->scenario, run, &session->run);
    return finish(session, notes);
}

ff_outcome ff_session_begin(ff_session *session, const ff_session_options *options, ff_notes *notes) {
    if (session->scenario.emulates)
        return ff_notes_error(notes, FF_REFUSED, "%s: an emulation runs in one piece and cannot be stepped",
                              session->scenario.name);
    const ff_outcome started = start(session, options, notes);
    if (started != FF_DONE)
        return started;
    session->course->running = ff_running_open(&session->scenario, &session->course->run, &session->run);
    if (session->course->running)
        return FF_DONE;
    const ff_outcome outcome =
        ff_notes_error(notes, session->run.status == FF_ERR_UNSUPPORTED ? FF_REFUSED : FF_FAILED, "%s: %s",
                       session->scenario.name,
                       *session->run.message ? session->run.message : ff_status_text(session->run.status));
    close_outputs(&session->course->outputs, notes);
    ff_session_leave(session);
    return outcome;
}

ff_running *ff_session_running(const ff_session *session) {
    return session->course ? session->course->running : NULL;
}

bool ff_session_step(ff_session *session) {
    return ff_running_cycle(session->course->running);
}

ff_outcome ff_session_end(ff_session *session, ff_notes *notes) {
    if (session->run.status == FF_OK && session->run.cycles < session->scenario.cycles)
        ff_running_stop(session->course->running);
    return finish(session, notes);
}

void ff_session_keep(ff_session *session, ff_keeper *keeper) {
    if (session->course->outputs.has_csv || session->course->outputs.has_mcap || session->report.series)
        ff_keep_refuse(keeper, "its log is being written to a file, which does not go back");
    ff_running_keep(session->course->running, keeper);
    ff_metrics_keep(&session->metrics, keeper);
    ff_keep(keeper, &session->history, sizeof session->history);
}

char *ff_session_peek(const ff_session *session) {
    ff_metrics copy = session->metrics; /* judging ends its contacts */
    copy.episode = malloc(FF_MAX_EPISODES * sizeof *copy.episode);
    if (!copy.episode)
        return NULL;
    memcpy(copy.episode, session->metrics.episode, (size_t)copy.episodes * sizeof *copy.episode);
    ff_metrics_finish(&copy, session->course && session->course->options.unjudged ? NULL : &session->ideal,
                      session->run.status);
    char *summary = ff_summary_json(&copy, &session->run);
    free(copy.episode);
    return summary;
}

ff_outcome ff_session_collect(ff_session *session, const ff_store *rows, ff_notes *notes) {
    if (session->report.series)
        return FF_DONE;
    const bool good = session->scenario.emulates
                          ? ff__session_collect_emulation(session)
                          : ff_report_collector_take(&session->scenario, rows, &session->report) == FF_OK;
    return good ? FF_DONE
                : ff_notes_error(notes, FF_FAILED, "%s: no memory for the report", session->scenario.name);
}

ff_outcome ff_session_report(const ff_session *const *sessions, int count, const char *folder,
                             ff_notes *notes) {
    const char *scenario = count > 0 ? sessions[0]->scenario.name : "";
    ff_report_run *runs = calloc((size_t)count + 1, sizeof *runs);
    char **geometry = calloc((size_t)count + 1, sizeof *geometry);
    char path[FF_FILE_PATH], title[2 * FF_NAME_SIZE + 32];
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
        status = geometry[i] ? FF_OK : FF_ERR_MEMORY;
    }
    if (!status)
        status = ff_report_write(path, title, runs, count);
    for (int i = 0; geometry && i < count; i++)
        free(geometry[i]);
    free(geometry);
    free(runs);
    return status ? ff_notes_error(notes, FF_FAILED, "%s: %s", path, ff_status_text(status)) : FF_DONE;
}
