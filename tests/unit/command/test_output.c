/* The output stage against its promise, computed here from the poses that a robot accepts: velocity,
 * acceleration and jerk of every answer, whatever is asked, lost, rounded or not a number. */
#include "output_robot.h"

#include <stddef.h>

/* A target that wanders, jumps, turns, stops, or is not a target at all. */
static ff_setpoint random_target(ff_rng *rng, const ff_output_config *c, ff_setpoint last) {
    ff_setpoint s = last;
    const double u = ff_rng_uniform(rng);
    if (u < 0.05) {
        s.twist.v = test_random_vec3(rng, 2.0 * c->velocity);
        s.twist.w = test_random_vec3(rng, 2.0 * c->angular_velocity);
    } else if (u < 0.07) {
        s.T.p = ff_vec3_add(s.T.p, test_random_vec3(rng, 0.1));
        s.T.q = ff_quat_unit(ff_quat_mul(s.T.q, ff_quat_exp(test_random_vec3(rng, 0.5))));
    } else if (u < 0.09) {
        s.twist = ff_twist_zero();
    } else {
        s.twist.v = ff_vec3_axpy(c->cycle, test_random_vec3(rng, c->acceleration), s.twist.v);
        s.twist.w = ff_vec3_axpy(c->cycle, test_random_vec3(rng, c->angular_acceleration), s.twist.w);
    }
    s.T.p = ff_vec3_axpy(c->cycle, s.twist.v, s.T.p);
    s.T.q = ff_quat_unit(ff_quat_mul(s.T.q, ff_quat_exp(ff_vec3_scale(c->cycle, s.twist.w))));
    return s;
}

static double rounded(double x, double grain) {
    return grain > 0.0 ? grain * round(x / grain) : x;
}

/* An answer is confirmed once: of a telegram that none was sent for, the robot stands where it is. */
static void test_an_answer_counts_once(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    ff_output_out out = {0};
    const ff_setpoint target = {{ff_quat_identity(), ff_vec3_make(1.0, 0, 0)}, ff_twist_zero()};
    for (int n = 0; n < 20; n++) {
        ff_output_confirm(&s, true, false);
        ff_output_target(&s, &target, n * c.cycle);
        ff_output_step(&c, &s, n * c.cycle, &out);
    }
    const ff_vec3 v = s.sent_velocity.v;
    assert_true(v.x > 0.0);
    ff_output_confirm(&s, true, false);
    assert_vec3_near(s.velocity.v, v, 0.0);
    ff_output_confirm(&s, true, false);
    assert_vec3_near(s.pose.p, out.to.T.p, 0.0);
    assert_vec3_near(s.velocity.v, ff_vec3_zero(), 0.0);
    ff_output_confirm(&s, false, false); /* nor is there any to doubt */
    assert_false(s.doubtful);
    ff_output_step(&c, &s, 20 * c.cycle,
                   &out); /* one that is set down elsewhere rests there, and nothing is open */
    const ff_pose elsewhere = {ff_quat_exp(ff_vec3_make(0, 0.1, 0)), ff_vec3_make(0.3, 0.2, 0.1)};
    ff_output_stand(&s, elsewhere);
    assert_memory_equal(&s.pose, &elsewhere, sizeof elsewhere);
    assert_memory_equal(&s.sent, &elsewhere, sizeof elsewhere);
    assert_vec3_near(s.velocity.v, ff_vec3_zero(), 0.0);
    assert_vec3_near(s.acceleration.v, ff_vec3_zero(), 0.0);
    assert_false(s.doubtful || s.pending);
}

/* Where both truths of an answer leave no step, the robot stands: it comes to rest where it is, and what it
 * turns goes on. */
static void test_a_doubt_stops_the_translation_alone(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    c.velocity = 0.2;
    c.jerk = 100.0;
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    ff_output_out out = {0};
    const ff_quat far = ff_quat_exp(ff_vec3_make(0, 0, 2.5));
    ff_setpoint target = {{far, ff_vec3_make(1.0, 0, 0)}, ff_twist_zero()};
    int n = 0;
    for (; n < 60; n++) { /* up to its limit */
        ff_output_confirm(&s, true, false);
        ff_output_target(&s, &target, n * c.cycle);
        ff_output_step(&c, &s, n * c.cycle, &out);
    }
    const double w = ff_vec3_norm(s.sent_velocity.w);
    assert_near(s.sent_velocity.v.x, c.velocity, 1e-3 * c.velocity);
    ff_output_confirm(&s, false, false); /* called lost: it stands, or has gone on by the whole limit */
    const ff_vec3 at = s.pose.p;
    target.T.p = ff_vec3_make(-1.0, 0, 0);
    ff_output_target(&s, &target, n * c.cycle);
    ff_output_step(&c, &s, n * c.cycle, &out);
    assert_vec3_near(out.to.T.p, at, 0.0);
    assert_vec3_near(out.rest, at, 0.0);
    assert_true(s.course[0].active && !s.course[0].exact);
    assert_true(s.course[1].active && s.course[1].exact);
    assert_true(w > 0.0 && ff_vec3_norm(s.sent_velocity.w) > 0.0);
}

/* One random life: targets, gaps without a target, lost answers with either truth, rounding. */
static void live(ff_rng *rng, bool losses, bool rounds, worst *kept, double *other) {
    ff_output_config c = random_config(rng);
    c.resolution = rounds ? log_range(rng, 1e-10, 1e-8) : 0.0;
    ff_setpoint target = {test_random_pose(rng, 1.0), ff_twist_zero()};
    ff_output_state state;
    ff_output_reset(&state, target.T);
    robot r = {.at = target.T};
    ff_pose lost = target.T; /* an answer called lost that was taken all the same */
    bool doubt = false;
    ff_pose wire = target.T;
    int silent = 0;
    for (int n = 0; n < 400; n++) {
        const double t = n * c.cycle;
        if (n) {
            const bool taken = !(losses && ff_rng_uniform(rng) < 0.05);
            const bool held = !taken || (losses && ff_rng_uniform(rng) < 0.05);
            if (taken)
                step(&c, &r, wire, true, kept);
            if (held)
                stand(&r);
            if (!taken && !doubt) {
                lost = wire;
                doubt = true;
            } else if (taken)
                doubt = false;
            ff_output_confirm(&state, taken, held);
        }
        silent = silent > 0 ? silent - 1 : ff_rng_uniform(rng) < 0.02 ? 1 + (int)ff_rng_range(rng, 0, 60) : 0;
        target = random_target(rng, &c, target);
        if (!silent)
            ff_output_target(&state, &target, t);
        ff_output_out out;
        ff_output_step(&c, &state, t, &out);
        assert_true(ff_pose_finite(out.to.T) && ff_twist_finite(out.to.twist));
        wire = out.to.T;
        for (int i = 0; i < 3; i++)
            wire.p.a[i] = rounded(wire.p.a[i], c.resolution);
        ff_output_wire(&c, &state, wire);
        step(&c, &r, wire, false, kept); /* also those that are lost afterwards */
        if (doubt) {
            /* both are rounded for the wire, by half its last decimal on each axis */
            const double apart = ff_vec3_norm(ff_vec3_sub(state.sent.p, lost.p)) - sqrt(3.0) * c.resolution;
            *other = fmax(*other, apart / (c.cycle * c.velocity));
            *other =
                fmax(*other, ff_vec3_norm(turned(lost.q, state.sent.q)) / (c.cycle * c.angular_velocity));
        }
    }
}

static void test_random_lives(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int kind = 0; kind < 4; kind++) {
        worst kept = {0};
        double other = 0.0;
        for (int n = 0; n < test_count(40, 20000); n++)
            live(&rng, kind & 1, kind & 2, &kept, &other);
        print_message("losses %d, rounding %d: v %.6f a %.6f j %.6f; w %.6f %.6f %.6f; other truth %.6f\n",
                      kind & 1, kind >> 1, kept.ratio[0][0], kept.ratio[0][1], kept.ratio[0][2],
                      kept.ratio[1][0], kept.ratio[1][1], kept.ratio[1][2], other);
        assert_kept(&kept, "random lives");
        assert_true(other <= 1.0 + 1e-5);
        assert_true(kept.ratio[0][1] > 0.9 && kept.ratio[0][2] > 0.9); /* the limits did act */
    }
}

/* Behind a target that is faster than the limit for good: as fast as the limit, and no more after ever so
 * many cycles. A limit is kept to 1e-9 of it; the poses are some metres away, in doubles and rounded for the
 * wire. */
static void test_at_the_limit_for_long(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    for (int n = 0; n < 8; n++) {
        ff_output_config c = random_config(&rng);
        c.resolution = n % 2 ? 1e-9 : 0.0;
        const ff_vec3 u = ff_vec3_unit(test_random_vec3(&rng, 1.0)),
                      axis = ff_vec3_unit(test_random_vec3(&rng, 1.0));
        const double faster = ff_rng_range(&rng, 1.0, 3.0), V = faster * c.velocity,
                     W = faster * c.angular_velocity;
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        worst kept = {0};
        robot r = {.at = ff_pose_identity()};
        double gone = 0.0;
        for (int k = 0; k < test_count(2000, 100000); k++) {
            const double t = k * c.cycle;
            /* it turns, so that the robot never comes to cruise along an axis */
            const ff_vec3 v = ff_quat_rotate(ff_quat_exp(ff_vec3_scale(0.3 * t, axis)), u);
            const ff_setpoint to = {
                {ff_quat_unit(ff_quat_mul(s.pose.q, ff_quat_exp(ff_vec3_scale(3.0 * W * c.cycle, axis)))),
                 ff_vec3_axpy(1.0 + c.velocity * t, n % 4 < 2 ? v : u, s.pose.p)},
                {ff_vec3_scale(W, axis), ff_vec3_scale(V, n % 4 < 2 ? v : u)}};
            ff_output_out out;
            ff_output_target(&s, &to, t);
            ff_output_step(&c, &s, t, &out);
            ff_pose wire = out.to.T;
            for (int i = 0; i < 3; i++)
                wire.p.a[i] = rounded(wire.p.a[i], c.resolution);
            ff_output_wire(&c, &s, wire);
            gone += ff_vec3_norm(ff_vec3_sub(wire.p, r.at.p));
            step(&c, &r, wire, true, &kept);
            ff_output_confirm(&s, true, false);
        }
        for (int part = 0; part < 2; part++)
            if (!(kept.ratio[part][0] <= 1.0 + 2e-9))
                fail_msg("%d: velocity %.12g, %.12g of its limit", n, kept.ratio[0][0], kept.ratio[1][0]);
        assert_true(gone > 0.0);
    }
}

/* A motion inside the limits goes out to the bit, and nothing is called limited. */
static void test_inside_the_limits_to_the_bit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < test_count(30, 200); n++) {
        ff_output_config c = random_config(&rng);
        const double W = ff_rng_range(&rng, 1.0, 20.0); /* [rad/s] of a swing */
        const double size = 0.3 * fmin(c.velocity / W, fmin(c.acceleration / (W * W), c.jerk / (W * W * W)));
        const double angle = 0.3 * fmin(c.angular_velocity / W,
                                        fmin(c.angular_acceleration / (W * W), c.angular_jerk / (W * W * W)));
        const ff_pose at = test_random_pose(&rng, 1.0);
        const ff_vec3 u = ff_vec3_unit(test_random_vec3(&rng, 1.0)),
                      axis = ff_vec3_unit(test_random_vec3(&rng, 1.0));
        ff_output_state s;
        ff_output_reset(&s, at);
        for (int k = 0; k < 500; k++) {
            const double t = k * c.cycle, x = W * t;
            /* (x - sin x)/W: starts without velocity, acceleration and jerk */
            const double y = fmin(x, 40.0) - sin(fmin(x, 40.0)), rate = x < 40.0 ? W * (1.0 - cos(x)) : 0.0;
            const ff_setpoint to = {
                {ff_quat_unit(ff_quat_mul(at.q, ff_quat_exp(ff_vec3_scale(angle * y, axis)))),
                 ff_vec3_axpy(size * y, u, at.p)},
                {ff_vec3_scale(angle * rate, axis), ff_vec3_scale(size * rate, u)}};
            if (x > 40.0)
                break;
            ff_output_confirm(&s, true, false);
            assert_int_equal(ff_output_target(&s, &to, t), FF_OK);
            ff_output_out out;
            ff_output_step(&c, &s, t, &out);
            assert_memory_equal(&out.to, &to, sizeof to);
            assert_false(out.limited || out.braking);
            assert_true(out.lag == 0.0);
        }
    }
}

/* A motion at its limit for acceleration or jerk, some metres from the origin, where a pose has only so many
 * bits: it goes out to the bit, however small the limit is. */
static void test_at_a_limit_to_the_bit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    for (int n = 0; n < 24; n++) {
        ff_output_config c;
        ff_output_default(&c);
        const bool jerks = n % 2;
        c.jerk = jerks ? log_range(&rng, 0.01, 1.0) : FF_INF;
        c.acceleration = jerks ? 10.0 : log_range(&rng, 0.001, 0.1);
        const double T = c.cycle;
        const ff_vec3 u = ff_vec3_unit(test_random_vec3(&rng, 1.0));
        const ff_pose at = {ff_quat_identity(),
                            ff_vec3_scale(7.0, ff_vec3_unit(test_random_vec3(&rng, 1.0)))};
        ff_output_state s;
        ff_output_reset(&s, at);
        for (int k = 1; k < 150; k++) {
            /* sums of the limit: third, or second, differences are it exactly */
            const double x = jerks ? c.jerk * T * T * T * k * (k + 1.0) * (k + 2.0) / 6.0
                                   : c.acceleration * T * T * k * (k + 1.0) / 2.0;
            const ff_setpoint to = {{at.q, ff_vec3_axpy(x, u, at.p)}, ff_twist_zero()};
            ff_output_target(&s, &to, k * T);
            ff_output_out out;
            ff_output_step(&c, &s, k * T, &out);
            assert_false(out.limited);
            assert_memory_equal(&out.to, &to, sizeof to);
            ff_output_confirm(&s, true, false);
        }
    }
}

/* What was not taken, or stood meanwhile, is planned anew, translation and rotation. */
static void test_what_was_not_taken_is_planned_anew(void **state) {
    (void)state;
    for (int n = 0; n < 4; n++) {
        const bool taken = n & 1, stood = n & 2;
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        s.pending = true;
        s.course[0].exact = s.course[1].exact = true;
        ff_output_confirm(&s, taken, stood);
        assert_int_equal(s.course[0].exact, taken && !stood);
        assert_int_equal(s.course[1].exact, taken && !stood);
        assert_int_equal(s.doubtful, !taken);
    }
    ff_output_state s; /* where nothing was sent, nothing is in doubt */
    ff_output_reset(&s, ff_pose_identity());
    ff_output_confirm(&s, false, false);
    assert_false(s.doubtful);
}

/* Where a stop from here would end, or turn if it brakes harder than it can let go in time: what the stop
 * then does, followed to its end. */
static void test_where_a_stop_ends_and_turns(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 10);
    int turns = 0;
    for (int n = 0; n < test_count(150, 3000); n++) {
        ff_output_config c;
        ff_output_default(&c);
        c.velocity = 1.0;
        c.acceleration = c.stop_acceleration = 2.0;
        c.jerk = log_range(&rng, 4.0, 60.0);
        const int axis = n % 3;
        c.centre = ff_vec3_zero(); /* so far away that forward is outward */
        c.centre.a[axis] = -100.0;
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        /* every other one brakes harder than it can let go: a^2/2J is what that takes off v */
        const bool harder = n % 2;
        const double a = ff_rng_range(&rng, -1.9, harder ? -0.8 : 0.5),
                     v = harder ? ff_rng_range(&rng, 0.1, 0.7) * a * a / (2.0 * c.jerk)
                                : ff_rng_range(&rng, 0.01, 0.3);
        s.velocity.v.a[axis] = v;
        s.acceleration.v.a[axis] = a;
        s.moved = true;
        ff_output_out out;
        double far = 0.0, last = 0.0, first = FF_NAN, path = 0.0;
        for (int k = 0; k < 4000; k++) {
            ff_output_step(&c, &s, k * c.cycle, &out);
            ff_output_wire(&c, &s, out.to.T);
            ff_output_confirm(&s, true, false);
            const double x = s.pose.p.a[axis];
            if (k == 0)
                first = out.rest.a[axis];
            far = k ? fmax(far, x) : x;
            path += fabs(x - last);
            if (x == last && k > 3)
                break;
            last = x;
        }
        turns += far > last + 1e-4;
        if (!(fabs(first - far) <= 0.01 * path + 0.2 * v * c.cycle))
            fail_msg("%d: %g, the stop comes to %g and ends at %g (v %g, a %g, J %g)", n, first, far, last, v,
                     a, c.jerk);
    }
    assert_true(turns > 20);
}

/* Without a new target the last one is led on for the time of patience, then the robot brakes by itself. */
static void test_brakes_by_itself(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    s.velocity.v.x = 0.1;
    const ff_setpoint target = {{ff_quat_identity(), ff_vec3_make(0.0004, 0, 0)},
                                {ff_vec3_zero(), ff_vec3_make(0.1, 0, 0)}};
    ff_output_target(&s, &target, 0.0);
    ff_output_out out;
    for (int k = 0; k < 60; k++) {
        ff_output_confirm(&s, true, false);
        if (k == 0)
            s.velocity.v.x = 0.1;
        ff_output_step(&c, &s, k * c.cycle, &out);
        assert_true(out.braking == (k > 5));
        if (k <= 5)
            assert_near(out.to.T.p.x, 0.0004 * (k + 1), 1e-15);
    }
    assert_true(out.rests);
    assert_near(out.to.T.p.x, 0.0024 + 0.005, 1e-4);
    /* Asked to, or given what is not a target, it does so at once, however fresh the last target is */
    for (int kind = 0; kind < 3; kind++) {
        ff_output_reset(&s, ff_pose_identity());
        ff_output_target(&s, &target, 0.0);
        const ff_setpoint bad = {{ff_quat_identity(), ff_vec3_make(FF_NAN, 0, 0)}, ff_twist_zero()};
        if (kind == 1)
            ff_output_brake(&s);
        else if (kind == 2)
            assert_int_equal(ff_output_target(&s, &bad, 0.0), FF_INFO_HELD);
        ff_output_step(&c, &s, 0.0, &out);
        assert_int_equal(out.braking, kind > 0);
        assert_int_equal(out.to.T.p.x > 0.0, kind == 0);
    }
}

/* What is said of an answer's motion is that of the answers, also where the limits bound them: of a shift and
 * of a turn about one axis. */
static void test_the_twist_is_that_of_the_answers(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    const ff_vec3 turn = ff_vec3_make(0, 0, 0.4);
    const ff_setpoint target = {{ff_quat_exp(turn), ff_vec3_make(0.06, -0.08, 0)}, ff_twist_zero()};
    ff_pose before = s.pose;
    double fast = 0.0, quick = 0.0;
    for (int k = 0; k < 40; k++) {
        ff_output_out out;
        ff_output_confirm(&s, true, false);
        ff_output_target(&s, &target, k * c.cycle);
        ff_output_step(&c, &s, k * c.cycle, &out);
        const ff_vec3 v = ff_vec3_scale(1.0 / c.cycle, ff_vec3_sub(out.to.T.p, before.p)),
                      w = ff_vec3_scale(1.0 / c.cycle, turned(before.q, out.to.T.q));
        /* a difference is the mean of its cycle */
        assert_vec3_near(out.to.twist.v, v, 0.51 * c.acceleration * c.cycle);
        assert_vec3_near(out.to.twist.w, w, 0.51 * c.angular_acceleration * c.cycle);
        fast = fmax(fast, ff_vec3_norm(v));
        quick = fmax(quick, ff_vec3_norm(w));
        before = out.to.T;
    }
    assert_true(fast > 0.5 && quick > 1.0);
}

/* A robot that asks between two targets gets what lies between; earlier than both, the earlier one. */
static void test_asked_earlier(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    const ff_setpoint a = {ff_pose_identity(), ff_twist_zero()},
                      b = {{ff_quat_identity(), ff_vec3_make(4e-5, 0, 0)}, ff_twist_zero()};
    ff_output_target(&s, &a, 1.0);
    ff_output_target(&s, &b, 1.004);
    ff_output_out out;
    const double at[] = {1.003, 1.001, 0.99}, x[] = {3e-5, 1e-5, 0.0};
    for (int n = 0; n < 3; n++) {
        ff_output_step(&c, &s, at[n], &out);
        assert_near(out.to.T.p.x, x[n], 1e-12);
    }
    const ff_setpoint other = {{ff_quat_identity(), ff_vec3_make(2e-5, 0, 0)}, ff_twist_zero()};
    ff_output_target(&s, &other, 1.004); /* again for the same time: in its place */
    ff_output_step(&c, &s, 1.003, &out);
    assert_near(out.to.T.p.x, 0.75 * 2e-5, 1e-12);
    /* for an earlier time: a new beginning, carried back as it moves, a cycle at most */
    const ff_setpoint moves = {a.T, {ff_vec3_make(0, 0, 1e-3), ff_vec3_make(0.005, 0, 0)}};
    const double when[] = {0.899, 0.88, 0.903}, back[] = {-0.001, -0.004, 0.003};
    for (int n = 0; n < 3; n++) {
        ff_output_reset(&s, ff_pose_identity());
        ff_output_target(&s, &b, 1.004);
        ff_output_target(&s, &moves, 0.9);
        ff_output_step(&c, &s, when[n], &out);
        assert_near(out.to.T.p.x, 0.005 * back[n], 1e-12);
        assert_near(2.0 * out.to.T.q.z, 1e-3 * back[n], 1e-12);
    }
    for (int far = 0; far < 2; far++) { /* further apart than a cycle and a half: not between them */
        ff_output_reset(&s, ff_pose_identity());
        ff_output_target(&s, &a, 1.0);
        const double later = far ? 1.00601 : 1.00599;
        ff_output_target(&s, &b, later);
        ff_output_step(&c, &s, 1.003, &out);
        assert_near(out.to.T.p.x, far ? 4e-5 : 4e-5 * 0.003 / 0.00599, 1e-12);
    }
}

/* NaN and infinity in every number that is given: never in what is sent, never a step beyond the limits. */
static void test_not_finite(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
        for (size_t field = 0; field <= sizeof(ff_setpoint) / sizeof(double); field++) {
            ff_output_state s;
            ff_output_reset(&s, ff_pose_identity());
            robot r = {.at = ff_pose_identity()};
            worst kept = {0};
            for (int k = 0; k < 100; k++) {
                ff_setpoint target = {{ff_quat_identity(), ff_vec3_make(1e-5 * k * k, 0, 0)},
                                      {ff_vec3_zero(), ff_vec3_make(5e-3 * k, 0, 0)}};
                double t = k * c.cycle;
                ff_output_out out;
                const bool spoiled = k >= 40 && k < 60;
                if (k)
                    ff_output_confirm(&s, true, false);
                if (spoiled && field < sizeof(ff_setpoint) / sizeof(double))
                    memcpy((char *)&target + field * sizeof(double), &bad[b], sizeof(double));
                const ff_status status = ff_output_target(&s, &target, spoiled && field == 13 ? bad[b] : t);
                if (spoiled && field < 13)
                    assert_int_equal(status, FF_INFO_HELD);
                ff_output_step(&c, &s, t, &out);
                ff_output_wire(&c, &s, (ff_pose){out.to.T.q, ff_vec3_make(NAN, 0, 0)});
                assert_true(ff_pose_finite(out.to.T) && ff_twist_finite(out.to.twist));
                assert_true(isfinite(out.lag) && isfinite(out.lag_angle));
                step(&c, &r, s.sent, true, &kept);
            }
            assert_kept(&kept, "not finite");
            ff_output_out out;
            ff_output_step(&c, &s, bad[b], &out); /* a time that is none */
            assert_true(ff_pose_finite(out.to.T));
        }
}

static void test_no_limits_is_the_target(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    c.velocity = c.acceleration = c.jerk = FF_INF;
    c.angular_velocity = c.angular_acceleration = c.angular_jerk = FF_INF;
    assert_int_equal(ff_output_validate(&c), FF_OK);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    for (int k = 0; k < 100; k++) {
        const ff_setpoint target = {test_random_pose(&rng, 3.0), ff_twist_zero()};
        ff_output_out out;
        ff_output_confirm(&s, true, false);
        ff_output_target(&s, &target, k);
        ff_output_step(&c, &s, k, &out);
        assert_memory_equal(&out.to, &target, sizeof target);
    }
}

static void test_validate(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    assert_int_equal(ff_output_validate(&c), FF_OK);
    for (size_t field = 0; field < offsetof(ff_output_config, boxed) / sizeof(double); field++)
        for (int n = 0; n < 3; n++) {
            ff_output_config wrong = c;
            const double bad[] = {-1.0, NAN, 0.0};
            memcpy((char *)&wrong + field * sizeof(double), &bad[n], sizeof(double));
            const bool may_be_zero = field >= 10 && n == 2;
            assert_int_equal(ff_output_validate(&wrong), may_be_zero ? FF_OK : FF_ERR_ARGUMENT);
        }
    for (int axis = 0; axis < 3; axis++)
        for (int n = 0; n < 5; n++)
            for (int boxed = 0; boxed < 2; boxed++) {
                ff_output_config wrong = c;
                wrong.boxed = boxed;
                wrong.box.a[axis] = (const double[]){-1e-9, NAN, 0.0, FF_INF, 0.1}[n];
                assert_int_equal(ff_output_validate(&wrong), boxed && n < 2 ? FF_ERR_ARGUMENT : FF_OK);
                wrong.box.a[axis] = 0.1;
                wrong.centre.a[axis] = (const double[]){NAN, FF_INF, -FF_INF, 0.0, -1.0}[n];
                assert_int_equal(ff_output_validate(&wrong), boxed && n < 3 ? FF_ERR_ARGUMENT : FF_OK);
            }
    for (size_t field = 0; field < offsetof(ff_output_config, boxed) / sizeof(double);
         field++) { /* no limit may be; a cycle must end */
        ff_output_config wide = c;
        memcpy((char *)&wide + field * sizeof(double), &(double){FF_INF}, sizeof(double));
        assert_int_equal(ff_output_validate(&wide), field == 0 || field >= 10 ? FF_ERR_ARGUMENT : FF_OK);
    }
}

/* Once it is slow, the way to any target accelerates no more than a stop. */
static void test_slow_keeps_the_acceleration_of_a_stop(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    ff_output_slow(&c);
    assert_near(c.acceleration, 1.0, 0.0);
    assert_near(c.angular_acceleration, 2.0, 0.0);
    assert_near(c.velocity, 2.0, 0.0);
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    const ff_setpoint target = {{ff_quat_identity(), ff_vec3_make(0.005, 0, 0)}, ff_twist_zero()};
    ff_vec3 v = ff_vec3_zero();
    double most = 0.0;
    ff_output_out out;
    for (int n = 0; n < 200; n++) {
        const double t = n * c.cycle;
        if (n)
            ff_output_confirm(&s, true, false);
        ff_output_target(&s, &target, t);
        const ff_vec3 before = s.pose.p;
        ff_output_step(&c, &s, t, &out);
        const ff_vec3 now = ff_vec3_scale(1.0 / c.cycle, ff_vec3_sub(out.to.T.p, before));
        most = fmax(most, ff_vec3_norm(ff_vec3_sub(now, v)) / c.cycle);
        v = now;
    }
    assert_true(most <= 1.0 + 1e-6 && most > 0.5);
    assert_vec3_near(out.to.T.p, target.T.p, 1e-12);
}

/* Slowed in the middle of a motion, at any acceleration: the jerk is kept, the acceleration comes back inside
 * the new limit as fast as the jerk allows, one cycle more, and stays there until the robot is at rest or at
 * its target. */
static void test_slowed_in_motion_keeps_the_jerk(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    double seen = 0.0;
    for (int n = 0; n < test_count(24, 200); n++) {
        ff_output_config c;
        ff_output_default(&c);
        const double T = c.cycle;
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        const ff_setpoint target = {{ff_quat_identity(), test_random_vec3(&rng, 0.5)}, ff_twist_zero()};
        const bool stops = n % 2, fast = n % 4 > 1; /* faster than the limit, too */
        const int from = 1 + (int)(50.0 * ff_rng_uniform(&rng));
        ff_vec3 v = ff_vec3_zero(), a = ff_vec3_zero(), p = ff_vec3_zero();
        double bound = c.acceleration;
        ff_output_out out;
        for (int k = 0; k < 1500; k++) {
            const double t = k * T;
            if (k)
                ff_output_confirm(&s, true, false);
            if (k == from) {
                bound = ff_vec3_norm(a);
                seen = fmax(seen, bound);
                ff_output_slow(&c);
                c.velocity = fast ? fmax(0.5 * ff_vec3_norm(v), 1e-3) : c.velocity;
            }
            if (stops && k >= from)
                ff_output_brake(&s);
            else
                ff_output_target(&s, &target, t);
            ff_output_step(&c, &s, t, &out);
            const ff_vec3 v1 = ff_vec3_scale(1.0 / T, ff_vec3_sub(out.to.T.p, p)),
                          a1 = ff_vec3_scale(1.0 / T, ff_vec3_sub(v1, v));
            assert_true(ff_vec3_norm(ff_vec3_sub(a1, a)) / T <= c.jerk * (1.0 + 1e-6));
            if (k >= from)
                bound = fmax(c.acceleration, bound - 0.5 * c.jerk * T);
            assert_true(ff_vec3_norm(a1) <= bound * (1.0 + 1e-6));
            p = out.to.T.p;
            v = v1;
            a = a1;
        }
        if (stops)
            assert_true(out.rests);
        else if (!fast)
            assert_vec3_near(p, target.T.p, 1e-12);
    }
    assert_true(seen > 5.0);
}

/* A robot without a limit of acceleration, asked to turn round after an answer that may or may not have been
 * taken: it stands until that is known, since from the other truth the step would be twice the velocity. */
static void test_a_doubtful_answer_is_not_turned_against(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    c.velocity = c.angular_velocity = 0.5;
    c.acceleration = c.jerk = c.angular_acceleration = c.angular_jerk = FF_INF;
    for (int turn = 0; turn < 2; turn++)
        for (int back = 0; back < 2; back++) {
            ff_output_state s;
            ff_output_out out;
            ff_output_reset(&s, ff_pose_identity());
            for (int k = 0; k < 3; k++) {
                const double d = 0.9 * c.velocity * c.cycle * (back && k ? -1.0 : 1.0), t = k * c.cycle;
                const ff_setpoint to = {{turn ? ff_quat_exp(ff_vec3_make(0, d, 0)) : ff_quat_identity(),
                                         turn ? ff_vec3_zero() : ff_vec3_make(0, d, 0)},
                                        ff_twist_zero()};
                if (k)
                    ff_output_confirm(&s, k != 1, true); /* the first is lost, the second taken */
                ff_output_target(&s, &to, t);
                ff_output_step(&c, &s, t, &out);
                const double made = turn ? turned(ff_quat_identity(), out.to.T.q).y : out.to.T.p.y;
                assert_near(made, back && k == 1 ? 0.0 : d, 1e-15);
                assert_int_equal(out.limited, back && k == 1);
            }
        }
}

/* What goes out on the wire is what counts: an answer that was changed on its way, by more than rounding, is
 * the pose and the differences that the next one begins from; one that was not keeps the plan to the bit. */
static void test_what_the_wire_changes_counts(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    c.resolution = c.angular_resolution = 1e-9;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    for (int kind = 0; kind < 8; kind++) {
        ff_output_state s;
        ff_output_out out;
        ff_output_reset(&s, test_random_pose(&rng, 1.0));
        const ff_pose from = s.pose;
        ff_output_wire(&c, &s, ff_pose_identity()); /* nothing was asked: nothing was sent */
        assert_memory_equal(&s.sent, &from, sizeof from);
        const ff_setpoint far = {{from.q, ff_vec3_add(from.p, ff_vec3_make(0.3, 0, 0.1))}, ff_twist_zero()};
        ff_output_target(&s, &far, 0.0);
        ff_output_step(&c, &s, 0.0, &out);
        const bool moved = kind & 1, turns = kind & 2, bad = kind & 4;
        const double more = 2.5e-9, less = 1.5e-9;
        const ff_output_state planned = s;
        ff_pose wire = {ff_quat_mul(out.to.T.q, ff_quat_exp(ff_vec3_make(turns ? more : less, 0, 0))),
                        ff_vec3_add(out.to.T.p, ff_vec3_make(0, moved ? more : less, 0))};
        if (bad)
            wire.p.z = FF_NAN;
        ff_output_wire(&c, &s, wire);
        const bool shifted = moved && !bad, rotated = turns && !bad;
        assert_memory_equal(&s.sent.p, shifted ? &wire.p : &planned.sent.p, sizeof wire.p);
        assert_memory_equal(&s.sent.q, rotated ? &wire.q : &planned.sent.q, sizeof wire.q);
        assert_vec3_near(s.sent_velocity.v, ff_vec3_scale(1.0 / c.cycle, ff_vec3_sub(s.sent.p, from.p)),
                         1e-12);
        assert_vec3_near(s.sent_velocity.w, ff_vec3_scale(1.0 / c.cycle, turned(from.q, s.sent.q)), 1e-12);
        assert_vec3_near(s.sent_acceleration.v, ff_vec3_scale(1.0 / c.cycle, s.sent_velocity.v), 1e-9);
        assert_int_equal(s.course[0].exact, planned.course[0].exact && !shifted);
        assert_int_equal(s.course[1].exact, planned.course[1].exact && !rotated);
    }
}

/* Limits of any size, alone or together: what is sent is finite and keeps those that can be distinguished
 * from rounding. */
static void test_extreme_limits_stay_finite(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 12);
    for (int n = 0; n < test_count(300, 20000); n++) {
        static const double sizes[] = {1e-300, 1e-12, 1e-3, 1.0, 1e3, 1e12, 1e300, INFINITY};
        ff_output_config c;
        ff_output_default(&c);
        double *const limit[] = {&c.velocity,
                                 &c.acceleration,
                                 &c.jerk,
                                 &c.angular_velocity,
                                 &c.angular_acceleration,
                                 &c.angular_jerk,
                                 &c.stop_acceleration,
                                 &c.stop_angular_acceleration};
        for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
            *limit[i] = sizes[(int)ff_rng_range(&rng, 0, 8)];
        c.boxed = n % 3 == 0;
        c.box = ff_vec3_make(0.1, 0.1, FF_INF);
        assert_int_equal(ff_output_validate(&c), FF_OK);
        ff_setpoint target = {ff_pose_identity(), ff_twist_zero()};
        ff_output_state s;
        ff_output_reset(&s, target.T);
        for (int k = 0; k < 40; k++) {
            const double t = k * c.cycle;
            ff_output_out out;
            if (k)
                ff_output_confirm(&s, k % 13 != 5, k % 13 == 5);
            if (k % 8 == 0) {
                target.T = test_random_pose(&rng, k % 16 ? 0.5 : 1e5);
                target.twist = (ff_twist){test_random_vec3(&rng, 1.0), test_random_vec3(&rng, 1.0)};
            }
            if (k < 30)
                ff_output_target(&s, &target, t);
            const ff_pose from = s.pose;
            ff_output_step(&c, &s, t, &out);
            assert_true(ff_pose_finite(out.to.T) && ff_twist_finite(out.to.twist) && isfinite(out.lag));
            const double most = isfinite(c.velocity) ? c.velocity * c.cycle * (1.0 + 1e-6) + 1e-10 : FF_INF;
            assert_true(ff_vec3_norm(ff_vec3_sub(out.to.T.p, from.p)) <= most);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_counts_once),
        cmocka_unit_test(test_a_doubt_stops_the_translation_alone),
        cmocka_unit_test(test_random_lives),
        cmocka_unit_test(test_at_the_limit_for_long),
        cmocka_unit_test(test_inside_the_limits_to_the_bit),
        cmocka_unit_test(test_at_a_limit_to_the_bit),
        cmocka_unit_test(test_what_was_not_taken_is_planned_anew),
        cmocka_unit_test(test_where_a_stop_ends_and_turns),
        cmocka_unit_test(test_brakes_by_itself),
        cmocka_unit_test(test_the_twist_is_that_of_the_answers),
        cmocka_unit_test(test_asked_earlier),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_no_limits_is_the_target),
        cmocka_unit_test(test_validate),
        cmocka_unit_test(test_slow_keeps_the_acceleration_of_a_stop),
        cmocka_unit_test(test_slowed_in_motion_keeps_the_jerk),
        cmocka_unit_test(test_a_doubtful_answer_is_not_turned_against),
        cmocka_unit_test(test_what_the_wire_changes_counts),
        cmocka_unit_test(test_extreme_limits_stay_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
