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

enum { TIP_IDLE, TIP_BARE, TIP_FIRST, TIP_SCAN, TIP_TRIAL, TIP_WRITE };
enum {
    SCAN_K = 7,
    SCAN_C = 5,
    SCAN_PLACES = 5,
    TIP_ROWS = 64,   /* after the onset, that surface and axes are found by */
    SCAN_ROWS = 12,  /* of a contact that a point of the grid is judged by */
    TRIALS = 15,     /* two from a point of the grid bring what a factor of two leaves below 1e-3: room */
    TRIALS_TOLD = 9, /* from what the rows tell by themselves: it comes to a low valley by then, or to none */
    DECAYS = 6, /* parts for the tip's decay: of a fast one the first parts after the onset are shorter */
    PARTS = 24, /* of a cycle, at most */
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

/* [N s] What a force that is linear between rows i - 1 and i lacks of one that is curved as its neighbours
 * say: -T^3 f''/12. Nothing where the surface is met in between: that is sought. */
static double curved(fused_state *state, const fused_contact *c, const fused_tip *z, uint64_t i) {
    double f[4];
    if (i <= z->onset || !(z->f > z->bare_least))
        return 0.0;
    for (uint64_t n = 0; n < 4; n++)
        f[n] = ff_vec3_dot(z->n, fused_at(state, c->a, i < z->last || n < 3 ? i - 2 + n : i)->force);
    const bool before = i > z->onset + 1, after = i < z->last && f[3] > z->bare_least;
    const double first = f[0] - 2.0 * f[1] + f[2], second = f[1] - 2.0 * f[2] + f[3];
    return -z->T / 12.0 * (before && after ? 0.5 * (first + second) : before ? first : after ? second : 0.0);
}

/* A row of the bare lane, whose force runs from sample to sample as these say. What that misses is most of
 * all an impulse in the cycle of the onset, which leaves the axes swinging as they do: where rows are in
 * contact
 *   f = k (s - x0 + P h(t)) + c (s' + P h'(t)),  h: of the tip after a unit impulse,
 * is linear in k, c, -k x0, k P and c P. */
static void add_bare(fused_state *state, const fused_contact *c, fused_tip *z, uint64_t i) {
    fused_lane *const x = &z->lane[0];
    const double push = curved(state, c, z, i);
    double h = 0.0, fast = 0.0, s, v;
    for (int a = 0; a < 6; a++) {
        const double d = z->swing[a], rate = z->swing_rate[a];
        const double kick = push * z->Jn[1][a] / z->I[a]; /* in the middle of the cycle */
        x->d[a] += 0.5 * z->T * kick;
        x->rate[a] += kick;
        if (i == z->onset) {
            z->swing[a] = 0.0;
            z->swing_rate[a] = z->Jn[1][a] / z->I[a];
        } else {
            z->swing[a] = z->whole.aa[a] * d + z->whole.ar[a] * rate;
            z->swing_rate[a] = z->whole.ra[a] * d + z->whole.rr[a] * rate;
        }
        h -= z->Jn[1][a] * z->swing[a];
        fast -= z->Jn[1][a] * z->swing_rate[a];
    }
    if (i < z->onset || !(z->f > z->bare_least))
        return;
    /* the axes' own rates again: coordinate() adds those of the motors */
    fused_lane own = *x;
    for (int a = 0; a < 6; a++)
        own.rate[a] -= z->speed[a];
    coordinate(z, 1.0, &own, &s, &v);
    const double row[FUSED_BARE] = {s - z->place, v, 1.0, h, fast};
    for (int n = 0; n < FUSED_BARE; n++) {
        z->bare_b[n] += row[n] * z->f;
        for (int o = 0; o <= n; o++)
            z->bare_A[FUSED_BARE * n + o] += row[n] * row[o];
    }
    z->bare_rows++;
}

/* The surface that these rows tell. */
static bool solve_bare(const fused_tip *z, ff_profile *on) {
    double A[FUSED_BARE * FUSED_BARE], b[FUSED_BARE], scale[FUSED_BARE];
    if (z->bare_rows <= FUSED_BARE)
        return false;
    for (int n = 0; n < FUSED_BARE; n++)
        scale[n] = 1.0 / sqrt(z->bare_A[FUSED_BARE * n + n]);
    for (int n = 0; n < FUSED_BARE; n++) {
        b[n] = z->bare_b[n] * scale[n];
        for (int o = 0; o <= n; o++)
            A[FUSED_BARE * n + o] = A[FUSED_BARE * o + n] =
                z->bare_A[FUSED_BARE * n + o] * scale[n] * scale[o] * (n == o ? 1.0 + 1e-12 : 1.0);
    }
    if (ff_cholesky_factor(FUSED_BARE, A) != FF_OK)
        return false;
    ff_cholesky_solve(FUSED_BARE, A, b);
    *on = (ff_profile){.valid = true, .k = b[0] * scale[0], .c = fmax(0.0, b[1] * scale[1])};
    on->x0 = z->place - b[2] * scale[2] / on->k;
    return on->k > 1.0 && isfinite(on->k + on->c + on->x0);
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
    if (z->phase == TIP_BARE)
        add_bare(state, c, z, i);
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

static void begin_scan(fused_state *state, const fused_contact *c, fused_tip *z);

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
    if (z->told && !(z->J_best < z->gate)) { /* no low valley is there: the grid */
        begin_scan(state, c, z);
        return;
    }
    z->lane[0].on = z->best;
    begin_lanes(state, c, z, TIP_WRITE, 1, z->from, z->to);
}

/* [N] Force on the tip's own inertia t seconds after it has met a surface. */
static double after_meeting(const fused_tip *z, const ff_profile *on, double t) {
    const double a = 0.5 * on->c * z->mobility_on, n = on->k * z->mobility_on - a * a, w = sqrt(fabs(n)),
                 x = w * t;
    const double C = n > 0.0 ? cos(x) : cosh(x), S = x < 1e-6 ? t : (n > 0.0 ? sin(x) : sinh(x)) / w;
    return z->fast * exp(-a * t) * (on->k * S + on->c * (C - a * S));
}

/* Where a surface must lie for the first force to be as it was read: a step that falls within a cycle tells
 * that to a hundredth of its decay, which places in a cycle pass by. At most so many; how many there are. */
static int by_first_force(const fused_tip *z, const ff_profile *on, int most, double *x0) {
    enum { TIMES = 20, HALVES = 16 };
    double t0 = 0.0, f0 = on->c * z->fast - z->f_on;
    int found = 0;
    for (int i = 1; i <= TIMES && found < most; i++) {
        const double t = z->T * exp(0.46 * (i - TIMES)), f = after_meeting(z, on, t) - z->f_on;
        if ((f > 0.0) != (f0 > 0.0)) {
            double lo = t0, hi = t;
            for (int n = 0; n < HALVES; n++) {
                const double middle = 0.5 * (lo + hi);
                if ((after_meeting(z, on, middle) - z->f_on > 0.0) == (f0 > 0.0))
                    lo = middle;
                else
                    hi = middle;
            }
            x0[found++] = z->place + (z->T - lo) * z->fast;
        }
        t0 = t;
        f0 = f;
    }
    return found;
}

/* Point z->point of the grid: stiffness by the tip's turn in a cycle, damping by its ratio there; the surface
 * at five places within the cycle of the onset, and where the first force puts it. */
static void next_point(fused_state *state, const fused_contact *c, fused_tip *z) {
    static const double turn[SCAN_K] = {.05, .1, .22, .47, 1.0, 2.2, 4.7}, ratio[SCAN_C] = {0, .3, 1, 3, 10};
    if (z->point == SCAN_K * SCAN_C) {
        z->trials = 0;
        z->lambda = 1e-3;
        begin_trial(state, c, z, z->scan);
        return;
    }
    const double k = square(turn[z->point / SCAN_C] / z->T) / z->mobility_on;
    const ff_profile on = {
        .valid = true, .k = k, .c = 2.0 * ratio[z->point % SCAN_C] * sqrt(k / z->mobility_on)};
    double x0[FUSED_LANES];
    for (int n = 0; n < SCAN_PLACES; n++)
        x0[n] = z->place + (0.1 + 0.2 * n) * z->fast * z->T;
    const int lanes = SCAN_PLACES + by_first_force(z, &on, FUSED_LANES - SCAN_PLACES, x0 + SCAN_PLACES);
    for (int n = 0; n < lanes; n++) {
        z->lane[n].on = on;
        z->lane[n].on.x0 = x0[n];
    }
    z->point++;
    begin_lanes(state, c, z, TIP_SCAN, lanes, z->onset - 1, z->scan_to);
}

static void begin_scan(fused_state *state, const fused_contact *c, fused_tip *z) {
    z->told = false;
    z->point = 0;
    next_point(state, c, z);
}

/* What is known, and what the rows tell without what happens between them, side by side. */
static void judge_bare(fused_state *state, const fused_contact *c, fused_tip *z) {
    z->told = solve_bare(z, &z->known[z->knows]);
    z->knows += z->told;
    for (int n = 0; n < z->knows; n++)
        z->lane[n].on = z->known[n];
    begin_lanes(state, c, z, TIP_FIRST, z->knows, z->from, z->to);
}

/* The better of what is known is where the fit begins; the grid, where that is in no low valley. */
static void judge_first(fused_state *state, const fused_contact *c, fused_tip *z) {
    int better = 0;
    for (int n = 1; n < z->lanes; n++)
        better = z->lane[n].J < z->lane[better].J ? n : better;
    const ff_profile on = z->lane[better].on;
    if (z->lane[better].J < z->gate) {
        begin_trial(state, c, z, on);
        return;
    }
    z->scan = on;
    z->J_scan = z->J_window[better];
    if (z->told) /* the rows' own word first */
        begin_trial(state, c, z, z->known[z->knows - 1]);
    else
        begin_scan(state, c, z);
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
    if ((gain > 0.0 && gain < 1e-3 * z->J_best) || z->J_best < 1e-3 * z->gate ||
        (z->told && z->trials >= TRIALS_TOLD && !(z->J_best < z->gate)))
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
    const uint64_t to = last - c->detected > TIP_ROWS ? c->detected + TIP_ROWS : last;
    *z = (fused_tip){.contact = (int)(c - state->contact),
                     .T = model->integrate.cycle,
                     .from = c->row_from,
                     .onset = c->detected,
                     .n = c->next.n,
                     .r = c->next.r,
                     .gate = lowest * square(fmax(model->config.force_noise, 1e-3 * c->force_max)) *
                             (double)(to - c->row_from),
                     .to = to,
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
    z->f_on = z->f;
    if (!(z->mobility_on > 0.0) || !(z->fast > 0.0))
        return false;
    /* normal and point have moved since: the surface is as far beyond the last row in front of it */
    z->known[0] = c->surface;
    z->known[0].x0 = c->surface.x0 - before + z->place;
    z->knows = 1;
    if (c->tip.valid) {
        z->known[1] = c->tip;
        z->known[z->knows++].x0 += z->place;
    }
    z->lane[0].on = (ff_profile){.valid = true};
    z->bare_least = fmax(least, 0.02 * c->force_max);
    begin_lanes(state, c, z, TIP_BARE, 1, z->from, z->to);
    flow_of(z, z->T, &z->whole);
    return true;
}

void ff__fused_tip_on(fused_state *state, uint64_t k) {
    fused_tip *z = &state->tip;
    fused_contact *const c = &state->contact[z->contact];
    /* of a short cycle the settlement, which waits for it, takes more than its share: 2e5 instructions */
    int work = fused_by_time(z->T, WORK_TIP);
    if (c->closing)
        work = (int)fmin(WORK_CLOSING, 2.0 * fused_by_time(z->T, WORK_CLOSING));
    if (z->phase != TIP_IDLE && (!(c->open || c->closing) || c->row_from != z->from))
        z->phase = TIP_IDLE; /* cancelled, or longer than the history */
    while (work > 0 && z->phase != TIP_IDLE) {
        if (!run_lanes(state, c, z, k, &work))
            return;
        if (z->phase == TIP_BARE)
            judge_bare(state, c, z);
        else if (z->phase == TIP_FIRST)
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
