/* How robots get to t = 0 on devices: a run-up that starts at rest, is smooth, keeps its limits and ends in
 * the start; where an arm stands; what cannot run on devices. */
#include "support.h"

#include "facility/plan.h"

static ff_scenario s;
static ff_plan plan;
static char message[512], warnings[512];

static const char text[] = "name: p\n"
                           "time: {cycle: 0.004, duration: 1}\n"
                           "method: direct\n"
                           "satellites:\n"
                           "  client: {mass: 100, inertia: [9, 10, 11], velocity: [0.05, -0.02, 0.01], "
                           "angular_velocity: [0.02, 0.01, -0.03]}\n";

static ff_status create(const char *const *set, int sets) {
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_parse("F", text, strlen(text), &options, &s, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    message[0] = 0;
    return ff_plan_create(&s, &plan, message, sizeof message);
}

static void test_run_up(void **state) {
    (void)state;
    static const char *const robot[] = {"satellites.client.robot={kind: ideal}",
                                        "satellites.client.robot={kind: delay, delay: 0.04}",
                                        "satellites.client.robot={kind: lag, frequency: 6, damping: 0.7}"};
    double cruise = 0.0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(create(&robot[i], 1), FF_OK);
        const ff_plan_body *b = &plan.body[0];
        assert_true((double)plan.runup * plan.cycle >= plan.cruise + plan.ramp - 1e-9 &&
                    plan.cruise > cruise);
        cruise = plan.cruise; /* each settles later than the one before */
        assert_true(b->delay == (i == 1 ? 0.04 : 0.0));
        assert_near(b->lag, i == 2 ? 0.7 / (FF_PI * 6.0) : 0.0, 1e-15);
        /* at rest until it begins, at the start with the start's velocity at t = 0 */
        const double begin = -plan.cruise - plan.ramp;
        const ff_setpoint park = ff_plan_runup(&plan, 0, -FF_INF), first = ff_plan_runup(&plan, 0, begin),
                          last = ff_plan_runup(&plan, 0, 0.0);
        assert_true(ff_vec3_norm(park.twist.v) == 0.0 && ff_vec3_norm(park.twist.w) == 0.0);
        assert_vec3_near(first.T.p, park.T.p, 1e-15);
        assert_vec3_near(last.T.p, s.satellite[0].start.position, 1e-15);
        assert_vec3_near(last.twist.v, s.satellite[0].start.velocity, 1e-15);
        assert_vec3_near(last.twist.w, s.satellite[0].start.omega, 1e-15);
        /* its velocity is the path's derivative; steps keep the limits of the output stage */
        const double h = 1e-4;
        double acceleration = 0.0, jerk = 0.0;
        for (double t = begin - 0.01; t < -h; t += 0.003) {
            const ff_setpoint a = ff_plan_runup(&plan, 0, t - h), c = ff_plan_runup(&plan, 0, t),
                              d = ff_plan_runup(&plan, 0, t + h);
            /* central difference: h^2/6 of the jerk, 1e-9 of the limit's size */
            assert_vec3_near(ff_vec3_scale(0.5 / h, ff_vec3_sub(d.T.p, a.T.p)), c.twist.v, 1e-6);
            const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(a.T.q), d.T.q));
            assert_vec3_near(ff_vec3_scale(0.5 / h, turn), c.twist.w, 1e-6);
            acceleration = fmax(acceleration, 0.5 / h * ff_vec3_norm(ff_vec3_sub(d.twist.v, a.twist.v)));
            jerk = fmax(jerk, ff_vec3_norm(ff_vec3_axpy(-2.0, c.twist.v, ff_vec3_add(a.twist.v, d.twist.v))) /
                                  (h * h));
        }
        assert_true(acceleration <= b->output.acceleration * (1.0 + 1e-6) && acceleration > 0.0);
        assert_true(jerk <= b->output.jerk * (1.0 + 1e-3));
    }
    static const char *const rest[] = {"satellites.client.velocity=[0, 0, 0]",
                                       "satellites.client.angular_velocity=[0, 0, 0]"};
    assert_int_equal(create(rest, 2), FF_OK); /* at rest: nothing to run up to */
    assert_int_equal(plan.runup, 0);
    assert_vec3_near(ff_plan_runup(&plan, 0, -5.0).T.p, s.satellite[0].start.position, 0.0);
}

static void test_arms_stand_where_they_reach(void **state) {
    (void)state;
    const double deg = FF_PI / 180.0;
    static const char *const rest[] = {"satellites.client.velocity=[0, 0, 0]",
                                       "satellites.client.angular_velocity=[0, 0, 0]"};
    assert_int_equal(create(rest, 2), FF_OK); /* virtual: placed for (0, -90, 120, 0, 60, 0) */
    static const double ready[6] = {0, -90, 120, 0, 60, 0};
    for (int a = 0; a < 6; a++)
        assert_near(plan.body[0].home.a[a], ready[a] * deg, 1e-9);
    static const char *const device =
        "satellites.client.robot={kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}}";
    assert_int_equal(create(&device, 1), FF_OK); /* a device: where the scenario says */
    const ff_plan_body *b = &plan.body[0];
    assert_vec3_near(b->arm.config.base.p, ff_vec3_make(-1.35, 0, -1.57), 0.0);
    const ff_pose park = ff_plan_runup(&plan, 0, -FF_INF).T;
    const ff_pose tool = ff_arm_forward(&b->arm, &b->home);
    const ff_pose in_base = ff_plan_to_base(b, park), back = ff_plan_from_base(b, in_base);
    assert_vec3_near(tool.p, park.p, 1e-9); /* the joints hold the park pose */
    assert_vec3_near(back.p, park.p, 1e-12);
    assert_near(ff_quat_angle(back.q, park.q), 0.0, 1e-7); /* acos of what rounds to 1 */
    assert_false(b->cartesian || b->increments);
    static const char *const poses =
        "satellites.client.robot={kind: kuka-rsi, base: {position: [-1.35, 0, -1.57]}, channel: cartesian, "
        "corrections: relative}";
    assert_int_equal(create(&poses, 1), FF_OK);
    assert_true(plan.body[0].cartesian && plan.body[0].increments);
    static const char *const rail = "satellites.client.robot={kind: kuka-rsi, base: {position: [-1.35, 0, "
                                    "-1.57]}, rail: {axis: [0, 2, 0], "
                                    "length: 3}}";
    assert_int_equal(create(&rail, 1), FF_OK); /* it starts in the middle */
    assert_near(plan.body[0].home.rail, 0.0, 1e-9);
    assert_near(plan.body[0].arm.config.rail.upper, 1.5, 1e-12);
}

static void refuse(const char *const *set, int sets, ff_status status, const char *says) {
    assert_int_equal(create(set, sets), status);
    assert_string_equal(message, says);
}

static void test_what_cannot_run_on_devices(void **state) {
    (void)state;
    static const char *const ideal = "method=ideal";
    refuse(&ideal, 1, FF_ERR_UNSUPPORTED, "method: ideal cannot run on devices");
    static const char *const far = "satellites.client.robot={kind: kuka-rsi, base: {position: [-9, 0, 0]}}";
    assert_int_equal(create(&far, 1), FF_ERR_REACH);
    assert_memory_equal(message, "satellites.client: ", 19);
    static const char *const rail =
        "satellites.client.robot={kind: kuka-rsi, base: {position: [-1.35, 0, -1.57]}, channel: cartesian, "
        "rail: {axis: [0, 1, 0], length: 3}}";
    refuse(&rail, 1, FF_ERR_UNSUPPORTED,
           "satellites.client: a rail is an external axis and needs channel: axes");
    static const char *const wall[] = {
        "frame=relative",
        "contacts=[{name: w, kind: wall, body: client, at: [0, 0, 1], normal: [0, 0, -1], stiffness: 1}]"};
    refuse(
        wall, 2, FF_ERR_UNSUPPORTED,
        "contacts.w: with frame: relative nothing fixed in space can be touched on devices, allowed: pair, "
        "cone, grasp");
    assert_int_equal(create(NULL, 0), FF_OK);
    s.satellite[0].robot.tool.q.w = 9.0; /* not an attitude */
    assert_int_equal(ff_plan_create(&s, &plan, message, sizeof message), FF_ERR_ARGUMENT);
    assert_string_equal(message, "satellites.client: the arm's base or tool is not valid");
    s.satellite[0].robot.tool.q.w = 1.0;
    s.satellite[0].robot.rail.present = true;
    s.satellite[0].robot.rail.length = FF_NAN;
    s.satellite[0].robot.rail.axis.x = 1.0;
    assert_int_equal(ff_plan_create(&s, &plan, message, sizeof message), FF_ERR_ARGUMENT);
    assert_string_equal(message, "satellites.client: the robot's rail is not valid");
    assert_int_equal(ff_scenario_load(FF_SOURCE_DIR "/scenarios/envisat-capture.yaml", NULL, &s, message,
                                      sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_int_equal(ff_plan_create(&s, &plan, message, sizeof message), FF_OK);
    s.satellite[ff_scenario_servicer(&s)].obsw.kind = 2;
    assert_int_equal(ff_plan_create(&s, &plan, message, sizeof message), FF_ERR_UNSUPPORTED);
    assert_string_equal(message,
                        "satellites.servicer.obsw: on devices the on-board software runs in the loop's "
                        "thread and must not be waited for, allowed: kind: builtin");
    s.emulates = true;
    assert_int_equal(ff_plan_create(&s, &plan, message, sizeof message), FF_ERR_UNSUPPORTED);
    assert_string_equal(message,
                        "an emulation has no robots that carry satellites, but an arm for freefloat rt");
}

/* What run shows at t = 0 is where the run-up leads an arm of seven axes from its park pose, in steps of a
 * cycle; the nearest to `ready` at the start itself has the elbow on the other side. */
static void test_the_configuration_is_chosen_once(void **state) {
    (void)state;
    const char *const set[] = {
        "satellites.client.robot={kind: ros2, arm: iiwa14, joints: [a, b, c, d, e, f, g], delay: 0.034,"
        " base: {position: [-0.55, 0, -0.45]}, tool: {attitude: [0, 1, 0, 0]}}",
        "satellites.client.velocity=[0.0103, 0.0151, 0.0207]",
        "satellites.client.angular_velocity=[0.01, 0.02, 0.03]"};
    assert_int_equal(create(set, 3), FF_OK);
    ff_arm_model arm;
    ff_arm_joints at, q = plan.body[0].home, ready = {0}, other;
    assert_int_equal(ff_plan_place(&s, 0, false, &arm, &at, message, sizeof message), FF_OK);
    const ff_pose T = ff_arm_forward(&arm, &at), late = ff_plan_runup(&plan, 0, -0.034).T;
    assert_vec3_near(T.p, late.p, 1e-9); /* as near as the search comes */
    for (uint64_t k = 1; k <= plan.runup; k++) {
        const ff_pose to = ff_plan_runup(&plan, 0, -0.034 - (double)(plan.runup - k) * plan.cycle).T;
        assert_int_equal(ff_arm_inverse_after(&arm, &to, &q, plan.cycle, &q, NULL), FF_OK);
    }
    /* here the null space is led while it stands, too, for the delay: a tenth of at most 2.4 rad/s */
    for (int a = 0; a < 7; a++)
        assert_near(q.a[a], at.a[a], 0.24 * 0.034);
    memcpy(ready.a, arm.config.ready, sizeof ready.a);
    const ff_pose start = ff_plan_runup(&plan, 0, 0.0).T;
    assert_int_equal(ff_arm_inverse(&arm, &start, &ready, &other, NULL), FF_OK);
    assert_true(fabs(other.a[0] - at.a[0]) > 1.0); /* a case that can tell */
    const char *const far[] = {
        "satellites.client.robot={kind: ur-rtde, arm: ur10e, base: {position: [9, 0, 0]}}"};
    assert_int_equal(create(far, 1), FF_ERR_REACH);
    assert_non_null(strstr(message, "beyond the stretched arm by 7."));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_up),
        cmocka_unit_test(test_arms_stand_where_they_reach),
        cmocka_unit_test(test_what_cannot_run_on_devices),
        cmocka_unit_test(test_the_configuration_is_chosen_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
