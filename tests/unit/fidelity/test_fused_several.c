/* fused, function by function: contacts of one body that act at one time are found together (several.c), from
 * a motion that is prescribed and laws that are known. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state
static const double T = BENCH_T;

/* Points of body 0 that meet planes of the world, each in a half sine of depth, p = -n.tip - x0, f = k p + c
 * p'; the body is moved by as little as that takes while it turns. */
typedef struct crowd {
    int count;
    ff_vec3 n[3], r[3];
    ff_profile law[3];
    double onset[3], w[3], speed[3]; /* [s], [rad/s], [m/s] */
    ff_vec3 rate;                    /* [rad/s] body axes */
    ff_quat q;
    double peak; /* [N] largest force of all */
} crowd;

static void crowd_depth(const crowd *z, int j, double t, double *p, double *v) {
    const double u = t - z->onset[j], w = z->w[j], end = FF_PI / w, fast = z->speed[j];
    *p = u < 0.0 ? fast * u : u < end ? fast / w * sin(w * u) : -fast * (u - end);
    *v = u < 0.0 ? fast : u < end ? fast * cos(w * u) : -fast;
}
static double crowd_force(const crowd *z, int j, double t) {
    double p, v;
    crowd_depth(z, j, t, &p, &v);
    return p > 0.0 ? fmax(0.0, z->law[j].k * p + z->law[j].c * v) : 0.0;
}

static ff_rigid_state crowd_at(const crowd *z, double t) {
    const ff_quat q = ff_quat_mul(z->q, ff_quat_exp(ff_vec3_scale(t, z->rate)));
    double A[9], x[3], y[3];
    for (int j = 0; j < z->count; j++) {
        double p, v;
        crowd_depth(z, j, t, &p, &v);
        for (int o = 0; o < z->count; o++)
            A[z->count * j + o] = ff_vec3_dot(z->n[j], z->n[o]);
        x[j] = -p - z->law[j].x0 - ff_vec3_dot(z->n[j], ff_quat_rotate(q, z->r[j]));
        y[j] = -v - ff_vec3_dot(z->n[j], ff_quat_rotate(q, ff_vec3_cross(z->rate, z->r[j])));
    }
    assert_int_equal(ff_cholesky_factor((size_t)z->count, A), FF_OK);
    ff_cholesky_solve((size_t)z->count, A, x);
    ff_cholesky_solve((size_t)z->count, A, y);
    ff_rigid_state at = {.attitude = q, .omega = z->rate};
    for (int j = 0; j < z->count; j++) {
        at.position = ff_vec3_axpy(x[j], z->n[j], at.position);
        at.velocity = ff_vec3_axpy(y[j], z->n[j], at.velocity);
    }
    return at;
}

/* Normals `apart` of each other; each plane is met `later` seconds after the one before. */
static void crowd_draw(crowd *z, int count, double apart, double later) {
    *z = (crowd){.count = count, .rate = test_random_vec3(&rng, 0.1), .q = test_random_quat(&rng)};
    const ff_vec3 up = bench_unit(&rng), e = bench_across(&rng, up), o = ff_vec3_cross(up, e);
    for (int j = 0; j < count; j++) {
        const double turn = 2.0 * FF_PI * j / count, lean = apart * (count == 2 ? 0.5 : 0.577);
        const ff_vec3 to = ff_vec3_axpy(cos(turn), e, ff_vec3_scale(sin(turn), o));
        z->n[j] = ff_vec3_axpy(cos(lean), up, ff_vec3_scale(sin(lean), to));
        z->r[j] = ff_quat_unrotate(z->q, ff_vec3_axpy(ff_rng_range(&rng, 0.2, 0.4), to,
                                                      ff_vec3_scale(ff_rng_range(&rng, -0.4, -0.2), up)));
        z->onset[j] = 0.0817 + j * later;
        z->speed[j] = ff_rng_range(&rng, 0.03, 0.06);
        z->w[j] = ff_rng_range(&rng, 13.0, 16.0);
        z->law[j] = (ff_profile){
            .valid = true, .k = ff_rng_range(&rng, 1e4, 3e4), .x0 = ff_rng_range(&rng, -0.1, 0.1)};
        z->law[j].c = 0.004 * z->law[j].k;
    }
}

static void crowd_push(crowd *z, double noise, double torque_noise) {
    const uint64_t k = S->history.count;
    const ff_rigid_state x = crowd_at(z, (double)k * T);
    fused_sample *s = bench_push(&x);
    for (int j = 0; j < z->count; j++) {
        const ff_vec3 F = ff_vec3_scale(crowd_force(z, j, (double)k * T), z->n[j]);
        s->force = ff_vec3_add(s->force, F);
        s->torque = ff_vec3_add(s->torque, ff_vec3_cross(z->r[j], ff_quat_unrotate(x.attitude, F)));
    }
    z->peak = fmax(z->peak, ff_vec3_norm(s->force));
    for (int i = 0; i < 3; i++) {
        s->force.a[i] += noise * ff_rng_normal(&rng);
        s->torque.a[i] += torque_noise * ff_rng_normal(&rng);
    }
}

enum { CROWD_FROM = 15, CROWD_TO = 180, CROWD_NOW = 184 };

/* A history of it, and as many records that are over and know nothing. */
static void crowd_play(crowd *z, int records, double noise, double torque_noise) {
    bench_reset(&rng, 1, noise, torque_noise, NULL);
    for (int k = 0; k <= CROWD_NOW; k++)
        crowd_push(z, noise, torque_noise);
    for (int c = 0; c < records; c++) {
        fused_contact *x = bench_settled(c, 0, -1, CROWD_FROM + (uint64_t)c, CROWD_TO - (uint64_t)c);
        x->n = bench_unit(&rng);
        x->mu = 0.2;
        x->one.tried = true; /* friction has been asked */
        x->force_max = 1e6;  /* none of theirs */
    }
}

/* Cycles until nothing is left to do. */
static int crowd_finish(crowd *z) {
    int cycles = 0;
    while (S->joint.stage && cycles++ < 500) {
        ff__fused_join_on(&bench_model, S, bench_newest());
        crowd_push(z, 0.0, 0.0);
    }
    assert_true(cycles < 500);
    return cycles;
}

/* The record that is nearest to contact j. */
static fused_contact *crowd_found(const crowd *z, int j) {
    fused_contact *best = NULL;
    for (int c = 0; c < FUSED_CONTACTS; c++)
        if (S->contact[c].settled &&
            (!best || bench_angle(S->contact[c].n, z->n[j]) < bench_angle(best->n, z->n[j])))
            best = &S->contact[c];
    assert_non_null(best);
    return best;
}

/* Force and torque of a point in the row of x, without a bound: whether it acts is asked elsewhere. */
static double point_force(const fused_point *q, const ff_rigid_state *x) {
    const ff_vec3 tip = ff_vec3_sub(ff_pose_apply(ff_rigid_pose(x), q->r), q->at);
    return q->k * (-ff_vec3_dot(q->n, tip) - q->x0) -
           q->c * ff_vec3_dot(q->n, ff_rigid_point_velocity(x, q->r));
}
static bool point_acts(const fused_point *q, const ff_rigid_state *x) {
    const ff_vec3 tip = ff_vec3_sub(ff_pose_apply(ff_rigid_pose(x), q->r), q->at);
    return -ff_vec3_dot(q->n, tip) - q->x0 > 0.0 && point_force(q, x) > 0.0;
}

/* What points leave of force and torque in row i, in units of the fit, those of `mask` acting. */
static void points_leave(const fused_joint *z, const fused_point *q, unsigned mask, uint64_t i,
                         double left[6]) {
    const fused_sample *x = fused_at(S, 0, i);
    const ff_rigid_state at = fused_robot_of(x);
    ff_vec3 F = x->force, M = x->torque;
    for (int j = 0; j < z->count; j++)
        if (mask >> j & 1u) {
            const ff_vec3 f = ff_vec3_scale(point_force(&q[j], &at), q[j].n);
            F = ff_vec3_sub(F, f);
            M = ff_vec3_sub(M, ff_vec3_cross(q[j].r, ff_quat_unrotate(at.attitude, f)));
        }
    for (int c = 0; c < 3; c++) {
        left[c] = F.a[c] / z->unit;
        left[3 + c] = M.a[c] / z->unit_t;
    }
}

/* Parameter `which` of a point a step further: normal along e, point, place, logarithm of the stiffness,
 * damping in hundredths of a second of it. */
static fused_point point_beside(fused_point q, int which, const ff_vec3 e[2], double step) {
    if (which < 2)
        q.n = ff_vec3_unit(ff_vec3_axpy(step, e[which], q.n));
    else if (which >= 5)
        q.r.a[which - 5] += step;
    else if (which == 2)
        q.x0 += step;
    else if (which == 3)
        q.k *= exp(step);
    else
        q.c += 0.01 * q.k * step;
    return q;
}

enum { PER = 8, MOST = 3 * PER };

/* The normal equations of the points, their slopes by differences. */
static void equations(const fused_joint *z, const fused_point *q, uint64_t stride, double A[MOST][MOST],
                      double b[MOST], double *J, double *J_force) {
    const double step = 1e-6;
    const int each = z->common ? 5 : PER; /* at one point that is known: without it */
    ff_vec3 e[3][2];
    memset(A, 0, MOST * sizeof *A);
    memset(b, 0, MOST * sizeof *b);
    *J = *J_force = 0.0;
    for (int j = 0; j < z->count; j++) {
        e[j][0] = bench_across(&rng, q[j].n);
        e[j][1] = ff_vec3_cross(e[j][0], q[j].n);
    }
    for (uint64_t i = z->from; i <= z->to; i += stride) {
        if (!fused_at(S, 0, i)->valid)
            continue;
        const ff_rigid_state at = fused_robot_of(fused_at(S, 0, i));
        unsigned mask = 0;
        for (int j = 0; j < z->count; j++)
            mask |= point_acts(&q[j], &at) ? 1u << j : 0u;
        double left[6], g[MOST][6];
        points_leave(z, q, mask, i, left);
        for (int n = 0; n < each * z->count; n++) {
            fused_point to[3], from[3];
            double more[6], less[6];
            memcpy(to, q, sizeof to);
            memcpy(from, q, sizeof from);
            to[n / each] = point_beside(q[n / each], n % each, e[n / each], step);
            from[n / each] = point_beside(q[n / each], n % each, e[n / each], -step);
            points_leave(z, to, mask, i, more);
            points_leave(z, from, mask, i, less);
            for (int c = 0; c < 6; c++)
                g[n][c] = (less[c] - more[c]) / (2.0 * step);
        }
        for (int c = 0; c < 6; c++) {
            *J += left[c] * left[c];
            *J_force += c < 3 ? left[c] * left[c] : 0.0;
            for (int n = 0; n < each * z->count; n++) {
                b[n] += g[n][c] * left[c];
                for (int o = 0; o < each * z->count; o++)
                    A[n][o] += g[n][c] * g[o][c];
            }
        }
    }
}

/* The two tilts of a normal are about axes that nobody names: what does not depend on them is compared. */
static double folded(const double *x, int which) {
    return which == 0 ? hypot(x[0], x[1]) : x[which];
}

/* Every system that a step of the fit begins from is that of the rows, each (1 + rows/64)th, with slopes as
 * of differences: those have 1e-6 of a relative step twice, so to some 1e-7 of the largest on the diagonal.
 */
static void test_normal_equations_of_several(void **unused) {
    (void)unused;
    int judged = 0;
    for (int draw = 0; draw < 4; draw++) {
        crowd z;
        crowd_draw(&z, 2 + draw % 2, 1.2, 0.13);
        crowd_play(&z, 2, 0.0, 0.0);
        fused_at(S, 0, 60)->valid = fused_at(S, 0, 61)->valid = fused_at(S, 0, 62)->valid = false;
        assert_true(ff__fused_join(&bench_model, S, &S->contact[0], bench_newest()));
        const fused_joint *y = &S->joint;
        const uint64_t from = CROWD_FROM, to = CROWD_TO, stride = 1 + (to - from) / 64;
        const ff_rigid_model *m = &bench_model.view[0].rigid;
        const double arm =
            sqrt((m->inertia.m[0][0] + m->inertia.m[1][1] + m->inertia.m[2][2]) / (3.0 * m->mass));
        double peak = 0.0;
        for (uint64_t i = from; i <= to; i++)
            if (fused_at(S, 0, i)->valid)
                peak = fmax(peak, ff_vec3_norm(fused_at(S, 0, i)->force));
        assert_true(y->from == from && y->to == to && y->body == 0 && y->members == 3 && !y->alone);
        assert_near(y->peak, peak, 0.0);
        assert_near(y->unit, 1e-3 * peak, 1e-15 * peak);
        assert_near(y->unit_t, 1e-3 * peak * arm, 1e-15 * peak);
        for (int cycle = 0; cycle < 12 && y->stage; cycle++) {
            ff__fused_join_on(&bench_model, S, bench_newest());
            if (!y->trials || y->start || y->rounds) /* the points of another start are not complete */
                continue;
            static double A[MOST][MOST], b[MOST];
            double J, J_force;
            const fused_system *s = &y->now;
            const int each = y->common ? 5 : PER, all = each * y->count;
            equations(y, s->at, stride, A, b, &J, &J_force);
            assert_near(s->J / J, 1.0, 1e-9);
            assert_near(s->J_force / J_force, 1.0, 1e-9);
            for (int n = 0; n < all; n++) {
                if (n % each == 1)
                    continue;
                const int at = n / each * each;
                assert_near(folded(&s->b[at], n % each), folded(&b[at], n % each),
                            1e-6 * sqrt(A[n][n] * J) + 1e-9);
                for (int o = 0; o <= n; o++) {
                    if (o % each == 1)
                        continue;
                    /* over both tilts of a normal where either is one */
                    double have = 0.0, want = 0.0;
                    for (int p = 0; p < (n % each ? 1 : 2); p++)
                        for (int q = 0; q < (o % each ? 1 : 2); q++) {
                            const int row = n + p > o + q ? n + p : o + q,
                                      column = n + p > o + q ? o + q : n + p;
                            have += s->A[row * all + column] * s->A[row * all + column];
                            want += A[row][column] * A[row][column];
                        }
                    assert_near(sqrt(have), sqrt(want), 1e-6 * sqrt(A[n][n] * A[o][o]) + 1e-9);
                }
            }
            judged++;
        }
    }
    assert_true(judged > 4);
}

/* Misfit of the points over the rows of the fit. */
static double misfit_of(const fused_joint *z, const fused_point *q, uint64_t stride, double *rows) {
    double J = 0.0;
    *rows = 0.0;
    for (uint64_t i = z->from; i <= z->to; i += stride, *rows += 1.0) {
        const ff_rigid_state at = fused_robot_of(fused_at(S, 0, i));
        unsigned mask = 0;
        double left[6];
        for (int j = 0; j < z->count; j++)
            mask |= point_acts(&q[j], &at) ? 1u << j : 0u;
        points_leave(z, q, mask, i, left);
        for (int c = 0; c < 6 && fused_at(S, 0, i)->valid; c++)
            J += left[c] * left[c];
    }
    return J;
}

/* Row i of the records that were written: where each point stands, what it bears, and that no other share of
 * what the laws leave explains more of it (a share less by 1e-6 of itself, which keeps the factor). */
static void judge_written_row(const fused_joint *z, fused_contact *const *c, uint64_t i) {
    const fused_sample *x = fused_at(S, 0, i);
    const ff_rigid_state at = fused_robot_of(x);
    ff_vec3 F = x->force, M = x->torque;
    for (int j = 0; j < z->count; j++) {
        const ff__place p = fused_contact_place(c[j]);
        const fused_row *q = fused_row_of(c[j], i);
        double s, v;
        ff__place_coordinate(&p, S->start[0], &at, NULL, &s, &v);
        assert_near(q->s, s, 1e-12);
        assert_near(q->v, v, 1e-12);
        assert_int_equal(q->use, x->valid);
        const double law = ff_profile_force(&c[j]->surface, s, v);
        assert_near(q->f - q->residual, law, 1e-9 * z->peak);
        if (!(law > 0.0) || !x->valid)
            assert_near(q->residual, 0.0, 0.0);
        const ff_vec3 f = ff_vec3_scale(q->f, c[j]->n);
        F = ff_vec3_sub(F, f);
        M = ff_vec3_sub(M, ff_vec3_cross(c[j]->r, ff_quat_unrotate(at.attitude, f)));
    }
    for (int j = 0; j < z->count && x->valid; j++) { /* what is left lies across each that acts */
        const fused_row *q = fused_row_of(c[j], i);
        if (q->f == q->residual)
            continue;
        const ff_vec3 n = ff_quat_unrotate(at.attitude, c[j]->n), arm = ff_vec3_cross(c[j]->r, n);
        const double wf = 1.0 / (z->unit * z->unit), wt = 1.0 / (z->unit_t * z->unit_t);
        assert_near((wf * ff_vec3_dot(c[j]->n, F) + wt * ff_vec3_dot(arm, M)) /
                        (wf + wt * ff_vec3_dot(arm, arm)),
                    0.0, 2e-6 * fabs(q->residual) + 1e-11 * z->peak);
    }
}

/* Of an exact fit the rows leave 2.2e-4 of the peak in the mean of squares, force and torque together: a
 * normal, a point or a force that is off by more than ten times that would leave more. c p' is a twentieth of
 * the force. */
static void judge_exact(const crowd *z, const fused_contact *c, int j) {
    const double off = 2.2e-3;
    const ff_vec3 n = ff_quat_unrotate(z->q, z->n[j]);
    assert_true(bench_angle(c->n, z->n[j]) < 2.0 * off);
    assert_true(ff_vec3_norm(ff_vec3_cross(ff_vec3_sub(c->r, z->r[j]), n)) < 20.0 * off);
    assert_near(c->surface.k / z->law[j].k, 1.0, 10.0 * off);
    assert_near(c->surface.c / z->law[j].c, 1.0, 100.0 * off);
    for (uint64_t i = CROWD_FROM; i <= CROWD_TO; i++) {
        assert_near(fused_row_of(c, i)->f, crowd_force(z, j, (double)i * T), off * z->peak);
        double p, v;
        crowd_depth(z, j, (double)i * T, &p, &v);
        if (p > 0.0)
            assert_near(fused_row_of(c, i)->s - c->surface.x0, p, off * z->peak / z->law[j].k);
    }
    assert_near((double)c->detected, ceil(z->onset[j] / T), 1.001);
}

/* Two or three contacts of which two or three records know nothing: law, normal, point of each come out. What
 * is written agrees with itself in any case: rows with places and laws, the largest force, the first row
 * inside, effective mass, walls, and a report of the stiffest. Records that are too many go, with their
 * walls. A fit that explains the wrench is found in 19 of 20 draws: in at least half of eight but for one in
 * 1e4. */
static void test_several_are_found(void **unused) {
    (void)unused;
    int exact = 0;
    for (int draw = 0; draw < 8; draw++) {
        const int count = 2 + draw % 2, records = draw % 4 < 2 ? 2 : 3;
        crowd z;
        crowd_draw(&z, count, 1.5, count == 2 ? 0.2 : 0.16);
        crowd_play(&z, records, 0.0, 0.0);
        for (uint64_t i = 70; i < 73; i++)
            fused_at(S, 0, i)->valid = draw % 4 != 1;
        S->contact[2].wall = records == 3 ? 7 : -1;
        S->wall[7].valid = S->wall[7].beside = records == 3;
        S->report[0].contacts = 4;
        assert_true(ff__fused_join(&bench_model, S, &S->contact[records - 1], bench_newest()));
        for (int c = 0; c < FUSED_CONTACTS; c++)
            assert_int_equal(S->contact[c].closing, c < records);
        crowd_finish(&z);
        const fused_joint *y = &S->joint;
        const uint64_t stride = 1 + (CROWD_TO - CROWD_FROM) / 64;
        double rows;
        const double J = misfit_of(y, y->best, stride, &rows);
        assert_near(y->J_best, J, 1e-6 * J + 1e-9 * rows);
        assert_int_equal(S->report[0].contacts, 4);
        fused_contact *c[FUSED_JOINT];
        int written = 0;
        for (int i = 0; i < FUSED_CONTACTS; i++) {
            assert_false(S->contact[i].closing);
            if (S->contact[i].joined)
                c[written++] = &S->contact[i];
        }
        if (!(J < 900.0 * rows)) { /* 3 % of the peak */
            assert_int_equal(written, 0);
            continue;
        }
        assert_int_equal(written, y->count);
        const fused_contact *bore_most = c[0];
        for (int j = 0; j < written; j++) {
            assert_true(c[j]->settled && !c[j]->open && c[j]->stage == REST && c[j]->one.tried &&
                        c[j]->mu == 0.0);
            assert_true(c[j]->a == 0 && c[j]->b == -1 && c[j]->anchor == CROWD_FROM &&
                        c[j]->row_from == CROWD_FROM);
            assert_true(c[j]->end == CROWD_TO && c[j]->until == CROWD_TO && c[j]->surface.valid);
            assert_int_equal(c[j]->exact, J < 0.05 * rows);
            assert_near(c[j]->side, 1e-6 * J / rows, 1e-12);
            double most = 0.0;
            uint64_t first = CROWD_TO;
            for (uint64_t i = CROWD_TO + 1; i-- > CROWD_FROM;) {
                most = fmax(most, fused_row_of(c[j], i)->f);
                first = fused_row_of(c[j], i)->s > c[j]->surface.x0 ? i : first;
            }
            assert_near(c[j]->force_max, most, 0.0);
            assert_int_equal(c[j]->detected, first);
            const ff_rigid_state at = crowd_at(&z, CROWD_FROM * T);
            assert_near(c[j]->mass * ff_view_mobility(&bench_model.view[0], &at, c[j]->r, c[j]->n), 1.0,
                        1e-12);
            assert_near(c[j]->speed, fabs(fused_row_of(c[j], CROWD_FROM)->v), 1e-12);
            assert_true(c[j]->wall >= 0 && S->wall[c[j]->wall].valid && S->wall[c[j]->wall].beside);
            assert_near(S->wall[c[j]->wall].surface.k, c[j]->surface.k, 0.0);
            bore_most = c[j]->force_max > bore_most->force_max ? c[j] : bore_most;
        }
        for (uint64_t i = CROWD_FROM; i <= CROWD_TO; i++)
            judge_written_row(y, c, i);
        assert_near(S->report[0].stiffness, bore_most->surface.k, 0.0);
        assert_int_equal(S->contact[2].settled, written == 3);
        if (records == 3 && written == 2)
            assert_false(S->wall[7].valid);
        if (J < 0.05 * rows) {
            exact++;
            for (int j = 0; j < count; j++)
                judge_exact(&z, crowd_found(&z, j), j);
        }
    }
    assert_true(exact >= 4);
}

/* Of a body that does not turn, two contacts that are seen alone say all at once, where their wrenches lie at
 * an acute angle: the one furthest from the first is then the second alone. Normals and points are theirs,
 * forces divide but for 1e-6, and the profile of a force without noise is exact to 1e-4, damping to 1e-3. */
static void test_several_begin_at_their_edges(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 6; draw++) {
        crowd z;
        double acute = 0.0;
        do {
            crowd_draw(&z, 2, 1.2, 0.2);
            z.rate = ff_vec3_zero();
            z.r[1] = test_random_vec3(&rng, 0.4);
            crowd_play(&z, 2, 0.0, 0.0);
            const ff_vec3 t0 = ff_vec3_cross(ff_quat_rotate(z.q, z.r[0]), z.n[0]),
                          t1 = ff_vec3_cross(ff_quat_rotate(z.q, z.r[1]), z.n[1]);
            acute = ff_vec3_dot(z.n[0], z.n[1]) + ff_vec3_dot(t0, t1) / 0.25; /* radius of gyration: 0.5 m */
        } while (acute < 0.1);
        assert_true(ff__fused_join(&bench_model, S, &S->contact[0], bench_newest()));
        const fused_joint *y = &S->joint;
        if (y->common) /* lines that meet, to a hundredth of the radius of gyration */
            continue;
        while (!y->trials)
            ff__fused_join_on(&bench_model, S, bench_newest());
        assert_true(y->count == 2 && y->start == 0 && y->trials == 1);
        for (int j = 0; j < 2; j++) {
            const fused_point *q = &y->now.at[j];
            const ff_vec3 n = ff_quat_unrotate(z.q, z.n[j]);
            assert_true(bench_angle(q->n, z.n[j]) < 1e-9);
            assert_vec3_near(ff_vec3_cross(ff_vec3_sub(q->r, z.r[j]), n), ff_vec3_zero(), 1e-9);
            assert_near(ff_vec3_dot(q->r, n), 0.0, 1e-9); /* along the normal nothing says */
            assert_near(q->k / z.law[j].k, 1.0, 1e-3);
            assert_near(q->c / z.law[j].c, 1.0, 1e-2);
        }
        assert_true(y->now.J < 0.01 * (CROWD_TO - CROWD_FROM));
        crowd_finish(&z);
        assert_true(y->start == 0 && y->trials < 6 && y->J_best < 1e-4);
    }
}

/* Under noise what is written explains the wrench to it, or the normals are parallel to a fifth of a radian;
 * and how far it does stands in the records. What does not leaves them as they were. */
static void test_several_under_noise(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 6; draw++) {
        crowd z;
        crowd_draw(&z, 2, draw % 3 == 2 ? 0.9 : 0.15, 0.2);
        const double noise = draw % 2 ? 0.3 : 0.0, torque_noise = 0.2 * noise;
        crowd_play(&z, 2, noise, torque_noise);
        assert_true(ff__fused_join(&bench_model, S, &S->contact[0], bench_newest()));
        crowd_finish(&z);
        const fused_joint *y = &S->joint;
        if (y->count < 2)
            continue;
        double rows;
        const double J = misfit_of(y, y->best, 1 + (CROWD_TO - CROWD_FROM) / 64, &rows), peak = y->peak,
                     unit = fmax(noise, 1e-3 * peak), unit_t = fmax(torque_noise, 1e-3 * peak * y->arm),
                     expected = 3.0 * pow(noise / unit, 2) + 3.0 * pow(torque_noise / unit_t, 2);
        bool parallel = true;
        for (int j = 1; j < y->count; j++)
            parallel = parallel && ff_vec3_dot(y->best[0].n, y->best[j].n) >= 0.98;
        /* the records know nothing: whatever is near is better than they are */
        const double close = noise > 1e-3 * peak && !parallel ? 0.005 : 0.03;
        const bool exact = J < rows * (1.3 * expected + 0.05), near = J < pow(close * peak / unit, 2) * rows;
        const bool writes = exact || near;
        assert_near(y->unit, unit, 1e-15 * unit);
        assert_near(y->unit_t, unit_t, 1e-15 * unit_t);
        for (int c = 0; c < 2; c++) {
            const fused_contact *x = &S->contact[c];
            assert_int_equal(x->joined, writes);
            assert_false(x->closing);
            if (!writes) {
                assert_true(x->mu == 0.2 && x->surface.k == 1000 && x->row_from == CROWD_FROM + (uint64_t)c);
                continue;
            }
            assert_int_equal(x->exact, exact || parallel);
            const double side = exact || !parallel ? fmax(0.0, J / rows - expected) * pow(unit / peak, 2)
                                                   : 1.6e-5 + 0.25 * y->J_force / rows * pow(unit / peak, 2);
            assert_near(x->side, side, 1e-9 * side + 1e-15);
        }
    }
}

/* Which contacts are joined: all that acted on the body at one time, none other, and when all are over. */
static void test_what_is_joined(void **unused) {
    (void)unused;
    for (int why = 0; why < 15; why++) {
        crowd z;
        crowd_draw(&z, 2, 1.5, 0.2);
        crowd_play(&z, 3, 0.0, 0.0);
        fused_contact *c = &S->contact[0], *o = &S->contact[1], *p = &S->contact[2];
        p->settled = false;
        uint64_t k = bench_newest();
        if (why == 1)
            S->joint.stage = 1;
        if (why == 2 || why == 3)
            (why == 2 ? c : o)->joined = true;
        if (why == 4)
            bench_model.config.random_estimates = 1;
        if (why == 5 || why == 6)
            (why == 5 ? c : o)->b = 0;
        if (why == 7)
            o->settled = false, o->open = true;
        if (why == 8)
            o->closing = true;
        if (why == 9)
            o->frozen = true;
        if (why == 10) /* before it */
            o->end = c->anchor;
        if (why == 11)
            o->a = 1;
        if (why == 12 || why == 13) /* half of the history */
            k = CROWD_FROM + 512 + (why == 12);
        for (uint64_t i = 0; why == 14 && i <= k; i++)
            fused_at(S, 0, i)->force = ff_vec3_zero();
        const bool joins = why == 0 || why == 13;
        assert_int_equal(ff__fused_join(&bench_model, S, c, k), joins);
        assert_int_equal(c->closing, joins);
        assert_int_equal(o->closing, joins || why == 8);
        assert_false(p->closing);
        if (joins) {
            assert_int_equal(S->joint.members, 3);
            assert_true(S->joint.from == CROWD_FROM && S->joint.to == CROWD_TO);
        }
    }
}

/* What ends it: rows that leave the history, a wrench that is not of forces at points, one contact alone, or
 * no record for one more. The records stay as they are. */
static void test_several_are_left(void **unused) {
    (void)unused;
    for (int why = 0; why < 5; why++) {
        crowd z;
        crowd_draw(&z, why == 2 ? 1 : why == 4 ? 3 : 2, 1.5, why == 4 ? 0.16 : 0.2);
        crowd_play(&z, 2, 0.0, 0.0);
        uint64_t k = bench_newest();
        if (why < 2) /* the last cycle in which they are held, and the next */
            k = CROWD_FROM + FUSED_RING - 32 + (uint64_t)why;
        for (uint64_t i = CROWD_FROM; why == 3 && i <= CROWD_TO; i++)
            fused_at(S, 0, i)->torque = ff_vec3_scale(20.0, fused_at(S, 0, i)->force);
        for (int c = 2; why == 4 && c < FUSED_CONTACTS; c++)
            bench_settled(c, 0, -1, 1, 3);
        assert_true(ff__fused_join(&bench_model, S, &S->contact[0], bench_newest()));
        ff__fused_join_on(&bench_model, S, k);
        if (why == 0) {
            assert_true(S->joint.stage && S->contact[0].closing);
            continue;
        }
        if (why == 4)
            crowd_finish(&z);
        assert_int_equal(S->joint.stage, 0);
        for (int c = 0; c < 2; c++) {
            const fused_contact *x = &S->contact[c];
            assert_true(x->settled && !x->closing && !x->joined && x->mu == 0.2 && x->surface.k == 1000);
        }
    }
}

/* A lever beyond 3 m is none: what begins there is begun elsewhere, and where nothing is left the records
 * stay. */
static void test_no_lever_is_longer_than_an_arm(void **unused) {
    (void)unused;
    for (int draw = 0; draw < 4; draw++) {
        crowd z;
        crowd_draw(&z, 2, 1.2, 0.2);
        const ff_vec3 across = ff_vec3_unit(ff_vec3_cross(z.n[0], z.n[1])); /* wrenches at an acute angle */
        for (int j = 0; j < 2; j++)
            z.r[j] = ff_quat_unrotate(z.q, ff_vec3_scale(draw < 2 ? 3.4 - 0.1 * j : 2.6 - 0.1 * j, across));
        z.rate = ff_vec3_zero();
        crowd_play(&z, 2, 0.0, 0.0);
        ff_rigid_model *m = &bench_model.view[0].rigid; /* large enough that forces there count as such */
        m->inertia = ff_mat3_diag(1.5 * m->mass, 1.5 * m->mass, 1.5 * m->mass);
        assert_true(ff__fused_join(&bench_model, S, &S->contact[0], bench_newest()));
        ff__fused_join_on(&bench_model, S, bench_newest());
        assert_true(draw < 2 ? S->joint.start > 0 : S->joint.start == 0);
        crowd_finish(&z);
        for (int c = 0; c < 2; c++)
            assert_true(!S->contact[c].closing && ff_vec3_norm(S->contact[c].r) < 3.0);
    }
}

/* One contact whose force or torque is not that of one is tried as several: written where they explain it
 * all, and then the body has had one contact more; otherwise its estimate continues. */
static void test_one_that_was_several(void **unused) {
    (void)unused;
    int found = 0;
    for (int why = 0; why < 16; why++) {
        crowd z;
        crowd_draw(&z, why == 1 ? 1 : 2, 1.5, 0.2);
        crowd_play(&z, 1, 0.0, 0.0);
        fused_contact *c = &S->contact[0];
        uint64_t k = bench_newest();
        c->closing = true;
        c->mu = 0.0; /* which may explain what is across */
        c->next.n = c->n = z.n[0];
        const fused_reach reach = {.last = CROWD_TO, .last_r = CROWD_TO};
        for (uint64_t i = CROWD_FROM; i <= CROWD_TO; i++)
            ff__fused_add_place(&bench_model.config, S, c, &reach, i);
        ff__fused_find_place(&bench_model.config, S, c, &reach, CROWD_TO);
        if (why == 1 ||
            why == 9) { /* judged as the only one, it is that no more where no one point bears it all */
            const fused_contact was = *c;
            c->one = (fused_union){
                .judged = true, .before = {{.valid = true, .k = 7}, c->n, c->r, 0.1, 1.0}, .end = 99};
            c->stage = TAKE;
            c->row = c->row_from;
            c->sum.m *= why == 1 ? 1.0 : 2.0; /* a torque that is nobody's */
            int work = 1;
            ff__fused_estimate(&bench_model, S, c, CROWD_TO, k, &work);
            assert_int_equal(c->one.judged, why == 1);
            assert_true(why == 1 ? c->stage == TAKE && c->end == CROWD_TO
                                 : c->stage == TAKE_FIRST && c->end == 99 && c->surface.k == 7);
            *c = was;
        }
        if (why == 2)
            c->alone = true;
        if (why == 3)
            c->closing = false;
        if (why == 4)
            c->torque = true;
        if (why == 5)
            c->b = 0;
        if (why == 6)
            c->frozen = true;
        if (why == 7)
            S->joint.stage = 1;
        if (why == 8)
            k = CROWD_FROM + 513;
        S->report[0].contacts = 3;
        const bool tries = why == 0 || why > 8;
        assert_int_equal(ff__fused_join_alone(&bench_model, S, c, k), tries);
        assert_int_equal(c->alone, tries || why == 2);
        assert_int_equal(c->stage, tries ? JOINING : REST);
        if (!tries)
            continue;
        assert_true(S->joint.alone && S->joint.members == 1 && S->joint.to == CROWD_TO);
        crowd_finish(&z);
        double rows;
        const double J = misfit_of(&S->joint, S->joint.best, 1 + (CROWD_TO - CROWD_FROM) / 64, &rows);
        const bool writes = S->joint.count > 1 && J < 0.05 * rows;
        assert_int_equal(c->joined, writes);
        assert_int_equal(S->contact[1].joined, writes);
        assert_int_equal(S->report[0].contacts, writes ? 4 : 3);
        assert_true(writes ? !c->closing && c->stage == REST : c->closing && c->stage == FRICTION);
        found += writes;
        for (int j = 0; j < 2 && writes; j++)
            judge_exact(&z, crowd_found(&z, j), j);
    }
    assert_true(found > 2); /* of eight: half are expected */
}

/* ------------------------------------------------------------------------------------------ observability --
 */

enum { TELL_ROWS = 60, TELL_MOST = 20 };

/* How many numbers of the surfaces rows can tell: the rank of their slopes, by differences. Law k p + c v of
 * each, which always acts but in rows of `alone`, where the first does by itself. */
static int observable(int count, const ff_vec3 *n, const ff_vec3 *r, bool tilts, const double *k,
                      const double *c, int alone, bool turns) {
    static double g[6 * TELL_ROWS][TELL_MOST];
    const int each = tilts ? 5 : 3, all = each * count;
    ff_rng same;
    ff_rng_seed(&same, 5, 1);
    for (int i = 0; i < TELL_ROWS; i++) {
        const ff_vec3 x = test_random_vec3(&same, 1), v = test_random_vec3(&same, 1),
                      turn = ff_vec3_scale(turns, test_random_vec3(&same, 1)),
                      rate = ff_vec3_scale(turns, test_random_vec3(&same, 1));
        for (int q = 0; q < all; q++) {
            const int j = q / each, which = q % each + (tilts ? 0 : 2);
            ff_vec3 w[2][2];
            for (int side = 0; side < 2; side++) {
                const double step = side ? 1e-5 : -1e-5;
                ff_vec3 m = n[j];
                if (which < 2) {
                    const ff_vec3 e = ff_vec3_unit(ff_vec3_cross(n[j], fabs(n[j].x) < 0.6
                                                                           ? ff_vec3_make(1, 0, 0)
                                                                           : ff_vec3_make(0, 1, 0))),
                                  f = ff_vec3_cross(n[j], e);
                    m = ff_vec3_unit(ff_vec3_axpy(step, which ? f : e, m));
                }
                const ff_vec3 at = ff_vec3_add(x, ff_vec3_cross(turn, r[j])),
                              fast = ff_vec3_add(v, ff_vec3_cross(rate, r[j]));
                const double p = 5.0 - ff_vec3_dot(m, at) - (which == 2 ? step : 0.0);
                double f = (k[j] + (which == 3 ? step : 0.0)) * p -
                           (c[j] + (which == 4 ? step : 0.0)) * ff_vec3_dot(m, fast);
                f = j > 0 && i < alone ? 0.0 : f;
                w[side][0] = ff_vec3_scale(f, m);
                w[side][1] = ff_vec3_cross(r[j], w[side][0]);
            }
            for (int a = 0; a < 6; a++)
                g[6 * i + a][q] = (w[1][a / 3].a[a % 3] - w[0][a / 3].a[a % 3]) / 2e-5;
        }
    }
    int rank = 0; /* Gram and Schmidt, the largest column left first */
    for (; rank < all; rank++) {
        int best = rank;
        double most = 0.0;
        for (int q = rank; q < all; q++) {
            double sum = 0.0;
            for (int i = 0; i < 6 * TELL_ROWS; i++)
                sum += g[i][q] * g[i][q];
            if (sum > most)
                most = sum, best = q;
        }
        if (most < 1e-10 * TELL_ROWS)
            break;
        for (int i = 0; i < 6 * TELL_ROWS; i++) {
            const double swap = g[i][rank];
            g[i][rank] = g[i][best];
            g[i][best] = swap;
            g[i][rank] /= sqrt(most);
        }
        for (int q = rank + 1; q < all; q++) {
            double part = 0.0;
            for (int i = 0; i < 6 * TELL_ROWS; i++)
                part += g[i][rank] * g[i][q];
            for (int i = 0; i < 6 * TELL_ROWS; i++)
                g[i][q] -= part * g[i][rank];
        }
    }
    return rank;
}

/* What rows can tell (docs/methods/fused.md, 9). One tip on m walls, five numbers each (two tilts, place, k,
 * c): while all act the wrench is -K x - D v + const. With different c/k the pencil (K, D) has the normals as
 * its vectors; with equal c/k, D is a multiple of K, and what leaves K leaves all: of its m tilts twice and m
 * stiffnesses K keeps 5 for two walls (rank two of a symmetric 3 x 3) and 6 for three. A row with the first
 * alone tells its normal: of two walls all is then known, of three the other two stay a pair. Feet on one
 * wall, points and normal known, three numbers each: depths of four lie in a plane, so one place of four is
 * free; of two on one line nothing is. */
static void test_what_the_rows_can_tell(void **unused) {
    (void)unused;
    const ff_vec3 n[3] = {ff_vec3_unit(ff_vec3_make(1, .2, .3)), ff_vec3_unit(ff_vec3_make(-.3, 1, .1)),
                          ff_vec3_unit(ff_vec3_make(.1, -.4, 1))};
    const ff_vec3 tip[3] = {{{.1, .2, -.3}}, {{.1, .2, -.3}}, {{.1, .2, -.3}}};
    const double k[4] = {1.0, 1.3, 0.8, 1.1}, equal[4] = {0.1, 0.13, 0.08, 0.11},
                 other[4] = {0.1, 0.3, 0.02, 0.2};
    assert_int_equal(observable(1, n, tip, true, k, equal, 0, false), 5);
    assert_int_equal(observable(2, n, tip, true, k, other, 0, false), 10);
    assert_int_equal(observable(2, n, tip, true, k, equal, 0, false), 9);
    assert_int_equal(observable(2, n, tip, true, k, equal, 20, false), 10);
    assert_int_equal(observable(3, n, tip, true, k, other, 0, false), 15);
    assert_int_equal(observable(3, n, tip, true, k, equal, 0, false), 12);
    assert_int_equal(observable(3, n, tip, true, k, equal, 20, false), 14);
    const ff_vec3 up[4] = {n[0], n[0], n[0], n[0]},
                  feet[4] = {{{0, .5, 0}}, {{0, -.5, .1}}, {{.1, .1, .5}}, {{0, 0, -.5}}};
    assert_int_equal(observable(2, up, feet, false, k, equal, 0, true), 6);
    assert_int_equal(observable(3, up, feet, false, k, equal, 0, true), 9);
    assert_int_equal(observable(4, up, feet, false, k, equal, 0, true), 11);
    const ff_vec3 place[2] = {feet[0], feet[0]}; /* one place: the sums alone */
    assert_int_equal(observable(2, up, place, false, k, equal, 0, true), 3);
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 91);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_equations_of_several),
        cmocka_unit_test(test_several_are_found),
        cmocka_unit_test(test_several_begin_at_their_edges),
        cmocka_unit_test(test_several_under_noise),
        cmocka_unit_test(test_what_is_joined),
        cmocka_unit_test(test_several_are_left),
        cmocka_unit_test(test_no_lever_is_longer_than_an_arm),
        cmocka_unit_test(test_one_that_was_several),
        cmocka_unit_test(test_what_the_rows_can_tell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
