/* The limiter against closed forms, against motions built backwards from the target, and over random targets.
 */
#include <float.h>

#include "freefloat/command.h"
#include "support.h"

#define NONE (FF_INF)

static double log_range(ff_rng *rng, double low, double high) {
    return exp(ff_rng_range(rng, log(low), log(high)));
}

static ff_limiter_limits random_limits(ff_rng *rng) {
    ff_limiter_limits limits = {log_range(rng, 0.05, 5), log_range(rng, 0.1, 20), log_range(rng, 1, 500)};
    if (ff_rng_uniform(rng) < 0.15)
        limits.velocity = NONE;
    if (ff_rng_uniform(rng) < 0.15)
        limits.acceleration = NONE;
    return limits;
}

static double duration_of(ff_limiter_limits limits, ff_limiter_axis state, ff_limiter_target target) {
    ff_limiter_plan plan;
    assert_int_equal(ff_limiter_plan_axis(&limits, &state, &target, &plan), FF_OK);
    return plan.duration;
}

/* The plan must be continuous, end on the target, and, from a start inside the limits, stay inside. */
static void check_plan(const ff_limiter_limits *limits, const ff_limiter_axis *state,
                       const ff_limiter_target *target, const ff_limiter_plan *plan, bool inside) {
    const double vt = plan->target.velocity;
    double x = state->position - target->position, u = state->velocity - vt, a = state->acceleration;
    double sum = 0, size = fabs(x) + fabs(u) * plan->duration;
    const bool third = isfinite(limits->jerk);
    for (int i = 0; i < plan->count; i++) {
        const ff_limiter_segment *s = &plan->segment[i];
        const double u_size = fabs(u) + fabs(vt) + fabs(a) * plan->duration;
        assert_near(s->velocity, u, 1e-12 * (1 + u_size));
        if (third)
            assert_near(s->acceleration, a, 1e-11 * (1 + fabs(a)));
        a = s->acceleration;
        u = s->velocity;
        assert_true(fabs(s->jerk) <= limits->jerk);
        assert_true(s->duration > 0);
        const double t = s->duration;
        /* extremes of velocity in the segment: its ends, and where a = 0 */
        double at[3] = {0, t, s->jerk != 0 ? -a / s->jerk : 0};
        for (int k = 0; k < 3; k++)
            if (at[k] >= 0 && at[k] <= t) {
                const double v = vt + u + at[k] * (a + at[k] * s->jerk / 2);
                assert_true(!inside || fabs(v) <= limits->velocity * (1 + 1e-9));
            }
        assert_true(!inside || fabs(a) <= limits->acceleration * (1 + 1e-9));
        assert_true(!inside || fabs(a + t * s->jerk) <= limits->acceleration * (1 + 1e-9));
        x += t * (u + t * (a / 2 + t * s->jerk / 6));
        size += fabs(u) * t + fabs(a) * t * t;
        u += t * (a + t * s->jerk / 2);
        a += t * s->jerk;
        sum += t;
    }
    assert_near(sum, plan->duration, 1e-12 * (1 + plan->duration));
    assert_near(x, 0, 1e-12 * (1 + size));
    assert_near(u, 0, 1e-11 * (1 + size));
    if (third)
        assert_near(a, 0, 1e-10 * (1 + size));
}

static void test_rest_to_rest_durations_are_the_closed_forms(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < 3000; i++) {
        const double D = log_range(&rng, 1e-4, 20), V = log_range(&rng, 0.05, 5),
                     A = log_range(&rng, 0.1, 20), J = log_range(&rng, 1, 500),
                     sign = ff_rng_uniform(&rng) < 0.5 ? -1 : 1;
        const double vt = ff_rng_range(&rng, -1, 1);
        const ff_limiter_axis rest = {0, 0, 0}, moving = {0, vt, 0};
        const ff_limiter_target goal = {sign * D, 0}, away = {sign * D, vt};
        /* second order */
        const double T2 = D >= V * V / A ? D / V + V / A : 2 * sqrt(D / A);
        assert_near(duration_of((ff_limiter_limits){V, A, NONE}, rest, goal), T2, 1e-12 * T2);
        assert_near(duration_of((ff_limiter_limits){NONE, A, NONE}, moving, away), 2 * sqrt(D / A),
                    1e-12 * T2);
        assert_near(duration_of((ff_limiter_limits){V, NONE, NONE}, rest, goal), D / V, 1e-12 * D / V);
        /* third order: ramp to a velocity v takes v/A + A/J, or 2 sqrt(v/J) when A is not reached; the ramp's
         * mean velocity is v/2 */
        const double ramp = V >= A * A / J ? V / A + A / J : 2 * sqrt(V / J);
        double T3;
        if (D >= V * ramp)
            T3 = 2 * ramp + (D - V * ramp) / V;
        else if (D >= 2 * A * A * A / (J * J)) /* v (v/A + A/J) = D */
            T3 = 2 * ((-A * A / J + sqrt(A * A * A * A / (J * J) + 4 * A * D)) / (2 * A) + A / J);
        else
            T3 = 4 * cbrt(D / (2 * J));
        assert_near(duration_of((ff_limiter_limits){V, A, J}, rest, goal), T3, 1e-12 * T3);
        assert_near(duration_of((ff_limiter_limits){NONE, NONE, J}, moving, away), 4 * cbrt(D / (2 * J)),
                    1e-12 * T3);
        /* from speed: no closed form here, but the mirror image takes as long */
        const ff_limiter_axis mirrored = {0, -vt, 0};
        const ff_limiter_target back = {-sign * D, 0}, forth = {sign * D, 0};
        const ff_limiter_limits all = {V + 1, A, J};
        assert_near(duration_of(all, mirrored, back), duration_of(all, moving, forth), 1e-12 * (1 + T3));
    }
}

static void test_braking_from_speed_is_the_closed_form(void **state) {
    (void)state;
    /* v = 1, A = 2, stop distance 0.25: target exactly there, beyond and before */
    const ff_limiter_limits second = {NONE, 2, NONE};
    const ff_limiter_axis fast = {0, 1, 0};
    assert_near(duration_of(second, fast, (ff_limiter_target){0.25, 0}), 0.5, 1e-15);
    /* before: stop after 0.5 s at 0.25, return 0.25 in 2 sqrt(.25/2) */
    assert_near(duration_of(second, fast, (ff_limiter_target){0, 0}), 0.5 + 2 * sqrt(0.125), 1e-14);
    /* jerk: stop from v = 1 with J = 16, A = 2: 1/2 + 2/16 s, mean velocity 1/2 */
    const ff_limiter_limits third = {NONE, 2, 16};
    const double T = 0.625;
    assert_near(duration_of(third, fast, (ff_limiter_target){0.5 * T, 0}), T, 1e-14);
    /* already braking at -2 and v = A^2/2J = 0.125: only the last ramp is left, 2/16 s, A^3/(6 J^2) m */
    const ff_limiter_axis last = {0, 0.125, -2};
    assert_near(duration_of(third, last, (ff_limiter_target){8.0 / (6 * 256), 0}), 0.125,
                1e-6); /* the rounding of x, to the power 1/3: a correction of 4 (e/2J)^(1/3) */
}

/* Build a motion backwards from the target with random segments inside the limits. It is a proof that the
 * target can be met in its duration from where it ends, so the plan may not be slower. */
static void test_plan_is_never_slower_than_a_motion_that_exists(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    int built = 0;
    const int cases = test_count(20000, 500000);
    for (int i = 0; i < cases; i++) {
        const ff_limiter_limits limits = random_limits(&rng);
        const double J = limits.jerk, A = limits.acceleration, V = limits.velocity;
        const double vt = isfinite(V) ? ff_rng_range(&rng, -V, V) : ff_rng_range(&rng, -2, 2);
        double x = 0, u = 0, a = 0, T = 0;
        const int pieces = 1 + (int)(ff_rng_uniform(&rng) * 6);
        const double natural = isfinite(A) ? A / J : 0.1;
        bool inside = true;
        for (int k = 0; k < pieces && inside; k++) {
            const double pick = ff_rng_uniform(&rng);
            double j = pick < 0.4 ? J : pick < 0.8 ? -J : 0, t = natural * log_range(&rng, 0.05, 3);
            if (ff_rng_uniform(&rng) < 0.1)
                j *= ff_rng_uniform(&rng);
            if (j != 0 && isfinite(A)) { /* backwards: a(-t) = a - j t stays inside [-A, A] */
                const double room = j > 0 ? (a + A) / j : (a - A) / j;
                t = fmin(t, fmax(room, 0));
            }
            /* extreme of u backwards: u - a t + j t^2/2, at the end and where a - j t = 0 */
            const double mid = j != 0 ? a / j : -1;
            const double u1 = u - a * t + j * t * t / 2;
            inside = fabs(vt + u1) <= V;
            if (mid > 0 && mid < t)
                inside = inside && fabs(vt + u - a * mid + j * mid * mid / 2) <= V;
            if (!inside)
                break;
            x += -u * t + a * t * t / 2 - j * t * t * t / 6;
            u = u1;
            a -= j * t;
            T += t;
        }
        if (T == 0)
            continue;
        built++;
        const ff_limiter_axis start = {x, vt + u, a};
        const ff_limiter_target target = {0, vt};
        ff_limiter_plan plan;
        assert_int_equal(ff_limiter_plan_axis(&limits, &start, &target, &plan), FF_OK);
        /* x is rounded, by e: correcting that may take 4 (e/2J)^(1/3) */
        const double e = 1e-16 * (fabs(x) + fabs(u) * T + fabs(a) * T * T + fabs(vt) * T);
        if (!(plan.duration <= T * (1 + 1e-9) + 4 * cbrt(e / J)))
            fail_msg("case %d: plan %.12g s, a motion of %.12g s exists; V %g A %g J %g vt %g x %g u %g a %g",
                     i, plan.duration, T, V, A, J, vt, x, u, a);
        check_plan(&limits, &start, &target, &plan, true);
    }
    assert_true(built > cases / 2);
}

/* The other side: extremal motions (each segment at a bound, in the order of the optimum) built backwards
 * have the optimal duration, so the plan may not be faster either. */
static void test_plan_reproduces_extremal_motions(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int i = 0; i < test_count(5000, 100000); i++) {
        const double A = log_range(&rng, 0.1, 20), J = log_range(&rng, 1, 500), tj = A / J;
        const double d = ff_rng_uniform(&rng) < 0.5 ? -1 : 1;
        /* backwards: ramp, hold at -A (only if the ramp is full), ramp, cruise at V (only if at the bound),
         * ... */
        const bool full = ff_rng_uniform(&rng) < 0.5, cruise = ff_rng_uniform(&rng) < 0.5;
        const double first = full ? tj : tj * ff_rng_range(&rng, 0.1, 1);
        const double hold = full ? tj * ff_rng_range(&rng, 0, 3) : 0;
        double time[6] = {first, hold, 0, 0, 0, 0}, jerk[6] = {J, 0, -J, 0, -J, 0};
        double V = NONE;
        const double peak = first * J, top = peak * (first + hold);
        if (ff_rng_uniform(&rng) < 0.3) { /* starts while the brake is being applied */
            time[2] = first * ff_rng_uniform(&rng);
        } else {
            time[2] = first;
            if (cruise) {
                V = top;
                time[3] = tj * ff_rng_range(&rng, 0, 5);
            }
            time[4] = first * ff_rng_uniform(&rng); /* starts while the speed-up ends */
        }
        double x = 0, u = 0, a = 0, T = 0;
        for (int k = 0; k < 6; k++) {
            const double t = time[k], j = jerk[k];
            x += -u * t + a * t * t / 2 - j * t * t * t / 6;
            u += -a * t + j * t * t / 2;
            a -= j * t;
            T += t;
        }
        const ff_limiter_axis start = {d * x, d * u, d * a};
        const double planned = duration_of((ff_limiter_limits){V, A, J}, start, (ff_limiter_target){0, 0});
        assert_near(planned, T, 1e-6 * T); /* cube root of the rounding of x, as above */
    }
}

static void test_random_targets_keep_the_limits(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int i = 0; i < test_count(300, 10000); i++) {
        ff_limiter_limits limits = random_limits(&rng);
        const bool second = ff_rng_uniform(&rng) < 0.3;
        if (second)
            limits.jerk = NONE;
        ff_limiter_axis axis = {0, 0, 0};
        ff_limiter_target target = {0, 0};
        const double dt = 0.004;
        for (int k = 0; k < 200; k++) {
            if (ff_rng_uniform(&rng) < 0.2) {
                target.position += 0.1 * ff_rng_normal(&rng);
                target.velocity = 0.5 * ff_rng_normal(&rng);
            }
            const ff_limiter_axis before = axis;
            const ff_status status = ff_limiter_step_axis(&limits, &axis, &target, dt);
            assert_true(status == FF_OK || status == FF_INFO_LIMITED);
            assert_true(fabs(axis.velocity) <= limits.velocity * (1 + 1e-9));
            assert_true(fabs(axis.acceleration) <= limits.acceleration * (1 + 1e-9));
            assert_true(fabs(axis.velocity - before.velocity) <=
                        limits.acceleration * dt * (1 + 1e-9) + 1e-15);
            assert_true(fabs(axis.acceleration - before.acceleration) <=
                        limits.jerk * dt * (1 + 1e-9) + 1e-12);
            assert_true(fabs(axis.position - before.position) <= limits.velocity * dt * (1 + 1e-9) + 1e-15);
            target.position += target.velocity * dt;
        }
    }
}

static void test_steps_of_any_size_give_the_same_motion(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (int i = 0; i < test_count(500, 10000); i++) {
        ff_limiter_limits limits = random_limits(&rng);
        if (ff_rng_uniform(&rng) < 0.3)
            limits.jerk = NONE;
        const double reach = isfinite(limits.velocity) ? limits.velocity : 1.0;
        const ff_limiter_axis start = {ff_rng_range(&rng, -1, 1), 0.5 * ff_rng_range(&rng, -reach, reach), 0};
        const double vt = 0.9 * ff_rng_range(&rng, -reach, reach);
        const ff_limiter_target target = {ff_rng_range(&rng, -1, 1), vt};
        ff_limiter_plan plan;
        assert_int_equal(ff_limiter_plan_axis(&limits, &start, &target, &plan), FF_OK);
        ff_limiter_axis axis = start;
        const int steps = 40;
        const double dt = plan.duration * 1.05 / steps;
        ff_status status = FF_OK;
        for (int k = 0; k < steps; k++) {
            const ff_limiter_target now = {target.position + vt * k * dt, vt};
            status = ff_limiter_step_axis(&limits, &axis, &now, dt);
            const ff_limiter_axis whole = ff_limiter_plan_at(&plan, (k + 1) * dt);
            const double size = fabs(start.position) + 1 + reach * plan.duration;
            assert_near(axis.position, whole.position, 1e-11 * size);
            assert_near(axis.velocity, whole.velocity, 1e-7 * size); /* root of the rounding near a switch */
        }
        assert_int_equal(status, FF_OK);
    }
}

static void test_moving_target_is_met_exactly_and_kept(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    const double dt = 0.004;
    for (int order = 1; order <= 3; order++)
        for (int i = 0; i < 50; i++) {
            const ff_limiter_limits limits = {1.0, order >= 2 ? 2.0 : NONE, order == 3 ? 40.0 : NONE};
            const double vt = ff_rng_range(&rng, -0.95, 0.95), p0 = ff_rng_range(&rng, -0.2, 0.2);
            ff_limiter_axis axis = {0, ff_rng_range(&rng, -1, 1), 0};
            int met = -1;
            for (int k = 0; k < 10000 && (met < 0 || k < met + 50); k++) {
                const ff_limiter_target target = {p0 + vt * (k * dt), vt};
                if (ff_limiter_step_axis(&limits, &axis, &target, dt) == FF_OK && met < 0)
                    met = k;
                if (met >= 0) {
                    assert_near(axis.position, target.position + vt * dt, 0);
                    assert_near(axis.velocity, vt, 0);
                    assert_near(axis.acceleration, 0, 0);
                }
            }
            assert_true(met >= 0);
        }
}

static void test_standstill_target_is_not_overshot(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    for (int i = 0; i < test_count(200, 10000); i++) {
        ff_limiter_limits limits = random_limits(&rng);
        if (i % 3 == 0)
            limits.jerk = NONE;
        const double goal = ff_rng_range(&rng, 0.01, 1), dt = log_range(&rng, 0.0005, 0.02);
        ff_limiter_axis axis = {0, 0, 0};
        const ff_limiter_target target = {goal, 0};
        double before = 0;
        int k = 0;
        for (; k < 200000; k++) {
            const ff_status status = ff_limiter_step_axis(&limits, &axis, &target, dt);
            /* k additions round by half an ulp each, and so does the plan; what is beyond the goal comes back
             */
            const double rounding = 0.5 * (k + 20) * DBL_EPSILON * goal;
            assert_true(axis.position <= goal + rounding);
            assert_true(axis.position >= before - rounding);
            before = axis.position;
            if (status == FF_OK)
                break;
        }
        assert_true(k < 200000);
        assert_near(axis.position, goal, 0);
    }
}

static void test_infinite_limits_follow_at_once(void **state) {
    (void)state;
    const ff_limiter_limits none = {NONE, NONE, NONE};
    ff_limiter_axis axis = {5, -3, 7};
    const ff_limiter_target target = {1, 2};
    assert_int_equal(ff_limiter_step_axis(&none, &axis, &target, 0.5), FF_OK);
    assert_near(axis.position, 2, 0);
    assert_near(axis.velocity, 2, 0);
    assert_near(axis.acceleration, 0, 0);
    ff_limiter_config config;
    ff_limiter_default(&config);
    assert_int_equal(ff_limiter_validate(&config), FF_OK);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    ff_limiter_state pose;
    ff_limiter_reset(&pose, ff_pose_identity(), ff_twist_zero());
    for (int i = 0; i < 100; i++) {
        const ff_limiter_in in = {test_random_pose(&rng, 2),
                                  {test_random_vec3(&rng, 2), test_random_vec3(&rng, 2)}};
        assert_int_equal(ff_limiter_step(&config, &pose, &in, 0.01), FF_OK);
        assert_vec3_near(pose.pose.p, ff_vec3_axpy(0.01, in.velocity.v, in.pose.p), 0);
        const ff_quat q = ff_quat_mul(in.pose.q, ff_quat_exp(ff_vec3_scale(0.01, in.velocity.w)));
        assert_near(ff_quat_angle(pose.pose.q, q), 0, 1e-15);
        assert_vec3_near(pose.velocity.w, in.velocity.w, 0);
    }
}

static void test_start_outside_the_limits_returns_at_full_rate(void **state) {
    (void)state;
    const double dt = 0.001;
    /* velocity 2 with a limit of 1: second order returns in (2 - 1)/A */
    const ff_limiter_limits second = {1, 4, NONE};
    for (int side = -1; side <= 1; side += 2) {
        ff_limiter_axis axis = {0, 2.0 * side, 0};
        const ff_limiter_target far = {100.0 * side, 0}, behind = {-100.0 * side, 0};
        for (int k = 1; k <= 300; k++) {
            ff_limiter_step_axis(&second, &axis, &far, dt);
            assert_near(axis.velocity, side * fmax(1.0, 2.0 - 4.0 * k * dt), 1e-12);
        }
        /* third order: acceleration beyond its limit falls at full jerk, both towards and away from the
         * target */
        const ff_limiter_limits third = {10, 4, 100};
        axis = (ff_limiter_axis){0, 0, 9.0 * side};
        ff_limiter_axis other = axis;
        for (int k = 1; k <= 50; k++) {
            ff_limiter_step_axis(&third, &axis, &far, dt);
            ff_limiter_step_axis(&third, &other, &behind, dt);
            assert_near(axis.acceleration, side * fmax(4.0, 9.0 - 100.0 * k * dt), 1e-9);
            assert_near(other.acceleration, side * (9.0 - 100.0 * k * dt), 1e-9);
        }
        /* third order, velocity: in the least time to (limit, 0): Delta/A + A/J */
        const ff_limiter_limits slow = {1, 4, 100};
        axis = (ff_limiter_axis){0, 2.0 * side, 0};
        double t = 0;
        while (fabs(axis.velocity) > 1 + 1e-12 && t < 1) {
            ff_limiter_step_axis(&slow, &axis, &far, dt);
            t += dt;
        }
        assert_near(t, 1.0 / 4 + 4.0 / 100, 1.5 * dt);
        for (int k = 0; k < 100; k++) {
            ff_limiter_step_axis(&slow, &axis, &far, dt);
            assert_near(axis.velocity, side, 1e-9);
        }
    }
    /* random violations: back inside after the time the derivatives need, and never out again */
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    for (int i = 0; i < test_count(120, 5000); i++) {
        const ff_limiter_limits l = {log_range(&rng, 0.1, 2), log_range(&rng, 0.5, 5),
                                     log_range(&rng, 5, 100)};
        ff_limiter_axis axis = {ff_rng_range(&rng, -1, 1), ff_rng_range(&rng, -3, 3) * l.velocity,
                                ff_rng_range(&rng, -3, 3) * l.acceleration};
        const ff_limiter_target target = {0, ff_rng_range(&rng, -0.5, 0.5) * l.velocity};
        ff_limiter_plan plan;
        assert_int_equal(ff_limiter_plan_axis(&l, &axis, &target, &plan), FF_OK);
        check_plan(&l, &axis, &target, &plan, false);
        const double t_a = fmax(0, fabs(axis.acceleration) - l.acceleration) / l.jerk;
        /* the worst: acceleration outwards until it is taken back, then the way back */
        const double v_z = fabs(axis.velocity) + axis.acceleration * axis.acceleration / (2 * l.jerk);
        const double t_v = fabs(axis.acceleration) / l.jerk + fmax(0, v_z - l.velocity) / l.acceleration +
                           2 * l.acceleration / l.jerk + 2 * sqrt(fmax(0, v_z - l.velocity) / l.jerk);
        ff_limiter_target now = target;
        for (double t = 0; t < t_v + 1; t += dt) {
            ff_limiter_step_axis(&l, &axis, &now, dt);
            now.position += now.velocity * dt;
            if (t > t_a)
                assert_true(fabs(axis.acceleration) <= l.acceleration * (1 + 1e-9));
            if (t > t_v)
                assert_true(fabs(axis.velocity) <= l.velocity * (1 + 1e-9));
        }
    }
}

static void test_target_beyond_the_velocity_limit_is_chased_at_the_limit(void **state) {
    (void)state;
    for (int order = 1; order <= 3; order++) {
        const ff_limiter_limits limits = {1.0, order >= 2 ? 4.0 : NONE, order == 3 ? 100.0 : NONE};
        ff_limiter_axis axis = {0, 0, 0};
        for (int k = 0; k < 1000; k++) {
            const ff_limiter_target target = {3.0 * k * 0.004, 3.0};
            assert_int_equal(ff_limiter_step_axis(&limits, &axis, &target, 0.004), FF_INFO_LIMITED);
            assert_true(axis.velocity <= 1 + 1e-12);
        }
        assert_near(axis.velocity, 1, 1e-12);
        assert_true(axis.position > 3.5);
    }
}

/* A pose that is met, but moves faster than the limit: it is not followed, and that is said, of the way as of
 * the turn. */
static void test_pose_faster_than_the_limit_is_not_reached(void **state) {
    (void)state;
    for (int turns = 0; turns < 2; turns++) {
        ff_limiter_config config;
        ff_limiter_default(&config);
        config.velocity = config.angular_velocity = 0.1;
        for (int fast = 0; fast < 2; fast++) {
            const double speed = fast ? 0.2 : 0.1;
            ff_limiter_in in = {ff_pose_identity(), ff_twist_zero()};
            *(turns ? &in.velocity.w.x : &in.velocity.v.x) = speed;
            ff_twist now = ff_twist_zero();
            *(turns ? &now.w.x : &now.v.x) = 0.1;
            ff_limiter_state s;
            ff_limiter_reset(&s, ff_pose_identity(), now);
            assert_int_equal(ff_limiter_step(&config, &s, &in, 0.004), fast ? FF_INFO_LIMITED : FF_OK);
            assert_near(turns ? s.velocity.w.x : s.velocity.v.x, 0.1, 1e-15);
            assert_near(turns ? ff_quat_log(s.pose.q).x : s.pose.p.x, 0.1 * 0.004, 1e-15);
        }
    }
}

static void test_bad_input_changes_nothing(void **state) {
    (void)state;
    const ff_limiter_limits good = {1, 1, 1};
    const ff_limiter_axis start = {1, 2, 3};
    const ff_limiter_target target = {0, 0};
    ff_limiter_axis axis = start;
    const double bad[4] = {0, -1, FF_NAN, -NONE};
    for (int i = 0; i < 12; i++) {
        ff_limiter_limits limits = good;
        double *field[3] = {&limits.velocity, &limits.acceleration, &limits.jerk};
        *field[i / 4] = bad[i % 4];
        assert_int_equal(ff_limiter_step_axis(&limits, &axis, &target, 0.1), FF_ERR_ARGUMENT);
    }
    assert_int_equal(ff_limiter_step_axis(&good, &axis, &target, -1), FF_ERR_ARGUMENT);
    assert_int_equal(ff_limiter_step_axis(&good, &axis, &target, FF_NAN), FF_ERR_ARGUMENT);
    assert_int_equal(ff_limiter_step_axis(&good, &axis, &(ff_limiter_target){FF_NAN, 0}, 0.1),
                     FF_ERR_NOT_FINITE);
    assert_int_equal(ff_limiter_step_axis(&good, &axis, &(ff_limiter_target){0, NONE}, 0.1),
                     FF_ERR_NOT_FINITE);
    assert_memory_equal(&axis, &start, sizeof axis);
    ff_limiter_config config;
    ff_limiter_default(&config);
    config.angular_jerk = 0;
    assert_int_equal(ff_limiter_validate(&config), FF_ERR_ARGUMENT);
    ff_limiter_default(&config);
    ff_limiter_state pose;
    ff_limiter_reset(&pose, ff_pose_identity(), ff_twist_zero());
    const ff_limiter_state before = pose;
    ff_limiter_in in = {ff_pose_identity(), ff_twist_zero()};
    in.velocity.w.y = FF_NAN;
    assert_int_equal(ff_limiter_step(&config, &pose, &in, 0.1), FF_ERR_NOT_FINITE);
    in.velocity.w.y = 0;
    in.pose.p.x = NONE;
    assert_int_equal(ff_limiter_step(&config, &pose, &in, 0.1), FF_ERR_NOT_FINITE);
    assert_int_equal(ff_limiter_step(&config, &pose, &in, -0.1), FF_ERR_ARGUMENT);
    assert_memory_equal(&pose, &before, sizeof pose);
}

/* Rounding may not upset the plan: states and targets over many magnitudes, also exactly on a switching
 * curve. */
static void test_extreme_magnitudes_stay_finite(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 10);
    for (int i = 0; i < test_count(20000, 500000); i++) {
        ff_limiter_limits limits = {log_range(&rng, 1e-6, 1e6), log_range(&rng, 1e-6, 1e6),
                                    log_range(&rng, 1e-6, 1e6)};
        double value[5];
        for (int k = 0; k < 5; k++)
            value[k] = ff_rng_uniform(&rng) < 0.2 ? 0 : ff_rng_normal(&rng) * log_range(&rng, 1e-18, 1e6);
        const ff_limiter_axis start = {value[0], value[1], value[2]};
        const ff_limiter_target target = {value[3], value[4]};
        ff_limiter_plan plan;
        assert_int_equal(ff_limiter_plan_axis(&limits, &start, &target, &plan), FF_OK);
        assert_true(plan.duration >= 0);
        assert_true(plan.count <= FF_LIMITER_SEGMENTS - 1);
        for (int k = 0; k < 5; k++) {
            const ff_limiter_axis s = ff_limiter_plan_at(&plan, log_range(&rng, 1e-6, 1e3));
            assert_true(isfinite(s.position) && isfinite(s.velocity) && isfinite(s.acceleration));
        }
    }
}

static void test_pose_about_one_axis_is_the_axis_limiter(void **state) {
    (void)state;
    const ff_limiter_config config = {0.5, 2, 40, 0.3, 1, 20};
    const ff_limiter_limits linear = {0.5, 2, 40}, angular = {0.3, 1, 20};
    for (int axis = 0; axis < 3; axis++) {
        ff_vec3 e = ff_vec3_zero();
        e.a[axis] = 1;
        ff_limiter_state pose;
        const ff_quat q0 = ff_quat_unit((ff_quat){0.3, 0.4, -0.2, 0.6});
        ff_limiter_reset(&pose, (ff_pose){q0, {{0, 0, 0}}}, ff_twist_zero());
        ff_limiter_axis x = {0, 0, 0}, r = {0, 0, 0};
        ff_status status = FF_INFO_LIMITED;
        for (int k = 0; k < 3000 && status != FF_OK; k++) {
            const double t = 0.004 * k;
            ff_limiter_in in = {{ff_quat_mul(q0, ff_quat_exp(ff_vec3_scale(1.0 - 0.1 * t, e))),
                                 ff_vec3_scale(0.4 + 0.2 * t, e)},
                                {ff_vec3_scale(-0.1, e), ff_vec3_scale(0.2, e)}};
            status = ff_limiter_step(&config, &pose, &in, 0.004);
            ff_limiter_step_axis(&linear, &x, &(ff_limiter_target){0.4 + 0.2 * t, 0.2}, 0.004);
            ff_limiter_step_axis(&angular, &r, &(ff_limiter_target){1.0 - 0.1 * t, -0.1}, 0.004);
            assert_vec3_near(pose.pose.p, ff_vec3_scale(x.position, e), 1e-15);
            assert_vec3_near(ff_quat_log(ff_quat_mul(ff_quat_conj(q0), pose.pose.q)),
                             ff_vec3_scale(r.position, e), 1e-11);
            assert_vec3_near(pose.velocity.w, ff_vec3_scale(r.velocity, e), 1e-7);
        }
        assert_int_equal(status, FF_OK);
    }
}

static void test_pose_meets_a_tumbling_target_within_its_limits(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 11);
    const double dt = 0.004;
    for (int i = 0; i < test_count(30, 1000); i++) {
        ff_limiter_config config = {0.5, 2, 40, 0.5, 2, 40};
        if (i % 2)
            config.jerk = config.angular_jerk = NONE;
        ff_limiter_state pose;
        ff_limiter_reset(&pose, test_random_pose(&rng, 0.2),
                         (ff_twist){test_random_vec3(&rng, 0.3), test_random_vec3(&rng, 0.3)});
        const ff_pose start = test_random_pose(&rng, 0.2);
        const ff_twist twist = {test_random_vec3(&rng, 0.25), test_random_vec3(&rng, 0.3)};
        int met = -1;
        for (int k = 0; k < 10000 && (met < 0 || k < met + 20); k++) {
            const double t = k * dt;
            const ff_limiter_in in = {{ff_quat_mul(start.q, ff_quat_exp(ff_vec3_scale(t, twist.w))),
                                       ff_vec3_axpy(t, twist.v, start.p)},
                                      twist};
            const ff_limiter_state before = pose;
            const ff_status status = ff_limiter_step(&config, &pose, &in, dt);
            for (int c = 0; c < 3; c++) {
                assert_true(fabs(pose.velocity.w.a[c]) <= 0.5 * (1 + 1e-9));
                assert_true(fabs(pose.velocity.v.a[c]) <= 0.5 * (1 + 1e-9));
                if (met < 0 && status != FF_OK) {
                    assert_true(fabs(pose.acceleration.w.a[c]) <= 2 * (1 + 1e-9));
                    assert_true(fabs(pose.velocity.w.a[c] - before.velocity.w.a[c]) <=
                                2 * dt * (1 + 1e-9) + 1e-12);
                }
            }
            if (status == FF_OK && met < 0)
                met = k;
            if (met >= 0) {
                assert_int_equal(status, FF_OK);
                assert_near(ff_quat_angle(pose.pose.q,
                                          ff_quat_mul(start.q, ff_quat_exp(ff_vec3_scale(t + dt, twist.w)))),
                            0, 1e-14);
                assert_vec3_near(pose.velocity.w, twist.w, 0);
            }
        }
        assert_true(met >= 0);
    }
}

/* Turning with the target, a quarter turn away from it about z: only z has anything to correct. */
static void test_pose_target_velocity_is_turned_into_the_body_frame(void **state) {
    (void)state;
    const ff_limiter_config config = {NONE, NONE, NONE, 2, 10, 200};
    const ff_limiter_in in = {{ff_quat_exp(ff_vec3_make(0, 0, FF_PI / 2)), {{0, 0, 0}}},
                              {{{0.4, 0, 0}}, {{0, 0, 0}}}};
    ff_limiter_state pose;
    ff_limiter_reset(&pose, ff_pose_identity(), (ff_twist){{{0, 0.4, 0}}, {{0, 0, 0}}});
    assert_int_equal(ff_limiter_step(&config, &pose, &in, 0.004), FF_INFO_LIMITED);
    assert_vec3_near(pose.velocity.w, ff_vec3_make(0, 0.4, 0.5 * 200 * 0.004 * 0.004), 1e-14);
    assert_vec3_near(pose.acceleration.w, ff_vec3_make(0, 0, 200 * 0.004), 1e-9);
}

/* The attitude must be the integral of the body rates that the limiter reports. */
static void test_pose_attitude_is_the_integral_of_the_rates(void **state) {
    (void)state;
    const ff_limiter_config config = {NONE, NONE, NONE, 2, 10, 200};
    ff_limiter_state pose;
    ff_limiter_reset(&pose, ff_pose_identity(), (ff_twist){{{0.5, -1, 1.5}}, {{0, 0, 0}}});
    const ff_limiter_in in = {{ff_quat_exp(ff_vec3_make(1, -0.5, 0.7)), {{0, 0, 0}}}, ff_twist_zero()};
    double worst = 0;
    for (int k = 0; k < 20; k++) {
        const ff_limiter_state before = pose;
        ff_limiter_step(&config, &pose, &in, 0.004);
        /* rates between: 400 sub-steps of the same plan, integrated as piecewise constant at mid-points */
        const ff_vec3 r = ff_quat_log(ff_quat_mul(ff_quat_conj(before.pose.q), in.pose.q));
        ff_quat q = before.pose.q;
        for (int n = 0; n < 400; n++) {
            ff_vec3 w;
            for (int c = 0; c < 3; c++) {
                const ff_limiter_limits limits = {2, 10, 200};
                const ff_limiter_axis s = {0, before.velocity.w.a[c], before.acceleration.w.a[c]};
                ff_limiter_plan plan;
                ff_limiter_plan_axis(&limits, &s, &(ff_limiter_target){r.a[c], 0}, &plan);
                w.a[c] = ff_limiter_plan_at(&plan, (n + 0.5) * 1e-5).velocity;
            }
            q = ff_quat_mul(q, ff_quat_exp(ff_vec3_scale(1e-5, w)));
        }
        worst = fmax(worst, ff_quat_angle(q, pose.pose.q));
    }
    assert_near(worst, 0, 1e-10); /* without the second term 1e-7 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rest_to_rest_durations_are_the_closed_forms),
        cmocka_unit_test(test_braking_from_speed_is_the_closed_form),
        cmocka_unit_test(test_plan_is_never_slower_than_a_motion_that_exists),
        cmocka_unit_test(test_plan_reproduces_extremal_motions),
        cmocka_unit_test(test_random_targets_keep_the_limits),
        cmocka_unit_test(test_steps_of_any_size_give_the_same_motion),
        cmocka_unit_test(test_moving_target_is_met_exactly_and_kept),
        cmocka_unit_test(test_standstill_target_is_not_overshot),
        cmocka_unit_test(test_infinite_limits_follow_at_once),
        cmocka_unit_test(test_start_outside_the_limits_returns_at_full_rate),
        cmocka_unit_test(test_target_beyond_the_velocity_limit_is_chased_at_the_limit),
        cmocka_unit_test(test_pose_faster_than_the_limit_is_not_reached),
        cmocka_unit_test(test_bad_input_changes_nothing),
        cmocka_unit_test(test_extreme_magnitudes_stay_finite),
        cmocka_unit_test(test_pose_about_one_axis_is_the_axis_limiter),
        cmocka_unit_test(test_pose_meets_a_tumbling_target_within_its_limits),
        cmocka_unit_test(test_pose_target_velocity_is_turned_into_the_body_frame),
        cmocka_unit_test(test_pose_attitude_is_the_integral_of_the_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
