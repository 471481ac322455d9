/* obsw.h - the one header of on-board software that freefloat runs against: what it sees, what it does.
 *
 * Write the four functions at the end. Built as a shared object, freefloat calls them itself; linked with
 * udp.c they become a program of their own that talks in space packets (docs/obsw.md has every byte). SI
 * units; quaternions scalar first; plain C, nothing else is needed. All vectors are in the axes of the
 * servicer's base unless said otherwise. */
#ifndef FF_OBSW_H
#define FF_OBSW_H

#include <stdint.h>

#define FF_OBSW_VERSION 2u
#define FF_OBSW_JOINTS 32

/* Given once. Masses and lengths of the arm are the software's own business. */
typedef struct ff_obsw_setup {
    uint32_t version; /* FF_OBSW_VERSION */
    uint32_t joints;
    double cycle; /* [s] between two steps */
} ff_obsw_setup;

typedef struct ff_obsw_in {
    uint64_t sequence; /* counts steps from 0 */
    double t;          /* [s] */
    /* relative pose camera: the client's body frame in the base frame */
    double camera_t; /* [s] when it was taken */
    double client_position[3], client_attitude[4];
    double client_velocity[3];         /* [m/s] derivative of client_position */
    double client_angular_velocity[3]; /* [rad/s] of the client relative to the base */
    /* star tracker: base to inertial; gyro: inertial rate of the base */
    double attitude[4], angular_velocity[3];
    /* joint encoders */
    double q[FF_OBSW_JOINTS], qd[FF_OBSW_JOINTS];
    double star_tracker_t, gyro_t, encoder_t; /* [s] when these were taken */
} ff_obsw_in;

typedef struct ff_obsw_out {
    double force[3], torque[3];          /* [N, N m] thrusters, at the base frame's origin */
    double joint_torque[FF_OBSW_JOINTS]; /* [N m] */
    double storage;                      /* W_a of destefano2021 (24), any unit; NaN: not reported */
    double dissipation;                  /* delta of (24): W_a falls at least so fast; NaN: not reported */
    uint32_t phase;                      /* for the log; (24) is watched while it does not change */
} ff_obsw_out;

/* To be exported. A version other than FF_OBSW_VERSION is refused; create returns NULL when it cannot; step
 * returns 0, anything else is counted as silence. */
uint32_t ff_obsw_version(void);
void *ff_obsw_create(const ff_obsw_setup *setup);
int ff_obsw_step(void *self, const ff_obsw_in *in, ff_obsw_out *out);
void ff_obsw_destroy(void *self);

#endif
