/* scenario/arm_link.h - one link of an arm and the joint that carries it: the one form in which tables of
 * scenarios and URDF files give it, and how it becomes a row of the library's tree. */
#ifndef FF_SCENARIO_ARM_LINK_H
#define FF_SCENARIO_ARM_LINK_H

#include "freefloat/dynamics.h"

typedef struct ff_link_row {
    int parent; /* FF_TREE_BASE; else a row above */
    ff_joint_kind joint;
    ff_pose pose;            /* joint frame in the parent's */
    ff_vec3 axis;            /* unit, link frame */
    double mass;             /* [kg] */
    ff_vec3 com;             /* [m] link frame */
    ff_mat3 inertia;         /* [kg m2] about the CoM, link axes */
    double torque, velocity; /* [N m], [rad/s], prismatic [N], [m/s]; FF_INF: no limit */
    double lower, upper;     /* [rad] or [m]; -FF_INF, FF_INF: no limit */
    double viscous, coulomb; /* [N m s/rad], [N m] friction */
} ff_link_row;

/* The library's row; its name is NULL. */
ff_tree_link_config ff_link_tree(const ff_link_row *row);
/* xx yy zz xy xz yz, as the tree's table has them. */
void ff_link_inertia(const ff_mat3 *inertia, double six[6]);

#endif
