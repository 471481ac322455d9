/* executive/servicer.h - what a cycle does for a body with an arm: joints into the loop, orders of the
 * guidance, the arm's columns. Nothing without one. */
#ifndef FF_EXECUTIVE_SERVICER_H
#define FF_EXECUTIVE_SERVICER_H

#include "executive/executive.h"

/* The sample's joints as the loop's input. */
void ff__servicer_fill(ff_executive *executive);
/* What the guidance orders on them, as the loop's input too. FF_OK, or what the guidance says, with its
 * sentence in message. */
ff_status ff__servicer_guide(ff_executive *executive, char *message, size_t size);
/* The arm's order of this cycle; `floats`: the loop runs, else the arm holds its joints. */
void ff__servicer_order(ff_executive *executive, bool floats);
/* The row of the servicer, and the monitors of destefano2021, IV. truth may be NULL. */
void ff__servicer_row(ff_executive *executive, const ff_truth *truth);

#endif
