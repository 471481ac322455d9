/* destefano2021, client: (2), (4), (11) are one motion in two sets of coordinates. Envisat's public figures,
 * a general tumble and the pulses of the readings: a spin about a principal axis without forces has V_c = 0
 * and would hide every error. */
#include "loop_support.h"

#include "freefloat/integrate.h"
#include "freefloat/loop.h"
#include "servicer_model.h"

#define T 0.004
enum { CYCLES = 15000 }; /* 60 s */

static ff_rigid_model envisat(void) {
    ff_rigid_model model;
    assert_int_equal(ff_rigid_create(&envisat_rigid, &model), FF_OK);
    return model;
}

static ff_rigid_state tumble(void) {
    const double deg = FF_PI / 180;
    return (ff_rigid_state){{{1.5, -0.7, 0.4}},
                            ff_quat_unit((ff_quat){0.8, 0.3, -0.4, 0.2}),
                            {{0.02, -0.01, 0.03}},
                            {{1.1 * deg, -0.9 * deg, -2.5 * deg}}};
}

/* The pulses of the readings: body axes. */
static ff_wrench pulse(int k) {
    static const struct {
        int from, to;
        double f[6];
    } row[] = {{1200, 1320, {200, -150, 80, 60, -90, 120}},
               {5000, 5020, {-1500, 900, 400, 300, 800, -1200}},
               {10000, 10500, {-20, 35, -50, 15, -10, 40}}};
    for (int i = 0; i < 3; i++)
        if (k >= row[i].from && k < row[i].to)
            return (ff_wrench){ff_vec3_make(row[i].f[3], row[i].f[4], row[i].f[5]),
                               ff_vec3_make(row[i].f[0], row[i].f[1], row[i].f[2])};
    return ff_wrench_zero();
}

/* ---------------------------------------------------------------------- continuous: RK4 in the test -- */

typedef struct motion {
    ff_pose g;
    ff_twist V;
} motion;

typedef struct rate {
    ff_quat q;
    ff_vec3 p;
    ff_twist V;
} rate;

typedef struct world { /* (2), (4), (11) side by side */
    motion t, n, c;
} world;

typedef struct world_rate {
    rate t, n, c;
} world_rate;

static rate rate_of(const motion *m, ff_twist a) {
    const ff_quat w = {0, 0.5 * m->V.w.x, 0.5 * m->V.w.y, 0.5 * m->V.w.z};
    return (rate){ff_quat_mul(m->g.q, w), ff_quat_rotate(m->g.q, m->V.v), a};
}

static motion add(motion m, double h, const rate *r) {
    m.g.q = (ff_quat){m.g.q.w + h * r->q.w, m.g.q.x + h * r->q.x, m.g.q.y + h * r->q.y, m.g.q.z + h * r->q.z};
    m.g.p = ff_vec3_axpy(h, r->p, m.g.p);
    m.V = ff_twist_add(m.V, ff_twist_scale(h, r->V));
    return m;
}

enum { F_TERM, C_ANGULAR, C_LINEAR, AD_RATE_ANGULAR, AD_RATE_LINEAR, AD_ANGULAR, AD_LINEAR, TERMS };

/* (11) written out once more, term by term, so that one can be left out. -1: none. */
static ff_twist relative_without(int term, const ff_rigid_model *m, const motion *c, ff_twist V_n,
                                 ff_twist A_n, ff_wrench F) {
    const ff_mat3 R = ff_quat_to_mat3(c->g.q);
    const ff_vec3 dw = ff_mat3_apply_transpose(&R, V_n.w),
                  dv = ff_mat3_apply_transpose(&R, ff_vec3_sub(V_n.v, ff_vec3_cross(c->g.p, V_n.w)));
    const ff_vec3 aw = ff_mat3_apply_transpose(&R, A_n.w),
                  av = ff_mat3_apply_transpose(&R, ff_vec3_sub(A_n.v, ff_vec3_cross(c->g.p, A_n.w)));
    const ff_vec3 w = ff_vec3_add(c->V.w, dw), v = ff_vec3_add(c->V.v, dv);
    ff_vec3 torque = ff_vec3_zero(), force = ff_vec3_zero();
    if (term != F_TERM) {
        torque = F.t;
        force = F.f;
    }
    if (term != C_ANGULAR)
        torque = ff_vec3_sub(torque, ff_vec3_cross(w, ff_mat3_apply(&m->inertia, w)));
    if (term != C_LINEAR)
        force = ff_vec3_sub(force, ff_vec3_scale(m->mass, ff_vec3_cross(w, v)));
    ff_twist a = {ff_mat3_apply(&m->inertia_inv, torque), ff_vec3_scale(1 / m->mass, force)};
    if (term != AD_RATE_ANGULAR)
        a.w = ff_vec3_sub(a.w, aw);
    if (term != AD_RATE_LINEAR)
        a.v = ff_vec3_sub(a.v, av);
    if (term != AD_ANGULAR)
        a.w = ff_vec3_add(a.w, ff_vec3_cross(c->V.w, dw));
    if (term != AD_LINEAR)
        a.v = ff_vec3_add(a.v, ff_vec3_add(ff_vec3_cross(c->V.w, dv), ff_vec3_cross(c->V.v, dw)));
    return a;
}

static const ff_rigid_model *robot_model; /* (3) when not NULL: the robot has its own inertia */

static world_rate slope(const ff_rigid_model *m, int term, const world *x, ff_wrench F) {
    const ff_twist A_n = ff_rigid_body_acceleration(m, x->n.V, ff_wrench_zero());
    ff_twist a = term < 0 ? ff_relative_acceleration(m, x->c.g, x->c.V, x->n.V, A_n, F)
                          : relative_without(term, m, &x->c, x->n.V, A_n, F);
    if (robot_model) { /* (9) into (3): M_c V_c' + C_c V_c = F + F_c */
        const ff_wrench F_c = ff_relative_robot_wrench(m, robot_model, x->c.g, x->c.V, x->n.V, A_n, F);
        a = ff_rigid_body_acceleration(robot_model, x->c.V, ff_wrench_add(F, F_c));
    }
    return (world_rate){rate_of(&x->t, ff_rigid_body_acceleration(m, x->t.V, F)), rate_of(&x->n, A_n),
                        rate_of(&x->c, a)};
}

static world shift(const world *x, double h, const world_rate *r) {
    return (world){add(x->t, h, &r->t), add(x->n, h, &r->n), add(x->c, h, &r->c)};
}

static void rk4(const ff_rigid_model *m, int term, world *x, ff_wrench F) {
    const world_rate k1 = slope(m, term, x, F);
    const world x2 = shift(x, T / 2, &k1);
    const world_rate k2 = slope(m, term, &x2, F);
    const world x3 = shift(x, T / 2, &k2);
    const world_rate k3 = slope(m, term, &x3, F);
    const world x4 = shift(x, T, &k3);
    const world_rate k4 = slope(m, term, &x4, F);
    *x = shift(x, T / 6, &k1);
    *x = shift(x, T / 3, &k2);
    *x = shift(x, T / 3, &k3);
    *x = shift(x, T / 6, &k4);
    x->t.g.q = ff_quat_unit(x->t.g.q);
    x->n.g.q = ff_quat_unit(x->n.g.q);
    x->c.g.q = ff_quat_unit(x->c.g.q);
}

/* Largest distance and angle between g_t and g_n g_c over 60 s. */
static void identity(int term, double *distance, double *angle) {
    const ff_rigid_model m = envisat();
    const ff_rigid_state start = tumble();
    const motion t = {ff_rigid_pose(&start), ff_rigid_twist(&start)};
    world x = {t, t, {ff_pose_identity(), ff_twist_zero()}};
    *distance = *angle = 0.0;
    for (int k = 0; k < CYCLES; k++) {
        rk4(&m, term, &x, pulse(k));
        const ff_pose g = ff_pose_mul(x.n.g, x.c.g);
        *distance = fmax(*distance, ff_vec3_norm(ff_vec3_sub(g.p, x.t.g.p)));
        *angle = fmax(*angle, ff_quat_angle(g.q, x.t.g.q));
    }
}

static void test_client_identity_continuous(void **state) {
    (void)state;
    double distance, angle;
    identity(-1, &distance, &angle);
    print_message("(11) against (2): %.2g m, %.2g rad in 60 s\n", distance, angle);
    assert_true(distance < 1e-10);
    assert_true(angle < 1e-11);
}

static void test_client_identity_needs_every_term(void **state) {
    (void)state;
    for (int term = 0; term < TERMS; term++) {
        double distance, angle;
        identity(term, &distance, &angle);
        print_message("without term %d: %.2g m, %.2g rad\n", term, distance, angle);
        assert_true(distance > 1e-6 || angle > 1e-7);
    }
    double distance, angle;
    identity(TERMS, &distance, &angle); /* the test's own (11), complete */
    assert_true(distance < 1e-10);
}

static void test_impedance_moves_as_admittance(void **state) {
    (void)state;
    const ff_rigid_config config = {420, {{{55, 3, -2}, {3, 70, 4}, {-2, 4, 48}}}};
    ff_rigid_model robot;
    double distance, angle;
    ff_rigid_create(&config, &robot);
    robot_model = &robot;
    identity(-1, &distance, &angle);
    robot_model = NULL;
    print_message("(9) into (3) against (2): %.2g m, %.2g rad\n", distance, angle);
    assert_true(distance < 1e-10);
    assert_true(angle < 1e-11);
}

/* ------------------------------------------------------------------------------ the library's schemes -- */

/* The pulses held for a cycle: force in the inertial axes of the start, so that both forms get the same. */
static ff_rigid_load held(int k) {
    const ff_wrench f = pulse(k);
    return (ff_rigid_load){f.f, f.t};
}

static double scheme_identity(ff_scheme scheme, ff_nominal_kind kind) {
    const ff_integrate_config config = {.scheme = scheme, .cycle = T};
    const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}};
    ff_nominal_config nominal = {.kind = kind, .model = envisat(), .start = tumble()};
    if (kind == FF_NOMINAL_PRESCRIBED)
        nominal.start.velocity = ff_vec3_make(0.01, 0.02, 0.0);
    ff_nominal_state n;
    ff_rigid_state absolute = tumble(), relative = absolute;
    ff_integrate_state a, r;
    ff_integrate_out out;
    ff_nominal_reset(&nominal, &n);
    ff_integrate_reset(&absolute, &a);
    ff_integrate_reset(&relative, &r);
    double worst = 0.0;
    for (int k = 0; k < CYCLES; k++) {
        const ff_rigid_state now = n.motion;
        ff_nominal_step(&nominal, &config, (uint64_t)k, &n);
        ff_integrate_step(&config, &nominal.model, none, held(k), &absolute, &a, &out);
        const double before = ff_rigid_kinetic_energy(&nominal.model, &relative);
        ff_relative_step(&config, &nominal, &nominal.model, none, held(k), &now, &n.motion, &relative, &r,
                         &out);
        assert_near(ff_rigid_kinetic_energy(&nominal.model, &relative) - before,
                    out.contact + out.loads + out.scheme, 1e-9);
        worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(absolute.position, relative.position)));
    }
    return worst;
}

static void test_client_identity_schemes(void **state) {
    (void)state;
    const double lie = scheme_identity(FF_SCHEME_LIE_MIDPOINT, FF_NOMINAL_FREE),
                 euler = scheme_identity(FF_SCHEME_EULER, FF_NOMINAL_FREE),
                 prescribed = scheme_identity(FF_SCHEME_LIE_MIDPOINT, FF_NOMINAL_PRESCRIBED);
    print_message("integrated (11) against (2), 60 s: lie-midpoint %.2g m (prescribed nominal %.2g), euler "
                  "%.2g m\n",
                  lie, prescribed, euler);
    assert_true(lie < 1e-7);
    assert_true(prescribed < 1e-7);
    assert_true(euler < 0.5e-3);
}

/* A contact impulse acts alike in both forms: one hit, then 10 s. */
static void test_contact_impulse_alike(void **state) {
    (void)state;
    const ff_integrate_config config = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = T};
    const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}}, hit = {{{900, -400, 700}}, {{300, -200, 500}}};
    const ff_nominal_config nominal = {.kind = FF_NOMINAL_FREE, .model = envisat(), .start = tumble()};
    ff_nominal_state n;
    ff_rigid_state absolute = tumble(), relative = absolute;
    ff_integrate_state a, r;
    ff_integrate_out out;
    ff_nominal_reset(&nominal, &n);
    ff_integrate_reset(&absolute, &a);
    ff_integrate_reset(&relative, &r);
    for (int k = 0; k < 2500; k++) {
        const ff_rigid_state now = n.motion;
        const ff_rigid_load contact = k >= 100 && k < 200 ? hit : none;
        ff_nominal_step(&nominal, &config, (uint64_t)k, &n);
        ff_integrate_step(&config, &nominal.model, contact, none, &absolute, &a, &out);
        const double contact_energy = out.contact;
        ff_relative_step(&config, &nominal, &nominal.model, contact, none, &now, &n.motion, &relative, &r,
                         &out);
        assert_near(out.contact, contact_energy, 1e-6);
    }
    assert_vec3_near(relative.position, absolute.position, 1e-7);
    assert_vec3_near(relative.velocity, absolute.velocity, 1e-8);
    assert_vec3_near(relative.omega, absolute.omega, 1e-9);
}

/* --------------------------------------------------------------------------------------- mapping (23) -- */

static void test_mapping_is_its_own_inverse_and_differentiates(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    for (int i = 0; i < 200; i++) {
        const ff_rigid_state n = {test_random_vec3(&rng, 5), test_random_quat(&rng),
                                  test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
        const ff_rigid_state t = {test_random_vec3(&rng, 5), test_random_quat(&rng),
                                  test_random_vec3(&rng, 1), test_random_vec3(&rng, 1)};
        const ff_rigid_state c = ff_relative_from_absolute(&n, &t), back = ff_relative_to_absolute(&n, &c);
        assert_vec3_near(back.position, t.position, 1e-13);
        assert_vec3_near(back.velocity, t.velocity, 1e-13);
        assert_vec3_near(back.omega, t.omega, 1e-13);
        assert_near(ff_quat_angle(back.attitude, t.attitude), 0, 1e-13);
        /* (6) in spatial algebra */
        const ff_twist V =
            ff_twist_add(ff_rigid_twist(&c), ff_relative_delta(ff_rigid_pose(&c), ff_rigid_twist(&n)));
        const ff_twist V_t = ff_rigid_twist(&t);
        assert_vec3_near(V.w, V_t.w, 1e-13);
        assert_vec3_near(V.v, V_t.v, 1e-12);
        /* the velocities are those of the poses */
        const double h = 1e-5;
        ff_rigid_state n1 = n, t1 = t;
        n1.position = ff_vec3_axpy(h, n.velocity, n.position);
        n1.attitude = ff_quat_mul(n.attitude, ff_quat_exp(ff_vec3_scale(h, n.omega)));
        t1.position = ff_vec3_axpy(h, t.velocity, t.position);
        t1.attitude = ff_quat_mul(t.attitude, ff_quat_exp(ff_vec3_scale(h, t.omega)));
        const ff_rigid_state c1 = ff_relative_from_absolute(&n1, &t1);
        assert_vec3_near(ff_vec3_scale(1 / h, ff_vec3_sub(c1.position, c.position)), c.velocity, 3e-4);
        assert_vec3_near(
            ff_vec3_scale(1 / h, ff_quat_log(ff_quat_mul(ff_quat_conj(c.attitude), c1.attitude))), c.omega,
            3e-4);
    }
}

/* ------------------------------------------------------------------------------------------- the loop -- */

static void test_loop_refuses_what_cannot_be(void **state) {
    (void)state;
    ff_loop_config config;
    TEST_LOOP_MODEL(model);
    char message[200];
    ff_loop_default(&config);
    config.relative.enabled = true;
    config.relative.of = 1;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_ARGUMENT);
    assert_non_null(strstr(message, "nominal"));
    config.relative.of = 0;
    config.relative.integrated = true;
    config.integrate.scheme = FF_SCHEME_SPLITTING;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_UNSUPPORTED);
    config.integrate.scheme = FF_SCHEME_EULER;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_OK);
    config.relative.nominal = FF_NOMINAL_SATELLITE;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_UNSUPPORTED);
    config.relative.integrated = false;
    config.relative.nominal = FF_NOMINAL_PRESCRIBED;
    config.relative.start = config.body[0].start;
    config.relative.start.omega.x = FF_NAN;
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_ERR_NOT_FINITE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_client_identity_continuous),
        cmocka_unit_test(test_client_identity_needs_every_term),
        cmocka_unit_test(test_impedance_moves_as_admittance),
        cmocka_unit_test(test_client_identity_schemes),
        cmocka_unit_test(test_contact_impulse_alike),
        cmocka_unit_test(test_mapping_is_its_own_inverse_and_differentiates),
        cmocka_unit_test(test_loop_refuses_what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
