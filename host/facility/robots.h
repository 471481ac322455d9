/* facility/robots.h - virtual robots: commands in, the true motion of the carried body out. */
#ifndef FF_FACILITY_ROBOTS_H
#define FF_FACILITY_ROBOTS_H

#include "scenario/scenario.h"
#include "text/keep.h"

/* x' = A x of y'' + 2 z w y' + w^2 y = 0 over one cycle: [y, y'] -> phi [y, y']. */
typedef struct ff_robot_lag {
    double w, z; /* [rad/s], ratio */
    double phi[2][2];
} ff_robot_lag;

/* [lange, (7), (10)] motors follow their set points; behind the gears the axes yield to the contact. */
typedef struct ff_robot_joints {
    ff_arm_model arm;
    ff_arm_joints motor, before; /* theta at this cycle and at the one before */
    double q[6], rate[6];        /* [rad], [rad/s] axes */
    double free[6];              /* [rad/s] before the contact's impulse at the end of the substep */
    double J[6][7];              /* of the body's motion at q, */
    ff_pose T;                   /* and where that puts it */
    ff_wrench contact_b;         /* on the body, about its CoM; of the last substep */
} ff_robot_joints;

/* The posture that their inverse begins from. */
extern const ff_arm_joints ff_robot_upright;

/* Substeps of a cycle in which contact and gears are solved together, at least. */
enum { FF_ROBOT_SUBSTEPS = 16 };

typedef struct ff_robot {
    ff_robot_config config;
    double cycle;
    uint64_t whole; /* delay = (whole + part) cycles, 0 <= part < 1 */
    double part;
    uint64_t whole_now; /* and that of the cycle at hand, where it scatters */
    double part_now;
    uint64_t seed, stream;
    ff_rng rng, losses, readings;
    uint64_t drawn;    /* commands whose loss has been drawn */
    bool lost_now;     /* the last of them */
    double lead;       /* [s] how far ahead the commands before t = 0 were issued */
    ff_setpoint start; /* the initial motion at t = 0 */
    ff_robot_lag lag;
    ff_limiter_config limits;

    ff_setpoint *ring; /* command k lies at ring[k & mask] */
    uint64_t mask;
    uint64_t written; /* commands 0 .. written-1 have been issued */

    ff_limiter_state follower; /* limited: motion in the base's axes */
    ff_setpoint target;        /* delayed command of the last cycle */
    ff_setpoint now;           /* true motion of the last cycle */
    ff_setpoint last;          /* and of the one before */
    ff_setpoint measured;      /* what the encoders say: `now`, but for elastic gears */
    ff_robot_joints joints;
    /* wrench: body axes, about the carried body's origin */
    ff_rigid_model inertia;
    ff_wrench felt;        /* what really acts on it besides its own drive: contact, an arm's reaction */
    ff_wrench reported;    /* what its drive takes that for: the measured one */
    ff_wrench driven;      /* F_c (9), F_s (16): mean wrench of its drive over the last cycle */
    ff_twist acceleration; /* its difference to the cycle before, over T: w' body, v' lab */
} ff_robot;

/* Delays longer than this many cycles are refused: the ring would only cost memory. */
enum { FF_ROBOT_MAX_DELAY = 1 << 20 };

/* Finite, with a unit quaternion. */
bool ff_robot_pose_ok(ff_pose T);
/* FF_ERR_UNSUPPORTED, FF_ERR_ARGUMENT with a sentence, FF_ERR_MEMORY. Allocates the ring. The seed is that of
 * the jitter; a stream of its own for each robot keeps it apart from the sensors' noise. */
ff_status ff_robot_create(ff_robot *robot, const ff_robot_config *config, const ff_rigid_state *start,
                          double cycle, uint64_t seed, int body, char *message, size_t size);
void ff_robot_free(ff_robot *robot);
void ff_robot_reset(ff_robot *robot);
/* Every command is followed a cycle later or more. */
bool ff_robot_late(const ff_robot *robot);
/* Its state (text/keep.h). */
void ff_robot_keep(ff_robot *robot, ff_keeper *keeper);
void ff_robot_write(ff_robot *robot, uint64_t k, const ff_setpoint *command);
/* wrench: what acts on the robot during the next step, and what its drive takes it for. */
void ff_robot_push(ff_robot *robot, ff_wrench felt, ff_wrench reported);
/* Advances from cycle k-1 to k. */
void ff_robot_step(ff_robot *robot, uint64_t k);
/* joints: parts `from` to `to` of the cycle that ff_robot_step began, half of the contact's impulse at the
 * beginning; then, once the contact at the end is known (it may depend on the other half: more than once),
 * that. */
void ff_robot_substep(ff_robot *robot, double from, double to);
void ff_robot_meet(ff_robot *robot, ff_wrench contact_b, double from, double to);
/* [1/kg] How a point of the body (body axes) answers an impulse in its freest direction, at most; zero where
 * the axes do not yield. */
double ff_robot_mobility(const ff_robot *robot, ff_vec3 point);
/* True motion after this part of the cycle: of a robot of any kind. */
ff_setpoint ff_robot_between(const ff_robot *robot, double part);

#endif
