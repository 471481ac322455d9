/* Arms of any maker: forward against the makers' own rows by plain matrices, inverses against the forward
 * map, which of them is closed, and what a search may cost and may not do. */
#include "freefloat/command.h"

#include "arms.h"
#include "support.h"

/* ------------------------------------------------------------------------------------------------ oracle --
 */

typedef struct matrix {
    double m[4][4];
} matrix;

static matrix times(matrix a, matrix b) {
    matrix c = {{{0}}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                c.m[i][j] += a.m[i][k] * b.m[k][j];
    return c;
}

/* Rodrigues' formula. */
static matrix about(const double *u, double q) {
    const double c = cos(q), s = sin(q), v = 1 - c, x = u[0], y = u[1], z = u[2];
    return (matrix){{{c + x * x * v, x * y * v - z * s, x * z * v + y * s, 0},
                     {y * x * v + z * s, c + y * y * v, y * z * v - x * s, 0},
                     {z * x * v - y * s, z * y * v + x * s, c + z * z * v, 0},
                     {0, 0, 0, 1}}};
}

static matrix origin(const arm_row *row) {
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    matrix m = times(about(z, row->rpy[2]), times(about(y, row->rpy[1]), about(x, row->rpy[0])));
    for (int i = 0; i < 3; i++)
        m.m[i][3] = row->xyz[i];
    return m;
}

static matrix oracle(const arm_urdf *arm, const double *q) {
    matrix m = origin(&arm->row[0]);
    for (int i = 0; i < arm->axes; i++)
        m = times(times(m, about(arm->row[i].axis, q[i])), origin(&arm->row[i + 1]));
    return m;
}

static double pose_apart(ff_pose a, ff_pose b) {
    return fmax(ff_vec3_norm(ff_vec3_sub(a.p, b.p)), ff_quat_angle(a.q, b.q));
}

/* ------------------------------------------------------------------------------------------------- arms --
 */

static ff_arm_model make(ff_arm_kind kind) {
    ff_arm_config config;
    ff_arm_model model;
    assert_int_equal(ff_arm_default(kind, &config), FF_OK);
    assert_int_equal(ff_arm_create(&config, &model), FF_OK);
    return model;
}

static ff_arm_joints random_joints(const ff_arm_model *m, ff_rng *rng) {
    ff_arm_joints j = {.rail = 0};
    for (int i = 0; i < m->config.axes; i++)
        j.a[i] = ff_rng_range(rng, m->config.lower[i], m->config.upper[i]);
    return j;
}

static void test_every_arm_is_where_its_maker_puts_it(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    assert_int_equal(ARM_URDFS, FF_ARM_KINDS);
    for (int n = 0; n < ARM_URDFS; n++) {
        const ff_arm_model model = make(arm_urdfs[n].kind);
        assert_int_equal(model.config.axes, arm_urdfs[n].axes);
        for (int i = 0; i < test_count(500, 100000); i++) {
            const ff_arm_joints j = random_joints(&model, &rng);
            const ff_pose T = ff_arm_forward(&model, &j);
            const matrix m = oracle(&arm_urdfs[n], j.a);
            const ff_mat3 R = ff_quat_to_mat3(T.q);
            double worst = 0;
            for (int r = 0; r < 3; r++) {
                worst = fmax(worst, fabs(T.p.a[r] - m.m[r][3]));
                for (int c = 0; c < 3; c++)
                    worst = fmax(worst, fabs(R.m[r][c] - m.m[r][c]));
            }
            if (!(worst < 1e-13)) /* 7 axes of a few metres: some tens of roundings */
                fail_msg("%s: %g beside its rows", ff_arm_name(arm_urdfs[n].kind), worst);
        }
        /* the ready posture is one: inside the ranges, away from the singularities */
        ff_arm_joints ready = {.rail = 0};
        memcpy(ready.a, model.config.ready, sizeof ready.a);
        assert_int_equal(ff_arm_outside(&model, &ready), 0);
        assert_true(ff_arm_singularity(&model, &ready).smallest > 0.05);
        assert_non_null(ff_arm_text(arm_urdfs[n].kind));
    }
    assert_null(ff_arm_name(FF_ARM_KINDS));
    assert_null(ff_arm_text((ff_arm_kind)-1));
}

static void test_the_inverse_is_closed_where_it_can_be(void **state) {
    (void)state;
    for (int kind = 0; kind < FF_ARM_KINDS; kind++)
        assert_int_equal(make((ff_arm_kind)kind).form, kind <= FF_ARM_KR210  ? FF_ARM_ELBOW
                                                       : kind <= FF_ARM_UR20 ? FF_ARM_OFFSET
                                                                             : FF_ARM_SEARCH);
}

static double joints_apart(const ff_arm_model *m, const ff_arm_joints *a, const ff_arm_joints *b) {
    double worst = 0;
    for (int i = 0; i < m->config.axes; i++)
        worst = fmax(worst, fabs(remainder(a->a[i] - b->a[i], 2 * FF_PI)));
    return worst;
}

/* All solutions reach the pose, and the joints that made it are one of them. */
static void check_closed(const ff_arm_model *m, ff_rng *rng, const char *what) {
    const ff_arm_joints made = random_joints(m, rng), previous = random_joints(m, rng);
    const ff_pose T = ff_arm_forward(m, &made);
    const ff_arm_margin margin = ff_arm_singularity(m, &made);
    ff_arm_solution s[8];
    ff_arm_info info;
    int count;
    if (ff_arm_inverse_all(m, &T, 0, &previous, s, &count, &info) != FF_OK)
        fail_msg("%s: no solution", what);
    double nearest = FF_INF;
    for (int k = 0; k < count; k++) {
        const double off = pose_apart(ff_arm_forward(m, &s[k].joints), T);
        if (!(off < 1e-11)) /* the families are recognised to 1e-11 */
            fail_msg("%s: branch %d is %g off", what, s[k].branch, off);
        nearest = fmin(nearest, joints_apart(m, &s[k].joints, &made));
        assert_true(k == 0 || s[k].branch > s[k - 1].branch);
    }
    /* lost digits: the square root of the rounding at a fold, the rounding over the sine elsewhere */
    if (!(nearest < 1e-13 / (margin.smallest * margin.smallest)))
        fail_msg("%s: the generating joints are %g from the nearest, margin %g", what, nearest,
                 margin.smallest);
    ff_arm_joints same;
    assert_int_equal(ff_arm_inverse(m, &T, &made, &same, &info), FF_OK);
    assert_true(pose_apart(ff_arm_forward(m, &same), T) < 1e-11);
    assert_near(info.margin.smallest, margin.smallest, 1e-12 / margin.smallest);
}

static void test_closed_inverses_find_what_made_the_pose(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int kind = 0; kind <= FF_ARM_UR20; kind++) {
        const ff_arm_model model = make((ff_arm_kind)kind);
        for (int i = 0; i < test_count(1000, 100000); i++)
            check_closed(&model, &rng, ff_arm_name((ff_arm_kind)kind));
    }
}

/* The determinant of the offset family is the product of its three margins, too. */
static void test_margins_are_the_determinant(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int i = 0; i < 400; i++) {
        const ff_arm_model m = make(i % 2 ? FF_ARM_UR10E : FF_ARM_KR210);
        const ff_arm_joints j = random_joints(&m, &rng);
        double J[6][7], A[36];
        size_t pivots[6];
        ff_arm_jacobian(&m, &j, J);
        for (int r = 0; r < 6; r++)
            for (int c = 0; c < 6; c++)
                A[6 * r + c] = J[r][c];
        double det = 1;
        if (ff_lu_factor(6, A, pivots) == FF_OK)
            for (int r = 0; r < 6; r++)
                det *= A[7 * r];
        else
            det = 0;
        const ff_arm_margin g = ff_arm_singularity(&m, &j);
        const double hand = m.form == FF_ARM_OFFSET ? 0.11985 : 0.0; /* d5 */
        const double expect =
            m.a2 * m.forearm * (m.a1 + m.a2 + m.forearm + hand) * g.shoulder * g.elbow * g.wrist;
        assert_near(fabs(det), expect, 1e-13);
        assert_near(J[3][6], 0, 0); /* no rail, no seventh axis */
    }
}

/* An arm of the family by its own joints: turned base, other senses and zeros, a shoulder to one side. */
static ff_arm_model disguised(ff_arm_kind kind, double side, double bent, ff_rng *rng) {
    ff_arm_model m = make(kind);
    ff_arm_config c = m.config;
    c.chain = true;
    c.axis[1].offset = ff_vec3_axpy(side, c.axis[1].direction, c.axis[1].offset);
    c.axis[4].direction = ff_vec3_unit(ff_vec3_axpy(bent, c.axis[3].direction, c.axis[4].direction));
    /* zeros elsewhere: the chain as it stands at some joints */
    ff_pose at = ff_pose_identity();
    const ff_quat base = ff_quat_unit(test_random_pose(rng, 1).q);
    at.q = base;
    for (int i = 0; i < 6; i++) {
        const double q = ff_rng_range(rng, -2, 2), sense = ff_rng_uniform(rng) < 0.5 ? -1 : 1;
        const ff_vec3 offset = ff_quat_rotate(at.q, c.axis[i].offset);
        const ff_vec3 direction = ff_quat_rotate(at.q, c.axis[i].direction);
        at.q = ff_quat_mul(at.q, ff_quat_exp(ff_vec3_scale(q, c.axis[i].direction)));
        /* any point of an axis will do */
        c.axis[i].offset = ff_vec3_axpy(i ? 0.0 : ff_rng_range(rng, -1, 1), direction, offset);
        c.axis[i].direction = ff_vec3_scale(sense, direction);
        c.lower[i] = -3;
        c.upper[i] = 3;
    }
    c.flange = (ff_pose){ff_quat_mul(at.q, test_random_pose(rng, 1).q),
                         ff_quat_rotate(at.q, test_random_vec3(rng, 0.3))};
    c.flange.q = ff_quat_unit(c.flange.q);
    c.base = test_random_pose(rng, 2);
    c.tool = test_random_pose(rng, 0.5);
    assert_int_equal(ff_arm_create(&c, &m), FF_OK);
    return m;
}

static void test_families_are_recognised_in_any_dress(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int i = 0; i < test_count(1500, 50000); i++) {
        const ff_arm_kind kind = (ff_arm_kind)(i % 6);
        const double side = kind < FF_ARM_UR5E && i % 4 ? ff_rng_range(&rng, -0.2, 0.2) : 0;
        const ff_arm_model m = disguised(kind, side, 0, &rng);
        assert_int_equal(m.form, kind < FF_ARM_UR5E ? FF_ARM_ELBOW : FF_ARM_OFFSET);
        char what[64];
        snprintf(what, sizeof what, "case %d, a disguised %s", i, ff_arm_name(kind));
        check_closed(&m, &rng, what);
    }
}

/* Following: the solution of a cycle later is found from the one before, as near as it is. */
static void check_search(const ff_arm_model *m, ff_rng *rng, const char *what, unsigned *found,
                         unsigned *asked) {
    ff_arm_joints at = random_joints(m, rng), next = at, j;
    if (!(ff_arm_singularity(m, &at).smallest > 0.02))
        return;
    for (int i = 0; i < m->config.axes; i++) /* 2 ms at full speed */
        next.a[i] =
            fmin(fmax(at.a[i] + ff_rng_range(rng, -1, 1) * 0.002 * m->config.speed[i], m->config.lower[i]),
                 m->config.upper[i]);
    const ff_pose T = ff_arm_forward(m, &next);
    ff_arm_info info;
    const ff_status status = ff_arm_inverse_after(m, &T, &at, 0.002, &j, &info);
    ++*asked;
    if (status != FF_OK) { /* the null space may end at a range */
        assert_int_equal(info.reason, FF_ARM_JOINT_LIMIT);
        return;
    }
    ++*found;
    const double off = pose_apart(ff_arm_forward(m, &j), T);
    if (!(off < 1e-9))
        fail_msg("%s: %g off", what, off);
    /* not elsewhere: the step over the singular value, and what the null space is led by */
    assert_true(joints_apart(m, &j, &at) < 0.6);
    assert_int_equal(ff_arm_outside(m, &j), 0);
}

static void test_a_search_follows(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    unsigned found = 0, asked = 0;
    for (int i = 0; i < test_count(3000, 200000); i++) {
        const ff_arm_kind kind = i % 2 ? FF_ARM_FR3 : FF_ARM_IIWA14;
        if (i % 3) {
            const ff_arm_model m = make(kind);
            check_search(&m, &rng, ff_arm_name(kind), &found, &asked);
        } else { /* a six-axis arm of no family: its wrist is skew */
            const ff_arm_model m = disguised(i % 2 ? FF_ARM_KR16 : FF_ARM_UR5E, 0.05, 0.3, &rng);
            assert_int_equal(m.form, FF_ARM_SEARCH);
            check_search(&m, &rng, "a skew wrist", &found, &asked);
        }
    }
    assert_true(found > 0.97 * asked); /* the rest stands at an end of a range */
}

/* From the ready posture any pose of the workspace is found. */
static void test_a_search_finds_poses_from_afar(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    unsigned missed = 0;
    const int cases = test_count(150, 20000);
    for (int i = 0; i < cases; i++) {
        const ff_arm_model m = make(i % 2 ? FF_ARM_FR3 : FF_ARM_IIWA14);
        ff_arm_joints ready = {.rail = 0}, made = random_joints(&m, &rng), j;
        memcpy(ready.a, m.config.ready, sizeof ready.a);
        const ff_pose T = ff_arm_forward(&m, &made);
        ff_arm_info info;
        if (ff_arm_inverse(&m, &T, &ready, &j, &info) != FF_OK) {
            missed++; /* in a corner of the ranges */
            continue;
        }
        assert_true(pose_apart(ff_arm_forward(&m, &j), T) < 1e-9);
        assert_int_equal(ff_arm_outside(&m, &j), 0);
        assert_true(info.branches >= 1 && info.branches <= 8);
    }
    assert_true(missed <= 0.1 * cases);
    /* and one beyond the reach is refused, with how far it is */
    const ff_arm_model m = make(FF_ARM_IIWA14);
    const ff_arm_joints ready = {.a = {0, 0.4, 0, 1.5, 0, 1, 0}};
    const ff_pose far = {ff_quat_identity(), {{0, 0, 3.0}}};
    ff_arm_joints j = {.rail = 42};
    ff_arm_info info;
    assert_int_equal(ff_arm_inverse(&m, &far, &ready, &j, &info), FF_ERR_REACH);
    assert_int_equal(info.reason, FF_ARM_TOO_FAR);
    assert_true(info.excess > 1.0);
    assert_near(j.rail, 42, 0);
    assert_int_equal(ff_arm_inverse_after(&m, &far, &ready, 0.002, &j, &info), FF_ERR_REACH);
}

/* In the null space the seventh axis is led away from the ends, the pose untouched, no faster than it may. */
static void test_the_seventh_axis_is_led_to_the_middle(void **state) {
    (void)state;
    const ff_arm_model m = make(FF_ARM_IIWA14);
    ff_arm_joints at = {.a = {2.5, 0.6, -2.5, 1.2, 0.3, 0.9, 0}};
    const ff_pose T = ff_arm_forward(&m, &at);
    double before = fabs(at.a[0]) + fabs(at.a[2]);
    for (int k = 0; k < 2000; k++) {
        ff_arm_joints next;
        assert_int_equal(ff_arm_inverse_after(&m, &T, &at, 0.002, &next, NULL), FF_OK);
        for (int i = 0; i < 7; i++)
            assert_true(fabs(next.a[i] - at.a[i]) <= 0.002 * m.config.speed[i]);
        at = next;
        assert_true(pose_apart(ff_arm_forward(&m, &at), T) < 1e-9);
    }
    assert_true(fabs(at.a[0]) + fabs(at.a[2]) < before - 0.1);
}

#define REFUSED(change, status)                          \
    do {                                                 \
        ff_arm_config c;                                 \
        ff_arm_model m;                                  \
        ff_arm_default(FF_ARM_IIWA14, &c);               \
        change;                                          \
        assert_int_equal(ff_arm_create(&c, &m), status); \
    } while (0)

static void test_bad_chains_are_refused(void **state) {
    (void)state;
    REFUSED(c.axes = 5, FF_ERR_ARGUMENT);
    REFUSED(c.axes = 8, FF_ERR_ARGUMENT);
    REFUSED(c.chain = false, FF_ERR_ARGUMENT); /* lengths have six */
    REFUSED(c.axis[3].direction = ff_vec3_make(0, 2, 0), FF_ERR_ARGUMENT);
    REFUSED(c.axis[6].offset.x = FF_NAN, FF_ERR_NOT_FINITE);
    REFUSED(c.flange.p.z = FF_INF, FF_ERR_NOT_FINITE);
    REFUSED(c.flange.q.w = 3, FF_ERR_ARGUMENT);
    REFUSED(c.ready[2] = FF_NAN, FF_ERR_NOT_FINITE);
    REFUSED(c.lower[6] = 4, FF_ERR_ARGUMENT);
    REFUSED(c.speed[6] = 0, FF_ERR_ARGUMENT);
    REFUSED(c.rail = ((ff_arm_rail){FF_ARM_RAIL_GIVEN, {{1, 0, 0}}, -1, 1, 1, 0}), FF_ERR_ARGUMENT);
    ff_arm_config c;
    assert_int_equal(ff_arm_default(FF_ARM_KINDS, &c), FF_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_arm_is_where_its_maker_puts_it),
        cmocka_unit_test(test_the_inverse_is_closed_where_it_can_be),
        cmocka_unit_test(test_closed_inverses_find_what_made_the_pose),
        cmocka_unit_test(test_margins_are_the_determinant),
        cmocka_unit_test(test_families_are_recognised_in_any_dress),
        cmocka_unit_test(test_a_search_follows),
        cmocka_unit_test(test_a_search_finds_poses_from_afar),
        cmocka_unit_test(test_the_seventh_axis_is_led_to_the_middle),
        cmocka_unit_test(test_bad_chains_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
