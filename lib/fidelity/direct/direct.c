/* direct: the measured wrench, unchanged. What the delay does to it: docs/methods/direct.md. */
#include "freefloat/fidelity.h"

typedef struct direct_model {
    int bodies;
} direct_model;

static void defaults(int variant, void *settings) {
    (void)variant;
    (void)settings;
}

static ff_status check(const ff_world *world, const void *settings, uint64_t given, ff_complaint *complaint) {
    (void)world;
    (void)settings;
    (void)given;
    (void)complaint;
    return FF_OK;
}

static size_t bytes(const ff_world *world, const void *settings, size_t *state) {
    (void)world;
    (void)settings;
    *state = 0;
    return sizeof(direct_model);
}

static void create(const ff_world *world, const void *settings, uint64_t given, void *model) {
    (void)settings;
    (void)given;
    *(direct_model *)model = (direct_model){.bodies = world->bodies};
}

static void reset(const void *model, const ff_rigid_state *body, void *state) {
    (void)model;
    (void)body;
    (void)state;
}

static ff_status step(const void *model, void *state, const ff_method_in *in, ff_method_out *out) {
    (void)state;
    for (int i = 0; i < ((const direct_model *)model)->bodies; i++) {
        const ff_wrench f = in->sample[i].f_b;
        out->f_b[i] = f;
        out->in_contact[i] = ff_vec3_dot(f.f, f.f) > 0.0 || ff_vec3_dot(f.t, f.t) > 0.0;
    }
    return FF_OK;
}

const ff_method ff_method_direct = {.abi = FF_METHOD_ABI,
                                    .size = sizeof(ff_method),
                                    .name = "direct",
                                    .version = "1",
                                    .help = "the measured wrench, unchanged",
                                    .can = FF_CAN_TREE | FF_CAN_RELATIVE,
                                    .variants = 1,
                                    .defaults = defaults,
                                    .check = check,
                                    .bytes = bytes,
                                    .create = create,
                                    .reset = reset,
                                    .step = step};
