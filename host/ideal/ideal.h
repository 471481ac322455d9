/* ideal/ideal.h - the reference without delay: continuous bodies, the `satellite` contacts, continuous loads
 * with their edges located, by SUNDIALS at rtol 1e-12. It shares no contact code with facility/, or it could
 * hide its errors. */
#ifndef FF_IDEAL_IDEAL_H
#define FF_IDEAL_IDEAL_H

#include "scenario/scenario.h"

/* One contact of one body, located exactly: from its first force to the instant its force ends for at least
 * five cycles (shorter gaps belong to it, as in the run's own contacts). Stops: while any axis pushes. */
typedef struct ff_ideal_contact {
    int contact;              /* index into scenario->contact */
    double start, end;        /* [s] end is FF_NAN if still open at the end */
    ff_rigid_state before[2]; /* [0] `body`, [1] `against` (pairs) at start */
    ff_rigid_state after[2];  /* at end (at the last time if still open) */
    double peak_force;        /* [N] largest |force| on `body`, located */
    ff_vec3 impulse;          /* [N s] of its own force on `body`, inertial: no load, no other contact */
} ff_ideal_contact;

typedef struct ff_ideal_result {
    uint64_t samples; /* cycles + 1 */
    int bodies;
    ff_rigid_state *state; /* state[k * bodies + i] at t_k = k * cycle */
    ff_rigid_load
        *contact_load; /* contact load on each body at t_k, same layout (force inertial, torque body) */
    int contacts;
    ff_ideal_contact *contact;                /* in order of start */
    double max_kinetic_energy[FF_MAX_BODIES]; /* [J] */
    uint64_t steps, events;                   /* of the solver; mode changes of contacts */
} ff_ideal_result;

/* Progress 0..1; may be NULL. Return false to stop. */
typedef bool (*ff_ideal_progress)(void *user, double part);

/* A contact is over when nothing has been touched for this many cycles; one that was left later than that
 * before the end counts as open, as in metrics. */
#define FF_IDEAL_CLOSE_CYCLES 5

/* Local error allowed in one step, relative to the size of each body's motion. */
#define FF_IDEAL_TOLERANCE 1e-13

/* Solves the whole scenario and samples it at every cycle. Free with ff_ideal_free; after a failure the
 * result is empty. FF_ERR_MEMORY, FF_ERR_CONVERGENCE, FF_ERR_DIVERGED, FF_ERR_UNSUPPORTED, FF_ERR_ARGUMENT,
 * FF_ERR_NOT_FINITE, FF_ERR_MASS, FF_ERR_INERTIA; FF_ERR_LIMIT when progress said stop (message says what).
 */
ff_status ff_ideal_solve(const ff_scenario *scenario, ff_ideal_progress progress, void *user,
                         ff_ideal_result *result, char *message, size_t size);
/* The same with a tolerance of one's own, to see that the answer does not depend on it. 1e-14..1e-6. */
ff_status ff_ideal_solve_within(const ff_scenario *scenario, double tolerance, ff_ideal_progress progress,
                                void *user, ff_ideal_result *result, char *message, size_t size);
void ff_ideal_free(ff_ideal_result *result);

#endif
