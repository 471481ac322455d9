/* freefloat/fidelity.h - stage 3: the wrench the satellite should feel, in spite of the delay. One file per
 * method. */
#ifndef FREEFLOAT_FIDELITY_H
#define FREEFLOAT_FIDELITY_H

#include "freefloat/contact.h"
#include "freefloat/dynamics.h"
#include "freefloat/integrate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FF_MAX_BODIES 4

typedef enum ff_method {
    FF_METHOD_IDEAL, /* no loop at all: the continuous reference of host/ideal */
    FF_METHOD_DIRECT,
    FF_METHOD_TDPA,
    FF_METHOD_DAMPING,
    FF_METHOD_IMPACT,
    FF_METHOD_FUSED,
    FF_METHOD_COUNT
} ff_method;

const char *ff_method_name(ff_method method);

/* ---------------------------------------------------------------------------------------------- signals --
 */

/* What one body's robot and sensor say in one cycle, after stage 1. */
typedef struct ff_body_sample {
    ff_wrench f_b;      /* contact wrench about the CoM, robot's body axes */
    ff_pose T_wr;       /* measured robot pose at the time of the force */
    ff_twist twist_r;   /* its velocity: w body, v inertial */
    ff_rigid_load load; /* known load on the satellite in this cycle */
    bool valid;         /* false: f_b repeats the last good value and must not be learnt from */
} ff_body_sample;

/* The bodies a method acts on, with what it may read of each. */
typedef struct ff_fidelity_in {
    double t; /* [s] t_k */
    const ff_body_sample *sample;
    const ff_integrate_state *output; /* velocity the robot was told, per body: V_c(k) */
} ff_fidelity_in;

typedef struct ff_fidelity_out {
    ff_wrench f_b[FF_MAX_BODIES]; /* wrench to integrate, satellite's body axes */
    bool in_contact[FF_MAX_BODIES];
    bool has_command;                      /* the method predicts its own command */
    ff_rigid_state command[FF_MAX_BODIES]; /* then: motion to command at t_k */
    double lead[FF_MAX_BODIES];            /* [s] and how far after t_k that motion lies */
    double observer[FF_MAX_BODIES][6];     /* [J] after dissipation; [0][0] alone unless per axis */
    int observers; /* 0: the method has none; 1: one for all bodies; 6: six for each */
    /* of the surface that each body touches, over this contact so far; FF_NAN: nothing is known */
    double stiffness[FF_MAX_BODIES];  /* [N/m] */
    double damping[FF_MAX_BODIES];    /* [N s/m] */
    double damping_sd[FF_MAX_BODIES]; /* [N s/m] */
    unsigned bounds;                  /* FF_BOUND_... that acted in this cycle */
} ff_fidelity_out;

/* ------------------------------------------------------------------------------------------------- tdpa --
 */

typedef enum ff_tdpa_observer { FF_TDPA_OBSERVER_WRENCH, FF_TDPA_OBSERVER_AXIS } ff_tdpa_observer;
typedef enum ff_tdpa_velocity { FF_TDPA_VELOCITY_MIDPOINT, FF_TDPA_VELOCITY_START } ff_tdpa_velocity;
typedef enum ff_tdpa_reset { FF_TDPA_RESET_CONTACT, FF_TDPA_RESET_NEVER } ff_tdpa_reset;
typedef enum ff_tdpa_law { FF_TDPA_LAW_CLAMP, FF_TDPA_LAW_DAMPER } ff_tdpa_law;

/* [destefano2019, IV, VI]. The defaults are the reading that works; `printed` is the paper's letter: per-axis
 * observers on V_c, damper, no reset. docs/methods/destefano2019.md says why they differ. */
typedef struct ff_tdpa_config {
    ff_tdpa_observer observer;
    ff_tdpa_velocity velocity;
    ff_tdpa_reset reset;
    ff_tdpa_law law;
    ff_detector_config
        detector; /* wrenches below it are noise: they neither move the body nor feed the observer */
} ff_tdpa_config;

typedef struct ff_tdpa_state {
    double energy[FF_MAX_BODIES]
                 [6]; /* [J] per-axis observers; with one observer energy[0][0] holds the total */
    ff_detector_state detector[FF_MAX_BODIES];
    bool contact; /* any body in contact */
} ff_tdpa_state;

void ff_tdpa_default(ff_tdpa_config *config);
void ff_tdpa_printed(ff_tdpa_config *config);

/* ---------------------------------------------------------------------------------------------- damping --
 */

typedef enum ff_damping_law { FF_DAMPING_LAW_CLAMP, FF_DAMPING_LAW_PRINTED } ff_damping_law;
typedef enum ff_damping_budget {
    FF_DAMPING_BUDGET_RESTITUTION,
    FF_DAMPING_BUDGET_VELOCITY
} ff_damping_budget;
typedef enum ff_damping_axes { FF_DAMPING_AXES_FORCE, FF_DAMPING_AXES_EACH } ff_damping_axes;

/* [he2022, 3]. The default is the clamp of tdpa whose energy budget is reduced by what the identified surface
 * dissipates; `printed` is the observer and controller (8)-(15). docs/methods/he2022.md says why they differ.
 */
typedef struct ff_damping_config {
    ff_damping_law law;
    ff_damping_budget budget; /* clamp: c v^2 T summed in closed form for the contact without delay, or at the
                                 robot's motion */
    ff_damping_axes axes;     /* printed: controller along the force, or on each axis as in (11)-(13) */
    ff_lead_config lead;
    ff_identify_config identify;
    double known_stiffness, known_damping; /* [N/m], [N s/m] instead of the identified; FF_NAN: none */
    ff_detector_config detector;
} ff_damping_config;

/* One contact per body; a contact between two bodies lives under the lower index. */
typedef struct ff_damping_port {
    int partner;                      /* -1: the environment */
    ff_vec3 normal;                   /* along the force on the body when identification began, inertial */
    double absorbed;                  /* [J] what the environment took in this contact */
    double absorbed_most;             /* [J] the largest of it */
    double speed_square;              /* [m2/s] robot's approach speed squared, summed over the contact */
    double loss;                      /* [J] to be kept from the satellites */
    double energy;                    /* [J] printed: E_obs after dissipation */
    double force, speed, damping;     /* printed: last cycle's F_s, v_des, c_d */
    ff_identify_state identify;       /* of the robot's contact: what is reported */
    ff_identify_state own;            /* weighed as the satellite's own contact: what the budget takes */
    ff_identify_out known, known_own; /* last published */
} ff_damping_port;

typedef struct ff_damping_state {
    double energy; /* [J] absorbed by the environment in this contact, all bodies, not yet given back */
    bool contact;
    ff_detector_state detector[FF_MAX_BODIES];
    ff_lead_state lead[FF_MAX_BODIES];
    ff_pose last[FF_MAX_BODIES]; /* robots' poses of the last cycle */
    bool has_last;
    ff_damping_port port[FF_MAX_BODIES];
} ff_damping_state;

void ff_damping_default(ff_damping_config *config);
void ff_damping_printed(ff_damping_config *config);
ff_status ff_damping_validate(const ff_damping_config *config);

/* ------------------------------------------------------------------------------------------- dispatcher --
 */

typedef struct ff_fidelity_config {
    ff_method method;
    ff_tdpa_config tdpa;
    ff_damping_config damping;
} ff_fidelity_config;

typedef struct ff_fidelity_model {
    ff_fidelity_config config;
    ff_integrate_config integrate;
    int bodies;
    ff_rigid_model body[FF_MAX_BODIES];
} ff_fidelity_model;

typedef struct ff_fidelity_state {
    ff_tdpa_state tdpa;
    ff_damping_state damping;
} ff_fidelity_state;

void ff_fidelity_default(ff_fidelity_config *config);
/* FF_ERR_UNSUPPORTED for a method that is not built, FF_ERR_ARGUMENT for settings outside their range. */
ff_status ff_fidelity_validate(const ff_fidelity_config *config);
void ff_fidelity_reset(const ff_fidelity_model *model, const ff_rigid_state *body, ff_fidelity_state *state);
/* Corrects the wrenches of all bodies together: a contact between two satellites is one exchange of energy.
 * body[] are the satellites at t_k; methods that look back may overwrite them (the loop books the
 * difference). */
void ff_fidelity_step(const ff_fidelity_model *model, ff_fidelity_state *state, const ff_fidelity_in *in,
                      ff_rigid_state *body, ff_fidelity_out *out);

#ifdef __cplusplus
}
#endif
#endif
