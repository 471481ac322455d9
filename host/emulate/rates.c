/* Right-hand sides of an emulation: the wall's force, the robot under its controller, the target alone. */
#include "emulate/internal.h"

#include <string.h>

void ff__emulate_wall_gap(const ff_emulate_config *c, const ff_mechanism *m, const ff_task_pose *pose,
                          const double *velocity, double *depth, double *force) {
    const ff_emulate_wall *w = &c->wall;
    double d = 0.0, rate = 0.0;
    const size_t axes = m->spatial ? 3 : m->task;
    for (size_t i = 0; i < axes; i++) {
        const double p = m->spatial ? pose->pose.p.a[i] : pose->x[i];
        d -= w->normal[i] * (p - w->at[i]);
        rate -= w->normal[i] * velocity[m->spatial ? 3 + i : i];
    }
    *depth = d;
    *force = w->stiffness * d + w->damping * rate;
}

/* Contact force in task axes, under the signs of `at`. */
static void wall_force(const ff_emulate_config *c, const ff_mechanism *m, const touch *at,
                       const ff_task_pose *pose, const double *velocity, double *f) {
    for (size_t i = 0; i < m->task; i++)
        f[i] = 0.0;
    if (!c->wall.present || !at->inside || !at->pushing)
        return;
    double depth, force;
    ff__emulate_wall_gap(c, m, pose, velocity, &depth, &force);
    for (size_t i = 0; i < (m->spatial ? 3 : m->task); i++)
        f[m->spatial ? 3 + i : i] = force * c->wall.normal[i];
}

void ff__emulate_target_force(const ff_emulate_config *c, double t, const double *q, const double *v,
                              const double *f, double *force) {
    if (c->motor)
        c->motor(c->motor_user, t, q, v, f, force);
    else
        memcpy(force, c->torque, sizeof *force * c->target.dof);
}

/* J^+ is that of the joints alone, as if a floating base stood still: its reaction is for the target's own
 * navigation to correct. */
void ff_emulate_accommodate(const void *user, double t, const double *q, const double *v, const double *f,
                            double *force) {
    const ff_emulate_accommodation *a = user;
    const ff_mechanism *s = a->target;
    const size_t n = s->task, m = s->dof, motors = m - a->joints,
                 first = a->rigid ? motors : motors - a->joints;
    double wanted[FF_EMULATION_TASK_MAX], G[36];
    (void)t;
    s->terms(s, q, v, FF_TERMS_POSITION, a->terms);
    const double *J = a->terms->J + first;
    for (size_t i = 0; i < n; i++) {
        wanted[i] = a->rate[i] + a->accommodation * f[i];
        for (size_t k = 0; k < n; k++) {
            double sum = i == k ? 1e-9 : 0.0;
            for (size_t j = 0; j < a->joints; j++)
                sum += J[i * m + j] * J[k * m + j];
            G[i * n + k] = sum;
        }
    }
    for (size_t j = 0; j < m; j++)
        force[j] = 0.0;
    if (ff_cholesky_factor(n, G) != FF_OK)
        return;
    ff_cholesky_solve(n, G, wanted);
    for (size_t k = 0; k < a->joints; k++) {
        double rate = 0.0;
        for (size_t i = 0; i < n; i++)
            rate += J[i * m + k] * wanted[i];
        force[motors + k] = a->gain * (rate - v[motors + k]);
    }
}

/* ---------------------------------------------------------------------------------------------- equations --
 */

/* State of the robot's side: q_r v_r [torque] [q_s v_s reference reference_v]; the last part lives in lib's
 * state when the controller is sampled. */
size_t ff__emulate_reference_size(const ff_mechanism *m) {
    return m->spatial ? 7 : m->task;
}

static void unpack_reference(const ff_mechanism *m, const double *y, ff_task_pose *pose) {
    if (m->spatial) {
        pose->pose.q = ff_quat_unit((ff_quat){y[0], y[1], y[2], y[3]});
        pose->pose.p = ff_vec3_make(y[4], y[5], y[6]);
    } else {
        memcpy(pose->x, y, sizeof *y * m->task);
    }
}

static void unpack_state(run *r, const double *y, ff_emulation_state *state) {
    const ff_mechanism *s = &r->model.target;
    memcpy(state->q, y, sizeof *y * s->positions);
    y += s->positions;
    memcpy(state->v, y, sizeof *y * s->dof);
    y += s->dof;
    unpack_reference(s, y, &state->reference);
    memcpy(state->reference_v, y + ff__emulate_reference_size(s), sizeof *y * s->task);
}

void ff__emulate_task_velocity(const ff_mechanism *m, const ff_mechanism_terms *terms, const double *v,
                               double *out) {
    for (size_t i = 0; i < m->task; i++) {
        out[i] = 0.0;
        for (size_t j = 0; j < m->dof; j++)
            out[i] += terms->J[i * m->dof + j] * v[j];
    }
}

/* v_r' and p_r'' of the true robot, (1) and (8). */
ff_status ff__emulate_robot_acceleration(run *r, const ff_mechanism_terms *terms, const double *torque,
                                         const double *f, double *v_dot, double *p_dd) {
    const size_t n = r->c->robot.dof;
    double M[36];
    memcpy(M, terms->M, sizeof *M * n * n);
    for (size_t j = 0; j < n; j++) {
        v_dot[j] = torque[j] - terms->h[j];
        for (size_t i = 0; i < n; i++)
            v_dot[j] += terms->J[i * n + j] * f[i];
    }
    if (ff_cholesky_factor(n, M) != FF_OK)
        return FF_ERR_SINGULAR;
    ff_cholesky_solve(n, M, v_dot);
    ff__emulate_task_velocity(&r->c->robot, terms, v_dot, p_dd);
    for (size_t i = 0; i < n; i++)
        p_dd[i] += terms->Jv[i];
    return FF_OK;
}

static void clip(const ff_emulate_config *c, double *torque) {
    for (size_t i = 0; i < c->robot.dof; i++)
        torque[i] = fmin(fmax(torque[i], -c->actuator.torque_max[i]), c->actuator.torque_max[i]);
}

/* 2.1 with an ideal accelerometer: the torque moves with p_r'', which moves with the torque. Torque and
 * acceleration are affine in each other, so n + 1 evaluations give the solution. `guess` is in.acceleration,
 * zero at the first evaluation, which r->out holds. */
static ff_status solve_acceleration(run *r, const ff_emulation_in *in, const double *f, double *guess) {
    const size_t n = r->c->robot.dof;
    double A[36], b[FF_EMULATION_TASK_MAX], at[FF_EMULATION_TASK_MAX], v_dot[FF_EMULATION_TASK_MAX];
    size_t pivots[FF_EMULATION_TASK_MAX];
    ff_status status = FF_OK;
    clip(r->c, r->out.torque);
    ff__emulate_robot_acceleration(r, &r->terms, r->out.torque, f, v_dot, b);
    for (size_t k = 0; k < n && status >= 0; k++) {
        guess[k] = 1.0;
        status = ff_emulation_control(&r->model, &r->state, &r->work, in, &r->out);
        ff__emulate_robot_acceleration(r, &r->terms, r->out.torque, f, v_dot, at);
        guess[k] = 0.0;
        for (size_t i = 0; i < n; i++)
            A[i * n + k] = (i == k ? 1.0 : 0.0) - (at[i] - b[i]);
    }
    if (status >= 0 && ff_lu_factor(n, A, pivots) == FF_OK) {
        ff_lu_solve(n, A, pivots, b);
        memcpy(guess, b, sizeof *b * n);
        status = ff_emulation_control(&r->model, &r->state, &r->work, in, &r->out);
    }
    return status;
}

/* The torque of a controller that does not sample: a plain copy of the solver's numbers becomes lib's state
 * for one evaluation. */
static ff_status continuous_torque(run *r, double t, const double *y, const double *numbers, const double *f,
                                   const double *measured, double *torque) {
    const ff_emulate_config *c = r->c;
    const size_t n = c->robot.dof;
    double force[FF_EMULATION_DOF_MAX], guess[FF_EMULATION_TASK_MAX] = {0};
    unpack_state(r, numbers, &r->state);
    ff__emulate_target_force(c, t, r->state.q, r->state.v, measured, force);
    ff_emulation_in in = {y, y + n, measured, force, NULL};
    const bool fed = c->emulation.force_gain > 0.0;
    if (fed)
        in.acceleration = guess;
    if (fed && r->lagged) {
        double v_dot[FF_EMULATION_TASK_MAX];
        const ff_status moved = ff__emulate_robot_acceleration(r, &r->terms, y + 2 * n, f, v_dot, guess);
        if (moved != FF_OK)
            return moved;
    }
    ff_status status = ff_emulation_control(&r->model, &r->state, &r->work, &in, &r->out);
    if (status >= 0 && fed && !r->lagged)
        status = solve_acceleration(r, &in, f, guess);
    if (status < 0)
        return status;
    r->damped |= r->out.robot_damped || r->out.target_damped;
    r->limited |= r->out.limited;
    memcpy(torque, r->out.torque, sizeof *torque * FF_EMULATION_TASK_MAX);
    return FF_OK;
}

/* Rates of the controller's own numbers: target, reference, its speed. */
static void state_rates(const run *r, double *tail) {
    const ff_mechanism *s = &r->c->target;
    const size_t n = r->c->robot.dof;
    ff_mechanism_rate(s, r->work.q, r->out.velocity, tail);
    tail += s->positions;
    memcpy(tail, r->out.acceleration, sizeof *tail * s->dof);
    tail += s->dof;
    const double *w = r->state.reference_v;
    if (s->spatial) {
        const ff_quat rate =
            ff_quat_mul((ff_quat){0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]}, r->state.reference.pose.q);
        memcpy(tail, (double[]){rate.w, rate.x, rate.y, rate.z, w[3], w[4], w[5]}, 7 * sizeof *tail);
    } else {
        memcpy(tail, w, sizeof *tail * n);
    }
    memcpy(tail + ff__emulate_reference_size(s), r->out.a_s, sizeof *tail * n);
}

ff_status ff__emulate_robot_rates(run *r, double t, const double *y, double *dy) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *robot = &c->robot;
    const size_t n = robot->dof, own = 2 * n + (r->lagged ? n : 0);
    const double *v_r = y + n, *motor = y + 2 * n;
    double velocity[FF_EMULATION_TASK_MAX], f[FF_EMULATION_TASK_MAX], measured[FF_EMULATION_TASK_MAX];
    double torque[FF_EMULATION_TASK_MAX];
    robot->terms(robot, y, v_r, FF_TERMS_ALL, &r->terms);
    ff__emulate_task_velocity(robot, &r->terms, v_r, velocity);
    wall_force(c, robot, &r->robot.touch, &r->terms.pose, velocity, f);
    memcpy(r->f_r, f, sizeof f);
    for (size_t i = 0; i < n; i++) {
        dy[i] = v_r[i];
        measured[i] = f[i] + c->sensor.force_bias[i];
    }
    ff_status status = FF_OK;
    if (c->sampled)
        memcpy(torque, r->held, sizeof torque);
    else
        status = continuous_torque(r, t, y, y + own, f, measured, torque);
    if (status != FF_OK)
        return status;
    clip(c, torque);
    if (r->lagged)
        for (size_t i = 0; i < n; i++) {
            dy[2 * n + i] = c->actuator.bandwidth * (torque[i] - motor[i]);
            torque[i] = motor[i];
        }
    status = ff__emulate_robot_acceleration(r, &r->terms, torque, f, dy + n, r->p_dd);
    if (status != FF_OK || c->sampled)
        return status;
    status = ff_emulation_target(&r->model, &r->state, &r->work, measured, r->p_dd, &r->out);
    if (status != FF_OK)
        return status;
    state_rates(r, dy + own);
    return FF_OK;
}

ff_status ff__emulate_direct_rates(run *r, double t, const double *y, double *dy) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *s = &c->target;
    const size_t n = s->task, m = s->dof;
    const double *q = y, *v = y + s->positions;
    double velocity[FF_EMULATION_TASK_MAX], f[FF_EMULATION_TASK_MAX], *v_dot = dy + s->positions;
    double M[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX];
    s->terms(s, q, v, FF_TERMS_ALL, &r->terms);
    ff__emulate_task_velocity(s, &r->terms, v, velocity);
    wall_force(c, s, &r->direct.touch, &r->terms.pose, velocity, f);
    memcpy(r->f_r, f, sizeof f);
    ff__emulate_target_force(c, t, q, v, f, v_dot);
    for (size_t j = 0; j < m; j++) {
        v_dot[j] -= r->terms.h[j];
        for (size_t i = 0; i < n; i++)
            v_dot[j] += r->terms.J[i * m + j] * f[i];
    }
    memcpy(M, r->terms.M, sizeof *M * m * m);
    if (ff_cholesky_factor(m, M) != FF_OK)
        return FF_ERR_SINGULAR;
    ff_cholesky_solve(m, M, v_dot);
    ff_mechanism_rate(s, q, v, dy);
    return FF_OK;
}
