#include "facility/virtual.h"

static ff_status open(void *self, const double *lead, char *message, size_t size) {
    ff_virtual *v = self;
    v->plant = ff_plant_create(v->scenario, message, size);
    if (!v->plant)
        return FF_ERR_UNSUPPORTED;
    for (int i = 0; i < v->scenario->satellites; i++) /* a predicting method was already running */
        if (lead[i] > 0.0)
            ff_plant_set_lead(v->plant, i, lead[i]);
    return FF_OK;
}

static void offer(void *self, uint64_t k, const ff_setpoint *next, const ff_rigid_state *nominal) {
    ff_virtual *v = self;
    v->k = k;
    ff_plant_write_nominal(v->plant, nominal);
    ff_plant_write(v->plant, k, next);
}

static ff_status wait(void *self, ff_sample *sample) {
    const ff_virtual *v = self;
    const ff_status status = ff_plant_read(v->plant, v->k, NULL, NULL);
    const ff_wrench_in *sensor = ff_plant_sensors(v->plant);
    sample->k = v->k;
    for (int i = 0; i < v->scenario->satellites; i++)
        sample->body[i].sensor = sensor[i];
    return status;
}

static void write(void *self, uint64_t k, const ff_setpoint *command, const ff_wrench *measured_b) {
    const ff_virtual *v = self;
    ff_plant_write(v->plant, k, command);
    ff_plant_write_contact(v->plant, measured_b);
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
    *self = (ff_virtual){.scenario = scenario};
    return (ff_station){self, open, offer, wait, write, truth, close};
}
