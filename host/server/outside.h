/* server/outside.h - what befalls the loop's process on its computer, done to it by another process: signals,
 * a stall, a disk that takes no more. The virtual facility does so where a scenario's faults ask for it, and
 * only to the process that answers its telegrams on this computer. */
#ifndef FF_SERVER_OUTSIDE_H
#define FF_SERVER_OUTSIDE_H

#include "scenario/scenario.h"

#include <netinet/in.h>
#include <sys/types.h>

typedef struct ff_outside {
    pid_t loop;   /* 0: not known, or this process itself */
    bool stalled; /* stopped, until it is let go */
    bool full;    /* its files cannot grow */
    bool done[FF_FAULTS];
} ff_outside;

/* A fault that acts on a process, not on a telegram. */
bool ff_outside_is(ff_fault_kind kind);
/* The process that holds the UDP socket bound there; 0: none can be seen, or it is the caller's. */
pid_t ff_outside_owner(const struct sockaddr_in *at);
/* Does what the fault says, once, or ends it. Returns a line for the user when something was done, else NULL.
 */
const char *ff_outside_strike(ff_outside *outside, ff_fault_kind kind, bool acts);
/* Lets a stalled loop continue. */
void ff_outside_release(ff_outside *outside);

#endif
