/* devices/ccsds/onboard.h - on-board software on the wire: sensors go out, actuation comes back, in space
 * packets.
 *
 * The payloads are little-endian, doubles in SI units, both described byte by byte in docs/obsw.md. Around
 * them stands the cFS secondary header (default) or that of ECSS PUS-C. The sensors are telemetry of the
 * simulated satellite, the actuation is a command to it: commands carry a checksum. */
#ifndef FF_DEVICES_ONBOARD_H
#define FF_DEVICES_ONBOARD_H

#include "../../../examples/obsw/obsw.h"
#include "devices/ccsds/ccsds.h"

enum {
    FF_OBSW_SENSORS_SIZE = 232, /* payload without joints [byte]; 16 more for each joint */
    FF_OBSW_COMMAND_SIZE = 96,  /* payload without joints [byte]; 8 more for each joint */
    FF_OBSW_PACKET_MAX = 768,   /* what cFS takes: the sensors of 32 joints fit */
    FF_OBSW_APID_SENSORS = 160, /* cFS message id 0x08A0 */
    FF_OBSW_APID_COMMAND = 161, /* 0x18A1 */
    FF_OBSW_FUNCTION = 1,       /* cFS function code of the command */
    FF_OBSW_PUS_SERVICE = 128,  /* PUS: mission's own service, */
    FF_OBSW_PUS_SENSORS = 1,    /* its report */
    FF_OBSW_PUS_COMMAND = 2,    /* and its request */
    FF_OBSW_PUS_TIME = 6,       /* [byte] seconds and subseconds before the sensors' payload */
};

typedef struct ff_obsw_wire {
    bool pus; /* instead of cFS */
    uint16_t apid_sensors, apid_command;
} ff_obsw_wire;

/* What stands in both directions beside ff_obsw_in and ff_obsw_out. */
typedef struct ff_obsw_frame {
    uint32_t joints, session;
    uint64_t sequence; /* of the sensors; the command repeats the one it answers */
    double t;          /* [s] of the sensors, repeated likewise */
    double cycle;      /* [s] sensors only */
    bool lockstep;     /* sensors only: the simulation waits for the answer */
    uint16_t count;    /* 14 bit, of the packet: the sender's own */
} ff_obsw_frame;

/* Why a packet was refused; words in the same order from ff_obsw_refusal_name. */
typedef enum ff_obsw_refusal {
    FF_OBSW_TAKEN = -1,
    FF_OBSW_SHORT,      /* fewer bytes than the header says, or than the joints need */
    FF_OBSW_LONG,       /* more */
    FF_OBSW_CHECKSUM,   /* XOR of cFS, CRC of PUS */
    FF_OBSW_FOREIGN,    /* another APID, kind of packet, function, session, or sender */
    FF_OBSW_VERSIONS,   /* of the interface, or another number of joints */
    FF_OBSW_OLD,        /* answers sensors before those it must answer, or repeats */
    FF_OBSW_AHEAD,      /* answers sensors that have not been sent */
    FF_OBSW_NOT_FINITE, /* holds NaN or infinity */
    FF_OBSW_REFUSALS
} ff_obsw_refusal;

const char *ff_obsw_refusal_name(ff_obsw_refusal refusal); /* "short", ... */

void ff_obsw_wire_default(ff_obsw_wire *wire);
/* FF_ERR_SIZE, FF_ERR_ARGUMENT (more than FF_OBSW_JOINTS). */
ff_status ff_obsw_sensors_encode(const ff_obsw_wire *wire, const ff_obsw_frame *frame, const ff_obsw_in *in,
                                 uint8_t *buffer, size_t size, size_t *used);
ff_obsw_refusal ff_obsw_sensors_decode(const ff_obsw_wire *wire, const uint8_t *bytes, size_t size,
                                       ff_obsw_frame *frame, ff_obsw_in *in);
ff_status ff_obsw_command_encode(const ff_obsw_wire *wire, const ff_obsw_frame *frame, const ff_obsw_out *out,
                                 uint8_t *buffer, size_t size, size_t *used);
/* Session and sequence are the caller's to judge. *frame and *out are written only when it is taken. */
ff_obsw_refusal ff_obsw_command_decode(const ff_obsw_wire *wire, uint32_t joints, const uint8_t *bytes,
                                       size_t size, ff_obsw_frame *frame, ff_obsw_out *out);
/* All that acts is a number. */
bool ff_obsw_out_finite(const ff_obsw_out *out, size_t joints);

#endif
