/* A facility and an executive in one process, over loopback. */
#ifndef FF_TESTS_RT_PAIR_H
#define FF_TESTS_RT_PAIR_H

#include "sides.h"

/* A body that approaches a wall. Without hand pushes: those are tried apart. */
#define PAIR_SCENARIO(name, duration)                                        \
    ONE_BODY(name, duration, "[0.05, 0.01, 0]", "    check: {push: skip}\n") \
    "  - {name: right, kind: wall, at: [0.02, 0, 0], normal: [-1, 0, 0], stiffness: 5000, damping: 5}\n"

typedef struct pair {
    ff_scenario scenario;                 /* what the loop believes */
    ff_scenario truth;                    /* what the facility is */
    const ff_ideal_result *ideal;         /* or NULL */
    ff_facility_options facility_options; /* only who hears and sees what it does */
    ff_facility_result facility;
    ff_rt_options options; /* in: only who views */
    ff_rt_result rt;
    uint64_t rows;
    ff_row last;
} pair;

static ff_status count_row(void *self, const ff_row *row) {
    pair *p = self;
    p->rows++;
    p->last = *row;
    return FF_OK;
}

/* Runs both sides. The caller frees. */
static void run_pair(pair *p) {
    sides both = {.scenario = &p->scenario,
                  .truth = &p->truth,
                  .ideal = p->ideal,
                  .facility_options = {.lockstep = true,
                                       .say = p->facility_options.say,
                                       .watch = p->facility_options.watch,
                                       .user = p->facility_options.user},
                  .options = {.wait = 30.0, .viewer = p->options.viewer},
                  .sink = {.self = p, .row = count_row},
                  .facility = &p->facility,
                  .rt = &p->rt};
    run_sides(&both);
    p->options = both.options;
}

static void drop(pair *p) {
    free(p->rt.last);
    free(p);
}

static void expect(const pair *p, ff_state state, ff_trip_code code) {
    if (p->rt.state != state || p->rt.trip.code != code)
        fail_msg("%s by %s instead of %s by %s: %s | facility: %s", ff_state_name(p->rt.state),
                 ff_trip_name(p->rt.trip.code), ff_state_name(state), ff_trip_name(code), p->rt.run.message,
                 p->facility.message);
    const ff_run_safety *safety = &p->rt.run.safety; /* as in summary.json */
    assert_true(safety->watched && safety->state == state && safety->cause.code == code);
}

#endif
