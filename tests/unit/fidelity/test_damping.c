/* damping, step by step against its own equations: what the surface keeps under each budget, the clamp, the
 * printed law along the force and on each axis, the lead, partners, the end of a contact; and what it
 * identifies. */
#include "direct_support.h"
#include "fused_bench.h"

static ff_rng rng;
static instance n;

enum { VELOCITY, RESTITUTION, ROBOT };

/* One contact by the paper's words, of a body or of a pair. */
typedef struct port_of {
    double absorbed, most, square, loss;  /* clamp */
    double energy, force, speed, damping; /* printed */
} port_of;

static ff_wrench scaled(ff_wrench f, double s) {
    return ff_wrench_scale(s, f);
}

/* Energy that both bodies of a wrench pair gain [J]. */
static double gain(const ff_wrench *f, int bodies, double s) {
    double sum = 0.0;
    for (int i = 0; i < bodies; i++)
        sum += instance_gain(&n, i, scaled(f[i], s), n.world.integrate.cycle);
    return sum;
}

static double squared_mobility(const ff_wrench *f, int from, int to) { /* F.H^-1 F */
    double sum = 0.0;
    for (int i = from; i < to; i++)
        sum += n.rigid[i].mass_inv * ff_vec3_dot(f[i].f, f[i].f) +
               ff_vec3_dot(f[i].t, ff_mat3_apply(&n.rigid[i].inertia_inv, f[i].t));
    return sum;
}

/* A force F on body 0 at the point r of it, square to F, and on body 1 its opposite at the same place. */
static ff_vec3 touch(int bodies, ff_vec3 F, ff_vec3 r) {
    const ff_rigid_state *a = &n.body[0];
    n.sample[0].f_b = (ff_wrench){ff_vec3_cross(r, F), F};
    const ff_vec3 F_w = ff_quat_rotate(a->attitude, F);
    if (bodies == 2) {
        const ff_vec3 at = ff_pose_apply(ff_rigid_pose(a), r);
        const ff_vec3 r_1 = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&n.body[1])), at),
                      G = ff_vec3_neg(ff_quat_unrotate(n.body[1].attitude, F_w));
        n.sample[1].f_b = (ff_wrench){ff_vec3_cross(r_1, G), G};
    }
    return F_w;
}

/* Bodies move anyhow, robots with them. */
static void move(int bodies) {
    for (int i = 0; i < bodies; i++) {
        n.body[i].velocity = test_random_vec3(&rng, 0.05);
        n.body[i].omega = test_random_vec3(&rng, 0.05);
        n.sample[i].T_wr = ff_rigid_pose(&n.body[i]);
        n.sample[i].twist_r = (ff_twist){n.body[i].omega, n.body[i].velocity};
        n.detected[i] = (ff_detection){.contact = true, .force_on = 0.0};
    }
}

static double approach_speed(int bodies, ff_vec3 r, ff_vec3 F_w) {
    const ff_vec3 at = ff_pose_apply(ff_rigid_pose(&n.body[0]), r);
    ff_vec3 v = ff_rigid_point_velocity(&n.body[0], r);
    if (bodies == 2)
        v = ff_vec3_sub(v, ff_rigid_point_velocity(
                               &n.body[1], ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&n.body[1])), at)));
    return -ff_vec3_dot(v, ff_vec3_unit(F_w));
}

/* The clamp of tdpa with the energy that the surface keeps taken off; stiffness and damping are known here.
 */
static void test_budgets_of_the_clamp(void **unused) {
    (void)unused;
    int limited = 0, whole = 0;
    for (int c = 0; c < 24; c++) {
        const int bodies = 1 + c % 2, budget = c / 2 % 3;
        const double k = 2e4, d = ff_rng_range(&rng, 50.0, 400.0);
        instance_draw(&n, &rng, &ff_method_damping, 0, bodies);
        instance_set(&n, "budget", budget);
        instance_set(&n, "known.stiffness", k);
        instance_set(&n, "known.damping", d);
        instance_start(&n);
        const double T = n.world.integrate.cycle;
        double E = 0.0;
        port_of p = {0};
        for (int step = 0; step < 40; step++) {
            move(bodies);
            const ff_vec3 F = ff_vec3_scale(ff_rng_range(&rng, 1.0, 60.0), bench_unit(&rng)),
                          r = ff_vec3_scale(0.4, bench_across(&rng, F)), F_w = touch(bodies, F, r);
            if (step > 20 && c % 4 == 3) { /* at once it gives back */
                for (int i = 0; i < bodies; i++)
                    n.body[i].velocity = ff_vec3_scale(i ? -0.05 : 0.05, ff_vec3_unit(F_w));
            }
            const ff_wrench f[2] = {n.sample[0].f_b, n.sample[1].f_b};
            const double mass = ff_vec3_dot(F, F) / squared_mobility(f, 0, bodies);
            p.absorbed -= gain(f, bodies, 1.0);
            p.most = fmax(p.most, p.absorbed);
            const ff_vec3 at = ff_pose_apply(n.sample[0].T_wr, r);
            ff_vec3 robot =
                ff_vec3_add(n.sample[0].twist_r.v,
                            ff_quat_rotate(n.sample[0].T_wr.q, ff_vec3_cross(n.sample[0].twist_r.w, r)));
            if (bodies == 2) {
                const ff_vec3 r_1 = ff_pose_apply(ff_pose_inverse(n.sample[1].T_wr), at);
                robot = ff_vec3_sub(robot,
                                    ff_vec3_add(n.sample[1].twist_r.v,
                                                ff_quat_rotate(n.sample[1].T_wr.q,
                                                               ff_vec3_cross(n.sample[1].twist_r.w, r_1))));
            }
            p.square += pow(ff_vec3_dot(robot, ff_vec3_unit(F_w)), 2) * T;
            const double z = d / (2.0 * sqrt(k * mass)), e = ff_contact_restitution(z);
            p.loss = budget == ROBOT         ? d * p.square
                     : budget == RESTITUTION ? (1.0 - e * e) * p.most
                                             : ff_contact_loss(z) * p.most;
            /* the largest part that gives no more than is left, by bisection */
            double s = 1.0;
            if (gain(f, bodies, 1.0) > E - p.loss) {
                double low = 0.0, high = 1.0;
                for (int i = 0; i < 100; i++) {
                    s = 0.5 * (low + high);
                    if (gain(f, bodies, s) <= fmax(0.0, E - p.loss))
                        low = s;
                    else
                        high = s;
                }
            }
            E -= gain(f, bodies, s);
            assert_int_equal(instance_step(&n), FF_OK);
            for (int i = 0; i < bodies; i++) {
                assert_vec3_near(n.out.f_b[i].f, ff_vec3_scale(s, f[i].f), 1e-6);
                assert_vec3_near(n.out.f_b[i].t, ff_vec3_scale(s, f[i].t), 1e-6);
                assert_near(n.out.stiffness[i], k, 0.0);
                assert_near(n.out.damping[i], d, 0.0);
                assert_near(n.out.damping_sd[i], 0.0, 0.0);
                assert_true(n.out.in_contact[i]);
            }
            assert_true(n.out.observers == 1);
            assert_near(n.out.observer[0][0], E, 1e-9);
            limited += s < 0.999;
            whole += s == 1.0;
        }
        for (int i = 0; i < bodies; i++) { /* over: nothing is kept for the next */
            n.detected[i].contact = false;
            n.detected[i].ended = true;
        }
        assert_int_equal(instance_step(&n), FF_OK);
        assert_near(n.out.observer[0][0], 0.0, 0.0);
        assert_vec3_near(n.out.f_b[0].f, ff_vec3_zero(), 0.0);
        assert_true(isnan(n.out.stiffness[0]) && !n.out.in_contact[0]);
    }
    assert_true(limited > 20 && whole > 20);
}

/* Two contacts with the world: when one is over, what its surface kept is not given back by the other. */
static void test_what_a_surface_kept_stays_there(void **unused) {
    (void)unused;
    instance_draw(&n, &rng, &ff_method_damping, 0, 2);
    instance_set(&n, "known.stiffness", 2e4);
    instance_set(&n, "known.damping", 300.0);
    instance_start(&n);
    const ff_vec3 F[2] = {ff_vec3_make(20, 0, 0), ff_vec3_make(0, 30, 0)};
    double kept[2];
    for (int i = 0; i < 2; i++) {
        n.body[i].omega = ff_vec3_zero();
        n.body[i].attitude = ff_quat_identity();
        n.body[i].velocity = ff_vec3_scale(-0.004, F[i]); /* into it: absorbs */
        n.sample[i] = (ff_body_sample){.T_wr = ff_rigid_pose(&n.body[i]),
                                       .twist_r = {n.body[i].omega, n.body[i].velocity},
                                       .f_b = {.f = F[i]},
                                       .valid = true};
        n.detected[i] = (ff_detection){.contact = true};
        const double z = 300.0 / (2.0 * sqrt(2e4 * n.rigid[i].mass));
        kept[i] = -ff_contact_loss(z) * instance_gain(&n, i, n.sample[i].f_b, n.world.integrate.cycle);
    }
    assert_int_equal(instance_step(&n), FF_OK);
    const double E = n.out.observer[0][0];
    assert_true(kept[0] > 0.0 && kept[1] > 0.0 && E > kept[0] + kept[1]);
    n.detected[0].contact = false;
    n.sample[1].f_b.f = ff_vec3_make(0, 1e-6, 0);
    assert_int_equal(instance_step(&n), FF_OK);
    assert_near(n.out.observer[0][0], E - kept[0], 1e-6 * E);
}

/* (8), (9), (12), (13), (15), along the force: the energy without the damping, the force before while it
 * falls in. */
static void test_printed_along_the_force(void **unused) {
    (void)unused;
    int acted = 0;
    for (int c = 0; c < 12; c++) {
        const int bodies = 1 + c % 2;
        const double d = c % 3 ? ff_rng_range(&rng, 10.0, 200.0) : 0.0, lead = c % 4 == 3 ? 0.01 : 0.0;
        instance_draw(&n, &rng, &ff_method_damping, 1, bodies);
        instance_set(&n, "known.stiffness", 2e4);
        instance_set(&n, "known.damping", d);
        instance_set(&n, "lead", lead);
        instance_start(&n);
        const double T = n.world.integrate.cycle;
        port_of p = {0};
        ff_lead_state states[2] = {{0}};
        const ff_lead_config config = {lead, 0.01};
        for (int step = 0; step < 60; step++) {
            move(bodies);
            n.detected[0].began = n.detected[1].began = step == 30; /* the lead begins again */
            const ff_vec3 F = ff_vec3_scale(ff_rng_range(&rng, 1.0, 40.0), bench_unit(&rng)),
                          r = ff_vec3_scale(0.3, bench_across(&rng, F));
            touch(bodies, F, r);
            ff_wrench f[2];
            for (int i = 0; i < bodies; i++) {
                if (step == 30)
                    ff_lead_reset(&states[i]);
                f[i] = ff_lead_step(&config, &states[i], T, n.sample[i].f_b);
            }
            double power = 0.0; /* that the bodies are given */
            for (int i = 0; i < bodies; i++)
                power += ff_vec3_dot(ff_quat_rotate(n.body[i].attitude, f[i].f), n.body[i].velocity) +
                         ff_vec3_dot(f[i].t, n.body[i].omega);
            const double size = ff_vec3_norm(f[0].f), v = -power / size,
                         mass = size * size / squared_mobility(f, 0, bodies);
            p.energy += (v > 0.0 ? p.force - p.damping * p.speed : size - d * v) * v * T;
            p.force = size;
            p.speed = v;
            p.damping = d;
            double F_comp = size;
            if (p.energy < 0.0) {
                const double alpha = fmin(-p.energy / (v * v * T), mass / T);
                F_comp += alpha * v;
                p.energy += alpha * v * v * T;
                acted++;
            }
            assert_int_equal(instance_step(&n), FF_OK);
            for (int i = 0; i < bodies; i++) {
                assert_vec3_near(n.out.f_b[i].f, ff_vec3_scale(F_comp / size, f[i].f), 1e-9 * size);
                assert_vec3_near(n.out.f_b[i].t, ff_vec3_scale(F_comp / size, f[i].t), 1e-9 * size);
            }
            assert_near(n.out.observer[0][0], p.energy, 1e-9);
        }
    }
    assert_true(acted > 10);
}

/* (11)-(14): each inertial axis its part of the energy by its part of the force, at most m/T; the correction
 * acts at the contact point, opposite on the partner. */
static void test_printed_on_each_axis(void **unused) {
    (void)unused;
    int acted = 0;
    for (int c = 0; c < 12; c++) {
        const int bodies = 1 + c % 2;
        const double d = c % 3 ? 100.0 : 0.0;
        instance_draw(&n, &rng, &ff_method_damping, 1, bodies);
        instance_set(&n, "axes", 1);
        instance_set(&n, "known.stiffness", 2e4);
        instance_set(&n, "known.damping", d);
        instance_start(&n);
        const double T = n.world.integrate.cycle;
        port_of p = {0};
        for (int step = 0; step < 40; step++) {
            move(bodies);
            ff_vec3 F = ff_vec3_scale(ff_rng_range(&rng, 1.0, 40.0), bench_unit(&rng));
            if (c % 4 == 2) { /* along one axis, at rest along the others */
                F = ff_quat_unrotate(n.body[0].attitude, ff_vec3_make(30, 0, 0));
                for (int i = 0; i < bodies; i++) {
                    n.body[i].omega = ff_vec3_zero();
                    n.body[i].velocity = ff_vec3_make(ff_rng_range(&rng, -0.05, 0.05), 0, 0);
                }
            }
            const ff_vec3 r = ff_vec3_scale(0.3, bench_across(&rng, F)), F_w = touch(bodies, F, r);
            const ff_wrench f[2] = {n.sample[0].f_b, n.sample[1].f_b};
            const double size = ff_vec3_norm(F), mass = size * size / squared_mobility(f, 0, bodies);
            const double v_f = approach_speed(bodies, r, F_w);
            p.energy += (v_f > 0.0 ? p.force - p.damping * p.speed : size - d * v_f) * v_f * T;
            p.force = size;
            p.speed = v_f;
            p.damping = d;
            ff_vec3 F_alpha = ff_vec3_zero(), v = ff_rigid_point_velocity(&n.body[0], r);
            ff_vec3 r_1 = ff_vec3_zero();
            if (bodies == 2) {
                r_1 = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&n.body[1])),
                                    ff_pose_apply(ff_rigid_pose(&n.body[0]), r));
                v = ff_vec3_sub(v, ff_rigid_point_velocity(&n.body[1], r_1));
            }
            if (p.energy < 0.0) {
                double given = 0.0;
                for (int a = 0; a < 3; a++) {
                    const double E = p.energy * fabs(F_w.a[a]) / size;
                    if (v.a[a] != 0.0)
                        F_alpha.a[a] = fmin(-E / (v.a[a] * v.a[a] * T), mass / T) * v.a[a];
                    given += F_alpha.a[a] * v.a[a] * T;
                }
                p.energy += given;
                acted++;
            }
            assert_int_equal(instance_step(&n), FF_OK);
            const ff_vec3 f_0 = ff_vec3_sub(F, ff_quat_unrotate(n.body[0].attitude, F_alpha));
            const double most = 1e-7 * (size + ff_vec3_norm(F_alpha));
            assert_vec3_near(n.out.f_b[0].f, f_0, most);
            assert_vec3_near(n.out.f_b[0].t, ff_vec3_cross(r, f_0), most);
            if (bodies == 2) {
                const ff_vec3 f_1 = ff_vec3_add(f[1].f, ff_quat_unrotate(n.body[1].attitude, F_alpha));
                assert_vec3_near(n.out.f_b[1].f, f_1, most);
                assert_vec3_near(n.out.f_b[1].t, ff_vec3_cross(r_1, f_1), most);
            }
            assert_near(n.out.observer[0][0], p.energy, 1e-7);
        }
    }
    assert_true(acted > 10);
}

/* A partner bears the opposite force, up to a quarter of it and five times the noise; the nearest of several.
 * Seen in whose contact it is reported: one port, or one for each. */
static void test_partners(void **unused) {
    (void)unused;
    for (int c = 0; c < 40; c++) {
        instance_draw(&n, &rng, &ff_method_damping, 0, 3);
        n.world.force_noise = c % 2 ? 0.2 : 0.0;
        instance_set(&n, "known.stiffness", 2e4);
        instance_set(&n, "known.damping", 100.0);
        instance_start(&n);
        move(3);
        const ff_vec3 F = ff_vec3_scale(10.0, bench_unit(&rng)), across = bench_across(&rng, F);
        const double most = 0.25 * 10.0 + 5.0 * n.world.force_noise, miss = most * (c % 4 < 2 ? 0.97 : 1.03);
        const ff_vec3 on[3] = {F, ff_vec3_axpy(miss, across, ff_vec3_neg(F)),
                               c % 8 < 4 ? ff_vec3_zero() : ff_vec3_axpy(0.5 * miss, across, ff_vec3_neg(F))};
        for (int i = 0; i < 3; i++)
            n.sample[i].f_b = (ff_wrench){.f = ff_quat_unrotate(n.body[i].attitude, on[i])};
        n.detected[2].contact = c % 8 >= 4;
        const int partner = c % 8 >= 4 ? 2 : miss < most ? 1 : -1;
        assert_int_equal(instance_step(&n), FF_OK);
        /* a port of two bodies has the mass of both: what the surface keeps shows it at the end */
        const ff_wrench f[3] = {n.sample[0].f_b, n.sample[1].f_b, n.sample[2].f_b};
        double loss = 0.0;
        bool done[3] = {false, false, false};
        for (int i = 0; i < 3; i++) {
            if (done[i] || !n.detected[i].contact)
                continue;
            const int j = i == 0 ? partner : -1;
            double gained = instance_gain(&n, i, f[i], 0.004), square = squared_mobility(f, i, i + 1);
            if (j > 0) {
                gained += instance_gain(&n, j, f[j], 0.004);
                square += squared_mobility(f, j, j + 1);
                done[j] = true;
            }
            const double mass = ff_vec3_dot(on[i], on[i]) / square;
            loss += ff_contact_loss(100.0 / (2.0 * sqrt(2e4 * mass))) * fmax(0.0, -gained);
        }
        double whole = 0.0;
        for (int i = 0; i < 3; i++)
            whole += instance_gain(&n, i, f[i], 0.004);
        double s = 1.0, low = 0.0, high = 1.0;
        for (int k = 0; k < 100 && whole > -loss; k++) {
            s = 0.5 * (low + high);
            double sum = 0.0;
            for (int i = 0; i < 3; i++)
                sum += instance_gain(&n, i, scaled(f[i], s), 0.004);
            *(sum <= 0.0 ? &low : &high) = s;
        }
        if (c % 8 < 4) /* (another partner of body 1 may be body 2) */
            assert_near(ff_vec3_norm(n.out.f_b[0].f), s * 10.0, 1e-6);
        assert_near(n.out.stiffness[1], 2e4, 0.0);
    }
}

/* The robot's motion against the force along the normal: stiffness and damping come out, of a surface in
 * space and of one that turns with its body; a turn that both make is not an approach. Another direction
 * begins again. */
static void test_what_is_identified(void **unused) {
    (void)unused;
    for (int c = 0; c < 16; c++) {
        const int bodies = 1 + c % 2, printed = c / 2 % 2;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.slide = 0.0;
        z.law.c = 0.08 * z.law.k / z.w;
        instance_draw(&n, &rng, &ff_method_damping, printed, bodies);
        instance_start(&n);
        bool known = false;
        const int last = (int)((z.onset + 0.9 * FF_PI / z.w) / BENCH_T);
        for (int k = 15; k < last; k++) {
            ff_rigid_state robot[2];
            const ff_vec3 F = bench_at(&z, k * BENCH_T, robot);
            const double f = ff_vec3_norm(F);
            const ff_vec3 F_w = ff_quat_rotate(robot[1].attitude, F),
                          tip = ff_pose_apply(ff_rigid_pose(&robot[0]), z.r);
            for (int i = 0; i < bodies; i++) {
                const ff_vec3 G = ff_quat_unrotate(robot[i].attitude, ff_vec3_scale(i ? -1.0 : 1.0, F_w));
                const ff_vec3 r = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&robot[i])), tip);
                n.sample[i] = (ff_body_sample){.f_b = {ff_vec3_cross(r, G), G},
                                               .T_wr = ff_rigid_pose(&robot[i]),
                                               .twist_r = {robot[i].omega, robot[i].velocity},
                                               .valid = true};
                n.detected[i] = (ff_detection){.contact = f > 0.0, .began = f > 0.0 && k < 23};
                n.body[i] = robot[i];
            }
            assert_int_equal(instance_step(&n), FF_OK);
            assert_int_equal(n.out.in_contact[0], f > 0.0);
            if (!isnan(n.out.stiffness[0])) {
                known = true;
                assert_near(n.out.stiffness[0], n.out.stiffness[bodies - 1], 0.0);
            }
        }
        assert_true(known);
        /* exact sensors; as printed, increments are averaged from where the stiffness is known to 5 % */
        assert_near(n.out.stiffness[0] / z.law.k, 1.0, printed ? 0.1 : 2e-4);
        if (!printed)
            assert_near(n.out.damping[0] / z.law.c, 1.0, 0.02);     /* a prior weighs on it */
        n.sample[0].f_b.f = ff_vec3_scale(-1.0, n.sample[0].f_b.f); /* a surface on the other side */
        if (bodies == 2)
            n.sample[1].f_b.f = ff_vec3_scale(-1.0, n.sample[1].f_b.f);
        assert_int_equal(instance_step(&n), FF_OK);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 89);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budgets_of_the_clamp),
        cmocka_unit_test(test_what_a_surface_kept_stays_there),
        cmocka_unit_test(test_printed_along_the_force),
        cmocka_unit_test(test_printed_on_each_axis),
        cmocka_unit_test(test_partners),
        cmocka_unit_test(test_what_is_identified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
