/* fused, function by function: which force, torque and motion belong to a contact, its normal and point,
 * which rows take part, one estimate, and how far it may be off; against a contact that is known. Friction:
 * test_fused_friction.c.
 */
#include "fused_bench.h"

static ff_rng rng;

/* One sample of body 0 (and 1) standing anywhere. */
static void one_sample(int bodies) {
    bench_reset(&rng, bodies, 0.0, 0.0, NULL);
    ff_rigid_state robot[2];
    for (int i = 0; i < 2; i++)
        robot[i] = (ff_rigid_state){test_random_vec3(&rng, 1), test_random_quat(&rng),
                                    test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.1)};
    for (int k = 0; k < 6; k++)
        bench_push(robot);
}

/* A contact of body 0 by hand, acting on samples [from, until). */
static fused_contact *acting(int c, int b, bool torque, ff_vec3 n, uint64_t from, uint64_t until) {
    fused_contact *x = &bench_state->contact[c];
    x->open = until == UINT64_MAX;
    x->settled = !x->open;
    x->torque = torque;
    x->b = b;
    x->n = n;
    x->r = test_random_vec3(&rng, 0.5);
    x->anchor = x->row_from = from;
    x->end = until;
    return x;
}

/* Contacts that do not act on body 0 in sample k, for one reason each. */
static void bystanders(uint64_t k) {
    acting(3, -1, true, bench_unit(&rng), 0, UINT64_MAX); /* a torque */
    acting(4, -1, false, bench_unit(&rng), 0, k);         /* over */
    acting(5, -1, false, bench_unit(&rng), k + 1, 1000);  /* later */
}

/* A force that is the sum of f_i n_i: each contact is given its f_i, whatever the angles between the normals,
 * unless they nearly lie in one plane; and no share goes to what does not act. */
static void test_a_force_is_shared_among_normals(void **unused) {
    (void)unused;
    const uint64_t k = 3;
    int flat = 0;
    for (int draw = 0; draw < 400; draw++) {
        const int bodies = 1 + draw % 2, b = bodies == 2 ? 1 : -1, count = 1 + draw % 3;
        one_sample(bodies);
        const ff_quat q = b < 0 ? ff_quat_identity() : fused_at(bench_state, 1, k)->T_r.q;
        ff_vec3 n[3], F = ff_vec3_zero();
        double f[3];
        for (int i = 0; i < count; i++) {
            n[i] = bench_unit(&rng);
            f[i] = ff_rng_range(&rng, 1.0, 100.0);
            acting(i, b, false, n[i], i == 1 ? k : 0, i == 2 ? k + 1 : UINT64_MAX);
            F = ff_vec3_axpy(f[i], ff_quat_rotate(q, n[i]), F);
        }
        bystanders(k);
        fused_at(bench_state, 0, k)->force = F;
        if (b == 1) { /* both sensors: the mean */
            const ff_vec3 off = test_random_vec3(&rng, 1.0);
            fused_at(bench_state, 0, k)->force = ff_vec3_add(F, off);
            fused_at(bench_state, 1, k)->force = ff_vec3_sub(off, F);
        }
        for (int i = 0; i < count; i++) {
            const ff_vec3 *o = &n[(i + 1) % count], *p = &n[(i + 2) % count];
            double out = 1.0; /* square of the part of n that is outside the others' span */
            if (count == 2)
                out = 1.0 - ff_vec3_dot(n[i], *o) * ff_vec3_dot(n[i], *o);
            if (count == 3) {
                const ff_vec3 x = ff_vec3_cross(*o, *p);
                out = pow(ff_vec3_dot(n[i], ff_vec3_unit(x)), 2);
            }
            fused_contact *c = &bench_state->contact[i];
            const double own = ff_vec3_dot(ff_quat_rotate(q, n[i]), F);
            if (fabs(out - 0.05) > 1e-3)
                assert_near(ff__fused_share(bench_state, c, k), out > 0.05 ? f[i] : own, 1e-9);
            flat += out < 0.05;
            c->one.judged = true; /* in place of all beside it */
            assert_near(ff__fused_share(bench_state, c, k), own, 1e-12 * ff_vec3_norm(F));
            c->one.judged = false;
        }
    }
    assert_true(flat > 0);
}

/* The torque beside that of forces at their points. One contact bears the whole force, its friction, too. */
static void test_a_torque_of_its_own(void **unused) {
    (void)unused;
    const uint64_t k = 3;
    for (int draw = 0; draw < 200; draw++) {
        const int bodies = 1 + draw % 2, b = bodies == 2 ? 1 : -1, count = 1 + draw / 2 % 3;
        one_sample(bodies);
        fused_sample *x = fused_at(bench_state, 0, k);
        const ff_quat q = b < 0 ? ff_quat_identity() : fused_at(bench_state, 1, k)->T_r.q;
        const ff_vec3 own = test_random_vec3(&rng, 5.0);
        ff_vec3 of[3];
        x->torque = own;
        for (int i = 0; i < count; i++) {
            fused_contact *c = acting(i, b, false, bench_unit(&rng), 0, UINT64_MAX);
            const double f = fused_row_of(c, k)->f = ff_rng_range(&rng, 1.0, 50.0);
            const ff_vec3 side = count == 1 ? test_random_vec3(&rng, 5.0) : ff_vec3_zero();
            const ff_vec3 F = ff_vec3_add(ff_vec3_scale(f, ff_quat_rotate(q, c->n)), side);
            of[i] = ff_vec3_cross(c->r, ff_quat_unrotate(x->T_r.q, F));
            x->force = ff_vec3_add(x->force, F);
            x->torque = ff_vec3_add(x->torque, of[i]);
        }
        bystanders(k);
        assert_vec3_near(ff__fused_pure_torque(bench_state, 0, k, NULL), own, 1e-11);
        const fused_contact *first = &bench_state->contact[0];
        assert_vec3_near(ff__fused_pure_torque(bench_state, 0, k, first), ff_vec3_add(own, of[0]), 1e-11);
        const fused_contact *turning = &bench_state->contact[3];
        assert_near(ff__fused_share(bench_state, turning, k), ff_vec3_dot(turning->n, own), 1e-10);
        if (count > 1) { /* a row that is not kept any more */
            bench_state->contact[1].row_from = k + 1;
            assert_vec3_near(ff__fused_pure_torque(bench_state, 0, k, NULL), ff_vec3_add(own, of[1]), 1e-11);
        }
    }
}

/* Who acts beside whom, and up to which row a contact's own direction and point show. */
static void test_rows_of_one_contact_alone(void **unused) {
    (void)unused;
    one_sample(2);
    const ff_vec3 n = ff_vec3_make(1, 0, 0);
    fused_contact *c = acting(0, -1, false, n, 10, UINT64_MAX), *o = &bench_state->contact[1];
    assert_true(ff__fused_lone(bench_state, c));
    for (int torque = 0; torque < 2; torque++)
        for (int of = 0; of < 2; of++) /* the contact itself is a force or a torque */
            for (int when = 0; when < 5; when++) {
                const uint64_t from[] = {5, 20, 5, 5, 60}, until[] = {UINT64_MAX, UINT64_MAX, 10, 11, 61};
                acting(1, -1, torque, n, from[when], until[when]);
                c->torque = of;
                const bool ended = until[when] <= c->anchor, later = from[when] > c->anchor;
                assert_int_equal(ff__fused_lone(bench_state, c), ended);
                const fused_reach z = ff__fused_reach_of(bench_state, c, 50);
                const uint64_t shared = from[when] < 50 ? from[when] : 50;
                const bool same = of == torque, force = !of;
                assert_int_equal(z.last, !ended && later && same ? shared : 50);
                assert_int_equal(z.last_r, !ended && later && (same || force) ? shared : 50);
                assert_int_equal(z.earlier, !ended && !later && force && same);
                assert_int_equal(z.turning, !ended && !later && force && torque);
                o->a = 1; /* another body's */
                assert_true(ff__fused_lone(bench_state, c));
                const fused_reach alone = ff__fused_reach_of(bench_state, c, 50);
                assert_true(alone.last == 50 && alone.last_r == 50 && !alone.earlier && !alone.turning);
                o->b = 0; /* that touches this one */
                assert_int_equal(ff__fused_lone(bench_state, c), ended);
                o->a = 0;
            }
    c->torque = false;
    acting(1, -1, false, n, 10, UINT64_MAX); /* at once: the first of the list is the earlier */
    assert_false(ff__fused_reach_of(bench_state, c, 50).earlier);
    assert_true(ff__fused_reach_of(bench_state, o, 50).earlier);
}

static void find_place(fused_contact *c, uint64_t last) {
    const fused_reach z = ff__fused_reach_of(bench_state, c, last);
    memset(c->sum.n, 0, sizeof c->sum.n);
    memset(c->sum.r, 0, sizeof c->sum.r);
    memset(c->sum.t, 0, sizeof c->sum.t);
    c->sum.y = ff_vec3_zero();
    c->sum.m = 0.0;
    c->sum.rows = 0;
    for (uint64_t i = c->row_from; i <= last; i++)
        ff__fused_add_place(&bench_model.config, bench_state, c, &z, i);
    ff__fused_find_place(&bench_model.config, bench_state, c, &z, last);
}

/* What the weak prior of the point, a metre, may draw it along the normal: it is weighed by the spread s of
 * the torques (a thousandth of the largest, then what the first pass leaves, at least 1e-6 of it) against how
 * far the force turns in the body: s^2/sum of the force's squares across its mean direction. */
static double drawn_by_the_prior(const fused_contact *c) {
    ff_vec3 mean = ff_vec3_zero();
    double turning = 0.0, rows = 0.0, square = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = c->row_from; i <= c->until; i++) {
            const fused_sample *x = fused_at(bench_state, 0, i);
            const ff_vec3 F = ff_quat_unrotate(x->T_r.q, x->force);
            if (pass == 0)
                mean = ff_vec3_axpy(ff_vec3_norm(F), F, mean);
            else
                turning += pow(ff_vec3_norm(ff_vec3_cross(F, ff_vec3_unit(mean))), 2);
            rows += 0.5 * (ff_vec3_norm(F) > 0.0);
            square += 0.5 * ff_vec3_dot(F, F);
        }
    const double first = pow(1e-3 * c->torque_max, 2) / turning;
    const double spread = fmax(1e-6 * c->torque_max, first * sqrt(turning / (2.0 * rows - 3.0)));
    return (spread * spread + 2e-14 * square) / turning; /* and a touch that keeps the matrix regular */
}

/* Exact sensors: the force's direction and the point that bears it, in the surface's axes and the body's. */
static void test_normal_and_point_of_exact_rows(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 40; draw++) {
        const int bodies = 1 + draw % 2;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        const double noise = draw % 4 < 2 ? 0.0 : 0.05;
        fused_contact *c = bench_played(&rng, &z, bodies, noise, 0.1 * noise);
        const double drawn = drawn_by_the_prior(c);
        fused_at(bench_state, 0, 40)->valid = false; /* a sample that is none */
        fused_at(bench_state, 0, 40)->force = test_random_vec3(&rng, 1e4);
        find_place(c, PLAY - 1);
        assert_vec3_near(c->next.force, z.n, 1e-9);
        assert_vec3_near(c->next.n, z.n, 1e-9);
        if (noise == 0.0) /* else noise is expected along the normal and taken off */
            assert_vec3_near(c->next.r, z.r, fmin(0.5, 2.0 * drawn) + 1e-8);
    }
}

/* A surface that is known: its normal counts as ten times the largest force squared, so rows whose normal is
 * off by a small angle draw it by S/(S + 10 F^2) of that angle; without rows it stands, and so does its
 * point. */
static void test_a_known_wall_holds_its_place(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 20; draw++) {
        bench_truth z;
        bench_draw(&rng, 1, &z);
        fused_contact *c = bench_played(&rng, &z, 1, draw % 2 ? 0.05 : 0.0, draw % 2 ? 100.0 : 0.0);
        fused_wall *wall = &bench_state->wall[2];
        const double off = 0.02;
        *wall = (fused_wall){
            .valid = true, .b = -1, .n = bench_tilted(&rng, z.n, off), .r = test_random_vec3(&rng, 0.4)};
        c->wall = 2;
        c->n = wall->n;
        double S = 0.0;
        for (uint64_t i = FROM; i < PLAY; i++) {
            const double f = ff_vec3_norm(fused_at(bench_state, 0, i)->force);
            S += f > 2.0 * bench_model.config.force_noise ? f * f : 0.0;
        }
        find_place(c, PLAY - 1);
        const double heavy = 10.0 * c->force_max * c->force_max;
        assert_near(bench_angle(c->next.n, wall->n), off * S / (S + heavy), off * off);
        assert_near(bench_angle(c->next.n, z.n), off * heavy / (S + heavy), off * off);

        c->mu = 0.0; /* no force at all */
        c->r = wall->r;
        for (uint64_t i = FROM; i < PLAY; i++)
            fused_at(bench_state, 0, i)->force = fused_at(bench_state, 0, i)->torque = ff_vec3_zero();
        find_place(c, PLAY - 1);
        assert_vec3_near(c->next.n, wall->n, 1e-12);
        assert_vec3_near(c->next.r, wall->r, 0.0);
        c->detected = PLAY; /* too new for any direction */
        c->n = z.n;
        find_place(c, PLAY - 1);
        assert_vec3_near(c->next.n, z.n, 0.0);
    }
}

/* White noise s on each axis of the force, s_M of the torque: a tilt e of the normal shows with the
 * information sum f^2/s^2 in the force, and as n.M = 0 with sum (M.e)^2/s_M^2 in the torque. The scatter
 * found is that, within the scatter of a variance of so many draws, four times sqrt(2/N). */
static void test_normal_uses_force_and_torque(void **unused) {
    (void)unused;
    enum { DRAWS = 400 };
    bench_truth z;
    bench_draw(&rng, 1, &z);
    z.r = ff_vec3_scale(0.4, bench_across(&rng, z.n));
    z.q[0] = ff_quat_identity();
    z.rate[0] = ff_vec3_zero();
    const double s = 0.5, s_M = 0.05;
    fused_contact *c = bench_played(&rng, &z, 1, s, s_M);
    static ff_vec3 F[PLAY], M[PLAY];
    double ff = 0.0, mm = 0.0, along = 0.0, across = 0.0;
    for (int i = FROM; i < PLAY; i++) {
        F[i] = fused_at(bench_state, 0, (uint64_t)i)->force;
        M[i] = fused_at(bench_state, 0, (uint64_t)i)->torque;
        ff += ff_vec3_dot(F[i], F[i]);
        mm += ff_vec3_dot(M[i], M[i]);
    }
    const ff_vec3 e = ff_vec3_unit(ff_vec3_cross(z.r, z.n)), g = ff_vec3_cross(z.n, e);
    for (int draw = 0; draw < DRAWS; draw++) {
        for (uint64_t i = FROM; i < PLAY; i++)
            for (int a = 0; a < 3; a++) {
                fused_at(bench_state, 0, i)->force.a[a] = F[i].a[a] + s * ff_rng_normal(&rng);
                fused_at(bench_state, 0, i)->torque.a[a] = M[i].a[a] + s_M * ff_rng_normal(&rng);
            }
        c->n = z.n;
        find_place(c, PLAY - 1);
        along += pow(ff_vec3_dot(c->next.n, e), 2) / DRAWS;
        across += pow(ff_vec3_dot(c->next.n, g), 2) / DRAWS;
    }
    const double slack = 4.0 * sqrt(2.0 / DRAWS);
    assert_near(across / (s * s / ff), 1.0, slack);
    assert_near(along * (ff / (s * s) + mm / (s_M * s_M)), 1.0, slack);
    assert_true(mm / (s_M * s_M) > 3.0 * ff / (s * s)); /* the torque does tell */
}

/* How far the point lies along the normal shows only as the force turns in the body, and noise looks like
 * turning: it would draw the point to zero. Taken off, the mean of many draws is the point, to its own
 * scatter. */
static void test_point_along_the_normal_is_not_drawn_to_zero(void **unused) {
    (void)unused;
    enum { DRAWS = 300 };
    bench_truth z;
    bench_draw(&rng, 1, &z);
    z.r = ff_vec3_axpy(0.5, z.n, ff_vec3_scale(0.2, z.along));
    z.q[0] = ff_quat_identity();
    z.rate[0] = ff_vec3_scale(0.4, ff_vec3_cross(z.n, z.along));
    const double s_M = 0.02;
    const int end = (int)((z.onset + FF_PI / z.w) / BENCH_T) - 2; /* noise alone says nothing of a point */
    fused_contact *c = bench_played(&rng, &z, 1, 0.0, s_M);
    static ff_vec3 F[PLAY], M[PLAY];
    c->row_from = DETECTED;
    ff_vec3 n_b = ff_vec3_zero();
    double turning = 0.0, rows = 0.0;
    for (int i = DETECTED; i < end; i++) {
        const fused_sample *x = fused_at(bench_state, 0, (uint64_t)i);
        F[i] = x->force;
        M[i] = x->torque;
        n_b =
            ff_vec3_add(n_b, ff_quat_unrotate(x->T_r.q, ff_vec3_scale(ff_vec3_dot(x->force, x->force), z.n)));
    }
    n_b = ff_vec3_unit(n_b);
    for (int i = DETECTED; i < end; i++) {
        const fused_sample *x = fused_at(bench_state, 0, (uint64_t)i);
        const ff_vec3 f = ff_quat_unrotate(x->T_r.q, x->force),
                      side = ff_vec3_axpy(-ff_vec3_dot(f, n_b), n_b, f);
        turning += ff_vec3_dot(side, side);
        rows += ff_vec3_norm(f) > 0.0;
    }
    const double s = bench_model.config.force_noise = sqrt(0.25 * turning / rows);
    const double drawn = turning / (turning + 2.0 * rows * s * s); /* 2/3 without taking it off */
    double mean = 0.0, square = 0.0;
    for (int draw = 0; draw < DRAWS; draw++) {
        for (uint64_t i = DETECTED; i < (uint64_t)end; i++)
            for (int a = 0; a < 3; a++) {
                fused_at(bench_state, 0, i)->force.a[a] = F[i].a[a] + s * ff_rng_normal(&rng);
                fused_at(bench_state, 0, i)->torque.a[a] = M[i].a[a] + s_M * ff_rng_normal(&rng);
            }
        c->n = z.n;
        find_place(c, (uint64_t)end - 1);
        const double part = ff_vec3_dot(c->next.r, n_b) / ff_vec3_dot(z.r, n_b);
        mean += part / DRAWS;
        square += part * part / DRAWS;
    }
    const double scatter = sqrt((square - mean * mean) / DRAWS);
    print_message("point along n: %.3f +- %.3f of its arm, %.3f without\n", mean, scatter, drawn);
    assert_near(mean, 1.0, 4.0 * scatter + 0.2 * (1.0 - drawn));
}

/* Rows in which both the law and the force say that it is over are left out, a row far off the law is an
 * outlier; many of them are the law's fault. */
static void test_which_rows_take_part(void **unused) {
    (void)unused;
    bench_truth z;
    bench_draw(&rng, 1, &z);
    z.law.c = 0.3 * z.law.k / z.w; /* lets go well before the robot has left */
    for (int noisy = 0; noisy < 2; noisy++) {
        fused_contact *c = bench_played(&rng, &z, 1, 0.0, 0.0);
        bench_model.config.force_noise = noisy ? 0.02 * c->force_max : 0.0;
        const double noise = bench_model.config.force_noise;
        c->n = z.n;
        c->r = z.r;
        for (uint64_t i = FROM; i < PLAY; i++) {
            ff__fused_take_row(bench_state, c, i);
            double p, v;
            bench_depth(&z, (double)i * BENCH_T, &p, &v);
            const fused_row *row = fused_row_of(c, i);
            assert_near(row->s, p + z.law.x0, 1e-12); /* where the robot is and what it feels */
            assert_near(row->v, v, 1e-12);
            assert_near(row->f, ff_profile_force(&z.law, row->s, row->v), 1e-9);
        }
        ff__fused_choose_rows(&bench_model, bench_state, c);
        for (uint64_t i = FROM; i < PLAY; i++) /* no surface yet: all of them */
            assert_int_equal(fused_row_of(c, i)->use, 1);
        c->surface = z.law;
        c->taken.peak = c->force_max;
        fused_at(bench_state, 0, 45)->valid = false;
        const double gate = fmax(8.0 * noise, 0.2 * c->taken.peak);
        fused_row_of(c, 30)->f += 1.01 * gate;
        fused_row_of(c, 31)->f += 0.99 * gate;
        fused_row_of(c, 32)->f -= 1.01 * gate;
        ff__fused_choose_rows(&bench_model, bench_state, c);
        const double over = fmax(4.0 * noise, 0.05 * c->force_max),
                     weak = fmax(4.0 * noise, 0.15 * c->force_max);
        int left = 0, late = 0;
        for (uint64_t i = FROM; i < PLAY; i++) {
            const fused_row *row = fused_row_of(c, i);
            const double law = ff_profile_force(&z.law, row->s, row->v);
            const bool gone = row->v < 0.0 && law < 0.02 * c->force_max && row->f < over;
            assert_int_equal(row->use, i == 45 || gone ? 0 : i == 30 || i == 32 ? 2 : 1);
            left += gone;
            late += row->v < 0.0 && law > 0.0 && !gone;
        }
        assert_true(left > 20 && late > 3);
        c->closing = true; /* the settlement: nothing weak of the unloading */
        c->passes = 1;
        ff__fused_choose_rows(&bench_model, bench_state, c);
        for (uint64_t i = FROM; i < PLAY; i++) {
            const fused_row *row = fused_row_of(c, i);
            if (row->v < 0.0 && row->f < weak)
                assert_int_equal(row->use, 0);
            else if (i != 30 && i != 32 && i != 45)
                assert_int_equal(row->use, 1);
        }
        c->closing = false;
        for (uint64_t i = 24; i < 44; i++)
            fused_row_of(c, i)->f += 2.0 * gate;
        ff__fused_choose_rows(&bench_model, bench_state, c);
        for (uint64_t i = 24; i < 44; i++)
            assert_int_equal(fused_row_of(c, i)->use, 1);
        c->detected = c->until - 5; /* too few rows to call any an outlier */
        c->row_from = c->until - 5;
        fused_row_of(c, c->until)->f += 10.0 * gate;
        fused_row_of(c, c->until)->v = 0.01;
        ff__fused_choose_rows(&bench_model, bench_state, c);
        assert_int_equal(fused_row_of(c, c->until)->use, 1);
    }
}

/* Along a new normal and point: largest force, largest torque, largest median of three; in parts the same. */
static void test_rows_are_taken_again(void **unused) {
    (void)unused;
    bench_truth z;
    bench_draw(&rng, 1, &z);
    fused_contact *c = bench_played(&rng, &z, 1, 0.0, 0.0);
    const ff_vec3 n = c->n, r = c->r;
    c->next.n = z.n;
    c->next.r = z.r;
    fused_sample *spike = fused_at(bench_state, 0, 50);
    const ff_vec3 was = spike->force;
    spike->force = ff_vec3_axpy(1e3, z.n, was);
    spike->torque = ff_vec3_make(0, 0, 1e4);
    fused_at(bench_state, 0, 60)->valid = false; /* larger, but not a sample */
    fused_at(bench_state, 0, 60)->force = ff_vec3_scale(1e5, z.n);
    fused_at(bench_state, 0, 60)->torque = ff_vec3_make(0, 0, 1e5);
    double peak = 0.0;
    c->row = 0; /* before the first row that is kept */
    c->taken.force = c->taken.torque = c->taken.peak = c->taken.last[0] = c->taken.last[1] = 0.0;
    int work = 0, parts = 0;
    while (c->row < PLAY) {
        work = 24 * 7 - 1;
        ff__fused_take_rows(bench_state, c, PLAY - 1, &work);
        assert_true(work <= 0 || c->row == PLAY);
        assert_vec3_near(c->n, n, 0.0); /* what stands is not changed */
        assert_vec3_near(c->r, r, 0.0);
        parts++;
    }
    assert_int_equal(parts, (PLAY - FROM + 6) / 7);
    for (uint64_t i = FROM; i < PLAY; i++) {
        double p, v;
        bench_depth(&z, (double)i * BENCH_T, &p, &v);
        assert_near(fused_row_of(c, i)->s, p + z.law.x0, 1e-12);
        if (i < FROM + 2)
            continue;
        double f[3];
        for (int j = 0; j < 3; j++)
            f[j] = fused_row_of(c, i - (uint64_t)j)->f;
        peak = fmax(peak, f[0] + f[1] + f[2] - fmax(f[0], fmax(f[1], f[2])) - fmin(f[0], fmin(f[1], f[2])));
    }
    assert_near(c->taken.peak, peak, 1e-9);
    assert_near(c->taken.force, 1e3 + ff_vec3_dot(was, z.n), 1e-9);
    assert_near(c->taken.torque, 1e4, 1e-9);
}

/* One estimate in parts of a cycle's work: the law, where it begins, normal, point and residuals; then the
 * replay from the anchor is asked for. */
static void test_one_estimate(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 24; draw++) {
        const int bodies = 1 + draw % 2, law = draw / 2 % 4;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.law.law = law;
        if (law) {
            const double deep = z.speed / z.w;
            z.law.k *= deep / ff_profile_shape(law, deep);
            z.law.c = 0.5 * z.law.k;
        }
        fused_contact *c = bench_played(&rng, &z, bodies, 0.0, 0.0);
        c->stage = PLACE;
        c->laws.due = DETECTED + 8;
        c->slides = false;
        int cycles = 0;
        uint64_t law_tried = 0;
        for (; cycles < 400; cycles++) {
            int work = 3000;
            for (int stage = -1; stage != c->stage && work > 0;) {
                stage = c->stage;
                ff__fused_estimate(&bench_model, bench_state, c, PLAY - 1, PLAY - 1, &work);
            }
            law_tried |= c->laws.left;
            if (c->stage == REST && ++c->due > 8)
                break;
            if (c->stage == REST) { /* one rival at each estimate */
                c->stage = PLACE;
                c->row = c->row_from;
                c->laws.due = 0;
            }
        }
        assert_int_equal(c->surface.law, law);
        assert_vec3_near(c->n, z.n, 1e-9);
        assert_vec3_near(c->r, z.r, fmin(0.5, 2.0 * drawn_by_the_prior(c)) + 1e-8);
        /* rows without noise are met to where the solvers end; a point that its prior has drawn along the
         * normal is another beginning of the surface, by as much */
        assert_near(c->surface.k / z.law.k, 1.0, 1e-6);
        assert_near(c->surface.x0, z.law.x0,
                    1e-6 * z.speed / z.w + (1.0 + 1e-6) * ff_vec3_norm(ff_vec3_sub(c->r, z.r)));
        assert_near(c->surface.c / z.law.c, 1.0, 1e-5);
        for (uint64_t i = FROM; i < PLAY; i++) {
            const fused_row *row = fused_row_of(c, i);
            const double expected = ff_profile_force(&c->surface, row->s, row->v);
            const bool counts = expected > 0.0 || row->f > force_least;
            assert_near(row->residual, counts && row->use != 2 ? row->f - expected : 0.0, 1e-9);
        }
        assert_true(ff__replay_active(bench_state->replay, 1u));
        assert_int_equal(ff__replay_active(bench_state->replay, 2u), bodies == 2);
        assert_int_equal(ff__replay_reached(bench_state->replay, 1u), c->anchor);
    }
}

/* The length that an error exceeds in 4.55 of 100 cases: variance x in one direction, y in each of two square
 * to it. Of a given part in the first the other two are beyond the rest with exp(-rest/(2 y)). */
static double length_beyond(double x, double y) {
    double low = 0.0, high = 10.0 * sqrt(x + 2.0 * y);
    for (int pass = 0; pass < 60; pass++) {
        const double length = 0.5 * (low + high), step = 1e-3;
        double beyond = 0.0;
        for (double z = -8.0 + 0.5 * step; z < 8.0; z += step) {
            const double rest = length * length - z * z * x;
            beyond += step * exp(-0.5 * z * z) / sqrt(2.0 * FF_PI) *
                      (rest <= 0.0 ? 1.0
                       : y > 0.0   ? exp(-0.5 * rest / y)
                                   : 0.0);
        }
        *(beyond > 0.0455 ? &low : &high) = length;
    }
    return high;
}

/* Each cause of an error by itself, as docs/methods/fused.md, 13 has it; their sum; and which of them are
 * said. */
static void test_what_may_be_off(void **unused) {
    (void)unused;
    for (int way = 0; way < 64; way++) {
        const int tip = way & 1, b = way & 2 ? 1 - tip : -1;
        const bool zero = way & 4, geared = way & 8, joined = way % 5 == 1, beside = way % 3 == 1,
                   torque = way % 7 == 3 && b < 0, valid = way % 11 != 5;
        const double s = way % 4 == 3 ? 0.0 : 0.2, s_M = 0.03, w = ff_rng_range(&rng, 5, 30), peak = 80.0;
        bench_reset(&rng, 2, s, s_M, NULL);
        ff_rigid_state robot[2];
        for (int i = 0; i < 2; i++)
            robot[i] = (ff_rigid_state){.attitude = test_random_quat(&rng)};
        for (int k = 0; k < 70; k++)
            bench_push(robot);
        fused_config *config = &bench_model.config;
        config->zero = zero;
        config->skew = way & 16 ? -3e-3 : 0.0;
        config->sensor_lag = way & 32 ? 2e-3 : 0.0;
        config->swings = way % 6 == 5;
        fused_contact *c = bench_settled(0, tip, b, 10, 60);
        *c = (fused_contact){.settled = true,
                             .torque = torque,
                             .a = tip,
                             .b = b,
                             .n = bench_unit(&rng),
                             .rows = c->rows,
                             .r = test_random_vec3(&rng, 0.4),
                             .mass = 150,
                             .force_max = peak,
                             .anchor = 10,
                             .row_from = 12,
                             .end = 60,
                             .until = 61,
                             .zero_P = {0.3},
                             .mu = way % 3 ? 0.2 : 0.0,
                             .side = 1e-5 * (way % 4),
                             .joined = joined,
                             .exact = way % 2,
                             .wall = -1,
                             .speed = way % 8 == 7 ? 0.0 : 0.1,
                             .surface = {.valid = valid,
                                         .law = way % 9 == 8,
                                         .k = 2e4,
                                         .c = 200,
                                         .J = 40.0 * (way % 5),
                                         .sd_x0 = 3e-6 * (way / 3 % 4)}};
        /* rows of a law that leaves +-5 N here and there; what it leaves in all of them over its own peak */
        double leaves = 0.0, most = 0.0;
        for (uint64_t i = c->row_from; i <= c->until; i++) {
            fused_row *q = fused_row_of(c, i);
            q->s = 1e-3 * (double)(1 + i % 7);
            q->v = 0.01;
            const double law = c->surface.law ? ff_profile_force(&c->surface, q->s, q->v) : 2e4 * q->s + 2.0,
                         more = (double)(way % 3) * (double)(i % 5) - 5.0;
            q->f = law + more;
            leaves += more * more / 50.0;
            most = fmax(most, law);
        }
        if (beside)
            bench_settled(3, tip, -1, 20, 40);
        const double noise = torque ? s_M : b < 0 ? s : s / sqrt(2.0);
        double give = 0.0;
        for (int i = 0; i < 2; i++) {
            bench_state->gears[i].begun = geared;
            for (int m = 0; m < 6; m++)
                for (int n = 0; n < 6; n++)
                    bench_state->gears[i].C[m][n] = m == n ? 1e-6 * (m + 1) : 2e-7 * (m + n);
            const ff_vec3 n_w = b < 0 ? c->n : ff_quat_rotate(robot[b].attitude, c->n),
                          at = i == tip ? ff_quat_rotate(robot[i].attitude, c->r) : ff_vec3_zero(),
                          turn = ff_vec3_cross(at, n_w);
            const double x[6] = {turn.x, turn.y, turn.z, n_w.x, n_w.y, n_w.z};
            for (int m = 0; m < 36 && geared && (i == tip ? !torque : b >= 0); m++)
                give += x[m / 6] * bench_state->gears[i].C[m / 6][m % 6] * x[m % 6];
        }
        double e = 0.8; /* of a law without a closed form */
        if (valid && c->surface.law == 0) {
            const double z = 200.0 / (2.0 * sqrt(2e4 * 150.0));
            e = exp(-FF_PI * z / sqrt(1.0 - z * z));
        }
        const double rows = 25.0, one = noise / (peak * sqrt(rows)),
                     offset = zero ? fmax(noise, 0.005) / peak * sqrt(0.3) * 1.8 : 0.0;
        const double part = valid ? give * (c->surface.law ? 150.0 * w * w : 2e4) : 0.0;
        /* the onset is off by sd/v */
        const double place = valid && way % 8 != 7 ? 0.5 * FF_PI * w * e * 3e-6 * (way / 3 % 4) / 0.1 : 0.0;
        /* of the direction: one tilt of two is known by the torque as well */
        const double arm = ff_vec3_norm(ff_vec3_cross(c->r, c->n)),
                     sharp = c->mu == 0.0 ? pow(noise * arm / s_M, 2) : 0.0,
                     tilt = torque ? 0.0 : one * sqrt(2.0 * (1.0 + 1.0 / (1.0 + sharp)));
        double expect[FUSED_CAUSES] = {0};
        expect[FUSED_BY_NOISE] =
            (b < 0 ? 1.0 : 1.4) * (joined ? 2.0 : 1.0) *
            sqrt(pow(fmax((0.4 + 1.7 * e) * one, place) / (1.0 + e), 2) + tilt * tilt + offset * offset);
        expect[FUSED_BY_TIME] = 0.0005 * FF_PI * w * e / (1.0 + e) * fabs(config->skew);
        expect[FUSED_BY_BANDWIDTH] = 0.0005 * FF_PI * w * e / (1.0 + e) * config->sensor_lag;
        expect[FUSED_BY_GEARS] = 0.028 * sqrt(part * w * BENCH_T);
        expect[FUSED_BY_FRICTION] = 0.018 * c->mu;
        expect[FUSED_BY_OTHERS] = joined   ? (c->exact ? 0.001 + 0.015 * w * BENCH_T : 0.03)
                                  : beside ? 0.03
                                           : 0.0;
        const double unit = fmax(noise, 1e-3 * peak) / peak,
                     along = (config->swings ? leaves / (most * most) : unit * unit * c->surface.J / 50.0) -
                             pow(noise / peak, 2) * (1.0 + 2.0 * sqrt(2.0 / 50.0));
        expect[FUSED_BY_MISFIT] = (config->swings ? 0.25
                                   : part > 0.0   ? 1.6
                                                  : 0.8) *
                                  sqrt((valid ? fmax(0.0, along) : 0.0) + (torque ? 0.0 : c->side));
        fused_report r = {.samples = 25};
        ff__fused_budget(&bench_model, bench_state, c, 60, tip, w, &r);
        double sum = 1e-10;
        int largest = 0;
        for (int i = 0; i < FUSED_CAUSES; i++) {
            assert_near(r.cause[i], expect[i], 1e-12);
            sum += expect[i] * expect[i];
            largest = expect[i] > expect[largest] ? i : largest;
        }
        if (!valid) {
            assert_true(isinf(r.impulse_sd) && r.outside == 0);
            continue;
        }
        const double turned =
            fmin(0.9, pow(b < 0 ? 1.0 : 1.4, 2) * (pow(tilt, 2) + offset * offset) / sum) * sum;
        const double size = sum - turned;
        assert_near(r.restitution_sd, (1.0 + e) * sqrt(size), 1e-12);
        assert_near(length_beyond(size, 0.5 * turned), 2.0 * r.impulse_sd, 0.06 * r.impulse_sd);
        static const unsigned flag[FUSED_CAUSES] = {FUSED_WEAK,    FUSED_SKEW,  FUSED_BANDWIDTH,
                                                    FUSED_POSE,    FUSED_GEARS, FUSED_FRICTION,
                                                    FUSED_SEVERAL, FUSED_MISFIT};
        unsigned said = 0;
        for (int i = 0; i < FUSED_CAUSES && r.impulse_sd >= 0.01; i++)
            said |= i == largest || expect[i] > 0.005 ? flag[i] : 0;
        assert_int_equal(r.outside, said);
    }
}

/* What is left of the force across the normal, noise and friction taken out, as a part of all. */
static void test_force_across_the_normal(void **unused) {
    (void)unused;
    for (int way = 0; way < 12; way++) {
        bench_reset(&rng, 1, way % 3 ? 0.3 : 0.0, 0.0, NULL);
        const ff_vec3 n = bench_unit(&rng);
        fused_contact c = {.b = -1, .next = {.n = n}, .mu = way % 2 ? 0.2 : 0.0, .sum = {.rows = 40}};
        double along = 0.0, whole = 0.0;
        for (int i = 0; i < 40 && way < 11; i++) {
            const ff_vec3 F = ff_vec3_axpy(10.0, n, test_random_vec3(&rng, way < 9 ? 5.0 : 0.1));
            const double f[6] = {F.x * F.x, F.x * F.y, F.x * F.z, F.y * F.y, F.y * F.z, F.z * F.z};
            for (int m = 0; m < 6; m++)
                c.sum.n[m] += f[m];
            along += pow(ff_vec3_dot(n, F), 2);
            whole += ff_vec3_dot(F, F);
        }
        const double noise = bench_model.config.force_noise,
                     left = whole - along * (1.0 + c.mu * c.mu) -
                            (2.0 * 40.0 + 4.0 * sqrt(40.0)) * noise * noise;
        assert_near(ff__fused_across(&bench_model.config, &c), whole > 0.0 ? fmax(0.0, left) / whole : 0.0,
                    1e-12);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 71);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_force_is_shared_among_normals),
        cmocka_unit_test(test_a_torque_of_its_own),
        cmocka_unit_test(test_rows_of_one_contact_alone),
        cmocka_unit_test(test_normal_and_point_of_exact_rows),
        cmocka_unit_test(test_a_known_wall_holds_its_place),
        cmocka_unit_test(test_normal_uses_force_and_torque),
        cmocka_unit_test(test_point_along_the_normal_is_not_drawn_to_zero),
        cmocka_unit_test(test_which_rows_take_part),
        cmocka_unit_test(test_rows_are_taken_again),
        cmocka_unit_test(test_one_estimate),
        cmocka_unit_test(test_what_may_be_off),
        cmocka_unit_test(test_force_across_the_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
