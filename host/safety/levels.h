/* safety/levels.h - what each safety limit watches, as a number beside its limit: how far it is to a trip.
 * For the live page's bars; the limits themselves are judged by ff_safety_examine, from the same numbers. */
#ifndef FF_SAFETY_LEVELS_H
#define FF_SAFETY_LEVELS_H

#include "safety/safety.h"

/* X(code, name, field): one list feeds the enum, the names and the limits. `field` is of ff_safety_limits. */
#define FF_LEVELS(X)                                                                                      \
    X(BOX_X, BOX, "resting place x", box.a[0])                                                            \
    X(BOX_Y, BOX, "resting place y", box.a[1])                                                            \
    X(BOX_Z, BOX, "resting place z", box.a[2])                                                            \
    X(VELOCITY, VELOCITY, "robot's velocity", velocity)                                                   \
    X(ANGULAR_VELOCITY, ANGULAR_VELOCITY, "robot's angular velocity", angular_velocity)                   \
    X(ACCELERATION, ACCELERATION, "commanded acceleration", acceleration)                                 \
    X(ANGULAR_ACCELERATION, ANGULAR_ACCELERATION, "commanded angular acceleration", angular_acceleration) \
    X(JERK, JERK, "commanded jerk", jerk)                                                                 \
    X(FORCE, FORCE, "contact force", force)                                                               \
    X(TORQUE, TORQUE, "contact torque", torque)                                                           \
    X(SPIKE, SPIKE, "change of force in a cycle", spike)                                                  \
    X(ENERGY, ENERGY, "energy given by the contact", energy)                                              \
    X(TRACKING, TRACKING, "tracking error", tracking)                                                     \
    X(AGE, AGE, "age of the sensor's sample", age)                                                        \
    X(MISSED, MISSED, "telegrams missed in a row", missed)

/* X(code, name, text, unit, field, limit): with limits that no scenario gives; `field` is of
 * ff_safety_body_in. A joint trips by JOINT when the arm has no solution inside its ranges; how long a robot
 * may be silent is an option of the run, whose default stands here. */
#define FF_LEVELS_FIXED(X)                                                          \
    X(FROZEN, FROZEN, "same readings in a row", "records", same, FF_SAFETY_SAME)    \
    X(CLIPPED, CLIPPED, "cycles off the command", "cycles", apart, FF_SAFETY_APART) \
    X(JOINT, JOINT, "joint nearest its end, share of its range", "", joint, 1.0)    \
    X(SILENT, SILENT, "robot's silence", "s", silence, FF_SAFETY_SILENCE)

typedef enum ff_level_name {
#define FF_LEVEL_ENUM(name, trip, text, field) FF_LEVEL_##name,
    FF_LEVELS(FF_LEVEL_ENUM)
#undef FF_LEVEL_ENUM
#define FF_LEVEL_ENUM(name, trip, text, unit, field, limit) FF_LEVEL_##name,
        FF_LEVELS_FIXED(FF_LEVEL_ENUM)
#undef FF_LEVEL_ENUM
            FF_LEVEL_COUNT
} ff_level_name;

const char *ff_level_text(ff_level_name level);
const char *ff_level_unit(ff_level_name level);
ff_trip_code ff_level_trip(ff_level_name level); /* what it ends in */
double ff_level_limit(const ff_safety_limits *limits, ff_level_name level);
/* As ff_safety_examine sees them. Bounded, no call into the system. */
void ff_levels(const ff_safety_config *config, const ff_safety_memory *state, const ff_safety_in *in,
               int body, double level[FF_LEVEL_COUNT]);

#endif
