/* Links of scenarios and URDF files as rows of the library's tree. */
#include "scenario/arm_link.h"

void ff_link_inertia(const ff_mat3 *inertia, double six[6]) {
    six[0] = inertia->m[0][0];
    six[1] = inertia->m[1][1];
    six[2] = inertia->m[2][2];
    six[3] = inertia->m[0][1];
    six[4] = inertia->m[0][2];
    six[5] = inertia->m[1][2];
}

ff_tree_link_config ff_link_tree(const ff_link_row *row) {
    ff_tree_link_config link = {.parent = row->parent,
                                .joint = row->joint,
                                .axis = row->axis,
                                .pose = row->pose,
                                .mass = row->mass,
                                .com = row->com,
                                .q_min = row->lower,
                                .q_max = row->upper,
                                .velocity_max = row->velocity,
                                .torque_max = row->torque,
                                .viscous = row->viscous,
                                .coulomb = row->coulomb};
    ff_link_inertia(&row->inertia, link.inertia);
    return link;
}
