/* operator/operator.h - a run on devices in wall-clock time, for the operator: the executive on the network
 * station in one real-time thread, paced by the robot's telegram; a recorder behind a ring; the operator's
 * decisions as flags. */
#ifndef FF_OPERATOR_OPERATOR_H
#define FF_OPERATOR_OPERATOR_H

#include "network/network.h"
#include "executive/executive.h"
#include "operator/histogram.h"
#include "operator/rights.h"
#include "operator/telemetry.h"

typedef enum ff_rt_note_kind { FF_NOTE_STATE, FF_NOTE_TRIP, FF_NOTE_TEXT, FF_NOTE_SAY } ff_rt_note_kind;

typedef struct ff_rt_note {
    ff_rt_note_kind kind;
    double t;       /* [s] run time; before the run-up that of its beginning, which is not known yet */
    bool timed;     /* it is known */
    bool before;    /* the run-up has not begun, and may never, as after a fault */
    uint64_t cycle; /* since the devices spoke */
    ff_state state;
    ff_event_level level; /* SAY */
    ff_trip trip;
    char text[340]; /* TEXT: a parameter that was set; trip.value is its value, trip.limit the old one.
                       "zeroed": trip.value is the largest force [N] that was taken away */
} ff_rt_note;

typedef struct ff_rt_options {
    ff_ports ports;
    double wait;       /* [s] for the devices to speak; 0: 10 */
    double silence;    /* [s] without a telegram; 0: FF_SAFETY_SILENCE */
    int priority, cpu; /* 0: 80; < 0: the last */
    bool deep_idle;    /* lets the processor sleep deeply between cycles: wakes later, saves power */
    const atomic_bool *stop;
    /* In the caller's thread: after the standstill, before the robot moves for a test of CHECK; false ends.
     * NULL: it may, if every device is virtual. */
    bool (*permit)(void *user, const ff_check *check);
    /* In the caller's thread: after the checks; true arms. NULL: arms at once, if every device is virtual. */
    bool (*confirm)(void *user, const ff_check *check);
    /* In the caller's thread: what happened. May be NULL. */
    void (*note)(void *user, const ff_rt_note *note);
    void *user;
    ff_viewer viewer;          /* who watches and commands, in the telemetry thread; sample NULL: nobody */
    void (*enter)(void *user); /* in the real-time thread before its first cycle; for tests */
    void (*leave)(void *user); /* and after its last */
} ff_rt_options;

typedef struct ff_rt_result {
    atomic_bool ended; /* the real-time thread has: set while permit and confirm may still wait */
    ff_run_result run;
    ff_state state; /* at the end */
    ff_trip trip;   /* why it ended */
    bool retreated;
    bool heard;                         /* a device, when it was met, also one that was refused */
    ff_stop_why stopped[FF_MAX_BODIES]; /* what the stop came to, of those that moved */
    ff_check check;
    ff_rights rights;
    ff_faults faults; /* page faults and preemptions of the real-time thread while it floated */
    ff_histogram lateness, compute, io;
    ff_device_counters robots[FF_MAX_BODIES], sensors[FF_MAX_BODIES], arm;
    uint64_t missed_at_rest; /* of the missed ones: before the motion, where no row stands for them */
    uint64_t missed, filled, strangers, dropped_rows, dropped_telemetry;
    ff_setpoint robot[FF_MAX_BODIES]; /* measured at the end */
    ff_row *last;                     /* the last 2 s before the end, oldest first; the caller frees it */
    size_t last_count;
} ff_rt_result;

/* Runs the scenario on its devices to its end, or to the first fault. */
void ff_rt_run(const ff_scenario *scenario, const ff_run_options *run, const ff_rt_options *options,
               ff_rt_result *result);

/* What a real robot needs before anything is opened: limits that end a run, the rights to be in time, and a
 * self-test of this computer that says so. False, with a sentence: they are not there. */
bool ff_rt_may_move(const ff_scenario *scenario, char *message, size_t size);

#endif
