/* obsw/shared.h - on-board software in a shared object that exports the functions of examples/obsw/obsw.h.
 *
 * It runs in a child process: one that never returns, crashes or exits takes nothing with it. Sensors and
 * actuation lie in memory that both share, so the numbers are those of a call; two semaphores pass them on.
 */
#ifndef FF_OBSW_SHARED_H
#define FF_OBSW_SHARED_H

#include <sys/types.h>

#include "../../examples/obsw/obsw.h"
#include "freefloat/base.h"
#include "text/held.h"

typedef struct ff_obsw_shared_info {
    uint64_t stuck;  /* steps that did not return in time */
    double stuck_at; /* [s] run time of the first of them */
    bool died;
    double died_at;  /* [s] run time of the step that found it dead */
    int died_signal; /* that ended it; 0: it ended by itself */
} ff_obsw_shared_info;

/* One sentence about what went wrong with it; false: nothing did. */
bool ff_obsw_shared_text(const ff_obsw_shared_info *info, double timeout, char *text, size_t size);

typedef struct ff_obsw_shared {
    struct ff_obsw_room *room; /* what both processes see; NULL: closed */
    pid_t child;
    double timeout; /* [s] wall clock */
    bool busy;      /* a step has not returned yet */
    ff_obsw_shared_info info;
} ff_obsw_shared;

/* held: has the library's bytes, which are loaded; NULL: they are read now. timeout: [s] wall clock, longest
 * time for one step; its start may take ten times as long. FF_ERR_DEVICE with one sentence: it does not load,
 * lacks a function, has another version, refuses, crashes or does not return. */
ff_status ff_obsw_shared_open(ff_obsw_shared *shared, ff_held *held, const char *path,
                              const ff_obsw_setup *setup, double timeout, char *message, size_t size);
/* FF_OK: *out is its answer. FF_INFO_HELD: it gave none; one that has not returned from an earlier step is
 * not waited for again, and called again only after it has returned. */
ff_status ff_obsw_shared_step(ff_obsw_shared *shared, const ff_obsw_in *in, ff_obsw_out *out);
/* Lets it clean up, `timeout` at most, then ends the child. */
void ff_obsw_shared_close(ff_obsw_shared *shared);

#endif
