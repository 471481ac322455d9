/* The arm's side: what a controller makes of the commands that it is sent. */
#include "devices/torque/torque.h"

#include <string.h>

ff_torque_arm_config ff_torque_arm_default(void) {
    ff_torque_arm_config c = {.limits.joints = 1, .cycle = 0.001, .silent = 3, .apart = 0.1};
    for (int i = 0; i < FF_TREE_JOINTS_MAX; i++) {
        c.limits.torque[i] = c.limits.upper[i] = c.limits.speed[i] = FF_INF;
        c.limits.lower[i] = -FF_INF;
    }
    return c;
}

ff_status ff_torque_arm_validate(const ff_torque_arm_config *c) {
    const ff_joint_limits *l = &c->limits;
    if (l->joints < 1 || l->joints > FF_TREE_JOINTS_MAX || !(c->cycle > 0.0) || !isfinite(c->cycle) ||
        !(c->apart > 0.0))
        return FF_ERR_ARGUMENT;
    for (unsigned i = 0; i < l->joints; i++)
        if (!(l->torque[i] > 0.0) || !(l->speed[i] > 0.0) || !(l->lower[i] < l->upper[i]))
            return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_torque_arm_reset(ff_torque_arm *arm, uint32_t session) {
    memset(arm, 0, sizeof *arm);
    arm->session = session ? session : 1;
    arm->sequence = arm->echo = FF_TORQUE_NONE; /* the first telegram is 0 */
}

static void stand(ff_torque_arm *arm, ff_torque_fault why) {
    arm->state = FF_TORQUE_FAULT;
    arm->fault = why;
}

/* While torques act: what its joints do. */
static void watch(const ff_joint_limits *l, ff_torque_arm *arm, const ff_torque_measured *m) {
    for (unsigned i = 0; i < l->joints && arm->state == FF_TORQUE_COMMANDING; i++) {
        if (!(m->q[i] >= l->lower[i] && m->q[i] <= l->upper[i]))
            stand(arm, FF_TORQUE_FAULT_POSITION);
        else if (!(fabs(m->qd[i]) <= l->speed[i]))
            stand(arm, FF_TORQUE_FAULT_SPEED);
    }
}

ff_status ff_torque_arm_send(const ff_torque_arm_config *c, ff_torque_arm *arm, const ff_torque_measured *m,
                             uint8_t *bytes, size_t size, size_t *used) {
    const unsigned n = c->limits.joints;
    watch(&c->limits, arm, m);
    arm->sequence++;
    arm->open = true;
    arm->answered = false;
    memcpy(arm->q, m->q, n * sizeof *arm->q);
    ff_torque_telegram t = {.joints = n,
                            .state = (int)arm->state,
                            .fault = (int)arm->fault,
                            .session = arm->session,
                            .sequence = arm->sequence,
                            .echo = arm->echo,
                            .run = arm->run,
                            .late = (uint32_t)arm->count.late,
                            .time = c->cycle * (double)arm->count.cycles++,
                            .cycle = c->cycle,
                            .arrives = c->lockstep ? m->arrives : 0.0};
    t.flags = (m->closed ? FF_TORQUE_CLOSED : 0u) |
              (arm->state == FF_TORQUE_COMMANDING ? 0u : FF_TORQUE_BRAKED) |
              (c->lockstep ? FF_TORQUE_LOCKSTEP : 0u) | (arm->clipped ? FF_TORQUE_CLIPPED : 0u);
    memcpy(t.wrench, m->wrench, sizeof t.wrench);
    memcpy(t.q, m->q, sizeof t.q);
    memcpy(t.qd, m->qd, sizeof t.qd);
    memcpy(t.torque, m->torque, sizeof t.torque);
    memcpy(t.external, m->external, sizeof t.external);
    return ff_torque_telegram_encode(&t, bytes, size, used);
}

ff_status ff_torque_arm_receive(const ff_torque_arm_config *c, ff_torque_arm *arm, const void *bytes,
                                size_t size) {
    ff_torque_command command;
    ff_status status = ff_torque_command_decode(bytes, size, &command);
    if (status == FF_OK && command.joints != c->limits.joints)
        status = FF_ERR_SIZE;
    if (status != FF_OK) {
        arm->count.malformed++;
        return status;
    }
    bool strange = command.session != arm->session || (arm->run != 0 && command.run != arm->run);
    if (!strange && (!arm->open || arm->answered || command.sequence != arm->sequence)) {
        arm->count.stale++;
        return FF_INFO_STALE;
    }
    for (unsigned i = 0; i < command.joints; i++)
        strange |= !(fabs(command.q[i] - arm->q[i]) <= c->apart);
    if (strange) {
        arm->count.strange++;
        return FF_ERR_DEVICE;
    }
    arm->command = command;
    arm->answered = true;
    arm->echo = command.sequence;
    arm->run = command.mode == FF_TORQUE_END ? 0 : command.run;
    arm->count.taken++;
    return FF_OK;
}

/* A torque acts only for who has had the joints held before: nobody begins with it. */
static void obey(ff_torque_arm *arm) {
    arm->missing = 0;
    if (arm->state == FF_TORQUE_FAULT)
        return;
    if (arm->command.mode == FF_TORQUE_END)
        arm->state = FF_TORQUE_IDLE;
    else if (arm->command.mode == FF_TORQUE_TORQUE && arm->state != FF_TORQUE_IDLE)
        arm->state = FF_TORQUE_COMMANDING;
    else {
        arm->count.early += arm->command.mode == FF_TORQUE_TORQUE;
        arm->state = FF_TORQUE_MONITORING;
    }
}

static void miss(const ff_torque_arm_config *c, ff_torque_arm *arm) {
    arm->count.late += arm->state != FF_TORQUE_IDLE;
    if (++arm->missing <= c->silent)
        return;
    if (arm->state == FF_TORQUE_COMMANDING)
        stand(arm, FF_TORQUE_FAULT_SILENT);
    else if (arm->state == FF_TORQUE_MONITORING) {
        arm->state = FF_TORQUE_IDLE;
        arm->run = 0;
    }
}

void ff_torque_arm_finish(const ff_torque_arm_config *c, ff_torque_arm *arm, ff_torque_action *action) {
    if (arm->answered)
        obey(arm);
    else
        miss(c, arm);
    arm->open = false;
    arm->clipped = false;
    *action = (ff_torque_action){.brakes = arm->state != FF_TORQUE_COMMANDING,
                                 .grips = arm->command.grips && arm->state != FF_TORQUE_FAULT};
    for (unsigned i = 0; i < c->limits.joints && !action->brakes; i++) {
        const double most = c->limits.torque[i], asked = arm->command.torque[i];
        arm->clipped |= fabs(asked) > most;
        action->torque[i] = fmin(most, fmax(-most, asked));
    }
    arm->count.clipped += arm->clipped;
}
