/* fused, function by function: robot and sensor of a cycle. The motion at the time of the force, through the
 * sensor's low pass and behind yielding axes, against fine steps; the offset against a filter in matrices;
 * what the sensor makes of a surface's force. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state
static const double T = BENCH_T;

/* ------------------------------------------------------------------------------------------------ gears --
 */

/* I d'' + D d' + K d = torque, which runs from t0 to t1, by small steps of Runge and Kutta. */
static void axis_by_steps(double K, double D, double I, double t0, double t1, double *d, double *rate) {
    enum { STEPS = 200 };
    const double h = T / STEPS;
    if (I == 0.0) {
        *d = t1 / K;
        *rate = (t1 - t0) / (T * K);
        return;
    }
    for (int n = 0; n < STEPS; n++) {
        double kd[4], kr[4];
        for (int s = 0; s < 4; s++) {
            const double part = s == 0   ? 0.0
                                : s == 3 ? 1.0
                                         : 0.5,
                         x = *d + (s ? part * h * kd[s - 1] : 0.0),
                         v = *rate + (s ? part * h * kr[s - 1] : 0.0), u = (n + part) / STEPS;
            kd[s] = v;
            kr[s] = (t0 + u * (t1 - t0) - D * v - K * x) / I;
        }
        *d += h / 6.0 * (kd[0] + 2.0 * kd[1] + 2.0 * kd[2] + kd[3]);
        *rate += h / 6.0 * (kr[0] + 2.0 * kr[1] + 2.0 * kr[2] + kr[3]);
    }
}

/* The chain of axes as a product of screws: axis a turns all behind it. Where `tool` is when they are
 * at d, and its Jacobian there. */
static ff_pose chain(const double J[6][6], const double *d, ff_pose tool, double moved[6][6]) {
    ff_quat q = ff_quat_identity();
    ff_vec3 p = ff_vec3_zero(), w[6], v[6]; /* v: of the point in the origin */
    for (int a = 0; a < 6; a++) {
        const ff_vec3 turn = ff_vec3_make(J[0][a], J[1][a], J[2][a]),
                      origin =
                          ff_vec3_sub(ff_vec3_make(J[3][a], J[4][a], J[5][a]), ff_vec3_cross(turn, tool.p));
        w[a] = ff_quat_rotate(q, turn);
        v[a] = ff_vec3_add(ff_quat_rotate(q, origin), ff_vec3_cross(p, w[a]));
        ff_vec3 term = ff_vec3_scale(d[a], origin), way = term;
        for (int n = 2; n < 9; n++) { /* the series of the screw's displacement */
            term = ff_vec3_scale(d[a] / n, ff_vec3_cross(turn, term));
            way = ff_vec3_add(way, term);
        }
        p = ff_vec3_add(p, ff_quat_rotate(q, way));
        q = ff_quat_mul(q, ff_quat_exp(ff_vec3_scale(d[a], turn)));
    }
    const ff_pose at = {ff_quat_mul(q, tool.q), ff_vec3_add(p, ff_quat_rotate(q, tool.p))};
    for (int a = 0; a < 6; a++) {
        const ff_vec3 tip = ff_vec3_add(v[a], ff_vec3_cross(w[a], at.p));
        for (int r = 0; r < 3; r++) {
            moved[r][a] = w[a].a[r];
            moved[3 + r][a] = tip.a[r];
        }
    }
    return at;
}

/* Axes that swing, that creep, at the border between, and without inertia: the tool continues from where the
 * motors are by the axes' angles, with their own speed in place of the reported one from the third cycle on,
 * to the second order of the angles. Steps of a hundredth of the fastest swing leave 1e-10 of it. */
static void test_axes_yield_behind_their_motors(void **unused) {
    (void)unused;
    const double K[6] = {6e4, 9e4, 40000, 3e4, 2e4, 1e4}, D[6] = {100, 3000, 400, 50, 700, 20},
                 I[6] = {2, 3, 1, 0.5, 0, 0.2}; /* the second creeps, the third is at the border */
    for (int draw = 0; draw < 6; draw++) {
        const double size = draw % 2 ? 1.0 : 0.01; /* small angles show the second order alone */
        ff_gears g;
        fused_gears z = {.begun = false};
        double angle[6] = {0}, own[6] = {0}, torque[6] = {0}, motor[6] = {0};
        for (int a = 0; a < 6; a++) {
            g.stiffness[a] = K[a];
            g.damping[a] = D[a];
            g.inertia[a] = I[a];
            g.motor[a] = ff_rng_range(&rng, -2, 2);
            for (int r = 0; r < 6; r++)
                g.J[r][a] = ff_rng_range(&rng, -1, 1);
        }
        for (int n = 0; n < 5; n++) {
            fused_sample x = {.T_r = test_random_pose(&rng, 1.0),
                              .twist_r = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)},
                              .force = test_random_vec3(&rng, 100 * size),
                              .torque = test_random_vec3(&rng, 30 * size)};
            x.measured.twist = (ff_twist){test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
            const fused_sample was = x;
            double before[6], rate[6], speed[6] = {0}, J[6][6];
            memcpy(before, angle, sizeof before);
            for (int a = 0; a < 6 && n; a++) {
                g.motor[a] += ff_rng_range(&rng, -1e-3, 1e-3);
                speed[a] = (g.motor[a] - motor[a]) / T;
            }
            ff_pose at = chain((const double(*)[6])g.J, angle, was.T_r, J);
            double now[6];
            for (int pass = 0; pass < 4; pass++) { /* the wrench acts where the axes are */
                const ff_vec3 turn = ff_quat_rotate(at.q, was.torque),
                              push = ff_quat_rotate(at.q, ff_quat_unrotate(was.T_r.q, was.force));
                for (int a = 0; a < 6; a++) {
                    now[a] = 0.0;
                    for (int r = 0; r < 3; r++)
                        now[a] += J[r][a] * turn.a[r] + J[3 + r][a] * push.a[r];
                    angle[a] = before[a];
                    rate[a] = n > 1 ? own[a] - speed[a] : 0.0;
                    if (n)
                        axis_by_steps(K[a], D[a], I[a], torque[a], now[a], &angle[a], &rate[a]);
                }
                at = chain((const double(*)[6])g.J, angle, was.T_r, J);
            }
            ff_twist motion = ff_twist_zero();
            double bent = 0.0, runs = 0.0; /* angles and rates, as far as J carries them */
            for (int a = 0; a < 6; a++) {
                if (n)
                    own[a] = rate[a] + speed[a];
                torque[a] = now[a];
                motor[a] = g.motor[a];
                for (int r = 0; r < 3; r++) {
                    motion.w.a[r] += J[r][a] * own[a];
                    motion.v.a[r] += J[3 + r][a] * own[a];
                }
                bent += 3.0 * fabs(angle[a]);
                runs += 3.0 * fabs(own[a]);
            }
            ff__fused_give_way(&z, &g, T, &x);
            const double third = bent * bent * bent;
            assert_vec3_near(x.T_r.p, at.p, third + 1e-10);
            assert_true(ff_quat_angle(x.T_r.q, at.q) < third + 1e-7);
            assert_true(n == 0 || ff_quat_angle(x.T_r.q, was.T_r.q) > 1e-5 * size);
            ff_twist twist = was.twist_r;
            if (n > 1) {
                twist.w =
                    ff_vec3_add(twist.w, ff_vec3_sub(ff_quat_unrotate(at.q, motion.w), was.measured.twist.w));
                twist.v = ff_vec3_add(twist.v, ff_vec3_sub(motion.v, was.measured.twist.v));
            }
            assert_vec3_near(x.twist_r.w, twist.w, bent * bent * (runs + bent / T) + 1e-7);
            assert_vec3_near(x.twist_r.v, twist.v, bent * bent * (runs + bent / T) + 1e-7);
        }
    }
}

/* --------------------------------------------------------------------------------------- time and low pass
 * --
 */

static ff_body_sample sample;

/* One cycle of body 0 with this motion and this reading. */
static fused_sample *store(const ff_setpoint *robot, ff_wrench reading, bool valid) {
    const uint64_t k = S->history.count;
    const ff_rigid_state body = ff_setpoint_to_state(robot);
    const ff_method_in in = {.cycle = T, .bodies = 1, .sample = &sample};
    sample.T_wr = robot->T;
    sample.twist_r = robot->twist;
    sample.f_b = reading;
    sample.valid = valid;
    assert_int_equal(ff__fused_store(&bench_model, S, &in, &body, k), FF_OK);
    return fused_at(S, 0, k);
}

/* A swinging tool that turns about one axis. */
static ff_setpoint swinging(double t, ff_vec3 side, ff_vec3 along, ff_vec3 axis, double w) {
    const double turn = 0.3 * t + 0.5 * sin(w * t), rate = 0.3 + 0.5 * w * cos(w * t);
    return (ff_setpoint){
        {ff_quat_exp(ff_vec3_scale(turn, axis)), ff_vec3_axpy(sin(w * t), side, ff_vec3_scale(t, along))},
        {ff_vec3_scale(rate, axis), ff_vec3_axpy(w * cos(w * t), side, along)}};
}

/* The force is older, or younger, than the pose that comes with it: Hermite's cubic between the two samples
 * that hold that time between them, or that are nearest to it; of the turn its quadratic. */
static void test_motion_at_the_time_of_the_force(void **unused) {
    (void)unused;
    const double skews[] = {0.0, 0.3, 1.0, 1.6, 4.25, -0.4, 1e9};
    for (size_t n = 0; n < sizeof skews / sizeof *skews; n++) {
        const ff_vec3 side = test_random_vec3(&rng, 0.5), along = ff_vec3_scale(2.0, bench_unit(&rng)),
                      axis = bench_unit(&rng);
        const double w = 5.0;
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_model.config.skew = skews[n] * T;
        const int cycles = n == 6 ? 1000 : 9;
        for (int k = 0; k < cycles; k++) {
            const ff_setpoint robot = swinging(k * T, side, along, axis, w);
            const ff_wrench f = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
            const fused_sample *x = store(&robot, f, k % 3 != 1);
            int whole = skews[n] > 0.0 ? (int)fmin(skews[n], FUSED_RING - SPARE) : 0; /* cycles back */
            whole = whole < k - 1 ? whole : k - 1;
            if (n == 6 && k < cycles - 1 && k != 700)
                continue;
            const double back = skews[n] * T - whole * T, u = 1.0 - back / T;
            if (k == 0 || n == 0) {
                assert_memory_equal(&x->T_r, &robot.T, sizeof robot.T);
                assert_memory_equal(&x->twist_r, &robot.twist, sizeof robot.twist);
            } else if (n != 6) {
                const ff_setpoint a = swinging((k - whole - 1) * T, side, along, axis, w),
                                  b = swinging((k - whole) * T, side, along, axis, w);
                const double h00 = 1 - 3 * u * u + 2 * u * u * u, h10 = u - 2 * u * u + u * u * u,
                             h01 = 3 * u * u - 2 * u * u * u, h11 = u * u * u - u * u;
                const double d00 = -6 * u + 6 * u * u, d10 = 1 - 4 * u + 3 * u * u, d01 = 6 * u - 6 * u * u,
                             d11 = 3 * u * u - 2 * u;
                ff_vec3 p, v;
                for (int i = 0; i < 3; i++) {
                    p.a[i] = h00 * a.T.p.a[i] + h10 * T * a.twist.v.a[i] + h01 * b.T.p.a[i] +
                             h11 * T * b.twist.v.a[i];
                    v.a[i] = (d00 * a.T.p.a[i] + d01 * b.T.p.a[i]) / T + d10 * a.twist.v.a[i] +
                             d11 * b.twist.v.a[i];
                }
                assert_vec3_near(x->T_r.p, p, 1e-12 * (1.0 + fabs(u * u * u)));
                assert_vec3_near(x->twist_r.v, v, 1e-11 * (1.0 + u * u));
                const double wa = ff_vec3_dot(a.twist.w, axis), wb = ff_vec3_dot(b.twist.w, axis),
                             turned = -back * wb + 0.5 * (wb - wa) * back * back / T;
                assert_vec3_near(x->twist_r.w, ff_vec3_scale(wa + u * (wb - wa), axis), 1e-12);
                assert_vec3_near(ff_quat_log(ff_quat_mul(ff_quat_conj(b.T.q), x->T_r.q)),
                                 ff_vec3_scale(turned, axis), 1e-12);
            } else { /* no further back than the history: the motion of there, carried back; the rate's
                      change in a cycle is some 1e-6 of the rate at least, so 1e-9 of it are certain */
                const ff_setpoint b = swinging((k - whole) * T, side, along, axis, w);
                const double wb = ff_vec3_dot(b.twist.w, axis),
                             wa = ff_vec3_dot(swinging((k - whole - 1) * T, side, along, axis, w).twist.w,
                                              axis);
                assert_near(ff_vec3_dot(x->twist_r.w, axis) / (wa + u * (wb - wa)), 1.0, 1e-9);
            }
            assert_vec3_near(x->force, ff_quat_rotate(x->T_r.q, f.f), 1e-15);
            assert_vec3_near(x->torque, f.t, 0.0);
            assert_int_equal(x->valid, k % 3 != 1);
            assert_memory_equal(&x->measured, &robot, sizeof robot);
            assert_false(x->hears);
        }
    }
}

/* A step that the velocities do not explain to a twentieth was made evenly. */
static void test_a_jump_is_made_evenly(void **unused) {
    (void)unused;
    for (int jump = 0; jump < 2; jump++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_model.config.skew = 0.25 * T;
        const ff_vec3 v = test_random_vec3(&rng, 0.5), w = test_random_vec3(&rng, 1.0),
                      dv = ff_vec3_scale(0.2, v), dw = test_random_vec3(&rng, 1.0);
        const ff_setpoint a = {test_random_pose(&rng, 1.0), {w, v}};
        ff_setpoint b = {a.T, {ff_vec3_add(w, dw), ff_vec3_add(v, dv)}};
        const ff_vec3 mean = ff_vec3_axpy(0.5, dv, v), turn = test_random_vec3(&rng, 0.3);
        const double off = jump ? 0.0505 : 0.0495;
        const ff_vec3 step =
            ff_vec3_scale(T, ff_vec3_axpy(off * ff_vec3_norm(mean), bench_across(&rng, mean), mean));
        b.T.p = ff_vec3_add(a.T.p, step);
        b.T.q = ff_quat_mul(a.T.q, ff_quat_exp(turn));
        store(&a, ff_wrench_zero(), true);
        const fused_sample *x = store(&b, ff_wrench_zero(), true);
        const ff_vec3 even = ff_vec3_axpy(0.75, step, a.T.p);
        assert_vec3_near(x->twist_r.w, ff_vec3_axpy(0.75, dw, w), 1e-14);
        if (jump) {
            assert_vec3_near(x->T_r.p, even, 1e-14);
            assert_vec3_near(x->twist_r.v, ff_vec3_axpy(0.75, dv, v), 1e-14);
            assert_vec3_near(ff_quat_log(ff_quat_mul(ff_quat_conj(b.T.q), x->T_r.q)),
                             ff_vec3_scale(-0.25, turn), 1e-14);
            continue;
        }
        /* h00 = 5/32, h01 = 27/32, h10 = 3/64, h11 = -9/64 at three quarters */
        const ff_vec3 p = ff_vec3_axpy(27.0 / 32.0, step, a.T.p);
        assert_vec3_near(x->T_r.p,
                         ff_vec3_axpy(3.0 / 64.0 * T, v, ff_vec3_axpy(-9.0 / 64.0 * T, b.twist.v, p)), 1e-14);
        assert_vec3_near(ff_quat_log(ff_quat_mul(ff_quat_conj(b.T.q), x->T_r.q)),
                         ff_vec3_axpy(0.5 * 0.0625 * T, dw, ff_vec3_scale(-0.25 * T, b.twist.w)), 1e-14);
    }
}

/* y' = (x - y)/lag behind an x that runs linearly from x0 to x1, by small steps. */
static double passed(double y, double x0, double x1, double lag) {
    enum { STEPS = 100 };
    const double h = T / STEPS;
    for (int n = 0; n < STEPS; n++) {
        double k[4];
        for (int s = 0; s < 4; s++) {
            const double part = s == 0 ? 0.0 : s == 3 ? 1.0 : 0.5, x = x0 + (n + part) / STEPS * (x1 - x0);
            k[s] = (x - y - (s ? part * h * k[s - 1] : 0.0)) / lag;
        }
        y += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3]);
    }
    return y;
}

/* The sensor's low pass: the motion passes through the same one, from an even motion before. */
static void test_motion_through_the_low_pass(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 4; draw++) {
        const double lag = (draw % 2 ? 0.7 : 2.5) * T, w = 30.0;
        const ff_vec3 side = test_random_vec3(&rng, 0.5), along = test_random_vec3(&rng, 0.5),
                      axis = bench_unit(&rng);
        ff_vec3 p = ff_vec3_zero(), v = ff_vec3_zero();
        double turn = 0.0, rate = 0.0, turned = 0.0;
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_model.config.sensor_lag = lag;
        bench_model.hears = draw > 1;
        ff_setpoint last = {0};
        for (int k = 0; k < 8; k++) {
            const ff_setpoint robot = swinging(k * T, side, along, axis, w);
            const ff_wrench f = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
            const fused_sample *x = store(&robot, f, true);
            const double now = 0.3 * k * T + 0.5 * sin(w * k * T), speed = ff_vec3_dot(robot.twist.w, axis);
            if (k == 0) {
                p = ff_vec3_axpy(-lag, robot.twist.v, robot.T.p);
                v = robot.twist.v;
                turn = now - lag * speed;
                rate = speed;
            } else {
                for (int i = 0; i < 3; i++) {
                    p.a[i] = passed(p.a[i], last.T.p.a[i], robot.T.p.a[i], lag);
                    v.a[i] = passed(v.a[i], last.twist.v.a[i], robot.twist.v.a[i], lag);
                }
                turn = passed(turn, turned, now, lag);
                rate = passed(rate, ff_vec3_dot(last.twist.w, axis), speed, lag);
            }
            last = robot;
            turned = now;
            assert_vec3_near(x->T_r.p, p, 1e-11);
            assert_vec3_near(x->twist_r.v, v, 1e-9);
            assert_vec3_near(x->twist_r.w, ff_vec3_scale(rate, axis), 1e-9);
            const ff_quat q = ff_quat_exp(ff_vec3_scale(turn, axis));
            assert_true(ff_vec3_norm(ff_quat_log(ff_quat_mul(ff_quat_conj(q), x->T_r.q))) < 1e-10);
            assert_vec3_near(x->force, ff_quat_rotate(q, f.f), 1e-9); /* in axes of then */
            assert_int_equal(x->hears, draw > 1);
        }
    }
}

/* Behind yielding axes the force is in the axes of the tool, the compliance is kept, and the rows are not
 * those of the robot now. */
static void test_a_sample_behind_gears(void **unused) {
    (void)unused;
    ff_gears g = {.stiffness = {1e3, 1e3, 1e3, 1e3, 1e3, 1e3}, .damping = {1, 1, 1, 1, 1, 1}};
    double C[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            g.J[i][j] = ff_rng_range(&rng, -1, 1);
            C[i][j] = ff_rng_range(&rng, -1, 1);
        }
    bench_reset(&rng, 1, 0.0, 0.0, NULL);
    bench_model.hears = true;
    sample.gears = &g;
    sample.compliance = (const double(*)[6])C;
    fused_gears z = {.begun = false};
    for (int k = 0; k < 3; k++) {
        const ff_setpoint robot = {test_random_pose(&rng, 1),
                                   {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)}};
        const ff_wrench f = {test_random_vec3(&rng, 5), test_random_vec3(&rng, 10)};
        const fused_sample *x = store(&robot, f, true);
        fused_sample y = {.T_r = robot.T,
                          .twist_r = robot.twist,
                          .force = ff_quat_rotate(robot.T.q, f.f),
                          .torque = f.t,
                          .measured = robot};
        ff__fused_give_way(&z, &g, T, &y);
        assert_memory_equal(&x->T_r, &y.T_r, sizeof y.T_r);
        assert_memory_equal(&x->twist_r, &y.twist_r, sizeof y.twist_r);
        assert_vec3_near(x->force, ff_quat_rotate(y.T_r.q, f.f), 1e-15);
        assert_true(k == 0 || ff_vec3_norm(ff_vec3_sub(x->force, y.force)) > 1e-3);
        assert_false(x->hears);
        assert_memory_equal(S->gears[0].C, C, sizeof C);
    }
    sample.gears = NULL;
    sample.compliance = NULL;
}

/* ----------------------------------------------------------------------------------------------- offset --
 */

/* Value and slope of each of six readings: a filter in matrices, x <- F x, then a reading H x = [1, -late].
 */
typedef struct line {
    double x[6][2], P[2][2];
} line;

static void line_forward(line *z, double walk) {
    const double F[2][2] = {{1, T}, {0, 1}};
    double P[2][2] = {{0}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int a = 0; a < 2; a++)
                for (int b = 0; b < 2; b++)
                    P[i][j] += F[i][a] * z->P[a][b] * F[j][b];
    memcpy(z->P, P, sizeof P);
    z->P[1][1] += walk * walk * T;
    for (int c = 0; c < 6; c++)
        z->x[c][0] += T * z->x[c][1];
}

static void line_learn(line *z, const double *reading, double late) {
    const double H[2] = {1.0, -late};
    double PH[2] = {0}, HPH = 0.0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            PH[i] += z->P[i][j] * H[j];
    for (int i = 0; i < 2; i++)
        HPH += H[i] * PH[i];
    for (int c = 0; c < 6; c++) {
        const double off = reading[c] - z->x[c][0] + late * z->x[c][1];
        for (int i = 0; i < 2; i++)
            z->x[c][i] += PH[i] / (HPH + 1.0) * off;
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            z->P[i][j] -= PH[i] * PH[j] / (HPH + 1.0);
}

static void parts_of(ff_wrench f, double *y) {
    for (int i = 0; i < 3; i++) {
        y[i] = f.t.a[i];
        y[3 + i] = f.f.a[i];
    }
}

static void assert_line(const line *z, const fused_zero *have) {
    double at[6], slope[6];
    parts_of(have->at, at);
    parts_of(have->slope, slope);
    for (int c = 0; c < 6; c++) {
        assert_near(at[c], z->x[c][0], 1e-11);
        assert_near(slope[c], z->x[c][1], 1e-10);
    }
    assert_near(have->P[0] / z->P[0][0], 1.0, 1e-10);
    assert_near(have->P[1], z->P[0][1], 1e-10 * sqrt(z->P[0][0] * z->P[1][1]));
    assert_near(have->P[2] / z->P[1][1], 1.0, 1e-10);
}

/* The first valid reading of a run is the sensor's zero; then value and drift are learnt in flight, two rows
 * in a cycle at most, as late as half of the flight or 32 cycles; nothing while a contact is open or being
 * settled, nor of samples that are none. A drift of .05 N/s is expected that walks by .01 N/s in a root of a
 * second, against a noise of .005 N at least. */
static void test_the_offset_is_learnt_in_flight(void **unused) {
    (void)unused;
    for (int loud = 0; loud < 2; loud++) {
        const double noise = loud ? 0.02 : 0.002, unit = fmax(noise, 0.005);
        bench_reset(&rng, 1, noise, 0.001, NULL);
        bench_model.config.zero = true;
        line z = {.P = {{1.0, 0.0}, {0.0, pow(0.05 / unit, 2)}}};
        static double reading[260][6];
        static bool good[260];
        uint64_t next = 0, ended = 0;
        for (uint64_t k = 0; k < 260; k++) {
            const bool touches = k >= 120 && k < 150, settles = k >= 150 && k < 160;
            S->contact[2].open = touches;
            S->contact[2].closing = settles;
            S->contact[2].b = -1;
            if (k == 150) /* the row of the end itself is not learnt from */
                S->free_since[0] = ended = loud ? next : 149;
            const ff_setpoint robot = {{test_random_quat(&rng), ff_vec3_zero()}, ff_twist_zero()};
            const ff_wrench f = {test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
            good[k] = k > 1 && k % 7 != 3;
            parts_of(f, reading[k]);
            const fused_sample *x = store(&robot, f, good[k]);
            ff_wrench off = ff_wrench_zero();
            if (k == 2) {
                for (int c = 0; c < 6; c++)
                    z.x[c][0] = reading[k][c];
                next = k + 1;
            } else if (k > 2) {
                line_forward(&z, 0.01 / unit);
                const uint64_t since = ended, flown = k - since, late = flown / 2 < 32 ? flown / 2 : 32;
                if (!touches && !settles) {
                    if (next <= since)
                        next = since + 1;
                    for (int n = 0; n < 2 && next + late <= k; n++, next++)
                        if (good[next])
                            line_learn(&z, reading[next], (double)(k - next) * T);
                }
            }
            if (k > 1) {
                for (int i = 0; i < 3; i++) {
                    off.t.a[i] = z.x[i][0];
                    off.f.a[i] = z.x[3 + i][0];
                }
                assert_line(&z, &S->zero[0]);
            }
            assert_int_equal(S->zero[0].known, k > 1);
            assert_int_equal(S->zero[0].next, next);
            assert_vec3_near(x->torque, ff_vec3_sub(f.t, off.t), 1e-11);
            assert_vec3_near(x->force, ff_quat_rotate(robot.T.q, ff_vec3_sub(f.f, off.f)), 1e-11);
        }
        ff__fused_zero_here(&bench_model.config, S, 0, 250, 4); /* begins again with the mean of some rows */
        line again = {.P = {{0.25, 0.0}, {0.0, pow(0.05 / unit, 2)}}};
        for (int c = 0; c < 6; c++)
            for (int i = 0; i < 4; i++)
                again.x[c][0] += reading[250 - i][c] / 4.0;
        assert_line(&again, &S->zero[0]);
        assert_true(S->zero[0].known && S->zero[0].next == 251);
    }
}

/* ---------------------------------------------------------------------------------------- sensor's model --
 */

/* Rows of a half sine of depth in a contact by hand. */
static fused_contact *rows_by_hand(int rows) {
    fused_contact *c = bench_settled(0, 0, -1, 5, (uint64_t)rows + 4);
    c->surface = (ff_profile){.valid = true, .k = 2e4, .c = 300.0, .x0 = 0.1};
    c->force_max = 0.0;
    for (int i = 0; i < rows; i++) {
        fused_row *q = fused_row_of(c, 5 + (uint64_t)i);
        const double u = 0.12 * (i - 6);
        *q = (fused_row){.s = 0.1 + 3e-3 * sin(u), .v = 3e-3 * 0.12 / T * cos(u), .use = i == 9 ? 2 : 1};
        q->f = ff_profile_force(&c->surface, q->s, q->v) + ff_rng_range(&rng, -1, 1);
        c->force_max = fmax(c->force_max, q->f);
    }
    return c;
}

/* Late by whole cycles and a part, the force running evenly between them, and then the low pass. */
static void test_what_the_sensor_makes_of_a_law(void **unused) {
    (void)unused;
    enum { ROWS = 60 };
    for (int draw = 0; draw < 6; draw++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_rest(5 + ROWS);
        const fused_contact *c = rows_by_hand(ROWS);
        const double lag = draw % 2 ? 1.7 * T : 0.0, part = draw / 2 * 0.3;
        const ff_profile_channel channel = {.whole = draw % 3,
                                            .part = part,
                                            .corner = lag > 0.0 ? T / lag : 0.0,
                                            .decay = lag > 0.0 ? exp(-T / lag) : 0.0};
        double y = 0.0, before = 0.0;
        fused_heard heard = {0};
        for (int i = 0; i < ROWS; i++) {
            double at[2] = {0.0, 0.0}; /* so many whole cycles ago, and one more */
            for (int n = 0; n < 2; n++) {
                const int j = i - channel.whole - n;
                if (j >= 0) {
                    const fused_row *q = fused_row_of(c, 5 + (uint64_t)j);
                    at[n] = ff_profile_force(&c->surface, q->s, q->v);
                }
            }
            const double x = (1.0 - part) * at[0] + part * at[1];
            y = lag > 0.0 ? passed(y, before, x, lag) : x;
            before = x;
            assert_near(ff__fused_law(&channel, c, 5 + (uint64_t)i, &heard), y, 1e-7 * c->force_max);
        }
    }
}

/* The rows as the profile wants them: where the surface may lie, how rows are weighed, and which of them the
 * surface has let go: by the last law, and by the force that comes so much later and, a low pass undone, is
 * below four times the noise of that or a twentieth of the largest. */
static void test_rows_of_a_profile(void **unused) {
    (void)unused;
    enum { ROWS = 60 };
    for (int draw = 0; draw < 24; draw++) {
        const bool hears = draw % 2, gears = draw % 12 == 11, known = draw % 8 != 5;
        const double noise = draw % 3 ? 0.3 * draw : 0.0;
        bench_reset(&rng, 1, noise, 0.05, NULL);
        bench_rest(5 + ROWS);
        fused_contact *c = rows_by_hand(ROWS);
        const double most = c->force_max, corner = draw % 4 == 1 ? 0.0 : 0.6;
        bench_model.hears = hears;
        bench_model.channel = (ff_profile_channel){
            .whole = draw % 3, .part = draw % 5 ? 0.4 : 0.0, .corner = corner, .decay = exp(-corner)};
        bench_model.config.stiffness = 777.0;
        S->gears[0].begun = gears;
        c->surface.valid = known;
        c->torque = draw == 20;
        c->speed = 0.07;
        c->next.surface.depth = 0.002;
        c->detected = draw == 7 ? 6 : 14; /* first: too soon for the lateness */
        c->until = 5 + ROWS - 1;
        fused_table t;
        ff_profile_in in;
        ff__fused_fill_table(&bench_model, S, c, &t, &in);
        const ff_profile_channel *channel = hears && !gears ? &bench_model.channel : NULL;
        assert_ptr_equal(in.channel, channel);
        assert_ptr_equal(in.gone, channel ? t.gone : NULL);
        assert_ptr_equal(ff__fused_channel(&bench_model, S, c), channel);
        const double s = c->torque ? 0.05 : noise;
        assert_near(in.noise, fmax(s, 1e-3 * most), 1e-15);
        assert_near(in.noise_least, fmax(s, 1e-6 * most), 1e-15);
        assert_true(in.rows == ROWS && in.speed == 0.07 && in.depth == 0.002 &&
                    in.prior_k == (c->torque ? 0.0 : 777.0));
        uint64_t first = c->detected - (channel ? (uint64_t)channel->whole : 0);
        first = first < 5 ? 5 : first;
        assert_near(in.hi, fused_row_of(c, first)->s, 0.0);
        assert_near(in.lo, fused_row_of(c, 5)->s - (first == 5 ? 0.07 * T : 0.0), 1e-15);
        int gone = 0;
        for (int i = 0; i < ROWS; i++) {
            const fused_row *q = fused_row_of(c, 5 + (uint64_t)i);
            assert_true(t.s[i] == q->s && t.v[i] == q->v && t.f[i] == q->f && t.use[i] == (q->use == 1));
            if (!channel)
                continue;
            const double steep = corner > 0.0 ? 1.0 / corner : 0.0;
            int j = i + channel->whole + (channel->part > 0.0 ? 1 : 0);
            j = j > ROWS - 2 ? ROWS - 2 : j;
            const double rise = t.f[j + 1] - t.f[j];
            const bool over = known && q->v < 0.0 && ff_profile_force(&c->surface, q->s, q->v) <= 0.0 &&
                              t.f[j] + rise * steep < fmax(4.0 * s * (1.0 + 1.5 * steep), 0.05 * most);
            assert_int_equal(t.gone[i], over);
            gone += over;
        }
        if (channel && known && !c->torque)
            assert_true(gone > 3 && gone < ROWS / 2);
    }
    bench_reset(&rng, 2, 0.0, 0.0, NULL); /* gears of the body that is touched, too */
    bench_rest(70);
    bench_model.hears = true;
    fused_contact *c = bench_settled(0, 0, 1, 5, 60);
    assert_ptr_equal(ff__fused_channel(&bench_model, S, c), &bench_model.channel);
    S->gears[1].begun = true;
    assert_null(ff__fused_channel(&bench_model, S, c));
    bench_settled(0, 1, 0, 5, 60);
    assert_null(ff__fused_channel(&bench_model, S, c));
    S->gears[1].begun = false; /* whichever has the number */
    S->gears[0].begun = true;
    assert_null(ff__fused_channel(&bench_model, S, c));
    S->gears[0].begun = false;
    S->gears[1].begun = true;
    bench_settled(0, 0, -1, 5, 60);
    assert_ptr_equal(ff__fused_channel(&bench_model, S, c), &bench_model.channel);
}

/* What the law leaves of the newest row, where the row says anything: with a surface, a sample, and a force
 * by law or above the threshold. What stood in its place before does not count. */
static void test_the_newest_row(void **unused) {
    (void)unused;
    for (int why = 0; why < 5; why++) {
        bench_reset(&rng, 1, 0.1, 0.0, NULL);
        bench_rest(20);
        fused_contact *c = bench_settled(0, 0, -1, 5, 19);
        c->surface = (ff_profile){.valid = why != 1, .k = 1e4, .x0 = why < 3 ? -1e-3 : 1e-3};
        c->force_max = 3.0;
        fused_at(S, 0, 19)->valid = why != 2;
        fused_at(S, 0, 19)->force = ff_vec3_make(why == 3   ? 0.44
                                                 : why == 4 ? 0.46
                                                            : 12.0,
                                                 0, 0); /* 4.5 x 0.1 */
        *fused_row_of(c, 19) = (fused_row){.residual = 7.0, .use = 2};
        ff__fused_new_row(&bench_model, S, c, 19);
        const fused_row *q = fused_row_of(c, 19);
        const double left[] = {12.0 - 10.0, 0.0, 0.0, 0.0, 0.46};
        assert_near(q->residual, left[why], 1e-12);
        assert_int_equal(q->use, 1);
        assert_near(c->force_max, why < 3 ? 12.0 : 3.0, 1e-12);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 83);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axes_yield_behind_their_motors),
        cmocka_unit_test(test_motion_at_the_time_of_the_force),
        cmocka_unit_test(test_a_jump_is_made_evenly),
        cmocka_unit_test(test_motion_through_the_low_pass),
        cmocka_unit_test(test_a_sample_behind_gears),
        cmocka_unit_test(test_the_offset_is_learnt_in_flight),
        cmocka_unit_test(test_what_the_sensor_makes_of_a_law),
        cmocka_unit_test(test_rows_of_a_profile),
        cmocka_unit_test(test_the_newest_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
