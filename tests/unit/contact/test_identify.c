/* Identification of stiffness and damping on its own: exact surfaces, signs, skew, noise, bounds, lead. */
#include "support.h"

#include "freefloat/contact.h"

/* A body of mass m against k, c; the force may be late by `late`, noisy, and damped by depth. */
typedef struct bounce {
    double k, c, m, v, T, noise, late;
    double put; /* what was published first is replaced by this many times k */
} bounce;

typedef struct found {
    ff_identify_out last;
    double worst;  /* largest |k - true|/true of the published */
    double second; /* [N/m] published second */
    unsigned bounds;
    int published, samples;
} found;

/* Undelayed contact in closed form: p = (v/wd) exp(-z w t) sin(wd t), F = k p + c p' > 0. */
static found run(const ff_identify_config *config, const bounce *b, ff_rng *rng) {
    const double w = sqrt(b->k / b->m), z = b->c / (2 * b->m * w), wd = w * sqrt(1 - z * z);
    ff_identify_state state;
    ff_identify_reset(&state);
    found f = {0};
    double p_last = 0.0;
    for (int i = 1; i < 100000; i++) {
        const double t = i * b->T;
        double at[2], speed[2];
        for (int s = 0; s < 2; s++) { /* [0] pose's time, [1] force's time */
            const double x = t - (s ? b->late : 0.0), decay = exp(-z * w * x);
            at[s] = b->v / wd * decay * sin(wd * x);
            speed[s] = b->v * decay * (cos(wd * x) - z * w / wd * sin(wd * x));
        }
        if (t <= b->late)
            continue;
        const double force = b->k * at[1] + b->c * speed[1];
        if (!(force > 0.0))
            break;
        const ff_identify_in in = {.cycle = b->T,
                                   .force = fmax(0.0, force + b->noise * (rng ? ff_rng_normal(rng) : 0.0)),
                                   .step = at[0] - p_last,
                                   .speed = speed[0],
                                   .mass = b->m};
        p_last = at[0];
        if (b->put > 0.0 && f.published == 1)
            state.stiffness = b->put * b->k;
        ff_identify_out out;
        ff_identify_step(config, &state, &in, &out);
        f.bounds |= out.bounds;
        f.samples++;
        if (out.valid) {
            f.published++;
            f.last = out;
            f.second = f.published == 2 ? out.stiffness : f.second;
            f.worst = fmax(f.worst, fabs(out.stiffness / b->k - 1));
            assert_true(out.stiffness > 0 && out.damping >= 0);
        }
    }
    return f;
}

static void test_offset_finds_exact_surfaces(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    ff_identify_config config;
    ff_identify_default(&config);
    for (int i = 0; i < test_count(200, 5000); i++) {
        bounce b = {.m = pow(10, ff_rng_range(&rng, 0, 4)), .v = pow(10, ff_rng_range(&rng, -3, 0))};
        const double w = 2 * FF_PI * pow(10, ff_rng_range(&rng, -0.7, 1.3)), z = ff_rng_range(&rng, 0, 0.6);
        b.k = b.m * w * w;
        b.c = 2 * z * b.m * w;
        b.T = FF_PI / w / ff_rng_range(&rng, 30, 300);
        const found f = run(&config, &b, NULL);
        if (!f.published)
            fail_msg("nothing published: k %g c %g m %g v %g T %g, z %g, %d samples, %.0f a contact", b.k,
                     b.c, b.m, b.v, b.T, z, f.samples, FF_PI / w / b.T);
        /* what is left is the pull of the prior, strongest with thirty samples at z = 0.6 */
        assert_near(f.last.mean_stiffness / b.k, 1, 1e-3);
        assert_near((f.last.mean_damping - b.c) / sqrt(b.k * b.m), 0, 2e-3);
    }
}

static void test_increments_find_constant_surfaces_roughly(void **state) {
    (void)state;
    ff_identify_config config;
    ff_identify_printed(&config);
    const bounce b = {.k = 7e4, .c = 200, .m = 279.07, .v = 0.02, .T = 0.001};
    const found f = run(&config, &b, NULL);
    assert_near(f.last.mean_stiffness / b.k, 1, 0.01);
    assert_near(f.last.damping / b.c, 1, 0.1);
}

/* Each millisecond of misalignment shifts the damping by -k times it, and `skew` takes it back. */
static void test_skew_aligns_force_and_pose(void **state) {
    (void)state;
    ff_identify_config config;
    ff_identify_default(&config);
    const bounce aligned = {.k = 7e4, .c = 400, .m = 279.07, .v = 0.02, .T = 0.001};
    bounce late = aligned;
    late.late = 0.002;
    const double c0 = run(&config, &aligned, NULL).last.damping;
    const double c1 = run(&config, &late, NULL).last.damping;
    assert_near(c1 - c0, -late.k * late.late, 0.05 * late.k * late.late);
    config.skew = late.late;
    assert_near(run(&config, &late, NULL).last.damping, aligned.c, 4);
}

static void test_noise_stays_within_the_stated_uncertainty(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    ff_identify_config config;
    ff_identify_default(&config);
    config.noise = 0.2;
    const bounce b = {.k = 7e4, .c = 400, .m = 279.07, .v = 0.02, .T = 0.001, .noise = 0.2};
    double square = 0.0, sum = 0.0;
    const int count = test_count(200, 2000);
    for (int i = 0; i < count; i++) {
        const found f = run(&config, &b, &rng);
        const double e = (f.last.damping - b.c) / f.last.damping_sd;
        sum += e / count;
        square += e * e / count;
        assert_true(f.worst < 0.15);
    }
    print_message("damping error over its sd: mean %.2f, rms %.2f\n", sum, sqrt(square));
    assert_true(sqrt(square) < 1.6 && sqrt(square) > 0.4);
}

static void test_bounds_act_and_are_reported(void **state) {
    (void)state;
    ff_identify_config config;
    ff_identify_default(&config);
    /* force ahead of the pose looks like negative damping */
    const bounce b = {.k = 7e4, .c = 0, .m = 279.07, .v = 0.02, .T = 0.001, .late = 0.004};
    found f = run(&config, &b, NULL);
    assert_true(f.bounds & FF_BOUND_DAMPING);
    assert_true(f.last.damping == 0.0);
    config.rate = 1e-6;
    f = run(&config, &(bounce){.k = 7e4, .c = 400, .m = 279.07, .v = 0.02, .T = 0.001}, NULL);
    assert_true(f.bounds & FF_BOUND_RATE);
}

/* What is published moves towards the estimate, from above and from below, by the rate and no more. */
static void test_the_rate_leads_towards_the_estimate(void **state) {
    (void)state;
    ff_identify_config config;
    ff_identify_default(&config);
    config.rate = 0.01;
    bounce b = {.k = 7e4, .c = 400, .m = 279.07, .v = 0.02, .T = 0.001};
    for (int above = 0; above < 2; above++) {
        b.put = above ? 3.0 : 1.0 / 3.0;
        const found f = run(&config, &b, NULL);
        assert_true(f.bounds & FF_BOUND_RATE);
        assert_near(f.second / (b.put * b.k), above ? 0.99 : 1.01, 1e-12);
    }
}

static void test_adaptation_stays_bounded(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int adapt = FF_IDENTIFY_FIXED; adapt <= FF_IDENTIFY_RQ; adapt++)
        for (int form = FF_IDENTIFY_OFFSET; form <= FF_IDENTIFY_INCREMENTS; form++)
            for (int i = 0; i < 50; i++) {
                ff_identify_config config;
                form == FF_IDENTIFY_OFFSET ? ff_identify_default(&config) : ff_identify_printed(&config);
                config.adapt = (ff_identify_adapt)adapt;
                config.noise = ff_rng_range(&rng, 0, 1);
                const bounce b = {.k = 7e4, .c = 100, .m = 279, .v = 0.02, .T = 0.001, .noise = config.noise};
                const found f = run(&config, &b, &rng); /* asserts k > 0, c >= 0 inside */
                if (f.published) {
                    assert_true(isfinite(f.last.stiffness) && isfinite(f.last.damping));
                    assert_true(f.last.stiffness > 0.2 * b.k && f.last.stiffness < 5 * b.k);
                }
            }
}

static void test_validate_refuses_what_is_outside(void **state) {
    (void)state;
    ff_identify_config good, bad;
    ff_identify_default(&good);
    assert_int_equal(ff_identify_validate(&good), FF_OK);
    ff_identify_printed(&bad);
    assert_int_equal(ff_identify_validate(&bad), FF_OK);
    double *const fields[] = {&bad.forget,         &bad.noise,        &bad.skew,  &bad.prior,
                              &bad.stiffness_walk, &bad.damping_walk, &bad.trust, &bad.rate};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        bad = good;
        *fields[i] = FF_NAN;
        assert_int_equal(ff_identify_validate(&bad), FF_ERR_ARGUMENT);
    }
    /* each bound from outside, and where the bound itself belongs */
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const bool may_vanish = i == 1 || i == 2 || i == 4 || i == 5, may_be_infinite = i >= 6,
                   may_be_negative = i == 2;
        bad = good;
        *fields[i] = 0.0;
        assert_int_equal(ff_identify_validate(&bad), may_vanish ? FF_OK : FF_ERR_ARGUMENT);
        *fields[i] = -1e-9;
        assert_int_equal(ff_identify_validate(&bad), may_be_negative ? FF_OK : FF_ERR_ARGUMENT);
        *fields[i] = FF_INF;
        assert_int_equal(ff_identify_validate(&bad), may_be_infinite ? FF_OK : FF_ERR_ARGUMENT);
    }
    bad = good;
    bad.forget = 1.0;
    assert_int_equal(ff_identify_validate(&bad), FF_ERR_ARGUMENT);
    for (int side = 0; side < 2; side++) {
        bad = good;
        bad.form = (ff_identify_form)(side ? FF_IDENTIFY_INCREMENTS + 1 : -1);
        assert_int_equal(ff_identify_validate(&bad), FF_ERR_ARGUMENT);
        bad = good;
        bad.adapt = (ff_identify_adapt)(side ? FF_IDENTIFY_RQ + 1 : -1);
        assert_int_equal(ff_identify_validate(&bad), FF_ERR_ARGUMENT);
    }
    bad = good;
    bad.form = FF_IDENTIFY_INCREMENTS;
    bad.adapt = FF_IDENTIFY_RQ;
    assert_int_equal(ff_identify_validate(&bad), FF_OK);
    assert_int_equal(ff_lead_validate(&(ff_lead_config){-1, 0}), FF_ERR_ARGUMENT);
}

/* (10): a ramp F = a t, late by tau, is restored once the filter has settled. */
static void test_lead_restores_a_ramp(void **state) {
    (void)state;
    const ff_lead_config config = {.time = 0.005, .filter = 0.01};
    ff_lead_state lead;
    ff_lead_reset(&lead);
    ff_wrench out = ff_wrench_zero();
    const double T = 0.001;
    for (int k = 0; k < 200; k++) {
        ff_wrench f = ff_wrench_zero();
        f.f.x = 300.0 * (k * T - config.time);
        f.t.y = -20.0 * (k * T - config.time);
        out = ff_lead_step(&config, &lead, T, f);
    }
    assert_near(out.f.x, 300.0 * 199 * T, 1e-6);
    assert_near(out.t.y, -20.0 * 199 * T, 1e-6);
}

static void test_contact_point_and_restitution(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int i = 0; i < 100; i++) {
        const ff_vec3 r = test_random_vec3(&rng, 1), f = test_random_vec3(&rng, 50);
        const ff_vec3 found_r = ff_contact_point((ff_wrench){ff_vec3_cross(r, f), f});
        const ff_vec3 n = ff_vec3_unit(f), expected = ff_vec3_axpy(-ff_vec3_dot(r, n), n, r);
        assert_vec3_near(found_r, expected, 1e-12);
    }
    assert_vec3_near(ff_contact_point(ff_wrench_zero()), ff_vec3_zero(), 0);
    assert_near(ff_contact_restitution(0), 1, 0);
    /* integrate x'' + 2 z x' + x = 0 from x = 0, x' = -1 until the force x + 2 z x' vanishes */
    for (int i = 1; i <= 8; i++) {
        const double z = 0.25 * i;
        double x = 0, v = 1, t = 1e-5;
        for (; x == 0 || x + 2 * z * v > 0;) {
            const double a1 = -x - 2 * z * v, vm = v + 0.5 * t * a1, xm = x + 0.5 * t * v;
            x += t * vm;
            v += t * (-xm - 2 * z * vm);
        }
        assert_near(ff_contact_restitution(z), -v, 1e-4);
    }
}

/* ------------------------------------------------------------------------------ the filter as one least
 * square -- */

/* A x = b by elimination, n at most 5, A positive definite. */
static void solve(int n, double A[5][5], const double *b, double *x) {
    double M[5][6];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            M[i][j] = A[i][j];
        M[i][n] = b[i];
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            const double r = i == k ? 0.0 : M[i][k] / M[k][k];
            for (int j = k; j <= n; j++)
                M[i][j] -= r * M[k][j];
        }
    for (int i = 0; i < n; i++)
        x[i] = M[i][n] / M[i][i];
}

static double dot(int n, const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Parameters that do not wander: after every sample the filter is the weighed least square over all of them,
 * prior included, and so are its standard deviations, scaled by the residuals. Robots that go deeper than the
 * satellite would (shallow) and damping by depth (graded), too. */
static void test_filter_is_the_least_square(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 11);
    int deep = 0;
    for (int i = 0; i < 48; i++) {
        ff_identify_config config;
        ff_identify_default(&config);
        config.shallow = i % 2;
        config.graded = i % 4 > 1;
        config.noise = i % 3 ? 0.05 : 0.0;
        config.trust = config.rate = 1e9; /* published at once, as it is */
        const int n = config.graded ? 5 : 3;
        const double k = 1e4, m = pow(10, ff_rng_range(&rng, 0, 3)), T = 0.004, w = 8.0, D = 0.01,
                     c = ff_rng_range(&rng, 0, 0.2) * sqrt(k * m);
        double A[5][5] = {{0}}, b[5] = {0}, x[5] = {0}, R = 0, scale = 1, v0 = 0, first = 0, last = 0, q1 = 0,
               q2 = 0, misfit = 0, expected = 0;
        int rows = 0;
        ff_identify_state s;
        ff_identify_reset(&s);
        for (int j = 0; j < 90; j++) {
            const double p = D * sin(w * T * j), v = i % 8 == 7 && j == 0 ? 0.0 : D * w * cos(w * T * j),
                         f = fmax(0.0, k * p + c * (1.0 + 0.3 * p / D) * v + 0.5 +
                                           config.noise * ff_rng_normal(&rng));
            const ff_identify_in in = {.cycle = T, .force = f, .step = p - last, .speed = v, .mass = m};
            last = p;
            ff_identify_out out;
            const bool started = s.started;
            ff_identify_step(&config, &s, &in, &out);
            if (j == 0) {
                v0 = v;
                first = f;
            } else if (!started && s.started) {
                const double depth = p + v * T, k0 = f / depth, c0 = 0.2 * sqrt(k0 * m),
                             f0 = k0 * v * T + 5 * config.noise, rest = 1e-3 * fmax(v * sqrt(k0 * m), f),
                             sd[5] = {k0, c0, f0, c0, c0};
                for (int r = 0; r < n; r++)
                    A[r][r] = 1.0 / (sd[r] * sd[r]);
                x[0] = k0;
                x[2] = first;
                b[0] = A[0][0] * k0;
                b[2] = A[2][2] * first;
                R = config.noise * config.noise + rest * rest;
                scale = fmax(v0 * sqrt(m / k0), depth);
            } else if (started) {
                const double q = p / scale, h[5] = {p, v, 1.0, q * v, q * q * v};
                double weight = 1.0, Ph[5];
                if (config.shallow && v0 > 0.0 && x[0] > 0.0) {
                    const double d = p / (v0 * sqrt(m / x[0])), own = d < 1.0 ? v0 * sqrt(1.0 - d * d) : 0.0;
                    weight = fmin(1.0, fmax(0.1, own / fmax(fabs(v), 0.05 * v0)));
                    deep += d >= 1.0;
                }
                solve(n, A, h, Ph);
                const double noise = R / weight, S = dot(n, h, Ph) + noise, e = f - dot(n, h, x);
                misfit += e * e * noise / (S * S);
                expected += noise / S;
                for (int r = 0; r < n; r++) {
                    for (int t = 0; t < n; t++)
                        A[r][t] += h[r] * h[t] / noise;
                    b[r] += h[r] * f / noise;
                }
                solve(n, A, b, x);
                q1 += q;
                q2 += q * q;
                rows++;
                assert_near(s.x[0], x[0], 1e-6 * fabs(x[0]));
                assert_near(s.x[1], x[1], 1e-5 * sqrt(k * m));
                assert_near(s.x[2], x[2], 1e-5 * k * D);
                /* deviations: of k, of c, and of the mean of c over the time of the contact */
                const double more = fmax(1.0, misfit / expected), mean = config.graded ? 1.0 : 0.0,
                             g[3][5] = {{1}, {0, 1}, {0, 1, 0, mean * q1 / rows, mean * q2 / rows}},
                             got[3] = {out.stiffness_sd, out.damping_sd, out.mean_damping_sd};
                if (!out.valid) /* a stiffness that is not positive is not published */
                    continue;
                for (int r = 0; r < 3; r++) {
                    double Pg[5];
                    solve(n, A, g[r], Pg);
                    const double sd = sqrt(dot(n, g[r], Pg) * more);
                    assert_near(got[r], sd, 1e-4 * sd);
                }
                assert_near(out.mean_damping, fmax(0.0, dot(n, g[2], x)), 1e-5 * sqrt(k * m));
            }
        }
        assert_true(rows > 60 && s.published);
    }
    assert_true(deep > 50);
}

/* What cannot start: no mass, a force that is not finite. A speed that is not a number is not used, and a
 * stiffness that falls below zero is not published: the last one stays. */
static void test_identify_at_its_limits(void **state) {
    (void)state;
    ff_identify_config config;
    ff_identify_default(&config);
    config.trust = config.rate = 10.0;
    for (int kind = 0; kind < 5; kind++) {
        ff_identify_state s;
        ff_identify_out out = {0};
        ff_identify_reset(&s);
        unsigned bounds = 0;
        double kept = FF_NAN;
        for (int j = 0; j < 60; j++) {
            const double p = 1e-4 * j;
            ff_identify_in in = {
                .cycle = 0.004, .force = 1e4 * p, .step = j ? 1e-4 : 0.0, .speed = 0.025, .mass = 100};
            if (kind == 0)
                in.mass = 0.0;
            if (kind == 1 && j)
                in.force = FF_INF;
            if (kind == 2 && j == 2) /* the first sample after the start */
                in.speed = FF_NAN;
            if (kind == 3 && j == 30)
                in.speed = FF_NAN;
            if (kind == 4 && j > 20) /* pulls, the deeper the more */
                in.force = -1e6 * (p - 20e-4);
            ff_identify_step(&config, &s, &in, &out);
            bounds |= out.bounds;
            if (kind < 2) {
                assert_true(!s.started && !out.valid && isnan(out.stiffness));
                continue;
            }
            if (j > 2 || (kind > 2 && j == 2))
                assert_true(out.valid && out.stiffness > 0.0 && out.damping >= 0.0 &&
                            isfinite(out.stiffness_sd));
            if (kind == 3 && (j == 30 || j == 31)) /* its rate needs the one before, too */
                assert_true(out.stiffness == kept);
            if (out.bounds & FF_BOUND_STIFFNESS)
                assert_true(out.stiffness == kept);
            kept = out.stiffness;
        }
        if (kind == 2 || kind == 3)
            assert_near(out.stiffness, 1e4, 1e-3 * 1e4);
        assert_int_equal((bounds & FF_BOUND_STIFFNESS) != 0, kind == 4);
    }
}

/* 1 - e^2, also for dampers whose contact lasts longer than the sum: then nothing comes back. */
static void test_loss_is_what_restitution_leaves(void **state) {
    (void)state;
    for (double z = 1e-3; z < 1e9; z *= 3.0) {
        const double e = ff_contact_restitution(z);
        /* Runge-Kutta's (2 pi/32)^5/120 a step, for some five steps of the steepest decay, and Simpson's (4
         * pi/32)^4/2880 of its square */
        assert_near(ff_contact_loss(z), 1.0 - e * e, 1.2e-5 + 0.9e-5);
    }
    for (double z = 0.99; z < 1.01; z += 1e-4) { /* continuous where the roots become real */
        const double e = z < 1.0 ? exp(-(FF_PI - 2.0 * asin(z)) * z / sqrt(1.0 - z * z))
                                 : exp(-2.0 * acosh(z) * z / sqrt(z * z - 1.0));
        if (fabs(z - 1.0) > 1e-6)
            assert_near(ff_contact_restitution(z), e, 2e-4);
    }
    assert_true(ff_contact_loss(0.0) == 0.0);
    assert_true(ff_contact_restitution(0.0) == 1.0 && ff_contact_restitution(FF_NAN) == 1.0 &&
                ff_contact_loss(FF_NAN) == 0.0);
    assert_near(ff_contact_restitution(1.0), exp(-2.0), 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offset_finds_exact_surfaces),
        cmocka_unit_test(test_increments_find_constant_surfaces_roughly),
        cmocka_unit_test(test_skew_aligns_force_and_pose),
        cmocka_unit_test(test_noise_stays_within_the_stated_uncertainty),
        cmocka_unit_test(test_bounds_act_and_are_reported),
        cmocka_unit_test(test_the_rate_leads_towards_the_estimate),
        cmocka_unit_test(test_adaptation_stays_bounded),
        cmocka_unit_test(test_validate_refuses_what_is_outside),
        cmocka_unit_test(test_lead_restores_a_ramp),
        cmocka_unit_test(test_contact_point_and_restitution),
        cmocka_unit_test(test_filter_is_the_least_square),
        cmocka_unit_test(test_identify_at_its_limits),
        cmocka_unit_test(test_loss_is_what_restitution_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
