#include "record/station.h"

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
        return end(s, status, "the log's rows are out of order");
    if (s->damaged)
        return end(s, FF_ERR_FORMAT, "a part of the log is damaged: nothing after it can be replayed");
    return *kind != FF_LOGFILE_END || end(s, FF_OK, "the log has ended");
}

/* Orders that were carried out before this cycle. */
static bool retune(ff_log_station *s, const ff_run_access *access) {
    ff_logfile *file = s->file;
    const int bodies = s->scenario->satellites;
    ff_tuned tuned;
    if (!file->retuned)
        return true;
    file->retuned = false;
    const bool fits = file->tuned_from == access->k && file->tuned_count == 3 + 6 * (size_t)bodies;
    if (fits)
        ff_tuned_take(file->tuned, bodies, &tuned);
    return (fits && ff_tuned_apply(access->model, bodies, &tuned) == FF_OK) ||
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

static ff_status open(void *self, const double *lead, char *message, size_t size) {
    (void)self;
    (void)lead;
    (void)message;
    (void)size;
    return FF_OK;
}

static void offer(void *self, uint64_t k, const ff_setpoint *command, const ff_rigid_state *nominal) {
    ff_log_station *s = self;
    (void)command;
    (void)nominal;
    s->k = k;
}

/* The last row has no input: where everything stands at the end. In a log that was cut it is a row whose
 * input is lost. */
static ff_status wait(void *self, ff_sample *sample) {
    ff_log_station *s = self;
    const size_t inputs = (size_t)s->scenario->satellites * FF_LOG_INPUTS;
    const bool final = s->k == s->scenario->cycles;
    ff_logfile_kind kind;
    uint64_t k;
    size_t n;
    if (!next(s, s->given, inputs, &kind, &k, &n)) {
        if (s->status == FF_OK && !s->cut && !final)
            end(s, FF_ERR_FORMAT, "the log's last row has no input");
        return s->status == FF_OK && !s->cut ? FF_OK : FF_ERR_FORMAT;
    }
    if (final || kind != FF_LOGFILE_INPUT || n != inputs || k != s->k) {
        end(s, FF_ERR_FORMAT, "the log's inputs do not belong to its rows");
        return FF_ERR_FORMAT;
    }
    sample->k = k;
    for (int i = 0; i < s->scenario->satellites; i++) {
        ff_rigid_load load; /* follows from the scenario */
        ff_log_get_input(&s->given[i * FF_LOG_INPUTS], &sample->body[i].sensor, &load);
    }
    return FF_OK;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, const ff_wrench *measured_b) {
    (void)self;
    (void)k;
    (void)command;
    (void)measured_b;
}

static const ff_truth *truth(const void *self) {
    (void)self;
    return NULL;
}

static void close(void *self) {
    (void)self;
}

ff_station ff_log_station_make(ff_log_station *self) {
    self->k = self->damaged = 0;
    self->status = FF_OK;
    self->why = "";
    self->cut = !ff_mcap_reader_get_info(self->file->reader).closed;
    ff_mcap_reader_rewind(self->file->reader);
    return (ff_station){self, open, offer, wait, write, truth, close};
}
