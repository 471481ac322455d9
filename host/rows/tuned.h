/* rows/tuned.h - what an order to a running loop may change of its model: settings of the method that its
 * table allows it for, and the sensors' bias. Every row says what held in its cycle, so that a replay needs
 * no list of orders. */
#ifndef FF_ROWS_TUNED_H
#define FF_ROWS_TUNED_H

#include "scenario/scenario.h"

enum { FF_TUNED_SETTINGS = 2 };

typedef struct ff_tuned {
    bool known; /* there is a loop */
    bool fixed; /* a setting was given, by scenario or operator: not the method's choice */
    double setting[FF_TUNED_SETTINGS]; /* of those that may be tuned; FF_NAN: this method has fewer */
    ff_wrench bias_s[FF_MAX_BODIES];   /* [N m, N] sensor frame */
} ff_tuned;

/* The nth setting of the method that may be tuned; NULL: it has fewer. */
const ff_setting *ff_tuned_setting(const ff_method *method, int n);
/* As it is in the model now; in the real-time thread, too. */
void ff_tuned_get(const ff_loop_model *model, int bodies, ff_tuned *tuned);
/* FF_ERR_ARGUMENT, and the model as it was, when it is not valid or not this method's. */
ff_status ff_tuned_apply(ff_loop_model *model, int bodies, const ff_tuned *tuned);

#endif
