/* facility/sensors.h - virtual force-torque sensors: the true wrench in, the reading out. */
#ifndef FF_FACILITY_SENSORS_H
#define FF_FACILITY_SENSORS_H

#include "facility/robots.h"

typedef struct ff_sensor {
    ff_sensor_config config;
    bool wrong;              /* mounted or wired otherwise than the loop believes */
    ff_mat3 mounting;        /* reading = mounting * what the right one would read */
    ff_wrench_config frames; /* mount, mock-up and gravity in the loop's own terms; no bias, no limits */
    ff_pose T_sb;            /* flange mount: body to sensor */
    double cycle;
    bool has_mockup;
    ff_vec3 swing; /* [m/s2] acceleration of the mock-up beside the flange's, inertial; the plant sets it */
    uint64_t seed, stream;

    uint64_t whole; /* delay = (whole + part) cycles */
    double part;
    double decay;         /* exp(-2 pi bandwidth T) */
    double corner_cycles; /* 2 pi bandwidth T; 0: no filter */

    ff_wrench *ring; /* true wrench of cycle k, sensor frame, at ring[k & mask]; NULL without delay */
    uint64_t mask;
    ff_rng rng, losses;
    ff_wrench input, filtered; /* of the last cycle */
    ff_wrench reading;         /* the last that arrived */
    unsigned missed;           /* cycles since then */
    bool started;
} ff_sensor;

/* The sensor's frames as stage 1 of the loop wants them: flange mount T_bs = inverse(tool) pose. The
 * environment's pose and gravity are turned from the lab into the inertial frame in which the robots move. */
void ff_sensor_frames(const ff_scenario *scenario, int body, ff_wrench_config *frames);

ff_status ff_sensor_create(ff_sensor *sensor, const ff_scenario *scenario, int body, char *message,
                           size_t size);
void ff_sensor_free(ff_sensor *sensor);
void ff_sensor_reset(ff_sensor *sensor);
/* Its state (text/keep.h). */
void ff_sensor_keep(ff_sensor *sensor, ff_keeper *keeper);
/* The reading of cycle k; k counts up by one from 0. contact_b: true contact wrench about the CoM. */
void ff_sensor_step(ff_sensor *sensor, uint64_t k, const ff_robot *robot, ff_wrench contact_b,
                    ff_wrench_in *in);

#endif
