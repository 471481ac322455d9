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
    double force_limit;     /* [N] a component beyond it is not a measurement (FF_INF: no limit) */
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
/* FF_ERR_NOT_FINITE: a frame, the bias, gravity or the mock-up's mass, CoM or inertia. FF_ERR_ARGUMENT: a
 * mass, limit or age that is NaN or negative, a limit of zero. */
ff_status ff_wrench_validate(const ff_wrench_config *config);
/* Contact wrench about the CoM in the robot's body axes. FF_ERR_NOT_FINITE, FF_INFO_STALE, FF_INFO_SATURATED:
 * *f_b is untouched. */
ff_status ff_wrench_condition(const ff_wrench_config *config, const ff_wrench_in *in, ff_wrench *f_b);
/* What the sensor reads from the mock-up's weight and inertia alone, body axes about the CoM. */
ff_wrench ff_wrench_mockup(const ff_wrench_config *config, const ff_wrench_in *in);

/* -------------------------------------------------------------------------------------------- mount -- */

/* A mock-up that bends on the flange behind the sensor (flange mount only): the same in all directions,
 * without turning. From reading and flange motion follows what the mock-up itself does, and what touches it.
 */
enum { FF_MOUNT_STATES = 4 };

typedef struct ff_mount_config {
    double mass;  /* [kg] of the mock-up */
    double rate;  /* [rad/s] of its bending, the flange held; FF_INF: rigid */
    double ratio; /* damping ratio of the same */
    double cycle; /* [s] */
    double noise; /* [N] standard deviation of the reading */
    double slope; /* [N/s] by which the contact force may change its slope in a cycle */
} ff_mount_config;

typedef struct ff_mount_model {
    ff_mount_config config;
    bool elastic;
    double A[FF_MOUNT_STATES][FF_MOUNT_STATES], B[FF_MOUNT_STATES]; /* over one cycle */
    double H[FF_MOUNT_STATES], gain[FF_MOUNT_STATES];
    double noise; /* [N] standard deviation of the contact force it finds, without contact */
} ff_mount_model;

typedef struct ff_mount_state {
    double x[3][FF_MOUNT_STATES]; /* inertial axes: offset [m], its rate, contact force over mass, its rate */
} ff_mount_state;

void ff_mount_default(ff_mount_config *config);
ff_status ff_mount_validate(const ff_mount_config *config);
/* FF_ERR_ARGUMENT, FF_ERR_NOT_FINITE. */
ff_status ff_mount_create(const ff_mount_config *config, ff_mount_model *model);
void ff_mount_reset(ff_mount_state *state);
/* One cycle: *tip is *in with the motion of the mock-up in place of the flange's, as ff_wrench_condition
 * wants it. fresh: the reading is of this cycle and may be used. */
void ff_mount_step(const ff_mount_model *model, ff_mount_state *state, const ff_wrench_config *wrench,
                   const ff_wrench_in *in, bool fresh, ff_wrench_in *tip);

#ifdef __cplusplus
}
#endif
#endif
