/* catalog/calls.h - a library's method as the loop may call it. */
#ifndef FF_CATALOG_CALLS_H
#define FF_CATALOG_CALLS_H

#include "freefloat/method.h"

enum { FF_LIBRARY_BYTES = 64 << 20 /* for model and state of one instance, at most */ };

/* *outer stands for the table of library n, 0 to FF_WATCHED - 1: its functions call the library's, and what
 * is wrong with one ends the process (ff_watch_fault). Model and state must lie in memory of ff_chamber_take,
 * stay where they were created, and belong to each other. */
void ff_calls_wrap(int n, const ff_method *library, ff_method *outer);

#endif
