/* runs/diff.c - what differs between two runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/internal.h"
#include "runs/list.h"

enum { SUMMARY_BYTES = 16 << 20, KEY = 512 };

typedef struct comparison {
    const char *folder[2];
    ff_run_take *take;
    void *user;
    ff_status status;
    bool quiet; /* only counted */
    int found;
} comparison;

static const char *leaf(const ff_node *node) {
    return !node ? "-" : node->kind == FF_NODE_SCALAR ? node->text : node->count ? "(values)" : "(none)";
}

static void report(comparison *c, const char *kind, const char *what, const char *a, const char *b) {
    const ff_run_finding finding = {.kind = kind, .what = what, .a = a, .b = b};
    c->found++;
    if (!c->quiet)
        c->take(c->user, &finding);
}

/* What depends on the computer's speed, not on the run. */
static bool is_timing(const char *key) {
    const size_t n = strlen(key);
    return strcmp(key, "timing") == 0 || (n > 3 && strcmp(key + n - 3, "_ns") == 0);
}

static void compare_values(comparison *c, const char *kind, const char *path, const ff_node *a,
                           const ff_node *b) {
    char below[KEY];
    if (!a || !b || a->kind != b->kind || a->kind == FF_NODE_SCALAR) {
        if (!a || !b || a->kind != b->kind || strcmp(a->text, b->text) != 0)
            report(c, kind, path, leaf(a), leaf(b));
        return;
    }
    const char *dot = *path ? "." : "";
    if (a->kind == FF_NODE_LIST) {
        const ff_node *x = a->child, *y = b->child;
        for (int i = 0; x || y; i++) {
            snprintf(below, sizeof below, "%s%s%d", path, dot, i);
            compare_values(c, kind, below, x, y);
            x = x ? x->next : NULL;
            y = y ? y->next : NULL;
        }
        return;
    }
    for (const ff_node *x = a->child; x; x = x->next)
        if (!is_timing(x->key)) {
            snprintf(below, sizeof below, "%s%s%s", path, dot, x->key);
            compare_values(c, kind, below, x, ff_node_find(b, x->key));
        }
    for (const ff_node *y = b->child; y; y = y->next)
        if (!is_timing(y->key) && !ff_node_find(a, y->key)) {
            snprintf(below, sizeof below, "%s%s%s", path, dot, y->key);
            compare_values(c, kind, below, NULL, y);
        }
}

/* Two summaries value by value. */
static void compare_summaries(comparison *c, const char *file) {
    char path[FF_FILE_PATH], *text[2] = {NULL, NULL};
    ff_tree tree[2] = {{0}, {0}};
    ff_node *root[2] = {NULL, NULL};
    ff_tree_error error;
    ff_status status = FF_OK;
    for (int i = 0; i < 2 && status == FF_OK; i++) {
        size_t length;
        status = ff__run_join(path, c->folder[i], file) && !ff__run_is_link(c->folder[i], file)
                     ? ff_file_read_own(path, SUMMARY_BYTES, &text[i], &length, NULL, 0)
                     : FF_ERR_IO;
        if (status == FF_OK)
            status = ff_tree_parse(&tree[i], text[i], length, NULL, &root[i], &error);
    }
    if (status == FF_ERR_MEMORY)
        c->status = status;
    else if (status == FF_OK && root[0] && root[1])
        compare_values(c, "value", "", root[0], root[1]);
    else
        report(c, "value", file, "cannot be compared value by value", "-");
    for (int i = 0; i < 2; i++) {
        ff_tree_free(&tree[i]);
        free(text[i]);
    }
}

static const char *short_hash(const char *hash, char text[16]) {
    snprintf(text, 16, "%.12s", *hash ? hash : "none");
    return text;
}

static bool ends(const char *name, const char *with) {
    const size_t n = strlen(name), m = strlen(with);
    return n >= m && strcmp(name + n - m, with) == 0;
}

static void compare_logs(comparison *c, const char *file) {
    char path[2][FF_FILE_PATH], what[320];
    ff_log_difference d;
    const ff_status status =
        ff__run_join(path[0], c->folder[0], file) && ff__run_join(path[1], c->folder[1], file) &&
                !ff__run_is_link(c->folder[0], file) && !ff__run_is_link(c->folder[1], file)
            ? ff__run_compare_logs(path[0], path[1], &d)
            : FF_ERR_IO;
    if (status == FF_ERR_MEMORY)
        c->status = status;
    else if (status != FF_OK)
        report(c, "value", file, "cannot be compared row by row", "-");
    else if (d.rows > 0) {
        snprintf(what, sizeof what, "%s, row %llu%s%s, the first of %llu that differ", file,
                 (unsigned long long)d.row, *d.column ? ", " : "", d.column, (unsigned long long)d.rows);
        report(c, "value", what, d.a, d.b);
    }
}

/* What is in a file whose bytes differ: its line, and then its values, or nothing where only times of
 * computing differ. */
static void compare_file(comparison *c, const ff_node *a, const ff_node *b) {
    char x[16], y[16];
    void (*inside)(comparison *, const char *) = ends(a->key, "summary.json") ? compare_summaries
                                                 : ends(a->key, "log.csv") || ends(a->key, "log.mcap")
                                                     ? compare_logs
                                                     : NULL;
    comparison quiet = *c;
    quiet.quiet = true;
    if (inside)
        inside(&quiet, a->key);
    c->status = quiet.status;
    if (inside && quiet.found == c->found)
        return;
    report(c, "result", a->key, short_hash(leaf(a), x), short_hash(leaf(b), y));
    if (inside)
        inside(c, a->key);
}

/* Results as they are now: what is not what its run wrote is said, and compared as it is. */
static void take_present(comparison *c, int side, const ff_manifest *m) {
    char what[FF_FILE_PATH + 160], x[16], y[40];
    ff_node *results = ff_node_find(m->root, "results");
    if (!m->sealed)
        report(c, "run", FF_RUN_MANIFEST, "damaged: not what was written", c->folder[side]);
    if (!results || results->kind != FF_NODE_MAP || !results->child)
        report(c, "run", "results", "none are recorded", c->folder[side]);
    for (ff_node *n = results && results->kind == FF_NODE_MAP ? results->child : NULL; n; n = n->next) {
        char *now = ff_tree_alloc(m->tree, FF_SHA256_TEXT);
        if (!now) {
            c->status = FF_ERR_MEMORY;
            return;
        }
        const bool there = ff__run_is_below(n->key) && ff__run_hash(c->folder[side], n->key, now) == FF_OK;
        if (n->kind == FF_NODE_SCALAR && there && strcmp(now, n->text) == 0)
            continue;
        snprintf(what, sizeof what, "%s of %s is not what its run wrote", n->key, c->folder[side]);
        snprintf(y, sizeof y, "%s", there ? short_hash(now, x) : "not there");
        report(c, "result", what, n->kind == FF_NODE_SCALAR ? short_hash(leaf(n), x) : "none", y);
        n->kind = FF_NODE_SCALAR;
        n->text = there ? now : "";
    }
}

static void compare_results(comparison *c, const ff_node *a, const ff_node *b) {
    char x[16], y[16];
    const int before = c->found;
    for (int side = 0; side < 2; side++) {
        const ff_node *here = side ? b : a, *there = side ? a : b;
        for (const ff_node *n = here ? here->child : NULL; n; n = n->next) {
            const ff_node *other = there ? ff_node_find(there, n->key) : NULL;
            if (!other)
                report(c, "result", n->key, side ? "-" : short_hash(leaf(n), x),
                       side ? short_hash(leaf(n), y) : "-");
            else if (side == 0 && strcmp(leaf(n), leaf(other)) != 0 && !ends(n->key, "report.html"))
                compare_file(c, n, other);
        }
    }
    for (const ff_node *n = a ? a->child : NULL; n && c->found > before;
         n = n->next) { /* it shows the others */
        const ff_node *other = b ? ff_node_find(b, n->key) : NULL;
        if (other && ends(n->key, "report.html") && strcmp(leaf(n), leaf(other)) != 0)
            compare_file(c, n, other);
    }
}

static const char *member(const ff_node *node, const char *key) {
    const ff_node *found = ff_node_find(node, key);
    return found && found->kind == FF_NODE_SCALAR ? found->text : "";
}

static void compare_inputs(comparison *c, const ff_node *a, const ff_node *b) {
    char x[16], y[16];
    for (int side = 0; side < 2; side++) {
        const ff_node *here = side ? b : a, *there = side ? a : b;
        for (const ff_node *n = here ? here->child : NULL; n; n = n->next) {
            const ff_node *other = there ? there->child : NULL;
            while (other && strcmp(member(other, "path"), member(n, "path")) != 0)
                other = other->next;
            short_hash(member(n, "sha256"), x);
            if (!other)
                report(c, "input", member(n, "path"), side ? "-" : x, side ? x : "-");
            else if (side == 0 && strcmp(member(n, "sha256"), member(other, "sha256")) != 0)
                report(c, "input", member(n, "path"), x, short_hash(member(other, "sha256"), y));
        }
    }
}

ff_status ff_runs_diff(const char *a, const char *b, ff_run_take *take, void *user) {
    static const char *const key[] = {"name",        "command", "state", "method",    "verdict",
                                      "exit_status", "program", "host",  "arguments", "folder"};
    comparison c = {.folder = {a, b}, .take = take, .user = user};
    ff_manifest x, y = {0};
    ff_status status = ff_manifest_read(a, &x);
    if (status == FF_OK)
        status = ff_manifest_read(b, &y);
    if (status == FF_OK) {
        for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
            const ff_node *p = ff_node_find(x.root, key[i]), *q = ff_node_find(y.root, key[i]);
            ff_node *process = p ? ff_node_find(p, "process") : NULL,
                    *other = q ? ff_node_find(q, "process") : NULL;
            if (process && other)
                process->text = other->text; /* differs in any case */
            if (p || q)
                compare_values(&c, "run", key[i], p, q);
        }
        take_present(&c, 0, &x);
        c.quiet = strcmp(a, b) == 0; /* said already */
        take_present(&c, 1, &y);
        c.quiet = false;
        compare_inputs(&c, ff_node_find(x.root, "inputs"), ff_node_find(y.root, "inputs"));
        compare_results(&c, ff_node_find(x.root, "results"), ff_node_find(y.root, "results"));
    }
    ff_manifest_free(&x);
    ff_manifest_free(&y);
    status = status == FF_OK ? c.status : status;
    return status == FF_OK || status == FF_ERR_MEMORY ? status : FF_ERR_FORMAT;
}
