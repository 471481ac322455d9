/* abi/parts.c - functions of the caller's in place of what a scenario names: a method, on-board software, the
 * law of a contact, a sensor. One that fails sets `halt`, and the run stops before its next cycle. */
#include "abi/internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------ a method
 * -- */

/* It answered with what cannot be: the first reason stands. */
static void stop(ffh_sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void stop(ffh_sim *sim, const char *format, ...) {
    if (sim->halt)
        return;
    sim->halt = 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sim->why, sizeof sim->why, format, arguments);
    va_end(arguments);
}

/* Model: where the method is; state: its memory, moved by memcpy. */
typedef struct model {
    ffh_sim *sim;
} model;

typedef struct memory {
    uint64_t k;
    double state[FFH_METHOD_STATE];
} memory;

static void put3(double to[3], ff_vec3 v) {
    memcpy(to, v.a, 3 * sizeof *to);
}

static void put4(double to[4], ff_quat q) {
    to[0] = q.w;
    to[1] = q.x;
    to[2] = q.y;
    to[3] = q.z;
}

static void fill_body(const ff_method_in *in, int i, ffh_method_body *to) {
    const ff_body_sample *s = &in->sample[i];
    put3(to->position, in->body[i].position);
    put4(to->attitude, in->body[i].attitude);
    put3(to->velocity, in->body[i].velocity);
    put3(to->angular_velocity, in->body[i].omega);
    put3(to->force, s->f_b.f);
    put3(to->torque, s->f_b.t);
    put3(to->robot_position, s->T_wr.p);
    put4(to->robot_attitude, s->T_wr.q);
    put3(to->robot_velocity, s->twist_r.v);
    put3(to->robot_angular_velocity, s->twist_r.w);
    put3(to->load_force, s->load.force);
    put3(to->load_torque, s->load.torque);
    to->mass = in->rigid[i].mass;
    to->in_contact = in->detected[i].contact;
    to->valid = s->valid;
}

static ff_status step(const void *model_, void *state, const ff_method_in *in, ff_method_out *out) {
    ffh_sim *sim = ((const model *)model_)->sim;
    ffh_method_io *io = sim->io;
    memory *m = state;
    io->k = (double)m->k;
    io->t = (double)m->k * in->cycle;
    io->cycle = in->cycle;
    io->bodies = in->bodies;
    for (int i = 0; i < in->bodies; i++) {
        fill_body(in, i, &io->in[i]);
        ffh_method_answer *a = &io->out[i];
        memcpy(a->force, io->in[i].force, sizeof a->force);
        memcpy(a->torque, io->in[i].torque, sizeof a->torque);
        a->in_contact = io->in[i].in_contact;
        a->observer = FF_NAN;
    }
    memcpy(io->state, m->state, sizeof m->state);
    m->k++;
    if (sim->halt || sim->step(sim->step_user, io) != 0) {
        sim->halt = 1;
        return FF_ERR_DEVICE;
    }
    if (!ff__abi_finite(io->state, FFH_METHOD_STATE)) {
        stop(sim, "method %s: its state at %.9g s is not finite", sim->method_name, io->t);
        return FF_ERR_DEVICE;
    }
    memcpy(m->state, io->state, sizeof m->state);
    for (int i = 0; i < in->bodies; i++) {
        const ffh_method_answer *a = &io->out[i];
        const bool force = ff__abi_finite(a->force, 3);
        if (!force || !ff__abi_finite(a->torque, 3)) {
            stop(sim, "method %s: its %s on '%.60s' at %.9g s is not finite", sim->method_name,
                 force ? "torque" : "force", sim->session->scenario.satellite[i].name, io->t);
            return FF_ERR_DEVICE;
        }
        out->f_b[i] = (ff_wrench){ff__abi_vec3(a->torque), ff__abi_vec3(a->force)};
        out->in_contact[i] = a->in_contact != 0.0;
    }
    if (!isnan(io->out[0].observer)) {
        out->observer[0][0] = io->out[0].observer;
        out->observers = 1;
    }
    return FF_OK;
}

static void *take_memory(size_t bytes) {
    return calloc(1, bytes);
}

static void give_memory(void *memory_, size_t bytes) {
    (void)bytes;
    free(memory_);
}

static int bring_method(ffh_sim *sim, const ffh_parts *parts, ffh_error *error) {
    const char *why = "";
    sim->step = parts->method;
    sim->step_user = parts->method_user;
    sim->io = parts->method_io;
    snprintf(sim->method_name, sizeof sim->method_name, "%s",
             parts->method_name ? parts->method_name : "own");
    sim->table = (ff_method){FF_METHOD(sim->method_name, "1", "brought by the caller"),
                             .needs = FF_NEEDS_DETECTION,
                             .can = FF_CAN_TREE | FF_CAN_RELATIVE,
                             .setting_bytes = sizeof(model),
                             .variants = 1,
                             .state_bytes = sizeof(memory),
                             .step = step};
    if (ff_method_find(sim->method_name) || strcmp(sim->method_name, "ideal") == 0)
        return ff__abi_fail(error, FFH_METHOD,
                            "the method is named '%s', as one that is built in; allowed: another name",
                            sim->method_name);
    if (!sim->io || ff_method_validate(&sim->table, &why) != FF_OK)
        return ff__abi_fail(error, FFH_METHOD, "the method '%s' is refused: %s", sim->method_name, why);
    ff_method_section_create(&sim->table, &sim->section);
    sim->library = (ff_method_library){.method = &sim->table,
                                       .section = &sim->section,
                                       .take = take_memory,
                                       .give = give_memory,
                                       .copies = true};
    const model settings = {sim};
    if (!ff_scenario_bring_method(&sim->session->scenario, &sim->library, &settings, sizeof settings))
        return ff__abi_fail(error, FFH_METHOD, "the scenario has settings for too many methods");
    snprintf(sim->session->label, sizeof sim->session->label, "%s", sim->method_name);
    return FFH_OK;
}

/* ------------------------------------------------------------------------------------ contacts and sensors
 * -- */

static double contact_force(void *self, double depth, double rate) {
    const ff__abi_part *part = self;
    const double force = part->sim->halt ? 0.0 : part->contact(part->user, depth, rate);
    if (isfinite(force))
        return force;
    stop(part->sim,
         "contact '%.60s': its law answers %g N at a depth of %.4g m and a rate of %.4g m/s, allowed: "
         "a finite force",
         part->name, force, depth, rate);
    return 0.0;
}

static int bring_contact(ffh_sim *sim, const char *name, ffh_contact_law *law, void *user, ffh_error *error) {
    ff_scenario *s = &sim->session->scenario;
    ff_contact *contact = NULL;
    for (int c = 0; c < s->contacts; c++)
        if (strcmp(s->contact[c].name, name) == 0)
            contact = &s->contact[c];
    if (!contact)
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: the scenario has no contact '%s'", sim->path, name);
    if (contact->kind == FF_CONTACT_GRASP || contact->kind == FF_CONTACT_STOPS)
        return ff__abi_fail(error, FFH_ARGUMENT,
                            "%s: contact '%s' is of kind %s, allowed for a law: wall, pair, cone", sim->path,
                            name, ff_contact_names[contact->kind]);
    ff__abi_part *part = &sim->contact[sim->contacts++];
    *part = (ff__abi_part){.sim = sim, .user = user, .contact = law, .name = contact->name};
    part->contact_law = (ff_contact_law){part, contact_force};
    contact->law = &part->contact_law;
    return FFH_OK;
}

static ff_wrench sensor_read(void *self, double t, ff_wrench f_s) {
    const ff__abi_part *part = self;
    double f[6];
    put3(f, f_s.f);
    put3(f + 3, f_s.t);
    if (!part->sim->halt && part->sensor(part->user, t, f) != 0)
        part->sim->halt = 1;
    if (!part->sim->halt && !ff__abi_finite(f, 6))
        stop(part->sim, "sensor of '%.60s': its law's reading at %.9g s is not finite", part->name, t);
    return (ff_wrench){ff__abi_vec3(f + 3), ff__abi_vec3(f)};
}

static int bring_sensor(ffh_sim *sim, const char *name, ffh_sensor_law *law, void *user, ffh_error *error) {
    ff_scenario *s = &sim->session->scenario;
    for (int i = 0; i < s->satellites; i++)
        if (strcmp(s->satellite[i].name, name) == 0) {
            if (i == ff_scenario_servicer(s))
                return ff__abi_fail(error, FFH_ARGUMENT,
                                    "%s: the sensor of '%s' is its arm's, which reads the contact as it is",
                                    sim->path, name);
            ff__abi_part *part = &sim->sensor[sim->sensors++];
            *part = (ff__abi_part){.sim = sim, .user = user, .sensor = law, .name = s->satellite[i].name};
            part->sensor_law = (ff_sensor_law){part, sensor_read};
            s->satellite[i].sensor.law = &part->sensor_law;
            return FFH_OK;
        }
    return ff__abi_fail(error, FFH_ARGUMENT, "%s: the scenario has no satellite '%s'", sim->path, name);
}

/* --------------------------------------------------------------------------------------- on-board software
 * -- */

static bool obsw_step(void *self, const ff_obsw_in *in, ff_obsw_out *out) {
    ffh_sim *sim = self;
    ffh_obsw_in *i = &sim->obsw_in;
    ffh_obsw_out *o = &sim->obsw_out;
    i->sequence = (double)in->sequence;
    i->t = in->t;
    i->camera_t = in->camera_t;
    i->star_tracker_t = in->star_tracker_t;
    i->gyro_t = in->gyro_t;
    i->encoder_t = in->encoder_t;
#define COPY(field) memcpy(i->field, in->field, sizeof i->field)
    COPY(client_position);
    COPY(client_attitude);
    COPY(client_velocity);
    COPY(client_angular_velocity);
    COPY(attitude);
    COPY(angular_velocity);
    COPY(q);
    COPY(qd);
#undef COPY
    *o = (ffh_obsw_out){.storage = FF_NAN, .dissipation = FF_NAN};
    const int answer = sim->halt ? -1 : sim->obsw(sim->obsw_user, i, o);
    if (answer < 0)
        sim->halt = 1;
    if (answer == 0 && !(ff__abi_finite(o->force, 3) && ff__abi_finite(o->torque, 3) &&
                         ff__abi_finite(o->joint_torque, FFH_JOINTS)))
        stop(sim, "on-board software: its answer at %.9g s is not finite", i->t);
    memcpy(out->force, o->force, sizeof out->force);
    memcpy(out->torque, o->torque, sizeof out->torque);
    memcpy(out->joint_torque, o->joint_torque, sizeof out->joint_torque);
    out->storage = o->storage;
    out->dissipation = o->dissipation;
    out->phase = o->phase >= 0.0 && o->phase < 4294967296.0 ? (uint32_t)o->phase : 0;
    return answer == 0;
}

static int bring_obsw(ffh_sim *sim, const ffh_parts *parts, ffh_error *error) {
    ff_scenario *s = &sim->session->scenario;
    const int servicer = ff_scenario_servicer(s);
    if (servicer < 0)
        return ff__abi_fail(error, FFH_ARGUMENT,
                            "%s: no satellite has an arm, so there is no on-board software", sim->path);
    sim->obsw = parts->obsw;
    sim->obsw_user = parts->obsw_user;
    sim->obsw_call = (ff_obsw_call){sim, obsw_step};
    s->satellite[servicer].obsw.call = &sim->obsw_call;
    return FFH_OK;
}

int ff__abi_bring(ffh_sim *sim, const ffh_parts *parts, ffh_error *error) {
    if (sim->session->scenario.emulates)
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: an emulation takes no parts", sim->path);
    int kind = parts->method ? bring_method(sim, parts, error) : FFH_OK;
    if (kind == FFH_OK && parts->obsw)
        kind = bring_obsw(sim, parts, error);
    if (parts->contacts > FF_MAX_CONTACTS || parts->sensors > FF_MAX_BODIES)
        return ff__abi_fail(error, FFH_ARGUMENT, "more laws than the scenario has contacts or sensors");
    for (int i = 0; i < parts->contacts && kind == FFH_OK; i++)
        kind =
            bring_contact(sim, parts->contact_name[i], parts->contact_law[i], parts->contact_user[i], error);
    for (int i = 0; i < parts->sensors && kind == FFH_OK; i++)
        kind = bring_sensor(sim, parts->sensor_body[i], parts->sensor_law[i], parts->sensor_user[i], error);
    return kind;
}
