/* Shared inside lib/fidelity: one step function per method. */
#ifndef FF_FIDELITY_INTERNAL_H
#define FF_FIDELITY_INTERNAL_H

#include "freefloat/fidelity.h"

void ff__tdpa_reset(ff_tdpa_state *state);
void ff__tdpa_step(const ff_fidelity_model *model, ff_tdpa_state *state, const ff_fidelity_in *in,
                   const ff_rigid_state *body, ff_fidelity_out *out);

void ff__impact_reset(ff_impact_state *state);
void ff__impact_step(const ff_fidelity_model *model, ff_impact_state *state, ff_history *history,
                     const ff_fidelity_in *in, ff_rigid_state *body, ff_fidelity_out *out);

#endif
