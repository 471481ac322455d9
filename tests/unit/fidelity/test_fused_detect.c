/* fused, function by function: what is detected as a contact: a first force, another one beside it, a torque,
 * a surface that is known. Each limit from both sides. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state

static const ff_detection touch = {.contact = true, .force_on = 0.02};

static int open_contacts(void) {
    int count = 0;
    for (int c = 0; c < FUSED_CONTACTS; c++)
        count += S->contact[c].open;
    return count;
}

/* Robots at rest, a wrench on each; so many samples in a row. */
static void feel(int samples, const ff_wrench *on, const ff_detection *detected) {
    for (int n = 0; n < samples; n++) {
        ff_rigid_state robot[2];
        for (int i = 0; i < 2; i++)
            robot[i] = (ff_rigid_state){.position = {{(double)i, 0, 0}},
                                        .attitude = ff_quat_exp(ff_vec3_make(0, 0.3 + i, 0)),
                                        .velocity = {{0.01, 0.0, 0.04 * (1 - i)}},
                                        .omega = {{0, 0.1 * (1 - i), 0.3 * (1 - i)}}};
        bench_push(robot);
        for (int i = 0; i < bench_model.bodies; i++) {
            fused_at(S, i, bench_newest())->force = on[i].f;
            fused_at(S, i, bench_newest())->torque = on[i].t;
        }
        for (int i = 0; i < bench_model.bodies; i++)
            ff__fused_detect(&bench_model, S, detected, i, bench_newest());
    }
}

static void quiet(int samples) {
    const ff_wrench none[2] = {{.f = {{0, 0, 0}}}};
    const ff_detection off = {.force_on = 0.02};
    feel(samples, none, &off);
}

/* The first force opens a contact with the world, or with the body that bears the opposite force; the one
 * that carries the surface gives the axes. */
static void test_a_force_opens_a_contact(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 60; draw++) {
        bench_reset(&rng, 2, draw % 3 ? 0.01 : 0.0, 0.0, NULL);
        bench_model.config.plane_of[0] = draw & 1;
        bench_model.config.plane_of[1] = draw >> 1 & 1;
        quiet(5);
        const ff_vec3 F = ff_vec3_scale(ff_rng_range(&rng, 1.0, 20.0), bench_unit(&rng));
        const double size = ff_vec3_norm(F), noise = bench_model.config.force_noise;
        /* how far the other's force is from the opposite, against a fifth of the mean of both and four times
         * the noise of five samples (quiet but for the last) of both */
        const double blur = 4.0 * hypot(noise, 4e-3) * sqrt(2.0 * 5);
        double most = 0.0;
        for (int pass = 0; pass < 40; pass++)
            most = 0.2 * hypot(size, 0.5 * most) + blur;
        const double miss = most * (draw % 5 < 3 ? 0.95 : 1.05);
        const ff_wrench on[2] = {{.f = F}, {.f = ff_vec3_axpy(miss, bench_across(&rng, F), ff_vec3_neg(F))}};
        const bool pair = miss < most;
        feel(1, on, &touch);
        const fused_contact *c = &S->contact[0];
        assert_int_equal(open_contacts(), pair ? 1 : 2);
        const ff_vec3 n = ff_vec3_unit(F);
        if (!pair) {
            assert_true(c->a == 0 && c->b == -1 && S->contact[1].a == 1 && S->contact[1].b == -1);
            assert_vec3_near(c->n, n, 1e-12);
        } else if (bench_model.config.plane_of[0] > bench_model.config.plane_of[1]) {
            assert_true(c->a == 1 && c->b == 0);
            assert_vec3_near(c->n, ff_quat_unrotate(fused_at(S, 0, bench_newest())->T_r.q, ff_vec3_neg(n)),
                             1e-12);
        } else {
            assert_true(c->a == 0 && c->b == 1);
            assert_vec3_near(c->n, ff_quat_unrotate(fused_at(S, 1, bench_newest())->T_r.q, n), 1e-12);
        }
    }
    bench_reset(&rng, 2, 0.0, 0.0, NULL); /* half of it, opposite: not the partner */
    quiet(5);
    const ff_wrench uneven[2] = {{.f = {{10, 0, 0}}}, {.f = {{-4.9, 0, 0}}}};
    feel(1, uneven, &touch);
    assert_int_equal(S->contact[0].b, -1);
    bench_reset(&rng, 1, 0.0, 0.0, NULL);
    quiet(5);
    const ff_wrench weak = {.f = {{0.0199, 0, 0}}};
    feel(5, &weak, &touch); /* below the threshold: stage 2 saw something else */
    assert_int_equal(open_contacts(), 0);
    fused_at(S, 0, 0)->valid = false;
    const ff_wrench strong = {.f = {{5, 0, 0}}};
    bench_push(&(ff_rigid_state){.attitude = {1, 0, 0, 0}})->force = strong.f;
    fused_at(S, 0, bench_newest())->valid = false; /* not a sample */
    ff__fused_detect(&bench_model, S, &touch, 0, bench_newest());
    assert_int_equal(open_contacts(), 0);
}

/* Bodies that nothing fixed is near bear each other's forces, however unlike the opposite they read; a sample
 * of one sensor's noise opens nothing. */
static void test_bodies_alone_bear_each_other(void **unused) {
    (void)unused;
    for (int only = 0; only < 2; only++) {
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        bench_model.config.bodies_only[0] = bench_model.config.bodies_only[1] = only;
        quiet(5);
        const ff_wrench uneven[2] = {{.f = {{10, 0, 0}}}, {.f = {{-4.9, 0, 0}}}};
        feel(1, uneven, &touch);
        assert_int_equal(S->contact[0].b, only ? 1 : -1);
        assert_int_equal(open_contacts(), only ? 1 : 2);
        if (only) { /* nor do the samples that follow make it the world's */
            for (int k = 0; k < 40; k++) {
                const ff_wrench half[2] = {{.f = {{10, 0, 0}}}, {.f = {{0, 0, 0}}}};
                feel(1, half, &touch);
                ff__fused_new_row(&bench_model, S, &S->contact[0], bench_newest());
                ff__fused_revise_partners(&bench_model, S, bench_newest());
            }
            assert_int_equal(open_contacts(), 1);
            assert_int_equal(S->contact[0].b, 1);
        }
        bench_reset(&rng, 2, 0.3, 0.0, NULL);
        bench_model.config.bodies_only[0] = bench_model.config.bodies_only[1] = only;
        quiet(5);
        const ff_detection six = {.contact = true, .force_on = 6.0 * 0.3}; /* 6 of 0.3 N; beyond doubt 5.5 */
        const ff_wrench spike[2] = {{.f = {{6.1 * 0.3, 0, 0}}}, {.f = {{0, 0, 0}}}};
        feel(1, spike, &six);
        assert_int_equal(open_contacts(), only ? 0 : 1);
    }
}

/* What two bodies feel in a sample, with noise, and the work of a cycle on it. Six sigma: noise alone reaches
 * that once in 1e7 samples. */
static void feel_noisy(ff_vec3 F, ff_vec3 G) {
    const double noise = bench_model.config.force_noise;
    ff_vec3 e[2] = {ff_vec3_zero(), ff_vec3_zero()};
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < 3; a++)
            e[i].a[a] = noise * ff_rng_normal(&rng);
    const ff_wrench on[2] = {{.f = ff_vec3_add(F, e[0])}, {.f = ff_vec3_add(G, e[1])}};
    ff_rigid_state robot[2];
    for (int i = 0; i < 2; i++)
        robot[i] = (ff_rigid_state){.position = {{(double)i, 0, 0}},
                                    .attitude = ff_quat_exp(ff_vec3_make(0, 0.3 + i, 0)),
                                    .velocity = {{0.01, 0.0, 0.04 * (1 - i)}}};
    bench_push(robot);
    const uint64_t k = bench_newest();
    for (int i = 0; i < 2; i++)
        fused_at(S, i, k)->force = on[i].f;
    for (int c = 0; c < FUSED_CONTACTS; c++)
        if (S->contact[c].open)
            ff__fused_new_row(&bench_model, S, &S->contact[c], k);
    ff__fused_revise_partners(&bench_model, S, k);
    for (int i = 0; i < 2; i++) {
        const ff_detection d = {.contact = ff_vec3_norm(on[i].f) > 6.0 * noise, .force_on = 6.0 * noise};
        ff__fused_detect(&bench_model, S, &d, i, k);
    }
    for (int c = 0; c < FUSED_CONTACTS; c++) { /* the normal is found by the estimates, which are not run */
        fused_contact *x = &S->contact[c];
        if (x->open && ff_vec3_norm(F) > 0.0) {
            const ff_vec3 n = ff_vec3_unit(x->a ? ff_vec3_neg(F) : F);
            x->n = x->b < 0 ? n : ff_quat_unrotate(robot[x->b].attitude, n);
        }
    }
}

/* A force that rises out of the noise: the first samples do not tell who bears it, those that follow do.
 * Twenty-four samples up to 12 sigma: the pair's likelihood ratio is then beyond e^100, and noise alone opens
 * no other contact. A contact with the world beside a body that flies is none of a pair, and one that was
 * taken for it is taken back. */
static void test_who_bears_a_force_is_decided_over_the_contact(void **unused) {
    (void)unused;
    int revised = 0;
    for (int draw = 0; draw < 60; draw++) {
        const bool pair = draw % 3 > 0;
        bench_reset(&rng, 2, 0.3, 0.0, NULL);
        bench_model.config.plane_of[1] = 1;
        const ff_vec3 n = bench_unit(&rng);
        for (int k = 0; k < 12; k++)
            feel_noisy(ff_vec3_zero(), ff_vec3_zero());
        if (draw % 3 == 2) { /* whichever detected it first took it for its own */
            const ff_vec3 F = ff_vec3_scale(1.8, n);
            feel_noisy(F, ff_vec3_neg(F));
            for (int c = 0; c < FUSED_CONTACTS; c++)
                if (S->contact[c].open)
                    ff__fused_withdraw(S, &S->contact[c]);
            ff__fused_begin(&bench_model, S, draw & 1, -1, false, draw & 1 ? ff_vec3_neg(n) : n,
                            bench_newest());
        }
        for (int k = 1; k <= 24; k++) {
            const ff_vec3 F = ff_vec3_scale(0.3 * 0.5 * k, n);
            feel_noisy(F, pair ? ff_vec3_neg(F) : ff_vec3_zero());
        }
        assert_int_equal(open_contacts(), 1);
        for (int c = 0; c < FUSED_CONTACTS; c++)
            if (S->contact[c].open) {
                assert_true(S->contact[c].a == 0 && S->contact[c].b == (pair ? 1 : -1));
                assert_true(S->contact[c].anchor <= 14);
            }
        revised += (int)S->info.partners;
    }
    assert_true(revised >= 20); /* at least those that began as the world's */
    /* one that was taken for a pair: the other body feels nothing */
    bench_reset(&rng, 2, 0.3, 0.0, NULL);
    for (int k = 0; k < 12; k++)
        feel_noisy(ff_vec3_zero(), ff_vec3_zero());
    ff__fused_begin(&bench_model, S, 0, 1, false, ff_vec3_make(1, 0, 0), bench_newest());
    for (int k = 1; k <= 24; k++)
        feel_noisy(ff_vec3_make(0.2 * k, 0, 0), ff_vec3_zero());
    assert_int_equal(open_contacts(), 1);
    for (int c = 0; c < FUSED_CONTACTS; c++)
        if (S->contact[c].open)
            assert_int_equal(S->contact[c].b, -1);
}

/* A second force outside the first one's normal opens another contact when it is above 15 % of the whole,
 * three times in a row and not before the first normal is known; what opposes the sliding may be friction up
 * to 40 %. */
static void test_a_second_contact(void **unused) {
    (void)unused;
    const double limits[] = {0.15, 0.4};
    for (int against = 0; against < 2; against++)
        for (int above = 0; above < 2; above++)
            for (int contacts = 1; contacts < 3; contacts++) {
                bench_reset(&rng, 1, 0.0, 0.0, NULL);
                quiet(5);
                const ff_wrench first = {.f = {{0, 10, 0}}};
                feel(6, &first, &touch);
                assert_int_equal(open_contacts(), 1);
                /* sliding is along z (and a little x); across it, or straight against it */
                const double part = limits[against] * (above ? 1.03 : 0.97),
                             share = part / sqrt(1.0 - part * part);
                const ff_rigid_state robot = fused_robot_of(fused_at(S, 0, bench_newest()));
                const ff_vec3 normal = ff_vec3_make(0, 1, 0), r = ff_vec3_make(0.2, 0, 0);
                S->contact[0].r = r;
                const ff_vec3 tip = ff_rigid_point_velocity(&robot, r),
                              slip = ff_vec3_unit(ff_vec3_axpy(-tip.y, normal, tip)),
                              across = ff_vec3_cross(slip, normal);
                const ff_vec3 side = ff_vec3_scale(10.0 * share, against ? ff_vec3_neg(slip) : across);
                ff_wrench both = {.f = ff_vec3_add(first.f, side)};
                /* with a torque that no point explains; torques of their own are another test's */
                both.t = ff_vec3_add(ff_vec3_cross(S->contact[0].r, ff_quat_unrotate(robot.attitude, both.f)),
                                     ff_quat_unrotate(robot.attitude, ff_vec3_make(0, 5, 0)));
                S->torque_hits[0] = -100;
                feel(2, &both, &touch);
                assert_int_equal(open_contacts(), 1);
                if (contacts == 1)
                    feel(1, &first, &touch); /* interrupted: counted again */
                feel(contacts == 1 ? 2 : 0, &both, &touch);
                assert_int_equal(open_contacts(), 1);
                feel(1, &both, &touch);
                assert_int_equal(open_contacts(), above ? 2 : 1);
                if (above)
                    assert_vec3_near(S->contact[1].n, ff_vec3_unit(side), 1e-9);
            }
}

/* A torque without a force that could bear it within three metres, three times in a row. */
static void test_a_torque_opens_a_contact(void **unused) {
    (void)unused;
    const struct {
        double force, torque;
        bool opens;
    } cases[] = {
        {0, 0.0031, true}, {0, 0.0029, false}, {0.01, 0.0301, true}, {0.01, 0.0299, false}, {0, 5, true}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        quiet(5);
        const ff_vec3 axis = bench_unit(&rng);
        const ff_wrench on = {.t = ff_vec3_scale(cases[n].torque, axis), .f = {{cases[n].force, 0, 0}}};
        feel(2, &on, &touch);
        assert_int_equal(open_contacts(), 0);
        quiet(1); /* counted again */
        feel(2, &on, &touch);
        assert_int_equal(open_contacts(), 0);
        feel(1, &on, &touch);
        assert_int_equal(open_contacts(), cases[n].opens);
        if (!cases[n].opens)
            continue;
        const fused_contact *c = &S->contact[0];
        assert_true(c->torque && c->a == 0 && c->b == -1);
        assert_vec3_near(c->n, axis, 1e-12);
        feel(9, &on, &touch); /* it is borne: no other */
        assert_int_equal(open_contacts(), 1);
    }
}

/* ------------------------------------------------------------------------------------ one sample alone --
 */

/* Body 0 after thirty quiet samples, its tip sliding along z; contact 0 bears along y at r since long ago. */
typedef struct bearing {
    ff_rigid_state robot[2];
    ff_vec3 n, r; /* inertial; body axes */
    ff_vec3 slip; /* unit, inertial */
} bearing;

static bearing begin_bearing(double force_noise, double torque_noise, ff_vec3 r) {
    bench_reset(&rng, 2, force_noise, torque_noise, NULL);
    bearing z = {.n = ff_vec3_make(0, 1, 0), .r = r, .slip = ff_vec3_make(0, 0, 1)};
    for (int i = 0; i < 2; i++)
        z.robot[i] = (ff_rigid_state){.position = {{(double)i, 0, 0}}, .attitude = test_random_quat(&rng)};
    z.robot[0].velocity = ff_vec3_make(0, -0.02, 0.04);
    for (int k = 0; k < 30; k++)
        bench_push(z.robot);
    fused_contact *c = bench_settled(0, 0, -1, 3, 0);
    c->settled = false;
    c->open = true;
    c->n = z.n;
    c->r = r;
    c->surface.valid = false;
    return z;
}

/* One sample with a force (inertial) on body 0 and the torque of that force at r beside `more` (body axes).
 * Counters stand at one before. */
static void press(const bearing *z, ff_vec3 r, ff_vec3 F, ff_vec3 more) {
    bench_push(z->robot);
    fused_sample *x = fused_at(S, 0, bench_newest());
    x->force = F;
    x->torque = ff_vec3_add(ff_vec3_cross(r, ff_quat_unrotate(z->robot[0].attitude, F)), more);
    S->side_hits[0] = S->torque_hits[0] = 1;
    ff__fused_detect(&bench_model, S, &touch, 0, bench_newest());
}

static ff_vec3 body_axes(const bearing *z, ff_vec3 x) {
    return ff_quat_unrotate(z->robot[0].attitude, x);
}

/* A part `share` of the whole force across the normal, in the direction e. */
static ff_vec3 leaning(const bearing *z, double share, ff_vec3 e) {
    return ff_vec3_scale(10.0, ff_vec3_axpy(share, e, ff_vec3_scale(sqrt(1.0 - share * share), z->n)));
}

/* How much of a force may lean to the side and still be the bearer's: 15 %; 40 % where it opposes the sliding
 * (to .9 of it), the surface is known to have friction, or its torque is that of the contact point, as far as
 * the arm can tell. */
static void test_how_far_a_force_may_lean(void **unused) {
    (void)unused;
    const ff_vec3 none = ff_vec3_zero();
    for (int above = 0; above < 2; above++)
        for (int why = 0; why < 12; why++) {
            const double beyond = above ? 1.01 : 0.99;
            const bool loud = why == 7 || why == 8;
            bearing z = begin_bearing(loud ? 0.01 : 0.0, loud ? 0.02 : 0.0, ff_vec3_zero());
            const ff_vec3 aside = ff_vec3_cross(z.slip, z.n), e_b = body_axes(&z, aside),
                          n_b = body_axes(&z, z.n), slip_b = body_axes(&z, z.slip);
            fused_contact *c = &S->contact[0];
            double share = 0.15 * beyond;
            ff_vec3 e = aside, more = none, at = none;
            bool counts = above;
            switch (why) {
            case 1: /* against the sliding, to .9 of it; beyond, a quarter is far too much */
                share = 0.25;
                e = ff_vec3_add(ff_vec3_scale(-0.9 * beyond, z.slip),
                                ff_vec3_scale(sqrt(1.0 - 0.81 * beyond * beyond), aside));
                more = ff_vec3_scale(5.0, n_b);
                counts = !above;
                break;
            case 2: /* friction: 1.5 mu of the force is taken off what opposes the sliding, the rest 40 % */
                c->mu = 0.1;
                e = ff_vec3_neg(z.slip);
                share = 0.15 + 0.4 * beyond;
                more = ff_vec3_scale(5.0, n_b);
                break;
            case 3: /* none is taken off what pushes it on */
                c->mu = 0.1;
                e = z.slip;
                share = 0.4 * beyond;
                more = ff_vec3_scale(5.0, n_b);
                break;
            case 4: /* through the contact point, square to the lean: 40 % */
            case 5: /* a torque beyond that, of a fifth of the lean's */
                c->r = at = ff_vec3_add(ff_vec3_scale(0.3, n_b), ff_vec3_scale(0.1, slip_b));
                share = why == 4 ? 0.4 * beyond : 0.3;
                if (why == 5)
                    more = ff_vec3_scale(0.2 * beyond * 10.0 * share * ff_vec3_norm(ff_vec3_cross(at, e_b)),
                                         e_b);
                break;
            case 6: /* an arm of a fiftieth can tell */
                c->r = at = ff_vec3_scale(0.02 * beyond, slip_b);
                share = 0.3;
                counts = !above;
                break;
            case 7: /* an arm of five times the torque's noise, */
                c->r = at = ff_vec3_scale(5.0 * 0.02 / (10.0 * 0.3) * beyond, slip_b);
                share = 0.3;
                counts = !above;
                break;
            case 8: /* what noise of the torque and of the force at its arm leaves, three times */
                c->r = at = ff_vec3_scale(0.3, slip_b);
                share = 0.3;
                more =
                    ff_vec3_scale((0.2 * 0.3 * 10.0 * share + 3.0 * hypot(0.02, 0.3 * 0.01)) * beyond, e_b);
                break;
            case 9: /* a point further along the normal, less than three metres, with a lean along the sliding
                     */
                c->r = ff_vec3_scale(0.3, slip_b);
                at = ff_vec3_axpy(3.0 * beyond, n_b, c->r);
                e = z.slip;
                share = 0.3;
                break;
            case 10: /* along it to three quarters */
                c->r = ff_vec3_scale(0.3, slip_b);
                at = ff_vec3_axpy(0.5, n_b, c->r);
                e = ff_vec3_add(ff_vec3_scale(0.75 * beyond, z.slip),
                                ff_vec3_scale(sqrt(1.0 - 0.5625 * beyond * beyond), aside));
                share = 0.3;
                counts = !above;
                break;
            case 11: /* with two that bear only the plain limit counts */
                c->r = at = ff_vec3_scale(0.3, slip_b);
                S->contact[3] = *c;
                S->contact[3].n = z.slip;
                break;
            default:
                break;
            }
            press(&z, at, leaning(&z, share, e), more);
            assert_int_equal(S->side_hits[0], counts ? 2 : 0);
            S->side_hits[0] = 2;
            S->contact[0].detected = bench_newest() - 4; /* too young to know its normal: never */
            const ff_vec3 F = leaning(&z, share, e);
            press(&z, at, F, more);
            assert_int_equal(S->side_hits[0], 0);
        }
}

/* A torque beside that of the force at its point: above its own noise and that of the force at the arm,
 * above 3e-3 N m, a twentieth of the torque and 5 mm of the force, and 15 % of the torque. What the lean of
 * the force explains by a point further along the normal is none. */
static void test_a_torque_beside_a_force(void **unused) {
    (void)unused;
    for (int above = 0; above < 2; above++)
        for (int why = 0; why < 7; why++) {
            const double beyond = above ? 1.01 : 0.99, fn = why == 1 || why == 2 ? 0.004 : 0.0,
                         tn = why == 1   ? 0.003
                              : why == 2 ? 0.0005
                                         : 0.0;
            bearing z = begin_bearing(fn, tn, ff_vec3_zero());
            const ff_vec3 n_b = body_axes(&z, z.n), slip_b = body_axes(&z, z.slip),
                          e_b = ff_vec3_cross(slip_b, n_b);
            fused_contact *c = &S->contact[0];
            double force = 0.03, size = 3e-3;
            if (why == 1 || why == 2) { /* .3 m of arm */
                c->r = ff_vec3_scale(0.3, n_b);
                force = 0.05;
                size = 6.0 * hypot(tn, 0.3 * fn);
            }
            if (why == 3) /* at the CoM: 5 mm of the force and a twentieth of itself */
                force = 100.0, size = 0.5 / 0.95;
            if (why == 4) { /* 15 % of the torque */
                c->r = ff_vec3_scale(0.3, slip_b);
                force = 100.0;
                size = 0.15 / sqrt(1.0 - 0.15 * 0.15) * 30.0;
            }
            if (why == 5) { /* a twentieth of the torque and 5 mm: t = .05 sqrt(L^2 + t^2) + .5 */
                c->r = ff_vec3_scale(0.03, slip_b);
                force = 100.0;
                for (int n = 0; n < 20; n++)
                    size = 0.05 * hypot(3.0, size) + 0.5;
            }
            ff_vec3 F = ff_vec3_scale(force, z.n), more = ff_vec3_scale(size * beyond, n_b);
            bool counts = above;
            if (why == 6) { /* a lean along the sliding, the point half a metre further on: from 5 % on */
                c->r = ff_vec3_scale(0.03, e_b);
                F = leaning(&z, 0.05 * beyond, z.slip);
                more = ff_vec3_cross(ff_vec3_scale(0.5, n_b), body_axes(&z, F));
                counts = !above;
            }
            press(&z, c->r, F, more);
            assert_int_equal(S->torque_hits[0], counts ? 2 : 0);
            press(&z, c->r, F, more);
            S->torque_hits[0] = 2; /* the third opens it */
            ff__fused_detect(&bench_model, S, &touch, 0, bench_newest());
            assert_int_equal(S->contact[1].open, counts);
            assert_int_equal(S->torque_hits[0], 0);
            if (!counts)
                continue;
            assert_true(S->contact[1].torque && S->contact[1].a == 0 && S->contact[1].b == -1);
            assert_vec3_near(S->contact[1].n, ff_vec3_unit(more), 1e-9);
            press(&z, c->r, F, ff_vec3_scale(2.0, more)); /* it bears all about its axis */
            assert_int_equal(S->torque_hits[0], 0);
        }
}

/* A force outside the span of all normals that bear; those of a surface on the other body turn with it, and
 * its own body sees the same. */
static void test_what_several_leave_of_a_force(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 40; draw++) {
        const int count = 1 + draw % 3, body = draw / 3 % 2, b = draw % 4 < 2 ? -1 : 1 - body;
        bearing z = begin_bearing(0.0, 0.0, ff_vec3_zero());
        S->contact[0].open = false;
        ff_vec3 n[3], sum = ff_vec3_zero();
        for (int i = 0; i < count; i++) {
            fused_contact *c = bench_settled(1 + i, body, b, 3, 0);
            c->settled = false;
            c->open = true;
            c->surface.valid = false;
            n[i] = i == 2 && draw % 5 == 0 ? ff_vec3_neg(n[0]) : bench_unit(&rng); /* the same again */
            c->n = b < 0 ? n[i] : ff_quat_unrotate(z.robot[b].attitude, n[i]);
            sum = ff_vec3_axpy(ff_rng_range(&rng, 1.0, 5.0), n[i], sum);
        }
        const ff_vec3 square =
            count == 1 ? bench_across(&rng, n[0]) : ff_vec3_unit(ff_vec3_cross(n[0], n[1]));
        const bool full = count == 3 && draw % 5 != 0;
        const ff_vec3 F = ff_vec3_axpy(full ? 0.0 : ff_vec3_norm(sum), square, sum);
        for (int on = 0; on < 2; on++) { /* the body of the tips, and the one of the surface */
            const int who = on ? 1 - body : body;
            if (on && b < 0)
                continue;
            bench_push(z.robot);
            fused_at(S, who, bench_newest())->force = on ? ff_vec3_neg(F) : F;
            S->side_hits[who] = 2;
            S->torque_hits[who] = -9;
            ff__fused_detect(&bench_model, S, &touch, who, bench_newest());
            fused_contact *c = &S->contact[0];
            assert_int_equal(c->open, !full);
            assert_int_equal(S->side_hits[who], 0);
            if (!full) {
                assert_true(c->a == who && c->b == -1 && !c->torque);
                assert_vec3_near(c->n, on ? ff_vec3_neg(square) : square, 1e-9);
            }
            if (on) /* torques are looked for where the tips are */
                assert_int_equal(S->torque_hits[who], -9);
            c->open = false;
        }
    }
}

/* A surface that is known bears what it should where the robots stand: to 15 % and four times the noise. A
 * wall begins anew; a contact that was taken to be over continues. */
static void test_a_known_surface_is_touched_again(void **unused) {
    (void)unused;
    for (int way = 0; way < 40; way++) {
        const bool above = way & 1, over = way >> 1 & 1;
        const int why = way / 4, tip = way % 3 ? 0 : 1, b = way % 5 < 2 ? -1 : 1 - tip;
        bearing z = begin_bearing(why == 1 ? 0.3 : 0.0, 0.0, ff_vec3_zero());
        S->contact[0].open = false;
        const ff_vec3 n = bench_unit(&rng), r = test_random_vec3(&rng, 0.3);
        const ff_quat q = b < 0 ? ff_quat_identity() : z.robot[b].attitude;
        const ff_vec3 at = ff_pose_apply(ff_rigid_pose(&z.robot[tip]), r),
                      p = b < 0 ? at : ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&z.robot[b])), at);
        z.robot[0].velocity = z.robot[0].omega = ff_vec3_zero();
        const double k = 1e4, f = why == 2 ? 0.02 * (above ? 0.99 : 1.01) : 20.0;
        const ff_profile law = {.valid = true, .k = k, .x0 = -ff_vec3_dot(n, p) - f / k};
        fused_wall *wall = &S->wall[4];
        fused_contact *c = bench_settled(2, tip, b, 3, 20);
        c->closing = over;
        c->stage = SETTLE;
        c->over = (fused_ending){.sum = 3.0, .silent = 9};
        c->surface = law;
        c->n = n;
        c->r = r;
        c->wall = 4;
        if (!over)
            c->settled = false;
        *wall = (fused_wall){
            .valid = !over, .a = tip, .b = b, .n = n, .r = r, .surface = law, .force_max = 50, .mu = 0.07};
        bool known = !above;
        double off = (0.15 * f + (why == 1 ? 4.0 * 0.3 : 0.0)) * (above ? 1.01 : 0.99);
        if (why >= 2)
            off = 0.0;
        if (why > 2)
            known = false;
        if (why == 3) /* of the other body */
            wall->a = c->a = 1 - tip, wall->b = c->b = -1;
        if (why == 4)
            wall->torque = c->torque = true;
        if (why == 5)
            wall->beside = c->one.tried = true;
        if (why == 6)
            wall->valid = c->surface.valid = false;
        if (why == 7) /* not where the robots stand */
            wall->surface.x0 = c->surface.x0 = law.x0 + 2.0 * f / k;
        if (why == 8 && !over) /* it is touched already: what comes beside it is another */
            c->open = true, c->n = bench_across(&rng, n);
        if (why == 8 && over) /* settled */
            c->closing = false;
        if (why == 9) /* both say so: of the wall that contact is on only once */
            known = wall->valid = true;
        bench_push(z.robot);
        const ff_vec3 F = ff_quat_rotate(q, ff_vec3_axpy(off, bench_across(&rng, n), ff_vec3_scale(f, n)));
        fused_at(S, tip, bench_newest())->force = F;
        ff__fused_detect(&bench_model, S, &touch, tip, bench_newest());
        const fused_contact *new = &S->contact[0];
        if (!known) { /* one with the world along the force; below the threshold none */
            const bool opens = why != 2 && !(why == 8 && !over);
            assert_int_equal(new->open, opens);
            assert_int_equal(c->open, why == 8 && !over);
            assert_int_equal(S->side_hits[tip], why == 8 && !over);
            if (opens) {
                /* along about a wall's normal, and as strong as where the robot stands in it: that wall's */
                const bool like = why < 2 && !over && b < 0;
                assert_true(new->a == tip &&new->b == -1 && new->wall == (like ? 4 : -1) && !new->torque);
                assert_vec3_near(new->n, like ? n : ff_vec3_unit(F), 1e-12);
            }
            continue;
        }
        if (over) {
            assert_true(c->open && !c->closing && !c->settled && !new->open && c->stage == REST);
            assert_true(c->due == bench_newest() + 1 && c->over.sum == 3.0 && c->over.silent == 0);
            /* its rows since its end, and the past from there on */
            assert_near(fused_row_of(c, 20)->s, -ff_vec3_dot(n, p), 1e-12);
            assert_near(fused_row_of(c, bench_newest())->f,
                        ff_vec3_dot(n, ff_quat_unrotate(q, F)) * (b < 0 ? 1.0 : 0.5), 1e-9);
            assert_true(ff__replay_active(S->replay, 1u << tip));
            assert_int_equal(ff__replay_reached(S->replay, 1u << tip), 20);
            continue;
        }
        assert_true(new->open &&new->wall == 4 &&
                    new->wall_used &&new->a == tip &&new->b == b &&new->mu == 0.07 &&
                    new->detected == bench_newest());
        assert_vec3_near(new->n, n, 0.0);
        assert_vec3_near(new->r, r, 0.0);
    }
}

/* Where the sensor's offset is learnt, its own doubt widens all limits: by sqrt(1 + P). */
static void test_limits_while_the_offset_is_learnt(void **unused) {
    (void)unused;
    for (int way = 0; way < 8; way++) {
        const bool above = way & 1, torque = way >> 1 & 1, sees = way >> 2;
        begin_bearing(0.004, 0.001, ff_vec3_zero());
        S->contact[0].open = false;
        bench_model.config.zero = true;
        S->zero[0].P[0] = 3.0; /* twice the limits: .04 N, .012 N m */
        bench_rest(1);
        fused_sample *x = fused_at(S, 0, bench_newest());
        const double beyond = above ? 1.01 : 0.99;
        if (torque)
            x->torque = ff_vec3_make(0, 2.0 * 0.006 * beyond, 0);
        else
            x->force = ff_vec3_make(0, 0.04 * beyond, 0);
        S->torque_hits[0] = S->side_hits[0] = 1;
        const ff_detection stage = {.contact = sees, .force_on = 0.02}; /* what stage 2 says counts not */
        ff__fused_detect(&bench_model, S, &stage, 0, bench_newest());
        assert_int_equal(S->contact[0].open, !torque && above);
        assert_int_equal(S->torque_hits[0], torque ? 0 : above ? 1 : 0);
    }
}

/* ------------------------------------------------------------------------------------------ a beginning --
 */

/* A record that was in use before is as new; how far back it begins: four rows, a fifth of the delay, a row
 * with a force, and as long as the satellite is ahead of its robot, half a second at most. Of whichever body.
 */
static void test_a_beginning_forgets_what_was_before(void **unused) {
    (void)unused;
    const double ahead[] = {0.0, -1.0, 0.1, 0.45, 0.55, 3.0};
    for (int way = 0; way < 24; way++) {
        const int tip = way & 1, b = way & 2 ? 1 - tip : -1;
        const double late = ahead[way / 4], v = 0.05;
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        ff_rigid_state robot[2] = {{.attitude = test_random_quat(&rng)},
                                   {.attitude = test_random_quat(&rng)}};
        const ff_vec3 n = bench_unit(&rng);
        robot[tip].velocity = ff_vec3_scale(-v, n);
        for (int k = 0; k < 300; k++) {
            robot[tip].position = ff_vec3_scale(-v * BENCH_T * k, n);
            bench_push(robot);
            fused_at(S, tip, bench_newest())->past.body.position =
                ff_vec3_axpy(-v * late, n, robot[tip].position);
        }
        const uint64_t k = bench_newest();
        fused_at(S, tip, k)->force = ff_vec3_scale(7.0, n);
        if (b >= 0)
            fused_at(S, b, k)->force = ff_vec3_scale(-9.0, n);
        fused_contact *c = &S->contact[0];
        const ff__ring rows = c->rows;
        memset(c, 0x55, sizeof *c);
        c->rows = rows;
        c->open = c->settled = c->closing = false;
        c->frozen = c->torque = c->slides = c->joined = c->alone = c->wall_used = true;
        c->one.judged = c->one.tried = c->surface.valid = c->over.abandoned = true;
        ff__fused_begin(&bench_model, S, tip, b, false, n, k);
        assert_true(c->open && !c->settled && !c->closing && !c->frozen && !c->torque && !c->joined &&
                    !c->alone && !c->wall_used && !c->one.judged && !c->one.tried && !c->surface.valid &&
                    !c->over.abandoned);
        assert_true(c->a == tip && c->b == b && c->stage == REST && c->wall == -1 && c->over.quiet == 0 &&
                    c->over.silent == 0 && c->laws.trial == 0);
        assert_true(c->mu == 0.0 && c->side == 0.0 && c->over.sum == 0.0 && c->lean.misfit == 0.0);
        assert_near(c->lean.step, 0.05, 0.0);
        assert_true(c->detected == k && c->due == k + 1 && c->laws.due == k + 8);
        assert_vec3_near(c->n, b < 0 ? n : ff_quat_unrotate(robot[b].attitude, n), 1e-12);
        const uint64_t back =
            4 + (uint64_t)ceil((fmin(0.5, fmax(0.0, late)) + 0.2 * 8 * BENCH_T) / BENCH_T - 1e-6) + 1;
        assert_int_equal(c->anchor, k - back);
        assert_near(c->speed, v, 1e-12);
        assert_near(c->force_max, b < 0 ? 7.0 : 8.0, 1e-12);
        assert_int_equal(c->slides, b >= 0);
    }
}

/* Where a new contact is, beside others: at one of their points if that bears all of the wrench, to 3 % and
 * three times the noise; else where what they leave of the torque says; beside a torque it is not known. */
static void test_the_point_of_a_contact_beside_others(void **unused) {
    (void)unused;
    for (int way = 0; way < 16; way++) {
        const bool two = way & 4, above = way & 1 || two, loud = way & 2, turning = way >= 12;
        bearing z = begin_bearing(loud ? 0.02 : 0.0, loud ? 0.05 : 0.0, test_random_vec3(&rng, 0.4));
        fused_contact *o = &S->contact[0];
        o->surface.valid = false;
        bench_push(z.robot);
        const uint64_t k = bench_newest();
        fused_sample *x = fused_at(S, 0, k);
        const ff_vec3 e = bench_across(&rng, z.n), F = ff_vec3_axpy(20.0, e, ff_vec3_scale(30.0, z.n)),
                      F_b = body_axes(&z, F), n_b = body_axes(&z, z.n), turn = ff_vec3_cross(n_b, F_b),
                      at = ff_vec3_axpy(ff_rng_range(&rng, -0.3, 0.3), n_b,
                                        z.r); /* shows as the force turns */
        const double arm = ff_vec3_norm(at), blur = hypot(loud ? 0.05 : 0.0, loud ? 0.02 * arm : 0.0),
                     most = 0.03 * arm * ff_vec3_norm(F) + 3.0 * blur;
        /* a place along the normal does not explain what is square to its torque */
        const ff_vec3 more =
            ff_vec3_scale(two ? 35.0 : most * (above ? 1.01 : 0.99), bench_across(&rng, ff_vec3_unit(turn)));
        x->force = F;
        x->torque = ff_vec3_add(ff_vec3_cross(at, F_b), more);
        fused_row_of(o, k)->f = 30.0;
        /* one point bears the whole force, its friction included */
        ff_vec3 left = ff_vec3_sub(x->torque, ff_vec3_cross(z.r, F_b));
        if (two) { /* two bear what their rows say */
            fused_contact *other = bench_settled(3, 0, -1, 3, 0);
            other->settled = false;
            other->open = true;
            other->n = z.n; /* beyond any arm of either */
            other->r = test_random_vec3(&rng, 0.01);
            fused_row_of(other, k)->f = 10.0;
            left = ff_vec3_sub(x->torque, ff_vec3_cross(z.r, ff_vec3_scale(30.0, body_axes(&z, z.n))));
            left = ff_vec3_sub(left, ff_vec3_cross(other->r, ff_vec3_scale(10.0, body_axes(&z, other->n))));
        }
        if (turning) {
            fused_contact *t = bench_settled(4, 0, -1, 3, 0);
            t->settled = false;
            t->open = t->torque = true;
        }
        ff__fused_begin(&bench_model, S, 0, -1, false, e, k);
        const fused_contact *c = &S->contact[1];
        assert_true(c->open);
        const ff_vec3 own = ff_vec3_scale(20.0, body_axes(&z, e));
        if (turning)
            assert_vec3_near(c->r, ff_vec3_zero(), 0.0);
        else if (!above)
            assert_vec3_near(c->r, at, 1e-12);
        else
            assert_vec3_near(c->r, ff_vec3_scale(1.0 / 400.0, ff_vec3_cross(own, left)), 1e-12);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 97);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_force_opens_a_contact),
        cmocka_unit_test(test_bodies_alone_bear_each_other),
        cmocka_unit_test(test_who_bears_a_force_is_decided_over_the_contact),
        cmocka_unit_test(test_a_second_contact),
        cmocka_unit_test(test_a_torque_opens_a_contact),
        cmocka_unit_test(test_how_far_a_force_may_lean),
        cmocka_unit_test(test_a_torque_beside_a_force),
        cmocka_unit_test(test_what_several_leave_of_a_force),
        cmocka_unit_test(test_a_known_surface_is_touched_again),
        cmocka_unit_test(test_limits_while_the_offset_is_learnt),
        cmocka_unit_test(test_a_beginning_forgets_what_was_before),
        cmocka_unit_test(test_the_point_of_a_contact_beside_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
