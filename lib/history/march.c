/* Several bodies and the surfaces that act on them, through time: free flight, and in the middle of each
 * sub-step a kick by each surface.
 *
 *   law    s'' = -mobility f(s, s') along the surface's own coordinate, by Runge and Kutta: force, damping
 * and what is measured beside them, at the begin and the end of the sub-step as in its middle begin  a
 * sub-step is split where a surface is reached or left, as the force steps or has a kink there limit  an
 * impulse never raises the kinetic energy above the limit (`net`) */
#include "history/history.h"

static const double phase_step = 0.16;    /* [rad] of the contact's oscillation in one sub-step */
static const double phase_sliding = 0.08; /* the same with friction */
enum { STEPS_MAX = 12 };                  /* sub-steps of a cycle */

void ff__march_begin(ff__march *w, const ff_body_view *view, const ff_quat *start, double cycle, int bodies,
                     unsigned moving, ff__actor *act) {
    w->view = view;
    w->start = start;
    w->cycle = cycle;
    w->bodies = bodies;
    w->moving = moving;
    w->act = act;
    w->acts = 0;
    w->net = false;
    w->limit = w->energy = 0.0;
    w->net_count = 0;
}

double ff__march_energy(const ff__march *w) {
    double sum = 0.0;
    for (int i = 0; i < w->bodies; i++)
        if (w->moving >> i & 1u)
            sum += ff_view_energy(&w->view[i], &w->x[i]);
    return sum;
}

static void drift(ff__march *w, double h) {
    for (int i = 0; i < w->bodies; i++)
        if (w->moving >> i & 1u)
            ff_view_drift(&w->view[i], h, &w->x[i]);
}

static ff_rigid_state *other(ff__march *w, const ff__place *p) {
    return p->b < 0 ? NULL : &w->x[p->b];
}

/* Coordinate, its rate and the outward normal (inertial; turn: axis). False beyond the surface's end. */
static bool reach(const ff__march *w, const ff__place *p, const ff_rigid_state *a, const ff_rigid_state *b,
                  double *s, double *v, ff_vec3 *n) {
    if (p->cone) {
        const ff__touch t = ff__place_touch(p, a, b);
        *s = t.s;
        *v = t.v;
        *n = t.n;
        return !t.off;
    }
    ff__place_coordinate(p, p->turn ? w->start[p->a] : a->attitude, a, b, s, v);
    *n = ff__place_normal(p, b);
    return true;
}

static void push(const ff_body_view *view, const ff__place *p, const ff__port *q, double impulse,
                 ff_rigid_state *a, ff_rigid_state *b) {
    a->omega = ff_vec3_axpy(impulse, q->arm_a, a->omega);
    if (p->turn)
        return;
    a->velocity = ff_vec3_axpy(impulse * view[p->a].rigid.mass_inv, q->d_w, a->velocity);
    if (b) {
        b->velocity = ff_vec3_axpy(-impulse * view[p->b].rigid.mass_inv, q->d_w, b->velocity);
        b->omega = ff_vec3_axpy(-impulse, q->arm_b, b->omega);
    }
}

/* The largest impulse in [0, wish] after which the energy does not exceed the limit: E + p u + p^2 m/2 <= L.
 * An impulse that only brakes is always allowed, up to the energy's minimum at p = -u/m. */
static double limited_impulse(double wish, double u, double mobility, double room) {
    const double gain = wish * (u + 0.5 * wish * mobility);
    if (gain <= room)
        return wish;
    if (!(mobility > 0.0))
        return 0.0;
    const double least = u < 0.0 ? -u / mobility : 0.0;
    const double root = u * u + 2.0 * mobility * room;
    double p = root > 0.0 ? (sqrt(root) - u) / mobility : least;
    p = fmax(p, least);
    return p < wish ? fmax(0.0, p) : wish;
}

static bool is_loaded(const ff_rigid_load *load) {
    const ff_vec3 F = load->force, M = load->torque;
    return F.x != 0.0 || F.y != 0.0 || F.z != 0.0 || M.x != 0.0 || M.y != 0.0 || M.z != 0.0;
}

static void kick_loads(ff__march *w, double h) {
    for (int i = 0; i < w->bodies; i++)
        if ((w->moving >> i & 1u) && is_loaded(&w->load[i])) {
            const ff_body_view *view = &w->view[i];
            const ff_rigid_model *m = &view->rigid;
            const double before = ff_view_energy(view, &w->x[i]);
            w->x[i].velocity = ff_vec3_axpy(h * m->mass_inv, w->load[i].force, w->x[i].velocity);
            w->x[i].omega = ff_vec3_axpy(h, ff_mat3_apply(&m->inertia_inv, w->load[i].torque), w->x[i].omega);
            const double work = ff_view_energy(view, &w->x[i]) - before;
            w->energy += work;
            w->limit += work;
        }
}

/* What a surface does to the motion along its own coordinate in one sub-step. */
typedef struct give {
    double impulse; /* [N s] */
    double ahead;   /* [N s2] impulse times how much earlier than the middle it acted on the whole */
} give;

/* s'' = -mobility f(s, s', t) by two steps of Runge and Kutta's fourth order. (s, v): free motion in the
 * middle of the sub-step, bend [m/s2] its curvature. The sub-step lies behind the surface as a whole. */
static give across(const ff_profile *e, double s, double v, double bend, double mobility, double h,
                   double f_begin, double f_end) {
    enum { PARTS = 2 };
    static const double tick[4] = {0.0, 0.5, 0.5, 1.0};
    double y = 0.0, u = 0.0; /* what the force has changed so far */
    const double part = h / PARTS;
    for (int j = 0; j < PARTS; j++) {
        double slope[4], speed[4], y_i = y, u_i = u;
        for (int i = 0; i < 4; i++) {
            const double passed = (j + tick[i]) / PARTS; /* of the sub-step */
            const double t = (passed - 0.5) * h;
            const double p = s + t * (v + 0.5 * t * bend) + y_i - e->x0, p_dot = v + t * bend + u_i;
            const double g = e->law ? ff_profile_shape(e->law, fmax(0.0, p)) : p;
            const double f = e->k * g + e->c * ff_profile_brake(e->law, e->depth, p) * p_dot + f_begin +
                             passed * (f_end - f_begin);
            slope[i] = f > 0.0 ? -mobility * f : 0.0;
            speed[i] = u_i;
            const double on = i < 2 ? 0.5 * part : part;
            y_i = y + on * speed[i];
            u_i = u + on * slope[i];
        }
        y += part / 6.0 * (speed[0] + 2.0 * (speed[1] + speed[2]) + speed[3]);
        u += part / 6.0 * (slope[0] + 2.0 * (slope[1] + slope[2]) + slope[3]);
    }
    return (give){-u / mobility, (0.5 * h * u - y) / mobility};
}

/* Moves the bodies as if the impulse had acted by ahead/impulse before. No velocity changes. */
static void advance_place(const ff_body_view *view, const ff__place *p, const ff__port *q, double ahead,
                          ff_rigid_state *a, ff_rigid_state *b) {
    a->attitude = ff_quat_mul(a->attitude, ff_quat_exp(ff_vec3_scale(ahead, q->arm_a)));
    if (p->turn)
        return;
    a->position = ff_vec3_axpy(ahead * view[p->a].rigid.mass_inv, q->d_w, a->position);
    if (b) {
        b->position = ff_vec3_axpy(-ahead * view[p->b].rigid.mass_inv, q->d_w, b->position);
        b->attitude = ff_quat_mul(b->attitude, ff_quat_exp(ff_vec3_scale(-ahead, q->arm_b)));
    }
}

/* Coulomb friction of impulse p at the satellite's own sliding; never more than stops it (q->mobility bounds
 * the mobility across n from below, so a little less). */
static void lean(const ff__march *w, ff__actor *z, double p, const ff_rigid_state *a, const ff_rigid_state *b,
                 ff__port *q) {
    ff_vec3 speed_w = ff_rigid_point_velocity(a, z->p.r);
    const ff_vec3 n = q->d_w;
    if (b) {
        const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(a), z->p.r);
        speed_w = ff_vec3_sub(speed_w, ff_rigid_point_velocity(
                                           b, ff_quat_unrotate(b->attitude, ff_vec3_sub(tip, b->position))));
    }
    const ff_vec3 slide = ff_vec3_axpy(-ff_vec3_dot(n, speed_w), n, speed_w);
    const double speed = ff_vec3_norm(slide), full = 2.0 * z->mu * p * q->mobility + 1e-9;
    if (speed > 0.0) {
        z->side = ff_vec3_scale(-z->mu * fmin(1.0, speed / full) / speed, slide);
        ff__place_open(w->view, &z->p, a, b, n, z->side, q);
    }
}

/* The middle of a sub-step h that begins at `from` and ends at `to`, as parts of the march's cycle. */
static void kick(ff__march *w, ff__actor *z, double h, double from, double to) {
    ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
    const double f_begin = z->f0 + from * (z->f1 - z->f0), f_end = z->f0 + to * (z->f1 - z->f0);
    ff__port q;
    ff_vec3 n;
    double s = 0.0, v = 0.0;
    if (z->surface) { /* far from the surface nothing needs the port */
        if (!reach(w, &z->p, a, b, &s, &v, &n) || !(s > z->surface->x0))
            return;
    } else {
        if (!(f_begin + f_end > 0.0))
            return;
        n = ff__place_normal(&z->p, b);
    }
    z->side = ff_vec3_zero();
    ff__place_open(w->view, &z->p, a, b, n, z->side, &q);
    give g = {0.5 * h * (f_begin + f_end), 0.0};
    if (z->surface)
        g = across(z->surface, s, v, (v - z->v) / (0.5 * h), q.mobility, h, f_begin, f_end);
    if (!(g.impulse > 0.0))
        return;
    if (z->mu > 0.0 && !z->p.turn)
        lean(w, z, g.impulse, a, b, &q);
    double p = g.impulse;
    if (w->net) {
        p = limited_impulse(p, q.u, q.mobility, w->limit - w->energy);
        w->net_count += p < g.impulse;
    }
    push(w->view, &z->p, &q, p, a, b);
    advance_place(w->view, &z->p, &q, g.ahead * (p / g.impulse), a, b);
    w->energy += p * (q.u + 0.5 * p * q.mobility);
    z->impulse += p;
}

/* Time within h at which a surface is crossed, in or out, or at which a damped one lets go; h if none. The
 * force steps by c v at the surface and has a kink where it ends: a sub-step is split there. */
static double crossing(ff__march *w, double h) {
    double first = h;
    for (int c = 0; c < w->acts; c++) {
        ff__actor *z = &w->act[c];
        if (z->off || !z->surface)
            continue;
        double s, v;
        ff_vec3 n;
        const bool inside = reach(w, &z->p, &w->x[z->p.a], other(w, &z->p), &s, &v, &n);
        z->v = v;
        const double gap = z->surface->x0 - s;
        if (inside && v != 0.0 && gap / v > 1e-9 * h && gap / v < first)
            first = gap / v;
        if (gap < 0.0 && v < 0.0 && z->surface->law == 0 && z->surface->c > 0.0) {
            /* f' = k v - c mobility f, with the residual taken as it is at the beginning */
            const double f = z->surface->c * v - z->surface->k * gap + z->f0, slope = z->surface->k * v;
            const double when = f > 0.0 ? -f / (slope - z->surface->c * z->mobility * f) : 0.0;
            if (when > 1e-9 * h && when < first)
                first = when;
        }
    }
    return first;
}

/* The surface is not reached within T, the turn of the body included. */
static bool is_far(ff__march *w, const ff__actor *z, double T) {
    const ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
    double s, v;
    ff_vec3 n;
    reach(w, &z->p, a, b, &s, &v, &n);
    if (z->p.cone) /* the normal turns as the tip moves along the wall */
        v = ff_vec3_norm(ff_vec3_sub(a->velocity, b ? b->velocity : ff_vec3_zero()));
    double bend = ff_vec3_dot(a->omega, a->omega) * (z->p.turn ? 1.0 : ff_vec3_norm(z->p.r));
    if (b) {
        const double rate = ff_vec3_norm(b->omega);
        bend += rate * (rate * ff_vec3_norm(ff_vec3_sub(a->position, b->position)) +
                        2.0 * ff_vec3_norm(ff_vec3_sub(a->velocity, b->velocity)));
    }
    const bool loaded = is_loaded(&w->load[z->p.a]) || (b && is_loaded(&w->load[z->p.b]));
    return !loaded && s + 1.1 * fmax(0.0, v) * T + 2.0 * bend * T * T < z->surface->x0;
}

/* Sub-steps of T: at most STEPS_MAX for each cycle in it. One where no surface is reached. */
static int steps_for(ff__march *w, double T) {
    const double most = STEPS_MAX * fmax(1.0, ceil(T / w->cycle - 1e-9));
    double largest = 0.0;
    for (int c = 0; c < w->acts; c++) {
        ff__actor *z = &w->act[c];
        if (z->off || !z->surface)
            continue;
        const ff_rigid_model *A = &w->view[z->p.a].rigid;
        ff_vec3 moment = z->p.turn ? z->p.n : ff_vec3_cross(z->p.r, z->p.n);
        z->mobility = ff_vec3_dot(moment, ff_mat3_apply(&A->inertia_inv, moment));
        if (!z->p.turn)
            z->mobility += A->mass_inv;
        if (z->p.b >= 0)
            z->mobility += w->view[z->p.b].rigid.mass_inv;
        if (is_far(w, z, T))
            continue;
        double k = z->surface->k;
        if (z->surface->law) { /* stiffness at the depth where the energy of approach is stored */
            const double n = ff_profile_exponent(z->surface->law);
            const double depth =
                pow(0.5 * (n + 1.0) * 0.01 / (z->mobility * k), 1.0 / (n + 1.0)); /* 0.1 m/s */
            k *= n * pow(depth, n - 1.0);
        }
        const double step = z->mu > 0.0 ? phase_sliding : phase_step;
        largest = fmax(largest, sqrt(k * z->mobility) / step);
    }
    const double n = ceil(largest * T);
    return n < 1.0 ? 1 : n > most ? (int)most : (int)n;
}

/* At most 2 crossings split a sub-step. */
int ff__march_step(ff__march *w, double T) {
    const int n = w->acts ? steps_for(w, T) : 1;
    const double h = T / n;
    w->energy = w->net ? ff__march_energy(w) : 0.0;
    for (int j = 0; j < n; j++) {
        double left = h, done = 0.0;
        for (int split = 0; split < 3 && left > 0.0; split++) {
            const double next = w->acts ? crossing(w, left) : left, piece = split < 2 ? next : left;
            const double begun = (double)j * h + done;
            drift(w, 0.5 * piece);
            kick_loads(w, piece);
            for (int c = 0; c < w->acts; c++)
                if (!w->act[c].off)
                    kick(w, &w->act[c], piece, begun / T, (begun + piece) / T);
            drift(w, 0.5 * piece);
            done += piece;
            left -= piece;
            if (left < 1e-9 * h)
                break;
        }
    }
    return n;
}

void ff__march_ahead(ff__march *w, double time) {
    double turn = 0.0;
    for (int i = 0; i < w->bodies; i++)
        if (w->moving >> i & 1u)
            turn = fmax(turn, ff_vec3_norm(w->x[i].omega));
    const double longest = fmax(w->cycle, fmin(0.02 / fmax(turn, 1e-3), STEPS_MAX * w->cycle));
    double left = time;
    while (left > 1e-12) {
        const double piece = left > longest ? longest : left;
        ff__march_step(w, piece);
        left -= piece;
    }
}
