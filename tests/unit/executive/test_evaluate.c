/* The table that is made of what was measured before arming, without a cycle: sums at standstill, samples of
 * the small motions and pushes are put in; each row must have its value, its limit, its code and its reason.
 */
#include "support.h"

#include "executive/preflight.h"

enum { BODIES = 2 };

static ff_scenario scenario;
static ff_plan plan;
static ff_preflight p;
static ff_loop_model model;
static ff_output_config output[BODIES];
static ff_safety_config safety;
static ff_ideal_result ideal;
static const ff_preflight_view view = {&model, output, &ideal, &safety};

/* 50 and 80 kg; the second touches a wall of 2000 N/m at 0.1 m/s behind 32 ms and a cycle: w tau 0.18. */
static void open_check(const char *first, const char *second, bool virtual) {
    char text[1024], message[256] = "", warnings[512] = "";
    snprintf(text, sizeof text,
             "name: evaluate\ntime: {cycle: 0.004, duration: 0.4}\nmethod: direct\n"
             "facility: {gravity: [0, 0, -9.81]}\nsatellites:\n"
             "  one: {mass: 50, inertia: [5, 6, 7], check: {%s}, robot: {kind: delay, delay: 0.02}}\n"
             "  two: {mass: 80, inertia: [5, 6, 7], velocity: [0, 0.1, 0], angular_velocity: [0, 0, 0.05],\n"
             "        check: {%s}, safety: {force: 60}, robot: {kind: delay, delay: 0.032}}\n"
             "contacts:\n"
             "  - {kind: wall, body: two, point: [0, 0.2, 0], at: [0, 2, 0], normal: [0, -1, 0], "
             "stiffness: 2000}\n",
             first, second);
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK ||
        ff_plan_create(&scenario, &plan, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    memset(&p, 0, sizeof p);
    ideal = (ff_ideal_result){0};
    assert_int_equal(ff_preflight_open(&p, &scenario, &plan, virtual, message, sizeof message), FF_OK);
    for (int i = 0; i < BODIES; i++) {
        output[i] = plan.body[i].output;
        p.body[i].first = ff_plan_runup(&plan, i, -FF_INF).T;
        model.config.body[i].wrench = (ff_wrench_config){.T_bs = ff_pose_identity(),
                                                         .gravity_w = {{0, 0, -9.81}},
                                                         .force_limit = i ? 400.0 : 500.0,
                                                         .torque_limit = 40.0};
    }
}

/* Readings at standstill: their mean and the deviation of each axis. */
static void stand(int i, ff_wrench mean, ff_wrench sd) {
    const double n = FF_PREFLIGHT_CYCLES;
    p.body[i].sum = ff_wrench_scale(n, mean);
    p.body[i].reading = ff_wrench_add(mean, sd); /* one sd away, and so is what is summed */
    for (int a = 0; a < 3; a++) {
        p.body[i].square.f.a[a] = n * 2.0 * sd.f.a[a] * sd.f.a[a];
        p.body[i].square.t.a[a] = n * 2.0 * sd.t.a[a] * sd.t.a[a];
    }
}

static const ff_check_row *row_of(int body, const char *key) {
    for (int r = 0; r < p.check.rows; r++)
        if (p.check.row[r].body == body && !strcmp(p.check.row[r].key, key))
            return &p.check.row[r];
    fail_msg("%d: no %s", body, key);
    return NULL;
}

static bool has_row(int body, const char *key) {
    for (int r = 0; r < p.check.rows; r++)
        if (p.check.row[r].body == body && !strcmp(p.check.row[r].key, key))
            return true;
    return false;
}

static void expect(int body, const char *key, ff_check_verdict verdict, double value, double limit,
                   const char *unit, double tolerance) {
    const ff_check_row *row = row_of(body, key);
    if (row->verdict != verdict || !(fabs(row->value - value) <= tolerance) || strcmp(row->unit, unit) ||
        !(isnan(limit) ? isnan(row->limit) : row->limit == limit))
        fail_msg("%d %s: verdict %d, %.15g, limit %.15g %s; not %d, %.15g, %.15g %s: %s", body, key,
                 row->verdict, row->value, row->limit, row->unit, verdict, value, limit, unit, row->reason);
}

static void expect_text(int body, const char *key, ff_check_verdict verdict, const char *what,
                        const char *reason) {
    const ff_check_row *row = row_of(body, key);
    assert_int_equal(row->verdict, verdict);
    assert_string_equal(row->what, what);
    assert_string_equal(row->reason, reason);
}

/* Each limit of the standstill, a thousandth below and above: its row, its code, its body. */
static void test_standstill_at_its_limits(void **state) {
    (void)state;
    static const struct {
        const char *key, *what, *unit;
        double limit;
        ff_trip_code code;
    } is[] = {{"kinematics_mm", "axes against pose", "mm", 1.0, FF_TRIP_KINEMATICS},
              {"kinematics_deg", "axes against pose", "deg", 0.1, FF_TRIP_KINEMATICS},
              {"start_mm", "from the start of the run", "mm", 1.0, FF_TRIP_START},
              {"start_deg", "from the start of the run", "deg", 0.1, FF_TRIP_START},
              {"standstill_mm", "moved at standstill", "mm", 1.0, FF_TRIP_STANDSTILL},
              {"bias_N", "bias and 5 sd of the noise", "N", 200.0, FF_TRIP_BIAS}};
    open_check("push: skip, weight: scenario", "push: skip, weight: scenario", true);
    const ff_pose park = p.body[1].first;
    for (int which = 0; which < 6; which++)
        for (int above = 0; above < 2; above++) {
            const double x = above ? 1.001 : 0.999, deg = FF_PI / 180.0;
            ff_preflight_body *b = &p.body[1];
            stand(0, ff_wrench_zero(), ff_wrench_zero());
            stand(1, ff_wrench_zero(), ff_wrench_zero());
            b->first = park;
            b->apart = which == 0 ? 0.001 * x : 0.0;
            b->apart_angle = which == 1 ? 0.1 * deg * x : 0.0;
            if (which == 2)
                b->first.p.z -= 0.001 * x;
            if (which == 3)
                b->first.q = ff_quat_mul(park.q, ff_quat_exp(ff_vec3_make(0, 0.1 * deg * x, 0)));
            b->moved = which == 4 ? 0.001 * x : 0.0;
            if (which == 5) /* 150 N and 5 times 10 N */
                stand(1, (ff_wrench){.f = {{0, 90 * x, -120 * x}}}, (ff_wrench){.f = {{0, 10 * x, 1}}});
            ff_preflight_evaluate(&p, &view, false);
            expect(1, is[which].key, above ? FF_CHECK_NO_GO : FF_CHECK_GO, is[which].limit * x,
                   is[which].limit, is[which].unit, 1e-6 * is[which].limit);
            expect_text(1, is[which].key, above ? FF_CHECK_NO_GO : FF_CHECK_GO, is[which].what,
                        above ? ff_trip_text(is[which].code) : "");
            assert_int_equal(p.check.no_go.code, above ? is[which].code : FF_TRIP_NONE);
            if (above)
                assert_int_equal(p.check.no_go.body, 1);
            for (int n = 0; n < 6; n++) /* and no other is touched by it */
                if (n != which && !(n == 5 && which == 5))
                    assert_int_equal(row_of(1, is[n].key)->verdict, FF_CHECK_GO);
            expect(0, is[which].key, FF_CHECK_GO, 0.0, which == 5 ? 250.0 : is[which].limit, is[which].unit,
                   1e-4);
        }
    ff_preflight_close(&p);
}

/* Noise by the noisiest axis of force and of torque; drift of its mean; thresholds of contact and push. */
static void test_noise_drift_and_thresholds(void **state) {
    (void)state;
    open_check("push: skip", "push: skip", true);
    for (int axis = 0; axis < 3; axis++) {
        ff_wrench mean = {.f = {{3, -2, 1}}, .t = {{0.3, 0.2, -0.1}}}, sd = ff_wrench_zero();
        sd.f.a[axis] = 0.5;
        sd.f.a[(axis + 1) % 3] = 0.25;
        sd.t.a[axis] = 0.0625;
        stand(0, ff_wrench_zero(), ff_wrench_zero());
        stand(1, mean, sd);
        ff_preflight_evaluate(&p, &view, false);
        expect(1, "force_noise_N", FF_CHECK_SHOWN, 0.5, FF_NAN, "N", 1e-12);
        expect(1, "torque_noise_Nm", FF_CHECK_SHOWN, 0.0625, FF_NAN, "N m", 1e-12);
        expect(1, "drift_mmps2", FF_CHECK_SHOWN, 1e3 * 0.5 / 10.0 / 80.0, FF_NAN, "mm/s2", 1e-12);
        expect(1, "bias_N", FF_CHECK_GO, sqrt(14.0) + 2.5, 200.0, "N", 1e-12);
        assert_vec3_near(p.check.body[1].bias.f, mean.f, 1e-12);
        assert_vec3_near(p.check.body[1].bias.t, mean.t, 1e-12);
        assert_near(safety.contact[0], 1e-3, 0.0);
        assert_near(safety.contact[1], 2.5, 1e-12);
        assert_near(p.body[0].threshold[0], 2.0, 0.0);
        assert_near(p.body[0].threshold[1], 0.2, 0.0);
        assert_near(p.body[1].threshold[0], 5.0, 1e-12);
        assert_near(p.body[1].threshold[1], 0.625, 1e-12);
        assert_false(has_row(1, "delay_ms")); /* nothing was tested yet */
    }
    expect_text(1, "force_noise_N", FF_CHECK_SHOWN, "force noise, sd", "");
    expect_text(1, "torque_noise_Nm", FF_CHECK_SHOWN, "torque noise, sd", "");
    expect_text(1, "drift_mmps2", FF_CHECK_SHOWN, "residual drift", "");
    ff_preflight_close(&p);
}

/* What the scenario says to hang there is no bias: 10 kg at 0.1 m, in the axes of the sensor. One that stands
 * in the environment does not carry it. */
static void test_bias_is_without_the_weight(void **state) {
    (void)state;
    open_check("push: skip", "push: skip", true);
    ff_wrench_config *wrench = &model.config.body[1].wrench;
    wrench->mockup_mass = 10.0;
    wrench->mockup_com_b = ff_vec3_make(0.1, 0, 0);
    wrench->T_bs = (ff_pose){ff_quat_exp(ff_vec3_make(0, 0, 0.5 * FF_PI)), ff_vec3_make(0, 0.2, 0)};
    p.body[1].first.q = ff_quat_exp(ff_vec3_make(0.5 * FF_PI, 0, 0)); /* down is -y of the body */
    /* -98.1 N along the body's y are along the sensor's x; arm (0.1, -0.2, 0) in body axes: -9.81 N m about z
     */
    const ff_wrench bias = {.f = {{1, 2, 3}}, .t = {{4, 5, 6}}},
                    read = {.f = {{1 - 98.1, 2, 3}}, .t = {{4, 5, 6 - 9.81}}};
    for (int environment = 0; environment < 2; environment++) {
        wrench->environment = environment;
        stand(1, read, ff_wrench_zero());
        ff_preflight_evaluate(&p, &view, false);
        assert_vec3_near(p.check.body[1].bias.f, environment ? read.f : bias.f, 1e-9);
        assert_vec3_near(p.check.body[1].bias.t, environment ? read.t : bias.t, 1e-9);
    }
    ff_preflight_close(&p);
}

/* Time to rest from V with the acceleration a in progress, in small steps: it is taken back with the jerk J,
 * then the velocity falls as fast as d and J allow, and the deceleration is taken back in time. */
static double rests_after(double V, double a, double d, double J) {
    const double dt = 2e-5 * (a / J + V / d + d / J + sqrt(V / J));
    double t = 0.0, v = V - a * a / (2.0 * J);
    for (; a > 0.0; t += dt) {
        v += a * dt;
        a -= J * dt;
    }
    for (a = 0.0; t < 1e6; t += dt) {
        const double j = v > a * a / (2.0 * J) ? -J : J;
        a = fmax(a + j * dt, -d);
        v += a * dt;
        if (j > 0.0 && a >= 0.0)
            break;
    }
    return t;
}

/* A stop that would take more than a minute is a no-go: from the largest velocity, which the acceleration in
 * progress must lead to, not beyond. */
static void test_the_longest_stop(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 31);
    open_check("push: skip", "push: skip", true);
    int no_go = 0;
    for (int n = 0; n < 40; n++) {
        double longest = 0.0;
        for (int turn = 0; turn < 2; turn++) {
            const bool slow = n % 2 == turn;
            const double V = exp(ff_rng_range(&rng, log(0.2), log(2.0))),
                         A = exp(ff_rng_range(&rng, log(slow ? 0.01 : 1.0), log(5.0))),
                         J = exp(ff_rng_range(&rng, log(slow ? 1e-4 : 1.0), log(100.0))),
                         d = exp(ff_rng_range(&rng, log(slow ? 0.01 : 0.5), log(5.0)));
            ff_output_config *o = &output[1];
            *(turn ? &o->angular_velocity : &o->velocity) = V;
            *(turn ? &o->angular_acceleration : &o->acceleration) = A;
            *(turn ? &o->angular_jerk : &o->jerk) = n < 4 ? FF_INF : J;
            *(turn ? &o->stop_angular_acceleration : &o->stop_acceleration) = d;
            const double brakes = fmin(A, d);
            longest =
                fmax(longest, n < 4 ? V / brakes : rests_after(V, fmin(A, sqrt(2.0 * J * V)), brakes, J));
        }
        ff_preflight_evaluate(&p, &view, false);
        if (fabs(longest - 60.0) < 0.6) /* in small steps */
            continue;
        const bool too_long = longest > 60.0;
        expect(1, "stop_s", too_long ? FF_CHECK_NO_GO : FF_CHECK_GO, longest, 60.0, "s", 0.01 * longest);
        if (too_long)
            assert_int_equal(p.check.no_go.code, FF_TRIP_NO_GO);
        no_go += too_long;
    }
    assert_true(no_go > 3 && no_go < 30);
    output[1] = plan.body[1].output;
    ff_preflight_close(&p);
}

/* The contact that is to be expected: sqrt(k/m) times delay, v sqrt(k m) exp(w tau), the spin's part of v at
 * 0.2 m with it; the speed at the start. */
static void test_forecast_and_start(void **state) {
    (void)state;
    open_check("push: skip", "push: skip", true);
    const double w = sqrt(2000.0 / 80.0), w_tau = w * 0.036,
                 force = (0.1 + 0.05 * 0.2) * sqrt(2000.0 * 80.0) * exp(w_tau);
    for (int n = 0; n < 7; n++) {
        output[1].velocity = n == 1 ? 0.0999 : 0.1001;
        output[1].angular_velocity = n == 2 ? 0.0499 : 0.0501;
        scenario.satellite[1].safety.force = n == 3 ? 0.999 * force : 1.001 * force;
        model.config.body[1].wrench.force_limit = n == 4 ? 0.999 * force : 1.001 * force;
        scenario.method = &ff_method_direct;
        scenario.contact[0].stiffness = 2000.0;
        if (n == 5)
            scenario.satellite[1].robot.delay = 0.501 / w - 0.004;
        if (n == 6)
            scenario.satellite[1].robot.delay = 0.499 / w - 0.004;
        ff_preflight_evaluate(&p, &view, false);
        expect(1, "start_speed_mps", n == 1 ? FF_CHECK_NO_GO : FF_CHECK_GO, 0.1, output[1].velocity, "m/s",
               1e-15);
        expect(1, "start_turn_radps", n == 2 ? FF_CHECK_NO_GO : FF_CHECK_GO, 0.05, output[1].angular_velocity,
               "rad/s", 1e-15);
        expect(0, "start_speed_mps", FF_CHECK_GO, 0.0, output[0].velocity, "m/s", 1e-15);
        expect(1, "w_tau", n == 5 ? FF_CHECK_NO_GO : FF_CHECK_GO,
               n == 5   ? 0.501
               : n == 6 ? 0.499
                        : w_tau,
               0.5, "", 1e-12);
        expect(0, "w_tau", FF_CHECK_GO, 0.0, 0.5, "", 0.0);
        if (n < 5) {
            expect(1, "peak_force_N", n == 3 ? FF_CHECK_NO_GO : FF_CHECK_GO, force,
                   scenario.satellite[1].safety.force, "N", 1e-9);
            expect(1, "peak_force_range_N", n == 4 ? FF_CHECK_NO_GO : FF_CHECK_GO, force,
                   model.config.body[1].wrench.force_limit, "N", 1e-9);
            static const ff_trip_code code[] = {FF_TRIP_NONE, FF_TRIP_VELOCITY, FF_TRIP_ANGULAR_VELOCITY,
                                                FF_TRIP_FORCE, FF_TRIP_RANGE};
            assert_int_equal(p.check.no_go.code, code[n]);
        }
    }
    assert_false(has_row(0, "joint_margin_deg")); /* without the true motion nothing is said of it */
    ff_preflight_close(&p);
}

/* The true motion: how near to an end of a joint it comes, where it leaves, where the arm does not reach; how
 * fast its axes must be. */
static void test_true_motion_is_judged(void **state) {
    (void)state;
    open_check("push: skip", "push: skip", true);
    enum { SAMPLES = 11 };
    ff_rigid_state motion[SAMPLES * BODIES];
    ideal = (ff_ideal_result){.samples = SAMPLES, .bodies = BODIES, .state = motion};
    ff_plan_body *body = &plan.body[1];
    const double deg = FF_PI / 180.0;
    for (int n = 0; n < 5; n++) {
        for (int k = 0; k < SAMPLES; k++) {
            ff_arm_joints j = body->home;
            j.a[0] += 0.01 * k; /* to 0.1 rad: 2.5 rad/s, and once a half more */
            j.a[0] += n == 3 && k >= 7 ? 0.005 : 0.0;
            const ff_pose here = ff_arm_forward(&plan.body[0].arm, &plan.body[0].home),
                          T = ff_arm_forward(&body->arm, &j);
            motion[k * BODIES] = (ff_rigid_state){.position = here.p, .attitude = here.q};
            motion[k * BODIES + 1] = (ff_rigid_state){.position = T.p, .attitude = T.q};
        }
        for (int a = 1; a < 6; a++) { /* no other branch */
            body->arm.config.lower[a] = body->home.a[a] - 0.3;
            body->arm.config.upper[a] = body->home.a[a] + 0.3;
        }
        body->arm.config.upper[0] = body->home.a[0] + (n == 1 ? 0.04 : 0.125);
        body->arm.config.lower[0] = body->home.a[0] - 0.3;
        body->arm.config.speed[0] = n == 4 ? 2.0 : 5.0;
        if (n == 2)
            motion[10 * BODIES + 1].position.x += 50.0;
        ff_preflight_evaluate(&p, &view, false);
        const ff_check_row *row = row_of(1, "joint_margin_deg");
        assert_string_equal(row->what, "joints of the true motion");
        if (n == 0) {
            expect(1, "joint_margin_deg", FF_CHECK_GO, 0.025 / deg, 0.0, "deg", 1e-6);
            assert_int_equal(p.check.no_go.code, FF_TRIP_NONE);
            expect(1, "axis_speed", FF_CHECK_GO, 0.5, 1.0, "", 1e-6);
            expect(0, "axis_speed", FF_CHECK_GO, 0.0, 1.0, "", 1e-6);
        } else if (n == 3) { /* each cycle counts */
            expect(1, "axis_speed", FF_CHECK_GO, 0.75, 1.0, "", 1e-6);
        } else if (n == 4) {
            expect(1, "axis_speed", FF_CHECK_NO_GO, 1.25, 1.0, "", 1e-6);
            assert_int_equal(p.check.no_go.code, FF_TRIP_AXIS);
            assert_int_equal(p.check.no_go.body, 1);
            assert_non_null(strstr(row_of(1, "axis_speed")->reason,
                                   "the true motion needs 125 % of the speed of A1 at 0.0"));
            plan.body[1].cartesian = true; /* the controller's own affair */
            ff_preflight_evaluate(&p, &view, false);
            assert_false(has_row(1, "axis_speed"));
            assert_int_equal(p.check.no_go.code, FF_TRIP_NONE);
            plan.body[1].cartesian = false;
        } else if (n == 1) { /* the fifth cycle is looked at: 0.05 rad, 20 ms */
            expect(1, "joint_margin_deg", FF_CHECK_NO_GO, -0.01 / deg, 0.0, "deg", 1e-6);
            assert_int_equal(p.check.no_go.code, FF_TRIP_JOINT);
            assert_string_equal(row->reason, "the true motion leaves the arm's reach at 0.02 s");
        } else {
            assert_true(row->value == -FF_INF && row->verdict == FF_CHECK_NO_GO);
            assert_int_equal(p.check.no_go.code, FF_TRIP_REACH);
            assert_string_equal(row->reason, "the true motion leaves the arm's reach at 0.04 s");
        }
        assert_int_equal(row_of(0, "joint_margin_deg")->verdict, FF_CHECK_GO);
    }
    ideal.samples = 0;
    ff_preflight_evaluate(&p, &view, false);
    assert_false(has_row(1, "joint_margin_deg"));
    ff_preflight_close(&p);
}

/* Samples of a robot that follows by a delay and carries a mass at a CoM. */
static void move(int i, double delay, double mass, ff_vec3 com, ff_wrench bias) {
    ff_preflight_body *b = &p.body[i];
    for (b->samples = 0; b->samples + 2 < b->capacity; b->samples++) {
        const double t = (double)b->samples * plan.cycle, T = plan.cycle;
        ff_trial_sample *s = &b->sample[b->samples];
        s->command = ff_trial_at(&b->trial, t);
        s->robot = ff_trial_at(&b->trial, t - delay);
        const ff_vec3 a = ff_vec3_scale(
            1.0 / T, ff_vec3_sub(s->robot.twist.v, ff_trial_at(&b->trial, t - delay - T).twist.v));
        const ff_vec3 f =
            ff_vec3_scale(mass, ff_quat_unrotate(s->robot.T.q, ff_vec3_sub(ff_vec3_make(0, 0, -9.81), a)));
        s->f_s = ff_wrench_add(bias, (ff_wrench){ff_vec3_cross(com, f), f});
    }
}

static void test_small_motions_are_judged(void **state) {
    (void)state;
    const ff_wrench bias = {.f = {{1, 2, 3}}};
    const ff_vec3 com = ff_vec3_make(0.02, -0.03, 0.1);
    for (int virtual = 0; virtual < 2; virtual ++) {
        open_check("push: skip, delay: chirp", "push: skip, delay: chirp", virtual);
        move(0, 0.02, 4.0, com, bias);
        move(1, 0.036, 9.0, com, bias);
        plan.body[1].delay = 0.0324; /* nine tenths of a cycle less than it is */
        ff_preflight_evaluate(&p, &view, true);
        assert_int_equal(p.check.no_go.code, FF_TRIP_NONE);
        for (int i = 0; i < BODIES; i++) {
            expect(i, "mockup_mass_kg", FF_CHECK_GO, i ? 9.0 : 4.0, FF_INF, "kg", 1e-3);
            expect(i, "mockup_com_x_m", FF_CHECK_SHOWN, com.x, FF_NAN, "m", 1e-4);
            expect(i, "mockup_com_y_m", FF_CHECK_SHOWN, com.y, FF_NAN, "m", 1e-4);
            expect(i, "mockup_com_z_m", FF_CHECK_SHOWN, com.z, FF_NAN, "m", 1e-4);
            expect_text(i, "mockup_mass_kg", FF_CHECK_GO, "mock-up's mass", "");
            expect_text(i, "mockup_com_y_m", FF_CHECK_SHOWN, "mock-up's CoM, y", "");
            expect(i, "delay_error_cycles", FF_CHECK_GO, i ? 0.9 : 0.0, 1.0, "cycles", 0.003);
            expect(i, "delay_ms", FF_CHECK_SHOWN, i ? 36.0 : 20.0, FF_NAN, "ms", 0.01);
            expect_text(i, "delay_ms", FF_CHECK_SHOWN, "delay, by the chirp", "");
            /* the acceleration is the mean over the last cycle: half of one old, if that is not the sensor's
             * way */
            expect(i, "skew_ms", FF_CHECK_SHOWN, virtual ? 0.0 : 2.0, FF_NAN, "ms", 0.05);
            expect_text(i, "skew_ms", FF_CHECK_SHOWN, "force older than pose", "");
            assert_vec3_near(p.check.body[i].bias.f, bias.f, 1e-3);
            assert_true(p.check.body[i].weighed && p.check.body[i].timed && p.check.body[i].aligned);
            expect(i, "drift_mmps2", FF_CHECK_SHOWN, 0.0, FF_NAN, "mm/s2", 1e-3);
        }
        /* the contact is forecast with the delay that was found */
        expect(1, "w_tau", FF_CHECK_GO, 5.0 * (0.036 + 0.004), 0.5, "", 1e-4);
        /* a bend of 1 N at one of the rests: a fifth of it is taken for bias or weight at most */
        ff_preflight_body *b = &p.body[1];
        p.body[0].trial.chirp = b->trial.chirp = false;
        const size_t rest = (size_t)((3.0 * (b->trial.move + b->trial.dwell)) / plan.cycle);
        for (size_t k = rest - 110; k < rest + 1; k++)
            b->sample[k].f_s.f = ff_vec3_add(b->sample[k].f_s.f, ff_vec3_make(0.8, 0.8, 0.8));
        ff_preflight_evaluate(&p, &view, true);
        ff_wrench_config fitted = model.config.body[1].wrench;
        const ff_log_payload *load = &p.check.body[1].payload;
        fitted.mockup_mass = load->mass.value;
        fitted.mockup_com_b = ff_vec3_make(load->com[0].value, load->com[1].value, load->com[2].value);
        const double left = ff_trial_drift(&b->trial, &fitted, load->bias, b->sample, b->samples);
        assert_true(left > 0.1 && left < 1.4);
        expect(1, "drift_mmps2", FF_CHECK_SHOWN, 1e3 * left / 80.0, FF_NAN, "mm/s2", 1e-9);
        ff_preflight_close(&p);
    }
    /* more than a cycle off: no-go */
    open_check("push: skip, delay: chirp, weight: scenario", "push: skip, delay: chirp, weight: scenario",
               true);
    move(0, 0.02, 4.0, com, bias);
    move(1, 0.036, 9.0, com, bias);
    plan.body[1].delay = 0.012; /* also one that is three times as long as was said: looked for up to 0.2 s */
    ff_preflight_evaluate(&p, &view, true);
    expect(1, "delay_error_cycles", FF_CHECK_NO_GO, 6.0, 1.0, "cycles", 0.003);
    expect(1, "delay_ms", FF_CHECK_SHOWN, 36.0, FF_NAN, "ms", 0.01);
    plan.body[1].delay = 0.0316;
    ff_preflight_evaluate(&p, &view, true);
    expect(1, "delay_error_cycles", FF_CHECK_NO_GO, 1.1, 1.0, "cycles", 0.003);
    expect_text(1, "delay_error_cycles", FF_CHECK_NO_GO, "delay, apart from robot.delay",
                ff_trip_text(FF_TRIP_DELAY));
    assert_int_equal(p.check.no_go.code, FF_TRIP_DELAY);
    expect_text(1, "mockup_mass_kg", FF_CHECK_SKIPPED, "mock-up's weight",
                "check: {weight: scenario}: the values of mockup are believed");
    assert_false(p.check.body[1].weighed);
    ff_preflight_close(&p);
}

/* What cannot be identified: skipped where nothing was said to hang there, else a no-go with the fit's
 * sentence. */
static void test_what_cannot_be_identified(void **state) {
    (void)state;
    for (int n = 0; n < 3; n++) {
        open_check("push: skip", n == 2 ? "push: skip, weight: poses" : "push: skip", true);
        move(0, 0.02, 0.0, ff_vec3_zero(), ff_wrench_zero());
        move(1, 0.02, 0.0, ff_vec3_zero(), ff_wrench_zero());
        model.config.body[1].wrench.mockup_mass = n == 1 ? 5.0 : 0.0;
        ff_preflight_evaluate(&p, &view, true);
        assert_int_equal(row_of(0, "mockup_mass_kg")->verdict, FF_CHECK_SKIPPED);
        expect_text(1, "mockup_mass_kg", n ? FF_CHECK_NO_GO : FF_CHECK_SKIPPED,
                    n ? "mock-up's mass" : "mock-up's weight",
                    "the sensor reads no weight: there is no mock-up, or the run had no gravity");
        assert_int_equal(p.check.no_go.code, n ? FF_TRIP_WEIGHT : FF_TRIP_NONE);
        assert_true(isnan(row_of(1, "mockup_mass_kg")->value) && isnan(row_of(1, "mockup_mass_kg")->limit));
        assert_false(p.check.body[1].weighed);
        /* without a chirp: what the scenario says, a cycle at least */
        expect(1, "delay_ms", FF_CHECK_SHOWN, 32.0, FF_NAN, "ms", 1e-12);
        expect_text(1, "delay_ms", FF_CHECK_SHOWN, "delay, from the scenario", "");
        plan.body[1].delay = 0.001;
        ff_preflight_evaluate(&p, &view, true);
        expect(1, "delay_ms", FF_CHECK_SHOWN, 4.0, FF_NAN, "ms", 1e-12);
        ff_preflight_close(&p);
    }
    /* a robot that was not moved: neither delay nor skew */
    open_check("push: skip", "push: skip, weight: scenario, delay: chirp", true);
    p.body[1].samples = 0;
    move(0, 0.02, 1.0, ff_vec3_zero(), ff_wrench_zero());
    ff_preflight_evaluate(&p, &view, true);
    assert_true(isnan(row_of(1, "delay_error_cycles")->value));
    expect_text(1, "delay_error_cycles", FF_CHECK_NO_GO, "delay, apart from robot.delay",
                "the chirp was cut short");
    expect_text(1, "skew_ms", FF_CHECK_SKIPPED, "force older than pose", "the chirp was cut short");
    assert_false(has_row(1, "delay_ms"));
    assert_int_equal(p.check.no_go.code, FF_TRIP_DELAY);
    assert_false(p.check.body[1].timed || p.check.body[1].aligned);
    expect(1, "w_tau", FF_CHECK_GO, 5.0 * 0.036, 0.5, "", 1e-12);
    ff_preflight_close(&p);
}

/* Pushes: right, crossed, mirrored, in vain; those that were not asked for have no row. */
static void test_pushes_are_judged(void **state) {
    (void)state;
    open_check("weight: scenario, push: skip", "weight: scenario", true);
    ff_check_push *push = p.check.body[1].push;
    push[0] = (ff_check_push){.done = true, .sample = {{10, 5, -4}}};
    push[1] = (ff_check_push){.done = true, .sample = {{10, 5, 0}}};
    push[2] = (ff_check_push){.done = true, .sample = {{0, 0, -10}}};
    push[4] = (ff_check_push){.done = true, .sample = {{0.1, 1, 0}}};
    push[5] = (ff_check_push){.done = true, .seen = -1};
    ff_preflight_evaluate(&p, &view, true);
    expect(1, "push_x", FF_CHECK_GO, 0.5, 0.5, "", 0.0);
    expect(1, "push_y", FF_CHECK_NO_GO, 2.0, 0.5, "", 0.0);
    assert_true(row_of(1, "push_z")->verdict == FF_CHECK_NO_GO && isinf(row_of(1, "push_z")->value));
    assert_false(has_row(1, "twist_x"));
    expect(1, "twist_y", FF_CHECK_GO, 0.1, 0.5, "", 1e-15);
    expect_text(1, "twist_z", FF_CHECK_NO_GO, "twist +z", "twisted about +z: the sensor saw nothing");
    assert_string_equal(row_of(1, "push_y")->what, "push +y");
    assert_non_null(strstr(row_of(1, "push_y")->reason, "+y"));
    expect_text(0, "push", FF_CHECK_SKIPPED, "hand-push test", "check: {push: skip}");
    assert_int_equal(p.check.no_go.code, FF_TRIP_PUSH);
    assert_near(p.check.no_go.value, 2.0, 0.0);
    ff_preflight_close(&p);
}

/* Which tests there are; a motion out of reach is a no-go before it is made. */
static void test_which_tests_there_are(void **state) {
    (void)state;
    static const struct {
        const char *first, *second;
        bool any, moves;
    } is[] = {{"push: skip, weight: scenario", "push: skip, weight: scenario", false, false},
              {"push: skip, weight: scenario", "weight: scenario", true, false},
              {"push: skip, weight: scenario", "push: skip", true, true},
              {"push: skip, weight: scenario, delay: chirp", "weight: scenario", true, true}};
    bool moves;
    for (int n = 0; n < 4; n++) {
        open_check(is[n].first, is[n].second, true);
        assert_int_equal(ff_preflight_has_tests(&p, &moves), is[n].any);
        assert_int_equal(moves, is[n].moves);
        double longest = 0.0;
        for (int i = 0; i < BODIES; i++) {
            const double end = p.body[i].trial.end;
            longest = fmax(longest, end);
            assert_true((p.body[i].sample != NULL) == (end > 0.0));
            if (end > 0.0) /* every cycle of it fits */
                assert_true((double)p.body[i].capacity * plan.cycle >= end + plan.cycle &&
                            (double)p.body[i].capacity * plan.cycle <= end + 3.0 * plan.cycle);
        }
        assert_near(p.trial_end, longest, 0.0);
        assert_near(p.body[BODIES].trial.cycle, 0.0,
                    0.0); /* of a body that there is not nothing is planned */
        p.check.no_go.code = FF_TRIP_BIAS;
        assert_false(ff_preflight_has_tests(&p, &moves));
        ff_preflight_close(&p);
        assert_true(!p.body[0].sample && !p.body[1].sample);
        ff_preflight_close(&p); /* twice does no harm */
    }
    open_check("push: skip, weight: scenario", "push: skip", true);
    for (int a = 3; a < 6; a++) {
        plan.body[1].arm.config.lower[a] = plan.body[1].home.a[a] - 0.05;
        plan.body[1].arm.config.upper[a] = plan.body[1].home.a[a] + 0.05;
    }
    assert_false(ff_preflight_has_tests(&p, &moves));
    assert_true(moves);
    expect(1, "trial_reach", FF_CHECK_NO_GO, 1.0, 0.0, "", 0.0);
    assert_string_equal(row_of(1, "trial_reach")->what, "reach of the test motion");
    assert_non_null(strstr(row_of(1, "trial_reach")->reason, "the test motion cannot be made: "));
    assert_int_equal(p.check.no_go.code, FF_TRIP_REACH);
    ff_preflight_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standstill_at_its_limits),   cmocka_unit_test(test_noise_drift_and_thresholds),
        cmocka_unit_test(test_bias_is_without_the_weight), cmocka_unit_test(test_the_longest_stop),
        cmocka_unit_test(test_forecast_and_start),         cmocka_unit_test(test_true_motion_is_judged),
        cmocka_unit_test(test_small_motions_are_judged),   cmocka_unit_test(test_what_cannot_be_identified),
        cmocka_unit_test(test_pushes_are_judged),          cmocka_unit_test(test_which_tests_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
