#include "rows/columns.h"

#include <stdio.h>
#include <stdlib.h>

/* Both walks below go through the same list in the same order: `name` when names are wanted, else values. */
typedef struct walk {
    char (*name)[FF_COLUMN_NAME]; /* NULL: count or values only */
    double *value;                /* NULL: names only */
    int count;
    const char *prefix;
} walk;

static void scalar(walk *w, const char *name, const char *unit, double value) {
    if (w->name)
        snprintf(w->name[w->count], FF_COLUMN_NAME, "%s%s%s%s%s%s", w->prefix, *w->prefix ? "." : "", name,
                 *unit ? " [" : "", unit, *unit ? "]" : "");
    if (w->value)
        w->value[w->count] = value;
    w->count++;
}

static void vec3(walk *w, const char *name, const char *unit, ff_vec3 v) {
    static const char axis[3] = {'x', 'y', 'z'};
    char full[64] = "";
    for (int i = 0; i < 3; i++) {
        if (w->name)
            snprintf(full, sizeof full, "%s.%c", name, axis[i]);
        scalar(w, full, unit, v.a[i]);
    }
}

static void quat(walk *w, const char *name, ff_quat q) {
    static const char axis[4] = {'w', 'x', 'y', 'z'};
    const double value[4] = {q.w, q.x, q.y, q.z};
    char full[64] = "";
    for (int i = 0; i < 4; i++) {
        if (w->name)
            snprintf(full, sizeof full, "%s.%c", name, axis[i]);
        scalar(w, full, "", value[i]);
    }
}

/* "position" or "robot.position" */
static const char *join(const walk *w, const char *name, const char *part, char full[64]) {
    full[0] = 0;
    if (w->name)
        snprintf(full, 64, "%s%s%s", name, *name ? "." : "", part);
    return full;
}

static void state(walk *w, const char *name, const ff_rigid_state *s) {
    char full[64];
    vec3(w, join(w, name, "position", full), "m", s->position);
    quat(w, join(w, name, "attitude", full), s->attitude);
    vec3(w, join(w, name, "velocity", full), "m/s", s->velocity);
    vec3(w, join(w, name, "angular_velocity", full), "rad/s", s->omega);
}

static void motion(walk *w, const char *name, const ff_setpoint *s) {
    const ff_rigid_state as = {s->T.p, s->T.q, s->twist.v, s->twist.w};
    state(w, name, &as);
}

static void body(walk *w, const ff_row_body *b) {
    state(w, "", &b->satellite);
    state(w, "ideal", &b->ideal);
    motion(w, "robot", &b->robot);
    motion(w, "command", &b->command);
    vec3(w, "force_measured", "N", b->measured_b.f);
    vec3(w, "torque_measured", "N m", b->measured_b.t);
    vec3(w, "force_corrected", "N", b->corrected_b.f);
    vec3(w, "torque_corrected", "N m", b->corrected_b.t);
    vec3(w, "velocity_correction", "m/s", b->velocity_correction.v);
    vec3(w, "angular_velocity_correction", "rad/s", b->velocity_correction.w);
    vec3(w, "load_force", "N", b->load.force);
    vec3(w, "load_torque", "N m", b->load.torque);
    scalar(w, "energy.kinetic", "J", b->energy.kinetic);
    scalar(w, "energy.exchanged", "J", b->energy.exchanged);
    scalar(w, "energy.delay", "J", b->energy.delay);
    scalar(w, "energy.force_controller", "J", b->energy.force_controller);
    scalar(w, "energy.velocity_controller", "J", b->energy.velocity_controller);
    scalar(w, "energy.integration", "J", b->energy.integration);
    scalar(w, "energy.loads", "J", b->energy.loads);
    scalar(w, "energy.method", "J", b->energy.method);
    for (int a = 0; a < 6; a++) {
        const char name[] = {'o', 'b', 's', 'e', 'r', 'v', 'e', 'r', '.', (char)('0' + a), 0};
        scalar(w, name, "J", b->observer[a]);
    }
    scalar(w, "error.velocity", "m/s", ff_vec3_norm(ff_vec3_sub(b->satellite.velocity, b->ideal.velocity)));
    scalar(w, "error.angular_velocity", "rad/s",
           ff_vec3_norm(ff_vec3_sub(b->satellite.omega, b->ideal.omega)));
    scalar(w, "in_contact", "", b->in_contact ? 1.0 : 0.0);
    scalar(w, "identified.stiffness", "N/m", b->identified_stiffness);
    scalar(w, "identified.damping", "N s/m", b->identified_damping);
    scalar(w, "identified.damping_sd", "N s/m", b->identified_damping_sd);
    vec3(w, "sensor.force", "N", b->sensor.f_s.f);
    vec3(w, "sensor.torque", "N m", b->sensor.f_s.t);
}

static void servicer(walk *w, int joints, const ff_row_servicer *s) {
    char full[64];
    for (int i = 0; i < joints; i++) {
        char name[24] = "";
        if (w->name)
            snprintf(name, sizeof name, "joint.%d", i + 1);
        scalar(w, join(w, name, "angle", full), "rad", s->q[i]);
        scalar(w, join(w, name, "speed", full), "rad/s", s->qd[i]);
        scalar(w, join(w, name, "torque", full), "N m", s->torque[i]);
        scalar(w, join(w, name, "motor_torque", full), "N m", s->motor[i]);
    }
    vec3(w, "thrust_force", "N", s->thrust.f);
    vec3(w, "thrust_torque", "N m", s->thrust.t);
    scalar(w, "thrust_saturated", "", s->thrust_saturated ? 1.0 : 0.0);
    scalar(w, "motor_saturated", "", s->motor_saturated ? 1.0 : 0.0);
    scalar(w, "obsw.phase", "", s->phase);
    scalar(w, "obsw.action", "", s->action);
    scalar(w, "monitor.W_c", "J", s->W_c);
    scalar(w, "monitor.W_a", "", s->W_a);
    scalar(w, "monitor.delta", "", s->delta);
    scalar(w, "monitor.port_power", "W", s->port_power);
    scalar(w, "monitor.bound", "m/s", s->bound);
}

static void row_walk(walk *w, const ff_scenario *scenario, const ff_columns *columns, const ff_row *row) {
    w->prefix = "";
    scalar(w, "t", "s", row->t);
    for (int i = 0; i < columns->satellites; i++) {
        w->prefix = scenario ? scenario->satellite[i].name : "";
        body(w, &row->body[i]);
        if (columns->relative)
            motion(w, "inertial", &row->body[i].inertial);
        if (i == columns->servicer)
            servicer(w, columns->joints, &row->servicer);
    }
    for (int c = 0; c < columns->contacts; c++) {
        char prefix[FF_NAME_SIZE + 16] = "";
        if (w->name)
            snprintf(prefix, sizeof prefix, "contact.%s", scenario->contact[c].name);
        w->prefix = prefix;
        scalar(w, "force", "N", ff_vec3_norm(row->contact_force[c]));
        vec3(w, "force", "N", row->contact_force[c]);
        scalar(w, "touching", "", row->touching[c] ? 1.0 : 0.0);
    }
    w->prefix = "";
    scalar(w, "timing.compute", "ns", row->compute_ns);
    scalar(w, "identified.bounds", "", (double)row->bounds);
    scalar(w, "status", "", (double)row->status);
}

ff_status ff_columns_init(const ff_scenario *scenario, ff_columns *columns) {
    static const ff_row empty;
    walk w = {0};
    *columns = (ff_columns){.satellites = scenario->satellites,
                            .contacts = scenario->contacts,
                            .servicer = ff_scenario_servicer(scenario),
                            .relative = scenario->frame == FF_FRAME_RELATIVE};
    if (columns->servicer >= 0)
        columns->joints = scenario->satellite[columns->servicer].arm.joints;
    row_walk(&w, scenario, columns, &empty);
    columns->count = w.count;
    columns->name = calloc((size_t)w.count, sizeof *columns->name);
    if (!columns->name)
        return FF_ERR_MEMORY;
    w = (walk){.name = columns->name};
    row_walk(&w, scenario, columns, &empty);
    return FF_OK;
}

void ff_columns_free(ff_columns *columns) {
    free(columns->name);
    *columns = (ff_columns){0};
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the walk */
void ff_columns_values(const ff_columns *columns, const ff_row *row, double *values) {
    walk w = {.value = values};
    row_walk(&w, NULL, columns, row);
}
