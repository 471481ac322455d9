/* Each limit at its value and just beyond it, of any body; each code and its sentence; what a scenario asks
 * for. The cycle is 1/256 s: its multiples are exact. */
#include "support.h"

#include "safety/levels.h"
#include "safety/safety.h"

#define CYCLE (1.0 / 256.0)

enum { BODIES = 3, BODY = 1 }; /* the one that is judged, and neighbours that must not matter */

static ff_safety_config wide(void) {
    ff_safety_config c = {.bodies = BODIES, .cycle = CYCLE};
    for (int i = 0; i < BODIES; i++) {
        double *const limit[] = {&c.limits[i].box.x,
                                 &c.limits[i].box.y,
                                 &c.limits[i].box.z,
                                 &c.limits[i].velocity,
                                 &c.limits[i].angular_velocity,
                                 &c.limits[i].acceleration,
                                 &c.limits[i].angular_acceleration,
                                 &c.limits[i].jerk,
                                 &c.limits[i].force,
                                 &c.limits[i].torque,
                                 &c.limits[i].spike,
                                 &c.limits[i].energy,
                                 &c.limits[i].tracking,
                                 &c.limits[i].age,
                                 &c.limits[i].missed,
                                 &c.lag[i],
                                 &c.stop_jerk[i]};
        for (size_t n = 0; n < sizeof limit / sizeof *limit; n++)
            *limit[n] = FF_INF;
        c.limits[i].stop_acceleration = 1.0;
        ff_limiter_default(&c.bounded[i]);
    }
    return c;
}

static ff_safety_in calm(void) {
    ff_safety_in in = {0};
    for (int i = 0; i < BODIES; i++) {
        in.body[i].measured.T = in.body[i].command.T = ff_pose_identity();
        in.body[i].force_valid = true;
    }
    return in;
}

static void expect(const ff_safety_config *c, const ff_safety_memory *m, const ff_safety_in *in,
                   ff_trip_code code, double value, double limit) {
    const ff_trip trip = ff_safety_examine(c, m, in);
    if (trip.code != code)
        fail_msg("%s by %.17g of %.17g instead of %s", ff_trip_name(trip.code), trip.value, trip.limit,
                 ff_trip_name(code));
    if (code == FF_TRIP_NONE)
        return;
    assert_int_equal(trip.body, BODY);
    assert_near(trip.value, value, 1e-12 * fabs(value));
    assert_near(trip.limit, limit, 0.0);
    assert_int_equal(trip.axis, 0);
    assert_int_equal(trip.status, FF_OK);
}

/* What is allowed is allowed to the bit: 8 of 8 passes, the next number does not. Values are powers of two,
 * so that no rounding is between. */
static void test_a_limit_itself_is_allowed(void **state) {
    (void)state;
    enum { KINDS = 19 };
    for (int kind = 0; kind < KINDS; kind++)
        for (int above = 0; above < 2; above++) {
            ff_safety_config c = wide();
            ff_safety_memory m = {.seen = 3, .between_last = c.cycle};
            ff_safety_in in = calm();
            ff_safety_limits *l = &c.limits[BODY];
            ff_safety_body_in *b = &in.body[BODY];
            const double x = above ? 1.0 + 0x1p-52 : 1.0;
            double value = 8.0 * x, limit = 8.0;
            ff_trip_code code = FF_TRIP_NONE;
            switch (kind) {
            case 0:
            case 1:
            case 2: /* where a stop would end: behind, and ahead of the box's centre */
                l->box.a[kind] = 8.0;
                b->measured.T.p.a[kind] = kind == 1 ? -8.0 * x : 8.0 * x;
                code = FF_TRIP_BOX;
                break;
            case 3:
                l->box.z = 8.0;
                b->rest.z = -8.0 * x;
                code = FF_TRIP_BOX;
                break;
            case 4:
                l->velocity = 8.0;
                b->measured.twist.v.y = -8.0 * x;
                code = FF_TRIP_VELOCITY;
                break;
            case 5:
                l->velocity = 8.0;
                b->command.twist.v.z = 8.0 * x;
                m.twist_last[BODY] = b->command.twist;
                code = FF_TRIP_VELOCITY;
                break;
            case 6:
                l->angular_velocity = 8.0;
                b->measured.twist.w.x = 8.0 * x;
                code = FF_TRIP_ANGULAR_VELOCITY;
                break;
            case 7:
                l->angular_velocity = 8.0;
                b->command.twist.w.x = 8.0 * x;
                code = FF_TRIP_ANGULAR_VELOCITY;
                break;
            case 8:
                l->acceleration = 8.0;
                b->command.twist.v.x = 8.0 * x * CYCLE;
                code = FF_TRIP_ACCELERATION;
                break;
            case 9:
                l->angular_acceleration = 8.0;
                b->command.twist.w.y = 8.0 * x * CYCLE;
                code = FF_TRIP_ANGULAR_ACCELERATION;
                break;
            case 10:
                l->jerk = 8.0;
                m.acceleration_last[BODY].x = -8.0 * x * CYCLE;
                code = FF_TRIP_JERK;
                break;
            case 11:
                l->force = 8.0;
                b->f_b.f.z = -8.0 * x;
                code = FF_TRIP_FORCE;
                break;
            case 12:
                l->torque = 8.0;
                b->f_b.t.z = -8.0 * x;
                code = FF_TRIP_TORQUE;
                break;
            case 13:
                l->spike = 8.0;
                m.force_last[BODY].y = 8.0 * x;
                code = FF_TRIP_SPIKE;
                break;
            case 14:
                l->energy = 8.0;
                b->energy = 8.0 * x;
                code = FF_TRIP_ENERGY;
                break;
            case 15:
                l->tracking = 8.0;
                b->tracking = 8.0 * x;
                code = FF_TRIP_TRACKING;
                break;
            case 16:
                c.lag[BODY] = 8.0;
                b->lag = 8.0 * x;
                code = FF_TRIP_LAG;
                break;
            case 17: /* of a record between two samples */
                l->spike = 8.0;
                b->jump = 8.0 * x;
                code = FF_TRIP_SPIKE;
                break;
            default:
                limit = FF_SAFETY_SAME;
                value = b->same = FF_SAFETY_SAME + above;
                code = FF_TRIP_FROZEN;
                break;
            }
            expect(&c, &m, &in, above ? code : FF_TRIP_NONE, value, limit);
            if (kind >= 8 &&
                kind <= 10) { /* a difference without neighbours is none: two, or three, of them */
                m.seen = kind == 10;
                expect(&c, &m, &in, FF_TRIP_NONE, 0.0, 0.0);
                m.seen = kind == 10 ? 2 : 1;
                expect(&c, &m, &in, above ? code : FF_TRIP_NONE, value, limit);
            }
        }
    /* telegrams are missed by all; the first body whose limit is broken says so */
    ff_safety_config c = wide();
    const ff_safety_memory m = {0};
    ff_safety_in in = calm();
    c.limits[BODY].missed = 5.0;
    c.limits[2].missed = 4.0;
    in.missed = 5.0;
    assert_int_equal(ff_safety_examine(&c, &m, &in).body, 2);
    in.missed = 6.0;
    expect(&c, &m, &in, FF_TRIP_MISSED, 6.0, 5.0);
}

/* A robot that is behind its command: by its box, if that holds it back and the command leads out of it on
 * some axis; else by its limits. Not before the lag is too long. */
static void test_behind_its_command_by_box_or_limits(void **state) {
    (void)state;
    ff_safety_config c = wide();
    const ff_safety_memory m = {0};
    ff_safety_in in = calm();
    ff_safety_body_in *b = &in.body[BODY];
    c.lag[BODY] = 0.01;
    c.origin[BODY] = b->measured.T.p = b->rest = ff_vec3_make(1, 2, 3);
    c.limits[BODY].stop_acceleration = 0.5;
    for (int a = 0; a < 3; a++) {
        c.limits[BODY].box = ff_vec3_make(FF_INF, FF_INF, FF_INF);
        c.limits[BODY].box.a[a] = 0.25;
        b->command.T.p = c.origin[BODY];
        b->command.T.p.a[a] -= 0.125;
        b->command.twist.v = ff_vec3_zero();
        b->command.twist.v.a[a] = -0.5; /* and a stop from there: v^2/2a = 0.25 */
        b->lag = 0.02;
        b->boxed = true;
        expect(&c, &m, &in, FF_TRIP_BOX, 0.375, 0.25);
        b->boxed = false;
        expect(&c, &m, &in, FF_TRIP_LAG, 0.02, 0.01);
        b->boxed = true;
        b->command.twist.v.a[a] = 0.25; /* it has turned */
        expect(&c, &m, &in, FF_TRIP_LAG, 0.02, 0.01);
        b->command.twist.v.a[a] = -0.5;
        b->lag = 0.01;
        expect(&c, &m, &in, FF_TRIP_NONE, 0.0, 0.0);
    }
}

/* What a device or a sensor says of itself, with its own value and limit. */
static void test_what_devices_report_trips_with_their_figures(void **state) {
    (void)state;
    const ff_safety_config c = wide();
    const ff_safety_memory m = {0};
    ff_safety_in in = calm();
    in.body[BODY].sensor = FF_TRIP_RANGE;
    in.body[BODY].sensor_value = 512.0;
    in.body[BODY].sensor_limit = 500.0;
    expect(&c, &m, &in, FF_TRIP_RANGE, 512.0, 500.0);
    in = calm();
    in.body[BODY].clipped_by = 12.0;
    in.body[BODY].clipped_limit = 10.0;
    in.body[BODY].apart = FF_SAFETY_APART;
    expect(&c, &m, &in, FF_TRIP_NONE, 0.0, 0.0);
    in.body[BODY].apart++;
    expect(&c, &m, &in, FF_TRIP_CLIPPED, 12.0, 10.0);
    in.body[BODY].apart = 0.0;
    in.body[BODY].clipped = true;
    expect(&c, &m, &in, FF_TRIP_CLIPPED, 12.0, 10.0);
    in.body[BODY].f_b.f.y = FF_NAN; /* more telling: what is not finite is judged by nothing else */
    const ff_trip trip = ff_safety_examine(&c, &m, &in);
    assert_int_equal(trip.code, FF_TRIP_NOT_FINITE);
    assert_true(isnan(trip.value) && trip.limit == 0.0 && trip.body == BODY);
    in = calm();
    in.body[BODY].energy = FF_NAN; /* what is unknown is not allowed */
    assert_int_equal(ff_safety_examine(&c, &m, &in).code, FF_TRIP_ENERGY);
}

/* Bodies beyond those of the run are never looked at; of two that break a limit the first is named. */
static void test_only_the_bodies_of_the_run_are_judged(void **state) {
    (void)state;
    ff_safety_config c = wide();
    ff_safety_memory m = {.seen = 3, .between_last = c.cycle};
    ff_safety_in in = calm();
    in.body[BODIES].f_b.f.x = FF_NAN;
    in.body[BODIES].force_valid = true;
    m.touched[BODIES] = true;
    assert_int_equal(ff_safety_examine(&c, &m, &in).code, FF_TRIP_NONE);
    assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, true).code, FF_TRIP_NONE);
    for (int i = 0; i < BODIES; i++)
        c.contact[i] = 1.0;
    assert_false(ff_safety_touching(&c, &m, &in));
    in.body[BODIES].command.twist.v.x = 1.0;
    ff_safety_remember(&c, &m, &in);
    assert_near(m.twist_last[BODIES].v.x, 0.0, 0.0);
    for (int i = 0; i < BODIES; i++) {
        c.limits[i].force = 1.0;
        c.limits[i].torque = 1.0;
    }
    in.body[1].f_b.f.x = in.body[2].f_b.f.x = 2.0;
    assert_int_equal(ff_safety_examine(&c, &m, &in).body, 1);
    assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, true).body, 1);
}

/* At rest everything counts that the devices report and that is measured, to the bit, and nothing of the
 * command; force, torque and spike only once there is a zero, and if the sample is valid. */
static void test_at_rest_what_is_measured_counts(void **state) {
    (void)state;
    for (int kind = 0; kind < 13; kind++)
        for (int above = 0; above < 2; above++) {
            ff_safety_config c = wide();
            ff_safety_memory m = {.seen = 1};
            ff_safety_in in = calm();
            ff_safety_limits *l = &c.limits[BODY];
            ff_safety_body_in *b = &in.body[BODY];
            const double x = above ? 8.0 * (1.0 + 0x1p-52) : 8.0;
            double value = x, limit = 8.0;
            ff_trip_code code = FF_TRIP_NONE;
            l->acceleration = l->angular_acceleration = l->jerk = l->energy = c.lag[BODY] = 1.0;
            b->command.twist.v.x = b->energy = b->lag = 9.0; /* the loop's, and it does not run */
            b->rest.x = 9.0;
            switch (kind) {
            case 0:
                l->force = 8.0;
                m.force_last[BODY].y = b->f_b.f.y = -x;
                code = FF_TRIP_FORCE;
                break;
            case 1:
                l->torque = 8.0;
                b->f_b.t.y = -x;
                code = FF_TRIP_TORQUE;
                break;
            case 2:
                l->spike = 8.0;
                m.force_last[BODY].z = 0.5 * x;
                b->f_b.f.z = -0.5 * x;
                code = FF_TRIP_SPIKE;
                break;
            case 3:
                l->velocity = 8.0;
                b->measured.twist.v.z = x;
                code = FF_TRIP_VELOCITY;
                break;
            case 4:
                l->angular_velocity = 8.0;
                b->measured.twist.w.z = -x;
                code = FF_TRIP_ANGULAR_VELOCITY;
                break;
            case 5:
            case 6:
            case 7: /* where it is, not where a stop would end */
                l->box.a[kind - 5] = 8.0;
                b->measured.twist.v.a[kind - 5] = 100.0;
                b->measured.T.p.a[kind - 5] = kind == 6 ? -x : x;
                code = FF_TRIP_BOX;
                break;
            case 8:
                l->tracking = 8.0;
                b->tracking = x;
                code = FF_TRIP_TRACKING;
                break;
            case 9:
                l->missed = 8.0;
                in.missed = x;
                code = FF_TRIP_MISSED;
                break;
            case 10:
                b->same = value = above ? FF_SAFETY_SAME + 1 : FF_SAFETY_SAME;
                limit = FF_SAFETY_SAME;
                code = FF_TRIP_FROZEN;
                break;
            case 11:
                b->apart = above ? FF_SAFETY_APART + 1 : FF_SAFETY_APART;
                b->clipped_by = value = 12.0;
                b->clipped_limit = limit = 10.0;
                code = FF_TRIP_CLIPPED;
                break;
            default:
                b->sensor = above ? FF_TRIP_AGE : FF_TRIP_NONE;
                b->sensor_value = value = 0.5;
                b->sensor_limit = limit = 0.02;
                code = FF_TRIP_AGE;
            }
            const ff_trip trip = ff_safety_examine_at_rest(&c, &m, &in, true);
            assert_int_equal(trip.code, above ? code : FF_TRIP_NONE);
            if (above) {
                assert_int_equal(trip.body, BODY);
                assert_near(trip.value, value, 0.0);
                assert_near(trip.limit, limit, 0.0);
            }
            if (kind == 2) { /* so does one between two samples */
                ff_safety_in between = calm();
                between.body[BODY].jump = x;
                ff_safety_memory still = {.seen = 1};
                assert_int_equal(ff_safety_examine_at_rest(&c, &still, &between, true).code,
                                 above ? FF_TRIP_SPIKE : FF_TRIP_NONE);
            }
            const bool pressed = kind < 3 && above;
            assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, false).code,
                             above && !pressed ? code : FF_TRIP_NONE);
            if (code == FF_TRIP_BOX) { /* which is around the origin of the run */
                const double off = b->measured.T.p.a[kind - 5];
                c.origin[BODY].a[kind - 5] = off; /* exact: a difference of equals, or the double */
                assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, true).code, FF_TRIP_NONE);
                b->measured.T.p.a[kind - 5] = 2.0 * off;
                assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, true).code,
                                 above ? FF_TRIP_BOX : FF_TRIP_NONE);
            }
            b->force_valid = false;
            assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, true).code,
                             above && !pressed ? code : FF_TRIP_NONE);
            m.seen = 0; /* no neighbour */
            b->force_valid = true;
            assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, true).code,
                             above && kind != 2 ? code : FF_TRIP_NONE);
            b->f_b.f.x = FF_NAN;
            assert_int_equal(ff_safety_examine_at_rest(&c, &m, &in, false).code, FF_TRIP_NOT_FINITE);
        }
}

/* Differences need neighbours: the first cycle has no acceleration; three are counted, not more. */
static void test_memory_of_the_last_cycles(void **state) {
    (void)state;
    const ff_safety_config c = wide();
    ff_safety_memory m = {0};
    ff_safety_in in = calm();
    ff_vec3 last = ff_vec3_zero();
    for (int k = 1; k <= 6; k++) {
        const ff_vec3 v = ff_vec3_make(0.25 * k * k, -k, 0.5), f = ff_vec3_make(k, 2 * k, -k);
        in.body[BODY].command.twist.v = v;
        in.body[BODY].f_b.f = f;
        ff_safety_remember(&c, &m, &in);
        assert_int_equal(m.seen, k < 3 ? k : 3);
        assert_vec3_near(m.twist_last[BODY].v, v, 0.0);
        assert_vec3_near(m.force_last[BODY], f, 0.0);
        assert_vec3_near(m.acceleration_last[BODY],
                         k == 1 ? ff_vec3_zero() : ff_vec3_scale(256.0, ff_vec3_sub(v, last)), 0.0);
        assert_vec3_near(m.acceleration_last[0], ff_vec3_zero(), 0.0);
        last = v;
    }
}

/* More than the threshold is contact, of any body; one that is not felt any more remains what it was. */
static void test_touching_is_more_than_the_threshold(void **state) {
    (void)state;
    ff_safety_config c = wide();
    c.contact[0] = 9.0;
    c.contact[1] = 2.0;
    c.contact[2] = 9.0;
    ff_safety_memory m = {0};
    ff_safety_in in = calm();
    in.body[1].f_b.f.z = -2.0;
    assert_false(ff_safety_touching(&c, &m, &in));
    in.body[1].f_b.f.z = -2.0 * (1.0 + 0x1p-52);
    assert_true(ff_safety_touching(&c, &m, &in));
    assert_true(!m.touched[0] && m.touched[1] && !m.touched[2]);
    in.body[1].f_b.f.z = 0.0;
    in.body[1].force_valid = false;
    assert_true(ff_safety_touching(&c, &m, &in));
    in.body[1].force_valid = true;
    assert_false(ff_safety_touching(&c, &m, &in));
    assert_false(m.touched[1]);
}

/* The levels at their closed forms, of any body, with what bounds the command. */
static void test_levels_of_one_sample(void **state) {
    (void)state;
    ff_safety_config c = wide();
    ff_safety_memory m = {.seen = 2, .between_last = c.cycle};
    ff_safety_in in = calm();
    ff_safety_body_in *b = &in.body[BODY];
    c.delay[BODY] = 0.5;
    c.origin[BODY] = ff_vec3_make(1, -2, 3);
    b->measured.T.p = ff_vec3_make(2, 2, 2);
    b->measured.twist.v = ff_vec3_make(0.75, 0, 1); /* 1.25 m/s stop in 0.78125 m, after 0.5 s */
    b->measured.twist.w = ff_vec3_make(0, 0.25, 0);
    b->rest = ff_vec3_make(-9, 2, 9);
    b->command.twist = (ff_twist){{{0, 0, 0.5}}, {{0, 2, 0}}};
    b->f_b = (ff_wrench){{{0, 3, 4}}, {{0, 6, 8}}};
    m.force_last[BODY] = ff_vec3_make(0, 6, 12);
    m.acceleration_last[BODY] = ff_vec3_make(0, 512, 256);
    b->energy = 0.125;
    b->tracking = 0.25;
    b->age = 0.375;
    b->same = 7;
    b->apart = 5;
    b->joint = 0.75;
    b->silence = 0.0625;
    in.missed = 3;
    const double far = 0.5 + 0.78125 / 1.25;
    const double is[FF_LEVEL_COUNT] = {
        [FF_LEVEL_BOX_X] = 10,
        [FF_LEVEL_BOX_Y] = 4,
        [FF_LEVEL_BOX_Z] = 6,
        [FF_LEVEL_VELOCITY] = 2,
        [FF_LEVEL_ANGULAR_VELOCITY] = 0.5,
        [FF_LEVEL_ACCELERATION] = 512,
        [FF_LEVEL_ANGULAR_ACCELERATION] = 128,
        [FF_LEVEL_JERK] = 65536, /* (0 512 0) less the last acceleration, over the cycle */
        [FF_LEVEL_FORCE] = 10,
        [FF_LEVEL_TORQUE] = 5,
        [FF_LEVEL_SPIKE] = 4,
        [FF_LEVEL_ENERGY] = 0.125,
        [FF_LEVEL_TRACKING] = 0.25,
        [FF_LEVEL_AGE] = 0.375,
        [FF_LEVEL_MISSED] = 3,
        [FF_LEVEL_FROZEN] = 7,
        [FF_LEVEL_CLIPPED] = 5,
        [FF_LEVEL_JOINT] = 0.75,
        [FF_LEVEL_SILENT] = 0.0625,
    };
    double level[FF_LEVEL_COUNT];
    ff_levels(&c, &m, &in, BODY, level);
    for (int n = 0; n < FF_LEVEL_COUNT; n++)
        if (!(fabs(level[n] - is[n]) <= 1e-12))
            fail_msg("%s: %.17g, not %.17g", ff_level_text((ff_level_name)n), level[n], is[n]);
    b->rest = c.origin[BODY]; /* then the robot's own stop counts */
    ff_levels(&c, &m, &in, BODY, level);
    assert_near(level[FF_LEVEL_BOX_X], 1.0 + 0.75 * far, 1e-12);
    assert_near(level[FF_LEVEL_BOX_Y], 4.0, 1e-12);
    assert_near(level[FF_LEVEL_BOX_Z], fabs(-1.0 + 1.0 * far), 1e-12);
    b->measured.twist = ff_twist_zero(); /* and then the command, as far as it is sent */
    ff_levels(&c, &m, &in, BODY, level);
    assert_near(level[FF_LEVEL_VELOCITY], 2.0, 0.0);
    assert_near(level[FF_LEVEL_ANGULAR_VELOCITY], 0.5, 0.0);
    c.bounded[BODY] = (ff_limiter_config){.velocity = 0.25,
                                          .acceleration = 3,
                                          .jerk = 7,
                                          .angular_velocity = 0.375,
                                          .angular_acceleration = 5,
                                          .angular_jerk = FF_INF};
    ff_levels(&c, &m, &in, BODY, level);
    assert_near(level[FF_LEVEL_VELOCITY], 0.25, 0.0);
    assert_near(level[FF_LEVEL_ANGULAR_VELOCITY], 0.375, 0.0);
    assert_near(level[FF_LEVEL_ACCELERATION], 3.0, 0.0);
    assert_near(level[FF_LEVEL_ANGULAR_ACCELERATION], 5.0, 0.0);
    assert_near(level[FF_LEVEL_JERK], 7.0, 0.0);
    static const ff_level_name differ[] = {FF_LEVEL_SPIKE, FF_LEVEL_ACCELERATION,
                                           FF_LEVEL_ANGULAR_ACCELERATION, FF_LEVEL_JERK};
    for (int seen = 0; seen < 2; seen++) {
        m.seen = seen;
        ff_levels(&c, &m, &in, BODY, level);
        for (int n = 0; n < 4; n++)
            assert_true((level[differ[n]] == 0.0) == (seen == 0 || n == 3));
    }
}

/* Names, units and what each bar ends in; beyond the list there is nothing. */
static void test_levels_have_their_names(void **state) {
    (void)state;
    static const struct {
        const char *text, *unit;
        ff_trip_code trip;
        double limit;
    } is[] = {
        {"resting place x", "m", FF_TRIP_BOX, 1},
        {"resting place y", "m", FF_TRIP_BOX, 2},
        {"resting place z", "m", FF_TRIP_BOX, 3},
        {"robot's velocity", "m/s", FF_TRIP_VELOCITY, 4},
        {"robot's angular velocity", "rad/s", FF_TRIP_ANGULAR_VELOCITY, 5},
        {"commanded acceleration", "m/s2", FF_TRIP_ACCELERATION, 6},
        {"commanded angular acceleration", "rad/s2", FF_TRIP_ANGULAR_ACCELERATION, 7},
        {"commanded jerk", "m/s3", FF_TRIP_JERK, 8},
        {"contact force", "N", FF_TRIP_FORCE, 9},
        {"contact torque", "N m", FF_TRIP_TORQUE, 10},
        {"change of force in a cycle", "N", FF_TRIP_SPIKE, 11},
        {"energy given by the contact", "J", FF_TRIP_ENERGY, 12},
        {"tracking error", "m", FF_TRIP_TRACKING, 13},
        {"age of the sensor's sample", "s", FF_TRIP_AGE, 14},
        {"telegrams missed in a row", "cycles", FF_TRIP_MISSED, 15},
        {"same readings in a row", "records", FF_TRIP_FROZEN, FF_SAFETY_SAME},
        {"cycles off the command", "cycles", FF_TRIP_CLIPPED, FF_SAFETY_APART},
        {"joint nearest its end, share of its range", "", FF_TRIP_JOINT, 1},
        {"robot's silence", "s", FF_TRIP_SILENT, 0.1},
    };
    const ff_safety_limits limits = {.box = {{1, 2, 3}},
                                     .velocity = 4,
                                     .angular_velocity = 5,
                                     .acceleration = 6,
                                     .angular_acceleration = 7,
                                     .jerk = 8,
                                     .force = 9,
                                     .torque = 10,
                                     .spike = 11,
                                     .energy = 12,
                                     .tracking = 13,
                                     .age = 14,
                                     .missed = 15};
    assert_int_equal(sizeof is / sizeof *is, FF_LEVEL_COUNT);
    for (int n = 0; n < FF_LEVEL_COUNT; n++) {
        const ff_level_name level = (ff_level_name)n;
        assert_string_equal(ff_level_text(level), is[n].text);
        assert_string_equal(ff_level_unit(level), is[n].unit);
        assert_int_equal(ff_level_trip(level), is[n].trip);
        assert_near(ff_level_limit(&limits, level), is[n].limit, 0.0);
    }
    const ff_level_name beyond[] = {FF_LEVEL_COUNT, (ff_level_name)-1};
    for (int n = 0; n < 2; n++) {
        assert_string_equal(ff_level_text(beyond[n]), "?");
        assert_string_equal(ff_level_unit(beyond[n]), "");
        assert_int_equal(ff_level_trip(beyond[n]), FF_TRIP_NONE);
        assert_true(isinf(ff_level_limit(&limits, beyond[n])));
    }
}

/* The operator reads code, cause, value, limit and unit, of which axis and satellite, and what to do. */
static void test_sentences(void **state) {
    (void)state;
    static const struct {
        ff_trip trip;
        const char *text;
    } is[] = {
        {{.code = FF_TRIP_FORCE, .value = 81.25, .limit = 60},
         "FORCE: the contact force is too large (81.25, allowed 60 N), satellite client: compare the "
         "contact's stiffness with the scenario, or start slower"},
        {{.code = FF_TRIP_JOINT, .value = 171, .limit = 170, .axis = 4},
         "JOINT: A4: a joint would leave its range (171, allowed 170 deg), satellite client: choose another "
         "start, tool or base"},
        {{.code = FF_TRIP_REACH, .axis = 6},
         "REACH: A6: the arm cannot reach the pose, satellite client: bring the start closer to the robot's "
         "base"},
        {{.code = FF_TRIP_RANGE, .value = 1, .limit = 0},
         "RANGE: the sensor is saturated (1, allowed 0), satellite client: see what presses on it"},
        {{.code = FF_TRIP_SENSOR, .value = 0, .limit = 2},
         "SENSOR: the sensor reports a fault (0, allowed 2), satellite client: see its status word and its "
         "cable"},
        {{.code = FF_TRIP_CONTROLLER, .value = 1, .limit = 4, .of = "operating mode"},
         "CONTROLLER: operating mode: the controller does not move its robot any more (1, allowed 4), "
         "satellite client: see its pendant"},
        {{.code = FF_TRIP_RECORDER, .value = 3, .limit = 0},
         "RECORDER: the recorder cannot keep up or its disk is full (3, allowed 0 rows): free the disk, or "
         "record less"},
        {{.code = FF_TRIP_OPERATOR}, "OPERATOR: the operator asked for the end"},
    };
    char text[FF_TRIP_SENTENCE];
    for (size_t n = 0; n < sizeof is / sizeof *is; n++) {
        ff_trip_sentence(&is[n].trip, "client", text, sizeof text);
        assert_string_equal(text, is[n].text);
    }
    ff_trip_sentence(&is[3].trip, NULL, text, sizeof text); /* whose it is, is not known */
    assert_string_equal(text, "RANGE: the sensor is saturated (1, allowed 0): see what presses on it");
    const ff_trip method = {.code = FF_TRIP_METHOD, .status = FF_ERR_DIVERGED, .value = 3.0, .limit = 1.0};
    char expected[200];
    snprintf(expected, sizeof expected,
             "METHOD: the method has failed: %s (status %d): see its settings, or change the method",
             ff_status_text(FF_ERR_DIVERGED), (int)FF_ERR_DIVERGED);
    ff_trip_sentence(&method, "client", text, sizeof text);
    assert_string_equal(text, expected);
    /* every fault says what to do, and the longest sentence has room: with a value and a limit of the widest
     * kind, and the longest name that is not cut */
    const char name[] = "a-satellite-with-a-name-of-forty-letters",
               longer[] = "a-satellite-with-a-name-of-forty-letters-more";
    for (int code = FF_TRIP_FINISHED + 1; code < FF_TRIP_CODES; code++) {
        const ff_trip all = {.code = (ff_trip_code)code,
                             .value = -1.23456e-300,
                             .limit = -1.23456e-300,
                             .axis = 6,
                             .status = FF_ERR_DIVERGED,
                             .of = name};
        const char *act = ff_trip_act((ff_trip_code)code);
        assert_true(strlen(act) > 10);
        ff_trip_sentence(&all, longer, text, sizeof text);
        assert_string_equal(text + strlen(text) - strlen(act), act);
        assert_non_null(strstr(text, ff_trip_text((ff_trip_code)code)));
        const bool of_a_body = code != FF_TRIP_METHOD && code != FF_TRIP_RECORDER;
        assert_int_equal(strstr(text, "satellite a-satellite-with-a-name-of-forty-letters: ") != NULL,
                         of_a_body);
        assert_int_equal(strstr(text, "-1.23456e-300, allowed -1.23456e-300") != NULL,
                         code != FF_TRIP_METHOD);
    }
    for (int code = 0; code <= FF_TRIP_FINISHED; code++)
        assert_string_equal(ff_trip_act((ff_trip_code)code), "");
    const ff_trip_code beyond[] = {FF_TRIP_CODES, (ff_trip_code)-1};
    for (int n = 0; n < 2; n++) {
        assert_string_equal(ff_trip_name(beyond[n]), "?");
        assert_string_equal(ff_trip_text(beyond[n]), "?");
        assert_string_equal(ff_trip_act(beyond[n]), "");
        assert_string_equal(ff_trip_unit(beyond[n]), "");
    }
    assert_string_equal(ff_trip_name(FF_TRIP_METHOD), "METHOD"); /* the last of the list */
    assert_string_equal(ff_trip_unit(FF_TRIP_LAG), "m");
    static const struct {
        ff_stop_why why;
        const char *part;
    } stops[] = {{FF_STOP_FREE, "nothing pushes"},
                 {FF_STOP_RETREATED, "has retreated out of the contact"},
                 {FF_STOP_NO_FORCE, "no valid force"},
                 {FF_STOP_NO_STIFFNESS, "no stiffness is known"},
                 {FF_STOP_GRASPED, "a grasp may be closed"},
                 {FF_STOP_STILL_PUSHED, "still in contact"},
                 {FF_STOP_HELD, "does not follow its retreat"},
                 {FF_STOP_UNFINISHED, "not come to rest within 60 s"}};
    for (int n = 0; n < 8; n++)
        assert_non_null(strstr(ff_stop_text(stops[n].why), stops[n].part));
    assert_string_equal(ff_stop_text((ff_stop_why)8), "?");
    assert_string_equal(ff_stop_text((ff_stop_why)-1), "?");
}

/* Of satellites that are equally fast the first is named; one that stands is named, too, if none moves. */
static void test_diverged_names_the_fastest(void **state) {
    (void)state;
    static ff_loop_state loop;
    static const double speed[][3] = {{2, 2, 1}, {1, 2, 2}, {0, 0, 0.5}, {0, 0, 0}};
    static const int first[] = {0, 1, 2, 0};
    for (int n = 0; n < 4; n++) {
        double most = 0.0;
        for (int i = 0; i < 3; i++) {
            loop.body[i].velocity = ff_vec3_make(0, -speed[n][i], 0);
            most = fmax(most, speed[n][i]);
        }
        loop.body[3].velocity.x = 9.0;
        const ff_trip trip = ff_trip_of_step(FF_ERR_DIVERGED, &loop, 3, NULL);
        assert_int_equal(trip.code, FF_TRIP_DIVERGED);
        assert_int_equal(trip.body, first[n]);
        assert_int_equal(trip.status, FF_ERR_DIVERGED);
        assert_near(trip.value, most, 0.0);
        assert_near(trip.limit, FF_LOOP_LARGEST, 0.0);
    }
    const ff_trip trip = ff_trip_of_step(FF_ERR_NOT_FINITE, &loop, 3, NULL);
    assert_near(trip.value, (double)FF_ERR_NOT_FINITE, 0.0);
    assert_true(trip.limit == 0.0 && trip.body == 0);
}

/* What the configuration takes from a scenario beside its contacts: limits, box, times. */
static void test_configuration_of_each_body(void **state) {
    (void)state;
    ff_scenario *s = calloc(1, sizeof *s);
    s->satellites = 2;
    s->cycle = CYCLE;
    s->contacts = 2;
    s->contact[0] = (ff_contact){.body = 0, .against = 1, .stiffness = 0.5, .kind = FF_CONTACT_WALL};
    s->contact[1] = (ff_contact){.body = 3, .against = -1, .stiffness = 0.1, .kind = FF_CONTACT_WALL};
    s->contact[2] = (ff_contact){.body = 1, .against = 0, .stiffness = 0.2, .kind = FF_CONTACT_WALL};
    for (int i = 0; i < 3; i++) {
        ff_satellite *b = &s->satellite[i];
        b->start = (ff_rigid_state){.position = {{1.0 + i, 0, 0}}, .attitude = ff_quat_identity()};
        b->safety = (ff_safety_limits){.tracking = 0.01 + i, .force = 5.0 + i};
        b->limits.velocity = 7.0 + i;
        b->sensor.delay = 0.25 + i;
        b->robot = (ff_robot_config){.kind = FF_ROBOT_DELAY, .delay = 0.5, .frequency = 1.0, .damping = 9.0};
    }
    ff_safety_config c;
    ff_safety_configure(s, NULL, &c);
    assert_int_equal(c.bodies, 2);
    for (int i = 0; i < 2; i++) {
        assert_near(c.limits[i].force, 5.0 + i, 0.0);
        assert_near(c.bounded[i].velocity, 7.0 + i, 0.0);
        assert_near(c.lag[i], 0.01 + i, 0.0);
        assert_near(c.latency[i], 0.25 + i, 0.0);
        assert_near(c.stiffness[i], 0.5, 0.0);
        assert_near(c.settle[i], 0.1, 0.0);
        assert_near(c.contact[i], 1e-3, 0.0);
        assert_true(isinf(c.stop_jerk[i]) && isinf(c.grasp[i]));
        assert_vec3_near(c.origin[i], s->satellite[i].start.position, 0.0);
    }
    assert_near(c.limits[2].force, 0.0, 0.0);
    assert_near(c.settle[2], 0.0, 0.0);
    /* a robot that lags is seen for half a period, or for damping/(pi f), a tenth of a second at least */
    static const double lags[][3] = {
        {10.0, 1.0, 0.1}, {2.0, 1.0, 0.25}, {2.0, FF_PI, 0.5}, {20.0, FF_PI, 0.1}, {4.0, 0.25, 0.125}};
    for (int n = 0; n < 5; n++) {
        s->satellite[1].robot = (ff_robot_config){
            .kind = FF_ROBOT_LAG, .delay = 0.125, .frequency = lags[n][0], .damping = lags[n][1]};
        ff_safety_configure(s, NULL, &c);
        assert_near(c.settle[1], lags[n][2], 1e-15);
        /* the integral of |exp(-z w t) sin(s t)/s| in steps: what a deceleration leads it beyond by */
        const double w = 2.0 * FF_PI * lags[n][0], z = lags[n][1], h = 1e-4 / w;
        double y = 0.0, dy = 1.0, sum = 0.0;
        for (int m = 0; m < 1000000 && (m < 10 || fabs(y) * w + fabs(dy) > 1e-7); m++) {
            const double mid = y + 0.5 * h * dy, dmid = dy - 0.5 * h * (2.0 * z * w * dy + w * w * y);
            y += h * dmid;
            dy -= h * (2.0 * z * w * dmid + w * w * mid);
            sum += fabs(mid) * h;
        }
        assert_near(c.swing[1] / sum, 1.0, 1e-3);
        assert_near(c.delay[1], 0.125, 0.0);
        assert_near(c.settle[0], 0.1, 0.0);
    }
    s->satellite[1].robot.kind = FF_ROBOT_IDEAL;
    ff_safety_configure(s, NULL, &c);
    assert_near(c.delay[1], 0.0, 0.0);
    assert_near(c.settle[1], 0.1, 0.0);
    /* relative to a nominal body: the box's centre is where the body starts from it */
    s->frame = FF_FRAME_RELATIVE;
    s->nominal = FF_NOMINAL_PRESCRIBED;
    s->nominal_pose = (ff_pose){ff_quat_exp(ff_vec3_make(0, 0, 0.5 * FF_PI)), ff_vec3_make(1, 1, 0)};
    ff_safety_configure(s, NULL, &c);
    assert_vec3_near(c.origin[0], ff_vec3_make(-1, 0, 0), 1e-15);
    assert_vec3_near(c.origin[1], ff_vec3_make(-1, -1, 0), 1e-15);
    free(s);
}

static void test_output_stage_shares_box_and_braking(void **state) {
    (void)state;
    ff_safety_config c = wide();
    ff_output_config output = {
        .stop_acceleration = 0.5, .stop_angular_acceleration = 0.75, .acceleration = 9, .jerk = 4.0};
    output.angular_acceleration = 9;
    ff_safety_set_braking(&c, BODY, &output);
    assert_near(c.limits[BODY].stop_acceleration, 0.5, 0.0);
    assert_near(c.limits[BODY].stop_angular_acceleration, 0.75, 0.0);
    assert_near(c.stop_jerk[BODY], 4.0, 0.0);
    assert_near(c.limits[0].stop_acceleration, 1.0, 0.0);
    output.acceleration = 0.25; /* a stop accelerates no more than anything else */
    output.angular_acceleration = 0.125;
    ff_safety_set_braking(&c, BODY, &output);
    assert_near(c.limits[BODY].stop_acceleration, 0.25, 0.0);
    assert_near(c.limits[BODY].stop_angular_acceleration, 0.125, 0.0);
    output.acceleration = output.angular_acceleration = 9;
    ff_safety_set_braking(&c, BODY, &output);
    c.origin[BODY] = ff_vec3_make(1, 2, 3);
    ff_safety_set_box(&c, BODY, &output);
    assert_false(output.boxed);
    for (int a = 0; a < 3; a++) { /* one side is enough */
        c.limits[BODY].box = ff_vec3_make(FF_INF, FF_INF, FF_INF);
        c.limits[BODY].box.a[a] = 0.25;
        ff_safety_set_box(&c, BODY, &output);
        assert_true(output.boxed);
        assert_near(output.box.a[a], 0.25, 0.0);
        assert_true(isinf(output.box.a[(a + 1) % 3]));
        assert_vec3_near(output.centre, c.origin[BODY], 0.0);
    }
    /* with a jerk J the deceleration A grows: path v sqrt(v/J) where it is not reached, else v/2 (v/A + A/J)
     */
    c.delay[BODY] = 0.25;
    const double speed[] = {0.01, 0.0625, 0.5};
    for (int n = 0; n < 3; n++) {
        const double v = speed[n], path = v <= 0.0625 ? v * sqrt(v / 4.0) : 0.5 * v * (v / 0.5 + 0.5 / 4.0);
        const ff_setpoint at = {.T = {.q = ff_quat_identity(), .p = ff_vec3_make(1, 1, 1)},
                                .twist.v = ff_vec3_make(0.6 * v, 0, -0.8 * v)};
        const double far = path + 0.25 * v;
        assert_vec3_near(ff_stop_point(&c, BODY, &at), ff_vec3_make(1 + 0.6 * far, 1, 1 - 0.8 * far), 1e-12);
    }
    /* a robot that lags passes it by a swing: of the stop's deceleration, of a slow motion less */
    c.swing[BODY] = 0.01;
    for (int n = 0; n < 3; n++) {
        const double v = speed[n], path = v <= 0.0625 ? v * sqrt(v / 4.0) : 0.5 * v * (v / 0.5 + 0.5 / 4.0);
        const ff_setpoint at = {.T = {.q = ff_quat_identity()}, .twist.v = ff_vec3_make(0, v, 0)};
        assert_vec3_near(ff_stop_point(&c, BODY, &at),
                         ff_vec3_make(0, path + 0.25 * v + fmin(0.01 * 0.5, 0.1 * v), 0), 1e-12);
    }
    /* and where its command comes to rest it passes by the swing of the whole deceleration; the farther of
     * both counts, each axis by itself */
    c.origin[BODY] = ff_vec3_make(1, 1, 1);
    const ff_safety_body_in far = {
        .measured = {.T = {.q = ff_quat_identity(), .p = ff_vec3_make(1.25, 0.5, 1)}},
        .rest = ff_vec3_make(1.5, 0.75, 1.0)};
    assert_vec3_near(ff_safety_farthest(&c, BODY, &far), ff_vec3_make(0.505, 0.5, 0.005), 1e-15);
    c.swing[BODY] = 0.0;
    const ff_setpoint rests = {.T = {.q = ff_quat_identity(), .p = ff_vec3_make(3, 2, 1)}};
    assert_vec3_near(ff_stop_point(&c, BODY, &rests), rests.T.p, 0.0);
}

/* Spin at the point of contact: omega times the lever, of the one that touches (an arm stretched out: its
 * mount, its links, its gripper) and of the one that is touched (at its surface, beside the CoM by as much as
 * the path misses it; where its spin is the faster, where the point is). Either may stand in the list as the
 * other's. */
static void test_forecast_with_spin(void **state) {
    (void)state;
    ff_scenario *s = calloc(1, sizeof *s);
    s->satellites = 2;
    s->cycle = CYCLE;
    s->contacts = 1;
    s->method = &ff_method_direct;
    for (int i = 0; i < 2; i++) {
        s->satellite[i].rigid.mass = 2.0;
        s->satellite[i].start.attitude = ff_quat_identity();
    }
    ff_contact *k = &s->contact[0];
    *k = (ff_contact){.kind = FF_CONTACT_PAIR, .body = 0, .against = 1, .stiffness = 1.0};
    k->at = ff_vec3_make(-0.3, 0, 0); /* its face */
    s->satellite[0].start.position = ff_vec3_make(-3, 0.4, 0);
    s->satellite[0].start.velocity = ff_vec3_make(2, 0, 0);
    k->point = ff_vec3_make(0.5, 0, 0);
    const double growth = exp(CYCLE); /* w = 1, no delay but the cycle; sqrt(k m) = 1 */
    ff_forecast f;
    k->body = 1; /* whoever of the two touches: the relative velocity and the reduced mass */
    k->against = 0;
    ff_safety_forecast(s, 1, FF_NAN, &f);
    assert_near(f.force, 2.0 * growth, 1e-12);
    k->body = 0;
    k->against = 1;
    for (int i = 0; i < 2; i++) { /* path 0.4 m beside, 0.3 m of surface: a lever of 0.5 m, spin 0.2 rad/s */
        s->satellite[1].start.omega = ff_vec3_make(0, 0, 0.2);
        s->satellite[0].start.omega = ff_vec3_make(0.1, 0, 0);
        ff_safety_forecast(s, i, FF_NAN, &f);
        assert_near(f.force, (2.0 + 0.2 * 0.5 + 0.1 * 0.5) * growth, 1e-12);
    }
    s->satellite[0].start.omega = ff_vec3_zero();
    s->satellite[0].start.position.y = 0.0; /* through the CoM: the surface alone */
    ff_safety_forecast(s, 0, FF_NAN, &f);
    assert_near(f.force, (2.0 + 0.2 * 0.3) * growth, 1e-12);
    s->satellite[1].start.omega = ff_vec3_make(0, 0, 2.0); /* at 2.5 m it is faster than the path */
    ff_safety_forecast(s, 0, FF_NAN, &f);
    assert_near(f.force, (2.0 + 2.0 * 2.5) * growth, 1e-12);
    s->satellite[0].start.velocity = ff_vec3_zero(); /* nothing else brings it there */
    s->satellite[1].start.omega = ff_vec3_make(0, 0.1, 0);
    k->at = ff_vec3_make(0, 4, 0); /* but no nearer than the surface */
    ff_safety_forecast(s, 0, FF_NAN, &f);
    assert_near(f.force, 0.1 * 4.0 * growth, 1e-12);
    k->kind = FF_CONTACT_CONE;
    k->apex = ff_vec3_make(0, 0, 5);
    ff_safety_forecast(s, 0, FF_NAN, &f);
    assert_near(f.force, 0.1 * 5.0 * growth, 1e-12);
    /* an arm: its links are part of the mass, and its whole length of the lever, of the one that touches
     * alone */
    s->satellite[1].start.omega = ff_vec3_zero();
    s->satellite[0].start.omega = ff_vec3_make(0, 0, 0.1);
    for (int i = 0; i < 2; i++) {
        ff_servicer_arm *arm = &s->satellite[i].arm;
        arm->present = true;
        arm->links = 2;
        arm->link[0].row.mass = arm->link[1].row.mass = 3.0;
        arm->link[0].row.pose.p = ff_vec3_make(0.25, 0, 0);
        arm->link[1].row.pose.p = ff_vec3_make(0, 1.0, 0);
        arm->mount.p = ff_vec3_make(0, 0, 0.125);
        arm->gripper.p = ff_vec3_make(0, 0, 0.625);
    }
    k->stiffness = 4.0; /* of 8 and 8 kg: w = 1, sqrt(k m) = 4 */
    ff_safety_forecast(s, 0, FF_NAN, &f);
    assert_near(f.force, 0.1 * (0.5 + 0.25 + 1.0 + 0.125 + 0.625) * 4.0 * growth, 1e-12);
    free(s);
}

/* Nothing to touch: no frequency, no force. Half a radian for direct integration, one for the others. */
static void test_forecast_without_contact(void **state) {
    (void)state;
    ff_scenario *s = calloc(1, sizeof *s);
    s->satellites = 2;
    s->cycle = CYCLE;
    s->contacts = 1;
    s->contact[0] = (ff_contact){.body = 0, .against = -1, .stiffness = 400.0};
    s->contact[1] = (ff_contact){.body = 1, .against = 1, .stiffness = 900.0}; /* is none */
    for (int i = 0; i < 2; i++) {
        s->satellite[i].rigid.mass = 100.0;
        s->satellite[i].start.velocity.y = -0.5;
        s->satellite[i].sensor.delay = 2.0 * CYCLE;
        s->satellite[i].robot = (ff_robot_config){.kind = FF_ROBOT_DELAY, .delay = 8.0 * CYCLE};
    }
    ff_forecast f;
    ff_safety_forecast(s, 1, FF_NAN, &f);
    assert_true(f.frequency == 0.0 && f.w_tau == 0.0 && f.force == 0.0);
    assert_near(f.delay, 11.0 * CYCLE, 0.0);
    ff_safety_forecast(s, 0, FF_NAN, &f);
    assert_near(f.frequency, 2.0, 1e-15);
    assert_near(f.w_tau, 22.0 * CYCLE, 1e-15);
    assert_near(f.force, 0.5 * 200.0 * exp(22.0 * CYCLE), 1e-10);
    ff_safety_forecast(s, 0, 0.0, &f);
    assert_near(f.delay, 3.0 * CYCLE, 0.0);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_limit_itself_is_allowed),
        cmocka_unit_test(test_behind_its_command_by_box_or_limits),
        cmocka_unit_test(test_what_devices_report_trips_with_their_figures),
        cmocka_unit_test(test_only_the_bodies_of_the_run_are_judged),
        cmocka_unit_test(test_at_rest_what_is_measured_counts),
        cmocka_unit_test(test_memory_of_the_last_cycles),
        cmocka_unit_test(test_touching_is_more_than_the_threshold),
        cmocka_unit_test(test_levels_of_one_sample),
        cmocka_unit_test(test_levels_have_their_names),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_diverged_names_the_fastest),
        cmocka_unit_test(test_configuration_of_each_body),
        cmocka_unit_test(test_output_stage_shares_box_and_braking),
        cmocka_unit_test(test_forecast_without_contact),
        cmocka_unit_test(test_forecast_with_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
