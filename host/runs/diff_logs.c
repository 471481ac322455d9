/* runs/diff_logs.c - two logs of the same kind cell by cell, times of computing apart: the first that
 * differs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/logfile.h"
#include "runs/internal.h"
#include "text/number.h"

static bool is_time_of_computing(const char *column, size_t length) {
    return length >= 7 && strncmp(column, "timing.", 7) == 0;
}

/* Notes the first difference of all. */
static void note(ff_log_difference *d, uint64_t row, const char *column, size_t length, const char *a,
                 const char *b) {
    if (d->rows++ > 0)
        return;
    d->row = row;
    snprintf(d->column, sizeof d->column, "%.*s", (int)length, column);
    snprintf(d->a, sizeof d->a, "%s", a);
    snprintf(d->b, sizeof d->b, "%s", b);
}

/* ------------------------------------------------------------------------------------------------- csv -- */

/* One field, up to its comma or the line's end; names of columns have no comma. */
static size_t field(const char **at, const char **text) {
    *text = *at;
    const size_t n = strcspn(*at, ",\r\n");
    *at += n + ((*at)[n] == ',');
    return n;
}

static void compare_lines(const char *head, const char *a, const char *b, uint64_t row,
                          ff_log_difference *d) {
    while (*a || *b || *head) {
        const char *column, *x, *y;
        const size_t name = field(&head, &column), n = field(&a, &x), m = field(&b, &y);
        if (!is_time_of_computing(column, name) && (n != m || memcmp(x, y, n) != 0)) {
            char one[64], other[64];
            snprintf(one, sizeof one, "%.*s", (int)n, x);
            snprintf(other, sizeof other, "%.*s", (int)m, y);
            note(d, row, column, name, one, other);
            return;
        }
        a += strspn(a, "\r\n");
        b += strspn(b, "\r\n");
        head += strspn(head, "\r\n");
    }
}

static ff_status compare_csv(FILE *file[2], ff_log_difference *d) {
    char *line[2] = {NULL, NULL}, *head = NULL;
    size_t room[2] = {0, 0};
    ff_status status = FF_OK;
    for (uint64_t row = 0;; row++) {
        errno = 0;
        const ssize_t n = getline(&line[0], &room[0], file[0]), m = getline(&line[1], &room[1], file[1]);
        if (errno == ENOMEM || ferror(file[0]) || ferror(file[1])) {
            status = errno == ENOMEM ? FF_ERR_MEMORY : FF_ERR_IO;
            break;
        }
        if (n <= 0 && m <= 0)
            break;
        if (n <= 0 || m <= 0) {
            note(d, row, "", 0, n <= 0 ? "-" : "a row", m <= 0 ? "-" : "a row");
            continue;
        }
        if (row > 0)
            compare_lines(head, line[0], line[1], row, d);
        else if (strcmp(line[0], line[1]) != 0) {
            note(d, 0, "other columns", 13, "-", "-");
            break;
        } else if (!(head = strdup(line[0]))) {
            status = FF_ERR_MEMORY;
            break;
        }
    }
    free(line[0]);
    free(line[1]);
    free(head);
    return status;
}

/* ------------------------------------------------------------------------------------------------ mcap -- */

/* The next row; false at the end. */
static bool next_row(ff_logfile *file, double *values, uint64_t *damaged, ff_status *status) {
    for (;;) {
        ff_logfile_kind kind;
        uint64_t k;
        size_t n;
        *status = ff_logfile_next(file, &kind, &k, values, (size_t)file->columns, &n, damaged);
        if (*status == FF_ERR_SIZE)
            continue; /* an input */
        if (*status != FF_OK || kind == FF_LOGFILE_END)
            return false;
        if (kind == FF_LOGFILE_CYCLE && n == (size_t)file->columns)
            return true;
    }
}

static ff_status compare_mcap(ff_logfile file[2], ff_log_difference *d) {
    bool same = file[0].columns == file[1].columns;
    for (int i = 0; i < file[0].columns && same; i++)
        same = strcmp(file[0].name[i], file[1].name[i]) == 0;
    if (!same) {
        note(d, 0, "other columns", 13, "-", "-");
        return FF_OK;
    }
    double *x = calloc((size_t)file[0].columns + 1, sizeof *x),
           *y = calloc((size_t)file[0].columns + 1, sizeof *y);
    ff_status status = x && y ? FF_OK : FF_ERR_MEMORY;
    uint64_t damaged = 0;
    for (uint64_t row = 1; status == FF_OK; row++) {
        ff_status other = FF_OK;
        const bool a = next_row(&file[0], x, &damaged, &status), b = next_row(&file[1], y, &damaged, &other);
        status = status ? status : other;
        if (status != FF_OK || (!a && !b))
            break;
        if (!a || !b)
            note(d, row, "", 0, a ? "a row" : "-", b ? "a row" : "-");
        for (int i = 0; a && b && i < file[0].columns; i++)
            if (memcmp(&x[i], &y[i], sizeof *x) != 0 &&
                !is_time_of_computing(file[0].name[i], strlen(file[0].name[i]))) {
                char one[FF_NUMBER_SIZE], other_text[FF_NUMBER_SIZE];
                ff_number_format(x[i], one);
                ff_number_format(y[i], other_text);
                note(d, row, file[0].name[i], strlen(file[0].name[i]), one, other_text);
                break;
            }
    }
    free(x);
    free(y);
    return status;
}

/* --------------------------------------------------------------------------------------------- either -- */

ff_status ff__run_compare_logs(const char *a, const char *b, ff_log_difference *difference) {
    const char *path[2] = {a, b};
    const size_t n = strlen(a);
    *difference = (ff_log_difference){0};
    ff_status status = FF_OK;
    if (n > 5 && strcmp(a + n - 5, ".mcap") == 0) {
        ff_logfile *file = calloc(2, sizeof *file);
        char message[256];
        int open = 0;
        for (status = file ? FF_OK : FF_ERR_MEMORY; status == FF_OK && open < 2; open += status == FF_OK)
            status = ff_logfile_open(path[open], &file[open], message, sizeof message);
        if (status == FF_OK)
            status = compare_mcap(file, difference);
        while (open > 0)
            ff_logfile_close(&file[--open]);
        free(file);
        return status;
    }
    FILE *file[2] = {fopen(a, "r"), fopen(b, "r")};
    status = file[0] && file[1] ? compare_csv(file, difference) : errno == ENOMEM ? FF_ERR_MEMORY : FF_ERR_IO;
    for (int i = 0; i < 2; i++)
        if (file[i])
            fclose(file[i]);
    return status;
}
