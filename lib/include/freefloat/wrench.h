/* freefloat/wrench.h - stage 1: measured wrench -> contact wrench at the CoM.
 *
 * Both mounts report the wrench that the environment exerts on the satellite's mock-up, in the sensor's own
 * frame. */
#ifndef FREEFLOAT_WRENCH_H
#define FREEFLOAT_WRENCH_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ff_wrench_config {
    ff_pose T_bs;           /* flange mount: sensor frame in the body frame (origin CoM) */
    ff_pose T_ws;           /* environment mount: sensor frame in the lab */
    bool environment;       /* the sensor stands on the environment's side and does not move with the robot */
    ff_wrench bias_s;       /* [N m, N] reading without load, sensor frame */
    double mockup_mass;     /* [kg] what hangs behind the sensor; 0: nothing is removed */
    ff_vec3 mockup_com_b;   /* [m] its CoM, body frame, from the satellite's CoM */
    ff_mat3 mockup_inertia; /* [kg m2] about its CoM, body axes */
    ff_vec3 gravity_w;      /* [m/s2] in the lab; zero where the virtual facility has none */
    double force_limit;     /* [N] a component beyond it is no measurement (FF_INF: no limit) */
    double torque_limit;    /* [N m] */
    double max_age;         /* [s] an older sample is stale (FF_INF: never) */
} ff_wrench_config;

/* One reading with what is known of the robot at its time stamp. */
typedef struct ff_wrench_in {
    ff_wrench f_s;         /* raw reading, sensor frame */
    double age;            /* [s] */
    ff_pose T_wb;          /* robot's body pose in the lab */
    ff_twist twist;        /* its velocity: w body [rad/s], v in the lab [m/s] */
    ff_twist acceleration; /* w' body [rad/s2], v' in the lab [m/s2]; used only with a mock-up */
} ff_wrench_in;

void ff_wrench_default(ff_wrench_config *config);
ff_status ff_wrench_validate(const ff_wrench_config *config);
/* Contact wrench about the CoM in the robot's body axes. FF_ERR_NOT_FINITE, FF_INFO_STALE, FF_INFO_SATURATED:
 * *f_b is untouched. */
ff_status ff_wrench_condition(const ff_wrench_config *config, const ff_wrench_in *in, ff_wrench *f_b);
/* What the sensor reads from the mock-up's weight and inertia alone, body axes about the CoM. */
ff_wrench ff_wrench_mockup(const ff_wrench_config *config, const ff_wrench_in *in);

#ifdef __cplusplus
}
#endif
#endif
