/* Client and servicer of the capture of Envisat: base of 1500 kg and the arm of seven joints on which the
 * project's figures for destefano2021 were taken. One table for tests and bench. */
#ifndef FF_TESTS_SERVICER_MODEL_H
#define FF_TESTS_SERVICER_MODEL_H

#include "freefloat/dynamics.h"

#define SERVICER_JOINTS 7

typedef struct servicer_model {
    ff_tree_config config; /* points into link: do not copy the struct */
    ff_tree_link_config link[SERVICER_JOINTS];
} servicer_model;

static inline void servicer_model_make(servicer_model *model) {
    static const struct {
        double mass, com[3], inertia[6], p[3],
            turn; /* turn: joint frame about the parent's x, quarter turns */
    } row[SERVICER_JOINTS] = {
        {4.0, {0, -.030, .120}, {.0500, .0450, .0150, .0002, -.0003, .0040}, {0, 0, .1575}, 0},
        {4.0, {.001, -.060, .042}, {.0480, .0120, .0450, -.0003, .0001, .0035}, {0, 0, .2025}, -1},
        {3.0, {0, .030, .130}, {.0350, .0320, .0090, .0001, .0002, -.0030}, {0, -.2045, 0}, 1},
        {2.7, {0, .067, .034}, {.0290, .0080, .0270, .0002, -.0001, -.0025}, {0, 0, .2155}, 1},
        {1.7, {.0005, -.021, .076}, {.0180, .0160, .0050, -.0001, .0001, .0020}, {0, .1845, 0}, -1},
        {1.8, {0, -.006, .004}, {.0050, .0040, .0048, .0001, -.0001, .0003}, {0, 0, .2155}, -1},
        {1.5, {.002, .001, .090}, {.0060, .0062, .0022, -.0001, .0001, .0001}, {0, -.081, 0}, 1},
    };
    static const char *const name[SERVICER_JOINTS] = {
        "link1", "link2", "link3", "link4", "link5", "link6", "link7 and gripper"};
    static const double base_inertia[6] = {900, 1100, 1200, 20, -15, 10};
    ff_tree_config_default(&model->config);
    model->config.base_mass = 1500;
    for (int k = 0; k < 6; k++)
        model->config.base_inertia[k] = base_inertia[k];
    model->config.links = SERVICER_JOINTS;
    model->config.link = model->link;
    for (int i = 0; i < SERVICER_JOINTS; i++) {
        ff_tree_link_config *link = &model->link[i];
        ff_tree_link_default(link);
        link->name = name[i];
        link->parent = i - 1;
        link->mass = row[i].mass;
        link->com = ff_vec3_make(row[i].com[0], row[i].com[1], row[i].com[2]);
        for (int k = 0; k < 6; k++)
            link->inertia[k] = row[i].inertia[k];
        link->pose.q = ff_quat_exp(ff_vec3_make(row[i].turn * FF_PI / 2, 0, 0));
        link->pose.p = ff_vec3_make(row[i].p[0], row[i].p[1], row[i].p[2]);
    }
    /* The arm's mount on the base: [0.95 0 0], Ry(90 deg). */
    const ff_pose mount = {ff_quat_exp(ff_vec3_make(0, FF_PI / 2, 0)), {{0.95, 0, 0}}};
    model->link[0].pose = ff_pose_mul(mount, model->link[0].pose);
}

/* Joints at the start of the mission and with the gripper at the grapple point [rad]. */
static const double servicer_folded[SERVICER_JOINTS] = {0, 1, 0, 2, 0, 1, 0},
                    servicer_reached[SERVICER_JOINTS] = {0, .7031, 0, 1.4497, 0, .7466, 0};

/* The client: Envisat's public figures. */
static const ff_rigid_config envisat_rigid = {
    7828, {{{17023.3, 397.1, -2171.4}, {397.1, 124825.7, 344.2}, {-2171.4, 344.2, 129112.2}}}};

/* End effector in link 7. */
static inline ff_tree_frame servicer_gripper(void) {
    return (ff_tree_frame){SERVICER_JOINTS - 1, {{1, 0, 0, 0}, {{0, 0, .195}}}};
}

#endif
