#include "rt/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ff_run_clock clock_of(const ff_executive *e, int i) {
    const ff_rt_body *b = &e->body[i];
    ff_run_clock clock = {.known = ff__rt_clock_known(e, b)};
    if (!clock.known)
        return clock;
    clock.drift_ppm = ff_clockfit_ppm(&b->follow.fit);
    clock.residual_s = ff_clockfit_rms(&b->follow.fit);
    clock.largest_s = b->follow.fit.largest;
    clock.restarts = b->follow.fit.restarts;
    if (ff_clockfit_ready(&e->fitting_sensor, &b->ft.fit)) {
        clock.sensor_hz = 1.0 / (b->ft.tick * (1.0 + b->ft.fit.rate));
        clock.sensor_s = ff_clockfit_rms(&b->ft.fit);
    }
    return clock;
}

void ff__rt_conclude(ff_executive *e) {
    ff_rt_result *result = e->result;
    ff_run_result *run = &result->run;
    result->trip = e->walk.cause;
    for (int i = 0; i < e->plan.bodies; i++) {
        const ff_rt_body *b = &e->body[i];
        if (b->robot && b->sensor) {
            b->robot_device->count(b->robot, &result->robots[i]);
            b->sensor_device->count(b->sensor, &result->sensors[i]);
        }
        run->clock[i] = clock_of(e, i);
        result->robot[i] = e->body[i].measured;
    }
    result->dropped_rows = ff_ring_dropped(&e->rows);
    result->dropped_telemetry = ff_ring_dropped(&e->telemetry.samples);
    if (e->state)
        run->reports = ff_loop_report(e->model, e->state, -1, run->report);
    run->cycle_mean_ns = 0.0;
    for (int n = 0; n < FF_HISTOGRAM_BINS && result->compute.count; n++)
        run->cycle_mean_ns +=
            ((double)n + 0.5) * 1e3 * (double)result->compute.bin[n] / (double)result->compute.count;
    run->cycle_max_ns = (double)result->compute.largest_ns;
    /* oldest first */
    result->last = calloc(e->last_count + 1, sizeof *result->last);
    for (size_t n = 0; result->last && n < e->last_count; n++)
        result->last[n] = e->last[(e->last_next + e->last_capacity - e->last_count + n) % e->last_capacity];
    result->last_count = result->last ? e->last_count : 0;
    if (run->status != FF_OK)
        return;
    const ff_trip *trip = &result->trip;
    if (trip->code == FF_TRIP_FINISHED) {
        run->status = e->recorder_status;
        return;
    }
    run->status = e->recorder_status != FF_OK ? e->recorder_status : FF_ERR_LIMIT;
    /* a no-go says what was seen, a limit its value */
    char sentence[200];
    ff_trip_sentence(trip, sentence, sizeof sentence);
    const ff_rt_check *check = &result->check;
    if (check->no_go.code != FF_TRIP_NONE && check->no_go.code == trip->code &&
        strcmp(check->reason, ff_trip_text(trip->code)) != 0)
        snprintf(sentence, sizeof sentence, "%s: %.180s", ff_trip_name(trip->code), check->reason);
    snprintf(run->message, sizeof run->message, "%s, %s", ff_state_name(result->state), sentence);
}
