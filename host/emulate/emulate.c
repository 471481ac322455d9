/* An emulation: robot and controller beside the target itself, integrated to the solver's tolerance between
 * contacts and samples. */
#include "emulate/internal.h"
#include "ideal/vector.h"
#include "text/message.h"

#include <cvode/cvode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adams with the fixed-point iteration: the systems are smooth between events and mildly stiff at most. */
static const double RTOL = 1e-12, ATOL = 1e-14;

void ff_emulate_default(ff_emulate_config *config) {
    memset(config, 0, sizeof *config);
    ff_emulation_default(&config->emulation);
    config->actuator.bandwidth = FF_INF;
    for (size_t i = 0; i < FF_EMULATION_TASK_MAX; i++)
        config->actuator.torque_max[i] = FF_INF;
    config->cycle = 0.001;
    config->duration = 1.0;
}

static int rates(double t, N_Vector y, N_Vector dy, void *user) {
    system_side *side = user;
    const double *in = N_VGetArrayPointer(y);
    double *out = N_VGetArrayPointer(dy);
    const ff_status status = side->direct ? ff__emulate_direct_rates(side->r, t, in, out)
                                          : ff__emulate_robot_rates(side->r, t, in, out);
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
    ff__emulate_task_velocity(m, &side->r->terms, y + m->positions, velocity);
    ff__emulate_wall_gap(c, m, &side->r->terms.pose, velocity, depth, force);
}

static int roots(double t, N_Vector y, double *g, void *user) {
    (void)t;
    contact_signs(user, N_VGetArrayPointer(y), &g[0], &g[1]);
    return 0;
}

/* ------------------------------------------------------------------------------------------------- solver --
 */

void ff__emulate_touch(system_side *side) {
    if (!side->r->c->wall.present)
        return;
    double depth, force;
    contact_signs(side, side->y, &depth, &force);
    side->touch.inside = depth > 0.0;
    side->touch.pushing = force > 0.0;
}

ff_status ff__emulate_start_side(run *r, system_side *side) {
    side->r = r;
    side->fault = FF_OK;
    side->touch = (touch){.first = FF_NAN};
    ff__emulate_touch(side);
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
void ff__emulate_end_side(system_side *side) {
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
    if ((side->direct ? ff__emulate_direct_rates(r, t, side->y, dy)
                      : ff__emulate_robot_rates(r, t, side->y, dy)) >= 0) {
        double norm = 0.0;
        for (size_t i = 0; i < r->c->robot.task; i++)
            norm += r->f_r[i] * r->f_r[i];
        side->touch.peak = fmax(side->touch.peak, sqrt(norm));
    }
}

ff_status ff__emulate_advance(run *r, system_side *side, double *t, double to, bool restart) {
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
    ff_status status = ff__emulate_direct_rates(r, t, r->direct.y, dy);
    if (status < 0)
        return status;
    const ff_task_pose direct = r->terms.pose;
    memcpy(s->f_direct, r->f_r, sizeof s->f_direct);
    memcpy(s->q_direct, r->direct.y, sizeof *dy * c->target.positions);
    const double *q_r = r->robot.y, *v_r = r->robot.y + n;
    if (c->sampled) {
        q_r = r->reading.q;
        v_r = r->reading.v;
        c->robot.terms(&c->robot, q_r, v_r, FF_TERMS_ALL, &r->terms);
        memcpy(r->f_r, r->reading.true_f, sizeof r->f_r);
    } else {
        status = ff__emulate_robot_rates(r, t, r->robot.y, dy);
        if (status < 0)
            return status;
    }
    const ff_task_pose robot = r->terms.pose;
    memcpy(s->f, r->f_r, sizeof s->f);
    if (c->sampled) {
        /* Lib's state at this instant, as the coming step will see it; the state itself is not advanced. */
        double force[FF_EMULATION_DOF_MAX], measured[FF_EMULATION_TASK_MAX], p_dd[FF_EMULATION_TASK_MAX];
        for (size_t i = 0; i < n; i++)
            measured[i] = s->f[i] + c->sensor.force_bias[i];
        ff__emulate_target_force(c, t, r->state.q, r->state.v, measured, force);
        const ff_emulation_in in = {q_r, v_r, measured, force,
                                    c->emulation.force_gain > 0.0 ? r->reading.p_dd : NULL};
        status = ff_emulation_control(&r->model, &r->state, &r->work, &in, &r->out);
        if (status >= 0)
            status = ff__emulate_robot_acceleration(r, &r->terms, r->out.torque, s->f, dy, p_dd);
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
    ff__emulate_task_velocity(&c->robot, &r->terms, v_r, p_dot);
    ff_emulate_bounds_see(&r->bounds, &c->emulation, &c->target, s->q_s, p_dot, c->cycle, &r->work);
    return FF_OK;
}

/* One cycle of a sampled controller: lib's step on what was read; r->out has the torque. */
ff_status ff__emulate_control(run *r, double t, double T, const ff_emulate_reading *x) {
    const ff_emulate_config *c = r->c;
    double force[FF_EMULATION_DOF_MAX];
    ff__emulate_target_force(c, t, r->state.q, r->state.v, x->f, force);
    const ff_emulation_in in = {x->q, x->v, x->f, force, c->emulation.force_gain > 0.0 ? x->p_dd : NULL};
    const ff_status status = ff_emulation_step(&r->model, &r->state, &r->work, &in, T, &r->out);
    if (status < 0)
        return status;
    r->damped |= r->out.robot_damped || r->out.target_damped;
    r->limited |= r->out.limited;
    return FF_OK;
}

ff_status ff__emulate_check(const ff_emulate_config *c, char *message, size_t size) {
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

/* What the solvers integrate: the robot with its controller's numbers, and the target alone. */
static void pack_start(run *r) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *s = &c->target;
    const size_t n = c->robot.dof;
    memcpy(r->robot.y, c->q_r, sizeof *r->robot.y * n);
    memcpy(r->robot.y + n, c->v_r, sizeof *r->robot.y * n);
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
        tail += ff__emulate_reference_size(s);
        memcpy(tail, r->state.reference_v, sizeof *tail * n);
        tail += n;
    }
    r->robot.size = (size_t)(tail - r->robot.y);
    r->direct.direct = true;
    r->direct.size = s->positions + s->dof;
    memcpy(r->direct.y, c->q_s, sizeof *tail * s->positions);
    memcpy(r->direct.y + s->positions, c->v_s, sizeof *tail * s->dof);
}

ff_status ff__emulate_begin_controller(run *r, char *message, size_t size) {
    const ff_emulate_config *c = r->c;
    ff_status status =
        ff_emulation_create(&c->emulation, &c->target, &c->robot_model, &r->model, message, size);
    if (status != FF_OK)
        return status;
    status = ff_emulation_reset(&r->model, &r->state, &r->work, c->q_s, c->v_s, c->q_r, c->v_r);
    if (status != FF_OK)
        return ff_refuse(status, message, size, "%s",
                         status == FF_ERR_REACH ? "target and robot must start at the same end-effector pose"
                         : status == FF_ERR_SINGULAR ? "the start pose is singular for target or robot"
                                                     : "the start is not finite");
    r->lagged = isfinite(c->actuator.bandwidth);
    return FF_OK;
}

static ff_status begin(run *r, char *message, size_t size) {
    const ff_emulate_config *c = r->c;
    const size_t n = c->robot.dof;
    ff_status status = ff__emulate_begin_controller(r, message, size);
    if (status != FF_OK)
        return status;
    pack_start(r);
    if (SUNContext_Create(NULL, &r->sun) != 0)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    status = c->sampled ? FF_OK : ff__emulate_start_side(r, &r->robot);
    if (status == FF_OK)
        status = ff__emulate_start_side(r, &r->direct);
    if (status != FF_OK)
        return ff_refuse(status, message, size, "the solver could not be set up");
    if (c->wall.present && r->robot.touch.inside)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the end effector starts inside the wall");
    /* The robot starts under the torque that its actuators already hold: none, or with a bandwidth the first
     * command. */
    if (r->lagged && !c->sampled) {
        double dy[STATE_MAX];
        if (ff__emulate_robot_rates(r, 0.0, r->robot.y, dy) >= 0)
            memcpy(r->robot.y + 2 * n, r->out.torque, sizeof *dy * n);
    }
    return FF_OK;
}

/* A sampled controller and its robot, one cycle: what was read is answered by a torque, held until `to`. */
static ff_status drive(run *r, const ff_emulate_robot *robot, double t, double to) {
    const ff_status status = ff__emulate_control(r, t, to - t, &r->reading);
    return status < 0 ? status : robot->drive(robot->self, r->out.torque);
}

/* What the readings show of the contact. */
static void see_contact(run *r, double t) {
    double norm = 0.0;
    for (size_t i = 0; i < r->c->robot.task; i++)
        norm += r->reading.f[i] * r->reading.f[i];
    if (norm > 0.0 && isnan(r->robot.touch.first))
        r->robot.touch.first = t;
    r->robot.touch.peak = fmax(r->robot.touch.peak, sqrt(norm));
}

/* Cycle by cycle into the samples. */
static ff_status advance_all(run *r, const ff_emulate_robot *robot, ff_emulate_result *result, char *message,
                             size_t size) {
    const ff_emulate_config *c = r->c;
    const size_t cycles = (size_t)llround(c->duration / c->cycle);
    result->sample = calloc(cycles + 1, sizeof *result->sample);
    result->positions = c->target.positions;
    if (!result->sample)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    double t_r = 0.0, t_d = 0.0;
    ff_status status = FF_OK;
    r->robot.touch.first = c->sampled ? FF_NAN : r->robot.touch.first;
    for (size_t k = 0; k <= cycles && status == FF_OK; k++) {
        const double t = (double)k * c->cycle, to = (double)(k + 1) * c->cycle;
        if (c->sampled) {
            status = robot->read(robot->self, &r->reading);
            see_contact(r, t);
        }
        if (status == FF_OK)
            status = take_sample(r, t, &result->sample[k], result);
        if (status != FF_OK)
            break;
        result->samples = k + 1;
        if (k == cycles)
            break;
        status = ff__emulate_advance(r, &r->direct, &t_d, to, false);
        if (status == FF_OK)
            status = c->sampled ? drive(r, robot, t, to) : ff__emulate_advance(r, &r->robot, &t_r, to, false);
        if (status != FF_OK && message && size)
            snprintf(message, size, "the emulation failed at t = %.4f s: %s", t, ff_status_text(status));
    }
    return status;
}

static ff_status run_all(run *r, const ff_emulate_robot *robot, ff_emulate_result *result, char *message,
                         size_t size) {
    const ff_emulate_config *c = r->c;
    const ff_mechanism *s = &c->target;
    ff_status status = begin(r, message, size);
    if (status == FF_OK)
        status = advance_all(r, robot, result, message, size);
    if (!result->sample)
        return status;
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

ff_status ff_emulate_run_on(const ff_emulate_config *config, const ff_emulate_robot *robot,
                            ff_emulate_result *result, char *message, size_t size) {
    memset(result, 0, sizeof *result);
    result->contact_s = result->contact_direct_s = FF_NAN;
    ff_status status = ff__emulate_check(config, message, size);
    if (status != FF_OK)
        return status;
    run *r = calloc(1, sizeof *r);
    if (!r)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory");
    r->c = config;
    status = run_all(r, robot, result, message, size);
    ff__emulate_end_side(&r->robot);
    ff__emulate_end_side(&r->direct);
    if (r->sun)
        SUNContext_Free(&r->sun);
    free(r);
    if (status != FF_OK && result->samples == 0)
        ff_emulate_free(result);
    return status;
}

ff_status ff_emulate_run(const ff_emulate_config *config, ff_emulate_result *result, char *message,
                         size_t size) {
    if (!config->sampled)
        return ff_emulate_run_on(config, NULL, result, message, size);
    memset(result, 0, sizeof *result);
    result->contact_s = result->contact_direct_s = FF_NAN;
    ff_status status;
    ff_emulate_plant *plant = ff_emulate_plant_create(config, message, size, &status);
    if (!plant)
        return status;
    const ff_emulate_robot robot = ff_emulate_plant_robot(plant);
    status = ff_emulate_run_on(config, &robot, result, message, size);
    if (result->samples) /* what no reading shows */
        ff_emulate_plant_contact(plant, &result->contact_s, &result->peak_force);
    ff_emulate_plant_free(plant);
    return status;
}

void ff_emulate_free(ff_emulate_result *result) {
    free(result->sample);
    result->sample = NULL;
    result->samples = 0;
}
