/* executive/states.h - the states of a run and what moves it from one to another: one table, every cell
 * written out. What caused the end of a run is kept apart (executive/walk.h): a state says what is done, not
 * why. */
#ifndef FF_EXECUTIVE_STATES_H
#define FF_EXECUTIVE_STATES_H

#include <stdbool.h>

/* What the robots are sent in a state. */
typedef enum ff_commands {
    FF_COMMANDS_REST, /* hold where they stand; nothing has moved yet */
    FF_COMMANDS_TEST, /* the small motions of the check */
    FF_COMMANDS_PATH, /* to where the motion begins, and up to its speed */
    FF_COMMANDS_LOOP, /* the satellites' motion */
    FF_COMMANDS_STOP, /* to rest, out of a contact, and hold */
    FF_COMMANDS_NONE  /* nothing: the devices are released */
} ff_commands;

/* X(name, what the robots are sent, what it means) */
#define FF_STATES(X)                                                              \
    X(OFF, REST, "no device speaks yet")                                          \
    X(CHECK, REST, "the robots are held, the sensors are measured")               \
    X(TEST, TEST, "the robots make the small motions of the check")               \
    X(ZEROED, REST, "waits for the operator to arm, at the console")              \
    X(ARMED, REST, "the robots will move")                                        \
    X(APPROACH, PATH, "to where the motion begins")                               \
    X(RUNUP, PATH, "along the initial twist, up to its speed")                    \
    X(FLOAT, LOOP, "the robots follow the satellites")                            \
    X(CONTACT, LOOP, "the same, and something is touched")                        \
    X(BRAKE, STOP, "the robots come to rest as far as the devices allow")         \
    X(RETREAT, STOP, "out of a contact, slowly")                                  \
    X(HOLD, STOP, "at rest after an orderly stop")                                \
    X(FAULT, STOP, "at rest after a fault, or out of reach; left only by an end") \
    X(END, NONE, "the devices are released")

typedef enum ff_state {
#define FF_STATE_ENUM(name, sent, text) FF_STATE_##name,
    FF_STATES(FF_STATE_ENUM)
#undef FF_STATE_ENUM
        FF_STATE_COUNT
} ff_state;

#define FF_STATE_EVENTS(X)                                      \
    X(READY, "every device speaks")                             \
    X(TEST, "the robots may move for the tests of the check")   \
    X(TESTED, "the tests are over")                             \
    X(PASSED, "every check says go, and the zero is taken")     \
    X(ARM, "the operator arms")                                 \
    X(START, "the approach to the start begins")                \
    X(ARRIVED, "the robots stand where the motion begins")      \
    X(BEGIN, "t = 0")                                           \
    X(TOUCH, "a force is above its noise")                      \
    X(FREE, "no force is")                                      \
    X(STOP, "an orderly end: the operator's, or the run's")     \
    X(TRIP, "a limit is broken, or a device has failed")        \
    X(PUSHED, "at rest, but pushed, and a retreat is possible") \
    X(RESTED, "at rest for good, after an orderly stop")        \
    X(FAILED, "at rest for good, after a trip")                 \
    X(GONE, "the robots cannot be reached any more")            \
    X(CLOSE, "the devices are released")

typedef enum ff_state_event {
#define FF_STATE_EVENT_ENUM(name, text) FF_ON_##name,
    FF_STATE_EVENTS(FF_STATE_EVENT_ENUM)
#undef FF_STATE_EVENT_ENUM
        FF_ON_COUNT
} ff_state_event;

/* Where an event leads; the state itself where it means nothing. */
ff_state ff_state_next(ff_state state, ff_state_event event);
ff_commands ff_state_commands(ff_state state);
/* The robots are commanded to move by something other than a stop: all limits are watched. */
bool ff_state_moves(ff_state state);
/* The same, and not for a test only: the loop commands them, or they are led to where it begins. */
bool ff_state_leads(ff_state state);
const char *ff_state_name(ff_state state);             /* "FLOAT" */
const char *ff_state_text(ff_state state);             /* what it means */
const char *ff_state_event_name(ff_state_event event); /* "TRIP" */

#endif
