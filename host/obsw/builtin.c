#include "obsw/builtin.h"

#include <math.h>

void ff_builtin_default(ff_builtin_config *config) {
    *config = (ff_builtin_config){.goal = ff_pose_identity(),
                                  .approach = 9.1,
                                  .arrive = 31.0,
                                  .grasp = 32.6,
                                  .release = FF_INF,
                                  .sync_rate = 1.2,
                                  .hold_rate = 0.6,
                                  .arm_rate = 3.0,
                                  .grasp_rate = 25.0,
                                  .detumble = FF_INF,
                                  .detumble_damping = 2e4};
}

static ff_vec3 vec(const double *a) {
    return ff_vec3_make(a[0], a[1], a[2]);
}

/* 10 s^3 - 15 s^4 + 6 s^5 with its two derivatives. */
static void quintic(double s, double *x, double *dx, double *ddx) {
    s = fmin(1.0, fmax(0.0, s));
    *x = s * s * s * (10 + s * (-15 + 6 * s));
    *dx = s * s * (30 + s * (-60 + 30 * s));
    *ddx = s * (60 + s * (-180 + 120 * s));
}

/* Computed torque: accelerations that let the errors decay as e'' + 2 r e' + r^2 e = 0, turned into thruster
 * wrench and joint torques together by the inverse dynamics of base and arm. The equations are those of a
 * frame that moves along with the base (no force depends on its velocity), so only the rates are needed.
 *
 * Storage function of (24): W_a = sum (e'^2 + r^2 e^2)/2 over base and joints, so W_a' = -sum 2 r e'^2 =
 * -delta. After the grasp the arm alone is controlled (e'' + 4 r e' + r^2 e = 0): W_a is the joints', delta
 * is sum 4 r e'^2. delta is not negative but zero where e' is: the printed (24) asks for more than any such
 * controller has.
 *
 * To stop the tumble the thrusters brake the base by a pure torque against its rate, t = -d w: it takes
 * energy
 * (-d w^2) whatever is grasped, needs nothing of the client's inertia, and leaves the linear momentum of
 * both.
 */
void ff_builtin_step(const ff_builtin_config *config, const ff_obsw_in *in, ff_obsw_out *out) {
    const size_t n = ff_tree_joints(config->tree);
    const bool held = in->t >= config->grasp, released = in->t >= config->release;
    const bool stops = held && !released && in->t >= config->detumble;
    *out = (ff_obsw_out){.phase = released ? 4 : stops ? 5 : held ? 3 : in->t >= config->approach ? 2 : 1};

    /* base in the client's frame, from the camera */
    const double *a = in->client_attitude;
    const ff_pose T_bc = {ff_quat_unit((ff_quat){a[0], a[1], a[2], a[3]}), vec(in->client_position)};
    const ff_pose T_cb = ff_pose_inverse(T_bc);
    const ff_vec3 w_b = vec(in->angular_velocity), w_rel = ff_vec3_neg(vec(in->client_angular_velocity));
    const ff_vec3 w_c = ff_vec3_sub(w_b, w_rel); /* the client's rate, base axes */
    /* x = T_cb.p turned into base axes; its rate as the client sees it */
    const ff_vec3 x = ff_vec3_neg(T_bc.p);
    const ff_vec3 dx =
        ff_vec3_sub(ff_vec3_neg(vec(in->client_velocity)), ff_vec3_cross(ff_vec3_neg(w_rel), x));
    const double rate = in->t < config->approach ? config->sync_rate : config->hold_rate;
    const ff_vec3 e = ff_quat_rotate(T_bc.q, ff_vec3_sub(T_cb.p, config->goal.p));
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(config->goal.q), T_cb.q));
    const ff_vec3 ddx = ff_vec3_axpy(-2 * rate, dx, ff_vec3_scale(-rate * rate, e));
    const ff_vec3 dw = ff_vec3_axpy(-2 * rate, w_rel, ff_vec3_scale(-rate * rate, turn));
    ff_tree_acceleration acc;
    /* a = x'' + w x (w x x) + 2 w x x' in the client's rotating frame; the client itself does not accelerate
     */
    acc.base.v = ff_vec3_add(ff_vec3_add(ddx, ff_vec3_cross(w_c, ff_vec3_cross(w_c, x))),
                             ff_vec3_scale(2, ff_vec3_cross(w_c, dx)));
    acc.base.w = ff_vec3_sub(dw, ff_vec3_cross(w_rel, w_c));

    ff_tree_state s;
    s.base = ff_pose_identity();
    s.twist = (ff_twist){w_b, ff_vec3_zero()};
    double p, dp, ddp, storage = 0.0, dissipation = 0.0;
    if (!held) {
        const double speeds = ff_vec3_dot(dx, dx) + ff_vec3_dot(w_rel, w_rel);
        storage = 0.5 * (speeds + rate * rate * (ff_vec3_dot(e, e) + ff_vec3_dot(turn, turn)));
        dissipation = 2 * rate * speeds;
    }
    const double span = config->arrive - config->approach;
    quintic((in->t - config->approach) / span, &p, &dp, &ddp);
    for (size_t i = 0; i < n; i++) {
        const double span_q = config->q_goal[i] - config->q_start[i], r = config->arm_rate;
        const double error = in->q[i] - (config->q_start[i] + span_q * p),
                     derror = in->qd[i] - span_q * dp / span;
        s.q[i] = in->q[i];
        s.qd[i] = in->qd[i];
        const double g = config->grasp_rate;
        acc.qdd[i] = held ? -4 * g * in->qd[i] - g * g * error
                          : span_q * ddp / (span * span) - 2 * r * derror - r * r * error;
        storage += 0.5 * (derror * derror + (held ? g * g : r * r) * error * error);
        dissipation += (held ? 4 * g : 2 * r) * derror * derror;
    }
    /* Grasped or released, the arm alone holds, stiff and over-damped in the measure of its own inertia
     * (constant gains would make the light wrist diverge at the sampling rate): the base floats, the
     * thrusters are off, or brake. */
    if (held)
        acc.base = ff_twist_zero();
    ff_tree_force force;
    ff_tree_kinematics(config->tree, &s, config->work, ff_vec3_zero());
    ff_tree_inverse_dynamics(config->tree, config->work, &acc, NULL, &force);
    for (size_t i = 0; i < n; i++)
        out->joint_torque[i] = force.torque[i];
    if (!held) {
        for (int i = 0; i < 3; i++) {
            out->force[i] = force.base.f.a[i];
            out->torque[i] = force.base.t.a[i];
        }
    }
    for (int i = 0; stops && i < 3; i++)
        out->torque[i] = -config->detumble_damping * w_b.a[i];
    out->storage = storage;
    out->dissipation = dissipation;
}
