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
static const double phase_rigid = 2.0;    /* a third of its period: the depth is what a sub-step overran */
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
    for (int i = 0; i < bodies; i++)
        w->impulse[i] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
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

/* Coordinate, its rate and the force's direction (inertial; turn: axis). */
static void reach(const ff__march *w, const ff__actor *z, const ff_rigid_state *a, const ff_rigid_state *b,
                  double *s, double *v, ff_vec3 *n) {
    if (z->p.cone || z->along) {
        const ff__touch t = ff__place_touch(&z->p, a, b);
        *s = t.s;
        *n = t.n;
        if (z->along)
            *n = b ? ff_quat_rotate(b->attitude, *z->along) : *z->along;
        *v = -ff_vec3_dot(*n, t.slip);
        return;
    }
    if (b || z->p.turn)
        ff__place_coordinate(&z->p, z->p.turn ? w->start[z->p.a] : a->attitude, a, b, s, v);
    else
        ff__place_plane(&z->p, a, s, v);
    *n = ff__place_normal(&z->p, b);
}

static void push(ff__march *w, const ff__place *p, const ff__port *q, double impulse) {
    ff_rigid_state *a = &w->x[p->a];
    ff_rigid_load *on_a = &w->impulse[p->a];
    a->omega = ff_vec3_axpy(impulse, q->arm_a, a->omega);
    on_a->torque = ff_vec3_axpy(impulse, q->moment_a, on_a->torque);
    if (p->turn)
        return;
    a->velocity = ff_vec3_axpy(impulse * w->view[p->a].rigid.mass_inv, q->d_w, a->velocity);
    on_a->force = ff_vec3_axpy(impulse, q->d_w, on_a->force);
    if (p->b < 0)
        return;
    ff_rigid_state *b = &w->x[p->b];
    ff_rigid_load *on_b = &w->impulse[p->b];
    b->velocity = ff_vec3_axpy(-impulse * w->view[p->b].rigid.mass_inv, q->d_w, b->velocity);
    b->omega = ff_vec3_axpy(-impulse, q->arm_b, b->omega);
    on_b->force = ff_vec3_axpy(-impulse, q->d_w, on_b->force);
    on_b->torque = ff_vec3_axpy(-impulse, q->moment_b, on_b->torque);
}

/* Torques beside those of the force, while it acts. */
static void push_beside(ff__march *w, const ff__actor *z, double h) {
    const int pair[2] = {z->p.a, z->p.b};
    for (int j = 0; j < 2 && pair[j] >= 0; j++) {
        const int i = pair[j];
        const ff_vec3 turn = ff_mat3_apply(&w->view[i].rigid.inertia_inv, z->beside[j]);
        w->x[i].omega = ff_vec3_axpy(h, turn, w->x[i].omega);
        w->impulse[i].torque = ff_vec3_axpy(h, z->beside[j], w->impulse[i].torque);
    }
}

/* The largest impulse in [0, wish] after which the energy does not exceed the limit: E + p u + p^2 m/2 <= L.
 * An impulse that only brakes is always allowed, up to the energy's minimum at p = -u/m. */
static double limited_impulse(double wish, double u, double mobility, double room) {
    const double gain = wish * (u + 0.5 * wish * mobility);
    if (gain <= room)
        return wish;
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

/* The two commonest laws without a call; the same as ff_profile_force() behind the surface. */
static inline double law_force(const ff_profile *e, int law, double p, double p_dot) {
    if (law == 0)
        return e->k * p + e->c * p_dot;
    if (law != FF_PROFILE_STEP)
        return e->k * ff_profile_shape(law, ff__larger(p, 0.0)) +
               e->c * ff_profile_brake(law, e->depth, p) * p_dot;
    const double q = p < e->depth ? ff__larger(p, 0.0) / e->depth : 1.0;
    return e->k * ff__larger(p, 0.0) + e->c * (q * q * (3.0 - 2.0 * q)) * p_dot;
}

/* A lossless law gives back at most what it has stored, p f of its depth and force or less. Where the
 * sub-step ends a tenth more lively, the law is stiffer than Runge and Kutta's steps can follow: no sample
 * shows what it does. */
static bool is_too_stiff(const ff_profile *e, double s, double v, double bend, double mobility, double h,
                         double f_most, double u) {
    const double begin = v - 0.5 * h * bend, end = v + 0.5 * h * bend;
    const double p = ff__larger(s - 0.5 * h * (v - 0.25 * h * bend) - e->x0, 0.0);
    const double speed = ff__larger(fabs(begin), fabs(end)) + h * mobility * f_most;
    const double energy = speed * speed + 2.0 * mobility * p * ff__larger(law_force(e, e->law, p, 0.0), 0.0);
    return !((end + u) * (end + u) <= 1.1 * energy);
}

/* It stops the approach: without loss of place or gain of energy. */
static give stopped(double v, double mobility) {
    return (give){ff__larger(v, 0.0) / mobility, 0.0};
}

/* s'' = -mobility f(s, s', t) by two steps of Runge and Kutta's fourth order. (s, v): free motion in the
 * middle of the sub-step, bend [m/s2] its curvature. The sub-step lies behind the surface as a whole. law:
 * known to the compiler where it is the first. */
static inline give across_by(const ff_profile *e, int law, double s, double v, double bend, double mobility,
                             double h, double f_begin, double f_end) {
    enum { PARTS = 2, INSTANTS = 2 * PARTS + 1 };
    static const int instant[4] = {0, 1, 1, 2};
    double place[INSTANTS], fast[INSTANTS],
        beside[INSTANTS];    /* without the force; the force beside the law */
    double y = 0.0, u = 0.0; /* what the force has changed so far */
    const double part = h / PARTS;
    for (int i = 0; i < INSTANTS; i++) {
        const double passed = (double)i / (INSTANTS - 1), t = (passed - 0.5) * h; /* of the sub-step */
        place[i] = s + t * (v + 0.5 * t * bend);
        fast[i] = v + t * bend;
        beside[i] = passed * (f_end - f_begin);
    }
    for (int j = 0; j < PARTS; j++) {
        double slope[4], speed[4], y_i = y, u_i = u;
        for (int i = 0; i < 4; i++) {
            const int at = 2 * j + instant[i];
            const double p = place[at] + y_i - e->x0, p_dot = fast[at] + u_i;
            const double f = law_force(e, law, p, p_dot) + f_begin + beside[at];
            slope[i] = f > 0.0 ? -mobility * f : 0.0;
            speed[i] = u_i;
            const double on = i < 2 ? 0.5 * part : part;
            y_i = y + on * speed[i];
            u_i = u + on * slope[i];
        }
        y += part / 6.0 * (speed[0] + 2.0 * (speed[1] + speed[2]) + speed[3]);
        u += part / 6.0 * (slope[0] + 2.0 * (slope[1] + slope[2]) + slope[3]);
    }
    if (is_too_stiff(e, s, v, bend, mobility, h, ff__larger(fabs(f_begin), fabs(f_end)), u))
        return stopped(v, mobility);
    return (give){-u / mobility, (0.5 * h * u - y) / mobility};
}

static give across(const ff_profile *e, double s, double v, double bend, double mobility, double h,
                   double f_begin, double f_end) {
    return e->law == 0 ? across_by(e, 0, s, v, bend, mobility, h, f_begin, f_end)
                       : across_by(e, e->law, s, v, bend, mobility, h, f_begin, f_end);
}

/* The two bodies of a place alone. */
static void drift_pair(ff__march *w, const ff__place *p, double h) {
    ff_view_drift(&w->view[p->a], h, &w->x[p->a]);
    if (p->b >= 0)
        ff_view_drift(&w->view[p->b], h, &w->x[p->b]);
}

/* The middle of a sub-step h that begins at `from` and ends at `to`, as parts of the march's cycle. Returns
 * by how much its two bodies are behind the middle afterwards [s]. */
static double kick(ff__march *w, ff__actor *z, double h, double from, double to) {
    ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
    const double f_begin = z->f0 + from * (z->f1 - z->f0), f_end = z->f0 + to * (z->f1 - z->f0);
    ff__port q;
    ff_vec3 n;
    double s = 0.0, v = 0.0;
    if (z->surface) { /* far from the surface nothing needs the port */
        reach(w, z, a, b, &s, &v, &n);
        if (!(s > z->surface->x0))
            return 0.0;
    } else {
        if (!(f_begin + f_end > 0.0))
            return 0.0;
        n = ff__place_normal(&z->p, b);
    }
    give g = {0.5 * h * (f_begin + f_end), 0.0};
    if (z->surface) {
        const double mobility = ff__place_mobility(w->view, &z->p, a, b, &n);
        g = z->rigid ? stopped(v, mobility)
                     : across(z->surface, s, v, (v - z->v) / (0.5 * h), mobility, h, f_begin, f_end);
    }
    if (!(g.impulse > 0.0))
        return 0.0;
    /* at the instant at which all of it may act at once: then both, and their momenta, are as after it all */
    const double early = g.ahead / g.impulse;
    drift_pair(w, &z->p, -early);
    ff_vec3 side = ff_vec3_zero();
    if (z->mu > 0.0 && !z->p.turn) { /* by the satellite's own slip */
        const ff__touch t = ff__place_touch(&z->p, a, b);
        const ff_vec3 J = ff__friction_impulse(w->view, &z->p, a, b, &t, z->mu, g.impulse);
        side = ff_vec3_scale(1.0 / g.impulse, J);
    }
    ff__place_open(w->view, &z->p, a, b, n, side, &q);
    double p = g.impulse;
    if (w->net) {
        p = limited_impulse(p, q.u, q.mobility, w->limit - w->energy);
        w->net_count += p < g.impulse;
    }
    push(w, &z->p, &q, p);
    w->energy += p * (q.u + 0.5 * p * q.mobility);
    if (z->beside)
        push_beside(w, z, h);
    return early;
}

/* Time within h at which a surface is crossed, in or out, or at which a damped one lets go; h if none. The
 * force steps by c v at the surface and has a kink where it ends: a sub-step is split there. */
static double crossing(ff__march *w, double h) {
    double first = h;
    for (int c = 0; c < w->acts; c++) {
        ff__actor *z = &w->act[c];
        if (z->off || !z->surface)
            continue;
        ff_vec3 n;
        if (!z->fresh)
            reach(w, z, &w->x[z->p.a], other(w, &z->p), &z->s, &z->v, &n);
        z->fresh = false; /* the bodies move on from here */
        const double gap = z->surface->x0 - z->s, v = z->v;
        if (v != 0.0 && gap / v > 1e-9 * h && gap / v < first)
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

/* The surface is not reached within T, the turn of the body included; *n: its normal here. */
static bool is_far(ff__march *w, ff__actor *z, double T, ff_vec3 *n) {
    const ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
    reach(w, z, a, b, &z->s, &z->v, n);
    z->fresh = true;
    double v = z->v;
    if (z->s > z->surface->x0)
        return false;
    if (z->p.cone) /* the normal turns as the tip moves along the wall */
        v = ff_vec3_norm(ff__place_touch(&z->p, a, b).slip);
    double bend = ff_vec3_dot(a->omega, a->omega) * (z->p.turn ? 1.0 : ff_vec3_norm(z->p.r));
    if (b) {
        const double rate = ff_vec3_norm(b->omega);
        bend += rate * (rate * ff_vec3_norm(ff_vec3_sub(a->position, b->position)) +
                        2.0 * ff_vec3_norm(ff_vec3_sub(a->velocity, b->velocity)));
    }
    const bool loaded = is_loaded(&w->load[z->p.a]) || (b && is_loaded(&w->load[z->p.b]));
    return !loaded && z->s + 1.1 * fmax(0.0, v) * T + 2.0 * bend * T * T < z->surface->x0;
}

/* [N/m] Stiffness at the depth where the energy of an approach with 0.1 m/s is stored. */
static double stiffness_of(const ff_profile *surface, double mobility) {
    const double n = ff_profile_exponent(surface->law), k = surface->k;
    if (n == 1.0)
        return k;
    const double depth = pow(0.5 * (n + 1.0) * 0.01 / (mobility * k), 1.0 / (n + 1.0));
    return k * n * pow(depth, n - 1.0);
}

/* Sub-steps of T: at most STEPS_MAX for each cycle in it. One where no surface is reached. */
static int steps_for(ff__march *w, double T) {
    const double most = T > w->cycle ? STEPS_MAX * ceil(T / w->cycle - 1e-9) : STEPS_MAX;
    double largest = 0.0;
    for (int c = 0; c < w->acts; c++) {
        ff__actor *z = &w->act[c];
        ff_vec3 n;
        if (z->off || !z->surface || is_far(w, z, T, &n))
            continue;
        z->mobility = ff__place_mobility(w->view, &z->p, &w->x[z->p.a], other(w, &z->p), &n);
        const double step = z->mu > 0.0 ? phase_sliding : phase_step;
        const double rate = sqrt(stiffness_of(z->surface, z->mobility) * z->mobility);
        z->rigid = rate * T > phase_rigid * most;
        largest = ff__larger(rate / step, largest);
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
            const ff__actor *last = NULL;
            double behind = 0.0;
            for (int c = 0; c < w->acts; c++)
                if (!w->act[c].off) {
                    if (behind != 0.0)
                        drift_pair(w, &last->p, behind);
                    last = &w->act[c];
                    behind = kick(w, &w->act[c], piece, begun / T, (begun + piece) / T);
                }
            for (int i = 0; i < w->bodies; i++)
                if (w->moving >> i & 1u) {
                    const bool late = behind != 0.0 && (last->p.a == i || last->p.b == i);
                    ff_view_drift(&w->view[i], 0.5 * piece + (late ? behind : 0.0), &w->x[i]);
                }
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
    bool flies = w->acts == 0; /* nothing acts: no middle is needed */
    for (int i = 0; i < w->bodies; i++)
        if (w->moving >> i & 1u) {
            turn = fmax(turn, ff_vec3_norm(w->x[i].omega));
            flies &= !is_loaded(&w->load[i]);
        }
    const double longest = fmax(w->cycle, fmin(0.02 / fmax(turn, 1e-3), STEPS_MAX * w->cycle));
    double left = time;
    while (left > 1e-12) {
        const double piece = left > longest ? longest : left;
        if (flies)
            drift(w, piece);
        else
            ff__march_step(w, piece);
        left -= piece;
    }
}
