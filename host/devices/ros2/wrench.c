/* A force-torque sensor that a ROS 2 driver publishes (force_torque_sensor_broadcaster) as a device. Raw:
 * bias and mock-up are the loop's affair. */
#include "devices/ros2/ros2.h"

#include "devices/text.h"

#include <string.h>

typedef struct sensor {
    ff_device_settings settings;
    ff_ros2_pace pace;
    double period; /* [s] of its readings */
    uint64_t from, stamp, number;
    bool known;
    unsigned repeats;
    ff_wrench f_s;
    ff_device_counters counters;
} sensor;

static void open(void *self, const ff_device_settings *settings) {
    sensor *s = self;
    *s = (sensor){.settings = *settings};
    s->period = s->settings.cycle > 0.0 ? s->settings.cycle : 0.004;
}

static void range(const void *self, ff_device_range *range) {
    (void)self; /* not said: sensor.range in the scenario */
    *range =
        (ff_device_range){.turn = FF_INF, .axis = FF_INF, .shift = FF_INF, .force = FF_INF, .torque = FF_INF};
}

static void topics(const void *self, ff_device_topics *topics) {
    *topics =
        (ff_device_topics){.reads = ((const sensor *)self)->settings.topic, .reads_type = FF_ROS2_WRENCH};
}

static ff_status greet(void *self, const void *packet, size_t size, void *bytes, size_t room, size_t *used,
                       char *message, size_t message_size) {
    sensor *s = self;
    const char *topic = s->settings.topic;
    ff_ros2_message m;
    ff_wrench wrench;
    (void)bytes, (void)room;
    *used = 0;
    if (!packet) {
        FF_TEXT_LINE(message, message_size, "nobody publishes ", topic, " (" FF_ROS2_WRENCH ")");
        return FF_INFO_HELD;
    }
    const ff_status decoded = ff_ros2_wrench_decode(packet, size, &m, &wrench);
    if (decoded != FF_OK) {
        FF_TEXT_LINE(message, message_size, topic,
                     decoded == FF_ERR_NOT_FINITE ? ": a force or torque is not a number"
                                                  : ": its messages cannot be read");
        return FF_INFO_HELD;
    }
    const ff_status status = ff_ros2_greet(&s->settings, topic, &m, s->from, message, message_size);
    s->from = m.head.from;
    const double period = status == FF_OK ? ff_ros2_period(&s->pace, m.stamp) : 0.0;
    if (status == FF_OK && !(period > 0.0)) {
        FF_TEXT_LINE(message, message_size, topic, ": too few messages with newer stamps");
        return FF_INFO_HELD;
    }
    s->period = period > 0.0 ? period : s->period;
    return status;
}

/* One that is not a number is handed on: the station calls it a fault. */
static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    sensor *s = self;
    ff_device_counters *count = &s->counters;
    ff_ros2_message m;
    ff_wrench wrench;
    (void)now;
    const ff_status decoded =
        size > FF_DEVICE_READ_MAX ? FF_ERR_FORMAT : ff_ros2_wrench_decode(bytes, size, &m, &wrench);
    if ((decoded != FF_OK && decoded != FF_ERR_NOT_FINITE) ||
        (s->settings.facility && m.mark == FF_ROS2_NO_MARK)) {
        count->malformed++;
        return FF_ERR_FORMAT;
    }
    if (!s->from)
        s->from = m.head.from;
    const double since = 1e-9 * (double)(int64_t)(m.stamp - s->stamp), ahead = ff_ros2_ahead(&m);
    if ((s->known && !(since > 0.0) && since > -1.0) || ahead < -FF_ROS2_APART) {
        *(since == 0.0 ? &count->repeated : &count->reordered) += 1;
        return FF_INFO_STALE;
    }
    count->restarts += s->known && since < 0.0;
    const double cycles = s->known && since > 0.0 ? fmin(round(since / s->period), 1e9) : 1.0;
    const uint64_t lost = cycles > 1.0 && !(ahead > FF_ROS2_APART) ? (uint64_t)cycles - 1 : 0;
    s->repeats = s->known && memcmp(&wrench, &s->f_s, sizeof wrench) == 0 ? s->repeats + 1 : 0;
    s->f_s = wrench;
    s->stamp = m.stamp;
    s->known = true;
    s->number += 1 + lost;
    count->received++;
    count->lost += lost;
    const bool strange = m.head.from != s->from || ahead > FF_ROS2_APART;
    sample->sensor = (ff_sensor_report){.f_s = wrench,
                                        .stamp = (uint32_t)s->number,
                                        .repeats = s->repeats,
                                        .word = strange,
                                        .health = strange ? FF_ERR_DEVICE : FF_OK};
    return lost ? FF_INFO_GAP : FF_OK;
}

static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    (void)self, (void)now, (void)order, (void)bytes, (void)size;
    *used = 0;
    return FF_OK;
}

static ff_status stop(void *self, void *bytes, size_t size, size_t *used) {
    (void)self, (void)bytes, (void)size;
    *used = 0;
    return FF_OK;
}

static void count(const void *self, ff_device_counters *counters) {
    *counters = ((const sensor *)self)->counters;
}

static const ff_setting setting[] = {
    {.name = "topic",
     .type = FF_SETTING_TOPIC,
     .unit = "",
     .offset = FF_DEVICE_SETTING(topic),
     .absent = "/force_torque_sensor_broadcaster/wrench",
     .help = "Topic of its readings (geometry_msgs/WrenchStamped), raw, in the sensor's frame."},
    FF_ROS2_PLACE,
};

const ff_device ff_device_ros2_wrench = {
    .name = "ros2",
    .help = "a sensor that a ROS 2 driver publishes; `run` and `facility` give it the errors named here.",
    .kind = FF_DEVICE_SENSOR,
    .setting = setting,
    .settings = sizeof setting / sizeof *setting,
    .bytes = sizeof(sensor),
    .open = open,
    .range = range,
    .topics = topics,
    .greet = greet,
    .sample = sample,
    .answer = answer,
    .stop = stop,
    .count = count};
