/* session/sandbox.h - limits under which a stranger's scenario is read and run (docs/security.md). */
#ifndef FF_SESSION_SANDBOX_H
#define FF_SESSION_SANDBOX_H

#include "scenario/scenario.h"

enum {
    FF_SANDBOX_MEMORY = 2048, /* [MiB] of addresses */
    FF_SANDBOX_TIME = 600,    /* [s] of processor time */
    FF_SANDBOX_FILE = 1024    /* [MiB] of one file */
};

/* Before the scenario is read, for the rest of the process: files are read from the scenario's folder alone,
 * memory, time and output are limited, and the system refuses sockets, programs and processes. FF_ERR_IO: no
 * such folder; FF_ERR_UNSUPPORTED: the system cannot; with one sentence. */
ff_status ff_sandbox_enter(const char *scenario, char *message, size_t size);
/* Gives no library. */
extern const ff_catalog ff_sandbox_catalog;
/* What a scenario asks for that is not given; false with one sentence. */
bool ff_sandbox_allows(const ff_scenario *scenario, char *message, size_t size);

#endif
