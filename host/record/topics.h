/* record/topics.h - what a run says, as ROS 2 messages on topics: one table for log.mcap, Foxglove and ROS 2.
 *
 * A row becomes the messages of its topics here and nowhere else; who takes them (a file, a socket) is the
 * caller's. Names are such as ROS takes: letters, digits and underscores. Nothing is allocated after init. */
#ifndef FF_RECORD_TOPICS_H
#define FF_RECORD_TOPICS_H

#include "record/scene.h"
#include "rows/columns.h"
#include "rows/sink.h"

enum { FF_TOPIC_NAME = FF_NAME_SIZE + 32, FF_TOPICS_MAX = 16 + 11 * FF_MAX_BODIES };

typedef enum ff_topic_use {
    FF_TOPIC_LOG = 1,     /* stands in log.mcap */
    FF_TOPIC_LIVE = 2,    /* is shown live */
    FF_TOPIC_LATCHED = 4, /* said once or seldom: who comes late gets the last one */
    FF_TOPIC_EVERY = 8,   /* each of its messages counts: the newest does not stand for those before */
    FF_TOPIC_SENSOR = 16  /* ROS: best effort, as sensors publish */
} ff_topic_use;

typedef struct ff_topic {
    char name[FF_TOPIC_NAME]; /* "/client/pose" */
    ff_message_kind kind;     /* FF_MESSAGE_KINDS: a field for each of `columns` */
    char type[48];            /* "geometry_msgs/msg/PoseStamped" */
    const char *schema;       /* its ros2msg text */
    const char *columns;      /* "a.b [m],c", or NULL */
    unsigned use;
} ff_topic;

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): grouped by meaning */
typedef struct ff_topics {
    const ff_scenario *scenario;
    unsigned use; /* FF_TOPIC_LOG or FF_TOPIC_LIVE: for whom */
    int count;
    ff_topic topic[FF_TOPICS_MAX];
    /* their numbers; -1: there is none */
    int cycle, input, tuning, state, event, timing, tf, tf_static, description, scene, forces, clock, joints,
        diagnostics;
    struct {
        int pose, twist, robot, command, wrench, energy, clock, raw, applied;
        char name[FF_NAME_SIZE]; /* as topics have it */
        bool in_contact;
    } body[FF_MAX_BODIES];
    ff_columns columns, inputs, tunings;
    char *text[6]; /* schemas and columns */
    double *values;
    uint8_t *buffer;
    size_t size;                         /* [bytes] of buffer */
    double tuned[FF_COLUMNS_TUNING_MAX]; /* as it was said last */
    bool has_tuned;
    ff_status last;
    uint64_t stamp[FF_TOPICS_MAX];    /* [ns] newest of states, events and diagnostics */
    double drawn;                     /* [s] run time of the last forces and frames of links */
    bool touching[FF_MAX_CONTACTS];   /* then */
    double drawn_size[FF_MAX_BODIES]; /* [m] of each satellite */
} ff_topics;

/* Who takes the messages. `wants` may be NULL: everything. stamp: [ns], as in the message. */
typedef struct ff_topic_taker {
    void *self;
    bool (*wants)(void *self, int topic);
    ff_status (*take)(void *self, int topic, uint64_t stamp, const void *bytes, size_t size);
} ff_topic_taker;

/* FF_ERR_MEMORY. */
ff_status ff_topics_init(const ff_scenario *scenario, ff_topic_use use, ff_topics *topics);
void ff_topics_free(ff_topics *topics);
/* Run time as stamps have it [ns]: t = 0 lies ten seconds after the epoch, since things happen before it. */
uint64_t ff_topics_stamp(double t);

/* What stands from the start: scene, static frames, descriptions of robots (one message each). */
ff_status ff_topics_begin(ff_topics *topics, const ff_topic_taker *taker);
ff_status ff_topics_describe(ff_topics *topics, const char *text, size_t length, const ff_topic_taker *taker);
ff_status ff_topics_row(ff_topics *topics, const ff_row *row, const ff_topic_taker *taker);
ff_status ff_topics_state(ff_topics *topics, double t, int state, const char *name,
                          const ff_topic_taker *taker);
ff_status ff_topics_event(ff_topics *topics, double t, int code, ff_event_level level, const char *text,
                          double value, double limit, const ff_topic_taker *taker);
ff_status ff_topics_diagnostics(ff_topics *topics, double t, int n, const ff_message_diagnostic *status,
                                const ff_topic_taker *taker);

#endif
