/* scenario/methods.h - what a scenario says to a method: the method's own table of settings as keys. */
#ifndef FF_SCENARIO_METHODS_H
#define FF_SCENARIO_METHODS_H

#include "scenario/schema.h"

enum { FF_SECTION_KEYS = FF_METHOD_SETTINGS, FF_SECTION_GROUPS = 4 };

/* The settings of one method as a section of the schema, with room for all it points at. */
typedef struct ff_method_section {
    ff_section section;
    ff_key key[FF_SECTION_KEYS];
    ff_section group[FF_SECTION_GROUPS]; /* maps inside it */
    ff_key inner[FF_SECTION_KEYS];
    char path[FF_SECTION_GROUPS][96];
    char range[FF_SECTION_KEYS][64];
} ff_method_section;

/* One setting as a key, which keeps pointing at its name and at `range`, the text of its bounds. */
void ff_setting_key(const ff_setting *setting, const char *name, ff_key *key, char *range, size_t size);
/* Fills *section, which must not move afterwards: keys point into it. */
void ff_method_section_create(const ff_method *method, ff_method_section *section);

#endif
