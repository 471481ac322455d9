/* The output stages of a run in virtual time: what is inside the limits passes to the bit, what is not is
 * followed within them as vectors, each limit alone acts, and a cycle that is written again begins where it
 * was offered. */
#include "support.h"

#include "facility/outputs.h"

static ff_output_config unbounded(void) {
    return (ff_output_config){.cycle = 0.004,
                              .velocity = FF_INF,
                              .acceleration = FF_INF,
                              .jerk = FF_INF,
                              .angular_velocity = FF_INF,
                              .angular_acceleration = FF_INF,
                              .angular_jerk = FF_INF,
                              .stop_acceleration = 1.0,
                              .stop_angular_acceleration = 2.0,
                              .patience = 0.02};
}

static ff_setpoint along(const ff_setpoint *s, double T) {
    return (ff_setpoint){{ff_quat_unit(ff_quat_mul(s->T.q, ff_quat_exp(ff_vec3_scale(T, s->twist.w)))),
                          ff_vec3_axpy(T, s->twist.v, s->T.p)},
                         s->twist};
}

static bool same(const ff_setpoint *a, const ff_setpoint *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void test_without_limits_everything_passes(void **state) {
    (void)state;
    ff_outputs o;
    ff_sent sent[2];
    ff_outputs_open(NULL, 2, 0.004, &o);
    const ff_setpoint wild[2] = {{ff_pose_identity(), {{{1, 2, 3}}, {{4, 5, 6}}}},
                                 {{ff_quat_identity(), {{7, 8, FF_NAN}}}, ff_twist_zero()}};
    ff_outputs_offer(&o, 3, wild, 3u, false, sent);
    for (int i = 0; i < 2; i++)
        assert_true(same(&sent[i].to, &wild[i]) && sent[i].lag == 0.0 && !sent[i].limited);
    ff_outputs_write(&o, 3, wild, 0u, sent);
    assert_true(same(&sent[1].to, &wild[1]) && !ff_outputs_rest(&o, 0));
}

/* A motion that turns and swings, below each limit by its own differences: the same bits, whatever limits are
 * named. Its twist is that of the end of a step, as `euler` has it, and not that of a smooth curve: a stage
 * that compared twists would act. */
static void test_a_limit_that_does_not_act_changes_no_bit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 20; n++) {
        ff_output_config c = unbounded();
        c.velocity = 0.2;
        c.acceleration = 1.1;
        c.jerk = 600.0; /* a may change its sign within a cycle: 2/T */
        c.angular_velocity = 0.6;
        c.angular_acceleration = 1.1;
        c.angular_jerk = 600.0;
        ff_outputs o;
        ff_outputs_open(&c, 1, c.cycle, &o);
        ff_setpoint s = {test_random_pose(&rng, 1.0), ff_twist_zero()};
        ff_sent sent;
        for (uint64_t k = 0; k < 500; k++) {
            const ff_twist a = {test_random_vec3(&rng, 0.57), test_random_vec3(&rng, 0.57)}; /* |a| < 1 */
            const ff_twist to = ff_twist_add(s.twist, ff_twist_scale(c.cycle, a));
            if (k > 0 && ff_vec3_norm(to.v) < 0.19)
                s.twist.v = to.v;
            if (k > 0 && ff_vec3_norm(to.w) < 0.55)
                s.twist.w = to.w;
            const bool still = ff_vec3_norm(to.v) >= 0.19 || ff_vec3_norm(to.w) >= 0.55;
            s = along(&s, c.cycle);
            ff_outputs_offer(&o, k, &s, 1u, false, &sent);
            assert_true(same(&sent.to, &s) && !sent.limited && sent.lag == 0.0);
            ff_outputs_write(&o, k, &s, 1u, &sent);
            assert_true(same(&sent.to, &s) && !sent.limited && sent.lag == 0.0);
            if (still)
                s.twist = ff_twist_scale(0.999, s.twist);
        }
    }
}

/* A jump of the command: velocity, acceleration and jerk of what is sent stay below their limits as vectors,
 * the lag is the distance left, and it is met in the end to the bit. Written again after an offer of
 * something else, or after one that nobody looks at, the bits are those of a run that was offered the same.
 */
static void test_a_jump_is_followed_within_all_limits(void **state) {
    (void)state;
    ff_output_config c = unbounded();
    c.velocity = 0.5;
    c.acceleration = 2.0;
    c.jerk = 50.0;
    c.angular_velocity = 1.0;
    c.angular_acceleration = 5.0;
    c.angular_jerk = 100.0;
    const double T = c.cycle;
    ff_outputs plain, again, unseen;
    ff_outputs_open(&c, 1, T, &plain);
    ff_outputs_open(&c, 1, T, &again);
    c.rest_unasked = true;
    ff_outputs_open(&c, 1, T, &unseen);
    const ff_setpoint home = {ff_pose_identity(), ff_twist_zero()},
                      wish = {{ff_quat_exp(ff_vec3_make(0, 0.3, 0)), {{0.2, -0.1, 0}}}, ff_twist_zero()};
    ff_vec3 v = ff_vec3_zero(), a = ff_vec3_zero(), w = ff_vec3_zero(), p = home.T.p;
    ff_quat q = home.T.q;
    uint64_t k = 0;
    ff_sent sent, other;
    for (; k < 1000; k++) {
        const ff_setpoint *goal = k < 5 ? &home : &wish;
        ff_outputs_offer(&plain, k, goal, 1u, false, &sent);
        ff_outputs_write(&plain, k, goal, 1u, &sent);
        ff_outputs_offer(&again, k, k % 3 ? &home : &wish, 1u, false, &other);
        ff_outputs_write(&again, k, goal, 1u, &other);
        assert_true(same(&sent.to, &other.to) && sent.limited == other.limited);
        ff_outputs_offer(&unseen, k, k % 3 ? &home : &wish, 1u, k > 0, &other); /* not answered */
        assert_true(k == 0 || same(&other.to, k % 3 ? &home : &wish));
        ff_outputs_write(&unseen, k, goal, 1u, &other);
        assert_true(same(&sent.to, &other.to) && sent.limited == other.limited && sent.lag == other.lag);
        assert_true(k < 6 || ff_vec3_norm(ff_outputs_ahead(&plain, 0)) > 0.0);
        assert_true(ff_vec3_norm(ff_outputs_ahead(&unseen, 0)) == 0.0);
        const ff_vec3 v1 = ff_vec3_scale(1 / T, ff_vec3_sub(sent.to.T.p, p)),
                      a1 = ff_vec3_scale(1 / T, ff_vec3_sub(v1, v)),
                      w1 = ff_vec3_scale(1 / T, ff_quat_log(ff_quat_mul(ff_quat_conj(q), sent.to.T.q)));
        assert_true(ff_vec3_norm(v1) <= 0.5 * (1 + 1e-9));
        assert_true(ff_vec3_norm(a1) <= 2.0 * (1 + 1e-9));
        assert_true(ff_vec3_norm(ff_vec3_sub(a1, a)) <= 50.0 * T * (1 + 1e-6));
        assert_true(ff_vec3_norm(w1) <= 1.0 * (1 + 1e-9));
        assert_true(ff_vec3_norm(ff_vec3_sub(w1, w)) <= 5.0 * T * (1 + 1e-6));
        assert_near(sent.lag, ff_vec3_norm(ff_vec3_sub(goal->T.p, sent.to.T.p)), 1e-15);
        p = sent.to.T.p;
        q = sent.to.T.q;
        v = v1;
        a = a1;
        w = w1;
        if (k >= 5 && !sent.limited)
            break;
        assert_true(sent.limited == (k >= 5));
    }
    assert_true(k > 50 && k < 300);
    assert_true(same(&sent.to, &wish) && sent.lag == 0.0);
}

static void test_each_limit_acts_alone(void **state) {
    (void)state;
    for (int n = 0; n < 6; n++) {
        ff_output_config c = unbounded();
        double *const limit[] = {&c.velocity,         &c.acceleration,         &c.jerk,
                                 &c.angular_velocity, &c.angular_acceleration, &c.angular_jerk};
        *limit[n] = 0.1;
        ff_outputs o;
        ff_outputs_open(&c, 1, c.cycle, &o);
        const ff_setpoint home = {ff_pose_identity(), ff_twist_zero()},
                          wish = {{ff_quat_exp(ff_vec3_make(0.2, 0, 0)), {{0.1, 0, 0}}}, ff_twist_zero()};
        ff_sent sent;
        ff_outputs_offer(&o, 0, &home, 1u, false, &sent);
        assert_false(sent.limited);
        ff_outputs_offer(&o, 1, &wish, 1u, false, &sent);
        assert_true(sent.limited);
        const double bound = 0.1 * pow(c.cycle, n % 3 + 1);
        assert_true((n < 3 ? sent.to.T.p.x : ff_quat_log(sent.to.T.q).x) <= bound * (1 + 1e-6));
        assert_near(n < 3 ? ff_quat_log(sent.to.T.q).x : sent.to.T.p.x, n < 3 ? 0.2 : 0.1, 1e-12);
    }
}

/* Not led any more: to rest from the velocity that it has, also in the first cycle, then still. A command
 * that is not finite is the same. What it is led to afterwards accelerates no more than the stop. */
static void test_a_body_that_is_not_led_comes_to_rest(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        const ff_output_config c = unbounded();
        const double T = c.cycle;
        ff_outputs o;
        ff_outputs_open(&c, 1, T, &o);
        ff_setpoint s = {ff_pose_identity(), {{{0, 0, 0.4}}, {{0.1, 0, 0}}}};
        ff_sent sent;
        const uint64_t from = n == 0 ? 0 : 10;
        ff_vec3 p = ff_vec3_axpy(-T, s.twist.v, s.T.p), v = s.twist.v;
        double most = 0.0;
        for (uint64_t k = 0; k < 200; k++) {
            ff_setpoint command = s;
            if (n == 2 && k >= from)
                command.T.p.y = FF_NAN;
            ff_outputs_offer(&o, k, &command, n < 2 && k >= from ? 0u : 1u, false, &sent);
            assert_true(ff_pose_finite(sent.to.T) && ff_twist_finite(sent.to.twist));
            assert_true(sent.limited == (k >= from));
            const ff_vec3 v1 = ff_vec3_scale(1 / T, ff_vec3_sub(sent.to.T.p, p));
            most = fmax(most, ff_vec3_norm(ff_vec3_sub(v1, v)) / T);
            p = sent.to.T.p;
            v = v1;
            s = along(&s, T);
        }
        assert_true(most <= 1.0 + 1e-6 && most > 0.5);
        assert_true(ff_outputs_rest(&o, 0) && ff_vec3_norm(v) == 0.0);
        /* v^2/(2 a) behind the last command, and at most a cycle more */
        assert_near(p.x, 0.1 * ((double)from - 1.0) * T + 0.005, 0.1 * T);
        if (n == 2)
            continue;
        const ff_setpoint back = {{sent.to.T.q, ff_vec3_zero()}, ff_twist_zero()};
        most = 0.0;
        for (uint64_t k = 200; k < 300; k++) {
            ff_outputs_offer(&o, k, &back, 1u, false, &sent);
            const ff_vec3 v1 = ff_vec3_scale(1 / T, ff_vec3_sub(sent.to.T.p, p));
            most = fmax(most, ff_vec3_norm(ff_vec3_sub(v1, v)) / T);
            p = sent.to.T.p;
            v = v1;
        }
        assert_true(most <= 1.0 + 1e-6 && most > 0.5);
        assert_true(same(&sent.to, &back));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_limits_everything_passes),
        cmocka_unit_test(test_a_limit_that_does_not_act_changes_no_bit),
        cmocka_unit_test(test_a_jump_is_followed_within_all_limits),
        cmocka_unit_test(test_each_limit_acts_alone),
        cmocka_unit_test(test_a_body_that_is_not_led_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
