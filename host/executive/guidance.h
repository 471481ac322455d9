/* executive/guidance.h - who orders thrusters and arm, as the cycle sees it: once a cycle, on the states that
 * the robots' measured motion means in orbit. The on-board software of a scenario is one
 * (executive/mission.h).
 */
#ifndef FF_EXECUTIVE_GUIDANCE_H
#define FF_EXECUTIVE_GUIDANCE_H

#include "facility/station.h"

/* What acts from t_k on. */
typedef struct ff_guidance_order {
    ff_wrench thrust;                  /* on the base, base axes, about its origin */
    double torque[FF_TREE_JOINTS_MAX]; /* [N m] of the joints, as they would act in orbit */
    /* for the row */
    int phase, action;           /* as ff_row_servicer */
    double storage, dissipation; /* (24); FF_NAN: not reported */
    bool saturated;              /* a thruster's limit acted */
} ff_guidance_order;

typedef struct ff_guidance {
    void *self;
    /* FF_OK, or a negative status that ends the run, with a sentence. */
    ff_status (*step)(void *self, double t, const ff_rigid_state *client, const ff_rigid_state *base,
                      const ff_sample_joints *joints, ff_guidance_order *order, char *message, size_t size);
} ff_guidance;

#endif
