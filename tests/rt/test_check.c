/* What is tried before arming, on the virtual devices in lock step: pushes with right and wrong sensors,
 * weight by poses, delay by a chirp, and the table that comes out. Then every limit of the loop, with all
 * that a trip must leave behind. */
#include "pair.h"

static const char base_text[] = PAIR_SCENARIO("check", "1");

/* Overrides of both sides; those after "truth:" hold only for the facility. */
static pair *play(const char *const *set) {
    pair *p = calloc(1, sizeof *p);
    load_both(&p->scenario, &p->truth, base_text, set);
    run_pair(p);
    return p;
}
#define PLAY(...) play((const char *const[]){__VA_ARGS__, NULL})
/* the same with the six pushes, unless they are overridden */
#define PUSHES(...) PLAY("satellites.body.check.push=hand", __VA_ARGS__)

static const ff_check_row *row_of(const pair *p, const char *key) {
    for (int i = 0; i < p->rt.check.rows; i++)
        if (strcmp(p->rt.check.row[i].key, key) == 0)
            return &p->rt.check.row[i];
    fail_msg("no row %s", key);
    return NULL;
}

/* ----------------------------------------------------------------------------------------------- pushes --
 */

#define NOISE "force_noise: 0.1, torque_noise: 0.01, range: [330, 30]"

static void test_right_sensor_passes_six_pushes(void **state) {
    (void)state;
    static const char *const sensors[] = {
        "satellites.body.sensor={kind: ideal}", "satellites.body.sensor={kind: noisy, " NOISE "}",
        "satellites.body.sensor={kind: noisy, bias: [20, -9, 4, 1, 2, -1], " NOISE "}",
        /* a mount that the scenario names rightly, whatever it is */
        "satellites.body.sensor={kind: noisy, pose: {position: [0.1, 0, 0.2], attitude: [0.5, 0.5, 0.5, "
        "0.5]}, " NOISE "}",
        "satellites.body.sensor={kind: noisy, mount: environment, pose: {position: [0.1, 0, 0.2]}, " NOISE
        "}"};
    for (size_t n = 0; n < sizeof sensors / sizeof *sensors; n++) {
        pair *p = PUSHES(sensors[n]);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        for (int axis = 0; axis < 6; axis++) {
            const ff_check_push *push = &p->rt.check.body[0].push[axis];
            assert_true(push->done && push->right && !push->negative);
            assert_int_equal(push->seen, axis);
            assert_true(push->part < 0.35); /* the virtual hand is off by a fifth */
        }
        drop(p);
    }
}

/* Each wrong sensor is refused before anything moves, with a sentence that names axis and what was seen. */
static void test_wrong_sensors_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *sensor, *sentence;
    } wrong[] = {
        {"wired: [2, 1, 3]", "pushed towards +x: the sensor says +y"},
        {"wired: [-1, 2, 3]", "pushed towards +x: the sensor says -x"},
        {"wired: [1, -2, 3]", "pushed towards +y: the sensor says -y"},
        {"wired: [1, 2, -3]", "pushed towards +z: the sensor says -z"},
        {"wired: [1, 3, 2]", "pushed towards +y: the sensor says +z"},
        {"wired: [3, 1, 2]", "pushed towards +x: the sensor says +y"},
        {"turned: [0.7071067811865476, 0, 0, 0.7071067811865476]", "pushed towards +x: the sensor says -y"},
        {"turned: [0, 1, 0, 0]", "pushed towards +y: the sensor says -y"},
        {"turned: [0.9238795325112867, 0, 0, 0.3826834323650898]",
         "pushed towards +x: the sensor says"}, /* 45 deg */
    };
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        char set[200];
        snprintf(set, sizeof set, "satellites.body.sensor={kind: noisy, %s, " NOISE "}", wrong[n].sensor);
        pair *p = PUSHES("satellites.body.sensor={kind: noisy, " NOISE "}", "truth:", set);
        expect(p, FF_STATE_FAULT, FF_TRIP_PUSH);
        assert_int_equal(p->rows, 0);
        if (!strstr(p->rt.run.message, wrong[n].sentence))
            fail_msg("%s: %s", wrong[n].sensor, p->rt.run.message);
        /* nothing moved */
        ff_plan plan;
        char message[160];
        assert_int_equal(ff_plan_create(&p->scenario, &plan, message, sizeof message), FF_OK);
        assert_vec3_near(p->facility.robot[0].T.p, ff_plan_runup(&plan, 0, -FF_INF).T.p, 1e-8);
        drop(p);
    }
}

/* A sensor that says nothing: the push is waited for in vain. */
static void test_push_that_is_not_felt_is_refused(void **state) {
    (void)state;
    pair *p =
        PUSHES("satellites.body.check={wait: 1}", "satellites.body.sensor={kind: noisy, force_noise: 3}",
               "truth:", "satellites.body.sensor={kind: noisy, force_noise: 3, bandwidth: 0.001}");
    expect(p, FF_STATE_FAULT, FF_TRIP_PUSH);
    assert_non_null(strstr(p->rt.run.message, "pushed towards +x: the sensor saw nothing"));
    assert_false(p->rt.check.body[0].push[1].done); /* the others are not waited for */
    drop(p);
}

static void test_pushes_can_be_left_out_and_the_table_says_so(void **state) {
    (void)state;
    pair *p = PUSHES("satellites.body.check={push: skip}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_int_equal(row_of(p, "push")->verdict, FF_CHECK_SKIPPED);
    drop(p);
}

/* ----------------------------------------------------------------------------------------------- weight --
 */

#define WEIGHS "satellites.body.check.weight=poses"
#define BELIEVES "satellites.body.check.weight=scenario"
#define EARTH "facility.gravity=[0, 0, -9.81]"
#define ERRORS "satellites.body.sensor={kind: noisy, bias: [3, -2, 1, 0.1, 0.2, -0.3], " NOISE "}"

/* Mass and CoM from the tilts although the scenario says nothing of a mock-up, or something wrong; zero
 * noise: to the counts of the wire; with noise: within four standard deviations of the fit, which are small.
 */
static void test_weight_is_identified(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 11);
    for (int n = 0; n < 4; n += test_count(3, 1)) {
        const bool noisy = n % 2;
        const double mass = 2.0 + 10.0 * ff_rng_uniform(&rng);
        const ff_vec3 com = test_random_vec3(&rng, 0.15);
        char truth[160], time[40];
        snprintf(truth, sizeof truth, "satellites.body.mockup={mass: %.17g, com: [%.17g, %.17g, %.17g]}",
                 mass, com.x, com.y, com.z);
        snprintf(time, sizeof time, "time.seed=%d", 5 + n);
        pair *p = PLAY(
            WEIGHS, EARTH, time, "satellites.body.attitude=[0.9238795325112867, 0, 0.3826834323650898, 0]",
            noisy ? ERRORS : "satellites.body.sensor={kind: noisy, bias: [3, -2, 1, 0.1, 0.2, -0.3]}",
            n < 2 ? "satellites.body.mockup={mass: 1, com: [0, 0, 0.3]}" : EARTH, "truth:", truth);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        const ff_log_payload *fit = &p->rt.check.body[0].payload;
        assert_true(p->rt.check.body[0].weighed);
        const double tight_mass = noisy ? 0.01 : 1e-4, tight_com = noisy ? 1e-3 : 2e-5; /* [kg], [m] */
        assert_near(fit->mass.value, mass, tight_mass);
        for (int a = 0; a < 3; a++)
            assert_near(fit->com[a].value, com.a[a], tight_com);
        assert_vec3_near(p->rt.check.body[0].bias.f, ff_vec3_make(3, -2, 1), noisy ? 0.03 : 1e-4);
        assert_vec3_near(p->rt.check.body[0].bias.t, ff_vec3_make(0.1, 0.2, -0.3), noisy ? 0.01 : 1e-4);
        if (noisy) { /* what the fit says of itself is true */
            assert_true(fabs(fit->mass.value - mass) < 4.5 * fit->mass.sd && fit->mass.sd < 0.005);
            for (int a = 0; a < 3; a++)
                assert_true(fabs(fit->com[a].value - com.a[a]) < 4.5 * fit->com[a].sd);
        }
        /* residual drift: means of 100 samples of 0.1 N on 100 kg, five poses: 0.1 mm/s2 on each axis is one
         * sd */
        const double drift = 1e3 * p->rt.check.body[0].drift;
        assert_true(noisy ? drift > 0.02 && drift < 0.5 : drift < 1e-3);
        assert_near(row_of(p, "drift_mmps2")->value, drift, 1e-12);
        assert_near(row_of(p, "mockup_mass_kg")->value, fit->mass.value, 0.0);
        drop(p);
    }
}

/* A force that is older than its pose weighs the same: only what was felt at rest counts. */
static void test_weight_does_not_know_the_skew(void **state) {
    (void)state;
    static const double skew[] = {0.0053, 0.0119, 0.03};
    for (int n = 0; n < 3; n += test_count(2, 1)) {
        char truth[120];
        snprintf(truth, sizeof truth,
                 "satellites.body.sensor={kind: noisy, delay: %g, bias: [3, -2, 1, 0.1, 0.2, -0.3]}",
                 skew[n]);
        pair *p = PLAY(WEIGHS, EARTH, "satellites.body.mockup={mass: 5, com: [0.03, -0.02, 0.1]}",
                       "satellites.body.sensor={kind: noisy}", "satellites.body.velocity=[0, 0, 0]",
                       "truth:", truth);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        const ff_log_payload *fit = &p->rt.check.body[0].payload;
        print_message("skew %.4g ms: %.6f kg, CoM %.6f %.6f %.6f m\n", 1e3 * skew[n], fit->mass.value,
                      fit->com[0].value, fit->com[1].value, fit->com[2].value);
        assert_near(fit->mass.value, 5.0, 1e-4);
        assert_near(fit->com[0].value, 0.03, 2e-5);
        assert_near(fit->com[1].value, -0.02, 2e-5);
        assert_near(fit->com[2].value, 0.1, 2e-5);
        assert_vec3_near(p->rt.check.body[0].bias.f, ff_vec3_make(3, -2, 1), 1e-4);
        drop(p);
    }
}

/* Compensated: a satellite that turns in the lab's gravity without touching anything keeps its velocity,
 * though the scenario's mock-up is wrong by 4 kg: by poses is the default where there is gravity. Without the
 * poses it would fall by that weight's change. */
static void test_identified_weight_is_compensated(void **state) {
    (void)state;
    for (int n = 0; n < 2; n++) {
        pair *p = PLAY(n ? "satellites.body.check.weight=auto" : BELIEVES, EARTH, "time.duration=4",
                       "method=direct", "satellites.body.velocity=[0, 0, 0]",
                       "satellites.body.angular_velocity=[0.1, 0, 0]", "satellites.body.mockup={mass: 1}",
                       "truth:", "satellites.body.mockup={mass: 5, com: [0, 0.05, 0.1]}");
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        const double speed = ff_vec3_norm(p->last.body[0].satellite.velocity);
        if (n)
            assert_true(speed < 2e-5);
        else /* 4 kg * 9.81 (1 - cos 0.4 ... sin 0.4) over 4 s on 100 kg */
            assert_true(speed > 0.1);
        drop(p);
    }
}

/* No gravity: there is nothing to weigh, and the sentence says so. */
static void test_weight_without_gravity_is_refused(void **state) {
    (void)state;
    pair *p = PLAY(WEIGHS);
    expect(p, FF_STATE_FAULT, FF_TRIP_WEIGHT);
    assert_non_null(strstr(p->rt.run.message, "without gravity"));
    assert_int_equal(p->rows, 0);
    drop(p);
}

/* Where nothing weighs, or the scenario is to be believed, the table says why nothing was weighed. */
static void test_weight_left_out_has_its_reason(void **state) {
    (void)state;
    static const struct {
        const char *set[2], *reason;
    } cases[] = {
        {{"satellites.body.mockup={mass: 3}", "method=tdpa"}, "no facility.gravity"},
        {{EARTH, BELIEVES}, "the values of mockup are believed"},
        {{EARTH, "satellites.body.sensor={kind: noisy, mount: environment}"}, "stands in the environment"},
        {{EARTH, "satellites.body.sensor={kind: noisy, " NOISE "}"}, "there is no mock-up"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        pair *p = PLAY(cases[n].set[0], cases[n].set[1]);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        const ff_check_row *row = row_of(p, "mockup_mass_kg");
        assert_int_equal(row->verdict, FF_CHECK_SKIPPED);
        assert_false(p->rt.check.body[0].weighed);
        if (!strstr(row->reason, cases[n].reason))
            fail_msg("%s", row->reason);
        drop(p);
    }
    /* said to be there, and not felt: that is not a reason to continue */
    pair *p =
        PLAY(EARTH, "satellites.body.mockup={mass: 3}", "truth:", "satellites.body.mockup={mass: 0.0000001}");
    expect(p, FF_STATE_FAULT, FF_TRIP_WEIGHT);
    drop(p);
}

/* ------------------------------------------------------------------------------------------------ delay --
 */

#define CHIRPS "satellites.body.check.delay=chirp"

static void test_delay_is_identified(void **state) {
    (void)state;
    static const struct {
        const char *robot;
        double delay, within; /* [s], [cycles] */
    } robots[] = {
        {"{kind: delay, delay: 0.016}", 0.016, 0.01},
        {"{kind: delay, delay: 0.0173}", 0.0173, 0.05}, /* between cycles: the plant interpolates */
        {"{kind: delay, delay: 0}", 0.004, 0.01},       /* the answer moves the robot in the next cycle */
        {"{kind: lag, delay: 0.008, frequency: 15}", 0.008, 0.1},
        {"{kind: lag, delay: 0.0126, frequency: 10, damping: 0.7}", 0.0126, 0.1},
    };
    for (size_t n = 0; n < sizeof robots / sizeof *robots; n += (size_t)test_count(2, 1)) {
        char robot[160];
        snprintf(robot, sizeof robot, "satellites.body.robot=%s", robots[n].robot);
        pair *p = PLAY(CHIRPS, robot);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        const ff_log_delay *fit = &p->rt.check.body[0].delay;
        print_message("%s: %.6f s, residual %.2g m\n", robots[n].robot, fit->delay.value, fit->residual);
        assert_true(p->rt.check.body[0].timed);
        assert_near(fit->delay.value, robots[n].delay, robots[n].within * 0.004);
        assert_near(row_of(p, "delay_ms")->value, 1e3 * fit->delay.value, 1e-12);
        drop(p);
    }
}

/* The chirp's inertia force of the mock-up shows how much older the force is than the pose; the scenario
 * knows nothing of it. With noise the fit's own standard deviation is true. The weight does not disturb it.
 */
static void test_skew_is_identified(void **state) {
    (void)state;
    static const double skew[] = {0.0, 0.004, 0.0053, 0.0119};
    for (int n = 0; n < 8; n += test_count(2, 1)) {
        const double true_skew = skew[n % 4];
        char truth[160], seed[32];
        snprintf(truth, sizeof truth, "satellites.body.sensor={kind: noisy, delay: %g, %s}", true_skew,
                 n < 4 ? "bias: [3, -2, 1, 0.1, 0.2, -0.3]" : NOISE);
        snprintf(seed, sizeof seed, "time.seed=%d", 3 + n);
        pair *p = PLAY(CHIRPS, BELIEVES, EARTH, seed, "method=direct", "contacts.right.at=[9, 0, 0]",
                       "satellites.body.mockup={mass: 5, com: [0, 0.02, 0.1]}",
                       n < 4 ? "satellites.body.sensor={kind: noisy}"
                             : "satellites.body.sensor={kind: noisy, " NOISE "}",
                       "truth:", truth);
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        const ff_estimate *fit = &p->rt.check.body[0].skew;
        print_message("skew %.4f ms: %.4f ms, sd %.2g ms\n", 1e3 * true_skew, 1e3 * fit->value,
                      1e3 * fit->sd);
        assert_true(p->rt.check.body[0].aligned);
        if (n < 4)
            assert_near(fit->value, true_skew, 2e-5);
        else
            assert_true(fabs(fit->value - true_skew) < 4.5 * fit->sd && fit->sd < 2.5e-4);
        assert_near(row_of(p, "skew_ms")->value, 1e3 * fit->value, 1e-12);
        drop(p);
    }
    /* nothing hangs behind the sensor: not observable, and the table says so */
    pair *p = PLAY(CHIRPS, "method=fused", "satellites.body.sensor={kind: noisy, " NOISE "}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_false(p->rt.check.body[0].aligned);
    assert_int_equal(row_of(p, "skew_ms")->verdict, FF_CHECK_SKIPPED);
    assert_non_null(strstr(row_of(p, "skew_ms")->reason, "inertia force is not seen"));
    drop(p);
}

/* A robot with another delay than the scenario's by more than a cycle is refused. */
static void test_wrong_delay_is_refused(void **state) {
    (void)state;
    pair *p = PLAY(CHIRPS, "truth:", "satellites.body.robot.delay=0.0211");
    expect(p, FF_STATE_FAULT, FF_TRIP_DELAY);
    assert_near(p->rt.trip.value, (0.0211 - 0.016) / 0.004, 0.05);
    assert_near(p->rt.trip.limit, 1.0, 0.0);
    assert_int_equal(p->rows, 0);
    drop(p);
    p = PLAY(CHIRPS,
             "truth:", "satellites.body.robot.delay=0.019"); /* by less: taken, and the forecast uses it */
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_near(p->rt.check.body[0].forecast.delay, 0.019 + 0.004, 0.0002);
    drop(p);
}

/* The chirp keeps half of every limit and goes only where the run does not: watched while it moves. */
static void test_test_motions_obey_the_limits(void **state) {
    (void)state;
    pair *p = PLAY(CHIRPS, WEIGHS, EARTH, "satellites.body.mockup={mass: 3, com: [0, 0, 0.1]}",
                   "satellites.body.safety.velocity=0.06", "satellites.body.safety.acceleration=0.5",
                   "satellites.body.safety.jerk=30", "satellites.body.safety.angular_velocity=0.2",
                   "contacts.right.at=[9, 0, 0]");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_true(p->rt.check.body[0].timed && p->rt.check.body[0].weighed);
    drop(p);
    p = PLAY(CHIRPS, "facility.faults=[{kind: robot-stuck, from: 0}]",
             "satellites.body.safety.tracking=0.0003");
    expect(p, FF_STATE_FAULT, p->rt.trip.code == FF_TRIP_TRACKING ? FF_TRIP_TRACKING : FF_TRIP_STANDS);
    assert_int_equal(p->rows, 0);
    assert_true(p->rt.last_count > 10); /* the last 2 s are kept in CHECK, too */
    drop(p);
}

/* ----------------------------------------------------------------------------------- what stood before --
 */

static void test_no_go_has_its_reason(void **state) {
    (void)state;
    static const struct {
        const char *set, *truth;
        ff_trip_code code;
        const char *key;
    } cases[] = {
        {"satellites.body.robot.delay=0.3", NULL, FF_TRIP_NO_GO, "w_tau"},
        {"satellites.body.safety.force=15", NULL, FF_TRIP_FORCE, "peak_force_N"},
        {"satellites.body.sensor={kind: noisy, range: [30, 10]}", NULL, FF_TRIP_RANGE, "peak_force_range_N"},
        {"satellites.body.sensor={kind: noisy, range: [330, 10]}",
         "satellites.body.sensor={kind: noisy, range: [330, 10], bias: [170, 0, 0, 0, 0, 0]}", FF_TRIP_BIAS,
         "bias_N"},
        {"satellites.body.sensor={kind: noisy, range: [330, 10]}", /* 160 N and 5 sd of 2 N are too much */
         "satellites.body.sensor={kind: noisy, range: [330, 10], bias: [160, 0, 0, 0, 0, 0], force_noise: 2}",
         FF_TRIP_BIAS, "bias_N"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        pair *p = cases[n].truth ? PLAY(cases[n].set, "truth:", cases[n].truth) : PLAY(cases[n].set);
        expect(p, FF_STATE_FAULT, cases[n].code);
        assert_int_equal(p->rows, 0);
        const ff_check_row *row = row_of(p, cases[n].key);
        assert_int_equal(row->verdict, FF_CHECK_NO_GO);
        assert_true(row->value > row->limit && *row->reason);
        drop(p);
    }
}

/* What is wrong with the set-up, by the facility's own keys: each is a no-go before the run, and nothing has
 * moved for it but the chirp. */
static void test_faults_of_the_set_up(void **state) {
    (void)state;
    static const struct {
        const char *fault, *check;
        ff_trip_code code;
        const char *sentence;
    } cases[] = {
        {"{kind: ft-swapped}", "{push: hand}", FF_TRIP_PUSH, "pushed towards +x: the sensor says +y"},
        {"{kind: ft-mirrored, value: 1}", "{push: hand}", FF_TRIP_PUSH,
         "pushed towards +x: the sensor says -x"},
        {"{kind: ft-mirrored, value: 2}", "{push: hand}", FF_TRIP_PUSH,
         "pushed towards +y: the sensor says -y"},
        {"{kind: ft-mirrored, value: 3}", "{push: hand}", FF_TRIP_PUSH,
         "pushed towards +z: the sensor says -z"},
        {"{kind: ft-mirrored, value: 4}", "{push: hand}", FF_TRIP_PUSH,
         "twisted about +x: the sensor says -x"},
        {"{kind: ft-mirrored, value: 5}", "{push: hand}", FF_TRIP_PUSH,
         "twisted about +y: the sensor says -y"},
        {"{kind: ft-mirrored, value: 6}", "{push: hand}", FF_TRIP_PUSH,
         "twisted about +z: the sensor says -z"},
        /* what the sensor turned by +90 degrees feels of a push along x is along its own -y */
        {"{kind: ft-turned, value: 90}", "{push: hand}", FF_TRIP_PUSH,
         "pushed towards +x: the sensor says -y"},
        {"{kind: ft-deaf}", "{wait: 1}", FF_TRIP_PUSH, "the sensor saw nothing"},
        {"{kind: robot-later, value: 0.0051}", "{delay: chirp, push: skip}", FF_TRIP_DELAY, "DELAY"},
        {"{kind: tool-off, value: 0.0012}", "{push: hand}", FF_TRIP_KINEMATICS, "KINEMATICS"},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char fault[96], check[64];
        snprintf(fault, sizeof fault, "facility.faults=[%s]", cases[n].fault);
        snprintf(check, sizeof check, "satellites.body.check=%s", cases[n].check);
        pair *p = PUSHES(check, fault);
        expect(p, FF_STATE_FAULT, cases[n].code);
        assert_int_equal(p->rows, 0);
        if (!strstr(p->rt.run.message, cases[n].sentence))
            fail_msg("%s: %s", cases[n].fault, p->rt.run.message);
        drop(p);
    }
}

/* A controller's robot with this tool; a tool of its own for each of two calls. */
static const char *arm(const char *tool) {
    static char text[2][200];
    static int n;
    n = !n;
    snprintf(text[n], sizeof text[n],
             "satellites.body.robot={kind: kuka-rsi, delay: 0.016, %s, tool: {%s%s}}",
             "base: {position: [-1.35, 0, -1.57]}", tool, "attitude: [0, 0, 1, 0]");
    return text[n];
}
#define RDT "satellites.body.sensor={kind: ati-rdt}"

/* The robot may stand up to a millimetre off: it is led to the start without a jump. A mock-up of 5 kg would
 * feel one: 0.8 mm in a cycle are 250 N and more. With and without a test motion before. */
static void test_the_start_has_no_jump(void **state) {
    (void)state;
    for (int n = 0; n < 2; n++) {
        pair *p = PLAY(arm(""), EARTH, "satellites.body.mockup={mass: 5}", "contacts.right.at=[9, 0, 0]",
                       "method=direct", "satellites.body.sensor={kind: noisy, range: [100, 30]}",
                       n ? "satellites.body.check.delay=chirp" : BELIEVES,
                       "truth:", "satellites.body.position=[0, 0.0005, 0.0006]");
        expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
        assert_near(row_of(p, "start_mm")->value, 0.781, 1e-3);
        drop(p);
    }
}

/* Axes and pose that do not agree: a tool of another length on the controller than in the scenario. */
static void test_kinematics_must_agree(void **state) {
    (void)state;
    pair *p = PLAY(arm(""), RDT);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_true(p->rt.check.body[0].apart < 1e-6 && p->rt.check.body[0].apart_angle < 1e-6);
    drop(p);
    p = PLAY(arm(""), RDT, "truth:", arm("position: [0, 0, 0.0012], "), RDT);
    expect(p, FF_STATE_FAULT, FF_TRIP_KINEMATICS);
    assert_near(p->rt.check.body[0].apart, 0.0012, 1e-6);
    drop(p);
    p = PLAY(arm(""), RDT, "truth:", arm("position: [0, 0, 0.0008], "), RDT);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    drop(p);
    /* a tool turned by 0.12 degrees, and by 0.08 */
    for (int n = 0; n < 2; n++) {
        const double angle = (n ? 0.08 : 0.12) * FF_PI / 180.0;
        char turned[240];
        snprintf(turned, sizeof turned,
                 "satellites.body.robot={kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}, "
                 "tool: {attitude: [%.17g, 0, %.17g, 0]}}",
                 sin(0.5 * angle), cos(0.5 * angle));
        p = PLAY(arm(""), RDT, "truth:", turned, RDT);
        expect(p, n ? FF_STATE_HOLD : FF_STATE_FAULT, n ? FF_TRIP_FINISHED : FF_TRIP_KINEMATICS);
        assert_near(row_of(p, "kinematics_deg")->value, n ? 0.08 : 0.12, 1e-5);
        drop(p);
    }
    /* the robot stands elsewhere than the run begins; up to a millimetre it is led there */
    p = PLAY(arm(""), RDT, "facility.faults=[{kind: robot-aside, value: 0.0012}]");
    expect(p, FF_STATE_FAULT, FF_TRIP_START);
    assert_int_equal(p->rows, 0);
    assert_near(row_of(p, "start_mm")->value, 1.2, 1e-3);
    drop(p);
    p = PLAY(arm(""), RDT, "facility.faults=[{kind: robot-aside, value: 0.0008}]");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    drop(p);
    p = PLAY(arm(""), RDT, "truth:", "satellites.body.attitude=[0.9999995, 0.001, 0, 0]");
    expect(p, FF_STATE_FAULT, FF_TRIP_START);
    assert_near(row_of(p, "start_deg")->value, 0.002 * 180.0 / FF_PI, 1e-3);
    drop(p);
}

static void test_table_as_text_and_json(void **state) {
    (void)state;
    pair *p = PLAY("satellites.body.safety.force=15");
    char *text = ff_check_text(&p->scenario, &p->rt.check), *json = ff_check_json(&p->scenario, &p->rt.check);
    assert_non_null(strstr(text, "predicted force and limit"));
    assert_non_null(strstr(text, "check: no-go, FORCE: "));
    assert_non_null(strstr(json, "\"go\": false"));
    assert_non_null(strstr(json, "\"code\": \"FORCE\""));
    free(text);
    free(json);
    drop(p);
}

/* The ideal motion is followed by the arm on paper before it is followed by the robot. */
static void test_motion_out_of_reach_is_not_armed(void **state) {
    (void)state;
    static const struct {
        const char *motion;
        ff_trip_code code;
    } far[] = {{"satellites.body.velocity=[0.8, 0, 0.8]", FF_TRIP_REACH},
               {"satellites.body.angular_velocity=[0, 2, 0]", FF_TRIP_JOINT}};
    for (int n = 0; n < 3; n++) {
        pair *p = calloc(1, sizeof *p);
        const char *set[] = {
            "satellites.body.robot={kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}}",
            "satellites.body.sensor={kind: ati-rdt}",
            "satellites.body.attitude=[0.7071067811865476, 0, 0.7071067811865476, 0]",
            "contacts.right.at=[9, 0, 0]",
            n < 2 ? far[n].motion : "time.seed=1",
            n < 2 ? "time.duration=2" : "time.duration=1"};
        load(&p->scenario, base_text, set, 6);
        p->truth = p->scenario;
        ff_ideal_result ideal;
        char message[256];
        assert_int_equal(ff_ideal_solve(&p->scenario, NULL, NULL, &ideal, message, sizeof message), FF_OK);
        p->ideal = &ideal;
        run_pair(p);
        expect(p, n < 2 ? FF_STATE_FAULT : FF_STATE_HOLD, n < 2 ? far[n].code : FF_TRIP_FINISHED);
        assert_int_equal(p->rows == 0, n < 2);
        const ff_check_row *row = row_of(p, "joint_margin_deg");
        assert_int_equal(row->verdict, n < 2 ? FF_CHECK_NO_GO : FF_CHECK_GO);
        assert_true(n < 2 || row->value > 5.0);
        ff_ideal_free(&ideal);
        drop(p);
    }
}

/* ------------------------------------------------------------------------------------------- every trip --
 */

/* What each trip must leave: code, sentence, value beyond the limit, state reached, and the last 2 s at full
 * rate with the cycle that tripped. */
static void assert_whole_trip(const pair *p, ff_trip_code code) {
    const ff_rt_result *r = &p->rt;
    expect(p, FF_STATE_FAULT, code);
    if (!(r->trip.value >= r->trip.limit))
        fail_msg("%s: value %g, limit %g", ff_trip_name(code), r->trip.value, r->trip.limit);
    assert_true(r->run.status < 0);
    assert_non_null(strstr(r->run.message, ff_trip_name(code)));
    assert_non_null(strstr(r->run.message, ff_trip_text(code)));
    /* the run-up takes 115 cycles here; a trip at t has those and the cycles since */
    const size_t whole = (size_t)(2.0 / p->scenario.cycle);
    const size_t ran = p->rows + 100 < whole ? p->rows : whole;
    assert_true(r->last_count <= whole);
    if (r->last_count < (ran < whole ? ran : whole))
        fail_msg("%s: %zu rows kept of %zu", ff_trip_name(code), r->last_count, ran);
    for (size_t n = 1; n < r->last_count; n++) /* at full rate, in order */
        assert_near(r->last[n].t - r->last[n - 1].t, p->scenario.cycle, 1e-9);
    assert_true(r->last_count >= 2);
}

#define PUSHED                                                              \
    "satellites.body.velocity=[0, 0, 0]", "contacts.right.at=[0.01, 0, 0]", \
        "contacts.right.point=[0, 0.2, 0]", "loads=[{force: [20, 0, 0], from: 0, to: 1}]"

#define TURNS                                                                                    \
    "satellites.body.robot={kind: kuka-rsi, delay: 0.016, channel: cartesian, base: {position: " \
    "[-1.35, 0, -1.57]}, tool: {attitude: [0, 0, 1, 0]}}"

static void test_every_limit_trips_with_all_it_must_leave(void **state) {
    (void)state;
    static const struct {
        ff_trip_code code;
        const char *set[6];
    } trips[] = {
        {FF_TRIP_BOX, {"satellites.body.safety.box=[0.02, free, free]"}},
        {FF_TRIP_JOINT,
         {"satellites.body.angular_velocity=[0, 2, 0]", "time.duration=2", "contacts.right.at=[3, 0, 0]"}},
        {FF_TRIP_AXIS, /* flange forward, up and away until the arm is stretched: A3 cannot follow */
         {"satellites.body.robot={kind: kuka-rsi, delay: 0.016, base: {position: [-1.35, 0, -1.57]}}",
          "satellites.body.sensor={kind: ati-rdt}", "satellites.body.velocity=[0.8, 0, 0.8]",
          "satellites.body.attitude=[0.7071067811865476, 0, 0.7071067811865476, 0]",
          "contacts.right.at=[9, 0, 0]"}},
        {FF_TRIP_VELOCITY, /* pushed beyond it: a start beyond it is a no-go */
         {"satellites.body.velocity=[0.02, 0, 0]", "satellites.body.safety.velocity=0.045",
          "loads=[{force: [10, 0, 0], from: 0, to: 1}]", "contacts.right.at=[3, 0, 0]"}},
        {FF_TRIP_ANGULAR_VELOCITY,
         {"satellites.body.angular_velocity=[0, 0, 0.02]", "satellites.body.safety.angular_velocity=0.09",
          "loads=[{torque: [0, 0, 2], from: 0, to: 1}]", "contacts.right.at=[3, 0, 0]"}},
        {FF_TRIP_ACCELERATION, {"satellites.body.safety.acceleration=0.05"}},
        {FF_TRIP_ANGULAR_ACCELERATION,
         {"satellites.body.angular_velocity=[0, 0, 0.02]", "satellites.body.safety.angular_acceleration=0.1",
          "loads=[{torque: [0, 0, 2], from: 0, to: 1}]", "contacts.right.at=[3, 0, 0]"}},
        {FF_TRIP_JERK, {"satellites.body.safety.jerk=0.5"}},
        {FF_TRIP_FORCE, {PUSHED, "satellites.body.safety.force=15"}},
        {FF_TRIP_TORQUE, {PUSHED, "satellites.body.safety.torque=3"}},
        {FF_TRIP_SPIKE,
         {"facility.faults=[{kind: ft-spike, value: 200, from: 0.8, to: 0.804}]",
          "satellites.body.safety.spike=50"}},
        {FF_TRIP_ENERGY,
         {"method=direct", "contacts.right.at=[0.005, 0, 0]", "satellites.body.safety.energy=0.01"}},
        {FF_TRIP_TRACKING, {"facility.faults=[{kind: robot-jump, value: 0.05, from: 0.8}]"}},
        {FF_TRIP_STANDS, {"facility.faults=[{kind: robot-stuck, from: 0.6}]"}},
        {FF_TRIP_LATE, {"facility.faults=[{kind: answer-lost, from: 0.6}]"}},
        {FF_TRIP_LAG, /* 20 m/s2 asked for, 10 made */
         {"satellites.body.safety.tracking=0.001", "loads=[{force: [2000, 0, 0], from: 0, to: 1}]",
          "contacts.right.at=[3, 0, 0]"}},
        {FF_TRIP_AGE, {"facility.faults=[{kind: ft-silent, from: 0.8}]"}},
        {FF_TRIP_RANGE, {"facility.faults=[{kind: ft-saturated, from: 0.8}]"}},
        {FF_TRIP_FROZEN, {"facility.faults=[{kind: ft-frozen, from: 0.6}]"}},
        {FF_TRIP_SENSOR, {"facility.faults=[{kind: ft-broken, from: 0.8}]"}},
        {FF_TRIP_MISSED, {"facility.faults=[{kind: rob-lost, from: 0.8, to: 0.832}]"}},
        {FF_TRIP_SILENT, {"facility.faults=[{kind: robot-silent, from: 0.8}]"}},
        {FF_TRIP_ROTATION,
         {TURNS, "satellites.body.sensor={kind: ati-rdt}", "satellites.body.angular_velocity=[0, 0, 0.3]"}},
    };
    for (size_t n = 0; n < sizeof trips / sizeof *trips; n++) {
        pair *p = play(trips[n].set);
        assert_whole_trip(p, trips[n].code);
        if (trips[n].code == FF_TRIP_JOINT) {
            print_message("JOINT by %g deg: %s\n", p->rt.trip.value, p->rt.run.message);
            assert_int_equal(p->rt.trip.axis, 5);
            assert_non_null(strstr(p->rt.run.message, "A5: "));
            /* one cycle's turn at 2 rad/s at most, in degrees; in radians it would be below 0.008 */
            assert_true(p->rt.trip.value > 0.0081 && p->rt.trip.value < 0.4584);
        }
        drop(p);
    }
}

/* A reading at the range is not a measurement: by the value, not by the sensor's own flag. */
static void test_reading_at_the_range_trips(void **state) {
    (void)state;
    pair *p = PLAY("satellites.body.sensor={kind: noisy, range: [330, 30]}",
                   "facility.faults=[{kind: ft-spike, value: 331, from: 0.8, to: 0.9}]");
    assert_whole_trip(p, FF_TRIP_RANGE);
    assert_near(p->rt.trip.limit, 330.0, 0.0);
    drop(p);
}

/* The range ends where the reading does: a bias that was zeroed takes its share of it. A force that clips
 * there is no measurement, although what is left after the zero lies below the range. */
static void test_range_is_the_readings_own(void **state) {
    (void)state;
    static const char *const sensor[] = {
        "satellites.body.sensor={kind: noisy, range: [100.1234567, 30], bias: [-20, 0, 0, 0, 0, 0]}",
        "satellites.body.sensor={kind: noisy, range: [900, 10.5], bias: [0, 0, 0, 0, 0, 3]}"};
    for (int n = 0; n < 2; n++) {
        pair *p = PLAY(sensor[n], "satellites.body.velocity=[0, 0, 0]", "contacts.right.at=[0.002, 0, 0]",
                       n ? "contacts.right.point=[0, 0.2, 0]" : "contacts.right.point=com",
                       "loads=[{force: [200, 0, 0], from: 0, to: 1}]");
        expect(p, FF_STATE_FAULT, FF_TRIP_RANGE);
        assert_near(p->rt.trip.value, n ? 10.5 : 100.1234567, 1e-6);
        assert_int_equal(p->rt.stopped[0], FF_STOP_NO_FORCE);
        drop(p);
    }
}

/* -------------------------------------------------------------------------------------------- the stop -- */

/* In contact: retreat along the force by at most force/stiffness + 1 mm; it says what it did. */
static void test_retreat_is_as_far_as_promised(void **state) {
    (void)state;
    pair *p = PLAY(PUSHED, "satellites.body.safety.force=5", "contacts.right.point=[0, 0, 0]");
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_int_equal(p->rt.stopped[0], FF_STOP_RETREATED);
    assert_true(p->facility.force[0] < 1e-3);
    assert_true(p->rt.robot[0].T.p.x <= 0.01 + 1e-6 && p->rt.robot[0].T.p.x >= 0.01 - 0.0011);
    drop(p);
}

/* A robot far behind its command when that has come to rest: the force that counts is that of its own rest.
 */
static void test_retreat_of_a_late_robot_is_far_enough(void **state) {
    (void)state;
    pair *p = PLAY("satellites.body.velocity=[0.03, 0, 0]", "satellites.body.robot.delay=0.06",
                   "contacts.right.at=[0.01, 0, 0]", "contacts.right.point=[0, 0.2, 0]",
                   "satellites.body.safety.torque=1", "satellites.body.safety.stop_acceleration=5");
    expect(p, FF_STATE_FAULT, FF_TRIP_TORQUE);
    print_message("%s; %g N\n", ff_stop_text(p->rt.stopped[0]), p->facility.force[0]);
    assert_int_equal(p->rt.stopped[0], FF_STOP_RETREATED);
    assert_true(p->facility.force[0] < 1e-3);
    assert_true(p->rt.robot[0].T.p.x >= 0.01 - 0.0011);
    drop(p);
}

/* What is touched is softer than the scenario says: the retreat ends in contact, and nothing else is said. */
static void test_retreat_that_ends_in_contact_says_so(void **state) {
    (void)state;
    pair *p = PLAY("contacts.right.stiffness=20000", "satellites.body.safety.box=[0.025, free, free]",
                   "truth:", "contacts.right.stiffness=2000");
    expect(p, FF_STATE_FAULT, FF_TRIP_BOX);
    print_message("%s; %g N\n", ff_stop_text(p->rt.stopped[0]), p->facility.force[0]);
    assert_true(p->facility.force[0] > 1.0);
    assert_true(p->rt.retreated);
    assert_int_equal(p->rt.stopped[0], FF_STOP_STILL_PUSHED);
    drop(p);
}

static void test_without_force_or_in_a_grasp_it_holds_and_says_so(void **state) {
    (void)state;
    pair *p = PLAY("facility.faults=[{kind: ft-silent, from: 1.05}]");
    expect(p, FF_STATE_FAULT, FF_TRIP_AGE);
    assert_int_equal(p->rt.stopped[0], FF_STOP_NO_FORCE);
    assert_false(p->rt.retreated);
    drop(p);
    static const char two[] =
        "satellites={a: {mass: 100, inertia: [10, 10, 10], robot: {kind: delay, delay: 0.008}}, "
        "b: {mass: 200, inertia: [20, 20, 20], position: [1, 0, 0], robot: {kind: delay, delay: "
        "0.008}}}";
    static const char grasp[] =
        "contacts=[{name: grip, kind: grasp, body: a, against: b, point: [0.5, 0, 0], at: [-0.5, 0, "
        "0], stiffness: 500, damping: 5, rotation_stiffness: 50, rotation_damping: 1, closes: 0.1}]";
    p = PLAY(two, grasp, "loads=[{body: a, force: [-30, 0, 0], from: 0.2, to: 2}]",
             "satellites.a.safety.force=5", "time.duration=2");
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_int_equal(p->rt.stopped[0], FF_STOP_GRASPED);
    assert_false(p->rt.retreated);
    drop(p);
}

/* A body that is turned: the force it feels is along its own axes, the retreat is along the wall's normal. */
static void test_retreat_of_a_turned_body(void **state) {
    (void)state;
    pair *p = PLAY(PUSHED, "satellites.body.safety.force=5", "contacts.right.point=[0, 0, 0]",
                   "satellites.body.attitude=[0.7071067811865476, 0, 0, 0.7071067811865476]");
    expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
    assert_int_equal(p->rt.stopped[0], FF_STOP_RETREATED);
    assert_true(p->facility.force[0] < 1e-3);
    assert_near(p->rt.robot[0].T.p.y, 0.0, 1e-6);
    drop(p);
}

/* A sensor that reports a fault has no valid force: it holds in contact. */
static void test_a_broken_sensors_force_is_not_followed(void **state) {
    (void)state;
    pair *p = PLAY("facility.faults=[{kind: ft-broken, from: 1.05}]");
    expect(p, FF_STATE_FAULT, FF_TRIP_SENSOR);
    assert_int_equal(p->rt.stopped[0], FF_STOP_NO_FORCE);
    assert_false(p->rt.retreated);
    assert_true(p->facility.force[0] > 5.0);
    drop(p);
}

/* Noise is not a contact: stopped in free flight, nothing retreats from it. */
static void test_noise_is_not_retreated_from(void **state) {
    (void)state;
    pair *p = PLAY("satellites.body.sensor={kind: noisy, " NOISE "}", "time.duration=0.3",
                   "contacts.right.at=[9, 0, 0]", BELIEVES);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_int_equal(p->rt.stopped[0], FF_STOP_FREE);
    assert_false(p->rt.retreated);
    /* what was measured at rest: the noise about its mean, and the drift that its mean leaves */
    const double noise = p->rt.check.body[0].force_noise;
    assert_near(noise, 0.1, 0.03);
    assert_near(p->rt.check.body[0].torque_noise, 0.01, 0.003);
    assert_near(p->rt.check.body[0].drift, noise / 10.0 / 100.0, 1e-12);
    drop(p);
    p = PLAY("satellites.body.sensor={kind: noisy, bias: [20, -9, 4, 3, 2, -1], " NOISE "}",
             "time.duration=0.3", "contacts.right.at=[9, 0, 0]");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_near(p->rt.check.body[0].force_noise, 0.1, 0.03);
    assert_near(p->rt.check.body[0].torque_noise, 0.01, 0.003);
    drop(p);
}

/* Before the zero a bias is not a contact force: the test motions are watched from what is felt at rest. */
static void test_bias_does_not_trip_the_test_motions(void **state) {
    (void)state;
    pair *p = PLAY(CHIRPS, "satellites.body.sensor={kind: noisy, bias: [50, 0, 0, 0, 0, 0]}",
                   "satellites.body.safety.force=45", "contacts.right.at=[9, 0, 0]");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    drop(p);
}

/* A sensor in the environment does not carry the mock-up: its reading at rest is all bias. */
static void test_bias_of_a_sensor_in_the_environment(void **state) {
    (void)state;
    pair *p =
        PLAY(EARTH, "satellites.body.mockup={mass: 5, com: [0, 0, 0.1]}", BELIEVES,
             "satellites.body.sensor={kind: noisy, mount: environment, bias: [3, -2, 1, 0.1, 0.2, 0.3]}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_vec3_near(p->rt.check.body[0].bias.f, ff_vec3_make(3, -2, 1), 2e-6);
    assert_vec3_near(p->rt.check.body[0].bias.t, ff_vec3_make(0.1, 0.2, 0.3), 2e-6);
    drop(p);
}

/* Weighed through a sensor that is mounted askew, compensated in its frame: as it turns it keeps its
 * velocity. */
static void test_weight_behind_a_mount_is_compensated(void **state) {
    (void)state;
    static const char sensor[] = "satellites.body.sensor={kind: noisy, pose: {position: [0.1, -0.05, 0.2], "
                                 "attitude: [0.5, 0.5, 0.5, 0.5]}}";
    pair *p = PLAY(EARTH, sensor, "time.duration=4", "method=direct", "satellites.body.velocity=[0, 0, 0]",
                   "satellites.body.angular_velocity=[0.1, 0, 0]", "satellites.body.mockup={mass: 1}",
                   "contacts.right.at=[9, 0, 0]",
                   "truth:", "satellites.body.mockup={mass: 5, com: [0.02, 0.05, 0.1]}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_near(p->rt.check.body[0].payload.mass.value, 5.0, 1e-4);
    assert_true(ff_vec3_norm(p->last.body[0].satellite.velocity) < 2e-5);
    const ff_vec3 w = ff_vec3_sub(p->last.body[0].satellite.omega, ff_vec3_make(0.1, 0, 0));
    assert_vec3_near(w, ff_vec3_zero(), 1e-4);
    drop(p);
}

/* Where a telegram was lost the pose stands on the line between its neighbours, and the cycle counts. */
static void test_a_lost_telegram_is_filled_on_the_line(void **state) {
    (void)state;
    pair *p = PLAY("facility.faults=[{kind: rob-lost, from: 0.8, to: 0.808}]", "contacts.right.at=[9, 0, 0]",
                   "satellites.body.check={push: skip}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_int_equal(p->rt.missed, 2);
    assert_int_equal(p->rt.missed_at_rest, 0);
    assert_true(p->rt.last_count > 200);
    /* its answers were lost, too: a delay later the robot stands. That is the first that is seen: a filled
     * pose off the line would come before, and be another step than -v T */
    const double T = p->scenario.cycle;
    for (size_t n = 2; n < p->rt.last_count; n++) {
        const ff_row *r = &p->rt.last[n];
        const ff_vec3 d = ff_vec3_sub(ff_vec3_add(r->body[0].robot.T.p, r[-2].body[0].robot.T.p),
                                      ff_vec3_scale(2.0, r[-1].body[0].robot.T.p));
        if (r[-2].t < 0.0 || ff_vec3_norm(d) < 1e-8)
            continue;
        assert_vec3_near(d, ff_vec3_make(-0.05 * T, -0.01 * T, 0.0), 1e-8);
        break;
    }
    drop(p);
    p = PLAY("facility.faults=[{kind: rob-lost, from: 0.2, to: 0.204}]",
             "satellites.body.check={push: skip}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_int_equal(p->rt.missed, 1); /* in the run-up: that continues, too */
    assert_int_equal(p->rt.filled, 1);
    assert_int_equal(p->rows, p->scenario.cycles + 1);
    drop(p);
}

/* One robot stands at once, the other retreats for a while: both are waited for, and each has its own end. */
static void test_the_slower_stop_is_waited_for(void **state) {
    (void)state;
    static const char two[] =
        "satellites={a: {mass: 100, inertia: [10, 10, 10], robot: {kind: delay, delay: 0.008}}, "
        "b: {mass: 200, inertia: [20, 20, 20], position: [3, 0, 0], robot: {kind: delay, delay: 0.008}}}";
    static const struct {
        const char *wall, *load, *limit;
    } pressed[] = {{"contacts=[{name: wall, kind: wall, body: a, at: [0.01, 0, 0], normal: [-1, 0, 0], "
                    "stiffness: 5000, damping: 5}]",
                    "loads=[{body: a, force: [20, 0, 0], from: 0, to: 2}]", "satellites.a.safety.force=10"},
                   {"contacts=[{name: wall, kind: wall, body: b, at: [3.01, 0, 0], normal: [-1, 0, 0], "
                    "stiffness: 5000, damping: 5}]",
                    "loads=[{body: b, force: [20, 0, 0], from: 0, to: 2}]", "satellites.b.safety.force=10"}};
    for (int n = 0; n < 2; n++) {
        pair *p = PLAY(two, pressed[n].wall, pressed[n].load, pressed[n].limit, "time.duration=3");
        expect(p, FF_STATE_FAULT, FF_TRIP_FORCE);
        assert_int_equal(p->rt.trip.body, n);
        assert_int_equal(p->rt.stopped[n], FF_STOP_RETREATED);
        assert_int_equal(p->rt.stopped[!n], FF_STOP_FREE);
        assert_true(p->facility.force[n] < 1e-3);
        drop(p);
    }
}

/* A heavy mock-up that is known: its inertia is not a contact force, and the satellite has its own mass. */
static void test_inertia_of_the_mockup_is_removed(void **state) {
    (void)state;
    pair *p = PLAY("satellites.body.mockup={mass: 20}", "method=direct", "satellites.body.velocity=[0, 0, 0]",
                   "contacts.right.at=[9, 0, 0]", "loads=[{force: [20, 10, 0], from: 0.1, to: 0.6}]",
                   "satellites.body.check={push: skip}");
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    const ff_vec3 v = p->last.body[0].satellite.velocity;
    print_message("%.6f %.6f %.6f m/s\n", v.x, v.y, v.z);
    /* F t/m; the inertia force left in would take a sixth of it */
    assert_vec3_near(v, ff_vec3_make(0.1, 0.05, 0.0), 5e-4);
    drop(p);
}

/* The bar of the joints: the arm at (0, -90, 120, 0, 60, 0) deg, A3 of a KR 120 between -120 and 155. */
static void keep_joint(void *self, const ff_telemetry_sample *sample) {
    double *joint = self;
    if (sample->state == FF_STATE_FLOAT && sample->row.t >= 0.0 && *joint == 0.0)
        *joint = sample->level[0][FF_LEVEL_JOINT];
}

static void test_level_of_the_joints(void **state) {
    (void)state;
    pair *p = calloc(1, sizeof *p);
    double joint = 0.0;
    const char *set[] = {"satellites.body.velocity=[0, 0, 0]", "satellites.body.check={push: skip}",
                         "time.duration=0.4"};
    load(&p->scenario, base_text, set, 3);
    p->truth = p->scenario;
    p->options.viewer = (ff_viewer){.self = &joint, .sample = keep_joint};
    run_pair(p);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    assert_near(joint, (2.0 * 120.0 + 120.0 - 155.0) / (155.0 + 120.0), 1e-6);
    drop(p);
}

/* A mock-up that bends: the force on it is not what a rigid one would feel. Limits and loop use one number.
 */
typedef struct two_forces {
    ff_wrench_config rigid;
    double apart, bent; /* [N] judged against used; used against a rigid mock-up's */
    int seen;
} two_forces;

static void compare_forces(void *self, const ff_telemetry_sample *sample) {
    two_forces *t = self;
    const ff_row_body *b = &sample->row.body[0];
    if ((sample->state != FF_STATE_FLOAT && sample->state != FF_STATE_CONTACT) || sample->row.final ||
        !sample->row.tuned.known)
        return;
    ff_wrench rigid;
    t->rigid.bias_s = sample->row.tuned.bias_s[0];
    assert_int_equal(ff_wrench_condition(&t->rigid, &b->sensor, &rigid), FF_OK);
    t->apart = fmax(t->apart, fabs(sample->level[0][FF_LEVEL_FORCE] - ff_vec3_norm(b->measured_b.f)));
    t->bent = fmax(t->bent, ff_vec3_norm(ff_vec3_sub(rigid.f, b->measured_b.f)));
    t->seen++;
}

static void test_the_force_that_is_judged_is_the_force_that_acts(void **state) {
    (void)state;
    pair *p = calloc(1, sizeof *p);
    const char *set[] = {"satellites.body.mockup={mass: 5, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1], "
                         "frequency: 20, damping_ratio: 0.05}",
                         "satellites.body.check={push: skip}",
                         "satellites.body.sensor={kind: noisy, bias: [3, -2, 1, 0, 0, 0]}"};
    load(&p->scenario, base_text, set, 3);
    p->truth = p->scenario;
    ff_loop_config *loop = malloc(sizeof *loop);
    ff_scenario_loop(&p->scenario, loop);
    two_forces forces = {.rigid = loop->body[0].wrench};
    free(loop);
    p->options.viewer = (ff_viewer){.self = &forces, .sample = compare_forces};
    run_pair(p);
    expect(p, FF_STATE_HOLD, FF_TRIP_FINISHED);
    print_message("%d cycles: judged and used differ by %g N, a rigid mock-up's by %g N\n", forces.seen,
                  forces.apart, forces.bent);
    assert_true(forces.seen > 50);
    assert_near(forces.apart, 0.0, 0.0);
    assert_true(forces.bent > 1.0);
    drop(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_force_that_is_judged_is_the_force_that_acts),
        cmocka_unit_test(test_right_sensor_passes_six_pushes),
        cmocka_unit_test(test_wrong_sensors_are_refused),
        cmocka_unit_test(test_push_that_is_not_felt_is_refused),
        cmocka_unit_test(test_pushes_can_be_left_out_and_the_table_says_so),
        cmocka_unit_test(test_weight_is_identified),
        cmocka_unit_test(test_weight_does_not_know_the_skew),
        cmocka_unit_test(test_identified_weight_is_compensated),
        cmocka_unit_test(test_weight_without_gravity_is_refused),
        cmocka_unit_test(test_weight_left_out_has_its_reason),
        cmocka_unit_test(test_skew_is_identified),
        cmocka_unit_test(test_the_start_has_no_jump),
        cmocka_unit_test(test_faults_of_the_set_up),
        cmocka_unit_test(test_delay_is_identified),
        cmocka_unit_test(test_wrong_delay_is_refused),
        cmocka_unit_test(test_test_motions_obey_the_limits),
        cmocka_unit_test(test_no_go_has_its_reason),
        cmocka_unit_test(test_kinematics_must_agree),
        cmocka_unit_test(test_table_as_text_and_json),
        cmocka_unit_test(test_motion_out_of_reach_is_not_armed),
        cmocka_unit_test(test_every_limit_trips_with_all_it_must_leave),
        cmocka_unit_test(test_reading_at_the_range_trips),
        cmocka_unit_test(test_retreat_is_as_far_as_promised),
        cmocka_unit_test(test_retreat_of_a_late_robot_is_far_enough),
        cmocka_unit_test(test_retreat_that_ends_in_contact_says_so),
        cmocka_unit_test(test_range_is_the_readings_own),
        cmocka_unit_test(test_without_force_or_in_a_grasp_it_holds_and_says_so),
        cmocka_unit_test(test_retreat_of_a_turned_body),
        cmocka_unit_test(test_a_broken_sensors_force_is_not_followed),
        cmocka_unit_test(test_noise_is_not_retreated_from),
        cmocka_unit_test(test_bias_does_not_trip_the_test_motions),
        cmocka_unit_test(test_bias_of_a_sensor_in_the_environment),
        cmocka_unit_test(test_weight_behind_a_mount_is_compensated),
        cmocka_unit_test(test_a_lost_telegram_is_filled_on_the_line),
        cmocka_unit_test(test_the_slower_stop_is_waited_for),
        cmocka_unit_test(test_level_of_the_joints),
        cmocka_unit_test(test_inertia_of_the_mockup_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
