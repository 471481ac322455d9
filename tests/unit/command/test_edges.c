/* Limiter, arm and axes at their limits: stops of every order in closed form, every value that is not finite,
 * ranges from both sides. */
#include "support.h"

#include "freefloat/output.h"

static ff_rng rng;

/* First order stands at once, second brakes with A, third with J and A: distance and time in closed form, at
 * any instant. */
static void test_stops_of_every_order(void **unused) {
    (void)unused;
    for (int n = 0; n < 200; n++) {
        const int order = 1 + n % 3;
        const double A = ff_rng_range(&rng, 0.5, 3), J = ff_rng_range(&rng, 5, 30),
                     v = ff_rng_range(&rng, -1, 1), x = ff_rng_range(&rng, -2, 2),
                     t = ff_rng_range(&rng, 0, 2);
        const ff_limiter_limits limits = {2.0, order > 1 ? A : FF_INF, order > 2 ? J : FF_INF};
        ff_limiter_axis s = {x, v, 0.0};
        const ff_status status = ff_limiter_stop_axis(&limits, &s, t);
        /* braking by hand in small steps of exact pieces */
        double duration, path, speed;
        const double w = fabs(v);
        if (order == 1) {
            duration = path = speed = 0.0;
        } else if (order == 2) {
            duration = w / A;
            const double k = fmin(t, duration);
            speed = w - A * k;
            path = w * k - 0.5 * A * k * k;
        } else {
            /* up to a = min(A, sqrt(J w)), hold, down */
            const double peak = fmin(A, sqrt(J * w)), ramp = peak / J, hold = w / peak - ramp;
            duration = 2.0 * ramp + fmax(hold, 0.0);
            double k = fmin(t, duration), p = 0.0, u = w, a = 0.0;
            const double part[3] = {ramp, fmax(hold, 0.0), ramp}, jerk[3] = {-J, 0.0, J};
            for (int i = 0; i < 3 && k > 0.0; i++) {
                const double h = fmin(k, part[i]);
                p += u * h + 0.5 * a * h * h + jerk[i] * h * h * h / 6.0;
                u += a * h + 0.5 * jerk[i] * h * h;
                a += jerk[i] * h;
                k -= h;
            }
            path = p;
            speed = u;
        }
        if (fabs(t - duration) < 1e-9)
            continue;
        assert_int_equal(status, t >= duration ? FF_OK : FF_INFO_LIMITED);
        assert_near(s.position, x + copysign(path, v), 1e-12);
        assert_near(s.velocity, t >= duration ? 0.0 : copysign(speed, v), 1e-12);
        if (order < 3 || t >= duration)
            assert_near(s.acceleration, 0.0, 0.0);
    }
}

/* The path to rest, of motions that are made backwards from their end: the acceleration falls to -p at full
 * jerk, is held there if p is all there is, and is taken back. Any state on the first ramp is a start whose
 * fastest stop is known. */
static void test_stop_path_of_extremal_motions(void **unused) {
    (void)unused;
    for (int n = 0; n < 4000; n++) {
        const double A = exp(ff_rng_range(&rng, -3, 3)), J = exp(ff_rng_range(&rng, -4, 9)),
                     side = n % 2 ? 1.0 : -1.0;
        const bool full = n % 3 == 0, unlimited = n % 7 == 1 && !full;
        const double p = full ? A : A * ff_rng_uniform(&rng),
                     hold = full ? exp(ff_rng_range(&rng, -5, 2)) : 0.0, a0 = ff_rng_range(&rng, -p, A),
                     ramp = (p + a0) / J, last = p / J;
        /* velocities at the begin of the last ramp, of the hold, of the first ramp, and the paths between */
        const double u2 = p * last / 2, u1 = u2 + p * hold, u0 = u1 - (a0 - p) / 2 * ramp;
        const double x =
            p * last * last / 6 + (u1 + u2) / 2 * hold + ramp * (u0 + ramp * (a0 / 2 - ramp * J / 6));
        const ff_limiter_limits limits = {1e-3, unlimited ? FF_INF : A, J};
        const double size = fabs(u0) * ramp + (fabs(a0) + p) * ramp * ramp + fabs(x);
        assert_near(ff_limiter_stop_path(&limits, side * u0, side * a0), side * x, 1e-13 * size);
        /* first to no acceleration, then the stop from there: the same for one that still speeds up */
        if (a0 > 0 && !unlimited) {
            const double t1 = a0 / J, v1 = u0 + a0 * t1 / 2, x1 = u0 * t1 + a0 * t1 * t1 / 3,
                         x2 = v1 * J >= A * A ? v1 / 2 * (v1 / A + A / J) : v1 * sqrt(v1 / J);
            assert_near(ff_limiter_stop_path(&limits, u0, a0), x1 + x2, 1e-13 * size);
        }
        /* an acceleration beyond its limit comes back to it first */
        if (a0 >= p && !unlimited) {
            const double more = A * ff_rng_range(&rng, 0, 2), t0 = more / J, v = u0 - t0 * (a0 + more / 2);
            const ff_limiter_limits less = {1.0, a0, J};
            assert_near(ff_limiter_stop_path(&less, v, a0 + more),
                        x + t0 * (v + t0 * ((a0 + more) / 2 - t0 * J / 6)),
                        1e-13 * (size + t0 * (fabs(v) + (a0 + more) * t0)));
        }
        const ff_limiter_limits second = {1.0, A, FF_INF}, none = {1.0, FF_INF, FF_INF};
        assert_near(ff_limiter_stop_path(&second, side * u0, FF_NAN), side * u0 * fabs(u0) / 2 / A,
                    1e-14 * u0 * u0 / A);
        assert_near(ff_limiter_stop_path(&none, side * u0, FF_NAN), 0.0, 0.0);
    }
    for (int k = 0; k < 5; k++)
        for (int b = 0; b < 3; b++) {
            double x[] = {1, 1, 1, 0.1, 0.2};
            x[k] = k < 3 ? (const double[]){0, -1, FF_NAN}[b] : (const double[]){FF_NAN, FF_INF, -FF_INF}[b];
            assert_true(isnan(ff_limiter_stop_path(&(ff_limiter_limits){x[0], x[1], x[2]}, x[3], x[4])));
        }
}

static void test_limiter_refuses(void **unused) {
    (void)unused;
    const ff_limiter_limits good = {1, 1, 1};
    const double bad[] = {FF_NAN, FF_INF, -FF_INF};
    for (int third = 0; third < 2; third++)
        for (int b = 0; b < 3; b++)
            for (int k = 0; k < 5; k++) {
                const ff_limiter_limits limits = {1, 1, third ? 1 : FF_INF};
                ff_limiter_axis s = {0.1, 0.2, 0.3};
                ff_limiter_target to = {0.4, 0.5};
                double *at[] = {&s.position, &s.velocity, &s.acceleration, &to.position, &to.velocity};
                *at[k] = bad[b];
                const ff_limiter_axis before = s;
                ff_limiter_plan plan;
                memset(&plan, 0xA5, sizeof plan);
                ff_limiter_plan kept = plan;
                const ff_status expect = k == 2 && !third ? FF_OK : FF_ERR_NOT_FINITE;
                assert_int_equal(ff_limiter_plan_axis(&limits, &s, &to, &plan), expect);
                if (expect)
                    assert_memory_equal(&plan, &kept, sizeof plan);
                if (expect) {
                    assert_int_equal(ff_limiter_step_axis(&limits, &s, &to, 0.01), expect);
                    assert_memory_equal(&s, &before, sizeof s);
                }
                if (k < 3) {
                    const ff_status stop = ff_limiter_stop_axis(&limits, &s, 0.01);
                    assert_true(expect ? stop == FF_ERR_NOT_FINITE : stop >= 0);
                }
            }
    const double dt[] = {-1e-9, FF_NAN, FF_INF};
    for (int i = 0; i < 3; i++) {
        ff_limiter_axis s = {0.1, 0.2, 0.3};
        const ff_limiter_axis before = s;
        const ff_limiter_target to = {0.4, 0.5};
        assert_int_equal(ff_limiter_step_axis(&good, &s, &to, dt[i]), FF_ERR_ARGUMENT);
        assert_int_equal(ff_limiter_stop_axis(&good, &s, dt[i]), FF_ERR_ARGUMENT);
        assert_memory_equal(&s, &before, sizeof s);
    }
    for (int k = 0; k < 3; k++)
        for (int b = 0; b < 3; b++) {
            const double wrong[] = {0.0, -1.0, FF_NAN};
            ff_limiter_limits l = good;
            double *at[] = {&l.velocity, &l.acceleration, &l.jerk};
            *at[k] = wrong[b];
            ff_limiter_axis s = {0.1, 0.2, 0.3};
            const ff_limiter_target to = {0.4, 0.5};
            assert_int_equal(ff_limiter_validate_limits(&l), FF_ERR_ARGUMENT);
            assert_int_equal(ff_limiter_step_axis(&l, &s, &to, 0.01), FF_ERR_ARGUMENT);
            assert_int_equal(ff_limiter_stop_axis(&l, &s, 0.01), FF_ERR_ARGUMENT);
        }
    for (int k = 0; k < 6; k++) {
        ff_limiter_config c;
        ff_limiter_default(&c);
        assert_int_equal(ff_limiter_validate(&c), FF_OK);
        double *at[] = {&c.velocity,         &c.acceleration,         &c.jerk,
                        &c.angular_velocity, &c.angular_acceleration, &c.angular_jerk};
        assert_true(isinf(*at[k]));
        *at[k] = k % 2 ? 0.0 : FF_NAN;
        assert_int_equal(ff_limiter_validate(&c), FF_ERR_ARGUMENT);
    }
}

/* All six axes: a pose or velocity that is not finite, in state or target, changes nothing. */
static void test_pose_limiter_refuses(void **unused) {
    (void)unused;
    const ff_limiter_config c = {1, 2, 20, 1, 2, 20};
    for (int k = 0; k < 26; k++) {
        ff_limiter_state s;
        ff_limiter_reset(&s, test_random_pose(&rng, 1),
                         (ff_twist){test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)});
        ff_limiter_in in = {test_random_pose(&rng, 1),
                            {test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)}};
        double *at[] = {&s.pose.q.w,      &s.pose.q.x,      &s.pose.q.y,      &s.pose.q.z,
                        &s.pose.p.x,      &s.pose.p.y,      &s.pose.p.z,      &s.velocity.w.x,
                        &s.velocity.w.y,  &s.velocity.w.z,  &s.velocity.v.x,  &s.velocity.v.y,
                        &s.velocity.v.z,  &in.pose.q.w,     &in.pose.q.x,     &in.pose.q.y,
                        &in.pose.q.z,     &in.pose.p.x,     &in.pose.p.y,     &in.pose.p.z,
                        &in.velocity.w.x, &in.velocity.w.y, &in.velocity.w.z, &in.velocity.v.x,
                        &in.velocity.v.y, &in.velocity.v.z};
        *at[k] = k % 3 ? FF_NAN : FF_INF;
        const ff_limiter_state before = s;
        assert_int_equal(ff_limiter_step(&c, &s, &in, 0.004), FF_ERR_NOT_FINITE);
        assert_memory_equal(&s, &before, sizeof s);
    }
    ff_limiter_state s;
    ff_limiter_reset(&s, ff_pose_identity(), ff_twist_zero());
    const ff_limiter_in in = {ff_pose_identity(), ff_twist_zero()};
    const double dt[] = {-1e-9, FF_NAN, FF_INF};
    for (int i = 0; i < 3; i++)
        assert_int_equal(ff_limiter_step(&c, &s, &in, dt[i]), FF_ERR_ARGUMENT);
    assert_int_equal(ff_limiter_step(&c, &s, &in, 0.0), FF_OK);
}

static ff_arm_config arm_of(ff_arm_rail_rule rule) {
    ff_arm_config c;
    assert_int_equal(ff_arm_default(FF_ARM_KR16, &c), FF_OK);
    c.rail.rule = rule;
    if (rule != FF_ARM_RAIL_NONE) {
        c.rail.axis = ff_vec3_make(0, 1, 0);
        c.rail.lower = -2.0;
        c.rail.upper = 3.0;
        c.rail.speed = 1.0;
        c.rail.standoff = 0.2;
    }
    return c;
}

static void test_arm_refuses(void **unused) {
    (void)unused;
    for (int k = 0; k < 22; k++) {
        ff_arm_config c = arm_of(FF_ARM_RAIL_NONE);
        assert_int_equal(ff_arm_validate(&c), FF_OK);
        double *at[] = {&c.d1,       &c.a1,       &c.a2,       &c.d4,       &c.a3,       &c.d6,
                        &c.base.q.w, &c.base.p.x, &c.tool.q.z, &c.tool.p.y, &c.lower[0], &c.lower[1],
                        &c.lower[2], &c.lower[3], &c.lower[4], &c.lower[5], &c.upper[0], &c.upper[1],
                        &c.upper[2], &c.upper[3], &c.upper[4], &c.upper[5]};
        *at[k] = k % 2 ? FF_NAN : FF_INF;
        assert_int_equal(ff_arm_validate(&c), FF_ERR_NOT_FINITE);
    }
    for (int k = 0; k < 20; k++) {
        ff_arm_config c = arm_of(FF_ARM_RAIL_NONE);
        if (k < 6)
            c.speed[k] = k % 2 ? 0.0 : FF_NAN;
        else if (k < 12)
            c.lower[k - 6] = c.upper[k - 6];
        else if (k == 12)
            c.d1 = -1e-9;
        else if (k == 13)
            c.a1 = -1e-9;
        else if (k == 14)
            c.d6 = -1e-9;
        else if (k == 15)
            c.a2 = 0.0;
        else if (k == 16)
            c.d4 = c.a3 = 0.0;
        else if (k == 17)
            c.base.q.w += 1e-5;
        else if (k == 18)
            c.tool.q.w += 1e-5;
        else
            c.rail.rule = (ff_arm_rail_rule)99;
        assert_int_equal(ff_arm_validate(&c), FF_ERR_ARGUMENT);
    }
    for (int rule = FF_ARM_RAIL_GIVEN; rule <= FF_ARM_RAIL_FOLLOW; rule++)
        for (int k = 0; k < 10; k++) {
            ff_arm_config c = arm_of((ff_arm_rail_rule)rule);
            assert_int_equal(ff_arm_validate(&c), FF_OK);
            double *at[] = {&c.rail.axis.x, &c.rail.axis.y, &c.rail.axis.z,
                            &c.rail.lower,  &c.rail.upper,  &c.rail.standoff};
            if (k < 6)
                *at[k] = k % 2 ? FF_NAN : FF_INF;
            else if (k == 6)
                c.rail.axis = ff_vec3_zero();
            else if (k == 7)
                c.rail.lower = c.rail.upper;
            else
                c.rail.speed = k == 8 ? 0.0 : FF_NAN;
            assert_int_equal(ff_arm_validate(&c), k < 6 ? FF_ERR_NOT_FINITE : FF_ERR_ARGUMENT);
        }
}

/* Which axis is outside: one at a time, from both sides, the rail as the seventh. */
static void test_axes_outside_are_named(void **unused) {
    (void)unused;
    for (int rule = FF_ARM_RAIL_NONE; rule <= FF_ARM_RAIL_FOLLOW; rule++) {
        const ff_arm_config c = arm_of((ff_arm_rail_rule)rule);
        ff_arm_model m;
        assert_int_equal(ff_arm_create(&c, &m), FF_OK);
        ff_arm_joints middle = {.rail = 0.5};
        for (int i = 0; i < 6; i++)
            middle.a[i] = 0.5 * (c.lower[i] + c.upper[i]);
        assert_int_equal(ff_arm_outside(&m, &middle), 0);
        for (int i = 0; i < 6; i++)
            for (int side = 0; side < 3; side++) {
                ff_arm_joints q = middle;
                q.a[i] = side == 0 ? c.lower[i] - 1e-4 : side == 1 ? c.upper[i] + 1e-4 : FF_NAN;
                assert_int_equal(ff_arm_outside(&m, &q), i + 1);
                q.a[i] = side ? c.upper[i] : c.lower[i];
                assert_int_equal(ff_arm_outside(&m, &q), 0);
            }
        for (int side = 0; side < 3; side++) {
            ff_arm_joints q = middle;
            q.rail = side == 0 ? -2.001 : side == 1 ? 3.001 : FF_NAN;
            assert_int_equal(ff_arm_outside(&m, &q), rule == FF_ARM_RAIL_NONE ? 0 : 7);
            q.rail = side ? 3.0 : -2.0;
            assert_int_equal(ff_arm_outside(&m, &q), 0);
        }
        /* solutions are named by their axes: a rail that is given outside is said elsewhere */
        ff_arm_joints off = middle;
        off.rail = 3.5;
        off.a[4] = 0.5;
        const ff_pose reached = ff_arm_forward(&m, &off);
        ff_arm_solution found[8];
        int count = 0;
        assert_int_equal(ff_arm_inverse_all(&m, &reached, 3.5, &off, found, &count, NULL), FF_OK);
        for (int n = 0; n < count; n++) {
            ff_arm_joints q = found[n].joints;
            q.rail = 0.5;
            assert_int_equal(found[n].outside, ff_arm_outside(&m, &q));
        }
        /* along the rail: where the wrist is, zero without one */
        const ff_pose T = ff_arm_forward(&m, &middle);
        ff_arm_joints moved = middle;
        moved.rail += 0.3;
        const ff_pose T2 = ff_arm_forward(&m, &moved);
        assert_near(ff_arm_along(&m, &T2) - ff_arm_along(&m, &T), rule == FF_ARM_RAIL_NONE ? 0.0 : 0.3,
                    1e-12);
        if (rule == FF_ARM_RAIL_NONE)
            assert_near(ff_arm_along(&m, &T), 0.0, 0.0);
    }
}

static void test_inverse_refuses_what_is_not_finite(void **unused) {
    (void)unused;
    const ff_arm_config c = arm_of(FF_ARM_RAIL_GIVEN);
    ff_arm_model m;
    assert_int_equal(ff_arm_create(&c, &m), FF_OK);
    ff_arm_joints q = {.a = {0.1, -1.2, 1.4, 0.2, 0.7, 0.3}, .rail = 0.5};
    const ff_pose good = ff_arm_forward(&m, &q);
    ff_arm_solution solutions[8];
    int count;
    ff_arm_info info;
    assert_int_equal(ff_arm_inverse_all(&m, &good, 0.5, &q, solutions, &count, &info), FF_OK);
    assert_true(count > 1 && info.branches == count);
    for (int i = 1; i < count; i++) /* in the order of their numbers, each one a solution */
        assert_true(solutions[i].branch > solutions[i - 1].branch);
    for (int i = 0; i < count; i++) {
        const ff_pose T = ff_arm_forward(&m, &solutions[i].joints);
        assert_vec3_near(T.p, good.p, 1e-9);
        assert_near(ff_quat_angle(T.q, good.q), 0.0, 1e-9);
        assert_int_equal(solutions[i].outside, ff_arm_outside(&m, &solutions[i].joints));
    }
    for (int k = 0; k < 15; k++) {
        ff_pose T = good;
        ff_arm_joints p = q;
        double rail = 0.5;
        double *at[] = {&T.q.w,  &T.q.x,  &T.q.y,  &T.q.z,  &T.p.x,  &T.p.y,  &T.p.z, &rail,
                        &p.a[0], &p.a[1], &p.a[2], &p.a[3], &p.a[4], &p.a[5], &p.rail};
        *at[k] = k % 2 ? FF_NAN : FF_INF;
        assert_int_equal(ff_arm_inverse_all(&m, &T, rail, &p, solutions, &count, NULL), FF_ERR_NOT_FINITE);
        assert_int_equal(count, 0);
    }
}

/* However many turns away the last angle was: the answer is the same pose, inside the range where it can be.
 */
static void test_turns_come_back_into_the_range(void **unused) {
    (void)unused;
    ff_arm_config c = arm_of(FF_ARM_RAIL_NONE);
    ff_arm_model m;
    assert_int_equal(ff_arm_create(&c, &m), FF_OK);
    const ff_arm_joints q = {.a = {0.1, -1.2, 1.4, 0.2, 0.7, 0.3}};
    const ff_pose T = ff_arm_forward(&m, &q);
    for (int axis = 3; axis < 6; axis += 2)
        for (int turns = -4; turns <= 4; turns++) {
            ff_arm_joints last = q;
            last.a[axis] += 2.0 * FF_PI * turns;
            ff_arm_solution solutions[8];
            int count, found = 0;
            assert_int_equal(ff_arm_inverse_all(&m, &T, 0.0, &last, solutions, &count, NULL), FF_OK);
            for (int i = 0; i < count; i++) {
                const ff_arm_joints *s = &solutions[i].joints;
                const ff_pose back = ff_arm_forward(&m, s);
                assert_near(ff_quat_angle(back.q, T.q), 0.0, 1e-9);
                assert_true(s->a[axis] >= c.lower[axis] - 1e-9 && s->a[axis] <= c.upper[axis] + 1e-9);
                found += fabs(remainder(s->a[axis] - q.a[axis], 2.0 * FF_PI)) < 1e-9;
                /* the one nearest to where it was, among those inside */
                const double other = s->a[axis] + copysign(2.0 * FF_PI, last.a[axis] - s->a[axis]);
                if (fabs(other - last.a[axis]) < fabs(s->a[axis] - last.a[axis]) - 1e-9)
                    assert_true(other < c.lower[axis] - 1e-9 || other > c.upper[axis] + 1e-9);
            }
            assert_true(found > 0);
        }
}

/* An arm that cannot follow comes to rest on a straight line in axis space, every axis within speed/0.25 s.
 */
static void test_axes_brake_together(void **state) {
    (void)state;
    ff_arm_config config;
    ff_arm_model arm;
    ff_arm_default(FF_ARM_KR120, &config);
    assert_int_equal(ff_arm_create(&config, &arm), FF_OK);
    const double T = 0.004;
    for (int n = 0; n < 100; n++) {
        ff_arm_joints at = {.a = {0.1, -1.6, 1.8, 0.2, 0.9, -0.3}}, rate = {0};
        for (int i = 0; i < 6; i++)
            rate.a[i] = ff_rng_range(&rng, -0.8, 0.8) * config.speed[i];
        ff_axes_state s;
        ff_axes_reset(&s, &at);
        s.rate = rate;
        const ff_pose far = {ff_quat_identity(), ff_vec3_make(9.0, 0, 0)};
        ff_arm_joints joints, first = at;
        ff_axes_out out;
        for (int k = 0; k < 200; k++) {
            const ff_arm_joints before = s.rate;
            ff_axes_step(&arm, T, &s, &far, &joints, &out);
            assert_int_equal(out.reason, k == 0 ? FF_AXES_REACH : FF_AXES_FOLLOW);
            for (int i = 0; i < 6; i++) {
                const double now = (joints.a[i] - s.at.a[i]) / T;
                assert_true(fabs(now - before.a[i]) / T <= config.speed[i] / FF_AXES_STOP * (1 + 1e-9));
            }
            ff_axes_confirm(&s, true, false);
            if (out.rests)
                break;
        }
        assert_true(out.rests);
        for (int i = 1; i < 6; i++) /* straight */
            assert_near((joints.a[i] - first.a[i]) * rate.a[0], (joints.a[0] - first.a[0]) * rate.a[i], 1e-9);
    }
}

static void test_axes_follow_and_lost_answers(void **state) {
    (void)state;
    ff_arm_config config;
    ff_arm_model arm;
    ff_arm_default(FF_ARM_KR120, &config);
    assert_int_equal(ff_arm_create(&config, &arm), FF_OK);
    const double T = 0.004;
    ff_arm_joints at = {.a = {0.1, -1.6, 1.8, 0.2, 0.9, -0.3}}, joints;
    ff_axes_state s;
    ff_axes_reset(&s, &at);
    ff_pose pose = ff_arm_forward(&arm, &at);
    ff_axes_out out;
    pose.p.x += 1e-4;
    ff_axes_step(&arm, T, &s, &pose, &joints, &out);
    assert_int_equal(out.reason, FF_AXES_FOLLOW);
    const ff_pose made = ff_arm_forward(&arm, &joints);
    assert_vec3_near(made.p, pose.p, 1e-9);
    for (int a = 0; a < 6; a++) /* each axis keeps its own speed */
        assert_near(s.sent_rate.a[a], (joints.a[a] - at.a[a]) / T, 1e-12);
    ff_axes_confirm(&s, false, true); /* lost: it stands where it stood */
    assert_memory_equal(&s.at, &at, sizeof at);
    assert_true(s.rate.a[1] == 0.0);
    ff_axes_step(&arm, T, &s, &pose, &joints, &out);
    ff_axes_confirm(&s, true, false);
    assert_memory_equal(&s.at, &joints, sizeof joints);
    assert_true(fabs(s.rate.a[1]) > 0.0);
    ff_axes_state back = s; /* or where it stood before */
    ff_axes_stand(&back, &at);
    assert_memory_equal(&back.at, &at, sizeof at);
    assert_memory_equal(&back.sent, &at, sizeof at);
    assert_true(back.rate.a[1] == 0.0 && !back.pending);
    /* too fast for an axis: said which, and not made */
    pose.p.x += 0.1;
    ff_axes_step(&arm, T, &s, &pose, &joints, &out);
    assert_int_equal(out.reason, FF_AXES_SPEED);
    assert_true(out.axis >= 1 && out.axis <= 6 && out.speed > out.limit);
    for (int a = 0; a < 6; a++) { /* and they brake together: the same share of each */
        const double share = (joints.a[a] - s.at.a[a]) / (T * s.rate.a[a]);
        assert_true(share >= 0.0 && share < 1.0);
        assert_near(share, (joints.a[1] - s.at.a[1]) / (T * s.rate.a[1]), 1e-9);
        assert_near(s.sent_rate.a[a], share * s.rate.a[a], 1e-12);
    }
}

/* A carriage brakes with the axes and within its own deceleration; what is held repeats the joints and ends a
 * brake; an answer that nobody sent, or a controller that held the robot, leaves nothing moving. */
static void test_axes_hold_and_brake_on_a_rail(void **unused) {
    (void)unused;
    const double T = 0.004;
    const ff_arm_config c = arm_of(FF_ARM_RAIL_FOLLOW);
    ff_arm_model m;
    assert_int_equal(ff_arm_create(&c, &m), FF_OK);
    const ff_arm_joints at = {.a = {0.1, -1.2, 1.4, 0.2, 0.7, 0.3}, .rail = 0.5};
    const ff_pose far = {ff_quat_identity(), ff_vec3_make(99.0, 0, 0)};
    { /* a carriage that follows keeps its own speed, so that a brake begins with it */
        ff_axes_state s;
        ff_arm_joints joints;
        ff_axes_out out;
        ff_axes_reset(&s, &at);
        ff_pose pose = ff_arm_forward(&m, &at);
        for (int k = 0; k < 3; k++) {
            pose.p.y += 1e-3;
            ff_axes_step(&m, T, &s, &pose, &joints, &out);
            assert_int_equal(out.reason, FF_AXES_FOLLOW);
            assert_near(s.sent_rate.rail, (joints.rail - s.at.rail) / T, 1e-12);
            ff_axes_confirm(&s, true, false);
        }
        assert_true(fabs(s.rate.rail) > 1e-3);
        /* an answer that was lost is not what is held: the joints that it has are */
        pose.p.y += 1e-3;
        ff_axes_step(&m, T, &s, &pose, &joints, &out);
        ff_axes_confirm(&s, false, true);
        ff_axes_hold(&s);
        assert_memory_equal(&s.sent, &s.at, sizeof s.at);
        assert_true(s.sent_rate.rail == 0.0 && s.pending && !s.braking);
    }
    for (int n = 0; n < 50; n++) {
        ff_axes_state s;
        ff_axes_reset(&s, &at);
        const double rail = ff_rng_range(&rng, -1, 1) * c.rail.speed,
                     axis = ff_rng_range(&rng, -0.2, 0.2) * c.speed[1];
        s.rate.rail = rail;
        s.rate.a[1] = axis;
        ff_arm_joints joints;
        ff_axes_out out = {0};
        int k = 0;
        for (; k < 400 && !out.rests; k++) {
            const double before = s.rate.rail;
            ff_axes_step(&m, T, &s, &far, &joints, &out);
            assert_true(fabs((joints.rail - s.at.rail) / T - before) / T <=
                        c.rail.speed / FF_AXES_STOP * (1 + 1e-9));
            ff_axes_confirm(&s, true, false);
        }
        assert_true(out.rests);
        /* the slower of the two decides, and a constant deceleration covers half of its velocity times its
         * time */
        const double time = FF_AXES_STOP * fmax(fabs(rail) / c.rail.speed, fabs(axis) / c.speed[1]);
        assert_near(joints.rail - at.rail, 0.5 * rail * time, fabs(rail) * T);
        assert_near((joints.rail - at.rail) * axis, (joints.a[1] - at.a[1]) * rail, 1e-12);
        assert_true(s.braking);
        ff_axes_hold(&s);
        assert_true(!s.braking && s.pending);
        assert_memory_equal(&s.sent, &s.at, sizeof s.at);
        for (int i = 0; i < 6; i++)
            assert_near(s.sent_rate.a[i], 0.0, 0.0);
    }
    for (int kind = 0; kind < 3; kind++) { /* not sent; taken, but held since; taken */
        ff_axes_state s;
        ff_axes_reset(&s, &at);
        s.rate.a[0] = 0.1;
        s.sent.a[0] = 0.2;
        s.sent_rate.a[0] = 0.3;
        s.pending = kind > 0;
        ff_axes_confirm(&s, true, kind == 1);
        assert_near(s.at.a[0], kind ? 0.2 : 0.1, 0.0);
        assert_near(s.rate.a[0], kind == 2 ? 0.3 : 0.0, 0.0);
        assert_false(s.pending);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 61);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stops_of_every_order),
        cmocka_unit_test(test_stop_path_of_extremal_motions),
        cmocka_unit_test(test_limiter_refuses),
        cmocka_unit_test(test_pose_limiter_refuses),
        cmocka_unit_test(test_arm_refuses),
        cmocka_unit_test(test_axes_outside_are_named),
        cmocka_unit_test(test_inverse_refuses_what_is_not_finite),
        cmocka_unit_test(test_turns_come_back_into_the_range),
        cmocka_unit_test(test_axes_brake_together),
        cmocka_unit_test(test_axes_follow_and_lost_answers),
        cmocka_unit_test(test_axes_hold_and_brake_on_a_rail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
