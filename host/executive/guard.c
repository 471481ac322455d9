#include "executive/guard.h"

void ff_guard_open(ff_guard *guard, const ff_scenario *scenario, bool devices) {
    *guard = (ff_guard){.watches = devices || ff_scenario_watched(scenario), .devices = devices};
    ff_walk_reset(&guard->walk, devices ? FF_STATE_OFF : FF_STATE_FLOAT);
    if (!guard->watches)
        return;
    ff_safety_configure(scenario, NULL, &guard->config);
    if (devices) /* with every limit; the station keeps what it was sent */
        return;
    for (int i = 0; i < scenario->satellites; i++) {
        ff_guard_body *b = &guard->body[i];
        guard->config.limits[i] = ff_scenario_watched_limits(&scenario->satellite[i]);
        guard->config.lag[i] = guard->config.limits[i].tracking;
        ff_output_config output;
        ff_scenario_watched_output(scenario, i, &output);
        ff_safety_set_braking(&guard->config, i, &output);
        b->window = (unsigned)fmin(FF_GUARD_TRACK, ceil(guard->config.delay[i] / guard->config.cycle) + 50.0);
    }
}

/* [m] from the nearest of the commands that the robot may have come to by now. */
static double tracking_error(const ff_guard_body *b, ff_vec3 at) {
    double least = FF_INF;
    const uint64_t n = b->count < b->window ? b->count : b->window;
    for (uint64_t j = 1; j <= n; j++)
        least = fmin(least, ff_vec3_norm(ff_vec3_sub(b->sent[(b->count - j) % FF_GUARD_TRACK], at)));
    return least; /* the last one is always there */
}

/* Beyond its range nobody knows the force: where a force or a torque is limited, and the reading says
 * neither, the range counts as the limit. */
static void saturated(const ff_wrench_in *sensor, const ff_wrench_config *wrench,
                      const ff_safety_limits *limits, ff_safety_body_in *in) {
    const double force = ff_vec3_largest(sensor->f_s.f), torque = ff_vec3_largest(sensor->f_s.t);
    const bool over_force = force >= wrench->force_limit, over_torque = torque >= wrench->torque_limit;
    if (!isfinite(limits->force) && !isfinite(limits->torque))
        return;
    if ((!over_force && !over_torque) || !(force <= limits->force) || !(torque <= limits->torque))
        return;
    in->sensor = FF_TRIP_RANGE;
    in->sensor_value = over_force ? force : torque;
    in->sensor_limit = over_force ? wrench->force_limit : wrench->torque_limit;
}

static void gather(ff_guard *guard, const ff_sample *sample, const ff_wrench_config *wrench,
                   const ff_loop_state *state, const ff_loop_out *out, int i) {
    ff_guard_body *b = &guard->body[i];
    const ff_wrench_in *sensor = &sample->body[i].sensor;
    const double age_limit = guard->config.limits[i].age;
    const bool valid = out->sensor_status[i] == FF_OK && sensor->age < 0.5 * guard->config.cycle;
    if (b->count == 0) /* before t = 0 the robot has moved with the initial twist */
        for (unsigned j = b->window - 1; j > 0; j--)
            b->sent[b->count++ % FF_GUARD_TRACK] = ff_vec3_axpy(
                -(double)j * guard->config.cycle, out->command[i].twist.v, sample->body[i].next.to.T.p);
    b->sent[b->count++ % FF_GUARD_TRACK] = sample->body[i].next.to.T.p;
    if (valid)
        b->force = ff_quat_rotate(sensor->T_wb.q, out->measured_b[i].f);
    guard->in.body[i] =
        (ff_safety_body_in){.measured = {sensor->T_wb, sensor->twist},
                            .command = out->command[i],
                            .f_b = out->measured_b[i],
                            .force_valid = valid,
                            .age = sensor->age + guard->config.latency[i],
                            .rest = sample->body[i].rest,
                            .lag = sample->body[i].sent.lag,
                            .boxed = sample->body[i].boxed,
                            .energy = state->energy[i].exchanged + state->energy[i].delay + b->kicks};
    guard->in.body[i].tracking =
        isfinite(guard->config.limits[i].tracking) ? tracking_error(b, sensor->T_wb.p) : 0.0;
    ff_safety_body_in *in = &guard->in.body[i];
    if (!(in->age <= age_limit)) {
        in->sensor = FF_TRIP_AGE;
        in->sensor_value = in->age;
        in->sensor_limit = age_limit;
    } else
        saturated(sensor, wrench, &guard->config.limits[i], in);
}

/* What is wrong with the sensor. Its range ends where the reading does, whatever bias is subtracted later; a
 * count below it is at it: the counts are rounded. */
static ff_trip_code sensor_trip(const ff_sample_body *body, const ff_wrench_config *wrench, double age,
                                double age_limit, double *value, double *limit) {
    const ff_sample_device *device = &body->device;
    const ff_wrench f_s = body->sensor.f_s, net = ff_wrench_sub(f_s, wrench->bias_s);
    *value = age;
    *limit = age_limit;
    if (device->given_up || age > age_limit)
        return FF_TRIP_AGE;
    *value = device->word;
    *limit = 0.0;
    if (device->health == FF_INFO_SATURATED)
        return FF_TRIP_RANGE;
    if (device->health == FF_INFO_HELD)
        return FF_TRIP_FROZEN;
    if (device->health < 0)
        return FF_TRIP_SENSOR;
    *value = FF_NAN;
    if (!ff_wrench_finite(f_s))
        return FF_TRIP_NOT_FINITE;
    *value = fmax(ff_vec3_norm(net.f), fmax(ff_vec3_largest(f_s.f), device->most_force));
    *limit = wrench->force_limit;
    if (*value >= *limit - device->force)
        return FF_TRIP_RANGE;
    *value = fmax(ff_vec3_norm(net.t), fmax(ff_vec3_largest(f_s.t), device->most_torque));
    *limit = wrench->torque_limit;
    if (*value >= *limit - device->torque)
        return FF_TRIP_RANGE;
    return FF_TRIP_NONE;
}

/* The same from devices, which report more. */
static void gather_device(ff_guard *guard, const ff_sample *sample, const ff_wrench_config *wrench,
                          const ff_loop_state *state, const ff_loop_out *out, int i) {
    ff_guard_body *b = &guard->body[i];
    const ff_sample_body *body = &sample->body[i];
    const ff_sample_device *device = &body->device;
    const double force = fmax(ff_vec3_largest(body->sensor.f_s.f), device->most_force),
                 torque = fmax(ff_vec3_largest(body->sensor.f_s.t), device->most_torque);
    const bool in_range =
        force < wrench->force_limit - device->force && torque < wrench->torque_limit - device->torque;
    const bool valid = out->sensor_status[i] == FF_OK && device->health == FF_OK &&
                       body->sensor.age < 0.5 * guard->config.cycle && in_range;
    if (valid)
        b->force = ff_quat_rotate(body->sensor.T_wb.q, out->measured_b[i].f);
    ff_safety_body_in *in = &guard->in.body[i];
    *in = (ff_safety_body_in){.measured = {body->sensor.T_wb, body->sensor.twist},
                              .command = out->command[i],
                              /* no zero yet in the tests of the check */
                              .f_b = guard->walk.state == FF_STATE_TEST
                                         ? ff_wrench_sub(out->measured_b[i], b->rest_b)
                                         : out->measured_b[i],
                              .force_valid = valid,
                              .age = body->sensor.age + guard->config.latency[i],
                              .rest = body->rest,
                              .energy = state->energy[i].exchanged + state->energy[i].delay + b->kicks,
                              .tracking = device->tracking,
                              .lag = body->sent.lag,
                              .boxed = body->boxed,
                              .clipped = device->clipped,
                              .clipped_by = device->clipped_by,
                              .clipped_limit = device->clipped_limit,
                              .jump = device->jump,
                              .same = b->noisy ? device->repeats : 0.0,
                              .apart = device->apart,
                              .silence = device->silence,
                              .joint = device->joint};
    in->sensor =
        sensor_trip(body, wrench, in->age, guard->config.limits[i].age, &in->sensor_value, &in->sensor_limit);
}

/* [J] A wrench held for a cycle changes the kinetic energy by F.V T + T^2 F.H F/2, V the velocity before it
 * and H the inverse inertia. The loop's ledger has the first; without the second a lossless contact at w =
 * sqrt(k/m) would seem to take pi/2 w T of the energy that it gives back, every time. */
static double kick(const ff_rigid_model *body, double T, ff_wrench F) {
    return 0.5 * T * T *
           (body->mass_inv * ff_vec3_dot(F.f, F.f) +
            ff_vec3_dot(F.t, ff_mat3_apply(&body->inertia_inv, F.t)));
}

bool ff_guard_judge(ff_guard *guard, const ff_sample *sample, const ff_loop_model *model,
                    const ff_loop_state *state, const ff_loop_out *out, ff_trip found, ff_trip_code asked) {
    for (int i = 0; i < guard->config.bodies; i++)
        if (guard->devices)
            gather_device(guard, sample, &model->config.body[i].wrench, state, out, i);
        else
            gather(guard, sample, &model->config.body[i].wrench, state, out, i);
    guard->in.missed = sample->missed;
    for (int i = 0; i < guard->config.bodies && guard->shows; i++)
        ff_levels(&guard->config, &guard->walk.memory, &guard->in, i, guard->level[i]);
    const bool ends = ff_walk_judge(&guard->config, &guard->walk, &guard->in, found, asked);
    for (int i = 0; i < guard->config.bodies; i++)
        if (guard->walk.state == FF_STATE_FLOAT || guard->walk.state == FF_STATE_CONTACT)
            guard->body[i].kicks +=
                (1.0 + guard->in.filled) * kick(&model->rigid[i], guard->config.cycle, guard->in.body[i].f_b);
    guard->in.filled = 0.0;
    return ends;
}

/* A robot that stood still against its command stands behind it: the command goes back to where it is, as
 * fast as the limits allow. A robot that is let go meanwhile makes a step of what is left. A retreat from
 * there leads away for good, unless the robot does not follow that, either. */
static bool goes_back(const ff_guard_body *b, ff_pose at) {
    return b->stands && !b->stop.done && (!b->stop.retreats || b->stop.held) &&
           (ff_vec3_norm(ff_vec3_sub(at.p, b->stood.p)) > 1e-5 || ff_quat_angle(at.q, b->stood.q) > 1e-5);
}

/* It stands no further from its command than that can have gone since: in the robot's delay, the cycles in
 * which it is seen (8 and 2, those of a gap, 3 for its delay) and the time in which one that lags settles, at
 * the largest speed there is. Else it is said to be where it was not sent, and nobody leads it there. */
static bool stands_behind(const ff_safety_config *c, int i, ff_pose command, ff_pose at) {
    ff_output_config most;
    ff_output_default(&most);
    const double t = c->delay[i] + c->settle[i] + 18.0 * c->cycle,
                 v = fmin(most.velocity, fmin(c->limits[i].velocity, c->bounded[i].velocity)),
                 w = fmin(most.angular_velocity,
                          fmin(c->limits[i].angular_velocity, c->bounded[i].angular_velocity));
    return ff_vec3_norm(ff_vec3_sub(command.p, at.p)) <= v * t && ff_quat_angle(command.q, at.q) <= w * t;
}

/* Of one body. True: it is led to *command. */
static bool stop_body(ff_guard *guard, const ff_sample *sample, int i, double t, ff_setpoint *command) {
    ff_guard_body *b = &guard->body[i];
    const ff_sample_body *body = &sample->body[i];
    bool rests = body->rests;
    if (!b->stop.started) {
        ff_stop_start(&b->stop);
        b->stop.grasped = t >= guard->config.grasp[i];
        rests &= !guard->devices; /* it says so of the command before */
    }
    if (body->device.stands && (!b->stands || (b->stop.goes && !b->stop.held)) &&
        stands_behind(&guard->config, i, body->next.to.T, body->sensor.T_wb)) {
        b->stop.held = b->stop.goes;
        b->stop.goes = false;
        b->stands = true;
        b->stood = body->sensor.T_wb;
    }
    b->back = goes_back(b, body->next.to.T);
    if (b->back) {
        *command = (ff_setpoint){b->stood, ff_twist_zero()};
        return true;
    }
    if (!b->stop.done) {
        b->stop.distrusted = ff_trip_by_sensor(guard->walk.cause.code);
        const bool trusted = guard->in.body[i].force_valid && !b->stop.distrusted;
        const ff_stop_in in = {body->next.to.T, rests, b->force, trusted, body->sensor.T_wb};
        ff_stop_step(&guard->config, i, &b->stop, &in);
    }
    if (b->stop.goes)
        *command = b->stop.target;
    else if (guard->devices)
        *command = body->sent.to;
    return b->stop.goes;
}

void ff_guard_retreat(ff_guard *guard) {
    for (int i = 0; i < guard->config.bodies && guard->walk.state == FF_STATE_HOLD; i++) {
        ff_guard_body *b = &guard->body[i];
        b->retreated |= b->stop.retreats;
        b->stop = (ff_stop_state){0};
    }
}

unsigned ff_guard_stop(ff_guard *guard, const ff_sample *sample, double t, ff_setpoint *command) {
    unsigned led = 0;
    bool goes = false;
    guard->rested = true;
    for (int i = 0; i < guard->config.bodies; i++) {
        const ff_sample_device *device = &sample->body[i].device;
        if (guard->devices && (!device->moved || !device->reached))
            continue;
        led |= stop_body(guard, sample, i, t, &command[i]) ? 1u << i : 0u;
        goes |= guard->body[i].stop.goes;
        guard->rested &= guard->body[i].stop.done;
    }
    if (goes)
        ff_walk_on(&guard->walk, FF_ON_PUSHED);
    if (guard->rested)
        ff_walk_rested(&guard->walk);
    return led;
}
