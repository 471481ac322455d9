/* Random trees against brute force: poses and velocities link by link, energies and momentum as sums, the
 * mass matrix from the energy, forces by Kane's method with accelerations from differences of the velocities.
 * Revolute, prismatic and fixed joints about any axis, branches, rotors, free and fixed base, gravity,
 * external wrenches. */
#include "support.h"

#include "freefloat/dynamics.h"

enum { ROWS = 14, DOF = 6 + ROWS };

static max_align_t model_memory[4096], work_memory[8192];

typedef struct plant {
    ff_tree_config config;
    ff_tree_link_config link[ROWS];
    int joint[ROWS]; /* number of the row's joint, -1 for fixed */
    int joints, dof;
    ff_vec3 gravity;
    ff_tree_model *model;
    ff_tree_work *work;
} plant;

/* Motion of one link: pose in space, velocities in inertial axes. */
typedef struct motion {
    ff_pose T;
    ff_vec3 w, v;
} motion;

static void random_inertia(ff_rng *rng, double mass, double *j) {
    const double a = mass * ff_rng_range(rng, 0.02, 0.03), b = mass * ff_rng_range(rng, 0.02, 0.03),
                 c = mass * ff_rng_range(rng, 0.02, 0.03);
    const ff_mat3 R = ff_quat_to_mat3(test_random_quat(rng));
    const ff_mat3 I = ff_mat3_mul(R, ff_mat3_mul(ff_mat3_diag(a, b, c), ff_mat3_transpose(R)));
    const double six[6] = {I.m[0][0], I.m[1][1], I.m[2][2], I.m[0][1], I.m[0][2], I.m[1][2]};
    memcpy(j, six, sizeof six);
}

static ff_mat3 matrix_of(const double *j) {
    return (ff_mat3){{{j[0], j[3], j[4]}, {j[3], j[1], j[5]}, {j[4], j[5], j[2]}}};
}

static void make(plant *p, ff_rng *rng, int rows, bool fixed_base) {
    ff_tree_config_default(&p->config);
    p->config.fixed_base = fixed_base;
    p->config.base_mass = ff_rng_range(rng, 20, 60);
    p->config.base_com = test_random_vec3(rng, 0.2);
    random_inertia(rng, p->config.base_mass, p->config.base_inertia);
    p->config.links = (size_t)rows;
    p->config.link = p->link;
    p->joints = 0;
    for (int i = 0; i < rows; i++) {
        ff_tree_link_config *k = &p->link[i];
        ff_tree_link_default(k);
        const double kind = ff_rng_uniform(rng), side = ff_rng_uniform(rng);
        k->joint = kind < 0.5 ? FF_JOINT_REVOLUTE : kind < 0.8 ? FF_JOINT_PRISMATIC : FF_JOINT_FIXED;
        k->parent = (int)floor(ff_rng_range(rng, -1.0, (double)i));
        k->axis = side < 0.2 ? ff_vec3_make(0, 0, side < 0.1 ? 2 : -3) : test_random_vec3(rng, 2);
        k->pose = test_random_pose(rng, 0.5);
        k->mass = ff_rng_range(rng, 1, 5);
        k->com = test_random_vec3(rng, 0.2);
        random_inertia(rng, k->mass, k->inertia);
        k->rotor_inertia = k->joint == FF_JOINT_FIXED || kind < 0.25 ? 0.0 : ff_rng_range(rng, 0, 1);
        p->joint[i] = k->joint == FF_JOINT_FIXED ? -1 : p->joints++;
    }
    p->dof = p->joints + (fixed_base ? 0 : 6);
    p->gravity = test_random_vec3(rng, 9.81);
    char message[200] = "";
    if (ff_tree_create(&p->config, model_memory, sizeof model_memory, &p->model, message, sizeof message) !=
        FF_OK)
        fail_msg("%s", message);
    assert_int_equal(ff_tree_work_create(p->model, work_memory, sizeof work_memory, &p->work), FF_OK);
    assert_int_equal(ff_tree_joints(p->model), p->joints);
    assert_int_equal(ff_tree_dof(p->model), p->dof);
}

static ff_tree_state random_state(ff_rng *rng) {
    ff_tree_state x;
    ff_tree_state_default(&x);
    x.base = test_random_pose(rng, 1);
    x.twist = (ff_twist){test_random_vec3(rng, 1), test_random_vec3(rng, 1)};
    for (int i = 0; i < ROWS; i++) {
        x.q[i] = ff_rng_range(rng, -2, 2);
        x.qd[i] = ff_rng_range(rng, -1, 1);
    }
    return x;
}

/* ------------------------------------------------------------------------------------- brute force -- */

static motion base_motion(const ff_tree_state *x) {
    return (motion){x->base, ff_quat_rotate(x->base.q, x->twist.w), ff_quat_rotate(x->base.q, x->twist.v)};
}

static void chain(const plant *p, const ff_tree_state *x, motion *link) {
    for (size_t i = 0; i < p->config.links; i++) {
        const ff_tree_link_config *k = &p->link[i];
        const motion up = k->parent < 0 ? base_motion(x) : link[k->parent];
        const ff_vec3 u = ff_vec3_unit(k->axis);
        const double q = p->joint[i] < 0 ? 0 : x->q[p->joint[i]],
                     qd = p->joint[i] < 0 ? 0 : x->qd[p->joint[i]];
        ff_pose move = ff_pose_identity();
        if (k->joint == FF_JOINT_REVOLUTE)
            move.q = ff_quat_exp_large(ff_vec3_scale(q, u));
        else if (k->joint == FF_JOINT_PRISMATIC)
            move.p = ff_vec3_scale(q, u);
        motion *m = &link[i];
        m->T = ff_pose_mul(up.T, ff_pose_mul(k->pose, move));
        const ff_vec3 axis = ff_quat_rotate(m->T.q, u);
        m->w = ff_vec3_axpy(k->joint == FF_JOINT_REVOLUTE ? qd : 0.0, axis, up.w);
        m->v = ff_vec3_add(up.v, ff_vec3_cross(up.w, ff_vec3_sub(m->T.p, up.T.p)));
        m->v = ff_vec3_axpy(k->joint == FF_JOINT_PRISMATIC ? qd : 0.0, axis, m->v);
    }
}

/* CoM, its velocity, spin about it, all inertial, of row i or of the base. */
typedef struct lump {
    double mass;
    ff_vec3 com, v, w, spin;
} lump;

static lump lump_of(const plant *p, const ff_tree_state *x, const motion *link, int i) {
    const motion m = i < 0 ? base_motion(x) : link[i];
    const ff_vec3 c = ff_quat_rotate(m.T.q, i < 0 ? p->config.base_com : p->link[i].com);
    const ff_mat3 I = matrix_of(i < 0 ? p->config.base_inertia : p->link[i].inertia);
    return (lump){i < 0 ? p->config.base_mass : p->link[i].mass, ff_vec3_add(m.T.p, c),
                  ff_vec3_add(m.v, ff_vec3_cross(m.w, c)), m.w,
                  ff_quat_rotate(m.T.q, ff_mat3_apply(&I, ff_quat_unrotate(m.T.q, m.w)))};
}

static int first_lump(const plant *p) {
    return p->config.fixed_base ? 0 : -1; /* a fixed base has no mass of its own */
}

static double energy_of(const plant *p, const ff_tree_state *x) {
    motion link[ROWS];
    chain(p, x, link);
    double E = 0.0;
    for (int i = first_lump(p); i < (int)p->config.links; i++) {
        const lump b = lump_of(p, x, link, i);
        E += 0.5 * b.mass * ff_vec3_dot(b.v, b.v) + 0.5 * ff_vec3_dot(b.w, b.spin);
        if (i >= 0 && p->joint[i] >= 0)
            E += 0.5 * p->link[i].rotor_inertia * x->qd[p->joint[i]] * x->qd[p->joint[i]];
    }
    return E;
}

static double *rate_of(const plant *p, ff_tree_state *x, int i) {
    const int j = p->config.fixed_base ? i + 6 : i;
    return j < 3 ? &x->twist.w.a[j] : j < 6 ? &x->twist.v.a[j - 3] : &x->qd[j - 6];
}

/* The state with the rates of unit i only (base at rest otherwise). */
static ff_tree_state unit_rate(const plant *p, const ff_tree_state *x, int i) {
    ff_tree_state y = *x;
    y.twist = ff_twist_zero();
    memset(y.qd, 0, sizeof y.qd);
    *rate_of(p, &y, i) = 1.0;
    return y;
}

static ff_tree_state moved(const plant *p, const ff_tree_state *x, const ff_tree_acceleration *a, double h) {
    ff_tree_state y = *x;
    const ff_twist step = ff_twist_add(ff_twist_scale(h, x->twist), ff_twist_scale(0.5 * h * h, a->base));
    y.base = ff_pose_mul(x->base, ff_pose_exp(step));
    y.twist = ff_twist_add(x->twist, ff_twist_scale(h, a->base));
    for (int i = 0; i < p->joints; i++) {
        y.q[i] = x->q[i] + h * x->qd[i] + 0.5 * h * h * a->qdd[i];
        y.qd[i] = x->qd[i] + h * a->qdd[i];
    }
    return y;
}

/* Kane: sum over links of (m a - m g).dv/du + (dL/dt).dw/du, less what external wrenches do, plus rotors. */
static void kane(const plant *p, const ff_tree_state *x, const ff_tree_acceleration *a,
                 const ff_wrench *external, double *force) {
    const double h = 1e-4;
    const ff_tree_state later = moved(p, x, a, h), sooner = moved(p, x, a, -h);
    motion now[ROWS], next[ROWS], last[ROWS], unit[ROWS];
    chain(p, x, now);
    chain(p, &later, next);
    chain(p, &sooner, last);
    for (int u = 0; u < p->dof; u++) {
        const ff_tree_state y = unit_rate(p, x, u);
        chain(p, &y, unit);
        force[u] = 0.0;
        for (int i = first_lump(p); i < (int)p->config.links; i++) {
            const lump b1 = lump_of(p, &later, next, i), b0 = lump_of(p, &sooner, last, i),
                       du = lump_of(p, &y, unit, i);
            const ff_vec3 acc = ff_vec3_scale(0.5 / h, ff_vec3_sub(b1.v, b0.v));
            const ff_vec3 dL = ff_vec3_scale(0.5 / h, ff_vec3_sub(b1.spin, b0.spin));
            force[u] += b1.mass * ff_vec3_dot(ff_vec3_sub(acc, p->gravity), du.v) + ff_vec3_dot(dL, du.w);
            if (i >= 0 && external)
                force[u] -= ff_vec3_dot(ff_quat_rotate(now[i].T.q, external[i].f), unit[i].v) +
                            ff_vec3_dot(ff_quat_rotate(now[i].T.q, external[i].t), unit[i].w);
        }
        if (p->config.fixed_base || u >= 6) {
            const int j = p->config.fixed_base ? u : u - 6;
            for (size_t i = 0; i < p->config.links; i++)
                if (p->joint[i] == j)
                    force[u] += p->link[i].rotor_inertia * a->qdd[j];
        }
    }
}

/* -------------------------------------------------------------------------------------------- cases -- */

static void each(void (*check)(plant *p, ff_rng *rng, const ff_tree_state *x)) {
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 11);
    for (int n = 0; n < 60; n++) {
        plant p;
        make(&p, &rng, 1 + n % ROWS, n % 3 == 0);
        ff_tree_state x = random_state(&rng);
        if (n % 6 == 0)
            x.twist = ff_twist_zero();
        ff_tree_kinematics(p.model, &x, p.work, p.gravity);
        check(&p, &rng, &x);
    }
}

static void check_frames(plant *p, ff_rng *rng, const ff_tree_state *x) {
    motion link[ROWS];
    chain(p, x, link);
    double mass = p->config.fixed_base ? 0.0 : p->config.base_mass;
    for (int i = -1; i < (int)p->config.links; i++) {
        const ff_tree_frame frame = {i, test_random_pose(rng, 0.4)};
        const motion m = i < 0 ? base_motion(x) : link[i];
        const ff_pose T = ff_pose_mul(m.T, frame.offset), got = ff_tree_frame_pose(p->model, p->work, &frame);
        assert_vec3_near(got.p, T.p, 1e-13);
        assert_near(ff_quat_angle(got.q, T.q), 0.0, 1e-13);
        const ff_pose b = ff_tree_frame_in_base(p->model, p->work, &frame), again = ff_pose_mul(x->base, b);
        assert_vec3_near(again.p, T.p, 1e-13);
        assert_near(ff_quat_angle(again.q, T.q), 0.0, 1e-13);
        const ff_vec3 v = ff_vec3_add(m.v, ff_vec3_cross(m.w, ff_vec3_sub(T.p, m.T.p)));
        const ff_twist V = ff_tree_frame_twist(p->model, p->work, &frame);
        assert_vec3_near(ff_quat_rotate(T.q, V.w), m.w, 1e-12);
        assert_vec3_near(ff_quat_rotate(T.q, V.v), v, 1e-12);
        assert_vec3_near(ff_tree_point_velocity(p->model, p->work, &frame), v, 1e-12);
        /* columns: the twist of each unit rate */
        double J[6 * DOF], P[3 * DOF];
        ff_tree_frame_jacobian(p->model, p->work, &frame, J);
        ff_tree_point_jacobian(p->model, p->work, &frame, P);
        for (int u = 0; u < p->dof; u++) {
            const ff_tree_state y = unit_rate(p, x, u);
            motion unit[ROWS];
            chain(p, &y, unit);
            const motion k = i < 0 ? base_motion(&y) : unit[i];
            const ff_vec3 kv = ff_vec3_add(k.v, ff_vec3_cross(k.w, ff_vec3_sub(T.p, k.T.p)));
            const ff_vec3 jw = {{J[u], J[p->dof + u], J[2 * p->dof + u]}},
                          jv = {{J[3 * p->dof + u], J[4 * p->dof + u], J[5 * p->dof + u]}},
                          pv = {{P[u], P[p->dof + u], P[2 * p->dof + u]}};
            assert_vec3_near(ff_quat_rotate(T.q, jw), k.w, 1e-13);
            assert_vec3_near(ff_quat_rotate(T.q, jv), kv, 1e-13);
            assert_vec3_near(pv, kv, 1e-13);
        }
        if (i >= 0)
            mass += p->link[i].mass;
    }
    assert_near(ff_tree_mass(p->model), mass, 1e-12);
}

static void check_sums(plant *p, ff_rng *rng, const ff_tree_state *x) {
    (void)rng;
    motion link[ROWS];
    chain(p, x, link);
    double U = 0.0, M = 0.0;
    ff_vec3 P = ff_vec3_zero(), L = P, first = P;
    for (int i = first_lump(p); i < (int)p->config.links; i++) {
        const lump b = lump_of(p, x, link, i);
        U -= b.mass * ff_vec3_dot(p->gravity, b.com);
        M += b.mass;
        P = ff_vec3_axpy(b.mass, b.v, P);
        first = ff_vec3_axpy(b.mass, b.com, first);
        L = ff_vec3_add(L, ff_vec3_add(b.spin, ff_vec3_scale(b.mass, ff_vec3_cross(b.com, b.v))));
    }
    const double E = energy_of(p, x);
    assert_near(ff_tree_kinetic_energy(p->model, p->work), E, 1e-12 * (1 + E));
    assert_near(ff_tree_potential_energy(p->model, p->work), U, 1e-10);
    const ff_tree_momentum m = ff_tree_total_momentum(p->model, p->work);
    const ff_vec3 com = ff_vec3_scale(1.0 / M, first);
    assert_near(m.mass, M, 1e-12);
    assert_vec3_near(m.com, com, 1e-12);
    assert_vec3_near(m.linear, P, 1e-10);
    assert_vec3_near(m.origin, L, 1e-10);
    assert_vec3_near(m.spin, ff_vec3_sub(L, ff_vec3_cross(com, P)), 1e-10);
}

static void check_mass_matrix(plant *p, ff_rng *rng, const ff_tree_state *x) {
    (void)rng;
    double M[DOF * DOF];
    ff_tree_mass_matrix(p->model, p->work, M);
    for (int r = 0; r < p->dof; r++)
        for (int c = 0; c < p->dof; c++) {
            ff_tree_state a = unit_rate(p, x, r), b = unit_rate(p, x, c), both = a;
            *rate_of(p, &both, c) += 1.0;
            const double expect = energy_of(p, &both) - energy_of(p, &a) - energy_of(p, &b);
            assert_near(M[r * p->dof + c], expect, 1e-10);
        }
}

static void check_forces(plant *p, ff_rng *rng, const ff_tree_state *x) {
    ff_tree_acceleration a = {.base = {test_random_vec3(rng, 1), test_random_vec3(rng, 1)}};
    ff_wrench external[ROWS];
    for (int i = 0; i < ROWS; i++) {
        a.qdd[i] = ff_rng_range(rng, -1, 1);
        external[i] = (ff_wrench){test_random_vec3(rng, 3), test_random_vec3(rng, 3)};
    }
    for (int pass = 0; pass < 2; pass++) {
        const ff_wrench *given = pass ? external : NULL;
        double expect[DOF];
        kane(p, x, &a, given, expect);
        ff_tree_force force;
        ff_tree_inverse_dynamics(p->model, p->work, &a, given, &force);
        for (int u = 0; u < p->dof; u++) {
            const int j = p->config.fixed_base ? u + 6 : u;
            const double got = j < 3   ? force.base.t.a[j]
                               : j < 6 ? force.base.f.a[j - 3]
                                       : force.torque[j - 6];
            assert_near(got, expect[u], 2e-5 * (1.0 + fabs(expect[u]))); /* differences over 0.1 ms */
        }
        /* and back */
        ff_tree_acceleration b = {.base = p->config.fixed_base ? a.base : ff_twist_zero()};
        assert_int_equal(ff_tree_forward_dynamics(p->model, p->work, &force, given, &b), FF_OK);
        assert_vec3_near(b.base.w, a.base.w, 1e-10);
        assert_vec3_near(b.base.v, a.base.v, 1e-10);
        for (int i = 0; i < p->joints; i++)
            assert_near(b.qdd[i], a.qdd[i], 1e-9);
    }
}

/* bias = C v + g = the force without acceleration; g alone holds the tree at rest; C + C^T = M'. */
static void check_bias(plant *p, ff_rng *rng, const ff_tree_state *x) {
    (void)rng;
    static const ff_tree_acceleration still;
    double bias[DOF], g[DOF], C[DOF * DOF], expect[DOF];
    ff_tree_bias(p->model, p->work, bias);
    ff_tree_gravity(p->model, p->work, g);
    ff_tree_coriolis(p->model, p->work, C);
    kane(p, x, &still, NULL, expect);
    for (int u = 0; u < p->dof; u++)
        assert_near(bias[u], expect[u], 2e-5 * (1.0 + fabs(expect[u])));
    ff_tree_state rest = *x;
    rest.twist = ff_twist_zero();
    memset(rest.qd, 0, sizeof rest.qd);
    kane(p, &rest, &still, NULL, expect);
    for (int u = 0; u < p->dof; u++)
        assert_near(g[u], expect[u], 1e-9 * (1.0 + fabs(expect[u])));
    if (p->config.fixed_base && ff_vec3_norm(x->twist.w) + ff_vec3_norm(x->twist.v) > 0.0)
        return; /* the moving base's own part is not in C */
    for (int r = 0; r < p->dof; r++) {
        double sum = g[r];
        for (int c = 0; c < p->dof; c++)
            sum += C[r * p->dof + c] * *rate_of(p, (ff_tree_state *)x, c);
        assert_near(sum, bias[r], 1e-10 * (1.0 + fabs(bias[r])));
    }
    const double h = 1e-4;
    double M1[DOF * DOF], M0[DOF * DOF];
    const ff_tree_state later = moved(p, x, &still, h), sooner = moved(p, x, &still, -h);
    ff_tree_positions(p->model, &later, p->work, p->gravity);
    ff_tree_mass_matrix(p->model, p->work, M1);
    ff_tree_positions(p->model, &sooner, p->work, p->gravity);
    ff_tree_mass_matrix(p->model, p->work, M0);
    for (int r = 0; r < p->dof; r++)
        for (int c = 0; c < p->dof; c++)
            assert_near(C[r * p->dof + c] + C[c * p->dof + r],
                        (M1[r * p->dof + c] - M0[r * p->dof + c]) / (2 * h), 1e-4);
}

/* J' v from differences of the frame's twist and of the point's velocity without acceleration. */
static void check_frame_bias(plant *p, ff_rng *rng, const ff_tree_state *x) {
    if (p->config.fixed_base && ff_vec3_norm(x->twist.w) > 0.0)
        return;
    static const ff_tree_acceleration still;
    const double h = 1e-4;
    const ff_tree_state later = moved(p, x, &still, h), sooner = moved(p, x, &still, -h);
    for (int i = -1; i < (int)p->config.links; i++) {
        const ff_tree_frame frame = {i, test_random_pose(rng, 0.4)};
        ff_tree_kinematics(p->model, x, p->work, p->gravity);
        const ff_twist bias = ff_tree_frame_bias(p->model, p->work, &frame);
        const ff_vec3 point = ff_tree_point_bias(p->model, p->work, &frame);
        ff_tree_kinematics(p->model, &later, p->work, p->gravity);
        const ff_twist V1 = ff_tree_frame_twist(p->model, p->work, &frame);
        const ff_vec3 v1 = ff_tree_point_velocity(p->model, p->work, &frame);
        ff_tree_kinematics(p->model, &sooner, p->work, p->gravity);
        const ff_twist V0 = ff_tree_frame_twist(p->model, p->work, &frame);
        const ff_vec3 v0 = ff_tree_point_velocity(p->model, p->work, &frame);
        assert_vec3_near(bias.w, ff_vec3_scale(0.5 / h, ff_vec3_sub(V1.w, V0.w)), 1e-5);
        assert_vec3_near(bias.v, ff_vec3_scale(0.5 / h, ff_vec3_sub(V1.v, V0.v)), 1e-5);
        assert_vec3_near(point, ff_vec3_scale(0.5 / h, ff_vec3_sub(v1, v0)), 1e-5);
    }
}

#define CASE(name)                           \
    static void test_##name(void **unused) { \
        (void)unused;                        \
        each(check_##name);                  \
    }
CASE(frames)
CASE(sums)
CASE(mass_matrix)
CASE(forces)
CASE(bias)
CASE(frame_bias)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames), cmocka_unit_test(test_sums), cmocka_unit_test(test_mass_matrix),
        cmocka_unit_test(test_forces), cmocka_unit_test(test_bias), cmocka_unit_test(test_frame_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
