#include "facility/law.h"

#include "text/message.h"

#include <string.h>

ff_status ff_arm_law_open(ff_arm_law *law, const ff_scenario *s, char *message, size_t size) {
    *law = (ff_arm_law){.cycle = 0.0};
    const ff_satellite *base = &s->satellite[ff_scenario_servicer(s)];
    const double parts = s->cycle / base->arm.cycle;
    if (!(base->arm.cycle > 0.0) || parts < 0.5 || fabs(parts - round(parts)) > 1e-9 * parts)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the arm's cycle is %.9g s, allowed: a whole part of the loop's, %.9g s",
                         base->arm.cycle, s->cycle);
    const ff_status status = ff_tree_memory_open(base, FF_TREE_ORBIT, &law->orbit, message, size);
    if (status != FF_OK)
        return status;
    law->parts = (int)lround(parts);
    law->cycle = s->cycle / law->parts;
    law->joints = ff_tree_joints(law->orbit.model);
    law->model = (ff_servicer_model){law->orbit.model, ff_scenario_gripper(base),
                                     ff_quat_unrotate(s->facility_pose.q, s->facility_gravity)};
    law->moves = s->frame == FF_FRAME_RELATIVE && s->nominal == FF_NOMINAL_FREE;
    return ff_rigid_create(&s->satellite[s->nominal_of].rigid, &law->free);
}

void ff_arm_law_close(ff_arm_law *law) {
    ff_tree_memory_close(&law->orbit);
}

void ff_arm_law_reset(ff_arm_law *law) {
    memset(&law->state, 0, sizeof law->state);
}

void ff_arm_law_see(ff_arm_law *law, const ff_setpoint *base, const ff_rigid_state *nominal) {
    struct ff_arm_law_state *x = &law->state;
    const ff_twist V = {base->twist.w, ff_quat_unrotate(base->T.q, base->twist.v)};
    x->A =
        x->known ? ff_twist_scale(1.0 / (law->cycle * law->parts), ff_twist_sub(V, x->V)) : ff_twist_zero();
    x->V = V;
    x->T = base->T;
    x->known = true;
    x->in.g_n = ff_rigid_pose(nominal);
    x->in.V_n = ff_rigid_twist(nominal);
    x->in.A_n =
        law->moves ? ff_rigid_body_acceleration(&law->free, x->in.V_n, ff_wrench_zero()) : ff_twist_zero();
}

/* The base t seconds after it was seen: its body twist is linear in time, and moves it along the mean of it,
 * the translation in the axes of half the turn. */
static void lead_base(struct ff_arm_law_state *x, double t) {
    const ff_twist mean = ff_twist_add(x->V, ff_twist_scale(0.5 * t, x->A));
    const ff_quat half = ff_quat_mul(x->T.q, ff_quat_exp(ff_vec3_scale(0.5 * t, mean.w)));
    x->in.g_m = (ff_pose){ff_quat_mul(x->T.q, ff_quat_exp(ff_vec3_scale(t, mean.w))),
                          ff_vec3_axpy(t, ff_quat_rotate(half, mean.v), x->T.p)};
    x->in.V_m = ff_twist_add(x->V, ff_twist_scale(t, x->A));
}

void ff_arm_law_torque(ff_arm_law *law, int part, const double *q, const double *qd, const double *ordered,
                       double *torque) {
    ff_servicer_in *in = &law->state.in;
    const double h = law->cycle;
    lead_base(&law->state, (part + 0.5) * h);
    for (size_t i = 0; i < law->joints; i++) {
        in->q[i] = q[i] + 0.5 * h * qd[i];
        in->qd[i] = qd[i];
        in->tau[i] = ordered[i];
    }
    ff_servicer_torque(&law->model, law->orbit.work, in, torque);
}

void ff_arm_law_limits(const ff_servicer_arm *arm, ff_joint_limits *limits) {
    *limits = (ff_joint_limits){.joints = 0};
    for (int i = 0; i < arm->links; i++) {
        const ff_link_row *row = &arm->link[i].row;
        if (row->joint == FF_JOINT_FIXED)
            continue;
        const unsigned n = limits->joints++;
        limits->torque[n] = row->torque;
        limits->speed[n] = row->velocity;
        limits->lower[n] = row->lower;
        limits->upper[n] = row->upper;
    }
}

bool ff_arm_law_grips(const ff_scenario *scenario, double t) {
    for (int c = 0; c < scenario->contacts; c++) {
        const ff_contact *grasp = &scenario->contact[c];
        if (grasp->kind == FF_CONTACT_GRASP)
            return t >= grasp->closes - 5e-10 && !(t > grasp->opens - 5e-10);
    }
    return false;
}
