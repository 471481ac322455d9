/* destefano2021, (3) and (9): a robot with an inertia of its own that is commanded by wrenches. */
#include "support.h"

#include "facility/robots.h"
#include "executive/run.h"

static double between(ff_rng *rng, double a) {
    return ff_rng_range(rng, -a, a);
}

static ff_vec3 any(ff_rng *rng, double a) {
    return ff_vec3_make(between(rng, a), between(rng, a), between(rng, a));
}

/* Tumbling nominal motion and satellite, a smooth contact wrench: the largest difference between the robot's
 * drive and (9), and between its motion and the command, over one second. */
static void run(uint64_t seed, double T, double *off_9, double *off_command, double *largest) {
    ff_rng rng;
    ff_rng_seed(&rng, seed, 0);
    ff_rigid_model satellite, client;
    ff_robot_config config = {.kind = FF_ROBOT_WRENCH,
                              .base = ff_pose_identity(),
                              .tool = ff_pose_identity(),
                              .inertia = {300, {{{40, 2, -1}, {2, 55, 3}, {-1, 3, 60}}}}};
    const ff_rigid_config of = {900, {{{400, 20, -10}, {20, 300, 5}, {-10, 5, 350}}}},
                          of_client = {2000, {{{700, 10, 20}, {10, 900, -15}, {20, -15, 800}}}};
    assert_int_equal(ff_rigid_create(&of, &satellite), FF_OK);
    assert_int_equal(ff_rigid_create(&of_client, &client), FF_OK);
    ff_rigid_model robot_inertia;
    assert_int_equal(ff_rigid_create(&config.inertia, &robot_inertia), FF_OK);
    ff_rigid_state n = {any(&rng, 1), ff_quat_exp(any(&rng, 1)), any(&rng, 0.1), any(&rng, 0.2)},
                   s = {any(&rng, 1), ff_quat_exp(any(&rng, 1)), any(&rng, 0.1), any(&rng, 0.2)};
    const ff_vec3 f = any(&rng, 100), t = any(&rng, 20);
    const ff_integrate_config scheme = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = T};
    const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}};
    ff_integrate_state a, b;
    ff_integrate_out out;
    ff_integrate_reset(&s, &a);
    ff_integrate_reset(&n, &b);
    ff_robot robot;
    char message[200];
    const ff_rigid_state start = ff_relative_from_absolute(&n, &s);
    assert_int_equal(ff_robot_create(&robot, &config, &start, T, 1, 0, message, sizeof message), FF_OK);
    robot.now = robot.last = robot.start; /* at the start, not one cycle before it */
    *off_9 = *off_command = *largest = 0;
    const int steps = (int)lround(1 / T);
    for (int k = 0; k < steps; k++) {
        const double phase = sin(3 * k * T);
        const ff_wrench F = {ff_vec3_scale(phase, t), ff_vec3_scale(phase, f)};
        const ff_rigid_state c = ff_relative_from_absolute(&n, &s);
        const ff_twist V_n = ff_rigid_twist(&n),
                       A_n = ff_rigid_body_acceleration(&client, V_n, ff_wrench_zero());
        const ff_wrench F_c = ff_relative_robot_wrench(&satellite, &robot_inertia, ff_rigid_pose(&c),
                                                       ff_rigid_twist(&c), V_n, A_n, F);
        ff_integrate_step(&scheme, &satellite, ff_rigid_load_from_body(s.attitude, F), none, &s, &a, &out);
        ff_integrate_step(&scheme, &client, none, none, &n, &b, &out);
        const ff_rigid_state next = ff_relative_from_absolute(&n, &s);
        const ff_setpoint command = {ff_rigid_pose(&next), {next.omega, next.velocity}};
        ff_robot_push(&robot, F, F);
        ff_robot_write(&robot, (uint64_t)k, &command);
        ff_robot_step(&robot, (uint64_t)k);
        const ff_wrench d = ff_wrench_sub(robot.driven, F_c);
        *off_9 = fmax(*off_9, fmax(ff_vec3_norm(d.f), ff_vec3_norm(d.t)));
        *largest = fmax(*largest, fmax(ff_vec3_norm(F_c.f), ff_vec3_norm(F_c.t)));
        *off_command = fmax(*off_command, ff_vec3_norm(ff_vec3_sub(robot.now.T.p, next.position)));
        *off_command = fmax(*off_command, ff_quat_angle(robot.now.T.q, next.attitude));
        *off_command = fmax(*off_command, ff_vec3_norm(ff_vec3_sub(robot.now.twist.v, next.velocity)));
        *off_command = fmax(*off_command, ff_vec3_norm(ff_vec3_sub(robot.now.twist.w, next.omega)));
    }
    ff_robot_free(&robot);
}

/* The robot is where the admittance form puts it, and its drive tends to (9) with the first order of T: a
 * term left out or with the wrong sign would stay. */
static void test_drive_is_9(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (uint64_t i = 0; i < (uint64_t)test_count(20, 500); i++) {
        double coarse, fine, off, largest;
        run(seed + i, 0.002, &coarse, &off, &largest);
        assert_true(off < 1e-11);
        run(seed + i, 0.001, &fine, &off, &largest);
        assert_true(off < 1e-11);
        if (i < 3)
            print_message("(9): largest %.3g, off %.2g at 2 ms, %.2g at 1 ms\n", largest, coarse, fine);
        assert_true(fine < 0.02 * largest);
        assert_true(fine < 0.6 * coarse);
    }
}

/* What the drive does not know pushes the robot: T^2 M^-1 (F - known) in one cycle, and no more, since the
 * drive sees where it is. */
static void test_what_is_not_told_pushes(void **state) {
    (void)state;
    const double T = 0.004;
    ff_robot_config config = {.kind = FF_ROBOT_WRENCH,
                              .base = ff_pose_identity(),
                              .tool = ff_pose_identity(),
                              .inertia = {50, {{{4, 0, 0}, {0, 5, 0}, {0, 0, 6}}}}};
    const ff_rigid_state rest = {.attitude = {1, 0, 0, 0}};
    const ff_setpoint stay = {ff_pose_identity(), ff_twist_zero()};
    const ff_wrench F = {{{0.4, -0.5, 0.6}}, {{10, 20, -30}}}, known = {{{0.2, 0, 0}}, {{10, 0, -10}}};
    ff_robot robot;
    char message[200];
    assert_int_equal(ff_robot_create(&robot, &config, &rest, T, 1, 0, message, sizeof message), FF_OK);
    for (uint64_t k = 0; k < 3; k++) {
        ff_robot_push(&robot, F, known);
        ff_robot_write(&robot, k, &stay);
        ff_robot_step(&robot, k);
        assert_vec3_near(robot.now.T.p, ff_vec3_make(0, T * T * 20 / 50, -T * T * 20 / 50), 1e-10);
        assert_vec3_near(ff_quat_log(robot.now.T.q),
                         ff_vec3_make(T * T * 0.2 / 4, -T * T * 0.5 / 5, T * T * 0.6 / 6), 1e-10);
    }
    ff_robot_free(&robot);
    config.inertia.mass = 0;
    assert_int_equal(ff_robot_create(&robot, &config, &rest, T, 1, 0, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_non_null(strstr(message, "inertia"));
}

static const char text[] =
    "name: wrench\n"
    "time: {cycle: 0.004, duration: 6}\n"
    "satellites:\n"
    "  client:\n"
    "    mass: 280\n"
    "    inertia: [18, 20, 22, 0.4, -0.3, 0.2]\n"
    "    velocity: [0.02, -0.03, 0.05]\n"
    "    angular_velocity: [0.1, -0.2, 0.15]\n"
    "    points: {tip: [0.3, -0.2, 0.4]}\n"
    "    robot: {kind: ideal}\n"
    "contacts:\n"
    "  - {kind: wall, point: tip, at: [0, 0, 0.6], normal: [0.1, 0, -1], stiffness: 3000, damping: 5}\n"
    "loads:\n"
    "  - {force: [4, -2, 1], torque: [0.1, 0.2, -0.3], from: 1, to: 5}\n";

static ff_status last(void *self, const ff_row *row) {
    *(ff_rigid_state *)self = row->body[0].satellite;
    return FF_OK;
}

/* A scenario on a wrench robot ends where it ends on an ideal one, with every method that a loop has. */
static void test_scenario_moves_alike(void **state) {
    (void)state;
    static ff_scenario s;
    static const char *const methods[] = {"method=direct", "method=tdpa", "method=damping", "method=impact",
                                          "method=fused"},
                             *const frames[] = {"frame=absolute", "frame=relative"},
                             *const robots[] = {"satellites.client.robot={kind: ideal}",
                                                "satellites.client.robot={kind: wrench, mass: 60, "
                                                "inertia: [5, 6, 7, 0.1, 0.2, -0.1]}"};
    for (int m = 0; m < 5; m++)
        for (int f = 0; f < 2; f++) {
            ff_rigid_state end[2];
            for (int r = 0; r < 2; r++) {
                const char *const set[] = {methods[m], frames[f], robots[r]};
                const ff_scenario_options options = {.set = set, .sets = 3};
                char message[300], warnings[300];
                if (ff_scenario_parse("T", text, sizeof text - 1, &options, &s, message, sizeof message,
                                      warnings, sizeof warnings) != FF_OK)
                    fail_msg("%s", message);
                const ff_sink sink = {.self = &end[r], .row = last};
                const ff_run_options run_options = {.sinks = &sink, .count = 1};
                ff_run_result result;
                ff_run(&s, &run_options, &result);
                if (result.status != FF_OK)
                    fail_msg("%s: %s", methods[m], result.message);
            }
            assert_true(ff_vec3_norm(end[0].position) > 0.01);
            assert_vec3_near(end[0].position, end[1].position, 1e-9);
            assert_vec3_near(end[0].velocity, end[1].velocity, 1e-9);
            assert_vec3_near(end[0].omega, end[1].omega, 1e-9);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drive_is_9),
        cmocka_unit_test(test_what_is_not_told_pushes),
        cmocka_unit_test(test_scenario_moves_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
