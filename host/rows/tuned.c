#include "rows/tuned.h"

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
