#include "variant.h"

#include <stdio.h>
#include <string.h>

#include "catalog/library.h"

static int parse_one(const char *text, size_t length, ff_variant *variant) {
    *variant = (ff_variant){0};
    const char *const colon = memchr(text, ':', length);
    size_t n = colon ? (size_t)(colon - text) : length;
    if (n == 0 || n >= sizeof variant->method) {
        ff_cli_error("--methods: '%.*s' is not a method; example: direct,tdpa:reading=printed", (int)length,
                     text);
        return -1;
    }
    memcpy(variant->method, text, n);
    char why[512];
    const char *const name = ff_scenario_method_word(&ff_catalog_libraries, variant->method, why, sizeof why);
    if (!name) {
        ff_cli_error("--methods: %s: %s", variant->method, why);
        return -1;
    }
    if (snprintf(variant->label, sizeof variant->label, "%s%.*s", name, (int)(length - n), text + n) >=
        (int)sizeof variant->label) {
        ff_cli_error("--methods: '%.*s' is too long", (int)length, text);
        return -1;
    }
    n = strlen(name);
    for (const char *c = variant->label + n; *c == ':';) {
        c++;
        n = strcspn(c, ":");
        const char *equals = memchr(c, '=', n);
        if (!equals || equals == c || variant->sets == FF_VARIANT_SETS) {
            ff_cli_error("--methods: '%s' must have the form METHOD:key=value", variant->label);
            return -1;
        }
        ff_scenario_variant_set(name, c, n, variant->set[variant->sets++], sizeof variant->set[0]);
        c += n;
    }
    return 0;
}

int ff_variants_parse(const char *list, ff_variant *variants) {
    int count = 0;
    for (const char *c = list;; c++) {
        const size_t n = strcspn(c, ",");
        if (count == FF_MAX_VARIANTS) {
            ff_cli_error("--methods: more than %d variants", FF_MAX_VARIANTS);
            return -1;
        }
        if (parse_one(c, n, &variants[count]) != 0)
            return -1;
        for (int i = 0; i < count; i++)
            if (strcmp(variants[i].label, variants[count].label) == 0) {
                ff_cli_error("--methods: '%s' is given twice", variants[i].label);
                return -1;
            }
        count++;
        c += n;
        if (!*c)
            return count;
    }
}

int ff_variant_load(ff_session *session, const char *file, const ff_variant *variant, const char *const *sets,
                    int count) {
    const char *all[FF_MAX_SETS + FF_VARIANT_SETS];
    int n = 0;
    for (; n < count; n++)
        all[n] = sets[n];
    for (int i = 0; i < variant->sets; i++)
        all[n++] = variant->set[i];
    const ff_scenario_options options = {
        .set = all, .sets = n, .method = variant->method, .catalog = &ff_catalog_libraries};
    ff_notes notes = {.error = ""};
    const ff_outcome outcome = ff_session_load(session, file, &options, &notes);
    ff_show_notes(&notes);
    snprintf(session->label, sizeof session->label, "%s", variant->label);
    return (int)outcome;
}
