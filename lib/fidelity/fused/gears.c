/* fused: robots whose axes yield behind their motors. The encoders say where the motors are; where the tool
 * is follows from the wrench that the sensor reads and from the gears, at the time of that wrench. */
#include "fidelity/fused/fused.h"

#include <string.h>

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

/* J where the axes are, `angle` from the motors: of two axes the one nearer to the base turns the other, and
 * each moves the point on which the other turns. */
static void move_jacobian(const double J[6][6], const double *angle, double to[6][6]) {
    ff_vec3 w[6], v[6];
    for (int a = 0; a < 6; a++) {
        w[a] = ff_vec3_make(J[0][a], J[1][a], J[2][a]);
        v[a] = ff_vec3_make(J[3][a], J[4][a], J[5][a]);
    }
    for (int a = 0; a < 6; a++) {
        ff_vec3 turned = w[a], moved = v[a];
        for (int b = 0; b < 6; b++) {
            if (b < a)
                turned = ff_vec3_axpy(angle[b], ff_vec3_cross(w[b], w[a]), turned);
            moved =
                ff_vec3_axpy(angle[b], b < a ? ff_vec3_cross(w[b], v[a]) : ff_vec3_cross(w[a], v[b]), moved);
        }
        for (int r = 0; r < 3; r++) {
            to[r][a] = turned.a[r];
            to[3 + r][a] = moved.a[r];
        }
    }
}

/* J times the axes' values. */
ff_twist ff__fused_by_axes(const double J[6][6], const double *x) {
    ff_twist sum = ff_twist_zero();
    for (int a = 0; a < 6; a++)
        for (int r = 0; r < 3; r++) {
            sum.w.a[r] += J[r][a] * x[a];
            sum.v.a[r] += J[3 + r][a] * x[a];
        }
    return sum;
}

/* Motors run evenly over a cycle. A change of their rate, as the next cycle begins, is one of the axes' rate
 * against them; so the axes' own rate is kept. */
void ff__fused_give_way(fused_gears *z, const ff_gears *g, double T, fused_sample *x) {
    const fused_axes before = z->now;
    fused_axes *const now = &z->now;
    const ff_vec3 force = ff_quat_unrotate(x->T_r.q, x->force);
    ff_twist offset = ff_twist_zero();
    memcpy(z->K, g->stiffness, sizeof z->K);
    memcpy(z->D, g->damping, sizeof z->D);
    memcpy(z->I, g->inertia, sizeof z->I);
    memcpy(now->motor, g->motor, sizeof now->motor);
    for (int pass = 0; pass < 3; pass++) { /* the wrench acts where the axes are */
        double mean[6][6];
        move_jacobian(g->J, now->angle, now->J);
        for (int r = 0; r < 6; r++)
            for (int a = 0; a < 6; a++)
                mean[r][a] = 0.5 * (g->J[r][a] + now->J[r][a]);
        offset = ff__fused_by_axes((const double(*)[6])mean, now->angle);
        if (pass == 2)
            break;
        const ff_quat q = ff_quat_mul(ff_quat_exp(offset.w), x->T_r.q);
        const ff_vec3 t = ff_quat_rotate(q, x->torque), f = ff_quat_rotate(q, force);
        const double wrench[6] = {t.x, t.y, t.z, f.x, f.y, f.z};
        for (int a = 0; a < 6; a++) {
            double torque = 0.0;
            for (int r = 0; r < 6; r++)
                torque += now->J[r][a] * wrench[r];
            now->torque[a] = torque;
            if (!z->begun)
                continue;
            const double speed = (now->motor[a] - before.motor[a]) / T;
            double rate = z->moving ? before.rate[a] - speed : 0.0;
            now->angle[a] = before.angle[a];
            axis_step(g->stiffness[a], g->damping[a], g->inertia[a], T, before.torque[a], torque,
                      &now->angle[a], &rate);
            now->rate[a] = rate + speed;
        }
    }
    const ff_twist motion = ff__fused_by_axes((const double(*)[6])now->J, now->rate);
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
