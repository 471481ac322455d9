/* The controlled stop to the cycle: how long it waits for rest, what it decides, each step of the retreat.
 * The cycle is 1/256 s: its multiples are exact, so a count of cycles is, too. */
#include "support.h"

#include "freefloat/output.h"
#include "safety/safety.h"

#define CYCLE (1.0 / 256.0)

#define MOST (0.005 - 2.0 * 0.010 * CYCLE) /* planned at most: a stop in the middle moves by the rest */

enum { BODY = 1 }; /* its neighbours must not matter */

/* A stop of one body, cycle by cycle. */
typedef struct stopping {
    ff_safety_config c;
    ff_stop_state s;
    ff_stop_in in;
} stopping;

static stopping begin(void) {
    stopping r = {.c = {.bodies = 3, .cycle = CYCLE}};
    r.c.limits[BODY].box = ff_vec3_make(FF_INF, FF_INF, FF_INF);
    r.c.limits[BODY].velocity = r.c.limits[BODY].stop_acceleration = r.c.stop_jerk[BODY] = FF_INF;
    ff_limiter_default(&r.c.bounded[BODY]);
    r.c.delay[BODY] = 5.0 * CYCLE;
    r.c.settle[BODY] = 26.0 * CYCLE;
    r.c.contact[BODY] = 1.0;
    r.c.stiffness[BODY] = 2000.0;
    r.in = (ff_stop_in){ff_pose_identity(), true, ff_vec3_zero(), true, ff_pose_identity()};
    ff_stop_start(&r.s);
    assert_true(r.s.started && !r.s.done && !r.s.goes && !r.s.retreats);
    return r;
}

static int cycles_until_done(stopping *r) {
    int n = 0;
    while (!r->s.done && n < 100000) {
        ff_stop_step(&r->c, BODY, &r->s, &r->in);
        n++;
        if (r->s.goes) {
            r->in.at = r->in.measured = r->s.target.T;
            r->in.rests = false;
        } else
            r->in.rests = true;
    }
    return n;
}

/* Command at rest for a delay and three cycles, robot for `settle` and two: whichever is later, to the cycle;
 * a robot that moves again is waited for again. */
static void test_stop_takes_its_time_to_the_cycle(void **state) {
    (void)state;
    stopping r = begin();
    assert_int_equal(cycles_until_done(&r), 28);
    assert_int_equal(r.s.why, FF_STOP_FREE);
    assert_near(r.s.taken, 28.0 * CYCLE, 0.0);
    const ff_stop_state ended = r.s;
    ff_stop_step(&r.c, BODY, &r.s, &r.in); /* what is done stays as it is */
    assert_memory_equal(&r.s, &ended, sizeof ended);
    r = begin();
    r.c.settle[BODY] = CYCLE;
    assert_int_equal(cycles_until_done(&r), 8);
    for (int turns = 0; turns < 2; turns++)
        for (int above = 0; above < 2; above++) { /* within 2 um and 20 urad it stands */
            r = begin();
            for (int n = 0; n < 10; n++)
                ff_stop_step(&r.c, BODY, &r.s, &r.in);
            if (turns)
                r.in.measured.q = ff_quat_exp(ff_vec3_make(0, above ? 2.1e-5 : 1.9e-5, 0));
            else
                r.in.measured.p.y = above ? 2.1e-6 : 1.9e-6;
            assert_int_equal(10 + cycles_until_done(&r), above ? 38 : 28);
        }
    r = begin(); /* a command that moved once more: both count from there */
    for (int n = 0; n < 10; n++)
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
    r.in.rests = false;
    ff_stop_step(&r.c, BODY, &r.s, &r.in);
    assert_int_equal(r.s.rested, 0);
    r.in.rests = true;
    const int more = cycles_until_done(&r);
    assert_true(more == 27 || more == 28); /* the cycle of the command itself begins the count */
    r = begin();
    r.c.settle[BODY] = FF_INF; /* never at rest: a minute, 15360 cycles, and the next one ends it */
    r.s.goes = true;
    assert_int_equal(cycles_until_done(&r), 15361);
    assert_int_equal(r.s.why, FF_STOP_UNFINISHED);
    assert_false(r.s.goes);
}

/* At rest: a closed grasp holds, whatever else; then the force, its threshold, the stiffness decide. */
static void test_stop_decides_by_what_is_known(void **state) {
    (void)state;
    for (int which = 0; which < 6; which++) {
        stopping r = begin();
        r.in.force = ff_vec3_make(0, which == 4 ? 1.0 : which == 5 ? 1.0 + 0x1p-50 : 10.0, 0);
        r.s.grasped = which == 0;
        r.in.force_valid = which > 1;
        r.c.stiffness[BODY] = which < 3 ? 0.0 : which == 3 ? -1.0 : 2000.0;
        static const ff_stop_why why[] = {FF_STOP_GRASPED,      FF_STOP_NO_FORCE, FF_STOP_NO_STIFFNESS,
                                          FF_STOP_NO_STIFFNESS, FF_STOP_FREE,     FF_STOP_STILL_PUSHED};
        const int n = cycles_until_done(&r);
        assert_int_equal(r.s.why, why[which]);
        assert_int_equal(r.s.retreats, which == 5);
        /* a record is waited for, half a second; the cycle that ends it is the next one */
        assert_true(which == 5 ? n > 28 : n == (which == 1 ? 28 + 128 : 28));
        assert_false(r.s.goes);
    }
    for (int n = 0; n < 4; n++) { /* the one that comes decides, in its cycle; of a sensor that failed none */
        stopping r = begin();
        r.in.force = ff_vec3_make(0, n == 1 ? 0.5 : 10.0, 0);
        r.in.force_valid = false;
        r.s.distrusted = n == 3;
        for (int k = 0; k < 28 + 127 - 100 * (n == 2); k++)
            ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_int_equal(r.s.done, n == 3);
        r.in.force_valid = true;
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_int_equal(r.s.goes, n == 0 || n == 2);
        assert_int_equal(r.s.done, n == 1 || n == 3);
        if (r.s.done)
            assert_int_equal(r.s.why, n == 1 ? FF_STOP_FREE : FF_STOP_NO_FORCE);
    }
    stopping r = begin(); /* less than a newton per metre is a stiffness, too: the retreat is 5 mm */
    r.c.stiffness[BODY] = 0.5;
    r.in.force = ff_vec3_make(2, 0, 0);
    cycles_until_done(&r);
    assert_near(r.in.at.p.x, MOST, 1e-15);
}

/* 4 N on 2000 N/m: 3 mm along the force in steps of 10 mm/s CYCLE, the last one what is left, then at rest.
 */
static void test_retreat_step_by_step(void **state) {
    (void)state;
    stopping r = begin();
    const double step = 0.010 * CYCLE;
    r.in.force = ff_vec3_make(0, -2.4, 3.2);
    for (int n = 0; n < 27; n++)
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
    assert_false(r.s.retreats);
    r.in.at.p = ff_vec3_make(1, 2, 3); /* from what was last sent, not from where it is measured */
    int steps = 0;
    for (double left = 0.003; left > 1e-12; steps++) {
        const double go = fmin(left, step);
        left -= go;
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_true(r.s.goes && r.s.retreats && !r.s.done);
        assert_near(r.s.left, left, 1e-12);
        assert_near(r.s.push, 4.0, 1e-15);
        assert_vec3_near(r.s.normal, ff_vec3_make(0, -0.6, 0.8), 1e-15);
        assert_vec3_near(r.s.target.T.p, ff_vec3_make(1, 2 - 0.6 * (0.003 - left), 3 + 0.8 * (0.003 - left)),
                         1e-12);
        const double v = r.s.left > 0.0 ? go / CYCLE : 0.0;
        assert_vec3_near(r.s.target.twist.v, ff_vec3_make(0, -0.6 * v, 0.8 * v), 1e-12);
        assert_vec3_near(r.s.target.twist.w, ff_vec3_zero(), 0.0);
        r.in.at = r.s.target.T;
    }
    assert_int_equal(steps, (int)ceil(0.003 / step));
    ff_stop_step(&r.c, BODY, &r.s, &r.in); /* as far as it may: it stands, and is looked at once more */
    assert_false(r.s.goes);
    assert_int_equal(cycles_until_done(&r),
                     7); /* the delay and three cycles, this one counted: it never moved */
    assert_int_equal(r.s.why, FF_STOP_STILL_PUSHED);
}

/* While it retreats the force may grow by a fifth, not by more; one that is gone ends it. */
static void test_retreat_ends_by_the_force(void **state) {
    (void)state;
    static const struct {
        double force;
        bool valid, goes;
    } next[] = {{10.0, true, true}, {11.99, true, true}, {12.01, true, false},
                {1.0, true, false}, {1.01, true, true},  {10.0, false, true}};
    for (int n = 0; n < 6; n++) {
        stopping r = begin();
        r.in.force = ff_vec3_make(10, 0, 0);
        for (int k = 0; k < 28; k++)
            ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_true(r.s.goes);
        const double left = r.s.left;
        assert_near(left, MOST - 0.010 * CYCLE, 1e-15);
        r.in.force.x = next[n].force;
        r.in.force_valid = next[n].valid;
        r.in.at = r.s.target.T;
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_int_equal(r.s.goes, next[n].goes);
        if (next[n].goes)
            assert_near(r.s.left, left - 0.010 * CYCLE, 1e-15);
        else if (next[n].force > 12.0)
            assert_near(r.s.left, 0.0, 0.0); /* in the wrong direction: it is not tried again */
        else
            assert_near(r.s.left, left, 0.0);
        r.in.force.x = 0.0; /* at rest nothing pushes: out of it */
        r.in.force_valid = true;
        cycles_until_done(&r);
        assert_int_equal(r.s.why, FF_STOP_RETREATED);
    }
    /* five records are lost, and it continues; at the sixth it stands. At rest it still pushes, and the rest
     * of the path is made, from where it stands */
    stopping r = begin();
    r.in.force = ff_vec3_make(10, 0, 0);
    for (int k = 0; k < 28; k++)
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
    r.in.force_valid = false;
    for (int k = 0; k < 6; k++) {
        r.in.at = r.in.measured = r.s.target.T;
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_int_equal(r.s.goes, k < 5);
    }
    r.in.force_valid = true;
    cycles_until_done(&r);
    assert_int_equal(r.s.why, FF_STOP_STILL_PUSHED);
    assert_near(r.in.at.p.x, MOST, 1e-12);
}

/* A retreat that is interrupted again and again, or too slow, ends two seconds after it began, where it is.
 */
static void test_retreat_ends_by_its_time(void **state) {
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        stopping r = begin();
        r.in.force = ff_vec3_make(10, 0, 0);
        if (slow) /* 5 mm take five seconds */
            r.c.limits[BODY].velocity = 0.001;
        int begun = 0, last = 0, n = 0;
        for (; !r.s.done && n < 100000; n++) {
            r.in.force_valid =
                slow || n % 60 < 2; /* it continues for seven cycles, and stands for half a second */
            ff_stop_step(&r.c, BODY, &r.s, &r.in);
            begun = r.s.retreats && !begun ? n : begun;
            r.in.rests = !r.s.goes;
            if (r.s.goes) {
                r.in.at = r.in.measured = r.s.target.T;
                last = n;
            }
        }
        assert_int_equal(r.s.why, FF_STOP_STILL_PUSHED);
        if (!(last - begun <= 512 && last - begun > (slow ? 510 : 400)))
            fail_msg("%d: from %d to %d", slow, begun, last);
        assert_true(n - begun <= 512 + 28 + 60);
        assert_true(r.in.at.p.x > 0.0 && r.in.at.p.x <= (slow ? 0.0021 : MOST + 1e-12));
    }
}

/* It begins and ends with four fifths of the stop's acceleration, and no step of its velocity, the last one
 * to rest included, is more than that acceleration makes in two cycles: the output stage is never behind. Its
 * length is the same, its time longer by v/a: v/2a for each end. */
static void test_retreat_begins_and_ends_slowly(void **state) {
    (void)state;
    stopping fast = begin(), r = begin();
    const double a = 0.5;
    r.c.limits[BODY].stop_acceleration = a / 0.8;
    r.in.force = fast.in.force = ff_vec3_make(10, 0, 0);
    double v = 0.0, most = 0.0;
    int cycles = 0;
    for (; !r.s.done && cycles < 10000; cycles++) {
        const double before = r.in.at.p.x;
        ff_stop_step(&r.c, BODY, &r.s, &r.in);
        r.in.rests = !r.s.goes;
        if (r.s.goes)
            r.in.at = r.in.measured = r.s.target.T;
        const double now = (r.in.at.p.x - before) / CYCLE;
        assert_true(fabs(now - v) <= 2.0 * a * CYCLE + 1e-12 && now - v <= a * CYCLE + 1e-12);
        most = fmax(most, now);
        v = now;
    }
    assert_near(r.in.at.p.x, MOST, 2e-9);
    assert_near(most, 0.010, 1e-12);
    assert_int_equal(r.s.why, FF_STOP_STILL_PUSHED);
    assert_near((double)(cycles - cycles_until_done(&fast)) * CYCLE, 0.010 / a, 3.0 * CYCLE);
}

/* A robot that may only be slower retreats more slowly: `safety` and `limits`, the smaller of both. */
static void test_retreat_is_no_faster_than_the_limits(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        stopping r = begin();
        r.in.force = ff_vec3_make(10, 0, 0);
        r.c.limits[BODY].velocity = n == 0 ? 0.004 : n == 1 ? 0.5 : 0.008;
        r.c.bounded[BODY].velocity = n == 0 ? 0.5 : n == 1 ? 0.004 : 0.5;
        for (int k = 0; k < 28; k++)
            ff_stop_step(&r.c, BODY, &r.s, &r.in);
        assert_true(r.s.goes);
        assert_near(r.s.target.T.p.x, (n == 2 ? 0.008 : 0.004) * CYCLE, 1e-15);
    }
}

/* A retreat stays in the box about its centre, to the bit, on each axis. */
static void test_retreat_stays_in_the_box(void **state) {
    (void)state;
    for (int a = 0; a < 3; a++)
        for (int side = -1; side <= 1; side += 2) {
            stopping r = begin();
            r.c.origin[BODY].a[a] = 0.5;
            r.in.at.p.a[a] = r.in.measured.p.a[a] = 0.5;
            r.c.limits[BODY].box.a[a] = 0.0021;
            r.in.force.a[a] = 10.0 * side;
            cycles_until_done(&r);
            const double went = side * (r.in.at.p.a[a] - 0.5);
            assert_true(went <= 0.0021 && went > 0.0021 - 0.010 * CYCLE);
            assert_int_equal(r.s.why, FF_STOP_STILL_PUSHED);
        }
}

/* An axis at the edge of its box, or beyond it, does not keep the others from leaving a contact. */
static void test_retreat_along_the_edge_of_the_box(void **state) {
    (void)state;
    for (int a = 0; a < 3; a++)
        for (int beyond = 0; beyond < 2; beyond++) {
            stopping r = begin();
            const int other = (a + 1) % 3;
            r.c.limits[BODY].box.a[other] = beyond ? 0.125 : 0.25;
            r.in.at.p.a[other] = r.in.measured.p.a[other] = r.c.origin[BODY].a[other] - 0.25;
            const double from = r.in.at.p.a[a];
            r.in.force.a[a] = 10.0;
            cycles_until_done(&r);
            assert_true(r.in.at.p.a[a] - from > 0.001);
            assert_near(r.in.at.p.a[other], r.c.origin[BODY].a[other] - 0.25, 0.0);
        }
}

/* A robot behind its output stage cannot stand at once: what it is sent stays within 5 mm, whatever
 * deceleration and jerk it has, whether answers are lost (it is held, and led on from rest) or the force ends
 * and comes again, so that it is stopped in the middle. Where nothing of that happens all that was planned is
 * made, and no more. */
static void test_retreat_of_a_robot_that_brakes_keeps_its_distance(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    int slow = 0;
    for (int n = 0; n < test_count(100, 3000); n++) {
        stopping r = begin();
        ff_output_config o;
        ff_output_state out;
        ff_output_out sent = {.rests = true};
        const double A = exp(ff_rng_range(&rng, log(0.003), log(10.0))),
                     J = A / exp(ff_rng_range(&rng, log(CYCLE), log(0.1))), far = n % 2 ? 0.0015 : MOST;
        const double less = n % 5 == 4 ? ff_rng_range(&rng, 0.2, 1.0) : 1.0; /* than a stop may have */
        ff_output_default(&o);
        o.cycle = CYCLE;
        o.resolution = 1e-9;
        o.jerk = J;
        o.stop_acceleration = A / less;
        o.acceleration = A;
        ff_safety_set_braking(&r.c, BODY, &o);
        ff_output_reset(&out, ff_pose_identity());
        const ff_vec3 force = n % 2 ? ff_vec3_make(0, -1.2, 1.6) : ff_vec3_make(20, 0, 0);
        r.c.stiffness[BODY] = 4000.0;
        double most = 0.0;
        for (int k = 0; k < 20000 && !r.s.done; k++) {
            const bool gone = n % 4 == 2 && r.s.goes && ff_rng_uniform(&rng) < 0.03;
            r.in.force = gone ? ff_vec3_zero() : force;
            ff_stop_step(&r.c, BODY, &r.s, &r.in);
            if (r.s.goes)
                ff_output_target(&out, &r.s.target, k * CYCLE);
            else
                ff_output_brake(&out);
            ff_output_step(&o, &out, k * CYCLE, &sent);
            const bool held = n % 3 == 0 && ff_rng_uniform(&rng) < 0.02; /* an answer was lost: it stands */
            ff_output_confirm(&out, !held, held);
            r.in.at = r.in.measured = out.pose;
            r.in.rests = sent.rests;
            most = fmax(most, ff_vec3_norm(out.pose.p));
        }
        assert_true(r.s.done && r.s.retreats);
        const bool through = n % 3 && n % 4 != 2;
        const double allowed = through ? far + 1e-9 : far + 2.0 * 0.010 * CYCLE;
        const bool in_time = r.s.retreated <= 2.0; /* else it ends where it is */
        slow += !in_time;
        if (!(most <= allowed) || (in_time && !(most > far - (through ? 2e-8 : 1e-4))))
            fail_msg("%d: %g m of %g with %g m/s2, %g m/s3", n, most, far, A, J);
    }
    assert_true(slow < test_count(60, 1800));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_takes_its_time_to_the_cycle),
        cmocka_unit_test(test_stop_decides_by_what_is_known),
        cmocka_unit_test(test_retreat_step_by_step),
        cmocka_unit_test(test_retreat_ends_by_the_force),
        cmocka_unit_test(test_retreat_ends_by_its_time),
        cmocka_unit_test(test_retreat_begins_and_ends_slowly),
        cmocka_unit_test(test_retreat_is_no_faster_than_the_limits),
        cmocka_unit_test(test_retreat_stays_in_the_box),
        cmocka_unit_test(test_retreat_along_the_edge_of_the_box),
        cmocka_unit_test(test_retreat_of_a_robot_that_brakes_keeps_its_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
