/* fused, function by function: how a contact begins, is reported, ends, is settled and remembered. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state

static double mobility_of(const bench_truth *z, const ff_rigid_state x[2], ff_vec3 n_w) {
    double sum = 0.0;
    const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&x[0]), z->r);
    for (int i = 0; i < bench_model.bodies; i++)
        sum += ff_view_mobility(&bench_model.view[i], &x[i],
                                ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&x[i])), tip), n_w);
    return sum;
}

/* A contact as it is opened: point across the force, effective mass, speed, and the row before the onset,
 * further back where the satellite is ahead of its robot. */
static void test_a_contact_begins(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 40; draw++) {
        const int bodies = 1 + draw % 2, ahead = draw % 3 * 3;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.rate[0] = z.rate[1] = ff_vec3_zero();
        if (draw % 4 == 3)
            z.slide = 0.0;
        bench_reset(&rng, bodies, 0.0, 0.0, NULL);
        const int k = 21; /* the onset lies before it, after 20 */
        bench_play(&z, k + 1);
        for (int i = 0; i <= k; i++) { /* the satellites so many cycles ahead */
            ff_rigid_state robot[2];
            bench_at(&z, (i + ahead) * BENCH_T < z.onset ? (i + ahead) * BENCH_T : i * BENCH_T, robot);
            for (int b = 0; b < bodies; b++) {
                fused_at(S, b, (uint64_t)i)->past.body = robot[b];
                fused_at(S, b, (uint64_t)i)->past.body.position =
                    ff_vec3_axpy((i + ahead) * BENCH_T < z.onset ? 0.0 : ahead * BENCH_T, robot[b].velocity,
                                 robot[b].position);
            }
        }
        const fused_sample *x = fused_at(S, 0, (uint64_t)k);
        const ff_vec3 n_w = z.b < 0 ? z.n : ff_quat_rotate(fused_at(S, 1, (uint64_t)k)->T_r.q, z.n);
        S->free_since[0] = draw % 5 == 4 ? 17 : 0;
        if (bodies == 2)
            S->free_since[1] = draw % 10 == 5 ? 18 : 0;
        ff__fused_begin(&bench_model, S, 0, z.b, false, n_w, (uint64_t)k);
        const fused_contact *c = &S->contact[0];
        assert_true(c->open && !c->torque && !c->closing && c->wall == -1 && c->detected == (uint64_t)k);
        assert_true(c->due == (uint64_t)k + 1 && c->stage == REST);
        assert_vec3_near(c->n, z.n, 1e-9);
        const ff_vec3 n_a = ff_quat_unrotate(x->T_r.q, n_w);
        assert_vec3_near(c->r, ff_vec3_axpy(-ff_vec3_dot(z.r, n_a), n_a, z.r), 1e-9);
        const ff_rigid_state body[2] = {x->past.body, fused_at(S, bodies - 1, (uint64_t)k)->past.body};
        assert_near(c->mass * mobility_of(&(bench_truth){.r = c->r}, body, n_w), 1.0, 1e-3 + 2e-2 * ahead);
        /* 4 rows, a fifth of the delay, how far the satellite is ahead, and one row with a force */
        const uint64_t back = 4 + (uint64_t)ceil(ahead + 0.2 * 8 - 1e-6) + 1;
        uint64_t earliest =
            S->free_since[0] > S->free_since[1] && S->free_since[0] > 0 ? S->free_since[0] : 0;
        if (bodies == 2 && S->free_since[1] > earliest)
            earliest = S->free_since[1];
        assert_int_equal(c->anchor, (uint64_t)k - back > earliest ? (uint64_t)k - back : earliest);
        assert_int_equal(c->row_from, c->anchor);
        if (earliest == 0)
            assert_near(c->speed, z.speed, 1e-9);
        assert_int_equal(c->slides, bodies == 2 || z.slide > 0.0);
        double energy = 0.0;
        for (int i = 0; i < bodies; i++)
            energy += ff_view_energy(&bench_model.view[i], &fused_at(S, i, c->anchor)->past.body);
        for (int i = 0; i < bodies; i++)
            assert_near(fused_at(S, i, c->anchor)->past.limit, energy, 1e-12 * energy);
        assert_near(c->force_max, ff_vec3_norm(x->force), 1e-9);
        assert_near(c->torque_max, ff_vec3_norm(x->torque), 0.0);
        for (uint64_t i = c->anchor; i <= (uint64_t)k; i++)
            assert_true(fused_row_of(c, i)->use == 1 && fused_row_of(c, i)->residual == 0.0);
    }
}

/* What bounds a beginning: contacts that are all in use, a point farther than any arm, noise that hides the
 * onset, the history, and the limits of two groups that it joins. */
static void test_what_bounds_a_beginning(void **unused) {
    (void)unused;
    const ff_vec3 n = ff_vec3_make(0, 0, 1);
    bench_reset(&rng, 2, 0.5, 0.0, NULL);
    bench_rest(60);
    fused_sample *x = fused_at(S, 0, 59);
    x->force = ff_vec3_make(0, 0, 10);
    for (int far = 0; far < 2; far++) { /* r = F x M/F^2 of 2.99 and 3.01 m */
        x->torque = ff_vec3_make(far ? 30.1 : 29.9, 0, 0);
        ff__fused_begin(&bench_model, S, 0, -1, false, n, 59);
        assert_vec3_near(S->contact[far].r, ff_vec3_make(0, far ? 0.0 : 2.99, 0), 1e-12);
        S->contact[far].open = far == 0;
        S->contact[far].settled = far == 1;
        S->contact[0].open = false;
        S->contact[0].settled = true;
    }
    for (int c = 2; c < FUSED_CONTACTS; c++)
        ff__fused_begin(&bench_model, S, 1, -1, false, n, 59);
    fused_state before = *S;
    ff__fused_begin(&bench_model, S, 0, -1, false, n, 59); /* none is free */
    assert_memory_equal(S, &before, sizeof before);

    for (int why = 0; why < 3; why++) {
        bench_reset(&rng, 1, why == 0 ? 0.5 : 0.0, 0.0, NULL);
        bench_rest(950);
        for (uint64_t i = 940; i < 949; i++) /* three of them are above 1.5 times the noise, two are not */
            fused_at(S, 0, i)->force = ff_vec3_make(0, 0, why == 0 ? 0.6 * 0.5 : 0.0);
        fused_at(S, 0, 949)->force = ff_vec3_make(0, 0, 10);
        S->delay[0] = why == 2 ? 30.0 : 8 * BENCH_T; /* a fifth of it is longer than the history */
        if (why == 1)
            for (uint64_t i = 0; i < 949;
                 i++) /* above 3e-3 of the force all the time: 400 rows are looked at */
                fused_at(S, 0, i)->force = ff_vec3_make(0, 0, 0.011);
        ff__fused_begin(&bench_model, S, 0, -1, false, n, 949);
        const uint64_t back[] = {4 + 2 + 8, 4 + 2 + 400, FUSED_RING - SPARE};
        assert_int_equal(S->contact[0].anchor, why == 2 ? 0 : 949 - back[why]);
    }
    bench_reset(&rng, 1, 0.0, 0.0, NULL);
    bench_rest(1500);
    fused_at(S, 0, 1499)->force = ff_vec3_make(0, 0, 10);
    S->delay[0] = 30.0;
    ff__fused_begin(&bench_model, S, 0, -1, false, n, 1499);
    assert_int_equal(S->contact[0].anchor, 1499 - (FUSED_RING - SPARE));

    for (int why = 0; why < 4; why++) { /* each of two bodies has its wall, then they touch */
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        ff_rigid_state fly[2] = {{.attitude = {1, 0, 0, 0}},
                                 {.attitude = {1, 0, 0, 0}, .velocity = {{0.1, 0, 0}}}};
        for (int k = 0; k < 60; k++)
            bench_push(fly);
        for (int i = 0; i < 2; i++) {
            fused_contact *c = bench_settled(i, i, -1, 20, 0);
            c->settled = false;
            c->open = why < 2 || i == 0; /* or one of them flies */
            c->anchor = why == 3 ? 58 : 20;
            for (uint64_t k = 20; k < 60; k++)
                fused_at(S, i, k)->past.limit = i ? 3.0 : 2.0;
        }
        if (why == 1) /* they were one group before */
            bench_settled(3, 0, 1, 30, 55);
        fused_at(S, 0, 59)->force = ff_vec3_make(0, 0, 10);
        fused_at(S, 1, 59)->force = ff_vec3_make(0, 0, -10);
        ff__fused_begin(&bench_model, S, 0, 1, false, n, 59);
        const fused_contact *c = &S->contact[why == 2 || why == 3 ? 1 : 2];
        assert_true(c->open && c->b == 1 && c->anchor > 20 && c->anchor < 58);
        const double flies = 0.5 * bench_model.view[1].rigid.mass * 0.1 * 0.1;
        const double limit[] = {5.0, 0.0, 2.0 + flies, flies}; /* last: both flew there yet */
        for (int i = 0; i < 2; i++)
            assert_near(fused_at(S, i, c->anchor)->past.limit, why == 1 ? 2.0 + i : limit[why], 1e-12);
    }
}

/* A wall that was remembered is known again where the tip stands in it, and only there. */
static void test_a_known_wall_is_found(void **unused) {
    (void)unused;
    for (int why = 0; why < 9; why++) {
        bench_truth z;
        bench_draw(&rng, 2, &z);
        z.rate[0] = z.rate[1] = ff_vec3_zero();
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        bench_play(&z, 22);
        const ff_vec3 n_w = ff_quat_rotate(fused_at(S, 1, 21)->T_r.q, z.n);
        double p, v;
        bench_depth(&z, 21 * BENCH_T, &p, &v);
        const double reach = 3.0 * z.speed * BENCH_T; /* how far it may be off */
        fused_wall *wall = &S->wall[3];
        *wall = (fused_wall){
            .valid = true, .b = 1, .n = z.n, .r = z.r, .surface = z.law, .mu = 0.07, .force_max = 10};
        if (why == 0 || why == 7)
            wall->surface.x0 += p + (why == 0 ? 0.95 : -0.95) * reach;
        if (why == 1)
            wall->surface.x0 += p + 1.05 * reach;
        if (why == 2)
            wall->b = -1;
        if (why == 3)
            wall->torque = true;
        if (why == 4)
            wall->valid = false;
        if (why == 5)
            wall->n = ff_quat_rotate(ff_quat_exp(ff_vec3_scale(0.7, z.along)), z.n); /* cos 0.7 < 0.8 */
        if (why == 6) {                                                              /* a nearer one */
            S->wall[7] = *wall;
            S->wall[7].surface.x0 += p + 0.1 * reach;
            wall->surface.x0 += p - 0.5 * reach;
        }
        if (why == 8) { /* known no better than that */
            wall->surface.x0 += p + 2.0 * reach;
            wall->surface.sd_x0 = 0.5 * reach;
        }
        ff__fused_begin(&bench_model, S, 0, 1, false, n_w, 21);
        const fused_contact *c = &S->contact[0];
        const bool found = why == 0 || why >= 6;
        assert_int_equal(c->wall, why == 6 ? 7 : found ? 3 : -1);
        assert_int_equal(c->wall_used, found);
        assert_int_equal(c->surface.valid, found);
        if (!found)
            continue;
        assert_vec3_near(c->n, z.n, 0.0);
        assert_vec3_near(c->r, z.r, 0.0);
        assert_near(c->mu, 0.07, 0.0);
        assert_near(c->surface.k, z.law.k, 0.0);
        assert_near(fused_row_of(c, 21)->s, p + z.law.x0, 1e-12); /* its rows are along that normal */
    }
}

/* Peak force of a mass with speed v on a spring and damper, by fine steps. */
static double peak_of(double m, double k, double c, double v) {
    double x = 0.0, peak = 0.0;
    const double h = 1e-4 / sqrt(k / m);
    do {
        const double f = k * x + c * v, mid = v - 0.5 * h * f / m;
        peak = fmax(peak, f);
        x += h * mid;
        v -= h / m * (k * (x - 0.5 * h * mid) + c * mid);
    } while (v > 0.0);
    return peak;
}

static void test_report_of_a_contact(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 12; draw++) {
        const int bodies = 1 + draw % 2;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        bench_reset(&rng, bodies, 0.0, 0.0, NULL);
        bench_play(&z, 150);
        fused_contact *c = bench_open(0, &z, z.n, z.r, 14, 22, 149);
        const double m = c->mass = 150.0, ratio = draw % 4 * 0.2;
        c->surface = z.law;
        c->surface.c = 2.0 * ratio * sqrt(z.law.k * m);
        c->surface.sd_k = 1.5;
        c->surface.sd_c = 2.5;
        c->surface.sd_x0 = 3.5e-9; /* little beside all that counts */
        c->mu = 0.01;
        bench_model.config.acceleration[0] = draw % 3 ? 2.0 : 0.0; /* either may be without a limit */
        bench_model.config.acceleration[1] = draw % 3 != 1 ? 3.0 : 0.0;
        S->delay[0] = 0.03;
        S->report[0].contacts = 5;
        ff__fused_fill_report(&bench_model, S, c, 149, 0, true);
        const fused_report *r = &S->report[0];
        assert_true(r->known && !r->torque && r->law == 0 && !r->warm && r->contacts == 5);
        assert_near(r->stiffness + r->stiffness_sd, z.law.k + 1.5, 1e-9);
        assert_near(r->damping + r->damping_sd, c->surface.c + 2.5, 1e-9);
        assert_near(r->surface_sd, 3.5e-9, 0.0);
        assert_near(r->delay, 0.03, 0.0);
        assert_near(r->delay_configured, 8 * BENCH_T, 0.0);
        assert_near(ff_vec3_dot(z.n, r->surface), -z.law.x0, 1e-12); /* on the plane, below the tip */
        ff_rigid_state robot[2];
        bench_at(&z, 22 * BENCH_T, robot);
        const ff_vec3 tip = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&robot[1])),
                                          ff_pose_apply(ff_rigid_pose(&robot[0]), z.r));
        assert_vec3_near(ff_vec3_cross(r->surface, z.n), ff_vec3_cross(tip, z.n), 1e-9);
        assert_near(r->samples, FF_PI / z.w / BENCH_T,
                    2.001); /* satellites as the robots: the half sine, every second row */
        /* free for delay and cycle, then as the robots can brake */
        const double brakes = bodies == 1 ? (draw % 3 ? 2.0 : 0.0) : draw % 3 == 2 ? 5.0 : 0.0;
        double limit = z.speed * (z.law.k * (0.03 + BENCH_T) + c->surface.c);
        if (brakes > 0.0)
            limit += z.law.k * z.speed * z.speed / (2.0 * brakes);
        assert_near(r->peak_limit / limit, 1.0, 1e-12);
        assert_near(r->peak_ideal / peak_of(m, z.law.k, c->surface.c, z.speed), 1.0, 1e-4);
        assert_int_equal(r->outside, 0);
        ff__fused_fill_report(&bench_model, S, c, 60, 0, false); /* while it lasts */
        assert_int_equal(r->samples, 60 - 22 + 1);

        c->surface.law = 1; /* another law: no peak in closed form */
        ff__fused_fill_report(&bench_model, S, c, 149, 0, true);
        assert_true(isnan(r->peak_limit) && isnan(r->peak_ideal));
        c->surface.valid = false;
        ff__fused_fill_report(&bench_model, S, c, 149, 0, true);
        assert_true(!r->known && isnan(r->peak_limit));
        int felt = 0;
        for (uint64_t i = 14; i < 150; i++)
            felt += fused_row_of(c, i)->f > 0.0;
        assert_true(abs(r->samples - felt) <= 1); /* counted in steps of two rows */
    }
}

/* What is outside: each cause by the hundredth of the impulse that its standard deviation alone must not
 * reach, the rest by limits of its own. */
static void test_report_says_what_is_outside(void **unused) {
    (void)unused;
    bench_truth z;
    bench_draw(&rng, 1, &z);
    const unsigned reasons[] = {0,
                                FUSED_FEW_SAMPLES,
                                FUSED_WEAK,
                                FUSED_SKEW,
                                FUSED_LOOK_BACK,
                                FUSED_NO_ESTIMATE,
                                FUSED_BANDWIDTH,
                                FUSED_SEVERAL,
                                FUSED_FRICTION,
                                FUSED_MISFIT,
                                FUSED_MISFIT,
                                FUSED_GEARS};
    for (int why = 0; why < 12; why++)
        for (int beyond = 0; beyond < 2; beyond++) {
            bench_reset(&rng, 1, 0.0, 0.0, NULL);
            bench_play(&z, 150);
            fused_contact *c = bench_open(0, &z, z.n, z.r, 14, 22, 149);
            const double w = 10.0, f = c->force_max, near = beyond ? 1.02 : 0.98;
            fused_config *config = &bench_model.config;
            fused_report *r = &S->report[0];
            c->surface = z.law;
            c->mass = z.law.k / (w * w);
            S->delay[0] = 0.05;
            bool final = true;
            if (why == 1)
                final = false, c->detected = beyond ? 149 - 2 : 149 - 3;
            c->frozen = why == 4 && beyond;
            if (why == 5)
                c->surface.valid = !beyond;
            if (why == 7) {
                S->contact[2] = *c;
                S->contact[2].settled = true;
                S->contact[2].open = false;
                S->contact[2].end = beyond ? c->anchor + 1 : c->anchor;
            }
            /* linear in noise, skew, friction, the roots of the misfits and of give
             */
            double part[2] = {0};
            for (int pass = 0; pass < 3; pass++) {
                const double x = pass < 2 ? pass + 1.0 : 1.0 + (near * 0.01 - part[0]) / (part[1] - part[0]);
                if (why == 2)
                    config->force_noise = x * 1e-3 * f;
                if (why == 3)
                    config->skew = -x * 5e-2;
                if (why == 6)
                    config->sensor_lag = x * 5e-2;
                if (why == 8)
                    c->mu = x * 0.1;
                if (why == 9)
                    c->surface.J = x * x * (double)(c->until - c->row_from + 1);
                if (why == 10)
                    c->side = x * x * 1e-6;
                S->gears[0].begun = why == 11;
                for (int i = 0; i < 6; i++)
                    S->gears[0].C[i][i] = x * x * 0.05 / z.law.k;
                ff__fused_fill_report(&bench_model, S, c, 149, 0, final);
                if (pass < 2)
                    part[pass] = r->impulse_sd;
                if (part[1] == part[0] && pass == 1)
                    break; /* not by a standard deviation */
            }
            assert_int_equal(r->outside, beyond ? reasons[why] : 0);
            if (r->known)
                assert_true(r->restitution_sd > r->impulse_sd &&
                            r->restitution_sd < 2.0 * r->impulse_sd + 1e-12);
        }
}

/* Over when satellite and robot have both left it for three cycles; or when no force has come for longer than
 * the robot can be late, whatever the satellite does. */
static void test_a_contact_is_over(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 30; draw++) {
        const int bodies = 1 + draw % 2, how = draw / 2 % 5;
        bench_truth z;
        bench_draw(&rng, bodies, &z);
        z.w = ff_rng_range(&rng, 12.0, 14.0);
        bench_reset(&rng, bodies, 0.0, 0.0, NULL);
        bench_play(&z, 150);
        fused_contact *c = bench_open(0, &z, z.n, z.r, 14, 22, 149);
        c->surface = z.law;
        uint64_t silent = 0, zero = 0, turned = 0, end = 0;
        for (uint64_t i = 22; i < 150; i++) {
            if (!silent && i > 40 && fused_row_of(c, i)->f < force_least)
                silent = i;
            if (!zero && i > 40 && fused_row_of(c, i)->f <= 0.0)
                zero = i;
            if (!turned && fused_row_of(c, i)->v < 0.0)
                turned = i;
            if (how == 1 || how == 4) { /* the satellite moves further inside */
                ff_rigid_state robot[2];
                bench_at(&z, 25 * BENCH_T, robot);
                for (int b = 0; b < bodies; b++)
                    fused_at(S, b, i)->past.body = robot[b];
            }
        }
        assert_true(turned > 22 && silent > turned && silent < 100);
        if (how == 2 || how == 4)
            c->surface.valid = false;
        if (how == 3) { /* what is left of the force is noise, but not in the mean */
            bench_model.config.force_noise = 0.01 * c->force_max;
            const double mean = 0.75 * fused_noise_of(&bench_model.config, c) + 0.005 * c->force_max;
            for (uint64_t i = silent; i < 150; i++)
                fused_row_of(c, i)->f = i < silent + 20 ? 1.03 * mean : 0.0;
        }
        while (!end)
            for (uint64_t i = 23; i < 150 && !end; i++)
                end = ff__fused_is_over(&bench_model, S, c, i) ? i : 0;
        if (how == 0)
            assert_int_equal(end, zero + 2);
        if (how == 2)
            assert_int_equal(end, silent + 2);
        if (how == 1 || how == 4)
            /* 1.5 delays of 8 cycles, and what noise may hide; where no surface says so, 18 at most */
            assert_int_equal(end, silent + (bench_model.config.force_noise > 0.0 ? 36 : how == 4 ? 18 : 24));
        if (how ==
            3) /* above 0.75 of the noise and 1/200 of the peak, which is half of it, in the mean of 16 */
            assert_int_equal(end, silent + 20 + 2);
        assert_int_equal(c->over.abandoned, how == 1 || how == 4);
    }
}

static void test_a_contact_is_finished(void **unused) {
    (void)unused;
    for (int why = 0; why < 4; why++) {
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        bench_rest(10);
        fused_contact *c = &S->contact[1];
        c->open = true;
        c->a = 0;
        c->b = why == 3 ? -1 : 1;
        c->row_from = 4;
        c->first.surface.valid = true;
        S->contact[2].open = why == 1 || why == 2;
        S->contact[2].a = why == 1 ? 0 : 1;
        S->contact[2].b = -1;
        ff__fused_finish(S, c, 9);
        assert_true(!c->open && c->settled && c->closing && c->end == 9 && c->asked == 9);
        assert_true(c->stage == PLACE && c->row == 4 && c->passes == 1 && !c->first.surface.valid);
        assert_int_equal(S->free_since[0], why == 1 ? 0 : 9);
        assert_int_equal(S->free_since[1], why == 2 || why == 3 ? 0 : 9);
    }
}

/* One contact in place of those beside it: they, their walls and their count go, and the past from the
 * earliest of them is computed again. And what it was before comes back when that does not stand. */
static void test_one_in_place_of_several(void **unused) {
    (void)unused;
    bench_reset(&rng, 2, 0.0, 0.0, NULL);
    bench_rest(200);
    fused_contact *c = bench_settled(0, 0, -1, 50, 100);
    bench_settled(1, 0, -1, 40, 60)->wall = 2;
    bench_settled(2, 0, -1, 99, 120)->wall = 4;
    bench_settled(3, 0, -1, 100, 120); /* after it */
    bench_settled(4, 1, -1, 60, 80);   /* of the other body */
    c->wall = 4;
    S->wall[2].valid = S->wall[4].valid = true;
    S->report[0].contacts = 7;
    S->report[1].contacts = 3;
    ff__fused_absorb(S, c);
    assert_true(c->settled && !S->contact[1].settled && !S->contact[2].settled && S->contact[3].settled &&
                S->contact[4].settled);
    assert_true(!S->wall[2].valid && S->wall[4].valid);
    assert_true(S->report[0].contacts == 5 && S->report[1].contacts == 3);
    assert_int_equal(ff__replay_reached(S->replay, 1u), 40);
    assert_false(ff__replay_active(S->replay, 2u));

    c->one.judged = true;
    c->one.end = 77;
    c->one.before = (fused_settled){{.valid = true, .k = 7}, {{0, 1, 0}}, {{0, 0, 2}}, 0.3, 1.0};
    c->first.surface.valid = true;
    ff__fused_part(c);
    assert_true(!c->one.judged && c->end == 77 && c->until == 77 && !c->first.surface.valid);
    assert_true(c->surface.k == 7 && c->next.surface.k == 7 && c->mu == 0.3);
    assert_vec3_near(c->n, ff_vec3_make(0, 1, 0), 0.0);
    assert_vec3_near(c->next.n, c->n, 0.0);
    assert_vec3_near(c->r, ff_vec3_make(0, 0, 2), 0.0);
    assert_vec3_near(c->next.r, c->r, 0.0);
}

/* A contact that ended stays while something of its group reaches back over it. */
static void test_settled_contacts_are_swept(void **unused) {
    (void)unused;
    for (int why = 0; why < 9; why++) {
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        bench_rest(100);
        fused_contact *c = bench_settled(0, 0, -1, 20, 50), *o = bench_settled(1, 0, -1, 49, 90);
        o->settled = false;
        o->open = why == 1 || why == 2 || why == 3;
        if (why == 2)
            o->anchor = 50;
        if (why == 3)
            o->a = 1;
        if (why == 4) /* the other body's, joined by a contact of both */
            o->open = true, o->a = 1, bench_settled(2, 0, 1, 20, 30);
        o->closing = o->settled = why == 5;
        if (why == 6 || why == 7 || why == 8)
            S->replay[3] = (ff__replay){true, why == 8 ? 2u : 1u, why == 7 ? 50 : 49};
        c->closing = false;
        ff__fused_sweep(S);
        assert_int_equal(c->settled, why == 1 || why == 4 || why == 5 || why == 6);
        bench_settled(0, 0, -1, 20, 50)->closing = true; /* not settled yet */
        ff__fused_sweep(S);
        assert_true(c->settled);
    }
}

static void conclude(fused_contact *c) {
    c->closing = true;
    c->stage = SETTLE;
    int work = 3000;
    ff__fused_work_on(&bench_model, S, bench_newest(), &work);
}

/* What is settled is remembered: in its own place, a free one, or that of the wall that was touched longest
 * ago. */
static void test_walls_are_remembered(void **unused) {
    (void)unused;
    for (int why = 0; why < 8; why++) {
        bench_reset(&rng, 2, 0.0, 0.0, NULL);
        bench_rest(200);
        fused_contact *c = bench_settled(0, 0, why == 6 ? 1 : -1, 100, 150);
        c->mu = 0.05;
        c->r = ff_vec3_make(0.1, 0.2, 0.3);
        for (int w = 0; w < FUSED_WALLS; w++)
            S->wall[w] = (fused_wall){.valid = why == 1 || why == 2 || why == 7 || w < 3,
                                      .last = why == 7 ? 90
                                              : w == 5 ? 10
                                                       : 90 + (uint64_t)w,
                                      .surface = {.k = 1}};
        c->wall = why == 2 || why == 3 ? 7 : -1;
        S->wall[7].valid = why == 1 || why == 2 || why == 7;
        c->over.abandoned = why == 4;
        if (why == 5)
            c->surface.valid = false;
        const int slot[] = {3, 5, 7, -1, -1, -1, 3, 0}; /* fourth: found missing meanwhile */
        conclude(c);
        assert_true(!c->closing && c->stage == REST);
        for (int w = 0; w < FUSED_WALLS; w++) {
            const fused_wall *x = &S->wall[w];
            assert_int_equal(x->surface.k == 1000, w == slot[why]);
            if (w != slot[why])
                continue;
            assert_true(x->valid && !x->torque && x->a == 0 && x->b == c->b && x->last == 150 &&
                        x->mu == 0.05);
            assert_true(x->force_max == 10 && x->missing == 0 && x->inside == 0);
            assert_vec3_near(x->n, c->n, 0.0);
            assert_vec3_near(x->r, c->r, 0.0);
        }
        assert_int_equal(S->report[0].contacts, 1);
        assert_int_equal(S->report[1].contacts, why == 6);
        assert_int_equal(S->report[1].known, why == 6);
    }
}

/* A settlement whose rows leave the history ends with what is known; one that was judged as the only one is
 * one of several again. */
static void test_a_settlement_ends_with_its_rows(void **unused) {
    (void)unused;
    for (int late = 0; late < 2; late++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_rest(FUSED_RING);
        fused_contact *c = bench_settled(0, 0, -1, 30, 60);
        c->closing = c->one.judged = true;
        c->one.before.surface.k = 7;
        c->stage = TAKE;
        c->row = 30;
        int work = 1;
        ff__fused_work_on(&bench_model, S, 30 + FUSED_RING - 16 + (uint64_t)late, &work);
        assert_int_equal(c->closing, !late);
        assert_int_equal(c->one.judged, !late);
        assert_near(c->surface.k, late ? 7.0 : 1000.0, 0.0);
    }
}

/* The first of several contacts of a body on the world that acted at one time is judged once more as the only
 * one, with noise and without (why 1), when all of them are settled and their rows are still held. */
static void test_several_are_judged_as_one(void **unused) {
    (void)unused;
    for (int why = 0; why < 11; why++) {
        bench_reset(&rng, 2, why == 1 ? 0.0 : 0.2, 0.01, NULL);
        bench_rest(why == 2 ? 900 : why == 9 ? 850 : 200); /* three quarters of the history */
        const bool alone = why == 3;
        fused_contact *first = bench_settled(1, 0, -1, 100, 140),
                      *c = bench_settled(0, 0, -1, 110, alone ? 112 : 150);
        first->surface.J = 41.0 * 50.0;
        c->surface.J = 41.0 * 30.0;
        if (alone)
            first->end = 110;
        if (why == 4) /* one of them is open yet */
            first->settled = false, first->open = true;
        if (why == 5)
            first->b = 1;
        if (why == 10) /* on another body, whichever has the number */
            first->a = c->a = 1, first->b = 0;
        if (why == 6)
            first->torque = true; /* then the other is the first along a normal */
        if (why == 7)
            c->one.tried = true; /* judged before */
        if (why == 8)
            first->frozen = true;
        first->mu = c->mu = 0.02;
        c->asked = 1;
        int work = 1; /* no more than the settling */
        c->closing = true;
        c->stage = SETTLE;
        ff__fused_work_on(&bench_model, S, bench_newest(), &work);
        fused_contact *e = why == 6 ? c : first;
        const bool unites = why < 2 || why == 6 || why == 9;
        assert_int_equal(e->one.judged, unites);
        assert_int_equal(S->report[c->a].contacts, unites ? 0 : 1);
        if (!unites)
            continue;
        assert_true(e->closing && e->one.tried && e->end == 150 && e->mu == 0.0 && e->passes == 1 &&
                    e->row >= e->row_from && !e->first.surface.valid);
        assert_true(e->one.before.mu == 0.02 && e->one.before.surface.k == 1000 &&
                    e->one.end == (why == 6 ? 150u : 140u));
        assert_near(e->one.before.misfit, 50.0 + 30.0, 1e-9);
    }
}

/* A force with strong friction that was taken for two contacts: judged as one, its friction and normal come
 * out, the other contact is gone, and the past is computed again. */
static void test_two_that_were_one(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 6; draw++) {
        const bool stands = draw < 4; /* else a force across that no friction explains: all is as it was */
        bench_truth z;
        bench_draw(&rng, 1, &z);
        z.mu = 0.35;
        z.slide = 1.5 * z.speed;
        z.law.k = 4e4;
        z.law.c = 0.0;
        z.w = 12.0;
        bench_reset(&rng, 1, 0.1, 0.01, NULL);
        bench_play(&z, 150);
        const ff_vec3 across = ff_vec3_cross(z.n, z.along);
        for (uint64_t i = 0; i < 150; i++)
            if (!stands)
                bench_press(&z, i, z.r,
                            ff_vec3_scale(0.3 * sin(0.7 * (double)i) * ff_vec3_norm(fused_at(S, 0, i)->force),
                                          across));
        for (uint64_t i = 0; i < 150; i++)
            for (int a = 0; a < 3; a++) {
                fused_at(S, 0, i)->force.a[a] += 0.1 * ff_rng_normal(&rng);
                fused_at(S, 0, i)->torque.a[a] += 0.01 * ff_rng_normal(&rng);
            }
        const ff_vec3 F = ff_vec3_unit(ff_vec3_axpy(-z.mu, z.along, z.n));
        fused_contact *c = bench_open(0, &z, F, z.r, 14, 22, 100),
                      *o = bench_open(1, &z, z.along, z.r, 24, 30, 100);
        fused_contact *const both[2] = {c, o};
        for (int i = 0; i < 2; i++) {
            both[i]->open = false;
            both[i]->settled = true;
            both[i]->end = 100;
            both[i]->mass = 100;
            both[i]->surface = z.law;
            both[i]->surface.J = (stands ? 1e4 : 3.0) * 87;
        }
        o->wall = 3;
        S->wall[3].valid = true;
        S->report[0].contacts = 1;
        o->closing = true;
        o->stage = SETTLE;
        int cycles = 0;
        do {
            int work = 6000;
            ff__fused_work_on(&bench_model, S, bench_newest(), &work);
            ff__fused_join_on(&bench_model, S, bench_newest());
            ff_rigid_state robot[2];
            bench_at(&z, (double)S->history.count * BENCH_T, robot);
            bench_push(robot);
        } while ((c->closing || cycles == 0) && ++cycles < 700);
        assert_false(c->closing);
        assert_true(c->one.tried && !c->one.judged);
        if (!stands) {
            assert_vec3_near(c->n, F, 0.0);
            assert_true(c->mu == 0.0 && c->surface.k == z.law.k && c->end == 100 && o->settled &&
                        S->wall[3].valid);
            assert_int_equal(S->report[0].contacts, 2);
            continue;
        }
        /* accepted: a mean misfit below 6 noises, or what is left is below 2 % of the largest force; a tilt
         * along the sliding and mu trade against each other */
        assert_true(c->lean.misfit < 6.0 || sqrt(c->lean.misfit) * 0.1 < 0.02 * c->force_max);
        if (c->lean.misfit < 6.0) { /* explained to the noise: then also by the right numbers */
            assert_near(c->mu, z.mu, 0.1 * z.mu);
            assert_true(ff_vec3_norm(ff_vec3_cross(c->n, z.n)) < 0.1 * z.mu);
            assert_near(c->surface.k / z.law.k, 1.0, 0.1 * z.mu);
        }
        assert_true(!o->settled && !S->wall[3].valid);
        assert_int_equal(S->report[0].contacts, 1);
        assert_true(S->report[0].cause[FUSED_BY_FRICTION] > 0.0 && !(S->report[0].outside & FUSED_SEVERAL));
        assert_near(S->report[0].friction, c->mu, 0.0);
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 73);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_contact_begins),
        cmocka_unit_test(test_what_bounds_a_beginning),
        cmocka_unit_test(test_a_known_wall_is_found),
        cmocka_unit_test(test_report_of_a_contact),
        cmocka_unit_test(test_report_says_what_is_outside),
        cmocka_unit_test(test_a_contact_is_over),
        cmocka_unit_test(test_a_contact_is_finished),
        cmocka_unit_test(test_one_in_place_of_several),
        cmocka_unit_test(test_settled_contacts_are_swept),
        cmocka_unit_test(test_walls_are_remembered),
        cmocka_unit_test(test_a_settlement_ends_with_its_rows),
        cmocka_unit_test(test_several_are_judged_as_one),
        cmocka_unit_test(test_two_that_were_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
