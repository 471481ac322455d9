/* The push's judgement and the test motions, as pure functions. */
#include "support.h"

#include "rt/check.h"

/* Any sample: right only if the axis asked for carries twice what each other does, with its sign. */
static void test_push_is_judged_by_axis_and_sign(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int n = 0; n < 2000; n++) {
        const int axis = n % 6;
        ff_check_push push = {.done = true, .sample = test_random_vec3(&rng, 10.0)};
        const double asked = push.sample.a[axis % 3];
        double other = 0.0, most = fabs(asked);
        for (int a = 0; a < 3; a++) {
            most = fmax(most, fabs(push.sample.a[a]));
            if (a != axis % 3)
                other = fmax(other, fabs(push.sample.a[a]));
        }
        char reason[160];
        ff_push_judge(axis, &push, reason, sizeof reason);
        assert_int_equal(push.right, asked > 0.0 && other <= 0.5 * asked);
        assert_near(fabs(push.sample.a[push.seen % 3]), most, 0.0);
        assert_int_equal(push.seen >= 3, axis >= 3);
        char name[8];
        snprintf(name, sizeof name, "+%c:", 'x' + axis % 3);
        assert_non_null(strstr(reason, name));
        assert_non_null(strstr(reason, axis < 3 ? "pushed" : "twisted"));
    }
}

/* The virtual hand is felt with every noise and range, and it obeys the text that asks for it. */
static void test_virtual_hand_is_felt(void **state) {
    (void)state;
    static const double noise[] = {0.0, 0.1, 3.0}, range[] = {FF_INF, 330.0, 5.0};
    for (int axis = 0; axis < 6; axis++) {
        assert_int_equal(ff_push_asked(ff_push_text(axis)), axis);
        for (int n = 0; n < 3; n++)
            for (int r = 0; r < 3; r++) {
                ff_push_state state_of;
                ff_check_push push = {0};
                ff_push_start(&state_of, axis);
                const double threshold = ff_push_threshold(axis, noise[n], range[r]);
                bool done = false;
                for (int k = 0; k < 200 && !done; k++) {
                    ff_wrench w;
                    ff_push_virtual(axis, 0.004 * k, noise[n], range[r], &w);
                    done = ff_push_step(&state_of, threshold, 5.0, 0.004, w, &push);
                }
                assert_true(done && push.seen >= 0);
                char reason[160];
                ff_push_judge(axis, &push, reason, sizeof reason);
                assert_true(push.right);
                assert_int_equal(push.seen, axis);
            }
    }
    assert_int_equal(ff_push_asked(""), -1);
    assert_int_equal(ff_push_asked("push"), -1);
}

static const char text[] =
    "name: trial\n"
    "time: {cycle: 0.004, duration: 1}\n"
    "facility: {gravity: [0, 0, -9.81]}\n"
    "satellites:\n"
    "  body:\n"
    "    mass: 100\n"
    "    inertia: [10, 10, 10]\n"
    "    velocity: [0.03, -0.04, 0]\n"
    "    robot: {kind: delay, delay: 0.016}\n"
    "    check: {weight: poses, delay: chirp}\n"
    "    safety: {velocity: 0.06, acceleration: 0.2, jerk: 5, angular_velocity: 0.4}\n";

/* At rest before and after, twist the derivative of the pose, half of every limit, never ahead of the park
 * pose. */
static void test_trial_keeps_its_promises(void **state) {
    (void)state;
    ff_scenario *scenario = calloc(1, sizeof *scenario);
    char message[256], warnings[256];
    assert_int_equal(ff_scenario_parse("trial", text, sizeof text - 1, NULL, scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    ff_plan plan;
    const ff_plan_options ports = {0};
    assert_int_equal(ff_plan_create(scenario, &ports, &plan, message, sizeof message), FF_OK);
    ff_trial trial;
    ff_trial_plan(scenario, &plan, 0, &trial);
    assert_int_equal(ff_trial_reach(&trial, &plan.body[0], message, sizeof message), FF_OK);
    const double T = 0.004;
    const ff_vec3 ahead = ff_vec3_make(0.6, -0.8, 0.0);
    ff_vec3 v_last = ff_vec3_zero(), a_last = ff_vec3_zero();
    double speed = 0.0, deepest = 0.0, tilted = 0.0, turn = 0.0;
    for (int k = 0; k * T < trial.end + 0.1; k++) {
        const double t = k * T;
        const ff_setpoint s = ff_trial_at(&trial, t);
        const ff_vec3 off = ff_vec3_sub(s.T.p, trial.park.p);
        const ff_vec3 a = ff_vec3_scale(1.0 / T, ff_vec3_sub(s.twist.v, v_last));
        const ff_vec3 j = ff_vec3_scale(1.0 / T, ff_vec3_sub(a, a_last));
        assert_true(ff_vec3_dot(off, ahead) <= 1e-15);
        assert_true(ff_vec3_norm(a) <= 0.1001 && ff_vec3_norm(j) <= 2.501);
        speed = fmax(speed, ff_vec3_norm(s.twist.v));
        deepest = fmax(deepest, ff_vec3_norm(off));
        turn = fmax(turn, ff_vec3_norm(s.twist.w));
        tilted = fmax(tilted, ff_quat_angle(s.T.q, trial.park.q));
        const double h = 1e-3;
        const ff_setpoint before = ff_trial_at(&trial, t - h), after = ff_trial_at(&trial, t + h);
        assert_vec3_near(ff_vec3_scale(0.5 / h, ff_vec3_sub(after.T.p, before.T.p)), s.twist.v, 1e-5);
        const ff_vec3 w =
            ff_vec3_scale(0.5 / h, ff_quat_log(ff_quat_mul(ff_quat_conj(before.T.q), after.T.q)));
        assert_vec3_near(w, s.twist.w, 1e-5);
        v_last = s.twist.v;
        a_last = a;
    }
    assert_true(speed <= 0.03 && deepest > 1e-4 && deepest <= 0.002);
    assert_near(tilted, 0.3, 1e-9);
    assert_true(turn <= 0.2001);
    const ff_setpoint end = ff_trial_at(&trial, trial.end);
    assert_vec3_near(end.T.p, trial.park.p, 0.0);
    assert_near(ff_quat_angle(end.T.q, trial.park.q), 0.0, 1e-12);
    free(scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_is_judged_by_axis_and_sign),
        cmocka_unit_test(test_virtual_hand_is_felt),
        cmocka_unit_test(test_trial_keeps_its_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
