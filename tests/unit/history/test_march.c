/* Bodies and surfaces through time, against closed forms and conservation laws. */
#include "support.h"

#include "history/history.h"

static ff_rng rng;

static const double T = 0.004;

static ff_vec3 any(double size) {
    return ff_vec3_make(ff_rng_range(&rng, -size, size), ff_rng_range(&rng, -size, size),
                        ff_rng_range(&rng, -size, size));
}

static ff_body_view body_of(double mass, double x, double y, double z) {
    ff_body_view view = {.joints = false};
    const ff_rigid_config config = {.mass = mass, .inertia = ff_mat3_diag(x, y, z)};
    assert_int_equal(ff_rigid_create(&config, &view.rigid), FF_OK);
    return view;
}

static ff_body_view any_body(void) {
    const double size = ff_rng_range(&rng, 10.0, 100.0);
    return body_of(ff_rng_range(&rng, 50.0, 500.0), size, size * ff_rng_range(&rng, 0.7, 1.0),
                   size * ff_rng_range(&rng, 0.5, 1.0));
}

static ff_rigid_state any_motion(double rate) {
    return (ff_rigid_state){any(1.0), ff_quat_exp(any(2.0)), any(0.1), any(rate)};
}

/* About the inertial origin. */
static ff_vec3 momentum(const ff__march *w, ff_vec3 *linear) {
    ff_vec3 angular = *linear = ff_vec3_zero();
    for (int i = 0; i < w->bodies; i++) {
        const ff_vec3 p = ff_vec3_scale(w->view[i].rigid.mass, w->x[i].velocity);
        *linear = ff_vec3_add(*linear, p);
        angular = ff_vec3_add(angular, ff_vec3_add(ff_vec3_cross(w->x[i].position, p),
                                                   ff_view_angular_momentum(&w->view[i], &w->x[i])));
    }
    return angular;
}

static void begin(ff__march *w, const ff_body_view *view, int bodies, ff__actor *act, int acts) {
    ff__march_begin(w, view, NULL, T, bodies, (1u << bodies) - 1u, act);
    w->acts = acts;
    for (int i = 0; i < bodies; i++)
        w->load[i] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
}

/* A symmetric top without torque turns at L/I_1 about L while it turns by (1 - I_3/I_1) w_3 about its axis:
 * R(t) = exp(t L/I_1) R(0) exp(t (1 - I_3/I_1) w_3 e_3). A step of the march errs by (w h)^5 at most: far
 * below rounding here. */
static void test_free_flight_of_a_symmetric_top(void **unused) {
    (void)unused;
    for (int n = 0; n < 20; n++) {
        const double I1 = ff_rng_range(&rng, 10.0, 50.0), I3 = I1 * ff_rng_range(&rng, 0.3, 1.9);
        const ff_body_view view = body_of(ff_rng_range(&rng, 50.0, 500.0), I1, I1, I3);
        const ff_rigid_state start = any_motion(0.3);
        ff__march w;
        begin(&w, &view, 1, NULL, 0);
        w.x[0] = start;
        const double E = ff__march_energy(&w), t = 500 * T;
        for (int k = 0; k < 250; k++)
            assert_int_equal(ff__march_step(&w, T), 1);
        ff__march_ahead(&w, 250 * T); /* in longer pieces: 0.02 rad each */
        const ff_vec3 L = ff_view_angular_momentum(&view, &start);
        const ff_quat own = ff_quat_exp(ff_vec3_make(0, 0, t * (1.0 - I3 / I1) * start.omega.z));
        const ff_quat q =
            ff_quat_mul(ff_quat_mul(ff_quat_exp(ff_vec3_scale(t / I1, L)), start.attitude), own);
        assert_vec3_near(w.x[0].position, ff_vec3_axpy(t, start.velocity, start.position), 1e-13);
        assert_true(ff_quat_angle(w.x[0].attitude, q) < 1e-8);
        assert_vec3_near(ff_view_angular_momentum(&view, &w.x[0]), L, 1e-8 * ff_vec3_norm(L));
        assert_near(ff__march_energy(&w), E, 1e-12 * E);
    }
}

/* Ahead in pieces of at most 0.02 rad however fast it spins: 0.02^5 of error each, 1e-6 in a second at 3
 * rad/s. */
static void test_a_fast_spin_ahead(void **unused) {
    (void)unused;
    for (int n = 0; n < 10; n++) {
        const double I1 = 30.0, I3 = I1 * (n % 2 ? 0.4 : 1.7), t = 1.0;
        const ff_body_view view = body_of(100.0, I1, I1, I3);
        const ff_rigid_state start = {.attitude = ff_quat_exp(any(2.0)),
                                      .omega = ff_vec3_scale(3.0, ff_vec3_unit(any(1.0)))};
        ff__march w;
        begin(&w, &view, 1, NULL, 0);
        w.x[0] = start;
        ff__march_ahead(&w, t);
        const ff_vec3 L = ff_view_angular_momentum(&view, &start);
        const ff_quat own = ff_quat_exp(ff_vec3_make(0, 0, t * (1.0 - I3 / I1) * start.omega.z));
        const ff_quat q =
            ff_quat_mul(ff_quat_mul(ff_quat_exp(ff_vec3_scale(t / I1, L)), start.attitude), own);
        assert_true(ff_quat_angle(w.x[0].attitude, q) < 1e-6);
    }
}

/* x = v t + F t^2/2m, exactly; the limit grows by the work of the load. */
static void test_constant_load_is_a_parabola(void **unused) {
    (void)unused;
    const ff_body_view view = any_body();
    const ff_vec3 F = any(5.0);
    ff__march w;
    begin(&w, &view, 1, NULL, 0);
    w.x[0] = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .velocity = any(0.1)};
    const ff_vec3 v = w.x[0].velocity;
    const double before = ff__march_energy(&w);
    w.net = true;
    w.limit = before;
    w.load[0].force = F;
    for (int k = 0; k < 100; k++)
        ff__march_step(&w, T);
    const double t = 100 * T, a = 1.0 / view.rigid.mass;
    assert_vec3_near(w.x[0].position, ff_vec3_axpy(0.5 * t * t * a, F, ff_vec3_scale(t, v)), 1e-14);
    assert_vec3_near(w.x[0].velocity, ff_vec3_axpy(t * a, F, v), 1e-15);
    assert_near(w.limit, ff__march_energy(&w), 1e-12 * w.limit);
}

/* A mass on a spring: s = v/w sin(w t) while it is in, and out with the speed it came with. Inside, Runge and
 * Kutta's error of a part of phase 0.08 is 0.08^5/120 of the amplitude, of all pi/0.08 parts 1.1e-6. Where it
 * lets go, a straight path is late by phase^3/3, and Simpson's rule over half a sub-step then misses
 * phase^4/36 of the speed. */
#define INSIDE 1.1e-6
#define AFTER (INSIDE + 0.16 * 0.16 * 0.16 * 0.16 / 36.0)

static void test_spring_is_a_half_sine(void **unused) {
    (void)unused;
    for (int n = 0; n < 30; n++) {
        const ff_body_view view = any_body();
        const double m = view.rigid.mass, w_n = ff_rng_range(&rng, 2.0, 60.0),
                     v = ff_rng_range(&rng, 0.01, 0.1);
        const double gap = ff_rng_range(&rng, 0.1, 3.0) * T * v;
        const ff_vec3 normal = ff_vec3_unit(any(1.0));
        const ff_profile spring = {.valid = true, .k = m * w_n * w_n, .x0 = 0.2};
        ff__actor act = {.p = {.b = -1, .n = normal}, .surface = &spring};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = (ff_rigid_state){.position = ff_vec3_scale(-0.2 + gap, normal),
                                  .attitude = {1, 0, 0, 0},
                                  .velocity = ff_vec3_scale(-v, normal)};
        const double end = FF_PI / w_n;
        for (int k = 1; k * T < gap / v + end + 3 * T; k++) {
            ff__march_step(&w, T);
            const double t = k * T - gap / v, after = fmax(0.0, t - end);
            const double s = t < 0.0 ? v * t : t < end ? v / w_n * sin(w_n * t) : v * (end - t);
            assert_near(-ff_vec3_dot(normal, w.x[0].position) - 0.2, s,
                        (INSIDE / w_n + AFTER * after) * v + 1e-15);
        }
        assert_near(ff_vec3_dot(normal, w.x[0].velocity), v, AFTER * v);
        assert_vec3_near(w.impulse[0].force, ff_vec3_scale(2.0 * m * v, normal), AFTER * m * v);
        assert_vec3_near(w.impulse[0].torque, ff_vec3_zero(), 0.0);
    }
}

/* A spring and damper that lets go at zero force: the restitution of the damping ratio, in closed form. */
static void test_damped_spring_restitutes(void **unused) {
    (void)unused;
    for (int n = 0; n < 30; n++) {
        const ff_body_view view = any_body();
        const double m = view.rigid.mass, w_n = ff_rng_range(&rng, 3.0, 40.0),
                     v = ff_rng_range(&rng, 0.01, 0.1);
        const double e = ff_rng_range(&rng, 0.3, 0.99), c = 2.0 * ff_contact_damping_ratio(e) * m * w_n;
        const ff_profile surface = {.valid = true, .k = m * w_n * w_n, .c = c};
        ff__actor act = {.p = {.b = -1, .n = ff_vec3_make(1, 0, 0)}, .surface = &surface};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = (ff_rigid_state){
            .position = {{1.3 * T * v, 0, 0}}, .attitude = {1, 0, 0, 0}, .velocity = {{-v, 0, 0}}};
        for (int k = 0; k * T < 2.0 * FF_PI / w_n + 3 * T; k++)
            ff__march_step(&w, T);
        assert_near(w.x[0].velocity.x, e * v, 2.0 * AFTER * v);
    }
}

/* A surface far stiffer, or far more damped, than any sample could show (what a sensor's spike may invent):
 * the body is stopped or turned back, and everything stays finite. A sub-step adds at most a tenth to its
 * energy; two do where the first ends inside. */
static void test_a_surface_too_stiff_for_its_steps(void **unused) {
    (void)unused;
    double most = 0.0;
    for (int n = 0; n < 400; n++) {
        const ff_body_view view = any_body();
        const double m = view.rigid.mass, v = pow(10.0, ff_rng_range(&rng, -10.0, -1.0)),
                     w_n = pow(10.0, ff_rng_range(&rng, 2.5, 7.0));
        const ff_profile surface = {.valid = true,
                                    .law = n % FF_PROFILE_LAWS,
                                    .k = n % 2 ? 1.0 : m * w_n * w_n,
                                    .c = n % 3 ? m * w_n * pow(10.0, ff_rng_range(&rng, -1.0, 4.0)) : 0.0,
                                    .depth = 1e-3};
        ff__actor act = {.p = {.b = -1, .n = ff_vec3_make(1, 0, 0)}, .surface = &surface};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = (ff_rigid_state){
            .position = {{1.3 * T * v, 0, 0}}, .attitude = {1, 0, 0, 0}, .velocity = {{-v, 0, 0}}};
        for (int k = 0; k < 50; k++) {
            ff__march_step(&w, T);
            assert_true(ff_vec3_finite(w.x[0].position) && ff_vec3_finite(w.x[0].velocity));
            most = fmax(most, fabs(w.x[0].velocity.x) / v);
        }
    }
    print_message("at most %.3f of the speed it came with\n", most);
    assert_true(most < 1.1);
}

/* The other laws against a fine integration of s'' = -f/m by the midpoint rule, 2000 steps a cycle: second
 * order, so exact to (w T/2000)^2 or 1e-8 beside the march's own error. */
static void test_every_law_rebounds_as_integrated_finely(void **unused) {
    (void)unused;
    enum { FINE = 2000 };
    for (int n = 0; n < 4 * FF_PROFILE_LAWS; n++) {
        const ff_body_view view = any_body();
        const double m = view.rigid.mass, v = 0.05, h = T / FINE, deep = 2e-3;
        const int law = n % FF_PROFILE_LAWS;
        ff_profile e = {.valid = true, .law = law, .depth = 1e-3};
        e.k = m * v * v / (deep * ff_profile_shape(law, deep)); /* stops about there */
        e.c = law == 0 || law == FF_PROFILE_STEP ? 0.3 * m * v / deep : 2.0 * e.k;
        ff__actor act = {.p = {.b = -1, .n = ff_vec3_make(1, 0, 0)}, .surface = &e};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = (ff_rigid_state){
            .position = {{0.4 * T * v, 0, 0}}, .attitude = {1, 0, 0, 0}, .velocity = {{-v, 0, 0}}};
        double x = 0.4 * T * v, u = -v;
        for (int k = 0; k < 100; k++) {
            ff__march_step(&w, T);
            for (int i = 0; i < FINE; i++) {
                const double u_mid = u + 0.5 * h / m * ff_profile_force(&e, -x, -u);
                const double f = ff_profile_force(&e, -x - 0.5 * h * u, -u_mid);
                x += h * u + 0.5 * h * h / m * f;
                u += h / m * f;
            }
        }
        assert_true(u > 0.2 * v);
        assert_near(w.x[0].velocity.x, u, 3e-4 * v);
    }
}

/* A torsion spring: the angle is a half sine as well. */
static void test_turn_is_a_half_sine(void **unused) {
    (void)unused;
    const ff_quat start = ff_quat_identity();
    for (int n = 0; n < 20; n++) {
        const ff_body_view view = any_body();
        const double I = view.rigid.inertia.m[2][2], w_n = ff_rng_range(&rng, 2.0, 40.0), rate = 0.01;
        const ff_profile spring = {.valid = true, .k = I * w_n * w_n, .x0 = 1e-3};
        ff__actor act = {.p = {.turn = true, .b = -1, .n = ff_vec3_make(0, 0, -1)}, .surface = &spring};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.start = &start;
        w.x[0] = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .omega = {{0, 0, rate}}};
        const double in = spring.x0 / rate, end = FF_PI / w_n;
        for (int k = 1; k * T < in + end + 2 * T; k++) {
            ff__march_step(&w, T);
            const double t = k * T - in;
            const double s = t < 0.0 ? rate * t : t < end ? rate / w_n * sin(w_n * t) : rate * (end - t);
            assert_near(ff_quat_log(w.x[0].attitude).z - spring.x0, s,
                        (INSIDE / w_n + AFTER * fmax(0.0, t - end)) * rate + 1e-14);
        }
        assert_near(w.impulse[0].torque.z, -2.0 * I * rate, AFTER * I * rate);
    }
}

/* Two spinning bodies, tip and surface off their centres, with and without damping and friction: what one
 * gains the other loses, and without either the energy is as before. */
static void test_two_bodies_keep_their_momentum(void **unused) {
    (void)unused;
    for (int n = 0; n < 30; n++) {
        const ff_body_view view[2] = {any_body(), any_body()};
        const bool lossy = n % 2;
        const ff_rigid_state b = any_motion(0.015);
        const ff_vec3 normal = ff_vec3_unit(any(1.0)), tip = ff_vec3_add(b.position, any(0.5));
        const ff_profile surface = {.valid = true,
                                    .k = 2000.0,
                                    .c = lossy ? 20.0 : 0.0,
                                    .x0 = 1e-4 - ff_vec3_dot(normal, ff_vec3_sub(tip, b.position))};
        ff__actor act = {.p = {.b = 1, .n = ff_quat_unrotate(b.attitude, normal), .r = any(0.5)},
                         .surface = &surface,
                         .mu = lossy ? 0.2 : 0.0};
        ff__march w;
        begin(&w, view, 2, &act, 1);
        w.x[0] = any_motion(0.015);
        w.x[0].position = ff_vec3_sub(tip, ff_quat_rotate(w.x[0].attitude, act.p.r));
        w.x[1] = b;
        w.x[0].velocity = ff_vec3_axpy(-0.05, normal, b.velocity);
        ff_vec3 p0, p1;
        const ff_vec3 L0 = momentum(&w, &p0);
        const double E0 = ff__march_energy(&w);
        for (int k = 0; k < 600; k++)
            ff__march_step(&w, T);
        const ff_vec3 L1 = momentum(&w, &p1);
        assert_true(ff_vec3_norm(w.impulse[0].force) > 0.0); /* they met */
        assert_vec3_near(p1, p0, 1e-12);
        assert_vec3_near(L1, L0, 1e-10);
        assert_vec3_near(w.impulse[0].force, ff_vec3_neg(w.impulse[1].force), 1e-12);
        if (lossy)
            assert_true(ff__march_energy(&w) < E0);
        else
            assert_near(ff__march_energy(&w), E0, 1e-5 * E0);
    }
}

/* A point that slides on: its slip falls by mu times the change along the normal. One that stops stays. */
static void test_friction_of_a_point(void **unused) {
    (void)unused;
    for (int n = 0; n < 40; n++) {
        const ff_body_view view = any_body();
        const double mu = ff_rng_range(&rng, 0.01, 1.0), v = 0.05, slip = ff_rng_range(&rng, 0.01, 0.1);
        const ff_profile spring = {.valid = true, .k = view.rigid.mass * 400.0};
        const ff_vec3 normal = ff_vec3_unit(any(1.0)), along = ff_vec3_unit(ff_vec3_cross(normal, any(1.0)));
        ff__actor act = {.p = {.b = -1, .n = normal}, .surface = &spring, .mu = mu};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = (ff_rigid_state){.attitude = {1, 0, 0, 0},
                                  .velocity = ff_vec3_axpy(-v, normal, ff_vec3_scale(slip, along))};
        for (int k = 0; k < 60; k++)
            ff__march_step(&w, T);
        const double left = fmax(0.0, slip - 2.0 * mu * v);
        assert_near(ff_vec3_dot(along, w.x[0].velocity), left, 2.0 * AFTER * v);
        assert_near(ff_vec3_dot(normal, w.x[0].velocity), v, AFTER * v);
        assert_near(ff_vec3_dot(ff_vec3_cross(normal, along), w.x[0].velocity), 0.0, 1e-15);
    }
}

/* One sub-step of a point: friction stops the slip if mu N can, otherwise it is mu N against it; also where
 * the slip ends together with the sub-step. At rest it bears nothing. */
static void test_friction_stops_or_slides(void **unused) {
    (void)unused;
    for (int n = 0; n < 2000; n++) {
        const ff_body_view view = any_body();
        const double m = view.rigid.mass, mu = ff_rng_range(&rng, 0.01, 1.0),
                     N = ff_rng_range(&rng, 1e-6, 5.0);
        const double least = n % 4 ? 0.99 : 0.0, part = n % 50 ? ff_rng_range(&rng, least, 1.01) : 0.0;
        const ff__place p = {.b = -1, .n = ff_vec3_unit(any(1.0))};
        const ff_vec3 along = ff_vec3_unit(ff_vec3_cross(p.n, any(1.0)));
        const double slip = part * mu * N / m;
        const ff_rigid_state a = {.attitude = {1, 0, 0, 0}, .velocity = ff_vec3_scale(slip, along)};
        const ff__touch t = ff__place_touch(&p, &a, NULL);
        const ff_vec3 J = ff__friction_impulse(&view, &p, &a, NULL, &t, mu, N);
        assert_vec3_near(J, ff_vec3_scale(-fmin(m * slip, mu * N), along), 1e-9 * mu * N);
    }
}

/* A tip with an arm: the normal impulse makes it slip as well, friction turns it. Against the definition
 * integrated finely: u' = g - mu N A u/|u| over the sub-step's unit of time, and u held at zero where mu N
 * can hold it. The steps of the function turn or change the slip by less than a third, at second order, and
 * what an impulse below mu N can stop is stopped: per cents, in the mean. */
static void test_friction_of_a_tip_with_an_arm(void **unused) {
    (void)unused;
    enum { FINE = 20000, CASES = 60 };
    int held = 0, departed = 0;
    double mean = 0.0;
    for (int n = 0; n < CASES; n++) {
        const ff_body_view view[2] = {any_body(), any_body()};
        const ff__place p = {.b = n % 2 ? 1 : -1, .n = ff_vec3_unit(any(1.0)), .r = any(0.3)};
        ff_rigid_state a = any_motion(0.05), b = any_motion(0.05);
        b.position = ff_vec3_add(a.position, any(0.3));
        const ff_rigid_state *o = n % 2 ? &b : NULL;
        const double mu = ff_rng_range(&rng, 0.02, 0.4), N = ff_rng_range(&rng, 0.1, 1.0);
        ff__touch t = ff__place_touch(&p, &a, o);
        const ff_vec3 across = ff_vec3_axpy(-ff_vec3_dot(t.n, t.slip), t.n, t.slip);
        t.slip = n % 3 ? ff_vec3_scale(ff_rng_range(&rng, 0.0, 0.02) / ff_vec3_norm(across), across)
                       : ff_vec3_zero();
        const ff_vec3 J = ff__friction_impulse(view, &p, &a, o, &t, mu, N);
        const ff_vec3 first = ff_vec3_unit(ff_vec3_cross(t.n, any(1.0)));
        const ff_vec3 f[3] = {first, ff_vec3_cross(t.n, first), t.n};
        /* A and g from the ports: slip along e by an impulse along d is the port's, of e and d together */
        double A[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                ff__port sum, one, two;
                ff__place_open(view, &p, &a, o, f[i], f[j], &sum);
                ff__place_open(view, &p, &a, o, f[i], ff_vec3_zero(), &one);
                ff__place_open(view, &p, &a, o, f[j], ff_vec3_zero(), &two);
                A[i][j] = 0.5 * (sum.mobility - one.mobility - two.mobility);
            }
        const double g[2] = {N * A[0][2], N * A[1][2]}, det = A[0][0] * A[1][1] - A[0][1] * A[0][1];
        const double j0 = (A[1][1] * g[0] - A[0][1] * g[1]) / det,
                     j1 = (A[0][0] * g[1] - A[0][1] * g[0]) / det;
        const bool holds = hypot(j0, j1) <= mu * N;
        double u[2] = {ff_vec3_dot(f[0], t.slip), ff_vec3_dot(f[1], t.slip)}, sum[2] = {0, 0};
        bool stuck = false;
        for (int i = 0; i < FINE; i++) {
            const double h = 1.0 / FINE, size = hypot(u[0], u[1]);
            stuck |= holds && size < 2.0 * h * (hypot(g[0], g[1]) + mu * N * (A[0][0] + A[1][1]));
            const double along[2] = {size > 0.0 ? u[0] / size : g[0] / hypot(g[0], g[1]),
                                     size > 0.0 ? u[1] / size : g[1] / hypot(g[0], g[1])};
            const double q[2] = {stuck ? -j0 : -mu * N * along[0], stuck ? -j1 : -mu * N * along[1]};
            for (int c = 0; c < 2; c++) {
                sum[c] += h * q[c];
                u[c] += h * (g[c] + A[c][0] * q[0] + A[c][1] * q[1]);
            }
        }
        held += stuck;
        departed += !holds && n % 3 == 0;
        const ff_vec3 truth = ff_vec3_add(ff_vec3_scale(sum[0], f[0]), ff_vec3_scale(sum[1], f[1]));
        assert_near(ff_vec3_dot(t.n, J), 0.0, 1e-12);
        assert_true(ff_vec3_norm(J) <= mu * N * (1.0 + 1e-9));
        mean += ff_vec3_norm(ff_vec3_sub(J, truth)) / (mu * N) / CASES;
    }
    if (!(mean < 0.02))
        fail_msg("off by %.3g of mu N in the mean", mean);
    assert_true(held > 0 && departed > 0);
}

/* So deep in a spring that it stays, with a force beside the law's that runs evenly over the cycle, in
 * several sub-steps: m x'' = -(k x + f0 + (f1 - f0) t/T) about its own ramp -(f0 + (f1 - f0) t/T)/k. A
 * sub-step of 0.16 rad errs by 0.16^4/36 of what swings. */
static void test_spring_beside_a_ramp(void **unused) {
    (void)unused;
    for (int n = 0; n < 20; n++) {
        const double m = ff_rng_range(&rng, 50.0, 200.0), w_n = ff_rng_range(&rng, 0.5, 1.0) / T,
                     k = m * w_n * w_n;
        const ff_body_view view = body_of(m, 10.0, 11.0, 12.0);
        const ff_vec3 normal = ff_vec3_unit(any(1.0));
        const ff_profile spring = {.valid = true, .k = k, .x0 = 0.02};
        const double deep = 0.01, v = ff_rng_range(&rng, -0.1, 0.1),
                     f0 = ff_rng_range(&rng, -0.3, 0.3) * k * deep,
                     f1 = ff_rng_range(&rng, -0.3, 0.3) * k * deep;
        ff__actor act = {.p = {.b = -1, .n = normal}, .surface = &spring, .f0 = f0, .f1 = f1};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = (ff_rigid_state){.position = ff_vec3_scale(-(0.02 + deep), normal),
                                  .attitude = {1, 0, 0, 0},
                                  .velocity = ff_vec3_scale(-v, normal)};
        assert_true(ff__march_step(&w, T) > 2);
        const double ramp = (f1 - f0) / (T * k), A = deep + f0 / k, B = (v + ramp) / w_n, u = w_n * T;
        const double x = -f1 / k + A * cos(u) + B * sin(u), rate = -ramp + w_n * (B * cos(u) - A * sin(u)),
                     off = 1e-3 * hypot(A, B);
        assert_vec3_near(w.x[0].position, ff_vec3_scale(-(0.02 + x), normal), off);
        assert_vec3_near(w.x[0].velocity, ff_vec3_scale(-rate, normal), off * w_n);
    }
}

/* A point inside a cone that flies straight at its wall meets a plane: out with the speed it came with. The
 * same in pieces longer than a cycle, ahead of time. */
static void test_cone_and_look_ahead_rebound_alike(void **unused) {
    (void)unused;
    for (int n = 0; n < 20; n++) {
        const ff_body_view view = any_body();
        const double half = ff_rng_range(&rng, 0.2, 1.2), v = 0.05, w_n = 10.0;
        const ff__cone cone = {any(0.1), cos(half), sin(half), FF_INF};
        const ff_vec3 axis = ff_vec3_unit(any(1.0)), across = ff_vec3_unit(ff_vec3_cross(axis, any(1.0)));
        const ff_vec3 normal = ff_vec3_axpy(-cone.cos, across, ff_vec3_scale(cone.sin, axis));
        const ff_profile spring = {.valid = true, .k = view.rigid.mass * w_n * w_n, .x0 = -1e-3};
        ff__actor act = {.p = {.b = -1, .n = axis, .cone = &cone}, .surface = &spring};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        const ff_rigid_state start = {.position = ff_vec3_axpy(0.02, axis, cone.apex),
                                      .attitude = {1, 0, 0, 0},
                                      .velocity = ff_vec3_scale(-v, normal)};
        const double in = (0.02 * cone.sin - 1e-3) / v, time = in + FF_PI / w_n + 0.05;
        w.x[0] = start;
        ff__march_ahead(&w, time);
        assert_vec3_near(w.x[0].velocity, ff_vec3_scale(v, normal), AFTER * v);
        w.x[0] = start;
        for (int k = 0; k * T < time; k++)
            ff__march_step(&w, T);
        assert_vec3_near(w.x[0].velocity, ff_vec3_scale(v, normal), AFTER * v);
    }
}

/* Whatever force is measured beside the law: the energy never exceeds the limit. */
static void test_net_holds_the_energy(void **unused) {
    (void)unused;
    uint32_t acted = 0;
    for (int n = 0; n < 100; n++) {
        const ff_body_view view = any_body();
        const ff_profile spring = {.valid = true, .k = 1000.0};
        const ff_vec3 normal = ff_vec3_unit(any(1.0));
        ff__actor act = {.p = {.b = -1, .n = normal, .r = any(0.3)},
                         .surface = n % 2 ? &spring : NULL,
                         .mu = n % 3 ? 0.3 : 0.0,
                         .f0 = ff_rng_range(&rng, 0.0, 50.0),
                         .f1 = ff_rng_range(&rng, 0.0, 50.0)};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = any_motion(0.05);
        w.x[0].position = ff_vec3_axpy(-1e-3, normal, ff_vec3_neg(ff_quat_rotate(w.x[0].attitude, act.p.r)));
        w.net = true;
        w.limit = ff__march_energy(&w);
        for (int k = 0; k < 100; k++) {
            ff__march_step(&w, T);
            assert_true(ff__march_energy(&w) <= w.limit * (1.0 + 1e-12));
        }
        acted += w.net_count;
    }
    assert_true(acted > 100);
}

/* A direction given in place of the normal, and torques beside the force's, as long as the force acts. */
static void test_given_direction_and_torque(void **unused) {
    (void)unused;
    const ff_body_view view[2] = {body_of(100, 20, 20, 20), body_of(200, 30, 30, 30)};
    const ff_vec3 along = ff_vec3_unit(ff_vec3_make(0.1, 1.0, 0.2)), beside[2] = {any(1.0), any(1.0)};
    const ff_profile spring = {.valid = true, .k = 1e4};
    ff__actor act = {
        .p = {.b = 1, .n = ff_vec3_make(0, 1, 0)}, .surface = &spring, .along = &along, .beside = beside};
    ff__march w;
    begin(&w, view, 2, &act, 1);
    w.x[0] = (ff_rigid_state){.position = {{0, -1e-3, 0}}, .attitude = {1, 0, 0, 0}};
    w.x[1] = (ff_rigid_state){.attitude = {1, 0, 0, 0}};
    ff__march_step(&w, T);
    const double J = ff_vec3_norm(w.impulse[0].force);
    assert_near(J, 10.0 * T, 0.02 * 10.0 * T); /* k s T, less what it yields: w T = 0.05 */
    assert_vec3_near(w.impulse[0].force, ff_vec3_scale(J, along), 1e-6 * J);
    assert_vec3_near(ff_vec3_scale(1.0 / T, ff_vec3_sub(w.impulse[1].torque, ff_vec3_zero())),
                     ff_vec3_add(beside[1], ff_vec3_scale(-1.0 / T, ff_vec3_cross(ff_vec3_make(0, -1e-3, 0),
                                                                                  w.impulse[0].force))),
                     1e-3);
    assert_vec3_near(ff_vec3_scale(1.0 / T, w.impulse[0].torque), beside[0], 1e-12);
}

/* Each component of a load acts, alone as well: a parabola, or I w' = torque about a principal axis. */
static void test_each_component_of_a_load_acts(void **unused) {
    (void)unused;
    for (int c = 0; c < 6; c++) {
        const ff_body_view view[2] = {body_of(120.0, 20.0, 30.0, 40.0), body_of(80.0, 10.0, 10.0, 10.0)};
        ff__march w;
        begin(&w, view, 2, NULL, 0);
        for (int i = 0; i < 2; i++)
            w.x[i] = (ff_rigid_state){.attitude = {1, 0, 0, 0}};
        ff_rigid_load *load = &w.load[c % 2];
        (c < 3 ? load->force.a : load->torque.a)[c % 3] = 0.6;
        const double inertia = c < 3 ? view[c % 2].rigid.mass : view[c % 2].rigid.inertia.m[c % 3][c % 3],
                     t = 50 * T;
        w.limit = 1.0;
        if (c & 1)
            ff__march_ahead(&w, t); /* in longer pieces, the middle of each */
        else
            for (int k = 0; k < 50; k++)
                ff__march_step(&w, T);
        const ff_rigid_state *x = &w.x[c % 2];
        const ff_vec3 moved = c < 3 ? x->position : ff_quat_log(x->attitude),
                      rate = c < 3 ? x->velocity : x->omega;
        for (int a = 0; a < 3; a++) {
            assert_near(rate.a[a], a == c % 3 ? 0.6 * t / inertia : 0.0, 1e-14);
            assert_near(moved.a[a], a == c % 3 ? 0.3 * t * t / inertia : 0.0, 1e-14);
        }
        const double energy = 0.5 * inertia * pow(0.6 * t / inertia, 2);
        assert_near(ff__march_energy(&w), energy, 1e-13);
        assert_near(w.limit, 1.0 + energy, 1e-13); /* grows by the work */
        w.moving = 1u << (1 - c % 2);
        assert_near(ff__march_energy(&w), 0.0, 0.0); /* of those that move here */
    }
}

/* A measured force alone over one step is one impulse of known size. With the net it is the largest part of
 * it after which the energy is not above the limit, or what brings the energy down furthest. */
static void test_net_lets_the_largest_impulse_through(void **unused) {
    (void)unused;
    int whole = 0, part = 0, least = 0;
    for (int n = 0; n < 400; n++) {
        const ff_body_view view = any_body();
        ff__actor act = {.p = {.b = -1, .n = ff_vec3_unit(any(1.0)), .r = any(0.3)},
                         .f0 = ff_rng_range(&rng, -20.0, 100.0),
                         .f1 = ff_rng_range(&rng, 0.0, 1000.0)};
        ff__march w;
        begin(&w, &view, 1, &act, 1);
        w.x[0] = any_motion(0.01);
        w.x[0].velocity = any(0.02);
        ff_rigid_state middle = w.x[0];
        ff_view_drift(&view, 0.5 * T, &middle);
        ff__port q;
        ff__place_open(&view, &act.p, &middle, NULL, act.p.n, ff_vec3_zero(), &q);
        const double E = ff_view_energy(&view, &middle), wish = fmax(0.0, 0.5 * T * (act.f0 + act.f1));
        w.net = true;
        w.limit = E * ff_rng_range(&rng, n % 2 ? 0.2 : 0.999, 1.3);
        const double room = w.limit - E;
        /* E + p u + p^2 m/2 <= limit: between the roots; below the least of it p = -u/m */
        const double root = q.u * q.u + 2.0 * q.mobility * room, lowest = fmax(0.0, -q.u / q.mobility);
        double expected = root > 0.0 ? fmax(lowest, (sqrt(root) - q.u) / q.mobility) : lowest;
        if (wish * (q.u + 0.5 * wish * q.mobility) <= room || expected > wish)
            expected = wish;
        ff__march_step(&w, T);
        const double size = ff_vec3_norm(w.impulse[0].force);
        assert_near(size, expected, 1e-9 * (1.0 + wish));
        assert_vec3_near(w.impulse[0].force, ff_vec3_scale(expected, act.p.n), 1e-9 * (1.0 + wish));
        assert_int_equal(w.net_count, expected < wish);
        whole += wish > 0.0 && expected == wish;
        part += expected < wish && expected > lowest;
        least += expected < wish && expected == lowest;
        assert_near(w.energy, ff__march_energy(&w), 1e-9 * (1.0 + w.energy));
    }
    assert_true(whole > 20 && part > 20 && least > 20);
}

/* Sub-steps by the phase of the contact's oscillation, 0.16 rad or 0.08 with friction, at most 12 a cycle; of
 * another law by its stiffness where an approach with 0.1 m/s stops. One where no surface is reached in the
 * time, which counts 1.1 of the way, the turn of both bodies and any load. */
static void test_sub_steps_by_phase(void **unused) {
    (void)unused;
    for (int n = 0; n < 200; n++) {
        const ff_body_view view[2] = {any_body(), any_body()};
        const double w_n = ff_rng_range(&rng, 20.0, 600.0), mobility = view[0].rigid.mass_inv, v = 0.05;
        const int law = n % 4, cycles = 1 + n % 3;
        ff_profile e = {.valid = true, .law = law, .k = w_n * w_n / mobility};
        if (law) { /* k d^(n+1)/(n+1) = v^2/(2 mobility), with the stiffness w_n^2/mobility there */
            const double m = ff_profile_exponent(law), d = 0.1 / w_n * sqrt(0.5 * m * (m + 1.0));
            e.k = w_n * w_n / mobility / (m * pow(d, m - 1.0));
        }
        ff__actor act = {.p = {.b = -1, .n = ff_vec3_make(1, 0, 0)}, .surface = &e, .mu = n % 5 ? 0.0 : 0.1};
        ff__march w;
        begin(&w, view, 2, &act, 1);
        const double time = cycles * T, phase = w_n * time / (act.mu > 0.0 ? 0.08 : 0.16);
        const int most = 12 * cycles, expected = phase > most ? most : (int)ceil(phase);
        if (fabs(phase - round(phase)) < 1e-6)
            continue;
        const ff_rigid_state in = {
            .position = {{-1e-3, 0, 0}}, .attitude = {1, 0, 0, 0}, .velocity = {{-v, 0, 0}}};
        w.x[0] = w.x[1] = in;
        assert_int_equal(ff__march_step(&w, time), expected);
        const int kind = n % 5;
        for (int near = 0; near < 2; near++) {
            act.p = (ff__place){.b = -1, .n = ff_vec3_make(1, 0, 0)};
            w.x[0] = in;
            w.load[0].force = ff_vec3_zero();
            double gap = 1.1 * v * time;
            int steps = expected;
            if (kind == 1)
                gap = 0.0, w.x[0].velocity.x = v; /* it leaves */
            if (kind == 2) { /* a lever that turns, about the normal: the tip does not approach */
                w.x[0].omega.x = 0.4;
                act.p.r = ff_vec3_make(2.0, 0, 0);
                gap += 2.0 * 0.4 * 0.4 * 2.0 * time * time;
            }
            if (kind == 3) { /* the other body turns: by the distance and the speed between them */
                act.p.b = 1;
                w.x[1] = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .omega = {{0.5, 0, 0}}};
                gap = (gap + 2.0 * v * time * time) / (1.0 - 0.5 * time * time);
                const double more = phase * sqrt(1.0 + view[1].rigid.mass_inv / mobility);
                steps = more > most ? most : (int)ceil(more);
                if (law && law != 2)
                    continue; /* it is another stiffness, too */
            }
            gap *= near ? 0.999 : 1.001;
            gap += near ? -1e-12 : 1e-12;
            w.x[0].position.x = gap - act.p.r.x;
            if (kind == 4)
                w.load[0].force.y = 1e-6; /* may bring it there */
            assert_int_equal(ff__march_step(&w, time), near || kind == 4 ? steps : 1);
        }
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_flight_of_a_symmetric_top),
        cmocka_unit_test(test_a_fast_spin_ahead),
        cmocka_unit_test(test_constant_load_is_a_parabola),
        cmocka_unit_test(test_spring_is_a_half_sine),
        cmocka_unit_test(test_damped_spring_restitutes),
        cmocka_unit_test(test_turn_is_a_half_sine),
        cmocka_unit_test(test_a_surface_too_stiff_for_its_steps),
        cmocka_unit_test(test_every_law_rebounds_as_integrated_finely),
        cmocka_unit_test(test_two_bodies_keep_their_momentum),
        cmocka_unit_test(test_friction_of_a_point),
        cmocka_unit_test(test_friction_stops_or_slides),
        cmocka_unit_test(test_friction_of_a_tip_with_an_arm),
        cmocka_unit_test(test_spring_beside_a_ramp),
        cmocka_unit_test(test_cone_and_look_ahead_rebound_alike),
        cmocka_unit_test(test_net_holds_the_energy),
        cmocka_unit_test(test_given_direction_and_torque),
        cmocka_unit_test(test_each_component_of_a_load_acts),
        cmocka_unit_test(test_net_lets_the_largest_impulse_through),
        cmocka_unit_test(test_sub_steps_by_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
