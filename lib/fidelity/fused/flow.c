/* fused: a group of bodies and the surfaces that act on them, through time (docs/methods/fused.md, 4). */
#include "fidelity/fused/fused.h"

static const double phase_step = 0.16;    /* [rad] of the contact's oscillation in one sub-step */
static const double phase_sliding = 0.08; /* the same with friction */

/* s and s' of bodies (or robots) at these motions. */
void ff__fused_coordinate(const fused_place *p, ff_quat start, const ff_rigid_state *a,
                          const ff_rigid_state *b, double *s, double *s_dot) {
    if (p->torque) {
        const ff_quat turn = ff_quat_mul(ff_quat_conj(start), a->attitude);
        *s = -ff_vec3_dot(p->n, ff_quat_log(turn));
        *s_dot = -ff_vec3_dot(p->n, a->omega);
        return;
    }
    const ff_vec3 r_w = ff_quat_rotate(a->attitude, p->r);
    const ff_vec3 tip = ff_vec3_add(a->position, r_w);
    const ff_vec3 v = ff_vec3_add(a->velocity, ff_quat_rotate(a->attitude, ff_vec3_cross(a->omega, p->r)));
    if (!b) {
        *s = -ff_vec3_dot(p->n, tip);
        *s_dot = -ff_vec3_dot(p->n, v);
        return;
    }
    const ff_vec3 tip_b = ff_quat_unrotate(b->attitude, ff_vec3_sub(tip, b->position));
    const ff_vec3 v_b = ff_vec3_sub(ff_quat_unrotate(b->attitude, ff_vec3_sub(v, b->velocity)),
                                    ff_vec3_cross(b->omega, tip_b));
    *s = -ff_vec3_dot(p->n, tip_b);
    *s_dot = -ff_vec3_dot(p->n, v_b);
}

/* side: tangential force for each unit of normal force, inertial. */
void ff__fused_open_port(const fused_model *model, const fused_place *p, const ff_rigid_state *a,
                         const ff_rigid_state *b, ff_vec3 side, fused_port *q) {
    const ff_rigid_model *A = &model->body[p->a];
    if (p->torque) {
        q->moment_a = p->n;
        q->arm_a = ff_mat3_apply(&A->inertia_inv, p->n);
        q->mobility = ff_vec3_dot(p->n, q->arm_a);
        q->u = ff_vec3_dot(p->n, a->omega);
        return;
    }
    q->d_w = ff_vec3_add(b ? ff_quat_rotate(b->attitude, p->n) : p->n, side);
    const ff_vec3 d_a = ff_quat_unrotate(a->attitude, q->d_w);
    q->moment_a = ff_vec3_cross(p->r, d_a);
    q->arm_a = ff_mat3_apply(&A->inertia_inv, q->moment_a);
    const double dd = ff_vec3_dot(q->d_w, q->d_w);
    q->mobility = A->mass_inv * dd + ff_vec3_dot(q->moment_a, q->arm_a);
    q->u = ff_vec3_dot(q->d_w, a->velocity) + ff_vec3_dot(q->moment_a, a->omega);
    if (b) {
        const ff_rigid_model *B = &model->body[p->b];
        const ff_vec3 tip = ff_vec3_add(a->position, ff_quat_rotate(a->attitude, p->r));
        const ff_vec3 r_b = ff_quat_unrotate(b->attitude, ff_vec3_sub(tip, b->position));
        q->moment_b = ff_vec3_cross(r_b, ff_quat_unrotate(b->attitude, q->d_w));
        q->arm_b = ff_mat3_apply(&B->inertia_inv, q->moment_b);
        q->mobility += B->mass_inv * dd + ff_vec3_dot(q->moment_b, q->arm_b);
        q->u -= ff_vec3_dot(q->d_w, b->velocity) + ff_vec3_dot(q->moment_b, b->omega);
    }
}

static void push(const fused_model *model, const fused_place *p, const fused_port *q, double impulse,
                 ff_rigid_state *a, ff_rigid_state *b) {
    a->omega = ff_vec3_axpy(impulse, q->arm_a, a->omega);
    if (p->torque)
        return;
    a->velocity = ff_vec3_axpy(impulse * model->body[p->a].mass_inv, q->d_w, a->velocity);
    if (b) {
        b->velocity = ff_vec3_axpy(-impulse * model->body[p->b].mass_inv, q->d_w, b->velocity);
        b->omega = ff_vec3_axpy(-impulse, q->arm_b, b->omega);
    }
}

double ff__fused_group_energy(const fused_model *model, unsigned bodies, const ff_rigid_state *x) {
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++)
        if (bodies >> i & 1u)
            sum += ff_rigid_kinetic_energy(&model->body[i], &x[i]);
    return sum;
}

static void drift_all(fused_flow *w, double h) {
    for (int i = 0; i < w->model->bodies; i++)
        if (w->bodies >> i & 1u)
            ff_rigid_drift(&w->model->body[i], h, &w->x[i]);
}

static ff_rigid_state *other(fused_flow *w, const fused_place *p) {
    return p->b < 0 ? NULL : &w->x[p->b];
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

static void kick_loads(fused_flow *w, double h) {
    for (int i = 0; i < w->model->bodies; i++)
        if ((w->bodies >> i & 1u) && is_loaded(&w->load[i])) {
            const ff_rigid_model *m = &w->model->body[i];
            const double before = ff_rigid_kinetic_energy(m, &w->x[i]);
            w->x[i].velocity = ff_vec3_axpy(h * m->mass_inv, w->load[i].force, w->x[i].velocity);
            w->x[i].omega = ff_vec3_axpy(h, ff_mat3_apply(&m->inertia_inv, w->load[i].torque), w->x[i].omega);
            const double work = ff_rigid_kinetic_energy(m, &w->x[i]) - before;
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
static give across(const fused_actor *z, double s, double v, double bend, double mobility, double h,
                   double f_begin, double f_end) {
    enum { PARTS = 2 };
    static const double tick[4] = {0.0, 0.5, 0.5, 1.0};
    const ff_profile *e = z->surface;
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
static void advance_place(const fused_model *model, const fused_place *p, const fused_port *q, double ahead,
                          ff_rigid_state *a, ff_rigid_state *b) {
    a->attitude = ff_quat_mul(a->attitude, ff_quat_exp(ff_vec3_scale(ahead, q->arm_a)));
    if (p->torque)
        return;
    a->position = ff_vec3_axpy(ahead * model->body[p->a].mass_inv, q->d_w, a->position);
    if (b) {
        b->position = ff_vec3_axpy(-ahead * model->body[p->b].mass_inv, q->d_w, b->position);
        b->attitude = ff_quat_mul(b->attitude, ff_quat_exp(ff_vec3_scale(-ahead, q->arm_b)));
    }
}

/* Coulomb friction of impulse p at the satellite's own sliding; never more than stops it (q->mobility bounds
 * the mobility across n from below, so a little less). */
static void lean(const fused_flow *w, fused_actor *z, double p, const ff_rigid_state *a,
                 const ff_rigid_state *b, fused_port *q) {
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
        ff__fused_open_port(w->model, &z->p, a, b, z->side, q);
    }
}

/* The middle of a sub-step h that begins at `from` and ends at `to`, as parts of the flow's cycle. */
static void kick(fused_flow *w, double h, double from, double to) {
    kick_loads(w, h);
    for (int c = 0; c < w->acts; c++) {
        fused_actor *z = &w->act[c];
        ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
        const double f_begin = z->f0 + from * (z->f1 - z->f0), f_end = z->f0 + to * (z->f1 - z->f0);
        fused_port q;
        double s = 0.0, v = 0.0;
        if (z->surface) { /* far from the surface nothing needs the port */
            ff__fused_coordinate(&z->p, w->start[z->p.a], a, b, &s, &v);
            if (!(s > z->surface->x0))
                continue;
        } else if (!(f_begin + f_end > 0.0))
            continue;
        z->side = ff_vec3_zero();
        ff__fused_open_port(w->model, &z->p, a, b, z->side, &q);
        give g = {0.5 * h * (f_begin + f_end), 0.0};
        if (z->surface)
            g = across(z, s, v, (v - z->v) / (0.5 * h), q.mobility, h, f_begin, f_end);
        if (!(g.impulse > 0.0))
            continue;
        if (z->mu > 0.0 && !z->p.torque)
            lean(w, z, g.impulse, a, b, &q);
        double p = g.impulse;
        if (w->net) {
            p = limited_impulse(p, q.u, q.mobility, w->limit - w->energy);
            w->net_count += p < g.impulse;
        }
        push(w->model, &z->p, &q, p, a, b);
        advance_place(w->model, &z->p, &q, g.ahead * (p / g.impulse), a, b);
        w->energy += p * (q.u + 0.5 * p * q.mobility);
        z->impulse += p;
    }
}

/* Time within h at which a surface is crossed, in or out, or at which a damped one lets go; h if none. The
 * force steps by c v at the surface and has a kink where it ends: a sub-step is split there. */
static double crossing(fused_flow *w, double h) {
    double first = h;
    for (int c = 0; c < w->acts; c++) {
        fused_actor *z = &w->act[c];
        if (!z->surface)
            continue;
        double s, v;
        ff__fused_coordinate(&z->p, w->start[z->p.a], &w->x[z->p.a], other(w, &z->p), &s, &v);
        z->v = v;
        const double gap = z->surface->x0 - s;
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

/* The surface is not reached within T, the turn of the body included. */
static bool is_far(fused_flow *w, const fused_actor *z, double T) {
    const ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
    double s, v;
    ff__fused_coordinate(&z->p, w->start[z->p.a], a, b, &s, &v);
    double bend = ff_vec3_dot(a->omega, a->omega) * (z->p.torque ? 1.0 : ff_vec3_norm(z->p.r));
    if (b) {
        const double rate = ff_vec3_norm(b->omega);
        bend += rate * (rate * ff_vec3_norm(ff_vec3_sub(a->position, b->position)) +
                        2.0 * ff_vec3_norm(ff_vec3_sub(a->velocity, b->velocity)));
    }
    const bool loaded = is_loaded(&w->load[z->p.a]) || (b && is_loaded(&w->load[z->p.b]));
    return !loaded && s + 1.1 * fmax(0.0, v) * T + 2.0 * bend * T * T < z->surface->x0;
}

/* Sub-steps of T: at most STEPS_MAX for each cycle in it. One where no surface is reached. */
static int steps_for(fused_flow *w, double T) {
    const double most = STEPS_MAX * fmax(1.0, ceil(T / w->model->integrate.cycle - 1e-9));
    double largest = 0.0;
    for (int c = 0; c < w->acts; c++) {
        fused_actor *z = &w->act[c];
        if (!z->surface)
            continue;
        const ff_rigid_model *A = &w->model->body[z->p.a];
        ff_vec3 moment = z->p.torque ? z->p.n : ff_vec3_cross(z->p.r, z->p.n);
        z->mobility = ff_vec3_dot(moment, ff_mat3_apply(&A->inertia_inv, moment));
        if (!z->p.torque)
            z->mobility += A->mass_inv;
        if (z->p.b >= 0)
            z->mobility += w->model->body[z->p.b].mass_inv;
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

/* A flow of these bodies from sample k, where they stand and with what loads them there; actors and net are
 * the caller's. x and load hold FF_MAX_BODIES. */
fused_flow ff__fused_flow_from(const fused_model *model, fused_state *state, unsigned bodies, uint64_t k,
                               ff_rigid_state *x, ff_rigid_load *load, fused_actor *act) {
    for (int i = 0; i < model->bodies; i++) {
        x[i] = fused_at(state, i, k)->body;
        load[i] = fused_at(state, i, k)->load;
    }
    return (fused_flow){
        .model = model, .start = state->start, .bodies = bodies, .x = x, .load = load, .act = act};
}

/* Advances the group over T; at most 2 crossings split a sub-step. Returns the sub-steps. */
int ff__fused_advance(fused_flow *w, double T) {
    const int n = w->acts ? steps_for(w, T) : 1;
    const double h = T / n;
    w->energy = w->net ? ff__fused_group_energy(w->model, w->bodies, w->x) : 0.0;
    for (int j = 0; j < n; j++) {
        double left = h, done = 0.0;
        for (int split = 0; split < 3 && left > 0.0; split++) {
            const double next = w->acts ? crossing(w, left) : left, piece = split < 2 ? next : left;
            const double begun = (double)j * h + done;
            drift_all(w, 0.5 * piece);
            kick(w, piece, begun / T, (begun + piece) / T);
            drift_all(w, 0.5 * piece);
            done += piece;
            left -= piece;
            if (left < 1e-9 * h)
                break;
        }
    }
    return n;
}
