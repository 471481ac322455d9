/* Sessions and cycles of the virtual facility. */
#include "server/internal.h"

#include "executive/check.h"
#include "facility/plant.h"
#include "text/clock.h"

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

void ff__server_say(const ff_server *f, const char *format, ...) {
    char line[256];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (f->options->say)
        f->options->say(f->options->user, line);
}

/* What befalls the processes. The one that answers is looked for only if a fault will need it. */
static void meet_loop(ff_server *f) {
    for (int n = 0; n < f->scenario->faults; n++)
        if (ff_outside_is(f->scenario->fault[n].kind)) {
            f->outside = (ff_outside){.loop = ff_outside_owner(&f->peer)};
            return;
        }
}

static void strike(ff_server *f) {
    for (int n = 0; n < f->scenario->faults; n++) {
        const ff_fault *fault = &f->scenario->fault[n];
        const char *line = ff_outside_is(fault->kind)
                               ? ff_outside_strike(&f->outside, fault->kind,
                                                   !isnan(ff__server_acts(f, fault->kind, fault->body)))
                               : NULL;
        if (line)
            ff__server_say(f, "%s", line);
    }
}

/* Drawn once a cycle, so that every place that asks gets the same answer. */
static void draw_faults(ff_server *f) {
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
        ff_server_device *d = &f->device[i];
        const double jitter = ff__server_acts(f, FF_FAULT_JITTER, i);
        d->rob_late = isnan(jitter) ? 0.0 : jitter * ff_rng_uniform(&f->rng);
        d->ft_late = isnan(jitter) ? 0.0 : jitter * ff_rng_uniform(&f->rng);
    }
}

/* ---------------------------------------------------------------------------------------------- opening --
 */

static void fill_page(const ff_server *f, int i, ff_ati_page *page) {
    const ff_sensor_config *sensor = &f->scenario->satellite[i].sensor;
    *page = ff_ati_page_default();
    snprintf(page->product, sizeof page->product, "freefloat virtual sensor");
    const double *counts = f->address.body[i].sensor->counts;
    if (counts[0] > 0.0) {
        page->counts_per_force = counts[0];
        page->counts_per_torque = counts[1];
    }
    page->rate = (unsigned)lround(1.0 / f->plan.cycle);
    page->has_range = isfinite(sensor->range_force) && isfinite(sensor->range_torque);
    for (int a = 0; a < 6 && page->has_range; a++)
        page->range[a] = a < 3 ? sensor->range_force : sensor->range_torque;
    /* the counts have 32 bit: a wide range has coarser ones */
    if (counts[0] > 0.0)
        return;
    while (page->has_range && sensor->range_force * page->counts_per_force > INT32_MAX)
        page->counts_per_force /= 10.0;
    while (page->has_range && sensor->range_torque * page->counts_per_torque > INT32_MAX)
        page->counts_per_torque /= 10.0;
}

/* As the scenario says; else beyond any motion of the arm. The monitors stand KUKA's own share beyond. */
static void limit_corrections(const ff_device_settings *own, double rail, ff_rsi_controller_config *config) {
    const bool deg = own->clip_deg > 0.0 && isfinite(own->clip_deg),
               mm = own->clip_mm > 0.0 && isfinite(own->clip_mm);
    const double turn = deg ? own->clip_deg : 180.0, axis = deg ? own->clip_deg : WIDE_DEG,
                 shift = mm ? own->clip_mm : WIDE_MM, most = mm ? own->clip_mm : rail;
    config->poscorr_rotation_deg = turn;
    config->poscorrmon_rotation_deg = fmin(180.0, FF_RSI_MONITOR * turn);
    config->poscorrmon_translation_mm = FF_RSI_MONITOR * shift;
    for (int a = 0; a < 3; a++) {
        config->poscorr_lower_mm[a] = -shift;
        config->poscorr_upper_mm[a] = shift;
    }
    for (int a = 0; a < 12; a++) {
        const double limit = a == 6 && rail > 0.0 ? most : axis;
        config->axiscorr_lower[a] = -limit;
        config->axiscorr_upper[a] = limit;
        config->axiscorrmon[a] = FF_RSI_MONITOR * limit;
    }
    if (deg || mm)
        config->fields |= FF_RSI_LIM;
}

static ff_status open_device(ff_server *f, int i, char *message, size_t size) {
    ff_server_device *d = &f->device[i];
    const ff_plan_body *body = &f->plan.body[i];
    struct sockaddr_in any = f->address.body[i].robot_at;
    any.sin_port = 0;
    const bool stream = f->address.body[i].robot->frame != NULL;
    ff_status status = stream ? ff__server_ur_open(f, i, message, size)
                       : f->address.body[i].robot->topics
                           ? FF_OK
                           : ff_socket_open(&any, &d->rsi, NULL, message, size);
    d->ur.feels = f->address.body[i].sensor->frame != NULL;
    if (status == FF_OK)
        status = ff__server_ros2_open(f, i, message, size);
    if (status == FF_OK && !d->ur.feels && !d->ros.feels)
        status = ff_socket_open(&f->address.body[i].sensor_at, &d->ati, NULL, message, size);
    if (status != FF_OK)
        return status;
    const ff_device_settings *sensor = &f->scenario->satellite[i].sensor.device;
    d->udp.here = f->address.body[i].sensor == &ff_device_udp;
    if (d->udp.here)
        ff_udp_layout_of(sensor, &d->udp.layout);
    if (d->udp.here && sensor->listen) {
        d->udp.known = true;
        d->udp.peer = f->address.body[i].sensor_at;
        d->udp.peer.sin_port = htons((uint16_t)sensor->listen);
    }
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
    d->server_config.axia = f->address.body[i].sensor == &ff_device_axia;
    ff_ati_server_reset(&d->server);
    d->config = ff_rsi_controller_config_default(body->increments ? FF_RSI_RELATIVE : FF_RSI_ABSOLUTE);
    if (f->options->lockstep)
        d->config.fields |= FF_RSI_ARRIVAL;
    if (f->scenario->facility_signals)
        d->config.fields |= FF_RSI_KRC | FF_RSI_RSOL | FF_RSI_ASPOS;
    if (f->options->timeout)
        d->config.timeout = f->options->timeout;
    const ff_device_settings *own = &f->scenario->satellite[i].robot.device;
    ff_rsi_names_of(own, &d->config.names);
    if (own->no_rsol)
        d->config.fields &= ~(unsigned)FF_RSI_RSOL;
    if (own->no_aspos)
        d->config.fields &= ~(unsigned)FF_RSI_ASPOS;
    if (own->no_eipos)
        d->config.fields &= ~(unsigned)FF_RSI_EIPOS;
    const double rail = body->arm.config.rail.rule == FF_ARM_RAIL_NONE
                            ? 0.0
                            : 1e3 * (body->arm.config.rail.upper - body->arm.config.rail.lower);
    d->config.external_linear[0] = rail > 0.0;
    limit_corrections(own, rail, &d->config);
    d->usual = d->config;
    if (!f->address.body[i].sensor->page)
        return FF_OK;
    return ff_http_serve(&f->address.body[i].page_at, FF_ATI_HTTP_PATH, xml, &d->http, message, size);
}

static void set_clocks(ff_server *f) {
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

static void start_session(ff_server *f) {
    memset(f->result->injected, 0, sizeof f->result->injected);
    ff_plant_reset(f->plant);
    ff_rng_seed(&f->rng, f->scenario->seed, 77);
    f->k = 0;
    f->moving = 0;
    f->client = false;
    ff__server_arm_reset(f);
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_server_device *d = &f->device[i];
        d->usual.ipoc_start = d->config.ipoc_start;
        d->config = d->usual;
        ff_rsi_controller_reset(&d->config, &d->state);
        ff__server_ur_reset(&d->ur);
        d->ros.label[0] = 0;
        d->ros.commands = 0;
        d->joints = d->first = f->plan.body[i].home;
        d->posed.p.x = FF_NAN;
        const ff_pose park = ff_plan_runup(&f->plan, i, -FF_INF).T;
        d->first_rist = ff_plan_to_base(&f->plan.body[i], park);
        d->motion = (ff_motion_state){0};
        d->command = (ff_setpoint){park, ff_twist_zero()};
        d->push = -1;
        d->reading = ff_wrench_zero();
        d->missed = 0;
        d->was_stuck = d->restarts = d->restarted = d->jumped = d->failed = d->met = false;
        d->mistyped = d->refused = false;
        d->late_size = d->deferred_size = d->overtaken_size = 0;
        f->before[i] = ff_twist_zero();
    }
}

/* Facility's time in wall-clock time. */
static double time_now(const ff_server *f, int64_t now) {
    return f->time + f->device[0].period - 1e-9 * (double)(f->deadline - now);
}

static const int64_t refused_after = 300000000; /* [ns] in lock step, where nothing else is late */

static void wait_answers(ff_server *f) {
    struct pollfd p[2 * FF_MAX_BODIES + 1];
    const int n = f->plan.bodies;
    for (int i = 0; i < n; i++) {
        p[i] = (struct pollfd){.fd = f->device[i].rsi, .events = POLLIN};
        for (int k = 0; f->device[i].ur.here && k < FF_SERVER_LINKS; k++)
            if (f->device[i].ur.link[k].rtde.inputs > 0)
                p[i].fd = f->device[i].ur.link[k].fd;
        if (f->device[i].ros.here)
            p[i].fd = f->device[i].ros.link.fd;
        p[n + i] = (struct pollfd){.fd = f->device[i].ati, .events = POLLIN};
    }
    p[2 * n] = (struct pollfd){.fd = f->arm.fd, .events = POLLIN};
    const double patience = f->options->patience > 0.0 ? f->options->patience : 20.0;
    const int64_t begin = ff_clock_now(),
                  give_up = begin + (f->client ? (int64_t)(1e9 * patience) : 20000000);
    for (int i = 0; i < n; i++) {
        f->device[i].taken = false;
        if (f->device[i].late_size) {
            ff_rsi_controller_receive(&f->device[i].config, &f->device[i].state, f->device[i].late_answer,
                                      f->device[i].late_size);
            f->device[i].late_size = 0;
        }
    }
    for (;;) {
        ff__server_serve_requests(f);
        ff__server_arm_take(f);
        const bool all = ff__server_take_answers(f) && !ff__server_arm_awaited(f);
        const int64_t now = ff_clock_now();
        if (f->options->lockstep) {
            for (int i = 0; i < n; i++)
                f->device[i].restarted |=
                    f->device[i].jumped && !f->device[i].state.answered && now > begin + refused_after;
            bool late = false;
            for (int i = 1; i < n; i++)
                if (f->device[i].deferred_size &&
                    (f->device[0].state.answered || f->device[0].failed || ff__server_unanswerable(f, 0))) {
                    ff_socket_send(f->device[i].rsi, f->device[i].deferred, f->device[i].deferred_size,
                                   &f->address.body[i].robot_at);
                    f->device[i].deferred_size = 0;
                    late = true;
                }
            if (late)
                continue;
            bool waits = ff__server_arm_awaited(f);
            for (int i = 0; i < n; i++)
                waits |= ff__server_awaited(f, i, now - begin);
            if (all || now >= give_up || atomic_load(f->options->stop))
                return;
            if (!waits && now >= f->deadline)
                return;
            poll(p, 2 * (nfds_t)n + 1, waits ? 20 : 1);
        } else {
            if (now >= f->close)
                return;
            int64_t until = f->close;
            for (int i = 0; i < n; i++)
                if (f->device[i].sensor_apart) {
                    ff__server_sense_until(f, i, time_now(f, now));
                    const double ahead =
                        (double)f->device[i].sensor_ticks * f->device[i].sensor_period - time_now(f, now);
                    until = ahead < 1e-9 * (double)(until - now) ? now + (int64_t)(1e9 * ahead) + 1 : until;
                }
            for (int i = 1; i < n; i++) {
                const ff_server_device *d = &f->device[i];
                ff__server_tick_until(f, i, time_now(f, now));
                if (d->apart && !d->failed) {
                    const double ahead = (double)d->ticks * d->period - time_now(f, now);
                    until = ahead < 1e-9 * (double)(until - now) ? now + (int64_t)(1e9 * ahead) + 1 : until;
                }
            }
            const struct timespec left = {0, (long)(until - now > 999999999 ? 999999999 : until - now)};
            ppoll(p, 2 * (nfds_t)n + 1, &left, NULL);
        }
    }
}

/* ------------------------------------------------------------------------------------------------ cycle --
 */

/* The operator at the virtual robot: pushes the mock-up as the pendant asks (EStr of the answer). */
static void push_by_hand(ff_server *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_server_device *d = &f->device[i];
        const ff_sensor_config *sensor = &f->scenario->satellite[i].sensor;
        const ff_rsi_sen *sen = &d->state.sen;
        const int asked = d->ur.here      ? ff__server_ur_asked(&d->ur)
                          : d->ros.here   ? ff__server_ros2_asked(&d->ros)
                          : sen->has_text ? ff_push_asked(sen->text)
                                          : -1;
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
static bool cycle(ff_server *f) {
    const int n = f->plan.bodies;
    draw_faults(f);
    strike(f);
    push_by_hand(f);
    f->time = (double)f->cycles++ * f->device[0].period;
    for (int i = 0; i < n; i++)
        f->before[i] = f->k ? f->truth.robot[i].twist : ff_twist_zero();
    if (ff_plant_read(f->plant, f->k, &f->in, &f->truth) < 0) {
        ff__server_say(f, "the robot's motion is not finite: RSI stopped");
        return false;
    }
    if (f->options->watch)
        f->options->watch(f->options->user, f->k, &f->truth);
    ff__server_serve_requests(f);
    ff__server_sense(f);
    ff__server_arm_send(f);
    /* the first robot last: in lock step its telegram finds those of the same time already there */
    for (int i = n - 1; i >= 0; i--) {
        ff_server_device *d = &f->device[i];
        if (!isnan(ff__server_acts(f, FF_FAULT_ROBOT_CLIPPED, i)))
            for (int a = 0; a < 12; a++) {
                d->config.axiscorr_upper[a] = fmax(0.0, d->state.axes[a] < 0 ? 0.0 : d->state.axes[a]);
                d->config.axiscorr_lower[a] = fmin(0.0, d->state.axes[a] > 0 ? 0.0 : d->state.axes[a]);
            }
        const double restarts = ff__server_acts(f, FF_FAULT_ROBOT_RESTARTS, i);
        if (d->restarts && isnan(restarts))
            ff__server_restart(f, i, d->counted);
        d->restarts = !isnan(restarts);
        d->counted = restarts > 0.0;
        if (!isnan(ff__server_acts(f, FF_FAULT_ROBOT_ABORTS, i)))
            for (int a = 0; a < 12; a++)
                d->config.axiscorrmon[a] = 0.0;
        if (!d->apart) {
            d->tick = f->time;
            d->missed = ff__server_undelivered(f, i) ? d->missed + 1 : 0;
            d->jumped |= f->moving && (double)d->missed > f->scenario->satellite[i].safety.missed;
            ff__server_send_rob(f, i);
        } else if (f->options->lockstep)
            ff__server_tick_until(f, i, f->time);
    }
    const double step = ff__server_acts(f, FF_FAULT_CLOCK_STEP, 0); /* the controller's clock jumps */
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
    ff__server_arm_finish(f);

    bool answered = false, due = false; /* an answer could have come */
    bool refused = false;               /* one came that was none */
    for (int i = 0; i < n; i++) {
        refused |= f->device[i].mistyped;
        answered |= f->device[i].state.answered;
        due |= !f->device[i].failed && !ff__server_unanswerable(f, i);
    }
    if (!f->client && !answered && !refused) { /* RSI_ON again, until someone listens */
        for (int i = 0; i < n; i++)
            if (!f->device[i].apart)
                ff__server_rearm(&f->device[i]);
        ff_plant_reset(f->plant);
        return true;
    }
    if (!f->client) {
        ff__server_say(f, "a client answers");
        meet_loop(f);
    }
    f->client = true;
    if (f->options->lockstep && !answered && due && !refused) {
        for (int i = 0; i < n; i++)
            f->device[i].state.stopped = FF_RSI_STOP_TIMEOUT;
        return false;
    }
    ff_setpoint command[FF_MAX_BODIES];
    for (int i = 0; i < n; i++) {
        ff_server_device *d = &f->device[i];
        if (d->failed) /* its robot stands; the other controllers know nothing of it */
            ;
        else if (!d->met && !d->apart)
            ff__server_rearm(d);
        else if (!d->apart || (d->state.open && d->state.answered))
            ff__server_finish(f, i);
        command[i] = d->command;
        if (d->failed)
            command[i].twist = ff_twist_zero();
        else if (d->apart) {
            const double dt = f->time - d->tick;
            command[i].T = ff__server_moved(&d->command, &d->acceleration, dt);
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

static void end_session(ff_server *f) {
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
        const ff_server_device *d = &f->device[i];
        result->rsi[i] = d->state.info;
        if (d->state.stopped > result->stopped)
            result->stopped = d->state.stopped;
        result->robot[i] = f->truth.robot[i];
        result->force[i] = ff_vec3_norm(f->truth.contact_b[i].f);
        result->stolen += d->server.stolen;
        ff__server_say(
            f, "%s: %s %s after %llu cycles; %llu late, %llu too late, %llu clipped, %llu malformed answers",
            f->scenario->satellite[i].name,
            d->ur.here    ? "the program"
            : d->ros.here ? "the driver's client"
                          : "RSI",
            reasons[d->state.stopped], (unsigned long long)f->k, (unsigned long long)d->state.info.late,
            (unsigned long long)d->state.info.too_late, (unsigned long long)d->state.info.clipped,
            (unsigned long long)d->state.info.malformed);
    }
    ff__server_arm_end(f);
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_server_device *d = &f->device[i];
        d->config.ipoc_start = d->state.ipoc + d->config.ipoc_step;
    }
}

/* The plant of the devices: the same, but its robots stand still at the park pose; with frame: relative it is
 * the lab alone, where the robots are (the plan refuses what is fixed in inertial space). */
static ff_plant *create_plant(ff_server *f, char *message, size_t size) {
    ff_scenario *scenario = f->lab = malloc(sizeof *scenario);
    if (!scenario) {
        snprintf(message, size, "no memory for the facility");
        return NULL;
    }
    *scenario = *f->scenario;
    scenario->frame = FF_FRAME_ABSOLUTE;
    for (int i = 0; i < f->plan.bodies; i++) {
        ff_satellite *satellite = &scenario->satellite[i];
        const ff_pose park = ff_plan_runup(&f->plan, i, -FF_INF).T;
        const double later = ff__server_always(f, FF_FAULT_ROBOT_LATER, i);
        satellite->robot.delay += isnan(later) ? 0.0 : later;
        satellite->start = (ff_rigid_state){park.p, ff_quat_unit(park.q), ff_vec3_zero(), ff_vec3_zero()};
    }
    return ff_plant_create(scenario, message, size, NULL);
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
static void stand_otherwise(ff_server *f) {
    for (int i = 0; i < f->plan.bodies; i++) {
        const double along = ff__server_always(f, FF_FAULT_ARM_ELSEWHERE, i);
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
    if (scenario->emulates) {
        ff__server_emulate(scenario, options, result);
        return;
    }
    ff_server *f = calloc(1, sizeof *f);
    ff_scenario *real = malloc(sizeof *real);
    if (!f || !real) {
        result->status = FF_ERR_MEMORY;
        snprintf(result->message, sizeof result->message, "no memory for the facility");
        free(real);
        free(f);
        return;
    }
    *real = *scenario;
    misplace(real);
    f->scenario = real;
    f->options = options;
    f->result = result;
    f->stranger = f->arm.fd = -1;
    for (int i = 0; i < FF_MAX_BODIES; i++)
        f->device[i].rsi = f->device[i].ati = f->device[i].ros.link.fd = f->device[i].ros.sensor.fd = -1;
    char *message = result->message;
    const size_t size = sizeof result->message;
    ff_status status = ff_plan_create(real, &f->plan, message, size);
    if (!status)
        status = ff_addresses_find(real, &options->ports, &f->address, message, size);
    if (!status && !f->address.virtual) {
        snprintf(message, size, "the scenario names devices that are not on loopback: they are not virtual");
        status = FF_ERR_UNSUPPORTED;
    }
    if (!status)
        stand_otherwise(f);
    if (!status && !(f->plant = create_plant(f, message, size)))
        status = FF_ERR_UNSUPPORTED;
    for (int i = 0; i < f->plan.bodies && !status; i++)
        status = open_device(f, i, message, size);
    if (!status)
        status = ff__server_arm_open(f, message, size);
    if (!status) {
        struct sockaddr_in any;
        ff_socket_address("127.0.0.1", 0, &any);
        ff_socket_open(&any, &f->stranger, NULL, message, size);
        for (int i = 0; i < f->plan.bodies; i++)
            if (f->device[i].ros.here)
                ff__server_say(f, "%s: %s every %g ms%s, takes %s, in domain %u of ROS 2",
                               scenario->satellite[i].name, scenario->satellite[i].robot.device.states,
                               1e3 * f->plan.cycle, options->lockstep ? " (lockstep)" : "",
                               scenario->satellite[i].robot.device.command,
                               (unsigned)scenario->satellite[i].robot.device.domain);
            else
                ff__server_say(
                    f, "%s: %s port %u every %g ms%s, %s on port %u, HTTP on port %u",
                    scenario->satellite[i].name, f->device[i].ur.here ? "RTDE on" : "RSI to",
                    ntohs(f->address.body[i].robot_at.sin_port), 1e3 * f->plan.cycle,
                    options->lockstep ? " (lockstep)" : "", f->device[i].udp.here ? "records" : "RDT",
                    ntohs(f->address.body[i].sensor_at.sin_port), ntohs(f->address.body[i].page_at.sin_port));
        if (f->address.arm)
            ff__server_say(f, "the servicer's arm: joint torques to port %u every %g ms",
                           ntohs(f->address.arm_at.sin_port), 1e3 * f->arm.config.cycle);
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
        ff_server_device *d = &f->device[i];
        ff_http_stop(d->http);
        ff__server_ur_close(&d->ur);
        ff__server_ros2_close(&d->ros);
        if (d->rsi >= 0)
            close(d->rsi);
        if (d->ati >= 0)
            close(d->ati);
    }
    if (f->stranger >= 0)
        close(f->stranger);
    ff_outside_release(&f->outside);
    ff__server_arm_close(f);
    ff_plant_free(f->plant);
    free(f->lab);
    free(real);
    free(f);
}
