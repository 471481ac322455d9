/* A robot's ROS 2 driver: joint states and wrench out, positions in. The joints stand in its messages in an
 * order of their own, beside a gripper's. Its cycle is the facility's; it holds its last command. */
#include "server/internal.h"

#include "devices/ros2/ros2.h"
#include "executive/check.h"
#include "text/clock.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static ff_status join(const ff_server *f, const struct sockaddr_in *at, const ff_device_settings *settings,
                      const ff_device_topics *topics, ff_link *link, char *message, size_t size) {
    char address[INET_ADDRSTRLEN] = "?";
    (void)f;
    inet_ntop(AF_INET, &at->sin_addr, address, sizeof address);
    const ff_link_config config = {.address = address,
                                   .domain = (unsigned)settings->domain,
                                   .reliable = true,
                                   .reads = topics->reads,
                                   .reads_type = topics->reads_type,
                                   .writes = topics->writes,
                                   .writes_type = topics->writes_type,
                                   .aside = topics->aside,
                                   .hears = true};
    return ff_link_open(&config, link, message, size);
}

ff_status ff__server_ros2_open(ff_server *f, int i, char *message, size_t size) {
    ff_server_ros2 *r = &f->device[i].ros;
    const ff_address *address = &f->address.body[i];
    const ff_satellite *satellite = &f->scenario->satellite[i];
    r->here = address->robot->topics != NULL;
    r->feels = address->sensor->topics != NULL;
    ff_status status = FF_OK;
    char aside[FF_LINK_NAME];
    snprintf(aside, sizeof aside, "%s" FF_ROS2_ASIDE, satellite->robot.device.command);
    if (r->here)
        status = join(f, &address->robot_at, &satellite->robot.device,
                      &(ff_device_topics){satellite->robot.device.command, FF_ROS2_COMMAND,
                                          satellite->robot.device.states, FF_ROS2_STATES, aside},
                      &r->link, message, size);
    if (status == FF_OK && r->feels)
        status =
            join(f, &address->sensor_at, &satellite->sensor.device,
                 &(ff_device_topics){.writes = satellite->sensor.device.topic, .writes_type = FF_ROS2_WRENCH},
                 &r->sensor, message, size);
    return status;
}

void ff__server_ros2_close(ff_server_ros2 *r) {
    ff_link_close(&r->link);
    ff_link_close(&r->sensor);
}

/* [ns] of a message made at `tick` [s] of the facility's time. */
static uint64_t stamp_of(const ff_server *f, double tick) {
    const double since = 1e-9 * (double)(ff_clock_now() - f->deadline); /* of this cycle's beginning */
    if (f->options->lockstep)
        return (uint64_t)llround(1e9 * (tick + 1.0));
    return (uint64_t)(ff_clock_real() - (int64_t)(1e9 * since) + (int64_t)(1e9 * (tick - f->time)));
}

static const char *frame_of(const ff_server *f) {
    return f->options->lockstep ? FF_ROS2_LOCKSTEP : FF_ROS2_VIRTUAL;
}

void ff__server_ros2_send(ff_server *f, int i, double late) {
    ff_server_device *d = &f->device[i];
    const ff_device_settings *of = &f->scenario->satellite[i].robot.device;
    uint8_t bytes[FF_DEVICE_READ_MAX];
    double q[FF_ARM_AXES], rates[FF_ARM_AXES] = {0};
    const int axes = ff_ros2_axes(of);
    size_t used;
    memcpy(q, d->joints.a, sizeof q);
    ff_arm_rates(&f->plan.body[i].arm, &d->joints, &f->truth.robot[i].twist, rates);
    d->state.answered = false;
    d->state.open = true;
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_NAN, i)))
        q[2] = FF_NAN;
    const bool incomplete = !isnan(ff__server_acts(f, FF_FAULT_ROB_INCOMPLETE, i)),
               empty = !isnan(ff__server_acts(f, FF_FAULT_ROB_EMPTY, i));
    if (ff_ros2_states_encode(stamp_of(f, d->tick + (f->options->lockstep ? late : 0.0)), frame_of(f), of, q,
                              rates,
                              empty        ? 0
                              : incomplete ? axes - 1
                                           : axes,
                              bytes, sizeof bytes, &used) != FF_OK ||
        !isnan(ff__server_acts(f, FF_FAULT_ROBOT_SILENT, i)) ||
        !isnan(ff__server_acts(f, FF_FAULT_ROB_LOST, i)))
        return;
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_CORRUPT, i)))
        memset(bytes + used / 3, 0xa5, used / 3);
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_CUT, i)))
        used /= 2;
    ff_link_write(&d->ros.link, bytes, used);
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_REPEATED, i)))
        ff_link_write(&d->ros.link, bytes, used);
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_REORDERED, i)) && d->last_rob_size)
        ff_link_write(&d->ros.link, d->last_rob, d->last_rob_size);
    if (used <= sizeof d->last_rob) {
        memcpy(d->last_rob, bytes, used);
        d->last_rob_size = used;
    }
}

void ff__server_ros2_sense(ff_server *f, int i, const ff_wrench *wrench, double tick) {
    const ff_server_device *d = &f->device[i];
    uint8_t bytes[512];
    size_t used;
    if (ff_ros2_wrench_encode(stamp_of(f, tick), frame_of(f), wrench, bytes, sizeof bytes, &used) != FF_OK)
        return;
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_CORRUPT, i)))
        used -= 7;
    ff_link_write(&d->ros.sensor, bytes, used);
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_REPEATED, i)))
        ff_link_write(&d->ros.sensor, bytes, used);
}

/* The commands that have come. */
void ff__server_ros2_serve(ff_server *f, int i) {
    ff_server_device *d = &f->device[i];
    ff_server_ros2 *r = &d->ros;
    uint8_t bytes[FF_DEVICE_READ_MAX];
    int64_t arrived;
    for (int n = 0; n < 16; n++) {
        const long size = ff_link_receive(&r->link, bytes, sizeof bytes, &arrived);
        if (size == 0)
            break;
        double q[FF_ARM_AXES] = {0};
        char label[FF_ROS2_LABEL];
        const int axes = ff_ros2_axes(&f->scenario->satellite[i].robot.device);
        ff_link_head head = {.aside = 0};
        if (size > 0)
            memcpy(&head, bytes, sizeof head); /* ff_link_receive: at least that long */
        if (size < 0 || (head.aside ? ff_ros2_label_decode(bytes, (size_t)size, label)
                                    : ff_ros2_command_decode(bytes, (size_t)size, axes, q, r->rates,
                                                             &r->rated, label)) != FF_OK) {
            d->state.info.malformed++; /* as a controller does: it says so, and holds */
            continue;
        }
        if (!isnan(ff__server_acts(f, FF_FAULT_ANSWER_LOST, i)))
            continue;
        memcpy(r->label, label, sizeof label);
        if (head.aside) { /* it stays where it is, at rest */
            memset(r->rates, 0, sizeof r->rates);
            r->rated = true;
        } else
            memcpy(d->first.a, q, sizeof q);
        d->state.answered |= d->state.open;
    }
    /* who sends them has left: told by DDS, of one that was killed after its lease */
    ff_link_state state = {.writers = 1};
    if (d->met && !d->state.answered)
        ff_link_look(&r->link, &state);
    if (!state.writers) {
        d->failed = true;
        d->state.stopped = FF_RSI_STOP_TIMEOUT;
    }
}

int ff__server_ros2_asked(const ff_server_ros2 *r) {
    return *r->label ? ff_push_asked(r->label) : -1;
}

ff_arm_joints ff__server_ros2_finish(ff_server *f, int i) {
    ff_server_device *d = &f->device[i];
    d->state.info.late += d->met && !d->state.answered;
    if (strcmp(d->ros.label, FF_ROS2_END) == 0) {
        d->state.stopped = FF_RSI_STOP_ASKED;
        d->failed = true;
    }
    d->state.open = false;
    d->ros.command[d->ros.commands++ % FF_SERVER_COMMANDS] = d->first;
    return d->first;
}

ff_arm_joints ff__server_ros2_joints(const ff_server *f, int i, const ff_pose *T_wb) {
    const ff_server_device *d = &f->device[i];
    const ff_server_ros2 *r = &d->ros;
    const ff_plan_body *body = &f->plan.body[i];
    const double held = (double)(r->commands < FF_SERVER_COMMANDS ? r->commands : FF_SERVER_COMMANDS);
    if (held < 2.0)
        return d->joints;
    /* the newest is the cycle's before this one */
    const double age = fmin(fmax(body->delay / d->period - 1.0, 0.0), held - 2.0), part = age - floor(age);
    const uint64_t newer = r->commands - 1 - (uint64_t)age;
    const ff_arm_joints *to = &r->command[newer % FF_SERVER_COMMANDS],
                        *from = &r->command[(newer - 1) % FF_SERVER_COMMANDS];
    ff_arm_joints at = *to, joints;
    for (int a = 0; a < body->arm.config.axes; a++)
        at.a[a] += part * (from->a[a] - to->a[a]);
    return ff_arm_inverse_after(&body->arm, T_wb, &at, 0.0, &joints, NULL) == FF_OK ? joints : d->joints;
}
