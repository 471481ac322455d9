/* freefloat/fidelity.h - stage 3: the methods of this library, a folder each in lib/fidelity. `ideal` is not
 * one: it is the continuous reference without robots. */
#ifndef FREEFLOAT_FIDELITY_H
#define FREEFLOAT_FIDELITY_H

#include "freefloat/method.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const ff_method ff_method_direct;  /* the measured wrench, unchanged */
extern const ff_method ff_method_tdpa;    /* [destefano2019] docs/methods/destefano2019.md; the default */
extern const ff_method ff_method_damping; /* [he2022] docs/methods/he2022.md */
extern const ff_method ff_method_impact;  /* [lange] docs/methods/lange.md */
extern const ff_method ff_method_fused;   /* docs/methods/fused.md */

/* Method n of the list, NULL beyond its end; and the one of a name, NULL: there is none. */
const ff_method *ff_method_at(int n);
const ff_method *ff_method_find(const char *name);

/* The largest s in [0, 1] with which a wrench of power FV [W] at the start of the cycle, and F.H^-1 F = FHF
 * [N2/kg], gives the bodies no more than E [J] over one cycle T [s]: T FV s + T^2 FHF s^2/2 <= max(0, E). */
double ff_clamp_scale(double FV, double FHF, double T, double E);

#ifdef __cplusplus
}
#endif
#endif
