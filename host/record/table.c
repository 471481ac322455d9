#include "record/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/logfile.h"

enum { COLUMNS_MAX = 4096 };

/* "client.velocity.x [m/s]" without its unit, from n bytes. */
static void put_name(char *name, const char *c, size_t n) {
    for (size_t k = 0; k + 1 < n; k++)
        if (c[k] == ' ' && c[k + 1] == '[')
            n = k;
    snprintf(name, FF_LOG_NAME, "%.*s", (int)(n < FF_LOG_NAME ? n : FF_LOG_NAME - 1), c);
}

static bool grow(ff_log_table *t, size_t *capacity) {
    if (t->rows < *capacity)
        return true;
    *capacity = *capacity ? 2 * *capacity : 4096;
    double *more = realloc(t->value, *capacity * (size_t)t->columns * sizeof *more);
    if (more)
        t->value = more;
    return more != NULL;
}

/* log.mcap: the rows of its channel /cycle. */
static ff_status read_mcap(const char *path, ff_log_table *t, char *message, size_t size) {
    ff_logfile file;
    ff_status status = ff_logfile_open(path, &file, message, size);
    if (status != FF_OK)
        return status;
    size_t capacity = 0, room, n;
    uint64_t k, damaged = 0;
    t->columns = file.columns;
    t->name = calloc((size_t)file.columns + 1, sizeof *t->name);
    room = (size_t)(file.columns > 128 ? file.columns : 128); /* an input is a message of its own */
    double *values = calloc(room, sizeof *values);
    status = t->name && values ? FF_OK : FF_ERR_MEMORY;
    for (int i = 0; i < t->columns && status == FF_OK; i++)
        put_name(t->name[i], file.name[i], strlen(file.name[i]));
    ff_logfile_kind kind = FF_LOGFILE_CYCLE;
    while (status == FF_OK && kind != FF_LOGFILE_END) {
        status = ff_logfile_next(&file, &kind, &k, values, room, &n, &damaged);
        if (status != FF_OK || kind != FF_LOGFILE_CYCLE || n != (size_t)t->columns)
            continue;
        if (!grow(t, &capacity)) {
            status = FF_ERR_MEMORY;
            break;
        }
        memcpy(&t->value[t->rows++ * n], values, n * sizeof *values);
    }
    free(values);
    char loss[128];
    if (status != FF_OK)
        snprintf(message, size, "%s: %s", path, ff_logfile_text(status));
    else if (ff_logfile_loss(&file, damaged, loss, sizeof loss))
        snprintf(message, size, "%s: %s", path, loss);
    ff_logfile_close(&file);
    return status;
}

/* Quotes are not used by the log. */
static ff_status read_names(ff_log_table *t, char *line) {
    int count = 1;
    for (const char *c = line; *c; c++)
        count += *c == ',';
    if (count > COLUMNS_MAX)
        return FF_ERR_FORMAT;
    t->name = calloc((size_t)count, sizeof *t->name);
    if (!t->name)
        return FF_ERR_MEMORY;
    char *c = line;
    for (int i = 0; i < count; i++) {
        const size_t n = strcspn(c, ",\r\n");
        put_name(t->name[i], c, n);
        c += n + (c[n] == ',');
    }
    t->columns = count;
    return ff_log_table_column(t, "t") == 0 ? FF_OK : FF_ERR_FORMAT;
}

/* One line of numbers; empty ones are FF_NAN. False: not as many as the header has names, or something else.
 */
static bool read_row(const ff_log_table *t, const char *line, double *value) {
    const char *c = line;
    for (int i = 0; i < t->columns; i++) {
        char *end;
        value[i] = strtod(c, &end);
        if (!strchr(",\r\n", *end))
            return false; /* a word, or more than a number */
        if (end == c)
            value[i] = FF_NAN;
        if (i + 1 < t->columns ? *end != ',' : *end == ',')
            return false;
        c = end + 1;
    }
    return true;
}

static void find_bodies(ff_log_table *t) {
    static const char tail[] = ".robot.position.x";
    for (int i = 0; i < t->columns && t->bodies < FF_LOG_BODIES; i++) {
        const size_t n = strlen(t->name[i]);
        if (n > sizeof tail - 1 && strcmp(t->name[i] + n - (sizeof tail - 1), tail) == 0)
            snprintf(t->body[t->bodies++], FF_LOG_NAME, "%.*s", (int)(n - (sizeof tail - 1)), t->name[i]);
    }
}

static ff_status read_all(FILE *f, const char *path, ff_log_table *t, char *message, size_t size) {
    char *line = NULL;
    size_t room = 0, capacity = 0, number = 1;
    ff_status status = getline(&line, &room, f) > 0 ? read_names(t, line) : FF_ERR_FORMAT;
    if (status == FF_ERR_FORMAT)
        snprintf(message, size, "%s:1: no header of a log, allowed: named columns beginning with t [s]",
                 path);
    else if (status == FF_ERR_MEMORY)
        snprintf(message, size, "%s: no memory for its columns", path);
    while (status == FF_OK && getline(&line, &room, f) > 0) {
        number++;
        if (!grow(t, &capacity)) {
            snprintf(message, size, "%s: no memory for %zu rows", path, capacity);
            status = FF_ERR_MEMORY;
            break;
        }
        if (read_row(t, line, &t->value[t->rows * (size_t)t->columns])) {
            t->rows++;
        } else if (!strchr(line, '\n')) {
            snprintf(message, size, "%s: the log was cut off: its last line was left out", path);
            break;
        } else {
            snprintf(message, size, "%s:%zu: not %d numbers", path, number, t->columns);
            status = FF_ERR_FORMAT;
        }
    }
    free(line);
    return status;
}

/* Rows are there: how far apart they are, and of whom. */
static ff_status settle(const char *path, ff_status status, ff_log_table *table, char *message, size_t size) {
    if (status == FF_OK && table->rows < 8) {
        snprintf(message, size, "%s: %zu rows, allowed: at least 8", path, table->rows);
        status = FF_ERR_FORMAT;
    }
    if (status == FF_OK) {
        char loss[400]; /* then this is why a step is missing */
        snprintf(loss, sizeof loss, "%s", *message ? message : path);
        const size_t n = table->rows, c = (size_t)table->columns;
        table->cycle = (table->value[(n - 1) * c] - table->value[0]) / (double)(n - 1);
        for (size_t k = 1; k < n && status == FF_OK; k++) {
            const double step = table->value[k * c] - table->value[(k - 1) * c];
            if (!(fabs(step - table->cycle) < 0.01 * table->cycle)) {
                if (*message)
                    snprintf(message, size,
                             "%s; at row %zu the step of time is %g s, allowed: equal steps (%g s)", loss, k,
                             step, table->cycle);
                else
                    snprintf(message, size, "%s:%zu: the step of time is %g s, allowed: equal steps (%g s)",
                             path, k + 2, step, table->cycle);
                status = FF_ERR_FORMAT;
            }
        }
        find_bodies(table);
        if (status == FF_OK && table->bodies == 0) {
            snprintf(message, size, "%s: no column NAME.robot.position.x, allowed: the log of a run", path);
            status = FF_ERR_FORMAT;
        }
    }
    if (status != FF_OK)
        ff_log_table_free(table);
    return status;
}

ff_status ff_log_table_read(const char *path, ff_log_table *table, char *message, size_t size) {
    *table = (ff_log_table){0};
    *message = 0;
    const int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer does not wait */
    struct stat info;
    const bool ordinary = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode);
    FILE *f = ordinary ? fdopen(file, "r") : NULL;
    if (!f) {
        snprintf(message, size, "%s: cannot be read: %s", path,
                 file >= 0 && !ordinary ? "it is not a regular file" : strerror(errno));
        if (file >= 0)
            close(file);
        return FF_ERR_IO;
    }
    char magic[5] = "";
    const bool mcap = fread(magic, 1, 5, f) == 5 && memcmp(magic, "\x89MCAP", 5) == 0;
    rewind(f);
    ff_status status = mcap ? FF_OK : read_all(f, path, table, message, size);
    fclose(f);
    if (mcap)
        status = read_mcap(path, table, message, size);
    return settle(path, status, table, message, size);
}

ff_status ff_log_table_take(const char *label, int columns, const char *const *name,
                            const double *const *value, size_t rows, ff_log_table *table, char *message,
                            size_t size) {
    *table = (ff_log_table){.columns = columns, .rows = rows};
    *message = 0;
    table->name = calloc((size_t)columns + 1, sizeof *table->name);
    table->value = calloc(rows + 1, ((size_t)columns + 1) * sizeof *table->value);
    if (!table->name || !table->value) {
        ff_log_table_free(table);
        snprintf(message, size, "%s: no memory for %zu rows", label, rows);
        return FF_ERR_MEMORY;
    }
    for (int c = 0; c < columns; c++) {
        put_name(table->name[c], name[c], strlen(name[c]));
        for (size_t k = 0; k < rows; k++)
            table->value[k * (size_t)columns + (size_t)c] = value[c][k];
    }
    ff_status status = FF_OK;
    if (!columns || ff_log_table_column(table, "t") != 0) {
        snprintf(message, size, "%s: the first column is not t, allowed: the columns of a log", label);
        status = FF_ERR_FORMAT;
    }
    return settle(label, status, table, message, size);
}
