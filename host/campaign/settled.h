/* campaign/settled.h - when is what is asked of a sample final? Once nothing can touch anything any more:
 * every satellite flies on with the velocity it has, so contacts, forces, rebounds and energies stay as they
 * are. */
#ifndef FF_CAMPAIGN_SETTLED_H
#define FF_CAMPAIGN_SETTLED_H

#include "report/metrics.h"

typedef struct ff_settled {
    const ff_scenario *scenario;
    const ff_metrics *metrics;
    bool possible;                                         /* for this scenario and method */
    bool predicts;                                         /* the method rewrites the past */
    uint64_t enough;                                       /* rows of flight that empty robots and sensors */
    uint64_t flight;                                       /* rows of it so far */
    ff_vec3 velocity[FF_MAX_BODIES], omega[FF_MAX_BODIES]; /* of the last row */
    double reach[FF_MAX_CONTACTS];                         /* [m] of the contact's point from the CoM */
    bool over;
} ff_settled;

/* Before a run; the metrics are those that the same run fills. */
void ff_settled_begin(ff_settled *settled, const ff_scenario *scenario, const ff_metrics *metrics);
/* Stands behind the metrics' sink. `over` is set as soon as the rest of the run is known to be flight without
 * a contact and without a failure; it may stay false to the end. */
ff_sink ff_settled_sink(ff_settled *settled);

#endif
