/* The controller's side of RSI, for the virtual facility. */
#include "devices/rsi/internal.h"

#include <string.h>

ff_rsi_controller_config ff_rsi_controller_config_default(ff_rsi_mode mode) {
    ff_rsi_controller_config config = {.names = ff_rsi_names_default(),
                                       .mode = mode,
                                       .fields = FF_RSI_RIST | FF_RSI_AIPOS | FF_RSI_EIPOS | FF_RSI_DELAY,
                                       .decimals = 6,
                                       .ipoc_start = 4,
                                       .ipoc_step = 4,
                                       .timeout = 10,
                                       .poscorr_rotation_deg = 5.0,
                                       .poscorrmon_translation_mm = 6.0,
                                       .poscorrmon_rotation_deg = 6.0};
    for (int i = 0; i < FF_RSI_TAGS; i++)
        config.holdon[i] = mode == FF_RSI_ABSOLUTE && i != FF_RSI_TAG_STOP;
    for (int i = 0; i < 3; i++) {
        config.poscorr_lower_mm[i] = -5.0;
        config.poscorr_upper_mm[i] = 5.0;
    }
    for (int i = 0; i < 12; i++) {
        config.axiscorr_lower[i] = -5.0;
        config.axiscorr_upper[i] = 5.0;
        config.axiscorrmon[i] = 6.0;
    }
    return config;
}

ff_status ff_rsi_controller_config_validate(const ff_rsi_controller_config *config) {
    bool good = ff_rsi_names_validate(&config->names) == FF_OK;
    good = good && (config->mode == FF_RSI_ABSOLUTE || config->mode == FF_RSI_RELATIVE);
    good = good && config->decimals >= 0 && config->decimals <= FF_TEXT_DECIMALS_MAX && config->ipoc_step > 0;
    good = good && (config->fields & (FF_RSI_RIST | FF_RSI_AIPOS)) && config->fields < 2 * FF_RSI_LIM;
    for (int i = 0; i < 3; i++)
        good = good && config->poscorr_lower_mm[i] <= 0.0 && config->poscorr_upper_mm[i] >= 0.0;
    for (int i = 0; i < 12; i++)
        good = good && config->axiscorr_lower[i] <= 0.0 && config->axiscorr_upper[i] >= 0.0 &&
               config->axiscorrmon[i] >= 0.0;
    good = good && config->poscorr_rotation_deg >= 0.0 && config->poscorrmon_translation_mm >= 0.0 &&
           config->poscorrmon_rotation_deg >= 0.0;
    return good ? FF_OK : FF_ERR_ARGUMENT;
}

void ff_rsi_controller_reset(const ff_rsi_controller_config *config, ff_rsi_controller_state *state) {
    *state = (ff_rsi_controller_state){.ipoc = config->ipoc_start, .rotation = {1, 0, 0, 0}};
}

ff_status ff_rsi_controller_send(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                 ff_rsi_rob *rob, char *buffer, size_t size, size_t *used) {
    *used = 0;
    if (state->stopped != FF_RSI_RUNNING)
        return FF_ERR_DEVICE;
    if (state->open)
        return FF_ERR_ARGUMENT;
    rob->fields = config->fields;
    rob->delay = state->info.late;
    rob->ipoc = state->ipoc;
    const ff_status status = ff_rsi_rob_encode(rob, config->decimals, buffer, size, used);
    if (status != FF_OK)
        return status;
    state->open = true;
    state->answered = false;
    state->info.sent++;
    return FF_OK;
}

ff_status ff_rsi_controller_receive(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                    const char *bytes, size_t size) {
    ff_rsi_sen sen;
    const ff_status status = ff_rsi_sen_decode(&config->names, bytes, size, &sen);
    if (status != FF_OK) {
        state->info.malformed++;
        return status;
    }
    if (!state->open || sen.ipoc != state->ipoc) {
        const bool past = state->info.sent > 0 && sen.ipoc < state->ipoc && sen.ipoc >= config->ipoc_start &&
                          (sen.ipoc - config->ipoc_start) % config->ipoc_step == 0;
        if (past)
            state->info.too_late++;
        else
            state->info.strange++;
        return past ? FF_INFO_STALE : FF_ERR_ARGUMENT;
    }
    if (state->answered) {
        state->info.repeated++;
        return FF_INFO_STALE;
    }
    state->sen = sen;
    state->answered = true;
    state->info.accepted++;
    return FF_OK;
}

static double clip(double x, double low, double high, bool *acted) {
    const double y = x < low ? low : x > high ? high : x;
    *acted |= y != x;
    return y;
}

static ff_rsi_correction correction_of(const ff_rsi_controller_config *config,
                                       const ff_rsi_controller_state *state) {
    ff_rsi_correction c;
    c.pose.q = state->rotation;
    for (int i = 0; i < 3; i++)
        c.pose.p.a[i] = state->translation_mm[i] / 1000.0;
    for (int i = 0; i < 6; i++) {
        c.axes[i] = state->axes[i] * DEG;
        c.external[i] = config->external_linear[i] ? state->axes[6 + i] / 1000.0 : state->axes[6 + i] * DEG;
    }
    return c;
}

/* Tags -> cumulative correction -> clip -> monitor. A correction that the monitor rejects is not applied. */
static ff_status apply(const ff_rsi_controller_config *config, ff_rsi_controller_state *state) {
    const bool relative = config->mode == FF_RSI_RELATIVE;
    bool acted = false, abort = false;
    double translation[3], length = 0.0;
    for (int i = 0; i < 3; i++) {
        const double x = state->value[i] + (relative ? state->translation_mm[i] : 0.0);
        translation[i] = clip(x, config->poscorr_lower_mm[i], config->poscorr_upper_mm[i], &acted);
        length += translation[i] * translation[i];
    }
    ff_quat rotation = rotation_of(state->value);
    if (relative)
        rotation = ff_quat_unit(ff_quat_mul(rotation, state->rotation));
    double angle = ff_quat_angle(rotation, ff_quat_identity()) / DEG;
    if (angle > config->poscorr_rotation_deg) {
        rotation = ff_quat_exp(ff_vec3_scale(config->poscorr_rotation_deg / angle, ff_quat_log(rotation)));
        angle = config->poscorr_rotation_deg;
        acted = true;
    }
    abort |= sqrt(length) > config->poscorrmon_translation_mm || angle > config->poscorrmon_rotation_deg;
    double axes[12];
    for (int i = 0; i < 12; i++) {
        const double x = state->value[FF_RSI_TAG_AXES + i] + (relative ? state->axes[i] : 0.0);
        axes[i] = clip(x, config->axiscorr_lower[i], config->axiscorr_upper[i], &acted);
        abort |= fabs(axes[i]) > config->axiscorrmon[i];
    }
    state->info.clipped += acted;
    if (abort) {
        state->stopped = FF_RSI_STOP_MONITOR;
        return FF_ERR_LIMIT;
    }
    memcpy(state->translation_mm, translation, sizeof translation);
    memcpy(state->axes, axes, sizeof axes);
    state->rotation = rotation;
    return acted ? FF_INFO_LIMITED : FF_OK;
}

ff_status ff_rsi_controller_finish(const ff_rsi_controller_config *config, ff_rsi_controller_state *state,
                                   ff_rsi_correction *correction) {
    *correction = correction_of(config, state);
    if (state->stopped != FF_RSI_RUNNING)
        return FF_ERR_DEVICE;
    if (!state->open)
        return FF_ERR_ARGUMENT;
    state->open = false;
    state->ipoc += config->ipoc_step;
    if (config->only_send)
        return FF_OK;
    const bool late = !state->answered;
    for (int i = 0; i < FF_RSI_TAGS; i++) {
        if (!late && (state->sen.tags & (1u << i)))
            state->value[i] = state->sen.value[i];
        else if (!config->holdon[i])
            state->value[i] = 0.0;
    }
    if (late) {
        state->info.late++;
        state->late_row++;
        const uint64_t count = config->timeout_total ? state->info.late : state->late_row;
        if (config->timeout && count >= config->timeout) {
            state->stopped = FF_RSI_STOP_TIMEOUT;
            return FF_ERR_DEVICE;
        }
    } else {
        state->late_row = 0;
        if (state->sen.has_text)
            memcpy(state->text, state->sen.text, sizeof state->text);
        if (state->value[FF_RSI_TAG_STOP] != 0.0) {
            state->stopped = FF_RSI_STOP_ASKED;
            return FF_ERR_DEVICE;
        }
    }
    const ff_status status = apply(config, state);
    *correction = correction_of(config, state);
    if (status == FF_ERR_LIMIT)
        return status;
    return late ? FF_INFO_HELD : status;
}
