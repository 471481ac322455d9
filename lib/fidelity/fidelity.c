/* The list of methods, and the clamp that the passive ones share. */
#include "freefloat/fidelity.h"

#include <string.h>

static const ff_method *const methods[] = {&ff_method_direct, &ff_method_tdpa, &ff_method_damping,
                                           &ff_method_impact, &ff_method_fused};

const ff_method *ff_method_at(int n) {
    return n >= 0 && n < (int)(sizeof methods / sizeof *methods) ? methods[n] : NULL;
}

const ff_method *ff_method_find(const char *name) {
    for (int n = 0; ff_method_at(n); n++)
        if (strcmp(ff_method_at(n)->name, name) == 0)
            return ff_method_at(n);
    return NULL;
}

double ff_clamp_scale(double FV, double FHF, double T, double E) {
    if (T * FV + 0.5 * T * T * FHF <= E)
        return 1.0;
    if (!(E > 0.0))
        E = 0.0;
    /* The larger root; with a = T FHF/2: s = (-FV + sqrt(FV^2 + 4 a E/T))/(2 a), written without
     * cancellation. */
    const double a = 0.5 * T * FHF, root = sqrt(FV * FV + 4.0 * a * E / T);
    const double s = FV > 0.0 ? 2.0 * (E / T) / (FV + root) : (root - FV) / (2.0 * a);
    return fmin(1.0, fmax(0.0, s));
}
