#include "rt/internal.h"

#include <poll.h>

/* read at most in one cycle: a flood does not stop the loop */
enum {
    DATAGRAMS = 32,
    RECORDS = 256 /* of a sensor: 8 kHz for 12 ms, and as many again to catch up */
};

/* A datagram that was longer than its buffer is malformed. */
static size_t datagram_size(long received) {
    return received > 0 ? (size_t)received : FF_DEVICE_READ_MAX + 1;
}

/* [s] when a datagram arrived, by the kernel's stamp. */
static double local_time(const ff_executive *e, int64_t stamp) {
    const int64_t now = ff_clock_now(), age = stamp ? ff_clock_real() - stamp : 0;
    return 1e-9 * (double)(now - (age > 0 ? age : 0) - e->epoch);
}

/* The sensor's own count against our clock. How many a second the sensor makes is its own affair: taken from
 * the first records. */
static void fit_sensor(ff_executive *e, ff_rt_body *b, uint32_t count, int64_t arrived) {
    const double reported = e->body[0].report.record_arrives[b - e->body]; /* lock step */
    const double local = isnan(e->virtual_now) ? local_time(e, arrived)
                         : isnan(reported)     ? e->virtual_now
                                               : reported;
    const uint32_t step = count - b->ft.last;
    b->ft.last = count;
    if (b->ft.records++ == 0 || step > INT32_MAX) { /* the first, or a sensor that began again */
        b->ft.records = 1;
        b->ft.count = 0;
        b->ft.first = local;
        b->ft.tick = 0.0;
        ff_clockfit_reset(&b->ft.fit);
        return;
    }
    b->ft.count += step;
    if (b->ft.records == FF_RT_CHECK_CYCLES && b->ft.count && local > b->ft.first)
        b->ft.tick = (local - b->ft.first) / (double)b->ft.count;
    if (b->ft.tick > 0.0)
        ff_clockfit_add(&e->fitting_sensor, &b->ft.fit, (double)b->ft.count * b->ft.tick, local);
}

/* Newest usable record of those that wait. */
static void drain_sensor(ff_executive *e, ff_rt_body *b, double now) {
    uint8_t bytes[FF_DEVICE_READ_MAX];
    size_t used;
    struct sockaddr_in from;
    int64_t stamp;
    const ff_plan_body *plan = &e->plan.body[b - e->body];
    bool came = false;
    int64_t newest = 0;
    int n = 0;
    for (; n < RECORDS; n++) {
        const long size = ff_socket_receive(b->sensor_fd, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            break;
        if (!ff_socket_same(&from, &plan->sensor_at)) {
            e->result->strangers++;
            continue;
        }
        ff_device_sample sample;
        const ff_status status =
            b->sensor_device->sample(b->sensor, now, bytes, datagram_size(size), &sample);
        if (status != FF_OK && status != FF_INFO_GAP)
            continue;
        b->record = sample.sensor;
        if (isnan(e->virtual_now) && e->walk.state != FF_STATE_OFF)
            fit_sensor(e, b, b->record.stamp, stamp);
        b->has_record = came = true;
        newest = stamp;
    }
    if (came && !isnan(e->virtual_now) && e->walk.state != FF_STATE_OFF) /* the newest one's time is known */
        fit_sensor(e, b, b->record.stamp, 0);
    if (came && newest)
        b->record_at = local_time(e, newest);
    b->aged = came && n < RECORDS ? 0 : b->aged + 1; /* read empty: it is the newest there is */
    if (b->aged > 0 && isnan(e->virtual_now)) {
        /* By the clock: after a stall of ours several telegrams wait, and the first of them takes all
         * records; a record behind more than could be read is as old as it is. Lock step counts, for its time
         * stands still. */
        const double old = fmax(0.0, ceil((e->body[0].arrived - b->record_at) / e->plan.cycle));
        b->aged = (unsigned)fmin(old, came ? 1e6 : (double)b->aged);
    }
    const ff_status status = b->sensor_device->answer(b->sensor, now, NULL, bytes, sizeof bytes, &used);
    b->sensor_failed = status == FF_ERR_DEVICE;
    if (status == FF_OK && used)
        ff_socket_send(b->sensor_fd, bytes, used, &plan->sensor_at);
}

/* One telegram of this body, if one waits. */
bool ff__rt_take_telegram(ff_executive *e, ff_rt_body *b, int64_t *arrived) {
    char text[FF_DEVICE_READ_MAX];
    struct sockaddr_in from;
    for (int n = 0; n < DATAGRAMS; n++) {
        const long size = ff_socket_receive(b->robot_fd, text, sizeof text, &from, arrived);
        if (size == 0)
            return false;
        if (b->known && !ff_socket_same(&from, &b->peer)) {
            e->result->strangers++;
            continue;
        }
        ff_device_sample sample;
        const ff_status status = b->robot_device->sample(b->robot, 0.0, text, datagram_size(size), &sample);
        if (status != FF_OK && status != FF_INFO_GAP) {
            b->strange |= status == FF_ERR_DEVICE && b->output.moved;
            continue;
        }
        b->report = sample.robot;
        if (!b->known)
            b->first = b->report.pose;
        b->peer = from;
        b->known = true;
        b->gap = b->report.lost;
        b->fresh = true;
        b->taken = ff_clock_now();
        const double last = b->arrived;
        b->arrived = local_time(e, *arrived);
        if (e->plan.virtual && !isnan(b->report.arrives)) {
            b->arrived = b->report.arrives;
            if (b == e->body)
                e->virtual_now = b->arrived;
        }
        const bool held = b->gap > 0 && b->arrived - last > 1.5 * e->plan.cycle;
        /* a counter that jumps is not time that passes: the clock's fit would lead the robots by it. A few
         * cycles are not distinguished from jitter */
        const bool jumped = b->gap > 4 && b->arrived - last < 0.5 * (double)b->gap * e->plan.cycle;
        b->ticks += b->follow.count ? 1 + (jumped ? 0 : b->gap) : 0;
        ff_follow_add(&e->fitting, &b->follow, (double)b->ticks * e->plan.cycle, b->arrived,
                      ff_plan_from_rist(&e->plan.body[b - e->body], b->report.pose));
        ff__rt_confirm(e, b, held);
        return true;
    }
    return false;
}

bool ff__rt_clock_known(const ff_executive *e, const ff_rt_body *b) {
    return ff_clockfit_ready(&e->fitting, &b->follow.fit);
}

/* The other robots' telegrams come when their own clocks say so, and nobody waits for them. One that belongs
 * to the first half of the running cycle is answered now, from the target there is; a later one waits for
 * the pacing robot's next, but not longer than half a cycle. Which half it is says the fitted time, not the
 * arrival: jitter does not make it change sides, and a late packet is answered as if it had come in time. */
static void attend_others(ff_executive *e) {
    int64_t arrived;
    const bool off = e->walk.state == FF_STATE_OFF; /* nothing is answered yet but the newest */
    /* in lock step the pacing telegram follows at once, but a busy machine may be long over it */
    const int64_t patience = isnan(e->virtual_now) ? (int64_t)(0.5e9 * e->plan.cycle) : 50000000;
    for (int i = 1; i < e->plan.bodies; i++) {
        ff_rt_body *b = &e->body[i];
        for (int n = 0; n < DATAGRAMS; n++) {
            if (!off && b->fresh && ff_clock_now() - b->taken > patience)
                ff__rt_answer(e, i, false);
            const uint64_t gap = b->gap;
            if ((b->fresh && !off) || !ff__rt_take_telegram(e, b, &arrived))
                break;
            b->gap = gap > b->gap ? gap : b->gap;
            if (!off && ff__rt_clock_known(e, b) && ff__rt_clock_known(e, e->body) &&
                ff_follow_time(&b->follow) - e->pace < 0.5 * e->plan.cycle)
                ff__rt_answer(e, i, false);
        }
    }
}

/* Waits for the pacing robot's next telegram. False: silence. */
bool ff__rt_wait_telegram(ff_executive *e, double patience) {
    ff_rt_body *b = &e->body[0];
    int64_t arrived = 0;
    const int64_t begin = ff_clock_now(), give_up = begin + (int64_t)(1e9 * patience);
    for (;;) {
        attend_others(e);
        if (ff__rt_take_telegram(e, b, &arrived))
            break;
        const int64_t left = give_up - ff_clock_now();
        if (left <= 0 || b->strange ||
            (atomic_load_explicit(e->options->stop, memory_order_relaxed) && e->walk.state == FF_STATE_OFF))
            return false;
        const int64_t nap = left < 50000000 ? left : 50000000;
        const struct timespec t = {0, (long)nap};
        struct pollfd p[FF_MAX_BODIES];
        bool waits = false; /* a telegram that is not read yet must not keep us awake */
        for (int i = 0; i < e->plan.bodies; i++) {
            p[i] = (struct pollfd){.fd = e->body[i].robot_fd, .events = POLLIN};
            waits |= i > 0 && (e->body[i].fresh || e->walk.state == FF_STATE_OFF);
        }
        ppoll(p, waits ? 1 : (nfds_t)e->plan.bodies, waits ? &(struct timespec){0, 500000} : &t, NULL);
        if (e->walk.state == FF_STATE_OFF)
            for (int i = 0; i < e->plan.bodies; i++)
                drain_sensor(e, &e->body[i], 1e-9 * (double)ff_clock_now());
    }
    e->wake = ff_clock_now();
    attend_others(e); /* sent before the pacing telegram, perhaps, but not read yet */
    if (arrived && e->walk.state >= FF_STATE_APPROACH)
        ff_histogram_add(&e->result->lateness, ff_clock_real() - arrived);
    e->row.lateness_ns = arrived ? (double)(ff_clock_real() - arrived) : 0.0;
    e->pace = ff__rt_clock_known(e, b) ? ff_follow_time(&b->follow) : b->arrived;
    const double now = 1e-9 * (double)e->wake;
    for (int i = 0; i < e->plan.bodies; i++)
        drain_sensor(e, &e->body[i], now);
    e->io_ns = (double)(ff_clock_now() - e->wake);
    return true;
}
