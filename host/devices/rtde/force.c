/* The force-torque sensor inside a Universal Robots e-Series arm as a device: a second RTDE client of the
 * robot's controller, which reads and writes nothing. Raw: bias and mock-up are the loop's affair. */
#include "devices/device.h"
#include "devices/rtde/ur.h"

#include <string.h>

#define OUTPUTS "timestamp,ft_raw_wrench,robot_status_bits"

enum { AT_TIME, AT_WRENCH, AT_STATUS = 7, VALUES };

typedef struct sensor {
    double cycle;
    int asked; /* requests sent */
    ff_rtde_recipe recipe;
    double value[VALUES];
    bool known, stopped;
    unsigned repeats;
    ff_device_counters counters;
} sensor;

static void open(void *self, const ff_device_settings *settings) {
    *(sensor *)self = (sensor){.cycle = settings->cycle > 0.0 ? settings->cycle : 0.002};
}

static void range(const void *self, ff_device_range *range) {
    (void)self; /* not said over RTDE: sensor.range in the scenario */
    *range =
        (ff_device_range){.turn = FF_INF, .axis = FF_INF, .shift = FF_INF, .force = FF_INF, .torque = FF_INF};
}

static size_t frame(const void *bytes, size_t size) {
    ff_rtde_packet packet;
    size_t taken;
    return ff_rtde_decode(bytes, size, &packet, &taken) < 0 ? SIZE_MAX : taken;
}

static ff_status refuse(char *message, size_t size, const char *what) {
    ff_text_out out;
    ff_text_begin(&out, message, size - 1);
    ff_text_put(&out, "the robot's force sensor: ");
    ff_text_put(&out, what);
    message[out.used] = 0;
    return FF_ERR_DEVICE;
}

/* Version, outputs, start: a request for each reply. */
static ff_status greet(void *self, const void *bytes, size_t size, void *out, size_t room, size_t *used,
                       char *message, size_t message_size) {
    static const uint8_t type[] = {FF_RTDE_DOUBLE, FF_RTDE_VECTOR6D, FF_RTDE_UINT32};
    sensor *s = self;
    ff_rtde_packet packet = {0};
    size_t taken, bad;
    ff_status status = FF_OK;
    *used = 0;
    if (bytes && ff_rtde_decode(bytes, size, &packet, &taken) != FF_OK)
        return refuse(message, message_size, "the answer is not RTDE");
    if (packet.type == FF_RTDE_TEXT || (s->asked == 3 && packet.type == FF_RTDE_DATA))
        return FF_INFO_HELD;
    switch (s->asked++) {
    case 0:
        refuse(message, message_size, "its controller does not answer to RTDE");
        status = ff_rtde_version_encode(FF_RTDE_VERSION, out, room, used);
        break;
    case 1:
        if (ff_rtde_accepted(&packet) != FF_OK)
            return refuse(message, message_size, "RTDE protocol version 2 is refused");
        status = ff_rtde_outputs_encode(1.0 / s->cycle, OUTPUTS, out, room, used);
        if (status == FF_ERR_ARGUMENT)
            return refuse(message, message_size,
                          "time.cycle is too short, allowed: 0.002 s and more (500 Hz)");
        break;
    case 2:
        status = ff_rtde_recipe_decode(&packet, &s->recipe, &bad);
        if (status != FF_OK || s->recipe.count != 3 || memcmp(s->recipe.fields, type, sizeof type) != 0)
            return refuse(message, message_size,
                          "ft_raw_wrench is not there, allowed: an e-Series arm with software 5.9 or newer");
        status = ff_rtde_encode(FF_RTDE_START, NULL, 0, out, room, used);
        break;
    default:
        return ff_rtde_accepted(&packet) == FF_OK ? FF_OK
                                                  : refuse(message, message_size, "RTDE does not start");
    }
    return status == FF_OK ? FF_INFO_HELD : status;
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    sensor *s = self;
    ff_rtde_packet packet;
    size_t whole;
    double value[VALUES];
    (void)now;
    if (size > FF_DEVICE_READ_MAX || ff_rtde_decode(bytes, size, &packet, &whole) != FF_OK || whole != size ||
        (packet.type == FF_RTDE_DATA && ff_rtde_data_decode(&s->recipe, &packet, value, VALUES) != FF_OK)) {
        s->counters.malformed++;
        return FF_ERR_FORMAT;
    }
    if (packet.type != FF_RTDE_DATA) {
        s->counters.empty++;
        return FF_INFO_STALE;
    }
    const double since = value[AT_TIME] - s->value[AT_TIME];
    if (s->known && !(since > 0.0) && since > -1.0) {
        *(since == 0.0 ? &s->counters.repeated : &s->counters.reordered) += 1;
        return FF_INFO_STALE;
    }
    s->counters.restarts += s->known && since < 0.0;
    const double cycles = s->known && since > 0.0 ? fmin(round(since / s->cycle), 1e9) : 1.0;
    const uint64_t lost = cycles > 1.0 ? (uint64_t)cycles - 1 : 0;
    const bool same = s->known && memcmp(value + AT_WRENCH, s->value + AT_WRENCH, 6 * sizeof *value) == 0;
    s->repeats = same ? s->repeats + 1 : 0;
    memcpy(s->value, value, sizeof value);
    s->known = true;
    s->counters.received++;
    s->counters.lost += lost;
    const double *w = value + AT_WRENCH;
    sample->sensor = (ff_sensor_report){
        .f_s = {ff_vec3_make(w[3], w[4], w[5]), ff_vec3_make(w[0], w[1], w[2])},
        .stamp = (uint32_t)(uint64_t)llround(fmin(fmax(value[AT_TIME], 0.0) / s->cycle, 1e15)),
        .repeats = s->repeats,
        .word = (uint32_t)value[AT_STATUS],
        .health = (uint32_t)value[AT_STATUS] & FF_UR_STATUS_POWERED ? FF_OK : FF_ERR_DEVICE};
    return lost ? FF_INFO_GAP : FF_OK;
}

/* It was started when it was greeted. */
static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    (void)self, (void)now, (void)order, (void)bytes, (void)size;
    *used = 0;
    return FF_OK;
}

static ff_status stop(void *self, void *bytes, size_t size, size_t *used) {
    *used = 0;
    return ((const sensor *)self)->asked < 4 ? FF_OK
                                             : ff_rtde_encode(FF_RTDE_PAUSE, NULL, 0, bytes, size, used);
}

static void count(const void *self, ff_device_counters *counters) {
    *counters = ((const sensor *)self)->counters;
}

const ff_device ff_device_ur_force = {
    .name = "ur-force",
    .help = "the sensor inside an e-Series arm (`ft_raw_wrench` of RTDE, at "
            "the flange), with a robot of kind `ur-rtde`, at whose address it is.",
    .kind = FF_DEVICE_SENSOR,
    .port = FF_RTDE_PORT,
    .bytes = sizeof(sensor),
    .open = open,
    .range = range,
    .frame = frame,
    .greet = greet,
    .sample = sample,
    .answer = answer,
    .stop = stop,
    .count = count};
