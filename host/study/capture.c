#include "study/capture.h"

ff_status ff_capture_open(ff_capture *c, const ff_scenario *scenario, char *message, size_t size) {
    *c = (ff_capture){.scenario = scenario, .servicer = ff_scenario_servicer(scenario)};
    const ff_status status = ff_rigid_create(&scenario->satellite[1 - c->servicer].rigid, &c->client);
    return status != FF_OK ? status
                           : ff_tree_memory_open(&scenario->satellite[c->servicer], FF_TREE_ORBIT, &c->tree,
                                                 message, size);
}

void ff_capture_close(ff_capture *c) {
    ff_tree_memory_close(&c->tree);
}

void ff_capture_see(const ff_capture *c, const ff_rigid_state *client, const ff_rigid_state *base,
                    const double *q, const double *qd, ff_capture_figures *out) {
    const ff_satellite *servicer = &c->scenario->satellite[c->servicer];
    const ff_tree_frame frame = ff_scenario_gripper(servicer);
    const ff_rigid_state b = ff_relative_from_absolute(client, base);
    ff_tree_state x;
    ff_tree_state_default(&x);
    x.base = ff_rigid_pose(base);
    x.twist = ff_rigid_twist(base);
    for (size_t i = 0; i < ff_tree_joints(c->tree.model); i++) {
        x.q[i] = q[i];
        x.qd[i] = qd[i];
    }
    ff_tree_kinematics(c->tree.model, &x, c->tree.work, ff_vec3_zero());
    const ff_pose gripper = ff_tree_frame_pose(c->tree.model, c->tree.work, &frame),
                  T = ff_pose_mul(ff_pose_inverse(ff_rigid_pose(client)), gripper);
    const ff_twist V = ff_tree_frame_twist(c->tree.model, c->tree.work, &frame),
                   carried = ff_twist_transform(ff_pose_inverse(T), ff_rigid_twist(client));
    const ff_tree_momentum m = ff_tree_total_momentum(c->tree.model, c->tree.work);
    out->base_error = ff_vec3_sub(b.position, servicer->obsw.goal.p);
    out->rate = b.omega;
    out->gripper_speed = ff_vec3_norm(ff_twist_sub(V, carried).v);
    out->linear = ff_vec3_axpy(c->client.mass, client->velocity, m.linear);
    out->origin =
        ff_vec3_add(ff_vec3_add(m.origin, ff_rigid_angular_momentum(&c->client, client)),
                    ff_vec3_scale(c->client.mass, ff_vec3_cross(client->position, client->velocity)));
    out->energy = ff_tree_kinetic_energy(c->tree.model, c->tree.work);
}
