#include "emulate/bounds.h"
#include "emulate/emulate.h"
#include "ideal/vector.h"
#include "text/message.h"

#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

/* Adams with the fixed-point iteration: the systems are smooth between events and mildly stiff at most. */
static const double RTOL = 1e-12, ATOL = 1e-14;
enum {
    STATE_MAX = 2 * FF_EMULATION_POSITIONS_MAX + 2 * FF_EMULATION_DOF_MAX + 32,
    STEPS_MAX = 100000 /* of the solver, within one sample */
};

/* Contact of one end effector, with the signs of depth and force fixed between events, so that the solver
 * sees a smooth right-hand side. */
typedef struct touch {
    bool inside, pushing; /* depth > 0; stiffness d + damping d' > 0 */
    double first;         /* [s] */
    double peak;          /* [N] */
} touch;

typedef struct run run;
typedef struct system_side {
    run *r;
    bool direct;
    size_t size;
    touch touch;
    double y[STATE_MAX];
    void *cvode;
    N_Vector vector;
    SUNNonlinearSolver solver;
    ff_status fault;
} system_side;

struct run {
    const ff_emulate_config *c;
    ff_emulation_model model;
    ff_emulation_work work;
    ff_emulation_out out;
    ff_emulation_state state; /* sampled: lib's own */
    ff_mechanism_terms terms;
    double held[FF_EMULATION_TASK_MAX]; /* [N m] sampled: torque at the motor's input */
    double f_r[FF_EMULATION_TASK_MAX];  /* true contact force of the last evaluation */
    double p_dd[FF_EMULATION_TASK_MAX]; /* true task acceleration of the last evaluation */
    bool lagged;                        /* actuators with a bandwidth are states */
    ff_rng rng;
    SUNContext sun;
    system_side robot, direct;
    ff_emulate_bounds bounds;
    bool damped, limited;
};

void ff_emulate_default(ff_emulate_config *config) {
    memset(config, 0, sizeof *config);
    ff_emulation_default(&config->emulation);
    config->actuator.bandwidth = FF_INF;
    for (size_t i = 0; i < FF_EMULATION_TASK_MAX; i++)
        config->actuator.torque_max[i] = FF_INF;
    config->cycle = 0.001;
    config->duration = 1.0;
}

/* ----------------------------------------------------------------------------------------------- contact --
 */

static void wall_gap(const ff_emulate_config *c, const ff_mechanism *m, const ff_task_pose *pose,
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
    wall_gap(c, m, pose, velocity, &depth, &force);
    for (size_t i = 0; i < (m->spatial ? 3 : m->task); i++)
        f[m->spatial ? 3 + i : i] = force * c->wall.normal[i];
}

static void target_force(const ff_emulate_config *c, double t, const double *q, const double *v,
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
static size_t reference_size(const ff_mechanism *m) {
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
    memcpy(state->reference_v, y + reference_size(s), sizeof *y * s->task);
}

static void task_velocity(const ff_mechanism *m, const ff_mechanism_terms *terms, const double *v,
                          double *out) {
    for (size_t i = 0; i < m->task; i++) {
        out[i] = 0.0;
        for (size_t j = 0; j < m->dof; j++)
            out[i] += terms->J[i * m->dof + j] * v[j];
    }
}

/* v_r' and p_r'' of the true robot, (1) and (8). */
static ff_status robot_acceleration(run *r, const ff_mechanism_terms *terms, const double *torque,
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
    task_velocity(&r->c->robot, terms, v_dot, p_dd);
    for (size_t i = 0; i < n; i++)
        p_dd[i] += terms->Jv[i];
    return FF_OK;
}

static void clip(const ff_emulate_config *c, double *torque) {
    for (size_t i = 0; i < c->robot.dof; i++)
        torque[i] = fmin(fmax(torque[i], -c->actuator.torque_max[i]), c->actuator.torque_max[i]);
}

static ff_status robot_rates(run *r, double t, const double *y, double *dy) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *robot = &c->robot, *s = &c->target;
    const size_t n = robot->dof;
    const double *q_r = y, *v_r = y + n, *motor = y + 2 * n;
    double velocity[FF_EMULATION_TASK_MAX], f[FF_EMULATION_TASK_MAX], measured[FF_EMULATION_TASK_MAX];
    double torque[FF_EMULATION_TASK_MAX];
    robot->terms(robot, q_r, v_r, FF_TERMS_ALL, &r->terms);
    task_velocity(robot, &r->terms, v_r, velocity);
    wall_force(c, robot, &r->robot.touch, &r->terms.pose, velocity, f);
    memcpy(r->f_r, f, sizeof f);
    for (size_t i = 0; i < n; i++) {
        dy[i] = v_r[i];
        measured[i] = f[i] + c->sensor.force_bias[i];
    }
    double *tail = dy + 2 * n + (r->lagged ? n : 0);
    if (c->sampled) {
        memcpy(torque, r->held, sizeof torque);
    } else {
        /* A plain copy of the solver's numbers becomes lib's state for one evaluation. */
        unpack_state(r, y + (tail - dy), &r->state);
        double force[FF_EMULATION_DOF_MAX], guess[FF_EMULATION_TASK_MAX];
        target_force(c, t, r->state.q, r->state.v, measured, force);
        ff_emulation_in in = {q_r, v_r, measured, force, NULL};
        const bool fed = c->emulation.force_gain > 0.0;
        if (fed) {
            memset(guess, 0, sizeof guess);
            in.acceleration = guess;
            if (r->lagged) {
                double v_dot[FF_EMULATION_TASK_MAX];
                const ff_status moved = robot_acceleration(r, &r->terms, motor, f, v_dot, guess);
                if (moved != FF_OK)
                    return moved;
            }
        }
        ff_status status = ff_emulation_control(&r->model, &r->state, &r->work, &in, &r->out);
        if (status >= 0 && fed && !r->lagged) {
            /* 2.1 with an ideal accelerometer: the torque moves with p_r'', which moves with the torque.
             * Torque and acceleration are affine in each other, so n + 1 evaluations give the solution. */
            double A[36], b[FF_EMULATION_TASK_MAX], at[FF_EMULATION_TASK_MAX], v_dot[FF_EMULATION_TASK_MAX];
            size_t pivots[FF_EMULATION_TASK_MAX];
            clip(c, r->out.torque);
            robot_acceleration(r, &r->terms, r->out.torque, f, v_dot, b);
            for (size_t k = 0; k < n && status >= 0; k++) {
                guess[k] = 1.0;
                status = ff_emulation_control(&r->model, &r->state, &r->work, &in, &r->out);
                robot_acceleration(r, &r->terms, r->out.torque, f, v_dot, at);
                guess[k] = 0.0;
                for (size_t i = 0; i < n; i++)
                    A[i * n + k] = (i == k ? 1.0 : 0.0) - (at[i] - b[i]);
            }
            if (status >= 0 && ff_lu_factor(n, A, pivots) == FF_OK) {
                ff_lu_solve(n, A, pivots, b);
                memcpy(guess, b, sizeof *b * n);
                status = ff_emulation_control(&r->model, &r->state, &r->work, &in, &r->out);
            }
        }
        if (status < 0)
            return status;
        r->damped |= r->out.robot_damped || r->out.target_damped;
        r->limited |= r->out.limited;
        memcpy(torque, r->out.torque, sizeof torque);
    }
    clip(c, torque);
    if (r->lagged)
        for (size_t i = 0; i < n; i++) {
            dy[2 * n + i] = c->actuator.bandwidth * (torque[i] - motor[i]);
            torque[i] = motor[i];
        }
    ff_status status = robot_acceleration(r, &r->terms, torque, f, dy + n, r->p_dd);
    if (status != FF_OK || c->sampled)
        return status;
    status = ff_emulation_target(&r->model, &r->state, &r->work, measured, r->p_dd, &r->out);
    if (status != FF_OK)
        return status;
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
    memcpy(tail + reference_size(s), r->out.a_s, sizeof *tail * n);
    return FF_OK;
}

static ff_status direct_rates(run *r, double t, const double *y, double *dy) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *s = &c->target;
    const size_t n = s->task, m = s->dof;
    const double *q = y, *v = y + s->positions;
    double velocity[FF_EMULATION_TASK_MAX], f[FF_EMULATION_TASK_MAX], *v_dot = dy + s->positions;
    double M[FF_EMULATION_DOF_MAX * FF_EMULATION_DOF_MAX];
    s->terms(s, q, v, FF_TERMS_ALL, &r->terms);
    task_velocity(s, &r->terms, v, velocity);
    wall_force(c, s, &r->direct.touch, &r->terms.pose, velocity, f);
    memcpy(r->f_r, f, sizeof f);
    target_force(c, t, q, v, f, v_dot);
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

static int rates(double t, N_Vector y, N_Vector dy, void *user) {
    system_side *side = user;
    const double *in = N_VGetArrayPointer(y);
    double *out = N_VGetArrayPointer(dy);
    const ff_status status =
        side->direct ? direct_rates(side->r, t, in, out) : robot_rates(side->r, t, in, out);
    if (status < 0) {
        side->fault = status;
        return status == FF_ERR_SINGULAR || status == FF_ERR_NOT_FINITE ? 1 : -1;
    }
    return 0;
}

static void contact_signs(system_side *side, const double *y, double *depth, double *force) {
    const ff_emulate_config *c = side->r->c;
    const ff_mechanism *m = side->direct ? &c->target : &c->robot;
    double velocity[FF_EMULATION_TASK_MAX];
    m->terms(m, y, y + m->positions, FF_TERMS_POSITION, &side->r->terms);
    task_velocity(m, &side->r->terms, y + m->positions, velocity);
    wall_gap(c, m, &side->r->terms.pose, velocity, depth, force);
}

static int roots(double t, N_Vector y, double *g, void *user) {
    (void)t;
    contact_signs(user, N_VGetArrayPointer(y), &g[0], &g[1]);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- solver --
 */

static ff_status start_side(run *r, system_side *side) {
    side->r = r;
    side->fault = FF_OK;
    side->touch = (touch){.first = FF_NAN};
    if (r->c->wall.present) {
        double depth, force;
        contact_signs(side, side->y, &depth, &force);
        side->touch.inside = depth > 0.0;
        side->touch.pushing = force > 0.0;
    }
    side->vector = N_VMake_Serial((sunindextype)side->size, side->y, r->sun);
    ff_vector_quicken(side->vector);
    side->cvode = CVodeCreate(CV_ADAMS, r->sun);
    if (!side->vector || !side->cvode)
        return FF_ERR_MEMORY;
    side->solver = SUNNonlinSol_FixedPoint(side->vector, 0, r->sun);
    int flags = CVodeSetErrFile(side->cvode, NULL); /* each 0, or below: then there is no memory */
    flags |= CVodeInit(side->cvode, rates, 0.0, side->vector);
    flags |= CVodeSStolerances(side->cvode, RTOL, ATOL);
    flags |= CVodeSetUserData(side->cvode, side);
    flags |= CVodeSetNonlinearSolver(side->cvode, side->solver); /* refuses NULL */
    if (r->c->wall.present)
        flags |= CVodeRootInit(side->cvode, 2, roots);
    return flags == CV_SUCCESS ? FF_OK : FF_ERR_MEMORY;
}

/* What was not made is NULL, which each of these leaves alone. */
static void end_side(system_side *side) {
    CVodeFree(&side->cvode);
    SUNNonlinSolFree(side->solver);
    N_VDestroy(side->vector);
}

static double largest(const double *x, size_t n) {
    double best = 0.0;
    for (size_t i = 0; i < n; i++)
        best = fmax(best, fabs(x[i]));
    return best;
}

static void watch_force(run *r, system_side *side, double t) {
    double dy[STATE_MAX];
    if ((side->direct ? direct_rates(r, t, side->y, dy) : robot_rates(r, t, side->y, dy)) >= 0) {
        double norm = 0.0;
        for (size_t i = 0; i < r->c->robot.task; i++)
            norm += r->f_r[i] * r->f_r[i];
        side->touch.peak = fmax(side->touch.peak, sqrt(norm));
    }
}

/* Integrates one side to `to`, restarting at each event. */
static ff_status advance(run *r, system_side *side, double *t, double to, bool restart) {
    if (restart && CVodeReInit(side->cvode, *t, side->vector) != CV_SUCCESS)
        return FF_ERR_CONVERGENCE;
    int stuck = 0;
    for (int step = 0; *t < to; step++) {
        if (step == STEPS_MAX) /* a motion so fast that it will never end */
            return FF_ERR_CONVERGENCE;
        if (CVodeSetStopTime(side->cvode, to) != CV_SUCCESS)
            return FF_ERR_CONVERGENCE;
        const double before = *t;
        /* One step at a time, so that the peak force between two samples is seen. */
        const int flag = CVode(side->cvode, to, side->vector, t, CV_ONE_STEP);
        if (flag < 0)
            return side->fault < 0 ? side->fault : FF_ERR_CONVERGENCE;
        for (size_t i = 0; i < side->size; i++)
            if (!(fabs(side->y[i]) < 1e9))
                return FF_ERR_DIVERGED;
        if (r->c->wall.present)
            watch_force(r, side, *t);
        if (flag == CV_ROOT_RETURN) {
            int found[2];
            CVodeGetRootInfo(side->cvode, found);
            if (found[0])
                side->touch.inside = found[0] > 0;
            if (found[1])
                side->touch.pushing = found[1] > 0;
            if (side->touch.inside && side->touch.pushing && isnan(side->touch.first))
                side->touch.first = *t;
            watch_force(r, side, *t);
            stuck = *t - before < 1e-13 ? stuck + 1 : 0;
            if (stuck > 50 || CVodeReInit(side->cvode, *t, side->vector) != CV_SUCCESS)
                return FF_ERR_CONVERGENCE;
        } else if (flag == CV_TSTOP_RETURN) {
            break;
        }
    }
    *t = to;
    return FF_OK;
}

/* ----------------------------------------------------------------------------------------------- sampling --
 */

static void task_numbers(const ff_mechanism *m, const ff_task_pose *pose, double *out) {
    if (!m->spatial) {
        memcpy(out, pose->x, sizeof *out * m->task);
        return;
    }
    const ff_vec3 rotation = ff_quat_log(pose->pose.q);
    for (size_t i = 0; i < 3; i++) {
        out[i] = rotation.a[i];
        out[3 + i] = pose->pose.p.a[i];
    }
}

static ff_status take_sample(run *r, double t, ff_emulate_sample *s, ff_emulate_result *result) {
    const ff_emulate_config *c = r->c;
    const size_t n = c->robot.task;
    double dy[STATE_MAX];
    memset(s, 0, sizeof *s);
    s->t = t;
    ff_status status = direct_rates(r, t, r->direct.y, dy);
    if (status < 0)
        return status;
    const ff_task_pose direct = r->terms.pose;
    memcpy(s->f_direct, r->f_r, sizeof s->f_direct);
    memcpy(s->q_direct, r->direct.y, sizeof *dy * c->target.positions);
    status = robot_rates(r, t, r->robot.y, dy);
    if (status < 0)
        return status;
    const ff_task_pose robot = r->terms.pose;
    memcpy(s->f, r->f_r, sizeof s->f);
    if (c->sampled) {
        /* Lib's state at this instant, as the coming step will see it; the state itself is not advanced. */
        double force[FF_EMULATION_DOF_MAX], measured[FF_EMULATION_TASK_MAX], p_dd[FF_EMULATION_TASK_MAX];
        for (size_t i = 0; i < n; i++)
            measured[i] = s->f[i] + c->sensor.force_bias[i];
        target_force(c, t, r->state.q, r->state.v, measured, force);
        const ff_emulation_in in = {r->robot.y, r->robot.y + n, measured, force,
                                    c->emulation.force_gain > 0.0 ? r->p_dd : NULL};
        status = ff_emulation_control(&r->model, &r->state, &r->work, &in, &r->out);
        if (status >= 0)
            status = robot_acceleration(r, &r->terms, r->out.torque, s->f, dy, p_dd);
        if (status == FF_OK)
            status = ff_emulation_target(&r->model, &r->state, &r->work, measured, p_dd, &r->out);
        if (status < 0)
            return status;
    }
    memcpy(s->torque, r->out.torque, sizeof s->torque);
    memcpy(s->lambda, r->out.lambda, sizeof s->lambda);
    memcpy(s->constraint, r->out.constraint, sizeof s->constraint);
    memcpy(s->q_s, r->work.q, sizeof *dy * c->target.positions);
    task_numbers(&c->robot, &robot, s->p_r);
    task_numbers(&c->robot, &direct, s->p_direct);
    ff_task_difference(&c->robot, &robot, &direct, s->pose_error);
    s->energy = s->energy_direct = FF_NAN;
    if (c->target.energy) {
        s->energy = c->target.energy(&c->target, r->work.q, r->work.v);
        s->energy_direct = c->target.energy(&c->target, r->direct.y, r->direct.y + c->target.positions);
        result->energy_error = fmax(result->energy_error, fabs(s->energy - s->energy_direct));
    }
    result->pose_error = fmax(result->pose_error, largest(s->pose_error, n));
    for (size_t i = 0; i < c->target.positions; i++)
        result->state_error = fmax(result->state_error, fabs(s->q_s[i] - s->q_direct[i]));
    for (size_t i = 0; i < n; i++) {
        result->contact_error = fmax(result->contact_error, fabs(s->f[i] - s->f_direct[i]));
        if (fabs(s->constraint[i]) > fabs(result->constraint))
            result->constraint = s->constraint[i];
        result->force_error = fmax(result->force_error, fabs(r->out.force_error[i]));
    }
    double p_dot[FF_EMULATION_TASK_MAX];
    task_velocity(&c->robot, &r->terms, r->robot.y + n, p_dot);
    ff_emulate_bounds_see(&r->bounds, &c->emulation, &c->target, s->q_s, p_dot, c->cycle, &r->work);
    return FF_OK;
}

/* One sampled cycle: measure, lib's step, then the plant under the held torque. Delayed commands switch
 * inside the cycle when the delay is not a multiple of it. */
static ff_status sampled_cycle(run *r, double *t, double to, double (*line)[FF_EMULATION_TASK_MAX],
                               size_t whole, double part, size_t k) {
    const ff_emulate_config *c = r->c;
    const size_t n = c->robot.dof;
    double dy[STATE_MAX], measured[FF_EMULATION_TASK_MAX], force[FF_EMULATION_DOF_MAX];
    ff_status status =
        robot_rates(r, *t, r->robot.y, dy); /* true f and p_r'' under the torque of the last cycle */
    if (status < 0)
        return status;
    for (size_t i = 0; i < n; i++)
        measured[i] = r->f_r[i] + c->sensor.force_bias[i] + c->sensor.force_noise * ff_rng_normal(&r->rng);
    target_force(c, *t, r->state.q, r->state.v, measured, force);
    const ff_emulation_in in = {r->robot.y, r->robot.y + n, measured, force,
                                c->emulation.force_gain > 0.0 ? r->p_dd : NULL};
    status = ff_emulation_step(&r->model, &r->state, &r->work, &in, to - *t, &r->out);
    if (status < 0)
        return status;
    r->damped |= r->out.robot_damped || r->out.target_damped;
    r->limited |= r->out.limited;
    const size_t slots = whole + 2;
    memcpy(line[k % slots], r->out.torque, sizeof line[0]);
    const double from = *t, switches = from + part * (to - from);
    static const double nothing[FF_EMULATION_TASK_MAX] = {0};
    if (part > 0.0) {
        memcpy(r->held, k > whole ? line[(k - whole - 1) % slots] : nothing, sizeof r->held);
        status = advance(r, &r->robot, t, switches, true);
        if (status != FF_OK)
            return status;
    }
    memcpy(r->held, k >= whole ? line[(k - whole) % slots] : nothing, sizeof r->held);
    return advance(r, &r->robot, t, to, true);
}

static ff_status check(const ff_emulate_config *c, char *message, size_t size) {
    if (!isfinite(c->duration) || !isfinite(c->cycle) || !(c->cycle > 0.0) || !(c->duration >= c->cycle))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "time: cycle must be > 0 and duration at least one cycle");
    if (!(c->actuator.bandwidth > 0.0))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "actuator_bandwidth must be > 0");
    if (!(c->actuator.delay >= 0.0) || !isfinite(c->actuator.delay))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "actuator delay must be >= 0");
    if (!c->sampled && (c->actuator.delay > 0.0 || c->sensor.force_noise > 0.0))
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "a pure delay or noise needs controller: sampled");
    if (c->wall.present && (!(c->wall.stiffness > 0.0) || !(c->wall.damping >= 0.0) ||
                            !isfinite(c->wall.stiffness) || !isfinite(c->wall.damping)))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "wall: stiffness must be > 0, damping >= 0");
    return FF_OK;
}

static ff_status run_all(run *r, ff_emulate_result *result, char *message, size_t size) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *s = &c->target;
    const size_t n = c->robot.dof;
    ff_status status = ff_emulation_create(&c->emulation, s, &c->robot_model, &r->model, message, size);
    if (status != FF_OK)
        return status;
    status = ff_emulation_reset(&r->model, &r->state, &r->work, c->q_s, c->v_s, c->q_r, c->v_r);
    if (status != FF_OK)
        return ff_refuse(status, message, size, "%s",
                         status == FF_ERR_REACH ? "target and robot must start at the same end-effector pose"
                         : status == FF_ERR_SINGULAR ? "the start pose is singular for target or robot"
                                                     : "the start is not finite");
    /* The robot starts under the torque that its actuators already hold: none, or with a bandwidth the first
     * command. */
    memcpy(r->robot.y, c->q_r, sizeof *r->robot.y * n);
    memcpy(r->robot.y + n, c->v_r, sizeof *r->robot.y * n);
    r->lagged = isfinite(c->actuator.bandwidth);
    double *tail = r->robot.y + 2 * n + (r->lagged ? n : 0);
    if (!c->sampled) {
        memcpy(tail, c->q_s, sizeof *tail * s->positions);
        tail += s->positions;
        memcpy(tail, c->v_s, sizeof *tail * s->dof);
        tail += s->dof;
        if (s->spatial) {
            const ff_pose *p = &r->state.reference.pose;
            memcpy(tail, (double[]){p->q.w, p->q.x, p->q.y, p->q.z, p->p.x, p->p.y, p->p.z},
                   7 * sizeof *tail);
        } else {
            memcpy(tail, r->state.reference.x, sizeof *tail * n);
        }
        tail += reference_size(s);
        memcpy(tail, r->state.reference_v, sizeof *tail * n);
        tail += n;
    }
    r->robot.size = (size_t)(tail - r->robot.y);
    r->direct.direct = true;
    r->direct.size = s->positions + s->dof;
    memcpy(r->direct.y, c->q_s, sizeof *tail * s->positions);
    memcpy(r->direct.y + s->positions, c->v_s, sizeof *tail * s->dof);
    if (SUNContext_Create(NULL, &r->sun) != 0)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    status = start_side(r, &r->robot);
    if (status == FF_OK)
        status = start_side(r, &r->direct);
    if (status != FF_OK)
        return ff_refuse(status, message, size, "the solver could not be set up");
    if (c->wall.present && r->robot.touch.inside)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the end effector starts inside the wall");
    if (r->lagged && !c->sampled) {
        double dy[STATE_MAX];
        if (robot_rates(r, 0.0, r->robot.y, dy) >= 0)
            memcpy(r->robot.y + 2 * n, r->out.torque, sizeof *dy * n);
    }
    ff_rng_seed(&r->rng, c->sensor.seed, 1);

    const size_t cycles = (size_t)llround(c->duration / c->cycle);
    const double ratio = c->actuator.delay / c->cycle;
    const size_t whole = (size_t)floor(ratio + 1e-9);
    const double part = fmax(ratio - (double)whole, 0.0) > 1e-9 ? ratio - (double)whole : 0.0;
    double(*line)[FF_EMULATION_TASK_MAX] = calloc(whole + 2, sizeof *line);
    result->sample = calloc(cycles + 1, sizeof *result->sample);
    result->positions = s->positions;
    if (!line || !result->sample) {
        free(line);
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    }
    double t_r = 0.0, t_d = 0.0;
    for (size_t k = 0; k <= cycles && status == FF_OK; k++) {
        status = take_sample(r, (double)k * c->cycle, &result->sample[k], result);
        if (status != FF_OK)
            break;
        result->samples = k + 1;
        if (k == cycles)
            break;
        const double to = (double)(k + 1) * c->cycle;
        status = advance(r, &r->direct, &t_d, to, false);
        if (status == FF_OK)
            status = c->sampled ? sampled_cycle(r, &t_r, to, line, whole, part, k)
                                : advance(r, &r->robot, &t_r, to, false);
        if (status != FF_OK && message && size)
            snprintf(message, size, "the emulation failed at t = %.4f s: %s", (double)k * c->cycle,
                     ff_status_text(status));
    }
    free(line);
    result->contact_s = r->robot.touch.first;
    result->contact_direct_s = r->direct.touch.first;
    result->peak_force = r->robot.touch.peak;
    if (result->samples) {
        const ff_emulate_sample *last = &result->sample[result->samples - 1];
        for (size_t i = 0; i < (s->spatial ? 3 : s->task); i++)
            result->final_force -= last->f[s->spatial ? 3 + i : i] * c->wall.normal[i];
    }
    result->force_gain_bound = r->bounds.force_gain;
    result->clik_bound = ff_emulate_bounds_ball(&r->bounds, &c->emulation);
    result->damped = r->damped;
    result->limited = r->limited;
    return status;
}

ff_status ff_emulate_run(const ff_emulate_config *config, ff_emulate_result *result, char *message,
                         size_t size) {
    memset(result, 0, sizeof *result);
    result->contact_s = result->contact_direct_s = FF_NAN;
    ff_status status = check(config, message, size);
    if (status != FF_OK)
        return status;
    run *r = calloc(1, sizeof *r);
    if (!r)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    r->c = config;
    status = run_all(r, result, message, size);
    end_side(&r->robot);
    end_side(&r->direct);
    if (r->sun)
        SUNContext_Free(&r->sun);
    free(r);
    if (status != FF_OK && result->samples == 0)
        ff_emulate_free(result);
    return status;
}

void ff_emulate_free(ff_emulate_result *result) {
    free(result->sample);
    result->sample = NULL;
    result->samples = 0;
}
