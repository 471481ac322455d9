/* Coulomb's friction over a sub-step: a tip slides, stops, sticks, or begins to slide within it. */
#include "history/history.h"

#define SLIDE_STEPS 40   /* of friction within a sub-step, */
#define SLIDE_LEAST 4e-3 /* and the slip, over its growth in a sub-step, that is none */

/* Velocity that an impulse J at p gives the point of a body there. */
static ff_vec3 yields(const ff_rigid_model *model, const ff_rigid_state *body, ff_vec3 p, ff_vec3 J) {
    const ff_vec3 r = ff_vec3_sub(p, body->position);
    const ff_vec3 turn =
        ff_mat3_apply(&model->inertia_inv, ff_quat_unrotate(body->attitude, ff_vec3_cross(r, J)));
    return ff_vec3_axpy(model->mass_inv, J, ff_vec3_cross(ff_quat_rotate(body->attitude, turn), r));
}

/* The same of the tip, relative to the surface. */
static ff_vec3 slips(const ff_body_view *view, const ff__place *c, const ff_rigid_state *a,
                     const ff_rigid_state *b, ff_vec3 p, ff_vec3 J) {
    const ff_vec3 v = yields(&view[c->a].rigid, a, p, J);
    return b ? ff_vec3_add(v, yields(&view[c->b].rigid, b, p, J)) : v;
}

typedef struct slide { /* two directions in the surface, over a sub-step of length 1 */
    double a, b, d;    /* [1/kg] slip by an impulse: the matrix [a b; b d] */
    double g1, g2;     /* [m/s] slip by the normal impulse */
    double most;       /* [N s] mu times the normal impulse */
} slide;

/* The impulse after which a slip u has ended at the end of a time. */
static void stopping(const slide *s, double time, double u1, double u2, double *j1, double *j2) {
    const double det = s->a * s->d - s->b * s->b, v1 = u1 + time * s->g1, v2 = u2 + time * s->g2;
    *j1 = -(s->d * v1 - s->b * v2) / det;
    *j2 = -(s->a * v2 - s->b * v1) / det;
}

/* How slip u grows while friction opposes the direction e. */
static void sliding(const slide *s, double e1, double e2, double *w1, double *w2) {
    *w1 = s->g1 - s->most * (s->a * e1 + s->b * e2);
    *w2 = s->g2 - s->most * (s->b * e1 + s->d * e2);
}

/* From rest where friction cannot hold: slip keeps the direction e in which it grows, g - most A e = r e, so
 * |(most A + r)^-1 g| = 1, which falls with r. Halving is enough: where r is small so is what it moves. */
static void depart(const slide *s, double *e1, double *e2) {
    double low = 0.0, high = hypot(s->g1, s->g2);
    for (int n = 0; n < 24; n++) {
        const double r = 0.5 * (low + high), a = s->most * s->a + r, b = s->most * s->b,
                     d = s->most * s->d + r, det = a * d - b * b;
        *e1 = (d * s->g1 - b * s->g2) / det;
        *e2 = (a * s->g2 - b * s->g1) / det;
        if (*e1 * *e1 + *e2 * *e2 > 1.0)
            low = r;
        else
            high = r;
    }
    const double size = hypot(*e1, *e2);
    *e1 /= size;
    *e2 /= size;
}

/* Coulomb's friction opposes the slip, in steps that turn or
 * change it by less than a third: a slip that ends and begins again in reverse within the sub-step would
 * else be pushed by the wrong sign for a part of it. Where the slip has ended friction holds if mu N can. The
 * satellites slide and stick by their own slip, not when the late robots do. */
ff_vec3 ff__friction_impulse(const ff_body_view *view, const ff__place *c, const ff_rigid_state *a,
                             const ff_rigid_state *b, const ff__touch *t, double mu, double N) {
    const ff_vec3 some = fabs(t->n.x) < 0.6 ? ff_vec3_make(1, 0, 0) : ff_vec3_make(0, 1, 0);
    const ff_vec3 e1 = ff_vec3_unit(ff_vec3_cross(t->n, some)), e2 = ff_vec3_cross(t->n, e1);
    const ff_vec3 by_n = slips(view, c, a, b, t->tip, t->n), by_1 = slips(view, c, a, b, t->tip, e1),
                  by_2 = slips(view, c, a, b, t->tip, e2);
    const slide s = {.a = ff_vec3_dot(e1, by_1),
                     .b = ff_vec3_dot(e1, by_2),
                     .d = ff_vec3_dot(e2, by_2),
                     .g1 = N * ff_vec3_dot(e1, by_n),
                     .g2 = N * ff_vec3_dot(e2, by_n),
                     .most = mu * N};
    double u1 = ff_vec3_dot(e1, t->slip), u2 = ff_vec3_dot(e2, t->slip), J1 = 0.0, J2 = 0.0, left = 1.0, j1,
           j2;
    stopping(&s, 1.0, 0.0, 0.0, &j1, &j2);
    const bool holds = hypot(j1, j2) <= s.most; /* a tip at rest */
    for (int n = 0; left > 0.0; n++) {
        const double slip = hypot(u1, u2);
        stopping(&s, left, u1, u2, &j1, &j2);
        if (holds && hypot(j1, j2) <= s.most * left) {
            J1 += j1;
            J2 += j2;
            break;
        }
        double w1 = 0.0, w2 = 0.0, d1 = 0.0, d2 = 0.0;
        if (slip > 0.0)
            sliding(&s, u1 / slip, u2 / slip, &w1, &w2);
        const double growth = hypot(w1, w2);
        if (!(slip > SLIDE_LEAST * growth)) {
            d1 = slip > 0.0 ? u1 / slip : 0.0; /* holds: what is left is too short to stop it */
            d2 = slip > 0.0 ? u2 / slip : 0.0;
            if (!holds)
                depart(&s, &d1, &d2);
            J1 -= s.most * left * d1;
            J2 -= s.most * left * d2;
            break;
        }
        const double h = n < SLIDE_STEPS ? fmin(left, 0.3 * slip / growth) : left;
        const double m1 = u1 + 0.5 * h * w1, m2 = u2 + 0.5 * h * w2, middle = hypot(m1, m2);
        d1 = middle > 0.0 ? m1 / middle : u1 / slip;
        d2 = middle > 0.0 ? m2 / middle : u2 / slip;
        sliding(&s, d1, d2, &w1, &w2);
        J1 -= s.most * h * d1;
        J2 -= s.most * h * d2;
        u1 += h * w1;
        u2 += h * w2;
        left -= h;
    }
    return ff_vec3_add(ff_vec3_scale(J1, e1), ff_vec3_scale(J2, e2));
}
