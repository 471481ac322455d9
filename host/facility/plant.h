/* facility/plant.h - the virtual facility: robots, sensors and what they touch, in the scenario's virtual
 * time.
 *
 * Cycle k: ff_plant_write(k, command issued at t_k) and ff_plant_read(k) -> what the devices say at t_k. A
 * command may be written again for the same k after the read (a method that predicts refines it); with delay
 * 0 the read uses the first. */
#ifndef FF_FACILITY_PLANT_H
#define FF_FACILITY_PLANT_H

#include "facility/manipulator.h"
#include "facility/station.h"
#include "text/keep.h"

typedef struct ff_plant ff_plant;

/* NULL with a sentence in message when a part is not supported or memory is short: FF_ERR_MEMORY, or another
 * negative status, in *why, which may be NULL. */
ff_plant *ff_plant_create(const ff_scenario *scenario, char *message, size_t size, ff_status *why);
void ff_plant_free(ff_plant *plant);
/* Back to t = 0 (same seed, same bits). */
void ff_plant_reset(ff_plant *plant);
/* No robot follows a command in the cycle in which it is issued: all are at least one cycle late. */
bool ff_plant_late(const ff_plant *plant);
/* Its state (text/keep.h). */
void ff_plant_keep(ff_plant *plant, ff_keeper *keeper);
void ff_plant_write(ff_plant *plant, uint64_t k, const ff_setpoint *command /* per satellite */);
/* What the loop measured in the cycle read last, for drives of `wrench` robots: (9) takes it off. Without it
 * they know the contact as it is. */
void ff_plant_write_contact(ff_plant *plant, const ff_wrench *measured_b);
/* What the arm is to do from the cycle read last on; nothing without one. */
void ff_plant_write_arm(ff_plant *plant, const ff_arm_order *order);
/* Who commands its motors in place of that. */
void ff_plant_drive_arm(ff_plant *plant, ff_arm_drive drive);
/* What the arm's controller measures at the cycle read last. */
void ff_plant_measure_arm(const ff_plant *plant, ff_arm_measured *measured);
/* With frame relative: the nominal motion at t_k. The robots move in its frame; walls and stops are inertial,
 * so the facility moves them with it. Write it before the read of the same k; a cycle without keeps the last.
 */
void ff_plant_write_nominal(ff_plant *plant, const ff_rigid_state *nominal);
/* Robots and sensors at t_k into in->sensor[] (the loads are the caller's). FF_OK, or FF_ERR_DIVERGED when a
 * robot's pose is not finite. Never allocates. */
ff_status ff_plant_read(ff_plant *plant, uint64_t k, ff_loop_in *in, ff_truth *truth);
/* The same of the cycle read last, in place: one entry per satellite. */
const ff_wrench_in *ff_plant_sensors(const ff_plant *plant);
const ff_truth *ff_plant_truth(const ff_plant *plant);
const ff_sample_joints *ff_plant_joints(const ff_plant *plant); /* NULL: there is no arm */

/* `in` and `truth` may be NULL; only the entries of the scenario's satellites and contacts are filled. The
 * same k may be read again and gives the same values; an older one is FF_ERR_ARGUMENT. Cycles left out are
 * made up for: a robot without a new command stands at its last one. */

/* A method that predicts was already running before t = 0: the commands issued then were `lead` [s] ahead of
 * the initial motion (default 0: "before t = 0 the robot has moved with the initial twist", one delay late).
 * Resets the plant; kept over later resets. */
void ff_plant_set_lead(ff_plant *plant, int body, double lead);
/* A hand on the mock-up: a wrench about the CoM in body axes that the sensor feels from the next read on,
 * beside the contacts'. No truth contains it. Gone after a reset. */
void ff_plant_push(ff_plant *plant, int body, ff_wrench push_b);

#endif
