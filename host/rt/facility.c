#include "rt/facility.h"

#include "facility/plant.h"
#include "rt/check.h"
#include "text/clock.h"
#include "rt/outside.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Beyond any motion of the arm: the virtual controller's own limits stay inactive unless a fault sets
 * them. docs/facility.md says what to write on a real one. */
#define WIDE_MM 3000.0
#define WIDE_DEG 700.0

typedef struct device {
    int rsi, ati; /* sockets */
    ff_http_server *http;
    ff_rsi_controller_config config;
    ff_rsi_controller_state state;
    ff_ati_server_config server_config;
    ff_ati_server_state server;
    ff_ati_scale scale;
    ff_arm_joints joints, first; /* of the arm now, and at RSI_ON */
    ff_pose first_rist;
    ff_motion_state motion; /* of the commands */
    ff_setpoint command;
    char last_rob[FF_RSI_READ_MAX];
    size_t last_rob_size;
    uint8_t last_record[FF_ATI_RECORD_SIZE];
    uint8_t overtaken[FF_ATI_RECORD_SIZE]; /* a record that jitter made later than the telegram */
    size_t overtaken_size;
    double rob_late, ft_late; /* [s] this cycle's jitter */
    double sensor_period;     /* [s] of the sensor's own clock */
    bool sensor_apart;        /* not that of the first robot */
    uint64_t sensor_ticks;    /* done */
    ff_wrench reading;        /* of the cycle before */
    double overtaken_at,
        record_at; /* [s] arrival of the record that waits, and of the newest that was sent */
    ff_pose stuck;
    bool was_stuck, restarts;
    int32_t counts[6];
    int push;        /* what the pendant asks for, -1: nothing */
    uint64_t pushed; /* since this cycle */
    char late_answer[FF_RSI_READ_MAX];
    size_t late_size;
    /* the controller's clock, in the facility's time [s] */
    double period;         /* of its cycles */
    bool apart;            /* not that of the first robot: it ticks by itself */
    uint64_t ticks;        /* done */
    double tick;           /* time of the running cycle */
    ff_twist acceleration; /* of the commands */
    bool failed;           /* RSI has stopped in a cycle of its own */
    bool met;              /* its client has answered once: until then it begins again */
    char deferred[FF_RSI_READ_MAX + 512];
    size_t deferred_size; /* lock step: a late telegram, sent when the first robot has its answer */
} device;

typedef struct facility {
    const ff_scenario *scenario; /* as the facility really is */
    const ff_facility_options *options;
    ff_facility_result *result;
    ff_plan plan;
    ff_plant *plant;
    device device[FF_MAX_BODIES];
    int stranger;
    ff_outside outside;
    struct sockaddr_in peer; /* whose answer came last */
    uint64_t k;              /* cycles of this session */
    uint64_t moving;         /* first cycle with a correction + 1; 0: none yet */
    bool client;             /* someone has answered */
    int64_t deadline;        /* [ns] of the running cycle */
    int64_t close;           /* [ns] until when its answers count */
    uint64_t cycles;         /* of the first robot since the facility's start */
    double time;             /* [s] of its running cycle: the plant's */
    ff_loop_in in;
    ff_truth truth;
    ff_twist before[FF_MAX_BODIES]; /* of the robots, one cycle earlier */
    ff_rng rng;
    double fault[FF_FAULTS][FF_MAX_BODIES]; /* size of those that act in this cycle, else NaN */
} facility;

static void say(const facility *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const facility *f, const char *format, ...) {
    char line[256];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (f->options->say)
        f->options->say(f->options->user, line);
}

/* The fault's size if it acts on this body in this cycle, else NaN. */
static double acts(const facility *f, ff_fault_kind kind, int body) {
    return f->fault[kind][body];
}

/* A fault of the set-up, in every cycle; else NaN. */
static double always(const facility *f, ff_fault_kind kind, int body) {
    for (int n = 0; n < f->scenario->faults; n++)
        if (f->scenario->fault[n].kind == kind && f->scenario->fault[n].body == body)
            return f->scenario->fault[n].value;
    return FF_NAN;
}

/* What befalls the processes. The one that answers is looked for only if a fault will need it. */
static void meet_loop(facility *f) {
    for (int n = 0; n < f->scenario->faults; n++)
        if (ff_outside_is(f->scenario->fault[n].kind)) {
            f->outside = (ff_outside){.loop = ff_outside_owner(&f->peer)};
            return;
        }
}

static void strike(facility *f) {
    for (int n = 0; n < f->scenario->faults; n++) {
        const ff_fault *fault = &f->scenario->fault[n];
        const char *line =
            ff_outside_is(fault->kind)
                ? ff_outside_strike(&f->outside, fault->kind, !isnan(acts(f, fault->kind, fault->body)))
                : NULL;
        if (line)
            say(f, "%s", line);
    }
}

/* Drawn once a cycle, so that every place that asks gets the same answer. */
static void draw_faults(facility *f) {
    for (int kind = 0; kind < FF_FAULTS; kind++)
        for (int i = 0; i < FF_MAX_BODIES; i++)
            f->fault[kind][i] = FF_NAN;
    const double t = f->moving ? (double)(f->k + 1 - f->moving) * f->plan.cycle : -1.0;
    for (int n = 0; n < f->scenario->faults; n++) {
        const ff_fault *fault = &f->scenario->fault[n];
        /* a network that scatters does so from the beginning */
        const bool early = fault->kind == FF_FAULT_JITTER && fault->from == 0.0 && !f->moving;
        if (!f->moving && !early)
            continue;
        const bool drawn = fault->probability >= 1.0 || ff_rng_uniform(&f->rng) < fault->probability;
        if (drawn && (early || t >= fault->from) && t < fault->to) {
            f->fault[fault->kind][fault->body] = fault->value;
            f->result->injected[fault->kind]++;
        }
    }
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        const double jitter = acts(f, FF_FAULT_JITTER, i);
        d->rob_late = isnan(jitter) ? 0.0 : jitter * ff_rng_uniform(&f->rng);
        d->ft_late = isnan(jitter) ? 0.0 : jitter * ff_rng_uniform(&f->rng);
    }
}

/* ---------------------------------------------------------------------------------------------- opening --
 */

static void fill_page(const facility *f, int i, ff_ati_page *page) {
    const ff_sensor_config *sensor = &f->scenario->satellite[i].sensor;
    *page = ff_ati_page_default();
    snprintf(page->product, sizeof page->product, "freefloat virtual sensor");
    page->rate = (unsigned)lround(1.0 / f->plan.cycle);
    page->has_range = isfinite(sensor->range_force) && isfinite(sensor->range_torque);
    for (int a = 0; a < 6 && page->has_range; a++)
        page->range[a] = a < 3 ? sensor->range_force : sensor->range_torque;
    /* the counts have 32 bit: a wide range has coarser ones */
    while (page->has_range && sensor->range_force * page->counts_per_force > INT32_MAX)
        page->counts_per_force /= 10.0;
    while (page->has_range && sensor->range_torque * page->counts_per_torque > INT32_MAX)
        page->counts_per_torque /= 10.0;
}

static ff_status open_device(facility *f, int i, char *message, size_t size) {
    device *d = &f->device[i];
    const ff_plan_body *body = &f->plan.body[i];
    struct sockaddr_in any = body->robot_at;
    any.sin_port = 0;
    ff_status status = ff_socket_open(&any, &d->rsi, NULL, message, size);
    if (status == FF_OK)
        status = ff_socket_open(&body->sensor_at, &d->ati, NULL, message, size);
    if (status != FF_OK)
        return status;
    char xml[FF_ATI_XML_MAX];
    size_t used;
    ff_ati_page page;
    fill_page(f, i, &page);
    ff_ati_page_scale(&page, &d->scale);
    status = ff_ati_page_encode(&page, xml, sizeof xml - 1, &used);
    if (status != FF_OK)
        return status;
    xml[used] = 0;
    d->server_config.buffer = 1;
    ff_ati_server_reset(&d->server);
    d->config = ff_rsi_controller_config_default(body->increments ? FF_RSI_RELATIVE : FF_RSI_ABSOLUTE);
    if (f->options->lockstep)
        d->config.fields |= FF_RSI_ARRIVAL;
    if (f->options->timeout)
        d->config.timeout = f->options->timeout;
    d->config.poscorr_rotation_deg = d->config.poscorrmon_rotation_deg = 180.0;
    d->config.poscorrmon_translation_mm = WIDE_MM;
    for (int a = 0; a < 3; a++) {
        d->config.poscorr_lower_mm[a] = -WIDE_MM;
        d->config.poscorr_upper_mm[a] = WIDE_MM;
    }
    for (int a = 0; a < 12; a++) {
        d->config.axiscorr_lower[a] = -WIDE_DEG;
        d->config.axiscorr_upper[a] = WIDE_DEG;
        d->config.axiscorrmon[a] = WIDE_DEG;
    }
    if (body->arm.config.rail.rule != FF_ARM_RAIL_NONE) { /* E1 */
        const double most = 1e3 * (body->arm.config.rail.upper - body->arm.config.rail.lower);
        d->config.external_linear[0] = true;
        d->config.axiscorr_lower[6] = -most;
        d->config.axiscorr_upper[6] = d->config.axiscorrmon[6] = most;
    }
    return ff_http_serve(&body->page_at, FF_ATI_HTTP_PATH, xml, &d->http, message, size);
}

static void set_clocks(facility *f) {
    double ppm[FF_MAX_BODIES] = {0}, sensor[FF_MAX_BODIES] = {0};
    for (int n = 0; n < f->scenario->faults; n++) {
        const ff_fault *fault = &f->scenario->fault[n];
        if (fault->kind == FF_FAULT_CLOCK_DRIFT)
            ppm[fault->body] = fault->value;
        if (fault->kind == FF_FAULT_FT_CLOCK_DRIFT)
            sensor[fault->body] = fault->value;
    }
    for (int i = 0; i < f->plan.bodies; i++) {
        f->device[i].period = f->plan.cycle * (1.0 + 1e-6 * ppm[i]);
        f->device[i].apart = ppm[i] != ppm[0];
        /* a sensor without a clock of its own is read by the first robot's */
        f->device[i].sensor_apart = sensor[i] != 0.0;
        f->device[i].sensor_period = f->plan.cycle * (1.0 + 1e-6 * sensor[i]);
    }
}

static void start_session(facility *f) {
    memset(f->result->injected, 0, sizeof f->result->injected);
    ff_plant_reset(f->plant);
    ff_rng_seed(&f->rng, f->scenario->seed, 77);
    f->k = 0;
    f->moving = 0;
    f->client = false;
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        ff_rsi_controller_reset(&d->config, &d->state);
        d->joints = d->first = f->plan.body[i].home;
        const ff_pose park = ff_plan_runup(&f->plan, i, -FF_INF).T;
        d->first_rist = ff_plan_to_rist(&f->plan.body[i], park);
        d->motion = (ff_motion_state){0};
        d->command = (ff_setpoint){park, ff_twist_zero()};
        d->push = -1;
        d->reading = ff_wrench_zero();
        d->was_stuck = d->restarts = d->failed = d->met = false;
        d->late_size = d->deferred_size = d->overtaken_size = 0;
        f->before[i] = ff_twist_zero();
    }
}

/* ---------------------------------------------------------------------------------------------- sensor -- */

static void serve_requests(facility *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        uint8_t bytes[64];
        size_t used;
        const ff_ati_request start = {.command = FF_ATI_START};
        if (f->stranger >= 0 && !isnan(acts(f, FF_FAULT_SECOND_CLIENT, i)) &&
            ff_ati_request_encode(&start, bytes, sizeof bytes, &used) == FF_OK)
            ff_socket_send(f->stranger, bytes, used, &f->plan.body[i].sensor_at);
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

/* One record, made at `tick` [s]. */
static void send_record(facility *f, int i, ff_wrench wrench, double tick) {
    device *d = &f->device[i];
    uint32_t status = 0;
    double size;
    if (!isnan(size = acts(f, FF_FAULT_FT_SILENT, i)))
        return;
    if (!isnan(size = acts(f, FF_FAULT_FT_DRIFT, i)))
        wrench.f.x += size * (double)(f->k + 1 - f->moving) * f->plan.cycle;
    if (!isnan(size = acts(f, FF_FAULT_FT_OFFSET, i)))
        wrench.f.x += size;
    if (!isnan(size = acts(f, FF_FAULT_FT_SPIKE, i)))
        wrench.f.x += size;
    if (!isnan(always(f, FF_FAULT_FT_SWAPPED, i)))
        wrench = (ff_wrench){ff_vec3_make(wrench.t.y, wrench.t.x, wrench.t.z),
                             ff_vec3_make(wrench.f.y, wrench.f.x, wrench.f.z)};
    if (!isnan(size = always(f, FF_FAULT_FT_MIRRORED, i)))
        *(size <= 3.0 ? &wrench.f.a[(int)size - 1] : &wrench.t.a[(int)size - 4]) *= -1.0;
    if (!isnan(size = always(f, FF_FAULT_FT_TURNED, i))) {
        const ff_quat q = ff_quat_exp(ff_vec3_make(0.0, 0.0, size * FF_PI / 180.0));
        wrench = (ff_wrench){ff_quat_unrotate(q, wrench.t), ff_quat_unrotate(q, wrench.f)};
    }
    if (!isnan(always(f, FF_FAULT_FT_DEAF, i)))
        wrench = ff_wrench_zero();
    if (!isnan(acts(f, FF_FAULT_FT_SATURATED, i)))
        status = (uint32_t)FF_ATI_STATUS_ERROR | FF_ATI_STATUS_SATURATED;
    if (!isnan(acts(f, FF_FAULT_FT_BROKEN, i)))
        status = (uint32_t)FF_ATI_STATUS_ERROR | 0x00000001u;
    const bool stuck = !isnan(acts(f, FF_FAULT_FT_STUCK, i));
    if (!stuck && ff_ati_from_wrench(d->scale, wrench, d->counts) != FF_OK) /* beyond 32 bit: as a device */
        status |= (uint32_t)FF_ATI_STATUS_ERROR | FF_ATI_STATUS_SATURATED;
    if (!isnan(acts(f, FF_FAULT_FT_RESTART, i)))
        d->server.rdt_sequence = 0;
    const bool frozen = !isnan(acts(f, FF_FAULT_FT_FROZEN, i));
    if (frozen)
        d->server.ft_sequence--;
    uint8_t bytes[FF_ATI_BUFFERED_MAX * FF_ATI_RECORD_SIZE];
    size_t used;
    ff_ati_server_sample(&d->server_config, &d->server, status, d->counts, bytes, sizeof bytes, &used);
    if (!used || !isnan(acts(f, FF_FAULT_FT_LOST, i)))
        return;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(d->server.peer.port)};
    memcpy(&to.sin_addr, d->server.peer.address, 4);
    if (!isnan(acts(f, FF_FAULT_FT_CORRUPT, i)))
        used -= 7;
    const double flood = acts(f, FF_FAULT_FT_FLOOD, i); /* every other one is empty */
    for (int n = 0; n < flood && f->stranger >= 0; n++)
        ff_socket_send(f->stranger, bytes, n % 2 ? 0 : FF_ATI_RECORD_SIZE, &to);
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
    if (!isnan(acts(f, FF_FAULT_FT_REPEATED, i)))
        ff_socket_send(d->ati, bytes, used, &to);
    if (!isnan(acts(f, FF_FAULT_FT_REORDERED, i)))
        ff_socket_send(d->ati, d->last_record, sizeof d->last_record, &to);
    memcpy(d->last_record, bytes, sizeof d->last_record);
}

/* The records of a sensor with a clock of its own, up to t [s]. The plant knows the force at the first
 * robot's cycles: in lock step, where the cycle is over when its records are made, the reading lies on the
 * line between two of them; in wall-clock time it is the last one. */
static void sense_until(facility *f, int i, double t) {
    device *d = &f->device[i];
    while ((double)d->sensor_ticks * d->sensor_period <= t) {
        const double tick = (double)d->sensor_ticks++ * d->sensor_period, T = f->device[0].period;
        const double s = f->options->lockstep ? fmin(1.0, fmax(0.0, 1.0 - (t - tick) / T)) : 1.0;
        const ff_wrench now = f->in.sensor[i].f_s;
        send_record(f, i, ff_wrench_add(now, ff_wrench_scale(s - 1.0, ff_wrench_sub(now, d->reading))), tick);
    }
}

static void sense(facility *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        if (d->sensor_apart)
            sense_until(f, i, f->time);
        else
            send_record(f, i, f->in.sensor[i].f_s, f->time);
        d->reading = f->in.sensor[i].f_s;
    }
}

/* ----------------------------------------------------------------------------------------------- robot -- */

/* A set point some time after or before it was made. */
static ff_pose moved(const ff_setpoint *from, const ff_twist *acceleration, double dt) {
    if (dt == 0.0)
        return from->T;
    const ff_twist step =
        ff_twist_scale(dt, ff_twist_add(from->twist, ff_twist_scale(0.5 * dt, *acceleration)));
    return (ff_pose){ff_quat_mul(from->T.q, ff_quat_exp(step.w)), ff_vec3_add(from->T.p, step.v)};
}

/* The robot at a controller's own tick: the plant knows it at the first robot's. */
static ff_pose robot_at(const facility *f, int i, double t) {
    const ff_setpoint *now = &f->truth.robot[i];
    const ff_twist acceleration =
        ff_twist_scale(1.0 / f->device[0].period, ff_twist_sub(now->twist, f->before[i]));
    return moved(now, &acceleration, t - f->time);
}

static void send_rob(facility *f, int i) {
    device *d = &f->device[i];
    const ff_plan_body *body = &f->plan.body[i];
    ff_pose T = robot_at(f, i, d->tick);
    double size, late = d->rob_late;
    if (!isnan(size = acts(f, FF_FAULT_ROBOT_JUMP, i)))
        T.p.y += size;
    ff_arm_joints joints;
    if (ff_arm_inverse_after(&body->arm, &T, &d->joints, d->period, &joints, NULL) == FF_OK)
        d->joints = joints;
    ff_rsi_rob rob = {0};
    ff_pose rist = ff_plan_to_rist(body, T);
    if (!isnan(size = always(f, FF_FAULT_TOOL_OFF, i)))
        rist.p = ff_vec3_axpy(size, ff_quat_rotate(rist.q, ff_vec3_make(0.0, 0.0, 1.0)), rist.p);
    ff_rsi_from_pose(rist, rob.rist);
    ff_arm_to_kuka(&d->joints, rob.aipos, &rob.eipos[0]);
    if (!isnan(acts(f, FF_FAULT_IPOC_JUMP, i)))
        d->state.ipoc += 400;
    if (!isnan(size = acts(f, FF_FAULT_ROB_LATE, i)))
        late += size;
    rob.arrival_ns = (uint64_t)llround(1e9 * (d->tick + late));
    for (int n = 0; i == 0 && n < f->plan.bodies && n < FF_RSI_RECORDS; n++)
        rob.record_ns[n] = (uint64_t)llround(1e9 * f->device[n].record_at);
    char text[FF_RSI_READ_MAX + 512];
    size_t used = 0;
    if (ff_rsi_controller_send(&d->config, &d->state, &rob, text, FF_RSI_SEND_MAX, &used) != FF_OK)
        return;
    const struct sockaddr_in *to = &body->robot_at;
    if (!isnan(acts(f, FF_FAULT_ROBOT_SILENT, i)) || !isnan(acts(f, FF_FAULT_ROB_LOST, i)) ||
        !isnan(acts(f, FF_FAULT_ROBOT_RESTARTS, i)))
        return;
    if (late > 0.0 && !f->options->lockstep)
        ff_clock_sleep_until(ff_clock_now() + (int64_t)(1e9 * late));
    char sent[FF_RSI_READ_MAX + 512];
    memcpy(sent, text, used);
    size_t length = used;
    if (!isnan(acts(f, FF_FAULT_ROB_CORRUPT, i)))
        for (size_t n = 20; n < length; n += 11)
            sent[n] = (char)(0x80 + n % 100);
    if (!isnan(acts(f, FF_FAULT_ROB_CUT, i)))
        length /= 2;
    if (!isnan(acts(f, FF_FAULT_ROB_NAN, i))) {
        char *number = strstr(sent, "RIst X=\"") + 8;
        number[0] = number[2] = 'n';
        number[1] = 'a';
    }
    if (!isnan(acts(f, FF_FAULT_ROB_EMPTY, i)))
        length = (size_t)snprintf(sent, sizeof sent, "<Rob Type=\"KUKA\"></Rob>");
    if (!isnan(acts(f, FF_FAULT_ROB_LONG, i))) {
        memset(sent + length, ' ', sizeof sent - length);
        length = sizeof sent;
    }
    if (!isnan(acts(f, FF_FAULT_ROB_INCOMPLETE, i)))
        length = (size_t)snprintf(sent, sizeof sent, "<Rob Type=\"KUKA\"><IPOC>%llu</IPOC></Rob>",
                                  (unsigned long long)rob.ipoc);
    if (i > 0 && f->options->lockstep && !isnan(acts(f, FF_FAULT_ROB_LATE, i))) {
        memcpy(d->deferred, sent, length);
        d->deferred_size = length;
        return;
    }
    ff_socket_send(d->rsi, sent, length, to);
    if (!isnan(acts(f, FF_FAULT_ROB_REPEATED, i)))
        ff_socket_send(d->rsi, sent, length, to);
    if (!isnan(acts(f, FF_FAULT_ROB_REORDERED, i)) && d->last_rob_size)
        ff_socket_send(d->rsi, d->last_rob, d->last_rob_size, to);
    if (f->stranger >= 0 && !isnan(acts(f, FF_FAULT_STRANGER, i)))
        ff_socket_send(f->stranger, text, used, to);
    memcpy(d->last_rob, text, used);
    d->last_rob_size = used;
}

/* Answers that came. True when every body has its own. */
static bool take_answers(facility *f) {
    bool all = true;
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        char text[FF_RSI_READ_MAX];
        struct sockaddr_in from;
        int64_t stamp;
        for (int n = 0; n < 16; n++) {
            const long size = ff_socket_receive(d->rsi, text, sizeof text, &from, &stamp);
            if (size == 0)
                break;
            if (size < 0 || !isnan(acts(f, FF_FAULT_ANSWER_LOST, i)))
                continue;
            if (!isnan(acts(f, FF_FAULT_ANSWER_LATE, i))) { /* it will come in the next cycle */
                memcpy(d->late_answer, text, (size_t)size);
                d->late_size = (size_t)size;
                continue;
            }
            f->peer = from;
            ff_rsi_controller_receive(&d->config, &d->state, text, (size_t)size);
        }
        d->met |= d->state.answered;
        all &= d->state.answered || !d->state.open;
    }
    return all;
}

/* A fault has taken the telegram or its answer: in lock step nothing is waited for. */
static bool unanswerable(const facility *f, int i) {
    static const ff_fault_kind kinds[] = {
        FF_FAULT_ROB_LOST,    FF_FAULT_ROB_CORRUPT, FF_FAULT_ROB_CUT,        FF_FAULT_ROB_NAN,
        FF_FAULT_ROB_EMPTY,   FF_FAULT_ROB_LONG,    FF_FAULT_ROB_INCOMPLETE, FF_FAULT_ROBOT_SILENT,
        FF_FAULT_ANSWER_LOST, FF_FAULT_ANSWER_LATE, FF_FAULT_ROBOT_RESTARTS};
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        if (!isnan(acts(f, kinds[n], i)))
            return true;
    return false;
}

static ff_pose corrected(const facility *f, int i, const ff_rsi_correction *correction);
static void move_to(facility *f, int i, ff_pose T);

static void rearm(device *d) {
    d->config.ipoc_start = d->state.ipoc + d->config.ipoc_step;
    ff_rsi_controller_reset(&d->config, &d->state);
}

/* RSI_ON again in the middle of the run: the corrections begin at zero where the robot stands. */
static void restart(facility *f, int i) {
    device *d = &f->device[i];
    rearm(d);
    d->first = d->joints;
    d->first_rist = ff_plan_to_rist(&f->plan.body[i], f->truth.robot[i].T);
}

static void finish(facility *f, int i) {
    device *d = &f->device[i];
    const uint64_t ipoc = d->state.ipoc;
    ff_rsi_correction correction;
    d->failed |= ff_rsi_controller_finish(&d->config, &d->state, &correction) < 0;
    const ff_pose T = corrected(f, i, &correction);
    if (f->options->received)
        f->options->received(f->options->user, i, f->result->sessions, ipoc,
                             d->state.answered ? &d->state.sen : NULL, &T);
    move_to(f, i, T);
}

/* The cycles of a controller with a clock of its own, up to t: the last one closes, with or without its
 * answer, the next telegram goes out. */
static void tick_until(facility *f, int i, double t) {
    device *d = &f->device[i];
    while (d->apart && !d->failed && (double)d->ticks * d->period <= t) {
        if (d->state.open && d->met)
            finish(f, i);
        else if (d->state.open)
            rearm(d);
        d->tick = (double)d->ticks++ * d->period;
        if (!d->failed)
            send_rob(f, i);
    }
}

/* Facility's time in wall-clock time. */
static double time_now(const facility *f, int64_t now) {
    return f->time + f->device[0].period - 1e-9 * (double)(f->deadline - now);
}

static void wait_answers(facility *f) {
    struct pollfd p[2 * FF_MAX_BODIES];
    const int n = f->plan.bodies;
    for (int i = 0; i < n; i++) {
        p[i] = (struct pollfd){.fd = f->device[i].rsi, .events = POLLIN};
        p[n + i] = (struct pollfd){.fd = f->device[i].ati, .events = POLLIN};
    }
    const double patience = f->options->patience > 0.0 ? f->options->patience : 5.0;
    const int64_t begin = ff_clock_now(),
                  give_up = begin + (f->client ? (int64_t)(1e9 * patience) : 20000000);
    for (int i = 0; i < n; i++)
        if (f->device[i].late_size) {
            ff_rsi_controller_receive(&f->device[i].config, &f->device[i].state, f->device[i].late_answer,
                                      f->device[i].late_size);
            f->device[i].late_size = 0;
        }
    for (;;) {
        serve_requests(f);
        const bool all = take_answers(f);
        const int64_t now = ff_clock_now();
        if (f->options->lockstep) {
            bool late = false;
            for (int i = 1; i < n; i++)
                if (f->device[i].deferred_size && (f->device[0].state.answered || unanswerable(f, 0))) {
                    ff_socket_send(f->device[i].rsi, f->device[i].deferred, f->device[i].deferred_size,
                                   &f->plan.body[i].robot_at);
                    f->device[i].deferred_size = 0;
                    late = true;
                }
            if (late)
                continue;
            bool waits = false; /* a telegram or an answer that a fault took will not come */
            for (int i = 0; i < n; i++)
                waits |= f->device[i].state.open && !f->device[i].state.answered && !unanswerable(f, i) &&
                         (f->device[i].met || now < begin + 20000000);
            if (all || now >= give_up || atomic_load(f->options->stop))
                return;
            if (!waits && now >= f->deadline)
                return;
            poll(p, 2 * (nfds_t)n, waits ? 20 : 1);
        } else {
            if (now >= f->close)
                return;
            int64_t until = f->close;
            for (int i = 0; i < n; i++)
                if (f->device[i].sensor_apart) {
                    sense_until(f, i, time_now(f, now));
                    const double ahead =
                        (double)f->device[i].sensor_ticks * f->device[i].sensor_period - time_now(f, now);
                    until = ahead < 1e-9 * (double)(until - now) ? now + (int64_t)(1e9 * ahead) + 1 : until;
                }
            for (int i = 1; i < n; i++) {
                const device *d = &f->device[i];
                tick_until(f, i, time_now(f, now));
                if (d->apart && !d->failed) {
                    const double ahead = (double)d->ticks * d->period - time_now(f, now);
                    until = ahead < 1e-9 * (double)(until - now) ? now + (int64_t)(1e9 * ahead) + 1 : until;
                }
            }
            const struct timespec left = {0, (long)(until - now > 999999999 ? 999999999 : until - now)};
            ppoll(p, 2 * (nfds_t)n, &left, NULL);
        }
    }
}

/* The correction as a pose of the body. */
static ff_pose corrected(const facility *f, int i, const ff_rsi_correction *correction) {
    const device *d = &f->device[i];
    const ff_plan_body *body = &f->plan.body[i];
    ff_pose T;
    if (!body->cartesian) {
        ff_arm_joints joints = d->first;
        for (int a = 0; a < 6; a++)
            joints.a[a] += correction->axes[a];
        joints.rail += correction->external[0];
        T = ff_arm_forward(&body->arm, &joints);
    } else {
        T = ff_plan_from_rist(body, (ff_pose){ff_quat_mul(correction->pose.q, d->first_rist.q),
                                              ff_vec3_add(d->first_rist.p, correction->pose.p)});
    }
    T.q = ff_quat_unit(T.q);
    return T;
}

/* The robot's next command, with its velocity. */
static void move_to(facility *f, int i, ff_pose T) {
    device *d = &f->device[i];
    if (!isnan(acts(f, FF_FAULT_ROBOT_STUCK, i))) {
        if (!d->was_stuck)
            d->stuck = d->command.T;
        d->was_stuck = true;
        T = d->stuck;
    }
    const double slow = acts(f, FF_FAULT_ROBOT_SLOW, i); /* [1/cycle] part of the displacement it makes */
    if (!isnan(slow))
        T = ff_pose_interpolate(d->command.T, T, slow);
    d->command = ff_motion_step(&d->motion, T, d->period, &d->acceleration);
    const bool moves = ff_vec3_norm(ff_vec3_sub(T.p, f->truth.robot[i].T.p)) > 1e-6 ||
                       ff_quat_angle(T.q, f->truth.robot[i].T.q) > 1e-6;
    if (moves && !f->moving)
        f->moving = f->k + 1;
}

/* ------------------------------------------------------------------------------------------------ cycle --
 */

/* The operator at the virtual robot: pushes the mock-up as the pendant asks (EStr of the answer). */
static void push_by_hand(facility *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        const ff_sensor_config *sensor = &f->scenario->satellite[i].sensor;
        const ff_rsi_sen *sen = &d->state.sen;
        const int asked = sen->has_text ? ff_push_asked(sen->text) : -1;
        if (asked >= 0 && asked != d->push) {
            d->push = asked;
            d->pushed = f->k;
        }
        ff_wrench push = ff_wrench_zero();
        if (d->push >= 0 &&
            !ff_push_virtual(d->push, (double)(f->k - d->pushed) * f->plan.cycle,
                             d->push < 3 ? sensor->force_noise : sensor->torque_noise,
                             d->push < 3 ? sensor->range_force : sensor->range_torque, &push) &&
            asked < 0)
            d->push = -1; /* done, and no longer asked for */
        ff_plant_push(f->plant, i, push);
    }
}

/* False when the session has ended. */
static bool cycle(facility *f) {
    const int n = f->plan.bodies;
    draw_faults(f);
    strike(f);
    push_by_hand(f);
    f->time = (double)f->cycles++ * f->device[0].period;
    for (int i = 0; i < n; i++)
        f->before[i] = f->k ? f->truth.robot[i].twist : ff_twist_zero();
    if (ff_plant_read(f->plant, f->k, &f->in, &f->truth) < 0) {
        say(f, "the robot's motion is not finite: RSI stopped");
        return false;
    }
    if (f->options->watch)
        f->options->watch(f->options->user, f->k, &f->truth);
    serve_requests(f);
    sense(f);
    /* the first robot last: in lock step its telegram finds those of the same time already there */
    for (int i = n - 1; i >= 0; i--) {
        device *d = &f->device[i];
        if (!isnan(acts(f, FF_FAULT_ROBOT_CLIPPED, i)))
            for (int a = 0; a < 12; a++) {
                d->config.axiscorr_upper[a] = fmax(0.0, d->state.axes[a] < 0 ? 0.0 : d->state.axes[a]);
                d->config.axiscorr_lower[a] = fmin(0.0, d->state.axes[a] > 0 ? 0.0 : d->state.axes[a]);
            }
        const bool restarts = !isnan(acts(f, FF_FAULT_ROBOT_RESTARTS, i));
        if (d->restarts && !restarts)
            restart(f, i);
        d->restarts = restarts;
        if (!isnan(acts(f, FF_FAULT_ROBOT_ABORTS, i)))
            for (int a = 0; a < 12; a++)
                d->config.axiscorrmon[a] = 0.0;
        if (!d->apart) {
            d->tick = f->time;
            send_rob(f, i);
        } else if (f->options->lockstep)
            tick_until(f, i, f->time);
    }
    const double step = acts(f, FF_FAULT_CLOCK_STEP, 0); /* the controller's clock jumps */
    f->deadline += (int64_t)llround(1e9 * f->device[0].period) + (isnan(step) ? 0 : (int64_t)(1e9 * step));
    if (f->deadline < ff_clock_now() - 50000000) /* fell behind: do not race */
        f->deadline = ff_clock_now();
    if (f->options->lockstep && !isnan(step))
        ff_clock_sleep_until(ff_clock_now() + (int64_t)(1e9 * step));
    if (f->options->lockstep)
        f->deadline = ff_clock_now() + (int64_t)(1e9 * f->plan.cycle);
    /* a controller is never late itself; this one may be, on a busy machine, and then makes up for it, but
     * not by cycles too short to be answered */
    const int64_t least = ff_clock_now() + 500000;
    f->close = f->deadline > least ? f->deadline : least;
    wait_answers(f);

    bool answered = false;
    for (int i = 0; i < n; i++)
        answered |= f->device[i].state.answered;
    if (!f->client && !answered) { /* RSI_ON again, until someone listens */
        for (int i = 0; i < n; i++)
            if (!f->device[i].apart)
                rearm(&f->device[i]);
        ff_plant_reset(f->plant);
        return true;
    }
    if (!f->client) {
        say(f, "a client answers");
        meet_loop(f);
    }
    f->client = true;
    if (f->options->lockstep && !answered && !unanswerable(f, 0)) {
        for (int i = 0; i < n; i++)
            f->device[i].state.stopped = FF_RSI_STOP_TIMEOUT;
        return false;
    }
    ff_setpoint command[FF_MAX_BODIES];
    for (int i = 0; i < n; i++) {
        device *d = &f->device[i];
        if (d->failed) /* its robot stands; the other controllers know nothing of it */
            ;
        else if (!d->met && !d->apart)
            rearm(d);
        else if (!d->apart || (d->state.open && d->state.answered))
            finish(f, i);
        command[i] = d->command;
        if (d->failed)
            command[i].twist = ff_twist_zero();
        else if (d->apart) {
            const double dt = f->time - d->tick;
            command[i].T = moved(&d->command, &d->acceleration, dt);
            command[i].twist = ff_twist_add(d->command.twist, ff_twist_scale(dt, d->acceleration));
        }
    }
    ff_plant_write(f->plant, f->k, command);
    f->k++;
    bool runs = false;
    for (int i = 0; i < n; i++)
        runs |= !f->device[i].failed;
    return runs;
}

static void end_session(facility *f) {
    static const char *const reasons[] = {[FF_RSI_RUNNING] = "ended",
                                          [FF_RSI_STOP_TIMEOUT] = "stopped: too many late answers",
                                          [FF_RSI_STOP_MONITOR] =
                                              "aborted: the correction left the monitored range",
                                          [FF_RSI_STOP_ASKED] = "ended as asked"};
    ff_facility_result *result = f->result;
    ff_outside_release(&f->outside);
    result->sessions++;
    result->cycles = f->k;
    result->stopped = FF_RSI_RUNNING;
    for (int i = 0; i < f->plan.bodies; i++) {
        const device *d = &f->device[i];
        result->rsi[i] = d->state.info;
        if (d->state.stopped > result->stopped)
            result->stopped = d->state.stopped;
        result->robot[i] = f->truth.robot[i];
        result->force[i] = ff_vec3_norm(f->truth.contact_b[i].f);
        result->stolen += d->server.stolen;
        say(f, "%s: RSI %s after %llu cycles; %llu late, %llu too late, %llu clipped, %llu malformed answers",
            f->scenario->satellite[i].name, reasons[d->state.stopped], (unsigned long long)f->k,
            (unsigned long long)d->state.info.late, (unsigned long long)d->state.info.too_late,
            (unsigned long long)d->state.info.clipped, (unsigned long long)d->state.info.malformed);
    }
    for (int i = 0; i < f->plan.bodies; i++) {
        device *d = &f->device[i];
        d->config.ipoc_start = d->state.ipoc + d->config.ipoc_step;
    }
}

/* The plant of the devices: the same, but its robots stand still at the park pose; with frame: relative it is
 * the lab alone, where the robots are (the plan refuses what is fixed in inertial space). */
static ff_plant *create_plant(const facility *f, char *message, size_t size) {
    ff_scenario *scenario = malloc(sizeof *scenario);
    if (!scenario)
        return NULL;
    *scenario = *f->scenario;
    scenario->frame = FF_FRAME_ABSOLUTE;
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_satellite *satellite = &scenario->satellite[i];
        const ff_pose park = ff_plan_runup(&f->plan, i, -FF_INF).T;
        const double later = always(f, FF_FAULT_ROBOT_LATER, i);
        satellite->robot.delay += isnan(later) ? 0.0 : later;
        satellite->start = (ff_rigid_state){park.p, ff_quat_unit(park.q), ff_vec3_zero(), ff_vec3_zero()};
    }
    ff_plant *plant = ff_plant_create(scenario, message, size);
    free(scenario);
    return plant;
}

/* Faults of the set-up that make another facility of it than the scenario describes. */
static void misplace(ff_scenario *s) {
    for (int n = 0; n < s->faults; n++) {
        const ff_fault *fault = &s->fault[n];
        if (fault->kind == FF_FAULT_ROBOT_ASIDE)
            s->satellite[fault->body].start.position.y += fault->value;
        if (fault->kind == FF_FAULT_WALL_HARDER)
            for (int c = 0; c < s->contacts; c++)
                s->contact[c].stiffness *= fault->value;
    }
}

/* The same pose by other axes: the wrist turned over, and the carriage elsewhere on its rail. */
static void stand_otherwise(facility *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        const double along = always(f, FF_FAULT_ARM_ELSEWHERE, i);
        ff_plan_body *body = &f->plan.body[i];
        if (isnan(along))
            continue;
        body->arm.config.rail.standoff -= along;
        const ff_pose park = ff_plan_runup(&f->plan, i, -FF_INF).T;
        ff_arm_inverse(&body->arm, &park, &body->home, &body->home, NULL);
        body->home.a[3] += body->home.a[3] > 0.0 ? -FF_PI : FF_PI;
        body->home.a[4] *= -1.0;
        body->home.a[5] += body->home.a[5] > 0.0 ? -FF_PI : FF_PI;
    }
}

void ff_facility_run(const ff_scenario *scenario, const ff_facility_options *options,
                     ff_facility_result *result) {
    *result = (ff_facility_result){0};
    facility *f = calloc(1, sizeof *f);
    ff_scenario *real = malloc(sizeof *real);
    if (!f || !real) {
        result->status = FF_ERR_MEMORY;
        free(real);
        free(f);
        return;
    }
    *real = *scenario;
    misplace(real);
    f->scenario = real;
    f->options = options;
    f->result = result;
    f->stranger = -1;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        f->device[i].rsi = f->device[i].ati = -1;
    char *message = result->message;
    const size_t size = sizeof result->message;
    ff_status status = ff_plan_create(real, &options->ports, &f->plan, message, size);
    if (!status && !f->plan.virtual) {
        snprintf(message, size, "the scenario names devices that are not on loopback: they are not virtual");
        status = FF_ERR_UNSUPPORTED;
    }
    if (!status)
        stand_otherwise(f);
    if (!status && !(f->plant = create_plant(f, message, size)))
        status = FF_ERR_UNSUPPORTED;
    for (int i = 0; i < f->plan.bodies && !status; i++)
        status = open_device(f, i, message, size);
    if (!status) {
        struct sockaddr_in any;
        ff_socket_address("127.0.0.1", 0, &any);
        ff_socket_open(&any, &f->stranger, NULL, message, size);
        for (int i = 0; i < f->plan.bodies; i++)
            say(f, "%s: RSI to port %u every %g ms%s, RDT on port %u, HTTP on port %u",
                scenario->satellite[i].name, ntohs(f->plan.body[i].robot_at.sin_port), 1e3 * f->plan.cycle,
                options->lockstep ? " (lockstep)" : "", ntohs(f->plan.body[i].sensor_at.sin_port),
                ntohs(f->plan.body[i].page_at.sin_port));
        f->deadline = ff_clock_now();
        set_clocks(f);
        start_session(f);
        if (options->ready)
            atomic_store(options->ready, true);
        while (!atomic_load(options->stop)) {
            if (cycle(f))
                continue;
            end_session(f);
            if (options->once)
                break;
            start_session(f);
        }
    }
    result->status = status;
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        device *d = &f->device[i];
        ff_http_stop(d->http);
        if (d->rsi >= 0)
            close(d->rsi);
        if (d->ati >= 0)
            close(d->ati);
    }
    if (f->stranger >= 0)
        close(f->stranger);
    ff_outside_release(&f->outside);
    ff_plant_free(f->plant);
    free(real);
    free(f);
}
