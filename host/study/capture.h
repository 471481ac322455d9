/* study/capture.h - what the motion of client and servicer says of a capture: how far the base is from its
 * goal, how fast the gripper moves against the client, the momentum of the pair. For runs and for the orbit.
 */
#ifndef FF_STUDY_CAPTURE_H
#define FF_STUDY_CAPTURE_H

#include "scenario/scenario.h"

typedef struct ff_capture {
    const ff_scenario *scenario; /* kept, not copied */
    int servicer;
    ff_tree_memory tree;
    ff_rigid_model client;
} ff_capture;

typedef struct ff_capture_figures {
    ff_vec3 base_error;     /* [m] base against its goal, client's axes */
    ff_vec3 rate;           /* [rad/s] base relative to the client, base axes */
    double gripper_speed;   /* [m/s] of the gripper relative to the place of the client that it holds */
    ff_vec3 linear, origin; /* [N s], [N m s] total momentum, inertial, about the origin */
    double energy;          /* [J] kinetic, of base and arm */
} ff_capture_figures;

/* Of a scenario with an arm. FF_OK, or a negative status with a sentence. */
ff_status ff_capture_open(ff_capture *capture, const ff_scenario *scenario, char *message, size_t size);
void ff_capture_see(const ff_capture *capture, const ff_rigid_state *client, const ff_rigid_state *base,
                    const double *q, const double *qd, ff_capture_figures *figures);
void ff_capture_close(ff_capture *capture);

#endif
