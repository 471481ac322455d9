/* [aghili, Eqs. (7)-(25), Appendices A-C], each on random mechanisms: an equation with a wrong sign fails
 * here. */
#include "support.h"

#include "freefloat/emulation.h"

/* ------------------------------------------------------------------------------- a mechanism of random
 * numbers -- */

/* Full mass matrix (M_s12 is not zero), constant Jacobian rate: (19) and (24) need that term. */
typedef struct random_mechanism {
    size_t m, n;
    double M[400], h[20], J[120], Jv[6], x0[6];
} random_mechanism;

static void random_terms(const ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                         ff_mechanism_terms *out) {
    const random_mechanism *r = self->model;
    (void)v;
    if (part & FF_TERMS_POSITION) {
        memcpy(out->M, r->M, sizeof *r->M * r->m * r->m);
        memcpy(out->J, r->J, sizeof *r->J * r->n * r->m);
        for (size_t i = 0; i < r->n; i++) {
            out->pose.x[i] = r->x0[i];
            for (size_t j = 0; j < r->m; j++)
                out->pose.x[i] += r->J[i * r->m + j] * q[j];
        }
    }
    if (part & FF_TERMS_VELOCITY) {
        memcpy(out->h, r->h, sizeof *r->h * r->m);
        memcpy(out->Jv, r->Jv, sizeof *r->Jv * r->n);
    }
}

static ff_mechanism make_random(random_mechanism *r, ff_rng *rng, size_t m, size_t n) {
    double G[400];
    r->m = m;
    r->n = n;
    for (size_t i = 0; i < m * m; i++)
        G[i] = ff_rng_range(rng, -1, 1);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            r->M[i * m + j] = i == j ? 0.5 : 0.0;
            for (size_t k = 0; k < m; k++)
                r->M[i * m + j] += G[i * m + k] * G[j * m + k] / (double)m;
        }
    for (size_t i = 0; i < m; i++)
        r->h[i] = ff_rng_range(rng, -2, 2);
    for (size_t i = 0; i < n * m; i++)
        r->J[i] = ff_rng_range(rng, -1, 1);
    if (m == n) /* keep square ones regular */
        for (size_t i = 0; i < n; i++)
            r->J[i * m + i] += 2.5;
    for (size_t i = 0; i < n; i++) {
        r->Jv[i] = ff_rng_range(rng, -1, 1);
        r->x0[i] = 0.0;
    }
    return (ff_mechanism){.dof = m, .positions = m, .task = n, .model = r, .terms = random_terms};
}

static void fill(ff_rng *rng, double *x, size_t n, double size) {
    for (size_t i = 0; i < n; i++)
        x[i] = ff_rng_range(rng, -size, size);
}

/* x = A^-1 b, small and slow. */
static void solve(size_t n, const double *A, double *b) {
    double copy[400];
    size_t pivots[20];
    memcpy(copy, A, sizeof *A * n * n);
    assert_int_equal(ff_lu_factor(n, copy, pivots), FF_OK);
    ff_lu_solve(n, copy, pivots, b);
}

/* p'' of a random robot by (8). */
static void robot_motion(const random_mechanism *r, const double *torque, const double *f, double *p_dd) {
    double a[6];
    for (size_t j = 0; j < r->n; j++) {
        a[j] = torque[j] - r->h[j];
        for (size_t i = 0; i < r->n; i++)
            a[j] += r->J[i * r->n + j] * f[i];
    }
    solve(r->n, r->M, a);
    for (size_t i = 0; i < r->n; i++) {
        p_dd[i] = r->Jv[i];
        for (size_t j = 0; j < r->n; j++)
            p_dd[i] += r->J[i * r->n + j] * a[j];
    }
}

/* M_s = (J M^-1 J^T)^-1 applied to x, from scratch. */
static void cartesian(const random_mechanism *s, double *x) {
    double G[36];
    for (size_t i = 0; i < s->n; i++) {
        double column[20];
        for (size_t j = 0; j < s->m; j++)
            column[j] = s->J[i * s->m + j];
        solve(s->m, s->M, column);
        for (size_t k = 0; k < s->n; k++) {
            G[k * s->n + i] = 0;
            for (size_t j = 0; j < s->m; j++)
                G[k * s->n + i] += s->J[k * s->m + j] * column[j];
        }
    }
    solve(s->n, G, x);
}

typedef struct bed {
    random_mechanism s, r;
    ff_emulation_config config;
    ff_emulation_model model;
    ff_emulation_state state;
    ff_emulation_work work;
    ff_emulation_out out;
    double q_r[6], v_r[6], f[6], force[20], acceleration[6], p_dot[6];
    ff_emulation_in in;
    size_t n, m;
} bed;

static void make_bed(bed *b, ff_rng *rng, size_t m, size_t n, ff_emulation_scheme scheme) {
    memset(b, 0, sizeof *b);
    b->n = n;
    b->m = m;
    const ff_mechanism target = make_random(&b->s, rng, m, n), robot = make_random(&b->r, rng, n, n);
    ff_emulation_default(&b->config);
    b->config.scheme = scheme;
    b->config.velocity_gain = 7;
    b->config.position_gain = 30;
    assert_int_equal(ff_emulation_create(&b->config, &target, &robot, &b->model, NULL, 0), FF_OK);
    fill(rng, b->q_r, n, 0.5);
    fill(rng, b->v_r, n, 0.5);
    fill(rng, b->f, n, 5);
    fill(rng, b->force, m, 5);
    fill(rng, b->acceleration, n, 5);
    fill(rng, b->state.q, m, 0.5);
    fill(rng, b->state.v, m, 0.5);
    fill(rng, b->state.reference.x, n, 0.5);
    fill(rng, b->state.reference_v, n, 0.5);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            b->p_dot[i] += b->r.J[i * n + j] * b->v_r[j];
    b->in = (ff_emulation_in){b->q_r, b->v_r, b->f, b->force, NULL};
}

static const size_t sizes[][2] = {{1, 1}, {2, 1}, {4, 2}, {6, 6}, {14, 6}, {20, 6}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* (10), (11) give (12) e_p'' + G_v e_p' + G_p e_p = 0; (13), (14) e_f = f - lambda = -M_s e_p''. */
static void test_control_gives_the_error_dynamics_of_12_and_14(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    static bed b;
    for (int trial = 0; trial < 60; trial++) {
        const size_t *size = sizes[trial % SIZES];
        const bool constrained = trial / SIZES % 2;
        make_bed(&b, &rng, size[0], size[1], constrained ? FF_EMULATION_CONSTRAINED : FF_EMULATION_FREE);
        assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_OK);
        double p_dd[6], e_dd[6];
        robot_motion(&b.r, b.out.torque, b.f, p_dd);
        for (size_t i = 0; i < b.n; i++) {
            double e_dot = b.p_dot[i];
            if (constrained)
                e_dot -= b.state.reference_v[i];
            else
                for (size_t j = 0; j < b.m; j++)
                    e_dot -= b.s.J[i * b.m + j] * b.state.v[j];
            e_dd[i] = p_dd[i] - b.out.a_s[i];
            assert_near(e_dd[i], -7 * e_dot - 30 * b.out.e_p[i], 1e-8);
        }
        assert_int_equal(ff_emulation_target(&b.model, &b.state, &b.work, b.f, p_dd, &b.out), FF_OK);
        double M_e[6];
        memcpy(M_e, e_dd, sizeof M_e);
        cartesian(&b.s, M_e);
        for (size_t i = 0; i < b.n; i++) {
            assert_near(b.out.force_error[i], -M_e[i], 1e-7 * (1 + fabs(M_e[i])));
            assert_near(b.out.force_error[i], b.f[i] - b.out.lambda[i], 1e-12 * (1 + fabs(b.out.lambda[i])));
        }
    }
}

/* 2.1 with its right sign: (I + G_f M_s) e_p'' = -G_v e_p' - G_p e_p when the measured acceleration is the
 * true one. */
static void test_force_feedback_adds_inertia_to_the_error(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    static bed b;
    for (int trial = 0; trial < 30; trial++) {
        const size_t *size = sizes[trial % SIZES];
        make_bed(&b, &rng, size[0], size[1], FF_EMULATION_CONSTRAINED);
        b.model.config.force_gain = 0.3;
        b.in.acceleration = b.acceleration;
        assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_OK);
        double p_dd[6], miss[6];
        robot_motion(&b.r, b.out.torque, b.f, p_dd);
        for (size_t i = 0; i < b.n; i++)
            miss[i] = b.acceleration[i] - b.out.a_s[i];
        cartesian(&b.s, miss);
        for (size_t i = 0; i < b.n; i++)
            assert_near(p_dd[i] - b.out.a_s[i] + 0.3 * miss[i],
                        -7 * (b.p_dot[i] - b.state.reference_v[i]) - 30 * b.out.e_p[i], 1e-7);
    }
    b.in.acceleration = NULL;
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_ERR_ARGUMENT);
}

/* (7) with (5) equals (19) with (18): the acceleration does not depend on the basis of the null space. J v' =
 * c holds, and M v' + h = B tau + J^T lambda. */
static void test_independent_coordinates_equal_the_multiplier(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    static bed b;
    for (int trial = 0; trial < 60; trial++) {
        const size_t *size = sizes[trial % SIZES];
        make_bed(&b, &rng, size[0], size[1], FF_EMULATION_CONSTRAINED);
        ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out);
        double v_dot[20];
        assert_int_equal(ff_emulation_target(&b.model, &b.state, &b.work, b.f, b.acceleration, &b.out),
                         FF_OK);
        assert_int_equal(ff_emulation_independent(&b.model, &b.work, b.force, b.acceleration, v_dot), FF_OK);
        for (size_t j = 0; j < b.m; j++)
            assert_near(b.out.acceleration[j], v_dot[j], 1e-8 * (1 + fabs(v_dot[j])));
        for (size_t i = 0; i < b.n; i++) {
            double c = b.s.Jv[i], p_dot = 0;
            for (size_t j = 0; j < b.m; j++) {
                c += b.s.J[i * b.m + j] * b.out.acceleration[j];
                p_dot += b.s.J[i * b.m + j] * b.work.v[j];
            }
            assert_near(c, b.acceleration[i], 1e-8);
            assert_near(p_dot, b.p_dot[i], 1e-11); /* (15) */
            assert_near(b.out.constraint[i], 0.0, 1e-11);
        }
        for (size_t j = 0; j < b.m; j++) {
            double balance = b.s.h[j] - b.force[j];
            for (size_t k = 0; k < b.m; k++)
                balance += b.s.M[j * b.m + k] * b.out.acceleration[k];
            for (size_t i = 0; i < b.n; i++)
                balance -= b.s.J[i * b.m + j] * b.out.lambda[i];
            assert_near(balance, 0.0, 1e-7);
        }
    }
}

/* -------------------------------------------------------------------------------------------- real
 * mechanisms -- */

typedef struct tree_bed {
    ff_tree_link_config link[7];
    max_align_t memory[4096], work_memory[8192];
    ff_tree_model *tree;
    ff_tree_work *work;
    ff_tree_mechanism config;
    ff_mechanism mechanism;
} tree_bed;

static void make_tree(tree_bed *t, ff_rng *rng, size_t joints, bool floating, bool flexible,
                      ff_tree_task task) {
    for (size_t i = 0; i < joints; i++) {
        ff_tree_link_config *l = &t->link[i];
        ff_tree_link_default(l);
        l->parent = (int)i - 1;
        l->pose.q = ff_quat_identity();
        l->pose.p = task == FF_TREE_TASK_PLANE ? ff_vec3_make(i ? 0.5 : 0, 0, 0) : test_random_vec3(rng, 0.4);
        if (task == FF_TREE_TASK_POSE)
            l->axis = ff_vec3_make(i % 3 == 1, i % 3 == 2, i % 3 == 0);
        l->mass = ff_rng_range(rng, 1, 5);
        l->com = task == FF_TREE_TASK_PLANE ? ff_vec3_make(0.2, 0.05, 0) : test_random_vec3(rng, 0.1);
        for (int k = 0; k < 3; k++)
            l->inertia[k] = ff_rng_range(rng, 0.10, 0.15);
    }
    ff_tree_config c = {.fixed_base = !floating, .links = joints, .link = t->link, .base_mass = 50};
    for (int k = 0; k < 3; k++)
        c.base_inertia[k] = 5 + k;
    char message[200] = "";
    if (ff_tree_create(&c, t->memory, sizeof t->memory, &t->tree, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(ff_tree_work_create(t->tree, t->work_memory, sizeof t->work_memory, &t->work), FF_OK);
    t->config = (ff_tree_mechanism){.tree = t->tree,
                                    .tree_work = t->work,
                                    .frame = {(int)joints - 1, {{1, 0, 0, 0}, {{0.3, 0, 0}}}},
                                    .task = task,
                                    .gravity = {{0.3, -9.0, 1.0}},
                                    .base = task == FF_TREE_TASK_PLANE ? ff_pose_identity()
                                                                       : test_random_pose(rng, 1),
                                    .flexible = flexible};
    for (size_t i = 0; i < joints; i++) {
        t->config.motor_inertia[i] = 0.2;
        t->config.stiffness[i] = 30;
        t->config.damping[i] = 0.7;
        t->config.motor_friction[i] = 0.2;
        t->config.joint_friction[i] = 0.3;
    }
    assert_int_equal(ff_tree_mechanism_create(&t->config, &t->mechanism), FF_OK);
}

/* The interface's promises, by finite differences: J v is the rate of the pose, J' v that of J v at constant
 * v, and the energy changes by the power that enters minus what friction takes: that ties M, h and J
 * together. */
static void check_mechanism(const ff_mechanism *m, ff_rng *rng, const double *joint_loss,
                            const double *spring_loss, const double *motor_loss, size_t joints, size_t base) {
    static ff_mechanism_terms t0, t1;
    double q[21] = {0}, v[20], moved[21], step[20], Jv[6], Jv1[6], difference[6];
    const size_t skip = m->positions - m->dof;
    fill(rng, q, m->positions, 1.0);
    fill(rng, v, m->dof, 1.0);
    if (skip) {
        const ff_quat attitude = test_random_quat(rng);
        q[0] = attitude.w, q[1] = attitude.x, q[2] = attitude.y, q[3] = attitude.z;
    }
    m->terms(m, q, v, FF_TERMS_ALL, &t0);
    const double h = 1e-6;
    double up[6], down[6];
    for (int side = -1; side <= 1; side += 2) {
        for (size_t j = 0; j < m->dof; j++)
            step[j] = side * h * v[j];
        ff_mechanism_displace(m, q, step, moved);
        m->terms(m, moved, v, FF_TERMS_ALL, &t1);
        ff_task_difference(m, &t1.pose, &t0.pose, side > 0 ? up : down);
        for (size_t i = 0; i < m->task; i++) {
            double sum = 0;
            for (size_t j = 0; j < m->dof; j++)
                sum += t1.J[i * m->dof + j] * v[j];
            (side > 0 ? Jv1 : Jv)[i] = sum;
        }
    }
    for (size_t i = 0; i < m->task; i++) {
        double sum = 0;
        for (size_t j = 0; j < m->dof; j++)
            sum += t0.J[i * m->dof + j] * v[j];
        difference[i] = (up[i] - down[i]) / (2 * h);
        assert_near(difference[i], sum, 1e-7 * (1 + fabs(sum)));
        assert_near((Jv1[i] - Jv[i]) / (2 * h), t0.Jv[i], 1e-6 * (1 + fabs(t0.Jv[i])));
    }
    if (!m->energy)
        return;
    double force[20], f[6], a[20];
    fill(rng, force, m->dof, 3);
    fill(rng, f, m->task, 3);
    double power = 0;
    for (size_t j = 0; j < m->dof; j++) {
        a[j] = force[j] - t0.h[j];
        power += force[j] * v[j];
        for (size_t i = 0; i < m->task; i++) {
            a[j] += t0.J[i * m->dof + j] * f[i];
            power += t0.J[i * m->dof + j] * f[i] * v[j];
        }
    }
    solve(m->dof, t0.M, a);
    for (size_t k = 0; k < joints; k++) {
        const double vj = v[base + k];
        power -= joint_loss[k] * vj * vj;
        if (spring_loss) {
            const double vm = v[base + joints + k];
            power -= spring_loss[k] * (vm - vj) * (vm - vj) + motor_loss[k] * vm * vm;
        }
    }
    double energy[2];
    for (int side = 0; side < 2; side++) {
        const double s = side ? h : -h;
        double v1[20];
        for (size_t j = 0; j < m->dof; j++) {
            step[j] = s * v[j];
            v1[j] = v[j] + s * a[j];
        }
        ff_mechanism_displace(m, q, step, moved);
        energy[side] = m->energy(m, moved, v1);
    }
    assert_near((energy[1] - energy[0]) / (2 * h), power, 1e-6 * (10 + fabs(power)));
}

static void test_mechanisms_keep_the_promises_of_their_interface(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    const ff_flexible_joint joint = {0.05, 0.1, 0.3, 3.0, 0.1, 0.022};
    const ff_single_joint single = {0.05, 0.3, 0.022, 0.5};
    ff_mechanism m;
    const double none[7] = {0};
    assert_int_equal(ff_flexible_joint_mechanism(&joint, &m), FF_OK);
    check_mechanism(&m, &rng, none, &joint.damping, &joint.drive_friction, 1, 0);
    assert_int_equal(ff_single_joint_mechanism(&single, &m), FF_OK);
    check_mechanism(&m, &rng, &single.friction, NULL, NULL, 1, 0);
    static tree_bed t;
    for (int variant = 0; variant < 4 * test_count(4, 40); variant++) {
        const bool floating = variant & 1, flexible = variant & 2;
        make_tree(&t, &rng, 7, floating, flexible, FF_TREE_TASK_POSE);
        check_mechanism(&t.mechanism, &rng, t.config.joint_friction, flexible ? t.config.damping : NULL,
                        t.config.motor_friction, 7, floating ? 6 : 0);
        make_tree(&t, &rng, 2, false, flexible, FF_TREE_TASK_PLANE);
        check_mechanism(&t.mechanism, &rng, t.config.joint_friction, flexible ? t.config.damping : NULL,
                        t.config.motor_friction, 2, 0);
    }
}

/* ------------------------------------------------------------------------------------------------
 * consistency -- */

/* Theorem 1: a robot that moves on a circle at constant speed; the target's tip stays within |p_r'| / (k
 * lambda_min). */
static void test_clik_keeps_theorem_1s_bound(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    static tree_bed target, robot;
    make_tree(&target, &rng, 2, false, true, FF_TREE_TASK_PLANE);
    make_tree(&robot, &rng, 2, false, false, FF_TREE_TASK_PLANE);
    double reached[2] = {0};
    for (int stronger = 0; stronger < 2; stronger++) {
        ff_emulation_config config;
        ff_emulation_default(&config);
        config.consistency = FF_CONSISTENCY_CLIK;
        config.clik_gain = stronger ? 800 : 200;
        ff_emulation_model model;
        static ff_emulation_work work;
        ff_emulation_state s;
        ff_emulation_out out;
        assert_int_equal(ff_emulation_create(&config, &target.mechanism, &robot.mechanism, &model, NULL, 0),
                         FF_OK);
        double q_r[2] = {0.2, 1.1}, v_r[2] = {0, 0};
        const double q_s[4] = {0.2, 1.1, 0.2, 1.1}, v_s[4] = {0}, f[2] = {0}, force[4] = {0}, T = 1e-4;
        assert_int_equal(ff_emulation_reset(&model, &s, &work, q_s, v_s, q_r, v_r), FF_OK);
        double worst = 0, speed = 0, least = FF_INF;
        for (int k = 0; k < 20000; k++) {
            const double t = k * T;
            q_r[0] = 0.2 + 0.3 * sin(2 * t), v_r[0] = 0.6 * cos(2 * t);
            q_r[1] = 1.1 + 0.2 * (cos(2 * t) - 1), v_r[1] = -0.4 * sin(2 * t);
            const ff_emulation_in in = {q_r, v_r, f, force, NULL};
            assert_true(ff_emulation_step(&model, &s, &work, &in, T, &out) >= 0);
            const double *J = work.s.J, *Jr = work.r.J; /* J_s is 2 x 4, J_r 2 x 2 */
            const double a = J[0] * J[0] + J[1] * J[1], c = J[4] * J[4] + J[5] * J[5],
                         b = J[0] * J[4] + J[1] * J[5];
            least = fmin(least, 0.5 * (a + c) - sqrt(0.25 * (a - c) * (a - c) + b * b));
            speed = fmax(speed, hypot(Jr[0] * v_r[0] + Jr[1] * v_r[1], Jr[2] * v_r[0] + Jr[3] * v_r[1]));
            worst = fmax(worst, hypot(out.constraint[0], out.constraint[1]));
        }
        print_message("K = %g: |Phi| %.4g, bound %.4g\n", config.clik_gain, worst,
                      speed / (config.clik_gain * least));
        assert_true(worst <= speed / (config.clik_gain * least));
        assert_true(worst > 1e-6);
        reached[stronger] = worst;
    }
    assert_true(reached[1] < 0.35 * reached[0]); /* the radius shrinks with the gain */
}

/* Appendix B: Newton puts a target that is off by centimetres and degrees back on the constraint. */
static void test_newton_restores_the_constraint(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    static tree_bed target, robot;
    static ff_emulation_work work;
    int left_out = 0;
    for (int trial = 0; trial < test_count(10, 100); trial++) {
        make_tree(&target, &rng, 7, trial & 1, true, FF_TREE_TASK_POSE);
        make_tree(&robot, &rng, 6, false, false, FF_TREE_TASK_POSE);
        ff_emulation_config config;
        ff_emulation_default(&config);
        ff_emulation_model model;
        ff_emulation_out out;
        ff_emulation_state s = {0};
        assert_int_equal(ff_emulation_create(&config, &target.mechanism, &robot.mechanism, &model, NULL, 0),
                         FF_OK);
        s.reference.pose = ff_pose_identity();
        fill(&rng, s.q, model.target.positions, 1.0);
        if (trial & 1)
            s.q[0] = 1, s.q[1] = s.q[2] = s.q[3] = 0;
        double q_r[6], v_r[6];
        fill(&rng, q_r, 6, 1.0);
        fill(&rng, v_r, 6, 0.3);
        static ff_mechanism_terms a, b;
        model.target.terms(&model.target, s.q, s.v, FF_TERMS_ALL, &a);
        model.robot.terms(&model.robot, q_r, v_r, FF_TERMS_ALL, &b);
        const ff_pose off = {ff_quat_exp(test_random_vec3(&rng, 0.05)), test_random_vec3(&rng, 0.05)};
        robot.config.base = ff_pose_mul(ff_pose_mul(a.pose.pose, off),
                                        ff_pose_mul(ff_pose_inverse(b.pose.pose), robot.config.base));
        const double f[6] = {0}, force[20] = {0};
        const ff_emulation_in in = {q_r, v_r, f, force, NULL};
        const ff_status status = ff_emulation_control(&model, &s, &work, &in, &out);
        if (status < 0)
            fail_msg("%s", ff_status_name(status));
        if (out.target_damped || out.unconverged) { /* a random arm may stand near a singularity */
            left_out++;
            continue;
        }
        for (size_t i = 0; i < 6; i++)
            assert_near(out.constraint[i], 0.0, 1e-10);
    }
    /* at most a tenth of the draws: of ten more than four once in 600, if it were that many */
    assert_true(left_out <= test_count(4, 10));
}

/* ---------------------------------------------------------------------------------------------- robustness
 * -- */

static void test_singular_jacobians_are_damped_reported_and_bounded(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    static tree_bed target, robot;
    make_tree(&target, &rng, 2, false, true, FF_TREE_TASK_PLANE);
    make_tree(&robot, &rng, 2, false, false, FF_TREE_TASK_PLANE);
    ff_emulation_config config;
    ff_emulation_default(&config);
    config.singular_ratio = 0.02;
    ff_emulation_model model;
    static ff_emulation_work work;
    assert_int_equal(ff_emulation_create(&config, &target.mechanism, &robot.mechanism, &model, NULL, 0),
                     FF_OK);
    double largest = 0;
    for (double elbow = 0.1; elbow > -0.1; elbow -= 1e-4) {
        const double q_r[2] = {0.4, fabs(elbow) < 1e-9 ? 0.0 : elbow}, v_r[2] = {0.1, -0.1};
        ff_emulation_state s = {.q = {0.4, elbow, 0.4, elbow}};
        ff_emulation_out out;
        const double f[2] = {3, -2}, force[4] = {0, 0, 1, -1};
        work.r.pose.x[0] = 0;
        s.reference.x[0] = s.reference.x[1] = 0.4; /* a demand that the stretched arm cannot meet */
        const ff_status status =
            ff_emulation_control(&model, &s, &work, &(ff_emulation_in){q_r, v_r, f, force, NULL}, &out);
        assert_true(status >= 0);
        assert_int_equal(status == FF_INFO_LIMITED, out.robot_damped || out.target_damped || out.limited);
        if (fabs(elbow) < 1e-3)
            assert_true(out.robot_damped);
        if (fabs(elbow) > 0.08)
            assert_false(out.robot_damped);
        for (int i = 0; i < 2; i++) {
            assert_true(isfinite(out.torque[i]));
            largest = fmax(largest, fabs(out.torque[i]));
        }
    }
    print_message("largest torque through the singularity %.4g N m\n", largest);
    assert_true(largest < 1e5);
    model.config.torque_max[0] = model.config.torque_max[1] = 5;
    const double q_r[2] = {0.4, 0.0}, v_r[2] = {0}, f[2] = {3, -2}, force[4] = {0};
    ff_emulation_state s = {.q = {0.4, 0, 0.4, 0}, .reference.x = {9, 9}};
    ff_emulation_out out;
    assert_int_equal(
        ff_emulation_control(&model, &s, &work, &(ff_emulation_in){q_r, v_r, f, force, NULL}, &out),
        FF_INFO_LIMITED);
    assert_true(out.limited && fabs(out.torque[0]) <= 5 && fabs(out.torque[1]) <= 5);
    /* A singular start is refused. */
    const double q_s[4] = {0.4, 0, 0.4, 0}, v_s[4] = {0};
    assert_int_equal(ff_emulation_reset(&model, &s, &work, q_s, v_s, q_r, v_r), FF_ERR_SINGULAR);
    const double apart[4] = {0.4, 1, 0.4, 1};
    assert_int_equal(ff_emulation_reset(&model, &s, &work, apart, v_s, q_r, v_r), FF_ERR_REACH);
    const double nan[4] = {FF_NAN, 1, 0.4, 1};
    assert_int_equal(ff_emulation_reset(&model, &s, &work, nan, v_s, q_r, v_r), FF_ERR_NOT_FINITE);
}

static void test_values_not_finite_hold_the_last_torque(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    static bed b;
    make_bed(&b, &rng, 14, 6, FF_EMULATION_FREE);
    assert_int_equal(ff_emulation_step(&b.model, &b.state, &b.work, &b.in, 0.001, &b.out), FF_OK);
    double sent[6];
    memcpy(sent, b.out.torque, sizeof sent);
    const ff_emulation_state before = b.state;
    double *const victims[] = {&b.q_r[3], &b.v_r[0], &b.f[5], &b.force[13]};
    for (size_t k = 0; k < 4; k++) {
        const double good = *victims[k];
        *victims[k] = k % 2 ? FF_INF : FF_NAN;
        assert_int_equal(ff_emulation_step(&b.model, &b.state, &b.work, &b.in, 0.001, &b.out),
                         FF_ERR_NOT_FINITE);
        *victims[k] = good;
        assert_memory_equal(b.out.torque, sent, sizeof sent);
        assert_memory_equal(&b.state, &before, sizeof before);
    }
    assert_int_equal(ff_emulation_step(&b.model, &b.state, &b.work, &b.in, 0.001, &b.out), FF_OK);
}

static void test_validate_and_create_refuse(void **state) {
    (void)state;
    for (int which = 0; which < 8; which++) {
        ff_emulation_config c;
        ff_emulation_default(&c);
        assert_int_equal(ff_emulation_validate(&c, NULL, 0), FF_OK);
        ff_status expected = FF_ERR_ARGUMENT;
        switch (which) {
        case 0:
            c.velocity_gain = 0;
            break;
        case 1:
            c.position_gain = -1;
            break;
        case 2:
            c.force_gain = -0.1;
            break;
        case 3:
            c.clik_gain = 0;
            break;
        case 4:
            c.singular_ratio = 1;
            break;
        case 5:
            c.scheme = FF_EMULATION_FREE, c.drift_compensation = false;
            break;
        case 6:
            c.torque_max[2] = 0;
            break;
        default:
            c.velocity_gain = FF_NAN, expected = FF_ERR_NOT_FINITE;
            break;
        }
        char message[120] = "";
        assert_int_equal(ff_emulation_validate(&c, message, sizeof message), expected);
        assert_true(strlen(message) > 5);
    }
    ff_rng rng;
    ff_rng_seed(&rng, 1, 9);
    static random_mechanism a, b;
    ff_emulation_config c;
    ff_emulation_default(&c);
    ff_emulation_model model;
    const ff_mechanism two = make_random(&a, &rng, 4, 2), one = make_random(&b, &rng, 1, 1);
    assert_int_equal(ff_emulation_create(&c, &two, &one, &model, NULL, 0), FF_ERR_SIZE);
    assert_int_equal(ff_emulation_create(&c, &two, &two, &model, NULL, 0), FF_ERR_SIZE);
    ff_mechanism m;
    ff_flexible_joint joint = {0, 0.1, 0.3, 3.0, 0.1, 0.022};
    assert_int_equal(ff_flexible_joint_mechanism(&joint, &m), FF_ERR_INERTIA);
    joint.link_inertia = 0.05, joint.length = -1;
    assert_int_equal(ff_flexible_joint_mechanism(&joint, &m), FF_ERR_ARGUMENT);
    joint.length = FF_NAN;
    assert_int_equal(ff_flexible_joint_mechanism(&joint, &m), FF_ERR_NOT_FINITE);
    ff_single_joint single = {-1, 0.3, 0, 0};
    assert_int_equal(ff_single_joint_mechanism(&single, &m), FF_ERR_INERTIA);
}

/* Appendix A: G_f < 2 G_v / lambda_max(M_s'). */
static void test_force_gain_bound_is_the_largest_eigenvalues(void **state) {
    (void)state;
    const double rate[9] = {2, 1, 0, 1, 2, 0, 0, 0, -7}; /* eigenvalues 3, 1, -7 */
    assert_near(ff_emulation_force_gain_bound(6, 3, rate), 4.0, 1e-12);
    const double falling[4] = {-2, 0, 0, -1};
    assert_true(isinf(ff_emulation_force_gain_bound(6, 2, falling)));
}

static void test_cartesian_inertia_is_the_ratio_of_the_analysis(void **state) {
    (void)state;
    const ff_flexible_joint joint = {0.05, 0.1, 0.3, 3.0, 0.1, 0.022};
    ff_mechanism m;
    static ff_emulation_work work;
    const double q[2] = {0.3, 0.2};
    double inertia;
    assert_int_equal(ff_flexible_joint_mechanism(&joint, &m), FF_OK);
    assert_int_equal(ff_emulation_cartesian_inertia(&m, q, &work, &inertia), FF_OK);
    assert_near(inertia, 0.05 / 0.09, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_control_gives_the_error_dynamics_of_12_and_14),
        cmocka_unit_test(test_force_feedback_adds_inertia_to_the_error),
        cmocka_unit_test(test_independent_coordinates_equal_the_multiplier),
        cmocka_unit_test(test_mechanisms_keep_the_promises_of_their_interface),
        cmocka_unit_test(test_clik_keeps_theorem_1s_bound),
        cmocka_unit_test(test_newton_restores_the_constraint),
        cmocka_unit_test(test_singular_jacobians_are_damped_reported_and_bounded),
        cmocka_unit_test(test_values_not_finite_hold_the_last_torque),
        cmocka_unit_test(test_validate_and_create_refuse),
        cmocka_unit_test(test_force_gain_bound_is_the_largest_eigenvalues),
        cmocka_unit_test(test_cartesian_inertia_is_the_ratio_of_the_analysis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
