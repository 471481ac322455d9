/* text/module.h - parts of the program that need a large library of others: loaded when they are first
 * needed, so that nobody else waits for it. A module is a shared object with one symbol, `ff_module_offer`;
 * what it offers is a table of functions that the room which asks for it declares.
 *
 * Modules are looked for in two places and nowhere else: LIBDIR/freefloat beside the folder of the program's
 * own file (an installed copy), and `modules` in that folder (the build tree); where this is part of
 * libfreefloat-host, `freefloat` and `modules` in the folder of the library. The environment and the
 * current folder do not matter. A module stays until the program ends. */
#ifndef FF_TEXT_MODULE_H
#define FF_TEXT_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "freefloat/base.h"

#define FF_MODULE_VERSION FF_VERSION " 2" /* raised with any table */

typedef struct ff_module {
    const char *version; /* FF_MODULE_VERSION */
    const void *table;   /* the room's; constant */
} ff_module;

/* Each module defines it, and exports nothing else. */
extern __attribute__((visibility("default"))) const ff_module ff_module_offer;

/* The program's own file, without links; also where /proc is not mounted. False with "": it cannot be found.
 */
bool ff_module_program(char *path, size_t size);
/* The folder of the file that this code is in: the program, or libfreefloat-host (`library`). False: it
 * cannot be found. */
bool ff_module_own_folder(char *path, size_t size, bool *library);
/* The absolute path of a file that stands beside the modules. False: it is in neither place; *path is the
 * first, "" where not even the program's own file is known. */
bool ff_module_path(const char *file, char *path, size_t size);
/* The table of module NAME. NULL with one line: it is missing, cannot be loaded, or is of another version. */
const void *ff_module_table(const char *name, char *message, size_t size);

#endif
