/* Property: under the default tdpa no scenario gains energy. Random mass, contact, delay, cycle, orientation,
 * lever arm, noise; robots drawn from delay, lag and limited. 500 cases, all 10 000 with FF_TEST_LONG. */
#include "run_support.h"

static void random_scenario(ff_rng *rng, ff_scenario *s) {
    const double cycle = ff_rng_range(rng, 0.001, 0.010);
    const double mass = pow(10.0, ff_rng_range(rng, 0, 4)), size = ff_rng_range(rng, 0.2, 1.5);
    const double w = 2 * FF_PI * pow(10.0, ff_rng_range(rng, log10(0.2), log10(20.0)));
    test_one_wall(s, &ff_method_tdpa, cycle, fmin(20.0, 1.5 + 10.0 / w));
    ff_satellite *body = &s->satellite[0];
    body->rigid.mass = mass;
    const double a = ff_rng_range(rng, 0.7, 1.3);
    body->rigid.inertia = ff_mat3_scale(0.2 * mass * size * size, ff_mat3_diag(1, a, 1 + 0.3 * a));
    body->start.attitude = test_random_quat(rng);
    body->start.omega = test_random_vec3(rng, 0.03);
    ff_robot_config *robot = &body->robot;
    robot->delay = ff_rng_range(rng, 0, 0.1);
    const double pick = ff_rng_uniform(rng);
    if (pick >= 0.4 && pick < 0.7) {
        robot->kind = FF_ROBOT_LAG;
        robot->frequency = ff_rng_range(rng, 3, 30);
        robot->damping = ff_rng_range(rng, 0.5, 1.2);
    } else if (pick >= 0.7) {
        robot->kind = FF_ROBOT_LIMITED;
        robot->velocity = ff_rng_range(rng, 0.3, 2);
        robot->acceleration = ff_rng_range(rng, 0.3, 10);
        robot->jerk = pick < 0.85 ? FF_INF : ff_rng_range(rng, 10, 200);
    }
    const double speed = ff_rng_range(rng, 0.01, 0.1);
    if (ff_rng_uniform(rng) < 0.5) {
        body->sensor.kind = FF_SENSOR_NOISY;
        /* noise in proportion to the contact's peak, as a sensor chosen for the task has */
        body->sensor.force_noise = ff_rng_range(rng, 0, 0.02) * speed * mass * w;
        body->sensor.torque_noise = 0.1 * body->sensor.force_noise;
    }
    ff_contact *wall = &s->contact[0];
    wall->normal = ff_vec3_unit(test_random_vec3(rng, 1));
    wall->point = test_random_vec3(rng, size);
    test_wall_surface(wall, mass, w, ff_rng_range(rng, 0, 0.2));
    body->start.velocity = ff_vec3_axpy(-speed, wall->normal,
                                        ff_vec3_scale(0.5 * speed, ff_vec3_unit(test_random_vec3(rng, 1))));
    wall->at = ff_vec3_axpy(-0.5 * speed, wall->normal, ff_quat_rotate(body->start.attitude, wall->point));
    test_random_pulse(rng, mass, s);
}

static void test_no_random_scenario_gains_energy(void **state) {
    (void)state;
    test_no_gain(test_count(500, 10000), random_scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_random_scenario_gains_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
