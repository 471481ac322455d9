#include "executive/executive.h"

#include "executive/mission.h"
#include "executive/reference.h"
#include "facility/virtual.h"
#include "text/clock.h"

#include <stdio.h>
#include <stdlib.h>

static void lack_memory(ff_run_result *result) {
    result->status = FF_ERR_MEMORY;
    snprintf(result->message, sizeof result->message, "no memory for the run");
}

static ff_status open_loop(ff_virtual *facility, const ff_scenario *scenario, const ff_run_options *options,
                           ff_executive *e, ff_run_result *result) {
    return ff_executive_open(e, scenario, ff_virtual_station(facility, scenario), options,
                             options->timing ? ff_clock_now : NULL, result);
}

static void run_virtual(const ff_scenario *scenario, const ff_run_options *options, ff_executive *e,
                        ff_run_result *result) {
    ff_virtual facility;
    if (open_loop(&facility, scenario, options, e, result) != FF_OK)
        return;
    const double begin = ff_clock_seconds();
    while (!e->ended)
        if (ff_executive_cycle(e) == FF_OK && !ff_run_progress(options, result->cycles, scenario->cycles))
            ff_executive_stop(e);
    result->wall_s = ff_clock_seconds() - begin;
    ff_executive_close(e);
}

/* The same with the on-board software as guidance. */
static void run_mission(const ff_scenario *scenario, const ff_run_options *options, ff_executive *e,
                        ff_run_result *result) {
    ff_run_options guided = *options;
    ff_mission *mission = malloc(sizeof *mission);
    if (!mission) {
        lack_memory(result);
        return;
    }
    result->status = ff_mission_open(mission, scenario, options->opener, options->record, result->message,
                                     sizeof result->message);
    if (result->status == FF_OK) {
        guided.guidance = ff_mission_guidance(mission);
        run_virtual(scenario, &guided, e, result);
        result->obsw = mission->computer.info;
        ff_mission_close(mission);
    }
    free(mission);
}

static bool nothing_recorded(void *self, uint64_t k, ff_obsw_out *out) {
    (void)self;
    (void)k;
    (void)out;
    return false;
}

/* With a record in its place the software itself is not started. */
static void prepare_mission(const ff_scenario *scenario, ff_run_result *result) {
    ff_mission *mission = malloc(sizeof *mission);
    if (!mission) {
        lack_memory(result);
        return;
    }
    result->status = ff_mission_open(mission, scenario, NULL, (ff_obsw_record){NULL, nothing_recorded},
                                     result->message, sizeof result->message);
    if (result->status == FF_OK)
        ff_mission_close(mission);
    free(mission);
}

void ff_run_prepare(const ff_scenario *scenario, ff_run_result *result) {
    static const ff_run_options nothing;
    ff_virtual facility;
    *result = (ff_run_result){0};
    if (ff_scenario_servicer(scenario) >= 0)
        prepare_mission(scenario, result);
    if (!scenario->method || result->status != FF_OK)
        return;
    ff_executive *e = malloc(sizeof *e);
    if (!e)
        lack_memory(result);
    else if (open_loop(&facility, scenario, &nothing, e, result) == FF_OK)
        ff_executive_close(e);
    free(e);
}

void ff_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    *result = (ff_run_result){0};
    if (!scenario->method) {
        const double begin = ff_clock_seconds();
        ff_reference_run(scenario, options, result);
        result->wall_s = ff_clock_seconds() - begin;
        return;
    }
    ff_executive *e = malloc(sizeof *e);
    if (e && ff_scenario_servicer(scenario) >= 0 && !options->guidance.step)
        run_mission(scenario, options, e, result);
    else if (e)
        run_virtual(scenario, options, e, result);
    else
        lack_memory(result);
    free(e);
}
