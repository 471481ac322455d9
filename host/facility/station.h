/* facility/station.h - the boundary between devices and everything that is computed from them: all devices of
 * a run behind one interface with one pacing clock. The virtual facility (facility/virtual.h) and a recorded
 * log (record/replay.h) are stations; the executive is the only caller.
 *
 * What happens after a sample is a deterministic function of the samples and the orders between them: a log
 * that holds both can be repeated bit for bit.
 *
 * Cycle k: offer(k), wait() -> the sample of t_k, write(k). */
#ifndef FF_FACILITY_STATION_H
#define FF_FACILITY_STATION_H

#include "scenario/scenario.h"

/* What the devices of one body report at t_k. */
typedef struct ff_sample_body {
    ff_wrench_in sensor; /* raw reading with its age; measured pose, twist and acceleration of the robot, in
                            the frame it is commanded in */
    ff_pose sent;        /* what the robot was last sent, in the same frame; where limits act */
    bool rests;          /* and that does not change any more; where limits act */
} ff_sample_body;

/* What the arm of a body with one reports at t_k: its reading of the wrench is the gripper's, gripper axes.
 */
typedef struct ff_sample_joints {
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX]; /* [rad], [rad/s] measured */
    bool closed;                                          /* the gripper holds the client */
} ff_sample_joints;

typedef struct ff_sample {
    uint64_t k;                         /* cycle it belongs to */
    ff_sample_body body[FF_MAX_BODIES]; /* those of the scenario's satellites are filled */
    ff_sample_joints joints;            /* where the scenario has an arm */
} ff_sample;

/* What the arm is to do from t_k on. */
typedef struct ff_arm_order {
    bool holds;                        /* its brakes: the joints stay where they are; else: */
    double torque[FF_TREE_JOINTS_MAX]; /* [N m] of the on-board software, as it would act in orbit */
} ff_arm_order;

/* Of the arm on the ground. */
typedef struct ff_truth_arm {
    ff_wrench port;                   /* contact wrench on the gripper, gripper axes */
    double port_power;                /* [W] of it, on the gripper's motion against the client */
    double motor[FF_TREE_JOINTS_MAX]; /* [N m] of its motors, (22), within their limits */
    bool saturated;                   /* a motor's limit acted since the sample before */
} ff_truth_arm;

/* What is really there at t_k, for logs and metrics only: no method may see it. */
typedef struct ff_truth {
    ff_setpoint robot[FF_MAX_BODIES];    /* true pose and velocity of the carried body, as commanded */
    ff_setpoint inertial[FF_MAX_BODIES]; /* the same in the inertial frame: robot, unless frame relative */
    ff_wrench contact_b[FF_MAX_BODIES];  /* true contact wrench about the CoM, robot's body axes */
    ff_vec3 force[FF_MAX_CONTACTS];      /* [N] force of each contact on its `body`, inertial (stops: sum) */
    ff_wrench wrench[FF_MAX_CONTACTS];   /* its wrench on `body` about the CoM, body axes */
    bool touching[FF_MAX_CONTACTS];      /* the contact's wrench is not zero; a gripper: it is closed */
    ff_wrench drive[FF_MAX_BODIES];      /* wrench robots: of their drives over the cycle before, body axes */
    ff_truth_arm arm;                    /* where the scenario has one */
} ff_truth;

/* Arrays hold one entry per satellite of the scenario. No call but open and close allocates. */
typedef struct ff_station {
    void *self;
    bool recorded; /* the run is over already: its limits have acted */
    /* lead [s]: by how much the method's commands are ahead of the motion. FF_OK, or a negative status with a
     * sentence in message. */
    ff_status (*open)(void *self, const double *lead, char *message, size_t size);
    /* What will be commanded at t_k unless `write` refines it, and the nominal motion at t_k (frame relative;
     * the inertial frame itself otherwise). led: bit i is set where body i is led to next[i]; any other is
     * brought to rest. */
    void (*offer)(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal);
    /* The sample of the cycle that was offered: computes it, or reads it from a log. FF_OK; FF_ERR_DIVERGED:
     * a robot's pose is not finite; FF_ERR_FORMAT: a log without it. */
    ff_status (*wait)(void *self, ff_sample *sample);
    /* The command of t_k, the contact wrench that the loop measured (about the CoM, robot's body axes), and
     * the arm's order, where the scenario has an arm. */
    void (*write)(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *arm);
    /* Of the sample waited for last; NULL: nobody knows. */
    const ff_truth *(*truth)(const void *self);
    void (*close)(void *self);
} ff_station;

#endif
