/* live/live.h - who watches a run while it runs: the live page, Foxglove, ROS 2.
 *
 * Each has a thread of its own (libwebsockets, Cyclone DDS), which feeds its viewers from a telemetry ring.
 * The loop pushes rows, events and answers and polls commands; each of these calls is wait-free and takes no
 * lock, so that no viewer ever delays the loop. What does not fit is dropped and counted. Several may watch
 * the same loop: they are joined to the first one, and what is said to that one is said to all.
 *
 * One producer thread: push, event, answer and next_command belong to the loop's thread.
 *
 * Commands come from the page as one line, "ID VERB [NAME] [VALUE] [token=HEX]", are checked here, and wait
 * in a bounded queue; the loop applies them between cycles and answers. Those in `open` need no token when
 * the server is bound to loopback; those in `guarded` always do, and exist only with `control`. */
#ifndef FF_LIVE_LIVE_H
#define FF_LIVE_LIVE_H

#include "operator/ring.h"
#include "rows/columns.h"

typedef struct ff_live ff_live;

enum {
    FF_LIVE_RATE = 60,       /* [Hz] rows a viewer gets at most */
    FF_LIVE_VIEWERS = 240,   /* at a time; a further one takes the place of one without the token */
    FF_LIVE_MESSAGE = 256,   /* [bytes] largest message taken from a page */
    FF_LIVE_QUEUE = 16,      /* commands that may wait */
    FF_LIVE_HISTORY = 1200,  /* rows kept for a new viewer */
    FF_LIVE_MAX_LIMITS = 96, /* bars */
    FF_LIVE_MAX_PARAMETERS = 32,
    FF_LIVE_TEXT = 320
};

typedef enum ff_live_kind { FF_LIVE_PAGE, FF_LIVE_FOXGLOVE, FF_LIVE_ROS } ff_live_kind;

typedef enum ff_live_phase {
    FF_LIVE_STARTING,
    FF_LIVE_RUNNING,
    FF_LIVE_HELD,
    FF_LIVE_ENDED,
    FF_LIVE_STOPPED, /* by the operator */
    FF_LIVE_FAULT
} ff_live_phase;

typedef enum ff_live_level { FF_LIVE_INFO, FF_LIVE_WARNING, FF_LIVE_ALARM } ff_live_level;

typedef enum ff_live_verb {
    FF_LIVE_HOLD,
    FF_LIVE_RESUME,
    FF_LIVE_STOP,
    FF_LIVE_ZERO,
    FF_LIVE_SET,
    FF_LIVE_SPEED, /* of a paced or recorded run */
    FF_LIVE_SEEK,  /* in a recorded one */
    FF_LIVE_RETREAT,
    FF_LIVE_VERBS
} ff_live_verb;
#define FF_LIVE_BIT(verb) (1u << (verb))

typedef struct ff_live_command {
    ff_live_verb verb;
    int parameter; /* FF_LIVE_SET: index into the config's parameters */
    double value;  /* finite, and inside the parameter's range */
    uint32_t id;   /* the page's */
    uint32_t viewer;
    ff_claim claim; /* ff_live_next_command; to be taken where it takes effect */
    bool proven;    /* it gave the token: from then on its sender is an operator, whose place nobody takes */
} ff_live_command;

/* Something that trips or fails a requirement: shown as a bar with the distance that is left. */
typedef struct ff_live_limit {
    char name[FF_NAME_SIZE + 48];
    char unit[16];
    double limit;
    int column, count; /* the norm of these columns, the largest since the last row shown */
    int minus;         /* columns from here are subtracted first (a distance); 0: none */
    int gauge;         /* > 0: the row's gauge with this number instead of columns */
    double scale;      /* shown = scale * norm */
    bool trips;        /* false: a requirement, the run continues when it is exceeded */
} ff_live_limit;

typedef struct ff_live_parameter {
    char name[FF_NAME_SIZE + 24];
    char unit[16];
    char effect[FF_LIVE_TEXT];
    double low, high, value;
} ff_live_parameter;

typedef struct ff_live_config {
    ff_live_kind kind;
    ff_live *join;               /* the first one that watches this loop, whose token counts; NULL: none */
    const char *address;         /* "127.0.0.1:8080"; port 0 takes a free one */
    unsigned allowed;            /* ROS: FF_LIVE_BIT of what may be ordered */
    const char *description;     /* URDF of the robot, where the scenario names a file; or NULL */
    const char *mode;            /* "run", "rt", "view" */
    const ff_scenario *scenario; /* rows come as ff_row; NULL: as values, `columns` and `names` below */
    int columns;
    const char *const *names; /* "client.velocity.x [m/s]" */
    const char *title;        /* NULL: the scenario's name */
    const char *document;     /* JSON of a recorded run for the page (report's data), or NULL */
    const char *summary;      /* JSON, or NULL */
    double begin, end;        /* [s] of a recorded run */
    unsigned open, guarded;   /* FF_LIVE_BIT of each verb */
    bool control;             /* a token is drawn; without it guarded verbs do not exist */
    int limits;
    ff_live_limit limit[FF_LIVE_MAX_LIMITS];
    int parameters;
    ff_live_parameter parameter[FF_LIVE_MAX_PARAMETERS];
    int gauges;      /* numbers that come with each row, for limits that no column shows */
    size_t capacity; /* rows in the ring; 0: 1024 */
    int loop_cpu;    /* 1 + the CPU of a real-time loop: the server's thread keeps off it; 0: none */
} ff_live_config;

/* Where a run is shown; NULL: not there. */
typedef struct ff_live_doors {
    const char *page, *foxglove; /* addresses */
    const char *ros;             /* interface and domain: "127.0.0.1:0" */
    const char *ros_allow;       /* "hold,stop,zero"; NULL: hold and stop on loopback, else nothing */
    bool control;                /* a token is drawn */
    const char *description;     /* as in the config */
} ff_live_doors;

typedef struct ff_live_info {
    uint64_t rows, dropped; /* pushed in, refused because the ring was full */
    uint64_t frames;        /* rows made for viewers */
    int viewers;
} ff_live_info;

/* Starts listening. FF_ERR_UNSUPPORTED without libwebsockets, FF_ERR_ARGUMENT for an address that is not one,
 * FF_ERR_DEVICE when the port is taken, FF_ERR_MEMORY; `message` gets one sentence. */
ff_status ff_live_start(const ff_live_config *config, ff_live **live, char *message, size_t size);
/* The same for each of the doors, joined; `message` says whose. */
ff_status ff_live_open(ff_live_config *config, const ff_live_doors *doors, ff_live **live, char *message,
                       size_t size);
/* Lets the last row and events go out, then ends the thread. NULL is allowed. */
void ff_live_stop(ff_live *live);
const char *ff_live_url(const ff_live *live); /* "http://127.0.0.1:8080/", "ws://127.0.0.1:8765" */
ff_live_kind ff_live_get_kind(const ff_live *live);
ff_live *ff_live_next(const ff_live *live);     /* that was joined to it; NULL: no more */
const char *ff_live_token(const ff_live *live); /* 32 hexadecimal digits; "" without control */
ff_live_info ff_live_get_info(const ff_live *live);

/* ------------------------------------------------------------------------------- the loop's side, wait-free
 */
/* A row with the config's gauges; those of a limit are counted from 1. False: the ring was full, the row is
 * lost to the page (not to the log). */
/* Somebody to whom each row is sent has not got so many of them yet that the next ones may be lost. */
bool ff_live_behind(const ff_live *live);
bool ff_live_push(ff_live *live, const ff_row *row, const double *gauge);
/* For a source without ff_row. */
enum {
    FF_LIVE_RESTART = 1, /* what was shown before does not count any more (a jump in time) */
    FF_LIVE_KEEP = 2     /* this row itself is shown, however many come at once */
};
bool ff_live_push_values(ff_live *live, const double *values, unsigned flags);
void ff_live_set_phase(ff_live *live, ff_live_phase phase);
/* A word for the state where the phase says too little ("ARMED"); static text, not copied; NULL: none. */
void ff_live_set_state(ff_live *live, const char *state);
/* The motion has not begun, and nobody knows when it will: what happens has no time of the run, and rows show
 * the time at which it begins. Off unless it is set. */
void ff_live_set_before(ff_live *live, bool before);
/* A limit of the config was changed while running. */
void ff_live_set_limit(ff_live *live, int limit, double value);
/* So was a parameter. */
void ff_live_set_parameter(ff_live *live, int parameter, double value);
/* How late the loop woke in this cycle [ns]; shown as the largest since the last row. */
void ff_live_set_late(ff_live *live, double late_ns);
/* A file that the page links to from now on, as /NAME, with what is in it now: fault.csv, report.html.
 * FF_ERR_SIZE: more than two, or too large; FF_ERR_IO, FF_ERR_MEMORY. One thread. */
ff_status ff_live_offer(ff_live *live, const char *folder, const char *name);
bool ff_live_event(ff_live *live, ff_live_level level, double t, const char *text);
/* One that is still waited for; the caller takes its claim where it takes effect, and answers it. */
bool ff_live_next_command(ff_live *live, ff_live_command *command);
bool ff_live_answer(ff_live *live, const ff_live_command *command, bool done, const char *text);

/* The bars that a scenario itself gives: requirements, the limits of what is sent, the sensors' ranges, the
 * cycle. */
ff_status ff_live_limits(const ff_scenario *scenario, ff_live_config *config);
const char *ff_live_verb_name(ff_live_verb verb);

#endif
