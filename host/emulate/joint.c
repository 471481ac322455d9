/* One joint that emulates a flexible one: the scenario's numbers as mechanisms of host/emulate, warned of
 * what the controller cannot do. */
#include "emulate/analysis.h"
#include "emulate/emulate.h"

#include <stdio.h>
#include <stdlib.h>

/* The robot, and the robot as its controller believes it to be; the mechanisms point to it. */
typedef struct single_joints {
    ff_single_joint real, believed;
    ff_flexible_joint flexible;
    ff_mechanism target; /* for its own controller */
    ff_mechanism_terms scratch;
    ff_emulate_accommodation accommodation;
} single_joints;

static ff_status set_mechanisms(const ff_emulate_joint *joint, single_joints *robot, ff_emulate_config *c,
                                char *message, size_t size) {
    robot->real = (ff_single_joint){joint->robot_inertia, joint->target.length, joint->robot_friction,
                                    joint->gravity_torque};
    robot->flexible = joint->target;
    robot->believed = robot->real;
    robot->believed.gravity_torque *= 1.0 + joint->gravity_model_error;
    robot->believed.friction *= 1.0 + joint->friction_model_error;
    ff_status status = ff_flexible_joint_mechanism(&robot->flexible, &c->target);
    if (status != FF_OK) {
        snprintf(message, size,
                 "target: inertias and length must be > 0, stiffness, damping and friction >= 0");
        return status;
    }
    status = ff_single_joint_mechanism(&robot->real, &c->robot);
    if (status == FF_OK)
        status = ff_single_joint_mechanism(&robot->believed, &c->robot_model);
    if (status != FF_OK)
        snprintf(message, size, "robot: inertia must be > 0, friction (also as believed) >= 0");
    return status;
}

static ff_status set_wall(const ff_emulate_joint *joint, ff_emulate_config *c, char *message, size_t size) {
    if (joint->wall_stiffness == 0.0)
        return FF_OK;
    c->wall = (ff_emulate_wall){.present = true,
                                .at = {joint->wall_at},
                                .normal = {-1.0},
                                .stiffness = joint->wall_stiffness,
                                .damping = joint->wall_damping};
    if (!(joint->wall_at > 0.0)) {
        snprintf(message, size, "wall: at is %g m, allowed is > 0, ahead of the arm's start", joint->wall_at);
        return FF_ERR_ARGUMENT;
    }
    if (joint->wall_at > FF_PI * joint->target.length) {
        snprintf(message, size, "wall: at is %g m, beyond half a turn of the link (%g m)", joint->wall_at,
                 FF_PI * joint->target.length);
        return FF_ERR_ARGUMENT;
    }
    return FF_OK;
}

/* An actuator slower than the controller, a contact that is not stable: one line each. */
static void warn_of_gains(const ff_emulate_joint *joint, bool wall, char *warnings, size_t size) {
    ff_contact_stability_config c;
    ff_contact_stability stability;
    if (!ff__emulate_analysis(&joint->emulation, joint->actuator_bandwidth, joint->actuator_delay, &c,
                              warnings, size))
        return;
    c.inertia_ratio = joint->target.link_inertia / joint->robot_inertia;
    const double l = joint->target.length;
    if (wall) {
        c.robot_inertia = joint->robot_inertia / (l * l);
        c.contact_stiffness = joint->wall_stiffness;
        c.contact_damping = joint->wall_damping;
    }
    if (ff_contact_stability_analyze(&c, &stability, NULL, 0) == FF_OK && !stability.stable)
        ff__emulate_warn(warnings, size,
                         "the contact is not stable: inertia ratio %.4g, stable from %.4g to %.4g\n",
                         c.inertia_ratio, stability.q_low, stability.q_high);
}

/* The task is an arc, length q: angles again. */
void ff_emulate_machine_finish(const ff_emulate_machine *machine, ff_emulate_result *result) {
    const double length = machine->length;
    if (!(length > 0.0))
        return;
    result->pose_error /= length;
    result->constraint /= length;
    result->clik_bound /= length;
    for (size_t k = 0; k < result->samples; k++) {
        ff_emulate_sample *s = &result->sample[k];
        s->p_r[0] /= length;
        s->p_direct[0] /= length;
        s->pose_error[0] /= length;
        s->constraint[0] /= length;
    }
}

void ff_emulate_machine_close(ff_emulate_machine *machine) {
    if (machine->memory)
        machine->discard(machine->memory);
    machine->memory = NULL;
}

static ff_status set_up(const ff_emulate_joint *joint, single_joints *robot, ff_emulate_config *c,
                        char *message, size_t size) {
    ff_emulate_default(c);
    const ff_status status = set_mechanisms(joint, robot, c, message, size);
    if (status != FF_OK)
        return status;
    c->emulation = joint->emulation;
    c->actuator.bandwidth = joint->actuator_bandwidth;
    c->actuator.delay = joint->actuator_delay;
    c->actuator.torque_max[0] = joint->torque_limit;
    c->sensor.force_bias[0] = joint->force_bias;
    c->sensor.force_noise = joint->force_noise;
    c->sensor.seed = joint->seed;
    c->torque[1] = joint->torque;
    robot->target = c->target;
    robot->accommodation = (ff_emulate_accommodation){.target = &robot->target,
                                                      .terms = &robot->scratch,
                                                      .rate = {joint->rate},
                                                      .accommodation = joint->compliance,
                                                      .gain = joint->gain,
                                                      .joints = 1};
    if (joint->accommodates) {
        c->motor = ff_emulate_accommodate;
        c->motor_user = &robot->accommodation;
    }
    c->duration = joint->duration;
    c->cycle = joint->cycle;
    c->sampled = joint->sampled;
    return set_wall(joint, c, message, size);
}

ff_status ff_emulate_joint_open(const ff_emulate_joint *joint, ff_emulate_machine *machine, char *message,
                                size_t size) {
    *machine = (ff_emulate_machine){0};
    single_joints *robot = calloc(1, sizeof *robot);
    if (!robot) {
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    const ff_status status = set_up(joint, robot, &machine->config, message, size);
    machine->memory = robot;
    machine->discard = free;
    machine->length = joint->target.length;
    if (status != FF_OK)
        ff_emulate_machine_close(machine);
    return status;
}

ff_status ff_emulate_joint_run(const ff_emulate_joint *joint, ff_emulate_result *result, char *message,
                               size_t size, char *warnings, size_t warnings_size) {
    if (warnings && warnings_size)
        warnings[0] = '\0';
    *result = (ff_emulate_result){0};
    ff_emulate_machine machine;
    ff_status status = ff_emulate_joint_open(joint, &machine, message, size);
    if (status != FF_OK)
        return status;
    if (warnings)
        warn_of_gains(joint, machine.config.wall.present, warnings, warnings_size);
    status = ff_emulate_run(&machine.config, result, message, size);
    ff_emulate_machine_finish(&machine, result);
    ff_emulate_machine_close(&machine);
    return status;
}
