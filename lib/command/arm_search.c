/* The inverse of any other arm, six axes or seven: damped least squares from where the joints were.
 *
 * With e the error of the flange (rotation vector, and translation over the arm's reach), J its Jacobian and
 * z where the seventh axis is wanted to go,
 *   dq = z + J^T (J J^T + mu 1)^-1 (e - J z),   mu = |e|^2 / 2 + a trifle
 * (damping by the error itself: Sugihara 2011; robust far away, quadratic near by). Six columns leave no null
 * space: z = 0. Each iteration is some 3 thousand instructions. */
#include "command/arm.h"

#include <string.h>

#define DAMPING 1e-14 /* keeps the solve definite at a singularity */
#define CLOSE 1e-13   /* [m], [rad] error at which nothing is left to gain */
#define STEP 0.4      /* [rad] largest of one iteration */
#define LEAD 0.1      /* part of its speed at which an axis at its end is led back */

typedef struct normal {
    double J[6][FF_ARM_AXES];
    double A[36];
    double e[6];
} normal;

/* Error and Jacobian at q; returns |e|. */
static double linearise(const ff_arm_model *m, const ff_pose *T_bf, const double *q, normal *n) {
    ff__arm_chain k;
    ff__arm_chain_at(m, q, &k);
    const double scale = 1.0 / m->reach;
    for (int i = 0; i < m->config.axes; i++) {
        const ff_vec3 v = ff_vec3_cross(k.axis[i], ff_vec3_sub(k.T_bf.p, k.point[i]));
        for (int r = 0; r < 3; r++) {
            n->J[r][i] = k.axis[i].a[r];
            n->J[3 + r][i] = scale * v.a[r];
        }
    }
    const ff_vec3 w = ff_quat_log(ff_quat_mul(T_bf->q, ff_quat_conj(k.T_bf.q)));
    double sum = 0.0;
    for (int r = 0; r < 3; r++) {
        n->e[r] = w.a[r];
        n->e[3 + r] = scale * (T_bf->p.a[r] - k.T_bf.p.a[r]);
        sum += n->e[r] * n->e[r] + n->e[3 + r] * n->e[3 + r];
    }
    return sqrt(sum);
}

static ff_status factor(const ff_arm_model *m, double damping, normal *n) {
    for (int r = 0; r < 6; r++)
        for (int c = 0; c <= r; c++) {
            double sum = r == c ? damping : 0.0;
            for (int i = 0; i < m->config.axes; i++)
                sum += n->J[r][i] * n->J[c][i];
            n->A[6 * r + c] = n->A[6 * c + r] = sum;
        }
    return ff_cholesky_factor(6, n->A);
}

/* Towards the middle of the ranges, the faster the nearer to an end. */
static void lead(const ff_arm_config *c, const double *q, double dt, double *z) {
    for (int i = 0; i < c->axes; i++) {
        const double half = 0.5 * (c->upper[i] - c->lower[i]), x = (q[i] - c->lower[i]) / half - 1.0;
        const double step = isfinite(c->speed[i]) ? c->speed[i] * dt : half;
        z[i] = -LEAD * fmin(step, half) * x * x * x;
    }
}

double ff__arm_search(const ff_arm_model *m, const ff_pose *T_bf, double *q, int iterations, double dt) {
    const int axes = m->config.axes;
    normal n;
    double z[FF_ARM_AXES] = {0}, left = linearise(m, T_bf, q, &n);
    for (int k = 0; k < iterations; k++) {
        if (axes == 7 && dt > 0.0 && k == 0)
            lead(&m->config, q, dt, z);
        else if (left < CLOSE)
            break;
        if (factor(m, 0.5 * left * left + DAMPING, &n) != FF_OK)
            break;
        double y[6], dq[FF_ARM_AXES], most = 0.0;
        for (int r = 0; r < 6; r++) {
            y[r] = n.e[r];
            for (int i = 0; i < axes; i++)
                y[r] -= n.J[r][i] * z[i];
        }
        ff_cholesky_solve(6, n.A, y);
        for (int i = 0; i < axes; i++) {
            dq[i] = z[i];
            for (int r = 0; r < 6; r++)
                dq[i] += n.J[r][i] * y[r];
            most = fmax(most, fabs(dq[i]));
        }
        const double part = most > STEP ? STEP / most : 1.0;
        for (int i = 0; i < axes; i++)
            q[i] += part * dq[i];
        memset(z, 0, sizeof z);
        const double before = left;
        left = linearise(m, T_bf, q, &n);
        if (!isfinite(left))
            return FF_INF;
        if (k > 0 && before < FF__ARM_FOUND && left > 0.5 * before) /* rounding is all there is */
            break;
    }
    return left * m->reach;
}

/* Spread evenly over the ranges, or half a turn to each side (Kronecker's sequence). */
void ff__arm_begin(const ff_arm_model *m, int n, double *q) {
    static const double part[FF_ARM_AXES] = {0.8986, 0.8075, 0.7256, 0.6520, 0.5859, 0.5265, 0.4731};
    const ff_arm_config *c = &m->config;
    for (int i = 0; i < c->axes; i++) {
        const double middle = 0.5 * (c->lower[i] + c->upper[i]);
        const double half = fmin(0.5 * (c->upper[i] - c->lower[i]), FF_PI);
        const double u = 0.5 + part[i] * (double)(n + 1);
        q[i] = middle + 0.9 * half * (2.0 * (u - floor(u)) - 1.0);
    }
}

double ff__arm_condition(const ff_arm_model *m, const double *q) {
    normal n;
    ff__arm_chain k;
    ff__arm_chain_at(m, q, &k);
    linearise(m, &k.T_bf, q, &n);
    if (factor(m, DAMPING, &n) != FF_OK)
        return 0.0;
    /* power iteration of the inverse: its largest eigenvalue is one over the smallest squared */
    double y[6] = {0.5, -0.4, 0.3, 0.45, 0.35, -0.42}, size = 1.0;
    for (int i = 0; i < 6; i++) {
        ff_cholesky_solve(6, n.A, y);
        size = 0.0;
        for (int r = 0; r < 6; r++)
            size += y[r] * y[r];
        size = sqrt(size);
        for (int r = 0; r < 6; r++)
            y[r] /= size;
    }
    return fmin(1.0, sqrt(fmax(0.0, 1.0 / size - DAMPING)));
}
