/* catalog/probe.h - a method library tried in a process of its own, where it may crash or hang. */
#ifndef FF_CATALOG_PROBE_H
#define FF_CATALOG_PROBE_H

#include "freefloat/method.h"

/* Loads the library in a child, checks its table and defaults, creates an instance and takes a few steps,
 * with contact and without; `name` is then its method's. False: `why` says what is wrong, in one line. `most`
 * bytes of memory and `patience` seconds are allowed. */
bool ff_probe(const char *path, size_t most, double patience, char name[32], char *why, size_t size);
/* Loads it in this process. NULL: `why`. */
const ff_method *ff_probe_load(const char *path, char *why, size_t size);
/* Nothing that the loop would use is not finite. */
bool ff_probe_finite(int bodies, const ff_method_out *out);
/* A time [s] by which commands may lie ahead. */
bool ff_probe_lead(double lead);

#endif
