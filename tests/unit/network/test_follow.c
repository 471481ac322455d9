/* The other robot's pose at the pacing robot's time, and its commands at its own: the functions, and the
 * station with two controllers that the test plays itself. Their telegrams say when they arrive, as in lock
 * step, so that no clock of this computer decides anything. */
#include "two.h"

#include "network/follow.h"
#include "text/clock.h"

/* Telegrams at the device's k T, which are k T (1 + drift) + offset of ours, of a motion given in our time.
 */
static ff_follow feed(double drift, double offset, int count, ff_pose (*motion)(double t)) {
    const ff_clockfit_config config = ff_clockfit_default();
    ff_follow f = {0};
    for (int k = 0; k < count; k++) {
        const double local = k * T * (1.0 + drift) + offset;
        ff_follow_add(&config, &f, k * T, local, motion(local));
    }
    return f;
}

static ff_pose parabola(double t) {
    const ff_quat first = ff_quat_exp(ff_vec3_make(1.0, 0.5, -0.7)); /* the rates are of the body's axes */
    return (ff_pose){ff_quat_mul(first, ff_quat_exp(ff_vec3_scale(t, ff_vec3_make(0.1, -0.2, 0.3)))),
                     ff_vec3_make(1.0 + 0.5 * t, -0.2 * t + 3.0 * t * t, 0.4 - 2.0 * t * t)};
}

static ff_pose cubic(double t) {
    return (ff_pose){ff_quat_identity(), ff_vec3_make(2.0 * t * t * t, 0.0, 0.0)};
}

/* A parabola and a steady rotation are met exactly, before and after the newest telegram. */
static void test_parabola_and_steady_rotation_are_exact(void **state) {
    (void)state;
    const ff_follow f = feed(200e-6, 0.5, 2000, parabola);
    const double newest = ff_follow_time(&f);
    for (double h = -2.0 * T; h <= 1.5 * T; h += 0.1 * T) {
        const ff_pose at = ff_follow_at(&f, T, newest + h), want = parabola(newest + h);
        assert_vec3_near(at.p, want.p, 1e-9);
        assert_true(ff_quat_angle(at.q, want.q) < 1e-9);
    }
    const ff_pose at = ff_follow_at(&f, T, newest);
    assert_memory_equal(&at, &f.T[0], sizeof at);
}

/* p''' = 12 m/s3: the error is h (h + T) (h + 2 T) 12/6, with its sign. */
static void test_cubic_is_off_by_its_remainder(void **state) {
    (void)state;
    const ff_follow f = feed(0.0, 0.0, 500, cubic);
    for (double h = -2.0; h <= 1.5; h += 0.25) {
        const double t = ff_follow_time(&f) + h * T;
        const double error = cubic(t).p.x - ff_follow_at(&f, T, t).p.x;
        assert_near(error, 2.0 * T * T * T * h * (h + 1.0) * (h + 2.0), 1e-12);
    }
}

/* One telegram is a place, two are a line: what is not known yet counts for nothing. */
static void test_the_first_telegrams(void **state) {
    (void)state;
    const ff_follow one = feed(0.0, 0.0, 1, parabola), two = feed(0.0, 0.0, 2, parabola);
    assert_vec3_near(ff_follow_at(&one, T, ff_follow_time(&one) + T).p, parabola(0.0).p, 0.0);
    const double newest = ff_follow_time(&two);
    const ff_vec3 a = parabola(0.0).p, b = parabola(T).p;
    for (double h = -1.0; h <= 3.0; h += 0.5)
        assert_vec3_near(ff_follow_at(&two, T, newest + h * T).p, ff_vec3_axpy(h, ff_vec3_sub(b, a), b),
                         1e-12);
}

static void test_long_silence_goes_straight(void **state) {
    (void)state;
    const ff_follow f = feed(0.0, 0.0, 500, cubic);
    const double t = ff_follow_time(&f);
    const double a = ff_follow_at(&f, T, t + 3.0 * T).p.x, b = ff_follow_at(&f, T, t + 4.0 * T).p.x,
                 c = ff_follow_at(&f, T, t + 5.0 * T).p.x;
    assert_near(c - b, b - a, 1e-12);
    assert_true(b > a);
}

/* Beyond 1.5 cycles the slope at 1.5 cycles is kept, exactly. */
static void test_straight_on_has_the_last_slope(void **state) {
    (void)state;
    const ff_follow f = feed(0.0, 0.0, 500, parabola);
    const double newest = ff_follow_time(&f), t = newest + 1.5 * T;
    const ff_vec3 slope = ff_vec3_make(0.5, -0.2 + 6.0 * t, -4.0 * t);
    for (double h = 0.0; h < 4.0 * T; h += 0.3 * T)
        assert_vec3_near(ff_follow_at(&f, T, t + h).p, ff_vec3_axpy(h, slope, parabola(t).p), 1e-9);
}

/* A controller whose clock was set: what was before it is of another time, and no slope is made of it. */
static void test_a_clock_that_was_set_forgets_the_poses(void **state) {
    (void)state;
    const ff_clockfit_config config = ff_clockfit_default();
    ff_follow f = {0};
    int k = 0;
    for (; k < 500; k++)
        ff_follow_add(&config, &f, k * T, k * T, parabola(k * T));
    for (; f.fit.restarts == 0 && k < 1000; k++)
        ff_follow_add(&config, &f, k * T, k * T + 0.5, parabola(k * T + 0.5));
    assert_int_equal(f.fit.restarts, 1);
    assert_int_equal(f.count, 1);
    const ff_pose newest = f.T[0], at = ff_follow_at(&f, T, ff_follow_time(&f) + T);
    assert_memory_equal(&at, &newest, sizeof at);
}

/* Any pose and twist: along the velocity, turned about the body's own axes. */
static void test_commands_ahead_of_any_motion(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    for (int n = 0; n < 200; n++) {
        const ff_setpoint now = {test_random_pose(&rng, 1.0),
                                 {test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)}};
        const double dt = ff_rng_range(&rng, -10.0 * T, 10.0 * T);
        const ff_setpoint c = ff_follow_along(&now, dt);
        assert_vec3_near(c.T.p, ff_vec3_axpy(dt, now.twist.v, now.T.p), 1e-14);
        assert_vec3_near(ff_quat_log(ff_quat_mul(ff_quat_conj(now.T.q), c.T.q)),
                         ff_vec3_scale(dt, now.twist.w), 1e-12);
        assert_memory_equal(&c.twist, &now.twist, sizeof c.twist);
    }
}

/* ------------------------------------------------------------------------------------------ two robots --
 */

/* A telegram of the first half of the pacing robot's cycle is answered when it is read, before the next
 * command; one of the second half waits for that. Either is answered for its own time: led at v, the second
 * robot is sent v times its delay further than the first, which gets the command as it is. */
static void test_the_second_robot_is_answered_at_its_own_time(void **state) {
    (void)state;
    static const double off[] = {0.1, 0.45, 0.55, 0.9};
    const double v = 0.02;
    for (int n = 0; n < 4; n++) {
        if (n) {
            end(NULL);
            begin(NULL);
        }
        meet(off[n]);
        const bool early = off[n] < 0.5;
        double x = 0.0, first = 0.0;
        for (int k = 0; k < 200; k++) {
            /* its telegram of this cycle comes before the first one's of the next */
            tell(0, 0);
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            assert_int_equal(sample.found.code, FF_TRIP_NONE);
            assert_near(sample.missed, 0.0, 0.0);
            const double before = answer_x(1);
            x += v * T;
            command(x, v);
            const double after = answer_x(1);
            first = answer_x(0);
            peer[0].x = peer[1].x = first; /* they follow at once */
            if (k > 150) {                 /* on the line: the start from rest is over */
                assert_near(first, x, 1e-10);
                assert_true(!isnan(before) == early);
                assert_true(!isnan(after) == !early);
                /* the early one still follows the command of the cycle before */
                assert_near(early ? before : after,
                            early ? x - v * T + v * T * off[n] : x - v * T * (1.0 - off[n]), 2e-9);
            }
            tell(1, 0);
        }
    }
}

/* What the second robot has lost counts, though a telegram without loss was read in the same cycle; one that
 * is not heard any more is found when it has been silent for longer than allowed, not before. */
static void test_the_second_robots_losses_and_silence(void **state) {
    (void)state;
    meet(0.25);
    command(0.0, 0.0);
    tell(0, 3);
    do
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
    while (sample.filled);
    assert_near(sample.missed, 3.0, 0.0);
    command(0.0, 0.0);
    answer_x(0);
    tell(1, 3); /* read and answered in the first half of this cycle */
    tell(1, 0); /* read after it, and waits for the first one's */
    tell(0, 0);
    assert_int_equal(station.wait(station.self, &sample), FF_OK);
    assert_near(sample.missed, 3.0, 0.0);
    assert_int_equal(answers(1), 1);
    command(0.0, 0.0);
    assert_int_equal(answers(1), 1);
    assert_int_equal(answers(0), 1);
    /* five cycles are the 0.02 s that are allowed: its last telegram came a quarter of one after the first
     * one's, so that the sixth is beyond */
    for (int n = 1; n <= 7; n++) {
        tell(0, 0);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        const double unheard = (n - 0.25) * T;
        assert_int_equal(sample.found.code, unheard > 0.02 ? FF_TRIP_SILENT : FF_TRIP_NONE);
        assert_int_equal(sample.body[1].device.reached, !(unheard > 0.02));
        assert_true(sample.body[0].device.reached);
        if (sample.found.code == FF_TRIP_SILENT) {
            assert_int_equal(sample.found.body, 1);
            assert_near(sample.found.value, unheard, 1e-7);
            assert_near(sample.found.limit, 0.02, 0.0);
        }
        command(0.0, 0.0);
        assert_true(answer_x(0) == 0.0);
    }
}

/* Either robot follows its command late, in part or not at all, while telegrams are lost now and then: it is
 * found to stand where it has made less than a tenth of its command's displacement over eight cycles,
 * whichever of the answers it may be at, two cycles less than its delay to three and twice its lag more, two
 * telegrams in a row. What its poses were where telegrams are lost lies on a line. The same of what it turns,
 * where it makes no displacement. */
static double place(bool turns, int who, ff_pose at) {
    const ff_pose start = ff_plan_runup(&plan, who, -FF_INF).T;
    return turns ? ff_quat_log(ff_quat_mul(ff_quat_conj(start.q), at.q)).z : at.p.x - start.p.x;
}

static void test_who_stands_is_found(void **state) {
    (void)state;
    enum { MOST = 400, W = 8 };
    static double accepted[MOST], seen[MOST];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 21);
    int found[2][2] = {0};
    for (int round = 0; round < 24; round++) {
        if (round) {
            end(NULL);
            begin(NULL);
        }
        const int who = round % 2;
        const bool turns = round >= 12;
        const double far = turns ? 2e-3 : 1e-4, size = turns ? 5.0 : 1.0, wire = turns ? 5e-8 : 2e-9;
        static const double parts[] = {0.0, 0.05, 0.095, 0.105, 0.3, 1.0};
        const double part = parts[round / 2 % 6];
        ff_plan_body *body = &plan.body[who];
        body->delay = T * (double)(int)(5.0 * ff_rng_uniform(&rng));
        body->lag = round % 3 ? 0.0 : T * (0.3 + ff_rng_uniform(&rng));
        const int cycles = (int)lround(body->delay / T), low = cycles > 2 ? cycles - 2 : 0,
                  high = (int)ceil((body->delay + 2.0 * body->lag) / T) + 3,
                  late = (int)((high + 4.0) * ff_rng_uniform(&rng));
        meet(0.25);
        network.body[who].limits.missed = 1e6;
        int n = 0;
        bool before = false;
        for (int k = 0; k < 200; k++) {
            const uint64_t lost =
                k > 40 && ff_rng_uniform(&rng) < 0.03 ? 1 + (uint64_t)(3.0 * ff_rng_uniform(&rng)) : 0;
            double *const at_now = turns ? &peer[who].turned : &peer[who].x;
            *at_now = n > late ? part * accepted[n - 1 - late] : 0.0;
            tell(1, lost);
            tell(0, lost);
            do
                assert_int_equal(station.wait(station.self, &sample), FF_OK);
            while (sample.filled);
            if (k > 0) /* led from the first command on */
                for (uint64_t g = 0; g <= lost; g++, n++) {
                    accepted[n] = place(turns, who, network.body[who].output.pose);
                    const double last = n > (int)g ? seen[n - 1 - (int)g] : *at_now;
                    seen[n] = last + (*at_now - last) * (double)(g + 1) / (double)(lost + 1);
                }
            for (int j = 0; j <= (int)lost && j < n; j++) { /* what it remembers of either */
                const ff_network_body *b = &network.body[who];
                const uint64_t at = (b->tracked - 1 - (uint64_t)j) % FF_NETWORK_TRACK;
                assert_near(place(turns, who, b->seen[at]), seen[n - 1 - j], wire);
                assert_near(place(turns, who, b->track[at]), accepted[n - 1 - j], wire);
            }
            bool stands = n >= high + W + 1;
            double led = FF_INF;
            for (int d = low; d <= high && stands; d++)
                led = fmin(led, fabs(accepted[n - 1 - d] - accepted[n - 1 - d - W]));
            stands = stands && led > far && fabs(seen[n - 1] - seen[n - 1 - W]) < 0.1 * led;
            const bool near = fabs(led - far) < 10.0 * wire; /* on the edge the wire's decimals decide */
            if (!near && sample.body[who].device.stands != (stands && before))
                fail_msg("round %d, robot %d, cycle %d: %d, by %g of %g m or rad", round, who, k,
                         sample.body[who].device.stands, seen[n - 1] - seen[n - 1 - W], led);
            assert_false(sample.body[!who].device.stands);
            if (stands && before) {
                found[turns][who]++;
                assert_int_equal(sample.found.code, FF_TRIP_STANDS);
                assert_int_equal(sample.found.body, who);
                assert_near(sample.found.value, led, wire);
                assert_near(sample.found.limit, 0.1 * led, wire);
            }
            before = stands;
            /* to and fro by 8 mm: each window of eight cycles is at times below and beyond 0.1 mm */
            ff_setpoint to[2] = {{ff_plan_runup(&plan, 0, -FF_INF).T, ff_twist_zero()},
                                 {ff_plan_runup(&plan, 1, -FF_INF).T, ff_twist_zero()}};
            const double to_now = size * 0.004 * (1.0 - cos(0.06 * k)),
                         rate = size * 0.004 * 0.06 / T * sin(0.06 * k);
            if (turns) {
                to[who].T.q = ff_quat_mul(to[who].T.q, ff_quat_exp(ff_vec3_make(0.0, 0.0, to_now)));
                to[who].twist.w.z = rate;
            } else {
                to[who].T.p.x += to_now;
                to[who].twist.v.x = rate;
            }
            const ff_wrench none[2] = {ff_wrench_zero(), ff_wrench_zero()};
            ff_sent sent[2];
            station.write(station.self, 0, to, 3u, none, NULL, sent);
            answers(0);
            answers(1);
        }
    }
    for (int turns = 0; turns < 2; turns++)
        assert_true(found[turns][0] > 50 && found[turns][1] > 50);
}

/* By this computer's clock, where telegrams do not say when they arrive: the kernel's stamp counts, however
 * late it is read. And a telegram that is longer than may be read is malformed, though only blanks follow. */
static void test_the_kernels_stamp_and_length(void **state) {
    (void)state;
    char bytes[FF_DEVICE_READ_MAX + 8];
    size_t used;
    ff_rsi_rob rob = {.fields = FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY};
    ff_rsi_from_pose(ff_plan_to_base(&plan.body[0], ff_plan_runup(&plan, 0, -FF_INF).T), rob.rist);
    ff_arm_to_kuka(&plan.body[0].home, rob.aipos, &rob.eipos[0]);
    double last = -FF_INF;
    for (int n = 0; n < 3; n++) {
        rob.ipoc = 1000 + 4 * (uint64_t)n;
        assert_int_equal(ff_rsi_rob_encode(&rob, 9, bytes, sizeof bytes, &used), FF_OK);
        const double from = 1e-9 * (double)(ff_clock_now() - network.epoch);
        ff_socket_send(peer[0].robot, bytes, used, &address.body[0].robot_at);
        const double to = 1e-9 * (double)(ff_clock_now() - network.epoch);
        ff_clock_sleep_until(ff_clock_now() + 8000000);
        assert_int_equal(station.wait(station.self, &sample), FF_OK);
        /* the stamp is of the wall clock, which may be slewed by 500 ppm meanwhile */
        assert_true(network.body[0].arrived >= from - 1e-4 && network.body[0].arrived <= to + 1e-4);
        assert_true(network.body[0].arrived > last);
        last = network.body[0].arrived;
        command(0.0, -1.0);
    }
    ff_device_counters count;
    for (int n = 0; n < 2; n++) { /* a few blanks, and more than may be read; then one as before */
        rob.ipoc += 4;
        assert_int_equal(ff_rsi_rob_encode(&rob, 9, bytes, sizeof bytes, &used), FF_OK);
        memset(bytes + used, ' ', sizeof bytes - used);
        ff_socket_send(peer[0].robot, bytes, n ? sizeof bytes : used + 8, &address.body[0].robot_at);
        rob.ipoc += 4;
        assert_int_equal(ff_rsi_rob_encode(&rob, 9, bytes, sizeof bytes, &used), FF_OK);
        ff_socket_send(peer[0].robot, bytes, used, &address.body[0].robot_at);
        for (int m = n; m < 2; m++) {
            assert_int_equal(station.wait(station.self, &sample), FF_OK);
            command(0.0, -1.0);
        }
        address.body[0].robot->count(network.body[0].robot, &count);
        assert_int_equal(count.malformed, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parabola_and_steady_rotation_are_exact),
        cmocka_unit_test(test_cubic_is_off_by_its_remainder),
        cmocka_unit_test(test_the_first_telegrams),
        cmocka_unit_test(test_long_silence_goes_straight),
        cmocka_unit_test(test_straight_on_has_the_last_slope),
        cmocka_unit_test(test_a_clock_that_was_set_forgets_the_poses),
        cmocka_unit_test(test_commands_ahead_of_any_motion),
        cmocka_unit_test_setup_teardown(test_the_second_robot_is_answered_at_its_own_time, begin, end),
        cmocka_unit_test_setup_teardown(test_the_second_robots_losses_and_silence, begin, end),
        cmocka_unit_test_setup_teardown(test_who_stands_is_found, begin, end),
        cmocka_unit_test_setup_teardown(test_the_kernels_stamp_and_length, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
