/* record/scene.h - what a viewer draws of a log without further configuration: bodies, robots, walls, cones,
 * stops and arms as markers in the frames of /tf, and the forces of the contacts as arrows. */
#ifndef FF_RECORD_SCENE_H
#define FF_RECORD_SCENE_H

#include "record/messages.h"
#include "rows/row.h"

enum {
    FF_SCENE_LINK_FRAMES = FF_MAX_ARM_LINKS + 2,                             /* of ff_scene_frames, at most */
    FF_SCENE_FORCES_BYTES = 512 + FF_MAX_CONTACTS * (512 + 2 * FF_NAME_SIZE) /* of ff_scene_forces, at most */
};

/* Everything that does not change: one marker each, in a message of *used bytes that the caller frees.
 * Without a mesh a satellite is the solid cuboid of its mass and inertia; its robot is the same, paler, in
 * the frame NAME/robot. FF_ERR_MEMORY. */
ff_status ff_scene_bodies(const ff_scenario *scenario, uint64_t time, void **bytes, size_t *used);

/* How large each satellite is drawn: the longest edge of that cuboid [m]. */
void ff_scene_sizes(const ff_scenario *scenario, double size_m[FF_MAX_BODIES]);

/* An arrow for each contact, at its point on the body, in the frame `inertial`; none where nothing touches.
 * Its length is half of the body at the force of an impact as fast as the satellite started (at least 10
 * mm/s) on that contact's stiffness, and at most twice the body. */
ff_status ff_scene_forces(const ff_scenario *scenario, const double size_m[FF_MAX_BODIES], const ff_row *row,
                          uint64_t time, void *buffer, size_t size, size_t *used);

/* Of the servicer's arm: the frames of its mount (NAME/mount, or the root of its URDF file), links (by their
 * names, as in a URDF file) and gripper (NAME/gripper), each in the one before it. Returns how many; 0
 * without an arm. */
typedef struct ff_scene_names {
    char mount[FF_NAME_SIZE + 16], gripper[FF_NAME_SIZE + 16];
} ff_scene_names;
int ff_scene_frames(const ff_scenario *scenario, const ff_row *row, ff_scene_names *names,
                    ff_message_transform transform[FF_SCENE_LINK_FRAMES]);

/* The servicer's arm, which a table describes, as a URDF file; the caller frees it. NULL: no memory. */
char *ff_scene_urdf(const ff_scenario *scenario);

#endif
