#include "facility/virtual.h"

#include <string.h>

static ff_status open(void *self, const double *lead, char *message, size_t size) {
    ff_virtual *v = self;
    ff_status status;
    v->plant = ff_plant_create(v->scenario, message, size, &status);
    if (!v->plant)
        return status == FF_ERR_MEMORY ? status : FF_ERR_UNSUPPORTED; /* a scenario that is not for it */
    for (int i = 0; i < v->scenario->satellites; i++)
        if (lead[i] > 0.0) /* a predicting method was already running */
            ff_plant_set_lead(v->plant, i, lead[i]);
    ff_output_config bounds[FF_MAX_BODIES];
    ff_safety_config safety;
    ff_safety_configure(v->scenario, NULL, &safety);
    for (int i = 0; i < v->scenario->satellites; i++) {
        ff_scenario_watched_output(v->scenario, i, &bounds[i]);
        ff_safety_set_box(&safety, i, &bounds[i]);
        bounds[i].rest_unasked = !ff_scenario_watched(v->scenario);
    }
    ff_outputs_open(ff_scenario_bounded(v->scenario) || ff_scenario_predicts(v->scenario) ? bounds : NULL,
                    v->scenario->satellites, v->scenario->cycle, &v->outputs);
    v->unseen = !ff_scenario_watched(v->scenario) && ff_plant_late(v->plant);
    return FF_OK;
}

static void to_plant(ff_virtual *v, uint64_t k, const ff_sent *sent) {
    ff_setpoint to[FF_MAX_BODIES];
    for (int i = 0; i < v->scenario->satellites; i++)
        to[i] = sent[i].to;
    ff_plant_write(v->plant, k, to);
}

static void offer(void *self, uint64_t k, const ff_setpoint *next, unsigned led,
                  const ff_rigid_state *nominal) {
    ff_virtual *v = self;
    v->k = k;
    ff_plant_write_nominal(v->plant, nominal);
    const bool unseen = v->unseen && k > 0 && k != v->scenario->cycles; /* the last row has what is offered */
    ff_outputs_offer(&v->outputs, k, next, led, unseen, v->next);
    if (k == 0)
        memcpy(v->sent, v->next, sizeof v->sent);
    if (!unseen)
        to_plant(v, k, v->next);
}

static ff_status wait(void *self, ff_sample *sample) {
    const ff_virtual *v = self;
    const ff_status status = ff_plant_read(v->plant, v->k, NULL, NULL);
    const ff_wrench_in *sensor = ff_plant_sensors(v->plant);
    const ff_sample_joints *joints = ff_plant_joints(v->plant);
    sample->k = v->k;
    if (joints)
        sample->joints = *joints;
    for (int i = 0; i < v->scenario->satellites; i++) { /* what only devices report stays as it is: zero */
        ff_sample_body *body = &sample->body[i];
        body->sensor = sensor[i];
        body->sent = v->sent[i];
        body->next = v->next[i];
        body->rests = ff_outputs_rest(&v->outputs, i);
        body->rest = ff_outputs_ahead(&v->outputs, i);
        body->boxed = v->outputs.body[i].boxed;
    }
    return status;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, unsigned led,
                  const ff_wrench *measured_b, const ff_arm_order *arm, ff_sent *sent) {
    ff_virtual *v = self;
    ff_outputs_write(&v->outputs, k, command, led, v->sent);
    to_plant(v, k, v->sent);
    ff_plant_write_contact(v->plant, measured_b);
    ff_plant_write_arm(v->plant, arm);
    memcpy(sent, v->sent, (size_t)v->scenario->satellites * sizeof *sent);
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

void ff_virtual_keep(ff_virtual *v, ff_keeper *keeper) {
    ff_keep(keeper, &v->k, sizeof v->k);
    ff_keep(keeper, &v->outputs, sizeof v->outputs);
    ff_keep(keeper, v->sent, sizeof v->sent);
    ff_keep(keeper, v->next, sizeof v->next);
    ff_plant_keep(v->plant, keeper);
}

ff_station ff_virtual_station(ff_virtual *self, const ff_scenario *scenario) {
    *self = (ff_virtual){.scenario = scenario};
    return (ff_station){.self = self,
                        .open = open,
                        .offer = offer,
                        .wait = wait,
                        .write = write,
                        .truth = truth,
                        .close = close};
}
