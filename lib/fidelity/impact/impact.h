/* Shared by lib/fidelity/impact: settings, model, state, and what the files call of each other. The bounded
 * past and its recomputation are lib/history's. */
#ifndef FF_FIDELITY_IMPACT_H
#define FF_FIDELITY_IMPACT_H

#include "freefloat/fidelity.h"
#include "history/history.h"

enum {
    HISTORY_BITS = 10, /* maximum number kept: 1 << bits */
    HISTORY_ROWS = 1 << HISTORY_BITS,
    REPLAY_ROWS = 63 /* recomputed in one cycle; longer recomputations are spread over cycles */
};

enum { NORMAL_TOOLS, NORMAL_FORCE }; /* of the known tools, at the satellites; (17): the measured force's */
enum { TORQUE_LEVER, TORQUE_MEASURED }; /* (13): force times lever; (21): and what is measured beyond it */

/* [lange]. docs/methods/lange.md */
typedef struct impact_settings {
    int reading, normal, torque;
    bool prediction;       /* IV-F, first: command the motion one delay ahead */
    bool recomputation;    /* IV-F, second: recompute the steps since the contact began */
    bool observer;         /* IV-C: the mock-ups' damping is part of the force; false: IV-B, D_e = 0 */
    bool gears;            /* IV-B: the robots' own compliance is part of the stiffness */
    double stiffness;      /* [N/m] taken for the mock-ups'; FF_NAN: the contact's; FF_INF: identified */
    double guess;          /* [N/m] where identification starts; FF_NAN: at the contact's */
    double restitution;    /* of the satellites' contact instead of its damping; FF_NAN: the damping */
    double delay;          /* [s] from a command to the motion; FF_NAN: each robot's own */
    double look_back;      /* [s] maximum that is recomputed; at most HISTORY_ROWS - 1 cycles */
    double threshold;      /* [N] */
    double position_error; /* [m] how far surfaces may lie from where the scenario puts them */
    double drift;          /* [m/sqrt(s)] random walk of that error during a contact */
} impact_settings;

typedef struct impact_model {
    impact_settings set;
    bool identified;             /* the mock-ups' stiffness is identified, */
    double stiffness;            /* [N/m] starting from here; FF_NAN: the contact's own */
    double delay[FF_MAX_BODIES]; /* [s] from a command to the motion */
    double noise;                /* [N] sd of the force as configured */
    ff_detector_config detector; /* force_on, multiple, off_ratio, quiet_cycles */
    ff_integrate_config integrate;
    int bits; /* 1 << bits rows of history */
    int bodies;
    ff_body_view view[FF_MAX_BODIES];
    int contacts;
    ff_world_contact contact[FF_METHOD_CONTACTS];
    ff__cone cone[FF_METHOD_CONTACTS];
    double level[FF_METHOD_CONTACTS]; /* [m] of a plane along its normal; depth is the place's s and this */
} impact_model;

/* What is known of one contact. */
typedef struct impact_episode {
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
} impact_episode;

/* A recomputation that is longer than REPLAY_ROWS, a part in each cycle. The satellites keep the motion they
 * have, and the offsets they feel, until it reaches the present. */
typedef struct impact_replay {
    bool running;
    unsigned contacts;                 /* bit c: contact c acts in it, */
    uint64_t start, at;                /* history rows: where it began; new up to here, old behind it */
    double offset[FF_METHOD_CONTACTS]; /* [m] with this offset */
    double mu[FF_METHOD_CONTACTS];     /* and this friction */
} impact_replay;

typedef struct impact_state {
    impact_episode episode[FF_METHOD_CONTACTS];
    double noise[FF_MAX_BODIES];    /* [N] of each sensor, measured */
    double force_on[FF_MAX_BODIES]; /* [N] threshold of each; contacts begin and end per episode */
    impact_replay replay;
    uint64_t looked;         /* row of the last recomputation's begin */
    uint64_t recomputations; /* steps that rewrote the past */
    int longest_look_back;   /* cycles */
    uint64_t bounded;        /* cycles in which the look-back was too short for a correction of a contact */
    ff__history history;     /* of ff__past, behind this struct */
} impact_state;

/* What the robots say in one cycle. */
typedef struct impact_measured {
    ff_rigid_state robot[FF_MAX_BODIES];
    ff_vec3 force[FF_MAX_BODIES]; /* inertial */
    ff_vec3 torque_b[FF_MAX_BODIES];
    ff__touch at[FF_METHOD_CONTACTS];      /* s: depth in the scenario's geometry */
    double force_n[FF_METHOD_CONTACTS];    /* [N] normal force of each contact */
    double noise[FF_METHOD_CONTACTS];      /* [N] its standard deviation, as it is divided in this cycle */
    double compliance[FF_METHOD_CONTACTS]; /* [m/N] of the robots along each normal */
} impact_measured;

/* What a contact asks for: nothing, the past within this cycle, or spread over several. */
typedef enum impact_look { LOOK_NOT, LOOK_NOW, LOOK_SPREAD } impact_look;

/* The satellites and the contacts that act on them. Points into itself: not to be copied. */
typedef struct impact_flow {
    ff__march w;
    ff__actor act[FF_METHOD_CONTACTS];
    ff_profile surface[FF_METHOD_CONTACTS];
} impact_flow;

/* impact.c: one cycle */
ff_status ff__impact_step(const void *model, void *state, const ff_method_in *in, ff_method_out *out);

/* measure.c: geometry, and what the robots say */
ff__place ff__impact_place(const impact_model *model, int contact);
ff__touch ff__impact_touch(const impact_model *model, int contact, const ff_rigid_state *body);
/* Inverse of the mass that a normal force moves there [1/kg]. */
double ff__impact_mobility(const impact_model *model, int contact, const ff_rigid_state *body,
                           const ff__touch *t);
/* [N] standard deviation per axis of the forces that indicate a contact: measured in flight, else the
 * config's. */
double ff__impact_noise(const impact_model *model, const impact_state *state, int contact);
void ff__impact_measure(const impact_model *model, const ff_method_in *in, const impact_state *state,
                        impact_measured *m);

/* environment.c: what is known of each contact */
double ff__impact_stiffness(const impact_model *model, const impact_state *state, int contact,
                            double *deviation);
double ff__impact_look_back(const impact_model *model); /* rows that may be looked back */
/* Follows one contact for one cycle; says whether the satellites' past should be looked at again. */
impact_look ff__impact_follow(const impact_model *model, impact_state *state, int contact, uint64_t row,
                              const ff_rigid_state *body, const impact_measured *m, bool *bounded);

/* recompute.c: the satellites' motion with these contacts, now and in the past */
void ff__impact_flow_begin(const impact_model *model, impact_flow *f);
void ff__impact_flow_add(const impact_model *model, const impact_episode *e, int contact, double offset,
                         double mu, impact_flow *f);
/* All that this cycle looks back. Returns how far [cycles]. */
int ff__impact_recompute(const impact_model *model, impact_state *state, uint64_t now, unsigned looks,
                         unsigned spread, ff_rigid_state *body, bool *bounded);

#endif
