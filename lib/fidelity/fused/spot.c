/* fused: the point of a contact, and the points of a body that have touched before (docs/methods/fused.md,
 * 2).
 *
 * A torque M = r x F tells r across the force alone. A point that touches along other normals later is known
 * whole, and what was said of the walls it touched before, counted from a point that was wrong along their
 * normals, can be said again for any attitude. */
#include "fidelity/fused/fused.h"

static const double spot_least = 1e-4; /* [m] no point is known better: tips are not points */

/* Largest eigenvalue of sum F F', by its own powers: the normal's is far above the rest. */
static double largest_of(const double *R) {
    ff_vec3 v = R[0] > R[3] && R[0] > R[5] ? ff_vec3_make(R[0], R[1], R[2])
                : R[3] > R[5]              ? ff_vec3_make(R[1], R[3], R[4])
                                           : ff_vec3_make(R[2], R[4], R[5]);
    double largest = 0.0;
    for (int pass = 0; pass < 4; pass++) {
        v = ff_vec3_unit(v);
        const ff_vec3 w = fused_square_times(R, v);
        largest = ff_vec3_dot(v, w);
        v = w;
    }
    return largest;
}

/* The force's noise looks like turning: it adds 2 sigma^2 a row to what tells the point along n, and so draws
 * the point there towards zero (to a third of its arm in contacts that turn as little as they are noisy). How
 * much of it can be taken off: all, where the turning stands above the noise's own scatter; never more than
 * leaves twice that scatter, for what is left divides. */
static double turning_noise(const fused_config *config, const fused_sums *z, double trace) {
    const double rows = (double)z->rows, square = config->force_noise * config->force_noise;
    return fmax(0.0, fmin(2.0 * rows * square, trace - largest_of(z->r) - 4.0 * sqrt(rows) * square));
}

void ff__fused_add_torque(fused_sums *z, ff_vec3 F, ff_vec3 M) {
    fused_add_square(z->r, F);
    z->y = ff_vec3_add(z->y, ff_vec3_cross(F, M));
    z->m += ff_vec3_dot(M, M);
    z->rows++;
}

static double trace_of(const double *R) {
    return R[0] + R[3] + R[5];
}

/* Sum of |M - r x F|^2. */
static double torque_left(const fused_sums *z, ff_vec3 r) {
    return z->m - 2.0 * ff_vec3_dot(r, z->y) + trace_of(z->r) * ff_vec3_dot(r, r) -
           ff_vec3_dot(r, fused_square_times(z->r, r));
}

bool ff__fused_one_point(const fused_model *model, int body, const fused_sums *z, ff_vec3 r, double part) {
    const fused_config *config = &model->config;
    const double rows = (double)z->rows;
    const ff_rigid_model *m = &model->view[body].rigid;
    const double arm_2 = (m->inertia.m[0][0] + m->inertia.m[1][1] + m->inertia.m[2][2]) / (3.0 * m->mass);
    const double blur = square(config->torque_noise) + ff_vec3_dot(r, r) * square(config->force_noise);
    return !(torque_left(z, r) >
             square(part) * arm_2 * trace_of(z->r) + (3.0 * rows + 10.0 * sqrt(rows)) * blur);
}

/* Least squares of M = r x F with a prior around zero: 1 m where the torque is good to `spread`. */
static bool point_by(const fused_sums *z, double blur, double spread, ff_vec3 *r) {
    const double *R = z->r, trace = trace_of(R), weight = spread * spread;
    /* the weak prior along n is many orders below the rest: a touch on the diagonal keeps the factor */
    const double ridge = weight + 1e-14 * (2.0 * trace + 3.0 * weight);
    const double d = trace + ridge - blur;
    double a[9] = {d - R[0], -R[1], -R[2], -R[1], d - R[3], -R[4], -R[2], -R[4], d - R[5]};
    double b[3] = {z->y.x, z->y.y, z->y.z};
    if (ff_cholesky_factor(3, a) != FF_OK)
        return false;
    ff_cholesky_solve(3, a, b);
    *r = (ff_vec3){{b[0], b[1], b[2]}};
    return ff_vec3_finite(*r) && ff_vec3_norm(*r) < 1e3;
}

double ff__fused_point_sd(const fused_config *config, const fused_sums *z, ff_vec3 r) {
    const double rows = (double)z->rows, whole = trace_of(z->r);
    const double noise = square(config->torque_noise) + ff_vec3_dot(r, r) * square(config->force_noise);
    const double left = rows > 3.0 ? torque_left(z, r) / (2.0 * rows - 3.0) : 0.0;
    return whole > 0.0 ? sqrt(fmax(noise, left) / whole) : FF_INF;
}

/* What the rows alone tell. Along n the point shows only as far as the force turns in the body's axes during
 * the contact; so the prior must not weigh more than the misfit that it meets. Where that takes the point
 * farther than any arm, it is not one point that the torque is of: the prior weighs more, until it is not. */
static bool free_point(const fused_config *config, const fused_sums *z, double most, ff_vec3 *r) {
    const double blur = turning_noise(config, z, trace_of(z->r));
    const double least = fmax(fmax(config->torque_noise, 1e-6 * most), 1e-12);
    double spread = fmax(fmax(config->torque_noise, 1e-3 * most), 1e-9);
    ff_vec3 trial;
    bool found = false;
    for (int pass = 0; pass < 2; pass++) {
        if (!point_by(z, blur, spread, &trial))
            return found;
        for (int firmer = 0; firmer < 12 && ff_vec3_norm(trial) > arm_longest; firmer++) {
            spread *= 3.0;
            if (!point_by(z, blur, spread, &trial))
                return found;
        }
        *r = trial;
        found = true;
        const double misfit =
            z->rows > 3 ? sqrt(fmax(0.0, torque_left(z, trial)) / (double)(2 * z->rows - 3)) : spread;
        if (!(misfit < spread))
            return true;
        spread = fmax(least, misfit);
    }
    return true;
}

/* [1/m2] Information of the rows on their point r, each direction at most to `least` metres; along the normal
 * what turns far above the scatter of noise, which divides there. arm: the longest that r may have. */
static void information_of(const fused_config *config, const fused_sums *z, ff_vec3 r, double arm,
                           double most, double least, double P[6]) {
    const double *R = z->r, trace = trace_of(R), blur = turning_noise(config, z, trace);
    const double rows = (double)z->rows, scatter = 40.0 * sqrt(rows) * square(config->force_noise);
    const double d = trace - blur - fmax(0.0, fmin(scatter, trace - blur - largest_of(R)));
    const double noise = square(config->torque_noise) + square(arm * config->force_noise);
    const double left = rows > 3.0 ? torque_left(z, r) / (2.0 * rows - 3.0) : 0.0;
    const double variance = fmax(fmax(noise, left), square(1e-6 * most) + 1e-24);
    const double scale = 1.0 / fmax(variance, trace * square(least));
    for (int i = 0; i < 6; i++)
        P[i] = scale * ((i == 0 || i == 3 || i == 5 ? d : 0.0) - R[i]);
}

/* (P + Q)^-1 v; held at zero where neither tells. */
static bool solve_both(const double P[6], const double Q[6], ff_vec3 *v) {
    double S[6];
    for (int i = 0; i < 6; i++)
        S[i] = P[i] + Q[i];
    const double d = 1.0 + 1e-13 * trace_of(S);
    double a[9] = {S[0] + d, S[1], S[2], S[1], S[3] + d, S[4], S[2], S[4], S[5] + d};
    if (ff_cholesky_factor(3, a) != FF_OK)
        return false;
    ff_cholesky_solve(3, a, v->a);
    return ff_vec3_finite(*v);
}

/* What a spot and the rows tell together; false where they contradict each other. */
static bool with_spot(const fused_config *config, const fused_sums *z, double most, const fused_spot *s,
                      ff_vec3 *r) {
    const double arm = fmax(ff_vec3_norm(*r), ff_vec3_norm(s->r));
    const ff_vec3 off = ff_vec3_sub(*r, s->r);
    double P[6];
    information_of(config, z, *r, arm, most, spot_least, P);
    ff_vec3 x = fused_square_times(s->P, off);
    if (!solve_both(P, s->P, &x) || ff_vec3_dot(fused_square_times(P, off), x) > 20.0)
        return false;
    /* where the rows tell the point, it is theirs */
    information_of(config, z, *r, arm, most, 0.0, P);
    x = fused_square_times(P, off);
    if (!solve_both(P, s->P, &x))
        return false;
    *r = ff_vec3_add(s->r, x);
    return true;
}

int ff__fused_point_of(const fused_config *config, const fused_state *state, int body, const fused_sums *z,
                       double most, ff_vec3 *r) {
    int spot = -1;
    double best = 0.0;
    ff_vec3 alone;
    if (z->rows == 0 || !free_point(config, z, most, &alone))
        return -1;
    *r = alone;
    for (int i = 0; i < FUSED_SPOTS; i++) { /* of those that agree, the one that is known best */
        const fused_spot *s = &state->spot[body][i];
        ff_vec3 with = alone;
        if (s->known && s->least > best && with_spot(config, z, most, s, &with)) {
            best = s->least;
            spot = i;
            *r = with;
        }
    }
    return spot;
}

int ff__fused_spot_at(const fused_config *config, fused_state *state, int body, uint64_t k) {
    const fused_sample *x = fused_at(state, body, k);
    const ff_vec3 F = ff_quat_unrotate(x->T_r.q, x->force);
    int best = -1;
    double least = FF_INF;
    for (int i = 0; i < FUSED_SPOTS; i++) {
        const fused_spot *s = &state->spot[body][i];
        const double trace = s->P[0] + s->P[3] + s->P[5];
        if (!s->known || !(trace > 0.0))
            continue;
        const double left = ff_vec3_norm(ff_vec3_sub(x->torque, ff_vec3_cross(s->r, F)));
        const double blur = hypot(config->torque_noise, ff_vec3_norm(s->r) * config->force_noise);
        if (left < 4.0 * blur + 5.0 * spot_least * ff_vec3_norm(F) + torque_least && left < least) {
            least = left;
            best = i;
        }
    }
    return best;
}

/* Walls touched by a spot that is now known better: their place was found with the point as it was. */
static void count_from(fused_state *state, int a, int spot) {
    for (int w = 0; w < FUSED_WALLS; w++) {
        fused_wall *x = &state->wall[w];
        if (!x->valid || x->torque || x->a != a || x->spot != spot)
            continue;
        const ff_vec3 moved = ff_vec3_sub(state->spot[a][spot].r, x->r);
        x->surface.x0 -= ff_vec3_dot(x->n, ff_quat_rotate(x->turn, moved));
        x->r = state->spot[a][spot].r;
    }
}

/* A place for a new spot: that of the one not seen for longest. */
static int new_spot(fused_state *state, int body) {
    int spot = 0;
    for (int i = 0; i < FUSED_SPOTS; i++) {
        const fused_spot *s = &state->spot[body][i], *t = &state->spot[body][spot];
        if (t->known && (!s->known || s->last < t->last))
            spot = i;
    }
    for (int w = 0; w < FUSED_WALLS; w++)
        if (state->wall[w].a == body && state->wall[w].spot == spot)
            state->wall[w].spot = -1;
    state->spot[body][spot] = (fused_spot){0};
    return spot;
}

void ff__fused_learn_spot(const fused_config *config, fused_state *state, fused_contact *c) {
    double P[6];
    ff_vec3 r;
    if (c->torque || c->mu > 0.0 || c->sum.rows < 8 || !free_point(config, &c->sum, c->torque_max, &r))
        return;
    if (c->spot < 0)
        c->spot = new_spot(state, c->a);
    fused_spot *s = &state->spot[c->a][c->spot];
    const ff_vec3 from = s->known ? s->r : r; /* held there along what the rows do not show */
    const ff_vec3 off = ff_vec3_sub(r, from);
    information_of(config, &c->sum, r, fmax(ff_vec3_norm(r), ff_vec3_norm(from)), c->torque_max, spot_least,
                   P);
    ff_vec3 x = fused_square_times(P, off);
    if (!solve_both(P, s->P, &x))
        return;
    s->r = ff_vec3_add(from, x);
    for (int i = 0; i < 6; i++)
        s->P[i] += P[i];
    const double trace = trace_of(s->P), cap = 200.0 / square(spot_least); /* a tip that wears is followed */
    for (int i = 0; i < 6 && trace > cap; i++)
        s->P[i] *= cap / trace;
    /* the least of the three eigenvalues, or near it: the volume over the two largest */
    const double *Q = s->P;
    const double det = Q[0] * (Q[3] * Q[5] - Q[4] * Q[4]) - Q[1] * (Q[1] * Q[5] - Q[4] * Q[2]) +
                       Q[2] * (Q[1] * Q[4] - Q[3] * Q[2]);
    s->least = fmax(1e-6, det / square(trace_of(s->P)));
    s->known = true;
    s->last = c->end;
    count_from(state, c->a, c->spot);
}
