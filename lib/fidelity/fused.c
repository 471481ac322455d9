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
    STEPS_MAX = 12,                 /* sub-steps of a cycle */
    WORK = 3000,      /* what estimates and replays may spend in a cycle, in units of about twenty
                         instructions; each goes on in the next cycle where it stopped */
    WORK_MORE = 3000, /* further for each pair of contacts at one time: each of the two is told
                         apart by what is known of the other, late knowledge goes astray */
    WORK_PLACE = 12,  /* a row of the normal and the contact point */
    WORK_ROW = 24,    /* a row along the normal */
    WORK_STEP = 60,   /* a sub-step of the replay, for each body; of a spinning body */
    WORK_SPIN = 125,
    FRICTION_ROWS = 48 /* rows behind the onset that the search for friction looks at */
};
/* An estimate goes through these; REST: none is under way. */
enum { REST, PLACE, TAKE, FIT, RIVAL, FRICTION, TAKE_AGAIN, FIT_AGAIN, COMMIT, SETTLE };
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
        state->contact[c].open = state->contact[c].settled = state->contact[c].closing = false;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        state->replay[i].active = false;
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

/* Sub-steps of T: at most STEPS_MAX for each cycle in it. */
static int steps_for(const flow *w, double T) {
    const double most = STEPS_MAX * fmax(1.0, ceil(T / w->model->integrate.cycle - 1e-9));
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
    return n < 1.0 ? 1 : n > most ? (int)most : (int)n;
}

/* Advances the group over T; at most 2 crossings split a sub-step. Returns the sub-steps. */
static int advance(flow *w, double T) {
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
    return n;
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

/* From sample `from` towards k while there is work left; overwrites the satellites in between. Returns how
 * far it came. */
static uint64_t replay(const ff_fidelity_model *model, ff_fused_state *state, unsigned group, uint64_t from,
                       uint64_t k, int *work) {
    const double T = model->integrate.cycle;
    ff_rigid_state x[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];
    actor act[FF_FUSED_CONTACTS];
    int first = 0, cost = 0;
    while (!(group >> first & 1u))
        first++;
    for (int i = 0; i < model->bodies; i++) {
        x[i] = at(state, i, from)->body;
        if (group >> i & 1u)
            cost += ff_vec3_dot(x[i].omega, x[i].omega) > 0.0 ? WORK_SPIN : WORK_STEP;
    }
    flow w = {.model = model,
              .start = state->start,
              .bodies = group,
              .x = x,
              .load = load,
              .act = act,
              .net = true,
              .limit = at(state, first, from)->limit};
    uint64_t i = from;
    for (; i<k && * work> 0; i++) {
        for (int b = 0; b < model->bodies; b++)
            load[b] = at(state, b, i)->load;
        w.acts = actors(state, group, i, i + 1, act);
        *work -= cost * advance(&w, T);
        for (int b = 0; b < model->bodies; b++)
            if (group >> b & 1u) {
                at(state, b, i + 1)->body = x[b];
                at(state, b, i + 1)->limit = w.limit;
            }
    }
    state->info.net += w.net_count;
    return i;
}

/* Asks for a recomputation of these bodies from sample `from`: joined with those under way that share one. */
static void replay_from(ff_fused_state *state, unsigned bodies, uint64_t from) {
    ff_fused_replay *slot = NULL;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < FF_MAX_BODIES; i++) {
            ff_fused_replay *r = &state->replay[i];
            if (!r->active || !(r->bodies & bodies))
                continue;
            bodies |= r->bodies;
            from = r->at < from ? r->at : from;
            r->active = false;
        }
    for (int i = 0; i < FF_MAX_BODIES && !slot; i++)
        if (!state->replay[i].active)
            slot = &state->replay[i];
    if (slot)
        *slot = (ff_fused_replay){true, bodies, from};
}

static void replay_some(const ff_fidelity_model *model, ff_fused_state *state, uint64_t k, int *work) {
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff_fused_replay *r = &state->replay[i];
        if (!r->active || *work <= 0)
            continue;
        if (k - r->at > FF_FUSED_RING - 16) { /* it has left the history: the satellite stays as it is */
            r->active = false;
            continue;
        }
        r->at = replay(model, state, r->bodies, r->at, k, work);
        r->active = r->at < k;
    }
}

/* How far a replay of these bodies has come; 0: none is under way. */
static uint64_t replay_reached(const ff_fused_state *state, unsigned bodies) {
    uint64_t at = 0;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (state->replay[i].active && (state->replay[i].bodies & bodies) && state->replay[i].at > at)
            at = state->replay[i].at;
    return at;
}

static bool replaying(const ff_fused_state *state, unsigned bodies) {
    for (int i = 0; i < FF_MAX_BODIES; i++)
        if (state->replay[i].active && (state->replay[i].bodies & bodies))
            return true;
    return false;
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

/* Both act, or acted, at one time. */
static bool beside(const ff_fused_contact *o, const ff_fused_contact *c) {
    return o != c && (o->open || o->settled) && !(o->settled && o->end <= c->anchor) &&
           !(c->settled && c->end <= o->anchor);
}

/* No other contact acts on its bodies. */
static bool lone(const ff_fused_state *state, const ff_fused_contact *c) {
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (beside(o, c) && (o->a == c->a || (c->b >= 0 && o->a == c->b) || o->b == c->a))
            return false;
    }
    return true;
}

/* One pass over the rows: sum of f (F + mu f u), u the direction of sliding across n, or `along` where that
 * is given; and the sum of f^2 v. */
static void lean_back(const ff_fused_config *config, ff_fused_state *state, const ff_fused_contact *c,
                      uint64_t k, double mu, ff_vec3 n, const ff_vec3 *along, uint64_t stride,
                      ff_vec3 *normal, ff_vec3 *path) {
    const double noise = noise_of(config, c);
    *normal = *path = ff_vec3_zero();
    for (uint64_t i = c->row_from; i <= k; i += stride) {
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
        const ff_vec3 u = along ? *along : ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, v), n, v));
        *normal = ff_vec3_axpy(f, ff_vec3_axpy(mu * f, u, F), *normal);
        *path = ff_vec3_axpy(f * f, v, *path);
    }
}

/* Normal of a surface with friction mu: the force leans back against the sliding u, F = f (n - mu u), so n is
 * along the sum of F + mu f u. u is across n itself. A steep impact slides so little that the lean alone
 * turns u round on the way in; over way in and out the integral of f^2 dx shows the sliding, as that of the
 * normal part cancels (exactly on an elastic surface). From there on each row has its own u. */
static ff_vec3 normal_with_friction(const ff_fused_config *config, ff_fused_state *state,
                                    const ff_fused_contact *c, uint64_t k, double mu, ff_vec3 n,
                                    uint64_t stride) {
    ff_vec3 normal, path, u = ff_vec3_zero();
    for (int pass = 0; pass < (mu > 0.0 ? 6 : 2); pass++) {
        lean_back(config, state, c, k, pass ? mu : 0.0, n, pass < 3 ? &u : NULL, stride, &normal, &path);
        const double size = ff_vec3_norm(normal);
        if (size > 0.0)
            n = ff_vec3_scale(1.0 / size, normal);
        u = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, path), n, path));
    }
    return n;
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

/* Rows that say something of this contact's direction and point alone. */
typedef struct reach {
    uint64_t last, last_r; /* rows shared with a later contact say nothing of this one */
    bool earlier, turning; /* an earlier contact acts beside it: a force, a torque */
} reach;

static reach reach_of(const ff_fused_state *state, const ff_fused_contact *c, uint64_t k) {
    reach z = {k, k, false, false};
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (!beside(o, c) || o->a != c->a)
            continue;
        if (c->torque) {
            if (o->torque && !is_earlier(o, c) && o->anchor < z.last)
                z.last = o->anchor;
        } else if (o->torque) {
            if (o->anchor > c->anchor)
                z.last_r = o->anchor < z.last_r ? o->anchor : z.last_r;
            else
                z.turning = true;
        } else if (is_earlier(o, c))
            z.earlier = true;
        else if (o->anchor < z.last)
            z.last = o->anchor;
    }
    z.last_r = z.last < z.last_r ? z.last : z.last_r;
    return z;
}

/* The force, or torque, of row i that is this contact's alone, in the axes of its normal. */
static ff_vec3 own_part(ff_fused_state *state, const ff_fused_contact *c, uint64_t i) {
    ff_vec3 F = c->torque ? pure_torque(state, c->a, i, c) : measured_force(state, c->a, c->b, i);
    /* next to an earlier contact only the part across its normal is known to be ours */
    for (int o = 0; o < FF_FUSED_CONTACTS; o++) {
        const ff_fused_contact *e = &state->contact[o];
        if (e == c || e->torque != c->torque || !acts_at(e, c->a, i) || !is_earlier(e, c))
            continue;
        const ff_vec3 m = e->b < 0 || e->torque ? e->n : ff_quat_rotate(at(state, e->b, i)->T_r.q, e->n);
        F = ff_vec3_axpy(-ff_vec3_dot(F, m), m, F);
    }
    return c->b >= 0 && !c->torque ? ff_quat_unrotate(at(state, c->b, i)->T_r.q, F) : F;
}

static void add_square(double z[6], ff_vec3 F) {
    z[0] += F.x * F.x;
    z[1] += F.x * F.y;
    z[2] += F.x * F.z;
    z[3] += F.y * F.y;
    z[4] += F.y * F.z;
    z[5] += F.z * F.z;
}

/* One row of the sums for normal and contact point. */
static void add_place(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c,
                      const reach *z, uint64_t i) {
    if (!sample_ok(state, c, i))
        return;
    const double noise = noise_of(config, c);
    if (i <= z->last) {
        const ff_vec3 F = own_part(state, c, i);
        if (ff_vec3_dot(c->n, F) > 2.0 * noise)
            add_square(c->sum_n, F);
    }
    if (c->torque || i > z->last_r)
        return;
    const ff_fused_sample *x = at(state, c->a, i);
    const ff_vec3 F = ff_quat_unrotate(x->T_r.q, x->force);
    if (!(ff_vec3_dot(F, F) > 4.0 * noise * noise))
        return;
    add_square(c->sum_r, F);
    c->sum_y = ff_vec3_add(c->sum_y, ff_vec3_cross(F, x->torque));
}

/* Normal: 3 iterations of n <- unit(sum (n.F) F), rows with n.F > 2 sigma; a known wall adds weight.
 * Contact point: least squares of M = r x F. */
static void find_place(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c,
                       const reach *z, uint64_t k) {
    const ff_fused_wall *wall = c->wall >= 0 && !c->torque ? &state->wall[c->wall] : NULL;
    const double *S = c->sum_n, *R = c->sum_r;
    ff_vec3 n = c->n;
    c->n_new = c->n_force = c->n;
    c->r_new = c->r;
    if (z->last > c->detected + 2) {
        for (int pass = 0; pass < 3; pass++) {
            ff_vec3 sum = wall ? ff_vec3_scale(10.0 * c->force_max * c->force_max, wall->n) : ff_vec3_zero();
            sum.x += S[0] * n.x + S[1] * n.y + S[2] * n.z;
            sum.y += S[1] * n.x + S[3] * n.y + S[4] * n.z;
            sum.z += S[2] * n.x + S[4] * n.y + S[5] * n.z;
            const double size = ff_vec3_norm(sum);
            if (size > 0.0)
                n = ff_vec3_scale(1.0 / size, sum);
        }
        c->n_force = n;
        if (c->mu > 0.0 && c->closing)
            n = c->n; /* sought below */
        else if (c->mu > 0.0)
            n = normal_with_friction(config, state, c, k, c->mu, n, 1 + (k - c->row_from) / 96);
        c->n_new = n;
    }
    if (z->turning || z->earlier || c->torque)
        return;
    const double spread = fmax(fmax(config->torque_noise, 1e-3 * c->torque_max), 1e-9);
    const double weight = wall ? spread * spread / (0.002 * 0.002) : spread * spread;
    const double trace = R[0] + R[3] + R[5];
    /* the weak prior along n is many orders below the rest: a touch on the diagonal keeps the factor */
    const double ridge = weight + 1e-12 * (2.0 * trace + 3.0 * weight);
    double a[9] = {trace - R[0] + ridge, -R[1], -R[2], -R[1], trace - R[3] + ridge, -R[4], -R[2], -R[4],
                   trace - R[5] + ridge};
    const ff_vec3 y = wall ? ff_vec3_axpy(weight, wall->r, c->sum_y) : c->sum_y;
    double b[3] = {y.x, y.y, y.z};
    if (ff_cholesky_factor(3, a) == FF_OK) {
        ff_cholesky_solve(3, a, b);
        const ff_vec3 r = {{b[0], b[1], b[2]}};
        if (ff_vec3_finite(r) && ff_vec3_norm(r) < 1e3)
            c->r_new = r;
    }
}

/* The rows of an estimate side by side, as the profile wants them. */
typedef struct table {
    double s[FF_FUSED_RING], v[FF_FUSED_RING], f[FF_FUSED_RING];
    unsigned char use[FF_FUSED_RING];
} table;

static void fill_table(const ff_fidelity_model *model, const ff_fused_contact *c, table *t,
                       ff_profile_in *in) {
    const ff_fused_config *config = &model->config.fused;
    int rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i++, rows++) {
        const size_t q = i & MASK;
        t->s[rows] = c->s[q];
        t->v[rows] = c->v[q];
        t->f[rows] = c->f[q];
        t->use[rows] = c->use[q] == 1;
    }
    *in = (ff_profile_in){.rows = rows,
                          .s = t->s,
                          .v = t->v,
                          .f = t->f,
                          .use = t->use,
                          .lo = c->s[c->row_from & MASK],
                          .hi = c->s[c->detected & MASK],
                          .noise = fmax(noise_of(config, c), fmax(1e-3 * c->force_max, 1e-9)),
                          .speed = c->speed,
                          .prior_k = c->torque ? 0.0 : config->stiffness};
    if (!(in->hi > in->lo))
        in->lo = in->hi - c->speed * model->integrate.cycle;
}

/* Which rows take part: c->use is 1, 0 (over, or no sample) or 2 (an outlier). With the last surface: both
 * model and force must say that the contact is over. A wrong model alone must not discard the data that
 * contradict it. */
static void choose_rows(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c) {
    const double noise = noise_of(config, c), gate = fmax(8.0 * noise, 0.2 * c->peak);
    const double over = fmax(4.0 * noise, 0.05 * c->force_max);
    /* A damped surface lets go before the robot has left it. A surface that takes those rows for force keeps
     * them: the settlement begins without any weak force on the way out, and judges again with what it found.
     */
    const bool afresh = c->closing && c->passes > 0;
    const double weak = fmax(4.0 * noise, 0.15 * c->force_max);
    const bool outliers = c->surface.valid && c->until - c->detected >= 6;
    int bad = 0, contact_rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i++) {
        const size_t q = i & MASK;
        c->use[q] = sample_ok(state, c, i);
        if (!c->surface.valid)
            continue;
        const double law = ff_profile_force(&c->surface, c->s[q], c->v[q]);
        if (c->v[q] < 0.0 && ((law < 0.02 * c->force_max && c->f[q] < over) || (afresh && c->f[q] < weak)))
            c->use[q] = 0;
        contact_rows += law > 0.0;
        if (outliers && c->use[q] && fabs(c->f[q] - law) > gate) {
            c->use[q] = 2;
            bad++;
        }
    }
    if (bad > 0 && 8 * bad > contact_rows) /* too many: it is the surface that is wrong */
        for (uint64_t i = c->row_from; i <= c->until; i++)
            c->use[i & MASK] = c->use[i & MASK] ? 1 : 0;
}

/* Rows along n_new, r_new; the largest force and the median-of-three peak on the way. */
static void take_rows(ff_fused_state *state, ff_fused_contact *c, uint64_t k, int *work) {
    const ff_vec3 n = c->n, r = c->r;
    c->n = c->n_new;
    c->r = c->r_new;
    if (c->row < c->row_from)
        c->row = c->row_from;
    for (; c->row <= k && *work > 0; c->row++, *work -= WORK_ROW) {
        take_row(state, c, c->row);
        const double f = c->f[c->row & MASK];
        if (c->row >= c->row_from + 2) {
            const double hi = fmax(c->f_last[0], c->f_last[1]), lo = fmin(c->f_last[0], c->f_last[1]);
            c->peak = fmax(c->peak, fmax(lo, fmin(hi, f)));
        }
        c->f_last[0] = c->f_last[1];
        c->f_last[1] = f;
        if (sample_ok(state, c, c->row)) {
            c->force_new = fmax(c->force_new, f);
            c->torque_new = fmax(c->torque_new, ff_vec3_norm(at(state, c->a, c->row)->torque));
        }
    }
    c->n = n;
    c->r = r;
}

static void begin_rows(ff_fused_contact *c, int stage) {
    c->stage = stage;
    c->row = c->row_from;
    c->force_new = c->torque_new = c->peak = 0.0;
    c->f_last[0] = c->f_last[1] = 0.0;
}

static void begin_fit(const ff_profile_in *in, ff_fused_contact *c, int stage) {
    c->stage = stage;
    ff_profile_begin(in, &c->search);
}

/* Which other laws to try after the first fit. One at each estimate, rounds at growing distance; a long
 * contact has tried them all several times, a short one does so at its end. */
static void choose_rivals(ff_fused_contact *c, uint64_t k, bool final) {
    const uint64_t age = k - c->detected;
    c->laws = 0;
    if (k >= c->law_due && age >= 8 && c->law_trial == 0) {
        c->law_trial = 1;
        c->law_due = k + 4 + age / 2;
    }
    if (!c->fit.valid || (final && c->passes > 0))
        return;
    if (final) {
        c->laws = 0xeu;
        c->law_trial = 0;
    } else if (c->law_trial) {
        c->laws = 1u << c->law_trial;
        c->law_trial = (c->law_trial + 1) % FF_PROFILE_LAWS;
    }
    c->laws &= ~(1u << c->fit.law);
    if (c->fit.law == 0 && c->fit.J <= 20.0) /* no rival can reach half of it less ten */
        c->laws = 0;
    c->zero = c->fit;
    if (c->laws && c->fit.law != 0)
        c->laws |= 1u; /* the first law again, to compare with */
}

/* The next part of a trial of another law. True when all are done. */
static bool try_rival(const ff_profile_in *in, ff_fused_state *state, ff_fused_contact *c, int *work) {
    if (!c->laws)
        return true;
    int law = 0;
    while (!(c->laws >> law & 1u))
        law++;
    ff_profile_in coarse = *in; /* enough to tell the laws apart; the chosen one gets all its rows */
    if (law)
        coarse.thin = 48;
    c->rival = law ? c->surface : c->zero;
    const ff_profile_progress progress = ff_profile_continue(&coarse, law, &c->search, work, &c->rival);
    if (progress == FF_PROFILE_MORE)
        return false;
    c->laws &= ~(1u << law);
    ff_profile_begin(in, &c->search);
    if (progress == FF_PROFILE_DONE && law == 0)
        c->zero = c->rival;
    else if (progress == FF_PROFILE_DONE && c->rival.J < 0.5 * c->zero.J - 10.0 &&
             (c->fit.law == 0 || c->rival.J < c->fit.J)) {
        c->fit = c->rival;
        state->info.law_switches++;
    } else if (law == 0)
        c->laws = 0; /* nothing to compare with */
    return c->laws == 0;
}

/* Normal and rows of a trial friction; rows behind the onset thinned out. */
static void friction_table(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                           double mu, table *t, ff_profile_in *in, ff_vec3 *n) {
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    const place p_0 = contact_place(c);
    *n = mu == c->mu && mu > 0.0
             ? c->n_new
             : normal_with_friction(&model->config.fused, state, c, c->until, mu, c->n_new, stride);
    place p = p_0;
    p.n = *n;
    p.r = c->r_new;
    fill_table(model, c, t, in);
    int rows = 0;
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride, rows++) {
        const ff_rigid_state a = robot_of(at(state, c->a, i));
        const ff_rigid_state b = c->b < 0 ? at_rest() : robot_of(at(state, c->b, i));
        coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &t->s[rows], &t->v[rows]);
        const ff_vec3 n_w = c->b < 0 ? *n : ff_quat_rotate(b.attitude, *n);
        t->f[rows] = ff_vec3_dot(n_w, measured_force(state, c->a, c->b, i));
        t->use[rows] = c->use[i & MASK] == 1;
        if (i == c->detected)
            in->hi = t->s[rows];
    }
    in->rows = rows;
    in->lo = t->s[0];
}

/* One trial friction; true where it explains the contact better than the best so far. */
static bool try_friction(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                         double mu, int law, ff_profile *fit, ff_vec3 *n, int *work) {
    table t;
    ff_profile_in in;
    friction_table(model, state, c, mu, &t, &in, n);
    *work -= in.rows * WORK_ROW + 2 * in.rows * WORK_PLACE;
    *fit = c->fit;
    ff_profile_search search;
    ff_profile_begin(&in, &search);
    int left = INT32_MAX;
    const bool done = in.hi > in.lo && ff_profile_continue(&in, law, &search, &left, fit) == FF_PROFILE_DONE;
    *work -= INT32_MAX - left;
    return done && (c->mu_best < 0.0 || fit->J < c->rival.J);
}

static void keep_friction(ff_fused_contact *c, double mu, const ff_profile *fit, ff_vec3 n) {
    c->rival = *fit;
    c->mu_best = mu;
    c->n_best = n;
}

/* Is a friction that lowers the misfit from `without` to `with` more than a chance? */
static bool significant(const ff_fused_config *config, const ff_fused_contact *c, double without,
                        double with) {
    return noise_of(config, c) > 1e-3 * c->force_max ? with < without - 25.0 : with < 0.2 * without;
}

/* The search for mu: the friction whose normal lets one law explain the whole contact. One trial in a call;
 * true when the step is done. During the contact, from where it stands: mu kept, raised, lowered. */
static bool step_friction(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                          int *work) {
    ff_profile fit;
    ff_vec3 n;
    if (c->mu_side == 0)
        c->mu_best = -1.0;
    const double wish = c->mu + (c->mu_side == 1 ? c->mu_step : c->mu_side == 2 ? -c->mu_step : 0.0);
    const double mu = fmin(1.0, fmax(0.0, wish));
    if ((c->mu_side == 0 || mu != c->mu) && try_friction(model, state, c, mu, c->fit.law, &fit, &n, work) &&
        (c->mu_side == 0 || c->mu > 0.0 || significant(&model->config.fused, c, c->rival.J, fit.J)))
        keep_friction(c, mu, &fit, n);
    c->mu_side = (c->mu_side + 1) % 3;
    if (c->mu_side)
        return false;
    if (c->mu_best < 0.0)
        c->mu_best = c->mu;
    if (c->mu_best == c->mu)
        c->mu_step = fmax(0.5 * c->mu_step, 5e-4);
    return true;
}

/* How well a trial normal explains force and motion: the law along it, and across it friction against the
 * sliding, whose mu comes out. Force and motion along n and across n are all that was measured. */
static double judge_normal(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                           ff_vec3 n, bool friction, double *mu, ff_profile *fit, int *work) {
    table t;
    ff_profile_in in;
    const uint64_t stride = 1 + (c->until - c->detected) / FRICTION_ROWS;
    const place p = {c->torque, c->a, c->b, n, c->r_new};
    fill_table(model, c, &t, &in);
    ff_vec3 across[FF_FUSED_RING], slide[FF_FUSED_RING];
    int rows = 0;
    double top = 0.0, bottom = 0.0, J = 0.0;
    for (uint64_t i = c->row_from; i <= c->until; i += i < c->detected ? 1 : stride, rows++) {
        const ff_rigid_state a = robot_of(at(state, c->a, i));
        const ff_rigid_state b = c->b < 0 ? at_rest() : robot_of(at(state, c->b, i));
        coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &t.s[rows], &t.v[rows]);
        ff_vec3 F = measured_force(state, c->a, c->b, i), v = ff_rigid_point_velocity(&a, c->r_new);
        if (c->b >= 0) {
            const ff_vec3 tip = ff_pose_apply(ff_rigid_pose(&a), c->r_new);
            const ff_vec3 tip_b = ff_quat_unrotate(b.attitude, ff_vec3_sub(tip, b.position));
            v = ff_quat_unrotate(b.attitude, ff_vec3_sub(v, ff_rigid_point_velocity(&b, tip_b)));
            F = ff_quat_unrotate(b.attitude, F);
        }
        const double f = ff_vec3_dot(n, F);
        t.f[rows] = f;
        t.use[rows] = c->use[i & MASK] == 1;
        across[rows] = ff_vec3_axpy(-f, n, F);
        slide[rows] = ff_vec3_unit(ff_vec3_axpy(-ff_vec3_dot(n, v), n, v));
        if (t.use[rows] && f > 0.0) {
            top -= f * ff_vec3_dot(slide[rows], across[rows]);
            bottom += f * f;
        }
        if (i == c->detected)
            in.hi = t.s[rows];
    }
    in.rows = rows;
    in.lo = t.s[0];
    *mu = friction && bottom > 0.0 ? fmin(1.0, fmax(0.0, top / bottom)) : 0.0;
    for (int i = 0; i < rows; i++)
        if (t.use[i]) {
            const ff_vec3 left = ff_vec3_axpy(*mu * fmax(0.0, t.f[i]), slide[i], across[i]);
            J += ff_vec3_dot(left, left);
        }
    J /= in.noise * in.noise;
    *fit = c->fit;
    ff_profile_search search;
    ff_profile_begin(&in, &search);
    int left = INT32_MAX;
    *work -= rows * WORK_ROW;
    const bool done =
        in.hi > in.lo && ff_profile_continue(&in, c->fit.law, &search, &left, fit) == FF_PROFILE_DONE;
    *work -= INT32_MAX - left;
    return done ? J + fit->J : FF_INF;
}

static ff_vec3 tilted(ff_vec3 n, const double x[2]) {
    const ff_vec3 e1 = ff_vec3_unit(fabs(n.x) < 0.6 ? ff_vec3_cross(n, ff_vec3_make(1, 0, 0))
                                                    : ff_vec3_cross(n, ff_vec3_make(0, 1, 0)));
    return ff_vec3_unit(ff_vec3_axpy(x[0], e1, ff_vec3_axpy(x[1], ff_vec3_cross(n, e1), n)));
}

static void open_simplex(ff_fused_simplex *z, double size, double turn) {
    for (int i = 0; i < 3; i++) {
        z->x[i][0] = size * cos(2.0943951 * i + turn);
        z->x[i][1] = size * sin(2.0943951 * i + turn);
    }
    z->kind = 0;
}

/* At its end the normal itself is sought, by the simplex of Nelder and Mead over its two tilts: with the
 * slope mu v_n/v_slide above one no iteration of mu and n in turn converges. One trial in a call. */
static bool settle_friction(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                            int *work) {
    enum { TRIALS = 60 };
    ff_fused_simplex *z = &c->simplex;
    ff_profile fit;
    double mu;
    if (c->mu_side == 0) { /* the force's own direction, no friction */
        z->middle = c->n_new;
        c->mu_without = judge_normal(model, state, c, c->n_force, false, &mu, &fit, work);
        keep_friction(c, 0.0, &fit, c->n_force);
        z->least = FF_INF;
        z->again = false;
        open_simplex(z, c->mu > 0.0 ? 0.02 : 0.08, 0.4);
        c->mu_side = 1;
        return false;
    }
    /* trial point: the corners first, then 3 mirrored, 4 beyond it, 5 drawn in, 6 and 7 all drawn in */
    double *x = z->kind < 3 ? z->x[z->kind] : z->kind < 6 ? z->trial : z->x[z->kind - 5];
    const ff_vec3 n = tilted(z->middle, x);
    const double J = judge_normal(model, state, c, n, true, &mu, &fit, work);
    if (J < z->least) {
        z->least = J;
        keep_friction(c, mu, &fit, n);
    }
    bool next = false; /* order the corners and mirror the worst */
    const double mean[2] = {0.5 * (z->x[0][0] + z->x[1][0]), 0.5 * (z->x[0][1] + z->x[1][1])};
    if (z->kind < 3) {
        z->J[z->kind] = J;
        next = ++z->kind == 3;
    } else if (z->kind == 3) {
        z->J_trial = J;
        z->first[0] = x[0];
        z->first[1] = x[1];
        const double out = J < z->J[0] ? 2.0 : J < z->J[2] ? 0.5 : -0.5;
        if (J >= z->J[0] && J < z->J[1]) {
            z->x[2][0] = x[0];
            z->x[2][1] = x[1];
            z->J[2] = J;
            next = true;
        } else {
            for (int q = 0; q < 2; q++)
                z->trial[q] = mean[q] + out * (mean[q] - z->x[2][q]);
            z->kind = J < z->J[0] ? 4 : 5;
        }
    } else if (z->kind < 6) {
        const bool better = J < (z->kind == 4 ? z->J_trial : fmin(z->J[2], z->J_trial));
        if (better || z->kind == 4) {
            for (int q = 0; q < 2; q++)
                z->x[2][q] = better ? x[q] : z->first[q];
            z->J[2] = better ? J : z->J_trial;
            next = true;
        } else {
            for (int i = 1; i < 3; i++)
                for (int q = 0; q < 2; q++)
                    z->x[i][q] = 0.5 * (z->x[i][q] + z->x[0][q]);
            z->kind = 6;
        }
    } else {
        z->J[z->kind - 5] = J;
        next = ++z->kind == 8;
    }
    if (next) {
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2 - i; j++)
                if (!(z->J[j] <= z->J[j + 1])) {
                    const double J_j = z->J[j], x_j[2] = {z->x[j][0], z->x[j][1]};
                    z->J[j] = z->J[j + 1];
                    z->x[j][0] = z->x[j + 1][0];
                    z->x[j][1] = z->x[j + 1][1];
                    z->J[j + 1] = J_j;
                    z->x[j + 1][0] = x_j[0];
                    z->x[j + 1][1] = x_j[1];
                }
        for (int q = 0; q < 2; q++)
            z->trial[q] = z->x[0][q] + z->x[1][q] - z->x[2][q];
        z->kind = 3;
    }
    const double size = fabs(z->x[2][0] - z->x[0][0]) + fabs(z->x[2][1] - z->x[0][1]);
    if (++c->mu_side < TRIALS && !(next && size < 2e-5) && c->mu_side > 3)
        return false;
    if (c->mu_side <= 3)
        return false;
    /* the misfit has a second valley where the sliding turns round: once more, wider and the other way */
    const double rows = fmin((double)(c->until - c->row_from), FRICTION_ROWS);
    if (!z->again &&
        z->least > (noise_of(&model->config.fused, c) > 1e-3 * c->force_max ? 4.0 : 0.05) * rows) {
        z->again = true;
        z->middle = c->n_force;
        open_simplex(z, 0.16, 3.6);
        c->mu_side = 1;
        return false;
    }
    c->mu_side = 0;
    if (!significant(&model->config.fused, c, c->mu_without, z->least)) {
        c->mu_best = 0.0;
        c->n_best = c->n_force;
    }
    return true;
}

/* The new estimate takes effect: rows and residuals. */
static void commit(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c, uint64_t last) {
    c->n = c->n_new;
    c->r = c->r_new;
    c->surface = c->fit;
    for (uint64_t i = c->until + 1; i <= last; i++) {
        take_row(state, c, i);
        c->use[i & MASK] = 1;
    }
    if (!c->surface.valid)
        return;
    state->info.bounds += c->surface.k_bound;
    const double least = threshold(config, c);
    for (uint64_t i = c->row_from; i <= last; i++) {
        const size_t q = i & MASK;
        const double law = ff_profile_force(&c->surface, c->s[q], c->v[q]);
        c->residual[q] =
            (law > 0.0 || c->f[q] > least) && c->use[q] != 2 && sample_ok(state, c, i) ? c->f[q] - law : 0.0;
    }
}

/* One estimate from all rows up to `last`: place, surface, residuals; then the replay is asked for. Bounded
 * work in a cycle: it stops where the work ends and goes on in the next one. */
static void estimate(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                     uint64_t last, uint64_t k, int *work) {
    const ff_fused_config *config = &model->config.fused;
    const double noise = noise_of(config, c);
    if (c->stage == PLACE && c->frozen && c->surface.valid) {
        /* the onset has left the history: what it taught stands */
        c->stage = c->closing ? SETTLE : REST;
        return;
    }
    if (c->stage == PLACE) {
        const reach z = reach_of(state, c, last);
        if (c->row <= c->row_from) {
            c->row = c->row_from;
            for (int i = 0; i < 6; i++)
                c->sum_n[i] = c->sum_r[i] = 0.0;
            c->sum_y = ff_vec3_zero();
        }
        for (; c->row <= last && *work > 0; c->row++, *work -= WORK_PLACE)
            add_place(config, state, c, &z, c->row);
        if (c->row <= last)
            return;
        find_place(config, state, c, &z, last);
        begin_rows(c, TAKE);
    }
    if (c->stage == TAKE || c->stage == TAKE_AGAIN) {
        take_rows(state, c, c->stage == TAKE ? last : c->until, work);
        if (c->row <= (c->stage == TAKE ? last : c->until))
            return;
        c->until = c->row - 1;
        c->force_max = c->force_new;
        c->torque_max = c->torque_new;
        const bool again = c->stage == TAKE_AGAIN;
        if (!again)
            choose_rows(config, state, c);
        *work -= 2 * (int)(c->until - c->row_from);
        c->fit = again ? c->rival : c->surface;
        if (c->closing && c->passes > 0 && !again)
            c->fit.law = 0; /* friction may have feigned another law */
        c->have_fit = false;
        c->mu_side = 0;
        c->mu_try = again ? c->mu_try : 0;
        if (config->random_estimates) {
            random_surface(state, c, c->s[c->row_from & MASK], c->s[c->detected & MASK], &c->fit);
            c->stage = COMMIT;
        } else
            c->stage = again ? FIT_AGAIN : FIT;
        c->search.level = -1;
    }
    const bool fits = c->stage == FIT || c->stage == FIT_AGAIN || c->stage == RIVAL;
    if (fits) {
        if (*work <= 0)
            return;
        table t;
        ff_profile_in in;
        fill_table(model, c, &t, &in);
        *work -= (int)(c->until - c->row_from) / 2;
        if (c->stage != RIVAL) {
            if (c->search.level < 0)
                ff_profile_begin(&in, &c->search);
            const int law = c->fit.valid ? c->fit.law : 0;
            if (ff_profile_continue(&in, law, &c->search, work, &c->fit) == FF_PROFILE_MORE)
                return;
            if (c->stage == FIT) {
                choose_rivals(c, c->until, c->closing);
                begin_fit(&in, c, RIVAL);
            } else
                c->stage = FRICTION;
        }
        if (c->stage == RIVAL) {
            while (*work > 0 && c->laws)
                try_rival(&in, state, c, work);
            if (c->laws)
                return;
            c->stage = FRICTION;
        }
    }
    if (c->stage == FRICTION) {
        const uint64_t age = c->until - c->detected;
        const double rows = (double)(c->until - c->row_from + 1);
        const bool may = c->fit.valid && config->random_estimates == 0 && !c->torque && age >= 8 &&
                         c->slides && lone(state, c) && c->mu_try == 0 &&
                         ((c->closing && noise > 1e-3 * c->force_max) || c->mu > 0.0 ||
                          c->fit.J > (noise > 1e-3 * c->force_max ? 4.0 : 0.004) * rows);
        while (may) {
            if (*work <= 0)
                return;
            if (!(c->closing ? settle_friction(model, state, c, work) : step_friction(model, state, c, work)))
                continue;
            c->mu_try++;
            if (c->mu_best != c->mu || c->closing) { /* its rows and its surface */
                c->mu = c->mu_best;
                c->n_new = c->n_best;
                begin_rows(c, TAKE_AGAIN);
                return;
            }
            break;
        }
        c->stage = COMMIT;
    }
    if (c->stage == COMMIT) {
        /* a replay that is past the onset has begun with the last estimate and must end with it, unless there
         * is little to repeat */
        if (*work <= 0 || (k - c->anchor > 24 && replay_reached(state, group_of(state, c->a)) > c->anchor))
            return;
        commit(config, state, c, last);
        *work -= 3 * (int)(last - c->row_from);
        if (c->closing && c->passes > 0) {
            c->passes--;
            c->stage = PLACE;
            c->row = c->row_from;
            return;
        }
        replay_from(state, group_of(state, c->a), c->anchor);
        c->stage = c->closing ? SETTLE : REST;
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
    c->settled = c->frozen = c->closing = false;
    c->stage = REST;
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
        b >= 0 || ff_vec3_norm(ff_vec3_axpy(-ff_vec3_dot(n, tip_speed), n, tip_speed)) > 1e-4 * c->speed;
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
    const uint64_t stride = 1 + (k - c->anchor) / 128; /* a long contact need not be counted to one */
    for (uint64_t i = c->anchor; ended && i <= k; i += stride) {
        const place p = contact_place(c);
        double s, v;
        coordinate(&p, state->start[c->a], &at(state, c->a, i)->body,
                   c->b < 0 ? NULL : &at(state, c->b, i)->body, &s, &v);
        samples += (e->valid ? s > e->x0 : c->f[i & MASK] > 0.0) ? (int)stride : 0;
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
    if (c->mu > 0.15 || (c->mu > 0.0 && w * delay > 1.0 && noise_of(config, c) > 1e-3 * c->force_max))
        outside |= FF_FUSED_FRICTION;
    for (int i = 0; i < FF_FUSED_CONTACTS; i++) {
        const ff_fused_contact *o = &state->contact[i];
        if (beside(o, c) && (o->a == body || o->b == body))
            outside |= FF_FUSED_SEVERAL;
    }
    r->outside = outside;
}

/* A free flight from the anchor: what begin() made of noise is undone. */
static void cancel(ff_fused_state *state, ff_fused_contact *c) {
    const unsigned group = group_of(state, c->a);
    c->open = false;
    c->stage = REST;
    state->info.false_alarms++;
    replay_from(state, group, c->anchor);
}

static void remember(ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    if (!c->surface.valid || c->abandoned)
        return;
    int slot = c->wall;
    if (c->closing && slot >= 0 && !state->wall[slot].valid)
        return; /* found missing while the contact was settled */
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
    c->wall = slot;
}

/* Contacts that ended stay while an open one of the group reaches back over them. */
static void sweep(ff_fused_state *state) {
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (!x->settled || x->closing)
            continue;
        const unsigned group = group_of(state, x->a);
        bool needed = false;
        for (int i = 0; i < FF_MAX_BODIES; i++)
            needed |= state->replay[i].active && (state->replay[i].bodies >> x->a & 1u) &&
                      state->replay[i].at < x->end;
        for (int o = 0; o < FF_FUSED_CONTACTS; o++) {
            const ff_fused_contact *y = &state->contact[o];
            needed |= (y->open || y->closing) && (group >> y->a & 1u) && y->anchor < x->end;
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

/* The contact is over: from here on the body flies, while the settlement (a last estimate and replay) goes
 * on. */
static void finish(ff_fused_state *state, ff_fused_contact *c, uint64_t k) {
    c->open = false;
    c->settled = c->closing = true;
    c->end = k;
    c->stage = PLACE;
    c->row = c->row_from;
    c->asked = k;
    c->passes = 1; /* which rows take part is judged with the last surface: that may be a poor one */
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

/* Settled: what is known of it is final. */
static void conclude(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c) {
    state->report[c->a].contacts++;
    fill_report(model, state, c, c->end, c->a, true);
    remember(state, c, c->end);
    if (c->b >= 0) {
        const uint32_t contacts = state->report[c->b].contacts + 1;
        fill_report(model, state, c, c->end, c->b, true);
        state->report[c->b].contacts = contacts;
    }
    c->closing = false;
    c->stage = REST;
}

/* Estimates and replays, as far as the work of a cycle allows; the contact that has waited longest first. */
static void work_on(const ff_fidelity_model *model, ff_fused_state *state, uint64_t k, int *work) {
    replay_some(model, state, k, work);
    unsigned done = 0;
    for (int i = 0; i<FF_FUSED_CONTACTS && * work> 0; i++) {
        ff_fused_contact *c = NULL;
        for (int j = 0; j < FF_FUSED_CONTACTS; j++) {
            ff_fused_contact *x = &state->contact[j];
            if ((x->open || x->closing) && x->stage != REST && !(done >> j & 1u) &&
                (!c || x->asked < c->asked))
                c = x;
        }
        if (!c)
            return;
        done |= 1u << (c - state->contact);
        if (c->closing && k - c->row_from > FF_FUSED_RING - 16)
            c->stage = SETTLE; /* its rows leave the history: what is known stands */
        for (int stage = -1; stage != c->stage && *work > 0;) {
            stage = c->stage;
            estimate(model, state, c, c->closing ? c->end : k, k, work);
        }
        replay_some(model, state, k, work);
        if (c->stage == SETTLE && !replaying(state, group_of(state, c->a)))
            conclude(model, state, c);
    }
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

/* A contact of the body is over but not settled. */
static bool settling(const ff_fused_state *state, int body) {
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        if (state->contact[c].closing && (state->contact[c].a == body || state->contact[c].b == body))
            return true;
    return false;
}

/* The delay as the robot shows it while nothing happens: how far it is behind, over the speed that it makes
 * itself (in relative motion the rest comes without delay, and would turn the sign). */
static void track_delay(const ff_fidelity_model *model, ff_fused_state *state, int i, uint64_t k,
                        ff_vec3 carried) {
    const double T = model->integrate.cycle;
    const ff_fused_sample *x = at(state, i, k);
    const bool loaded = ff_vec3_norm(x->load.force) > 0.0 || ff_vec3_norm(x->load.torque) > 0.0;
    if (touched(state, i) || settling(state, i) || loaded) {
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
        if (!x->valid || touched(state, x->a) || settling(state, x->a) ||
            (x->b >= 0 && (touched(state, x->b) || settling(state, x->b))))
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
        /* and so is one whose line of action goes through the contact point, where its arm can tell */
        const ff_vec3 side_b = ff_quat_unrotate(x->T_r.q, F);
        const ff_vec3 whole_b = ff_quat_unrotate(x->T_r.q, x->force);
        const double arm = ff_vec3_norm(ff_vec3_cross(bearer->r, side_b));
        const double off = ff_vec3_norm(ff_vec3_sub(x->torque, ff_vec3_cross(bearer->r, whole_b)));
        if (force_contacts == 1 && arm > fmax(0.02 * size, 5.0 * config->torque_noise) && off < 0.2 * arm)
            sliding = 0.7;
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
    /* no residual acts: pieces as long as the turn of the bodies allows, not cycles */
    double turn = 0.0;
    for (int i = 0; i < model->bodies; i++)
        if (group >> i & 1u)
            turn = fmax(turn, ff_vec3_norm(x[i].omega));
    const double longest = fmax(T, fmin(0.02 / fmax(turn, 1e-3), STEPS_MAX * T));
    double left = ahead;
    while (left > 1e-12) {
        const double piece = left > longest ? longest : left;
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
                if (x->surface.valid)
                    x->stage = REST;
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
    unsigned open_before = 0;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        open_before |= state->contact[c].open ? 1u << c : 0u;
    for (int i = 0; i < model->bodies; i++)
        detect(model, state, i, k);

    /* false alarms, estimates that fall due */
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (!x->open)
            continue;
        if (!(open_before >> c & 1u)) {
            replay_from(state, group_of(state, x->a), x->anchor);
            continue;
        }
        const uint64_t age = k - x->detected;
        const double noise = noise_of(config, x);
        x->alarm_sum += x->f[k & MASK];
        if (noise > 0.0 && age >= 3 && age <= 16 && x->alarm_sum < 2.0 * noise * sqrt((double)age)) {
            cancel(state, x);
            continue;
        }
        if (k >= x->due && x->stage == REST) {
            x->due = k + (age < 48 ? 1 : 1 + age / 24);
            x->stage = PLACE;
            x->row = x->row_from;
            x->asked = k;
        }
    }
    /* the last cycle with its measured end; what is recomputed from further back comes after it */
    unsigned seen = 0;
    for (int i = 0; i < model->bodies; i++) {
        const unsigned group = group_of(state, i);
        if ((seen >> i & 1u) || !touched(state, i))
            continue;
        seen |= group;
        int one = 1;
        if (k > group_anchor(state, group, k))
            replay(model, state, group, k - 1, k, &one);
    }
    int work = WORK;
    for (int c = 0; c < FF_FUSED_CONTACTS; c++)
        for (int o = 0; o < c; o++)
            if (state->contact[c].open && beside(&state->contact[o], &state->contact[c]))
                work += WORK_MORE;
    work_on(model, state, k, &work);
    for (int c = 0; c < FF_FUSED_CONTACTS; c++) {
        ff_fused_contact *x = &state->contact[c];
        if (x->open && is_over(model, state, x, k))
            finish(state, x, k);
        else if (x->open) {
            fill_report(model, state, x, k, x->a, false);
            if (x->b >= 0) {
                const uint32_t contacts = state->report[x->b].contacts;
                fill_report(model, state, x, k, x->b, false);
                state->report[x->b].contacts = contacts;
            }
        }
    }
    work_on(model, state, k, &work);
    sweep(state);
    for (int i = 0; i < model->bodies; i++) {
        track_delay(model, state, i, k, in->sample[i].carried);
        body[i] = at(state, i, k)->body;
        out->in_contact[i] = touched(state, i) || settling(state, i);
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
