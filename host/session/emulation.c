/* session/emulation.c - a scenario that emulates another robot [aghili]: run, judge, write. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulate/arm.h"
#include "record/csv.h"
#include "session/internal.h"
#include "text/file.h"
#include "text/json.h"
#include "text/version.h"

const char *ff_session_scheme(const ff_session *session) {
    return session->scenario.emulation.emulation.scheme == FF_EMULATION_FREE ? "free" : "constrained";
}

const char *ff_session_controller(const ff_session *session) {
    return session->scenario.emulation.sampled ? "sampled" : "continuous";
}

static char *summary(const ff_session *session, ff_status status) {
    const ff_scenario *scenario = &session->scenario;
    const ff_emulate_result *r = &session->emulation;
    const bool good = status >= 0;
    const double none = (double)NAN;
    /* a joint's pose is an angle, a planar arm's a position, that of six joints both; the keys are the
     * joint's */
    const bool arm = scenario->target == FF_TARGET_ARM;
    const char *const unit = !arm ? "rad" : scenario->arms.robot.links == 6 ? "m or rad" : "m";
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "scenario", scenario->name);
    ff_json_string(&json, "version", ff_version());
    ff_json_string(&json, "method", "emulation");
    ff_json_string(&json, "scheme", ff_session_scheme(session));
    ff_json_string(&json, "controller", ff_session_controller(session));
    ff_json_number(&json, "cycle_s", scenario->cycle);
    ff_json_integer(&json, "cycles", (long long)scenario->cycles);
    ff_json_string(&json, "status", ff_status_name(status));
    ff_json_open(&json, "satellites", '{');
    ff_json_close(&json, '}');
    ff_json_open(&json, "emulation", '{');
    ff_json_number(&json, "contact_s", r->contact_s);
    ff_json_number(&json, "peak_force_N", good ? r->peak_force : none);
    ff_json_number(&json, "final_force_N", good ? r->final_force : none);
    ff_json_string(&json, "pose_unit", unit);
    ff_json_number(&json, "pose_error_rad", good ? r->pose_error : none);
    ff_json_number(&json, "force_error_N", good ? r->force_error : none);
    ff_json_number(&json, "constraint_rad", good ? r->constraint : none);
    ff_json_number(&json, "clik_bound_rad", good ? r->clik_bound : none);
    ff_json_number(&json, "force_gain_bound_1pkg", good ? r->force_gain_bound : none);
    ff_json_number(&json, "contact_direct_s", r->contact_direct_s);
    ff_json_number(&json, "motor_error_rad", good ? r->state_error : none);
    ff_json_number(&json, "contact_force_error_N", good ? r->contact_error : none);
    ff_json_number(&json, "energy_error_J", good ? r->energy_error : none);
    double Q[36];
    size_t n = 0;
    char message[256];
    if (arm) {
        if (ff_emulate_arms_ratio(&scenario->arms, &n, Q, message, sizeof message) == FF_OK)
            ff_json_vector(&json, "inertia_ratio", Q, (int)(n * n));
    } else {
        ff_json_number(&json, "inertia_ratio",
                       scenario->emulation.target.link_inertia / scenario->emulation.robot_inertia);
    }
    ff_json_bool(&json, "damped", r->damped);
    ff_json_bool(&json, "limited", r->limited);
    ff_json_close(&json, '}');
    ff_json_open(&json, "requirements", '[');
    ff_json_close(&json, ']');
    ff_json_string(&json, "verdict", ff_session_verdict(session));
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}

/* ------------------------------------------------------------------------------------------ the log -- */

/* Where the values of a sample stand, in the order of the columns. */
typedef struct log_group {
    const char *name;
    size_t offset;
    enum { ONE, TASK, JOINTS } many; /* its columns: itself, or numbered from 1 */
} log_group;

#define AT(field) offsetof(ff_emulate_sample, field)
/* Task coordinates (pose: rotation vector, then position), then the target's q. */
static const log_group arm_groups[] = {{"t_s", AT(t), ONE},
                                       {"robot.task", AT(p_r), TASK},
                                       {"direct.task", AT(p_direct), TASK},
                                       {"constraint", AT(constraint), TASK},
                                       {"force", AT(f), TASK},
                                       {"force_direct", AT(f_direct), TASK},
                                       {"lambda", AT(lambda), TASK},
                                       {"torque", AT(torque), TASK},
                                       {"target.q", AT(q_s), JOINTS},
                                       {"direct.q", AT(q_direct), JOINTS},
                                       {"energy_J", AT(energy), ONE},
                                       {"energy_direct_J", AT(energy_direct), ONE}};
static const log_group joint_groups[] = {{"t_s", AT(t), ONE},
                                         {"robot_rad", AT(p_r), ONE},
                                         {"target_link_rad", AT(q_s), ONE},
                                         {"target_motor_rad", AT(q_s[1]), ONE},
                                         {"direct_link_rad", AT(q_direct), ONE},
                                         {"direct_motor_rad", AT(q_direct[1]), ONE},
                                         {"constraint_rad", AT(constraint), ONE},
                                         {"force_N", AT(f), ONE},
                                         {"force_direct_N", AT(f_direct), ONE},
                                         {"lambda_N", AT(lambda), ONE},
                                         {"torque_Nm", AT(torque), ONE}};
#undef AT

enum { COLUMNS = sizeof arm_groups / sizeof *arm_groups * 32 }; /* at most */

ff_status ff_session_emulated(const ff_session *session, ff_store *store) {
    const ff_emulate_result *r = &session->emulation;
    const bool arms = session->scenario.target == FF_TARGET_ARM;
    const log_group *list = arms ? arm_groups : joint_groups;
    const size_t groups =
        arms ? sizeof arm_groups / sizeof *arm_groups : sizeof joint_groups / sizeof *joint_groups;
    const size_t many[] = {1, arms ? (size_t)session->scenario.arms.robot.links : 1, r->positions};
    char name[COLUMNS][48];
    const char *names[COLUMNS];
    size_t offset[COLUMNS];
    int count = 0;
    for (size_t g = 0; g < groups; g++)
        for (size_t i = 0; i < many[list[g].many] && count < COLUMNS; i++, count++) {
            if (list[g].many == ONE)
                snprintf(name[count], sizeof name[count], "%s", list[g].name);
            else
                snprintf(name[count], sizeof name[count], "%s%zu", list[g].name, i + 1);
            names[count] = name[count];
            offset[count] = list[g].offset + i * sizeof(double);
        }
    const ff_status status = ff_store_init_table(count, names, r->samples, store);
    for (int c = 0; c < count && status == FF_OK; c++)
        for (size_t k = 0; k < r->samples; k++)
            memcpy(&store->column[c].value[k], (const char *)&r->sample[k] + offset[c], sizeof(double));
    return status;
}

/* As every log.csv: numbers that read back to the same bits. */
static ff_status write_table(const ff_store *store, FILE *file) {
    double row[COLUMNS];
    for (int c = 0; c < store->count; c++)
        fprintf(file, "%s%s", c ? "," : "", store->column[c].name);
    ff_status status = fputc('\n', file) == EOF ? FF_ERR_IO : FF_OK;
    for (uint64_t k = 0; k < store->rows && status == FF_OK; k++) {
        for (int c = 0; c < store->count; c++)
            row[c] = store->column[c].value[k];
        status = ff_csv_write_line(file, store->count, row);
    }
    return status;
}

static ff_outcome write_log(const ff_session *session, const char *folder, ff_notes *notes) {
    char path[FF_FILE_PATH];
    snprintf(path, sizeof path, "%s/log.csv", folder);
    ff_file_whole whole;
    ff_store store;
    if (ff_session_emulated(session, &store) != FF_OK)
        return ff_notes_error(notes, FF_FAILED, "%s: no memory for the log", path);
    ff_status status = ff_file_begin(path, &whole);
    if (status == FF_OK) {
        const ff_status written = write_table(&store, whole.file);
        status = ff_file_end(&whole, written == FF_OK);
        status = written == FF_OK ? status : written;
    }
    ff_store_free(&store);
    if (status == FF_OK)
        return FF_DONE;
    return ff_notes_error(notes, FF_FAILED, "%s: cannot be written (%s)", path, strerror(errno));
}

/* The same quantities for the report's plots: the emulated robot beside the target simulated directly. */
bool ff__session_collect_emulation(ff_session *session) {
    const ff_emulate_result *r = &session->emulation;
    const bool arms = session->scenario.target == FF_TARGET_ARM;
    const size_t n = arms ? (size_t)session->scenario.arms.robot.links : 1, q = arms ? r->positions : 2;
    static const struct {
        const char *name, *unit;
        size_t offset;
        bool joints;
    } group[] = {
#define AT(field) offsetof(ff_emulate_sample, field)
        {"emulation.pose", "", AT(p_r), false},
        {"emulation.direct.pose", "", AT(p_direct), false},
        {"emulation.force", "N", AT(f), false},
        {"emulation.direct.force", "N", AT(f_direct), false},
        {"emulation.lambda", "N", AT(lambda), false},
        {"emulation.constraint", "", AT(constraint), false},
        {"emulation.torque", "N m", AT(torque), false},
        {"emulation.target.q", "rad", AT(q_s), true},
        {"emulation.direct.q", "rad", AT(q_direct), true},
#undef AT
    };
    enum { GROUPS = sizeof group / sizeof *group, MOST = 2 + GROUPS * 32 };
    char name[MOST][48];
    const char *names[MOST] = {"t [s]"};
    int columns = 1;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < (group[g].joints ? q : n) && columns < MOST; i++) {
            const char *unit = *group[g].unit || !arms ? group[g].unit : n == 6 && i < 3 ? "rad" : "m";
            snprintf(name[columns], sizeof name[columns], "%s.%zu [%s]", group[g].name, i + 1,
                     *unit ? unit : "rad");
            names[columns] = name[columns];
            columns++;
        }
    ff_report_series *series = ff_report_series_create(columns, names);
    for (size_t k = 0; series && k < r->samples; k++) {
        double row[MOST] = {r->sample[k].t};
        int c = 1;
        for (size_t g = 0; g < GROUPS; g++) {
            const double *value =
                (const double *)(const void *)((const char *)&r->sample[k] + group[g].offset);
            for (size_t i = 0; i < (group[g].joints ? q : n) && c < MOST; i++)
                row[c++] = value[i];
        }
        if (ff_report_add_row(series, row) == FF_ERR_MEMORY) {
            ff_report_series_destroy(series);
            return false;
        }
    }
    session->report.series = series;
    return series != NULL;
}

static ff_status emulate(const ff_scenario *scenario, ff_emulate_result *result, char *message, size_t size,
                         char *warnings, size_t warnings_size) {
    return scenario->target == FF_TARGET_ARM
               ? ff_emulate_arms_run(&scenario->arms, result, message, size, warnings, warnings_size)
               : ff_emulate_joint_run(&scenario->emulation, result, message, size, warnings, warnings_size);
}

/* Nothing ran: the scenario is impossible. */
static ff_outcome refuse(const ff_scenario *scenario, ff_status status, const char *message,
                         ff_notes *notes) {
    return ff_notes_error(notes, FF_REFUSED, "%s: %s", scenario->name,
                          *message ? message : ff_status_text(status));
}

/* One cycle of it: what is refused is refused before that. */
ff_outcome ff__session_prepare_emulation(const ff_scenario *scenario, ff_notes *notes) {
    char message[256] = "";
    ff_scenario *brief = malloc(sizeof *brief);
    ff_emulate_result result;
    if (!brief)
        return ff_notes_error(notes, FF_FAILED, "%s: no memory", scenario->name);
    *brief = *scenario;
    brief->emulation.duration = brief->emulation.cycle;
    brief->arms.duration = brief->arms.cycle;
    const ff_status status = emulate(brief, &result, message, sizeof message, NULL, 0);
    const bool refused = status < 0 && result.samples == 0;
    ff_emulate_free(&result);
    free(brief);
    return refused ? refuse(scenario, status, message, notes) : FF_DONE;
}

ff_outcome ff__session_emulate(ff_session *session, const ff_session_options *options, ff_notes *notes) {
    char message[256] = "", warnings[1024];
    if (options->out && ff_session_make_folder(options->out, notes) != FF_DONE)
        return FF_REFUSED;
    snprintf(session->label, sizeof session->label, "emulation");
    const ff_scenario *scenario = &session->scenario;
    warnings[0] = '\0';
    const ff_status status =
        options->emulator
            ? options->emulator(options->runner_self, scenario, &session->emulation, message, sizeof message)
            : emulate(scenario, &session->emulation, message, sizeof message, warnings, sizeof warnings);
    ff_notes_warning(notes, "%s", warnings);
    ff_outcome outcome = FF_DONE;
    if (status < 0 && session->emulation.samples == 0 && options->emulator)
        return ff_notes_error(notes, FF_FAILED, "%s: %s", scenario->name,
                              *message ? message : ff_status_text(status));
    if (status < 0 && session->emulation.samples == 0)
        return refuse(scenario, status, message, notes);
    if (status < 0)
        outcome = ff_notes_error(notes, FF_FAILED, "%s: %s", scenario->name,
                                 *message ? message : ff_status_text(status));
    session->metrics.pass = status >= 0;
    session->summary = summary(session, status);
    if (session->summary && options->extend && options->emulator)
        session->summary = options->extend(options->runner_self, session->summary);
    if (!session->summary)
        outcome = ff_notes_error(notes, FF_FAILED, "%s: no memory for the summary", scenario->name);
    session->whole = session->summary != NULL;
    if (options->out) {
        if (options->mcap) /* a file that was asked for: also said where warnings are not shown */
            ff_notes_error(notes, FF_DONE,
                           "warning: %s: an emulation has no log.mcap; --log csv writes its log",
                           scenario->name);
        if (!ff__session_collect_emulation(session)) {
            ff_notes_error(notes, FF_FAILED, "%s: no memory for the report", scenario->name);
            session->whole = false;
        }
        if (options->csv && write_log(session, options->out, notes) != FF_DONE)
            session->whole = false;
        if (session->summary &&
            ff_session_write(options->out, "summary.json", session->summary, notes) != FF_DONE)
            session->whole = false;
        if (!session->whole)
            outcome = FF_FAILED;
    }
    return outcome;
}
