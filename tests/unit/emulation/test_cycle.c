/* One cycle of the emulation with mechanisms whose terms are given: what the target and the reference become,
 * every fault and flag, and the mechanisms' own refusals. */
#include "support.h"

#include "freefloat/emulation.h"

/* Constant terms; the pose is J q, or bounded: J tanh q. */
typedef struct plain {
    ff_mechanism_terms terms;
    size_t m, n;
    bool bounded;
} plain;

static void plain_terms(const ff_mechanism *self, const double *q, const double *v, ff_terms_part part,
                        ff_mechanism_terms *out) {
    const plain *p = self->model;
    (void)v;
    if (part & FF_TERMS_POSITION) {
        memcpy(out->M, p->terms.M, sizeof out->M);
        memcpy(out->J, p->terms.J, sizeof out->J);
        out->pose = p->terms.pose;
        for (size_t i = 0; i < p->n; i++) {
            for (size_t j = 0; j < p->m; j++)
                out->pose.x[i] += p->terms.J[i * p->m + j] * (p->bounded ? tanh(q[j]) : q[j]);
        }
    }
    if (part & FF_TERMS_VELOCITY) {
        memcpy(out->h, p->terms.h, sizeof out->h);
        memcpy(out->Jv, p->terms.Jv, sizeof out->Jv);
    }
}

static ff_mechanism plain_make(plain *p, ff_rng *rng, size_t m, size_t n, bool spatial) {
    *p = (plain){.m = m, .n = n};
    double B[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX];
    for (size_t i = 0; i < m * m; i++)
        B[i] = ff_rng_range(rng, -0.3, 0.3);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            p->terms.M[i * m + j] = i == j ? 2.0 : 0.0;
            for (size_t k = 0; k < m; k++)
                p->terms.M[i * m + j] += B[i * m + k] * B[j * m + k];
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++)
            p->terms.J[i * m + j] = ff_rng_range(rng, -0.2, 0.2) + (i == j ? 1.0 : 0.0);
    for (size_t j = 0; j < m; j++)
        p->terms.h[j] = ff_rng_range(rng, -1, 1);
    for (size_t i = 0; i < n; i++)
        p->terms.Jv[i] = ff_rng_range(rng, -1, 1);
    p->terms.pose.pose = ff_pose_identity();
    return (ff_mechanism){
        .dof = m, .positions = m, .task = n, .spatial = spatial, .model = p, .terms = plain_terms};
}

typedef struct bed {
    plain s, r;
    ff_emulation_model model;
    ff_emulation_state state;
    ff_emulation_work work;
    ff_emulation_out out;
    double q_r[6], v_r[6], f[6], force[FF_EMULATION_DOF_MAX], acceleration[6];
    ff_emulation_in in;
} bed;

static ff_rng rng;

/* At rest in q = 0, where both poses agree. */
static void make(bed *b, size_t m, size_t n, bool spatial) {
    memset(b, 0, sizeof *b);
    const ff_mechanism s = plain_make(&b->s, &rng, m, n, spatial), r = plain_make(&b->r, &rng, n, n, spatial);
    ff_emulation_config config;
    ff_emulation_default(&config);
    assert_int_equal(ff_emulation_create(&config, &s, &r, &b->model, NULL, 0), FF_OK);
    b->model.target.model = &b->s;
    b->model.robot.model = &b->r;
    for (size_t i = 0; i < n; i++) {
        b->f[i] = ff_rng_range(&rng, -2, 2);
        b->acceleration[i] = ff_rng_range(&rng, -2, 2);
    }
    for (size_t j = 0; j < m; j++)
        b->force[j] = ff_rng_range(&rng, -2, 2);
    b->in = (ff_emulation_in){b->q_r, b->v_r, b->f, b->force, NULL};
    const double zero[FF_EMULATION_POSITIONS_MAX] = {0};
    assert_int_equal(ff_emulation_reset(&b->model, &b->state, &b->work, zero, zero, b->q_r, b->v_r), FF_OK);
}

/* v first, then q with the new v; the reference is the double integral of ~a_s held over the cycle. */
static void test_a_cycle_advances_target_and_reference(void **unused) {
    (void)unused;
    static bed b;
    for (int n = 0; n < 24; n++) {
        const bool spatial = n % 3 == 0;
        make(&b, spatial ? 8 : 4, spatial ? 6 : 2, spatial);
        const size_t task = b.model.target.task, m = b.model.target.dof;
        const double T = 0.01;
        if (n % 2)
            b.in.acceleration = b.acceleration;
        for (int i = 0; i < 3; i++) { /* a turned reference, so that the order of the product shows */
            b.state.reference_v[i] = ff_rng_range(&rng, -1, 1);
            b.state.reference.x[i] = ff_rng_range(&rng, -1e-3, 1e-3);
        }
        b.state.reference.pose =
            (ff_pose){ff_quat_exp(test_random_vec3(&rng, 0.5)), test_random_vec3(&rng, 0.01)};
        const ff_emulation_state before = b.state;
        assert_int_equal(ff_emulation_step(&b.model, &b.state, &b.work, &b.in, T, &b.out), FF_OK);
        for (size_t j = 0; j < m; j++) {
            assert_near(b.state.v[j], b.work.v[j] + T * b.out.acceleration[j], 1e-15);
            assert_near(b.state.q[j], b.work.q[j] + T * b.state.v[j], 1e-15);
        }
        /* J v' + J' v = p_r'': given, or that of the robot model under the torque */
        double p_dd[6];
        if (n % 2) {
            memcpy(p_dd, b.acceleration, sizeof p_dd);
        } else {
            double M[36], a[6];
            for (size_t i = 0; i < task; i++) {
                a[i] = b.out.torque[i] - b.r.terms.h[i];
                for (size_t k = 0; k < task; k++) {
                    a[i] += b.r.terms.J[k * task + i] * b.f[k];
                    M[i * task + k] = b.r.terms.M[i * task + k];
                }
            }
            assert_int_equal(ff_cholesky_factor(task, M), FF_OK);
            ff_cholesky_solve(task, M, a);
            for (size_t i = 0; i < task; i++) {
                p_dd[i] = b.r.terms.Jv[i];
                for (size_t k = 0; k < task; k++)
                    p_dd[i] += b.r.terms.J[i * task + k] * a[k];
            }
        }
        for (size_t i = 0; i < task; i++) {
            double got = b.s.terms.Jv[i];
            for (size_t j = 0; j < m; j++)
                got += b.s.terms.J[i * m + j] * b.out.acceleration[j];
            assert_near(got, p_dd[i], 1e-11);
            assert_near(b.state.reference_v[i], before.reference_v[i] + T * b.out.a_s[i], 1e-15);
            assert_near(b.state.torque[i], b.out.torque[i], 0.0);
            assert_near(b.out.force_error[i], b.f[i] - b.out.lambda[i], 1e-15);
        }
        if (spatial) {
            ff_vec3 w, v;
            for (int i = 0; i < 3; i++) {
                w.a[i] = T * (before.reference_v[i] + 0.5 * T * b.out.a_s[i]);
                v.a[i] = T * (before.reference_v[3 + i] + 0.5 * T * b.out.a_s[3 + i]);
            }
            assert_vec3_near(b.state.reference.pose.p, ff_vec3_add(before.reference.pose.p, v), 1e-15);
            /* inertial axes: the turn stands on the left */
            assert_near(
                ff_quat_angle(b.state.reference.pose.q, ff_quat_mul(ff_quat_exp(w), before.reference.pose.q)),
                0.0, 1e-15);
        } else {
            for (size_t i = 0; i < task; i++)
                assert_near(b.state.reference.x[i],
                            before.reference.x[i] + T * before.reference_v[i] + 0.5 * T * T * b.out.a_s[i],
                            1e-15);
        }
    }
}

/* Each fault holds the last torque and leaves the state as it was. */
static void test_every_fault_holds_the_last_torque(void **unused) {
    (void)unused;
    static bed b;
    enum {
        TARGET_M,
        TARGET_J,
        TARGET_POSE,
        TARGET_H,
        ROBOT_J,
        ROBOT_H,
        ROBOT_M,
        FORCE,
        F,
        Q,
        V,
        ACCELERATION,
        MISSING,
        CASES
    };
    for (int n = 0; n < 2 * CASES; n++) {
        const int what = n / 2;
        make(&b, 3, 2, false);
        if (n % 2)
            b.model.config.scheme = FF_EMULATION_FREE;
        for (int i = 0; i < 2; i++)
            b.state.torque[i] = 7.0 + i;
        const double bad = n % 3 ? FF_NAN : FF_INF;
        ff_status expect = FF_ERR_NOT_FINITE;
        switch (what) {
        case TARGET_M:
            b.s.terms.M[4] = -1.0;
            expect = FF_ERR_SINGULAR;
            break;
        case TARGET_J:
            b.s.terms.J[1] = FF_NAN;
            expect = n % 2 ? FF_ERR_SINGULAR : FF_ERR_NOT_FINITE; /* constrained: seen in the pose */
            break;
        case TARGET_POSE:
            if (n % 2)
                continue;
            b.s.terms.pose.x[1] = bad;
            break;
        case TARGET_H:
            b.s.terms.h[1] = bad;
            break;
        case ROBOT_J:
            b.r.terms.J[3] = FF_NAN;
            expect = n % 2 ? FF_ERR_SINGULAR : FF_ERR_NOT_FINITE;
            break;
        case ROBOT_H:
            b.r.terms.h[0] = bad;
            break;
        case ROBOT_M: /* needed for the model's own acceleration */
            b.r.terms.M[0] = -1.0;
            expect = FF_ERR_SINGULAR;
            break;
        case FORCE:
            b.force[2] = bad;
            break;
        case F:
            b.f[1] = bad;
            break;
        case Q:
            b.q_r[1] = bad;
            break;
        case V:
            b.v_r[0] = bad;
            break;
        case ACCELERATION:
            b.in.acceleration = b.acceleration;
            b.acceleration[1] = bad;
            break;
        default:
            b.model.config.force_gain = 0.1;
            expect = FF_ERR_ARGUMENT;
        }
        const ff_emulation_state before = b.state;
        const ff_status status = ff_emulation_step(&b.model, &b.state, &b.work, &b.in, 0.01, &b.out);
        if (status != expect)
            fail_msg("case %d, scheme %d: %s", what, n % 2, ff_status_name(status));
        assert_memory_equal(&b.state, &before, sizeof before);
        assert_near(b.out.torque[0], 7.0, 0.0);
        assert_near(b.out.torque[1], 8.0, 0.0);
    }
}

static void test_flags(void **unused) {
    (void)unused;
    static bed b;
    /* the torque's limit, each axis for itself, sign kept */
    for (int axis = 0; axis < 2; axis++) {
        make(&b, 3, 2, false);
        assert_int_equal(ff_emulation_step(&b.model, &b.state, &b.work, &b.in, 0.01, &b.out), FF_OK);
        const double torque[2] = {b.out.torque[0], b.out.torque[1]};
        bed c = b;
        c.model.target.model = &c.s;
        c.model.robot.model = &c.r;
        c.in = (ff_emulation_in){c.q_r, c.v_r, c.f, c.force, NULL};
        const double zero[4] = {0};
        assert_int_equal(ff_emulation_reset(&c.model, &c.state, &c.work, zero, zero, zero, zero), FF_OK);
        c.model.config.torque_max[axis] = 0.5 * fabs(torque[axis]);
        assert_int_equal(ff_emulation_step(&c.model, &c.state, &c.work, &c.in, 0.01, &c.out),
                         FF_INFO_LIMITED);
        assert_true(c.out.limited && !c.out.robot_damped && !c.out.target_damped && !c.out.unconverged);
        assert_near(c.out.torque[axis], 0.5 * torque[axis], 1e-15);
        assert_near(c.out.torque[1 - axis], torque[1 - axis], 1e-15);
    }
    /* a target that cannot reach the robot's pose */
    make(&b, 2, 2, false);
    b.s.bounded = true;
    b.q_r[0] = 5.0;
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_INFO_LIMITED);
    assert_true(b.out.unconverged && !b.out.limited);
    /* CLIK does not iterate */
    b.model.config.consistency = FF_CONSISTENCY_CLIK;
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_OK);
    assert_false(b.out.unconverged);
    /* near singular target: G_s has a pivot below the ratio */
    make(&b, 2, 2, false);
    const double J[4] = {1, 0, 0, 1e-4};
    memcpy(b.s.terms.J, J, sizeof J);
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_INFO_LIMITED);
    assert_true(b.out.target_damped && !b.out.robot_damped);
    /* the same Jacobian on the robot */
    make(&b, 2, 2, false);
    memcpy(b.r.terms.J, J, sizeof J);
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_INFO_LIMITED);
    assert_true(b.out.robot_damped && !b.out.target_damped);
}

/* Damped where the smallest pivot lies below ratio^2 of the mean diagonal, not above. */
static void test_the_ratio_is_where_damping_begins(void **unused) {
    (void)unused;
    static bed b;
    for (int side = 0; side < 2; side++) {
        make(&b, 2, 2, false);
        const double ratio = b.model.config.singular_ratio;
        /* diagonal J = (1, e): the Gram matrix has the mean diagonal (1 + e^2)/2, the pivot e^2 */
        const double e = ratio * sqrt(0.5) * (side ? 1.02 : 0.98), J[4] = {1, 0, 0, e};
        memcpy(b.r.terms.J, J, sizeof J);
        ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out);
        assert_int_equal(b.out.robot_damped, !side);
    }
}

static void test_reset_refuses(void **unused) {
    (void)unused;
    static bed b;
    make(&b, 3, 2, false);
    const double zero[4] = {0};
    for (int k = 0; k < 10; k++) {
        double q_s[3] = {0}, v_s[3] = {0}, q_r[2] = {0}, v_r[2] = {0};
        double *at[] = {&q_s[0], &q_s[1], &q_s[2], &v_s[0], &v_s[1],
                        &v_s[2], &q_r[0], &q_r[1], &v_r[0], &v_r[1]};
        *at[k] = k % 2 ? FF_NAN : -FF_INF;
        assert_int_equal(ff_emulation_reset(&b.model, &b.state, &b.work, q_s, v_s, q_r, v_r),
                         FF_ERR_NOT_FINITE);
    }
    for (int i = 0; i < 4; i++) {
        make(&b, 3, 2, false);
        b.r.terms.pose.x[i % 2] = i < 2 ? 2e-6 : -0.5e-6;
        assert_int_equal(ff_emulation_reset(&b.model, &b.state, &b.work, zero, zero, zero, zero),
                         i < 2 ? FF_ERR_REACH : FF_OK);
    }
    for (int which = 0; which < 2; which++) {
        make(&b, 2, 2, false);
        const double J[4] = {1, 0, 0, 1e-6};
        memcpy(which ? b.r.terms.J : b.s.terms.J, J, sizeof J);
        assert_int_equal(ff_emulation_reset(&b.model, &b.state, &b.work, zero, zero, zero, zero),
                         FF_ERR_SINGULAR);
    }
    /* what a good one sets */
    make(&b, 3, 2, false);
    const double q_s[3] = {0, 0, 0}, v_s[3] = {3, 4, 5}, v_r[2] = {1, 2};
    b.state.torque[1] = 9.0;
    assert_int_equal(ff_emulation_reset(&b.model, &b.state, &b.work, q_s, v_s, zero, v_r), FF_OK);
    assert_near(b.state.torque[1], 0.0, 0.0);
    for (int i = 0; i < 2; i++)
        assert_near(b.state.reference_v[i], b.r.terms.J[2 * i] * 1 + b.r.terms.J[2 * i + 1] * 2, 1e-15);
    assert_memory_equal(b.state.v, v_s, sizeof v_s);
}

/* Statuses of the stages that are called on their own. */
static void test_analysis_refuses(void **unused) {
    (void)unused;
    static bed b;
    double v_dot[FF_EMULATION_DOF_MAX], inertia[36];
    make(&b, 3, 2, false);
    const double J[6] = {1, 0, 0, 1, 0, 1e-9}, zero[4] = {0};
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_OK);
    memcpy(b.work.s.J, J, sizeof J);
    assert_int_equal(ff_emulation_independent(&b.model, &b.work, b.force, b.acceleration, v_dot),
                     FF_ERR_SINGULAR);
    make(&b, 3, 2, false);
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_OK);
    for (int i = 0; i < 3; i++)
        b.work.s.M[4 * i] = -1.0;
    assert_int_equal(ff_emulation_independent(&b.model, &b.work, b.force, b.acceleration, v_dot),
                     FF_ERR_SINGULAR);
    b.s.terms.M[0] = -1.0;
    assert_int_equal(ff_emulation_cartesian_inertia(&b.model.target, zero, &b.work, inertia),
                     FF_ERR_SINGULAR);
    b.s.terms.M[0] = 3.0;
    memset(b.s.terms.J, 0, sizeof b.s.terms.J);
    assert_int_equal(ff_emulation_cartesian_inertia(&b.model.target, zero, &b.work, inertia),
                     FF_ERR_SINGULAR);
    /* a multiplier that is not finite, and CLIK without a Jacobian */
    make(&b, 3, 2, false);
    b.model.config.consistency = FF_CONSISTENCY_CLIK;
    assert_int_equal(ff_emulation_control(&b.model, &b.state, &b.work, &b.in, &b.out), FF_OK);
    const double bad[2] = {FF_NAN, 0};
    assert_int_equal(ff_emulation_target(&b.model, &b.state, &b.work, b.f, bad, &b.out), FF_ERR_NOT_FINITE);
    b.work.s.J[0] = FF_NAN;
    assert_int_equal(ff_emulation_target(&b.model, &b.state, &b.work, b.f, b.acceleration, &b.out),
                     FF_ERR_SINGULAR);
}

static void test_create_refuses_what_does_not_fit(void **unused) {
    (void)unused;
    static bed b;
    make(&b, 4, 2, false);
    ff_emulation_model model;
    char message[100];
    const struct {
        size_t target_dof, target_task, robot_dof, robot_task;
        bool target_spatial;
    } wrong[] = {{4, 3, 2, 2, false},  {4, 2, 3, 2, false}, {1, 2, 2, 2, false},
                 {21, 2, 2, 2, false}, {8, 7, 7, 7, false}, {4, 2, 2, 2, true}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ff_mechanism s = b.model.target, r = b.model.robot;
        s.dof = wrong[i].target_dof;
        s.task = wrong[i].target_task;
        s.spatial = wrong[i].target_spatial;
        r.dof = wrong[i].robot_dof;
        r.task = wrong[i].robot_task;
        message[0] = '\0';
        assert_int_equal(ff_emulation_create(&b.model.config, &s, &r, &model, message, sizeof message),
                         FF_ERR_SIZE);
        assert_true(strlen(message) > 20);
        assert_int_equal(ff_emulation_create(&b.model.config, &s, &r, &model, NULL, 99), FF_ERR_SIZE);
        assert_int_equal(ff_emulation_create(&b.model.config, &s, &r, &model, message, 0), FF_ERR_SIZE);
    }
    ff_mechanism s = b.model.target;
    s.dof = 20;
    assert_int_equal(
        ff_emulation_create(&b.model.config, &s, &b.model.robot, &model, message, sizeof message), FF_OK);
    ff_emulation_config config = b.model.config;
    config.singular_ratio = 1.0;
    char small[8] = "1234567";
    assert_int_equal(ff_emulation_create(&config, &b.model.target, &b.model.robot, &model, small, 5),
                     FF_ERR_ARGUMENT);
    assert_string_equal(small, "sing"); /* cut, not overrun */
    assert_int_equal(small[5], '6');
    config.singular_ratio = 0.0;
    assert_int_equal(ff_emulation_validate(&config, NULL, 0), FF_ERR_ARGUMENT);
}

/* ---------------------------------------------------------------------------------------- mechanisms -- */

static void test_joints_are_their_equations(void **unused) {
    (void)unused;
    const ff_flexible_joint flexible = {0.3, 0.2, 0.8, 40, 0.5, 0.1};
    const ff_single_joint single = {0.7, 0.9, 0.2, 3.0};
    ff_mechanism a, b;
    assert_int_equal(ff_flexible_joint_mechanism(&flexible, &a), FF_OK);
    assert_int_equal(ff_single_joint_mechanism(&single, &b), FF_OK);
    assert_true(a.dof == 2 && a.positions == 2 && a.task == 1 && !a.spatial && b.dof == 1 &&
                b.positions == 1 && b.task == 1);
    const double q[2] = {0.2, 0.5}, v[2] = {0.7, -0.4};
    ff_mechanism_terms t;
    memset(&t, 0xA5, sizeof t); /* everything is written */
    a.terms(&a, q, v, FF_TERMS_ALL, &t);
    const double spring = 40 * 0.3 + 0.5 * -1.1, M[4] = {0.3, 0, 0, 0.2};
    assert_memory_equal(t.M, M, sizeof M);
    assert_near(t.J[0], 0.8, 0.0);
    assert_near(t.J[1], 0.0, 0.0);
    assert_near(t.h[0], -spring, 1e-15);
    assert_near(t.h[1], spring + 0.1 * -0.4, 1e-15);
    assert_near(t.Jv[0], 0.0, 0.0);
    assert_near(t.pose.x[0], 0.16, 1e-16);
    assert_near(a.energy(&a, q, v), 0.5 * (0.3 * 0.49 + 0.2 * 0.16 + 40 * 0.09), 1e-15);
    memset(&t, 0xA5, sizeof t);
    b.terms(&b, q, v, FF_TERMS_ALL, &t);
    assert_near(t.M[0], 0.7, 0.0);
    assert_near(t.J[0], 0.9, 0.0);
    assert_near(t.Jv[0], 0.0, 0.0);
    assert_near(t.h[0], 0.2 * 0.7 + 3.0 * cos(0.2), 1e-15);
    assert_near(t.pose.x[0], 0.18, 1e-16);
    /* parts on their own leave the rest */
    t.M[0] = t.h[0] = 99.0;
    b.terms(&b, q, v, FF_TERMS_POSITION, &t);
    assert_true(t.M[0] == 0.7 && t.h[0] == 99.0);
    t.M[0] = 99.0;
    b.terms(&b, q, v, FF_TERMS_VELOCITY, &t);
    assert_true(t.M[0] == 99.0 && t.h[0] != 99.0);
    double out[2];
    ff_mechanism_rate(&a, q, v, out);
    assert_memory_equal(out, v, sizeof v);
    ff_mechanism_displace(&a, q, v, out);
    assert_near(out[1], 0.1, 1e-16);
}

static void test_joints_refuse(void **unused) {
    (void)unused;
    ff_mechanism m;
    for (int i = 0; i < 6; i++) {
        ff_flexible_joint c = {0.3, 0.2, 0.8, 40, 0.5, 0.1};
        double *x[] = {&c.link_inertia, &c.drive_inertia, &c.length,
                       &c.stiffness,    &c.damping,       &c.drive_friction};
        *x[i] = i % 2 ? FF_NAN : FF_INF;
        assert_int_equal(ff_flexible_joint_mechanism(&c, &m), FF_ERR_NOT_FINITE);
        *x[i] = -1e-3;
        assert_int_equal(ff_flexible_joint_mechanism(&c, &m), i < 2 ? FF_ERR_INERTIA : FF_ERR_ARGUMENT);
        *x[i] = 0.0;
        assert_int_equal(ff_flexible_joint_mechanism(&c, &m), i < 2   ? FF_ERR_INERTIA
                                                              : i < 3 ? FF_ERR_ARGUMENT
                                                                      : FF_OK);
    }
    for (int i = 0; i < 4; i++) {
        ff_single_joint c = {0.7, 0.9, 0.2, 3.0};
        double *x[] = {&c.inertia, &c.length, &c.friction, &c.gravity_torque};
        *x[i] = i % 2 ? FF_NAN : FF_INF;
        assert_int_equal(ff_single_joint_mechanism(&c, &m), FF_ERR_NOT_FINITE);
        *x[i] = -1e-3;
        assert_int_equal(ff_single_joint_mechanism(&c, &m), i == 0  ? FF_ERR_INERTIA
                                                            : i < 3 ? FF_ERR_ARGUMENT
                                                                    : FF_OK);
        *x[i] = 0.0;
        assert_int_equal(ff_single_joint_mechanism(&c, &m), i == 0  ? FF_ERR_INERTIA
                                                            : i < 2 ? FF_ERR_ARGUMENT
                                                                    : FF_OK);
    }
}

/* A chain on a floating base: displacement over h is h times the rate, to second order; refusals of what the
 * interface cannot hold. */
static void test_tree_moves_and_refuses(void **unused) {
    (void)unused;
    static max_align_t memory[4096], work_memory[8192];
    ff_tree_link_config link[15];
    ff_tree_config config = {.link = link, .base_mass = 50, .base_inertia = {5, 6, 7}};
    for (int i = 0; i < 15; i++) {
        ff_tree_link_default(&link[i]);
        link[i].parent = i - 1;
        link[i].mass = 1;
        link[i].inertia[0] = link[i].inertia[1] = link[i].inertia[2] = 0.1;
    }
    ff_tree_model *tree;
    ff_tree_work *work;
    ff_mechanism m;
    for (int joints = 1; joints <= 15; joints++)
        for (int kind = 0; kind < 8; kind++) {
            const bool fixed = kind & 1, flexible = kind & 2, plane = kind & 4;
            config.links = (size_t)joints;
            config.fixed_base = fixed;
            assert_int_equal(ff_tree_create(&config, memory, sizeof memory, &tree, NULL, 0), FF_OK);
            assert_int_equal(ff_tree_work_create(tree, work_memory, sizeof work_memory, &work), FF_OK);
            ff_tree_mechanism c = {.tree = tree,
                                   .tree_work = work,
                                   .task = plane ? FF_TREE_TASK_PLANE : FF_TREE_TASK_POSE,
                                   .flexible = flexible};
            for (int i = 0; i < 7; i++)
                c.motor_inertia[i] = 0.2;
            const int body = joints + (fixed ? 0 : 6), dof = body + (flexible ? joints : 0);
            const ff_status expect = dof > FF_EMULATION_DOF_MAX || (flexible && joints > 7) ? FF_ERR_SIZE
                                     : body < (plane ? 2 : 6)                               ? FF_ERR_ARGUMENT
                                                                                            : FF_OK;
            assert_int_equal(ff_tree_mechanism_create(&c, &m), expect);
            if (expect != FF_OK)
                continue;
            assert_int_equal(m.dof, dof);
            assert_int_equal(m.positions, dof + (fixed ? 0 : 1));
            assert_int_equal(m.task, plane ? 2 : 6);
            assert_int_equal(m.spatial, !plane);
            double q[FF_EMULATION_POSITIONS_MAX], v[FF_EMULATION_DOF_MAX], step[FF_EMULATION_DOF_MAX],
                to[FF_EMULATION_POSITIONS_MAX], back[FF_EMULATION_POSITIONS_MAX],
                rate[FF_EMULATION_POSITIONS_MAX];
            for (size_t i = 0; i < m.positions; i++)
                q[i] = ff_rng_range(&rng, -1, 1);
            if (!fixed) {
                const ff_quat unit = ff_quat_unit((ff_quat){q[0], q[1], q[2], q[3]});
                memcpy(q, &unit, sizeof unit);
            }
            const double h = 1e-4;
            for (size_t i = 0; i < m.dof; i++) {
                v[i] = ff_rng_range(&rng, -1, 1);
                step[i] = h * v[i];
            }
            ff_mechanism_displace(&m, q, step, to);
            for (size_t i = 0; i < m.dof; i++)
                step[i] = -h * v[i];
            ff_mechanism_displace(&m, q, step, back);
            ff_mechanism_rate(&m, q, v, rate);
            for (size_t i = 0; i < m.positions; i++)
                assert_near((to[i] - back[i]) / (2 * h), rate[i], 1e-7);
            for (int bad = 0; flexible && bad < 8; bad++) {
                ff_tree_mechanism d = c;
                double *x[] = {&d.motor_inertia[joints - 1], &d.stiffness[joints - 1], &d.damping[joints - 1],
                               &d.motor_friction[joints - 1]};
                *x[bad % 4] = bad < 4 ? -1.0 : FF_NAN;
                assert_int_equal(ff_tree_mechanism_create(&d, &m),
                                 bad % 4 ? FF_ERR_ARGUMENT : FF_ERR_INERTIA);
            }
        }
}

/* Eigenvalues are known: Q diag Q^T of every size. */
static void test_force_gain_bound_of_every_size(void **unused) {
    (void)unused;
    for (size_t n = 1; n <= 6; n++)
        for (int pass = 0; pass < 20; pass++) {
            double Q[36], A[36] = {0}, value[6], largest = -FF_INF;
            for (size_t i = 0; i < n; i++) { /* Gram-Schmidt on random rows */
                for (size_t j = 0; j < n; j++)
                    Q[i * n + j] = ff_rng_normal(&rng);
                for (int twice = 0; twice < 2; twice++) {
                    for (size_t k = 0; k < i; k++) {
                        double dot = 0.0;
                        for (size_t j = 0; j < n; j++)
                            dot += Q[i * n + j] * Q[k * n + j];
                        for (size_t j = 0; j < n; j++)
                            Q[i * n + j] -= dot * Q[k * n + j];
                    }
                    double norm = 0.0;
                    for (size_t j = 0; j < n; j++)
                        norm += Q[i * n + j] * Q[i * n + j];
                    for (size_t j = 0; j < n; j++)
                        Q[i * n + j] /= sqrt(norm);
                }
                value[i] = ff_rng_range(&rng, -3, pass % 4 ? 3 : -0.1);
                largest = fmax(largest, value[i]);
            }
            for (size_t i = 0; i < n; i++)
                for (size_t r = 0; r < n; r++)
                    for (size_t c = 0; c < n; c++)
                        A[r * n + c] += value[i] * Q[i * n + r] * Q[i * n + c];
            const double bound = ff_emulation_force_gain_bound(5.0, n, A);
            if (largest > 0.0)
                assert_near(bound * largest, 10.0, 1e-11 * (1.0 + 3.0 / largest));
            else
                assert_true(isinf(bound));
        }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 31);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_cycle_advances_target_and_reference),
        cmocka_unit_test(test_every_fault_holds_the_last_torque),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_the_ratio_is_where_damping_begins),
        cmocka_unit_test(test_reset_refuses),
        cmocka_unit_test(test_analysis_refuses),
        cmocka_unit_test(test_create_refuses_what_does_not_fit),
        cmocka_unit_test(test_joints_are_their_equations),
        cmocka_unit_test(test_joints_refuse),
        cmocka_unit_test(test_tree_moves_and_refuses),
        cmocka_unit_test(test_force_gain_bound_of_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
