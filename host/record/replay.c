#include "record/replay.h"

#include "executive/executive.h"
#include "record/station.h"
#include "text/message.h"
#include "text/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct replay {
    ff_columns columns;
    double *recorded, *values; /* the log's row, ours */
    unsigned left_out;         /* flags of fields that this replay does not make */
    ff_replay_result *result;
} replay;

static bool same_bits(double a, double b) {
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

/* A sink's row: FF_ERR_LIMIT at the first difference. */
static ff_status compare_row(void *self, const ff_row *row) {
    const replay *r = self;
    ff_replay_result *result = r->result;
    ff_columns_values(&r->columns, row, r->values);
    for (int i = 0; i < r->columns.count; i++) {
        if ((r->columns.column[i].field->flags & r->left_out) || same_bits(r->values[i], r->recorded[i]))
            continue;
        result->differs = true;
        result->cycle = row->k;
        snprintf(result->column, sizeof result->column, "%s", r->columns.name[i]);
        result->recorded = r->recorded[i];
        result->replayed = r->values[i];
        return FF_ERR_LIMIT;
    }
    result->cycles++;
    return FF_OK;
}

static ff_status replay_loop(ff_logfile *file, const ff_scenario *scenario, replay *r, char *message,
                             size_t size) {
    ff_executive *e = malloc(sizeof *e);
    if (!e)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    r->left_out = FF_FIELD_REFERENCE | FF_FIELD_TIMING | FF_FIELD_PLANT;
    ff_log_station log = {
        .file = file, .scenario = scenario, .columns = (size_t)r->columns.count, .recorded = r->recorded};
    const ff_sink sink = {.self = r, .row = compare_row};
    const ff_run_options options = {
        .sinks = &sink, .count = 1, .between = ff_log_station_between, .between_user = &log};
    ff_run_result run = {0};
    ff_status status = ff_executive_open(e, scenario, ff_log_station_make(&log), &options, NULL, &run);
    if (status == FF_OK) {
        while (!e->ended)
            ff_executive_cycle(e);
        ff_executive_close(e);
        r->result->damaged = log.damaged;
        /* how the run ended is the log's own affair: had it ended otherwise, a row would differ */
        status = log.status;
        snprintf(message, size, "%s", log.why);
    } else {
        snprintf(message, size, "%s", run.message);
    }
    free(e);
    return status;
}

/* A capture: what the on-board software answered stands in the rows; everything else follows from the
 * scenario and its seed. Each row is read when its cycle asks for the answer, and compared when it is made.
 */
typedef struct rerun {
    ff_logfile *file;
    replay *replay;
    int phase, action, storage, dissipation, force, torque, joint[FF_MAX_ARM_LINKS], joints; /* columns */
    bool ended; /* the log has no answer for this cycle: it is over, or the run has been stopped by a limit */
    bool beyond;    /* and the cycle made a row all the same */
    bool stopped;   /* by whoever replays */
    ff_status lost; /* the log cannot be read any more */
} rerun;

static bool read_answer(void *self, uint64_t k, ff_obsw_out *out) {
    rerun *r = self;
    const double *x = r->replay->recorded;
    ff_logfile_kind kind;
    uint64_t got;
    size_t n;
    do { /* inputs of a capture are in its rows */
        const ff_status status =
            ff_logfile_next(r->file, &kind, &got, r->replay->recorded, (size_t)r->replay->columns.count, &n,
                            &r->replay->result->damaged);
        r->lost = status == FF_ERR_IO || status == FF_ERR_MEMORY ? status : r->lost;
        r->ended = status != FF_OK || kind == FF_LOGFILE_END || r->replay->result->damaged;
    } while (!r->ended && kind == FF_LOGFILE_INPUT);
    r->ended = r->ended || got != k || n != (size_t)r->replay->columns.count;
    if (r->ended || x[r->action] > 0.5)
        return false;
    for (int i = 0; i < 3; i++) {
        out->force[i] = x[r->force + i];
        out->torque[i] = x[r->torque + i];
    }
    for (int i = 0; i < r->joints; i++)
        out->joint_torque[i] = x[r->joint[i]];
    out->phase = (uint32_t)x[r->phase];
    out->storage = x[r->storage];
    out->dissipation = x[r->dissipation];
    return true;
}

static ff_status compare_rerun(void *self, const ff_row *row) {
    rerun *r = self;
    r->beyond = r->ended;
    if (r->beyond)
        return FF_ERR_LIMIT;
    return compare_row(r->replay, row);
}

static bool tell_rerun(void *self, double part) {
    rerun *r = self;
    r->stopped = r->file->progress && !r->file->progress(r->file->user, part);
    return !r->stopped;
}

static ff_status replay_capture(ff_logfile *file, const ff_scenario *scenario, replay *r, char *message,
                                size_t size) {
    ff_replay_result *result = r->result;
    const ff_satellite *s = &scenario->satellite[ff_scenario_servicer(scenario)];
    const ff_columns *c = &r->columns;
    rerun x = {.file = file,
               .replay = r,
               .phase = ff_columns_find(c, s->name, "obsw.phase"),
               .action = ff_columns_find(c, s->name, "obsw.action"),
               .storage = ff_columns_find(c, s->name, "monitor.W_a"),
               .dissipation = ff_columns_find(c, s->name, "monitor.delta"),
               .force = ff_columns_find(c, s->name, "thrust_force.x [N]"),
               .torque = ff_columns_find(c, s->name, "thrust_torque.x [N m]"),
               .joints = s->arm.joints};
    for (int i = 0; i < x.joints; i++) {
        char name[40];
        snprintf(name, sizeof name, "joint.%d.torque [N m]", i + 1);
        x.joint[i] = ff_columns_find(c, s->name, name);
    }
    if (file->columns != c->count)
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "the log has other columns: replay it with version %s, which wrote it",
                         *file->version ? file->version : "(unknown)");
    r->left_out = FF_FIELD_REFERENCE | FF_FIELD_TIMING | FF_FIELD_UNREPEATABLE;
    ff_logfile_rewind(file);
    const ff_sink sink = {.self = &x, .axes = true, .row = compare_rerun};
    const ff_run_options options = {
        .sinks = &sink, .count = 1, .record = {&x, read_answer}, .progress = tell_rerun, .user = &x};
    ff_run_result run;
    ff_run(scenario, &options, &run);
    if (result->damaged)
        return ff_refuse(FF_ERR_FORMAT, message, size,
                         "a part of the log is damaged: nothing after it can be replayed");
    if (x.lost)
        return ff_refuse(x.lost, message, size, "%s", ff_logfile_text(x.lost));
    if (x.stopped)
        return ff_refuse(FF_ERR_LIMIT, message, size, "stopped");
    if (run.status < 0 && run.status != FF_ERR_LIMIT)
        return ff_refuse(run.status, message, size, "%s", run.message);
    if (x.beyond && !result->cut)
        return ff_refuse(FF_ERR_FORMAT, message, size, "the log's rows are not in turn");
    return FF_OK;
}

ff_status ff_replay_check(const ff_logfile *file, char *message, size_t size) {
    if (file->format == FF_LOG_FORMAT)
        return FF_OK;
    return ff_refuse(
        FF_ERR_UNSUPPORTED, message, size,
        "a log of format %d, written by freefloat %s; this is %s, which replays format %d: replay it "
        "with version %s",
        file->format, *file->version ? file->version : "(unknown)", ff_version(), FF_LOG_FORMAT,
        *file->version ? file->version : "(unknown)");
}

ff_status ff_replay(ff_logfile *file, const ff_scenario *scenario, ff_replay_result *result, char *message,
                    size_t size) {
    *result = (ff_replay_result){.cut = !ff_mcap_reader_get_info(file->reader).closed};
    if (scenario->emulates || !scenario->method)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "the ideal reference and emulations have no loop to replay");
    replay r = {.result = result};
    ff_status status = ff_columns_init(scenario, &r.columns);
    if (!status) {
        r.recorded = calloc((size_t)r.columns.count, sizeof *r.recorded);
        r.values = calloc((size_t)r.columns.count, sizeof *r.values);
        status = r.recorded && r.values ? FF_OK : FF_ERR_MEMORY;
    }
    if (status)
        ff_refuse(status, message, size, "%s", ff_status_text(status));
    else if (ff_scenario_servicer(scenario) >= 0)
        status = replay_capture(file, scenario, &r, message, size);
    else
        status = replay_loop(file, scenario, &r, message, size);
    ff_columns_free(&r.columns);
    free(r.recorded);
    free(r.values);
    return status;
}
