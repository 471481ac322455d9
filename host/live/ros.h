/* live/ros.h - a run as a ROS 2 node sees it, without the DDS: the names and qualities of its topics and
 * services, the messages themselves, and what requests become. The module `ros` puts it on the wire by
 * Cyclone DDS.
 *
 * Requests and replies begin with the asker's number and the request's, as rmw_cyclonedds_cpp has it. What
 * may be ordered is a list of the operator's; arming is not among it. */
#ifndef FF_LIVE_ROS_H
#define FF_LIVE_ROS_H

#include "live/broadcast.h"
#include "net/topic_link.h"

enum {
    FF_ROS_NAME = FF_TOPIC_NAME + 64,
    FF_ROS_REQUEST = 64 << 10,
    FF_ROS_PARAMETERS = 64, /* of one request; one with more is answered, by an error */
    FF_ROS_PENDING = 16
};

typedef struct ff_ros_topic {
    char name[FF_ROS_NAME], type[FF_ROS_NAME]; /* as DDS has them: rt/tf, tf2_msgs::msg::dds_::TFMessage_ */
    ff_link_quality quality;
    int depth;
    bool offered; /* false: its type depends on the scenario, nobody could know it */
} ff_ros_topic;

typedef struct ff_ros_service {
    char request[FF_ROS_NAME], reply[FF_ROS_NAME], request_type[FF_ROS_NAME], reply_type[FF_ROS_NAME];
} ff_ros_service;

/* Who puts bytes on the wire; called in the server's thread. */
typedef struct ff_ros_wire {
    void *self;
    void (*publish)(void *self, int topic, const void *bytes, size_t size);
    void (*reply)(void *self, int service, const void *bytes, size_t size);
} ff_ros_wire;

/* allowed: FF_LIVE_BIT of what may be ordered. FF_ERR_MEMORY. */
ff_status ff_ros_create(ff_live *live, const ff_live_config *config, ff_ros **ros);
void ff_ros_free(ff_ros *ros); /* NULL is fine */
/* "hold,stop,set" into bits of verbs. False: `text` names the word that is none. */
bool ff_ros_allow(const char *list, unsigned *bits, char *text, size_t size);

/* What the wire's side calls, all in the server's thread. */
struct ff_ros_side {
    int (*topics)(const ff_ros *ros);
    void (*topic)(const ff_ros *ros, int topic, ff_ros_topic *out);
    int (*services)(const ff_ros *ros);
    void (*service)(const ff_ros *ros, int service, ff_ros_service *out);
    void (*begin)(ff_ros *ros, const ff_ros_wire *wire); /* what stands from the start */
    void (*tick)(ff_ros *ros);                           /* rows, events, answers since the last */
    void (*request)(ff_ros *ros, int service, const void *bytes, size_t size);
};
extern const ff_ros_side ff_ros_calls;

#endif
