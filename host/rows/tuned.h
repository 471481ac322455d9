/* rows/tuned.h - what an order to a running loop may change of its model: the thresholds of the contact
 * detector and the sensors' bias. Every row says what held in its cycle, so that a replay needs no list of
 * orders. */
#ifndef FF_ROWS_TUNED_H
#define FF_ROWS_TUNED_H

#include "scenario/scenario.h"

typedef struct ff_tuned {
    bool known;                      /* there is a loop */
    bool fixed;                      /* thresholds are the operator's, not the measured noise's */
    double force_on, torque_on;      /* [N], [N m] FF_NAN: this method has none that are tuned */
    ff_wrench bias_s[FF_MAX_BODIES]; /* [N m, N] sensor frame */
} ff_tuned;

/* The detector whose thresholds may be tuned; NULL: the method has none. */
ff_detector_config *ff_tuned_detector(ff_fidelity_config *fidelity);
/* As it is in the model now; in the real-time thread, too. */
void ff_tuned_get(const ff_loop_model *model, int bodies, ff_tuned *tuned);
/* FF_ERR_ARGUMENT, and the model as it was, when it is not valid or not this method's. */
ff_status ff_tuned_apply(ff_loop_model *model, int bodies, const ff_tuned *tuned);

#endif
