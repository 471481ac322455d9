#include "rows/tuned.h"

#include <string.h>

static const ff_detector_config *find(const ff_fidelity_config *f) {
    return f->method == FF_METHOD_TDPA      ? &f->tdpa.detector
           : f->method == FF_METHOD_DAMPING ? &f->damping.detector
                                            : NULL;
}

ff_detector_config *ff_tuned_detector(ff_fidelity_config *fidelity) {
    return (ff_detector_config *)(uintptr_t)find(fidelity); /* not const there, so not here */
}

void ff_tuned_get(const ff_loop_model *model, int bodies, ff_tuned *tuned) {
    const ff_detector_config *d = find(&model->fidelity.config);
    tuned->known = true;
    tuned->fixed = d && d->fixed;
    tuned->force_on = d ? d->force_on : FF_NAN;
    tuned->torque_on = d ? d->torque_on : FF_NAN;
    for (int i = 0; i < bodies; i++)
        tuned->bias_s[i] = model->config.body[i].wrench.bias_s;
}

ff_status ff_tuned_apply(ff_loop_model *model, int bodies, const ff_tuned *tuned) {
    ff_detector_config *d = ff_tuned_detector(&model->fidelity.config);
    if (d) {
        ff_detector_config next = *d;
        next.force_on = tuned->force_on;
        next.torque_on = tuned->torque_on;
        next.fixed = tuned->fixed;
        if (ff_detector_validate(&next) != FF_OK)
            return FF_ERR_ARGUMENT;
        *d = next;
    } else if (!isnan(tuned->force_on) || !isnan(tuned->torque_on)) {
        return FF_ERR_ARGUMENT;
    }
    for (int i = 0; i < bodies; i++)
        model->config.body[i].wrench.bias_s = tuned->bias_s[i];
    return FF_OK;
}

void ff_tuned_put(const ff_tuned *tuned, int bodies, double values[FF_TUNED_VALUES]) {
    values[0] = tuned->force_on;
    values[1] = tuned->torque_on;
    values[2] = tuned->fixed;
    for (int i = 0; i < bodies; i++) {
        memcpy(&values[3 + 6 * i], tuned->bias_s[i].f.a, 3 * sizeof *values);
        memcpy(&values[6 + 6 * i], tuned->bias_s[i].t.a, 3 * sizeof *values);
    }
}

void ff_tuned_take(const double values[FF_TUNED_VALUES], int bodies, ff_tuned *tuned) {
    *tuned =
        (ff_tuned){.known = true, .fixed = values[2] != 0.0, .force_on = values[0], .torque_on = values[1]};
    for (int i = 0; i < bodies; i++) {
        memcpy(tuned->bias_s[i].f.a, &values[3 + 6 * i], 3 * sizeof *values);
        memcpy(tuned->bias_s[i].t.a, &values[6 + 6 * i], 3 * sizeof *values);
    }
}
