#include "facility/sensors.h"
#include "text/message.h"
#include "text/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { LOST_SAMPLES = 1 << 20 }; /* the stream of lost readings, beside that of the noise */

void ff_sensor_frames(const ff_scenario *scenario, int body, ff_wrench_config *frames) {
    const ff_satellite *satellite = &scenario->satellite[body];
    const ff_pose T_wl = ff_pose_inverse(scenario->facility_pose); /* lab to inertial */
    ff_wrench_default(frames);
    frames->environment = satellite->sensor.environment;
    if (frames->environment)
        frames->T_ws = ff_pose_mul(T_wl, satellite->sensor.pose);
    else
        frames->T_bs = ff_pose_mul(ff_pose_inverse(satellite->robot.tool), satellite->sensor.pose);
    frames->gravity_w = ff_quat_rotate(T_wl.q, scenario->facility_gravity);
    if (satellite->mockup.present) {
        frames->mockup_mass = satellite->mockup.mass;
        frames->mockup_com_b = satellite->mockup.com;
        frames->mockup_inertia = satellite->mockup.inertia;
    }
}

/* As it is mounted and wired, not as it is said to be. A config that names neither is right. */
static void set_mounting(ff_sensor *sensor) {
    const ff_quat q = sensor->config.turned;
    const ff_vec3 wired = sensor->config.wired;
    const bool turned = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 0.0 && fabs(q.w) != 1.0;
    sensor->wrong = sensor->config.kind != FF_SENSOR_IDEAL &&
                    (turned || (wired.x != 0.0 && (wired.x != 1.0 || wired.y != 2.0 || wired.z != 3.0)));
    for (int i = 0; i < 3; i++) {
        const int axis = wired.x != 0.0 ? (int)fabs(wired.a[i]) - 1 : i;
        const double sign = wired.a[i] < 0.0 ? -1.0 : 1.0;
        for (int j = 0; j < 3; j++) {
            ff_vec3 e = ff_vec3_zero();
            e.a[j] = 1.0;
            sensor->mounting.m[i][j] = sign * (turned ? ff_quat_unrotate(q, e) : e).a[axis];
        }
    }
}

ff_status ff_sensor_create(ff_sensor *sensor, const ff_scenario *scenario, int body, char *message,
                           size_t size) {
    const ff_sensor_config *config = &scenario->satellite[body].sensor;
    *sensor = (ff_sensor){.config = *config,
                          .cycle = scenario->cycle,
                          .seed = scenario->seed,
                          .stream = (uint64_t)body,
                          .has_mockup = scenario->satellite[body].mockup.present && !config->environment};
    if (!ff_robot_pose_ok(config->pose))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the sensor's pose must be finite, its attitude a unit quaternion");
    set_mounting(sensor);
    ff_sensor_frames(scenario, body, &sensor->frames);
    sensor->T_sb = ff_pose_inverse(sensor->frames.T_bs);
    if (ff_wrench_validate(&sensor->frames) != FF_OK)
        return ff_refuse(FF_ERR_NOT_FINITE, message, size, "the mock-up's com must be finite, its mass >= 0");
    if (config->kind != FF_SENSOR_IDEAL) {
        if (!ff_at_least_zero(config->force_noise) || !ff_at_least_zero(config->torque_noise) ||
            !ff_at_least_zero(config->resolution_force) || !ff_at_least_zero(config->resolution_torque))
            return ff_refuse(FF_ERR_ARGUMENT, message, size,
                             "the sensor's noise and resolution must be >= 0 and finite");
        if (!ff_wrench_finite(config->bias) || !isfinite(config->drift_force) ||
            !isfinite(config->drift_torque))
            return ff_refuse(FF_ERR_NOT_FINITE, message, size, "the sensor's bias and drift must be finite");
        if (!(config->range_force > 0.0) || !(config->range_torque > 0.0) || !(config->bandwidth > 0.0))
            return ff_refuse(FF_ERR_ARGUMENT, message, size, "the sensor's range and bandwidth must be > 0");
        const double cycles = config->delay / scenario->cycle, nearest = round(cycles);
        if (!(cycles >= 0.0 && cycles <= (double)FF_ROBOT_MAX_DELAY))
            return ff_refuse(FF_ERR_ARGUMENT, message, size,
                             "the sensor's delay must be >= 0 and at most 1048576 cycles");
        sensor->whole = (uint64_t)(fabs(cycles - nearest) < 1e-9 ? nearest : floor(cycles));
        sensor->part = fabs(cycles - nearest) < 1e-9 ? 0.0 : cycles - floor(cycles);
        sensor->corner_cycles =
            isfinite(config->bandwidth) ? 2.0 * FF_PI * config->bandwidth * scenario->cycle : 0.0;
        sensor->decay = exp(-sensor->corner_cycles);
        if (cycles > 0.0) {
            uint64_t length = 2;
            while (length < sensor->whole + 2)
                length *= 2;
            sensor->mask = length - 1;
            sensor->ring = calloc((size_t)length, sizeof *sensor->ring);
            if (!sensor->ring)
                return ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the sensor's delay");
        }
    }
    ff_sensor_reset(sensor);
    return FF_OK;
}

void ff_sensor_free(ff_sensor *sensor) {
    free(sensor->ring);
    sensor->ring = NULL;
}

void ff_sensor_reset(ff_sensor *sensor) {
    ff_rng_seed(&sensor->rng, sensor->seed, sensor->stream);
    ff_rng_seed(&sensor->losses, sensor->seed, sensor->stream + LOST_SAMPLES);
    sensor->missed = 0;
    sensor->started = false;
    sensor->swing = ff_vec3_zero();
}

void ff_sensor_keep(ff_sensor *sensor, ff_keeper *keeper) {
    const ff_sensor_law *const law = sensor->config.law;
    sensor->config.law = NULL;
    ff_keep_around(keeper, sensor, sizeof *sensor, &sensor->ring);
    sensor->config.law = law;
    if (sensor->ring)
        ff_keep(keeper, sensor->ring, (size_t)(sensor->mask + 1) * sizeof *sensor->ring);
}

/* The wrench that enters the transducer at t_k - delay, linear between cycles. Before t = 0 the load was that
 * of t = 0. */
static ff_wrench delayed(ff_sensor *sensor, uint64_t k, ff_wrench f_s) {
    if (!sensor->ring)
        return f_s;
    if (!sensor->started)
        for (uint64_t i = 0; i <= sensor->mask; i++)
            sensor->ring[i] = f_s;
    sensor->ring[k & sensor->mask] = f_s;
    /* the slots of cycles before 0 still hold the first value */
    const ff_wrench b = sensor->ring[(k - sensor->whole) & sensor->mask];
    if (sensor->part == 0.0)
        return b;
    const ff_wrench a = sensor->ring[(k - sensor->whole - 1) & sensor->mask];
    return ff_wrench_add(b, ff_wrench_scale(sensor->part, ff_wrench_sub(a, b)));
}

/* y' = wc (x - y), exact for an x that runs linearly from x0 to x1 within the cycle (a held x would hide half
 * a cycle of delay): y1 = x1 - s + a (y0 - x0 + s), s = (x1 - x0)/(wc T), a = exp(-wc T). */
static ff_wrench low_pass(ff_sensor *sensor, ff_wrench x1) {
    if (sensor->corner_cycles == 0.0)
        return x1;
    if (!sensor->started)
        sensor->filtered = sensor->input = x1;
    const ff_wrench s = ff_wrench_scale(1.0 / sensor->corner_cycles, ff_wrench_sub(x1, sensor->input));
    const ff_wrench rest = ff_wrench_add(ff_wrench_sub(sensor->filtered, sensor->input), s);
    sensor->filtered = ff_wrench_add(ff_wrench_sub(x1, s), ff_wrench_scale(sensor->decay, rest));
    sensor->input = x1;
    return sensor->filtered;
}

/* Bias, drift and noise, then the converter: quantum, then range. */
static ff_vec3 convert(ff_sensor *sensor, ff_vec3 x, ff_vec3 bias, double drift, double noise, double quantum,
                       double range) {
    for (int i = 0; i < 3; i++) {
        x.a[i] += bias.a[i] + drift;
        if (noise > 0.0)
            x.a[i] += noise * ff_rng_normal(&sensor->rng);
        if (quantum > 0.0)
            x.a[i] = quantum * round(x.a[i] / quantum);
        if (fabs(x.a[i]) > range)
            x.a[i] = copysign(range, x.a[i]);
    }
    return x;
}

void ff_sensor_step(ff_sensor *sensor, uint64_t k, const ff_robot *robot, ff_wrench contact_b,
                    ff_wrench_in *in) {
    in->age = 0.0;
    in->T_wb = robot->now.T;
    in->twist = robot->now.twist;
    in->acceleration = robot->acceleration;
    if (sensor->has_mockup) {
        ff_wrench_in own = *in; /* an elastic mount's swing is felt, and unknown to the loop */
        own.acceleration.v = ff_vec3_add(own.acceleration.v, sensor->swing);
        contact_b = ff_wrench_add(contact_b, ff_wrench_mockup(&sensor->frames, &own));
    }
    const ff_pose T_sb = sensor->frames.environment
                             ? ff_pose_mul(ff_pose_inverse(sensor->frames.T_ws), in->T_wb)
                             : sensor->T_sb;
    in->f_s = ff_wrench_transform(T_sb, contact_b);
    if (sensor->wrong)
        in->f_s = (ff_wrench){ff_mat3_apply(&sensor->mounting, in->f_s.t),
                              ff_mat3_apply(&sensor->mounting, in->f_s.f)};
    in->T_wb = robot->measured.T; /* the wrench is of the true motion, the motion that of the encoders */
    in->twist = robot->measured.twist;
    if (sensor->config.law)
        in->f_s = sensor->config.law->read(sensor->config.law->self, (double)k * sensor->cycle, in->f_s);
    if (sensor->config.law || sensor->config.kind == FF_SENSOR_IDEAL)
        return;

    const ff_sensor_config *c = &sensor->config;
    const double t = (double)k * sensor->cycle;
    const ff_wrench x = low_pass(sensor, delayed(sensor, k, in->f_s));
    const bool lost = c->lost > 0.0 && ff_rng_uniform(&sensor->losses) < c->lost && sensor->started;
    sensor->started = true;
    in->f_s.f = convert(sensor, x.f, c->bias.f, c->drift_force * t, c->force_noise, c->resolution_force,
                        c->range_force);
    in->f_s.t = convert(sensor, x.t, c->bias.t, c->drift_torque * t, c->torque_noise, c->resolution_torque,
                        c->range_torque);
    sensor->missed = lost ? sensor->missed + 1 : 0;
    if (lost)
        in->f_s = sensor->reading;
    in->age = sensor->missed * sensor->cycle;
    sensor->reading = in->f_s;
}
