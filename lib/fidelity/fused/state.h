/* lib/fidelity/fused: settings, model and state. fused.h has what the files call of each other.
 *
 * A contact has a tip on body a and a surface on body b (or the world). With the outward normal n fixed in b,
 * s = -n.(tip in b's frame) grows into the surface, and the force on a is +f n. */
#ifndef FF_FIDELITY_FUSED_STATE_H
#define FF_FIDELITY_FUSED_STATE_H

#include "freefloat/fidelity.h"
#include "history/history.h"

#include <stddef.h>

enum {
    FUSED_BITS = 10, /* 1 << bits cycles of history, at most; the look-back is a little shorter */
    FUSED_RING = 1 << FUSED_BITS,
    FUSED_CONTACTS = 6, /* contacts at once, over all bodies */
    FUSED_WALLS = 12    /* surfaces remembered */
};

/* The project's own method: docs/methods/fused.md. Nothing is known of what is touched. */
typedef struct fused_settings {
    int tracking;                      /* 0: the delay is followed in free flight */
    double delay;                      /* [s] of every robot; FF_NAN: each robot's own */
    double force_noise, torque_noise;  /* [N], [N m] sd of one axis of the sensor */
    double skew;                       /* [s] the force is so much older than the pose */
    double stiffness;                  /* [N/m] a guess, used as a weak prior; 0: none */
    double look_back;                  /* [s] of history; FF_INF: all that may be */
    double sensor_lag;                 /* [s] time constant of the sensor's low pass; 0: none */
    int zero;                          /* 0: the sensor's offset is learnt in flight */
    double pose_noise, velocity_noise; /* [m], [m/s] sd of one axis of what the robots report */
} fused_settings;

typedef struct fused_config {
    double delay[FF_MAX_BODIES];        /* [s] >= 0 configured: from command to motion, dead time and lag */
    bool delay_fixed;                   /* keep it as configured */
    double acceleration[FF_MAX_BODIES]; /* [m/s2] the robot's limit, for the causal limit in the report alone;
                                           0: none */
    double force_noise;                 /* [N] sd of one axis of the sensor */
    double torque_noise;                /* [N m] likewise */
    double skew;                        /* [s] the force is so much older than the pose */
    double sensor_lag;                  /* [s] time constant of the sensor's low pass; 0: none */
    bool zero;                          /* the sensor may have an offset: it is learnt in flight */
    bool swings;                        /* a mock-up bends, as it is known */
    double pose_noise, velocity_noise;  /* [m], [m/s] sd of one axis of what the robots report */
    double stiffness;                   /* [N/m] a guess, used as a weak prior; 0: none */
    int plane_of[FF_MAX_BODIES]; /* a contact between two bodies: 1 where the body carries the surface, 0 the
                                    tip; equal: the first one carries the tip */
    bool bodies_only[FF_MAX_BODIES]; /* nothing fixed is within its reach */
    uint64_t random_estimates;       /* tests only: not 0 seeds an estimator that answers at random */
} fused_config;

typedef struct fused_model {
    fused_config config;
    bool hears; /* the force is late or passes a low pass, as is known: rows are of the robot now,
                   and laws pass through the sensor's model before they are compared */
    ff_profile_channel channel; /* that model */
    ff_integrate_config integrate;
    int bits; /* 1 << bits cycles of history */
    int bodies;
    bool yields; /* a robot does */
    ff_body_view view[FF_MAX_BODIES];
} fused_model;

/* One cycle of one body as it is remembered. */
typedef struct fused_sample {
    ff__past past;    /* first */
    ff_pose T_r;      /* robot at the time of the force */
    ff_twist twist_r; /* w body, v inertial */
    ff_vec3 force;    /* [N] measured contact force, inertial */
    ff_vec3 torque;   /* [N m] about the CoM, body axes */
    bool valid;
    bool hears;           /* rows are of the robot of this cycle: the sensor is modelled */
    ff_setpoint measured; /* robot as it was reported in this cycle */
    ff_wrench reading;    /* with the sensor's offset, body axes; where that is learnt */
} fused_sample;

/* How far the sensor's low pass is behind the motion. */
typedef struct fused_lag {
    bool begun;
    ff_setpoint last; /* that went in */
    struct {
        ff_vec3 p, q, v, w;
    } off; /* what came out, less that */
} fused_lag;

/* Axes of a robot behind its motors in one cycle. */
typedef struct fused_axes {
    double J[6][6];                                /* of the CoM at these axes, inertial, angular first */
    double angle[6], rate[6], torque[6], motor[6]; /* [rad] less the motor, [rad/s] its own, [N m], [rad] */
} fused_axes;
typedef struct fused_gears {
    bool begun, moving;      /* one cycle, two cycles seen */
    double K[6], D[6], I[6]; /* as in ff_gears */
    double C[6][6];          /* of the robot at the CoM, inertial axes, angular first */
    fused_axes now;
} fused_gears;

/* The sensor's offset, body axes. */
typedef struct fused_zero {
    bool known;
    ff_wrench at, slope; /* now; in a second */
    uint64_t next;       /* row to learn from */
    double P[3];         /* covariance of both, in units of a reading's variance: value, both, slope */
} fused_zero;

/* Search for a normal with friction and the surface along it, together, spread over cycles like the rest. */
enum { FUSED_STARTS = 3 };
typedef struct fused_slant {
    ff_vec3 n;
    double mu, x0, k, c; /* x0 [m] counted from a point of the tip's */
    double rest;         /* [m2/s2] square of the slip at which friction fades */
} fused_slant;
typedef struct fused_slants { /* normal equations at one of them, and its misfit */
    fused_slant at;
    double A[49], b[7], J;
} fused_slants;
typedef struct fused_look { /* normals on rings about the force: the best, well apart */
    int tried;
    ff_vec3 start[FUSED_STARTS];
    double J[FUSED_STARTS];
} fused_look;
typedef struct fused_cone {
    fused_slants now, trial;
    ff_vec3 next;         /* of the next trial: normal, */
    double rest;          /* as in a slant, */
    double lambda, moved; /* of the method; by how much that is another one */
    int trials, begun;    /* of this start; starts */
    ff_vec3 from;         /* where the tip was detected */
    fused_look look;      /* for the other starts */
    double least;         /* misfit of the best so far */
} fused_cone;

/* Whether one surface with friction explains the force across it, in rows of one body. */
typedef struct fused_glance {
    int body;
    uint64_t from, to;
    ff_vec3 r;          /* [m] the tip, body axes */
    double least;       /* [N] rows with a smaller force are not looked at */
    double left, whole; /* [N2] squares of the force: what is left across it at best, all */
    int rows;
    fused_look look;
    int followed; /* of its starts, to the bottom of their valleys */
} fused_glance;

/* Search for the depth over which a surface's damping grows. */
typedef struct fused_depth {
    int trial;         /* of the next fit */
    double x[3], J[3]; /* logarithms of the depth in order, and their misfits */
    double next;
    ff_profile best;
} fused_depth;

/* What the first pass of a settlement found. */
typedef struct fused_settled {
    ff_profile surface;
    ff_vec3 n, r;
    double mu;
    double misfit; /* mean of a row */
} fused_settled;

/* One cycle of one contact. */
typedef struct fused_row {
    double s, v;       /* [m], [m/s] of the robots into the surface */
    double f;          /* [N] measured */
    double residual;   /* [N] less the law at the robots */
    unsigned char use; /* by an estimate: 0 over or no sample, 1, 2 an outlier */
} fused_row;

/* Sums over the rows, for the normal and the contact point; symmetric matrices by their upper triangles. */
typedef struct fused_sums {
    double n[6], r[6]; /* of F F', and of (F.F - F F') for the contact point */
    ff_vec3 y;         /* of F x M */
    double t[6];       /* of M M', axes of n */
    double m;          /* of M.M */
    int rows;          /* in those of the contact point */
} fused_sums;

/* What is seen while rows are taken along a new normal. */
typedef struct fused_taken {
    double force, torque; /* [N], [N m] the largest */
    double peak;          /* [N] median of three */
    double last[2];       /* the two rows before */
} fused_taken;

/* An estimate before it acts. */
typedef struct fused_next {
    ff_vec3 n, r;
    ff_vec3 force; /* direction of the force */
    ff_profile surface;
} fused_next;

/* The other laws of a surface in turn. */
typedef struct fused_laws {
    uint64_t due;    /* next trial of them */
    int trial;       /* law to try next; 0: none */
    unsigned left;   /* bit mask: still to be tried */
    ff_profile zero; /* the first one, to compare with */
    fused_depth grows;
} fused_laws;

/* Where the search for friction stands. */
typedef struct fused_lean {
    double step;
    int side, tried;
    double mu, without; /* best so far; misfit without friction */
    ff_vec3 n;
    double misfit; /* what the settlement's search left: mean of a row */
    fused_cone cone;
} fused_lean;

/* The contact judged as the only one, with friction, in place of all those beside it. */
typedef struct fused_union {
    bool judged, tried;   /* now; once */
    fused_settled before; /* what it was as one of them */
    uint64_t end;
} fused_union;

/* Whether it is over. */
typedef struct fused_ending {
    double sum;        /* [N] of the first samples: noise has none */
    int quiet, silent; /* cycles: over for satellite and robot; without a force */
    bool abandoned;    /* ended for want of a force while the satellite was still inside */
} fused_ending;

/* Contacts of one body at one time, fitted together. */
enum { FUSED_JOINT = 4, FUSED_JOINT_ALL = 8 * FUSED_JOINT };
typedef struct fused_point {
    ff_vec3 n, r;    /* as a contact's */
    ff_vec3 at;      /* [m] inertial: depth is counted from here */
    double x0, k, c; /* [m], [N/m], [N s/m] */
} fused_point;
typedef struct fused_system { /* sums of the normal equations at some points, and their misfit */
    fused_point at[FUSED_JOINT];
    double A[FUSED_JOINT_ALL * FUSED_JOINT_ALL], b[FUSED_JOINT_ALL];
    double J, J_force; /* all; of the force alone */
} fused_system;
enum { FUSED_VARIED = 6 };  /* tilts of three normals */
typedef struct fused_vary { /* vary.c: the best so far; a trial, then the best with each tilt varied */
    fused_point base[FUSED_JOINT], at[1 + FUSED_VARIED][FUSED_JOINT];
    double J, lambda, A[FUSED_VARIED * FUSED_VARIED], b[FUSED_VARIED];
    int lane, trials;
} fused_vary;
typedef struct fused_joint {
    int stage;                    /* several.c; 0: none is under way */
    int body, count;              /* contacts */
    unsigned members;             /* bit mask of the records that they replace */
    bool alone;                   /* one, that may be several */
    bool first;                   /* before one contact with friction is tried: it must be exact */
    bool common;                  /* one point bears all, */
    int spot;                     /* which is this one, -1: not known before, */
    ff_vec3 r;                    /* [m] body axes */
    fused_glance glance;          /* whether friction is the likelier explanation */
    uint64_t from, to, row;       /* rows; the next */
    double peak, arm;             /* [N] largest force; [m] radius of gyration */
    double unit, unit_t;          /* [N], [N m] that weigh a row */
    double basis[FUSED_JOINT][6]; /* of the wrenches picked so far, */
    uint64_t picked[FUSED_JOINT]; /* their rows */
    double extreme;               /* of the rows looked at: the largest part outside their span */
    uint64_t pick;                /* and its row */
    double lambda;
    int trials, start, rounds;
    bool probing;                         /* where to begin is still sought: */
    int probe;                            /* so many were tried, */
    double out[FUSED_JOINT][FUSED_JOINT]; /* each edge moved away from each other one, */
    double J_probe, far;                  /* the least misfit, and where the edge at hand has it */
    fused_point best[FUSED_JOINT];        /* of the starts so far, and its misfit */
    double J_best, J_force;
    fused_system now, trial;
    fused_vary vary;
} fused_joint;

/* Which bodies bear a contact's force: what explanations leave of the rows so far, in units of a reading's
 * variance (partner.c). */
typedef struct fused_bearing {
    double pair;             /* a and b bear each other's, */
    double a_alone, b_alone; /* one of them the world's, the other flies */
    ff_vec3 both, force;     /* [N] sums over the rows: of both forces, and of half their difference */
    int rows;
} fused_bearing;

/* How a contact begins. */
typedef struct fused_onset {
    int a, b;
    bool torque;
    ff_vec3 n;                 /* inertial; axis of a torque: a's axes */
    int wall;                  /* in memory, -1: to be found */
    uint64_t anchor, detected; /* it is known to have begun by then */
} fused_onset;

/* One contact: along a normal at a point, or (kind torque) about an axis. */
typedef struct fused_contact {
    bool open;
    bool settled; /* ended, but a replay still passes over it */
    bool torque;  /* a pure torque about n, body axes of a */
    bool slides;  /* the tip moves along the surface: friction is possible */
    bool frozen;  /* longer than the history: the estimate is kept */
    bool closing; /* ended, and being settled: a last estimate and replay are under way */
    int a, b;     /* bodies; b < 0: the world */
    ff_vec3 n;    /* outward normal in b's axes (world: inertial); torque: axis in a's */
    ff_vec3 r;    /* [m] contact point, a's axes */
    double mu;    /* identified friction */
    double side;  /* part of the force's squares across the normal that nothing explains */
    bool joined;  /* found together with those beside it */
    bool tried;   /* and that was tried before friction */
    bool exact;   /* and together they explain force and torque to the noise or .02 %, or share one normal */
    bool alone;   /* was looked at for being several, and is not */
    ff_profile surface;
    bool tip_found;   /* tip explains the force */
    uint64_t tip_due; /* next fit of it */
    ff_profile tip;   /* behind gears: found with the axes' motion; x0 from the last row in front */
    uint64_t anchor, detected, end; /* cycles */
    double mass;                    /* [kg] effective, along n at the contact point */
    double speed;                   /* [m/s] towards the surface at the anchor */
    double force_max;               /* [N] */
    double torque_max;
    double zero_P[3];  /* as in fused_zero, when it was detected */
    double booked;     /* [J] in the account of its bodies */
    int wall;          /* in memory: index, -1 unknown */
    int spot;          /* of a's that explains the torque; -1: none */
    bool wall_used;    /* it was known at the beginning */
    bool leans;        /* the surface is that of the wall and of these rows */
    uint64_t row_from; /* rows kept from here on */
    ff__ring rows;     /* of fused_row */
    fused_ending over;
    fused_bearing bears[FF_MAX_BODIES]; /* for each body that may be b */
    /* the estimate under way, spread over cycles: nothing of it acts before it is complete */
    uint64_t due;        /* next one */
    int stage;           /* below */
    uint64_t asked;      /* cycle in which it fell due */
    uint64_t row, until; /* next row; last row that takes part */
    int passes;          /* of the settlement: estimates left before the replay */
    int more;            /* how often it has begun afresh, or been refined */
    fused_sums sum;
    fused_taken taken;
    fused_next next;
    fused_laws laws;
    fused_lean lean;
    ff_profile rival; /* of another law, or of the best friction so far */
    ff_profile_search search;
    fused_settled first;
    fused_settled live; /* as it ended */
    double live_sd;     /* of the impulse, relative; FF_INF: whatever the settlement finds is better */
    bool checked;       /* against the settlement, or not to be */
    double refused;     /* by how much it would have moved the impulse, relative; 0: it was not refused */
    fused_union one;
} fused_contact;

/* Axes behind gears and the surface together (tip.c). */
enum { FUSED_LANES = 7, FUSED_BARE = 5 };
typedef struct fused_flow { /* of the axes over h: angle and rate from those before and the torques at both
                               ends */
    double h, aa[6], ar[6], ra[6], rr[6], a0[6], a1[6], r0[6], r1[6];
} fused_flow;
typedef struct fused_lane { /* one trial: axes as in fused_axes, on a surface */
    ff_profile on;
    double d[6], rate[6];
    double f, left; /* [N] along the normal; of the last sample, less the law */
    double J;       /* of the rows so far: squares of what is left */
} fused_lane;
typedef struct fused_tip {
    int phase; /* tip.c; 0: none is under way */
    int contact;
    ff_vec3 n, r;
    double K[6], D[6], I[6];            /* of the gears */
    uint64_t from, to, onset, scan_to;  /* rows: of the fit, first with a force, last of the grid's */
    uint64_t row, last;                 /* of the lanes */
    double T, place, fast, mobility_on; /* [s]; before the onset: [m], [m/s], [1/kg] */
    double f_on;                        /* [N] the first force */
    /* of the cycle at hand, beginning and end: the tip along n by axis, torque beside f's, s without the
     * angles */
    double Jn[2][6], rest[2][6], base[2], motor[6], speed[6], f, mobility;
    int lanes, parts;
    double decay;    /* [s] the first part after the onset */
    double gate;     /* J of the lowest valley is below it */
    fused_flow flow; /* of a part */
    fused_lane lane[FUSED_LANES];
    int point, trials;
    ff_profile known[3]; /* surfaces to begin with */
    int knows;
    bool told; /* the last of them by the rows alone: tried before the grid */
    /* of the rows with the force linear between them: the tip after an impulse at the onset, normal equations
     */
    double swing[6], swing_rate[6], bare_least;
    double bare_A[FUSED_BARE * FUSED_BARE], bare_b[FUSED_BARE];
    int bare_rows;
    fused_flow whole; /* of a cycle */
    double J_window[3], J_scan, J_best, lambda;
    ff_profile scan, best;
    double step[3], A[9], b[3], A_best[9], b_best[3];
} fused_tip;

/* A point of a body that has touched: what all contacts at it have told. One contact does not show how far
 * the point lies along its normal; contacts along two do. */
enum { FUSED_SPOTS = 4 };
typedef struct fused_spot {
    bool known;
    ff_vec3 r;     /* [m] body axes */
    double P[6];   /* [1/m2] information, upper triangle */
    double least;  /* [1/m2] of its directions, about */
    uint64_t last; /* cycle */
} fused_spot;

typedef struct fused_wall {
    bool valid;
    bool torque;
    int a, b;
    ff_vec3 n, r;
    ff_profile surface;
    double mu;
    double force_max;
    double squares; /* [N2] of the forces that it was learnt from */
    int spot;       /* of a's, that touched it; -1: none is known */
    ff_quat turn;   /* a's axes in b's at its last contact */
    bool beside;    /* learnt beside another contact: what bears which force was not certain */
    uint64_t last;  /* cycle of its last contact */
    int missing;    /* cycles in which the robot should have felt it and did not */
    int inside;     /* cycles that the satellite has been in it without a force */
} fused_wall;

enum { /* why a contact lies outside: three standard deviations of its impulse are not below 3 %, by cause, or
          the method is known to fail */
       FUSED_FEW_SAMPLES = 1, /* fewer than 4 in contact */
       FUSED_WEAK = 2,        /* noise */
       FUSED_SKEW = 4,
       FUSED_LOOK_BACK = 8, /* longer than the history */
       FUSED_NO_ESTIMATE = 16,
       FUSED_BANDWIDTH = 32, /* the sensor's low pass */
       FUSED_SEVERAL = 64,   /* another contact acted on the body at the same time */
       FUSED_FRICTION = 128,
       FUSED_MISFIT = 256, /* neither law nor friction explains the force */
       FUSED_GEARS = 512,  /* of the robots */
       FUSED_POSE = 1024   /* noise of the robots' poses */
};

enum { /* why what is said of a contact may be off */
       FUSED_BY_NOISE,
       FUSED_BY_TIME,      /* skew */
       FUSED_BY_BANDWIDTH, /* the sensor's low pass */
       FUSED_BY_POSE,      /* noise of the robots' poses */
       FUSED_BY_GEARS,     /* of the robots */
       FUSED_BY_FRICTION,
       FUSED_BY_OTHERS, /* contacts at the same time */
       FUSED_BY_MISFIT, /* force that law and friction leave unexplained */
       FUSED_CAUSES
};

/* What is known of the last contact of a body: while it lasts, and after. */
typedef struct fused_report {
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
    double delay, delay_configured; /* [s] */
    double peak_limit; /* [N] least robot force that any causal method reaches here without a known wall */
    double peak_ideal; /* [N] of this surface without delay */
    int samples;       /* in contact, as the satellite feels it */
    bool warm;         /* the wall was known before */
    unsigned outside;  /* FUSED_...; 0: inside the validity domain */
    double restitution_sd; /* of e */
    double impulse_sd;     /* of the impulse, relative to it */
    double restitution;    /* e, of its surface */
    double turn_sd; /* of the angular impulse, relative to the impulse times the radius of gyration; once
                       settled */
    double cause[FUSED_CAUSES]; /* its parts */
    uint32_t contacts;          /* so far */
} fused_report;

/* What the contacts of a body so far may have made wrong of its energy, [J]. */
typedef struct fused_account {
    double sum, squares; /* of each one's standard deviation */
    double sd;
} fused_account;

typedef struct fused_info {
    uint32_t net, false_alarms, phantoms, law_switches, bounds, look_back, delay_changes, refused, partners;
} fused_info;

typedef struct fused_state {
    double delay[FF_MAX_BODIES]; /* [s] as the robot shows it */
    double lead[FF_MAX_BODIES];  /* [s] of the commands: follows it without a jump */
    int delay_count[FF_MAX_BODIES];
    uint64_t delay_wait[FF_MAX_BODIES];
    uint64_t quiet_since[FF_MAX_BODIES]; /* last cycle with a force or a load */
    uint64_t free_since[FF_MAX_BODIES];  /* end of the last contact */
    uint64_t followed[FF_MAX_BODIES];    /* cycle in which one ended and another began: no flight between */
    uint64_t
        dropped[FF_MAX_BODIES]; /* end of the last one that no replay knows any more: none may begin before */
    int torque_hits[FF_MAX_BODIES], side_hits[FF_MAX_BODIES];
    ff_quat start[FF_MAX_BODIES]; /* rotations are counted from here */
    ff_rng rng;
    fused_info info;
    fused_report report[FF_MAX_BODIES];
    fused_account account[FF_MAX_BODIES];
    fused_lag lag[FF_MAX_BODIES];
    fused_gears gears[FF_MAX_BODIES];
    ff__ring axes; /* a series for each body of fused_axes, where a robot yields; else no rows */
    fused_zero zero[FF_MAX_BODIES];
    fused_wall wall[FUSED_WALLS];
    fused_spot spot[FF_MAX_BODIES][FUSED_SPOTS];
    ff__replay replay[FF_MAX_BODIES];
    fused_contact contact[FUSED_CONTACTS];
    fused_joint joint;
    fused_tip tip;
    ff__history history; /* of fused_sample; behind this struct lie the samples of each body, then the rows of
                            each contact */
} fused_state;

#endif
