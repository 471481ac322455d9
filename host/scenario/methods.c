/* Which method a scenario runs, and settings of methods as keys of the schema. */
#include "scenario/methods.h"

#include "scenario/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void set_range(const ff_setting *s, ff_key *key, char *text, size_t size) {
    key->range = FF_RANGE_ANY;
    if (s->type != FF_SETTING_REAL && s->type != FF_SETTING_INTEGER && s->type != FF_SETTING_VECTOR)
        return;
    const bool low = s->low > -FF_INF, high = s->high < FF_INF;
    if (!low && !high)
        return;
    key->range = FF_RANGE_BOUNDS;
    key->low = s->low;
    key->high = s->high;
    key->above_low = s->above_low;
    key->below_high = s->below_high;
    key->bounds = text;
    if (low && high && !s->above_low && !s->below_high)
        snprintf(text, size, "%.9g to %.9g", s->low, s->high);
    else if (low && high)
        snprintf(text, size, "%s %.9g and %s %.9g", s->above_low ? ">" : ">=", s->low,
                 s->below_high ? "<" : "<=", s->high);
    else if (low)
        snprintf(text, size, "%s %.9g", s->above_low ? ">" : ">=", s->low);
    else
        snprintf(text, size, "%s %.9g", s->below_high ? "<" : "<=", s->high);
}

static ff_type type_of(const ff_setting *s) {
    switch (s->type) {
    case FF_SETTING_REAL:
        return s->choice ? FF_TYPE_NUMBER_OR_WORD : FF_TYPE_NUMBER;
    case FF_SETTING_INTEGER:
        return FF_TYPE_INTEGER;
    case FF_SETTING_BOOLEAN:
        return FF_TYPE_FLAG;
    case FF_SETTING_CHOICE:
        return FF_TYPE_WORD;
    case FF_SETTING_VECTOR:
        return FF_TYPE_VEC3;
    case FF_SETTING_TOPIC:
        return FF_TYPE_TOPIC;
    case FF_SETTING_NAMES:
        return FF_TYPE_NAMES;
    case FF_SETTING_GROUP:
        break;
    }
    return FF_TYPE_SECTION;
}

void ff_setting_key(const ff_setting *s, const char *name, ff_key *key, char *range, size_t size) {
    static const char *const switch_words[] = {"false", "true", NULL};
    *key = (ff_key){.key = name,
                    .type = type_of(s),
                    .unit = s->unit,
                    .fallback = s->absent,
                    .offset = s->type == FF_SETTING_GROUP ? 0 : s->offset,
                    .words = s->type == FF_SETTING_BOOLEAN && !s->choice ? switch_words : s->choice,
                    .preset = true,
                    .doc = s->help};
    set_range(s, key, range, size);
}

void ff_method_section_create(const ff_method *method, ff_method_section *section) {
    int keys = 0, groups = 0, inner = 0;
    memset(section, 0, sizeof *section);
    for (uint32_t n = 0; n < method->settings && n < FF_SECTION_KEYS; n++) {
        const ff_setting *s = &method->setting[n];
        const char *dot = strchr(s->name, '.');
        if (!dot) {
            ff_key *key = &section->key[keys++];
            ff_setting_key(s, s->name, key, section->range[n], sizeof section->range[n]);
            if (s->type == FF_SETTING_GROUP && groups < FF_SECTION_GROUPS) {
                char *path = section->path[groups];
                snprintf(path, sizeof section->path[groups], "%s.%s", method->name, s->name);
                key->section = &section->group[groups];
                section->group[groups++] = (ff_section){path, "", &section->inner[inner], 0, s->help};
            }
        } else if (groups > 0) { /* of the group before it */
            ff_setting_key(s, dot + 1, &section->inner[inner++], section->range[n], sizeof section->range[n]);
            section->group[groups - 1].keys++;
        }
    }
    section->section = (ff_section){method->name, "", section->key, keys, method->help};
}

/* ---------------------------------------------------------------------------------------------- reading --
 */

static bool is_printed(const ff_node *root, const char *method) {
    const ff_node *reading = ff_node_find(ff_node_find(root, method), "reading");
    return reading && reading->kind == FF_NODE_SCALAR && strcmp(reading->text, "printed") == 0;
}

/* The settings of a method start from one variant or the other before single keys override them. */
static void add_setup(ff_scenario *s, const ff_method *method, const ff_method_library *library,
                      const ff_node *root) {
    ff_method_setup *setup = &s->setup[s->setups++];
    setup->method = method;
    setup->library = library;
    ff_settings_default(method, is_printed(root, method->name), &setup->setting);
}

/* A path has a slash; a name has none. */
static bool is_path(const char *word) {
    return strchr(word, '/') != NULL;
}

static const ff_method_library *open_library(const ff_catalog *catalog, const char *path, char *message,
                                             size_t size) {
    if (catalog && catalog->open)
        return catalog->open(path, message, size);
    snprintf(message, size, "method libraries are not loaded here");
    return NULL;
}

const char *ff_scenario_method_word(const ff_catalog *catalog, const char *word, char *message, size_t size) {
    if (!is_path(word))
        return word;
    const ff_method_library *library = open_library(catalog, word, message, size);
    return library ? library->method->name : NULL;
}

const ff_method_library *ff_scenario_method_library(const ff_catalog *catalog, const char *word,
                                                    char *message, size_t size) {
    message[0] = 0;
    return is_path(word) ? open_library(catalog, word, message, size) : NULL;
}

const ff_method *ff_scenario_take_method(ff_scenario *scenario, const ff_catalog *catalog, const char *word,
                                         char *message, size_t size) {
    const ff_method_library *library = is_path(word) ? open_library(catalog, word, message, size) : NULL;
    const ff_method *method = library ? library->method : is_path(word) ? NULL : ff_method_find(word);
    if (!method && !is_path(word)) {
        ff_names list = {"", 0};
        for (int m = 0; ff_method_at(m); m++)
            ff_names_add(&list, ff_method_at(m)->name);
        snprintf(message, size, "is not a method, allowed: %s, or the path of a library", list.text);
    }
    if (!method)
        return NULL;
    for (int m = 0; m < scenario->setups; m++)
        if (scenario->setup[m].method == method)
            return method;
    if (scenario->setups == FF_MAX_METHODS) {
        snprintf(message, size, "more than %d methods, allowed: fewer", FF_MAX_METHODS);
        return NULL;
    }
    const ff_node none = {.kind = FF_NODE_MAP};
    add_setup(scenario, method, library, &none);
    return method;
}

bool ff_scenario_bring_method(ff_scenario *scenario, const ff_method_library *library, const void *settings,
                              size_t bytes) {
    if (scenario->setups == FF_MAX_METHODS || bytes > FF_METHOD_SETTING_BYTES)
        return false;
    const ff_node none = {.kind = FF_NODE_MAP};
    add_setup(scenario, library->method, library, &none);
    memcpy(scenario->setup[scenario->setups - 1].setting.bytes, settings, bytes);
    scenario->method = library->method;
    return true;
}

/* A library that stays closed: is it there. */
static bool find_closed(ff_reader *r, const ff_node *node, const char *method) {
    struct stat s;
    snprintf(r->scenario->unchecked, sizeof r->scenario->unchecked, "%s", node->text);
    r->scenario->method = &ff_method_direct;
    const char *why = stat(node->text, &s) != 0 ? strerror(errno)
                      : !S_ISREG(s.st_mode)     ? "not a regular file"
                                                : NULL;
    if (!why) {
        ff_reader_warn(r, node->place, "warning: %s%s is not loaded: its settings are unchecked",
                       method ? "the library" : "method library ", method ? "" : ff_show(node->text).text);
        return true;
    }
    return method ? ff_reader_fail(r, node->place, "cannot be read: %s", why)
                  : ff_reader_fail(r, node->place, "method library %s: cannot be read: %s",
                                   ff_show(node->text).text, why);
}

bool ff__start_methods(ff_reader *r, const ff_node *root, const char *method) {
    ff_scenario *s = r->scenario;
    char why[512];
    const ff_key *key = ff__find_key(ff_schema_top(), "method");
    const ff_node *given = root->kind == FF_NODE_MAP ? ff_node_find(root, "method") : NULL;
    ff_node node = {.kind = FF_NODE_SCALAR, .text = key->fallback, .place = root->place};
    int word = 0;
    for (int m = 0; ff_method_at(m) && m < FF_MAX_METHODS - 1; m++)
        add_setup(s, ff_method_at(m), NULL, root);
    if (given)
        node = *given;
    if (method) {
        snprintf(r->argument, sizeof r->argument, "--method %s", ff_show(method).text);
        node = (ff_node){.kind = FF_NODE_SCALAR, .text = method, .place = {1, 1, r->argument, NULL}};
    }
    const ff_catalog *catalog = r->options ? r->options->catalog : NULL;
    if (method && given && given->kind == FF_NODE_SCALAR && is_path(given->text) && catalog && catalog->open)
        r->named = open_library(catalog, given->text, why, sizeof why); /* its map may stand in the file */
    r->method = node.place;
    if (node.kind == FF_NODE_SCALAR && is_path(node.text) && catalog && !catalog->open)
        return find_closed(r, &node, method);
    if (node.kind == FF_NODE_SCALAR && is_path(node.text)) {
        const ff_method_library *library = open_library(catalog, node.text, why, sizeof why);
        if (!library && method) /* the place names it */
            return ff_reader_fail(r, node.place, "%s", why);
        if (!library)
            return ff_reader_fail(r, node.place, "method library %s: %s", ff_show(node.text).text, why);
        s->method = library->method;
        add_setup(s, s->method, library, root);
        return true;
    }
    if (!ff_reader_word(r, &node, key, &word))
        return false;
    s->method = ff_method_at(word - 1);
    return true;
}

static const ff_node *setting_node(const ff_node *node, const char *name) {
    const char *dot = strchr(name, '.');
    char group[FF_NAME_SIZE];
    if (!dot)
        return ff_node_find(node, name);
    snprintf(group, sizeof group, "%.*s", (int)(dot - name), name);
    return ff_node_find(ff_node_find(node, group), dot + 1);
}

bool ff__read_method(ff_reader *r, const ff_node *node, const ff_key *key) {
    ff_method_setup *setup = NULL;
    for (int m = 0; m < r->scenario->setups && !setup; m++)
        if (strcmp(r->scenario->setup[m].method->name, key->key) == 0)
            setup = &r->scenario->setup[m];
    if (!setup || !ff__read_below(r, node, key, setup->setting.bytes))
        return false;
    const ff_method *method = setup->method;
    for (uint32_t n = 0; n < method->settings; n++)
        if (setting_node(node, method->setting[n].name))
            setup->setting.given |= UINT64_C(1) << n;
    ff_complaint complaint = {"", "its settings are refused"};
    if (ff_method_check(method, NULL, setup->setting.bytes, setup->setting.given, &complaint) == FF_OK)
        return true;
    const ff_node *blamed = *complaint.setting ? setting_node(node, complaint.setting) : NULL;
    return ff_reader_fail(r, blamed ? blamed->place : node->place, "%s", complaint.text);
}
