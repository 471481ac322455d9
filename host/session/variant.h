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
    char why[600]; /* its library cannot be loaded; "": it can */
} ff_variant;

/* "tdpa:reading=printed". False and one sentence: neither a method nor a library, too long, or its keys have
 * another form. */
bool ff_variant_parse(const char *text, size_t length, const ff_catalog *catalog, ff_variant *variant,
                      char *message, size_t size);
/* Splits "direct,tdpa:reading=printed" into up to FF_MAX_VARIANTS. Returns the count, or -1 and one line; one
 * whose library cannot be loaded counts, with its reason. */
int ff_variants_parse(const char *list, const ff_catalog *catalog, ff_variant *variants, ff_notes *notes);
/* Loads the file with the common overrides (up to FF_LOG_MAX_SETS) and then the variant's; the strings of
 * both stay the caller's as long as the session. FF_REFUSED. */
ff_outcome ff_variant_load(ff_session *session, const char *file, const ff_variant *variant,
                           const ff_scenario_options *common, ff_notes *notes);

/* --method METHOD:key=value:... as options of a scenario: where `given` names such a one, its method and its
 * settings behind the other overrides, in `set` and *variant; else as given, with an empty *variant. False
 * and one line: it is none. */
bool ff_variant_options(const ff_scenario_options *given, ff_variant *variant,
                        const char *set[FF_LOG_MAX_SETS + FF_VARIANT_SETS], ff_scenario_options *made,
                        char *message, size_t size);
/* Loads the file under them; *variant stays the caller's as long as the session. FF_REFUSED. */
ff_outcome ff_variant_load_named(ff_session *session, const char *file, const ff_scenario_options *options,
                                 ff_variant *variant, ff_notes *notes);

/* A variant whose method cannot run the scenario. */
typedef struct ff_variant_refusal {
    char label[FF_NAME_SIZE], why[1024];
} ff_variant_refusal;

/* The sessions that a comparison runs, and what cannot be compared. */
typedef struct ff_comparison {
    ff_held held; /* the files of all: each is read once */
    int count;
    ff_session *session[FF_MAX_VARIANTS];
    int refusals;
    ff_variant_refusal refused[FF_MAX_VARIANTS];
    bool mistaken; /* one of these is the caller's mistake: no such method, a setting that is wrong */
} ff_comparison;

/* Loads every variant before any runs; `show` is given the notes of each in turn. One whose method cannot run
 * this scenario (an arm, a relative frame, kinds of contacts), is none or has wrong settings is among the
 * refused, without an error of its own, and the others are compared. FF_REFUSED: the scenario itself, all of
 * them, or an emulation; FF_FAILED: memory. Close in any case. */
ff_outcome ff_comparison_open(const char *file, const ff_variant *variant, int count,
                              const ff_scenario_options *common, ff_comparison *out,
                              void (*show)(const ff_notes *notes));
/* The same for a session that said so when its run was to begin (FF_ERR_UNSUPPORTED). */
void ff_comparison_refuse(ff_comparison *comparison, const ff_session *session);
void ff_comparison_close(ff_comparison *comparison);

#endif
