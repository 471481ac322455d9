/* freefloat/limiter.h - the online trajectory limiter: follows a moving target as fast as limits allow.
 *
 * One axis. Given the state (position, velocity, acceleration) at t and the target's position and velocity at
 * t, the limiter plans the time-optimal motion that meets the target, taken to go on with constant velocity,
 * with its velocity and no acceleration, and evaluates it at t + dt. The plan is piecewise constant in jerk
 * and integrated exactly: as long as the target keeps its course, it does not matter how often the axis is
 * stepped.
 *
 * Limits are bounds on |velocity|, |acceleration|, |jerk|; INFINITY takes one away:
 *   all three        third order, up to seven segments and the return into a violated limit
 *   jerk infinite    second order: bang-bang with a cruise at the velocity limit; the acceleration may jump
 *   both infinite    the velocity jumps too; only its bound acts
 *   all infinite     the target at once
 * A start outside its limits comes back as fast as the higher derivatives allow: the acceleration first at
 * full jerk, the velocity to its limit (with the acceleration zero there, so that it does not fall below and
 * rise again). A target faster than the velocity limit is followed at the limit: its velocity is clamped in
 * the plan, and the axis never reports that it has met it.
 *
 * Six axes: three of the position in the world frame, three of the attitude in the body frame (below).
 * Real-time safe: no allocation, a bounded number of iterations, no state but the one passed in. */
#ifndef FREEFLOAT_LIMITER_H
#define FREEFLOAT_LIMITER_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------- one axis --
 */

/* Each > 0; INFINITY: no limit. Units with m for a translation, rad for a rotation. */
typedef struct ff_limiter_limits {
    double velocity;     /* [m/s] or [rad/s] */
    double acceleration; /* [m/s^2] */
    double jerk;         /* [m/s^3] */
} ff_limiter_limits;

typedef struct ff_limiter_axis {
    double position;     /* [m] or [rad] */
    double velocity;     /* [m/s] */
    double acceleration; /* [m/s^2]; ignored on entry when the jerk is not limited */
} ff_limiter_axis;

typedef struct ff_limiter_target {
    double position; /* [m] at the start of the step */
    double velocity; /* [m/s] taken as constant */
} ff_limiter_target;

/* Constant jerk for a duration. Velocity and acceleration are those at its start, relative to the target. */
typedef struct ff_limiter_segment {
    double duration;     /* [s] may be INFINITY in the last one */
    double velocity;     /* [m/s] */
    double acceleration; /* [m/s^2] */
    double jerk;         /* [m/s^3] */
} ff_limiter_segment;

#define FF_LIMITER_SEGMENTS 10

typedef struct ff_limiter_plan {
    ff_limiter_target target; /* velocity clamped to the limit */
    double offset;            /* [m] position relative to the target at the start */
    double duration;          /* [s] until the target is met; INFINITY if it never is */
    bool clamped;             /* the target is faster than the velocity limit */
    int count;
    ff_limiter_segment segment[FF_LIMITER_SEGMENTS];
} ff_limiter_plan;

/* FF_ERR_ARGUMENT if a limit is not > 0 (NaN included). */
ff_status ff_limiter_validate_limits(const ff_limiter_limits *limits);
/* The time-optimal plan. FF_ERR_NOT_FINITE for a state or target that is not finite, FF_ERR_ARGUMENT for bad
 * limits; *plan is then untouched. */
ff_status ff_limiter_plan_axis(const ff_limiter_limits *limits, const ff_limiter_axis *state,
                               const ff_limiter_target *target, ff_limiter_plan *plan);
/* The state t >= 0 [s] after the start of the plan. From `duration` on it is exactly the moving target. */
ff_limiter_axis ff_limiter_plan_at(const ff_limiter_plan *plan, double t);
/* One cycle of dt >= 0 [s]. FF_OK: the axis is on the target at the end; FF_INFO_LIMITED: still on its way.
 * FF_ERR_NOT_FINITE, FF_ERR_ARGUMENT (limits, dt): the state is untouched. */
ff_status ff_limiter_step_axis(const ff_limiter_limits *limits, ff_limiter_axis *state,
                               const ff_limiter_target *target, double dt);

/* ----------------------------------------------------------------------------------------------- a pose --
 */

/* Bounds on each component: position in world axes, rotation in body axes. */
typedef struct ff_limiter_config {
    double velocity;             /* [m/s] */
    double acceleration;         /* [m/s^2] */
    double jerk;                 /* [m/s^3] */
    double angular_velocity;     /* [rad/s] */
    double angular_acceleration; /* [rad/s^2] */
    double angular_jerk;         /* [rad/s^3] */
} ff_limiter_config;

typedef struct ff_limiter_state {
    ff_pose pose;          /* body in world */
    ff_twist velocity;     /* v [m/s] world, w [rad/s] body */
    ff_twist acceleration; /* v [m/s^2] world, w [rad/s^2] body: rates of the components above */
} ff_limiter_state;

typedef struct ff_limiter_in {
    ff_pose pose;      /* target at the start of the step */
    ff_twist velocity; /* v world, w in the target's body frame; taken as constant */
} ff_limiter_in;

/* No limit at all: every value INFINITY. */
void ff_limiter_default(ff_limiter_config *config);
/* FF_ERR_ARGUMENT if a value is not > 0. */
ff_status ff_limiter_validate(const ff_limiter_config *config);
/* At rest in acceleration, at the given pose and velocity. */
void ff_limiter_reset(ff_limiter_state *state, ff_pose pose, ff_twist velocity);
/* One cycle of all six axes; statuses as ff_limiter_step_axis, FF_OK only when all six are on the target.
 *
 * Rotation: the error is the rotation vector r = log(q^-1 q_target) in the body frame; the three components
 * of r and of the target's angular velocity turned into the body frame are the targets of three axes that
 * stand at zero with the body's angular velocity. What the axes return is the body's angular velocity and its
 * rate, component by component: the limits hold exactly. The attitude is integrated from it. For a rotation
 * about one body axis this is the one-axis limiter, exactly. For others the axes couple in the order of |r|;
 * each step starts from the true attitude, so they still meet the target exactly, but neither the time nor
 * the absence of overshoot is then that of one axis. */
ff_status ff_limiter_step(const ff_limiter_config *config, ff_limiter_state *state, const ff_limiter_in *in,
                          double dt);

#ifdef __cplusplus
}
#endif
#endif
