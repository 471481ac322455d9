#include "live/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/logfile.h"

enum { MOST_COLUMNS = 4096, BURST = 400, BEFORE = 600 };
#define BEFORE_TIME 20.0 /* [s] shown before the instant one jumps to */

/* One field of the header, quotes taken away; returns what follows it. */
static const char *field(const char *at, const char *end, char *text, size_t size) {
    size_t n = 0;
    const bool quoted = at < end && *at == '"';
    at += quoted;
    while (at < end) {
        if (quoted && *at == '"') {
            if (at + 1 == end || at[1] != '"') {
                at++;
                break;
            }
            at++;
        } else if (!quoted && *at == ',') {
            break;
        }
        if (n + 1 < size)
            text[n++] = *at;
        at++;
    }
    text[n] = 0;
    return at;
}

static ff_status read_header(ff_recording *r, const char *line, const char *end) {
    r->name = calloc(MOST_COLUMNS, sizeof *r->name);
    if (!r->name)
        return FF_ERR_MEMORY;
    for (const char *at = line; r->columns < MOST_COLUMNS; at++) {
        char text[FF_COLUMN_NAME];
        at = field(at, end, text, sizeof text);
        char *name = strdup(text);
        if (!name)
            return FF_ERR_MEMORY;
        r->name[r->columns++] = name;
        if (at >= end)
            break;
        if (*at != ',')
            return FF_ERR_FORMAT;
    }
    return strcmp(r->name[0], "t [s]") == 0 ? FF_OK : FF_ERR_FORMAT;
}

/* strtod needs an end: the field is copied, it is short. Empty: nothing was measured. NULL: anything else
 * than a number. */
static const char *number(const char *at, const char *end, double *value) {
    char text[48];
    size_t n = 0;
    while (at < end && !strchr(",\r\n", *at)) {
        if (n + 1 < sizeof text)
            text[n++] = *at;
        at++;
    }
    text[n] = 0;
    char *stop = text;
    *value = n ? strtod(text, &stop) : FF_NAN;
    return *stop || (n && stop == text) ? NULL : at;
}

/* Every cell of a line is a number or empty, and there are as many as columns. */
static bool check_line(const ff_recording *r, size_t n, double *t) {
    const char *at = r->text, *end = r->text + n;
    for (int i = 0; i < r->columns; i++) {
        double value;
        at = number(at, end, i ? &value : t);
        if (at && at < end && *at == '\r')
            at++;
        if (!at || at == end || *at != (i + 1 < r->columns ? ',' : '\n'))
            return false;
        at++;
    }
    return true;
}

/* The next line with its end. 0: none, or it was cut off while it was written: the whole rows count. */
static size_t next_line(ff_recording *r) {
    const ssize_t n = getline(&r->text, &r->room, r->file);
    r->lost = ferror(r->file) != 0;
    r->cut = n > 0 && r->text[n - 1] != '\n';
    return n > 0 && r->text[n - 1] == '\n' ? (size_t)n : 0;
}

static ff_status index_lines(ff_recording *r, size_t at, size_t *bad) {
    size_t capacity = 0;
    double before = -FF_INF;
    for (size_t n; (n = next_line(r)) > 0; at += n) {
        double t;
        if (!check_line(r, n, &t) || !(t >= before) || !isfinite(t)) {
            *bad = r->rows + 2;
            return FF_ERR_FORMAT;
        }
        before = t;
        if (r->rows + 1 >= capacity) {
            capacity = capacity ? 2 * capacity : 4096;
            size_t *line = realloc(r->line, capacity * sizeof *line);
            if (!line)
                return FF_ERR_MEMORY;
            r->line = line;
        }
        r->line[r->rows++] = at;
        r->line[r->rows] = at + n;
    }
    *bad = 1;
    return r->rows && !r->lost ? FF_OK : FF_ERR_FORMAT;
}

/* Keeps every second row. */
static void thin(ff_recording *r) {
    const size_t width = (size_t)r->columns;
    for (size_t i = 0; 2 * i < r->rows; i++)
        memmove(r->stored + i * width, r->stored + 2 * i * width, width * sizeof *r->stored);
    r->rows = (r->rows + 1) / 2;
}

static ff_status read_rows(ff_recording *r, ff_logfile *file, uint64_t *damaged) {
    const size_t width = (size_t)r->columns, most = FF_RECORDING_NUMBERS / width;
    size_t capacity = 0, stride = 1, seen = 0, n = 0, room = width > 256 ? width : 256;
    uint64_t k;
    double *values = calloc(room, sizeof *values);
    ff_logfile_kind kind = FF_LOGFILE_INPUT;
    ff_status status = values ? FF_OK : FF_ERR_MEMORY;
    while (!status) {
        status = ff_logfile_next(file, &kind, &k, values, room, &n, damaged);
        if (status || kind == FF_LOGFILE_END)
            break;
        if (kind != FF_LOGFILE_CYCLE || n != width || seen++ % stride)
            continue;
        if (r->rows == most) {
            thin(r);
            stride *= 2;
        }
        if (r->rows == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            double *grown = realloc(r->stored, capacity * width * sizeof *grown);
            if (!grown) {
                status = FF_ERR_MEMORY;
                break;
            }
            r->stored = grown;
        }
        if (isfinite(values[0]) && (!r->rows || values[0] >= ff_recording_time(r, r->rows - 1)))
            memcpy(r->stored + r->rows++ * width, values, width * sizeof *values);
    }
    free(values);
    return status ? status : r->rows ? FF_OK : FF_ERR_FORMAT;
}

static ff_status open_mcap(ff_recording *r, const char *path, char *message, size_t size) {
    ff_logfile file;
    uint64_t damaged = 0;
    char why[256] = "";
    ff_status status = ff_logfile_open(path, &file, why, sizeof why);
    if (status) {
        snprintf(message, size, "%s: %s", path, why);
        return status;
    }
    r->name = calloc((size_t)file.columns + 1, sizeof *r->name);
    status = r->name ? FF_OK : FF_ERR_MEMORY;
    for (int i = 0; !status && i < file.columns; i++) {
        char *name = strdup(file.name[i]);
        status = name ? FF_OK : FF_ERR_MEMORY;
        if (name)
            r->name[r->columns++] = name;
    }
    if (!status)
        status = r->columns > 0 ? read_rows(r, &file, &damaged) : FF_ERR_FORMAT;
    if (!status && ff_logfile_loss(&file, damaged, why, sizeof why))
        snprintf(message, size, "%s: %s", path, why);
    ff_logfile_close(&file);
    if (status) {
        snprintf(message, size, "%s: %s", path, ff_logfile_text(status));
        ff_recording_close(r);
    }
    return status;
}

ff_status ff_recording_open(ff_recording *r, const char *path, char *message, size_t size) {
    *r = (ff_recording){0};
    *message = 0;
    const size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".mcap") == 0)
        return open_mcap(r, path, message, size);
    const int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer does not wait */
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) {
        if (file >= 0)
            close(file);
        snprintf(message, size, "%s: cannot be read, or is empty", path);
        return FF_ERR_IO;
    }
    r->file = fdopen(file, "r");
    size_t bad = 1;
    const size_t head = r->file ? next_line(r) : 0;
    ff_status status = !r->file ? FF_ERR_MEMORY
                       : head   ? read_header(r, r->text, r->text + head - 1)
                                : FF_ERR_FORMAT;
    if (!r->file)
        close(file);
    if (!status)
        status = index_lines(r, head, &bad);
    if (status) {
        snprintf(message, size, "%s:%zu: %s", path, bad,
                 status == FF_ERR_MEMORY ? "no memory" : "not a log of freefloat, or damaged here");
        ff_recording_close(r);
    } else if (r->cut)
        snprintf(message, size, "%s: the log was cut off: its last line was left out", path);
    return status;
}

void ff_recording_close(ff_recording *r) {
    if (r->file)
        fclose(r->file);
    for (int i = 0; r->name && i < r->columns; i++)
        free(r->name[i]);
    free(r->name);
    free(r->line);
    free(r->text);
    free(r->stored);
    *r = (ff_recording){0};
}

/* A line of the file; NULL: it is not there any more. */
static const char *line_of(ff_recording *r, size_t row, const char **end) {
    const size_t n = r->line[row + 1] - r->line[row]; /* the buffer held the longest */
    for (size_t done = 0; done < n && !r->lost;) {
        const ssize_t got = pread(fileno(r->file), r->text + done, n - done, (off_t)(r->line[row] + done));
        r->lost = got == 0 || (got < 0 && errno != EINTR);
        done += got > 0 ? (size_t)got : 0;
    }
    *end = r->text + n;
    return r->lost ? NULL : r->text;
}

void ff_recording_row(ff_recording *r, size_t row, double *values) {
    if (r->stored) {
        memcpy(values, r->stored + row * (size_t)r->columns, (size_t)r->columns * sizeof *values);
        return;
    }
    const char *end, *at = line_of(r, row, &end);
    for (int i = 0; i < r->columns; i++) {
        values[i] = FF_NAN;
        at = at ? number(at, end, &values[i]) : NULL;
        values[i] = at ? values[i] : FF_NAN; /* it was changed since it was opened */
        if (at && at < end)
            at++;
    }
}

double ff_recording_time(ff_recording *r, size_t row) {
    if (r->stored)
        return r->stored[row * (size_t)r->columns];
    double t = FF_NAN;
    const char *end, *at = line_of(r, row, &end);
    if (at)
        number(at, end, &t);
    return t;
}

size_t ff_recording_at(ff_recording *r, double t) {
    size_t low = 0, high = r->rows - 1;
    while (low < high) {
        const size_t mid = (low + high + 1) / 2;
        if (ff_recording_time(r, mid) <= t)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* ------------------------------------------------------------------------------------------------ player --
 */

ff_status ff_player_init(ff_player *p, ff_live *live, ff_recording *recording) {
    *p = (ff_player){.live = live, .recording = recording, .speed = 1.0, .playing = true};
    p->t = ff_recording_time(recording, 0);
    p->values = calloc((size_t)recording->columns, sizeof *p->values);
    return p->values ? FF_OK : FF_ERR_MEMORY;
}

void ff_player_free(ff_player *p) {
    free(p->values);
    p->values = NULL;
}

static void show(ff_player *p, size_t row, unsigned flags) {
    ff_recording_row(p->recording, row, p->values);
    ff_live_push_values(p->live, p->values, flags);
}

/* What lies before the instant is shown at once, thinned, so that the charts are not empty. */
static void jump(ff_player *p, double t) {
    ff_recording *r = p->recording;
    const size_t to = ff_recording_at(r, t), from = ff_recording_at(r, t - BEFORE_TIME);
    const size_t stride = (to - from) / BEFORE + 1;
    unsigned flags = FF_LIVE_RESTART | FF_LIVE_KEEP;
    for (size_t row = from + (to - from) % stride; row <= to; row += stride, flags = FF_LIVE_KEEP)
        show(p, row, flags);
    p->next = to + 1;
    p->t = ff_recording_time(r, to);
}

static void obey(ff_player *p, const ff_live_command *command) {
    const double last = ff_recording_time(p->recording, p->recording->rows - 1);
    char text[FF_LIVE_TEXT] = "";
    bool done = true;
    switch (command->verb) {
    case FF_LIVE_HOLD:
        p->playing = false;
        snprintf(text, sizeof text, "paused");
        break;
    case FF_LIVE_RESUME:
        if (p->next >= p->recording->rows)
            jump(p, ff_recording_time(p->recording, 0));
        p->playing = true;
        snprintf(text, sizeof text, "plays");
        break;
    case FF_LIVE_STOP:
        p->stopped = true;
        snprintf(text, sizeof text, "closed");
        break;
    case FF_LIVE_SPEED:
        p->speed = command->value;
        snprintf(text, sizeof text, "speed %.3g x", p->speed);
        break;
    case FF_LIVE_SEEK:
        jump(p, fmin(command->value, last));
        snprintf(text, sizeof text, "at %.3f s", p->t);
        break;
    default:
        done = false;
        snprintf(text, sizeof text, "not offered here");
    }
    ff_live_answer(p->live, command, done, text);
}

bool ff_player_step(ff_player *p, int64_t now_ns) {
    ff_recording *r = p->recording;
    ff_live_command command;
    while (ff_live_next_command(p->live, &command))
        if (ff_claim_take(command.claim))
            obey(p, &command);
    if (p->playing && p->last_ns && p->next < r->rows)
        p->t += p->speed * 1e-9 * (double)(now_ns - p->last_ns);
    p->last_ns = now_ns;
    if (p->playing && p->next < r->rows) {
        const size_t to = ff_recording_at(r, p->t) + 1;
        if (to > p->next + BURST) /* far faster than it was recorded: what is in between is passed over */
            p->next = to - BURST;
        for (; p->next < to; p->next++)
            show(p, p->next, p->next == 0 ? FF_LIVE_RESTART : 0);
    }
    ff_live_set_phase(p->live, p->next >= r->rows ? FF_LIVE_ENDED
                               : p->playing       ? FF_LIVE_RUNNING
                                                  : FF_LIVE_HELD);
    return !p->stopped && !r->lost;
}
