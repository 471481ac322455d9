/* network/network.h - devices on the network as a station: robots and sensors behind their tables
 * (devices/device.h), sockets, each device's clock, and the one sender to the robots.
 *
 * The first robot's telegram paces: `wait` returns with it. The others' telegrams come when their own clocks
 * say so; their poses are taken at the pacing robot's time, and they are answered early where that is due.
 * `write` sets each robot's target; what is sent with the answer to each of its telegrams is decided by its
 * output stage (freefloat/output.h) and, behind it, by its axes. From open to close all calls come from one
 * thread, that of the loop, and none of them allocates, locks or prints. */
#ifndef FF_NETWORK_NETWORK_H
#define FF_NETWORK_NETWORK_H

#include "facility/law.h"
#include "facility/plan.h"
#include "facility/station.h"
#include "fit/motion.h"
#include "network/address.h"
#include "network/follow.h"
#include "network/stream.h"

#include <stdatomic.h>

enum {
    FF_NETWORK_TRACK = 512,  /* answers remembered for the tracking error */
    FF_NETWORK_STANDS = 8,   /* cycles over which a robot that stands still is seen */
    FF_NETWORK_SETTLE = 25,  /* telegrams at rest before a robot is commanded to end */
    FF_NETWORK_FILLED = 64,  /* lost cycles that are filled in */
    FF_NETWORK_RECORDS = 100 /* of a sensor, from which its rate is taken */
};

typedef struct ff_network_options {
    double wait;    /* [s] for the devices to speak; 0: 10 */
    double silence; /* [s] without a telegram until a robot counts as silent; 0: FF_SAFETY_SILENCE */
    int loop_cpu;   /* 1 + the CPU of the loop; 0: not known */
    const atomic_bool *stop;
} ff_network_options;

/* Robot and sensor of one body. */
typedef struct ff_network_body {
    int robot_fd, sensor_fd;
    void *robot, *sensor; /* their states */
    ff_stream stream;     /* of a robot that is one */
    ff_stream sensor_stream;
    ff_link link, sensor_link; /* of devices on topics; their sockets are the two above */

    /* the robot */
    bool known; /* its address */
    struct sockaddr_in peer;
    ff_robot_report report;   /* newest */
    ff_pose first;            /* of the first telegram, in the robot's base */
    ff_arm_joints axes_first; /* its axes then */
    double turn, axis, shift; /* [rad rad m] largest corrections from there that the device makes: a turn, of
                                 an axis, of a coordinate */
    uint64_t untaken;         /* answers, before the first ones that were */
    bool was_sent, was_taken; /* there was one to the last telegram; the one before seemed to be */
    bool fresh;               /* its telegram waits for an answer */
    bool ended;               /* was commanded to stop */
    ff_trip_code strange; /* why it is not answered any more: its corrections count from another origin, or
                             may, and nothing would show it; FF_TRIP_NONE: it is */
    uint64_t gap;         /* cycles lost before this telegram */
    ff_follow follow;     /* its poses and its controller's clock */
    uint64_t ticks;       /* of that clock since the first telegram [cycles] */
    double arrived;       /* [s] local time of the newest telegram's arrival */
    int64_t taken;        /* [ns] when it was read */
    int naps;             /* since then, without a telegram of the pacing robot */
    ff_pose pose;         /* at the last sample */
    ff_twist twist;       /* of the newest telegram, of a robot that reports it */
    ff_motion_state motion;
    ff_setpoint measured;
    ff_twist acceleration;

    /* what it is sent */
    ff_safety_limits limits;
    ff_output_config output_config;
    ff_output_state output; /* decides what is sent */
    ff_output_out out;      /* what was */
    ff_vec3 rest;           /* [m] where a stop would end after it */
    bool beyond;            /* outside the box, since the last sample: it was not sent */
    bool boxed;             /* the same, since its target was last sent */
    ff_axes_state axes;     /* commanded by axes: behind it */
    ff_pose T_ba;           /* the pose by the axes in the one that the controller reports, at standstill */
    const char *text;       /* to the controller's operator with the next answer */
    unsigned signals;       /* that its controller's first telegrams carried, with what they said */
    unsigned signal[FF_SIGNAL_COUNT];
    uint64_t late;         /* answers that the controller has called late, in a row */
    unsigned standing_for; /* telegrams in a row that show it still against a moving command */
    /* what it has accepted and where it was then, one of each a cycle */
    ff_pose track[FF_NETWORK_TRACK], seen[FF_NETWORK_TRACK];
    uint64_t tracked;
    unsigned window; /* [cycles] of them that it may have come to by now */

    /* the sensor */
    ff_sensor_report record; /* newest */
    bool has_record;
    double force_range, torque_range; /* [N], [N m] each axis */
    struct {                          /* all records since the last sample */
        ff_status health;             /* of the worst one, with its status word */
        uint32_t word;
        double force, torque; /* [N], [N m] largest component */
        ff_vec3 from, far;    /* [N] the newest record before them; the one farthest from it */
    } since;
    uint64_t bad, spiked; /* records that must not be used; farther than `spike` from the last cycle's */
    bool given_up;        /* it does not answer */
    unsigned aged;        /* [cycles] since the last record, or that it waited to be read */
    double record_at;     /* [s] local time of the newest record's arrival */
    struct {
        ff_clockfit_state fit;
        uint64_t count, records; /* its own count since the first record, and the number of records */
        uint32_t last;
        double first, tick; /* [s] arrival of the first; period of its count, 0: not known yet */
    } ft;
} ff_network_body;

/* The servicer's arm. */
typedef struct ff_network_arm {
    int fd, body; /* its socket, -1: there is none; the servicer */
    void *device; /* its state */
    ff_joint_limits limits;
    ff_arm_law law;
    ff_arm_order order; /* newest */
    bool released;      /* torques were sent */
    bool known, ended,
        strange; /* its address; was commanded to stop; has begun again: not answered any more */
    struct sockaddr_in peer;
    ff_joint_report report; /* newest */
    bool fresh;             /* it waits for an answer */
    bool sampled;           /* one is in a sample: */
    double at;              /* [s] by its own clock, the newest one that is */
    double arrived;         /* [s] local time of the newest telegram */
    int64_t taken;          /* [ns] when it was read */
    int naps;               /* since then */
    bool clipped;           /* a torque was, since the last sample */
} ff_network_arm;

/* Large: not on the stack. */
typedef struct ff_network {
    const ff_scenario *scenario; /* kept, not copied, as the next three */
    ff_plan *plan;               /* where the arms really stand is entered here, at standstill */
    const ff_addresses *address;
    ff_network_options options;
    ff_network_body body[FF_MAX_BODIES];
    ff_network_arm arm;
    ff_rigid_state nominal; /* motion of the running cycle */
    ff_clockfit_config fitting, fitting_sensor;
    int64_t epoch;      /* [ns] of the local time */
    int64_t wake;       /* [ns] when the pacing telegram was read */
    double pace;        /* [s] local time of the running cycle, by the pacing robot's clock */
    double waited;      /* [s] for its newest telegram, or until it counted as silent */
    double virtual_now; /* [s] lock step: arrival of its newest telegram; else NaN */
    double lateness_ns, io_ns;
    uint64_t k;
    unsigned led;       /* last written */
    int state;          /* of the run, as last reported */
    bool speaks;        /* every device has been heard */
    bool heard;         /* one was, before the first telegram: if it is not used, it was refused */
    int64_t asked;      /* [ns] when the first telegram came, until every device speaks */
    bool anchored;      /* the arms' own standstill is known */
    bool silent;        /* the pacing robot is gone */
    ff_trip found;      /* since the last sample */
    uint64_t strangers; /* datagrams from elsewhere */
    struct {
        uint64_t lost, left, of; /* telegrams lost; cycles still to be filled, and all of them + 1 */
        ff_pose from[FF_MAX_BODIES], to[FF_MAX_BODIES];
    } fill;
} ff_network;

/* A station that is not open yet; all arguments must outlive it. */
ff_station ff_network_station(ff_network *self, const ff_scenario *scenario, ff_plan *plan,
                              const ff_addresses *address, const ff_network_options *options);
/* The controller's clock of a body is fitted. */
bool ff_network_clock_known(const ff_network *network, int body);

#endif
