/* The reference's contacts against closed forms and conservation. */
#include "ideal_support.h"

/* [lange, IV-C] restitution of a spring-damper contact released at zero force. */
static double restitution(double z) {
    return exp(-(FF_PI - 2.0 * asin(z)) * z / sqrt(1.0 - z * z));
}

static void test_wall_rebound_is_the_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < test_count(40, 400); i++) {
        const double m = pow(10, ff_rng_range(&rng, 0, 4)), f = pow(10, ff_rng_range(&rng, -0.7, 1.3)),
                     w = 2 * FF_PI * f, k = m * w * w, z = i % 4 ? ff_rng_range(&rng, 0, 0.6) : 0.0,
                     c = 2 * z * sqrt(k * m), v = pow(10, ff_rng_range(&rng, -3, 0));
        ff_scenario s;
        make_scenario(&s, 0.004, 6);
        ff_satellite *b = add_body(&s, m, random_inertia(&rng, m));
        b->start.attitude = test_random_quat(&rng);
        const ff_vec3 n = ff_vec3_unit(test_random_vec3(&rng, 1)), at = test_random_vec3(&rng, 3);
        const ff_vec3 along = ff_vec3_cross(n, test_random_vec3(&rng, v));
        b->start.velocity = ff_vec3_axpy(-v, n, along);
        const double t0 = ff_rng_range(&rng, 0.2, 2);
        b->start.position =
            ff_vec3_axpy(v * t0, n, ff_vec3_add(at, ff_vec3_cross(n, test_random_vec3(&rng, 1))));
        ff_contact *wall = add_contact(&s, FF_CONTACT_WALL, k, c);
        wall->at = at;
        wall->normal = n;
        wall->stiffness *= 7; /* the mock-ups' own contact is not the reference's */
        wall->damping += 3;
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        assert_int_equal(r.contacts, 1);
        const double e = restitution(z), wd = w * sqrt(1 - z * z), T = (FF_PI - 2 * asin(z)) / wd;
        const ff_ideal_contact *hit = &r.contact[0];
        assert_near(hit->start, t0, 1e-12 * (1 + 3 / v));
        assert_near(hit->end - hit->start, T, 1e-9 * T + 1e-12 * (1 + 3 / v));
        assert_vec3_near(hit->before[0].velocity, b->start.velocity, 1e-15 + 1e-13 * v);
        const ff_vec3 after = ff_vec3_axpy(e * v, n, along);
        assert_vec3_near(hit->after[0].velocity, after, 1e-9 * v);
        assert_vec3_near(state_of(&r, s.cycles, 0)->velocity, after, 1e-9 * v);
        assert_vec3_near(hit->after[0].omega, ff_vec3_zero(), 1e-12);
        /* x = (v/wd) exp(-z w t) sin(wd t) and F = -m x'' give F = (m v w / sqrt(1 - z^2)) exp(-z w t)
         * sin(wd t + phi), sin phi = 2 z sqrt(1 - z^2); its maximum is inside, or c v at the start. */
        const double phi = 2 * asin(z), tp = (acos(z) - phi) / wd;
        const double peak =
            tp > 0 ? m * v * w * exp(-z * w * tp) * sin(wd * tp + phi) / sqrt(1 - z * z) : c * v;
        assert_near(hit->peak_force / peak, 1, 1e-9);
        if (z == 0)
            assert_near(hit->peak_force / (v * sqrt(k * m)), 1, 1e-9);
        /* The sampled load is the law at the sampled state. */
        for (uint64_t j = 0; j < r.samples; j++) {
            const ff_rigid_state *x = state_of(&r, j, 0);
            const double d = -ff_vec3_dot(n, ff_vec3_sub(x->position, at)), u = -ff_vec3_dot(n, x->velocity);
            const double t = (double)j * s.cycle;
            const double F = t > hit->start && t < hit->end ? fmax(0, k * d + c * u) : 0;
            assert_vec3_near(r.contact_load[j].force, ff_vec3_scale(F, n), 1e-12 * k);
            assert_vec3_near(r.contact_load[j].torque, ff_vec3_zero(), 0);
        }
        ff_ideal_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wall_rebound_is_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
