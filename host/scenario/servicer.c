/* The satellite with an arm: its trees in memory, and what the loop needs of it. */
#include "scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "text/message.h"

int ff_scenario_servicer(const ff_scenario *scenario) {
    for (int i = 0; i < scenario->satellites; i++)
        if (scenario->satellite[i].arm.present)
            return i;
    return -1;
}

ff_tree_frame ff_scenario_gripper(const ff_satellite *satellite) {
    return (ff_tree_frame){satellite->arm.links - 1, satellite->arm.gripper};
}

static void fill_tree(const ff_satellite *satellite, const ff_servicer_arm *arm, ff_tree_config *tree,
                      ff_tree_link_config *link) {
    ff_tree_config_default(tree);
    tree->base_mass = satellite->rigid.mass;
    ff_link_inertia(&satellite->rigid.inertia, tree->base_inertia);
    tree->links = (size_t)arm->links;
    tree->link = link;
    for (int i = 0; i < arm->links; i++) {
        link[i] = ff_link_tree(&arm->link[i].row);
        link[i].name = arm->link[i].name;
        if (link[i].parent == FF_TREE_BASE)
            link[i].pose = ff_pose_mul(arm->mount, link[i].pose);
    }
}

void ff_scenario_tree(const ff_satellite *satellite, ff_tree_config *tree, ff_tree_link_config *link) {
    fill_tree(satellite, &satellite->arm, tree, link);
}

ff_status ff_tree_memory_open(const ff_satellite *satellite, ff_tree_kind kind, ff_tree_memory *memory,
                              char *message, size_t size) {
    ff_tree_config config;
    ff_tree_link_config link[FF_MAX_ARM_LINKS];
    fill_tree(satellite,
              kind == FF_TREE_GROUND && satellite->ground_arm ? satellite->ground_arm : &satellite->arm,
              &config, link);
    config.fixed_base = kind != FF_TREE_ORBIT;
    *memory = (ff_tree_memory){0};
    ff_status status = ff_tree_validate(&config, message, size);
    if (status != FF_OK)
        return status;
    const size_t bytes = ff_tree_memsize(&config);
    memory->memory[0] = malloc(bytes);
    status = memory->memory[0]
                 ? ff_tree_create(&config, memory->memory[0], bytes, &memory->model, message, size)
                 : ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the arm");
    if (status == FF_OK) {
        const size_t more = ff_tree_work_memsize(memory->model);
        memory->memory[1] = malloc(more);
        status = memory->memory[1]
                     ? ff_tree_work_create(memory->model, memory->memory[1], more, &memory->work)
                     : ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the arm");
    }
    if (status != FF_OK)
        ff_tree_memory_close(memory);
    return status;
}

void ff_tree_memory_close(ff_tree_memory *memory) {
    free(memory->memory[0]);
    free(memory->memory[1]);
    *memory = (ff_tree_memory){0};
}

ff_status ff_scenario_joints(const ff_scenario *scenario, ff_loop_config *config, ff_joints_memory *memory,
                             char *message, size_t size) {
    const int servicer = ff_scenario_servicer(scenario);
    *memory = (ff_joints_memory){0};
    if (servicer < 0)
        return FF_OK;
    ff_loop_joints_config *joints = &config->joints;
    ff_body body;
    ff_status status =
        ff_tree_memory_open(&scenario->satellite[servicer], FF_TREE_ORBIT, &memory->tree, message, size);
    joints->tree = memory->tree.model;
    if (status == FF_OK)
        status = ff_body_tree(joints->tree, 1, &joints->port, &body);
    if (status == FF_OK) {
        const size_t bytes = ff_body_work_memsize(&body);
        memory->work = malloc(bytes);
        status = memory->work ? ff_body_work_create(&body, memory->work, bytes, &joints->work)
                              : ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the arm");
    }
    if (status != FF_OK)
        ff_joints_memory_close(memory);
    return status;
}

void ff_joints_memory_close(ff_joints_memory *memory) {
    ff_tree_memory_close(&memory->tree);
    free(memory->work);
    memory->work = NULL;
}
