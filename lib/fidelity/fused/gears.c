/* fused: robots whose axes yield behind their motors. The encoders say where the motors are; where the tool
 * is follows from the wrench that the sensor reads and from the gears, at the time of that wrench. */
#include "fidelity/fused/fused.h"

/* One axis, I d'' + D d' + K d = torque, over T seconds with a torque that runs linearly from t0 to t1.
 * Without inertia it follows the torque at once. */
static void axis_step(double K, double D, double I, double T, double t0, double t1, double *d, double *rate) {
    const double slope = (t1 - t0) / T;
    if (!(I > 0.0)) {
        *d = t1 / K;
        *rate = slope / K;
        return;
    }
    const double a = 0.5 * D / I, square = K / I - a * a, w = sqrt(fabs(square)), x = w * T;
    const double C = square > 0.0 ? cos(x) : cosh(x);
    const double S = x < 1e-6 ? T : (square > 0.0 ? sin(x) : sinh(x)) / w;
    const double e = exp(-a * T), lag = D * slope / (K * K);
    const double z = *d - (t0 / K - lag), z_dot = *rate - slope / K; /* beside the forced motion */
    *d = t1 / K - lag + e * ((C + a * S) * z + S * z_dot);
    *rate = slope / K + e * ((C - a * S) * z_dot - K / I * S * z);
}

/* Motors run evenly over a cycle. A change of their rate, as the next cycle begins, is one of the axes' rate
 * against them; so the axes' own rate is kept. */
void ff__fused_give_way(fused_gears *z, const ff_gears *g, double T, fused_sample *x) {
    const ff_vec3 t = ff_quat_rotate(x->T_r.q, x->torque);
    const double wrench[6] = {t.x, t.y, t.z, x->force.x, x->force.y, x->force.z};
    ff_twist offset = ff_twist_zero(), motion = ff_twist_zero();
    for (int a = 0; a < 6; a++) {
        double torque = 0.0;
        for (int r = 0; r < 6; r++)
            torque += g->J[r][a] * wrench[r];
        const double speed = z->begun ? (g->motor[a] - z->motor[a]) / T : 0.0;
        if (z->begun) {
            double rate = z->moving ? z->rate[a] - speed : 0.0;
            axis_step(g->stiffness[a], g->damping[a], g->inertia[a], T, z->torque[a], torque, &z->angle[a],
                      &rate);
            z->rate[a] = rate + speed;
        }
        z->torque[a] = torque;
        z->motor[a] = g->motor[a];
        for (int r = 0; r < 3; r++) {
            offset.w.a[r] += g->J[r][a] * z->angle[a];
            offset.v.a[r] += g->J[3 + r][a] * z->angle[a];
            motion.w.a[r] += g->J[r][a] * z->rate[a];
            motion.v.a[r] += g->J[3 + r][a] * z->rate[a];
        }
    }
    x->T_r.p = ff_vec3_add(x->T_r.p, offset.v);
    x->T_r.q = ff_quat_mul(ff_quat_exp(offset.w), x->T_r.q);
    if (z->moving) { /* against what was reported in this cycle */
        x->twist_r.w =
            ff_vec3_add(x->twist_r.w, ff_vec3_sub(ff_quat_unrotate(x->T_r.q, motion.w), x->measured.twist.w));
        x->twist_r.v = ff_vec3_add(x->twist_r.v, ff_vec3_sub(motion.v, x->measured.twist.v));
    }
    z->moving = z->begun;
    z->begun = true;
}
