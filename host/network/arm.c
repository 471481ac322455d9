/* The servicer's arm on the network: its telegrams come at its own faster cycle, each is answered with the
 * torque that makes it move as in orbit (facility/law.h), from the newest order and the base of the last
 * sample. One that belongs to the loop's next cycle waits for that cycle's order. */
#include "network/internal.h"

#include "devices/torque/torque.h"
#include "text/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARM_DATAGRAMS = 32 }; /* read at most at a time: a flood does not stop the loop */

static const double START = 1e-3; /* [rad], [rad/s] by which a joint may be off the start */

ff_status ff__network_open_arm(ff_network *s, uint32_t run, char *message, size_t size) {
    ff_network_arm *a = &s->arm;
    const ff_device *device = s->address->arm;
    if (!device)
        return FF_OK;
    a->body = ff_scenario_servicer(s->scenario);
    a->order.holds = true;
    const ff_servicer_arm *arm = &s->scenario->satellite[a->body].arm;
    ff_arm_law_limits(arm, &a->limits);
    ff_status status = ff_arm_law_open(&a->law, s->scenario, message, size);
    if (status != FF_OK)
        return status;
    a->device = calloc(1, device->bytes);
    if (!a->device) {
        snprintf(message, size, "no memory for the devices");
        return FF_ERR_MEMORY;
    }
    ff_device_settings settings = arm->device.device;
    settings.limits = &a->limits;
    settings.cycle = a->law.cycle;
    settings.run = run;
    device->open(a->device, &settings);
    return ff_socket_open(&s->address->arm_at, &a->fd, NULL, message, size);
}

void ff__network_close_arm(ff_network *s) {
    ff_network_arm *a = &s->arm;
    if (a->fd >= 0)
        close(a->fd);
    a->fd = -1;
    free(a->device);
    a->device = NULL;
    ff_arm_law_close(&a->law);
}

static void find_arm(ff_network *s, ff_trip_code code, const char *of, double value, double limit, int axis) {
    ff__network_find(
        s,
        (ff_trip){.code = code, .body = s->arm.body, .of = of, .value = value, .limit = limit, .axis = axis});
}

/* What the arm says of itself; before it is released, whether it is the one that the scenario describes, and
 * stands where that begins. */
static void watch_arm(ff_network *s) {
    const double deg = 180.0 / FF_PI;
    const ff_network_arm *a = &s->arm;
    const ff_joint_report *r = &a->report;
    if (r->fault)
        find_arm(s, FF_TRIP_CONTROLLER, ff_torque_fault_text(r->fault), 0.0, 0.0, 0);
    if (a->released)
        return;
    if (fabs(r->cycle - a->law.cycle) > 1e-9)
        find_arm(s, FF_TRIP_CONTROLLER, "the arm's cycle is not arm.cycle", r->cycle, a->law.cycle, 0);
    const double *q = s->scenario->satellite[a->body].arm.q;
    for (unsigned i = 0; i < a->limits.joints; i++) {
        if (!(fabs(r->q[i] - q[i]) <= START))
            find_arm(s, FF_TRIP_START, NULL, deg * fabs(r->q[i] - q[i]), deg * START, (int)i + 1);
        if (!(fabs(r->qd[i]) <= START))
            find_arm(s, FF_TRIP_STANDSTILL, NULL, 0.0, 0.0, (int)i + 1);
    }
}

/* One telegram, if one waits. */
static bool take_arm(ff_network *s) {
    ff_network_arm *a = &s->arm;
    uint8_t bytes[FF_DEVICE_READ_MAX];
    struct sockaddr_in from;
    int64_t stamp;
    for (int n = 0; n < ARM_DATAGRAMS; n++) {
        const long size = ff_socket_receive(a->fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            return false;
        if (a->known && !ff_socket_same(&from, &a->peer)) {
            s->strangers++;
            continue;
        }
        ff_device_sample sample;
        const ff_status status = s->address->arm->sample(
            a->device, 0.0, bytes, size > 0 ? (size_t)size : FF_DEVICE_READ_MAX + 1, &sample);
        if (status == FF_ERR_ARGUMENT)
            find_arm(s, FF_TRIP_CONTROLLER, "the arm has another number of joints", 0.0, 0.0, 0);
        else if (status == FF_ERR_UNSUPPORTED)
            find_arm(s, FF_TRIP_CONTROLLER, "another version of the arm's protocol", 0.0, 0.0, 0);
        else if (status == FF_ERR_DEVICE)
            a->strange = true;
        if (status != FF_OK && status != FF_INFO_GAP)
            continue;
        a->report = sample.arm;
        a->peer = from;
        a->known = a->fresh = true;
        a->taken = ff_clock_now();
        a->naps = 0;
        a->arrived = s->address->virtual && !isnan(a->report.arrives) ? a->report.arrives
                                                                      : ff__network_local_time(s, stamp);
        watch_arm(s);
        return true;
    }
    return false;
}

/* [cycles] of its own since the last sample, by its own clock. */
static int part_of(const ff_network_arm *a) {
    return a->sampled ? (int)fmin(1e6, round((a->report.time - a->at) / a->law.cycle)) : a->law.parts;
}

static void answer_arm(ff_network *s, bool end) {
    ff_network_arm *a = &s->arm;
    if (!a->fresh || a->strange)
        return;
    a->fresh = false;
    double torque[FF_TREE_JOINTS_MAX];
    ff_robot_order order = {.stop = end, .grips = a->order.grips};
    if (!end && !a->order.holds) {
        ff_arm_law_torque(&a->law, part_of(a), a->report.q, a->report.qd, a->order.torque, torque);
        order.moves = a->released = true;
        order.torque = torque;
    }
    uint8_t bytes[FF_DEVICE_SEND_MAX];
    size_t used;
    const ff_status status = s->address->arm->answer(a->device, 0.0, &order, bytes, sizeof bytes, &used);
    a->clipped |= status == FF_INFO_LIMITED;
    if (status == FF_ERR_LIMIT)
        find_arm(s, FF_TRIP_CONTROLLER, "a joint beyond its range or speed", 0.0, 0.0, 0);
    else if (status < 0)
        find_arm(s, FF_TRIP_NOT_FINITE, NULL, 0.0, 0.0, 0);
    if (used)
        ff_socket_send(a->fd, bytes, used, &a->peer);
    a->ended |= end;
}

/* In lock step the pacing telegram follows this one: a busy machine may be long over it, so we count how
 * often we looked for it in vain. */
static bool arm_waited(const ff_network *s) {
    enum { LOCKSTEP_PATIENCE = 4000 };
    const ff_network_arm *a = &s->arm;
    if (isnan(s->virtual_now))
        return ff_clock_now() - a->taken > (int64_t)(0.5e9 * a->law.cycle);
    return a->naps > LOCKSTEP_PATIENCE;
}

void ff__network_attend_arm(ff_network *s) {
    ff_network_arm *a = &s->arm;
    for (int n = 0; n < ARM_DATAGRAMS && a->fd >= 0; n++) {
        if (a->fresh && (part_of(a) < a->law.parts || (s->speaks && arm_waited(s))))
            answer_arm(s, false);
        if ((s->speaks && a->fresh) || !take_arm(s)) /* before all speak the newest one waits */
            return;
    }
}

void ff__network_sample_arm(ff_network *s, ff_sample_joints *joints) {
    ff_network_arm *a = &s->arm;
    const ff_joint_report *r = &a->report;
    if (a->fd < 0)
        return;
    *joints = (ff_sample_joints){.closed = r->closed, .saturated = a->clipped || r->clipped};
    memcpy(joints->q, r->q, sizeof joints->q);
    memcpy(joints->qd, r->qd, sizeof joints->qd);
    memcpy(joints->motor, r->torque, sizeof joints->motor);
    a->clipped = false;
    a->sampled = a->known;
    a->at = r->time;
    const double unheard = s->pace - a->arrived, silence = ff__network_patience(s);
    if (s->speaks && unheard > silence)
        find_arm(s, FF_TRIP_SILENT, NULL, unheard, silence, 0);
    if (a->strange)
        find_arm(s, FF_TRIP_RESTART, NULL, 0.0, 0.0, 0);
}

void ff__network_order_arm(ff_network *s, const ff_arm_order *order) {
    ff_network_arm *a = &s->arm;
    if (a->fd < 0)
        return;
    a->order = *order;
    ff_arm_law_see(&a->law, &s->body[a->body].measured, &s->nominal);
    answer_arm(s, false);
}

bool ff__network_end_arm(ff_network *s, bool *due) {
    ff_network_arm *a = &s->arm;
    if (a->fd < 0)
        return false;
    a->order.holds = true;
    const bool taken = !a->fresh && take_arm(s);
    answer_arm(s, true);
    *due = a->known && !a->ended && !a->strange && s->pace - a->arrived < ff__network_patience(s);
    return taken;
}
