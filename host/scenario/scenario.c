#include "scenario/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where every mistake is asked for, all but the last one are said here. */
static ff_status apply_sets(ff_reader *r, ff_tree_error *error) {
    ff_status worst = FF_OK;
    for (int i = 0; i < (r->options ? r->options->sets : 0); i++) {
        const char *assignment = r->options->set[i];
        const size_t size = strlen(assignment) + 8;
        char *argument = ff_tree_alloc(r->tree, size);
        if (!argument)
            return FF_ERR_MEMORY;
        snprintf(argument, size, "--set %s", assignment);
        if (size > 200) /* a whole subtree: its beginning is enough to find it */
            snprintf(argument, size, "--set %s", ff_show(assignment).text);
        ff_tree_error fault;
        const ff_status status = ff_tree_set(r->tree, assignment, argument, &fault);
        if (status == FF_OK)
            continue;
        if (worst != FF_OK)
            ff_reader_fail(r, error->place, "%s", error->text);
        *error = fault;
        worst = status;
        if (!ff_reader_all(r))
            break;
    }
    return worst;
}

ff_status ff__read_tree(ff_reader *r, const char *text, size_t length, ff_tree_error *error) {
    *error = (ff_tree_error){.place = {1, 1, NULL, NULL}, .text = "no memory for the scenario"};
    if (length > FF_TREE_BYTES) {
        snprintf(error->text, sizeof error->text, "the file has %zu bytes, allowed: at most 16 MB", length);
        return FF_ERR_FORMAT;
    }
    ff_status status = ff_tree_parse(r->tree, text, length, NULL, &r->tree->root, error);
    if (status == FF_OK && !r->tree->root) {
        snprintf(error->text, sizeof error->text,
                 "the file is empty, allowed: a scenario with name, time and satellites");
        return FF_ERR_FORMAT;
    }
    if (status == FF_OK && (status = ff__lay_site(r, error)) != FF_OK)
        r->tree->root = NULL; /* what follows from a missing site are not mistakes of the scenario */
    return status == FF_OK ? apply_sets(r, error) : status;
}

ff_status ff_scenario_parse(const char *label, const char *text, size_t length,
                            const ff_scenario_options *options, ff_scenario *scenario, char *message,
                            size_t size, char *warnings, size_t warnings_size) {
    ff_tree tree = {.all = options && options->all};
    ff_reader r = {.label = label,
                   .tree = &tree,
                   .scenario = scenario,
                   .options = options,
                   .message = message,
                   .size = size,
                   .warnings = warnings,
                   .warnings_size = warnings_size};
    if (message && size)
        message[0] = 0;
    if (warnings && warnings_size)
        warnings[0] = 0;
    ff_tree_error error;
    ff_status status = ff__read_tree(&r, text, length, &error);
    for (const ff_tree_error *kept = tree.kept; kept; kept = kept->next)
        ff_reader_fail(&r, kept->place, "%s", kept->text);
    if (status != FF_OK)
        ff_reader_fail(&r, error.place, "%s", error.text);
    if ((status == FF_OK || (ff_reader_all(&r) && tree.root)) &&
        !ff__read_scenario(&r, tree.root, options ? options->method : NULL) && status == FF_OK)
        status = r.unsupported ? FF_ERR_UNSUPPORTED : FF_ERR_FORMAT;
    if (tree.kept && (status == FF_OK || status == FF_ERR_UNSUPPORTED))
        status = FF_ERR_FORMAT;
    ff_tree_free(&tree);
    scenario->held = options ? options->held : NULL;
    return status;
}

ff_status ff_scenario_load(const char *path, const ff_scenario_options *options, ff_scenario *scenario,
                           char *message, size_t size, char *warnings, size_t warnings_size) {
    ff_reader r = {.label = path, .message = message, .size = size};
    ff_held own = {0}, *const held = options && options->held ? options->held : &own;
    const ff_held_file *file;
    if (message && size)
        message[0] = 0;
    if (warnings && warnings_size)
        warnings[0] = 0;
    ff_status status = ff_reader_file(&r, held, path, &file);
    if (status == FF_OK)
        status = ff_scenario_parse(path, file->text, file->length, options, scenario, message, size, warnings,
                                   warnings_size);
    ff_held_free(&own);
    return status;
}

void ff_scenario_place(const char *path, const char *name, char place[FF_FILE_PATH]) {
    const char *slash = *name == '/' ? NULL : strrchr(path, '/');
    snprintf(place, FF_FILE_PATH, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name);
}

bool ff_scenario_variant_set(const char *method, const char *text, size_t length, char *set, size_t size) {
    static const char *const top[] = {"integrator", "frame", "nominal"};
    const char *equals = memchr(text, '=', length);
    const size_t key = equals ? (size_t)(equals - text) : length;
    bool whole = memchr(text, '.', key) != NULL;
    for (size_t i = 0; i < sizeof top / sizeof *top; i++)
        whole = whole || (strlen(top[i]) == key && strncmp(top[i], text, key) == 0);
    const int n = snprintf(set, size, "%s%s%.*s", whole ? "" : method, whole ? "" : ".", (int)length, text);
    return n >= 0 && (size_t)n < size;
}
