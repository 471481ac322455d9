/* Where a tip stands in a surface, and how friction stops it there, against brute force and differences. */
#include "support.h"

#include "history/history.h"

static ff_rng rng;

static ff_vec3 any(double size) {
    return ff_vec3_make(ff_rng_range(&rng, -size, size), ff_rng_range(&rng, -size, size),
                        ff_rng_range(&rng, -size, size));
}

static ff_rigid_state any_motion(void) {
    return (ff_rigid_state){any(1.0), ff_quat_exp(any(2.0)), any(0.1), any(0.5)};
}

static ff_body_view any_body(void) {
    ff_body_view view = {.joints = false};
    const ff_rigid_config config = {.mass = ff_rng_range(&rng, 50.0, 500.0),
                                    .inertia = ff_mat3_diag(20, 25, 30)};
    assert_int_equal(ff_rigid_create(&config, &view.rigid), FF_OK);
    return view;
}

/* Depth: the distance to the nearest point of the wall's line in the tip's own meridian, which is found by
 * trying them all, or to the face around the mouth. Positive outside of the cavity and below the face. */
static void test_cone_is_the_nearest_of_its_points(void **unused) {
    (void)unused;
    const ff_rigid_state b = {.attitude = {1, 0, 0, 0}};
    int faces = 0;
    for (int n = 0; n < 200; n++) {
        const double half = ff_rng_range(&rng, 0.1, 1.4), length = ff_rng_range(&rng, 0.05, 0.5);
        const ff__cone cone = {any(0.2), cos(half), sin(half), length};
        const ff__place p = {.b = -1, .n = ff_vec3_unit(any(1.0)), .cone = &cone};
        const ff_rigid_state a = {.position = ff_vec3_add(cone.apex, any(0.4)), .attitude = {1, 0, 0, 0}};
        const ff__touch t = ff__place_touch(&p, &a, n % 2 ? &b : NULL);
        const ff_vec3 r = ff_vec3_sub(a.position, cone.apex);
        const double z = ff_vec3_dot(p.n, r), rho = ff_vec3_norm(ff_vec3_axpy(-z, p.n, r));
        double least = FF_INF;
        for (int i = 0; i <= 20000; i++) {
            const double d = 1e-4 * i, gap = hypot(rho - d * cone.sin, z - d * cone.cos);
            least = fmin(least, gap);
        }
        const bool outside = atan2(rho, z) > half, face = length - z < (outside ? least : -least);
        assert_int_equal(t.s > 0.0, outside && z < length);
        assert_near(t.s, face ? length - z : outside ? least : -least, 1e-4);
        if (face)
            assert_vec3_near(t.n, p.n, 1e-12);
        faces += face && t.s > 0.0;
        assert_near(ff_vec3_norm(t.n), 1.0, 1e-12);
    }
    assert_true(faces > 3);
    const ff__cone cone = {ff_vec3_zero(), 0.5, sqrt(0.75), 1.0};
    const ff__place p = {.b = -1, .n = ff_vec3_make(0, 0, 1), .cone = &cone};
    const ff_rigid_state apex = {.attitude = {1, 0, 0, 0}},
                         axis = {.position = {{0, 0, 0.1}}, .attitude = {1, 0, 0, 0}};
    assert_true(ff__place_touch(&p, &apex, NULL).s == 0.0);
    assert_vec3_near(ff__place_touch(&p, &apex, NULL).n, p.n, 0.0);
    assert_near(ff__place_touch(&p, &axis, NULL).s, -0.1 * cone.sin, 1e-15);
}

/* The rate is the derivative of the coordinate, also on a body that moves and turns; planes agree in both
 * forms. */
static void test_rate_is_the_derivative(void **unused) {
    (void)unused;
    const ff_body_view view = any_body();
    const double h = 1e-5;
    for (int n = 0; n < 300; n++) {
        const bool turn = n % 3 == 2, cone = n % 3 == 1, moves = n % 2 && !turn;
        const ff__cone wall = {any(0.2), cos(0.6), sin(0.6), FF_INF};
        const ff__place p = {turn, 0, moves ? 1 : -1, ff_vec3_unit(any(1.0)), any(0.5), cone ? &wall : NULL};
        const ff_rigid_state a = any_motion(), b = any_motion();
        const ff_quat start = ff_quat_mul(a.attitude, ff_quat_exp(ff_vec3_scale(1e-4, p.n)));
        double difference[2], s_now, v = 0.0; /* by h, and by half of it */
        for (int half = 0; half < 2; half++) {
            const double step = half ? 0.5 * h : h;
            double s[2];
            for (int i = 0; i < 2; i++) {
                ff_rigid_state x = a, y = b;
                const ff_rigid_state *o = moves ? &y : NULL;
                ff_view_drift(&view, i ? step : -step, &x);
                ff_view_drift(&view, i ? step : -step, &y);
                double unused_rate;
                if (cone)
                    s[i] = ff__place_touch(&p, &x, o).s;
                else
                    ff__place_coordinate(&p, start, &x, o, &s[i], &unused_rate);
                if (!cone && !turn)
                    assert_near(ff__place_touch(&p, &x, o).s, s[i], 1e-14);
            }
            difference[half] = (s[1] - s[0]) / (2.0 * step);
        }
        if (cone)
            v = ff__place_touch(&p, &a, moves ? &b : NULL).v;
        else
            ff__place_coordinate(&p, start, &a, moves ? &b : NULL, &s_now, &v);
        /* An error by step^2, however curved it is there (a cone near its axis): a third of what half of the
         * step changes is left, and what rounding of some 1e-16 m makes of a difference over 1e-5 s. */
        assert_near(difference[1], v, 0.5 * fabs(difference[1] - difference[0]) + 1e-9);
        if (!turn)
            assert_near(ff__place_touch(&p, &a, moves ? &b : NULL).v, v, 1e-14);
    }
}

/* What an impulse along the port's direction does to the velocity of the tip against the surface there. */
static void test_port_yields_as_the_bodies_do(void **unused) {
    (void)unused;
    for (int n = 0; n < 200; n++) {
        const ff_body_view view[2] = {any_body(), any_body()};
        const bool pair = n % 2;
        const ff__place p = {false, 0, pair ? 1 : -1, ff_vec3_unit(any(1.0)), any(0.5), NULL};
        ff_rigid_state a = any_motion(), b = any_motion();
        const ff_rigid_state *o = pair ? &b : NULL;
        const ff_vec3 normal = ff__place_normal(&p, o);
        ff__port q;
        ff__place_open(view, &p, &a, o, normal, any(0.3), &q);
        const ff_vec3 d = q.d_w;
        const ff__touch before = ff__place_touch(&p, &a, o);
        assert_near(q.u, ff_vec3_dot(d, before.slip), 1e-14);
        const double J = 0.7;
        ff_view_impulse(&view[0], p.r,
                        (ff_wrench){ff_vec3_zero(), ff_quat_unrotate(a.attitude, ff_vec3_scale(J, d))}, &a);
        if (pair) {
            const ff_vec3 r = ff_quat_unrotate(b.attitude, ff_vec3_sub(before.tip, b.position));
            ff_view_impulse(&view[1], r,
                            (ff_wrench){ff_vec3_zero(), ff_quat_unrotate(b.attitude, ff_vec3_scale(-J, d))},
                            &b);
        }
        const ff__touch after = ff__place_touch(&p, &a, o);
        assert_near(ff_vec3_dot(d, ff_vec3_sub(after.slip, before.slip)), J * q.mobility, 1e-14);
    }
}

/* A slip that mu N can stop in half of the sub-step, u < (mu N least - g)/2 with the least mobility across
 * the normal, is stopped and held from there on: none is left, to rounding, however the tip turned before. */
static void test_friction_stops_a_tip_with_an_arm(void **unused) {
    (void)unused;
    int slid = 0;
    for (int n = 0; n < 120; n++) {
        const ff_body_view view = any_body();
        const ff__place p = {.b = -1, .n = ff_vec3_unit(any(1.0)), .r = any(0.2)};
        const ff_rigid_state a = any_motion();
        const double mu = ff_rng_range(&rng, 0.5, 2.0), N = ff_rng_range(&rng, 0.1, 1.0);
        ff__touch t = ff__place_touch(&p, &a, NULL);
        const ff_vec3 first = ff_vec3_unit(ff_vec3_cross(t.n, any(1.0)));
        const ff_vec3 f[3] = {first, ff_vec3_cross(t.n, first), t.n};
        double A[3][3]; /* by the ports of each, and of both together */
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                ff__port sum, one, two;
                ff__place_open(&view, &p, &a, NULL, f[i], f[j], &sum);
                ff__place_open(&view, &p, &a, NULL, f[i], ff_vec3_zero(), &one);
                ff__place_open(&view, &p, &a, NULL, f[j], ff_vec3_zero(), &two);
                A[i][j] = 0.5 * (sum.mobility - one.mobility - two.mobility);
            }
        const double g = N * hypot(A[0][2], A[1][2]),
                     least = 0.5 * (A[0][0] + A[1][1]) - hypot(0.5 * (A[0][0] - A[1][1]), A[0][1]),
                     most = 0.5 * (mu * N * least - g), turn = ff_rng_range(&rng, 0.0, 6.283);
        if (!(most > 0.0))
            continue;
        const double u[2] = {0.9 * most * cos(turn), 0.9 * most * sin(turn)};
        t.slip = ff_vec3_axpy(u[0], f[0], ff_vec3_scale(u[1], f[1]));
        const ff_vec3 J = ff__friction_impulse(&view, &p, &a, NULL, &t, mu, N);
        const double j[2] = {ff_vec3_dot(f[0], J), ff_vec3_dot(f[1], J)};
        for (int c = 0; c < 2; c++)
            assert_near(u[c] + N * A[c][2] + A[c][0] * j[0] + A[c][1] * j[1], 0.0, 1e-12 * (most + g));
        assert_true(hypot(j[0], j[1]) <= mu * N);
        slid++;
    }
    assert_true(slid > 20);
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cone_is_the_nearest_of_its_points),
        cmocka_unit_test(test_rate_is_the_derivative),
        cmocka_unit_test(test_port_yields_as_the_bodies_do),
        cmocka_unit_test(test_friction_stops_a_tip_with_an_arm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
