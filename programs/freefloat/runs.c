/* freefloat runs: the runs that are kept, what differs between two, and which to remove. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "runs/list.h"
#include "scenario/reader.h"
#include "text/json.h"

static const char help[] =
    "usage: freefloat runs [NAME]\n"
    "       freefloat runs diff A B\n"
    "       freefloat runs prune [NAME] --keep N\n\n"
    "Lists the runs below out/.runs (docs/runs.md), of one scenario or campaign or\n"
    "of all; * is the one that out/NAME shows. Runs that were made with --out DIR are\n"
    "in DIR alone. diff says what differs between two: program, call, inputs, files,\n"
    "values of summary.json, rows of logs. A and B are folders, NAME/ID or IDs.\n"
    "prune removes older ones, never one that is shown or being written, nor one with\n"
    "files in it that it did not write.\n\n"
    "  --keep N      prune: keeps the newest N complete runs of each name\n"
    "  --incomplete  prune: removes also what was killed, stopped or ran out of disk\n"
    "  --force       prune: removes also runs with files that they did not write\n"
    "  --dry-run     prune: says what would go, removes nothing\n"
    "  --json        print JSON instead of a table\n"
    "  --quiet       print nothing but errors\n\n"
    "exit status: 0 done, also where two runs differ; 1 no memory, or a run cannot be\n"
    "removed; 2 bad usage or no such run\n"
    "example: freefloat runs wall && freefloat runs prune wall --keep 5\n";

static void size_text(uint64_t bytes, char text[24]) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int i = 0;
    for (; value >= 1000.0 && i < 4; i++)
        value /= 1000.0;
    snprintf(text, 24, "%.3g %s", value, unit[i]);
}

static void put_entry(ff_json *json, const ff_run_entry *e) {
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "name", e->name);
    ff_json_string(json, "id", e->id);
    ff_json_string(json, "path", e->path);
    ff_json_string(json, "state", e->state);
    ff_json_string(json, "command", *e->command ? e->command : NULL);
    ff_json_string(json, "method", *e->method ? e->method : NULL);
    ff_json_string(json, "verdict", *e->verdict ? e->verdict : NULL);
    ff_json_string(json, "started", e->started);
    ff_json_integer(json, "bytes", (long long)e->bytes);
    ff_json_bool(json, "shown", e->linked);
    ff_json_close(json, '}');
}

/* The ID is the date. */
static void add_row(ff_table *table, const ff_run_entry *e) {
    char size[24];
    size_text(e->bytes, size);
    ff_table_add(table, "%s%s/%s|%s|%.20s|%s|%s", e->linked ? "* " : "  ", e->name, e->id, e->state,
                 *e->method ? e->method : "-", *e->verdict ? e->verdict : "-", size);
}

typedef struct output {
    bool json, quiet;
    ff_json text;
    ff_table table;
    int count, failed, cut;
} output;

static void begin(output *o, int columns, const char *head) {
    ff_json_init(&o->text, true);
    ff_json_open(&o->text, NULL, '[');
    ff_table_init(&o->table, columns);
    ff_table_add(&o->table, "%s", head);
}

static int end(output *o, const char *nothing) {
    int status = o->table.failed ? FF_EXIT_FAILED : FF_EXIT_DONE;
    ff_json_close(&o->text, ']');
    if (o->json)
        status = ff_cli_json(ff_json_take(&o->text));
    else if (!o->quiet && o->table.rows > 1)
        ff_table_print(&o->table);
    else if (!o->quiet && !o->count)
        printf("%s\n", nothing);
    ff_json_free(&o->text);
    ff_table_free(&o->table);
    return status;
}

static const char entry_head[] = "run, begun at (UTC)|state|method|verdict|size";

static void take_entry(void *user, const ff_run_entry *e) {
    output *o = user;
    o->count++;
    put_entry(&o->text, e);
    add_row(&o->table, e);
}

static void take_cut(void *user, const ff_run_entry *e) {
    output *o = user;
    (void)e;
    o->cut++;
}

static void take_failure(void *user, const ff_run_entry *e, int error) {
    output *o = user;
    o->failed++;
    ff_cli_error("%s: cannot be removed (%s)", e->path, strerror(error));
}

static void take_kept(void *user, const ff_run_entry *e, const char *file) {
    (void)user;
    char line[2 * FF_FILE_PATH];
    snprintf(line, sizeof line, "notice: %s stays: its %s is not of the run; --force removes it", e->path,
             file);
    ff_cli_warn_lines(line);
}

static void take_finding(void *user, const ff_run_finding *f) {
    output *o = user;
    o->count++;
    ff_json_open(&o->text, NULL, '{');
    ff_json_string(&o->text, "kind", f->kind);
    ff_json_string(&o->text, "what", f->what);
    ff_json_string(&o->text, "a", f->a);
    ff_json_string(&o->text, "b", f->b);
    ff_json_close(&o->text, '}');
    if (!o->json && !o->quiet)
        ff_cli_line("%-7s %s: %s -> %s", f->kind, f->what, f->a, f->b);
}

static int diff(const char *a, const char *b, output *o) {
    char path[2][FF_FILE_PATH];
    const char *word[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        ff_manifest m;
        const bool found = ff_runs_find(word[i], path[i]);
        const ff_status status = found ? ff_manifest_read(path[i], &m) : FF_ERR_IO;
        if (status != FF_OK) {
            ff_cli_error("freefloat runs diff: '%s' is not a run, allowed: a folder with manifest.json, "
                         "NAME/ID or ID; "
                         "freefloat runs lists them",
                         word[i]);
            return FF_EXIT_USAGE;
        }
        ff_manifest_free(&m);
    }
    begin(o, 1, "");
    const ff_status status = ff_runs_diff(path[0], path[1], take_finding, o);
    if (status != FF_OK)
        ff_cli_error("freefloat runs diff: %s", ff_status_text(status));
    const int printed = end(o, "nothing differs");
    return status == FF_OK ? printed : FF_EXIT_FAILED;
}

static void tell_unlisted(const char *command, ff_status status) {
    if (status == FF_ERR_MEMORY)
        ff_cli_error("freefloat %s: no memory", command);
    else if (status != FF_OK)
        ff_cli_error("freefloat %s: out/.runs cannot be read (%s)", command, strerror(errno));
}

static int prune(const char *name, double keep, bool incomplete, bool dry, bool force, output *o) {
    if (!(keep >= 0.0) || keep > 1e9 || keep != (double)(uint64_t)keep) {
        ff_cli_error(
            "freefloat runs prune: --keep must be given, allowed: 0 to 1000000000 runs of each name");
        return FF_EXIT_USAGE;
    }
    begin(o, 5, entry_head);
    const ff_runs_prune_config config = {.name = name,
                                         .keep = (uint64_t)keep,
                                         .incomplete = incomplete,
                                         .dry = dry,
                                         .force = force,
                                         .kept = take_kept,
                                         .removed = take_entry,
                                         .failed = take_failure,
                                         .cut = take_cut,
                                         .user = o};
    const ff_status status = ff_runs_prune(&config);
    tell_unlisted("runs prune", status);
    if (!o->json && !o->quiet && o->count)
        printf("%s:\n", dry ? "would be removed" : "removed");
    const int printed = end(o, "nothing to remove");
    if (!o->json && !o->quiet && o->cut)
        printf("what was cut off stays (%d); --incomplete removes it, too\n", o->cut);
    return status == FF_OK && !o->failed ? printed : FF_EXIT_FAILED;
}

static int list(const char *name, output *o) {
    ff_run_list all;
    const ff_status status = ff_runs_list(name, &all);
    if (status != FF_OK) {
        tell_unlisted("runs", status);
        return FF_EXIT_FAILED;
    }
    char nothing[200];
    snprintf(nothing, sizeof nothing, "no runs%s%.100s below out/.runs", name ? " of " : "",
             name ? ff_show(name).text : "");
    begin(o, 5, entry_head);
    for (int i = 0; i < all.count; i++)
        take_entry(o, &all.entry[i]);
    ff_runs_free(&all);
    return end(o, nothing);
}

/* A word that nearly is diff or prune, and that no run has for its name; it is said then. */
static bool is_mistyped(const char *word) {
    static const char *const words[] = {"diff", "prune", "list", NULL};
    const ff_shown hint = ff_guess_among(word, strlen(word), words);
    ff_run_list all;
    if (!*hint.text || ff_runs_list(word, &all) != FF_OK)
        return false;
    const int count = all.count;
    ff_runs_free(&all);
    if (count == 0)
        ff_cli_error("freefloat runs: no run is named '%s'%s; freefloat runs alone lists them",
                     ff_show(word).text, strstr(hint.text, "'list'") ? "" : hint.text);
    return count == 0;
}

int ff_cmd_runs(int argc, char **argv) {
    const char *word = NULL, *first = NULL;
    double keep = -1.0;
    bool incomplete = false, dry = false, force = false;
    int status;
    output o = {0};
    const ff_option options[] = {FF_OPT_NUMBER("--keep", &keep),
                                 FF_OPT_FLAG("--incomplete", &incomplete),
                                 FF_OPT_FLAG("--dry-run", &dry),
                                 FF_OPT_FLAG("--force", &force),
                                 FF_OPT_FLAG("--json", &o.json),
                                 FF_OPT_FLAG("--quiet", &o.quiet),
                                 {0}};
    const bool is_diff = argc > 1 && strcmp(argv[1], "diff") == 0;
    const bool is_prune = argc > 1 && strcmp(argv[1], "prune") == 0;
    int skip = is_diff || is_prune;
    if (!skip && argc > 1 && argv[1][0] != '-' && is_mistyped(argv[1]))
        return FF_EXIT_USAGE;
    if (is_diff && argc > 2 && argv[2][0] != '-') {
        first = argv[2];
        skip++;
    }
    if (ff_cli_parse(argc - skip, argv + skip,
                     is_diff    ? "runs diff"
                     : is_prune ? "runs prune"
                                : "runs",
                     help, options, is_diff ? "second run" : NULL, &word, &status))
        return status;
    if (!is_prune && (keep >= 0.0 || incomplete || dry || force)) {
        ff_cli_error(
            "freefloat runs: --keep, --incomplete, --force and --dry-run belong to freefloat runs prune");
        return FF_EXIT_USAGE;
    }
    if (is_diff)
        return first ? diff(first, word, &o) : ff_cli_missing("runs diff", "run");
    return is_prune ? prune(word, keep, incomplete, dry, force, &o) : list(word, &o);
}
