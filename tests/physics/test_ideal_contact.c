/* The reference's contacts against closed forms and conservation. */
#include "ideal_support.h"

/* [lange, IV-C] restitution of a spring-damper contact released at zero force. */
static double restitution(double z) {
    return exp(-(FF_PI - 2.0 * asin(z)) * z / sqrt(1.0 - z * z));
}

static void test_wall_rebound_is_the_closed_form(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int i = 0; i < test_count(40, 400); i++) {
        const double m = pow(10, ff_rng_range(&rng, 0, 4)), f = pow(10, ff_rng_range(&rng, -0.7, 1.3)),
                     w = 2 * FF_PI * f, k = m * w * w, z = i % 4 ? ff_rng_range(&rng, 0, 0.6) : 0.0,
                     c = 2 * z * sqrt(k * m), v = pow(10, ff_rng_range(&rng, -3, 0));
        ff_scenario s;
        make_scenario(&s, 0.004, 6);
        ff_satellite *b = add_body(&s, m, random_inertia(&rng, m));
        b->start.attitude = test_random_quat(&rng);
        const ff_vec3 n = ff_vec3_unit(test_random_vec3(&rng, 1)), at = test_random_vec3(&rng, 3);
        const ff_vec3 along = ff_vec3_cross(n, test_random_vec3(&rng, v));
        b->start.velocity = ff_vec3_axpy(-v, n, along);
        const double t0 = ff_rng_range(&rng, 0.2, 2);
        b->start.position =
            ff_vec3_axpy(v * t0, n, ff_vec3_add(at, ff_vec3_cross(n, test_random_vec3(&rng, 1))));
        ff_contact *wall = add_contact(&s, FF_CONTACT_WALL, k, c);
        wall->at = at;
        wall->normal = n;
        wall->stiffness *= 7; /* the mock-ups' own contact is not the reference's */
        wall->damping += 3;
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        assert_int_equal(r.contacts, 1);
        const double e = restitution(z), wd = w * sqrt(1 - z * z), T = (FF_PI - 2 * asin(z)) / wd;
        const ff_ideal_contact *hit = &r.contact[0];
        assert_near(hit->start, t0, 1e-12 * (1 + 3 / v));
        assert_near(hit->end - hit->start, T, 1e-9 * T + 1e-12 * (1 + 3 / v));
        assert_vec3_near(hit->before[0].velocity, b->start.velocity, 1e-15 + 1e-13 * v);
        const ff_vec3 after = ff_vec3_axpy(e * v, n, along);
        /* positions of some metres are rounded at 1e-15 m a step, which w turns into speed */
        const double near = 1e-9 * v + 2e-14 * w;
        assert_vec3_near(hit->after[0].velocity, after, near);
        assert_vec3_near(state_of(&r, s.cycles, 0)->velocity, after, near);
        assert_vec3_near(hit->after[0].omega, ff_vec3_zero(), 1e-12);
        /* x = (v/wd) exp(-z w t) sin(wd t) and F = -m x'' give F = (m v w / sqrt(1 - z^2)) exp(-z w t)
         * sin(wd t + phi), sin phi = 2 z sqrt(1 - z^2); its maximum is inside, or c v at the start. */
        const double phi = 2 * asin(z), tp = (acos(z) - phi) / wd;
        const double peak =
            tp > 0 ? m * v * w * exp(-z * w * tp) * sin(wd * tp + phi) / sqrt(1 - z * z) : c * v;
        assert_near(hit->peak_force / peak, 1, 1e-9);
        if (z == 0)
            assert_near(hit->peak_force / (v * sqrt(k * m)), 1, 1e-9);
        /* The sampled load is the law at the sampled state. */
        for (uint64_t j = 0; j < r.samples; j++) {
            const ff_rigid_state *x = state_of(&r, j, 0);
            const double d = -ff_vec3_dot(n, ff_vec3_sub(x->position, at)), u = -ff_vec3_dot(n, x->velocity);
            const double t = (double)j * s.cycle;
            const double F = t > hit->start && t < hit->end ? fmax(0, k * d + c * u) : 0;
            assert_vec3_near(r.contact_load[j].force, ff_vec3_scale(F, n), 1e-12 * k);
            assert_vec3_near(r.contact_load[j].torque, ff_vec3_zero(), 0);
        }
        ff_ideal_free(&r);
    }
}

/* Off-centre hits without friction: linear momentum along the wall, angular momentum about the contact's
 * normal, energy; the impulse is that of the closed form e = 1 with the effective mass when the contact is so
 * short that the body does not turn meanwhile. */
static void test_off_centre_hit_conserves_and_has_the_effective_mass(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    for (int i = 0; i < test_count(20, 200); i++) {
        const bool stiff = i % 2 == 0;
        const double m = pow(10, ff_rng_range(&rng, 0, 3)), v = 0.1, k = m * (stiff ? 1e10 : 900.0);
        ff_scenario s;
        make_scenario(&s, 0.004, 2);
        ff_satellite *b = add_body(&s, m, random_inertia(&rng, 0.3 * m));
        b->start.attitude = test_random_quat(&rng);
        b->start.omega = test_random_vec3(&rng, 0.03);
        ff_contact *wall = add_contact(&s, FF_CONTACT_WALL, k, 0);
        wall->normal = ff_vec3_unit(test_random_vec3(&rng, 1));
        wall->point = test_random_vec3(&rng, 0.5);
        const ff_vec3 n = wall->normal, along = ff_vec3_cross(n, test_random_vec3(&rng, v));
        b->start.velocity = ff_vec3_axpy(-v, n, along);
        wall->at = ff_vec3_axpy(-0.05, n, ff_pose_apply(ff_rigid_pose(&b->start), wall->point));
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        assert_true(r.contacts >= 1);
        const ff_ideal_contact *hit = &r.contact[0];
        ff_rigid_model model;
        assert_int_equal(ff_rigid_create(&b->rigid, &model), FF_OK);
        const double E0 = ff_rigid_kinetic_energy(&model, &b->start);
        /* After every contact all energy is back. A stiff one is 1 um deep, half a metre from the origin: the
         * depth itself is known to 1e-10. */
        for (int j = 0; j < r.contacts; j++)
            if (isfinite(r.contact[j].end))
                assert_near(ff_rigid_kinetic_energy(&model, &r.contact[j].after[0]) / E0, 1,
                            stiff ? 1e-8 : 1e-10);
        const ff_vec3 dv = ff_vec3_sub(hit->after[0].velocity, hit->before[0].velocity);
        assert_vec3_near(ff_vec3_cross(n, dv), ff_vec3_zero(), 1e-12 * v);
        /* L about the origin along n: the force has no moment about its own direction through any point, only
         * the CoM's share p x m v and the spin's exchange; their sum along n is kept */
        const ff_rigid_state *x0 = &hit->before[0], *x1 = &hit->after[0];
        const ff_vec3 L0 = ff_rigid_angular_momentum(&model, x0), L1 = ff_rigid_angular_momentum(&model, x1);
        assert_near(ff_vec3_dot(n, L1), ff_vec3_dot(n, L0), 1e-11 * (ff_vec3_norm(L0) + ff_vec3_norm(L1)));
        if (stiff) {
            /* 1/m_e = 1/m + (r x n).I^-1 (r x n), impulse 2 m_e u, u the approach of the point */
            const ff_vec3 rn = ff_vec3_cross(wall->point, ff_quat_unrotate(x0->attitude, n));
            const ff_vec3 spin = ff_mat3_apply(&model.inertia_inv, rn);
            const double me = 1.0 / (1.0 / m + ff_vec3_dot(rn, spin));
            const double u = -ff_vec3_dot(n, ff_rigid_point_velocity(x0, wall->point));
            const ff_vec3 w1 = ff_vec3_axpy(2 * me * u, spin, x0->omega);
            /* the body turns by about w T, T = 3e-5 s: that is the error of the closed form */
            assert_vec3_near(dv, ff_vec3_scale(2 * me * u / m, n), 1e-4 * v);
            assert_vec3_near(x1->omega, w1, 1e-4 * (v + 0.1));
            assert_near(hit->peak_force / (u * sqrt(k * me)), 1, 1e-4);
            assert_near((hit->end - hit->start) / (FF_PI * sqrt(me / k)), 1, 1e-4);
        }
        ff_ideal_free(&r);
    }
}

/* A lossless wall at 45 degrees hit with [.1, 0, 0] sends the body along [0, .1, 0]. */
static void test_oblique_wall_turns_the_velocity(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 6);
    add_body(&s, 280, ff_mat3_diag(18, 20, 22))->start.velocity = ff_vec3_make(0.1, 0, 0);
    ff_contact *wall = add_contact(&s, FF_CONTACT_WALL, 2000, 0);
    wall->normal = ff_vec3_make(-sqrt(0.5), sqrt(0.5), 0);
    wall->at = ff_vec3_make(0.1, 0, 0);
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 1);
    assert_vec3_near(r.contact[0].after[0].velocity, ff_vec3_make(0, 0.1, 0), 1e-11);
    ff_ideal_free(&r);
}

/* [he2022, (23), (24), 4.1] 300 and 4000 kg at 0.02 m/s, 70 N/mm, damping growing to 0.1 N s/mm at
 * p_max = v sqrt(m_e/k) = 1.263 mm: restitution .98564 (readings.md). To first order the loss is that of the
 * damping weighted with cos^2 over half a period: e = exp(-(3/4 - 16/(15 pi)) pi z). */
static void test_he2022_damping_grows_with_depth(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.001, 4);
    ff_satellite *a = add_body(&s, 300, ff_mat3_diag(98, 98, 98)),
                 *b = add_body(&s, 4000, ff_mat3_diag(3684, 3684, 3684));
    const double me = 300.0 * 4000 / 4300, k = 70000, v = 0.02, pmax = v * sqrt(me / k);
    assert_near(pmax, 1.263e-3, 5e-7);
    a->start.position.z = -0.01;
    a->start.velocity.z = v;
    b->start.position.z = 1;
    ff_contact *c = add_contact(&s, FF_CONTACT_PAIR, k, 100);
    c->at = ff_vec3_make(0, 0, -1);
    c->damping_depth = pmax;
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 1);
    const double e = (r.contact[0].after[1].velocity.z - r.contact[0].after[0].velocity.z) / v;
    assert_near(e, .98564, 5e-6);
    const double z = 100 / (2 * sqrt(k * me));
    assert_near(e, exp(-(0.75 - 16 / (15 * FF_PI)) * FF_PI * z), 2 * z * z);
    ff_ideal_free(&r);
}

/* destefano2019 VII, readings.md: z speed after the first contact .01979; its closed form along z. */
static void test_destefano2019_stops(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 30);
    ff_satellite *b = add_body(&s, 280, ff_mat3_diag(18, 20, 22));
    b->start.velocity = ff_vec3_make(.01, .015, .02);
    b->start.omega = ff_vec3_make(.01, .02, .03);
    ff_contact *c = add_contact(&s, FF_CONTACT_STOPS, 2000, 5);
    c->stop_position = ff_vec3_make(.03, .03, .03);
    c->stop_rotation = ff_vec3_make(.05, .05, .05);
    c->rotation_stiffness = 60;
    c->rotation_damping = 0.1;
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    print_message("VII, 30 s: %llu steps, %llu events, %d contacts\n", (unsigned long long)r.steps,
                  (unsigned long long)r.events, r.contacts);
    /* each axis alone: it comes back from its stop as from a wall. z starts at 1.5 s and its contact lasts
     * about pi sqrt(m/k) = 1.175 s, so at 3 s it is on its way back */
    const double w = sqrt(2000.0 / 280), z = 5 / (2 * sqrt(2000.0 * 280));
    const double e = restitution(z);
    assert_near(e * .02, .01979, 5e-6);
    assert_near(state_of(&r, 750, 0)->velocity.z, -e * .02, 1e-11);
    /* y is the same with its own speed, its contact from 2 s to 3.18 s; x from 3 s to 4.18 s */
    assert_near(state_of(&r, 850, 0)->velocity.y, -e * .015, 1e-11);
    assert_near(state_of(&r, 1100, 0)->velocity.x, -e * .01, 1e-11);
    const double wd = w * sqrt(1 - z * z), u = 0.5;
    assert_near(state_of(&r, 500, 0)->velocity.z,
                .02 * exp(-z * w * u) * (cos(wd * u) - z / sqrt(1 - z * z) * sin(wd * u)), 1e-11);
    assert_near(r.contact[0].start, 1.5, 1e-11);
    /* one record while any axis pushes */
    for (int i = 1; i < r.contacts; i++)
        assert_true(r.contact[i].start - r.contact[i - 1].end >= 5 * s.cycle);
    ff_ideal_free(&r);
}

/* A stop that only turns: the same closed form about one axis. */
static void test_stops_turn_back(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            ff_scenario s;
            make_scenario(&s, 0.004, 6);
            const ff_vec3 I = ff_vec3_make(18, 20, 22);
            ff_satellite *b = add_body(&s, 280, ff_mat3_diag(18, 20, 22));
            b->start.omega.a[axis] = sign * 0.03;
            ff_contact *c = add_contact(&s, FF_CONTACT_STOPS, 2000, 5);
            c->stop_rotation.a[axis] = 0.05;
            c->rotation_stiffness = 60;
            c->rotation_damping = 2;
            ff_ideal_result r;
            solve_or_fail(&s, &r);
            assert_int_equal(r.contacts, 1);
            const double z = 2 / (2 * sqrt(60 * I.a[axis])), w = sqrt(60 / I.a[axis]);
            ff_vec3 after = ff_vec3_zero();
            after.a[axis] = -sign * 0.03 * restitution(z);
            assert_near(r.contact[0].start, 0.05 / 0.03, 1e-10);
            assert_near(r.contact[0].end - r.contact[0].start, (FF_PI - 2 * asin(z)) / (w * sqrt(1 - z * z)),
                        1e-9);
            assert_vec3_near(r.contact[0].after[0].omega, after, 1e-11);
            assert_vec3_near(state_of(&r, s.cycles, 0)->omega, after, 1e-11);
            assert_near(r.contact[0].peak_force, 0, 0);
            ff_ideal_free(&r);
        }
}

static ff_vec3 whole_momentum(const ff_ideal_result *r, uint64_t k, const ff_rigid_model *model,
                              ff_vec3 *angular) {
    ff_vec3 P = ff_vec3_zero();
    *angular = ff_vec3_zero();
    for (int i = 0; i < r->bodies; i++) {
        const ff_rigid_state *x = state_of(r, k, i);
        const ff_vec3 mv = ff_vec3_scale(model[i].mass, x->velocity);
        P = ff_vec3_add(P, mv);
        *angular = ff_vec3_add(
            *angular, ff_vec3_add(ff_vec3_cross(x->position, mv), ff_rigid_angular_momentum(&model[i], x)));
    }
    return P;
}

/* Two tumbling bodies, off-centre, against a plane or in a cone, with damping and friction: momentum and
 * angular momentum about the origin are kept at every sample; without losses the energy too. */
static void test_pairs_and_cones_keep_momentum(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    int hits = 0, cone_hits = 0;
    for (int i = 0; i < test_count(30, 400); i++) {
        const bool lossless = i % 3 == 0, cone = i % 2;
        ff_scenario s;
        make_scenario(&s, 0.004, 12);
        ff_rigid_model model[2];
        for (int j = 0; j < 2; j++) {
            const double m = pow(10, ff_rng_range(&rng, 1, 3));
            ff_satellite *b = add_body(&s, m, random_inertia(&rng, 0.2 * m));
            b->start.omega = test_random_vec3(&rng, 0.05);
            b->start.velocity = test_random_vec3(&rng, 0.01);
            assert_int_equal(ff_rigid_create(&b->rigid, &model[j]), FF_OK);
        }
        s.satellite[0].start.attitude = ff_quat_exp(test_random_vec3(&rng, 0.2));
        s.satellite[1].start.attitude = ff_quat_exp(test_random_vec3(&rng, 0.2));
        s.satellite[1].start.position.z = 2;
        s.satellite[0].start.velocity.z += 0.08;
        ff_contact *c = add_contact(&s, cone ? FF_CONTACT_CONE : FF_CONTACT_PAIR, 3000, lossless ? 0 : 60);
        c->point = ff_vec3_make(0.1, 0.05, 0.7);
        c->at = ff_vec3_make(0, 0, -1.1);
        c->normal = ff_vec3_unit(ff_vec3_make(0.1, -0.2, -1));
        c->apex = ff_vec3_make(0.05, 0, -0.7);
        c->half_angle = 0.6;
        c->depth = i % 4 == 1 ? HUGE_VAL : 5;
        c->friction = lossless ? 0 : 0.3;
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        hits += r.contacts;
        cone_hits += cone ? r.contacts : 0;
        ff_vec3 L0, L;
        const ff_vec3 P0 = whole_momentum(&r, 0, model, &L0);
        double E0 = 0, size = 0, spin = 0;
        for (int j = 0; j < 2; j++) {
            E0 += ff_rigid_kinetic_energy(&model[j], &s.satellite[j].start);
            size += model[j].mass * 0.1;
            spin += model[j].mass * 0.1 * 2;
        }
        for (uint64_t k = 0; k < r.samples; k++) {
            assert_vec3_near(whole_momentum(&r, k, model, &L), P0, 1e-11 * size);
            assert_vec3_near(L, L0, 1e-11 * spin);
            const ff_rigid_load *F = &r.contact_load[2 * k];
            assert_vec3_near(ff_vec3_add(F[0].force, F[1].force), ff_vec3_zero(),
                             1e-14 * (1 + ff_vec3_norm(F[0].force)));
        }
        for (int j = 0; j < r.contacts; j++) {
            const double E = ff_rigid_kinetic_energy(&model[0], &r.contact[j].after[0]) +
                             ff_rigid_kinetic_energy(&model[1], &r.contact[j].after[1]);
            if (!isfinite(r.contact[j].end) || r.contact[0].start == 0.0)
                continue; /* one that starts inside has energy stored */
            if (lossless)
                assert_near(E / E0, 1, 1e-10);
            else
                assert_true(E < E0);
        }
        ff_ideal_free(&r);
    }
    assert_true(hits > 15 && cone_hits > 8);
}

/* Head on, two bodies against the same pair of closed forms: reduced mass. */
static void test_pair_has_the_reduced_mass(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 8);
    add_body(&s, 300, ff_mat3_diag(18, 20, 22))->start.velocity = ff_vec3_make(0, 0, 0.05);
    add_body(&s, 700, ff_mat3_diag(180, 200, 220))->start.velocity = ff_vec3_make(0, 0, -0.02);
    s.satellite[1].start.position.z = 1.2;
    ff_contact *c = add_contact(&s, FF_CONTACT_PAIR, 5000, 200);
    c->at = ff_vec3_make(0, 0, -1);
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    const double me = 300.0 * 700 / 1000, z = 200 / (2 * sqrt(5000 * me)),
                 J = me * 0.07 * (1 + restitution(z));
    assert_int_equal(r.contacts, 1);
    assert_vec3_near(r.contact[0].after[0].velocity, ff_vec3_make(0, 0, 0.05 - J / 300), 1e-11);
    assert_vec3_near(r.contact[0].after[1].velocity, ff_vec3_make(0, 0, -0.02 + J / 700), 1e-11);
    assert_near(r.contact[0].start, 0.2 / 0.07, 1e-11);
    ff_ideal_free(&r);
}

/* A tip driven along the axis' normal plane into a cone's flank: rebounds as from a plane inclined by the
 * half angle. */
static void test_cone_flank_is_a_plane_locally(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 8);
    const double a = 0.7, v = 0.05, far = 1e13; /* a very heavy cone stands still */
    ff_satellite *b = add_body(&s, 100, ff_mat3_diag(10, 10, 10));
    add_body(&s, far, ff_mat3_diag(far, far, far));
    /* axis -z: the mouth looks down; the flank at +x has its normal towards the axis and the mouth */
    const ff_vec3 n = ff_vec3_make(-cos(a), 0, -sin(a)), foot = ff_vec3_make(2 * sin(a), 0, -2 * cos(a));
    b->start.position = ff_vec3_axpy(0.1, n, foot);
    b->start.velocity = ff_vec3_scale(-v, n);
    ff_contact *c = add_contact(&s, FF_CONTACT_CONE, 4000, 80);
    c->half_angle = a;
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 1);
    assert_near(r.contact[0].start, 2, 1e-10);
    assert_vec3_near(r.contact[0].after[0].velocity,
                     ff_vec3_scale(v * restitution(80 / (2 * sqrt(4000.0 * 100))), n), 1e-10 * v);
    ff_ideal_free(&r);
    /* and the same cone standing still in the inertial frame */
    s.contact[0].against = -1;
    solve_or_fail(&s, &r);
    assert_vec3_near(r.contact[0].after[0].velocity,
                     ff_vec3_scale(v * restitution(80 / (2 * sqrt(4000.0 * 100))), n), 1e-10 * v);
    ff_ideal_free(&r);
    /* where the mouth is nearer to the apex than that, the tip meets nothing before the face around it */
    s.contact[0].depth = 2 * cos(a) - 0.05;
    solve_or_fail(&s, &r);
    const double below = s.contact[0].depth + b->start.position.z;
    assert_true(below < 0);
    assert_int_equal(r.contacts, 1);
    assert_near(r.contact[0].start, -below / (v * sin(a)), 1e-10);
    const ff_vec3 after = r.contact[0].after[0].velocity;
    const double e = restitution(80 / (2 * sqrt(4000.0 * 100)));
    assert_vec3_near(after, ff_vec3_make(v * cos(a), 0, -e * v * sin(a)), 1e-10 * v);
    ff_ideal_free(&r);
}

/* Sliding with Coulomb friction: the impulse along the wall is mu times that along the normal while it
 * slides. */
static void test_friction_while_sliding(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 4);
    ff_satellite *b = add_body(&s, 100, ff_mat3_diag(10, 10, 10));
    b->start.velocity = ff_vec3_make(0.3, -0.4, 0.05);
    ff_contact *c = add_contact(&s, FF_CONTACT_WALL, 4000, 0);
    c->at.z = 0.1;
    c->friction = 0.2;
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_int_equal(r.contacts, 1);
    /* the smoothing takes 1 - u/sqrt(u^2 + slip^2) = 2e-8 at u = 0.5 */
    const double dv = 0.2 * 0.1;
    assert_vec3_near(r.contact[0].after[0].velocity, ff_vec3_make(0.3 - 0.6 * dv, -0.4 + 0.8 * dv, -0.05),
                     5e-8 * dv);
    assert_near(r.contact[0].peak_force / (0.05 * sqrt(4000.0 * 100) * sqrt(1.04)), 1, 1e-7);
    ff_ideal_free(&r);
    /* strong friction stops the slide and does not turn it round */
    s.contact[0].friction = 10;
    b->start.velocity = ff_vec3_make(0.03, -0.04, 0.05);
    solve_or_fail(&s, &r);
    const ff_vec3 after = r.contact[0].after[0].velocity;
    assert_near(after.z, -0.05, 1e-11);
    assert_near(after.x, 0, 1e-12);
    assert_near(after.y, 0, 1e-12);
    ff_ideal_free(&r);
}

/* A fast spinning tip that only grazes the wall between two long steps is found: the peak force shows it. */
static void test_grazing_tip_is_found(void **state) {
    (void)state;
    for (int i = 1; i <= 8; i++) {
        const double graze = pow(10, -i), w = 0.5, r0 = 1, k = 1;
        ff_scenario s;
        make_scenario(&s, 0.1, 12);
        ff_satellite *b =
            add_body(&s, 1e6, ff_mat3_diag(1e6, 1e6, 1e6)); /* so heavy that it continues to turn */
        b->start.omega.y = w;
        b->start.attitude = ff_quat_exp(ff_vec3_make(0, 1 + 0.1 * i, 0));
        ff_contact *c = add_contact(&s, FF_CONTACT_WALL, k, 0);
        c->point = ff_vec3_make(r0, 0, 0);
        c->at.z = r0 - graze;
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        assert_int_equal(r.contacts, 1);
        const double half = acos(1 - graze / r0) / w, middle = (2 * FF_PI - 0.5 * FF_PI - 1 - 0.1 * i) / w;
        assert_near(r.contact[0].peak_force / (k * graze), 1, 1e-5);
        assert_near(r.contact[0].end - r.contact[0].start, 2 * half, 1e-5 * half + 1e-7);
        assert_near(0.5 * (r.contact[0].end + r.contact[0].start),
                    middle - (middle > 2 * FF_PI / w ? 2 * FF_PI / w : 0), 1e-4);
        ff_ideal_free(&r);
    }
}

/* Released from inside with damping the force ends before the depth does; a load that presses on lets it
 * return. */
static void test_pressed_body_settles_on_the_wall(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 60);
    add_body(&s, 100, ff_mat3_diag(10, 10, 10))->start.velocity.z = 0.05;
    ff_contact *c = add_contact(&s, FF_CONTACT_WALL, 4000, 300);
    c->at.z = 0.02;
    add_load(&s, FF_LOAD_PULSE, ff_vec3_make(0, 0, 4), ff_vec3_zero(), 0, 100);
    ff_ideal_result r;
    solve_or_fail(&s, &r);
    assert_near(state_of(&r, s.cycles, 0)->position.z, 0.02 + 4.0 / 4000, 1e-11);
    assert_near(r.contact_load[s.cycles].force.z, -4, 1e-8);
    assert_true(isnan(r.contact[r.contacts - 1].end));
    assert_vec3_near(r.contact[r.contacts - 1].after[0].position, state_of(&r, s.cycles, 0)->position, 0);
    ff_ideal_free(&r);
}

/* The answer does not depend on the tolerance. */
static void test_tolerance_does_not_matter(void **state) {
    (void)state;
    ff_scenario s;
    make_scenario(&s, 0.004, 60);
    ff_satellite *b = add_body(&s, 280, ff_mat3_diag(18, 20, 22));
    b->start.velocity = ff_vec3_make(.01, .015, .02);
    b->start.omega = ff_vec3_make(.05, .02, .03);
    ff_contact *c = add_contact(&s, FF_CONTACT_WALL, 2000, 5);
    c->at.z = 0.13;
    c->point = ff_vec3_make(0.1, -0.1, 0.1);
    c = add_contact(&s, FF_CONTACT_WALL, 2000, 5);
    c->at.z = -0.13;
    c->normal.z = 1;
    c->point = ff_vec3_make(0.05, 0.1, -0.1);
    add_load(&s, FF_LOAD_HALFSINE, ff_vec3_make(0.1, 0, -0.4), ff_vec3_make(0.01, 0, 0), 7, 9);
    const double tolerance[3] = {1e-10, 1e-12, FF_IDEAL_TOLERANCE}, allowed[2] = {5e-8, 2e-10};
    ff_ideal_result r[3];
    char message[256];
    for (int i = 0; i < 3; i++)
        assert_int_equal(ff_ideal_solve_within(&s, tolerance[i], NULL, NULL, &r[i], message, sizeof message),
                         FF_OK);
    assert_true(r[2].contacts >= 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(r[i].contacts, r[2].contacts);
        double worst = 0;
        for (uint64_t k = 0; k < r[i].samples; k++) {
            const ff_rigid_state *x = state_of(&r[i], k, 0), *y = state_of(&r[2], k, 0);
            worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(x->position, y->position)));
            worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(x->velocity, y->velocity)));
            worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(x->omega, y->omega)));
            worst = fmax(worst, ff_quat_angle(x->attitude, y->attitude));
        }
        print_message("%g against %g: %.2g over %d contacts and 60 s\n", tolerance[i], tolerance[2], worst,
                      r[2].contacts);
        assert_near(worst, 0, allowed[i]);
        ff_ideal_free(&r[i]);
    }
    ff_ideal_free(&r[2]);
}

/* Two walls without friction at once, in a corner, and a load meanwhile: each contact has the momentum that
 * changed along its own normal less the load's part, and nothing along the other's. */
static void test_each_contact_has_its_own_impulse(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 14);
    for (int i = 0; i < test_count(10, 100); i++) {
        const double m = pow(10, ff_rng_range(&rng, 0, 3)), w = ff_rng_range(&rng, 3, 10), v = 0.1;
        ff_scenario s;
        make_scenario(&s, 0.004, 4);
        ff_satellite *b = add_body(&s, m, ff_mat3_diag(m, m, m));
        const ff_quat q = test_random_quat(&rng);
        const ff_vec3 pull = test_random_vec3(&rng, 0.01 * m);
        b->start.velocity = ff_quat_rotate(q, ff_vec3_make(v, v, 0));
        for (int c = 0; c < 2; c++) { /* the second is met before the first is left */
            ff_contact *wall =
                add_contact(&s, FF_CONTACT_WALL, m * w * w, 2.0 * m * w * ff_rng_range(&rng, 0, 0.3));
            wall->normal = ff_quat_rotate(q, c ? ff_vec3_make(0, -1, 0) : ff_vec3_make(-1, 0, 0));
            wall->at = ff_vec3_scale(-(0.05 + c * ff_rng_range(&rng, 0.0, 1.0) * v / w), wall->normal);
        }
        add_load(&s, FF_LOAD_PULSE, pull, ff_vec3_zero(), 0, 4);
        ff_ideal_result r;
        solve_or_fail(&s, &r);
        assert_true(r.contacts >= 2);
        assert_true(r.contact[1].start < r.contact[0].end);
        for (int c = 0; c < 2; c++) {
            const ff_ideal_contact *x = &r.contact[c];
            const ff_vec3 n = s.contact[x->contact].normal;
            const double moved =
                m * ff_vec3_dot(n, ff_vec3_sub(x->after[0].velocity, x->before[0].velocity)) -
                ff_vec3_dot(n, pull) * (x->end - x->start);
            assert_true(moved > 0.5 * m * v);
            assert_vec3_near(x->impulse, ff_vec3_scale(moved, n), 1e-8 * m * v);
        }
        ff_ideal_free(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_contact_has_its_own_impulse),
        cmocka_unit_test(test_wall_rebound_is_the_closed_form),
        cmocka_unit_test(test_off_centre_hit_conserves_and_has_the_effective_mass),
        cmocka_unit_test(test_oblique_wall_turns_the_velocity),
        cmocka_unit_test(test_he2022_damping_grows_with_depth),
        cmocka_unit_test(test_destefano2019_stops),
        cmocka_unit_test(test_stops_turn_back),
        cmocka_unit_test(test_pairs_and_cones_keep_momentum),
        cmocka_unit_test(test_pair_has_the_reduced_mass),
        cmocka_unit_test(test_cone_flank_is_a_plane_locally),
        cmocka_unit_test(test_friction_while_sliding),
        cmocka_unit_test(test_grazing_tip_is_found),
        cmocka_unit_test(test_pressed_body_settles_on_the_wall),
        cmocka_unit_test(test_tolerance_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
