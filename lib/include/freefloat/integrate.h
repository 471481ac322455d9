/* freefloat/integrate.h - schemes that advance a free body by one cycle. docs/integrators.md compares them.
 */
#ifndef FREEFLOAT_INTEGRATE_H
#define FREEFLOAT_INTEGRATE_H

#include "freefloat/dynamics.h"

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
} ff_integrate_config;

/* What the passive scheme remembers, and the output velocity of every scheme. */
typedef struct ff_integrate_state {
    double observer_translation[3]; /* [J] E_obs2,i of (30), after dissipation */
    double observer_rotation;       /* [J] E_obs3 of (33), after dissipation */
    ff_vec3 velocity_c;             /* [m/s] v_c of (27): what the robot is told; v_s for other schemes */
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
/* Free flight over h seconds (any sign), by the midpoint rule in at most T-sized steps: prediction and
 * history. */
void ff_integrate_coast(const ff_rigid_model *model, double h, double step, ff_rigid_state *body);

const char *ff_scheme_name(ff_scheme scheme); /* "lie-midpoint" ... */

#ifdef __cplusplus
}
#endif
#endif
