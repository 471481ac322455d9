#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "record/csv.h"
#include "record/logfile.h"
#include "record/rosbag.h"
#include "scenario/reader.h"
#include "text/file.h"
#include "text/json.h"
#include "show.h"

static const char help[] =
    "usage: freefloat export LOG --to LIST [options]\n\n"
    "Writes the columns of a log.mcap to other formats, beside it.\n\n"
    "  --to LIST          csv, mat (MATLAB, version 5), ros2 (metadata.yaml, which ros2\n"
    "                     bag reads beside the log), separated by commas\n"
    "  --out DIR          another folder\n"
    "  --json             print the files as JSON\n"
    "  --quiet            print nothing but errors\n\n"
    "exit status: 0 done, 1 a file could not be written, 2 bad usage or log\n"
    "example: freefloat export out/deos-client/log.mcap --to csv,mat\n";

typedef struct table {
    int columns;
    size_t rows, capacity;
    double *values; /* row by row */
} table;

static ff_status read_rows(ff_logfile *file, table *t, uint64_t *damaged) {
    t->columns = file->columns;
    for (;;) {
        if (t->rows == t->capacity) {
            t->capacity = t->capacity ? 2 * t->capacity : 1024;
            double *more = realloc(t->values, t->capacity * (size_t)t->columns * sizeof *more);
            if (!more)
                return FF_ERR_MEMORY;
            t->values = more;
        }
        ff_logfile_kind kind;
        uint64_t k;
        size_t n;
        double *row = &t->values[t->rows * (size_t)t->columns];
        const ff_status status = ff_logfile_next(file, &kind, &k, row, (size_t)t->columns, &n, damaged);
        if (status != FF_OK)
            return status;
        if (kind == FF_LOGFILE_END)
            return FF_OK;
        t->rows += kind == FF_LOGFILE_CYCLE && (int)n == t->columns;
    }
}

static ff_status write_csv(FILE *out, const ff_logfile *file, const table *t) {
    ff_status status = ff_csv_write_header(out, t->columns, file->name);
    for (size_t r = 0; r < t->rows && status == FF_OK; r++)
        status = ff_csv_write_line(out, t->columns, &t->values[r * (size_t)t->columns]);
    return status;
}

static ff_status write_mat(FILE *out, const ff_logfile *file, const table *t) {
    double *turned = malloc((t->rows * (size_t)t->columns + 1) * sizeof *turned);
    if (!turned)
        return FF_ERR_MEMORY;
    for (size_t r = 0; r < t->rows; r++)
        for (size_t c = 0; c < (size_t)t->columns; c++)
            turned[c * t->rows + r] = t->values[r * (size_t)t->columns + c];
    const ff_status status = ff_matlab_write(out, t->columns, file->name, turned, t->rows);
    free(turned);
    return status;
}

/* What is there goes only where it may be written, and only for a whole file that is on the disk. */
static ff_status write_one(const char *path, bool csv, const ff_logfile *file, const table *t) {
    ff_file_whole whole;
    errno = 0;
    if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
        return FF_ERR_IO;
    errno = 0;
    ff_status status = ff_file_begin(path, &whole);
    if (status != FF_OK)
        return status;
    status = csv ? write_csv(whole.file, file, t) : write_mat(whole.file, file, t);
    return ff_file_keep(&whole, status == FF_OK);
}

/* metadata.yaml, for ros2 bag, in the folder of the log. */
static int write_bag(const char *log, ff_json *json, bool quiet) {
    char copy[PATH_MAX], path[2 * PATH_MAX], name[PATH_MAX];
    ff_file_whole whole;
    int topics = 0;
    uint64_t messages = 0;
    snprintf(copy, sizeof copy, "%s", log);
    snprintf(name, sizeof name, "%s", basename(copy));
    snprintf(copy, sizeof copy, "%s", log);
    snprintf(path, sizeof path, "%s/metadata.yaml", dirname(copy));
    errno = 0;
    ff_status status = ff_file_begin(path, &whole);
    if (status == FF_OK) {
        status = ff_rosbag_metadata(log, name, whole.file, &topics, &messages);
        status = ff_file_keep(&whole, status == FF_OK);
    }
    if (status != FF_OK) {
        ff_cli_error("%s: cannot be written (%s)", path, strerror(errno ? errno : ENOSPC));
        return FF_EXIT_FAILED;
    }
    if (json) {
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "file", path);
        ff_json_integer(json, "topics", topics);
        ff_json_integer(json, "messages", (long long)messages);
        ff_json_close(json, '}');
    } else if (!quiet)
        ff_cli_line("%s: %d topics, %llu messages", path, topics, (unsigned long long)messages);
    return FF_EXIT_DONE;
}

static int write_all(const char *list, const char *log, const char *folder, const char *stem,
                     const ff_logfile *file, const table *t, bool whole, ff_json *json, bool quiet) {
    int result = FF_EXIT_DONE;
    for (const char *c = list; *c;) {
        const size_t n = strcspn(c, ",");
        char path[2 * PATH_MAX];
        if (strncmp(c, "ros2", n) == 0) {
            if (write_bag(log, json, quiet) != FF_EXIT_DONE)
                result = FF_EXIT_FAILED;
            c += n + (c[n] == ',');
            continue;
        }
        snprintf(path, sizeof path, "%s/%s.%.*s", folder, stem, (int)n, c);
        if (!whole && access(path, F_OK) == 0) {
            ff_cli_error(
                "%s: stands there, and is not replaced by the rows of a log that is not whole; choose "
                "another folder with --out",
                path);
            result = FF_EXIT_FAILED;
            c += n + (c[n] == ',');
            continue;
        }
        const ff_status status = write_one(path, strncmp(c, "csv", n) == 0, file, t);
        if (status != FF_OK) {
            ff_cli_error("%s: cannot be written (%s)", path,
                         strerror(status == FF_ERR_SIZE ? ENAMETOOLONG
                                  : errno               ? errno
                                                        : ENOSPC));
            result = FF_EXIT_FAILED;
        } else if (json) {
            ff_json_open(json, NULL, '{');
            ff_json_string(json, "file", path);
            ff_json_integer(json, "columns", t->columns);
            ff_json_integer(json, "rows", (long long)t->rows);
            ff_json_bool(json, "whole", whole);
            ff_json_close(json, '}');
        } else if (!quiet) {
            ff_cli_line("%s: %d columns, %zu rows", path, t->columns, t->rows);
        }
        c += n + (c[n] == ',');
    }
    return result;
}

int ff_cmd_export(int argc, char **argv) {
    const char *path = NULL, *list = NULL, *out = NULL;
    int exit_status;
    bool json_wanted = false, quiet = false;
    const ff_option options[] = {FF_OPT("--to", &list),
                                 FF_OPT("--out", &out),
                                 FF_OPT_FLAG("--json", &json_wanted),
                                 FF_OPT_FLAG("--quiet", &quiet),
                                 {0}};
    if (ff_cli_parse(argc, argv, "export", help, options, "log", &path, &exit_status))
        return exit_status;
    if (!list) {
        ff_cli_error("freefloat export: --to what? see freefloat export --help");
        return FF_EXIT_USAGE;
    }
    for (const char *c = list; *c;) {
        const size_t n = strcspn(c, ",");
        const bool bag = n == 4 && strncmp(c, "ros2", n) == 0;
        if (!bag && (n != 3 || (strncmp(c, "csv", n) != 0 && strncmp(c, "mat", n) != 0))) {
            static const char *const formats[] = {"csv", "mat", "ros2", NULL};
            ff_cli_error("--to %s: '%.*s' is not an export format%s; allowed: csv, mat, ros2", list, (int)n,
                         c, ff_guess_among(c, n, formats).text);
            return FF_EXIT_USAGE;
        }
        if (bag && out) {
            ff_cli_error("--to ros2: metadata.yaml stands beside the log; not with --out");
            return FF_EXIT_USAGE;
        }
        c += n + (c[n] == ',');
    }
    char message[256], copy[PATH_MAX], stem[PATH_MAX];
    ff_logfile file;
    if (ff_logfile_open(path, &file, message, sizeof message) != FF_OK) {
        ff_cli_error("%s: %s", path, message);
        return FF_EXIT_USAGE;
    }
    if (out && ff_show_folder(out) != FF_EXIT_DONE) {
        ff_logfile_close(&file);
        return FF_EXIT_USAGE;
    }
    table t = {0};
    uint64_t damaged = 0;
    const ff_status status = read_rows(&file, &t, &damaged);
    snprintf(copy, sizeof copy, "%s", path);
    snprintf(stem, sizeof stem, "%s", basename(copy));
    char *dot = strrchr(stem, '.');
    if (dot && dot != stem)
        *dot = 0;
    snprintf(copy, sizeof copy, "%s", path);
    if (status != FF_OK) {
        ff_cli_error("%s: %s", path, ff_logfile_text(status));
        exit_status = FF_EXIT_USAGE;
    } else {
        const bool whole = !ff_logfile_loss(&file, damaged, message, sizeof message);
        if (!whole)
            ff_cli_error("warning: %s: %s", path, message);
        ff_json json;
        ff_json_init(&json, true);
        ff_json_open(&json, NULL, '[');
        exit_status = write_all(list, path, out ? out : dirname(copy), stem, &file, &t, whole,
                                json_wanted ? &json : NULL, quiet);
        ff_json_close(&json, ']');
        char *const text = ff_json_take(&json);
        if (!json_wanted)
            free(text);
        else if (ff_cli_json(text) != FF_EXIT_DONE)
            exit_status = FF_EXIT_FAILED;
    }
    free(t.values);
    ff_logfile_close(&file);
    return exit_status;
}
