/* The table of the check as text and as JSON. */
#include "executive/check.h"

#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>

static const char *verdict_text(ff_check_verdict verdict) {
    static const char *const text[] = {"go", "no-go", "skipped", ""};
    return (unsigned)verdict < sizeof text / sizeof *text ? text[verdict] : "?";
}

char *ff_check_text(const ff_scenario *scenario, const ff_check *check) {
    const size_t size = (size_t)(check->rows + 4) * 400;
    char *text = malloc(size);
    size_t used = 0;
    if (!text)
        return NULL;
    text[0] = 0;
#define PRINT(...)                                                                 \
    do {                                                                           \
        const int n_ = snprintf(text + used, size - used, __VA_ARGS__);            \
        used += n_ > 0 && (size_t)n_ < size - used ? (size_t)n_ : size - used - 1; \
    } while (0)
    PRINT("%-12s %-29s %9s %8s %-6s %s\n", "check", "", "seen", "allowed", "", "verdict");
    for (int i = 0; i < check->rows; i++) {
        const ff_check_row *row = &check->row[i];
        char seen[32] = "-", allowed[32] = "";
        if (isfinite(row->value))
            snprintf(seen, sizeof seen, "%.4g", row->value);
        if (isfinite(row->limit))
            snprintf(allowed, sizeof allowed, "%.4g", row->limit);
        else if (!isnan(row->limit))
            snprintf(allowed, sizeof allowed, "any");
        PRINT("%-12s %-29s %9s %8s %-6s %s%s%s\n", scenario->satellite[row->body].name, row->what, seen,
              allowed, row->unit, verdict_text(row->verdict), *row->reason ? ":\n             " : "",
              row->reason);
    }
    if (check->no_go.code == FF_TRIP_NONE)
        PRINT("check: go\n");
    else
        PRINT("check: no-go, %s: %s\n", ff_trip_name(check->no_go.code), check->reason);
#undef PRINT
    return text;
}

char *ff_check_json(const ff_scenario *scenario, const ff_check *check) {
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_bool(&json, "go", check->no_go.code == FF_TRIP_NONE);
    ff_json_string(&json, "code", check->no_go.code == FF_TRIP_NONE ? NULL : ff_trip_name(check->no_go.code));
    ff_json_string(&json, "reason", check->no_go.code == FF_TRIP_NONE ? NULL : check->reason);
    ff_json_open(&json, "satellites", '{');
    for (int i = 0; i < scenario->satellites; i++) {
        ff_json_open(&json, scenario->satellite[i].name, '{');
        for (int n = 0; n < check->rows; n++) {
            const ff_check_row *row = &check->row[n];
            if (row->body != i)
                continue;
            ff_json_open(&json, row->key, '{');
            ff_json_number(&json, "value", row->value);
            ff_json_number(&json, "limit", row->limit);
            ff_json_string(&json, "verdict",
                           row->verdict == FF_CHECK_SHOWN ? "shown" : verdict_text(row->verdict));
            if (*row->reason)
                ff_json_string(&json, "reason", row->reason);
            ff_json_close(&json, '}');
        }
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_close(&json, '}');
    return ff_json_take(&json);
}
