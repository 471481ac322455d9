/* executive/guard.h - limits on a run: what the samples and the loop say is given to host/safety, the states
 * walk on, and after a stop the robots are brought to rest and out of a contact. Pure: no clock, no device.
 */
#ifndef FF_EXECUTIVE_GUARD_H
#define FF_EXECUTIVE_GUARD_H

#include "executive/walk.h"
#include "facility/station.h"
#include "safety/levels.h"

enum { FF_GUARD_TRACK = 512 }; /* what was sent, remembered for the tracking error */

typedef struct ff_guard_body {
    ff_vec3 sent[FF_GUARD_TRACK]; /* [m] */
    uint64_t count;               /* of them, ever */
    unsigned window;              /* so many are looked at: the robot is one delay behind */
    ff_vec3 force;                /* [N] last valid one, axes of the robots' frame */
    double kicks;                 /* [J] what the forces gave beyond their work at the speed before them */
    bool back;                    /* it is led back to where it stands */
    ff_stop_state stop;
    bool retreated; /* in a stop before this one */
    /* devices */
    ff_wrench rest_b; /* contact wrench at standstill, before the zero is taken */
    bool noisy;       /* the sensor was seen to be: its values do not repeat */
    bool stands;      /* against a command that moves, in this stop or as its cause */
    ff_pose stood;    /* where it was then */
} ff_guard_body;

typedef struct ff_guard {
    bool watches; /* limits act */
    bool devices; /* all of them, and the devices' own reports */
    ff_safety_config config;
    ff_walk walk;
    ff_safety_in in; /* the sample that was judged last */
    bool rested;     /* the last cycle of a stop found every robot at rest for good */
    ff_guard_body body[FF_MAX_BODIES];
    bool shows; /* how far it is to each limit is computed */
    double level[FF_MAX_BODIES][FF_LEVEL_COUNT];
} ff_guard;

/* In FLOAT, and watches if the scenario names a limit; on devices in OFF, and all limits act. */
void ff_guard_open(ff_guard *guard, const ff_scenario *scenario, bool devices);
/* The sample, the loop's contact wrench and energies and the last command, against the limits. `found`: what
 * the caller knows already; `asked`: an orderly end, or NONE. True: a new cause ends the run. */
bool ff_guard_judge(ff_guard *guard, const ff_sample *sample, const ff_loop_model *model,
                    const ff_loop_state *state, const ff_loop_out *out, ff_trip found, ff_trip_code asked);
/* Held: each body looks once more whether something pushes, and leaves it. */
void ff_guard_retreat(ff_guard *guard);
/* One cycle of the stop, t [s] of the run. command[i] is where body i is led to, the bits returned say which
 * bodies are; the others are brought to rest. At the end the walk is in HOLD or FAULT. */
unsigned ff_guard_stop(ff_guard *guard, const ff_sample *sample, double t, ff_setpoint *command);

#endif
