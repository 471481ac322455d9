/* A motion against a KR 120: where the arm ends is known in closed form. */
#include "support.h"

#include "study/workspace.h"

enum { COUNT = 4001 };
static ff_pose pose[COUNT];

static ff_arm_config arm(void) {
    ff_arm_config c;
    assert_int_equal(ff_arm_default(FF_ARM_KR120, &c), FF_OK);
    return c;
}

/* Flange forward, the tool turned so that the satellite starts upright; base lifted so that nothing is
 * trivial. */
static ff_robot_config robot(void) {
    ff_robot_config r = {.base = {ff_quat_identity(), {{0.1, -0.2, 0.3}}}};
    r.tool = (ff_pose){ff_quat_conj(ff_quat_exp(ff_vec3_make(0.0, FF_PI / 2, 0.0))), {{0.0, 0.0, 0.0}}};
    return r;
}

static ff_pose start(void) { /* flange at [1.6, .3, 1.2] of the base */
    return (ff_pose){ff_quat_identity(), {{1.7, 0.1, 1.5}}};
}

static void test_straight_motion_ends_at_the_stretched_arm(void **state) {
    (void)state;
    const ff_arm_config a = arm();
    const ff_robot_config r = robot();
    ff_workspace_config c;
    ff_workspace_span s;
    ff_workspace_default(&c);
    c.margin = 0.0;
    const ff_vec3 v = ff_vec3_make(0.05, 0.0, 0.0);
    for (int k = 0; k < COUNT; k++) {
        pose[k] = start();
        pose[k].p = ff_vec3_axpy(0.01 * k, v, pose[k].p);
    }
    assert_int_equal(ff_workspace_trace(&c, &r, pose, COUNT, &s), FF_OK);
    /* wrist = flange - d6 ex; the arm turns its plane with it, so its reach is a circle of a1 + ... in it */
    double expected = FF_NAN;
    for (int k = 0; k < COUNT && isnan(expected); k++) {
        const ff_vec3 f = ff_vec3_sub(pose[k].p, r.base.p);
        const double x = f.x - a.d6, out = hypot(x, f.y) - a.a1;
        if (hypot(out, f.z - a.d1) > a.a2 + hypot(a.d4, a.a3))
            expected = 0.01 * k;
    }
    print_message("stretched at %.2f s; left at %.2f s, reason %s\n", expected, s.until,
                  ff_workspace_reason_text(s.reason));
    assert_near(s.from, 0.0, 0.0);
    assert_true(s.until <= expected + 1e-9 && s.until >= expected - 0.2); /* near it the elbow is too slow */
    assert_true(s.reason == FF_WORKSPACE_TOO_FAR || s.reason == FF_WORKSPACE_TOO_FAST);
    assert_near(s.distance, 0.05 * s.until, 1e-9);
    assert_near(s.ball, 1.744 / 0.05, 0.02);
    assert_false(s.placed);
}

static void test_spin_about_the_flange_ends_at_axis_6(void **state) {
    (void)state;
    const ff_arm_config a = arm();
    const ff_robot_config r = robot();
    ff_workspace_config c;
    ff_workspace_span s;
    ff_workspace_default(&c);
    const double rate = 0.5;
    for (int k = 0; k < COUNT; k++) {
        pose[k] = start();
        pose[k].q = ff_quat_exp(ff_vec3_make(rate * 0.01 * k, 0.0, 0.0));
    }
    assert_int_equal(ff_workspace_trace(&c, &r, pose, COUNT, &s), FF_OK);
    print_message("spin: left at %.2f s, axis %d, %s\n", s.until, s.axis, ff_workspace_reason_text(s.reason));
    assert_int_equal(s.reason, FF_WORKSPACE_JOINT_LIMIT);
    assert_int_equal(s.axis, 6);
    const double room = fmax(a.upper[5] - s.start.a[5], s.start.a[5] - a.lower[5]);
    assert_near(s.until, room / rate, 0.011);
}

static void test_placement_beats_every_pose_that_leaves(void **state) {
    (void)state;
    ff_robot_config r = {.base = ff_pose_identity(), .tool = ff_pose_identity()};
    ff_workspace_config c;
    ff_workspace_span s;
    ff_workspace_default(&c);
    for (int k = 0; k < COUNT; k++)
        pose[k] = (ff_pose){ff_quat_identity(), {{0.02 * 0.01 * k, 0.0, 0.0}}}; /* 0.8 m in all */
    assert_int_equal(ff_workspace_trace(&c, &r, pose, COUNT, &s), FF_OK);
    assert_true(s.placed);
    assert_int_equal(s.reason, FF_WORKSPACE_INSIDE);
    assert_near(s.until, 40.0, 1e-9);
    assert_true(s.ball == FF_INF);
    assert_near(s.travel, 0.8, 1e-12);

    /* The placed arm really reaches the start and the end. */
    ff_arm_config a = arm();
    ff_arm_model m;
    a.base = s.base;
    a.tool = s.tool;
    assert_int_equal(ff_arm_create(&a, &m), FF_OK);
    const ff_pose at = ff_arm_forward(&m, &s.start);
    assert_vec3_near(at.p, pose[0].p, 1e-9);
    assert_int_equal(ff_arm_outside(&m, &s.start), 0);
}

static void test_rail_carries_on(void **state) {
    (void)state;
    ff_robot_config r = robot();
    ff_workspace_config c;
    ff_workspace_span with, without;
    ff_workspace_default(&c);
    for (int k = 0; k < COUNT; k++) {
        pose[k] = start();
        pose[k].p.x += 0.1 * 0.01 * k; /* 4 m */
    }
    assert_int_equal(ff_workspace_trace(&c, &r, pose, COUNT, &without), FF_OK);
    r.rail.present = true;
    r.rail.axis = ff_vec3_make(1.0, 0.0, 0.0);
    r.rail.length = 10.0;
    r.rail.speed = 1.0;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, COUNT, &with), FF_OK);
    assert_true(without.until < 15.0);
    assert_int_equal(with.reason, FF_WORKSPACE_INSIDE);
    r.rail.speed = 0.05;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, COUNT, &with), FF_OK);
    assert_int_equal(with.reason, FF_WORKSPACE_TOO_FAST);
}

/* A spinning body that drifts away leaves; relative to its own free motion it stands still until a pulse. */
static void test_relative_motion_stays_where_the_absolute_leaves(void **state) {
    (void)state;
    static const char text[] =
        "name: t\ntime: {cycle: 0.01, duration: 60}\nmethod: ideal\nsatellites:\n"
        "  client: {mass: 100, inertia: [8, 9, 10], velocity: [0.1, 0.05, 0], angular_velocity: [0.05, 0.1, "
        "0.3]}\n"
        "loads:\n  - {body: client, force: [0.5, 0, 0], from: 50, to: 52}\n";
    char message[512], warnings[256];
    ff_scenario *scenario = malloc(sizeof *scenario);
    if (ff_scenario_parse("t", text, strlen(text), NULL, scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    ff_workspace_config c;
    ff_workspace w;
    ff_workspace_default(&c);
    if (ff_workspace_analyze(scenario, &c, &w, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    ff_workspace_sentence(scenario, &w, 0, message, sizeof message);
    print_message("%s\n", message);
    assert_true(w.absolute[0].reason != FF_WORKSPACE_INSIDE && w.absolute[0].until < 45.0);
    assert_int_equal(w.relative[0].reason, FF_WORKSPACE_INSIDE);
    /* 0.5 N for 2 s on 100 kg: 0.01 m/s for 9 s on average */
    assert_near(w.relative[0].travel, 0.01 * 9.0, 1e-3);
    assert_near(w.absolute[0].ball, 1.744 / hypot(0.1, 0.05), 0.02);
    free(scenario);
}

static bool stop(void *user, double part) {
    (void)part;
    return --*(int *)user > 0;
}

/* Settings out of range, a user who stops it, a base far away. */
static void test_refusals_and_reasons(void **state) {
    (void)state;
    ff_workspace_config good, c;
    ff_workspace_span s;
    ff_workspace_default(&good);
    ff_robot_config r = robot();
    for (int k = 0; k < COUNT; k++)
        pose[k] = start();
    c = good;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, 0, &s), FF_ERR_ARGUMENT);
    c.sample = 0.0;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, 9, &s), FF_ERR_ARGUMENT);
    c = good;
    c.margin = -0.1;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, 9, &s), FF_ERR_ARGUMENT);
    c.margin = 1.0;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, 9, &s), FF_ERR_ARGUMENT);
    c = good;
    c.ball = 0.0;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, 9, &s), FF_ERR_ARGUMENT);
    c = good;
    int left = 1;
    c.progress = stop;
    c.user = &left;
    assert_int_equal(ff_workspace_trace(&c, &r, pose, 9, &s), FF_ERR_LIMIT);
    ff_robot_config unplaced = {.base = ff_pose_identity(), .tool = ff_pose_identity()};
    left = 1; /* while it is placed */
    assert_int_equal(ff_workspace_trace(&c, &unplaced, pose, 9, &s), FF_ERR_LIMIT);
    ff_robot_config far = r;
    far.base.p.x = -9.0;
    assert_int_equal(ff_workspace_trace(&good, &far, pose, 9, &s), FF_OK);
    assert_true(isnan(s.from) && s.reason == FF_WORKSPACE_TOO_FAR);
    far.base.q.w = 9.0; /* not an attitude */
    assert_true(ff_workspace_trace(&good, &far, pose, 9, &s) < 0);

    static const struct {
        ff_workspace_reason reason;
        int axis;
        const char *says;
    } why[] = {{FF_WORKSPACE_TOO_FAR, 0, "(beyond the stretched arm)"},
               {FF_WORKSPACE_TOO_NEAR, 0, "(inside the folded arm)"},
               {FF_WORKSPACE_RAIL_LIMIT, 0, "(the end of the rail)"},
               {FF_WORKSPACE_SINGULAR, 0, "(a singularity)"},
               {FF_WORKSPACE_JOINT_LIMIT, 5, "(axis 5 at its limit)"},
               {FF_WORKSPACE_TOO_FAST, 3, "(axis 3 too slow)"}};
    static ff_scenario scenario = {.satellites = 1};
    snprintf(scenario.satellite[0].name, sizeof scenario.satellite[0].name, "client");
    for (size_t i = 0; i < sizeof why / sizeof *why; i++)
        for (int never = 0; never < 2; never++) {
            ff_workspace w = {.duration = 9.0, .bodies = 1};
            w.absolute[0] = (ff_workspace_span){.from = never ? FF_NAN : 1.0,
                                                .until = never ? FF_NAN : 3.5,
                                                .reason = why[i].reason,
                                                .axis = why[i].axis,
                                                .ball = never ? FF_INF : 2.25};
            w.relative[0] = (ff_workspace_span){.from = never ? 0.0 : 4.0, .reason = FF_WORKSPACE_INSIDE};
            char text[512], expected[512];
            ff_workspace_sentence(&scenario, &w, 0, text, sizeof text);
            if (never)
                snprintf(
                    expected, sizeof expected,
                    "client: its own motion is never inside the robot's reach %s; relative to the nominal "
                    "motion it is inside for the whole 9 s",
                    why[i].says);
            else
                snprintf(
                    expected, sizeof expected,
                    "client: its own motion is inside for 2.5 s, outside from 3.5 s on %s (the ball around "
                    "the start is left at 2.25 s); relative to the nominal motion it is inside from later "
                    "on for the whole 5 s",
                    why[i].says);
            assert_string_equal(text, expected);
        }
}

static void test_scenarios_that_cannot_be_traced(void **state) {
    (void)state;
    static ff_scenario s;
    char message[512], warnings[256];
    ff_workspace_config c;
    ff_workspace w;
    ff_workspace_default(&c);
    assert_int_equal(
        ff_scenario_load(FF_SOURCE_DIR "/scenarios/wall.yaml",
                         &(ff_scenario_options){.set = (const char *const[]){"time.duration=0.1"}, .sets = 1},
                         &s, message, sizeof message, warnings, sizeof warnings),
        FF_OK);
    int left = 1;
    c.progress = stop;
    c.user = &left;
    assert_int_equal(ff_workspace_analyze(&s, &c, &w, message, sizeof message), FF_ERR_LIMIT);
    assert_string_equal(message, "stopped");
    c.progress = NULL;
    s.satellite[0].robot.base.q.w = 9.0;
    assert_true(ff_workspace_analyze(&s, &c, &w, message, sizeof message) < 0);
    assert_string_equal(message, "the robot's base, tool or rail cannot be used for an arm");
    s.emulates = true;
    assert_int_equal(ff_workspace_analyze(&s, &c, &w, message, sizeof message), FF_ERR_UNSUPPORTED);
    assert_string_equal(message, "an emulation has no satellite whose motion could leave");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_motion_ends_at_the_stretched_arm),
        cmocka_unit_test(test_spin_about_the_flange_ends_at_axis_6),
        cmocka_unit_test(test_placement_beats_every_pose_that_leaves),
        cmocka_unit_test(test_rail_carries_on),
        cmocka_unit_test(test_refusals_and_reasons),
        cmocka_unit_test(test_scenarios_that_cannot_be_traced),
        cmocka_unit_test(test_relative_motion_stays_where_the_absolute_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
