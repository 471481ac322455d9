/* net/topic_link.h - a topic that is read and one that is written, of ROS 2, as datagrams on a socket: what
 * comes in is handed on with a head, what is sent goes out. DDS and its threads (the module `dds`, on Cyclone
 * DDS) stand behind the socket: whoever holds it neither waits for them nor allocates. */
#ifndef FF_NET_TOPIC_LINK_H
#define FF_NET_TOPIC_LINK_H

#include "freefloat/base.h"

enum {
    FF_LINK_NAME = 256,
    FF_LINK_DOMAINS = 232 /* the last that has ports */
};

typedef enum ff_link_quality {
    FF_LINK_RELIABLE,
    FF_LINK_SENSOR, /* best effort */
    FF_LINK_LATCHED /* transient local: who comes late gets the last one */
} ff_link_quality;

/* Before each message's CDR bytes. Of this computer alone: no wire has it. */
typedef struct ff_link_head {
    int64_t arrived;  /* [ns] on CLOCK_REALTIME */
    uint64_t from;    /* its publisher: a number that no other one has */
    uint32_t readers; /* of what is written here */
    uint32_t rivals;  /* who else publishes that */
    uint32_t aside;   /* it came on the topic beside */
} ff_link_head;

typedef struct ff_link_config {
    const char *address; /* of the interface */
    unsigned domain;
    bool reliable; /* what is read is asked for again when it is lost; else both qualities are read */
    int loop_cpu;  /* 1 + the CPU that DDS keeps off; 0: none */
    /* "/joint_states", "sensor_msgs/msg/JointState"; NULL: nothing */
    const char *reads, *reads_type, *writes, *writes_type;
    /* a topic beside (std_msgs/msg/String): read where `hears`, else written. NULL: none */
    const char *aside;
    bool hears;
} ff_link_config;

typedef struct ff_link_state {
    unsigned writers; /* of what is read here, in its type */
    unsigned readers; /* of what is written */
    unsigned rivals;
    bool other;                                   /* somebody has one of the topics in another type: */
    char topic[FF_LINK_NAME], type[FF_LINK_NAME]; /* as DDS has it */
} ff_link_state;

typedef struct ff_link {
    int fd; /* readable when a message waits; -1: not open */
    void *self;
} ff_link;

/* "geometry_msgs/msg/Pose" as DDS has it: geometry_msgs::msg::dds_::Pose_; of a service's two messages with
 * a suffix. */
void ff_link_type(const char *type, const char *suffix, char *out, size_t size);

/* The table of the module, with names as DDS has them. */
typedef struct ff_link_table {
    ff_status (*open)(const ff_link_config *config, ff_link *link, char *message, size_t size);
    void (*state)(const ff_link *link, ff_link_state *state);
    bool (*write)(const ff_link *link, const void *bytes, size_t size);
    void (*close)(ff_link *link);
} ff_link_table;

/* FF_ERR_UNSUPPORTED: built without Cyclone DDS; FF_ERR_DEVICE: the domain cannot be joined; with a sentence.
 * Not in real time, as the next three. */
ff_status ff_link_open(const ff_link_config *config, ff_link *link, char *message, size_t size);
void ff_link_look(const ff_link *link, ff_link_state *state);
void ff_link_close(ff_link *link); /* one that is not open is fine */
/* On the wire when it returns: what is written here after it, also to another link, comes after it. Not in
 * real time. */
bool ff_link_write(const ff_link *link, const void *bytes, size_t size);
/* As ff_socket_receive: head and bytes of a message. Never blocks, no allocation, as the next one. */
long ff_link_receive(const ff_link *link, void *buffer, size_t size, int64_t *arrived_ns);
bool ff_link_send(const ff_link *link, bool aside, const void *bytes, size_t size);

#endif
