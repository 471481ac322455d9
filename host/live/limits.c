#include <stdio.h>
#include <string.h>

#include "live/live.h"
#include "report/limits.h"

static const char *const verbs[FF_LIVE_VERBS] = {"hold", "resume", "stop", "zero",
                                                 "set",  "speed",  "seek", "retreat"};

const char *ff_live_verb_name(ff_live_verb verb) {
    return (unsigned)verb < FF_LIVE_VERBS ? verbs[verb] : "";
}

ff_status ff_live_limits(const ff_scenario *scenario, ff_live_config *config) {
    ff_columns columns;
    ff_report_limit from[FF_REPORT_LIMITS];
    const ff_status status = ff_columns_init(scenario, &columns);
    if (status)
        return status;
    const int count = ff_report_limits(scenario, &columns, false, from);
    for (int i = 0; i < count && config->limits < FF_LIVE_MAX_LIMITS; i++) {
        ff_live_limit *l = &config->limit[config->limits++];
        *l = (ff_live_limit){.limit = from[i].limit,
                             .column = from[i].column,
                             .count = from[i].count,
                             .scale = from[i].scale,
                             .trips = from[i].trips};
        memcpy(l->name, from[i].name, sizeof l->name);
        snprintf(l->unit, sizeof l->unit, "%s", from[i].unit);
    }
    ff_columns_free(&columns);
    return FF_OK;
}
