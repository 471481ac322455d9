/* The axes behind a pose: followed if every one can, else brought to rest together (freefloat/output.h). */
#include "freefloat/output.h"

void ff_axes_reset(ff_axes_state *state, const ff_arm_joints *at) {
    *state = (ff_axes_state){.at = *at, .sent = *at};
}

void ff_axes_confirm(ff_axes_state *state, bool accepted, bool stood) {
    const bool taken = state->pending && accepted;
    if (taken) {
        state->at = state->sent;
        state->rate = state->sent_rate;
    }
    if (!taken || stood)
        state->rate = (ff_arm_joints){0};
    state->pending = false;
}

void ff_axes_stand(ff_axes_state *state, const ff_arm_joints *at) {
    ff_axes_confirm(state, false, true);
    state->at = state->sent = *at;
}

void ff_axes_hold(ff_axes_state *state) {
    state->sent = state->at;
    state->sent_rate = (ff_arm_joints){0};
    state->pending = true;
    state->braking = false;
}

ff_axes_reason ff_axes_reach(const ff_arm_model *arm, const ff_pose *T_wt, double dt,
                             const ff_arm_joints *from, ff_arm_joints *joints, ff_axes_out *out) {
    *out = (ff_axes_out){.reason = FF_AXES_FOLLOW};
    if (ff_arm_inverse_after(arm, T_wt, from, dt, joints, &out->info) != FF_OK)
        return out->reason = FF_AXES_REACH;
    double most = 1.0;
    for (int a = 0; a < arm->config.axes; a++) {
        const double speed = fabs(joints->a[a] - from->a[a]) / dt, limit = arm->config.speed[a];
        if (!(speed <= most * limit)) {
            most = speed / limit;
            out->reason = FF_AXES_SPEED;
            out->axis = a + 1;
            out->speed = speed;
            out->limit = limit;
        }
    }
    return out->reason;
}

/* Every axis keeps its part of the motion: the line in axis space is straight, and all come to rest at once.
 */
static bool slow_down(const ff_arm_model *arm, double T, const ff_axes_state *state, ff_arm_joints *rate) {
    const ff_arm_config *c = &arm->config;
    double cycles = 0.0; /* until the slowest to stop stands */
    for (int a = 0; a < arm->config.axes; a++)
        cycles = fmax(cycles, fabs(state->rate.a[a]) * FF_AXES_STOP / (c->speed[a] * T));
    if (c->rail.rule != FF_ARM_RAIL_NONE)
        cycles = fmax(cycles, fabs(state->rate.rail) * FF_AXES_STOP / (c->rail.speed * T));
    const double part = cycles > 1.0 ? 1.0 - 1.0 / cycles : 0.0;
    for (int a = 0; a < arm->config.axes; a++)
        rate->a[a] = part * state->rate.a[a];
    rate->rail = part * state->rate.rail;
    return part == 0.0;
}

void ff_axes_step(const ff_arm_model *arm, double cycle, ff_axes_state *state, const ff_pose *T_wt,
                  ff_arm_joints *joints, ff_axes_out *out) {
    *out = (ff_axes_out){.reason = FF_AXES_FOLLOW};
    ff_arm_joints rate = {0};
    if (!state->braking)
        state->braking = ff_axes_reach(arm, T_wt, cycle, &state->at, joints, out) != FF_AXES_FOLLOW;
    if (state->braking) {
        out->rests = slow_down(arm, cycle, state, &rate);
        *joints = state->at;
        for (int a = 0; a < arm->config.axes; a++)
            joints->a[a] += cycle * rate.a[a];
        joints->rail += cycle * rate.rail;
    } else {
        for (int a = 0; a < arm->config.axes; a++)
            rate.a[a] = (joints->a[a] - state->at.a[a]) / cycle;
        rate.rail = (joints->rail - state->at.rail) / cycle;
    }
    state->sent = *joints;
    state->sent_rate = rate;
    state->pending = true;
}
