#include "executive/mission.h"

#include <string.h>

ff_status ff_mission_open(ff_mission *mission, const ff_scenario *scenario, ff_obsw_opener *opener,
                          ff_obsw_record record, char *message, size_t size) {
    ff_computer_config config;
    ff_status status = ff_tree_memory_open(&scenario->satellite[ff_scenario_servicer(scenario)],
                                           FF_TREE_ORBIT, &mission->brain, message, size);
    if (status != FF_OK)
        return status;
    ff_computer_configure(scenario, &config);
    config.builtin.tree = mission->brain.model;
    config.builtin.work = mission->brain.work;
    config.opener = opener;
    config.record = record;
    status = ff_computer_open(&config, &mission->computer, message, size);
    if (status != FF_OK)
        ff_tree_memory_close(&mission->brain);
    return status;
}

static ff_status step_mission(void *self, double t, const ff_rigid_state *client, const ff_rigid_state *base,
                              const ff_sample_joints *joints, ff_guidance_order *order, char *message,
                              size_t size) {
    ff_mission *mission = self;
    ff_computer *computer = &mission->computer;
    ff_obsw_out out;
    ff_obsw_action action;
    const uint64_t saturated = computer->info.saturated;
    ff_computer_gripper(computer, joints->closed, t);
    const ff_status status =
        ff_computer_step(computer, t, client, base, joints->q, joints->qd, &out, &action, message, size);
    if (status < 0)
        return status;
    *order = (ff_guidance_order){.thrust = ff_obsw_thrust(&out),
                                 .phase = (int)out.phase,
                                 .action = (int)action,
                                 .storage = out.storage,
                                 .dissipation = out.dissipation,
                                 .saturated = computer->info.saturated > saturated};
    memcpy(order->torque, out.joint_torque, sizeof order->torque);
    return FF_OK;
}

ff_guidance ff_mission_guidance(ff_mission *mission) {
    return (ff_guidance){mission, step_mission};
}

void ff_mission_close(ff_mission *mission) {
    ff_computer_close(&mission->computer);
    ff_tree_memory_close(&mission->brain);
}
