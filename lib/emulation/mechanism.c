#include "freefloat/emulation.h"

void ff_mechanism_displace(const ff_mechanism *self, const double *q, const double *step, double *out) {
    if (self->displace) {
        self->displace(self, q, step, out);
        return;
    }
    for (size_t i = 0; i < self->dof; i++)
        out[i] = q[i] + step[i];
}

void ff_mechanism_rate(const ff_mechanism *self, const double *q, const double *v, double *out) {
    if (self->rate) {
        self->rate(self, q, v, out);
        return;
    }
    for (size_t i = 0; i < self->dof; i++)
        out[i] = v[i];
}

void ff_task_difference(const ff_mechanism *self, const ff_task_pose *a, const ff_task_pose *b, double *out) {
    if (!self->spatial) {
        for (size_t i = 0; i < self->task; i++)
            out[i] = a->x[i] - b->x[i];
        return;
    }
    const ff_vec3 rotation = ff_quat_log(ff_quat_mul(a->pose.q, ff_quat_conj(b->pose.q)));
    for (int i = 0; i < 3; i++) {
        out[i] = rotation.a[i];
        out[3 + i] = a->pose.p.a[i] - b->pose.p.a[i];
    }
}

/* -------------------------------------------------------------------------------------- one flexible joint
 * -- */

/* [aghili, Appendix E]; the printed link equation lacks the contact's torque l f, which (2) has. */
static void flexible_terms(const ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                           ff_mechanism_terms *out) {
    const ff_flexible_joint *c = self->model;
    if (part & FF_TERMS_POSITION) {
        out->M[0] = c->link_inertia;
        out->M[1] = out->M[2] = 0.0;
        out->M[3] = c->drive_inertia;
        out->J[0] = c->length;
        out->J[1] = 0.0;
        out->pose.x[0] = c->length * q[0];
    }
    if (part & FF_TERMS_VELOCITY) {
        const double spring = c->stiffness * (q[1] - q[0]) + c->damping * (v[1] - v[0]);
        out->h[0] = -spring;
        out->h[1] = spring + c->drive_friction * v[1];
        out->Jv[0] = 0.0;
    }
}

static double flexible_energy(const ff_mechanism *self, const double *q, const double *v) {
    const ff_flexible_joint *c = self->model;
    return 0.5 * (c->link_inertia * v[0] * v[0] + c->drive_inertia * v[1] * v[1] +
                  c->stiffness * (q[1] - q[0]) * (q[1] - q[0]));
}

ff_status ff_flexible_joint_mechanism(const ff_flexible_joint *c, ff_mechanism *mechanism) {
    if (!isfinite(c->link_inertia + c->drive_inertia + c->length + c->stiffness + c->damping +
                  c->drive_friction))
        return FF_ERR_NOT_FINITE;
    if (!(c->link_inertia > 0.0) || !(c->drive_inertia > 0.0))
        return FF_ERR_INERTIA;
    if (!(c->length > 0.0) || c->stiffness < 0.0 || c->damping < 0.0 || c->drive_friction < 0.0)
        return FF_ERR_ARGUMENT;
    *mechanism = (ff_mechanism){
        .dof = 2, .positions = 2, .task = 1, .model = c, .terms = flexible_terms, .energy = flexible_energy};
    return FF_OK;
}

static void single_terms(const ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                         ff_mechanism_terms *out) {
    const ff_single_joint *c = self->model;
    if (part & FF_TERMS_POSITION) {
        out->M[0] = c->inertia;
        out->J[0] = c->length;
        out->pose.x[0] = c->length * q[0];
    }
    if (part & FF_TERMS_VELOCITY) {
        out->h[0] = c->friction * v[0] + c->gravity_torque * cos(q[0]);
        out->Jv[0] = 0.0;
    }
}

ff_status ff_single_joint_mechanism(const ff_single_joint *c, ff_mechanism *mechanism) {
    if (!isfinite(c->inertia + c->length + c->friction + c->gravity_torque))
        return FF_ERR_NOT_FINITE;
    if (!(c->inertia > 0.0))
        return FF_ERR_INERTIA;
    if (!(c->length > 0.0) || c->friction < 0.0)
        return FF_ERR_ARGUMENT;
    *mechanism = (ff_mechanism){.dof = 1, .positions = 1, .task = 1, .model = c, .terms = single_terms};
    return FF_OK;
}

/* --------------------------------------------------------------------------------------------------- trees
 * -- */

static size_t base_positions(const ff_tree_mechanism *c) {
    return ff_tree_fixed_base(c->tree) ? 0 : 7;
}

static void tree_state(const ff_tree_mechanism *c, const double *q, const double *v, ff_tree_state *state) {
    const size_t joints = ff_tree_joints(c->tree), skip = base_positions(c);
    state->base = c->base;
    state->twist = ff_twist_zero();
    if (skip) {
        state->base.q = ff_quat_unit((ff_quat){q[0], q[1], q[2], q[3]});
        state->base.p = ff_vec3_make(q[4], q[5], q[6]);
        if (v) {
            state->twist.w = ff_vec3_make(v[0], v[1], v[2]);
            state->twist.v = ff_vec3_make(v[3], v[4], v[5]);
        }
    }
    for (size_t i = 0; i < joints; i++) {
        state->q[i] = q[skip + i];
        state->qd[i] = v ? v[(skip ? 6 : 0) + i] : 0.0;
    }
}

static void tree_terms(const ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                       ff_mechanism_terms *out) {
    const ff_tree_mechanism *c = self->model;
    const size_t joints = ff_tree_joints(c->tree), body = ff_tree_dof(c->tree), m = self->dof;
    const size_t base = body - joints, skip = base_positions(c);
    ff_tree_state state;
    tree_state(c, q, v, &state);
    if (part & FF_TERMS_POSITION) {
        /* The tree's matrices are as wide as the tree; the motors stand behind. */
        double dense[6 * FF_EMULATION_DOF_MAX];
        ff_tree_positions(c->tree, &state, c->tree_work, c->gravity);
        ff_tree_mass_matrix(c->tree, c->tree_work, out->M);
        if (m > body) {
            for (size_t i = m; i-- > 0;)
                for (size_t j = m; j-- > 0;)
                    out->M[i * m + j] = i < body && j < body ? out->M[i * body + j]
                                        : i == j             ? c->motor_inertia[i - body]
                                                             : 0.0;
        }
        const ff_pose pose = ff_tree_frame_pose(c->tree, c->tree_work, &c->frame);
        if (c->task == FF_TREE_TASK_PLANE) {
            ff_tree_point_jacobian(c->tree, c->tree_work, &c->frame, dense);
            out->pose.x[0] = pose.p.x;
            out->pose.x[1] = pose.p.y;
        } else {
            ff_tree_frame_jacobian(c->tree, c->tree_work, &c->frame, dense);
            for (size_t j = 0; j < body; j++)
                for (size_t half = 0; half < 6; half += 3) {
                    const ff_vec3 column = ff_quat_rotate(pose.q, ff_vec3_make(dense[half * body + j],
                                                                               dense[(half + 1) * body + j],
                                                                               dense[(half + 2) * body + j]));
                    for (size_t i = 0; i < 3; i++)
                        dense[(half + i) * body + j] = column.a[i];
                }
            out->pose.pose = pose;
        }
        for (size_t i = 0; i < self->task; i++)
            for (size_t j = 0; j < m; j++)
                out->J[i * m + j] = j < body ? dense[i * body + j] : 0.0;
    }
    if (part & FF_TERMS_VELOCITY) {
        ff_tree_velocities(c->tree, &state, c->tree_work);
        ff_tree_bias(c->tree, c->tree_work, out->h);
        for (size_t i = 0; i < joints; i++) {
            const double qj = q[skip + i], vj = v[base + i];
            out->h[base + i] += c->joint_friction[i] * vj;
            if (c->flexible) {
                const double qm = q[skip + joints + i], vm = v[body + i];
                const double spring = c->stiffness[i] * (qm - qj) + c->damping[i] * (vm - vj);
                out->h[base + i] -= spring;
                out->h[body + i] = spring + c->motor_friction[i] * vm;
            }
        }
        if (c->task == FF_TREE_TASK_PLANE) {
            const ff_vec3 bias = ff_tree_point_bias(c->tree, c->tree_work, &c->frame);
            out->Jv[0] = bias.x;
            out->Jv[1] = bias.y;
        } else {
            /* twist' in frame axes turned to inertial ones: (R v)' = R (v' + w x v). */
            const ff_quat R = ff_tree_frame_pose(c->tree, c->tree_work, &c->frame).q;
            const ff_twist twist = ff_tree_frame_twist(c->tree, c->tree_work, &c->frame);
            const ff_twist bias = ff_tree_frame_bias(c->tree, c->tree_work, &c->frame);
            const ff_vec3 w = ff_quat_rotate(R, bias.w);
            const ff_vec3 a = ff_quat_rotate(R, ff_vec3_add(bias.v, ff_vec3_cross(twist.w, twist.v)));
            for (size_t i = 0; i < 3; i++) {
                out->Jv[i] = w.a[i];
                out->Jv[3 + i] = a.a[i];
            }
        }
    }
}

static void tree_displace(const ff_mechanism *self, const double *q, const double *step, double *out) {
    const ff_quat base = ff_quat_unit((ff_quat){q[0], q[1], q[2], q[3]});
    const ff_vec3 shift = ff_quat_rotate(base, ff_vec3_make(step[3], step[4], step[5]));
    const ff_quat turned =
        ff_quat_unit(ff_quat_mul(base, ff_quat_exp(ff_vec3_make(step[0], step[1], step[2]))));
    out[0] = turned.w;
    out[1] = turned.x;
    out[2] = turned.y;
    out[3] = turned.z;
    for (size_t i = 0; i < 3; i++)
        out[4 + i] = q[4 + i] + shift.a[i];
    for (size_t i = 7; i < self->positions; i++)
        out[i] = q[i] + step[i - 1];
}

static void tree_rate(const ff_mechanism *self, const double *q, const double *v, double *out) {
    const ff_quat base = {q[0], q[1], q[2], q[3]};
    const ff_quat rate = ff_quat_mul(base, (ff_quat){0.0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]});
    const ff_vec3 velocity = ff_quat_rotate(ff_quat_unit(base), ff_vec3_make(v[3], v[4], v[5]));
    out[0] = rate.w;
    out[1] = rate.x;
    out[2] = rate.y;
    out[3] = rate.z;
    for (size_t i = 0; i < 3; i++)
        out[4 + i] = velocity.a[i];
    for (size_t i = 7; i < self->positions; i++)
        out[i] = v[i - 1];
}

static double tree_energy(const ff_mechanism *self, const double *q, const double *v) {
    const ff_tree_mechanism *c = self->model;
    const size_t joints = ff_tree_joints(c->tree), body = ff_tree_dof(c->tree), skip = base_positions(c);
    ff_tree_state state;
    tree_state(c, q, v, &state);
    ff_tree_kinematics(c->tree, &state, c->tree_work, c->gravity);
    double energy =
        ff_tree_kinetic_energy(c->tree, c->tree_work) + ff_tree_potential_energy(c->tree, c->tree_work);
    for (size_t i = 0; c->flexible && i < joints; i++) {
        const double stretch = q[skip + joints + i] - q[skip + i], vm = v[body + i];
        energy += 0.5 * (c->motor_inertia[i] * vm * vm + c->stiffness[i] * stretch * stretch);
    }
    return energy;
}

ff_status ff_tree_mechanism_create(const ff_tree_mechanism *c, ff_mechanism *mechanism) {
    const size_t joints = ff_tree_joints(c->tree), body = ff_tree_dof(c->tree);
    const size_t task = c->task == FF_TREE_TASK_PLANE ? 2 : 6, dof = body + (c->flexible ? joints : 0);
    if (dof > FF_EMULATION_DOF_MAX || (c->flexible && joints > 7))
        return FF_ERR_SIZE;
    if (body < task)
        return FF_ERR_ARGUMENT;
    for (size_t i = 0; c->flexible && i < joints; i++) {
        if (!isfinite(c->motor_inertia[i]) || !(c->motor_inertia[i] > 0.0))
            return FF_ERR_INERTIA;
        if (!(c->stiffness[i] >= 0.0) || !(c->damping[i] >= 0.0) || !(c->motor_friction[i] >= 0.0))
            return FF_ERR_ARGUMENT;
    }
    const bool floating = !ff_tree_fixed_base(c->tree);
    *mechanism = (ff_mechanism){.dof = dof,
                                .positions = dof + (floating ? 1 : 0),
                                .task = task,
                                .spatial = c->task == FF_TREE_TASK_POSE,
                                .model = c,
                                .terms = tree_terms,
                                .displace = floating ? tree_displace : NULL,
                                .rate = floating ? tree_rate : NULL,
                                .energy = tree_energy};
    return FF_OK;
}
