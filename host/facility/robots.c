#include "facility/robots.h"
#include "text/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOST_COMMANDS = 1 << 20, READINGS = 1 << 21 }; /* streams beside that of the jitter */

/* ---------------------------------------------------------------------------------------------- delay -- */

/* Before t = 0 the robot was commanded the initial twist, for ever: constant velocity, constant body rate. */
static ff_setpoint before_start(const ff_robot *robot, double t) {
    ff_setpoint s = robot->start;
    t += robot->lead;
    s.T.p = ff_vec3_axpy(t, s.twist.v, s.T.p);
    s.T.q = ff_quat_mul(s.T.q, ff_quat_exp(ff_vec3_scale(t, s.twist.w)));
    return s;
}

/* A robot that gets no command stands at its last one. */
static void hold_until(ff_robot *robot, uint64_t k) {
    while (robot->written <= k) {
        ff_setpoint s = robot->start;
        if (robot->written > 0) {
            s = robot->ring[(robot->written - 1) & robot->mask];
            s.twist = ff_twist_zero();
        }
        robot->ring[robot->written++ & robot->mask] = s;
    }
}

/* Whether the command of cycle k is lost: drawn once, also where it is written anew. */
static bool is_lost(ff_robot *robot, uint64_t k) {
    const double lost = robot->config.kind == FF_ROBOT_IDEAL ? 0.0 : robot->config.lost;
    for (; lost > 0.0 && robot->drawn <= k; robot->drawn++)
        robot->lost_now = ff_rng_uniform(&robot->losses) < lost;
    return lost > 0.0 && robot->lost_now;
}

void ff_robot_write(ff_robot *robot, uint64_t k, const ff_setpoint *command) {
    if (is_lost(robot, k)) {
        hold_until(robot, k);
        return;
    }
    if (k > 0)
        hold_until(robot, k - 1);
    robot->ring[k & robot->mask] = *command;
    if (robot->written <= k)
        robot->written = k + 1;
}

/* 0.040/0.004 is not 10 in binary: a delay within 1e-9 of a whole number of cycles is one. */
static void split(double cycles, uint64_t *whole, double *part) {
    const double nearest = round(cycles);
    if (fabs(cycles - nearest) < 1e-9) {
        *whole = (uint64_t)nearest;
        *part = 0.0;
    } else {
        *whole = (uint64_t)floor(cycles);
        *part = cycles - floor(cycles);
    }
}

/* The delay of the next cycle. Without jitter nothing is drawn. */
static void draw_delay(ff_robot *robot) {
    const double delay = robot->config.delay, jitter = robot->config.jitter;
    if (robot->config.kind == FF_ROBOT_IDEAL || !(jitter > 0.0))
        return;
    const double drawn = ff_rng_range(&robot->rng, delay - jitter, delay + jitter);
    split(fmax(drawn, 0.0) / robot->cycle, &robot->whole_now, &robot->part_now);
}

bool ff_robot_late(const ff_robot *robot) {
    const ff_robot_config *c = &robot->config;
    return c->kind != FF_ROBOT_IDEAL &&
           (c->jitter > 0.0 ? c->delay - c->jitter >= robot->cycle : robot->whole_now >= 1);
}

/* The command issued at t_k minus the delay of this cycle. Command k - delay need not have been written: the
 * robot then holds. */
static ff_setpoint delayed_command(ff_robot *robot, uint64_t k) {
    const uint64_t whole = robot->whole_now;
    const bool fraction = robot->part_now > 0.0;
    /* a method's first command, made with its lead, lies off the straight line before it */
    const bool straight = !(robot->lead > 0.0 && robot->written > 0);
    if (k < whole || (k == whole && fraction && straight))
        return before_start(robot, ((double)k - (double)whole - robot->part_now) * robot->cycle);
    const uint64_t j = k - whole;
    hold_until(robot, j);
    const ff_setpoint *b = &robot->ring[j & robot->mask];
    if (!fraction)
        return *b;
    const ff_setpoint *a = &robot->ring[(j - 1) & robot->mask];
    ff_setpoint first;
    if (j == 0) {
        first = before_start(robot, -robot->cycle);
        a = &first;
    }
    const double s = 1.0 - robot->part_now;
    return (ff_setpoint){ff_pose_interpolate(a->T, b->T, s),
                         {ff_vec3_axpy(s, ff_vec3_sub(b->twist.w, a->twist.w), a->twist.w),
                          ff_vec3_axpy(s, ff_vec3_sub(b->twist.v, a->twist.v), a->twist.v)}};
}

/* ------------------------------------------------------------------------------------------------ lag -- */

/* Transition over one cycle of y'' + 2 z w y' + w^2 y = 0:
 *   y(T)  = (C + z w S) y + S y'
 *   y'(T) = -w^2 S y + (C - z w S) y'
 * with s^2 = w^2 |1 - z^2|, C = exp(-z w T) cos(s T), S = exp(-z w T) sin(s T)/s (hyperbolic for z > 1). */
static void lag_transition(ff_robot_lag *lag, double T) {
    const double w = lag->w, z = lag->z, s = w * sqrt(fabs(1.0 - z * z));
    double C, S;
    if (s * T < 1e-4) { /* near z = 1: three terms are exact to rounding */
        const double x = (z > 1.0 ? 1.0 : -1.0) * s * s * T * T, decay = exp(-z * w * T);
        C = decay * (1.0 + x / 2.0 + x * x / 24.0);
        S = decay * T * (1.0 + x / 6.0 + x * x / 120.0);
    } else if (z < 1.0) {
        const double decay = exp(-z * w * T);
        C = decay * cos(s * T);
        S = decay * sin(s * T) / s;
    } else { /* written so that no exponential overflows: s < z w */
        const double slow = exp((s - z * w) * T), fast = exp(-(s + z * w) * T);
        C = 0.5 * (slow + fast);
        S = 0.5 * (slow - fast) / s;
    }
    lag->phi[0][0] = C + z * w * S;
    lag->phi[0][1] = S;
    lag->phi[1][0] = -w * w * S;
    lag->phi[1][1] = C - z * w * S;
}

/* One axis over one cycle, exactly: x'' = w^2 (u - x) + 2 z w (u' - x'), where u and u' run linearly from
 * (u0, d0) to (u1, d1). The input b = w^2 u + 2 z w u' is then linear in time, x_p = b/w^2 - 2 z b'/w^3
 * solves the equation, and the rest decays freely. Everything is taken relative to u0: a steady motion stays
 * steady to rounding at any distance from the origin. */
static void lag_axis(const ff_robot_lag *lag, double T, double u0, double u1, double d0, double d1, double *x,
                     double *v) {
    const double q = 2.0 * lag->z / lag->w;
    const double slope = ((u1 - u0) + q * (d1 - d0)) / T;
    const double offset = q * (d0 - slope);
    const double e = (*x - u0) - offset, de = *v - slope;
    *x = u0 + (offset + slope * T + lag->phi[0][0] * e + lag->phi[0][1] * de);
    *v = slope + lag->phi[1][0] * e + lag->phi[1][1] * de;
}

/* Body rate of q = q0 exp(r): w = J r', J = 1 - A [r] + B [r]^2, A = (1 - cos a)/a^2, B = (a - sin a)/a^3. */
static ff_vec3 rate_to_body(ff_vec3 r, ff_vec3 dr) {
    const double a2 = ff_vec3_dot(r, r);
    double A, B;
    if (a2 < 1e-4) { /* next terms a^6/40320, a^6/362880 */
        A = 0.5 - a2 / 24.0 + a2 * a2 / 720.0;
        B = 1.0 / 6.0 - a2 / 120.0 + a2 * a2 / 5040.0;
    } else {
        const double a = sqrt(a2), h = sin(0.5 * a);
        A = 2.0 * h * h / a2;
        B = (a - sin(a)) / (a2 * a);
    }
    const ff_vec3 c = ff_vec3_cross(r, dr);
    return ff_vec3_axpy(B, ff_vec3_cross(r, c), ff_vec3_axpy(-A, c, dr));
}

/* Attitude: the same axis law on the rotation vector r of q = q(k-1) exp(r), the chart laid anew each cycle
 * at the robot's own attitude; the command's rate is turned into its axes. About one axis this is the linear
 * law exactly; as T -> 0 it is w' = w_n^2 e + 2 z w_n (R w_u - w), e the rotation vector from robot to
 * command. */
static void lag_step(ff_robot *robot, const ff_setpoint *u0, const ff_setpoint *u1) {
    const ff_robot_lag *lag = &robot->lag;
    const double T = robot->cycle;
    ff_setpoint *now = &robot->now;
    for (int i = 0; i < 3; i++)
        lag_axis(lag, T, u0->T.p.a[i], u1->T.p.a[i], u0->twist.v.a[i], u1->twist.v.a[i], &now->T.p.a[i],
                 &now->twist.v.a[i]);

    const ff_quat inverse = ff_quat_conj(now->T.q);
    const ff_quat q0 = ff_quat_mul(inverse, u0->T.q), q1 = ff_quat_mul(inverse, u1->T.q);
    const ff_vec3 r0 = ff_quat_log(q0), r1 = ff_quat_log(q1);
    const ff_vec3 d0 = ff_quat_rotate(q0, u0->twist.w), d1 = ff_quat_rotate(q1, u1->twist.w);
    ff_vec3 r = ff_vec3_zero(), dr = now->twist.w; /* J(0) = 1 */
    for (int i = 0; i < 3; i++)
        lag_axis(lag, T, r0.a[i], r1.a[i], d0.a[i], d1.a[i], &r.a[i], &dr.a[i]);
    const ff_quat q = ff_quat_mul(now->T.q, ff_quat_exp(r));
    /* ff_quat_unit would turn NaN into the identity and hide a divergence */
    const double n = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    now->T.q = (ff_quat){n * q.w, n * q.x, n * q.y, n * q.z};
    now->twist.w = rate_to_body(r, dr);
}

/* -------------------------------------------------------------------------------------------- limited -- */

/* The limiter meets a target that continues with constant velocity, given where it is at the start of the
 * step. The delayed command is known at the end of it, so it is led back by one cycle: a robot that keeps up
 * is at the delayed command itself, with no hidden cycle. Its linear axes are those of its base. */
static void limited_step(ff_robot *robot, const ff_setpoint *target) {
    const double T = robot->cycle;
    const ff_pose base = robot->config.base;
    ff_limiter_in in = {
        .pose = ff_pose_mul(ff_pose_inverse(base), target->T),
        .velocity = {target->twist.w, ff_quat_unrotate(base.q, target->twist.v)},
    };
    in.pose.p = ff_vec3_axpy(-T, in.velocity.v, in.pose.p);
    in.pose.q = ff_quat_mul(in.pose.q, ff_quat_exp(ff_vec3_scale(-T, in.velocity.w)));
    const ff_status status = ff_limiter_step(&robot->limits, &robot->follower, &in, T);
    if (status != FF_INFO_LIMITED) { /* on the target, to rounding; or a command that is not finite */
        robot->now = *target;
        return;
    }
    robot->now.T = ff_pose_mul(base, robot->follower.pose);
    robot->now.twist.w = robot->follower.velocity.w;
    robot->now.twist.v = ff_quat_rotate(base.q, robot->follower.velocity.v);
}

/* --------------------------------------------------------------------------------------------- joints -- */

const ff_arm_joints ff_robot_upright = {.a = {0, -0.5 * FF_PI, 0.5 * FF_PI, 0, 0.1, 0}};

/* Motors stand where the command's pose puts them; a pose out of reach leaves them. */
static void motors_follow(ff_robot *robot, ff_pose T_wb) {
    ff_robot_joints *j = &robot->joints;
    ff_arm_info info;
    j->before = j->motor;
    ff_arm_inverse(&j->arm, &T_wb, &j->motor, &j->motor, &info);
}

/* The arm at its axes' angles: their motion is the body's by J. */
static void find_jacobian(ff_robot_joints *j) {
    ff_arm_joints q = {.rail = 0.0};
    for (int a = 0; a < 6; a++)
        q.a[a] = j->q[a];
    ff_arm_jacobian(&j->arm, &q, j->J);
    j->T = ff_arm_forward(&j->arm, &q);
}

static ff_setpoint axes_motion(const ff_robot_joints *j) {
    ff_vec3 w = ff_vec3_zero(), v = ff_vec3_zero();
    for (int i = 0; i < 3; i++)
        for (int a = 0; a < 6; a++) {
            w.a[i] += j->J[i][a] * j->rate[a];
            v.a[i] += j->J[3 + i][a] * j->rate[a];
        }
    return (ff_setpoint){j->T, {ff_quat_unrotate(j->T.q, w), v}};
}

/* What the contact does to the axes in h seconds. */
static void push_axes(ff_robot *robot, double h) {
    ff_robot_joints *j = &robot->joints;
    const ff_vec3 t = ff_quat_rotate(j->T.q, j->contact_b.t), f = ff_quat_rotate(j->T.q, j->contact_b.f);
    const double wrench[6] = {t.x, t.y, t.z, f.x, f.y, f.z};
    for (int a = 0; a < 6; a++)
        for (int i = 0; i < 6; i++)
            j->rate[a] += h / robot->config.joint_inertia[a] * j->J[i][a] * wrench[i];
}

/* (10) on each axis, I q'' = K (theta - q) + D (theta' - q') + J^T f, theta linear over the cycle: half of
 * the contact's impulse, the gears by the midpoint rule, and (ff_robot_meet) the other half. Gravity and
 * Coriolis forces are left to the controller that holds them. */
void ff_robot_substep(ff_robot *robot, double from, double to) {
    ff_robot_joints *j = &robot->joints;
    const double h = (to - from) * robot->cycle, part = 0.5 * (from + to);
    push_axes(robot, 0.5 * h);
    for (int a = 0; a < 6; a++) {
        const double span = j->motor.a[a] - j->before.a[a], theta = j->before.a[a] + part * span;
        const double K = robot->config.gear_stiffness[a], D = robot->config.gear_damping[a];
        const double I = robot->config.joint_inertia[a], half = 0.5 * h * D / I;
        j->q[a] += 0.5 * h * j->rate[a];
        j->rate[a] = ((1.0 - half) * j->rate[a] + h / I * (K * (theta - j->q[a]) + D * span / robot->cycle)) /
                     (1.0 + half);
        j->q[a] += 0.5 * h * j->rate[a];
        j->free[a] = j->rate[a];
    }
    find_jacobian(j);
}

void ff_robot_meet(ff_robot *robot, ff_wrench contact_b, double from, double to) {
    ff_robot_joints *j = &robot->joints;
    memcpy(j->rate, j->free, sizeof j->rate);
    j->contact_b = contact_b;
    push_axes(robot, 0.5 * (to - from) * robot->cycle);
    if (to < 1.0)
        return;
    robot->now = axes_motion(j);
    robot->acceleration =
        ff_twist_scale(1.0 / robot->cycle, ff_twist_sub(robot->now.twist, robot->last.twist));
}

double ff_robot_mobility(const ff_robot *robot, ff_vec3 point) {
    const ff_robot_joints *j = &robot->joints;
    const ff_vec3 arm = ff_quat_rotate(j->T.q, point);
    double sum = 0.0;
    for (int a = 0; a < 6 && robot->config.kind == FF_ROBOT_JOINTS; a++) {
        const ff_vec3 w = ff_vec3_make(j->J[0][a], j->J[1][a], j->J[2][a]),
                      v = ff_vec3_add(ff_vec3_make(j->J[3][a], j->J[4][a], j->J[5][a]),
                                      ff_vec3_cross(w, arm));
        sum += ff_vec3_dot(v, v) / robot->config.joint_inertia[a];
    }
    return sum;
}

ff_setpoint ff_robot_between(const ff_robot *robot, double part) {
    if (robot->config.kind == FF_ROBOT_JOINTS)
        return axes_motion(&robot->joints);
    const ff_twist change = ff_twist_sub(robot->now.twist, robot->last.twist);
    return (ff_setpoint){ff_pose_interpolate(robot->last.T, robot->now.T, part),
                         ff_twist_add(robot->last.twist, ff_twist_scale(part, change))};
}

static ff_status joints_create(ff_robot *robot, char *message, size_t size) {
    const ff_robot_config *c = &robot->config;
    for (int a = 0; a < 6; a++)
        if (!(c->gear_stiffness[a] > 0.0) || !(c->gear_damping[a] >= 0.0) || !(c->joint_inertia[a] > 0.0)) {
            snprintf(message, size,
                     "a joints robot needs gear_stiffness and joint_inertia > 0, damping >= 0");
            return FF_ERR_ARGUMENT;
        }
    ff_arm_config arm;
    ff_arm_default(FF_ARM_KR16, &arm);
    arm.base = c->base;
    arm.tool = c->tool;
    ff_arm_info info = {0};
    ff_arm_joints joints = ff_robot_upright;
    ff_status status = ff_arm_create(&arm, &robot->joints.arm);
    if (status == FF_OK)
        status = ff_arm_inverse(&robot->joints.arm, &robot->start.T, &joints, &joints, &info);
    if (status != FF_OK)
        snprintf(message, size, "a KR 16 with this base and tool cannot hold the satellite at its start: %s",
                 ff_arm_reason_text(info.reason));
    return status;
}

/* At rest behind the gears, moving with the motors. */
static void joints_reset(ff_robot *robot) {
    ff_robot_joints *j = &robot->joints;
    j->motor = ff_robot_upright;
    const double start = (-1.0 - (double)robot->whole - robot->part) * robot->cycle;
    motors_follow(robot, before_start(robot, start - robot->cycle).T);
    motors_follow(robot, before_start(robot, start).T);
    for (int a = 0; a < 6; a++) {
        j->q[a] = j->motor.a[a];
        j->rate[a] = (j->motor.a[a] - j->before.a[a]) / robot->cycle;
    }
    j->contact_b = ff_wrench_zero();
    find_jacobian(j);
}

/* --------------------------------------------------------------------------------------------- wrench -- */

void ff_robot_push(ff_robot *robot, ff_wrench felt, ff_wrench reported) {
    robot->felt = felt;
    robot->reported = reported;
}

static ff_wrench momentum_of(const ff_rigid_model *m, ff_twist V) {
    return (ff_wrench){ff_mat3_apply(&m->inertia, V.w), ff_vec3_scale(m->mass, V.v)};
}

/* [destefano2021, (3), (9); for a base with an arm (14), (16)] The robot is a body with an inertia M of its
 * own on which its drive F_c and what it feels, F, act: M V' + C V = F_c + F. (9) is the F_c with which it
 * moves as (11) does; over one cycle from (g, V) to the command (g1, V1) this is, with the constant twist W =
 * log(g^-1 g1)/T of the displacement, an impulse M (W - V) at the start, C W during the cycle, M (V1 - W) at
 * its end, less T F as it is measured, in the mean M (V1 - V)/T + C W - F. Where F is measured right the
 * robot is at the command; what is not measured pushes it. */
static void wrench_step(ff_robot *robot, const ff_setpoint *target) {
    const ff_rigid_model *m = &robot->inertia;
    const double T = robot->cycle;
    const ff_twist V = {robot->now.twist.w, ff_quat_unrotate(robot->now.T.q, robot->now.twist.v)},
                   V1 = {target->twist.w, ff_quat_unrotate(target->T.q, target->twist.v)},
                   W = ff_twist_scale(1.0 / T,
                                      ff_pose_log(ff_pose_mul(ff_pose_inverse(robot->now.T), target->T)));
    const ff_wrench before = momentum_of(m, ff_twist_sub(W, V)), after = momentum_of(m, ff_twist_sub(V1, W));
    const ff_wrench gyro = {ff_vec3_cross(W.w, ff_mat3_apply(&m->inertia, W.w)),
                            ff_vec3_scale(m->mass, ff_vec3_cross(W.w, W.v))};
    const ff_wrench start =
        ff_wrench_sub(ff_wrench_scale(1.0 / T, before), robot->reported); /* of the drive */
    robot->driven = ff_wrench_add(start, ff_wrench_add(gyro, ff_wrench_scale(1.0 / T, after)));
    /* and the robot under it */
    const ff_wrench total = ff_wrench_add(start, robot->felt);
    ff_twist moved = {ff_vec3_axpy(T, ff_mat3_apply(&m->inertia_inv, total.t), V.w),
                      ff_vec3_axpy(T * m->mass_inv, total.f, V.v)};
    robot->now.T = ff_pose_mul(robot->now.T, ff_pose_exp(ff_twist_scale(T, moved)));
    const double n = 1.0 / sqrt(robot->now.T.q.w * robot->now.T.q.w + robot->now.T.q.x * robot->now.T.q.x +
                                robot->now.T.q.y * robot->now.T.q.y + robot->now.T.q.z * robot->now.T.q.z);
    robot->now.T.q =
        (ff_quat){n * robot->now.T.q.w, n * robot->now.T.q.x, n * robot->now.T.q.y, n * robot->now.T.q.z};
    moved.w = ff_vec3_add(moved.w, ff_mat3_apply(&m->inertia_inv, after.t));
    moved.v = ff_vec3_axpy(m->mass_inv, after.f, moved.v);
    robot->now.twist.w = moved.w;
    robot->now.twist.v = ff_quat_rotate(robot->now.T.q, moved.v);
}

/* --------------------------------------------------------------------------------------------- robots -- */

bool ff_robot_pose_ok(ff_pose T) {
    const double n = T.q.w * T.q.w + T.q.x * T.q.x + T.q.y * T.q.y + T.q.z * T.q.z;
    return ff_pose_finite(T) && fabs(n - 1.0) < 1e-6;
}

ff_status ff_robot_create(ff_robot *robot, const ff_robot_config *config, const ff_rigid_state *start,
                          double cycle, uint64_t seed, int body, char *message, size_t size) {
    enum { FIRST_STREAM = 128 }; /* beyond the sensors', which are the bodies' numbers */
    *robot =
        (ff_robot){.config = *config, .cycle = cycle, .seed = seed, .stream = FIRST_STREAM + (uint64_t)body};
    if (config->kind == FF_ROBOT_MUJOCO) /* a device follows after its delay */
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "robot kind mujoco is not part of the virtual facility yet (ideal, delay, lag, "
                         "limited, joints, wrench are)");
    /* Under a robot that is its pose alone a rail changes nothing; on the network it is the axis E1. */
    if (config->rail.present && config->kind == FF_ROBOT_JOINTS)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "a rail under a robot of kind joints is not part of the virtual facility yet");
    if (!ff_robot_pose_ok(config->base) || !ff_robot_pose_ok(config->tool))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the robot's base and tool must be finite, their attitudes unit quaternions");

    const double delay = config->kind == FF_ROBOT_IDEAL ? 0.0 : config->delay, cycles = delay / cycle;
    if (!(cycles >= 0.0 && cycles <= (double)FF_ROBOT_MAX_DELAY))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the robot's delay must be >= 0 and at most 1048576 cycles");
    const double jitter = config->kind == FF_ROBOT_IDEAL ? 0.0 : config->jitter;
    const double longest = (delay + jitter) / cycle;
    if (!(jitter >= 0.0 && longest <= (double)FF_ROBOT_MAX_DELAY))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the robot's jitter must be >= 0, and delay and jitter at most 1048576 cycles");
    split(cycles, &robot->whole, &robot->part);
    if (ff_robot_lags(config)) {
        if (!(config->frequency > 0.0) || !isfinite(config->frequency) || !(config->damping > 0.0) ||
            !isfinite(config->damping))
            return ff_refuse(FF_ERR_ARGUMENT, message, size,
                             "a lag robot needs frequency > 0 [Hz] and damping > 0");
        robot->lag.w = 2.0 * FF_PI * config->frequency;
        robot->lag.z = config->damping;
        lag_transition(&robot->lag, cycle);
    }
    robot->limits =
        (ff_limiter_config){config->velocity,         config->acceleration,         config->jerk,
                            config->angular_velocity, config->angular_acceleration, config->angular_jerk};
    if (config->kind == FF_ROBOT_LIMITED && ff_limiter_validate(&robot->limits) != FF_OK)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "each limit of a limited robot must be > 0");
    if (config->kind == FF_ROBOT_WRENCH && ff_rigid_create(&config->inertia, &robot->inertia) != FF_OK)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "a wrench robot needs a mass and an inertia of its own");
    robot->start = ff_setpoint_from_state(start);
    if (config->kind == FF_ROBOT_JOINTS) {
        const ff_status status = joints_create(robot, message, size);
        if (status != FF_OK)
            return status;
    }

    /* room for the two commands that frame the delayed time, and a power of two for the index */
    uint64_t length = 4;
    while (length < (uint64_t)longest + 5)
        length *= 2;
    robot->mask = length - 1;
    robot->ring = calloc((size_t)length, sizeof *robot->ring);
    if (!robot->ring)
        return ff_refuse(FF_ERR_MEMORY, message, size, "no memory for the robot's command ring");
    ff_robot_reset(robot);
    return FF_OK;
}

void ff_robot_free(ff_robot *robot) {
    free(robot->ring);
    robot->ring = NULL;
}

void ff_robot_keep(ff_robot *robot, ff_keeper *keeper) {
    ff_keep_around(keeper, robot, sizeof *robot, &robot->ring);
    if (robot->ring)
        ff_keep(keeper, robot->ring, (size_t)(robot->mask + 1) * sizeof *robot->ring);
}

void ff_robot_reset(ff_robot *robot) {
    robot->written = 0;
    robot->whole_now = robot->whole;
    robot->part_now = robot->part;
    ff_rng_seed(&robot->rng, robot->seed, robot->stream);
    robot->drawn = 0;
    ff_rng_seed(&robot->losses, robot->seed, robot->stream + LOST_COMMANDS);
    ff_rng_seed(&robot->readings, robot->seed, robot->stream + READINGS);
    robot->target = before_start(robot, (-1.0 - (double)robot->whole - robot->part) * robot->cycle);
    robot->now = robot->last = robot->measured = robot->target;
    robot->acceleration = ff_twist_zero();
    robot->felt = robot->reported = robot->driven = ff_wrench_zero();
    if (robot->config.kind == FF_ROBOT_JOINTS)
        joints_reset(robot);
    ff_limiter_reset(
        &robot->follower, ff_pose_mul(ff_pose_inverse(robot->config.base), robot->now.T),
        (ff_twist){robot->now.twist.w, ff_quat_unrotate(robot->config.base.q, robot->now.twist.v)});
}

/* What the encoders say has noise. */
static void read_out(ff_robot *robot, const ff_setpoint *motion) {
    const ff_robot_config *c = &robot->config;
    robot->measured = *motion;
    if (!(c->pose_noise > 0.0 || c->velocity_noise > 0.0))
        return;
    for (int i = 0; i < 3; i++) {
        robot->measured.T.p.a[i] += c->pose_noise * ff_rng_normal(&robot->readings);
        robot->measured.twist.v.a[i] += c->velocity_noise * ff_rng_normal(&robot->readings);
    }
}

void ff_robot_step(ff_robot *robot, uint64_t k) {
    draw_delay(robot);
    const ff_setpoint target = delayed_command(robot, k);
    const ff_twist before = robot->now.twist;
    robot->last = robot->now;
    if (robot->config.kind == FF_ROBOT_JOINTS) {
        motors_follow(robot, target.T);
        robot->target = target;
        read_out(robot, &target);
        return; /* the axes follow in substeps */
    }
    if (ff_robot_lags(&robot->config))
        lag_step(robot, &robot->target, &target);
    else if (robot->config.kind == FF_ROBOT_LIMITED)
        limited_step(robot, &target);
    else if (robot->config.kind == FF_ROBOT_WRENCH)
        wrench_step(robot, &target);
    else
        robot->now = target;
    robot->target = target;
    read_out(robot, &robot->now);
    robot->acceleration = ff_twist_scale(1.0 / robot->cycle, ff_twist_sub(robot->now.twist, before));
}
