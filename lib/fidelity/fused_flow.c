/* fused: a group of bodies and the surfaces that act on them, through time (docs/methods/fused.md, 4). */
#include "fidelity/fused.h"

static const double phase_step = 0.08; /* [rad] of the contact's oscillation in one sub-step */

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
void ff__fused_open_port(const ff_fidelity_model *model, const fused_place *p, const ff_rigid_state *a,
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

static void push(const ff_fidelity_model *model, const fused_place *p, const fused_port *q, double impulse,
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

static ff_vec3 euler(const ff_rigid_model *model, ff_vec3 w) {
    return ff_mat3_apply(&model->inertia_inv, ff_vec3_cross(ff_mat3_apply(&model->inertia, w), w));
}

/* Free flight that keeps the kinetic energy: Euler's equation by Runge and Kutta's fourth-order step, the
 * attitude by the Magnus expansion to the same order, what is left of the energy error taken out of the rate.
 * The net compares energies to rounding, so the drift must not make any. A step of the replay turns by less
 * than a hundredth of a radian: an implicit rule would cost four times as much for nothing. */
static void drift(const ff_rigid_model *model, double h, ff_rigid_state *x) {
    if (h == 0.0)
        return;
    x->position = ff_vec3_axpy(h, x->velocity, x->position);
    const ff_vec3 w = x->omega;
    if (w.x == 0.0 && w.y == 0.0 && w.z == 0.0)
        return;
    const ff_vec3 Iw = ff_mat3_apply(&model->inertia, w);
    const ff_vec3 k1 = ff_mat3_apply(&model->inertia_inv, ff_vec3_cross(Iw, w));
    const ff_vec3 k2 = euler(model, ff_vec3_axpy(0.5 * h, k1, w));
    const ff_vec3 k3 = euler(model, ff_vec3_axpy(0.5 * h, k2, w));
    const ff_vec3 k4 = euler(model, ff_vec3_axpy(h, k3, w));
    const ff_vec3 slope = ff_vec3_add(ff_vec3_add(k1, k4), ff_vec3_scale(2.0, ff_vec3_add(k2, k3)));
    ff_vec3 w1 = ff_vec3_axpy(h / 6.0, slope, w);
    const double before = ff_vec3_dot(w, Iw), after = ff_vec3_dot(w1, ff_mat3_apply(&model->inertia, w1));
    if (after > 0.0)
        w1 = ff_vec3_scale(sqrt(before / after), w1);
    /* mean rate (Hermite) and the commutator of body rates */
    ff_vec3 turn = ff_vec3_scale(0.5 * h, ff_vec3_add(w, w1));
    turn = ff_vec3_axpy(h * h / 12.0, ff_vec3_add(ff_vec3_sub(k1, k4), ff_vec3_cross(w, w1)), turn);
    const ff_quat q = ff_quat_mul(x->attitude, ff_quat_exp(turn));
    const double fix = 1.5 - 0.5 * (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    x->attitude = (ff_quat){fix * q.w, fix * q.x, fix * q.y, fix * q.z};
    x->omega = w1;
}

double ff__fused_group_energy(const ff_fidelity_model *model, unsigned bodies, const ff_rigid_state *x) {
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++)
        if (bodies >> i & 1u)
            sum += ff_rigid_kinetic_energy(&model->body[i], &x[i]);
    return sum;
}

static void drift_all(fused_flow *w, double h) {
    for (int i = 0; i < w->model->bodies; i++)
        if (w->bodies >> i & 1u)
            drift(&w->model->body[i], h, &w->x[i]);
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

static void kick(fused_flow *w, double h, double when) {
    for (int i = 0; i < w->model->bodies; i++)
        if (w->bodies >> i & 1u) {
            const ff_vec3 F = w->load[i].force, M = w->load[i].torque;
            if (F.x == 0.0 && F.y == 0.0 && F.z == 0.0 && M.x == 0.0 && M.y == 0.0 && M.z == 0.0)
                continue;
            const ff_rigid_model *m = &w->model->body[i];
            const double before = ff_rigid_kinetic_energy(m, &w->x[i]);
            w->x[i].velocity = ff_vec3_axpy(h * m->mass_inv, F, w->x[i].velocity);
            w->x[i].omega = ff_vec3_axpy(h, ff_mat3_apply(&m->inertia_inv, M), w->x[i].omega);
            const double work = ff_rigid_kinetic_energy(m, &w->x[i]) - before;
            w->energy += work;
            w->limit += work;
        }
    for (int c = 0; c < w->acts; c++) {
        fused_actor *z = &w->act[c];
        ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
        const double extra = z->f0 + when * (z->f1 - z->f0);
        fused_port q;
        double s = 0.0, v = 0.0;
        if (z->surface) { /* far from the surface nothing needs the port */
            ff__fused_coordinate(&z->p, w->start[z->p.a], a, b, &s, &v);
            if (!(s > z->surface->x0))
                continue;
        } else if (!(extra > 0.0))
            continue;
        z->side = ff_vec3_zero();
        ff__fused_open_port(w->model, &z->p, a, b, z->side, &q);
        double f = extra;
        if (z->surface) {
            /* force at the middle of the step with the velocity there: f = k g + c v_mid + residual,
             * v_mid = v - f h mobility/2, linear in f */
            const ff_profile *e = z->surface;
            const double g = ff_profile_shape(e->law, s - e->x0), c_eff = e->law ? e->c * g : e->c;
            f = (e->k * g + c_eff * v + extra) / (1.0 + 0.5 * h * c_eff * q.mobility);
        }
        if (!(f > 0.0))
            continue;
        double p = f * h;
        if (z->mu > 0.0 && !z->p.torque) {
            /* Coulomb friction at the satellite's own sliding; never more than stops it (q.mobility bounds
             * the mobility across n from below, so a little less) */
            ff_vec3 speed_w = ff_rigid_point_velocity(a, z->p.r), n = q.d_w;
            if (b) {
                const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(a), z->p.r);
                speed_w = ff_vec3_sub(
                    speed_w,
                    ff_rigid_point_velocity(b, ff_quat_unrotate(b->attitude, ff_vec3_sub(tip, b->position))));
            }
            const ff_vec3 slide = ff_vec3_axpy(-ff_vec3_dot(n, speed_w), n, speed_w);
            const double speed = ff_vec3_norm(slide), full = 2.0 * z->mu * p * q.mobility + 1e-9;
            if (speed > 0.0) {
                z->side = ff_vec3_scale(-z->mu * fmin(1.0, speed / full) / speed, slide);
                ff__fused_open_port(w->model, &z->p, a, b, z->side, &q);
            }
        }
        if (w->net) {
            const double allowed = limited_impulse(p, q.u, q.mobility, w->limit - w->energy);
            w->net_count += allowed < p;
            p = allowed;
        }
        push(w->model, &z->p, &q, p, a, b);
        w->energy += p * (q.u + 0.5 * p * q.mobility);
        z->impulse += p;
    }
}

/* Time within h at which a surface is crossed, either way; h if none. The force steps by c v there: a
 * sub-step that crosses is split at the crossing. */
static double crossing(fused_flow *w, double h) {
    double first = h;
    for (int c = 0; c < w->acts; c++) {
        const fused_actor *z = &w->act[c];
        if (!z->surface)
            continue;
        double s, v;
        ff__fused_coordinate(&z->p, w->start[z->p.a], &w->x[z->p.a], other(w, &z->p), &s, &v);
        const double gap = z->surface->x0 - s;
        if (v != 0.0 && gap / v > 1e-9 * h && gap / v < first)
            first = gap / v;
    }
    return first;
}

/* Sub-steps of T: at most STEPS_MAX for each cycle in it. */
static int steps_for(const fused_flow *w, double T) {
    const double most = STEPS_MAX * fmax(1.0, ceil(T / w->model->integrate.cycle - 1e-9));
    double largest = 0.0;
    for (int c = 0; c < w->acts; c++) {
        const fused_actor *z = &w->act[c];
        if (!z->surface)
            continue;
        const ff_rigid_model *A = &w->model->body[z->p.a];
        ff_vec3 moment = z->p.torque ? z->p.n : ff_vec3_cross(z->p.r, z->p.n);
        double mobility = ff_vec3_dot(moment, ff_mat3_apply(&A->inertia_inv, moment));
        if (!z->p.torque)
            mobility += A->mass_inv;
        if (z->p.b >= 0)
            mobility += w->model->body[z->p.b].mass_inv;
        double k = z->surface->k;
        if (z->surface->law) { /* stiffness at the depth where the energy of approach is stored */
            const double n = ff_profile_exponent(z->surface->law);
            const double depth = pow(0.5 * (n + 1.0) * 0.01 / (mobility * k), 1.0 / (n + 1.0)); /* 0.1 m/s */
            k *= n * pow(depth, n - 1.0);
        }
        largest = fmax(largest, k * mobility);
    }
    const double n = ceil(sqrt(largest) * T / phase_step);
    return n < 1.0 ? 1 : n > most ? (int)most : (int)n;
}

/* Advances the group over T; at most 2 crossings split a sub-step. Returns the sub-steps. */
int ff__fused_advance(fused_flow *w, double T) {
    const int n = w->acts ? steps_for(w, T) : 1;
    const double h = T / n;
    w->energy = w->net ? ff__fused_group_energy(w->model, w->bodies, w->x) : 0.0;
    for (int j = 0; j < n; j++) {
        double left = h, done = 0.0;
        for (int split = 0; split < 3 && left > 0.0; split++) {
            const double piece = split < 2 && w->acts ? crossing(w, left) : left;
            drift_all(w, 0.5 * piece);
            kick(w, piece, ((double)j * h + done + 0.5 * piece) / T);
            drift_all(w, 0.5 * piece);
            done += piece;
            left -= piece;
            if (left < 1e-9 * h)
                break;
        }
    }
    return n;
}
