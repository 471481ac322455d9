/* ideal/problem.h - the continuous problem behind ideal.c: bodies, contacts with a mode each, loads.
 *
 * A contact is split into units, each one scalar law (a wall, a pair and a cone have one unit, stops one for
 * every limited axis and side). The mode of a unit says which smooth branch of the law holds; the solver
 * changes it at located events only, so between events the right-hand side is smooth. */
#ifndef FF_IDEAL_PROBLEM_H
#define FF_IDEAL_PROBLEM_H

#include "ideal/ideal.h"

enum {
    FF_IDEAL_BODY_SIZE = 13, /* position, attitude, velocity, omega */
    FF_IDEAL_MAX_UNITS = 12 * FF_MAX_CONTACTS,
};

/* Speed below which friction is smoothed [m/s]: |f_t| = mu f_n u / sqrt(u^2 + FF_IDEAL_SLIP^2), u the sliding
 * speed. Analytic in the velocity, so the solver keeps its order; the price is a creep of about
 * FF_IDEAL_SLIP f_t / (mu f_n) where real friction would hold. */
#define FF_IDEAL_SLIP 1e-4

typedef enum ff_ideal_mode {
    FF_IDEAL_OUT, /* no penetration: no force */
    FF_IDEAL_IN,  /* penetration, force k d + c d' > 0 */
    FF_IDEAL_LOST /* penetration, but k d + c d' <= 0: the surface recovers more slowly than the body leaves
                   */
} ff_ideal_mode;

typedef struct ff_ideal_unit {
    int contact;
    int axis; /* stops: 0..2 position, 3..5 rotation; -1 otherwise */
    double side;
    ff_ideal_mode mode;
    bool face; /* cone, not OUT: the face around its mouth acts, not the cavity's wall */
} ff_ideal_unit;

/* The law of one unit at one state. */
typedef struct ff_ideal_value {
    double gate;    /* > 0: the unit can push; the depth but for a grasp [m] or [rad] */
    double depth;   /* d */
    double rate;    /* d' */
    double force;   /* k d + c(d) d', not yet cut at zero [N] or [N m] */
    double damping; /* c(d) */
    double past;    /* > 0: the cone's other surface is nearer, by so much [m]; -1 where there is no other */
    bool face;      /* all this is of a cone's face */
    double speed;   /* of the point relative to the surface, for points [m/s] */
} ff_ideal_value;

typedef struct ff_ideal_problem {
    const ff_scenario *scenario;
    ff_rigid_model model[FF_MAX_BODIES];
    int units;
    ff_ideal_unit unit[FF_IDEAL_MAX_UNITS];
    int first_unit[FF_MAX_CONTACTS + 1]; /* units of contact c: first_unit[c] .. first_unit[c + 1] - 1 */
    bool load_on[FF_MAX_LOADS];
    struct { /* of contacts of kind grasp */
        bool armed, closed;
        ff_vec3 at; /* [m] the point in the frame of `against` when it closed */
        ff_quat q;  /* and the attitude of `body` in it */
    } grasp[FF_MAX_CONTACTS];
} ff_ideal_problem;

/* FF_ERR_ARGUMENT, FF_ERR_UNSUPPORTED, or what ff_rigid_create says. */
ff_status ff__ideal_problem_create(const ff_scenario *scenario, ff_ideal_problem *problem, char *message,
                                   size_t size);
void ff__ideal_pack(const ff_rigid_state *state, double *y);
ff_rigid_state ff__ideal_unpack(const double *y);
/* Values of all units of one contact in their present modes, into value[0..]. */
void ff__ideal_values(const ff_ideal_problem *problem, int contact, const double *y, ff_ideal_value *value);
/* Adds the wrench of one contact in its present modes to the bodies' loads; returns the force on `body`. */
ff_vec3 ff__ideal_contact_load(const ff_ideal_problem *problem, int contact, const ff_rigid_state *state,
                               ff_rigid_load *load);
void ff__ideal_derivative(const ff_ideal_problem *problem, double t, const double *y, double *dy);
/* Arms the grasps whose time has come at t, closes those that are near enough, and keeps how they stand. */
void ff__ideal_set_grasps(ff_ideal_problem *problem, double t, const double *y);
/* Which loads act from t on. */
void ff__ideal_set_loads(ff_ideal_problem *problem, double t);

#endif
