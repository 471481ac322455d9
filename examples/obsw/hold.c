/* On-board software to start from: keeps the base at rest relative to the client and the joints where they
 * are. Either a shared object that freefloat calls, or with udp.c a program of its own:
 *
 *     cc -shared -fPIC hold.c -o libobsw_hold.so   obsw: {kind: shared, library: libobsw_hold.so}
 *     cc udp.c hold.c -o hold_udp                  obsw: {kind: udp}
 *
 * Every cycle ff_obsw_step gets what the sensors say; its answer acts until the next. */
#include "obsw.h"

#include <math.h>
#include <stdlib.h>

typedef struct hold {
    uint32_t joints;
    double q[FF_OBSW_JOINTS]; /* where the joints were at first */
    int started;
} hold;

uint32_t ff_obsw_version(void) {
    return FF_OBSW_VERSION;
}

void *ff_obsw_create(const ff_obsw_setup *setup) {
    hold *self = calloc(1, sizeof *self);
    if (self)
        self->joints = setup->joints;
    return self;
}

int ff_obsw_step(void *memory, const ff_obsw_in *in, ff_obsw_out *out) {
    hold *self = memory;
    const double mass = 1500, inertia = 1000, rate = 0.3; /* [kg], [kg m2], [1/s] */
    if (!self->started)
        for (uint32_t i = 0; i < self->joints; i++)
            self->q[i] = in->q[i];
    self->started = 1;
    for (int i = 0; i < 3; i++) { /* the client seems to leave: follow it */
        out->force[i] = mass * rate * in->client_velocity[i];
        out->torque[i] = inertia * rate * in->client_angular_velocity[i];
    }
    for (uint32_t i = 0; i < self->joints; i++)
        out->joint_torque[i] = 2.0 * (self->q[i] - in->q[i]) - 0.5 * in->qd[i];
    out->storage = out->dissipation = NAN; /* not reported */
    return 0;
}

void ff_obsw_destroy(void *self) {
    free(self);
}
