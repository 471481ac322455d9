#include "record/station.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool end(ff_log_station *s, ff_status status, const char *why) {
    s->status = status;
    s->why = why;
    return false;
}

/* The next row or input. False: there is none, or it cannot be used. */
static bool next(ff_log_station *s, double *values, size_t capacity, ff_logfile_kind *kind, uint64_t *k,
                 size_t *n) {
    const ff_status status = ff_logfile_next(s->file, kind, k, values, capacity, n, &s->damaged);
    if (status != FF_OK)
        return end(s, status,
                   status == FF_ERR_FORMAT || status == FF_ERR_SIZE ? "the log's rows are out of order"
                                                                    : ff_logfile_text(status));
    if (s->damaged)
        return end(s, FF_ERR_FORMAT, "a part of the log is damaged: nothing after it can be replayed");
    return *kind != FF_LOGFILE_END || end(s, FF_OK, "the log has ended");
}

/* Orders that were carried out before this cycle. */
static bool retune(ff_log_station *s, const ff_run_access *access) {
    ff_logfile *file = s->file;
    if (!file->retuned)
        return true;
    file->retuned = false;
    const bool fits = file->tuned_from == access->k && file->tuned_count == (size_t)s->tunings.count;
    if (fits)
        ff_columns_take(&s->tunings, file->tuned, &s->given);
    return (fits && ff_tuned_apply(access->model, s->scenario->satellites, &s->given.tuned) == FF_OK) ||
           end(s, FF_ERR_FORMAT, "an order in the log does not belong to its row, or cannot have been given");
}

bool ff_log_station_between(void *self, const ff_run_access *access) {
    ff_log_station *s = self;
    const ff_logfile *file = s->file;
    ff_logfile_kind kind;
    uint64_t k;
    size_t n;
    if (file->progress && access->k % (s->scenario->cycles / 128 + 1) == 0 &&
        !file->progress(file->user, (double)access->k / (double)s->scenario->cycles))
        return end(s, FF_ERR_LIMIT, "stopped");
    if (!next(s, s->recorded, s->columns, &kind, &k, &n))
        return false;
    if (kind != FF_LOGFILE_CYCLE || n != s->columns || k != access->k)
        return end(s, FF_ERR_FORMAT, "the log's rows are not in turn");
    return retune(s, access);
}

static void close_log(void *self) {
    ff_log_station *s = self;
    ff_columns_free(&s->inputs);
    ff_columns_free(&s->tunings);
    free(s->values);
    s->values = NULL;
}

/* Where a row holds what was sent. */
static ff_status find_station(ff_log_station *s) {
    ff_columns rows;
    const ff_status status = ff_columns_init(s->scenario, &rows);
    for (int i = 0; i < s->scenario->satellites && !status; i++) {
        const char *name = s->scenario->satellite[i].name;
        s->column[i].command = ff_columns_find(&rows, name, "command.position.x [m]");
        s->column[i].lag = ff_columns_find(&rows, name, "lag [m]");
        s->column[i].limited = ff_columns_find(&rows, name, "limited");
    }
    if (!status)
        ff_columns_free(&rows);
    return status;
}

static ff_status open_log(void *self, const double *lead, char *message, size_t size) {
    ff_log_station *s = self;
    (void)lead;
    ff_status status = ff_columns_init_input(s->scenario, &s->inputs);
    if (!status)
        status = ff_columns_init_tuning(s->scenario, &s->tunings);
    if (!status)
        status = find_station(s);
    if (!status) {
        s->values = calloc((size_t)s->inputs.count, sizeof *s->values);
        status = s->values ? FF_OK : FF_ERR_MEMORY;
    }
    if (!status)
        return FF_OK;
    close_log(s);
    snprintf(message, size, "%s", ff_status_text(status));
    return status;
}

static void offer(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_rigid_state *nominal) {
    ff_log_station *s = self;
    (void)led;
    (void)nominal;
    s->k = k;
    memcpy(s->offered, command, (size_t)s->scenario->satellites * sizeof *command);
}

/* What was sent of a command: the command itself, or, where a limit acted, what the log holds. */
static ff_sent sent_of(const ff_log_station *s, int i, const ff_setpoint *command) {
    const double *row = s->recorded, *m = row + s->column[i].command;
    if (row[s->column[i].limited] == 0.0)
        return (ff_sent){.to = *command, .lag = row[s->column[i].lag]};
    return (ff_sent){.to = {{{m[3], m[4], m[5], m[6]}, {{m[0], m[1], m[2]}}},
                            {{{m[10], m[11], m[12]}}, {{m[7], m[8], m[9]}}}},
                     .lag = row[s->column[i].lag],
                     .limited = true};
}

/* The last row has no input: where everything stands at the end. In a log that was cut it is a row whose
 * input is lost. */
static ff_status wait(void *self, ff_sample *sample) {
    ff_log_station *s = self;
    const size_t inputs = (size_t)s->inputs.count;
    const bool final = s->k == s->scenario->cycles;
    ff_logfile_kind kind;
    uint64_t k;
    size_t n;
    for (int i = 0; i < s->scenario->satellites; i++)
        sample->body[i].next = sent_of(s, i, &s->offered[i]);
    if (!next(s, s->values, inputs, &kind, &k, &n)) {
        if (s->status == FF_OK && !s->cut && !final)
            end(s, FF_ERR_FORMAT, "the log's last row has no input");
        return s->status == FF_OK && !s->cut ? FF_OK : FF_ERR_FORMAT;
    }
    if (final || kind != FF_LOGFILE_INPUT || n != inputs || k != s->k) {
        end(s, FF_ERR_FORMAT, "the log's inputs do not belong to its rows");
        return FF_ERR_FORMAT;
    }
    sample->k = k;
    ff_columns_take(&s->inputs, s->values, &s->given); /* the loads follow from the scenario */
    for (int i = 0; i < s->scenario->satellites; i++) {
        sample->body[i].sensor = s->given.body[i].sensor;
        sample->body[i].sent = s->given.body[i].sent;
    }
    return FF_OK;
}

static void write_log(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                      const ff_wrench *measured_b, const ff_arm_order *arm, ff_sent *sent) {
    const ff_log_station *s = self;
    (void)k;
    (void)led;
    (void)measured_b;
    (void)arm;
    for (int i = 0; i < s->scenario->satellites; i++)
        sent[i] = sent_of(s, i, &command[i]);
}

static const ff_truth *truth(const void *self) {
    (void)self;
    return NULL;
}

ff_station ff_log_station_make(ff_log_station *self) {
    self->k = self->damaged = 0;
    self->status = FF_OK;
    self->why = "";
    self->cut = !ff_mcap_reader_get_info(self->file->reader).closed;
    ff_logfile_rewind(self->file);
    return (ff_station){.self = self,
                        .recorded = true,
                        .open = open_log,
                        .offer = offer,
                        .wait = wait,
                        .write = write_log,
                        .truth = truth,
                        .close = close_log};
}
