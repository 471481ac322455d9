/* The check before arming on a scripted station: two robots that follow with their delays, sensors with bias,
 * noise and a mock-up that weighs, a hand that pushes. The table must say what was put in. No socket, no
 * thread, no clock. */
#include "support.h"

#include "executive/executive.h"

enum { BODIES = 2, PAST = 64 };

/* What is really there. */
typedef struct truth_of {
    double mass;
    ff_vec3 com;
    ff_wrench bias;
    double noise;
    unsigned delay; /* [cycles] */
    bool deaf, crossed;
    double off, turned, creeps; /* [m] beside its start, [rad], [m] further after half of the standstill */
    double apart, apart_turned; /* [m], [rad] of the axes from the pose */
} truth_of;

static struct {
    ff_plan plan;
    truth_of is[BODIES];
    ff_setpoint sent[BODIES][PAST]; /* newest first */
    ff_arm_joints joints[BODIES];
    ff_wrench reading[BODIES][FF_PREFLIGHT_CYCLES]; /* at standstill */
    int readings;
    int asked[BODIES]; /* axis; -1: none */
    double since[BODIES];
    int shown;
    ff_rng rng;
} desk;

static ff_scenario scenario;
static ff_preflight preflight;
static ff_executive executive;
static ff_run_result result;

static ff_status open_desk(void *self, const double *lead, char *message, size_t size) {
    (void)self;
    (void)lead;
    (void)message;
    (void)size;
    return FF_OK;
}

static void offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal) {
    (void)self;
    (void)k;
    (void)next;
    (void)led;
    (void)nominal;
}

static ff_wrench hand(int i) {
    ff_wrench push = ff_wrench_zero();
    if (desk.asked[i] < 0 || desk.is[i].deaf)
        return push;
    desk.since[i] += desk.plan.cycle;
    if (!ff_push_virtual(desk.asked[i], desk.since[i], desk.is[i].noise, 500.0, &push))
        return ff_wrench_zero();
    if (desk.is[i].crossed) { /* x and y of the cable have changed places */
        const ff_vec3 f = push.f;
        push.f = ff_vec3_make(f.y, f.x, f.z);
    }
    return push;
}

static ff_status wait(void *self, ff_sample *sample) {
    (void)self;
    const bool stands = executive.guard.walk.state == FF_STATE_CHECK && !atomic_load(&preflight.measured);
    sample->speaks = true;
    sample->found = (ff_trip){.code = FF_TRIP_NONE};
    for (int i = 0; i < BODIES; i++) {
        const truth_of *is = &desk.is[i];
        ff_setpoint at = desk.sent[i][is->delay - 1];
        const ff_setpoint before = desk.sent[i][is->delay];
        ff_sample_body *body = &sample->body[i];
        at.T.p.y += is->off + (2 * desk.readings >= FF_PREFLIGHT_CYCLES ? is->creeps : 0.0);
        at.T.q = ff_quat_mul(at.T.q, ff_quat_exp(ff_vec3_make(0, 0, is->turned)));
        body->sensor = (ff_wrench_in){.T_wb = at.T, .twist = at.twist};
        body->sensor.acceleration =
            ff_twist_scale(1.0 / desk.plan.cycle, ff_twist_sub(at.twist, before.twist));
        ff_wrench_config carries = executive.loop.model->config.body[i].wrench;
        carries.mockup_mass = is->mass;
        carries.mockup_com_b = is->com;
        carries.mockup_inertia = (ff_mat3){0};
        ff_wrench f = ff_wrench_add(ff_wrench_mockup(&carries, &body->sensor), hand(i));
        f = ff_wrench_add(f, is->bias);
        for (int a = 0; a < 3; a++) {
            const double part = a == 2 * i ? 1.0 : 0.5; /* x of one, z of the other is the noisiest */
            f.f.a[a] += part * is->noise * ff_rng_normal(&desk.rng);
            f.t.a[a] += part * 0.1 * is->noise * ff_rng_normal(&desk.rng);
        }
        body->sensor.f_s = f;
        body->sent = (ff_sent){.to = desk.sent[i][0]};
        body->next = body->sent;
        body->rests = true;
        body->rest = at.T.p;
        body->device = (ff_sample_device){.reached = true, .moved = false};
        body->device.repeats = stands && desk.readings % 10 < 2 + i ? 1.0 : 0.0; /* a fifth, three tenths */
        ff_arm_info info;
        ff_pose by_axes = at.T;
        by_axes.p.z += is->apart;
        by_axes.q = ff_quat_mul(by_axes.q, ff_quat_exp(ff_vec3_make(is->apart_turned, 0, 0)));
        assert_int_equal(
            ff_arm_inverse(&desk.plan.body[i].arm, &by_axes, &desk.joints[i], &desk.joints[i], &info), FF_OK);
        body->device.joints = desk.joints[i];
        if (stands)
            desk.reading[i][desk.readings] = f;
        memmove(&desk.sent[i][1], &desk.sent[i][0], (PAST - 1) * sizeof desk.sent[i][0]);
    }
    desk.readings += stands;
    return FF_OK;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *order, ff_sent *sent) {
    (void)self;
    (void)k;
    (void)order;
    (void)measured_b;
    for (int i = 0; i < BODIES; i++) {
        if (led >> i & 1u)
            desk.sent[i][0] = command[i];
        else
            desk.sent[i][0].twist = ff_twist_zero();
        sent[i] = (ff_sent){.to = desk.sent[i][0]};
    }
}

static const ff_truth *truth(const void *self) {
    (void)self;
    return NULL;
}

static void range(const void *self, int body, double *force, double *torque) {
    (void)self;
    *force = body ? 400.0 : 500.0;
    *torque = 50.0;
}

static void bound(void *self, int body, const ff_safety_limits *limits, const ff_output_config *output) {
    (void)self;
    (void)body;
    (void)limits;
    (void)output;
}

static void show(void *self, int body, const char *text) {
    (void)self;
    desk.shown++;
    if (desk.asked[body] != ff_push_asked(text)) {
        desk.asked[body] = ff_push_asked(text);
        desk.since[body] = 0.0;
    }
}

static void release(void *self) {
    (void)self;
}

static bool stops(void *self) {
    (void)self;
    return false;
}

static ff_trip finds(void *self) {
    (void)self;
    return (ff_trip){.code = FF_TRIP_NONE};
}

static int asides;

static void see_aside(void *self, const ff_row *row) {
    (void)self;
    for (int i = 0; i < BODIES; i++) /* each body's own reading goes with it */
        assert_memory_equal(&row->body[i].sensor, &executive.in.sensor[i], sizeof row->body[i].sensor);
    assert_true(row->t < 0.0 || asides == 0 || row->aside);
    if (executive.guard.walk.state == FF_STATE_TEST &&
        preflight.testing) /* the longest ends where the run-up begins */
        assert_near(row->t,
                    ((double)preflight.trial_cycle - 1.0 - (double)desk.plan.runup) * desk.plan.cycle -
                        preflight.trial_end,
                    1e-9);
    asides++;
}

static char said[1024];

static void hear(void *self, double t, ff_event_level level, const char *text) {
    (void)self;
    (void)t;
    (void)level;
    if (strlen(said) + strlen(text) + 2 < sizeof said)
        strcat(strcat(said, text), "\n");
}

static bool arms;               /* the operator arms, two hundred cycles after the check */
static ff_wrench drift;         /* of the second sensor, since then */
static double shoved, twisted;  /* [m], [rad] the second robot, by somebody, since then */
static bool deaf_to[BODIES][2]; /* forces, torques */

static void check(const char *first, const char *second) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: preflight\ntime: {cycle: 0.004, duration: 0.4}\nmethod: direct\n"
             "facility: {gravity: [0, 0, -9.81]}\nsatellites:\n"
             "  one: {mass: 50, inertia: [5, 6, 7], velocity: [0.05, 0, 0], check: {%s},\n"
             "        robot: {kind: delay, delay: 0.02}}\n"
             "  two: {mass: 80, inertia: [5, 6, 7], position: [1, 0, 0], check: {%s},\n"
             "        robot: {kind: delay, delay: 0.032}}\n",
             first, second);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    const ff_sink sink = {.aside = see_aside, .say = hear};
    const ff_run_options options = {.sinks = &sink, .count = 1};
    memset(&preflight, 0, sizeof preflight);
    result = (ff_run_result){0};
    desk.readings = desk.shown = asides = 0;
    said[0] = 0;
    assert_int_equal(ff_plan_create(&scenario, &desk.plan, message, sizeof message), FF_OK);
    for (int i = 0; i < BODIES; i++) {
        desk.asked[i] = -1;
        desk.joints[i] = desk.plan.body[i].home;
        for (int n = 0; n < PAST; n++)
            desk.sent[i][n] = (ff_setpoint){ff_plan_runup(&desk.plan, i, -FF_INF).T, ff_twist_zero()};
    }
    assert_int_equal(ff_preflight_open(&preflight, &scenario, &desk.plan, true, message, sizeof message),
                     FF_OK);
    const ff_station station = {.self = &desk,
                                .devices = true,
                                .open = open_desk,
                                .offer = offer,
                                .wait = wait,
                                .write = write,
                                .truth = truth,
                                .range = range,
                                .bound = bound,
                                .show = show,
                                .release = release,
                                .close = release};
    if (ff_executive_open_devices(&executive, &scenario, station, &desk.plan, &preflight,
                                  (ff_attendant){NULL, stops, finds}, &options, NULL, &result) != FF_OK)
        fail_msg("%s", result.message);
    const ff_preflight_view view = {executive.loop.model, executive.phases.output, NULL,
                                    &executive.guard.config};
    int waited = 0;
    for (int n = 0; n < 20000 && !executive.ended; n++) {
        ff_executive_cycle(&executive);
        bool moves;
        if (atomic_load(&preflight.measured) && !atomic_load(&preflight.tests)) {
            ff_preflight_evaluate(&preflight, &view, false);
            assert_int_equal(preflight.check.no_go.code, FF_TRIP_NONE);
            for (int i = 0; i < BODIES; i++)
                for (int kind = 0; kind < 2; kind++)
                    if (deaf_to[i][kind])
                        preflight.body[i].threshold[kind] = 1e6;
            if (ff_preflight_has_tests(&preflight, &moves))
                atomic_store(&preflight.tests, true);
            else
                atomic_store(&preflight.refused, true);
        } else if (atomic_load(&preflight.tested) && !atomic_load(&preflight.refused)) {
            ff_preflight_evaluate(&preflight, &view, true);
            atomic_store(arms ? &preflight.passed : &preflight.refused, true);
            if (arms && executive.guard.walk.state == FF_STATE_ZEROED && ++waited == 200) {
                desk.is[1].bias = ff_wrench_add(desk.is[1].bias, drift);
                desk.is[1].off += shoved;
                desk.is[1].turned += twisted;
                preflight.renewed = false;
                preflight.renewing = 0;
                for (int i = 0; i < BODIES; i++)
                    preflight.body[i].again = ff_wrench_zero();
                atomic_store(&preflight.armed, true);
            }
        }
        if (executive.guard.walk.state == FF_STATE_RUNUP)
            break;
    }
    if (arms)
        return;
    assert_true(executive.ended);
    assert_int_equal(desk.readings, FF_PREFLIGHT_CYCLES);
    ff_executive_close(&executive);
}

static const ff_check_row *row_of(int body, const char *key) {
    for (int r = 0; r < preflight.check.rows; r++)
        if (preflight.check.row[r].body == body && !strcmp(preflight.check.row[r].key, key))
            return &preflight.check.row[r];
    return NULL;
}

static double value_of(int body, const char *key, ff_check_verdict verdict) {
    const ff_check_row *row = row_of(body, key);
    if (!row)
        fail_msg("%d: no %s", body, key);
    if (row->verdict != verdict)
        fail_msg("%d: %s is %g, limit %g: %d %s", body, key, row->value, row->limit, row->verdict,
                 row->reason);
    return row->value;
}

static void put_in(double noise) {
    for (int i = 0; i < BODIES; i++) {
        desk.is[i] = (truth_of){.mass = i ? 9.0 : 4.0,
                                .com = {{0.02, i ? -0.03 : 0.05, 0.1}},
                                .bias = {{{0.1, -0.2, 0.3}}, {{3.0 - i, -2.0, 1.0 + i}}},
                                .noise = (1 + i) * noise,
                                .delay = i ? 8 : 5};
    }
}

/* Of the noisiest axis of force or torque at standstill. */
static double largest_sd(int i, bool torque) {
    double sd = 0.0;
    for (int a = 0; a < 3; a++) {
        double sum = 0.0, square = 0.0;
        for (int pass = 0; pass < 2; pass++)
            for (int n = 0; n < FF_PREFLIGHT_CYCLES; n++) {
                const ff_wrench *w = &desk.reading[i][n];
                const double x = torque ? w->t.a[a] : w->f.a[a];
                if (pass)
                    square += pow(x - sum, 2.0) / FF_PREFLIGHT_CYCLES;
                else
                    sum += x / FF_PREFLIGHT_CYCLES;
            }
        sd = fmax(sd, sqrt(square));
    }
    return sd;
}

/* At standstill: mean less weight, sd of the noisiest axis, nothing apart from where it should be. */
static void judge_standstill(void) {
    for (int i = 0; i < BODIES; i++) {
        const double sd = largest_sd(i, false), sd_torque = largest_sd(i, true);
        assert_near(value_of(i, "force_noise_N", FF_CHECK_SHOWN), sd, 1e-9 + 1e-9 * sd);
        assert_near(value_of(i, "torque_noise_Nm", FF_CHECK_SHOWN), sd_torque, 1e-9 + 1e-9 * sd_torque);
        const truth_of *is = &desk.is[i];
        const double deg = FF_PI / 180.0;
        assert_near(value_of(i, "kinematics_mm", FF_CHECK_GO), 1e3 * is->apart, 1e-6);
        assert_near(value_of(i, "kinematics_deg", FF_CHECK_GO), is->apart_turned / deg, 1e-5);
        assert_near(value_of(i, "start_mm", FF_CHECK_GO), 1e3 * is->off, 1e-9);
        assert_near(value_of(i, "start_deg", FF_CHECK_GO), is->turned / deg, 1e-5);
        assert_near(value_of(i, "standstill_mm", FF_CHECK_GO), 1e3 * is->creeps, 1e-9);
        static const struct {
            const char *key;
            double limit;
        } rows[] = {{"kinematics_mm", 1.0}, {"kinematics_deg", 0.1}, {"start_mm", 1.0},
                    {"start_deg", 0.1},     {"standstill_mm", 1.0},  {"w_tau", 0.5}};
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            assert_near(row_of(i, rows[r].key)->limit, rows[r].limit, 0.0);
        assert_near(value_of(i, "start_speed_mps", FF_CHECK_GO), i ? 0.0 : 0.05, 1e-15);
        assert_near(value_of(i, "start_turn_radps", FF_CHECK_GO), 0.0, 1e-15);
        assert_near(row_of(i, "start_speed_mps")->limit, 2.0, 0.0);
        assert_near(row_of(i, "start_turn_radps")->limit, 3.0, 0.0);
        assert_near(row_of(i, "peak_force_range_N")->limit, i ? 400.0 : 500.0, 0.0);
        assert_near(row_of(i, "bias_N")->limit, i ? 200.0 : 250.0, 0.0);
        assert_near(preflight.body[i].threshold[0], fmax(2.0, 10.0 * sd), 1e-4);
        assert_near(preflight.body[i].threshold[1], fmax(0.2, 10.0 * sd_torque), 1e-4);
        assert_near(executive.guard.config.contact[i], fmax(1e-3, 5.0 * sd), 1e-4);
        assert_near(preflight.check.body[i].repeated, 0.1 * (2 + i), 1e-15);
    }
}

static void test_what_was_put_in_is_found(void **state) {
    (void)state;
    ff_rng_seed(&desk.rng, test_seed(), 1);
    const double noises[] = {0.0, 0.02};
    for (int n = 0; n < 2; n++) {
        const double noise = noises[n];
        put_in(noise);
        check("delay: chirp", "delay: chirp");
        assert_int_equal(preflight.check.no_go.code, FF_TRIP_NONE);
        judge_standstill();
        for (int i = 0; i < BODIES; i++) {
            const truth_of *is = &desk.is[i];
            /* a mean of 100 samples at each of four tilts of 4.5 degrees at least: sd/10 over 0.078 g */
            const double mass = 1e-4 + 5.0 * is->noise / 10.0 / (0.078 * 9.81);
            assert_near(value_of(i, "mockup_mass_kg", FF_CHECK_GO), is->mass, mass);
            assert_near(value_of(i, "mockup_com_x_m", FF_CHECK_SHOWN), is->com.x, 1e-4 + mass / is->mass);
            assert_near(value_of(i, "mockup_com_y_m", FF_CHECK_SHOWN), is->com.y, 1e-4 + mass / is->mass);
            assert_near(value_of(i, "mockup_com_z_m", FF_CHECK_SHOWN), is->com.z, 1e-3 + mass / is->mass);
            const ff_wrench bias = preflight.check.body[i].bias;
            assert_vec3_near(bias.f, is->bias.f, 2e-3 + 10.0 * mass);
            /* docs/safety.md: within a thousandth of a cycle */
            assert_near(value_of(i, "delay_ms", FF_CHECK_SHOWN), 4.0 * is->delay, 0.004);
            assert_near(value_of(i, "delay_error_cycles", FF_CHECK_GO), 0.0, 0.001);
            /* inertia and motion are of one instant; docs/safety.md: sd 0.24 ms with 0.1 N and 5 kg */
            assert_near(value_of(i, "skew_ms", FF_CHECK_SHOWN), 0.0,
                        0.02 + 6.0 * 0.24 * is->noise / 0.1 * 5.0 / is->mass);
            assert_true(preflight.check.body[i].timed && preflight.check.body[i].weighed);
            for (int axis = 0; axis < 6; axis++) {
                static const char *const key[] = {"push_x",  "push_y",  "push_z",
                                                  "twist_x", "twist_y", "twist_z"};
                assert_true(value_of(i, key[axis], FF_CHECK_GO) <= 0.5);
                assert_int_equal(preflight.check.body[i].push[axis].seen, axis);
            }
        }
        assert_true(asides > 1000 && desk.shown > 12);
        assert_non_null(strstr(said, "one: push +x along the mock-up's axis, then let go"));
        assert_non_null(strstr(said, "two: twist +z about the mock-up's axis, right-handed, then let go"));
        ff_preflight_close(&preflight);
    }
}

/* What the scenario leaves out stands in the table with its reason, and the rest is still judged. */
static void test_what_is_left_out_is_said(void **state) {
    (void)state;
    ff_rng_seed(&desk.rng, test_seed(), 2);
    put_in(0.0);
    desk.is[0].mass = desk.is[1].mass = 0.0;
    desk.is[0].off = 0.0003;
    desk.is[0].turned = 0.0008;
    desk.is[0].creeps = 0.0002;
    desk.is[0].apart = 0.0004;
    desk.is[0].apart_turned = 0.0006;
    check("push: skip, weight: scenario", "push: skip, delay: chirp, weight: scenario");
    assert_int_equal(preflight.check.no_go.code, FF_TRIP_NONE);
    judge_standstill();
    for (int i = 0; i < BODIES; i++) {
        assert_non_null(strstr(row_of(i, "mockup_mass_kg")->reason, "weight: scenario"));
        value_of(i, "mockup_mass_kg", FF_CHECK_SKIPPED);
        value_of(i, "push", FF_CHECK_SKIPPED);
        /* bias 3 -2 1 and 2 -2 2 */
        assert_near(value_of(i, "bias_N", FF_CHECK_GO), i ? sqrt(12.0) : sqrt(14.0), 1e-4);
    }
    assert_near(value_of(0, "delay_ms", FF_CHECK_SHOWN), 20.0, 1e-12);
    assert_null(row_of(0, "delay_error_cycles"));
    assert_non_null(row_of(1, "delay_error_cycles"));
    value_of(1, "skew_ms", FF_CHECK_SKIPPED); /* nothing hangs there that would be felt */
    assert_true(desk.shown == 0);
    ff_preflight_close(&preflight);
}

/* A sensor whose axes are crossed, and one that feels nothing: no-go, and the second is not asked six times.
 */
static void test_wrong_sensors_are_a_no_go(void **state) {
    (void)state;
    ff_rng_seed(&desk.rng, test_seed(), 3);
    put_in(0.0);
    desk.is[0].mass = desk.is[1].mass = 0.0;
    desk.is[0].crossed = desk.is[1].deaf = true;
    check("weight: scenario", "weight: scenario, wait: 0.5");
    assert_int_equal(preflight.check.no_go.code, FF_TRIP_PUSH);
    assert_int_equal(preflight.check.no_go.body, 0);
    value_of(0, "push_x", FF_CHECK_NO_GO);
    value_of(0, "push_y", FF_CHECK_NO_GO);
    value_of(0, "push_z", FF_CHECK_GO);
    value_of(0, "twist_x", FF_CHECK_GO);
    assert_int_equal(preflight.check.body[0].push[0].seen, 1);
    value_of(1, "push_x", FF_CHECK_NO_GO);
    assert_null(row_of(1, "push_y"));
    char *json = ff_check_json(&scenario, &preflight.check),
         *text = ff_check_text(&scenario, &preflight.check);
    assert_non_null(strstr(json, "\"push_x\""));
    assert_non_null(strstr(json, "\"no-go\""));
    assert_non_null(strstr(json, "\"two\""));
    assert_non_null(strstr(json, "\"code\": \"PUSH\""));
    assert_non_null(strstr(json, "\"go\": false"));
    assert_non_null(strstr(json, "\"limit\": 0.5"));
    assert_non_null(strstr(json, "\"verdict\": \"shown\""));
    assert_non_null(strstr(json, "\"reason\": \""));
    assert_non_null(strstr(text, "check: no-go, PUSH: "));
    assert_non_null(strstr(text, "no-go"));
    free(json);
    free(text);
    ff_preflight_close(&preflight);
}

/* What the sensor drifts while the operator decides is taken off at arming; more than a push is a fault. */
static void test_the_zero_is_renewed_at_arming(void **state) {
    (void)state;
    const double change[] = {0.0, 1.5, -1.9, 2.5, 5.0};
    for (size_t n = 0; n < sizeof change / sizeof *change; n++) {
        memset(desk.is, 0, sizeof desk.is);
        for (int i = 0; i < BODIES; i++)
            desk.is[i] =
                (truth_of){.delay = 5 + 3 * (unsigned)i,
                           .bias = {.f = ff_vec3_make(3.0, -2.0, 1.0 + i), .t = ff_vec3_make(0.1, 0.2, 0.3)}};
        drift = (ff_wrench){.f = ff_vec3_make(0.0, change[n], 0.0)};
        arms = true;
        check("delay: scenario, weight: scenario", "delay: scenario, weight: scenario");
        arms = false;
        const bool fine = fabs(change[n]) < 2.0;
        ff_loop_calibration c;
        ff_loop_calibrated(executive.loop.model, &c);
        assert_int_equal(executive.guard.walk.state == FF_STATE_RUNUP, fine);
        if (fine) {
            assert_vec3_near(c.sensor[0].bias_s.f, ff_vec3_make(3.0, -2.0, 1.0), 1e-12);
            assert_vec3_near(c.sensor[1].bias_s.f, ff_vec3_make(3.0, -2.0 + change[n], 2.0), 1e-12);
            assert_vec3_near(c.sensor[1].bias_s.t, ff_vec3_make(0.1, 0.2, 0.3), 1e-12);
        } else {
            assert_int_equal(executive.guard.walk.cause.code, FF_TRIP_ZERO);
            assert_int_equal(executive.guard.walk.cause.body, 1);
            assert_near(executive.guard.walk.cause.value, fabs(change[n]), 1e-9);
            assert_near(executive.guard.walk.cause.limit, 2.0, 1e-12);
            assert_true(executive.ended);
        }
        ff_executive_close(&executive);
    }
}

/* A robot that was moved while the operator decides is not armed: within the check's 1 mm and 0.1 degrees it
 * is led to the start, beyond them it is a fault that names how far. */
static void test_a_robot_moved_before_arming_is_a_fault(void **state) {
    (void)state;
    const struct { double mm, deg; } by[] = {{0.9, 0.0}, {0.0, 0.09}, {1.1, 0.0}, {0.0, 0.11}, {300.0, 5.0}};
    for (size_t n = 0; n < sizeof by / sizeof *by; n++) {
        memset(desk.is, 0, sizeof desk.is);
        drift = ff_wrench_zero();
        for (int i = 0; i < BODIES; i++)
            desk.is[i].delay = 5;
        shoved = -1e-3 * by[n].mm;
        twisted = FF_PI / 180.0 * by[n].deg;
        arms = true;
        check("delay: scenario, weight: scenario", "delay: scenario, weight: scenario");
        arms = false;
        const bool fine = n < 2;
        assert_int_equal(executive.guard.walk.state == FF_STATE_RUNUP, fine);
        if (!fine) {
            const ff_trip *cause = &executive.guard.walk.cause;
            assert_int_equal(cause->code, FF_TRIP_START);
            assert_int_equal(cause->body, 1);
            assert_near(cause->value, by[n].mm > 1.0 ? by[n].mm : by[n].deg, 1e-9);
            assert_near(cause->limit, by[n].mm > 1.0 ? 1.0 : 0.1, 0.0);
            assert_true(executive.ended);
        }
        ff_executive_close(&executive);
    }
    shoved = twisted = 0.0;
}

/* Forces and torques have thresholds of their own: with one that no hand reaches the other three are seen. */
static void test_thresholds_of_force_and_torque(void **state) {
    (void)state;
    ff_rng_seed(&desk.rng, test_seed(), 4);
    put_in(0.0);
    desk.is[0].mass = desk.is[1].mass = 0.0;
    deaf_to[0][1] = deaf_to[1][0] = true;
    check("weight: scenario, wait: 0.5", "weight: scenario, wait: 0.5");
    deaf_to[0][1] = deaf_to[1][0] = false;
    value_of(0, "push_x", FF_CHECK_GO);
    value_of(0, "push_z", FF_CHECK_GO);
    value_of(0, "twist_x", FF_CHECK_NO_GO);
    assert_null(row_of(0, "twist_y"));
    value_of(1, "push_x", FF_CHECK_NO_GO);
    ff_preflight_close(&preflight);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_zero_is_renewed_at_arming),
        cmocka_unit_test(test_a_robot_moved_before_arming_is_a_fault),
        cmocka_unit_test(test_what_was_put_in_is_found),
        cmocka_unit_test(test_what_is_left_out_is_said),
        cmocka_unit_test(test_wrong_sensors_are_a_no_go),
        cmocka_unit_test(test_thresholds_of_force_and_torque),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
