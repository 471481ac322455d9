#include "obsw/sensors.h"
#include "text/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM = 77, SAMPLES_MOST = 1 << 20 };

ff_status ff_obsw_sensors_create(const ff_navigation_config *c, double cycle, size_t joints, uint64_t seed,
                                 ff_obsw_sensors *sensors) {
    const double rate[FF_OBSW_SENSORS] = {c->rate, c->star_tracker_rate, c->gyro_rate, c->encoder_rate};
    const double delay[FF_OBSW_SENSORS] = {c->delay, c->star_tracker_delay, c->gyro_delay, c->encoder_delay};
    const double width[] = {c->position,     c->attitude, c->velocity, c->angular_rate,
                            c->star_tracker, c->gyro,     c->encoder,  c->encoder_speed};
    *sensors = (ff_obsw_sensors){.config = *c, .cycle = cycle, .joints = joints};
    for (size_t i = 0; i < sizeof width / sizeof *width; i++)
        if (!ff_at_least_zero(width[i]))
            return FF_ERR_ARGUMENT;
    for (int i = 0; i < FF_OBSW_SENSORS; i++)
        if (!ff_at_least_zero(rate[i]) || !ff_at_least_zero(delay[i]) || !(delay[i] / cycle < SAMPLES_MOST) ||
            joints > FF_OBSW_JOINTS)
            return FF_ERR_ARGUMENT;
    for (int i = 0; i < FF_OBSW_SENSORS; i++) {
        sensors->sensor[i].rate = rate[i];
        sensors->sensor[i].delay = delay[i];
        ff_rng_seed(&sensors->sensor[i].rng, seed, STREAM + (uint64_t)i);
        sensors->sensor[i].room = (size_t)ceil(delay[i] / cycle) + 2;
        sensors->sensor[i].queue = calloc(sensors->sensor[i].room, sizeof *sensors->sensor[i].queue);
        if (!sensors->sensor[i].queue) {
            ff_obsw_sensors_free(sensors);
            return FF_ERR_MEMORY;
        }
    }
    return FF_OK;
}

void ff_obsw_sensors_free(ff_obsw_sensors *sensors) {
    for (int i = 0; i < FF_OBSW_SENSORS; i++) {
        free(sensors->sensor[i].queue);
        sensors->sensor[i].queue = NULL;
    }
}

/* The place for a new sample, or NULL when none is due. Sample n is due at n/rate, on the nearest cycle. */
static ff_sensor_sample *due(ff_obsw_sensors *s, int which, double t) {
    const double rate = s->sensor[which].rate;
    if (rate > 0.0) {
        if (t < (double)s->sensor[which].taken / rate - 0.5 * s->cycle)
            return NULL;
        s->sensor[which].taken = (uint64_t)floor((t + 0.5 * s->cycle) * rate) + 1;
    } else
        s->sensor[which].taken++;
    const size_t at =
        (s->sensor[which].first + s->sensor[which].waiting) % s->sensor[which].room; /* never full */
    s->sensor[which].waiting++;
    s->sensor[which].queue[at].taken = t;
    return &s->sensor[which].queue[at];
}

/* The newest sample that has arrived by t, or NULL when nothing new has. */
static const ff_sensor_sample *arrived(ff_obsw_sensors *s, int which, double t) {
    const ff_sensor_sample *newest = NULL;
    while (s->sensor[which].waiting > 0) {
        const ff_sensor_sample *next = &s->sensor[which].queue[s->sensor[which].first];
        /* a nanosecond of grace: t and delay are sums of decimal fractions */
        if (next->taken > 0.0 && next->taken + s->sensor[which].delay > t + 1e-9)
            break;
        newest = next;
        s->sensor[which].first = (s->sensor[which].first + 1) % s->sensor[which].room;
        s->sensor[which].waiting--;
    }
    return newest;
}

static double error(ff_obsw_sensors *s, int which, double half) {
    return half > 0.0 ? ff_rng_range(&s->sensor[which].rng, -half, half) : 0.0;
}

static double *put_vector(ff_obsw_sensors *s, int which, ff_vec3 a, double half, double *to) {
    for (int i = 0; i < 3; i++)
        to[i] = a.a[i] + error(s, which, half);
    return to + 3;
}

/* The error is a small turn about the sensor's own axes. */
static double *put_attitude(ff_obsw_sensors *s, int which, ff_quat q, double half, double *to) {
    if (half > 0.0) {
        ff_vec3 turn;
        for (int i = 0; i < 3; i++)
            turn.a[i] = error(s, which, half);
        q = ff_quat_mul(q, ff_quat_exp(turn));
    }
    to[0] = q.w;
    to[1] = q.x;
    to[2] = q.y;
    to[3] = q.z;
    return to + 4;
}

static const double *take(const double *from, double *to, size_t n) {
    memcpy(to, from, n * sizeof *to);
    return from + n;
}

void ff_obsw_sensors_keep(ff_obsw_sensors *sensors, ff_keeper *keeper) {
    for (int i = 0; i < FF_OBSW_SENSORS; i++) {
        ff_keep_around(keeper, &sensors->sensor[i], sizeof sensors->sensor[i], &sensors->sensor[i].queue);
        if (sensors->sensor[i].queue)
            ff_keep(keeper, sensors->sensor[i].queue,
                    sensors->sensor[i].room * sizeof *sensors->sensor[i].queue);
    }
}

void ff_obsw_sensors_step(ff_obsw_sensors *s, double t, const ff_rigid_state *client,
                          const ff_rigid_state *base, const double *q, const double *qd, ff_obsw_in *in) {
    const ff_navigation_config *c = &s->config;
    ff_sensor_sample *new;
    if ((new = due(s, FF_SENSOR_CAMERA, t))) {
        const ff_rigid_state r = ff_relative_from_absolute(base, client);
        double *at = put_vector(s, FF_SENSOR_CAMERA, r.position, c->position, new->value);
        at = put_attitude(s, FF_SENSOR_CAMERA, r.attitude, c->attitude, at);
        at = put_vector(s, FF_SENSOR_CAMERA, r.velocity, c->velocity, at);
        put_vector(s, FF_SENSOR_CAMERA, ff_quat_rotate(r.attitude, r.omega), c->angular_rate, at);
    }
    if ((new = due(s, FF_SENSOR_STAR_TRACKER, t)))
        put_attitude(s, FF_SENSOR_STAR_TRACKER, base->attitude, c->star_tracker, new->value);
    if ((new = due(s, FF_SENSOR_GYRO, t)))
        put_vector(s, FF_SENSOR_GYRO, base->omega, c->gyro, new->value);
    if ((new = due(s, FF_SENSOR_ENCODER, t)))
        for (size_t i = 0; i < s->joints; i++) {
            new->value[i] = q[i] + error(s, FF_SENSOR_ENCODER, c->encoder);
            new->value[s->joints + i] = qd[i] + error(s, FF_SENSOR_ENCODER, c->encoder_speed);
        }
    const ff_sensor_sample *x;
    in->t = t;
    if ((x = arrived(s, FF_SENSOR_CAMERA, t))) {
        const double *at = take(x->value, in->client_position, 3);
        at = take(at, in->client_attitude, 4);
        at = take(at, in->client_velocity, 3);
        take(at, in->client_angular_velocity, 3);
        in->camera_t = x->taken;
    }
    if ((x = arrived(s, FF_SENSOR_STAR_TRACKER, t))) {
        take(x->value, in->attitude, 4);
        in->star_tracker_t = x->taken;
    }
    if ((x = arrived(s, FF_SENSOR_GYRO, t))) {
        take(x->value, in->angular_velocity, 3);
        in->gyro_t = x->taken;
    }
    if ((x = arrived(s, FF_SENSOR_ENCODER, t))) {
        take(take(x->value, in->q, s->joints), in->qd, s->joints);
        in->encoder_t = x->taken;
    }
}
