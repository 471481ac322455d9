/* The robots' controllers: telegrams out, answers in, and what the robots make of them. */
#include "server/internal.h"

#include "text/clock.h"
#include "text/message.h"

#include <stdio.h>
#include <string.h>

/* A set point some time after or before it was made. */
ff_pose ff__server_moved(const ff_setpoint *from, const ff_twist *acceleration, double dt) {
    if (dt == 0.0)
        return from->T;
    const ff_twist step =
        ff_twist_scale(dt, ff_twist_add(from->twist, ff_twist_scale(0.5 * dt, *acceleration)));
    return (ff_pose){ff_quat_mul(from->T.q, ff_quat_exp(step.w)), ff_vec3_add(from->T.p, step.v)};
}

/* The robot at a controller's own tick: the plant knows it at the first robot's. */
static ff_pose robot_at(const ff_server *f, int i, double t) {
    const ff_setpoint *now = &f->truth.robot[i];
    const ff_twist acceleration =
        ff_twist_scale(1.0 / f->device[0].period, ff_twist_sub(now->twist, f->before[i]));
    return ff__server_moved(now, &acceleration, t - f->time);
}

/* What the controller says of itself; a fault changes it or leaves it out. */
static void put_signals(const ff_server *f, int i, ff_rsi_rob *rob) {
    static const ff_fault_kind kind[FF_RSI_SIGNALS] = {FF_FAULT_KRC_MODE, FF_FAULT_KRC_DRIVES,
                                                       FF_FAULT_KRC_ESTOP, FF_FAULT_KRC_OVERRIDE,
                                                       FF_FAULT_KRC_PROGRAM};
    static const uint64_t good[FF_RSI_SIGNALS] = {4, 1, 0, 100, 1};
    const double lost = ff__server_acts(f, FF_FAULT_KRC_LOST, i);
    rob->signals = isnan(lost) ? 0x1fu : lost >= 1.0 ? 0x1fu & ~(1u << ((unsigned)lost - 1u)) : 0u;
    for (int n = 0; n < FF_RSI_SIGNALS; n++) {
        const double value = ff__server_acts(f, kind[n], i);
        const bool sized = kind[n] == FF_FAULT_KRC_MODE || kind[n] == FF_FAULT_KRC_OVERRIDE;
        rob->signal[n] = isnan(value) ? good[n] : sized ? (uint64_t)value : !good[n];
    }
}

/* Drives, emergency stop, override and programme say that it does. */
static bool stands(const ff_server *f, int i) {
    return !isnan(ff__server_acts(f, FF_FAULT_ROBOT_STUCK, i)) ||
           !isnan(ff__server_acts(f, FF_FAULT_KRC_DRIVES, i)) ||
           !isnan(ff__server_acts(f, FF_FAULT_KRC_ESTOP, i)) ||
           !isnan(ff__server_acts(f, FF_FAULT_KRC_PROGRAM, i)) ||
           !isnan(ff__server_acts(f, FF_FAULT_PROTECTIVE_STOP, i)) ||
           ff__server_acts(f, FF_FAULT_KRC_OVERRIDE, i) == 0.0;
}

/* A fault has taken the telegram. */
bool ff__server_undelivered(const ff_server *f, int i) {
    static const ff_fault_kind kinds[] = {
        FF_FAULT_ROB_LOST,       FF_FAULT_ROB_CORRUPT,  FF_FAULT_ROB_CUT,
        FF_FAULT_ROB_NAN,        FF_FAULT_ROB_EMPTY,    FF_FAULT_ROB_LONG,
        FF_FAULT_ROB_INCOMPLETE, FF_FAULT_ROBOT_SILENT, FF_FAULT_ROBOT_RESTARTS};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        if (!isnan(ff__server_acts(f, kinds[n], i)))
            return true;
    return false;
}

/* The same, or the loop answers no more. */
static bool unheard(const ff_server *f, int i) {
    return ff__server_undelivered(f, i) || f->device[i].restarted;
}

/* Lock step: when the first robot's telegram of this cycle arrives, which is sent after the others'; 0: none
 * will. The loop waits for it before it answers them, however long this machine takes between the two. */
double ff__server_pace_follows(const ff_server *f) {
    const ff_server_device *first = &f->device[0];
    if (!f->options->lockstep || first->failed || unheard(f, 0))
        return 0.0;
    return f->time + first->rob_late + (first->ur.here ? FF_SERVER_UR_STARTED : 0.0);
}

void ff__server_send_rob(ff_server *f, int i) {
    ff_server_device *d = &f->device[i];
    const ff_plan_body *body = &f->plan.body[i];
    ff_pose T = robot_at(f, i, d->tick);
    double size, late = d->rob_late;
    if (!isnan(size = ff__server_acts(f, FF_FAULT_ROBOT_JUMP, i)))
        T.p.y += size;
    ff_arm_joints joints;
    const bool rests =
        ff_vec3_norm(ff_vec3_sub(T.p, d->posed.p)) < 1e-12 && ff_quat_angle(T.q, d->posed.q) < 1e-12;
    if (!rests && d->ros.here && body->arm.config.axes > 6)
        d->joints = ff__server_ros2_joints(f, i, &T);
    else if (!rests && ff_arm_inverse_after(&body->arm, &T, &d->joints, d->period, &joints, NULL) == FF_OK)
        d->joints = joints;
    d->posed = T;
    ff_rsi_rob rob = {0};
    ff_pose rist = ff_plan_to_base(body, T);
    if (!isnan(size = ff__server_always(f, FF_FAULT_TOOL_OFF, i)))
        rist.p = ff_vec3_axpy(size, ff_quat_rotate(rist.q, ff_vec3_make(0.0, 0.0, 1.0)), rist.p);
    if (!isnan(size = ff__server_acts(f, FF_FAULT_ROB_LATE, i)))
        late += size;
    if (d->ur.here || d->ros.here) {
        if (late > 0.0 && !f->options->lockstep)
            ff_clock_sleep_until(ff_clock_now() + (int64_t)(1e9 * late));
        if (d->ur.here)
            ff__server_ur_send(f, i, rist, late);
        else
            ff__server_ros2_send(f, i, late);
        return;
    }
    ff_rsi_from_pose(rist, rob.rist);
    ff_arm_to_kuka(&d->joints, rob.aipos, &rob.eipos[0]);
    rob.limit[0] = body->cartesian ? d->usual.poscorr_rotation_deg : d->usual.axiscorr_upper[0];
    const bool rides = !body->cartesian && d->usual.external_linear[0];
    rob.limit[1] = rides ? d->usual.axiscorr_upper[6] : d->usual.poscorr_upper_mm[0];
    if (!isnan(size = ff__server_acts(f, FF_FAULT_IPOC_JUMP, i))) {
        if (size > 0.0)
            ff__server_restart(f, i, false);
        d->state.ipoc += 400;
        d->jumped = true;
    }
    put_signals(f, i, &rob);
    double rail;
    ff_rsi_from_pose(d->first_rist, rob.rsol);
    ff_arm_to_kuka(&d->first, rob.aspos, &rail);
    rob.arrival_ns = (uint64_t)llround(1e9 * (d->tick + late));
    for (int n = 0; i == 0 && n < f->plan.bodies && n < FF_RSI_RECORDS; n++)
        rob.record_ns[n] = (uint64_t)llround(1e9 * f->device[n].record_at);
    if (i > 0)
        rob.record_ns[0] = (uint64_t)llround(1e9 * ff__server_pace_follows(f));
    char text[FF_RSI_READ_MAX + 512];
    size_t used = 0;
    if (ff_rsi_controller_send(&d->config, &d->state, &rob, text, FF_RSI_SEND_MAX, &used) != FF_OK)
        return;
    d->refused = false;
    const struct sockaddr_in *to = &f->address.body[i].robot_at;
    if (!isnan(ff__server_acts(f, FF_FAULT_ROBOT_SILENT, i)) ||
        !isnan(ff__server_acts(f, FF_FAULT_ROB_LOST, i)) ||
        !isnan(ff__server_acts(f, FF_FAULT_ROBOT_RESTARTS, i)))
        return;
    if (late > 0.0 && !f->options->lockstep)
        ff_clock_sleep_until(ff_clock_now() + (int64_t)(1e9 * late));
    char sent[FF_RSI_READ_MAX + 512];
    memcpy(sent, text, used);
    sent[used] = '\0';
    size_t length = used;
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_CORRUPT, i)))
        for (size_t n = 20; n < length; n += 11)
            sent[n] = (char)(0x80 + n % 100);
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_CUT, i)))
        length /= 2;
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_NAN, i))) {
        char *const place = strstr(sent, "RIst X=\""); /* NULL: another fault has destroyed it */
        if (place)
            memcpy(place + 8, "nan", 3);
    }
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_EMPTY, i)))
        length = (size_t)snprintf(sent, sizeof sent, "<Rob Type=\"KUKA\"></Rob>");
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_LONG, i))) {
        memset(sent + length, ' ', sizeof sent - length);
        length = sizeof sent;
    }
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_INCOMPLETE, i)))
        length = (size_t)snprintf(sent, sizeof sent, "<Rob Type=\"KUKA\"><IPOC>%llu</IPOC></Rob>",
                                  (unsigned long long)rob.ipoc);
    if (i > 0 && f->options->lockstep && !isnan(ff__server_acts(f, FF_FAULT_ROB_LATE, i))) {
        memcpy(d->deferred, sent, length);
        d->deferred_size = length;
        return;
    }
    ff_socket_send(d->rsi, sent, length, to);
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_REPEATED, i)))
        ff_socket_send(d->rsi, sent, length, to);
    if (!isnan(ff__server_acts(f, FF_FAULT_ROB_REORDERED, i)) && d->last_rob_size)
        ff_socket_send(d->rsi, d->last_rob, d->last_rob_size, to);
    if (f->stranger >= 0 && !isnan(ff__server_acts(f, FF_FAULT_STRANGER, i)))
        ff_socket_send(f->stranger, text, used, to);
    memcpy(d->last_rob, text, used);
    d->last_rob_size = used;
}

/* An answer of another Type than SENTYPE, as a controller takes it: as none. */
static void refuse_type(ff_server *f, int i, const char *text, size_t size) {
    ff_server_device *d = &f->device[i];
    if (!d->mistyped) {
        char type[FF_RSI_NAME_SIZE];
        ff_rsi_sen_type(text, size, type);
        ff_flatten(type);
        ff__server_say(f, "%s: answers are refused: their Type is '%s', SENTYPE is '%s'",
                       f->scenario->satellite[i].name, type, d->config.names.type);
    }
    d->mistyped = d->refused = d->met = true;
}

/* A fault takes this robot's answers, or withholds them for a cycle. */
bool ff__server_takes_answer(const ff_server *f, int i) {
    return !isnan(ff__server_acts(f, FF_FAULT_ANSWER_LOST, i)) ||
           !isnan(ff__server_acts(f, FF_FAULT_ANSWER_LATE, i));
}

/* Answers that came. True when every body has its own. */
bool ff__server_take_answers(ff_server *f) {
    bool all = true;
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_server_device *d = &f->device[i];
        char text[FF_RSI_READ_MAX];
        struct sockaddr_in from;
        int64_t stamp;
        if (d->ur.here)
            ff__server_ur_serve(f, i);
        if (d->ros.here)
            ff__server_ros2_serve(f, i);
        for (int n = 0; n < 16 && !d->ur.here && !d->ros.here; n++) {
            const long size = ff_socket_receive(d->rsi, text, sizeof text, &from, &stamp);
            if (size == 0)
                break;
            d->taken |= size > 0 && ff__server_takes_answer(f, i);
            if (size < 0 || !isnan(ff__server_acts(f, FF_FAULT_ANSWER_LOST, i)))
                continue;
            if (!isnan(ff__server_acts(f, FF_FAULT_ANSWER_LATE, i))) { /* it will come in the next cycle */
                memcpy(d->late_answer, text, (size_t)size);
                d->late_size = (size_t)size;
                continue;
            }
            f->peer = from;
            if (ff_rsi_controller_receive(&d->config, &d->state, text, (size_t)size) == FF_ERR_UNSUPPORTED)
                refuse_type(f, i, text, (size_t)size);
        }
        d->met |= d->state.answered;
        all &= d->state.answered || !d->state.open;
    }
    return all;
}

/* The controller gets no answer in this cycle, whatever the loop does. */
bool ff__server_unanswerable(const ff_server *f, int i) {
    return ff__server_takes_answer(f, i) || unheard(f, i);
}

/* Lock step: something is still to come from the loop for this robot. An answer that a fault takes is waited
 * for, too: else it would come in the next cycle, which perhaps no fault takes it from. But no longer than
 * two seconds, once: the loop may have ended. */
bool ff__server_awaited(ff_server *f, int i, int64_t waited) {
    ff_server_device *d = &f->device[i];
    if (!d->state.open || d->state.answered || d->refused || unheard(f, i))
        return false;
    if (!ff__server_takes_answer(f, i))
        return d->met || waited < 20000000;
    d->mute = !d->taken && (d->mute || waited > 2000000000);
    return d->met && !d->taken && !d->mute;
}

/* The correction as a pose of the body. */
static ff_pose corrected(const ff_server *f, int i, const ff_rsi_correction *correction) {
    const ff_server_device *d = &f->device[i];
    const ff_plan_body *body = &f->plan.body[i];
    ff_pose T;
    if (!body->cartesian) {
        ff_arm_joints joints = d->first;
        for (int a = 0; a < 6; a++)
            joints.a[a] += correction->axes[a];
        joints.rail += correction->external[0];
        T = ff_arm_forward(&body->arm, &joints);
    } else {
        T = ff_plan_from_base(body, (ff_pose){ff_quat_mul(correction->pose.q, d->first_rist.q),
                                              ff_vec3_add(d->first_rist.p, correction->pose.p)});
    }
    T.q = ff_quat_unit(T.q);
    return T;
}

/* The robot's next command, with its velocity, which a fault may take. */
static void move_to(ff_server *f, int i, ff_pose T, const ff_twist *given) {
    ff_server_device *d = &f->device[i];
    const bool stuck = stands(f, i);
    if (stuck && !d->was_stuck)
        d->stuck = d->command.T;
    d->was_stuck = stuck;
    if (stuck)
        T = d->stuck;
    const double slow =
        ff__server_acts(f, FF_FAULT_ROBOT_SLOW, i); /* [1/cycle] part of the displacement it makes */
    if (!isnan(slow))
        T = ff_pose_interpolate(d->command.T, T, slow);
    d->command = given && !stuck && isnan(slow)
                     ? ff_motion_given(&d->motion, &(ff_setpoint){T, *given}, d->period, &d->acceleration)
                     : ff_motion_step(&d->motion, T, d->period, &d->acceleration);
    const bool moves = ff_vec3_norm(ff_vec3_sub(T.p, f->truth.robot[i].T.p)) > 1e-6 ||
                       ff_quat_angle(T.q, f->truth.robot[i].T.q) > 1e-6;
    if (moves && !f->moving)
        f->moving = f->k + 1;
}

void ff__server_rearm(ff_server_device *d) {
    if (d->ur.here || d->ros.here) { /* its clock runs on, and its program */
        d->state.open = d->state.answered = false;
        return;
    }
    d->config.ipoc_start = d->state.ipoc + d->config.ipoc_step;
    ff_rsi_controller_reset(&d->config, &d->state);
}

/* RSI_ON again in the middle of the run: the corrections begin at zero where the robot comes to stand.
 * counted: its first telegrams were lost, and it has counted each of them as late. */
void ff__server_restart(ff_server *f, int i, bool counted) {
    ff_server_device *d = &f->device[i];
    const uint64_t late = d->state.info.late, ipoc = d->state.ipoc;
    ff__server_rearm(d);
    if (counted) {
        d->state.info.late = late;
        d->state.ipoc = ipoc;
    }
    const ff_plan_body *body = &f->plan.body[i];
    d->restarted = true;
    d->first = d->joints;
    ff_arm_inverse_after(&body->arm, &d->command.T, &d->joints, d->period, &d->first, NULL);
    d->first_rist = ff_plan_to_base(body, d->command.T);
}

void ff__server_finish(ff_server *f, int i) {
    ff_server_device *d = &f->device[i];
    if (d->ur.here || d->ros.here) {
        const bool answered = d->state.answered;
        const ff_arm_joints joints = d->ur.here ? ff__server_ur_finish(f, i) : ff__server_ros2_finish(f, i);
        ff_pose at = ff_arm_forward(&f->plan.body[i].arm, &joints);
        at.q = ff_quat_unit(at.q);
        const bool given = d->ros.here && d->ros.rated && answered;
        const ff_twist twist =
            given ? ff_arm_twist(&f->plan.body[i].arm, &joints, d->ros.rates) : ff_twist_zero();
        move_to(f, i, at, given ? &twist : NULL);
        return;
    }
    const uint64_t ipoc = d->state.ipoc;
    ff_rsi_correction correction;
    d->failed |= ff_rsi_controller_finish(&d->config, &d->state, &correction) < 0;
    const ff_pose T = corrected(f, i, &correction);
    if (f->options->received)
        f->options->received(f->options->user, i, f->result->sessions, ipoc,
                             d->state.answered ? &d->state.sen : NULL, &T);
    move_to(f, i, T, NULL);
}

/* The cycles of a controller with a clock of its own, up to t: the last one closes, with or without its
 * answer, the next telegram goes out. */
void ff__server_tick_until(ff_server *f, int i, double t) {
    ff_server_device *d = &f->device[i];
    while (d->apart && !d->failed && (double)d->ticks * d->period <= t) {
        if (d->state.open && d->met)
            ff__server_finish(f, i);
        else if (d->state.open)
            ff__server_rearm(d);
        d->tick = (double)d->ticks++ * d->period;
        if (!d->failed)
            ff__server_send_rob(f, i);
    }
}
