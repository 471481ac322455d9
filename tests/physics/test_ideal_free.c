/* Free tumbling of the reference against the Jacobi elliptic solution. */
#include "ideal_support.h"

/* Jacobi's sn, cn, dn and the quarter period K by the arithmetic-geometric mean [abramowitz1964, 16.4]. */
static void jacobi(double u, double m, double *sn, double *cn, double *dn, double *K) {
    double a[32], c[32], b = sqrt(1 - m);
    int n = 0;
    a[0] = 1;
    c[0] = sqrt(m);
    while (fabs(c[n]) > 1e-17 && n < 30) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
        n++;
    }
    *K = 0.5 * FF_PI / a[n];
    double phi = ldexp(a[n] * u, n);
    for (; n > 0; n--)
        phi = 0.5 * (phi + asin(c[n] * sin(phi) / a[n]));
    *sn = sin(phi);
    *cn = cos(phi);
    *dn = sqrt(1 - m * *sn * *sn);
}

/* Free rotation with I1 > I2 > I3 [landau1976, 37]: w1 = A1 dn u, w2 = A2 sn u, w3 = A3 cn u, u = p t + u0,
 * when L^2 > 2 E I2 (it circles axis 1); otherwise the same with axes 1 and 3 exchanged. */
typedef struct tumble {
    double A1, A2, A3, p, m, u0;
    bool swap;
} tumble;

static void tumble_make(tumble *j, const double I[3], const double w[3]) {
    const double E2 = I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2];
    const double L2 = I[0] * I[0] * w[0] * w[0] + I[1] * I[1] * w[1] * w[1] + I[2] * I[2] * w[2] * w[2];
    j->swap = L2 < E2 * I[1];
    const int a = j->swap ? 2 : 0, b = j->swap ? 0 : 2;
    const double i1 = I[a], i2 = I[1], i3 = I[b];
    j->A1 = copysign(sqrt((L2 - E2 * i3) / (i1 * (i1 - i3))), w[a]);
    j->A2 = sqrt((E2 * i1 - L2) / (i2 * (i1 - i2)));
    j->A3 = sqrt((E2 * i1 - L2) / (i3 * (i1 - i3)));
    j->m = (i2 - i3) * (E2 * i1 - L2) / ((i1 - i2) * (L2 - E2 * i3));
    /* I2 w2' = (I3 - I1) w3 w1 in the body's own numbering, and w2' = A2 p cn dn. */
    j->p = (I[2] - I[0]) / i2 * j->A1 * j->A3 / j->A2;
    /* u0 from the amplitude, by bisection: it grows with u and is pi/2 per K. */
    const double amplitude = atan2(w[1] / j->A2, w[b] / j->A3);
    double sn, cn, dn, K, lo, hi;
    jacobi(0, j->m, &sn, &cn, &dn, &K);
    lo = -2 * K;
    hi = 2 * K;
    for (int i = 0; i < 100; i++) {
        j->u0 = 0.5 * (lo + hi);
        jacobi(j->u0, j->m, &sn, &cn, &dn, &K);
        if (atan2(sn, cn) < amplitude)
            lo = j->u0;
        else
            hi = j->u0;
    }
}

static void tumble_at(const tumble *j, double t, double w[3]) {
    double sn, cn, dn, K;
    jacobi(j->p * t + j->u0, j->m, &sn, &cn, &dn, &K);
    w[j->swap ? 2 : 0] = j->A1 * dn;
    w[1] = j->A2 * sn;
    w[j->swap ? 0 : 2] = j->A3 * cn;
}

/* The inertia is given in turned axes: body = frame * principal. */
static void check_tumble(const double I[3], const double w0[3], ff_quat frame, double duration,
                         double tolerance) {
    ff_scenario s;
    make_scenario(&s, 0.05, duration);
    const ff_mat3 R = ff_quat_to_mat3(frame);
    ff_mat3 inertia = ff_mat3_mul(ff_mat3_mul(R, ff_mat3_diag(I[0], I[1], I[2])), ff_mat3_transpose(R));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            inertia.m[i][k] = inertia.m[k][i];
    ff_satellite *b = add_body(&s, 280, inertia);
    b->start.omega = ff_quat_rotate(frame, ff_vec3_make(w0[0], w0[1], w0[2]));
    b->start.velocity = ff_vec3_make(0.01, -0.02, 0.03);
    b->start.attitude = ff_quat_unit((ff_quat){0.5, -0.1, 0.7, 0.2});
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    tumble j;
    tumble_make(&j, I, w0);
    ff_rigid_model model;
    assert_int_equal(ff_rigid_create(&b->rigid, &model), FF_OK);
    const ff_vec3 L0 = ff_rigid_angular_momentum(&model, &b->start);
    const double E0 = ff_rigid_kinetic_energy(&model, &b->start);
    double worst_w = 0, worst_L = 0, worst_E = 0, worst_p = 0;
    for (uint64_t k = 0; k < r.samples; k++) {
        const double t = (double)k * s.cycle;
        double w[3];
        tumble_at(&j, t, w);
        const ff_rigid_state *x = state_of(&r, k, 0);
        const ff_vec3 expect = ff_quat_rotate(frame, ff_vec3_make(w[0], w[1], w[2]));
        const ff_vec3 L = ff_rigid_angular_momentum(&model, x);
        worst_w = fmax(worst_w, ff_vec3_norm(ff_vec3_sub(x->omega, expect)));
        worst_L = fmax(worst_L, ff_vec3_norm(ff_vec3_sub(L, L0)) / ff_vec3_norm(L0));
        worst_E = fmax(worst_E, fabs(ff_rigid_kinetic_energy(&model, x) / E0 - 1));
        worst_p = fmax(worst_p, ff_vec3_norm(ff_vec3_sub(x->position, ff_vec3_scale(t, b->start.velocity))));
        const ff_quat q = x->attitude;
        assert_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-14);
    }
    print_message("%g s, %s axis: %llu steps; largest errors w %.2g rad/s, L %.2g, E %.2g, position %.2g m\n",
                  duration, j.swap ? "smallest" : "largest", (unsigned long long)r.steps, worst_w, worst_L,
                  worst_E, worst_p);
    assert_near(worst_w, 0, tolerance);
    assert_near(worst_L, 0, tolerance); /* the attitude: it turns the body's momentum into the constant one */
    assert_near(worst_E, 0, tolerance);
    assert_near(worst_p, 0, tolerance);
    assert_near(r.max_kinetic_energy[0], E0, tolerance * E0);
    ff_ideal_free(&r);
}

static void test_tumble_is_jacobi_for_1000_s(void **state) {
    (void)state;
    const double I[3] = {22, 20, 18};
    const ff_quat turned = ff_quat_unit((ff_quat){1, 0.3, -0.4, 0.2});
    check_tumble(I, (double[]){0.4, 0.3, 0.2}, ff_quat_identity(), 1000, 1e-9);
    check_tumble(I, (double[]){0.2, 0.3, 0.4}, ff_quat_identity(), 1000, 1e-9);
    check_tumble(I, (double[]){-0.2, 0.3, 0.4}, turned, 1000, 1e-9);
    check_tumble(I, (double[]){0.4, -0.1, -0.3}, turned, 1000, 1e-9);
}

/* readings.md, destefano2019: I = (18, 20, 22), w0 = (.2, .3, .4): w(50 s). */
static void test_paper_tumble(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 50);
    add_body(&s, 30, ff_mat3_diag(18, 20, 22))->start.omega = ff_vec3_make(.2, .3, .4);
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_vec3_near(state_of(&r, s.cycles, 0)->omega, ff_vec3_make(-.231836, -.255448, .413821), 6e-7);
    ff_ideal_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tumble_is_jacobi_for_1000_s),
        cmocka_unit_test(test_paper_tumble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
