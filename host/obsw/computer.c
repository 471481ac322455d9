#include "obsw/computer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *ff_obsw_kind_name(ff_obsw_kind kind) {
    static const char *const name[] = {"builtin", "shared", "udp"};
    return name[kind];
}

void ff_computer_default(ff_computer_config *config) {
    *config = (ff_computer_config){.cycle = 0.004,
                                   .seed = 1,
                                   .hold = 0.04,
                                   .force_limit = FF_INF,
                                   .torque_limit = FF_INF,
                                   .library_timeout = 1.0};
    ff_builtin_default(&config->builtin);
    ff_obsw_udp_default(&config->udp);
}

void ff_computer_configure(const ff_scenario *scenario, ff_computer_config *c) {
    const ff_satellite *base = &scenario->satellite[ff_scenario_servicer(scenario)];
    const ff_obsw_config *o = &base->obsw;
    ff_computer_default(c);
    ff_builtin_config *b = &c->builtin;
    c->cycle = scenario->cycle;
    c->seed = scenario->seed;
    c->kind = (ff_obsw_kind)o->kind;
    c->navigation = (ff_navigation_config){.rate = o->navigation.rate,
                                           .delay = o->navigation.delay,
                                           .position = o->navigation.position,
                                           .attitude = o->navigation.attitude,
                                           .velocity = o->navigation.velocity,
                                           .angular_rate = o->navigation.angular_rate,
                                           .star_tracker = o->navigation.star_tracker,
                                           .gyro = o->navigation.gyro,
                                           .encoder = o->navigation.encoder,
                                           .encoder_speed = o->navigation.encoder_speed,
                                           .star_tracker_rate = o->navigation.star_tracker_rate,
                                           .star_tracker_delay = o->navigation.star_tracker_delay,
                                           .gyro_rate = o->navigation.gyro_rate,
                                           .gyro_delay = o->navigation.gyro_delay,
                                           .encoder_rate = o->navigation.encoder_rate,
                                           .encoder_delay = o->navigation.encoder_delay};
    c->hold = o->hold;
    c->force_limit = o->force_limit;
    c->torque_limit = o->torque_limit;
    c->library = o->library;
    c->held = scenario->held;
    c->call = o->call;
    c->library_timeout = o->timeout;
    snprintf(c->udp.address, sizeof c->udp.address, "%.63s", o->address);
    snprintf(c->udp.local_address, sizeof c->udp.local_address, "%.63s", o->local_address);
    c->udp.port = (unsigned)o->port;
    c->udp.local_port = (unsigned)o->local_port;
    c->udp.free = o->mode == 1;
    c->udp.wire = (ff_obsw_wire){o->packets == 1, (uint16_t)o->apid, (uint16_t)o->command_apid};
    c->udp.timeout = o->timeout;
    c->udp.connect = o->connect;
    b->goal = o->goal;
    memcpy(b->q_start, base->arm.q, sizeof base->arm.q);
    memcpy(b->q_goal, o->q, sizeof o->q);
    b->approach = o->approach;
    b->arrive = o->arrive;
    b->sync_rate = o->sync_rate;
    b->hold_rate = o->hold_rate;
    b->arm_rate = o->arm_rate;
    b->grasp_rate = o->grasp_rate;
    b->detumble = o->detumble;
    b->detumble_damping = o->detumble_damping;
    b->grasp = b->release = FF_INF; /* as the gripper says */
}

void ff_computer_gripper(ff_computer *c, bool closed, double t) {
    ff_builtin_config *b = &c->config.builtin;
    if (closed && isinf(b->grasp))
        b->grasp = t;
    if (!closed && !isinf(b->grasp) && isinf(b->release))
        b->release = t;
}

ff_wrench ff_obsw_thrust(const ff_obsw_out *out) {
    return (ff_wrench){ff_vec3_make(out->torque[0], out->torque[1], out->torque[2]),
                       ff_vec3_make(out->force[0], out->force[1], out->force[2])};
}

static ff_status open_udp(ff_computer *c, char *message, size_t size) {
    ff_obsw_link link = {0};
    if (!c->config.opener) {
        snprintf(message, size,
                 "on-board software over UDP cannot be reached from here, allowed: run, "
                 "compare");
        return FF_ERR_UNSUPPORTED;
    }
    const ff_status status = c->config.opener(&c->config.udp, &link, message, size);
    if (status == FF_OK)
        ff_obsw_exchange_begin(&c->exchange, &c->config.udp, &link, (uint32_t)c->joints, c->config.cycle);
    return status;
}

ff_status ff_computer_open(const ff_computer_config *config, ff_computer *c, char *message, size_t size) {
    *c = (ff_computer){.config = *config, .joints = ff_tree_joints(config->builtin.tree), .heard = -1.0};
    ff_status status =
        ff_obsw_sensors_create(&config->navigation, config->cycle, c->joints, config->seed, &c->sensors);
    if (status != FF_OK) {
        snprintf(message, size, "the on-board software's sensors: %s", ff_status_text(status));
        return status;
    }
    if (!config->record.read && !config->call) {
        const ff_obsw_setup setup = {FF_OBSW_VERSION, (uint32_t)c->joints, config->cycle};
        if (config->kind == FF_OBSW_SHARED)
            status = ff_obsw_shared_open(&c->shared, config->held, config->library, &setup,
                                         config->library_timeout, message, size);
        else if (config->kind == FF_OBSW_UDP)
            status = open_udp(c, message, size);
    }
    if (status != FF_OK)
        ff_computer_close(c);
    return status;
}

void ff_computer_close(ff_computer *c) {
    ff_obsw_shared_close(&c->shared);
    ff_obsw_exchange_end(&c->exchange);
    ff_obsw_sensors_free(&c->sensors);
}

void ff_computer_keep(ff_computer *c, ff_keeper *keeper) {
    if (c->shared.room || (c->config.kind == FF_OBSW_UDP && !c->config.call && !c->config.record.read))
        ff_keep_refuse(keeper, "the on-board software is a process of its own, whose state cannot be copied");
    ff_obsw_sensors_keep(&c->sensors, keeper);
    ff_keep(keeper, &c->config.builtin.grasp, sizeof c->config.builtin.grasp);
    ff_keep(keeper, &c->config.builtin.release, sizeof c->config.builtin.release);
    ff_keep(keeper, &c->in, sizeof c->in);
    ff_keep(keeper, &c->safe, sizeof c->safe);
    ff_keep(keeper, &c->heard, sizeof c->heard);
    ff_keep(keeper, &c->info, sizeof c->info);
}

/* The software's answer, if it gave one. */
static bool answer(ff_computer *c, double t, ff_obsw_out *out, ff_status *status, char *message,
                   size_t size) {
    *out = (ff_obsw_out){.storage = FF_NAN, .dissipation = FF_NAN};
    if (c->config.record.read)
        return c->config.record.read(c->config.record.self, c->in.sequence, out);
    if (c->config.call)
        return c->config.call->step(c->config.call->self, &c->in, out);
    if (c->config.kind == FF_OBSW_BUILTIN) {
        ff_builtin_step(&c->config.builtin, &c->in, out);
        return true;
    }
    if (c->config.kind == FF_OBSW_SHARED) {
        const bool good = ff_obsw_shared_step(&c->shared, &c->in, out) == FF_OK;
        if (c->in.sequence == 0 && ff_obsw_shared_text(&c->shared.info, c->shared.timeout, message, size))
            *status = FF_ERR_DEVICE; /* before anything has moved */
        return good;
    }
    *status = ff_obsw_exchange_step(&c->exchange, &c->in, t - c->heard, c->config.hold, out);
    if (*status < 0)
        snprintf(message, size,
                 "no on-board software answered at %s port %u within %g s (it must listen "
                 "there before the run begins, and answer to %s port %u)",
                 c->config.udp.address, c->config.udp.port, c->config.udp.connect,
                 c->config.udp.local_address, c->config.udp.local_port);
    return *status == FF_OK;
}

/* Each axis on its own, as thrusters in pairs act. */
static bool limit(double *axis, double most) {
    bool saturated = false;
    for (int i = 0; i < 3; i++) {
        saturated = saturated || fabs(axis[i]) > most;
        axis[i] = fmin(most, fmax(-most, axis[i]));
    }
    return saturated;
}

ff_status ff_computer_step(ff_computer *c, double t, const ff_rigid_state *client, const ff_rigid_state *base,
                           const double *q, const double *qd, ff_obsw_out *out, ff_obsw_action *action,
                           char *message, size_t size) {
    ff_obsw_info *info = &c->info;
    ff_status status = FF_OK;
    ff_obsw_sensors_step(&c->sensors, t, client, base, q, qd, &c->in);
    const bool good = answer(c, t, out, &status, message, size) && ff_obsw_out_finite(out, c->joints);
    info->exchange = c->exchange.info;
    info->shared = c->shared.info;
    if (status < 0)
        return status;
    c->in.sequence++;
    info->steps++;
    if (good) {
        c->safe = *out;
        c->heard = t;
        *action = FF_OBSW_FRESH;
    } else {
        /* half a cycle of grace: t and hold are sums of decimal fractions */
        const double silence = t - c->heard;
        const bool hold = c->heard >= 0.0 && silence <= c->config.hold + 0.5 * c->config.cycle;
        *out = hold ? c->safe : (ff_obsw_out){.storage = FF_NAN, .dissipation = FF_NAN};
        out->storage = out->dissipation = FF_NAN; /* of an earlier cycle */
        *action = hold ? FF_OBSW_HELD : FF_OBSW_ZERO;
        info->missed++;
        info->held += hold;
        info->zeroed += !hold;
        info->longest_silence = fmax(info->longest_silence, c->heard >= 0.0 ? silence : t);
    }
    for (int i = 0; i < 3; i++) {
        info->most_force = fmax(info->most_force, fabs(out->force[i]));
        info->most_torque = fmax(info->most_torque, fabs(out->torque[i]));
    }
    const bool force = limit(out->force, c->config.force_limit),
               torque = limit(out->torque, c->config.torque_limit);
    info->saturated += force || torque;
    return FF_OK;
}
