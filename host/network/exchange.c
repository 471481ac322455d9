/* The devices' datagrams: from whom and when they came, which of them is the newest, who is answered early.
 */
#include "network/internal.h"

#include "text/clock.h"

#include <poll.h>

/* read at most in one cycle: a flood does not stop the loop */
enum {
    DATAGRAMS = 32,
    RECORDS = 256 /* of a sensor: 8 kHz for 12 ms, and as many again to catch up */
};

enum {
    NAP = 500000,            /* [ns] while another robot's telegram waits for the pacing one's */
    LOCKSTEP_NAPS = 100,     /* then it is answered without */
    LOCKSTEP_PATIENCE = 4000 /* the same where it was announced: someone between has lost it */
};

#define BEYOND 0.02 /* [rad] the end of a joint's range that a reading may lie: a servo's overshoot */

/* A datagram that was longer than its buffer is malformed. */
static size_t datagram_size(long received) {
    return received > 0 ? (size_t)received : FF_DEVICE_READ_MAX + 1;
}

double ff__network_local_time(const ff_network *s, int64_t stamp) {
    const int64_t now = ff_clock_now(), age = stamp ? ff_clock_real() - stamp : 0;
    return 1e-9 * (double)(now - (age > 0 ? age : 0) - s->epoch);
}

/* The sensor's own count against our clock. How many a second the sensor makes is its own affair: taken from
 * the first records. */
static void fit_sensor(ff_network *s, int i, int64_t arrived) {
    ff_network_body *b = &s->body[i];
    const double reported = s->body[0].report.record_arrives[i]; /* lock step */
    const double local = isnan(s->virtual_now) ? ff__network_local_time(s, arrived)
                         : isnan(reported)     ? s->virtual_now
                                               : reported;
    const uint32_t step = b->record.stamp - b->ft.last;
    b->ft.last = b->record.stamp;
    if (b->ft.records++ == 0 || step > INT32_MAX) { /* the first, or a sensor that began again */
        b->ft.records = 1;
        b->ft.count = 0;
        b->ft.first = local;
        b->ft.tick = 0.0;
        ff_clockfit_reset(&b->ft.fit);
        return;
    }
    b->ft.count += step;
    if (b->ft.records == FF_NETWORK_RECORDS && b->ft.count && local > b->ft.first)
        b->ft.tick = (local - b->ft.first) / (double)b->ft.count;
    if (b->ft.tick > 0.0)
        ff_clockfit_add(&s->fitting_sensor, &b->ft.fit, (double)b->ft.count * b->ft.tick, local);
}

/* A sensor may send many records a cycle: each is judged, the newest is used. */
static void judge_record(ff_network_body *b, const ff_sensor_report *record) {
    const double force = ff_vec3_largest(record->f_s.f), torque = ff_vec3_largest(record->f_s.t),
                 off = ff_vec3_norm(ff_vec3_sub(record->f_s.f, b->since.from));
    const bool finite = ff_wrench_finite(record->f_s);
    const ff_status health = finite ? record->health : FF_ERR_NOT_FINITE;
    const bool beyond = force >= b->force_range - record->force || torque >= b->torque_range - record->torque;
    b->bad += health != FF_OK || beyond;
    if (health != FF_OK) {
        b->since.health = health;
        b->since.word = record->word;
    }
    if (!finite)
        return;
    b->since.force = fmax(b->since.force, force);
    b->since.torque = fmax(b->since.torque, torque);
    if (!b->has_record) /* nothing to compare with */
        return;
    b->spiked += off > b->limits.spike;
    if (off > ff_vec3_norm(ff_vec3_sub(b->since.far, b->since.from)))
        b->since.far = record->f_s.f;
}

/* Newest usable record of those that wait. */
static void drain_sensor(ff_network *s, int i, double now) {
    ff_network_body *b = &s->body[i];
    const ff_address *address = &s->address->body[i];
    uint8_t bytes[FF_DEVICE_READ_MAX];
    size_t used;
    struct sockaddr_in from;
    int64_t stamp;
    bool came = false;
    int64_t newest = 0;
    b->since.from = b->since.far = b->record.f_s.f;
    b->since.force = b->since.torque = 0.0;
    int n = 0;
    for (; n < RECORDS; n++) {
        from = address->sensor_at;
        const long size =
            address->sensor->topics  ? ff_link_receive(&b->sensor_link, bytes, sizeof bytes, &stamp)
            : address->sensor->frame ? ff_stream_receive(&b->sensor_stream, address->sensor, b->sensor_fd,
                                                         bytes, sizeof bytes, &stamp)
                                     : ff_socket_receive(b->sensor_fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            break;
        if (!ff_socket_same(&from, &address->sensor_at)) {
            s->strangers++;
            continue;
        }
        ff_device_sample sample;
        const ff_status status = address->sensor->sample(b->sensor, now, bytes, datagram_size(size), &sample);
        if (status != FF_OK && status != FF_INFO_GAP)
            continue;
        if (!came) {
            b->since.health = FF_OK;
            b->since.word = sample.sensor.word;
        }
        judge_record(b, &sample.sensor);
        b->record = sample.sensor;
        if (isnan(s->virtual_now) && s->speaks)
            fit_sensor(s, i, stamp);
        b->has_record = came = true;
        newest = stamp;
    }
    if (came && !isnan(s->virtual_now) && s->speaks) /* the newest one's time is known */
        fit_sensor(s, i, 0);
    if (came && newest)
        b->record_at = ff__network_local_time(s, newest);
    b->aged = came && n < RECORDS ? 0 : b->aged + 1; /* read empty: it is the newest there is */
    if (b->aged > 0 && isnan(s->virtual_now)) {
        /* By the clock: after a stall of ours several telegrams wait, and the first of them takes all
         * records; a record behind more than could be read is as old as it is. Lock step counts, for its time
         * stands still. */
        const double old = fmax(0.0, ceil((s->body[0].arrived - b->record_at) / s->plan->cycle));
        b->aged = (unsigned)fmin(old, came ? 1e6 : (double)b->aged);
    }
    const ff_status status = address->sensor->answer(b->sensor, now, NULL, bytes, sizeof bytes, &used);
    b->given_up = status == FF_ERR_DEVICE;
    if (status == FF_OK && used)
        ff_socket_send(b->sensor_fd, bytes, used, &address->sensor_at);
}

/* When it came, and what its controller's clock says. */
static void stamp_telegram(ff_network *s, int i, int64_t arrived) {
    ff_network_body *b = &s->body[i];
    const double T = s->plan->cycle, last = b->arrived;
    b->gap = b->report.lost;
    b->fresh = true;
    b->taken = ff_clock_now();
    b->naps = 0;
    b->arrived = ff__network_local_time(s, arrived);
    if (s->address->virtual && !isnan(b->report.arrives)) {
        b->arrived = b->report.arrives;
        if (i == 0)
            s->virtual_now = b->arrived;
    }
    /* a counter that jumps is not time that passes: the clock's fit would lead the robots by it. A few
     * cycles are not distinguished from jitter */
    const bool jumped = b->gap > 4 && b->arrived - last < 0.5 * (double)b->gap * T;
    b->ticks += b->follow.count ? 1 + (jumped ? 0 : b->gap) : 0;
    ff_follow_add(&s->fitting, &b->follow, (double)b->ticks * T, b->arrived,
                  ff_plan_from_base(&s->plan->body[i], b->report.pose));
    ff__network_confirm(s, i, jumped);
}

/* A robot's next datagram, or packet of its stream. */
static long receive(ff_network *s, int i, void *bytes, size_t size, struct sockaddr_in *from,
                    int64_t *arrived) {
    ff_network_body *b = &s->body[i];
    const ff_device *device = s->address->body[i].robot;
    *from = s->address->body[i].robot_at;
    if (device->topics)
        return ff_link_receive(&b->link, bytes, size, arrived);
    return device->frame ? ff_stream_receive(&b->stream, device, b->robot_fd, bytes, size, arrived)
                         : ff_socket_receive(b->robot_fd, bytes, size, from, arrived);
}

/* The pose of a robot that reports its axes alone, and its velocity. A turn has two quaternions: the one that
 * continues what it was sent. */
static void place_joints(ff_network *s, int i) {
    ff_network_body *b = &s->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    ff_pose T = ff_arm_forward(&plan->arm, &b->report.joints);
    const ff_quat q = T.q, to = b->out.to.T.q;
    if (b->output.moved && q.w * to.w + q.x * to.x + q.y * to.y + q.z * to.z < 0.0)
        T.q = (ff_quat){-q.w, -q.x, -q.y, -q.z};
    b->report.pose = ff_plan_to_base(plan, T);
    b->twist =
        b->report.rated ? ff_arm_twist(&plan->arm, &b->report.joints, b->report.rates) : ff_twist_zero();
}

/* A robot cannot be beyond the ends of its joints: what says so is not its position, or not this arm's, and
 * nothing is commanded from there. */
static void judge_joints(ff_network *s, int i) {
    const ff_arm_config *arm = &s->plan->body[i].arm.config;
    const ff_arm_joints *q = &s->body[i].report.joints;
    for (int a = 0; a < 6; a++) {
        const double excess = fmax(arm->lower[a] - q->a[a], q->a[a] - arm->upper[a]);
        if (!(excess <= BEYOND))
            ff__network_find(
                s,
                (ff_trip){.code = FF_TRIP_JOINT, .body = i, .value = excess * 180.0 / FF_PI, .axis = a + 1});
    }
}

/* One telegram of this body, if one waits. */
bool ff__network_take_telegram(ff_network *s, int i, int64_t *arrived) {
    ff_network_body *b = &s->body[i];
    char text[FF_DEVICE_READ_MAX];
    struct sockaddr_in from;
    for (int n = 0; n < DATAGRAMS; n++) {
        const long size = receive(s, i, text, sizeof text, &from, arrived);
        if (size == 0)
            return false;
        if (b->known && !ff_socket_same(&from, &b->peer)) {
            s->strangers++;
            continue;
        }
        ff_device_sample sample;
        const ff_status status =
            s->address->body[i].robot->sample(b->robot, 0.0, text, datagram_size(size), &sample);
        if (status != FF_OK && status != FF_INFO_GAP) {
            if (status == FF_ERR_DEVICE && b->output.moved)
                b->strange = FF_TRIP_RESTART;
            continue;
        }
        b->report = sample.robot;
        if (s->address->body[i].robot->jointed) {
            judge_joints(s, i);
            place_joints(s, i);
        }
        if (!b->known) {
            b->first = b->report.pose;
            b->axes_first = b->report.joints;
        }
        b->peer = from;
        b->known = true;
        stamp_telegram(s, i, *arrived);
        return true;
    }
    return false;
}

bool ff_network_clock_known(const ff_network *s, int i) {
    return ff_clockfit_ready(&s->fitting, &s->body[i].follow.fit);
}

/* In lock step the telegram says whether the pacing one follows; a busy machine may be long over it, or
 * pause: there we count how often we looked for it in vain. */
static bool waited_long(const ff_network *s, const ff_network_body *b) {
    if (isnan(s->virtual_now))
        return ff_clock_now() - b->taken > (int64_t)(0.5e9 * s->plan->cycle);
    return b->naps > (b->report.record_arrives[0] >= s->virtual_now ? LOCKSTEP_PATIENCE : LOCKSTEP_NAPS);
}

/* The other robots' telegrams come when their own clocks say so, and nobody waits for them. One that belongs
 * to the first half of the running cycle is answered now, from the target there is; a later one waits for
 * the pacing robot's next, but not longer than half a cycle. Which half it is says the fitted time, not the
 * arrival: jitter does not make it change sides, and a late packet is answered as if it had come in time. */
static void attend_others(ff_network *s) {
    int64_t arrived;
    const bool off = !s->speaks; /* nothing is answered yet but the newest */
    for (int i = 1; i < s->plan->bodies; i++) {
        ff_network_body *b = &s->body[i];
        for (int n = 0; n < DATAGRAMS; n++) {
            if (!off && b->fresh && waited_long(s, b))
                ff__network_answer(s, i, false);
            const uint64_t gap = b->gap;
            if ((b->fresh && !off) || !ff__network_take_telegram(s, i, &arrived))
                break;
            b->gap = gap > b->gap ? gap : b->gap;
            if (!off && ff_network_clock_known(s, i) && ff_network_clock_known(s, 0) &&
                ff_follow_time(&b->follow) - s->pace < 0.5 * s->plan->cycle)
                ff__network_answer(s, i, false);
        }
    }
}

/* Sleeps until a datagram comes, at most so long [ns]. */
static void idle(ff_network *s, int64_t left) {
    const int64_t nap = left < 50000000 ? left : 50000000;
    const struct timespec t = {0, (long)nap};
    struct pollfd p[FF_MAX_BODIES + 1] = {{.fd = s->arm.fd, .events = POLLIN}};
    /* a telegram that is not read yet must not keep us awake */
    bool waits = s->arm.fd >= 0 && (s->arm.fresh || !s->speaks);
    if (waits)
        p[0].fd = -1;
    for (int i = 0; i < s->plan->bodies; i++) {
        /* a stream that was closed is readable for ever */
        p[i + 1] = (struct pollfd){.fd = s->body[i].stream.lost ? -1 : s->body[i].robot_fd, .events = POLLIN};
        waits |= i > 0 && (s->body[i].fresh || !s->speaks);
    }
    ppoll(p, waits ? 2 : (nfds_t)s->plan->bodies + 1, waits ? &(struct timespec){0, NAP} : &t, NULL);
    s->arm.naps++;
    for (int i = 1; i < s->plan->bodies; i++)
        s->body[i].naps++;
    for (int i = 0; i < s->plan->bodies && !s->speaks; i++)
        drain_sensor(s, i, 1e-9 * (double)ff_clock_now());
}

/* Waits for the pacing robot's next telegram. False: silence, or stopped before any device spoke. */
bool ff__network_wait_telegram(ff_network *s) {
    int64_t arrived = 0;
    const int64_t begun = ff_clock_now(), patience = (int64_t)(1e9 * ff__network_patience(s));
    for (;;) {
        attend_others(s);
        ff__network_attend_arm(s);
        const bool taken = ff__network_take_telegram(s, 0, &arrived);
        const int64_t waited = ff_clock_now() - begun, left = patience - waited;
        s->waited = 1e-9 * (double)waited;
        if (taken)
            break;
        if (left <= 0 || s->body[0].strange ||
            (!s->speaks && atomic_load_explicit(s->options.stop, memory_order_relaxed)))
            return false;
        idle(s, left);
    }
    s->wake = ff_clock_now();
    attend_others(s); /* sent before the pacing telegram, perhaps, but not read yet */
    ff__network_attend_arm(s);
    s->lateness_ns = arrived ? (double)(ff_clock_real() - arrived) : 0.0;
    s->pace = ff_network_clock_known(s, 0) ? ff_follow_time(&s->body[0].follow) : s->body[0].arrived;
    for (int i = 0; i < s->plan->bodies; i++)
        drain_sensor(s, i, 1e-9 * (double)s->wake);
    s->io_ns = (double)(ff_clock_now() - s->wake);
    return true;
}
