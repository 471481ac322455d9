#include "emulate/bounds.h"

/* Largest eigenvalue of a symmetric matrix, not below zero. */
static double largest_eigenvalue(size_t n, const double *A) {
    const double bound = ff_emulation_force_gain_bound(0.5, n, A); /* 1 / lambda_max */
    return isinf(bound) ? 0.0 : 1.0 / bound;
}

/* Of J J^T, by its distance from the trace, which no eigenvalue of it exceeds. */
static double smallest_of_gram(size_t n, size_t m, const double *J) {
    double G[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX], trace = 0.0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            G[i * n + k] = 0.0;
            for (size_t j = 0; j < m; j++)
                G[i * n + k] -= J[i * m + j] * J[k * m + j];
        }
    for (size_t i = 0; i < n; i++)
        trace -= G[i * n + i];
    for (size_t i = 0; i < n; i++)
        G[i * n + i] += trace;
    return trace - largest_eigenvalue(n, G);
}

void ff_emulate_bounds_see(ff_emulate_bounds *b, const ff_emulation_config *config,
                           const ff_mechanism *target, const double *q, const double *p_dot, double T,
                           ff_emulation_work *work) {
    const size_t n = target->task;
    double M[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX],
        rate[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX];
    double speed = 0.0;
    if (ff_emulation_cartesian_inertia(target, q, work, M) != FF_OK)
        return;
    const double least = smallest_of_gram(n, target->dof, work->s.J);
    for (size_t i = 0; i < n; i++)
        speed += p_dot[i] * p_dot[i];
    if (!b->begun) {
        b->force_gain = FF_INF;
        b->least = least;
    }
    for (size_t i = 0; i < n * n && b->begun; i++)
        rate[i] = (M[i] - b->inertia[i]) / T;
    if (b->begun)
        b->force_gain = fmin(b->force_gain, ff_emulation_force_gain_bound(config->velocity_gain, n, rate));
    b->speed = fmax(b->speed, sqrt(speed));
    b->least = fmin(b->least, least);
    for (size_t i = 0; i < n * n; i++)
        b->inertia[i] = M[i];
    b->begun = true;
}

double ff_emulate_bounds_ball(const ff_emulate_bounds *b, const ff_emulation_config *config) {
    return b->begun ? b->speed / (config->clik_gain * b->least) : FF_NAN;
}
