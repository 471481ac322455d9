#include "freefloat/base.h"

bool ff_twist_finite(ff_twist a) {
    return 0.0 * a.w.x + 0.0 * a.w.y + 0.0 * a.w.z + 0.0 * a.v.x + 0.0 * a.v.y + 0.0 * a.v.z == 0.0;
}

bool ff_wrench_finite(ff_wrench a) {
    return ff_vec3_finite(a.t) && ff_vec3_finite(a.f);
}

ff_twist ff_twist_transform(ff_pose T_ab, ff_twist x_b) {
    const ff_vec3 w = ff_quat_rotate(T_ab.q, x_b.w);
    return (ff_twist){w, ff_vec3_add(ff_quat_rotate(T_ab.q, x_b.v), ff_vec3_cross(T_ab.p, w))};
}

ff_wrench ff_wrench_transform(ff_pose T_ab, ff_wrench x_b) {
    const ff_vec3 f = ff_quat_rotate(T_ab.q, x_b.f);
    return (ff_wrench){ff_vec3_add(ff_quat_rotate(T_ab.q, x_b.t), ff_vec3_cross(T_ab.p, f)), f};
}

ff_twist ff_twist_cross(ff_twist a, ff_twist b) {
    return (ff_twist){ff_vec3_cross(a.w, b.w), ff_vec3_add(ff_vec3_cross(a.w, b.v), ff_vec3_cross(a.v, b.w))};
}

ff_wrench ff_twist_cross_wrench(ff_twist a, ff_wrench b) {
    return (ff_wrench){ff_vec3_add(ff_vec3_cross(a.w, b.t), ff_vec3_cross(a.v, b.f)),
                       ff_vec3_cross(a.w, b.f)};
}

/* Coefficients of the SE(3) exponential for the angle a: A = (1 - cos a)/a^2, B = (a - sin a)/a^3. */
static void exp_coefficients(double a2, double *A, double *B) {
    if (a2 < 1e-4) { /* the first neglected terms are a^6/40320 and a^6/362880 */
        *A = 0.5 - a2 / 24.0 + a2 * a2 / 720.0;
        *B = 1.0 / 6.0 - a2 / 120.0 + a2 * a2 / 5040.0;
    } else {
        const double a = sqrt(a2), h = sin(0.5 * a);
        *A = 2.0 * h * h / a2;
        *B = (a - sin(a)) / (a2 * a);
    }
}

ff_pose ff_pose_exp(ff_twist x) {
    double A, B;
    exp_coefficients(ff_vec3_dot(x.w, x.w), &A, &B);
    const ff_vec3 wv = ff_vec3_cross(x.w, x.v);
    const ff_vec3 p = ff_vec3_axpy(B, ff_vec3_cross(x.w, wv), ff_vec3_axpy(A, wv, x.v));
    return (ff_pose){ff_quat_exp(x.w), p};
}

ff_twist ff_pose_log(ff_pose a) {
    const ff_vec3 w = ff_quat_log(a.q);
    const double t2 = ff_vec3_dot(w, w);
    /* V^-1 = 1 - [w]/2 + C [w]^2 with C = (1 - (t/2) cot(t/2))/t^2. */
    double C;
    if (t2 < 1e-4) {
        C = 1.0 / 12.0 + t2 / 720.0 + t2 * t2 / 30240.0;
    } else {
        const double t = sqrt(t2);
        C = (1.0 - 0.5 * t * cos(0.5 * t) / sin(0.5 * t)) / t2;
    }
    const ff_vec3 wp = ff_vec3_cross(w, a.p);
    const ff_vec3 v = ff_vec3_axpy(C, ff_vec3_cross(w, wp), ff_vec3_axpy(-0.5, wp, a.p));
    return (ff_twist){w, v};
}
