/* obsw/shared.h - on-board software in a shared object that exports the functions of examples/obsw/obsw.h. */
#ifndef FF_OBSW_SHARED_H
#define FF_OBSW_SHARED_H

#include "../../examples/obsw/obsw.h"
#include "freefloat/base.h"

typedef struct ff_obsw_shared {
    void *library, *self;
    int (*step)(void *self, const ff_obsw_in *in, ff_obsw_out *out);
    void (*destroy)(void *self);
} ff_obsw_shared;

/* FF_ERR_DEVICE with one sentence: it does not load, lacks a function, has another version, or refuses. */
ff_status ff_obsw_shared_open(ff_obsw_shared *shared, const char *path, const ff_obsw_setup *setup,
                              char *message, size_t size);
void ff_obsw_shared_close(ff_obsw_shared *shared);

#endif
