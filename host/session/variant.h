/* session/variant.h - METHOD:key=value:... - a method with settings of its own, as compare and papers name
 * it, and the sessions of a comparison of several. */
#ifndef FF_SESSION_VARIANT_H
#define FF_SESSION_VARIANT_H

#include "session/session.h"

enum { FF_MAX_VARIANTS = 32, FF_VARIANT_SETS = 8 };

typedef struct ff_variant {
    char label[FF_NAME_SIZE];       /* as given; of a library its method's own name */
    char method[1024];              /* or the path of its library */
    char set[FF_VARIANT_SETS][160]; /* full paths */
    int sets;
} ff_variant;

/* Splits "direct,tdpa:reading=printed" into up to FF_MAX_VARIANTS. Returns the count, or -1 and one line. */
int ff_variants_parse(const char *list, const ff_catalog *catalog, ff_variant *variants, ff_notes *notes);
/* Loads the file with the common overrides (up to FF_LOG_MAX_SETS) and then the variant's; the strings of
 * both stay the caller's as long as the session. FF_REFUSED. */
ff_outcome ff_variant_load(ff_session *session, const char *file, const ff_variant *variant,
                           const ff_scenario_options *common, ff_notes *notes);

/* The sessions that a comparison runs. */
typedef struct ff_comparison {
    int count;
    ff_session *session[FF_MAX_VARIANTS];
} ff_comparison;

/* Loads every variant before any runs; `show` is given the notes of each in turn. In a scenario with an arm a
 * built-in method that cannot take one is left out after its line, and the others are compared. FF_REFUSED:
 * the scenario under any other variant, all of them, or an emulation; FF_FAILED: memory. Close in any case.
 */
ff_outcome ff_comparison_open(const char *file, const ff_variant *variant, int count,
                              const ff_scenario_options *common, ff_comparison *out,
                              void (*show)(const ff_notes *notes));
void ff_comparison_close(ff_comparison *comparison);

#endif
