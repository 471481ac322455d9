/* Shared by lib/fidelity/tdpa: settings, model and state. */
#ifndef FF_FIDELITY_TDPA_H
#define FF_FIDELITY_TDPA_H

#include "freefloat/fidelity.h"

enum { OBSERVER_WRENCH, OBSERVER_AXIS };
enum { VELOCITY_MIDPOINT, VELOCITY_START };
enum { RESET_CONTACT, RESET_NEVER };
enum { LAW_CLAMP, LAW_DAMPER };
enum { PAIR_ON, PAIR_OFF };
enum { OBSERVER = 1, THRESHOLD = 6, TORQUE_THRESHOLD }; /* places in the table of settings */

/* [destefano2019, IV, VI]. The defaults are the variant that works; `printed` is the paper's letter: per-axis
 * observers on V_c, damper, no reset. docs/methods/destefano2019.md says why they differ. */
typedef struct tdpa_settings {
    int reading, observer, velocity, reset, law, pair;
    double threshold, torque_threshold; /* [N], [N m] */
} tdpa_settings;

typedef struct tdpa_model {
    tdpa_settings settings;
    bool
        fixed; /* thresholds were given; wrenches below them are noise: they move no body, feed no observer */
    ff_integrate_config integrate;
    int bodies;
    ff_world_grasp pair; /* body -1: none */
} tdpa_model;

/* Two bodies that hold each other: `tdpa` then observes the pair and not the bodies. [destefano2021, VI]
 * leaves open what a passivity controller may damp in relative motion. Damping each robot's absolute velocity
 * stops the tumble, damping each robot's relative velocity makes momentum; damping the relative velocity at
 * the gripper with one wrench, equal and opposite about one point, does neither. */
typedef struct tdpa_pair {
    double energy; /* [J] given by the contact at the robots, less what the satellites took */
    ff_wrench f;   /* wrench on `body` at the gripper in the axes of `against`, last cycle */
    ff_vec3 x;     /* [m] and the measured place of the gripper there */
    ff_quat q;     /* and the measured attitude */
    bool started;
} tdpa_pair;

typedef struct tdpa_state {
    double energy[FF_MAX_BODIES][6]; /* [J] per-axis observers; with one observer energy[0][0] is the total */
    tdpa_pair pair;
} tdpa_state;

/* Replaces what the step said of the pair's two bodies. */
void ff__tdpa_pair(const tdpa_model *model, tdpa_pair *state, const ff_method_in *in, ff_method_out *out);

#endif
