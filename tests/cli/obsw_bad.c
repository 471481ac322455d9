/* On-board software that goes wrong, as OBSW_FAULT says, in its step OBSW_AT (-1: in its start): hang, crash,
 * exit, wait (until the file OBSW_GATE exists), scribble (into every descriptor but those of the terminal),
 * swap (the files OBSW_HERE and OBSW_THERE, in its start and back in its end).
 * Until then it pushes with 1 N. */
#define _GNU_SOURCE
#include "../../examples/obsw/obsw.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int here = 1;

static void fault(long step) {
    const char *const what = getenv("OBSW_FAULT"), *const at = getenv("OBSW_AT");
    if (what && strcmp(what, "swap") == 0 && step < 0)
        renameat2(AT_FDCWD, getenv("OBSW_HERE"), AT_FDCWD, getenv("OBSW_THERE"), RENAME_EXCHANGE);
    if (!what || !at || strtol(at, NULL, 10) != step)
        return;
    if (strcmp(what, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(what, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (strcmp(what, "exit") == 0)
        exit(3);
    if (strcmp(what, "scribble") == 0)
        for (int i = 3; i < 1024; i++)
            if (write(i, "stray", 5) == 5)
                here = 2;
    if (strcmp(what, "wait") == 0)
        while (access(getenv("OBSW_GATE"), F_OK) != 0)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
}

uint32_t ff_obsw_version(void) {
    return FF_OBSW_VERSION;
}

void *ff_obsw_create(const ff_obsw_setup *setup) {
    (void)setup;
    fault(-1);
    return &here;
}

int ff_obsw_step(void *self, const ff_obsw_in *in, ff_obsw_out *out) {
    (void)self;
    fault((long)in->sequence);
    memset(out, 0, sizeof *out);
    out->force[0] = here;
    return 0;
}

void ff_obsw_destroy(void *self) {
    (void)self;
    fault(-2);
}
