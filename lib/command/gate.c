#include "freefloat/command.h"

void ff_gate_default(ff_gate_config *config) {
    *config = (ff_gate_config){.cycle = 0.004,
                               .velocity = FF_INF,
                               .acceleration = FF_INF,
                               .angular_velocity = FF_INF,
                               .angular_acceleration = FF_INF};
}

ff_status ff_gate_validate(const ff_gate_config *config) {
    if (!(config->cycle > 0.0) || !(config->velocity > 0.0) || !(config->acceleration > 0.0) ||
        !(config->angular_velocity > 0.0) || !(config->angular_acceleration > 0.0))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_gate_reset(ff_setpoint start, ff_gate_state *state, ff_gate_info *info) {
    *state = (ff_gate_state){.last = start, .started = true};
    *info = (ff_gate_info){0};
}

void ff_gate_hold(ff_gate_state *state, ff_setpoint *command) {
    state->last.twist = ff_twist_zero();
    *command = state->last;
}

/* Mean velocity of the step that may be taken: first the speed, then its change since the last step. */
static ff_vec3 limit_step(ff_vec3 step, ff_vec3 last, double speed, double change, bool *limited) {
    double size = ff_vec3_norm(step);
    if (size > speed) {
        step = ff_vec3_scale(speed / size, step);
        *limited = true;
    }
    const ff_vec3 d = ff_vec3_sub(step, last);
    size = ff_vec3_norm(d);
    if (size > change) {
        step = ff_vec3_axpy(change / size, d, last);
        *limited = true;
    }
    return step;
}

ff_status ff_gate_step(const ff_gate_config *config, ff_gate_state *state, ff_gate_info *info,
                       ff_setpoint wish, ff_setpoint *command) {
    if (!ff_pose_finite(wish.T) || !ff_twist_finite(wish.twist)) {
        info->held++;
        ff_gate_hold(state, command);
        return FF_INFO_HELD;
    }
    bool limited = false;
    const bool linear = isfinite(config->velocity) || isfinite(config->acceleration);
    const bool angular = isfinite(config->angular_velocity) || isfinite(config->angular_acceleration);
    const double T = config->cycle;
    if (linear) {
        const ff_vec3 step = ff_vec3_scale(1.0 / T, ff_vec3_sub(wish.T.p, state->last.T.p));
        const ff_vec3 v =
            limit_step(step, state->last.twist.v, config->velocity, config->acceleration * T, &limited);
        if (limited) {
            wish.T.p = ff_vec3_axpy(T, v, state->last.T.p);
            wish.twist.v = v;
        }
    }
    if (angular) {
        bool turned = false;
        const ff_vec3 step =
            ff_vec3_scale(1.0 / T, ff_quat_log(ff_quat_mul(ff_quat_conj(state->last.T.q), wish.T.q)));
        const ff_vec3 w = limit_step(step, state->last.twist.w, config->angular_velocity,
                                     config->angular_acceleration * T, &turned);
        if (turned) {
            wish.T.q = ff_quat_unit(ff_quat_mul(state->last.T.q, ff_quat_exp(ff_vec3_scale(T, w))));
            wish.twist.w = w;
        }
        limited |= turned;
    }
    state->last = wish;
    *command = wish;
    if (!limited)
        return FF_OK;
    info->limited++;
    return FF_INFO_LIMITED;
}
