/* session/variant.c - variants of a method from text to sessions. */
#include "session/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A library's path may have a comma or colon: it goes as far as a file of that name is there. 0: none is. */
static size_t path_length(const char *text, size_t length) {
    char path[sizeof((ff_variant *)0)->method];
    struct stat info;
    size_t found = 0;
    for (size_t n = 0; n < length && n < sizeof path - 1;) {
        path[n] = text[n];
        path[++n] = 0;
        if ((n == length || text[n] == ':' || text[n] == ',') && strchr(path, '/') &&
            stat(path, &info) == 0 && S_ISREG(info.st_mode))
            found = n;
    }
    return found;
}

bool ff_variant_parse(const char *text, size_t length, const ff_catalog *catalog, ff_variant *variant,
                      char *message, size_t size) {
    *variant = (ff_variant){0};
    const size_t path = path_length(text, length);
    const char *const colon = memchr(text + path, ':', length - path);
    size_t n = colon ? (size_t)(colon - text) : length;
    if (n == 0 || n >= sizeof variant->method) {
        snprintf(message, size, "'%.*s' is not a method; example: direct,tdpa:reading=printed", (int)length,
                 text);
        return false;
    }
    memcpy(variant->method, text, n);
    char why[512];
    /* a library appears under its method's own name, and its settings stand there */
    const char *const name = ff_scenario_method_word(catalog, variant->method, why, sizeof why);
    if (!name) {
        snprintf(message, size, "method library %s: %s", variant->method, why);
        snprintf(variant->why, sizeof variant->why, "%s", why);
        return false;
    }
    if (snprintf(variant->label, sizeof variant->label, "%s%.*s", name, (int)(length - n), text + n) >=
        (int)sizeof variant->label) {
        snprintf(message, size, "'%.*s' is too long", (int)length, text);
        return false;
    }
    n = strlen(name);
    for (const char *c = variant->label + n; *c == ':';) {
        c++;
        n = strcspn(c, ":");
        const char *equals = memchr(c, '=', n);
        if (!equals || equals == c || variant->sets == FF_VARIANT_SETS) {
            snprintf(message, size, "'%s' must have the form METHOD:key=value", variant->label);
            return false;
        }
        ff_scenario_variant_set(name, c, n, variant->set[variant->sets++], sizeof variant->set[0]);
        c += n;
    }
    return true;
}

int ff_variants_parse(const char *list, const ff_catalog *catalog, ff_variant *variants, ff_notes *notes) {
    int count = 0;
    for (const char *c = list;; c++) {
        const size_t path = path_length(c, strlen(c)), n = path + strcspn(c + path, ",");
        if (count == FF_MAX_VARIANTS) {
            ff_notes_error(notes, FF_REFUSED, "--methods: more than %d variants", FF_MAX_VARIANTS);
            return -1;
        }
        char message[2048];
        if (!ff_variant_parse(c, n, catalog, &variants[count], message, sizeof message)) {
            ff_notes_error(notes, FF_REFUSED, "--methods: %s", message);
            if (!*variants[count].why || n >= sizeof variants[count].label)
                return -1;
            snprintf(variants[count].label, sizeof variants[count].label, "%.*s", (int)n, c);
        }
        for (int i = 0; i < count; i++)
            if (strcmp(variants[i].label, variants[count].label) == 0) {
                ff_notes_error(notes, FF_REFUSED, "--methods: '%s' is given twice", variants[i].label);
                return -1;
            }
        count++;
        c += n;
        if (!*c)
            return count;
    }
}

ff_outcome ff_variant_load(ff_session *session, const char *file, const ff_variant *variant,
                           const ff_scenario_options *common, ff_notes *notes) {
    const char *all[FF_LOG_MAX_SETS + FF_VARIANT_SETS];
    ff_scenario_options options = *common;
    options.set = all;
    options.method = variant->method;
    for (int i = 0; i < common->sets; i++)
        all[i] = common->set[i];
    for (int i = 0; i < variant->sets; i++)
        all[options.sets++] = variant->set[i];
    const ff_outcome outcome = ff_session_load(session, file, &options, notes);
    snprintf(session->label, sizeof session->label, "%s", variant->label);
    return outcome;
}

bool ff_variant_options(const ff_scenario_options *given, ff_variant *variant,
                        const char *set[FF_LOG_MAX_SETS + FF_VARIANT_SETS], ff_scenario_options *made,
                        char *message, size_t size) {
    const char *const method = given ? given->method : NULL;
    *made = given ? *given : (ff_scenario_options){0};
    *variant = (ff_variant){0};
    if (!method || !strchr(method, ':') || path_length(method, strlen(method)) == strlen(method))
        return true;
    char why[600];
    if (!ff_variant_parse(method, strlen(method), given->catalog, variant, why, sizeof why)) {
        snprintf(message, size, "--method %s: %s", method, why);
        return false;
    }
    made->set = set;
    made->method = variant->method;
    for (int i = 0; i < given->sets; i++)
        set[i] = given->set[i];
    for (int i = 0; i < variant->sets; i++)
        set[made->sets++] = variant->set[i];
    return true;
}

ff_outcome ff_variant_load_named(ff_session *session, const char *file, const ff_scenario_options *options,
                                 ff_variant *variant, ff_notes *notes) {
    const char *set[FF_LOG_MAX_SETS + FF_VARIANT_SETS];
    char message[1024];
    ff_scenario_options made;
    if (!ff_variant_options(options, variant, set, &made, message, sizeof message)) {
        *session = (ff_session){.run.status = FF_ERR_UNSUPPORTED};
        return ff_notes_error(notes, FF_REFUSED, "%s", message);
    }
    const ff_outcome outcome = ff_session_load(session, file, &made, notes);
    if (*variant->label)
        snprintf(session->label, sizeof session->label, "%s", variant->label);
    return outcome;
}

static void add_refused(ff_comparison *comparison, const char *label, const char *why) {
    ff_variant_refusal *r = &comparison->refused[comparison->refusals++];
    const char *end = strncmp(why, "--method ", 9) == 0 ? strstr(why, ": ") : NULL; /* the label says it */
    snprintf(r->label, sizeof r->label, "%s", label);
    snprintf(r->why, sizeof r->why, "%s", end ? end + 2 : why);
}

void ff_comparison_refuse(ff_comparison *comparison, const ff_session *session) {
    add_refused(comparison, session->label, *session->refusal ? session->refusal : session->run.message);
}

/* The file is good under its own method: what was wrong is the variant's. */
static bool is_good(const char *file, const ff_scenario_options *common) {
    ff_session *session = malloc(sizeof *session);
    const bool good = session && ff_session_load(session, file, common, NULL) == FF_DONE;
    if (good)
        ff_session_close(session);
    else
        free(session);
    return good;
}

ff_outcome ff_comparison_open(const char *file, const ff_variant *variant, int count,
                              const ff_scenario_options *options, ff_comparison *out,
                              void (*show)(const ff_notes *notes)) {
    *out = (ff_comparison){0};
    ff_notes notes;
    ff_scenario_options shared = *options, *const common = &shared;
    shared.held = &out->held;
    for (int i = 0; i < count; i++) {
        if (*variant[i].why) {
            add_refused(out, variant[i].label, variant[i].why);
            out->mistaken = true;
            continue;
        }
        ff_session *session = malloc(sizeof *session);
        ff_notes_clear(&notes);
        const ff_outcome outcome = session ? ff_variant_load(session, file, &variant[i], common, &notes)
                                           : ff_notes_error(&notes, FF_FAILED, "%s: no memory", file);
        if (outcome == FF_DONE) {
            show(&notes);
            out->session[out->count++] = session;
            continue;
        }
        const bool unsupported = outcome == FF_REFUSED && session->run.status == FF_ERR_UNSUPPORTED;
        const bool forgiven = unsupported || (outcome == FF_REFUSED && session->run.status != FF_ERR_MEMORY &&
                                              is_good(file, common));
        if (forgiven) {
            ff_comparison_refuse(out, session);
            *notes.error = 0; /* it is among the refused */
        }
        show(&notes);
        out->mistaken = out->mistaken || !unsupported;
        free(session);
        if (!forgiven)
            return outcome;
    }
    if (out->count == 0)
        return FF_REFUSED;
    if (!out->session[0]->scenario.emulates)
        return FF_DONE;
    ff_notes_clear(&notes);
    const ff_outcome outcome =
        ff_notes_error(&notes, FF_REFUSED,
                       "%s: an emulation has no methods to compare; allowed: freefloat "
                       "run FILE --set emulation.scheme=free",
                       file);
    show(&notes);
    return outcome;
}

void ff_comparison_close(ff_comparison *comparison) {
    for (int i = 0; i < comparison->count; i++)
        ff_session_close(comparison->session[i]);
    ff_held_free(&comparison->held);
    *comparison = (ff_comparison){0};
}
