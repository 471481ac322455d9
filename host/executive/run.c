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

/* ------------------------------------------------------------------------------------- cycle by cycle -- */

struct ff_running {
    const ff_scenario *scenario;
    ff_run_options options; /* guidance: the mission's, where there is one */
    ff_run_result *result;
    double begin; /* [s] */
    ff_mission *mission;
    ff_virtual facility;
    union {
        ff_executive executive; /* with a method */
        ff_reference reference; /* ideal */
    };
};

/* The on-board software as guidance. */
static ff_status open_mission(ff_running *r) {
    ff_run_result *result = r->result;
    if (ff_scenario_servicer(r->scenario) < 0 || r->options.guidance.step)
        return FF_OK;
    r->mission = malloc(sizeof *r->mission);
    if (!r->mission) {
        lack_memory(result);
        return result->status;
    }
    result->status = ff_mission_open(r->mission, r->scenario, r->options.opener, r->options.record,
                                     result->message, sizeof result->message);
    if (result->status == FF_OK) {
        r->options.guidance = ff_mission_guidance(r->mission);
        return FF_OK;
    }
    free(r->mission);
    r->mission = NULL;
    return result->status;
}

static void close_mission(ff_running *r) {
    if (!r->mission)
        return;
    r->result->obsw = r->mission->computer.info;
    ff_mission_close(r->mission);
    free(r->mission);
    r->mission = NULL;
}

static ff_status open_ideal(ff_running *r) {
    if (ff_scenario_servicer(r->scenario) < 0)
        return ff_reference_open(&r->reference, r->scenario, &r->options, r->result);
    snprintf(r->result->message, sizeof r->result->message,
             "method ideal of a scenario with an arm cannot be stepped: its orbit is flown in one piece");
    return r->result->status = FF_ERR_UNSUPPORTED;
}

ff_running *ff_running_open(const ff_scenario *scenario, const ff_run_options *options,
                            ff_run_result *result) {
    *result = (ff_run_result){0};
    ff_running *r = malloc(sizeof *r);
    if (!r) {
        lack_memory(result);
        return NULL;
    }
    r->scenario = scenario;
    r->options = *options;
    r->result = result;
    r->mission = NULL;
    ff_status status = scenario->method ? open_mission(r) : open_ideal(r);
    if (status == FF_OK && scenario->method)
        status = open_loop(&r->facility, scenario, &r->options, &r->executive, result);
    if (status == FF_OK) {
        r->begin = ff_clock_seconds();
        return r;
    }
    close_mission(r);
    free(r);
    return NULL;
}

bool ff_running_cycle(ff_running *r) {
    if (!r->scenario->method) {
        if (!ff_reference_cycle(&r->reference))
            return false;
        if (!ff_run_progress(&r->options, r->result->cycles, r->scenario->cycles))
            ff_reference_stop(&r->reference);
        return true;
    }
    ff_executive *e = &r->executive;
    const uint64_t done = e->done;
    while (!e->ended &&
           e->done == done) { /* those in which a stop brakes have no row: they follow the last one */
        const uint64_t tick = e->tick;
        if (ff_executive_cycle(e) == FF_OK &&
            !ff_run_progress(&r->options, r->result->cycles, r->scenario->cycles))
            ff_executive_stop(e);
        if (e->tick == tick)
            return false;
    }
    return e->done > done;
}

void ff_running_stop(ff_running *r) {
    if (r->scenario->method)
        ff_executive_stop(&r->executive);
    else
        ff_reference_stop(&r->reference);
}

void ff_running_close(ff_running *r) {
    if (!r)
        return;
    r->result->wall_s = ff_clock_seconds() - r->begin;
    if (r->scenario->method)
        ff_executive_close(&r->executive);
    close_mission(r);
    free(r);
}

void ff_running_keep(ff_running *r, ff_keeper *keeper) {
    if (!r->scenario->method) {
        ff_reference_keep(&r->reference, keeper);
        return;
    }
    if (r->mission)
        ff_computer_keep(&r->mission->computer, keeper);
    ff_virtual_keep(&r->facility, keeper);
    ff_executive_keep(&r->executive, keeper);
}

ff_status ff_running_load(ff_running *r, int body, ff_rigid_load load) {
    if (!r->scenario->method)
        return FF_ERR_UNSUPPORTED;
    r->executive.meddling.loads = true;
    r->executive.meddling.load[body] = load;
    return FF_OK;
}

ff_status ff_running_push(ff_running *r, int body, ff_wrench push_b) {
    if (!r->scenario->method)
        return FF_ERR_UNSUPPORTED;
    ff_plant_push(r->facility.plant, body, push_b);
    return FF_OK;
}

ff_status ff_running_command(ff_running *r, int body, const ff_setpoint *command) {
    if (!r->scenario->method)
        return FF_ERR_UNSUPPORTED;
    r->executive.meddling.commands[body] = command != NULL;
    if (command)
        r->executive.meddling.command[body] = *command;
    return FF_OK;
}

void ff_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    if (!scenario->method && ff_scenario_servicer(scenario) >= 0) {
        *result = (ff_run_result){0};
        const double begin = ff_clock_seconds();
        ff_reference_orbit(scenario, options, result);
        result->wall_s = ff_clock_seconds() - begin;
        return;
    }
    ff_running *r = ff_running_open(scenario, options, result);
    if (r)
        while (ff_running_cycle(r))
            ;
    ff_running_close(r);
}
