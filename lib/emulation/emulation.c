#include "freefloat/emulation.h"

/* [aghili, sections 2 and 3]. Departures from print, each with its reason:
 *   (10)  f_r reads f_a: there is only one contact force.
 *   (14)  e_f = -M_s e_p'': from (7), lambda = f + M_s (p_r'' - ~a_s). Hence 2.1 feeds back +G_f e_f; with
 * the printed sign the factor in front of e_p'' becomes I - G_f M_s and changes sign for a large gain. (18)
 * holds for a constant P only. Here v_s itself is integrated and P y is any vector of the null space, so no
 *         derivative of P appears.
 *   (19)  N y = P^T (B tau_s - h_s) - P^T M_s J_s^+ c: h_s stands on the left of (5), and the term of c moves
 * over. A wrong sign here still gives f = lambda; only the motion is wrong. (11)  the double integral of ~a_s
 * is a pose, integrated in the axes of the task, and p_r - it the logarithm of the pose error: minimal angles
 * are singular. */

enum { NEWTON_STEPS = 8 };
static const double CONSISTENT = 1e-13; /* [m], [rad]: smaller corrections are rounding */

void ff_emulation_default(ff_emulation_config *config) {
    *config = (ff_emulation_config){.scheme = FF_EMULATION_CONSTRAINED,
                                    .velocity_gain = 20.0,
                                    .position_gain = 100.0,
                                    .drift_compensation = true,
                                    .consistency = FF_CONSISTENCY_NEWTON,
                                    .clik_gain = 1e3,
                                    .singular_ratio = 1e-3};
    for (size_t i = 0; i < FF_EMULATION_TASK_MAX; i++)
        config->torque_max[i] = FF_INF;
}

static ff_status refuse(ff_status status, char *message, size_t size, const char *text) {
    if (message && size) {
        size_t i = 0;
        for (; i + 1 < size && text[i]; i++)
            message[i] = text[i];
        message[i] = '\0';
    }
    return status;
}

ff_status ff_emulation_validate(const ff_emulation_config *c, char *message, size_t size) {
    if (!isfinite(c->velocity_gain + c->position_gain + c->force_gain + c->clik_gain + c->singular_ratio))
        return refuse(FF_ERR_NOT_FINITE, message, size, "a gain is not finite");
    if (!(c->velocity_gain > 0.0))
        return refuse(FF_ERR_ARGUMENT, message, size, "gains.velocity must be > 0");
    if (!(c->position_gain > 0.0))
        return refuse(FF_ERR_ARGUMENT, message, size, "gains.position must be > 0");
    if (c->force_gain < 0.0)
        return refuse(FF_ERR_ARGUMENT, message, size, "gains.force must be >= 0");
    if (!(c->clik_gain > 0.0))
        return refuse(FF_ERR_ARGUMENT, message, size, "the closed-loop inverse kinematics' gain must be > 0");
    if (!(c->singular_ratio > 0.0) || c->singular_ratio >= 1.0)
        return refuse(FF_ERR_ARGUMENT, message, size, "singular_ratio must lie between 0 and 1");
    if (c->scheme == FF_EMULATION_FREE && !c->drift_compensation)
        return refuse(FF_ERR_ARGUMENT, message, size,
                      "the free scheme needs the drift compensation: nothing else holds the pose");
    for (size_t i = 0; i < FF_EMULATION_TASK_MAX; i++)
        if (!(c->torque_max[i] > 0.0))
            return refuse(FF_ERR_ARGUMENT, message, size, "torque limits must be > 0");
    return FF_OK;
}

ff_status ff_emulation_create(const ff_emulation_config *config, const ff_mechanism *target,
                              const ff_mechanism *robot, ff_emulation_model *model, char *message,
                              size_t size) {
    const ff_status status = ff_emulation_validate(config, message, size);
    if (status != FF_OK)
        return status;
    if (target->task != robot->task || target->spatial != robot->spatial ||
        robot->task > FF_EMULATION_TASK_MAX)
        return refuse(FF_ERR_SIZE, message, size, "target and robot must work in the same task");
    if (robot->dof != robot->task)
        return refuse(FF_ERR_SIZE, message, size,
                      "the robot needs as many joints as the task has directions");
    if (target->dof < target->task || target->dof > FF_EMULATION_DOF_MAX)
        return refuse(FF_ERR_SIZE, message, size,
                      "the target needs as many degrees of freedom as the task, at most 20");
    *model = (ff_emulation_model){*config, *target, *robot};
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------ small algebra --
 */

static void multiply(size_t rows, size_t columns, const double *A, const double *x, double *y) {
    for (size_t i = 0; i < rows; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < columns; j++)
            sum += A[i * columns + j] * x[j];
        y[i] = sum;
    }
}

/* y += A^T x */
static void add_transposed(size_t rows, size_t columns, const double *A, const double *x, double *y) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            y[j] += A[i * columns + j] * x[i];
}

static bool all_finite(size_t n, const double *x) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += 0.0 * x[i];
    return sum == 0.0;
}

/* Cholesky of a positive semidefinite Gram matrix. When its smallest pivot falls below ratio^2 of its mean
 * diagonal the matrix is near singular: the missing part is added to the diagonal, growing smoothly from
 * zero, so that the solution stays bounded [damped least squares]. Returns false when even that fails (values
 * that are not finite). */
static bool gram_factor(size_t n, const double *gram, double ratio, double *factor, bool *damped) {
    double mean = 0.0;
    for (size_t i = 0; i < n; i++)
        mean += gram[i * n + i] / (double)n;
    const double floor = ratio * ratio * mean;
    for (size_t i = 0; i < n * n; i++)
        factor[i] = gram[i];
    bool regular = ff_cholesky_factor(n, factor) == FF_OK;
    double least = 0.0;
    if (regular) {
        least = factor[0] * factor[0];
        for (size_t i = 1; i < n; i++)
            least = fmin(least, factor[i * n + i] * factor[i * n + i]);
        if (least >= floor)
            return true;
    }
    *damped = true;
    for (size_t i = 0; i < n * n; i++)
        factor[i] = gram[i] + (i % (n + 1) == 0 ? floor - fmax(least, 0.0) + 1e-3 * floor : 0.0);
    return ff_cholesky_factor(n, factor) == FF_OK;
}

/* G = J J^T */
static void gram(size_t n, size_t m, const double *J, double *G) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < m; j++)
                sum += J[i * m + j] * J[k * m + j];
            G[i * n + k] = G[k * n + i] = sum;
        }
}

/* ------------------------------------------------------------------------------------------------- target --
 */

/* q_s and v_s on the constraint: Appendix B for the pose, (15)-(17) for the velocity. */
static ff_status make_consistent(const ff_emulation_model *model, ff_emulation_work *work,
                                 const double *p_dot, ff_emulation_out *out) {
    const ff_mechanism *s = &model->target;
    const size_t n = s->task, m = s->dof;
    double phi[FF_EMULATION_TASK_MAX], step[FF_EMULATION_DOF_MAX];
    const bool newton = model->config.consistency == FF_CONSISTENCY_NEWTON;
    double previous = FF_INF;
    for (int pass = 0;; pass++) {
        ff_task_difference(s, &work->r.pose, &work->s.pose, phi);
        double norm = 0.0;
        if (!all_finite(n, phi)) /* fmax would pass over a NaN */
            return FF_ERR_NOT_FINITE;
        for (size_t i = 0; i < n; i++)
            norm = fmax(norm, fabs(phi[i]));
        gram(n, m, work->s.J, work->G);
        if (!gram_factor(n, work->G, model->config.singular_ratio, work->factor, &out->target_damped))
            return FF_ERR_SINGULAR;
        /* Near the end rounding stops the descent; far from it a step may overshoot and recover. */
        if (!newton || norm <= CONSISTENT || (norm <= 1e-10 && norm >= 0.5 * previous))
            break;
        if (pass == NEWTON_STEPS) {
            out->unconverged = norm > 1e-10;
            break;
        }
        previous = norm;
        ff_cholesky_solve(n, work->factor, phi);
        for (size_t j = 0; j < m; j++)
            step[j] = 0.0;
        add_transposed(n, m, work->s.J, phi, step);
        double moved[FF_EMULATION_POSITIONS_MAX];
        ff_mechanism_displace(s, work->q, step, moved);
        for (size_t i = 0; i < s->positions; i++)
            work->q[i] = moved[i];
        s->terms(s, work->q, work->v, FF_TERMS_POSITION, &work->s);
    }
    double miss[FF_EMULATION_TASK_MAX];
    multiply(n, m, work->s.J, work->v, miss);
    for (size_t i = 0; i < n; i++)
        miss[i] = p_dot[i] - miss[i];
    ff_cholesky_solve(n, work->factor, miss);
    add_transposed(n, m, work->s.J, miss, work->v);
    return FF_OK;
}

/* L of M_s and X = M_s^-1 J_s^T, by rows. */
static bool solve_inertia(size_t n, size_t m, ff_emulation_work *work) {
    for (size_t i = 0; i < m * m; i++)
        work->L[i] = work->s.M[i];
    if (ff_cholesky_factor(m, work->L) != FF_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < m; j++)
            work->X[i * m + j] = work->s.J[i * m + j];
        ff_cholesky_solve(m, work->L, work->X + i * m);
    }
    return true;
}

/* M_s^-1 J_s^T and J_s M_s^-1 J_s^T, factored. */
static ff_status factor_target(const ff_emulation_model *model, ff_emulation_work *work, const double *force,
                               bool *damped) {
    const size_t n = model->target.task, m = model->target.dof;
    if (!solve_inertia(n, m, work))
        return FF_ERR_SINGULAR;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < m; j++)
                sum += work->s.J[i * m + j] * work->X[k * m + j];
            work->G[i * n + k] = work->G[k * n + i] = sum;
        }
    if (!gram_factor(n, work->G, model->config.singular_ratio, work->A, damped))
        return FF_ERR_SINGULAR;
    for (size_t j = 0; j < m; j++)
        work->a0[j] = force[j] - work->s.h[j];
    ff_cholesky_solve(m, work->L, work->a0);
    return FF_OK;
}

/* x = J_r^-1 b; damped when the Jacobian is near singular, exact otherwise. */
static ff_status robot_inverse(const ff_emulation_model *model, ff_emulation_work *work, double *b,
                               bool *damped) {
    const size_t n = model->robot.task;
    double G[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX], x[FF_EMULATION_TASK_MAX] = {0};
    bool near = false;
    gram(n, n, work->r.J, G);
    if (!gram_factor(n, G, model->config.singular_ratio, work->factor, &near))
        return FF_ERR_SINGULAR;
    if (near) {
        *damped = true;
        ff_cholesky_solve(n, work->factor, b);
        add_transposed(n, n, work->r.J, b, x);
        for (size_t i = 0; i < n; i++)
            b[i] = x[i];
        return FF_OK;
    }
    for (size_t i = 0; i < n * n; i++)
        work->factor[i] = work->r.J[i];
    if (ff_lu_factor(n, work->factor, work->pivots) != FF_OK)
        return FF_ERR_SINGULAR;
    ff_lu_solve(n, work->factor, work->pivots, b);
    return FF_OK;
}

/* ------------------------------------------------------------------------------------------------- stages --
 */

static ff_status hold(const ff_emulation_model *model, const ff_emulation_state *state, ff_emulation_out *out,
                      ff_status status) {
    for (size_t i = 0; i < model->robot.task; i++)
        out->torque[i] = state->torque[i];
    return status;
}

ff_status ff_emulation_control(const ff_emulation_model *model, const ff_emulation_state *state,
                               ff_emulation_work *work, const ff_emulation_in *in, ff_emulation_out *out) {
    const ff_mechanism *s = &model->target, *r = &model->robot;
    const ff_emulation_config *c = &model->config;
    const size_t n = s->task, m = s->dof;
    double p_dot[FF_EMULATION_TASK_MAX], e_dot[FF_EMULATION_TASK_MAX], u[FF_EMULATION_TASK_MAX];
    out->robot_damped = out->target_damped = out->limited = out->unconverged = false;
    if (!all_finite(n, in->q_r) || !all_finite(n, in->v_r) || !all_finite(n, in->f) ||
        !all_finite(m, in->force) || (in->acceleration && !all_finite(n, in->acceleration)))
        return hold(model, state, out, FF_ERR_NOT_FINITE);
    if (c->force_gain > 0.0 && !in->acceleration)
        return hold(model, state, out, FF_ERR_ARGUMENT);

    r->terms(r, in->q_r, in->v_r, FF_TERMS_ALL, &work->r);
    multiply(n, n, work->r.J, in->v_r, p_dot);
    for (size_t i = 0; i < s->positions; i++)
        work->q[i] = state->q[i];
    for (size_t j = 0; j < m; j++)
        work->v[j] = state->v[j];
    s->terms(s, work->q, work->v, FF_TERMS_POSITION, &work->s);
    if (c->scheme == FF_EMULATION_CONSTRAINED) {
        const ff_status status = make_consistent(model, work, p_dot, out);
        if (status != FF_OK)
            return hold(model, state, out, status);
    }
    s->terms(s, work->q, work->v, FF_TERMS_VELOCITY, &work->s);
    const ff_status factored = factor_target(model, work, in->force, &out->target_damped);
    if (factored != FF_OK)
        return hold(model, state, out, factored);

    /* ~a_s = J_s M_s^-1 (B tau_s - h_s) + J_s' v_s + J_s M_s^-1 J_s^T f_a */
    multiply(n, m, work->s.J, work->a0, out->a_s);
    for (size_t i = 0; i < n; i++) {
        out->a_s[i] += work->s.Jv[i];
        for (size_t k = 0; k < n; k++)
            out->a_s[i] += work->G[i * n + k] * in->f[k];
    }

    /* (11) u = ~a_s - G_v e_p' - G_p e_p, and 2.1: + G_f e_f with e_f = -M_s (p_r'' - ~a_s) */
    ff_task_difference(s, &work->r.pose, &work->s.pose, out->constraint);
    if (c->scheme == FF_EMULATION_CONSTRAINED) {
        ff_task_difference(s, &work->r.pose, &state->reference, out->e_p);
        for (size_t i = 0; i < n; i++)
            e_dot[i] = p_dot[i] - state->reference_v[i];
    } else {
        multiply(n, m, work->s.J, work->v, e_dot);
        for (size_t i = 0; i < n; i++) {
            out->e_p[i] = out->constraint[i];
            e_dot[i] = p_dot[i] - e_dot[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        u[i] = out->a_s[i];
        if (c->drift_compensation)
            u[i] -= c->velocity_gain * e_dot[i] + c->position_gain * out->e_p[i];
    }
    if (c->force_gain > 0.0 && in->acceleration) {
        double e_f[FF_EMULATION_TASK_MAX];
        for (size_t i = 0; i < n; i++)
            e_f[i] = out->a_s[i] - in->acceleration[i];
        ff_cholesky_solve(n, work->A, e_f);
        for (size_t i = 0; i < n; i++)
            u[i] += c->force_gain * e_f[i];
    }

    /* (10) tau = h_r - J_r^T f + M_r J_r^-1 (u - J_r' v_r) */
    for (size_t i = 0; i < n; i++)
        u[i] -= work->r.Jv[i];
    const ff_status inverted = robot_inverse(model, work, u, &out->robot_damped);
    if (inverted != FF_OK)
        return hold(model, state, out, inverted);
    double torque[FF_EMULATION_TASK_MAX];
    multiply(n, n, work->r.M, u, torque);
    for (size_t j = 0; j < n; j++) {
        torque[j] += work->r.h[j];
        for (size_t i = 0; i < n; i++)
            torque[j] -= work->r.J[i * n + j] * in->f[i];
    }
    if (!all_finite(n, torque))
        return hold(model, state, out, FF_ERR_NOT_FINITE);
    for (size_t j = 0; j < n; j++) {
        const double limit = c->torque_max[j];
        if (fabs(torque[j]) > limit) {
            torque[j] = copysign(limit, torque[j]);
            out->limited = true;
        }
        out->torque[j] = torque[j];
    }
    return out->limited || out->robot_damped || out->target_damped || out->unconverged ? FF_INFO_LIMITED
                                                                                       : FF_OK;
}

ff_status ff_emulation_target(const ff_emulation_model *model, const ff_emulation_state *state,
                              ff_emulation_work *work, const double *f, const double *acceleration,
                              ff_emulation_out *out) {
    const ff_mechanism *s = &model->target;
    const size_t n = s->task, m = s->dof;
    (void)state;
    /* (7) lambda = (J M^-1 J^T)^-1 (c + J M^-1 (h - B tau)), c = p_r'' - J' v */
    multiply(n, m, work->s.J, work->a0, out->lambda);
    for (size_t i = 0; i < n; i++)
        out->lambda[i] = acceleration[i] - work->s.Jv[i] - out->lambda[i];
    ff_cholesky_solve(n, work->A, out->lambda);
    for (size_t i = 0; i < n; i++)
        out->force_error[i] = f[i] - out->lambda[i];

    /* (5), or (2) in the free scheme: v_s' = M^-1 (B tau - h + J^T lambda or f) */
    const bool constrained = model->config.scheme == FF_EMULATION_CONSTRAINED;
    for (size_t j = 0; j < m; j++) {
        out->acceleration[j] = work->a0[j];
        out->velocity[j] = work->v[j];
    }
    add_transposed(n, m, work->X, constrained ? out->lambda : f, out->acceleration);

    /* Theorem 1: the particular velocity J^+ p_r' is replaced by J^T K Phi. */
    if (constrained && model->config.consistency == FF_CONSISTENCY_CLIK) {
        double along[FF_EMULATION_TASK_MAX];
        bool damped = false;
        multiply(n, m, work->s.J, work->v, along);
        gram(n, m, work->s.J, work->G);
        if (!gram_factor(n, work->G, model->config.singular_ratio, work->factor, &damped))
            return FF_ERR_SINGULAR;
        ff_cholesky_solve(n, work->factor, along);
        for (size_t i = 0; i < n; i++)
            along[i] = model->config.clik_gain * out->constraint[i] - along[i];
        add_transposed(n, m, work->s.J, along, out->velocity);
    }
    return all_finite(m, out->acceleration) ? FF_OK : FF_ERR_NOT_FINITE;
}

ff_status ff_emulation_independent(const ff_emulation_model *model, const ff_emulation_work *work,
                                   const double *force, const double *acceleration, double *v_dot) {
    const size_t n = model->target.task, m = model->target.dof, k = m - n;
    double Q[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX], G[36], c[FF_EMULATION_TASK_MAX];
    bool damped = false;
    gram(n, m, work->s.J, G);
    if (!gram_factor(n, G, model->config.singular_ratio, G, &damped) || damped)
        return FF_ERR_SINGULAR;
    for (size_t i = 0; i < n; i++)
        c[i] = acceleration[i] - work->s.Jv[i];
    ff_cholesky_solve(n, G, c);
    for (size_t j = 0; j < m; j++)
        v_dot[j] = 0.0;
    add_transposed(n, m, work->s.J, c, v_dot); /* J^+ c */
    /* Rows of Q: an orthonormal basis of the row space of J, then of its complement (Gram-Schmidt, twice; the
     * unit vector that is least covered so far continues the basis). */
    for (size_t row = 0; row < m; row++) {
        double *x = Q + row * m;
        for (size_t j = 0; j < m; j++)
            x[j] = row < n ? work->s.J[row * m + j] : 0.0;
        if (row >= n) {
            size_t pick = 0;
            double least = FF_INF;
            for (size_t j = 0; j < m; j++) {
                double covered = 0.0;
                for (size_t i = 0; i < row; i++)
                    covered += Q[i * m + j] * Q[i * m + j];
                if (covered < least) {
                    least = covered;
                    pick = j;
                }
            }
            x[pick] = 1.0;
        }
        double norm = 0.0;
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = 0; i < row; i++) {
                double dot = 0.0;
                for (size_t j = 0; j < m; j++)
                    dot += Q[i * m + j] * x[j];
                for (size_t j = 0; j < m; j++)
                    x[j] -= dot * Q[i * m + j];
            }
            norm = 0.0;
            for (size_t j = 0; j < m; j++)
                norm += x[j] * x[j];
            norm = sqrt(norm);
            if (!(norm > 0.0))
                return FF_ERR_SINGULAR;
            for (size_t j = 0; j < m; j++)
                x[j] /= norm;
        }
    }
    /* N y = P^T (B tau - h - M J^+ c) */
    const double *P = Q + n * m;
    double N[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX], Mp[FF_EMULATION_DOF_MAX], y[FF_EMULATION_DOF_MAX];
    multiply(m, m, work->s.M, v_dot, Mp);
    for (size_t j = 0; j < m; j++)
        Mp[j] = force[j] - work->s.h[j] - Mp[j];
    multiply(k, m, P, Mp, y);
    for (size_t i = 0; i < k; i++) {
        multiply(m, m, work->s.M, P + i * m, Mp);
        for (size_t l = 0; l < k; l++) {
            double sum = 0.0;
            for (size_t j = 0; j < m; j++)
                sum += P[l * m + j] * Mp[j];
            N[i * k + l] = sum;
        }
    }
    if (k > 0 && ff_cholesky_factor(k, N) != FF_OK)
        return FF_ERR_SINGULAR;
    ff_cholesky_solve(k, N, y);
    add_transposed(k, m, P, y, v_dot);
    return FF_OK;
}

/* --------------------------------------------------------------------------------------------- the cycle --
 */

ff_status ff_emulation_reset(const ff_emulation_model *model, ff_emulation_state *state,
                             ff_emulation_work *work, const double *q_s, const double *v_s, const double *q_r,
                             const double *v_r) {
    const ff_mechanism *s = &model->target, *r = &model->robot;
    const size_t n = s->task, m = s->dof;
    double miss[FF_EMULATION_TASK_MAX], G[36], factor[36];
    bool damped = false;
    if (!all_finite(s->positions, q_s) || !all_finite(m, v_s) || !all_finite(n, q_r) || !all_finite(n, v_r))
        return FF_ERR_NOT_FINITE;
    s->terms(s, q_s, v_s, FF_TERMS_ALL, &work->s);
    r->terms(r, q_r, v_r, FF_TERMS_ALL, &work->r);
    ff_task_difference(s, &work->r.pose, &work->s.pose, miss);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(miss[i]) <= 1e-6))
            return FF_ERR_REACH;
    for (int which = 0; which < 2; which++) {
        gram(n, which ? n : m, which ? work->r.J : work->s.J, G);
        if (!gram_factor(n, G, model->config.singular_ratio, factor, &damped) || damped)
            return FF_ERR_SINGULAR;
    }
    for (size_t i = 0; i < s->positions; i++)
        state->q[i] = q_s[i];
    for (size_t j = 0; j < m; j++)
        state->v[j] = v_s[j];
    state->reference = work->r.pose;
    multiply(n, n, work->r.J, v_r, state->reference_v);
    for (size_t i = 0; i < FF_EMULATION_TASK_MAX; i++)
        state->torque[i] = 0.0;
    return FF_OK;
}

/* p_r'' of the robot model under a torque, (8). */
static ff_status model_acceleration(const ff_emulation_model *model, ff_emulation_work *work,
                                    const double *torque, const double *f, double *acceleration) {
    const size_t n = model->robot.task;
    double b[FF_EMULATION_TASK_MAX];
    for (size_t i = 0; i < n; i++)
        b[i] = torque[i] - work->r.h[i];
    add_transposed(n, n, work->r.J, f, b);
    for (size_t i = 0; i < n * n; i++)
        work->factor[i] = work->r.M[i];
    if (ff_cholesky_factor(n, work->factor) != FF_OK)
        return FF_ERR_SINGULAR;
    ff_cholesky_solve(n, work->factor, b);
    multiply(n, n, work->r.J, b, acceleration);
    for (size_t i = 0; i < n; i++)
        acceleration[i] += work->r.Jv[i];
    return FF_OK;
}

ff_status ff_emulation_step(const ff_emulation_model *model, ff_emulation_state *state,
                            ff_emulation_work *work, const ff_emulation_in *in, double T,
                            ff_emulation_out *out) {
    const ff_mechanism *s = &model->target;
    const size_t n = s->task, m = s->dof;
    double acceleration[FF_EMULATION_TASK_MAX];
    const ff_status controlled = ff_emulation_control(model, state, work, in, out);
    if (controlled < 0)
        return controlled;
    ff_status status = FF_OK;
    if (in->acceleration)
        for (size_t i = 0; i < n; i++)
            acceleration[i] = in->acceleration[i];
    else
        status = model_acceleration(model, work, out->torque, in->f, acceleration);
    if (status == FF_OK)
        status = ff_emulation_target(model, state, work, in->f, acceleration, out);
    if (status != FF_OK)
        return hold(model, state, out, status);

    double step[FF_EMULATION_DOF_MAX];
    for (size_t j = 0; j < m; j++) {
        state->v[j] = work->v[j] + T * out->acceleration[j];
        step[j] = T * (state->v[j] + out->velocity[j] - work->v[j]);
    }
    ff_mechanism_displace(s, work->q, step, state->q);
    /* The double integral of ~a_s held over the cycle, exactly as the robot moves under a held torque. */
    double mean[FF_EMULATION_TASK_MAX];
    for (size_t i = 0; i < n; i++) {
        mean[i] = state->reference_v[i] + 0.5 * T * out->a_s[i];
        state->reference_v[i] += T * out->a_s[i];
    }
    if (s->spatial) {
        const ff_quat turn = ff_quat_exp(ff_vec3_scale(T, ff_vec3_make(mean[0], mean[1], mean[2])));
        state->reference.pose.q = ff_quat_unit(ff_quat_mul(turn, state->reference.pose.q));
        state->reference.pose.p =
            ff_vec3_axpy(T, ff_vec3_make(mean[3], mean[4], mean[5]), state->reference.pose.p);
    } else {
        for (size_t i = 0; i < n; i++)
            state->reference.x[i] += T * mean[i];
    }
    for (size_t i = 0; i < n; i++)
        state->torque[i] = out->torque[i];
    return controlled;
}

/* ---------------------------------------------------------------------------------------------- analysis --
 */

double ff_emulation_force_gain_bound(double velocity_gain, size_t n, const double *rate) {
    /* Largest eigenvalue of a symmetric matrix by Jacobi rotations. */
    double A[FF_EMULATION_TASK_MAX * FF_EMULATION_TASK_MAX];
    for (size_t i = 0; i < n * n; i++)
        A[i] = rate[i];
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                const double off = A[p * n + q];
                if (!(fabs(off) > 0.0))
                    continue;
                const double theta = (A[q * n + q] - A[p * n + p]) / (2.0 * off);
                const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
                const double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (size_t k = 0; k < n; k++) {
                    const double x = A[k * n + p], y = A[k * n + q];
                    A[k * n + p] = c * x - s * y;
                    A[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    const double x = A[p * n + k], y = A[q * n + k];
                    A[p * n + k] = c * x - s * y;
                    A[q * n + k] = s * x + c * y;
                }
            }
    double largest = A[0];
    for (size_t i = 1; i < n; i++)
        largest = fmax(largest, A[i * n + i]);
    return largest > 0.0 ? 2.0 * velocity_gain / largest : FF_INF;
}

ff_status ff_emulation_cartesian_inertia(const ff_mechanism *mechanism, const double *q,
                                         ff_emulation_work *work, double *inertia) {
    const size_t n = mechanism->task, m = mechanism->dof;
    mechanism->terms(mechanism, q, work->v, FF_TERMS_POSITION, &work->s);
    if (!solve_inertia(n, m, work))
        return FF_ERR_SINGULAR;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < m; j++)
                sum += work->s.J[i * m + j] * work->X[k * m + j];
            work->A[i * n + k] = sum;
        }
    if (ff_cholesky_factor(n, work->A) != FF_OK)
        return FF_ERR_SINGULAR;
    for (size_t i = 0; i < n; i++) {
        double e[FF_EMULATION_TASK_MAX] = {0};
        e[i] = 1.0;
        ff_cholesky_solve(n, work->A, e);
        for (size_t k = 0; k < n; k++)
            inertia[k * n + i] = e[k];
    }
    return FF_OK;
}
