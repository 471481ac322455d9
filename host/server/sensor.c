/* The sensors: requests in, records out, with the faults that the scenario gives them. */
#include "server/internal.h"

#include <string.h>

enum { MOST_RECORDS = 128 }; /* a cycle: half of what the loop reads in one */

/* Requests to a sensor that is described: anything else is not answered. */
static void serve_udp(ff_server_device *d) {
    const ff_udp_layout *l = &d->udp.layout;
    uint8_t bytes[FF_UDP_TEXT_MAX + 1];
    struct sockaddr_in from;
    int64_t stamp;
    for (int n = 0; n < 16; n++) {
        const long size = ff_socket_receive(d->ati, bytes, sizeof bytes, &from, &stamp);
        if (size == 0)
            return;
        if (l->requests && size == (long)l->requests && memcmp(bytes, l->request, l->requests) == 0) {
            d->udp.peer = from;
            d->udp.known = true;
            d->udp.asked++;
        } else if (l->farewells && size == (long)l->farewells &&
                   memcmp(bytes, l->farewell, l->farewells) == 0)
            d->udp.known = false;
    }
}

/* The next record of such a sensor, 0 bytes where nobody is to hear it. */
static size_t record_udp(ff_server *f, int i, ff_wrench wrench, bool broken, uint8_t *bytes,
                         struct sockaddr_in *to) {
    ff_server_device *d = &f->device[i];
    ff_udp_record *record = &d->udp.record;
    if (isnan(ff__server_acts(f, FF_FAULT_FT_STUCK, i)))
        for (int n = 0; n < 3; n++) {
            record->value[n] = wrench.f.a[n] / d->udp.layout.scale[0];
            record->value[n + 3] = wrench.t.a[n] / d->udp.layout.scale[1];
        }
    record->counter = isnan(ff__server_acts(f, FF_FAULT_FT_RESTART, i)) ? record->counter + 1 : 0;
    record->status = broken;
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_FROZEN, i)))
        record->counter--;
    if (ff_udp_encode(&d->udp.layout, record, bytes) != FF_OK && d->udp.layout.status_bytes) {
        record->status = 1; /* as a device: beyond its range */
        ff_udp_encode(&d->udp.layout, record, bytes);
    }
    const bool asked = !d->udp.layout.polled || d->udp.asked > 0;
    d->udp.asked = 0;
    *to = d->udp.peer;
    return d->udp.known && asked ? d->udp.layout.size : 0;
}

void ff__server_serve_requests(ff_server *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_server_device *d = &f->device[i];
        if (d->ur.feels || d->ros.feels)
            continue;
        if (d->udp.here) {
            serve_udp(d);
            continue;
        }
        uint8_t bytes[64];
        size_t used;
        const ff_ati_request start = {.command = FF_ATI_START};
        if (f->stranger >= 0 && !isnan(ff__server_acts(f, FF_FAULT_SECOND_CLIENT, i)) &&
            ff_ati_request_encode(&start, bytes, sizeof bytes, &used) == FF_OK)
            ff_socket_send(f->stranger, bytes, used, &f->address.body[i].sensor_at);
        struct sockaddr_in from;
        int64_t stamp;
        for (int n = 0; n < 16; n++) {
            const long size = ff_socket_receive(d->ati, bytes, sizeof bytes, &from, &stamp);
            if (size == 0)
                break;
            ff_ati_peer peer;
            memcpy(peer.address, &from.sin_addr, 4);
            peer.port = ntohs(from.sin_port);
            ff_ati_server_receive(&d->server, peer, bytes, size > 0 ? (size_t)size : 0);
        }
    }
}

/* The same of an ATI sensor. */
static size_t record_ati(ff_server *f, int i, ff_wrench wrench, uint32_t status, uint8_t *bytes, size_t size,
                         struct sockaddr_in *to) {
    ff_server_device *d = &f->device[i];
    const bool stuck = !isnan(ff__server_acts(f, FF_FAULT_FT_STUCK, i));
    if (!stuck && ff_ati_from_wrench(d->scale, wrench, d->counts) != FF_OK) /* beyond 32 bit: as a device */
        status |= (uint32_t)FF_ATI_STATUS_ERROR | ff_ati_saturated(d->server_config.axia);
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_RESTART, i)))
        d->server.rdt_sequence = 0;
    const bool frozen = !isnan(ff__server_acts(f, FF_FAULT_FT_FROZEN, i));
    if (frozen)
        d->server.ft_sequence--;
    size_t used;
    ff_ati_server_sample(&d->server_config, &d->server, status, d->counts, bytes, size, &used);
    to->sin_port = htons(d->server.peer.port);
    memcpy(&to->sin_addr, d->server.peer.address, 4);
    return used;
}

/* One record, made at `tick` [s]; struck: by what hits single records. */
static void send_record(ff_server *f, int i, ff_wrench wrench, double tick, bool struck) {
    ff_server_device *d = &f->device[i];
    uint32_t status = 0;
    double size;
    d->ur.mute =
        !isnan(ff__server_acts(f, FF_FAULT_FT_SILENT, i)) || !isnan(ff__server_acts(f, FF_FAULT_FT_LOST, i));
    if (!isnan(size = ff__server_acts(f, FF_FAULT_FT_SILENT, i)))
        return;
    if (!isnan(size = ff__server_acts(f, FF_FAULT_FT_DRIFT, i)))
        wrench.f.x += size * (double)(f->k + 1 - f->moving) * f->plan.cycle;
    if (!isnan(size = ff__server_acts(f, FF_FAULT_FT_OFFSET, i)))
        wrench.f.x += size;
    if (!isnan(size = ff__server_acts(f, FF_FAULT_FT_SPIKE, i)) && struck)
        wrench.f.x += size;
    if (!isnan(ff__server_always(f, FF_FAULT_FT_SWAPPED, i)))
        wrench = (ff_wrench){ff_vec3_make(wrench.t.y, wrench.t.x, wrench.t.z),
                             ff_vec3_make(wrench.f.y, wrench.f.x, wrench.f.z)};
    if (!isnan(size = ff__server_always(f, FF_FAULT_FT_MIRRORED, i)))
        *(size <= 3.0 ? &wrench.f.a[(int)size - 1] : &wrench.t.a[(int)size - 4]) *= -1.0;
    if (!isnan(size = ff__server_always(f, FF_FAULT_FT_TURNED, i))) {
        const ff_quat q = ff_quat_exp(ff_vec3_make(0.0, 0.0, size * FF_PI / 180.0));
        wrench = (ff_wrench){ff_quat_unrotate(q, wrench.t), ff_quat_unrotate(q, wrench.f)};
    }
    if (!isnan(ff__server_always(f, FF_FAULT_FT_DEAF, i)))
        wrench = ff_wrench_zero();
    if (d->ur.feels || d->ros.feels) { /* the first is sent with the cycle's telegram */
        if (isnan(ff__server_acts(f, FF_FAULT_FT_STUCK, i)))
            d->ur.wrench = wrench;
        if (d->ros.feels && !d->ur.mute)
            ff__server_ros2_sense(f, i, &d->ur.wrench, tick);
        d->record_at = tick;
        f->result->records++;
        return;
    }
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_SATURATED, i)) && struck)
        status = (uint32_t)FF_ATI_STATUS_ERROR | ff_ati_saturated(d->server_config.axia);
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_BROKEN, i)) && struck)
        status = (uint32_t)FF_ATI_STATUS_ERROR | 0x00000001u;
    uint8_t bytes[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE];
    size_t used;
    struct sockaddr_in to = {.sin_family = AF_INET};
    if (d->udp.here)
        used = record_udp(f, i, wrench, status != 0, bytes, &to);
    else
        used = record_ati(f, i, wrench, status, bytes, sizeof bytes, &to);
    if (!used || !isnan(ff__server_acts(f, FF_FAULT_FT_LOST, i)))
        return;
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_CORRUPT, i)))
        used -= 7;
    const double flood = ff__server_acts(f, FF_FAULT_FT_FLOOD, i); /* every other one is empty */
    for (int n = 0; n < flood && f->stranger >= 0; n++)
        ff_socket_send(f->stranger, bytes, n % 2 ? 0 : used, &to);
    if (d->overtaken_size) {
        ff_socket_send(d->ati, d->overtaken, d->overtaken_size, &to);
        d->record_at = d->overtaken_at;
    }
    d->overtaken_size = 0;
    f->result->records++;
    if (d->ft_late > d->rob_late && used <= sizeof d->overtaken) { /* the loop reads it a cycle later */
        memcpy(d->overtaken, bytes, used);
        d->overtaken_size = used;
        d->overtaken_at = tick + d->ft_late;
        return;
    }
    ff_socket_send(d->ati, bytes, used, &to);
    d->record_at = tick + d->ft_late;
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_REPEATED, i)))
        ff_socket_send(d->ati, bytes, used, &to);
    if (!isnan(ff__server_acts(f, FF_FAULT_FT_REORDERED, i)))
        ff_socket_send(d->ati, d->last_record, d->last_record_size, &to);
    d->last_record_size = used < sizeof d->last_record ? used : sizeof d->last_record;
    memcpy(d->last_record, bytes, d->last_record_size);
}

/* The records of a sensor with a clock of its own, up to t [s]. The plant knows the force at the first
 * robot's cycles: in lock step, where the cycle is over when its records are made, the reading lies on the
 * line between two of them; in wall-clock time it is the last one. */
void ff__server_sense_until(ff_server *f, int i, double t) {
    ff_server_device *d = &f->device[i];
    while ((double)d->sensor_ticks * d->sensor_period <= t) {
        const double tick = (double)d->sensor_ticks++ * d->sensor_period, T = f->device[0].period;
        const double s = f->options->lockstep ? fmin(1.0, fmax(0.0, 1.0 - (t - tick) / T)) : 1.0;
        const ff_wrench now = f->in.sensor[i].f_s;
        send_record(f, i, ff_wrench_add(now, ff_wrench_scale(s - 1.0, ff_wrench_sub(now, d->reading))), tick,
                    true);
    }
}

/* Of a sensor that is faster than the robot: on the line between two cycles. */
static void sense_often(ff_server *f, int i, int records) {
    const ff_server_device *d = &f->device[i];
    const ff_wrench now = f->in.sensor[i].f_s, step = ff_wrench_sub(now, d->reading);
    for (int n = records - 1; n >= 0; n--) {
        const double back = (double)n / (double)records; /* [cycles] */
        send_record(f, i, ff_wrench_add(now, ff_wrench_scale(-back, step)), f->time - back * d->period,
                    n == records - 1);
    }
}

void ff__server_sense(ff_server *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_server_device *d = &f->device[i];
        const double records = ff__server_always(f, FF_FAULT_FT_FAST, i);
        if (d->sensor_apart)
            ff__server_sense_until(f, i, f->time);
        else
            sense_often(f, i, isnan(records) ? 1 : (int)fmin(records, MOST_RECORDS));
        d->reading = f->in.sensor[i].f_s;
    }
}
