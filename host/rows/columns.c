#include "rows/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- the list -- */

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))
#define AT(member) offsetof(ff_row_body, member)
/* clang-format off */
#define STATE(prefix, member, flags, more, whose)                                                              \
    {prefix "position", "m", FF_FIELD_VEC3, flags, AT(member.position), NULL, whose ", centre of mass, inertial"}, \
    {prefix "attitude", "", FF_FIELD_QUAT, flags, AT(member.attitude), NULL, whose ", body to inertial"},          \
    {prefix "velocity", "m/s", FF_FIELD_VEC3, (flags) | (more), AT(member.velocity), NULL, whose ", inertial"},    \
    {prefix "angular_velocity", "rad/s", FF_FIELD_VEC3, (flags) | (more), AT(member.omega), NULL, whose ", body axes"}
#define MOTION(prefix, member, flags, linear, angular, whose)                                              \
    {prefix "position", "m", FF_FIELD_VEC3, flags, AT(member.T.p), NULL, whose},                           \
    {prefix "attitude", "", FF_FIELD_QUAT, flags, AT(member.T.q), NULL, whose},                            \
    {prefix "velocity", "m/s", FF_FIELD_VEC3, (flags) | (linear), AT(member.twist.v), NULL, whose},        \
    {prefix "angular_velocity", "rad/s", FF_FIELD_VEC3, (flags) | (angular), AT(member.twist.w), NULL, whose ", body axes"}

enum { UNDRAWN = FF_FIELD_UNDRAWN, PLANT = FF_FIELD_PLANT, REFERENCE = FF_FIELD_REFERENCE };

static double velocity_error(const void *part) {
    const ff_row_body *b = part;
    return ff_vec3_norm(ff_vec3_sub(b->satellite.velocity, b->ideal.velocity));
}

static double angular_velocity_error(const void *part) {
    const ff_row_body *b = part;
    return ff_vec3_norm(ff_vec3_sub(b->satellite.omega, b->ideal.omega));
}

static double size_of_force(const void *part) {
    const ff_vec3 *force = part;
    return ff_vec3_norm(*force);
}

static const ff_field time_fields[] = {
    {"t", "s", FF_FIELD_NUMBER, 0, offsetof(ff_row, t), NULL, "cycle times its number"},
};

static const ff_field body_fields[] = {
    STATE("", satellite, 0, 0, "simulated satellite"),
    STATE("ideal.", ideal, REFERENCE, 0, "reference without delay; empty without one"),
    MOTION("robot.", robot, PLANT, 0, UNDRAWN, "robot as it is, in the frame that the robots move in"),
    MOTION("command.", command, 0, UNDRAWN, UNDRAWN, "what the robot is sent in this cycle, in the same frame; `limits` bound the differences of its poses"),
    {"force_measured", "N", FF_FIELD_VEC3, 0, AT(measured_b.f), NULL, "conditioned, robot's body axes"},
    {"torque_measured", "N m", FF_FIELD_VEC3, 0, AT(measured_b.t), NULL, "about the centre of mass"},
    {"force_corrected", "N", FF_FIELD_VEC3, 0, AT(corrected_b.f), NULL, "by the method, satellite's body axes"},
    {"torque_corrected", "N m", FF_FIELD_VEC3, 0, AT(corrected_b.t), NULL, "about the centre of mass"},
    {"velocity_correction", "m/s", FF_FIELD_VEC3, 0, AT(velocity_correction.v), NULL, "V_pc of the method"},
    {"angular_velocity_correction", "rad/s", FF_FIELD_VEC3, 0, AT(velocity_correction.w), NULL, "V_pc of the method"},
    {"load_force", "N", FF_FIELD_VEC3, UNDRAWN, AT(load.force), NULL, "thrusters and disturbances of the scenario"},
    {"load_torque", "N m", FF_FIELD_VEC3, UNDRAWN, AT(load.torque), NULL, "of the same"},
    {"energy.kinetic", "J", FF_FIELD_NUMBER, 0, AT(energy.kinetic), NULL, "ledger before this cycle's step"},
    {"energy.exchanged", "J", FF_FIELD_NUMBER, 0, AT(energy.exchanged), NULL, "through the robot's port"},
    {"energy.delay", "J", FF_FIELD_NUMBER, 0, AT(energy.delay), NULL, "made by the delay"},
    {"energy.force_controller", "J", FF_FIELD_NUMBER, 0, AT(energy.force_controller), NULL, "by corrections of the wrench"},
    {"energy.velocity_controller", "J", FF_FIELD_NUMBER, 0, AT(energy.velocity_controller), NULL, "by corrections of the velocity"},
    {"energy.integration", "J", FF_FIELD_NUMBER, 0, AT(energy.integration), NULL, "by the integrator"},
    {"energy.loads", "J", FF_FIELD_NUMBER, 0, AT(energy.loads), NULL, "by the loads"},
    {"energy.method", "J", FF_FIELD_NUMBER, 0, AT(energy.method), NULL, "by corrections of the state"},
    {"observer.1", "J", FF_FIELD_NUMBER, 0, AT(observer[0]), NULL, "passivity observers; empty where there is none"},
    {"observer.2", "J", FF_FIELD_NUMBER, 0, AT(observer[1]), NULL, "of the second axis"},
    {"observer.3", "J", FF_FIELD_NUMBER, 0, AT(observer[2]), NULL, "of the third axis"},
    {"observer.4", "J", FF_FIELD_NUMBER, 0, AT(observer[3]), NULL, "of the fourth axis"},
    {"observer.5", "J", FF_FIELD_NUMBER, 0, AT(observer[4]), NULL, "of the fifth axis"},
    {"observer.6", "J", FF_FIELD_NUMBER, 0, AT(observer[5]), NULL, "of the sixth axis"},
    {"error.velocity", "m/s", FF_FIELD_COMPUTED, REFERENCE, 0, velocity_error, "size of satellite minus reference"},
    {"error.angular_velocity", "rad/s", FF_FIELD_COMPUTED, REFERENCE, 0, angular_velocity_error, "size of satellite minus reference"},
    {"in_contact", "", FF_FIELD_FLAG, UNDRAWN, AT(in_contact), NULL, "as the method detects it"},
    {"lag", "m", FF_FIELD_NUMBER, UNDRAWN, AT(lag), NULL, "from what the robot is sent to what the loop commands"},
    {"limited", "", FF_FIELD_FLAG, UNDRAWN, AT(limited), NULL, "a limit acts: the robot is not sent what the loop commands"},
    {"identified.stiffness", "N/m", FF_FIELD_NUMBER, 0, AT(identified_stiffness), NULL, "of the touched surface, over this contact so far"},
    {"identified.damping", "N s/m", FF_FIELD_NUMBER, 0, AT(identified_damping), NULL, "of the same"},
    {"identified.damping_sd", "N s/m", FF_FIELD_NUMBER, 0, AT(identified_damping_sd), NULL, "its standard deviation"},
    {"sensor.force", "N", FF_FIELD_VEC3, PLANT, AT(sensor.f_s.f), NULL, "raw reading, sensor frame"},
    {"sensor.torque", "N m", FF_FIELD_VEC3, PLANT, AT(sensor.f_s.t), NULL, "raw reading, sensor frame"},
};

static const ff_field inertial_fields[] = {
    MOTION("inertial.", inertial, PLANT, UNDRAWN, UNDRAWN, "robot's motion in the inertial frame"),
};

static const ff_field axis_fields[] = {
    {"angle", "rad", FF_FIELD_NUMBER, PLANT, AT(device.joints.a), NULL, "axis N of the robot's arm: measured on devices, else by its kinematics from `robot`; empty out of reach"},
};

static const ff_field rail_fields[] = {
    {"rail", "m", FF_FIELD_NUMBER, PLANT, AT(device.joints.rail), NULL, "its carriage, from the middle"},
};

static const ff_field ledger_fields[] = {
    {"energy.joints", "J", FF_FIELD_NUMBER, 0, AT(energy.joints), NULL, "by the joints' motors; with an arm energy.kinetic is that of base and arm"},
};

#undef AT
#define AT(member) offsetof(ff_row_servicer, member)

static const ff_field joint_fields[] = {
    {"angle", "rad", FF_FIELD_NUMBER, 0, AT(q), NULL, "measured"},
    {"speed", "rad/s", FF_FIELD_NUMBER, 0, AT(qd), NULL, "measured"},
    {"torque", "N m", FF_FIELD_NUMBER, 0, AT(torque), NULL, "commanded by the on-board software"},
    {"motor_torque", "N m", FF_FIELD_NUMBER, 0, AT(motor), NULL, "of the motor on the ground, (22)"},
};

static const ff_field servicer_fields[] = {
    {"thrust_force", "N", FF_FIELD_VEC3, 0, AT(thrust.f), NULL, "F_b, base axes"},
    {"thrust_torque", "N m", FF_FIELD_VEC3, 0, AT(thrust.t), NULL, "about the base's origin"},
    {"thrust_saturated", "", FF_FIELD_FLAG, FF_FIELD_UNREPEATABLE, AT(thrust_saturated), NULL, "a thruster's limit acted"},
    {"motor_saturated", "", FF_FIELD_FLAG, 0, AT(motor_saturated), NULL, "a motor's limit acted"},
    {"obsw.phase", "", FF_FIELD_INT, 0, AT(phase), NULL, "as the on-board software reports it"},
    {"obsw.action", "", FF_FIELD_INT, 0, AT(action), NULL, "0 its answer acts, 1 its last one, 2 nothing"},
    {"monitor.W_c", "J", FF_FIELD_NUMBER, 0, AT(W_c), NULL, "(25)"},
    {"monitor.W_a", "", FF_FIELD_NUMBER, 0, AT(W_a), NULL, "(24), in the software's own unit; empty: not reported"},
    {"monitor.delta", "", FF_FIELD_NUMBER, 0, AT(delta), NULL, "dissipation of (24), in the same unit"},
    {"monitor.port_power", "W", FF_FIELD_NUMBER, 0, AT(port_power), NULL, "(28)"},
    {"monitor.bound", "m/s", FF_FIELD_NUMBER, 0, AT(bound), NULL, "(29): not positive"},
};

#undef AT

static const ff_field force_fields[] = {
    {"force", "N", FF_FIELD_COMPUTED, PLANT, 0, size_of_force, "its size"},
    {"force", "N", FF_FIELD_VEC3, PLANT | UNDRAWN, 0, NULL, "true force on the contact's body, inertial; on devices the measured one"},
};

static const ff_field touching_fields[] = {
    {"touching", "", FF_FIELD_FLAG, PLANT, 0, NULL, "the bodies touch"},
};

static const ff_field cycle_fields[] = {
    {"timing.compute", "ns", FF_FIELD_NUMBER, FF_FIELD_TIMING, offsetof(ff_row, compute_ns), NULL, "of the loop's step"},
    {"identified.bounds", "", FF_FIELD_UNSIGNED, 0, offsetof(ff_row, bounds), NULL, "bounds of the identification that acted, as bits"},
    {"status", "", FF_FIELD_INT, UNDRAWN, offsetof(ff_row, status), NULL, "of the loop's step; 0: good"},
};

#define AT(member) offsetof(ff_row_body, member)

static const ff_field input_fields[] = {
    {"sensor.force", "N", FF_FIELD_VEC3, 0, AT(sensor.f_s.f), NULL, "raw reading, sensor frame"},
    {"sensor.torque", "N m", FF_FIELD_VEC3, 0, AT(sensor.f_s.t), NULL, "raw reading, sensor frame"},
    {"sensor.age", "s", FF_FIELD_NUMBER, 0, AT(sensor.age), NULL, "of the reading"},
    {"measured.position", "m", FF_FIELD_VEC3, 0, AT(sensor.T_wb.p), NULL, "robot"},
    {"measured.attitude", "", FF_FIELD_QUAT, 0, AT(sensor.T_wb.q), NULL, "robot"},
    {"measured.velocity", "m/s", FF_FIELD_VEC3, 0, AT(sensor.twist.v), NULL, "robot"},
    {"measured.angular_velocity", "rad/s", FF_FIELD_VEC3, 0, AT(sensor.twist.w), NULL, "robot, body axes"},
    {"measured.acceleration", "m/s2", FF_FIELD_VEC3, 0, AT(sensor.acceleration.v), NULL, "robot"},
    {"measured.angular_acceleration", "rad/s2", FF_FIELD_VEC3, 0, AT(sensor.acceleration.w), NULL, "robot, body axes"},
    MOTION("sent.", sent.to, 0, 0, 0, "what the robot was sent in the cycle before"),
    {"sent.lag", "m", FF_FIELD_NUMBER, 0, AT(sent.lag), NULL, "from it to what the loop commanded"},
    {"sent.limited", "", FF_FIELD_FLAG, 0, AT(sent.limited), NULL, "a limit acted"},
    {"load.force", "N", FF_FIELD_VEC3, 0, AT(load.force), NULL, "thrusters and disturbances of the scenario"},
    {"load.torque", "N m", FF_FIELD_VEC3, 0, AT(load.torque), NULL, "of the same"},
};

#undef AT

static const ff_field tuning_fields[] = {
    {"threshold", "N", FF_FIELD_NUMBER, 0, offsetof(ff_tuned, setting[0]), NULL, "of the contact detector; empty: the method has none"},
    {"torque_threshold", "N m", FF_FIELD_NUMBER, 0, offsetof(ff_tuned, setting[1]), NULL, "of the contact detector"},
    {"threshold_fixed", "", FF_FIELD_FLAG, 0, offsetof(ff_tuned, fixed), NULL, "set by the operator, not by the measured noise"},
};

static const ff_field bias_fields[] = {
    {"bias.force", "N", FF_FIELD_VEC3, 0, offsetof(ff_wrench, f), NULL, "of the sensor, sensor frame"},
    {"bias.torque", "N m", FF_FIELD_VEC3, 0, offsetof(ff_wrench, t), NULL, "of the sensor, sensor frame"},
};
/* clang-format on */

static const ff_part_fields parts[FF_PARTS] = {
    [FF_PART_TIME] = {"", time_fields, COUNT(time_fields)},
    [FF_PART_BODY] = {"NAME.", body_fields, COUNT(body_fields)},
    [FF_PART_INERTIAL] = {"NAME.", inertial_fields, COUNT(inertial_fields)},
    [FF_PART_AXIS] = {"NAME.robot.axis.N.", axis_fields, COUNT(axis_fields)},
    [FF_PART_RAIL] = {"NAME.robot.", rail_fields, COUNT(rail_fields)},
    [FF_PART_LEDGER] = {"NAME.", ledger_fields, COUNT(ledger_fields)},
    [FF_PART_JOINT] = {"NAME.joint.N.", joint_fields, COUNT(joint_fields)},
    [FF_PART_SERVICER] = {"NAME.", servicer_fields, COUNT(servicer_fields)},
    [FF_PART_FORCE] = {"contact.NAME.", force_fields, COUNT(force_fields)},
    [FF_PART_TOUCHING] = {"contact.NAME.", touching_fields, COUNT(touching_fields)},
    [FF_PART_CYCLE] = {"", cycle_fields, COUNT(cycle_fields)},
    [FF_PART_INPUT] = {"NAME.", input_fields, COUNT(input_fields)},
    [FF_PART_TUNING] = {"", tuning_fields, COUNT(tuning_fields)},
    [FF_PART_BIAS] = {"NAME.", bias_fields, COUNT(bias_fields)},
};

const ff_part_fields *ff_columns_part(ff_part part) {
    return &parts[part];
}

/* ------------------------------------------------------------------------------- columns of a scenario -- */

static int width(const ff_field *field) {
    return field->type == FF_FIELD_VEC3 ? 3 : field->type == FF_FIELD_QUAT ? 4 : 1;
}

/* Counts; with memory, also fills it. */
static void add_part(ff_columns *columns, ff_part part, size_t at, const char *prefix) {
    for (int f = 0; f < parts[part].count; f++) {
        const ff_field *field = &parts[part].field[f];
        const int n = width(field);
        for (int c = 0; c < n; c++, columns->count++) {
            if (!columns->name)
                continue;
            const char axis[3] = {n > 1 ? '.' : 0, n == 4 ? "wxyz"[c] : "xyz"[c], 0};
            columns->column[columns->count] = (ff_column){
                .field = field, .part = at, .at = at + field->offset + (size_t)c * sizeof(double)};
            snprintf(columns->name[columns->count], FF_COLUMN_NAME, "%s%s%s%s%s%s%s", prefix,
                     *prefix ? "." : "", field->name, axis, *field->unit ? " [" : "", field->unit,
                     *field->unit ? "]" : "");
        }
    }
}

static void add_log(ff_columns *columns, const ff_scenario *s) {
    char prefix[FF_NAME_SIZE + 32];
    const int servicer = ff_scenario_servicer(s);
    add_part(columns, FF_PART_TIME, 0, "");
    for (int i = 0; i < s->satellites; i++) {
        const char *name = s->satellite[i].name;
        const size_t body = offsetof(ff_row, body) + (size_t)i * sizeof(ff_row_body);
        add_part(columns, FF_PART_BODY, body, name);
        if (s->frame == FF_FRAME_RELATIVE)
            add_part(columns, FF_PART_INERTIAL, body, name);
        for (int a = 0; a < ff_satellite_axes(&s->satellite[i]); a++) {
            snprintf(prefix, sizeof prefix, "%s.robot.axis.%d", name, a + 1);
            add_part(columns, FF_PART_AXIS, body + (size_t)a * sizeof(double), prefix);
        }
        if (s->satellite[i].robot.rail.present) {
            snprintf(prefix, sizeof prefix, "%s.robot", name);
            add_part(columns, FF_PART_RAIL, body, prefix);
        }
        if (i != servicer)
            continue;
        add_part(columns, FF_PART_LEDGER, body, name);
        for (int j = 0; j < s->satellite[i].arm.joints; j++) {
            snprintf(prefix, sizeof prefix, "%s.joint.%d", name, j + 1);
            add_part(columns, FF_PART_JOINT, offsetof(ff_row, servicer) + (size_t)j * sizeof(double), prefix);
        }
        add_part(columns, FF_PART_SERVICER, offsetof(ff_row, servicer), name);
    }
    for (int c = 0; c < s->contacts; c++) {
        snprintf(prefix, sizeof prefix, "contact.%s", s->contact[c].name);
        add_part(columns, FF_PART_FORCE, offsetof(ff_row, contact_force) + (size_t)c * sizeof(ff_vec3),
                 prefix);
        add_part(columns, FF_PART_TOUCHING, offsetof(ff_row, touching) + (size_t)c * sizeof(bool), prefix);
    }
    add_part(columns, FF_PART_CYCLE, 0, "");
}

static void add_input(ff_columns *columns, const ff_scenario *s) {
    for (int i = 0; i < s->satellites; i++)
        add_part(columns, FF_PART_INPUT, offsetof(ff_row, body) + (size_t)i * sizeof(ff_row_body),
                 s->satellite[i].name);
}

static void add_tuning(ff_columns *columns, const ff_scenario *s) {
    const size_t tuned = offsetof(ff_row, tuned);
    add_part(columns, FF_PART_TUNING, tuned, "");
    for (int i = 0; i < s->satellites; i++)
        add_part(columns, FF_PART_BIAS, tuned + offsetof(ff_tuned, bias_s) + (size_t)i * sizeof(ff_wrench),
                 s->satellite[i].name);
}

static bool is_number(const ff_column *c) {
    const ff_field_type type = c->field->type;
    return type == FF_FIELD_NUMBER || type == FF_FIELD_VEC3 || type == FF_FIELD_QUAT;
}

static void count_numbers(ff_columns *columns) {
    ff_column *c = columns->column;
    for (int i = columns->count - 1; i >= 0; i--) {
        const bool goes_on = i + 1 < columns->count && c[i + 1].at == c[i].at + sizeof(double);
        c[i].numbers = is_number(&c[i]) ? 1 + (goes_on ? c[i + 1].numbers : 0) : 0;
    }
}

static ff_status init(const ff_scenario *scenario, void (*add)(ff_columns *, const ff_scenario *),
                      ff_columns *columns) {
    *columns = (ff_columns){0};
    add(columns, scenario);
    const size_t count = (size_t)columns->count;
    *columns = (ff_columns){.name = calloc(count, sizeof *columns->name),
                            .column = calloc(count, sizeof *columns->column)};
    if (!columns->name || !columns->column) {
        ff_columns_free(columns);
        return FF_ERR_MEMORY;
    }
    add(columns, scenario);
    count_numbers(columns);
    return FF_OK;
}

void ff_columns_leave_out(ff_columns *columns, unsigned flags) {
    int kept = 0;
    for (int i = 0; i < columns->count; i++) {
        if (columns->column[i].field->flags & flags)
            continue;
        columns->column[kept] = columns->column[i];
        memmove(columns->name[kept++], columns->name[i], sizeof columns->name[i]);
    }
    columns->count = kept;
    count_numbers(columns);
}

ff_status ff_columns_init(const ff_scenario *scenario, ff_columns *columns) {
    return init(scenario, add_log, columns);
}

ff_status ff_columns_init_input(const ff_scenario *scenario, ff_columns *columns) {
    return init(scenario, add_input, columns);
}

ff_status ff_columns_init_tuning(const ff_scenario *scenario, ff_columns *columns) {
    return init(scenario, add_tuning, columns);
}

void ff_columns_free(ff_columns *columns) {
    free(columns->name);
    free(columns->column);
    *columns = (ff_columns){0};
}

int ff_columns_find(const ff_columns *columns, const char *body, const char *what) {
    char name[FF_COLUMN_NAME];
    snprintf(name, sizeof name, "%s%s%s", body, *body ? "." : "", what);
    for (int i = 0; i < columns->count; i++)
        if (strcmp(columns->name[i], name) == 0)
            return i;
    return -1;
}

/* ---------------------------------------------------------------------------------------------- values -- */

void ff_columns_values(const ff_columns *columns, const ff_row *row, double *values) {
    for (int i = 0, step; i < columns->count; i += step) {
        const ff_column *c = &columns->column[i];
        const char *at = (const char *)row + c->at;
        step = 1;
        if (c->numbers) {
            step = c->numbers;
            memcpy(&values[i], at, (size_t)step * sizeof values[i]);
            continue;
        }
        switch (c->field->type) {
        case FF_FIELD_FLAG:
            values[i] = *(const bool *)at ? 1.0 : 0.0;
            break;
        case FF_FIELD_INT: {
            int value;
            memcpy(&value, at, sizeof value);
            values[i] = value;
            break;
        }
        case FF_FIELD_UNSIGNED: {
            unsigned value;
            memcpy(&value, at, sizeof value);
            values[i] = value;
            break;
        }
        default:
            values[i] = c->field->compute((const char *)row + c->part);
        }
    }
}

void ff_columns_take(const ff_columns *columns, const double *values, ff_row *row) {
    for (int i = 0, step; i < columns->count; i += step) {
        const ff_column *c = &columns->column[i];
        char *at = (char *)row + c->at;
        step = 1;
        if (c->numbers) {
            step = c->numbers;
            memcpy(at, &values[i], (size_t)step * sizeof values[i]);
            continue;
        }
        switch (c->field->type) {
        case FF_FIELD_FLAG:
            *(bool *)at = values[i] != 0.0;
            break;
        case FF_FIELD_INT: {
            const int value = (int)values[i];
            memcpy(at, &value, sizeof value);
            break;
        }
        case FF_FIELD_UNSIGNED: {
            const unsigned value = (unsigned)values[i];
            memcpy(at, &value, sizeof value);
            break;
        }
        default: /* computed */
            break;
        }
    }
}
