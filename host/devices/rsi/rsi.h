/* devices/rsi/rsi.h - KUKA RobotSensorInterface: XML telegrams, the PC's side and the controller's side, no
 * sockets.
 *
 * The controller sends one Rob telegram per cycle and sets the pace; the PC answers each with one Sen
 * telegram that echoes the IPOC. Telegrams carry mm and degrees with R = Rz(A) Ry(B) Rx(C); every field here
 * that does so has _mm or _deg in its name or stands in ff_rsi_rob and ff_rsi_sen, which mirror the wire.
 * docs/protocols.md has the policies. */
#ifndef FF_DEVICES_RSI_H
#define FF_DEVICES_RSI_H

#include "devices/text.h"

#define FF_RSI_PORT 59152     /* KUKA's own default; 49152, also seen, is taken by the ATI sensor */
#define FF_RSI_READ_MAX 2048  /* [bytes] longest telegram that is read */
#define FF_RSI_SEND_MAX 1024  /* [bytes] several peers read no more: longer telegrams are never sent */
#define FF_RSI_NAME_SIZE 24   /* [bytes] element names and the Sen type, with NUL */
#define FF_RSI_TEXT_SIZE 96   /* [bytes] message to the pendant, with NUL */
#define FF_RSI_WINDOW_MAX 256 /* [cycles] */
#define FF_RSI_MONITOR \
    1.2 /* a monitor aborts at so many times what its correction is clipped at: KUKA's own */

typedef enum ff_rsi_mode {
    FF_RSI_ABSOLUTE, /* a correction is the total offset from the pose at RSI_ON */
    FF_RSI_RELATIVE, /* a correction is added every cycle; zero holds */
} ff_rsi_mode;

/* X Y Z [mm] A B C [deg] to a pose [m], and back (B in [-90, 90] deg). */
ff_pose ff_rsi_to_pose(const double xyzabc[6]);
void ff_rsi_from_pose(ff_pose pose, double xyzabc[6]);

/* ------------------------------------------------------------------------------------------- Rob, Sen -- */

enum { /* which elements a Rob telegram has */
       FF_RSI_RIST = 1,
       FF_RSI_RSOL = 2,
       FF_RSI_AIPOS = 4,
       FF_RSI_ASPOS = 8,
       FF_RSI_EIPOS = 16,
       FF_RSI_DELAY = 32,
       FF_RSI_ARRIVAL = 64, /* of the virtual controller only */
       FF_RSI_KRC = 128,    /* what the controller says of itself */
       FF_RSI_LIM = 256,    /* the limits of its corrections, as its program read them */
};

enum { FF_RSI_SIGNALS = 5 }; /* Mode Drives EStop Ovr Pro */

enum { FF_RSI_RECORDS = 4 };

typedef struct ff_rsi_rob {
    unsigned fields;  /* FF_RSI_RIST ... */
    double rist[6];   /* [mm deg] actual TCP pose X Y Z A B C */
    double rsol[6];   /* [mm deg] setpoint; does not follow the correction */
    double aipos[6];  /* [deg] actual axes */
    double aspos[6];  /* [deg] setpoint axes; do not follow the correction */
    double eipos[6];  /* [deg or mm] external axes; those not sent are 0 */
    unsigned signals; /* of Krc, a bit each: Mode Drives EStop Ovr Pro */
    uint64_t signal[FF_RSI_SIGNALS];
    double limit[2];     /* [deg mm] of Lim: R and T */
    uint64_t delay;      /* late answers so far */
    uint64_t ipoc;       /* cycle stamp */
    uint64_t arrival_ns; /* lock step only: the virtual time at which this telegram arrives; in wall-clock
                            time the kernel's stamp says so */
    uint64_t
        record_ns[FF_RSI_RECORDS]; /* the same of each satellite's newest sensor record, of another robot than
                                      the pacing one [0] of the pacing one's next telegram; 0: not reported */
} ff_rsi_rob;

/* Reads by name, in any order; unknown elements and the root's attributes are ignored. Writes *rob on FF_OK
 * and on FF_INFO_HELD only. FF_INFO_HELD: an empty Rob, as RSI 2 sends first: skip it. FF_ERR_FORMAT: not a
 * Rob telegram, a malformed number, a missing value or IPOC, an element twice. FF_ERR_NOT_FINITE: a number
 * overflows. FF_ERR_SIZE: longer than FF_RSI_READ_MAX. */
ff_status ff_rsi_rob_decode(const char *bytes, size_t size, ff_rsi_rob *rob);
/* Elements in the order RIst RSol AIPos ASPos EIPos Delay Krc Lim Arrival IPOC, no blank before "/>": KUKA's
 * own client parses by position. *used excludes the NUL. FF_ERR_SIZE, FF_ERR_NOT_FINITE, FF_ERR_ARGUMENT
 * (decimals, magnitude). */
ff_status ff_rsi_rob_encode(const ff_rsi_rob *rob, int decimals, char *buffer, size_t size, size_t *used);

/* The tags of a Sen telegram. Bit i of ff_rsi_sen.tags says that value[i] is there. */
enum {
    FF_RSI_TAG_CARTESIAN = 0, /* X Y Z [mm] A B C [deg] */
    FF_RSI_TAG_AXES = 6,      /* A1 ... A6 [deg] */
    FF_RSI_TAG_EXTERNAL = 12, /* E1 ... E6 [deg or mm] */
    FF_RSI_TAG_STOP = 18,
    FF_RSI_TAGS = 19
};
#define FF_RSI_ALL_CARTESIAN 0x3fu
#define FF_RSI_ALL_AXES (0x3fu << FF_RSI_TAG_AXES)
#define FF_RSI_ALL_EXTERNAL (0x3fu << FF_RSI_TAG_EXTERNAL)
#define FF_RSI_STOP (1u << FF_RSI_TAG_STOP)

/* Names are free on the controller (RECEIVE tags and SENTYPE of its configuration file): both sides must
 * agree. */
typedef struct ff_rsi_names {
    char type[FF_RSI_NAME_SIZE];      /* "ImFree" */
    char cartesian[FF_RSI_NAME_SIZE]; /* "RKorr" */
    char axes[FF_RSI_NAME_SIZE];      /* "AK"; "AKorr" elsewhere */
    char external[FF_RSI_NAME_SIZE];  /* "EK" */
    char stop[FF_RSI_NAME_SIZE];      /* "Stop" */
} ff_rsi_names;

ff_rsi_names ff_rsi_names_default(void);
/* Type of a Sen telegram into `type`, "" where there is none: for whoever refused it. */
void ff_rsi_sen_type(const char *bytes, size_t size, char type[FF_RSI_NAME_SIZE]);
/* FF_ERR_ARGUMENT: a name is empty, not an XML name, used twice, or IPOC, EStr or Life. */
ff_status ff_rsi_names_validate(const ff_rsi_names *names);

typedef struct ff_rsi_sen {
    uint32_t tags;               /* bit per tag */
    double value[FF_RSI_TAGS];   /* [mm deg]; 0 where not sent */
    bool has_text;               /* EStr */
    char text[FF_RSI_TEXT_SIZE]; /* shown on the pendant */
    bool alive;                  /* Life: the heartbeat's counter and the run's state */
    uint64_t beat, state;
    uint64_t ipoc; /* must echo that of Rob */
} ff_rsi_sen;

/* Writes *sen on FF_OK only. FF_ERR_FORMAT, FF_ERR_NOT_FINITE, FF_ERR_SIZE as for Rob; FF_ERR_UNSUPPORTED:
 * the root's Type is not names->type. Elements without a tag of ours are ignored. */
ff_status ff_rsi_sen_decode(const ff_rsi_names *names, const char *bytes, size_t size, ff_rsi_sen *sen);
/* Order EStr Life Stop RKorr AK EK IPOC; only the values whose bit is set. */
ff_status ff_rsi_sen_encode(const ff_rsi_names *names, const ff_rsi_sen *sen, int decimals, char *buffer,
                            size_t size, size_t *used);

/* ------------------------------------------------------------------------------------- the PC's side -- */

typedef enum ff_rsi_channel { FF_RSI_BY_AXES, FF_RSI_BY_CARTESIAN } ff_rsi_channel;

enum { FF_RSI_BEATS = 10000 };

typedef struct ff_rsi_client_config {
    ff_rsi_names names;
    ff_rsi_mode mode;
    ff_rsi_channel channel;
    bool heartbeat;          /* send Life as well: a counter modulo FF_RSI_BEATS, and state->phase */
    bool use_external;       /* send EK as well, always absolute or relative as mode */
    bool external_linear[6]; /* mm and m instead of deg and rad */
    int decimals;            /* of the numbers sent */
    uint64_t ipoc_step;      /* expected difference of IPOC; 0: taken from the first two telegrams */
    double max_rotation;     /* [rad] Cartesian corrections that turn further are refused: 5 deg until seen on
                                hardware */
    double most_axis, most_shift; /* [rad], [m] corrections beyond are refused, too; FF_INF: none is */
    double clip_translation;      /* [m] detector: robot further than this from all recent commands ... */
    double clip_rotation;         /* [rad] ... or turned by more, or an axis off by more */
    unsigned clip_window; /* [cycles] how far back a command is recent: longer than the robot's delay */
    unsigned clip_cycles; /* detector trips after so many cycles in a row */
} ff_rsi_client_config;

/* Axes, absolute, 6 decimals, 5 deg, 1 mm, 0.1 deg, 50 cycles back, 10 in a row. */
ff_rsi_client_config ff_rsi_client_config_default(void);
ff_status ff_rsi_client_config_validate(const ff_rsi_client_config *config); /* FF_ERR_ARGUMENT */

typedef struct ff_rsi_client_info {
    uint64_t received;   /* telegrams accepted */
    uint64_t answered;   /* answers encoded */
    uint64_t empty;      /* empty Rob telegrams skipped */
    uint64_t repeated;   /* IPOC equal to the last: not answered */
    uint64_t reordered;  /* IPOC older than the last: not answered */
    uint64_t lost;       /* cycles missing between two IPOC */
    uint64_t malformed;  /* telegrams refused */
    uint64_t unanswered; /* telegrams that were followed by the next without an answer */
    uint64_t refused;    /* commands refused (limit, not finite): the last correction was sent instead */
    uint64_t late; /* answers that the controller called late since the first telegram (its Delay counter) */
    bool clipped;  /* the robot does not follow the command: latched */
    int clipped_tag;   /* first tag at fault, FF_RSI_TAG_... + axis */
    double clipped_by; /* [mm or deg] distance from the nearest recent command when it tripped */
} ff_rsi_client_info;

typedef struct ff_rsi_client_state {
    bool started;
    bool due;      /* a telegram waits for its answer */
    uint64_t ipoc; /* of the last telegram */
    uint64_t ipoc_step;
    uint64_t first_delay;
    ff_rsi_rob first;                     /* telegram */
    double sent[18];                      /* [mm deg] total correction, as the controller rounds it */
    double accepted[18];                  /* the same, of the last answer that the controller has taken */
    bool answered;                        /* the last telegram was */
    uint64_t delay;                       /* of the last telegram */
    uint64_t older, olders;               /* IPOC of the last older telegram, and how many such in a row */
    bool taken;                           /* the answer before this telegram was */
    bool stood;                           /* the controller has held the robot since */
    uint64_t late;                        /* answers called late in between */
    bool restarted;                       /* corrections count from another origin: latched */
    double recent[FF_RSI_WINDOW_MAX][18]; /* [mm deg] ring of totals */
    unsigned recent_count, recent_next;
    unsigned apart; /* [cycles] in a row beyond the clip bounds */
    uint64_t phase; /* the caller's: state of the run, sent with the heartbeat */
    ff_rsi_client_info info;
} ff_rsi_client_state;

typedef struct ff_rsi_command {
    ff_pose pose;       /* [m] target TCP pose, frame of RIst; used with FF_RSI_BY_CARTESIAN */
    double axes[6];     /* [rad] target axes; used with FF_RSI_BY_AXES */
    double external[6]; /* [rad or m] */
    bool stop;          /* asks the controller's program to end RSI */
    const char *text;   /* to the pendant, or NULL */
} ff_rsi_command;

void ff_rsi_client_reset(ff_rsi_client_state *state);
/* One datagram in. FF_OK or FF_INFO_GAP (cycles are missing before it): an answer is due. FF_INFO_STALE
 * (repeated or older) and FF_INFO_HELD (empty): no answer. state->taken and stood say what has become of the
 * last answer: taken if the controller's Delay has grown by no more than the telegrams that were lost (those
 * it cannot have had an answer to), or, without that element, if none was lost. What was not taken does not
 * count: relative corrections continue from the last one accepted. state->restarted: Delay or IPOC began
 * again, or RSol or ASPos is not what the first telegram said. FF_ERR_FORMAT (also: no RIst or AIPos where
 * the channel needs it, or without anything that the first telegram had but signals and Arrival),
 * FF_ERR_NOT_FINITE, FF_ERR_SIZE: counted, state otherwise unchanged. */
ff_status ff_rsi_client_receive(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                                const char *bytes, size_t size, ff_rsi_rob *rob);
/* The answer to the last datagram. command NULL holds the last correction (in relative mode: zero).
 * FF_OK. FF_ERR_ARGUMENT: none is due, *used is 0. FF_ERR_LIMIT (rotation beyond max_rotation, or a
 * correction too large to print) and FF_ERR_NOT_FINITE: the command was refused and *used bytes that hold the
 * last correction are in the buffer: send them. FF_ERR_SIZE: buffer too small, *used 0. */
ff_status ff_rsi_client_answer(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                               const ff_rsi_command *command, char *buffer, size_t size, size_t *used);
/* Measured TCP pose [m] and axes [rad] of a telegram. */
ff_pose ff_rsi_rob_pose(const ff_rsi_rob *rob);
void ff_rsi_rob_axes(const ff_rsi_rob *rob, double axes[6]);

/* ------------------------------------------------------------------------------- the controller's side -- */

typedef struct ff_rsi_controller_config {
    ff_rsi_names names;
    ff_rsi_mode mode;
    bool only_send;  /* ONLYSEND: no answers expected */
    unsigned fields; /* FF_RSI_... elements of Rob */
    int decimals;    /* Precision of the ETHERNET object */
    uint64_t ipoc_start, ipoc_step;
    bool holdon[FF_RSI_TAGS]; /* without a value this cycle: true repeats the last, false takes 0 */
    unsigned timeout;         /* late answers in a row that stop RSI; 0: never */
    bool timeout_total;       /* count them over the whole run instead */
    bool external_linear[6];  /* mm */
    /* POSCORR, AXISCORR: clip the cumulative correction, silently */
    double poscorr_lower_mm[3], poscorr_upper_mm[3];
    double poscorr_rotation_deg;
    double axiscorr_lower[12], axiscorr_upper[12]; /* [deg or mm] A1..A6 E1..E6 */
    /* POSCORRMON, AXISCORRMON: abort beyond */
    double poscorrmon_translation_mm, poscorrmon_rotation_deg;
    double axiscorrmon[12]; /* [deg or mm] */
} ff_rsi_controller_config;

/* KUKA's values: clip at 5 mm and 5 deg, abort at 6, timeout 10; HOLDON fits the mode: 1 absolute, 0
 * relative. */
ff_rsi_controller_config ff_rsi_controller_config_default(ff_rsi_mode mode);
ff_status ff_rsi_controller_config_validate(const ff_rsi_controller_config *config); /* FF_ERR_ARGUMENT */

typedef enum ff_rsi_stop {
    FF_RSI_RUNNING = 0,
    FF_RSI_STOP_TIMEOUT, /* too many late answers */
    FF_RSI_STOP_MONITOR, /* POSCORRMON or AXISCORRMON */
    FF_RSI_STOP_ASKED    /* the Stop tag */
} ff_rsi_stop;

typedef struct ff_rsi_controller_info {
    uint64_t sent;      /* Rob telegrams */
    uint64_t accepted;  /* answers in time */
    uint64_t late;      /* cycles that closed without their answer: the Delay counter */
    uint64_t too_late;  /* answers to an earlier cycle, discarded */
    uint64_t repeated;  /* second answers to one cycle, discarded */
    uint64_t strange;   /* answers to a cycle that never was */
    uint64_t malformed; /* also a wrong Type */
    uint64_t clipped;   /* cycles in which POSCORR or AXISCORR acted */
} ff_rsi_controller_info;

typedef struct ff_rsi_controller_state {
    ff_rsi_stop stopped;
    bool open;                 /* a cycle runs: Rob was sent, not finished */
    bool answered;             /* its answer came */
    uint64_t ipoc;             /* of the running cycle, or of the next */
    unsigned late_row;         /* late answers in a row */
    ff_rsi_sen sen;            /* answer of the running cycle */
    double value[FF_RSI_TAGS]; /* [mm deg] what the tags hold */
    double translation_mm[3];  /* cumulative Cartesian correction */
    ff_quat rotation;
    double axes[12];             /* [deg or mm] cumulative */
    char text[FF_RSI_TEXT_SIZE]; /* last EStr */
    ff_rsi_controller_info info;
} ff_rsi_controller_state;

/* What the drives shall add this cycle: totals since RSI_ON. Cartesian: p = p_start + pose.p, R = R(pose.q)
 * R_start, both in the frame that RefCorrSys names. */
typedef struct ff_rsi_correction {
    ff_pose pose;       /* [m] */
    double axes[6];     /* [rad] */
    double external[6]; /* [rad or m] */
} ff_rsi_correction;

void ff_rsi_controller_reset(const ff_rsi_controller_config *config, ff_rsi_controller_state *state);
/* Opens a cycle: rob carries the measured values, its delay and ipoc are filled in here. FF_OK;
 * FF_ERR_ARGUMENT: the last cycle is not finished; FF_ERR_DEVICE: RSI has stopped, nothing to send; encode's
 * errors (cycle not opened). */
ff_status ff_rsi_controller_send(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                 ff_rsi_rob *rob, char *buffer, size_t size, size_t *used);
/* An answer. FF_OK: taken. FF_INFO_STALE: for an earlier cycle, or the second for this one. FF_ERR_ARGUMENT:
 * for a cycle that never was. FF_ERR_FORMAT, FF_ERR_NOT_FINITE, FF_ERR_SIZE, FF_ERR_UNSUPPORTED: malformed.
 * Only FF_OK has an effect beyond the counters. */
ff_status ff_rsi_controller_receive(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                    const char *bytes, size_t size);
/* Closes the cycle and gives the correction. FF_OK. FF_INFO_HELD: no answer, HOLDON acted. FF_INFO_LIMITED:
 * clipped. FF_ERR_LIMIT: monitor abort. FF_ERR_DEVICE: timeout, stop asked, or stopped before; state->stopped
 * says which, and the correction is the last valid one. FF_ERR_ARGUMENT: no cycle is open. */
ff_status ff_rsi_controller_finish(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                   ff_rsi_correction *correction);

#endif
