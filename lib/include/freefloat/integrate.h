/* freefloat/integrate.h - schemes that advance a free body by one cycle. docs/integrators.md compares them.
 */
#ifndef FREEFLOAT_INTEGRATE_H
#define FREEFLOAT_INTEGRATE_H

#include "freefloat/body.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ff_scheme {
    FF_SCHEME_LIE_MIDPOINT, /* default: contact as an impulse, loads over the cycle, rotation by the midpoint
                               rule */
    FF_SCHEME_EULER,        /* [destefano2019, (5), (8)], pose with the newest velocity */
    FF_SCHEME_PASSIVE,      /* [destefano2019, Algorithm 1]: Euler, output velocity corrected */
    FF_SCHEME_SPLITTING     /* rotation about the principal axes in turn: |L| exact, energy error bounded */
} ff_scheme;

typedef struct ff_integrate_config {
    ff_scheme scheme;
    double cycle;         /* [s] > 0 */
    bool passive_printed; /* the fictitious torque of [destefano2019, (32)] as printed; see docs/methods */
    bool passive_exact;   /* in place of (32)-(36): rotation with a gyroscopic torque that does no work */
} ff_integrate_config;

/* What the passive scheme remembers, and the output velocity of every scheme. */
typedef struct ff_integrate_state {
    double observer_translation[3]; /* [J] E_obs2,i of (30), after dissipation */
    double observer_rotation;       /* [J] E_obs3 of (33), after dissipation */
    ff_vec3 velocity_c;             /* [m/s] v_c of (27): the commanded velocity; v_s for other schemes */
    ff_vec3 omega_c;                /* [rad/s] w_c of (36) */
} ff_integrate_state;

/* Energies of one step [J]: kinetic(k+1) - kinetic(k) = contact + loads + scheme, each computed on its own.
 */
typedef struct ff_integrate_out {
    double contact; /* T F.V at the start of the cycle: what the port (F, V_s) delivers */
    double loads;   /* work of the loads */
    double scheme;  /* what discrete time adds: (21), (24) for Euler, the impulse's T^2 F H^-1 F/2 for the
                       others */
} ff_integrate_out;

/* FF_ERR_ARGUMENT for cycle <= 0 or an unknown scheme. */
ff_status ff_integrate_validate(const ff_integrate_config *config);
void ff_integrate_reset(const ff_rigid_state *body, ff_integrate_state *state);
/* One cycle: contact acts as the scheme says, loads are held for the cycle. body is advanced in place. */
void ff_integrate_step(const ff_integrate_config *config, const ff_rigid_model *model, ff_rigid_load contact,
                       ff_rigid_load loads, ff_rigid_state *body, ff_integrate_state *state,
                       ff_integrate_out *out);
/* A contact wrench that is held over the cycle instead of acting as an impulse at t_k: half of its impulse at
 * each end, so that x gains T v(k) + T^2 F/2m, as under a constant force. The caller gives ff_integrate_step
 * (or ff_relative_step) one half and this function the other, `late`, as it acts at the end of the cycle:
 * what turns and moves with the thing that is held is for the caller to say, so that it can be equal and
 * opposite on two bodies. Schemes lie-midpoint and splitting. */
void ff_integrate_finish(const ff_rigid_model *model, double T, ff_rigid_load late, ff_rigid_state *body,
                         ff_integrate_state *state, ff_integrate_out *out);
/* True for the schemes that a held wrench goes with: euler and passive say themselves how forces act. */
bool ff_scheme_holds(ff_scheme scheme);
/* Free flight over h seconds (any sign), by the midpoint rule in at most T-sized steps: prediction and
 * history. */
void ff_integrate_coast(const ff_rigid_model *model, double h, double step, ff_rigid_state *body);

/* One cycle of any body. */
typedef struct ff_body_in {
    ff_rigid_load contact; /* about the origin of the body's motion (CoM; with joints: of the base frame) */
    ff_rigid_load loads;   /* known, held for the cycle */
    ff_wrench thrust;      /* [N m, N] of actuators on the body, body axes, about the same origin */
} ff_body_in;
/* Rigid: ff_integrate_step. With joints: ff_body_fly, whatever the scheme (euler and passive are for rigid
 * bodies only); a force of the loads then turns with the base within the cycle, and `scheme` is zero: what is
 * not the contact's or the loads' is the joints', and shows when they are measured again. */
void ff_body_step(const ff_body *body, const ff_integrate_config *config, ff_body_work *work,
                  const ff_body_in *in, ff_body_state *state, ff_integrate_state *output,
                  ff_integrate_out *out);
/* ff_integrate_finish of any body. */
void ff_body_finish(const ff_body *body, const ff_integrate_config *config, ff_body_work *work,
                    ff_rigid_load late, ff_body_state *state, ff_integrate_state *output,
                    ff_integrate_out *out);

const char *ff_scheme_name(ff_scheme scheme); /* "lie-midpoint" ... */

/* --------------------------------------------------------------------------------- the nominal motion -- */

typedef enum ff_nominal_kind {
    FF_NOMINAL_FREE,       /* [destefano2021, (4)]: the unforced motion of a satellite */
    FF_NOMINAL_PRESCRIBED, /* a constant body twist */
    FF_NOMINAL_SATELLITE   /* a satellite's own forced motion: its robot stands still */
} ff_nominal_kind;

typedef struct ff_nominal_config {
    ff_nominal_kind kind;
    ff_rigid_model model; /* free: of the satellite whose unforced motion it is */
    ff_rigid_state start; /* at t = 0 */
} ff_nominal_config;

typedef struct ff_nominal_state {
    ff_rigid_state motion;     /* g_n, V_n at t_k */
    ff_integrate_state output; /* of the scheme */
} ff_nominal_state;

void ff_nominal_reset(const ff_nominal_config *config, ff_nominal_state *state);
/* From t_k to t_(k+1), `cycle` k. Free: by the same scheme as the satellites, so that a satellite without
 * forces does not move relative to it by a single bit. Satellite: does nothing, the caller sets motion. */
void ff_nominal_step(const ff_nominal_config *config, const ff_integrate_config *scheme, uint64_t k,
                     ff_nominal_state *state);
/* The nominal motion h seconds after `motion`: prediction. Satellite: taken as free. */
ff_rigid_state ff_nominal_coast(const ff_nominal_config *config, double h, double step,
                                const ff_rigid_state *motion);

/* One cycle of [destefano2021, (11)]: the satellite advanced in relative coordinates and mapped back by (23),
 * in place of ff_integrate_step. now and next are the nominal motion at t_k and t_(k+1). Schemes euler and
 * lie-midpoint; nominal free or prescribed. */
void ff_relative_step(const ff_integrate_config *config, const ff_nominal_config *nominal,
                      const ff_rigid_model *model, ff_rigid_load contact, ff_rigid_load loads,
                      const ff_rigid_state *now, const ff_rigid_state *next, ff_rigid_state *body,
                      ff_integrate_state *state, ff_integrate_out *out);

#ifdef __cplusplus
}
#endif
#endif
