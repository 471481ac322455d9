/* What the analysis of contacts says of an emulation before it runs: one line for each warning. */
#ifndef FF_EMULATE_ANALYSIS_H
#define FF_EMULATE_ANALYSIS_H

#include "freefloat/emulation.h"
#include "study/contact_stability.h"

/* Adds a line to the warnings, as far as there is room. */
void ff__emulate_warn(char *warnings, size_t size, const char *format, double a, double b, double c);
/* Gains and actuator as the analysis takes them; warns of an actuator slower than the controller. False where
 * there is nothing to analyze: no gains, or an ideal actuator. */
bool ff__emulate_analysis(const ff_emulation_config *emulation, double bandwidth, double delay,
                          ff_contact_stability_config *c, char *warnings, size_t size);

#endif
