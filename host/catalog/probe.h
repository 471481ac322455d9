/* catalog/probe.h - a method library loaded, and tried in a small world. */
#ifndef FF_CATALOG_PROBE_H
#define FF_CATALOG_PROBE_H

#include "freefloat/method.h"
#include "text/held.h"

/* Loads the library, from these bytes, in this process. NULL: `why`, in one line. */
const ff_method *ff_probe_table(const ff_held_file *file, char *why, size_t size);
/* Loads the library as number n of ff_watch_enter. NULL: `why`. */
const ff_method *ff_probe_load(int n, const ff_held_file *file, char *why, size_t size);
/* Checks the defaults of a wrapped table (catalog/calls.h), creates an instance and takes a few steps, with
 * contact and without. False: `why`. */
bool ff_probe_method(const ff_method *method, char *why, size_t size);

#endif
