/* The tree's table, its statuses, and closed forms: double pendulum, rigid body, slider, merged links. */
#include "support.h"

#include "dynamics/tree_layout.h"
#include "servicer_model.h"

static max_align_t model_memory[4096], work_memory[8192];

static ff_mat3 symmetric_for_test(const double *j) {
    return (ff_mat3){{{j[0], j[3], j[4]}, {j[3], j[1], j[5]}, {j[4], j[5], j[2]}}};
}

static ff_tree_model *make(const ff_tree_config *config, ff_tree_work **work) {
    ff_tree_model *model = NULL;
    char message[200];
    if (ff_tree_create(config, model_memory, sizeof model_memory, &model, message, sizeof message))
        fail_msg("%s", message);
    assert_string_equal(message, "");
    assert_int_equal(ff_tree_work_create(model, work_memory, sizeof work_memory, work), FF_OK);
    return model;
}

static void assert_refused(const ff_tree_config *config, ff_status status, const char *part) {
    char message[200];
    assert_int_equal(ff_tree_validate(config, message, sizeof message), status);
    if (!strstr(message, part))
        fail_msg("\"%s\" does not say \"%s\"", message, part);
    ff_tree_model *model = NULL;
    assert_int_equal(ff_tree_create(config, model_memory, sizeof model_memory, &model, NULL, 0), status);
    assert_null(model);
}

static void test_validate_wrong_tables_are_refused_by_name(void **state) {
    (void)state;
    servicer_model s;
#define WITH(change, status, part)               \
    do {                                         \
        servicer_model_make(&s);                 \
        change;                                  \
        assert_refused(&s.config, status, part); \
    } while (0)
    WITH(s.link[3].parent = 3, FF_ERR_ARGUMENT, "link 3 (link4): its parent must be");
    WITH(s.link[2].parent = 5, FF_ERR_ARGUMENT, "link 2");
    WITH(s.link[2].parent = -2, FF_ERR_ARGUMENT, "link 2");
    WITH(s.link[2].joint = (ff_joint_kind)9, FF_ERR_ARGUMENT, "revolute, prismatic or fixed");
    WITH(s.link[4].mass = 0; memset(s.link[4].inertia, 0, sizeof s.link[4].inertia), FF_ERR_MASS,
                             "link 4 (link5): the mass is missing");
    WITH(s.link[4].mass = 0, FF_ERR_MASS, "inertia but no mass");
    WITH(s.link[4].mass = -1, FF_ERR_MASS, "must be positive");
    WITH(s.link[5].inertia[0] = -0.005, FF_ERR_INERTIA, "link 5");
    WITH(s.link[5].inertia[2] = 0.0095, FF_ERR_INERTIA, "triangle");
    WITH(s.link[5].inertia[3] = 0.02, FF_ERR_INERTIA, "positive definite");
    WITH(memset(s.link[5].inertia, 0, sizeof s.link[5].inertia), FF_ERR_INERTIA, "positive definite");
    WITH(s.link[6].axis = ff_vec3_zero(), FF_ERR_SINGULAR, "axis must not be zero");
    WITH(s.link[6].axis.y = FF_NAN, FF_ERR_NOT_FINITE, "axis");
    WITH(s.link[6].com.y = HUGE_VAL, FF_ERR_NOT_FINITE, "finite");
    WITH(s.link[6].pose.p.x = FF_NAN, FF_ERR_NOT_FINITE, "finite");
    WITH(s.link[6].pose.q.w = 3, FF_ERR_ARGUMENT, "quaternion");
    WITH(s.link[6].q_min = 1; s.link[6].q_max = -1, FF_ERR_ARGUMENT, "q_min");
    WITH(s.link[6].torque_max = 0, FF_ERR_ARGUMENT, "limits");
    WITH(s.link[6].velocity_max = FF_NAN, FF_ERR_ARGUMENT, "limits");
    WITH(s.link[6].rotor_inertia = -1, FF_ERR_ARGUMENT, "rotor");
    WITH(s.link[6].coulomb = -1, FF_ERR_ARGUMENT, "friction");
    WITH(s.config.base_mass = 0, FF_ERR_MASS, "base: ");
    WITH(s.config.base_mass = FF_NAN, FF_ERR_NOT_FINITE, "base: ");
    WITH(s.config.base_inertia[2] = 5000, FF_ERR_INERTIA, "base: ");
    WITH(s.config.links = FF_TREE_LINKS_MAX + 1, FF_ERR_SIZE, "at most 96 links, the table has 97");
    WITH(s.config.link = NULL, FF_ERR_ARGUMENT, "missing");
#undef WITH
    /* one joint too many */
    static ff_tree_link_config row[FF_TREE_JOINTS_MAX + 1];
    servicer_model_make(&s);
    for (int i = 0; i <= FF_TREE_JOINTS_MAX; i++) {
        row[i] = s.link[0];
        row[i].parent = i - 1;
    }
    s.config.link = row;
    s.config.links = FF_TREE_JOINTS_MAX + 1;
    assert_refused(&s.config, FF_ERR_SIZE, "at most 32 joints, the table has 33");
    s.config.links = FF_TREE_JOINTS_MAX;
    assert_int_equal(ff_tree_validate(&s.config, NULL, 0), FF_OK);
    /* a short buffer is cut, not overrun */
    char small[8] = "1234567";
    servicer_model_make(&s);
    s.link[1].mass = -1;
    assert_int_equal(ff_tree_validate(&s.config, small, 6), FF_ERR_MASS);
    assert_string_equal(small, "link ");
    assert_int_equal(small[6], '7');
}

static void test_create_memory_too_small_is_refused(void **state) {
    (void)state;
    servicer_model s;
    servicer_model_make(&s);
    ff_tree_model *model = NULL;
    char message[100];
    const size_t need = ff_tree_memsize(&s.config);
    assert_int_equal(ff_tree_create(&s.config, model_memory, need - 1, &model, message, sizeof message),
                     FF_ERR_SIZE);
    assert_non_null(strstr(message, "too small"));
    assert_int_equal(ff_tree_create(&s.config, NULL, need, &model, NULL, 0), FF_ERR_SIZE);
    /* exactly enough, at any alignment of the caller's bytes, and not a byte beyond */
    for (size_t offset = 0; offset < 64; offset += 8) {
        unsigned char *bytes = (unsigned char *)model_memory + offset;
        memset(model_memory, 0xA5, sizeof model_memory);
        assert_int_equal(ff_tree_create(&s.config, bytes, need, &model, NULL, 0), FF_OK);
        assert_int_equal(bytes[need], 0xA5);
        ff_tree_work *work = NULL;
        const size_t work_need = ff_tree_work_memsize(model);
        memset(work_memory, 0xA5, sizeof work_memory);
        unsigned char *more = (unsigned char *)work_memory + offset;
        assert_int_equal(ff_tree_work_create(model, more, work_need - 1, &work), FF_ERR_SIZE);
        assert_int_equal(ff_tree_work_create(model, more, work_need, &work), FF_OK);
        ff_tree_state x;
        ff_tree_state_default(&x);
        assert_near(x.base.q.w, 1.0, 0.0); /* a turn that is one */
        double M[13 * 13];
        ff_tree_force force = {ff_wrench_zero(), {0}};
        ff_tree_acceleration a;
        ff_tree_kinematics(model, &x, work, ff_vec3_zero());
        ff_tree_mass_matrix(model, work, M);
        ff_tree_coriolis(model, work, M);
        assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &a), FF_OK);
        assert_int_equal(more[work_need], 0xA5);
    }
}

static void test_servicer_has_its_mass_and_reach(void **state) {
    (void)state;
    servicer_model s;
    servicer_model_make(&s);
    ff_tree_work *work;
    ff_tree_model *model = make(&s.config, &work);
    assert_near(ff_tree_mass(model), 1518.70, 1e-9);
    assert_int_equal(ff_tree_dof(model), 13);
    assert_int_equal(ff_tree_joints(model), 7);
    assert_int_equal(ff_tree_links(model), 7);
    assert_int_equal(ff_tree_joint_of_link(model, 3), 3);
    assert_false(ff_tree_fixed_base(model));
    ff_tree_state x;
    ff_tree_state_default(&x);
    ff_tree_kinematics(model, &x, work, ff_vec3_zero());
    /* stretched arm: along x from the mount, 0.95 + .1575 + .2025 + .2045 + .2155 + .1845 + .2155 + .081 +
     * .195 */
    const ff_tree_frame gripper = servicer_gripper();
    assert_vec3_near(ff_tree_frame_pose(model, work, &gripper).p, ff_vec3_make(2.406, 0, 0), 1e-14);
    /* all pitch joints about one axis: the pitch of the gripper is q2 - q4 + q6 */
    const double q[7] = {0, .7031, 0, 1.4497, 0, .7466, 0};
    memcpy(x.q, q, sizeof q);
    ff_tree_kinematics(model, &x, work, ff_vec3_zero());
    const ff_quat turn = ff_tree_frame_pose(model, work, &gripper).q;
    const ff_quat mount = ff_quat_exp(ff_vec3_make(0, FF_PI / 2, 0));
    assert_near(ff_quat_angle(turn, mount), fabs(.7031 - 1.4497 + .7466), 1e-12);
}

/* A planar double pendulum about y, hanging along -z, with distributed links: Lagrange's equations by hand.
 */
static void test_double_pendulum_equals_its_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 60);
    for (int n = 0; n < 200; n++) {
        const double m1 = ff_rng_range(&rng, 1, 3), m2 = ff_rng_range(&rng, 1, 3);
        const double l1 = ff_rng_range(&rng, .3, 1), c1 = ff_rng_range(&rng, .1, .5),
                     c2 = ff_rng_range(&rng, .1, .5);
        const double j1 = ff_rng_range(&rng, .05, .08), j2 = ff_rng_range(&rng, .05, .08), r2 = .03, g = 9.81;
        ff_tree_link_config link[2];
        for (int i = 0; i < 2; i++) {
            ff_tree_link_default(&link[i]);
            link[i].parent = i - 1;
            link[i].axis = ff_vec3_make(0, 3, 0); /* any length */
            const double j = i ? j2 : j1;
            const double inertia[6] = {j, j, .06, 0, 0, 0};
            memcpy(link[i].inertia, inertia, sizeof inertia);
        }
        link[0].mass = m1;
        link[0].com = ff_vec3_make(0, 0, -c1);
        link[1].mass = m2;
        link[1].com = ff_vec3_make(0, 0, -c2);
        link[1].pose.p = ff_vec3_make(0, .1, -l1);
        link[1].rotor_inertia = r2;
        ff_tree_config config;
        ff_tree_config_default(&config);
        config.fixed_base = true;
        config.links = 2;
        config.link = link;
        ff_tree_work *work;
        ff_tree_model *model = make(&config, &work);
        ff_tree_state x;
        ff_tree_state_default(&x);
        for (int i = 0; i < 2; i++) {
            x.q[i] = ff_rng_range(&rng, -3, 3);
            x.qd[i] = ff_rng_range(&rng, -3, 3);
        }
        ff_tree_kinematics(model, &x, work, ff_vec3_make(0, 0, -g));
        double M[4], b[2], C[4], G[2];
        ff_tree_mass_matrix(model, work, M);
        ff_tree_bias(model, work, b);
        ff_tree_coriolis(model, work, C);
        ff_tree_gravity(model, work, G);
        const double cosine = cos(x.q[1]), sine = sin(x.q[1]), s1 = sin(x.q[0]), s12 = sin(x.q[0] + x.q[1]);
        const double m22 = j2 + m2 * c2 * c2, m12 = m22 + m2 * l1 * c2 * cosine;
        assert_near(M[0], j1 + m1 * c1 * c1 + m22 + m2 * (l1 * l1 + 2 * l1 * c2 * cosine), 1e-13);
        assert_near(M[1], m12, 1e-13);
        assert_near(M[2], m12, 1e-13);
        assert_near(M[3], m22 + r2, 1e-13);
        const double h = m2 * l1 * c2 * sine, w1 = x.qd[0], w2 = x.qd[1];
        const double g2 = m2 * g * c2 * s12, g1 = g * (m1 * c1 + m2 * l1) * s1 + g2;
        assert_near(b[0], -h * (2 * w1 * w2 + w2 * w2) + g1, 1e-12);
        assert_near(b[1], h * w1 * w1 + g2, 1e-12);
        assert_near(G[0], g1, 1e-12);
        assert_near(G[1], g2, 1e-12);
        /* the textbook's C of Christoffel symbols */
        assert_near(C[0], -h * w2, 1e-13);
        assert_near(C[1], -h * (w1 + w2), 1e-13);
        assert_near(C[2], h * w1, 1e-13);
        assert_near(C[3], 0, 1e-13);
        assert_near(ff_tree_potential_energy(model, work),
                    -g * (m1 * c1 * cos(x.q[0]) + m2 * (l1 * cos(x.q[0]) + c2 * cos(x.q[0] + x.q[1]))),
                    1e-12);
        assert_near(ff_tree_kinetic_energy(model, work),
                    0.5 * (M[0] * w1 * w1 + 2 * M[1] * w1 * w2 + M[3] * w2 * w2), 1e-12);
    }
}

/* No joints: Euler's equations, with the CoM off the frame's origin. */
static void test_rigid_body_obeys_newton_and_euler(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 61);
    ff_tree_config config;
    ff_tree_config_default(&config);
    config.base_mass = 280;
    const double inertia[6] = {18, 20, 22, 1, -.5, .7};
    memcpy(config.base_inertia, inertia, sizeof inertia);
    config.base_com = ff_vec3_make(.1, -.2, .3);
    ff_tree_work *work;
    ff_tree_model *model = make(&config, &work);
    assert_int_equal(ff_tree_dof(model), 6);
    const ff_mat3 J = symmetric_for_test(inertia);
    for (int n = 0; n < 100; n++) {
        ff_tree_state x;
        ff_tree_state_default(&x);
        x.base = test_random_pose(&rng, 3);
        x.twist = (ff_twist){test_random_vec3(&rng, 2), test_random_vec3(&rng, 2)};
        const ff_vec3 g = test_random_vec3(&rng, 9);
        ff_tree_force force = {{test_random_vec3(&rng, 30), test_random_vec3(&rng, 30)}, {0}};
        ff_tree_acceleration a;
        ff_tree_kinematics(model, &x, work, g);
        assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &a), FF_OK);
        /* at the CoM: m a_c = f + m g, J w' + w x J w = t - c x f */
        const ff_vec3 w = x.twist.w, c = config.base_com;
        const ff_vec3 a_origin = ff_vec3_add(a.base.v, ff_vec3_cross(w, x.twist.v));
        const ff_vec3 a_com = ff_vec3_add(
            a_origin, ff_vec3_add(ff_vec3_cross(a.base.w, c), ff_vec3_cross(w, ff_vec3_cross(w, c))));
        assert_vec3_near(
            a_com, ff_vec3_add(ff_vec3_scale(1 / 280.0, force.base.f), ff_quat_unrotate(x.base.q, g)), 1e-12);
        assert_vec3_near(ff_vec3_add(ff_mat3_apply(&J, a.base.w), ff_vec3_cross(w, ff_mat3_apply(&J, w))),
                         ff_vec3_sub(force.base.t, ff_vec3_cross(c, force.base.f)), 1e-11);
        const ff_tree_momentum h = ff_tree_total_momentum(model, work);
        assert_vec3_near(h.spin, ff_quat_rotate(x.base.q, ff_mat3_apply(&J, w)), 1e-11);
        assert_vec3_near(
            h.linear,
            ff_vec3_scale(280, ff_quat_rotate(x.base.q, ff_vec3_add(x.twist.v, ff_vec3_cross(w, c)))), 1e-10);
        assert_vec3_near(h.com, ff_pose_apply(x.base, c), 1e-13);
        assert_vec3_near(h.origin, ff_vec3_add(h.spin, ff_vec3_cross(h.com, h.linear)), 1e-9);
    }
}

/* A mass on a slider on a free base: internal force, so the CoM stays, and both move by the mass ratio. */
static void test_slider_moves_base_by_the_mass_ratio(void **state) {
    (void)state;
    ff_tree_link_config link;
    ff_tree_link_default(&link);
    link.joint = FF_JOINT_PRISMATIC;
    link.axis = ff_vec3_make(1, 0, 0);
    link.mass = 2;
    const double one[6] = {1, 1, 1, 0, 0, 0};
    memcpy(link.inertia, one, sizeof one);
    ff_tree_config config;
    ff_tree_config_default(&config);
    config.base_mass = 6;
    memcpy(config.base_inertia, one, sizeof one);
    config.links = 1;
    config.link = &link;
    ff_tree_work *work;
    ff_tree_model *model = make(&config, &work);
    ff_tree_state x;
    ff_tree_state_default(&x);
    ff_tree_force force = {ff_wrench_zero(), {3}};
    ff_tree_acceleration a;
    ff_tree_kinematics(model, &x, work, ff_vec3_zero());
    assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &a), FF_OK);
    assert_vec3_near(a.base.v, ff_vec3_make(-.5, 0, 0), 1e-15);
    assert_near(a.qdd[0], 2.0, 1e-15); /* 3/2 of the mass, less the base's -1/2 */
}

/* A link behind a fixed joint is part of the link it stands on: the same body written as one link. */
static void test_fixed_links_are_merged(void **state) {
    (void)state;
    servicer_model s;
    servicer_model_make(&s);
    /* link 4 cut into two halves of equal inertia about one point, the second behind a fixed joint; a
     * massless tool frame at the end */
    ff_tree_link_config row[SERVICER_JOINTS + 2];
    const ff_pose cut = {ff_quat_exp(ff_vec3_make(.3, -.7, .2)), {{.01, .02, -.03}}};
    for (int i = 0, r = 0; i < SERVICER_JOINTS; i++) {
        row[r] = s.link[i];
        row[r].parent = i == 4 ? 3 : r - 1;
        r++;
        if (i == 3) {
            row[3].mass /= 2;
            row[4] = row[3];
            row[4].parent = 3;
            row[4].joint = FF_JOINT_FIXED;
            row[4].pose = cut;
            row[4].com = ff_pose_apply(ff_pose_inverse(cut), row[3].com);
            for (int k = 0; k < 6; k++)
                row[3].inertia[k] /= 2;
            const ff_mat3 R = ff_quat_to_mat3(cut.q), half = symmetric_for_test(row[3].inertia);
            const ff_mat3 turned = ff_mat3_mul(ff_mat3_transpose(R), ff_mat3_mul(half, R));
            const double inertia[6] = {turned.m[0][0], turned.m[1][1], turned.m[2][2],
                                       turned.m[0][1], turned.m[0][2], turned.m[1][2]};
            memcpy(row[4].inertia, inertia, sizeof inertia);
            r++;
        }
    }
    ff_tree_link_default(&row[8]);
    row[8].parent = 7;
    row[8].joint = FF_JOINT_FIXED;
    row[8].pose.p = ff_vec3_make(0, 0, .195);
    ff_tree_config config = s.config;
    config.links = SERVICER_JOINTS + 2;
    config.link = row;
    ff_tree_state x;
    ff_tree_state_default(&x);
    for (int i = 0; i < SERVICER_JOINTS; i++) {
        x.q[i] = .3 * i - 1;
        x.qd[i] = .1 * i;
    }
    double M[2][169], bias[2][13];
    ff_pose tip[2];
    for (int n = 0; n < 2; n++) {
        ff_tree_work *work;
        ff_tree_model *model = make(n ? &config : &s.config, &work);
        assert_int_equal(ff_tree_joints(model), 7);
        ff_tree_kinematics(model, &x, work, ff_vec3_make(0, 1, 2));
        ff_tree_mass_matrix(model, work, M[n]);
        ff_tree_bias(model, work, bias[n]);
        const ff_tree_frame tool = {8, ff_pose_identity()}, gripper = servicer_gripper();
        tip[n] = ff_tree_frame_pose(model, work, n ? &tool : &gripper);
        if (n) {
            assert_int_equal(ff_tree_joint_of_link(model, 4), 3);
            assert_int_equal(ff_tree_joint_of_link(model, 8), 6);
            assert_int_equal(ff_tree_joint_of_link(model, FF_TREE_BASE), FF_TREE_BASE);
        }
    }
    for (int k = 0; k < 169; k++)
        assert_near(M[1][k], M[0][k], 1e-12);
    for (int k = 0; k < 13; k++)
        assert_near(bias[1][k], bias[0][k], 1e-11);
    assert_vec3_near(tip[1].p, tip[0].p, 1e-14);
}

static void test_limits_and_friction_are_kept(void **state) {
    (void)state;
    servicer_model s;
    servicer_model_make(&s);
    s.link[2].q_min = -1;
    s.link[2].q_max = 2;
    s.link[2].velocity_max = 3;
    s.link[2].torque_max = 40;
    s.link[2].viscous = .5;
    s.link[2].coulomb = 2;
    ff_tree_work *work;
    ff_tree_model *model = make(&s.config, &work);
    const ff_tree_limits limits = ff_tree_joint_limits(model, 2);
    assert_near(limits.q_min, -1, 0);
    assert_near(limits.q_max, 2, 0);
    assert_near(limits.velocity_max, 3, 0);
    assert_near(limits.torque_max, 40, 0);
    assert_true(isinf(ff_tree_joint_limits(model, 3).torque_max));
    const double qd[7] = {1, 1, .4, 1, 1, 1, 1};
    double torque[7];
    ff_tree_friction(model, qd, 1e-3, torque);
    assert_near(torque[2], -(.5 * .4 + 2), 1e-14);
    assert_near(torque[1], 0, 0);
}

static void test_values_not_finite_are_a_status_not_a_crash(void **state) {
    (void)state;
    servicer_model s;
    servicer_model_make(&s);
    ff_tree_work *work;
    ff_tree_model *model = make(&s.config, &work);
    ff_tree_state x;
    ff_tree_state_default(&x);
    x.q[2] = FF_NAN;
    ff_tree_force force = {ff_wrench_zero(), {0}};
    ff_tree_acceleration a = {{{{1, 2, 3}}, {{4, 5, 6}}}, {7}};
    ff_tree_kinematics(model, &x, work, ff_vec3_zero());
    assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &a), FF_ERR_SINGULAR);
    assert_near(a.base.v.z, 6, 0);
    assert_near(a.qdd[0], 7, 0);
    /* and the next cycle is clean */
    x.q[2] = 0;
    ff_tree_kinematics(model, &x, work, ff_vec3_zero());
    assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &a), FF_OK);
    assert_near(a.base.v.z, 0, 0);
}

/* The 256-bit form does the same operations in the same order. */
static void test_both_widths_give_the_same_bits(void **state) {
    (void)state;
    servicer_model s;
    servicer_model_make(&s);
    ff_tree_work *work;
    ff_tree_model *model = make(&s.config, &work);
    if (!model->wide) {
        print_message("this processor has one width only\n");
        return;
    }
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 62);
    for (int n = 0; n < 200; n++) {
        ff_tree_state x;
        ff_tree_state_default(&x);
        x.base = test_random_pose(&rng, 3);
        x.twist = (ff_twist){test_random_vec3(&rng, 2), test_random_vec3(&rng, 2)};
        ff_tree_force force = {{test_random_vec3(&rng, 3), test_random_vec3(&rng, 3)}, {0}};
        for (int i = 0; i < SERVICER_JOINTS; i++) {
            x.q[i] = ff_rng_range(&rng, -3, 3);
            x.qd[i] = ff_rng_range(&rng, -3, 3);
            force.torque[i] = ff_rng_range(&rng, -3, 3);
        }
        const ff_vec3 g = test_random_vec3(&rng, 9);
        double M[2][169], bias[2][13];
        ff_tree_acceleration a[2];
        ff_tree_force f[2];
        memset(a, 0, sizeof a);
        memset(f, 0, sizeof f);
        for (int wide = 0; wide < 2; wide++) {
            model->wide = wide;
            ff_tree_kinematics(model, &x, work, g);
            ff_tree_mass_matrix(model, work, M[wide]);
            ff_tree_bias(model, work, bias[wide]);
            assert_int_equal(ff_tree_forward_dynamics(model, work, &force, NULL, &a[wide]), FF_OK);
            ff_tree_inverse_dynamics(model, work, &a[wide], NULL, &f[wide]);
        }
        assert_memory_equal(M[0], M[1], sizeof M[0]);
        assert_memory_equal(bias[0], bias[1], sizeof bias[0]);
        assert_memory_equal(&a[0], &a[1], sizeof a[0]);
        assert_memory_equal(&f[0], &f[1], sizeof f[0]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validate_wrong_tables_are_refused_by_name),
        cmocka_unit_test(test_create_memory_too_small_is_refused),
        cmocka_unit_test(test_servicer_has_its_mass_and_reach),
        cmocka_unit_test(test_double_pendulum_equals_its_closed_form),
        cmocka_unit_test(test_rigid_body_obeys_newton_and_euler),
        cmocka_unit_test(test_slider_moves_base_by_the_mass_ratio),
        cmocka_unit_test(test_fixed_links_are_merged),
        cmocka_unit_test(test_limits_and_friction_are_kept),
        cmocka_unit_test(test_values_not_finite_are_a_status_not_a_crash),
        cmocka_unit_test(test_both_widths_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
