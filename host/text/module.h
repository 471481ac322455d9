/* text/module.h - parts of the program that need a large library of others: loaded when they are first
 * needed, so that nobody else waits for it. A module is a shared object with one symbol, `ff_module_offer`;
 * what it offers is a table of functions that the room which asks for it declares.
 *
 * Modules are looked for in two places and nowhere else: LIBDIR/freefloat beside the folder of the program's
 * own file (an installed copy), and `modules` in that folder (the build tree). The environment and the
 * current folder do not matter. A module stays until the program ends. */
#ifndef FF_TEXT_MODULE_H
#define FF_TEXT_MODULE_H

#include <stddef.h>

#include "freefloat/base.h"

#define FF_MODULE_VERSION FF_VERSION " 2" /* raised with any table */

typedef struct ff_module {
    const char *version; /* FF_MODULE_VERSION */
    const void *table;   /* the room's; constant */
} ff_module;

/* Each module defines it. */
extern const ff_module ff_module_offer;

/* The table of module NAME. NULL with one line: it is missing, cannot be loaded, or is of another version. */
const void *ff_module_table(const char *name, char *message, size_t size);

#endif
