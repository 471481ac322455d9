/* operator/touch.h - which contact it is. On devices nothing reports it: the measured force says that there
 * is one, the scenario's geometry which. Not for the real-time thread. */
#ifndef FF_OPERATOR_TOUCH_H
#define FF_OPERATOR_TOUCH_H

#include "rows/row.h"

typedef struct ff_touch {
    const ff_scenario *scenario;
    double threshold[FF_MAX_BODIES]; /* [N] a larger force is one */
    ff_contact contact[FF_MAX_CONTACTS];
    int touched[FF_MAX_BODIES];
} ff_touch;

ff_status ff_touch_create(ff_touch *touch, const ff_scenario *scenario, char *message, size_t size);
/* Fills touching and contact_force of the row; rows come in order. */
void ff_touch_find(ff_touch *touch, ff_row *row);

#endif
