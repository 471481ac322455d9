#include "facility/virtual.h"

static ff_status open(void *self, const double *lead, char *message, size_t size) {
    ff_virtual *v = self;
    v->plant = ff_plant_create(v->scenario, message, size);
    if (!v->plant)
        return FF_ERR_UNSUPPORTED;
    for (int i = 0; i < v->scenario->satellites; i++) {
        const ff_satellite *satellite = &v->scenario->satellite[i];
        if (lead[i] > 0.0) /* a predicting method was already running */
            ff_plant_set_lead(v->plant, i, lead[i]);
        ff_scenario_watched_output(satellite, v->scenario->cycle, &v->output[i].config);
    }
    return FF_OK;
}

/* What the output stages make of the commands of cycle k. */
static void bound(ff_virtual *v, const ff_setpoint *command, unsigned led, ff_setpoint *sent) {
    const double t = (double)v->k * v->scenario->cycle;
    for (int i = 0; i < v->scenario->satellites; i++) {
        if (led >> i & 1u)
            ff_output_target(&v->output[i].state, &command[i], t);
        else
            ff_output_brake(&v->output[i].state);
        ff_output_step(&v->output[i].config, &v->output[i].state, t, &v->output[i].out);
        /* a target that is sent as it is keeps its own twist, not the mean one of the step */
        const ff_output_out *out = &v->output[i].out;
        sent[i] = out->limited || out->braking ? out->to : command[i];
    }
}

/* Before t = 0 the robots have moved with the initial twist: they are one step behind the first command. */
static void begin_outputs(ff_virtual *v, const ff_setpoint *first) {
    const double T = v->scenario->cycle;
    for (int i = 0; i < v->scenario->satellites; i++) {
        const ff_twist V = first[i].twist;
        const ff_quat turn = ff_quat_exp(ff_vec3_scale(-T, V.w));
        const ff_pose before = {ff_quat_unit(ff_quat_mul(first[i].T.q, turn)),
                                ff_vec3_axpy(-T, V.v, first[i].T.p)};
        ff_output_reset(&v->output[i].state, before);
        v->output[i].state.velocity = V;
        v->output[i].state.moved = true;
    }
}

static void offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal) {
    ff_virtual *v = self;
    ff_setpoint sent[FF_MAX_BODIES];
    v->k = k;
    ff_plant_write_nominal(v->plant, nominal);
    if (v->watched) {
        if (k == 0)
            begin_outputs(v, next);
        for (int i = 0; i < v->scenario->satellites; i++) {
            if (k > 0)
                ff_output_confirm(&v->output[i].config, &v->output[i].state, true, false);
            v->output[i].before = v->output[i].state;
        }
        bound(v, next, led, sent);
        next = sent;
    }
    ff_plant_write(v->plant, k, next);
}

static ff_status wait(void *self, ff_sample *sample) {
    const ff_virtual *v = self;
    const ff_status status = ff_plant_read(v->plant, v->k, NULL, NULL);
    const ff_wrench_in *sensor = ff_plant_sensors(v->plant);
    const ff_sample_joints *joints = ff_plant_joints(v->plant);
    sample->k = v->k;
    if (joints)
        sample->joints = *joints;
    for (int i = 0; i < v->scenario->satellites; i++) {
        sample->body[i].sensor = sensor[i];
        if (v->watched) {
            sample->body[i].sent = v->output[i].out.to.T;
            sample->body[i].rests = v->output[i].out.rests;
        }
    }
    return status;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *arm) {
    ff_virtual *v = self;
    ff_setpoint sent[FF_MAX_BODIES];
    if (v->watched) {
        for (int i = 0; i < v->scenario->satellites; i++)
            v->output[i].state = v->output[i].before;
        if (k == 0) /* a predicting method commands ahead of what was offered */
            begin_outputs(v, command);
        bound(v, command, led, sent);
        command = sent;
    }
    ff_plant_write(v->plant, k, command);
    ff_plant_write_contact(v->plant, measured_b);
    ff_plant_write_arm(v->plant, arm);
}

static const ff_truth *truth(const void *self) {
    const ff_virtual *v = self;
    return ff_plant_truth(v->plant);
}

static void close(void *self) {
    ff_virtual *v = self;
    ff_plant_free(v->plant);
    v->plant = NULL;
}

ff_station ff_virtual_station(ff_virtual *self, const ff_scenario *scenario) {
    *self = (ff_virtual){.scenario = scenario, .watched = ff_scenario_watched(scenario)};
    return (ff_station){.self = self,
                        .open = open,
                        .offer = offer,
                        .wait = wait,
                        .write = write,
                        .truth = truth,
                        .close = close};
}
