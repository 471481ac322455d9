#include "executive/guard.h"

void ff_guard_open(ff_guard *guard, const ff_scenario *scenario) {
    guard->watches = ff_scenario_watched(scenario);
    ff_walk_reset(&guard->walk, FF_STATE_FLOAT);
    if (!guard->watches)
        return;
    ff_safety_configure(scenario, NULL, &guard->config);
    guard->in = (ff_safety_in){0};
    for (int i = 0; i < scenario->satellites; i++) {
        ff_guard_body *b = &guard->body[i];
        guard->config.limits[i] = ff_scenario_watched_limits(&scenario->satellite[i]);
        guard->config.lag[i] = guard->config.limits[i].tracking;
        ff_output_config output;
        ff_scenario_watched_output(&scenario->satellite[i], scenario->cycle, &output);
        ff_safety_set_braking(&guard->config, i, &output);
        b->count = 0;
        b->window = (unsigned)fmin(FF_GUARD_TRACK, ceil(guard->config.delay[i] / guard->config.cycle) + 50.0);
        b->force = ff_vec3_zero();
        b->stop = (ff_stop_state){0};
    }
}

/* [m] from the nearest of the commands that the robot may have come to by now. */
static double tracking_error(const ff_guard_body *b, ff_vec3 at) {
    double least = FF_INF;
    const uint64_t n = b->count < b->window ? b->count : b->window;
    for (uint64_t j = 1; j <= n; j++)
        least = fmin(least, ff_vec3_norm(ff_vec3_sub(b->sent[(b->count - j) % FF_GUARD_TRACK], at)));
    return n ? least : 0.0;
}

static void gather(ff_guard *guard, const ff_sample *sample, const ff_loop_state *state,
                   const ff_loop_out *out, int i) {
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
    guard->in.body[i] = (ff_safety_body_in){.measured = {sensor->T_wb, sensor->twist},
                                            .command = out->command[i],
                                            .f_b = out->measured_b[i],
                                            .force_valid = valid,
                                            .age = sensor->age,
                                            .lag = sample->body[i].sent.lag,
                                            .energy = state->energy[i].exchanged + state->energy[i].delay};
    guard->in.body[i].tracking =
        isfinite(guard->config.limits[i].tracking) ? tracking_error(b, sensor->T_wb.p) : 0.0;
    if (!(sensor->age <= age_limit)) {
        guard->in.body[i].sensor = FF_TRIP_AGE;
        guard->in.body[i].sensor_value = sensor->age;
        guard->in.body[i].sensor_limit = age_limit;
    }
}

bool ff_guard_judge(ff_guard *guard, const ff_sample *sample, const ff_loop_state *state,
                    const ff_loop_out *out, ff_trip found) {
    for (int i = 0; i < guard->config.bodies; i++)
        gather(guard, sample, state, out, i);
    return ff_walk_judge(&guard->config, &guard->walk, &guard->in, found, FF_TRIP_NONE);
}

unsigned ff_guard_stop(ff_guard *guard, const ff_sample *sample, double t, ff_setpoint *command) {
    unsigned led = 0;
    bool done = true, goes = false;
    for (int i = 0; i < guard->config.bodies; i++) {
        ff_guard_body *b = &guard->body[i];
        if (!b->stop.started) {
            ff_stop_start(&b->stop);
            b->stop.grasped = t >= guard->config.grasp[i];
        }
        const bool trusted = guard->in.body[i].force_valid && !ff_trip_by_sensor(guard->walk.cause.code);
        const ff_stop_in in = {sample->body[i].next.to.T, sample->body[i].rests, b->force, trusted,
                               sample->body[i].sensor.T_wb};
        ff_stop_step(&guard->config, i, &b->stop, &in);
        if (b->stop.goes) {
            command[i] = b->stop.target;
            led |= 1u << i;
        }
        goes |= b->stop.goes;
        done &= b->stop.done;
    }
    if (goes)
        ff_walk_on(&guard->walk, FF_ON_PUSHED);
    if (done)
        ff_walk_rested(&guard->walk);
    return led;
}
