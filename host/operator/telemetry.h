/* operator/telemetry.h - what leaves the real-time thread for whoever watches, and what the one owner of
 * commands asks.
 *
 * A thread of its own takes the samples from a ring, adds what only the recorder's side knows (the reference,
 * which contact it is), hands them to the viewer, takes the viewer's orders into the tuning queue and brings
 * back the loop's answers. A full ring drops samples, counted; the loop never waits. Without anybody who
 * watches or commands there is none of it. */
#ifndef FF_OPERATOR_TELEMETRY_H
#define FF_OPERATOR_TELEMETRY_H

#include <pthread.h>

#include "ideal/ideal.h"
#include "executive/states.h"
#include "safety/levels.h"
#include "operator/touch.h"
#include "operator/tuning.h"

typedef struct ff_telemetry_sample {
    ff_row row; /* t continues while the robot brakes and holds; the log has the loop's cycles only */
    ff_state state;
    double level[FF_MAX_BODIES][FF_LEVEL_COUNT];
} ff_telemetry_sample;

/* All of it is called in the telemetry thread. */
typedef struct ff_viewer {
    void *self;
    void (*sample)(void *self, const ff_telemetry_sample *sample); /* may be NULL: nobody watches */
    bool (*next)(void *self, ff_order *order);                     /* may be NULL: nobody commands */
    void (*answer)(void *self, const ff_order_answer *answer, const char *text);
} ff_viewer;

typedef struct ff_telemetry {
    ff_viewer viewer;
    int loop_cpu; /* its thread keeps off it; below 0: not known */
    ff_ring samples;
    ff_tuning *tuning;
    const ff_ideal_result *ideal;
    ff_touch touch;
    _Atomic(double) threshold[FF_MAX_BODIES]; /* [N] from the check */
    pthread_t thread;
    bool running;
    atomic_bool stop;
    ff_telemetry_sample *out;   /* one, the real-time thread's */
    ff_telemetry_sample *shown; /* one, the telemetry thread's */
} ff_telemetry;

/* FF_OK and not running without a viewer. */
ff_status ff_telemetry_start(ff_telemetry *telemetry, const ff_viewer *viewer, int loop_cpu,
                             ff_tuning *tuning, const ff_touch *touch, const ff_ideal_result *ideal);
/* The real-time thread: wait-free. */
void ff_telemetry_push(ff_telemetry *telemetry, const ff_telemetry_sample *sample);
/* Lets the last samples and answers go out. Every order is answered. */
void ff_telemetry_stop(ff_telemetry *telemetry);

#endif
