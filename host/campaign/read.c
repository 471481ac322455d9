/* The campaign's file into ff_campaign: every key checked, every varied path tried. */
#include "campaign/campaign.h"

#include "scenario/reader.h"
#include "text/file.h"
#include "text/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct reader {
    ff_reader in;
    ff_campaign *campaign;
} reader;

#define fail(r, ...) ff_reader_fail(&(r)->in, __VA_ARGS__)

static bool as_number(const ff_node *node, double *value) {
    bool in_range;
    return node->kind == FF_NODE_SCALAR && !node->quoted && ff_number_parse(node->text, value, &in_range) &&
           in_range;
}

static bool read_number(reader *r, const ff_node *node, const char *what, double *value) {
    return ff_reader_number(&r->in, node, &(ff_key){.key = what, .unit = ""}, value);
}

static bool read_flag(reader *r, const ff_node *node, const char *what, bool *value) {
    static const char *const words[] = {"false", "true", NULL};
    int word = 0;
    if (!ff_reader_word(&r->in, node, &(ff_key){.key = what, .words = words}, &word))
        return false;
    *value = word == 1;
    return true;
}

/* A value as YAML on one line: what --set and the table show. */
static size_t flow(const ff_node *node, char *text, size_t size, size_t used) {
    if (node->kind == FF_NODE_SCALAR) {
        if (!node->quoted)
            return ff_append(text, size, used, "%s", node->text);
        used = ff_append(text, size, used, "%s", "'");
        for (const char *c = node->text; *c; c++) {
            const char piece[3] = {*c, *c == '\'' ? '\'' : 0, 0};
            used = ff_append(text, size, used, "%s", piece);
        }
        return ff_append(text, size, used, "%s", "'");
    }
    const bool map = node->kind == FF_NODE_MAP;
    used = ff_append(text, size, used, "%s", map ? "{" : "[");
    for (const ff_node *child = node->child; child; child = child->next) {
        if (map) {
            used = ff_append(text, size, used, "%s", child->key);
            used = ff_append(text, size, used, "%s", ": ");
        }
        used = flow(child, text, size, used);
        if (child->next)
            used = ff_append(text, size, used, "%s", ", ");
    }
    return ff_append(text, size, used, "%s", map ? "}" : "]");
}

static char *flow_text(const ff_node *node) {
    const size_t size = flow(node, NULL, 0, 0) + 1;
    char *text = malloc(size);
    if (text)
        flow(node, text, size, 0);
    return text;
}

/* ----------------------------------------------------------------------------------------------- vary -- */

/* The unit that the schema gives for a path: names of satellites, contacts and loads are passed over. */
static const char *unit_of(const char *path) {
    const ff_section *section = ff_schema_top();
    while (section) {
        const size_t n = strcspn(path, ".");
        const ff_key *key = NULL;
        for (int i = 0; i < section->keys; i++)
            if (strlen(section->key[i].key) == n && strncmp(section->key[i].key, path, n) == 0)
                key = &section->key[i];
        if (!key)
            return "";
        path += n + (path[n] == '.');
        if (key->type == FF_TYPE_SATELLITES || key->type == FF_TYPE_CONTACTS || key->type == FF_TYPE_LOADS) {
            const size_t skip = strcspn(path, ".");
            path += skip + (path[skip] == '.');
        }
        if (!key->section)
            return strchr(key->unit, ',') ? "" : key->unit;
        section = key->section;
    }
    return "";
}

static const char *const kind_words[] = {"uniform", "normal", "log", "linear", "grid", "log_grid", "list"};

static bool read_range(reader *r, const ff_node *node, ff_vary *vary) {
    const char *word = kind_words[vary->kind];
    const bool grid = vary->kind == FF_VARY_GRID || vary->kind == FF_VARY_LOG_GRID;
    if (node->kind != FF_NODE_LIST || node->count != (grid ? 3 : 2))
        return fail(r, node->place, "%s must be a list of %s", word,
                    grid                           ? "from, to and the number of values, e.g. [0, 1, 11]"
                    : vary->kind == FF_VARY_NORMAL ? "mean and standard deviation, e.g. [1, 0.1]"
                                                   : "two numbers, e.g. [0, 1]");
    const ff_node *second = node->child->next;
    if (!read_number(r, node->child, word, &vary->a) || !read_number(r, second, word, &vary->b))
        return false;
    if (vary->kind == FF_VARY_LOG || vary->kind == FF_VARY_LOG_GRID) {
        if (!(vary->a > 0.0) || !(vary->b > 0.0))
            return fail(r, (vary->a > 0.0 ? second : node->child)->place,
                        "the logarithm of %.9g does not exist, allowed: numbers > 0 with %s",
                        vary->a > 0.0 ? vary->b : vary->a, word);
    }
    vary->count = 1;
    if (grid && !ff_reader_count(&r->in, second->next, "the number of a grid's values", 1, &vary->count))
        return false;
    if (vary->kind == FF_VARY_NORMAL) {
        if (!(vary->b > 0.0))
            return fail(r, second->place, "the standard deviation is %.9g, allowed: > 0", vary->b);
    } else if (vary->kind == FF_VARY_LINEAR || grid) {
        if (vary->a == vary->b && (!grid || vary->count > 1))
            return fail(r, node->place, "the range from %.9g to %.9g is empty, allowed: two different ends",
                        vary->a, vary->b);
    } else if (!(vary->a < vary->b))
        return fail(r, node->place, "the range from %.9g to %.9g is empty, allowed: low < high", vary->a,
                    vary->b);
    return true;
}

static bool read_list(reader *r, const ff_node *node, ff_vary *vary) {
    if (node->kind != FF_NODE_LIST || node->count < 1)
        return fail(r, node->place, "list must hold at least one value, e.g. [0.002, 0.004]");
    vary->item = calloc((size_t)node->count, sizeof *vary->item);
    if (!vary->item)
        return fail(r, node->place, "no memory for the list");
    vary->numeric = true;
    for (const ff_node *item = node->child; item; item = item->next) {
        double number;
        vary->numeric = vary->numeric && as_number(item, &number);
        vary->item[vary->count] = flow_text(item);
        if (!vary->item[vary->count++])
            return fail(r, item->place, "no memory for the list");
    }
    return true;
}

static bool read_entry(reader *r, const ff_node *node, bool latin, ff_vary *vary) {
    static const char *const keys[] = {"uniform",  "normal", "log",   "linear", "grid",
                                       "log_grid", "list",   "latin", NULL};
    if (node->kind != FF_NODE_MAP)
        return fail(r, node->place, "'%s' must say how it varies, e.g. {uniform: [0.1, 0.2]}, {list: [1, 2]}",
                    vary->path);
    if (!ff_reader_keys(&r->in, node, "this entry", keys))
        return false;
    const ff_node *found = NULL;
    for (const ff_node *child = node->child; child; child = child->next) {
        if (strcmp(child->key, "latin") == 0)
            continue;
        if (found)
            return fail(r, child->key_place, "'%s' varies twice, allowed: once", vary->path);
        found = child;
    }
    if (!found)
        return fail(r, node->place,
                    "'%s' does not say how it varies, allowed: uniform, normal, log, linear, grid, log_grid, "
                    "list",
                    vary->path);
    for (int i = 0; i < (int)(sizeof kind_words / sizeof *kind_words); i++)
        if (strcmp(found->key, kind_words[i]) == 0)
            vary->kind = (ff_vary_kind)i;
    const bool random = vary->kind <= FF_VARY_LOG;
    vary->numeric = true;
    vary->latin = latin && random;
    const ff_node *own = ff_node_find(node, "latin");
    if (own && !read_flag(r, own, "latin", &vary->latin))
        return false;
    if (vary->latin && !random)
        return fail(r, own->place, "latin belongs to uniform, normal and log, not to %s", found->key);
    return vary->kind == FF_VARY_LIST ? read_list(r, found, vary) : read_range(r, found, vary);
}

static bool overlaps(const char *a, const char *b) {
    const size_t n = strlen(a);
    return strncmp(a, b, n) == 0 && (b[n] == 0 || b[n] == '.');
}

static bool read_vary(reader *r, const ff_node *node, bool latin) {
    ff_campaign *c = r->campaign;
    if (node->kind != FF_NODE_MAP)
        return fail(r, node->place,
                    "vary must be a map, allowed: scenario paths with {uniform: [low, high]} and the like");
    for (const ff_node *child = node->child; child; child = child->next) {
        if (c->varies == FF_CAMPAIGN_VARY)
            return fail(r, child->key_place, "more than %d varied values, allowed: fewer", FF_CAMPAIGN_VARY);
        if (!*child->key || strlen(child->key) >= FF_PATH_SIZE || strchr(child->key, '='))
            return fail(r, child->key_place, "'%s' is not a path, allowed: names separated by dots",
                        ff_show(child->key).text);
        ff_vary *vary = &c->vary[c->varies++];
        snprintf(vary->path, sizeof vary->path, "%s", child->key);
        snprintf(vary->place, sizeof vary->place, "%.200s:%d:%d", r->in.label, child->key_place.line,
                 child->key_place.column);
        vary->unit = unit_of(vary->path);
        for (int i = 0; i + 1 < c->varies; i++)
            if (overlaps(c->vary[i].path, vary->path) || overlaps(vary->path, c->vary[i].path))
                return fail(r, child->key_place, "'%s' lies within '%s', allowed: one of them", vary->path,
                            c->vary[i].path);
        if (strcmp(vary->path, "method") == 0)
            return fail(r, child->key_place, "methods are compared by `methods`, not varied");
        c->seed_varies = c->seed_varies || strcmp(vary->path, "time.seed") == 0;
        if (!read_entry(r, child, latin, vary))
            return false;
    }
    return true;
}

static bool count_samples(reader *r, const ff_node *root) {
    ff_campaign *c = r->campaign;
    const ff_node *samples = ff_node_find(root, "samples");
    bool drawn = c->varies == 0;
    c->combinations = 1;
    for (int i = c->varies - 1; i >= 0; i--) { /* the last one listed changes fastest */
        ff_vary *vary = &c->vary[i];
        if (vary->kind < FF_VARY_GRID) {
            drawn = true;
            continue;
        }
        vary->stride = c->combinations;
        if (c->combinations > (uint64_t)9e15 / vary->count)
            return fail(r, root->place, "more than 9e15 combinations, allowed: fewer");
        c->combinations *= vary->count;
    }
    c->draws = 1;
    if (drawn) {
        if (!samples)
            return fail(r, root->place, "the campaign lacks the key 'samples', allowed: how many are drawn");
        if (!ff_reader_count(&r->in, samples, "samples", 1, &c->draws))
            return false;
    } else {
        uint64_t ignored;
        if (samples && !ff_reader_count(&r->in, samples, "samples", 1, &ignored))
            return false;
    }
    if (c->draws > (uint64_t)9e15 / c->combinations)
        return fail(r, root->place, "more than 9e15 samples, allowed: fewer");
    c->samples = c->draws * c->combinations;
    return true;
}

/* --------------------------------------------------------------------------------- methods and metrics -- */

static bool read_method(reader *r, const ff_node *node, ff_campaign_method *method) {
    ff_variant *variant = &method->variant;
    char text[sizeof variant->method + FF_NAME_SIZE], why[2048];
    if (!ff_reader_text(&r->in, node, "a method", text, sizeof text))
        return false;
    if (strpbrk(text, ",\"\n"))
        return fail(r, node->place, "'%s' is not a method, allowed: direct, tdpa, tdpa:reading=printed ...",
                    ff_show(text).text);
    if (!ff_variant_parse(text, strlen(text), r->campaign->catalog, variant, why, sizeof why))
        return fail(r, node->place, "%s", why);
    method->library = ff_scenario_method_library(r->campaign->catalog, variant->method, why, sizeof why);
    if (method->library && !ff_scenario_take_method(&r->campaign->scenario, r->campaign->catalog,
                                                    variant->method, why, sizeof why)) /* for its columns */
        return fail(r, node->place, "method library %s: %s", ff_show(variant->method).text, why);
    return true;
}

static bool read_methods(reader *r, const ff_node *node) {
    ff_campaign *c = r->campaign;
    if (node->kind != FF_NODE_LIST || node->count < 1 || node->count > FF_CAMPAIGN_METHODS)
        return fail(r, node->place, "methods must be a list of 1 to %d methods, e.g. [direct, tdpa]",
                    FF_CAMPAIGN_METHODS);
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_campaign_method *method = &c->method[c->methods++];
        if (!read_method(r, item, method))
            return false;
        for (int i = 0; i + 1 < c->methods; i++)
            if (strcmp(c->method[i].variant.label, method->variant.label) == 0)
                return fail(r, item->place, "'%s' is given twice", method->variant.label);
        if (strcmp(method->variant.method, "ideal") == 0)
            c->needs_ideal = true;
    }
    return true;
}

static bool add_metric(reader *r, ff_place place, const char *name, const char *path) {
    ff_campaign *c = r->campaign;
    char why[1024];
    if (c->metrics == FF_CAMPAIGN_METRICS)
        return fail(r, place, "more than %d metrics, allowed: fewer", FF_CAMPAIGN_METRICS);
    if (!*name || strpbrk(name, ",\"") || strcmp(name, "index") == 0 || strcmp(name, "method") == 0 ||
        strcmp(name, "status") == 0)
        return fail(r, place, "'%s' cannot name a column, allowed: a word of its own", ff_show(name).text);
    for (int i = 0; i < c->metrics; i++)
        if (strcmp(c->metric[i].name, name) == 0)
            return fail(r, place, "two metrics are named '%s'", name);
    for (int i = 0; i < c->varies; i++)
        if (strcmp(c->vary[i].path, name) == 0)
            return fail(r, place, "'%s' is a varied value already", name);
    ff_metric *metric = &c->metric[c->metrics++];
    if (ff_metric_parse(&c->scenario, name, path, metric, why, sizeof why) != FF_OK)
        return fail(r, place, "%s", why);
    c->needs_ideal = c->needs_ideal || metric->needs_ideal;
    return true;
}

static bool read_metrics(reader *r, const ff_node *node) {
    if (!node)
        return add_metric(r, (ff_place){1, 1, NULL, NULL}, "rebound_error", "rebound_error") &&
               add_metric(r, (ff_place){1, 1, NULL, NULL}, "peak_force_ratio", "peak_force_ratio");
    if (node->kind == FF_NODE_SCALAR || node->count < 1)
        return fail(r, node->place,
                    "metrics must be a map of columns, e.g. {first: "
                    "satellites.body.contacts.0.speed_after_mps, error: rebound_error}");
    for (const ff_node *child = node->child; child; child = child->next) {
        if (child->kind != FF_NODE_SCALAR)
            return fail(r, child->place, "a metric must be a path or a name, not a list or map");
        const bool named = node->kind == FF_NODE_MAP;
        const bool alone = !*child->text || strcmp(child->text, "~") == 0;
        const char *path = alone && named ? child->key : child->text;
        if (!add_metric(r, child->place, named ? child->key : path, path))
            return false;
    }
    return true;
}

static int find_column(const ff_campaign *c, const char *name) {
    for (int i = 0; i < c->varies + c->metrics; i++)
        if (strcmp(ff_campaign_column(c, i), name) == 0)
            return i;
    return -1;
}

static bool read_column(reader *r, const ff_node *node, const char *what, bool metric, int *column) {
    const ff_campaign *c = r->campaign;
    *column = node->kind == FF_NODE_SCALAR ? find_column(c, node->text) : -1;
    if (*column < (metric ? c->varies : 0))
        return fail(r, node->place, "%s names no %s, allowed: %s", what, metric ? "metric" : "column",
                    metric ? "one of `metrics`" : "a varied path or one of `metrics`");
    if (*column < c->varies && !c->vary[*column].numeric)
        return fail(r, node->place, "%s is '%s', whose values are words, allowed: numbers", what,
                    ff_show(node->text).text);
    return true;
}

static bool is_log(const ff_campaign *c, int column) {
    return column >= 0 && column < c->varies &&
           (c->vary[column].kind == FF_VARY_LOG || c->vary[column].kind == FF_VARY_LOG_GRID);
}

/* Without a `maps` key: every metric over the first two varied numbers, or over the only one. */
static void default_maps(ff_campaign *c) {
    int axis[2] = {-1, -1}, axes = 0;
    for (int i = 0; i < c->varies && axes < 2; i++)
        if (c->vary[i].numeric && (c->vary[i].kind < FF_VARY_GRID || c->vary[i].count > 1))
            axis[axes++] = i;
    for (int m = 0; axes && m < c->metrics && c->maps < 8; m++)
        if (!c->metric[m].scenario_only)
            c->map[c->maps++] =
                (ff_campaign_map){.x = axis[0],
                                  .y = axis[1],
                                  .show = m,
                                  .log_x = is_log(c, axis[0]),
                                  .log_y = is_log(c, axis[1]),
                                  .contour = ff_metric_requirement(&c->metric[m], &c->scenario)};
}

/* The text that a picture shows for a limit that has none of its own. */
static void name_limit(const ff_campaign *c, ff_map_limit *limit) {
    char at[32] = "";
    if (isfinite(limit->at))
        snprintf(at, sizeof at, " = %.6g", limit->at);
    snprintf(limit->label, sizeof limit->label, "%.60s%s", ff_campaign_column(c, limit->column), at);
}

static bool read_limits(reader *r, const ff_node *node, ff_campaign_map *map) {
    static const char *const keys[] = {"of", "at", "label", NULL};
    if (node->kind != FF_NODE_LIST || node->count > FF_MAP_LIMITS)
        return fail(r, node->place, "limits must be a list of up to %d, e.g. [{of: causal_limit, at: 1.2}]",
                    FF_MAP_LIMITS);
    for (const ff_node *item = node->child; item; item = item->next) {
        if (item->kind != FF_NODE_MAP)
            return fail(r, item->place, "a limit must be {of: COLUMN, at: LEVEL, label: TEXT}");
        if (!ff_reader_keys(&r->in, item, "a limit", keys))
            return false;
        ff_map_limit *limit = &map->limit[map->limits++];
        const ff_node *of = ff_node_find(item, "of"), *at = ff_node_find(item, "at"),
                      *label = ff_node_find(item, "label");
        if (!of)
            return fail(r, item->place, "a limit lacks the key 'of', allowed: a column");
        limit->at = map->y < 0 ? FF_NAN : map->contour;
        if (!read_column(r, of, "of", false, &limit->column) || (at && !read_number(r, at, "at", &limit->at)))
            return false;
        if (map->y >= 0 && !isfinite(limit->at))
            return fail(r, item->place,
                        "a limit lacks the key 'at', allowed: the level of its line, since "
                        "the map has no contour");
        name_limit(r->campaign, limit);
        if (label && !ff_reader_text(&r->in, label, "label", limit->label, sizeof limit->label))
            return false;
    }
    return true;
}

static bool read_maps(reader *r, const ff_node *node) {
    static const char *const keys[] = {"x", "y", "show", "contour", "limits", NULL};
    ff_campaign *c = r->campaign;
    if (!node) {
        default_maps(c);
        return true;
    }
    if (node->kind != FF_NODE_LIST || node->count > FF_CAMPAIGN_MAPS)
        return fail(r, node->place,
                    "maps must be a list of up to %d, e.g. [{x: PATH, y: PATH, show: METRIC}]",
                    FF_CAMPAIGN_MAPS);
    for (const ff_node *item = node->child; item; item = item->next) {
        if (item->kind != FF_NODE_MAP)
            return fail(r, item->place, "a map must be {x: PATH, y: PATH, show: METRIC}");
        if (!ff_reader_keys(&r->in, item, "a map", keys))
            return false;
        ff_campaign_map *map = &c->map[c->maps++];
        const ff_node *x = ff_node_find(item, "x"), *y = ff_node_find(item, "y"),
                      *show = ff_node_find(item, "show"), *contour = ff_node_find(item, "contour"),
                      *limits = ff_node_find(item, "limits");
        if (!x || !show)
            return fail(r, item->place, "a map lacks the key '%s'", x ? "show" : "x");
        map->y = -1;
        if (!read_column(r, x, "x", false, &map->x) || (y && !read_column(r, y, "y", false, &map->y)) ||
            !read_column(r, show, "show", true, &map->show))
            return false;
        map->show -= c->varies;
        map->log_x = is_log(c, map->x);
        map->log_y = is_log(c, map->y);
        map->contour = ff_metric_requirement(&c->metric[map->show], &c->scenario);
        if ((contour && !read_number(r, contour, "contour", &map->contour)) ||
            (limits && !read_limits(r, limits, map)))
            return false;
    }
    return true;
}

static bool read_keep(reader *r, const ff_node *node) {
    static const char *const keys[] = {"failed", "worst", "by", NULL};
    ff_campaign *c = r->campaign;
    while (c->worst_by + 1 < c->metrics && c->metric[c->worst_by].scenario_only)
        c->worst_by++;
    if (!node)
        return true;
    if (node->kind != FF_NODE_MAP)
        return fail(r, node->place, "keep must be a map, e.g. {failed: true, worst: 5}");
    if (!ff_reader_keys(&r->in, node, "keep", keys))
        return false;
    const ff_node *failed = ff_node_find(node, "failed"), *worst = ff_node_find(node, "worst"),
                  *by = ff_node_find(node, "by");
    uint64_t count = 0;
    if ((failed && !read_flag(r, failed, "failed", &c->keep_failed)) ||
        (worst && !ff_reader_count(&r->in, worst, "worst", 0, &count)) ||
        (by && !read_column(r, by, "by", true, &c->worst_by)))
        return false;
    if (count > FF_CAMPAIGN_WORST)
        return fail(r, worst->place, "worst is %llu, allowed: up to %d", (unsigned long long)count,
                    FF_CAMPAIGN_WORST);
    c->keep_worst = (int)count;
    c->worst_by -= by ? c->varies : 0;
    return true;
}

/* ----------------------------------------------------------------------------------------------- base -- */

static bool read_base(reader *r, const ff_node *node, char *warnings, size_t warnings_size) {
    ff_campaign *c = r->campaign;
    char name[2048], why[200];
    if (!ff_reader_text(&r->in, node, "base", name, sizeof name))
        return false;
    const char *slash = strrchr(r->in.label, '/');
    if (name[0] == '/' || !slash)
        snprintf(c->base, sizeof c->base, "%s", name);
    else
        snprintf(c->base, sizeof c->base, "%.*s/%s", (int)(slash - r->in.label), r->in.label, name);
    /* "campaigns/../scenarios" is "scenarios" wherever "campaigns" is a folder of its own */
    for (char *up; (up = strstr(c->base, "/../")) != NULL && up > c->base;) {
        char *begin = up;
        while (begin > c->base && begin[-1] != '/')
            begin--;
        struct stat info;
        *up = 0;
        const bool plain = strcmp(begin, "..") != 0 && strcmp(begin, ".") != 0 && *begin &&
                           lstat(c->base, &info) == 0 && !S_ISLNK(info.st_mode);
        *up = '/';
        if (!plain)
            break;
        memmove(begin, up + 4, strlen(up + 4) + 1);
    }
    const ff_held_file *file;
    if (ff_held_read(&c->held, c->base, FF_TREE_BYTES, &file, &c->length, why, sizeof why) != FF_OK)
        return fail(r, node->place, "the base scenario %s cannot be used: %s", ff_show(c->base).text, why);
    /* the base by itself, so that its own mistakes carry its own lines */
    c->text = file->text;
    const ff_scenario_options options = {.catalog = c->catalog, .held = &c->held};
    if (ff_scenario_parse(c->base, c->text, c->length, &options, &c->scenario, r->in.message, r->in.size,
                          warnings, warnings_size) != FF_OK)
        return false;
    return !c->scenario.emulates ||
           fail(r, node->place, "the base scenario is an emulation, allowed: a scenario with satellites");
}

/* Each varied path on its own: one that leads nowhere is reported with its own line. Then the first sample
 * under every method; a key that only another varied value makes possible (kind: lag, frequency) is judged
 * there.
 */
static bool probe(reader *r, const ff_node *root) {
    ff_campaign *c = r->campaign;
    ff_scenario *scenario = malloc(sizeof *scenario);
    ff_campaign_case *sample = malloc(sizeof *sample);
    bool good = (scenario && sample) || fail(r, root->place, "no memory");
    if (good)
        ff_campaign_sample(c, 0, sample);
    for (int i = 0; good && i < c->varies; i++) {
        ff_vary *vary = &c->vary[i];
        const ff_scenario_slot slot = {vary->path, vary->place, (const char *const *)vary->item,
                                       vary->item ? (int)vary->count : 0};
        const ff_scenario_options options = {
            .method = c->method[0].variant.method, .catalog = c->catalog, .held = &c->held};
        ff_scenario_template *t = NULL;
        good = ff_scenario_template_create(c->base, c->text, c->length, &options, &slot, 1, &t, r->in.message,
                                           r->in.size) == FF_OK;
        ff_scenario_template_free(t);
    }
    const ff_node *methods = ff_node_find(root, "methods");
    const ff_node *item = methods ? methods->child : NULL;
    for (int m = 0; good && m < c->methods; m++, item = item ? item->next : NULL) {
        ff_scenario_template *t = NULL;
        char why[1024];
        good = ff_campaign_template(c, m, &t, why, sizeof why) == FF_OK &&
               ff_scenario_template_read(t, sample->value, scenario, why, sizeof why) == FF_OK;
        if (!good) {
            if (strncmp(why, "--", 2) == 0 && item)
                fail(r, item->place, "%s", why);
            else
                snprintf(r->in.message, r->in.size, "%s", why);
        }
        ff_scenario_template_free(t);
    }
    free(scenario);
    free(sample);
    return good;
}

/* ----------------------------------------------------------------------------------------------- file -- */

/* Without the key a run ends as soon as all metrics allow it. */
static bool read_until(reader *r, const ff_node *node) {
    ff_campaign *c = r->campaign;
    const ff_metric *changes = NULL;
    for (int i = 0; i < c->metrics && !changes; i++)
        changes = c->metric[i].settles ? NULL : &c->metric[i];
    c->settles = !changes;
    if (!node)
        return true;
    char word[16];
    if (!ff_reader_text(&r->in, node, "until", word, sizeof word))
        return false;
    const bool settled = strcmp(word, "settled") == 0;
    if (!settled && strcmp(word, "end") != 0)
        return fail(r, node->place, "until is '%s', allowed: settled, end", word);
    if (settled && changes)
        return fail(
            r, node->place,
            "until is 'settled', but '%s' changes up to the end of a run, allowed: until: end, or metrics of "
            "contacts, rebounds, forces and energies only",
            changes->path);
    c->settles = settled;
    return true;
}

static bool read_root(reader *r, const ff_node *root, char *warnings, size_t warnings_size) {
    static const char *const keys[] = {"name",    "base", "methods", "samples", "seed",  "latin", "vary",
                                       "metrics", "keep", "maps",    "limit",   "until", NULL};
    ff_campaign *c = r->campaign;
    if (root->kind != FF_NODE_MAP)
        return fail(r, root->place, "a campaign must be a map with name, base, vary ...");
    const ff_node *satellites = ff_node_find(root, "satellites"),
                  *emulation = ff_node_find(root, "emulation");
    if (!ff_node_find(root, "base") && (satellites || emulation))
        return fail(r, (satellites ? satellites : emulation)->key_place,
                    "this is a scenario: freefloat run takes it; a campaign names it as its `base`");
    if (!ff_reader_keys(&r->in, root, "the campaign", keys))
        return false;
    const ff_node *name = ff_node_find(root, "name"), *base = ff_node_find(root, "base"),
                  *methods = ff_node_find(root, "methods"), *seed = ff_node_find(root, "seed"),
                  *latin = ff_node_find(root, "latin"), *vary = ff_node_find(root, "vary"),
                  *limit = ff_node_find(root, "limit");
    if (!name || !base)
        return fail(r, root->place, "the campaign lacks the key '%s'", name ? "base" : "name");
    bool all_latin = false;
    c->seed = 1;
    c->limit = 60.0;
    if (!ff_reader_text(&r->in, name, "name", c->name, sizeof c->name) ||
        (seed && !ff_reader_count(&r->in, seed, "seed", 0, &c->seed)) ||
        (latin && !read_flag(r, latin, "latin", &all_latin)) ||
        (limit && !read_number(r, limit, "limit", &c->limit)) ||
        !read_base(r, base, warnings, warnings_size) || (vary && !read_vary(r, vary, all_latin)) ||
        !count_samples(r, root))
        return false;
    if (limit && !(c->limit > 0.0))
        return fail(r, limit->place, "limit is %.9g, allowed: > 0 [s] for one run", c->limit);
    if (methods ? !read_methods(r, methods) : false)
        return false;
    if (!methods) {
        c->methods = 1;
        const char *own = ff_scenario_method_name(&c->scenario);
        snprintf(c->method[0].variant.label, sizeof c->method[0].variant.label, "%s", own);
        c->method[0].library = ff_scenario_library(&c->scenario);
        snprintf(c->method[0].variant.method, sizeof c->method[0].variant.method, "%s",
                 c->method[0].library ? c->method[0].library->path : own);
        c->needs_ideal = !c->scenario.method;
    }
    return read_metrics(r, ff_node_find(root, "metrics")) && read_keep(r, ff_node_find(root, "keep")) &&
           read_maps(r, ff_node_find(root, "maps")) && read_until(r, ff_node_find(root, "until")) &&
           probe(r, root);
}

ff_status ff_campaign_load(const char *path, const ff_catalog *catalog, ff_campaign *campaign, char *message,
                           size_t size, char *warnings, size_t warnings_size) {
    memset(campaign, 0, sizeof *campaign);
    campaign->catalog = catalog;
    message[0] = 0;
    if (warnings && warnings_size)
        warnings[0] = 0;
    reader r = {.in = {.label = path, .message = message, .size = size}, .campaign = campaign};
    const ff_place start = {1, 1, NULL, NULL};
    const ff_held_file *file;
    snprintf(campaign->path, sizeof campaign->path, "%s", path);
    ff_status status = ff_reader_file(&r.in, &campaign->held, path, &file);
    if (status != FF_OK)
        return status;
    ff_tree tree = {0};
    ff_tree_error error;
    status = ff_tree_parse(&tree, file->text, file->length, NULL, &tree.root, &error);
    if (status != FF_OK)
        fail(&r, error.place, "%s", error.text);
    else if (!tree.root) {
        fail(&r, start, "the file is empty, allowed: a campaign with name, base, vary ...");
        status = FF_ERR_FORMAT;
    } else if (!read_root(&r, tree.root, warnings, warnings_size))
        status = FF_ERR_FORMAT;
    if (status == FF_OK && !ff__campaign_identify(campaign, file->text, file->length)) {
        fail(&r, start, "no memory for the list of files that it names");
        status = FF_ERR_MEMORY;
    }
    ff_tree_free(&tree);
    campaign->held.whole = true;
    return status;
}
