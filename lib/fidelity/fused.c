/* fused: the satellite recomputed from before the onset of each contact (docs/methods/fused.md).
 *
 * One time axis: the command is the predicted pose one delay ahead, so satellite and robot meet the surface
 * at the same instant. The surface is identified from the measured force against the *measured* robot motion
 * (freefloat/contact.h, profile), and the satellites are replayed from before the onset with the measured
 * force carried from the robot's pose to the satellite's:
 *   f_d = max(0, law(s_d, s_d') + residual),  residual = f - law(s_r, s_r') at the robot.
 * The energy net is part of every kick of the replay: the kinetic energy of the bodies in contact never
 * exceeds its value at the onset plus the work of the known loads.
 *
 * Bodies, contacts: a contact has a tip on body a and a surface on body b (or the world). With the outward
 * normal n fixed in b,  s = -n.(tip in b's frame) grows into the surface, and the force on a is +f n. */
#include "fidelity/internal.h"

enum {
    MASK = FF_FUSED_RING - 1,
    LOOK_BACK = FF_FUSED_RING - 64, /* samples a replay or a fit may reach back */
    STEPS_MAX = 12                  /* sub-steps of a cycle */
};
static const double phase_step = 0.08;    /* [rad] of the contact's oscillation in one sub-step */
static const double force_least = 0.02;   /* [N] no force below it is a contact */
static const double arm_longest = 3.0;    /* [m] a torque at a longer arm is a torque of its own */
static const double torque_least = 0.003; /* [N m] */

/* ---------------------------------------------------------------------------------------------- settings --
 */

void ff_fused_default(ff_fused_config *config) {
    *config = (ff_fused_config){0};
}

ff_status ff_fused_validate(const ff_fused_config *config) {
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (!(config->delay[i] >= 0.0 && config->delay[i] < 10.0))
            return FF_ERR_ARGUMENT;
    if (!(config->force_noise >= 0.0) || !(config->torque_noise >= 0.0) || !(config->stiffness >= 0.0) ||
        !isfinite(config->force_noise + config->torque_noise + config->stiffness + config->skew))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

const char *ff_fused_law_name(int law) {
    static const char *const names[FF_PROFILE_LAWS] = {"k p + c v", "p^1.5 (k + c v)", "p (k + c v)",
                                                       "p^1.25 (k + c v)"};
    return law >= 0 && law < FF_PROFILE_LAWS ? names[law] : "unknown";
}

void ff__fused_reset(const ff_fidelity_model *model, const ff_rigid_state *body, ff_fused_state *state) {
    /* The rings are not cleared: nothing older than `k` is ever read. */
    state->k = 0;
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        state->delay[i] = model->config.fused.delay[i];
        state->delay_count[i] = 0;
        state->delay_wait[i] = 0;
        state->quiet_since[i] = state->free_since[i] = 0;
        state->torque_hits[i] = state->side_hits[i] = 0;
        state->report[i] = (ff_fused_report){.delay = state->delay[i], .delay_told = state->delay[i]};
        state->start[i] = i < model->bodies ? body[i].attitude : ff_quat_identity();
    }
    state->info = (ff_fused_info){0};
    ff_rng_seed(&state->rng, model->config.fused.random_estimates, 7);
    for (int w = 0; w < FF_FUSED_WALLS; w++)
        state->wall[w].valid = false;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        state->contact[c].open = state->contact[c].settled = false;
}

/* --------------------------------------------------------------------------------------------- geometry --
 */

/* What a contact or a remembered wall touches with. */
typedef struct place {
    bool torque;
    int a, b;
    ff_vec3 n, r;
} place;

static place contact_place(const ff_fused_contact *c) {
    return (place){c->torque, c->a, c->b, c->n, c->r};
}

/* Everything a kick needs at one pose: direction and arms in the axes they act in. */
typedef struct port {
    ff_vec3 d_w;      /* force direction, inertial */
    ff_vec3 arm_a;    /* I_a^-1 (r x d), a's axes: rate gained per unit impulse */
    ff_vec3 arm_b;    /* of b */
    ff_vec3 moment_a; /* r x d, a's axes */
    ff_vec3 moment_b; /* b's axes */
    double mobility;  /* [1/kg] */
    double u;         /* d.(relative velocity): power per unit force */
} port;

static ff_rigid_state at_rest(void) {
    return (ff_rigid_state){.attitude = ff_quat_identity()};
}

/* s and s' of bodies (or robots) at these motions. */
static void coordinate(const place *p, ff_quat start, const ff_rigid_state *a, const ff_rigid_state *b,
                       double *s, double *s_dot) {
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
static void open_port(const ff_fidelity_model *model, const place *p, const ff_rigid_state *a,
                      const ff_rigid_state *b, ff_vec3 side, port *q) {
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

static void push(const ff_fidelity_model *model, const place *p, const port *q, double impulse,
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

static ff_rigid_state robot_of(const ff_fused_sample *x) {
    return (ff_rigid_state){x->T_r.p, x->T_r.q, x->twist_r.v, x->twist_r.w};
}

static ff_fused_sample *at(ff_fused_state *state, int body, uint64_t k) {
    return &state->ring[body][k & MASK];
}

/* Measured force along a contact [N], and the whole force on a, inertial: of two bodies the mean. */
static ff_vec3 measured_force(ff_fused_state *state, int a, int b, uint64_t k) {
    const ff_vec3 F = at(state, a, k)->force;
    return b < 0 ? F : ff_vec3_scale(0.5, ff_vec3_sub(F, at(state, b, k)->force));
}

/* -------------------------------------------------------------------------------------------- integration --
 */

/* Free flight that keeps the kinetic energy: the midpoint rule, its third-order energy error taken out of
 * the rate. The net compares energies to rounding, so the drift must not make any. */
static void drift(const ff_rigid_model *model, double h, ff_rigid_state *x) {
    if (h == 0.0)
        return;
    const ff_vec3 w = x->omega;
    if (w.x == 0.0 && w.y == 0.0 && w.z == 0.0) {
        x->position = ff_vec3_axpy(h, x->velocity, x->position);
        return;
    }
    const double before = ff_vec3_dot(w, ff_mat3_apply(&model->inertia, w));
    ff_integrate_coast(model, h, 2.0 * fabs(h), x);
    const double after = ff_vec3_dot(x->omega, ff_mat3_apply(&model->inertia, x->omega));
    if (after > 0.0)
        x->omega = ff_vec3_scale(sqrt(before / after), x->omega);
}

/* A surface that acts in a flow: an open contact with its residual, or a remembered wall. */
typedef struct actor {
    place p;
    const ff_profile *surface; /* NULL: nothing identified yet, the measured force itself acts */
    double f0, f1;             /* residual, or force, at the ends of the cycle */
    double mu;                 /* Coulomb */
    ff_vec3 side;              /* last friction for each unit of normal force, inertial */
    double impulse;            /* [N s] given in this flow */
} actor;

typedef struct flow {
    const ff_fidelity_model *model;
    const ff_quat *start;
    unsigned bodies; /* bit mask: those that move here */
    ff_rigid_state *x;
    const ff_rigid_load *load; /* per body */
    actor *act;
    int acts;
    bool net;      /* the energy limit acts */
    double limit;  /* [J] */
    double energy; /* [J] */
    uint32_t net_count;
} flow;

static double group_energy(const ff_fidelity_model *model, unsigned bodies, const ff_rigid_state *x) {
    double sum = 0.0;
    for (int i = 0; i < model->bodies; i++)
        if (bodies >> i & 1u)
            sum += ff_rigid_kinetic_energy(&model->body[i], &x[i]);
    return sum;
}

static void drift_all(flow *w, double h) {
    for (int i = 0; i < w->model->bodies; i++)
        if (w->bodies >> i & 1u)
            drift(&w->model->body[i], h, &w->x[i]);
}

static ff_rigid_state *other(flow *w, const place *p) {
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

static void kick(flow *w, double h, double when) {
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
        actor *z = &w->act[c];
        ff_rigid_state *a = &w->x[z->p.a], *b = other(w, &z->p);
        const double extra = z->f0 + when * (z->f1 - z->f0);
        port q;
        double s = 0.0, v = 0.0;
        if (z->surface) { /* far from the surface nothing needs the port */
            coordinate(&z->p, w->start[z->p.a], a, b, &s, &v);
            if (!(s > z->surface->x0))
                continue;
        } else if (!(extra > 0.0))
            continue;
        z->side = ff_vec3_zero();
        open_port(w->model, &z->p, a, b, z->side, &q);
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
                open_port(w->model, &z->p, a, b, z->side, &q);
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
static double crossing(flow *w, double h) {
    double first = h;
    for (int c = 0; c < w->acts; c++) {
        const actor *z = &w->act[c];
        if (!z->surface)
            continue;
        double s, v;
        coordinate(&z->p, w->start[z->p.a], &w->x[z->p.a], other(w, &z->p), &s, &v);
        const double gap = z->surface->x0 - s;
        if (v != 0.0 && gap / v > 1e-9 * h && gap / v < first)
            first = gap / v;
    }
    return first;
}

static int steps_for(const flow *w, double T) {
    double largest = 0.0;
    for (int c = 0; c < w->acts; c++) {
        const actor *z = &w->act[c];
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
    return n < 1.0 ? 1 : n > (double)STEPS_MAX ? (int)STEPS_MAX : (int)n;
}

/* Advances the group over T; at most 2 crossings split a sub-step. */
static void advance(flow *w, double T) {
    const int n = w->acts ? steps_for(w, T) : 1;
    const double h = T / n;
    w->energy = w->net ? group_energy(w->model, w->bodies, w->x) : 0.0;
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
}

/* ----------------------------------------------------------------------------------------------- replay --
 */

static unsigned group_of(const ff_fused_state *state, int body) {
    unsigned mask = 1u << body;
    for (int pass = 0; pass < FF_MAX_BODIES; pass++)
        for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
            const ff_fused_contact *x = &state->contact[c];
            if ((!x->open && !x->settled) || x->b < 0)
                continue;
            const unsigned both = 1u << x->a | 1u << x->b;
            if (mask & both)
                mask |= both;
        }
    return mask;
}

/* Actors of a group over the cycle that begins at sample i; j = i + 1, or i for the newest. */
static int actors(ff_fused_state *state, unsigned group, uint64_t i, uint64_t j, actor *act) {
    int n = 0;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if ((!x->open && !x->settled) || !(group >> x->a & 1u) || i < x->anchor ||
            (x->settled && i >= x->end))
            continue;
        act[n] = (actor){.p = contact_place(x), .mu = x->mu};
        if (x->surface.valid) {
            act[n].surface = &x->surface;
            act[n].f0 = x->residual[i & MASK];
            act[n].f1 = x->residual[j & MASK];
        } else {
            act[n].f0 = fmax(0.0, x->f[i & MASK]);
            act[n].f1 = fmax(0.0, x->f[j & MASK]);
        }
        n++;
    }
    return n;
}

/* From sample `from` to k; overwrites the satellites in between. */
static void replay(const ff_fidelity_model *model, ff_fused_state *state, unsigned group, uint64_t from,
                   uint64_t k) {
    const double T = model->integrate.cycle;
    ff_rigid_state x[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];
    actor act[FF_FUSED_CONTACTS];
    int first = 0;
    while (!(group >> first & 1u))
        first++;
    for (int i = 0; i < model->bodies; i++)
        x[i] = at(state, i, from)->body;
    flow w = {.model = model,
              .start = state->start,
              .bodies = group,
              .x = x,
              .load = load,
              .act = act,
              .net = true,
              .limit = at(state, first, from)->limit};
    for (uint64_t i = from; i < k; i++) {
        for (int b = 0; b < model->bodies; b++)
            load[b] = at(state, b, i)->load;
        w.acts = actors(state, group, i, i + 1, act);
        advance(&w, T);
        for (int b = 0; b < model->bodies; b++)
            if (group >> b & 1u) {
                at(state, b, i + 1)->body = x[b];
                at(state, b, i + 1)->limit = w.limit;
            }
    }
    state->info.net += w.net_count;
}

/* -------------------------------------------------------------------------------------------- estimation --
 */

static double noise_of(const ff_fused_config *config, const ff_fused_contact *c) {
    if (c->torque)
        return config->torque_noise;
    return c->b < 0 ? config->force_noise : config->force_noise * 0.70710678118654752;
}

static double threshold(const ff_fused_config *config, const ff_fused_contact *c) {
    const double noise = noise_of(config, c);
    return c->torque ? fmax(5.0 * noise, torque_least) : fmax(4.5 * noise, force_least);
}

/* The measured force along contact c at sample k, with the share of the others that act on the same bodies
 * taken out: normals are made to bear only what their dual direction shows. */
static bool acts_at(const ff_fused_contact *o, int body, uint64_t k) {
    return (o->open || o->settled) && o->a == body && k >= o->anchor && !(o->settled && k >= o->end);
}

static bool is_earlier(const ff_fused_contact *o, const ff_fused_contact *c) {
    return o->anchor < c->anchor || (o->anchor == c->anchor && o < c);
}

/* The measured torque less that of the forces at their points, a's axes. */
static ff_vec3 pure_torque(ff_fused_state *state, int body, uint64_t k, const ff_fused_contact *except) {
    const ff_fused_sample *x = at(state, body, k);
    ff_vec3 M = x->torque;
    int forces = 0;
    const ff_fused_contact *only = NULL;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++)
        if (!state->contact[i].torque && acts_at(&state->contact[i], body, k)) {
            only = &state->contact[i];
            forces++;
        }
    if (forces == 1 && only != except) /* a point bears the whole force, friction included */
        return ff_vec3_sub(M, ff_vec3_cross(only->r, ff_quat_unrotate(x->T_r.q, x->force)));
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (o == except || o->torque || !acts_at(o, body, k) || k < o->row_from)
            continue;
        const ff_vec3 n = o->b < 0 ? o->n : ff_quat_rotate(at(state, o->b, k)->T_r.q, o->n);
        const ff_vec3 F = ff_quat_unrotate(x->T_r.q, ff_vec3_scale(o->f[k & MASK], n));
        M = ff_vec3_sub(M, ff_vec3_cross(o->r, F));
    }
    return M;
}

static double share(ff_fused_state *state, const ff_fused_contact *c, uint64_t k) {
    if (c->torque)
        return ff_vec3_dot(c->n, pure_torque(state, c->a, k, c));
    const ff_vec3 F = measured_force(state, c->a, c->b, k);
    ff_vec3 n[FF_FUSED_CONTACTS];
    int count = 1;
    n[0] = c->b < 0 ? c->n : ff_quat_rotate(at(state, c->b, k)->T_r.q, c->n);
    const ff_vec3 own = n[0];
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (o == c || o->torque || !(o->open || o->settled) || o->a != c->a || k < o->anchor ||
            (o->settled && k >= o->end))
            continue;
        n[count++] = o->b < 0 ? o->n : ff_quat_rotate(at(state, o->b, k)->T_r.q, o->n);
    }
    if (count == 1)
        return ff_vec3_dot(own, F);
    /* dual of `own`: own minus its part in the span of the others (Gram-Schmidt), scaled to own.dual = 1 */
    ff_vec3 dual = own;
    for (int i = 1; i < count; i++) {
        for (int j = 1; j < i; j++)
            n[i] = ff_vec3_axpy(-ff_vec3_dot(n[i], n[j]), n[j], n[i]);
        const double size = ff_vec3_norm(n[i]);
        n[i] = size > 1e-6 ? ff_vec3_scale(1.0 / size, n[i]) : ff_vec3_zero();
        dual = ff_vec3_axpy(-ff_vec3_dot(dual, n[i]), n[i], dual);
    }
    const double scale = ff_vec3_dot(own, dual);
    return scale > 0.05 ? ff_vec3_dot(dual, F) / scale : ff_vec3_dot(own, F);
}

static void take_row(ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    const ff_rigid_state a = robot_of(at(state, c->a, k));
    const ff_rigid_state b = c->b < 0 ? at_rest() : robot_of(at(state, c->b, k));
    const place p = contact_place(c);
    const size_t i = k & MASK;
    coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &c->s[i], &c->v[i]);
    c->f[i] = share(state, c, k);
}

static bool sample_ok(ff_fused_state *state, const ff_fused_contact *c, uint64_t k) {
    return at(state, c->a, k)->valid && (c->b < 0 || at(state, c->b, k)->valid);
}

/* No other contact acts on its bodies. */
static bool lone(const ff_fused_state *state, const ff_fused_contact *c) {
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (o != c && (o->open || o->settled) &&
            (o->a == c->a || (c->b >= 0 && o->a == c->b) || o->b == c->a))
            return false;
    }
    return true;
}

/* Normal of a surface with friction mu: the force leans back against the sliding u, F = f (n - mu u), so n is
 * along the sum of F + mu f u. */
static ff_vec3 normal_with_friction(const ff_fused_config *config, ff_fused_state *state,
                                    const ff_fused_contact *c, uint64_t k, double mu) {
    const double noise = noise_of(config, c);
    ff_vec3 n = c->n;
    for (int pass = 0; pass < 2; pass++) {
        ff_vec3 sum = ff_vec3_zero();
        for (uint64_t i = c->row_from; i <= k; i++) {
            const ff_rigid_state a = robot_of(at(state, c->a, i));
            ff_vec3 F = measured_force(state, c->a, c->b, i), v = ff_rigid_point_velocity(&a, c->r);
            if (c->b >= 0) {
                const ff_rigid_state b = robot_of(at(state, c->b, i));
                const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&a), c->r);
                const ff_vec3 tip_b = ff_quat_unrotate(b.attitude, ff_vec3_sub(tip, b.position));
                v = ff_quat_unrotate(b.attitude, ff_vec3_sub(v, ff_rigid_point_velocity(&b, tip_b)));
                F = ff_quat_unrotate(b.attitude, F);
            }
            const double f = ff_vec3_dot(n, F);
            if (!(f > 2.0 * noise) || !(f > 0.02 * c->force_max) || !sample_ok(state, c, i))
                continue;
            const ff_vec3 u = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, v), n, v));
            sum = ff_vec3_axpy(f, ff_vec3_axpy(mu * f, u, F), sum);
        }
        const double size = ff_vec3_norm(sum);
        if (size > 0.0)
            n = ff_vec3_scale(1.0 / size, sum);
    }
    return n;
}

/* Normal: 3 iterations of n <- unit(sum (n.F) F), rows with n.F > 2 sigma; a known wall adds weight.
 * Contact point: least squares of M = r x F. */
static void find_place(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c,
                       uint64_t k) {
    if (c->torque) { /* the axis, as the normal below */
        uint64_t until = k;
        for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
            const ff_fused_contact *o = &state->contact[i];
            if (o != c && o->torque && (o->open || o->settled) && o->a == c->a && !is_earlier(o, c) &&
                o->anchor < until)
                until = o->anchor;
        }
        if (until <= c->detected + 2)
            return;
        for (int pass = 0; pass < 3; pass++) {
            ff_vec3 sum = ff_vec3_zero();
            for (uint64_t i = c->row_from; i <= until; i++) {
                ff_vec3 M = pure_torque(state, c->a, i, c);
                for (int o = 0; o < FF_FUSED_CONTACTS; o++) {
                    const ff_fused_contact *e = &state->contact[o];
                    if (e != c && e->torque && acts_at(e, c->a, i) && is_earlier(e, c))
                        M = ff_vec3_axpy(-ff_vec3_dot(M, e->n), e->n, M);
                }
                const double f = ff_vec3_dot(c->n, M);
                if (f > 2.0 * config->torque_noise && sample_ok(state, c, i))
                    sum = ff_vec3_axpy(f, M, sum);
            }
            const double size = ff_vec3_norm(sum);
            if (size > 0.0)
                c->n = ff_vec3_scale(1.0 / size, sum);
        }
        return;
    }
    uint64_t last = k; /* rows shared with a later contact say nothing of this one's direction */
    uint64_t last_r = k;
    bool earlier = false, turning = false;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (o == c || !(o->open || o->settled) || o->a != c->a)
            continue;
        if (o->torque) {
            if (o->anchor > c->anchor)
                last_r = o->anchor < last_r ? o->anchor : last_r;
            else
                turning = true;
        } else if (is_earlier(o, c))
            earlier = true;
        else if (o->anchor < last)
            last = o->anchor;
    }
    if (last < last_r)
        last_r = last;
    const double noise = noise_of(config, c);
    const ff_fused_wall *wall = c->wall >= 0 ? &state->wall[c->wall] : NULL;
    if (last > c->detected + 2) {
        for (int pass = 0; pass < 3; pass++) {
            ff_vec3 sum = wall ? ff_vec3_scale(10.0 * c->force_max * c->force_max, wall->n) : ff_vec3_zero();
            for (uint64_t i = c->row_from; i <= last && i <= k; i++) {
                ff_vec3 F = measured_force(state, c->a, c->b, i);
                /* next to an earlier contact only the part across its normal is known to be ours */
                for (int o = 0; o < FF_FUSED_CONTACTS && earlier; o++) {
                    const ff_fused_contact *e = &state->contact[o];
                    if (e == c || e->torque || !acts_at(e, c->a, i) || !is_earlier(e, c))
                        continue;
                    const ff_vec3 m = e->b < 0 ? e->n : ff_quat_rotate(at(state, e->b, i)->T_r.q, e->n);
                    F = ff_vec3_axpy(-ff_vec3_dot(F, m), m, F);
                }
                if (c->b >= 0)
                    F = ff_quat_unrotate(at(state, c->b, i)->T_r.q, F);
                const double f = ff_vec3_dot(c->n, F);
                if (f > 2.0 * noise && sample_ok(state, c, i))
                    sum = ff_vec3_axpy(f, F, sum);
            }
            const double size = ff_vec3_norm(sum);
            if (size > 0.0)
                c->n = ff_vec3_scale(1.0 / size, sum);
        }
        if (c->mu > 0.0)
            c->n = normal_with_friction(config, state, c, k, c->mu);
    }
    if (turning || earlier)
        return;
    ff_mat3 A = ff_mat3_diag(0, 0, 0);
    ff_vec3 y = ff_vec3_zero();
    double weight_r = 1.0;
    if (wall)
        weight_r = 1.0 / (0.002 * 0.002);
    const double spread = fmax(fmax(config->torque_noise, 1e-3 * c->torque_max), 1e-9);
    for (int i = 0; i < 3; i++)
        A.m[i][i] = weight_r * spread * spread;
    if (wall)
        y = ff_vec3_scale(weight_r * spread * spread, wall->r);
    for (uint64_t i = c->row_from; i <= last_r && i <= k; i++) {
        const ff_fused_sample *x = at(state, c->a, i);
        if (!x->valid)
            continue;
        const ff_vec3 F = ff_quat_unrotate(x->T_r.q, x->force);
        const double FF = ff_vec3_dot(F, F);
        if (!(FF > 4.0 * noise * noise))
            continue;
        for (int r = 0; r < 3; r++) {
            A.m[r][r] += FF;
            for (int q = 0; q < 3; q++)
                A.m[r][q] -= F.a[r] * F.a[q];
        }
        y = ff_vec3_add(y, ff_vec3_cross(F, x->torque));
    }
    /* the weak prior along n is many orders below the rest: a touch on the diagonal keeps the factor */
    double a[9], b[3] = {y.x, y.y, y.z};
    for (int r = 0; r < 3; r++)
        for (int q = 0; q < 3; q++)
            a[3 * r + q] = A.m[r][q] + (r == q ? 1e-12 * (A.m[0][0] + A.m[1][1] + A.m[2][2]) : 0.0);
    if (ff_cholesky_factor(3, a) == FF_OK) {
        ff_cholesky_solve(3, a, b);
        const ff_vec3 r = {{b[0], b[1], b[2]}};
        if (ff_vec3_finite(r) && ff_vec3_norm(r) < 1e3)
            c->r = r;
    }
}

/* A step of the search for mu: the friction whose normal lets one law explain the whole contact. Only where
 * the frictionless one cannot. */
static void try_friction(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c,
                         uint64_t k, const ff_profile_in *in, double *s, double *v, double *f) {
    const ff_vec3 n_0 = c->n;
    ff_vec3 best_n = n_0;
    double best_mu = c->mu;
    const double floor = noise_of(config, c) > 1e-3 * c->force_max ? 10.0 : 0.1;
    ff_profile best = c->surface;
    for (int side = 0; side < 2; side++) {
        const double mu = c->mu + (side ? -c->mu_step : c->mu_step);
        if (mu < 0.0 || mu > 1.0)
            continue;
        c->n = n_0;
        c->n = normal_with_friction(config, state, c, k, mu);
        ff_profile_in trial = *in;
        for (uint64_t i = c->row_from; i <= k; i++) {
            take_row(state, c, i);
            s[i - c->row_from] = c->s[i & MASK];
            v[i - c->row_from] = c->v[i & MASK];
            f[i - c->row_from] = c->f[i & MASK];
        }
        trial.lo = c->s[c->row_from & MASK];
        trial.hi = c->s[c->detected & MASK];
        if (!(trial.hi > trial.lo))
            continue;
        ff_profile fit = c->surface;
        if (ff_profile_fit(&trial, c->surface.law, &fit) &&
            fit.J < (best_mu == 0.0 ? 0.8 * best.J - floor : best.J)) {
            best = fit;
            best_mu = mu;
            best_n = c->n;
        }
    }
    if (best_mu == c->mu)
        c->mu_step = fmax(0.5 * c->mu_step, 5e-4);
    c->mu = best_mu;
    c->surface = best;
    c->n = best_n;
    for (uint64_t i = c->row_from; i <= k; i++)
        take_row(state, c, i);
}

static void random_surface(ff_fused_state *state, const ff_fused_contact *c, double lo, double hi,
                           ff_profile *e) {
    ff_rng *rng = &state->rng;
    *e = (ff_profile){.valid = true,
                      .law = (int)(ff_rng_next(rng) & 3u),
                      .k = exp(ff_rng_range(rng, 0.0, 14.0)),
                      .c = exp(ff_rng_range(rng, 0.0, 9.0)) - 1.0,
                      .x0 = ff_rng_range(rng, lo - 0.01, hi + 0.01)};
    (void)c;
}

/* One estimate from all rows: place, surface, residuals. */
static void estimate(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c, uint64_t k,
                     bool final) {
    const ff_fused_config *config = &model->config.fused;
    double s[FF_FUSED_RING], v[FF_FUSED_RING], f[FF_FUSED_RING];
    unsigned char use[FF_FUSED_RING];
    const double noise = noise_of(config, c);
    if (c->frozen && c->surface.valid) /* the onset has left the history: what it taught stands */
        return;
    find_place(config, state, c, k);
    c->force_max = 0.0;
    c->torque_max = 0.0;
    for (uint64_t i = c->row_from; i <= k; i++) {
        take_row(state, c, i);
        if (sample_ok(state, c, i)) {
            c->force_max = fmax(c->force_max, c->f[i & MASK]);
            c->torque_max = fmax(c->torque_max, ff_vec3_norm(at(state, c->a, i)->torque));
        }
    }
    const ff_profile last = c->surface;
    const double age = (double)(k - c->detected);
    int rows = 0, bad = 0;
    for (uint64_t i = c->row_from; i <= k; i++) {
        const size_t q = i & MASK;
        s[rows] = c->s[q];
        v[rows] = c->v[q];
        f[rows] = c->f[q];
        use[rows] = sample_ok(state, c, i);
        /* Row use, with the last surface: both model and force must say that the contact is over. A wrong
         * model alone must not discard the data that contradict it. */
        if (last.valid && c->v[q] < 0.0) {
            const double law = ff_profile_force(&last, c->s[q], c->v[q]);
            if (law < 0.02 * c->force_max && c->f[q] < fmax(4.0 * noise, 0.05 * c->force_max))
                use[rows] = 0;
        }
        rows++;
    }
    /* Outliers against the last surface, at most one in eight. */
    if (last.valid && age >= 6.0) {
        double peak = 0.0;
        for (int i = 1; i + 1 < rows; i++) {
            const double hi = fmax(f[i - 1], f[i]), lo = fmin(f[i - 1], f[i]);
            peak = fmax(peak, fmax(lo, fmin(hi, f[i + 1]))); /* median of three */
        }
        const double gate = fmax(8.0 * noise, 0.2 * peak);
        int contact_rows = 0;
        for (int i = 0; i < rows; i++) {
            const double law = ff_profile_force(&last, s[i], v[i]);
            contact_rows += law > 0.0;
            bad += use[i] && fabs(f[i] - law) > gate;
        }
        if (bad > 0 && 8 * bad <= contact_rows)
            for (int i = 0; i < rows; i++)
                if (use[i] && fabs(f[i] - ff_profile_force(&last, s[i], v[i])) > gate)
                    use[i] = 2;
    }
    for (int i = 0; i < rows; i++) {
        c->use[(c->row_from + (uint64_t)i) & MASK] = use[i];
        if (use[i] == 2)
            use[i] = 0;
    }
    ff_profile_in in = {.rows = rows,
                        .s = s,
                        .v = v,
                        .f = f,
                        .use = use,
                        .lo = c->s[c->row_from & MASK],
                        .hi = c->s[c->detected & MASK],
                        .noise = fmax(noise, fmax(1e-3 * c->force_max, 1e-9)),
                        .speed = c->speed,
                        .prior_k = c->torque ? 0.0 : config->stiffness};
    if (!(in.hi > in.lo))
        in.lo = in.hi - c->speed * model->integrate.cycle;
    if (config->random_estimates) {
        random_surface(state, c, in.lo, in.hi, &c->surface);
    } else {
        ff_profile fit = last;
        const int law = last.valid ? last.law : 0;
        if (ff_profile_fit(&in, law, &fit))
            c->surface = fit;
        /* Other laws in turn: one at each estimate, rounds at growing distance. */
        if (k >= c->law_due && age >= 8.0 && c->law_trial == 0) {
            c->law_trial = 1;
            c->law_due = k + 4 + (k - c->detected) / 2;
        }
        /* a long contact has tried them all several times; a short one does so at its end */
        const bool all = final && age < 48.0;
        const int trials = all ? FF_PROFILE_LAWS - 1 : 1;
        for (int t = 0; t < trials && (c->law_trial || all) && c->surface.valid; t++) {
            const int rival_law = all ? t + 1 : c->law_trial;
            c->law_trial = all ? 0 : (c->law_trial + 1) % FF_PROFILE_LAWS;
            ff_profile zero = c->surface, rival = last;
            /* no rival can reach half of it less ten */
            if (rival_law == c->surface.law || (c->surface.law == 0 && zero.J <= 20.0))
                continue;
            if (c->surface.law != 0 && !ff_profile_fit(&in, 0, &zero))
                continue;
            ff_profile_in coarse = in; /* enough to tell the laws apart; the chosen one gets all its rows */
            coarse.thin = 48;
            if (ff_profile_fit(&coarse, rival_law, &rival) && rival.J < 0.5 * zero.J - 10.0 &&
                (c->surface.law == 0 || rival.J < c->surface.J)) {
                c->surface = rival;
                state->info.law_switches++;
            }
        }
    }
    if (!c->surface.valid)
        return;
    if (!c->torque && !config->random_estimates && age >= 8.0 && c->slides && lone(state, c) &&
        (c->mu > 0.0 || c->surface.J > (noise > 1e-3 * c->force_max ? 4.0 : 0.02) * (double)rows))
        /* a short contact has had few steps: it makes up for them at its end */
        for (int i = 0; i < (final && age < 24.0 ? 6 : final && age < 48.0 ? 3 : 1); i++)
            try_friction(config, state, c, k, &in, s, v, f);
    state->info.bounds += c->surface.k_bound;
    const double least = threshold(config, c);
    for (uint64_t i = c->row_from; i <= k; i++) {
        const size_t q = i & MASK;
        const double law = ff_profile_force(&c->surface, c->s[q], c->v[q]);
        c->residual[q] =
            (law > 0.0 || c->f[q] > least) && c->use[q] != 2 && sample_ok(state, c, i) ? c->f[q] - law : 0.0;
    }
}

/* ----------------------------------------------------------------------------------- beginning and end -- */

static double flight_speed(ff_fused_state *state, const ff_fused_contact *c, uint64_t k) {
    const place p = contact_place(c);
    double s, v;
    coordinate(&p, state->start[c->a], &at(state, c->a, k)->body, c->b < 0 ? NULL : &at(state, c->b, k)->body,
               &s, &v);
    return v;
}

static void find_wall(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                      uint64_t k) {
    const double T = model->integrate.cycle;
    double best = FF_INF;
    for (int w = 0; w < FF_FUSED_WALLS; w++) {
        const ff_fused_wall *x = &state->wall[w];
        if (!x->valid || x->a != c->a || x->b != c->b || x->torque != c->torque ||
            ff_vec3_dot(x->n, c->n) < 0.8)
            continue;
        const ff_rigid_state a = robot_of(at(state, c->a, k));
        const ff_rigid_state b = c->b < 0 ? at_rest() : robot_of(at(state, c->b, k));
        const place p = {x->torque, x->a, x->b, x->n, x->r};
        double s, v;
        coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &s, &v);
        const double gap = fabs(s - x->surface.x0);
        if (gap <= fmax(5.0 * x->surface.sd_x0, 3.0 * c->speed * T) && gap < best) {
            best = gap;
            c->wall = w;
        }
    }
}

static ff_fused_contact *free_contact(ff_fused_state *state) {
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        if (!state->contact[c].open && !state->contact[c].settled)
            return &state->contact[c];
    return NULL;
}

static uint64_t group_anchor(const ff_fused_state *state, unsigned group, uint64_t k) {
    uint64_t from = k;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        const ff_fused_contact *x = &state->contact[c];
        if (x->open && (group >> x->a & 1u) && x->anchor < from)
            from = x->anchor;
    }
    return from;
}

/* The energy that a group of bodies may have from sample k on: what it has there. */
static void limit_from_here(const ff_fidelity_model *model, ff_fused_state *state, unsigned group,
                            uint64_t k) {
    ff_rigid_state x[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++)
        x[i] = at(state, i, k)->body;
    const double energy = group_energy(model, group, x);
    for (int i = 0; i < model->bodies; i++)
        if (group >> i & 1u)
            at(state, i, k)->limit = energy;
}

/* Opens a contact at sample k. n in the inertial frame, or the axis of a torque in a's. */
static void begin(const ff_fidelity_model *model, ff_fused_state *state, int a, int b, bool torque, ff_vec3 n,
                  uint64_t k) {
    ff_fused_contact *c = free_contact(state);
    if (!c)
        return;
    const double T = model->integrate.cycle;
    const unsigned group_before = group_of(state, a) | (b < 0 ? 0u : group_of(state, b));
    const uint64_t first_anchor = group_anchor(state, group_before, k);
    bool busy = false;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++)
        busy |= state->contact[i].open && (group_before >> state->contact[i].a & 1u);
    c->open = true;
    c->settled = c->frozen = false;
    c->torque = torque;
    c->a = a;
    c->b = b;
    c->n = b < 0 || torque ? n : ff_quat_unrotate(at(state, b, k)->T_r.q, n);
    c->r = ff_vec3_zero();
    c->mu = 0.0;
    c->mu_step = 0.05;
    c->surface = (ff_profile){0};
    c->detected = k;
    c->due = k + 1;
    c->law_due = k + 8;
    c->law_trial = 0;
    c->alarm_sum = 0.0;
    c->quiet = c->silent = 0;
    c->abandoned = false;
    c->wall = -1;
    c->wall_used = false;
    const ff_fused_sample *x = at(state, a, k);
    bool turning = false;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++)
        turning |= &state->contact[i] != c && state->contact[i].torque && acts_at(&state->contact[i], a, k);
    if (!torque && !turning) { /* what the others leave */
        const ff_vec3 F = ff_quat_unrotate(x->T_r.q, ff_vec3_scale(ff_vec3_dot(n, x->force), n));
        const double FF = ff_vec3_dot(F, F);
        c->anchor = k + 1;
        if (FF > 0.0)
            c->r = ff_vec3_scale(1.0 / FF, ff_vec3_cross(F, pure_torque(state, a, k, c)));
        if (!(ff_vec3_norm(c->r) <= arm_longest))
            c->r = ff_vec3_zero();
    }
    const place p = contact_place(c);
    port q;
    double s, s_dot;
    coordinate(&p, state->start[a], &x->body, b < 0 ? NULL : &at(state, b, k)->body, &s, &s_dot);
    open_port(model, &p, &x->body, b < 0 ? NULL : &at(state, b, k)->body, ff_vec3_zero(), &q);
    c->mass = q.mobility > 0.0 ? 1.0 / q.mobility : FF_INF;

    /* The satellite may have been in the surface before the robot was: lag is how far the robot is behind. */
    const ff_rigid_state robot_a = robot_of(x);
    const ff_rigid_state robot_b = b < 0 ? at_rest() : robot_of(at(state, b, k));
    double s_r, v_r;
    coordinate(&p, state->start[a], &robot_a, b < 0 ? NULL : &robot_b, &s_r, &v_r);
    double lag = s_dot > 0.0 ? (s - s_r) / s_dot : 0.0;
    lag = lag > 0.0 ? fmin(lag, 0.5) : 0.0;
    uint64_t back = 4 + (uint64_t)ceil((lag + 0.2 * state->delay[a]) / T);
    /* noise hides the onset: back to where three successive samples are quiet */
    uint64_t earliest = state->free_since[a];
    if (b >= 0 && state->free_since[b] > earliest)
        earliest = state->free_since[b];
    c->anchor = k; /* share() asks */
    const double level = fmax(1.5 * noise_of(&model->config.fused, c), 3e-3 * share(state, c, k));
    uint64_t quiet = 0;
    while (quiet < 400 && k > earliest + quiet + 3) {
        double sum = 0.0;
        for (uint64_t i = 0; i < 3; i++)
            sum += share(state, c, k - quiet - i);
        if (sum < level)
            break;
        quiet++;
    }
    back += quiet;
    if (back > LOOK_BACK)
        back = LOOK_BACK;
    c->anchor = k > earliest + back ? k - back : earliest;
    c->row_from = c->anchor;
    c->speed = fabs(flight_speed(state, c, c->anchor));
    const ff_vec3 tip_speed = ff_rigid_point_velocity(&robot_a, c->r);
    c->slides =
        b >= 0 || ff_vec3_norm(ff_vec3_axpy(-ff_vec3_dot(n, tip_speed), n, tip_speed)) > 0.02 * c->speed;
    for (uint64_t i = c->anchor; i <= k; i++) {
        take_row(state, c, i);
        c->residual[i & MASK] = 0.0;
        c->use[i & MASK] = 1;
    }
    c->force_max = c->f[k & MASK];
    c->torque_max = ff_vec3_norm(x->torque);
    const unsigned group = group_of(state, a);
    if (!busy || c->anchor < first_anchor) {
        limit_from_here(model, state, group, c->anchor);
    } else if (b >= 0 && group != group_before) {
        /* two groups join: their limits add */
        const double sum = at(state, a, c->anchor)->limit + at(state, b, c->anchor)->limit;
        for (int i = 0; i < model->bodies; i++)
            if (group >> i & 1u)
                at(state, i, c->anchor)->limit = sum;
    }
    find_wall(model, state, c, k);
    if (c->wall >= 0) { /* known: the next command must not go out without it */
        const ff_fused_wall *wall = &state->wall[c->wall];
        c->wall_used = true;
        c->n = wall->n;
        c->r = wall->r;
        c->mu = wall->mu;
        c->surface = wall->surface;
        for (uint64_t i = c->anchor; i <= k; i++)
            take_row(state, c, i);
    }
}

static void fill_report(const ff_fidelity_model *model, ff_fused_state *state, const ff_fused_contact *c,
                        uint64_t k, int body, bool ended) {
    const ff_fused_config *config = &model->config.fused;
    ff_fused_report *r = &state->report[body];
    const double T = model->integrate.cycle, delay = state->delay[c->a];
    const ff_profile *e = &c->surface;
    *r = (ff_fused_report){.known = e->valid,
                           .torque = c->torque,
                           .law = e->law,
                           .stiffness = e->k,
                           .stiffness_sd = e->sd_k,
                           .damping = e->c,
                           .damping_sd = e->sd_c,
                           .surface_sd = e->sd_x0,
                           .normal = c->n,
                           .point = c->r,
                           .friction = c->mu,
                           .delay = delay,
                           .delay_told = config->delay[body],
                           .warm = c->wall_used,
                           .contacts = r->contacts};
    /* the tip as it entered, moved along n onto the surface */
    const ff_fused_sample *x = at(state, c->a, c->detected);
    ff_vec3 tip = ff_pose_apply(x->T_r, c->r);
    if (c->b >= 0)
        tip = ff_pose_apply(ff_pose_inverse(at(state, c->b, c->detected)->T_r), tip);
    r->surface = ff_vec3_axpy(-(e->x0 + ff_vec3_dot(c->n, tip)), c->n, tip);
    int samples = 0;
    if (!ended)
        samples = (int)(k - c->detected) + 1;
    for (uint64_t i = c->anchor; ended && i <= k; i++) {
        const place p = contact_place(c);
        double s, v;
        coordinate(&p, state->start[c->a], &at(state, c->a, i)->body,
                   c->b < 0 ? NULL : &at(state, c->b, i)->body, &s, &v);
        samples += e->valid ? s > e->x0 : c->f[i & MASK] > 0.0;
    }
    r->samples = samples;
    const double w = e->valid && e->law == 0 ? sqrt(e->k / c->mass) : FF_PI / ((samples + 1) * T);
    if (e->valid && e->law == 0) {
        r->peak_limit = c->speed * (e->k * (delay + T) + e->c);
        const double z = fmin(0.99, e->c / (2.0 * sqrt(e->k * c->mass)));
        /* peak of a spring-damper hit with v: at the step c v, or where f' = 0 */
        const double root = sqrt(1.0 - z * z), b = atan2(root * (1.0 - 4.0 * z * z), z * (3.0 - 4.0 * z * z));
        const double phi = z < 0.5 ? exp(-z / root * b) : 2.0 * z;
        r->peak_ideal = phi * c->speed * sqrt(e->k * c->mass);
    } else {
        r->peak_limit = r->peak_ideal = FF_NAN;
    }
    unsigned outside = 0;
    if (!e->valid)
        outside |= FF_FUSED_NO_ESTIMATE;
    if (samples < 4)
        outside |= FF_FUSED_FEW_SAMPLES;
    if (c->force_max < 10.0 * noise_of(config, c))
        outside |= FF_FUSED_WEAK;
    if (0.5 * FF_PI * w * fabs(config->skew) > 0.01)
        outside |= FF_FUSED_SKEW;
    if (c->frozen)
        outside |= FF_FUSED_LOOK_BACK;
    if (!c->wall_used && w * delay > 1.65)
        outside |= FF_FUSED_LATE;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (o != c && (o->open || o->settled) && (o->a == body || o->b == body) &&
            !(o->settled && o->end <= c->anchor))
            outside |= FF_FUSED_SEVERAL;
    }
    r->outside = outside;
}

/* A free flight from the anchor: what begin() made of noise is undone. */
static void cancel(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    const unsigned group = group_of(state, c->a);
    c->open = false;
    state->info.false_alarms++;
    replay(model, state, group, c->anchor, k);
}

static void remember(ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    if (!c->surface.valid || c->abandoned)
        return;
    int slot = c->wall;
    if (slot < 0) {
        slot = 0;
        for (int w = 0; w < FF_FUSED_WALLS; w++) {
            /* a wall of the same kind that stands nearly there has moved: replace it */
            const ff_fused_wall *x = &state->wall[w];
            if (!x->valid) {
                slot = w;
                break;
            }
            if (x->last < state->wall[slot].last)
                slot = w;
        }
    }
    const ff_fused_report *r = &state->report[c->a];
    state->wall[slot] = (ff_fused_wall){.valid = true,
                                        .torque = c->torque,
                                        .a = c->a,
                                        .b = c->b,
                                        .n = c->n,
                                        .r = c->r,
                                        .point = r->surface,
                                        .surface = c->surface,
                                        .mass = c->mass,
                                        .mu = c->mu,
                                        .force_max = c->force_max,
                                        .last = k};
}

/* Contacts that ended stay while an open one of the group reaches back over them. */
static void sweep(ff_fused_state *state) {
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (!x->settled)
            continue;
        const unsigned group = group_of(state, x->a);
        bool needed = false;
        for (int o = 0; o < FF_FUSED_CONTACTS; o++) {
            const ff_fused_contact *y = &state->contact[o];
            needed |= y->open && (group >> y->a & 1u) && y->anchor < x->end;
        }
        if (!needed)
            x->settled = false;
    }
}

/* Over for the satellite and for the robot? */
static bool is_over(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    const ff_fused_config *config = &model->config.fused;
    const double noise = noise_of(config, c);
    const place p = contact_place(c);
    double s, v;
    coordinate(&p, state->start[c->a], &at(state, c->a, k)->body, c->b < 0 ? NULL : &at(state, c->b, k)->body,
               &s, &v);
    const bool satellite_out =
        c->surface.valid ? v < 0.0 && ff_profile_force(&c->surface, s, v) <= 0.0 : v < 0.0;
    double sum = 0.0;
    int count = 0;
    for (uint64_t i = k; i > c->detected && count < 16; i--, count++)
        sum += c->f[i & MASK];
    const bool robot_out = c->f[k & MASK] < threshold(config, c) && c->v[k & MASK] <= 0.0 &&
                           (noise == 0.0 || sum < (double)count * (0.75 * noise + 0.005 * c->force_max));
    c->quiet = satellite_out && robot_out ? c->quiet + 1 : 0;
    /* No force for longer than the robot can be late: it is over, whatever the model says. */
    c->silent = c->f[k & MASK] < threshold(config, c) ? c->silent + 1 : 0;
    c->abandoned = (double)c->silent > 1.5 * state->delay[c->a] / model->integrate.cycle + 24.0;
    return c->quiet >= 3 || c->abandoned;
}

static void finish(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    estimate(model, state, c, k, true); /* the settlement */
    const unsigned group = group_of(state, c->a);
    replay(model, state, group, group_anchor(state, group, k), k);
    state->report[c->a].contacts++;
    fill_report(model, state, c, k, c->a, true);
    remember(state, c, k);
    if (c->b >= 0) {
        const uint32_t contacts = state->report[c->b].contacts + 1;
        fill_report(model, state, c, k, c->b, true);
        state->report[c->b].contacts = contacts;
    }
    c->open = false;
    c->settled = true;
    c->end = k;
    sweep(state);
    bool left_a = false, left_b = false;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        left_a |= o->open && (o->a == c->a || o->b == c->a);
        left_b |= o->open && c->b >= 0 && (o->a == c->b || o->b == c->b);
    }
    if (!left_a)
        state->free_since[c->a] = k;
    if (c->b >= 0 && !left_b)
        state->free_since[c->b] = k;
}

/* -------------------------------------------------------------------------------------------- free flight --
 */

static bool touched(const ff_fused_state *state, int body) {
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        const ff_fused_contact *x = &state->contact[c];
        if (x->open && (x->a == body || x->b == body))
            return true;
    }
    return false;
}

/* The delay as the robot shows it while nothing happens: how far it is behind, over the speed that it makes
 * itself (in relative motion the rest comes without delay, and would turn the sign). */
static void track_delay(const ff_fidelity_model *model, ff_fused_state *state, int i, uint64_t k,
                        ff_vec3 carried) {
    const double T = model->integrate.cycle;
    const ff_fused_sample *x = at(state, i, k);
    const bool loaded = ff_vec3_norm(x->load.force) > 0.0 || ff_vec3_norm(x->load.torque) > 0.0;
    if (touched(state, i) || loaded) {
        state->quiet_since[i] = k;
        return;
    }
    if (model->config.fused.delay_fixed)
        return;
    const double quiet = (double)(k - state->quiet_since[i]) * T;
    if (quiet < 3.0 * state->delay[i] + 10.0 * T || k < state->delay_wait[i])
        return;
    const ff_vec3 made = ff_vec3_sub(x->body.velocity, carried);
    const double speed = ff_vec3_norm(made);
    if (speed < 1e-5)
        return;
    const double behind = ff_vec3_dot(ff_vec3_sub(x->body.position, x->T_r.p), made) / (speed * speed);
    if (!(fabs(behind) < 1.0))
        return;
    const double gain = fmax(0.02, 1.0 / (1.0 + state->delay_count[i]++));
    const double change = fmax(gain * behind, -state->delay[i]);
    state->delay[i] += change;
    if (fabs(change) > T)
        state->info.delay_changes++;
    if (fabs(change) > 0.3 * T)
        state->delay_wait[i] = k + (uint64_t)ceil(2.0 * state->delay[i] / T) + 1;
}

/* A remembered wall through which the robot passes without a force is not there any more. */
static void check_walls(const ff_fidelity_model *model, ff_fused_state *state, uint64_t k) {
    const ff_fused_config *config = &model->config.fused;
    const double T = model->integrate.cycle;
    for (int w = 0; w < FF_FUSED_WALLS; w++) {
        ff_fused_wall *x = &state->wall[w];
        if (!x->valid || touched(state, x->a) || (x->b >= 0 && touched(state, x->b)))
            continue;
        const ff_rigid_state a = robot_of(at(state, x->a, k));
        const ff_rigid_state b = x->b < 0 ? at_rest() : robot_of(at(state, x->b, k));
        const place p = {x->torque, x->a, x->b, x->n, x->r};
        double s, v;
        coordinate(&p, state->start[x->a], &a, x->b < 0 ? NULL : &b, &s, &v);
        /* a damped wall lets go before the robot has left it: only a robot on its way in can miss it */
        const double law = v >= 0.0 ? ff_profile_force(&x->surface, s - 2.0 * v * T, v) : 0.0;
        const ff_fused_contact like = {.torque = x->torque, .b = x->b};
        const double least = x->torque ? fmax(5.0 * config->torque_noise, torque_least)
                                       : fmax(4.5 * noise_of(config, &like), force_least);
        const double f = x->torque ? ff_vec3_dot(x->n, at(state, x->a, k)->torque)
                                   : ff_vec3_norm(measured_force(state, x->a, x->b, k));
        if (law > fmax(2.0 * least, 0.03 * x->force_max) && f < least) {
            x->missing++;
        } else
            x->missing = 0;
        /* Anticipation turns the robot round before it gets deep: a satellite that stays inside for longer
         * than the robot can be late says the same. */
        coordinate(&p, state->start[x->a], &at(state, x->a, k)->body,
                   x->b < 0 ? NULL : &at(state, x->b, k)->body, &s, &v);
        x->inside = s > x->surface.x0 && v > 0.0 && f < least ? x->inside + 1 : 0;
        if (x->missing >= 2 || (double)x->inside * T > state->delay[x->a] + 8.0 * T) {
            x->valid = false;
            state->info.phantoms++;
        }
    }
}

/* Partner of body a in sample k: the body whose force is equal and opposite; -1: the world. */
static int partner(const ff_fidelity_model *model, ff_fused_state *state, int a, ff_vec3 F, uint64_t k) {
    const double size = ff_vec3_norm(F);
    for (int b = 0; b < model->bodies; b++) {
        if (b == a)
            continue;
        const ff_vec3 G = at(state, b, k)->force;
        const double sum = ff_vec3_norm(ff_vec3_add(F, G));
        if (ff_vec3_norm(G) > 0.5 * size && sum < 0.2 * size + 7.0 * model->config.fused.force_noise)
            return b;
    }
    return -1;
}

static void detect(const ff_fidelity_model *model, ff_fused_state *state, int i, uint64_t k) {
    const ff_fused_config *config = &model->config.fused;
    const ff_fused_sample *x = at(state, i, k);
    if (!x->valid)
        return;
    /* force outside the span of the open normals */
    ff_vec3 F = x->force, M = x->torque, basis[3];
    int normals = 0, force_contacts = 0;
    bool young = false;
    const ff_fused_contact *bearer = NULL;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        const ff_fused_contact *o = &state->contact[c];
        if (!o->open || (o->a != i && o->b != i))
            continue;
        if (o->torque) {
            M = ff_vec3_axpy(-ff_vec3_dot(M, o->n), o->n, M);
            continue;
        }
        force_contacts++;
        young |= k < o->detected + 6;
        if (!bearer)
            bearer = o;
        ff_vec3 n = o->b < 0 ? o->n : ff_quat_rotate(at(state, o->b, k)->T_r.q, o->n);
        for (int j = 0; j < normals; j++)
            n = ff_vec3_axpy(-ff_vec3_dot(n, basis[j]), basis[j], n);
        const double size = ff_vec3_norm(n);
        if (size > 1e-3 && normals < 3) {
            basis[normals] = ff_vec3_scale(1.0 / size, n);
            F = ff_vec3_axpy(-ff_vec3_dot(F, basis[normals]), basis[normals], F);
            normals++;
        }
    }
    if (bearer && bearer->a == i && force_contacts == 1 && bearer->mu > 0.0) {
        const ff_rigid_state robot = robot_of(x); /* what sliding explains is no second contact */
        const ff_vec3 v = ff_rigid_point_velocity(&robot, bearer->r);
        const ff_vec3 u = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(v, basis[0]), basis[0], v));
        const double along = -ff_vec3_dot(F, u), most = 1.5 * bearer->mu * ff_vec3_norm(x->force);
        F = ff_vec3_axpy(fmax(0.0, fmin(along, most)), u, F);
    }
    const double whole = ff_vec3_norm(x->force), size = ff_vec3_norm(F);
    const double least = fmax(5.0 * config->force_noise, force_least);
    /* a side force straight against the sliding is friction rather than a second contact */
    double sliding = 0.15;
    if (bearer && bearer->a == i) {
        const ff_rigid_state robot = robot_of(x);
        const ff_vec3 v = ff_rigid_point_velocity(&robot, bearer->r);
        const ff_vec3 u = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(v, basis[0]), basis[0], v));
        if (-ff_vec3_dot(F, u) > 0.9 * size || bearer->mu > 0.0)
            sliding = 0.4;
    }
    if (force_contacts == 0 ? size > least : size > fmax(least, sliding * whole) && !young) {
        if (force_contacts == 0 || ++state->side_hits[i] >= 3) {
            state->side_hits[i] = 0;
            const int b = partner(model, state, i, x->force, k);
            if (b < 0)
                begin(model, state, i, -1, false, ff_vec3_scale(1.0 / size, F), k);
            else if (config->plane_of[i] > config->plane_of[b])
                begin(model, state, b, i, false, ff_vec3_scale(-1.0 / size, F), k);
            else
                begin(model, state, i, b, false, ff_vec3_scale(1.0 / size, F), k);
            return;
        }
    } else
        state->side_hits[i] = 0;

    /* torque that no force at its point explains */
    if (bearer) {
        if (bearer->a != i || young)
            return;
        M = pure_torque(state, i, k, NULL);
        for (int c = 0; c < FF_FUSED_CONTACTS; c++)
            if (state->contact[c].open && state->contact[c].torque && state->contact[c].a == i)
                M = ff_vec3_axpy(-ff_vec3_dot(M, state->contact[c].n), state->contact[c].n, M);
    }
    /* the force's noise at the arm of the contact counts too, and so does the arm's own error */
    const double moment_noise =
        hypot(config->torque_noise, bearer ? ff_vec3_norm(bearer->r) * config->force_noise : 0.0);
    const double moment = ff_vec3_norm(M), moment_least = fmax(6.0 * moment_noise, torque_least);
    const double arm = bearer ? 0.05 * ff_vec3_norm(x->torque) + 0.005 * whole
                              : arm_longest * (whole + 3.0 * config->force_noise);
    if (moment > moment_least && moment > arm && moment > 0.15 * ff_vec3_norm(x->torque)) {
        if (++state->torque_hits[i] >= 3) {
            state->torque_hits[i] = 0;
            begin(model, state, i, -1, true, ff_vec3_scale(1.0 / moment, M), k);
        }
    } else
        state->torque_hits[i] = 0;
}

/* ---------------------------------------------------------------------------------------------- command --
 */

/* The group one delay ahead, with the surfaces in contact and those remembered; no residual. */
static void predict(const ff_fidelity_model *model, ff_fused_state *state, int body, uint64_t k,
                    ff_rigid_state *command) {
    const double T = model->integrate.cycle, ahead = state->delay[body];
    ff_rigid_state x[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];
    actor act[FF_FUSED_CONTACTS + FF_FUSED_WALLS];
    for (int i = 0; i < model->bodies; i++) {
        x[i] = at(state, i, k)->body;
        load[i] = at(state, i, k)->load;
    }
    if (!(ahead > 0.0)) {
        *command = x[body];
        return;
    }
    unsigned group = group_of(state, body);
    int acts = 0;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        const ff_fused_contact *o = &state->contact[c];
        if (o->open && (group >> o->a & 1u) && o->surface.valid)
            act[acts++] = (actor){.p = contact_place(o), .surface = &o->surface, .mu = o->mu};
    }
    for (int w = 0; w < FF_FUSED_WALLS; w++) {
        const ff_fused_wall *o = &state->wall[w];
        if (!o->valid || !((group >> o->a & 1u) || (o->b >= 0 && (group >> o->b & 1u))))
            continue;
        bool open = false;
        for (int c = 0; c < FF_FUSED_CONTACTS; c++)
            open |= state->contact[c].open && state->contact[c].wall == w;
        /* reached within the look-ahead, with room for the turn of the body? */
        const place p = {o->torque, o->a, o->b, o->n, o->r};
        double s, v;
        coordinate(&p, state->start[o->a], &x[o->a], o->b < 0 ? NULL : &x[o->b], &s, &v);
        if (open || s + (fabs(v) * 1.5 + 1e-3) * ahead < o->surface.x0)
            continue;
        /* a satellite that leaves is not hit again from inside: the wall's own contact has just ended */
        if (s > o->surface.x0 && v < 0.0)
            continue;
        group |= 1u << o->a | (o->b >= 0 ? 1u << o->b : 0u);
        act[acts++] = (actor){.p = p, .surface = &o->surface, .mu = o->mu};
    }
    flow w = {.model = model,
              .start = state->start,
              .bodies = group,
              .x = x,
              .load = load,
              .act = act,
              .acts = acts};
    double left = ahead;
    while (left > 1e-12) {
        const double piece = left > T ? T : left;
        advance(&w, piece);
        left -= piece;
    }
    *command = x[body];
}

/* ------------------------------------------------------------------------------------------------- cycle --
 */

static void store(const ff_fidelity_model *model, ff_fused_state *state, const ff_fidelity_in *in,
                  const ff_rigid_state *body, uint64_t k) {
    const double T = model->integrate.cycle, skew = model->config.fused.skew;
    for (int i = 0; i < model->bodies; i++) {
        ff_fused_sample *x = at(state, i, k);
        const ff_body_sample *y = &in->sample[i];
        x->body = body[i];
        x->T_r = y->T_wr;
        x->twist_r = y->twist_r;
        if (skew != 0.0) {
            ff_vec3 a = ff_vec3_zero(), dw = ff_vec3_zero();
            if (k > 0) { /* the last sample's twist is already moved by the skew: differences are the same */
                a = ff_vec3_scale(1.0 / T, ff_vec3_sub(y->twist_r.v, at(state, i, k - 1)->twist_r.v));
                dw = ff_vec3_scale(1.0 / T, ff_vec3_sub(y->twist_r.w, at(state, i, k - 1)->twist_r.w));
                a = ff_vec3_scale(T / (T + skew), a); /* v_k - (v_(k-1) - skew a) = (T + skew) a */
                dw = ff_vec3_scale(T / (T + skew), dw);
            }
            x->T_r.p = ff_vec3_axpy(0.5 * skew * skew, a, ff_vec3_axpy(-skew, y->twist_r.v, y->T_wr.p));
            x->T_r.q = ff_quat_mul(y->T_wr.q, ff_quat_exp(ff_vec3_scale(-skew, y->twist_r.w)));
            x->twist_r.v = ff_vec3_axpy(-skew, a, y->twist_r.v);
            x->twist_r.w = ff_vec3_axpy(-skew, dw, y->twist_r.w);
        }
        x->force = ff_quat_rotate(y->T_wr.q, y->f_b.f);
        x->torque = y->f_b.t;
        x->load = y->load;
        x->valid = y->valid;
    }
}

void ff__fused_step(const ff_fidelity_model *model, ff_fused_state *state, const ff_fidelity_in *in,
                    ff_rigid_state *body, ff_fidelity_out *out) {
    const ff_fused_config *config = &model->config.fused;
    const double T = model->integrate.cycle;
    const uint64_t k = state->k;
    double limit_now[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++)
        limit_now[i] = at(state, i, k)->limit; /* written by the advance of the last cycle */
    store(model, state, in, body, k);
    for (int i = 0; i < model->bodies; i++)
        at(state, i, k)->limit = limit_now[i];

    /* rows of the contacts that are open */
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (!x->open)
            continue;
        if (k - x->anchor >= LOOK_BACK) { /* the past is frozen: the replay starts later */
            if (k - x->row_from >= LOOK_BACK) {
                x->row_from = k - LOOK_BACK + 1;
                x->frozen = true;
                state->info.look_back++;
            }
            x->anchor = k - LOOK_BACK + 1;
        }
        take_row(state, x, k);
        x->use[k & MASK] = 1;
        x->residual[k & MASK] = 0.0;
        if (x->surface.valid && sample_ok(state, x, k)) {
            const double law = ff_profile_force(&x->surface, x->s[k & MASK], x->v[k & MASK]);
            if (law > 0.0 || x->f[k & MASK] > threshold(config, x))
                x->residual[k & MASK] = x->f[k & MASK] - law;
        }
        x->force_max = fmax(x->force_max, x->f[k & MASK]);
    }
    check_walls(model, state, k);
    unsigned fresh = 0; /* groups to replay from their anchor */
    unsigned open_before = 0;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        open_before |= state->contact[c].open ? 1u << c : 0u;
    for (int i = 0; i < model->bodies; i++)
        detect(model, state, i, k);
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        if (state->contact[c].open && !(open_before >> c & 1u))
            fresh |= group_of(state, state->contact[c].a);

    /* false alarms, estimates */
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (!x->open || !(open_before >> c & 1u))
            continue;
        const uint64_t age = k - x->detected;
        const double noise = noise_of(config, x);
        x->alarm_sum += x->f[k & MASK];
        if (noise > 0.0 && age >= 3 && age <= 16 && x->alarm_sum < 2.0 * noise * sqrt((double)age)) {
            cancel(model, state, x, k);
            continue;
        }
        if (k >= x->due) {
            estimate(model, state, x, k, false);
            x->due = k + (age < 48 ? 1 : 1 + age / 24);
            fresh |= group_of(state, x->a);
        }
    }
    /* replay: from the anchor after a new estimate, otherwise the last cycle with its measured end */
    unsigned seen = 0;
    for (int i = 0; i < model->bodies; i++) {
        const unsigned group = group_of(state, i);
        if ((seen >> i & 1u) || !touched(state, i))
            continue;
        seen |= group;
        const uint64_t anchor = group_anchor(state, group, k);
        const uint64_t from = fresh & group ? anchor : k > anchor ? k - 1 : k;
        replay(model, state, group, from, k);
    }
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (x->open && is_over(model, state, x, k))
            finish(model, state, x, k);
        else if (x->open) {
            fill_report(model, state, x, k, x->a, false);
            if (x->b >= 0) {
                const uint32_t contacts = state->report[x->b].contacts;
                fill_report(model, state, x, k, x->b, false);
                state->report[x->b].contacts = contacts;
            }
        }
    }
    for (int i = 0; i < model->bodies; i++) {
        track_delay(model, state, i, k, in->sample[i].carried);
        body[i] = at(state, i, k)->body;
        out->in_contact[i] = touched(state, i);
        out->f_b[i] = ff_wrench_zero();
        state->report[i].delay = state->delay[i];
        const ff_fused_report *r = &state->report[i];
        if (r->known && !r->torque && r->law == 0) {
            out->stiffness[i] = r->stiffness;
            out->damping[i] = r->damping;
            out->damping_sd[i] = r->damping_sd;
        }
    }

    /* command, then the satellites at t_(k+1) */
    for (int i = 0; i < model->bodies; i++)
        predict(model, state, i, k, &out->command[i]);
    out->has_command = true;
    for (int i = 0; i < model->bodies; i++) {
        out->lead[i] = state->delay[i];
    }
    seen = 0;
    for (int i = 0; i < model->bodies; i++) {
        if (seen >> i & 1u)
            continue;
        const unsigned group = touched(state, i) ? group_of(state, i) : 1u << i;
        seen |= group;
        ff_rigid_state x[FF_MAX_BODIES];
        ff_rigid_load load[FF_MAX_BODIES];
        actor act[FF_FUSED_CONTACTS];
        for (int b = 0; b < model->bodies; b++) {
            x[b] = at(state, b, k)->body;
            load[b] = at(state, b, k)->load;
        }
        flow w = {.model = model,
                  .start = state->start,
                  .bodies = group,
                  .x = x,
                  .load = load,
                  .act = act,
                  .acts = touched(state, i) ? actors(state, group, k, k, act) : 0,
                  .net = touched(state, i),
                  .limit = at(state, i, k)->limit};
        advance(&w, T);
        state->info.net += w.net_count;
        for (int b = 0; b < model->bodies; b++)
            if (group >> b & 1u) {
                out->next[b] = x[b];
                at(state, b, k + 1)->limit = w.limit;
            }
        /* what the loop books and the log shows: the mean wrench of the cycle */
        for (int c = 0; c < w.acts; c++) {
            const actor *z = &act[c];
            port q;
            open_port(model, &z->p, &body[z->p.a], z->p.b < 0 ? NULL : &body[z->p.b], z->side, &q);
            const double f = z->impulse / T;
            out->f_b[z->p.a].t = ff_vec3_axpy(f, q.moment_a, out->f_b[z->p.a].t);
            if (z->p.torque)
                continue;
            out->f_b[z->p.a].f =
                ff_vec3_axpy(f, ff_quat_unrotate(body[z->p.a].attitude, q.d_w), out->f_b[z->p.a].f);
            if (z->p.b >= 0) {
                out->f_b[z->p.b].f =
                    ff_vec3_axpy(-f, ff_quat_unrotate(body[z->p.b].attitude, q.d_w), out->f_b[z->p.b].f);
                out->f_b[z->p.b].t = ff_vec3_axpy(-f, q.moment_b, out->f_b[z->p.b].t);
            }
        }
    }
    for (int i = 0; i < model->bodies; i++) {
        out->has_next[i] = true;
        out->next_command[i] = out->next[i]; /* matters only where the delay is below a cycle */
        ff_integrate_coast(&model->body[i], state->delay[i], T, &out->next_command[i]);
    }
    out->fused = state->report;
    out->fused_info = &state->info;
    state->k++;
}
