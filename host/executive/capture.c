#include "executive/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/clock.h"

enum { CLIENT, SERVICER };

static ff_rigid_load load_of(const void *of, int which, double t);

void ff_capture_mission(const ff_scenario *s, ff_capture_parts *parts, ff_mission_config *m) {
    const int servicer = ff_scenario_servicer(s);
    const ff_satellite *base = &s->satellite[servicer], *client = &s->satellite[1 - servicer];
    ff_mission_default(m);
    ff_scenario_tree(base, &parts->tree, parts->link);
    m->cycle = s->cycle;
    m->duration = s->duration;
    m->arm_cycle = base->arm.cycle;
    m->seed = s->seed;
    m->client = client->rigid;
    m->client_start = client->start;
    m->servicer = &parts->tree;
    m->gripper = (ff_tree_frame){base->arm.links - 1, base->arm.gripper};
    m->absolute_start = true;
    m->start = base->start;
    memcpy(m->q_start, base->arm.q, sizeof base->arm.q);
    m->absolute = s->frame == FF_FRAME_ABSOLUTE;
    m->prescribed = s->nominal == FF_NOMINAL_PRESCRIBED;
    m->nominal = ff_scenario_nominal(s);
    m->lab = s->facility_pose;
    m->gravity = s->facility_gravity;
    m->robot[CLIENT] = client->robot;
    m->robot[SERVICER] = base->robot;
    m->bounded = ff_scenario_bounded(s);
    ff_scenario_watched_output(client, s->cycle, &m->output[CLIENT]);
    ff_scenario_watched_output(base, s->cycle, &m->output[SERVICER]);
    ff_loop_config loop;
    ff_scenario_loop(s, &loop); /* settings of the method, with what the scenario says of noise */
    m->method = loop.method;
    m->setting = loop.setting;
    m->world = loop.world;
    if (s->loads > 0) {
        m->load = load_of;
        m->load_of = s;
    }
    m->friction = true; /* of the links' table; zero unless it says otherwise */
    const ff_obsw_config *o = &base->obsw;
    ff_computer_config *c = &m->computer;
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
    c->library_timeout = o->timeout;
    snprintf(c->udp.address, sizeof c->udp.address, "%.63s", o->address);
    snprintf(c->udp.local_address, sizeof c->udp.local_address, "%.63s", o->local_address);
    c->udp.port = (unsigned)o->port;
    c->udp.local_port = (unsigned)o->local_port;
    c->udp.free = o->mode == 1;
    c->udp.wire = (ff_obsw_wire){o->packets == 1, (uint16_t)o->apid, (uint16_t)o->command_apid};
    c->udp.timeout = o->timeout;
    c->udp.connect = o->connect;
    m->obsw.goal = o->goal;
    memcpy(m->obsw.q_start, base->arm.q, sizeof base->arm.q);
    memcpy(m->obsw.q_goal, o->q, sizeof o->q);
    m->obsw.approach = o->approach;
    m->obsw.arrive = o->arrive;
    m->obsw.sync_rate = o->sync_rate;
    m->obsw.hold_rate = o->hold_rate;
    m->obsw.arm_rate = o->arm_rate;
    m->obsw.grasp_rate = o->grasp_rate;
    m->obsw.grasp = FF_INF;
    m->held = ff_scenario_holds(s, servicer);
    for (int n = 0; n < s->contacts; n++) {
        const ff_contact *g = &s->contact[n];
        if (g->kind != FF_CONTACT_GRASP) {
            ff_contact *bump = &m->bump[m->bumps++];
            *bump = *g;
            bump->normal = ff_vec3_unit(g->normal);
            bump->body = SERVICER;
            bump->against = CLIENT;
            continue;
        }
        m->obsw.grasp = g->closes;
        m->opens = g->opens;
        m->grapple = g->at;
        m->grasp_reach = g->reach;
        m->grasp_stiffness = g->stiffness;
        m->grasp_damping = g->damping;
        m->grasp_rotation_stiffness = g->rotation_stiffness;
        m->grasp_rotation_damping = g->rotation_damping;
    }
}

static ff_rigid_load load_of(const void *of, int which, double t) {
    const ff_scenario *s = of;
    const int servicer = ff_scenario_servicer(s);
    return ff_scenario_load_at(s, which == SERVICER ? servicer : 1 - servicer, t);
}

typedef struct feeder {
    const ff_scenario *scenario;
    const ff_run_options *options;
    ff_run_result *result;
    ff_rigid_model model[FF_MAX_BODIES];
    ff_row row;
    int servicer;
} feeder;

static void fill_servicer(const ff_mission_row *m, int joints, ff_row_servicer *row) {
    const ff_obsw_out *u = &m->actuation;
    for (int i = 0; i < joints; i++) {
        row->q[i] = m->q[i];
        row->qd[i] = m->qd[i];
        row->torque[i] = u->joint_torque[i];
        row->motor[i] = m->motor[i];
    }
    for (int i = 0; i < 3; i++) {
        row->thrust.f.a[i] = u->force[i];
        row->thrust.t.a[i] = u->torque[i];
    }
    row->thrust_saturated = m->thrust_saturated;
    row->motor_saturated = m->motor_saturated;
    row->phase = (int)u->phase;
    row->action = (int)m->action;
    row->W_c = m->W_c;
    row->W_a = u->storage;
    row->delta = u->dissipation;
    row->port_power = m->port_power;
    row->bound = m->bound;
}

/* Force of contact c of the scenario on the gripper, gripper axes. *bump counts the planes before it. */
static ff_vec3 part_of(const ff_scenario *s, const ff_mission_row *m, int c, int *bump, bool *touching) {
    const bool grasp = s->contact[c].kind == FF_CONTACT_GRASP;
    const ff_vec3 force = grasp ? m->grip.f : m->bump[(*bump)++];
    *touching = grasp ? m->held : ff_vec3_norm(force) > 0.0;
    return force;
}

static ff_status feed(void *self, const ff_mission_row *m) {
    feeder *f = self;
    const ff_scenario *s = f->scenario;
    ff_row *row = &f->row;
    const uint64_t k = f->result->cycles;
    const ff_run_access access = {.k = k, .t = m->t};
    if (f->options->between && !f->options->between(f->options->between_user, &access)) {
        snprintf(f->result->message, sizeof f->result->message, "stopped at %.3f s", m->t);
        return FF_ERR_LIMIT;
    }
    *row = (ff_row){.k = k, .t = m->t, .final = k == s->cycles, .compute_ns = m->step_ns};
    for (int i = 0; i < 2; i++) {
        ff_row_body *b = &row->body[i];
        const int which = i == f->servicer ? SERVICER : CLIENT;
        b->satellite = which == SERVICER ? m->base : m->client;
        b->ideal.position.x = FF_NAN;
        if (f->options->ideal && k < f->options->ideal->samples)
            b->ideal = f->options->ideal->state[2 * k + (uint64_t)i];
        b->command = m->sent[which].to;
        b->lag = m->sent[which].lag;
        b->limited = m->sent[which].limited;
        f->result->limited += b->limited;
        b->robot = m->robot[which];
        b->inertial = m->inertial[which];
        b->measured_b = which == SERVICER ? m->on_base : m->on_client;
        b->corrected_b = m->felt[which];
        b->load = m->load[which];
        b->energy.kinetic = ff_rigid_kinetic_energy(&f->model[i], &b->satellite);
        b->in_contact = m->held || ff_vec3_norm(m->F_e.f) > 0.0;
        b->identified_stiffness = b->identified_damping = b->identified_damping_sd = FF_NAN;
        for (int a = 0; a < 6; a++)
            b->observer[a] = FF_NAN;
        b->observer[0] = i == 0 ? m->observer : FF_NAN;
    }
    for (int c = 0, bump = 0; c < s->contacts; c++) {
        const ff_vec3 force = part_of(s, m, c, &bump, &row->touching[c]);
        row->contact_force[c] = ff_quat_rotate(m->gripper, force);
    }
    fill_servicer(m, s->satellite[f->servicer].arm.joints, &row->servicer);
    const ff_status status = ff_sinks_row(f->options->sinks, f->options->count, row);
    if (status < 0)
        return status;
    if (m->step_ns > f->result->cycle_max_ns)
        f->result->cycle_max_ns = m->step_ns;
    if (f->options->progress && k % (s->cycles / 128 + 1) == 0 &&
        !f->options->progress(f->options->user, (double)k / (double)s->cycles))
        return FF_ERR_LIMIT;
    if (k < s->cycles)
        f->result->cycles = k + 1;
    return FF_OK;
}

void ff_capture_run(const ff_scenario *scenario, const ff_run_options *options, ff_run_result *result) {
    ff_capture_parts *parts = malloc(sizeof *parts);
    ff_mission_config *mission = malloc(sizeof *mission);
    feeder *f = calloc(1, sizeof *f);
    *result = (ff_run_result){.status = FF_ERR_MEMORY};
    if (parts && mission && f) {
        ff_mission_info info = {0};
        const double begin = ff_clock_seconds();
        *f = (feeder){.scenario = scenario,
                      .options = options,
                      .result = result,
                      .servicer = ff_scenario_servicer(scenario)};
        for (int i = 0; i < 2; i++)
            ff_rigid_create(&scenario->satellite[i].rigid, &f->model[i]);
        ff_capture_mission(scenario, parts, mission);
        mission->computer.opener = options->opener;
        mission->computer.record = options->record;
        const ff_mission_sink sink = {f, feed};
        result->status = !scenario->method
                             ? ff_mission_orbit(mission, sink, result->message, sizeof result->message)
                             : ff_mission_run(mission, sink, &info, result->message, sizeof result->message);
        result->wall_s = ff_clock_seconds() - begin;
        result->cycle_mean_ns = info.step_ns;
        result->obsw = info.obsw;
        if (result->status < 0 && !result->message[0])
            snprintf(result->message, sizeof result->message, "%s", ff_status_text(result->status));
    }
    free(f);
    free(mission);
    free(parts);
}

enum { MOST_CONTACTS = 256 }; /* that are kept of one run: a gripper that chatters on a plane */

typedef struct gatherer {
    const ff_scenario *scenario;
    ff_ideal_result *result;
    int open[FF_MAX_CONTACTS]; /* place in the result; -1: not touched */
    int servicer;
    uint64_t k;
} gatherer;

static ff_status gather(void *self, const ff_mission_row *m) {
    gatherer *g = self;
    ff_ideal_result *r = g->result;
    if (g->k >= r->samples)
        return FF_OK;
    for (int i = 0; i < 2; i++) {
        const bool servicer = i == g->servicer;
        const ff_wrench f = servicer ? m->on_base : m->on_client;
        const ff_rigid_state *s = servicer ? &m->base : &m->client;
        r->state[2 * g->k + (uint64_t)i] = *s;
        r->contact_load[2 * g->k + (uint64_t)i] = ff_rigid_load_from_body(s->attitude, f);
    }
    for (int c = 0, bump = 0; c < g->scenario->contacts; c++) {
        bool touching;
        const double force = ff_vec3_norm(part_of(g->scenario, m, c, &bump, &touching));
        ff_ideal_contact *e = g->open[c] >= 0 ? &r->contact[g->open[c]] : NULL;
        if (!touching) {
            if (e)
                e->end = m->t;
            g->open[c] = -1;
            continue;
        }
        if (!e) {
            if (r->contacts == MOST_CONTACTS)
                continue;
            g->open[c] = r->contacts;
            e = &r->contact[r->contacts++];
            *e = (ff_ideal_contact){
                .contact = c, .start = m->t, .end = FF_NAN, .before = {m->base, m->client}};
        }
        e->after[0] = m->base;
        e->after[1] = m->client;
        e->peak_force = fmax(e->peak_force, force);
    }
    g->k++;
    return FF_OK;
}

ff_status ff_capture_reference(const ff_scenario *scenario, ff_obsw_opener *opener, ff_ideal_result *result,
                               char *message, size_t size) {
    memset(result, 0, sizeof *result);
    if (size)
        message[0] = 0;
    ff_capture_parts *parts = malloc(sizeof *parts);
    ff_mission_config *mission = malloc(sizeof *mission);
    const size_t values = 2 * (size_t)(scenario->cycles + 1);
    result->samples = scenario->cycles + 1;
    result->bodies = 2;
    result->state = calloc(values, sizeof *result->state);
    result->contact_load = calloc(values, sizeof *result->contact_load);
    result->contact = calloc(MOST_CONTACTS, sizeof *result->contact);
    ff_status status = FF_ERR_MEMORY;
    if (parts && mission && result->state && result->contact_load && result->contact) {
        gatherer g = {.scenario = scenario, .result = result, .servicer = ff_scenario_servicer(scenario)};
        for (int c = 0; c < FF_MAX_CONTACTS; c++)
            g.open[c] = -1;
        ff_capture_mission(scenario, parts, mission);
        mission->computer.opener = opener;
        status = ff_mission_orbit(mission, (ff_mission_sink){&g, gather}, message, size);
    }
    free(mission);
    free(parts);
    if (status != FF_OK)
        ff_ideal_free(result);
    return status;
}
