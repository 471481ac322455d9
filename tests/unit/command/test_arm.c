/* Kinematics against data sheet lengths, against a product of exponentials, and against its own inverse. */
#include "freefloat/command.h"
#include "support.h"

static ff_arm_model make(ff_arm_kind kind) {
    ff_arm_config config;
    ff_arm_model model;
    assert_int_equal(ff_arm_default(kind, &config), FF_OK);
    assert_int_equal(ff_arm_create(&config, &model), FF_OK);
    return model;
}

/* With a rail, a turned base and a tool. */
static ff_arm_model make_mounted(ff_arm_kind kind, ff_rng *rng, ff_arm_rail_rule rule) {
    ff_arm_config config;
    ff_arm_model model;
    ff_arm_default(kind, &config);
    config.base = test_random_pose(rng, 2);
    config.tool = test_random_pose(rng, 0.5);
    config.rail = (ff_arm_rail){rule, test_random_vec3(rng, 3), -2.0, 6.0, 1.5, 0.2};
    assert_int_equal(ff_arm_create(&config, &model), FF_OK);
    return model;
}

static ff_arm_joints random_joints(const ff_arm_model *model, ff_rng *rng) {
    ff_arm_joints j = {.rail = 0};
    for (int i = 0; i < 6; i++)
        j.a[i] = ff_rng_range(rng, model->config.lower[i], model->config.upper[i]);
    if (model->config.rail.rule != FF_ARM_RAIL_NONE)
        j.rail = ff_rng_range(rng, model->config.rail.lower, model->config.rail.upper);
    return j;
}

static void assert_pose_near(ff_pose a, ff_pose b, double tolerance) {
    assert_vec3_near(a.p, b.p, tolerance);
    assert_near(ff_quat_angle(a.q, b.q), 0, tolerance);
}

/* Product of exponentials: screws read off the drawing at the zero pose, not off the code under test. */
static ff_pose oracle(const ff_arm_config *c, const ff_arm_joints *j) {
    const ff_vec3 axis[6] = {{{0, 0, -1}}, {{0, 1, 0}}, {{0, 1, 0}}, {{-1, 0, 0}}, {{0, 1, 0}}, {{-1, 0, 0}}};
    const double elbow = c->a1 + c->a2, wrist = elbow + c->d4, high = c->d1 + c->a3;
    const ff_vec3 point[6] = {{{0, 0, 0}},    {{c->a1, 0, c->d1}}, {{elbow, 0, c->d1}},
                              {{0, 0, high}}, {{wrist, 0, high}},  {{0, 0, high}}};
    ff_pose T = ff_pose_identity();
    T.p = ff_vec3_scale(c->rail.rule == FF_ARM_RAIL_NONE ? 0 : j->rail, ff_vec3_unit(c->rail.axis));
    for (int i = 0; i < 6; i++) {
        const ff_twist screw = {axis[i], ff_vec3_cross(point[i], axis[i])};
        T = ff_pose_mul(T, ff_pose_exp(ff_twist_scale(j->a[i], screw)));
    }
    const ff_pose home = {ff_quat_from_abc(0, FF_PI / 2, 0), {{wrist + c->d6, 0, high}}};
    return ff_pose_mul(ff_pose_mul(c->base, ff_pose_mul(T, home)), c->tool);
}

static void test_home_pose_is_where_the_data_sheet_puts_it(void **state) {
    (void)state;
    const double home_deg[6] = {0, -90, 90, 0, 0, 0}, zero_deg[6] = {0};
    const ff_arm_joints home = ff_arm_from_kuka(home_deg, 0), zero = ff_arm_from_kuka(zero_deg, 0);
    const ff_arm_model kr120 = make(FF_ARM_KR120), kr16 = make(FF_ARM_KR16);
    const ff_quat forward = ff_quat_from_abc(0, FF_PI / 2, 0);
    assert_pose_near(ff_arm_forward(&kr120, &home), (ff_pose){forward, {{1.565, 0, 1.784}}}, 1e-15 * 8);
    assert_pose_near(ff_arm_forward(&kr16, &home), (ff_pose){forward, {{1.088, 0, 1.320}}}, 1e-15 * 8);
    assert_pose_near(ff_arm_forward(&kr120, &zero), (ff_pose){forward, {{2.715, 0, 0.634}}}, 1e-15 * 8);
    assert_pose_near(ff_arm_forward(&kr16, &zero), (ff_pose){forward, {{1.768, 0, 0.640}}}, 1e-15 * 8);
    /* the sheets' reach of the wrist from axis 1 */
    assert_near(1e3 * (0.26 + 0.68 + kr16.forearm), 1611, 0.5);
    assert_near(1e3 * (0.35 + 1.15 * cos(kr120.config.upper[1]) + kr120.forearm), 2496, 0.5);
}

static void test_axis_signs_are_kuka_s(void **state) {
    (void)state;
    const ff_arm_model model = make(FF_ARM_KR16);
    const double at[6] = {0, -90, 90, 0, 0, 0};
    const ff_pose home = ff_arm_forward(&model, &(ff_arm_joints){.a = {0, -FF_PI / 2, FF_PI / 2, 0, 0, 0}});
    for (int i = 0; i < 6; i++) {
        double deg[6];
        memcpy(deg, at, sizeof deg);
        deg[i] += 10;
        const ff_arm_joints j = ff_arm_from_kuka(deg, 0);
        const ff_pose T = ff_arm_forward(&model, &j);
        const ff_vec3 turn = ff_quat_log(ff_quat_mul(T.q, ff_quat_conj(home.q))); /* in the base frame */
        const double a = 10 * FF_PI / 180;
        const ff_vec3 expect[6] = {{{0, 0, -a}}, {{0, a, 0}}, {{0, a, 0}},
                                   {{-a, 0, 0}}, {{0, a, 0}}, {{-a, 0, 0}}};
        assert_vec3_near(turn, expect[i], 1e-15 * 8);
        /* positive A1 turns to the right, positive A2, A3, A5 lower the flange */
        if (i == 0)
            assert_true(T.p.y < -0.1);
        if (i == 1 || i == 2 || i == 4)
            assert_true(T.p.z < home.p.z - 0.01);
    }
}

static void test_forward_is_the_product_of_exponentials(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < 2000; i++) {
        const ff_arm_model model = make_mounted(i % 2 ? FF_ARM_KR120 : FF_ARM_KR16, &rng,
                                                i % 3 ? FF_ARM_RAIL_GIVEN : FF_ARM_RAIL_NONE);
        const ff_arm_joints j = random_joints(&model, &rng);
        assert_pose_near(ff_arm_forward(&model, &j), oracle(&model.config, &j), 1e-13);
    }
}

static double apart(double a, double b) {
    return fabs(remainder(a - b, 2 * FF_PI));
}

static void test_inverse_finds_all_branches_and_the_generating_joints(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    int eight = 0;
    for (int i = 0; i < test_count(5000, 200000); i++) {
        const ff_arm_model model = make_mounted(i % 2 ? FF_ARM_KR120 : FF_ARM_KR16, &rng, FF_ARM_RAIL_GIVEN);
        const ff_arm_joints made = random_joints(&model, &rng), previous = random_joints(&model, &rng);
        const ff_pose T = ff_arm_forward(&model, &made);
        ff_arm_solution s[8];
        ff_arm_info info;
        int count;
        assert_int_equal(ff_arm_inverse_all(&model, &T, made.rail, &previous, s, &count, &info), FF_OK);
        assert_true(count == 4 || count == 8);
        eight += count == 8;
        bool contains = false;
        for (int k = 0; k < count; k++) {
            assert_pose_near(ff_arm_forward(&model, &s[k].joints), T, 1e-12);
            double worst = 0;
            for (int a = 0; a < 6; a++)
                worst = fmax(worst, apart(s[k].joints.a[a], made.a[a]));
            const ff_arm_margin m = ff_arm_singularity(&model, &made);
            contains = contains || worst < 1e-13 / (m.smallest * m.smallest);
            assert_true(k == 0 || s[k].branch > s[k - 1].branch);
            assert_int_equal((s[k].branch & FF_ARM_WRIST_FLIP) != 0, sin(s[k].joints.a[4]) < 0);
            /* the wrist lies in front of axis 1 unless the branch says back */
            const double *a = s[k].joints.a;
            const double forward = model.config.a1 + model.config.a2 * cos(a[1]) +
                                   model.config.d4 * cos(a[1] + a[2]) + model.config.a3 * sin(a[1] + a[2]);
            assert_int_equal((s[k].branch & FF_ARM_BACK) != 0, forward < 0);
            bool in = true;
            for (int n = 0; n < 6; n++)
                in = in && a[n] >= model.config.lower[n] - 1e-9 && a[n] <= model.config.upper[n] + 1e-9;
            assert_int_equal(s[k].outside == 0, in);
            for (int other = 0; other < k; other++) { /* all different */
                double gap = 0;
                for (int n = 0; n < 6; n++)
                    gap = fmax(gap, apart(a[n], s[other].joints.a[n]));
                assert_true(gap > 1e-9);
            }
        }
        if (!contains)
            fail_msg("case %d: generating joints not among %d solutions", i, count);
        /* continuity: from itself, the inverse returns itself, turns included */
        ff_arm_joints same;
        assert_int_equal(ff_arm_inverse(&model, &T, &made, &same, &info), FF_OK);
        const ff_arm_margin m = ff_arm_singularity(&model, &made);
        for (int a = 0; a < 6; a++)
            assert_near(same.a[a], made.a[a], 1e-13 / (m.smallest * m.smallest));
        assert_near(same.rail, made.rail, 0);
        assert_near(info.margin.smallest, m.smallest, 1e-12 / m.smallest);
    }
    assert_true(eight > 100);
}

static void test_inverse_takes_the_nearest_branch_inside_the_ranges(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    const ff_arm_model model = make(FF_ARM_KR16);
    for (int i = 0; i < 2000; i++) {
        const ff_arm_joints made = random_joints(&model, &rng), previous = random_joints(&model, &rng);
        const ff_pose T = ff_arm_forward(&model, &made);
        ff_arm_solution s[8];
        int count;
        ff_arm_joints chosen;
        ff_arm_info info;
        assert_int_equal(ff_arm_inverse(&model, &T, &previous, &chosen, &info), FF_OK);
        assert_int_equal(ff_arm_outside(&model, &chosen), 0);
        ff_arm_inverse_all(&model, &T, 0, &previous, s, &count, NULL);
        double best = FF_INF, own = 0;
        int branch = -1;
        for (int k = 0; k < count; k++) {
            double d = 0;
            for (int a = 0; a < 6; a++)
                d += pow(s[k].joints.a[a] - previous.a[a], 2);
            if (!s[k].outside && d < best) {
                best = d;
                branch = (int)s[k].branch;
            }
        }
        assert_int_equal(info.branch, branch);
        for (int a = 0; a < 6; a++)
            own += pow(chosen.a[a] - previous.a[a], 2);
        assert_near(own, best, 0);
    }
    /* at home the elbow is high; mirrored about the line from axis 2 to the wrist it is low */
    const double home_deg[6] = {0, -90, 90, 0, 30, 0};
    const ff_arm_joints home = ff_arm_from_kuka(home_deg, 0);
    const ff_pose at_home = ff_arm_forward(&model, &home);
    ff_arm_info where;
    ff_arm_joints same;
    assert_int_equal(ff_arm_inverse(&model, &at_home, &home, &same, &where), FF_OK);
    assert_int_equal(where.branch, 0);
    assert_int_equal(where.branches,
                     4); /* over the head the wrist would be 1.3536 m from axis 2, the arm ends at 1.3509 */
    /* A6 beyond half a turn stays on its turn; a turn outside the range is left for the one inside */
    const double deg[6] = {10, -80, 100, 20, 30, 300};
    const ff_arm_joints far = ff_arm_from_kuka(deg, 0);
    const ff_pose T = ff_arm_forward(&model, &far);
    ff_arm_joints j;
    assert_int_equal(ff_arm_inverse(&model, &T, &far, &j, NULL), FF_OK);
    assert_near(j.a[5], far.a[5], 1e-13);
    ff_arm_joints beyond = far;
    beyond.a[5] = far.a[5] + 2 * FF_PI;
    assert_int_equal(ff_arm_inverse(&model, &T, &beyond, &j, NULL), FF_OK);
    assert_near(j.a[5], far.a[5], 1e-13);
}

static void test_unreachable_poses_say_why(void **state) {
    (void)state;
    ff_arm_model model = make(FF_ARM_KR16);
    const ff_arm_joints previous = {.a = {0, -FF_PI / 2, FF_PI / 2, 0, 0.5, 0}};
    const ff_quat forward = ff_quat_from_abc(0, FF_PI / 2, 0);
    ff_arm_joints j = {.rail = 42};
    ff_arm_info info;
    /* horizontal at the height of axis 2: wrist 0.158 m behind the flange; the stretched arm ends at 1.6109 m
     */
    ff_pose T = {forward, {{2.0, 0, 0.675}}};
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_ERR_REACH);
    assert_int_equal(info.reason, FF_ARM_TOO_FAR);
    assert_near(info.excess, 2.0 - 0.158 - (0.26 + 0.68 + hypot(0.67, 0.035)), 1e-14);
    assert_int_equal(info.branches, 0);
    /* wrist on axis 2, inside the folded arm (0.68 - 0.6709 m); axis 2 far enough forward that reaching over
     * the head fails too, by more */
    ff_arm_config wide = model.config;
    wide.a1 = 0.8;
    assert_int_equal(ff_arm_create(&wide, &model), FF_OK);
    T.p.x = 0.8 + 0.158;
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_ERR_REACH);
    assert_int_equal(info.reason, FF_ARM_TOO_NEAR);
    assert_near(info.excess, 0.68 - hypot(0.67, 0.035), 1e-14);
    model = make(FF_ARM_KR16);
    /* joint ranges narrowed around the home pose */
    T.p = ff_vec3_make(1.0, 0, 1.2);
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_OK);
    ff_arm_config narrow = model.config;
    narrow.lower[0] = 0.5;
    narrow.upper[0] = 1.0; /* nor over the head, at 180 deg */
    assert_int_equal(ff_arm_create(&narrow, &model), FF_OK);
    j.rail = 42;
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_ERR_REACH);
    assert_int_equal(info.reason, FF_ARM_JOINT_LIMIT);
    assert_int_equal(info.axis, 1);
    assert_near(info.excess, 0.5, 1e-15);
    narrow.lower[0] = -1.0;
    narrow.upper[0] = -0.5;
    assert_int_equal(ff_arm_create(&narrow, &model), FF_OK);
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_ERR_REACH);
    assert_int_equal(info.axis, 1);
    assert_near(info.excess, 0.5, 1e-15); /* not by a turn more */
    assert_true(info.branches >= 4);
    assert_near(j.rail, 42, 0);
    for (int r = FF_ARM_REACHED; r <= FF_ARM_RAIL_LIMIT; r++)
        assert_true(strlen(ff_arm_reason_text((ff_arm_reason)r)) > 5);
    assert_string_equal(ff_arm_reason_text((ff_arm_reason)99), "unknown reason");
}

/* Where every branch breaks a range, the one is reported that is nearest to where the arm is. */
static void test_the_nearest_branch_is_reported(void **state) {
    (void)state;
    const ff_arm_model whole = make(FF_ARM_KR16);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    for (int n = 0; n < 50; n++) {
        ff_arm_joints at = {0}, j;
        for (int a = 0; a < 6; a++)
            at.a[a] = ff_rng_range(&rng, whole.config.lower[a], whole.config.upper[a]);
        const ff_pose T = ff_arm_forward(&whole, &at);
        ff_arm_config narrow = whole.config;
        narrow.lower[1] = at.a[1] + 0.01;
        narrow.upper[1] = at.a[1] + 0.0100001; /* none of the others, either */
        ff_arm_model model;
        ff_arm_info info;
        assert_int_equal(ff_arm_create(&narrow, &model), FF_OK);
        assert_int_equal(ff_arm_inverse(&model, &T, &at, &j, &info), FF_ERR_REACH);
        assert_int_equal(info.reason, FF_ARM_JOINT_LIMIT);
        assert_int_equal(info.axis, 2);
        assert_near(info.excess, 0.01, 1e-6);
    }
}

static void test_rail_is_given_or_follows_the_wrist(void **state) {
    (void)state;
    ff_arm_config config;
    ff_arm_model model;
    ff_arm_default(FF_ARM_KR120, &config);
    config.rail = (ff_arm_rail){FF_ARM_RAIL_FOLLOW, {{0, 2, 0}}, 0, 8, 1.5, 0.3};
    assert_int_equal(ff_arm_create(&config, &model), FF_OK);
    const ff_quat forward = ff_quat_from_abc(0, FF_PI / 2, 0);
    const ff_arm_joints previous = {.a = {0, -FF_PI / 2, FF_PI / 2, 0, 0.1, 0}, .rail = 1};
    ff_arm_joints j;
    ff_arm_info info;
    const double y[3] = {4.0, 0.1, 8.6}, expect[3] = {3.7, 0.0, 8.0};
    for (int i = 0; i < 3; i++) {
        const ff_pose T = {forward, {{1.5, y[i], 1.6}}};
        assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_OK);
        assert_near(j.rail, expect[i], 1e-12);
        assert_pose_near(ff_arm_forward(&model, &j), T, 1e-12);
        /* 4 ms later the carriage has gone 6 mm, either way; the arm makes up for it */
        const ff_pose near = {forward, {{1.5, 1.3 + (i == 1 ? -0.2 : 0.2), 1.6}}};
        assert_int_equal(ff_arm_inverse_after(&model, &near, &previous, 0.004, &j, &info), FF_OK);
        assert_near(j.rail, i == 1 ? 0.994 : 1.006, 1e-12);
        assert_pose_near(ff_arm_forward(&model, &j), near, 1e-12);
        assert_near(ff_arm_along(&model, &near), near.p.y, 1e-12);
    }
    config.rail.rule = FF_ARM_RAIL_GIVEN;
    ff_arm_create(&config, &model);
    const ff_pose T = {forward, {{1.5, 1.4, 1.6}}};
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_OK);
    assert_near(j.rail, 1, 0);
    assert_pose_near(ff_arm_forward(&model, &j), T, 1e-12);
    ff_arm_joints off = previous;
    off.rail = 8.5;
    assert_int_equal(ff_arm_inverse(&model, &T, &off, &j, &info), FF_ERR_REACH);
    assert_int_equal(info.reason, FF_ARM_RAIL_LIMIT);
    assert_near(info.excess, 0.5, 1e-15);
    assert_int_equal(ff_arm_outside(&model, &off), 7);
    off.rail = -0.25;
    assert_int_equal(ff_arm_inverse(&model, &T, &off, &j, &info), FF_ERR_REACH);
    assert_near(info.excess, 0.25, 1e-15);
}

/* The tool moves as the difference of two poses on the axes' line says, in its own axes and the world's; and
 * back. */
static void test_rates_and_twist_are_each_others_inverse(void **state) {
    (void)state;
    ff_rng rng;
    static const ff_arm_kind kind[] = {FF_ARM_KR120, FF_ARM_UR10E, FF_ARM_FR3, FF_ARM_IIWA14};
    ff_rng_seed(&rng, test_seed(), 5);
    for (int i = 0; i < 200; i++) {
        const ff_arm_model model = make_mounted(kind[i % 4], &rng, FF_ARM_RAIL_NONE);
        const ff_arm_joints j = random_joints(&model, &rng);
        const double h = 1e-4;
        double rates[FF_ARM_AXES] = {0}, back[FF_ARM_AXES] = {0};
        ff_arm_joints plus = j, minus = j;
        for (int a = 0; a < model.config.axes; a++) {
            rates[a] = ff_rng_range(&rng, -1.0, 1.0);
            plus.a[a] += h * rates[a];
            minus.a[a] -= h * rates[a];
        }
        const ff_twist twist = ff_arm_twist(&model, &j, rates);
        const ff_pose T = ff_arm_forward(&model, &j), a = ff_arm_forward(&model, &plus),
                      b = ff_arm_forward(&model, &minus);
        const ff_vec3 w = ff_vec3_scale(0.5 / h, ff_quat_log(ff_quat_mul(a.q, ff_quat_conj(b.q))));
        /* central differences: the third derivative of a chain of seven is below (sum of rates)^3 times its
         * 5 m */
        assert_vec3_near(twist.w, ff_quat_unrotate(T.q, w), 1e-5);
        assert_vec3_near(twist.v, ff_vec3_scale(0.5 / h, ff_vec3_sub(a.p, b.p)), 1e-5);
        if (ff_arm_singularity(&model, &j).smallest < 0.05)
            continue;
        assert_int_equal(ff_arm_rates(&model, &j, &twist, back), FF_OK);
        for (int axis = 0; axis < 6 && model.config.axes == 6; axis++)
            assert_near(back[axis], rates[axis], 1e-11);
        if (model.config.axes == 6)
            continue;
        /* seven: the same motion by the least rates, so across all that differs from them (Pythagoras) */
        const ff_twist again = ff_arm_twist(&model, &j, back);
        double across = 0.0, apart = 0.0;
        for (int axis = 0; axis < 7; axis++) {
            across += back[axis] * (rates[axis] - back[axis]);
            apart = fmax(apart, fabs(rates[axis] - back[axis]));
        }
        assert_vec3_near(again.w, twist.w, 1e-11);
        assert_vec3_near(again.v, twist.v, 1e-11);
        assert_near(across, 0.0, 1e-11);
        assert_true(apart > 1e-6);
    }
}

static void test_jacobian_is_the_derivative_and_has_the_known_determinant(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int i = 0; i < 500; i++) {
        const ff_arm_model model = make_mounted(i % 2 ? FF_ARM_KR120 : FF_ARM_KR16, &rng,
                                                i % 5 ? FF_ARM_RAIL_GIVEN : FF_ARM_RAIL_NONE);
        const ff_arm_joints j = random_joints(&model, &rng);
        double J[6][7];
        ff_arm_jacobian(&model, &j, J);
        for (int k = 0; k < 7; k++) {
            ff_vec3 w[2], v[2];
            for (int n = 0; n < 2; n++) { /* central differences at h and 2h, extrapolated: error h^4 */
                const double h = n ? 2e-3 : 1e-3;
                ff_arm_joints plus = j, minus = j;
                *(k < 6 ? &plus.a[k] : &plus.rail) += h;
                *(k < 6 ? &minus.a[k] : &minus.rail) -= h;
                const ff_pose a = ff_arm_forward(&model, &plus), b = ff_arm_forward(&model, &minus);
                w[n] = ff_vec3_scale(1 / (2 * h), ff_quat_log(ff_quat_mul(a.q, ff_quat_conj(b.q))));
                v[n] = ff_vec3_scale(1 / (2 * h), ff_vec3_sub(a.p, b.p));
            }
            const ff_vec3 w_e = ff_vec3_axpy(1.0 / 3, ff_vec3_sub(w[0], w[1]), w[0]);
            const ff_vec3 v_e = ff_vec3_axpy(1.0 / 3, ff_vec3_sub(v[0], v[1]), v[0]);
            assert_vec3_near(ff_vec3_make(J[0][k], J[1][k], J[2][k]), w_e, 1e-11);
            assert_vec3_near(ff_vec3_make(J[3][k], J[4][k], J[5][k]), v_e, 2e-11);
        }
        /* |det| does not depend on the tool or the base */
        double lu[36], det = 1;
        size_t pivots[6];
        for (int r = 0; r < 6; r++)
            for (int k = 0; k < 6; k++)
                lu[6 * r + k] = J[r][k];
        assert_int_equal(ff_lu_factor(6, lu, pivots), FF_OK);
        for (int r = 0; r < 6; r++)
            det *= lu[7 * r];
        const ff_arm_margin m = ff_arm_singularity(&model, &j);
        const ff_arm_config *c = &model.config;
        const double expect =
            c->a2 * model.forearm * (c->a1 + c->a2 + model.forearm) * m.shoulder * m.elbow * m.wrist;
        assert_near(fabs(det), expect, 1e-13);
        assert_near(m.smallest, fmin(m.shoulder, fmin(m.elbow, m.wrist)), 0);
        assert_true(m.shoulder <= 1 && m.elbow <= 1 && m.wrist <= 1);
    }
}

static void test_singular_poses_give_finite_and_exact_answers(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (int kind = 0; kind < 2; kind++) {
        const ff_arm_model model = make(kind ? FF_ARM_KR120 : FF_ARM_KR16);
        for (int i = 0; i < 600; i++) {
            ff_arm_joints made = random_joints(&model, &rng);
            /* exactly singular, or within a hair of it */
            const double hair = i % 2 ? 0 : ff_rng_normal(&rng) * pow(10, ff_rng_range(&rng, -16, -4));
            if (i % 3 == 0)
                made.a[4] = hair; /* wrist */
            if (i % 3 == 1)
                made.a[2] = model.forearm_angle + hair; /* stretched */
            if (i % 3 == 2) { /* wrist over axis 1: a1 + a2 cos A2 + forearm cos(...) = 0 */
                made.a[1] = ff_rng_range(&rng, -120, -60) * FF_PI / 180;
                const double c = -(model.config.a1 + model.config.a2 * cos(made.a[1])) / model.forearm;
                if (fabs(c) > 1)
                    continue;
                made.a[2] = model.forearm_angle - made.a[1] - acos(c) + hair;
            }
            const ff_pose T = ff_arm_forward(&model, &made);
            assert_true(ff_arm_singularity(&model, &made).smallest <= fabs(hair) + 1e-15);
            ff_arm_joints previous = made;
            for (int a = 0; a < 6; a++)
                previous.a[a] += 0.01 * ff_rng_normal(&rng);
            ff_arm_solution s[8];
            int count;
            const ff_status status = ff_arm_inverse_all(&model, &T, 0, &previous, s, &count, NULL);
            assert_int_equal(status, FF_OK);
            for (int k = 0; k < count; k++) {
                for (int a = 0; a < 6; a++)
                    assert_true(isfinite(s[k].joints.a[a]));
                assert_pose_near(ff_arm_forward(&model, &s[k].joints), T,
                                 3e-12);            /* EDGE at the stretched arm */
                if (fabs(s[k].joints.a[4]) < 1e-13) /* A4 is free and stays */
                    assert_near(apart(s[k].joints.a[3], previous.a[3]), 0, 1e-15);
            }
            double J[6][7];
            ff_arm_jacobian(&model, &made, J);
            for (int r = 0; r < 6; r++)
                for (int k = 0; k < 7; k++)
                    assert_true(isfinite(J[r][k]));
        }
    }
    /* A5 = 0 exactly: A4 keeps its previous value and A6 takes the rest */
    const ff_arm_model model = make(FF_ARM_KR16);
    const double home_deg[6] = {0, -90, 90, 0, 0, 0}, last_deg[6] = {0, -90, 90, 25, 0, -10};
    const ff_arm_joints home = ff_arm_from_kuka(home_deg, 0), last = ff_arm_from_kuka(last_deg, 0);
    const ff_pose T = ff_arm_forward(&model, &home);
    ff_arm_joints j;
    assert_int_equal(ff_arm_inverse(&model, &T, &last, &j, NULL), FF_OK);
    assert_near(j.a[4], 0, 1e-7);
    assert_near(j.a[3] + j.a[5], 0, 1e-12);
    assert_pose_near(ff_arm_forward(&model, &j), T, 1e-12);
}

/* The wrist on axis 1: any A1 serves, and the one that the arm has stays. The margins reported are those of
 * the answer, not of where the arm was. */
static void test_wrist_on_axis_one_keeps_its_turn(void **state) {
    (void)state;
    const ff_arm_model model = make(FF_ARM_KR16);
    const double folded = model.forearm_angle + FF_PI / 2 - acos(-model.config.a1 / model.forearm);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 12);
    for (int n = 0; n < 50; n++) {
        const ff_arm_joints there = {.a = {ff_rng_range(&rng, -1, 1), -FF_PI / 2, folded,
                                           ff_rng_range(&rng, -1, 1), ff_rng_range(&rng, 0.2, 1),
                                           ff_rng_range(&rng, -1, 1)}};
        const ff_pose T = ff_arm_forward(&model, &there);
        ff_arm_joints previous = there, j;
        for (int a = 1; a < 6; a++)
            previous.a[a] += ff_rng_range(&rng, -0.02, 0.02);
        ff_arm_info info;
        assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, &info), FF_OK);
        for (int a = 0; a < 6; a++)
            assert_near(j.a[a], there.a[a], 1e-9);
        const ff_arm_margin margin = ff_arm_singularity(&model, &there);
        assert_near(info.margin.shoulder, margin.shoulder, 1e-9);
        assert_near(info.margin.elbow, margin.elbow, 1e-9);
        assert_near(info.margin.wrist, margin.wrist, 1e-9);
    }
}

static void test_bad_parameters_are_refused(void **state) {
    (void)state;
    ff_arm_config good, c;
    ff_arm_model model;
    assert_int_equal(ff_arm_default((ff_arm_kind)99, &good), FF_ERR_ARGUMENT);
    ff_arm_default(FF_ARM_KR120, &good);
    good.rail = (ff_arm_rail){FF_ARM_RAIL_GIVEN, {{0, 1, 0}}, 0, 5, 1, 0};
    assert_int_equal(ff_arm_validate(&good), FF_OK);
#define REFUSED(change, status)                              \
    do {                                                     \
        c = good;                                            \
        change;                                              \
        assert_int_equal(ff_arm_create(&c, &model), status); \
    } while (0)
    REFUSED(c.a2 = 0, FF_ERR_ARGUMENT);
    REFUSED(c.d4 = c.a3 = 0, FF_ERR_ARGUMENT);
    REFUSED(c.d1 = -1, FF_ERR_ARGUMENT);
    REFUSED(c.a1 = -1, FF_ERR_ARGUMENT);
    REFUSED(c.d6 = -1, FF_ERR_ARGUMENT);
    REFUSED(c.a3 = FF_NAN, FF_ERR_NOT_FINITE);
    REFUSED(c.lower[3] = c.upper[3], FF_ERR_ARGUMENT);
    REFUSED(c.upper[2] = FF_INF, FF_ERR_NOT_FINITE);
    REFUSED(c.speed[5] = 0, FF_ERR_ARGUMENT);
    REFUSED(c.base.q.w = 2, FF_ERR_ARGUMENT);
    REFUSED(c.tool.p.x = FF_NAN, FF_ERR_NOT_FINITE);
    REFUSED(c.rail.axis = ff_vec3_zero(), FF_ERR_ARGUMENT);
    REFUSED(c.rail.upper = -1, FF_ERR_ARGUMENT);
    REFUSED(c.rail.speed = 0, FF_ERR_ARGUMENT);
    REFUSED(c.rail.lower = FF_NAN, FF_ERR_NOT_FINITE);
    REFUSED(c.rail.rule = (ff_arm_rail_rule)7, FF_ERR_ARGUMENT);
    /* poses and joints that are not finite */
    assert_int_equal(ff_arm_create(&good, &model), FF_OK);
    ff_pose T = {{1, 0, 0, 0}, {{1, FF_NAN, 1}}};
    ff_arm_joints previous = {.rail = 0}, j = {.rail = 42};
    ff_arm_solution s[8];
    int count;
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, NULL), FF_ERR_NOT_FINITE);
    assert_int_equal(ff_arm_inverse_all(&model, &T, 0, &previous, s, &count, NULL), FF_ERR_NOT_FINITE);
    assert_int_equal(count, 0);
    T.p.y = 0;
    previous.a[2] = FF_INF;
    assert_int_equal(ff_arm_inverse(&model, &T, &previous, &j, NULL), FF_ERR_NOT_FINITE);
    assert_near(j.rail, 42, 0);
}

static void test_kuka_units_convert_both_ways(void **state) {
    (void)state;
    const double deg[6] = {180, -90, 45, -270, 1, 0.5};
    const ff_arm_joints j = ff_arm_from_kuka(deg, 1234.5);
    assert_near(j.a[0], FF_PI, 0);
    assert_near(j.a[3], -1.5 * FF_PI, 1e-15);
    assert_near(j.rail, 1.2345, 1e-15);
    double back[6], e1;
    ff_arm_to_kuka(&j, back, &e1);
    for (int i = 0; i < 6; i++)
        assert_near(back[i], deg[i], 1e-13);
    assert_near(e1, 1234.5, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_home_pose_is_where_the_data_sheet_puts_it),
        cmocka_unit_test(test_axis_signs_are_kuka_s),
        cmocka_unit_test(test_forward_is_the_product_of_exponentials),
        cmocka_unit_test(test_inverse_finds_all_branches_and_the_generating_joints),
        cmocka_unit_test(test_inverse_takes_the_nearest_branch_inside_the_ranges),
        cmocka_unit_test(test_unreachable_poses_say_why),
        cmocka_unit_test(test_the_nearest_branch_is_reported),
        cmocka_unit_test(test_rail_is_given_or_follows_the_wrist),
        cmocka_unit_test(test_rates_and_twist_are_each_others_inverse),
        cmocka_unit_test(test_jacobian_is_the_derivative_and_has_the_known_determinant),
        cmocka_unit_test(test_singular_poses_give_finite_and_exact_answers),
        cmocka_unit_test(test_wrist_on_axis_one_keeps_its_turn),
        cmocka_unit_test(test_bad_parameters_are_refused),
        cmocka_unit_test(test_kuka_units_convert_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
