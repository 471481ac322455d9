/* The push's judgement and the test motions, as pure functions. */
#include "support.h"

#include "executive/check.h"

/* Any sample: right only if the axis asked for carries twice what each other does, with its sign. */
static void test_push_is_judged_by_axis_and_sign(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int n = 0; n < 2000; n++) {
        const int axis = n % 6;
        ff_check_push push = {.done = true, .sample = test_random_vec3(&rng, n & 8 ? 0.5 : 10.0)};
        const double asked = push.sample.a[axis % 3];
        double other = 0.0, most = fabs(asked);
        for (int a = 0; a < 3; a++) {
            most = fmax(most, fabs(push.sample.a[a]));
            if (a != axis % 3)
                other = fmax(other, fabs(push.sample.a[a]));
        }
        char reason[160];
        ff_push_judge(axis, &push, reason, sizeof reason);
        assert_int_equal(push.right, asked > 0.0 && other <= 0.5 * asked);
        assert_near(fabs(push.sample.a[push.seen % 3]), most, 0.0);
        assert_int_equal(push.seen >= 3, axis >= 3);
        assert_int_equal(push.negative, push.sample.a[push.seen % 3] < 0.0);
        char name[8];
        snprintf(name, sizeof name, "+%c:", 'x' + axis % 3);
        assert_non_null(strstr(reason, name));
        assert_non_null(strstr(reason, axis < 3 ? "pushed" : "twisted"));
        assert_true(push.right || strstr(reason, axis < 3 ? " N)" : " N m)"));
    }
}

/* The virtual hand is felt with every noise and range, and it obeys the text that asks for it. */
static void test_virtual_hand_is_felt(void **state) {
    (void)state;
    static const double noise[] = {0.0, 0.1, 3.0}, range[] = {FF_INF, 330.0, 5.0};
    for (int axis = 0; axis < 6; axis++) {
        assert_int_equal(ff_push_asked(ff_push_text(axis)), axis);
        for (int n = 0; n < 3; n++)
            for (int r = 0; r < 3; r++) {
                ff_push_state state_of;
                ff_check_push push = {0};
                ff_push_start(&state_of, axis);
                const double threshold = ff_push_threshold(axis, noise[n], range[r]);
                bool done = false;
                for (int k = 0; k < 200 && !done; k++) {
                    ff_wrench w;
                    ff_push_virtual(axis, 0.004 * k, noise[n], range[r], &w);
                    done = ff_push_step(&state_of, threshold, 5.0, 0.004, w, &push);
                }
                assert_true(done && push.seen >= 0);
                char reason[160];
                ff_push_judge(axis, &push, reason, sizeof reason);
                assert_true(push.right);
                assert_int_equal(push.seen, axis);
            }
    }
    assert_int_equal(ff_push_asked(""), -1);
    assert_int_equal(ff_push_asked("push"), -1);
}

/* min(max(2 N or 0.2 N m, 10 sd), a fifth of the range). */
static void test_push_threshold(void **state) {
    (void)state;
    assert_near(ff_push_threshold(0, 0.0, FF_INF), 2.0, 0.0);
    assert_near(ff_push_threshold(4, 0.0, FF_INF), 0.2, 0.0);
    assert_near(ff_push_threshold(2, 0.0, FF_INF), 2.0, 0.0);
    assert_near(ff_push_threshold(3, 0.0, FF_INF), 0.2, 0.0);
    assert_near(ff_push_threshold(2, 0.5, FF_INF), 5.0, 1e-15);
    assert_near(ff_push_threshold(3, 0.05, FF_INF), 0.5, 1e-15);
    assert_near(ff_push_threshold(1, 0.5, 20.0), 4.0, 1e-15);
    assert_near(ff_push_threshold(5, 0.0, 0.5), 0.1, 1e-15);
}

/* Half a sine of 0.12 s after 20 ms; across it less, with both signs; never more than half of the range. */
static void test_virtual_hand_as_written(void **state) {
    (void)state;
    const struct {
        double noise, range, force, torque;
    } each[] = {{0.0, FF_INF, 10.0, 1.0}, {0.5, FF_INF, 20.0, 20.0}, {0.0, 1.5, 0.75, 0.75}};
    for (int n = 0; n < 3; n++)
        for (int axis = 0; axis < 6; axis++)
            for (int k = 0; k < 50; k++) {
                const double t = 0.004 * k + 0.001, size = axis < 3 ? each[n].force : each[n].torque,
                             is = t < 0.02 || t > 0.14 ? 0.0 : size * sin(FF_PI * (t - 0.02) / 0.12);
                ff_wrench w;
                assert_int_equal(ff_push_virtual(axis, t, each[n].noise, each[n].range, &w), t <= 0.14);
                ff_vec3 along;
                along.a[axis % 3] = is;
                along.a[(axis + 1) % 3] = -0.15 * is;
                along.a[(axis + 2) % 3] = 0.2 * is;
                assert_vec3_near(axis < 3 ? w.f : w.t, along, 1e-12);
                assert_vec3_near(axis < 3 ? w.t : w.f, ff_vec3_zero(), 0.0);
            }
    ff_wrench w;
    assert_true(ff_push_virtual(0, 0.02 + 0.12, 0.0, FF_INF, &w)); /* to its end */
    assert_string_equal(ff_push_text(0), "push +x");
    assert_string_equal(ff_push_text(5), "twist +z");
    assert_string_equal(ff_push_text(-1), "");
    assert_string_equal(ff_push_text(6), "");
}

/* What a push may be at its edges, and what the operator reads. */
static void test_push_at_its_edges(void **state) {
    (void)state;
    ff_push_state s;
    ff_check_push push = {0};
    ff_push_start(&s, 1);
    assert_int_equal(s.axis, 1);
    const ff_wrench at = {.f = {{0, 2.0, 0}}}, above = {.f = {{0, 2.001, 0}}}, half = {.f = {{0, 1.0, 0}}};
    assert_false(ff_push_step(&s, 2.0, 1.0, 0.004, at, &push)); /* not above the threshold: no push */
    assert_false(s.pushed);
    assert_false(ff_push_step(&s, 2.0, 1.0, 0.004, above, &push));
    assert_true(s.pushed);
    for (int k = 1; k <= 10; k++) /* half of it lets go */
        assert_int_equal(ff_push_step(&s, 2.0, 1.0, 0.004, half, &push), k == 10);
    assert_vec3_near(push.sample, ff_vec3_make(0, 2.001, 0), 1e-15);
    const struct {
        int axis;
        ff_vec3 sample;
        bool right;
        int seen;
        double part;
        const char *reason;
    } each[] = {
        {0, {{10, 5, 0}}, true, 0, 0.5, "pushed towards +x: the sensor agrees"},
        {4, {{0, 1, -0.4}}, true, 4, 0.4, "twisted about +y: the sensor agrees"},
        {2,
         {{0, 6, 10}},
         false,
         2,
         0.6,
         "pushed towards +z: the sensor says no clear +z (0, 6, 10 N): wrong mounting, wiring or sign"},
        {0,
         {{-10, 1, 0}},
         false,
         0,
         FF_INF,
         "pushed towards +x: the sensor says -x (-10, 1, 0 N): wrong mounting, wiring or sign"},
        {5,
         {{0, 2, 0}},
         false,
         4,
         FF_INF,
         "twisted about +z: the sensor says +y (0, 2, 0 N m): wrong mounting, wiring or sign"},
    };
    for (size_t n = 0; n < sizeof each / sizeof *each; n++) {
        char reason[160];
        push = (ff_check_push){.done = true, .sample = each[n].sample};
        ff_push_judge(each[n].axis, &push, reason, sizeof reason);
        assert_int_equal(push.right, each[n].right);
        assert_int_equal(push.seen, each[n].seen);
        assert_int_equal(push.negative, n == 3);
        assert_true(push.part == each[n].part);
        assert_string_equal(reason, each[n].reason);
    }
    char reason[160];
    push = (ff_check_push){.done = true, .seen = -1, .right = true, .part = 0.1};
    ff_push_judge(3, &push, reason, sizeof reason);
    assert_false(push.right);
    assert_true(push.part == FF_INF);
    assert_string_equal(reason, "twisted about +x: the sensor saw nothing");
}

/* A hand that begins late, trembles and lets go: one push, its mean over all that is above half of the
 * threshold, over ten cycles after the last of it, although the time to wait has passed long ago. */
static void test_push_of_a_trembling_hand(void **state) {
    (void)state;
    const double T = 0.004, wait = 0.1, threshold = 2.0;
    for (int axis = 0; axis < 6; axis++) {
        ff_push_state s;
        ff_check_push push = {0};
        ff_push_start(&s, axis);
        int ended = -1;
        double sum = 0.0, n = 0.0;
        for (int k = 0; k < 100 && ended < 0; k++) {
            /* from 20 to 59, 3 and 1.5 in turn; hardly anything in cycles 30 to 36 and 45 to 51 */
            double size = k < 20 || k >= 60 ? 0.3 : k % 2 ? 1.5 : 3.0;
            if ((k >= 30 && k <= 36) || (k >= 45 && k <= 51))
                size = 0.9;
            ff_vec3 v = ff_vec3_zero();
            v.a[axis % 3] = size;
            const ff_wrench w = {.f = axis < 3 ? v : ff_vec3_make(9, 9, 9),
                                 .t = axis < 3 ? ff_vec3_make(9, 9, 9) : v};
            sum += size > 1.0 ? size : 0.0;
            n += size > 1.0;
            if (ff_push_step(&s, threshold, wait, T, w, &push))
                ended = k;
        }
        assert_int_equal(ended, 69);
        assert_true(push.done && push.seen >= 0);
        ff_vec3 mean = ff_vec3_zero();
        mean.a[axis % 3] = sum / n;
        assert_vec3_near(push.sample, mean, 1e-12);
        /* in vain: 25 cycles of 4 ms */
        ff_push_start(&s, axis);
        ended = -1;
        for (int k = 1; k < 100 && ended < 0; k++)
            if (ff_push_step(&s, threshold, wait, T, ff_wrench_zero(), &push))
                ended = k;
        assert_true(ended == 25 || ended == 26); /* 25 x 0.004 is 0.1, to rounding */
        assert_int_equal(push.seen, -1);
    }
}

/* The first no-go is the one that is reported, from either kind of limit; what is not a number is none. */
static void test_table_keeps_its_first_no_go(void **state) {
    (void)state;
    ff_check *check = calloc(1, sizeof *check);
    ff_check_add(check, 0, "a", "a", 1.0, 1.0, "m", FF_TRIP_BIAS, NULL);
    ff_check_least(check, 0, "b", "b", 1.0, 1.0, "m", FF_TRIP_JOINT, NULL);
    assert_int_equal(check->no_go.code, FF_TRIP_NONE);
    ff_check_least(check, 1, "c", "c", 0.9, 1.0, "m", FF_TRIP_JOINT, "too near");
    assert_int_equal(check->no_go.code, FF_TRIP_JOINT);
    assert_int_equal(check->no_go.body, 1);
    assert_near(check->no_go.value, 0.9, 0.0);
    assert_near(check->no_go.limit, 1.0, 0.0);
    ff_check_add(check, 0, "d", "d", FF_NAN, 1.0, "m", FF_TRIP_WEIGHT, NULL);
    static const ff_check_verdict verdict[] = {FF_CHECK_GO, FF_CHECK_GO, FF_CHECK_NO_GO, FF_CHECK_NO_GO};
    assert_int_equal(check->rows, 4);
    for (int n = 0; n < 4; n++)
        assert_int_equal(check->row[n].verdict, verdict[n]);
    assert_string_equal(check->row[3].reason, ff_trip_text(FF_TRIP_WEIGHT));
    assert_int_equal(check->no_go.code, FF_TRIP_JOINT);
    assert_string_equal(check->reason, "too near");
    free(check);
}

/* Each kind of row, to the bit at its limit; what each says of itself. */
static void test_rows_hold_what_was_judged(void **state) {
    (void)state;
    ff_check *check = calloc(1, sizeof *check);
    ff_check_add(check, 2, "most", "most_m", 8.0, 8.0, "m", FF_TRIP_BIAS, "unused");
    ff_check_least(check, 1, "least", "least_m", 8.0, 8.0, "mm", FF_TRIP_BIAS, "unused");
    ff_check_show(check, 3, "shown", "shown_s", 0.5, "s");
    ff_check_skip(check, 1, "left out", "left_out", "because");
    static const ff_check_verdict verdict[] = {FF_CHECK_GO, FF_CHECK_GO, FF_CHECK_SHOWN, FF_CHECK_SKIPPED};
    static const int body[] = {2, 1, 3, 1};
    static const char *const what[] = {"most", "least", "shown", "left out"},
                             *const key[] = {"most_m", "least_m", "shown_s", "left_out"},
                             *const unit[] = {"m", "mm", "s", ""}, *const reason[] = {"", "", "", "because"};
    const double value[] = {8.0, 8.0, 0.5, FF_NAN}, limit[] = {8.0, 8.0, FF_NAN, FF_NAN};
    assert_int_equal(check->rows, 4);
    for (int n = 0; n < 4; n++) {
        const ff_check_row *row = &check->row[n];
        assert_int_equal(row->verdict, verdict[n]);
        assert_int_equal(row->body, body[n]);
        assert_string_equal(row->what, what[n]);
        assert_string_equal(row->key, key[n]);
        assert_string_equal(row->unit, unit[n]);
        assert_string_equal(row->reason, reason[n]);
        assert_true(row->value == value[n] || (isnan(row->value) && isnan(value[n])));
        assert_true(row->limit == limit[n] || (isnan(row->limit) && isnan(limit[n])));
    }
    assert_int_equal(check->no_go.code, FF_TRIP_NONE);
    assert_string_equal(check->reason, "");
    ff_check_add(check, 2, "most", "most_m", 8.0 + 0x1p-49, 8.0, "m", FF_TRIP_BIAS, NULL);
    assert_int_equal(check->row[4].verdict, FF_CHECK_NO_GO);
    assert_string_equal(check->reason, ff_trip_text(FF_TRIP_BIAS));
    assert_true(check->no_go.code == FF_TRIP_BIAS && check->no_go.body == 2 && check->no_go.limit == 8.0);
    check->no_go.code = FF_TRIP_NONE;
    ff_check_least(check, 1, "least", "least_m", 8.0 - 0x1p-49, 8.0, "m", FF_TRIP_JOINT, "too near");
    assert_int_equal(check->row[5].verdict, FF_CHECK_NO_GO);
    assert_string_equal(check->row[5].reason, "too near");
    assert_near(check->no_go.value, 8.0 - 0x1p-49, 0.0);
    /* the table is full: the newest row takes the place of the last */
    for (int n = check->rows; n < FF_CHECK_ROWS + 3; n++)
        ff_check_show(check, 0, "more", "more", n, "");
    assert_int_equal(check->rows, FF_CHECK_ROWS);
    assert_near(check->row[FF_CHECK_ROWS - 1].value, FF_CHECK_ROWS + 2, 0.0);
    assert_near(check->row[FF_CHECK_ROWS - 2].value, FF_CHECK_ROWS - 2, 0.0);
    free(check);
}

/* Without the spaces and ends of lines that only please the eye. */
static const char *tight(char *json) {
    char *to = json;
    for (const char *from = json; *from; from++)
        if (*from != '\n' && *from != ' ')
            *to++ = *from;
    *to = 0;
    return json;
}

/* The table to the character: what the operator reads, and summary.json. */
static void test_table_as_text_and_json(void **state) {
    (void)state;
    ff_scenario *scenario = calloc(1, sizeof *scenario);
    ff_check *check = calloc(1, sizeof *check);
    scenario->satellites = 2;
    strcpy(scenario->satellite[0].name, "chaser");
    strcpy(scenario->satellite[1].name, "client");
    ff_check_add(check, 1, "mock-up's mass", "mockup_mass_kg", 4.25, FF_INF, "kg", FF_TRIP_WEIGHT, NULL);
    ff_check_show(check, 0, "force noise, sd", "force_noise_N", 0.015625, "N");
    ff_check_skip(check, 0, "hand-push test", "push", "check: {push: skip}");
    char *text_go = ff_check_text(scenario, check), *json_go = ff_check_json(scenario, check);
    assert_string_equal(text_go,
                        "check                                           seen  allowed        verdict\n"
                        "client       mock-up's mass                     4.25      any kg     go\n"
                        "chaser       force noise, sd                 0.01562          N      \n"
                        "chaser       hand-push test                        -                 skipped:\n"
                        "             check: {push: skip}\n"
                        "check: go\n");
    assert_string_equal(
        tight(json_go),
        "{\"go\":true,\"code\":null,\"reason\":null,\"satellites\":{\"chaser\":{"
        "\"force_noise_N\":{\"value\":0.015625,\"limit\":null,\"verdict\":\"shown\"},"
        "\"push\":{\"value\":null,\"limit\":null,\"verdict\":\"skipped\",\"reason\":\"check:{push:skip}\"}},"
        "\"client\":{\"mockup_mass_kg\":{\"value\":4.25,\"limit\":null,\"verdict\":\"go\"}}}}");
    ff_check_add(check, 1, "moved at standstill", "standstill_mm", 1.5, 1.0, "mm", FF_TRIP_STANDSTILL, NULL);
    char *text_no = ff_check_text(scenario, check), *json_no = ff_check_json(scenario, check);
    assert_non_null(strstr(text_no, "\nclient       moved at standstill                 1.5        1 mm     "
                                    "no-go:\n             the robot moves before motion is commanded\n"));
    assert_non_null(
        strstr(text_no, "\ncheck: no-go, STANDSTILL: the robot moves before motion is commanded\n"));
    assert_true(strstr(tight(json_no), "{\"go\":false,\"code\":\"STANDSTILL\","
                                       "\"reason\":\"therobotmovesbeforemotioniscommanded\",") == json_no);
    assert_non_null(strstr(json_no, "\"standstill_mm\":{\"value\":1.5,\"limit\":1,\"verdict\":\"no-go\","
                                    "\"reason\":\"therobotmovesbeforemotioniscommanded\"}"));
    check->rows = 1;
    check->row[0].verdict = (ff_check_verdict)4;
    char *text_odd = ff_check_text(scenario, check);
    assert_non_null(strstr(text_odd, "any kg     ?\n"));
    free(text_go);
    free(json_go);
    free(text_no);
    free(json_no);
    free(text_odd);
    free(check);
    free(scenario);
}

static const char text[] =
    "name: trial\n"
    "time: {cycle: 0.004, duration: 1}\n"
    "facility: {gravity: [0, 0, -9.81]}\n"
    "satellites:\n"
    "  body:\n"
    "    mass: 100\n"
    "    inertia: [10, 10, 10]\n"
    "    velocity: [0.03, -0.04, 0]\n"
    "    robot: {kind: delay, delay: 0.016}\n"
    "    check: {weight: poses, delay: chirp}\n"
    "    safety: {velocity: 0.06, acceleration: 0.2, jerk: 5, angular_velocity: 0.4}\n";

/* At rest before and after, twist the derivative of the pose, half of every limit, never ahead of the park
 * pose. */
static void test_trial_keeps_its_promises(void **state) {
    (void)state;
    ff_scenario *scenario = calloc(1, sizeof *scenario);
    char message[256], warnings[256];
    assert_int_equal(ff_scenario_parse("trial", text, sizeof text - 1, NULL, scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    ff_plan plan;
    assert_int_equal(ff_plan_create(scenario, &plan, message, sizeof message), FF_OK);
    ff_trial trial;
    ff_trial_plan(scenario, &plan, 0, &trial);
    assert_int_equal(ff_trial_reach(&trial, &plan.body[0], message, sizeof message), FF_OK);
    const double T = 0.004;
    const ff_vec3 ahead = ff_vec3_make(0.6, -0.8, 0.0);
    ff_vec3 v_last = ff_vec3_zero(), a_last = ff_vec3_zero();
    double speed = 0.0, deepest = 0.0, tilted = 0.0, turn = 0.0;
    for (int k = 0; k * T < trial.end + 0.1; k++) {
        const double t = k * T;
        const ff_setpoint s = ff_trial_at(&trial, t);
        const ff_vec3 off = ff_vec3_sub(s.T.p, trial.park.p);
        const ff_vec3 a = ff_vec3_scale(1.0 / T, ff_vec3_sub(s.twist.v, v_last));
        const ff_vec3 j = ff_vec3_scale(1.0 / T, ff_vec3_sub(a, a_last));
        assert_true(ff_vec3_dot(off, ahead) <= 1e-15);
        assert_true(ff_vec3_norm(a) <= 0.1001 && ff_vec3_norm(j) <= 2.501);
        speed = fmax(speed, ff_vec3_norm(s.twist.v));
        deepest = fmax(deepest, ff_vec3_norm(off));
        turn = fmax(turn, ff_vec3_norm(s.twist.w));
        tilted = fmax(tilted, ff_quat_angle(s.T.q, trial.park.q));
        const double h = 1e-3;
        const ff_setpoint before = ff_trial_at(&trial, t - h), after = ff_trial_at(&trial, t + h);
        assert_vec3_near(ff_vec3_scale(0.5 / h, ff_vec3_sub(after.T.p, before.T.p)), s.twist.v, 1e-5);
        const ff_vec3 w =
            ff_vec3_scale(0.5 / h, ff_quat_log(ff_quat_mul(ff_quat_conj(before.T.q), after.T.q)));
        assert_vec3_near(w, s.twist.w, 1e-5);
        v_last = s.twist.v;
        a_last = a;
    }
    assert_true(speed <= 0.03 && deepest > 1e-4 && deepest <= 0.002);
    assert_near(tilted, 0.3, 1e-9);
    assert_true(turn <= 0.2001);
    const ff_setpoint end = ff_trial_at(&trial, trial.end);
    assert_vec3_near(end.T.p, trial.park.p, 0.0);
    assert_near(ff_quat_angle(end.T.q, trial.park.q), 0.0, 1e-12);
    free(scenario);
}

static ff_scenario *load(ff_plan *plan) {
    ff_scenario *scenario = calloc(1, sizeof *scenario);
    char message[256], warnings[256];
    assert_int_equal(ff_scenario_parse("trial", text, sizeof text - 1, NULL, scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_int_equal(ff_plan_create(scenario, plan, message, sizeof message), FF_OK);
    return scenario;
}

/* Whichever limit is the tightest, the chirp takes half of it, not less. */
static void test_chirp_takes_half_of_the_tightest_limit(void **state) {
    (void)state;
    ff_plan plan;
    ff_scenario *scenario = load(&plan);
    for (int which = 0; which < 4; which++) {
        ff_safety_limits *l = &scenario->satellite[0].safety;
        l->velocity = which == 0 ? 0.01 : FF_INF;
        l->acceleration = which == 1 ? 0.1 : FF_INF;
        l->jerk = which == 2 ? 3.0 : FF_INF;
        ff_plan_output(&scenario->satellite[0], l, plan.cycle, &plan.body[0].output);
        ff_trial trial;
        ff_trial_plan(scenario, &plan, 0, &trial);
        const double T = plan.cycle;
        ff_vec3 v[3] = {ff_vec3_zero(), ff_vec3_zero(), ff_vec3_zero()};
        double most[3] = {0};
        for (int k = 0; k * T < trial.end - trial.tilt_end; k++) {
            v[2] = v[1];
            v[1] = v[0];
            v[0] = ff_trial_at(&trial, trial.tilt_end + k * T).twist.v;
            const ff_vec3 a = ff_vec3_sub(v[0], v[1]), b = ff_vec3_sub(v[1], v[2]);
            most[0] = fmax(most[0], ff_vec3_norm(v[0]));
            most[1] = fmax(most[1], ff_vec3_norm(a) / T);
            most[2] = fmax(most[2], ff_vec3_norm(ff_vec3_sub(a, b)) / (T * T));
        }
        const double half[] = {0.005, 0.05, 1.5};
        if (which < 3) /* sampled elsewhere in the cycle than it was planned */
            assert_near(most[which] / half[which], 1.0, 0.01);
        else
            assert_near(trial.amplitude, scenario->satellite[0].check.amplitude, 0.0);
    }
    free(scenario);
}

/* Any gravity in any lab, any attitude: the tilts are across gravity, as the body sees it, and of two
 * axes. */
static void test_tilts_are_across_gravity(void **state) {
    (void)state;
    ff_plan plan;
    ff_scenario *scenario = load(&plan);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int n = 0; n < 100; n++) {
        scenario->facility_pose = test_random_pose(&rng, 1.0);
        scenario->facility_gravity = test_random_vec3(&rng, 9.81);
        plan.body[0].start.T.q = test_random_quat(&rng);
        plan.body[0].start.twist = ff_twist_zero();
        plan.body[0].cartesian = n % 2;
        ff_trial trial;
        ff_trial_plan(scenario, &plan, 0, &trial);
        /* the lab's axes in the world's are the inverse of the world's in the lab's */
        const ff_vec3 g_w = ff_quat_unrotate(scenario->facility_pose.q, scenario->facility_gravity),
                      down = ff_quat_unrotate(trial.park.q, g_w);
        const double angle = n % 2 ? 4.5 * FF_PI / 180.0 : 0.3;
        for (int k = 1; k < 5; k++) {
            assert_near(ff_vec3_norm(trial.tilt[k]), angle, 1e-12);
            assert_near(ff_vec3_dot(trial.tilt[k], down), 0.0, 1e-12);
        }
        assert_vec3_near(trial.tilt[2], ff_vec3_neg(trial.tilt[1]), 1e-15);
        assert_vec3_near(trial.tilt[4], ff_vec3_neg(trial.tilt[3]), 1e-15);
        assert_near(ff_vec3_dot(trial.tilt[1], trial.tilt[3]), 0.0, 1e-12);
    }
    free(scenario);
}

static void test_trial_out_of_a_joints_range_is_told(void **state) {
    (void)state;
    ff_plan plan;
    ff_scenario *scenario = load(&plan);
    ff_trial trial;
    char message[160] = "";
    ff_trial_plan(scenario, &plan, 0, &trial);
    for (int a = 3; a < 6; a++) {
        plan.body[0].arm.config.lower[a] = plan.body[0].home.a[a] - 0.05;
        plan.body[0].arm.config.upper[a] = plan.body[0].home.a[a] + 0.05;
    }
    assert_int_equal(ff_trial_reach(&trial, &plan.body[0], message, sizeof message), FF_ERR_REACH);
    assert_non_null(strstr(message, "cannot be made"));
    free(scenario);
}

/* Samples of a robot that follows the trial by a delay, and of a mock-up that is felt `skew` after its pose:
 * weight m g at its CoM, inertia -m a, turned into the sensor's axes about its origin, on a bias. Any mount,
 * any attitude; all of it comes back. */
static void test_fits_find_what_was_put_in(void **state) {
    (void)state;
    ff_plan plan;
    ff_scenario *scenario = load(&plan);
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 10);
    double spread = 0.0; /* sum of (error/sd)^2 */
    enum { RUNS = 40 };
    for (int n = 0; n < RUNS; n++) {
        plan.body[0].start.T = test_random_pose(&rng, 0.5);
        ff_trial trial;
        ff_trial_plan(scenario, &plan, 0, &trial);
        const double T = plan.cycle, mass = ff_rng_range(&rng, 2, 10), skew = ff_rng_range(&rng, 0, 4.0 * T),
                     delay = 0.016, noise = n % 2 ? 0.02 : 0.0;
        const ff_vec3 com = test_random_vec3(&rng, 0.1), g = ff_vec3_make(0, 0, -9.81);
        const ff_wrench bias = {.f = test_random_vec3(&rng, 5.0), .t = test_random_vec3(&rng, 0.5)};
        ff_wrench_config frames = {.T_bs = test_random_pose(&rng, 0.2), .gravity_w = g};
        const size_t count = (size_t)(trial.end / T);
        ff_trial_sample *sample = calloc(count, sizeof *sample);
        for (size_t k = 0; k < count; k++) {
            const double t = (double)k * T, h = 2e-3, then = t - delay - skew;
            sample[k].command = ff_trial_at(&trial, t);
            sample[k].robot = ff_trial_at(&trial, t - delay);
            const ff_setpoint felt = ff_trial_at(&trial, then);
            const ff_vec3 a = ff_vec3_scale(0.5 / h, ff_vec3_sub(ff_trial_at(&trial, then + h).twist.v,
                                                                 ff_trial_at(&trial, then - h).twist.v));
            const ff_vec3 f_b = ff_quat_unrotate(felt.T.q, ff_vec3_scale(mass, ff_vec3_sub(g, a)));
            const ff_vec3 arm_b = ff_vec3_sub(com, frames.T_bs.p);
            sample[k].f_s.f = ff_vec3_add(bias.f, ff_quat_unrotate(frames.T_bs.q, f_b));
            sample[k].f_s.t = ff_vec3_add(bias.t, ff_quat_unrotate(frames.T_bs.q, ff_vec3_cross(arm_b, f_b)));
            for (int i = 0; i < 3; i++) {
                sample[k].f_s.f.a[i] += noise * ff_rng_normal(&rng);
                sample[k].f_s.t.a[i] += 0.1 * noise * ff_rng_normal(&rng);
            }
        }
        char message[160] = "";
        ff_log_payload payload;
        if (ff_trial_weigh(&trial, &frames, sample, count, &payload, message, sizeof message) != FF_OK)
            fail_msg("%s", message);
        /* 500 samples; the weight moves by m g sin 0.3 */
        const double loose = noise > 0.0 ? 1.0 : 1e-5;
        assert_near(payload.mass.value, mass, 0.01 * loose);
        for (int i = 0; i < 3; i++)
            assert_near(payload.com[i].value, com.a[i], 1e-3 * loose);
        assert_vec3_near(payload.bias.f, bias.f, 0.05 * loose);
        assert_vec3_near(payload.bias.t, bias.t, 0.02 * loose);
        frames.mockup_mass = mass;
        frames.mockup_com_b = com;
        const double drift = ff_trial_drift(&trial, &frames, bias, sample, count);
        /* means of 100 samples on three axes */
        assert_true(noise > 0.0 ? drift > 0.0 && drift < 5.0 * noise / 10.0 : drift < 1e-9);
        ff_wrench off = bias;
        off.f.y += 1.0;
        assert_near(ff_trial_drift(&trial, &frames, off, sample, count), 1.0, 5.0 * noise / 10.0 + 1e-9);
        ff_log_delay found;
        assert_int_equal(ff_trial_time(&trial, sample, count, 0.2, &found, message, sizeof message), FF_OK);
        assert_near(found.delay.value, delay, 0.01 * T);
        ff_estimate old;
        const double behind = n % 3 ? 0.0 : 0.5 * T;
        if (ff_trial_align(&trial, &frames, behind, sample, count, &old, message, sizeof message) != FF_OK)
            fail_msg("%s", message);
        assert_near(old.value, skew - behind, noise > 0.0 ? 4.5 * old.sd : 0.02 * T);
        if (noise > 0.0)
            spread += (old.value - skew + behind) * (old.value - skew + behind) / (old.sd * old.sd);
        frames.environment = true; /* feels no inertia of what the robot carries */
        assert_true(ff_trial_align(&trial, &frames, 0.0, sample, count, &old, message, sizeof message) !=
                    FF_OK);
        frames.environment = false; /* nothing but noise: not seen */
        for (size_t k = 0; k < count; k++)
            for (int i = 0; i < 3; i++)
                sample[k].f_s.f.a[i] = 0.1 * ff_rng_normal(&rng);
        assert_true(ff_trial_align(&trial, &frames, 0.0, sample, count, &old, message, sizeof message) !=
                    FF_OK);
        free(sample);
    }
    /* what the fit says of itself is true: chi2 of 20 */
    spread /= 0.5 * RUNS;
    print_message("(error/sd)^2 %.2f in the mean\n", spread);
    assert_true(spread > 0.3 && spread < 2.3);
    free(scenario);
}

/* The arm's own joints along a motion of theirs: the smallest distance from an end, above or below, and when;
 * the last state, too; of the body that is asked for. */
static void test_margin_of_a_motion_of_the_joints(void **state) {
    (void)state;
    ff_plan plan;
    ff_scenario *scenario = load(&plan);
    ff_plan_body *body = &plan.body[0];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 13);
    enum { SAMPLES = 48 }; /* every fifth is looked at, and the last */
    for (int n = 0; n < 60; n++) {
        const int axis = n % 6;
        const double way = n / 6 % 2 ? 0.2 : -0.2;
        ff_rigid_state motion[2 * SAMPLES];
        for (int k = 0; k < SAMPLES; k++) {
            ff_arm_joints j = body->home;
            j.a[axis] += way * k / (SAMPLES - 1);
            const ff_pose T = ff_arm_forward(&body->arm, &j);
            motion[2 * k] = (ff_rigid_state){.position = T.p, .attitude = T.q};
            motion[2 * k + 1] = (ff_rigid_state){.position = {{9, 9, 9}}, .attitude = ff_quat_identity()};
        }
        ff_plan_body narrow = *body;
        double *end = way > 0.0 ? &narrow.arm.config.upper[axis] : &narrow.arm.config.lower[axis];
        const double left = 0.01 + 0.02 * ff_rng_uniform(&rng);
        *end = body->home.a[axis] + way + copysign(left, way);
        double when;
        assert_near(ff_check_margin(&narrow, motion, 2, SAMPLES, 0.004, &when), left, 1e-9);
        assert_near(when, 0.004 * (SAMPLES - 1), 1e-12);
        /* beyond the end: by how much, at the first state looked at that is */
        *end = body->home.a[axis] + 0.5 * way;
        const double first = 25.0, over = 0.2 * first / (SAMPLES - 1) - 0.1;
        for (int a = 0; a < 6; a++) /* no other branch may continue */
            if (a != axis) {
                narrow.arm.config.lower[a] = body->home.a[a] - 0.3;
                narrow.arm.config.upper[a] = body->home.a[a] + 0.3;
            }
        assert_near(ff_check_margin(&narrow, motion, 2, SAMPLES, 0.004, &when), -over, 1e-9);
        assert_near(when, 0.004 * first, 1e-12);
    }
    free(scenario);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_push_is_judged_by_axis_and_sign),
        cmocka_unit_test(test_virtual_hand_is_felt),
        cmocka_unit_test(test_trial_keeps_its_promises),
        cmocka_unit_test(test_push_threshold),
        cmocka_unit_test(test_virtual_hand_as_written),
        cmocka_unit_test(test_push_at_its_edges),
        cmocka_unit_test(test_push_of_a_trembling_hand),
        cmocka_unit_test(test_table_keeps_its_first_no_go),
        cmocka_unit_test(test_rows_hold_what_was_judged),
        cmocka_unit_test(test_table_as_text_and_json),
        cmocka_unit_test(test_chirp_takes_half_of_the_tightest_limit),
        cmocka_unit_test(test_tilts_are_across_gravity),
        cmocka_unit_test(test_trial_out_of_a_joints_range_is_told),
        cmocka_unit_test(test_fits_find_what_was_put_in),
        cmocka_unit_test(test_margin_of_a_motion_of_the_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
