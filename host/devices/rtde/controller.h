/* devices/rtde/controller.h - the controller's side of RTDE: one client's connection, what it asks for, and
 * the packets of each cycle. No sockets; the caller has the robot. docs/protocols.md: which rules of a real
 * controller this one keeps. */
#ifndef FF_DEVICES_UR_CONTROLLER_H
#define FF_DEVICES_UR_CONTROLLER_H

#include "devices/rtde/ur.h"

/* What the controller reports, in each cycle. */
typedef struct ff_ur_report {
    double timestamp; /* [s] since it was started */
    double q[6];      /* [rad] */
    double pose[6];   /* TCP in the base: m, rotation vector */
    double wrench[6]; /* raw, at the flange: [N], [N m] */
    double runtime, status, safety;
    double scaling;                 /* of speed, 0 to 1 */
    double integer[3];              /* output_int_register_24 to 26 */
    double real[1 + FF_UR_RECORDS]; /* output_double_register_24 ... */
} ff_ur_report;

/* Registers that its program reads. */
typedef struct ff_ur_registers {
    double count, mode, run, state, text; /* input_int_register_24 ... */
    double base, rest;                    /* input_int_register_29, 30 */
    double q[6];                          /* input_double_register_24 ... */
    double answers;                       /* [s] input_double_register_30 */
} ff_ur_registers;

/* What the program that we send keeps from step to step. */
typedef struct ff_ur_program {
    double taken; /* count of the last order that it took */
    double stood; /* steps since then */
} ff_ur_program;

static inline ff_ur_program ff_ur_program_begin(void) {
    return (ff_ur_program){.stood = 1.0};
}
/* A step of that program: it takes the order in the registers, or holds. */
bool ff_ur_program_step(ff_ur_program *program, const ff_ur_registers *registers);

/* One client. All zero at its beginning. */
typedef struct ff_ur_link {
    bool versioned, started;
    double frequency;                                              /* [Hz] that it asked for */
    uint8_t output[FF_RTDE_FIELDS_MAX], input[FF_RTDE_FIELDS_MAX]; /* rows of the tables */
    size_t outputs, inputs;
    ff_rtde_recipe output_recipe, input_recipe;
} ff_ur_link;

/* One packet of a client; the reply, if any, into the buffer. taken: another client writes the registers.
 * FF_OK; FF_INFO_GAP: registers were written; FF_ERR_FORMAT: a real controller would hang up. */
ff_status ff_ur_link_receive(ff_ur_link *link, const void *bytes, size_t size, bool taken,
                             ff_ur_registers *registers, uint8_t *reply, size_t room, size_t *used);
/* The packet of a cycle; nothing before the client has started it. */
ff_status ff_ur_link_send(const ff_ur_link *link, const ff_ur_report *report, uint8_t *bytes, size_t room,
                          size_t *used);
/* A program was sent: its number of the run, or -1: it is none of ours or not whole. */
int64_t ff_ur_program_run(const char *text, size_t size);

#endif
