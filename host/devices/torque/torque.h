/* devices/torque/torque.h - an arm that is commanded by joint torques, over UDP: our own bytes, with the
 * fields of KUKA's FRI in its joint torque mode. Both sides: what a computer that commands it needs
 * (device.c), and the arm's (arm.c).
 *
 * The arm sends one telegram a cycle (1 kHz), each is answered by one command. Little-endian, doubles,
 * CRC-16. docs/protocols.md has it byte by byte. */
#ifndef FF_DEVICES_TORQUE_H
#define FF_DEVICES_TORQUE_H

#include "devices/device.h"

#define FF_TORQUE_PORT 30300
#define FF_TORQUE_VERSION 1
#define FF_TORQUE_NONE 0xffffffffu /* no sequence */

enum {
    FF_TORQUE_TELEGRAM_SIZE = 106, /* [bytes] and 32 a joint */
    FF_TORQUE_COMMAND_SIZE = 26,   /* and 16 a joint */
    FF_TORQUE_TELEGRAM_MAX = FF_TORQUE_TELEGRAM_SIZE + 32 * FF_TREE_JOINTS_MAX,
    FF_TORQUE_COMMAND_MAX = FF_TORQUE_COMMAND_SIZE + 16 * FF_TREE_JOINTS_MAX
};

typedef enum ff_torque_state {
    FF_TORQUE_IDLE,       /* nobody answers; brakes */
    FF_TORQUE_MONITORING, /* somebody does; brakes */
    FF_TORQUE_COMMANDING, /* torques act */
    FF_TORQUE_FAULT,      /* brakes, until it begins again */
    FF_TORQUE_STATES
} ff_torque_state;

/* Why it stands: X(name, text) */
#define FF_TORQUE_FAULTS(X)               \
    X(NONE, "none")                       \
    X(SILENT, "no command in time")       \
    X(POSITION, "a joint left its range") \
    X(SPEED, "a joint was too fast")      \
    X(DEVICE, "the arm's own protection")

typedef enum ff_torque_fault {
#define FF_TORQUE_ENUM(name, text) FF_TORQUE_FAULT_##name,
    FF_TORQUE_FAULTS(FF_TORQUE_ENUM)
#undef FF_TORQUE_ENUM
        FF_TORQUE_FAULT_COUNT
} ff_torque_fault;
const char *ff_torque_fault_text(int fault);

typedef enum ff_torque_mode {
    FF_TORQUE_HOLD,   /* brakes */
    FF_TORQUE_TORQUE, /* the torques act */
    FF_TORQUE_END,    /* brakes, and the client is gone */
    FF_TORQUE_MODES
} ff_torque_mode;

enum { FF_TORQUE_CLOSED = 1, FF_TORQUE_BRAKED = 2, FF_TORQUE_LOCKSTEP = 4, FF_TORQUE_CLIPPED = 8 };

typedef struct ff_torque_telegram {
    unsigned joints;
    int state, fault;
    unsigned flags;              /* FF_TORQUE_CLOSED ... */
    uint32_t session;            /* of the arm's start, not 0 */
    uint32_t sequence;           /* of this telegram */
    uint32_t echo;               /* sequence of the newest command that it took; FF_TORQUE_NONE: none yet */
    uint32_t run;                /* who sent that; 0: none */
    uint32_t late;               /* cycles without one, since its start */
    double time, cycle, arrives; /* [s] arrives: with FF_TORQUE_LOCKSTEP */
    double wrench[6];            /* [N], [N m] force, then torque, at the tip */
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX], torque[FF_TREE_JOINTS_MAX],
        external[FF_TREE_JOINTS_MAX];
} ff_torque_telegram;

typedef struct ff_torque_command {
    unsigned joints;
    int mode;
    bool grips;
    uint32_t session, sequence; /* of the telegram that it answers */
    uint32_t run;               /* who sends it, not 0 */
    double torque[FF_TREE_JOINTS_MAX];
    double q[FF_TREE_JOINTS_MAX]; /* [rad] the joints of that telegram, as they were read */
} ff_torque_command;

/* FF_ERR_SIZE: the buffer; FF_ERR_ARGUMENT: numbers that the other side would refuse. */
ff_status ff_torque_telegram_encode(const ff_torque_telegram *telegram, uint8_t *bytes, size_t size,
                                    size_t *used);
ff_status ff_torque_command_encode(const ff_torque_command *command, uint8_t *bytes, size_t size,
                                   size_t *used);
/* FF_ERR_SIZE: another length than it says or its joints need; FF_ERR_FORMAT: not one, or its CRC;
 * FF_ERR_UNSUPPORTED: another version; FF_ERR_NOT_FINITE. Nothing is written then. */
ff_status ff_torque_telegram_decode(const uint8_t *bytes, size_t size, ff_torque_telegram *telegram);
ff_status ff_torque_command_decode(const uint8_t *bytes, size_t size, ff_torque_command *command);

/* ------------------------------------------------------------------------------------- the arm's side -- */

typedef struct ff_torque_arm_config {
    ff_joint_limits limits;
    double cycle;    /* [s] */
    unsigned silent; /* cycles without a command for which the last torque acts; then brakes and fault */
    double apart;    /* [rad] largest difference of a command's joints from those it answers */
    bool lockstep;
} ff_torque_arm_config;

typedef struct ff_torque_arm_counters {
    uint64_t cycles, taken, late, stale, strange, malformed, early, clipped;
} ff_torque_arm_counters;

/* Plain memory. */
typedef struct ff_torque_arm {
    ff_torque_state state;
    ff_torque_fault fault;
    uint32_t session, sequence, echo, run;
    bool open, answered, closed, clipped;
    unsigned missing;             /* cycles in a row without a command */
    double q[FF_TREE_JOINTS_MAX]; /* of the telegram that is open */
    ff_torque_command command;    /* newest that was taken */
    ff_torque_arm_counters count;
} ff_torque_arm;

/* What it measures at the start of a cycle. */
typedef struct ff_torque_measured {
    double q[FF_TREE_JOINTS_MAX], qd[FF_TREE_JOINTS_MAX], torque[FF_TREE_JOINTS_MAX],
        external[FF_TREE_JOINTS_MAX], wrench[6];
    double arrives;
    bool closed;
} ff_torque_measured;

/* What its motors do in that cycle. */
typedef struct ff_torque_action {
    bool brakes;
    bool grips;
    double torque[FF_TREE_JOINTS_MAX];
} ff_torque_action;

/* FF_ERR_ARGUMENT: joints, cycle, or a limit that is not positive. */
ff_status ff_torque_arm_validate(const ff_torque_arm_config *config);
ff_torque_arm_config ff_torque_arm_default(void); /* one joint without limits, 1 kHz, 3 cycles, 0.1 rad */
void ff_torque_arm_reset(ff_torque_arm *arm, uint32_t session);
/* The telegram of the next cycle; a joint beyond its limits while torques act is a fault. */
ff_status ff_torque_arm_send(const ff_torque_arm_config *config, ff_torque_arm *arm,
                             const ff_torque_measured *measured, uint8_t *bytes, size_t size, size_t *used);
/* FF_OK: it is the answer to the open telegram. FF_INFO_STALE: a second one, or to another telegram;
 * FF_ERR_DEVICE: of another session, of a second client, or on other joints; negative ones of decode. All are
 * counted. */
ff_status ff_torque_arm_receive(const ff_torque_arm_config *config, ff_torque_arm *arm, const void *bytes,
                                size_t size);
/* The cycle closes, with or without its command. */
void ff_torque_arm_finish(const ff_torque_arm_config *config, ff_torque_arm *arm, ff_torque_action *action);

#endif
