/* On-board software of a version that freefloat does not know. */
#include "../../examples/obsw/obsw.h"

#include <stddef.h>

uint32_t ff_obsw_version(void) {
    return FF_OBSW_VERSION + 1;
}

void *ff_obsw_create(const ff_obsw_setup *setup) {
    (void)setup;
    return NULL;
}

int ff_obsw_step(void *self, const ff_obsw_in *in, ff_obsw_out *out) {
    (void)self;
    (void)in;
    (void)out;
    return 1;
}

void ff_obsw_destroy(void *self) {
    (void)self;
}
