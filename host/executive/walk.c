#include "executive/walk.h"

void ff_walk_reset(ff_walk *walk, ff_state start) {
    *walk = (ff_walk){.state = start};
}

bool ff_walk_on(ff_walk *walk, ff_state_event event) {
    const ff_state before = walk->state;
    walk->state = ff_state_next(before, event);
    const bool begins = !ff_state_moves(before) && ff_state_moves(walk->state);
    if (begins || walk->state == FF_STATE_BRAKE || walk->state == FF_STATE_RETREAT)
        walk->memory.seen = 0; /* differences begin anew */
    return walk->state != before;
}

static bool is_fault(ff_trip_code code) {
    return code > FF_TRIP_FINISHED;
}

bool ff_walk_failed(const ff_walk *walk) {
    return is_fault(walk->cause.code);
}

bool ff_walk_end(ff_walk *walk, ff_trip cause) {
    const bool faulty = is_fault(cause.code), first = walk->cause.code == FF_TRIP_NONE;
    if (cause.code == FF_TRIP_NONE || ff_walk_failed(walk) || (!faulty && !first))
        return false;
    if (first) {
        walk->moved = ff_state_moves(walk->state);
        walk->zeroed = ff_state_leads(walk->state);
    }
    walk->cause = cause;
    ff_walk_on(walk, faulty ? FF_ON_TRIP : FF_ON_STOP);
    return true;
}

bool ff_walk_rested(ff_walk *walk) {
    return ff_walk_on(walk, ff_walk_failed(walk) ? FF_ON_FAILED : FF_ON_RESTED);
}

bool ff_walk_judge(const ff_safety_config *config, ff_walk *walk, const ff_safety_in *sample, ff_trip found,
                   ff_trip_code asked) {
    const bool rests = walk->state == FF_STATE_HOLD || walk->state == FF_STATE_FAULT;
    if (found.code == FF_TRIP_NONE && ff_state_moves(walk->state))
        found = ff_safety_examine(config, &walk->memory, sample);
    else if (found.code == FF_TRIP_NONE && walk->moved)
        found = ff_safety_examine_at_rest(config, &walk->memory, sample, walk->zeroed);
    if (ff_walk_failed(walk) && is_fault(found.code) && found.code != walk->cause.code &&
        walk->further.code == FF_TRIP_NONE)
        walk->further = found;
    if (found.code == FF_TRIP_NONE)
        found.code = asked;
    const bool ends = ff_walk_end(walk, found);
    const bool moves = ff_state_moves(walk->state);
    if (moves || (rests && walk->moved))
        ff_safety_remember(config, &walk->memory, sample);
    if (moves) {
        const bool touching = ff_safety_touching(config, &walk->memory, sample);
        ff_walk_on(walk, touching ? FF_ON_TOUCH : FF_ON_FREE);
    }
    return ends;
}
