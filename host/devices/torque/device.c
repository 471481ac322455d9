/* An arm that is commanded by joint torques, as a device: the computer's side of torque.h behind the table of
 * device.h. */
#include "devices/torque/torque.h"

#include <string.h>

typedef struct client {
    ff_joint_limits limits; /* joints 0: as many as its first telegram has */
    uint32_t run;
    bool known, waits;
    bool commanded;              /* torques were sent in this session */
    ff_torque_telegram telegram; /* newest */
    uint32_t answered;           /* its sequence number, of the last answer */
    double sent[FF_TREE_JOINTS_MAX];
    ff_device_counters count;
} client;

static void open(void *self, const ff_device_settings *settings) {
    client *s = self;
    const ff_torque_arm_config free = ff_torque_arm_default();
    memset(s, 0, sizeof *s);
    s->limits = settings->limits ? *settings->limits : free.limits;
    if (!settings->limits)
        s->limits.joints = 0;
    s->run = settings->run ? settings->run : 1;
    s->answered = FF_TORQUE_NONE;
}

static void range(const void *self, ff_device_range *range) {
    (void)self;
    *range =
        (ff_device_range){.turn = FF_INF, .axis = FF_INF, .shift = FF_INF, .force = FF_INF, .torque = FF_INF};
}

static void report(const client *s, uint64_t lost, ff_joint_report *r) {
    const ff_torque_telegram *t = &s->telegram;
    memset(r, 0, sizeof *r);
    memcpy(r->q, t->q, sizeof r->q);
    memcpy(r->qd, t->qd, sizeof r->qd);
    memcpy(r->torque, t->torque, sizeof r->torque);
    memcpy(r->external, t->external, sizeof r->external);
    r->wrench = (ff_wrench){ff_vec3_make(t->wrench[3], t->wrench[4], t->wrench[5]),
                            ff_vec3_make(t->wrench[0], t->wrench[1], t->wrench[2])};
    r->state = t->state;
    r->fault = t->state == FF_TORQUE_FAULT ? t->fault ? t->fault : FF_TORQUE_FAULT_DEVICE : 0;
    r->commands = t->state == FF_TORQUE_COMMANDING;
    r->closed = t->flags & FF_TORQUE_CLOSED;
    r->clipped = t->flags & FF_TORQUE_CLIPPED;
    r->lost = lost;
    r->taken = t->run == s->run && t->echo == s->answered;
    r->time = t->time;
    r->cycle = t->cycle;
    r->arrives = t->flags & FF_TORQUE_LOCKSTEP ? t->arrives : FF_NAN;
}

static ff_status sample(void *self, double now, const void *bytes, size_t size, ff_device_sample *sample) {
    client *s = self;
    (void)now;
    ff_torque_telegram t;
    ff_status status = size > FF_DEVICE_READ_MAX ? FF_ERR_SIZE : ff_torque_telegram_decode(bytes, size, &t);
    if (status == FF_OK && s->limits.joints && t.joints != s->limits.joints)
        status = FF_ERR_ARGUMENT;
    if (status != FF_OK) {
        s->count.malformed++;
        return status;
    }
    uint64_t lost = 0;
    if (s->known && t.session != s->telegram.session) {
        s->count.restarts++;
        if (s->commanded)
            return FF_ERR_DEVICE;
        s->answered = FF_TORQUE_NONE; /* nothing has moved: it is met anew */
    } else if (s->known) {
        const uint32_t step = t.sequence - s->telegram.sequence;
        if (step == 0 || step > INT32_MAX) {
            s->count.repeated += step == 0;
            s->count.reordered += step != 0;
            return FF_INFO_STALE;
        }
        lost = step - 1;
    }
    s->count.received++;
    s->count.lost += lost;
    s->count.unanswered += s->waits;
    s->count.late = t.late;
    s->known = s->waits = true;
    s->telegram = t;
    report(s, lost, &sample->arm);
    return lost ? FF_INFO_GAP : FF_OK;
}

/* What the joints may not do while torques act. */
static bool within(const client *s) {
    const ff_torque_telegram *t = &s->telegram;
    for (unsigned i = 0; i < t->joints; i++)
        if (!(t->q[i] >= s->limits.lower[i] && t->q[i] <= s->limits.upper[i]) ||
            !(fabs(t->qd[i]) <= s->limits.speed[i]))
            return false;
    return true;
}

static ff_status answer(void *self, double now, const ff_robot_order *order, void *bytes, size_t size,
                        size_t *used) {
    client *s = self;
    (void)now;
    *used = 0;
    if (!s->waits)
        return FF_ERR_ARGUMENT;
    ff_torque_command c = {.joints = s->telegram.joints,
                           .mode = order->stop ? FF_TORQUE_END : FF_TORQUE_HOLD,
                           .grips = order->grips,
                           .session = s->telegram.session,
                           .sequence = s->telegram.sequence,
                           .run = s->run};
    memcpy(c.q, s->telegram.q, sizeof c.q);
    ff_status status = FF_OK;
    if (order->moves && order->torque && !order->stop) {
        double sum = 0.0;
        for (unsigned i = 0; i < c.joints; i++)
            sum += 0.0 * order->torque[i];
        status = sum != 0.0 ? FF_ERR_NOT_FINITE : within(s) ? FF_OK : FF_ERR_LIMIT;
        for (unsigned i = 0; i < c.joints && status >= 0; i++) {
            const double most = s->limits.torque[i];
            c.torque[i] = fmin(most, fmax(-most, order->torque[i]));
            if (c.torque[i] != order->torque[i])
                status = FF_INFO_LIMITED;
        }
        if (status >= 0)
            c.mode = FF_TORQUE_TORQUE;
    }
    const ff_status made = ff_torque_command_encode(&c, bytes, size, used);
    if (made != FF_OK)
        return made;
    s->waits = false;
    s->answered = c.sequence;
    s->commanded = s->commanded || c.mode == FF_TORQUE_TORQUE;
    s->count.answered++;
    s->count.refused += status < 0;
    memcpy(s->sent, c.torque, sizeof s->sent);
    return status;
}

static void sent(const void *self, ff_robot_order *order) {
    order->torque = ((const client *)self)->sent;
}

static void count(const void *self, ff_device_counters *counters) {
    *counters = ((const client *)self)->count;
}

static const ff_setting setting[] = {
    FF_DEVICE_PORT("port", port, "30300", "UDP port on this computer to which its telegrams come."),
};

const ff_device ff_device_torque = {
    .name = "joint-torque",
    .help = "an arm that is commanded by joint torques, telegram by telegram over "
            "UDP (docs/protocols.md); virtual in `run` and `facility`.",
    .kind = FF_DEVICE_ARM,
    .setting = setting,
    .settings = sizeof setting / sizeof *setting,
    .port = FF_TORQUE_PORT,
    .bytes = sizeof(client),
    .open = open,
    .range = range,
    .sample = sample,
    .answer = answer,
    .sent = sent,
    .count = count};
