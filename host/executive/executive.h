/* executive/executive.h - the one cycle of a run: a station's sample in, the robots' commands and a row out.
 *
 * Whatever the station is (virtual facility, recorded log), this is the order of events; ff_executive_cycle
 * reads as its table of contents. Neither threads nor sockets nor the clock are used. */
#ifndef FF_EXECUTIVE_EXECUTIVE_H
#define FF_EXECUTIVE_EXECUTIVE_H

#include "executive/guard.h"
#include "executive/run.h"
#include "facility/station.h"

/* Large: not on the stack. */
typedef struct ff_executive {
    const ff_scenario *scenario;   /* lent by the caller until close, as the next three */
    const ff_run_options *options; /* sinks, reference, orders between cycles */
    ff_run_result *result;         /* status, message and counters are kept here */
    int64_t (*now)(void);          /* clock that times the step; NULL: it is not timed */
    ff_station station;
    ff_guard guard;           /* state of the run, and its limits */
    ff_trip found;            /* by the loop: judged in the next cycle */
    unsigned led;             /* bodies that a stop leads out of a contact */
    uint64_t tick;            /* cycles of the station so far */
    uint64_t k;               /* cycle of the loop: those of a stop are not counted */
    bool final;               /* it is the last: where everything stands at the end */
    bool ended;               /* no more cycles: the end was reached, or result->status says why not */
    double step_ns, total_ns; /* time of this cycle's step, of all */
    ff_loop_config config;    /* as the scenario asks */
    ff_loop_memory loop;      /* model and state in memory of the size that they need */
    ff_joints_memory joints;  /* and what they point to, where a body has joints */
    int servicer;             /* that body; -1: there is none */
    ff_guidance_order order;  /* of the guidance, for it */
    ff_loop_in in;
    ff_loop_out out;
    ff_sample sample;
    ff_row row;
} ff_executive;

/* Prepares the loop and opens the station. FF_OK, or a negative status and a sentence, both in *result: then
 * nothing is left open. */
ff_status ff_executive_open(ff_executive *executive, const ff_scenario *scenario, ff_station station,
                            const ff_run_options *options, int64_t (*now)(void), ff_run_result *result);
/* One cycle; the one after the scenario's last ends the run. Returns result->status: FF_OK, or what ended the
 * run: FF_ERR_LIMIT (stopped between two cycles, or a limit was broken and the robots have come to rest),
 * FF_ERR_DIVERGED, what the station's wait and the sinks say. */
ff_status ff_executive_cycle(ff_executive *executive);
/* Ends a run that has not ended, with FF_ERR_LIMIT; the message says when. */
void ff_executive_stop(ff_executive *executive);
/* Closes the station and completes *result. */
void ff_executive_close(ff_executive *executive);

/* About a hundred calls a run, never more: the callback may draw. False: it wants the run to stop. */
bool ff_run_progress(const ff_run_options *options, uint64_t k, uint64_t cycles);

#endif
