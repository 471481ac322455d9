/* A Universal Robots controller: RTDE to its clients, its program on the script port, and what the robot
 * makes of the registers. Its cycle is the facility's; look-ahead and delay are the plant's robot. */
#include "server/internal.h"

#include "executive/check.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WATCHDOG 0.1 /* [s] rtde_set_watchdog(..., 10, "stop") */

ff_status ff__server_ur_open(ff_server *f, int i, char *message, size_t size) {
    ff_server_ur *u = &f->device[i].ur;
    u->here = true;
    for (int n = 0; n < FF_SERVER_LINKS; n++)
        u->link[n].fd = -1;
    u->script = u->upload = -1;
    ff_status status = ff_socket_listen(&f->address.body[i].robot_at, &u->rtde, message, size);
    if (status == FF_OK)
        status = ff_socket_listen(&f->address.body[i].program_at, &u->script, message, size);
    return status;
}

static void hang_up(ff_server_link *l) {
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    l->used = 0;
    l->rtde = (ff_ur_link){0};
}

void ff__server_ur_close(ff_server_ur *u) {
    if (!u->here)
        return;
    for (int n = 0; n < FF_SERVER_LINKS; n++)
        hang_up(&u->link[n]);
    const int fds[] = {u->rtde, u->script, u->upload};
    for (size_t n = 0; n < sizeof fds / sizeof *fds; n++)
        if (fds[n] >= 0)
            close(fds[n]);
}

/* The program stops, and who wrote its registers is gone: it must be sent again. */
void ff__server_ur_reset(ff_server_ur *u) {
    u->run = -1;
    u->silent = 0.0;
    u->registers = (ff_ur_registers){0};
    u->program = ff_ur_program_begin();
}

/* A program that comes in over the script port, as text; whole when the sender hangs up or ends it. */
static void take_program(ff_server_ur *u) {
    if (u->upload < 0 && (u->upload = ff_socket_accept(u->script)) >= 0)
        u->uploaded = 0;
    if (u->upload < 0)
        return;
    const ssize_t n = recv(u->upload, u->text + u->uploaded, sizeof u->text - u->uploaded, MSG_DONTWAIT);
    if (n > 0)
        u->uploaded += (size_t)n;
    const int64_t run = ff_ur_program_run(u->text, u->uploaded);
    if (run >= 0) {
        u->run = run;
        u->silent = 0.0;
        u->program = ff_ur_program_begin();
    }
    if (run >= 0 || n == 0 || (n < 0 && errno != EAGAIN) || u->uploaded == sizeof u->text) {
        close(u->upload);
        u->upload = -1;
    }
}

/* What a client has sent, packet by packet. False: it is gone, or a real controller would hang up. */
static bool serve(ff_server *f, int i, ff_server_link *l, bool taken) {
    ff_server_device *d = &f->device[i];
    const ssize_t n = recv(l->fd, l->bytes + l->used, sizeof l->bytes - l->used, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    l->used += n > 0 ? (size_t)n : 0;
    size_t at = 0;
    for (;;) {
        ff_rtde_packet packet;
        size_t whole, used;
        uint8_t reply[2048];
        const ff_status cut = ff_rtde_decode(l->bytes + at, l->used - at, &packet, &whole);
        if (cut < 0)
            return false;
        if (cut != FF_OK)
            break;
        ff_ur_registers written = d->ur.registers;
        const ff_status status =
            ff_ur_link_receive(&l->rtde, l->bytes + at, whole, taken, &written, reply, sizeof reply, &used);
        at += whole;
        if (status < 0)
            return false;
        if (used)
            (void)!send(l->fd, reply, used, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (status != FF_INFO_GAP)
            continue;
        /* an answer to an older telegram: the registers count, the cycle waits on */
        const bool now = written.answers == d->ur.report.timestamp && written.run == (double)d->ur.run;
        if (!isnan(ff__server_acts(f, FF_FAULT_ANSWER_LOST, i))) {
            d->taken |= now;
            continue;
        }
        d->ur.registers = written;
        d->state.answered |= d->state.open && now && d->ur.run >= 0 && written.count > 0.0;
    }
    memmove(l->bytes, l->bytes + at, l->used - at);
    l->used -= at;
    return l->used < sizeof l->bytes;
}

void ff__server_ur_serve(ff_server *f, int i) {
    ff_server_device *d = &f->device[i];
    ff_server_ur *u = &d->ur;
    take_program(u);
    for (int n = 0; n < FF_SERVER_LINKS; n++) {
        ff_server_link *l = &u->link[n];
        if (l->fd < 0 && (l->fd = ff_socket_accept(u->rtde)) < 0)
            continue;
        bool taken = false;
        for (int k = 0; k < FF_SERVER_LINKS; k++)
            taken |= k != n && u->link[k].rtde.inputs > 0;
        const bool writes = l->rtde.inputs > 0;
        if (serve(f, i, l, taken))
            continue;
        hang_up(l);
        if (writes && u->run >= 0 && d->met) { /* its program's watchdog: at once, here */
            d->failed = true;
            d->state.stopped = u->registers.mode == FF_UR_END ? FF_RSI_STOP_ASKED : FF_RSI_STOP_TIMEOUT;
        }
    }
}

/* The push that the operator is asked for, -1: none. */
int ff__server_ur_asked(const ff_server_ur *u) {
    for (int axis = 0; axis < 6; axis++)
        if (u->registers.text == (double)ff_ur_text_number(ff_push_text(axis)))
            return axis;
    return -1;
}

/* What the controller says of itself; the faults of a controller's signals change it. */
static void put_status(const ff_server *f, int i, ff_ur_report *r) {
    const ff_server_ur *u = &f->device[i].ur;
    const bool off = !isnan(ff__server_acts(f, FF_FAULT_KRC_DRIVES, i)),
               pressed = !isnan(ff__server_acts(f, FF_FAULT_KRC_ESTOP, i)),
               ended = !isnan(ff__server_acts(f, FF_FAULT_KRC_PROGRAM, i)),
               stopped = !isnan(ff__server_acts(f, FF_FAULT_PROTECTIVE_STOP, i));
    const double percent = ff__server_acts(f, FF_FAULT_KRC_OVERRIDE, i);
    const bool runs = u->run >= 0 && !off && !pressed && !ended && !stopped;
    r->status = (off ? 0 : FF_UR_STATUS_POWERED) | (runs ? FF_UR_STATUS_RUNS : 0);
    r->safety = pressed ? 1 << 7 : stopped ? FF_UR_SAFETY_PROTECTIVE : FF_UR_SAFETY_NORMAL;
    r->runtime = runs ? FF_UR_PLAYING : FF_UR_STOPPED;
    r->scaling = isnan(percent) ? 1.0 : 0.01 * percent;
}

void ff__server_ur_send(ff_server *f, int i, ff_pose tcp, double late) {
    ff_server_device *d = &f->device[i];
    ff_server_ur *u = &d->ur;
    ff_ur_report *r = &u->report;
    const ff_vec3 turn = ff_quat_log(tcp.q);
    const ff_wrench *w = u->feels ? &u->wrench : &f->in.sensor[i].f_s;
    put_status(f, i, r);
    r->timestamp = d->tick + FF_SERVER_UR_STARTED;
    memcpy(r->q, d->joints.a, sizeof r->q);
    for (int a = 0; a < 3; a++) {
        r->pose[a] = tcp.p.a[a];
        r->pose[3 + a] = turn.a[a];
        r->wrench[a] = w->f.a[a];
        r->wrench[3 + a] = w->t.a[a];
    }
    r->integer[0] = u->program.taken;
    r->integer[1] = (double)(u->run >= 0 ? u->run : 0);
    r->integer[2] = u->program.stood;
    r->real[0] = f->options->lockstep ? r->timestamp + late : 0.0;
    for (int n = 0; n < FF_UR_RECORDS; n++)
        r->real[1 + n] = f->options->lockstep && i == 0 && n < f->plan.bodies
                             ? f->device[n].record_at + FF_SERVER_UR_STARTED
                             : 0.0;
    if (i > 0)
        r->real[1] = ff__server_pace_follows(f);
    d->state.open = d->state.answered = false;
    if (!isnan(ff__server_acts(f, FF_FAULT_ROBOT_SILENT, i)) ||
        !isnan(ff__server_acts(f, FF_FAULT_ROB_LOST, i)))
        return;
    /* who only reads first: in lock step the telegram finds its record already there */
    for (int n = 0; n < 2 * FF_SERVER_LINKS; n++) {
        ff_server_link *l = &u->link[n % FF_SERVER_LINKS];
        uint8_t bytes[1024];
        size_t used;
        const bool writes = l->rtde.inputs > 0;
        if (writes == (n < FF_SERVER_LINKS) || (!writes && u->feels && u->mute))
            continue;
        if (l->fd < 0 || ff_ur_link_send(&l->rtde, r, bytes, sizeof bytes, &used) != FF_OK || !used)
            continue;
        if (!isnan(ff__server_acts(f, FF_FAULT_ROB_CORRUPT, i)))
            bytes[3] ^= 0x40; /* another recipe */
        (void)!send(l->fd, bytes, used, MSG_NOSIGNAL | MSG_DONTWAIT);
        d->state.open |= writes && u->run >= 0;
    }
}

/* The joints that the program sends the arm to. */
ff_arm_joints ff__server_ur_finish(ff_server *f, int i) {
    ff_server_device *d = &f->device[i];
    ff_server_ur *u = &d->ur;
    const ff_ur_registers *r = &u->registers;
    const bool obeyed = r->run == (double)u->run;
    u->silent = d->state.answered || !d->met ? 0.0 : u->silent + d->period;
    d->state.info.late += d->met && !d->state.answered;
    const bool runs = u->run >= 0 && isnan(ff__server_acts(f, FF_FAULT_KRC_PROGRAM, i));
    if (runs && ff_ur_program_step(&u->program, obeyed ? r : &(ff_ur_registers){0}) && r->mode == FF_UR_SERVO)
        memcpy(d->first.a, r->q, sizeof r->q);
    if ((obeyed && r->mode == FF_UR_END) || u->silent > WATCHDOG) {
        d->state.stopped = u->silent > WATCHDOG ? FF_RSI_STOP_TIMEOUT : FF_RSI_STOP_ASKED;
        d->failed = true;
        u->run = -1;
    }
    d->state.open = false;
    return d->first;
}
