/* tdpa, step by step against its own equations: the observer and both laws on the whole wrench and on each
 * axis, either velocity, the resets, the passive integrator's velocity; a pair against the energy that two
 * bodies really gain. */
#include "direct_support.h"

static ff_rng rng;
static instance n;

static ff_wrench random_wrench(double size) {
    return (ff_wrench){test_random_vec3(&rng, 0.3 * size), test_random_vec3(&rng, size)};
}

enum { WRENCH, AXIS };
enum { MIDPOINT, START };
enum { CLAMP, DAMPER };

/* One port in the paper's words: force f against velocity v, inverse inertia; E is what was absorbed. Returns
 * the corrected force. */
static double port_axis(double f, double v, double h_inv, int velocity, int law, double T, double *E) {
    const double whole = T * f * v + (velocity == MIDPOINT ? 0.5 * T * T * f * f * h_inv : 0.0);
    if (law == DAMPER) { /* (17), (18), alpha at most H/T */
        *E -= whole;
        double alpha = 0.0;
        if (*E < 0.0 && v != 0.0)
            alpha = fmin(-*E / (v * v * T), 1.0 / (h_inv * T));
        *E += alpha * v * v * T;
        return f - alpha * v;
    }
    /* the largest part of f that gives no more than E, by bisection on what it gives */
    double s = 1.0;
    if (whole > *E) {
        double low = 0.0, high = 1.0;
        const double most = fmax(*E, 0.0);
        /* what it gives rises after a fall: the last part of [0, 1] where it is still allowed */
        if (velocity == START && !(f * v > 0.0)) {
            low = 1.0;
        } else {
            for (int k = 0; k < 200; k++) {
                const double mid = 0.5 * (low + high);
                const double gives =
                    T * mid * f * v + (velocity == MIDPOINT ? 0.5 * T * T * mid * mid * f * f * h_inv : 0.0);
                if (gives <= most)
                    low = mid;
                else
                    high = mid;
            }
        }
        s = low;
    }
    *E -= T * s * f * v + (velocity == MIDPOINT ? 0.5 * T * T * s * s * f * f * h_inv : 0.0);
    return s * f;
}

static void test_each_axis_for_itself(void **unused) {
    (void)unused;
    for (int c = 0; c < 16; c++) {
        const int velocity = c & 1, law = c >> 1 & 1, bodies = 1 + (c >> 2 & 1), passive = c >> 3 & 1;
        instance_draw(&n, &rng, &ff_method_tdpa, 0, bodies);
        instance_set(&n, "observer", AXIS);
        instance_set(&n, "velocity", velocity);
        instance_set(&n, "law", law);
        n.world.integrate.scheme = passive ? FF_SCHEME_PASSIVE : FF_SCHEME_LIE_MIDPOINT;
        instance_start(&n);
        double E[2][6] = {{0}};
        const double T = n.world.integrate.cycle;
        for (int k = 0; k < 60; k++) {
            for (int i = 0; i < bodies; i++) {
                n.body[i].velocity = test_random_vec3(&rng, 0.05);
                n.body[i].omega = test_random_vec3(&rng, 0.05);
                n.output[i].velocity_c = test_random_vec3(&rng, 0.05);
                n.output[i].omega_c = test_random_vec3(&rng, 0.05);
                n.sample[i].f_b = random_wrench(k % 5 == 4 ? 2000 : 50);
                n.detected[i] = (ff_detection){.contact = k % 7 != 6 || i == 1, .began = k % 7 == 0};
            }
            assert_int_equal(instance_step(&n), FF_OK);
            assert_int_equal(n.out.observers, 6);
            for (int i = 0; i < bodies; i++) {
                const bool contact = n.detected[i].contact;
                assert_int_equal(n.out.in_contact[i], contact);
                const ff_vec3 F = ff_quat_rotate(n.body[i].attitude, n.sample[i].f_b.f);
                const ff_vec3 v = passive ? n.output[i].velocity_c : n.body[i].velocity,
                              w = passive ? n.output[i].omega_c : n.body[i].omega;
                ff_vec3 force, torque;
                for (int a = 0; a < 3; a++) {
                    force.a[a] = port_axis(contact ? F.a[a] : 0.0, v.a[a], n.rigid[i].mass_inv, velocity, law,
                                           T, &E[i][a]);
                    torque.a[a] = port_axis(contact ? n.sample[i].f_b.t.a[a] : 0.0, w.a[a],
                                            n.rigid[i].inertia_inv.m[a][a], velocity, law, T, &E[i][a + 3]);
                }
                assert_vec3_near(ff_quat_rotate(n.body[i].attitude, n.out.f_b[i].f), force, 1e-9 * 2000);
                assert_vec3_near(n.out.f_b[i].t, torque, 1e-9 * 600);
                for (int a = 0; a < 6; a++)
                    assert_near(n.out.observer[i][a], E[i][a], 1e-12);
            }
        }
    }
}

/* One observer of all bodies: what it counts is what the bodies gain (midpoint), to the bit of their kinetic
 * energy. */
static void test_whole_wrench_counts_what_the_bodies_gain(void **unused) {
    (void)unused;
    int limited = 0;
    for (int c = 0; c < 8; c++) {
        const int velocity = c & 1, law = c >> 1 & 1, bodies = 1 + (c >> 2 & 1);
        instance_draw(&n, &rng, &ff_method_tdpa, 0, bodies);
        instance_set(&n, "velocity", velocity);
        instance_set(&n, "law", law);
        instance_start(&n);
        const double T = n.world.integrate.cycle;
        double E = 0.0, given_to_bodies = 0.0;
        for (int k = 0; k < 200; k++) {
            double FV = 0.0, FHF = 0.0;
            for (int i = 0; i < bodies; i++) {
                n.body[i].velocity = test_random_vec3(&rng, 0.05);
                n.body[i].omega = test_random_vec3(&rng, 0.05);
                n.sample[i].f_b = random_wrench(50);
                n.detected[i].contact = true;
                FV += ff_vec3_dot(ff_quat_rotate(n.body[i].attitude, n.sample[i].f_b.f), n.body[i].velocity) +
                      ff_vec3_dot(n.sample[i].f_b.t, n.body[i].omega);
                FHF += 2.0 * (instance_gain(&n, i, n.sample[i].f_b, 1.0) -
                              ff_vec3_dot(ff_quat_rotate(n.body[i].attitude, n.sample[i].f_b.f),
                                          n.body[i].velocity) -
                              ff_vec3_dot(n.sample[i].f_b.t, n.body[i].omega));
            }
            assert_int_equal(instance_step(&n), FF_OK);
            assert_int_equal(n.out.observers, 1);
            /* one factor for everything */
            const double s = ff_vec3_dot(n.out.f_b[0].f, n.sample[0].f_b.f) /
                             ff_vec3_dot(n.sample[0].f_b.f, n.sample[0].f_b.f);
            assert_true(s > -1e-12 && s < 1.0 + 1e-12);
            limited += s < 1.0 - 1e-9;
            double gained = 0.0;
            for (int i = 0; i < bodies; i++) {
                assert_vec3_near(n.out.f_b[i].f, ff_vec3_scale(s, n.sample[i].f_b.f), 1e-10);
                assert_vec3_near(n.out.f_b[i].t, ff_vec3_scale(s, n.sample[i].f_b.t), 1e-10);
                gained += velocity == MIDPOINT ? instance_gain(&n, i, n.out.f_b[i], T) : 0.0;
            }
            if (velocity == START)
                gained = T * s * FV;
            if (law == CLAMP) {
                /* full where it may be; else all of what was absorbed is used up */
                E -= gained;
                assert_near(n.out.observer[0][0], E, 1e-12);
                if (s < 1.0 - 1e-9)
                    assert_near(E, fmin(E + gained, 0.0), 1e-11);
            } else {
                E -= T * FV + (velocity == MIDPOINT ? 0.5 * T * T * FHF : 0.0);
                if (E < 0.0 && FV > 0.0) {
                    const double part = fmax(0.0, 1.0 + E / (T * FV));
                    assert_near(s, part, 1e-9);
                    E += (1.0 - part) * T * FV;
                } else {
                    assert_near(s, 1.0, 1e-12);
                }
                assert_near(n.out.observer[0][0], E, 1e-11);
            }
            given_to_bodies += gained;
        }
        if (law == CLAMP)
            assert_true(given_to_bodies < 1e-9 + 200 * 0.5 * T * T * 1e3);
    }
    assert_true(limited > 20);
}

static void test_when_the_observer_starts_again(void **unused) {
    (void)unused;
    for (int never = 0; never < 2; never++) {
        instance_draw(&n, &rng, &ff_method_tdpa, 0, 2);
        instance_set(&n, "reset", never);
        instance_start(&n);
        /* body 0 pushes against its motion: energy is absorbed */
        for (int i = 0; i < 2; i++) {
            n.sample[i].f_b.f =
                ff_quat_unrotate(n.body[i].attitude, ff_vec3_scale(-100.0, n.body[i].velocity));
            n.detected[i] = (ff_detection){.contact = true, .began = true};
        }
        assert_int_equal(instance_step(&n), FF_OK);
        const double E = n.out.observer[0][0];
        assert_true(E > 0.0);
        /* one body's contact ends while the other's lasts: it is one exchange */
        n.sample[0].f_b = n.sample[1].f_b = ff_wrench_zero();
        n.detected[0] = (ff_detection){.ended = true};
        n.detected[1] = (ff_detection){.contact = true};
        assert_int_equal(instance_step(&n), FF_OK);
        assert_near(n.out.observer[0][0], E, 1e-15);
        n.detected[0] = (ff_detection){0};
        n.detected[1] = (ff_detection){.ended = true};
        assert_int_equal(instance_step(&n), FF_OK);
        assert_near(n.out.observer[0][0], never ? E : 0.0, 1e-15);
    }
}

/* Two bodies that hold each other: equal and opposite wrenches about one point; the observer is what the
 * robots' contact gave less what the two bodies gained, and never falls below zero unless nothing is left to
 * take. */
static void test_a_pair_takes_no_more_than_it_was_given(void **unused) {
    (void)unused;
    int limited = 0, free = 0;
    for (int c = 0; c < 30; c++) {
        const int a = c % 2, o = 1 - a;
        instance_draw(&n, &rng, &ff_method_tdpa, 0, 2);
        const ff_vec3 point = test_random_vec3(&rng, 0.8);
        n.world.grasp = (ff_world_grasp){a, o, point};
        n.grasp_point = point;
        instance_start(&n);
        const double T = n.world.integrate.cycle;
        double E = 0.0;
        ff_vec3 last_x = ff_vec3_zero();
        ff_quat last_q = ff_quat_identity();
        ff_wrench last_f = ff_wrench_zero();
        for (int k = 0; k < 30; k++) {
            for (int i = 0; i < 2; i++) {
                n.body[i].velocity = test_random_vec3(&rng, 0.05);
                n.body[i].omega = test_random_vec3(&rng, 0.05);
                n.body[i].attitude =
                    ff_quat_mul(n.body[i].attitude, ff_quat_exp(test_random_vec3(&rng, 1e-3)));
                n.sample[i].T_wr =
                    (ff_pose){ff_quat_mul(n.sample[i].T_wr.q, ff_quat_exp(test_random_vec3(&rng, 1e-3))),
                              ff_vec3_add(n.sample[i].T_wr.p, test_random_vec3(&rng, 1e-3))};
                n.detected[i].contact = true;
            }
            /* a wrench at the gripper, read from both sides: f_o on `against` axes at the point */
            const ff_wrench F = random_wrench(c % 3 ? 60 : 3);
            const ff_pose ga = n.sample[a].T_wr, go = n.sample[o].T_wr;
            const ff_vec3 at = ff_pose_apply(ga, point), x = ff_quat_unrotate(go.q, ff_vec3_sub(at, go.p));
            const ff_quat q = ff_quat_mul(ff_quat_conj(go.q), ga.q);
            n.sample[a].f_b.f = ff_quat_unrotate(q, F.f);
            n.sample[a].f_b.t =
                ff_vec3_add(ff_quat_unrotate(q, F.t), ff_vec3_cross(point, n.sample[a].f_b.f));
            n.sample[o].f_b.f = ff_vec3_neg(F.f);
            n.sample[o].f_b.t = ff_vec3_neg(ff_vec3_add(F.t, ff_vec3_cross(x, F.f)));
            if (k > 0) { /* what the contact gave: mean wrench times the measured displacement */
                const ff_vec3 turn = ff_quat_log(ff_quat_mul(q, ff_quat_conj(last_q)));
                E += 0.5 * (ff_vec3_dot(ff_vec3_add(F.f, last_f.f), ff_vec3_sub(x, last_x)) +
                            ff_vec3_dot(ff_vec3_add(F.t, last_f.t), turn));
            }
            last_x = x;
            last_q = q;
            last_f = F;
            assert_int_equal(instance_step(&n), FF_OK);
            assert_int_equal(n.out.observers, 1);
            assert_true(n.out.in_contact[0] && n.out.in_contact[1]);
            /* momentum of the pair: none is given, as they stand now */
            ff_vec3 force = ff_vec3_zero(), torque = force;
            const ff_vec3 grip = ff_pose_apply(ff_rigid_pose(&n.body[a]), point);
            for (int i = 0; i < 2; i++) {
                const ff_vec3 f = ff_quat_rotate(n.body[i].attitude, n.out.f_b[i].f);
                force = ff_vec3_add(force, f);
                /* each about the gripper */
                torque =
                    ff_vec3_add(torque, ff_vec3_sub(ff_quat_rotate(n.body[i].attitude, n.out.f_b[i].t),
                                                    ff_vec3_cross(ff_vec3_sub(grip, n.body[i].position), f)));
            }
            assert_vec3_near(force, ff_vec3_zero(), 1e-9);
            assert_vec3_near(torque, ff_vec3_zero(), 1e-9);
            const double gained =
                instance_gain(&n, 0, n.out.f_b[0], T) + instance_gain(&n, 1, n.out.f_b[1], T);
            E -= gained;
            assert_near(n.out.observer[0][0], E, 1e-10);
            /* untouched where the energy allows it */
            const ff_vec3 f_a = ff_quat_rotate(
                ff_quat_mul(ff_quat_conj(n.body[o].attitude), n.body[a].attitude), n.out.f_b[a].f);
            const double change = ff_vec3_norm(ff_vec3_sub(f_a, F.f));
            if (E > 1e-12)
                assert_true(change < 1e-8);
            limited += change > 1e-6;
            free += change < 1e-8;
            /* Lambda V is the relative momentum: the correction never turns the relative motion around */
            assert_true(E > -1e-10 || change > 1e-6);
        }
    }
    assert_true(limited > 20 && free > 20);
}

/* Nothing is taken from a pair that is at rest, or that cannot be moved, whatever the observer says; and
 * direct, beside it: a torque alone is contact, too. */
static void test_a_pair_at_rest(void **unused) {
    (void)unused;
    for (int fixed = 0; fixed < 2; fixed++) {
        instance_draw(&n, &rng, &ff_method_tdpa, 0, 2);
        n.world.grasp = (ff_world_grasp){0, 1, {{0.1, 0.2, 0.3}}};
        n.grasp_point = n.world.grasp.point;
        instance_start(&n);
        const ff_wrench F = {.f = {{0, 0, 50}}};
        double E = 0.0;
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 2; i++) {
                if (k == 1)
                    n.body[i].velocity = n.body[i].omega = ff_vec3_zero();
                if (fixed) {
                    n.rigid[i].mass_inv = 0.0;
                    n.rigid[i].inertia_inv = ff_mat3_diag(0, 0, 0);
                }
                n.sample[i].f_b = k == 0 || fixed ? F : ff_wrench_zero();
            }
            assert_int_equal(instance_step(&n), FF_OK);
            if (k == 1 && !fixed) { /* at rest, no wrench: as it was */
                assert_near(n.out.observer[0][0], E, 1e-12);
                assert_vec3_near(n.out.f_b[0].f, ff_vec3_zero(), 1e-9);
                assert_false(n.out.in_contact[0] || n.out.in_contact[1]);
            }
            assert_true(isfinite(n.out.observer[0][0]) && ff_vec3_finite(n.out.f_b[1].t));
            E = n.out.observer[0][0];
            if (fixed) { /* what both sensors say, no more and no less */
                const ff_vec3 mean = ff_vec3_scale(0.5, ff_vec3_sub(ff_quat_rotate(n.body[0].attitude, F.f),
                                                                    ff_quat_rotate(n.body[1].attitude, F.f)));
                assert_vec3_near(ff_quat_rotate(n.body[0].attitude, n.out.f_b[0].f), mean, 1e-9);
            }
        }
    }
    instance_draw(&n, &rng, &ff_method_direct, 0, 2);
    instance_start(&n);
    n.sample[1].f_b.t = ff_vec3_make(0, 0, 1e-3);
    assert_int_equal(instance_step(&n), FF_OK);
    assert_true(!n.out.in_contact[0] && n.out.in_contact[1]);
    assert_vec3_near(n.out.f_b[1].t, n.sample[1].f_b.t, 0.0);
}

/* Methods that remember refuse a satellite that is not finite, and keep nothing of it. */
static void test_nothing_that_is_not_finite_is_remembered(void **unused) {
    (void)unused;
    const ff_method *const methods[] = {&ff_method_impact, &ff_method_fused};
    for (int m = 0; m < 2; m++) {
        instance_draw(&n, &rng, methods[m], 0, 1);
        instance_start(&n);
        static unsigned char before[sizeof n.state];
        memcpy(before, n.state, sizeof before);
        n.body[0].velocity.y = FF_NAN;
        assert_int_equal(instance_step(&n), FF_ERR_NOT_FINITE);
        assert_memory_equal(before, n.state, sizeof before);
    }
}

/* Stops alone, and no products of inertia: no contact has two axes, and each axis has its own observer,
 * unless the user says otherwise. Anything else: one. */
static void test_stops_have_an_observer_each(void **unused) {
    (void)unused;
    for (int c = 0; c < 12; c++) {
        const bool stops = c & 1, products = c >> 1 & 1;
        const int given = c >> 2; /* 0: none, 1: wrench, 2: axis */
        instance_draw(&n, &rng, &ff_method_tdpa, 0, 2);
        n.world.stops = stops;
        for (int i = 0; i < 2; i++)
            if (!products || i == 0) { /* the second body's alone decide */
                const ff_rigid_config principal = {n.rigid[i].mass, ff_mat3_diag(30, 40, 50)};
                assert_int_equal(ff_rigid_create(&principal, &n.rigid[i]), FF_OK);
                n.world.body[i].rigid = n.rigid[i];
            }
        if (given)
            instance_set(&n, "observer", given == 1 ? WRENCH : AXIS);
        instance_start(&n);
        assert_int_equal(instance_step(&n), FF_OK);
        const bool axis = given ? given == 2 : stops && !products;
        assert_int_equal(n.out.observers, axis ? 6 : 1);
    }
}

static void test_refusals(void **unused) {
    (void)unused;
    ff_complaint complaint;
    for (int c = 0; c < 10; c++) {
        instance_draw(&n, &rng, &ff_method_tdpa, 0, 2);
        ff_method_tdpa.resolve(&n.world, n.setting.given, n.setting.bytes);
        ff_world_grasp *g = &n.world.grasp;
        *g = (ff_world_grasp){0, 1, {{0.1, 0.2, 0.3}}};
        assert_int_equal(ff_method_check(&ff_method_tdpa, &n.world, n.setting.bytes, 0, &complaint), FF_OK);
        switch (c) {
        case 0:
            g->body = 2;
            break;
        case 1:
            g->against = 2;
            break;
        case 2:
            g->against = -1;
            break;
        case 3:
            g->against = 0;
            break;
        case 4:
        case 5:
        case 6:
            g->point.a[c - 4] = c == 5 ? FF_INF : FF_NAN;
            break;
        default:
            continue;
        }
        assert_int_equal(ff_method_check(&ff_method_tdpa, &n.world, n.setting.bytes, 0, &complaint),
                         FF_ERR_ARGUMENT);
        assert_string_equal(complaint.setting, "pair");
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 41);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_axis_for_itself),
        cmocka_unit_test(test_whole_wrench_counts_what_the_bodies_gain),
        cmocka_unit_test(test_when_the_observer_starts_again),
        cmocka_unit_test(test_a_pair_takes_no_more_than_it_was_given),
        cmocka_unit_test(test_a_pair_at_rest),
        cmocka_unit_test(test_nothing_that_is_not_finite_is_remembered),
        cmocka_unit_test(test_stops_have_an_observer_each),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
