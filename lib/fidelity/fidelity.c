#include "fidelity/internal.h"

const char *ff_method_name(ff_method method) {
    static const char *const names[FF_METHOD_COUNT] = {"ideal",   "direct", "tdpa",
                                                       "damping", "impact", "fused"};
    return (int)method >= 0 && method < FF_METHOD_COUNT ? names[method] : "unknown";
}

void ff_fidelity_default(ff_fidelity_config *config) {
    config->method = FF_METHOD_TDPA;
    ff_tdpa_default(&config->tdpa);
    config->pair = (ff_pair_config){.body = -1, .against = -1};
    ff_damping_default(&config->damping);
    ff_impact_default(&config->impact);
    ff_fused_default(&config->fused);
}

ff_status ff_fidelity_validate(const ff_fidelity_config *config) {
    switch (config->method) {
    case FF_METHOD_DIRECT:
        return FF_OK;
    case FF_METHOD_TDPA:
        return ff_detector_validate(&config->tdpa.detector);
    case FF_METHOD_DAMPING:
        return ff_damping_validate(&config->damping);
    case FF_METHOD_IMPACT:
        return ff_impact_validate(&config->impact);
    case FF_METHOD_FUSED:
        return ff_fused_validate(&config->fused);
    default:
        return FF_ERR_UNSUPPORTED;
    }
}

void ff_fidelity_reset(const ff_fidelity_model *model, const ff_rigid_state *body, ff_fidelity_state *state) {
    ff__tdpa_reset(&state->tdpa);
    state->pair = (ff_pair_state){0};
    ff__damping_reset(&state->damping);
    ff__impact_reset(&state->impact);
    ff_history_reset(&state->history);
    ff__fused_reset(model, body, &state->fused);
}

static void direct_step(const ff_fidelity_model *model, const ff_fidelity_in *in, ff_fidelity_out *out) {
    for (int i = 0; i < model->bodies; i++) {
        const ff_wrench f = in->sample[i].f_b;
        out->f_b[i] = f;
        out->in_contact[i] = ff_vec3_dot(f.f, f.f) > 0.0 || ff_vec3_dot(f.t, f.t) > 0.0;
    }
}

void ff_fidelity_step(const ff_fidelity_model *model, ff_fidelity_state *state, const ff_fidelity_in *in,
                      ff_rigid_state *body, ff_fidelity_out *out) {
    out->has_command = false;
    for (int i = 0; i < model->bodies; i++)
        out->lead[i] = 0.0;
    out->observers = 0;
    out->bounds = 0;
    out->look_back = 0;
    for (int i = 0; i < model->bodies; i++) {
        out->stiffness[i] = out->damping[i] = out->damping_sd[i] = FF_NAN;
        out->has_next[i] = false;
    }
    out->fused = NULL;
    switch (model->config.method) {
    case FF_METHOD_TDPA:
        ff__tdpa_step(model, &state->tdpa, in, body, out);
        if (model->config.pair.body >= 0)
            ff__pair_step(model, &state->pair, in, body, out);
        break;
    case FF_METHOD_DAMPING:
        ff__damping_step(model, &state->damping, in, body, out);
        break;
    case FF_METHOD_IMPACT:
        ff__impact_step(model, &state->impact, &state->history, in, body, out);
        break;
    case FF_METHOD_FUSED:
        ff__fused_step(model, &state->fused, in, body, out);
        break;
    default:
        direct_step(model, in, out);
        break;
    }
}

double ff__clamp_scale(double FV, double FHF, double T, double E) {
    if (T * FV + 0.5 * T * T * FHF <= E)
        return 1.0;
    if (!(E > 0.0))
        E = 0.0;
    /* The larger root; with a = T FHF/2: s = (-FV + sqrt(FV^2 + 4 a E/T))/(2 a), written without
     * cancellation. */
    const double a = 0.5 * T * FHF, root = sqrt(FV * FV + 4.0 * a * E / T);
    const double s = FV > 0.0 ? 2.0 * (E / T) / (FV + root) : (root - FV) / (2.0 * a);
    return fmin(1.0, fmax(0.0, s));
}

double ff_fidelity_lead(const ff_fidelity_model *model, const ff_fidelity_state *state, int body) {
    const ff_fidelity_config *config = &model->config;
    if (config->method == FF_METHOD_IMPACT && config->impact.prediction)
        return config->impact.delay[body];
    return config->method == FF_METHOD_FUSED ? state->fused.lead[body] : 0.0;
}
