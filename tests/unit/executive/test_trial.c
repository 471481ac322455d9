/* The small motions before arming against their closed forms, and what is identified from them: which samples
 * count, and where it ends. */
#include "support.h"

#include "executive/check.h"

static ff_scenario scenario;
static ff_plan plan;

static void load(const char *check, const char *velocity) {
    char text[1024], message[256], warnings[256];
    snprintf(text, sizeof text,
             "name: trial\n"
             "time: {cycle: 0.004, duration: 1}\n"
             "facility: {gravity: [0, 0, -9.81]}\n"
             "satellites:\n"
             "  body: {mass: 100, inertia: [10, 10, 10], velocity: %s, check: {%s},\n"
             "         robot: {kind: delay, delay: 0.016}}\n",
             velocity, check);
    if (ff_scenario_parse("trial", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK ||
        ff_plan_create(&scenario, &plan, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
}

/* 10 u^3 - 15 u^4 + 6 u^5 and its derivative, at rest outside. */
static double quintic(double u) {
    u = fmin(fmax(u, 0.0), 1.0);
    return 10.0 * pow(u, 3.0) - 15.0 * pow(u, 4.0) + 6.0 * pow(u, 5.0);
}

static double quintic_rate(double u) {
    return u > 0.0 && u < 1.0 ? 30.0 * u * u * (1.0 - u) * (1.0 - u) : 0.0;
}

/* From 0.5 to 3.5 Hz in 4 s, faded over 0.4 s at both ends: 0 to 1. */
static double sweep(double t) {
    if (t < 0.0 || t > 4.0)
        return 0.0;
    const double phase = 2.0 * FF_PI * (0.5 * t + 0.375 * t * t);
    return quintic(t / 0.4) * quintic((4.0 - t) / 0.4) * pow(sin(0.5 * phase), 2.0);
}

static void test_path_between_two_poses(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 50; n++) {
        const ff_pose from = test_random_pose(&rng, 1.0);
        const ff_vec3 turn = test_random_vec3(&rng, 1.0), shift = test_random_vec3(&rng, 1.0);
        const ff_pose to = {ff_quat_mul(from.q, ff_quat_exp(turn)), ff_vec3_add(from.p, shift)};
        const double u = ff_rng_range(&rng, -0.3, 1.3), span = ff_rng_range(&rng, 0.5, 5.0);
        const ff_setpoint s = ff_trial_between(from, to, u, span);
        assert_vec3_near(s.T.p, ff_vec3_axpy(quintic(u), shift, from.p), 1e-12);
        const ff_quat q = ff_quat_mul(from.q, ff_quat_exp(ff_vec3_scale(quintic(u), turn)));
        assert_near(ff_quat_angle(s.T.q, q), 0.0, 1e-7);
        /* central differences of 1e-4 s: 1e-8/6 of a third derivative of 60/0.5^3, and rounding */
        assert_vec3_near(s.twist.v, ff_vec3_scale(quintic_rate(u) / span, shift), 2e-6);
        assert_vec3_near(s.twist.w, ff_vec3_scale(quintic_rate(u) / span, turn), 2e-6);
    }
}

/* Tilts: one leg after the other, the quintic in `move`, rest in `dwell`; then the chirp; then rest. */
static void test_motion_is_its_closed_form(void **state) {
    (void)state;
    load("weight: poses, delay: chirp", "[0.03, -0.04, 0]");
    ff_trial trial;
    ff_trial_plan(&scenario, &plan, 0, &trial);
    const double span = trial.move + trial.dwell;
    trial.park.q = ff_quat_exp(ff_vec3_make(0.4, -0.7, 0.2)); /* tilts are about axes of the body */
    assert_near(trial.dwell, 0.516, 1e-15);
    assert_near(trial.settle, 0.316, 1e-15);
    assert_near(trial.tilt_end, 5.0 * span + 0.316, 1e-12);
    assert_near(trial.end, trial.tilt_end + 4.316, 1e-12);
    assert_near(trial.cycle, 0.004, 0.0);
    assert_vec3_near(trial.direction, ff_vec3_make(-0.6, 0.8, 0), 1e-15);
    assert_vec3_near(trial.tilt[0], ff_vec3_zero(), 0.0);
    assert_vec3_near(trial.tilt[5], ff_vec3_zero(), 0.0);
    for (int k = -50; k < 50 + (int)(trial.end / 0.0101); k++) {
        const double t = 0.0101 * k;
        const ff_setpoint s = ff_trial_at(&trial, t);
        ff_vec3 r = ff_vec3_zero();
        double off = 0.0;
        if (t < trial.tilt_end) {
            const int leg = t < 0.0 ? 0 : t >= 5.0 * span ? 4 : (int)(t / span);
            const double u = (t - leg * span) / trial.move;
            for (int a = 0; a < 3; a++)
                r.a[a] =
                    trial.tilt[leg].a[a] + quintic(u) * (trial.tilt[leg + 1].a[a] - trial.tilt[leg].a[a]);
        } else
            off = trial.amplitude * sweep(t - trial.tilt_end);
        assert_near(ff_quat_angle(s.T.q, ff_quat_mul(trial.park.q, ff_quat_exp(r))), 0.0, 1e-7);
        assert_vec3_near(s.T.p, ff_vec3_axpy(off, trial.direction, trial.park.p), 1e-15);
    }
    trial.move = trial.dwell = 0.25; /* however short */
    trial.tilt_end = 2.8;
    for (int leg = 0; leg < 5; leg++) {
        const ff_quat q = ff_trial_at(&trial, 0.5 * leg + 0.4).T.q;
        assert_near(ff_quat_angle(q, ff_quat_mul(trial.park.q, ff_quat_exp(trial.tilt[leg + 1]))), 0.0, 1e-7);
    }
    /* without either: the other alone, from the first cycle on */
    load("weight: scenario, delay: chirp", "[0, 0, 0]");
    ff_trial_plan(&scenario, &plan, 0, &trial);
    assert_false(trial.poses);
    assert_near(trial.tilt_end, 0.0, 0.0);
    assert_near(trial.end, 4.316, 1e-15);
    assert_vec3_near(trial.direction, ff_vec3_make(1, 0, 0), 0.0);
    assert_vec3_near(ff_trial_at(&trial, 1.1).T.p,
                     ff_vec3_axpy(trial.amplitude * sweep(1.1), ff_vec3_make(1, 0, 0), trial.park.p), 1e-15);
    load("weight: poses", "[0, 0, 0]");
    ff_trial_plan(&scenario, &plan, 0, &trial);
    assert_false(trial.chirp);
    assert_near(trial.end, trial.tilt_end, 0.0);
    assert_vec3_near(ff_trial_at(&trial, trial.end + 1.0).T.p, trial.park.p, 0.0);
    load("weight: scenario", "[0, 0, 0]");
    ff_trial_plan(&scenario, &plan, 0, &trial);
    assert_near(trial.end, 0.0, 0.0);
}

/* Half of the angular velocity, 0.3 rad/s at most, half of acceleration and jerk of the quintic over twice
 * the angle (15/8, 10/sqrt(3), 60): the slowest of the three. */
static void test_tilts_take_their_time(void **state) {
    (void)state;
    load("weight: poses", "[0, 0, 0]");
    static const double limits[][3] = {{FF_INF, FF_INF, FF_INF}, {0.4, FF_INF, FF_INF}, {0.8, 0.1, FF_INF},
                                       {FF_INF, FF_INF, 0.1},    {0.5, 0.125, 0.0625},  {0.1, 50.0, 1e4}};
    for (int n = 0; n < 6; n++) {
        ff_output_config *limit = &plan.body[0].output;
        limit->angular_velocity = limits[n][0];
        limit->angular_acceleration = limits[n][1];
        limit->angular_jerk = limits[n][2];
        ff_trial trial;
        ff_trial_plan(&scenario, &plan, 0, &trial);
        const double angle = ff_vec3_norm(trial.tilt[1]), way = 2.0 * angle;
        const double by[] = {1.875 * way / fmin(0.3, 0.5 * limits[n][0]),
                             sqrt(10.0 / sqrt(3.0) * way / (0.5 * limits[n][1])),
                             cbrt(60.0 * way / (0.5 * limits[n][2]))};
        assert_near(trial.move, fmax(by[0], fmax(by[1], by[2])), 1e-12);
    }
}

/* A path from pose to pose takes what the one limit wants that there is, of its shift or of its turn. */
static void test_a_span_obeys_each_limit_alone(void **state) {
    (void)state;
    const ff_pose from = {ff_quat_identity(), ff_vec3_make(0.1, 0.2, 0.3)};
    const ff_pose to = {ff_quat_exp(ff_vec3_make(0.0, 0.5, 0.0)), ff_vec3_make(0.1, 0.2, 0.5)};
    for (int n = 0; n < 6; n++) {
        double limit[6] = {FF_INF, FF_INF, FF_INF, FF_INF, FF_INF, FF_INF};
        limit[n] = 0.04;
        const ff_output_config config = {.velocity = limit[0],
                                         .acceleration = limit[1],
                                         .jerk = limit[2],
                                         .angular_velocity = limit[3],
                                         .angular_acceleration = limit[4],
                                         .angular_jerk = limit[5]};
        const double part = (n < 3 ? 0.2 : 0.5) / 0.02; /* half of the limit */
        const double by[] = {1.875 * part, sqrt(10.0 / sqrt(3.0) * part), cbrt(60.0 * part)};
        assert_near(ff_trial_span(&config, from, to), by[n % 3], 1e-12);
    }
}

/* The amplitude by differences from cycle to cycle of the closed form's own velocity. */
static void test_amplitude_is_half_of_the_tightest_limit(void **state) {
    (void)state;
    load("weight: scenario, delay: chirp", "[0, 0, 0]");
    const double T = 0.004, h = 1e-5;
    double most[3] = {0}, v[3] = {0};
    for (int k = 0; k <= 1003; k++) {
        v[2] = v[1];
        v[1] = v[0];
        v[0] = (sweep(k * T + h) - sweep(k * T - h)) / (2.0 * h);
        most[0] = fmax(most[0], fabs(v[0]));
        most[1] = fmax(most[1], fabs(v[0] - v[1]) / T);
        most[2] = fmax(most[2], fabs(v[0] - 2.0 * v[1] + v[2]) / (T * T));
    }
    for (int which = 0; which < 4; which++) {
        ff_output_config *limit = &plan.body[0].output;
        limit->velocity = which == 0 ? 0.001 : FF_INF;
        limit->acceleration = which == 1 ? 0.01 : FF_INF;
        limit->jerk = which == 2 ? 0.1 : FF_INF;
        ff_trial trial;
        ff_trial_plan(&scenario, &plan, 0, &trial);
        static const double of[] = {0.001, 0.01, 0.1};
        if (which < 3) /* the two differences' steps, 1e-4 and 1e-5 s: (22/s 1e-4 s)^2/6 */
            assert_near(trial.amplitude * most[which] / (0.5 * of[which]), 1.0, 1e-5);
        else
            assert_near(trial.amplitude, scenario.satellite[0].check.amplitude, 0.0);
    }
}

/* Whatever gravity is, also along the vectors that the axes are made from: two axes across it. */
static void test_axes_of_the_tilts(void **state) {
    (void)state;
    load("weight: poses", "[0, 0, 0]");
    static const ff_vec3 along[] = {{{1, 1, 0.3}},       {{0, 1, 0.3}},      {{1, 0, 0}},
                                    {{0, 1, 0}},         {{0, 0, 1}},        {{-1, -1, -0.3}},
                                    {{0.5, 0.83, 0.25}}, {{0.7, 0.68, 0.2}}, {{1, 2, 0.3}}};
    for (int n = 0; n < 9; n++) {
        scenario.facility_gravity = ff_vec3_scale(9.81, along[n]);
        ff_trial trial;
        ff_trial_plan(&scenario, &plan, 0, &trial);
        const ff_vec3 a = trial.tilt[1], b = trial.tilt[3],
                      down = ff_quat_unrotate(trial.park.q, scenario.facility_gravity);
        assert_near(ff_vec3_norm(a), 0.3, 1e-12);
        assert_near(ff_vec3_norm(b), 0.3, 1e-12);
        assert_near(ff_vec3_dot(a, down), 0.0, 1e-12);
        assert_near(ff_vec3_dot(b, down), 0.0, 1e-12);
        assert_near(ff_vec3_dot(a, b), 0.0, 1e-12);
    }
    scenario.facility_gravity = ff_vec3_zero(); /* asked for all the same: about x and y */
    ff_trial trial;
    ff_trial_plan(&scenario, &plan, 0, &trial);
    assert_vec3_near(trial.tilt[1], ff_vec3_make(0.3, 0, 0), 1e-15);
    assert_vec3_near(trial.tilt[4], ff_vec3_make(0, -0.3, 0), 1e-15);
}

static void test_when_the_mockup_is_weighed(void **state) {
    (void)state;
    static const struct {
        ff_weight_check weight;
        bool environment;
        double gravity;
        const char *why; /* NULL: it is */
    } is[] = {{FF_WEIGHT_POSES, true, 0.0, NULL},
              {FF_WEIGHT_POSES, false, 9.81, NULL},
              {FF_WEIGHT_SCENARIO, false, 9.81, "weight: scenario"},
              {FF_WEIGHT_AUTO, true, 9.81, "stands in the environment"},
              {FF_WEIGHT_AUTO, false, 0.0, "no facility.gravity"},
              {FF_WEIGHT_AUTO, false, 0.5, NULL}};
    ff_scenario *s = calloc(1, sizeof *s);
    for (int n = 0; n < 6; n++) {
        ff_satellite *body = &s->satellite[1];
        s->satellite[0].check.weight = FF_WEIGHT_SCENARIO;
        body->check.weight = is[n].weight;
        body->sensor.environment = is[n].environment;
        s->facility_gravity = ff_vec3_make(0, is[n].gravity, 0);
        const char *why = NULL;
        assert_int_equal(ff_trial_weighs(s, 1, &why), !is[n].why);
        if (is[n].why)
            assert_non_null(strstr(why, is[n].why));
        else
            assert_string_equal(why, "");
    }
    free(s);
}

/* The last 0.4 s of each rest count, and nothing else: the means of random forces over them, by brute force.
 */
static void test_only_what_was_felt_at_rest_counts(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < 3; n++) {
        /* rests that end on a cycle, and between two */
        ff_trial trial = {.park = ff_pose_identity(), .cycle = 1.0 / 256.0, .poses = true, .dwell = 0.5};
        trial.move = n ? 1.001 : 1.0;
        trial.tilt[1].x = trial.tilt[3].y = 0.3;
        trial.tilt[2].x = trial.tilt[4].y = -0.3;
        trial.tilt_end = trial.end = 5.0 * (trial.move + 0.5) + 0.3;
        /* and then a chirp, which does not count either */
        const size_t all = (size_t)(7.0 * (trial.move + 0.5) * 256.0), count = n == 2 ? 1000 : all;
        ff_trial_sample *sample = calloc(all, sizeof *sample);
        bool *counts = calloc(all, sizeof *counts);
        const ff_wrench_config frames = {.T_bs = ff_pose_identity(), .gravity_w = {{0, 0, -9.81}}};
        const ff_wrench bias = {.f = {{1, 2, 3}}};
        double worst = 0.0;
        size_t used = 0;
        for (size_t k = 0; k < all; k++)
            sample[k].f_s.f =
                test_random_vec3(&rng, (double)k / 256.0 < 5.0 * (trial.move + 0.5) ? 10.0 : 1e6);
        for (int leg = 1; leg <= 5; leg++) {
            const double end = leg * (trial.move + 0.5);
            ff_vec3 sum = ff_vec3_zero();
            double m = 0.0;
            for (size_t k = 0; k < count; k++) {
                /* the cycle in which the last 0.4 s begin, up to the last before the end */
                counts[k] |= (double)(k + 1) / 256.0 > end - 0.4 && (double)k / 256.0 < end;
                if ((double)(k + 1) / 256.0 > end - 0.4 && (double)k / 256.0 < end) {
                    sum = ff_vec3_add(sum, ff_vec3_sub(sample[k].f_s.f, bias.f));
                    m++;
                }
            }
            used += (size_t)m;
            if (m > 0.0)
                worst = fmax(worst, ff_vec3_norm(sum) / m);
        }
        assert_near(ff_trial_drift(&trial, &frames, bias, sample, count), worst, 1e-12);
        /* and so for the weight: 5 kg at (0.1, 0.2, 0.3), unknown in between. Velocities are believed: with w
         * and a constant v' the force is m (g - v') - m w x (w x c) */
        const ff_vec3 com = ff_vec3_make(0.1, 0.2, 0.3), w = ff_vec3_make(0.5, 1.0, -0.7),
                      a0 = ff_vec3_make(0.3, -0.2, 0.1);
        double counted = 0.0;
        for (size_t k = 0; k < all; k++) {
            sample[k].robot = ff_trial_at(&trial, (double)k / 256.0);
            counted += counts[k];
            sample[k].robot.twist = (ff_twist){w, ff_vec3_scale(counted / 256.0, a0)};
            const ff_vec3 h = ff_quat_unrotate(sample[k].robot.T.q, ff_vec3_sub(frames.gravity_w, a0)),
                          f = ff_vec3_scale(5.0, ff_vec3_sub(h, ff_vec3_cross(w, ff_vec3_cross(w, com))));
            sample[k].f_s.f = ff_vec3_add(f, bias.f);
            sample[k].f_s.t = ff_vec3_cross(com, f);
            if (!counts[k])
                sample[k].f_s.f.x = FF_NAN;
        }
        ff_log_payload load_of;
        char message[160] = "";
        assert_int_equal(ff_trial_weigh(&trial, &frames, sample, count, &load_of, message, sizeof message),
                         FF_OK);
        assert_near(load_of.mass.value, 5.0, 1e-5);
        assert_int_equal(load_of.rows, used - 2); /* the first and the last have one neighbour only */
        if (n < 2) {                              /* one axis alone says little of the CoM along it */
            for (int a = 0; a < 3; a++)
                assert_near(load_of.com[a].value, 0.1 * (a + 1), 1e-5);
            assert_vec3_near(load_of.bias.f, bias.f, 1e-3);
        }
        assert_near(ff_trial_drift(&trial, &frames, bias, sample, 0), 0.0, 0.0);
        assert_true(ff_trial_weigh(&trial, &frames, sample, 0, &load_of, message, sizeof message) != FF_OK);
        free(sample);
        free(counts);
    }
}

/* A robot that follows the chirp by `delay`, feels -m a of it `skew` later, on a bias. */
static ff_trial_sample *chirped(const ff_trial *trial, double delay, double skew, size_t count) {
    ff_trial_sample *sample = calloc(count, sizeof *sample);
    for (size_t k = 0; k < count; k++) {
        const double t = (double)k * trial->cycle, then = t - delay - skew, h = 2e-3;
        sample[k].command = ff_trial_at(trial, t);
        sample[k].robot = ff_trial_at(trial, t - delay);
        sample[k].f_s.f =
            ff_vec3_add(ff_vec3_make(1, -2, 3),
                        ff_vec3_scale(-3.0 * 0.5 / h, ff_vec3_sub(ff_trial_at(trial, then + h).twist.v,
                                                                  ff_trial_at(trial, then - h).twist.v)));
    }
    return sample;
}

static void test_skew_in_all_of_its_range(void **state) {
    (void)state;
    const double T = 0.004;
    static const double skews[] = {-2.8, -1.0, 0.0, 0.3, 7.5, 15.9, -4.0, 17.5}; /* [cycles] */
    load("weight: scenario, delay: chirp", "[0, 0.02, 0]");
    for (int n = 0; n < 8; n++) {
        ff_trial trial;
        ff_trial_plan(&scenario, &plan, 0, &trial);
        trial.tilt_end = n % 2 ? 0.4 : 0.0; /* with and without something before */
        trial.end += trial.tilt_end;
        const size_t count = (size_t)(trial.end / T);
        ff_trial_sample *sample = chirped(&trial, 0.016, skews[n] * T, count);
        const ff_wrench_config frames = {.T_bs = ff_pose_identity()};
        ff_estimate skew;
        char message[160] = "";
        if (ff_trial_align(&trial, &frames, 0.0, sample, count, &skew, message, sizeof message) != FF_OK)
            fail_msg("%g: %s", skews[n], message);
        if (n < 6)
            assert_near(skew.value / T, skews[n], 0.02);
        else /* three cycles before and sixteen behind are searched, and a quarter more */
            assert_near(skew.value / T, n == 6 ? -3.25 : 16.25, 0.02);
        assert_true(skew.sd > 0.0 && skew.sd < 0.1 * T);
        for (size_t k = 0; k < count; k++) /* a mass pulls back: what pushes ahead is none */
            sample[k].f_s.f = ff_vec3_neg(sample[k].f_s.f);
        if (n == 2) {
            assert_int_equal(
                ff_trial_align(&trial, &frames, 0.0, sample, count, &skew, message, sizeof message),
                FF_ERR_ARGUMENT);
            assert_non_null(strstr(message, "inertia force is not seen"));
            assert_true(isnan(skew.value) && isnan(skew.sd));
        }
        free(sample);
    }
}

/* Force exactly -m a at each sample, and +-c across it in turn, which no line takes away: the sd of the rest
 * is c sqrt(N/(3 N - 5)), that of the skew a cycle of it over m |a'|. Ten sd are needed of |m a|. */
static void test_skew_has_its_uncertainty(void **state) {
    (void)state;
    load("weight: scenario, delay: chirp", "[0, 0.02, 0]");
    ff_trial trial;
    ff_trial_plan(&scenario, &plan, 0, &trial);
    trial.tilt_end = 0.4; /* 100 cycles; then the first and last twenty are for the search */
    enum { COUNT = 300, FROM = 120, TO = COUNT - 20 };
    const double T = trial.cycle, mass = 3.0;
    static double a[COUNT];
    ff_trial_sample *sample = calloc(COUNT, sizeof *sample);
    for (int k = 0; k < COUNT; k++)
        sample[k].robot = ff_trial_at(&trial, k * T);
    for (int k = 1; k < COUNT - 1; k++)
        a[k] =
            (sample[k + 1].robot.T.p.y - 2.0 * sample[k].robot.T.p.y + sample[k - 1].robot.T.p.y) / (T * T);
    const double N = TO - FROM;
    double mean = 0.0, xx = 0.0, slopes = 0.0;
    for (int k = FROM; k < TO; k++)
        mean += a[k] / N;
    for (int k = FROM; k < TO; k++) {
        xx += (a[k] - mean) * (a[k] - mean);
        slopes += 0.25 * (a[k + 1] - a[k - 1]) * (a[k + 1] - a[k - 1]);
    }
    const double most = mass * sqrt(xx) / (10.0 * sqrt(N / (3.0 * N - 5.0)));
    for (int n = 0; n < 3; n++) {
        const double c = most * (n == 0 ? 0.01 : n == 1 ? 0.995 : 1.005);
        for (int k = 0; k < COUNT; k++)
            sample[k].f_s.f = ff_vec3_make(1.0, 2.0 - mass * a[k], 3.0 + (k % 2 ? c : -c));
        const ff_wrench_config frames = {.T_bs = ff_pose_identity()};
        ff_estimate skew;
        char message[160] = "";
        const ff_status status =
            ff_trial_align(&trial, &frames, 0.001, sample, COUNT, &skew, message, sizeof message);
        assert_int_equal(status, n == 2 ? FF_ERR_ARGUMENT : FF_OK);
        if (n == 2)
            continue;
        const double sd = c * sqrt(N / (3.0 * N - 5.0));
        assert_near(skew.value, -0.001, 1e-5 * T); /* a flat minimum: root of N roundings, times a few sd */
        assert_near(skew.sd / (T * sd / (mass * sqrt(slopes))), 1.0, 1e-4);
    }
    free(sample);
}

/* Cut short: said so, up to the last sample that is needed. */
static void test_a_chirp_that_was_cut_short(void **state) {
    (void)state;
    load("weight: scenario, delay: chirp", "[0, 0.02, 0]");
    ff_trial trial;
    ff_trial_plan(&scenario, &plan, 0, &trial);
    trial.tilt_end = 0.4; /* 100 cycles */
    ff_trial_sample *sample = chirped(&trial, 0.016, 0.0, 400);
    const ff_wrench_config frames = {.T_bs = ff_pose_identity()}, stands = {.environment = true};
    ff_estimate skew;
    ff_log_delay delay;
    char message[160];
    /* twenty samples at either end and fifty between */
    assert_int_equal(ff_trial_align(&trial, &frames, 0.0, sample, 189, &skew, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_string_equal(message, "the chirp was cut short");
    strcpy(message, "");
    ff_trial_align(&trial, &frames, 0.0, sample, 190, &skew, message, sizeof message);
    assert_null(strstr(message, "cut short"));
    assert_int_equal(ff_trial_align(&trial, &stands, 0.0, sample, 400, &skew, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_non_null(strstr(message, "stands in the environment"));
    assert_true(isnan(skew.value));
    assert_int_equal(ff_trial_time(&trial, sample, 100, 0.1, &delay, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_string_equal(message, "the chirp was cut short");
    assert_int_equal(ff_trial_time(&trial, sample, 101, 0.1, &delay, message, sizeof message),
                     FF_ERR_ARGUMENT);
    assert_null(strstr(message, "cut short"));
    /* 300 rows of it: only these are looked at, whatever the robot did before */
    for (size_t k = 0; k < 100; k++)
        sample[k].robot.T.p.x = 0.5 + 0.01 * (double)k;
    assert_int_equal(ff_trial_time(&trial, sample, 400, 0.1, &delay, message, sizeof message), FF_OK);
    assert_int_equal(delay.lag, FF_LOG_LAG_NONE);
    assert_near(delay.delay.value, 0.016, 1e-5);
    free(sample);
}

/* x'' = w^2 (u - x) + 2 z w (u' - x') behind a pure delay: both come back, by a chirp along any axis. */
static void test_delay_and_lag_are_told_apart(void **state) {
    (void)state;
    load("weight: scenario, delay: chirp", "[0.02, -0.03, 0.04]");
    ff_trial trial;
    ff_trial_plan(&scenario, &plan, 0, &trial);
    const double T = trial.cycle, w = 2.0 * FF_PI * 6.0, z = 0.7, delay = 0.022, h = T / 64.0;
    const size_t count = (size_t)(trial.end / T);
    ff_trial_sample *sample = calloc(count, sizeof *sample);
    ff_vec3 x = trial.park.p, v = ff_vec3_zero();
    for (size_t k = 0; k < count; k++) {
        sample[k].command = ff_trial_at(&trial, (double)k * T);
        sample[k].robot = (ff_setpoint){{trial.park.q, x}, {ff_vec3_zero(), v}};
        for (int i = 0; i < 64; i++) { /* semi-implicit Euler: errors of w h */
            const ff_setpoint u = ff_trial_at(&trial, (double)k * T + (i + 0.5) * h - delay);
            for (int a = 0; a < 3; a++) {
                v.a[a] += h * (w * w * (u.T.p.a[a] - x.a[a]) + 2.0 * z * w * (u.twist.v.a[a] - v.a[a]));
                x.a[a] += h * v.a[a];
            }
        }
    }
    ff_log_delay found;
    char message[160] = "";
    if (ff_trial_time(&trial, sample, count, 0.2, &found, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(found.lag, FF_LOG_LAG_SECOND);
    assert_false(found.rotation);
    assert_near(found.delay.value, delay, 0.1 * T);
    assert_near(found.frequency.value, 6.0, 0.05);
    assert_near(found.damping.value, z, 0.01);
    free(sample);
}

/* Out of the arm's reach there is no distance to an end; one state is a motion, too. */
static void test_margin_out_of_reach(void **state) {
    (void)state;
    load("weight: scenario", "[0, 0, 0]");
    const ff_plan_body *body = &plan.body[0];
    const ff_pose T = ff_arm_forward(&body->arm, &body->home);
    ff_rigid_state motion[7];
    for (int k = 0; k < 7; k++)
        motion[k] = (ff_rigid_state){.position = T.p, .attitude = T.q};
    double when = -1.0, least = FF_INF;
    for (int a = 0; a < 6; a++)
        least = fmin(least, fmin(body->home.a[a] - body->arm.config.lower[a],
                                 body->arm.config.upper[a] - body->home.a[a]));
    assert_near(ff_check_margin(body, motion, 1, 1, 0.004, &when), least, 1e-9);
    assert_near(when, 0.0, 0.0);
    motion[6].position.x += 50.0; /* the last of seven is looked at */
    assert_true(ff_check_margin(body, motion, 1, 6, 0.004, &when) > 0.0);
    assert_true(ff_check_margin(body, motion + 1, 1, 5, 0.004, &when) > 0.0); /* nor one behind the last */
    assert_true(ff_check_margin(body, motion, 1, 7, 0.004, &when) == -FF_INF);
    assert_near(when, 0.024, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_between_two_poses),
        cmocka_unit_test(test_motion_is_its_closed_form),
        cmocka_unit_test(test_tilts_take_their_time),
        cmocka_unit_test(test_a_span_obeys_each_limit_alone),
        cmocka_unit_test(test_amplitude_is_half_of_the_tightest_limit),
        cmocka_unit_test(test_axes_of_the_tilts),
        cmocka_unit_test(test_when_the_mockup_is_weighed),
        cmocka_unit_test(test_only_what_was_felt_at_rest_counts),
        cmocka_unit_test(test_skew_in_all_of_its_range),
        cmocka_unit_test(test_skew_has_its_uncertainty),
        cmocka_unit_test(test_a_chirp_that_was_cut_short),
        cmocka_unit_test(test_delay_and_lag_are_told_apart),
        cmocka_unit_test(test_margin_out_of_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
