/* The section `emulation`: two arms, or a joint. */
#include "scenario/internal.h"

#include <stdio.h>
#include <string.h>

bool ff__read_chain(ff_reader *r, const ff_node *node, const ff_key *key, ff_emulate_arm *arm) {
    char path[sizeof r->path];
    if (!ff__check_list(r, node, key, FF_ARM_LINKS_MAX))
        return false;
    if (arm->links > 0)
        return ff_reader_fail(r, node->place, "links beside a model, allowed: one of them");
    snprintf(path, sizeof path, "%s", r->path);
    for (const ff_node *item = node->child; item; item = item->next) {
        ff_emulate_link *link = &arm->link[arm->links++];
        link->row =
            (ff_link_row){.parent = arm->links - 2, .lower = -FF_INF, .upper = FF_INF, .velocity = FF_INF};
        snprintf(r->path, sizeof r->path, "link %d", arm->links);
        if (!ff__read_section(r, item, key->section, link))
            return false;
        const ff_rigid_config body = {.mass = link->row.mass, .inertia = link->row.inertia};
        if (ff_rigid_validate(&body) != FF_OK)
            return ff_reader_fail(
                r, ff_node_find(item, "inertia")->place,
                "the inertia of %s is not that of a body, allowed: positive definite, triangle "
                "inequality",
                r->path);
    }
    memcpy(r->path, path, sizeof path);
    return true;
}

void ff_scenario_emulator_limits(const ff_scenario *scenario, ff_joint_limits *limits) {
    const bool arm = scenario->target == FF_TARGET_ARM;
    *limits = (ff_joint_limits){.joints = arm ? (unsigned)scenario->arms.robot.links : 1};
    for (unsigned i = 0; i < limits->joints; i++) {
        const ff_link_row *row = &scenario->arms.robot.link[i].row;
        limits->torque[i] = arm ? row->torque : scenario->emulation.torque_limit;
        limits->speed[i] = arm ? row->velocity : FF_INF;
        limits->lower[i] = arm ? row->lower : -FF_INF;
        limits->upper[i] = arm ? row->upper : FF_INF;
    }
}

/* What hangs together in an emulation, and what both kinds of target share. */
bool ff__check_emulation(ff_reader *r, const ff_node *root) {
    ff_scenario *s = r->scenario;
    const ff_node *node = ff_node_find(root, "emulation"), *target = ff_node_find(node, "target"),
                  *robot = ff_node_find(node, "robot"), *rates = ff_node_find(node, "accommodation");
    if (s->target != s->emulator)
        return ff_reader_fail(r, robot->place, "the robot is %s, allowed: %s, as the target is",
                              s->emulator == FF_TARGET_ARM ? "an arm" : "one joint",
                              s->target == FF_TARGET_ARM ? "kind: arm" : "kind: joint");
    const bool arm = s->target == FF_TARGET_ARM;
    const ff_node *foreign = ff_node_find(node, arm ? "wall" : "surface");
    if (foreign)
        return ff_reader_fail(r, foreign->key_place, "key '%s' does not belong to this target, allowed: %s",
                              arm ? "wall" : "surface", arm ? "surface" : "wall");
    s->emulation.accommodates = s->arms.accommodates = rates != NULL;
    s->emulation.rate = s->arms.rate.x;
    s->emulation.compliance = s->arms.compliance;
    s->emulation.gain = s->arms.gain;
    if (rates && ff_node_find(node, "torque"))
        return ff_reader_fail(r, ff_node_find(node, "torque")->key_place,
                              "torque and accommodation both drive the target, allowed: one of them");
    if (!arm)
        return true;
    if (ff_node_find(node, "torque"))
        return ff_reader_fail(r, ff_node_find(node, "torque")->key_place,
                              "an arm's torques stand with its links, allowed: drive in each link");
    if (s->arms.target.links == 0 || s->arms.robot.links == 0)
        return ff_reader_fail(r, s->arms.target.links ? robot->place : target->place,
                              "%s lacks the key 'links', allowed: list, or model: FILE.urdf",
                              s->arms.target.links ? "emulation.robot" : "emulation.target");
    if (!ff__check_starts(r, target, &s->arms.target) || !ff__check_starts(r, robot, &s->arms.robot))
        return false;
    for (int i = 0; i < s->arms.robot.links; i++) {
        const ff_emulate_link *link = &s->arms.robot.link[i];
        if (!(link->start >= link->row.lower && link->start <= link->row.upper))
            return ff_reader_fail(r, robot->place, "link %d starts at %.9g rad, allowed: %.9g to %.9g", i + 1,
                                  link->start, link->row.lower, link->row.upper);
    }
    const int joints = s->arms.task == FF_TREE_TASK_POSE ? 6 : 2;
    if (s->arms.robot.links != joints || s->arms.target.links < joints)
        return ff_reader_fail(r, s->arms.robot.links != joints ? robot->place : target->place,
                              "%s has %d links, allowed: %s%d for this task",
                              s->arms.robot.links != joints ? "the robot" : "the target",
                              s->arms.robot.links != joints ? s->arms.robot.links : s->arms.target.links,
                              s->arms.robot.links != joints ? "" : "at least ", joints);
    const ff_rigid_config base = {.mass = s->arms.target.base_mass, .inertia = s->arms.target.base_inertia};
    if (s->arms.target.floating && ff_rigid_validate(&base) != FF_OK)
        return ff_reader_fail(
            r, target->place,
            "a floating base needs base_mass > 0 and a base_inertia that is positive definite");
    for (int i = 0; s->arms.target.flexible && i < s->arms.target.links; i++)
        if (!(s->arms.target.link[i].motor_inertia > 0.0))
            return ff_reader_fail(r, target->place,
                                  "link %d has no motor_inertia, allowed: > 0 [kg m2] with joints: flexible",
                                  i + 1);
    s->arms.robot.base_given = ff_node_find(robot, "place") != NULL;
    if (!s->arms.robot.base_given)
        s->arms.robot.base = ff_pose_identity();
    s->arms.wall.present = ff_node_find(node, "surface") != NULL;
    s->arms.gravity_model_error = s->emulation.gravity_model_error;
    s->arms.friction_model_error = s->emulation.friction_model_error;
    s->arms.actuator_bandwidth = s->emulation.actuator_bandwidth;
    s->arms.actuator_delay = s->emulation.actuator_delay;
    s->arms.force_bias = s->emulation.force_bias;
    s->arms.force_noise = s->emulation.force_noise;
    s->arms.emulation = s->emulation.emulation;
    s->arms.sampled = s->emulation.sampled;
    s->arms.cycle = s->cycle;
    s->arms.duration = s->duration;
    s->arms.seed = s->seed;
    return true;
}
