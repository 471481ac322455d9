/* facility/station.h - the boundary between devices and everything that is computed from them: all devices of
 * a run behind one interface with one pacing clock. The virtual facility (facility/virtual.h), devices on the
 * network (network/network.h) and a recorded log (record/station.h) are stations; the executive is the only
 * caller.
 *
 * What happens after a sample is a deterministic function of the samples and the orders between them: a log
 * that holds both can be repeated bit for bit.
 *
 * Cycle k: offer(k), wait() -> the sample of t_k, write(k). */
#ifndef FF_FACILITY_STATION_H
#define FF_FACILITY_STATION_H

#include "safety/safety.h"

/* What only devices report of one body. */
typedef struct ff_sample_device {
    bool reached; /* the robot still takes answers: it is not silent, its program has not begun again */
    bool moved;   /* it was commanded to move since it was first heard */
    bool stands;  /* against a command that moves */
    ff_arm_joints joints; /* measured */
    double tracking;      /* [m] from the nearest of its recent commands */
    double joint; /* the commanded joint nearest to an end of its range: 0 in the middle, 1 at the end */
    double apart; /* [cycles] in a row that the robot is off all its recent commands */
    bool clipped; /* for too long; [mm or deg] by how much, and the limit */
    double clipped_by, clipped_limit;
    double silence; /* [s] without a telegram, before the newest or until now */
    bool given_up;  /* the sensor does not answer */
    /* of all its records since the last sample, the newest of which is the reading */
    ff_status health; /* of the worst: FF_OK, FF_INFO_SATURATED, FF_INFO_HELD (frozen), negative */
    double word;      /* and its status word */
    double most_force, most_torque; /* [N], [N m] largest component of any */
    double jump;          /* [N] by which one is off both the newest and the one of the last sample */
    double repeats;       /* records in a row with the same values */
    double force, torque; /* [N], [N m] of one count */
    /* the controller's clock as fitted to ours */
    bool has_clock;
    double drift;         /* its seconds over ours, minus 1 */
    double offset;        /* [s] our time minus its own at its newest telegram */
    double residual, rms; /* [s] of the newest telegram's arrival, + late; of all */
} ff_sample_device;

/* What the devices of one body report at t_k. */
typedef struct ff_sample_body {
    ff_wrench_in sensor; /* raw reading with its age; measured pose, twist and acceleration of the robot, in
                            the frame it is commanded in */
    ff_sent sent;        /* what the robot was really sent in the cycle before, in the same frame */
    ff_sent next;        /* what it is sent at t_k, unless `write` refines it */
    bool rests;          /* and that does not change any more */
    ff_vec3 rest;        /* [m] where a stop would end after what it was to be sent last, same frame */
    bool boxed;          /* that was not sent: its box holds it back */
    ff_sample_device device;
} ff_sample_body;

/* What the arm of a body with one reports at t_k: its reading of the wrench is the gripper's, gripper axes.
 */
typedef struct ff_sample_joints {
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX]; /* [rad], [rad/s] measured */
    bool closed;                                          /* the gripper holds the client */
    double motor[FF_TREE_JOINTS_MAX];                     /* [N m] of its motors, (22), within their limits */
    bool saturated;                                       /* a motor's limit acted since the sample before */
} ff_sample_joints;

typedef struct ff_sample {
    uint64_t k;                         /* cycle it belongs to */
    ff_sample_body body[FF_MAX_BODIES]; /* those of the scenario's satellites are filled */
    ff_sample_joints joints;            /* where the scenario has an arm */
    /* of devices */
    bool speaks;   /* every device has been heard */
    bool silent;   /* the pacing robot is: the last sample of all */
    bool filled;   /* the pacing telegram was lost: interpolated afterwards, nothing can be commanded */
    uint64_t lost; /* pacing telegrams lost since the last sample */
    double missed; /* [cycles] in a row without a telegram before this one, of any robot */
    ff_trip found; /* what the station has found wrong */
    int64_t wake;  /* [ns] when the telegram was read, steady clock */
    double lateness_ns, io_ns; /* of that after its arrival (0: not known), of reading the devices */
} ff_sample;

/* What the arm is to do from t_k on. */
typedef struct ff_arm_order {
    bool holds;                        /* its brakes: the joints stay where they are; else: */
    double torque[FF_TREE_JOINTS_MAX]; /* [N m] of the on-board software, as it would act in orbit */
    bool grips; /* the gripper is to be closed at the next sample, if it is within reach */
} ff_arm_order;

/* Of the arm on the ground. */
typedef struct ff_truth_arm {
    ff_wrench port;    /* contact wrench on the gripper, gripper axes */
    double port_power; /* [W] of it, on the gripper's motion against the client */
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

/* What the bits of `led` say beside the bodies. */
enum {
    FF_LED_AHEAD = 1 << 8 /* where a stop would bring the robots must be within reach */
};

/* Arrays hold one entry per satellite of the scenario. No call but open and close allocates. */
typedef struct ff_station {
    void *self;
    bool recorded; /* the run is over already: its limits have acted */
    bool devices;  /* something real may move: limits always act, and a check comes before the motion */
    /* lead [s]: by how much the method's commands are ahead of the motion. FF_OK, or a negative status with a
     * sentence in message. */
    ff_status (*open)(void *self, const double *lead, char *message, size_t size);
    /* What will be commanded at t_k unless `write` refines it, and the nominal motion at t_k (frame relative;
     * the inertial frame itself otherwise). led: bit i is set where body i is led to next[i]; any other is
     * brought to rest; FF_LED_... */
    void (*offer)(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal);
    /* The sample of the cycle that was offered: computes it, or reads it from a log. FF_OK; FF_ERR_DIVERGED:
     * a robot's pose is not finite; FF_ERR_FORMAT: a log without it; FF_ERR_DEVICE: the pacing robot is
     * silent; FF_ERR_LIMIT: the operator's stop, before any device spoke. */
    ff_status (*wait)(void *self, ff_sample *sample);
    /* The command of t_k, the contact wrench that the loop measured (about the CoM, robot's body axes), and
     * the arm's order, where the scenario has an arm. sent: what the robots are really sent of the command.
     */
    void (*write)(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *arm, ff_sent *sent);
    /* Of the sample waited for last; NULL: nobody knows. */
    const ff_truth *(*truth)(const void *self);
    /* Devices only, NULL elsewhere. range: end of a sensor's range [N], [N m], each axis: the smaller
     * of the scenario's and its own. bound: what each
     * answer keeps from now on. show: a line for the operator at the robot's controller, with its next
     * answer. release: the end; robots that still speak are brought to rest and stopped. */
    void (*range)(const void *self, int body, double *force, double *torque);
    void (*bound)(void *self, int body, const ff_safety_limits *limits, const ff_output_config *output);
    void (*show)(void *self, int body, const char *text);
    void (*tell)(void *self, int state);
    void (*release)(void *self);
    void (*close)(void *self);
} ff_station;

#endif
