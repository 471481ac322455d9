/* lib/base against identities and slow textbook forms. */
#include "support.h"

static void test_status_texts_are_complete(void **state) {
    (void)state;
    assert_string_equal(ff_status_name(FF_OK), "FF_OK");
    assert_string_equal(ff_status_name(FF_ERR_SINGULAR), "FF_ERR_SINGULAR");
    assert_string_equal(ff_status_name((ff_status)-999), "FF_STATUS_UNKNOWN");
    assert_string_equal(ff_status_text((ff_status)-999), "unknown status");
    assert_true(strlen(ff_status_text(FF_ERR_MASS)) > 5);
}

static void test_rotation_exp_log_matrix_agree(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < 2000; i++) {
        const double size = pow(10.0, ff_rng_range(&rng, -9, 0.45));
        ff_vec3 r = ff_vec3_scale(size, ff_vec3_unit(test_random_vec3(&rng, 1)));
        const ff_quat q = ff_quat_exp(r);
        assert_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1.0, 1e-15 * 8);
        assert_vec3_near(ff_quat_log(q), r, 1e-15 + 1e-14 * size);
        /* Rodrigues' formula */
        const ff_vec3 u = ff_vec3_unit(r), v = test_random_vec3(&rng, 2);
        const ff_vec3 expect = ff_vec3_add(
            ff_vec3_add(ff_vec3_scale(cos(size), v), ff_vec3_scale(sin(size), ff_vec3_cross(u, v))),
            ff_vec3_scale(ff_vec3_dot(u, v) * (1 - cos(size)), u));
        assert_vec3_near(ff_quat_rotate(q, v), expect, 1e-14);
        const ff_mat3 m = ff_quat_to_mat3(q);
        assert_vec3_near(ff_mat3_apply(&m, v), expect, 1e-14);
        assert_near(ff_quat_angle(ff_quat_from_mat3(m), q), 0.0, 1e-14);
        assert_vec3_near(ff_quat_unrotate(q, ff_quat_rotate(q, v)), v, 1e-14);
    }
    /* near pi and all branches of the matrix conversion */
    for (int i = 0; i < 500; i++) {
        const ff_quat q = test_random_quat(&rng);
        assert_near(ff_quat_angle(ff_quat_from_mat3(ff_quat_to_mat3(q)), q), 0.0, 1e-14);
    }
}

static void test_abc_is_rz_ry_rx(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int i = 0; i < 500; i++) {
        const double a = ff_rng_range(&rng, -3.1, 3.1), b = ff_rng_range(&rng, -1.5, 1.5),
                     c = ff_rng_range(&rng, -3.1, 3.1);
        const ff_quat q = ff_quat_from_abc(a, b, c);
        const ff_mat3 rz = {{{cos(a), -sin(a), 0}, {sin(a), cos(a), 0}, {0, 0, 1}}};
        const ff_mat3 ry = {{{cos(b), 0, sin(b)}, {0, 1, 0}, {-sin(b), 0, cos(b)}}};
        const ff_mat3 rx = {{{1, 0, 0}, {0, cos(c), -sin(c)}, {0, sin(c), cos(c)}}};
        const ff_mat3 expect = ff_mat3_mul(rz, ff_mat3_mul(ry, rx)), got = ff_quat_to_mat3(q);
        for (int k = 0; k < 9; k++)
            assert_near((&got.m[0][0])[k], (&expect.m[0][0])[k], 1e-14);
        double a2, b2, c2;
        ff_quat_to_abc(q, &a2, &b2, &c2);
        assert_near(a2, a, 1e-12);
        assert_near(b2, b, 1e-12);
        assert_near(c2, c, 1e-12);
    }
    double a, b, c; /* gimbal lock still gives the same rotation */
    const ff_quat q = ff_quat_from_abc(0.7, FF_PI / 2, 0.3);
    ff_quat_to_abc(q, &a, &b, &c);
    assert_near(ff_quat_angle(q, ff_quat_from_abc(a, b, c)), 0.0, 1e-7);
}

static void test_pose_and_spatial_transforms_keep_power(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int i = 0; i < 500; i++) {
        const ff_pose ab = test_random_pose(&rng, 2), bc = test_random_pose(&rng, 2);
        const ff_vec3 p = test_random_vec3(&rng, 1);
        assert_vec3_near(ff_pose_apply(ff_pose_mul(ab, bc), p), ff_pose_apply(ab, ff_pose_apply(bc, p)),
                         1e-14);
        assert_vec3_near(ff_pose_apply(ff_pose_inverse(ab), ff_pose_apply(ab, p)), p, 1e-14);
        const ff_twist x = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
        const ff_wrench f = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
        assert_near(ff_power(ff_wrench_transform(ab, f), ff_twist_transform(ab, x)), ff_power(f, x), 1e-13);
        /* a force at a lever arm makes the torque r x f */
        const ff_wrench at = {{{0, 0, 0}}, f.f};
        const ff_pose lever = {ff_quat_identity(), p};
        assert_vec3_near(ff_wrench_transform(lever, at).t, ff_vec3_cross(p, f.f), 1e-14);
        /* duality of the brackets: (ad(a) b) . f = -b . (crf(a) f) */
        const ff_twist a = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
        assert_near(ff_power(f, ff_twist_cross(a, x)), -ff_power(ff_twist_cross_wrench(a, f), x), 1e-14);
    }
}

static void test_pose_exp_is_the_limit_of_small_steps(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int i = 0; i < 50; i++) {
        const ff_twist x = {test_random_vec3(&rng, 1.2), test_random_vec3(&rng, 1)};
        ff_pose step = ff_pose_exp(ff_twist_scale(0x1p-20, x)), sum = step;
        for (int k = 0; k < 20; k++)
            sum = ff_pose_mul(sum, sum);
        const ff_pose whole = ff_pose_exp(x);
        assert_vec3_near(whole.p, sum.p, 1e-9);
        assert_near(ff_quat_angle(whole.q, ff_quat_unit(sum.q)), 0.0, 1e-9);
        const ff_twist back = ff_pose_log(whole);
        assert_vec3_near(back.w, x.w, 1e-13);
        assert_vec3_near(back.v, x.v, 1e-13);
        const ff_twist tiny = ff_pose_log(ff_pose_exp(ff_twist_scale(1e-6, x)));
        assert_vec3_near(tiny.v, ff_vec3_scale(1e-6, x.v), 1e-20);
    }
}

static void test_solves_invert_random_matrices(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (size_t n = 1; n <= 12; n++) {
        double a[144], spd[144], x[12], b[12], lu[144];
        size_t pivots[12];
        for (size_t i = 0; i < n * n; i++)
            lu[i] = a[i] = ff_rng_normal(&rng);
        for (size_t i = 0; i < n; i++)
            x[i] = ff_rng_normal(&rng);
        for (size_t i = 0; i < n; i++) {
            b[i] = 0;
            for (size_t j = 0; j < n; j++)
                b[i] += a[i * n + j] * x[j];
        }
        assert_int_equal(ff_lu_factor(n, lu, pivots), FF_OK);
        ff_lu_solve(n, lu, pivots, b);
        for (size_t i = 0; i < n; i++)
            assert_near(b[i], x[i], 1e-9);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                spd[i * n + j] = i == j ? 0.1 : 0.0;
                for (size_t k = 0; k < n; k++)
                    spd[i * n + j] += a[i * n + k] * a[j * n + k];
            }
        for (size_t i = 0; i < n; i++) {
            b[i] = 0;
            for (size_t j = 0; j < n; j++)
                b[i] += spd[i * n + j] * x[j];
        }
        assert_int_equal(ff_cholesky_factor(n, spd), FF_OK);
        ff_cholesky_solve(n, spd, b);
        for (size_t i = 0; i < n; i++)
            assert_near(b[i], x[i], 1e-9);
    }
    double bad[4] = {1, 2, 2, 1}, zero[4] = {1, 1, 1, 1};
    size_t pivots[2];
    assert_int_equal(ff_cholesky_factor(2, bad), FF_ERR_SINGULAR);
    assert_int_equal(ff_lu_factor(2, zero, pivots), FF_ERR_SINGULAR);
}

static void test_mat3_inverse_and_eigen(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    for (int i = 0; i < 300; i++) {
        ff_mat3 a, inverse;
        for (int k = 0; k < 9; k++)
            (&a.m[0][0])[k] = ff_rng_normal(&rng);
        assert_int_equal(ff_mat3_inverse(a, &inverse), FF_OK);
        const ff_mat3 one = ff_mat3_mul(a, inverse), eye = ff_mat3_identity();
        for (int k = 0; k < 9; k++)
            assert_near((&one.m[0][0])[k], (&eye.m[0][0])[k], 1e-9);
        const ff_mat3 s = ff_mat3_add(a, ff_mat3_transpose(a));
        ff_vec3 values;
        ff_mat3 v;
        ff_mat3_eigen(s, &values, &v);
        assert_near(ff_mat3_det(v), 1.0, 1e-13);
        assert_true(values.x <= values.y && values.y <= values.z);
        for (int j = 0; j < 3; j++) {
            const ff_vec3 e = {{v.m[0][j], v.m[1][j], v.m[2][j]}};
            assert_vec3_near(ff_mat3_apply(&s, e), ff_vec3_scale(values.a[j], e), 1e-12);
        }
    }
    ff_mat3 singular = {{{1, 2, 3}, {2, 4, 6}, {0, 1, 1}}}, keep = ff_mat3_identity();
    assert_int_equal(ff_mat3_inverse(singular, &keep), FF_ERR_SINGULAR);
    assert_near(keep.m[0][0], 1.0, 0.0);
}

static void test_random_is_reproducible_and_normal(void **state) {
    (void)state;
    ff_rng a, b;
    ff_rng_seed(&a, 7, 3);
    ff_rng_seed(&b, 7, 3);
    double sum = 0, square = 0;
    for (int i = 0; i < 100000; i++) {
        const double x = ff_rng_normal(&a);
        assert_true(x == ff_rng_normal(&b));
        sum += x;
        square += x * x;
    }
    assert_near(sum / 1e5, 0.0, 0.02);
    assert_near(square / 1e5, 1.0, 0.02);
    ff_rng_seed(&b, 7, 4);
    ff_rng_seed(&a, 7, 3);
    assert_true(ff_rng_next(&a) != ff_rng_next(&b));
}

static void test_unit_handles_extremes(void **state) {
    (void)state;
    assert_near(ff_vec3_norm(ff_vec3_unit(ff_vec3_make(1e-200, 1e-200, 0))), 1.0, 1e-15);
    assert_near(ff_vec3_norm(ff_vec3_unit(ff_vec3_make(1e200, -1e200, 0))), 1.0, 1e-15);
    assert_near(ff_vec3_norm(ff_vec3_unit(ff_vec3_zero())), 0.0, 0.0);
    assert_near(ff_quat_unit((ff_quat){0, 0, 0, 0}).w, 1.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_texts_are_complete),
        cmocka_unit_test(test_rotation_exp_log_matrix_agree),
        cmocka_unit_test(test_abc_is_rz_ry_rx),
        cmocka_unit_test(test_pose_and_spatial_transforms_keep_power),
        cmocka_unit_test(test_pose_exp_is_the_limit_of_small_steps),
        cmocka_unit_test(test_solves_invert_random_matrices),
        cmocka_unit_test(test_mat3_inverse_and_eigen),
        cmocka_unit_test(test_random_is_reproducible_and_normal),
        cmocka_unit_test(test_unit_handles_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
