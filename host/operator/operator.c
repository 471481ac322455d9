/* The real-time thread of a run on devices, and what surrounds it. */
#include "operator/internal.h"
#include "facility/law.h"
#include "operator/selftest.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static bool stops(void *self) {
    const ff_operator *o = self;
    return o->stopped || atomic_load_explicit(o->options->stop, memory_order_relaxed);
}

static ff_trip finds(void *self) {
    const ff_operator *o = self;
    if (!atomic_load_explicit(&o->recorder_failed, memory_order_relaxed))
        return (ff_trip){.code = FF_TRIP_NONE};
    return (ff_trip){.code = FF_TRIP_RECORDER, .value = (double)ff_ring_dropped(&o->rows)};
}

/* The times of a cycle that began in `before`. */
static void count_times(ff_operator *o, ff_state before) {
    const ff_executive *e = &o->executive;
    ff_rt_result *result = o->result;
    const ff_state state = e->guard.walk.state;
    if (e->stepped)
        ff_histogram_add(&result->compute, (int64_t)e->step_ns);
    if (e->sample.filled)
        return;
    if (e->sample.lateness_ns > 0.0 && before >= FF_STATE_APPROACH)
        ff_histogram_add(&result->lateness, (int64_t)e->sample.lateness_ns);
    if (ff_state_leads(before) && state < FF_STATE_BRAKE)
        ff_histogram_add(&result->io,
                         ff_clock_now() - e->sample.wake - (e->stepped ? (int64_t)e->step_ns : 0));
    if (before == FF_STATE_ARMED && state != before)
        o->faults = ff_faults_now();
}

/* One cycle, and what is done between two. */
static void cycle(ff_operator *o) {
    ff_executive *e = &o->executive;
    const ff_state before = e->guard.walk.state;
    const uint64_t tests = o->preflight.trial_cycle;
    ff_executive_cycle(e);
    if (e->ended)
        return;
    count_times(o, before);
    if (e->stepped) {
        if (e->loop.state->k == 1)
            o->began = e->sample.wake;
        ff__operator_spare(o, e->loop.state->k);
    } else if (o->preflight.trial_cycle != tests) {
        if (o->preflight.trial_cycle == 1)
            o->began = e->sample.wake;
        ff__operator_spare(o, o->preflight.trial_cycle);
    }
    if (e->sample.filled)
        return;
    ff__operator_show(o);
    ff__operator_orders(o);
}

static void *real_time(void *self) {
    ff_operator *o = self;
    ff_rt_result *result = o->result;
    const ff_rt_options *options = o->options;
    ff_rights_take(options->priority ? options->priority : 80, o->cpu, !options->deep_idle, &result->rights);
    if (options->enter)
        options->enter(options->user);
    o->faults = ff_faults_now();
    while (!o->executive.ended)
        cycle(o);
    const ff_faults now = ff_faults_now();
    result->faults = (ff_faults){now.minor - o->faults.minor, now.major - o->faults.major,
                                 now.involuntary - o->faults.involuntary};
    if (options->leave)
        options->leave(options->user);
    atomic_store_explicit(&o->ended, true, memory_order_release);
    atomic_store(&result->ended, true);
    return NULL;
}

static ff_status open_recorder(ff_operator *o, char *message, size_t size) {
    /* two seconds and more: the recorder may be held up by its disk */
    const size_t slots = (size_t)fmax(1024.0, ceil(2.5 / o->plan.cycle));
    o->last_capacity = (size_t)fmax(16.0, ceil(2.0 / o->plan.cycle));
    o->last = calloc(o->last_capacity, sizeof *o->last);
    if (!o->last || ff_ring_create(&o->rows, sizeof(ff_row), slots) != FF_OK ||
        ff_tuning_create(&o->tuning, o->scenario, true) != FF_OK ||
        ff_ring_create(&o->notes, sizeof(ff_rt_note), 64) != FF_OK) {
        snprintf(message, size, "no memory for the recorder's ring");
        return FF_ERR_MEMORY;
    }
    return FF_OK;
}

static void *try_rights(void *rights) {
    ff_rights_take(80, -1, false, rights);
    ff_rights_release(rights);
    return NULL;
}

bool ff_rt_may_move(const ff_scenario *scenario, char *message, size_t size) {
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *s = &scenario->satellite[i];
        const ff_safety_limits *l = &s->safety;
        const struct {
            const char *name;
            bool there;
        } needed[] = {{" force", isfinite(l->force)},
                      {" velocity", isfinite(l->velocity)},
                      {" angular_velocity", isfinite(l->angular_velocity)},
                      {" box", ff_vec3_finite(l->box)},
                      {" energy", isfinite(l->energy)}};
        char missing[80] = "";
        size_t used = 0;
        for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
            if (!needed[n].there)
                used += (size_t)snprintf(missing + used, sizeof missing - used, "%s", needed[n].name);
        if (used) {
            snprintf(message, size,
                     "%s: a real robot needs limits, and the scenario has none for%s; set "
                     "satellites.%s.safety, or write "
                     "`safety: cautious`",
                     s->name, missing, s->name);
            return false;
        }
    }
    const int servicer = ff_scenario_servicer(scenario);
    ff_joint_limits joints = {.joints = 0};
    if (servicer >= 0)
        ff_arm_law_limits(&scenario->satellite[servicer].arm, &joints);
    for (unsigned i = 0; i < joints.joints; i++)
        if (!isfinite(joints.torque[i]) || !isfinite(joints.speed[i]) || !isfinite(joints.lower[i]) ||
            !isfinite(joints.upper[i])) {
            snprintf(message, size,
                     "%s: an arm that is not virtual needs torque, velocity, lower and upper of each joint: "
                     "describe it by a URDF file (arm.model)",
                     scenario->satellite[servicer].name);
            return false;
        }
    ff_rights rights = {.fifo = false};
    pthread_t thread;
    if (pthread_create(&thread, NULL, try_rights, &rights) == 0)
        pthread_join(thread, NULL);
    if (rights.fifo && rights.locked)
        return ff_selftest_allows(scenario->cycle, (int64_t)time(NULL), message, size);
    snprintf(message, size, "a real robot needs real-time rights (freefloat rt --selftest): %.150s",
             rights.missing);
    return false;
}

/* The on-board software of a servicer, in the real-time thread: it must not wait for anybody. */
static ff_status open_mission(ff_operator *o, char *message, size_t size) {
    if (ff_scenario_servicer(o->scenario) < 0)
        return FF_OK;
    ff_mission *mission = malloc(sizeof *mission);
    if (!mission) {
        snprintf(message, size, "no memory for the on-board software");
        return FF_ERR_MEMORY;
    }
    const ff_status status =
        ff_mission_open(mission, o->scenario, NULL, (ff_obsw_record){NULL, NULL}, message, size);
    if (status != FF_OK) {
        free(mission);
        return status;
    }
    o->mission = mission;
    o->inner.guidance = ff_mission_guidance(mission);
    return FF_OK;
}

static ff_status open_all(ff_operator *o, char *message, size_t size) {
    const ff_scenario *scenario = o->scenario;
    const ff_rt_options *options = o->options;
    ff_status status = ff_plan_create(scenario, &o->plan, message, size);
    if (!status)
        status = ff_addresses_find(scenario, &options->ports, &o->address, message, size);
    if (status != FF_OK)
        return status;
    if (!o->address.virtual && !options->confirm) {
        snprintf(message, size, "real devices are armed by the operator at the console, after the check");
        return FF_ERR_ARGUMENT;
    }
    if (!o->address.virtual && !ff_rt_may_move(scenario, message, size))
        return FF_ERR_ARGUMENT;
    if ((status = ff_touch_create(&o->touch, scenario, message, size)) != FF_OK ||
        (status = open_recorder(o, message, size)) != FF_OK ||
        (status = ff_preflight_open(&o->preflight, scenario, &o->plan, o->address.virtual, message, size)) !=
            FF_OK)
        return status;
    const ff_network_options network = {
        .wait = options->wait, .silence = options->silence, .loop_cpu = o->cpu + 1, .stop = options->stop};
    const ff_station station = ff_network_station(&o->network, scenario, &o->plan, &o->address, &network);
    o->sink = ff__operator_sink(o);
    o->inner = (ff_run_options){.sinks = &o->sink, .count = 1};
    if ((status = open_mission(o, message, size)) != FF_OK)
        return status;
    status = ff_executive_open_devices(&o->executive, scenario, station, &o->plan, &o->preflight,
                                       (ff_attendant){o, stops, finds}, &o->inner, ff_clock_now, &o->done);
    o->opened = status == FF_OK;
    if (!o->opened) {
        snprintf(message, size, "%s", o->done.message);
        return status;
    }
    status =
        ff_telemetry_start(&o->telemetry, &options->viewer, o->cpu, &o->tuning, &o->touch, o->run->ideal);
    if (status != FF_OK)
        snprintf(message, size, "no memory for the telemetry");
    o->executive.guard.shows = o->telemetry.out != NULL;
    return status;
}

static void run_all(ff_operator *o) {
    ff_run_result *run = &o->result->run;
    const int64_t begin = ff_clock_now();
    pthread_t thread;
    if (pthread_create(&thread, NULL, real_time, o) != 0) {
        run->status = FF_ERR_MEMORY;
        snprintf(run->message, sizeof run->message, "no thread for the loop");
    } else {
        ff__operator_attend(o);
        pthread_join(thread, NULL);
    }
    run->wall_s = 1e-9 * (double)(ff_clock_now() - begin);
}

void ff_rt_run(const ff_scenario *scenario, const ff_run_options *run, const ff_rt_options *options,
               ff_rt_result *result) {
    *result = (ff_rt_result){0};
    ff_operator *o = calloc(1, sizeof *o);
    if (!o) {
        result->run.status = FF_ERR_MEMORY;
        snprintf(result->run.message, sizeof result->run.message, "no memory for a run on devices");
        return;
    }
    o->scenario = scenario;
    o->run = run;
    o->options = options;
    o->result = result;
    o->cpu = ff_rights_cpu(options->priority ? options->cpu : -1);
    result->run.status = open_all(o, result->run.message, sizeof result->run.message);
    if (result->run.status == FF_OK)
        run_all(o);
    ff_rights_release(&result->rights);
    ff_telemetry_stop(&o->telemetry);
    ff__operator_conclude(o);
    ff_preflight_close(&o->preflight);
    if (o->mission)
        ff_mission_close(o->mission);
    free(o->mission);
    ff_ring_free(&o->rows);
    ff_tuning_free(&o->tuning);
    ff_ring_free(&o->notes);
    free(o->last);
    free(o);
}
