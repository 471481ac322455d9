/* The nominal motion, and (11) integrated as it stands. */
#include "freefloat/integrate.h"

void ff_nominal_reset(const ff_nominal_config *config, ff_nominal_state *state) {
    state->motion = config->start;
    ff_integrate_reset(&config->start, &state->output);
}

static ff_rigid_state prescribed(const ff_rigid_state *from, double t) {
    const ff_twist V = ff_rigid_twist(from);
    ff_pose g = ff_pose_mul(ff_rigid_pose(from), ff_pose_exp(ff_twist_scale(t, V)));
    g.q = ff_quat_unit(g.q);
    return ff_rigid_from_twist(g, V);
}

void ff_nominal_step(const ff_nominal_config *config, const ff_integrate_config *scheme, uint64_t k,
                     ff_nominal_state *state) {
    static const ff_rigid_load none = {{{0, 0, 0}}, {{0, 0, 0}}};
    ff_integrate_out out;
    if (config->kind == FF_NOMINAL_FREE && scheme->scheme == FF_SCHEME_LIE_MIDPOINT)
        /* the same bits without the bookkeeping of forces that are not there */
        ff_integrate_coast(&config->model, scheme->cycle, scheme->cycle, &state->motion);
    else if (config->kind == FF_NOMINAL_FREE)
        ff_integrate_step(scheme, &config->model, none, none, &state->motion, &state->output, &out);
    else if (config->kind == FF_NOMINAL_PRESCRIBED)
        state->motion = prescribed(&config->start, (double)(k + 1) * scheme->cycle);
}

ff_rigid_state ff_nominal_coast(const ff_nominal_config *config, double h, double step,
                                const ff_rigid_state *motion) {
    ff_rigid_state moved = *motion;
    if (config->kind == FF_NOMINAL_PRESCRIBED)
        return prescribed(motion, h);
    ff_integrate_coast(&config->model, h, step, &moved);
    return moved;
}

static ff_twist nominal_rate(const ff_nominal_config *nominal, ff_twist V_n) {
    return nominal->kind == FF_NOMINAL_FREE
               ? ff_rigid_body_acceleration(&nominal->model, V_n, ff_wrench_zero())
               : ff_twist_zero();
}

/* A load (force inertial, torque body) in the axes of a body that stands at q_n q_c. */
static ff_wrench in_body(ff_quat q_n, ff_quat q_c, ff_rigid_load load) {
    return (ff_wrench){load.torque, ff_quat_unrotate(ff_quat_mul(q_n, q_c), load.force)};
}

static ff_pose advance(ff_pose g, double h, ff_twist V) {
    g = ff_pose_mul(g, ff_pose_exp(ff_twist_scale(h, V)));
    g.q = ff_quat_unit(g.q);
    return g;
}

/* The same conventions as in absolute coordinates. euler: all forces at t_k, pose with the newest velocity.
 * lie-midpoint: contact as an impulse at t_k, then the midpoint rule with one exponential on SE(3). */
void ff_relative_step(const ff_integrate_config *config, const ff_nominal_config *nominal,
                      const ff_rigid_model *model, ff_rigid_load contact, ff_rigid_load loads,
                      const ff_rigid_state *now, const ff_rigid_state *next, ff_rigid_state *body,
                      ff_integrate_state *state, ff_integrate_out *out) {
    const double T = config->cycle;
    const ff_rigid_state c = ff_relative_from_absolute(now, body), before = *body;
    const ff_pose g = ff_rigid_pose(&c);
    const ff_twist V_n = ff_rigid_twist(now), A_n = nominal_rate(nominal, V_n);
    ff_twist V = ff_rigid_twist(&c), mean;
    if (config->scheme == FF_SCHEME_EULER) {
        const ff_rigid_load sum = {ff_vec3_add(contact.force, loads.force),
                                   ff_vec3_add(contact.torque, loads.torque)};
        const ff_twist a = ff_relative_acceleration(model, g, V, V_n, A_n, in_body(now->attitude, g.q, sum));
        V = mean = ff_twist_add(V, ff_twist_scale(T, a));
    } else {
        const ff_wrench hit = in_body(now->attitude, g.q, contact);
        V.w = ff_vec3_axpy(T, ff_mat3_apply(&model->inertia_inv, hit.t), V.w);
        V.v = ff_vec3_axpy(T * model->mass_inv, hit.f, V.v);
        const ff_twist a =
            ff_relative_acceleration(model, g, V, V_n, A_n, in_body(now->attitude, g.q, loads));
        mean = ff_twist_add(V, ff_twist_scale(0.5 * T, a));
        const ff_twist V_h = ff_twist_add(V_n, ff_twist_scale(0.5 * T, A_n));
        const ff_quat q_h = ff_quat_mul(now->attitude, ff_quat_exp(ff_vec3_scale(0.5 * T, V_n.w)));
        const ff_pose g_h = advance(g, 0.5 * T, V);
        const ff_twist a_h = ff_relative_acceleration(model, g_h, mean, V_h, nominal_rate(nominal, V_h),
                                                      in_body(q_h, g_h.q, loads));
        V = ff_twist_add(V, ff_twist_scale(T, a_h));
    }
    const ff_rigid_state moved = ff_rigid_from_twist(advance(g, T, mean), V);
    *body = ff_relative_to_absolute(next, &moved);
    body->attitude = ff_quat_unit(body->attitude);
    state->velocity_c = body->velocity;
    state->omega_c = body->omega;

    out->contact = T * ff_rigid_power(contact, before.velocity, before.omega);
    out->loads = ff_vec3_dot(loads.force, ff_vec3_sub(body->position, before.position)) +
                 0.5 * T * ff_vec3_dot(loads.torque, ff_vec3_add(before.omega, body->omega));
    out->scheme = ff_rigid_kinetic_energy(model, body) - ff_rigid_kinetic_energy(model, &before) -
                  out->contact - out->loads;
}
