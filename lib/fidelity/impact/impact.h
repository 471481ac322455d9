/* Shared by lib/fidelity/impact: settings, model, state and the bounded past. */
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
    ff_rigid_model body[FF_MAX_BODIES];
    int contacts;
    ff_world_contact contact[FF_METHOD_CONTACTS];
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

/* A recomputation that is longer than REPLAY_ROWS, a part in each cycle. The satellites keep the
 * motion they have until it reaches the present. */
typedef struct impact_replay {
    bool running;
    unsigned contacts;                 /* bit c: contact c acts in it, */
    uint64_t start, row;               /* history rows: where it began, how far it is */
    double offset[FF_METHOD_CONTACTS]; /* [m] with this offset */
    double mu[FF_METHOD_CONTACTS];     /* and this friction */
    ff_rigid_state body[FF_MAX_BODIES];
} impact_replay;

/* One body in one row of the past. */
typedef struct impact_past {
    ff__past past;           /* first */
    ff_rigid_state replayed; /* of a recomputation that is spread over cycles, until it is done */
} impact_past;

typedef struct impact_state {
    impact_episode episode[FF_METHOD_CONTACTS];
    double noise[FF_MAX_BODIES];    /* [N] of each sensor, measured */
    double force_on[FF_MAX_BODIES]; /* [N] threshold of each; contacts begin and end per episode */
    impact_replay replay;
    uint64_t looked;         /* row of the last recomputation's begin */
    uint64_t recomputations; /* steps that rewrote the past */
    int longest_look_back;   /* cycles */
    uint64_t bounded;        /* cycles in which the look-back was too short for a correction of a contact */
    ff__history history;     /* of impact_past, behind this struct */
} impact_state;

#endif
