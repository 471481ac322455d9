/* devices/device.h - a device as the network station sees it: one constant table for each protocol. No
 * socket, no clock, no allocation: the caller owns the state, receives and sends the datagrams.
 *
 * A robot paces: it sends one telegram a cycle, each of which gets one answer. A sensor sends records of its
 * own accord once it was asked to; what it must be sent is asked for once a cycle. An arm is commanded by
 * joint torques at its own faster cycle, telegram by telegram as a robot. docs/devices.md shows how one is
 * added. */
#ifndef FF_DEVICES_DEVICE_H
#define FF_DEVICES_DEVICE_H

#include "freefloat/command.h"
#include "freefloat/dynamics.h"
#include "freefloat/method.h"

typedef enum ff_device_kind { FF_DEVICE_ROBOT, FF_DEVICE_SENSOR, FF_DEVICE_ARM } ff_device_kind;

enum {
    FF_DEVICE_READ_MAX = 2056,  /* [bytes] of a datagram that is looked at; a longer one is malformed */
    FF_DEVICE_SEND_MAX = 1024,  /* [bytes] of one that is sent */
    FF_DEVICE_TEXT_MAX = 4096,  /* [bytes] of a program */
    FF_DEVICE_PAGE_MAX = 16384, /* [bytes] of a configuration page */
    FF_DEVICE_NAME = 128,       /* [bytes] of a topic or a joint */
    FF_DEVICE_WORD = 128        /* [bytes] of a text among the settings, with its end */
};

/* Of an arm: what its joints may do. */
typedef struct ff_joint_limits {
    unsigned joints;
    double torque[FF_TREE_JOINTS_MAX];                           /* [N m] FF_INF: no limit */
    double lower[FF_TREE_JOINTS_MAX], upper[FF_TREE_JOINTS_MAX]; /* [rad] */
    double speed[FF_TREE_JOINTS_MAX];                            /* [rad/s] */
} ff_joint_limits;

/* From the scenario. The first ones are keys there, each of the devices that list it. */
typedef struct ff_device_settings {
    uint64_t port;      /* UDP, of a stream TCP */
    uint64_t page_port; /* TCP, of the page or the program */
    ff_arm_kind arm;    /* robot: kinematics */
    bool own;           /* or one of its own, kept with the satellite */
    bool cartesian;     /* commanded by poses; else by axes */
    bool increments;    /* each command is what to add; else a total */
    bool heartbeat;     /* a counter and the run's state go with each command */
    double lookahead;   /* [s] over which the controller smooths what it is sent; 0: it does not */
    double gain;        /* with which it follows that */
    /* KUKA's RSI; an empty name, a limit of 0: the usual one */
    char sentype[FF_DEVICE_WORD]; /* SENTYPE of the controller's file */
    char axes_tag[FF_DEVICE_WORD], cartesian_tag[FF_DEVICE_WORD], external_tag[FF_DEVICE_WORD],
        stop_tag[FF_DEVICE_WORD];
    bool no_rsol, no_aspos, no_eipos; /* elements that its telegrams lack */
    double clip_deg, clip_mm; /* [deg], [mm] corrections that the controller clips; FF_INF: not known */
    /* a sensor that is described, devices/udp; FF_INF: not there */
    uint64_t listen, size, counter_bytes, status_bytes;
    int number;
    bool little, polled;
    ff_vec3 force_at, torque_at; /* [bytes] */
    double force_scale, torque_scale, counter, status;
    char force_unit[FF_DEVICE_WORD], torque_unit[FF_DEVICE_WORD], mark[FF_DEVICE_WORD],
        request[FF_DEVICE_WORD], farewell[FF_DEVICE_WORD];
    uint64_t domain; /* of ROS 2 */
    bool facility;   /* the virtual facility's driver; else a real robot may be behind it */
    bool reported;   /* its velocities are those it reports; else differences of its positions */
    char states[FF_DEVICE_NAME], command[FF_DEVICE_NAME], topic[FF_DEVICE_NAME]; /* of ROS 2 */
    /* as its driver calls them, in the order of the arm's axes; the seventh empty: there are six */
    char joints[FF_ARM_AXES][FF_DEVICE_NAME];
    /* what follows from the rest of the scenario */
    bool rail;                     /* an external linear axis is commanded, too */
    unsigned window;               /* [cycles] a command is recent for: longer than the robot's delay */
    double cycle;                  /* [s] of its telegrams */
    ff_pose tool;                  /* flange to CoM */
    uint32_t run;                  /* a number of this run alone, below 2^31 */
    const ff_joint_limits *limits; /* of an arm; copied by open */
} ff_device_settings;

/* For the tables of settings. */
#define FF_DEVICE_SETTING(field) offsetof(ff_device_settings, field)
#define FF_DEVICE_PORT(key, field, number, text)                                                   \
    {                                                                                              \
        .name = (key), .type = FF_SETTING_INTEGER, .unit = "", .offset = FF_DEVICE_SETTING(field), \
        .absent = (number), .low = 0, .high = 65535, .help = (text)                                \
    }

/* What a device says of itself before it is used. FF_INF: nothing. */
typedef struct ff_device_range {
    double turn;          /* [rad] robot commanded by poses: largest turn from its first telegram */
    double axis, shift;   /* [rad], [m] robot: largest correction of an axis, of the position */
    double force, torque; /* [N], [N m] sensor: end of its range, each axis */
} ff_device_range;

/* One telegram of a robot. */
/* What a robot's controller may report of itself, and what it is while the robot may move:
 * X(name, text, ready, act): ready < 0: as at the first telegram; act: what to do where that is not the
 * controller's affair, else NULL */
#define FF_SIGNALS(X)                                                                      \
    X(MODE, "operating mode", -1, NULL)                                                    \
    X(DRIVES, "drives", 1, NULL)                                                           \
    X(EMERGENCY, "emergency stop", 0, NULL)                                                \
    X(OVERRIDE, "override", -1, NULL)                                                      \
    X(PROGRAM, "program", 1, NULL)                                                         \
    X(PROTECTIVE, "protective stop", 0, NULL)                                              \
    X(RIVALS, "other publishers of the command's topic", 0, "end them")                    \
    X(READERS, "readers of the command's topic", 1, "is the robot's controller active?")   \
    X(OTHERS, "joint states of a second publisher", 0, "end it, or name its joints apart") \
    X(AHEAD, "stamps ahead of this computer's clock, in ms", 500, "NTP or PTP on both")

typedef enum ff_signal {
#define FF_SIGNAL_ENUM(name, text, ready, act) FF_SIGNAL_##name,
    FF_SIGNALS(FF_SIGNAL_ENUM)
#undef FF_SIGNAL_ENUM
        FF_SIGNAL_COUNT
} ff_signal;

typedef struct ff_robot_report {
    ff_pose pose;              /* tool in the robot's base */
    ff_arm_joints joints;      /* measured */
    bool rated;                /* a jointed robot: with the velocities of its axes */
    double rates[FF_ARM_AXES]; /* [rad/s] */
    uint64_t lost;             /* telegrams missing before this one, by its own stamp */
    /* what has become of the answer before it */
    bool taken; /* it was accepted */
    bool stood; /* the controller has held the robot since */
    bool back; /* it stands at an older one, and nothing that was sent since can move it: `sent` says which */
    uint64_t late;  /* answers called late in between */
    bool restarted; /* corrections count from another origin: latched */
    bool anchored;  /* it says where they count from, or they count from where the robot is */
    unsigned apart; /* telegrams in a row that show it off all its recent commands */
    bool clipped;   /* for too long: latched, with how far [mm or deg] and the limit */
    double clipped_by, clipped_limit;
    double clip_deg, clip_mm; /* the controller's own limits of corrections; 0: not in the telegram */
    unsigned signals;         /* bit per ff_signal: it is in the telegram */
    unsigned signal[FF_SIGNAL_COUNT];
    /* of virtual devices in lock step; NaN: not reported */
    double arrives;                       /* [s] virtual time at which this telegram arrives */
    double record_arrives[FF_MAX_BODIES]; /* the same of each body's newest sensor record; in a telegram of
                                             another robot than the pacing one [0] is the pacing one's next */
} ff_robot_report;

/* The newest record of a sensor's datagram; one of them that reports a fault comes before it. */
typedef struct ff_sensor_report {
    ff_wrench f_s;        /* [N m, N] raw */
    double force, torque; /* [N], [N m] of one count */
    uint32_t stamp;       /* samples taken by the sensor, by its own count */
    unsigned repeats;     /* records in a row with the same six values */
    uint32_t word;        /* its status word */
    ff_status health;     /* FF_OK; FF_INFO_SATURATED, FF_INFO_HELD: frozen; negative: it reports a fault */
} ff_sensor_report;

/* One telegram of an arm. */
typedef struct ff_joint_report {
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX]; /* [rad], [rad/s] measured */
    double torque[FF_TREE_JOINTS_MAX];                    /* [N m] measured, of the motors */
    double external[FF_TREE_JOINTS_MAX];                  /* [N m] what the environment does to the joints */
    ff_wrench wrench;                                     /* at its tip */
    int state;                                            /* as the protocol numbers it; negative: none */
    int fault;                                            /* why it stands; 0: it does not */
    bool commands;                                        /* torques act; else its brakes hold the joints */
    bool closed;                                          /* the gripper holds something */
    bool clipped;                                         /* a torque was beyond what a motor gives */
    uint64_t lost;                                        /* telegrams missing before this one */
    bool taken;                                           /* the answer before it was accepted */
    double time, cycle;                                   /* [s] its own clock; between its telegrams */
    double arrives;                                       /* [s] virtual time, lock step; NaN: none */
} ff_joint_report;

/* What a device reads and writes as topics, by their names and ROS types; NULL: nothing. */
typedef struct ff_device_topics {
    const char *reads, *reads_type, *writes, *writes_type;
    const char
        *aside; /* where answers to orders that move nothing go (std_msgs/msg/String); NULL: there are none */
} ff_device_topics;

typedef struct ff_device_sample {
    ff_robot_report robot;
    ff_sensor_report sensor;
    ff_joint_report arm;
} ff_device_sample;

/* What a robot is commanded with one answer. */
typedef struct ff_robot_order {
    bool moves;           /* else the last command holds, and the rest is not looked at but stop and text */
    ff_pose pose;         /* tool in the robot's base; commanded by poses */
    ff_arm_joints joints; /* commanded by axes */
    double rates[FF_ARM_AXES]; /* [rad/s] of those, of a virtual robot that takes them */
    bool stop;                 /* its program shall end the motion */
    const char *text;          /* for the operator at the controller; NULL: none */
    int state;                 /* of the run, for a watchdog on the controller */
    const double *torque;      /* [N m] an arm's, where it moves; else its brakes hold it */
    bool grips;                /* an arm's gripper is to be closed */
} ff_robot_order;

/* Both directions of one device, counted on our side. */
typedef struct ff_device_counters {
    uint64_t received, lost, repeated, reordered, malformed, empty, restarts;
    uint64_t bad, spiked; /* of the records received; by the station */
    uint64_t answered, unanswered, refused, late;
} ff_device_counters;

typedef struct ff_device {
    const char *name; /* robot.kind or sensor.kind of a scenario */
    const char *help; /* what it is, in a sentence for the reference of the scenario's keys */
    ff_device_kind kind;
    /* Its keys beside `address`, into ff_device_settings; a boolean may name its two words as `choice`. */
    const ff_setting *setting;
    unsigned settings;
    unsigned port;    /* UDP: a robot's telegrams come to it on this computer; a sensor is asked at it */
    unsigned second;  /* TCP: of the page or the program, by default; 0: there is none */
    const char *page; /* path of what is read by HTTP before the first record; NULL: nothing */
    bool jointed;     /* a robot that reports its axes alone: its pose is that of the arm there */
    int axes;         /* a robot's, the largest number; 0: six */
    bool rides;       /* a robot that may have a rail, as an external axis */
    double counts[2]; /* a sensor without a page: counts of its records per N and N m; 0: SI units */
    size_t bytes;     /* of its state */

    /* Why its keys do not go together, what is allowed included; NULL: they do. May be NULL itself. */
    const char *(*refuse)(const ff_device_settings *settings);
    void (*open)(void *state, const ff_device_settings *settings);
    /* Its page; only where `page` is set. Negative: it cannot be used. */
    ff_status (*configure)(void *state, const char *page, size_t size);
    void (*range)(const void *state, ff_device_range *range);
    /* A stream (TCP, this computer calls the device) in place of datagrams, cut into packets that stand for
     * them: [bytes] of the first one, 0: more are needed, SIZE_MAX: the stream is lost. NULL: datagrams. */
    size_t (*frame)(const void *bytes, size_t size);
    /* Topics of ROS 2 in place of datagrams, each message with the head of net/topic_link.h; nothing is sent
     * for an answer of 0 bytes. NULL: datagrams or a stream. */
    void (*topics)(const void *state, ff_device_topics *topics);
    /* Of a stream or topics, before the first telegram: one packet (NULL at first), and what to send next.
     * FF_INFO_HELD: it continues; FF_INFO_LIMITED: the program is to be sent now, then it continues; FF_OK:
     * telegrams follow; negative: it cannot be used. *message is what is waited for, or why not. Not in real
     * time. */
    ff_status (*greet)(void *state, const void *packet, size_t size, void *bytes, size_t room, size_t *used,
                       char *message, size_t message_size);
    /* The text for its second port; returns its length. */
    size_t (*program)(const void *state, char *text, size_t size);
    /* One datagram, now [s] by any steady clock. FF_OK, or FF_INFO_GAP after losses: *sample is written, a
     * robot waits for its answer. FF_INFO_STALE, FF_INFO_HELD: nothing new in it. FF_ERR_DEVICE: neither, and
     * it shows that the robot's program has begun again. Other negative ones: malformed. All are counted. */
    ff_status (*sample)(void *state, double now, const void *bytes, size_t size, ff_device_sample *sample);
    /* What to send now; *used is mostly 0 for a sensor, whose order is NULL. A robot: the answer to its last
     * telegram. FF_ERR_LIMIT, FF_ERR_NOT_FINITE: the order was refused, the answer holds the last command; an
     * arm's has its brakes hold the joints. FF_INFO_LIMITED: an arm's torque was clipped to its motor's.
     * FF_ERR_DEVICE: the sensor has not answered for long, it is given up. */
    ff_status (*answer)(void *state, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used);
    /* A robot: pose or joints of the last answer, as the controller rounds them. NULL of a sensor. */
    void (*sent)(const void *state, ff_robot_order *order);
    /* A sensor: what leaves it silent. NULL of a robot, which is stopped by an order. */
    ff_status (*stop)(void *state, void *bytes, size_t size, size_t *used);
    void (*count)(const void *state, ff_device_counters *counters);
} ff_device;

/* The list of devices, a line for the table ff_device_NAME of each protocol. */
#define FF_DEVICES(X) \
    X(rsi)            \
    X(rtde)           \
    X(ros2)           \
    X(ati)            \
    X(axia)           \
    X(onrobot)        \
    X(udp)            \
    X(ur_force)       \
    X(ros2_wrench)    \
    X(torque)
#define FF_DEVICE_DECLARE(name) extern const ff_device ff_device_##name;
FF_DEVICES(FF_DEVICE_DECLARE)
#undef FF_DEVICE_DECLARE

/* Names of arms in the order of ff_arm_kind, NULL at the end: words of a robot's setting. */
extern const char *const ff_arm_names[];
/* As `choice` of a setting: a free text, FF_DEVICE_WORD bytes. */
extern const char *const ff_device_text[];
#define FF_DEVICE_TEXT(key, field, usual, sentence)                                     \
    {                                                                                   \
        .name = (key), .type = FF_SETTING_CHOICE, .unit = "", .choice = ff_device_text, \
        .offset = FF_DEVICE_SETTING(field), .absent = (usual), .help = (sentence)       \
    }

/* The list, n from 0; NULL at its end. */
const ff_device *ff_device_at(size_t n);
/* The same of one kind, in the order of the list. */
const ff_device *ff_device_of(ff_device_kind kind, int n);

#endif
