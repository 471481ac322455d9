/* catalog/library.h - methods in shared objects: probed in a process of their own, then loaded once and kept
 * until the program ends. With the first one the program itself is watched (catalog/watch.h): it must end
 * with ff_watch_end. */
#ifndef FF_CATALOG_LIBRARY_H
#define FF_CATALOG_LIBRARY_H

#include "catalog/watch.h"
#include "scenario/scenario.h"

enum { FF_LIBRARIES = FF_WATCHED /* at once */ };

/* The library at `path`, from the working folder. NULL, and one line without the path in `message`: the file
 * is not a shared library, does not export ff_method_entry, was built for another abi, has a table that is
 * not whole, asks for more than FF_LIBRARY_BYTES, returns values that are not finite, crashes or does not
 * return when it is tried, leaves its memory, starts a process, changes what the process shares
 * (catalog/process.h), has defaults outside their ranges, or a name that is taken. Call it from one thread
 * before others start. */
const ff_method_library *ff_library_open(const char *path, char *message, size_t size);

/* Runs work(self), with libraries that are open, in a process of its own that holds nothing of this one: a
 * trial. True: it came to its end. False: `why` is one line without a name. Call it while there is one
 * thread. */
bool ff_catalog_try(void (*work)(void *self), void *self, char *why, size_t size);

/* The same for a process that must stay what it is (abi/): the library is tried in one of its own, and then
 * called in this one as it is, unwatched; what it does wrong is this process's. From any thread. */
const ff_method_library *ff_library_open_trusted(const char *path, char *message, size_t size);

/* With the libraries; with those, trusted; refusing each in one line, for commands whose loop must not be
 * disturbed, and for logs that others may have made; leaving them closed. */
extern const ff_catalog ff_catalog_libraries, ff_catalog_trusted, ff_catalog_guarded, ff_catalog_strange,
    ff_catalog_closed;

#endif
