/* The independent monitor on telegrams alone. A controller of this test's own takes the answers and moves the
 * arm by the library's kinematics, which the monitor does not use: what it makes of them is judged, not what
 * the monitor believes. */
#include "support.h"

#include <math.h>

#include "freefloat/command.h"
#include "freefloat/dynamics.h"
#include "monitor/monitor.h"
#include "net/socket.h"

#include <unistd.h>

#define DEG (FF_PI / 180.0)
enum { STEP = 4 };

typedef struct rig {
    ff_monitor m;
    ff_monitor_config c;
    ff_arm_model arm;
    ff_rng random;
    uint64_t ipoc, delay;
    const char *set;            /* RSol and ASPos in its telegrams */
    double origin[6], total[6]; /* [deg], or [mm deg]: what the controller holds */
    ff_pose first, at;
    ff_vec3 v, w, a, b;
    double worst[6]; /* velocity, acceleration, jerk over their limits; the same of turning */
    uint64_t cycles, held;
    bool stopped;
    double goal[6], rate[6], change[6]; /* of the loop: [deg] or [mm deg] */
} rig;

static double draw(rig *r, double low, double high) {
    return low + (high - low) * ff_rng_uniform(&r->random);
}

static ff_pose pose_of(const rig *r, const double total[6]) {
    if (r->c.axes) {
        ff_arm_joints q = {0};
        for (int i = 0; i < 6; i++)
            q.a[i] = DEG * (r->origin[i] + total[i]);
        return ff_arm_forward(&r->arm, &q);
    }
    const ff_pose base = r->arm.config.base;
    ff_pose T = {ff_quat_mul(ff_quat_from_abc(DEG * total[3], DEG * total[4], DEG * total[5]),
                             ff_quat_from_abc(DEG * r->origin[3], DEG * r->origin[4], DEG * r->origin[5])),
                 ff_vec3_make(1e-3 * (r->origin[0] + total[0]), 1e-3 * (r->origin[1] + total[1]),
                              1e-3 * (r->origin[2] + total[2]))};
    return ff_pose_mul(base, T);
}

static void set_up(rig *r, uint64_t seed, bool axes) {
    *r = (rig){.ipoc = 1000, .delay = 3};
    ff_rng_seed(&r->random, seed, 1);
    ff_arm_config arm;
    assert_int_equal(ff_arm_default(FF_ARM_KR120, &arm), FF_OK);
    arm.base = (ff_pose){ff_quat_exp(ff_vec3_make(draw(r, -1, 1), draw(r, -1, 1), draw(r, -1, 1))),
                         ff_vec3_make(draw(r, -2, 2), draw(r, -2, 2), draw(r, -2, 2))};
    arm.tool = (ff_pose){ff_quat_exp(ff_vec3_make(draw(r, -1, 1), draw(r, -1, 1), draw(r, -1, 1))),
                         ff_vec3_make(draw(r, -.2, .2), draw(r, -.2, .2), draw(r, .1, .4))};
    assert_int_equal(ff_arm_create(&arm, &r->arm), FF_OK);
    r->c = (ff_monitor_config){.cycle = 0.004,
                               .axes = axes,
                               .relative = seed / 2 % 2,
                               .d1 = arm.d1,
                               .a1 = arm.a1,
                               .a2 = arm.a2,
                               .d4 = arm.d4,
                               .a3 = arm.a3,
                               .d6 = arm.d6,
                               .base = arm.base,
                               .tool = arm.tool,
                               .misfit = 1e-3,
                               .velocity = 0.3,
                               .acceleration = 2.0,
                               .jerk = 100.0,
                               .angular_velocity = 0.6,
                               .angular_acceleration = 4.0,
                               .angular_jerk = 200.0,
                               .box = ff_vec3_make(0.5, 0.5, 0.5),
                               .stop_acceleration = 1.0,
                               .stop_angular_acceleration = 2.0};
    memcpy(r->c.lower, arm.lower, sizeof r->c.lower);
    memcpy(r->c.upper, arm.upper, sizeof r->c.upper);
    memcpy(r->c.speed, arm.speed, sizeof r->c.speed);
    const double home[6] = {draw(r, -20, 20), draw(r, -100, -70), draw(r, 100, 130),
                            draw(r, -30, 30), draw(r, 30, 60),    draw(r, -30, 30)};
    ff_arm_joints q = {0};
    for (int i = 0; i < 6; i++)
        q.a[i] = DEG * home[i];
    r->at = ff_arm_forward(&r->arm, &q);
    if (axes) {
        memcpy(r->origin, home, sizeof home);
    } else {
        const ff_pose T = ff_pose_mul(ff_pose_inverse(arm.base), r->at);
        double a, b, c;
        ff_quat_to_abc(T.q, &a, &b, &c);
        const double x[6] = {1e3 * T.p.x, 1e3 * T.p.y, 1e3 * T.p.z, a / DEG, b / DEG, c / DEG};
        memcpy(r->origin, x, sizeof x);
    }
    r->c.centre = r->at.p;
    r->first = r->at;
    assert_int_equal(ff_monitor_create(&r->m, &r->c), FF_OK);
}

/* The controller's telegram of the running cycle. */
static size_t telegram(rig *r, char *text) {
    const ff_pose T = ff_pose_mul(ff_pose_inverse(r->arm.config.base), r->at);
    double a, b, c, axis[6] = {0};
    ff_quat_to_abc(T.q, &a, &b, &c);
    for (int i = 0; r->c.axes && i < 6; i++)
        axis[i] = r->origin[i] + r->total[i];
    return (size_t)snprintf(
        text, FF_MONITOR_SIZE,
        "<Rob Type=\"KUKA\"><RIst X=\"%.9f\" Y=\"%.9f\" Z=\"%.9f\" A=\"%.9f\" B=\"%.9f\" C=\"%.9f\"/><AIPos "
        "A1=\"%.9f\" A2=\"%.9f\" "
        "A3=\"%.9f\" A4=\"%.9f\" A5=\"%.9f\" A6=\"%.9f\"/>%s<Delay D=\"%llu\"/><IPOC>%llu</IPOC></Rob>",
        1e3 * T.p.x, 1e3 * T.p.y, 1e3 * T.p.z, a / DEG, b / DEG, c / DEG, axis[0], axis[1], axis[2], axis[3],
        axis[4], axis[5], r->set ? r->set : "", (unsigned long long)r->delay, (unsigned long long)r->ipoc);
}

/* Relative corrections: what turns and moves the controller's total into x, and what it makes of an answer.
 */
static void wire_of(const rig *r, double x[6], int way) {
    if (!r->c.relative)
        return;
    const ff_quat from = ff_quat_from_abc(DEG * r->total[3], DEG * r->total[4], DEG * r->total[5]),
                  to = ff_quat_from_abc(DEG * x[3], DEG * x[4], DEG * x[5]),
                  turn = ff_quat_mul(to, way < 0 ? ff_quat_conj(from) : from);
    for (int i = 0; i < 6; i++)
        x[i] += way * r->total[i];
    if (r->c.axes)
        return;
    ff_quat_to_abc(turn, &x[3], &x[4], &x[5]);
    for (int i = 3; i < 6; i++)
        x[i] /= DEG;
}

static size_t answer_of(const rig *r, const double total[6], const char *more, char *text) {
    double x[6];
    memcpy(x, total, sizeof x);
    wire_of(r, x, -1);
    const char *const *n = r->c.axes ? (const char *const[]){"AK", "A1", "A2", "A3", "A4", "A5", "A6"}
                                     : (const char *const[]){"RKorr", "X", "Y", "Z", "A", "B", "C"};
    return (size_t)snprintf(text, FF_MONITOR_SIZE,
                            "<Sen Type=\"ImFree\">%s<%s %s=\"%.9f\" %s=\"%.9f\" %s=\"%.9f\" %s=\"%.9f\" "
                            "%s=\"%.9f\" %s=\"%.9f\"/><IPOC>%llu</IPOC></Sen>",
                            more, n[0], n[1], x[0], n[2], x[1], n[3], x[2], n[4], x[3], n[5], x[4], n[6],
                            x[5], (unsigned long long)r->ipoc);
}

/* The values of an answer that the monitor has written; stop: its tag. */
static void read_answer(rig *r, const char *text, double x[6]) {
    const char *at = strstr(text, r->c.axes ? "<AK " : "<RKorr ");
    assert_non_null(at);
    for (int i = 0; i < 6; i++) {
        at = strchr(at, '"') + 1;
        x[i] = strtod(at, NULL);
        at = strchr(at, '"') + 1;
    }
    wire_of(r, x, 1);
    char stamp[40];
    snprintf(stamp, sizeof stamp, "<IPOC>%llu</IPOC>", (unsigned long long)r->ipoc);
    assert_non_null(strstr(text, stamp));
    r->stopped = strstr(text, "<Stop>1</Stop>") != NULL;
}

/* The controller closes its cycle: with an answer it moves there, without it holds. */
static void close_cycle(rig *r, const double *x) {
    const double T = r->c.cycle,
                 limit[6] = {r->c.velocity,         r->c.acceleration,         r->c.jerk,
                             r->c.angular_velocity, r->c.angular_acceleration, r->c.angular_jerk};
    if (x) {
        const ff_pose next = pose_of(r, x);
        const ff_vec3 v = ff_vec3_scale(1 / T, ff_vec3_sub(next.p, r->at.p)),
                      w = ff_vec3_scale(1 / T, ff_quat_log(ff_quat_mul(next.q, ff_quat_conj(r->at.q))));
        const ff_vec3 a = ff_vec3_scale(1 / T, ff_vec3_sub(v, r->v)),
                      b = ff_vec3_scale(1 / T, ff_vec3_sub(w, r->w));
        const double size[6] = {ff_vec3_norm(v), ff_vec3_norm(a), ff_vec3_norm(ff_vec3_sub(a, r->a)) / T,
                                ff_vec3_norm(w), ff_vec3_norm(b), ff_vec3_norm(ff_vec3_sub(b, r->b)) / T};
        for (int i = 0; i < 6; i++)
            r->worst[i] = fmax(r->worst[i], size[i] / limit[i]);
        r->at = next;
        r->v = v, r->w = w, r->a = a, r->b = b;
        memcpy(r->total, x, sizeof r->total);
        r->held = 0;
    } else {
        r->delay++;
        r->held++;
        r->v = r->w = r->a = r->b = ff_vec3_zero();
    }
    r->ipoc += STEP;
    r->cycles++;
}

/* A loop that moves smoothly and slowly: sums of sines that begin at rest, about half of what the limits
 * allow. */
static void loop_motion(const rig *r, uint64_t k, double x[6]) {
    const double t = r->c.cycle * (double)k, begin = t < 1.0 ? t * t * t * (10 - 15 * t + 6 * t * t) : 1.0;
    for (int i = 0; i < 6; i++)
        x[i] = begin * r->goal[i] * sin(2.0 * FF_PI * r->rate[i] * t);
}

static void choose_motion(rig *r) {
    for (int i = 0; i < 6; i++) {
        r->rate[i] = draw(r, 0.1, 0.5);
        r->goal[i] = r->c.axes ? draw(r, -1.0, 1.0) : i < 3 ? draw(r, -15.0, 15.0) : draw(r, -1.0, 1.0);
    }
}

/* One cycle with the loop's answer x, or without (NULL). Returns whether the controller was answered. */
static bool cycle(rig *r, const double *x) {
    char text[FF_MONITOR_SIZE], own[FF_MONITOR_SIZE];
    double sent[6];
    assert_true(ff_monitor_telegram(&r->m, text, telegram(r, text)));
    bool relayed = false;
    if (x && r->m.cause == FF_MONITOR_FINE)
        relayed = ff_monitor_answer(&r->m, text, answer_of(r, x, "", text));
    else
        ff_monitor_silence(&r->m);
    if (relayed) {
        memcpy(sent, x, sizeof sent);
        wire_of(r, sent, -1);
        for (int i = 0; i < 6; i++)
            sent[i] = round(sent[i] * 1e9) / 1e9;
        wire_of(r, sent, 1);
        close_cycle(r, sent);
        return true;
    }
    const size_t size = ff_monitor_stop(&r->m, own, sizeof own);
    if (size)
        read_answer(r, own, sent);
    close_cycle(r, size ? sent : NULL);
    return size > 0;
}

/* Until RSI has ended; how long it took to come to rest [s]. */
static double to_the_end(rig *r) {
    double rest = 0.0;
    const uint64_t from = r->cycles;
    while (!r->stopped && r->cycles - from < 2000) {
        assert_true(cycle(r, NULL));
        if (ff_vec3_norm(r->v) > 1e-7 || ff_vec3_norm(r->w) > 1e-7)
            rest = (double)(r->cycles - from) * r->c.cycle;
    }
    assert_true(r->stopped);
    return rest;
}

static void judge(const rig *r, uint64_t seed) {
    /* decimals of the wire: 1e-9 deg at 3 m is 5e-11 m; four of them over T^3 are 3e-3 m/s3 of 100 */
    for (int i = 0; i < 6; i++)
        if (!(r->worst[i] <= 1.001))
            fail_msg("seed %llu: %s %.4f of its limit", (unsigned long long)seed,
                     (const char *const[]){"velocity", "acceleration", "jerk", "angular velocity",
                                           "angular acceleration", "angular jerk"}[i],
                     r->worst[i]);
}

static void test_loop_that_dies(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (int n = 0; n < test_count(20, 400); n++) {
        rig r;
        set_up(&r, seed + (uint64_t)n, n % 2);
        choose_motion(&r);
        const uint64_t dies = 2 + (uint64_t)draw(&r, 0, 900);
        double x[6];
        for (uint64_t k = 0; k < dies; k++) {
            loop_motion(&r, k, x);
            assert_true(cycle(&r, x));
        }
        assert_int_equal(r.m.cause, FF_MONITOR_FINE);
        assert_int_equal(r.m.relayed, dies);
        judge(&r, seed + (uint64_t)n);
        const double v = ff_vec3_norm(r.v), w = ff_vec3_norm(r.w), a = ff_vec3_norm(r.a),
                     b = ff_vec3_norm(r.b);
        const double rest = to_the_end(&r);
        assert_int_equal(r.m.cause, FF_MONITOR_SILENT);
        judge(&r, seed + (uint64_t)n);
        /* ease a/j, then what is left at the stop's deceleration or as the jerk allows, and five cycles */
        const double ease = fmax(a / r.c.jerk, b / r.c.angular_jerk), v1 = v + 0.5 * a * ease,
                     w1 = w + 0.5 * b * ease;
        const double bound = ease +
                             fmax(fmax(v1 / r.c.stop_acceleration, sqrt(6 * v1 / r.c.jerk)),
                                  fmax(w1 / r.c.stop_angular_acceleration, sqrt(6 * w1 / r.c.angular_jerk))) +
                             5 * r.c.cycle;
        if (!(rest <= bound))
            fail_msg("seed %llu: rest after %.3f s, bound %.3f", (unsigned long long)(seed + (uint64_t)n),
                     rest, bound);
        /* the loop comes back: nothing of it reaches the robot, and after the end nothing at all */
        char text[FF_MONITOR_SIZE];
        r.stopped = false;
        assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
        assert_false(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
        assert_int_equal(ff_monitor_stop(&r.m, text, sizeof text), 0);
    }
}

/* What an answer may be wrong by, and the cause that is named. */
static void test_bad_answers(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (int n = 0; n < test_count(30, 600); n++) {
        rig r;
        set_up(&r, seed + (uint64_t)n, n % 2);
        choose_motion(&r);
        double x[6];
        const uint64_t until = 2 + (uint64_t)draw(&r, 0, 500);
        for (uint64_t k = 0; k < until; k++) {
            loop_motion(&r, k, x);
            assert_true(cycle(&r, x));
        }
        const ff_pose before = r.at;
        const int kind = n / 2 % 5;
        char text[FF_MONITOR_SIZE], own[FF_MONITOR_SIZE];
        assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
        loop_motion(&r, until, x);
        size_t size = answer_of(&r, x, "", text);
        ff_monitor_cause cause = FF_MONITOR_MALFORMED;
        if (kind == 0) { /* a jump */
            const int i = (int)draw(&r, 0, 2.99);
            x[i] += (r.c.axes ? 3.0 : 30.0) * (draw(&r, 0, 1) < 0.5 ? -1 : 1);
            size = answer_of(&r, x, "", text);
            cause = FF_MONITOR_CAUSES; /* velocity or angular velocity */
        } else if (kind == 1) {        /* too hard: beyond acceleration, not beyond velocity */
            const double by = r.c.axes ? 0.02 : 0.3;
            x[0] += r.rate[0] > 0.3 ? by : -by;
            size = answer_of(&r, x, "", text);
            cause = r.c.axes ? FF_MONITOR_CAUSES : FF_MONITOR_ACCELERATION;
        } else if (kind == 2) { /* not a number */
            size = (size_t)snprintf(text, sizeof text,
                                    "<Sen Type=\"ImFree\"><%s=\"nan\"/><IPOC>%llu</IPOC></Sen>",
                                    r.c.axes ? "AK A1=\"0\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6"
                                             : "RKorr X=\"0\" Y=\"0\" Z=\"0\" A=\"0\" B=\"0\" C",
                                    (unsigned long long)r.ipoc);
        } else if (kind == 3) { /* by the other channel as well, by an external axis, or twice */
            const char *more[3] = {r.c.axes ? "<RKorr X=\"9\" Y=\"0\" Z=\"0\" A=\"0\" B=\"0\" C=\"0\"/>"
                                            : "<AK A1=\"9\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/>",
                                   "<EK E1=\"100\"/>",
                                   r.c.axes ? "<AK A1=\"9\" A2=\"0\" A3=\"0\" A4=\"0\" A5=\"0\" A6=\"0\"/>"
                                            : "<RKorr X=\"9\" Y=\"0\" Z=\"0\" A=\"0\" B=\"0\" C=\"0\"/>"};
            size = answer_of(&r, x, more[n % 3], text);
        } else { /* cut */
            size = size / 2;
        }
        assert_false(ff_monitor_answer(&r.m, text, size));
        if (cause == FF_MONITOR_CAUSES)
            assert_true(r.m.cause == FF_MONITOR_VELOCITY || r.m.cause == FF_MONITOR_ANGULAR_VELOCITY ||
                        r.m.cause == FF_MONITOR_ACCELERATION ||
                        r.m.cause == FF_MONITOR_ANGULAR_ACCELERATION ||
                        (r.c.axes && r.m.cause == FF_MONITOR_SPEED));
        else
            assert_int_equal(r.m.cause, cause);
        size = ff_monitor_stop(&r.m, own, sizeof own);
        assert_true(size > 0);
        read_answer(&r, own, x);
        close_cycle(&r, x);
        to_the_end(&r);
        judge(&r, seed + (uint64_t)n);
        assert_true(ff_vec3_norm(ff_vec3_sub(r.at.p, before.p)) < 0.05);
        char words[256];
        ff_monitor_text(&r.m, words, sizeof words);
        assert_ptr_equal(strstr(words, ff_monitor_names[r.m.cause]), words);
    }
}

/* A steady motion out of the box is stopped inside of it. */
static void test_box(void **state) {
    (void)state;
    const uint64_t seed = test_seed();
    for (int n = 0; n < test_count(8, 150); n++) {
        rig r;
        set_up(&r, seed + (uint64_t)n, false);
        r.c.box = ff_vec3_make(0.05, 0.05, 0.05);
        assert_int_equal(ff_monitor_create(&r.m, &r.c), FF_OK);
        double x[6] = {0};
        ff_vec3 along = ff_vec3_make(draw(&r, -1, 1), draw(&r, -1, 1), draw(&r, -1, 1));
        along = ff_vec3_scale(1.0 / ff_vec3_norm(along), along);
        const double speed = draw(&r, 10.0, 250.0); /* [mm/s] */
        for (uint64_t k = 0; r.m.cause == FF_MONITOR_FINE && k < 5000; k++) {
            const double t = r.c.cycle * (double)k,
                         s = t < 0.5 ? t * t : t - 0.25; /* speed / 0.5 s: within 2 m/s2 */
            for (int i = 0; i < 3; i++)
                x[i] = speed * s * along.a[i];
            cycle(&r, x);
        }
        assert_int_equal(r.m.cause, FF_MONITOR_BOX);
        to_the_end(&r);
        double out = 0.0;
        for (int i = 0; i < 3; i++)
            out = fmax(out, fabs(r.at.p.a[i] - r.first.p.a[i]));
        assert_true(out <= 0.05 + 1e-9);
        assert_true(out > 0.03); /* and not long before: one cycle's displacement and the stop's rounding */
        assert_true(r.worst[0] <= 1.001 && r.worst[1] <= 1.001);
    }
}

static void test_answers_not_taken(void **state) {
    (void)state;
    rig r;
    char text[FF_MONITOR_SIZE];
    double x[6];
    set_up(&r, test_seed(), true);
    choose_motion(&r);
    for (uint64_t k = 0; k < 600; k++) {
        loop_motion(&r, k, x);
        assert_true(cycle(&r, x));
    }
    /* an answer that the controller calls late: the robot stands there; the next step counts from rest */
    assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
    loop_motion(&r, 600, x);
    assert_true(ff_monitor_answer(&r.m, text, answer_of(&r, x, "", text)));
    close_cycle(&r, NULL);
    assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
    assert_true(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text))); /* holds: fine */
    close_cycle(&r, r.total);
    assert_int_equal(r.m.cause, FF_MONITOR_FINE);
    /* an answer to an old cycle, and a second one to this, do not count */
    assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
    r.ipoc -= STEP;
    assert_false(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
    r.ipoc += STEP;
    assert_true(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
    assert_false(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
    assert_int_equal(r.m.cause, FF_MONITOR_FINE);
    close_cycle(&r, r.total);
    /* the next telegram twice, and one that was overtaken */
    size_t size = telegram(&r, text);
    assert_true(ff_monitor_telegram(&r.m, text, size));
    assert_false(ff_monitor_telegram(&r.m, text, size));
    assert_true(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "<Stop>1</Stop>", text)));
    assert_true(r.m.ended);
    assert_int_equal(r.m.cause, FF_MONITOR_FINE);
    ff_monitor_silence(&r.m);
    ff_monitor_end(&r.m);
    assert_int_equal(r.m.cause, FF_MONITOR_FINE);
    /* a new session begins where the robot is */
    memset(r.total, 0, sizeof r.total);
    r.delay = 0;
    r.ipoc = 4;
    r.at = r.first;
    assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
    assert_false(r.m.moves);
    ff_monitor_silence(&r.m); /* nothing has moved: the controller's own count ends it */
    assert_int_equal(r.m.cause, FF_MONITOR_FINE);
}

static void test_restart_and_geometry(void **state) {
    (void)state;
    rig r;
    char text[FF_MONITOR_SIZE];
    double x[6];
    for (int n = 0; n < 7; n++) {
        const bool lost = n > 4; /* telegrams that were lost: the controller counts each of them */
        set_up(&r, test_seed(), true);
        choose_motion(&r);
        for (uint64_t k = 0; k < 400; k++) {
            loop_motion(&r, k, x);
            assert_true(cycle(&r, x));
        }
        if (n == 0)
            r.delay = 0; /* counts back */
        else if (n == 1)
            r.ipoc = 1000; /* counts again */
        else if (n == 2)
            r.at.p.x += 0.2; /* the robot is elsewhere */
        else
            r.ipoc +=
                (uint64_t)(n % 2 ? 1 : 100) * STEP; /* ahead: telegrams that were lost, or a new beginning */
        r.delay += lost ? (n % 2 ? 1u : 100u) : 0u;
        assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
        assert_int_equal(r.m.cause, lost ? FF_MONITOR_FINE : n == 2 ? FF_MONITOR_ROBOT : FF_MONITOR_RESTART);
        if (lost)
            continue;
        assert_false(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
        assert_int_equal(ff_monitor_stop(&r.m, text, sizeof text) > 0,
                         n == 2); /* never with the old corrections */
    }
    /* another tool on the controller: never answered, so nothing moves */
    set_up(&r, test_seed(), true);
    r.at.p.z += 2e-3;
    assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
    assert_int_equal(r.m.cause, FF_MONITOR_GEOMETRY);
    assert_false(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
    assert_int_equal(ff_monitor_stop(&r.m, text, sizeof text), 0);
}

/* A program that begins again and counts on: its own set point shows it, and nothing else does. */
static void test_the_set_point_is_the_origin(void **state) {
    (void)state;
#define RSOL(x, a) "<RSol X=\"" x "\" Y=\"2\" Z=\"3\" A=\"" a "\" B=\"5\" C=\"6\"/>"
#define ASPOS(a6) "<ASPos A1=\"1\" A2=\"2\" A3=\"3\" A4=\"4\" A5=\"5\" A6=\"" a6 "\"/>"
    static const struct {
        const char *first, *then;
        ff_monitor_cause cause;
    } cases[] = {
        {RSOL("1", "180") ASPOS("6"), RSOL("1.000009", "-179.999995") ASPOS("5.999991"), FF_MONITOR_FINE},
        {RSOL("1", "180"), RSOL("1.000011", "180"), FF_MONITOR_RESTART},
        {RSOL("1", "180"), RSOL("1", "179.99998"), FF_MONITOR_RESTART},
        {ASPOS("6"), ASPOS("5.999989"), FF_MONITOR_RESTART},
        {RSOL("1", "180") ASPOS("6"), RSOL("1", "180"), FF_MONITOR_RESTART}, /* not said any more */
        {"", ASPOS("6"), FF_MONITOR_FINE},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        rig r;
        char text[FF_MONITOR_SIZE];
        double x[6];
        set_up(&r, test_seed(), n % 2);
        r.set = cases[n].first;
        choose_motion(&r);
        for (uint64_t k = 0; k < 200; k++) {
            loop_motion(&r, k, x);
            assert_true(cycle(&r, x));
        }
        r.set = cases[n].then;
        assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
        assert_int_equal(r.m.cause, cases[n].cause);
        if (cases[n].cause == FF_MONITOR_RESTART)
            assert_int_equal(ff_monitor_stop(&r.m, text, sizeof text),
                             0); /* never with the old corrections */
    }
    rig r;
    char text[FF_MONITOR_SIZE];
    set_up(&r, test_seed(), true);
    r.set = RSOL("1", "x");
    assert_false(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
    r.set = ASPOS("6") ASPOS("6");
    assert_false(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
}

static void test_telegrams_that_are_none(void **state) {
    (void)state;
    rig r;
    char text[FF_MONITOR_SIZE], bad[FF_MONITOR_SIZE];
    set_up(&r, test_seed(), true);
    const size_t size = telegram(&r, text);
    for (size_t n = 0; n < size; n++) /* every cut */
        assert_false(ff_monitor_telegram(&r.m, text, n));
    static const struct {
        const char *old, *new;
    } change[] = {{"RIst", "RSol"},
                  {" X=", " Q="},
                  {"X=\"", "X=\"nan"},
                  {"X=\"", "X=\"1e999"},
                  {"AIPos A1", "AIPos A7"},
                  {"D=\"", "D=\"-"},
                  {"<IPOC>", "<IPOC>x"},
                  {"<IPOC>", "<IPOC>99999999999999999999"},
                  {"<Delay", "<!-- --><Delay"},
                  {"<Delay", "<RIst X=\"0\"/><Delay"},
                  {"X=\"", "X="},
                  {"X=\"", "X=\"\""},
                  {"X=\"", "X=\"1-"},
                  {"X=\"", "X=\"00000000000000000000000000000000000000000000000000"},
                  {"X=\"", "X=\"1\" X=\""},
                  {"D=\"", "D=\"1e1"},
                  {"D=", "E="},
                  {"<Delay", "<Delay D=\"1\"/><Delay"},
                  {"<IPOC>", "<IPOC a=\"1\">"},
                  {"<IPOC>", "<IPOC>1</IPOC><IPOC>"},
                  {"</IPOC>", "x</IPOC>"},
                  {"</IPOC>", "<IPOC>"},
                  {"<Rob", "<Bob"}};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        const char *at = strstr(text, change[i].old);
        assert_non_null(at);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - text), text, change[i].new,
                 at + strlen(change[i].old));
        if (ff_monitor_telegram(&r.m, bad, strlen(bad)))
            fail_msg("accepted: %s", bad);
    }
    memcpy(bad, text, size);
    bad[20] = 0;
    assert_false(ff_monitor_telegram(&r.m, bad, size));
    char wide[2 * FF_MONITOR_SIZE]; /* good, but longer than any telegram */
    snprintf(wide, sizeof wide, "%*s%s", FF_MONITOR_SIZE, "", text);
    assert_false(ff_monitor_telegram(&r.m, wide, strlen(wide)));
    assert_int_equal(r.m.telegrams, 0);
    assert_false(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, "", text)));
    telegram(&r, text);
    assert_true(ff_monitor_telegram(&r.m, text, size));
}

static void test_refused_configurations(void **state) {
    (void)state;
    rig r;
    set_up(&r, test_seed(), true);
    ff_monitor m;
    double *const positive[] = {&r.c.cycle,
                                &r.c.velocity,
                                &r.c.acceleration,
                                &r.c.jerk,
                                &r.c.angular_velocity,
                                &r.c.angular_acceleration,
                                &r.c.angular_jerk,
                                &r.c.stop_acceleration,
                                &r.c.stop_angular_acceleration,
                                &r.c.misfit,
                                &r.c.box.x,
                                &r.c.box.y,
                                &r.c.box.z,
                                &r.c.speed[5]};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        const double keep = *positive[i];
        for (int n = 0; n < 2; n++) {
            *positive[i] = n ? FF_NAN : 0.0;
            assert_int_equal(ff_monitor_create(&m, &r.c), FF_ERR_ARGUMENT);
        }
        *positive[i] = keep;
    }
    double *const finite[] = {&r.c.d1, &r.c.a1, &r.c.a2,       &r.c.d4,
                              &r.c.a3, &r.c.d6, &r.c.base.p.x, &r.c.tool.q.w};
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++) {
        const double keep = *finite[i];
        *finite[i] = FF_NAN;
        assert_int_equal(ff_monitor_create(&m, &r.c), FF_ERR_NOT_FINITE);
        *finite[i] = keep;
    }
    r.c.lower[2] = r.c.upper[2];
    assert_int_equal(ff_monitor_create(&m, &r.c), FF_ERR_ARGUMENT);
    r.c.box = ff_vec3_make(FF_INF, FF_INF, FF_INF);
    r.c.lower[2] = -3.0;
    assert_int_equal(ff_monitor_create(&m, &r.c), FF_OK);
}

/* The range and the speed of an axis; the guard that is asked to end. */
static void test_axes_and_end(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        rig r;
        double x[6] = {0};
        set_up(&r, test_seed(), true);
        choose_motion(&r);
        if (n == 0)
            r.c.upper[3] = DEG * (r.origin[3] + 0.2);
        else if (n == 1)
            r.c.speed[3] = DEG * 0.5;
        assert_int_equal(ff_monitor_create(&r.m, &r.c), FF_OK);
        for (uint64_t k = 0; k < 600 && r.m.cause == FF_MONITOR_FINE; k++) {
            memset(x, 0, sizeof x);
            const double t = r.c.cycle * (double)k;
            x[3] = t < 1 ? 0.5 * t * t : t - 0.5; /* [deg], up to 1 deg/s */
            cycle(&r, x);
            if (n == 2 && k == 450)
                ff_monitor_end(&r.m);
        }
        assert_int_equal(r.m.cause, n == 0 ? FF_MONITOR_RANGE : n == 1 ? FF_MONITOR_SPEED : FF_MONITOR_ENDED);
        assert_int_equal(r.m.axis, n < 2 ? 4 : 0);
        to_the_end(&r);
        if (n == 0)
            assert_true(r.total[3] < 0.2 + 0.05);
    }
}

/* The tag that ends RSI is 0 or 1; the sentence of each cause begins with its name and has value and limit.
 */
static void test_stop_tags_and_sentences(void **state) {
    (void)state;
    static const struct {
        const char *tag;
        bool relayed, ends;
    } cases[] = {{"<Stop>0</Stop>", true, false},
                 {"<Stop>1</Stop>", true, true},
                 {"<Stop>2</Stop>", false, false},
                 {"<Stop/>", false, false}};
    char text[FF_MONITOR_SIZE];
    rig r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_up(&r, test_seed(), i % 2);
        assert_true(ff_monitor_telegram(&r.m, text, telegram(&r, text)));
        assert_int_equal(ff_monitor_answer(&r.m, text, answer_of(&r, r.total, cases[i].tag, text)),
                         cases[i].relayed);
        assert_int_equal(r.m.ended, cases[i].ends);
        assert_int_equal(r.m.cause, cases[i].relayed ? FF_MONITOR_FINE : FF_MONITOR_MALFORMED);
    }
    assert_int_equal(ff_monitor_stop(&r.m, text, 40), 0); /* no room: nothing is sent, and it is still due */
    assert_true(ff_monitor_stop(&r.m, text, sizeof text) > 0);
    for (int cause = FF_MONITOR_SILENT; cause < FF_MONITOR_CAUSES; cause++) {
        r.m.cause = (ff_monitor_cause)cause;
        r.m.axis = 4;
        r.m.value = 12.25;
        r.m.limit = 11.5;
        ff_monitor_text(&r.m, text, sizeof text);
        const size_t length = strlen(ff_monitor_names[cause]);
        assert_memory_equal(text, ff_monitor_names[cause], length);
        assert_true(strncmp(text + length, ": ", 2) == 0 && !strchr(text, '\n'));
        const bool plain =
            cause == FF_MONITOR_SILENT || cause == FF_MONITOR_ENDED || cause == FF_MONITOR_RESTART;
        assert_int_equal(strstr(text, "12") != NULL, !plain);
        assert_int_equal(strstr(text, "11.5") != NULL, !plain && cause != FF_MONITOR_MALFORMED);
        assert_int_equal(strstr(text, "A4") != NULL, cause == FF_MONITOR_RANGE || cause == FF_MONITOR_SPEED);
    }
}

/* Addresses that are none, a port that is taken, an address that is not this computer's. */
static void test_relay_that_cannot_begin(void **state) {
    (void)state;
    rig r;
    set_up(&r, test_seed(), true);
    char message[256], taken[32], text[64];
    struct sockaddr_in at;
    int fd;
    ff_socket_address("127.0.0.1", 0, &at);
    assert_int_equal(ff_socket_open(&at, &fd, &at, message, sizeof message), FF_OK);
    snprintf(taken, sizeof taken, "127.0.0.1:%u", ntohs(at.sin_port));
    static const char good[] = "127.0.0.1:59999";
    static const char *const bad[] = {"",
                                      "127.0.0.1",
                                      "127.0.0.1:",
                                      "127.0.0.1:0",
                                      "127.0.0.1:65536",
                                      "127.0.0.1:5x",
                                      "127.0.0.256:5",
                                      ":5",
                                      "localhost:5",
                                      "127.000000000000000000000000000.0.1:5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int loop = 0; loop < 2; loop++) {
            const ff_relay_options o = {
                .listen = loop ? good : bad[i], .loop = loop ? bad[i] : good, .patience = 0.003};
            assert_int_equal(ff_relay_run(&r.m, &o, message, sizeof message), FF_ERR_ARGUMENT);
            snprintf(text, sizeof text, "%s is not ADDRESS:PORT", bad[i]);
            assert_string_equal(message, text);
        }
    for (int n = 0; n < 2; n++) {
        const ff_relay_options o = {.listen = good, .loop = good, .patience = n ? FF_NAN : 0.0};
        assert_int_equal(ff_relay_run(&r.m, &o, message, sizeof message), FF_ERR_ARGUMENT);
        assert_non_null(strstr(message, "patience"));
    }
    const struct {
        const char *listen, *loop, *named;
    } device[] = {{taken, good, taken},
                  {"192.0.2.1:59999", good, "192.0.2.1:59999"}, /* nobody's own (RFC 5737) */
                  {"127.0.0.1:59999", "255.255.255.255:5", "255.255.255.255:5"}};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) {
        const ff_relay_options o = {.listen = device[i].listen, .loop = device[i].loop, .patience = 0.003};
        assert_int_equal(ff_relay_run(&r.m, &o, message, sizeof message), FF_ERR_DEVICE);
        snprintf(text, sizeof text, "UDP %s: ", device[i].named);
        assert_true(strncmp(message, text, strlen(text)) == 0 && strlen(message) > strlen(text));
    }
    close(fd);
    assert_int_equal(r.m.telegrams, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop_that_dies),
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_box),
        cmocka_unit_test(test_answers_not_taken),
        cmocka_unit_test(test_restart_and_geometry),
        cmocka_unit_test(test_the_set_point_is_the_origin),
        cmocka_unit_test(test_telegrams_that_are_none),
        cmocka_unit_test(test_refused_configurations),
        cmocka_unit_test(test_axes_and_end),
        cmocka_unit_test(test_stop_tags_and_sentences),
        cmocka_unit_test(test_relay_that_cannot_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
