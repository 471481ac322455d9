/* executive/internal.h - what the cycle and its phases share. */
#ifndef FF_EXECUTIVE_INTERNAL_H
#define FF_EXECUTIVE_INTERNAL_H

#include "executive/executive.h"

/* An event, reported if it leads to another state. */
void ff__executive_go(ff_executive *e, ff_state_event event);
/* To the operator. */
void ff__executive_say(ff_executive *e, ff_event_level level, const char *text);

/* phases.c: what leads the robots before t = 0. */
/* A step towards motion, if one is due: each of them is seen in a state of its own. */
void ff__phases_walk(ff_executive *e);
/* CHECK and TEST in a cycle that began in `before`. */
void ff__phases_check(ff_executive *e, ff_state before);
/* APPROACH and RUNUP: sets the commands of this cycle. True: it is the loop's turn. */
bool ff__phases_lead(ff_executive *e);
/* A cycle whose telegram was lost. True: it is the loop's turn. */
bool ff__phases_fill(ff_executive *e);

/* preflight.c: one cycle at standstill, one of the tests. */
void ff__preflight_stand(ff_executive *e, int i);
void ff__preflight_test(ff_executive *e);

#endif
