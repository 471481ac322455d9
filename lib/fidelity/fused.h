/* Shared by lib/fidelity/fused*.c: what they call of each other. docs/methods/fused.md tells the whole.
 *
 * A contact has a tip on body a and a surface on body b (or the world). With the outward normal n fixed in b,
 * s = -n.(tip in b's frame) grows into the surface, and the force on a is +f n. */
#ifndef FF_FIDELITY_FUSED_H
#define FF_FIDELITY_FUSED_H

#include "fidelity/internal.h"

enum {
    MASK = FF_FUSED_RING - 1,
    LOOK_BACK = FF_FUSED_RING - 64, /* samples a replay or a fit may reach back */
    STEPS_MAX = 12,                 /* sub-steps of a cycle */
    WORK_PLACE = 12, /* what a row of the normal and the contact point costs, in units of about twenty
                        instructions */
    WORK_ROW = 24    /* a row along the normal */
};
/* An estimate goes through these; REST: none is under way. */
enum { REST, PLACE, TAKE, FIT, RIVAL, FRICTION, TAKE_AGAIN, FIT_AGAIN, TAKE_FIRST, COMMIT, SETTLE };
static const double force_least = 0.02;   /* [N] no force below it is a contact */
static const double arm_longest = 3.0;    /* [m] a torque at a longer arm is a torque of its own */
static const double torque_least = 0.003; /* [N m] */
/* Mean of J for a row, along the normal and across it, that noise may make: three is expected. */
static const double union_misfit = 6.0;

/* What a contact or a remembered wall touches with. */
typedef struct fused_place {
    bool torque;
    int a, b;
    ff_vec3 n, r;
} fused_place;

/* Everything a kick needs at one pose: direction and arms in the axes they act in. */
typedef struct fused_port {
    ff_vec3 d_w;      /* force direction, inertial */
    ff_vec3 arm_a;    /* I_a^-1 (r x d), a's axes: rate gained per unit impulse */
    ff_vec3 arm_b;    /* of b */
    ff_vec3 moment_a; /* r x d, a's axes */
    ff_vec3 moment_b; /* b's axes */
    double mobility;  /* [1/kg] */
    double u;         /* d.(relative velocity): power per unit force */
} fused_port;

/* A surface that acts in a flow: an open contact with its residual, or a remembered wall. */
typedef struct fused_actor {
    fused_place p;
    const ff_profile *surface; /* NULL: nothing identified yet, the measured force itself acts */
    double f0, f1;             /* residual, or force, at the ends of the cycle */
    double mu;                 /* Coulomb */
    ff_vec3 side;              /* last friction for each unit of normal force, inertial */
    double impulse;            /* [N s] given in this flow */
    double mobility;           /* [1/kg] about what it is along the normal */
    double v;                  /* [m/s] towards the surface as the sub-step began */
} fused_actor;

typedef struct fused_flow {
    const ff_fidelity_model *model;
    const ff_quat *start;
    unsigned bodies; /* bit mask: those that move here */
    ff_rigid_state *x;
    const ff_rigid_load *load; /* per body */
    fused_actor *act;
    int acts;
    bool net;      /* the energy limit acts */
    double limit;  /* [J] */
    double energy; /* [J] */
    uint32_t net_count;
} fused_flow;

/* Rows that say something of this contact's direction and point alone. */
typedef struct fused_reach {
    uint64_t last, last_r; /* rows shared with a later contact say nothing of this one */
    bool earlier, turning; /* an earlier contact acts beside it: a force, a torque */
} fused_reach;

/* The rows of an estimate side by side, as the profile wants them. */
typedef struct fused_table {
    double s[FF_FUSED_RING], v[FF_FUSED_RING], f[FF_FUSED_RING];
    unsigned char use[FF_FUSED_RING];
} fused_table;

static inline fused_place fused_contact_place(const ff_fused_contact *c) {
    return (fused_place){c->torque, c->a, c->b, c->n, c->r};
}

static inline ff_rigid_state fused_at_rest(void) {
    return (ff_rigid_state){.attitude = ff_quat_identity()};
}

static inline ff_rigid_state fused_robot_of(const ff_fused_sample *x) {
    return (ff_rigid_state){x->T_r.p, x->T_r.q, x->twist_r.v, x->twist_r.w};
}

static inline ff_fused_sample *fused_at(ff_fused_state *state, int body, uint64_t k) {
    return &state->ring[body][k & MASK];
}

/* Measured force along a contact [N], and the whole force on a, inertial: of two bodies the mean. */
static inline ff_vec3 fused_measured_force(ff_fused_state *state, int a, int b, uint64_t k) {
    const ff_vec3 F = fused_at(state, a, k)->force;
    return b < 0 ? F : ff_vec3_scale(0.5, ff_vec3_sub(F, fused_at(state, b, k)->force));
}

static inline bool fused_sample_ok(ff_fused_state *state, const ff_fused_contact *c, uint64_t k) {
    return fused_at(state, c->a, k)->valid && (c->b < 0 || fused_at(state, c->b, k)->valid);
}

/* Both act, or acted, at one time. */
static inline bool fused_beside(const ff_fused_contact *o, const ff_fused_contact *c) {
    return o != c && !o->united && !c->united && (o->open || o->settled) &&
           !(o->settled && o->end <= c->anchor) && !(c->settled && c->end <= o->anchor);
}

/* Contact o acts on the body at sample k. */
static inline bool fused_acts_at(const ff_fused_contact *o, int body, uint64_t k) {
    return (o->open || o->settled) && o->a == body && k >= o->anchor && !(o->settled && k >= o->end);
}

static inline bool fused_is_earlier(const ff_fused_contact *o, const ff_fused_contact *c) {
    return o->anchor < c->anchor || (o->anchor == c->anchor && o < c);
}

static inline double fused_noise_of(const ff_fused_config *config, const ff_fused_contact *c) {
    if (c->torque)
        return config->torque_noise;
    return c->b < 0 ? config->force_noise : config->force_noise * 0.70710678118654752;
}

/* Noise, rather than the inexactness of any law, limits what the rows tell. */
static inline bool fused_noisy(const ff_fused_config *config, const ff_fused_contact *c) {
    return fused_noise_of(config, c) > 3e-4 * c->force_max;
}

static inline double fused_threshold(const ff_fused_config *config, const ff_fused_contact *c) {
    const double noise = fused_noise_of(config, c);
    return c->torque ? fmax(5.0 * noise, torque_least) : fmax(4.5 * noise, force_least);
}

/* fused_flow.c: bodies and surfaces through time, with the net in every kick */
void ff__fused_coordinate(const fused_place *p, ff_quat start, const ff_rigid_state *a,
                          const ff_rigid_state *b, double *s, double *s_dot);
void ff__fused_open_port(const ff_fidelity_model *model, const fused_place *p, const ff_rigid_state *a,
                         const ff_rigid_state *b, ff_vec3 side, fused_port *q);
double ff__fused_group_energy(const ff_fidelity_model *model, unsigned bodies, const ff_rigid_state *x);
fused_flow ff__fused_flow_from(const ff_fidelity_model *model, ff_fused_state *state, unsigned bodies,
                               uint64_t k, ff_rigid_state *x, ff_rigid_load *load, fused_actor *act);
int ff__fused_advance(fused_flow *w, double T);

/* fused_replay.c: the satellites recomputed, and one delay ahead */
unsigned ff__fused_group_of(const ff_fused_state *state, int body);
int ff__fused_actors(ff_fused_state *state, unsigned group, uint64_t i, uint64_t j, fused_actor *act);
uint64_t ff__fused_replay_to(const ff_fidelity_model *model, ff_fused_state *state, unsigned group,
                             uint64_t from, uint64_t k, int *work);
void ff__fused_replay_from(ff_fused_state *state, unsigned bodies, uint64_t from);
void ff__fused_replay_some(const ff_fidelity_model *model, ff_fused_state *state, uint64_t k, int *work);
uint64_t ff__fused_replay_reached(const ff_fused_state *state, unsigned bodies);
bool ff__fused_replaying(const ff_fused_state *state, unsigned bodies);
void ff__fused_predict(const ff_fidelity_model *model, ff_fused_state *state, int body, uint64_t k,
                       ff_rigid_state *command);

/* fused_rows.c: which force and which motion belong to a contact */
ff_vec3 ff__fused_pure_torque(ff_fused_state *state, int body, uint64_t k, const ff_fused_contact *except);
double ff__fused_share(ff_fused_state *state, const ff_fused_contact *c, uint64_t k);
void ff__fused_take_row(ff_fused_state *state, ff_fused_contact *c, uint64_t k);
bool ff__fused_lone(const ff_fused_state *state, const ff_fused_contact *c);
fused_reach ff__fused_reach_of(const ff_fused_state *state, const ff_fused_contact *c, uint64_t k);
void ff__fused_add_place(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c,
                         const fused_reach *z, uint64_t i);
void ff__fused_find_place(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c,
                          const fused_reach *z, uint64_t k);
void ff__fused_fill_table(const ff_fidelity_model *model, const ff_fused_contact *c, fused_table *t,
                          ff_profile_in *in);
void ff__fused_choose_rows(const ff_fused_config *config, ff_fused_state *state, ff_fused_contact *c);
void ff__fused_take_rows(ff_fused_state *state, ff_fused_contact *c, uint64_t k, int *work);

/* fused_friction.c */
ff_vec3 ff__fused_normal_with_friction(const ff_fused_config *config, ff_fused_state *state,
                                       const ff_fused_contact *c, uint64_t k, double mu, ff_vec3 n,
                                       uint64_t stride);
bool ff__fused_step_friction(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                             int *work);
bool ff__fused_settle_friction(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                               int *work);

/* fused_estimate.c: one estimate, spread over cycles */
void ff__fused_estimate(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                        uint64_t last, uint64_t k, int *work);

/* fused_contact.c: beginning and end of a contact, remembered walls, the report */
uint64_t ff__fused_group_anchor(const ff_fused_state *state, unsigned group, uint64_t k);
void ff__fused_begin(const ff_fidelity_model *model, ff_fused_state *state, int a, int b, bool torque,
                     ff_vec3 n, uint64_t k);
void ff__fused_cancel(ff_fused_state *state, ff_fused_contact *c);
void ff__fused_fill_report(const ff_fidelity_model *model, ff_fused_state *state, const ff_fused_contact *c,
                           uint64_t k, int body, bool ended);
bool ff__fused_is_over(const ff_fidelity_model *model, ff_fused_state *state, ff_fused_contact *c,
                       uint64_t k);
void ff__fused_finish(ff_fused_state *state, ff_fused_contact *c, uint64_t k);
void ff__fused_absorb(ff_fused_state *state, ff_fused_contact *c);
void ff__fused_part(ff_fused_contact *c);
void ff__fused_sweep(ff_fused_state *state);
void ff__fused_work_on(const ff_fidelity_model *model, ff_fused_state *state, uint64_t k, int *work);

/* fused_detect.c: what happens in free flight */
bool ff__fused_touched(const ff_fused_state *state, int body);
bool ff__fused_settling(const ff_fused_state *state, int body);
void ff__fused_track_delay(const ff_fidelity_model *model, ff_fused_state *state, int i, uint64_t k,
                           ff_vec3 carried);
void ff__fused_check_walls(const ff_fidelity_model *model, ff_fused_state *state, uint64_t k);
void ff__fused_detect(const ff_fidelity_model *model, ff_fused_state *state, int i, uint64_t k);

#endif
