/* Loads of the reference: edges located, shapes integrated, against closed-form motion. */
#include "ideal_support.h"

/* Impulse and displacement per unit of force/mass, u seconds after `from`, for a load of length D. */
static void shape_integrals(ff_load_kind kind, double D, double u, double *dv, double *dx) {
    const double in = fmin(fmax(u, 0), D), w = FF_PI / D;
    switch (kind) {
    case FF_LOAD_PULSE:
        *dv = in;
        *dx = 0.5 * in * in;
        break;
    case FF_LOAD_HALFSINE:
        *dv = (1 - cos(w * in)) / w;
        *dx = in / w - sin(w * in) / (w * w);
        break;
    case FF_LOAD_SIN2:
    default:
        *dv = 0.5 * in - sin(2 * w * in) / (4 * w);
        *dx = 0.25 * in * in - (1 - cos(2 * w * in)) / (8 * w * w);
        break;
    }
    *dx += *dv * fmax(u - D, 0);
}

static void test_loads_move_as_the_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < test_count(20, 200); i++) {
        ff_scenario s;
        make_scenario(&s, 0.01, 40);
        const double m = pow(10, ff_rng_range(&rng, 0, 4));
        ff_satellite *b = add_body(&s, m, ff_mat3_diag(m, m, m));
        b->start.velocity = test_random_vec3(&rng, 0.1);
        b->start.position = test_random_vec3(&rng, 1);
        const int loads = 1 + i % 5;
        for (int j = 0; j < loads; j++) {
            const double from = j == 0 ? 0 : ff_rng_range(&rng, 0, 30),
                         length = pow(10, ff_rng_range(&rng, -2, 1));
            /* torque about x only, so the rotation has a closed form too */
            add_load(&s, (ff_load_kind)((i + j) % 3), test_random_vec3(&rng, m),
                     ff_vec3_make(m * 0.01 * (j + 1), 0, 0), from, from + length);
        }
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        for (uint64_t k = 0; k < r.samples; k += 7) {
            const double t = (double)k * s.cycle;
            ff_vec3 v = b->start.velocity, x = ff_vec3_axpy(t, v, b->start.position);
            double w = 0, angle = 0, size = 1;
            for (int j = 0; j < loads; j++) {
                double dv, dx;
                shape_integrals(s.load[j].kind, s.load[j].to - s.load[j].from, t - s.load[j].from, &dv, &dx);
                v = ff_vec3_axpy(dv / m, s.load[j].force, v);
                x = ff_vec3_axpy(dx / m, s.load[j].force, x);
                w += dv / m * s.load[j].torque.x;
                angle += dx / m * s.load[j].torque.x;
                size += ff_vec3_norm(s.load[j].force) / m * dx;
            }
            const ff_rigid_state *got = state_of(&r, k, 0);
            /* an error of 1e-12 in the speed grows for 40 s */
            assert_vec3_near(got->position, x, 5e-11 * size);
            assert_vec3_near(got->velocity, v, 1e-11 * size);
            assert_vec3_near(got->omega, ff_vec3_make(w, 0, 0), 1e-11);
            assert_near(ff_quat_angle(got->attitude, ff_quat_exp(ff_vec3_make(angle, 0, 0))), 0, 5e-10);
        }
        ff_ideal_free(&r);
    }
}

/* [destefano2019, II-B] 30 kg, 6 N on [5, 10), 12 N on [32, 37). */
static void test_paper_pulses(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.1, 50);
    add_body(&s, 30, ff_mat3_diag(18, 20, 22));
    add_load(&s, FF_LOAD_PULSE, ff_vec3_make(6, 0, 0), ff_vec3_zero(), 5, 10);
    add_load(&s, FF_LOAD_PULSE, ff_vec3_make(12, 0, 0), ff_vec3_zero(), 32, 37);
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_near(state_of(&r, 100, 0)->position.x, 2.5, 1e-12);
    assert_near(state_of(&r, 320, 0)->position.x, 24.5, 1e-11);
    assert_near(state_of(&r, 500, 0)->velocity.x, 3, 1e-12);
    assert_near(state_of(&r, 500, 0)->position.x, 2.5 + 40 + 0.5 * 0.4 * 25 + 2 * 13, 1e-11);
    ff_ideal_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads_move_as_the_closed_form),
        cmocka_unit_test(test_paper_pulses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
