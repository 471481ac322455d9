/* fused, function by function: a surface is found together with the axes that yield before it (tip.c). The
 * truth are axes in fine steps with the law's force where the tip is. And how an estimate waits for it and
 * for the better of its passes. */
#include "fused_bench.h"

static ff_rng rng;

#define S bench_state
static const double T = BENCH_T;

/* An arm of six axes whose motors drive a tip against a plane and back, the axes behind them integrated in
 * fine steps with the law's force where the tip is. Motors run evenly over a cycle. */
typedef struct reach {
    ff_gears g;
    ff_pose at;      /* of the tool with its motors at zero */
    double drive[6]; /* of the motors for a metre along -n, without a turn */
    ff_vec3 n, r;
    ff_profile law; /* x0 along n */
    double speed, w, onset;
    double mobility;        /* [1/kg] of the tip along n, behind the gears */
    int steps;              /* of a cycle */
    double d[6], own[6], f; /* axes beside their motors, their own rates, force now */
} reach;

enum { REACH_ONSET = 20, REACH_CYCLES = 90 };

static double reach_gone(const reach *z, double t) {
    const double u = t - z->onset, end = FF_PI / z->w;
    return u < 0.0 ? z->speed * u : u < end ? z->speed / z->w * sin(z->w * u) : -z->speed * (u - end);
}

/* The tool where the axes are, gone the motors' part. */
static ff_pose reach_tool(const reach *z, double gone, const double *d) {
    const ff_twist by = ff__fused_by_axes((const double(*)[6])z->g.J, d);
    return (ff_pose){ff_quat_mul(ff_quat_exp(by.w), z->at.q),
                     ff_vec3_add(by.v, ff_vec3_axpy(-gone, z->n, z->at.p))};
}

/* Force on the tip, and the axes' torques of it. */
static double reach_force(const reach *z, double gone, const double *d, const double *own, double torque[6]) {
    const ff_pose tool = reach_tool(z, gone, d);
    const ff_twist moves = ff__fused_by_axes((const double(*)[6])z->g.J, own);
    const ff_vec3 arm = ff_quat_rotate(tool.q, z->r), turn = ff_vec3_cross(arm, z->n);
    const double s = -ff_vec3_dot(z->n, ff_vec3_add(tool.p, arm)),
                 v = -ff_vec3_dot(z->n, ff_vec3_add(moves.v, ff_vec3_cross(moves.w, arm))),
                 f = ff_profile_force(&z->law, s, v);
    for (int a = 0; a < 6; a++) {
        torque[a] = 0.0;
        for (int r = 0; r < 3; r++)
            torque[a] += f * (z->g.J[r][a] * turn.a[r] + z->g.J[3 + r][a] * z->n.a[r]);
    }
    return f;
}

/* One cycle of the axes by Heun's steps. */
static void reach_cycle(reach *z, double t) {
    const double from = reach_gone(z, t), to = reach_gone(z, t + T), h = T / z->steps;
    for (int n = 0; n < z->steps; n++) {
        double d[6], own[6], k0[6], k1[6], torque[6];
        for (int half = 0; half < 2; half++) {
            const double gone = from + (n + half) * (to - from) / z->steps;
            reach_force(z, gone, half ? d : z->d, half ? own : z->own, torque);
            for (int a = 0; a < 6; a++) {
                const double motor = z->drive[a] * (to - from) / T, x = half ? d[a] : z->d[a],
                             rate = (half ? own[a] : z->own[a]) - motor;
                const double bends =
                    (torque[a] - z->g.damping[a] * rate - z->g.stiffness[a] * x) / z->g.inertia[a];
                if (half == 0) {
                    k0[a] = bends;
                    d[a] = x + h * rate;
                    own[a] = z->own[a] + h * bends;
                } else {
                    k1[a] = bends;
                    z->d[a] += 0.5 * h * (z->own[a] - motor + rate);
                }
            }
        }
        for (int a = 0; a < 6; a++)
            z->own[a] += 0.5 * h * (k0[a] + k1[a]);
    }
    double torque[6];
    z->f = reach_force(z, to, z->d, z->own, torque);
}

static void reach_draw(reach *z, double turn, double ratio) {
    double A[36], mobility = 0.0;
    *z = (reach){.at = {test_random_quat(&rng), test_random_vec3(&rng, 0.5)},
                 .n = bench_unit(&rng),
                 .r = ff_vec3_scale(0.3, bench_unit(&rng)),
                 .speed = ff_rng_range(&rng, 0.02, 0.05),
                 .w = ff_rng_range(&rng, 14.0, 18.0),
                 .steps = 4,
                 .onset = (REACH_ONSET + ff_rng_range(&rng, 0.1, 0.9)) * T};
    for (int a = 0; a < 6; a++) {
        z->g.inertia[a] = ff_rng_range(&rng, 4.0, 12.0);
        z->g.stiffness[a] = z->g.inertia[a] * pow(ff_rng_range(&rng, 50.0, 90.0), 2);
        z->g.damping[a] = 0.1 * sqrt(z->g.inertia[a] * z->g.stiffness[a]);
        for (int r = 0; r < 6; r++)
            z->g.J[r][a] = (r == a ? 1.0 : 0.0) + ff_rng_range(&rng, -0.15, 0.15); /* far from singular */
    }
    double drive[6] = {0, 0, 0, -z->n.x, -z->n.y, -z->n.z};
    for (int r = 0; r < 6; r++)
        for (int a = 0; a < 6; a++)
            A[6 * r + a] = z->g.J[r][a];
    for (int c = 0; c < 6; c++) /* J drive = [0; -n] by elimination */
        for (int r = 0; r < 6; r++) {
            const double part = A[6 * r + c] / A[6 * c + c];
            for (int a = 0; a < 6 && r != c; a++)
                A[6 * r + a] -= part * A[6 * c + a];
            drive[r] -= r == c ? 0.0 : part * drive[c];
        }
    const ff_vec3 arm = ff_quat_rotate(z->at.q, z->r), m = ff_vec3_cross(arm, z->n);
    for (int a = 0; a < 6; a++) {
        z->drive[a] = drive[a] / A[7 * a];
        double J = 0.0;
        for (int r = 0; r < 3; r++)
            J += m.a[r] * z->g.J[r][a] + z->n.a[r] * z->g.J[3 + r][a];
        mobility += J * J / z->g.inertia[a];
    }
    z->law = (ff_profile){
        .valid = true, .k = pow(turn / T, 2) / mobility, .x0 = -ff_vec3_dot(z->n, ff_vec3_add(z->at.p, arm))};
    z->law.c = 2.0 * ratio * sqrt(z->law.k / mobility);
    z->mobility = mobility;
}

typedef struct reach_row {
    double d[6], own[6], f;
    ff_pose tool;
} reach_row;
static reach_row reach_was[REACH_CYCLES];

/* The history of it, and its contact with a surface by which it may begin. */
static fused_contact *reach_play(reach *z, double guess_k, double guess_c, uint64_t last) {
    static const double C[6][6];
    static ff_body_sample y;
    bench_yields = true;
    bench_reset(&rng, 1, 0.0, 0.0, NULL);
    bench_yields = false;
    uint64_t detected = 0;
    double most = 0.0;
    for (int a = 0; a < 6; a++)
        z->own[a] = z->drive[a] * z->speed;
    for (uint64_t k = 0; k < REACH_CYCLES; k++) {
        const double t = (double)k * T, gone = reach_gone(z, t);
        const ff_pose tool = reach_tool(z, gone, z->d);
        for (int a = 0; a < 6; a++)
            z->g.motor[a] = z->drive[a] * gone;
        const ff_vec3 f = ff_quat_unrotate(tool.q, ff_vec3_scale(z->f, z->n));
        y = (ff_body_sample){.T_wr = {z->at.q, ff_vec3_axpy(-gone, z->n, z->at.p)},
                             .f_b = {ff_vec3_cross(z->r, f), f},
                             .gears = &z->g,
                             .compliance = C,
                             .valid = true};
        const ff_method_in in = {.cycle = T, .bodies = 1, .sample = &y};
        const ff_rigid_state body = {.position = y.T_wr.p, .attitude = y.T_wr.q};
        assert_int_equal(ff__fused_store(&bench_model, S, &in, &body, k), FF_OK);
        memcpy(reach_was[k].d, z->d, sizeof z->d);
        memcpy(reach_was[k].own, z->own, sizeof z->own);
        reach_was[k].f = z->f;
        reach_was[k].tool = tool;
        detected = detected == 0 && z->f > force_least ? k : detected;
        most = k <= last ? fmax(most, z->f) : most;
        reach_cycle(z, t);
    }
    const bench_truth about = {.b = -1, .speed = z->speed};
    fused_contact *c = bench_open(0, &about, z->n, z->r, detected - 8, detected, last);
    c->mass = 100.0;
    c->surface = z->law;
    c->surface.k *= guess_k;
    c->surface.c *= guess_c;
    assert_near(c->force_max, most, 1e-3 * most);
    return c;
}

/* Cycles until the fit is done. */
static int reach_finish(const fused_contact *c) {
    int cycles = 0;
    while (!ff__fused_tip_done(S, c) && cycles++ < 500)
        ff__fused_tip_on(S, bench_newest());
    assert_true(cycles < 500);
    return cycles;
}

/* Axes as fused has them are those of the fine steps: to the second order of their angles, which the fit
 * leaves out, and a hundredth of the angle for what parts of a cycle leave. */
static void judge_axes(const reach *z) {
    double bent = 0.0;
    for (uint64_t i = 0; i < REACH_CYCLES; i++)
        for (int a = 0; a < 6; a++)
            bent = fmax(bent, fabs(reach_was[i].d[a]));
    const double off = 6.0 * bent * bent + 5e-3 * bent;
    for (uint64_t i = 2; i < REACH_CYCLES; i++) {
        const fused_axes *g = ff__ring_at(&S->axes, 0, i);
        const fused_sample *x = fused_at(S, 0, i);
        for (int a = 0; a < 6; a++) {
            assert_near(g->angle[a], reach_was[i].d[a], off);
            assert_near(g->rate[a], reach_was[i].own[a], 100.0 * off); /* some 100 rad/s */
        }
        assert_vec3_near(x->T_r.p, reach_was[i].tool.p, 2.0 * off);
        assert_true(ff_quat_angle(x->T_r.q, reach_was[i].tool.q) < 2.0 * off);
        const ff_twist moves = ff__fused_by_axes((const double(*)[6])g->J, g->rate);
        assert_vec3_near(x->twist_r.v, moves.v, 1e-9);
        /* what was written in the axes of before stays in them */
        assert_vec3_near(x->twist_r.w, ff_quat_unrotate(x->T_r.q, moves.w),
                         3.0 * bent * ff_vec3_norm(moves.w) + 1e-9);
        assert_vec3_near(x->force, ff_vec3_scale(reach_was[i].f, z->n), 4.0 * off * reach_was[i].f + 1e-9);
    }
}

/* The surface is that of the truth. What is accepted leaves up to sqrt(8) of 2e-3 of the peak in a row:
 * stiffness and damping, counted by what is critical at the tip, to ten times that; the place to a tenth of a
 * cycle. */
static void judge_surface(const reach *z, const fused_contact *c, double mobility) {
    assert_near(c->tip.k / z->law.k, 1.0, 0.056);
    if (!z->law.law)
        assert_near((c->tip.c - z->law.c) / (2.0 * sqrt(z->law.k / mobility)), 0.0, 0.056);
    const fused_sample *x = fused_at(S, 0, c->detected - 1); /* counted from the last row in front */
    const double s = -ff_vec3_dot(z->n, ff_pose_apply(x->T_r, z->r));
    assert_near(c->tip.x0 + s, z->law.x0, 0.1 * z->speed * T);
}

/* Stiffness, damping and place of a surface come out together with the motion of the axes before it, from
 * what is known better or worse; from far off the lowest valley is found in nearly all cases, and where it is
 * not, the fit says so. */
static void test_a_tip_and_its_axes(void **unused) {
    (void)unused;
    const double ratios[] = {0.3, 1.0, 2.0}, guess[] = {1.0, 1.5, 0.2};
    int found = 0;
    for (int draw = 0; draw < 8; draw++) {
        const double far = draw > 5 ? 1.0 : guess[draw / 2];
        reach z;
        reach_draw(&z, ff_rng_range(&rng, 0.2, 0.5), ratios[draw % 3]);
        z.steps = 60;
        if (draw > 5) { /* another law: from what is known */
            z.law.law = 1;
            z.law.k /= sqrt(2e-3);
            z.law.c = 0.3 * z.law.k;
        }
        const uint64_t last = 60, newest = REACH_CYCLES - 1;
        fused_contact *c = reach_play(&z, far, far, last);
        c->r = ff_vec3_add(c->r, test_random_vec3(&rng, 0.1)); /* what the surface was counted from before */
        c->surface.x0 -= ff_vec3_dot(z.n, ff_quat_rotate(z.at.q, ff_vec3_sub(c->r, z.r)));
        assert_true(ff__fused_tip_begin(&bench_model, S, c, last));
        assert_false(ff__fused_tip_done(S, c));
        assert_true(ff__fused_tip_done(S, &S->contact[1])); /* of another nothing is under way */
        const double mobility = S->tip.mobility_on;
        assert_near(mobility / z.mobility, 1.0, 0.02); /* its axes have turned the tool by some 1e-3 */
        /* counted along the normal and from the point of now */
        const fused_sample *before = fused_at(S, 0, c->detected - 1);
        const ff_vec3 moved = ff_quat_rotate(before->T_r.q, ff_vec3_sub(c->r, c->next.r));
        assert_near(S->tip.known[0].x0, c->surface.x0 + ff_vec3_dot(z.n, moved), 1e-12);
        /* twice of a thousandth of the peak in each row: the lowest valley */
        assert_near(S->tip.gate / ((double)(last - c->row_from) * pow(2e-3 * c->force_max, 2)), 1.0, 1e-12);
        if (draw % 2) { /* the settlement waits: more in a cycle */
            c->open = false;
            c->closing = true;
        }
        ff__fused_tip_on(S, newest);
        assert_false(ff__fused_tip_done(S, c)); /* spread over cycles */
        reach_finish(c);
        assert_int_equal(c->tip_found, S->tip.J_best < S->tip.gate);
        assert_int_equal(c->tip_due, newest + 2 + (newest - c->detected) / 8);
        const fused_axes *now = ff__ring_at(&S->axes, 0, newest);
        assert_memory_equal(&S->gears[0].now, now, sizeof *now); /* continues from there */
        if (!(S->tip.J_best < 8.0 * S->tip.gate))                /* twice of what is allowed of a row */
            continue;
        found++;
        judge_axes(&z);
        judge_surface(&z, c, mobility);
        /* once more, from that: the surface is known, the rows are new ones */
        c->surface.k *= 0.1;
        assert_true(ff__fused_tip_begin(&bench_model, S, c, last + 20));
        assert_true(S->tip.knows == 2 && S->tip.from == c->row_from);
        assert_int_equal(S->tip.to, c->detected + 64 < last + 20 ? c->detected + 64 : last + 20);
        reach_finish(c);
        judge_surface(&z, c, mobility);
        judge_axes(&z);
    }
    assert_true(found > 4);
}

/* Where axes and surface are not found together, and nothing is begun. */
static void test_where_no_tip_is_fitted(void **unused) {
    (void)unused;
    for (int why = 0; why < 17; why++) {
        reach z;
        reach_draw(&z, 0.3, 1.0);
        fused_contact *c = reach_play(&z, 1.0, 1.0, 60), *other = &S->contact[3];
        uint64_t last = 60;
        if (why == 1)
            bench_model.yields = false;
        if (why == 2)
            S->gears[0].moving = false;
        if (why == 3)
            c->b = 0;
        if (why == 4)
            c->torque = true;
        if (why == 5)
            c->surface.valid = false;
        if (why == 6)
            c->frozen = true;
        if (why == 7)
            bench_model.config.skew = -1e-3;
        if (why == 8)
            bench_model.config.sensor_lag = 1e-3;
        if (why == 9)
            bench_model.config.random_estimates = 1;
        if (why == 10 || why == 11)
            last = c->detected + (why == 10 ? 1 : 2);
        if (why == 12) { /* another acts beside it */
            other->open = true;
            other->b = -1;
        }
        if (why == 13)
            S->gears[0].I[4] = 0.0;
        if (why == 14 || why == 15) { /* of a contact of before: that goes first while it lasts */
            other->open = false;
            other->settled = other->closing = why == 14;
            other->end = 1;
            S->tip.phase = 1;
            S->tip.contact = 3;
        }
        if (why == 16) /* away from the surface */
            c->next.n = ff_vec3_scale(-1.0, c->next.n);
        const int phase = S->tip.phase;
        const bool begins = why == 0 || why == 11 || why == 15;
        assert_int_equal(ff__fused_tip_begin(&bench_model, S, c, last), begins);
        if (!begins)
            assert_int_equal(S->tip.phase, phase);
    }
}

/* A contact that is cancelled, or whose first rows leave the history, takes its fit with it: the rows are as
 * they were. */
static void test_a_tip_is_given_up(void **unused) {
    (void)unused;
    static fused_sample before[REACH_CYCLES];
    for (int why = 0; why < 3; why++) {
        reach z;
        reach_draw(&z, 0.3, 1.0);
        fused_contact *c = reach_play(&z, 1.3, 1.0, 60);
        assert_true(ff__fused_tip_begin(&bench_model, S, c, 60));
        for (uint64_t i = 0; i < REACH_CYCLES; i++)
            before[i] = *fused_at(S, 0, i);
        c->open = why != 0;
        c->row_from += why == 1;
        ff__fused_tip_on(S, bench_newest());
        assert_int_equal(ff__fused_tip_done(S, c), why != 2);
        for (uint64_t i = 0; i < REACH_CYCLES; i++)
            assert_memory_equal(&before[i], fused_at(S, 0, i), sizeof before[i]);
        assert_false(c->tip.valid);
    }
}

/* An estimate of the settlement waits for the axes, one during a contact does not, nor asks again before it
 * is due. */
static void test_an_estimate_waits_for_the_tip(void **unused) {
    (void)unused;
    for (int why = 0; why < 4; why++) { /* open; not due; closing; closing, its last pass */
        reach z;
        reach_draw(&z, 0.3, 1.0);
        fused_contact *c = reach_play(&z, 1.2, 1.0, 60);
        c->open = why < 2;
        c->closing = c->settled = why > 1;
        c->end = 60;
        c->passes = why == 2;
        c->tip_due = why == 1 ? 61 : 60;
        c->stage = PLACE;
        int work = 1000000;
        ff__fused_estimate(&bench_model, S, c, 60, bench_newest(), &work);
        assert_int_equal(ff__fused_tip_done(S, c), why == 1 || why == 3);
        assert_int_equal(c->stage == TIP, why == 2);
        if (why != 2)
            continue;
        const int left = work;
        ff__fused_estimate(&bench_model, S, c, 60, bench_newest(), &work);
        assert_true(c->stage == TIP && work == left);
        reach_finish(c);
        work = 1;
        ff__fused_estimate(&bench_model, S, c, 60, bench_newest(), &work);
        assert_int_equal(c->stage, TAKE);
    }
}

/* Gears that are known with the surface cost less than gears that are not: .006 and .04 of the same root. */
static void test_gears_in_the_report(void **unused) {
    (void)unused;
    reach z;
    reach_draw(&z, 0.3, 1.0);
    fused_contact *c = reach_play(&z, 1.0, 1.0, 60);
    for (int i = 0; i < 6; i++)
        S->gears[0].C[i][i] = 0.1 / z.law.k;
    double by[2];
    for (int found = 0; found < 2; found++) {
        c->tip_found = found;
        ff__fused_fill_report(&bench_model, S, c, 60, 0, false);
        by[found] = S->report[0].cause[FUSED_BY_GEARS];
    }
    assert_true(by[0] > 0.0);
    assert_near(by[1] / by[0], 0.006 / 0.04, 1e-12);
}

/* The settlement's second pass stands unless it leaves over four times what the first one left, and three
 * more; then all of the first is taken again. */
static void test_the_better_pass_stands(void **unused) {
    (void)unused;
    for (int why = 0; why < 6; why++) {
        bench_reset(&rng, 1, 0.0, 0.0, NULL);
        bench_rest(60);
        fused_contact *c = bench_settled(0, 0, -1, 20, 49);
        for (uint64_t i = 20; i < 50; i++)
            *fused_row_of(c, i) = (fused_row){.use = i % 3 == 0 ? 2 : 1}; /* 20 rows took part */
        c->closing = true;
        c->stage = COMMIT;
        c->passes = why == 1;
        c->next = (fused_next){.n = {{0, 1, 0}}, .r = {{0, 0, 2}}, .surface = {.valid = true, .k = 5}};
        c->next.surface.J = 20.0 * (4.0 * 7.0 + 3.0) * (why == 0 ? 0.999 : 1.001);
        c->first = (fused_settled){{.valid = why != 2, .k = 9}, {{0, 0, 1}}, {{3, 0, 0}}, 0.25, 7.0};
        c->mu = 0.5;
        c->closing = why != 3;
        c->one.judged = why == 4;
        int work = 1000;
        ff__fused_estimate(&bench_model, S, c, 49, 59, &work);
        if (why == 5) { /* what stands is the first: all of it */
            assert_true(c->next.surface.k == 9 && c->mu == 0.25 && !c->first.surface.valid);
            assert_vec3_near(c->next.n, ff_vec3_make(0, 0, 1), 0.0);
            assert_vec3_near(c->next.r, ff_vec3_make(3, 0, 0), 0.0);
            continue;
        }
        if (why != 4)
            assert_true(c->next.surface.k == 5 && c->surface.k == 5 && c->mu == 0.5);
        if (why == 1) { /* kept for the next one, with its mean */
            assert_true(c->first.surface.k == 5 && c->first.mu == 0.5 && c->passes == 0);
            assert_near(c->first.misfit, 31.0 * 1.001, 1e-9);
        }
    }
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 93);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tip_and_its_axes),  cmocka_unit_test(test_where_no_tip_is_fitted),
        cmocka_unit_test(test_a_tip_is_given_up),   cmocka_unit_test(test_an_estimate_waits_for_the_tip),
        cmocka_unit_test(test_gears_in_the_report), cmocka_unit_test(test_the_better_pass_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
