/* One cycle of a body, rigid or with joints. */
#include "freefloat/integrate.h"

static void output_of(const ff_body_state *state, ff_integrate_state *output) {
    output->velocity_c = state->motion.velocity;
    output->omega_c = state->motion.omega;
}

void ff_body_step(const ff_body *body, const ff_integrate_config *config, ff_body_work *work,
                  const ff_body_in *in, ff_body_state *state, ff_integrate_state *output,
                  ff_integrate_out *out) {
    const ff_rigid_state before = state->motion;
    const double T = config->cycle;
    if (!body->tree) {
        const ff_rigid_load loads = {
            ff_vec3_add(in->loads.force, ff_quat_rotate(before.attitude, in->thrust.f)),
            ff_vec3_add(in->loads.torque, in->thrust.t)};
        ff_integrate_step(config, &body->still.rigid, in->contact, loads, &state->motion, output, out);
        return;
    }
    const ff_wrench thrust = {ff_vec3_add(in->thrust.t, in->loads.torque),
                              ff_vec3_add(in->thrust.f, ff_quat_unrotate(before.attitude, in->loads.force))};
    ff_body_fly(body, work, T, in->contact, thrust, state);
    output_of(state, output);
    const ff_twist V0 = ff_rigid_twist(&before), V1 = ff_rigid_twist(&state->motion);
    *out = (ff_integrate_out){.contact = T * ff_rigid_power(in->contact, before.velocity, before.omega),
                              .loads = 0.5 * T * ff_power(thrust, ff_twist_add(V0, V1))};
}

void ff_body_finish(const ff_body *body, const ff_integrate_config *config, ff_body_work *work,
                    ff_rigid_load late, ff_body_state *state, ff_integrate_state *output,
                    ff_integrate_out *out) {
    const double T = config->cycle;
    if (!body->tree) {
        ff_integrate_finish(&body->still.rigid, T, late, &state->motion, output, out);
        return;
    }
    ff_body_fly_finish(work, T, late, state);
    output_of(state, output);
    out->contact *= 2.0; /* the port delivers T F.V at the start of the cycle, as for a rigid body */
}
