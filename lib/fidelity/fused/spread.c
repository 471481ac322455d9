/* fused: how far the noise of the force moves a contact's impulse (docs/methods/fused.md, 13).
 *
 * The replay gives the satellite f_d = law(s_d) + f - law(s_r). White noise n_i of the rows reaches it twice:
 * as itself, and through the surface, which is a function of it, where satellite and robot are not at one
 * place: df_i = n_i + g_i . dq,   g_i = a(s_d) - a(s_r),   dq = C sum a(s_r) n_i,   q = (k, c, x0), a: the
 * law's derivatives by q; C: their covariance over sigma^2, as the profile gives it. What a force of row i
 * still does to the speed at the end is h_i, the surface's own response over the rest of the contact (the
 * force is zero at the end, so when it ends does not matter). Then
 *   var(sum h_i df_i) = sigma^2 (sum h^2 + 2 A' C u + u' C u),   A = sum h a(s_r),  u = sum h g.
 * An offset b of the sensor is the same in all rows: b (sum h + u' C sum a). A normal that is tilted by d
 * moves the depths of satellite and robot, by what they are apart across it: g = (k (x_d - x_r) + c (v_d -
 * v_r)) . d. */
#include "fidelity/fused/fused.h"

enum { MOST = 50 }; /* rows that are looked at: what is summed is smooth, and this is done in one cycle */

/* The law's derivatives by k, c and x0; zero outside. */
static void derive(const ff_profile *e, double s, double v, double a[3]) {
    const double p = s - e->x0;
    a[0] = a[1] = a[2] = 0.0;
    if (!(ff_profile_force(e, s, v) > 0.0))
        return;
    a[0] = ff_profile_shape(e->law, p);
    a[1] = ff_profile_brake(e->law, e->depth, p) * v;
    const double h = 1e-4 * p;
    a[2] = e->law == 0 ? -e->k : (ff_profile_force(e, s - h, v) - ff_profile_force(e, s + h, v)) / (2.0 * h);
}

/* What is left of a step of speed `rest` seconds later. */
static double response(const ff_profile *e, double mass, double rest) {
    const double w = sqrt(e->k / mass), z = fmin(0.99, e->c / (2.0 * sqrt(e->k * mass)));
    const double root = sqrt(1.0 - z * z), turn = w * root * rest;
    return exp(-z * w * rest) * (cos(turn) - z / root * sin(turn));
}

typedef struct spread_row {
    double s, v;       /* the satellite's */
    double x[2], u[2]; /* across, less the robot's: place and speed along two directions */
    uint64_t cycle;
} spread_row;

/* Satellite and robot of a row, along the normal and across it. */
static void take(fused_state *state, const fused_contact *c, const ff_vec3 across[2], uint64_t i,
                 spread_row *x) {
    const fused_sample *a = fused_at(state, c->a, i), *b = c->b < 0 ? NULL : fused_at(state, c->b, i);
    const ff_rigid_state robot_a = fused_row_robot(a), robot_b = b ? fused_row_robot(b) : fused_at_rest();
    ff__place p = fused_contact_place(c);
    x->cycle = i;
    ff__place_coordinate(&p, state->start[c->a], &a->past.body, b ? &b->past.body : NULL, &x->s, &x->v);
    for (int j = 0; j < 2; j++) {
        double s, v;
        p.n = across[j];
        ff__place_coordinate(&p, state->start[c->a], &a->past.body, b ? &b->past.body : NULL, &x->x[j],
                             &x->u[j]);
        ff__place_coordinate(&p, state->start[c->a], &robot_a, b ? &robot_b : NULL, &s, &v);
        x->x[j] -= s;
        x->u[j] -= v;
    }
}

static double quadratic(const double a[3], double C[3][3], const double b[3]) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += a[i] * C[i][j] * b[j];
    return sum;
}

/* The covariance of k, c and x0 over that of a row. */
static void covariance(const ff_profile *e, double noise, double C[3][3]) {
    const double v = square(e->sd_x0 / noise), unit = 1.0 / square(e->unit);
    C[0][0] = unit * square(e->sd_k) + v * square(e->k_by_x0);
    C[1][1] = unit * square(e->sd_c) + v * square(e->c_by_x0);
    C[2][2] = v;
    C[0][1] = C[1][0] = unit * e->cov_kc + v * e->k_by_x0 * e->c_by_x0;
    C[0][2] = C[2][0] = v * e->k_by_x0;
    C[1][2] = C[2][1] = v * e->c_by_x0;
}

double ff__fused_spread(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                        double noise, double offset, double tilt) {
    const double T = model->integrate.cycle;
    const ff_profile *e = &c->surface;
    const ff_vec3 side = ff_vec3_unit(
        ff_vec3_cross(c->n, fabs(c->n.x) < 0.6 ? ff_vec3_make(1.0, 0.0, 0.0) : ff_vec3_make(0.0, 1.0, 0.0)));
    const ff_vec3 across[2] = {side, ff_vec3_cross(c->n, side)};
    if (!(noise > 0.0 && e->valid && e->unit > 0.0 && isfinite(e->sd_k + e->sd_c + e->sd_x0)))
        return FF_INF;
    spread_row row[MOST];
    const uint64_t stride = 1 + (k - c->anchor) / (MOST - 2);
    int rows = 0, last = -1;
    double impulse = 0.0;
    for (uint64_t i = c->anchor; i <= k && rows < MOST; i += stride, rows++) {
        take(state, c, across, i, &row[rows]);
        const double f = fused_force(e, row[rows].s, row[rows].v);
        impulse += f * (double)stride * T;
        last = f > 0.0 ? rows : last;
    }
    if (!(impulse > 0.0))
        return FF_INF;
    double A[3] = {0}, all[3] = {0}, u[3] = {0}, turned[2] = {0}, squares = 0.0, sum = 0.0, C[3][3];
    const double fast = row[last].v;
    for (int i = 0; i <= last; i++) {
        const fused_row *const q = fused_row_of(c, row[i].cycle);
        double there[3], here[3];
        derive(e, row[i].s, row[i].v, there);
        derive(e, q->s, q->v, here);
        const double h =
            (double)stride * (e->law == 0 ? response(e, c->mass, (double)(row[last].cycle - row[i].cycle) * T)
                              : fast < 0.0 ? row[i].v / fast
                                           : 1.0);
        if (!(there[0] > 0.0 || here[0] > 0.0))
            continue;
        squares += h * h / (double)stride;
        sum += h;
        for (int j = 0; j < 3; j++) {
            A[j] += h * here[j];
            all[j] += (double)stride * here[j];
            u[j] += h * (there[j] - here[j]);
        }
        for (int j = 0; j < 2 && e->law == 0; j++)
            turned[j] += h * (e->k * row[i].x[j] + e->c * row[i].u[j]);
    }
    /* no row counts as better than that in the profile */
    covariance(e, fmax(fused_row_noise(&model->config, c), 1e-6 * c->force_max), C);
    const double white = fmax(0.0, squares + 2.0 * quadratic(A, C, u) + quadratic(u, C, u));
    const double steady = offset * (sum + quadratic(u, C, all));
    return T / impulse *
           sqrt(noise * noise * white + steady * steady +
                tilt * tilt * (turned[0] * turned[0] + turned[1] * turned[1]));
}
