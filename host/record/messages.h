/* record/messages.h - ROS 2 messages as CDR bytes (XCDR1, little-endian, 4-byte header) and their schema
 * texts.
 *
 * Encoders write into the caller's buffer and allocate nothing. Every encoder returns FF_OK, or FF_ERR_SIZE
 * if the buffer is too small (then *used is 0). Doubles are stored bit for bit, NaN included. Time in ns
 * since the run's epoch. */
#ifndef FF_RECORD_MESSAGES_H
#define FF_RECORD_MESSAGES_H

#include "record/mcap.h"

typedef enum ff_message_kind {
    FF_MESSAGE_WRENCH_STAMPED, /* geometry_msgs */
    FF_MESSAGE_POSE_STAMPED,
    FF_MESSAGE_TWIST_STAMPED,
    FF_MESSAGE_JOINT_STATE, /* sensor_msgs */
    FF_MESSAGE_ENERGY,      /* freefloat_msgs */
    FF_MESSAGE_TIMING,
    FF_MESSAGE_STATE,
    FF_MESSAGE_EVENT,
    FF_MESSAGE_CLOCK,
    FF_MESSAGE_TF,          /* tf2_msgs */
    FF_MESSAGE_TEXT,        /* std_msgs */
    FF_MESSAGE_MARKERS,     /* visualization_msgs */
    FF_MESSAGE_DIAGNOSTICS, /* diagnostic_msgs */
    FF_MESSAGE_TIME,        /* rosgraph_msgs: /clock */
    FF_MESSAGE_KINDS
} ff_message_kind;

/* "geometry_msgs/msg/PoseStamped", and what it is made of as ros2msg text. */
const char *ff_message_type(ff_message_kind kind);
const char *ff_message_schema(ff_message_kind kind);
/* The text of freefloat_msgs/msg/NAME with a field for each of `columns`; malloc'ed, NULL: no memory. */
char *ff_message_columns_schema(const char *columns);

/* Adds the schema (encoding ros2msg) and a channel (encoding cdr) for it; schemas[kind] is 0 or the id from
 * before. */
ff_status ff_message_add_channel(ff_mcap_writer *writer, uint16_t schemas[FF_MESSAGE_KINDS],
                                 ff_message_kind kind, const char *topic, const ff_mcap_pair *metadata,
                                 size_t pairs, uint16_t *channel);

/* The same for rows of numbers: freefloat_msgs/msg/NAME has a field for each of `columns` ("a.b [m],c"),
 * which also stand in the channel's metadata as they are. FF_ERR_MEMORY. */
ff_status ff_message_add_columns(ff_mcap_writer *writer, const char *name, const char *topic,
                                 const char *columns, uint16_t *channel);

/* frame: name of the frame the values are in. */
ff_status ff_message_wrench(uint64_t time, const char *frame, ff_wrench wrench, void *buffer, size_t size,
                            size_t *used);
ff_status ff_message_pose(uint64_t time, const char *frame, ff_pose pose, void *buffer, size_t size,
                          size_t *used);
/* ROS convention: of the child frame `frame` in its own axes, linear as well as angular. */
ff_status ff_message_twist(uint64_t time, const char *frame, ff_twist twist, void *buffer, size_t size,
                           size_t *used);
/* names, position, velocity, effort: n each, or NULL for none. */
ff_status ff_message_joints(uint64_t time, const char *frame, size_t n, const char *const *names,
                            const double *position, const double *velocity, const double *effort,
                            void *buffer, size_t size, size_t *used);

/* Where `child` is in `frame`. */
typedef struct ff_message_transform {
    const char *frame, *child;
    ff_pose pose;
} ff_message_transform;
ff_status ff_message_tf(uint64_t time, int n, const ff_message_transform *transform, void *buffer,
                        size_t size, size_t *used);

/* Something to be drawn: a visualization_msgs/Marker that stays until one of the same ns and id replaces it.
 */
typedef enum ff_message_shape {                     /* the numbers of the message */
                                FF_SHAPE_ARROW = 0, /* from point 0 to point 1; scale: diameters of shaft and
                                                       head, head's length */
                                FF_SHAPE_CUBE = 1,
                                FF_SHAPE_LINES =
                                    5, /* a line from each even point to the one behind it; scale.x: width */
                                FF_SHAPE_TRIANGLES = 11 /* of three points each */
} ff_message_shape;
typedef struct ff_message_marker {
    const char *frame, *ns;
    int32_t id;
    ff_message_shape shape;
    bool gone; /* no longer to be drawn */
    ff_pose pose;
    ff_vec3 scale;  /* [m] */
    float color[4]; /* red, green, blue, opacity: 0 to 1 */
    const ff_vec3 *point;
    size_t points;
} ff_message_marker;
ff_status ff_message_markers(uint64_t time, int n, const ff_message_marker *marker, void *buffer, size_t size,
                             size_t *used);
/* rosgraph_msgs/Clock. */
ff_status ff_message_time(uint64_t time, void *buffer, size_t size, size_t *used);

/* One of diagnostic_msgs/DiagnosticArray: level 0 good, 1 warning, 2 error, 3 stale. */
enum { FF_DIAGNOSTIC_VALUES = 6 };
typedef struct ff_message_diagnostic {
    uint8_t level;
    const char *name, *message, *hardware;
    int values;
    struct {
        const char *key;
        char value[40];
    } value[FF_DIAGNOSTIC_VALUES];
} ff_message_diagnostic;
ff_status ff_message_diagnostics(uint64_t time, int n, const ff_message_diagnostic *status, void *buffer,
                                 size_t size, size_t *used);
/* std_srvs/srv/Trigger's answer. */
ff_status ff_message_trigger(bool success, const char *text, void *buffer, size_t size, size_t *used);
ff_status ff_message_text(const char *text, void *buffer, size_t size, size_t *used);

typedef struct ff_message_energy {
    double kinetic;    /* [J] of the satellite */
    double port;       /* [J] that entered through the contact port */
    double observer;   /* [J] passivity observer after dissipation */
    double dissipated; /* [J] by the passivity layer */
} ff_message_energy;

typedef struct ff_message_timing {
    uint64_t cycle;
    double lateness;  /* [s] of the wake-up */
    double compute;   /* [s] */
    double io;        /* [s] devices */
    uint64_t missed;  /* cycles so far */
    uint64_t dropped; /* telemetry records so far */
} ff_message_timing;

ff_status ff_message_put_energy(uint64_t time, const ff_message_energy *energy, void *buffer, size_t size,
                                size_t *used);
ff_status ff_message_put_timing(uint64_t time, const ff_message_timing *timing, void *buffer, size_t size,
                                size_t *used);
/* A device's clock as fitted to the computer's. */
typedef struct ff_message_clock {
    double drift;    /* its seconds over ours, minus 1 */
    double offset;   /* [s] ours minus its own */
    double residual; /* [s] of the newest packet: + late */
    double rms;      /* [s] */
} ff_message_clock;
ff_status ff_message_put_clock(uint64_t time, const ff_message_clock *clock, void *buffer, size_t size,
                               size_t *used);
ff_status ff_message_state(uint64_t time, uint8_t state, const char *name, void *buffer, size_t size,
                           size_t *used);

ff_status ff_message_event(uint64_t time, int32_t code, uint8_t level, const char *text, double value,
                           double limit, void *buffer, size_t size, size_t *used);
/* Every column of the log, bit for bit, as ff_message_add_columns says. */
ff_status ff_message_cycle(uint64_t time, uint64_t cycle, const double *values, size_t n, void *buffer,
                           size_t size, size_t *used);

/* Readers. FF_ERR_FORMAT: not such a message; FF_ERR_SIZE: more than capacity values or characters. */
ff_status ff_message_read_cycle(const void *bytes, size_t size, uint64_t *time, uint64_t *cycle,
                                double *values, size_t capacity, size_t *n);
ff_status ff_message_read_state(const void *bytes, size_t size, uint64_t *time, uint8_t *state, char *name,
                                size_t capacity);
ff_status ff_message_read_event(const void *bytes, size_t size, uint64_t *time, int32_t *code, uint8_t *level,
                                char *text, size_t capacity, double *value, double *limit);

#endif
