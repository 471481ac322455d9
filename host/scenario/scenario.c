#include "scenario/scenario.h"

#include "scenario/schema.h"
#include "scenario/tree.h"
#include "scenario/mesh.h"
#include "scenario/urdf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct reader {
    const char *label;
    ff_tree *tree;
    ff_scenario *scenario;
    const ff_scenario_options *options;
    char *message;
    size_t size;
    char *warnings;
    size_t warnings_size, warned;
    char path[256]; /* of the section being read, as in --set */
} reader;

/* ------------------------------------------------------------------------------------------- messages -- */

static size_t put_place(char *text, size_t size, const char *label, ff_place place) {
    const int n = place.argument ? snprintf(text, size, "%s: ", place.argument)
                                 : snprintf(text, size, "%s:%d:%d: ", label, place.line, place.column);
    const size_t used = n < 0 ? 0 : (size_t)n;
    return used < size ? used : size - 1;
}

/* One line, whatever the file, the option or the label held. */
static void flatten(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

/* Always false, so that a reader may `return fail(...)`. */
static bool fail(reader *r, ff_place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(reader *r, ff_place place, const char *format, ...) {
    if (!r->message || !r->size)
        return false;
    const size_t n = put_place(r->message, r->size, r->label, place);
    va_list list;
    va_start(list, format);
    vsnprintf(r->message + n, r->size - n, format, list);
    va_end(list);
    flatten(r->message);
    return false;
}

static void warn(reader *r, ff_place place, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void warn(reader *r, ff_place place, const char *format, ...) {
    char line[512];
    const size_t n = put_place(line, sizeof line, r->label, place);
    va_list list;
    va_start(list, format);
    vsnprintf(line + n, sizeof line - n, format, list);
    va_end(list);
    flatten(line);
    const size_t length = strlen(line), need = length + (r->warned ? 1 : 0);
    if (!r->warnings || r->warned + need + 1 > r->warnings_size)
        return;
    if (r->warned)
        r->warnings[r->warned++] = '\n';
    memcpy(r->warnings + r->warned, line, length + 1);
    r->warned += length;
}

typedef struct names {
    char text[400];
    size_t used;
} names;

static void names_add(names *list, const char *name) {
    const int n = snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s",
                           list->used ? ", " : "", name);
    list->used += n < 0 ? 0 : (size_t)n;
    if (list->used >= sizeof list->text)
        list->used = sizeof list->text - 1;
}

/* Edits (insert, delete, change, swap of neighbours) from a to b, at most `limit` + 1. */
static int distance(const char *a, const char *b, int limit) {
    enum { LONGEST = 31 };
    int row[3][LONGEST + 1];
    const int n = (int)strnlen(a, LONGEST + 1), m = (int)strnlen(b, LONGEST + 1);
    if (n > LONGEST || m > LONGEST || abs(n - m) > limit)
        return limit + 1;
    for (int j = 0; j <= m; j++)
        row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *up = row[(i + 2) % 3], *above = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = up[j - 1] + (a[i - 1] != b[j - 1]);
            best = up[j] + 1 < best ? up[j] + 1 : best;
            best = now[j - 1] + 1 < best ? now[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && above[j - 2] + 1 < best)
                best = above[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

typedef struct guess {
    const char *wrong, *best;
    int distance;
} guess;

static void guess_add(guess *g, const char *candidate) {
    const int limit = (int)strnlen(g->wrong, 30) / 3 + 1;
    const int d = distance(g->wrong, candidate, limit);
    if (d <= limit && d < (int)strlen(candidate) && (!g->best || d < g->distance)) {
        g->best = candidate;
        g->distance = d;
    }
}

static ff_shown hint(const guess *g) {
    ff_shown shown = {""};
    if (g->best)
        snprintf(shown.text, sizeof shown.text, " (did you mean '%.40s'?)", g->best);
    return shown;
}

static const char *kind_text(const ff_node *node) {
    if (node->kind == FF_NODE_MAP)
        return "a map";
    if (node->kind == FF_NODE_LIST)
        return "a list";
    return node->quoted ? "text in quotes" : *node->text ? "a plain value" : "empty";
}

/* ------------------------------------------------------------------------------------------- numbers -- */

/* Campaigns read one tree again and again: the numbers in it are worked out once. */
static void know_numbers(ff_node *node) {
    if (!node)
        return;
    bool in_range = false;
    if (node->kind == FF_NODE_SCALAR && !node->quoted &&
        ff_number_parse(node->text, &node->number, &in_range))
        node->known = in_range;
    for (ff_node *child = node->child; child; child = child->next)
        know_numbers(child);
}

static bool within(const ff_key *key, double value) {
    return (key->above_low ? value > key->low : value >= key->low) &&
           (key->below_high ? value < key->high : value <= key->high);
}

static bool read_number(reader *r, const ff_node *node, const ff_key *key, double *value) {
    const char *const range = ff_range_text(key);
    const char *const unit = key->unit;
    bool in_range = true;
    if (node->known) {
        *value = node->number;
    } else if (node->kind != FF_NODE_SCALAR || node->quoted ||
               !ff_number_parse(node->text, value, &in_range)) {
        const bool plain = node->kind == FF_NODE_SCALAR && !node->quoted && *node->text;
        return fail(r, node->place, "%s must be a number, not %s%s%s, allowed: a finite number%s%s%s%s%s",
                    key->key, plain ? "'" : "", plain ? ff_show(node->text).text : kind_text(node),
                    plain ? "'" : "", *range ? " " : "", range, *unit ? " [" : "", unit, *unit ? "]" : "");
    }
    if (!in_range)
        return fail(r, node->place, "%s is %s, allowed: a number of size 1e-307 to 1e308", key->key,
                    ff_show(node->text).text);
    const bool inside = key->range == FF_RANGE_POSITIVE       ? *value > 0.0
                        : key->range == FF_RANGE_NOT_NEGATIVE ? *value >= 0.0
                        : key->range == FF_RANGE_ACUTE        ? *value > 0.0 && *value < FF_PI / 2
                        : key->range == FF_RANGE_PART         ? *value > 0.0 && *value < 1.0
                        : key->range == FF_RANGE_SHARE        ? *value >= 0.0 && *value < 1.0
                        : key->range == FF_RANGE_BOUNDS       ? within(key, *value)
                                                              : true;
    if (!inside)
        return fail(r, node->place, "%s is %s, allowed: %s%s%s%s", key->key, ff_show(node->text).text, range,
                    *unit ? " [" : "", unit, *unit ? "]" : "");
    return true;
}

static bool read_numbers(reader *r, const ff_node *node, const ff_key *key, int count, double *value) {
    if (node->kind != FF_NODE_LIST || node->count != count) {
        const bool list = node->kind == FF_NODE_LIST;
        if (list)
            return fail(r, node->place, "%s has %d values, allowed: %s", key->key, node->count,
                        ff_type_text(key->type));
        return fail(r, node->place, "%s must be a list, not %s, allowed: %s", key->key, kind_text(node),
                    ff_type_text(key->type));
    }
    for (const ff_node *item = node->child; item; item = item->next)
        if (!read_number(r, item, key, value++))
            return false;
    return true;
}

static bool read_integer(reader *r, const ff_node *node, const ff_key *key, uint64_t *value) {
    const char *text = node->kind == FF_NODE_SCALAR && !node->quoted ? node->text : "";
    uint64_t sum = 0;
    bool good = *text != 0;
    for (; good && *text; text++) {
        const unsigned digit = (unsigned)(unsigned char)*text - '0';
        good = digit <= 9 && sum <= (UINT64_MAX - digit) / 10;
        sum = good ? 10 * sum + digit : 0;
    }
    if (!good)
        return fail(r, node->place, "%s must be a whole number, not %s, allowed: 0 to 18446744073709551615",
                    key->key,
                    node->kind == FF_NODE_SCALAR && *node->text ? ff_show(node->text).text : kind_text(node));
    if (key->range == FF_RANGE_BOUNDS && !within(key, (double)sum))
        return fail(r, node->place, "%s is %s, allowed: %s", key->key, ff_show(node->text).text, key->bounds);
    *value = sum;
    return true;
}

/* ---------------------------------------------------------------------------------------------- values -- */

static bool read_text(reader *r, const ff_node *node, const char *what, char *text) {
    if (node->kind != FF_NODE_SCALAR ||
        (!node->quoted && (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0)))
        return fail(r, node->place, "%s must be text, not %s, allowed: 1 to %d bytes", what,
                    node->kind == FF_NODE_SCALAR ? "empty" : kind_text(node), FF_NAME_SIZE - 1);
    const size_t length = strlen(node->text);
    bool printable = length > 0 && length < FF_NAME_SIZE;
    for (const char *c = node->text; *c && printable; c++)
        printable = (unsigned char)*c >= 0x20 && *c != 0x7f;
    if (!printable)
        return fail(r, node->place, "%s is '%s', allowed: 1 to %d bytes of printable text", what,
                    ff_show(node->text).text, FF_NAME_SIZE - 1);
    memcpy(text, node->text, length + 1);
    return true;
}

/* A name stands in paths (a.b=c), in pairs (a/b), in lists (a,b) and in column titles. */
static bool check_name(reader *r, ff_place place, const char *what, const char *name) {
    const size_t length = strlen(name);
    bool good = length > 0 && length < FF_NAME_SIZE && name[0] != ' ' && name[length - 1] != ' ' &&
                name[strspn(name, "0123456789")] != 0;
    for (const char *c = name; *c && good; c++)
        good = (unsigned char)*c >= 0x20 && *c != 0x7f && !strchr("./,=:\"\\", *c);
    if (!good)
        return fail(r, place,
                    "%s '%s' is no name, allowed: 1 to %d bytes, not only digits, none of . / , = : \" \\",
                    what, ff_show(name).text, FF_NAME_SIZE - 1);
    return true;
}

static bool read_word(reader *r, const ff_node *node, const ff_key *key, int *value) {
    for (int i = 0; key->words[i]; i++)
        if (node->kind == FF_NODE_SCALAR && node->text[0] == key->words[i][0] &&
            strcmp(node->text, key->words[i]) == 0) {
            *value = i;
            return true;
        }
    names list = {"", 0};
    guess g = {.wrong = node->text};
    for (int i = 0; key->words[i]; i++) {
        names_add(&list, key->words[i]);
        guess_add(&g, key->words[i]);
    }
    if (node->kind != FF_NODE_SCALAR || !*node->text)
        return fail(r, node->place, "%s must be a word, not %s, allowed: %s", key->key, kind_text(node),
                    list.text);
    return fail(r, node->place, "unknown %s '%s'%s, allowed: %s", key->key, ff_show(node->text).text,
                hint(&g).text, list.text);
}

static bool read_body(reader *r, const ff_node *node, const ff_key *key, int *value) {
    for (int i = 0; i < r->scenario->satellites; i++)
        if (node->kind == FF_NODE_SCALAR && strcmp(node->text, r->scenario->satellite[i].name) == 0) {
            *value = i;
            return true;
        }
    names list = {"", 0};
    guess g = {.wrong = node->text};
    for (int i = 0; i < r->scenario->satellites; i++) {
        const char *name = r->scenario->satellite[i].name;
        names_add(&list, name);
        guess_add(&g, name);
    }
    if (node->kind != FF_NODE_SCALAR || !*node->text)
        return fail(r, node->place, "%s must be a satellite's name, not %s, allowed: %s", key->key,
                    kind_text(node), list.text);
    return fail(r, node->place, "%s: no satellite is named '%s'%s, allowed: %s", key->key,
                ff_show(node->text).text, hint(&g).text, list.text);
}

static bool read_direction(reader *r, const ff_node *node, const ff_key *key, ff_vec3 *value) {
    if (!read_numbers(r, node, key, 3, value->a))
        return false;
    const double size = fmax(fabs(value->x), fmax(fabs(value->y), fabs(value->z)));
    if (!(size > 0.0))
        return fail(r, node->place, "%s is zero, allowed: a direction of any other length", key->key);
    /* scaled first: squares of 1e-200 vanish */
    *value = ff_vec3_unit(ff_vec3_make(value->x / size, value->y / size, value->z / size));
    return true;
}

static bool read_quaternion(reader *r, const ff_node *node, const ff_key *key, ff_quat *value) {
    double q[4];
    if (!read_numbers(r, node, key, 4, q))
        return false;
    double size = 0.0, sum = 0.0;
    for (int i = 0; i < 4; i++)
        size = fmax(size, fabs(q[i]));
    if (!(size > 0.0))
        return fail(r, node->place, "%s is the zero quaternion, allowed: unit length, scalar first",
                    key->key);
    for (int i = 0; i < 4; i++)
        sum += q[i] / size * (q[i] / size);
    const double norm = size * sqrt(sum);
    if (fabs(norm - 1.0) > 1e-6)
        warn(r, node->place, "warning: %s has length %.9g instead of 1, it is normalised", key->key, norm);
    *value = ff_quat_unit((ff_quat){q[0] / size, q[1] / size, q[2] / size, q[3] / size});
    return true;
}

static bool read_inertia(reader *r, const ff_node *node, const ff_key *key, ff_mat3 *value) {
    double a[6] = {0};
    const int count = node->kind == FF_NODE_LIST && node->count == 6 ? 6 : 3;
    if (!read_numbers(r, node, key, count, a))
        return false;
    *value = (ff_mat3){{{a[0], a[3], a[4]}, {a[3], a[1], a[5]}, {a[4], a[5], a[2]}}};
    return true;
}

static bool read_half_widths(reader *r, const ff_node *node, const ff_key *key, ff_vec3 *value) {
    if (node->kind != FF_NODE_LIST || node->count != 3)
        return read_numbers(r, node, key, 3, value->a);
    int i = 0;
    for (const ff_node *item = node->child; item; item = item->next, i++) {
        if (item->kind == FF_NODE_SCALAR && strcmp(item->text, "free") == 0)
            value->a[i] = FF_INF;
        else if (!read_number(r, item, key, &value->a[i]))
            return false;
    }
    return true;
}

static bool read_section(reader *r, const ff_node *node, const ff_section *section, void *base);
static bool read_points(reader *r, const ff_node *node, const ff_key *key, ff_satellite *satellite);
static bool read_satellites(reader *r, const ff_node *node, const ff_key *key);
static bool read_contacts(reader *r, const ff_node *node, const ff_key *key);
static bool read_loads(reader *r, const ff_node *node, const ff_key *key);
static bool read_chain(reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm);
static bool read_links(reader *r, const ff_node *node, const ff_key *key, ff_servicer_arm *arm);
static bool read_faults(reader *r, const ff_node *node, const ff_key *key);
static bool read_mesh(reader *r, const ff_node *node, char *path);
static bool read_arm_model(reader *r, const ff_node *node, ff_servicer_arm *arm);
static bool read_chain_model(reader *r, const ff_node *node, ff_emulate_arm *arm);
static bool read_drives(reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm);

static bool read_below(reader *r, const ff_node *node, const ff_key *key, void *base) {
    const size_t length = strlen(r->path), own = strlen(key->key);
    if (length + own + 2 <= sizeof r->path) { /* not snprintf: campaigns come here every few microseconds */
        r->path[length] = '.';
        memcpy(r->path + length + (length ? 1 : 0), key->key, own + 1);
    }
    const bool good = key->section && read_section(r, node, key->section, base);
    r->path[length] = 0;
    return good;
}

static const ff_node *setting_node(const ff_node *node, const char *name) {
    const char *dot = strchr(name, '.');
    char group[FF_NAME_SIZE];
    if (!dot)
        return ff_node_find(node, name);
    snprintf(group, sizeof group, "%.*s", (int)(dot - name), name);
    return ff_node_find(ff_node_find(node, group), dot + 1);
}

/* The settings of one method, by its own table. */
static bool read_method(reader *r, const ff_node *node, const ff_key *key) {
    ff_method_setup *setup = NULL;
    for (int m = 0; m < r->scenario->setups && !setup; m++)
        if (strcmp(r->scenario->setup[m].method->name, key->key) == 0)
            setup = &r->scenario->setup[m];
    if (!setup || !read_below(r, node, key, setup->setting.bytes))
        return false;
    const ff_method *method = setup->method;
    for (uint32_t n = 0; n < method->settings; n++)
        if (setting_node(node, method->setting[n].name))
            setup->setting.given |= UINT64_C(1) << n;
    ff_complaint complaint = {"", "its settings are refused"};
    if (method->check(NULL, setup->setting.bytes, setup->setting.given, &complaint) == FF_OK)
        return true;
    const ff_node *blamed = *complaint.setting ? setting_node(node, complaint.setting) : NULL;
    return fail(r, blamed ? blamed->place : node->place, "%s", complaint.text);
}

static bool read_value(reader *r, const ff_node *node, const ff_key *key, void *base) {
    void *at = (char *)base + key->offset;
    double *number = at;
    int word = 0;
    switch (key->type) {
    case FF_TYPE_NUMBER:
        return read_number(r, node, key, number);
    case FF_TYPE_INTEGER:
        return read_integer(r, node, key, at);
    case FF_TYPE_TEXT:
        return read_text(r, node, key->key, at);
    case FF_TYPE_NAME:
        return read_text(r, node, key->key, at) && check_name(r, node->place, key->key, at);
    case FF_TYPE_WORD:
        if (!read_word(r, node, key, &word))
            return false;
        memcpy(at, &word, sizeof word);
        return true;
    case FF_TYPE_FLAG:
        if (!read_word(r, node, key, &word))
            return false;
        *(bool *)at = word == 1;
        return true;
    case FF_TYPE_VEC3:
        return read_numbers(r, node, key, 3, ((ff_vec3 *)at)->a);
    case FF_TYPE_DIRECTION:
        return read_direction(r, node, key, at);
    case FF_TYPE_HALF_WIDTHS:
        return read_half_widths(r, node, key, at);
    case FF_TYPE_QUATERNION:
        return read_quaternion(r, node, key, at);
    case FF_TYPE_INERTIA:
        return read_inertia(r, node, key, at);
    case FF_TYPE_WRENCH: {
        double a[6];
        if (!read_numbers(r, node, key, 6, a))
            return false;
        *(ff_wrench *)at = (ff_wrench){ff_vec3_make(a[3], a[4], a[5]), ff_vec3_make(a[0], a[1], a[2])};
        return true;
    }
    case FF_TYPE_TWIST: {
        double a[6];
        if (!read_numbers(r, node, key, 6, a))
            return false;
        *(ff_twist *)at = (ff_twist){ff_vec3_make(a[3], a[4], a[5]), ff_vec3_make(a[0], a[1], a[2])};
        return true;
    }
    case FF_TYPE_PAIR:
        if (node->kind == FF_NODE_LIST)
            return read_numbers(r, node, key, 2, number);
        return read_number(r, node, key, number);
    case FF_TYPE_SERIES: {
        double k[2];
        if (node->kind != FF_NODE_LIST)
            return read_number(r, node, key, number);
        if (!read_numbers(r, node, key, 2, k))
            return false;
        *number = k[0] / (1.0 + k[0] / k[1]);
        return *number > 0.0 || fail(r, node->place, "%s is zero in series, allowed: > 0 [N/m]", key->key);
    }
    case FF_TYPE_SIX:
        return read_numbers(r, node, key, 6, number);
    case FF_TYPE_NUMBER_OR_WORD:
        if (node->kind != FF_NODE_SCALAR || strcmp(node->text, key->words[0]) != 0)
            return read_number(r, node, key, number);
        *number = FF_INF;
        return true;
    case FF_TYPE_METHOD_NAME:
        if (!read_word(r, node, key, &word))
            return false;
        r->scenario->method = ff_method_at(word - 1);
        return true;
    case FF_TYPE_METHOD:
        return read_method(r, node, key);
    case FF_TYPE_BODY:
        return read_body(r, node, key, at);
    case FF_TYPE_POINT: /* needs the body: read with the contact */
        return true;
    case FF_TYPE_SECTION:
        return read_below(r, node, key, at);
    case FF_TYPE_POINTS:
        return read_points(r, node, key, base);
    case FF_TYPE_SATELLITES:
        return read_satellites(r, node, key);
    case FF_TYPE_CONTACTS:
        return read_contacts(r, node, key);
    case FF_TYPE_LOADS:
        return read_loads(r, node, key);
    case FF_TYPE_CHAIN:
        return read_chain(r, node, key, at);
    case FF_TYPE_LINKS:
        return read_links(r, node, key, base);
    case FF_TYPE_JOINTS: /* needs the arm: read with the satellite */
        return true;
    case FF_TYPE_FAULTS:
        return read_faults(r, node, key);
    case FF_TYPE_ARM_MODEL:
        return read_arm_model(r, node, base);
    case FF_TYPE_CHAIN_MODEL:
        return read_chain_model(r, node, at);
    case FF_TYPE_MESH:
        return read_mesh(r, node, at);
    case FF_TYPE_DRIVES:
        return read_drives(r, node, key, at);
    }
    return false;
}

/* Defaults are read like a file's values, but parsed once for all: campaigns read a scenario every few
 * microseconds. The nodes are never changed afterwards, so threads share them. */
enum { FALLBACK_SLOTS = 512 };
static struct {
    ff_tree tree;
    const char *text[FALLBACK_SLOTS]; /* the table's own literal is the key */
    const ff_node *node[FALLBACK_SLOTS];
} fallbacks;
static pthread_once_t fallbacks_once = PTHREAD_ONCE_INIT;

static unsigned fallback_slot(const char *text) {
    unsigned slot = (unsigned)((uintptr_t)text >> 1) * 2654435761u >> 23; /* 9 bits */
    while (fallbacks.text[slot] && fallbacks.text[slot] != text)
        slot = (slot + 1) % FALLBACK_SLOTS;
    return slot;
}

static void fallbacks_add(const ff_section *section, int depth) {
    for (int i = 0; i < section->keys; i++) {
        const ff_key *key = &section->key[i];
        const char *text = key->fallback;
        const unsigned slot = fallback_slot(text);
        if (!fallbacks.text[slot] && text[0] != '(' && strcmp(text, "none") != 0 &&
            strcmp(text, "required") != 0) {
            ff_tree_error error;
            ff_node *node = NULL;
            fallbacks.text[slot] = text;
            if (ff_tree_parse(&fallbacks.tree, text, strlen(text), NULL, &node, &error) == FF_OK) {
                know_numbers(node);
                fallbacks.node[slot] = node;
            }
        }
        if (key->section && depth < 8)
            fallbacks_add(key->section, depth + 1);
    }
}

static void fallbacks_create(void) {
    fallbacks_add(ff_schema_top(), 0);
}

/* The table's own text is read like a file's: what the reference says is what happens. */
static bool read_fallback(reader *r, const ff_key *key, void *base) {
    if (key->fallback[0] == '(')
        return true;
    if (key->fallback[0] == 'n' && strcmp(key->fallback, "none") == 0) {
        double *number = (double *)((char *)base + key->offset);
        if (key->type == FF_TYPE_NUMBER || key->type == FF_TYPE_PAIR)
            number[0] = FF_INF;
        if (key->type == FF_TYPE_PAIR)
            number[1] = FF_INF;
        return true;
    }
    pthread_once(&fallbacks_once, fallbacks_create);
    const ff_node *node = fallbacks.node[fallback_slot(key->fallback)];
    if (!node)
        return fail(r, (ff_place){1, 1, NULL}, "%s: the default '%s' cannot be read", key->key,
                    key->fallback);
    return read_value(r, node, key, base);
}

/* -------------------------------------------------------------------------------------------- sections -- */

static const ff_key *find_key(const ff_section *section, const char *name) {
    for (int i = 0; i < section->keys; i++)
        if (section->key[i].key[0] == name[0] && strcmp(section->key[i].key, name) == 0)
            return &section->key[i];
    return NULL;
}

static bool belongs(const ff_key *key, int kind) {
    return key->kinds == 0 || kind < 0 || (key->kinds >> (unsigned)kind & 1u);
}

static const char *where(const reader *r) {
    return *r->path ? r->path : "the scenario";
}

/* Every key of the map must be one of the section and belong to its kind. */
static bool check_keys(reader *r, const ff_node *node, const ff_section *section, int kind,
                       const char *kind_word) {
    for (const ff_node *child = node->child; child; child = child->next) {
        const ff_key *key = find_key(section, child->key);
        if (key && belongs(key, kind))
            continue;
        names list = {"", 0};
        guess g = {.wrong = child->key};
        for (int i = 0; i < section->keys; i++)
            if (belongs(&section->key[i], kind)) {
                names_add(&list, section->key[i].key);
                guess_add(&g, section->key[i].key);
            }
        if (key)
            return fail(r, child->key_place, "key '%s' does not belong to %s kind '%s', allowed: %s",
                        child->key, section->noun, kind_word, list.text);
        return fail(r, child->key_place, "unknown key '%s' in %s%s, allowed: %s", ff_show(child->key).text,
                    where(r), hint(&g).text, list.text);
    }
    return true;
}

/* Reads the kind first, refuses foreign keys, then goes through the table: absent keys take their defaults.
 */
static bool read_section(reader *r, const ff_node *node, const ff_section *section, void *base) {
    if (!section || node->kind != FF_NODE_MAP)
        return fail(r, node->place, "%s must be a map, not %s, allowed: keys with values, or {}", where(r),
                    kind_text(node));
    const ff_key *kind_key = find_key(section, "kind");
    int kind = -1;
    const char *kind_word = "";
    if (kind_key) {
        const ff_node *given = ff_node_find(node, "kind");
        if (given) {
            if (!read_word(r, given, kind_key, &kind))
                return false;
        } else
            for (int i = 0; kind_key->words[i]; i++)
                if (kind_key->words[i][0] == kind_key->fallback[0] &&
                    strcmp(kind_key->words[i], kind_key->fallback) == 0)
                    kind = i;
        if (kind >= 0)
            kind_word = kind_key->words[kind];
    }
    if (!check_keys(r, node, section, kind, kind_word))
        return false;
    for (int i = 0; i < section->keys; i++) {
        const ff_key *key = &section->key[i];
        const ff_node *child = node->count ? ff_node_find(node, key->key) : NULL;
        const bool required = key->fallback[0] == 'r' && strcmp(key->fallback, "required") == 0;
        if (!child && required && belongs(key, kind))
            return fail(r, node->place, "%s lacks the key '%s', allowed: %s%s%s%s", where(r), key->key,
                        ff_type_text(key->type), *key->unit ? " [" : "", key->unit, *key->unit ? "]" : "");
        const bool below = key->section || key->type == FF_TYPE_POINTS;
        /* a pair given as one number leaves the other at its default */
        const bool replaced = child && (below || key->type != FF_TYPE_PAIR);
        if (!required && !replaced && !key->preset && !read_fallback(r, key, base))
            return false;
        if (child && !read_value(r, child, key, base))
            return false;
    }
    return true;
}

static bool read_points(reader *r, const ff_node *node, const ff_key *key, ff_satellite *satellite) {
    satellite->points = 1;
    satellite->point[0] = (ff_point){.name = "com"};
    if (node->kind != FF_NODE_MAP)
        return fail(r, node->place, "points must be a map, not %s, allowed: {tip: [x, y, z]}",
                    kind_text(node));
    for (const ff_node *child = node->child; child; child = child->next) {
        if (strcmp(child->key, "com") == 0)
            return fail(r, child->key_place, "the point 'com' always exists, allowed: another name");
        if (!check_name(r, child->key_place, "point", child->key))
            return false;
        if (satellite->points == FF_MAX_POINTS)
            return fail(r, child->key_place, "more than %d points, allowed: fewer", FF_MAX_POINTS - 1);
        ff_point *point = &satellite->point[satellite->points++];
        ff_key item = *key;
        item.key = child->key;
        item.type = FF_TYPE_VEC3;
        snprintf(point->name, sizeof point->name, "%s", child->key);
        if (!read_numbers(r, child, &item, 3, point->r.a))
            return false;
    }
    return true;
}

static bool check_inertia(reader *r, const ff_node *node, const char *key, ff_rigid_config config) {
    if (ff_rigid_validate(&config) == FF_OK)
        return true;
    ff_vec3 moment;
    ff_mat3 axes;
    ff_mat3_eigen(config.inertia, &moment, &axes);
    const char *const wrong =
        moment.x > 0.0 ? "violates the triangle inequality" : "is not positive definite";
    return fail(r, node->place,
                "%s %s: principal moments %.6g, %.6g, %.6g, allowed: all > 0 and none above the sum of the "
                "other two [kg m2]",
                key, wrong, moment.x, moment.y, moment.z);
}

/* URDF files are read once for a tree of nodes: campaigns read the scenario again and again. */
struct ff_tree_model_file {
    struct ff_tree_model_file *next;
    const char *name, *path; /* as the scenario says it; as it is opened */
    ff_urdf urdf;
};

static void note_model(ff_scenario *s, const char *name) {
    for (int i = 0; i < s->models; i++)
        if (strcmp(s->model[i], name) == 0)
            return;
    if (s->models < FF_MAX_MODELS) /* an emulation names two */
        snprintf(s->model[s->models++], FF_NAME_SIZE, "%s", name);
}

/* From the disk, or from where the options say. */
static ff_status load_model(const reader *r, const char *name, const char *path, ff_urdf *urdf, char *text,
                            size_t size) {
    const char *bytes;
    size_t length;
    if (!r->options || !r->options->file)
        return ff_urdf_load(path, urdf, text, size);
    if (r->options->file(r->options->file_self, name, &bytes, &length))
        return ff_urdf_parse(name, bytes, length, urdf, text, size);
    snprintf(text, size, "it is not in the log");
    return FF_ERR_IO;
}

/* NULL after fail. Relative names start from the scenario's folder. */
static const struct ff_tree_model_file *read_model(reader *r, const ff_node *node) {
    char name[FF_NAME_SIZE], text[400];
    if (!read_text(r, node, "model", name))
        return NULL;
    note_model(r->scenario, name);
    for (const struct ff_tree_model_file *m = r->tree->models; m; m = m->next)
        if (strcmp(m->name, name) == 0)
            return m;
    const char *slash = name[0] == '/' ? NULL : strrchr(r->label, '/');
    const size_t folder = slash ? (size_t)(slash - r->label) + 1 : 0, length = strlen(name);
    struct ff_tree_model_file *m = ff_tree_alloc(r->tree, sizeof *m);
    char *path = ff_tree_alloc(r->tree, folder + length + 1);
    if (!m || !path) {
        fail(r, node->place, "no memory for the model");
        return NULL;
    }
    memcpy(path, r->label, folder);
    memcpy(path + folder, name, length + 1);
    const ff_status status = load_model(r, name, path, &m->urdf, text, sizeof text);
    if (status == FF_ERR_IO)
        fail(r, node->place,
             "model '%s' cannot be read: %s, allowed: a URDF file, from the scenario's folder",
             ff_show(name).text, text);
    else if (status != FF_OK && r->message && r->size)
        snprintf(r->message, r->size, "%s", text);
    if (status != FF_OK)
        return NULL;
    m->path = path;
    m->name = path + folder;
    m->next = r->tree->models;
    r->tree->models = m;
    return m;
}

/* Read to be checked only: what is drawn reads it again. */
static bool read_mesh(reader *r, const ff_node *node, char *path) {
    char name[FF_NAME_SIZE], text[128];
    if (!read_text(r, node, "file", name))
        return false;
    const char *slash = name[0] == '/' ? NULL : strrchr(r->label, '/');
    const size_t folder = slash ? (size_t)(slash - r->label) + 1 : 0, length = strlen(name);
    if (folder + length >= 2 * (size_t)FF_NAME_SIZE)
        return fail(r, node->place, "the path of the mesh '%s' is too long, allowed: %d bytes",
                    ff_show(name).text, 2 * FF_NAME_SIZE - 1);
    memcpy(path, r->label, folder);
    memcpy(path + folder, name, length + 1);
    ff_mesh mesh;
    if (ff_mesh_load(path, &mesh, text, sizeof text) != FF_OK)
        return fail(r, node->place,
                    "mesh '%s': %s, allowed: an STL or OBJ file of at most %d triangles, from the scenario's "
                    "folder",
                    ff_show(name).text, text, FF_MESH_TRIANGLES);
    ff_mesh_free(&mesh);
    return true;
}

/* As fail, at a line of the model. */
static bool fail_model(reader *r, const char *path, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static bool fail_model(reader *r, const char *path, int line, const char *format, ...) {
    if (!r->message || !r->size)
        return false;
    const int n = snprintf(r->message, r->size, "%s:%d: ", path, line);
    const size_t used = n < 0 ? 0 : (size_t)n < r->size ? (size_t)n : r->size - 1;
    va_list list;
    va_start(list, format);
    vsnprintf(r->message + used, r->size - used, format, list);
    va_end(list);
    flatten(r->message);
    return false;
}

static bool read_arm_model(reader *r, const ff_node *node, ff_servicer_arm *arm) {
    const struct ff_tree_model_file *file = read_model(r, node);
    if (!file)
        return false;
    const ff_urdf *urdf = &file->urdf;
    if (urdf->root_mass > 0.0)
        return fail_model(
            r, file->path, urdf->root_line,
            "the root link '%s' has a mass of %.9g kg, which would be dropped, allowed: none (add "
            "it to the satellite's, or carry it on a fixed joint)",
            urdf->root, urdf->root_mass);
    if (urdf->links > FF_MAX_ARM_LINKS)
        return fail_model(r, file->path, urdf->root_line,
                          "the model has %d links beyond its root, allowed: at most %d", urdf->links,
                          FF_MAX_ARM_LINKS);
    for (int i = 0; i < urdf->links; i++) {
        const ff_urdf_link *from = &urdf->link[i];
        ff_servicer_link *link = &arm->link[i];
        *link = (ff_servicer_link){.parent_row = from->parent,
                                   .joint = from->joint,
                                   .pose = from->pose,
                                   .axis = from->axis,
                                   .mass = from->mass,
                                   .com = from->com,
                                   .inertia = from->inertia,
                                   .torque = from->effort,
                                   .viscous = from->viscous,
                                   .coulomb = from->coulomb,
                                   .lower = from->lower,
                                   .upper = from->upper,
                                   .velocity = from->velocity};
        snprintf(link->name, sizeof link->name, "%s", from->name);
    }
    arm->links = urdf->links;
    arm->joints = urdf->joints;
    return true;
}

static bool read_chain_model(reader *r, const ff_node *node, ff_emulate_arm *arm) {
    const struct ff_tree_model_file *file = read_model(r, node);
    char text[400];
    ff_urdf chain;
    ff_pose tip;
    if (!file)
        return false;
    if (ff_urdf_chain(file->path, &file->urdf, &chain, &tip, text, sizeof text) != FF_OK) {
        if (r->message && r->size)
            snprintf(r->message, r->size, "%s", text);
        return false;
    }
    if (arm->floating && chain.root_mass > 0.0)
        return fail_model(r, file->path, chain.root_line,
                          "the root link '%s' and what is fixed to it have a mass of %.9g kg, which would be "
                          "dropped, allowed: none with base: floating (add it to base_mass)",
                          chain.root, chain.root_mass);
    if (chain.links < 1 || chain.links > FF_ARM_LINKS_MAX)
        return fail_model(r, file->path, chain.root_line,
                          "the model has %d joints that move, allowed: 1 to %d", chain.links,
                          FF_ARM_LINKS_MAX);
    for (int i = 0; i < chain.links; i++) {
        const ff_urdf_link *from = &chain.link[i];
        if (from->joint != FF_JOINT_REVOLUTE)
            return fail_model(r, file->path, from->line,
                              "joint '%s' is prismatic, allowed in an emulation: revolute, continuous, fixed",
                              from->joint_name);
        const ff_rigid_config body = {.mass = from->mass, .inertia = from->inertia};
        if (ff_rigid_validate(&body) != FF_OK)
            return fail_model(r, file->path, from->line,
                              "link '%s' has no inertia, allowed: positive definite [kg m2]", from->name);
        if (from->coulomb > 0.0)
            warn(r, node->place,
                 "warning: joint '%s' has friction %.9g, an emulated arm has its damping alone",
                 from->joint_name, from->coulomb);
        arm->link[i] = (ff_emulate_link){.mass = from->mass,
                                         .com = from->com,
                                         .inertia = from->inertia,
                                         .pose = from->pose,
                                         .axis = from->axis,
                                         .friction = from->viscous,
                                         .torque_limit = from->effort};
    }
    arm->links = chain.links;
    arm->tip = ff_pose_mul(tip, arm->tip);
    return true;
}

static bool read_drives(reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm) {
    if (arm->links == 0)
        return fail(r, node->place, "drives without a model, allowed: beside model: FILE.urdf");
    if (node->kind != FF_NODE_LIST || node->count != arm->links)
        return fail(r, node->place,
                    "drives must be a list of %d, allowed: one row for each joint of the model", arm->links);
    ff_emulate_link *link = arm->link;
    for (const ff_node *item = node->child; item; item = item->next)
        if (!read_section(r, item, key->section, link++))
            return false;
    return true;
}

/* Start angles inside the limits of the file. */
static bool check_starts(reader *r, const ff_node *section, const ff_emulate_arm *arm) {
    const ff_node *model = ff_node_find(section, "model");
    const struct ff_tree_model_file *file = model ? read_model(r, model) : NULL;
    if (!file)
        return !model;
    int joint = 0;
    for (int i = 0; i < file->urdf.links; i++) {
        const ff_urdf_link *from = &file->urdf.link[i];
        if (from->joint == FF_JOINT_FIXED)
            continue;
        const double start = arm->link[joint++].start;
        if (!(start >= from->lower && start <= from->upper))
            return fail(r, section->place, "joint '%s' starts at %.9g, allowed: %.9g to %.9g [rad]",
                        from->joint_name, start, from->lower, from->upper);
    }
    return true;
}

static bool read_links(reader *r, const ff_node *node, const ff_key *key, ff_servicer_arm *arm) {
    if (arm->links > 0)
        return fail(r, node->place, "links beside a model, allowed: one of them");
    if (node->kind != FF_NODE_LIST || node->count < 1 || node->count > FF_MAX_ARM_LINKS)
        return fail(r, node->place, "links must be a list of 1 to %d, allowed: - {mass, inertia, ...} items",
                    FF_MAX_ARM_LINKS);
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_servicer_link *link = &arm->link[arm->links];
        snprintf(link->name, sizeof link->name, "link%d", arm->links + 1);
        if (!read_section(r, item, key->section, link))
            return false;
        link->upper = link->velocity = FF_INF;
        link->lower = -FF_INF;
        link->parent_row = arm->links - 1; /* the base is -1 */
        const ff_node *parent = ff_node_find(item, "parent");
        if (parent) {
            link->parent_row = strcmp(link->parent, "base") == 0 ? FF_TREE_BASE : -2;
            for (int i = 0; i < arm->links; i++)
                if (strcmp(arm->link[i].name, link->parent) == 0)
                    link->parent_row = i;
            if (link->parent_row == -2)
                return fail(
                    r, parent->place,
                    "no link '%s' stands above '%s', allowed: base, or a link above (loops cannot be)",
                    ff_show(link->parent).text, ff_show(link->name).text);
        }
        arm->joints += link->joint != FF_JOINT_FIXED;
        arm->links++;
    }
    return true;
}

static bool read_joints(reader *r, const ff_node *section, const ff_section *keys, const ff_servicer_arm *arm,
                        double *q) {
    const ff_node *node = ff_node_find(section, "joints");
    if (!node)
        return true;
    if (node->kind != FF_NODE_LIST || node->count != arm->joints)
        return fail(r, node->place, "joints has %d values, allowed: one for each of the arm's %d joints",
                    node->count, arm->joints);
    return read_numbers(r, node, find_key(keys, "joints"), arm->joints, q);
}

static bool check_positions(reader *r, const ff_node *node, const ff_servicer_arm *arm, const double *q) {
    for (int i = 0; i < arm->links; i++) {
        const ff_servicer_link *link = &arm->link[i];
        if (link->joint == FF_JOINT_FIXED)
            continue;
        if (!(*q >= link->lower && *q <= link->upper))
            return fail(r, node->place, "joints: the joint of '%s' is at %.9g, allowed: %.9g to %.9g",
                        ff_show(link->name).text, *q, link->lower, link->upper);
        q++;
    }
    return true;
}

static const ff_section *below(const ff_section *section, const char *key) {
    return find_key(section, key)->section;
}

static bool check_most(reader *r, const ff_node *node, const char *key, double value, double most) {
    const ff_node *given = ff_node_find(node, key);
    return value <= most ||
           fail(r, given ? given->place : node->place, "%s is %.9g, allowed: at most %.9g", key, value, most);
}

static bool check_ipv4(reader *r, const ff_node *node, const char *key, const char *text) {
    const ff_node *given = ff_node_find(node, key);
    unsigned part[4];
    char after;
    bool good = sscanf(text, "%3u.%3u.%3u.%3u%c", &part[0], &part[1], &part[2], &part[3], &after) == 4 &&
                text[strspn(text, "0123456789.")] == 0;
    for (int i = 0; i < 4 && good; i++)
        good = part[i] <= 255;
    return good || fail(r, given ? given->place : node->place,
                        "%s is '%s', allowed: an IPv4 address, e.g. 127.0.0.1", key, ff_show(text).text);
}

static bool check_obsw(reader *r, const ff_node *node, ff_obsw_config *o) {
    const ff_node *navigation = ff_node_find(node, "navigation");
    if (!ff_node_find(node, "hold"))
        o->hold = FF_NAN; /* ten cycles, once the cycle is known */
    if (!ff_node_find(node, "timeout"))
        o->timeout = o->kind == 1 ? 1.0 : 0.5;
    if (navigation &&
        (!check_most(r, navigation, "delay", o->navigation.delay, 60) ||
         !check_most(r, navigation, "star_tracker_delay", o->navigation.star_tracker_delay, 60) ||
         !check_most(r, navigation, "gyro_delay", o->navigation.gyro_delay, 60) ||
         !check_most(r, navigation, "encoder_delay", o->navigation.encoder_delay, 60)))
        return false;
    if (!check_most(r, node, "timeout", o->timeout, 60))
        return false;
    if (o->kind != 2)
        return true;
    if (o->port == 0)
        return fail(r, node->place, "port is 0, allowed: 1 to 65535");
    return check_ipv4(r, node, "address", o->address) &&
           check_ipv4(r, node, "local_address", o->local_address) &&
           check_most(r, node, "port", (double)o->port, 65535) &&
           check_most(r, node, "local_port", (double)o->local_port, 65535) &&
           check_most(r, node, "apid", (double)o->apid, 2046) &&
           check_most(r, node, "command_apid", (double)o->command_apid, 2046) &&
           check_most(r, node, "connect", o->connect, 600);
}

/* Arm and on-board software belong together; the tree must be physical. */
static bool read_servicer(reader *r, const ff_node *node, const ff_section *section,
                          ff_satellite *satellite) {
    const ff_node *arm = ff_node_find(node, "arm"), *obsw = ff_node_find(node, "obsw");
    satellite->arm.present = arm != NULL;
    if (!arm && obsw)
        return fail(r, obsw->place, "obsw without an arm, allowed: on a satellite with an arm");
    if (!arm)
        return true;
    if (!obsw)
        return fail(r, arm->place, "an arm without obsw, allowed: obsw: {goal: {position: [x, y, z]}}");
    if (satellite->arm.links == 0)
        return fail(r, arm->place, "%s lacks the key 'links', allowed: list, or model: FILE.urdf", where(r));
    if (!read_joints(r, arm, below(section, "arm"), &satellite->arm, satellite->arm.q) ||
        !check_positions(r, arm, &satellite->arm, satellite->arm.q))
        return false;
    memcpy(satellite->obsw.q, satellite->arm.q, sizeof satellite->obsw.q);
    if (!read_joints(r, obsw, below(section, "obsw"), &satellite->arm, satellite->obsw.q) ||
        !check_positions(r, obsw, &satellite->arm, satellite->obsw.q))
        return false;
    if (!check_obsw(r, obsw, &satellite->obsw))
        return false;
    if (satellite->obsw.kind != 0)
        satellite->obsw.goal = ff_pose_identity();
    else if (!(satellite->obsw.arrive > satellite->obsw.approach))
        return fail(r, obsw->place, "arrive is %.9g, allowed: after approach = %.9g [s]",
                    satellite->obsw.arrive, satellite->obsw.approach);
    ff_tree_config tree;
    ff_tree_link_config link[FF_MAX_ARM_LINKS];
    char text[200];
    ff_scenario_tree(satellite, &tree, link);
    if (satellite->arm.joints < 1 || ff_tree_validate(&tree, text, sizeof text) != FF_OK)
        return fail(r, arm->place, "the arm cannot be: %s",
                    satellite->arm.joints < 1 ? "no joint moves" : text);
    return true;
}

static bool read_satellite(reader *r, const ff_node *node, const ff_section *section,
                           ff_satellite *satellite) {
    ff_gate_default(&satellite->limits);
    if (!read_section(r, node, section, satellite) ||
        !check_inertia(r, ff_node_find(node, "inertia"), "inertia", satellite->rigid))
        return false;
    if (!read_servicer(r, node, section, satellite))
        return false;
    satellite->robot.rail.present = ff_node_find(ff_node_find(node, "robot"), "rail") != NULL;
    const ff_node *robot = ff_node_find(node, "robot"), *own = ff_node_find(robot, "inertia");
    if (!ff_node_find(robot, "mass"))
        satellite->robot.inertia.mass = satellite->rigid.mass;
    if (!own)
        satellite->robot.inertia.inertia = satellite->rigid.inertia;
    else if (!check_inertia(r, own, "inertia", satellite->robot.inertia))
        return false;
    const ff_vec3 wired = satellite->sensor.wired;
    int seen = 0;
    for (int i = 0; i < 3; i++)
        for (int axis = 1; axis <= 3; axis++)
            seen |= fabs(wired.a[i]) == (double)axis ? 1 << axis : 0;
    const ff_node *wiring = ff_node_find(ff_node_find(node, "sensor"), "wired");
    if (wiring && seen != 14)
        return fail(r, wiring->place,
                    "sensor.wired must name each axis once, allowed: 1, 2, 3, each with its sign");
    const ff_node *mockup = ff_node_find(node, "mockup");
    satellite->mockup.present = mockup != NULL;
    satellite->mesh.present = ff_node_find(node, "mesh") != NULL;
    const ff_node *inertia = ff_node_find(mockup, "inertia");
    bool point_mass = true;
    for (int i = 0; i < 9; i++)
        point_mass = point_mass && satellite->mockup.inertia.m[i / 3][i % 3] == 0.0;
    return !inertia || point_mass ||
           check_inertia(r, inertia, "inertia",
                         (ff_rigid_config){satellite->mockup.mass, satellite->mockup.inertia});
}

static bool read_satellites(reader *r, const ff_node *node, const ff_key *key) {
    ff_scenario *s = r->scenario;
    if (node->kind != FF_NODE_MAP)
        return fail(r, node->place, "satellites must be a map, not %s, allowed: {NAME: {mass, inertia, ...}}",
                    kind_text(node));
    if (node->count < 1 || node->count > FF_MAX_BODIES)
        return fail(r, node->place, "%d satellites, allowed: 1 to %d", node->count, FF_MAX_BODIES);
    for (const ff_node *child = node->child; child; child = child->next) {
        ff_satellite *satellite = &s->satellite[s->satellites++];
        if (!check_name(r, child->key_place, "satellite", child->key))
            return false;
        snprintf(satellite->name, sizeof satellite->name, "%s", child->key);
        snprintf(r->path, sizeof r->path, "satellites.%s", child->key);
        if (!read_satellite(r, child, key->section, satellite))
            return false;
    }
    r->path[0] = 0;
    return true;
}

static bool read_point(reader *r, const ff_node *node, ff_contact *contact) {
    const ff_key key = {.key = "point", .type = FF_TYPE_VEC3, .unit = "m", .range = FF_RANGE_ANY};
    if (!node) {
        contact->point = ff_vec3_zero();
        return true;
    }
    if (node->kind == FF_NODE_LIST)
        return read_numbers(r, node, &key, 3, contact->point.a);
    const ff_satellite *body = &r->scenario->satellite[contact->body];
    names list = {"", 0};
    guess g = {.wrong = node->text};
    for (int i = 0; i < body->points; i++) {
        if (node->kind == FF_NODE_SCALAR && strcmp(node->text, body->point[i].name) == 0) {
            contact->point = body->point[i].r;
            return true;
        }
        names_add(&list, body->point[i].name);
        guess_add(&g, body->point[i].name);
    }
    if (node->kind != FF_NODE_SCALAR || !*node->text)
        return fail(r, node->place, "point must be a name or three numbers, not %s, allowed: %s, [x, y, z]",
                    kind_text(node), list.text);
    return fail(r, node->place, "satellite %s has no point '%s'%s, allowed: %s, [x, y, z]", body->name,
                ff_show(node->text).text, hint(&g).text, list.text);
}

/* `body` may be left out where there is only one satellite. */
static bool check_body(reader *r, const ff_node *node) {
    if (r->scenario->satellites == 1 || ff_node_find(node, "body"))
        return true;
    names list = {"", 0};
    for (int i = 0; i < r->scenario->satellites; i++)
        names_add(&list, r->scenario->satellite[i].name);
    return fail(r, node->place, "%s lacks the key 'body', allowed: %s", r->path, list.text);
}

static bool lacks(reader *r, const ff_node *node, const char *key, const char *unit) {
    return fail(r, node->place, "%s lacks the key '%s', allowed: > 0 [%s]", r->path, key, unit);
}

static bool read_contact(reader *r, const ff_node *node, const ff_section *section, ff_contact *contact) {
    contact->against = -1;
    contact->satellite_stiffness = contact->satellite_damping = FF_NAN;
    if (!read_section(r, node, section, contact) || !check_body(r, node) ||
        !read_point(r, ff_node_find(node, "point"), contact))
        return false;
    /* the section below lies on the contact itself; fill what it left open, key by key */
    if (isnan(contact->satellite_stiffness))
        contact->satellite_stiffness = contact->stiffness;
    if (isnan(contact->satellite_damping))
        contact->satellite_damping = contact->damping;
    if (contact->against == contact->body)
        return fail(r, ff_node_find(node, "against")->place,
                    "against names the body itself, allowed: another satellite");
    const bool stops = contact->kind == FF_CONTACT_STOPS;
    const ff_node *position = ff_node_find(node, "position"), *rotation = ff_node_find(node, "rotation");
    if (stops && !position && !rotation)
        return fail(r, node->place, "%s has no stop, allowed: position [m], rotation [rad] or both", r->path);
    if ((!stops || position) && !ff_node_find(node, "stiffness"))
        return lacks(r, node, "stiffness", "N/m");
    if ((rotation || contact->kind == FF_CONTACT_GRASP) && !ff_node_find(node, "rotation_stiffness"))
        return lacks(r, node, "rotation_stiffness", "N m/rad");
    return true;
}

static bool check_list(reader *r, const ff_node *node, const ff_key *key, int most) {
    if (node->kind != FF_NODE_LIST)
        return fail(r, node->place, "%s must be a list, not %s, allowed: - {...} items, or []", key->key,
                    kind_text(node));
    if (node->count > most)
        return fail(r, node->place, "%d %s, allowed: at most %d", node->count, key->key, most);
    return true;
}

static bool read_contacts(reader *r, const ff_node *node, const ff_key *key) {
    ff_scenario *s = r->scenario;
    if (!check_list(r, node, key, FF_MAX_CONTACTS))
        return false;
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_contact *contact = &s->contact[s->contacts++];
        snprintf(contact->name, sizeof contact->name, "contact%d", s->contacts);
        snprintf(r->path, sizeof r->path, "contact %d", s->contacts);
        if (!read_contact(r, item, key->section, contact))
            return false;
        for (int i = 0; i + 1 < s->contacts; i++)
            if (strcmp(s->contact[i].name, contact->name) == 0) {
                const ff_node *name = ff_node_find(item, "name");
                return fail(r, name ? name->place : item->place,
                            "contact %d is also named '%s', allowed: names of their own", i + 1,
                            ff_show(contact->name).text);
            }
    }
    r->path[0] = 0;
    return true;
}

static bool read_loads(reader *r, const ff_node *node, const ff_key *key) {
    ff_scenario *s = r->scenario;
    if (!check_list(r, node, key, FF_MAX_LOADS))
        return false;
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_load *load = &s->load[s->loads++];
        snprintf(r->path, sizeof r->path, "load %d", s->loads);
        if (!read_section(r, item, key->section, load) || !check_body(r, item))
            return false;
        if (!ff_node_find(item, "force") && !ff_node_find(item, "torque"))
            return fail(r, item->place, "%s is empty, allowed: force [N], torque [N m] or both", r->path);
        if (!(load->to > load->from))
            return fail(r, ff_node_find(item, "to")->place, "to is %.9g, allowed: after from = %.9g [s]",
                        load->to, load->from);
    }
    r->path[0] = 0;
    return true;
}

static bool read_chain(reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm) {
    char path[sizeof r->path];
    if (!check_list(r, node, key, FF_ARM_LINKS_MAX))
        return false;
    if (arm->links > 0)
        return fail(r, node->place, "links beside a model, allowed: one of them");
    snprintf(path, sizeof path, "%s", r->path);
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_emulate_link *link = &arm->link[arm->links++];
        snprintf(r->path, sizeof r->path, "link %d", arm->links);
        if (!read_section(r, item, key->section, link))
            return false;
        const ff_rigid_config body = {.mass = link->mass, .inertia = link->inertia};
        if (ff_rigid_validate(&body) != FF_OK)
            return fail(r, ff_node_find(item, "inertia")->place,
                        "the inertia of %s is not that of a body, allowed: positive definite, triangle "
                        "inequality",
                        r->path);
    }
    memcpy(r->path, path, sizeof path);
    return true;
}

static bool read_faults(reader *r, const ff_node *node, const ff_key *key) {
    ff_scenario *s = r->scenario;
    if (!check_list(r, node, key, FF_MAX_FAULTS))
        return false;
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_fault *fault = &s->fault[s->faults++];
        snprintf(r->path, sizeof r->path, "fault %d", s->faults);
        if (!read_section(r, item, key->section, fault))
            return false;
        if (!(fault->to > fault->from))
            return fail(r, item->place, "to is %.9g, allowed: after from = %.9g [s]", fault->to, fault->from);
        if (fault->kind == FF_FAULT_FT_MIRRORED &&
            !(fault->value >= 1.0 && fault->value <= 6.0 && fault->value == floor(fault->value)))
            return fail(r, item->place, "value is %.9g, allowed: an axis, 1 to 6 (Fx to Tz)", fault->value);
        if (fault->kind == FF_FAULT_WALL_HARDER && !(fault->value > 0.0))
            return fail(r, item->place, "value is %.9g, allowed: above 0, times the stiffness", fault->value);
    }
    r->path[0] = 0;
    return true;
}

/* ---------------------------------------------------------------------------------------- the scenario -- */

static bool check_time(reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const ff_node *time = ff_node_find(root, "time"), *duration = ff_node_find(time, "duration");
    if (s->duration < s->cycle)
        return fail(r, duration->place, "duration is %.9g, allowed: at least one cycle, %.9g [s]",
                    s->duration, s->cycle);
    const double cycles = round(s->duration / s->cycle);
    if (!(cycles <= 1e9))
        return fail(r, duration->place, "duration is %.9g, %.3g cycles, allowed: at most 1e9 cycles",
                    s->duration, cycles);
    s->cycles = (uint64_t)cycles;
    s->integrate.cycle = s->cycle;
    return true;
}

static bool is_printed(const ff_node *root, const char *method) {
    const ff_node *reading = ff_node_find(ff_node_find(root, method), "reading");
    return reading && reading->kind == FF_NODE_SCALAR && strcmp(reading->text, "printed") == 0;
}

/* The settings of a method start from one variant or the other before single keys override them. */
static void set_defaults(ff_scenario *s, const ff_node *root) {
    memset(s, 0, sizeof *s);
    ff_emulation_default(&s->emulation.emulation);
    for (int m = 0; ff_method_at(m) && m < FF_MAX_METHODS; m++) {
        ff_method_setup *setup = &s->setup[s->setups++];
        setup->method = ff_method_at(m);
        ff_settings_default(setup->method, is_printed(root, setup->method->name), &setup->setting);
    }
}

/* How far the tip of a contact stands inside the other's surface at the start [m]; negative: free. */
static double start_depth(const ff_scenario *s, const ff_contact *c) {
    const ff_rigid_state *a = &s->satellite[c->body].start;
    ff_vec3 p = ff_pose_apply(ff_rigid_pose(a), c->point);
    if (c->kind == FF_CONTACT_PAIR || c->kind == FF_CONTACT_CONE)
        p = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&s->satellite[c->against].start)), p);
    if (c->kind != FF_CONTACT_CONE)
        return ff_vec3_dot(c->normal, ff_vec3_sub(c->at, p));
    const ff_vec3 r = ff_vec3_sub(p, c->apex);
    const double z = ff_vec3_dot(c->axis, r), rho = ff_vec3_norm(ff_vec3_axpy(-z, c->axis, r));
    if (z > c->depth) /* in front of the mouth */
        return -1.0;
    return rho * cos(c->half_angle) - z * sin(c->half_angle);
}

/* A contact that is compressed at the start gives energy that no motion brought: seldom meant. */
static void warn_overlap(reader *r, const ff_node *root) {
    const ff_node *item = ff_node_find(root, "contacts");
    item = item ? item->child : NULL;
    for (int c = 0; c < r->scenario->contacts && item; c++, item = item->next) {
        const ff_contact *contact = &r->scenario->contact[c];
        if (contact->kind == FF_CONTACT_STOPS || contact->kind == FF_CONTACT_GRASP ||
            r->scenario->satellite[contact->body].arm.present)
            continue;
        const double depth = start_depth(r->scenario, contact);
        if (depth > 1e-9)
            warn(r, item->place, "warning: contact %s is compressed by %.3g m at the start", contact->name,
                 depth);
    }
}

/* A contact that nothing can reach is a wrong sign or a forgotten velocity. */
static void warn_untouchable(reader *r, const ff_node *root) {
    double clearance[FF_MAX_CONTACTS];
    const ff_node *item = ff_node_find(root, "contacts");
    if (!r->warnings || !item)
        return;
    ff_scenario_clearance(r->scenario, clearance);
    item = item->child;
    for (int c = 0; c < r->scenario->contacts && item; c++, item = item->next)
        if (clearance[c] > 0.0)
            warn(
                r, item->place,
                "warning: contact %s cannot touch: nothing pushes the satellites, and in %.9g s they come no "
                "nearer than %.3g m",
                r->scenario->contact[c].name, r->scenario->duration, clearance[c]);
}

/* What the method cannot do is said before anything moves. */
static bool check_geometry(reader *r, const ff_node *root) {
    const ff_scenario *s = r->scenario;
    if (!s->method || !(s->method->needs & FF_NEEDS_GEOMETRY) || ff_scenario_servicer(s) >= 0)
        return true; /* check_servicer says more of an arm */
    const ff_node *item = ff_node_find(root, "contacts");
    item = item ? item->child : NULL;
    for (int c = 0; c < s->contacts && item; c++, item = item->next)
        if (s->contact[c].kind != FF_CONTACT_WALL && s->contact[c].kind != FF_CONTACT_PAIR &&
            s->contact[c].kind != FF_CONTACT_CONE)
            return fail(r, item->place,
                        "method '%s' does not know contacts of this kind, allowed: wall, pair, cone; for the "
                        "others method direct, tdpa, damping, fused",
                        s->method->name);
    return true;
}

/* A scenario floats satellites or emulates a robot. */
static bool check_subject(reader *r, const ff_node *root) {
    if (root->kind != FF_NODE_MAP)
        return true;
    const ff_node *emulation = ff_node_find(root, "emulation");
    if (!emulation && !ff_node_find(root, "satellites"))
        return fail(r, root->place, "the scenario lacks the key 'satellites', allowed: map");
    static const char *const foreign[] = {"satellites", "contacts", "loads", "nominal", "frame"};
    for (size_t i = 0; emulation && i < sizeof foreign / sizeof *foreign; i++) {
        const ff_node *node = ff_node_find(root, foreign[i]);
        if (node)
            return fail(r, node->key_place,
                        "key '%s' does not belong to an emulation, allowed: emulation alone", foreign[i]);
    }
    r->scenario->emulates = emulation != NULL;
    return true;
}

/* A scenario with an arm: client and servicer, one grasp by the arm's gripper, perfect or late robots. */
static bool check_servicer(reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const int servicer = ff_scenario_servicer(s);
    const ff_node *satellites = ff_node_find(root, "satellites"), *contacts = ff_node_find(root, "contacts");
    for (int c = 0; c < s->contacts && servicer < 0; c++)
        if (s->contact[c].kind == FF_CONTACT_GRASP && isfinite(s->contact[c].opens))
            return fail(r, contacts->place, "only the gripper of an arm opens again, allowed: no key 'opens'");
    if (servicer < 0)
        return true;
    if (s->satellites != 2 || s->satellite[1 - servicer].arm.present)
        return fail(r, satellites->place,
                    "a scenario with an arm has %d satellites, allowed: the servicer and one "
                    "client without an arm",
                    s->satellites);
    int grasps = 0;
    for (int c = 0; c < s->contacts; c++) {
        const ff_contact *k = &s->contact[c];
        grasps += k->kind == FF_CONTACT_GRASP;
        if (grasps > 1 || k->body != servicer || (k->kind != FF_CONTACT_GRASP && k->kind != FF_CONTACT_PAIR))
            return fail(r, contacts->place,
                        "contacts of a scenario with an arm, allowed: one grasp and any pairs, whose body is "
                        "'%s'",
                        s->satellite[servicer].name);
        if (k->kind == FF_CONTACT_GRASP && !(k->opens > k->closes))
            return fail(r, contacts->place, "the grasp opens at %.9g s, allowed: after it closes, %.9g s",
                        k->opens, k->closes);
    }
    if (s->method && !(s->method->can & FF_CAN_TREE)) {
        const ff_node *method = ff_node_find(root, "method");
        names list = {"", 0};
        names_add(&list, "ideal");
        for (int m = 0; m < s->setups; m++)
            if (s->setup[m].method->can & FF_CAN_TREE)
                names_add(&list, s->setup[m].method->name);
        return fail(r, method ? method->place : root->place,
                    "method '%s' computes the contact force itself, but the arm's joints have felt the "
                    "measured one (docs/methods/arm.md), allowed: %s",
                    s->method->name, list.text);
    }
    if (s->integrate.scheme != FF_SCHEME_LIE_MIDPOINT)
        return fail(r, ff_node_find(root, "integrator")->place,
                    "integrator '%s' knows no arm, allowed: lie-midpoint",
                    ff_scheme_name(s->integrate.scheme));
    ff_servicer_arm *arm = &s->satellite[servicer].arm;
    if (!(arm->cycle > 0.0))
        arm->cycle = 0.25 * s->cycle;
    if (isnan(s->satellite[servicer].obsw.hold))
        s->satellite[servicer].obsw.hold = 10.0 * s->cycle;
    const double parts = s->cycle / arm->cycle;
    if (parts < 0.5 || fabs(parts - round(parts)) > 1e-9 * parts)
        return fail(r, satellites->place,
                    "the arm's cycle is %.9g, allowed: the loop's divided by a whole number", arm->cycle);
    if (s->frame == FF_FRAME_RELATIVE && (s->nominal == FF_NOMINAL_SATELLITE || s->relative_integrated))
        return fail(r, root->place,
                    "with an arm the nominal motion is, allowed: free, prescribed; form algebraic");
    return true;
}

/* What hangs together in an emulation, and what both kinds of target share. */
static bool check_emulation(reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const ff_node *node = ff_node_find(root, "emulation"), *target = ff_node_find(node, "target"),
                  *robot = ff_node_find(node, "robot"), *rates = ff_node_find(node, "accommodation");
    if (s->target != s->emulator)
        return fail(r, robot->place, "the robot is %s, allowed: %s, as the target is",
                    s->emulator == FF_TARGET_ARM ? "an arm" : "one joint",
                    s->target == FF_TARGET_ARM ? "kind: arm" : "kind: joint");
    const bool arm = s->target == FF_TARGET_ARM;
    const ff_node *foreign = ff_node_find(node, arm ? "wall" : "surface");
    if (foreign)
        return fail(r, foreign->key_place, "key '%s' does not belong to this target, allowed: %s",
                    arm ? "wall" : "surface", arm ? "surface" : "wall");
    s->emulation.accommodates = s->arms.accommodates = rates != NULL;
    s->emulation.rate = s->arms.rate.x;
    s->emulation.compliance = s->arms.compliance;
    s->emulation.gain = s->arms.gain;
    if (rates && ff_node_find(node, "torque"))
        return fail(r, ff_node_find(node, "torque")->key_place,
                    "torque and accommodation both drive the target, allowed: one of them");
    if (!arm)
        return true;
    if (ff_node_find(node, "torque"))
        return fail(r, ff_node_find(node, "torque")->key_place,
                    "an arm's torques stand with its links, allowed: drive in each link");
    if (s->arms.target.links == 0 || s->arms.robot.links == 0)
        return fail(r, s->arms.target.links ? robot->place : target->place,
                    "%s lacks the key 'links', allowed: list, or model: FILE.urdf",
                    s->arms.target.links ? "emulation.robot" : "emulation.target");
    if (!check_starts(r, target, &s->arms.target) || !check_starts(r, robot, &s->arms.robot))
        return false;
    const int joints = s->arms.task == FF_TREE_TASK_POSE ? 6 : 2;
    if (s->arms.robot.links != joints || s->arms.target.links < joints)
        return fail(r, s->arms.robot.links != joints ? robot->place : target->place,
                    "%s has %d links, allowed: %s%d for this task",
                    s->arms.robot.links != joints ? "the robot" : "the target",
                    s->arms.robot.links != joints ? s->arms.robot.links : s->arms.target.links,
                    s->arms.robot.links != joints ? "" : "at least ", joints);
    const ff_rigid_config base = {.mass = s->arms.target.base_mass, .inertia = s->arms.target.base_inertia};
    if (s->arms.target.floating && ff_rigid_validate(&base) != FF_OK)
        return fail(r, target->place,
                    "a floating base needs base_mass > 0 and a base_inertia that is positive definite");
    for (int i = 0; s->arms.target.flexible && i < s->arms.target.links; i++)
        if (!(s->arms.target.link[i].motor_inertia > 0.0))
            return fail(r, target->place,
                        "link %d has no motor_inertia, allowed: > 0 [kg m2] with joints: flexible", i + 1);
    s->arms.robot.base_given = ff_node_find(robot, "place") != NULL;
    if (!s->arms.robot.base_given)
        s->arms.robot.base = ff_pose_identity();
    s->arms.wall.present = ff_node_find(node, "surface") != NULL;
    s->arms.gravity_model_error = s->emulation.gravity_model_error;
    s->arms.friction_model_error = s->emulation.friction_model_error;
    s->arms.actuator_bandwidth = s->emulation.actuator_bandwidth;
    s->arms.actuator_delay = s->emulation.actuator_delay;
    s->arms.force_bias = s->emulation.force_bias;
    s->arms.force_noise = s->emulation.force_noise;
    s->arms.emulation = s->emulation.emulation;
    s->arms.sampled = s->emulation.sampled;
    s->arms.cycle = s->cycle;
    s->arms.duration = s->duration;
    s->arms.seed = s->seed;
    return true;
}

static bool read_scenario(reader *r, const ff_node *root, const char *method) {
    ff_scenario *s = r->scenario;
    set_defaults(s, root);
    if (!check_subject(r, root) || !read_section(r, root, ff_schema_top(), s) || !check_time(r, root))
        return false;

    if (method) {
        char argument[FF_NAME_SIZE];
        snprintf(argument, sizeof argument, "--method %s", ff_show(method).text);
        const ff_node node = {.kind = FF_NODE_SCALAR, .text = method, .place = {1, 1, argument}};
        if (!read_value(r, &node, find_key(ff_schema_top(), "method"), s))
            return false;
    }
    if (!check_geometry(r, root))
        return false;
    warn_overlap(r, root);
    warn_untouchable(r, root);
    if (s->frame == FF_FRAME_RELATIVE && s->relative_integrated &&
        (s->nominal == FF_NOMINAL_SATELLITE ||
         (s->integrate.scheme != FF_SCHEME_LIE_MIDPOINT && s->integrate.scheme != FF_SCHEME_EULER)))
        return fail(r, ff_node_find(ff_node_find(root, "relative"), "form")->place,
                    "form 'integrated' does not go with %s, allowed: %s",
                    s->nominal == FF_NOMINAL_SATELLITE ? "nominal kind 'satellite'"
                                                       : ff_scheme_name(s->integrate.scheme),
                    s->nominal == FF_NOMINAL_SATELLITE ? "free, prescribed" : "lie-midpoint, euler");
    if (s->nominal != FF_NOMINAL_SATELLITE)
        for (int i = s->satellites - 1; i >= 0; i--)
            if (i == 0 || strcmp(s->satellite[i].name, "client") == 0) {
                s->nominal_of = i;
                break;
            }
    if (s->contact_wrench == FF_CONTACT_RULE_HELD && !ff_scheme_holds(s->integrate.scheme))
        return fail(
            r, ff_node_find(root, "contact_wrench")->place,
            "contact_wrench 'held' does not go with integrator '%s', allowed: lie-midpoint, splitting",
            ff_scheme_name(s->integrate.scheme));
    if (!check_servicer(r, root))
        return false;
    if (!ff_node_find(ff_node_find(root, "passive"), "reading"))
        s->integrate.passive_printed = is_printed(root, "tdpa");
    for (int i = 0; i < s->satellites; i++)
        s->satellite[i].limits.cycle = s->cycle;
    s->emulation.cycle = s->cycle;
    s->emulation.duration = s->duration;
    s->emulation.seed = s->seed;
    return !s->emulates || check_emulation(r, root);
}

static ff_status apply_sets(reader *r, const ff_scenario_options *options, ff_tree_error *error) {
    for (int i = 0; i < (options ? options->sets : 0); i++) {
        const char *assignment = options->set[i];
        const size_t size = strlen(assignment) + 8;
        char *argument = ff_tree_alloc(r->tree, size);
        if (!argument)
            return FF_ERR_MEMORY;
        snprintf(argument, size, "--set %s", assignment);
        if (size > 200) /* a whole subtree: its beginning is enough to find it */
            snprintf(argument, size, "--set %s", ff_show(assignment).text);
        const ff_status status = ff_tree_set(r->tree, assignment, argument, error);
        if (status != FF_OK)
            return status;
    }
    return FF_OK;
}

ff_status ff_scenario_parse(const char *label, const char *text, size_t length,
                            const ff_scenario_options *options, ff_scenario *scenario, char *message,
                            size_t size, char *warnings, size_t warnings_size) {
    ff_tree tree = {0};
    reader r = {.label = label,
                .tree = &tree,
                .scenario = scenario,
                .options = options,
                .message = message,
                .size = size,
                .warnings = warnings,
                .warnings_size = warnings_size};
    const ff_place start = {1, 1, NULL};
    if (message && size)
        message[0] = 0;
    if (warnings && warnings_size)
        warnings[0] = 0;
    if (length > FF_TREE_BYTES) {
        fail(&r, start, "the file has %zu bytes, allowed: at most 16 MB", length);
        return FF_ERR_FORMAT;
    }
    ff_tree_error error;
    ff_status status = ff_tree_parse(&tree, text, length, NULL, &tree.root, &error);
    if (status == FF_OK && !tree.root) {
        fail(&r, start, "the file is empty, allowed: a scenario with name, time and satellites");
        ff_tree_free(&tree);
        return FF_ERR_FORMAT;
    }
    if (status == FF_OK)
        status = apply_sets(&r, options, &error);
    if (status != FF_OK)
        fail(&r, error.place, "%s", error.text);
    else if (!read_scenario(&r, tree.root, options ? options->method : NULL))
        status = FF_ERR_FORMAT;
    ff_tree_free(&tree);
    return status;
}

/* ------------------------------------------------------------------------------------------- template -- */

struct ff_scenario_template {
    ff_tree tree;
    const char *label;
    const char *method;
    int slots;
    ff_node **node;  /* where each slot's value stands */
    ff_node ***item; /* parsed items of each slot */
    int *items;
};

static ff_status template_fill(ff_scenario_template *t, const ff_scenario_slot *slots, ff_tree_error *error) {
    for (int i = 0; i < t->slots; i++) {
        const size_t size = strlen(slots[i].path) + 3;
        char *assignment = ff_tree_alloc(&t->tree, size);
        t->items[i] = slots[i].count;
        t->item[i] = ff_tree_alloc(&t->tree, sizeof(ff_node *) * (size_t)(slots[i].count + 1));
        if (!assignment || !t->item[i])
            return FF_ERR_MEMORY;
        snprintf(assignment, size, "%s=0", slots[i].path);
        ff_status status = ff_tree_set_node(&t->tree, assignment, slots[i].argument, &t->node[i], error);
        for (int j = 0; status == FF_OK && j < slots[i].count; j++) {
            const char *text = slots[i].items[j];
            status = ff_tree_parse(&t->tree, text, strlen(text), slots[i].argument, &t->item[i][j], error);
            if (status == FF_OK && !t->item[i][j]) {
                *error = (ff_tree_error){.place = {1, 1, slots[i].argument}, .text = "an empty value"};
                status = FF_ERR_FORMAT;
            }
            know_numbers(t->item[i][j]);
        }
        if (status != FF_OK)
            return status;
    }
    know_numbers(t->tree.root);
    return FF_OK;
}

ff_status ff_scenario_template_create(const char *label, const char *text, size_t length,
                                      const ff_scenario_options *options, const ff_scenario_slot *slots,
                                      int count, ff_scenario_template **out, char *message, size_t size) {
    reader r = {.label = label, .message = message, .size = size};
    const ff_place start = {1, 1, NULL};
    *out = NULL;
    if (message && size)
        message[0] = 0;
    if (length > FF_TREE_BYTES) {
        fail(&r, start, "the file has %zu bytes, allowed: at most 16 MB", length);
        return FF_ERR_FORMAT;
    }
    ff_scenario_template *t = calloc(1, sizeof *t);
    if (!t) {
        fail(&r, start, "no memory for the scenario");
        return FF_ERR_MEMORY;
    }
    ff_tree_error error = {.place = start, .text = "no memory for the scenario"};
    r.tree = &t->tree;
    t->slots = count;
    t->method = options ? options->method : NULL;
    t->label = label;
    t->node = ff_tree_alloc(&t->tree, sizeof(void *) * (size_t)(count + 1));
    t->item = ff_tree_alloc(&t->tree, sizeof(void *) * (size_t)(count + 1));
    t->items = ff_tree_alloc(&t->tree, sizeof *t->items * (size_t)(count + 1));
    ff_status status = t->node && t->item && t->items ? FF_OK : FF_ERR_MEMORY;
    if (status == FF_OK)
        status = ff_tree_parse(&t->tree, text, length, NULL, &t->tree.root, &error);
    if (status == FF_OK && !t->tree.root) {
        error = (ff_tree_error){
            .place = start, .text = "the file is empty, allowed: a scenario with name, time and satellites"};
        status = FF_ERR_FORMAT;
    }
    if (status == FF_OK)
        status = apply_sets(&r, options, &error);
    if (status == FF_OK)
        status = template_fill(t, slots, &error);
    if (status != FF_OK) {
        fail(&r, error.place, "%s", error.text);
        ff_scenario_template_free(t);
        return status;
    }
    *out = t;
    return FF_OK;
}

ff_status ff_scenario_template_read(ff_scenario_template *t, const ff_scenario_value *values,
                                    ff_scenario *scenario, char *message, size_t size) {
    for (int i = 0; i < t->slots; i++) {
        ff_node *node = t->node[i];
        const ff_scenario_value *value = &values[i];
        const ff_node *item = value->item >= 0 && value->item < t->items[i] ? t->item[i][value->item] : NULL;
        node->kind = item ? item->kind : FF_NODE_SCALAR;
        node->quoted = item ? item->quoted : false;
        node->text = item ? item->text : value->text;
        node->known = item && item->known;
        node->number = item ? item->number : 0.0;
        node->count = item ? item->count : 0;
        node->child = item ? item->child : NULL;
        node->last = item ? item->last : NULL;
    }
    reader r = {.label = t->label, .tree = &t->tree, .scenario = scenario, .message = message, .size = size};
    if (message && size)
        message[0] = 0;
    return read_scenario(&r, t->tree.root, t->method) ? FF_OK : FF_ERR_FORMAT;
}

void ff_scenario_template_free(ff_scenario_template *t) {
    if (!t)
        return;
    ff_tree_free(&t->tree);
    free(t);
}

/* Reads at most FF_TREE_BYTES + 1, so that a device or pipe cannot fill the memory. */
static ff_status read_file(reader *r, const char *path, char **text, size_t *length) {
    const ff_place start = {1, 1, NULL};
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (file < 0 || fstat(file, &info) != 0) {
        fail(r, start, "the file cannot be read: %s", strerror(errno));
        if (file >= 0)
            close(file);
        return FF_ERR_IO;
    }
    ff_status status = FF_OK;
    *text = NULL;
    *length = 0;
    if (S_ISDIR(info.st_mode)) {
        fail(r, start, "this is a folder, allowed: a YAML file");
        status = FF_ERR_IO;
    } else if (info.st_size > FF_TREE_BYTES) {
        fail(r, start, "the file has %lld bytes, allowed: at most 16 MB", (long long)info.st_size);
        status = FF_ERR_FORMAT;
    } else {
        const bool sized = S_ISREG(info.st_mode) && info.st_size > 0;
        const size_t room = sized ? (size_t)info.st_size + 1 : FF_TREE_BYTES + 1;
        *text = malloc(room);
        if (!*text) {
            fail(r, start, "no memory for the scenario");
            status = FF_ERR_MEMORY;
        }
        if (!S_ISREG(info.st_mode)) /* a pipe is waited for once it is open */
            fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
        while (status == FF_OK && *length < room) {
            const ssize_t n = read(file, *text + *length, room - *length);
            if (n > 0)
                *length += (size_t)n;
            else if (n == 0)
                break;
            else if (errno != EINTR) {
                fail(r, start, "the file cannot be read: %s", strerror(errno));
                status = FF_ERR_IO;
            }
        }
    }
    close(file);
    if (status != FF_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

ff_status ff_scenario_load(const char *path, const ff_scenario_options *options, ff_scenario *scenario,
                           char *message, size_t size, char *warnings, size_t warnings_size) {
    reader r = {.label = path, .message = message, .size = size};
    char *text;
    size_t length;
    if (message && size)
        message[0] = 0;
    if (warnings && warnings_size)
        warnings[0] = 0;
    ff_status status = read_file(&r, path, &text, &length);
    if (status != FF_OK)
        return status;
    status = ff_scenario_parse(path, text, length, options, scenario, message, size, warnings, warnings_size);
    free(text);
    return status;
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
