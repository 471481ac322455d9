/* The point of a contact from its torques, and points that touch again: against contacts of a known point
 * along known normals, without noise. And how far noise moves a contact's impulse, row by row. */
#include "fused_bench.h"

static ff_rng rng;
static fused_state *S;

/* A settled contact along n at r, as its rows tell it: any forces along n, and their torques. */
static fused_contact *touch(fused_contact *c, ff_vec3 n, ff_vec3 r, int rows) {
    *c = (fused_contact){.a = 0, .b = -1, .spot = -1, .n = n, .end = 100};
    for (int i = 0; i < rows; i++) {
        const ff_vec3 F = ff_vec3_scale(ff_rng_range(&rng, 5.0, 50.0), n), M = ff_vec3_cross(r, F);
        ff__fused_add_torque(&c->sum, F, M);
        c->torque_max = fmax(c->torque_max, ff_vec3_norm(M));
    }
    return c;
}

/* One contact tells its point across the normal. A second one along another normal, at an angle alpha, tells
 * the rest. Each knows the two directions across its normal to
 * l = 0.1 mm, so the information is (2 - n1 n1' - n2 n2')/l^2 with the eigenvalues 2, 1 - cos alpha and
 * 1 + cos alpha: the volume over the square of the trace is sin^2(alpha)/(8 l^2). */
static void test_a_point_is_known_whole_after_two_normals(void **state) {
    (void)state;
    const double s = 1.0 / (1e-4 * 1e-4);
    for (int draw = 0; draw < 200; draw++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        S = bench_state;
        const ff_vec3 r = test_random_vec3(&rng, 1.0), n1 = bench_unit(&rng);
        ff_vec3 n2 = bench_unit(&rng);
        while (fabs(ff_vec3_dot(n1, n2)) > 0.95)
            n2 = bench_unit(&rng);
        fused_contact c, again;
        ff__fused_learn_spot(&bench_model.config, S, touch(&c, n1, r, 8));
        assert_true(c.spot >= 0);
        const fused_spot *spot = &S->spot[0][c.spot];
        assert_true(spot->known && spot->last == 100);
        assert_vec3_near(ff_vec3_cross(n1, spot->r), ff_vec3_cross(n1, r), 1e-6);
        assert_true(spot->least < 1e-6 * s); /* nothing along n1 */
        touch(&again, n2, r, 12);
        again.spot = c.spot;
        ff__fused_learn_spot(&bench_model.config, S, &again);
        assert_int_equal(again.spot, c.spot);
        const double cosine = ff_vec3_dot(n1, n2);
        assert_vec3_near(spot->r, r, 1e-6 / (1.0 - cosine * cosine));
        assert_near(spot->least / s, (1.0 - cosine * cosine) / 8.0, 1e-6);
    }
}

/* Fewer than eight rows, friction, or a pure torque say nothing of a point. */
static void test_what_tells_no_point(void **state) {
    (void)state;
    for (int why = 0; why < 3; why++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        fused_contact c;
        touch(&c, bench_unit(&rng), test_random_vec3(&rng, 1.0), why == 0 ? 7 : 8);
        c.mu = why == 1 ? 0.1 : 0.0;
        c.torque = why == 2;
        ff__fused_learn_spot(&bench_model.config, bench_state, &c);
        assert_int_equal(c.spot, -1);
        for (int i = 0; i < FUSED_SPOTS; i++)
            assert_false(bench_state->spot[0][i].known);
    }
}

/* Of two points that the rows of one normal cannot distinguish the one that is known best is taken. */
static void test_the_point_that_is_known_best_is_taken(void **state) {
    (void)state;
    for (int draw = 0; draw < 50; draw++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        S = bench_state;
        /* two tips one behind the other along n; `sharp` touched along two normals, `blunt` along one */
        const ff_vec3 n = bench_unit(&rng), across = bench_across(&rng, n),
                      sharp = test_random_vec3(&rng, 1.0), blunt = ff_vec3_axpy(0.1, n, sharp);
        fused_contact c;
        ff__fused_learn_spot(&bench_model.config, S, touch(&c, n, blunt, 10));
        const int one = c.spot;
        ff__fused_learn_spot(&bench_model.config, S, touch(&c, n, sharp, 10));
        const int other = c.spot;
        assert_true(one != other);
        touch(&c, across, sharp, 10);
        c.spot = other;
        ff__fused_learn_spot(&bench_model.config, S, &c);
        ff_vec3 found;
        touch(&c, n, sharp, 10);
        assert_int_equal(ff__fused_point_of(&bench_model.config, S, 0, &c.sum, c.torque_max, &found), other);
        assert_vec3_near(found, sharp, 1e-5);
    }
}

/* Speed that is left `rest` seconds after a step of 1 m/s of x'' = -(k x + c x')/m: in fine steps. */
static double left_of_a_step(const ff_profile *e, double m, double rest) {
    enum { STEPS = 400 };
    const double h = rest / STEPS;
    double x = 0.0, v = 1.0;
    for (int n = 0; n < STEPS; n++) { /* Runge and Kutta's fourth order */
        double kx[4], kv[4];
        for (int s = 0; s < 4; s++) {
            const double f = s == 0   ? 0.0
                             : s == 3 ? h
                                      : 0.5 * h,
                         dx = s ? kx[s - 1] : 0.0, dv = s ? kv[s - 1] : 0.0;
            kx[s] = v + f * dv;
            kv[s] = -(e->k * (x + f * dx) + e->c * (v + f * dv)) / m;
        }
        x += h / 6.0 * (kx[0] + 2.0 * kx[1] + 2.0 * kx[2] + kx[3]);
        v += h / 6.0 * (kv[0] + 2.0 * kv[1] + 2.0 * kv[2] + kv[3]);
    }
    return v;
}

enum { OPEN_TO = FROM + 40, ALL = OPEN_TO + 1 }; /* all rows of it are looked at */

/* The law's slopes by k, c and x0 at a depth of the tip; whether it presses. */
static bool slopes(const bench_truth *z, int row, double deeper, double a[3]) {
    double p, v;
    bench_depth(z, row * BENCH_T, &p, &v);
    const bool presses = ff_profile_force(&z->law, p + deeper + z->law.x0, v) > 0.0;
    a[0] = presses ? p + deeper : 0.0;
    a[1] = presses ? v : 0.0;
    a[2] = presses ? -z->law.k : 0.0;
    return presses;
}

/* A contact whose satellite stands `deeper` than its robot, and the law fitted to the robot's rows with the
 * covariance C = (sum a a')^-1 of such a fit. */
static fused_contact *fitted(const bench_truth *z, double deeper, double C[3][3]) {
    bench_reset(&rng, 1, 0.1, 0.0, NULL);
    bench_play(z, ALL);
    fused_contact *c = bench_open(0, z, z->n, z->r, FROM, DETECTED, OPEN_TO);
    const double unit[3] = {1.0, 1.0, z->law.k};
    ff_mat3 gram = {{{0}}}, inverse;
    for (int i = FROM; i <= OPEN_TO; i++) {
        ff_rigid_state *body = &fused_at(bench_state, 0, (uint64_t)i)->past.body;
        body->position = ff_vec3_axpy(-deeper, z->n, body->position);
        double a[3];
        slopes(z, i, 0.0, a);
        for (int m = 0; m < 3; m++)
            for (int n = 0; n < 3; n++)
                gram.m[m][n] += a[m] / unit[m] * a[n] / unit[n];
    }
    assert_int_equal(ff_mat3_inverse(gram, &inverse), FF_OK);
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++)
            C[m][n] = inverse.m[m][n] / (unit[m] * unit[n]);
    const double v = C[2][2], by_k = C[0][2] / v, by_c = C[1][2] / v;
    c->surface = z->law;
    c->surface.unit = 1.0;
    c->surface.sd_x0 = fused_row_noise(&bench_model.config, c) * sqrt(v);
    c->surface.k_by_x0 = by_k;
    c->surface.c_by_x0 = by_c;
    c->surface.sd_k = sqrt(C[0][0] - v * by_k * by_k);
    c->surface.sd_c = sqrt(C[1][1] - v * by_c * by_c);
    c->surface.cov_kc = C[0][1] - v * by_k * by_c;
    c->mass = z->law.k / (z->w * z->w);
    return c;
}

/* How far noise moves a contact's impulse, against each row's own: the noise of row i moves the satellite by
 * itself and, through the fit, in all rows where the satellite is not where the robot is; what a push of row
 * j has left at the end is integrated. An offset of the sensor does the same in all rows at once. */
static void test_the_spread_of_an_impulse_row_by_row(void **state) {
    (void)state;
    for (int draw = 0; draw < 40; draw++) {
        double C[3][3], u[3] = {0}, impulse = 0.0, white = 0.0, steady = 0.0, h[ALL] = {0};
        bench_truth z;
        bench_draw(&rng, 1, &z);
        const double deeper = draw % 2 ? ff_rng_range(&rng, 1e-4, 1e-3) : 0.0, noise = 0.1,
                     offset = draw % 3 ? 0.0 : 0.5;
        fused_contact *c = fitted(&z, deeper, C);
        for (int i = FROM; i <= OPEN_TO; i++) {
            double there[3], here[3];
            const bool felt = slopes(&z, i, deeper, there), pressed = slopes(&z, i, 0.0, here);
            impulse += BENCH_T * fmax(0.0, there[0] * z.law.k + there[1] * z.law.c);
            if (felt || pressed)
                h[i] = left_of_a_step(&z.law, c->mass, (OPEN_TO - i) * BENCH_T);
            for (int m = 0; m < 3; m++)
                u[m] += h[i] * (there[m] - here[m]);
        }
        for (int i = FROM; i <= OPEN_TO; i++) {
            double a[3], moved = h[i];
            slopes(&z, i, 0.0, a);
            for (int m = 0; m < 3; m++)
                for (int n = 0; n < 3; n++)
                    moved += u[m] * C[m][n] * a[n];
            white += moved * moved;
            steady += moved;
        }
        const double expected =
            BENCH_T / impulse * sqrt(noise * noise * white + offset * offset * steady * steady);
        const double got = ff__fused_spread(&bench_model, bench_state, c, OPEN_TO, noise, offset, 0.0);
        assert_near(got / expected, 1.0, 1e-5);
    }
}

/* It is unknown where the fit or the noise is. */
static void test_no_spread_without_a_fit(void **state) {
    (void)state;
    bench_truth z;
    bench_draw(&rng, 1, &z);
    for (int why = 0; why < 7; why++) {
        double C[3][3], noise = why == 1 ? 0.0 : 0.1;
        fused_contact *c = fitted(&z, 1e-4, C);
        ff_profile *e = &c->surface;
        double *const sd[] = {&e->sd_k, &e->sd_c, &e->sd_x0};
        if (why == 2)
            e->valid = false;
        else if (why == 3)
            e->unit = 0.0;
        else if (why > 3)
            *sd[why - 4] = FF_INF;
        const double got = ff__fused_spread(&bench_model, bench_state, c, OPEN_TO, noise, 0.0, 0.0);
        assert_true(why ? got == FF_INF : isfinite(got) && got > 0.0);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_point_is_known_whole_after_two_normals),
                                       cmocka_unit_test(test_what_tells_no_point),
                                       cmocka_unit_test(test_the_point_that_is_known_best_is_taken),
                                       cmocka_unit_test(test_the_spread_of_an_impulse_row_by_row),
                                       cmocka_unit_test(test_no_spread_without_a_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
