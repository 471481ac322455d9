/* safety/safety.h - limits: what a sample is judged by, what ends a run, and how a robot comes to rest. Pure
 * functions: no socket, no clock, no thread. This is never the safety function of the cell: that is the robot
 * controller's and the emergency stop's (docs/safety.md). */
#ifndef FF_SAFETY_SAFETY_H
#define FF_SAFETY_SAFETY_H

#include "scenario/scenario.h"

/* X(name, unit, text): one list feeds the enum and the names. */
/* clang-format off */
#define FF_TRIPS(X) \
    X(NONE, "", "nothing", "") \
    X(OPERATOR, "", "the operator asked for the end", "") \
    X(FINISHED, "", "the run has come to its end", "") \
    X(BOX, "m", "the body would come to rest outside its box", "slow the motion, or start farther from that side") \
    X(JOINT, "deg", "a joint would leave its range", "choose another start, tool or base") \
    X(REACH, "m", "the arm cannot reach the pose", "bring the start closer to the robot's base") \
    X(ROTATION, "deg", "a Cartesian correction turns too far", "turn less, or use channel axes") \
    X(VELOCITY, "m/s", "the robot is too fast", "see what accelerated the satellite, or start slower") \
    X(ANGULAR_VELOCITY, "rad/s", "the robot turns too fast", "see what accelerated the satellite, or start slower") \
    X(ACCELERATION, "m/s2", "the command accelerates too much", "see the force and the contact's stiffness, or start slower") \
    X(ANGULAR_ACCELERATION, "rad/s2", "the command's rotation accelerates too much", "see the torque and its lever, or start slower") \
    X(JERK, "m/s3", "the command jerks too much", "see the force and the contact's stiffness, or start slower") \
    X(FORCE, "N", "the contact force is too large", "compare the contact's stiffness with the scenario, or start slower") \
    X(TORQUE, "N m", "the contact torque is too large", "see where the contact touches, or start slower") \
    X(SPIKE, "N", "the force jumped within one cycle", "see the sensor, its cable and what struck the mock-up") \
    X(ENERGY, "J", "the contact has given too much energy", "compare delay and stiffness with the scenario, or change the method") \
    X(TRACKING, "m", "the robot does not follow its command", "see its drives, override and what else moves it") \
    X(AGE, "s", "the sensor's sample is too old", "see its power, its cable and who else reads it") \
    X(RANGE, "", "the sensor is saturated", "see what presses on it") \
    X(FROZEN, "records", "the sensor repeats itself", "switch it off and on, then check again") \
    X(SENSOR, "", "the sensor reports a fault", "see its status word and its cable") \
    X(NOT_FINITE, "", "a measured value is not finite", "see the device that sent it, then check again") \
    X(MISSED, "cycles", "too many cycles in a row without a telegram", "see the network") \
    X(SILENT, "s", "the robot has fallen silent", "see its controller's messages and the network") \
    X(CLIPPED, "mm or deg", "the controller clips the correction", "see the limits of its program") \
    X(DIVERGED, "m/s", "the loop's motion diverged", "compare delay and stiffness with the scenario, or change the method") \
    X(RECORDER, "rows", "the recorder cannot keep up or its disk is full", "free the disk, or record less") \
    X(START, "mm or deg", "the robot does not stand where the run begins", "bring it there, then check again") \
    X(KINEMATICS, "mm or deg", "the axes and the tool pose do not agree", "compare tool and base on the controller with the scenario") \
    X(STANDSTILL, "mm", "the robot moves before motion is commanded", "see what moves it, then check again") \
    X(BIAS, "N", "the sensor's reading at rest is too large or too noisy", "see what touches the mock-up, and the sensor's cable") \
    X(NO_GO, "", "this delay, contact and speed are not safe together", "shorten the delay, soften the contact or start slower") \
    X(PUSH, "", "the sensor's axes are not as the scenario says", "see its mount, its cable and the keys of sensor") \
    X(WEIGHT, "", "the mock-up's weight could not be identified", "see gravity, the mock-up's mass and what touches it") \
    X(ZERO, "N or N m", "the reading at rest has changed since the check", "see what touches the mock-up, then check again") \
    X(DELAY, "cycles", "the robot's delay is not the scenario's", "correct robot.delay, then check again") \
    X(AXIS, "deg/s", "an axis would have to be faster than it can", "start slower, or away from where the arm is stretched") \
    X(RESTART, "cycles", "the controller's program has begun again", "start from the check") \
    X(STANDS, "m or rad", "the robot stands still against a moving command", "see its drives and override") \
    X(LATE, "cycles", "the controller calls our answers late", "see the computer, the network, and whether robot.sentype is its SENTYPE") \
    X(LAG, "m", "the limits keep the robot behind the satellite", "widen them or slow the motion") \
    X(METHOD, "", "the method has failed", "see its settings, or change the method") \
    X(CORRECTION, "mm or deg", "the controller limits corrections otherwise than the scenario says", "write its files anew (facility --controller-files), or correct clip_deg and clip_mm") \
    X(CONTROLLER, "", "the controller does not move its robot any more", "see its pendant") \
    X(ORIGIN, "", "the controller's telegrams do not say where its corrections count from", "let them carry RSol or ASPos, or use relative corrections")
/* clang-format on */

typedef enum ff_trip_code {
#define FF_TRIP_ENUM(name, unit, text, act) FF_TRIP_##name,
    FF_TRIPS(FF_TRIP_ENUM)
#undef FF_TRIP_ENUM
        FF_TRIP_CODES
} ff_trip_code;

const char *ff_trip_name(ff_trip_code code); /* "BOX" */
const char *ff_trip_unit(ff_trip_code code);
const char *ff_trip_text(ff_trip_code code); /* the cause, a sentence */
const char *ff_trip_act(ff_trip_code code);  /* what to do about it; "": nothing */

typedef struct ff_trip {
    ff_trip_code code;
    int body;
    double value, limit;
    int axis;         /* of the arm, 1..6; 0: none is meant */
    ff_status status; /* DIVERGED, METHOD: of the step that failed; else FF_OK */
    const char *of;   /* name of the method, of the controller's signal; NULL: none is meant */
    const char *act;  /* what to do about that signal, which is then the whole cause; NULL: as of the code */
} ff_trip;

enum { FF_TRIP_SENTENCE = 320 }; /* room for any sentence, but for names beyond 40 letters: they are cut */

/* "FORCE: the contact force is too large (81.2, allowed 60 N), satellite client: compare ...". `satellite` is
 * the name of trip->body's, NULL: not named; nor is it where the cause is not one body's. */
void ff_trip_sentence(const ff_trip *trip, const char *satellite, char *text, size_t size);
/* A step of the loop that failed, status < 0: DIVERGED with the fastest satellite's speed before it, or, if
 * the method says so, METHOD with its status. `method` is its name, lent. */
ff_trip ff_trip_of_step(ff_status status, const ff_loop_state *state, int bodies, const char *method);

typedef struct ff_safety_config {
    int bodies;
    double cycle;                    /* [s] */
    double delay[FF_MAX_BODIES];     /* [s] from command to motion */
    double contact[FF_MAX_BODIES];   /* [N] a larger force is a contact */
    double stiffness[FF_MAX_BODIES]; /* [N/m] of what is touched, for the retreat; 0: unknown, no retreat */
    double grasp[FF_MAX_BODIES];     /* [s] from then on a grasp may be closed; FF_INF: there is none */
    ff_vec3 origin[FF_MAX_BODIES];   /* [m] centre of the box */
    double lag[FF_MAX_BODIES];       /* [m] by which what is sent may be behind the command */
    double settle[FF_MAX_BODIES];    /* [s] for which a robot at rest is seen not to move */
    double swing[FF_MAX_BODIES]; /* [s2] by swing times a stop's deceleration the robot passes its command */
    double latency[FF_MAX_BODIES];   /* [s] of the sensor: a new record is so old */
    double stop_jerk[FF_MAX_BODIES]; /* [m/s3] with which a stop begins; FF_INF: at once */
    ff_safety_limits limits[FF_MAX_BODIES];
    /* `limits` of the scenario, which the output stage keeps: a command that they reduce anyway does not
     * break a limit of `safety` that is wider */
    ff_limiter_config bounded[FF_MAX_BODIES];
} ff_safety_config;

/* From the scenario: delays, softest contact, limits; `noise` is the measured force noise [N]. */
void ff_safety_configure(const ff_scenario *scenario, const double *noise, ff_safety_config *config);
/* A stop brakes as this body's output stage does: where it comes to rest is judged by these values. */
void ff_safety_set_braking(ff_safety_config *config, int body, const ff_output_config *output);
/* What this body's output stage keeps it in. */
void ff_safety_set_box(const ff_safety_config *config, int body, ff_output_config *output);

enum {
    FF_SAFETY_SAME = 24, /* [records] a noisy sensor's six counts do not repeat for longer */
    FF_SAFETY_APART = 9, /* [cycles] off its command before the correction counts as clipped */
};

/* [s] without a telegram until a robot counts as silent, unless the run's options say otherwise. */
#define FF_SAFETY_SILENCE 0.1

typedef struct ff_safety_body_in {
    ff_setpoint measured;
    ff_setpoint command; /* of the last cycle: what the output stage is asked for */
    ff_wrench f_b;       /* contact wrench, robot's body axes */
    bool force_valid;    /* a fresh, healthy sample is behind it */
    ff_trip_code sensor; /* NONE, or what is wrong: AGE RANGE FROZEN SENSOR NOT_FINITE */
    double sensor_value; /* with its value */
    double sensor_limit; /* and what is allowed */
    double age;          /* [s] of the sample, with the sensor's own latency */
    ff_vec3 rest;        /* [m] where a stop would end after what the robot was to be sent */
    double energy;       /* [J] given by the port since the start */
    double tracking;     /* [m] from the nearest recent command */
    double lag;          /* [m] of what is sent behind the command */
    bool boxed;          /* its box is what holds it back */
    bool clipped;
    double clipped_by, clipped_limit; /* [mm or deg] */
    double jump;    /* [N] of a record since the last sample, off this one's and the last one's */
    double same;    /* [records] in a row equal to the last, of a sensor that was seen to be noisy */
    double apart;   /* [cycles] in a row that the robot is off all its recent commands */
    double joint;   /* the commanded joint nearest to an end of its range: 0 in the middle, 1 at the end */
    double silence; /* [s] without a telegram before this one */
} ff_safety_body_in;

typedef struct ff_safety_in {
    ff_safety_body_in body[FF_MAX_BODIES];
    double missed; /* [cycles] in a row without a telegram before this one */
    double filled; /* [cycles] of the loop between the sample before and this one, which nobody judged */
} ff_safety_in;

/* [s] from the sample before to this one. */
static inline double ff_safety_between(const ff_safety_config *config, const ff_safety_in *in) {
    return (1.0 + in->filled) * config->cycle;
}

/* What differences from cycle to cycle need. Zero before the first. */
typedef struct ff_safety_memory {
    ff_vec3 force_last[FF_MAX_BODIES];
    ff_twist twist_last[FF_MAX_BODIES];
    ff_vec3 acceleration_last[FF_MAX_BODIES];
    double between_last;         /* [s] of which those accelerations are the means */
    int seen;                    /* cycles of motion, up to 3: differences need neighbours */
    bool touched[FF_MAX_BODIES]; /* by the last valid force */
} ff_safety_memory;

/* [m/s3] from two neighbouring means of the acceleration: they are apart by half of the time of each. */
static inline double ff_safety_jerk(const ff_safety_memory *memory, int body, ff_vec3 acceleration,
                                    double between) {
    return ff_vec3_norm(ff_vec3_sub(acceleration, memory->acceleration_last[body])) /
           (0.5 * (between + memory->between_last));
}

/* The first limit that a sample of a moving robot breaks, most telling first; NONE: none. */
ff_trip ff_safety_examine(const ff_safety_config *config, const ff_safety_memory *memory,
                          const ff_safety_in *in);
/* The same of a robot that comes to rest or stands: what its devices report, how fast and where it is
 * measured, and, once there is a zero, what presses on it. What the stop itself does (its deceleration, where
 * it ends, the jump of a force that lets go: memory->seen is 0 until it is over) is not a reason to trip. */
ff_trip ff_safety_examine_at_rest(const ff_safety_config *config, const ff_safety_memory *memory,
                                  const ff_safety_in *in, bool zeroed);
/* After a cycle of motion, or of rest after a stop. */
void ff_safety_remember(const ff_safety_config *config, ff_safety_memory *memory, const ff_safety_in *in);
/* Does any body touch something? A cycle without a valid force says nothing new: what was touched still
 * counts as touched. */
bool ff_safety_touching(const ff_safety_config *config, ff_safety_memory *memory, const ff_safety_in *in);

/* ------------------------------------------------------------------------------------------------- stop --
 */

/* A controlled stop of one body. The output stage brings the robot to rest; then, once the robot has come
 * after its command, if the last valid force says contact, the body retreats along it, up to 10 mm/s with
 * half the stop's acceleration and as slowly to its end, until the force is gone, also at rest: by at most
 * force/stiffness + 1 mm and 5 mm, not out of its box, and not where the force grows. Without a valid force
 * or stiffness, or in a grasp, it holds. At rest is a robot whose command does not change, for a delay and
 * three cycles, and whose measured pose has not for `settle`: longer than one that lags takes to turn. */
typedef enum ff_stop_why {
    FF_STOP_FREE,         /* nothing pushes */
    FF_STOP_RETREATED,    /* out of the contact */
    FF_STOP_NO_FORCE,     /* no valid force: nobody knows where to go */
    FF_STOP_NO_STIFFNESS, /* or how far */
    FF_STOP_GRASPED,      /* a closed grasp is not pulled at */
    FF_STOP_STILL_PUSHED, /* retreated as far as it may: what is touched is softer than the scenario says */
    FF_STOP_HELD,         /* it does not follow its retreat: its drives or brakes hold it */
    FF_STOP_UNFINISHED    /* not at rest after FF_STOP_LONGEST */
} ff_stop_why;

#define FF_STOP_LONGEST 60.0 /* [s] */

const char *ff_stop_text(ff_stop_why why); /* what the stop came to, a sentence */
bool ff_stop_ended_well(ff_stop_why why);  /* it is at rest, and known to touch nothing */

typedef struct ff_stop_state {
    bool started, retreats, done;
    bool grasped;    /* set by the caller: hold */
    bool distrusted; /* set by the caller: the sensor is why the run ended, no record is waited for */
    bool held;       /* set by the caller: the robot does not follow its retreat, there is no other */
    ff_stop_why why; /* once done */
    bool goes;       /* in this cycle: `target` is where to; else the robot shall come to rest or stand */
    ff_setpoint target;
    ff_vec3 normal;       /* out of the contact, inertial */
    double left;          /* [m] of the retreat */
    ff_limiter_axis pace; /* of its target: velocity, acceleration */
    double step;          /* [m] that it was last led by */
    ff_vec3 at;           /* where the robot was sent before that */
    double push;          /* [N] when it began */
    unsigned rested;      /* [cycles] that the command is at rest */
    unsigned still;       /* [cycles] that the robot itself is: within 2 um and 20 urad of `stands` */
    ff_pose stands;       /* measured when it began to be */
    double taken;         /* [s] since the stop began */
    double retreated;     /* [s] since the retreat began */
    double waited;        /* [s] at rest for a valid record */
    unsigned blind;       /* [cycles] since the last one */
} ff_stop_state;

typedef struct ff_stop_in {
    ff_pose at;       /* what the robot was last sent */
    bool rests;       /* and it does not change any more */
    ff_vec3 force;    /* [N] inertial, last valid */
    bool force_valid; /* in this cycle, from a sensor that is trusted */
    ff_pose measured; /* where the robot is; not finite: nobody knows */
} ff_stop_in;

void ff_stop_start(ff_stop_state *state);
void ff_stop_step(const ff_safety_config *config, int body, ff_stop_state *state, const ff_stop_in *in);
/* The sensor itself is why the run ended: its force leads nowhere. */
bool ff_trip_by_sensor(ff_trip_code code);

/* Where a body that moves as it is measured will stand if it is stopped now [m]: v delay further, and the
 * path of a stop with the output stage's deceleration and jerk along v (ff_limiter_stop_path), and by what a
 * robot that lags swings beyond it. */
ff_vec3 ff_stop_point(const ff_safety_config *config, int body, const ff_setpoint *measured);
/* How far from the centre of its box a stop would bring this body, by its measured motion or by what it was
 * to be sent, the larger [m] on each axis. */
ff_vec3 ff_safety_farthest(const ff_safety_config *config, int body, const ff_safety_body_in *in);

/* ------------------------------------------------------------------------------------------- go / no-go --
 */

/* Of the contacts that the scenario names with this body, each worst value: against a wall its own mass,
 * against another satellite the reduced one, an arm's links counted. */
typedef struct ff_forecast {
    double frequency;   /* [rad/s] sqrt(k/m) */
    double delay;       /* [s] robot, sensor and one cycle; the slower of a pair */
    double w_tau, most; /* contact frequency times delay, and its bound */
    /* [N] predicted peak: v sqrt(k m), grown by the delay: exp(w tau); v the relative velocity of the start,
     * and what the spin of both adds at the point of contact at most. No less than v times the damping. */
    double force;
} ff_forecast;

/* known_delay [s] of this body's robot, as identified; FF_NAN: the scenario's. docs/safety.md gives the
 * bounds. */
void ff_safety_forecast(const ff_scenario *scenario, int body, double known_delay, ff_forecast *forecast);

#endif
