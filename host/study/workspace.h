/* study/workspace.h - how long a satellite's motion stays inside a robot's reach, as it is and relative to
 * a nominal motion [destefano2021].
 *
 * The motion is the ideal one. It is inside while some joints inside their ranges reach the pose, away from
 * singularities, and no axis has to turn faster than it can. Base, tool and rail are the scenario's; where it
 * names neither base nor tool, the arm is placed where it keeps the motion longest, found on a grid. */
#ifndef FF_STUDY_WORKSPACE_H
#define FF_STUDY_WORKSPACE_H

#include "freefloat/command.h"
#include "scenario/scenario.h"

typedef struct ff_workspace_config {
    ff_arm_config arm; /* its base, tool and rail are the robot's */
    const char *name;  /* of it, in what is written */
    double margin;     /* least distance from a singularity, of ff_arm_margin; 0..1 */
    double ball;       /* [m] the ball around the start that destefano2021 takes for the workspace */
    double sample;     /* [s] between two poses, at least one cycle */
    bool (*progress)(void *user, double part); /* over the motions; may be NULL; false: FF_ERR_LIMIT */
    void *user;
} ff_workspace_config;

typedef enum ff_workspace_reason {
    FF_WORKSPACE_INSIDE, /* to the end of the run */
    FF_WORKSPACE_TOO_FAR,
    FF_WORKSPACE_TOO_NEAR,
    FF_WORKSPACE_JOINT_LIMIT,
    FF_WORKSPACE_RAIL_LIMIT,
    FF_WORKSPACE_SINGULAR,
    FF_WORKSPACE_TOO_FAST
} ff_workspace_reason;

/* One motion and one robot. */
typedef struct ff_workspace_span {
    double from;                /* [s] inside from here on; FF_NAN: never inside */
    double until;               /* [s] first pose outside after that; the end of the run if there is none */
    ff_workspace_reason reason; /* why it ends */
    int axis;                   /* joint limit, too fast: 1..7; 7 of six axes: the rail */
    double distance, rotation;  /* [m], [rad] from the start when it ends */
    double travel, turn;        /* [m], [rad] largest distance and rotation from the start in the whole run */
    double ball;                /* [s] the motion leaves the ball; FF_INF: never */
    double margin;              /* least distance from a singularity while inside */
    bool placed;                /* base and tool were chosen here */
    ff_pose base, tool;         /* T_wb, T_ft */
    int axes;
    ff_arm_joints start; /* at `from` */
} ff_workspace_span;

typedef struct ff_workspace {
    double duration; /* [s] */
    int bodies;
    ff_workspace_span absolute[FF_MAX_BODIES], relative[FF_MAX_BODIES];
} ff_workspace;

void ff_workspace_default(ff_workspace_config *config);
const char *ff_workspace_reason_text(ff_workspace_reason reason); /* "the arm is stretched" */
/* A motion at equal times; config->sample is their distance. FF_ERR_ARGUMENT, FF_ERR_MEMORY. `robot` may name
 * neither base nor tool (both identity): then the arm is placed. */
ff_status ff_workspace_trace(const ff_workspace_config *config, const ff_robot_config *robot,
                             const ff_pose *pose, size_t count, ff_workspace_span *out);
/* FF_ERR_UNSUPPORTED (an emulation), FF_ERR_ARGUMENT, FF_ERR_MEMORY, or what the reference says; message is
 * one sentence. */
ff_status ff_workspace_analyze(const ff_scenario *scenario, const ff_workspace_config *config,
                               ff_workspace *out, char *message, size_t size);
/* "client leaves ... after 14.0 s (axis 5 at its limit); relative to its nominal motion it stays ..." */
void ff_workspace_sentence(const ff_scenario *scenario, const ff_workspace *out, int body, char *text,
                           size_t size);
/* Everything as one JSON object, malloc'ed; NULL without memory. */
char *ff_workspace_json(const ff_scenario *scenario, const ff_workspace *out,
                        const ff_workspace_config *config);

#endif
