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
    ff_wrench f_b;                 /* contact wrench about the CoM, robot's body axes */
    ff_pose T_wr;                  /* measured robot pose at the time of the force */
    ff_twist twist_r;              /* its velocity: w body, v inertial */
    ff_rigid_load load;            /* known load on the satellite in this cycle */
    const double (*compliance)[6]; /* of the robot at the CoM, inertial axes, angular first: twist
                                      displacement per wrench [rad, m per N m, N]; NULL: stiff */
    bool valid;                    /* false: f_b repeats the last good value and must not be learnt from */
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
    bool has_command;                           /* the method predicts its own command */
    ff_rigid_state command[FF_MAX_BODIES];      /* then: motion to command at t_k */
    ff_rigid_state next_command[FF_MAX_BODIES]; /* and at t_(k+1), unless the next step changes it */
    bool has_next[FF_MAX_BODIES];               /* the method advanced this body itself, finer than a cycle */
    ff_rigid_state next[FF_MAX_BODIES];         /* then: the satellite at t_(k+1); f_b is the mean wrench */
    int look_back;                              /* cycles recomputed in this step, 0: none */
    double observer[FF_MAX_BODIES][6];          /* [J] after dissipation; [0][0] alone unless per axis */
    int observers; /* 0: the method has none; 1: one for all bodies; 6: six for each */
    /* what a method learnt of the surface that each body touches, over this contact so far; FF_NAN: nothing
     */
    double stiffness[FF_MAX_BODIES];  /* [N/m] */
    double damping[FF_MAX_BODIES];    /* [N s/m] */
    double damping_sd[FF_MAX_BODIES]; /* [N s/m] */
    unsigned bounds;                  /* FF_BOUND_... that acted in this cycle */
} ff_fidelity_out;

/* ---------------------------------------------------------------------------------------------- history --
 */

#define FF_HISTORY_ROWS 64

typedef struct ff_history_body {
    ff_rigid_state satellite; /* at t_j; rewritten by a recomputation */
    ff_pose T_wr;             /* robot, as measured */
    ff_twist twist_r;         /* w body, v inertial */
    ff_wrench measured_b;     /* robot's body axes */
    ff_wrench applied_b;      /* mean over [t_j, t_(j+1)], satellite's body axes at t_j */
    ff_rigid_load load;       /* held over the cycle */
} ff_history_body;

typedef struct ff_history_row {
    double t; /* [s] t_j */
    ff_history_body body[FF_MAX_BODIES];
} ff_history_row;

/* The newest FF_HISTORY_ROWS cycles; row n is the nth that was pushed since the reset. A reset only forgets:
 * it does not touch the rows. */
typedef struct ff_history {
    uint64_t count; /* rows pushed so far */
    ff_history_row row[FF_HISTORY_ROWS];
} ff_history;

void ff_history_reset(ff_history *history);
/* A new newest row, to be filled by the caller. */
ff_history_row *ff_history_push(ff_history *history);
/* Row n, or NULL when it is not held any more or not yet. */
ff_history_row *ff_history_at(ff_history *history, uint64_t n);

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
    double known_stiffness,
        known_damping; /* [N/m], [N s/m] not FF_NAN: taken instead of the identified ones */
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
/* ------------------------------------------------------------------------------------------------ impact --
 */

#define FF_IMPACT_CONTACTS 16

typedef enum ff_impact_shape {
    FF_IMPACT_PLANE, /* a half space: wall, pair */
    FF_IMPACT_CONE
} ff_impact_shape;

/* One pair of tools whose shape is known: a tip of `body` against a plane or cone of `against`. */
typedef struct ff_impact_contact {
    ff_impact_shape shape;
    int body;
    int against;                                   /* -1: fixed in the inertial frame */
    ff_vec3 point;                                 /* [m] the tip, body frame of `body` */
    ff_vec3 at, normal;                            /* plane, frame of `against`; unit, to the free side */
    ff_vec3 apex, axis;                            /* cone, frame of `against`; unit, out of its mouth */
    double half_angle;                             /* [rad] */
    double depth;                                  /* [m] of the cone along its axis; FF_INF */
    double stiffness, damping;                     /* k_e [N/m], d_e [N s/m]: the mock-ups' */
    double satellite_stiffness, satellite_damping; /* k_d, d_d: the satellites' */
    double damping_depth;                          /* [m] over which dampings grow from zero; 0: constant */
    double friction;                               /* Coulomb coefficient; 0: forces are normal */
} ff_impact_contact;

/* [lange]. docs/methods/lange.md */
typedef struct ff_impact_config {
    bool prediction;    /* IV-F, first: command the motion one delay ahead */
    bool recomputation; /* IV-F, second: recompute the steps since the contact began */
    bool observer;      /* IV-C: the mock-ups' damping is part of the force; false: IV-B, D_e = 0 */
    bool gears;         /* IV-B: the robots' own compliance is part of the stiffness */
    bool identified;    /* the mock-ups' stiffness is identified, starting from `stiffness` */
    double stiffness;   /* [N/m] taken for the mock-ups' instead of the contact's; FF_NAN: that one */
    double restitution; /* of the satellites' contact instead of its damping; FF_NAN: the damping */
    double delay[FF_MAX_BODIES]; /* [s] from a command to the motion */
    double look_back;            /* [s] the most that is recomputed; at most FF_HISTORY_ROWS - 1 cycles */
    double noise;                /* [N] sd of the measured force */
    double position_error;       /* [m] how far surfaces may lie from where the scenario puts them */
    double drift;                /* [m/sqrt(s)] random walk of that error during a contact */
    ff_detector_config detector; /* force_on, off_ratio, quiet_cycles */
    int contacts;
    ff_impact_contact contact[FF_IMPACT_CONTACTS];
} ff_impact_config;

/* What is known of one contact. */
typedef struct ff_impact_episode {
    bool open;        /* a contact was measured and has not ended for both robots and satellites */
    bool known;       /* open, or closed so lately that a recomputation may still cross it */
    bool touching;    /* the robots touch in this cycle */
    int quiet;        /* cycles without contact so far */
    uint64_t begin;   /* history row of the last state before the satellites touched */
    uint64_t last;    /* and of the last one in contact */
    double estimate;  /* [m] x_e along the normal, from its place in the scenario: the filter's */
    double offset;    /* [m] the one that the satellites feel */
    double stiffness; /* [N/m] k_e in use */
    double since;     /* [s] from the robots' touch to this sample, at most a cycle */
    double variance;  /* [m2] of it */
    double damping;   /* [N s/m] d_d: the satellite's damping, or from the restitution */
    ff_vec3 slip_o;   /* friction: tangential over normal force, frame of `against` */
    double force;     /* [N] measured normal force */
    ff_vec3 point_o;  /* [m] contact point on `against` after (38), its frame; for logs */
    double n, x, y;   /* identification, this contact: samples, means of depth [m] and force [N] */
    double Sxx, Sxy;  /* sums of squares and products about the means, all contacts so far */
} ff_impact_episode;

typedef struct ff_impact_state {
    ff_impact_episode episode[FF_IMPACT_CONTACTS];
    uint64_t recomputations; /* steps that rewrote the past */
    int longest_look_back;   /* cycles */
} ff_impact_state;

void ff_impact_default(ff_impact_config *config);
/* FF_ERR_ARGUMENT outside the ranges, FF_ERR_SIZE for too many contacts. */
ff_status ff_impact_validate(const ff_impact_config *config);
/* Damping ratio of a spring-damper that releases at zero force, for a restitution of 0.14 to 1. */
double ff_impact_damping_ratio(double restitution);
/* [lange, (38)] contact point on a tool whose surface normals pass the tool centre point d_t at a right angle
 * to the line to the contact (a cone's apex; any point of a plane): from force and torque about the CoM, all
 * in body axes. */
ff_vec3 ff_impact_contact_point(ff_wrench f_b, ff_vec3 d_t);
/* Mock-up stiffness in use for one contact [N/m], and its standard deviation (0 when it is not identified).
 */
double ff_impact_stiffness(const ff_impact_config *config, const ff_impact_state *state, int contact,
                           double *deviation);

/* ------------------------------------------------------------------------------------------- dispatcher --
 */

typedef struct ff_fidelity_config {
    ff_method method;
    ff_tdpa_config tdpa;
    ff_damping_config damping;
    ff_impact_config impact;
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
    ff_impact_state impact;
    ff_history history; /* last: filled only by methods that look back */
} ff_fidelity_state;

void ff_fidelity_default(ff_fidelity_config *config);
/* FF_ERR_UNSUPPORTED for a method that is not built, FF_ERR_ARGUMENT for settings outside their range. */
ff_status ff_fidelity_validate(const ff_fidelity_config *config);
/* How far ahead of the satellite this body's robot is commanded [s]. */
double ff_fidelity_lead(const ff_fidelity_config *config, int body);
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
