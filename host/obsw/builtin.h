/* obsw/builtin.h - the built-in coordinated controller: base and arm together, the phases of destefano2021,
 * V. */
#ifndef FF_OBSW_BUILTIN_H
#define FF_OBSW_BUILTIN_H

#include "../../examples/obsw/obsw.h"
#include "freefloat/dynamics.h"

typedef struct ff_builtin_config {
    const ff_tree_model *tree; /* the controller's own model of the servicer */
    ff_tree_work *work;
    ff_pose goal;                       /* base in the client's body frame */
    double q_start[FF_TREE_JOINTS_MAX]; /* where the arm waits */
    double q_goal[FF_TREE_JOINTS_MAX];  /* where it grasps */
    double approach, arrive, grasp;     /* [s] the arm starts, has arrived, is closed */
    double release;                     /* [s] it has let go again; FF_INF */
    double sync_rate, hold_rate;        /* [rad/s] of the base's control before and after `approach` */
    double arm_rate, grasp_rate;        /* [rad/s] of the joints, before and after the grasp */
    double detumble;                    /* [s] from here on the base's rate is damped; FF_INF */
    double detumble_damping;            /* [N m s/rad] by so much */
} ff_builtin_config;

void ff_builtin_default(ff_builtin_config *config);
void ff_builtin_step(const ff_builtin_config *config, const ff_obsw_in *in, ff_obsw_out *out);

#endif
