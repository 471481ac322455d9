/* direct: the measured wrench, unchanged. What the delay does to it: docs/methods/direct.md. */
#include "freefloat/fidelity.h"

static ff_status step(const void *model, void *state, const ff_method_in *in, ff_method_out *out) {
    (void)model;
    (void)state;
    for (int i = 0; i < in->bodies; i++) {
        const ff_wrench f = in->sample[i].f_b;
        out->f_b[i] = f;
        out->in_contact[i] = ff_vec3_dot(f.f, f.f) > 0.0 || ff_vec3_dot(f.t, f.t) > 0.0;
    }
    return FF_OK;
}

const ff_method ff_method_direct = {FF_METHOD("direct", "1", "the measured wrench, unchanged"),
                                    .can = FF_CAN_TREE | FF_CAN_RELATIVE, .variants = 1, .step = step};
