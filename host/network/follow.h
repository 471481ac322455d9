/* network/follow.h - a second robot's motion at the pacing robot's time: its poses come by its own clock. */
#ifndef FF_NETWORK_FOLLOW_H
#define FF_NETWORK_FOLLOW_H

#include "freefloat/command.h"
#include "fit/clockfit.h"

/* The newest three poses, stamped by the controller's clock, and that clock's fit. Zero at first. */
typedef struct ff_follow {
    ff_clockfit_state fit;
    int count;
    double stamp[3]; /* [s] controller's clock, newest first */
    ff_pose T[3];
} ff_follow;

/* A telegram: stamp by its IPOC, arrival on our clock. */
void ff_follow_add(const ff_clockfit_config *config, ff_follow *follow, double stamp, double local,
                   ff_pose T);
/* [s] on our clock: when the newest pose was taken, without the jitter of its arrival. */
double ff_follow_time(const ff_follow *follow);
/* The pose at `local` on our clock: a parabola through the last three, on the newest telegram exactly its
 * pose. Error at most |p'''| h (h + T) (h + 2 T) / 6 for h after the newest telegram, so T^3 |p'''| one cycle
 * after it; beyond 1.5 cycles it continues straight. */
ff_pose ff_follow_at(const ff_follow *follow, double cycle, double local);
/* A command dt [s] later, along its velocity. */
ff_setpoint ff_follow_along(const ff_setpoint *command, double dt);

#endif
