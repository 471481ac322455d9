/* Rigid bodies, ports and tables of links at their limits: every status, every component that is not finite,
 * axes of every direction. */
#include "support.h"

#include "freefloat/body.h"
#include "servicer_model.h"

static ff_rng rng;

static void test_rigid_validate(void **unused) {
    (void)unused;
    const ff_rigid_config good = {100, {{{20, 1, 2}, {1, 22, 3}, {2, 3, 24}}}};
    assert_int_equal(ff_rigid_validate(&good), FF_OK);
    for (int k = 0; k < 9; k++) {
        ff_rigid_config c = good;
        c.inertia.m[k / 3][k % 3] = k % 2 ? FF_NAN : -FF_INF;
        assert_int_equal(ff_rigid_validate(&c), FF_ERR_NOT_FINITE);
        if (k / 3 == k % 3)
            continue;
        /* symmetric to 1e-9 of the largest entry */
        c = good;
        c.inertia.m[k / 3][k % 3] += 24 * 2e-9;
        assert_int_equal(ff_rigid_validate(&c), FF_ERR_INERTIA);
        c = good;
        c.inertia.m[k / 3][k % 3] += 24 * 0.5e-9;
        assert_int_equal(ff_rigid_validate(&c), FF_OK);
    }
    const double mass[] = {0.0, -1.0, FF_NAN, FF_INF};
    for (int i = 0; i < 4; i++) {
        ff_rigid_config c = good;
        c.mass = mass[i];
        assert_int_equal(ff_rigid_validate(&c), i < 2 ? FF_ERR_MASS : FF_ERR_NOT_FINITE);
    }
    /* a plate is allowed, to 1e-9; more is not; nor is zero */
    const struct {
        double a, b, c;
        ff_status status;
    } moments[] = {{1, 2, 3, FF_OK},
                   {1, 2, 3 * (1 + 2e-9), FF_ERR_INERTIA},
                   {0, 2, 2, FF_ERR_INERTIA},
                   {-1, 2, 2, FF_ERR_INERTIA},
                   {2, 1, 2.5, FF_OK}};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        const ff_rigid_config c = {1, ff_mat3_diag(moments[i].a, moments[i].b, moments[i].c)};
        assert_int_equal(ff_rigid_validate(&c), moments[i].status);
        ff_rigid_model m;
        assert_int_equal(ff_rigid_create(&c, &m), moments[i].status);
    }
}

static void test_rigid_create(void **unused) {
    (void)unused;
    for (int n = 0; n < 16; n++) {
        /* each product of inertia on its own */
        ff_rigid_config c = {80, ff_mat3_diag(21, 20, 22)};
        for (int k = 0; k < 3; k++)
            if (n >> k & 1) {
                const int i = k == 2 ? 1 : 0, j = k == 0 ? 1 : 2;
                c.inertia.m[i][j] = c.inertia.m[j][i] = 0.5 + 0.1 * k;
            }
        ff_rigid_model m;
        assert_int_equal(ff_rigid_create(&c, &m), FF_OK);
        assert_int_equal(m.inertia_is_diag, n % 8 == 0);
        assert_near(m.mass * m.mass_inv, 1.0, 1e-15);
        const ff_mat3 one = ff_mat3_mul(m.inertia, m.inertia_inv), R = ff_quat_to_mat3(m.q_bp);
        const ff_mat3 back = ff_mat3_mul(
            R, ff_mat3_mul(ff_mat3_diag(m.principal.x, m.principal.y, m.principal.z), ff_mat3_transpose(R)));
        for (int k = 0; k < 9; k++) {
            assert_near((&one.m[0][0])[k], k % 4 ? 0.0 : 1.0, 1e-14);
            assert_near((&back.m[0][0])[k], (&c.inertia.m[0][0])[k], 1e-12);
        }
        if (m.inertia_is_diag) /* the body's own axes */
            assert_vec3_near(m.principal, ff_vec3_make(21, 20, 22), 0.0);
    }
    for (int k = 0; k < 13; k++) {
        ff_rigid_state x = {test_random_vec3(&rng, 1), ff_quat_identity(), test_random_vec3(&rng, 1),
                            test_random_vec3(&rng, 1)};
        assert_true(ff_rigid_finite(&x));
        double *at[] = {&x.position.x, &x.position.y, &x.position.z, &x.attitude.w, &x.attitude.x,
                        &x.attitude.y, &x.attitude.z, &x.velocity.x, &x.velocity.y, &x.velocity.z,
                        &x.omega.x,    &x.omega.y,    &x.omega.z};
        *at[k] = k % 2 ? FF_NAN : FF_INF;
        assert_false(ff_rigid_finite(&x));
    }
}

static void test_ports_of_a_rigid_body(void **unused) {
    (void)unused;
    ff_pose port[FF_BODY_PORTS_MAX + 1];
    for (int i = 0; i <= FF_BODY_PORTS_MAX; i++)
        port[i] = test_random_pose(&rng, 1);
    const ff_rigid_config c = {80, ff_mat3_diag(21, 20, 22)};
    ff_body body;
    assert_int_equal(ff_body_rigid(&c, -1, port, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_rigid(&c, FF_BODY_PORTS_MAX + 1, port, &body), FF_ERR_ARGUMENT);
    for (int ports = 0; ports <= FF_BODY_PORTS_MAX; ports++) {
        assert_int_equal(ff_body_rigid(&c, ports, port, &body), FF_OK);
        assert_int_equal(ff_body_joints(&body), 0);
        assert_int_equal(ff_body_work_memsize(&body), 0);
        ff_body_work *work;
        assert_int_equal(ff_body_work_create(&body, NULL, 0, &work), FF_OK);
        assert_null(work);
        ff_body_view view;
        ff_body_state state;
        const ff_rigid_state x = {.attitude = {1, 0, 0, 0}};
        ff_body_reset(&body, NULL, &x, NULL, NULL, &state);
        assert_int_equal(ff_body_measure(&body, NULL, 0.004, NULL, NULL, &state, &view), FF_OK);
        assert_int_equal(view.ports, ports);
        for (int i = 0; i < ports; i++) {
            const ff_pose ahead = ff_body_port_ahead(&body, NULL, i, 0.1, &state);
            assert_memory_equal(&view.port[i], &port[i], sizeof port[i]);
            assert_memory_equal(&ahead, &port[i], sizeof port[i]);
        }
    }
    const ff_rigid_config bad = {-1, c.inertia};
    assert_int_equal(ff_body_rigid(&bad, 0, NULL, &body), FF_ERR_MASS);
}

static void test_ports_of_a_tree(void **unused) {
    (void)unused;
    static max_align_t memory[4096], work_memory[8192];
    servicer_model s;
    servicer_model_make(&s);
    ff_tree_model *tree;
    ff_body body;
    ff_body_work *work;
    assert_int_equal(ff_body_tree(NULL, 0, NULL, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_tree_create(&s.config, memory, sizeof memory, &tree, NULL, 0), FF_OK);
    const int rows = (int)s.config.links, link[] = {-2, -1, 0, rows - 1, rows};
    for (int i = 0; i < 5; i++) {
        const ff_tree_frame port = {link[i], ff_pose_identity()};
        assert_int_equal(ff_body_tree(tree, 1, &port, &body), i == 0 || i == 4 ? FF_ERR_ARGUMENT : FF_OK);
    }
    ff_tree_frame bad = {0, ff_pose_identity()};
    bad.offset.p.y = FF_NAN;
    assert_int_equal(ff_body_tree(tree, 1, &bad, &body), FF_ERR_ARGUMENT);
    bad.offset.p.y = 0.0;
    assert_int_equal(ff_body_tree(tree, -1, &bad, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(tree, FF_BODY_PORTS_MAX + 1, &bad, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(tree, 1, &bad, &body), FF_OK);
    assert_int_equal(ff_body_joints(&body), rows);
    const size_t need = ff_body_work_memsize(&body);
    assert_int_equal(ff_body_work_create(&body, NULL, need, &work), FF_ERR_SIZE);
    assert_int_equal(ff_body_work_create(&body, work_memory, need - 1, &work), FF_ERR_SIZE);
    assert_null(work);
    assert_int_equal(ff_body_work_create(&body, work_memory, need, &work), FF_OK);
    s.config.fixed_base = true;
    assert_int_equal(ff_tree_create(&s.config, memory, sizeof memory, &tree, NULL, 0), FF_OK);
    assert_int_equal(ff_body_tree(tree, 0, NULL, &body), FF_ERR_ARGUMENT);
}

/* Every number of a row and of the base, one at a time; rows without a name; what a message says of sizes. */
static void test_tables_that_are_not_finite(void **unused) {
    (void)unused;
    static max_align_t memory[4096];
    for (int k = 0; k < 20; k++) {
        servicer_model s;
        servicer_model_make(&s);
        ff_tree_link_config *l = &s.link[3];
        double *at[] = {&l->pose.q.x,
                        &l->pose.p.z,
                        &l->com.x,
                        &l->com.z,
                        &l->inertia[0],
                        &l->inertia[1],
                        &l->inertia[2],
                        &l->inertia[3],
                        &l->inertia[4],
                        &l->inertia[5],
                        &l->mass,
                        &l->rotor_inertia,
                        &l->viscous,
                        &l->coulomb,
                        &s.config.base_mass,
                        &s.config.base_com.y,
                        &s.config.base_inertia[0],
                        &s.config.base_inertia[3],
                        &s.config.base_inertia[5],
                        &l->axis.z};
        *at[k] = k % 2 ? FF_NAN : FF_INF;
        l->name = NULL;
        char message[200] = "";
        assert_int_equal(ff_tree_validate(&s.config, message, sizeof message), FF_ERR_NOT_FINITE);
        assert_non_null(strstr(message, k >= 14 && k < 19 ? "base: " : "link 3: "));
    }
    servicer_model s;
    servicer_model_make(&s);
    s.link[3].viscous = -0.1;
    assert_int_equal(ff_tree_validate(&s.config, NULL, 0), FF_ERR_ARGUMENT);
    /* inertia without mass, in any axis */
    for (int k = 0; k < 3; k++) {
        servicer_model_make(&s);
        s.link[3].mass = 0.0;
        for (int i = 0; i < 6; i++)
            s.link[3].inertia[i] = i < 3 && i != k ? 0.1 : 0.0;
        char why[200] = "";
        assert_int_equal(ff_tree_validate(&s.config, why, sizeof why), FF_ERR_MASS);
        assert_non_null(strstr(why, "inertia but no mass"));
    }
    servicer_model_make(&s);
    char message[200] = "", expect[100];
    ff_tree_model *tree;
    assert_int_equal(ff_tree_create(&s.config, memory, 10, &tree, message, sizeof message), FF_ERR_SIZE);
    snprintf(expect, sizeof expect, "needs %zu bytes", ff_tree_memsize(&s.config));
    assert_non_null(strstr(message, expect));
    assert_int_equal(ff_tree_create(&s.config, memory, sizeof memory, &tree, NULL, 0), FF_OK);
    ff_tree_work *work;
    assert_int_equal(ff_tree_work_create(tree, NULL, 1 << 20, &work), FF_ERR_SIZE);
    for (int i = 0; i < (int)s.config.links; i++)
        assert_int_equal(ff_tree_joint_of_link(tree, i), i);
    assert_int_equal(ff_tree_joint_of_link(tree, FF_TREE_BASE), FF_TREE_BASE);
}

/* A row fixed to the base belongs to the base, one fixed to a link to that link's joint. */
static void test_joint_of_fixed_rows(void **unused) {
    (void)unused;
    static max_align_t memory[4096];
    ff_tree_link_config row[4];
    for (int i = 0; i < 4; i++) {
        ff_tree_link_default(&row[i]);
        row[i].mass = 1;
        row[i].inertia[0] = row[i].inertia[1] = row[i].inertia[2] = 0.1;
    }
    row[0].joint = FF_JOINT_FIXED; /* base - 0, base - 1 - 2, 1 = joint 0; 3 = joint 1 on 2 */
    row[2].parent = 1;
    row[2].joint = FF_JOINT_FIXED;
    row[3].parent = 2;
    const ff_tree_config c = {.base_mass = 10, .base_inertia = {1, 1, 1}, .links = 4, .link = row};
    ff_tree_model *tree;
    assert_int_equal(ff_tree_create(&c, memory, sizeof memory, &tree, NULL, 0), FF_OK);
    const int expect[] = {FF_TREE_BASE, 0, 0, 1};
    for (int i = 0; i < 4; i++)
        assert_int_equal(ff_tree_joint_of_link(tree, i), expect[i]);
    assert_int_equal(ff_tree_links(tree), 4);
    assert_int_equal(ff_tree_joints(tree), 2);
    assert_false(ff_tree_fixed_base(tree));
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 53);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rigid_validate),
        cmocka_unit_test(test_rigid_create),
        cmocka_unit_test(test_ports_of_a_rigid_body),
        cmocka_unit_test(test_ports_of_a_tree),
        cmocka_unit_test(test_tables_that_are_not_finite),
        cmocka_unit_test(test_joint_of_fixed_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
