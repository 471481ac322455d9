/* The servicer's arm as a device: one that is commanded by joint torques (devices/torque), the plant's behind
 * it. Its telegram of t_k goes out before the robots' and is answered with them; the others of the loop's
 * cycle are exchanged while the plant makes the motion from t_k to t_(k+1), in wall-clock time one behind the
 * other. */
#include "server/internal.h"
#include "text/clock.h"

#include <string.h>
#include <unistd.h>

static void put_port(ff_wrench w, double *six) {
    const double x[6] = {w.f.x, w.f.y, w.f.z, w.t.x, w.t.y, w.t.z};
    memcpy(six, x, sizeof x);
}

/* part: cycles of the arm since the robots' telegrams. */
static void send_telegram(ff_server *f, int part, const ff_arm_measured *m) {
    ff_server_arm *a = &f->arm;
    uint8_t bytes[FF_TORQUE_TELEGRAM_MAX];
    size_t used;
    ff_torque_measured measured = {.closed = m->joints->closed,
                                   .arrives = f->time + part * a->config.cycle +
                                              (f->device[0].ur.here ? FF_SERVER_UR_STARTED : 0.0)};
    memcpy(measured.q, m->joints->q, sizeof measured.q);
    memcpy(measured.qd, m->joints->qd, sizeof measured.qd);
    memcpy(measured.torque, m->joints->motor, sizeof measured.torque);
    memcpy(measured.external, m->external, sizeof measured.external);
    put_port(m->port, measured.wrench);
    if (ff_torque_arm_send(&a->config, &a->arm, &measured, bytes, sizeof bytes, &used) == FF_OK)
        ff_socket_send(a->fd, bytes, used, &f->address.arm_at);
}

void ff__server_arm_take(ff_server *f) {
    ff_server_arm *a = &f->arm;
    uint8_t bytes[FF_DEVICE_READ_MAX];
    struct sockaddr_in from;
    int64_t stamp;
    for (int n = 0; n < 16 && a->fd >= 0; n++) {
        const long size = ff_socket_receive(a->fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            return;
        if (ff_socket_same(&from, &f->address.arm_at)) /* who is sent telegrams */
            ff_torque_arm_receive(&a->config, &a->arm, bytes, size > 0 ? (size_t)size : sizeof bytes + 1);
        else
            a->arm.count.strange++;
    }
}

bool ff__server_arm_awaited(const ff_server *f) {
    return f->arm.fd >= 0 && f->arm.arm.run && !f->arm.arm.answered;
}

/* Until the command is there; no longer than the arm's cycle, in lock step as long as somebody may answer. */
static void wait_arm(ff_server *f) {
    ff_server_arm *a = &f->arm;
    const double patience = !f->options->lockstep        ? a->config.cycle
                            : f->options->patience > 0.0 ? f->options->patience
                                                         : 20.0;
    const int64_t until = ff_clock_now() + (int64_t)(1e9 * patience);
    for (;;) {
        ff__server_arm_take(f);
        const int64_t left = until - ff_clock_now();
        if (a->arm.answered || !a->arm.run || left <= 0 || atomic_load(f->options->stop))
            return;
        ff_socket_wait(a->fd, left < 20000000 ? left : 20000000);
    }
}

void ff__server_arm_finish(ff_server *f) {
    if (f->arm.fd >= 0)
        ff_torque_arm_finish(&f->arm.config, &f->arm.arm, &f->arm.action);
}

/* The plant's arm asks for each of its cycles; the first one has its command already. */
static bool drive(void *self, int part, const ff_arm_measured *measured, double *torque, bool *grips) {
    ff_server *f = self;
    ff_server_arm *a = &f->arm;
    if (part > 0) {
        send_telegram(f, part, measured);
        wait_arm(f);
        ff__server_arm_finish(f);
    }
    *grips = a->action.grips;
    memcpy(torque, a->action.torque, sizeof a->action.torque);
    return !a->action.brakes;
}

void ff__server_arm_send(ff_server *f) {
    ff_arm_measured measured;
    if (f->arm.fd < 0)
        return;
    ff_plant_measure_arm(f->plant, &measured);
    send_telegram(f, 0, &measured);
}

void ff__server_arm_reset(ff_server *f) {
    ff_server_arm *a = &f->arm;
    ff_torque_arm_reset(&a->arm, (uint32_t)(ff_clock_real() / 1000000));
    a->action = (ff_torque_action){.brakes = true};
}

ff_status ff__server_arm_open(ff_server *f, char *message, size_t size) {
    ff_server_arm *a = &f->arm;
    if (!f->address.arm)
        return FF_OK;
    const ff_servicer_arm *arm = &f->scenario->satellite[ff_scenario_servicer(f->scenario)].arm;
    a->config = ff_torque_arm_default();
    ff_arm_law_limits(arm, &a->config.limits);
    a->config.cycle = arm->cycle;
    a->config.lockstep = f->options->lockstep;
    if (f->options->timeout)
        a->config.silent = f->options->timeout;
    ff_plant_drive_arm(f->plant, (ff_arm_drive){f, drive});
    struct sockaddr_in any = f->address.arm_at;
    any.sin_port = 0;
    return ff_socket_open(&any, &a->fd, NULL, message, size);
}

void ff__server_arm_end(ff_server *f) {
    const ff_server_arm *a = &f->arm;
    if (a->fd < 0)
        return;
    const ff_torque_arm_counters *n = &a->arm.count;
    f->result->arm = *n;
    const bool stands = a->arm.state == FF_TORQUE_FAULT;
    ff__server_say(f,
                   "the arm %s%s after %llu cycles; %llu commands late, %llu stale, %llu strange, %llu "
                   "malformed",
                   stands ? "stands: " : "ended", stands ? ff_torque_fault_text((int)a->arm.fault) : "",
                   (unsigned long long)n->cycles, (unsigned long long)n->late, (unsigned long long)n->stale,
                   (unsigned long long)n->strange, (unsigned long long)n->malformed);
}

void ff__server_arm_close(ff_server *f) {
    if (f->arm.fd >= 0)
        close(f->arm.fd);
}
