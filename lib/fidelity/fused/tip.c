/* fused: a tip behind gears, between the samples (docs/methods/fused.md, 6).
 *
 * gears.c moves the axes by a wrench that runs linearly from sample to sample. On a surface that is stiff or
 * damped for the few kilograms that an arm has at its tip it does not: the force begins with a step within a
 * cycle and has fallen by the next one. Where the tip is then follows from the surface, and the surface from
 * where the tip is. Both are found together: axes and surface are integrated over the contact, the force
 * between samples being the law's where the tip is, with what it leaves at the samples linear between them,
 *   f = max(0, law(s, s') + rest),  rest = f_measured - law at the samples,
 * and stiffness, damping and place are those that leave least (Levenberg and Marquardt's method). It has
 * several valleys: where it ends outside the lowest, the first cycles of the contact are tried with stiffness
 * and damping from a grid, in units of the tip's own inertia. */
#include "fidelity/fused/fused.h"

#include <string.h>

enum { TIP_IDLE, TIP_FIRST, TIP_SCAN, TIP_TRIAL, TIP_WRITE };
enum {
    SCAN_K = 7,
    SCAN_C = 5,
    SCAN_ROWS = 12, /* of a contact that a point of the grid is judged by */
    TRIALS = 15,    /* two from a point of the grid bring what a factor of two leaves below 1e-3: room */
    DECAYS = 6,     /* parts for the tip's decay: of a fast one the first parts after the onset are shorter */
    PARTS = 24,     /* of a cycle, at most */
    WORK_TIP = 12000,     /* of a cycle, by time: 240 000 instructions, beside the estimates' 60 000 */
    WORK_CLOSING = 17000, /* of one in which the settlement waits for it */
    WORK_PART = 15,       /* of one part of a cycle of one lane */
    WORK_CYCLE = 40       /* of a cycle besides */
};
/* A cycle is taken in parts that resolve the tip on the surface: 0.3 rad of its oscillation, half of its
 * decay. The force is linear over a part and implicit at its end: second order, and stable for any part. */
static const double part_turn = 0.3, part_decay = 0.5;
/* The lowest valley leaves less than twice what noise, or the inexactness of any law, leaves in a row. */
static const double lowest = 4.0;

static void flow_of(const fused_tip *z, double h, fused_flow *y) {
    y->h = h;
    for (int i = 0; i < 6; i++) {
        const double K = z->K[i], a = 0.5 * z->D[i] / z->I[i], n = K / z->I[i] - a * a, w = sqrt(fabs(n)),
                     x = w * h;
        const double C = n > 0.0 ? cos(x) : cosh(x), S = x < 1e-6 ? h : (n > 0.0 ? sin(x) : sinh(x)) / w;
        const double e = exp(-a * h), lag = z->D[i] / (h * K * K), m = 1.0 / (h * K);
        const double aa = e * (C + a * S), ar = e * S, ra = -e * K / z->I[i] * S, rr = e * (C - a * S);
        y->aa[i] = aa;
        y->ar[i] = ar;
        y->ra[i] = ra;
        y->rr[i] = rr;
        y->a0[i] = lag - aa / K - aa * lag + ar * m;
        y->a1[i] = 1.0 / K - lag + aa * lag - ar * m;
        y->r0[i] = -m - ra / K - ra * lag + rr * m;
        y->r1[i] = m + ra * lag - rr * m;
    }
}

/* Axes of a lane from u0 to u1 (parts of the cycle), the force at the end left out: angles, rates, and by how
 * much a newton there moves the tip, [m], [m/s]. */
static void move(const fused_tip *z, const fused_flow *w, double u0, double u1, const fused_lane *from,
                 fused_lane *to, double *ds, double *dv) {
    *ds = *dv = 0.0;
    for (int a = 0; a < 6; a++) {
        const double rest = z->rest[1][a] - z->rest[0][a], turn = z->Jn[1][a] - z->Jn[0][a];
        const double J1 = z->Jn[0][a] + u1 * turn;
        const double t0 = z->rest[0][a] + u0 * rest + from->f * (z->Jn[0][a] + u0 * turn),
                     t1 = z->rest[0][a] + u1 * rest;
        to->d[a] = w->aa[a] * from->d[a] + w->ar[a] * from->rate[a] + w->a0[a] * t0 + w->a1[a] * t1;
        to->rate[a] = w->ra[a] * from->d[a] + w->rr[a] * from->rate[a] + w->r0[a] * t0 + w->r1[a] * t1;
        *ds -= J1 * J1 * w->a1[a];
        *dv -= J1 * J1 * w->r1[a];
    }
}

static void coordinate(const fused_tip *z, double u, const fused_lane *x, double *s, double *v) {
    *s = z->base[0] + u * (z->base[1] - z->base[0]);
    *v = 0.0;
    for (int a = 0; a < 6; a++) {
        const double J = z->Jn[0][a] + u * (z->Jn[1][a] - z->Jn[0][a]);
        *s -= J * x->d[a];
        *v -= J * (x->rate[a] + z->speed[a]);
    }
}

/* The force at the end of a part: that of the surface where it brings the tip, s + ds f, v + dv f. It falls
 * with f: the root lies between 0 and what is felt without it. */
static double force_at(const ff_profile *on, double s, double v, double ds, double dv, double rest) {
    double lo = 0.0, hi = fmax(0.0, ff_profile_force(on, s, v) + rest), f = 0.0;
    if (!(hi > 0.0))
        return 0.0;
    double g_lo = hi, g_hi = fmax(0.0, ff_profile_force(on, s + ds * hi, v + dv * hi) + rest) - hi;
    for (int pass = 0; pass < 5; pass++) { /* one for the first law */
        f = lo + (hi - lo) * g_lo / (g_lo - g_hi);
        const double g = fmax(0.0, ff_profile_force(on, s + ds * f, v + dv * f) + rest) - f;
        if (fabs(g) < 1e-9 * f)
            break;
        if (g > 0.0) {
            lo = f;
            g_lo = g;
        } else {
            hi = f;
            g_hi = g;
        }
    }
    return f;
}

/* One part of a cycle; s, v: where it brings the tip. */
static void part(const fused_tip *z, const fused_flow *w, double u0, double u1, const double rest[2],
                 const fused_lane *from, fused_lane *to, double *s, double *v) {
    double ds, dv;
    move(z, w, u0, u1, from, to, &ds, &dv);
    coordinate(z, u1, to, s, v);
    to->f = force_at(&from->on, *s, *v, ds, dv, rest[0] + u1 * (rest[1] - rest[0]));
    for (int a = 0; a < 6; a++) {
        const double t = to->f * (z->Jn[0][a] + u1 * (z->Jn[1][a] - z->Jn[0][a]));
        to->d[a] += w->a1[a] * t;
        to->rate[a] += w->r1[a] * t;
    }
    *s += ds * to->f;
    *v += dv * to->f;
}

/* A part in which the surface is met, split there: a damped one begins with a step. *s, *v as of part. */
static void meet(const fused_tip *z, double u0, double u1, const double rest[2], const fused_lane *from,
                 double s0, fused_lane *to, double *s, double *v) {
    const double x0 = from->on.x0, room = 1e-6 * (u1 - u0), off = rest[0] + u0 * (rest[1] - rest[0]);
    double u = u0 + (u1 - u0) * (x0 - s0) / (*s - s0), at, fast = 0.0, ds, dv;
    fused_lane met = *from;
    fused_flow w;
    for (int pass = 0; pass < 2; pass++) {
        u = fmax(u0 + room, fmin(u1 - room, u));
        flow_of(z, (u - u0) * z->T, &w);
        move(z, &w, u0, u, from, &met, &ds, &dv);
        coordinate(z, u, &met, &at, &fast);
        if (pass == 0 && fast > 0.0)
            u += (x0 - at) / (fast * z->T);
    }
    met.f = fmax(0.0, ff_profile_force(&from->on, x0 + 1e-12, fast) + off);
    /* the step decays by the tip's inertia: parts of that, then longer ones */
    for (double h = z->decay / z->T; u < u1; h *= 2.0) {
        const double next = u + 1.5 * h < u1 ? u + h : u1;
        flow_of(z, (next - u) * z->T, &w);
        part(z, &w, u, next, rest, &met, to, s, v);
        met = *to;
        u = next;
    }
}

/* A lane over one cycle; rest: what the law leaves of the force at its ends. */
static void cycle(const fused_tip *z, const double rest[2], fused_lane *x, double *s, double *v) {
    double before, fast;
    coordinate(z, 0.0, x, &before, &fast);
    for (int i = 0; i < z->parts; i++) {
        const double u0 = (double)i / z->parts, u1 = (i + 1.0) / z->parts;
        const fused_lane from = *x;
        part(z, &z->flow, u0, u1, rest, &from, x, s, v);
        if (before <= x->on.x0 && *s > x->on.x0)
            meet(z, u0, u1, rest, &from, before, x, s, v);
        before = *s;
    }
}

/* Geometry of row i is the end of the cycle that comes, and that of the row before its beginning. */
static void next_row(fused_state *state, const fused_contact *c, fused_tip *z, uint64_t i) {
    const fused_sample *x = fused_at(state, c->a, i);
    const fused_axes *g = ff__ring_at(&state->axes, c->a, i);
    const ff_rigid_state body = fused_robot_of(x);
    const ff__place p = {false, c->a, -1, z->n, z->r, NULL};
    const ff_vec3 m = ff_vec3_cross(ff_quat_rotate(x->T_r.q, z->r), z->n);
    const double W[6] = {m.x, m.y, m.z, z->n.x, z->n.y, z->n.z};
    double v;
    memcpy(z->Jn[0], z->Jn[1], sizeof z->Jn[0]);
    memcpy(z->rest[0], z->rest[1], sizeof z->rest[0]);
    z->base[0] = z->base[1];
    z->f = ff_vec3_dot(z->n, x->force);
    ff__place_coordinate(&p, state->start[c->a], &body, NULL, &z->base[1], &v);
    z->mobility = 0.0;
    for (int a = 0; a < 6; a++) {
        double J = 0.0;
        for (int r = 0; r < 6; r++)
            J += W[r] * g->J[r][a];
        z->speed[a] = (g->motor[a] - z->motor[a]) / z->T;
        z->motor[a] = g->motor[a];
        z->Jn[1][a] = J;
        z->rest[1][a] = g->torque[a] - J * z->f;
        z->base[1] += J * g->angle[a];
        z->mobility += J * J / z->I[a];
    }
}

/* The lanes stand at row `from`, on the surfaces that they have. */
static void begin_lanes(fused_state *state, const fused_contact *c, fused_tip *z, int phase, int lanes,
                        uint64_t from, uint64_t to) {
    const fused_axes *g = ff__ring_at(&state->axes, c->a, from);
    z->phase = phase;
    z->lanes = lanes;
    z->row = from;
    z->last = to;
    next_row(state, c, z, from);
    const ff_profile *on = &z->lane[0].on;
    /* of another law: as if it were the first, with the same peak */
    const double k = on->law ? c->force_max * c->force_max / (c->mass * square(fmax(c->speed, 1e-6))) : on->k;
    const double coarse = phase == TIP_SCAN ? 0.5 : 1.0, turns = z->T * sqrt(k * z->mobility) / part_turn;
    z->decay = on->law || !(on->c > 0.0) ? z->T : part_decay / (on->c * z->mobility);
    z->parts = (int)fmax(1.0, fmin(PARTS, ceil(coarse * fmax(turns, fmin(DECAYS, z->T / z->decay)))));
    flow_of(z, z->T / z->parts, &z->flow);
    for (int i = 0; i < lanes; i++) {
        fused_lane *x = &z->lane[i];
        double s, v;
        memcpy(x->d, g->angle, sizeof x->d);
        memcpy(x->rate, g->rate, sizeof x->rate);
        memset(z->speed, 0, sizeof z->speed);
        coordinate(z, 1.0, x, &s, &v);
        x->f = z->f;
        x->left = z->f - ff_profile_force(&x->on, s, v);
        x->J = 0.0;
    }
    memset(z->A, 0, sizeof z->A);
    memset(z->b, 0, sizeof z->b);
}

/* Row i as lane 0 moves it. */
static void write_row(fused_state *state, const fused_contact *c, const fused_lane *x, uint64_t i) {
    fused_sample *q = fused_at(state, c->a, i);
    fused_axes *g = ff__ring_at(&state->axes, c->a, i);
    double d[6], rate[6];
    for (int a = 0; a < 6; a++) {
        d[a] = x->d[a] - g->angle[a];
        rate[a] = x->rate[a] - g->rate[a];
        g->angle[a] = x->d[a];
        g->rate[a] = x->rate[a];
    }
    const ff_twist by = ff__fused_by_axes((const double(*)[6])g->J, d),
                   fast = ff__fused_by_axes((const double(*)[6])g->J, rate);
    const ff_quat turn = ff_quat_exp(by.w);
    q->T_r.p = ff_vec3_add(q->T_r.p, by.v);
    q->T_r.q = ff_quat_mul(turn, q->T_r.q);
    q->force = ff_quat_rotate(turn, q->force);
    q->twist_r.v = ff_vec3_add(q->twist_r.v, fast.v);
    q->twist_r.w = ff_vec3_add(q->twist_r.w, ff_quat_unrotate(q->T_r.q, fast.w));
}

/* Lanes through row i. Of four, one is where the fit stands and three are beside it: their differences are
 * the slopes. */
static void run_row(fused_state *state, const fused_contact *c, fused_tip *z, uint64_t i) {
    const bool valid = fused_at(state, c->a, i)->valid;
    next_row(state, c, z, i);
    for (int n = 0; n < z->lanes; n++) {
        fused_lane *x = &z->lane[n];
        double s, v, rest[2] = {x->left, x->left};
        for (int a = 0; a < 6; a++)
            x->rate[a] -= z->speed[a];
        const fused_lane begun = *x;
        cycle(z, rest, x, &s, &v);
        if (z->phase != TIP_SCAN) { /* once more, with what that leaves at the end */
            rest[1] = valid ? z->f - ff_profile_force(&x->on, s, v) : 0.0;
            *x = begun;
            cycle(z, rest, x, &s, &v);
        }
        x->left = valid ? z->f - ff_profile_force(&x->on, s, v) : 0.0;
        x->f = z->f;
        x->J += x->left * x->left;
        for (int a = 0; a < 6; a++)
            x->rate[a] += z->speed[a];
    }
    const double left = z->lane[0].left;
    for (int n = 1; n < 4 && z->phase == TIP_TRIAL; n++) {
        const double slope = z->lane[n].left - left;
        z->b[n - 1] -= slope * left;
        for (int o = 1; o <= n; o++)
            z->A[3 * (n - 1) + o - 1] += slope * (z->lane[o].left - left);
    }
}

/* All rows of the lanes, by the work that is left; a point of the grid is left where all lanes are worse than
 * the best. */
static bool run_lanes(fused_state *state, const fused_contact *c, fused_tip *z, uint64_t k, int *work) {
    const int passes = z->phase == TIP_SCAN ? 1 : 2;
    const uint64_t last = z->phase == TIP_WRITE ? k : z->last;
    while (z->row<last && * work> 0) {
        run_row(state, c, z, ++z->row);
        *work -= WORK_CYCLE + z->lanes * passes * z->parts * WORK_PART;
        if (z->phase == TIP_WRITE)
            write_row(state, c, &z->lane[0], z->row);
        if (z->phase == TIP_FIRST && z->row <= z->scan_to)
            for (int n = 0; n < z->lanes; n++)
                z->J_window[n] = z->lane[n].J;
        if (z->phase == TIP_SCAN) {
            double least = FF_INF;
            for (int n = 0; n < z->lanes; n++)
                least = fmin(least, z->lane[n].J);
            if (least > z->J_scan)
                return true;
        }
    }
    return z->row >= last;
}

/* The lanes of a trial at `on`: it, and a little beside it. */
static void begin_trial(fused_state *state, const fused_contact *c, fused_tip *z, ff_profile on) {
    z->step[0] = 1e-4;
    z->step[1] = 1e-4 * (on.law ? on.k : sqrt(on.k * c->mass));
    z->step[2] = 1e-5 * fmax(1e-6, c->speed * z->T);
    for (int n = 0; n < 4; n++)
        z->lane[n].on = on;
    z->lane[1].on.k *= 1.0 + z->step[0];
    z->lane[2].on.c += z->step[1];
    z->lane[3].on.x0 += z->step[2];
    begin_lanes(state, c, z, TIP_TRIAL, 4, z->from, z->to);
}

/* The next step of Levenberg and Marquardt from the best, or its rows. */
static void next_trial(fused_state *state, const fused_contact *c, fused_tip *z) {
    while (z->trials++ < TRIALS && z->lambda < 1e6) {
        double A[9], x[3];
        for (int i = 0; i < 3; i++) {
            x[i] = z->b_best[i];
            for (int j = 0; j < 3; j++)
                A[3 * i + j] = z->A_best[i > j ? 3 * i + j : 3 * j + i] * (i == j ? 1.0 + z->lambda : 1.0);
        }
        if (ff_cholesky_factor(3, A) == FF_OK) {
            ff_profile on = z->best;
            ff_cholesky_solve(3, A, x);
            on.k *= exp(fmax(-1.0, fmin(1.0, x[0] * z->step[0])));
            on.c = fmax(0.0, on.c + x[1] * z->step[1]);
            on.x0 += x[2] * z->step[2];
            if (isfinite(on.k + on.c + on.x0)) {
                begin_trial(state, c, z, on);
                return;
            }
        }
        z->lambda *= 8.0;
    }
    z->lane[0].on = z->best;
    begin_lanes(state, c, z, TIP_WRITE, 1, z->from, z->to);
}

/* Point z->point of the grid: stiffness by the tip's turn in a cycle, damping by its ratio there; the surface
 * at five places within the cycle of the onset. */
static void next_point(fused_state *state, const fused_contact *c, fused_tip *z) {
    static const double turn[SCAN_K] = {.05, .1, .22, .47, 1.0, 2.2, 4.7}, ratio[SCAN_C] = {0, .3, 1, 3, 10};
    if (z->point == SCAN_K * SCAN_C) {
        begin_trial(state, c, z, z->scan);
        return;
    }
    const double k = square(turn[z->point / SCAN_C] / z->T) / z->mobility_on;
    for (int n = 0; n < FUSED_LANES; n++)
        z->lane[n].on = (ff_profile){.valid = true,
                                     .k = k,
                                     .c = 2.0 * ratio[z->point % SCAN_C] * sqrt(k / z->mobility_on),
                                     .x0 = z->place + (0.1 + 0.2 * n) * z->fast * z->T};
    z->point++;
    begin_lanes(state, c, z, TIP_SCAN, FUSED_LANES, z->onset - 1, z->scan_to);
}

/* The better of what is known is where the fit begins; the grid, where that is in no low valley. */
static void judge_first(fused_state *state, const fused_contact *c, fused_tip *z) {
    const int better = z->lanes > 1 && z->lane[1].J < z->lane[0].J;
    const ff_profile on = z->lane[better].on;
    if (z->lane[better].J < z->gate) {
        begin_trial(state, c, z, on);
        return;
    }
    z->scan = on;
    z->J_scan = z->J_window[better];
    z->point = 0;
    next_point(state, c, z);
}

static void judge_point(fused_state *state, const fused_contact *c, fused_tip *z) {
    for (int n = 0; n < z->lanes && z->row == z->last; n++)
        if (z->lane[n].J < z->J_scan) {
            z->J_scan = z->lane[n].J;
            z->scan = z->lane[n].on;
        }
    next_point(state, c, z);
}

static void judge_trial(fused_state *state, const fused_contact *c, fused_tip *z) {
    const double gain = z->J_best - z->lane[0].J;
    if (gain > 0.0) {
        z->best = z->lane[0].on;
        z->J_best = z->lane[0].J;
        memcpy(z->A_best, z->A, sizeof z->A);
        memcpy(z->b_best, z->b, sizeof z->b);
    }
    z->lambda *= gain > 0.0 ? 0.1 : 8.0;
    if ((gain > 0.0 && gain < 1e-3 * z->J_best) || z->J_best < 1e-3 * z->gate)
        z->trials = TRIALS;
    next_trial(state, c, z);
}

/* Whether axes and surface can be found together. One contact alone; the sensor's own time is taken off the
 * motion (sample.c), which is then not that of the axes. */
static bool applies(const fused_model *model, const fused_state *state, const fused_contact *c,
                    uint64_t last) {
    const fused_gears *g = &state->gears[c->a];
    const fused_tip *z = &state->tip;
    const fused_contact *other = &state->contact[z->contact];
    if (!model->yields || !g->moving || c->b >= 0 || c->torque || !c->surface.valid || c->frozen ||
        model->config.skew != 0.0 || model->config.sensor_lag > 0.0 || model->config.random_estimates ||
        last <= c->detected + 1 || !ff__fused_lone(state, c))
        return false;
    for (int a = 0; a < 6; a++)
        if (!(g->I[a] > 0.0)) /* it follows the wrench at once: nothing happens between the samples */
            return false;
    return z->phase == TIP_IDLE || other == c || !(other->open || other->closing);
}

bool ff__fused_tip_begin(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last) {
    fused_tip *z = &state->tip;
    const fused_gears *g = &state->gears[c->a];
    if (!applies(model, state, c, last))
        return false;
    *z = (fused_tip){.contact = (int)(c - state->contact),
                     .T = model->integrate.cycle,
                     .from = c->row_from,
                     .to = last,
                     .onset = c->detected,
                     .n = c->next.n,
                     .r = c->next.r,
                     .gate = lowest * square(fmax(model->config.force_noise, 1e-3 * c->force_max)) *
                             (double)(last - c->row_from),
                     .lambda = 1e-3,
                     .J_best = FF_INF};
    memcpy(z->K, g->K, sizeof z->K);
    memcpy(z->D, g->D, sizeof z->D);
    memcpy(z->I, g->I, sizeof z->I);
    const double least = fused_threshold(&model->config, c);
    while (z->onset > z->from + 1 && ff_vec3_dot(c->n, fused_at(state, c->a, z->onset - 1)->force) > least)
        z->onset--;
    z->scan_to = z->onset + SCAN_ROWS < last ? z->onset + SCAN_ROWS : last;
    const ff_rigid_state body = fused_robot_of(fused_at(state, c->a, z->onset - 1));
    const ff__place was = fused_contact_place(c), now = {false, c->a, -1, c->next.n, c->next.r, NULL};
    double before, v;
    ff__place_coordinate(&was, state->start[c->a], &body, NULL, &before, &v);
    ff__place_coordinate(&now, state->start[c->a], &body, NULL, &z->place, &z->fast);
    next_row(state, c, z, z->onset);
    z->mobility_on = z->mobility;
    if (!(z->mobility_on > 0.0) || !(z->fast > 0.0))
        return false;
    /* normal and point have moved since: the surface is as far beyond the last row in front of it */
    z->lane[0].on = z->lane[1].on = c->surface;
    z->lane[0].on.x0 = z->lane[1].on.x0 = c->surface.x0 - before + z->place;
    if (c->tip.valid) {
        z->lane[1].on = c->tip;
        z->lane[1].on.x0 += z->place;
    }
    begin_lanes(state, c, z, TIP_FIRST, c->tip.valid ? 2 : 1, z->from, z->to);
    return true;
}

void ff__fused_tip_on(fused_state *state, uint64_t k) {
    fused_tip *z = &state->tip;
    fused_contact *const c = &state->contact[z->contact];
    int work = fused_by_time(z->T, c->closing ? WORK_CLOSING : WORK_TIP);
    if (z->phase != TIP_IDLE && (!(c->open || c->closing) || c->row_from != z->from))
        z->phase = TIP_IDLE; /* cancelled, or longer than the history */
    while (work > 0 && z->phase != TIP_IDLE) {
        if (!run_lanes(state, c, z, k, &work))
            return;
        if (z->phase == TIP_FIRST)
            judge_first(state, c, z);
        else if (z->phase == TIP_SCAN)
            judge_point(state, c, z);
        else if (z->phase == TIP_TRIAL)
            judge_trial(state, c, z);
        else {
            state->gears[c->a].now = *(const fused_axes *)ff__ring_at(&state->axes, c->a, k);
            c->tip = z->best;
            c->tip_found = z->J_best < z->gate;
            c->tip.x0 -= z->place;
            z->phase = TIP_IDLE;
            c->tip_due = k + 2 + (k - c->detected) / 8;
        }
    }
}

bool ff__fused_tip_done(const fused_state *state, const fused_contact *c) {
    return state->tip.phase == TIP_IDLE || state->tip.contact != (int)(c - state->contact);
}
