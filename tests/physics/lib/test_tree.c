/* Laws of the floating-base tree: M' - 2 C is skew-symmetric, momentum and energy are kept over a minute. */
#include "support.h"

#include "servicer_model.h"

enum { N = SERVICER_JOINTS, DOF = 6 + N };

static max_align_t model_memory[4096], work_memory[8192];
static ff_tree_model *model;
static ff_tree_work *work;

static int setup(void **unused) {
    (void)unused;
    servicer_model s;
    servicer_model_make(&s);
    s.link[1].rotor_inertia = 0.2;
    return ff_tree_create(&s.config, model_memory, sizeof model_memory, &model, NULL, 0) != FF_OK ||
           ff_tree_work_create(model, work_memory, sizeof work_memory, &work) != FF_OK;
}

static ff_tree_state random_state(ff_rng *rng, double rate) {
    ff_tree_state x;
    ff_tree_state_default(&x);
    x.base = test_random_pose(rng, 3);
    x.twist = (ff_twist){test_random_vec3(rng, rate), test_random_vec3(rng, rate)};
    for (int i = 0; i < N; i++) {
        x.q[i] = ff_rng_range(rng, -3, 3);
        x.qd[i] = ff_rng_range(rng, -rate, rate);
    }
    return x;
}

static void mass_at(const ff_tree_state *x, double step, double *M) {
    ff_tree_state y = *x;
    for (int i = 0; i < N; i++)
        y.q[i] += step * x->qd[i];
    ff_tree_positions(model, &y, work, ff_vec3_zero());
    ff_tree_mass_matrix(model, work, M);
}

/* [destefano2021, Eq. (12)] C + C^T = M', the same as M' - 2 C skew. M' by a seven-point difference; it
 * rounds off 1.8 / h = 900 times the last digits of an entry (of some kg m2 about the base origin, at least).
 */
static void test_mass_rate_minus_twice_coriolis_is_skew(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 80);
    for (int n = 0; n < 100; n++) {
        const ff_tree_state x = random_state(&rng, 1.5);
        const double h = 2e-3;
        double M[6][DOF * DOF], C[DOF * DOF];
        const double at[6] = {-3 * h, -2 * h, -h, h, 2 * h, 3 * h}, weight[6] = {-1, 9, -45, 45, -9, 1};
        for (int k = 0; k < 6; k++)
            mass_at(&x, at[k], M[k]);
        ff_tree_kinematics(model, &x, work, ff_vec3_zero());
        ff_tree_coriolis(model, work, C);
        for (int r = 0; r < DOF; r++)
            for (int c = 0; c < DOF; c++) {
                double rate = 0;
                for (int k = 0; k < 6; k++)
                    rate += weight[k] * M[k][r * DOF + c] / (60 * h);
                const double scale = sqrt(M[0][r * DOF + r] * M[0][c * DOF + c]);
                assert_near(C[r * DOF + c] + C[c * DOF + r], rate, 2e-11 * fmax(scale, 1));
            }
    }
}

/* C is linear in v at fixed q, and the velocity stage alone gives it: Eq. (22) takes C at V_b and at V_s. */
static void test_coriolis_is_linear_in_the_rates(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 81);
    for (int n = 0; n < 50; n++) {
        const ff_tree_state a = random_state(&rng, 1);
        ff_tree_state b = random_state(&rng, 1), sum;
        memcpy(b.q, a.q, sizeof a.q);
        b.base = a.base;
        sum = a;
        sum.twist = ff_twist_add(a.twist, ff_twist_scale(2, b.twist));
        for (int i = 0; i < N; i++)
            sum.qd[i] = a.qd[i] + 2 * b.qd[i];
        double C[3][DOF * DOF];
        const ff_tree_state *s[3] = {&a, &b, &sum};
        ff_tree_positions(model, &a, work, ff_vec3_zero());
        for (int k = 0; k < 3; k++) {
            ff_tree_velocities(model, s[k], work);
            ff_tree_coriolis(model, work, C[k]);
        }
        for (int k = 0; k < DOF * DOF; k++)
            assert_near(C[2][k], C[0][k] + 2 * C[1][k], 1e-11);
    }
}

/* ---------------------------------------------------------------------- integration: RK4, small step -- */

typedef struct rates {
    ff_quat q;
    ff_vec3 p;
    ff_tree_acceleration a;
    double qd[N];
} rates;

static rates evaluate(const ff_tree_state *x, const ff_tree_force *force, ff_vec3 gravity) {
    rates k;
    const ff_vec3 w = x->twist.w;
    const ff_quat dq = ff_quat_mul(x->base.q, (ff_quat){0, w.x / 2, w.y / 2, w.z / 2});
    k.q = dq;
    k.p = ff_quat_rotate(ff_quat_unit(x->base.q), x->twist.v);
    memcpy(k.qd, x->qd, sizeof k.qd);
    ff_tree_state y = *x;
    y.base.q = ff_quat_unit(y.base.q);
    ff_tree_kinematics(model, &y, work, gravity);
    assert_int_equal(ff_tree_forward_dynamics(model, work, force, NULL, &k.a), FF_OK);
    return k;
}

static ff_tree_state advanced(const ff_tree_state *x, const rates *k, double h) {
    ff_tree_state y = *x;
    y.base.q.w += h * k->q.w;
    y.base.q.x += h * k->q.x;
    y.base.q.y += h * k->q.y;
    y.base.q.z += h * k->q.z;
    y.base.p = ff_vec3_axpy(h, k->p, y.base.p);
    y.twist = ff_twist_add(y.twist, ff_twist_scale(h, k->a.base));
    for (int i = 0; i < N; i++) {
        y.q[i] += h * k->qd[i];
        y.qd[i] += h * k->a.qdd[i];
    }
    return y;
}

static void rk4(ff_tree_state *x, const ff_tree_force *force, ff_vec3 gravity, double h) {
    const rates k1 = evaluate(x, force, gravity);
    const ff_tree_state x2 = advanced(x, &k1, h / 2);
    const rates k2 = evaluate(&x2, force, gravity);
    const ff_tree_state x3 = advanced(x, &k2, h / 2);
    const rates k3 = evaluate(&x3, force, gravity);
    const ff_tree_state x4 = advanced(x, &k3, h);
    const rates k4 = evaluate(&x4, force, gravity);
    *x = advanced(x, &k1, h / 6);
    *x = advanced(x, &k2, h / 3);
    *x = advanced(x, &k3, h / 3);
    *x = advanced(x, &k4, h / 6);
    x->base.q = ff_quat_unit(x->base.q);
}

static ff_tree_momentum momentum(const ff_tree_state *x, ff_vec3 gravity, double *energy) {
    ff_tree_kinematics(model, x, work, gravity);
    *energy = ff_tree_kinetic_energy(model, work) + ff_tree_potential_energy(model, work);
    return ff_tree_total_momentum(model, work);
}

static ff_tree_state tumbling(void) {
    ff_tree_state x;
    ff_tree_state_default(&x);
    x.base.p = ff_vec3_make(.3, -.2, .5);
    x.twist = (ff_twist){{{.03, -.04, .02}}, {{.02, .01, -.03}}};
    const double q[N] = {0, 1, 0, 2, 0, 1, 0}, qd[N] = {.1, -.08, .06, .12, -.1, .05, .2};
    memcpy(x.q, q, sizeof q);
    memcpy(x.qd, qd, sizeof qd);
    return x;
}

/* A free minute with loose joints: momentum as a vector, about the origin too, and energy to 1e-11. */
static void test_free_tree_keeps_momentum_and_energy_for_a_minute(void **unused) {
    (void)unused;
    ff_tree_state x = tumbling();
    const ff_tree_force none = {ff_wrench_zero(), {0}};
    double e0, e1, worst = 0;
    const ff_tree_momentum a = momentum(&x, ff_vec3_zero(), &e0);
    const int steps = 60000;
    for (int k = 0; k < steps; k++)
        rk4(&x, &none, ff_vec3_zero(), 60.0 / steps);
    const ff_tree_momentum b = momentum(&x, ff_vec3_zero(), &e1);
    for (int k = 0; k < 6; k++)
        worst = fmax(worst, fabs(x.qd[k]));
    print_message("relative: energy %.1e, momentum %.1e, about the origin %.1e\n", (e1 - e0) / e0,
                  ff_vec3_norm(ff_vec3_sub(b.linear, a.linear)) / ff_vec3_norm(a.linear),
                  ff_vec3_norm(ff_vec3_sub(b.origin, a.origin)) / ff_vec3_norm(a.origin));
    assert_near(e1, e0, 1e-11 * e0);
    assert_vec3_near(b.linear, a.linear, 1e-11 * ff_vec3_norm(a.linear));
    assert_vec3_near(b.origin, a.origin, 1e-11 * ff_vec3_norm(a.origin));
    assert_vec3_near(b.spin, a.spin, 1e-11 * ff_vec3_norm(a.spin));
    assert_true(worst > .01); /* the arm did move */
    /* the CoM moved straight */
    assert_vec3_near(b.com, ff_vec3_axpy(60 / a.mass, a.linear, a.com), 1e-11);
}

/* Joint torques are internal; gravity adds m g t and its moment, and the energy gained is the torques' work.
 */
static void test_internal_torques_and_gravity_change_only_what_they_should(void **unused) {
    (void)unused;
    ff_tree_state x = tumbling();
    const ff_tree_force force = {ff_wrench_zero(), {.3, -.2, .1, .15, -.05, .02, .01}};
    const ff_vec3 g = {{.4, -.3, -1.6}};
    double e0, e1, power = 0;
    const ff_tree_momentum a = momentum(&x, g, &e0);
    const int steps = 4000;
    const double T = 4.0, h = T / steps;
    ff_tree_state start = x;
    for (int k = 0; k < steps; k++)
        rk4(&x, &force, g, h);
    const ff_tree_momentum b = momentum(&x, g, &e1);
    assert_vec3_near(b.linear, ff_vec3_axpy(a.mass * T, g, a.linear), 1e-9);
    assert_vec3_near(b.spin, a.spin, 1e-10);
    for (int i = 0; i < N; i++)
        power += force.torque[i] * (x.q[i] - start.q[i]); /* constant torques: work = torque times angle */
    assert_near(e1 - e0, power, 1e-9);
    assert_true(fabs(power) > .05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_mass_rate_minus_twice_coriolis_is_skew, setup),
        cmocka_unit_test_setup(test_coriolis_is_linear_in_the_rates, setup),
        cmocka_unit_test_setup(test_free_tree_keeps_momentum_and_energy_for_a_minute, setup),
        cmocka_unit_test_setup(test_internal_torques_and_gravity_change_only_what_they_should, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
