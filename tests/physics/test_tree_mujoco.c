/* The floating-base tree against MuJoCo, an independent engine, on random trees: chains and branches,
 * revolute, prismatic and fixed joints about any axis, free and fixed base, rotors, gravity, external
 * wrenches.
 *
 * MuJoCo's free joint has the linear velocity in world axes and the angular one in body axes, ours both in
 * base axes, angular first: v_mj = T v with T = [0 R; 1 0], and v_mj' = T v' + [R (w x v_b); 0]. */
#include "support.h"

#include <mujoco/mujoco.h>

#include "freefloat/dynamics.h"
#include "servicer_model.h"

enum { LINKS_MAX = 40, DOF_MAX = 6 + FF_TREE_JOINTS_MAX };

static void mujoco_error(const char *message) {
    fail_msg("MuJoCo: %s", message);
}

/* A random tree; principal moments and axes are kept, so that both engines get the same inertia to rounding.
 */
typedef struct random_tree {
    ff_tree_config config;
    ff_tree_link_config link[LINKS_MAX];
    ff_vec3 moments[LINKS_MAX + 1]; /* the last is the base */
    ff_quat axes[LINKS_MAX + 1];
} random_tree;

static void random_inertia(ff_rng *rng, double mass, double size, ff_vec3 *moments, ff_quat *axes,
                           double *j) {
    const double x = ff_rng_range(rng, 0.1, 1), y = ff_rng_range(rng, 0.1, 1), z = ff_rng_range(rng, 0.1, 1);
    const double scale = mass * size * size;
    *moments = ff_vec3_make(scale * (y + z), scale * (x + z), scale * (x + y));
    *axes = test_random_quat(rng);
    const ff_mat3 R = ff_quat_to_mat3(*axes);
    const ff_mat3 full =
        ff_mat3_mul(R, ff_mat3_mul(ff_mat3_diag(moments->x, moments->y, moments->z), ff_mat3_transpose(R)));
    const double values[6] = {full.m[0][0], full.m[1][1], full.m[2][2],
                              full.m[0][1], full.m[0][2], full.m[1][2]};
    memcpy(j, values, sizeof values);
}

static void random_tree_make(random_tree *t, ff_rng *rng, size_t links, bool fixed_base, bool chain) {
    ff_tree_config_default(&t->config);
    t->config.fixed_base = fixed_base;
    t->config.base_mass = ff_rng_range(rng, 5, 50);
    t->config.base_com = test_random_vec3(rng, 0.2);
    random_inertia(rng, t->config.base_mass, 0.3, &t->moments[links], &t->axes[links],
                   t->config.base_inertia);
    t->config.links = links;
    t->config.link = t->link;
    for (size_t i = 0; i < links; i++) {
        ff_tree_link_config *k = &t->link[i];
        ff_tree_link_default(k);
        k->parent = chain ? (int)i - 1 : (int)(ff_rng_next(rng) % (i + 1)) - 1;
        const uint64_t kind = ff_rng_next(rng) % 10;
        k->joint = kind < 6 ? FF_JOINT_REVOLUTE : kind < 9 ? FF_JOINT_PRISMATIC : FF_JOINT_FIXED;
        k->axis = ff_rng_next(rng) % 4 == 0   ? ff_vec3_make(0, 0, ff_rng_next(rng) % 2 ? 1 : -1)
                  : ff_rng_next(rng) % 4 == 0 ? ff_vec3_make(1e-7, 0, -1) /* nearly -z */
                                              : test_random_vec3(rng, 2);
        k->pose = test_random_pose(rng, 0.3);
        k->mass = ff_rng_range(rng, 0.5, 5);
        k->com = test_random_vec3(rng, 0.15);
        random_inertia(rng, k->mass, 0.15, &t->moments[i], &t->axes[i], k->inertia);
        if (ff_rng_next(rng) % 2)
            k->rotor_inertia = ff_rng_range(rng, 0, 0.3);
    }
}

static void write_inertial(FILE *out, ff_vec3 com, ff_quat axes, double mass, ff_vec3 d) {
    fprintf(out,
            "<inertial pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' mass='%.17g'"
            " diaginertia='%.17g %.17g %.17g'/>",
            com.x, com.y, com.z, axes.w, axes.x, axes.y, axes.z, mass, d.x, d.y, d.z);
}

static void write_children(FILE *out, const random_tree *t, int parent) {
    for (size_t i = 0; i < t->config.links; i++) {
        const ff_tree_link_config *k = &t->link[i];
        if (k->parent != parent)
            continue;
        fprintf(out, "<body name='b%zu' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>", i,
                k->pose.p.x, k->pose.p.y, k->pose.p.z, k->pose.q.w, k->pose.q.x, k->pose.q.y, k->pose.q.z);
        if (k->joint != FF_JOINT_FIXED)
            fprintf(out, "<joint name='j%zu' type='%s' axis='%.17g %.17g %.17g' armature='%.17g'/>", i,
                    k->joint == FF_JOINT_REVOLUTE ? "hinge" : "slide", k->axis.x, k->axis.y, k->axis.z,
                    k->rotor_inertia);
        write_inertial(out, k->com, t->axes[i], k->mass, t->moments[i]);
        write_children(out, t, (int)i);
        fprintf(out, "</body>");
    }
}

static mjModel *mujoco_model(const random_tree *t, ff_vec3 gravity, ff_pose base) {
    char path[] = "/tmp/freefloat-tree-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    FILE *out = fdopen(file, "w");
    assert_non_null(out);
    fprintf(
        out,
        "<mujoco><compiler angle='radian'/><size nuser_body='0'/>"
        "<option gravity='%.17g %.17g %.17g'><flag energy='enable' contact='disable' constraint='disable'/>"
        "</option><worldbody><body name='base' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>",
        gravity.x, gravity.y, gravity.z, base.p.x, base.p.y, base.p.z, base.q.w, base.q.x, base.q.y,
        base.q.z);
    if (!t->config.fixed_base) {
        fprintf(out, "<freejoint/>");
        write_inertial(out, t->config.base_com, t->axes[t->config.links], t->config.base_mass,
                       t->moments[t->config.links]);
    }
    write_children(out, t, FF_TREE_BASE);
    fprintf(out, "</body></worldbody></mujoco>");
    fclose(out);
    char error[500] = "";
    mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
    remove(path);
    if (!m)
        fail_msg("MuJoCo does not take the model: %s", error);
    return m;
}

/* Largest entry of a difference relative to the largest entry. */
static void assert_close(const char *what, const double *a, const double *b, size_t n, double tolerance) {
    double size = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(b[i]));
        const double d = fabs(a[i] - b[i]);
        worst = d > worst || isnan(d) ? d : worst;
    }
    if (!(worst <= tolerance * fmax(size, 1e-3)))
        fail_msg("%s differs from MuJoCo by %.3g of %.3g", what, worst, size);
}

typedef struct pairing {
    random_tree tree;
    ff_tree_model *model;
    ff_tree_work *work;
    ff_tree_state state;
    ff_vec3 gravity;
    mjModel *mj;
    mjData *data;
    int dof_of[DOF_MAX]; /* MuJoCo's degree of freedom for each of ours, joints only (branches are reordered)
                          */
} pairing;

static max_align_t model_memory[4096], work_memory[8192];

static void pair_make(pairing *x, ff_rng *rng, size_t links, bool fixed_base, bool chain) {
    size_t moving = 0;
    do {
        random_tree_make(&x->tree, rng, links, fixed_base, chain);
        moving = 0;
        for (size_t i = 0; i < links; i++)
            moving += x->tree.link[i].joint != FF_JOINT_FIXED;
    } while (moving == 0 || moving > FF_TREE_JOINTS_MAX);
    char message[200];
    if (ff_tree_create(&x->tree.config, model_memory, sizeof model_memory, &x->model, message,
                       sizeof message))
        fail_msg("%s", message);
    assert_int_equal(ff_tree_work_create(x->model, work_memory, sizeof work_memory, &x->work), FF_OK);
    x->gravity = test_random_vec3(rng, 10);
    ff_tree_state_default(&x->state);
    x->state.base = test_random_pose(rng, 2);
    if (!fixed_base)
        x->state.twist = (ff_twist){test_random_vec3(rng, 2), test_random_vec3(rng, 2)};
    for (size_t i = 0; i < moving; i++) {
        x->state.q[i] = ff_rng_range(rng, -3, 3);
        x->state.qd[i] = ff_rng_range(rng, -3, 3);
    }
    x->mj = mujoco_model(&x->tree, x->gravity, x->state.base);
    x->data = mj_makeData(x->mj);

    const ff_pose base = x->state.base;
    if (!fixed_base) {
        const ff_vec3 v = ff_quat_rotate(base.q, x->state.twist.v);
        memcpy(x->data->qpos, base.p.a, sizeof base.p.a);
        memcpy(x->data->qpos + 3, (double[]){base.q.w, base.q.x, base.q.y, base.q.z}, 4 * sizeof(double));
        memcpy(x->data->qvel, v.a, sizeof v.a);
        memcpy(x->data->qvel + 3, x->state.twist.w.a, sizeof v.a);
    }
    size_t joint = 0;
    for (size_t i = 0; i < links; i++) {
        if (x->tree.link[i].joint == FF_JOINT_FIXED)
            continue;
        char name[24];
        snprintf(name, sizeof name, "j%zu", i);
        const int id = mj_name2id(x->mj, mjOBJ_JOINT, name);
        assert_true(id >= 0);
        x->data->qpos[x->mj->jnt_qposadr[id]] = x->state.q[joint];
        x->data->qvel[x->mj->jnt_dofadr[id]] = x->state.qd[joint];
        x->dof_of[joint++] = x->mj->jnt_dofadr[id];
    }
    assert_int_equal(x->mj->nv, ff_tree_dof(x->model));
    mj_forward(x->mj, x->data);
    ff_tree_kinematics(x->model, &x->state, x->work, x->gravity);
}

static void pair_free(pairing *x) {
    mj_deleteData(x->data);
    mj_deleteModel(x->mj);
}

static int body_of(const pairing *x, int link) {
    char name[24] = "base";
    if (link >= 0)
        snprintf(name, sizeof name, "b%d", link);
    return mj_name2id(x->mj, mjOBJ_BODY, name);
}

/* T: nv x dof, row-major; v_mj = T v. */
static void velocity_map(const pairing *x, double *T) {
    const size_t dof = ff_tree_dof(x->model), first = dof - ff_tree_joints(x->model);
    memset(T, 0, dof * dof * sizeof *T);
    const ff_mat3 R = ff_quat_to_mat3(x->state.base.q);
    if (first)
        for (size_t r = 0; r < 3; r++) {
            for (size_t c = 0; c < 3; c++)
                T[r * dof + 3 + c] = R.m[r][c];
            T[(3 + r) * dof + r] = 1.0;
        }
    for (size_t i = 0; i < ff_tree_joints(x->model); i++)
        T[(size_t)x->dof_of[i] * dof + first + i] = 1.0;
}

/* y (cols) = A^T x, A rows x cols */
static void transpose_apply(const double *A, const double *x, size_t rows, size_t cols, double *y) {
    for (size_t c = 0; c < cols; c++) {
        y[c] = 0;
        for (size_t r = 0; r < rows; r++)
            y[c] += A[r * cols + c] * x[r];
    }
}

static void multiply(const double *A, const double *B, size_t n, size_t k, size_t m, double *C) {
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < m; c++) {
            C[r * m + c] = 0;
            for (size_t e = 0; e < k; e++)
                C[r * m + c] += A[r * k + e] * B[e * m + c];
        }
}

/* [R (w x v_b); 0], what v_mj' has beyond T v'. */
static void frame_rate(const pairing *x, double *rate) {
    memset(rate, 0, DOF_MAX * sizeof *rate);
    if (ff_tree_fixed_base(x->model))
        return;
    const ff_vec3 r = ff_quat_rotate(x->state.base.q, ff_vec3_cross(x->state.twist.w, x->state.twist.v));
    memcpy(rate, r.a, sizeof r.a);
}

static void compare(pairing *x, ff_rng *rng) {
    const size_t dof = ff_tree_dof(x->model), joints = ff_tree_joints(x->model), first = dof - joints;
    static double T[DOF_MAX * DOF_MAX], full[DOF_MAX * DOF_MAX], temp[DOF_MAX * DOF_MAX],
        M[DOF_MAX * DOF_MAX], expect[DOF_MAX * DOF_MAX];
    double rate[DOF_MAX], bias[DOF_MAX], theirs[DOF_MAX], load[DOF_MAX];
    velocity_map(x, T);
    frame_rate(x, rate);

    /* mass matrix T^T M_mj T */
    mj_fullM(x->mj, full, x->data->qM);
    multiply(full, T, dof, dof, dof, temp);
    for (size_t c = 0; c < dof; c++) {
        double columns[DOF_MAX], y[DOF_MAX];
        for (size_t r = 0; r < dof; r++)
            columns[r] = temp[r * dof + c];
        transpose_apply(T, columns, dof, dof, y);
        for (size_t r = 0; r < dof; r++)
            expect[r * dof + c] = y[r];
    }
    ff_tree_mass_matrix(x->model, x->work, M);
    assert_close("the mass matrix", M, expect, dof * dof, 1e-12);
    for (size_t r = 0; r < dof; r++) /* also the small entries, against their own diagonal */
        for (size_t c = 0; c < dof; c++)
            assert_near(M[r * dof + c], expect[r * dof + c],
                        1e-10 * sqrt(expect[r * dof + r] * expect[c * dof + c]));

    /* bias T^T (b_mj + M_mj rate) */
    multiply(full, rate, dof, dof, 1, load);
    for (size_t i = 0; i < dof; i++)
        load[i] += x->data->qfrc_bias[i];
    transpose_apply(T, load, dof, dof, theirs);
    ff_tree_bias(x->model, x->work, bias);
    assert_close("the bias", bias, theirs, dof, 1e-11);

    /* C v + g = bias */
    static double C[DOF_MAX * DOF_MAX];
    double g[DOF_MAX], v[DOF_MAX], cv[DOF_MAX];
    const ff_twist base = x->state.twist;
    const double base6[6] = {base.w.x, base.w.y, base.w.z, base.v.x, base.v.y, base.v.z};
    memcpy(v, base6, first * sizeof *v);
    memcpy(v + first, x->state.qd, joints * sizeof *v);
    ff_tree_coriolis(x->model, x->work, C);
    ff_tree_gravity(x->model, x->work, g);
    multiply(C, v, dof, dof, 1, cv);
    for (size_t i = 0; i < dof; i++)
        cv[i] += g[i];
    assert_close("C v + g", cv, theirs, dof, 1e-11);

    /* forward dynamics with joint torques, a base wrench and a wrench on every link */
    ff_tree_force force = {ff_wrench_zero(), {0}};
    ff_tree_acceleration a = {ff_twist_zero(), {0}};
    ff_wrench external[LINKS_MAX];
    mju_zero(x->data->xfrc_applied, 6 * x->mj->nbody);
    mju_zero(x->data->qfrc_applied, x->mj->nv);
    for (size_t i = 0; i < joints; i++) {
        force.torque[i] = ff_rng_range(rng, -5, 5);
        x->data->qfrc_applied[x->dof_of[i]] = force.torque[i];
    }
    if (first) {
        force.base = (ff_wrench){test_random_vec3(rng, 10), test_random_vec3(rng, 10)};
        const ff_vec3 f = ff_quat_rotate(x->state.base.q, force.base.f);
        memcpy(x->data->qfrc_applied, f.a, sizeof f.a);
        memcpy(x->data->qfrc_applied + 3, force.base.t.a, sizeof f.a);
    }
    for (size_t i = 0; i < x->tree.config.links; i++) {
        external[i] = (ff_wrench){test_random_vec3(rng, 5), test_random_vec3(rng, 5)};
        const int body = body_of(x, (int)i);
        const double *xquat = &x->data->xquat[4 * body];
        const ff_quat q = {xquat[0], xquat[1], xquat[2], xquat[3]};
        /* MuJoCo takes it at the body's CoM, in world axes */
        const ff_vec3 f = ff_quat_rotate(q, external[i].f);
        const ff_vec3 t =
            ff_quat_rotate(q, ff_vec3_sub(external[i].t, ff_vec3_cross(x->tree.link[i].com, external[i].f)));
        memcpy(&x->data->xfrc_applied[6 * body], f.a, sizeof f.a);
        memcpy(&x->data->xfrc_applied[6 * body + 3], t.a, sizeof t.a);
    }
    mj_forward(x->mj, x->data);
    assert_int_equal(ff_tree_forward_dynamics(x->model, x->work, &force, external, &a), FF_OK);
    double ours[DOF_MAX], at[DOF_MAX];
    const double a6[6] = {a.base.w.x, a.base.w.y, a.base.w.z, a.base.v.x, a.base.v.y, a.base.v.z};
    memcpy(at, a6, first * sizeof *at);
    memcpy(at + first, a.qdd, joints * sizeof *at);
    multiply(T, at, dof, dof, 1, ours);
    for (size_t i = 0; i < dof; i++)
        ours[i] += rate[i];
    assert_close("the acceleration", ours, x->data->qacc, dof, 1e-10);

    /* inverse dynamics returns the forces */
    ff_tree_force back;
    ff_tree_inverse_dynamics(x->model, x->work, &a, external, &back);
    double given[DOF_MAX], got[DOF_MAX];
    const double f6[6] = {force.base.t.x, force.base.t.y, force.base.t.z,
                          force.base.f.x, force.base.f.y, force.base.f.z};
    const double b6[6] = {back.base.t.x, back.base.t.y, back.base.t.z,
                          back.base.f.x, back.base.f.y, back.base.f.z};
    memcpy(given, f6, first * sizeof *given);
    memcpy(got, b6, first * sizeof *got);
    memcpy(given + first, force.torque, joints * sizeof *given);
    memcpy(got + first, back.torque, joints * sizeof *got);
    assert_close("the force returned by inverse dynamics", got, given, dof, 1e-9);

    /* frames, Jacobians and accelerations of every link */
    mj_rnePostConstraint(x->mj, x->data);
    for (int link = FF_TREE_BASE; link < (int)x->tree.config.links; link++) {
        const ff_tree_frame origin = {link, ff_pose_identity()};
        const ff_tree_frame frame = {link, test_random_pose(rng, 0.5)};
        const int body = body_of(x, link);
        const ff_pose T_link = ff_tree_frame_pose(x->model, x->work, &origin);
        const ff_pose T_frame = ff_tree_frame_pose(x->model, x->work, &frame);
        const double *xquat = &x->data->xquat[4 * body];
        assert_close("a link's position", T_link.p.a, &x->data->xpos[3 * body], 3, 1e-12);
        assert_near(ff_quat_angle(T_link.q, (ff_quat){xquat[0], xquat[1], xquat[2], xquat[3]}), 0.0, 1e-12);

        double jp[3 * DOF_MAX], jr[3 * DOF_MAX], J[6 * DOF_MAX], P[3 * DOF_MAX], mapped[3 * DOF_MAX];
        mj_jac(x->mj, x->data, jp, jr, T_frame.p.a, body);
        ff_tree_point_jacobian(x->model, x->work, &frame, P);
        multiply(jp, T, 3, dof, dof, mapped);
        assert_close("a point's Jacobian", P, mapped, 3 * dof, 1e-12);
        const ff_vec3 speed = ff_tree_point_velocity(x->model, x->work, &frame);
        double spin[3], move[3];
        multiply(jp, x->data->qvel, 3, dof, 1, move);
        multiply(jr, x->data->qvel, 3, dof, 1, spin);
        assert_close("a point's velocity", speed.a, move, 3, 1e-12);
        const ff_twist twist = ff_tree_frame_twist(x->model, x->work, &frame);
        assert_close("a frame's rate", ff_quat_rotate(T_frame.q, twist.w).a, spin, 3, 1e-12);
        assert_close("a frame's speed", ff_quat_rotate(T_frame.q, twist.v).a, move, 3, 1e-12);
        ff_tree_frame_jacobian(x->model, x->work, &frame, J);
        for (size_t c = 0; c < dof; c++) {
            const ff_vec3 w = ff_quat_rotate(T_frame.q, ff_vec3_make(J[c], J[dof + c], J[2 * dof + c]));
            const ff_vec3 u =
                ff_quat_rotate(T_frame.q, ff_vec3_make(J[3 * dof + c], J[4 * dof + c], J[5 * dof + c]));
            double r[3] = {0};
            for (size_t e = 0; e < dof; e++)
                for (size_t k = 0; k < 3; k++)
                    r[k] += jr[k * dof + e] * T[e * dof + c];
            for (size_t k = 0; k < 3; k++) {
                assert_near(w.a[k], r[k], 1e-12);
                assert_near(u.a[k], P[k * dof + c], 1e-11);
            }
        }

        /* J v' + J' v at the link's origin is the acceleration MuJoCo finds (which counts gravity as upward)
         */
        double acc[6], sum[3];
        mj_objectAcceleration(x->mj, x->data, mjOBJ_XBODY, body, acc, 0);
        ff_tree_point_jacobian(x->model, x->work, &origin, P);
        multiply(P, at, 3, dof, 1, sum);
        const ff_vec3 bias3 = ff_tree_point_bias(x->model, x->work, &origin);
        for (int k = 0; k < 3; k++) {
            sum[k] += bias3.a[k];
            acc[3 + k] += x->gravity.a[k];
        }
        assert_close("a point's acceleration", sum, acc + 3, 3, 1e-9);
        ff_tree_frame_jacobian(x->model, x->work, &frame, J);
        double twist_rate[6];
        multiply(J, at, 6, dof, 1, twist_rate);
        const ff_twist jdv = ff_tree_frame_bias(x->model, x->work, &frame);
        const ff_vec3 w_rate = ff_vec3_add(jdv.w, ff_vec3_make(twist_rate[0], twist_rate[1], twist_rate[2]));
        assert_close("a frame's angular acceleration", ff_quat_rotate(T_frame.q, w_rate).a, acc, 3, 1e-9);
        /* the frame's body-coordinate rate and the point's acceleration: a = R (v' + w x v) */
        const ff_vec3 at_zero = ff_tree_point_bias(x->model, x->work, &frame);
        const ff_vec3 expect3 =
            ff_quat_rotate(T_frame.q, ff_vec3_add(jdv.v, ff_vec3_cross(twist.w, twist.v)));
        assert_close("J' v of a frame and of its origin", at_zero.a, expect3.a, 3, 1e-11);
    }

    /* momentum, centre of mass, energy */
    mj_subtreeVel(x->mj, x->data);
    const ff_tree_momentum h = ff_tree_total_momentum(x->model, x->work);
    const int base_body = body_of(x, FF_TREE_BASE);
    assert_near(h.mass, x->mj->body_subtreemass[base_body], 1e-12 * h.mass);
    assert_close("the centre of mass", h.com.a, &x->data->subtree_com[3 * base_body], 3, 1e-12);
    const ff_vec3 com_speed = ff_vec3_scale(1 / h.mass, h.linear);
    assert_close("the momentum", com_speed.a, &x->data->subtree_linvel[3 * base_body], 3, 1e-11);
    assert_close("the centroidal momentum", h.spin.a, &x->data->subtree_angmom[3 * base_body], 3, 1e-10);
    assert_near(ff_tree_kinetic_energy(x->model, x->work), x->data->energy[1], 1e-11 * x->data->energy[1]);
    assert_near(ff_tree_potential_energy(x->model, x->work), x->data->energy[0],
                1e-11 * h.mass * ff_vec3_norm(x->gravity) * (1 + ff_vec3_norm(h.com)));
}

static void test_random_trees_equal_mujoco(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 70);
    const int count = test_count(120, 2000);
    for (int i = 0; i < count; i++) {
        static pairing x;
        const size_t links = i % 10 == 0 ? 33 : 1 + ff_rng_next(&rng) % 12;
        pair_make(&x, &rng, links, i % 3 == 0, i % 2 == 0);
        compare(&x, &rng);
        pair_free(&x);
    }
}

/* The base moves as prescribed: a tree on a fixed base with a twist and an acceleration given is the free
 * tree with the base wrench that makes them. */
static void test_prescribed_base_equals_free_base(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 71);
    for (int i = 0; i < 50; i++) {
        static pairing x;
        pair_make(&x, &rng, 1 + ff_rng_next(&rng) % 9, false, false);
        ff_tree_force force = {{test_random_vec3(&rng, 5), test_random_vec3(&rng, 5)}, {0}};
        for (size_t k = 0; k < ff_tree_joints(x.model); k++)
            force.torque[k] = ff_rng_range(&rng, -3, 3);
        ff_tree_acceleration a;
        assert_int_equal(ff_tree_forward_dynamics(x.model, x.work, &force, NULL, &a), FF_OK);
        x.tree.config.fixed_base = true;
        static max_align_t memory[4096], work_bytes[8192];
        ff_tree_model *model;
        ff_tree_work *work;
        assert_int_equal(ff_tree_create(&x.tree.config, memory, sizeof memory, &model, NULL, 0), FF_OK);
        assert_int_equal(ff_tree_work_create(model, work_bytes, sizeof work_bytes, &work), FF_OK);
        ff_tree_kinematics(model, &x.state, work, x.gravity);
        ff_tree_acceleration b = {a.base, {0}};
        assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &b), FF_OK);
        assert_close("the prescribed base's joints", b.qdd, a.qdd, ff_tree_joints(model), 1e-10);
        pair_free(&x);
    }
}

int main(void) {
    mju_user_error = mujoco_error;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_trees_equal_mujoco),
        cmocka_unit_test(test_prescribed_base_equals_free_base),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
