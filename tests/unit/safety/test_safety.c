/* The safety states and the controlled stop, as pure functions. */
#include "support.h"

#include "facility/plan.h"
#include "fit/motion.h"
#include "operator/ring.h"
#include "executive/walk.h"
#include "safety/levels.h"
#include "safety/safety.h"

static ff_safety_config config_one(void) {
    ff_safety_config c = {
        .bodies = 1, .cycle = 0.004, .delay = {0.02}, .contact = {1.0}, .stiffness = {2000.0}};
    const ff_vec3 wide = {{FF_INF, FF_INF, FF_INF}};
    c.limits[0] = (ff_safety_limits){.box = wide,
                                     .velocity = FF_INF,
                                     .angular_velocity = FF_INF,
                                     .acceleration = FF_INF,
                                     .angular_acceleration = FF_INF,
                                     .jerk = FF_INF,
                                     .force = FF_INF,
                                     .torque = FF_INF,
                                     .spike = FF_INF,
                                     .energy = FF_INF,
                                     .tracking = FF_INF,
                                     .age = 0.02,
                                     .missed = 5,
                                     .stop_acceleration = 1.0,
                                     .stop_angular_acceleration = 2.0};
    c.stop_jerk[0] = FF_INF;
    c.settle[0] = 0.1;
    ff_limiter_default(&c.bounded[0]);
    return c;
}

/* A sample, and what the operator and the check say beside it. */
typedef struct watched {
    ff_safety_body_in body[FF_MAX_BODIES];
    double missed;
    ff_trip other;
    bool ready, testing, checked, arm, start, stop;
    ff_trip_code stop_reason;
} watched;

static watched calm(void) {
    watched in = {.ready = true, .checked = true, .arm = true, .start = true};
    in.body[0].measured.T = in.body[0].command.T = ff_pose_identity();
    in.body[0].force_valid = true;
    return in;
}

/* A machine and what it sees. */
typedef struct machine {
    ff_safety_config c;
    ff_walk s;
    watched in;
    bool tripped;
} machine;

typedef enum action { REST, MOVE, BRAKE } action;

/* One cycle; a stop comes to rest at once, and so do the approach to the start and the run-up. */
static action step(machine *m) {
    ff_safety_in in = {.missed = m->in.missed};
    memcpy(in.body, m->in.body, sizeof in.body);
    if (m->s.state == FF_STATE_CHECK && m->in.testing)
        m->s.state = FF_STATE_TEST;
    const bool moved = ff_state_moves(m->s.state) && m->s.state != FF_STATE_TEST;
    m->tripped = ff_walk_judge(&m->c, &m->s, &in, m->in.other, m->in.stop ? m->in.stop_reason : FF_TRIP_NONE);
    if (m->s.state == FF_STATE_TEST)
        ff_walk_on(&m->s, FF_ON_TESTED);
    if (m->s.state >= FF_STATE_BRAKE) {
        ff_walk_rested(&m->s);
        return BRAKE;
    }
    if (m->s.state == FF_STATE_OFF && m->in.ready)
        ff_walk_on(&m->s, FF_ON_READY);
    else if (m->s.state == FF_STATE_CHECK && m->in.checked)
        ff_walk_on(&m->s, FF_ON_PASSED);
    else if (m->s.state == FF_STATE_ZEROED && m->in.arm)
        ff_walk_on(&m->s, FF_ON_ARM);
    else if (m->s.state == FF_STATE_ARMED && m->in.start) {
        ff_walk_on(&m->s, FF_ON_START);
        ff_walk_on(&m->s, FF_ON_ARRIVED);
        ff_walk_on(&m->s, FF_ON_BEGIN);
    }
    return moved ? MOVE : REST;
}

/* Brought to FLOAT. */
static machine floating(ff_safety_config c) {
    machine m = {.c = c, .in = calm()};
    ff_walk_reset(&m.s, FF_STATE_OFF);
    for (int i = 0; i < 5; i++)
        step(&m);
    assert_int_equal(m.s.state, FF_STATE_FLOAT);
    return m;
}

static void test_states_need_each_command_in_turn(void **state) {
    (void)state;
    machine m = {.c = config_one(), .in = calm()};
    ff_walk_reset(&m.s, FF_STATE_OFF);
    m.in.ready = m.in.checked = m.in.arm = m.in.start = false;
    for (int i = 0; i < 3; i++)
        assert_int_equal(step(&m), REST);
    assert_int_equal(m.s.state, FF_STATE_OFF);
    m.in.arm = m.in.start = true; /* nothing arms before the checks */
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_OFF);
    m.in.ready = true;
    step(&m);
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_CHECK);
    m.in.checked = true;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_ZEROED);
    m.in.arm = false;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_ZEROED);
    m.in.arm = true;
    assert_int_equal(step(&m), REST);
    assert_int_equal(m.s.state, FF_STATE_ARMED);
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_FLOAT);
    assert_int_equal(step(&m), MOVE);
    m.in.body[0].f_b.f.x = -2.0;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_CONTACT);
    m.in.body[0].f_b.f.x = 0.5;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_FLOAT);
    m.in.stop = true;
    m.in.stop_reason = FF_TRIP_OPERATOR;
    assert_int_equal(step(&m), BRAKE);
    assert_true(m.tripped);
    assert_int_equal(m.s.state, FF_STATE_HOLD);
}

static void test_fault_latches(void **state) {
    (void)state;
    machine m = floating(config_one());
    m.in.missed = 6;
    assert_int_equal(step(&m), BRAKE);
    assert_true(m.tripped);
    m.in = calm();
    for (int i = 0; i < 10; i++)
        assert_int_equal(step(&m), BRAKE);
    assert_false(m.tripped);
    assert_int_equal(m.s.state, FF_STATE_FAULT);
    assert_int_equal(m.s.cause.code, FF_TRIP_MISSED);
    assert_near(m.s.cause.value, 6.0, 0.0);
    assert_near(m.s.cause.limit, 5.0, 0.0);
}

/* Held in order, the robot is still watched for being pressed; a held robot that was never zeroed is not. */
static void test_a_held_robot_must_not_be_pressed(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        ff_safety_config c = config_one();
        c.limits[0].force = 100.0;
        c.limits[0].torque = 10.0;
        machine m = floating(c);
        if (which == 2) {
            ff_walk_reset(&m.s, FF_STATE_OFF);
            m.in.checked = false;
            step(&m);
        }
        m.in.stop = true;
        m.in.stop_reason = FF_TRIP_OPERATOR;
        step(&m);
        assert_int_equal(m.s.state, FF_STATE_HOLD);
        m.in.body[0].f_b.f.y = 0.999 * m.c.limits[0].force;
        m.in.body[0].f_b.t.z = -0.999 * m.c.limits[0].torque;
        step(&m);
        assert_int_equal(m.s.state, FF_STATE_HOLD);
        if (which == 1)
            m.in.body[0].f_b.t.z *= 1.01;
        else
            m.in.body[0].f_b.f.y *= 1.01;
        assert_int_equal(step(&m), BRAKE);
        if (which == 2) {
            assert_int_equal(m.s.state, FF_STATE_HOLD);
            continue;
        }
        assert_true(m.tripped);
        assert_int_equal(m.s.state, FF_STATE_FAULT);
        assert_int_equal(m.s.cause.code, which ? FF_TRIP_TORQUE : FF_TRIP_FORCE);
        assert_near(m.s.cause.limit, which ? m.c.limits[0].torque : m.c.limits[0].force, 0.0);
    }
}

/* Each limit alone: a little below passes, a little above trips with its code, value and limit. */
static void test_each_limit_trips_at_its_value(void **state) {
    (void)state;
    for (int which = 0; which < 13; which++)
        for (int above = 0; above < 2; above++) {
            ff_safety_config c = config_one();
            ff_safety_limits *l = &c.limits[0];
            const double x = above ? 1.001 : 0.999;
            watched in = calm();
            ff_safety_body_in *b = &in.body[0];
            ff_trip_code code = FF_TRIP_NONE;
            switch (which) {
            case 0: /* v = 0.1: rests 0.1 * 0.02 + 0.1^2/2 = 0.007 m ahead */
                l->box.y = 0.05;
                b->measured.twist.v.y = -0.1;
                b->measured.T.p.y = 0.007 - 0.05 * x;
                code = FF_TRIP_BOX;
                break;
            case 1:
                l->velocity = 0.5;
                b->measured.twist.v = ff_vec3_make(0.3 * x, 0.4 * x, 0);
                code = FF_TRIP_VELOCITY;
                break;
            case 2:
                l->angular_velocity = 0.5;
                b->measured.twist.w.z = -0.5 * x;
                code = FF_TRIP_ANGULAR_VELOCITY;
                break;
            case 3:
                l->acceleration = 2.0;
                b->command.twist.v.x = 2.0 * 0.004 * x;
                code = FF_TRIP_ACCELERATION;
                break;
            case 4:
                l->angular_acceleration = 2.0;
                b->command.twist.w.x = 2.0 * 0.004 * x;
                code = FF_TRIP_ANGULAR_ACCELERATION;
                break;
            case 5:
                l->jerk = 100.0;
                b->command.twist.v.x = 100.0 * 0.004 * 0.004 * x;
                code = FF_TRIP_JERK;
                break;
            case 6:
                l->force = 50.0;
                b->f_b.f.z = -50.0 * x;
                code = FF_TRIP_FORCE;
                break;
            case 7:
                l->torque = 5.0;
                b->f_b.t.y = 5.0 * x;
                code = FF_TRIP_TORQUE;
                break;
            case 8:
                l->spike = 20.0;
                b->f_b.f.x = 20.0 * x;
                code = FF_TRIP_SPIKE;
                break;
            case 9:
                l->energy = 0.5;
                b->energy = 0.5 * x;
                code = FF_TRIP_ENERGY;
                break;
            case 10:
                l->tracking = 0.01;
                b->tracking = 0.01 * x;
                code = FF_TRIP_TRACKING;
                break;
            case 11:
                in.missed = above ? 6 : 5;
                code = FF_TRIP_MISSED;
                break;
            default:
                b->clipped = above;
                code = FF_TRIP_CLIPPED;
                break;
            }
            machine m = floating(c);
            step(&m); /* differences need neighbours */
            step(&m);
            m.in = in;
            step(&m);
            if (m.tripped != (above == 1) || (above && m.s.cause.code != code))
                fail_msg("limit %s, %s: tripped %d by %s", ff_trip_name(code), above ? "above" : "below",
                         m.tripped, ff_trip_name(m.s.cause.code));
        }
}

/* What `limits` reduce before it is sent breaks no wider limit of `safety`; a narrower one is broken by the
 * command all the same, and so is any by the robot's own velocity. */
static void test_limits_reduce_what_is_judged_of_the_command(void **state) {
    (void)state;
    for (int which = 0; which < 6; which++)
        for (int narrower = 0; narrower < 2; narrower++) {
            ff_safety_config c = config_one();
            ff_safety_limits *l = &c.limits[0];
            ff_limiter_config *most = &c.bounded[0];
            double *const limit[] = {&l->velocity,     &l->angular_velocity,
                                     &l->acceleration, &l->angular_acceleration,
                                     &l->jerk,         &l->velocity};
            double *const bound[] = {&most->velocity,     &most->angular_velocity,
                                     &most->acceleration, &most->angular_acceleration,
                                     &most->jerk,         &most->velocity};
            *limit[which] = 1.0;
            *bound[which] = narrower ? 1.1 : 1.0;
            machine m = floating(c);
            step(&m);
            step(&m);
            if (which == 1 || which == 3)
                m.in.body[0].command.twist.w.y = 2.0;
            else if (which < 5)
                m.in.body[0].command.twist.v.y = 2.0;
            else
                m.in.body[0].measured.twist.v.y = 2.0;
            step(&m);
            assert_int_equal(m.tripped, narrower || which == 5);
        }
}

static void test_not_finite_trips(void **state) {
    (void)state;
    for (int n = 0; n < 10; n++) {
        machine m = floating(config_one());
        ff_safety_body_in *b = &m.in.body[0];
        double *const value[] = {&b->measured.T.p.z,     &b->measured.T.q.w, &b->measured.twist.v.x,
                                 &b->measured.twist.w.y, &b->f_b.f.z,        &b->f_b.t.x};
        *value[n % 6] = n < 6 ? FF_NAN : FF_INF;
        step(&m);
        assert_int_equal(m.s.cause.code, FF_TRIP_NOT_FINITE);
        assert_int_equal(m.s.state, FF_STATE_FAULT);
    }
}

/* The stop: never faster than before, deceleration within its bound, and it stands v^2/(2 a) further on. */
/* The pose limits are tested where a stop ends, one delay further on: v delay + v^2/2a. */
static void test_stop_point(void **state) {
    (void)state;
    const ff_safety_config c = config_one();
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 200; n++) {
        const ff_setpoint first = {test_random_pose(&rng, 1.0),
                                   {test_random_vec3(&rng, 0.5), test_random_vec3(&rng, 0.5)}};
        const double v = ff_vec3_norm(first.twist.v);
        assert_vec3_near(ff_stop_point(&c, 0, &first),
                         ff_vec3_axpy(c.delay[0] + 0.5 * v, first.twist.v, first.T.p), 1e-12);
    }
}

/* A robot under the stop: it goes where it is commanded at once, and rests without a command. */
typedef struct stopped {
    ff_stop_state s;
    ff_pose at;
    bool rests;
} stopped;

static stopped begin_stop(void) {
    stopped r = {.at = ff_pose_identity()};
    ff_stop_start(&r.s);
    return r;
}

static void stop_once(const ff_safety_config *c, stopped *r, ff_vec3 force, bool valid) {
    const ff_stop_in in = {r->at, r->rests, force, valid, r->at};
    ff_stop_step(c, 0, &r->s, &in);
    if (r->s.goes)
        r->at = r->s.target.T;
    r->rests = !r->s.goes;
}

static void test_retreat_is_bounded_and_along_the_force(void **state) {
    (void)state;
    ff_safety_config c = config_one();
    /* 10 N: 5 mm + 1 mm, of which 5 mm less two cycles are made; 4 N: 2 mm + 1 mm */
    for (int n = 0; n < 2; n++) {
        const double size = n ? 4.0 : 10.0, far = n ? 0.003 : 0.005 - 2.0 * 0.010 * c.cycle;
        const ff_vec3 force = {{-0.6 * size, 0.0, 0.8 * size}};
        stopped r = begin_stop();
        int steps = 0;
        for (; !r.s.done && steps < 10000; steps++) {
            const ff_vec3 before = r.at.p;
            stop_once(&c, &r, force, true);
            assert_true(ff_vec3_norm(ff_vec3_sub(r.at.p, before)) <= 0.010 * c.cycle + 1e-15);
            if (r.s.goes)
                assert_true(ff_vec3_norm(r.s.target.twist.v) <= 0.010 + 1e-9);
        }
        assert_true(r.s.retreats);
        assert_vec3_near(r.at.p, ff_vec3_make(-0.6 * far, 0.0, 0.8 * far), 2e-9);
        assert_int_equal(r.s.why, FF_STOP_STILL_PUSHED); /* this force never ends */
        /* at 10 mm/s, half the stop's acceleration at both ends; the time to see that it rests, before and
         * after */
        const double rests = c.settle[0] / c.cycle + 2.0;
        assert_near((double)steps, (far / 0.010 + 0.010 / 0.8) / c.cycle + 2.0 * rests + 1.0, 3.0);
    }
    /* a wall of that stiffness, and a robot that follows by the delay: out of it, not a millimetre too far;
     * one with damping lets go before it is left, and every tenth sample is lost: at rest nothing pushes */
    for (int a = 0; a < 40; a++) {
        const double wall = -0.0005 - 1e-4 * a, damping = a % 2 ? 500.0 : 0.0;
        ff_vec3 commanded[8] = {ff_vec3_zero()};
        double x = 0.0, force_at_rest = 0.0;
        stopped r = begin_stop();
        for (int n = 0; n < 10000 && !r.s.done; n++) {
            const double before = x;
            x = commanded[(n + 8 - 5) % 8].x;
            const double depth = x - wall, v = (x - before) / c.cycle;
            force_at_rest = fmax(0.0, 2000.0 * depth);
            const double f = depth > 0.0 ? fmax(0.0, 2000.0 * depth + damping * v) : 0.0;
            stop_once(&c, &r, ff_vec3_make(-f, 0, 0), n % 10 != 3);
            commanded[n % 8] = r.at.p;
        }
        assert_true(r.s.done);
        const bool touched = -wall * 2000.0 > c.contact[0];
        assert_true(r.s.retreats == touched);
        assert_true(r.s.why == (touched ? FF_STOP_RETREATED : FF_STOP_FREE));
        assert_true(force_at_rest <= c.contact[0]);
        assert_true(r.at.p.x - wall > -0.0011);
    }
    /* a force that grows meanwhile: the wrong direction */
    stopped r = begin_stop();
    for (int n = 0; n < 10000 && !r.s.done; n++)
        stop_once(&c, &r, ff_vec3_make(-10.0 + 2000.0 * r.at.p.x, 0, 0), true);
    assert_true(r.s.done && r.s.why == FF_STOP_STILL_PUSHED);
    assert_near(r.at.p.x, -0.001, 1e-4); /* 20 % more than at its begin */
    /* the box: not out of it; from outside, never further out, but back */
    c.limits[0].box = ff_vec3_make(0.002, FF_INF, FF_INF);
    r = begin_stop();
    for (int n = 0; n < 10000 && !r.s.done; n++)
        stop_once(&c, &r, ff_vec3_make(-10, 0, 0), true);
    assert_near(r.at.p.x, -0.002, 0.010 * c.cycle);
    for (int n = 0; n < 2; n++) {
        r = begin_stop();
        r.at.p.x = 0.004;
        for (int k = 0; k < 10000 && !r.s.done; k++)
            stop_once(&c, &r, ff_vec3_make(n ? 10 : -10, 0, 0), true);
        assert_near(r.at.p.x, n ? 0.004 : -0.001 + 2.0 * 0.010 * c.cycle, 2e-9);
    }
    c.limits[0].box = ff_vec3_make(FF_INF, FF_INF, FF_INF);
    /* no force, no valid force, no stiffness: it holds */
    for (int n = 0; n < 3; n++) {
        c.stiffness[0] = n == 2 ? 0.0 : 2000.0;
        r = begin_stop();
        for (int i = 0; i < 200; i++) /* half a second for a valid record */
            stop_once(&c, &r, n == 0 ? ff_vec3_zero() : ff_vec3_make(-6, 0, 8), n != 1);
        assert_true(r.s.done && !r.s.retreats);
        assert_vec3_near(r.at.p, ff_vec3_zero(), 0.0);
    }
}

/* Nothing is decided before the robot rests. */
static void test_stop_waits_for_rest(void **state) {
    (void)state;
    const ff_safety_config c = config_one();
    ff_stop_state s;
    ff_stop_start(&s);
    const ff_stop_in moves = {ff_pose_identity(), false, ff_vec3_make(-10, 0, 0), true, ff_pose_identity()};
    for (int n = 0; n < 1000; n++)
        ff_stop_step(&c, 0, &s, &moves);
    assert_true(!s.done && !s.retreats && !s.goes);
}

/* A robot that comes to rest later than its command, x = exp(-t/tau) v tau: the stop is over when it moves by
 * less than 2 um in two cycles more, so below v(t) 2 T = 2 um; a turn counts as well. One whose measured pose
 * is not finite is not waited for: nothing would ever be known. */
static void test_stop_waits_for_the_robot_itself(void **state) {
    (void)state;
    const ff_safety_config c = config_one();
    for (int n = 0; n < 3; n++) {
        const double tau = 0.2, v = 0.1;
        ff_stop_state s;
        ff_stop_start(&s);
        double t = 0.0;
        for (; !s.done && t < 30.0; t += c.cycle) {
            ff_pose at = ff_pose_identity();
            const double x = v * tau * exp(-t / tau);
            if (n == 0)
                at.p.y = x;
            else if (n == 1)
                at.q = ff_quat_exp(ff_vec3_make(0, 0, x));
            else
                at.p.z = FF_NAN;
            const ff_stop_in in = {ff_pose_identity(), true, ff_vec3_zero(), true, at};
            ff_stop_step(&c, 0, &s, &in);
        }
        assert_true(s.done && s.why == FF_STOP_FREE);
        /* x changes by less than that in a window: the first such one, or one that begins in it */
        const double most = n == 0 ? 2e-6 : 2e-5, W = c.settle[0] + c.cycle;
        const double begins = n == 2 ? 0.0 : tau * log(v * tau * (1.0 - exp(-W / tau)) / most);
        assert_true(t >= begins + W - 1e-9 && t <= begins + (n == 2 ? W : 2.0 * W) + 4.0 * c.cycle);
    }
}

/* Limits that let no robot come to rest: the stop ends after a minute, and says so. */
static void test_stop_ends_in_any_case(void **state) {
    (void)state;
    const ff_safety_config c = config_one();
    ff_stop_state s;
    ff_stop_start(&s);
    const ff_stop_in moves = {ff_pose_identity(), false, ff_vec3_make(-10, 0, 0), true, ff_pose_identity()};
    int n = 0;
    for (; !s.done && n < 100000; n++)
        ff_stop_step(&c, 0, &s, &moves);
    assert_int_equal(s.why, FF_STOP_UNFINISHED);
    assert_near(n * c.cycle, FF_STOP_LONGEST, 2.0 * c.cycle);
    assert_true(!s.goes && !s.retreats);
    assert_non_null(strstr(ff_stop_text(s.why), "60 s"));
}

/* A step that failed: what it was, and how fast the satellite was before. */
static void test_a_failed_step_is_a_trip_with_its_cause(void **state) {
    (void)state;
    char text[FF_TRIP_SENTENCE];
    static ff_loop_state loop;
    loop.body[0].velocity = ff_vec3_make(0, 3, 4);
    loop.body[1].velocity = ff_vec3_make(0, 6e8, 8e8);
    ff_trip trip = ff_trip_of_step(FF_ERR_DIVERGED, &loop, 1, "tdpa");
    assert_true(trip.code == FF_TRIP_DIVERGED && trip.body == 0 && trip.value == 5.0 && trip.limit == 1e9);
    trip = ff_trip_of_step(FF_ERR_DIVERGED, &loop, 2, "tdpa");
    assert_true(trip.body == 1 && trip.value == 1e9);
    ff_trip_sentence(&trip, "b", text, sizeof text);
    assert_string_equal(text,
                        "DIVERGED: method 'tdpa': the loop's motion diverged (1e+09, allowed 1e+09 m/s), "
                        "satellite b: compare delay and stiffness with the scenario, or change the method");
    trip = ff_trip_of_step(FF_ERR_NOT_FINITE, &loop, 2, "mine");
    assert_true(trip.code == FF_TRIP_METHOD && trip.status == FF_ERR_NOT_FINITE);
    ff_trip_sentence(&trip, "b", text, sizeof text);
    assert_non_null(strstr(text, "METHOD: method 'mine': the method has failed: "));
    assert_non_null(strstr(text, ff_status_text(FF_ERR_NOT_FINITE)));
    /* a controller's signal; one that is not the controller's affair is the whole cause, with its own remedy
     */
    trip = (ff_trip){.code = FF_TRIP_CONTROLLER, .of = "drives", .value = 0, .limit = 1};
    ff_trip_sentence(&trip, "b", text, sizeof text);
    assert_string_equal(text,
                        "CONTROLLER: drives: the controller does not move its robot any more (0, allowed 1), "
                        "satellite b: see its pendant");
    trip = (ff_trip){
        .code = FF_TRIP_CONTROLLER, .of = "stamps ahead, in ms", .act = "NTP", .value = 501, .limit = 500};
    ff_trip_sentence(&trip, "b", text, sizeof text);
    assert_string_equal(text, "CONTROLLER: stamps ahead, in ms (501, allowed 500), satellite b: NTP");
}

static void test_trips_by_the_sensor(void **state) {
    (void)state;
    for (int code = 0; code < FF_TRIP_CODES; code++) {
        const char *name = ff_trip_name((ff_trip_code)code);
        const bool by = strstr(" AGE RANGE FROZEN SENSOR SPIKE NOT_FINITE ", name) && *name;
        assert_int_equal(ff_trip_by_sensor((ff_trip_code)code), by);
    }
}

/* Run-up: at rest at first, steady at the end, on the path of the constant twist, no jump. */
static void test_runup_reaches_the_start(void **state) {
    (void)state;
    ff_plan plan = {.bodies = 1, .cycle = 0.004, .cruise = 0.08, .ramp = 0.4, .runup = 120};
    ff_setpoint *start = &plan.body[0].start;
    start->T = ff_pose_identity();
    start->T.p = ff_vec3_make(1, 2, 3);
    start->twist = (ff_twist){{{0.1, -0.2, 0.3}}, {{0.05, 0.02, -0.03}}};
    const ff_setpoint end = ff_plan_runup(&plan, 0, 0.0), far = ff_plan_runup(&plan, 0, -FF_INF);
    assert_vec3_near(end.T.p, start->T.p, 0.0);
    assert_vec3_near(end.twist.v, start->twist.v, 0.0);
    assert_vec3_near(far.twist.v, ff_vec3_zero(), 0.0);
    const double h = 1e-5;
    for (double t = -0.47; t < -0.01; t += 0.01) { /* its twist is the derivative of its pose */
        const ff_setpoint a = ff_plan_runup(&plan, 0, t - h), b = ff_plan_runup(&plan, 0, t + h);
        const ff_setpoint m = ff_plan_runup(&plan, 0, t);
        assert_vec3_near(ff_vec3_scale(0.5 / h, ff_vec3_sub(b.T.p, a.T.p)), m.twist.v, 1e-7);
        const ff_vec3 w = ff_quat_log(ff_quat_mul(ff_quat_conj(a.T.q), b.T.q));
        assert_vec3_near(ff_vec3_scale(0.5 / h, w), m.twist.w, 1e-7);
    }
}

/* Velocity of a turning, accelerating body: the error falls with the square of the cycle. */
static void test_motion_is_second_order(void **state) {
    (void)state;
    double error[2];
    for (int n = 0; n < 2; n++) {
        const double T = n ? 0.002 : 0.004;
        ff_motion_state s = {0};
        ff_setpoint m = {0};
        ff_twist a;
        for (int i = 0; i <= 250 * (1 + n); i++) {
            const double t = i * T;
            const ff_pose p = {ff_quat_exp(ff_vec3_make(0, 0.3 * sin(2 * t), 0)),
                               ff_vec3_make(0.1 * sin(3 * t), 0.2 * t, 0.1 * cos(3 * t))};
            m = ff_motion_step(&s, p, T, &a);
        }
        error[n] = ff_vec3_norm(ff_vec3_sub(m.twist.v, ff_vec3_make(0.3 * cos(3.0), 0.2, -0.3 * sin(3.0)))) +
                   fabs(m.twist.w.y - 0.6 * cos(2.0));
    }
    assert_true(error[0] < 1e-4);
    assert_near(error[0] / error[1], 4.0, 0.2);
}

static void test_ring_keeps_order_and_counts_drops(void **state) {
    (void)state;
    ff_ring ring = {0};
    assert_int_equal(ff_ring_create(&ring, sizeof(int), 8), FF_OK);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 10; i++)
            assert_int_equal(ff_ring_push(&ring, &i), i < 8);
        assert_int_equal(ff_ring_dropped(&ring), 2 * (round + 1));
        int value;
        for (int i = 0; i < 8; i++) {
            assert_true(ff_ring_pop(&ring, &value));
            assert_int_equal(value, i);
        }
        assert_false(ff_ring_pop(&ring, &value));
    }
    ff_ring_free(&ring);
}

/* The reason decides: orders and the end hold, all else is a fault, also while stopping in order, and also in
 * the cycle of the order itself. */
static void test_where_each_reason_leads(void **state) {
    (void)state;
    for (int n = 0; n < 2; n++) {
        machine m = floating(config_one());
        m.in.stop = true;
        m.in.stop_reason = n ? FF_TRIP_FINISHED : FF_TRIP_OPERATOR;
        assert_int_equal(step(&m), BRAKE);
        assert_int_equal(m.s.state, FF_STATE_HOLD);
        assert_int_equal(m.s.cause.code, m.in.stop_reason);
        m.in.other = (ff_trip){.code = FF_TRIP_SILENT, .value = 0.2, .limit = 0.1};
        assert_int_equal(step(&m), BRAKE);
        assert_true(m.tripped);
        assert_int_equal(m.s.state, FF_STATE_FAULT);
        assert_int_equal(m.s.cause.code, FF_TRIP_SILENT);
        assert_int_equal(m.s.state, FF_STATE_FAULT);
    }
    machine m = floating(config_one());
    m.in.stop = true;
    m.in.stop_reason = FF_TRIP_OPERATOR;
    m.in.missed = 6;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_FAULT);
    assert_int_equal(m.s.cause.code, FF_TRIP_MISSED);
}

/* The test motions of CHECK are watched as the run is; what was watched there is no neighbour of the run's
 * first cycle, and no zero was taken. */
static void test_motions_of_the_check_are_watched(void **state) {
    (void)state;
    ff_safety_config c = config_one();
    c.limits[0].acceleration = 2.0;
    c.limits[0].velocity = 0.5;
    c.limits[0].force = 100.0;
    c.limits[0].spike = 20.0;
    for (int which = 0; which < 6; which++) {
        machine m = {.c = c, .in = calm()};
        ff_walk_reset(&m.s, FF_STATE_OFF);
        step(&m);
        assert_int_equal(m.s.state, FF_STATE_CHECK);
        m.in.checked = false;
        m.in.testing = which > 0;
        m.in.body[0].command.twist.v.x = 0.1; /* what it began with is not a jump */
        m.in.body[0].f_b.f.y = 50.0;
        for (int i = 0; i < 3; i++)
            step(&m);
        assert_int_equal(m.s.state, FF_STATE_CHECK);
        switch (which) {
        case 0:
        case 1: /* watched only while the robot is moved */
            m.in.body[0].measured.twist.v.z = 0.6;
            step(&m);
            assert_int_equal(m.s.state, which ? FF_STATE_FAULT : FF_STATE_CHECK);
            assert_int_equal(m.s.cause.code, which ? FF_TRIP_VELOCITY : FF_TRIP_NONE);
            break;
        case 2:
            m.in.body[0].command.twist.v.x = 0.1 - 2.002 * 0.004;
            step(&m);
            assert_int_equal(m.s.cause.code, FF_TRIP_ACCELERATION);
            assert_near(m.s.cause.value, 2.002, 1e-12);
            break;
        case 3:
            m.in.body[0].f_b.f.y = 71.0;
            step(&m);
            assert_int_equal(m.s.cause.code, FF_TRIP_SPIKE);
            assert_near(m.s.cause.value, 21.0, 1e-12);
            break;
        case 4:
            m.in = calm();
            for (int i = 0; i < 5; i++) {
                step(&m);
                assert_false(m.tripped);
            }
            assert_int_equal(m.s.state, FF_STATE_FLOAT);
            break;
        default:
            m.in.stop = true;
            m.in.stop_reason = FF_TRIP_OPERATOR;
            step(&m);
            m.in.body[0].f_b.f.y = 150.0;
            step(&m);
            assert_int_equal(m.s.state, FF_STATE_HOLD);
            break;
        }
    }
}

/* A force that is not valid says neither that there is contact, nor that it has ended, nor that the held
 * robot is pressed. */
static void test_an_invalid_force_says_nothing(void **state) {
    (void)state;
    ff_safety_config c = config_one();
    c.limits[0].force = 100.0;
    c.limits[0].torque = 10.0;
    machine m = floating(c);
    m.in.body[0].f_b.f.x = 5.0;
    m.in.body[0].force_valid = false;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_FLOAT);
    m.in.body[0].force_valid = true;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_CONTACT);
    for (int valid = 0; valid < 2; valid++) { /* a record lost in contact, then one without a force */
        m.in.body[0].f_b.f.x = 0.0;
        m.in.body[0].force_valid = valid;
        step(&m);
        assert_int_equal(m.s.state, valid ? FF_STATE_FLOAT : FF_STATE_CONTACT);
    }
    m.in.stop = true;
    m.in.stop_reason = FF_TRIP_OPERATOR;
    step(&m);
    m.in.body[0].f_b = (ff_wrench){.f = {{150.0, 0, 0}}, .t = {{0, 15.0, 0}}};
    m.in.body[0].force_valid = false;
    step(&m);
    assert_int_equal(m.s.state, FF_STATE_HOLD);
}

/* Acceleration, jerk and spike by a history of our own: any motion, any number of cycles, either of two
 * bodies. */
static void test_differences_are_those_of_the_last_cycles(void **state) {
    (void)state;
    static const ff_trip_code code[] = {FF_TRIP_SPIKE, FF_TRIP_ACCELERATION, FF_TRIP_ANGULAR_ACCELERATION,
                                        FF_TRIP_JERK};
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    for (int n = 0; n < 400; n++) {
        ff_safety_config c = config_one();
        c.bodies = 2;
        c.contact[1] = 1.0;
        c.limits[1] = c.limits[0];
        c.bounded[1] = c.bounded[0];
        const int which = n % 4, i = n / 4 % 2, cycles = 2 + n / 8 % 4;
        machine m = floating(c); /* one cycle of it, with zeros */
        m.in.body[1] = m.in.body[0];
        ff_twist twist[8] = {ff_twist_zero()};
        ff_vec3 force[8] = {ff_vec3_zero()};
        for (int k = 1; k <= cycles; k++) {
            for (int b = 0; b < 2; b++) {
                m.in.body[b].command.twist =
                    (ff_twist){test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)};
                m.in.body[b].f_b.f = test_random_vec3(&rng, 10.0);
            }
            twist[k] = m.in.body[i].command.twist;
            force[k] = m.in.body[i].f_b.f;
            if (k < cycles) {
                step(&m);
                assert_false(m.tripped);
            }
        }
        const ff_twist now = ff_twist_sub(twist[cycles], twist[cycles - 1]),
                       before = ff_twist_sub(twist[cycles - 1], twist[cycles - 2]);
        const double T = c.cycle;
        const double is[] = {ff_vec3_norm(ff_vec3_sub(force[cycles], force[cycles - 1])),
                             ff_vec3_norm(now.v) / T, ff_vec3_norm(now.w) / T,
                             ff_vec3_norm(ff_vec3_sub(now.v, before.v)) / (T * T)};
        ff_safety_limits *l = &m.c.limits[i];
        double *const limit[] = {&l->spike, &l->acceleration, &l->angular_acceleration, &l->jerk};
        const bool above = ff_rng_uniform(&rng) < 0.5;
        *limit[which] = is[which] * (above ? 0.999999 : 1.000001);
        step(&m);
        assert_int_equal(m.tripped, above);
        if (!above)
            continue;
        assert_int_equal(m.s.cause.code, code[which]);
        assert_int_equal(m.s.cause.body, i);
        assert_near(m.s.cause.value, is[which], 1e-9 * is[which]);
        assert_near(m.s.cause.limit, *limit[which], 0.0);
    }
}

/* Three bodies and their contacts in any order: 0 has walls of 3000 and 2000 N/m, touches 1 with 2500 N/m,
 * grasps join 0 and 1 (100 N/m, from 7 s on), 1 and 2 (900 N/m, from 5 s on; from 9 s on). */
static ff_scenario *three_bodies(ff_rng *rng) {
    static const struct {
        int body, against;
        double stiffness, closes; /* closes 0: no grasp */
    } c[] = {{0, -1, 3000, 0}, {0, -1, 2000, 0}, {0, 1, 2500, 0}, {0, 1, 100, 7},
             {2, 1, 900, 5},   {1, 2, 900, 9},   {1, -1, 0, 0}};
    enum { COUNT = sizeof c / sizeof *c };
    ff_scenario *s = calloc(1, sizeof *s);
    s->satellites = 3;
    s->contacts = COUNT;
    s->cycle = 0.004;
    int order[COUNT];
    for (int n = 0; n < COUNT; n++) {
        const int at = (int)ff_rng_range(rng, 0, n + 1);
        order[n] = order[at];
        order[at] = n;
    }
    for (int n = 0; n < COUNT; n++)
        s->contact[order[n]] = (ff_contact){.body = c[n].body,
                                            .against = c[n].against,
                                            .stiffness = c[n].stiffness,
                                            .closes = c[n].closes,
                                            .kind = c[n].closes > 0.0 ? FF_CONTACT_GRASP : FF_CONTACT_WALL};
    for (int i = 0; i < 3; i++) {
        ff_satellite *b = &s->satellite[i];
        b->rigid.mass = ff_rng_range(rng, 10, 500);
        b->start.position = test_random_vec3(rng, 1.0);
        b->start.velocity = test_random_vec3(rng, 0.1);
        b->sensor.delay = ff_rng_range(rng, 0, 0.01);
        b->sensor.force_noise = i * 0.1;
        b->robot.kind = i == 1 ? FF_ROBOT_IDEAL : FF_ROBOT_DELAY;
        b->robot.delay = 0.01 * (i + 1);
    }
    return s;
}

static void test_configuration_from_the_scenario(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    for (int n = 0; n < 50; n++) {
        ff_scenario *s = three_bodies(&rng);
        const double noise[] = {0.0, 0.3, 0.7};
        ff_safety_config c;
        ff_safety_configure(s, n % 2 ? noise : NULL, &c);
        static const double stiffness[] = {2000, 2500, 0}, grasp[] = {7, 5, 5}, delay[] = {0.01, 0, 0.03};
        for (int i = 0; i < 3; i++) {
            assert_near(c.stiffness[i], stiffness[i], 0.0);
            assert_near(c.grasp[i], grasp[i], 0.0);
            assert_near(c.delay[i], delay[i], 0.0);
            assert_near(c.contact[i], fmax(1e-3, 5.0 * (n % 2 ? noise[i] : 0.1 * i)), 1e-15);
            assert_vec3_near(c.origin[i], s->satellite[i].start.position, 0.0);
        }
        assert_int_equal(c.bodies, 3);
        assert_near(c.cycle, s->cycle, 0.0);
        free(s);
    }
}

/* Of each contact: sqrt(k/m), the delay's sum, v sqrt(k m) exp(w tau) with the reduced mass and the relative
 * velocity of a pair; the worst of each, and the bound of each method. */
static void test_forecast_is_its_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    for (int n = 0; n < 90; n++) {
        ff_scenario *s = three_bodies(&rng);
        s->method = n % 2 ? &ff_method_direct : &ff_method_tdpa;
        const int i = n % 3;
        const double known = n % 4 < 2 ? FF_NAN : ff_rng_range(&rng, 0, 0.05);
        double frequency = 0.0, most = 0.0, force = 0.0;
        for (int c = 0; c < s->contacts; c++) {
            const ff_contact *k = &s->contact[c];
            if (k->body != i && k->against != i)
                continue;
            const int j = k->body == i ? k->against : k->body;
            static const double configured[] = {0.01, 0.0, 0.03};
            double m = s->satellite[i].rigid.mass, v = ff_vec3_norm(s->satellite[i].start.velocity),
                   delay = (isnan(known) ? configured[i] : known) + s->satellite[i].sensor.delay;
            if (j >= 0) {
                const ff_satellite *other = &s->satellite[j];
                m = 1.0 / (1.0 / m + 1.0 / other->rigid.mass);
                v = ff_vec3_norm(ff_vec3_sub(s->satellite[i].start.velocity, other->start.velocity));
                delay = fmax(delay, configured[j] + other->sensor.delay);
            }
            const double w = sqrt(k->stiffness / m), tau = delay + 0.004;
            frequency = fmax(frequency, w);
            most = fmax(most, w * tau);
            force = fmax(force, v * m * w * exp(w * tau));
        }
        ff_forecast f;
        ff_safety_forecast(s, i, known, &f);
        assert_near(f.frequency, frequency, 1e-12 * frequency);
        assert_near(f.w_tau, most, 1e-12 * most);
        assert_near(f.force, force, 1e-9 * force);
        assert_near(f.most, n % 2 ? 0.5 : 1.0, 0.0);
        free(s);
    }
}

/* A grasp that may be closed is not pulled at, however it pushes. */
static void test_stop_in_a_grasp_holds(void **state) {
    (void)state;
    const ff_safety_config c = config_one();
    stopped r = begin_stop();
    r.s.grasped = true;
    for (int i = 0; i < 50 && !r.s.done; i++)
        stop_once(&c, &r, ff_vec3_make(10, 0, 0), true);
    assert_true(r.s.done && !r.s.retreats && r.s.why == FF_STOP_GRASPED);
    assert_vec3_near(r.at.p, ff_vec3_zero(), 0.0);
}

/* Where telegrams were lost, the loop has gone on for as many cycles: what changed since is over all of them.
 * A command that accelerates by 0.9 of its limit is not beyond it; by 1.1 of it is, with that value. */
static void test_differences_count_the_cycles_between(void **state) {
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++)
        for (int lost = 0; lost <= 5; lost++) {
            ff_safety_config c = config_one();
            ff_safety_memory memory = {0};
            double level[FF_LEVEL_COUNT];
            c.limits[0].acceleration = 2.0;
            c.limits[0].jerk = 1e-3; /* steady: there is none */
            const double a = (beyond ? 1.1 : 0.9) * 2.0;
            ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
            for (int n = 0; n < 4; n++) {
                in.filled = n == 3 ? lost : 0;
                if (n)
                    in.body[0].command.twist.v.x += a * (1.0 + in.filled) * c.cycle;
                ff_levels(&c, &memory, &in, 0, level);
                assert_near(level[FF_LEVEL_ACCELERATION], n ? a : 0.0, 1e-12);
                assert_near(level[FF_LEVEL_JERK], 0.0, 1e-9);
                const ff_trip trip = ff_safety_examine(&c, &memory, &in);
                assert_int_equal(trip.code, n && beyond ? FF_TRIP_ACCELERATION : FF_TRIP_NONE);
                if (n && beyond)
                    assert_near(trip.value, a, 1e-12);
                ff_safety_remember(&c, &memory, &in);
                if (n == 0)
                    memory.acceleration_last[0].x = a;
            }
        }
}

/* A command of constant jerk, v = J t^2/2, that is seen at its cycles but for those whose telegrams were
 * lost: the jerk that is judged is J, at the gap, after it and between two gaps. */
static void test_jerk_counts_the_cycles_between(void **state) {
    (void)state;
    const double J = 30.0;
    for (int lost = 0; lost <= 25; lost++) { /* so many before the fourth sample, and before the sixth */
        ff_safety_config c = config_one();
        ff_safety_memory memory = {0};
        double level[FF_LEVEL_COUNT], t = 0.0;
        ff_safety_in in = {.body[0] = {.measured.T = ff_pose_identity(), .force_valid = true}};
        for (int n = 0; n < 9; n++) {
            in.filled = n == 4 ? lost % 5 : n == 5 + lost % 2 ? lost / 5 : 0;
            t += n ? (1.0 + in.filled) * c.cycle : 0.0;
            in.body[0].command.twist.v.y = 0.5 * J * t * t;
            c.limits[0].jerk = J * (1.0 + 1e-9);
            assert_int_equal(ff_safety_examine(&c, &memory, &in).code, FF_TRIP_NONE);
            c.limits[0].jerk = J * (1.0 - 1e-9);
            const ff_trip trip = ff_safety_examine(&c, &memory, &in);
            assert_int_equal(trip.code, n >= 2 ? FF_TRIP_JERK : FF_TRIP_NONE);
            ff_levels(&c, &memory, &in, 0, level);
            if (n >= 2) {
                assert_near(trip.value, J, 1e-9 * J);
                assert_near(level[FF_LEVEL_JERK], J, 1e-9 * J);
            }
            ff_safety_remember(&c, &memory, &in);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jerk_counts_the_cycles_between),
        cmocka_unit_test(test_states_need_each_command_in_turn),
        cmocka_unit_test(test_fault_latches),
        cmocka_unit_test(test_a_held_robot_must_not_be_pressed),
        cmocka_unit_test(test_each_limit_trips_at_its_value),
        cmocka_unit_test(test_limits_reduce_what_is_judged_of_the_command),
        cmocka_unit_test(test_not_finite_trips),
        cmocka_unit_test(test_stop_point),
        cmocka_unit_test(test_stop_waits_for_rest),
        cmocka_unit_test(test_stop_waits_for_the_robot_itself),
        cmocka_unit_test(test_stop_ends_in_any_case),
        cmocka_unit_test(test_a_failed_step_is_a_trip_with_its_cause),
        cmocka_unit_test(test_trips_by_the_sensor),
        cmocka_unit_test(test_retreat_is_bounded_and_along_the_force),
        cmocka_unit_test(test_differences_count_the_cycles_between),
        cmocka_unit_test(test_runup_reaches_the_start),
        cmocka_unit_test(test_motion_is_second_order),
        cmocka_unit_test(test_ring_keeps_order_and_counts_drops),
        cmocka_unit_test(test_where_each_reason_leads),
        cmocka_unit_test(test_motions_of_the_check_are_watched),
        cmocka_unit_test(test_an_invalid_force_says_nothing),
        cmocka_unit_test(test_differences_are_those_of_the_last_cycles),
        cmocka_unit_test(test_configuration_from_the_scenario),
        cmocka_unit_test(test_forecast_is_its_closed_form),
        cmocka_unit_test(test_stop_in_a_grasp_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
