/* monitor/monitor.h - an independent watch over what one robot is sent: freefloat guard.
 *
 * A relay between a KUKA controller (RSI) and the loop. It knows limits and geometry, nothing of satellites,
 * methods or states, and shares no code with the loop but lib/base: telegrams, kinematics and the stop are
 * its own. An answer that keeps the limits passes unchanged. When one does not, or none comes in time, the
 * monitor answers in the loop's place from then on: it brings the robot to rest, holds it and ends RSI. That
 * is latched.
 *
 * ff_monitor_* decide and compute, without clocks or sockets; ff_relay_run has both. */
#ifndef FF_MONITOR_H
#define FF_MONITOR_H

#include "freefloat/base.h"

#define FF_MONITOR_SIZE 2048 /* [bytes] longest telegram */

typedef struct ff_monitor_config {
    double cycle;  /* [s] of the controller */
    bool axes;     /* corrections of the axes (AK); else of the tool (RKorr) */
    bool relative; /* each is what to add, and nothing is added without one; else they are totals */
    /* An arm with a spherical wrist: lengths [m] as a data sheet has them, all axes in KUKA's senses. */
    double d1, a1, a2, d4, a3, d6;
    double lower[6], upper[6], speed[6]; /* [rad], [rad], [rad/s] */
    ff_pose base, tool;                  /* world to base, flange to tool */
    double misfit; /* [m] by which the telegram's RIst may differ from the geometry's tool */
    /* What no answer passes, at the tool: [m/s] [m/s2] [m/s3], [rad/s] [rad/s2] [rad/s3]. All positive. */
    double velocity, acceleration, jerk;
    double angular_velocity, angular_acceleration, angular_jerk;
    ff_vec3 centre, box; /* [m] a box in world axes: its middle and half widths; FF_INF: none */
    /* How it stops; the limits above bound it, too. */
    double stop_acceleration, stop_angular_acceleration;
} ff_monitor_config;

typedef enum ff_monitor_cause {
    FF_MONITOR_FINE,
    FF_MONITOR_SILENT,    /* no answer in time */
    FF_MONITOR_MALFORMED, /* an answer that is not one, or corrects by another channel */
    FF_MONITOR_VELOCITY,
    FF_MONITOR_ACCELERATION,
    FF_MONITOR_ANGULAR_VELOCITY,
    FF_MONITOR_ANGULAR_ACCELERATION,
    FF_MONITOR_BOX,   /* where a stop would end, or where the robot is */
    FF_MONITOR_RANGE, /* of an axis [deg] */
    FF_MONITOR_SPEED, /* of an axis [deg/s] */
    FF_MONITOR_GEOMETRY,
    FF_MONITOR_ROBOT,   /* the robot itself is faster than its velocity limit */
    FF_MONITOR_RESTART, /* the controller's corrections count from another origin: it is not answered any more
                         */
    FF_MONITOR_ENDED,   /* the monitor itself was asked to end */
    FF_MONITOR_CAUSES
} ff_monitor_cause;

extern const char *const ff_monitor_names[FF_MONITOR_CAUSES];

/* What the robot is sent in one cycle, and the motion that makes. */
typedef struct ff_monitor_sent {
    double total[6];  /* [rad], or [m] and [rad]: correction since RSI began */
    ff_pose tool;     /* world */
    ff_vec3 v, w;     /* [m/s], [rad/s] over the cycle, world */
    double rate[6];   /* of `total` [1/s] */
    double change[6]; /* of `rate` [1/s2] */
    ff_vec3 a, b;     /* [m/s2], [rad/s2] */
} ff_monitor_sent;

typedef struct ff_monitor {
    ff_monitor_config config;
    ff_monitor_cause cause; /* latched */
    int axis;               /* RANGE, SPEED: 1 to 6 */
    double value, limit;    /* in the units of the cause */
    bool begun;             /* a telegram has come */
    bool moves;             /* an answer has been relayed: from now on silence counts */
    bool answered;          /* the running cycle is */
    bool ended;             /* the loop, or the stop, has ended RSI */
    uint64_t ipoc, step, delay;
    double set[2][6]; /* RSol and ASPos of the first telegram, where it had them */
    bool has_set[2];
    double origin[6]; /* [rad]: AIPos of the first telegram; or pose of its RIst as X Y Z [m] A B C [rad] */
    ff_pose first;    /* tool at the first telegram, world */
    ff_pose seen;     /* tool at the last telegram */
    ff_monitor_sent accepted, pending;
    ff_monitor_sent brake; /* where the stop began */
    uint64_t braking;      /* [cycles] since then */
    double ease, fall;     /* [s] its two phases */
    uint64_t telegrams, relayed, withheld, own;
} ff_monitor;

/* FF_ERR_ARGUMENT, FF_ERR_NOT_FINITE: the configuration. */
ff_status ff_monitor_create(ff_monitor *monitor, const ff_monitor_config *config);
/* A telegram of the controller begins the next cycle. False: it is not one, or an old one. */
bool ff_monitor_telegram(ff_monitor *monitor, const char *bytes, size_t size);
/* The loop's answer: true to relay it. False: it is for another cycle, or it is withheld: then `cause` is
 * set. */
bool ff_monitor_answer(ff_monitor *monitor, const char *bytes, size_t size);
/* No answer came in time; the monitor is to end. */
void ff_monitor_silence(ff_monitor *monitor);
void ff_monitor_end(ff_monitor *monitor);
/* Once `cause` is set: the answer to the running cycle in the loop's place; 0: none is to be sent. */
size_t ff_monitor_stop(ff_monitor *monitor, char *buffer, size_t size);
/* The cause with value, limit and what to do, a sentence. */
void ff_monitor_text(const ff_monitor *monitor, char *text, size_t size);

/* ------------------------------------------------------------------------------------------------ relay --
 */

typedef struct ff_relay_options {
    const char *listen;       /* where the controller sends to, "ADDRESS:PORT" */
    const char *loop;         /* where the loop listens, "ADDRESS:PORT" */
    double patience;          /* [s] after a telegram within which the answer must come */
    double idle;              /* [s] without telegrams after which a session is over */
    bool once;                /* return after the first session */
    const volatile int *stop; /* not zero: return; the robot is brought to rest first */
    void (*note)(void *user, const char *line);
    void *user;
} ff_relay_options;

/* Relays until it is stopped. FF_OK; FF_ERR_ARGUMENT, FF_ERR_DEVICE with a sentence (an address, a port that
 * is taken); FF_INFO_LIMITED: it has stopped a robot. */
ff_status ff_relay_run(ff_monitor *monitor, const ff_relay_options *options, char *message, size_t size);

#endif
