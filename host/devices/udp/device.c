/* A sensor described in the scenario as a device: the policies are those of the ATI client. */
#include "devices/udp/udp.h"

#include <string.h>

static const double retry = 0.1; /* [s] between requests, and of silence before one */
enum { RETRIES = 20, RESTART = 1000 };

typedef struct sensor {
    ff_udp_layout layout;
    bool started, given_up, heard;
    double asked, spoke; /* [s] */
    unsigned tries;
    ff_udp_record last;
    uint32_t stamp; /* records, where it has no counter of its own */
    unsigned repeats;
    ff_device_counters counters;
} sensor;

static const char *refuse(const ff_device_settings *settings) {
    ff_udp_layout layout;
    return ff_udp_layout_of(settings, &layout);
}

static void open(void *self, const ff_device_settings *settings) {
    sensor *s = self;
    *s = (sensor){0};
    ff_udp_layout_of(settings, &s->layout);
}

static void range(const void *self, ff_device_range *range) {
    (void)self;
    *range =
        (ff_device_range){.turn = FF_INF, .axis = FF_INF, .shift = FF_INF, .force = FF_INF, .torque = FF_INF};
}

/* Records missing before this one, by its counter; false: it is not newer. */
static bool follows(sensor *s, uint32_t counter, uint64_t *lost) {
    const unsigned bits = 8 * (unsigned)s->layout.counter_bytes;
    *lost = 0;
    if (!bits || !s->heard)
        return true;
    const uint32_t mask = bits < 32 ? (1u << bits) - 1u : UINT32_MAX,
                   ahead = (counter - s->last.counter) & mask;
    if (ahead == 0) {
        s->counters.repeated++;
        return false;
    }
    if (ahead > mask / 2) {
        if (mask - ahead < RESTART || bits < 16) {
            s->counters.reordered++;
            return false;
        }
        s->counters.restarts++; /* far behind: it counts anew */
        return true;
    }
    *lost = ahead - 1;
    return true;
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    sensor *s = self;
    ff_udp_record record;
    uint64_t lost;
    const ff_status status = ff_udp_decode(&s->layout, bytes, size, &record);
    if (status != FF_OK) {
        s->counters.malformed++;
        return status;
    }
    if (!follows(s, record.counter, &lost))
        return FF_INFO_STALE;
    const bool same = s->heard && memcmp(record.value, s->last.value, sizeof record.value) == 0;
    s->repeats = same ? s->repeats + 1 : 0;
    s->last = record;
    s->heard = true;
    s->spoke = now;
    s->tries = 0;
    s->stamp++;
    s->counters.received++;
    s->counters.lost += lost;
    ff_sensor_report *report = &sample->sensor;
    *report = (ff_sensor_report){.force = s->layout.scale[0],
                                 .torque = s->layout.scale[1],
                                 .stamp = s->layout.counter_bytes == 4 ? record.counter : s->stamp,
                                 .repeats = s->repeats,
                                 .word = record.status,
                                 .health = record.status ? FF_ERR_DEVICE : FF_OK};
    for (int n = 0; n < 3; n++) {
        report->f_s.f.a[n] = s->layout.scale[0] * record.value[n];
        report->f_s.t.a[n] = s->layout.scale[1] * record.value[n + 3];
    }
    return lost ? FF_INFO_GAP : FF_OK;
}

static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    sensor *s = self;
    const ff_udp_layout *l = &s->layout;
    (void)order;
    *used = 0;
    if (!l->requests)
        return FF_OK;
    const bool silent = !s->started || (now - s->spoke >= retry && now - s->asked >= retry);
    if (!silent && !l->polled)
        return FF_OK;
    if (silent && s->started && ++s->tries > RETRIES)
        return FF_ERR_DEVICE;
    if (size < l->requests)
        return FF_ERR_SIZE;
    if (!s->started)
        s->spoke = now;
    s->started = true;
    s->asked = now;
    memcpy(bytes, l->request, l->requests);
    *used = l->requests;
    return FF_OK;
}

static ff_status stop(void *self, void *bytes, size_t size, size_t *used) {
    sensor *s = self;
    *used = 0;
    if (!s->started || !s->layout.farewells)
        return FF_OK;
    if (size < s->layout.farewells)
        return FF_ERR_SIZE;
    memcpy(bytes, s->layout.farewell, s->layout.farewells);
    *used = s->layout.farewells;
    s->started = false;
    return FF_OK;
}

static void count(const void *self, ff_device_counters *counters) {
    *counters = ((const sensor *)self)->counters;
}

static const char *const number_words[] = {"int16", "int32", "float32", "float64", NULL};
static const char *const order_words[] = {"big", "little", NULL};
static const char *const absent_words[] = {"absent", NULL};
static const char *const polled_words[] = {"off", "on", NULL};
#define WHOLE(key, usual, sentence)                                                             \
    {                                                                                           \
        .name = #key, .type = FF_SETTING_INTEGER, .unit = "bytes", .absent = (usual), .low = 0, \
        .high = 65535, .offset = FF_DEVICE_SETTING(key), .help = (sentence)                     \
    }
#define PLACE(key, sentence)                                                                                \
    {                                                                                                       \
        .name = #key, .type = FF_SETTING_REAL, .unit = "bytes", .absent = "absent", .choice = absent_words, \
        .low = 0, .high = 65535, .offset = FF_DEVICE_SETTING(key), .help = (sentence)                       \
    }
#define SCALE(key, sentence)                                                                           \
    {                                                                                                  \
        .name = #key, .type = FF_SETTING_REAL, .unit = "", .absent = "1", .low = 0, .above_low = true, \
        .high = FF_INF, .offset = FF_DEVICE_SETTING(key), .help = (sentence)                           \
    }
#define PLACES(key, field, usual, sentence)                                                           \
    {                                                                                                 \
        .name = (key), .type = FF_SETTING_VECTOR, .unit = "bytes", .absent = (usual), .low = -FF_INF, \
        .high = FF_INF, .offset = FF_DEVICE_SETTING(field), .help = (sentence)                        \
    }
static const ff_setting setting[] = {
    FF_DEVICE_PORT("port", port, "50002", "UDP port of the sensor."),
    FF_DEVICE_PORT("listen", listen, "50003",
                   "UDP port of this computer that it sends to; 0: it answers whoever asks."),
    WHOLE(size, "36", "Size of a datagram; any other is refused."),
    {.name = "number",
     .type = FF_SETTING_CHOICE,
     .unit = "",
     .offset = FF_DEVICE_SETTING(number),
     .absent = "int32",
     .choice = number_words,
     .help = "How the six numbers are written."},
    {.name = "order",
     .type = FF_SETTING_BOOLEAN,
     .unit = "",
     .offset = FF_DEVICE_SETTING(little),
     .absent = "big",
     .choice = order_words,
     .help = "Byte order, counter and status included."},
    PLACES("force", force_at, "[12, 16, 20]", "Where Fx, Fy and Fz begin."),
    PLACES("torque", torque_at, "[24, 28, 32]", "Where Tx, Ty and Tz begin."),
    SCALE(force_scale, "Force of one unit of these numbers, in force_unit."),
    SCALE(torque_scale, "Torque of one, in torque_unit."),
    FF_DEVICE_TEXT("force_unit", force_unit, "N", "N kN lbf klbf kgf gf; another is refused."),
    FF_DEVICE_TEXT("torque_unit", torque_unit, "Nm",
                   "Nm kNm Nmm lbf-in lbf-ft kgf-cm kgf-m; another is refused."),
    PLACE(counter, "Where its own count of records begins, if it sends one: lost, repeated and old ones are "
                   "seen by it."),
    WHOLE(counter_bytes, "4", "Width of the counter: 1, 2 or 4."),
    PLACE(status, "Where a status begins, if it sends one: 0 is healthy, any other a fault."),
    WHOLE(status_bytes, "4", "Width of the status: 1, 2 or 4."),
    FF_DEVICE_TEXT("mark", mark, "absent",
                   "Bytes with which each record begins, in hexadecimal: others are refused."),
    FF_DEVICE_TEXT("request", request, "absent", "Bytes that make it send, in hexadecimal."),
    FF_DEVICE_TEXT("farewell", farewell, "absent", "Bytes that leave it silent at the end."),
    {.name = "polled",
     .type = FF_SETTING_BOOLEAN,
     .unit = "",
     .offset = FF_DEVICE_SETTING(polled),
     .absent = "off",
     .choice = polled_words,
     .help = "Whether it sends one record for each request, which then goes out in every cycle."},
};

const ff_device ff_device_udp = {.name = "udp",
                                 .help = "any sensor whose datagrams the keys here describe; `run` and "
                                         "`facility` give it the errors named here.",
                                 .kind = FF_DEVICE_SENSOR,
                                 .setting = setting,
                                 .settings = sizeof setting / sizeof *setting,
                                 .port = FF_UDP_PORT,
                                 .bytes = sizeof(sensor),
                                 .refuse = refuse,
                                 .open = open,
                                 .range = range,
                                 .sample = sample,
                                 .answer = answer,
                                 .stop = stop,
                                 .count = count};
