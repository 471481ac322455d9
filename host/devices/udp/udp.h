/* devices/udp/udp.h - a force-torque sensor whose datagrams a scenario describes: where each number lies in a
 * record, how it is written and what it means. Both sides, no sockets. */
#ifndef FF_DEVICES_UDP_H
#define FF_DEVICES_UDP_H

#include "devices/device.h"

enum { FF_UDP_PORT = 50002, FF_UDP_SIZE_MAX = 1024, FF_UDP_TEXT_MAX = 63 };

typedef enum ff_udp_number { FF_UDP_INT16, FF_UDP_INT32, FF_UDP_FLOAT32, FF_UDP_FLOAT64 } ff_udp_number;

/* One record's layout, from the settings. */
typedef struct ff_udp_layout {
    size_t size; /* [bytes] of a datagram */
    ff_udp_number number;
    bool little;
    size_t at[6];                      /* of Fx Fy Fz Tx Ty Tz */
    double scale[2];                   /* [N], [N m] of one unit */
    size_t counter_at, counter_bytes;  /* bytes 0: there is none */
    size_t status_at, status_bytes;    /* the same; healthy is 0 */
    uint8_t mark[FF_UDP_TEXT_MAX];     /* with which every record begins */
    uint8_t request[FF_UDP_TEXT_MAX];  /* that makes it speak */
    uint8_t farewell[FF_UDP_TEXT_MAX]; /* that leaves it silent */
    size_t marks, requests, farewells; /* [bytes] */
    bool polled;                       /* one record for each request */
} ff_udp_layout;

typedef struct ff_udp_record {
    double value[6]; /* in its own units */
    uint32_t counter, status;
} ff_udp_record;

/* NULL, or why the settings describe no record, with what is allowed. */
const char *ff_udp_layout_of(const ff_device_settings *settings, ff_udp_layout *layout);
/* FF_ERR_FORMAT: another size or mark; FF_ERR_NOT_FINITE. *record is written on FF_OK only. */
ff_status ff_udp_decode(const ff_udp_layout *layout, const void *bytes, size_t size, ff_udp_record *record);
/* layout->size bytes. FF_INFO_SATURATED: a value did not fit its integer, the nearest one stands there. */
ff_status ff_udp_encode(const ff_udp_layout *layout, const ff_udp_record *record, uint8_t *bytes);

#endif
