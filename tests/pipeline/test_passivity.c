/* Property: under the default tdpa no scenario gains energy. Random mass, contact, delay, cycle, orientation,
 * lever arm, noise; robots drawn from delay, lag and limited. 500 cases, all 10 000 with FF_TEST_LONG. */
#include "support.h"

#include "run/run.h"

typedef struct watch {
    ff_rigid_model model;
    double start, largest; /* [J] */
    double worst;          /* [J] kinetic energy over start + work of the loads */
    bool touched;
} watch;

static ff_status watch_row(void *self, const ff_row *row) {
    watch *w = self;
    const ff_row_body *b = &row->body[0];
    const double kinetic = ff_rigid_kinetic_energy(&w->model, &b->satellite);
    if (row->k == 0)
        w->start = kinetic;
    w->largest = fmax(w->largest, kinetic);
    w->worst = fmax(w->worst, kinetic - (w->start + b->energy.loads));
    w->touched = w->touched || row->touching[0];
    return FF_OK;
}

static void random_scenario(ff_rng *rng, uint64_t seed, ff_scenario *s) {
    *s = (ff_scenario){.satellites = 1, .contacts = 1, .seed = seed};
    snprintf(s->name, sizeof s->name, "random");
    s->cycle = ff_rng_range(rng, 0.001, 0.010);
    const double mass = pow(10.0, ff_rng_range(rng, 0, 4)), size = ff_rng_range(rng, 0.2, 1.5);
    const double w = 2 * FF_PI * pow(10.0, ff_rng_range(rng, log10(0.2), log10(20.0)));
    s->duration = fmin(20.0, 1.5 + 10.0 / w);
    s->cycles = (uint64_t)llround(s->duration / s->cycle);
    ff_fidelity_default(&s->fidelity);
    s->integrate = (ff_integrate_config){.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = s->cycle};
    s->facility_pose = ff_pose_identity();
    s->requirements = (ff_requirements){0.01, 0.0087, 1.2};

    ff_satellite *body = &s->satellite[0];
    snprintf(body->name, sizeof body->name, "body");
    body->rigid.mass = mass;
    const double a = ff_rng_range(rng, 0.7, 1.3);
    body->rigid.inertia = ff_mat3_scale(0.2 * mass * size * size, ff_mat3_diag(1, a, 1 + 0.3 * a));
    body->start.attitude = test_random_quat(rng);
    body->start.omega = test_random_vec3(rng, 0.03);
    body->points = 1;
    ff_gate_default(&body->limits);
    ff_robot_config *robot = &body->robot;
    *robot = (ff_robot_config){.base = ff_pose_identity(), .tool = ff_pose_identity(), .damping = 1.0};
    robot->velocity = robot->acceleration = robot->jerk = FF_INF;
    robot->angular_velocity = robot->angular_acceleration = robot->angular_jerk = FF_INF;
    robot->delay = ff_rng_range(rng, 0, 0.1);
    const double pick = ff_rng_uniform(rng);
    if (pick < 0.4) {
        robot->kind = FF_ROBOT_DELAY;
    } else if (pick < 0.7) {
        robot->kind = FF_ROBOT_LAG;
        robot->frequency = ff_rng_range(rng, 3, 30);
        robot->damping = ff_rng_range(rng, 0.5, 1.2);
    } else {
        robot->kind = FF_ROBOT_LIMITED;
        robot->velocity = ff_rng_range(rng, 0.3, 2);
        robot->acceleration = ff_rng_range(rng, 0.3, 10);
        robot->jerk = pick < 0.85 ? FF_INF : ff_rng_range(rng, 10, 200);
    }
    ff_sensor_config *sensor = &body->sensor;
    *sensor = (ff_sensor_config){
        .pose = ff_pose_identity(), .range_force = FF_INF, .range_torque = FF_INF, .bandwidth = FF_INF};
    const double speed = ff_rng_range(rng, 0.01, 0.1);
    if (ff_rng_uniform(rng) < 0.5) {
        sensor->kind = FF_SENSOR_NOISY;
        /* noise in proportion to the contact's peak, as a sensor chosen for the task has */
        sensor->force_noise = ff_rng_range(rng, 0, 0.02) * speed * mass * w;
        sensor->torque_noise = 0.1 * sensor->force_noise;
    }
    ff_contact *wall = &s->contact[0];
    *wall = (ff_contact){.kind = FF_CONTACT_WALL, .body = 0, .against = -1, .depth = FF_INF};
    snprintf(wall->name, sizeof wall->name, "wall");
    wall->normal = ff_vec3_unit(test_random_vec3(rng, 1));
    wall->point = test_random_vec3(rng, size);
    wall->stiffness = wall->satellite_stiffness = mass * w * w;
    wall->damping = wall->satellite_damping = 2.0 * ff_rng_range(rng, 0, 0.2) * mass * w;
    body->start.velocity = ff_vec3_axpy(-speed, wall->normal,
                                        ff_vec3_scale(0.5 * speed, ff_vec3_unit(test_random_vec3(rng, 1))));
    wall->at = ff_vec3_axpy(-0.5 * speed, wall->normal, ff_quat_rotate(body->start.attitude, wall->point));
    if (ff_rng_uniform(rng) < 0.3) {
        s->loads = 1;
        s->load[0] = (ff_load){.body = 0,
                               .kind = FF_LOAD_PULSE,
                               .force = test_random_vec3(rng, 0.05 * mass),
                               .torque = test_random_vec3(rng, 0.01 * mass),
                               .from = 0.1,
                               .to = 0.4};
    }
}

static void test_no_random_scenario_gains_energy(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    const int count = test_count(500, 10000);
    int touched = 0, bad = 0;
    double worst = -FF_INF;
    ff_scenario *scenario = malloc(sizeof *scenario);
    for (int n = 0; n < count; n++) {
        ff_rng rng;
        ff_rng_seed(&rng, seed, (uint64_t)n + 1);
        random_scenario(&rng, seed + (uint64_t)n, scenario);
        watch w = {0};
        assert_int_equal(ff_rigid_create(&scenario->satellite[0].rigid, &w.model), FF_OK);
        const ff_sink sink = {&w, watch_row};
        const ff_run_options options = {.sinks = &sink, .count = 1};
        ff_run_result result;
        ff_run(scenario, &options, &result);
        if (result.status != FF_OK)
            fail_msg("case %d: %s", n, result.message);
        touched += w.touched;
        const double gain = w.worst / fmax(w.start, w.largest);
        worst = fmax(worst, gain);
        if (gain > 1e-3) {
            bad++;
            print_message("case %d: robot %d, noise %.3g N, delay %.3f s, cycle %.4f s, gain %.3g\n", n,
                          (int)scenario->satellite[0].robot.kind, scenario->satellite[0].sensor.force_noise,
                          scenario->satellite[0].robot.delay, scenario->cycle, gain);
        }
    }
    free(scenario);
    print_message("%d cases, %d with contact, largest gain %.3g of the energy\n", count, touched, worst);
    assert_true(touched > count / 2);
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_random_scenario_gains_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
