/* lib/history - the bounded past of several bodies, and their motion computed again from it.
 *
 *   ring.c    rows of the newest cycles, and the history of bodies made of them
 *   place.c   where a tip stands in a surface
 *   friction.c  Coulomb's friction there
 *   march.c   several bodies and the surfaces that act on them, through time
 *   replay.c  the same from row to row of a history, and what remains of it to be done
 *
 * A method that corrects the past keeps a history, decides which surfaces acted from which row on, asks for a
 * replay from there, and lets it advance by what a cycle may spend. Where the past is right and what the
 * surfaces are is the method's own. Internal to lib/; no pointers are kept in a state. */
#ifndef FF_HISTORY_H
#define FF_HISTORY_H

#include "freefloat/body.h"
#include "freefloat/contact.h"

/* ------------------------------------------------------------------------------------------------- ring --
 */

/* The newest rows of some series, behind this struct in the same memory, `at` bytes on: both move together by
 * memcpy. Row k of a series overwrites row k - rows. */
typedef struct ff__ring {
    ptrdiff_t at;   /* [bytes] from here to the rows */
    uint64_t mask;  /* rows less one */
    uint32_t bytes; /* of a row */
    int bits;       /* 1 << bits rows */
} ff__ring;

/* The least number of bits that holds so many rows, within [least, most]. */
int ff__ring_bits(double rows, int least, int most);
size_t ff__ring_bytes(int bits, int series, size_t row);
void ff__ring_place(ff__ring *ring, int bits, size_t row, void *rows);

static inline uint64_t ff__ring_rows(const ff__ring *ring) {
    return ring->mask + 1;
}
/* Row k, which the caller knows to be held. */
static inline void *ff__ring_at(const ff__ring *ring, int series, uint64_t k) {
    const uintptr_t rows = (uintptr_t)ring + (uintptr_t)ring->at;
    return (void *)(rows + ring->bytes * (((uintptr_t)series << ring->bits) + (k & ring->mask)));
}

/* ---------------------------------------------------------------------------------------------- history --
 */

/* What the row of a body begins with; a method's own follows. */
typedef struct ff__past {
    ff_rigid_state body; /* at t_k; rewritten by a replay */
    ff_rigid_load load;  /* held over the cycle that begins here */
    double limit;        /* [J] kinetic energy that the bodies of its group may have here; see ff__march */
} ff__past;

typedef struct ff__history {
    ff__ring ring;  /* a series for each body */
    uint64_t count; /* rows pushed since the reset; the newest is count - 1 */
    int bodies;
} ff__history;

/* Empty, rows of `row` bytes >= sizeof(ff__past); they are written before they are read. */
void ff__history_reset(ff__history *history, int bits, int bodies, size_t row, void *rows);
/* A new newest row: satellites at t_k and loads from then on. The limit that a march has left there stays.
 * FF_ERR_NOT_FINITE, with nothing changed, where one of them is not. */
ff_status ff__history_push(ff__history *history, const ff_rigid_state *body, const ff_rigid_load *load);
/* Row k of a body, which the caller knows to be held: k < count <= k + rows. */
static inline ff__past *ff__history_at(const ff__history *history, int body, uint64_t k) {
    return ff__ring_at(&history->ring, body, k);
}

/* ------------------------------------------------------------------------------------------------ place --
 */

/* fmax is a call; b where a is not a number. */
static inline double ff__larger(double a, double b) {
    return a > b ? a : b;
}

/* Cavity of what lies within an angle of the axis, in material that ends at the plane of its mouth; behind
 * the apex the apex is nearest. */
typedef struct ff__cone {
    ff_vec3 apex;    /* [m] b's axes */
    double cos, sin; /* of half the opening angle */
    double depth;    /* [m] along the axis; FF_INF */
} ff__cone;

/* A tip of body a in a surface of body b (b < 0: fixed in the inertial frame), or a turn of body a. The
 * coordinate s [m] grows into the surface: plane s = -n.tip, tip in b's axes; cone: depth below its wall or
 * the face around its mouth, whichever is less. A turn's is an angle [rad], -n.(rotation from the start). The
 * force on a is +f along the outward normal. */
typedef struct ff__place {
    bool turn;
    int a, b;
    ff_vec3 n;            /* plane: outward normal, b's axes; turn: axis, a's; cone: axis, out of its mouth */
    ff_vec3 r;            /* [m] tip, a's axes */
    const ff__cone *cone; /* NULL: plane or turn */
} ff__place;

/* s and s' of a fixed plane. */
static inline void ff__place_plane(const ff__place *p, const ff_rigid_state *a, double *s, double *s_dot) {
    *s = -ff_vec3_dot(p->n, ff_vec3_add(a->position, ff_quat_rotate(a->attitude, p->r)));
    *s_dot = -ff_vec3_dot(p->n, ff_rigid_point_velocity(a, p->r));
}
/* s and s' at these motions; b NULL: fixed. Not for cones. */
void ff__place_coordinate(const ff__place *p, ff_quat start, const ff_rigid_state *a, const ff_rigid_state *b,
                          double *s, double *s_dot);

typedef struct ff__touch {
    double s, v;          /* [m], [m/s] into the surface */
    ff_vec3 n, tip, slip; /* inertial: outward normal; tip; its velocity relative to the surface */
} ff__touch;

/* Plane or cone. */
ff__touch ff__place_touch(const ff__place *p, const ff_rigid_state *a, const ff_rigid_state *b);

/* Everything a kick needs at one pose: direction and arms in the axes they act in. */
typedef struct ff__port {
    ff_vec3 d_w;      /* force for each unit of normal force, inertial */
    ff_vec3 arm_a;    /* I_a^-1 (r x d), a's axes: rate gained per unit impulse */
    ff_vec3 arm_b;    /* of b */
    ff_vec3 moment_a; /* r x d, a's axes */
    ff_vec3 moment_b; /* b's axes */
    double mobility;  /* [1/kg] */
    double u;         /* d.(relative velocity): power per unit force */
} ff__port;

/* n: outward normal, inertial (turn: axis, a's axes); side: tangential force for each unit of normal force,
 * inertial. */
void ff__place_open(const ff_body_view *view, const ff__place *p, const ff_rigid_state *a,
                    const ff_rigid_state *b, ff_vec3 n, ff_vec3 side, ff__port *q);

/* Of such a port without `side` alone. */
double ff__place_mobility(const ff_body_view *view, const ff__place *p, const ff_rigid_state *a,
                          const ff_rigid_state *b, const ff_vec3 *n);

static inline ff_vec3 ff__place_normal(const ff__place *p, const ff_rigid_state *b) {
    return b && !p->turn ? ff_quat_rotate(b->attitude, p->n) : p->n;
}

/* Impulse [N s], inertial, of friction in a sub-step whose normal impulse is N. */
ff_vec3 ff__friction_impulse(const ff_body_view *view, const ff__place *p, const ff_rigid_state *a,
                             const ff_rigid_state *b, const ff__touch *t, double mu, double N);

/* ------------------------------------------------------------------------------------------------ march --
 */

/* A surface that acts. */
typedef struct ff__actor {
    ff__place p;
    const ff_profile *surface; /* NULL: no law, the force of the series itself acts */
    double mu;                 /* Coulomb */
    const ff_vec3 *along;      /* NULL, or the direction of the force, b's axes, in place of the normal */
    const ff_vec3 *beside;     /* NULL, or torques [N m] on a and b beside that of the force, own axes */
    /* in a replay: rows in which it acts, and the force [N] beside the law's at each of them */
    uint64_t from, until;   /* until itself is outside */
    const ff__ring *series; /* NULL: none */
    size_t column;          /* [bytes] of it in a row of the series */
    /* of the march, beginning with zero */
    bool off;        /* does not act in this row */
    double f0, f1;   /* [N] beside the law's at the ends of the cycle; without a law, the force */
    double mobility; /* [1/kg] about what it is along the normal */
    bool fresh;      /* s and v are those of where the bodies stand */
    bool rigid;      /* stiffer than the sub-steps can follow */
    double s, v;     /* [m], [m/s] into the surface as the sub-step began */
} ff__actor;

typedef struct ff__march {
    const ff_body_view *view; /* of each body */
    const ff_quat *start;     /* of each body: turns are counted from here; NULL: there are none */
    double cycle;             /* [s] */
    int bodies;
    unsigned moving;                      /* bit i: body i moves here */
    ff_rigid_state x[FF_MAX_BODIES];      /* in and out */
    ff_rigid_load load[FF_MAX_BODIES];    /* held */
    ff_rigid_load impulse[FF_MAX_BODIES]; /* [N s] inertial, [N m s] own axes: given by the actors so far */
    ff__actor *act;
    int acts;
    bool net;      /* no impulse may raise the kinetic energy of the moving bodies above the limit, */
    double limit;  /* [J], which grows by the work of the loads */
    double energy; /* [J] */
    uint32_t net_count;
} ff__march;

/* These bodies, without actors, net and limit; motion and loads are the caller's. */
void ff__march_begin(ff__march *w, const ff_body_view *view, const ff_quat *start, double cycle, int bodies,
                     unsigned moving, ff__actor *act);
double ff__march_energy(const ff__march *w);
/* Advances the bodies over T seconds, the sub-steps by the surfaces' phase. Returns the sub-steps. */
int ff__march_step(ff__march *w, double T);
/* Over `time` seconds in pieces as long as the turn of the bodies allows, not cycles: nothing measured acts
 * there. */
void ff__march_ahead(ff__march *w, double time);

/* ----------------------------------------------------------------------------------------------- replay --
 */

/* Bodies and loads as they stand in row k. */
void ff__replay_load(ff__march *w, const ff__history *history, uint64_t k);
/* Which actors act in row k, and the force beside their law over the cycle from there to row j. */
void ff__replay_row(ff__march *w, uint64_t k, uint64_t j);
/* From row `from` towards row `to` while there is work left; overwrites the moving bodies in between. A
 * sub-step of a row costs `cost`. Returns the row reached. */
uint64_t ff__replay_rows(ff__march *w, ff__history *history, uint64_t from, uint64_t to, int cost, int *work);

/* A recomputation that is under way: the history is new up to row `at`, old behind it. */
typedef struct ff__replay {
    bool active;
    unsigned bodies; /* bit mask */
    uint64_t at;
} ff__replay;

/* Of FF_MAX_BODIES of them: asks for these bodies from row `from`; joined with those that share one. */
void ff__replay_ask(ff__replay *replay, unsigned bodies, uint64_t from);
/* How far a replay of these bodies has come; 0: none is under way. */
uint64_t ff__replay_reached(const ff__replay *replay, unsigned bodies);
bool ff__replay_active(const ff__replay *replay, unsigned bodies);

#endif
