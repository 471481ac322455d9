/* [aghili, Eqs. (27), (28), (33), (34)]: every figure is confirmed by a simulation of the loop in time, which
 * shares no line with the analysis. */
#include "support.h"

#include "study/contact_stability.h"

static ff_contact_stability_config lag(double wa, double q) {
    ff_contact_stability_config c;
    ff_contact_stability_default(&c);
    c.velocity_gain = 20;
    c.position_gain = 100;
    c.bandwidth = wa;
    c.inertia_ratio = q;
    return c;
}

static ff_contact_stability analyze(ff_contact_stability_config c) {
    ff_contact_stability r;
    char message[200] = "";
    const ff_status status = ff_contact_stability_analyze(&c, &r, message, sizeof message);
    if (status != FF_OK)
        fail_msg("%s", message);
    return r;
}

/* The rigid contact in time, M_r = 1: f = -F_r, F_r' = w_a (F_c - F_r), F_c = -f + a + G_v v + G_p x,
 * a = (f - lambda)/Q. Returns f at each step of h. */
typedef double (*drive)(double t, double w);
static double sine(double t, double w) {
    return sin(w * t);
}
static double tap(double t, double w) {
    (void)w;
    return t < 0.05 ? 1.0 : 0.0;
}

static void lag_rate(double wa, double q, double lambda, const double y[3], double dy[3]) {
    const double f = y[0], a = (f - lambda) / q;
    dy[0] = -wa * (a + 20 * y[1] + 100 * y[2]);
    dy[1] = a;
    dy[2] = y[1];
}

static void simulate_lag(double wa, double q, drive lambda, double w, double h, size_t n, double *f) {
    double y[3] = {0};
    for (size_t i = 0; i < n; i++) {
        const double t = (double)i * h;
        double k[4][3], z[3];
        f[i] = y[0];
        lag_rate(wa, q, lambda(t, w), y, k[0]);
        for (int s = 1; s < 4; s++) {
            const double part = s < 3 ? 0.5 : 1.0;
            for (int j = 0; j < 3; j++)
                z[j] = y[j] + part * h * k[s - 1][j];
            lag_rate(wa, q, lambda(t + part * h, w), z, k[s]);
        }
        for (int j = 0; j < 3; j++)
            y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

/* Growth rate from the sizes of the signal in two windows. */
static double measured_growth(const double *f, double h, size_t from, size_t middle, size_t window) {
    double a = 0, b = 0;
    for (size_t i = 0; i < window; i++) {
        a = fmax(a, fabs(f[from + i]));
        b = fmax(b, fabs(f[middle + i]));
    }
    return log(b / a) / ((double)(middle - from) * h);
}

static void test_growth_of_lag_matches_figures_and_simulation(void **state) {
    (void)state;
    static const struct { double q, growth; } figure[] = {{4.9, -0.041}, {5.0, 0.0}, {5.1, 0.039}};
    static double f[40001];
    for (size_t i = 0; i < 3; i++) {
        const ff_contact_stability r = analyze(lag(25, figure[i].q));
        assert_near(r.q_critical, 5.0, 1e-12);
        assert_near(r.q_high, 5.0, 1e-12);
        assert_near(r.growth_rate, figure[i].growth, 0.0015);
        assert_int_equal(r.stable, figure[i].q < 5.0);
        simulate_lag(25, figure[i].q, tap, 0, 0.001, 40001, f);
        assert_near(measured_growth(f, 0.001, 15000, 35000, 5000), r.growth_rate, 2e-4);
    }
    assert_true(isinf(analyze(lag(25, 5.0)).peak_transmissivity));
    assert_true(isnan(analyze(lag(25, 5.1)).peak_transmissivity));
}

static void test_transmissivity_peak_matches_figures_and_simulation(void **state) {
    (void)state;
    static const double peak[] = {1.648, 2.611, 4.494, 10.10};
    static double f[120001];
    for (int q = 1; q <= 4; q++) {
        const ff_contact_stability r = analyze(lag(25, q));
        assert_near(r.peak_transmissivity, peak[q - 1], q < 4 ? 6e-4 : 6e-3);
        assert_true(r.stable);
        simulate_lag(25, q, sine, r.peak_frequency_radps, 0.0005, 120001, f);
        double largest = 0;
        for (size_t i = 100000; i < 120001; i++)
            largest = fmax(largest, fabs(f[i]));
        assert_near(largest, r.peak_transmissivity, 2e-4 * r.peak_transmissivity);
    }
    /* The sentence of the command: up to 7.5, and 3.0 amplifies by 2.6. */
    ff_contact_stability_config c = lag(60, 3);
    c.velocity_gain = 32;
    c.position_gain = 256;
    const ff_contact_stability r = analyze(c);
    assert_near(r.q_high, 7.5, 1e-12);
    assert_near(r.peak_transmissivity, 2.611, 6e-4);
    assert_near(r.peak_frequency_radps, 22.6, 0.05);
}

/* f(t) = f(t-S) - a(t-S) - G_v v(t-S) - G_p x(t-S) by the method of steps, n cells in one delay. The delayed
 * f is exact; only the two integrals carry a trapezoidal error. */
static double simulate_delay(double delay, double q, size_t n, size_t delays) {
    const size_t total = n * delays;
    double *a = calloc(total + 1, sizeof *a), *f = calloc(total + 1, sizeof *f),
           *v = calloc(total + 1, sizeof *v), *x = calloc(total + 1, sizeof *x);
    const double h = delay / (double)n;
    for (size_t i = 0; i <= total; i++) {
        const double lambda = (double)i * h < 0.05 ? sin((double)i * h / 0.05 * FF_PI) : 0.0;
        f[i] = i < n ? 0.0 : f[i - n] - a[i - n] - 20 * v[i - n] - 100 * x[i - n];
        a[i] = (f[i] - lambda) / q;
        if (i > 0) {
            v[i] = v[i - 1] + 0.5 * h * (a[i] + a[i - 1]);
            x[i] = x[i - 1] + h * v[i - 1] + h * h * (2 * a[i - 1] + a[i]) / 6;
        }
    }
    const double growth = measured_growth(f, h, total / 2, total - 40 * n, 40 * n);
    free(a), free(f), free(v), free(x);
    return growth;
}

static ff_contact_stability_config delayed(double q) {
    ff_contact_stability_config c = lag(FF_NAN, q);
    c.delay = 0.040;
    return c;
}

static void test_band_of_delay_matches_figures_and_simulation(void **state) {
    (void)state;
    const ff_contact_stability r = analyze(delayed(2));
    assert_near(r.q_low, 0.539, 0.001);
    assert_near(r.q_high, 3.09, 0.01);
    assert_near(r.q_critical, 5.0, 1e-12); /* what (33) would allow */
    static const double q[] = {0.5, 0.52, 0.56, 0.8, 1.0, 2.0, 3.0, 3.2};
    for (size_t i = 0; i < sizeof q / sizeof *q; i++) {
        const ff_contact_stability at = analyze(delayed(q[i]));
        assert_int_equal(at.stable, q[i] > r.q_low && q[i] < r.q_high);
        assert_near(simulate_delay(0.040, q[i], 200, 400), at.growth_rate,
                    0.03 + 0.02 * fabs(at.growth_rate));
    }
    /* At the edges the loop neither grows nor decays. */
    assert_near(analyze(delayed(r.q_high)).growth_rate, 0.0, 1e-7);
    assert_near(analyze(delayed(r.q_low)).growth_rate, 0.0, 1e-7);
    assert_near(simulate_delay(0.040, r.q_high, 400, 800), 0.0, 2e-3);
}

/* Elastic contact, M_r = 1, rigid target of inertia Q: p'' = F_r + f, F_r' = w_a (F_c - F_r), f = -(K p + B
 * p'). */
static double simulate_elastic(double wa, double K, double B, double q, double h, size_t n) {
    double y[5] = {0.001, 0, 0, 0, 0}; /* p, p', F_r, integral and double integral of ~a_s */
    double early = 0, late = 0;
    for (size_t i = 0; i < n; i++) {
        double k[4][5], z[5];
        for (int s = 0; s < 4; s++) {
            for (int j = 0; j < 5; j++)
                z[j] = s == 0 ? y[j] : y[j] + (s < 3 ? 0.5 : 1.0) * h * k[s - 1][j];
            const double f = -(K * z[0] + B * z[1]), a = f / q;
            const double u = a - 20 * (z[1] - z[3]) - 100 * (z[0] - z[4]);
            k[s][0] = z[1];
            k[s][1] = z[2] + f;
            k[s][2] = wa * (-f + u - z[2]);
            k[s][3] = a;
            k[s][4] = z[3];
        }
        for (int j = 0; j < 5; j++)
            y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
        const double size = fabs(K * y[0] + B * y[1]);
        if (i >= n / 2 && i < n / 2 + n / 10)
            early = fmax(early, size);
        if (i >= n - n / 10)
            late = fmax(late, size);
    }
    return log(late / early) / (0.4 * (double)n * h);
}

static void test_elastic_contact_has_a_lower_bound(void **state) {
    (void)state;
    ff_contact_stability_config c = lag(25, FF_NAN);
    c.robot_inertia = 1;
    c.contact_damping = 10;
    const double bound = 1.0 / (1.0 + 10.0 / 25.0);
    assert_near(analyze(c).q_low, bound, 1e-12);
    /* The stiff limit is where finite stiffness leads. */
    double previous = FF_INF;
    for (double K = 1e4; K < 1e9; K *= 100) {
        c.contact_stiffness = K;
        const ff_contact_stability r = analyze(c);
        const double away = fabs(r.q_low - bound);
        assert_true(away < previous);
        previous = away;
    }
    assert_true(previous < 1e-4);
    /* Both edges of a finite contact, by simulation. */
    c.contact_stiffness = 1e4;
    const ff_contact_stability r = analyze(c);
    print_message("elastic K = 1e4, B = 10, M_r = 1: %.4f < Q < %.4f\n", r.q_low, r.q_high);
    for (int side = -1; side <= 1; side += 2) {
        c.inertia_ratio = r.q_low * (1 + 0.03 * side);
        assert_near(simulate_elastic(25, 1e4, 10, c.inertia_ratio, 1e-4, 60000), analyze(c).growth_rate,
                    0.02);
        assert_int_equal(analyze(c).stable, side > 0);
        c.inertia_ratio = r.q_high * (1 + 0.03 * side);
        assert_near(simulate_elastic(25, 1e4, 10, c.inertia_ratio, 1e-4, 300000), analyze(c).growth_rate,
                    0.003);
        assert_int_equal(analyze(c).stable, side < 0);
    }
    /* Unknown damping is taken as none. */
    assert_near(analyze(lag(25, FF_NAN)).q_low, 1.0, 0.0);
    assert_false(analyze(lag(25, 0.9)).stable);
    assert_true(analyze(lag(25, 1.0)).stable);
}

static void test_elastic_delay_growth_satisfies_its_equation(void **state) {
    (void)state;
    ff_contact_stability_config c = delayed(1.0);
    c.robot_inertia = 2;
    c.contact_damping = 60;
    c.contact_stiffness = 800;
    const ff_contact_stability r = analyze(c);
    print_message("delay 40 ms, K = 800, B = 60, M_r = 2: %.4f < Q < %.4f, growth %.5f\n", r.q_low, r.q_high,
                  r.growth_rate);
    c.inertia_ratio = r.q_high;
    if (isfinite(r.q_high))
        assert_near(analyze(c).growth_rate, 0.0, 1e-6);
    c.inertia_ratio = r.q_low;
    if (r.q_low > 0)
        assert_near(analyze(c).growth_rate, 0.0, 1e-6);
}

static void test_sensitivities_are_the_largest_of_27_and_28(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    ff_rng rng;
    ff_rng_seed(&rng, seed, 1);
    for (int i = 0; i < 20; i++) {
        ff_contact_stability_config c = lag(200, 2.5);
        c.velocity_gain = ff_rng_range(&rng, 1, 40);
        c.position_gain = ff_rng_range(&rng, 10, 400);
        const ff_contact_stability r = analyze(c);
        /* m^2 = Kp^2 + (Kv^2 - 2 Kp) w^2 + w^4: between two points of the grid, at most delta = 2.5e-4 from
         * the peak in ln w, 1/m loses delta^2 / (2 zeta^2) to first order; below the grid (w Kv / Kp)^2 / 2.
         */
        const double zeta = c.velocity_gain / (2 * sqrt(c.position_gain)),
                     loss = 6.3e-8 / (zeta * zeta) + 1e-9;
        double phi = 0, force = 0;
        for (double w = 1e-6; w < 1e3; w *= 1.0005) {
            const double m = hypot(c.position_gain - w * w, c.velocity_gain * w);
            phi = fmax(phi, 1 / m);
            force = fmax(force, 2.5 * c.position_gain / m);
        }
        assert_near(r.constraint_sensitivity, phi, loss * phi);
        assert_near(r.force_sensitivity, force, loss * force);
    }
}

static void test_matrix_finds_the_worst_direction(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    ff_rng rng;
    ff_rng_seed(&rng, seed, 2);
    for (int trial = 0; trial < 20; trial++) {
        const size_t n = 1 + (size_t)trial % 6;
        double Ms[36], Mr[36], Q[36];
        for (int which = 0; which < 2; which++) {
            double G[36], *M = which ? Mr : Ms;
            for (size_t i = 0; i < n * n; i++)
                G[i] = ff_rng_range(&rng, -1, 1);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) {
                    M[i * n + j] = i == j ? 1.0 : 0.0;
                    for (size_t k = 0; k < n; k++)
                        M[i * n + j] += G[i * n + k] * G[j * n + k];
                }
        }
        assert_int_equal(ff_contact_stability_ratio(n, Ms, Mr, Q), FF_OK);
        ff_contact_stability_axes axes;
        ff_contact_stability r;
        assert_int_equal(
            ff_contact_stability_matrix(
                &(ff_contact_stability_config){20, 100, 25, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, n, Q,
                &axes, &r, NULL, 0),
            FF_OK);
        for (size_t a = 0; a < n; a++) /* Q x = value x */
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++)
                    sum += Q[i * n + j] * axes.direction[a][j];
                assert_near(sum, axes.value[a] * axes.direction[a][i], 1e-6 * axes.value[a]);
            }
        assert_near(r.growth_rate, axes.growth[axes.worst], 1e-12);
        for (size_t a = 0; a < n; a++)
            assert_true(axes.growth[a] <= r.growth_rate);
    }
    const double rotation[] = {0, -1, 1, 0};
    ff_contact_stability_axes axes;
    ff_contact_stability r;
    const ff_contact_stability_config c = lag(25, FF_NAN);
    assert_int_equal(ff_contact_stability_matrix(&c, 2, rotation, &axes, &r, NULL, 0), FF_ERR_INERTIA);
}

/* What is not a ratio of two inertias, not finite, too large or asked of a bad loop is refused. */
static void test_matrix_refusals(void **state) {
    (void)state;
    const ff_contact_stability_config c = lag(25, FF_NAN);
    ff_contact_stability_config bad = c;
    bad.velocity_gain = 0;
    static const struct {
        size_t n;
        double Q[4];
        bool bad_loop;
        ff_status status;
        const char *says;
    } row[] = {
        {0, {1}, false, FF_ERR_SIZE, "1 to 6 rows"},
        {7, {1}, false, FF_ERR_SIZE, "1 to 6 rows"},
        {2, {1, 0, 0, FF_NAN}, false, FF_ERR_NOT_FINITE, "not finite"},
        {2, {1, 0, 0, 1}, true, FF_ERR_ARGUMENT, "velocity gain"},
        {2, {-1, 0, 0, -1}, false, FF_ERR_INERTIA, "real and positive"}, /* no trace */
        {2, {3, 0, 0, -1}, false, FF_ERR_INERTIA, "real and positive"},
        {2, {1, -2, 2, 1}, false, FF_ERR_INERTIA, "real and positive"}, /* 1 +- 2i */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        ff_contact_stability_axes axes;
        ff_contact_stability r;
        char message[200] = "";
        assert_int_equal(ff_contact_stability_matrix(row[i].bad_loop ? &bad : &c, row[i].n, row[i].Q, &axes,
                                                     &r, message, sizeof message),
                         row[i].status);
        assert_non_null(strstr(message, row[i].says));
    }
    const double one[] = {2, 1, 1, 3}, none[] = {1, 2, 2, 1};
    double Q[4];
    assert_int_equal(ff_contact_stability_ratio(0, one, one, Q), FF_ERR_SIZE);
    assert_int_equal(ff_contact_stability_ratio(7, one, one, Q), FF_ERR_SIZE);
    assert_int_equal(ff_contact_stability_ratio(2, one, none, Q), FF_ERR_INERTIA);
    assert_int_equal(ff_contact_stability_ratio(2, none, one, Q), FF_ERR_INERTIA);
    assert_int_equal(ff_contact_stability_ratio(2, one, one, Q), FF_OK); /* M M^-1 */
    for (int i = 0; i < 4; i++)
        assert_near(Q[i], i % 3 == 0, 1e-14);
    /* polynomials that are none, or of too high a degree */
    double complex root[13];
    const double zero[] = {1, 0}, nan[] = {FF_NAN, 1}, many[14] = {[0] = 1, [13] = 1};
    assert_int_equal(ff_polynomial_roots(0, zero, root), FF_ERR_ARGUMENT);
    assert_int_equal(ff_polynomial_roots(1, zero, root), FF_ERR_ARGUMENT);
    assert_int_equal(ff_polynomial_roots(1, nan, root), FF_ERR_ARGUMENT);
    assert_int_equal(ff_polynomial_roots(13, many, root), FF_ERR_ARGUMENT);
}

static void test_validate_names_the_field(void **state) {
    (void)state;
    static const struct {
        ff_contact_stability_config c;
        ff_status status;
        const char *says;
    } bad[] = {
        {{0, 100, 25, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_ARGUMENT, "velocity gain"},
        {{20, -1, 25, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_ARGUMENT, "position gain"},
        {{20, 100, FF_INF, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_NOT_FINITE, "bandwidth"},
        {{20, 100, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_ARGUMENT, "one of the two"},
        {{20, 100, 25, 0.1, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_ARGUMENT, "one of the two"},
        {{20, 100, 25, FF_NAN, -3, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_ARGUMENT, "inertia ratio"},
        {{20, 100, 25, FF_NAN, 3, FF_NAN, 5, FF_NAN}, FF_ERR_ARGUMENT, "robot inertia"},
        {{20, 100, 25, FF_NAN, 3, 1, 5, -1}, FF_ERR_ARGUMENT, "stiffness"},
        {{20, 100, FF_NAN, 0.1, 3, 1, 5, FF_NAN}, FF_ERR_ARGUMENT, "stiffness"},
        {{FF_NAN, 100, 25, FF_NAN, FF_NAN, FF_NAN, FF_NAN, FF_NAN}, FF_ERR_NOT_FINITE, "missing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[200] = "";
        assert_int_equal(ff_contact_stability_validate(&bad[i].c, message, sizeof message), bad[i].status);
        assert_non_null(strstr(message, bad[i].says));
    }
}

static void test_polynomial_roots_solve_random_polynomials(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    ff_rng rng;
    ff_rng_seed(&rng, seed, 3);
    for (int trial = 0; trial < 200; trial++) {
        const size_t n = 1 + (size_t)trial % 6;
        double c[7];
        for (size_t i = 0; i <= n; i++)
            c[i] = ff_rng_normal(&rng) * pow(10, ff_rng_range(&rng, -3, 3)) *
                   (trial % 4 == 0 && i % n ? 1e-5 : 1.0); /* some close to c_0 + c_n s^n */
        double complex root[6];
        assert_int_equal(ff_polynomial_roots(n, c, root), FF_OK);
        for (size_t k = 0; k < n; k++) {
            double complex p = 0;
            double size = 0;
            for (size_t i = n + 1; i-- > 0;) {
                p = p * root[k] + c[i];
                size = size * cabs(root[k]) + fabs(c[i]);
            }
            assert_true(cabs(p) <= 1e-11 * size);
        }
        double complex sum = 0; /* Vieta: the roots are distinct ones, none found twice */
        double size = 0;
        for (size_t k = 0; k < n; k++)
            sum += root[k], size += cabs(root[k]);
        assert_near(creal(sum), -c[n - 1] / c[n], 1e-9 * size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_of_lag_matches_figures_and_simulation),
        cmocka_unit_test(test_transmissivity_peak_matches_figures_and_simulation),
        cmocka_unit_test(test_band_of_delay_matches_figures_and_simulation),
        cmocka_unit_test(test_elastic_contact_has_a_lower_bound),
        cmocka_unit_test(test_elastic_delay_growth_satisfies_its_equation),
        cmocka_unit_test(test_sensitivities_are_the_largest_of_27_and_28),
        cmocka_unit_test(test_matrix_finds_the_worst_direction),
        cmocka_unit_test(test_matrix_refusals),
        cmocka_unit_test(test_validate_names_the_field),
        cmocka_unit_test(test_polynomial_roots_solve_random_polynomials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
