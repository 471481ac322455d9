/* freefloat/contact.h - stage 2: what is touched. */
#ifndef FREEFLOAT_CONTACT_H
#define FREEFLOAT_CONTACT_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Contact on or off from the size of the wrench, with hysteresis and a count of quiet cycles. A threshold of
 * zero takes every wrench that is not zero as contact: right where the sensor is ideal. */
typedef struct ff_detector_config {
    double force_on;  /* [N] contact begins above it; 3 to 5 standard deviations of the noise */
    double torque_on; /* [N m] likewise */
    double off_ratio; /* contact is quiet below this part of the thresholds, 0..1 */
    int quiet_cycles; /* so many quiet cycles end the contact */
} ff_detector_config;

typedef struct ff_detector_state {
    bool contact;
    int quiet;       /* quiet cycles so far */
    uint64_t cycles; /* cycles since this contact began */
} ff_detector_state;

void ff_detector_default(ff_detector_config *config);
ff_status ff_detector_validate(const ff_detector_config *config);
void ff_detector_reset(ff_detector_state *state);
/* Returns true while in contact; *began and *ended mark the edges of this cycle. */
bool ff_detector_step(const ff_detector_config *config, ff_detector_state *state, double force, double torque,
                      bool *began, bool *ended);

#ifdef __cplusplus
}
#endif
#endif
