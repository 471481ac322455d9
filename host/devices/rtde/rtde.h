/* devices/rtde/rtde.h - Universal Robots RTDE (protocol version 2): packets, recipes and data, no sockets.
 *
 * TCP, big-endian: uint16 size (with its own three bytes), uint8 type, payload. RTDE reports and takes
 * registers; a program on the robot must turn them into motion. Codec only: no peer has been run against it.
 */
#ifndef FF_DEVICES_RTDE_H
#define FF_DEVICES_RTDE_H

#include "devices/text.h"

#define FF_RTDE_PORT 30004
#define FF_RTDE_VERSION 2
#define FF_RTDE_NAMES_MAX 2048 /* [bytes] list of names in a request */
#define FF_RTDE_FIELDS_MAX 128 /* fields in a recipe */

typedef enum ff_rtde_type {
    FF_RTDE_REQUEST_VERSION = 'V',
    FF_RTDE_CONTROLLER_VERSION = 'v',
    FF_RTDE_TEXT = 'M',
    FF_RTDE_DATA = 'U',
    FF_RTDE_SETUP_OUTPUTS = 'O',
    FF_RTDE_SETUP_INPUTS = 'I',
    FF_RTDE_START = 'S',
    FF_RTDE_PAUSE = 'P'
} ff_rtde_type;

typedef struct ff_rtde_packet {
    uint8_t type;
    const uint8_t *payload;
    size_t size; /* [bytes] of the payload */
} ff_rtde_packet;

/* FF_ERR_SIZE: buffer too small; FF_ERR_ARGUMENT: beyond 65535 bytes. */
ff_status ff_rtde_encode(uint8_t type, const uint8_t *payload, size_t payload_size, uint8_t *buffer,
                         size_t size, size_t *used);
/* The first packet of a stream. FF_OK: *taken bytes belong to it; FF_INFO_HELD: more bytes are needed;
 * FF_ERR_FORMAT: a size below three: the stream is lost. */
ff_status ff_rtde_decode(const uint8_t *bytes, size_t size, ff_rtde_packet *packet, size_t *taken);

ff_status ff_rtde_version_encode(uint16_t version, uint8_t *buffer, size_t size, size_t *used);
/* names: comma separated. FF_ERR_ARGUMENT: empty, too long, or frequency not in (0, 500] Hz. */
ff_status ff_rtde_outputs_encode(double frequency, const char *names, uint8_t *buffer, size_t size,
                                 size_t *used);
ff_status ff_rtde_inputs_encode(const char *names, uint8_t *buffer, size_t size, size_t *used);
/* The one byte of a reply to V, S or P. FF_ERR_DEVICE: refused; FF_ERR_FORMAT. */
ff_status ff_rtde_accepted(const ff_rtde_packet *packet);

typedef enum ff_rtde_field {
    FF_RTDE_BOOL,
    FF_RTDE_UINT8,
    FF_RTDE_UINT32,
    FF_RTDE_UINT64,
    FF_RTDE_INT32,
    FF_RTDE_DOUBLE,
    FF_RTDE_VECTOR3D,
    FF_RTDE_VECTOR6D,
    FF_RTDE_VECTOR6INT32,
    FF_RTDE_VECTOR6UINT32
} ff_rtde_field;

typedef struct ff_rtde_recipe {
    uint8_t id;
    size_t count;
    uint8_t fields[FF_RTDE_FIELDS_MAX]; /* ff_rtde_field */
    size_t bytes;                       /* of a data packet's payload, with the id */
    size_t values;                      /* numbers in all fields */
} ff_rtde_recipe;

/* From the reply to O or I. FF_ERR_UNSUPPORTED: NOT_FOUND, IN_USE or an unknown type, *bad is the field's
 * number; FF_ERR_SIZE: too many fields; FF_ERR_FORMAT. */
ff_status ff_rtde_recipe_decode(const ff_rtde_packet *packet, ff_rtde_recipe *recipe, size_t *bad);
/* All fields flattened into doubles, in the recipe's order (UINT64 beyond 2^53 is rounded). FF_ERR_FORMAT:
 * another recipe or length; FF_ERR_NOT_FINITE: a double is not finite; FF_ERR_SIZE. Nothing is written then.
 */
ff_status ff_rtde_data_decode(const ff_rtde_recipe *recipe, const ff_rtde_packet *packet, double *values,
                              size_t capacity);
/* FF_ERR_ARGUMENT: a value does not fit its field or is not finite. */
ff_status ff_rtde_data_encode(const ff_rtde_recipe *recipe, const double *values, uint8_t *buffer,
                              size_t size, size_t *used);

typedef struct ff_rtde_message {
    ff_span text, source; /* point into the packet */
    uint8_t level;        /* 0 exception, 1 error, 2 warning, 3 info */
} ff_rtde_message;

ff_status ff_rtde_message_decode(const ff_rtde_packet *packet, ff_rtde_message *message); /* FF_ERR_FORMAT */

#endif
