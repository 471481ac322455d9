#include "freefloat/dynamics.h"

enum { MOST = 6 + FF_TREE_JOINTS_MAX };

static void set_joints(const ff_servicer_model *model, const ff_servicer_in *in, ff_tree_state *x) {
    for (size_t i = 0; i < ff_tree_joints(model->tree); i++) {
        x->q[i] = in->q[i];
        x->qd[i] = in->qd[i];
    }
}

static ff_wrench base_rows(const double *h) {
    return (ff_wrench){ff_vec3_make(h[0], h[1], h[2]), ff_vec3_make(h[3], h[4], h[5])};
}

/* The base block of M with its factor, and M_bq x for x of the joints. */
typedef struct base_inertia {
    double factor[36];
    double M_b[36];
    double M_bq[6][FF_TREE_JOINTS_MAX];
    size_t joints;
} base_inertia;

static void take_inertia(const ff_tree_model *tree, ff_tree_work *work, base_inertia *b) {
    double M[MOST * MOST];
    const size_t n = ff_tree_dof(tree);
    b->joints = n - 6;
    ff_tree_mass_matrix(tree, work, M);
    for (size_t r = 0; r < 6; r++) {
        for (size_t c = 0; c < 6; c++)
            b->factor[6 * r + c] = b->M_b[6 * r + c] = M[n * r + c];
        for (size_t c = 6; c < n; c++)
            b->M_bq[r][c - 6] = M[n * r + c];
    }
    ff_cholesky_factor(6, b->factor);
}

static ff_wrench coupling(const base_inertia *b, const double *x) {
    double y[6];
    for (size_t r = 0; r < 6; r++) {
        y[r] = 0.0;
        for (size_t c = 0; c < b->joints; c++)
            y[r] += b->M_bq[r][c] * x[c];
    }
    return base_rows(y);
}

static ff_wrench inertia_times(const base_inertia *b, ff_twist a) {
    const double x[6] = {a.w.x, a.w.y, a.w.z, a.v.x, a.v.y, a.v.z};
    double y[6];
    for (size_t r = 0; r < 6; r++) {
        y[r] = 0.0;
        for (size_t c = 0; c < 6; c++)
            y[r] += b->M_b[6 * r + c] * x[c];
    }
    return base_rows(y);
}

static ff_twist solve(const base_inertia *b, ff_wrench F) {
    double x[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
    ff_cholesky_solve(6, b->factor, x);
    return (ff_twist){ff_vec3_make(x[0], x[1], x[2]), ff_vec3_make(x[3], x[4], x[5])};
}

/* J_b^T F_e: the wrench on the gripper, moved to the base as the full spatial transform. */
static ff_wrench on_base(const ff_servicer_model *model, const ff_tree_work *work, ff_wrench F_e) {
    return ff_wrench_transform(ff_tree_frame_in_base(model->tree, work, &model->gripper), F_e);
}

/* C_b V + C_bq q' of a tree at the base twist V, gravity left out. */
static ff_wrench base_bias(const ff_servicer_model *model, const ff_tree_model *tree, ff_tree_work *work,
                           const ff_servicer_in *in, ff_twist V, base_inertia *inertia) {
    ff_tree_state x;
    double h[MOST];
    x.base = ff_pose_identity();
    x.twist = V;
    set_joints(model, in, &x);
    ff_tree_kinematics(tree, &x, work, ff_vec3_zero());
    take_inertia(tree, work, inertia);
    ff_tree_bias(tree, work, h);
    return base_rows(h);
}

ff_twist ff_servicer_acceleration(const ff_servicer_model *model, ff_tree_work *work,
                                  const ff_servicer_in *in) {
    base_inertia b;
    const ff_twist V_b = ff_twist_add(in->V_s, ff_relative_delta(in->g_s, in->V_n)); /* (15) */
    const ff_wrench h = base_bias(model, model->tree, work, in, V_b, &b);
    ff_wrench F = ff_wrench_add(on_base(model, work, in->F_e), in->F_b);
    F = ff_wrench_sub(ff_wrench_sub(F, h), coupling(&b, in->qdd));
    return ff_twist_sub(solve(&b, F), ff_relative_delta_rate(in->g_s, in->V_s, in->V_n, in->A_n));
}

ff_wrench ff_servicer_robot_wrench(const ff_servicer_model *model, const ff_tree_model *robot,
                                   ff_tree_work *work, ff_tree_work *robot_work, const ff_servicer_in *in) {
    /* (16) is (14) solved for F_s at the acceleration of (18):
     * F_s = M_s V_s' + M_bq q'' + C_s V_s + C_sq q' - J_b^T F_e */
    base_inertia s;
    const ff_twist a = ff_servicer_acceleration(model, work, in);
    const ff_wrench contact = on_base(model, work, in->F_e);
    const ff_wrench h = base_bias(model, robot, robot_work, in, in->V_s, &s);
    return ff_wrench_sub(ff_wrench_add(ff_wrench_add(inertia_times(&s, a), coupling(&s, in->qdd)), h),
                         contact);
}

void ff_servicer_torque(const ff_servicer_model *model, ff_tree_work *work, const ff_servicer_in *in,
                        double *tau_q) {
    const ff_tree_model *tree = model->tree;
    const size_t n = ff_tree_joints(tree);
    ff_tree_state x;
    ff_tree_acceleration a;
    ff_tree_force orbit, ground;
    x.base = in->g_m;
    set_joints(model, in, &x);
    for (size_t i = 0; i < n; i++)
        a.qdd[i] = 0.0;
    /* Joint rows of inverse dynamics with q'' = 0: on the ground with gravity, h_q(V_s) + g; in orbit
     * without, M_bq^T Delta V_s' + h_q(V_b). Their difference is -G + ff1 + ff2 + ff3. */
    x.twist = in->V_m;
    ff_tree_kinematics(tree, &x, work, model->gravity);
    a.base = ff_twist_zero();
    ff_tree_inverse_dynamics(tree, work, &a, NULL, &ground);
    x.base = ff_pose_identity();
    x.twist = ff_twist_add(in->V_m, ff_relative_delta(in->g_m, in->V_n));
    ff_tree_kinematics(tree, &x, work, ff_vec3_zero());
    a.base = ff_relative_delta_rate(in->g_m, in->V_m, in->V_n, in->A_n);
    ff_tree_inverse_dynamics(tree, work, &a, NULL, &orbit);
    for (size_t i = 0; i < n; i++)
        tau_q[i] = in->tau[i] + ground.torque[i] - orbit.torque[i];
}

void ff_servicer_map(const ff_servicer_model *model, const ff_servicer_in *in, ff_tree_state *orbit) {
    orbit->base = ff_pose_mul(in->g_n, in->g_m);
    orbit->twist = ff_twist_add(in->V_m, ff_relative_delta(in->g_m, in->V_n));
    set_joints(model, in, orbit);
}
