#include "devices/ros2/ros2.h"

#include "devices/text.h"
#include "text/cdr.h"

#include <string.h>

const char *const ff_ros2_drivers[] = {"robot", "facility", NULL};

/* ------------------------------------------------------------------------------------------- reading --
 */

static bool span_is(const char *text, size_t length, const char *name) {
    return strlen(name) == length && memcmp(text, name, length) == 0;
}

/* The head, then std_msgs/Header. */
static ff_cdr_in open_message(const void *bytes, size_t size, ff_ros2_message *m) {
    if (size < sizeof m->head)
        return (ff_cdr_in){.bad = true};
    memcpy(&m->head, bytes, sizeof m->head);
    ff_cdr_in c = ff_cdr_open((const uint8_t *)bytes + sizeof m->head, size - sizeof m->head);
    const uint64_t seconds = ff_cdr_get_uint(&c, 4), ns = ff_cdr_get_uint(&c, 4);
    size_t length = 0;
    const char *frame = ff_cdr_get_span(&c, &length);
    c.bad = c.bad || seconds > INT32_MAX || ns > 999999999;
    m->stamp = seconds * 1000000000u + ns;
    m->mark = FF_ROS2_NO_MARK;
    if (frame && span_is(frame, length, FF_ROS2_VIRTUAL))
        m->mark = FF_ROS2_MARK_VIRTUAL;
    if (frame && span_is(frame, length, FF_ROS2_LOCKSTEP))
        m->mark = FF_ROS2_MARK_LOCKSTEP;
    return c;
}

/* The number of a list of doubles. */
static uint64_t doubles(ff_cdr_in *c) {
    const uint64_t n = ff_cdr_get_uint(c, 4);
    c->bad = c->bad || n > (c->size - c->used) / 8;
    return c->bad ? 0 : n;
}

int ff_ros2_axes(const ff_device_settings *of) {
    return *of->joints[FF_ARM_AXES - 1] ? FF_ARM_AXES : FF_ARM_AXES - 1;
}

ff_status ff_ros2_states_decode(const void *bytes, size_t size, const ff_device_settings *of,
                                ff_ros2_states *states) {
    int8_t place[FF_ROS2_NAMES]; /* which of ours it is */
    *states = (ff_ros2_states){.twice = -1};
    ff_cdr_in c = open_message(bytes, size, &states->message);
    const uint64_t count = ff_cdr_get_uint(&c, 4);
    if (c.bad || count > FF_ROS2_NAMES)
        return FF_ERR_FORMAT;
    for (uint64_t n = 0; n < count; n++) {
        size_t length = 0;
        const char *name = ff_cdr_get_span(&c, &length);
        if (!name)
            return FF_ERR_FORMAT;
        place[n] = -1;
        for (int a = 0; a < ff_ros2_axes(of); a++)
            if (span_is(name, length, of->joints[a])) {
                place[n] = (int8_t)a;
                if (states->found >> a & 1u)
                    states->twice = a;
                states->found |= 1u << a;
            }
    }
    const uint64_t positions = doubles(&c);
    bool finite = true;
    for (uint64_t n = 0; n < positions; n++) {
        const double q = ff_cdr_get_double(&c);
        if (n >= count || place[n] < 0)
            continue;
        states->q[place[n]] = q;
        finite = finite && isfinite(q);
    }
    /* velocities, which may be empty, or not a number where a driver has none; and efforts */
    const uint64_t velocities = doubles(&c);
    states->rated = velocities == count;
    for (uint64_t n = 0; n < velocities; n++) {
        const double rate = ff_cdr_get_double(&c);
        if (n >= count || place[n] < 0)
            continue;
        states->rates[place[n]] = rate;
        states->rated = states->rated && isfinite(rate);
    }
    for (uint64_t n = doubles(&c); n > 0; n--)
        ff_cdr_get_double(&c);
    if (states->found && positions != count)
        return FF_ERR_FORMAT;
    return c.bad ? FF_ERR_FORMAT : finite ? FF_OK : FF_ERR_NOT_FINITE;
}

ff_status ff_ros2_wrench_decode(const void *bytes, size_t size, ff_ros2_message *message, ff_wrench *wrench) {
    ff_cdr_in c = open_message(bytes, size, message);
    ff_wrench w;
    for (int i = 0; i < 3; i++)
        w.f.a[i] = ff_cdr_get_double(&c);
    for (int i = 0; i < 3; i++)
        w.t.a[i] = ff_cdr_get_double(&c);
    if (c.bad)
        return FF_ERR_FORMAT;
    *wrench = w;
    return ff_wrench_finite(w) ? FF_OK : FF_ERR_NOT_FINITE;
}

ff_status ff_ros2_command_decode(const void *bytes, size_t size, int axes, double q[FF_ARM_AXES],
                                 double rates[FF_ARM_AXES], bool *rated, char label[FF_ROS2_LABEL]) {
    const uint64_t each = (uint64_t)axes;
    if (size < sizeof(ff_link_head))
        return FF_ERR_FORMAT;
    ff_cdr_in c = ff_cdr_open((const uint8_t *)bytes + sizeof(ff_link_head), size - sizeof(ff_link_head));
    const uint64_t dimensions = ff_cdr_get_uint(&c, 4);
    label[0] = 0;
    if (c.bad || dimensions > 16)
        return FF_ERR_FORMAT;
    for (uint64_t n = 0; n < dimensions; n++) {
        size_t length = 0;
        const char *text = ff_cdr_get_span(&c, &length);
        ff_cdr_get_uint(&c, 4); /* size and stride are the array's, which is flat */
        ff_cdr_get_uint(&c, 4);
        if (c.bad || !text)
            return FF_ERR_FORMAT;
        if (n == 0 && length < FF_ROS2_LABEL)
            memcpy(label, text, length + 1);
    }
    ff_cdr_get_uint(&c, 4);
    const uint64_t count = doubles(&c);
    if (c.bad || (count != each && count != 2 * each))
        return c.bad ? FF_ERR_FORMAT : FF_ERR_SIZE;
    bool finite = true;
    double value[2 * FF_ARM_AXES] = {0};
    for (uint64_t n = 0; n < count; n++) {
        value[n] = ff_cdr_get_double(&c);
        finite = finite && isfinite(value[n]);
    }
    if (c.bad || !finite)
        return c.bad ? FF_ERR_FORMAT : FF_ERR_NOT_FINITE;
    memcpy(q, value, each * sizeof *q);
    memcpy(rates, value + each, each * sizeof *rates);
    *rated = count == 2 * each;
    return FF_OK;
}

ff_status ff_ros2_label_decode(const void *bytes, size_t size, char label[FF_ROS2_LABEL]) {
    label[0] = 0;
    if (size < sizeof(ff_link_head))
        return FF_ERR_FORMAT;
    ff_cdr_in c = ff_cdr_open((const uint8_t *)bytes + sizeof(ff_link_head), size - sizeof(ff_link_head));
    size_t length = 0;
    const char *text = ff_cdr_get_span(&c, &length);
    if (c.bad || !text || length >= FF_ROS2_LABEL)
        return FF_ERR_FORMAT;
    memcpy(label, text, length + 1);
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------- writing --
 */

ff_status ff_ros2_label_encode(const char *label, void *bytes, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(bytes, size);
    ff_cdr_put_string(&c, label ? label : "");
    return ff_cdr_finish(&c, used);
}

ff_status ff_ros2_states_encode(uint64_t stamp, const char *frame, const ff_device_settings *of,
                                const double q[FF_ARM_AXES], const double rates[FF_ARM_AXES], int joints,
                                void *bytes, size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(bytes, size);
    const int last = ff_ros2_axes(of) - 1;
    double value[1 + FF_ARM_AXES] = {0.02}, rate[1 + FF_ARM_AXES] = {0.0}; /* a gripper stands open */
    ff_cdr_put_header(&c, stamp, frame);
    ff_cdr_put_number(&c, (uint64_t)joints + 1, 4);
    ff_cdr_put_string(&c, "gripper");
    for (int n = 0; n < joints; n++) {
        ff_cdr_put_string(&c, of->joints[last - n]);
        value[1 + n] = q[last - n];
        rate[1 + n] = rates[last - n];
    }
    ff_cdr_put_doubles(&c, value, (size_t)joints + 1);
    ff_cdr_put_doubles(&c, rate, (size_t)joints + 1);
    ff_cdr_put_number(&c, 0, 4);
    return ff_cdr_finish(&c, used);
}

ff_status ff_ros2_wrench_encode(uint64_t stamp, const char *frame, const ff_wrench *wrench, void *bytes,
                                size_t size, size_t *used) {
    ff_cdr c = ff_cdr_begin(bytes, size);
    ff_cdr_put_header(&c, stamp, frame);
    ff_cdr_put_vec3(&c, wrench->f);
    ff_cdr_put_vec3(&c, wrench->t);
    return ff_cdr_finish(&c, used);
}

ff_status ff_ros2_command_encode(int axes, const double q[FF_ARM_AXES], const double rates[FF_ARM_AXES],
                                 const char *label, void *bytes, size_t size, size_t *used) {
    const bool labelled = label && *label;
    const size_t each = (size_t)axes, count = rates ? 2 * each : each;
    double value[2 * FF_ARM_AXES] = {0};
    memcpy(value, q, each * sizeof *q);
    if (rates)
        memcpy(value + each, rates, each * sizeof *rates);
    ff_cdr c = ff_cdr_begin(bytes, size);
    ff_cdr_put_number(&c, labelled, 4);
    if (labelled) {
        ff_cdr_put_string(&c, label);
        ff_cdr_put_number(&c, count, 4);
        ff_cdr_put_number(&c, count, 4);
    }
    ff_cdr_put_number(&c, 0, 4);
    ff_cdr_put_doubles(&c, value, count);
    return ff_cdr_finish(&c, used);
}

/* ------------------------------------------------------------------------------------------ greeting --
 */

double ff_ros2_period(ff_ros2_pace *pace, uint64_t stamp) {
    if (pace->seen == FF_ROS2_STAMPS || (pace->seen && stamp <= pace->stamp[pace->seen - 1]))
        return 0.0;
    pace->stamp[pace->seen++] = stamp;
    if (pace->seen < FF_ROS2_STAMPS)
        return 0.0;
    uint64_t step[FF_ROS2_STAMPS - 1];
    for (int i = 0; i < FF_ROS2_STAMPS - 1; i++) {
        const uint64_t one = pace->stamp[i + 1] - pace->stamp[i];
        int at = i;
        for (; at > 0 && step[at - 1] > one; at--)
            step[at] = step[at - 1];
        step[at] = one;
    }
    return 1e-9 * (double)step[(FF_ROS2_STAMPS - 1) / 2];
}

ff_status ff_ros2_greet(const ff_device_settings *settings, const char *what, const ff_ros2_message *m,
                        uint64_t from, char *message, size_t size) {
    const double ahead = ff_ros2_ahead(m);
    if (from && m->head.from != from) {
        FF_TEXT_LINE(
            message, size, what,
            " comes from two publishers, allowed: one; end the second driver (`ros2 topic info -v` names "
            "both), or begin again if the only one was begun anew");
        return FF_ERR_DEVICE;
    }
    if (settings->facility && m->mark == FF_ROS2_NO_MARK) {
        FF_TEXT_LINE(
            message, size, what,
            " is not that of freefloat facility (frame_id), which `driver: facility` accepts alone, allowed: "
            "`driver: robot`, which is armed at the console");
        return FF_ERR_DEVICE;
    }
    if (fabs(ahead) > FF_ROS2_APART) {
        char seconds[32];
        ff_text_out out;
        ff_text_begin(&out, seconds, sizeof seconds - 1);
        ff_text_put_double(&out, fmin(fabs(ahead), 1e9), 3);
        seconds[out.used] = 0;
        FF_TEXT_LINE(message, size, what, ": its stamps are ", seconds, " s ",
                     ahead > 0.0 ? "ahead of" : "behind",
                     " this computer's clock, allowed: 0.5 s (NTP or PTP on both)");
        /* no message comes before it is sent, but one may have waited: the next may not have */
        return ahead > 0.0 ? FF_ERR_DEVICE : FF_INFO_HELD;
    }
    return FF_OK;
}
