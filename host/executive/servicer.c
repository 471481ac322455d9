#include "executive/servicer.h"

#include "facility/law.h"

#include <string.h>

void ff__servicer_fill(ff_executive *e) {
    if (e->servicer < 0)
        return;
    const ff_sample_joints *joints = &e->sample.joints;
    memcpy(e->in.q[e->servicer], joints->q, sizeof joints->q);
    memcpy(e->in.qd[e->servicer], joints->qd, sizeof joints->qd);
}

ff_status ff__servicer_guide(ff_executive *e, char *message, size_t size) {
    const int servicer = e->servicer, client = 1 - servicer;
    if (servicer < 0)
        return FF_OK;
    const ff_sample_joints *joints = &e->sample.joints;
    ff_rigid_state mapped[2]; /* by (23): what the robots' motion means in orbit */
    for (int i = 0; i < 2; i++) {
        const ff_wrench_in *sensor = &e->sample.body[i].sensor;
        const ff_setpoint inertial = ff_loop_to_inertial(e->loop.model, &e->loop.state->nominal.motion,
                                                         (ff_setpoint){sensor->T_wb, sensor->twist});
        mapped[i] = ff_setpoint_to_state(&inertial);
    }
    e->row.servicer.W_c = ff_rigid_kinetic_energy(&e->loop.model->rigid[client], &mapped[client]); /* (25) */
    const ff_guidance *guidance = &e->options->guidance;
    const ff_status status =
        guidance->step ? guidance->step(guidance->self, (double)e->k * e->scenario->cycle, &mapped[client],
                                        &mapped[servicer], joints, &e->order, message, size)
                       : FF_OK;
    e->in.thrust[servicer] = e->order.thrust;
    return status;
}

void ff__servicer_order(ff_executive *e, bool floats) {
    e->arm.holds = !floats;
    if (floats && e->servicer >= 0) /* at the next sample; where the run stops it stays as it is */
        e->arm.grips = ff_arm_law_grips(e->scenario, (double)(e->k + 1) * e->scenario->cycle);
    for (int j = 0; e->servicer >= 0 && j < FF_TREE_JOINTS_MAX; j++)
        e->arm.torque[j] = floats ? e->order.torque[j] : 0.0;
}

static double size_of(ff_twist V) {
    return sqrt(ff_vec3_dot(V.w, V.w) + ff_vec3_dot(V.v, V.v));
}

/* (29): by how much the speed of what is about to leave exceeds |V| + |Delta V|. Metres and radians in one
 * norm, as printed. */
static double excess(const ff_executive *e, int i) {
    const ff_setpoint *command = &e->out.next[i];
    const ff_twist V_n = ff_rigid_twist(&e->loop.state->nominal.motion),
                   V = {command->twist.w, ff_quat_unrotate(command->T.q, command->twist.v)};
    return size_of(V) - size_of(ff_rigid_twist(&e->loop.state->body[i])) -
           size_of(ff_relative_delta(command->T, V_n));
}

/* (28) on devices: the measured wrench on the gripper's measured motion against the client. */
static double port_power(const ff_executive *e) {
    const int servicer = e->servicer, client = 1 - servicer;
    const ff_body_view *view = &e->loop.state->view;
    ff_pose T[2];
    ff_twist V[2];
    for (int i = 0; i < 2; i++) {
        const ff_wrench_in *sensor = &e->sample.body[i].sensor;
        T[i] = sensor->T_wb;
        V[i] = (ff_twist){sensor->twist.w, ff_quat_unrotate(sensor->T_wb.q, sensor->twist.v)};
    }
    const ff_twist gripper =
        ff_twist_transform(ff_pose_inverse(view->port[0]), ff_twist_add(V[servicer], view->moves[0]));
    const ff_pose between = ff_pose_mul(ff_pose_inverse(T[client]), ff_pose_mul(T[servicer], view->port[0]));
    return ff_power(e->loop.state->last_wrench[servicer],
                    ff_twist_sub(gripper, ff_twist_transform(ff_pose_inverse(between), V[client])));
}

/* On devices the gripper says that it holds the client, and its sensor how. */
static void grasp_row(ff_executive *e) {
    for (int c = 0; c < e->scenario->contacts; c++)
        if (e->scenario->contact[c].kind == FF_CONTACT_GRASP && e->sample.joints.closed) {
            e->row.touching[c] = true;
            e->row.contact_force[c] =
                ff_quat_rotate(e->row.body[e->servicer].inertial.T.q, e->out.measured_b[e->servicer].f);
        }
}

void ff__servicer_row(ff_executive *e, const ff_truth *truth) {
    if (e->servicer < 0)
        return;
    ff_row_servicer *row = &e->row.servicer;
    const ff_guidance_order *order = &e->order;
    const int joints = e->scenario->satellite[e->servicer].arm.joints;
    for (int i = 0; i < joints; i++) {
        row->q[i] = e->sample.joints.q[i];
        row->qd[i] = e->sample.joints.qd[i];
        row->torque[i] = order->torque[i];
        row->motor[i] = e->sample.joints.motor[i];
    }
    row->thrust = order->thrust;
    row->thrust_saturated = order->saturated;
    row->motor_saturated = e->sample.joints.saturated;
    row->phase = order->phase;
    row->action = order->action;
    row->W_a = order->storage;
    row->delta = order->dissipation;
    row->port_power = truth ? truth->arm.port_power : port_power(e);
    if (!truth)
        grasp_row(e);
    if (!e->final) /* nothing leaves any more */
        row->bound = fmax(excess(e, 0), excess(e, 1));
}
