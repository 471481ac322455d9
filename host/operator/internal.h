/* operator/internal.h - a run on devices from inside. attend.c is the caller's thread, which records and asks
 * the operator; relay.c what leaves the real-time thread and the orders that come back. */
#ifndef FF_OPERATOR_INTERNAL_H
#define FF_OPERATOR_INTERNAL_H

#include "executive/mission.h"
#include "operator/operator.h"
#include "operator/ring.h"
#include "text/clock.h"

enum { FF_NOTES_HELD = 64 };

typedef struct ff_operator {
    const ff_scenario *scenario;
    const ff_run_options *run;
    const ff_rt_options *options;
    ff_rt_result *result;
    int cpu; /* of the real-time thread; -1: not known */

    /* lent to the executive */
    ff_plan plan;
    ff_addresses address;
    ff_network network;
    ff_preflight preflight;
    ff_mission *mission; /* guidance of a servicer with an arm; NULL: none */
    ff_sink sink;        /* into the rings */
    ff_run_options inner;
    ff_run_result done;
    ff_executive executive;
    bool opened;

    /* the real-time thread's */
    ff_faults faults; /* when it began to float */
    int64_t began;    /* [ns] k = 0, or the first cycle of the tests */
    bool stopped;     /* ordered */

    ff_ring rows, notes;
    ff_telemetry telemetry;
    ff_tuning tuning;
    atomic_bool ended, recorder_failed;

    /* the recorder's */
    ff_status recorder_status;
    ff_row row; /* the one that was popped */
    ff_row *last;
    size_t last_capacity, last_next, last_count;
    ff_touch touch;
    ff_rt_note held[FF_NOTES_HELD]; /* from before the run-up: when that was shows when it begins */
    int holds;
} ff_operator;

/* relay.c */
ff_sink ff__operator_sink(ff_operator *o);
/* Once a cycle, whatever the state: the newest row, and how far it is to each limit. */
void ff__operator_show(ff_operator *o);
/* What the owner of commands asks, between two cycles. */
void ff__operator_orders(ff_operator *o);
/* Lock step: waits for the recorder. */
void ff__operator_spare(const ff_operator *o, uint64_t cycles);

/* attend.c */
void ff__operator_attend(ff_operator *o);
/* conclude.c */
void ff__operator_conclude(ff_operator *o);

#endif
