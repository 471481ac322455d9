#include "emulate/analysis.h"

#include <stdio.h>
#include <string.h>

void ff__emulate_warn(char *warnings, size_t size, const char *format, double a, double b, double c) {
    const size_t used = strlen(warnings);
    if (used < size)
        snprintf(warnings + used, size - used, format, a, b, c);
}

bool ff__emulate_analysis(const ff_emulation_config *emulation, double bandwidth, double delay,
                          ff_contact_stability_config *c, char *warnings, size_t size) {
    const double gv = emulation->velocity_gain, gp = emulation->position_gain;
    if (!(gv > 0.0 && gp > 0.0) || !(isfinite(bandwidth) || delay > 0.0))
        return false;
    /* w_p = 2 G_p/G_v is the controller's bandwidth, (33). */
    if (bandwidth < 2.0 * gp / gv)
        ff__emulate_warn(warnings, size,
                         "actuator_bandwidth %.4g rad/s is below the controller's, %.4g rad/s\n", bandwidth,
                         2.0 * gp / gv, 0.0);
    ff_contact_stability_default(c);
    c->velocity_gain = gv;
    c->position_gain = gp;
    if (delay > 0.0)
        c->delay = delay;
    else
        c->bandwidth = bandwidth;
    return true;
}
