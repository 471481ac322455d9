/* Two robots whose controllers' clocks drift apart, in lock step with virtual time: the second robot's pose
 * is known at the first one's time, its commands do not jerk when a cycle slips, and a late packet of one
 * does not touch the other. */
#include "sides.h"

static const char text[] =
    "name: clocks\n"
    "time: {cycle: 0.004, duration: 30}\n"
    "method: tdpa\n"
    "satellites:\n"
    "  client: {mass: 200, inertia: [20, 20, 20], velocity: [0.01, 0, 0], robot: {kind: delay, delay: "
    "0.016}}\n"
    "  servicer: {mass: 300, inertia: [30, 30, 30], position: [-1, 0, 0], velocity: [0.005, 0.008, 0],\n"
    "    angular_velocity: [0, 0, 0.01], robot: {kind: delay, delay: 0.02}}\n"
    "loads:\n"
    "  - {body: servicer, kind: sin2, force: [-2, 1.5, 1], torque: [0, 0, -0.1], from: 2, to: 6}\n";

enum { ROWS = 12000 };
typedef struct pair {
    ff_scenario scenario;
    ff_facility_result facility;
    ff_rt_result rt;
    uint64_t rows, cycles;
    ff_setpoint measured[ROWS][2], command[ROWS][2], truth[ROWS][2];
    ff_rigid_state satellite[ROWS][2];
} pair;

static void watch(void *self, uint64_t k, const ff_truth *truth) {
    pair *p = self;
    for (int i = 0; i < 2 && k < ROWS; i++)
        p->truth[k][i] = truth->robot[i];
    p->cycles = k < ROWS ? k + 1 : ROWS;
}

static ff_status keep(void *self, const ff_row *row) {
    pair *p = self;
    for (int i = 0; i < 2 && row->k < ROWS; i++) {
        p->measured[row->k][i] = row->body[i].robot;
        p->command[row->k][i] = row->body[i].command;
        p->satellite[row->k][i] = row->body[i].satellite;
    }
    p->rows = row->k < ROWS ? row->k + 1 : ROWS;
    return FF_OK;
}

/* Where no slip of a clock is waited for: both contacts and the load lie before its end. */
static const char *shorter;

static pair *try(const char *faults, const char *more) {
    pair *p = calloc(1, sizeof *p);
    char message[256] = "", warnings[256], list[512];
    snprintf(list, sizeof list, "facility.faults=[%s]", faults);
    const char *set[] = {list, more ? more : "method=tdpa", shorter};
    const ff_scenario_options options = {.set = set, .sets = shorter && !test_long() ? 3 : 2};
    if (ff_scenario_parse("clocks", text, sizeof text - 1, &options, &p->scenario, message, sizeof message,
                          warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    sides both = {.scenario = &p->scenario,
                  .truth = &p->scenario,
                  .facility_options = {.lockstep = true, .watch = watch, .user = p},
                  .options = {.wait = 20.0},
                  .sink = {.self = p, .row = keep},
                  .facility = &p->facility,
                  .rt = &p->rt};
    run_sides(&both);
    return p;
}

static pair *play(const char *faults, const char *more) {
    pair *p = try(faults, more);
    if (p->rt.trip.code != FF_TRIP_FINISHED)
        fail_msg("%s | %s", p->rt.run.message, p->facility.message);
    assert_int_equal(p->rows, p->scenario.cycles + 1);
    return p;
}

static void drop(pair *p) {
    free(p->rt.last);
    free(p);
}

static double apart(ff_setpoint a, ff_setpoint b) {
    return ff_vec3_norm(ff_vec3_sub(a.T.p, b.T.p));
}

/* The facility's cycle of row 0: where the first robot's measured motion is its true one. */
static uint64_t begin_of(const pair *p) {
    uint64_t best = 0;
    double least = FF_INF;
    for (uint64_t k = 0; k + p->rows <= p->cycles; k++) {
        double sum = 0.0;
        for (uint64_t j = 0; j < 5000 && j < p->rows; j += 500)
            sum += apart(p->measured[j][0], p->truth[k + j][0]);
        if (sum < least) {
            least = sum;
            best = k;
        }
    }
    assert_true(least < 1e-8);
    return best;
}

static double worst_pose(const pair *p, uint64_t begin, uint64_t from, double *angle) {
    double worst = 0.0;
    *angle = 0.0;
    for (uint64_t k = from; k + 1 < p->rows; k++) {
        worst = fmax(worst, apart(p->measured[k][1], p->truth[begin + k][1]));
        *angle = fmax(*angle, ff_quat_angle(p->measured[k][1].T.q, p->truth[begin + k][1].T.q));
    }
    return worst;
}

/* Largest second difference of the true motion: what a slipped cycle would make a step of v T^2. */
static double worst_jerk(const pair *p, uint64_t begin, int i) {
    double worst = 0.0;
    for (uint64_t k = begin + 1; k + 1 < begin + p->rows; k++) {
        const ff_vec3 d = ff_vec3_sub(ff_vec3_add(p->truth[k + 1][i].T.p, p->truth[k - 1][i].T.p),
                                      ff_vec3_scale(2.0, p->truth[k][i].T.p));
        worst = fmax(worst, ff_vec3_norm(d));
    }
    return worst;
}

#define DRIFT "{kind: clock-drift, body: servicer, value: 200}"

/* At 200 ppm a cycle slips every 20 s: 30 s hold one slip and every phase. The load's motion has a jerk of at
 * most pi F/(4 s m) = 0.007 m/s3, 0.0003 rad/s3: the parabola is wrong by less than J T^3 = 5e-10 m one cycle
 * after its newest point. The wire rounds to 1e-9 m and 1e-6 deg, which the parabola's weights make up to
 * seven times as much: 4e-9 m an axis, 6e-8 rad. To that comes speed times the fit's error: 10 us in the
 * first seconds, then nothing. The newest telegram's pose unmoved would be wrong by v T = 9e-5 m. */
static void test_pose_of_a_drifting_robot(void **state) {
    (void)state;
    pair *p = play(DRIFT, NULL);
    const uint64_t begin = begin_of(p);
    double angle, young_angle;
    const double young = worst_pose(p, begin, 0, &young_angle), worst = worst_pose(p, begin, 1250, &angle),
                 jerk = worst_jerk(p, begin, 1);
    print_message(
        "200 ppm: pose within %.2g m, %.2g rad; after 5 s %.2g m, %.2g rad; second difference %.2g m; "
        "fit %.3f ppm and %.3f ppm, residual %.2g s\n",
        young, young_angle, worst, angle, jerk, p->rt.run.clock[0].drift_ppm, p->rt.run.clock[1].drift_ppm,
        p->rt.run.clock[1].residual_s);
    assert_true(young < 0.023 * 10e-6 && young_angle < 0.012 * 10e-6);
    assert_true(worst < 8e-9);
    assert_true(angle < 6e-8);
    assert_true(fabs(p->rt.run.clock[1].drift_ppm - 200.0) < 0.1);
    assert_true(fabs(p->rt.run.clock[0].drift_ppm) < 0.1);
    /* the load's 0.009 m/s2 make 1.5e-7 m; a slip would add v T = 9e-5 m */
    assert_true(jerk < 2e-7);
    assert_int_equal(p->facility.rsi[1].late, 0);
    assert_int_equal(p->rt.missed, 0);
    drop(p);
}

/* Every packet up to 4 ms late: the fit's error, 50 us and less after the first seconds, times the speed. */
static void test_pose_under_jitter(void **state) {
    (void)state;
    pair *p =
        play(DRIFT ", {kind: jitter, body: servicer, value: 0.004}, {kind: jitter, body: client, value: "
                   "0.004}",
             NULL);
    const uint64_t begin = begin_of(p);
    double angle;
    const double worst = worst_pose(p, begin, 0, &angle), jerk = worst_jerk(p, begin, 1);
    print_message(
        "with +-2 ms of jitter: pose within %.2g m, second difference %.2g m, fit %.1f ppm, residual "
        "%.3g ms rms\n",
        worst, jerk, p->rt.run.clock[1].drift_ppm, 1e3 * p->rt.run.clock[1].residual_s);
    assert_true(fabs(p->rt.run.clock[1].drift_ppm - 200.0) < 10.0);
    /* even within 4 ms: sd 4/sqrt(12) */
    assert_true(fabs(p->rt.run.clock[1].residual_s / (0.004 / sqrt(12.0)) - 1.0) < 0.15);
    /* largest speed 0.023 m/s; a fit over the first second knows the time to 2 sd/sqrt(250) = 0.15 ms, three
     * of them; unmoved it would be 9e-5 m */
    assert_true(worst < 0.023 * 3 * 0.15e-3);
    assert_true(jerk < 0.023 * 3 * 0.15e-3);
    drop(p);
}

#define SENSORS                                          \
    "{kind: ft-clock-drift, body: client, value: 150}, " \
    "{kind: ft-clock-drift, body: servicer, value: -80}, " DRIFT

/* ppm by which a sensor's period is longer than the cycle. */
static double sensor_ppm(const pair *p, int i) {
    return 1e6 * (1.0 / (p->rt.run.clock[i].sensor_hz * p->scenario.cycle) - 1.0);
}

/* Two controllers and two sensors, four clocks: each fit says its own drift. The arrivals are exact to 1 ns;
 * what is left of a controller's is the time when its drift was news. Then the same with packets that scatter
 * evenly over 2 ms: sd 2/sqrt(12). */
static void test_four_clocks(void **state) {
    (void)state;
    pair *p = play(SENSORS, NULL);
    for (int i = 0; i < 2; i++)
        print_message("%s: controller %.3f ppm, residual %.2g s; sensor %.3f ppm, residual %.2g s\n",
                      p->scenario.satellite[i].name, p->rt.run.clock[i].drift_ppm,
                      p->rt.run.clock[i].residual_s, sensor_ppm(p, i), p->rt.run.clock[i].sensor_s);
    assert_true(fabs(p->rt.run.clock[0].drift_ppm) < 0.1 && fabs(p->rt.run.clock[1].drift_ppm - 200.0) < 0.1);
    assert_true(fabs(sensor_ppm(p, 0) - 150.0) < 0.1 && fabs(sensor_ppm(p, 1) + 80.0) < 0.1);
    for (int i = 0; i < 2; i++)
        assert_true(p->rt.run.clock[i].residual_s < 1e-6 && p->rt.run.clock[i].sensor_s < 1e-8);
    /* the slow one leaves a cycle without a record every 27 s, the fast one makes two in one every 50 s */
    assert_int_equal(p->rt.missed, 0);
    drop(p);
    p = play(SENSORS
             ", {kind: jitter, body: client, value: 0.002}, {kind: jitter, body: servicer, value: 0.002}",
             NULL);
    static const double true_ppm[2] = {150.0, -80.0}, sd = 0.002 / 3.4641016;
    for (int i = 0; i < 2; i++) {
        print_message("with jitter, %s: sensor %.1f ppm, residual %.3g ms\n", p->scenario.satellite[i].name,
                      sensor_ppm(p, i), 1e3 * p->rt.run.clock[i].sensor_s);
        assert_true(fabs(sensor_ppm(p, i) - true_ppm[i]) < 10.0);
        assert_true(fabs(p->rt.run.clock[i].sensor_s / sd - 1.0) < 0.2);
    }
    drop(p);
}

static void same_commands(const pair *a, const pair *b, int i) {
    for (uint64_t k = 0; k < a->rows; k++)
        if (memcmp(&a->command[k][i], &b->command[k][i], sizeof a->command[k][i]) != 0)
            fail_msg("cycle %llu: the other robot's command changed by %.3g m", (unsigned long long)k,
                     apart(a->command[k][i], b->command[k][i]));
}

#define WALLS                                                                                               \
    "contacts=[{name: a, kind: wall, body: client, at: [0.05, 0, 0], normal: [-1, 0, 0], stiffness: 2000, " \
    "damping: 5}, {name: b, kind: wall, body: servicer, at: [0, 0.05, 0], normal: [0, -1, 0], stiffness: "  \
    "2000, damping: 5}]"

/* Both robots touch walls of their own; the second one's telegrams are late, or lost. */
static void test_late_packets_do_not_touch_the_other(void **state) {
    (void)state;
    shorter = "time.duration=12";
    pair *calm = play("", WALLS);
    pair *late =
        play("{kind: rob-late, body: servicer, value: 0.003, probability: 0.2}, {kind: rob-lost, body: "
             "servicer, probability: 0.02}, {kind: jitter, body: servicer, value: 0.002}",
             WALLS);
    assert_true(late->rt.robots[1].lost > 10);
    same_commands(calm, late, 0);
    const uint64_t begin = begin_of(late), from = begin_of(calm);
    double worst = 0.0, step = worst_jerk(calm, from, 1), shaken = worst_jerk(late, begin, 1);
    for (uint64_t k = 0; k + 1 < calm->rows; k++)
        worst = fmax(
            worst, ff_vec3_norm(ff_vec3_sub(calm->satellite[k][1].position, late->satellite[k][1].position)));
    print_message(
        "late and lost: the other's commands the same bits; its own satellite within %.2g m, second "
        "difference %.3g m instead of %.3g m\n",
        worst, shaken, step);
    assert_true(worst < 5e-5); /* of a lost answer: HOLDON lets the robot stand for a cycle, v T = 9e-5 m */
    drop(calm);
    drop(late);
    shorter = NULL;
}

/* One sensor's records come late, or not at all, by a clock of its own: the other satellite does not notice.
 */
static void test_a_sensors_late_records_do_not_touch_the_other(void **state) {
    (void)state;
    shorter = "time.duration=12";
    pair *calm = play("", WALLS);
    pair *late = play("{kind: ft-clock-drift, body: servicer, value: 300}, {kind: ft-lost, body: servicer, "
                      "probability: 0.05}, {kind: jitter, body: servicer, value: 0.002}",
                      WALLS);
    assert_true(late->rt.sensors[1].lost > 100);
    same_commands(calm, late, 0);
    drop(calm);
    drop(late);
    shorter = NULL;
}

/* The pacing robot's packets are late: the other's commands in free flight are the same bits, in contact they
 * move by what the fit of the clock moves. */
static void test_a_late_pacing_robot_does_not_jerk_the_other(void **state) {
    (void)state;
    shorter = "time.duration=12";
    pair *calm = play("", NULL);
    pair *late = play("{kind: rob-late, body: client, value: 0.002, probability: 0.1}", NULL);
    same_commands(calm, late, 1);
    const double jerk = worst_jerk(late, begin_of(late), 1), usual = worst_jerk(calm, begin_of(calm), 1);
    print_message("late pacing robot: second difference of the other %.3g m, without %.3g m\n", jerk, usual);
    assert_true(jerk < usual + 2e-7);
    drop(calm);
    drop(late);
    shorter = NULL;
}

/* The second robot has the same rights: its lost telegrams and its silence end the run as the first one's do.
 */
static void test_the_second_robot_is_watched_too(void **state) {
    (void)state;
    pair *p = try("{kind: rob-lost, body: servicer, from: 1, to: 1.032}", NULL);
    assert_int_equal(p->rt.trip.code, FF_TRIP_MISSED);
    assert_int_equal(p->rt.state, FF_STATE_FAULT);
    drop(p);
    p = try("{kind: rob-lost, body: client, from: 1, to: 1.032}", NULL);
    assert_int_equal(p->rt.trip.code, FF_TRIP_MISSED);
    assert_near(p->rt.trip.value, 8.0, 0.0);
    /* the other one has moved on meanwhile, and is stopped from where it was led: 1 m/s2 and no step */
    double worst = 0.0;
    for (uint64_t k = 2; k < p->cycles; k++)
        worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(ff_vec3_add(p->truth[k][1].T.p, p->truth[k - 2][1].T.p),
                                                     ff_vec3_scale(2.0, p->truth[k - 1][1].T.p))));
    print_message("the pacing robot's telegrams lost: second difference of the other %.2g m\n", worst);
    assert_true(worst < 1.0 * 0.004 * 0.004 * 1.05);
    drop(p);
    p = try("{kind: robot-silent, body: servicer, from: 1}", "time.duration=8");
    if (p->rt.trip.code != FF_TRIP_SILENT || p->rt.trip.body != 1)
        fail_msg("body %d: %s", p->rt.trip.body, p->rt.run.message);
    /* the first one, which speaks, was braked */
    assert_true(ff_vec3_norm(p->rt.robot[0].twist.v) < 1e-3);
    drop(p);
}

/* The pacing robot falls silent: the other is brought to rest, by its own telegrams, and commanded to end. */
static void test_the_second_robot_is_braked_alone(void **state) {
    (void)state;
    pair *p = try("{kind: robot-silent, body: client, from: 1}", "time.duration=8");
    assert_int_equal(p->rt.trip.code, FF_TRIP_SILENT);
    assert_int_equal(p->rt.trip.body, 0);
    const uint64_t end = p->cycles - 1;
    assert_true(apart(p->truth[end][1], p->truth[end - 2][1]) < 1e-8);
    double worst = 0.0;
    for (uint64_t k = 2; k < p->cycles; k++) { /* never faster braked than allowed, and no step */
        const ff_vec3 d = ff_vec3_sub(ff_vec3_add(p->truth[k][1].T.p, p->truth[k - 2][1].T.p),
                                      ff_vec3_scale(2.0, p->truth[k - 1][1].T.p));
        worst = fmax(worst, ff_vec3_norm(d));
    }
    print_message("braked alone: second difference %.2g m at most\n", worst);
    /* 1 m/s2 is 1.6e-5 m; a robot that just stands would make v T = 3.8e-5 m */
    assert_true(worst < 1.0 * 0.004 * 0.004 * 1.05);
    drop(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pose_of_a_drifting_robot),
        cmocka_unit_test(test_pose_under_jitter),
        cmocka_unit_test(test_four_clocks),
        cmocka_unit_test(test_a_sensors_late_records_do_not_touch_the_other),
        cmocka_unit_test(test_late_packets_do_not_touch_the_other),
        cmocka_unit_test(test_a_late_pacing_robot_does_not_jerk_the_other),
        cmocka_unit_test(test_the_second_robot_is_watched_too),
        cmocka_unit_test(test_the_second_robot_is_braked_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
