#include "scenario/json_schema.h"

#include <stdio.h>
#include <string.h>

#include "scenario/schema.h"
#include "text/json.h"
#include "text/version.h"

/* Beyond these the reader refuses any number (reader.c). */
#define LARGEST 1e30

/* Readers of YAML 1.1 take 1e4 for text and on, off, true, false for booleans; readers of 1.2 do neither.
 * Both are let through; a number in quotes, which is refused, shows unless it has an exponent. */
#define NUMBER_TEXT "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)[eE][-+]?[0-9]+$"

static bool same(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static void put_limits(ff_json *json, const ff_key *key) {
    double low = -LARGEST, high = LARGEST;
    bool above = false, below = false;
    switch (key->range) {
    case FF_RANGE_POSITIVE:
        low = 0.0;
        above = true;
        break;
    case FF_RANGE_NOT_NEGATIVE:
        low = 0.0;
        break;
    case FF_RANGE_ACUTE:
        low = 0.0;
        high = 0.5 * FF_PI;
        above = below = true;
        break;
    case FF_RANGE_SHARE:
        low = 0.0;
        high = 1.0;
        below = true;
        break;
    case FF_RANGE_BOUNDS:
        low = key->low > low ? key->low : low;
        high = key->high < high ? key->high : high;
        above = key->above_low;
        below = key->below_high;
        break;
    default:
        break;
    }
    ff_json_number(json, above ? "exclusiveMinimum" : "minimum", low);
    ff_json_number(json, below ? "exclusiveMaximum" : "maximum", high);
}

/* The body of a schema of one number. */
static void put_number(ff_json *json, const ff_key *key, const char *type) {
    ff_json_open(json, "type", '[');
    ff_json_string(json, NULL, type);
    ff_json_string(json, NULL, "string");
    ff_json_close(json, ']');
    ff_json_string(json, "pattern", NUMBER_TEXT);
    put_limits(json, key);
}

/* One number as one of several forms. */
static void put_one_number(ff_json *json, const ff_key *key) {
    ff_json_open(json, NULL, '{');
    put_number(json, key, "number");
    ff_json_close(json, '}');
}

static void put_numbers(ff_json *json, const char *name, const ff_key *key, int least, int most) {
    ff_json_open(json, name, '{');
    ff_json_string(json, "type", "array");
    ff_json_integer(json, "minItems", least);
    if (most)
        ff_json_integer(json, "maxItems", most);
    ff_json_open(json, "items", '{');
    put_number(json, key, "number");
    ff_json_close(json, '}');
    ff_json_close(json, '}');
}

static void put_enum(ff_json *json, const char *const *words) {
    bool yes = false, no = false;
    ff_json_open(json, "enum", '[');
    for (int i = 0; words[i]; i++) {
        ff_json_string(json, NULL, words[i]);
        yes |= same(words[i], "on") || same(words[i], "true");
        no |= same(words[i], "off") || same(words[i], "false");
    }
    if (yes)
        ff_json_bool(json, NULL, true);
    if (no)
        ff_json_bool(json, NULL, false);
    ff_json_close(json, ']');
}

static void put_reference(ff_json *json, const ff_section *section) {
    char text[160];
    snprintf(text, sizeof text, "#/$defs/%s", section->path);
    ff_json_string(json, "$ref", text);
}

static void put_list_of_one(ff_json *json, const char *key, const char *text) {
    ff_json_open(json, key, '[');
    ff_json_string(json, NULL, text);
    ff_json_close(json, ']');
}

static const ff_key *key_named(const ff_section *section, const char *name) {
    for (int i = 0; i < section->keys; i++)
        if (same(section->key[i].key, name))
            return &section->key[i];
    return NULL;
}

/* `section: WORD` stands for `section: {preset: WORD}`; a robot or sensor may be one of the site's, by its
 * name or with other keys beside it. */
static void put_below(ff_json *json, const ff_section *section) {
    const ff_key *preset = key_named(section, "preset");
    const bool device = same(section->noun, "robot") || same(section->noun, "sensor");
    if (!preset && !device) {
        put_reference(json, section);
        return;
    }
    ff_json_open(json, "anyOf", '[');
    ff_json_open(json, NULL, '{');
    put_reference(json, section);
    ff_json_close(json, '}');
    ff_json_open(json, NULL, '{');
    if (preset)
        put_enum(json, preset->words);
    else
        ff_json_string(json, "type", "string");
    ff_json_close(json, '}');
    if (device) {
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "type", "object");
        put_list_of_one(json, "required", "site");
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
}

static void put_items(ff_json *json, const ff_section *section) {
    ff_json_string(json, "type", "array");
    ff_json_open(json, "items", '{');
    put_reference(json, section);
    ff_json_close(json, '}');
}

static void put_attitude(ff_json *json, const ff_key *key) {
    static const char *const form[] = {"quaternion", "abc_deg", "rpy"};
    ff_json_open(json, "oneOf", '[');
    put_numbers(json, NULL, key, 4, 4);
    for (int i = 0; i < 3; i++) {
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "type", "object");
        ff_json_open(json, "properties", '{');
        put_numbers(json, form[i], key, i ? 3 : 4, i ? 3 : 4);
        ff_json_close(json, '}');
        put_list_of_one(json, "required", form[i]);
        ff_json_bool(json, "additionalProperties", false);
        ff_json_close(json, '}');
    }
    ff_json_close(json, ']');
}

/* A number, or as many as `count` of them. */
static void put_one_or_several(ff_json *json, const ff_key *key, int count) {
    ff_json_open(json, "oneOf", '[');
    put_one_number(json, key);
    put_numbers(json, NULL, key, count, count);
    ff_json_close(json, ']');
}

static void put_list(ff_json *json, const ff_key *key, int count) {
    ff_json_open(json, "allOf", '[');
    put_numbers(json, NULL, key, count, count);
    ff_json_close(json, ']');
}

static void put_number_or_word(ff_json *json, const ff_key *key, const char *word) {
    ff_json_open(json, "anyOf", '[');
    put_one_number(json, key);
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "const", word);
    ff_json_close(json, '}');
    ff_json_close(json, ']');
}

static void put_half_widths(ff_json *json, const ff_key *key) {
    ff_json_string(json, "type", "array");
    ff_json_integer(json, "minItems", 3);
    ff_json_integer(json, "maxItems", 3);
    ff_json_open(json, "items", '{');
    put_number_or_word(json, key, "free");
    ff_json_close(json, '}');
}

/* One of the words, or the path of a shared object. */
static void put_method(ff_json *json, const ff_key *key) {
    ff_json_open(json, "anyOf", '[');
    ff_json_open(json, NULL, '{');
    put_enum(json, key->words);
    ff_json_close(json, '}');
    ff_json_open(json, NULL, '{');
    ff_json_string(json, "type", "string");
    ff_json_string(json, "pattern", "[.]so$");
    ff_json_close(json, '}');
    ff_json_close(json, ']');
}

/* One of the words, or a map of its own. */
static void put_word_or_map(ff_json *json, const ff_key *key) {
    ff_json_open(json, "anyOf", '[');
    ff_json_open(json, NULL, '{');
    put_enum(json, key->words);
    ff_json_close(json, '}');
    ff_json_open(json, NULL, '{');
    put_reference(json, key->section);
    ff_json_close(json, '}');
    ff_json_close(json, ']');
}

/* A map of any names to one kind of value. */
static void put_map(ff_json *json, const ff_key *key) {
    ff_json_string(json, "type", "object");
    if (key->section) {
        ff_json_open(json, "additionalProperties", '{');
        put_reference(json, key->section);
        ff_json_close(json, '}');
    } else
        put_numbers(json, "additionalProperties", key, 3, 3);
}

static void put_schema(ff_json *json, const ff_key *key) {
    switch (key->type) {
    case FF_TYPE_NUMBER:
        put_number(json, key, "number");
        break;
    case FF_TYPE_INTEGER:
        put_number(json, key, "integer");
        break;
    case FF_TYPE_TEXT:
    case FF_TYPE_NAME:
    case FF_TYPE_BODY:
    case FF_TYPE_ARM_MODEL:
    case FF_TYPE_CHAIN_MODEL:
    case FF_TYPE_MESH:
    case FF_TYPE_SITE:
        ff_json_open(json, "type", '['); /* a name may look like a number */
        ff_json_string(json, NULL, "string");
        ff_json_string(json, NULL, "number");
        ff_json_close(json, ']');
        ff_json_integer(json, "minLength", 1);
        break;
    case FF_TYPE_TOPIC:
        ff_json_string(json, "type", "string");
        ff_json_string(json, "pattern", "^(/[A-Za-z_][A-Za-z0-9_]*)+$");
        break;
    case FF_TYPE_NAMES:
        ff_json_string(json, "type", "array");
        ff_json_open(json, "items", '{');
        ff_json_string(json, "type", "string");
        ff_json_close(json, '}');
        ff_json_integer(json, "minItems", 6);
        ff_json_integer(json, "maxItems", FF_ARM_AXES);
        break;
    case FF_TYPE_WORD:
    case FF_TYPE_FLAG:
        put_enum(json, key->words);
        break;
    case FF_TYPE_ROBOT_ARM:
        put_word_or_map(json, key);
        break;
    case FF_TYPE_VEC3:
    case FF_TYPE_DIRECTION:
    case FF_TYPE_ABC_DEG:
    case FF_TYPE_RPY:
        put_list(json, key, 3);
        break;
    case FF_TYPE_HALF_WIDTHS:
        put_half_widths(json, key);
        break;
    case FF_TYPE_QUATERNION:
        put_attitude(json, key);
        break;
    case FF_TYPE_INERTIA:
        ff_json_open(json, "oneOf", '[');
        put_numbers(json, NULL, key, 3, 3);
        put_numbers(json, NULL, key, 6, 6);
        ff_json_close(json, ']');
        break;
    case FF_TYPE_WRENCH:
    case FF_TYPE_TWIST:
    case FF_TYPE_SIX:
        put_list(json, key, 6);
        break;
    case FF_TYPE_PAIR:
    case FF_TYPE_SERIES:
        put_one_or_several(json, key, 2);
        break;
    case FF_TYPE_NUMBER_OR_WORD:
        put_number_or_word(json, key, key->words[0]);
        break;
    case FF_TYPE_METHOD_NAME:
        put_method(json, key);
        break;
    case FF_TYPE_POINT:
        ff_json_open(json, "oneOf", '[');
        ff_json_open(json, NULL, '{');
        ff_json_string(json, "type", "string");
        ff_json_close(json, '}');
        put_numbers(json, NULL, key, 3, 3);
        ff_json_close(json, ']');
        break;
    case FF_TYPE_JOINTS:
        ff_json_open(json, "allOf", '[');
        put_numbers(json, NULL, key, 1, 0);
        ff_json_close(json, ']');
        break;
    case FF_TYPE_METHOD:
    case FF_TYPE_SECTION:
        put_below(json, key->section);
        break;
    case FF_TYPE_SATELLITES:
    case FF_TYPE_POINTS:
        put_map(json, key);
        break;
    case FF_TYPE_CONTACTS:
    case FF_TYPE_LOADS:
    case FF_TYPE_LINKS:
    case FF_TYPE_CHAIN:
    case FF_TYPE_FAULTS:
    case FF_TYPE_DRIVES:
        put_items(json, key->section);
        break;
    }
}

/* What an editor shows beside a key: its text, unit, range and default. */
static void put_description(ff_json *json, const ff_key *key) {
    char text[2048];
    const char *range = ff_range_text(key);
    const bool required = same(key->fallback, "required"), none = same(key->fallback, "none");
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s%s%s", key->doc, *key->unit ? " [" : "", key->unit,
             *key->unit ? "]" : "", *range ? " Allowed: " : "", range, *range ? "." : "",
             required ? " Required."
             : none   ? ""
                      : " Default: ",
             required || none ? "" : key->fallback);
    ff_json_string(json, "description", text);
}

static bool of_kind(const ff_key *key, int kind) {
    return key->kinds == 0 || kind < 0 || (key->kinds >> (unsigned)kind & 1u);
}

static void put_property(ff_json *json, const ff_key *key) {
    ff_json_open(json, key->key, '{');
    put_description(json, key);
    put_schema(json, key);
    ff_json_close(json, '}');
}

/* A name that several kinds give different meanings is described with its kind. */
static bool ambiguous(const ff_section *section, int n) {
    for (int i = 0; i < section->keys; i++)
        if (i != n && same(section->key[i].key, section->key[n].key))
            return true;
    return false;
}

static void put_names(ff_json *json, const ff_section *section, int kind) {
    ff_json_open(json, "propertyNames", '{');
    ff_json_open(json, "enum", '[');
    for (int i = 0; i < section->keys; i++) {
        bool said = false;
        for (int j = 0; j < i; j++)
            said |= of_kind(&section->key[j], kind) && same(section->key[j].key, section->key[i].key);
        if (of_kind(&section->key[i], kind) && !said)
            ff_json_string(json, NULL, section->key[i].key);
    }
    ff_json_close(json, ']');
    ff_json_close(json, '}');
}

static void put_required(ff_json *json, const ff_section *section, int kind, bool general) {
    ff_json_open(json, "required", '[');
    for (int i = 0; i < section->keys; i++)
        if (same(section->key[i].fallback, "required") && of_kind(&section->key[i], kind) &&
            (section->key[i].kinds == 0) == general)
            ff_json_string(json, NULL, section->key[i].key);
    ff_json_close(json, ']');
}

/* if the kind is this one (also when it is left out, for the default) then only its keys. */
static void put_kind_rule(ff_json *json, const ff_section *section, const ff_key *key, int kind) {
    ff_json_open(json, NULL, '{');
    ff_json_open(json, "if", '{');
    ff_json_open(json, "properties", '{');
    ff_json_open(json, "kind", '{');
    ff_json_string(json, "const", key->words[kind]);
    ff_json_close(json, '}');
    ff_json_close(json, '}');
    if (!same(key->fallback, key->words[kind])) {
        put_list_of_one(json, "required", "kind");
    }
    ff_json_close(json, '}');
    ff_json_open(json, "then", '{');
    put_names(json, section, kind);
    put_required(json, section, kind, false);
    ff_json_open(json, "properties", '{');
    for (int i = 0; i < section->keys; i++)
        if (ambiguous(section, i) && of_kind(&section->key[i], kind))
            put_property(json, &section->key[i]);
    ff_json_close(json, '}');
    ff_json_close(json, '}');
    ff_json_close(json, '}');
}

/* Only a site has robots and sensors that a name stands for. */
static void put_site_rule(ff_json *json) {
    static const char *const device[] = {"robot", "sensor"};
    ff_json_open(json, "anyOf", '[');
    ff_json_open(json, NULL, '{');
    put_list_of_one(json, "required", "site");
    ff_json_close(json, '}');
    ff_json_open(json, NULL, '{');
    ff_json_open(json, "properties", '{');
    ff_json_open(json, "satellites", '{');
    ff_json_open(json, "additionalProperties", '{');
    ff_json_open(json, "properties", '{');
    for (int i = 0; i < 2; i++) {
        ff_json_open(json, device[i], '{');
        ff_json_string(json, "type", "object");
        ff_json_open(json, "not", '{');
        put_list_of_one(json, "required", "site");
        ff_json_close(json, '}');
        ff_json_close(json, '}');
    }
    for (int i = 0; i < 4; i++)
        ff_json_close(json, '}');
    ff_json_close(json, '}');
    ff_json_close(json, ']');
}

/* Inside an open object. */
static void put_keys(ff_json *json, const ff_section *section, bool top) {
    const ff_key *kind = key_named(section, "kind");
    ff_json_string(json, "description", section->doc);
    ff_json_string(json, "type", "object");
    ff_json_open(json, "properties", '{');
    for (int i = 0; i < section->keys; i++) {
        const ff_key *key = &section->key[i];
        if (!kind || !ambiguous(section, i))
            put_property(json, key);
        else if (key == key_named(section, key->key)) {
            ff_json_open(json, key->key, '{');
            ff_json_string(json, "description", "Depends on the kind.");
            ff_json_close(json, '}');
        }
    }
    ff_json_close(json, '}');
    put_required(json, section, -1, true);
    if (top) { /* settings of a method in a shared object stand at the top, under its name */
        ff_json_open(json, "if", '{');
        ff_json_open(json, "properties", '{');
        ff_json_open(json, "method", '{');
        ff_json_string(json, "type", "string");
        ff_json_string(json, "pattern", "[.]so$");
        ff_json_close(json, '}');
        ff_json_close(json, '}');
        put_list_of_one(json, "required", "method");
        ff_json_close(json, '}');
        ff_json_open(json, "else", '{');
        put_names(json, section, -1);
        ff_json_close(json, '}');
    } else
        ff_json_bool(json, "additionalProperties", false);
    if (top)
        put_site_rule(json);
    if (kind && kind->words) {
        ff_json_open(json, "allOf", '[');
        for (int i = 0; kind->words[i]; i++)
            put_kind_rule(json, section, kind, i);
        ff_json_close(json, ']');
    }
}

typedef struct section_list {
    const ff_section *section[96];
    int count;
} section_list;

static void gather(const ff_section *section, section_list *list) {
    for (int i = 0; i < section->keys; i++) {
        const ff_section *below = section->key[i].section;
        bool known = !below;
        for (int j = 0; j < list->count; j++)
            known |= list->section[j] == below;
        if (known || list->count == (int)(sizeof list->section / sizeof *list->section))
            continue;
        list->section[list->count++] = below;
        gather(below, list);
    }
}

char *ff_scenario_json_schema(void) {
    const ff_section *top = ff_schema_top();
    section_list list = {.count = 0};
    ff_json json;
    gather(top, &list);
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    char title[96];
    snprintf(title, sizeof title, "Scenario of freefloat %s", ff_version());
    ff_json_string(&json, "title", title);
    put_keys(&json, top, true);
    ff_json_open(&json, "$defs", '{');
    for (int i = 0; i < list.count; i++) {
        ff_json_open(&json, list.section[i]->path, '{');
        put_keys(&json, list.section[i], false);
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}
