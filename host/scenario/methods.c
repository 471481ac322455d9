/* Settings of methods as keys of the schema. */
#include "scenario/methods.h"

#include <stdio.h>
#include <string.h>

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
    case FF_SETTING_GROUP:
        break;
    }
    return FF_TYPE_SECTION;
}

static void set_key(const ff_setting *s, const char *name, ff_key *key, char *range, size_t size) {
    static const char *const switch_words[] = {"false", "true", NULL};
    *key = (ff_key){.key = name,
                    .type = type_of(s),
                    .unit = s->unit,
                    .fallback = s->absent,
                    .offset = s->type == FF_SETTING_GROUP ? 0 : s->offset,
                    .words = s->type == FF_SETTING_BOOLEAN ? switch_words : s->choice,
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
            set_key(s, s->name, key, section->range[n], sizeof section->range[n]);
            if (s->type == FF_SETTING_GROUP && groups < FF_SECTION_GROUPS) {
                char *path = section->path[groups];
                snprintf(path, sizeof section->path[groups], "%s.%s", method->name, s->name);
                key->section = &section->group[groups];
                section->group[groups++] = (ff_section){path, "", &section->inner[inner], 0, s->help};
            }
        } else if (groups > 0) { /* of the group before it */
            set_key(s, dot + 1, &section->inner[inner++], section->range[n], sizeof section->range[n]);
            section->group[groups - 1].keys++;
        }
    }
    section->section = (ff_section){method->name, "", section->key, keys, method->help};
}
