/* Shared inside lib/fidelity: one step function per method. */
#ifndef FF_FIDELITY_INTERNAL_H
#define FF_FIDELITY_INTERNAL_H

#include "freefloat/fidelity.h"

void ff__tdpa_reset(ff_tdpa_state *state);
void ff__tdpa_step(const ff_fidelity_model *model, ff_tdpa_state *state, const ff_fidelity_in *in,
                   const ff_rigid_state *body, ff_fidelity_out *out);

/* Replaces what the other step said of the pair's two bodies. */
void ff__pair_step(const ff_fidelity_model *model, ff_pair_state *state, const ff_fidelity_in *in,
                   const ff_rigid_state *body, ff_fidelity_out *out);

void ff__damping_reset(ff_damping_state *state);
void ff__damping_step(const ff_fidelity_model *model, ff_damping_state *state, const ff_fidelity_in *in,
                      const ff_rigid_state *body, ff_fidelity_out *out);

/* The largest s in [0, 1] with which a wrench of power FV [W] at the start of the cycle, and F.H^-1 F = FHF,
 * gives the bodies no more than E [J] over one cycle T: T FV s + T^2 FHF s^2/2 <= max(0, E). */
double ff__clamp_scale(double FV, double FHF, double T, double E);
void ff__fused_reset(const ff_fidelity_model *model, const ff_rigid_state *body, ff_fused_state *state);
void ff__fused_step(const ff_fidelity_model *model, ff_fused_state *state, const ff_fidelity_in *in,
                    ff_rigid_state *body, ff_fidelity_out *out);

void ff__impact_reset(ff_impact_state *state);
void ff__impact_step(const ff_fidelity_model *model, ff_impact_state *state, ff_history *history,
                     const ff_fidelity_in *in, ff_rigid_state *body, ff_fidelity_out *out);

#endif
