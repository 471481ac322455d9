/* Both sides of a run on devices, over loopback: the facility in a thread of its own, the executive here. */
#ifndef FF_TESTS_RT_SIDES_H
#define FF_TESTS_RT_SIDES_H

#include "support.h"

#include "operator/operator.h"
#include "server/facility.h"

#include "rt/ports.h"

#include <pthread.h>

/* A satellite; more: further lines of it. The contacts follow. */
#define ONE_BODY(name, duration, velocity, more)     \
    "name: " name "\n"                               \
    "time: {cycle: 0.004, duration: " duration "}\n" \
    "method: tdpa\n"                                 \
    "satellites:\n"                                  \
    "  body:\n"                                      \
    "    mass: 100\n"                                \
    "    inertia: [10, 10, 10]\n"                    \
    "    velocity: " velocity "\n"                   \
    "    robot: {kind: delay, delay: 0.016}\n" more "contacts:\n"

/* It goes to and fro between two walls. */
#define BETWEEN_WALLS(name, duration, more)                                                              \
    ONE_BODY(name, duration, "[0.05, 0, 0]", more)                                                       \
    "  - {name: right, kind: wall, at: [0.05, 0, 0], normal: [-1, 0, 0], stiffness: 3000, damping: 0}\n" \
    "  - {name: left, kind: wall, at: [-0.05, 0, 0], normal: [1, 0, 0], stiffness: 3000, damping: 0}\n"

static inline void load(ff_scenario *scenario, const char *text, const char *const *set, int sets) {
    char message[512] = "", warnings[256];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_parse("sides", text, strlen(text), &options, scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

/* Overrides of both sides, ended by NULL; those after "truth:" hold only for the facility. */
static inline void load_both(ff_scenario *scenario, ff_scenario *truth, const char *text,
                             const char *const *set) {
    const char *all[24];
    int n = 0;
    for (; set[n] && strcmp(set[n], "truth:") != 0; n++)
        all[n] = set[n];
    load(scenario, text, all, n);
    for (int m = n + (set[n] != NULL); set[m]; m++)
        all[n++] = set[m];
    load(truth, text, all, n);
}

typedef struct sides {
    const ff_scenario *scenario;  /* what the loop believes */
    const ff_scenario *truth;     /* what the facility is */
    const ff_ideal_result *ideal; /* or NULL */
    ff_facility_options facility_options;
    ff_rt_options options;
    ff_sink sink;
    ff_facility_result *facility;
    ff_rt_result *rt;
    atomic_bool halt; /* the operator's stop; may be set at any time */
    unsigned apart;   /* the loop's ports are so many further than the facility's: somebody is between */
    void (*begin)(struct sides *); /* who begins when they are known; or NULL */
} sides;

static inline void *serve(void *self) {
    const sides *s = self;
    ff_facility_run(s->truth, &s->facility_options, s->facility);
    return NULL;
}

/* In lock step a busy machine cannot make a cycle late: all limits are the product's own. Only silence is of
 * the wall clock, and a machine may pause both sides for seconds: long where no robot falls silent, short
 * where it is waited for. [s] */
static inline double patience(const ff_scenario *truth) {
    bool silent = false;
    for (int n = 0; n < truth->faults; n++)
        silent |= truth->fault[n].kind == FF_FAULT_ROBOT_SILENT ||
                  truth->fault[n].kind == FF_FAULT_ROBOT_ABORTS ||
                  (truth->fault[n].kind == FF_FAULT_ANSWER_LOST && isinf(truth->fault[n].to));
    return silent ? 2.5 : 20.0;
}

/* Until the executive ends. Ports, stops and the time until a robot counts as silent are set here. */
static inline void run_sides(sides *s) {
    atomic_bool stop_facility = false;
    s->options.silence = patience(s->truth);
    s->facility_options.ports = s->options.ports = free_ports();
    s->options.ports.rsi_port += s->apart;
    s->options.ports.ati_port += s->apart;
    if (s->begin)
        s->begin(s);
    s->facility_options.once = true;
    s->facility_options.stop = &stop_facility;
    s->options.stop = &s->halt;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve, s), 0);
    const ff_run_options run = {.ideal = s->ideal, .sinks = &s->sink, .count = 1};
    ff_rt_run(s->scenario, &run, &s->options, s->rt);
    atomic_store(&stop_facility, true);
    pthread_join(thread, NULL);
    s->facility_options.stop = s->options.stop = NULL;
}

#endif
