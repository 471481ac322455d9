#include "freefloat/contact.h"

/* ------------------------------------------------------------------------------------------------- noise --
 *
 * Of two neighbouring samples a, b of white noise, a + b and a - b have the same distribution; of a contact,
 * whose force lasts, the sum is far larger. A pair counts when |a + b| < 2 |a - b|. That asks for a direction
 * in six dimensions only, and a Gaussian's direction says nothing of its size, so |a|^2 + |b|^2 of the pairs
 * that count is s^2 chi^2_6 without bias. No threshold takes part: a believed noise that is far too small
 * does not keep the true one from being measured. The first and the last sample of a contact count, and so
 * does an outlier; the median of many does not feel them. */
#define MEDIAN_CHI2_6 5.348120627447116
#define QUICK 0.1  /* change of the median's logarithm by one pair, at first ... */
#define SLOW 0.005 /* ... and later: the deviation then scatters by 3 % */
#define MEMORY 5.0 /* pairs over it: between both */
#define ODD_RUN 40 /* so many in a row on one side: the noise has changed */

double ff_noise_deviation(const ff_noise_state *state) {
    return sqrt(state->median / MEDIAN_CHI2_6);
}

double ff_noise_step(ff_noise_state *state, double start, ff_vec3 sample) {
    const double least = MEDIAN_CHI2_6 * FF_NOISE_LEAST * FF_NOISE_LEAST;
    if (!ff_vec3_finite(sample))
        return ff_noise_deviation(state);
    const ff_vec3 last = state->last;
    state->last = sample;
    if (!state->begun) {
        state->begun = true;
        state->median = fmax(MEDIAN_CHI2_6 * start * start, least);
        return ff_noise_deviation(state);
    }
    const ff_vec3 sum = ff_vec3_add(sample, last), change = ff_vec3_sub(sample, last);
    if (ff_vec3_dot(sum, sum) <= 4.0 * ff_vec3_dot(change, change)) {
        const bool above = ff_vec3_dot(sample, sample) + ff_vec3_dot(last, last) > state->median;
        state->run = above ? (state->run > 0 ? state->run + 1 : 1) : (state->run < 0 ? state->run - 1 : -1);
        state->samples++;
        double gain = fmin(fmax(MEMORY / (double)state->samples, SLOW), QUICK);
        if (state->run > ODD_RUN || state->run < -ODD_RUN) {
            gain = QUICK;
            state->run = above ? ODD_RUN : -ODD_RUN; /* does not grow for ever */
        }
        state->median = fmax(state->median * exp(above ? gain : -gain), least);
    }
    return ff_noise_deviation(state);
}

/* ---------------------------------------------------------------------------------------------- detector --
 */

void ff_detector_default(ff_detector_config *config) {
    *config = (ff_detector_config){
        .force_on = 0.0, .torque_on = 0.0, .multiple = 0.0, .off_ratio = 0.5, .quiet_cycles = 5};
}

ff_status ff_detector_validate(const ff_detector_config *config) {
    if (!(config->force_on >= 0.0) || !(config->torque_on >= 0.0) || !(config->multiple >= 0.0) ||
        !isfinite(config->multiple) || !(config->off_ratio >= 0.0) || !(config->off_ratio <= 1.0) ||
        config->quiet_cycles < 1)
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_detector_reset(ff_detector_state *state) {
    *state = (ff_detector_state){0};
}

void ff_detector_observe(const ff_detector_config *config, ff_detector_state *state, ff_wrench measured) {
    if (!(config->multiple > 0.0))
        return;
    const double n = config->multiple;
    const double force = n * ff_noise_step(&state->force_noise, config->force_on / n, measured.f);
    const double torque = n * ff_noise_step(&state->torque_noise, config->torque_on / n, measured.t);
    state->force_on = config->fixed ? 0.0 : force;
    state->torque_on = config->fixed ? 0.0 : torque;
}

double ff_detector_force_on(const ff_detector_config *config, const ff_detector_state *state) {
    return fmax(config->force_on, state->force_on);
}

bool ff_detector_step(const ff_detector_config *config, ff_detector_state *state, double force, double torque,
                      bool *began, bool *ended) {
    const double force_on = ff_detector_force_on(config, state),
                 torque_on = fmax(config->torque_on, state->torque_on);
    *began = *ended = false;
    if (!state->contact) {
        if (force > force_on || torque > torque_on) {
            state->contact = *began = true;
            state->quiet = 0;
        }
        return state->contact;
    }
    const bool quiet = force <= config->off_ratio * force_on && torque <= config->off_ratio * torque_on;
    state->quiet = quiet ? state->quiet + 1 : 0;
    if (state->quiet >= config->quiet_cycles) {
        state->contact = false;
        *ended = true;
    }
    return state->contact;
}

void ff_detector_run(const ff_detector_config *config, ff_detector_state *state, ff_wrench measured,
                     ff_detection *detected) {
    ff_detector_observe(config, state, measured);
    detected->contact = ff_detector_step(config, state, ff_vec3_norm(measured.f), ff_vec3_norm(measured.t),
                                         &detected->began, &detected->ended);
    detected->force_on = ff_detector_force_on(config, state);
    detected->force_noise = config->multiple > 0.0 ? ff_noise_deviation(&state->force_noise) : 0.0;
}
