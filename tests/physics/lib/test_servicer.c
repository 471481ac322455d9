/* destefano2021, servicer: orbit (12) against ground (18) + (20) + (22), arm under joint control, with
 * gravity, thrusters and a contact wrench at the gripper. RK4 in the test; the arm on the ground is the
 * fixed-base tree that moves as the robot carries it. */
#include "support.h"

#include "freefloat/integrate.h"
#include "servicer_model.h"

enum { N = SERVICER_JOINTS, DOF = 6 + N };

typedef struct rig {
    servicer_model table;
    ff_tree_model *orbit, *arm, *robot;
    ff_tree_work *work, *arm_work, *robot_work;
    ff_servicer_model model;
    ff_rigid_model client;
    ff_pose lab; /* of the robots' frame */
    void *memory[6];
    int memories;
} rig;

static ff_tree_model *make_tree(rig *r, const ff_tree_config *config, ff_tree_work **work) {
    ff_tree_model *tree;
    char message[200];
    const size_t bytes = ff_tree_memsize(config);
    void *const first = r->memory[r->memories++] = malloc(bytes);
    assert_int_equal(ff_tree_create(config, first, bytes, &tree, message, sizeof message), FF_OK);
    const size_t more = ff_tree_work_memsize(tree);
    void *const second = r->memory[r->memories++] = malloc(more);
    assert_int_equal(ff_tree_work_create(tree, second, more, work), FF_OK);
    return tree;
}

static void rig_make(rig *r) {
    r->memories = 0;
    servicer_model_make(&r->table);
    r->orbit = make_tree(r, &r->table.config, &r->work);
    ff_tree_config config = r->table.config;
    config.fixed_base = true;
    r->arm = make_tree(r, &config, &r->arm_work);
    config = r->table.config;
    config.base_mass = 310; /* what the robot carries: an inertia of its own */
    config.base_com = ff_vec3_make(0.05, -0.02, 0.1);
    const double inertia[6] = {45, 60, 52, 2, -3, 1};
    memcpy(config.base_inertia, inertia, sizeof inertia);
    r->robot = make_tree(r, &config, &r->robot_work);
    r->lab = (ff_pose){ff_quat_unit((ff_quat){0.7, 0.1, 0.7, -0.2}), {{1, 2, 0.5}}};
    r->model = (ff_servicer_model){r->orbit, servicer_gripper(),
                                   ff_quat_unrotate(r->lab.q, ff_vec3_make(0, 0, -9.81))};
    assert_int_equal(ff_rigid_create(&envisat_rigid, &r->client), FF_OK);
}

static void rig_free(rig *r) {
    for (int i = 0; i < r->memories; i++)
        free(r->memory[i]);
}

/* ------------------------------------------------------------------------------------------ the motion -- */

typedef struct all { /* orbit and ground side by side */
    ff_pose g_b, g_n, g_s;
    ff_twist V_b, V_n, V_s;
    double q[N], qd[N]; /* orbit's arm */
    double p[N], pd[N]; /* the arm on the ground */
} all;

typedef struct all_rate {
    ff_quat qb, qn, qs;
    ff_vec3 pb, pn, ps;
    ff_twist Vb, Vn, Vs;
    double qd[N], qdd[N], pd[N], pdd[N];
} all_rate;

static ff_quat quat_rate(ff_quat q, ff_vec3 w) {
    return ff_quat_mul(q, (ff_quat){0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
}

static const double rest[N] = {0.1, 0.9, -0.2, 1.8, 0.15, 0.9, 0.05};

static void control(double t, const double *q, const double *qd, double *tau) {
    static const double K[N] = {6, 6, 3, 2, 0.2, 0.2, 0.01}, D[N] = {6, 6, 3, 2, 0.2, 0.2, 0.01};
    for (int i = 0; i < N; i++) {
        const double w = 0.3 + 0.05 * i, a = 0.3;
        const double wish = rest[i] + a * sin(w * t), rate = a * w * cos(w * t);
        tau[i] = K[i] * (wish - q[i]) + D[i] * (rate - qd[i]);
    }
}

static bool without_contact; /* F_e = 0 */

/* Thrusters and contact, held within a step that begins at t. */
static void wrenches(double t, ff_wrench *F_b, ff_wrench *F_e) {
    *F_b = *F_e = ff_wrench_zero();
    if (t > 0.8 - 1e-9 && t < 2.8 - 1e-9)
        *F_b = (ff_wrench){{{3, -2, 4}}, {{10, -6, 8}}};
    if (t > 3.2 - 1e-9 && t < 4.0 - 1e-9 && !without_contact)
        *F_e = (ff_wrench){{{0.5, -0.3, 0.2}}, {{6, -8, 5}}};
}

/* Terms that can be left out; NONE: the library's own functions. */
enum {
    Q18, /* M_bq q'' */
    C18, /* C_b V_b + C_bq q' */
    E18, /* J_b^T F_e */
    B18, /* F_b */
    D18, /* Ad V_n' of Delta V_s' */
    A18, /* ad term of Delta V_s' */
    G22, /* -G */
    F22, /* ff1 */
    H22, /* ff2 + ff3 */
    NONE
};

static void mul(const double *A, int rows, int cols, int row0, int col0, const double *x, double *y) {
    for (int i = 0; i < rows; i++) {
        y[i] = 0;
        for (int j = 0; j < cols; j++)
            y[i] += A[(row0 + i) * DOF + col0 + j] * x[j];
    }
}

static void six(ff_twist V, double *x) {
    const double y[6] = {V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
    memcpy(x, y, sizeof y);
}

static ff_twist delta_rate(int drop, ff_pose g, ff_twist V, ff_twist V_n, ff_twist A_n) {
    const ff_twist ad = ff_twist_cross(V, ff_relative_delta(g, V_n));
    ff_twist a = ff_twist_zero();
    if (drop != D18)
        a = ff_relative_delta(g, A_n);
    if (drop != A18)
        a = ff_twist_sub(a, ad);
    return a;
}

/* (18) from the matrices, with one term left out. */
static ff_twist print18(rig *r, int drop, const ff_servicer_in *in) {
    double M[DOF * DOF], C[DOF * DOF], J[6 * DOF], v[6], x[6], y[6] = {0}, z[6];
    ff_tree_state s;
    s.base = ff_pose_identity();
    s.twist = ff_twist_add(in->V_s, ff_relative_delta(in->g_s, in->V_n));
    memcpy(s.q, in->q, sizeof s.q);
    memcpy(s.qd, in->qd, sizeof s.qd);
    ff_tree_kinematics(r->orbit, &s, r->work, ff_vec3_zero());
    ff_tree_mass_matrix(r->orbit, r->work, M);
    ff_tree_coriolis(r->orbit, r->work, C);
    ff_tree_frame_jacobian(r->orbit, r->work, &r->model.gripper, J);
    const double F_e[6] = {in->F_e.t.x, in->F_e.t.y, in->F_e.t.z, in->F_e.f.x, in->F_e.f.y, in->F_e.f.z};
    const double F_b[6] = {in->F_b.t.x, in->F_b.t.y, in->F_b.t.z, in->F_b.f.x, in->F_b.f.y, in->F_b.f.z};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++)
            y[i] += drop == E18 ? 0 : J[k * DOF + i] * F_e[k];
        y[i] += drop == B18 ? 0 : F_b[i];
    }
    six(s.twist, v);
    if (drop != C18) {
        mul(C, 6, 6, 0, 0, v, x);
        mul(C, 6, N, 0, 6, in->qd, z);
        for (int i = 0; i < 6; i++)
            y[i] -= x[i] + z[i];
    }
    if (drop != Q18) {
        mul(M, 6, N, 0, 6, in->qdd, z);
        for (int i = 0; i < 6; i++)
            y[i] -= z[i];
    }
    double M_b[36];
    for (int i = 0; i < 36; i++)
        M_b[i] = M[i / 6 * DOF + i % 6];
    assert_int_equal(ff_cholesky_factor(6, M_b), FF_OK);
    ff_cholesky_solve(6, M_b, y);
    const ff_twist a = {ff_vec3_make(y[0], y[1], y[2]), ff_vec3_make(y[3], y[4], y[5])};
    return ff_twist_sub(a, delta_rate(drop, in->g_s, in->V_s, in->V_n, in->A_n));
}

/* (22) from the matrices. */
static void print22(rig *r, int drop, const ff_servicer_in *in, double *tau) {
    double M[DOF * DOF], C[DOF * DOF], g[DOF], x[6], y[N];
    ff_tree_state s;
    memcpy(s.q, in->q, sizeof s.q);
    memcpy(s.qd, in->qd, sizeof s.qd);
    memcpy(tau, in->tau, N * sizeof *tau);
    s.base = in->g_m;
    for (int side = 0; side < 2; side++) { /* + ground, - orbit */
        s.twist = side == 0 ? in->V_m : ff_twist_add(in->V_m, ff_relative_delta(in->g_m, in->V_n));
        ff_tree_kinematics(r->orbit, &s, r->work, r->model.gravity);
        ff_tree_coriolis(r->orbit, r->work, C);
        six(s.twist, x);
        mul(C, N, 6, 6, 0, x, y);
        for (int i = 0; i < N && drop != H22; i++)
            tau[i] += side ? -y[i] : y[i];
        mul(C, N, N, 6, 6, in->qd, y);
        for (int i = 0; i < N && drop != H22; i++)
            tau[i] += side ? -y[i] : y[i];
    }
    ff_tree_gravity(r->orbit, r->work, g);
    ff_tree_mass_matrix(r->orbit, r->work, M);
    six(ff_relative_delta_rate(in->g_m, in->V_m, in->V_n, in->A_n), x);
    mul(M, N, 6, 6, 0, x, y);
    for (int i = 0; i < N; i++) {
        tau[i] += drop == G22 ? 0 : g[6 + i];
        tau[i] -= drop == F22 ? 0 : y[i];
    }
}

/* t0: when the step began. */
static void slope(rig *r, int drop, double t, double t0, const all *x, all_rate *d) {
    ff_servicer_in in = {.g_n = x->g_n,
                         .V_n = x->V_n,
                         .A_n = ff_rigid_body_acceleration(&r->client, x->V_n, ff_wrench_zero()),
                         .g_s = x->g_s,
                         .V_s = x->V_s,
                         .g_m = x->g_s,
                         .V_m = x->V_s};
    wrenches(t0, &in.F_b, &in.F_e);
    ff_wrench external[N] = {{{{0, 0, 0}}, {{0, 0, 0}}}};
    external[N - 1] = ff_wrench_transform(r->model.gripper.offset, in.F_e);

    /* orbit: (12) */
    ff_tree_state s;
    ff_tree_force force = {.base = in.F_b};
    ff_tree_acceleration a;
    s.base = x->g_b;
    s.twist = x->V_b;
    memcpy(s.q, x->q, sizeof x->q);
    memcpy(s.qd, x->qd, sizeof x->qd);
    control(t, x->q, x->qd, force.torque);
    ff_tree_kinematics(r->orbit, &s, r->work, ff_vec3_zero());
    assert_int_equal(ff_tree_forward_dynamics(r->orbit, r->work, &force, external, &a), FF_OK);
    d->qb = quat_rate(x->g_b.q, x->V_b.w);
    d->pb = ff_quat_rotate(x->g_b.q, x->V_b.v);
    d->Vb = a.base;
    memcpy(d->qd, x->qd, sizeof d->qd);
    memcpy(d->qdd, a.qdd, sizeof d->qdd);

    /* nominal: (4) */
    d->qn = quat_rate(x->g_n.q, x->V_n.w);
    d->pn = ff_quat_rotate(x->g_n.q, x->V_n.v);
    d->Vn = in.A_n;

    /* ground: (22) first, it needs no acceleration; then (18) and (20) hold together */
    memcpy(in.q, x->p, sizeof x->p);
    memcpy(in.qd, x->pd, sizeof x->pd);
    control(t, x->p, x->pd, in.tau);
    ff_tree_force torque = {.base = ff_wrench_zero()};
    if (drop == NONE)
        ff_servicer_torque(&r->model, r->work, &in, torque.torque);
    else
        print22(r, drop, &in, torque.torque);
    s.base = x->g_s;
    s.twist = x->V_s;
    memcpy(s.q, x->p, sizeof x->p);
    memcpy(s.qd, x->pd, sizeof x->pd);
    ff_tree_kinematics(r->arm, &s, r->arm_work, r->model.gravity);
    for (int i = 0; i < 12; i++) {
        a.base = drop == NONE ? ff_servicer_acceleration(&r->model, r->work, &in) : print18(r, drop, &in);
        assert_int_equal(ff_tree_forward_dynamics(r->arm, r->arm_work, &torque, external, &a), FF_OK);
        double change = 0;
        for (int j = 0; j < N; j++)
            change = fmax(change, fabs(a.qdd[j] - in.qdd[j]));
        memcpy(in.qdd, a.qdd, sizeof in.qdd);
        if (change < 1e-15)
            break;
    }
    d->qs = quat_rate(x->g_s.q, x->V_s.w);
    d->ps = ff_quat_rotate(x->g_s.q, x->V_s.v);
    d->Vs = a.base;
    memcpy(d->pd, x->pd, sizeof d->pd);
    memcpy(d->pdd, a.qdd, sizeof d->pdd);
}

static ff_quat quat_add(ff_quat q, double h, ff_quat d) {
    return (ff_quat){q.w + h * d.w, q.x + h * d.x, q.y + h * d.y, q.z + h * d.z};
}

static all shift(const all *x, double h, const all_rate *d) {
    all y;
    y.g_b = (ff_pose){quat_add(x->g_b.q, h, d->qb), ff_vec3_axpy(h, d->pb, x->g_b.p)};
    y.g_n = (ff_pose){quat_add(x->g_n.q, h, d->qn), ff_vec3_axpy(h, d->pn, x->g_n.p)};
    y.g_s = (ff_pose){quat_add(x->g_s.q, h, d->qs), ff_vec3_axpy(h, d->ps, x->g_s.p)};
    y.V_b = ff_twist_add(x->V_b, ff_twist_scale(h, d->Vb));
    y.V_n = ff_twist_add(x->V_n, ff_twist_scale(h, d->Vn));
    y.V_s = ff_twist_add(x->V_s, ff_twist_scale(h, d->Vs));
    for (int i = 0; i < N; i++) {
        y.q[i] = x->q[i] + h * d->qd[i];
        y.qd[i] = x->qd[i] + h * d->qdd[i];
        y.p[i] = x->p[i] + h * d->pd[i];
        y.pd[i] = x->pd[i] + h * d->pdd[i];
    }
    return y;
}

static void rk4(rig *r, int drop, int k, double T, all *x) {
    all_rate k1, k2, k3, k4;
    const double t = k * T;
    slope(r, drop, t, t, x, &k1);
    all y = shift(x, T / 2, &k1);
    slope(r, drop, t + T / 2, t, &y, &k2);
    y = shift(x, T / 2, &k2);
    slope(r, drop, t + T / 2, t, &y, &k3);
    y = shift(x, T, &k3);
    slope(r, drop, t + T, t, &y, &k4);
    *x = shift(x, T / 6, &k1);
    *x = shift(x, T / 3, &k2);
    *x = shift(x, T / 3, &k3);
    *x = shift(x, T / 6, &k4);
    x->g_b.q = ff_quat_unit(x->g_b.q);
    x->g_n.q = ff_quat_unit(x->g_n.q);
    x->g_s.q = ff_quat_unit(x->g_s.q);
}

/* A servicer that flies along with a client in a general tumble. */
static all start(const rig *r) {
    const double deg = FF_PI / 180;
    all x = {0};
    (void)r;
    x.g_n = (ff_pose){ff_quat_unit((ff_quat){0.9, 0.2, -0.1, 0.3}), {{1, 0.5, -0.5}}};
    x.V_n = (ff_twist){{{0.8 * deg, -0.6 * deg, -2.5 * deg}}, {{0.01, -0.02, 0.015}}};
    x.g_s = (ff_pose){ff_quat_exp(ff_vec3_make(1 * deg, -1.5 * deg, 2 * deg)), {{-5.25, 0.08, -0.05}}};
    x.V_s = (ff_twist){{{0.1 * deg, 0.2 * deg, -0.1 * deg}}, {{0.005, 0.002, -0.003}}};
    x.g_b = ff_pose_mul(x.g_n, x.g_s);
    x.V_b = ff_twist_add(x.V_s, ff_relative_delta(x.g_s, x.V_n)); /* with g_s, not g_c as printed */
    for (int i = 0; i < N; i++)
        x.q[i] = x.p[i] = rest[i];
    return x;
}

static void compare(rig *r, int drop, int cycles, double T, double *distance, double *angle, double *joint) {
    all x = start(r);
    *distance = *angle = *joint = 0;
    for (int k = 0; k < cycles; k++) {
        rk4(r, drop, k, T, &x);
        const ff_pose g = ff_pose_mul(x.g_n, x.g_s);
        *distance = fmax(*distance, ff_vec3_norm(ff_vec3_sub(g.p, x.g_b.p)));
        *angle = fmax(*angle, ff_quat_angle(g.q, x.g_b.q));
        for (int i = 0; i < N; i++)
            *joint = fmax(*joint, fabs(x.q[i] - x.p[i]));
    }
}

static void test_ground_moves_as_orbit(void **state) {
    (void)state;
    rig r;
    double distance, angle, joint;
    rig_make(&r);
    compare(&r, NONE, test_count(1500, 15000), 0.004, &distance, &angle, &joint);
    print_message("ground against orbit, %d s: %.2g m, %.2g rad, joints %.2g rad\n", test_count(6, 60),
                  distance, angle, joint);
    assert_true(distance < 1e-10);
    assert_true(angle < 1e-11);
    assert_true(joint < 1e-9);
    rig_free(&r);
}

static void test_every_term_is_needed(void **state) {
    (void)state;
    static const char *const name[] = {"(18) M_bq q''", "(18) C",       "(18) J_b^T F_e",
                                       "(18) F_b",      "(18) Ad V_n'", "(18) ad",
                                       "(22) G",        "(22) ff1",     "(22) ff2 + ff3"};
    rig r;
    rig_make(&r);
    for (int drop = 0; drop < NONE; drop++) {
        double distance, angle, joint;
        compare(&r, drop, 1100, 0.004, &distance, &angle, &joint);
        print_message("without %s: %.2g m, %.2g rad, joints %.2g rad in 4.4 s\n", name[drop], distance, angle,
                      joint);
        /* a thousand times what the identity is held to */
        assert_true(distance > 1e-7 || joint > 1e-6);
    }
    double distance, angle, joint;
    compare(&r, NONE + 1, 1000, 0.004, &distance, &angle, &joint); /* the test's own forms, complete */
    assert_true(distance < 1e-10);
    rig_free(&r);
}

/* (16) into (14) gives the acceleration of (18); random states, a robot with another base. */
static void test_impedance_moves_as_admittance(void **state) {
    (void)state;
    rig r;
    ff_rng rng;
    rig_make(&r);
    ff_rng_seed(&rng, test_seed(), 0);
    for (int n = 0; n < 100; n++) {
        ff_servicer_in in = {.g_n = test_random_pose(&rng, 2),
                             .V_n = {test_random_vec3(&rng, 0.3), test_random_vec3(&rng, 0.3)},
                             .A_n = {test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)},
                             .g_s = test_random_pose(&rng, 3),
                             .V_s = {test_random_vec3(&rng, 0.5), test_random_vec3(&rng, 0.5)},
                             .F_b = {test_random_vec3(&rng, 50), test_random_vec3(&rng, 50)},
                             .F_e = {test_random_vec3(&rng, 20), test_random_vec3(&rng, 80)}};
        for (int i = 0; i < N; i++) {
            in.q[i] = ff_rng_range(&rng, -2, 2);
            in.qd[i] = ff_rng_range(&rng, -1, 1);
            in.qdd[i] = ff_rng_range(&rng, -3, 3);
        }
        const ff_twist wish = ff_servicer_acceleration(&r.model, r.work, &in);
        const ff_twist printed = print18(&r, NONE, &in);
        assert_vec3_near(wish.w, printed.w, 1e-12);
        assert_vec3_near(wish.v, printed.v, 1e-12);
        const ff_wrench F_s = ff_servicer_robot_wrench(&r.model, r.robot, r.work, r.robot_work, &in);
        /* (14) with Coriolis and Jacobian as matrices: what base wrench gives (V_s', q'')? */
        double M[DOF * DOF], C[DOF * DOF], J[6 * DOF], a[6], v[6], y1[6], y2[6], y3[6], y4[6];
        ff_tree_state s;
        s.base = ff_pose_identity();
        s.twist = in.V_s;
        memcpy(s.q, in.q, sizeof s.q);
        memcpy(s.qd, in.qd, sizeof s.qd);
        ff_tree_kinematics(r.robot, &s, r.robot_work, ff_vec3_zero());
        ff_tree_mass_matrix(r.robot, r.robot_work, M);
        ff_tree_coriolis(r.robot, r.robot_work, C);
        ff_tree_frame_jacobian(r.robot, r.robot_work, &r.model.gripper, J);
        six(wish, a);
        six(in.V_s, v);
        mul(M, 6, 6, 0, 0, a, y1);
        mul(M, 6, N, 0, 6, in.qdd, y2);
        mul(C, 6, 6, 0, 0, v, y3);
        mul(C, 6, N, 0, 6, in.qd, y4);
        const double F_e[6] = {in.F_e.t.x, in.F_e.t.y, in.F_e.t.z, in.F_e.f.x, in.F_e.f.y, in.F_e.f.z};
        const double F[6] = {F_s.t.x, F_s.t.y, F_s.t.z, F_s.f.x, F_s.f.y, F_s.f.z};
        for (int i = 0; i < 6; i++) {
            double contact = 0;
            for (int k = 0; k < 6; k++)
                contact += J[k * DOF + i] * F_e[k];
            assert_near(y1[i] + y2[i] + y3[i] + y4[i], F[i] + contact, 1e-8);
        }
    }
    rig_free(&r);
}

/* The measured state feeds (22) and (23), the commanded one (18): change one, only its equations change. */
static void test_each_state_feeds_its_equations(void **state) {
    (void)state;
    rig r;
    rig_make(&r);
    const all x = start(&r);
    ff_servicer_in in = {.g_n = x.g_n, .V_n = x.V_n, .g_s = x.g_s, .V_s = x.V_s, .g_m = x.g_s, .V_m = x.V_s};
    memcpy(in.q, x.q, sizeof x.q);
    double before[N], after[N];
    ff_tree_state orbit, moved;
    const ff_twist a = ff_servicer_acceleration(&r.model, r.work, &in);
    ff_servicer_torque(&r.model, r.work, &in, before);
    ff_servicer_map(&r.model, &in, &orbit);
    assert_vec3_near(orbit.base.p, x.g_b.p, 1e-14);
    assert_vec3_near(orbit.twist.v, x.V_b.v, 1e-14);
    ff_servicer_in other = in;
    other.g_s.p.y += 0.1;
    other.V_s.w.z += 0.1;
    ff_servicer_torque(&r.model, r.work, &other, after);
    ff_servicer_map(&r.model, &other, &moved);
    assert_memory_equal(before, after, sizeof before);
    assert_memory_equal(&orbit.base, &moved.base, sizeof orbit.base);
    assert_true(ff_vec3_norm(ff_vec3_sub(ff_servicer_acceleration(&r.model, r.work, &other).v, a.v)) > 1e-4);
    other = in;
    other.g_m.q = ff_quat_mul(in.g_m.q, ff_quat_exp(ff_vec3_make(0.1, 0, 0)));
    const ff_twist same = ff_servicer_acceleration(&r.model, r.work, &other);
    assert_memory_equal(&same, &a, sizeof a);
    ff_servicer_torque(&r.model, r.work, &other, after);
    ff_servicer_map(&r.model, &other, &moved);
    double change = 0;
    for (int i = 0; i < N; i++)
        change = fmax(change, fabs(after[i] - before[i]));
    assert_true(change > 0.1); /* gravity turns with the base */
    assert_true(ff_quat_angle(moved.base.q, orbit.base.q) > 0.09);
    rig_free(&r);
}

/* Discrete time: the momentum form follows the orbit's base from its joints, sampled, and keeps the momentum
 * to rounding. */
static void sampled(double T, bool held, double *distance_out, double *angle_out) {
    rig r;
    rig_make(&r);
    const double seconds = test_count(6, 60);
    const int cycles = (int)lround(seconds / T);
    all x = start(&r);
    ff_body body;
    ff_body_work *work;
    ff_body_state base;
    const ff_integrate_config scheme = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = T};
    assert_int_equal(ff_body_tree(r.orbit, 1, &r.model.gripper, &body), FF_OK);
    void *memory = malloc(ff_body_work_memsize(&body));
    assert_int_equal(ff_body_work_create(&body, memory, ff_body_work_memsize(&body), &work), FF_OK);
    const ff_rigid_state motion = ff_rigid_from_twist(x.g_b, x.V_b);
    ff_body_reset(&body, work, &motion, x.q, x.qd, &base);
    double distance = 0, angle = 0, speed = 0;
    for (int k = 0; k < cycles; k++) {
        ff_wrench F_b, F_e;
        ff_body_view view;
        ff_integrate_state output;
        ff_integrate_out out;
        wrenches(k * T, &F_b, &F_e);
        assert_int_equal(ff_body_measure(&body, work, T, x.q, x.qd, &base, &view), FF_OK);
        speed = fmax(speed, ff_vec3_norm(ff_vec3_sub(ff_rigid_twist(&base.motion).v, x.V_b.v)));
        const ff_vec3 linear = base.linear, origin = base.origin;
        const ff_wrench part = ff_wrench_scale(held ? 0.5 : 1.0, F_e);
        const ff_body_in in = {
            .contact = ff_rigid_load_from_body(base.motion.attitude, ff_wrench_transform(view.port[0], part)),
            .thrust = F_b};
        ff_body_step(&body, &scheme, work, &in, &base, &output, &out);
        if (held) {
            const ff_pose port = ff_body_port_ahead(&body, work, 0, T, &base);
            ff_body_finish(&body, &scheme, work,
                           ff_rigid_load_from_body(base.motion.attitude, ff_wrench_transform(port, part)),
                           &base, &output, &out);
        }
        assert_memory_equal(&output.velocity_c, &base.motion.velocity, sizeof output.velocity_c);
        if (ff_vec3_norm(F_b.f) == 0 && ff_vec3_norm(F_e.f) == 0) {
            assert_memory_equal(&linear, &base.linear, sizeof linear);
            assert_memory_equal(&origin, &base.origin, sizeof origin);
        }
        rk4(&r, NONE + 1, k, T, &x);
        distance = fmax(distance, ff_vec3_norm(ff_vec3_sub(base.motion.position, x.g_b.p)));
        angle = fmax(angle, ff_quat_angle(base.motion.attitude, x.g_b.q));
    }
    free(memory);
    print_message("sampled base against orbit, %g s at %g ms%s: %.2g m, %.2g rad, %.2g m/s\n", seconds,
                  1e3 * T,
                  without_contact ? ""
                  : held          ? ", contact wrench held"
                                  : ", contact as an impulse",
                  distance, angle, speed);
    *distance_out = distance;
    *angle_out = angle;
    rig_free(&r);
}

/* The arm swings at 1 m/s, also while a contact pushes at its gripper. */
static void test_sampled_base_follows_orbit(void **state) {
    (void)state;
    double distance, angle;
    without_contact = true;
    sampled(0.004, true, &distance, &angle);
    without_contact = false;
    /* the midpoint rule's error grows with time: 6 s, or 60 s in the long form */
    assert_true(distance < test_count(1, 10) * 1e-5);
    assert_true(angle < test_count(1, 10) * 1e-5);
    sampled(0.004, true, &distance, &angle);
    assert_true(distance < 5e-4);
    assert_true(angle < 1e-4);
}

/* Half the cycle, a quarter of the error when the contact wrench is held; half of it as an impulse at t_k,
 * because the gripper swings on while it stays where it was. */
static void test_sampled_base_converges(void **state) {
    (void)state;
    double error[2][3], distance;
    for (int i = 0; i < 3; i++)
        for (int held = 0; held < 2; held++)
            sampled(0.008 / (1 << i), held, &distance, &error[held][i]);
    for (int i = 0; i < 2; i++) {
        print_message("order %.2f held, %.2f as an impulse\n", log2(error[1][i] / error[1][i + 1]),
                      log2(error[0][i] / error[0][i + 1]));
        assert_true(error[1][i] > 3.5 * error[1][i + 1]);
        assert_true(error[0][i] < 2.5 * error[0][i + 1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ground_moves_as_orbit),
        cmocka_unit_test(test_every_term_is_needed),
        cmocka_unit_test(test_impedance_moves_as_admittance),
        cmocka_unit_test(test_each_state_feeds_its_equations),
        cmocka_unit_test(test_sampled_base_follows_orbit),
        cmocka_unit_test(test_sampled_base_converges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
