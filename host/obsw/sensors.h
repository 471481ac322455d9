/* obsw/sensors.h - what the on-board software sees: camera, star tracker, gyro, joint encoders.
 *
 * Each takes a sample of the true state on the cycle grid at its own rate, adds its own noise, and delivers
 * it after its own delay; until the next is delivered the software sees the last. The first sample, taken at
 * the start, is there at once. Errors are uniform with the given half widths, each sensor with its own random
 * stream: what one does never changes another. */
#ifndef FF_OBSW_SENSORS_H
#define FF_OBSW_SENSORS_H

#include "../../examples/obsw/obsw.h"
#include "freefloat/dynamics.h"
#include "text/keep.h"

typedef struct ff_navigation_config {
    double rate, delay;            /* [Hz] of the camera, 0: every cycle; [s] */
    double position, attitude;     /* [m], [rad] */
    double velocity, angular_rate; /* [m/s], [rad/s] */
    double star_tracker, gyro;     /* [rad], [rad/s] */
    double encoder, encoder_speed; /* [rad], [rad/s]; [m], [m/s] for a prismatic joint */
    double star_tracker_rate, star_tracker_delay;
    double gyro_rate, gyro_delay;
    double encoder_rate, encoder_delay;
} ff_navigation_config;

enum { FF_SENSOR_CAMERA, FF_SENSOR_STAR_TRACKER, FF_SENSOR_GYRO, FF_SENSOR_ENCODER, FF_OBSW_SENSORS };

/* A sample in transit: the numbers in the order of ff_obsw_in. */
typedef struct ff_sensor_sample {
    double taken; /* [s] */
    double value[2 * FF_OBSW_JOINTS];
} ff_sensor_sample;

typedef struct ff_obsw_sensors {
    ff_navigation_config config;
    double cycle; /* [s] */
    size_t joints;
    struct {
        double rate, delay;
        ff_rng rng;
        uint64_t taken; /* samples so far */
        ff_sensor_sample *queue;
        size_t room, first, waiting;
    } sensor[FF_OBSW_SENSORS];
} ff_obsw_sensors;

/* FF_ERR_MEMORY; FF_ERR_ARGUMENT: an invalid rate, delay or width. */
ff_status ff_obsw_sensors_create(const ff_navigation_config *config, double cycle, size_t joints,
                                 uint64_t seed, ff_obsw_sensors *sensors);
void ff_obsw_sensors_free(ff_obsw_sensors *sensors);
/* Their state (text/keep.h). */
void ff_obsw_sensors_keep(ff_obsw_sensors *sensors, ff_keeper *keeper);
/* Once a cycle, in order of time. client, base: inertial. Writes all of *in but sequence. */
void ff_obsw_sensors_step(ff_obsw_sensors *sensors, double t, const ff_rigid_state *client,
                          const ff_rigid_state *base, const double *q, const double *qd, ff_obsw_in *in);

#endif
