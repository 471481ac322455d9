/* The schemes of a free rigid body, each against its own equation: the symmetric top in closed form, the
 * order of convergence, what is conserved, the energies that a step reports, the passive output, coasting,
 * the nominal motion and (11) in relative coordinates. */
#include "support.h"

#include "freefloat/integrate.h"

static const ff_scheme schemes[] = {FF_SCHEME_LIE_MIDPOINT, FF_SCHEME_EULER, FF_SCHEME_PASSIVE,
                                    FF_SCHEME_SPLITTING};
static const ff_rigid_load none;

/* Principal moments a, b, c in axes turned by q. */
static ff_rigid_model body_of(double mass, double a, double b, double c, ff_quat q) {
    const ff_mat3 R = ff_quat_to_mat3(q);
    ff_mat3 inertia = ff_mat3_mul(R, ff_mat3_mul(ff_mat3_diag(a, b, c), ff_mat3_transpose(R)));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            inertia.m[i][j] = inertia.m[j][i];
    const ff_rigid_config config = {mass, inertia};
    ff_rigid_model model;
    assert_int_equal(ff_rigid_create(&config, &model), FF_OK);
    return model;
}

static ff_rigid_model random_body(ff_rng *rng) {
    const double a = ff_rng_range(rng, 60, 100), b = ff_rng_range(rng, 60, 100),
                 c = ff_rng_range(rng, 60, 100);
    return body_of(ff_rng_range(rng, 100, 400), a, b, c, test_random_quat(rng));
}

static ff_rigid_state random_state(ff_rng *rng) {
    return (ff_rigid_state){test_random_vec3(rng, 2), test_random_quat(rng), test_random_vec3(rng, 0.5),
                            test_random_vec3(rng, 0.4)};
}

static ff_rigid_load random_load(ff_rng *rng) {
    return (ff_rigid_load){test_random_vec3(rng, 50), test_random_vec3(rng, 20)};
}

/* w = L/A + (1 - C/A) w_3 e_3 in the body: with L fixed in space, q(t) = exp(L t/A) q(0) exp((1 - C/A) w_3 t
 * e_3). */
static ff_rigid_state top_after(const ff_rigid_model *m, ff_quat q_bp, double A, double C,
                                const ff_rigid_state *x, double t) {
    const ff_vec3 L = ff_rigid_angular_momentum(m, x), e = ff_quat_rotate(q_bp, ff_vec3_make(0, 0, 1));
    const ff_vec3 spin = ff_vec3_scale((1.0 - C / A) * ff_vec3_dot(x->omega, e), e);
    ff_rigid_state y = *x;
    y.attitude = ff_quat_mul(ff_quat_exp(ff_vec3_scale(t / A, L)),
                             ff_quat_mul(x->attitude, ff_quat_exp(ff_vec3_scale(t, spin))));
    y.omega = ff_vec3_add(ff_vec3_scale(1.0 / A, ff_quat_unrotate(y.attitude, L)), spin);
    y.position = ff_vec3_axpy(t, x->velocity, x->position);
    return y;
}

static void fly(const ff_integrate_config *config, const ff_rigid_model *m, double t, ff_rigid_state *x) {
    ff_integrate_state state;
    ff_integrate_out out;
    ff_integrate_reset(x, &state);
    for (int n = (int)lround(t / config->cycle); n > 0; n--)
        ff_integrate_step(config, m, none, none, x, &state, &out);
}

static void test_symmetric_top_and_order(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int n = 0; n < 24; n++) {
        const double A = ff_rng_range(&rng, 60, 100), C = A * ff_rng_range(&rng, 1.2, 1.8), t = 1.6;
        const ff_quat q_bp = n < 4 ? ff_quat_identity() : test_random_quat(&rng);
        const ff_rigid_model m = body_of(300, A, A, C, q_bp);
        ff_rigid_state start = random_state(&rng);
        start.omega = ff_quat_rotate(
            q_bp, ff_vec3_make(0.5, ff_rng_range(&rng, -0.5, 0.5), ff_rng_range(&rng, 0.4, 0.8)));
        const ff_rigid_state truth = top_after(&m, q_bp, A, C, &start, t);
        assert_near(ff_rigid_kinetic_energy(&m, &truth), ff_rigid_kinetic_energy(&m, &start), 1e-11);
        double angle[3], rate[3];
        for (int k = 0; k < 3; k++) {
            const ff_integrate_config config = {.scheme = schemes[n % 4], .cycle = 0.02 / (1 << k)};
            ff_rigid_state x = start;
            fly(&config, &m, t, &x);
            assert_vec3_near(x.position, truth.position, 1e-13);
            angle[k] = ff_quat_angle(x.attitude, truth.attitude);
            rate[k] = ff_vec3_norm(ff_vec3_sub(x.omega, truth.omega));
        }
        /* without torque the passive scheme is Euler's: first order; the others second */
        const double order =
            schemes[n % 4] == FF_SCHEME_EULER || schemes[n % 4] == FF_SCHEME_PASSIVE ? 1.0 : 2.0;
        for (int k = 0; k < 2; k++) {
            assert_near(log2(angle[k] / angle[k + 1]), order, 0.15);
            assert_near(log2(rate[k] / rate[k + 1]), order, 0.15);
        }
        /* absolute size: T^2 w^3 t for the second, T w^2 t for the first, times one */
        assert_true(angle[0] < (order > 1.5 ? 4e-4 * 1.6 : 0.02 * 1.6));
    }
}

/* Momentum of the splitting to rounding, whatever the body; quaternions stay unit for every scheme. */
static void test_what_the_schemes_conserve(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int n = 0; n < 12; n++) {
        const ff_rigid_model m = random_body(&rng);
        const ff_integrate_config config = {.scheme = schemes[n % 4], .cycle = 0.02};
        ff_rigid_state x = random_state(&rng);
        const ff_vec3 L = ff_rigid_angular_momentum(&m, &x);
        const double E = ff_rigid_kinetic_energy(&m, &x);
        fly(&config, &m, 20.0, &x);
        const ff_quat q = x.attitude;
        assert_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1.0, 1e-14);
        const double change =
            ff_vec3_norm(ff_vec3_sub(ff_rigid_angular_momentum(&m, &x), L)) / ff_vec3_norm(L);
        if (config.scheme == FF_SCHEME_SPLITTING) {
            assert_true(change < 1000 * 8 * 2.2e-16); /* 1000 steps of some roundings */
            assert_near(ff_rigid_kinetic_energy(&m, &x), E, E * 0.02 * 0.02);
        } else if (config.scheme == FF_SCHEME_LIE_MIDPOINT) {
            assert_near(ff_rigid_kinetic_energy(&m, &x), E, E * 20.0 * 0.02 * 0.02 * 0.02);
        }
    }
}

/* T of each scheme by hand: where force and torque act. */
static void test_translation_of_each_scheme(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int n = 0; n < 40; n++) {
        const ff_rigid_model m = random_body(&rng);
        const double T = ff_rng_range(&rng, 0.001, 0.02);
        const ff_integrate_config config = {.scheme = schemes[n % 4], .cycle = T};
        const ff_rigid_state x0 = random_state(&rng);
        const ff_rigid_load contact = random_load(&rng), loads = random_load(&rng);
        ff_rigid_state x = x0;
        ff_integrate_state state;
        ff_integrate_out out;
        ff_integrate_reset(&x, &state);
        assert_vec3_near(state.velocity_c, x0.velocity, 0.0);
        assert_vec3_near(state.omega_c, x0.omega, 0.0);
        ff_integrate_step(&config, &m, contact, loads, &x, &state, &out);
        const ff_vec3 v1 = ff_vec3_axpy(T / m.mass, ff_vec3_add(contact.force, loads.force), x0.velocity);
        assert_vec3_near(x.velocity, v1, 1e-15);
        ff_vec3 mean = v1;
        if (ff_scheme_holds(config.scheme)) /* the loads' own half step */
            mean = ff_vec3_axpy(-0.5 * T / m.mass, loads.force, v1);
        if (config.scheme == FF_SCHEME_PASSIVE)
            mean = state.velocity_c;
        else
            assert_vec3_near(state.velocity_c, x.velocity, 0.0);
        assert_vec3_near(x.position, ff_vec3_axpy(T, mean, x0.position), 1e-15);
        /* energy: each part computed on its own, together what the body gained */
        const double gained = ff_rigid_kinetic_energy(&m, &x) - ff_rigid_kinetic_energy(&m, &x0);
        assert_near(out.contact + out.loads + out.scheme, gained, 1e-12 * ff_rigid_kinetic_energy(&m, &x));
        assert_near(out.contact,
                    T * (ff_vec3_dot(contact.force, x0.velocity) + ff_vec3_dot(contact.torque, x0.omega)),
                    1e-13);
        /* work of the loads: force times path, torque times mean rate (second order) */
        const double work =
            config.scheme == FF_SCHEME_EULER || config.scheme == FF_SCHEME_PASSIVE
                ? T * ff_rigid_power(loads, x0.velocity, x0.omega)
                : ff_vec3_dot(loads.force, ff_vec3_sub(x.position, x0.position)) +
                      ff_vec3_dot(loads.torque,
                                  ff_quat_log(ff_quat_mul(ff_quat_conj(x0.attitude), x.attitude)));
        assert_near(out.loads, work, 1e-12 + T * T * T * 20 * 0.8 * 0.8);
        /* momentum: what the wrenches gave it, to the order of the scheme */
        const ff_vec3 given = ff_vec3_add(ff_quat_rotate(x0.attitude, contact.torque),
                                          ff_quat_rotate(x0.attitude, loads.torque));
        assert_vec3_near(ff_rigid_angular_momentum(&m, &x),
                         ff_vec3_axpy(T, given, ff_rigid_angular_momentum(&m, &x0)),
                         T * T * (20.0 * 3.0 + 100.0));
    }
}

/* A torque about a principal axis through the centre of a body at rest: angle T^2 t/2I for loads, T^2 t/I for
 * an impulse at t_k. */
static void test_rotation_under_constant_torque(void **unused) {
    (void)unused;
    const double T = 0.01, torque = 30.0;
    for (int n = 0; n < 8; n++)
        for (int axis = 0; axis < 3; axis++) {
            const double moment[3] = {60, 80, 100};
            const ff_rigid_model m = body_of(200, 60, 80, 100, ff_quat_identity());
            const ff_integrate_config config = {.scheme = schemes[n % 4], .cycle = T};
            const bool impulse = n >= 4;
            ff_rigid_state x = {.attitude = ff_quat_identity()};
            ff_rigid_load load = none;
            load.torque.a[axis] = torque;
            ff_integrate_state state;
            ff_integrate_out out;
            ff_integrate_reset(&x, &state);
            ff_integrate_step(&config, &m, impulse ? load : none, impulse ? none : load, &x, &state, &out);
            const double rate = T * torque / moment[axis];
            ff_vec3 expect = ff_vec3_zero();
            expect.a[axis] = rate;
            assert_vec3_near(x.omega, expect, 1e-17);
            if (config.scheme == FF_SCHEME_PASSIVE) { /* (36): half of the impulse in the output */
                assert_near(state.omega_c.a[axis], 0.5 * rate, 1e-17);
                expect.a[axis] = 0.5 * rate * T;
            } else {
                expect.a[axis] = (config.scheme == FF_SCHEME_EULER || impulse ? 1.0 : 0.5) * rate * T;
            }
            assert_vec3_near(ff_quat_log(x.attitude), expect, 1e-17);
        }
}

/* [destefano2019, (25)-(36)] once more, written from the paper: axis by axis, energy by energy. */
static void test_passive_output_against_the_paper(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    for (int n = 0; n < 40; n++) {
        const ff_rigid_model m = random_body(&rng);
        const double T = 0.004;
        const ff_integrate_config config = {
            .scheme = FF_SCHEME_PASSIVE, .cycle = T, .passive_printed = n % 2};
        ff_rigid_state x = random_state(&rng);
        ff_integrate_state state;
        ff_integrate_out out;
        ff_integrate_reset(&x, &state);
        double E[3] = {0}, E_r = 0.0;
        if (n % 4 >= 2) { /* energy in store: nothing has to be dissipated at first */
            for (int i = 0; i < 3; i++)
                state.observer_translation[i] = E[i] = 1e-4;
            state.observer_rotation = E_r = 1e-4;
        }
        for (int k = 0; k < 30; k++) {
            ff_rigid_load contact = random_load(&rng), loads = random_load(&rng);
            if (k % 7 == 0)
                contact = loads = none;
            const ff_vec3 w = x.omega;
            ff_integrate_step(&config, &m, contact, loads, &x, &state, &out);
            const ff_vec3 f = ff_vec3_add(contact.force, loads.force),
                          t = ff_vec3_add(contact.torque, loads.torque);
            for (int i = 0; i < 3; i++) {
                double v = 0.0;
                E[i] -= 0.5 * T * T / m.mass * f.a[i] * f.a[i];
                if (E[i] < 0.0 && f.a[i] != 0.0) {
                    v = -E[i] / (T * f.a[i]);
                    E[i] = 0.0;
                }
                assert_near(state.velocity_c.a[i], x.velocity.a[i] - v, 1e-15);
                assert_near(state.observer_translation[i], E[i], 1e-18);
            }
            const ff_mat3 S = ff_mat3_skew(ff_mat3_apply(&m.inertia, w)), St = ff_mat3_transpose(S);
            const ff_vec3 Sw = ff_mat3_apply(&S, w), ISw = ff_mat3_apply(&m.inertia_inv, Sw);
            const ff_vec3 own =
                ff_vec3_scale(config.passive_printed ? 0.5 * T * T : 0.0, ff_mat3_apply(&St, ISw));
            const ff_vec3 chi = ff_vec3_add(t, own);
            E_r -= 0.5 * T * T * ff_vec3_dot(t, ff_mat3_apply(&m.inertia_inv, t)) + ff_vec3_dot(w, own);
            ff_vec3 w_pc = ff_vec3_zero();
            if (E_r < 0.0 && ff_vec3_norm(chi) > 0.0) {
                w_pc = ff_vec3_scale(-E_r / (T * ff_vec3_dot(chi, chi)), chi);
                E_r = 0.0;
            }
            assert_vec3_near(state.omega_c, ff_vec3_sub(x.omega, w_pc), 1e-13 * (1.0 + ff_vec3_norm(w_pc)));
            assert_near(state.observer_rotation, E_r, 1e-16);
        }
    }
}

/* passive with rotation: exact. Of any body, at steps as long as its own turning: the energy changes by what
 * the torque does at the mean rate, which is the output, and by nothing else; the ledger says the same.
 * Without torque it is kept to rounding, and the rotation is of second order where Euler's is of first. */
static void test_exact_rotation_keeps_its_energy(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 12);
    for (int n = 0; n < 40; n++) {
        const ff_rigid_model m = random_body(&rng);
        const double T = n % 2 ? 0.004 : 0.5;
        const ff_integrate_config config = {.scheme = FF_SCHEME_PASSIVE, .cycle = T, .passive_exact = true};
        ff_rigid_state x = random_state(&rng);
        ff_integrate_state state;
        ff_integrate_out out;
        ff_integrate_reset(&x, &state);
        for (int k = 0; k < 50; k++) {
            const ff_rigid_load contact = k % 3 ? random_load(&rng) : none,
                                loads = k % 5 ? none : random_load(&rng);
            const ff_vec3 torque = ff_vec3_add(contact.torque, loads.torque), w = x.omega;
            const double before = ff_rigid_kinetic_energy(&m, &x),
                         turning = 0.5 * ff_vec3_dot(w, ff_mat3_apply(&m.inertia, w));
            ff_integrate_step(&config, &m, contact, loads, &x, &state, &out);
            const double gained = 0.5 * ff_vec3_dot(x.omega, ff_mat3_apply(&m.inertia, x.omega)) - turning;
            const double scale = turning + fabs(gained);
            assert_near(gained, T * ff_vec3_dot(torque, state.omega_c), 1e-13 * scale);
            assert_vec3_near(state.omega_c, ff_vec3_scale(0.5, ff_vec3_add(w, x.omega)),
                             1e-14 * (1.0 + ff_vec3_norm(w)));
            assert_near(ff_rigid_kinetic_energy(&m, &x) - before, out.contact + out.loads + out.scheme,
                        1e-12 * (before + scale));
            assert_true(state.observer_rotation == 0.0);
        }
    }
    for (int n = 0; n < 8; n++) { /* against the symmetric top, as the schemes above */
        const double A = ff_rng_range(&rng, 60, 100), C = A * ff_rng_range(&rng, 1.2, 1.8), t = 1.6;
        const ff_quat q_bp = test_random_quat(&rng);
        const ff_rigid_model m = body_of(300, A, A, C, q_bp);
        ff_rigid_state start = random_state(&rng);
        start.omega = ff_quat_rotate(
            q_bp, ff_vec3_make(0.5, ff_rng_range(&rng, -0.5, 0.5), ff_rng_range(&rng, 0.4, 0.8)));
        const ff_rigid_state truth = top_after(&m, q_bp, A, C, &start, t);
        double angle[3], rate[3];
        for (int k = 0; k < 3; k++) {
            const ff_integrate_config config = {
                .scheme = FF_SCHEME_PASSIVE, .cycle = 0.02 / (1 << k), .passive_exact = true};
            ff_rigid_state x = start;
            fly(&config, &m, t, &x);
            angle[k] = ff_quat_angle(x.attitude, truth.attitude);
            rate[k] = ff_vec3_norm(ff_vec3_sub(x.omega, truth.omega));
        }
        for (int k = 0; k < 2; k++) {
            assert_near(log2(angle[k] / angle[k + 1]), 2.0, 0.15);
            assert_near(log2(rate[k] / rate[k + 1]), 2.0, 0.15);
        }
    }
}

/* Half of a held wrench at each end: x gains T v + T^2 F/2m, the port T F.V. */
static void test_held_wrench_is_a_constant_force(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    assert_true(ff_scheme_holds(FF_SCHEME_LIE_MIDPOINT) && ff_scheme_holds(FF_SCHEME_SPLITTING));
    assert_false(ff_scheme_holds(FF_SCHEME_EULER) || ff_scheme_holds(FF_SCHEME_PASSIVE));
    for (int n = 0; n < 40; n++) {
        const ff_rigid_model m = random_body(&rng);
        const double T = 0.004;
        const ff_integrate_config config = {.scheme = n % 2 ? FF_SCHEME_SPLITTING : FF_SCHEME_LIE_MIDPOINT,
                                            .cycle = T};
        const ff_rigid_state x0 = random_state(&rng);
        const ff_rigid_load half = random_load(&rng);
        ff_rigid_state x = x0;
        ff_integrate_state state;
        ff_integrate_out out;
        ff_integrate_reset(&x, &state);
        ff_integrate_step(&config, &m, half, none, &x, &state, &out);
        const ff_vec3 w = x.omega;
        ff_integrate_finish(&m, T, half, &x, &state, &out);
        assert_vec3_near(x.position,
                         ff_vec3_axpy(T * T / m.mass, half.force, ff_vec3_axpy(T, x0.velocity, x0.position)),
                         1e-15);
        assert_vec3_near(x.velocity, ff_vec3_axpy(2.0 * T / m.mass, half.force, x0.velocity), 1e-15);
        assert_vec3_near(ff_mat3_apply(&m.inertia, ff_vec3_sub(x.omega, w)), ff_vec3_scale(T, half.torque),
                         1e-12);
        assert_vec3_near(state.velocity_c, x.velocity, 0.0);
        assert_vec3_near(state.omega_c, x.omega, 0.0);
        assert_near(out.contact, 2.0 * T * ff_rigid_power(half, x0.velocity, x0.omega), 1e-13);
        assert_near(out.contact + out.loads + out.scheme,
                    ff_rigid_kinetic_energy(&m, &x) - ff_rigid_kinetic_energy(&m, &x0),
                    1e-12 * ff_rigid_kinetic_energy(&m, &x));
    }
}

/* Pieces of at most `step`, the last one shorter; backwards too; the same bits as the scheme's own steps. */
static void test_coast_takes_whole_steps_and_a_rest(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 6);
    for (int n = 0; n < 20; n++) {
        const ff_rigid_model m = random_body(&rng);
        const ff_rigid_state x0 = random_state(&rng);
        const double step = 0.0625, h = n % 2 ? 0.21875 : -0.21875; /* three steps and a half */
        ff_rigid_state a = x0, b = x0;
        ff_integrate_coast(&m, h, step, &a);
        for (int k = 0; k < 3; k++)
            ff_integrate_coast(&m, copysign(step, h), 1.0, &b);
        ff_integrate_coast(&m, copysign(0.5 * step, h), step, &b);
        assert_memory_equal(&a.attitude, &b.attitude, sizeof a.attitude);
        assert_memory_equal(&a.omega, &b.omega, sizeof a.omega);
        assert_vec3_near(a.position, ff_vec3_axpy(h, x0.velocity, x0.position), 1e-15);
        assert_vec3_near(a.velocity, x0.velocity, 0.0);
        a = x0;
        ff_integrate_coast(&m, 0.0, step, &a);
        assert_memory_equal(&a, &x0, sizeof a);
        const ff_integrate_config config = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = step};
        a = b = x0;
        fly(&config, &m, step, &a);
        ff_integrate_coast(&m, step, step, &b);
        assert_memory_equal(&a.attitude, &b.attitude, sizeof a.attitude);
        assert_memory_equal(&a.omega, &b.omega, sizeof a.omega);
    }
}

static ff_nominal_config nominal_of(ff_nominal_kind kind, ff_rng *rng) {
    return (ff_nominal_config){kind, random_body(rng), random_state(rng)};
}

static void test_nominal_motions(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 7);
    for (int n = 0; n < 16; n++) {
        const ff_integrate_config config = {.scheme = schemes[n % 4], .cycle = 0.01};
        /* free: bit by bit a satellite without forces */
        ff_nominal_config free = nominal_of(FF_NOMINAL_FREE, &rng);
        ff_nominal_state state;
        ff_nominal_reset(&free, &state);
        assert_memory_equal(&state.motion, &free.start, sizeof free.start);
        assert_vec3_near(state.output.omega_c, free.start.omega, 0.0);
        ff_rigid_state x = free.start;
        for (uint64_t k = 0; k < 5; k++) {
            ff_nominal_step(&free, &config, k, &state);
            fly(&config, &free.model, config.cycle, &x);
            assert_memory_equal(&state.motion, &x, sizeof x);
        }
        ff_rigid_state y = ff_nominal_coast(&free, 0.07, 0.02, &x);
        ff_integrate_coast(&free.model, 0.07, 0.02, &x);
        assert_memory_equal(&y, &x, sizeof x);
        /* prescribed: a screw from the start, exact at every cycle */
        const ff_nominal_config screw = nominal_of(FF_NOMINAL_PRESCRIBED, &rng);
        const ff_twist V = ff_rigid_twist(&screw.start);
        ff_nominal_reset(&screw, &state);
        for (uint64_t k = 0; k < 400; k++)
            ff_nominal_step(&screw, &config, k, &state);
        ff_pose at =
            ff_pose_mul(ff_rigid_pose(&screw.start), ff_pose_exp(ff_twist_scale(400 * config.cycle, V)));
        assert_vec3_near(state.motion.position, at.p, 1e-13);
        assert_near(ff_quat_angle(state.motion.attitude, at.q), 0.0, 1e-13);
        assert_vec3_near(ff_rigid_twist(&state.motion).v, V.v, 1e-13);
        assert_vec3_near(state.motion.omega, V.w, 0.0);
        y = ff_nominal_coast(&screw, 0.3, 0.1, &state.motion);
        at = ff_pose_mul(at, ff_pose_exp(ff_twist_scale(0.3, V)));
        assert_vec3_near(y.position, at.p, 1e-13);
        assert_near(ff_quat_angle(y.attitude, at.q), 0.0, 1e-13);
        /* a satellite's own: the caller sets it, prediction takes it as free */
        const ff_nominal_config own = nominal_of(FF_NOMINAL_SATELLITE, &rng);
        ff_nominal_reset(&own, &state);
        ff_nominal_step(&own, &config, 0, &state);
        assert_memory_equal(&state.motion, &own.start, sizeof own.start);
        y = ff_nominal_coast(&own, 0.07, 0.02, &own.start);
        x = own.start;
        ff_integrate_coast(&own.model, 0.07, 0.02, &x);
        assert_memory_equal(&y, &x, sizeof x);
    }
}

/* (11) is the same motion in other coordinates: both schemes converge to the absolute ones, with their own
 * order, for a free and a prescribed nominal motion; energies of every step close. */
static void test_relative_step_is_the_absolute_motion(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 8);
    for (int n = 0; n < 16; n++) {
        const ff_rigid_model m = random_body(&rng);
        const ff_nominal_config nominal = nominal_of(n % 2 ? FF_NOMINAL_FREE : FF_NOMINAL_PRESCRIBED, &rng);
        const ff_scheme scheme = n % 4 < 2 ? FF_SCHEME_LIE_MIDPOINT : FF_SCHEME_EULER;
        const ff_rigid_state x0 = random_state(&rng);
        const ff_rigid_load loads = random_load(&rng);
        ff_rigid_state truth = x0;
        const ff_integrate_config fine = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 1e-4};
        ff_integrate_state state;
        ff_integrate_out out;
        ff_integrate_reset(&truth, &state);
        for (int k = 0; k < 3200; k++) /* 0.32 s */
            ff_integrate_step(&fine, &m, none, loads, &truth, &state, &out);
        double error[3], angle[3];
        for (int r = 0; r < 3; r++) {
            const ff_integrate_config config = {.scheme = scheme, .cycle = 0.02 / (1 << r)};
            ff_rigid_state x = x0;
            ff_nominal_state nom;
            ff_nominal_reset(&nominal, &nom);
            for (uint64_t k = 0; k < 16u << r; k++) {
                const ff_rigid_state now = nom.motion;
                ff_nominal_step(&nominal, &config, k, &nom);
                const double before = ff_rigid_kinetic_energy(&m, &x);
                ff_relative_step(&config, &nominal, &m, none, loads, &now, &nom.motion, &x, &state, &out);
                assert_near(out.contact, 0.0, 0.0);
                assert_near(out.loads + out.scheme, ff_rigid_kinetic_energy(&m, &x) - before, 1e-11);
                assert_vec3_near(state.velocity_c, x.velocity, 0.0);
                assert_vec3_near(state.omega_c, x.omega, 0.0);
            }
            error[r] = ff_vec3_norm(ff_vec3_sub(x.position, truth.position));
            angle[r] = ff_quat_angle(x.attitude, truth.attitude);
        }
        const double order = scheme == FF_SCHEME_EULER ? 1.0 : 2.0;
        assert_near(log2(angle[0] / angle[1]), order, 0.35);
        assert_near(log2(error[1] / error[2]), order, 0.35);
        assert_true(error[2] < (order > 1.5 ? 1e-5 : 5e-3));
    }
}

/* Contact as an impulse at t_k: the relative scheme gives it to the body as the absolute one does. */
static void test_relative_contact_is_an_impulse(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 9);
    for (int n = 0; n < 20; n++) {
        const ff_rigid_model m = random_body(&rng);
        const ff_nominal_config nominal = nominal_of(n % 2 ? FF_NOMINAL_FREE : FF_NOMINAL_PRESCRIBED, &rng);
        const double T = 1e-4;
        const ff_integrate_config config = {.scheme = n % 4 < 2 ? FF_SCHEME_LIE_MIDPOINT : FF_SCHEME_EULER,
                                            .cycle = T};
        const ff_rigid_state x0 = random_state(&rng);
        const ff_rigid_load contact = random_load(&rng), loads = random_load(&rng);
        ff_rigid_state x = x0, y = x0;
        ff_integrate_state state;
        ff_integrate_out out;
        ff_nominal_state nom;
        ff_nominal_reset(&nominal, &nom);
        ff_nominal_step(&nominal, &config, 0, &nom);
        ff_relative_step(&config, &nominal, &m, contact, loads, &nominal.start, &nom.motion, &x, &state,
                         &out);
        const double port = T * ff_rigid_power(contact, x0.velocity, x0.omega);
        assert_near(out.contact, port, 1e-15);
        assert_near(out.loads, T * ff_rigid_power(loads, x0.velocity, x0.omega), 2e3 * T * T);
        ff_integrate_step(&config, &m, contact, loads, &y, &state, &out);
        /* one step of either: equal but for T^2 */
        assert_vec3_near(x.velocity, y.velocity, 20 * T * T);
        assert_vec3_near(x.omega, y.omega, 20 * T * T);
        assert_vec3_near(x.position, y.position, 20 * T * T);
    }
}

static void test_names_and_refusals(void **unused) {
    (void)unused;
    const char *names[] = {"lie-midpoint", "euler", "passive", "splitting"};
    for (int i = 0; i < 4; i++) {
        const ff_integrate_config good = {.scheme = schemes[i], .cycle = 0.004};
        assert_string_equal(ff_scheme_name(schemes[i]), names[i]);
        assert_int_equal(ff_integrate_validate(&good), FF_OK);
    }
    assert_string_equal(ff_scheme_name((ff_scheme)4), "unknown");
    const double cycle[] = {0.0, -1.0, FF_NAN, FF_INF};
    for (int i = 0; i < 4; i++)
        assert_int_equal(ff_integrate_validate(&(ff_integrate_config){.cycle = cycle[i]}), FF_ERR_ARGUMENT);
    assert_int_equal(ff_integrate_validate(&(ff_integrate_config){.scheme = (ff_scheme)4, .cycle = 1}),
                     FF_ERR_ARGUMENT);
    assert_int_equal(ff_integrate_validate(&(ff_integrate_config){.scheme = (ff_scheme)-1, .cycle = 1}),
                     FF_ERR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symmetric_top_and_order),
        cmocka_unit_test(test_what_the_schemes_conserve),
        cmocka_unit_test(test_translation_of_each_scheme),
        cmocka_unit_test(test_rotation_under_constant_torque),
        cmocka_unit_test(test_passive_output_against_the_paper),
        cmocka_unit_test(test_exact_rotation_keeps_its_energy),
        cmocka_unit_test(test_held_wrench_is_a_constant_force),
        cmocka_unit_test(test_coast_takes_whole_steps_and_a_rest),
        cmocka_unit_test(test_nominal_motions),
        cmocka_unit_test(test_relative_step_is_the_absolute_motion),
        cmocka_unit_test(test_relative_contact_is_an_impulse),
        cmocka_unit_test(test_names_and_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
