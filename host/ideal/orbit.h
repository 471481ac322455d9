/* ideal/orbit.h - the reference of a scenario with an arm: client and servicer in orbit, (2) and (12) of
 * destefano2021 as they stand, with the same on-board software. Continuous: RK4 in steps of the arm's cycle,
 * the software sampled at the loop's. Its contacts share no code with facility/. */
#ifndef FF_IDEAL_ORBIT_H
#define FF_IDEAL_ORBIT_H

#include "ideal/ideal.h"
#include "obsw/computer.h"

/* Everything at t_k. */
typedef struct ff_orbit_row {
    double t;
    ff_rigid_state client, base;
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX];
    ff_obsw_out actuation; /* what acts: F_b and tau */
    ff_obsw_action action;
    ff_wrench F_e;                  /* on the gripper, gripper axes */
    ff_wrench on_base;              /* the same about the base's origin, base axes */
    ff_wrench on_client;            /* its reaction about the client's CoM, body axes */
    ff_quat gripper;                /* its attitude, inertial */
    ff_vec3 force[FF_MAX_CONTACTS]; /* [N] of each contact on the gripper, inertial */
    bool touching[FF_MAX_CONTACTS]; /* a grasp: it is closed */
    double energy[FF_MAX_BODIES];   /* [J] kinetic, of each satellite; the servicer's with its arm */
} ff_orbit_row;

typedef struct ff_orbit_sink {
    void *self;
    ff_status (*row)(void *self, const ff_orbit_row *row); /* negative: stop */
} ff_orbit_sink;

/* Runs it. opener: as ff_computer_config; record: instead of the software, read NULL: none. FF_OK;
 * FF_ERR_MEMORY, FF_ERR_ARGUMENT, FF_ERR_DEVICE, FF_ERR_DIVERGED with a sentence; what the sink says. */
ff_status ff_orbit_run(const ff_scenario *scenario, ff_obsw_opener *opener, ff_obsw_record record,
                       ff_orbit_sink sink, char *message, size_t size);
/* ff_ideal_solve for it: a session of its own with the software. Free with ff_ideal_free. */
ff_status ff_orbit_solve(const ff_scenario *scenario, ff_obsw_opener *opener, ff_ideal_result *result,
                         char *message, size_t size);

#endif
