/* The one cycle of a run, in the order in which it happens. */
#include "executive/internal.h"

#include "executive/servicer.h"

#include <stdio.h>
#include <string.h>

enum { SETTLE = 25 }; /* [cycles] of rest after a stop, before the robots' controllers are informed */

/* The loop as the scenario asks. */
static ff_status prepare(ff_executive *e, const ff_scenario *scenario, ff_station station,
                         const ff_run_options *options, int64_t (*now)(void), ff_run_result *result) {
    e->scenario = scenario;
    e->options = options;
    e->result = result;
    e->now = now;
    e->station = station;
    e->tick = e->k = 0;
    e->led = 0;
    e->final = e->ended = e->stepped = false;
    e->step_ns = e->total_ns = 0.0;
    e->found = (ff_trip){.code = FF_TRIP_NONE};
    e->phases = (ff_phases){0};
    e->row = (ff_row){0};
    e->meddling = (ff_meddling){0};
    e->sample = (ff_sample){0};
    e->in = (ff_loop_in){0};
    e->order = (ff_guidance_order){.storage = FF_NAN, .dissipation = FF_NAN};
    e->arm = (ff_arm_order){0};
    e->servicer = ff_scenario_servicer(scenario);
    ff_guard_open(&e->guard, scenario, station.devices);
    e->guard.watches = e->guard.watches && !station.recorded;
    ff_scenario_loop(scenario, &e->config);
    result->status = ff_virtual_contacts_open(&e->touch, scenario, result->message, sizeof result->message);
    if (result->status != FF_OK)
        return result->status;
    result->status =
        ff_scenario_joints(scenario, &e->config, &e->joints, result->message, sizeof result->message);
    if (result->status != FF_OK)
        return result->status;
    result->status = ff_loop_memory_open(&e->config, ff_scenario_library(scenario), &e->loop, result->message,
                                         sizeof result->message);
    if (result->status == FF_OK) {
        ff_loop_reset(e->loop.model, e->loop.state, e->loop.state_bytes, &result->info, &e->out);
        e->nominal = e->loop.state->nominal.motion;
    } else
        ff_joints_memory_close(&e->joints);
    return result->status;
}

static void close_loop(ff_executive *e) {
    ff_loop_memory_close(&e->loop);
    ff_joints_memory_close(&e->joints);
}

static ff_status open_station(ff_executive *e) {
    ff_run_result *result = e->result;
    double lead[FF_MAX_BODIES] = {0};
    for (int i = 0; i < e->scenario->satellites; i++)
        lead[i] = ff_loop_lead(e->loop.model, e->loop.state, i);
    result->status = e->station.open(e->station.self, lead, result->message, sizeof result->message);
    if (result->status != FF_OK)
        close_loop(e);
    return result->status;
}

ff_status ff_executive_open(ff_executive *e, const ff_scenario *scenario, ff_station station,
                            const ff_run_options *options, int64_t (*now)(void), ff_run_result *result) {
    if (prepare(e, scenario, station, options, now, result) != FF_OK)
        return result->status;
    ff_row_arms_open(scenario, options->sinks, options->count, &e->arms);
    return open_station(e);
}

/* The sensors' ranges, as the station knows them. */
static ff_status take_ranges(ff_executive *e) {
    ff_loop_calibration c;
    ff_loop_calibrated(e->loop.model, &c);
    for (int i = 0; i < e->scenario->satellites; i++)
        e->station.range(e->station.self, i, &c.sensor[i].force_limit, &c.sensor[i].torque_limit);
    return ff_loop_calibrate(e->loop.model, &c);
}

void ff_executive_bound(ff_executive *e) {
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_safety_limits *limits = &e->guard.config.limits[i];
        ff_output_config *output = &e->phases.output[i];
        ff_plan_output(&e->scenario->satellite[i], limits, e->scenario->cycle, output);
        ff_safety_set_braking(&e->guard.config, i, output);
        ff_safety_set_box(&e->guard.config, i, output);
        e->station.bound(e->station.self, i, limits, output);
    }
}

ff_status ff_executive_open_devices(ff_executive *e, const ff_scenario *scenario, ff_station station,
                                    ff_plan *plan, ff_preflight *preflight, ff_attendant attendant,
                                    const ff_run_options *options, int64_t (*now)(void),
                                    ff_run_result *result) {
    if (prepare(e, scenario, station, options, now, result) != FF_OK)
        return result->status;
    ff_phases *p = &e->phases;
    *p = (ff_phases){.plan = plan, .preflight = preflight, .attendant = attendant};
    /* a method that predicts issues its commands ahead of the motion: so does the run-up, and begins earlier
     */
    double most = 0.0;
    for (int i = 0; i < scenario->satellites; i++) {
        p->lead[i] = fmax(0.0, ff_loop_lead(e->loop.model, e->loop.state, i));
        most = fmax(most, p->lead[i]);
        e->out.command[i] = ff_plan_runup(plan, i, -FF_INF);
    }
    if (plan->runup)
        plan->runup += (uint64_t)ceil(most / plan->cycle);
    if (open_station(e) != FF_OK)
        return result->status;
    ff_executive_bound(e);
    result->status = take_ranges(e);
    if (result->status != FF_OK) {
        snprintf(result->message, sizeof result->message, "the sensor's page: its range is not positive");
        station.close(station.self);
        close_loop(e);
    }
    return result->status;
}

bool ff_run_progress(const ff_run_options *options, uint64_t k, uint64_t cycles) {
    enum {
        MOST = 16384
    }; /* some tenths of a second at most between two: who stops a long run does not wait */
    const uint64_t stride = cycles / 128 < MOST ? cycles / 128 + 1 : MOST;
    if (!options->progress || k % stride)
        return true;
    return options->progress(options->user, (double)k / (double)cycles);
}

double ff_executive_time(const ff_executive *e) {
    const ff_phases *p = &e->phases;
    if (!p->plan)
        return (double)e->tick * e->scenario->cycle;
    return p->runup < p->plan->runup ? -(double)(p->plan->runup - p->runup) * p->plan->cycle
                                     : (double)e->loop.state->k * p->plan->cycle;
}

double ff_executive_clock(const ff_executive *e) {
    return ff_executive_time(e) + (e->phases.plan ? (double)e->phases.since * e->phases.plan->cycle : 0.0);
}

static bool floats(const ff_executive *e) {
    return ff_state_commands(e->guard.walk.state) == FF_COMMANDS_LOOP;
}

/* Who is led, and how the station takes it. */
static unsigned led_by(const ff_executive *e, bool all) {
    const ff_state state = e->guard.walk.state;
    const unsigned bodies = all ? (1u << e->scenario->satellites) - 1u : e->led;
    return bodies | (ff_state_leads(state) ? FF_LED_AHEAD : 0u);
}

/* Ends the run in this cycle; false, for the caller to pass on. */
static bool fail(ff_executive *e, ff_status status) {
    e->ended = true;
    e->result->status = status;
    snprintf(e->result->message, sizeof e->result->message, "at %.3f s: %s", ff_executive_time(e),
             ff_status_text(status));
    return false;
}

/* The same for a step of the loop: of a method from outside it may be its fault. */
static void fail_step(ff_executive *e, ff_status status) {
    fail(e, status);
    if (ff_scenario_library(e->scenario))
        snprintf(e->result->message, sizeof e->result->message, "at %.3f s: method '%s': %s",
                 ff_executive_time(e), e->scenario->method->name, ff_status_text(status));
}

void ff_executive_stop(ff_executive *e) {
    if (e->ended)
        return;
    e->ended = true;
    e->result->status = FF_ERR_LIMIT;
    snprintf(e->result->message, sizeof e->result->message, "stopped at %.3f s", ff_executive_time(e));
}

/* The devices are released; what it came to stays in the result. */
static void leave(ff_executive *e);

/* Between two cycles: whoever commands may wait, change what may be changed, or stop. */
static bool take_orders(ff_executive *e) {
    const ff_run_access access = {e->k, ff_executive_time(e), e->loop.model, &e->in, &e->out};
    if (!e->options->between || e->options->between(e->options->between_user, &access))
        return true;
    ff_executive_stop(e);
    return false;
}

/* Whoever steps the run commands these robots. */
static void take_commands(ff_executive *e, ff_setpoint *command) {
    for (int i = 0; i < e->scenario->satellites; i++)
        if (e->meddling.commands[i])
            command[i] = e->meddling.command[i];
}

/* What will be commanded at t_k as far as it is known before the sample. */
static void offer(ff_executive *e) {
    e->final = e->k == e->scenario->cycles;
    take_commands(e, e->out.next);
    e->station.offer(e->station.self, e->tick, e->out.next, led_by(e, floats(e)),
                     &e->loop.state->nominal.motion);
}

static void judge(ff_executive *e);

/* The pacing robot is silent: what can be reached is brought to rest. Or it was asked to end (FF_ERR_LIMIT).
 */
static void lose(ff_executive *e, ff_status status) {
    if (status == FF_ERR_DEVICE) {
        judge(e);
        e->station.release(e->station.self);
    } else
        e->guard.walk.cause.code = FF_TRIP_OPERATOR; /* before any device spoke */
    leave(e);
}

static bool wait_sample(ff_executive *e) {
    const ff_status status = e->station.wait(e->station.self, &e->sample);
    if (status < 0 && e->phases.plan)
        lose(e, status);
    else if (status < 0)
        fail(e, status);
    return status >= 0;
}

/* Stage 1 on devices: also before the run, where nothing is counted. */
static void measure_devices(ff_executive *e) {
    ff_phases *p = &e->phases;
    ff_loop_info idle = {0};
    const bool moves = ff_state_leads(e->guard.walk.state);
    p->missed += e->sample.lost;
    p->missed_at_rest += moves ? 0 : e->sample.lost;
    /* what stage 1 has learnt before t = 0 is not part of the run, which a log repeats from there */
    for (int i = 0;
         i < e->scenario->satellites && moves && p->runup >= p->plan->runup && e->loop.state->k == 0; i++)
        ff_mount_reset(&e->loop.state->mount[i]);
    ff_loop_measure(e->loop.model, e->loop.state, moves ? &e->result->info : &idle, &e->in, &e->out);
}

/* What is ordered on board. False: who guides the run ends it. */
static bool guide(ff_executive *e) {
    char message[sizeof e->result->message];
    message[0] = '\0';
    const ff_status status = ff__servicer_guide(e, message, sizeof message);
    e->guided = true;
    if (status >= 0)
        return true;
    fail(e, status);
    if (message[0])
        snprintf(e->result->message, sizeof e->result->message, "%s", message);
    return false;
}

/* Sample, known loads and orders on board as the loop's input. False: who guides the run ends it. */
static bool fill(ff_executive *e) {
    const double t = (double)e->k * e->scenario->cycle;
    for (int i = 0; i < e->scenario->satellites; i++) {
        e->in.sensor[i] = e->sample.body[i].sensor;
        e->in.sent[i] = e->sample.body[i].sent;
        e->in.load[i] = ff_scenario_load_at(e->scenario, i, t);
        if (e->meddling.loads) {
            e->in.load[i].force = ff_vec3_add(e->in.load[i].force, e->meddling.load[i].force);
            e->in.load[i].torque = ff_vec3_add(e->in.load[i].torque, e->meddling.load[i].torque);
        }
    }
    ff_virtual_contacts_step(&e->touch, e->scenario->satellites, &e->in);
    ff__servicer_fill(e);
    e->guided = false;
    return !floats(e) || e->phases.finished || guide(e);
}

/* Stage 1 on it: the contact wrench that is judged is the one that acts. */
static void measure(ff_executive *e) {
    if (e->phases.plan)
        measure_devices(e);
    else if (e->final)
        ff_loop_joints(e->loop.model, e->loop.state, &e->result->info, &e->in, &e->out);
    else
        ff_loop_measure(e->loop.model, e->loop.state, &e->result->info, &e->in, &e->out);
}

static void tell_state(const ff_executive *e) {
    const ff_state state = e->guard.walk.state;
    if (e->station.tell)
        e->station.tell(e->station.self, (int)state);
    ff_sinks_state(e->options->sinks, e->options->count, ff_executive_clock(e), (int)state,
                   ff_state_name(state));
}

void ff__executive_go(ff_executive *e, ff_state_event event) {
    if (!ff_walk_on(&e->guard.walk, event))
        return;
    const ff_state state = e->guard.walk.state;
    e->phases.begun |= state >= FF_STATE_RUNUP && ff_state_commands(state) <= FF_COMMANDS_LOOP;
    tell_state(e);
}

void ff__executive_say(ff_executive *e, ff_event_level level, const char *text) {
    ff_sinks_say(e->options->sinks, e->options->count, ff_executive_clock(e), level, text);
}

/* What is known to be wrong already: by the loop, the station, the attendant, the check. */
static ff_trip found_before(ff_executive *e) {
    const ff_phases *p = &e->phases;
    const ff_state state = e->guard.walk.state;
    ff_trip trip = e->found;
    e->found = (ff_trip){.code = FF_TRIP_NONE};
    if (trip.code == FF_TRIP_NONE)
        trip = e->sample.found;
    if (trip.code == FF_TRIP_NONE && p->plan)
        trip = p->attendant.finds(p->attendant.self);
    if (trip.code == FF_TRIP_NONE && p->plan && (state == FF_STATE_CHECK || state == FF_STATE_TEST) &&
        atomic_load_explicit(&p->preflight->refused, memory_order_acquire))
        trip = p->preflight->check.no_go; /* NONE: the operator said no */
    return trip;
}

static bool stop_asked(const ff_executive *e) {
    const ff_phases *p = &e->phases;
    return p->attendant.stops(p->attendant.self) ||
           atomic_load_explicit(&p->preflight->refused, memory_order_relaxed);
}

static ff_trip_code end_asked(const ff_executive *e) {
    const ff_phases *p = &e->phases;
    if (!p->plan)
        return FF_TRIP_NONE;
    if (p->finished)
        return FF_TRIP_FINISHED;
    return p->hold || stop_asked(e) ? FF_TRIP_OPERATOR : FF_TRIP_NONE;
}

/* What the check found is another thread's until this says that it is done. */
static void take_check(ff_executive *e) {
    ff_phases *p = &e->phases;
    p->passed = p->passed || atomic_load_explicit(&p->preflight->passed, memory_order_acquire);
    for (int i = 0; i < e->scenario->satellites; i++)
        /* a quarter: FF_SAFETY_SAME such in a row come by chance once in 1e14 */
        e->guard.body[i].noisy = p->passed && p->preflight->check.body[i].repeated <= 0.25;
}

/* After a fault: what else was broken while the robots still spoke. */
static void say_further(ff_executive *e) {
    const ff_trip *further = &e->guard.walk.further;
    char sentence[FF_TRIP_SENTENCE], text[FF_TRIP_SENTENCE + 20];
    ff_trip_sentence(further, e->scenario->satellite[further->body].name, sentence, sizeof sentence);
    snprintf(text, sizeof text, "after the fault: %s", sentence);
    ff__executive_say(e, FF_EVENT_FAULT, text);
}

/* The limits; what breaks one is kept for the end of the run. */
static void judge(ff_executive *e) {
    ff_guard *guard = &e->guard;
    const bool devices = e->phases.plan;
    if (!guard->watches || (e->final && !devices))
        return;
    if (e->sample.filled) {
        guard->in.filled++;
        return;
    }
    const ff_state before = guard->walk.state;
    if (devices)
        take_check(e);
    const bool silent = e->sample.silent, further = guard->walk.further.code != FF_TRIP_NONE;
    const bool ends = ff_guard_judge(guard, &e->sample, e->loop.model, e->loop.state, &e->out,
                                     found_before(e), end_asked(e));
    if (silent)
        ff_walk_on(&guard->walk, FF_ON_GONE);
    if (ends) {
        const ff_trip *cause = &guard->walk.cause;
        const bool failed = ff_walk_failed(&guard->walk);
        e->result->safety.ended = ff_executive_clock(e);
        if (failed && e->sample.body[0].device.moved)
            ff_executive_aside(e, ff_executive_clock(e));
        ff_sinks_event(e->options->sinks, e->options->count, ff_executive_clock(e), (int)cause->code,
                       failed ? FF_EVENT_FAULT : FF_EVENT_INFO, ff_trip_text(cause->code), cause->value,
                       cause->limit);
    }
    if (!further && guard->walk.further.code != FF_TRIP_NONE)
        say_further(e);
    if (devices)
        ff__phases_walk(e);
    if (guard->walk.state != before)
        tell_state(e);
}

/* The loop: contact, fidelity, satellites, command. */
static ff_status step(ff_executive *e) {
    e->stepped = !e->final;
    e->nominal = e->loop.state->nominal.motion;
    if (e->options->count)
        ff_row_begin(e->scenario, e->loop.state, e->k, e->final, &e->row);
    if (e->final) { /* where everything stands at the end */
        e->row.tuned.known = false;
        ff_row_settle(e->scenario, &e->out);
        if (e->phases.plan) /* the last row has no input of its own */
            memcpy(e->out.measured_b, e->phases.used, sizeof e->phases.used);
        return FF_OK;
    }
    if (e->options->count && (e->k == 0 || e->options->between || e->phases.plan)) /* it may have changed */
        ff_tuned_get(e->loop.model, e->scenario->satellites, &e->row.tuned);
    const int64_t begin = e->now ? e->now() : 0;
    const ff_status status = ff_loop_advance(e->loop.model, e->loop.state, &e->result->info, &e->in, &e->out);
    if (e->now) {
        e->row.compute_ns = e->step_ns = (double)(e->now() - begin);
        e->total_ns += e->step_ns;
        if (e->step_ns > e->result->cycle_max_ns)
            e->result->cycle_max_ns = e->step_ns;
    }
    memcpy(e->phases.used, e->out.measured_b, sizeof e->phases.used);
    return status;
}

/* What the stop of a body came to. */
static void say_why(ff_executive *e, int i) {
    const ff_stop_why why = e->guard.body[i].stop.why;
    char text[160];
    snprintf(text, sizeof text, "%s: %s", e->scenario->satellite[i].name, ff_stop_text(why));
    ff__executive_say(e, ff_stop_ended_well(why) ? FF_EVENT_INFO : FF_EVENT_WARNING, text);
}

/* On devices: what leads this body after its stop accelerates no more than that. */
static void slow(ff_executive *e, int i) {
    ff_output_slow(&e->phases.output[i]);
    e->station.bound(e->station.self, i, &e->guard.config.limits[i], &e->phases.output[i]);
}

void ff_executive_retreat(ff_executive *e) {
    ff_guard_retreat(&e->guard);
    e->phases.rest = 0;
}

/* No loop any more: to rest, and out of a contact. */
static void come_to_rest(ff_executive *e) {
    const ff_state before = e->guard.walk.state;
    bool done[FF_MAX_BODIES];
    for (int i = 0; i < e->scenario->satellites; i++)
        done[i] = e->guard.body[i].stop.done;
    e->led = ff_guard_stop(&e->guard, &e->sample, ff_executive_time(e), e->out.command);
    for (int i = 0; i < e->scenario->satellites; i++) {
        e->out.next[i] = e->out.command[i];
        const ff_stop_state *stop = &e->guard.body[i].stop;
        if (e->phases.plan && (stop->retreats || stop->done) && !e->guard.body[i].back)
            slow(e, i);
        if (!done[i] && e->guard.body[i].stop.done)
            say_why(e, i);
    }
    if (e->guard.walk.state != before)
        tell_state(e);
}

/* all: every robot is led to its command; else those that a stop leads. floating: by the loop. */
static void write_commands(ff_executive *e, bool all, bool floating) {
    ff__servicer_order(e, floating);
    if (!e->final || e->phases.plan)
        e->station.write(e->station.self, e->tick, e->out.command, led_by(e, all), e->out.measured_b, &e->arm,
                         e->sent);
    for (int i = 0; i < e->scenario->satellites; i++) {
        if (e->final && !e->phases.plan)
            e->sent[i] = e->sample.body[i].next;
        e->result->limited += e->sent[i].limited && !e->final && floats(e);
    }
}

/* What devices say of themselves. */
static void complete_devices(ff_executive *e) {
    e->row.missed = e->phases.missed;
    e->row.lateness_ns = e->sample.lateness_ns;
    e->row.io_ns = e->sample.io_ns;
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_sample_body *body = &e->sample.body[i];
        const ff_sample_device *d = &body->device;
        ff_row_body *row = &e->row.body[i];
        row->robot = (ff_setpoint){body->sensor.T_wb, body->sensor.twist};
        row->inertial = ff_loop_to_inertial(e->loop.model, &e->nominal, row->robot);
        row->device = (ff_row_device){.has_joints = true,
                                      .has_clock = d->has_clock,
                                      .joints = d->joints,
                                      .drift = d->drift,
                                      .offset = d->offset,
                                      .residual = d->residual,
                                      .rms = d->rms};
    }
}

void ff_executive_row(ff_executive *e, bool final, double t) {
    e->row = (ff_row){0}; /* outside the loop much is not known */
    ff_row_begin(e->scenario, e->loop.state, e->loop.state->k, final, &e->row);
    e->row.t = t;
    e->row.missed = e->phases.missed;
    e->row.lateness_ns = e->sample.lateness_ns;
    for (int i = 0; i < e->scenario->satellites; i++) {
        ff_row_body *row = &e->row.body[i];
        const ff_wrench_in *sensor = &e->sample.body[i].sensor;
        row->robot = (ff_setpoint){sensor->T_wb, sensor->twist};
        row->inertial = ff_loop_to_inertial(e->loop.model, &e->nominal, row->robot);
        row->command = e->out.command[i];
        row->measured_b = e->out.measured_b[i];
        row->device.joints = e->sample.body[i].device.joints;
    }
}

void ff_executive_aside(ff_executive *e, double t) {
    if (!e->phases.plan)
        return;
    ff_executive_row(e, false, t);
    e->row.aside = true;
    for (int i = 0; i < e->scenario->satellites; i++)
        e->row.body[i].sensor = e->in.sensor[i];
    ff_sinks_aside(e->options->sinks, e->options->count, &e->row);
}

/* What the station knows beyond its sample, and the reference. */
static void complete(ff_executive *e) {
    const ff_ideal_result *ideal = e->options->ideal;
    const ff_truth *truth = e->station.truth(e->station.self);
    if (e->phases.plan)
        complete_devices(e);
    for (int i = 0; i < e->scenario->satellites; i++) {
        if (ideal && e->k < ideal->samples)
            e->row.body[i].ideal = ideal->state[e->k * (uint64_t)ideal->bodies + (uint64_t)i];
        if (truth) {
            e->row.body[i].robot = truth->robot[i];
            e->row.body[i].inertial = truth->inertial[i];
        }
    }
    if (truth)
        ff_row_arms_find(&e->arms, &e->row);
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
    ff_row_sent(e->scenario, e->sent, &e->row);
    complete(e);
    const ff_status status = ff_sinks_row(e->options->sinks, e->options->count, &e->row);
    return status >= 0 || fail(e, status);
}

/* Cycle k is done. A loop that diverged is a fault like any other where limits act: the robots are stopped.
 */
static void advance(ff_executive *e, ff_status stepped) {
    e->done++;
    e->result->cycles = e->k;
    if (stepped < 0 && e->guard.watches)
        e->found =
            ff_trip_of_step(stepped, e->loop.state, e->scenario->satellites, e->scenario->method->name);
    else if (stepped < 0)
        fail_step(e, stepped);
    if (e->phases.plan)
        e->phases.finished = e->phases.finished || e->final;
    else
        e->ended = e->ended || e->final;
    e->k++;
}

/* The stop is over: at rest, in HOLD or FAULT. */
static void finish(ff_executive *e) {
    const ff_walk *walk = &e->guard.walk;
    if (walk->state != FF_STATE_HOLD && walk->state != FF_STATE_FAULT)
        return;
    char sentence[FF_TRIP_SENTENCE];
    ff_trip_sentence(&walk->cause, e->scenario->satellite[walk->cause.body].name, sentence, sizeof sentence);
    fail(e, FF_ERR_LIMIT);
    snprintf(e->result->message, sizeof e->result->message, "at %.3f s: %s, %s", e->result->safety.ended,
             ff_state_name(walk->state), sentence);
}

/* One cycle of the loop; written: its command reaches the robots. */
static void run_loop(ff_executive *e, bool written) {
    if (!e->guided && !guide(e)) /* on devices, in the cycle in which it begins */
        return;
    const ff_status stepped = step(e); /* the loop */
    take_commands(e, e->out.command);
    if (written)
        write_commands(e, true, true); /* to the robots: the command of t_k */
    for (int i = 0; i < e->scenario->satellites && !written; i++)
        e->sent[i] = e->sample.body[i].sent; /* nothing new */
    if (feed_row(e, stepped))                /* to the sinks: all of it */
        advance(e, stepped);
}

/* On devices a stop is followed by a rest; then the robots are released. */
static void stop_devices(ff_executive *e) {
    ff_phases *p = &e->phases;
    come_to_rest(e);
    p->rest += e->guard.rested;
    /* commanded to hold, it stays until it is commanded to end, or something fails */
    const bool stays = p->hold && !p->finished && e->guard.walk.state == FF_STATE_HOLD && !stop_asked(e);
    if (p->rest <= SETTLE || stays) {
        write_commands(e, false, false);
        p->since++;
        return;
    }
    e->station.release(e->station.self);
    leave(e);
}

/* What leads the robots on devices, in a cycle that began in `before`. */
static void lead_devices(ff_executive *e, ff_state before) {
    const ff_state state = e->guard.walk.state;
    if (e->sample.filled) { /* afterwards: nothing can be commanded */
        if (ff_state_leads(state) && ff__phases_fill(e))
            run_loop(e, false);
        e->phases.since += ff_state_commands(state) == FF_COMMANDS_STOP;
        return;
    }
    ff__phases_check(e, before);
    if (ff_state_commands(e->guard.walk.state) == FF_COMMANDS_STOP)
        stop_devices(e);
    else if (!ff_state_leads(before)) /* held where they are, but for the tests */
        write_commands(e, e->phases.preflight->testing, false);
    else if (ff__phases_lead(e))
        run_loop(e, true);
    else
        write_commands(e, true, false);
}

ff_status ff_executive_cycle(ff_executive *e) {
    if (e->ended || !take_orders(e)) /* tune, hold, stop */
        return e->result->status;
    const ff_state before = e->guard.walk.state;
    e->stepped = false;
    offer(e);            /* to the robots: what is known of the command at t_k */
    if (!wait_sample(e)) /* from robots and sensors: what they report at t_k */
        return e->result->status;
    if (!fill(e)) /* the sample, the known loads and the orders on board as the loop's input */
        return e->result->status;
    measure(e); /* the contact wrench */
    judge(e);   /* the limits */
    if (e->phases.plan)
        lead_devices(e, before); /* the check, what leads to t = 0, the loop, the stop */
    else if (floats(e))
        run_loop(e, true);
    else {
        come_to_rest(e); /* where a limit was broken */
        write_commands(e, false, false);
        finish(e);
    }
    e->tick++;
    return e->result->status;
}

static void keep_safety(ff_executive *e, ff_run_safety *safety) {
    const ff_walk *walk = &e->guard.walk;
    safety->watched = true;
    safety->state = walk->state;
    safety->cause = walk->cause;
    for (int i = 0; i < e->scenario->satellites; i++) {
        const ff_stop_state *stop = &e->guard.body[i].stop;
        safety->stopped[i] = stop->done;
        safety->retreated[i] = stop->retreats || e->guard.body[i].retreated;
        safety->why[i] = stop->why;
        safety->rest[i] = (ff_setpoint){e->sample.body[i].sensor.T_wb, e->sample.body[i].sensor.twist};
    }
}

static void leave(ff_executive *e) {
    e->ended = true;
    keep_safety(e, &e->result->safety);
    ff__executive_go(e, FF_ON_CLOSE);
}

void ff_executive_keep(ff_executive *e, ff_keeper *keeper) {
    if (e->loop.library && !e->loop.library->copies)
        ff_keep_refuse(keeper, "a method library's memory belongs to the process that is watched");
    ff_keep(keeper, &e->guard, sizeof e->guard);
    ff_keep(keeper, &e->found, sizeof e->found);
    ff_keep(keeper, e->phases.used, sizeof e->phases.used);
    ff_keep(keeper, &e->led, sizeof e->led);
    ff_keep(keeper, &e->tick, sizeof e->tick);
    ff_keep(keeper, &e->k, sizeof e->k);
    ff_keep(keeper, &e->final, sizeof e->final);
    ff_keep(keeper, &e->ended, sizeof e->ended);
    ff_keep(keeper, &e->step_ns, sizeof e->step_ns);
    ff_keep(keeper, &e->total_ns, sizeof e->total_ns);
    ff_keep(keeper, &e->nominal, sizeof e->nominal);
    ff_keep(keeper, e->loop.state, e->loop.state_bytes);
    ff_keep(keeper, &e->order, sizeof e->order);
    ff_keep(keeper, &e->arm, sizeof e->arm);
    ff_keep(keeper, &e->in, sizeof e->in);
    ff_keep(keeper, &e->out, sizeof e->out);
    ff_keep(keeper, &e->sample, sizeof e->sample);
    ff_keep(keeper, e->sent, sizeof e->sent);
    ff_keep(keeper, &e->row, sizeof e->row);
    ff_row_arms_keep(&e->arms, keeper);
    ff_keep(keeper, &e->meddling, sizeof e->meddling);
    ff_keep(keeper, e->result, sizeof *e->result);
}

void ff_executive_close(ff_executive *e) {
    ff_run_result *result = e->result;
    ff_walk *walk = &e->guard.walk;
    e->station.close(e->station.self);
    if (e->guard.watches && !e->phases.plan) {
        if (walk->cause.code == FF_TRIP_NONE) { /* nothing was broken: virtual robots need no stop */
            walk->cause.code = result->status == FF_OK ? FF_TRIP_FINISHED : FF_TRIP_OPERATOR;
            ff_walk_on(walk, FF_ON_CLOSE);
        }
        keep_safety(e, &result->safety);
    }
    result->reports = ff_loop_report(e->loop.model, e->loop.state, -1, result->report);
    close_loop(e);
    if (e->now && result->cycles)
        result->cycle_mean_ns = e->total_ns / (double)result->cycles;
}
