#include "freefloat/base.h"

ff_quat ff_quat_unit(ff_quat q) {
    const double n = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(n > 0.0) || !isfinite(n))
        return ff_quat_identity();
    return (ff_quat){q.w / n, q.x / n, q.y / n, q.z / n};
}

ff_quat ff_quat_exp_large(ff_vec3 r) {
    const double a = ff_vec3_norm(r), c = cos(0.5 * a), s = a > 0.0 ? sin(0.5 * a) / a : 0.5;
    return (ff_quat){c, s * r.x, s * r.y, s * r.z};
}

ff_vec3 ff_quat_log(ff_quat q) {
    if (q.w < 0.0)
        q = (ff_quat){-q.w, -q.x, -q.y, -q.z};
    const ff_vec3 u = {{q.x, q.y, q.z}};
    const double s = ff_vec3_norm(u); /* sin(a/2) */
    if (s < 1e-9)
        return ff_vec3_scale(2.0 / q.w, u);
    return ff_vec3_scale(2.0 * atan2(s, q.w) / s, u);
}

ff_quat ff_quat_slerp(ff_quat a, ff_quat b, double s) {
    const ff_vec3 r = ff_quat_log(ff_quat_mul(ff_quat_conj(a), b));
    return ff_quat_mul(a, ff_quat_exp(ff_vec3_scale(s, r)));
}

double ff_quat_angle(ff_quat a, ff_quat b) {
    return ff_vec3_norm(ff_quat_log(ff_quat_mul(ff_quat_conj(a), b)));
}

ff_mat3 ff_quat_to_mat3(ff_quat q) {
    const double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    const double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    const double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (ff_mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                      {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                      {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}

ff_quat ff_quat_from_mat3(ff_mat3 r) {
    /* Start from the largest of the four components: never divides by a small number. */
    const double t[4] = {r.m[0][0] + r.m[1][1] + r.m[2][2], r.m[0][0] - r.m[1][1] - r.m[2][2],
                         r.m[1][1] - r.m[0][0] - r.m[2][2], r.m[2][2] - r.m[0][0] - r.m[1][1]};
    int i = 0;
    for (int k = 1; k < 4; k++)
        if (t[k] > t[i])
            i = k;
    const double big = 0.5 * sqrt(fmax(0.0, 1.0 + t[i])), s = 0.25 / big;
    ff_quat q;
    switch (i) {
    case 0:
        q = (ff_quat){big, s * (r.m[2][1] - r.m[1][2]), s * (r.m[0][2] - r.m[2][0]),
                      s * (r.m[1][0] - r.m[0][1])};
        break;
    case 1:
        q = (ff_quat){s * (r.m[2][1] - r.m[1][2]), big, s * (r.m[0][1] + r.m[1][0]),
                      s * (r.m[0][2] + r.m[2][0])};
        break;
    case 2:
        q = (ff_quat){s * (r.m[0][2] - r.m[2][0]), s * (r.m[0][1] + r.m[1][0]), big,
                      s * (r.m[1][2] + r.m[2][1])};
        break;
    default:
        q = (ff_quat){s * (r.m[1][0] - r.m[0][1]), s * (r.m[0][2] + r.m[2][0]), s * (r.m[1][2] + r.m[2][1]),
                      big};
        break;
    }
    return ff_quat_unit(q);
}

ff_quat ff_quat_from_abc(double a, double b, double c) {
    const ff_quat qa = {cos(0.5 * a), 0, 0, sin(0.5 * a)}, qb = {cos(0.5 * b), 0, sin(0.5 * b), 0},
                  qc = {cos(0.5 * c), sin(0.5 * c), 0, 0};
    return ff_quat_mul(qa, ff_quat_mul(qb, qc));
}

void ff_quat_to_abc(ff_quat q, double *a, double *b, double *c) {
    const ff_mat3 r = ff_quat_to_mat3(q);
    const double cb = sqrt(r.m[0][0] * r.m[0][0] + r.m[1][0] * r.m[1][0]);
    *b = atan2(-r.m[2][0], cb);
    if (cb > 1e-9) {
        *a = atan2(r.m[1][0], r.m[0][0]);
        *c = atan2(r.m[2][1], r.m[2][2]);
    } else { /* gimbal lock: only the sum or difference is defined; put it all into a */
        *a = atan2(-r.m[0][1], r.m[1][1]);
        *c = 0.0;
    }
}

/* All numbers at once: zero times one that is not finite is not zero. */
bool ff_pose_finite(ff_pose pose) {
    const ff_quat q = pose.q;
    const ff_vec3 p = pose.p;
    return 0.0 * q.w + 0.0 * q.x + 0.0 * q.y + 0.0 * q.z + 0.0 * p.x + 0.0 * p.y + 0.0 * p.z == 0.0;
}

ff_pose ff_pose_interpolate(ff_pose a, ff_pose b, double s) {
    return (ff_pose){ff_quat_slerp(a.q, b.q, s), ff_vec3_axpy(s, ff_vec3_sub(b.p, a.p), a.p)};
}
