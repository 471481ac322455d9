/* A facility and an executive in one process, over loopback. */
#ifndef FF_TESTS_RT_PAIR_H
#define FF_TESTS_RT_PAIR_H

#include "support.h"

#include "rt/executive.h"
#include "rt/facility.h"

#include "rt/ports.h"

#include <pthread.h>
#include <unistd.h>

/* A body on its way to a wall. */
#define PAIR_SCENARIO(name, duration)                \
    "name: " name "\n"                               \
    "time: {cycle: 0.004, duration: " duration "}\n" \
    "method: tdpa\n"                                 \
    "satellites:\n"                                  \
    "  body:\n"                                      \
    "    mass: 100\n"                                \
    "    inertia: [10, 10, 10]\n"                    \
    "    velocity: [0.05, 0.01, 0]\n"                \
    "    robot: {kind: delay, delay: 0.016}\n"       \
    "contacts:\n"                                    \
    "  - {name: right, kind: wall, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 5000, damping: 5}\n"

typedef struct pair {
    ff_scenario scenario;         /* what the loop believes */
    ff_scenario truth;            /* what the facility is */
    const ff_ideal_result *ideal; /* or NULL */
    ff_facility_options facility_options;
    ff_facility_result facility;
    ff_rt_options options;
    ff_rt_result rt;
    atomic_bool stop_facility, stop_rt, ready;
    uint64_t rows;
    ff_row last;
} pair;

static void *serve(void *self) {
    pair *p = self;
    ff_facility_run(&p->truth, &p->facility_options, &p->facility);
    return NULL;
}

static ff_status count_row(void *self, const ff_row *row) {
    pair *p = self;
    p->rows++;
    p->last = *row;
    return FF_OK;
}

static void load(ff_scenario *scenario, const char *text, const char *const *set, int sets) {
    char message[512] = "", warnings[256];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_parse("pair", text, strlen(text), &options, scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

/* Runs both sides. The caller frees. */
static void run_pair(pair *p) {
    const ff_plan_options ports = free_ports();
    /* in lock step a busy machine cannot make a cycle late: all limits are the product's own. Only silence is
     * of the wall clock */
    p->facility_options = (ff_facility_options){.ports = ports,
                                                .lockstep = true,
                                                .once = true,
                                                .patience = 20.0,
                                                .stop = &p->stop_facility,
                                                .say = p->facility_options.say,
                                                .user = p->facility_options.user,
                                                .ready = &p->ready};
    p->options = (ff_rt_options){.ports = ports, .wait = 30.0, .silence = 3.0, .stop = &p->stop_rt};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve, p), 0);
    const ff_sink sink = {p, count_row};
    const ff_run_options run = {.ideal = p->ideal, .sinks = &sink, .count = 1};
    ff_rt_run(&p->scenario, &run, &p->options, &p->rt);
    atomic_store(&p->stop_facility, true);
    pthread_join(thread, NULL);
}

static void drop(pair *p) {
    free(p->rt.last);
    free(p);
}

static void expect(const pair *p, ff_safety_name state, ff_trip_code code) {
    if (p->rt.state != state || p->rt.trip.code != code)
        fail_msg("%s by %s instead of %s by %s: %s | facility: %s", ff_safety_state_name(p->rt.state),
                 ff_trip_name(p->rt.trip.code), ff_safety_state_name(state), ff_trip_name(code),
                 p->rt.run.message, p->facility.message);
}

#endif
