#include "freefloat/contact.h"

void ff_detector_default(ff_detector_config *config) {
    *config = (ff_detector_config){.force_on = 0.0, .torque_on = 0.0, .off_ratio = 0.5, .quiet_cycles = 5};
}

ff_status ff_detector_validate(const ff_detector_config *config) {
    if (!(config->force_on >= 0.0) || !(config->torque_on >= 0.0) || !(config->off_ratio >= 0.0) ||
        !(config->off_ratio <= 1.0) || config->quiet_cycles < 1)
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_detector_reset(ff_detector_state *state) {
    *state = (ff_detector_state){0};
}

bool ff_detector_step(const ff_detector_config *config, ff_detector_state *state, double force, double torque,
                      bool *began, bool *ended) {
    *began = *ended = false;
    if (!state->contact) {
        if (force > config->force_on || torque > config->torque_on) {
            state->contact = *began = true;
            state->quiet = 0;
            state->cycles = 0;
        }
        return state->contact;
    }
    state->cycles++;
    const bool quiet =
        force <= config->off_ratio * config->force_on && torque <= config->off_ratio * config->torque_on;
    state->quiet = quiet ? state->quiet + 1 : 0;
    if (state->quiet >= config->quiet_cycles) {
        state->contact = false;
        *ended = true;
    }
    return state->contact;
}
