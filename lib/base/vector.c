#include "freefloat/base.h"

ff_vec3 ff_vec3_unit(ff_vec3 a) {
    /* Scale by the largest component first, so that neither tiny nor huge vectors lose their direction. */
    const double big = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (!(big > 0.0) || !isfinite(big))
        return ff_vec3_zero();
    a = ff_vec3_make(a.x / big, a.y / big, a.z / big);
    return ff_vec3_scale(1.0 / ff_vec3_norm(a), a);
}

ff_mat3 ff_mat3_identity(void) {
    return ff_mat3_diag(1.0, 1.0, 1.0);
}

ff_mat3 ff_mat3_diag(double a, double b, double c) {
    return (ff_mat3){{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
}

ff_mat3 ff_mat3_skew(ff_vec3 a) {
    return (ff_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}};
}

ff_mat3 ff_mat3_add(ff_mat3 a, ff_mat3 b) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] += b.m[i][j];
    return a;
}

ff_mat3 ff_mat3_scale(double s, ff_mat3 a) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a.m[i][j] *= s;
    return a;
}

ff_mat3 ff_mat3_mul(ff_mat3 a, ff_mat3 b) {
    ff_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

ff_mat3 ff_mat3_transpose(ff_mat3 a) {
    ff_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[j][i];
    return c;
}

double ff_mat3_det(ff_mat3 a) {
    return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
           a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
           a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}

ff_status ff_mat3_inverse(ff_mat3 a, ff_mat3 *inverse) {
    const double det = ff_mat3_det(a);
    double size = 1.0;
    for (int j = 0; j < 3; j++)
        size *= sqrt(a.m[0][j] * a.m[0][j] + a.m[1][j] * a.m[1][j] + a.m[2][j] * a.m[2][j]);
    if (!(fabs(det) > 1e-14 * size) || !isfinite(det))
        return FF_ERR_SINGULAR;
    const double s = 1.0 / det;
    ff_mat3 c;
    for (int i = 0; i < 3; i++) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            c.m[j][i] = s * (a.m[i1][j1] * a.m[i2][j2] - a.m[i1][j2] * a.m[i2][j1]); /* adjugate */
        }
    }
    *inverse = c;
    return FF_OK;
}

void ff_mat3_eigen(ff_mat3 a, ff_vec3 *values, ff_mat3 *vectors) {
    /* Cyclic Jacobi: at most a handful of sweeps for 3 x 3; the bound keeps the duration fixed. */
    ff_mat3 v = ff_mat3_identity();
    for (int sweep = 0; sweep < 16; sweep++) {
        const double off = fabs(a.m[0][1]) + fabs(a.m[0][2]) + fabs(a.m[1][2]);
        const double diag = fabs(a.m[0][0]) + fabs(a.m[1][1]) + fabs(a.m[2][2]);
        if (!(off > 1e-17 * diag))
            break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (a.m[p][q] == 0.0)
                    continue;
                const double theta = (a.m[q][q] - a.m[p][p]) / (2.0 * a.m[p][q]);
                const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < 3; k++) { /* a <- a J */
                    const double kp = a.m[k][p], kq = a.m[k][q];
                    a.m[k][p] = c * kp - s * kq;
                    a.m[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < 3; k++) { /* a <- J^T a */
                    const double pk = a.m[p][k], qk = a.m[q][k];
                    a.m[p][k] = c * pk - s * qk;
                    a.m[q][k] = s * pk + c * qk;
                }
                for (int k = 0; k < 3; k++) { /* v <- v J */
                    const double kp = v.m[k][p], kq = v.m[k][q];
                    v.m[k][p] = c * kp - s * kq;
                    v.m[k][q] = s * kp + c * kq;
                }
            }
    }
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 2; i++)
        for (int j = i + 1; j < 3; j++)
            if (a.m[order[j]][order[j]] < a.m[order[i]][order[i]]) {
                const int swap = order[i];
                order[i] = order[j];
                order[j] = swap;
            }
    ff_mat3 sorted;
    for (int j = 0; j < 3; j++) {
        values->a[j] = a.m[order[j]][order[j]];
        for (int i = 0; i < 3; i++)
            sorted.m[i][j] = v.m[i][order[j]];
    }
    if (ff_mat3_det(sorted) < 0.0)
        for (int i = 0; i < 3; i++)
            sorted.m[i][2] = -sorted.m[i][2];
    *vectors = sorted;
}
