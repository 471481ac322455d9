#include "record/logfile.h"

#include "run/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ff_status refuse(ff_status status, char *message, size_t size, const char *text) {
    snprintf(message, size, "%s", text);
    return status;
}

static void copy_text(ff_mcap_text text, char *to, size_t size) {
    snprintf(to, size, "%.*s", (int)(text.size < size ? text.size : size), text.at);
}

static ff_status split_columns(ff_logfile *file, ff_mcap_text text) {
    int count = text.size > 0;
    for (size_t i = 0; i < text.size; i++)
        count += text.at[i] == ',';
    file->name = calloc((size_t)count + 1, sizeof *file->name);
    if (!file->name)
        return FF_ERR_MEMORY;
    size_t from = 0;
    for (size_t i = 0; i <= text.size && file->columns < count; i++)
        if (i == text.size || text.at[i] == ',') {
            copy_text((ff_mcap_text){text.at + from, i - from}, file->name[file->columns++], FF_COLUMN_NAME);
            from = i + 1;
        }
    return FF_OK;
}

/* Channels are known once the reader passed them: the first message of each kind settles it. */
static ff_status find_columns(ff_logfile *file) {
    ff_mcap_message message;
    bool end = false;
    while (!end && !file->columns) {
        const ff_status status = ff_mcap_reader_next(file->reader, &message, &end);
        if (status == FF_ERR_MEMORY)
            return status;
        if (status != FF_OK || end)
            continue;
        const ff_mcap_channel *channel = ff_mcap_reader_channel(file->reader, message.channel);
        ff_mcap_text columns;
        if (!channel || !ff_mcap_text_equal(channel->topic, "/cycle") ||
            ff_mcap_map_get(channel->metadata, "columns", &columns) != FF_OK)
            continue;
        const ff_status split = split_columns(file, columns);
        if (split != FF_OK)
            return split;
    }
    ff_mcap_reader_rewind(file->reader);
    return file->columns ? FF_OK : FF_ERR_FORMAT;
}

ff_status ff_logfile_open(const char *path, ff_logfile *file, char *message, size_t size) {
    *file = (ff_logfile){0};
    ff_status status = ff_mcap_reader_open(path, &file->reader);
    if (status == FF_ERR_FORMAT)
        return refuse(status, message, size, "this is no MCAP file");
    if (status != FF_OK)
        return refuse(status, message, size, ff_status_text(status));
    ff_mcap_text version;
    if (ff_mcap_reader_metadata(file->reader, "freefloat", "version", &version) == FF_OK)
        copy_text(version, file->version, sizeof file->version);
    status = find_columns(file);
    if (status != FF_OK) {
        ff_logfile_close(file);
        return refuse(status, message, size,
                      status == FF_ERR_MEMORY ? "no memory" : "the file holds no cycle of a run");
    }
    return FF_OK;
}

void ff_logfile_close(ff_logfile *file) {
    ff_mcap_reader_close(file->reader);
    free(file->name);
    *file = (ff_logfile){0};
}

static bool model_in_log(void *self, const char *name, const char **text, size_t *length) {
    const ff_logfile *file = self;
    char full[FF_NAME_SIZE + 16];
    ff_mcap_text found;
    snprintf(full, sizeof full, "model/%s", name);
    if (ff_mcap_reader_attachment(file->reader, full, &found) != FF_OK)
        return false;
    *text = found.at;
    *length = found.size;
    return true;
}

ff_status ff_logfile_scenario(const ff_logfile *file, ff_scenario *scenario, char *message, size_t size) {
    ff_mcap_text text, value;
    if (ff_mcap_reader_attachment(file->reader, "scenario.yaml", &text) != FF_OK)
        return refuse(FF_ERR_FORMAT, message, size, "the log holds no scenario");
    char *memory[FF_LOG_MAX_SETS + FF_LOG_MAX_FOUND], method[64] = "";
    const char *set[FF_LOG_MAX_SETS + FF_LOG_MAX_FOUND];
    ff_logfile *self = (ff_logfile *)(uintptr_t)file; /* read only */
    ff_scenario_options options = {.set = set, .file = model_in_log, .file_self = self};
    if (ff_mcap_reader_metadata(file->reader, "freefloat", "method", &value) == FF_OK && value.size) {
        copy_text(value, method, sizeof method);
        options.method = method;
    }
    ff_status status = FF_OK;
    /* those of the command line, then those that the check found */
    static const char *const source[] = {"freefloat", "freefloat.check"};
    for (int from = 0; from < 2; from++)
        for (int n = 0; options.sets < FF_LOG_MAX_SETS + FF_LOG_MAX_FOUND; n++) {
            char key[16];
            snprintf(key, sizeof key, "set.%d", n);
            if (ff_mcap_reader_metadata(file->reader, source[from], key, &value) != FF_OK)
                break;
            char *at = malloc(value.size + 1);
            if (!at) {
                status = refuse(FF_ERR_MEMORY, message, size, "no memory");
                break;
            }
            copy_text(value, at, value.size + 1);
            memory[options.sets] = at;
            set[options.sets++] = at;
        }
    char warnings[512];
    if (!status)
        status = ff_scenario_parse("scenario.yaml in the log", text.at, text.size, &options, scenario,
                                   message, size, warnings, sizeof warnings);
    for (int i = 0; i < options.sets; i++)
        free(memory[i]);
    return status;
}

ff_status ff_logfile_next(ff_logfile *file, ff_logfile_kind *kind, uint64_t *k, double *values,
                          size_t capacity, size_t *n, uint64_t *damaged) {
    for (;;) {
        ff_mcap_message message;
        bool end = false;
        const ff_status status = ff_mcap_reader_next(file->reader, &message, &end);
        if (status == FF_ERR_MEMORY)
            return status;
        if (status != FF_OK) {
            ++*damaged;
            continue;
        }
        if (end) {
            *kind = FF_LOGFILE_END;
            return FF_OK;
        }
        uint64_t time;
        if (message.channel != file->cycle && message.channel != file->input &&
            message.channel != file->tuning) {
            const ff_mcap_channel *channel = ff_mcap_reader_channel(file->reader, message.channel);
            if (channel && !file->cycle && ff_mcap_text_equal(channel->topic, "/cycle"))
                file->cycle = message.channel;
            else if (channel && !file->input && ff_mcap_text_equal(channel->topic, "/input"))
                file->input = message.channel;
            else if (channel && !file->tuning && ff_mcap_text_equal(channel->topic, "/tuning"))
                file->tuning = message.channel;
            else
                continue;
        }
        if (message.channel == file->tuning) {
            if (ff_message_read_cycle(message.data, message.size, &time, &file->tuned_from, file->tuned,
                                      FF_TUNED_VALUES, &file->tuned_count) != FF_OK)
                file->tuned_count = 0; /* only a replay minds */
            file->retuned = true;
            continue;
        }
        *kind = message.channel == file->cycle ? FF_LOGFILE_CYCLE : FF_LOGFILE_INPUT;
        return ff_message_read_cycle(message.data, message.size, &time, k, values, capacity, n);
    }
}

/* ---------------------------------------------------------------------------------------------- replay -- */

typedef struct replay { /* large: not on the stack */
    ff_loop_config config;
    ff_loop_memory loop;
    ff_loop_info info;
    ff_loop_in in;
    ff_loop_out out;
    ff_row row;
    ff_columns columns;
    double *recorded, *values, *given;
    bool *compared;
} replay;

/* Columns that the loop does not make: a row in which all of that is set differs there from an empty one. */
static void mark_columns(replay *r) {
    ff_row *row = calloc(1, sizeof *row);
    for (int i = 0; i < r->columns.count; i++)
        r->compared[i] = false;
    if (!row)
        return;
    ff_columns_values(&r->columns, row, r->values);
    const ff_vec3 one = {{1, 1, 1}};
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        row->body[i].ideal = (ff_rigid_state){one, {1, 1, 1, 1}, one, one};
        /* what went in is not what came out; the last row has none */
        row->body[i].sensor = (ff_wrench_in){.f_s = {one, one},
                                             .age = 1.0,
                                             .T_wb = {{1, 1, 1, 1}, one},
                                             .twist = {one, one},
                                             .acceleration = {one, one}};
        row->body[i].inertial = row->body[i].robot = (ff_setpoint){{{1, 1, 1, 1}, one}, {one, one}};
        row->body[i].sensor.f_s = (ff_wrench){one, one}; /* an input: the last row has none */
    }
    for (int c = 0; c < FF_MAX_CONTACTS; c++) {
        row->contact_force[c] = one;
        row->touching[c] = true;
    }
    row->compute_ns = 1.0;
    ff_columns_values(&r->columns, row, r->given);
    for (int i = 0; i < r->columns.count; i++)
        r->compared[i] = r->values[i] == r->given[i];
    free(row);
}

static bool same_bits(double a, double b) {
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static bool compare_row(replay *r, ff_replay_result *result) {
    ff_columns_values(&r->columns, &r->row, r->values);
    for (int i = 0; i < r->columns.count; i++) {
        if (!r->compared[i] || same_bits(r->values[i], r->recorded[i]))
            continue;
        result->differs = true;
        result->cycle = r->row.k;
        snprintf(result->column, sizeof result->column, "%s", r->columns.name[i]);
        result->recorded = r->recorded[i];
        result->replayed = r->values[i];
        return false;
    }
    result->cycles++;
    return true;
}

/* Orders that were carried out before this cycle. */
static ff_status retune(ff_logfile *file, const ff_scenario *scenario, replay *r) {
    ff_tuned tuned;
    if (!file->retuned)
        return FF_OK;
    file->retuned = false;
    if (file->tuned_from != r->loop.state->k || file->tuned_count != 3 + 6 * (size_t)scenario->satellites)
        return FF_ERR_FORMAT;
    ff_tuned_take(file->tuned, scenario->satellites, &tuned);
    return ff_tuned_apply(r->loop.model, scenario->satellites, &tuned);
}

static ff_status play(ff_logfile *file, const ff_scenario *scenario, replay *r, ff_replay_result *result,
                      char *message, size_t size) {
    const size_t inputs = (size_t)scenario->satellites * FF_LOG_INPUTS;
    bool waiting = false; /* a row was read whose input has not come */
    for (;;) {
        ff_logfile_kind kind;
        uint64_t k;
        size_t n;
        const bool row_next = !waiting;
        ff_status status =
            ff_logfile_next(file, &kind, &k, row_next ? r->recorded : r->given,
                            row_next ? (size_t)r->columns.count : inputs, &n, &result->damaged);
        if (status != FF_OK)
            return refuse(status, message, size, "the log's rows are out of order");
        if (result->damaged)
            return refuse(FF_ERR_FORMAT, message, size,
                          "a part of the log is damaged: nothing after it can be replayed");
        if (kind == FF_LOGFILE_END) {
            if (!waiting)
                return FF_OK;
            /* the last row has no input: where everything stands at the end. In a log that was cut it is a
             * row whose input is lost. */
            if (result->cut)
                return FF_OK;
            ff_row_begin(scenario, r->loop.state, r->loop.state->k, true, &r->row);
            ff_row_settle(scenario, &r->out);
            ff_row_loop(scenario, r->loop.model, r->loop.state, &r->in, &r->out, FF_OK, &r->row);
            for (int i = 0; i < scenario->satellites; i++)
                r->row.body[i].load = ff_scenario_load_at(scenario, i, r->row.t);
            /* the plant's last reading is not the loop's business */
            compare_row(r, result);
            return FF_OK;
        }
        if (row_next) {
            if (kind != FF_LOGFILE_CYCLE || (int)n != r->columns.count || k != r->loop.state->k)
                return refuse(FF_ERR_FORMAT, message, size, "the log's rows are not in turn");
            if (retune(file, scenario, r) != FF_OK)
                return refuse(FF_ERR_FORMAT, message, size,
                              "an order in the log does not belong to its row, or cannot have been given");
            waiting = true;
            continue;
        }
        if (kind != FF_LOGFILE_INPUT || n != inputs || k != r->loop.state->k)
            return refuse(FF_ERR_FORMAT, message, size, "the log's inputs do not belong to its rows");
        waiting = false;
        for (int i = 0; i < scenario->satellites; i++)
            ff_log_get_input(&r->given[i * FF_LOG_INPUTS], &r->in.sensor[i], &r->in.load[i]);
        ff_row_begin(scenario, r->loop.state, k, false, &r->row);
        status = ff_loop_step(r->loop.model, r->loop.state, &r->info, &r->in, &r->out);
        ff_row_loop(scenario, r->loop.model, r->loop.state, &r->in, &r->out, status, &r->row);
        if (!compare_row(r, result) || status < 0)
            return FF_OK;
        if (file->progress && k % (scenario->cycles / 128 + 1) == 0 &&
            !file->progress(file->user, (double)k / (double)scenario->cycles))
            return refuse(FF_ERR_LIMIT, message, size, "stopped");
    }
}

/* A capture: what the on-board software answered stands in the rows; everything else follows from the
 * scenario and its seed. Each row is read when its cycle asks for the answer, and compared when it is made.
 */
typedef struct rerun {
    ff_logfile *file;
    replay *replay;
    ff_replay_result *result;
    int phase, action, storage, dissipation, force, torque, joint[FF_MAX_ARM_LINKS], joints; /* columns */
    bool ended, stopped;
} rerun;

static int find_column(const ff_columns *columns, const char *satellite, const char *name) {
    char full[FF_COLUMN_NAME];
    snprintf(full, sizeof full, "%s.%s", satellite, name);
    for (int i = 0; i < columns->count; i++)
        if (strcmp(columns->name[i], full) == 0)
            return i;
    return 0; /* not reached: the names are ours */
}

static bool read_answer(void *self, uint64_t k, ff_obsw_out *out) {
    rerun *r = self;
    const double *x = r->replay->recorded;
    ff_logfile_kind kind;
    uint64_t got;
    size_t n;
    do { /* inputs of a capture are in its rows */
        const ff_status status = ff_logfile_next(r->file, &kind, &got, r->replay->recorded,
                                                 (size_t)r->replay->columns.count, &n, &r->result->damaged);
        r->ended = status != FF_OK || kind == FF_LOGFILE_END || r->result->damaged;
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
    if (r->ended)
        return FF_ERR_LIMIT;
    r->replay->row = *row;
    return compare_row(r->replay, r->result) ? FF_OK : FF_ERR_LIMIT;
}

static bool tell_rerun(void *self, double part) {
    rerun *r = self;
    r->stopped = r->file->progress && !r->file->progress(r->file->user, part);
    return !r->stopped;
}

/* All columns but the reference, the timing, and whether a thruster's limit acted before it was recorded. */
static void mark_rerun_columns(replay *r) {
    static const char *const left_out[] = {".ideal.", ".error.", "timing.", ".thrust_saturated"};
    for (int i = 0; i < r->columns.count; i++) {
        r->compared[i] = true;
        for (size_t j = 0; j < sizeof left_out / sizeof *left_out; j++)
            if (strstr(r->columns.name[i], left_out[j]))
                r->compared[i] = false;
    }
}

static ff_status replay_capture(ff_logfile *file, const ff_scenario *scenario, replay *r,
                                ff_replay_result *result, char *message, size_t size) {
    const ff_satellite *s = &scenario->satellite[r->columns.servicer];
    const ff_columns *c = &r->columns;
    rerun x = {.file = file,
               .replay = r,
               .result = result,
               .phase = find_column(c, s->name, "obsw.phase"),
               .action = find_column(c, s->name, "obsw.action"),
               .storage = find_column(c, s->name, "monitor.W_a"),
               .dissipation = find_column(c, s->name, "monitor.delta"),
               .force = find_column(c, s->name, "thrust_force.x [N]"),
               .torque = find_column(c, s->name, "thrust_torque.x [N m]"),
               .joints = s->arm.joints};
    for (int i = 0; i < x.joints; i++) {
        char name[40];
        snprintf(name, sizeof name, "joint.%d.torque [N m]", i + 1);
        x.joint[i] = find_column(c, s->name, name);
    }
    if (file->columns != c->count)
        return refuse(FF_ERR_FORMAT, message, size, "the log has other columns: another version wrote it");
    mark_rerun_columns(r);
    ff_mcap_reader_rewind(file->reader);
    const ff_sink sink = {.self = &x, .row = compare_rerun};
    const ff_run_options options = {
        .sinks = &sink, .count = 1, .record = {&x, read_answer}, .progress = tell_rerun, .user = &x};
    ff_run_result run;
    ff_capture_run(scenario, &options, &run);
    if (result->damaged)
        return refuse(FF_ERR_FORMAT, message, size,
                      "a part of the log is damaged: nothing after it can be replayed");
    if (x.stopped)
        return refuse(FF_ERR_LIMIT, message, size, "stopped");
    if (run.status < 0 && run.status != FF_ERR_LIMIT)
        return refuse(run.status, message, size, run.message);
    if (x.ended && !result->cut)
        return refuse(FF_ERR_FORMAT, message, size, "the log's rows are not in turn");
    return FF_OK;
}

ff_status ff_replay(ff_logfile *file, const ff_scenario *scenario, ff_replay_result *result, char *message,
                    size_t size) {
    *result = (ff_replay_result){.cut = !ff_mcap_reader_get_info(file->reader).closed};
    if (scenario->emulates || !scenario->method)
        return refuse(FF_ERR_UNSUPPORTED, message, size,
                      "the ideal reference and emulations have no loop to replay");
    replay *r = calloc(1, sizeof *r);
    if (!r)
        return refuse(FF_ERR_MEMORY, message, size, "no memory");
    ff_status status = ff_columns_init(scenario, &r->columns);
    if (!status) {
        const size_t inputs = (size_t)scenario->satellites * FF_LOG_INPUTS;
        const size_t most = (size_t)r->columns.count + inputs;
        r->recorded = calloc(most, sizeof *r->recorded);
        r->values = calloc(most, sizeof *r->values);
        r->given = calloc(most, sizeof *r->given);
        r->compared = calloc(most, sizeof *r->compared);
        status = r->recorded && r->values && r->given && r->compared ? FF_OK : FF_ERR_MEMORY;
    }
    const bool capture = ff_scenario_servicer(scenario) >= 0;
    if (!status && capture) {
        status = replay_capture(file, scenario, r, result, message, size);
    } else if (!status) {
        mark_columns(r);
        ff_scenario_loop(scenario, &r->config);
        status = ff_loop_memory_open(&r->config, &r->loop, message, size);
    } else
        refuse(status, message, size, ff_status_text(status));
    if (!status && !capture) {
        ff_loop_reset(r->loop.model, r->loop.state, r->loop.state_bytes, &r->info, &r->out);
        ff_mcap_reader_rewind(file->reader);
        status = play(file, scenario, r, result, message, size);
    }
    ff_loop_memory_close(&r->loop);
    ff_columns_free(&r->columns);
    free(r->recorded);
    free(r->values);
    free(r->given);
    free(r->compared);
    free(r);
    return status;
}
