/* executive/walk.h - where a run stands: its state, and, kept apart from it, what ends it. Pure functions;
 * the limits are judged by host/safety. */
#ifndef FF_EXECUTIVE_WALK_H
#define FF_EXECUTIVE_WALK_H

#include "executive/states.h"
#include "safety/safety.h"

typedef struct ff_walk {
    ff_state state;
    ff_trip cause; /* why the run ends: latched, but a fault takes the place of an orderly stop */
    ff_safety_memory memory;
    bool moved;      /* the stop began in motion: the robots are watched until they are released */
    bool zeroed;     /* and after the zero: what presses on a robot at rest is known */
    ff_trip further; /* the first other limit that was broken after a fault: shown, not the cause */
} ff_walk;

void ff_walk_reset(ff_walk *walk, ff_state start);
/* True: the state is another one now. */
bool ff_walk_on(ff_walk *walk, ff_state_event event);
/* Something ends the run: OPERATOR and FINISHED in order, any other code as a fault. True: it is the cause.
 */
bool ff_walk_end(ff_walk *walk, ff_trip cause);
/* The robots have come to rest for good: HOLD or FAULT, as the cause says. */
bool ff_walk_rested(ff_walk *walk);
/* Ended by a fault, not in order. */
bool ff_walk_failed(const ff_walk *walk);
/* One sample: every limit while the robots move, those of a robot at rest from then on, whatever the cause of
 * the stop; contact or not. `found` is what the caller knows already (NONE: nothing), `asked` NONE or the
 * reason of an orderly stop. True: the cause is new. */
bool ff_walk_judge(const ff_safety_config *config, ff_walk *walk, const ff_safety_in *sample, ff_trip found,
                   ff_trip_code asked);

#endif
