/* scenario/urdf.h - an arm from a URDF file, as rows of the links table.
 *
 * Read: link (inertial: origin, mass, inertia) and joint (revolute, continuous, prismatic, fixed; origin,
 * axis, limit, dynamics). What only draws (visual, collision, material) and what stands beside links and
 * joints (transmission, gazebo, ...) is passed over. Everything else inside a link or joint is refused, so
 * that a misspelt element is never a silent default. No document type, no entities, no network, no locale. */
#ifndef FF_SCENARIO_URDF_H
#define FF_SCENARIO_URDF_H

#include "freefloat/command.h"
#include "scenario/arm_link.h"
#include "text/held.h"

enum {
    FF_URDF_LINKS = 64,      /* rows: links but the root */
    FF_URDF_NAME = 128,      /* bytes of a name with its end */
    FF_URDF_BYTES = 4 << 20, /* size of one file [byte] */
};

/* A link and the joint that carries it. Its mass is 0 without inertial: a fixed frame, or a link that carries
 * fixed masses. */
typedef struct ff_urdf_link {
    char name[FF_URDF_NAME], joint_name[FF_URDF_NAME];
    int line; /* of the joint in the file */
    ff_link_row row;
} ff_urdf_link;

/* Rows stand from the root outwards. Branches without a moving joint come first, others in the order of the
 * file: the last row is the end of the last moving link. */
typedef struct ff_urdf {
    char root[FF_URDF_NAME];
    int root_line;
    double root_mass; /* [kg] the table has no row for it: whoever uses the rows must refuse or place it */
    int links, joints;
    ff_urdf_link link[FF_URDF_LINKS];
} ff_urdf;

/* FF_OK; FF_ERR_FORMAT, FF_ERR_MEMORY with one line "LABEL:LINE: what is wrong, allowed: ...". frames: the
 * file is read for its frames and limits alone, moving links need no mass and joints no effort. */
ff_status ff_urdf_parse(const char *label, const char *text, size_t length, bool frames, ff_urdf *urdf,
                        char *message, size_t size);
/* The same from a regular file, as `held` (may be NULL) has it; also FF_ERR_IO, with the system's words alone
 * as message. */
ff_status ff_urdf_load(ff_held *held, const char *path, bool frames, ff_urdf *urdf, char *message,
                       size_t size);
/* Fixed links merged into what carries them, and the last row's frame in the last joint's link as *tip: a
 * serial arm of moving joints. What is fixed to the root adds to chain->root_mass. FF_ERR_FORMAT if the arm
 * branches. chain must not be urdf. */
ff_status ff_urdf_chain(const char *label, const ff_urdf *urdf, ff_urdf *chain, ff_pose *tip, char *message,
                        size_t size);
/* The arm between two links as a robot's kinematics: a chain of six or seven joints with their limits, no
 * rail, no tool, ready in the middle of the ranges. base "": the root, else a link that stands still: the
 * controller's base; tip "": the last row. FF_ERR_FORMAT with one line. */
ff_status ff_urdf_arm(const char *label, const ff_urdf *urdf, const char *base, const char *tip,
                      ff_arm_config *arm, char *message, size_t size);

#endif
