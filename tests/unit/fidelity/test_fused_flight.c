/* fused, function by function: the delay in free flight, walls that are gone, groups of bodies and their
 * motion one delay ahead. What is detected as a contact: test_fused_detect.c. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state

/* Body 0 flies on, its robot `behind` seconds behind it. */
static void fly(int cycles, ff_vec3 v, double behind, ff_vec3 carried, bool limited) {
    for (int n = 0; n < cycles; n++) {
        const double t = (double)S->history.count * BENCH_T;
        const ff_rigid_state robot = {ff_vec3_scale(t, v), ff_quat_identity(), v, ff_vec3_zero()};
        fused_sample *x = bench_push(&robot);
        x->T_r.p = ff_vec3_axpy(-behind, ff_vec3_sub(v, carried), robot.position);
        ff__fused_track_delay(&bench_model, S, 0, bench_newest(), carried, limited);
    }
}

/* The robot's delay is how far it is behind over the speed that it makes itself: taken once the flight has
 * been quiet for three delays and ten cycles, then as a mean; the commands follow by a tenth of the time. */
static void test_delay_in_free_flight(void **unused) {
    (void)unused;
    const double given = 8 * BENCH_T;
    for (int draw = 0; draw < 20; draw++) {
        const ff_vec3 carried = draw % 2 ? test_random_vec3(&rng, 0.1) : ff_vec3_zero(),
                      v = ff_vec3_axpy(0.05, bench_unit(&rng), carried);
        const double off = (draw % 4 < 2 ? 1.0 : -1.0) * ff_rng_range(&rng, 1.2, 3.0) * BENCH_T;
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        fly(34, v, off, carried, false);
        assert_near(S->delay[0], given, 0.0); /* not yet */
        fly(2, v, off, carried, false);
        assert_near(S->delay[0], given + off, 1e-12); /* all of it, once */
        assert_int_equal(S->info.delay_changes, 1);
        assert_near(fabs(S->lead[0] - given), 0.1 * BENCH_T * 2.0, 0.11 * BENCH_T);
        const uint64_t follows = (uint64_t)ceil(fabs(off) / (0.1 * BENCH_T));
        fly((int)follows + 1, v, off, carried, false);
        assert_near(S->lead[0], given + off, 1e-12);
        assert_near(S->delay[0], given + off, 1e-12); /* what is behind meanwhile says nothing */
        const uint64_t wait = S->delay_wait[0];
        assert_true(wait > bench_newest());
        fly((int)(wait - bench_newest()) - 1, v, 0.2 * BENCH_T, carried, false);
        assert_near(S->delay[0], given + off, 1e-12);
        fly(1, v, 0.2 * BENCH_T, carried, false); /* the second of them: half */
        assert_near(S->delay[0], given + off + 0.1 * BENCH_T, 1e-12);
        assert_int_equal(S->info.delay_changes, 1);
        for (int n = 0; n < 60; n++) {
            S->delay_wait[0] = 0;
            S->lead[0] = S->delay[0];
            fly(1, v, 0.0, carried, false);
        }
        const double before = S->delay[0];
        fly(1, v, 0.1 * BENCH_T, carried, false); /* a fiftieth at least */
        assert_near(S->delay[0] - before, 0.002 * BENCH_T, 1e-12);
    }
}

/* What says nothing of the delay. */
static void test_delay_is_left_alone(void **unused) {
    (void)unused;
    const ff_vec3 v = ff_vec3_make(0.05, 0, 0), none = ff_vec3_zero();
    const double given = 8 * BENCH_T, off = 0.9 * BENCH_T;
    for (int why = 0; why < 9; why++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_model.config.delay_fixed = why == 0;
        S->contact[4] =
            (fused_contact){.a = why == 2 ? 1 : 0, .b = why == 2 ? 0 : -1, .rows = S->contact[4].rows};
        S->contact[4].open = why == 1 || why == 2;
        S->contact[4].closing = why == 3;
        ff_vec3 at = v;
        if (why == 4)
            at = ff_vec3_make(0.9e-5, 0, 0); /* too slow */
        const double behind = why == 5 ? 1.5 : off;
        fly(35, at, 0.0, none, false);
        S->lead[0] = S->delay[0] = given; /* as before */
        S->delay_count[0] = 0;
        S->delay_wait[0] = 0;
        if (why == 6)
            fused_at(S, 0, bench_newest())->past.load.force = ff_vec3_make(0, 0, 1e-3);
        if (why == 7)
            fused_at(S, 0, bench_newest())->past.load.torque = ff_vec3_make(0, 0, 1e-3);
        fused_at(S, 0, bench_newest())->T_r.p =
            ff_vec3_axpy(-behind, at, fused_at(S, 0, bench_newest())->past.body.position);
        ff__fused_track_delay(&bench_model, S, 0, bench_newest(), none, why == 8);
        assert_near(S->delay[0], given, 0.0);
        if (why == 1 || why == 2 || why == 3 || why == 6 || why == 7)
            assert_int_equal(S->quiet_since[0], bench_newest());
        if (why == 8) /* the output stage acts: two delays and a cycle */
            assert_int_equal(S->delay_wait[0], bench_newest() + 17);
    }
    bench_reset(&rng, 1, 0.0, 0.0, NULL);
    fly(40, v, -3.0 * given, none, false); /* never below none */
    assert_true(S->delay[0] == 0.0);

    bench_reset(&rng, 1, 0.0, 0.0,
                NULL); /* a tenth of a cycle is followed at once, and says all that follows */
    S->lead[0] = 0.0;
    S->delay[0] = 0.1 * BENCH_T;
    fly(1, v, 0.0, none, false);
    assert_true(S->lead[0] == S->delay[0] && S->delay_wait[0] == 0);
}

static fused_wall *wall_at(ff_vec3 n, double x0, bool torque) {
    S->wall[1] = (fused_wall){.valid = true,
                              .torque = torque,
                              .b = -1,
                              .n = n,
                              .surface = {.valid = true, .k = 1e4, .x0 = x0},
                              .force_max = 50.0};
    return &S->wall[1];
}

/* A robot that approaches through a remembered wall without a force, twice, or a satellite that stays inside
 * for longer than the robot can be late: the wall is gone. */
static void test_walls_that_are_gone(void **unused) {
    (void)unused;
    const double v = 0.05;
    for (int why = 0; why < 10; why++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        fused_wall *wall = wall_at(ff_vec3_make(-1, 0, 0), 0.0, false);
        ff_rigid_state robot = {
            .position = {{2e-3, 0, 0}}, .attitude = {1, 0, 0, 0}, .velocity = {{v, 0, 0}}};
        if (why == 1)
            robot.velocity.x = -v; /* leaves */
        if (why == 2)
            robot.position.x = 2.0 * v * BENCH_T + 1e-4; /* 1 N: below 3 % of its largest */
        if (why == 8)
            robot.position.x = 2.0 * v * BENCH_T + 2e-4; /* 2 N: above */
        if (why == 3)
            S->contact[0] = (fused_contact){.open = true, .b = -1, .rows = S->contact[0].rows};
        if (why == 4)
            S->contact[0] = (fused_contact){.closing = true, .b = -1, .rows = S->contact[0].rows};
        for (int n = 0; n < 2; n++) {
            assert_true(wall->valid);
            fused_sample *x = bench_push(&robot);
            x->past.body.position.x = -1.0; /* the satellite is elsewhere */
            if (why == 5)
                x->force = ff_vec3_make(-0.03, 0, 0); /* it is felt */
            if (why == 6 && n == 0)
                x->force = ff_vec3_make(-0.03, 0, 0);
            if (why == 9)
                x->force = ff_vec3_make(-0.01, 0, 0); /* below any threshold */
            ff__fused_check_walls(&bench_model, S, bench_newest());
        }
        const bool gone = why == 0 || why == 8 || why == 9 || why == 7;
        assert_int_equal(wall->valid, !gone);
        assert_int_equal(S->info.phantoms, gone);
        assert_int_equal(wall->missing, gone ? 2 : why == 6 ? 1 : 0);
    }
    bench_reset(&rng, 1, 0.0, 0.0, NULL);
    fused_wall *touched = wall_at(ff_vec3_make(-1, 0, 0), 0.0, false);
    for (int k = 0; k < 40; k++) { /* on the surface is not inside it */
        bench_push(&(ff_rigid_state){.attitude = {1, 0, 0, 0}})->past.body.velocity.x = 1e-3;
        ff__fused_check_walls(&bench_model, S, bench_newest());
        assert_true(touched->valid && touched->inside == 0);
    }
    for (int torque = 0; torque < 2; torque++) { /* the satellite alone is inside */
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        fused_wall *wall = wall_at(torque ? ff_vec3_make(0, 0, -1) : ff_vec3_make(-1, 0, 0), 1e-4, torque);
        const ff_rigid_state robot = {.attitude = {1, 0, 0, 0}};
        int cycles = 0;
        while (wall->valid && cycles < 100) {
            fused_sample *x = bench_push(&robot);
            x->past.body = (ff_rigid_state){.position = {{2e-4, 0, 0}},
                                            .attitude = ff_quat_exp(ff_vec3_make(0, 0, 2e-4)),
                                            .velocity = {{1e-3, 0, 0}},
                                            .omega = {{0, 0, 1e-3}}};
            if (cycles == 5) { /* one that leaves again counts from the beginning */
                x->past.body.velocity.x = -1e-3;
                x->past.body.omega.z = -1e-3;
            }
            ff__fused_check_walls(&bench_model, S, bench_newest());
            cycles++;
        }
        assert_int_equal(cycles, 6 + 8 + 8 + 1); /* delay and eight cycles */
        assert_int_equal(S->info.phantoms, 1);
    }
}

/* The same of walls that another body carries, whichever has which number, and of stops about an axis: what
 * the robots would feel two cycles ago against twice the threshold, what they feel against it; the
 * satellites' own place; and nothing while one of both is in contact. */
static void test_walls_on_bodies_that_are_gone(void **unused) {
    (void)unused;
    for (int way = 0; way < 48; way++) {
        const int tip = way & 1, b = way % 3 ? 1 - tip : -1, why = way / 8;
        const bool above = way >> 1 & 1, torque = way >> 2 & 1;
        const double noise = why == 1 ? 0.05 : 0.0, torque_noise = why == 1 ? 0.01 : 0.0, v = 0.05, k = 1e3;
        bench_reset(&rng, 2, noise, torque_noise, NULL);
        ff_rigid_state robot[2], body[2];
        for (int i = 0; i < 2; i++)
            robot[i] =
                (ff_rigid_state){.position = test_random_vec3(&rng, 1), .attitude = test_random_quat(&rng)};
        const ff_vec3 n = bench_unit(&rng), r = torque ? ff_vec3_zero() : test_random_vec3(&rng, 0.3);
        const ff_quat q = b < 0 || torque ? ff_quat_identity() : robot[b].attitude;
        const ff_vec3 n_w = ff_quat_rotate(q, n);
        S->start[tip] = robot[tip].attitude;
        const ff_pose to = b < 0 ? ff_pose_identity() : ff_pose_inverse(ff_rigid_pose(&robot[b]));
        /* the tip goes against the normal; a turn about n goes against it */
        const double here =
            torque ? 0.0 : -ff_vec3_dot(n, ff_pose_apply(to, ff_pose_apply(ff_rigid_pose(&robot[tip]), r)));
        memcpy(body, robot, sizeof body);
        if (torque)
            robot[tip].omega = ff_vec3_scale(-v, n);
        else
            robot[tip].velocity = ff_vec3_scale(-v, n_w);
        const double on = torque ? fmax(5.0 * torque_noise, torque_least)
                                 : fmax(4.5 * noise * (b < 0 ? 1.0 : 0.70710678118654752), force_least),
                     beyond = above ? 1.01 : 0.99;
        fused_wall *wall = &S->wall[3];
        /* the law two cycles ago is twice the threshold, or 3 % of what was the largest */
        const double law = 2.0 * on * (why == 2 ? 10.0 : beyond);
        *wall = (fused_wall){.valid = true,
                             .torque = torque,
                             .a = tip,
                             .b = torque ? -1 : b,
                             .n = n,
                             .r = r,
                             .surface = {.valid = true, .k = k, .x0 = here - law / k - 2.0 * v * BENCH_T},
                             .force_max = why == 3 ? law / 0.03 / beyond : 0.0};
        bool gone = above;
        double feels = 0.0;
        if (why == 2) /* the robots feel something */
            feels = on * beyond, gone = !above;
        if (why == 3)
            wall->surface.x0 -= 3.0 * on / k, wall->force_max = (law + 3.0 * on) / 0.03 / beyond;
        if (why == 4 || why == 5) { /* one of both is in contact, or being settled */
            const int who = above && b >= 0 && !torque ? b : tip;
            fused_contact *c = bench_settled(2, way & 8 ? who : 1 - who, way & 8 ? -1 : who, 0, 0);
            c->settled = false;
            c->open = why == 4;
            c->closing = why == 5;
            wall->surface.x0 -= 10.0 * on / k;
            gone = false;
        }
        for (int cycle = 0; cycle < 2; cycle++) {
            bench_push(robot);
            for (int i = 0; i < 2; i++) { /* the satellites stand clear */
                fused_sample *x = fused_at(S, i, bench_newest());
                x->past.body = body[i];
                if (i == tip)
                    x->past.body.position = ff_vec3_axpy(5.0, n_w, body[i].position);
                if (i == tip && torque)
                    x->past.body.attitude = ff_quat_mul(body[i].attitude, ff_quat_exp(ff_vec3_scale(1.0, n)));
            }
            fused_sample *x = fused_at(S, tip, bench_newest());
            if (torque) /* along its axis */
                x->torque = ff_vec3_axpy(feels, n, ff_vec3_scale(5.0, bench_across(&rng, n)));
            else
                x->force = ff_vec3_scale(b < 0 ? feels : 2.0 * feels, bench_unit(&rng)); /* the mean of two */
            assert_true(wall->valid);
            ff__fused_check_walls(&bench_model, S, bench_newest());
            if (why == 4 || why == 5)
                assert_int_equal(wall->missing, 0);
        }
        assert_int_equal(wall->valid, !gone);
        assert_int_equal(S->info.phantoms, gone);
        if (gone || why > 3)
            continue;
        assert_int_equal(wall->missing, 0);
        /* the satellite alone inside, going deeper: as long as its robot can be late, and eight cycles */
        wall->inside = 0;
        for (int cycle = 1; cycle <= 17; cycle++) {
            bench_push(body); /* no robot approaches */
            fused_sample *x = fused_at(S, tip, bench_newest());
            x->T_r.p = ff_vec3_axpy(1.0, n_w, x->T_r.p);
            x->T_r.q = torque ? ff_quat_mul(x->T_r.q, ff_quat_exp(n)) : x->T_r.q;
            x->past.body.velocity = ff_vec3_scale(-v, n_w);
            x->past.body.omega = ff_vec3_scale(-v, torque ? n : ff_vec3_zero());
            S->delay[tip] = 8 * BENCH_T;
            S->delay[1 - tip] = 0.0;
            ff__fused_check_walls(&bench_model, S, bench_newest());
            assert_int_equal(wall->inside, cycle);
            assert_int_equal(wall->valid, cycle < 17);
        }
    }
}

/* Bodies that a chain of contacts joins, against the closure by brute force. */
static void test_groups_of_bodies(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 300; draw++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        unsigned joined[FF_MAX_BODIES];
        for (int i = 0; i < FF_MAX_BODIES; i++)
            joined[i] = 1u << i;
        int acting = 0;
        for (int c = 0; c < FUSED_CONTACTS; c++) {
            fused_contact *x = &S->contact[c];
            x->a = (int)(ff_rng_next(&rng) % 4);
            x->b = (int)(ff_rng_next(&rng) % 5) - 1;
            x->b = x->b == x->a ? -1 : x->b;
            x->open = ff_rng_next(&rng) % 3 == 0;
            x->settled = !x->open && ff_rng_next(&rng) % 2;
            x->anchor = 10 + ff_rng_next(&rng) % 50;
            x->end = 60;
            x->surface.valid = ff_rng_next(&rng) % 2;
            x->mu = 0.1 * c;
        }
        for (int pass = 0; pass < 4; pass++)
            for (int c = 0; c < FUSED_CONTACTS; c++) {
                const fused_contact *x = &S->contact[c];
                if ((x->open || x->settled) && x->b >= 0)
                    for (int i = 0; i < FF_MAX_BODIES; i++)
                        if (joined[i] >> x->a & 1u || joined[i] >> x->b & 1u)
                            joined[i] |= 1u << x->a | 1u << x->b;
            }
        for (int i = 0; i < FF_MAX_BODIES; i++) {
            const unsigned group = ff__fused_group_of(S, i);
            assert_int_equal(group, joined[i]);
            uint64_t anchor = 55;
            ff__actor act[FUSED_CONTACTS];
            const int count = ff__fused_actors(S, group, act);
            int n = 0;
            bool touched = false, settling = false;
            for (int c = 0; c < FUSED_CONTACTS; c++) {
                const fused_contact *x = &S->contact[c];
                touched |= x->open && (x->a == i || x->b == i);
                settling |= x->closing && (x->a == i || x->b == i);
                if (x->open && group >> x->a & 1u && x->anchor < anchor)
                    anchor = x->anchor;
                if ((!x->open && !x->settled) || !(group >> x->a & 1u))
                    continue;
                const ff__actor *a = &act[n++];
                assert_true(a->p.a == x->a && a->p.b == x->b && !a->p.turn && a->mu == x->mu &&
                            a->from == x->anchor);
                assert_true(a->until == (x->open ? UINT64_MAX : 60) && a->series == &x->rows);
                assert_ptr_equal(a->surface, x->surface.valid ? &x->surface : NULL);
                assert_int_equal(a->column,
                                 x->surface.valid ? offsetof(fused_row, residual) : offsetof(fused_row, f));
                acting++;
            }
            assert_int_equal(count, n);
            assert_int_equal(ff__fused_group_anchor(S, group, 55), anchor);
            assert_int_equal(ff__fused_touched(S, i), touched);
            assert_int_equal(ff__fused_settling(S, i), settling);
        }
    }
}

/* One delay ahead: against a wall that is known the satellite comes back with the speed it went in with,
 * after a half sine; what is open has its own surface; without them it flies on. */
static void test_flight_one_delay_ahead(void **unused) {
    (void)unused;
    for (int why = 0; why < 11; why++)
        for (int bodies = 1; bodies < 3; bodies++) {
            bench_reset(&rng, bodies, 0.0, 0.0, NULL);
            const double m[2] = {bench_model.view[0].rigid.mass,
                                 bodies == 2 ? bench_model.view[1].rigid.mass : FF_INF};
            const double reduced = 1.0 / (1.0 / m[0] + 1.0 / m[1]), w = 220.0, v = 0.05, ahead = 8 * BENCH_T;
            ff_rigid_state body[2] = {{.attitude = {1, 0, 0, 0}, .velocity = {{v, 0.01, 0}}},
                                      {.attitude = {1, 0, 0, 0}, .velocity = {{0, 0.01, 0}}}};
            if (why == 4)
                body[0].velocity.x = -v; /* leaves, from inside */
            bench_push(body);
            const ff_profile spring = {
                .valid = true, .k = reduced * w * w, .x0 = why == 4 ? -1e-4 : 0.4 * BENCH_T * v};
            const int b = bodies == 2 ? 1 : -1;
            bool hits = true;
            if (why != 2)
                S->wall[5] = (fused_wall){.valid = true, .b = b, .n = {{-1, 0, 0}}, .surface = spring};
            if (why == 1)
                S->wall[5].valid = hits = false;
            if (why == 2 || why == 3) { /* open, its wall known as well: once */
                fused_contact *c = bench_settled(2, 0, b, 0, 0);
                c->settled = false;
                c->open = true;
                c->n = ff_vec3_make(-1, 0, 0);
                c->surface = spring;
                c->wall = why == 3 ? 5 : -1;
            }
            if (why == 4)
                hits = false;
            if (why == 5)
                S->lead[0] = 0.0;
            if (why == 6)
                S->wall[5].surface.x0 = 2.0 * ahead * v, hits = false; /* out of reach */
            if (why == 7) { /* a contact whose surface is not known, the wall of which is another's */
                fused_contact *c = bench_settled(2, 0, b, 0, 0);
                c->settled = false;
                c->open = true;
                c->surface.valid = false;
            }
            if (why == 8)
                S->wall[5].a = bodies == 2 ? 1 : 0, S->wall[5].b = bodies == 2 ? 0 : -1,
                S->wall[5].n = ff_vec3_make(bodies == 2 ? 1 : -1, 0, 0); /* the other one carries the tip */
            if (why == 10) /* so deep in it that it would give back a hundred times what the body has */
                S->wall[5].surface.x0 = -10.0 * ff_vec3_norm(body[0].velocity) * sqrt(m[0] / spring.k),
                hits = false;
            ff_rigid_state command;
            ff__fused_predict(&bench_model, S, 0, 0, &command);
            if (why == 5) {
                assert_memory_equal(&command, &body[0], sizeof command);
                continue;
            }
            const double back = hits ? -2.0 * v * reduced / m[0] : 0.0; /* change of speed */
            const double meets = 0.4 * BENCH_T, end = meets + FF_PI / w;
            const double vx = body[0].velocity.x;
            /* meanwhile: the common centre moves on, the relative motion is a half sine */
            const double x = hits ? vx * ahead + back * (ahead - 0.5 * (meets + end)) : vx * ahead;
            /* one sub-step's phase of 0.16 where it lets go (test_march.c) */
            assert_near(command.velocity.x, vx + back, 5e-5 * v);
            assert_near(command.position.x, x, 5e-5 * v * ahead);
            assert_near(command.velocity.y, 0.01, 1e-15);
            assert_near(command.position.y, 0.01 * ahead, 1e-15);
        }
}

/* A contact that is over, of 100 rows: force or torque of a law, along its normal or about it. */
static fused_contact *over_by_hand(int tip, int b, bool torque, ff_profile law, ff_vec3 n) {
    bench_reset(&rng, 2, 0.0, 0.0, NULL);
    const ff_quat q = b < 0 ? ff_quat_identity() : test_random_quat(&rng);
    for (int k = 0; k < 100; k++) {
        const double p = 3e-3 * sin(0.05 * k), v = 3e-3 * 0.05 / BENCH_T * cos(0.05 * k);
        const double f = ff_profile_force(&law, p, v);
        ff_rigid_state robot[2] = {{.attitude = {1, 0, 0, 0}}, {.attitude = {1, 0, 0, 0}}};
        if (b >= 0)
            robot[b].attitude = q;
        const ff_vec3 n_w = ff_quat_rotate(q, n);
        if (torque)
            robot[tip].attitude = ff_quat_exp(ff_vec3_scale(-p, n)), robot[tip].omega = ff_vec3_scale(-v, n);
        else
            robot[tip].position = ff_vec3_scale(-p, n_w), robot[tip].velocity = ff_vec3_scale(-v, n_w);
        bench_push(robot);
        fused_sample *x = fused_at(S, tip, bench_newest());
        x->torque = torque ? ff_vec3_scale(f, n) : test_random_vec3(&rng, 50.0);
        x->force = torque ? test_random_vec3(&rng, 50.0) : ff_vec3_scale(b < 0 ? f : 2.0 * f, n_w);
    }
    fused_contact *c = bench_settled(0, tip, torque ? -1 : b, 5, 95);
    c->torque = torque;
    c->n = n;
    c->r = ff_vec3_zero();
    c->closing = true;
    c->stage = SETTLE;
    return c;
}

/* The settlement of a contact does not stand where it moves what the contact did by more than two standard
 * deviations and .3 %, and explains the force less: what was live leaves less than nine tenths of its
 * squares. Then what was live is taken again. A law with stiffness and damping e too large leaves e^2 of the
 * force's squares. */
static void test_whether_a_settlement_stands(void **unused) {
    (void)unused;
    for (int way = 0; way < 48; way++) {
        const int tip = way & 1, why = way / 8, b = way & 2 ? 1 - tip : -1;
        const bool torque = way & 4;
        const ff_profile law = {.valid = true, .k = 1e4, .c = 20.0};
        const ff_vec3 n = bench_unit(&rng);
        fused_contact *c = over_by_hand(tip, b, torque, law, n);
        const double least = why == 1 ? 1.005 : 0.995, far = why == 2 ? 0.99 : 1.01, sd = 0.01;
        const double e = 0.1 * sqrt(0.9) * least;
        c->surface = (ff_profile){.valid = true, .k = 1.1 * law.k, .c = 1.1 * law.c};
        c->live =
            (fused_settled){.surface = {.valid = why != 3, .k = (1.0 + e) * law.k, .c = (1.0 + e) * law.c},
                            .n = n,
                            .mu = 0.07};
        c->live_sd = sd;
        c->mu = 0.2;
        c->passes = 2;
        c->taken.force = c->taken.peak = 5.0;
        c->row = 77;
        c->first.surface.valid = true;
        if (why == 4) /* another at the same time */
            bench_settled(3, tip, -1, 50, 99);
        fused_at(S, tip, 40)->valid = false; /* not a sample */
        fused_at(S, tip, 40)->force = fused_at(S, tip, 40)->torque = ff_vec3_scale(1e5, n);
        ff_rigid_state *begun = &fused_at(S, tip, 5)->past.body, *end = &fused_at(S, tip, 95)->past.body;
        ff_rigid_state was = *end;
        const ff_vec3 u = bench_unit(&rng),
                      moves = ff_vec3_scale((2.0 * sd + 0.003) * 0.1 * far, bench_unit(&rng));
        begun->velocity = begun->omega = test_random_vec3(&rng, 1.0);
        was.velocity = was.omega = ff_vec3_axpy(0.1, u, begun->velocity);
        *end = was;
        if (torque) { /* the other kind of motion does not count */
            end->omega = ff_vec3_add(was.omega, moves);
            end->velocity = test_random_vec3(&rng, 1.0);
        } else {
            end->velocity = ff_vec3_add(was.velocity, moves);
            end->omega = test_random_vec3(&rng, 1.0);
        }
        const ff_rigid_state moved = *end;
        ff_rigid_state all[2], other = fused_at(S, 1 - tip, 95)->past.body;
        all[tip] = was;
        all[1 - tip] = other;
        all[1 - tip].velocity = test_random_vec3(&rng, 1.0); /* a pair's bodies go back together */
        const bool stands = ff__fused_stands(S, c, all);
        if (!stands && c->b >= 0)
            other = all[c->b];
        assert_memory_equal(&fused_at(S, 1 - tip, 95)->past.body, &other, sizeof other);
        assert_true(c->checked);
        assert_int_equal(stands, why > 0 && why < 5);
        assert_int_equal(S->info.refused, !stands);
        if (stands) {
            assert_memory_equal(end, &moved, sizeof moved);
            assert_true(c->stage == SETTLE && c->mu == 0.2 && c->passes == 2 && c->row == 77);
            continue;
        }
        assert_memory_equal(end, &was, sizeof was);
        assert_true(c->stage == TAKE_FIRST && c->mu == 0.07 && c->passes == 0 && c->row == c->row_from &&
                    !c->first.surface.valid && c->taken.force == 0.0 && c->taken.peak == 0.0);
        assert_near(c->next.surface.k, (1.0 + e) * law.k, 0.0);
        assert_vec3_near(c->next.n, n, 0.0);
    }
}

/* A replay over the end of a contact that is being settled asks whether that stands: of its own bodies, once,
 * and not of one that ended where it begins. */
static void test_a_replay_asks_whether_it_stands(void **unused) {
    (void)unused;
    for (int why = 0; why < 8; why++) {
        const ff_profile law = {.valid = true, .k = 1e4};
        const int tip = why == 1 ? 1 : 0;
        fused_contact *c = over_by_hand(tip, -1, false, law, ff_vec3_make(1, 0, 0));
        c->surface = law;
        c->end = why == 2 ? 80 : why == 3 ? 99 : why == 4 ? 100 : 95;
        c->closing = why != 5;
        c->stage = why == 6 ? PLACE : SETTLE;
        c->checked = why == 7;
        c->live.surface.valid = false; /* then it stands */
        S->replay[0] = (ff__replay){true, 1u, 80};
        int work = 1 << 20;
        ff__fused_replay_some(&bench_model, S, 99, &work);
        assert_false(S->replay[0].active);
        assert_int_equal(c->checked, why == 0 || why == 3 || why == 7);
    }
}

/* A recomputation whose rows have left the history is given up; one that is held comes to the present, in
 * parts, and leaves a free body where it was. */
static void test_replays_come_to_the_present(void **unused) {
    (void)unused;
    for (int far = 0; far < 2; far++) {
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        const int cycles = 1100;
        ff_rigid_state body[2] = {{.attitude = {1, 0, 0, 0}, .velocity = {{0.01, 0, 0}}},
                                  {.attitude = {1, 0, 0, 0}}};
        for (int k = 0; k < cycles; k++) {
            body[0].position.x = 0.01 * BENCH_T * k;
            bench_push(body);
        }
        const uint64_t k = bench_newest(), from = far ? k - (1024 - 16) - 1 : k - 40;
        fused_at(S, 0, from)->past.body.position.y = 1.0; /* what is found there is carried on */
        S->replay[1] = (ff__replay){true, 1u, from};
        if (!far) { /* of the other body alone, before */
            int all = 1 << 20;
            S->replay[0] = (ff__replay){true, 2u, k - 30};
            fused_at(S, 1, k - 30)->past.body.position.z = 2.0;
            S->replay[1].active = false;
            ff__fused_replay_some(&bench_model, S, k, &all);
            assert_true(!S->replay[0].active && fused_at(S, 1, k)->past.body.position.z == 2.0);
            assert_true(fused_at(S, 0, k)->past.body.position.z == 0.0);
            S->replay[1].active = true;
        }
        int work = 60 * 10, calls = 1;
        ff__fused_replay_some(&bench_model, S, k, &work);
        if (far) {
            assert_false(S->replay[1].active);
            assert_true(work == 600 && fused_at(S, 0, k)->past.body.position.y == 0.0);
            continue;
        }
        assert_int_equal(S->replay[1].at, from + 10); /* of a body that does not turn a row costs 60 */
        while (S->replay[1].active && ++calls < 10) {
            work = 60 * 10;
            ff__fused_replay_some(&bench_model, S, k, &work);
        }
        assert_int_equal(calls, 4);
        assert_vec3_near(fused_at(S, 0, k)->past.body.position,
                         ff_vec3_make(0.01 * BENCH_T * (double)k, 1.0, 0), 1e-12);
        assert_true(fused_at(S, 1, k)->past.body.position.y == 0.0);
    }
}

/* A body with joints, next to one without: the wrench as it is measured, and the commands one delay ahead
 * under wrench and load, which act as an impulse at the beginning of each of the cycles that are begun. Of a
 * ball the momentum turns nothing: each step in closed form. */
static void test_joints_one_delay_ahead(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 12; draw++) {
        const double lead = (draw % 3 == 0 ? 0.0 : draw % 3 == 1 ? 8.0 : 2.5) * BENCH_T, m = 150.0, I = 30.0;
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        const ff_rigid_config ball = {.mass = m, .inertia = ff_mat3_diag(I, I, I)};
        ff_body_view view[2] = {
            {.joints = true, .com = test_random_vec3(&rng, 0.3), .com_rate = test_random_vec3(&rng, 0.1)},
            {.joints = false}};
        ff_rigid_state base[2];
        ff_body_sample y[2];
        ff_detection detected[2] = {{.contact = draw % 2 == 0}, {.contact = draw % 2 == 1}};
        ff_sent sent[2] = {{.limited = false}};
        for (int i = 0; i < 2; i++) {
            assert_int_equal(ff_rigid_create(&ball, &view[i].rigid), FF_OK);
            base[i] = (ff_rigid_state){test_random_vec3(&rng, 1), test_random_quat(&rng),
                                       test_random_vec3(&rng, 0.5), test_random_vec3(&rng, 0.5)};
            y[i] = (ff_body_sample){.f_b = {test_random_vec3(&rng, 5), test_random_vec3(&rng, 20)},
                                    .T_wr = test_random_pose(&rng, 1),
                                    .load = {test_random_vec3(&rng, 20), test_random_vec3(&rng, 5)},
                                    .valid = true};
            S->lead[i] = S->delay[i] = lead;
        }
        bench_model.config.delay_fixed = true;
        const ff_body_view *const views[2] = {&view[0], &view[1]};
        const ff_method_in in = {.cycle = BENCH_T,
                                 .bodies = 2,
                                 .sample = y,
                                 .detected = detected,
                                 .sent = sent,
                                 .view = views,
                                 .base = base};
        static ff_method_out out;
        const double right = base[1].position.x; /* a motion that is none is refused, and not kept */
        base[1].position.x = FF_NAN;
        assert_int_equal(ff__fused_joints_step(&bench_model, S, &in, &out), FF_ERR_NOT_FINITE);
        assert_int_equal(S->history.count, 0);
        base[1].position.x = right;
        assert_int_equal(ff__fused_joints_step(&bench_model, S, &in, &out), FF_OK);
        assert_true(out.has_command);
        for (int i = 0; i < 2; i++) {
            const fused_sample *x = fused_at(S, i, 0);
            assert_vec3_near(x->T_r.p, ff_vec3_sub(y[i].T_wr.p, ff_quat_rotate(y[i].T_wr.q, view[i].com)),
                             1e-15);
            assert_memory_equal(&x->past.body, &base[i], sizeof base[i]);
            assert_vec3_near(x->past.load.force, ff_vec3_add(y[i].load.force, y[i].f_b.f), 0.0);
            assert_memory_equal(&out.f_b[i], &y[i].f_b, sizeof y[i].f_b);
            assert_int_equal(out.in_contact[i], detected[i].contact);
            assert_near(out.lead[i], lead, 0.0);
            assert_near(S->report[i].delay, lead, 0.0);
            for (int next = 0; next < 2; next++) {
                const double ahead = lead + next * BENCH_T;
                const int steps = (int)ceil(ahead / BENCH_T - 1e-6);
                ff_vec3 com = view[i].com, rate = view[i].com_rate;
                ff_quat q = base[i].attitude;
                ff_vec3 w = base[i].omega, p = ff_vec3_add(base[i].position, ff_quat_rotate(q, com)),
                        v = ff_vec3_add(base[i].velocity,
                                        ff_quat_rotate(q, ff_vec3_add(rate, ff_vec3_cross(w, com))));
                for (int n = 0; n < steps; n++) {
                    const double h = ahead / steps;
                    const ff_vec3 push = ff_quat_unrotate(q, y[i].load.force);
                    v = ff_vec3_axpy(h / m, ff_vec3_add(ff_quat_rotate(q, y[i].f_b.f), y[i].load.force), v);
                    w = ff_vec3_axpy(h / I, ff_vec3_add(y[i].f_b.t, y[i].load.torque), w);
                    w = ff_vec3_axpy(-h / I, ff_vec3_cross(com, push), w);
                    p = ff_vec3_axpy(h, v, p);
                    q = ff_quat_mul(q, ff_quat_exp(ff_vec3_scale(h, w)));
                }
                com = ff_vec3_axpy(ahead, rate, com);
                const ff_rigid_state *to = next ? &out.next_command[i] : &out.command[i];
                assert_vec3_near(to->position, ff_vec3_sub(p, ff_quat_rotate(q, com)), 1e-12);
                assert_vec3_near(to->velocity,
                                 ff_vec3_sub(v, ff_quat_rotate(q, ff_vec3_add(rate, ff_vec3_cross(w, com)))),
                                 1e-12);
                assert_vec3_near(to->omega, w, 1e-12);
                assert_true(ff_quat_angle(to->attitude, q) < 1e-7);
            }
        }
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 79);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whether_a_settlement_stands),
        cmocka_unit_test(test_a_replay_asks_whether_it_stands),
        cmocka_unit_test(test_delay_in_free_flight),
        cmocka_unit_test(test_delay_is_left_alone),
        cmocka_unit_test(test_walls_that_are_gone),
        cmocka_unit_test(test_walls_on_bodies_that_are_gone),
        cmocka_unit_test(test_groups_of_bodies),
        cmocka_unit_test(test_flight_one_delay_ahead),
        cmocka_unit_test(test_replays_come_to_the_present),
        cmocka_unit_test(test_joints_one_delay_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
