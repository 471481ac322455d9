/* Online trajectory limiter.
 *
 * Everything is planned relative to the target, x = position - target, u = velocity - target velocity: the
 * goal is x = u = a = 0 and the velocity bounds become u in [umin, umax] with umin <= 0 <= umax.
 *
 * Third order. Two fastest moves in the (u, a) plane are closed forms: `velocity_move` to a cruise velocity
 * with a = 0, and the same to u = 0, the stop. Where the stop from the start ends decides the direction:
 * short of the target the axis speeds up, beyond it it speeds up in reverse. The optimal motion is to
 * follow the speed-up to the velocity bound for a time t1 and then to stop. F(t1), the position where that
 * stop ends, never decreases with t1 (a later stop has at every instant at least the acceleration of an
 * earlier one), so t1 is the root of a monotone function: exact in the cruise, bracketed elsewhere. This one
 * family holds the seven-segment profiles, those where the acceleration does not change its sign (braking
 * released and taken up again), and the return from a violated limit. Same problem and result as the type IV
 * generators in print (Kroeger, Haschke, Berscheid); the derivation and the code are our own. */
#include <float.h>

#include "freefloat/command.h"

#define ROOT_ITERATIONS 160 /* never reached; usually about ten */

typedef struct point {
    double x, u, a;
} point;

typedef struct path {
    int count;
    ff_limiter_segment segment[4];
} path;

static point advance(point p, double jerk, double t) {
    return (point){p.x + t * (p.u + t * (p.a / 2.0 + t * jerk / 6.0)), p.u + t * (p.a + t * jerk / 2.0),
                   p.a + t * jerk};
}

static void push(path *m, double duration, double jerk, double *u, double *a) {
    if (!(duration > 0.0))
        return;
    m->segment[m->count++] = (ff_limiter_segment){duration, *u, *a, jerk};
    if (isfinite(duration)) {
        *u += duration * (*a + duration * jerk / 2.0);
        *a += duration * jerk;
    }
}

/* Fastest move from (u, a) to (goal, 0) with |a| <= A, |jerk| <= J. A and goal may be infinite. */
static void velocity_move(double u, double a, double goal, double A, double J, path *m) {
    m->count = 0;
    if (fabs(a) > A) { /* return into the limit; both branches below start this way or can wait for it */
        push(m, (fabs(a) - A) / J, -copysign(J, a), &u, &a);
        a = copysign(A, a);
    }
    /* Where the velocity ends when the acceleration is simply taken back: below the goal, push up. */
    const double end = u + a * fabs(a) / (2.0 * J);
    const double d = end < goal ? 1.0 : -1.0;
    const double al = d * a;
    /* up to the peak and back to zero: d (goal - u) = (2 peak^2 - al^2) / 2J */
    const double square = fmax(J * d * (goal - u) + al * al / 2.0, 0.0);
    double peak = sqrt(square), hold = 0.0;
    if (peak > A) {
        peak = A;
        hold = (square - A * A) / (J * A);
    }
    peak = fmax(peak, fmax(al, 0.0));
    push(m, (peak - al) / J, d * J, &u, &a);
    push(m, hold, 0.0, &u, &a);
    push(m, peak / J, -d * J, &u, &a);
}

/* Where the fastest stop from p ends: velocity_move to 0, integrated without its segments. */
static double stop_end(point p, double A, double J) {
    const double per_J = 1.0 / J;
    if (fabs(p.a) > A) {
        p = advance(p, -copysign(J, p.a), (fabs(p.a) - A) * per_J);
        p.a = copysign(A, p.a);
    }
    const double d = p.u + 0.5 * p.a * fabs(p.a) * per_J < 0.0 ? 1.0 : -1.0;
    const double u = d * p.u, a = d * p.a;
    const double square = fmax(0.5 * a * a - J * u, 0.0);
    const double peak = fmax(fmin(sqrt(square), A), fmax(a, 0.0));
    /* the last ramp starts at -peak^2/2J and covers -peak^3/6J^2; before it the hold at its mean velocity */
    const double t = (peak - a) * per_J;
    const double u1 = u + 0.5 * (a + peak) * t, u2 = -0.5 * peak * peak * per_J;
    double x = t * (u + t * (a / 2.0 + t * J / 6.0)) + u2 * peak * per_J / 3.0;
    if (u2 > u1 && peak > 0.0)
        x += 0.5 * (u2 * u2 - u1 * u1) / peak;
    return p.x + d * x;
}

/* Root of the monotone F(t) = stop_end(state t into one segment from p), F(0) < 0 <= F(high). Inverse
 * quadratic interpolation where it is safe, else bisection (Chandrupatla's test). Returns the side that ends
 * short. */
static double stop_time(point p, double jerk, double high, double A, double J) {
    double a = high, b = 0.0, c, fc;
    double fa = stop_end(advance(p, jerk, a), A, J), fb = stop_end(p, A, J);
    const double rounding = 0.5 * DBL_EPSILON * fabs(p.x);
    double s = 0.5, checked = high;
    for (int i = 0; i < ROOT_ITERATIONS; i++) {
        const double t = a + s * (b - a);
        const double ft = stop_end(advance(p, jerk, t), A, J);
        if ((ft < 0.0) == (fa < 0.0)) {
            c = a;
            fc = fa;
        } else {
            c = b;
            fc = fb;
            b = a;
            fb = fa;
        }
        a = t;
        fa = ft;
        const double width = fabs(b - a);
        const double smallest = DBL_EPSILON * high;
        if (fabs(fa) <= rounding)
            return a;
        if (width <= smallest)
            break;
        const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
        s = 0.5;
        /* Every third time the bracket must have halved, or it is halved: 3 x 53 evaluations at most. */
        bool halve = false;
        if (i % 3 == 2) {
            halve = width > 0.5 * checked;
            checked = width;
        }
        if (!halve && phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
            s = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
        const double margin = fmin(0.5, 0.5 * smallest / width);
        s = fmin(fmax(s, margin), 1.0 - margin);
    }
    return fa < 0.0 ? a : b;
}

static void append(ff_limiter_plan *plan, double duration, double u, double a, double jerk, double d) {
    if (!(duration > 0.0))
        return;
    plan->segment[plan->count++] = (ff_limiter_segment){duration, d * u, d * a, d * jerk};
    plan->duration += duration;
}

/* The target is here or ahead and faster than the limit: to the limit, and nothing else, however fast the
 * axis is now. */
static bool runs_away(const ff_limiter_plan *plan) {
    return plan->clamped && plan->offset * plan->target.velocity <= 0.0;
}

static void plan_third_order(const ff_limiter_limits *limits, point start, double umin, double umax,
                             ff_limiter_plan *plan) {
    const double A = limits->acceleration, J = limits->jerk;
    const bool runs = runs_away(plan);
    const double end = runs ? -plan->target.velocity : stop_end(start, A, J);
    const double d = end > 0.0 ? -1.0 : 1.0;
    const double cruise = end > 0.0 ? -umin : umax;
    point p = {d * start.x, d * start.u, d * start.a}; /* mirrored: the stop ends short of the target */
    if (end != 0.0) {
        path speed_up;
        velocity_move(p.u, p.a, cruise, A, J, &speed_up);
        bool found = false;
        for (int i = 0; i < speed_up.count && !found; i++) {
            const ff_limiter_segment *s = &speed_up.segment[i];
            p.u = s->velocity;
            p.a = s->acceleration;
            double t = s->duration;
            if (!isfinite(t)) {
                /* Without a velocity bound: a time by which the target is passed at positive velocity and
                 * acceleration. Six times the largest of the three natural times when the jerk never ends;
                 * the instant of passing when the acceleration is held. */
                t = s->jerk > 0.0 ? 6.0 * fmax(fabs(p.a) / J, fmax(sqrt(fabs(p.u) / J), cbrt(fabs(p.x) / J)))
                                  : (fabs(p.u) + sqrt(p.u * p.u + 2.0 * p.a * fabs(p.x))) / p.a;
                found = true;
            } else if (!runs && stop_end(advance(p, s->jerk, t), A, J) >= 0.0) {
                found = true;
            }
            if (found)
                t = stop_time(p, s->jerk, t, A, J);
            append(plan, t, p.u, p.a, s->jerk, d);
            p = advance(p, s->jerk, t);
        }
        if (!found) {
            p.u = cruise;
            p.a = 0.0;
            const double gap = -stop_end(p, A, J);
            const double t = gap > 0.0 || runs ? (cruise > 0.0 ? gap / cruise : FF_INF) : 0.0;
            append(plan, t, p.u, 0.0, 0.0, d);
            if (!isfinite(t))
                return;
        }
    }
    path stop;
    velocity_move(p.u, p.a, 0.0, A, J, &stop);
    for (int i = 0; i < stop.count; i++)
        append(plan, stop.segment[i].duration, stop.segment[i].velocity, stop.segment[i].acceleration,
               stop.segment[i].jerk, d);
}

/* Second order: to the peak velocity at full acceleration, cruise, stop at full deceleration. */
static void plan_second_order(double A, point start, double umin, double umax, ff_limiter_plan *plan) {
    const bool runs = runs_away(plan);
    const double end = runs ? -plan->target.velocity : start.x + start.u * fabs(start.u) / (2.0 * A);
    if (end == 0.0) {
        append(plan, fabs(start.u) / A, start.u, -copysign(A, start.u), 0.0, 1.0);
        return;
    }
    const double d = end < 0.0 ? 1.0 : -1.0, cruise = end < 0.0 ? umax : -umin;
    const double x = d * start.x, u = d * start.u;
    /* x + (peak^2 - u^2)/2A + peak^2/2A = 0 */
    const double peak = sqrt(fmax(u * u / 2.0 - A * x, 0.0));
    if (u <= cruise && peak <= cruise) {
        append(plan, (peak - u) / A, u, A, 0.0, d);
        append(plan, peak / A, peak, -A, 0.0, d);
        return;
    }
    const double first = fabs(cruise - u) / A;
    append(plan, first, u, copysign(A, cruise - u), 0.0, d);
    const double gap = -(x + 0.5 * (u + cruise) * first + cruise * cruise / (2.0 * A));
    const double t = gap > 0.0 || runs ? (cruise > 0.0 ? gap / cruise : FF_INF) : 0.0;
    append(plan, t, cruise, 0.0, 0.0, d);
    if (isfinite(t))
        append(plan, cruise / A, cruise, -A, 0.0, d);
}

/* Only the velocity is limited: straight at its limit. */
static void plan_first_order(double x, double umin, double umax, ff_limiter_plan *plan) {
    const double d = x < 0.0 ? 1.0 : -1.0, speed = x < 0.0 ? umax : -umin;
    if (x == 0.0 || !isfinite(speed))
        return;
    append(plan, speed > 0.0 ? fabs(x) / speed : FF_INF, speed, 0.0, 0.0, d);
}

ff_status ff_limiter_validate_limits(const ff_limiter_limits *limits) {
    return limits->velocity > 0.0 && limits->acceleration > 0.0 && limits->jerk > 0.0 ? FF_OK
                                                                                      : FF_ERR_ARGUMENT;
}

ff_status ff_limiter_plan_axis(const ff_limiter_limits *limits, const ff_limiter_axis *state,
                               const ff_limiter_target *target, ff_limiter_plan *plan) {
    const ff_status status = ff_limiter_validate_limits(limits);
    if (status)
        return status;
    const bool third = isfinite(limits->jerk);
    if (!isfinite(state->position) || !isfinite(state->velocity) ||
        (third && !isfinite(state->acceleration)) || !isfinite(target->position) ||
        !isfinite(target->velocity))
        return FF_ERR_NOT_FINITE;
    const double V = limits->velocity;
    const double vt = fmin(fmax(target->velocity, -V), V);
    *plan = (ff_limiter_plan){.target = {target->position, vt},
                              .offset = state->position - target->position,
                              .clamped = vt != target->velocity};
    const point start = {plan->offset, state->velocity - vt, third ? state->acceleration : 0.0};
    if (third)
        plan_third_order(limits, start, -V - vt, V - vt, plan);
    else if (isfinite(limits->acceleration))
        plan_second_order(limits->acceleration, start, -V - vt, V - vt, plan);
    else
        plan_first_order(start.x, -V - vt, V - vt, plan);
    return FF_OK;
}

ff_limiter_axis ff_limiter_plan_at(const ff_limiter_plan *plan, double t) {
    const ff_limiter_target *target = &plan->target;
    const double moved = target->position + target->velocity * t;
    if (t >= plan->duration)
        return (ff_limiter_axis){moved, target->velocity, 0.0};
    point p = {plan->offset, 0.0, 0.0};
    double left = t;
    for (int i = 0; i < plan->count; i++) {
        const ff_limiter_segment *s = &plan->segment[i];
        p.u = s->velocity;
        p.a = s->acceleration;
        const double part = fmin(left, s->duration);
        p = advance(p, s->jerk, part);
        left -= part;
        if (left <= 0.0)
            break;
    }
    return (ff_limiter_axis){moved + p.x, target->velocity + p.u, p.a};
}

ff_status ff_limiter_step_axis(const ff_limiter_limits *limits, ff_limiter_axis *state,
                               const ff_limiter_target *target, double dt) {
    if (!(dt >= 0.0) || !isfinite(dt))
        return FF_ERR_ARGUMENT;
    ff_limiter_plan plan;
    const ff_status status = ff_limiter_plan_axis(limits, state, target, &plan);
    if (status)
        return status;
    *state = ff_limiter_plan_at(&plan, dt);
    return dt >= plan.duration && !plan.clamped ? FF_OK : FF_INFO_LIMITED;
}

ff_status ff_limiter_stop_axis(const ff_limiter_limits *limits, ff_limiter_axis *state, double dt) {
    const ff_status status = ff_limiter_validate_limits(limits);
    if (status || !(dt >= 0.0) || !isfinite(dt))
        return FF_ERR_ARGUMENT;
    const double A = limits->acceleration, J = limits->jerk;
    if (!isfinite(state->position) || !isfinite(state->velocity) ||
        (isfinite(J) && !isfinite(state->acceleration)))
        return FF_ERR_NOT_FINITE;
    path stop = {0};
    double u = state->velocity, a = -copysign(A, u);
    if (isfinite(J))
        velocity_move(u, state->acceleration, 0.0, A, J, &stop);
    else if (isfinite(A))
        push(&stop, fabs(u) / A, 0.0, &u, &a);
    point p = {state->position, 0.0, 0.0};
    double left = dt;
    for (int i = 0; i < stop.count; i++) {
        const ff_limiter_segment *s = &stop.segment[i];
        const double part = fmin(left, s->duration);
        p = advance((point){p.x, s->velocity, s->acceleration}, s->jerk, part);
        left -= part;
        if (part < s->duration) {
            *state = (ff_limiter_axis){p.x, p.u, isfinite(J) ? p.a : 0.0};
            return FF_INFO_LIMITED;
        }
    }
    *state = (ff_limiter_axis){p.x, 0.0, 0.0};
    return FF_OK;
}

double ff_limiter_stop_path(const ff_limiter_limits *limits, double velocity, double acceleration) {
    const double A = limits->acceleration, J = limits->jerk;
    const bool third = isfinite(J);
    if (ff_limiter_validate_limits(limits) || !isfinite(velocity) || (third && !isfinite(acceleration)))
        return FF_NAN;
    return third ? stop_end((point){0.0, velocity, acceleration}, A, J)
                 : velocity * fabs(velocity) / (2.0 * A);
}

/* ----------------------------------------------------------------------------------------------- a pose --
 */

void ff_limiter_default(ff_limiter_config *config) {
    const double none = FF_INF;
    *config = (ff_limiter_config){none, none, none, none, none, none};
}

ff_status ff_limiter_validate(const ff_limiter_config *config) {
    const ff_limiter_limits linear = {config->velocity, config->acceleration, config->jerk};
    const ff_limiter_limits angular = {config->angular_velocity, config->angular_acceleration,
                                       config->angular_jerk};
    const ff_status status = ff_limiter_validate_limits(&linear);
    return status ? status : ff_limiter_validate_limits(&angular);
}

void ff_limiter_reset(ff_limiter_state *state, ff_pose pose, ff_twist velocity) {
    *state = (ff_limiter_state){pose, velocity, ff_twist_zero()};
}

ff_status ff_limiter_step(const ff_limiter_config *config, ff_limiter_state *state, const ff_limiter_in *in,
                          double dt) {
    if (!(dt >= 0.0) || !isfinite(dt))
        return FF_ERR_ARGUMENT;
    if (!ff_pose_finite(state->pose) || !ff_pose_finite(in->pose))
        return FF_ERR_NOT_FINITE;
    const ff_limiter_limits linear = {config->velocity, config->acceleration, config->jerk};
    const ff_limiter_limits angular = {config->angular_velocity, config->angular_acceleration,
                                       config->angular_jerk};
    const ff_quat error = ff_quat_mul(ff_quat_conj(state->pose.q), in->pose.q);
    const ff_vec3 r = ff_quat_log(error);
    /* r' = Jl^-1(r) (R w_target - w) with R = exp(r): the target's velocity turned into the body frame is the
     * one at which r stands still. */
    const ff_vec3 w_target = ff_quat_rotate(error, in->velocity.w);

    ff_limiter_plan plan[6];
    for (int i = 0; i < 3; i++) {
        const ff_limiter_axis x = {state->pose.p.a[i], state->velocity.v.a[i], state->acceleration.v.a[i]};
        const ff_limiter_target x_t = {in->pose.p.a[i], in->velocity.v.a[i]};
        const ff_limiter_axis y = {0.0, state->velocity.w.a[i], state->acceleration.w.a[i]};
        const ff_limiter_target y_t = {r.a[i], w_target.a[i]};
        ff_status status = ff_limiter_plan_axis(&linear, &x, &x_t, &plan[i]);
        if (!status)
            status = ff_limiter_plan_axis(&angular, &y, &y_t, &plan[3 + i]);
        if (status)
            return status;
    }

    bool there[2] = {true, true};
    for (int i = 0; i < 6; i++)
        there[i / 3] = there[i / 3] && dt >= plan[i].duration && !plan[i].clamped;
    for (int i = 0; i < 3; i++) {
        const ff_limiter_axis x = ff_limiter_plan_at(&plan[i], dt);
        state->pose.p.a[i] = x.position;
        state->velocity.v.a[i] = x.velocity;
        state->acceleration.v.a[i] = x.acceleration;
    }
    if (there[1]) {
        state->pose.q = ff_quat_unit(ff_quat_mul(in->pose.q, ff_quat_exp(ff_vec3_scale(dt, in->velocity.w))));
        state->velocity.w = in->velocity.w;
        state->acceleration.w = ff_vec3_zero();
    } else {
        /* q' = q w/2 with body rates w(t): q(dt) = q exp(phi + 1/2 int phi x w), phi the integral of w
         * (Magnus to second order); the integral of the cross product by Gauss's rule with two points. */
        const double node[2] = {0.5 - sqrt(3.0) / 6.0, 0.5 + sqrt(3.0) / 6.0};
        ff_vec3 phi, cross = ff_vec3_zero();
        for (int k = 0; k < 2; k++) {
            ff_vec3 part, rate;
            for (int i = 0; i < 3; i++) {
                const ff_limiter_axis y = ff_limiter_plan_at(&plan[3 + i], node[k] * dt);
                part.a[i] = y.position;
                rate.a[i] = y.velocity;
            }
            cross = ff_vec3_axpy(0.25 * dt, ff_vec3_cross(part, rate), cross);
        }
        for (int i = 0; i < 3; i++) {
            const ff_limiter_axis y = ff_limiter_plan_at(&plan[3 + i], dt);
            phi.a[i] = y.position;
            state->velocity.w.a[i] = y.velocity;
            state->acceleration.w.a[i] = y.acceleration;
        }
        state->pose.q = ff_quat_unit(ff_quat_mul(state->pose.q, ff_quat_exp(ff_vec3_add(phi, cross))));
    }
    return there[0] && there[1] ? FF_OK : FF_INFO_LIMITED;
}
