/* devices/ros2/ros2.h - the three messages between freefloat and a robot's ROS 2 driver, both sides:
 * sensor_msgs/JointState, std_msgs/Float64MultiArray and geometry_msgs/WrenchStamped as CDR, and the rules by
 * which a message's stamp is judged. */
#ifndef FF_DEVICES_ROS2_ROS2_H
#define FF_DEVICES_ROS2_ROS2_H

#include "devices/device.h"
#include "net/topic_link.h"

#define FF_ROS2_STATES "sensor_msgs/msg/JointState"
#define FF_ROS2_COMMAND "std_msgs/msg/Float64MultiArray"
#define FF_ROS2_WRENCH "geometry_msgs/msg/WrenchStamped"

/* In frame_id of what the virtual facility sends: nobody takes a real robot for it. */
#define FF_ROS2_VIRTUAL "freefloat/facility"
#define FF_ROS2_LOCKSTEP "freefloat/lockstep" /* and its stamps are the virtual time */
#define FF_ROS2_END "end"                     /* to the virtual facility, as the label of a command */
#define FF_ROS2_ASIDE \
    "/virtual" /* behind the command's topic: what the virtual facility is told before a motion */

enum {
    FF_ROS2_NAMES = 256, /* joints of a message at most */
    FF_ROS2_LABEL = 64
};

typedef enum ff_ros2_mark { FF_ROS2_NO_MARK, FF_ROS2_MARK_VIRTUAL, FF_ROS2_MARK_LOCKSTEP } ff_ros2_mark;

/* What a message says of itself. */
typedef struct ff_ros2_message {
    ff_link_head head;
    uint64_t stamp; /* [ns] */
    ff_ros2_mark mark;
} ff_ros2_message;

typedef struct ff_ros2_states {
    ff_ros2_message message;
    unsigned found;            /* bit per joint that is in it */
    int twice;                 /* a joint that is in it again; -1: none */
    double q[FF_ARM_AXES];     /* [rad] of those found */
    bool rated;                /* each has a velocity, which is a number */
    double rates[FF_ARM_AXES]; /* [rad/s] */
} ff_ros2_states;

/* How many joints are named: six or seven. */
int ff_ros2_axes(const ff_device_settings *of);

/* A message with the head of net/topic_link.h. FF_ERR_FORMAT: malformed; FF_ERR_NOT_FINITE: a joint that was
 * found, or the wrench, is not a number. Joints of others are passed over. */
ff_status ff_ros2_states_decode(const void *bytes, size_t size, const ff_device_settings *of,
                                ff_ros2_states *states);
ff_status ff_ros2_wrench_decode(const void *bytes, size_t size, ff_ros2_message *message, ff_wrench *wrench);
/* As many positions as `axes`, or these and as many velocities: *rated. FF_ERR_SIZE: another number of them.
 * *label is "" without one. */
ff_status ff_ros2_command_decode(const void *bytes, size_t size, int axes, double q[FF_ARM_AXES],
                                 double rates[FF_ARM_AXES], bool *rated, char label[FF_ROS2_LABEL]);

/* CDR alone. The joints stand in the message in reverse, behind one that is not asked for: no reader may
 * count on their order. */
ff_status ff_ros2_states_encode(uint64_t stamp, const char *frame, const ff_device_settings *of,
                                const double q[FF_ARM_AXES], const double rates[FF_ARM_AXES], int joints,
                                void *bytes, size_t size, size_t *used);
ff_status ff_ros2_wrench_encode(uint64_t stamp, const char *frame, const ff_wrench *wrench, void *bytes,
                                size_t size, size_t *used);
/* label: NULL or "": none, rates: NULL: none, as every driver expects it. */
ff_status ff_ros2_command_encode(int axes, const double q[FF_ARM_AXES], const double rates[FF_ARM_AXES],
                                 const char *label, void *bytes, size_t size, size_t *used);

/* What the virtual facility is told on the topic beside: a label, "" for none. It moves nothing. */
ff_status ff_ros2_label_decode(const void *bytes, size_t size, char label[FF_ROS2_LABEL]);
ff_status ff_ros2_label_encode(const char *label, void *bytes, size_t size, size_t *used);

/* Settings of both devices: where the driver is, and what is behind it. */
extern const char *const ff_ros2_drivers[];
#define FF_ROS2_PLACE                                                                                    \
    {.name = "domain",                                                                                   \
     .type = FF_SETTING_INTEGER,                                                                         \
     .unit = "",                                                                                         \
     .offset = FF_DEVICE_SETTING(domain),                                                                \
     .absent = "0",                                                                                      \
     .low = 0,                                                                                           \
     .high = FF_LINK_DOMAINS,                                                                            \
     .help = "ROS_DOMAIN_ID of the driver."},                                                            \
    {                                                                                                    \
        .name = "driver", .type = FF_SETTING_BOOLEAN, .unit = "", .offset = FF_DEVICE_SETTING(facility), \
        .absent = "robot", .choice = ff_ros2_drivers,                                                    \
        .help = "`robot`: a real one may be behind it, also on loopback: it is armed at the console. "   \
                "`facility`: the virtual one of `freefloat facility` and no other."                      \
    }

#define FF_ROS2_APART 0.5 /* [s] between the driver's clock and this computer's at most */

/* [s] by which a stamp is ahead of the message's arrival here; 0 of simulated time (before 2001). */
static inline double ff_ros2_ahead(const ff_ros2_message *m) {
    return m->stamp < UINT64_C(1000000000000000000) ? 0.0
                                                    : 1e-9 * ((double)m->stamp - (double)m->head.arrived);
}

/* The period of a driver's messages, from the first ones. */
enum { FF_ROS2_STAMPS = 9 };
typedef struct ff_ros2_pace {
    uint64_t stamp[FF_ROS2_STAMPS]; /* [ns] */
    int seen;
} ff_ros2_pace;
/* [s] median of what lies between their stamps; 0: not known yet, or this one is not newer. */
double ff_ros2_period(ff_ros2_pace *pace, uint64_t stamp);

/* Refuses a message of a driver that is not what the settings name, or whose clock is elsewhere. what: its
 * topic. */
ff_status ff_ros2_greet(const ff_device_settings *settings, const char *what, const ff_ros2_message *m,
                        uint64_t from, char *message, size_t size);

#endif
