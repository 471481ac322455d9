/* lib/base at its edges: the whole status list, published random numbers, series against sine and cosine
 * where they meet, what is not finite, extreme sizes. */
#include "support.h"

static void test_each_status_has_its_name_and_sentence(void **unused) {
    (void)unused;
#define CHECK_STATUS(name, value, text)               \
    assert_int_equal(name, value);                    \
    assert_string_equal(ff_status_name(name), #name); \
    assert_string_equal(ff_status_text(name), text);
    FF_STATUS_LIST(CHECK_STATUS)
}

/* The authors' own numbers: splitmix64 from 1234567, xoshiro256** from 1, 2, 3, 4. */
static void test_random_is_the_published_generator(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, 1234567u ^ 0x2545F4914F6CDD1Du, 0);
    assert_true(rng.s[0] == 6457827717110365317u && rng.s[1] == 3203168211198807973u);
    assert_true(rng.s[2] == 9817491932198370423u && rng.s[3] == 4593380528125082431u);
    assert_false(rng.has_spare);
    rng = (ff_rng){.s = {1, 2, 3, 4}};
    const uint64_t expect[] = {11520u, 0u, 1509978240u, 1215971899390074240u, 1216172134540287360u};
    for (int i = 0; i < 5; i++)
        assert_true(ff_rng_next(&rng) == expect[i]);
    /* other streams are other numbers */
    ff_rng other;
    ff_rng_seed(&rng, 7, 0);
    ff_rng_seed(&other, 7, 1);
    assert_true(ff_rng_next(&rng) != ff_rng_next(&other));
}

/* Box and Muller: both values of a pair have the radius of its first number. */
static void test_normal_pairs_and_ranges(void **unused) {
    (void)unused;
    ff_rng rng, copy;
    ff_rng_seed(&rng, test_seed(), 1);
    double sum = 0.0, square = 0.0, fourth = 0.0;
    const int n = 20000;
    for (int i = 0; i < n; i++) {
        copy = rng;
        const double u = 1.0 - ff_rng_uniform(&copy), v = ff_rng_uniform(&copy);
        const double a = ff_rng_normal(&rng), b = ff_rng_normal(&rng);
        assert_near(hypot(a, b), sqrt(-2.0 * log(u)), 1e-14 * (1.0 + hypot(a, b)));
        assert_near(remainder(atan2(b, a) - 2.0 * FF_PI * v, 2.0 * FF_PI), 0.0, 1e-13);
        sum += a + b;
        square += a * a + b * b;
        fourth += a * a * a * a + b * b * b * b;
        const double x = ff_rng_range(&rng, -3.0, 5.0);
        assert_true(x >= -3.0 && x < 5.0);
    }
    /* five sigma of 2 n draws: mean 1/sqrt(m), variance sqrt(2/m), fourth moment sqrt(96/m) */
    const double m = 2.0 * n;
    assert_near(sum / m, 0.0, 5.0 / sqrt(m));
    assert_near(square / m, 1.0, 5.0 * sqrt(2.0 / m));
    assert_near(fourth / m, 3.0, 5.0 * sqrt(96.0 / m));
}

static void test_uniform_fills_its_interval(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    int bin[10] = {0};
    for (int i = 0; i < 20000; i++)
        bin[(int)(10.0 * ff_rng_uniform(&rng))]++;
    double chi2 = 0.0;
    for (int i = 0; i < 10; i++)
        chi2 += (bin[i] - 2000.0) * (bin[i] - 2000.0) / 2000.0;
    assert_true(chi2 < 45.0); /* 9 degrees of freedom: one run in a million */
}

static void test_unit_vectors_of_every_size(void **unused) {
    (void)unused;
    for (int e = -300; e <= 300; e += 50)
        for (int axis = 0; axis < 3; axis++) {
            ff_vec3 a = {{1, 2, 2}};
            const double s = pow(10.0, e) * (axis == 1 ? -1.0 : 1.0);
            const ff_vec3 turned = {{a.a[axis], a.a[(axis + 1) % 3], a.a[(axis + 2) % 3]}};
            assert_vec3_near(ff_vec3_unit(ff_vec3_scale(s, turned)),
                             ff_vec3_scale(copysign(1.0 / 3.0, s), turned), 1e-15);
        }
    const ff_vec3 z = ff_vec3_zero();
    assert_vec3_near(ff_vec3_unit(z), z, 0.0);
    assert_vec3_near(ff_vec3_unit(ff_vec3_make(0, FF_INF, 1)), z, 0.0);
    assert_vec3_near(ff_vec3_unit(ff_vec3_make(FF_NAN, FF_NAN, FF_NAN)), z, 0.0);
    const ff_quat one = ff_quat_identity();
    const ff_quat bad[] = {
        {0, 0, 0, 0}, {FF_INF, 0, 0, 0}, {0, FF_NAN, 0, 0}, {1, 0, -FF_INF, 0}, {1, 0, 0, FF_NAN}};
    for (int i = 0; i < 5; i++) {
        const ff_quat q = ff_quat_unit(bad[i]);
        assert_memory_equal(&q, &one, sizeof q);
    }
    const ff_quat q = ff_quat_unit((ff_quat){-1, 3, 5, 1});
    assert_near(q.w, -1.0 / 6, 1e-16);
    assert_near(q.x, 0.5, 1e-16);
    assert_near(q.y, 5.0 / 6, 2e-16);
    assert_near(q.z, 1.0 / 6, 1e-16);
}

static void test_finite_looks_at_every_component(void **unused) {
    (void)unused;
    const ff_pose pose = {{1, 0, 0, 0}, {{1, 2, 3}}};
    assert_true(ff_pose_finite(pose));
    for (int i = 0; i < 7; i++) {
        ff_pose bad = pose;
        double *x[] = {&bad.q.w, &bad.q.x, &bad.q.y, &bad.q.z, &bad.p.x, &bad.p.y, &bad.p.z};
        *x[i] = i % 2 ? FF_NAN : -FF_INF;
        assert_false(ff_pose_finite(bad));
    }
    for (int i = 0; i < 6; i++) {
        ff_twist t = ff_twist_zero();
        ff_wrench w = ff_wrench_zero();
        assert_true(ff_twist_finite(t) && ff_wrench_finite(w));
        (i < 3 ? &t.w : &t.v)->a[i % 3] = FF_INF;
        (i < 3 ? &w.t : &w.f)->a[i % 3] = FF_NAN;
        assert_false(ff_twist_finite(t) || ff_wrench_finite(w));
    }
}

/* exp and log of rotations and poses on both sides of where the series takes over, against long double. */
static void test_exponentials_where_series_and_closed_form_meet(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    const double size[] = {1e-12, 1e-9,    9.9e-10,  1.1e-9, 1e-6, 9.9e-4, 1.01e-3,
                           9e-3,  9.99e-3, 1.001e-2, 0.011,  0.3,  2.0,    3.1};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        const ff_vec3 u = ff_vec3_unit(test_random_vec3(&rng, 1)), v = test_random_vec3(&rng, 1);
        const long double a = (long double)size[i];
        const ff_vec3 r = ff_vec3_scale(size[i], u);
        const ff_quat q = ff_quat_exp(r), large = ff_quat_exp_large(r);
        /* |r| itself is rounded: a few ulp of the angle */
        assert_near(q.w, (double)cosl(a / 2), 4e-16 * (1.0 + size[i]));
        assert_near(q.x, (double)(sinl(a / 2) * (long double)u.x), 6e-16 * size[i]);
        assert_near(large.w, q.w, 4e-16);
        assert_near(large.y, q.y, 6e-16 * size[i]);
        assert_vec3_near(ff_quat_log(q), r, 1e-15 * size[i]);
        /* also for -q, the same rotation */
        assert_vec3_near(ff_quat_log((ff_quat){-q.w, -q.x, -q.y, -q.z}), r, 1e-15 * size[i]);
        /* p = (1 + A [w] + B [w]^2) v */
        const long double A = 2 * sinl(a / 2) * sinl(a / 2) / (a * a);
        const long double B = a < 1e-4L ? 1 / 6.0L - a * a / 120 : (a - sinl(a)) / (a * a * a);
        const ff_vec3 wv = ff_vec3_cross(r, v), wwv = ff_vec3_cross(r, wv);
        const ff_pose T = ff_pose_exp((ff_twist){r, v});
        for (int k = 0; k < 3; k++)
            assert_near(T.p.a[k],
                        (double)((long double)v.a[k] + A * (long double)wv.a[k] + B * (long double)wwv.a[k]),
                        4e-16 * (1.0 + fabs(v.a[k]))); /* two sums: an ulp of it each */
        const ff_twist back = ff_pose_log(T);
        /* near pi the inverse loses a / sin a */
        assert_vec3_near(back.w, r, 4e-15 * size[i]);
        assert_vec3_near(back.v, v, 4e-15);
    }
    const ff_quat zero = ff_quat_exp_large(ff_vec3_zero());
    assert_near(zero.w, 1.0, 0.0);
    assert_near(zero.x, 0.0, 0.0);
}

static void test_slerp_and_interpolation_follow_the_geodesic(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int i = 0; i < 100; i++) {
        const ff_pose a = test_random_pose(&rng, 1);
        const ff_vec3 r = test_random_vec3(&rng, 1.5), d = test_random_vec3(&rng, 2);
        ff_pose b = {ff_quat_mul(a.q, ff_quat_exp(r)), ff_vec3_add(a.p, d)};
        if (i % 2)
            b.q = (ff_quat){-b.q.w, -b.q.x, -b.q.y, -b.q.z};
        const double s = ff_rng_range(&rng, -0.2, 1.2);
        const ff_pose x = ff_pose_interpolate(a, b, s);
        assert_vec3_near(x.p, ff_vec3_axpy(s, d, a.p), 1e-15);
        assert_near(ff_quat_angle(x.q, ff_quat_mul(a.q, ff_quat_exp(ff_vec3_scale(s, r)))), 0.0, 2e-15);
        assert_near(ff_quat_angle(a.q, b.q), ff_vec3_norm(r), 2e-15);
    }
}

static void test_small_matrices_component_by_component(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    const ff_vec3 a = test_random_vec3(&rng, 1), b = test_random_vec3(&rng, 1), c = test_random_vec3(&rng, 1);
    const ff_mat3 S = ff_mat3_skew(a), one = ff_mat3_identity(), d = ff_mat3_diag(2, 3, 5);
    assert_vec3_near(ff_mat3_apply(&S, b), ff_vec3_cross(a, b), 1e-15);
    assert_vec3_near(ff_mat3_apply_transpose(&S, b), ff_vec3_cross(b, a), 1e-15);
    assert_vec3_near(ff_mat3_apply(&d, ff_vec3_make(1, 1, 1)), ff_vec3_make(2, 3, 5), 0.0);
    assert_vec3_near(ff_mat3_apply(&one, b), b, 0.0);
    assert_near(ff_vec3_dot(a, ff_vec3_cross(a, b)), 0.0, 1e-15);
    /* a x (b x c) = b (a.c) - c (a.b) */
    assert_vec3_near(ff_vec3_cross(a, ff_vec3_cross(b, c)),
                     ff_vec3_sub(ff_vec3_scale(ff_vec3_dot(a, c), b), ff_vec3_scale(ff_vec3_dot(a, b), c)),
                     1e-15);
    const ff_mat3 M = {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
    assert_near(ff_mat3_det(M), ff_vec3_dot(a, ff_vec3_cross(b, c)), 1e-15); /* the triple product */
    const ff_mat3 sum = ff_mat3_add(M, ff_mat3_scale(-2.0, ff_mat3_transpose(M)));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(sum.m[i][j], M.m[i][j] - 2.0 * M.m[j][i], 0.0);
}

static void test_inverse_refuses_at_its_limit(void **unused) {
    (void)unused;
    const ff_mat3 kept = ff_mat3_diag(7, 7, 7);
    /* two columns that enclose the angle e: |det| = e of the columns' product */
    for (int i = 0; i < 2; i++) {
        const double e = i ? 0.5e-14 : 2e-14;
        const ff_mat3 a = {{{1, 1, 0}, {0, e, 0}, {0, 0, 3}}};
        ff_mat3 inverse = kept;
        assert_int_equal(ff_mat3_inverse(a, &inverse), i ? FF_ERR_SINGULAR : FF_OK);
        if (i)
            assert_memory_equal(&inverse, &kept, sizeof kept);
        else
            assert_near(inverse.m[1][1] * e, 1.0, 1e-12);
    }
    for (int k = 0; k < 9; k++) {
        ff_mat3 a = {{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}}, inverse = kept;
        a.m[k / 3][k % 3] = k % 2 ? FF_NAN : FF_INF;
        assert_int_equal(ff_mat3_inverse(a, &inverse), FF_ERR_SINGULAR);
        assert_memory_equal(&inverse, &kept, sizeof kept);
    }
    ff_mat3 inverse = kept, huge = ff_mat3_diag(1e150, 1e150, 1e150); /* the determinant overflows */
    assert_int_equal(ff_mat3_inverse(huge, &inverse), FF_ERR_SINGULAR);
    assert_int_equal(ff_mat3_inverse(ff_mat3_diag(0, 1, 1), &inverse), FF_ERR_SINGULAR);
}

static void test_eigen_of_symmetric_matrices_with_zeros(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    for (int n = 0; n < 400; n++) {
        /* diagonal, one coupling, two, three; sizes far apart; repeated values */
        ff_mat3 a = {0};
        const double scale = pow(10.0, ff_rng_range(&rng, -8, 8));
        for (int i = 0; i < 3; i++)
            a.m[i][i] = scale * (n % 5 == 0 ? 1.0 : ff_rng_range(&rng, -1, 1));
        for (int i = 0; i < 3; i++)
            for (int j = i + 1; j < 3; j++)
                if ((n >> (i + j - 1)) & 1)
                    a.m[i][j] = a.m[j][i] = scale * ff_rng_range(&rng, -1, 1);
        ff_vec3 v;
        ff_mat3 V;
        ff_mat3_eigen(a, &v, &V);
        assert_true(v.x <= v.y && v.y <= v.z);
        assert_near(ff_mat3_det(V), 1.0, 1e-14);
        const ff_mat3 back = ff_mat3_mul(V, ff_mat3_mul(ff_mat3_diag(v.x, v.y, v.z), ff_mat3_transpose(V)));
        const ff_mat3 unit = ff_mat3_mul(V, ff_mat3_transpose(V)), one = ff_mat3_identity();
        for (int k = 0; k < 9; k++) {
            assert_near((&back.m[0][0])[k], (&a.m[0][0])[k], 1e-14 * scale);
            assert_near((&unit.m[0][0])[k], (&one.m[0][0])[k], 2e-15);
        }
    }
    /* not finite: comes to an end */
    ff_vec3 v;
    ff_mat3 V;
    ff_mat3_eigen((ff_mat3){{{1, FF_NAN, 0}, {FF_NAN, 1, 0}, {0, 0, 1}}}, &v, &V);
    ff_mat3_eigen((ff_mat3){{{1, FF_INF, 0}, {FF_INF, 1, 0}, {0, 0, 1}}}, &v, &V);
}

static void test_solves_refuse_what_is_not_finite(void **unused) {
    (void)unused;
    size_t pivots[2];
    for (int k = 0; k < 4; k++)
        for (int bad = 0; bad < 2; bad++) {
            double spd[4] = {2, 1, 1, 2}, full[4] = {1, 2, 3, 4};
            spd[k] = full[k] = bad ? FF_INF : FF_NAN;
            if (k != 1) /* the upper triangle is not read */
                assert_int_equal(ff_cholesky_factor(2, spd), FF_ERR_SINGULAR);
            if (bad == 0)
                assert_int_equal(ff_lu_factor(2, full, pivots), FF_ERR_SINGULAR);
        }
    double huge[4] = {FF_INF, 0, 0, 1}, zero[4] = {1, 2, 2, 4}, semi[4] = {1, 2, 2, 4}, negative[1] = {-1};
    assert_int_equal(ff_lu_factor(2, huge, pivots), FF_ERR_SINGULAR);
    assert_int_equal(ff_lu_factor(2, zero, pivots), FF_ERR_SINGULAR);
    assert_int_equal(ff_cholesky_factor(2, semi), FF_ERR_SINGULAR);
    assert_int_equal(ff_cholesky_factor(1, negative), FF_ERR_SINGULAR);
    /* the largest of a column is the pivot: without it the answer would be (0, 1) instead of (1, 1) */
    double a[4] = {1e-20, 1, 1, 1}, b[2] = {1, 2};
    assert_int_equal(ff_lu_factor(2, a, pivots), FF_OK);
    ff_lu_solve(2, a, pivots, b);
    assert_near(b[0], 1.0, 1e-15);
    assert_near(b[1], 1.0, 1e-15);
}

static void test_gimbal_lock_on_both_sides(void **unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        const double side = i ? -1.0 : 1.0;
        const ff_quat q = ff_quat_from_abc(0.7, side * FF_PI / 2, 0.3);
        double a, b, c;
        ff_quat_to_abc(q, &a, &b, &c);
        assert_near(a, 0.7 - side * 0.3, 1e-12);
        assert_near(b, side * FF_PI / 2, 1e-7);
        assert_near(c, 0.0, 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_status_has_its_name_and_sentence),
        cmocka_unit_test(test_random_is_the_published_generator),
        cmocka_unit_test(test_normal_pairs_and_ranges),
        cmocka_unit_test(test_uniform_fills_its_interval),
        cmocka_unit_test(test_unit_vectors_of_every_size),
        cmocka_unit_test(test_finite_looks_at_every_component),
        cmocka_unit_test(test_exponentials_where_series_and_closed_form_meet),
        cmocka_unit_test(test_slerp_and_interpolation_follow_the_geodesic),
        cmocka_unit_test(test_small_matrices_component_by_component),
        cmocka_unit_test(test_inverse_refuses_at_its_limit),
        cmocka_unit_test(test_eigen_of_symmetric_matrices_with_zeros),
        cmocka_unit_test(test_solves_refuse_what_is_not_finite),
        cmocka_unit_test(test_gimbal_lock_on_both_sides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
