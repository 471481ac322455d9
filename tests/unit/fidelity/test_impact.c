/* impact, function by function: which force belongs to which contact, how the robots yield, what a contact
 * tells of its surface, and the satellites' past computed again; against forces and motions that are known.
 */
#include "impact_bench.h"

/* Wrenches that are a sum of f n at the tips are divided into these f; what the tip does not reach has none.
 * One contact alone takes the mean of both sensors. */
static void test_wrenches_are_divided(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 200; draw++) {
        const int bodies = 1 + draw % 3, contacts = 1 + draw / 3 % 4;
        double f[FF_METHOD_CONTACTS];
        fresh(bodies);
        for (int c = 0; c < contacts; c++) {
            const int body = c % bodies;
            plane(body, bodies > 1 && c % 2 ? (body + 1) % bodies : -1, 1e-3);
        }
        plane(0, -1, -0.0101); /* beyond the position error of 1 cm */
        ff_world_contact *off = plane(0, -1, 0.0);
        off->shape = FF_SHAPE_CONE; /* 2 cm in front of a cone's mouth, where its wall would continue */
        off->half_angle = 0.5;
        off->depth = 0.1;
        off->axis = ff_vec3_make(0, 0, 1);
        const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&robot[0]), off->point);
        off->apex = ff_vec3_sub(tip, ff_vec3_make(0.12 * tan(0.5), 0, 0.12));
        make();
        for (int c = 0; c < contacts; c++) {
            f[c] = ff_rng_range(&rng, 1.0, 30.0);
            press(&world.contact[c], ff_vec3_scale(f[c], normal_of(&world.contact[c])));
        }
        impact_measured m;
        measure(&m);
        /* exact up to the 1e-9 that keeps the matrix regular, enlarged where the contacts nearly agree */
        for (int c = 0; c < contacts; c++)
            assert_near(m.force_n[c], f[c], 1e-3);
        assert_true(m.force_n[contacts] == 0.0 && m.force_n[contacts + 1] == 0.0);
        assert_near(m.at[contacts + 1].s, -0.02, 1e-12);
        for (int c = 0; c < contacts; c++) {
            assert_near(m.at[c].s, 1e-3, 1e-12);
            assert_vec3_near(m.at[c].n, normal_of(&world.contact[c]), 1e-12);
        }
        for (int i = 0; i < bodies; i++)
            assert_vec3_near(m.force[i], ff_quat_rotate(robot[i].attitude, sample[i].f_b.f), 1e-12);
    }
    fresh(2);
    ff_world_contact *c = plane(0, 1, 1e-3);
    make();
    press(c, ff_vec3_scale(10.0, normal_of(c)));
    sample[0].f_b.f = ff_vec3_scale(1.4, sample[0].f_b.f);
    impact_measured m;
    measure(&m);
    assert_near(m.force_n[0], 0.5 * (14.0 + 10.0), 1e-9);
}

/* None pulls: a contact that would is left out, and the others bear what they can. */
static void test_no_contact_pulls(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 100; draw++) {
        fresh(1);
        ff_world_contact *a = plane(0, -1, 1e-3), *b = plane(0, -1, 1e-3);
        make();
        const ff_vec3 F = ff_vec3_axpy(-5.0, b->normal, ff_vec3_scale(20.0, a->normal));
        press(a, ff_vec3_scale(20.0, a->normal));
        press(b, ff_vec3_scale(-5.0, b->normal));
        impact_measured m;
        measure(&m);
        const double alone = ff_vec3_dot(a->normal, F);
        assert_true(m.force_n[1] == 0.0);
        assert_near(m.force_n[0], fmax(0.0, alone), 1e-9);
    }
}

/* White noise s on each axis of the force, s/sqrt(10) m on those of the torque: the shares scatter by what is
 * said, within the scatter of a variance of N draws, 4 sqrt(2/N). */
static void test_noise_of_the_shares(void **unused) {
    (void)unused;
    enum { DRAWS = 600 };
    for (int contacts = 1; contacts < 3; contacts++) {
        fresh(2);
        world.force_noise = 0.2;
        for (int c = 0; c < contacts; c++)
            plane(0, contacts == 1 ? 1 : -1, 1e-3);
        if (contacts == 2) /* walls that differ little */
            world.contact[1].normal = ff_vec3_unit(ff_vec3_axpy(0.5, unit(), world.contact[0].normal));
        make();
        for (int c = 0; c < contacts; c++)
            press(&world.contact[c], ff_vec3_scale(100.0, normal_of(&world.contact[c])));
        const ff_wrench exact[2] = {sample[0].f_b, sample[1].f_b};
        impact_measured m;
        double square[2] = {0}, said[2] = {0};
        for (int n = 0; n < DRAWS; n++) {
            for (int i = 0; i < 2; i++)
                for (int a = 0; a < 3; a++) {
                    sample[i].f_b.f.a[a] = exact[i].f.a[a] + 0.2 * ff_rng_normal(&rng);
                    sample[i].f_b.t.a[a] = exact[i].t.a[a] + 0.2 / sqrt(10.0) * ff_rng_normal(&rng);
                }
            measure(&m);
            for (int c = 0; c < contacts; c++) {
                square[c] += pow(m.force_n[c] - 100.0, 2) / DRAWS;
                said[c] = m.noise[c];
            }
        }
        for (int c = 0; c < contacts; c++)
            assert_near(square[c] / (said[c] * said[c]), 1.0, 4.0 * sqrt(2.0 / DRAWS));
        assert_near(said[0] / 0.2, contacts == 1 ? sqrt(0.5) : said[0] / 0.2, 1e-6);
    }
}

/* The noise that counts: measured in flight where there is real noise, that of the worse sensor. */
static void test_noise_of_a_contact(void **unused) {
    (void)unused;
    for (int why = 0; why < 4; why++) {
        fresh(2);
        world.force_noise = 0.3;
        world.noisy = why > 0;
        plane(0, why == 1 ? -1 : 1, 1e-3);
        make();
        state->noise[0] = why == 3 ? 0.7 : 0.2;
        state->noise[1] = 0.5;
        const double expected[] = {0.3, 0.2, 0.5, 0.7};
        assert_near(ff__impact_noise(&model, state, 0), expected[why], 0.0);
    }
}

/* A force along n at the tip, over the robot's compliance: the tip yields along n by C (w) there. Of both
 * robots, and not where gears are left out. */
static void test_robots_yield(void **unused) {
    (void)unused;
    static double C[2][6][6];
    for (int draw = 0; draw < 30; draw++) {
        fresh(2);
        if (draw % 3 == 2)
            set("gears", 0);
        ff_world_contact *c = plane(0, draw % 2 ? 1 : -1, 1e-3);
        make();
        double expected = 0.0;
        const ff_vec3 n = normal_of(c), tip = ff_pose_apply(ff_rigid_pose(&robot[0]), c->point);
        for (int i = 0; i < 2; i++) {
            double L[6][6];
            for (int a = 0; a < 36; a++)
                (&L[0][0])[a] = 1e-3 * ff_rng_normal(&rng);
            for (int a = 0; a < 6; a++)
                for (int b = 0; b < 6; b++) {
                    C[i][a][b] = 0.0;
                    for (int k = 0; k < 6; k++)
                        C[i][a][b] += L[a][k] * L[b][k];
                }
            sample[i].compliance = (const double(*)[6])C[i];
            if (i == 1 && c->against < 0)
                continue;
            const ff_vec3 r = ff_vec3_sub(tip, robot[i].position), moment = ff_vec3_cross(r, n);
            const double w[6] = {moment.x, moment.y, moment.z, n.x, n.y, n.z};
            double moved[6] = {0};
            for (int a = 0; a < 6; a++)
                for (int b = 0; b < 6; b++)
                    moved[a] += C[i][a][b] * w[b];
            const ff_vec3 turn = ff_vec3_make(moved[0], moved[1], moved[2]),
                          move = ff_vec3_make(moved[3], moved[4], moved[5]);
            expected += ff_vec3_dot(n, ff_vec3_add(move, ff_vec3_cross(turn, r)));
        }
        impact_measured m;
        measure(&m);
        assert_near(m.compliance[0], draw % 3 == 2 ? 0.0 : expected, 1e-12);
    }
}

/* The stiffness that is believed: the contact's, the one that is set, or the slope of force over depth
 * weighed with the guess (its own half as deviation), between a tenth and ten times of it. */
static void test_stiffness_that_is_believed(void **unused) {
    (void)unused;
    double sd;
    fresh(1);
    plane(0, -1, 0.0);
    make();
    assert_near(ff__impact_stiffness(&model, state, 0, &sd), 2e4, 0.0);
    assert_true(sd == 0.0);
    set("stiffness", 3e4);
    make();
    assert_near(ff__impact_stiffness(&model, state, 0, &sd), 3e4, 0.0);
    set("stiffness", FF_INF);
    set("guess", 1e4);
    world.force_noise = 0.1;
    make();
    assert_near(ff__impact_stiffness(&model, state, 0, &sd), 1e4, 1e-9);
    assert_near(sd, 5e3, 1e-9);
    impact_episode *e = &state->episode[0];
    const double s = 0.1 + 1e-3, k = 1.7e4, Sxx = s * s / (4e3 * 4e3); /* data alone: 4000 */
    e->Sxx = Sxx;
    e->Sxy = k * Sxx;
    const double guess = 1.0 / (5e3 * 5e3), data = 1.0 / (4e3 * 4e3);
    assert_near(ff__impact_stiffness(&model, state, 0, &sd), (1e4 * guess + k * data) / (guess + data), 1e-6);
    assert_near(sd, 1.0 / sqrt(guess + data), 1e-6);
    for (int side = 0; side < 2; side++) {
        e->Sxx = 1e12 * Sxx;
        e->Sxy = (side ? 100.0 : 0.01) * 1e4 * e->Sxx;
        assert_near(ff__impact_stiffness(&model, state, 0, &sd), side ? 1e5 : 1e3, 1e-6);
    }
}

/* ---------------------------------------------------------------------------------------------- one contact
 * -- */

static double home;       /* [m] of the CoM along the normal where s = 0 */
static ff_vec3 sides;     /* of it across */
static ff_vec3 beside[2]; /* [N m] torques beside those of the force, own axes */

/* Body 0 does not turn and meets the plane of contact 0 with a tip; the robot's s and s' are given. */
static void one_plane(int against) {
    fresh(against < 0 ? 1 : 2);
    robot[0].omega = robot[0].velocity = ff_vec3_zero();
    if (against >= 0)
        robot[against].omega = robot[against].velocity = ff_vec3_zero();
    const ff_world_contact *c = plane(0, against, 0.0);
    const ff_vec3 n = normal_of(c);
    home = ff_vec3_dot(n, robot[0].position);
    sides = ff_vec3_axpy(-home, n, robot[0].position);
}

static void stand(double s, double v, ff_vec3 slip) {
    const ff_vec3 n = normal_of(&world.contact[0]);
    robot[0].position = ff_vec3_axpy(home - s, n, sides);
    robot[0].velocity = ff_vec3_axpy(-v, n, slip);
}

/* A cycle of contact 0 with this force on the robot; the satellites are where the robot is. */
static impact_look follow_once(ff_vec3 F, bool *bounded) {
    static const ff_rigid_load none[FF_MAX_BODIES];
    for (int i = 0; i < world.bodies; i++)
        sample[i].f_b = ff_wrench_zero();
    press(&world.contact[0], F);
    for (int i = 0; i < world.bodies; i++)
        sample[i].f_b.t = ff_vec3_add(sample[i].f_b.t, beside[i]);
    const uint64_t row = state->history.count;
    assert_int_equal(ff__history_push(&state->history, robot, none), FF_OK);
    impact_measured m;
    measure(&m);
    return ff__impact_follow(&model, state, 0, row, robot, &m, bounded);
}

/* Exact sensors: the first sample tells where the surface lies, f/k - depth, damping taken off (a part of it
 * where it grows with depth); then when it was touched, its friction, the direction of the force and the
 * torque beside it. */
static void test_what_a_contact_tells(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 48; draw++) {
        const bool observer = draw % 4 != 3, grows = draw % 8 > 3, moves = draw % 2;
        one_plane(moves ? 1 : -1);
        ff_world_contact *c = &world.contact[0];
        c->damping = 300.0;
        c->satellite_damping = 77.0;
        c->damping_depth = grows ? 2e-3 : 0.0;
        c->friction = 0.2;
        if (!observer)
            set("observer", 0);
        static const double C[6][6] = {[3] = {[3] = 1e-5}, [4] = {[4] = 1e-5}, [5] = {[5] = 1e-5}};
        const bool yields = draw % 5 == 4; /* the robot itself: 1/k and 1e-5 in series */
        const double k_e = yields ? 1.0 / (1.0 / 2e4 + 1e-5) : 2e4;
        sample[0].compliance = yields ? C : NULL;
        const double given = draw % 6 == 5 ? 0.8 : FF_NAN;
        if (!isnan(given))
            set("restitution", given);
        make();
        const ff_vec3 n = normal_of(c), along = ff_vec3_unit(ff_vec3_cross(n, unit()));
        const double off = ff_rng_range(&rng, -1e-3, 1e-3), v0 = 0.05, w = 10.0, first = 0.3 * T;
        const double mu = draw % 3 ? 0.1 : 0.3; /* the scenario's 0.2 is the most */
        const impact_episode *e = &state->episode[0];
        bool bounded = false;
        beside[0] = test_random_vec3(&rng, 1.0);
        beside[1] = test_random_vec3(&rng, 1.0);
        for (int k = -3; k < 40; k++) {
            const double t = k * T + first, p = k < 0 ? v0 * t : v0 / w * sin(w * t),
                         v = k < 0 ? v0 : v0 * cos(w * t);
            const double q = grows ? fmin(1.0, fmax(0.0, p / 2e-3)) : 1.0;
            const double damper = 300.0 * q * q * (3.0 - 2.0 * q) * v, f = k < 0 ? 0.0 : k_e * p + damper;
            stand(p - off, v, ff_vec3_scale(0.03, along));
            const impact_look asks = follow_once(ff_vec3_scale(f, ff_vec3_axpy(-mu, along, n)), &bounded);
            assert_int_equal(e->open, k >= 0);
            assert_int_equal(e->touching, k >= 0);
            if (k < 0) {
                assert_int_equal(asks, LOOK_NOT);
                continue;
            }
            if (k == 0) {
                assert_int_equal(asks, LOOK_NOW);
                /* of the first sample the damping's part is judged by where it believes the surface: nowhere
                 * yet */
                const double believed = grows ? fmin(1.0, fmax(0.0, (p - off) / 2e-3)) : 1.0;
                const double part = believed * believed * (3.0 - 2.0 * believed);
                const double spring = f - (observer ? 300.0 * part * v : 0.0);
                assert_near(e->estimate, spring / k_e - (p - off), 1e-9);
                assert_near(e->since, fmin(T, spring / (k_e * v)), 1e-9);
                assert_near(e->offset, e->estimate, 0.0);
                assert_int_equal(e->begin, 3);
                assert_near(e->damping,
                            isnan(given)
                                ? 77.0
                                : 2.0 * ff_contact_damping_ratio(given) *
                                      sqrt(1e4 / ff__impact_mobility(&model, 0, robot,
                                                                     &(ff__touch){.n = n, .tip = n})),
                            1e-9);
            }
            assert_near(e->force, f, 1e-6 * f + 1e-9);
            assert_near(e->mu_found, fmin(mu, 0.2), 1e-9);
            const ff_vec3 F_b = ff_vec3_unit(ff_vec3_axpy(-mu, along, n));
            assert_vec3_near(e->n_o, moves ? ff_quat_unrotate(robot[1].attitude, F_b) : F_b, 1e-9);
            assert_vec3_near(e->rest_b[0], beside[0], 1e-9);
            assert_vec3_near(e->rest_b[1], moves ? beside[1] : ff_vec3_zero(), 1e-9);
            assert_true(e->quiet == 0 && e->last == (uint64_t)(k + 3));
        }
        if (observer && !grows)
            assert_near(e->estimate, off, 1e-9);
        assert_false(bounded);
        assert_near(e->stiffness, k_e, 1e-6);
        /* the slope of force over depth, about the means */
        if (observer && !grows)
            assert_near(e->Sxy / e->Sxx, k_e, 1e-3);
    }
}

/* Noise and a random walk: the filter's variance is that of a scalar Kalman filter, and the offset its mean.
 */
static void test_offset_is_filtered(void **unused) {
    (void)unused;
    beside[0] = beside[1] = ff_vec3_zero();
    one_plane(-1);
    world.force_noise = 0.4;
    set("drift", 1e-3);
    set("position_error", 5e-3);
    make();
    bool bounded = false;
    double variance = 5e-3 * 5e-3, mean = 0.0;
    const double R = pow(0.4 / 2e4, 2) + 1e-24;
    for (int k = 0; k < 30; k++) {
        const double p = 2e-3 + 1e-5 * k, f = 2e4 * p + 0.4 * ff_rng_normal(&rng);
        stand(p - 3e-4, 2.5e-3, ff_vec3_zero());
        follow_once(ff_vec3_scale(f, normal_of(&world.contact[0])), &bounded);
        variance += 1e-6 * T;
        const double gain = variance / (variance + R);
        mean += gain * (f / 2e4 - (p - 3e-4) - mean);
        variance *= 1.0 - gain;
        assert_near(state->episode[0].estimate, mean, 1e-12);
        assert_near(state->episode[0].variance / variance, 1.0, 1e-9);
    }
    assert_near(mean, 3e-4, 5.0 * sqrt(variance + R));
    one_plane(-1); /* exact sensors, a surface that stays: the mean of n samples, never without a variance */
    set("drift", 0.0);
    set("position_error", 1e-12);
    make();
    for (int k = 1; k < 10; k++) {
        stand(2e-3, 1e-3, ff_vec3_zero());
        follow_once(ff_vec3_scale(40.0, normal_of(&world.contact[0])), &bounded);
        assert_near(state->episode[0].variance * (k + 1) / 1e-24, 1.0, 1e-6);
    }
    one_plane(1); /* the body's own sensor shows nothing: no direction */
    make();
    stand(2e-3, 1e-3, ff_vec3_zero());
    follow_once(ff_vec3_scale(40.0, normal_of(&world.contact[0])), &bounded);
    const ff_vec3 direction = state->episode[0].n_o;
    impact_measured m;
    sample[0].f_b = ff_wrench_zero();
    measure(&m);
    ff__impact_follow(&model, state, 0, 1, robot, &m, &bounded);
    assert_true(state->episode[0].touching);
    assert_vec3_near(state->episode[0].n_o, direction, 0.0);
    fresh(2); /* a plane of the body that has the number 0 */
    robot[0].omega = robot[0].velocity = robot[1].omega = robot[1].velocity = ff_vec3_zero();
    plane(1, 0, 2e-3);
    make();
    follow_once(ff_vec3_scale(40.0, normal_of(&world.contact[0])), &bounded);
    assert_vec3_near(state->episode[0].n_o, world.contact[0].normal, 1e-9);
}

/* One force, two causes: nothing is learnt of friction where another contact bears on the body, too. And a
 * body has no report of its own. */
static void test_friction_of_two_contacts_is_not_learnt(void **unused) {
    (void)unused;
    for (int both = 0; both < 2; both++) {
        one_plane(-1);
        world.contact[0].friction = 0.2;
        ff_world_contact *second = plane(0, -1, both ? 1e-3 : -0.05); /* pressed, or far away */
        make();
        const ff_vec3 n = normal_of(&world.contact[0]), along = ff_vec3_unit(ff_vec3_cross(n, unit()));
        bool bounded = false;
        stand(1e-3, 0.01, ff_vec3_scale(0.03, along));
        press(&world.contact[0], ff_vec3_scale(20.0, ff_vec3_axpy(-0.1, along, n)));
        if (both)
            press(second, ff_vec3_scale(15.0, second->normal));
        impact_measured m;
        measure(&m);
        m.force_n[0] = 20.0; /* however they are divided */
        m.force_n[1] = both ? 15.0 : 0.0;
        ff__impact_follow(&model, state, 0, 0, robot, &m, &bounded);
        assert_true(state->episode[0].touching);
        assert_near(state->episode[0].mu_xx, both ? 0.0 : 400.0, 1e-9);
        double values[8] = {7, 7, 7, 7, 7, 7, 7, 7};
        ff_method_impact.report(&model, state, 0, values);
        for (int i = 0; i < 8; i++)
            assert_true(values[i] == 7);
    }
}

/* Begins above the threshold, lasts down to its half while the robot stands in the surface, ends when robot
 * and satellite are out for as many cycles as the detector wants; then it stays known for as long as the
 * history. */
static void test_when_a_contact_begins_and_ends(void **unused) {
    (void)unused;
    for (int noisy = 0; noisy < 3; noisy++) {
        one_plane(-1);
        world.force_noise = 0.1;
        world.noisy = noisy > 0;
        if (noisy == 2)
            set("threshold", 0.5);
        make();
        const double noise = noisy == 1 ? 0.3 : 0.1;
        detected[0] = (ff_detection){.force_on = 0.5, .force_noise = noisy ? noise : 0.0};
        const double on = noisy == 1 ? 5.0 * noise : 0.5; /* a number that is given stands */
        const ff_vec3 n = normal_of(&world.contact[0]);
        const impact_episode *e = &state->episode[0];
        bool bounded = false;
        stand(on / 2e4, 1e-3, ff_vec3_zero());
        follow_once(ff_vec3_scale(0.99 * on, n), &bounded);
        assert_false(e->open);
        follow_once(ff_vec3_scale(1.01 * on, n), &bounded);
        assert_true(e->open && e->touching);
        const double off = model.detector.off_ratio;
        assert_true(off > 0.0 && off < 1.0);
        follow_once(ff_vec3_scale(1.01 * off * on, n), &bounded);
        assert_true(e->touching);
        follow_once(ff_vec3_scale(0.99 * off * on, n), &bounded);
        assert_true(e->open && !e->touching);
        stand(-5e-3, -1e-3, ff_vec3_zero()); /* the robot is out: a force between the thresholds is noise */
        follow_once(ff_vec3_scale(1.01 * off * on, n), &bounded);
        assert_false(e->touching);
        for (int k = 2; k < model.detector.quiet_cycles; k++) {
            follow_once(ff_vec3_zero(), &bounded);
            assert_true(e->open);
        }
        follow_once(ff_vec3_zero(), &bounded);
        assert_true(!e->open && e->known);
        const uint64_t last = e->last;
        while (state->history.count < last + HISTORY_ROWS) {
            assert_true(e->known);
            follow_once(ff_vec3_zero(), &bounded);
        }
        follow_once(ff_vec3_zero(), &bounded);
        assert_false(e->known);
    }
}

/* When what is known better is worth the past: at once in the first 63 cycles, spread over cycles later,
 * never beyond the look-back; while there will be more soon it waits for a sixteenth of its age. */
static void test_when_the_past_is_looked_at(void **unused) {
    (void)unused;
    one_plane(-1);
    set("look_back", 200 * T);
    make();
    const ff_vec3 n = normal_of(&world.contact[0]);
    assert_near(ff__impact_look_back(&model), 200.0, 0.0);
    impact_episode *e = &state->episode[0];
    bool bounded = false;
    for (int k = 0; k <= 205; k++) {
        const bool shifts = k == 0 || k == 20 || k == 63 || k == 64 || k == 200 || k == 201;
        if (k) /* long after the last time, unless the pace is asked */
            state->looked = k == 20 ? 19 : 0;
        stand(2e-3 - (shifts && k ? 1e-5 * k : 0.0), 1e-3, ff_vec3_zero());
        e->variance = 1e-4; /* each sample counts whole */
        const impact_look asks = follow_once(ff_vec3_scale(40.0, n), &bounded);
        if (k > 0 && !shifts && fabs(e->estimate - e->offset) < 1e-12)
            assert_int_equal(asks, LOOK_NOT);
        if (k == 0 || k == 63)
            assert_int_equal(asks, LOOK_NOW);
        if (k == 20) { /* one cycle of sixteen rows is less than twenty */
            assert_int_equal(asks, LOOK_NOT);
            assert_true(e->again && e->offset != e->estimate);
        }
        if (k == 64 || k == 200) {
            assert_int_equal(asks, LOOK_SPREAD);
            assert_true(e->offset != e->estimate); /* until it is done */
        }
        assert_int_equal(bounded, k >= 201);
        if (k == 201)
            assert_int_equal(asks, LOOK_NOT);
    }
    one_plane(-1);
    set("recomputation", 0);
    make();
    stand(2e-3, 1e-3, ff_vec3_zero());
    assert_int_equal(follow_once(ff_vec3_scale(50.0, normal_of(&world.contact[0])), &bounded), LOOK_NOT);
    assert_near(state->episode[0].offset, 5e-4, 1e-9); /* taken as it is */
    one_plane(-1);
    make();
    assert_near(ff__impact_look_back(&model), HISTORY_ROWS - 1, 0.0);
}

/* ------------------------------------------------------------------------------------------------ the past
 * -- */

/* Body 0 without turning meets one or two walls square to each other with its CoM: each axis is a half sine.
 */
static void corner(double w, double v) {
    fresh(1);
    robot[0] = (ff_rigid_state){.attitude = {1, 0, 0, 0}, .velocity = {{-v, -v, 0}}};
    for (int c = 0; c < 2; c++) {
        ff_world_contact *x = plane(0, -1, 0.0);
        x->point = x->at = x->normal = ff_vec3_zero();
        x->normal.a[c] = 1.0;
        x->satellite_stiffness = world.body[0].rigid.mass * w * w;
    }
}

/* Flies on for so many rows; the robot stands where the row before left it. */
static void fly(int rows, ff_vec3 from) {
    static const ff_rigid_load none[1];
    for (int k = 0; k < rows; k++) {
        robot[0].position = ff_vec3_axpy((double)state->history.count * T, robot[0].velocity, from);
        assert_int_equal(ff__history_push(&state->history, robot, none), FF_OK);
    }
}

/* Along axis c of the history's row k, contact met at time t0. */
static void assert_half_sine(const ff_rigid_state *x, int c, double t, double t0, double w, double v) {
    const double u = t - t0, end = FF_PI / w;
    const double p = u < 0.0 ? -v * u : u < end ? -v / w * sin(w * u) : v * (u - end);
    const double s = u < 0.0 ? -v : u < end ? -v * cos(w * u) : v;
    assert_near(x->position.a[c], p,
                1e-5 * v / w + 5e-5 * v * fmax(0.0, u - end)); /* of the march: test_march.c */
    assert_near(x->velocity.a[c], s, 5e-5 * v);
}

static void know(int c, uint64_t begin) {
    state->episode[c] = (impact_episode){.open = true, .known = true, .begin = begin, .last = begin};
}

static void test_the_past_with_a_contact(void **unused) {
    (void)unused;
    const double w = 20.0, v = 0.05;
    for (int draw = 0; draw < 12; draw++) {
        corner(w, v);
        make();
        const double t0[2] = {ff_rng_range(&rng, 0.1, 0.2), draw % 2 ? ff_rng_range(&rng, 0.1, 0.2) : 10.0};
        fly(88, ff_vec3_make(v * t0[0], v * t0[1], 0));
        const uint64_t now = state->history.count - 1;
        know(0, now);
        if (draw % 2)
            know(1, now);
        ff_rigid_state body[1] = {robot[0]};
        bool bounded = false;
        const int rows = ff__impact_recompute(&model, state, now, draw % 2 ? 3 : 1, 0, body, &bounded);
        const uint64_t begin = (uint64_t)(fmin(t0[0], t0[1]) / T);
        assert_int_equal(rows, (int)(now - begin));
        assert_int_equal(state->episode[0].begin, (uint64_t)(t0[0] / T));
        for (uint64_t k = begin + 1; k <= now; k++) {
            const ff_rigid_state *x = &ff__history_at(&state->history, 0, k)->body;
            assert_half_sine(x, 0, (double)k * T, t0[0], w, v);
            if (draw % 2)
                assert_half_sine(x, 1, (double)k * T, t0[1], w, v);
            else
                assert_near(x->velocity.y, -v, 1e-15);
        }
        assert_memory_equal(body, &ff__history_at(&state->history, 0, now)->body, sizeof body[0]);
        assert_false(bounded);
        /* the same again: nothing begins */
        know(0, now);
        state->episode[0].offset = -10.0; /* far from it */
        state->episode[1].known = false;
        assert_int_equal(ff__impact_recompute(&model, state, now, 1, 0, body, &bounded), 0);
    }
}

/* Inside for longer than the look-back: the surface stands where the satellite was then, and no energy comes
 * out of nothing. */
static void test_the_past_is_too_short(void **unused) {
    (void)unused;
    const double w = 20.0, v = 0.05;
    corner(w, v);
    set("look_back", 20 * T);
    make();
    fly(101, ff_vec3_make(v * 60 * T, 1.0, 0));
    know(0, 100);
    ff_rigid_state body[1] = {robot[0]};
    bool bounded = false;
    assert_int_equal(ff__impact_recompute(&model, state, 100, 1, 0, body, &bounded), 20);
    assert_true(bounded && state->episode[0].begin == 80);
    assert_near(state->episode[0].offset, -20 * T * v, 1e-12);
    body[0].position.x += 20 * T * v; /* from row 80 on, where the surface is taken to be */
    assert_half_sine(body, 0, 100 * T, 80 * T, w, v);
}

/* More rows than a cycle may: a part in each, the satellites and their surface as they are until it has come
 * to the present; another contact that begins meanwhile joins it. */
static void test_a_long_past_is_spread_over_cycles(void **unused) {
    (void)unused;
    const double w = 5.0, v = 0.02;
    for (int joins = 0; joins < 3; joins++) {
        corner(w, v);
        make();
        const double t0[2] = {20.4 * T, 80.7 * T};
        const ff_vec3 from = ff_vec3_make(v * t0[0], v * t0[1], 0);
        fly(121, from);
        uint64_t now = 120;
        know(0, joins == 2 ? now : 40); /* found by a look back that is too long, or known to be old */
        state->episode[0].estimate = 0.0;
        ff_rigid_state body[1] = {robot[0]};
        bool bounded = false;
        int rows =
            ff__impact_recompute(&model, state, now, joins == 2 ? 1 : 0, joins == 2 ? 0 : 1, body, &bounded);
        assert_true(rows == 0 && state->replay.running && state->replay.start == 20);
        assert_int_equal(state->replay.at, 20 + REPLAY_ROWS);
        assert_memory_equal(body, &robot[0], sizeof body[0]);
        if (joins == 2) /* meanwhile no force: the surface stands where the satellite is */
            assert_near(state->episode[0].offset, -(120 - 20.4) * T * v, 1e-9);
        int cycles = 1;
        while (rows == 0) {
            fly(1, from);
            now++;
            unsigned looks = 0;
            if (joins == 1 && cycles == 1) { /* its begin lies behind what is done */
                know(1, now);
                looks = 2;
            }
            body[0] = robot[0];
            rows = ff__impact_recompute(&model, state, now, looks, 0, body, &bounded);
            assert_true(++cycles < 10);
        }
        assert_false(state->replay.running);
        assert_int_equal(rows, (int)now - 20);
        for (uint64_t k = 21; k <= now; k++)
            assert_half_sine(&ff__history_at(&state->history, 0, k)->body, 0, (double)k * T, t0[0], w, v);
        if (joins == 1)
            assert_half_sine(body, 1, (double)now * T, t0[1], w, v);
        else
            assert_near(body[0].velocity.y, -v, 1e-15);
        assert_memory_equal(body, &ff__history_at(&state->history, 0, now)->body, sizeof body[0]);
        assert_near(state->episode[0].offset, 0.0, 1e-12); /* what it was computed with */
        assert_true(state->episode[0].again);
    }
}

/* A contact that opens while a long recomputation runs acts in it from its own begin on, and one that is over
 * only as far as its last row. */
static void test_contacts_of_a_recomputation(void **unused) {
    (void)unused;
    const double w = 5.0, v = 0.02;
    corner(w, v);
    make();
    const ff_vec3 from = ff_vec3_make(v * 20.4 * T, v * 100.5 * T, 0);
    fly(121, from);
    know(0, 40);
    know(1, 10); /* long over before the first began */
    state->episode[1].open = false;
    state->episode[1].last = 15;
    state->episode[0].mu_found = 0.07;
    ff_rigid_state body[1] = {robot[0]};
    bool bounded = false;
    assert_int_equal(ff__impact_recompute(&model, state, 120, 0, 1, body, &bounded), 0);
    assert_int_equal(state->replay.contacts, 1);
    know(1, 100); /* it opens again, after what is done so far */
    state->episode[1].offset = 1e-3;
    state->episode[1].mu = 0.1;
    fly(1, from);
    body[0] = robot[0];
    ff__impact_recompute(&model, state, 121, 0, 0, body, &bounded);
    assert_int_equal(state->replay.contacts, 3);
    assert_near(state->replay.offset[1], 1e-3, 0.0);
    assert_near(state->replay.mu[1], 0.1, 0.0);
    assert_int_equal(state->replay.start, 20);
    for (uint64_t now = 122; state->replay.running && now < 130; now++) {
        fly(1, from);
        ff__impact_recompute(&model, state, now, 0, 0, body, &bounded);
    }
    assert_false(state->replay.running); /* with what it was computed, they continue */
    assert_true(state->episode[0].mu == 0.07 && state->episode[1].mu == 0.1 &&
                state->episode[1].offset == 1e-3);
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 83);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrenches_are_divided),
        cmocka_unit_test(test_no_contact_pulls),
        cmocka_unit_test(test_noise_of_the_shares),
        cmocka_unit_test(test_noise_of_a_contact),
        cmocka_unit_test(test_robots_yield),
        cmocka_unit_test(test_stiffness_that_is_believed),
        cmocka_unit_test(test_what_a_contact_tells),
        cmocka_unit_test(test_offset_is_filtered),
        cmocka_unit_test(test_friction_of_two_contacts_is_not_learnt),
        cmocka_unit_test(test_when_a_contact_begins_and_ends),
        cmocka_unit_test(test_when_the_past_is_looked_at),
        cmocka_unit_test(test_the_past_with_a_contact),
        cmocka_unit_test(test_the_past_is_too_short),
        cmocka_unit_test(test_a_long_past_is_spread_over_cycles),
        cmocka_unit_test(test_contacts_of_a_recomputation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
