/* What a run on devices came to. */
#include "operator/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ff_run_clock clock_of(const ff_network *network, int i) {
    const ff_network_body *b = &network->body[i];
    ff_run_clock clock = {.known = ff_network_clock_known(network, i)};
    if (!clock.known)
        return clock;
    clock.drift_ppm = ff_clockfit_ppm(&b->follow.fit);
    clock.residual_s = ff_clockfit_rms(&b->follow.fit);
    clock.largest_s = b->follow.fit.largest;
    clock.restarts = b->follow.fit.restarts;
    if (ff_clockfit_ready(&network->fitting_sensor, &b->ft.fit)) {
        clock.sensor_hz = 1.0 / (b->ft.tick * (1.0 + b->ft.fit.rate));
        clock.sensor_s = ff_clockfit_rms(&b->ft.fit);
    }
    return clock;
}

/* What the devices and the executive counted. */
static void collect(ff_operator *o) {
    ff_rt_result *result = o->result;
    ff_run_result *run = &result->run;
    const ff_phases *phases = &o->executive.phases;
    for (int i = 0; i < o->plan.bodies; i++) {
        const ff_network_body *b = &o->network.body[i];
        o->address.body[i].robot->count(b->robot, &result->robots[i]);
        o->address.body[i].sensor->count(b->sensor, &result->sensors[i]);
        result->sensors[i].bad = b->bad;
        result->sensors[i].spiked = b->spiked;
        result->robot[i] = b->measured;
        o->done.clock[i] = clock_of(&o->network, i);
    }
    if (o->address.arm)
        o->address.arm->count(o->network.arm.device, &result->arm);
    if (o->mission)
        o->done.obsw = o->mission->computer.info;
    ff_executive_close(&o->executive);
    o->done.status = run->status;
    snprintf(o->done.message, sizeof o->done.message, "%s", run->message);
    o->done.cycles = run->cycles; /* recorded */
    o->done.wall_s = run->wall_s;
    *run = o->done;
    result->state = run->safety.state;
    result->trip = run->safety.cause;
    for (int i = 0; i < o->plan.bodies; i++) {
        result->retreated |= run->safety.retreated[i];
        result->stopped[i] = run->safety.why[i];
    }
    result->strangers = o->network.strangers;
    result->missed = phases->missed;
    result->missed_at_rest = phases->missed_at_rest;
    result->filled = phases->filled;
}

void ff__operator_conclude(ff_operator *o) {
    ff_rt_result *result = o->result;
    ff_run_result *run = &result->run;
    result->check = o->preflight.check;
    result->heard = o->network.heard;
    if (o->opened)
        collect(o);
    result->dropped_rows = ff_ring_dropped(&o->rows);
    result->dropped_telemetry = ff_ring_dropped(&o->telemetry.samples);
    /* oldest first */
    if (o->last_count)
        result->last = calloc(o->last_count, sizeof *result->last);
    for (size_t n = 0; result->last && n < o->last_count; n++)
        result->last[n] = o->last[(o->last_next + o->last_capacity - o->last_count + n) % o->last_capacity];
    result->last_count = result->last ? o->last_count : 0;
    if (run->status != FF_OK)
        return;
    const ff_trip *trip = &result->trip;
    if (trip->code == FF_TRIP_FINISHED) {
        run->status = o->recorder_status;
        return;
    }
    run->status = o->recorder_status != FF_OK ? o->recorder_status : FF_ERR_LIMIT;
    /* a no-go says what was seen, a limit its value */
    const char *satellite = o->scenario->satellite[trip->body].name;
    char sentence[FF_TRIP_SENTENCE];
    ff_trip_sentence(trip, satellite, sentence, sizeof sentence);
    const ff_check *check = &result->check;
    if (check->no_go.code != FF_TRIP_NONE && check->no_go.code == trip->code &&
        strcmp(check->reason, ff_trip_text(trip->code)) != 0)
        snprintf(sentence, sizeof sentence, "%s: %.180s, satellite %.40s: %s", ff_trip_name(trip->code),
                 check->reason, satellite, ff_trip_act(trip->code));
    snprintf(run->message, sizeof run->message, "%s, %s", ff_state_name(result->state), sentence);
}
