/* Hard impacts: the position of the environment rebuilt from the force [lange, IV].
 *
 *   symbol           here
 *   x_c, x_dc        tip of `body` at the robots and at the satellites (touch.p)
 *   n^T(x_e - x_c)   depth: how far the tip stands inside the surface, measured along the normal n
 *   k_en, d_en       stiffness_of(), contact->damping: the mock-ups'
 *   k_d, d_d         contact->satellite_stiffness, episode->damping: the satellites'
 *   x_e, x_de        episode->offset: where the surface really lies, from its place in the scenario
 *   f, f_d           episode->force, normal_force() at the satellites
 *
 * (18) and, for two robots, (29)-(33) in one form. With the springs in series, 1/k = 1/k_1 + 1/k_2, the force
 * says how deep the real tip stands, f/k_e; the poses say how deep it stands in the scenario's geometry,
 * depth(robots). Their difference is the environment's offset, and at the satellites
 *
 *     f_d = k_d (depth(satellites) + f/k_e - depth(robots)) + d_d depth'(satellites)            (12), (20)
 *
 * which is (32) put into (27), and (33) into (28): only the force and differences of positions enter. It is
 * ONE force, applied to both satellites with both signs at the satellites' tip: one line of action, so no
 * momentum is created whatever the error of k_e ((32) for both breaks it by 20 % when k_e is off by 5 %).
 * Departures from print, each with its reason in docs/methods/lange.md:
 *  - f_d is never negative, so it is released at zero force and does not stick; the paper's (12) would pull.
 *  - the normal is that of the known tools at the satellites' own poses; (17) is that of the robots' and
 *    turns with them. Without friction both agree where robot and satellite do. `normal: force` is (17).
 *  - the torque is (13), force times lever; (21) adds the rest of the measured torque, `torque: measured`.
 *  - friction acts by the satellites' own slip: the late robots slide and stick at other times.
 *  - (23), (24): the damping of the mock-ups is known and so is the robots' velocity, hence the force of the
 *    damper is taken off the measured one; a scalar Kalman filter holds the offset over the contact.
 *  - IV-F recomputes the first steps only; here every step since the contact began is recomputed when the
 *    offset is corrected, because a surface that moves under load does work on the satellites.
 *  - a cycle in contact is integrated in a few substeps (kick in the middle, damping implicit, begin of the
 *    contact located): second order and lossless, at 25 samples a contact as at 5. */
#include "fidelity/impact/impact.h"

#include <stddef.h>

#define SMALLEST_FORCE 1e-6 /* [N] below it a force is rounding of stage 1 */
#define CHANGE 1e-12        /* [m] an offset that changed less has not changed */
#define PHASE 0.06          /* [rad] w h of a substep */
#define SUBSTEPS 16
#define FLIGHT 0.02      /* [s] step of a prediction without contact */
#define SLIDE_STEPS 40   /* of friction within a substep, */
#define SLIDE_LEAST 4e-3 /* and the slip, over its growth in a substep, that is none */
#define LEAST_ROWS 8     /* that a spread recomputation advances in a cycle which looks back besides */
#define PACE 16.0        /* rows that may be looked back again for each cycle since the last time */
#define SLIDES 2e-3      /* [m/s] slip of the robots from which friction is known to be Coulomb's */

/* [N] standard deviation per axis of the forces that indicate a contact: measured in flight, else the
 * config's.
 */
static double force_noise(const impact_model *config, const impact_state *state, int c) {
    const ff_world_contact *contact = &config->contact[c];
    if (!(config->detector.multiple > 0.0))
        return config->noise;
    const double own = state->noise[contact->body];
    return contact->against < 0 ? own : fmax(own, state->noise[contact->against]);
}

/* The slope of force over depth, weighed with what was believed before (to one half of itself). The intercept
 * is left out, so absolute positions do not enter. */
static double stiffness_of(const impact_model *config, const impact_state *state, int contact,
                           double *deviation) {
    const double k = isnan(config->stiffness) ? config->contact[contact].stiffness : config->stiffness;
    *deviation = 0.0;
    if (!config->identified)
        return k;
    const impact_episode *e = &state->episode[contact];
    const double noise = force_noise(config, state, contact) + 1e-3, square = noise * noise;
    const double belief = 4.0 / (k * k), information = belief + e->Sxx / square;
    *deviation = 1.0 / sqrt(information);
    return fmin(fmax((k * belief + e->Sxy / square) / information, 0.1 * k), 10.0 * k);
}

/* --------------------------------------------------------------------------------------------- geometry --
 */

typedef struct touch {
    double depth, rate; /* [m] into the surface, and its growth [m/s] */
    ff_vec3 n, p, v;    /* inertial: normal, tip, its velocity relative to the surface */
    bool off;           /* beyond the surface's end */
} touch;

static const ff_rigid_state fixed = {.attitude = {1, 0, 0, 0}};

static const ff_rigid_state *other(const ff_world_contact *c, const ff_rigid_state *body) {
    return c->against >= 0 ? &body[c->against] : &fixed;
}

/* The cone's cavity is what lies within half_angle of the axis; behind the apex the apex is nearest. */
static touch touch_at(const ff_world_contact *c, const ff_rigid_state *body) {
    const ff_rigid_state *a = &body[c->body], *o = other(c, body);
    touch t = {.p = ff_vec3_add(a->position, ff_quat_rotate(a->attitude, c->point))};
    const ff_vec3 p_o = ff_quat_unrotate(o->attitude, ff_vec3_sub(t.p, o->position));
    ff_vec3 n_o = c->normal;
    if (c->shape == FF_SHAPE_PLANE) {
        t.depth = ff_vec3_dot(n_o, ff_vec3_sub(c->at, p_o));
    } else {
        const double ca = cos(c->half_angle), sa = sin(c->half_angle);
        const ff_vec3 r = ff_vec3_sub(p_o, c->apex);
        const double z = ff_vec3_dot(c->axis, r);
        const ff_vec3 across = ff_vec3_axpy(-z, c->axis, r);
        const double rho = ff_vec3_norm(across), along = z * ca + rho * sa;
        if (along <= 0.0) {
            t.depth = ff_vec3_norm(r);
            n_o = t.depth > 0.0 ? ff_vec3_scale(-1.0 / t.depth, r) : c->axis;
        } else {
            t.depth = rho * ca - z * sa;
            t.off = along * ca > c->depth;
            n_o = ff_vec3_scale(sa, c->axis);
            if (rho > 0.0)
                n_o = ff_vec3_axpy(-ca / rho, across, n_o);
        }
    }
    t.n = ff_quat_rotate(o->attitude, n_o);
    t.v = ff_vec3_sub(ff_rigid_point_velocity(a, c->point), ff_rigid_point_velocity(o, p_o));
    t.rate = -ff_vec3_dot(t.n, t.v);
    return t;
}

/* Part of the damping that acts at this depth: [he2022, (24)]. */
static double damping_part(const ff_world_contact *c, double depth) {
    if (depth >= c->damping_depth)
        return 1.0;
    const double s = fmax(depth / c->damping_depth, 0.0);
    return s * s * (3.0 - 2.0 * s);
}

/* Inverse of the mass that a normal force at p moves: n.(dv/dF). */
static double mobility(const ff_rigid_model *model, const ff_rigid_state *body, ff_vec3 n, ff_vec3 p) {
    const ff_vec3 r = ff_quat_unrotate(body->attitude, ff_vec3_sub(p, body->position));
    const ff_vec3 m = ff_vec3_cross(r, ff_quat_unrotate(body->attitude, n));
    return model->mass_inv + ff_vec3_dot(m, ff_mat3_apply(&model->inertia_inv, m));
}

static double contact_mobility(const impact_model *model, const ff_world_contact *c,
                               const ff_rigid_state *body, const touch *t) {
    double inverse = mobility(&model->body[c->body], &body[c->body], t->n, t->p);
    if (c->against >= 0)
        inverse += mobility(&model->body[c->against], &body[c->against], t->n, t->p);
    return inverse;
}

/* ----------------------------------------------------------------------------- motion of the satellites --
 */

/* Several bodies over a time, with the contacts and loads that act on them. */
typedef struct flow {
    const impact_model *model;
    const impact_state *state;
    unsigned contacts;                 /* bit c: contact c acts */
    unsigned bodies;                   /* bit i: body i moves here */
    double offset[FF_METHOD_CONTACTS]; /* [m] of the surfaces */
    double mu[FF_METHOD_CONTACTS];
    ff_rigid_load load[FF_MAX_BODIES];    /* held */
    ff_rigid_state body[FF_MAX_BODIES];   /* in and out */
    ff_rigid_load impulse[FF_MAX_BODIES]; /* out: of the contacts; force part inertial, torque part body */
} flow;

static void push(flow *f, int i, double h, ff_vec3 force, ff_vec3 torque_b) {
    const ff_rigid_model *m = &f->model->body[i];
    ff_rigid_state *b = &f->body[i];
    b->velocity = ff_vec3_axpy(h * m->mass_inv, force, b->velocity);
    b->omega = ff_vec3_axpy(h, ff_mat3_apply(&m->inertia_inv, torque_b), b->omega);
}

static void push_at(flow *f, int i, double h, ff_vec3 force, ff_vec3 p) {
    const ff_rigid_state *b = &f->body[i];
    const ff_vec3 r = ff_vec3_sub(p, b->position);
    const ff_vec3 torque_b = ff_quat_unrotate(b->attitude, ff_vec3_cross(r, force));
    push(f, i, h, force, torque_b);
    f->impulse[i].force = ff_vec3_axpy(h, force, f->impulse[i].force);
    f->impulse[i].torque = ff_vec3_axpy(h, torque_b, f->impulse[i].torque);
}

static void drift(flow *f, double h) {
    for (int i = 0; i < f->model->bodies; i++)
        if (f->bodies >> i & 1u)
            ff_integrate_coast(&f->model->body[i], h, fabs(h), &f->body[i]);
}

/* Velocity that an impulse J at p gives the point of a body there. */
static ff_vec3 yields(const ff_rigid_model *model, const ff_rigid_state *body, ff_vec3 p, ff_vec3 J) {
    const ff_vec3 r = ff_vec3_sub(p, body->position);
    const ff_vec3 turn =
        ff_mat3_apply(&model->inertia_inv, ff_quat_unrotate(body->attitude, ff_vec3_cross(r, J)));
    return ff_vec3_axpy(model->mass_inv, J, ff_vec3_cross(ff_quat_rotate(body->attitude, turn), r));
}

/* The same of the tip, relative to the surface. */
static ff_vec3 slips(const flow *f, const ff_world_contact *c, ff_vec3 p, ff_vec3 J) {
    const ff_vec3 v = yields(&f->model->body[c->body], &f->body[c->body], p, J);
    return c->against < 0 ? v
                          : ff_vec3_add(v, yields(&f->model->body[c->against], &f->body[c->against], p, J));
}

typedef struct slide { /* two directions in the surface, over a substep of length 1 */
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

/* Coulomb's friction over a substep with the normal impulse N. It opposes the slip, in steps that turn or
 * change it by less than a third: a slip that ends and begins again in reverse within the substep would
 * else be pushed by the wrong sign for a part of it. Where the slip has ended friction holds if mu N can. The
 * satellites slide and stick by their own slip, not when the late robots do. */
static ff_vec3 friction(const flow *f, const ff_world_contact *c, const touch *t, double mu, double N) {
    const ff_vec3 some = fabs(t->n.x) < 0.6 ? ff_vec3_make(1, 0, 0) : ff_vec3_make(0, 1, 0);
    const ff_vec3 e1 = ff_vec3_unit(ff_vec3_cross(t->n, some)), e2 = ff_vec3_cross(t->n, e1);
    const ff_vec3 by_n = slips(f, c, t->p, t->n), by_1 = slips(f, c, t->p, e1), by_2 = slips(f, c, t->p, e2);
    const slide s = {.a = ff_vec3_dot(e1, by_1),
                     .b = ff_vec3_dot(e1, by_2),
                     .d = ff_vec3_dot(e2, by_2),
                     .g1 = N * ff_vec3_dot(e1, by_n),
                     .g2 = N * ff_vec3_dot(e2, by_n),
                     .most = mu * N};
    double u1 = ff_vec3_dot(e1, t->v), u2 = ff_vec3_dot(e2, t->v), J1 = 0.0, J2 = 0.0, left = 1.0, j1, j2;
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

/* (12) at the middle of the substep, with the mean velocity in the damper: depth' falls by h F/m over it. */
static void kick(flow *f, int index, double h, unsigned *inside) {
    const ff_world_contact *c = &f->model->contact[index];
    const impact_episode *e = &f->state->episode[index];
    touch t = touch_at(c, f->body);
    const double s = t.depth + f->offset[index], mu = f->mu[index];
    if (t.off || !(s > 0.0)) {
        *inside &= ~(1u << index);
        return;
    }
    *inside |= 1u << index;
    const bool measured = f->model->set.normal == NORMAL_FORCE; /* friction is in it */
    if (measured) {
        t.n = ff_quat_rotate(other(c, f->body)->attitude, e->n_o);
        t.rate = -ff_vec3_dot(t.n, t.v);
    }
    const double d = e->damping * damping_part(c, s);
    double force = c->satellite_stiffness * s + d * t.rate;
    if (d > 0.0)
        force /= 1.0 + 0.5 * h * d * contact_mobility(f->model, c, f->body, &t);
    if (!(force > 0.0)) /* never pulls */
        return;
    ff_vec3 F = ff_vec3_scale(force, t.n);
    if (mu > 0.0 && !measured)
        F = ff_vec3_axpy(1.0 / h, friction(f, c, &t, mu, h * force), F);
    push_at(f, c->body, h, F, t.p);
    if (c->against >= 0)
        push_at(f, c->against, h, ff_vec3_neg(F), t.p);
    if (f->model->set.torque == TORQUE_MEASURED) /* (21) */
        for (int j = 0; j < (c->against >= 0 ? 2 : 1); j++) {
            const int i = j ? c->against : c->body;
            push(f, i, h, ff_vec3_zero(), e->rest_b[j]);
            f->impulse[i].torque = ff_vec3_axpy(h, e->rest_b[j], f->impulse[i].torque);
        }
}

/* Ends a substep where a contact begins, so that its damper acts from its first instant. */
static double until_contact(const flow *f, double h, double resolution, unsigned inside) {
    for (int c = 0; c < f->model->contacts; c++) {
        if (!(f->contacts >> c & 1u) || (inside >> c & 1u))
            continue;
        const touch t = touch_at(&f->model->contact[c], f->body);
        const double s = t.depth + f->offset[c];
        if (!t.off && s < 0.0 && t.rate > 0.0 && s + h * t.rate > 0.0 && -s / t.rate > resolution)
            h = -s / t.rate;
    }
    return h;
}

static bool is_apart(const flow *f) {
    for (int c = 0; c < f->model->contacts; c++) {
        const touch t = touch_at(&f->model->contact[c], f->body);
        if ((f->contacts >> c & 1u) && !t.off && !(t.depth + f->offset[c] < 0.0))
            return false;
    }
    return true;
}

/* Half drifts of neighbouring substeps are one drift where nothing must be known between them. */
static void flow_run(flow *f, double time, int substeps) {
    const int contacts = f->model->contacts;
    const double step = time / substeps, resolution = 1e-6 * step;
    double left = time, pending = 0.0;
    unsigned inside = 0;
    for (int guard = 0; left > resolution && guard < 4 * substeps + 2 * FF_METHOD_CONTACTS; guard++) {
        double h = left < 1.5 * resolution + step ? left : step;
        if (f->contacts & ~inside) {
            if (pending > 0.0)
                drift(f, pending);
            pending = 0.0;
            /* flight needs no substeps; the contact's own begin where it does */
            const bool flies = !inside && is_apart(f);
            h = fmin(until_contact(f, flies ? left : h, resolution, inside), left);
        }
        drift(f, pending + 0.5 * h);
        for (int c = 0; c < contacts; c++)
            if (f->contacts >> c & 1u)
                kick(f, c, h, &inside);
        for (int i = 0; i < f->model->bodies; i++)
            if (f->bodies >> i & 1u)
                push(f, i, h, f->load[i].force, f->load[i].torque);
        pending = 0.5 * h;
        left -= h;
    }
    if (pending > 0.0)
        drift(f, pending);
}

static void add_contact(flow *f, int c) {
    const ff_world_contact *contact = &f->model->contact[c];
    f->contacts |= 1u << c;
    f->offset[c] = f->state->episode[c].offset;
    f->mu[c] = f->state->episode[c].mu;
    f->bodies |= 1u << contact->body;
    if (contact->against >= 0)
        f->bodies |= 1u << contact->against;
}

/* Enough substeps that none turns the fastest contact's phase by more than PHASE. */
static int substeps(const flow *f, double time) {
    double fastest = 0.0;
    for (int c = 0; c < f->model->contacts; c++)
        if (f->contacts >> c & 1u) {
            const ff_world_contact *contact = &f->model->contact[c];
            const touch t = touch_at(contact, f->body);
            fastest = fmax(fastest,
                           contact->satellite_stiffness * contact_mobility(f->model, contact, f->body, &t));
        }
    const double count = ceil(sqrt(fastest) * time / PHASE);
    return count < 1.0 ? 1 : count > SUBSTEPS ? SUBSTEPS : (int)count;
}

/* ------------------------------------------------------------------------------------ what the robots say --
 */

typedef struct measured {
    ff_rigid_state robot[FF_MAX_BODIES];
    ff_vec3 force[FF_MAX_BODIES]; /* inertial */
    ff_vec3 torque_b[FF_MAX_BODIES];
    touch at[FF_METHOD_CONTACTS];
    double force_n[FF_METHOD_CONTACTS];    /* [N] normal force of each contact */
    double noise[FF_METHOD_CONTACTS];      /* [N] its standard deviation, as it is divided in this cycle */
    double compliance[FF_METHOD_CONTACTS]; /* [m/N] of the robots along each normal */
} measured;

enum { AT_ONCE = 6 }; /* contacts among which one wrench is divided */

/* Unit normal force of a contact as wrenches on its bodies; torques over a length, so that both compare. */
static double product(const impact_model *model, const measured *m, int c, int d, double per_length2) {
    const ff_world_contact *all = model->contact, *a = &all[c], *b = &all[d];
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        const double sign_a = a->body == i      ? 1.0
                              : a->against == i ? -1.0
                                                : 0.0,
                     sign_b = b->body == i      ? 1.0
                              : b->against == i ? -1.0
                                                : 0.0;
        if (sign_a * sign_b == 0.0)
            continue;
        const ff_vec3 ma = ff_vec3_cross(ff_vec3_sub(m->at[c].p, m->robot[i].position), m->at[c].n),
                      mb = ff_vec3_cross(ff_vec3_sub(m->at[d].p, m->robot[i].position), m->at[d].n);
        sum += sign_a * sign_b * (ff_vec3_dot(m->at[c].n, m->at[d].n) + per_length2 * ff_vec3_dot(ma, mb));
    }
    return sum;
}

static double projection(const impact_model *model, const ff_method_in *in, const measured *m, int c,
                         double per_length2) {
    const ff_world_contact *a = &model->contact[c];
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        const double sign = a->body == i ? 1.0 : a->against == i ? -1.0 : 0.0;
        if (sign == 0.0)
            continue;
        sum += sign * ff_vec3_dot(m->at[c].n, m->force[i]);
        if (per_length2 > 0.0) {
            const ff_vec3 moment = ff_vec3_cross(ff_vec3_sub(m->at[c].p, m->robot[i].position), m->at[c].n);
            const ff_vec3 torque = ff_quat_rotate(m->robot[i].attitude, in->sample[i].f_b.t);
            sum += sign * per_length2 * ff_vec3_dot(moment, torque);
        }
    }
    return sum;
}

/* Divides the measured wrenches among the contacts that can be their cause: least squares, without those that
 * would pull. One alone needs the forces only, and takes the mean of both sensors. White noise of variance
 * s^2 makes the share of contact a scatter by s^2 (G^-1)_aa: walls that differ little share it enlarged. */
static void divide(const impact_model *model, const ff_method_in *in, const impact_state *state,
                   measured *m) {
    const impact_model *config = model;
    int list[AT_ONCE], count = 0;
    for (int c = 0; c < config->contacts; c++) {
        m->force_n[c] = 0.0;
        m->noise[c] = force_noise(config, state, c);
        const double reach = m->at[c].depth + config->set.position_error;
        if (m->at[c].off || !(reach > 0.0) || count == AT_ONCE)
            continue;
        list[count++] = c;
    }
    while (count > 0) {
        double G[AT_ONCE * AT_ONCE], g[AT_ONCE], scatter[AT_ONCE];
        const double per_length2 = count > 1 ? 10.0 : 0.0; /* torques over 0.3 m */
        for (int a = 0; a < count; a++) {
            for (int b = 0; b < count; b++)
                G[a * count + b] = product(model, m, list[a], list[b], per_length2) + (a == b ? 1e-9 : 0.0);
            g[a] = projection(model, in, m, list[a], per_length2);
        }
        for (int a = 0; a < count; a++)
            scatter[a] = 1.0;
        if (count == 1) {
            g[0] /= G[0] - 1e-9;
            scatter[0] = 1.0 / (G[0] - 1e-9);
        } else if (ff_cholesky_factor((size_t)count, G) == FF_OK) {
            ff_cholesky_solve((size_t)count, G, g);
            for (int a = 0; a < count; a++) {
                double column[AT_ONCE] = {0};
                column[a] = 1.0;
                ff_cholesky_solve((size_t)count, G, column);
                scatter[a] = column[a];
            }
        }
        int worst = -1;
        for (int a = 0; a < count; a++)
            if (g[a] < 0.0 && (worst < 0 || g[a] < g[worst]))
                worst = a;
        if (worst < 0) {
            for (int a = 0; a < count; a++) {
                m->force_n[list[a]] = g[a];
                m->noise[list[a]] *= sqrt(scatter[a]);
            }
            return;
        }
        list[worst] = list[--count];
    }
}

/* n^T J_e K_r^-1 J_e^T n (IV-B): a force n at the tip is the wrench w = [r x n; n] about the CoM, and the tip
 * yields by w^T C w. */
static double give_way(const double (*C)[6], ff_vec3 r, ff_vec3 n) {
    const ff_vec3 m = ff_vec3_cross(r, n);
    const double w[6] = {m.x, m.y, m.z, n.x, n.y, n.z};
    double sum = 0.0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sum += w[i] * C[i][j] * w[j];
    return sum;
}

static void measure(const impact_model *model, const ff_method_in *in, const impact_state *state,
                    measured *m) {
    for (int i = 0; i < model->bodies; i++) {
        const ff_body_sample *s = &in->sample[i];
        m->robot[i] = (ff_rigid_state){s->T_wr.p, s->T_wr.q, s->twist_r.v, s->twist_r.w};
        m->force[i] = ff_quat_rotate(s->T_wr.q, s->f_b.f);
        m->torque_b[i] = s->f_b.t;
    }
    for (int c = 0; c < model->contacts; c++) {
        const ff_world_contact *contact = &model->contact[c];
        m->at[c] = touch_at(contact, m->robot);
        m->compliance[c] = 0.0;
        const int pair[2] = {contact->body, contact->against};
        for (int j = 0; j < 2; j++)
            if (pair[j] >= 0 && in->sample[pair[j]].compliance && model->set.gears)
                m->compliance[c] += give_way(in->sample[pair[j]].compliance,
                                             ff_vec3_sub(m->at[c].p, m->robot[pair[j]].position), m->at[c].n);
    }
    divide(model, in, state, m);
}

/* -------------------------------------------------------------------------------------------- environment --
 */

/* Slope of force over depth within this contact, added to what earlier ones gave. */
static void identify(impact_episode *e, double depth, double force) {
    e->n += 1.0;
    const double dx = depth - e->x, dy = force - e->y;
    e->x += dx / e->n;
    e->y += dy / e->n;
    e->Sxx += dx * (depth - e->x);
    e->Sxy += dx * (force - e->y);
}

/* (18) and (24): the force less its damper, over the stiffness, less the depth of the robots. The filter's
 * state is the offset, a slow random walk; its first value is unknown within position_error. */
static void filter(const impact_model *config, const impact_state *state, int index, double T,
                   const measured *m, impact_episode *e) {
    const ff_world_contact *c = &config->contact[index];
    const touch *robot = &m->at[index];
    const double damper =
        config->set.observer ? c->damping * damping_part(c, robot->depth + e->estimate) * robot->rate : 0.0;
    const double spring = e->force - damper;
    identify(e, robot->depth, spring);
    double deviation;
    double k = stiffness_of(config, state, index, &deviation);
    if (!config->identified) /* the identified one contains it */
        k /= 1.0 + k * m->compliance[index];
    const double R = m->noise[index] * m->noise[index] / (k * k) + 1e-24;
    e->variance += config->set.drift * config->set.drift * T;
    const double gain = e->variance / (e->variance + R);
    e->estimate += gain * (spring / k - robot->depth - e->estimate);
    e->variance *= 1.0 - gain;
    e->stiffness = k;
    /* f/k over the speed of approach, for the robots' first touch */
    e->since = robot->rate > 0.0 ? fmin(spring / (k * robot->rate), T) : 0.0;
}

/* Friction from the samples in which the robots slide, where it differs from the scenario's by more than
 * noise does; the scenario's coefficient is the maximum. */
static void note_friction(const impact_model *config, const impact_state *state, int index, const measured *m,
                          impact_episode *e) {
    const ff_world_contact *c = &config->contact[index];
    if (!(c->friction > 0.0))
        return;
    for (int k = 0; k < config->contacts; k++) { /* one force, two causes: nothing to learn */
        const ff_world_contact *x = &config->contact[k];
        if (k != index && m->force_n[k] > 0.0 && (x->body == c->body || x->against == c->body))
            return;
    }
    const touch *t = &m->at[index];
    const ff_vec3 slip = ff_vec3_axpy(-ff_vec3_dot(t->n, t->v), t->n, t->v);
    const double speed = ff_vec3_norm(slip);
    if (speed < SLIDES)
        return;
    e->mu_xx += e->force * e->force;
    e->mu_xy -= e->force * ff_vec3_dot(m->force[c->body], slip) / speed;
    const double mu = e->mu_xy / e->mu_xx, deviation = force_noise(config, state, index) / sqrt(e->mu_xx);
    e->mu_found = fabs(mu - c->friction) > 4.0 * deviation ? fmin(fmax(mu, 0.0), c->friction) : c->friction;
}

/* (17), and the torque of (21) beyond force times lever. */
static void note_printed(const ff_world_contact *c, int index, const measured *m, impact_episode *e) {
    const int pair[2] = {c->body, c->against};
    const double size = ff_vec3_norm(m->force[c->body]);
    if (size > 0.0)
        e->n_o = ff_quat_unrotate(other(c, m->robot)->attitude, ff_vec3_scale(1.0 / size, m->force[c->body]));
    for (int j = 0; j < (c->against >= 0 ? 2 : 1); j++) {
        const ff_rigid_state *robot = &m->robot[pair[j]];
        const ff_vec3 lever = ff_vec3_sub(m->at[index].p, robot->position);
        e->rest_b[j] = ff_vec3_sub(
            m->torque_b[pair[j]], ff_quat_unrotate(robot->attitude, ff_vec3_cross(lever, m->force[pair[j]])));
    }
}

/* What the report says of the surface; the method itself believes the scenario, or the slope above. */
static void note_surface(const impact_model *model, int index, const measured *m, impact_episode *e) {
    const ff_world_contact *c = &model->contact[index];
    const touch *t = &m->at[index];
    const bool first = !e->surface.begun;
    const ff_identify_in sample = {.cycle = model->integrate.cycle,
                                   .force = e->force,
                                   .step = first ? 0.0 : t->depth - e->depth,
                                   .speed = t->rate,
                                   .mass = 1.0 / contact_mobility(model, c, m->robot, t)};
    ff_identify_config config;
    ff_identify_out out;
    ff_identify_default(&config);
    config.noise = m->noise[index];
    ff_identify_step(&config, &e->surface, &sample, &out);
    if (out.valid)
        e->found = out;
    config.graded = true;
    ff_identify_step(&config, &e->graded, &sample, &out);
    if (out.valid)
        e->found_graded = out;
    e->depth = t->depth;
}

static void open_episode(const impact_model *model, int index, uint64_t row, const ff_rigid_state *body,
                         impact_episode *e) {
    const impact_model *config = model;
    const ff_world_contact *c = &config->contact[index];
    /* stiffness and friction are the surface's, whichever contact showed them */
    const impact_episode before = *e;
    *e = (impact_episode){.open = true,
                          .known = true,
                          .begin = row,
                          .last = row,
                          .Sxx = before.Sxx,
                          .Sxy = before.Sxy,
                          .mu_xx = before.mu_xx,
                          .mu_xy = before.mu_xy};
    e->variance = config->set.position_error * config->set.position_error;
    e->damping = c->satellite_damping;
    e->mu = e->mu_found = before.mu_xx > 0.0 ? before.mu_found : c->friction;
    if (!isnan(config->set.restitution)) {
        const touch t = touch_at(c, body);
        const double inverse = contact_mobility(model, c, body, &t);
        e->damping =
            2.0 * ff_contact_damping_ratio(config->set.restitution) * sqrt(c->satellite_stiffness / inverse);
    }
}

/* Rows that may be looked back. */
static double most_cycles(const impact_model *model) {
    return fmin(floor(model->set.look_back / model->integrate.cycle + 1e-9), HISTORY_ROWS - 1);
}

/* What a cycle asks for: nothing, the past within this cycle, or spread over several. */
typedef enum look { LOOK_NOT, LOOK_NOW, LOOK_SPREAD } look;

static void take_newest(impact_episode *e) {
    e->offset = e->estimate;
    e->mu = e->mu_found;
}

/* Whether what is known of the contact should be applied to the whole of it. Such a change does no work, so
 * it can wait until it is worth it; one that cannot be applied, because the contact is older than the
 * look-back, would do work and is left out: *bounded. */
static look settle(const impact_model *model, const impact_state *state, double noise, int index,
                   uint64_t row, bool begins, impact_episode *e, bool *bounded) {
    const impact_model *config = model;
    if (!config->set.recomputation) {
        take_newest(e);
        return LOOK_NOT;
    }
    const double worth = CHANGE + (begins ? 0.0 : 0.3 * noise / e->stiffness);
    const bool differs = fabs(e->estimate - e->offset) > worth ||
                         fabs(e->mu_found - e->mu) > 0.01 * config->contact[index].friction;
    e->again = false;
    if (!differs && !begins)
        return LOOK_NOT;
    const double age = (double)(row - e->begin);
    if (age > most_cycles(model)) {
        *bounded = true;
        return LOOK_NOT;
    }
    if (e->touching && (double)(row - state->looked) * PACE < age) { /* there will be more data soon */
        e->again = true;
        return LOOK_NOT;
    }
    if (age > REPLAY_ROWS)
        return LOOK_SPREAD;
    take_newest(e);
    return LOOK_NOW;
}

/* Follows one contact for one cycle; says whether the satellites' past should be looked at again. */
static look follow(const impact_model *model, impact_state *state, int index, uint64_t row,
                   const ff_rigid_state *body, const measured *m, bool *bounded) {
    const impact_model *config = model;
    const ff_world_contact *c = &config->contact[index];
    impact_episode *e = &state->episode[index];
    double on = fmax(state->force_on[c->body], SMALLEST_FORCE);
    if (c->against >= 0)
        on = fmax(on, state->force_on[c->against]);
    if (config->detector.multiple > 0.0 && !config->detector.fixed)
        on = fmax(on, config->detector.multiple * m->noise[index]);
    const double force = m->force_n[index];
    const bool begins = !e->open && force > on;
    if (begins)
        open_episode(model, index, row, body, e);
    e->force = force;
    /* Between the thresholds the force of a robot that has left the surface may be noise, and as a sample of
     * where the surface lies it would draw it out to the robot: then the place decides. */
    e->touching = e->open && (force > on || (force > fmax(config->detector.off_ratio * on, SMALLEST_FORCE) &&
                                             m->at[index].depth + e->estimate > -3.0 * sqrt(e->variance)));
    if (e->touching) {
        filter(config, state, index, model->integrate.cycle, m, e);
        note_friction(config, state, index, m, e);
        note_printed(c, index, m, e);
        note_surface(model, index, m, e);
    }
    look asks = LOOK_NOT;
    if (e->touching || (e->again && e->known))
        asks = settle(model, state, m->noise[index], index, row, begins, e, bounded);
    if (!e->open) {
        e->known = e->known && e->last + HISTORY_ROWS > row;
        return asks;
    }
    const touch t = touch_at(c, body);
    const bool apart = t.off || !(t.depth + e->offset > 0.0);
    if (e->touching || !apart) {
        e->quiet = 0;
        e->last = row;
    } else if (++e->quiet >= config->detector.quiet_cycles) {
        e->open = false;
    }
    return asks;
}

/* ----------------------------------------------------------------------------------------------- causality
 * -- */

static impact_past *row_of(const ff__history *history, int body, uint64_t k) {
    return ff__ring_at(&history->ring, body, k);
}

/* How deep the satellites of one row stood in the surface [m]; not positive: outside. */
static double was_inside(const ff_world_contact *c, double offset, const ff__history *history, uint64_t k) {
    ff_rigid_state body[FF_MAX_BODIES];
    for (int i = 0; i < history->bodies; i++)
        body[i] = ff__history_at(history, i, k)->body;
    const touch t = touch_at(c, body);
    return t.off ? 0.0 : t.depth + offset;
}

/* Moves the begin of a contact back to the last row in which the satellites stood outside, within the
 * look-back. Returns how deep they stood there all the same [m]: it began before the look-back reaches. */
static double find_begin(const impact_model *model, ff__history *history, int index, uint64_t oldest,
                         double offset, impact_episode *e) {
    if (e->begin < oldest) { /* an old contact that is merely crossed */
        e->begin = oldest;
        return 0.0;
    }
    double inside;
    while ((inside = was_inside(&model->contact[index], offset, history, e->begin)) > 0.0 &&
           e->begin > oldest)
        e->begin--;
    return fmax(inside, 0.0);
}

static uint64_t oldest_row(const impact_model *model, uint64_t now) {
    const double most = most_cycles(model);
    return (double)now > most ? now - (uint64_t)most : 0;
}

/* The contacts that act on the satellites from row `start` on. */
static void add_known(flow *f, uint64_t start) {
    for (int c = 0; c < f->model->contacts; c++)
        if (f->state->episode[c].known && (f->state->episode[c].open || f->state->episode[c].last >= start))
            add_contact(f, c);
}

/* The rows from `from` to `to` again, from f->body on; `spread`: beside those that hold now. */
static void replay_rows(flow *f, ff__history *history, uint64_t from, uint64_t to, bool spread) {
    const double T = f->model->integrate.cycle;
    const int count = substeps(f, T);
    for (uint64_t j = from; j < to; j++) {
        for (int i = 0; i < f->model->bodies; i++) {
            f->load[i] = ff__history_at(history, i, j)->load;
            if (!(f->bodies >> i & 1u))
                f->body[i] = ff__history_at(history, i, j)->body;
        }
        flow_run(f, T, count);
        for (int i = 0; i < f->model->bodies; i++)
            if (f->bodies >> i & 1u)
                *(spread ? &row_of(history, i, j + 1)->replayed : &ff__history_at(history, i, j + 1)->body) =
                    f->body[i];
    }
}

/* IV-F: a contact that is known now may have begun in steps that are done. Finds the row before it began,
 * recomputes from there, and gives the satellites of this cycle. What is too long for one cycle is added to
 * *spread; until that is done the surface stands where the satellites are. Returns the rows. */
static int recompute(const impact_model *model, impact_state *state, ff__history *history, uint64_t now,
                     unsigned looks, unsigned *spread, ff_rigid_state *body, bool *bounded) {
    const uint64_t oldest = oldest_row(model, now);
    uint64_t start = now;
    for (int c = 0; c < model->contacts; c++) {
        if (!(looks >> c & 1u))
            continue;
        impact_episode *e = &state->episode[c];
        /* Begun before the look-back reaches: a contact that starts compressed would give energy that nobody
         * put in, so the surface is taken to stand where the satellites are then. */
        const double inside = find_begin(model, history, c, oldest, e->offset, e);
        if (inside > 0.0) {
            e->offset -= inside;
            *bounded = true;
        }
        if (now - e->begin > REPLAY_ROWS) {
            *spread |= 1u << c;
            e->offset -= fmax(was_inside(&model->contact[c], e->offset, history, now), 0.0);
        } else if (e->begin < start) {
            start = e->begin;
        }
    }
    if (start == now)
        return 0;
    flow f = {.model = model, .state = state};
    add_known(&f, start);
    for (int i = 0; i < model->bodies; i++)
        f.body[i] = ff__history_at(history, i, start)->body;
    replay_rows(&f, history, start, now, false);
    for (int i = 0; i < model->bodies; i++)
        if (f.bodies >> i & 1u)
            body[i] = f.body[i];
    return (int)(now - start);
}

static void begin_replay(const impact_model *model, impact_state *state, ff__history *history, uint64_t now,
                         unsigned spread) {
    impact_replay *r = &state->replay;
    const uint64_t oldest = oldest_row(model, now);
    *r = (impact_replay){.running = true, .start = now};
    for (int c = 0; c < model->contacts; c++)
        if (spread >> c & 1u) {
            impact_episode *e = &state->episode[c];
            const double inside = find_begin(model, history, c, oldest, e->estimate, e);
            r->offset[c] = e->estimate - inside;
            r->mu[c] = e->mu_found;
            if (e->begin < r->start)
                r->start = e->begin;
        }
    flow f = {.model = model, .state = state};
    add_known(&f, r->start);
    r->contacts = f.contacts;
    for (int c = 0; c < model->contacts; c++)
        if ((r->contacts & ~spread) >> c & 1u) {
            r->offset[c] = state->episode[c].offset;
            r->mu[c] = state->episode[c].mu;
        }
    r->row = r->start;
    for (int i = 0; i < model->bodies; i++)
        r->body[i] = ff__history_at(history, i, r->start)->body;
}

/* A contact that was measured since the replay began acts in it, too. */
static void join_replay(const impact_model *model, impact_state *state, ff__history *history) {
    impact_replay *r = &state->replay;
    for (int c = 0; c < model->contacts; c++) {
        const impact_episode *e = &state->episode[c];
        if (!e->open || (r->contacts >> c & 1u))
            continue;
        r->contacts |= 1u << c;
        r->offset[c] = e->offset;
        r->mu[c] = e->mu;
        if (e->begin >= r->row)
            continue;
        r->row = e->begin > r->start ? e->begin : r->start;
        for (int i = 0; i < model->bodies; i++) {
            const impact_past *row = row_of(history, i, r->row);
            r->body[i] = r->row > r->start ? row->replayed : row->past.body;
        }
    }
}

/* At most so many rows more. When it has reached the present, its motion is the satellites' from then on.
 * Returns the rows looked back then, else 0. */
static int continue_replay(const impact_model *model, impact_state *state, ff__history *history, uint64_t now,
                           int rows, ff_rigid_state *body) {
    impact_replay *r = &state->replay;
    const int contacts = model->contacts;
    flow f = {.model = model, .state = state};
    for (int c = 0; c < contacts; c++)
        if (r->contacts >> c & 1u) {
            add_contact(&f, c);
            f.offset[c] = r->offset[c];
            f.mu[c] = r->mu[c];
        }
    for (int i = 0; i < model->bodies; i++)
        f.body[i] = r->body[i];
    const uint64_t to = now - r->row > (uint64_t)rows ? r->row + (uint64_t)rows : now;
    replay_rows(&f, history, r->row, to, true);
    r->row = to;
    for (int i = 0; i < model->bodies; i++)
        r->body[i] = f.body[i];
    if (to < now)
        return 0;
    r->running = false;
    for (uint64_t j = r->start + 1; j <= now; j++) {
        for (int i = 0; i < model->bodies && ff__history_find(history, i, j); i++)
            if (f.bodies >> i & 1u)
                row_of(history, i, j)->past.body = row_of(history, i, j)->replayed;
    }
    for (int i = 0; i < model->bodies; i++)
        if (f.bodies >> i & 1u)
            body[i] = f.body[i];
    for (int c = 0; c < contacts; c++)
        if (r->contacts >> c & 1u) {
            impact_episode *e = &state->episode[c];
            e->offset = r->offset[c];
            e->mu = r->mu[c];
            e->again = true;
        }
    return (int)(now - r->start);
}

/* All that this cycle looks back. Returns how far [cycles]. */
static int look_back(const impact_model *model, impact_state *state, ff__history *history, uint64_t now,
                     unsigned looks, unsigned spread, ff_rigid_state *body, bool *bounded) {
    const int rows = looks ? recompute(model, state, history, now, looks, &spread, body, bounded) : 0;
    int longest = rows;
    if (spread && !state->replay.running)
        begin_replay(model, state, history, now, spread);
    if (state->replay.running) {
        join_replay(model, state, history);
        const int left = REPLAY_ROWS - rows;
        const int far =
            continue_replay(model, state, history, now, left < LEAST_ROWS ? LEAST_ROWS : left, body);
        longest = far > longest ? far : longest;
    }
    return longest;
}

/* Without recomputation: the steps that are done stay, but the contact begins where the robots touched within
 * the last cycle, not at the sample that saw it (which acts as up to one cycle more delay). */
static void begin_within_cycle(const impact_model *model, const impact_state *state, int index,
                               const ff_method_in *in, ff_rigid_state *body) {
    flow f = {.model = model, .state = state};
    for (int c = 0; c < model->contacts; c++)
        if (c != index && state->episode[c].open)
            return; /* what the others did in this cycle is not known apart */
    const double since = state->episode[index].since;
    add_contact(&f, index);
    for (int i = 0; i < model->bodies; i++) {
        f.body[i] = body[i];
        f.load[i] = in->sample[i].load;
    }
    drift(&f, -since);
    for (int i = 0; i < model->bodies; i++) { /* the free motion with its loads, backwards */
        f.body[i].position =
            ff_vec3_axpy(0.5 * since * since * model->body[i].mass_inv, f.load[i].force, f.body[i].position);
        if (f.bodies >> i & 1u)
            push(&f, i, -since, f.load[i].force, f.load[i].torque);
    }
    if (since > 0.0)
        flow_run(&f, since, substeps(&f, since));
    for (int i = 0; i < model->bodies; i++)
        if (f.bodies >> i & 1u)
            body[i] = f.body[i];
}

/* The motion one delay ahead, and one cycle more, with the contacts that are known now and no others: to
 * expect one that is not measured would let the robot turn round before it touches. */
static void predict(const impact_model *model, flow *f, ff_method_out *out) {
    const impact_model *config = model;
    const double T = model->integrate.cycle;
    f->bodies = (1u << model->bodies) - 1u;
    double goal[2 * FF_MAX_BODIES], t = 0.0;
    for (int i = 0; i < model->bodies; i++) {
        goal[i] = config->delay[i];
        goal[model->bodies + i] = config->delay[i] + T;
    }
    unsigned left = (1u << (2 * model->bodies)) - 1u;
    while (left) {
        double next = FF_INF;
        for (int g = 0; g < 2 * model->bodies; g++)
            if ((left >> g & 1u) && goal[g] < next)
                next = goal[g];
        if (next > t) {
            /* free flight is exact in position and needs few steps in attitude */
            const double cycles = ceil((next - t) / (f->contacts ? T : fmax(T, FLIGHT)) - 1e-9);
            flow_run(f, next - t, cycles < 1.0 ? 1 : cycles > 64.0 ? 64 : (int)cycles);
            t = next;
        }
        for (int g = 0; g < 2 * model->bodies; g++)
            if ((left >> g & 1u) && goal[g] <= t) {
                left &= ~(1u << g);
                if (g < model->bodies)
                    out->command[g] = f->body[g];
                else
                    out->next_command[g - model->bodies] = f->body[g - model->bodies];
            }
    }
}

/* ---------------------------------------------------------------------------------------------------- step
 * -- */

static void report(const impact_episode *e, double slope, int i, ff_method_out *out) {
    if (e->found.valid)
        out->stiffness[i] = e->found.mean_stiffness;
    if (!isnan(slope)) /* the one in use */
        out->stiffness[i] = slope;
    if (e->found_graded.valid) {
        out->damping[i] = e->found_graded.mean_damping;
        out->damping_sd[i] = e->found_graded.mean_damping_sd;
    }
}

static ff_status step(const void *self, void *memory, const ff_method_in *in, ff_method_out *out) {
    const impact_model *model = self, *config = model;
    impact_state *state = memory;
    ff__history *history = &state->history;
    ff_rigid_state *body = out->body;
    const double T = model->integrate.cycle;
    const uint64_t now = history->count;
    ff_rigid_load load[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++)
        load[i] = in->sample[i].load;
    const ff_status status = ff__history_push(history, body, load);
    if (status != FF_OK)
        return status;

    for (int i = 0; i < model->bodies; i++) {
        state->noise[i] = in->detected[i].force_noise;
        state->force_on[i] = in->detected[i].force_on;
    }
    measured m;
    measure(model, in, state, &m);
    unsigned looks = 0, spread = 0;
    bool any = false, bounded = false;
    for (int c = 0; c < config->contacts; c++) {
        const bool before = state->episode[c].open;
        const look asks = follow(model, state, c, now, body, &m, &bounded);
        looks |= asks == LOOK_NOW ? 1u << c : 0u;
        spread |= asks == LOOK_SPREAD ? 1u << c : 0u;
        any |= state->episode[c].open;
        if (!config->set.recomputation && !before && state->episode[c].open)
            begin_within_cycle(model, state, c, in, body);
    }
    if (looks || (spread && !state->replay.running))
        state->looked = now;
    if (looks || spread || state->replay.running) {
        out->look_back = look_back(model, state, history, now, looks, spread, body, &bounded);
        if (out->look_back > 0)
            state->recomputations++;
        if (out->look_back > state->longest_look_back)
            state->longest_look_back = out->look_back;
    }
    state->bounded += bounded;

    flow f = {.model = model, .state = state};
    for (int i = 0; i < model->bodies; i++) {
        f.body[i] = body[i];
        f.load[i] = in->sample[i].load;
    }
    for (int c = 0; c < config->contacts && any; c++)
        if (state->episode[c].open) {
            add_contact(&f, c);
            const ff_world_contact *contact = &config->contact[c];
            double deviation;
            const double k = stiffness_of(config, state, c, &deviation);
            const int pair[2] = {contact->body, contact->against};
            for (int j = 0; j < (contact->against >= 0 ? 2 : 1); j++) {
                out->in_contact[pair[j]] = true;
                report(&state->episode[c], config->identified ? k : FF_NAN, pair[j], out);
            }
        }
    if (any) {
        flow moved = f;
        flow_run(&moved, T, substeps(&moved, T));
        for (int i = 0; i < model->bodies; i++)
            if (moved.bodies >> i & 1u) {
                out->has_next[i] = true;
                out->next[i] = moved.body[i];
                out->f_b[i] = (ff_wrench){
                    ff_vec3_scale(1.0 / T, moved.impulse[i].torque),
                    ff_quat_unrotate(body[i].attitude, ff_vec3_scale(1.0 / T, moved.impulse[i].force))};
            }
    }
    if (config->set.prediction) {
        out->has_command = true;
        for (int i = 0; i < model->bodies; i++)
            out->lead[i] = config->delay[i];
        predict(model, &f, out);
    }
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------------ table --
 */

static const char *const readings[] = {"default", "printed", NULL},
                         *const normals[] = {"tools", "force", NULL},
                         *const torques[] = {"lever", "measured", NULL},
                         *const online[] = {"identified", NULL};
enum { THRESHOLD = 12 }; /* its place in the table */

#define ANY .low = -FF_INF, .high = FF_INF
#define POSITIVE .low = 0.0, .high = FF_INF, .above_low = true
#define NOT_NEGATIVE .low = 0.0, .high = FF_INF
#define AT(field) offsetof(impact_settings, field)
/* clang-format off */
static const ff_setting table[] = {
    {"reading", FF_SETTING_CHOICE, "", AT(reading), "default", ANY, .choice = readings, .help = "`printed`: section IV-B of lange to the letter: `normal: force`, `torque: measured`, `observer: false`. The settings below override single choices."},
    {"normal", FF_SETTING_CHOICE, "", AT(normal), "(tools; printed: force)", ANY, .choice = normals, .help = "Direction of the satellites' force: normal of the known tools at the satellites, or the measured force's, (17)."},
    {"torque", FF_SETTING_CHOICE, "", AT(torque), "(lever; printed: measured)", ANY, .choice = torques, .help = "Of the satellites: force times lever, (13), or with the rest of the measured torque, (21)."},
    {"prediction", FF_SETTING_BOOLEAN, "", AT(prediction), "true", ANY, .help = "Command the motion one delay ahead."},
    {"recomputation", FF_SETTING_BOOLEAN, "", AT(recomputation), "true", ANY, .help = "Once a contact is measured, recompute the steps since the satellites touched."},
    {"observer", FF_SETTING_BOOLEAN, "", AT(observer), "(true; printed: false)", ANY, .help = "Take the mock-ups' own damping off the measured force; `false`: it is ignored, as in the paper's section IV-B."},
    {"gears", FF_SETTING_BOOLEAN, "", AT(gears), "true", ANY, .help = "With `joints` robots: count the gears' compliance into the stiffness, 1/k = 1/k_en + n^T J_e K_r^-1 J_e^T n."},
    {"stiffness", FF_SETTING_REAL, "N/m", AT(stiffness), "(each contact's own)", POSITIVE, .choice = online, .help = "What the method believes of the mock-ups' stiffness; `identified`: found from force and position during contact."},
    {"guess", FF_SETTING_REAL, "N/m", AT(guess), "(each contact's own)", POSITIVE, .help = "Where `stiffness: identified` starts from."},
    {"restitution", FF_SETTING_REAL, "", AT(restitution), "(from the satellites' damping)", .low = 0.3, .high = 1.0, .help = "Of the satellites' contacts, in place of their damping."},
    {"delay", FF_SETTING_REAL, "s", AT(delay), "(each robot's `delay`)", NOT_NEGATIVE, .help = "How far ahead to predict."},
    {"look_back", FF_SETTING_REAL, "s", AT(look_back), "none", NOT_NEGATIVE, .help = "Maximum time that is recomputed; never more than 1023 cycles."},
    {"threshold", FF_SETTING_REAL, "N", AT(threshold), "(5 times the noise measured in flight, at least the largest `force_noise`)", NOT_NEGATIVE, .help = "Force above which there is contact. A number is taken as it is."},
    {"position_error", FF_SETTING_REAL, "m", AT(position_error), "0.01", POSITIVE, .help = "How far surfaces may lie from where the scenario puts them; a force farther away is not taken for a contact."},
    {"drift", FF_SETTING_REAL, "m/sqrt(s)", AT(drift), "5e-5", NOT_NEGATIVE, .help = "Random walk of a surface's place during a contact: how fast older forces are forgotten."},
};
/* Causality: what was used, how far it looked back. */
static const ff_report_column columns[] = {
    {"prediction", "", FF_REPORT_BOOLEAN, true, .help = "motion is commanded one delay ahead"},
    {"recomputation", "", FF_REPORT_BOOLEAN, true, .help = "steps since the satellites touched are recomputed"},
    {"recomputations", "", FF_REPORT_INTEGER, true, .help = "cycles that rewrote the past"},
    {"longest_look_back_s", "s", FF_REPORT_REAL, true, .help = "the farthest of them"},
    {"look_back_bounded_cycles", "", FF_REPORT_INTEGER, true, .help = "cycles in which the look-back was too short"},
};
/* clang-format on */

static void defaults(int variant, void *settings) {
    *(impact_settings *)settings = (impact_settings){.reading = variant,
                                                     .normal = variant ? NORMAL_FORCE : NORMAL_TOOLS,
                                                     .torque = variant ? TORQUE_MEASURED : TORQUE_LEVER,
                                                     .prediction = true,
                                                     .recomputation = true,
                                                     .observer = !variant,
                                                     .gears = true,
                                                     .stiffness = FF_NAN,
                                                     .guess = FF_NAN,
                                                     .restitution = FF_NAN,
                                                     .delay = FF_NAN,
                                                     .look_back = FF_INF,
                                                     .position_error = 0.01,
                                                     .drift = 5e-5};
}

/* The scenario's noise is where the measured one starts, and its least; an ideal sensor has none. */
static void resolve(const ff_world *world, uint64_t given, void *settings) {
    if (!(given >> THRESHOLD & 1u))
        ((impact_settings *)settings)->threshold = 5.0 * world->force_noise;
}

static bool finite_positive(double x) {
    return x > 0.0 && isfinite(x);
}

static bool contact_good(const ff_world_contact *c, int bodies) {
    if (c->body < 0 || c->body >= bodies || c->against < -1 || c->against >= bodies ||
        c->against == c->body || !ff_vec3_finite(c->point))
        return false;
    if (!finite_positive(c->stiffness) || !finite_positive(c->satellite_stiffness) || !(c->damping >= 0.0) ||
        !(c->satellite_damping >= 0.0) || !(c->damping_depth >= 0.0) || !(c->friction >= 0.0))
        return false;
    if (c->shape == FF_SHAPE_PLANE)
        return ff_vec3_finite(c->at) && fabs(ff_vec3_norm(c->normal) - 1.0) < 1e-6;
    return c->shape == FF_SHAPE_CONE && ff_vec3_finite(c->apex) && c->half_angle > 0.0 &&
           c->half_angle < 0.5 * FF_PI && c->depth > 0.0 && fabs(ff_vec3_norm(c->axis) - 1.0) < 1e-6;
}

static ff_status check(const ff_world *world, const void *settings, uint64_t given, ff_complaint *complaint) {
    const impact_settings *s = settings;
    (void)given;
    *complaint =
        (ff_complaint){"guess", "guess belongs to stiffness: identified, allowed: stiffness: identified"};
    if (!isnan(s->guess) && s->stiffness != FF_INF)
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"", "one of its settings is outside its range"};
    if ((!isnan(s->stiffness) && !(s->stiffness > 0.0)) || (!isnan(s->guess) && !finite_positive(s->guess)) ||
        (!isnan(s->restitution) && !(s->restitution >= 0.14 && s->restitution <= 1.0)) ||
        !(s->look_back >= 0.0) || !finite_positive(s->position_error) || !(s->drift >= 0.0) ||
        !(s->threshold >= 0.0) || s->delay < 0.0)
        return FF_ERR_ARGUMENT;
    if (!world)
        return FF_OK;
    *complaint = (ff_complaint){"", "a robot's delay, or the sensors' noise, is negative or not finite"};
    for (int i = 0; i < world->bodies; i++)
        if (!(world->body[i].delay >= 0.0) || !isfinite(world->body[i].delay))
            return FF_ERR_ARGUMENT;
    if (!(world->force_noise >= 0.0))
        return FF_ERR_ARGUMENT;
    *complaint = (ff_complaint){"", "a contact lacks body, shape, stiffness or a unit normal"};
    if (world->contacts < 0 || world->contacts > FF_METHOD_CONTACTS)
        return FF_ERR_SIZE;
    for (int c = 0; c < world->contacts; c++)
        if (!contact_good(&world->contact[c], world->bodies))
            return FF_ERR_ARGUMENT;
    return FF_OK;
}

/* Of the history: what may be looked back, and what passes while a spread recomputation catches up. */
static int bits_of(const ff_world *world, const impact_settings *s) {
    const double most = s->recomputation ? s->look_back / world->integrate.cycle : 0.0;
    return ff__ring_bits(most + 64.0, 7, HISTORY_BITS);
}

static size_t bytes(const ff_world *world, const void *settings, size_t *state) {
    *state =
        sizeof(impact_state) + ff__ring_bytes(bits_of(world, settings), world->bodies, sizeof(impact_past));
    return sizeof(impact_model);
}

static void create(const ff_world *world, const void *settings, uint64_t given, void *memory) {
    const impact_settings *s = settings;
    impact_model *model = memory;
    *model = (impact_model){.set = *s,
                            .identified = s->stiffness == FF_INF,
                            .stiffness = s->stiffness == FF_INF ? s->guess : s->stiffness,
                            .noise = world->force_noise,
                            .integrate = world->integrate,
                            .bits = bits_of(world, s),
                            .bodies = world->bodies,
                            .contacts = world->contacts};
    for (int i = 0; i < world->bodies; i++) {
        model->body[i] = world->body[i].rigid;
        model->delay[i] = isnan(s->delay) ? world->body[i].delay : s->delay;
    }
    for (int c = 0; c < world->contacts; c++)
        model->contact[c] = world->contact[c];
    ff_detector_default(&model->detector);
    model->detector.force_on = s->threshold;
    model->detector.multiple = world->noisy ? 5.0 : 0.0;
    model->detector.fixed = given >> THRESHOLD & 1u;
}

static void detector(const void *model, ff_detector_config *config) {
    *config = ((const impact_model *)model)->detector;
}

static void reset(const void *self, const ff_rigid_state *body, void *memory) {
    const impact_model *model = self;
    impact_state *state = memory;
    (void)body;
    *state = (impact_state){0};
    ff__history_reset(&state->history, model->bits, model->bodies, sizeof(impact_past), state + 1);
}

static double lead(const void *self, const void *state, int body) {
    const impact_model *model = self;
    (void)state;
    return model->set.prediction ? model->delay[body] : 0.0;
}

static void report_run(const void *self, const void *memory, int body, double *values) {
    const impact_model *model = self;
    const impact_state *state = memory;
    if (body >= 0)
        return;
    values[0] = model->set.prediction;
    values[1] = model->set.recomputation;
    values[2] = (double)state->recomputations;
    values[3] = state->longest_look_back * model->integrate.cycle;
    values[4] = (double)state->bounded;
}

const ff_method ff_method_impact = {.abi = FF_METHOD_ABI,
                                    .size = sizeof(ff_method),
                                    .name = "impact",
                                    .version = "1",
                                    .help =
                                        "Settings of the method `impact` (lange). It knows the geometry of "
                                        "walls, pairs and cones, their stiffness and damping, and renders "
                                        "the `satellite` contact.",
                                    .needs = FF_NEEDS_GEOMETRY | FF_NEEDS_COMPLIANCE,
                                    .can = FF_CAN_RELATIVE | FF_CAN_PREDICT,
                                    .setting = table,
                                    .settings = sizeof table / sizeof *table,
                                    .setting_bytes = sizeof(impact_settings),
                                    .variants = 2,
                                    .column = columns,
                                    .columns = sizeof columns / sizeof *columns,
                                    .defaults = defaults,
                                    .resolve = resolve,
                                    .check = check,
                                    .bytes = bytes,
                                    .create = create,
                                    .detector = detector,
                                    .reset = reset,
                                    .lead = lead,
                                    .step = step,
                                    .report = report_run};
