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
    ff_vec3 carried;               /* [m/s] part of the motion that the robot does not make, inertial: that of
                                      the nominal motion at its place; zero unless relative */
    ff_rigid_load load;            /* known load on the satellite in this cycle */
    const double (*compliance)[6]; /* of the robot at the CoM, inertial axes, angular first: twist
                                      displacement per wrench [rad, m per N m, N]; NULL: stiff */
    bool valid;                    /* false: f_b repeats the last good value and must not be learnt from */
} ff_body_sample;

/* The bodies a method acts on, with what it may read of each. */
typedef struct ff_fidelity_in {
    const ff_body_sample *sample;
    const ff_integrate_state *output; /* velocity the robot was told, per body: V_c(k) */
} ff_fidelity_in;

typedef struct ff_fidelity_out {
    ff_wrench f_b[FF_MAX_BODIES]; /* wrench to integrate, satellite's body axes */
    bool in_contact[FF_MAX_BODIES];
    bool has_command;                           /* the method predicts its own command */
    ff_rigid_state command[FF_MAX_BODIES];      /* then: motion to command at t_k */
    double lead[FF_MAX_BODIES];                 /* [s] and how far after t_k that motion lies */
    ff_rigid_state next_command[FF_MAX_BODIES]; /* and at t_(k+1), unless the next step changes it */
    bool has_next[FF_MAX_BODIES];               /* the method advanced this body itself, finer than a cycle */
    ff_rigid_state next[FF_MAX_BODIES];         /* then: the satellite at t_(k+1); f_b is the mean wrench */
    int look_back;                              /* cycles recomputed in this step, 0: none */
    double observer[FF_MAX_BODIES][6];          /* [J] after dissipation; [0][0] alone unless per axis */
    int observers; /* 0: the method has none; 1: one for all bodies; 6: six for each */
    /* of the surface that each body touches, over this contact so far; FF_NAN: nothing is known */
    double stiffness[FF_MAX_BODIES];     /* [N/m] */
    double damping[FF_MAX_BODIES];       /* [N s/m] */
    double damping_sd[FF_MAX_BODIES];    /* [N s/m] */
    unsigned bounds;                     /* FF_BOUND_... that acted in this cycle */
    const struct ff_fused_report *fused; /* per body, NULL: not this method */
} ff_fidelity_out;

/* ---------------------------------------------------------------------------------------------- history --
 */

#define FF_HISTORY_ROWS 1024

typedef struct ff_history_body {
    ff_rigid_state satellite; /* at t_j; rewritten by a recomputation */
    ff_rigid_state replayed;  /* the same of a recomputation that is spread over cycles, until it is done */
    ff_rigid_load load;       /* held over the cycle */
} ff_history_body;

typedef struct ff_history_row {
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
} ff_tdpa_state;

void ff_tdpa_default(ff_tdpa_config *config);
void ff_tdpa_printed(ff_tdpa_config *config);

/* ---------------------------------------------------------------------------------------------- damping --
 */

typedef enum ff_damping_law { FF_DAMPING_LAW_CLAMP, FF_DAMPING_LAW_PRINTED } ff_damping_law;
typedef enum ff_damping_budget {                             /* what the surface keeps: the sum of c v^2 T */
                                 FF_DAMPING_BUDGET_VELOCITY, /* over the contact that the satellites have
                                                                without delay */
                                 FF_DAMPING_BUDGET_RESTITUTION, /* of the same contact in closed form, 1 - e^2
                                                                 */
                                 FF_DAMPING_BUDGET_ROBOT        /* at the robot's motion */
} ff_damping_budget;
typedef enum ff_damping_axes { FF_DAMPING_AXES_FORCE, FF_DAMPING_AXES_EACH } ff_damping_axes;

/* [he2022, 3]. The default is the clamp of tdpa whose energy budget is reduced by what the identified surface
 * dissipates; `printed` is the observer and controller (8)-(15). docs/methods/he2022.md says why they differ.
 */
typedef struct ff_damping_config {
    ff_damping_law law;
    ff_damping_budget budget; /* clamp */
    ff_damping_axes axes;     /* printed: controller along the force, or on each axis as in (11)-(13) */
    ff_lead_config lead;
    ff_identify_config identify;
    bool measured_noise; /* identify with the noise measured in flight, not identify.noise */
    double known_stiffness, known_damping; /* [N/m], [N s/m] instead of the identified; FF_NAN: none */
    ff_detector_config detector;
} ff_damping_config;

/* One contact per body; a contact between two bodies lives under the lower index. */
typedef struct ff_damping_port {
    int partner;                  /* -1: the environment */
    ff_vec3 normal;               /* along the force on the body when identification began, inertial */
    double absorbed;              /* [J] what the environment took in this contact */
    double absorbed_most;         /* [J] the largest of it */
    double speed_square;          /* [m2/s] robot's approach speed squared, summed over the contact */
    double loss;                  /* [J] to be kept from the satellites */
    double energy;                /* [J] printed: E_obs after dissipation */
    double force, speed, damping; /* printed: last cycle's F_s, v_des, c_d */
    ff_identify_state identify;   /* of the robot's contact: what is reported */
    ff_identify_state own;        /* weighed as the satellite's own contact: what the budget takes */
    ff_identify_state graded;     /* damping by depth: the reported mean over time */
    ff_identify_out known, known_own, known_graded; /* last published */
} ff_damping_port;

typedef struct ff_damping_state {
    double energy; /* [J] absorbed by the environment in this contact, all bodies, not yet given back */
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
/* Rows recomputed in one cycle; longer recomputations are spread over cycles. */
#define FF_IMPACT_REPLAY_ROWS 63

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

typedef enum ff_impact_normal {
    FF_IMPACT_NORMAL_TOOLS, /* of the known tools, at the satellites */
    FF_IMPACT_NORMAL_FORCE  /* (17): the measured force's direction */
} ff_impact_normal;
typedef enum ff_impact_torque {
    FF_IMPACT_TORQUE_LEVER,   /* (13): force times lever */
    FF_IMPACT_TORQUE_MEASURED /* (21): and what the measured torque has beyond it */
} ff_impact_torque;

/* [lange]. docs/methods/lange.md */
typedef struct ff_impact_config {
    ff_impact_normal normal;
    ff_impact_torque torque;
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
    ff_detector_config detector; /* force_on, multiple, off_ratio, quiet_cycles */
    int contacts;
    ff_impact_contact contact[FF_IMPACT_CONTACTS];
} ff_impact_config;

/* What is known of one contact. */
typedef struct ff_impact_episode {
    bool open;           /* a contact was measured and has not ended for both robots and satellites */
    bool known;          /* open, or closed so lately that a recomputation may still cross it */
    bool touching;       /* the robots touch in this cycle */
    int quiet;           /* cycles without contact so far */
    uint64_t begin;      /* history row of the last state before the satellites touched */
    uint64_t last;       /* and of the last one in contact */
    double estimate;     /* [m] x_e along the normal, from its place in the scenario: the filter's */
    double offset;       /* [m] the one that the satellites feel */
    double stiffness;    /* [N/m] k_e in use */
    double since;        /* [s] from the robots' touch to this sample, at most a cycle */
    double variance;     /* [m2] of it */
    double damping;      /* [N s/m] d_d: the satellite's damping, or from the restitution */
    double mu;           /* friction in use */
    double mu_found;     /* the one that the robots show */
    bool again;          /* a spread recomputation ended with an older offset than is known now */
    double mu_xx, mu_xy; /* [N2] normal force squared, and times the tangential one, while the robots slide,
                            all contacts so far */
    ff_vec3 n_o;         /* (17): direction of the force on `body`, frame of `against` */
    ff_vec3 rest_b[2];   /* [N m] (21): measured torque less force times lever, of `body` and `against` */
    double force;        /* [N] measured normal force */
    double n, x, y;      /* identification, this contact: samples, means of depth [m] and force [N] */
    double Sxx, Sxy;     /* sums of squares and products about the means, all contacts so far */
    double depth;        /* [m] of the robots, last cycle in contact */
    ff_identify_state surface, graded; /* for the report: stiffness and damping of this contact */
    ff_identify_out found, found_graded;
} ff_impact_episode;

/* A recomputation that is longer than FF_IMPACT_REPLAY_ROWS, a part in each cycle. The satellites keep the
 * motion they have until it reaches the present. */
typedef struct ff_impact_replay {
    bool running;
    unsigned contacts;                 /* bit c: contact c acts in it, */
    uint64_t start, row;               /* history rows: where it began, how far it is */
    double offset[FF_IMPACT_CONTACTS]; /* [m] with this offset */
    double mu[FF_IMPACT_CONTACTS];     /* and this friction */
    ff_rigid_state body[FF_MAX_BODIES];
} ff_impact_replay;

typedef struct ff_impact_state {
    ff_impact_episode episode[FF_IMPACT_CONTACTS];
    ff_detector_state detector[FF_MAX_BODIES]; /* noise of each sensor; contacts begin and end per episode */
    ff_impact_replay replay;
    uint64_t looked;         /* row of the last recomputation's begin */
    uint64_t recomputations; /* steps that rewrote the past */
    int longest_look_back;   /* cycles */
    uint64_t bounded;        /* cycles in which the look-back was too short for a correction of a contact */
} ff_impact_state;

void ff_impact_default(ff_impact_config *config);
/* IV-B to the letter: (17), (21), D_e = 0. */
void ff_impact_printed(ff_impact_config *config);
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
/* ------------------------------------------------------------------------------------------------ fused --
 */

enum {
    FF_FUSED_RING = 1024,  /* cycles of history; the look-back is a little shorter */
    FF_FUSED_CONTACTS = 6, /* contacts at once, over all bodies */
    FF_FUSED_WALLS = 12    /* surfaces remembered */
};

/* The project's own method: docs/methods/fused.md. Nothing is known of what is touched. */
typedef struct ff_fused_config {
    double delay[FF_MAX_BODIES];        /* [s] >= 0 told: from command to motion, dead time and lag */
    bool delay_fixed;                   /* keep it as told */
    double acceleration[FF_MAX_BODIES]; /* [m/s2] the robot's limit, for the causal limit in the report alone;
                                           0: none */
    double force_noise;                 /* [N] sd of one axis of the sensor */
    double torque_noise;                /* [N m] likewise */
    double skew;                        /* [s] the force is so much older than the pose */
    double stiffness;                   /* [N/m] a guess, used as a weak prior; 0: none */
    int plane_of[FF_MAX_BODIES]; /* a contact between two bodies: 1 where the body carries the surface, 0 the
                                    tip; equal: the first one carries the tip */
    uint64_t random_estimates;   /* tests only: not 0 seeds an estimator that answers at random */
} ff_fused_config;

/* One cycle of one body as it is remembered. */
typedef struct ff_fused_sample {
    ff_rigid_state body; /* satellite at t_k */
    ff_pose T_r;         /* robot at the time of the force */
    ff_twist twist_r;    /* w body, v inertial */
    ff_vec3 force;       /* [N] measured contact force, inertial */
    ff_vec3 torque;      /* [N m] about the CoM, body axes */
    ff_rigid_load load;  /* known load of the cycle that begins here */
    double limit;        /* [J] kinetic energy that the body's group may have here while in contact */
    bool valid;
} ff_fused_sample;

/* Search for the normal where there is friction, spread over cycles like the rest. */
typedef struct ff_fused_simplex {
    ff_vec3 middle;                     /* tilts are counted from here */
    double x[3][2], J[3];               /* corners, best first */
    double trial[2], first[2], J_trial; /* next trial; the mirrored one and its misfit */
    double least;
    int kind;   /* of the next trial */
    bool again; /* begun a second time */
    int look;   /* points tried for the second beginning */
} ff_fused_simplex;

/* Search for the depth over which a surface's damping grows. */
typedef struct ff_fused_depth {
    int trial;         /* of the next fit */
    double x[3], J[3]; /* logarithms of the depth in order, and their misfits */
    double next;
    ff_profile best;
} ff_fused_depth;

/* What the first pass of a settlement found. */
typedef struct ff_fused_settled {
    ff_profile surface;
    ff_vec3 n, r;
    double mu;
    double misfit; /* mean of a row */
} ff_fused_settled;

/* One contact: along a normal at a point, or (kind torque) about an axis. */
typedef struct ff_fused_contact {
    bool open;
    bool settled; /* ended, but a replay still passes over it */
    bool torque;  /* a pure torque about n, body axes of a */
    int a, b;     /* bodies; b < 0: the world */
    ff_vec3 n;    /* outward normal in b's axes (world: inertial); torque: axis in a's */
    ff_vec3 r;    /* [m] contact point, a's axes */
    double mu;    /* identified friction */
    double mu_step;
    bool slides; /* the tip moves along the surface: friction is possible */
    ff_profile surface;
    uint64_t anchor, detected, end; /* cycles */
    uint64_t due;                   /* next estimate */
    uint64_t law_due;               /* next trial of the other laws */
    int law_trial;                  /* law to try next; 0: none */
    double mass;                    /* [kg] effective, along n at the contact point */
    double speed;                   /* [m/s] towards the surface at the anchor */
    double force_max;               /* [N] */
    double torque_max;
    double alarm_sum;
    int quiet, silent; /* cycles: over for satellite and robot; without a force */
    bool abandoned;    /* ended for want of a force while the satellite was still inside */
    int wall;          /* in memory: index, -1 unknown */
    bool wall_used;
    uint64_t row_from; /* rows kept from here on */
    bool frozen;       /* longer than the history: the estimate is kept */
    bool closing;      /* ended, and being settled: a last estimate and replay are under way */
    /* the estimate under way, spread over cycles: nothing of it acts before it is complete */
    int stage;           /* fused.h */
    uint64_t asked;      /* cycle in which it fell due */
    uint64_t row, until; /* next row; last row that takes part */
    int passes;          /* of the settlement: estimates left before the replay */
    ff_vec3 n_new, r_new;
    ff_vec3 n_force;           /* direction of the force */
    double sum_n[6], sum_r[6]; /* of F F', and of (F.F - F F') for the contact point: upper triangles */
    ff_vec3 sum_y;             /* of F x M */
    double sum_t[6];           /* of M M', axes of n */
    double sum_m;              /* of M.M */
    int rows_r;                /* rows in the sums of the contact point */
    double force_new, torque_new, peak;
    double f_last[2];    /* the two rows before, for the median of three */
    unsigned laws;       /* bit mask: still to be tried */
    int mu_side, mu_try; /* where the search for friction stands */
    double mu_best, mu_without;
    double lean_misfit; /* what the settlement's search for friction left: mean of a row */
    ff_vec3 n_best;
    ff_profile fit, zero, rival;
    ff_fused_settled first;
    bool tried;              /* so judged once */
    bool united;             /* judged as the only contact, with friction, in place of all those beside it */
    ff_fused_settled before; /* what it was as one of them */
    uint64_t end_before;
    ff_fused_depth grows;
    ff_fused_simplex simplex;
    ff_profile_search search;
    double s[FF_FUSED_RING], v[FF_FUSED_RING], f[FF_FUSED_RING], residual[FF_FUSED_RING];
    unsigned char use[FF_FUSED_RING];
} ff_fused_contact;

/* A recomputation that is under way: the history is new up to `at`, old behind it. */
typedef struct ff_fused_replay {
    bool active;
    unsigned bodies; /* bit mask */
    uint64_t at;
} ff_fused_replay;

typedef struct ff_fused_wall {
    bool valid;
    bool torque;
    int a, b;
    ff_vec3 n, r;
    ff_profile surface;
    double mu;
    double force_max;
    uint64_t last; /* cycle of its last contact */
    int missing;   /* cycles in which the robot should have felt it and did not */
    int inside;    /* cycles that the satellite has been in it without a force */
} ff_fused_wall;

enum { /* why a contact lies outside the domain in which the method is known to be right */
       FF_FUSED_FEW_SAMPLES = 1, /* fewer than 4 in contact */
       FF_FUSED_WEAK = 2,        /* peak below 10 times the noise */
       FF_FUSED_SKEW = 4,        /* skew and w: (pi/2) w skew above 1 % */
       FF_FUSED_LOOK_BACK = 8,   /* longer than the history */
       FF_FUSED_NO_ESTIMATE = 16,
       FF_FUSED_LATE = 32,      /* w tau above 1.65 on a first contact */
       FF_FUSED_SEVERAL = 64,   /* another contact acted on the body at the same time */
       FF_FUSED_FRICTION = 128, /* friction above .15, or under noise with w tau above 1 */
       FF_FUSED_MISFIT = 256    /* no law explains the force */
};

/* What is known of the last contact of a body: while it lasts, and after. */
typedef struct ff_fused_report {
    bool known;                     /* a surface is identified */
    bool torque;                    /* rotation about the normal: stiffness in N m/rad and so on */
    int law;                        /* 0..FF_PROFILE_LAWS - 1 */
    double stiffness, stiffness_sd; /* [N/m], of laws with exponent n [N/m^n] */
    double damping, damping_sd;     /* [N s/m], laws 1 to 3 [N s/m^(n+1)] */
    double surface_sd;              /* [m] of its place along the normal */
    ff_vec3 surface;                /* [m] point on it */
    ff_vec3 normal;                 /* inertial, on a moving surface in that body's axes */
    ff_vec3 point;                  /* [m] contact point, body axes */
    double friction;
    double delay, delay_told; /* [s] */
    double peak_limit; /* [N] least robot force that any causal method reaches here without a known wall */
    double peak_ideal; /* [N] of this surface without delay */
    int samples;       /* in contact, as the satellite feels it */
    bool warm;         /* the wall was known before */
    unsigned outside;  /* FF_FUSED_...; 0: inside the validity domain */
    uint32_t contacts; /* so far */
} ff_fused_report;

typedef struct ff_fused_info {
    uint32_t net, false_alarms, phantoms, law_switches, bounds, look_back, delay_changes;
} ff_fused_info;

typedef struct ff_fused_state {
    uint64_t k;                  /* cycles done */
    double delay[FF_MAX_BODIES]; /* [s] as the robot shows it */
    double lead[FF_MAX_BODIES];  /* [s] of the commands: follows it without a jump */
    int delay_count[FF_MAX_BODIES];
    uint64_t delay_wait[FF_MAX_BODIES];
    uint64_t quiet_since[FF_MAX_BODIES]; /* last cycle with a force or a load */
    uint64_t free_since[FF_MAX_BODIES];  /* end of the last contact */
    int torque_hits[FF_MAX_BODIES], side_hits[FF_MAX_BODIES];
    ff_quat start[FF_MAX_BODIES]; /* rotations are counted from here */
    ff_rng rng;
    ff_fused_info info;
    ff_fused_report report[FF_MAX_BODIES];
    ff_fused_wall wall[FF_FUSED_WALLS];
    ff_fused_replay replay[FF_MAX_BODIES];
    ff_fused_contact contact[FF_FUSED_CONTACTS];
    ff_fused_sample ring[FF_MAX_BODIES][FF_FUSED_RING]; /* cycle k lies at k % FF_FUSED_RING */
} ff_fused_state;

void ff_fused_default(ff_fused_config *config);
ff_status ff_fused_validate(const ff_fused_config *config);
const char *ff_fused_law_name(int law); /* "linear", "hertz", ... */

/* ------------------------------------------------------------------------------------------- dispatcher --
 */

/* ------------------------------------------------------------------------------------------------- pair --
 */

/* Two bodies that hold each other. `tdpa` then observes the pair and not the bodies: [destefano2021, VI]
 * leaves open what a passivity controller may damp in relative motion. Damping each robot's absolute velocity
 * stops the tumble, damping each robot's relative velocity makes momentum; damping the relative velocity at
 * the gripper with one wrench, equal and opposite about one point, does neither. */
typedef struct ff_pair_config {
    int body, against; /* body holds against; -1: no pair */
    ff_vec3 point;     /* [m] the gripper in the frame of `body`, from its CoM */
} ff_pair_config;

typedef struct ff_pair_state {
    double energy; /* [J] given by the contact at the robots, less what the satellites took */
    ff_wrench f;   /* wrench on `body` at the gripper in the axes of `against`, last cycle */
    ff_vec3 x;     /* [m] and the measured place of the gripper there */
    ff_quat q;     /* and the measured attitude */
    bool started;
} ff_pair_state;

typedef struct ff_fidelity_config {
    ff_method method;
    ff_tdpa_config tdpa;
    ff_pair_config pair; /* of tdpa */
    ff_damping_config damping;
    ff_impact_config impact;
    ff_fused_config fused;
} ff_fidelity_config;

typedef struct ff_fidelity_model {
    ff_fidelity_config config;
    ff_integrate_config integrate;
    int bodies;
    ff_rigid_model body[FF_MAX_BODIES];
} ff_fidelity_model;

typedef struct ff_fidelity_state {
    ff_tdpa_state tdpa;
    ff_pair_state pair;
    ff_damping_state damping;
    ff_impact_state impact;
    ff_history history; /* last: filled only by methods that look back */
    ff_fused_state fused;
} ff_fidelity_state;

void ff_fidelity_default(ff_fidelity_config *config);
/* FF_ERR_UNSUPPORTED for a method that is not built, FF_ERR_ARGUMENT for settings outside their range. */
ff_status ff_fidelity_validate(const ff_fidelity_config *config);
/* How far ahead of the satellite this body's robot is commanded [s]. */
void ff_fidelity_reset(const ff_fidelity_model *model, const ff_rigid_state *body, ff_fidelity_state *state);
/* Corrects the wrenches of all bodies together: a contact between two satellites is one exchange of energy.
 * body[] are the satellites at t_k; methods that look back may overwrite them (the loop books the
 * difference). */
void ff_fidelity_step(const ff_fidelity_model *model, ff_fidelity_state *state, const ff_fidelity_in *in,
                      ff_rigid_state *body, ff_fidelity_out *out);
/* How far ahead [s] the method's commands are: 0 for those that command the present. */
double ff_fidelity_lead(const ff_fidelity_model *model, const ff_fidelity_state *state, int body);

#ifdef __cplusplus
}
#endif
#endif
