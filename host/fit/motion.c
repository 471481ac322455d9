#include "fit/motion.h"

ff_setpoint ff_motion_step(ff_motion_state *state, ff_pose T, double cycle, ff_twist *acceleration) {
    ff_setpoint now = {T, ff_twist_zero()};
    *acceleration = ff_twist_zero();
    if (state->known >= 1) {
        const ff_quat step = ff_quat_mul(ff_quat_conj(state->last[0].q), T.q);
        const ff_vec3 v1 = ff_vec3_scale(1.0 / cycle, ff_vec3_sub(T.p, state->last[0].p));
        const ff_vec3 w1 = ff_vec3_scale(1.0 / cycle, ff_quat_log(step));
        now.twist = (ff_twist){w1, v1};
        if (state->known >= 2) {
            const ff_vec3 v2 = ff_vec3_scale(1.0 / cycle, ff_vec3_sub(state->last[0].p, state->last[1].p));
            const ff_vec3 w2 = ff_quat_unrotate(step, state->w_last); /* into the newest axes */
            now.twist.v = ff_vec3_axpy(0.5, ff_vec3_sub(v1, v2), v1);
            now.twist.w = ff_vec3_axpy(0.5, ff_vec3_sub(w1, w2), w1);
            *acceleration = ff_twist_scale(1.0 / cycle, ff_twist_sub(now.twist, state->twist));
        }
        state->w_last = w1;
    }
    state->last[1] = state->last[0];
    state->last[0] = T;
    state->known += state->known < 2;
    state->twist = now.twist;
    return now;
}

ff_setpoint ff_motion_given(ff_motion_state *state, const ff_setpoint *now, double cycle,
                            ff_twist *acceleration) {
    const int known = state->known;
    const ff_twist before = state->twist;
    ff_motion_step(state, now->T, cycle, acceleration);
    *acceleration =
        known ? ff_twist_scale(1.0 / cycle, ff_twist_sub(now->twist, before)) : ff_twist_zero();
    state->twist = now->twist;
    return *now;
}
