/* The plan of the output stage against its own words, written anew: how the axes lie, which part of each
 * limit each of them has, and how long the motion to a target that stands takes with them. The stage says how
 * long it has planned (`due`, twice that); the time of one axis is the limiter's (test_limiter.c). */
#include "output_robot.h"

typedef struct reference {
    ff_vec3 axis[3];
    double share[3], fast[3];
} reference;

/* What is largest, and what is largest across it; none: any direction across. */
static void lay(const ff_vec3 due[3], ff_vec3 axis[3]) {
    const ff_vec3 lab[3] = {ff_vec3_make(1, 0, 0), ff_vec3_make(0, 1, 0), ff_vec3_make(0, 0, 1)};
    double most = 0.0;
    int best = 0;
    for (int n = 0; n < 3; n++)
        if (ff_vec3_norm(due[n]) > most) {
            most = ff_vec3_norm(due[n]);
            best = n;
        }
    axis[0] = ff_vec3_scale(1.0 / most, due[best]);
    double across = 0.0;
    for (int n = 0; n < 6; n++) {
        if (n == 3 && across > 1e-9 * most)
            break;
        const ff_vec3 x = n < 3 ? due[n] : lab[n - 3],
                      rest = ff_vec3_sub(x, ff_vec3_scale(ff_vec3_dot(x, axis[0]), axis[0]));
        across = n == 3 ? 0.0 : across;
        if (ff_vec3_norm(rest) > across) {
            across = ff_vec3_norm(rest);
            axis[1] = ff_vec3_scale(1.0 / across, rest);
        }
    }
    axis[2] = ff_vec3_cross(axis[0], axis[1]);
}

/* In proportion to m, none below a fiftieth of the largest, the squares sum to one. */
static void parts(const double m[3], double s[3]) {
    const double most = fmax(m[0], fmax(m[1], m[2]));
    double sum = 0.0;
    for (int i = 0; i < 3; i++) {
        s[i] = most > 0.0 ? fmax(m[i] / most, 0.02) : 1.0;
        sum += s[i] * s[i];
    }
    for (int i = 0; i < 3; i++)
        s[i] /= sqrt(sum);
}

/* Acceleration and jerk: by |x|/t^2 + |v|/t + |a| and what comes on top while a is taken back with a part of
 * the jerk, m = w + q |m|/m. The velocity: by what there is of it, and by the direction of the target from a
 * cycle's distance on, of a tenth of the limit. */
static reference aimed(const ff_output_config *c, double t, ff_vec3 e, ff_vec3 v, ff_vec3 a) {
    const double T = c->cycle;
    reference r;
    lay((ff_vec3[]){ff_vec3_scale(1.0 / (t * t), e), ff_vec3_scale(-1.0 / t, v), a}, r.axis);
    double w[3], m[3], f[3];
    for (int i = 0; i < 3; i++) {
        const double x = ff_vec3_dot(r.axis[i], e), u = ff_vec3_dot(r.axis[i], v),
                     b = ff_vec3_dot(r.axis[i], a);
        m[i] = w[i] = fabs(x) / (t * t) + fabs(u) / t + fabs(b);
        f[i] = fmax(fabs(u), 0.1 * c->velocity / fmax(ff_vec3_norm(e), c->velocity * T) * fabs(x));
    }
    for (int n = 0; n < 4; n++) {
        const double size = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
        for (int i = 0; i < 3; i++) {
            const double b = ff_vec3_dot(r.axis[i], a), q = b * b / (2.0 * c->jerk * t);
            m[i] = 0.5 * w[i] + sqrt(0.25 * w[i] * w[i] + q * size);
        }
    }
    parts(m, r.share);
    parts(f, r.fast);
    return r;
}

static double takes(const ff_output_config *c, const reference *r, ff_vec3 e, ff_vec3 v, ff_vec3 a) {
    double longest = 0.0;
    for (int i = 0; i < 3; i++) {
        const ff_limiter_limits limits = {r->fast[i] * c->velocity, r->share[i] * c->acceleration,
                                          r->share[i] * c->jerk};
        const ff_limiter_axis from = {0.0, ff_vec3_dot(r->axis[i], v), ff_vec3_dot(r->axis[i], a)};
        const ff_limiter_target to = {ff_vec3_dot(r->axis[i], e), 0.0};
        ff_limiter_plan plan;
        assert_int_equal(ff_limiter_plan_axis(&limits, &from, &to, &plan), FF_OK);
        longest = fmax(longest, plan.duration);
    }
    return longest;
}

/* By the time in which the acceleration builds up, by that of the whole motion, and equal ones. */
static void candidates(const ff_output_config *c, ff_vec3 e, ff_vec3 v, ff_vec3 a, reference each[4]) {
    const double ease = fmax(c->acceleration / c->jerk, c->cycle),
                 whole =
                     fmax(ease, ff_vec3_norm(v) / c->acceleration + sqrt(ff_vec3_norm(e) / c->acceleration)),
                 third = 1.0 / sqrt(3.0);
    each[0] = aimed(c, ease, e, v, a);
    each[1] = aimed(c, whole, e, v, a);
    each[3] = (reference){{ff_vec3_make(1, 0, 0), ff_vec3_make(0, 1, 0), ff_vec3_make(0, 0, 1)},
                          {third, third, third},
                          {third, third, third}};
    each[2] = each[3];
}

static reference parts_kept(const ff_output_course *course) {
    return (reference){{course->axis[0], course->axis[1], ff_vec3_cross(course->axis[0], course->axis[1])},
                       {course->share.x, course->share.y, course->share.z},
                       {course->fast.x, course->fast.y, course->fast.z}};
}

/* Equal parts count for more than they take. */
static int quickest(const ff_output_config *c, const reference *each, int count, ff_vec3 e, ff_vec3 v,
                    ff_vec3 a, double *least) {
    int best = 0;
    *least = FF_INF;
    for (int k = 0; k < count; k++) {
        const double time =
            takes(c, &each[k], e, v, a) / (each[k].axis[0].x == 1.0 && k == count - 1 ? 0.9 : 1.0);
        if (time < *least * (1.0 - 1e-12)) {
            *least = time;
            best = k;
        }
    }
    return best;
}

/* In any motion, to any place: parts by the time in which the acceleration builds up, by the time of the
 * whole motion, those that it has, or equal ones of the lab's axes if these need less than nine tenths: the
 * quickest. Of rotations the same. */
static void test_the_time_of_a_plan(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 40);
    int chosen[4] = {0}, begun[3] = {0};
    for (int n = 0; n < test_count(300, 20000); n++) {
        ff_output_config c = random_config(&rng);
        const double T = c.cycle;
        c.patience = 1e9;
        c.jerk = c.acceleration / log_range(&rng, 0.5 * T, 1.0);
        ff_output_state s;
        ff_output_out out;
        ff_output_reset(&s, ff_pose_identity());
        s.velocity.v =
            ff_vec3_scale(log_range(&rng, 1e-3, 0.7) * c.velocity, ff_vec3_unit(test_random_vec3(&rng, 1.0)));
        const double acc = fmin(c.acceleration, sqrt(0.4 * c.jerk * c.velocity));
        s.acceleration.v =
            ff_vec3_scale(acc * ff_rng_uniform(&rng), ff_vec3_unit(test_random_vec3(&rng, 1.0)));
        const bool line = n % 5 == 0, flat = n % 5 == 1;
        ff_vec3 far = ff_vec3_scale(log_range(&rng, 1e-3, 1.0), ff_vec3_unit(test_random_vec3(&rng, 1.0)));
        if (line) /* all along one direction */
            s.acceleration.v = ff_vec3_scale(0.3 * acc / ff_vec3_norm(s.velocity.v), s.velocity.v);
        if (line)
            far = ff_vec3_scale(ff_vec3_norm(far) / ff_vec3_norm(s.velocity.v), s.velocity.v);
        if (flat)
            far.z = s.velocity.v.z = s.acceleration.v.z = 0.0;
        const ff_setpoint to = {{ff_quat_identity(), far}, ff_twist_zero()};
        ff_output_target(&s, &to, 0.0);
        const ff_output_state first = s;
        ff_output_step(&c, &s, 0.0, &out); /* seen for the first time: it may be on its way */
        ff_output_confirm(&s, true, false);
        assert_true(s.course[0].due == 0.0);
        const ff_output_course before = s.course[0];
        if (before.chasing) { /* nothing was kept then */
            assert_near(ff_vec3_norm(before.axis[0]), 1.0, 1e-12);
            assert_near(ff_vec3_norm(before.axis[1]), 1.0, 1e-12);
            assert_near(ff_vec3_dot(before.axis[0], before.axis[1]), 0.0, 1e-9);
            const ff_vec3 u = ff_vec3_axpy(0.5 * T, first.acceleration.v, first.velocity.v);
            reference each[4];
            double least;
            candidates(&c, far, u, first.acceleration.v, each);
            const int best = quickest(&c, each, 3, far, u, first.acceleration.v, &least);
            begun[best]++;
            for (int i = 0; i < 3; i++) {
                assert_near(before.share.a[i], each[best].share[i], 1e-6);
                assert_near(before.fast.a[i], each[best].fast[i], 1e-6);
            }
        }
        ff_output_target(&s, &to, T);
        const ff_vec3 e = ff_vec3_sub(far, s.pose.p);
        const bool on_it = before.active && before.exact;
        const ff_vec3 a = on_it ? before.acceleration : s.acceleration.v,
                      v = on_it ? before.velocity : ff_vec3_axpy(0.5 * T, a, s.velocity.v);
        ff_output_step(&c, &s, T, &out);
        if (!out.limited || !before.chasing)
            continue;
        reference each[4];
        candidates(&c, e, v, a, each);
        each[2] = parts_kept(&before);
        double least;
        const int best = quickest(&c, each, 4, e, v, a, &least);
        chosen[best]++;
        if (!(fabs(s.course[0].due - 2.0 * least) <= 1e-6 * least))
            fail_msg("%d: planned %.9g s, of %d parts %.9g s", n, 0.5 * s.course[0].due, best, least);
        /* and it is kept: a cycle later a cycle less is left */
        const double due = s.course[0].due;
        ff_output_confirm(&s, true, false);
        ff_output_target(&s, &to, 2.0 * T);
        ff_output_step(&c, &s, 2.0 * T, &out);
        if (out.limited)
            assert_near(s.course[0].due, due - T, 1e-12);
        /* one that moves has no promise */
        const ff_setpoint on = {to.T, {ff_vec3_zero(), ff_vec3_make(0.1 * c.velocity, 0, 0)}};
        ff_output_confirm(&s, true, false);
        ff_output_target(&s, &on, 3.0 * T);
        ff_output_step(&c, &s, 3.0 * T, &out);
        assert_true(s.course[0].due == 0.0 && !s.course[0].late);
    }
    print_message("begun by ease %d, whole %d, equal %d; then ease %d, whole %d, kept %d\n", begun[0],
                  begun[1], begun[2], chosen[0], chosen[1], chosen[2]);
    for (int k = 0; k < 3; k++)
        assert_true(chosen[k] > 0 && begun[k] > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_time_of_a_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
