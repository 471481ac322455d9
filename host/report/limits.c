#include "report/limits.h"

#include <stdio.h>

typedef struct list {
    const ff_columns *columns;
    ff_report_limit *limit;
    int count;
    const char *body;
} list;

static void add(list *l, const char *what, int count, const char *label, const char *unit, double limit,
                double scale, bool trips) {
    const int column = ff_columns_find(l->columns, l->body, what);
    if (column < 0 || l->count == FF_REPORT_LIMITS || !isfinite(limit) || !(limit > 0.0))
        return;
    ff_report_limit *at = &l->limit[l->count++];
    *at = (ff_report_limit){
        .unit = unit, .limit = limit, .column = column, .count = count, .scale = scale, .trips = trips};
    snprintf(at->name, sizeof at->name, "%s%s%s", label, *l->body ? " of " : "", l->body);
}

int ff_report_limits(const ff_scenario *scenario, const ff_columns *columns, bool devices,
                     ff_report_limit limit[FF_REPORT_LIMITS]) {
    list l = {.columns = columns, .limit = limit};
    const ff_requirements *r = &scenario->requirements;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *s = &scenario->satellite[i];
        l.body = s->name;
        add(&l, "error.velocity [m/s]", 1, "velocity error", "m/s", r->velocity_error, 1.0, false);
        add(&l, "error.angular_velocity [rad/s]", 1, "angular velocity error", "rad/s",
            r->angular_velocity_error, 1.0, false);
        add(&l, "command.velocity.x [m/s]", 3, "commanded velocity", "m/s", s->limits.velocity, 1.0, true);
        add(&l, "command.angular_velocity.x [rad/s]", 3, "commanded angular velocity", "rad/s",
            s->limits.angular_velocity, 1.0, true);
        add(&l, "force_measured.x [N]", 3, "measured force", "N", s->sensor.range_force, 1.0, true);
        add(&l, "torque_measured.x [N m]", 3, "measured torque", "N m", s->sensor.range_torque, 1.0, true);
        if (!devices)
            continue;
        add(&l, "force_measured.x [N]", 3, "contact force", "N", s->safety.force, 1.0, true);
        add(&l, "torque_measured.x [N m]", 3, "contact torque", "N m", s->safety.torque, 1.0, true);
        add(&l, "robot.velocity.x [m/s]", 3, "robot's velocity", "m/s", s->safety.velocity, 1.0, true);
        add(&l, "robot.angular_velocity.x [rad/s]", 3, "robot's angular velocity", "rad/s",
            s->safety.angular_velocity, 1.0, true);
    }
    l.body = "";
    add(&l, "timing.compute [ns]", 1, "computing time of a cycle", "ms", 1e3 * scenario->cycle, 1e-6, false);
    return l.count;
}
