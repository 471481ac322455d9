/* facility/virtual.h - the virtual facility as a station: a plant in the scenario's virtual time with an
 * output stage before each robot, as on devices. Neither threads nor sockets nor the clock are used. */
#ifndef FF_FACILITY_VIRTUAL_H
#define FF_FACILITY_VIRTUAL_H

#include "facility/outputs.h"
#include "facility/plant.h"
#include "facility/station.h"

typedef struct ff_virtual {
    const ff_scenario *scenario; /* kept, not copied */
    ff_plant *plant;             /* from open to close */
    uint64_t k;                  /* offered last */
    bool unseen;                 /* what is offered is looked at by nobody but in the first and last cycle */
    ff_outputs outputs;          /* between the commands and the robots */
    ff_sent sent[FF_MAX_BODIES]; /* written in the last cycle */
    ff_sent next[FF_MAX_BODIES]; /* offered in this one */
} ff_virtual;

/* A station that is not open yet; `self` must outlive it. */
ff_station ff_virtual_station(ff_virtual *self, const ff_scenario *scenario);
/* State of an open one (text/keep.h). */
void ff_virtual_keep(ff_virtual *self, ff_keeper *keeper);

#endif
