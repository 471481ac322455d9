#include "freefloat/command.h"

void ff_gate_default(ff_gate_config *config) {
    *config = (ff_gate_config){.cycle = 0.004,
                               .velocity = FF_INF,
                               .acceleration = FF_INF,
                               .angular_velocity = FF_INF,
                               .angular_acceleration = FF_INF,
                               .jerk = FF_INF,
                               .angular_jerk = FF_INF};
}

ff_status ff_gate_validate(const ff_gate_config *config) {
    if (!(config->cycle > 0.0) || !(config->velocity > 0.0) || !(config->acceleration > 0.0) ||
        !(config->angular_velocity > 0.0) || !(config->angular_acceleration > 0.0) || !(config->jerk > 0.0) ||
        !(config->angular_jerk > 0.0))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

void ff_gate_reset(ff_setpoint start, ff_gate_state *state, ff_gate_info *info) {
    *state = (ff_gate_state){.last = start};
    *info = (ff_gate_info){0};
}

void ff_gate_hold(ff_gate_state *state, ff_setpoint *command) {
    state->last.twist = ff_twist_zero();
    state->acceleration = ff_twist_zero();
    *command = state->last;
}

static bool has_limits(const ff_gate_config *c) {
    return isfinite(c->velocity) || isfinite(c->acceleration) || isfinite(c->jerk) ||
           isfinite(c->angular_velocity) || isfinite(c->angular_acceleration) || isfinite(c->angular_jerk);
}

ff_status ff_gate_step(const ff_gate_config *config, ff_gate_state *state, ff_gate_info *info,
                       ff_setpoint wish, ff_setpoint *command) {
    if (!ff_pose_finite(wish.T) || !ff_twist_finite(wish.twist)) {
        info->held++;
        ff_gate_hold(state, command);
        return FF_INFO_HELD;
    }
    ff_status status = FF_OK;
    ff_limiter_state now = {state->last.T, state->last.twist, state->acceleration};
    if (has_limits(config)) {
        const ff_limiter_config limits = {
            config->velocity,         config->acceleration,         config->jerk,
            config->angular_velocity, config->angular_acceleration, config->angular_jerk};
        /* The limiter meets a target given at the start of the step; the wish stands at its end. */
        const double T = config->cycle;
        ff_limiter_in in = {wish.T, wish.twist};
        in.pose.p = ff_vec3_axpy(-T, wish.twist.v, wish.T.p);
        in.pose.q = ff_quat_mul(wish.T.q, ff_quat_exp(ff_vec3_scale(-T, wish.twist.w)));
        status = ff_limiter_step(&limits, &now, &in, T);
    }
    if (status == FF_INFO_LIMITED) {
        wish = (ff_setpoint){now.pose, now.velocity};
        state->acceleration = now.acceleration;
        info->limited++;
    } else if (status < 0) { /* validated limits and finite poses leave no other way */
        info->held++;
        ff_gate_hold(state, command);
        return FF_INFO_HELD;
    } else {
        state->acceleration = ff_twist_zero();
    }
    state->last = wish;
    *command = wish;
    return status;
}
