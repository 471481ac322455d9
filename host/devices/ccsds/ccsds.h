/* devices/ccsds/ccsds.h - CCSDS space packets for on-board software under test: cFS secondary headers, PUS-C
 * as an option.
 *
 * Headers are big-endian. Payloads are the caller's (ours: little-endian doubles in SI units). */
#ifndef FF_DEVICES_CCSDS_H
#define FF_DEVICES_CCSDS_H

#include "freefloat/base.h"

#define FF_CCSDS_PRIMARY_SIZE 6     /* [bytes] */
#define FF_CCSDS_CFS_COMMAND_SIZE 8 /* [bytes] primary and secondary header */
#define FF_CCSDS_CFS_TELEMETRY_SIZE 16
#define FF_CCSDS_CFS_MAX 768      /* [bytes] largest command that CI_LAB takes */
#define FF_CCSDS_PACKET_MAX 65542 /* [bytes] 6 + 65536 */
#define FF_CCSDS_CFS_IN_PORT 1234
#define FF_CCSDS_CFS_OUT_PORT 1235

typedef struct ff_ccsds_primary {
    bool telecommand;
    bool secondary;       /* a secondary header follows */
    uint16_t apid;        /* 11 bit */
    uint8_t segmentation; /* 2 bit; 3 unsegmented */
    uint16_t count;       /* 14 bit */
    size_t size;          /* [bytes] whole packet */
} ff_ccsds_primary;

/* FF_ERR_ARGUMENT: a field does not fit; FF_ERR_SIZE: fewer than 6 bytes. */
ff_status ff_ccsds_primary_encode(const ff_ccsds_primary *primary, uint8_t *buffer, size_t size);
/* FF_ERR_SIZE: the bytes end before the packet does; FF_ERR_UNSUPPORTED: version not 0. */
ff_status ff_ccsds_primary_decode(const uint8_t *bytes, size_t size, ff_ccsds_primary *primary);

typedef struct ff_ccsds_cfs_command {
    uint16_t apid, count;
    uint8_t function; /* 7 bit */
    const uint8_t *payload;
    size_t payload_size;
} ff_ccsds_cfs_command;

/* The checksum makes the XOR of all bytes and 0xff zero. Encode: FF_ERR_SIZE, FF_ERR_ARGUMENT. Decode: also
 * FF_ERR_FORMAT for telemetry, a missing secondary header, trailing bytes or a wrong checksum; payload points
 * into bytes. */
ff_status ff_ccsds_cfs_command_encode(const ff_ccsds_cfs_command *command, uint8_t *buffer, size_t size,
                                      size_t *used);
ff_status ff_ccsds_cfs_command_decode(const uint8_t *bytes, size_t size, ff_ccsds_cfs_command *command);

typedef struct ff_ccsds_cfs_telemetry {
    uint16_t apid, count;
    uint32_t seconds;
    uint16_t subseconds; /* [2^-16 s] */
    const uint8_t *payload;
    size_t payload_size;
} ff_ccsds_cfs_telemetry;

ff_status ff_ccsds_cfs_telemetry_encode(const ff_ccsds_cfs_telemetry *telemetry, uint8_t *buffer, size_t size,
                                        size_t *used);
ff_status ff_ccsds_cfs_telemetry_decode(const uint8_t *bytes, size_t size, ff_ccsds_cfs_telemetry *telemetry);

/* ECSS PUS-C. CRC-16: polynomial 0x1021, start 0xffff. */
uint16_t ff_ccsds_crc16(const uint8_t *bytes, size_t size);

typedef struct ff_ccsds_pus_command {
    uint16_t apid, count;
    uint8_t ack; /* 4 flags */
    uint8_t service, subtype;
    uint16_t source;
    const uint8_t *payload;
    size_t payload_size;
} ff_ccsds_pus_command;

typedef struct ff_ccsds_pus_telemetry {
    uint16_t apid, count;
    uint8_t time_status; /* 4 bit spacecraft time reference status */
    uint8_t service, subtype;
    uint16_t type_count; /* message type counter */
    uint16_t destination;
    const uint8_t *payload; /* time field first, as long as the mission says */
    size_t payload_size;
} ff_ccsds_pus_telemetry;

ff_status ff_ccsds_pus_command_encode(const ff_ccsds_pus_command *command, uint8_t *buffer, size_t size,
                                      size_t *used);
ff_status ff_ccsds_pus_command_decode(const uint8_t *bytes, size_t size, ff_ccsds_pus_command *command);
ff_status ff_ccsds_pus_telemetry_encode(const ff_ccsds_pus_telemetry *telemetry, uint8_t *buffer, size_t size,
                                        size_t *used);
ff_status ff_ccsds_pus_telemetry_decode(const uint8_t *bytes, size_t size, ff_ccsds_pus_telemetry *telemetry);

#endif
