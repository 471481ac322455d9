/* live/internal.h - what the parts of host/live share: stream.c fills it, module/server.c sends it. */
#ifndef FF_LIVE_INTERNAL_H
#define FF_LIVE_INTERNAL_H

#include "live/live.h"
#include "operator/rights.h"
#include "text/clock.h"

enum {
    FF_LIVE_HEAD =
        7, /* restart, age [s], rows merged, rows dropped, latest wake, compute, input and output [ns] */
    FF_LIVE_EVENTS = 128,    /* kept for a new viewer */
    FF_LIVE_OUTBOX = 8,      /* answers that wait for one viewer */
    FF_LIVE_ANSWER_TIME = 3, /* [s] then the page is informed that none came */
    FF_LIVE_QUIET = 5,       /* rows without touch that end a contact, as in summary.json */
    FF_LIVE_FILES = 2        /* beside the page */
};

typedef struct ff_live_file {
    char name[32]; /* "fault.csv" */
    char *text;
    size_t size;
} ff_live_file;

typedef struct ff_live_item {
    int64_t stamp_ns; /* CLOCK_MONOTONIC when it was pushed */
    double late_ns;
    unsigned flags;
} ff_live_item; /* followed by the gauges and an ff_row, or by the values */

typedef struct ff_live_note {
    ff_live_level level;
    double t;
    char text[FF_LIVE_TEXT];
} ff_live_note;

typedef struct ff_live_reply {
    uint32_t viewer, id;
    bool done;
    char text[FF_LIVE_TEXT];
} ff_live_reply;

typedef struct ff_live_touch { /* one contact as the rows show it */
    int touching, force;       /* columns */
    bool on;
    int quiet;
    double start, end, peak; /* [s], the first quiet row [s], [N] */
    char name[FF_COLUMN_NAME];
} ff_live_touch;

/* The table of a module: `live` serves the page and Foxglove, `ros` ROS 2. */
typedef struct ff_live_server {
    ff_status (*start)(ff_live *live, char *message, size_t size);
    void (*stop)(ff_live *live);
} ff_live_server;

typedef struct ff_foxglove ff_foxglove;
typedef struct ff_foxglove_side ff_foxglove_side;
typedef struct ff_ros ff_ros;
typedef struct ff_ros_side ff_ros_side;

/* What the module calls of this room. */
typedef struct ff_live_room {
    const unsigned char *page;
    size_t page_size; /* [bytes] */
    int64_t (*now)(void);
    void (*stand_aside)(int cpu, cpu_set_t *before);
    bool (*drain)(ff_live *live);
    bool (*token)(const ff_live *live, const char *given);
    bool (*parse)(const ff_live *live, const char *line, size_t length, ff_live_command *command, char *text,
                  size_t size);
    char *(*note_json)(const ff_live_note *note, uint64_t number);
    char *(*reply_json)(const ff_live_reply *reply);
    char *(*status_json)(const ff_live *live);
    bool (*order)(ff_live *live, ff_live_command *command);
    const char *(*overdue)(ff_claim claim, bool *taken);
    bool (*pop)(ff_ring *ring, void *item);
    /* Foxglove's side of a connection (live/foxglove.h) */
    const ff_foxglove_side *foxglove;
    const ff_ros_side *ros; /* live/ros.h */
} ff_live_room;

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): grouped by who uses it */
struct ff_live {
    /* set at the start, then constant */
    ff_live *next; /* who watches the same loop, too; the loop's thread alone follows it */
    ff_live_kind kind;
    uint32_t index; /* among those: in the high byte of its viewers' numbers */
    ff_live_room room;
    unsigned open, guarded;
    bool control, rows;
    char token[33];
    char host[64], url[96];
    bool loopback;
    int port;
    int loop_cpu;       /* as configured */
    ff_columns columns; /* of a scenario */
    int count;          /* columns */
    int gauges;
    int limits;
    ff_live_limit limit[FF_LIVE_MAX_LIMITS];
    int parameters;
    ff_live_parameter parameter[FF_LIVE_MAX_PARAMETERS];
    char *hello; /* JSON */
    int status_column;

    /* between the threads */
    ff_ring ring, notes, commands, replies;
    ff_claims claims; /* of commands */
    atomic_int phase;
    atomic_bool before; /* what is noted has no time of the run yet */
    _Atomic(const char *) state;
    _Atomic(double) limit_now[FF_LIVE_MAX_LIMITS];
    _Atomic(double) parameter_now[FF_LIVE_MAX_PARAMETERS];
    atomic_uint_fast64_t pushed, frames_made;
    atomic_int viewers;
    ff_live_file file[FF_LIVE_FILES];
    atomic_int files; /* of them, complete */
    double late_ns;   /* the loop's */

    /* the server's thread */
    unsigned char *in;
    double *value; /* one row */
    double *gauge; /* and its gauges */
    ff_row *row;   /* the newest whole, where rows come; else NULL */
    ff_foxglove *foxglove;
    ff_ros *ros;
    void (*each)(ff_live *live); /* called for each row, or NULL */
    double *most;                /* limits' values, largest since the last frame */
    double *frame;               /* FF_LIVE_HISTORY rows of `width` */
    int64_t *stamp;              /* of each */
    int width;                   /* FF_LIVE_HEAD + limits + count */
    uint64_t made;               /* frames so far; frame n stands at n % FF_LIVE_HISTORY */
    uint64_t oldest;             /* first that still counts after a restart */
    int64_t last_stamp;          /* of the newest row; 0 before the first */
    double last_t;
    bool exceeded[FF_LIVE_MAX_LIMITS];
    double last_status;
    int touches;
    ff_live_touch touch[FF_MAX_CONTACTS];
    ff_live_note note[FF_LIVE_EVENTS];
    uint64_t noted, note_oldest; /* note n stands at n % FF_LIVE_EVENTS */
    const ff_live_server *module;
    void *server;
};

/* Takes all rows that wait into at most one frame, and what they say into notes. True: a frame was made. */
bool ff_live__drain(ff_live *live);
/* Hands a command to the loop. False: too many wait. */
bool ff_live__order(ff_live *live, ff_live_command *command);
/* Of a command without an answer in time: gives it up, and says so. NULL: the loop has it already, `taken`,
 * and is waited for once more; asked again, its answer was lost. */
const char *ff_live__overdue(ff_claim claim, bool *taken);
/* A line of the page into a checked command. False: `text` says why not. loopback: of this server. */
bool ff_live__parse(const ff_live *live, const char *line, size_t length, ff_live_command *command,
                    char *text, size_t size);
/* May this be ordered by who gave this token (NULL: none), or came with it? False: `text` says why not. */
bool ff_live__permit(const ff_live *live, ff_live_verb verb, const char *token, bool operates, char *text,
                     size_t size);
/* Is the value of a set, speed or seek one? */
bool ff_live__within(const ff_live *live, const ff_live_command *command, char *text, size_t size);
/* The number of a parameter; -1: none. */
int ff_live__parameter(const ff_live *live, const char *name);
/* Whether this is the operator's. */
bool ff_live__token(const ff_live *live, const char *given);
/* JSON texts, malloc'ed, NULL without memory. */
char *ff_live__note_json(const ff_live_note *note, uint64_t number);
char *ff_live__reply_json(const ff_live_reply *reply);
char *ff_live__status_json(const ff_live *live);

#endif
