/* What a robot is really sent, seen by the controller: the answers that it took, turned into poses by
 * kinematics of this test's own. Whatever happens on the wire, velocity, acceleration and jerk of every step
 * keep the configured limits. A cycle without an answer is the controller's: it holds, and the robot begins
 * again from rest. */
#include "own_arm.h"
#include "sides.h"

typedef struct sent {
    ff_pose at;
    ff_vec3 v[2], a[2];
    uint64_t seen, held, answers, stops;
    double worst[2][3]; /* translation, rotation: velocity, acceleration, jerk over the limit */
    uint64_t when[2][3];
    double step;      /* [m] largest */
    double apart;     /* [m] own kinematics from the controller's */
    double last_step; /* [m] */
    ff_pose first;
    ff_output_config limit;
    bool restarted;
} sent;

typedef struct wire {
    ff_scenario scenario, truth;
    ff_facility_result facility;
    ff_rt_result rt;
    sides both;
    ff_plan plan;
    sent robot[2];
    uint64_t halt;
    double leap; /* [m] largest step that the first robot itself makes */
    ff_vec3 last;
    bool known;
    double press; /* [N] the operator stops where the wall first pushes by so much; 0: not */
    double force; /* [N] of the wall at the end */
} wire;

static void received(void *user, int body, uint64_t session, uint64_t ipoc, const ff_rsi_sen *answer,
                     const ff_pose *T) {
    (void)session;
    (void)ipoc;
    wire *w = user;
    sent *s = &w->robot[body];
    const double cycle = w->scenario.cycle;
    if (!s->seen++)
        s->at = s->first = *T;
    if (answer) {
        double a[6];
        for (int i = 0; i < 6; i++)
            a[i] = w->plan.body[body].home.a[i] + DEG * answer->value[FF_RSI_TAG_AXES + i];
        const ff_vec3 own = body_point(&w->plan.body[body].arm, a, ff_vec3_make(0.1, 0.2, 0.3));
        const double off = ff_vec3_norm(ff_vec3_sub(own, ff_pose_apply(*T, ff_vec3_make(0.1, 0.2, 0.3))));
        if (!s->restarted)
            s->apart = fmax(s->apart, off);
        s->answers++;
        s->stops += answer->tags & FF_RSI_STOP ? 1 : 0;
    }
    const ff_vec3 d[2] = {ff_vec3_sub(T->p, s->at.p), ff_quat_log(ff_quat_mul(ff_quat_conj(s->at.q), T->q))};
    s->last_step = ff_vec3_norm(d[0]);
    s->step = fmax(s->step, s->last_step);
    const double limit[2][3] = {
        {s->limit.velocity, s->limit.acceleration, s->limit.jerk},
        {s->limit.angular_velocity, s->limit.angular_acceleration, s->limit.angular_jerk}};
    s->held += !answer;
    for (int p = 0; p < 2; p++) {
        const ff_vec3 v = ff_vec3_scale(1.0 / cycle, d[p]),
                      acc = ff_vec3_scale(1.0 / cycle, ff_vec3_sub(v, s->v[p])),
                      j = ff_vec3_scale(1.0 / cycle, ff_vec3_sub(acc, s->a[p]));
        const double is[3] = {ff_vec3_norm(v), ff_vec3_norm(acc), ff_vec3_norm(j)};
        for (int o = 0; o < 3 && answer; o++)
            if (is[o] / limit[p][o] > s->worst[p][o]) {
                s->worst[p][o] = is[o] / limit[p][o];
                s->when[p][o] = s->seen;
            }
        s->v[p] = answer ? v : ff_vec3_zero();
        s->a[p] = answer ? acc : ff_vec3_zero();
    }
    s->at = *T;
}

static void watch(void *user, uint64_t k, const ff_truth *truth) {
    wire *w = user;
    const ff_vec3 p = truth->robot[0].T.p;
    if (w->known && k > 0)
        w->leap = fmax(w->leap, ff_vec3_norm(ff_vec3_sub(p, w->last)));
    w->last = p;
    w->known = true;
    w->force = ff_vec3_norm(truth->contact_b[0].f);
    if ((w->halt && k == w->halt) || (w->press > 0.0 && w->force > w->press))
        atomic_store(&w->both.halt, true);
}

typedef struct tried {
    const char *name;
    ff_trip_code code;
    const char *set[8];
    uint64_t halt;
} tried;

static double stopped_at; /* [N] of the next runs: the operator stops there; 0: not */

static wire *go(const char *text, const tried *t) {
    wire *w = calloc(1, sizeof *w);
    char message[256];
    load_both(&w->scenario, &w->truth, text, t->set);
    w->halt = t->halt;
    w->press = stopped_at;
    w->both = (sides){.scenario = &w->scenario,
                      .truth = &w->truth,
                      .facility_options = {.lockstep = true, .watch = watch, .received = received, .user = w},
                      .options = {.wait = 30.0},
                      .facility = &w->facility,
                      .rt = &w->rt};
    assert_int_equal(ff_plan_create(&w->truth, &w->plan, message, sizeof message), FF_OK);
    for (int i = 0; i < w->scenario.satellites; i++) {
        ff_plan_output(&w->scenario.satellite[i], &w->scenario.satellite[i].safety, w->scenario.cycle,
                       &w->robot[i].limit);
        w->robot[i].restarted = strstr(t->name, "restart") != NULL;
    }
    return w;
}

static ff_status ignore(void *self, const ff_row *row) {
    (void)self;
    (void)row;
    return FF_OK;
}

/* Runs it; every step that a robot was sent is within its limits, and a wrong code is said. The caller frees.
 */
static wire *kept(const char *text, const tried *t) {
    wire *w = go(text, t);
    w->both.sink = (ff_sink){.self = w, .row = ignore};
    run_sides(&w->both);
    bool bad = w->rt.trip.code != t->code;
    for (int i = 0; i < w->scenario.satellites; i++) {
        const sent *s = &w->robot[i];
        for (int p = 0; p < 2; p++)
            for (int o = 0; o < 3; o++)
                bad |= !(s->worst[p][o] <= 1.01);
        bad |= !(s->apart < 1e-8) || s->answers == 0;
        print_message(
            "%-34s %-9s v %.4f a %.4f j %.4f  w %.4f %.4f %.4f  step %.3f mm, %llu held, robot %.3f "
            "mm%s\n",
            t->name, ff_trip_name(w->rt.trip.code), s->worst[0][0], s->worst[0][1], s->worst[0][2],
            s->worst[1][0], s->worst[1][1], s->worst[1][2], 1e3 * s->step, (unsigned long long)s->held,
            1e3 * w->leap, bad ? " <--" : "");
    }
    if (bad)
        fail_msg("%s: %s by %s, apart %g m (jerk in cycle %llu, acceleration %llu)", t->name,
                 w->rt.run.message, ff_trip_name(w->rt.trip.code), w->robot[0].apart,
                 (unsigned long long)w->robot[0].when[0][2], (unsigned long long)w->robot[0].when[0][1]);
    return w;
}

static void drop(wire *w) {
    free(w->rt.last);
    free(w);
}

static const char fast[] =
    ONE_BODY("sent", "1.2", "[0.2, 0.02, 0]",
             "    angular_velocity: [0.02, -0.05, 0.2]\n"
             "    check: {push: skip}\n") "  - {name: right, kind: wall, at: [2, 0, 0], normal: [-1, 0, 0], "
                                          "stiffness: 5000, damping: 5}\n";

#define FAULT(text) "facility.faults=[{kind: " text "}]"

/* 1 to 8 telegrams, or 1 to 9 answers, lost at 0.2 m/s, in the run-up and in steady motion. */
static void test_losses(void **state) {
    (void)state;
    for (int answers = 0; answers < 2; answers++)
        for (int n = 1; n <= (answers ? 9 : 8); n++)
            for (int late = 0; late < 2; late++) {
                char name[64], fault[128];
                const double from = late ? 0.7 : 0.2;
                snprintf(name, sizeof name, "%d %s lost %s", n, answers ? "answers" : "telegrams",
                         late ? "in motion" : "in the run-up");
                snprintf(fault, sizeof fault, "facility.faults=[{kind: %s, from: %g, to: %g}]",
                         answers ? "answer-lost" : "rob-lost", from, from + 0.004 * n);
                const tried t = {.name = name,
                                 .code = n <= 5    ? FF_TRIP_FINISHED
                                         : answers ? FF_TRIP_LATE
                                                   : FF_TRIP_MISSED,
                                 .set = {fault}};
                wire *w = kept(fast, &t);
                /* after more than may be lost it is not answered any more, not even to end: how often it
                 * holds then depends on how soon this process ends the facility */
                if (t.code == FF_TRIP_MISSED)
                    assert_true(w->robot[0].held >= (uint64_t)n);
                else
                    assert_int_equal(w->robot[0].held, w->facility.rsi[0].late);
                assert_true(w->robot[0].last_step < 1e-9);
                assert_int_equal(w->robot[0].stops, t.code != FF_TRIP_MISSED);
                drop(w);
            }
}

static void test_a_bad_wire(void **state) {
    (void)state;
    static const tried cases[] = {
        {"nothing", FF_TRIP_FINISHED, {NULL}, 0},
        {"an answer late", FF_TRIP_FINISHED, {FAULT("answer-late, from: 0.7, to: 0.704")}, 0},
        {"two answers late", FF_TRIP_FINISHED, {FAULT("answer-late, from: 0.7, to: 0.708")}, 0},
        /* each costs the time to get up to speed again: more than 10 mm in the end */
        {"every tenth telegram lost",
         FF_TRIP_LAG,
         {FAULT("rob-lost, from: 0.3, to: 1, probability: 0.1")},
         0},
        {"every tenth answer lost",
         FF_TRIP_LAG,
         {FAULT("answer-lost, from: 0.3, to: 1, probability: 0.1")},
         0},
        {"telegrams twice and old",
         FF_TRIP_FINISHED,
         {"facility.faults=[{kind: rob-repeated, from: 0.3, to: 0.6}, {kind: rob-reordered, from: 0.6, to: "
          "0.9}]"},
         0},
        {"Ctrl-C in the run-up", FF_TRIP_OPERATOR, {NULL}, 170},
        {"Ctrl-C in motion", FF_TRIP_OPERATOR, {NULL}, 300},
        {"Ctrl-C, answers lost in the stop",
         FF_TRIP_OPERATOR,
         {FAULT("answer-lost, from: 0.75, to: 0.762")},
         280},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        wire *w = kept(fast, &cases[n]);
        assert_true(w->robot[0].last_step < 1e-9 && w->robot[0].stops == 1);
        assert_true(w->rt.filled <= w->rt.missed);
        drop(w);
    }
}

/* A program that begins again is never answered with what was summed up before. */
static void test_the_program_restarts(void **state) {
    (void)state;
    for (int n = 1; n < 9; n++) {
        char fault[128];
        snprintf(fault, sizeof fault, "facility.faults=[{kind: robot-restarts, from: 0.7, to: %g}]",
                 0.7 + 0.004 * n);
        const tried t = {.name = "the program restarts", .code = FF_TRIP_RESTART, .set = {fault}};
        wire *w = kept(fast, &t);
        assert_true(w->robot[0].step < 0.0009 && w->leap < 0.0009); /* 0.2 m/s for a cycle, and no more */
        assert_int_equal(w->robot[0].stops, 0);
        drop(w);
    }
}

/* The first telegrams of the new program are lost, and it counts each of them as late: that is what telegrams
 * that are simply lost look like, to the bit, unless they say where the corrections count from. With that
 * it is seen; without, a robot is not answered where more is lost than may be. */
static void test_the_program_restarts_and_counts(void **state) {
    (void)state;
    for (int n = 1; n < 9; n += 2)
        for (int says = n > 5 ? 0 : 1; says < 2; says++) {
            char fault[128];
            snprintf(fault, sizeof fault,
                     "facility.faults=[{kind: robot-restarts, value: 1, from: 0.7, to: %g}]",
                     0.7 + 0.004 * n);
            const tried t = {.name = "the program restarts and counts",
                             .code = says ? FF_TRIP_RESTART : FF_TRIP_MISSED,
                             .set = {fault, says ? "facility.signals=on" : "facility.signals=off"}};
            wire *w = kept(fast, &t);
            assert_true(w->robot[0].step < 0.0009 && w->leap < 0.0009);
            assert_int_equal(w->robot[0].stops, 0);
            drop(w);
        }
}

/* Nor is one whose counter is ahead of the time: no telegram was lost, and IPOC does not jump in a program
 * that runs. A counter that jumps by a hundred does not lead the satellite on by as many, either. */
static void test_the_program_restarts_at_once(void **state) {
    (void)state;
    static const tried cases[] = {
        {"restarts at once, IPOC jumps",
         FF_TRIP_RESTART,
         {FAULT("ipoc-jump, value: 1, from: 0.7, to: 0.704")},
         0},
        {"IPOC jumps", FF_TRIP_RESTART, {FAULT("ipoc-jump, from: 0.7, to: 0.704")}, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        wire *w = kept(fast, &cases[n]);
        assert_true(w->robot[0].step < 0.0009 && w->leap < 0.0009);
        assert_true(w->robot[0].stops == 0 && w->rt.filled <= 5);
        drop(w);
    }
}

/* A robot that stands for 240 ms: seen within 10 cycles, and when it moves again it makes no step. */
static void test_the_robot_stands_for_a_while(void **state) {
    (void)state;
    const tried t = {
        .name = "stands 240 ms", .code = FF_TRIP_STANDS, .set = {FAULT("robot-stuck, from: 0.7, to: 0.94")}};
    wire *w = kept(fast, &t);
    assert_true(w->leap < 0.0009);
    drop(w);
}

/* The controller says that it does not move its robot any more, or stops saying so: the run ends at once, and
 * its name is in the message. Where the robot itself stands and is let go later, it makes no step: what it
 * is sent has gone back to where it stands. */
static void test_the_controllers_signals(void **state) {
    (void)state;
    static const struct {
        const char *fault, *of;
    } each[] = {
        {"krc-mode, value: 1, from: 0.7", "operating mode"},
        {"krc-drives, from: 0.7, to: 1.2", "drives"},
        {"krc-estop, from: 0.7, to: 1.2", "emergency stop"},
        {"krc-override, value: 50, from: 0.7", "override"},
        {"krc-override, value: 0, from: 0.7, to: 1.2", "override"},
        {"krc-program, from: 0.7, to: 1.2", "program"},
        {"krc-lost, from: 0.7, to: 0.704", "operating mode"},
        {"krc-lost, value: 1, from: 0.7", "operating mode"},
        {"krc-lost, value: 2, from: 0.7", "drives"},
        {"krc-lost, value: 3, from: 0.7", "emergency stop"},
        {"krc-lost, value: 4, from: 0.7", "override"},
        {"krc-lost, value: 5, from: 0.7", "program"},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        char fault[96], says[64];
        snprintf(fault, sizeof fault, "facility.faults=[{kind: %s}]", each[n].fault);
        const tried t = {
            .name = each[n].fault, .code = FF_TRIP_CONTROLLER, .set = {fault, "facility.signals=on"}};
        wire *w = kept(fast, &t);
        snprintf(says, sizeof says, "CONTROLLER: %s: ", each[n].of);
        assert_non_null(strstr(w->rt.run.message, says));
        assert_int_equal(w->rt.state, FF_STATE_FAULT);
        assert_true(w->robot[0].last_step < 1e-9 && w->leap < 0.0009);
        /* seen in the telegram that says so: the run has made no further cycle */
        assert_true(w->rt.run.safety.ended <= 0.3);
        drop(w);
    }
    /* the same signals all the time, and a telegram without them: nothing happens */
    const tried on = {.name = "signals", .code = FF_TRIP_FINISHED, .set = {"facility.signals=on"}},
                off = {.name = "override 0, not said",
                       .code = FF_TRIP_STANDS,
                       .set = {FAULT("krc-override, value: 0, from: 0.7, to: 0.94")}};
    drop(kept(fast, &on));
    wire *w = kept(fast, &off);
    assert_true(w->leap < 0.0009);
    drop(w);
}

/* A robot that stands while a stop of another cause brings it to rest: when it is let go, it makes no step.
 */
static void test_the_robot_stands_in_a_stop(void **state) {
    (void)state;
    static const tried cases[] = {
        {"stands after the run's end", FF_TRIP_STANDS, {FAULT("robot-stuck, from: 1.73, to: 2.4")}, 0},
        {"stands after a spike",
         FF_TRIP_SPIKE,
         {FAULT("ft-spike, value: 300, from: 0.7, to: 0.704}, {kind: robot-stuck, from: 0.72, to: 1.4"),
          "satellites.body.safety.spike=50"},
         0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        wire *w = kept(fast, &cases[n]);
        assert_true(w->leap < 0.0009 && w->robot[0].last_step < 1e-9);
        drop(w);
    }
}

/* A sensor that jumps: the robot stops, and at most 5 mm are retreated. */
static void test_the_sensor_jumps(void **state) {
    (void)state;
    static const tried cases[] = {
        {"sensor jumps by 300 N",
         FF_TRIP_FORCE,
         {FAULT("ft-offset, value: 300, from: 0.7"), "satellites.body.safety.force=200"},
         0},
        {"sensor jumps by -640 N",
         FF_TRIP_FORCE,
         {FAULT("ft-offset, value: -640, from: 0.7"), "satellites.body.safety.force=200"},
         0},
        {"spike of 300 N",
         FF_TRIP_SPIKE,
         {FAULT("ft-offset, value: 300, from: 0.7"), "satellites.body.safety.spike=50"},
         0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        wire *w = kept(fast, &cases[n]);
        assert_int_equal(w->rt.retreated, n < 2);
        assert_true(w->robot[0].last_step < 1e-9);
        drop(w);
    }
}

/* `limits` bind run-up, tests and stop; what cannot obey is not armed. */
static void test_limits_bind_everything(void **state) {
    (void)state;
    static const char within[] = "satellites.body.limits={velocity: 0.3, acceleration: 0.2, jerk: 5, "
                                 "angular_velocity: 0.5, angular_acceleration: 0.3, angular_jerk: 8}";
    const tried beyond = {.name = "limits below the start",
                          .code = FF_TRIP_VELOCITY,
                          .set = {"satellites.body.limits={velocity: 0.1, acceleration: 0.2, jerk: 5}"}};
    wire *w = kept(fast, &beyond);
    assert_true(w->robot[0].step < 1e-9);
    drop(w);
    /* a stop from 0.3 m/s takes more than a minute: it would end in motion */
    const tried endless = {.name = "a stop that takes too long",
                           .code = FF_TRIP_NO_GO,
                           .set = {within, "satellites.body.safety={stop_acceleration: 0.004}"}};
    w = kept(fast, &endless);
    assert_true(w->robot[0].step < 1e-9);
    drop(w);
    const tried cases[] = {
        {"limits, the run", FF_TRIP_FINISHED, {within}, 0},
        {"limits, Ctrl-C", FF_TRIP_OPERATOR, {within}, 400},
        {"limits, 5 telegrams lost", FF_TRIP_LAG, {within, FAULT("rob-lost, from: 2, to: 2.02")}, 0},
        {"limits, chirp and tilts",
         FF_TRIP_FINISHED,
         {within, "satellites.body.check={push: skip, weight: poses, delay: chirp}",
          "facility.gravity=[0, 0, -9.81]", "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}"},
         0},
        /* limits that trip, and not only bound, are kept by whatever leads the robot, too */
        {"safety, chirp and tilts",
         FF_TRIP_FINISHED,
         {"satellites.body.safety={velocity: 0.3, acceleration: 0.2, jerk: 5, angular_velocity: 0.5, "
          "angular_acceleration: 0.3}",
          "satellites.body.check={push: skip, weight: poses, delay: chirp}", "facility.gravity=[0, 0, -9.81]",
          "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}"},
         0},
        {"tight safety, tilts",
         FF_TRIP_FINISHED,
         {"satellites.body.safety={velocity: 0.21, acceleration: 0.05, jerk: 0.2, angular_velocity: 0.25, "
          "angular_acceleration: 0.05}",
          "satellites.body.check={push: skip, weight: poses}", "facility.gravity=[0, 0, -9.81]",
          "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}", "satellites.body.velocity=[0.02, 0.2, 0]"},
         0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
        drop(kept(fast, &cases[n]));
}

/* What a robot reports jumps by 0.3 m, and it stands from then on: it is braked where it was led, and not led
 * to where it says it is. 0.2 m/s for 0.75 s, and the stop. */
static void test_a_report_that_jumps_leads_nobody(void **state) {
    (void)state;
    const tried t = {
        .name = "jumps by 0.3 m and stands",
        .code = FF_TRIP_TRACKING,
        .set = {"facility.faults=[{kind: robot-jump, from: 0.7, value: 0.3}, {kind: robot-stuck, "
                "from: 0.704}]",
                "satellites.body.safety={velocity: 0.3, angular_velocity: 0.5}"}};
    wire *w = kept(fast, &t);
    const double gone = ff_vec3_norm(ff_vec3_sub(w->robot[0].at.p, w->robot[0].first.p));
    if (!(gone < 0.2 * 0.75 + 0.2 * 0.2 / 2.0 + 0.01))
        fail_msg("led by %g m", gone);
    drop(w);
}

/* Stopped while it is pressed against a wall, with every third record lost: whichever record is missing when
 * the stop is decided, the next valid one is waited for, and the robot leaves the contact. */
static const char pressed[] = ONE_BODY(
    "pressed", "3", "[0.03, 0, 0]",
    "    check: {push: skip}\n") "  - {name: right, kind: wall, at: [0.01, 0, 0], normal: [-1, 0, 0], "
                                 "stiffness: 3000, damping: 5}\n";

static void test_stopped_in_contact_with_records_lost(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 41);
    for (int n = 0; n < test_count(6, 60); n++) {
        char name[64], seed[64];
        const double press = ff_rng_range(&rng, 2.0, 12.0);
        snprintf(name, sizeof name, "stopped at %.1f N, records lost", press);
        snprintf(seed, sizeof seed, "time.seed=%d", 1 + (int)ff_rng_range(&rng, 0.0, 1e6));
        const tried t = {.name = name,
                         .code = FF_TRIP_OPERATOR,
                         .set = {seed, "satellites.body.safety={age: 0.2}",
                                 FAULT("ft-lost, from: 0.3, to: 60, probability: 0.3")}};
        stopped_at = press;
        wire *w = kept(pressed, &t);
        stopped_at = 0.0;
        assert_int_equal(w->rt.run.safety.state, FF_STATE_HOLD);
        assert_true(w->robot[0].last_step < 1e-9 && w->robot[0].stops == 1);
        if (!(w->force == 0.0))
            fail_msg("%s: still pressed by %g N: %s", name, w->force, w->rt.run.message);
        drop(w);
    }
}

/* A robot that stands, pressed against a wall, by its brakes: the retreat does not run ahead of it. Let go
 * after a while, it makes no step of the 5 mm that a retreat is; at most what its command goes by until it is
 * seen to stand, 10 mm/s for 17 cycles (its delay and 3, 8 and 2). */
static void test_the_robot_stands_in_contact(void **state) {
    (void)state;
    static const tried cases[] = {
        {"stands 0.08 s in contact", FF_TRIP_STANDS, {FAULT("robot-stuck, from: 0.86, to: 0.94")}, 0},
        {"stands 0.4 s in contact", FF_TRIP_STANDS, {FAULT("robot-stuck, from: 0.86, to: 1.26")}, 0},
        {"stands 0.8 s in contact", FF_TRIP_STANDS, {FAULT("robot-stuck, from: 0.86, to: 1.66")}, 0},
        {"stands 1.2 s in contact", FF_TRIP_STANDS, {FAULT("robot-stuck, from: 0.86, to: 2.06")}, 0},
        {"stands for good in contact", FF_TRIP_STANDS, {FAULT("robot-stuck, from: 0.86, to: 60")}, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        wire *w = kept(pressed, &cases[n]);
        print_message("%s: %s, %.2f N\n", cases[n].name, ff_stop_text(w->rt.stopped[0]), w->force);
        assert_int_equal(w->rt.state, FF_STATE_FAULT);
        assert_int_equal(w->rt.stopped[0], n ? FF_STOP_HELD : FF_STOP_RETREATED); /* the first moves again */
        assert_true(w->robot[0].last_step < 1e-9 && w->robot[0].stops == 1);
        if (!(w->leap < 0.010 * 0.004 * 17.0))
            fail_msg("%s: a step of %g mm", cases[n].name, 1e3 * w->leap);
        drop(w);
    }
}

/* Braked before its box, a robot falls behind its satellite until that is too far: what holds it back is the
 * box, also where the stage can follow again for a cycle. */
static void test_the_box_is_named(void **state) {
    (void)state;
    static const char boxed[] = ONE_BODY(
        "sent", "0.7", "[0.231441, -0.0363636, -0.00841438]",
        "    check: {push: skip}\n"
        "    safety: {velocity: 0.441417, acceleration: 2.39904, jerk: 34.0661, box: [0.140419, 0.102858, "
        "0.0428379], stop_acceleration: 0.318363}\n") "  - {name: right, kind: wall, at: [2, 0, 0], normal: "
                                                      "[-1, 0, 0], stiffness: 5000, damping: 5}\n";
    const tried t = {.name = "before its box", .code = FF_TRIP_BOX, .set = {NULL}};
    drop(kept(boxed, &t));
}

/* The pacing robot is lost: the other comes to rest by its own telegrams, every one continuous to the last.
 */
static void test_the_second_robot_alone(void **state) {
    (void)state;
    static const char two[] =
        "name: sent\n"
        "time: {cycle: 0.004, duration: 2}\n"
        "method: tdpa\n"
        "satellites:\n"
        "  client: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0], angular_velocity: [0, 0.1, 0], "
        "robot: {kind: delay, delay: 0.016}, check: {push: skip}}\n"
        "  servicer: {mass: 300, inertia: [30, 30, 30], position: [-1, 0, 0], velocity: [0.03, 0.2, 0],\n"
        "    angular_velocity: [0, 0, 0.2], robot: {kind: delay, delay: 0.02}, check: {push: skip}}\n";
    static const tried cases[] = {
        {"the first silent", FF_TRIP_SILENT, {FAULT("robot-silent, body: client, from: 1")}, 0},
        {"the second silent", FF_TRIP_SILENT, {FAULT("robot-silent, body: servicer, from: 1")}, 0},
        {"4 of the first lost", FF_TRIP_FINISHED, {FAULT("rob-lost, body: client, from: 1, to: 1.016")}, 0},
        {"8 of the first lost", FF_TRIP_MISSED, {FAULT("rob-lost, body: client, from: 1, to: 1.032")}, 0},
        /* that says where its corrections count from: it is answered, and ended */
        {"8 of the first lost, anchored",
         FF_TRIP_MISSED,
         {FAULT("rob-lost, body: client, from: 1, to: 1.032"), "facility.signals=on"},
         0},
        /* it is not answered any more, and the first comes to rest by its own telegrams */
        {"the second's program restarts",
         FF_TRIP_RESTART,
         {FAULT("robot-restarts, body: servicer, from: 1, to: 1.012")},
         0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        wire *w = kept(two, &cases[n]);
        const int other = n == 1 || n == 5 ? 0 : 1;
        assert_int_equal(w->robot[0].stops, n != 0 && n != 3);
        assert_int_equal(w->robot[1].stops, n != 1 && n != 5);
        assert_true(w->robot[other].last_step < 1e-9);
        drop(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_bad_wire),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_the_program_restarts),
        cmocka_unit_test(test_the_program_restarts_and_counts),
        cmocka_unit_test(test_the_program_restarts_at_once),
        cmocka_unit_test(test_the_robot_stands_for_a_while),
        cmocka_unit_test(test_the_controllers_signals),
        cmocka_unit_test(test_the_robot_stands_in_a_stop),
        cmocka_unit_test(test_the_sensor_jumps),
        cmocka_unit_test(test_limits_bind_everything),
        cmocka_unit_test(test_a_report_that_jumps_leads_nobody),
        cmocka_unit_test(test_stopped_in_contact_with_records_lost),
        cmocka_unit_test(test_the_robot_stands_in_contact),
        cmocka_unit_test(test_the_box_is_named),
        cmocka_unit_test(test_the_second_robot_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
