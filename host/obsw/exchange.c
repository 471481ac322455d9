#include "obsw/exchange.h"

#include <stdio.h>

#include "text/clock.h"

void ff_obsw_udp_default(ff_obsw_udp_config *config) {
    *config = (ff_obsw_udp_config){.port = 1234, .local_port = 1235, .timeout = 0.5, .connect = 10.0};
    snprintf(config->address, sizeof config->address, "127.0.0.1");
    snprintf(config->local_address, sizeof config->local_address, "127.0.0.1");
    ff_obsw_wire_default(&config->wire);
}

void ff_obsw_exchange_begin(ff_obsw_exchange *x, const ff_obsw_udp_config *config, const ff_obsw_link *link,
                            uint32_t joints, double cycle) {
    *x = (ff_obsw_exchange){.config = *config, .link = *link, .joints = joints, .cycle = cycle};
}

void ff_obsw_exchange_end(ff_obsw_exchange *x) {
    if (x->link.close)
        x->link.close(x->link.self);
    x->link = (ff_obsw_link){0};
}

static bool send_sensors(ff_obsw_exchange *x, const ff_obsw_in *in) {
    uint8_t bytes[FF_OBSW_PACKET_MAX + 64];
    size_t used;
    const ff_obsw_frame frame = {.joints = x->joints,
                                 .session = x->link.session,
                                 .sequence = in->sequence,
                                 .t = in->t,
                                 .cycle = x->cycle,
                                 .lockstep = !x->config.free,
                                 .count = x->count++ & 0x3fff};
    if (ff_obsw_sensors_encode(&x->config.wire, &frame, in, bytes, sizeof bytes, &used) != FF_OK)
        return false;
    x->info.sent++;
    return x->link.send(x->link.self, bytes, used);
}

/* Is this command one to act on now? Lock step takes the answer to the present sensors alone; free running
 * takes what is newer than the last: later sensors, or the same ones and a later packet (14 bit, wraps). */
static ff_obsw_refusal judge(const ff_obsw_exchange *x, const ff_obsw_frame *f, uint64_t sequence) {
    if (f->session != x->link.session)
        return FF_OBSW_FOREIGN;
    if (f->sequence > sequence)
        return FF_OBSW_AHEAD;
    if (!x->config.free)
        return f->sequence < sequence ? FF_OBSW_OLD : FF_OBSW_TAKEN;
    if (!x->met || f->sequence > x->last_sequence)
        return FF_OBSW_TAKEN;
    const uint16_t ahead = (uint16_t)((f->count - x->last_count) & 0x3fff);
    return f->sequence == x->last_sequence && ahead > 0 && ahead < 0x2000 ? FF_OBSW_TAKEN : FF_OBSW_OLD;
}

/* What one datagram was. */
typedef enum got { GOT_NONE, GOT_REFUSED, GOT_TAKEN } got;

static got receive_one(ff_obsw_exchange *x, uint64_t sequence, double wait, ff_obsw_out *out) {
    uint8_t bytes[FF_OBSW_PACKET_MAX + 1]; /* one more than is allowed: what fills it is too long */
    ff_obsw_frame frame;
    ff_obsw_out command;
    const long n = x->link.receive(x->link.self, bytes, sizeof bytes, wait);
    if (n == FF_OBSW_NOTHING)
        return GOT_NONE;
    ff_obsw_refusal refusal;
    if (n < 0)
        refusal = n == FF_OBSW_TOO_LONG ? FF_OBSW_LONG : FF_OBSW_FOREIGN;
    else
        refusal = ff_obsw_command_decode(&x->config.wire, x->joints, bytes, (size_t)n, &frame, &command);
    if (refusal == FF_OBSW_TAKEN)
        refusal = judge(x, &frame, sequence);
    if (refusal == FF_OBSW_OLD) /* late, but there */
        x->gone = false;
    if (refusal != FF_OBSW_TAKEN) {
        x->info.refused[refusal]++;
        return GOT_REFUSED;
    }
    x->info.taken++;
    x->last_sequence = frame.sequence;
    x->last_count = frame.count;
    x->met = true;
    x->gone = false;
    *out = command;
    return GOT_TAKEN;
}

/* Bounded: a flood of bad packets cannot hold a cycle for longer than its wait. */
static bool wait_for_answer(ff_obsw_exchange *x, uint64_t sequence, double wait, ff_obsw_out *out) {
    const double end = ff_clock_seconds() + wait;
    for (int i = 0; i < 4096; i++) {
        const double left = end - ff_clock_seconds();
        const got one = receive_one(x, sequence, left > 0.0 ? left : 0.0, out);
        if (one == GOT_TAKEN)
            return true;
        if (one == GOT_NONE && end - ff_clock_seconds() <= 0.0)
            return false;
    }
    return false;
}

ff_status ff_obsw_exchange_step(ff_obsw_exchange *x, const ff_obsw_in *in, double silent, double hold,
                                ff_obsw_out *out) {
    if (!x->met) { /* the first answer may need the peer to be started: ask again meanwhile */
        const double end = ff_clock_seconds() + x->config.connect;
        while (!x->met && ff_clock_seconds() < end) {
            send_sensors(x, in);
            const double left = end - ff_clock_seconds();
            wait_for_answer(x, in->sequence, left < 0.2 ? left : 0.2, out);
        }
        return x->met ? FF_OK : FF_ERR_DEVICE;
    }
    if (x->config.free) {
        bool new = false;
        const double late = x->link.pace(x->link.self, in->t);
        if (late > x->info.late_most)
            x->info.late_most = late;
        send_sensors(x, in);
        /* what has come by now, answers to earlier sensors: the newest acts */
        for (int i = 0; i < 4096; i++) {
            const got one = receive_one(x, in->sequence, 0.0, out);
            new = new || one == GOT_TAKEN;
            if (one == GOT_NONE)
                break;
        }
        return new ? FF_OK : FF_INFO_HELD;
    }
    const double begin = ff_clock_seconds();
    send_sensors(x, in);
    const bool waited = !x->gone;
    if (!wait_for_answer(x, in->sequence, waited ? x->config.timeout : 0.0, out)) {
        x->info.waited_out++;
        if (waited && silent >= hold) /* nothing acts any more: a dead peer shall not stretch the run */
            x->gone = true;
        return FF_INFO_HELD;
    }
    const double took = ff_clock_seconds() - begin;
    x->info.answer_mean_s += (took - x->info.answer_mean_s) / (double)x->info.taken;
    if (took > x->info.answer_most)
        x->info.answer_most = took;
    return FF_OK;
}
