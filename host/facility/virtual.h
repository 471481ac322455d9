/* facility/virtual.h - the virtual facility as a station: a plant in the scenario's virtual time, and, where
 * the scenario names limits, an output stage before each robot as on devices. Neither threads nor sockets nor
 * the clock are used. */
#ifndef FF_FACILITY_VIRTUAL_H
#define FF_FACILITY_VIRTUAL_H

#include "facility/plant.h"

typedef struct ff_virtual {
    const ff_scenario *scenario; /* kept, not copied */
    ff_plant *plant;             /* from open to close */
    uint64_t k;                  /* offered last */
    bool watched;                /* limits act: the output stages stand between */
    struct {
        ff_output_config config;
        ff_output_state state, before; /* after this cycle's answer, and before it: it may be made again */
        ff_output_out out;
    } output[FF_MAX_BODIES];
} ff_virtual;

/* A station that is not open yet; `self` must outlive it. */
ff_station ff_virtual_station(ff_virtual *self, const ff_scenario *scenario);

#endif
