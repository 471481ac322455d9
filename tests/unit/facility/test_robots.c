/* Robots: exact delays, the lag against its closed form. */
#include "unit/facility/plants.h"

#include "facility/robots.h"

static ff_plant *delay_plant(ff_scenario *s, ff_robot_kind kind, double cycle, double delay) {
    make_scenario(s, 1);
    s->cycle = cycle;
    s->satellite[0].robot.kind = kind;
    s->satellite[0].robot.delay = delay;
    return make_plant(s);
}

/* A delay of n cycles gives back, bit by bit, the command of n cycles ago; for every n and T, although n*T/T
 * is seldom n in floating point. */
static void test_delay_whole_cycles_bit_exact(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    const double cycles[] = {0.004, 0.001, 0.1, 1.0 / 3.0, 0.0125, 0.007};
    for (size_t c = 0; c < sizeof cycles / sizeof *cycles; c++)
        for (uint64_t n = 0; n <= 30; n++) {
            ff_scenario s;
            const double delay = n == 10 && c == 0 ? 0.040 : (double)n * cycles[c];
            ff_plant *plant = delay_plant(&s, FF_ROBOT_DELAY, cycles[c], delay);
            ff_setpoint command[80];
            for (uint64_t k = 0; k < 80; k++) {
                command[k] = random_setpoint(&rng, 1.0);
                ff_plant_write(plant, k, &command[k]);
                ff_truth truth;
                assert_int_equal(ff_plant_read(plant, k, NULL, &truth), FF_OK);
                if (k >= n)
                    assert_memory_equal(&truth.robot[0], &command[k - n], sizeof(ff_setpoint));
            }
            ff_plant_free(plant);
        }
}

/* A rewritten command counts from the next cycle on. */
static void test_delay_rewritten_command_is_used(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, 3, 1);
    ff_scenario s;
    ff_plant *plant = delay_plant(&s, FF_ROBOT_DELAY, 0.004, 0.008);
    ff_setpoint final[20];
    for (uint64_t k = 0; k < 20; k++) {
        const ff_setpoint first = random_setpoint(&rng, 1.0);
        final[k] = random_setpoint(&rng, 1.0);
        ff_plant_write(plant, k, &first);
        ff_truth truth;
        ff_plant_read(plant, k, NULL, &truth);
        ff_plant_write(plant, k, &final[k]);
        if (k >= 2)
            assert_memory_equal(&truth.robot[0], &final[k - 2], sizeof(ff_setpoint));
    }
    ff_plant_free(plant);
}

/* Commands whose position is their time: the robot's place shows its delay of the cycle. */
static double jitter_run(ff_plant *plant, double T, int cycles, double *late) {
    double sum = 0.0;
    for (int k = 0; k < cycles; k++) {
        const ff_setpoint c = {{ff_quat_identity(), ff_vec3_make(k * T, 0, 0)},
                               {ff_vec3_zero(), ff_vec3_make(1, 0, 0)}};
        ff_truth truth;
        ff_plant_write(plant, (uint64_t)k, &c);
        assert_int_equal(ff_plant_read(plant, (uint64_t)k, NULL, &truth), FF_OK);
        late[k] = k * T - truth.robot[0].T.p.x;
        sum += late[k];
        assert_near(truth.robot[0].twist.v.x, 1.0, 1e-15);
    }
    return sum / cycles;
}

/* Commands whose position is their number. A lost one is stood in for by the last that came, at rest; the
 * share is the one asked for, losses do not follow each other, a rewritten command shares its fate, and a
 * reset gives the same. */
static void test_lost_commands_leave_the_robot_at_the_last(void **state) {
    (void)state;
    enum { N = 20000 };
    static bool gone[2][N];
    ff_scenario s;
    make_scenario(&s, 1);
    s.satellite[0].robot.kind = FF_ROBOT_DELAY;
    s.satellite[0].robot.delay = 2 * s.cycle;
    s.satellite[0].robot.lost = 0.1;
    ff_plant *plant = make_plant(&s);
    int lost = 0, twice = 0;
    for (int pass = 0; pass < 2; pass++) {
        double last = 0.0;
        for (int k = 0; k < N; k++) {
            ff_setpoint c = {ff_pose_identity(), {ff_vec3_zero(), ff_vec3_make(1, 0, 0)}};
            ff_truth truth;
            if (pass == 1) { /* commanded once too early */
                c.T.p.x = -1.0;
                ff_plant_write(plant, (uint64_t)k, &c);
            }
            c.T.p.x = k;
            ff_plant_write(plant, (uint64_t)k, &c);
            assert_int_equal(ff_plant_read(plant, (uint64_t)k, NULL, &truth), FF_OK);
            if (k < 2)
                continue;
            gone[pass][k] = truth.robot[0].T.p.x != k - 2;
            if (gone[pass][k]) {
                assert_true(truth.robot[0].T.p.x == last);
                assert_true(truth.robot[0].twist.v.x == 0.0);
                lost++;
                twice += gone[pass][k - 1];
            }
            last = truth.robot[0].T.p.x;
        }
        ff_plant_reset(plant);
    }
    assert_memory_equal(gone[0], gone[1], sizeof gone[0]);
    assert_near(lost / (2.0 * N), 0.1, 5.0 * sqrt(0.09 / N));
    assert_near(twice / (2.0 * N), 0.01, 5.0 * sqrt(0.0099 / N));
    ff_plant_free(plant);
}

/* The delays drawn fill [delay - jitter, delay + jitter] evenly, cut at 0; a reset gives the same bits,
 * another seed or another robot others. */
static void test_jitter_is_even_bounded_and_repeatable(void **state) {
    (void)state;
    enum { CYCLES = 20000, CELLS = 10 };
    static double late[CYCLES], again[CYCLES];
    const double cases[][2] = {{0.040, 0.004}, {0.0413, 0.0007}, {0.012, 0.012}, {0.003, 0.009}};
    for (int c = 0; c < 4; c++) {
        const double delay = cases[c][0], jitter = cases[c][1], T = 0.004;
        ff_scenario s;
        make_scenario(&s, 1);
        s.cycle = T;
        s.seed = test_seed() + (uint64_t)c;
        s.satellite[0].start.velocity = ff_vec3_make(1, 0, 0); /* and it came along that way */
        s.satellite[0].robot.kind = FF_ROBOT_DELAY;
        s.satellite[0].robot.delay = delay;
        s.satellite[0].robot.jitter = jitter;
        ff_plant *plant = make_plant(&s);
        const double mean = jitter_run(plant, T, CYCLES, late);
        int cell[CELLS] = {0}, zero = 0;
        double product = 0.0;
        for (int k = 0; k < CYCLES; k++) {
            assert_true(late[k] >= fmax(delay - jitter, 0.0) - 1e-10 && late[k] <= delay + jitter + 1e-10);
            cell[(int)fmin(CELLS - 1, fmax(0, CELLS * (late[k] - delay + jitter) / (2 * jitter)))]++;
            zero += late[k] < 1e-10;
            product += k ? (late[k] - mean) * (late[k - 1] - mean) : 0.0;
        }
        if (delay >= jitter) { /* five standard deviations: of the mean, of a cell, of the next to the last */
            const double sd = jitter / sqrt(3.0);
            assert_near(mean, delay, 5 * sd / sqrt(CYCLES));
            assert_near(product / CYCLES, 0.0, 5 * sd * sd / sqrt(CYCLES));
            for (int i = 0; i < CELLS; i++)
                assert_near(cell[i], CYCLES / CELLS, 5 * sqrt(CYCLES / CELLS));
        } else { /* a third of the draws lies below 0 */
            const double p = (jitter - delay) / (2 * jitter);
            assert_near(zero, p * CYCLES, 5 * sqrt(p * (1 - p) * CYCLES));
        }
        ff_plant_reset(plant);
        jitter_run(plant, T, CYCLES, again);
        assert_memory_equal(late, again, sizeof late);
        ff_plant_free(plant);
        s.seed++;
        plant = make_plant(&s);
        jitter_run(plant, T, CYCLES, again);
        assert_memory_not_equal(late, again, sizeof late);
        ff_plant_free(plant);
    }

    ff_scenario two;
    make_scenario(&two, 2);
    for (int i = 0; i < 2; i++) {
        two.satellite[i].start.velocity = ff_vec3_make(1, 0, 0);
        two.satellite[i].robot.kind = FF_ROBOT_DELAY;
        two.satellite[i].robot.delay = 0.04;
        two.satellite[i].robot.jitter = 0.01;
    }
    ff_plant *plant = make_plant(&two);
    ff_truth truth;
    ff_plant_read(plant, 0, NULL, &truth);
    assert_true(truth.robot[0].T.p.x != truth.robot[1].T.p.x);
    ff_plant_free(plant);
    char message[256] = "";
    const double bad[] = {-0.001, FF_NAN, FF_INF};
    for (int i = 0; i < 3; i++) {
        two.satellite[1].robot.jitter = bad[i];
        assert_null(ff_plant_create(&two, message, sizeof message, NULL));
        assert_non_null(strstr(message, "jitter"));
    }
}

/* Between two commands: position and velocities on the straight line, attitude on the geodesic. */
static void test_delay_fraction_interpolates(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int run = 0; run < 50; run++) {
        ff_scenario s;
        const double cycles = ff_rng_range(&rng, 0.01, 12.0), T = 0.004;
        ff_plant *plant = delay_plant(&s, FF_ROBOT_DELAY, T, cycles * T);
        ff_setpoint command[40];
        for (int k = 0; k < 40; k++) {
            command[k] = random_setpoint(&rng, 1.0);
            if (k > 0) /* less than half a turn, so that the shorter arc is unique */
                command[k].T.q = ff_quat_mul(command[k - 1].T.q, ff_quat_exp(test_random_vec3(&rng, 0.8)));
            ff_plant_write(plant, (uint64_t)k, &command[k]);
            ff_truth truth;
            ff_plant_read(plant, (uint64_t)k, NULL, &truth);
            const double at = k - cycles; /* [cycles] */
            if (at < 0.0)
                continue;
            const int a = (int)floor(at);
            const double u = at - a;
            const ff_setpoint *p = &command[a], *q = &command[a + 1], *r = &truth.robot[0];
            for (int i = 0; i < 3; i++) {
                assert_near(r->T.p.a[i], (1 - u) * p->T.p.a[i] + u * q->T.p.a[i], 1e-12);
                assert_near(r->twist.v.a[i], (1 - u) * p->twist.v.a[i] + u * q->twist.v.a[i], 1e-12);
                assert_near(r->twist.w.a[i], (1 - u) * p->twist.w.a[i] + u * q->twist.w.a[i], 1e-12);
            }
            const double whole = ff_quat_angle(p->T.q, q->T.q);
            assert_near(ff_quat_angle(p->T.q, r->T.q), u * whole, 1e-12);
            assert_near(ff_quat_angle(r->T.q, q->T.q), (1 - u) * whole, 1e-12);
        }
        ff_plant_free(plant);
    }
}

/* Before its first command arrives the robot comes along with the initial twist. */
static void test_before_start_moves_with_initial_twist(void **state) {
    (void)state;
    const ff_robot_kind kinds[] = {FF_ROBOT_DELAY, FF_ROBOT_LAG, FF_ROBOT_LIMITED};
    const double delays[] = {0.0, 0.040, 0.0413};
    for (int kind = 0; kind < 3; kind++)
        for (int d = 0; d < 3; d++) {
            ff_scenario s;
            make_scenario(&s, 1);
            ff_rigid_state *start = &s.satellite[0].start;
            start->position = ff_vec3_make(10, -20, 30);
            start->attitude = ff_quat_exp(ff_vec3_make(0.3, 0.2, -0.5));
            start->velocity = ff_vec3_make(0.01, 0.015, 0.02);
            start->omega = ff_vec3_make(0.1, -0.2, 0.3);
            s.satellite[0].robot.kind = kinds[kind];
            s.satellite[0].robot.delay = delays[d];
            s.satellite[0].robot.acceleration = s.satellite[0].robot.angular_acceleration = 1.0;
            s.satellite[0].robot.jerk = s.satellite[0].robot.angular_jerk = 10.0;
            for (int lead = 0; lead < 2; lead++) {
                ff_plant *plant = make_plant(&s);
                const double ahead = lead * delays[d];
                if (lead)
                    ff_plant_set_lead(plant, 0, ahead);
                for (uint64_t k = 0; k < 200; k++) {
                    /* and the commands continue alike: no transient at any time */
                    const double t = (double)k * s.cycle, late = t - delays[d] + ahead;
                    const ff_setpoint c = {
                        {ff_quat_mul(start->attitude, ff_quat_exp(ff_vec3_scale(t + ahead, start->omega))),
                         ff_vec3_axpy(t + ahead, start->velocity, start->position)},
                        {start->omega, start->velocity}};
                    ff_plant_write(plant, k, &c);
                    ff_truth truth;
                    ff_loop_in in;
                    ff_plant_read(plant, k, &in, &truth);
                    assert_vec3_near(truth.robot[0].T.p, ff_vec3_axpy(late, start->velocity, start->position),
                                     1e-13 * 40);
                    assert_quat_near(
                        truth.robot[0].T.q,
                        ff_quat_mul(start->attitude, ff_quat_exp(ff_vec3_scale(late, start->omega))), 1e-13);
                    assert_vec3_near(truth.robot[0].twist.v, start->velocity, 1e-12);
                    assert_vec3_near(truth.robot[0].twist.w, start->omega, 1e-12);
                    assert_vec3_near(in.sensor[0].acceleration.v, ff_vec3_zero(), 1e-9);
                }
                ff_plant_free(plant);
            }
        }
}

/* Response at time t to an input b/w^2 that runs as a unit ramp from t = 0: the textbook's step response,
 * integrated. x'' + 2 z w x' + w^2 x = w^2 t, from rest. */
static double ramp_response(double t, double w, double z) {
    if (t <= 0.0)
        return 0.0;
    if (fabs(z - 1.0) < 1e-12)
        return t - 2.0 / w + exp(-w * t) * (t + 2.0 / w);
    if (z < 1.0) {
        const double s = w * sqrt(1 - z * z);
        return t - 2 * z / w + exp(-z * w * t) * (2 * z / w * cos(s * t) + (2 * z * z - 1) / s * sin(s * t));
    }
    const double s = w * sqrt(z * z - 1), p = z * w - s, q = z * w + s;
    /* partial fractions of w^2/(s^2 (s+p)(s+q)) with w^2 = p q */
    return t - (p + q) / (p * q) + q / (p * (q - p)) * exp(-p * t) - p / (q * (q - p)) * exp(-q * t);
}

/* Set points are linear within a cycle, so the response is a sum of ramp responses, one per kink, of
 * b/w^2 = u + 2 z/w u'. Translation, and rotation about one axis. */
static void test_lag_matches_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    const double ratios[] = {1.0, 0.3, 0.7, 1.0000001, 0.9999999, 1.5, 5.0};
    for (size_t run = 0; run < 7; run++) {
        ff_scenario s;
        make_scenario(&s, 1);
        ff_robot_config *robot = &s.satellite[0].robot;
        robot->kind = FF_ROBOT_LAG;
        robot->delay = 0.012;
        robot->frequency = ff_rng_range(&rng, 1.0, 40.0);
        robot->damping = ratios[run];
        const double w = 2 * FF_PI * robot->frequency, z = ratios[run], T = s.cycle;
        const ff_vec3 axis = ff_vec3_unit(test_random_vec3(&rng, 1.0));
        ff_plant *plant = make_plant(&s);
        enum { N = 300 };
        double b[N], u = 0, du = 0;
        for (int k = 0; k < N; k++) {
            if (k > 0) { /* steps and drifts; u and u' need not fit each other */
                u = k == 1 ? 0.1 : u + ff_rng_range(&rng, -0.01, 0.01);
                du = ff_rng_range(&rng, -0.2, 0.2);
            }
            b[k] = u + 2 * z / w * du;
            ff_setpoint c = {{ff_quat_exp(ff_vec3_scale(u, axis)), ff_vec3_scale(u, axis)},
                             {ff_vec3_scale(du, axis), ff_vec3_scale(du, axis)}};
            ff_plant_write(plant, (uint64_t)k, &c);
            ff_truth truth;
            ff_plant_read(plant, (uint64_t)k, NULL, &truth);
            double x = 0.0;
            const double t = k * T - 0.012;
            for (int i = 0; i < k; i++) { /* slope of segment i minus the one before */
                const double slope = (b[i + 1] - b[i]) / T, last = i > 0 ? (b[i] - b[i - 1]) / T : 0.0;
                x += (slope - last) * ramp_response(t - i * T, w, z);
            }
            assert_vec3_near(truth.robot[0].T.p, ff_vec3_scale(x, axis), 1e-9);
            assert_vec3_near(ff_quat_log(truth.robot[0].T.q), ff_vec3_scale(x, axis), 1e-9);
            assert_vec3_near(truth.robot[0].twist.w, truth.robot[0].twist.v, 1e-9);
            if (k > 0 &&
                k + 1 < N) { /* the velocity is the derivative: central difference of the closed form */
                /* h^2/6 of the third derivative is below 3e-7 m/s (kinks of 2.5 m/s, w up to 250 rad/s); near
                 * critical damping the closed form itself is rounded at 1e-12 m, which the difference divides
                 * by 2 h */
                const double h = 3e-6;
                double dx = 0.0;
                for (int i = 0; i < k; i++) {
                    const double slope = (b[i + 1] - b[i]) / T, last = i > 0 ? (b[i] - b[i - 1]) / T : 0.0;
                    if (t - i * T > h)
                        dx += (slope - last) *
                              (ramp_response(t - i * T + h, w, z) - ramp_response(t - i * T - h, w, z)) /
                              (2 * h);
                }
                assert_vec3_near(truth.robot[0].twist.v, ff_vec3_scale(dx, axis), 2e-6);
            }
        }
        ff_plant_free(plant);
    }
}

/* Turning about changing axes: against the same law integrated in fine steps in rotation matrices' own terms
 * (w' = w_n^2 e + 2 z w_n (w_u - w), e the rotation vector from robot to command). The chart is laid anew
 * each cycle, so the difference falls with the cycle. */
static double lag_attitude_error(double T) {
    ff_scenario s;
    make_scenario(&s, 1);
    s.cycle = T;
    s.satellite[0].robot.kind = FF_ROBOT_LAG;
    s.satellite[0].robot.frequency = 5.0;
    s.satellite[0].robot.damping = 0.7;
    s.satellite[0].start.omega = ff_vec3_make(0.4, -0.3, 0.5);
    ff_plant *plant = make_plant(&s);
    const double wn = 2 * FF_PI * 5.0, z = 0.7;
    ff_quat q = ff_quat_identity(), u = q;
    ff_vec3 w = s.satellite[0].start.omega;
    double worst = 0.0, t = 0.0;
    const int n = (int)round(1.0 / T), fine = (int)round(T / 2e-5);
    const double h = T / fine;
    for (int k = 0; k <= n; k++) {
        if (k > 0)
            for (int i = 0; i < fine; i++) { /* midpoint steps of command and robot alike */
                const double m = t + 0.5 * h;
                const ff_vec3 wu0 = ff_vec3_make(0.4 + sin(6 * t), -0.3 + 2 * t, 0.5 * cos(8 * t));
                const ff_vec3 wum = ff_vec3_make(0.4 + sin(6 * m), -0.3 + 2 * m, 0.5 * cos(8 * m));
                const ff_quat um = ff_quat_mul(u, ff_quat_exp(ff_vec3_scale(0.5 * h, wu0)));
                const ff_quat d0 = ff_quat_mul(ff_quat_conj(q), u);
                const ff_vec3 a0 = ff_vec3_axpy(2 * z * wn, ff_vec3_sub(ff_quat_rotate(d0, wu0), w),
                                                ff_vec3_scale(wn * wn, ff_quat_log(d0)));
                const ff_quat qm = ff_quat_mul(q, ff_quat_exp(ff_vec3_scale(0.5 * h, w)));
                const ff_vec3 wm = ff_vec3_axpy(0.5 * h, a0, w);
                const ff_quat dm = ff_quat_mul(ff_quat_conj(qm), um);
                const ff_vec3 am = ff_vec3_axpy(2 * z * wn, ff_vec3_sub(ff_quat_rotate(dm, wum), wm),
                                                ff_vec3_scale(wn * wn, ff_quat_log(dm)));
                q = ff_quat_mul(q, ff_quat_exp(ff_vec3_scale(h, wm)));
                w = ff_vec3_axpy(h, am, w);
                u = ff_quat_mul(u, ff_quat_exp(ff_vec3_scale(h, wum)));
                t += h;
            }
        const ff_setpoint c = {
            {u, ff_vec3_zero()},
            {ff_vec3_make(0.4 + sin(6 * t), -0.3 + 2 * t, 0.5 * cos(8 * t)), ff_vec3_zero()}};
        ff_plant_write(plant, (uint64_t)k, &c);
        ff_truth truth;
        ff_plant_read(plant, (uint64_t)k, NULL, &truth);
        worst = fmax(worst, ff_quat_angle(truth.robot[0].T.q, q));
    }
    ff_plant_free(plant);
    return worst;
}

static void test_lag_attitude_converges_to_the_continuous_law(void **state) {
    (void)state;
    const double coarse = lag_attitude_error(0.008), middle = lag_attitude_error(0.004),
                 fine = lag_attitude_error(0.002);
    print_message("attitude error of the lag: %.3g %.3g %.3g rad at 8, 4, 2 ms\n", coarse, middle, fine);
    assert_true(middle < 1e-4);
    assert_true(coarse / middle > 3.5 && middle / fine > 3.5); /* second order */
}

/* With a high frequency the lag is the delay robot. */
static void test_lag_fast_is_delay(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    ff_scenario s;
    make_scenario(&s, 1);
    s.satellite[0].robot.kind = FF_ROBOT_LAG;
    s.satellite[0].robot.frequency = 1e9;
    s.satellite[0].robot.delay = 0.0131;
    ff_plant *lag = make_plant(&s);
    s.satellite[0].robot.kind = FF_ROBOT_DELAY;
    ff_plant *delay = make_plant(&s);
    ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
    for (uint64_t k = 0; k < 50; k++) {
        c.T.p = ff_vec3_add(c.T.p, test_random_vec3(&rng, 0.01));
        c.T.q = ff_quat_mul(c.T.q, ff_quat_exp(test_random_vec3(&rng, 0.01)));
        ff_plant_write(lag, k, &c);
        ff_plant_write(delay, k, &c);
        ff_truth a, b;
        ff_plant_read(lag, k, NULL, &a);
        ff_plant_read(delay, k, NULL, &b);
        assert_vec3_near(a.robot[0].T.p, b.robot[0].T.p, 1e-8);
        assert_quat_near(a.robot[0].T.q, b.robot[0].T.q, 1e-8);
    }
    ff_plant_free(lag);
    ff_plant_free(delay);
}

static void limit_all(ff_robot_config *robot, double v, double a, double j) {
    robot->velocity = robot->angular_velocity = v;
    robot->acceleration = robot->angular_acceleration = a;
    robot->jerk = robot->angular_jerk = j;
}

/* Without limits it is the delay robot, bit by bit. */
static void test_limited_without_limits_is_delay(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    ff_scenario s;
    make_scenario(&s, 1);
    s.satellite[0].robot.base = test_random_pose(&rng, 1.0);
    s.satellite[0].robot.kind = FF_ROBOT_LIMITED;
    s.satellite[0].robot.delay = 0.008;
    ff_plant *plant = make_plant(&s);
    ff_setpoint c[50];
    for (uint64_t k = 0; k < 50; k++) {
        c[k] = random_setpoint(&rng, 1.0);
        ff_plant_write(plant, k, &c[k]);
        ff_truth truth;
        ff_plant_read(plant, k, NULL, &truth);
        if (k >= 2)
            assert_memory_equal(&truth.robot[0], &c[k - 2], sizeof c[0]);
    }
    ff_plant_free(plant);
}

/* Commands that jump about: the limits hold on every axis of the base and of the body, at every cycle. */
static void test_limited_never_exceeds_its_limits(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    int fast = 0; /* runs that come near the limit of the speed: now and then no jump is long enough */
    const int runs = test_count(30, 500);
    for (int run = 0; run < runs; run++) {
        ff_scenario s;
        make_scenario(&s, 1);
        ff_robot_config *robot = &s.satellite[0].robot;
        robot->kind = FF_ROBOT_LIMITED;
        robot->delay = 0.0093;
        robot->base = test_random_pose(&rng, 1.0);
        const double v = 0.3, a = 2.0, j = run % 2 ? 40.0 : FF_INF, T = s.cycle;
        limit_all(robot, v, a, j);
        ff_plant *plant = make_plant(&s);
        ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
        ff_twist last = ff_twist_zero(), acceleration = ff_twist_zero();
        bool moved = false;
        for (uint64_t k = 0; k < 500; k++) {
            if (k % 50 == 0)
                c = random_setpoint(&rng, 0.05);
            if (k % 50 == 0)
                c.T.q = ff_quat_exp(test_random_vec3(&rng, 0.1));
            c.T.p = ff_vec3_axpy(T, c.twist.v, c.T.p);
            c.T.q = ff_quat_mul(c.T.q, ff_quat_exp(ff_vec3_scale(T, c.twist.w)));
            ff_plant_write(plant, k, &c);
            ff_truth truth;
            assert_int_equal(ff_plant_read(plant, k, NULL, &truth), FF_OK);
            ff_twist now = truth.robot[0].twist;
            now.v = ff_quat_unrotate(robot->base.q, now.v);
            const ff_twist rate = ff_twist_scale(1 / T, ff_twist_sub(now, last));
            for (int i = 0; i < 3; i++) {
                assert_true(fabs(now.v.a[i]) <= v * (1 + 1e-9) && fabs(now.w.a[i]) <= v * (1 + 1e-9));
                assert_true(fabs(rate.v.a[i]) <= a * (1 + 1e-9) && fabs(rate.w.a[i]) <= a * (1 + 1e-9));
                if (k > 0) { /* mean accelerations of neighbouring cycles differ by at most j T */
                    assert_true(fabs(rate.v.a[i] - acceleration.v.a[i]) <= j * T * (1 + 1e-9) + 1e-9);
                    assert_true(fabs(rate.w.a[i] - acceleration.w.a[i]) <= j * T * (1 + 1e-9) + 1e-9);
                }
            }
            moved |= fabs(now.v.x) > 0.9 * v;
            last = now;
            acceleration = rate;
        }
        fast += moved;
        ff_plant_free(plant);
    }
    assert_true(10 * fast > 9 * runs);
}

/* Rest to rest under an acceleration limit: bang-bang takes 2 sqrt(D/a), on each axis of the base alone, and
 * the middle is reached half way. */
static void test_limited_step_is_time_optimal(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 1);
    s.cycle = 0.001;
    ff_robot_config *robot = &s.satellite[0].robot;
    robot->kind = FF_ROBOT_LIMITED;
    limit_all(robot, FF_INF, 2.0, FF_INF);
    robot->base.q = ff_quat_exp(ff_vec3_make(0, 0, 0.25 * FF_PI));
    ff_plant *plant = make_plant(&s);
    ff_setpoint c = {ff_pose_identity(), ff_twist_zero()};
    const double D = 0.02, total = 2 * sqrt(D / 2.0); /* 0.2 s */
    c.T.p = ff_quat_rotate(robot->base.q, ff_vec3_make(D, 0, 0));
    c.T.q = ff_quat_exp(ff_vec3_make(0, -D, 0));
    for (uint64_t k = 0; k < 300; k++) {
        ff_plant_write(plant, k, &c);
        ff_truth truth;
        ff_plant_read(plant, k, NULL, &truth);
        const double t = (double)(k + 1) * s.cycle; /* the first step leads from -T to 0 */
        double x = D;
        if (t < 0.5 * total)
            x = t * t;
        else if (t < total)
            x = D - (total - t) * (total - t);
        assert_vec3_near(truth.robot[0].T.p, ff_quat_rotate(robot->base.q, ff_vec3_make(x, 0, 0)), 1e-9);
        assert_vec3_near(ff_quat_log(truth.robot[0].T.q), ff_vec3_make(0, -x, 0), 1e-9);
    }
    ff_plant_free(plant);
}

/* Elastic gears: under a constant wrench the axes settle at dq = J' F/K, so the tool at J dq; without one it
 * is where the command is. F of 40 N: dq^2 is 1e-3 of dq. */
static void test_joints_give_way_by_their_stiffness(void **state) {
    (void)state;
    ff_arm_config arm;
    ff_arm_model model;
    ff_arm_default(FF_ARM_KR16, &arm);
    assert_int_equal(ff_arm_create(&arm, &model), FF_OK);
    const ff_arm_joints q = {.a = {0.2, -1.4, 1.6, 0.3, 0.8, -0.4}};
    const ff_pose T = ff_arm_forward(&model, &q);
    ff_robot_config config = test_robot(FF_ROBOT_JOINTS, 0.008);
    const double stiffness[6] = {2e5, 2e5, 1e5, 2e4, 2e4, 1e4},
                 damping[6] = {4000, 4000, 2000, 200, 200, 100}, inertia[6] = {25, 25, 12, 1, 1, 0.5};
    memcpy(config.gear_stiffness, stiffness, sizeof stiffness);
    memcpy(config.gear_damping, damping, sizeof damping);
    memcpy(config.joint_inertia, inertia, sizeof inertia);
    const ff_rigid_state start = {.position = T.p, .attitude = T.q};
    ff_robot robot;
    char message[256] = "";
    if (ff_robot_create(&robot, &config, &start, 0.004, 1, 0, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    const ff_setpoint command = {T, ff_twist_zero()};
    const ff_vec3 force = ff_vec3_make(30, -20, 15), torque = ff_vec3_make(2, 3, -1); /* inertial */
    for (int pushed = 0; pushed < 2; pushed++) {
        for (uint64_t k = 0; k < 400; k++) {
            ff_robot_write(&robot, k + 400 * (uint64_t)pushed, &command);
            ff_robot_step(&robot, k + 400 * (uint64_t)pushed);
            for (int n = 0; n < FF_ROBOT_SUBSTEPS; n++) {
                const double from = (double)n / FF_ROBOT_SUBSTEPS, to = (n + 1.0) / FF_ROBOT_SUBSTEPS;
                ff_robot_substep(&robot, from, to);
                const ff_quat q_wb = ff_robot_between(&robot, to).T.q;
                const ff_wrench push = {ff_quat_unrotate(q_wb, torque), ff_quat_unrotate(q_wb, force)};
                ff_robot_meet(&robot, pushed ? push : ff_wrench_zero(), from, to);
            }
        }
        double J[6][7];
        ff_arm_jacobian(&model, &q, J);
        const double F[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
        ff_vec3 shift = ff_vec3_zero();
        for (int a = 0; a < 6 && pushed; a++) {
            double t = 0.0;
            for (int i = 0; i < 6; i++)
                t += J[i][a] * F[i];
            for (int i = 0; i < 3; i++)
                shift.a[i] += J[3 + i][a] * t / stiffness[a];
        }
        const ff_vec3 moved = ff_vec3_sub(robot.now.T.p, T.p);
        assert_vec3_near(moved, shift, pushed ? 5e-3 * ff_vec3_norm(shift) : 1e-9);
        assert_true(!pushed || ff_vec3_norm(shift) > 1e-4);
        assert_near(ff_vec3_norm(robot.now.twist.v), 0.0, 1e-6); /* at rest */
    }
    ff_robot_free(&robot);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joints_give_way_by_their_stiffness),
        cmocka_unit_test(test_delay_whole_cycles_bit_exact),
        cmocka_unit_test(test_delay_rewritten_command_is_used),
        cmocka_unit_test(test_jitter_is_even_bounded_and_repeatable),
        cmocka_unit_test(test_lost_commands_leave_the_robot_at_the_last),
        cmocka_unit_test(test_delay_fraction_interpolates),
        cmocka_unit_test(test_before_start_moves_with_initial_twist),
        cmocka_unit_test(test_lag_matches_closed_form),
        cmocka_unit_test(test_lag_attitude_converges_to_the_continuous_law),
        cmocka_unit_test(test_lag_fast_is_delay),
        cmocka_unit_test(test_limited_without_limits_is_delay),
        cmocka_unit_test(test_limited_never_exceeds_its_limits),
        cmocka_unit_test(test_limited_step_is_time_optimal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
