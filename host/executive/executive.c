#include "executive/executive.h"

#include "executive/servicer.h"

#include <stdio.h>

ff_status ff_executive_open(ff_executive *e, const ff_scenario *scenario, ff_station station,
                            const ff_run_options *options, int64_t (*now)(void), ff_run_result *result) {
    e->scenario = scenario;
    e->options = options;
    e->result = result;
    e->now = now;
    e->station = station;
    e->tick = e->k = 0;
    e->led = 0;
    e->final = e->ended = false;
    e->step_ns = e->total_ns = 0.0;
    e->found = (ff_trip){.code = FF_TRIP_NONE};
    e->row = (ff_row){0};
    e->sample = (ff_sample){0};
    e->in = (ff_loop_in){0};
    e->order = (ff_guidance_order){.storage = FF_NAN, .dissipation = FF_NAN};
    e->servicer = ff_scenario_servicer(scenario);
    ff_guard_open(&e->guard, scenario);
    e->guard.watches = e->guard.watches && !station.recorded;
    ff_scenario_loop(scenario, &e->config);
    result->status =
        ff_scenario_joints(scenario, &e->config, &e->joints, result->message, sizeof result->message);
    if (result->status != FF_OK)
        return result->status;
    result->status = ff_loop_memory_open(&e->config, &e->loop, result->message, sizeof result->message);
    if (result->status != FF_OK) {
        ff_joints_memory_close(&e->joints);
        return result->status;
    }
    ff_loop_reset(e->loop.model, e->loop.state, e->loop.state_bytes, &result->info, &e->out);
    double lead[FF_MAX_BODIES] = {0};
    for (int i = 0; i < scenario->satellites; i++)
        lead[i] = ff_loop_lead(e->loop.model, e->loop.state, i);
    result->status = station.open(station.self, lead, result->message, sizeof result->message);
    if (result->status != FF_OK) {
        ff_loop_memory_close(&e->loop);
        ff_joints_memory_close(&e->joints);
    }
    return result->status;
}

bool ff_run_progress(const ff_run_options *options, uint64_t k, uint64_t cycles) {
    const uint64_t stride = cycles / 128 + 1;
    if (!options->progress || k % stride)
        return true;
    return options->progress(options->user, (double)k / (double)cycles);
}

static double time_of(const ff_executive *e) {
    return (double)e->tick * e->scenario->cycle;
}

static bool floats(const ff_executive *e) {
    return e->guard.walk.state == FF_STATE_FLOAT || e->guard.walk.state == FF_STATE_CONTACT;
}

static unsigned everybody(const ff_executive *e) {
    return (1u << e->scenario->satellites) - 1u;
}

/* Ends the run in this cycle; false, for the caller to pass on. */
static bool fail(ff_executive *e, ff_status status) {
    e->ended = true;
    e->result->status = status;
    snprintf(e->result->message, sizeof e->result->message, "at %.3f s: %s", time_of(e),
             ff_status_text(status));
    return false;
}

void ff_executive_stop(ff_executive *e) {
    if (e->ended)
        return;
    e->ended = true;
    e->result->status = FF_ERR_LIMIT;
    snprintf(e->result->message, sizeof e->result->message, "stopped at %.3f s", time_of(e));
}

/* Between two cycles: whoever commands may wait, change what may be changed, or stop. */
static bool take_orders(ff_executive *e) {
    const ff_run_access access = {e->k, time_of(e), e->loop.model, &e->in, &e->out};
    if (!e->options->between || e->options->between(e->options->between_user, &access))
        return true;
    ff_executive_stop(e);
    return false;
}

/* What will be commanded at t_k as far as it is known before the sample. */
static void offer(ff_executive *e) {
    e->final = e->k == e->scenario->cycles;
    e->station.offer(e->station.self, e->tick, e->out.next, floats(e) ? everybody(e) : e->led,
                     &e->loop.state->nominal.motion);
}

static bool wait_sample(ff_executive *e) {
    const ff_status status = e->station.wait(e->station.self, &e->sample);
    return status >= 0 || fail(e, status);
}

/* Sample, known loads and orders as the loop's input. False: who guides the run ends it. */
static bool fill(ff_executive *e) {
    const double t = (double)e->k * e->scenario->cycle;
    char message[sizeof e->result->message] = "";
    for (int i = 0; i < e->scenario->satellites; i++) {
        e->in.sensor[i] = e->sample.body[i].sensor;
        e->in.load[i] = ff_scenario_load_at(e->scenario, i, t);
    }
    ff__servicer_fill(e);
    const ff_status status = floats(e) ? ff__servicer_guide(e, message, sizeof message) : FF_OK;
    if (status >= 0)
        return true;
    fail(e, status);
    if (message[0])
        snprintf(e->result->message, sizeof e->result->message, "%s", message);
    return false;
}

/* Stage 1: the contact wrench that is judged is the one that acts. The row begins with the satellites before
 * the step. */
static void measure(ff_executive *e) {
    if (e->final)
        ff_loop_joints(e->loop.model, e->loop.state, &e->result->info, &e->in, &e->out);
    else
        ff_loop_measure(e->loop.model, e->loop.state, &e->result->info, &e->in, &e->out);
    if (e->options->count && floats(e))
        ff_row_begin(e->scenario, e->loop.state, e->k, e->final, &e->row);
}

static void tell_state(const ff_executive *e) {
    const ff_state state = e->guard.walk.state;
    ff_sinks_state(e->options->sinks, e->options->count, time_of(e), (int)state, ff_state_name(state));
}

/* The limits; what breaks one is kept for the end of the run. */
static void judge(ff_executive *e) {
    ff_guard *guard = &e->guard;
    if (!guard->watches || e->final)
        return;
    const ff_state before = guard->walk.state;
    const bool ends = ff_guard_judge(guard, &e->sample, e->loop.state, &e->out, e->found);
    e->found = (ff_trip){.code = FF_TRIP_NONE};
    if (ends) {
        const ff_trip *cause = &guard->walk.cause;
        e->result->safety.ended = time_of(e);
        ff_sinks_event(e->options->sinks, e->options->count, time_of(e), (int)cause->code,
                       ff_walk_failed(&guard->walk) ? FF_EVENT_FAULT : FF_EVENT_INFO,
                       ff_trip_text(cause->code), cause->value, cause->limit);
    }
    if (guard->walk.state != before)
        tell_state(e);
}

/* The loop: contact, fidelity, satellites, command. */
static ff_status step(ff_executive *e) {
    if (e->final) { /* where everything stands at the end */
        ff_row_settle(e->scenario, &e->out);
        return FF_OK;
    }
    if (e->options->count)
        ff_tuned_get(e->loop.model, e->scenario->satellites, &e->row.tuned);
    const int64_t begin = e->now ? e->now() : 0;
    const ff_status status = ff_loop_advance(e->loop.model, e->loop.state, &e->result->info, &e->in, &e->out);
    if (e->now) {
        e->row.compute_ns = e->step_ns = (double)(e->now() - begin);
        e->total_ns += e->step_ns;
        if (e->step_ns > e->result->cycle_max_ns)
            e->result->cycle_max_ns = e->step_ns;
    }
    return status;
}

/* No loop any more: to rest, and out of a contact. */
static void come_to_rest(ff_executive *e) {
    const ff_state before = e->guard.walk.state;
    e->led = ff_guard_stop(&e->guard, &e->sample, time_of(e), e->out.command);
    for (int i = 0; i < e->scenario->satellites; i++)
        e->out.next[i] = e->out.command[i];
    if (e->guard.walk.state != before)
        tell_state(e);
}

static void write_commands(ff_executive *e) {
    const ff_arm_order arm = ff__servicer_order(e, floats(e));
    if (!e->final)
        e->station.write(e->station.self, e->tick, e->out.command, floats(e) ? everybody(e) : e->led,
                         e->out.measured_b, &arm);
}

/* What the station knows beyond its sample, and the reference. */
static void complete(ff_executive *e) {
    const ff_ideal_result *ideal = e->options->ideal;
    const ff_truth *truth = e->station.truth(e->station.self);
    for (int i = 0; i < e->scenario->satellites; i++) {
        if (ideal && e->k < ideal->samples)
            e->row.body[i].ideal = ideal->state[e->k * (uint64_t)ideal->bodies + (uint64_t)i];
        if (truth) {
            e->row.body[i].robot = truth->robot[i];
            e->row.body[i].inertial = truth->inertial[i];
        }
    }
    for (int c = 0; truth && c < e->scenario->contacts; c++) {
        e->row.contact_force[c] = truth->force[c];
        e->row.touching[c] = truth->touching[c];
    }
    ff__servicer_row(e, truth);
}

static bool feed_row(ff_executive *e, ff_status stepped) {
    if (!e->options->count)
        return true;
    ff_row_loop(e->scenario, e->loop.model, e->loop.state, &e->in, &e->out, stepped, &e->row);
    complete(e);
    const ff_status status = ff_sinks_row(e->options->sinks, e->options->count, &e->row);
    return status >= 0 || fail(e, status);
}

/* Cycle k is done. A loop that diverged is a fault like any other where limits act: the robots are stopped.
 */
static void advance(ff_executive *e, ff_status stepped) {
    e->result->cycles = e->k;
    if (stepped < 0 && e->guard.watches)
        e->found = (ff_trip){.code = FF_TRIP_DIVERGED};
    else if (stepped < 0)
        fail(e, stepped);
    e->ended = e->ended || e->final;
    e->k++;
}

/* The stop is over: at rest, in HOLD or FAULT. */
static void finish(ff_executive *e) {
    const ff_walk *walk = &e->guard.walk;
    if (walk->state != FF_STATE_HOLD && walk->state != FF_STATE_FAULT)
        return;
    char sentence[200];
    ff_trip_sentence(&walk->cause, sentence, sizeof sentence);
    fail(e, FF_ERR_LIMIT);
    snprintf(e->result->message, sizeof e->result->message, "at %.3f s: %s, %s", e->result->safety.ended,
             ff_state_name(walk->state), sentence);
}

ff_status ff_executive_cycle(ff_executive *e) {
    if (e->ended || !take_orders(e)) /* tune, hold, stop */
        return e->result->status;
    offer(e);            /* to the robots: what is known of the command at t_k */
    if (!wait_sample(e)) /* from robots and sensors: what they report at t_k */
        return e->result->status;
    if (!fill(e)) /* the sample, the known loads and the orders on board as the loop's input */
        return e->result->status;
    measure(e); /* the contact wrench */
    judge(e);   /* the limits */
    if (floats(e)) {
        const ff_status stepped = step(e); /* the loop */
        write_commands(e);                 /* to the robots: the command of t_k */
        if (feed_row(e, stepped))          /* to the sinks: all of it */
            advance(e, stepped);
    } else {
        come_to_rest(e); /* where a limit was broken */
        write_commands(e);
        finish(e);
    }
    e->tick++;
    return e->result->status;
}

static void keep_safety(ff_executive *e, ff_run_safety *safety) {
    ff_walk *walk = &e->guard.walk;
    if (walk->cause.code == FF_TRIP_NONE) { /* nothing was broken: virtual robots need no stop */
        walk->cause.code = e->result->status == FF_OK ? FF_TRIP_FINISHED : FF_TRIP_OPERATOR;
        ff_walk_on(walk, FF_ON_CLOSE);
    }
    safety->watched = true;
    safety->state = walk->state;
    safety->cause = walk->cause;
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_stop_state *stop = &e->guard.body[i].stop;
        safety->stopped[i] = stop->done;
        safety->retreated[i] = stop->retreats;
        safety->why[i] = stop->why;
        safety->rest[i] = (ff_setpoint){e->sample.body[i].sensor.T_wb, e->sample.body[i].sensor.twist};
    }
}

void ff_executive_close(ff_executive *e) {
    ff_run_result *result = e->result;
    e->station.close(e->station.self);
    if (e->guard.watches)
        keep_safety(e, &result->safety);
    result->reports = ff_loop_report(e->loop.model, e->loop.state, -1, result->report);
    ff_loop_memory_close(&e->loop);
    ff_joints_memory_close(&e->joints);
    if (e->now && result->cycles)
        result->cycle_mean_ns = e->total_ns / (double)result->cycles;
}
