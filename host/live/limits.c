#include <stdio.h>
#include <string.h>

#include "live/live.h"

static const char *const verbs[FF_LIVE_VERBS] = {"hold", "resume", "stop", "zero", "set", "speed", "seek"};

const char *ff_live_verb_name(ff_live_verb verb) {
    return (unsigned)verb < FF_LIVE_VERBS ? verbs[verb] : "";
}

static int column_of(const ff_columns *columns, const char *body, const char *what) {
    char name[FF_COLUMN_NAME];
    snprintf(name, sizeof name, "%s%s%s", body, *body ? "." : "", what);
    for (int i = 0; i < columns->count; i++)
        if (strcmp(columns->name[i], name) == 0)
            return i;
    return -1;
}

static void add(ff_live_config *config, const ff_columns *columns, const char *body, const char *what,
                int count, const char *label, const char *unit, double limit, double scale, bool trips) {
    const int column = column_of(columns, body, what);
    if (column < 0 || config->limits == FF_LIVE_MAX_LIMITS || !isfinite(limit) || !(limit > 0.0))
        return;
    ff_live_limit *l = &config->limit[config->limits++];
    *l = (ff_live_limit){.limit = limit, .column = column, .count = count, .scale = scale, .trips = trips};
    snprintf(l->name, sizeof l->name, "%s%s%s", label, *body ? " of " : "", body);
    snprintf(l->unit, sizeof l->unit, "%s", unit);
}

ff_status ff_live_limits(const ff_scenario *scenario, ff_live_config *config) {
    ff_columns columns;
    const ff_status status = ff_columns_init(scenario, &columns);
    if (status)
        return status;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *s = &scenario->satellite[i];
        const ff_requirements *r = &scenario->requirements;
        add(config, &columns, s->name, "error.velocity [m/s]", 1, "velocity error", "m/s", r->velocity_error,
            1.0, false);
        add(config, &columns, s->name, "error.angular_velocity [rad/s]", 1, "angular velocity error", "rad/s",
            r->angular_velocity_error, 1.0, false);
        add(config, &columns, s->name, "command.velocity.x [m/s]", 3, "commanded velocity", "m/s",
            s->limits.velocity, 1.0, true);
        add(config, &columns, s->name, "command.angular_velocity.x [rad/s]", 3, "commanded angular velocity",
            "rad/s", s->limits.angular_velocity, 1.0, true);
        add(config, &columns, s->name, "force_measured.x [N]", 3, "measured force", "N",
            s->sensor.range_force, 1.0, true);
        add(config, &columns, s->name, "torque_measured.x [N m]", 3, "measured torque", "N m",
            s->sensor.range_torque, 1.0, true);
    }
    add(config, &columns, "", "timing.compute [ns]", 1, "computing time of a cycle", "ms",
        1e3 * scenario->cycle, 1e-6, false);
    ff_columns_free(&columns);
    return FF_OK;
}
