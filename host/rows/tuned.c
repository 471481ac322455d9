#include "rows/tuned.h"

const ff_setting *ff_tuned_setting(const ff_method *method, int n) {
    for (uint32_t i = 0; method && i < method->settings; i++)
        if (method->setting[i].effect && n-- == 0)
            return &method->setting[i];
    return NULL;
}

/* Of the method's settings that may be tuned, the first two: the thresholds of force and torque. */
void ff_tuned_get(const ff_loop_model *model, int bodies, ff_tuned *tuned) {
    const ff_method *method = model->config.method;
    const ff_settings *now = &model->config.setting;
    tuned->known = true;
    tuned->fixed = false;
    int n = 0;
    for (uint32_t i = 0; i < method->settings && n < FF_TUNED_SETTINGS; i++)
        if (method->setting[i].effect) {
            tuned->setting[n++] = ff_setting_value(&method->setting[i], now);
            tuned->fixed |= now->given >> i & 1u;
        }
    while (n < FF_TUNED_SETTINGS)
        tuned->setting[n++] = FF_NAN;
    for (int i = 0; i < bodies; i++)
        tuned->bias_s[i] = model->config.body[i].wrench.bias_s;
}

ff_status ff_tuned_apply(ff_loop_model *model, int bodies, const ff_tuned *tuned) {
    const ff_method *method = model->config.method;
    ff_settings next = model->config.setting;
    for (int n = 0; n < FF_TUNED_SETTINGS; n++) {
        const ff_setting *s = ff_tuned_setting(method, n);
        if (s ? ff_settings_set(method, &next, s->name, tuned->setting[n]) != FF_OK
              : !isnan(tuned->setting[n]))
            return FF_ERR_ARGUMENT;
        if (s && !tuned->fixed)
            ff_settings_forget(method, &next, s->name);
    }
    const ff_status status = ff_loop_update(model, &model->config.world, &next);
    if (status != FF_OK)
        return status;
    for (int i = 0; i < bodies; i++)
        model->config.body[i].wrench.bias_s = tuned->bias_s[i];
    return FF_OK;
}
