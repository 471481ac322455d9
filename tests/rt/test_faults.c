/* Every row of the fault table in docs/safety.md that a device can cause: injected by the virtual facility,
 * the reaction asserted. Facility and executive in one process over loopback. */
#include "pair.h"

#include "text/clock.h"

static const char base_text[] = PAIR_SCENARIO("faults", "1.2");

/* Loads the scenario with overrides (ends with NULL) and runs both sides. The caller frees. */
static pair *play(const char *first, ...) {
    pair *p = calloc(1, sizeof *p);
    const char *set[16] = {first};
    int sets = 1;
    va_list list;
    va_start(list, first);
    for (const char *s; (s = va_arg(list, const char *)) != NULL;)
        set[sets++] = s;
    va_end(list);
    load(&p->scenario, base_text, set, sets);
    p->truth = p->scenario;
    run_pair(p);
    return p;
}

#define FAULT(text) "facility.faults=[{kind: " text "}]"

/* The run goes to its end, whatever happened; the counter says what did. */
#define SURVIVES(name, fault, condition)                          \
    static void name(void **state) {                              \
        (void)state;                                              \
        pair *p = play(FAULT(fault), NULL);                       \
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);               \
        assert_true(condition);                                   \
        assert_int_equal(p->rows, p->scenario.cycles + 1);        \
        assert_int_equal(p->last.k, p->scenario.cycles);          \
        /* it came to rest */                                     \
        assert_true(ff_vec3_norm(p->rt.robot[0].twist.v) < 1e-3); \
        drop(p);                                                  \
    }
/* The run ends in FAULT with this code, the robot at rest, the last 2 s kept. */
#define FAULTS(name, code, fault, ...)                                      \
    static void name(void **state) {                                        \
        (void)state;                                                        \
        pair *p = play(FAULT(fault), __VA_ARGS__ NULL);                     \
        expect(p, FF_STATE_FAULT, code);                                    \
        assert_true(p->rt.last_count > 50);                                 \
        assert_true(p->rt.run.status < 0);                                  \
        assert_true(strstr(p->rt.run.message, ff_trip_name(code)) != NULL); \
        drop(p);                                                            \
    }

#define ONCE ", from: 0.8, to: 0.804"
#define SOME ", from: 0.6, to: 0.9, probability: 0.1"

SURVIVES(test_no_fault, "jitter, value: 0, to: 0.001", p->rt.missed == 0 && p->rt.robots[0].late == 0)
SURVIVES(test_rob_lost_once, "rob-lost" ONCE, p->rt.missed == 1 && p->rt.filled == 1)
SURVIVES(test_rob_lost_often, "rob-lost" SOME, p->rt.missed >= 2 && p->rt.filled == p->rt.missed)
FAULTS(test_rob_lost_long, FF_TRIP_MISSED, "rob-lost, from: 0.8, to: 0.832", )
SURVIVES(test_rob_late, "rob-late, value: 0.002" SOME, p->rt.missed == 0)
SURVIVES(test_rob_repeated, "rob-repeated" SOME, p->rt.robots[0].repeated >= 2 && p->rt.missed == 0)
SURVIVES(test_rob_reordered, "rob-reordered" SOME, p->rt.robots[0].reordered >= 2 && p->rt.missed == 0)
SURVIVES(test_rob_corrupt, "rob-corrupt" ONCE, p->rt.robots[0].malformed == 1 && p->rt.missed == 1)
SURVIVES(test_rob_cut, "rob-cut" ONCE, p->rt.robots[0].malformed == 1 && p->rt.missed == 1)
SURVIVES(test_rob_nan, "rob-nan" ONCE, p->rt.robots[0].malformed == 1 && p->rt.missed == 1)
SURVIVES(test_rob_corrupt_and_nan, "rob-corrupt" ONCE "}, {kind: rob-nan" ONCE,
         p->rt.robots[0].malformed == 1 && p->rt.missed == 1)
SURVIVES(test_rob_empty, "rob-empty" ONCE, p->rt.robots[0].empty == 1 && p->rt.missed == 1)
SURVIVES(test_rob_long, "rob-long" ONCE, p->rt.robots[0].malformed == 1 && p->rt.missed == 1)
SURVIVES(test_rob_incomplete, "rob-incomplete" ONCE, p->rt.robots[0].malformed == 1 && p->rt.missed == 1)
FAULTS(test_ipoc_jump, FF_TRIP_RESTART, "ipoc-jump" ONCE, )
FAULTS(test_robot_silent, FF_TRIP_SILENT, "robot-silent, from: 0.8", )
FAULTS(test_robot_stuck, FF_TRIP_STANDS, "robot-stuck, from: 0.6", )
FAULTS(test_robot_jump, FF_TRIP_TRACKING, "robot-jump, value: 0.05, from: 0.8", )
FAULTS(test_robot_slow, FF_TRIP_STANDS, "robot-slow, value: 0.01, from: 0.6", )
FAULTS(test_robot_clipped, FF_TRIP_STANDS, "robot-clipped, from: 0.6", )
FAULTS(test_robot_aborts, FF_TRIP_SILENT, "robot-aborts, from: 0.8", )
/* The facility outlives a session that its monitor aborted: the next one is served without the fault. */
static void test_session_after_an_abort(void **state) {
    (void)state;
    pair *p = calloc(1, sizeof *p);
    ff_rt_result *second = calloc(1, sizeof *second);
    ff_scenario *quick = malloc(sizeof *quick);
    const char *fault[] = {FAULT("robot-aborts, from: 1.2")},
               *ends[] = {"time.duration=0.1"}; /* and its stop, before that */
    load(&p->scenario, base_text, NULL, 0);
    load(&p->truth, base_text, fault, 1);
    load(quick, base_text, ends, 1);
    atomic_bool stop = false, never = false;
    const ff_ports ports = free_ports();
    sides both = {.truth = &p->truth,
                  .facility = &p->facility,
                  .facility_options = {.lockstep = true, .ports = ports, .stop = &stop}};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve, &both), 0);
    const ff_sink sink = {.self = p, .row = count_row};
    const ff_run_options run = {.sinks = &sink, .count = 1};
    ff_rt_options options = {.wait = 30.0, .silence = patience(&p->truth), .ports = ports, .stop = &never};
    ff_rt_run(&p->scenario, &run, &options, &p->rt);
    options.silence = patience(quick);
    ff_rt_run(quick, &run, &options, second);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(p->rt.state, FF_STATE_FAULT); /* the controller begins again at once, elsewhere */
    if (second->trip.code != FF_TRIP_FINISHED)
        fail_msg("%s", second->run.message);
    assert_true(p->facility.sessions >= 2);
    free(second->last);
    free(second);
    free(quick);
    drop(p);
}

/* The controller counts the late answer, and HOLDON holds: without an answer the correction stays for one
 * cycle, and the robot stands. From there it is led after the satellite within its limits, and meets it.
 * Seen along the wall, where nothing else happens. */
typedef struct track {
    uint64_t count;
    ff_vec3 p[2000];
} track;

static void watch_track(void *user, uint64_t k, const ff_truth *truth) {
    track *t = user;
    if (k < sizeof t->p / sizeof *t->p) {
        t->p[k] = truth->robot[0].T.p;
        t->count = k + 1;
    }
}

/* The run with these overrides, and the robot's path. The caller frees both. */
static pair *play_tracked(const char *const *set, int sets, track **way) {
    pair *p = calloc(1, sizeof *p);
    *way = calloc(1, sizeof **way);
    load(&p->scenario, base_text, set, sets);
    p->truth = p->scenario;
    p->facility_options.watch = watch_track;
    p->facility_options.user = *way;
    run_pair(p);
    return p;
}

static void test_answer_lost(void **state) {
    (void)state;
    track *t[2];
    int stands = 0;
    for (int n = 0; n < 2; n++) {
        const char *set[] = {n ? FAULT("answer-lost" ONCE) : "facility.faults=[]"};
        pair *p = play_tracked(set, 1, &t[n]);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        assert_int_equal(p->rt.robots[0].late, n);
        assert_int_equal(p->facility.rsi[0].late, n);
        assert_int_equal(p->rows, p->scenario.cycles + 1);
        drop(p);
    }
    uint64_t apart = 0, first[2] = {0, 0}; /* the check may take a cycle more */
    for (int n = 0; n < 2; n++)
        while (fabs(t[n]->p[first[n]].y - t[n]->p[0].y) < 1e-8)
            first[n]++;
    const ff_vec3 *p = t[1]->p + first[1], *whole = t[0]->p + first[0];
    for (uint64_t k = 2; k + 30 + first[0] < t[0]->count && k + 30 + first[1] < t[1]->count; k++) {
        const double before = p[k - 1].y - p[k - 2].y, step = p[k].y - p[k - 1].y;
        stands += fabs(before - 4e-5) < 4e-7 && fabs(step) < 4e-7; /* 0.01 m/s for 4 ms */
        apart += fabs(p[k].y - whole[k].y) > 1e-7;
        assert_true(step < 2.5 * 4e-5); /* it makes up for 4e-5 m, not at once */
    }
    print_message("stood %d, behind for %llu cycles\n", stands, (unsigned long long)apart);
    assert_int_equal(stands, 1);
    assert_true(apart > 2 && apart < 25);
    free(t[0]);
    free(t[1]);
}
FAULTS(test_answer_lost_long, FF_TRIP_LATE, "answer-lost, from: 0.8", )
SURVIVES(test_answer_late, "answer-late" ONCE, p->facility.rsi[0].too_late == 1 && p->rt.robots[0].late == 1)
SURVIVES(test_ft_lost, "ft-lost" SOME, p->rt.sensors[0].lost >= 2)
SURVIVES(test_ft_repeated, "ft-repeated" SOME, p->rt.sensors[0].repeated >= 2)
SURVIVES(test_ft_reordered, "ft-reordered" SOME, p->rt.sensors[0].reordered + p->rt.sensors[0].repeated >= 2)
SURVIVES(test_ft_corrupt, "ft-corrupt" ONCE, p->rt.sensors[0].lost == 1)
FAULTS(test_ft_silent, FF_TRIP_AGE, "ft-silent, from: 0.8", )
FAULTS(test_ft_frozen, FF_TRIP_FROZEN, "ft-frozen, from: 0.6", )
FAULTS(test_ft_stuck, FF_TRIP_FROZEN, "ft-stuck, from: 0.6",
       "satellites.body.sensor={kind: noisy, force_noise: 0.1, torque_noise: 0.01}", )
FAULTS(test_ft_saturated, FF_TRIP_RANGE, "ft-saturated" ONCE, )
FAULTS(test_ft_broken, FF_TRIP_SENSOR, "ft-broken" ONCE, )
FAULTS(test_ft_drift, FF_TRIP_FORCE, "ft-drift, value: -70, from: 0.2", "satellites.body.safety.force=60", )
FAULTS(test_ft_spike, FF_TRIP_SPIKE, "ft-spike, value: 200" ONCE, "satellites.body.safety.spike=50", )
FAULTS(test_ft_offset, FF_TRIP_FORCE, "ft-offset, value: 100, from: 0.7", "satellites.body.safety.force=60", )
FAULTS(test_ft_restart, FF_TRIP_AGE, "ft-restart" ONCE, )
/* 200 datagrams a cycle from elsewhere, every other one empty: the record behind them is read in its cycle */
SURVIVES(test_ft_flood, "ft-flood, value: 200, from: 0.6, to: 0.9",
         p->rt.strangers == 200 * p->facility.injected[FF_FAULT_FT_FLOOD] && p->rt.sensors[0].lost == 0)
FAULTS(test_ft_flood_long, FF_TRIP_AGE, "ft-flood, value: 600, from: 0.8", )
SURVIVES(test_stranger, "stranger" SOME, p->rt.strangers >= 2)
SURVIVES(test_jitter, "jitter, value: 0.002, to: 1", p->rt.missed == 0)
SURVIVES(test_clock_step, "clock-step, value: 0.05" ONCE, p->rt.missed == 0)

/* 7 kHz: one of 28 records a cycle, and not the newest. The wall itself, at most 5000 N/m 0.05 m/s 4 ms = 1 N
 * a cycle, is no spike; without the limit it is counted by nobody. */
#define FAST(more) "facility.faults=[{kind: ft-fast, value: 28}" more "]"
static void test_every_record_is_judged(void **state) {
    (void)state;
    static const struct {
        const char *faults, *limit;
        ff_trip_code code;
        double value, allowed;
        uint64_t bad, spiked;
    } cases[] = {
        {FAST(""), "satellites.body.safety.spike=2", FF_TRIP_FINISHED, 0.0, 0.0, 0, 0},
        {FAST(", {kind: ft-spike, value: 60" ONCE "}"), "satellites.body.safety.spike=50", FF_TRIP_SPIKE,
         60.0, 50.0, 0, 1},
        {FAST(", {kind: ft-spike, value: 60" ONCE "}"), "satellites.body.safety.spike=70", FF_TRIP_FINISHED,
         0.0, 0.0, 0, 0},
        {FAST(", {kind: ft-spike, value: -150" ONCE "}"),
         "satellites.body.sensor={kind: noisy, range: [120, 100]}", FF_TRIP_RANGE, 150.0, 120.0, 1, 0},
        {FAST(", {kind: ft-saturated" ONCE "}"), "satellites.body.safety.spike=50", FF_TRIP_RANGE,
         0x80000000u | 0x00020000u, 0.0, 1, 0},
        {FAST(", {kind: ft-broken" ONCE "}"), "satellites.body.safety.spike=50", FF_TRIP_SENSOR, 0x80000001u,
         0.0, 1, 0},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        pair *p = play(cases[n].faults, cases[n].limit, NULL);
        const ff_device_counters *count = &p->rt.sensors[0];
        print_message("%s: %s, %llu records, %llu bad, %llu spiked\n", cases[n].faults,
                      ff_trip_name(p->rt.trip.code), (unsigned long long)count->received,
                      (unsigned long long)count->bad, (unsigned long long)count->spiked);
        const bool faulty = cases[n].code != FF_TRIP_FINISHED;
        expect(p, faulty ? FF_STATE_FAULT : FF_STATE_HOLD, cases[n].code);
        if (faulty) {
            /* the force before the wall is 0 to the counts of 1e-6 N */
            assert_near(p->rt.trip.value, cases[n].value, 2e-6);
            assert_near(p->rt.trip.limit, cases[n].allowed, 1e-9);
        }
        assert_int_equal(count->bad, cases[n].bad);
        assert_int_equal(count->spiked, cases[n].spiked);
        assert_int_equal(count->lost, 0);
        assert_true(count->received > 27 * p->facility.cycles && count->received <= p->facility.records);
        drop(p);
    }
}

/* a second client takes the sensor's stream: what we have gets old */
static void test_second_client(void **state) {
    (void)state;
    pair *p = play(FAULT("second-client" ONCE), NULL);
    expect(p, FF_STATE_FAULT, FF_TRIP_AGE);
    assert_int_equal(p->facility.injected[FF_FAULT_SECOND_CLIENT], 1);
    assert_true(p->facility.stolen >= 1); /* twice on a computer so slow that our own client asks again */
    assert_true(p->rt.last_count > 50);
    drop(p);
}

/* the wall is ten times as hard as the forecast had it: the limit ends it, and the robot leaves the wall */
static void test_wall_harder(void **state) {
    (void)state;
    const char *limit = "satellites.body.safety.force=60";
    pair *p = play(FAULT("wall-harder, value: 1"), limit, NULL);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    drop(p);
    p = play(FAULT("wall-harder, value: 10"), limit, NULL);
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_true(p->rt.trip.value > 60.0);
    assert_true(p->rt.last_count > 50);
    assert_true(p->rt.retreated);
    assert_true(p->facility.force[0] < 0.5);
    drop(p);
}

/* A fault of the loop's process cannot be done where both are one: it is said, and nothing happens. */
static void keep_line(void *user, const char *line) {
    if (strstr(line, "a fault:"))
        snprintf(user, 160, "%s", line);
}

static void test_own_process_is_spared(void **state) {
    (void)state;
    pair *p = calloc(1, sizeof *p);
    char line[160] = "";
    const char *set[] = {
        "facility.faults=[{kind: loop-killed, from: 0.5}, {kind: loop-stalled, from: 0.4, to: 0.6}, "
        "{kind: disk-full, from: 0.3}]"};
    load(&p->scenario, base_text, set, 1);
    p->truth = p->scenario;
    p->facility_options.say = keep_line;
    p->facility_options.user = line;
    run_pair(p);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_non_null(strstr(line, "cannot be seen from here"));
    drop(p);
}

/* A viewer that hears nothing until the run is over: the loop does not wait, and what was lost is counted. */
typedef struct deaf {
    atomic_bool woken;
    uint64_t samples;
} deaf;

static void hear_late(void *self, const ff_telemetry_sample *sample) {
    (void)sample;
    deaf *d = self;
    while (!atomic_load(&d->woken))
        ff_clock_sleep_until(ff_clock_now() + 10000000); /* the order comes from another thread */
    d->samples++;
}

static void wake_viewer(void *user, uint64_t k, const ff_truth *truth) {
    (void)truth;
    deaf *d = user;
    if (k == 3500)
        atomic_store(&d->woken, true);
}

static void test_slow_viewer_is_not_waited_for(void **state) {
    (void)state;
    pair *p = calloc(1, sizeof *p);
    deaf d = {0};
    const char *set[] = {"time.duration=14", "contacts.right.at=[0.5, 0, 0]"};
    load(&p->scenario, base_text, set, 2);
    p->truth = p->scenario;
    p->options.viewer = (ff_viewer){.self = &d, .sample = hear_late};
    p->facility_options.watch = wake_viewer;
    p->facility_options.user = &d;
    run_pair(p);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_int_equal(p->rows, p->scenario.cycles + 1);
    assert_int_equal(p->rt.dropped_rows, 0);
    print_message("%llu samples heard, %llu dropped\n", (unsigned long long)d.samples,
                  (unsigned long long)p->rt.dropped_telemetry);
    assert_true(p->rt.dropped_telemetry > 1000);
    assert_true(p->last.dropped > 1000 && p->last.dropped <= p->rt.dropped_telemetry);
    assert_true(d.samples > 0 && d.samples + p->rt.dropped_telemetry >= p->rows);
    drop(p);
}

/* ----------------------------------------------------------------- the limits, and where the robot stands --
 */

#define LIMIT(name, code, set)                                    \
    static void name(void **state) {                              \
        (void)state;                                              \
        pair *p = play("satellites.body.safety." set, NULL);      \
        expect(p, FF_STATE_FAULT, code);                          \
        assert_true(p->rt.trip.value > p->rt.trip.limit);         \
        assert_true(ff_vec3_norm(p->rt.robot[0].twist.v) < 1e-3); \
        drop(p);                                                  \
    }
LIMIT(test_limit_box, FF_TRIP_BOX, "box=[0.02, free, free]")
LIMIT(test_limit_velocity, FF_TRIP_VELOCITY, "velocity=0.045")
LIMIT(test_limit_acceleration, FF_TRIP_ACCELERATION, "acceleration=0.05")
LIMIT(test_limit_jerk, FF_TRIP_JERK, "jerk=0.5")
/* a load drives the body into the wall: no forecast knows of it */
#define PUSHED                                                              \
    "satellites.body.velocity=[0, 0, 0]", "contacts.right.at=[0.01, 0, 0]", \
        "loads=[{force: [20, 0, 0], from: 0, to: 1}]"
static void test_limit_force(void **state) {
    (void)state;
    pair *p = play(PUSHED, "satellites.body.safety.force=15", NULL);
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_true(p->rt.trip.value > 15.0 && p->rt.trip.value < 30.0);
    drop(p);
}
/* direct integration gains energy by the delay: the port's balance notices */
static void test_limit_energy(void **state) {
    (void)state;
    pair *p =
        play("method=direct", "contacts.right.at=[0.005, 0, 0]", "satellites.body.safety.energy=0.01", NULL);
    expect(p, FF_STATE_FAULT, FF_TRIP_ENERGY);
    assert_true(p->rt.trip.value > 0.01);
    drop(p);
}
/* what the forecast already says is not armed */
static void test_forecast_beyond_limit_does_not_arm(void **state) {
    (void)state;
    pair *p = play("satellites.body.safety.force=15", NULL);
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_int_equal(p->rows, 0);
    drop(p);
}

/* From the first motion to rest nothing jerks: neither the end of a run nor a trip, with or without contact,
 * accelerates the robot by more than the stop may and the contact does. */
static void test_stop_is_smooth(void **state) {
    (void)state;
    static const struct {
        const char *set;
        double most; /* [m/s2] */
    } cases[] = {
        {"time.duration=1", 0.5},                                /* the end, on the way back */
        {"time.duration=0.2", 0.5},                              /* the end, before the wall */
        {"facility.faults=[{kind: ft-silent, from: 0.7}]", 0.5}, /* before the wall */
        {"facility={signals: on, faults: [{kind: rob-lost, from: 0.7, to: 0.732}]}",
         0.05099 / 0.004}, /* the controller held meanwhile */
        {"satellites.body.safety={box: [0.015, free, free]}", 0.5},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        track *t;
        pair *p = play_tracked(&cases[n].set, 1, &t);
        const double T = p->scenario.cycle, stop = p->scenario.satellite[0].safety.stop_acceleration;
        double most = 0.0;
        for (uint64_t k = 1; k + 1 < t->count; k++)
            most = fmax(most, ff_vec3_norm(ff_vec3_sub(ff_vec3_add(t->p[k + 1], t->p[k - 1]),
                                                       ff_vec3_scale(2.0, t->p[k]))) /
                                  (T * T));
        print_message("%s: %s, at most %.3f m/s2, stop %.3f\n", cases[n].set, ff_trip_name(p->rt.trip.code),
                      most, stop);
        assert_true(most <= fmax(stop, cases[n].most) * 1.01);
        assert_true(ff_vec3_norm(p->rt.robot[0].twist.v) < 1e-3);
        free(t);
        drop(p);
    }
}

/* Stopped in contact, the robot retreats until nothing pushes. */
static void test_stop_in_contact_retreats(void **state) {
    (void)state;
    pair *p = play(PUSHED, "satellites.body.safety.force=5", NULL); /* beyond 5 mm it would not leave */
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_true(p->rt.retreated);
    assert_true(p->facility.force[0] < 0.5);
    assert_true(p->rt.robot[0].T.p.x < 0.0101);
    drop(p);
}

/* Without a force nobody knows where to go: it holds. */
static void test_stop_in_contact_without_sensor_holds(void **state) {
    (void)state;
    pair *p = play("facility.faults=[{kind: ft-silent, from: 1.05}]", NULL);
    expect(p, FF_STATE_FAULT, FF_TRIP_AGE);
    assert_false(p->rt.retreated);
    assert_true(p->facility.force[0] > 5.0);
    drop(p);
}

static void test_nothing_arms_on_a_no_go(void **state) {
    (void)state;
    pair *p = play("satellites.body.robot.delay=0.3", NULL);
    assert_int_equal(p->rt.trip.code, FF_TRIP_NO_GO);
    assert_int_equal(p->rows, 0);
    assert_true(p->rt.run.status < 0);
    drop(p);
}

static void test_bias_is_measured_and_removed(void **state) {
    (void)state;
    pair *p = play("satellites.body.sensor={kind: noisy, bias: [3, -2, 1, 0.1, 0.2, 0.3]}",
                   "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}", "facility.gravity=[0, 0, -9.81]",
                   "satellites.body.check={weight: scenario}", NULL);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_vec3_near(p->rt.check.body[0].bias.f, ff_vec3_make(3, -2, 1), 2e-6);
    assert_vec3_near(p->rt.check.body[0].bias.t, ff_vec3_make(0.1, 0.2, 0.3), 2e-6);
    drop(p);
}

/* ----------------------------------------------------------------------------------- held, and after a fault
 * --
 */

/* The operator orders hold in flight, and the facility waits for that: what happens then happens at rest. */
typedef struct holding {
    atomic_bool floats, held, stopped;
    bool asked;
    atomic_int rests; /* samples seen in HOLD */
    int patience;     /* of them until stop is ordered; 0: never */
    int retreats;     /* of them until retreat is ordered; 0: never */
    ff_vec3 at;       /* the robot's position as it came to rest */
    double moved;     /* [m] at most since */
    ff_vec3 last;
    double speed; /* [m/s] */
    char said[400];
} holding;

static void watch_hold(void *self, const ff_telemetry_sample *sample) {
    holding *h = self;
    if (sample->state == FF_STATE_FLOAT && sample->row.t > 0.1)
        atomic_store(&h->floats, true);
    h->rests += sample->state == FF_STATE_HOLD;
}

static bool order_hold(void *self, ff_order *order) {
    holding *h = self;
    if (h->asked && h->retreats && h->rests >= h->retreats) {
        *order = (ff_order){.verb = FF_ORDER_RETREAT};
        h->retreats = 0;
        return true;
    }
    if (!atomic_load(&h->floats) || (h->asked && (!h->patience || h->rests < h->patience)))
        return false;
    *order = (ff_order){.verb = h->asked ? FF_ORDER_STOP : FF_ORDER_HOLD};
    h->patience = h->asked ? 0 : h->patience;
    return h->asked = true;
}

static void take_hold(void *self, const ff_order_answer *answer, const char *words) {
    (void)words;
    holding *h = self;
    atomic_store(answer->order.verb == FF_ORDER_STOP ? &h->stopped : &h->held, answer->done);
}

/* In the facility's thread. The robot has come to rest when it was seen held for a second, however late the
 * order was: before, it is where it is. */
static void watch_rest(void *user, uint64_t k, const ff_truth *truth) {
    holding *h = user;
    if (atomic_load(&h->floats) && !atomic_load(&h->held))
        ff_clock_sleep_until(ff_clock_now() + 10000000); /* the order comes from another thread */
    (void)k;
    const ff_vec3 p = truth->robot[0].T.p;
    if (h->rests < 250)
        h->at = p, h->last = p;
    h->moved = fmax(h->moved, ff_vec3_norm(ff_vec3_sub(p, h->at)));
    h->speed = fmax(h->speed, ff_vec3_norm(ff_vec3_sub(p, h->last)) / 0.004);
    h->last = p;
}

static void hear(void *user, const ff_rt_note *note) {
    holding *h = user;
    if (note->kind == FF_NOTE_SAY && strstr(note->text, "after the fault"))
        snprintf(h->said, sizeof h->said, "%s", note->text);
}

static pair *play_held(const char *const *set, int sets, holding *h) {
    pair *p = calloc(1, sizeof *p);
    load(&p->scenario, base_text, set, sets);
    p->truth = p->scenario;
    sides both = {
        .scenario = &p->scenario,
        .truth = &p->truth,
        .facility_options = {.lockstep = true, .watch = watch_rest, .user = h},
        .options = {.wait = 30.0, .note = hear, .user = h, .viewer = {h, watch_hold, order_hold, take_hold}},
        .sink = {.self = p, .row = count_row},
        .facility = &p->facility,
        .rt = &p->rt};
    run_sides(&both);
    return p;
}

/* What breaks a limit while the robot is held is a fault, with value, limit and what to do; the robot is sent
 * nothing else for it. Without a fault it stays until it is stopped. */
static void test_every_limit_is_watched_in_hold(void **state) {
    (void)state;
    static const struct {
        const char *fault; /* 6 s after the motion began */
        ff_trip_code code;
        double value, limit;
        const char *advice;
    } cases[] = {
        {"jitter, value: 0, to: 0.001", FF_TRIP_OPERATOR, 0.0, 0.0, "asked for the end"},
        {"ft-silent, from: 6", FF_TRIP_AGE, 0.012, 0.01, "see its power"},
        {"ft-broken, from: 6, to: 6.004", FF_TRIP_SENSOR, 0x80000001u, 0.0, "see its status word"},
        {"ft-spike, value: 60, from: 6, to: 6.004", FF_TRIP_SPIKE, 60.0, 50.0, "jumped"},
        {"ft-offset, value: 95, from: 6", FF_TRIP_FORCE, 95.0, 90.0, "too large"},
        {"robot-jump, value: 0.3, from: 6", FF_TRIP_TRACKING, 0.3, 0.02, "see its drives"},
        {"rob-lost, from: 6, to: 6.032", FF_TRIP_MISSED, 8.0, 5.0, "see the network"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        holding h = {.patience = 3000};
        char fault[160];
        snprintf(fault, sizeof fault, FAULT("%s"), cases[n].fault);
        const bool spike = cases[n].code == FF_TRIP_SPIKE;
        const char *set[] = {fault, "time.duration=14", "contacts.right.at=[0.8, 0, 0]",
                             "satellites.body.safety={force: 90, age: 0.01, missed: 5, tracking: 0.02}",
                             "satellites.body.safety.spike=50"};
        pair *p = play_held(set, spike ? 5 : 4, &h);
        print_message("%s: %s\n", cases[n].fault, p->rt.run.message);
        const bool faulty = cases[n].code != FF_TRIP_OPERATOR;
        expect(p, faulty ? FF_STATE_FAULT : FF_STATE_HOLD, cases[n].code);
        assert_true(atomic_load(&h.held));
        assert_true(h.rests >= (faulty ? 500 : 3000)); /* it was held for long before */
        assert_int_equal(atomic_load(&h.stopped), !faulty);
        assert_near(p->rt.trip.value, cases[n].value, 1e-6 * cases[n].value);
        assert_near(p->rt.trip.limit, cases[n].limit, 0.0);
        assert_non_null(strstr(p->rt.run.message, cases[n].advice));
        assert_true(h.moved < 1e-9);
        drop(p);
    }
}

/* Held and pushed by 20 N, the robot leaves once more when it is ordered to: along the force, by 20 N over
 * 5000 N/m and 1 mm, at 10 mm/s at most. Where nothing pushes it stays. */
static void test_retreat_is_ordered_in_hold(void **state) {
    (void)state;
    for (int pushed = 0; pushed < 2; pushed++) {
        holding h = {.patience = 3000, .retreats = 1800};
        const char *set[] = {pushed ? FAULT("ft-offset, value: 20, from: 6") : "facility.faults=[]",
                             "time.duration=14", "contacts.right.at=[0.8, 0, 0]"};
        pair *p = play_held(set, 3, &h);
        expect(p, FF_STATE_HOLD, FF_TRIP_OPERATOR);
        print_message("%s: moved by %.6f mm, at most %.3f mm/s; %s\n", pushed ? "pushed" : "free",
                      1e3 * h.moved, 1e3 * h.speed, ff_stop_text(p->rt.stopped[0]));
        assert_int_equal(p->rt.retreated, pushed);
        assert_int_equal(p->rt.stopped[0], pushed ? FF_STOP_STILL_PUSHED : FF_STOP_FREE);
        /* less the two cycles that are kept for a stop; ten of the wire's last decimals */
        assert_near(h.moved, pushed ? 0.005 - 2.0 * 0.010 * 0.004 : 0.0, 1e-6);
        assert_true(pushed ? h.speed > 0.0099 && h.speed < 0.0101 : h.speed < 1e-9);
        drop(p);
    }
}

/* The cause stays the first; what is broken next, while the robot still speaks, is said. */
static void test_what_breaks_after_a_fault_is_said(void **state) {
    (void)state;
    holding h = {.asked = true};
    const char *set[] = {
        "facility.faults=[{kind: ft-offset, value: 95, from: 0.8}, {kind: ft-silent, from: 0.86}]",
        "contacts.right.at=[0.8, 0, 0]", "satellites.body.safety={force: 90, age: 0.01}"};
    pair *p = play_held(set, 3, &h);
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    print_message("%s | %s\n", p->rt.run.message, h.said);
    assert_non_null(strstr(h.said, "after the fault: AGE: the sensor's sample is too old"));
    drop(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_fault),
        cmocka_unit_test(test_rob_lost_once),
        cmocka_unit_test(test_rob_lost_often),
        cmocka_unit_test(test_rob_lost_long),
        cmocka_unit_test(test_rob_late),
        cmocka_unit_test(test_rob_repeated),
        cmocka_unit_test(test_rob_reordered),
        cmocka_unit_test(test_rob_corrupt),
        cmocka_unit_test(test_rob_cut),
        cmocka_unit_test(test_rob_nan),
        cmocka_unit_test(test_rob_corrupt_and_nan),
        cmocka_unit_test(test_rob_empty),
        cmocka_unit_test(test_rob_long),
        cmocka_unit_test(test_rob_incomplete),
        cmocka_unit_test(test_ipoc_jump),
        cmocka_unit_test(test_robot_silent),
        cmocka_unit_test(test_robot_stuck),
        cmocka_unit_test(test_robot_jump),
        cmocka_unit_test(test_robot_slow),
        cmocka_unit_test(test_robot_clipped),
        cmocka_unit_test(test_robot_aborts),
        cmocka_unit_test(test_session_after_an_abort),
        cmocka_unit_test(test_answer_lost),
        cmocka_unit_test(test_answer_lost_long),
        cmocka_unit_test(test_answer_late),
        cmocka_unit_test(test_ft_lost),
        cmocka_unit_test(test_ft_repeated),
        cmocka_unit_test(test_ft_reordered),
        cmocka_unit_test(test_ft_corrupt),
        cmocka_unit_test(test_ft_silent),
        cmocka_unit_test(test_ft_frozen),
        cmocka_unit_test(test_ft_stuck),
        cmocka_unit_test(test_ft_saturated),
        cmocka_unit_test(test_ft_broken),
        cmocka_unit_test(test_ft_drift),
        cmocka_unit_test(test_ft_spike),
        cmocka_unit_test(test_ft_offset),
        cmocka_unit_test(test_ft_restart),
        cmocka_unit_test(test_ft_flood),
        cmocka_unit_test(test_ft_flood_long),
        cmocka_unit_test(test_stranger),
        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_clock_step),
        cmocka_unit_test(test_every_record_is_judged),
        cmocka_unit_test(test_second_client),
        cmocka_unit_test(test_wall_harder),
        cmocka_unit_test(test_own_process_is_spared),
        cmocka_unit_test(test_slow_viewer_is_not_waited_for),
        cmocka_unit_test(test_limit_box),
        cmocka_unit_test(test_limit_velocity),
        cmocka_unit_test(test_limit_acceleration),
        cmocka_unit_test(test_limit_jerk),
        cmocka_unit_test(test_limit_force),
        cmocka_unit_test(test_limit_energy),
        cmocka_unit_test(test_forecast_beyond_limit_does_not_arm),
        cmocka_unit_test(test_stop_is_smooth),
        cmocka_unit_test(test_stop_in_contact_retreats),
        cmocka_unit_test(test_stop_in_contact_without_sensor_holds),
        cmocka_unit_test(test_nothing_arms_on_a_no_go),
        cmocka_unit_test(test_bias_is_measured_and_removed),
        cmocka_unit_test(test_every_limit_is_watched_in_hold),
        cmocka_unit_test(test_retreat_is_ordered_in_hold),
        cmocka_unit_test(test_what_breaks_after_a_fault_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
