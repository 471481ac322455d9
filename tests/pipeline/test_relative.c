/* frame: relative changes what the robots do, not what the satellites do [destefano2021; he2022, Fig. 5]. */
#include "support.h"

#include "report/metrics.h"

typedef struct outcome {
    ff_metrics metrics;
    ff_run_result run;
} outcome;

static void run_text(const char *text, const char *const *set, int sets, bool reference, outcome *o) {
    static ff_scenario scenario; /* metrics keep a pointer: one at a time */
    char message[300], warnings[300];
    const ff_scenario_options options = {.set = set, .sets = sets};
    const ff_status status = ff_scenario_parse("T", text, strlen(text), &options, &scenario, message,
                                               sizeof message, warnings, sizeof warnings);
    if (status != FF_OK)
        fail_msg("%s", message);
    ff_ideal_result ideal = {0};
    if (reference)
        assert_int_equal(ff_ideal_solve(&scenario, NULL, NULL, &ideal, message, sizeof message), FF_OK);
    assert_int_equal(ff_metrics_init(&scenario, &o->metrics), FF_OK);
    const ff_sink sink = ff_metrics_sink(&o->metrics);
    const ff_run_options run = {.ideal = reference ? &ideal : NULL, .sinks = &sink, .count = 1};
    ff_run(&scenario, &run, &o->run);
    if (o->run.status != FF_OK)
        fail_msg("%s", o->run.message);
    ff_metrics_finish(&o->metrics, reference ? &ideal : NULL, o->run.status);
    if (reference)
        ff_ideal_free(&ideal);
    ff_metrics_free(&o->metrics);
}

static void same_end(const outcome *a, const outcome *b, int bodies, double tolerance) {
    for (int i = 0; i < bodies; i++) {
        const ff_rigid_state *x = &a->metrics.body[i].final, *y = &b->metrics.body[i].final;
        assert_vec3_near(x->position, y->position, tolerance);
        assert_vec3_near(x->velocity, y->velocity, tolerance);
        assert_vec3_near(x->omega, y->omega, tolerance);
        assert_near(ff_quat_angle(x->attitude, y->attitude), 0, tolerance);
    }
}

static const char wall[] =
    "name: wall\n"
    "time: {cycle: 0.004, duration: 12}\n"
    "satellites:\n"
    "  client:\n"
    "    mass: 280\n"
    "    inertia: [18, 20, 22, 0.4, -0.3, 0.2]\n"
    "    position: [1, 2, 3]\n"
    "    attitude: [0.9, 0.1, -0.3, 0.2]\n"
    "    velocity: [0.02, -0.03, 0.05]\n"
    "    angular_velocity: [0.1, -0.2, 0.15]\n"
    "    points: {tip: [0.3, -0.2, 0.4]}\n"
    "    mockup: {mass: 20, com: [0.1, 0, 0.05], inertia: [1, 1, 1]}\n"
    "contacts:\n"
    "  - {kind: wall, point: tip, at: [1, 2, 3.6], normal: [0.1, 0, -1], stiffness: 3000, damping: 5, "
    "friction: "
    "0.1}\n"
    "loads:\n"
    "  - {force: [4, -2, 1], torque: [0.1, 0.2, -0.3], from: 1, to: 5}\n"
    "facility: {pose: {position: [2, 0, 1], attitude: [0.7, 0.1, 0.7, 0]}, gravity: [0, 0, -9.81]}\n";

/* Robots without delay: the same motion to rounding, whatever the nominal motion. */
static void test_wall_is_felt_alike_in_every_frame(void **state) {
    (void)state;
    static const char *const frames[][3] = {
        {"frame=relative", "nominal={kind: free}", "relative={form: algebraic}"},
        {"frame=relative",
         "nominal={kind: prescribed, pose: {position: [1, 1, 2], attitude: [0.5, 0.5, -0.5, 0.5]}, twist: "
         "[0.03, "
         "0, -0.01, 0.2, 0.1, -0.3]}",
         "relative={form: algebraic}"},
        {"frame=relative", "nominal={kind: satellite, of: client}", "relative={form: algebraic}"},
    };
    static const char *const methods[] = {"method=direct", "method=tdpa"};
    for (int m = 0; m < 2; m++) {
        outcome absolute;
        run_text(wall, &methods[m], 1, true, &absolute);
        assert_true(absolute.metrics.episodes > 0);
        for (int f = 0; f < 3; f++) {
            const char *const set[] = {frames[f][0], frames[f][1], frames[f][2], methods[m]};
            outcome relative;
            run_text(wall, set, 4, true, &relative);
            same_end(&absolute, &relative, 1, 1e-9);
            assert_near(relative.metrics.body[0].error_velocity, absolute.metrics.body[0].error_velocity,
                        1e-9);
            assert_near(relative.metrics.body[0].tracking, absolute.metrics.body[0].tracking, 1e-9);
            assert_int_equal(relative.metrics.episodes, absolute.metrics.episodes);
            if (f == 2) { /* its own motion: the robot does not move at all */
                assert_true(relative.metrics.body[0].travel < 1e-15);
                assert_true(relative.metrics.body[0].rotation < 1e-15);
            }
        }
    }
}

/* The integrated form is another discretisation of the same motion. */
static void test_integrated_form_through_the_loop(void **state) {
    (void)state;
    const char *const algebraic[] = {"frame=relative", "method=direct"};
    const char *const integrated[] = {"frame=relative", "method=direct", "relative.form=integrated"};
    outcome a, b;
    run_text(wall, algebraic, 2, true, &a);
    run_text(wall, integrated, 3, true, &b);
    same_end(&a, &b, 1, 2e-3); /* a wall amplifies: the loads before it differ by the scheme's order */
    const char *const free_a[] = {"frame=relative", "contacts=[]"}, *const free_b[] = {
                                                                        "frame=relative", "contacts=[]",
                                                                        "relative.form=integrated"};
    run_text(wall, free_a, 2, true, &a);
    run_text(wall, free_b, 3, true, &b);
    same_end(&a, &b, 1, 2e-5); /* 0.27 rad/s at 4 ms: (w T)^2 of the path */
    assert_near(a.metrics.body[0].travel, b.metrics.body[0].travel, 2e-5);
}

static const char pair[] = "name: docking\n"
                           "time: {cycle: 0.004, duration: 20}\n"
                           "method: direct\n"
                           "satellites:\n"
                           "  target:\n"
                           "    mass: 4000\n"
                           "    inertia: [3000, 3500, 4000]\n"
                           "    velocity: [0.01, 0, 0]\n"
                           "    angular_velocity: [0.01, 0.02, -0.015]\n"
                           "    robot: {kind: delay, delay: 0.02}\n"
                           "  chaser:\n"
                           "    mass: 450\n"
                           "    inertia: [200, 230, 260]\n"
                           "    position: [-2, 0, 0]\n"
                           "    velocity: [0.06, 0.03, 0.02]\n"
                           "    angular_velocity: [0.01, 0.02, -0.012]\n"
                           "    points: {tip: [0.7, 0.05, -0.1]}\n"
                           "    robot: {kind: delay, delay: 0.02}\n"
                           "contacts:\n"
                           "  - {name: ring, kind: pair, body: chaser, point: tip, against: target, at: "
                           "[-1.2, 0, 0], normal: [-1, 0.1, "
                           "0.05], stiffness: 8000, damping: 20, friction: 0.05}\n";

/* he2022, Fig. 5: one robot makes the motion relative to the target; its sensor stands on the target's side,
 * fixed in the lab. */
static void test_one_robot_renders_two_satellites(void **state) {
    (void)state;
    static const char *const methods[] = {"method=direct", "method=tdpa", "method=damping"};
    for (int m = 0; m < 3; m++) {
        outcome two, one;
        run_text(pair, &methods[m], 1, true, &two);
        assert_true(two.metrics.episodes > 0);
        const char *const set[] = {methods[m], "frame=relative", "nominal={kind: satellite, of: target}",
                                   "satellites.chaser.sensor={mount: environment, pose: {position: [-1.2, "
                                   "0.1, 0.4], attitude: [0.6, "
                                   "0, 0.8, 0]}}",
                                   "facility.pose={position: [0, 1, 1], attitude: [0.6, 0.8, 0, 0]}"};
        run_text(pair, set, 5, true, &one);
        same_end(&two, &one, 2, 1e-9);
        assert_true(one.metrics.body[0].travel < 1e-15);
        assert_int_equal(one.metrics.episodes, two.metrics.episodes);
        assert_near(one.metrics.pair[0][1].error_position, two.metrics.pair[0][1].error_position, 1e-9);
        assert_vec3_near(one.metrics.pair[0][1].final.p, two.metrics.pair[0][1].final.p, 1e-9);
    }
}

/* Two delayed robots, relative to the target's unforced motion: the same relative pose at each time. */
static void test_pair_with_delay_is_felt_alike(void **state) {
    (void)state;
    outcome absolute, relative;
    const char *const set[] = {"frame=relative", "nominal={kind: free}"};
    run_text(pair, NULL, 0, true, &absolute);
    run_text(pair, set, 2, true, &relative);
    same_end(&absolute, &relative, 2, 1e-9);
    assert_true(relative.metrics.body[0].travel < absolute.metrics.body[0].travel);
}

/* Every ready scenario with every method that takes it, on robots without delay: the frame changes what the
 * robots do and nothing else. The summary's figures of the two formulations are the robots' own in each. */
static void test_ready_scenarios_in_both_frames(void **state) {
    (void)state;
    static const char *const file[] = {"wall.yaml",
                                       "template.yaml",
                                       "deos-client.yaml",
                                       "envisat-capture.yaml",
                                       "papers/destefano2019/vii-a.yaml",
                                       "papers/destefano2019/ii-b-translation.yaml",
                                       "papers/he2022/4-1.yaml",
                                       "papers/he2022/4-2.yaml",
                                       "papers/lange/fig-6.yaml",
                                       "papers/lange/fig-7.yaml",
                                       "papers/lange/wall.yaml"};
    static ff_scenario scenario;
    int tried = 0;
    for (size_t f = 0; f < sizeof file / sizeof *file; f++)
        for (int m = 0; ff_method_at(m); m++) {
            char path[300], message[300], warnings[300];
            snprintf(path, sizeof path, "%s/scenarios/%s", FF_SOURCE_DIR, file[f]);
            outcome o[2];
            bool taken = true;
            for (int relative = 0; relative < 2 && taken; relative++) {
                const char *const set[] = {relative ? "frame=relative" : "frame=absolute"};
                const ff_scenario_options options = {.set = set, .sets = 1, .method = ff_method_at(m)->name};
                taken = ff_scenario_load(path, &options, &scenario, message, sizeof message, warnings,
                                         sizeof warnings) == FF_OK;
                if (!taken)
                    break;
                for (int i = 0; i < scenario.satellites; i++) {
                    scenario.satellite[i].robot.kind = FF_ROBOT_IDEAL;
                    scenario.satellite[i].sensor.kind = FF_SENSOR_IDEAL;
                    scenario.satellite[i].sensor.delay = 0;
                }
                static const char *const late[] = {"delay", "sensor_lag"}; /* nothing is late here */
                for (int n = 0; n < 2; n++)
                    if (ff_setting_find(ff_method_at(m), late[n]) >= 0)
                        assert_int_equal(ff_settings_set(ff_method_at(m),
                                                         ff_scenario_setting(&scenario, ff_method_at(m)),
                                                         late[n], 0),
                                         FF_OK);
                const double most = test_count(6, 60);
                if (scenario.duration > most) {
                    scenario.duration = most;
                    scenario.cycles = (uint64_t)llround(most / scenario.cycle);
                }
                assert_int_equal(ff_metrics_init(&scenario, &o[relative].metrics), FF_OK);
                const ff_sink sink = ff_metrics_sink(&o[relative].metrics);
                const ff_run_options run = {.sinks = &sink, .count = 1};
                ff_run(&scenario, &run, &o[relative].run);
                if (o[relative].run.status != FF_OK)
                    fail_msg("%s, %s: %s", file[f], ff_method_at(m)->name, o[relative].run.message);
                ff_metrics_free(&o[relative].metrics);
            }
            if (!taken)
                continue;
            tried++;
            /* between two cycles an arm's base is interpolated in the frame that it moves in: 3e-6 m in 48 s
             */
            const double close = ff_scenario_servicer(&scenario) >= 0 ? 5e-6 : 1e-6;
            double off = 0;
            for (int i = 0; i < scenario.satellites; i++) {
                const ff_rigid_state *x = &o[0].metrics.body[i].final, *y = &o[1].metrics.body[i].final;
                off = fmax(off, ff_vec3_norm(ff_vec3_sub(x->position, y->position)));
                off = fmax(off, ff_vec3_norm(ff_vec3_sub(x->velocity, y->velocity)));
                off = fmax(off, ff_vec3_norm(ff_vec3_sub(x->omega, y->omega)));
                for (int w = 0; w < FF_MOTIONS; w++) { /* both runs say the same of both formulations */
                    const ff_motion_metrics *a = &o[0].metrics.body[i].motion[w],
                                            *b = &o[1].metrics.body[i].motion[w];
                    assert_near(a->travel, b->travel, close);
                    assert_near(a->path, b->path, 1e-4);
                    assert_near(a->rotation, b->rotation, close);
                    /* and what the robot of that run really did; paths are sampled */
                    const double robot = o[w].metrics.body[i].travel,
                                 said = o[w].metrics.body[i].motion[w].travel;
                    if (!(fabs(robot - said) < 2e-3))
                        fail_msg("%s, %s: robot %.4g m, summary %.4g m", file[f], ff_method_at(m)->name,
                                 robot, said);
                }
            }
            if (off > 1e-9)
                print_message("%s, %s: %.2g\n", file[f], ff_method_at(m)->name, off);
            assert_true(off < close);
        }
    print_message("%d scenarios and methods\n", tried);
    assert_true(tried >= 45);
}

static const char envisat[] = "name: envisat\n"
                              "time: {cycle: 0.004, duration: 60}\n"
                              "frame: relative\n"
                              "satellites:\n"
                              "  servicer:\n"
                              "    mass: 1518.7\n"
                              "    inertia: [900, 1100, 1200, 20, -15, 10]\n"
                              "    position: [-5.25, 0.08, -0.05]\n"
                              "    velocity: [0, 0.0916, 0]\n"
                              "    angular_velocity: [0, 0, -0.0174532925]\n"
                              "  client:\n"
                              "    mass: 7828\n"
                              "    inertia: [17023.3, 124825.7, 129112.2, 397.1, -2171.4, 344.2]\n"
                              "    angular_velocity: [0, 0, -0.0174532925]\n";

/* Section V, Figs. 8 and 9: -1 deg/s without forces; paper 1 mm and 0.002 rad. */
static void test_unforced_motion_against_the_reference(void **state) {
    (void)state;
    outcome o;
    run_text(envisat, NULL, 0, true, &o);
    print_message("unforced pair after 60 s against the reference: %.2g m, %.2g rad\n",
                  o.metrics.pair[0][1].error_position, o.metrics.pair[0][1].error_attitude);
    assert_true(o.metrics.pair[0][1].error_position < 1e-7);
    assert_true(o.metrics.pair[0][1].error_attitude < 1e-7);
    /* the client's robot does not move by a bit */
    assert_true(o.metrics.body[1].travel == 0.0);
    assert_true(o.metrics.body[1].rotation < 1e-15);
    const char *const absolute[] = {"frame=absolute"};
    outcome a;
    run_text(envisat, absolute, 1, true, &a);
    assert_true(o.metrics.body[0].travel < 0.7 * a.metrics.body[0].travel);
    assert_true(a.metrics.body[1].rotation > 1.0);
    same_end(&o, &a, 2, 0.0);
    /* the reference itself makes the same relative motion */
    const char *const ideal[] = {"method=ideal"};
    outcome r;
    run_text(envisat, ideal, 1, true, &r);
    assert_near(r.metrics.body[0].travel, o.metrics.body[0].travel, 1e-7);
    assert_true(r.metrics.body[1].travel < 1e-9);
    assert_vec3_near(r.metrics.pair[0][1].final.p, o.metrics.pair[0][1].final.p, 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wall_is_felt_alike_in_every_frame),
        cmocka_unit_test(test_integrated_form_through_the_loop),
        cmocka_unit_test(test_one_robot_renders_two_satellites),
        cmocka_unit_test(test_pair_with_delay_is_felt_alike),
        cmocka_unit_test(test_unforced_motion_against_the_reference),
        cmocka_unit_test(test_ready_scenarios_in_both_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
