/* facility/environment.h - what the carried bodies touch: forces from true poses and velocities. */
#ifndef FF_FACILITY_ENVIRONMENT_H
#define FF_FACILITY_ENVIRONMENT_H

#include "scenario/scenario.h"

/* Below this sliding speed friction falls off smoothly, so that it has no jump at rest. */
#define FF_FRICTION_SPEED 1e-4 /* [m/s] */

typedef struct ff_environment_out {
    ff_vec3 force;      /* [N] on `body`, inertial */
    ff_wrench on_body;  /* about the CoM of `body`, its body axes */
    ff_wrench on_other; /* about the CoM of `against`, its body axes; zero without one */
} ff_environment_out;

/* Foot point and depth of a point in a cone's frame (apex at the origin, cavity around `axis`). */
typedef struct ff_cone_foot {
    double depth;   /* [m] > 0: inside the material */
    ff_vec3 foot;   /* nearest point of the cavity's wall or of the face around its mouth */
    ff_vec3 normal; /* unit, out of the material there */
} ff_cone_foot;

/* What a grasp remembers: the pose it closed at, in the frame of `against`. */
typedef struct ff_grasp {
    bool closed;
    ff_vec3 at; /* [m] where `point` is held */
    ff_quat q;  /* attitude of `body` in `against` that is held */
} ff_grasp;

/* Normalises directions and checks what the laws need. FF_ERR_UNSUPPORTED, FF_ERR_ARGUMENT, FF_ERR_SINGULAR
 * with a sentence. */
ff_status ff_environment_prepare(ff_contact *contact, int satellites, char *message, size_t size);
/* Normal force [N] at depth d [m] growing at rate [m/s]: spring and damper, never pulling. */
double ff_environment_normal_force(const ff_contact *contact, double d, double rate);
ff_cone_foot ff_environment_cone(const ff_contact *contact, ff_vec3 p_o);
/* A grasp at time t: a spring and a damper in all six axes between the pose it closed at and the present one.
 * Force at one point and a pure couple, equal and opposite on both bodies. False while open. */
bool ff_environment_grasp(const ff_contact *contact, ff_grasp *grasp, double t, const ff_setpoint *robot,
                          ff_environment_out *out);
/* One contact at the robots' true motions; a grasp has its own function. False when it does not touch; *out
 * is then zero. */
bool ff_environment_contact(const ff_contact *contact, const ff_setpoint *robot, ff_environment_out *out);

#endif
