/* The output stage against its promise, computed here from the poses that a robot accepts: velocity,
 * acceleration and jerk of every answer, whatever is asked, lost, rounded or not a number. */
#include "freefloat/output.h"
#include "support.h"

#include <stddef.h>

/* A robot that accepts answers: its own differences, from poses alone. */
typedef struct robot {
    ff_pose at;
    ff_vec3 v[2], a[2]; /* translation in the lab, rotation in body axes */
} robot;

typedef struct worst {
    double ratio[2][3]; /* translation, rotation; velocity, acceleration, jerk over their limits */
} worst;

/* Rotation vector of a^-1 b from the matrix, not from the library's logarithm. */
static ff_vec3 turned(ff_quat a, ff_quat b) {
    const ff_quat q = ff_quat_mul(ff_quat_conj(a), b);
    const double s = q.w < 0.0 ? -1.0 : 1.0, n = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    const double f = n > 1e-12 ? 2.0 * atan2(n, s * q.w) / n : 2.0;
    return ff_vec3_make(s * f * q.x, s * f * q.y, s * f * q.z);
}

static double limit_of(const ff_output_config *c, int part, int order) {
    const double linear[] = {c->velocity, c->acceleration, c->jerk},
                 angular[] = {c->angular_velocity, c->angular_acceleration, c->angular_jerk};
    return part ? angular[order] : linear[order];
}

/* The step to `to` as the robot would make it; taken or not. grain: half of it per pose is the wire's. */
static void step(const ff_output_config *c, robot *r, ff_pose to, bool take, worst *w) {
    const double T = c->cycle;
    const ff_vec3 d[2] = {ff_vec3_sub(to.p, r->at.p), turned(r->at.q, to.q)};
    for (int part = 0; part < 2; part++) {
        const ff_vec3 v = ff_vec3_scale(1.0 / T, d[part]),
                      a = ff_vec3_scale(1.0 / T, ff_vec3_sub(v, r->v[part])),
                      j = ff_vec3_scale(1.0 / T, ff_vec3_sub(a, r->a[part]));
        const double is[3] = {ff_vec3_norm(v), ff_vec3_norm(a), ff_vec3_norm(j)};
        const double grain = part ? c->angular_resolution + 1e-14 : c->resolution + 1e-14;
        for (int order = 0; order < 3; order++) {
            const double noise = grain * 2.0 * pow(2.0, order) / pow(T, order + 1);
            if (isfinite(limit_of(c, part, order)))
                w->ratio[part][order] =
                    fmax(w->ratio[part][order], (is[order] - noise) / limit_of(c, part, order));
        }
        if (take) {
            r->v[part] = v;
            r->a[part] = a;
        }
    }
    if (take)
        r->at = to;
}

static void stand(robot *r) {
    for (int part = 0; part < 2; part++)
        r->v[part] = r->a[part] = ff_vec3_zero();
}

static void assert_kept(const worst *w, const char *what) {
    for (int part = 0; part < 2; part++)
        for (int order = 0; order < 3; order++)
            if (!(w->ratio[part][order] <= 1.0 + 1e-6))
                fail_msg("%s: %s %s is %.9g of its limit", what, part ? "angular" : "linear",
                         (const char *[]){"velocity", "acceleration", "jerk"}[order], w->ratio[part][order]);
}

static double log_range(ff_rng *rng, double low, double high) {
    return exp(ff_rng_range(rng, log(low), log(high)));
}

static ff_output_config random_config(ff_rng *rng) {
    ff_output_config c;
    ff_output_default(&c);
    c.cycle = ff_rng_uniform(rng) < 0.5 ? 0.004 : log_range(rng, 0.001, 0.012);
    c.velocity = log_range(rng, 0.05, 2.0);
    c.acceleration = log_range(rng, 0.1, 20.0);
    c.jerk = log_range(rng, 2.0, 5000.0);
    c.angular_velocity = log_range(rng, 0.05, 2.0);
    c.angular_acceleration = log_range(rng, 0.2, 30.0);
    c.angular_jerk = log_range(rng, 2.0, 5000.0);
    c.stop_acceleration = log_range(rng, 0.1, 5.0);
    c.stop_angular_acceleration = log_range(rng, 0.1, 5.0);
    c.patience = 5.0 * c.cycle;
    assert_int_equal(ff_output_validate(&c), FF_OK);
    return c;
}

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
            ff_output_confirm(&c, &state, taken, held);
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
        for (int n = 0; n < test_count(300, 20000); n++)
            live(&rng, kind & 1, kind & 2, &kept, &other);
        print_message("losses %d, rounding %d: v %.6f a %.6f j %.6f; w %.6f %.6f %.6f; other truth %.6f\n",
                      kind & 1, kind >> 1, kept.ratio[0][0], kept.ratio[0][1], kept.ratio[0][2],
                      kept.ratio[1][0], kept.ratio[1][1], kept.ratio[1][2], other);
        assert_kept(&kept, "random lives");
        assert_true(other <= 1.0 + 1e-5);
        assert_true(kept.ratio[0][1] > 0.9 && kept.ratio[0][2] > 0.9); /* the limits did act */
    }
}

/* A motion inside the limits goes out to the bit, and nothing is called limited. */
static void test_inside_the_limits_to_the_bit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < 200; n++) {
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
            ff_output_confirm(&c, &s, true, false);
            assert_int_equal(ff_output_target(&s, &to, t), FF_OK);
            ff_output_out out;
            ff_output_step(&c, &s, t, &out);
            assert_memory_equal(&out.to, &to, sizeof to);
            assert_false(out.limited || out.braking);
            assert_true(out.lag == 0.0);
        }
    }
}

/* From a steady velocity to rest: v/a + a/j, and half of v times that; straight. */
static void test_stop_against_the_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int n = 0; n < 300; n++) {
        ff_output_config c = random_config(&rng);
        c.velocity = 2.0;
        const double A = fmin(c.stop_acceleration, c.acceleration), J = c.jerk;
        const double v = ff_rng_range(&rng, 0.05, 0.5);
        const ff_vec3 u = ff_vec3_unit(test_random_vec3(&rng, 1.0));
        const double peak = fmin(A, sqrt(v * J)), time = v / peak + peak / J; /* short stops: no plateau */
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        s.velocity.v = ff_vec3_scale(v, u);
        double rested = 0.0;
        ff_output_out out;
        int k = 0;
        for (; k < 100000; k++) {
            ff_output_step(&c, &s, k * c.cycle, &out);
            assert_true(out.braking);
            /* an axis with less than its least share rests earlier: by at most half of it */
            assert_true(ff_vec3_norm(ff_vec3_cross(out.to.T.p, u)) <= 0.011 * v * time);
            if (out.rests)
                break;
            rested = (k + 1) * c.cycle;
            ff_output_confirm(&c, &s, true, false);
        }
        assert_true(out.rests);
        /* the least of an axis' share is 2 %: a thousandth of the limits */
        assert_near(rested, time, 1.01 * c.cycle + 0.002 * time);
        assert_true(rested >= time - 1e-9);
        assert_near(ff_vec3_dot(out.to.T.p, u), 0.5 * v * time, 0.002 * v * time + v * c.cycle);
        /* and it stays there, to the bit */
        const ff_pose at = out.to.T;
        for (int m = 0; m < 10; m++) {
            ff_output_confirm(&c, &s, m % 2, false);
            ff_output_step(&c, &s, (k + m) * c.cycle, &out);
            assert_memory_equal(&out.to.T, &at, sizeof at);
        }
    }
}

typedef struct stop {
    ff_vec3 path;
    double speed, least; /* largest; least along the first velocity */
    bool rests;
} stop;

/* Braking from differences v, a: what the robot makes of it, and whether the answers keep their limits. */
static stop brake_from(const ff_output_config *c, ff_vec3 v, ff_vec3 a) {
    ff_output_state s;
    ff_output_reset(&s, ff_pose_identity());
    s.velocity.v = v;
    s.acceleration.v = a;
    robot r = {ff_pose_identity(), {v, ff_vec3_zero()}, {a, ff_vec3_zero()}};
    ff_output_config limits = *c; /* the velocity is judged by the caller: it may begin beyond it */
    limits.velocity = FF_INF;
    worst kept = {0};
    const ff_vec3 u = ff_vec3_unit(v);
    stop made = {.least = FF_INF};
    ff_output_out out;
    for (int k = 0; k < 100000 && !made.rests; k++) { /* 6 m/s with 0.1 m/s2 in cycles of 1 ms: 60000 */
        ff_output_step(c, &s, k * c->cycle, &out);
        step(&limits, &r, out.to.T, true, &kept);
        made.speed = fmax(made.speed, ff_vec3_norm(r.v[0]));
        made.least = fmin(made.least, ff_vec3_dot(r.v[0], u));
        made.rests = out.rests;
        ff_output_confirm(c, &s, true, false);
    }
    assert_kept(&kept, "stop");
    made.path = out.to.T.p;
    return made;
}

/* From any velocity, below and above its limit, and any acceleration along it: the stop is the closed form,
 * keeps every limit, is no faster than the start makes inevitable, and reverses only if its start brakes
 * harder than the jerk can take back in time. From oblique accelerations the limits hold, too. */
static void test_stop_from_any_start(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    for (int n = 0; n < test_count(400, 20000); n++) {
        ff_output_config c = random_config(&rng);
        const double V = c.velocity, A = c.acceleration, T = c.cycle;
        c.jerk = log_range(&rng, 0.5, 5000.0);
        const ff_vec3 u =
            n % 3 ? ff_vec3_unit(test_random_vec3(&rng, 1.0)) : ff_vec3_make(0, n % 2 ? 1 : -1, 0);
        const bool above = n % 4 == 0;
        const double speed = above ? ff_rng_range(&rng, V, 3.0 * V) : log_range(&rng, 1e-3 * V, V),
                     a = above ? 0.0 : ff_rng_range(&rng, -1.0, 1.0) * fmin(A, sqrt(2.0 * c.jerk * V));
        /* the continuous motion behind the differences, and where its acceleration is taken back */
        const double begin = speed + 0.5 * T * a, end = begin + a * fabs(a) / (2.0 * c.jerk);
        if (!above && fmax(fabs(begin), fabs(end)) > V)
            continue;
        const ff_vec3 v0 = ff_vec3_scale(speed, u), a0 = ff_vec3_scale(a, u);
        const ff_vec3 path = ff_output_stop_path(&c, v0, a0);
        const stop made = brake_from(&c, v0, a0);
        assert_true(made.rests);
        assert_vec3_near(made.path, path,
                         1e-9 + 1e-7 * ff_vec3_norm(path)); /* at most 1e-9 a cycle by ROUNDING */
        assert_true(made.speed <= fmax(V, speed) * (1.0 + 1e-6));
        const double share =
            1.0 / sqrt(1.0 + 2.0 * 0.02 * 0.02); /* two axes that do not move have their least part */
        if (end >= 0.0 && begin >= 0.0)
            assert_true(made.least >= -1e-6 * speed);
        else
            assert_true(made.least >= fmin(begin, begin + (end - begin) / share) - 1e-6 * speed);
        const ff_limiter_limits one = {V, fmin(A, c.stop_acceleration) * share, c.jerk * share};
        if (n % 3 == 0)
            assert_near(ff_vec3_dot(path, u), ff_limiter_stop_path(&one, begin, a),
                        1e-12 * (ff_vec3_norm(path) + V * T));
        const ff_vec3 oblique = ff_vec3_scale(a, ff_vec3_unit(test_random_vec3(&rng, 1.0)));
        if (ff_vec3_norm(v0) + 0.5 * T * fabs(a) + a * a / (2.0 * c.jerk) <= V) {
            const stop other = brake_from(&c, v0, oblique);
            assert_true(other.rests && other.speed <= V * (1.0 + 1e-6));
        }
    }
    ff_output_config c;
    ff_output_default(&c);
    for (int k = 0; k < 6; k++) {
        ff_vec3 x[2] = {ff_vec3_make(0.1, 0.2, 0.3), ff_vec3_make(0.3, 0.2, 0.1)};
        x[k / 3].a[k % 3] = k % 2 ? FF_NAN : FF_INF;
        assert_false(ff_vec3_finite(ff_output_stop_path(&c, x[0], x[1])));
    }
}

/* A robot that begins faster than it may, behind a target that is as fast: it slows down to its limit and
 * stays there, within the time that the excess needs and half as much again. Axes that hardly move have 2 %
 * of a limit: the others keep it to a thousandth. */
static void test_start_above_the_velocity_slows_down_to_it(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    for (int n = 0; n < test_count(200, 5000); n++) {
        ff_output_config c = random_config(&rng);
        const int part = n % 2;
        const double J = log_range(&rng, 0.2, 5000.0), T = c.cycle,
                     V = part ? c.angular_velocity : c.velocity,
                     A = part ? c.angular_acceleration : c.acceleration,
                     fast = part ? V * ff_rng_range(&rng, 1.01, 2.0) : V * ff_rng_range(&rng, 1.01, 10.0);
        *(part ? &c.angular_jerk : &c.jerk) = J;
        ff_vec3 u = ff_vec3_make(n % 4 > 1 ? 1 : -1, 0, 0);
        for (int i = 0; i < 3 && n % 3; i++)
            u.a[i] = ff_rng_range(&rng, 0.1, 1.0) * (ff_rng_uniform(&rng) < 0.5 ? -1.0 : 1.0);
        u = ff_vec3_unit(u);
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        *(part ? &s.velocity.w : &s.velocity.v) = ff_vec3_scale(fast, u);
        const double peak = fmin(A, sqrt(J * (fast - V))), time = (fast - V) / peak + peak / J;
        if (part && (fast - V) * (time + 20.0 * T) > 3.0) /* half a turn behind is ahead */
            continue;
        double last = fast;
        bool below = false;
        const int cycles = (int)fmin(4000.0, 1.5 * time / T + 20.0);
        for (int k = 0; k < cycles; k++) {
            const double t = k * T;
            const ff_vec3 ahead = ff_vec3_scale(fast * (t + T), u), rate = ff_vec3_scale(fast, u);
            const ff_setpoint to = {
                {part ? ff_quat_exp(ahead) : ff_quat_identity(), part ? ff_vec3_zero() : ahead},
                {part ? rate : ff_vec3_zero(), part ? ff_vec3_zero() : rate}};
            assert_int_equal(ff_output_target(&s, &to, t), FF_OK);
            ff_output_out out;
            ff_output_step(&c, &s, t, &out);
            const double now = ff_vec3_dot(part ? s.sent_velocity.w : s.sent_velocity.v, u);
            below |= now <= V;
            if (!below)
                assert_true(now <= last * (1.0 + 1e-9));
            else
                assert_true(now <= V * (1.0 + 1e-6));
            assert_true(now >=
                        V * (1.0 - 1e-3) - peak * T); /* in the first cycle rounding says who is ahead */
            last = now;
            ff_output_confirm(&c, &s, true, false);
        }
        if (cycles < 4000)
            assert_near(last, V, 1e-3 * V);
    }
}

/* Along one axis the stop is the closed form to the cycle. */
static void test_stop_along_an_axis(void **state) {
    (void)state;
    ff_output_config c;
    ff_output_default(&c);
    c.stop_acceleration = 1.0;
    c.jerk = 50.0;
    for (int turn = 0; turn < 2; turn++) {
        ff_output_state s;
        ff_output_reset(&s, ff_pose_identity());
        (turn ? &s.velocity.w : &s.velocity.v)->x = 0.2;
        c.stop_angular_acceleration = 1.0;
        c.angular_jerk = 50.0;
        ff_output_out out;
        int k = 0;
        for (; k < 1000; k++) {
            ff_output_step(&c, &s, 0.0, &out);
            if (out.rests)
                break;
            ff_output_confirm(&c, &s, true, false);
        }
        /* 0.2/1 + 1/50 s = 55 cycles; 0.022 m */
        assert_true(k == 55 || k == 56);
        const double way = turn ? ff_quat_log(out.to.T.q).x : out.to.T.p.x;
        assert_near(way, 0.022, 2e-5);
    }
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
        ff_output_confirm(&c, &s, true, false);
        if (k == 0)
            s.velocity.v.x = 0.1;
        ff_output_step(&c, &s, k * c.cycle, &out);
        assert_true(out.braking == (k > 5));
        if (k <= 5)
            assert_near(out.to.T.p.x, 0.0004 * (k + 1), 1e-15);
    }
    assert_true(out.rests);
    assert_near(out.to.T.p.x, 0.0024 + 0.005, 1e-4);
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
                    ff_output_confirm(&c, &s, true, false);
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
        ff_output_confirm(&c, &s, true, false);
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
            ff_output_confirm(&c, &s, true, false);
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
    for (int n = 0; n < 200; n++) {
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
                ff_output_confirm(&c, &s, true, false);
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

static void test_axes_brake_together(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
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
    ff_axes_confirm(&s, false, true); /* lost: it stands where it stood */
    assert_memory_equal(&s.at, &at, sizeof at);
    assert_true(s.rate.a[1] == 0.0);
    ff_axes_step(&arm, T, &s, &pose, &joints, &out);
    ff_axes_confirm(&s, true, false);
    assert_memory_equal(&s.at, &joints, sizeof joints);
    assert_true(fabs(s.rate.a[1]) > 0.0);
    /* too fast for an axis: said which, and not made */
    pose.p.x += 0.1;
    ff_axes_step(&arm, T, &s, &pose, &joints, &out);
    assert_int_equal(out.reason, FF_AXES_SPEED);
    assert_true(out.axis >= 1 && out.axis <= 6 && out.speed > out.limit);
    assert_true(fabs(joints.a[1] - s.at.a[1]) <= fabs(T * s.rate.a[1]));
}

/* -------------------------------------------------------------------------------------------------- box --
 */

static ff_output_config boxed_config(ff_rng *rng, int orders, ff_vec3 centre, ff_vec3 box) {
    ff_output_config c = random_config(rng);
    c.jerk = orders == 3 ? log_range(rng, 0.2, 5000.0) : FF_INF;
    c.velocity = orders == 1 ? FF_INF : 20.0; /* never reached: it would bend the stop */
    if (orders == 1)
        c.acceleration = FF_INF;
    c.boxed = true;
    c.centre = centre;
    c.box = box;
    assert_int_equal(ff_output_validate(&c), FF_OK);
    return c;
}

/* Targets push a robot against its box, from all directions and with any limits. Nothing that it is sent lies
 * outside: neither while the targets go on, nor in the stop that begins with the first step that was not
 * sent. Without the box the same targets leave it by far. */
static void test_the_box_is_kept(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    int refused = 0, near_it = 0, stopped_once = 0;
    worst kept = {0};
    for (int n = 0; n < test_count(400, 40000); n++) {
        const double half = log_range(&rng, 0.005, 0.2);
        const ff_vec3 centre = test_random_vec3(&rng, 1.0),
                      box = ff_vec3_make(half, half * ff_rng_range(&rng, 0.5, 2.0), n % 5 ? half : FF_INF);
        const ff_output_config c = boxed_config(&rng, n % 4 < 2 ? 3 : n % 4 - 1, centre, box);
        ff_output_state s;
        ff_output_reset(&s, (ff_pose){ff_quat_identity(), centre});
        robot r = {.at = s.pose};
        ff_setpoint target = {s.pose, ff_twist_zero()};
        ff_output_out out;
        bool stopped = false, reached = false;
        for (int k = 0; k < 400; k++) {
            const double t = k * c.cycle, u = ff_rng_uniform(&rng);
            ff_output_confirm(&c, &s, k > 0, false);
            if (u < 0.02)
                target.twist.v = test_random_vec3(&rng, log_range(&rng, 0.01, 1.0));
            else if (u < 0.025)
                target.T.p = ff_vec3_add(s.pose.p, test_random_vec3(&rng, 0.1));
            target.T.p = ff_vec3_axpy(c.cycle, target.twist.v, target.T.p);
            if (stopped)
                ff_output_brake(&s);
            else
                ff_output_target(&s, &target, t);
            ff_output_step(&c, &s, t, &out);
            step(&c, &r, out.to.T, true, &kept);
            bool outside = false;
            for (int i = 0; i < 3; i++) {
                const double at = fabs(out.to.T.p.a[i] - centre.a[i]);
                assert_true(at <= box.a[i] * (1.0 + 2e-9) + 1e-14); /* the stage's own rounding, twice */
                outside |= fabs(out.rest.a[i] - centre.a[i]) > box.a[i] * (1.0 + 1e-9);
                reached |= at > 0.9 * box.a[i];
            }
            assert_true(out.beyond ? outside && out.limited : true);
            refused += out.beyond;
            stopped |= n % 2 && out.beyond;
        }
        assert_true(!out.rests || stopped);
        near_it += reached;
        stopped_once += stopped;
    }
    assert_kept(&kept, "in the box");
    assert_true(refused > 1000 && near_it > 100 && stopped_once > 50);
}

/* From v0 with a0 along it, to rest in p0 + v0 t1 + a0 t1^2/3 and the stop from v1 = v0 + a0 t1/2, t1 = a0/J:
 * that is where the stage says that it will stand, and where it stands, to rounding. A box that ends there is
 * not left, one that is shorter by a thousandth is not entered so far. */
static void test_rest_is_foreseen_with_the_acceleration_in_progress(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 10);
    for (int n = 0; n < 200; n++) {
        ff_output_config c;
        ff_output_default(&c);
        c.jerk = log_range(&rng, 2.0, 50.0); /* the velocity stays below its limit */
        c.acceleration = 2.0;
        c.stop_acceleration = log_range(&rng, 0.2, 2.0);
        const double T = c.cycle, J = c.jerk, A = c.stop_acceleration, v0 = ff_rng_range(&rng, 0.05, 0.3),
                     a0 = ff_rng_range(&rng, 0.01, 1.0) * A;
        const double t1 = a0 / J, v1 = v0 + a0 * t1 / 2.0,
                     brake = v1 >= A * A / J ? 0.5 * v1 * (v1 / A + A / J) : v1 * sqrt(v1 / J);
        /* the other axes have no more than their least share: 2 % of the limits, a thousandth for this one */
        const double path = v0 * t1 + a0 * t1 * t1 / 3.0 + brake;
        ff_output_state s;
        ff_output_out out;
        for (int shorter = 0; shorter < 2; shorter++) {
            ff_output_reset(&s, ff_pose_identity());
            s.velocity.v.x = v0 - 0.5 * T * a0;
            s.acceleration.v.x = a0;
            c.boxed = true;
            c.box = ff_vec3_make(path * (shorter ? 0.999 : 1.01), 0.0, 0.0);
            for (int k = 0; k < 100000; k++) {
                ff_output_step(&c, &s, k * T, &out);
                if (k == 0)
                    assert_near(out.rest.x, path, 0.002 * path);
                if (out.rests)
                    break;
                ff_output_confirm(&c, &s, true, false);
            }
            assert_true(out.rests);
            assert_near(out.to.T.p.x, out.rest.x, 1e-12);
            assert_near(out.rest.x, path, 0.002 * path);
            assert_false(out.beyond);
        }
        /* the target continues with that acceleration: the box decides whether its step is sent */
        for (int enough = 0; enough < 2; enough++) {
            const double x = v0 * T + 0.5 * a0 * T * T, v = v0 + a0 * T, u = v + a0 * t1 / 2.0,
                         end = x + v * t1 + a0 * t1 * t1 / 3.0 +
                               (u >= A * A / J ? 0.5 * u * (u / A + A / J) : u * sqrt(u / J));
            ff_output_reset(&s, ff_pose_identity());
            s.velocity.v.x = v0 - 0.5 * T * a0;
            s.acceleration.v.x = a0;
            c.box.x = end * (enough ? 1.003 : 0.997);
            const ff_setpoint to = {{ff_quat_identity(), ff_vec3_make(x, 0, 0)},
                                    {ff_vec3_zero(), ff_vec3_make(v, 0, 0)}};
            ff_output_target(&s, &to, 0.0);
            ff_output_step(&c, &s, 0.0, &out);
            assert_int_equal(out.beyond, !enough);
            assert_near(out.rest.x, end, 0.002 * end);
            if (enough)
                assert_memory_equal(&out.to, &to, sizeof to);
            else
                assert_true(out.to.T.p.x < x && out.limited && out.lag > 0.0);
        }
    }
}

/* A robot that stands outside may come in, and not go further out. */
static void test_outside_the_box_only_inwards(void **state) {
    (void)state;
    for (int inwards = 0; inwards < 2; inwards++) {
        ff_output_config c;
        ff_output_default(&c);
        c.stop_acceleration =
            c.acceleration; /* else a stop on its path would pass the box on the other side */
        c.boxed = true;
        c.box = ff_vec3_make(0.1, FF_INF, FF_INF);
        ff_output_state s;
        ff_output_out out;
        ff_output_reset(&s, (ff_pose){ff_quat_identity(), ff_vec3_make(-0.15, 0, 0)});
        for (int k = 0; k < 500; k++) {
            const double x = inwards ? 0.0 : -1.0;
            const ff_setpoint to = {{ff_quat_identity(), ff_vec3_make(x, 0.3, 0)}, ff_twist_zero()};
            ff_output_confirm(&c, &s, k > 0, false);
            ff_output_target(&s, &to, k * c.cycle);
            ff_output_step(&c, &s, k * c.cycle, &out);
            assert_int_equal(out.beyond, !inwards);
        }
        assert_near(out.to.T.p.x, inwards ? 0.0 : -0.15, 1e-9);
        assert_near(out.to.T.p.y, inwards ? 0.3 : 0.0, 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_lives),
        cmocka_unit_test(test_inside_the_limits_to_the_bit),
        cmocka_unit_test(test_stop_against_the_closed_form),
        cmocka_unit_test(test_stop_from_any_start),
        cmocka_unit_test(test_start_above_the_velocity_slows_down_to_it),
        cmocka_unit_test(test_stop_along_an_axis),
        cmocka_unit_test(test_brakes_by_itself),
        cmocka_unit_test(test_asked_earlier),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_no_limits_is_the_target),
        cmocka_unit_test(test_validate),
        cmocka_unit_test(test_slow_keeps_the_acceleration_of_a_stop),
        cmocka_unit_test(test_slowed_in_motion_keeps_the_jerk),
        cmocka_unit_test(test_axes_brake_together),
        cmocka_unit_test(test_axes_follow_and_lost_answers),
        cmocka_unit_test(test_the_box_is_kept),
        cmocka_unit_test(test_rest_is_foreseen_with_the_acceleration_in_progress),
        cmocka_unit_test(test_outside_the_box_only_inwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
