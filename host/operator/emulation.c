#include "operator/emulation.h"

#include "devices/torque/torque.h"
#include "net/socket.h"
#include "text/clock.h"
#include "text/message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REST = 25,   /* telegrams at rest before torques */
    LOST = 3,    /* telegrams in a row that may be missing; answers that are late are the arm's to judge */
    FLOOD = 64,  /* datagrams that are looked through for a newer telegram before one is answered */
    GOODBYE = 50 /* telegrams until an arm that is asked to end must have done so */
};
static const double START = 1e-3; /* [rad], [rad/s] by which the arm may be off the start */

typedef struct arm_loop {
    const ff_scenario *scenario;
    const ff_rt_options *options;
    const ff_device *device;
    void *state;
    struct sockaddr_in at, peer;
    int fd;
    bool known, leaves; /* leaves: the stop was asked for, or is no matter any more */
    ff_joint_limits limits;
    ff_emulate_machine machine;
    ff_emulate_config config; /* as a device shows it: without the virtual sensor's errors */
    ff_emulate_controller *controller;
    ff_emulate_reading *reading; /* [cycles + 1] */
    uint64_t cycles, read;
    ff_device_sample sample;
    ff_rt_emulation *rt;
    ff_status status;
    char message[256];
} arm_loop;

/* ------------------------------------------------------------------------------------------- exchange -- */

static ff_status stop_loop(arm_loop *a, ff_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static ff_status stop_loop(arm_loop *a, ff_status status, const char *format, ...) {
    if (a->status == FF_OK) {
        va_list list;
        va_start(list, format);
        vsnprintf(a->message, sizeof a->message, format, list);
        va_end(list);
        a->status = status;
    }
    return status;
}

static double seconds_of(const arm_loop *a) {
    return (double)(a->read ? a->read - 1 : 0) * a->config.cycle;
}

/* The next telegram within `patience` [s]. FF_OK, FF_INFO_GAP; FF_ERR_IO: none; FF_ERR_DEVICE: it has begun
 * again; others: why it cannot be used. Patience 0: of those that wait already. */
static ff_status next_telegram(arm_loop *a, double patience) {
    uint8_t bytes[FF_DEVICE_READ_MAX];
    const int64_t until = ff_clock_now() + (int64_t)(1e9 * patience);
    for (int n = 0; n < FLOOD || patience > 0.0; n++) {
        struct sockaddr_in from;
        int64_t stamp;
        const long size = ff_socket_receive(a->fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0) {
            const int64_t left = until - ff_clock_now();
            if (left <= 0 || (!a->leaves && atomic_load(a->options->stop)))
                return FF_ERR_IO;
            ff_socket_wait(a->fd, left < 50000000 ? left : 50000000);
            continue;
        }
        if (a->known && !ff_socket_same(&from, &a->peer)) {
            a->rt->strangers++;
            continue;
        }
        const ff_status status = a->device->sample(
            a->state, 0.0, bytes, size > 0 ? (size_t)size : FF_DEVICE_READ_MAX + 1, &a->sample);
        if (status == FF_ERR_ARGUMENT || status == FF_ERR_UNSUPPORTED)
            return status; /* joints, version: it is the wrong arm */
        if (status == FF_ERR_DEVICE)
            return FF_ERR_DEVICE; /* it has begun again */
        if (status < 0 || status == FF_INFO_STALE)
            continue;
        a->peer = from;
        a->known = true;
        if (stamp)
            ff_histogram_add(&a->rt->lateness, ff_clock_real() - stamp);
        return status;
    }
    return FF_ERR_IO;
}

/* torque NULL: its brakes hold the joints. */
static ff_status reply(arm_loop *a, const double *torque, bool end) {
    uint8_t bytes[FF_DEVICE_SEND_MAX];
    size_t used;
    const ff_robot_order order = {.moves = torque != NULL, .torque = torque, .stop = end};
    const ff_status status = a->device->answer(a->state, 0.0, &order, bytes, sizeof bytes, &used);
    if (used)
        ff_socket_send(a->fd, bytes, used, &a->peer);
    return status;
}

/* --------------------------------------------------------------------------------------------- meeting -- */

static ff_status explain(arm_loop *a, ff_status status) {
    if (atomic_load(a->options->stop))
        return stop_loop(a, FF_ERR_LIMIT, "stopped at %.3f s", seconds_of(a));
    switch (status) {
    case FF_ERR_ARGUMENT:
        return stop_loop(a, status, "the arm has another number of joints than the scenario's robot (%u)",
                         a->limits.joints);
    case FF_ERR_UNSUPPORTED:
        return stop_loop(a, status, "the arm speaks another version of the protocol, allowed: %d",
                         FF_TORQUE_VERSION);
    case FF_ERR_DEVICE:
        return stop_loop(a, status, "at %.3f s: the arm has begun again; it is not answered any more",
                         seconds_of(a));
    default:
        return stop_loop(a, FF_ERR_DEVICE, "at %.3f s: no telegram of the arm came in time", seconds_of(a));
    }
}

/* The arm stands still, at the start, and fits. */
static ff_status look(arm_loop *a) {
    const ff_joint_report *r = &a->sample.arm;
    if (r->fault)
        return stop_loop(a, FF_ERR_DEVICE, "the arm reports a fault: %s", ff_torque_fault_text(r->fault));
    if (fabs(r->cycle - a->config.cycle) > 1e-9)
        return stop_loop(a, FF_ERR_ARGUMENT,
                         "the arm's cycle is %.9g s, time.cycle %.9g s: make them the same", r->cycle,
                         a->config.cycle);
    for (unsigned i = 0; i < a->limits.joints; i++) {
        if (fabs(r->q[i] - a->config.q_r[i]) > START)
            return stop_loop(a, FF_ERR_REACH,
                             "joint %u of the arm is at %.6f rad, the scenario begins at %.6f: within %g",
                             i + 1, r->q[i], a->config.q_r[i], START);
        if (fabs(r->qd[i]) > START)
            return stop_loop(a, FF_ERR_ARGUMENT, "joint %u of the arm moves at %.3g rad/s: it must stand",
                             i + 1, r->qd[i]);
        if (!(r->q[i] >= a->limits.lower[i] && r->q[i] <= a->limits.upper[i]))
            return stop_loop(a, FF_ERR_LIMIT, "joint %u of the arm is at %.6f rad, allowed: %.6g to %.6g",
                             i + 1, r->q[i], a->limits.lower[i], a->limits.upper[i]);
    }
    return FF_OK;
}

static ff_status meet(arm_loop *a) {
    double patience = a->options->wait > 0.0 ? a->options->wait : 10.0;
    for (int n = 0; n < REST; n++) {
        ff_status status = next_telegram(a, patience);
        while (status >= 0 && next_telegram(a, 0.0) >= 0) /* what it said while nobody listened */
            ;
        if (status == FF_ERR_IO && n == 0 && !atomic_load(a->options->stop))
            return stop_loop(a, FF_ERR_DEVICE, "the arm is silent: nothing came to port %u",
                             ntohs(a->at.sin_port));
        if (status < 0)
            return explain(a, status);
        if (look(a) != FF_OK) {
            reply(a, NULL, true);
            return a->status;
        }
        reply(a, NULL, false);
        patience = fmax(1.0, patience);
    }
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------- real time -- */

/* What the telegram says, as the controller takes it. */
static void read_telegram(const arm_loop *a, ff_emulate_reading *x) {
    const ff_joint_report *r = &a->sample.arm;
    const ff_mechanism *m = &a->config.robot;
    const double wrench[6] = {r->wrench.f.x, r->wrench.f.y, r->wrench.f.z,
                              r->wrench.t.x, r->wrench.t.y, r->wrench.t.z};
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < m->dof; i++) {
        x->q[i] = r->q[i];
        x->v[i] = r->qd[i];
        x->torque[i] = r->torque[i];
        x->f[i] = x->true_f[i] = wrench[m->spatial ? (i + 3) % 6 : i];
    }
}

/* Telegrams that were lost are cycles of the target's time: it is led through them on what came after. */
static ff_status step_controller(arm_loop *a, uint64_t lost, double *torque) {
    ff_status status = FF_OK;
    for (uint64_t n = 0; n <= lost && a->read <= a->cycles && status >= 0; n++) {
        read_telegram(a, &a->reading[a->read]);
        if (a->read < a->cycles)
            status = ff_emulate_controller_step(a->controller, a->read, &a->reading[a->read], torque);
        a->read++;
    }
    return status;
}

static void drive_arm(arm_loop *a) {
    const double silence = a->options->silence > 0.0 ? a->options->silence : FF_SAFETY_SILENCE;
    double torque[FF_EMULATION_TASK_MAX] = {0};
    bool commands = false, replied = false;
    memset(&a->rt->lateness, 0, sizeof a->rt->lateness); /* until now nobody was in a hurry */
    ff_status status = FF_ERR_IO;
    while (a->status == FF_OK) {
        if (status == FF_ERR_IO)
            status = next_telegram(a, a->read ? silence : fmax(1.0, silence));
        if (status < 0) {
            explain(a, status);
            break;
        }
        const ff_joint_report *r = &a->sample.arm;
        const int64_t begun = ff_clock_now();
        const uint64_t lost = a->read ? r->lost : 0; /* before the first torque nothing moves */
        a->rt->missed += lost;
        a->rt->untaken += replied && !r->taken;
        replied = false;
        if (r->fault)
            stop_loop(a, FF_ERR_DEVICE, "at %.3f s: the arm stands: %s", seconds_of(a),
                      ff_torque_fault_text(r->fault));
        else if (commands && !r->commands)
            stop_loop(a, FF_ERR_DEVICE, "at %.3f s: the arm does not take torques any more", seconds_of(a));
        else if (lost > LOST)
            stop_loop(a, FF_ERR_DEVICE, "at %.3f s: %llu telegrams in a row were lost, allowed: %d",
                      seconds_of(a), (unsigned long long)lost, LOST);
        if (a->status != FF_OK)
            break;
        commands = r->commands;
        status = step_controller(a, lost, torque);
        if (status < 0)
            stop_loop(a, status, "at %.3f s: the controller: %s", seconds_of(a), ff_status_text(status));
        else if (a->read > a->cycles)
            return;
        else if ((status = next_telegram(a, 0.0)) == FF_ERR_IO) { /* else that cycle is over already */
            const ff_status sent = reply(a, torque, false);
            replied = true;
            if (sent == FF_ERR_LIMIT)
                stop_loop(a, sent, "at %.3f s: a joint is beyond its range or its speed", seconds_of(a));
            else if (sent < 0)
                stop_loop(a, sent, "at %.3f s: the torque: %s", seconds_of(a), ff_status_text(sent));
        }
        ff_histogram_add(&a->rt->compute, ff_clock_now() - begun);
    }
}

/* Its brakes, then the end; repeated until it says so. */
static void say_goodbye(arm_loop *a) {
    a->leaves = true;
    for (int n = 0; n < GOODBYE; n++) {
        const bool braked = !a->sample.arm.commands;
        reply(a, NULL, braked);
        if (braked && n > 0)
            return;
        if (next_telegram(a, 0.1) < 0)
            return;
    }
}

static void *arm_thread(void *self) {
    arm_loop *a = self;
    ff_rights_take(a->options->priority > 0 ? a->options->priority : 80, a->options->cpu,
                   !a->options->deep_idle, &a->rt->rights);
    if (meet(a) == FF_OK) /* again: to take the rights needs many of its cycles */
        drive_arm(a);
    if (a->known)
        say_goodbye(a);
    ff_rights_release(&a->rt->rights);
    return NULL;
}

/* ------------------------------------------------------------------------------------------ afterwards -- */

typedef struct played {
    const ff_emulate_reading *at;
} played;

static ff_status read_played(void *self, ff_emulate_reading *reading) {
    *reading = *((const played *)self)->at;
    return FF_OK;
}

static ff_status drive_played(void *self, const double *torque) {
    (void)torque;
    ((played *)self)->at++;
    return FF_OK;
}

/* ----------------------------------------------------------------------------------------------- whole -- */

ff_status ff_rt_emulation_check(const ff_scenario *scenario, const ff_ports *ports, bool *virtual,
                                char *message, size_t size) {
    const ff_device *device;
    struct sockaddr_in at;
    ff_joint_limits limits;
    *virtual = false;
    if (!scenario->emulation.sampled)
        return ff_refuse(
            FF_ERR_UNSUPPORTED, message, size,
            "emulation.controller is continuous, allowed on devices, which have cycles: sampled");
    if (scenario->emulation.emulation.force_gain > 0.0)
        return ff_refuse(
            FF_ERR_UNSUPPORTED, message, size,
            "emulation.gains.force needs a measured acceleration, which the arm does not report, "
            "allowed on devices: 0");
    for (int i = 0; i < scenario->arms.target.links; i++)
        if (scenario->arms.target.link[i].speed != 0.0)
            return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                             "joint %d of the target begins at %.3g rad/s, allowed on devices: at rest",
                             i + 1, scenario->arms.target.link[i].speed);
    const ff_status status =
        ff_address_find_arm(&scenario->emulator_at, ports, 0, &device, &at, message, size);
    if (status != FF_OK)
        return status;
    *virtual = ff_socket_is_loopback(&at);
    ff_scenario_emulator_limits(scenario, &limits);
    for (unsigned i = 0; i < limits.joints && !*virtual; i++)
        if (!isfinite(limits.torque[i] + limits.speed[i] + limits.lower[i] + limits.upper[i]))
            return ff_refuse(
                FF_ERR_ARGUMENT, message, size,
                "emulation.robot: joint %u of an arm that is not virtual needs torque, velocity, lower "
                "and upper",
                i + 1);
    return FF_OK;
}

static ff_status open_loop_on(arm_loop *a, char *message, size_t size) {
    const ff_scenario *s = a->scenario;
    bool virtual;
    ff_status status = ff_rt_emulation_check(s, &a->options->ports, &virtual, message, size);
    if (status == FF_OK)
        status = s->target == FF_TARGET_ARM
                     ? ff_emulate_arms_open(&s->arms, &a->machine, message, size)
                     : ff_emulate_joint_open(&s->emulation, &a->machine, message, size);
    if (status != FF_OK)
        return status;
    a->config = a->machine.config;
    a->config.sensor = (ff_emulate_sensor){0};
    a->cycles = (uint64_t)llround(a->config.duration / a->config.cycle);
    a->reading = calloc(a->cycles + 1, sizeof *a->reading);
    if (!a->reading)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the run");
    a->controller = ff_emulate_controller_create(&a->config, message, size, &status);
    if (!a->controller)
        return status;
    ff_address_find_arm(&s->emulator_at, &a->options->ports, 0, &a->device, &a->at, message, size);
    a->state = calloc(1, a->device->bytes);
    if (!a->state)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the arm");
    ff_scenario_emulator_limits(s, &a->limits);
    const ff_device_settings settings = {.cycle = a->config.cycle,
                                         .run = (uint32_t)(ff_clock_real() / 1000000) % 0x7fffffffu + 1u,
                                         .limits = &a->limits};
    a->device->open(a->state, &settings);
    return ff_socket_open(&a->at, &a->fd, NULL, message, size);
}

static void describe(const arm_loop *a, char *text, size_t size) {
    size_t used = ff_append(text, size, 0, "joint  start rad  measured rad  torque N m\n");
    for (unsigned i = 0; i < a->limits.joints; i++)
        used = ff_append(text, size, used, "%5u  %9.5f  %12.5f  %10.4g\n", i + 1, a->config.q_r[i],
                         a->sample.arm.q[i], a->limits.torque[i]);
}

/* What was measured, beside the target simulated directly. */
static ff_status compute_result(arm_loop *a, ff_emulate_result *result, char *message, size_t size) {
    played from = {a->reading};
    const ff_emulate_robot robot = {&from, read_played, drive_played};
    if (a->read < 2)
        return a->status;
    a->config.duration = (double)(a->read - 1) * a->config.cycle;
    const ff_status status = ff_emulate_run_on(&a->config, &robot, result, message, size);
    ff_emulate_machine_finish(&a->machine, result);
    return status;
}

ff_status ff_rt_emulate(const ff_scenario *scenario, const ff_rt_options *options,
                        bool (*confirm)(void *user, const char *text), ff_emulate_result *result,
                        ff_rt_emulation *rt, char *message, size_t size) {
    *result = (ff_emulate_result){.contact_s = FF_NAN, .contact_direct_s = FF_NAN};
    memset(rt, 0, sizeof *rt);
    arm_loop *a = calloc(1, sizeof *a);
    if (!a)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    a->scenario = scenario;
    a->options = options;
    a->rt = rt;
    a->fd = -1;
    ff_status status = open_loop_on(a, message, size);
    if (status == FF_OK) {
        char text[1024];
        status = confirm ? meet(a) : FF_OK;
        describe(a, text, sizeof text);
        if (status == FF_OK && confirm && !confirm(options->user, text))
            status = stop_loop(a, FF_ERR_LIMIT, "not armed: nothing moved");
        pthread_t thread;
        if (status == FF_OK && pthread_create(&thread, NULL, arm_thread, a) != 0)
            status = stop_loop(a, FF_ERR_MEMORY, "no thread for the loop");
        else if (status == FF_OK)
            pthread_join(thread, NULL);
        a->device->count(a->state, &rt->arm);
        status = compute_result(a, result, message, size);
        if (a->status != FF_OK) {
            snprintf(message, size, "%s", a->message);
            status = a->status;
        }
    }
    if (a->fd >= 0)
        close(a->fd);
    free(a->state);
    free(a->reading);
    ff_emulate_controller_free(a->controller);
    ff_emulate_machine_close(&a->machine);
    free(a);
    return status;
}
