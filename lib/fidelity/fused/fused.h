/* Shared by lib/fidelity/fused: small helpers, and what the files call of each other. state.h has what they
 * keep; docs/methods/fused.md describes the whole. */
#ifndef FF_FIDELITY_FUSED_H
#define FF_FIDELITY_FUSED_H

#include "fidelity/fused/state.h"

enum {
    SPARE = 64,      /* cycles of the history that no replay or fit may reach back */
    WORK_PLACE = 12, /* what a row of the normal and the contact point costs, in units of about twenty
                        instructions */
    WORK_ROW = 24    /* a row along the normal */
};
/* An estimate goes through these; REST: none is under way. */
enum {
    REST,
    PLACE,
    TIP,
    TAKE,
    FIT,
    RIVAL,
    FRICTION,
    TAKE_AGAIN,
    FIT_AGAIN,
    TAKE_FIRST,
    COMMIT,
    SETTLE,
    JOINING
};
static const double force_least = 0.02;   /* [N] no force below it is a contact */
static const double arm_longest = 3.0;    /* [m] a torque at a longer arm is a torque of its own */
static const double torque_least = 0.003; /* [N m] */
static const double zero_noise_least =
    0.005; /* [N] of a reading from which the offset is learnt; the torque's in the ratio of its own noise */
/* Thresholds of stage 2, by the noise of one axis [N], [N m]. */
static inline double fused_force_on(double noise) {
    return fmax(5.0 * noise, force_least);
}
static inline double fused_torque_on(double noise) {
    return fmax(6.0 * noise, torque_least);
}

/* Mean of J for a row, along the normal and across it, that noise may make: three is expected. */
static const double union_misfit = 6.0;
/* And without noise, in thousandths of the peak: what sub-steps and slips near rest leave. */
static const double exact_misfit = 0.3;

/* Mean of J for a row, along the normal, of a surface that does not explain its rows: 1 is expected of noise,
 * and nothing is left where there is none. */
static const double poor_misfit = 10.0;

static inline double square(double x) {
    return x * x;
}

/* A symmetric matrix by its upper triangle, times v. */
static inline ff_vec3 fused_square_times(const double z[6], ff_vec3 v) {
    return ff_vec3_make(z[0] * v.x + z[1] * v.y + z[2] * v.z, z[1] * v.x + z[3] * v.y + z[4] * v.z,
                        z[2] * v.x + z[4] * v.y + z[5] * v.z);
}

static inline void fused_add_square(double z[6], ff_vec3 F) {
    z[0] += F.x * F.x;
    z[1] += F.x * F.y;
    z[2] += F.x * F.z;
    z[3] += F.y * F.y;
    z[4] += F.y * F.z;
    z[5] += F.z * F.z;
}

/* What a cycle of T seconds may spend on work that can wait, of what one of 4 ms may: it is shared out by
 * time, so that a short cycle is not filled with it. From 1.2 ms down by cycles: rows leave the history. */
static inline int fused_by_time(double T, int work) {
    return (int)(fmax(0.3, fmin(1.0, T / 0.004)) * work);
}

/* Rows that say something of this contact's direction and point alone. */
typedef struct fused_reach {
    uint64_t last, last_r; /* rows shared with a later contact say nothing of this one */
    bool earlier, turning; /* an earlier contact acts beside it: a force, a torque */
    bool only;             /* no other record is of this body */
} fused_reach;

/* The rows of an estimate side by side, as the profile wants them. */
typedef struct fused_table {
    double s[FUSED_RING], v[FUSED_RING], f[FUSED_RING];
    unsigned char use[FUSED_RING], gone[FUSED_RING];
} fused_table;

/* What the sensor would make of a surface's force, row after row. */
typedef struct fused_heard {
    double before, last, y; /* force of the row before; in and out of the low pass */
} fused_heard;

static inline ff__place fused_contact_place(const fused_contact *c) {
    return (ff__place){c->torque, c->a, c->b, c->n, c->r, NULL};
}

static inline ff__place fused_wall_place(const fused_wall *x) {
    return (ff__place){x->torque, x->a, x->b, x->n, x->r, NULL};
}

static inline ff_rigid_state fused_at_rest(void) {
    return (ff_rigid_state){.attitude = ff_quat_identity()};
}

static inline ff_rigid_state fused_robot_of(const fused_sample *x) {
    return (ff_rigid_state){x->T_r.p, x->T_r.q, x->twist_r.v, x->twist_r.w};
}

static inline fused_sample *fused_at(fused_state *state, int body, uint64_t k) {
    return ff__ring_at(&state->history.ring, body, k);
}

static inline fused_row *fused_row_of(const fused_contact *c, uint64_t k) {
    return (fused_row *)ff__ring_at(&c->rows, 0, 0) + (k & c->rows.mask);
}

/* The robot that a row is of. */
static inline ff_rigid_state fused_row_robot(const fused_sample *x) {
    return x->hears ? ff_setpoint_to_state(&x->measured) : fused_robot_of(x);
}

/* Samples that a replay or a fit may reach back. */
static inline uint64_t fused_look_back(const fused_state *state) {
    return ff__ring_rows(&state->history.ring) - SPARE;
}

/* Measured force along a contact [N], and the whole force on a, inertial: of two bodies the mean. */
static inline ff_vec3 fused_measured_force(fused_state *state, int a, int b, uint64_t k) {
    const ff_vec3 F = fused_at(state, a, k)->force;
    return b < 0 ? F : ff_vec3_scale(0.5, ff_vec3_sub(F, fused_at(state, b, k)->force));
}

static inline bool fused_sample_ok(fused_state *state, const fused_contact *c, uint64_t k) {
    return fused_at(state, c->a, k)->valid && (c->b < 0 || fused_at(state, c->b, k)->valid);
}

/* ff_profile_force(), the first law without a call. */
static inline double fused_force(const ff_profile *e, double s, double v) {
    const double p = s - e->x0, f = e->k * p + e->c * v;
    if (e->law)
        return ff_profile_force(e, s, v);
    return p > 0.0 && f > 0.0 ? f : 0.0;
}

/* Both act, or acted, at one time. */
static inline bool fused_beside(const fused_contact *o, const fused_contact *c) {
    return o != c && !o->one.judged && !c->one.judged && (o->open || o->settled) &&
           !(o->settled && o->end <= c->anchor) && !(c->settled && c->end <= o->anchor);
}

/* Contact o acts on the body at sample k. */
static inline bool fused_acts_at(const fused_contact *o, int body, uint64_t k) {
    return (o->open || o->settled) && o->a == body && k >= o->anchor && !(o->settled && k >= o->end);
}

static inline bool fused_is_earlier(const fused_contact *o, const fused_contact *c) {
    return o->anchor < c->anchor || (o->anchor == c->anchor && o < c);
}

static inline double fused_noise_of(const fused_config *config, const fused_contact *c) {
    if (c->torque)
        return config->torque_noise;
    return c->b < 0 ? config->force_noise : config->force_noise * 0.70710678118654752;
}

/* [N] What noise of the robots' poses looks like in the rows of a contact: through its own surface. */
static inline double fused_pose_noise(const fused_config *config, const fused_contact *c) {
    const double both = c->b < 0 ? 1.0 : 1.41421356237309505;
    return c->surface.valid && c->surface.law == 0 && !c->torque
               ? both * hypot(c->surface.k * config->pose_noise, c->surface.c * config->velocity_noise)
               : 0.0;
}

/* Of a row, both. */
static inline double fused_row_noise(const fused_config *config, const fused_contact *c) {
    return config->pose_noise > 0.0 || config->velocity_noise > 0.0
               ? hypot(fused_noise_of(config, c), fused_pose_noise(config, c))
               : fused_noise_of(config, c);
}

/* Noise, rather than the inexactness of any law, limits what the rows tell. */
static inline bool fused_noisy(const fused_config *config, const fused_contact *c) {
    return fused_row_noise(config, c) > 3e-4 * c->force_max;
}

static inline double fused_threshold(const fused_config *config, const fused_contact *c) {
    const double noise = fused_noise_of(config, c);
    return c->torque ? fmax(5.0 * noise, torque_least) : fmax(4.5 * noise, force_least);
}

/* fused.c: one cycle */
ff_status ff__fused_step(const void *model, void *state, const ff_method_in *in, ff_method_out *out);

/* sample.c: robot and sensor of a cycle */
ff_status ff__fused_store(const fused_model *model, fused_state *state, const ff_method_in *in,
                          const ff_rigid_state *body, uint64_t k);
/* gears.c: moves the sample's robot by how far its gears have given way */
void ff__fused_give_way(fused_gears *z, const ff_gears *g, double T, fused_sample *x);
ff_twist ff__fused_by_axes(const double J[6][6], const double *x);
/* What has been read in the last rows is the sensor's offset. */
void ff__fused_zero_here(const fused_config *config, fused_state *state, int body, uint64_t k, int rows);

/* tip.c: axes that yield, with the surface between the samples. Begins a fit with the rows up to `last`,
 * false where there is none to make; one cycle of it. */
bool ff__fused_tip_begin(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last);
void ff__fused_tip_on(fused_state *state, uint64_t k);
bool ff__fused_tip_done(const fused_state *state, const fused_contact *c);

/* replay.c: the satellites recomputed, and one delay ahead */
unsigned ff__fused_group_of(const fused_state *state, int body);
void ff__fused_march_from(const fused_model *model, fused_state *state, unsigned bodies, uint64_t k,
                          ff__actor *act, ff__march *w);
int ff__fused_actors(fused_state *state, unsigned group, ff__actor *act);
uint64_t ff__fused_replay_to(const fused_model *model, fused_state *state, unsigned group, uint64_t from,
                             uint64_t k, int *work);
void ff__fused_replay_some(const fused_model *model, fused_state *state, uint64_t k, int *work);
void ff__fused_predict(const fused_model *model, fused_state *state, int body, uint64_t k,
                       ff_rigid_state *command);

/* rows.c: which force and which motion belong to a contact */
ff_vec3 ff__fused_pure_torque(fused_state *state, int body, uint64_t k, const fused_contact *except);
double ff__fused_share(fused_state *state, const fused_contact *c, uint64_t k);
void ff__fused_take_row(fused_state *state, fused_contact *c, uint64_t k);
void ff__fused_new_row(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k);
bool ff__fused_lone(const fused_state *state, const fused_contact *c);
fused_reach ff__fused_reach_of(const fused_state *state, const fused_contact *c, uint64_t k);
void ff__fused_add_place(const fused_config *config, fused_state *state, fused_contact *c,
                         const fused_reach *z, uint64_t i);
void ff__fused_find_place(const fused_config *config, fused_state *state, fused_contact *c,
                          const fused_reach *z, uint64_t k);
void ff__fused_fill_table(const fused_model *model, const fused_state *state, const fused_contact *c,
                          fused_table *t, ff_profile_in *in);
void ff__fused_choose_rows(const fused_model *model, fused_state *state, fused_contact *c);
const ff_profile_channel *ff__fused_channel(const fused_model *model, const fused_state *state,
                                            const fused_contact *c);
double ff__fused_law(const ff_profile_channel *channel, const fused_contact *c, uint64_t i, fused_heard *z);
void ff__fused_take_rows(fused_state *state, fused_contact *c, uint64_t k, int *work);

/* spot.c: the point of a contact, and those that touched before */
/* The point that the rows and a spot of the body tell; -1: none agrees, the rows alone. most [N m]: their
 * largest torque. */
int ff__fused_point_of(const fused_config *config, const fused_state *state, int body, const fused_sums *z,
                       double most, ff_vec3 *r);
/* The torque is the force's at this point, to this part of the radius of gyration and the noise. */
void ff__fused_add_torque(fused_sums *z, ff_vec3 F, ff_vec3 M); /* of one row, body axes */
bool ff__fused_one_point(const fused_model *model, int body, const fused_sums *z, ff_vec3 r, double part);
/* [m] Standard deviation of the point across the force, in each of two directions, by the torque's noise and
 * what the point leaves of the torque. */
double ff__fused_point_sd(const fused_config *config, const fused_sums *z, ff_vec3 r);
/* The spot at which the whole force of sample k makes its whole torque; -1: none. */
int ff__fused_spot_at(const fused_config *config, fused_state *state, int body, uint64_t k);
/* What a contact that is settled and was alone tells of its spot; walls touched by it are counted from it. */
void ff__fused_learn_spot(const fused_config *config, fused_state *state, fused_contact *c);

/* wall.c: surfaces remembered */
void ff__fused_find_wall(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k);
void ff__fused_remember(const fused_config *config, fused_state *state, fused_contact *c, uint64_t k);
/* Where a known wall explains a noisy contact's rows as the new surface does, it is that wall's. */
void ff__fused_lean_on_wall(const fused_config *config, fused_state *state, fused_contact *c);

/* friction.c */
ff_vec3 ff__fused_normal_with_friction(const fused_config *config, fused_state *state, const fused_contact *c,
                                       uint64_t k, double mu, ff_vec3 n, uint64_t stride);
bool ff__fused_step_friction(const fused_model *model, fused_state *state, fused_contact *c, int *work);
bool ff__fused_settle_friction(const fused_model *model, fused_state *state, fused_contact *c, int *work);
/* What friction on one surface would leave of the force across it: cheaper than the search, enough to tell
 * which explanation to try first. One part in a call; true at the end. */
bool ff__fused_glance(fused_state *state, fused_glance *z, int *work);
/* Part of the force's squares that surface and friction, against the sliding, leave unexplained. */
double ff__fused_slant_left(const fused_model *model, fused_state *state, const fused_contact *c);

/* estimate.c: one estimate, spread over cycles */
void ff__fused_estimate(const fused_model *model, fused_state *state, fused_contact *c, uint64_t last,
                        uint64_t k, int *work);

/* several.c: contacts of a body at one time, together */
bool ff__fused_join(const fused_model *model, fused_state *state, const fused_contact *last, uint64_t k);
bool ff__fused_join_alone(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k);
void ff__fused_join_on(const fused_model *model, fused_state *state, uint64_t k);

/* contact.c: beginning and end of a contact, remembered walls, the report */
uint64_t ff__fused_group_anchor(const fused_state *state, unsigned group, uint64_t k);
void ff__fused_begin(const fused_model *model, fused_state *state, int a, int b, bool torque, ff_vec3 n,
                     uint64_t k);
/* NULL: all records are taken. */
fused_contact *ff__fused_begin_at(const fused_model *model, fused_state *state, const fused_onset *at,
                                  uint64_t k);
/* On a remembered wall. */
void ff__fused_begin_on(const fused_model *model, fused_state *state, int wall, uint64_t k);
/* One that was taken to be over is not. */
void ff__fused_reopen(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k);
/* The wall's surface is the contact's, up to sample k. */
void ff__fused_recall(fused_state *state, fused_contact *c, uint64_t k);
/* It was none: its bodies flew, or something else acted on them. */
void ff__fused_withdraw(fused_state *state, fused_contact *c);
void ff__fused_fill_report(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                           int body, bool ended);
bool ff__fused_is_over(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k);
void ff__fused_finish(fused_state *state, fused_contact *c, uint64_t k);
/* Whether the settlement, replayed up to the contact's end, stands: it may not move what the contact did by
 * more than two of its standard deviations where it explains the force less than what was live. was: the
 * bodies there before. Else what was live is taken again. */
bool ff__fused_stands(fused_state *state, fused_contact *c, const ff_rigid_state *was);
void ff__fused_book(fused_state *state, fused_contact *c, double energy_sd); /* [J] */
void ff__fused_absorb(fused_state *state, fused_contact *c);
void ff__fused_part(fused_contact *c);
void ff__fused_sweep(fused_state *state);
bool ff__fused_unite(const fused_model *model, fused_state *state, const fused_contact *last, uint64_t k);
void ff__fused_conclude(const fused_model *model, fused_state *state, fused_contact *c);
void ff__fused_work_on(const fused_model *model, fused_state *state, uint64_t k, int *work);

/* spread.c: of the impulse along the normal, relative to it, by noise [N] of the rows; k: the last row of one
 * that is over; offset [N] of the sensor, tilt [rad] of the normal in each of two directions, standard
 * deviations. FF_INF: not known */
double ff__fused_spread(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                        double noise, double offset, double tilt);
/* budget.c: standard deviations by cause; w [rad/s] of the contact */
void ff__fused_budget(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                      int body, double w, fused_report *r);
double ff__fused_across(const fused_config *config, const fused_contact *c);

/* joints.c: a cycle with a body that has joints */
ff_status ff__fused_joints_step(const fused_model *model, fused_state *state, const ff_method_in *in,
                                ff_method_out *out);

/* partner.c: begins a contact along F, with the body that bears the opposite force or the world; and whether
 * the samples that follow say the same */
void ff__fused_begin_force(const fused_model *model, fused_state *state, int i, ff_vec3 F, uint64_t k);
void ff__fused_revise_partners(const fused_model *model, fused_state *state, uint64_t k);

/* detect.c: what happens in free flight */
bool ff__fused_touched(const fused_state *state, int body);
bool ff__fused_settling(const fused_state *state, int body);
/* limited: the robot was not sent what was commanded in the cycle before. That, and what it does until two
 * delays later, says nothing of its delay. */
void ff__fused_track_delay(const fused_model *model, fused_state *state, int i, uint64_t k, ff_vec3 carried,
                           bool limited);
void ff__fused_check_walls(const fused_model *model, fused_state *state, uint64_t k);
void ff__fused_detect(const fused_model *model, fused_state *state, const ff_detection *detected, int i,
                      uint64_t k);

#endif
