/* The output stage of one robot: every answer bounded in velocity, acceleration and jerk against what the
 * robot last accepted (freefloat/output.h).
 *
 * Translation and rotation are two independent parts with the same code: a step d (position in the lab, or
 * rotation vector in body axes) from the accepted pose. Two layers:
 *   plan   the target's own step, if it is inside the bounds; else the time-optimal motion towards it, or to
 *          rest (limiter.c), axis by axis;
 *   bound  the step's differences clipped as vectors: jerk, then acceleration (the ball holds the value
 *          before, so the projection on it does not enlarge the jerk), then as far as the velocity can still
 *          be kept below its limit.
 * The bound holds whatever the plan is; the plan only has to be good.
 *
 * A continuous motion with |a| <= A and |j| <= J has differences within the same bounds: the second one is
 * the mean of a, the third the mean of j under a B-spline. So the plan is made in continuous time. Where it
 * begins behind targets that were sent as they are, it begins on the parabola through the last three poses,
 *   v = v_n + T a_n / 2,  a = a_n,
 * for which the first differences across the joint are (j0)/6 and (4 j0 + j1)/6. */
#include "freefloat/output.h"

#include <string.h>

#define LARGEST 1e6     /* [m, m/s, rad/s] beyond it nothing is a robot's target */
#define ROUNDING 1e-9   /* relative, in comparisons with a limit */
#define MARGIN 0.15     /* of a stop's path, that it may be longer than foreseen */
#define LAST_BITS 4e-15 /* [m, rad] of a pose some metres away, in doubles */
#define SLOWER 0.002    /* that the least share of an axis costs a straight stop, and more: 2 * 0.02^2 */
#define EQUALLY 0.9     /* equal parts are taken if they need less of the time: they bend a straight motion */
#define PROMISE 2.0     /* of the time first planned, in which a target that stands is met or given up */
#define LEAST_SHARE 0.02 /* of a limit for the axes that hardly move */

typedef struct bounds {
    double V, A, J, stop; /* [m, s] or [rad, s] */
    double grain;         /* of the wire */
} bounds;

/* One part of the state: what the robot does now. */
typedef struct part {
    ff_vec3 v, a;
} part;

static bounds bounds_of(const ff_output_config *c, int turn) {
    const bounds linear = {c->velocity, c->acceleration, c->jerk, fmin(c->stop_acceleration, c->acceleration),
                           c->resolution},
                 angular = {c->angular_velocity, c->angular_acceleration, c->angular_jerk,
                            fmin(c->stop_angular_acceleration, c->angular_acceleration),
                            c->angular_resolution};
    return turn ? angular : linear;
}

void ff_output_default(ff_output_config *config) {
    *config = (ff_output_config){.cycle = 0.004,
                                 .velocity = 2.0,
                                 .acceleration = 10.0,
                                 .jerk = 2500.0,
                                 .angular_velocity = 3.0,
                                 .angular_acceleration = 20.0,
                                 .angular_jerk = 5000.0,
                                 .stop_acceleration = 1.0,
                                 .stop_angular_acceleration = 2.0,
                                 .patience = 0.02};
}

ff_status ff_output_validate(const ff_output_config *c) {
    const bool limits = c->velocity > 0.0 && c->acceleration > 0.0 && c->jerk > 0.0 &&
                        c->angular_velocity > 0.0 && c->angular_acceleration > 0.0 && c->angular_jerk > 0.0 &&
                        c->stop_acceleration > 0.0 && c->stop_angular_acceleration > 0.0;
    bool boxed = true;
    for (int i = 0; i < 3; i++)
        boxed = boxed && (!c->boxed || (c->box.a[i] >= 0.0 && isfinite(c->centre.a[i])));
    const bool rest = boxed && c->cycle > 0.0 && isfinite(c->cycle) && c->patience > 0.0 &&
                      c->resolution >= 0.0 && isfinite(c->resolution) && c->angular_resolution >= 0.0 &&
                      isfinite(c->angular_resolution);
    return limits && rest ? FF_OK : FF_ERR_ARGUMENT;
}

void ff_output_reset(ff_output_state *state, ff_pose pose) {
    *state = (ff_output_state){.pose = pose, .sent = pose};
}

static bool is_target(const ff_setpoint *s) {
    const ff_quat q = s->T.q;
    bool sane = true; /* what is not a number is not below a limit, either */
    for (int i = 0; i < 3; i++)
        sane = sane && fabs(s->T.p.a[i]) < LARGEST && fabs(s->twist.v.a[i]) < LARGEST &&
               fabs(s->twist.w.a[i]) < LARGEST;
    return sane && fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) < 1e-6;
}

static bool stands_still(const ff_setpoint *before, const ff_setpoint *now) {
    return memcmp(&before->T, &now->T, sizeof now->T) == 0 && ff_vec3_norm(now->twist.v) == 0.0 &&
           ff_vec3_norm(now->twist.w) == 0.0;
}

ff_status ff_output_target(ff_output_state *state, const ff_setpoint *target, double time) {
    if (!is_target(target) || !isfinite(time)) {
        ff_output_brake(state);
        return FF_INFO_HELD;
    }
    state->steady = state->targets && stands_still(&state->target, target);
    if (state->targets && time > state->time) {
        state->target_before = state->target;
        state->time_before = state->time;
        state->targets = 2;
    } else if (!state->targets || time < state->time) {
        state->targets = 1;
    }
    state->target = *target;
    state->time = time;
    state->moved = true;
    return FF_OK;
}

void ff_output_brake(ff_output_state *state) {
    state->targets = 0;
}

void ff_output_slow(ff_output_config *config) {
    config->acceleration = fmin(config->acceleration, config->stop_acceleration);
    config->angular_acceleration = fmin(config->angular_acceleration, config->stop_angular_acceleration);
}

void ff_output_confirm(ff_output_state *state, bool accepted, bool stood) {
    const bool taken = state->pending && accepted;
    if (state->pending && !accepted && !state->doubtful) {
        state->doubtful = true;
        state->doubt = state->sent;
    }
    if (taken) {
        state->pose = state->sent;
        state->velocity = state->sent_velocity;
        state->acceleration = state->sent_acceleration;
        state->doubtful = false;
    }
    if (!taken || stood) {
        state->velocity = state->acceleration = ff_twist_zero();
        state->course[0].exact = state->course[1].exact = false;
    }
    state->pending = false;
}

void ff_output_stand(ff_output_state *state, ff_pose pose) {
    ff_output_confirm(state, false, true);
    state->pose = state->sent = pose;
    state->doubtful = false;
}

/* ------------------------------------------------------------------------------------------------ bound --
 */

/* To `most`, unless only rounding is beyond it. */
static ff_vec3 clip(ff_vec3 x, double most, double rounding) {
    const double size = ff_vec3_norm(x);
    return size > (1.0 + ROUNDING) * most + rounding ? ff_vec3_scale(most / size, x) : x;
}

/* Differences of poses that are rounded to half of LAST_BITS: a motion at its limit is not beyond it by that.
 */
static bool within(const bounds *b, double T, ff_vec3 d, const part *now) {
    const ff_vec3 v = ff_vec3_scale(1.0 / T, d), a = ff_vec3_scale(1.0 / T, ff_vec3_sub(v, now->v)),
                  j = ff_vec3_scale(1.0 / T, ff_vec3_sub(a, now->a));
    const double more = 1.0 + ROUNDING, bits = LAST_BITS / T;
    return ff_vec3_norm(v) <= more * b->V + bits && ff_vec3_norm(a) <= more * b->A + 2.0 * bits / T &&
           ff_vec3_norm(j) <= more * b->J + 4.0 * bits / (T * T);
}

/* The largest speed from here on if the acceleration is taken back to zero along its own direction at full
 * jerk: the velocity moves on a straight line, and a norm is convex, so the ends decide. It does not grow by
 * taking the acceleration back, so there is always a step that keeps it. */
static double peak_speed(const bounds *b, double T, ff_vec3 v, ff_vec3 a) {
    const double now = ff_vec3_norm(v), size = ff_vec3_norm(a), change = b->J * T,
                 steps = floor(size / change);
    if (!(steps > 0.0))
        return now;
    const double gained = T * (steps * size - 0.5 * change * steps * (steps + 1.0));
    return fmax(now, ff_vec3_norm(ff_vec3_axpy(gained / size, a, v)));
}

/* A speed, but for rounding. */
static double about(double speed, double T) {
    return (1.0 + ROUNDING) * speed + LAST_BITS / T;
}

static bool passes(const bounds *b, double T, ff_vec3 d, const part *now) {
    const ff_vec3 v = ff_vec3_scale(1.0 / T, d), a = ff_vec3_scale(1.0 / T, ff_vec3_sub(v, now->v));
    return within(b, T, d, now) && peak_speed(b, T, v, a) <= about(b->V, T);
}

/* The nearest step on the line from the safe one (the acceleration is taken back) to the one asked for. A
 * motion that is faster than its limit, or inevitably will be, because it began so or the limit was
 * tightened, becomes no faster; the plan slows it down. */
static ff_vec3 bounded(const bounds *b, double T, ff_vec3 d, const part *now) {
    if (passes(b, T, d, now))
        return d;
    const double change = b->J * T, size = ff_vec3_norm(now->a);
    const bool over = size > (1.0 + ROUNDING) * b->A; /* tightened: back inside as fast as the jerk allows */
    const ff_vec3 safe = size > change ? ff_vec3_scale(1.0 - change / size, now->a) : ff_vec3_zero();
    /* what rounding is allowed counts for the limit, not for a speed that had it already: it would grow */
    const double V = fmax(about(b->V, T), peak_speed(b, T, ff_vec3_axpy(T, safe, now->v), safe));
    const ff_vec3 a = ff_vec3_scale(1.0 / T, ff_vec3_sub(ff_vec3_scale(1.0 / T, d), now->v));
    const ff_vec3 step = ff_vec3_add(now->a, clip(ff_vec3_sub(a, now->a), change, 4.0 * LAST_BITS / (T * T)));
    const ff_vec3 wish = over ? step : clip(step, b->A, 2.0 * LAST_BITS / (T * T));
    const double A = (1.0 + ROUNDING) * (over ? fmax(b->A, ff_vec3_norm(safe)) : FF_INF);
    ff_vec3 best = safe;
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 20; i++) {
        const double s = i ? 0.5 * (low + high) : 1.0;
        const ff_vec3 tried = ff_vec3_axpy(s, ff_vec3_sub(wish, safe), safe);
        if (peak_speed(b, T, ff_vec3_axpy(T, tried, now->v), tried) <= V && !(ff_vec3_norm(tried) > A)) {
            best = tried;
            low = s;
            if (i == 0)
                break;
        } else {
            high = s;
        }
    }
    return ff_vec3_scale(T, ff_vec3_axpy(T, best, now->v));
}

/* ------------------------------------------------------------------------------------------------- plan --
 */

/* Parts of a limit for each axis, so that a straight motion stays straight and the sum of their squares is 1.
 */
static ff_vec3 shares(ff_vec3 m) {
    const double most = fmax(fabs(m.x), fmax(fabs(m.y), fabs(m.z)));
    ff_vec3 s;
    for (int i = 0; i < 3; i++)
        s.a[i] = most > 0.0 && isfinite(most) ? fmax(fabs(m.a[i]) / most, LEAST_SHARE) : 1.0;
    return ff_vec3_scale(1.0 / ff_vec3_norm(s), s);
}

/* [s] in which an acceleration A builds up; distances, velocities and accelerations compare by it. */
static double ease_time(const bounds *b, double A, double T) {
    return isfinite(A) && isfinite(b->J) ? fmax(A / b->J, T) : T;
}

/* What there is to do on each axis, as an acceleration: the distance x, the velocity u, the acceleration a,
 * and the velocity a^2 / 2Js that comes on top while a is taken back with a part s of the jerk. The parts are
 * in proportion to the result m, s = m / |m|: m = w + q |m| / m for each axis, with |m| by iteration. */
static ff_vec3 effort(const bounds *b, double t, ff_vec3 x, ff_vec3 u, ff_vec3 a) {
    ff_vec3 w, m;
    for (int i = 0; i < 3; i++)
        w.a[i] = fabs(x.a[i]) / (t * t) + fabs(u.a[i]) / t + fabs(a.a[i]);
    m = w;
    for (int n = 0; n < 4; n++) {
        const double size = ff_vec3_norm(m);
        for (int i = 0; i < 3; i++)
            m.a[i] = 0.5 * (w.a[i] + sqrt(w.a[i] * w.a[i] + 2.0 * a.a[i] * a.a[i] / (b->J * t) * size));
    }
    return m;
}

/* How the axes of a plan share the limits, and which axes these are: orthonormal, in the lab. */
typedef struct aims {
    ff_vec3 axis[3];
    ff_vec3 share, fast; /* of acceleration and jerk, of the velocity; the squares of each sum to 1 */
} aims;

/* Axes along the largest of what there is to do, and along the largest of what is left across it, so that a
 * motion on a line stays on it and one in a plane in it. Rounding is not a direction: then the lab's axes. */
static void axes_of(const ff_vec3 due[3], ff_vec3 axis[3]) {
    const double most = fmax(ff_vec3_norm(due[0]), fmax(ff_vec3_norm(due[1]), ff_vec3_norm(due[2])));
    for (int k = 0; k < 2; k++) {
        ff_vec3 best = ff_vec3_zero();
        for (int n = 0; n < 6; n++) {
            if (n == 3 && ff_vec3_norm(best) > 1e-9 * most)
                break;
            ff_vec3 rest = n < 3 ? due[n] : ff_vec3_make(n == 3, n == 4, n == 5);
            if (k > 0)
                rest = ff_vec3_axpy(-ff_vec3_dot(rest, axis[0]), axis[0], rest);
            best = n == 3 || ff_vec3_norm(rest) > ff_vec3_norm(best) ? rest : best;
        }
        axis[k] = ff_vec3_unit(best);
    }
    axis[2] = ff_vec3_cross(axis[0], axis[1]);
}

static ff_vec3 along(const aims *by, ff_vec3 x) {
    return ff_vec3_make(ff_vec3_dot(by->axis[0], x), ff_vec3_dot(by->axis[1], x),
                        ff_vec3_dot(by->axis[2], x));
}

static ff_vec3 back(const aims *by, ff_vec3 x) {
    return ff_vec3_axpy(x.x, by->axis[0], ff_vec3_axpy(x.y, by->axis[1], ff_vec3_scale(x.z, by->axis[2])));
}

/* For a target that is at e from here and moves with vt; distances and velocities count by the time t [s]. */
static aims aim(const bounds *b, double T, double t, ff_vec3 e, ff_vec3 vt, const part *c) {
    const double rate = ff_vec3_norm(vt);
    const ff_vec3 met = rate > b->V ? ff_vec3_scale(b->V / rate, vt) : vt; /* no faster than the limit */
    const ff_vec3 u = ff_vec3_sub(met, c->v);
    aims by;
    axes_of((ff_vec3[]){ff_vec3_scale(1.0 / (t * t), e), ff_vec3_scale(1.0 / t, u), c->a}, by.axis);
    by.share = shares(effort(b, t, along(&by, e), along(&by, u), along(&by, c->a)));
    /* the direction of a target counts from a cycle's distance on: closer to it is rounding */
    const double far = isfinite(b->V) ? fmax(rate, 0.1 * b->V) / fmax(ff_vec3_norm(e), b->V * T) : 0.0;
    const ff_vec3 x = along(&by, e), v = along(&by, c->v), w = along(&by, vt);
    ff_vec3 m;
    for (int i = 0; i < 3; i++)
        m.a[i] = fmax(fmax(fabs(v.a[i]), fabs(w.a[i])), far * fabs(x.a[i]));
    by.fast = shares(m);
    return by;
}

/* Each axis by itself, the fastest motion with its part of the limits. Returns the longest time [s]; FF_INF
 * for a target that is too fast, NaN: no plan. */
static double plan_axes(const bounds *b, const aims *by, ff_vec3 e, ff_vec3 vt, const part *c,
                        ff_limiter_plan plan[3]) {
    const ff_vec3 x = along(by, e), v = along(by, c->v), a = along(by, c->a), w = along(by, vt);
    double longest = 0.0;
    for (int i = 0; i < 3; i++) {
        const ff_limiter_limits limits = {b->V * by->fast.a[i], b->A * by->share.a[i], b->J * by->share.a[i]};
        const ff_limiter_axis from = {0.0, v.a[i], a.a[i]};
        const ff_limiter_target to = {x.a[i], w.a[i]};
        if (ff_limiter_plan_axis(&limits, &from, &to, &plan[i]) < 0)
            return FF_NAN;
        longest = fmax(longest, plan[i].clamped ? FF_INF : plan[i].duration);
    }
    return longest;
}

/* The same part for each of the lab's axes. */
static aims equal_aims(void) {
    const ff_vec3 third = ff_vec3_scale(1.0 / sqrt(3.0), ff_vec3_make(1.0, 1.0, 1.0));
    return (aims){{ff_vec3_make(1.0, 0.0, 0.0), ff_vec3_make(0.0, 1.0, 0.0), ff_vec3_make(0.0, 0.0, 1.0)},
                  third,
                  third};
}

/* One cycle towards a target that is at e from here at its start and moves with vt. False: no plan.
 *
 * Parts of the limits that are chosen anew in every cycle may lead a robot around its target on a circle that
 * grows. So they are kept unless others are quicker: with the same parts the time that is left shrinks by a
 * cycle in each, with others by more. Where an answer is clipped (`bounded`) the plan begins anew and may
 * take longer, again and again: a target that stands and is not met in twice the time that was planned when
 * it was seen to is given up; the robot comes to rest, and from rest nothing is clipped. */
static bool chase(const bounds *b, double T, ff_vec3 e, ff_vec3 vt, bool steady, part *c,
                  ff_output_course *course, ff_vec3 *d) {
    const double ease = ease_time(b, b->A, T), whole = fmax(ease, ff_vec3_norm(ff_vec3_sub(vt, c->v)) / b->A +
                                                                      sqrt(ff_vec3_norm(e) / b->A));
    const aims kept = {{course->axis[0], course->axis[1], ff_vec3_cross(course->axis[0], course->axis[1])},
                       course->share,
                       course->fast},
               each[] = {aim(b, T, ease, e, vt, c), aim(b, T, whole, e, vt, c),
                         course->chasing ? kept : equal_aims(), equal_aims()};
    ff_limiter_plan plan[2][3];
    const aims *by = NULL;
    double left = FF_NAN;
    int best = 0;
    const bool first = steady && course->due == 0.0;
    for (int n = 0; n < (first ? 4 : 3); n++) {
        const double scale = n > 2 || (n == 2 && !course->chasing) ? EQUALLY : 1.0,
                     time = plan_axes(b, &each[n], e, vt, c, plan[1 - best]) / scale;
        if (isnan(time))
            return false;
        if (!by || time < left) {
            left = time;
            by = &each[n];
            best = 1 - best;
        }
    }
    course->due = first ? PROMISE * left : steady ? course->due - T : 0.0;
    course->late = steady && left > course->due;
    if (course->late)
        return false;
    ff_vec3 x, v, a;
    for (int i = 0; i < 3; i++) {
        const ff_limiter_axis next = ff_limiter_plan_at(&plan[best][i], T);
        x.a[i] = next.position;
        v.a[i] = next.velocity;
        a.a[i] = next.acceleration;
    }
    *d = back(by, x);
    *c = (part){back(by, v), back(by, a)};
    course->axis[0] = by->axis[0];
    course->axis[1] = by->axis[1];
    course->share = by->share;
    course->fast = by->fast;
    return ff_vec3_finite(*d) && ff_vec3_finite(c->v) && ff_vec3_finite(c->a);
}

/* The continuous motion behind the last differences. */
static part behind(const bounds *b, double T, const part *now) {
    const bool curved = isfinite(b->A) || isfinite(b->J);
    return (part){curved ? ff_vec3_axpy(0.5 * T, now->a, now->v) : now->v, curved ? now->a : ff_vec3_zero()};
}

static ff_vec3 stop_shares(const bounds *b, double T, const part *c) {
    return shares(effort(b, ease_time(b, b->stop, T), ff_vec3_zero(), c->v, c->a));
}

/* Each axis comes to rest by itself, with its part s of the limits: do the vectors keep theirs? An axis never
 * has more acceleration than it begins with or than its part. The velocity is below its limit where that is
 * true for an acceleration taken back in any direction, and where it is opposed already. */
static bool together(const bounds *b, ff_vec3 s, const part *c) {
    ff_vec3 most;
    for (int i = 0; i < 3; i++)
        most.a[i] = fmax(fabs(c->a.a[i]), b->stop * s.a[i]);
    const double v = ff_vec3_norm(c->v), a = ff_vec3_norm(c->a), more = 1.0 + ROUNDING;
    const bool opposed = ff_vec3_dot(c->v, c->a) <= -0.99 * v * a;
    return ff_vec3_norm(most) <= more * b->A && (opposed || v + a * a / (2.0 * b->J) <= more * b->V);
}

/* [s] of an axis to rest: the acceleration goes to -d p, is held, and is taken back (ff_limiter_stop_path).
 */
static double stop_time(double v, double a, double A, double J) {
    const double left = J * v + 0.5 * a * fabs(a), d = copysign(1.0, left),
                 square = fmax(0.0, J * d * v + 0.5 * a * a), p = fmin(A, sqrt(square));
    return fabs(a + d * p) / J + (p > 0.0 ? (square - p * p) / (J * p) : 0.0) + p / J;
}

/* The parts of the axes are a guess where velocity and acceleration have different directions: one of them
 * may take longer than all together along a line, once the acceleration is taken back. */
static bool slower(const bounds *b, ff_vec3 s, const part *c) {
    const double size = ff_vec3_norm(c->a);
    const ff_vec3 v = ff_vec3_axpy(0.5 * size / b->J, c->a, c->v);
    double longest = 0.0;
    for (int i = 0; i < 3; i++)
        longest = fmax(longest, stop_time(c->v.a[i], c->a.a[i], b->stop * s.a[i], b->J * s.a[i]));
    return longest > (1.0 + SLOWER) * (size / b->J + stop_time(ff_vec3_norm(v), 0.0, b->stop, b->J));
}

/* A stop begins: at once on all axes, or, where these would break a limit together or be slower, by taking
 * back the acceleration along its own direction, which is always within all of them: it never lasts longer
 * than |a|/J and a stop along a line from the velocity that is left. */
static void begin_stop(const bounds *b, double T, const part *c, ff_output_course *course) {
    course->share = stop_shares(b, T, c);
    course->releasing = isfinite(b->J) && (!together(b, course->share, c) || slower(b, course->share, c));
    course->stopping = true;
}

/* The acceleration is taken back for at most dt; returns what is left of that. */
static double release(double J, double dt, part *c, ff_vec3 *d) {
    const double size = ff_vec3_norm(c->a), t = fmin(size / J, dt);
    const ff_vec3 j = size > 0.0 ? ff_vec3_scale(-J / size, c->a) : ff_vec3_zero();
    *d = ff_vec3_scale(t, ff_vec3_axpy(t / 6.0, ff_vec3_axpy(t, j, ff_vec3_scale(3.0, c->a)), c->v));
    c->v = ff_vec3_axpy(t, ff_vec3_axpy(0.5 * t, j, c->a), c->v);
    c->a = t < dt ? ff_vec3_zero() : ff_vec3_axpy(t, j, c->a);
    return dt - t;
}

/* One cycle of the stop. */
static void stop(const bounds *b, double T, ff_output_course *course, part *c, ff_vec3 *d) {
    double left = T;
    *d = ff_vec3_zero();
    if (course->releasing) {
        left = release(b->J, T, c, d);
        if (!(left > 0.0))
            return;
        course->share = stop_shares(b, T, c);
        course->releasing = false;
    }
    for (int i = 0; i < 3; i++) {
        const ff_limiter_limits limits = {FF_INF, b->stop * course->share.a[i], b->J * course->share.a[i]};
        ff_limiter_axis axis = {d->a[i], c->v.a[i], c->a.a[i]};
        ff_limiter_stop_axis(&limits, &axis, left);
        d->a[i] = axis.position;
        c->v.a[i] = axis.velocity;
        c->a.a[i] = axis.acceleration;
    }
}

/* An axis that brakes harder than it can release in time turns before it comes to rest: where. */
static double turning(double v, double a, double J) {
    const double square = a * a - 2.0 * J * fabs(v);
    if (!(a * v < 0.0) || !(square > 0.0))
        return 0.0;
    const double t = (fabs(a) - sqrt(square)) / J, j = -copysign(J, a);
    return t * (v + t * (a / 2.0 + t * j / 6.0));
}

/* From the answer with these differences to where a stop from there ends, and to where it turns. */
static void path_to_rest(const bounds *b, double T, const part *now, const ff_output_course *course,
                         ff_vec3 *end, ff_vec3 *turn) {
    const bool known = course->active && course->exact;
    part c = known ? (part){course->velocity, course->acceleration} : behind(b, T, now);
    ff_output_course stops = *course;
    if (!known || !course->stopping)
        begin_stop(b, T, &c, &stops);
    const double size = ff_vec3_norm(c.a);
    for (int i = 0; i < 3; i++)
        turn->a[i] =
            turning(c.v.a[i], c.a.a[i], b->J * (stops.releasing ? fabs(c.a.a[i]) / size : stops.share.a[i]));
    *end = ff_vec3_zero();
    if (stops.releasing) {
        release(b->J, FF_INF, &c, end);
        stops.share = stop_shares(b, T, &c);
    }
    for (int i = 0; i < 3; i++) {
        const ff_limiter_limits limits = {FF_INF, b->stop * stops.share.a[i], b->J * stops.share.a[i]};
        end->a[i] += ff_limiter_stop_path(&limits, c.v.a[i], c.a.a[i]);
    }
}

ff_vec3 ff_output_stop_path(const ff_output_config *config, ff_vec3 v, ff_vec3 a) {
    const bounds b = bounds_of(config, 0);
    ff_vec3 end, turn;
    path_to_rest(&b, config->cycle, &(part){v, a}, &(ff_output_course){.active = false}, &end, &turn);
    return end;
}

/* The point of a stop that is furthest from the centre of the box, axis by axis. */
static ff_vec3 furthest(const ff_output_config *config, ff_vec3 from, const part *now,
                        const ff_output_course *course) {
    const bounds b = bounds_of(config, 0);
    ff_vec3 end, turn, far;
    path_to_rest(&b, config->cycle, now, course, &end, &turn);
    for (int i = 0; i < 3; i++) {
        const double at = from.a[i] - config->centre.a[i];
        far.a[i] = from.a[i] + (fabs(at + turn.a[i]) > fabs(at + end.a[i]) ? turn.a[i] : end.a[i]);
    }
    return far;
}

/* Can a target that moves on with vt be followed once it is met? Its next step changes the velocity to vt,
 * the one after that the acceleration to zero; then nothing changes any more. */
static bool stays(const bounds *b, double T, ff_vec3 vt, const part *met) {
    const part then = {vt, ff_vec3_scale(1.0 / T, ff_vec3_sub(vt, met->v))};
    const ff_vec3 d = ff_vec3_scale(T, vt);
    return passes(b, T, d, met) && passes(b, T, d, &then);
}

/* The step of one part. e: of the target itself, with its velocity; NULL: there is none. True: it is sent.
 * After it was not, the target is sent again only when it can also be followed from there. */
static bool plan(const bounds *b, double T, const ff_vec3 *e, ff_vec3 vt, bool steady, const part *now,
                 ff_output_course *course, ff_vec3 *d) {
    if (e && passes(b, T, *e, now)) {
        const ff_vec3 v = ff_vec3_scale(1.0 / T, *e);
        const part then = {v, ff_vec3_scale(1.0 / T, ff_vec3_sub(v, now->v))};
        if (!course->active || stays(b, T, vt, &then)) {
            *course = (ff_output_course){0};
            *d = *e;
            return true;
        }
    }
    part c = {course->velocity, course->acceleration};
    if (!course->active || !course->exact)
        c = behind(b, T, now);
    const bool rests = ff_vec3_norm(c.v) == 0.0 && ff_vec3_norm(c.a) == 0.0;
    if (!steady || (course->late && rests)) {
        course->late = false;
        course->due = 0.0;
    }
    part led = c;
    ff_vec3 wanted;
    const bool chased =
        e && !course->late && chase(b, T, ff_vec3_axpy(-T, vt, *e), vt, steady, &led, course, &wanted);
    if (chased)
        c = led;
    else {
        if (!course->stopping || !course->exact)
            begin_stop(b, T, &c, course);
        stop(b, T, course, &c, &wanted);
    }
    *d = bounded(b, T, wanted, now);
    const bool finite = ff_vec3_finite(c.v) && ff_vec3_finite(c.a);
    if (!finite) /* limits so large that the plan overflows: the next one begins behind the answer, which is
                    bounded */
        c = (part){ff_vec3_scale(1.0 / T, *d), ff_vec3_zero()};
    const double allowance = isfinite(b->J) ? b->J * T * T * T : 0.0;
    *course = (ff_output_course){.active = true,
                                 .exact = finite && ff_vec3_norm(ff_vec3_sub(*d, wanted)) <=
                                                        1e-3 * allowance + LAST_BITS,
                                 .chasing = chased,
                                 .stopping = !chased,
                                 .releasing = !chased && course->releasing,
                                 .late = course->late,
                                 .due = course->due,
                                 .velocity = c.v,
                                 .acceleration = c.a,
                                 .axis = {course->axis[0], course->axis[1]},
                                 .share = course->share,
                                 .fast = course->fast};
    return false;
}

/* The target at a telegram's time. */
static bool target_at(const ff_output_config *config, const ff_output_state *state, double time,
                      ff_setpoint *goal) {
    const double dt = time - state->time, T = config->cycle;
    if (!state->targets || !(dt <= config->patience * (1.0 + ROUNDING)))
        return false;
    *goal = state->target;
    const double between = state->time - state->time_before;
    if (dt < 0.0 && state->targets == 2 && between < 1.5 * T)
        goal->T = ff_pose_interpolate(state->target_before.T, state->target.T, fmax(0.0, 1.0 + dt / between));
    else if (dt != 0.0) {
        const double along = fmax(dt, -T);
        goal->T.p = ff_vec3_axpy(along, goal->twist.v, goal->T.p);
        goal->T.q = ff_quat_unit(ff_quat_mul(goal->T.q, ff_quat_exp(ff_vec3_scale(along, goal->twist.w))));
    }
    return is_target(goal);
}

static ff_vec3 turn_between(ff_quat a, ff_quat b) {
    return ff_quat_log(ff_quat_mul(ff_quat_conj(a), b));
}

static bool near(ff_vec3 from, ff_vec3 d, ff_vec3 other, double most) {
    return ff_vec3_norm(ff_vec3_sub(ff_vec3_add(from, d), other)) <= most * (1.0 + ROUNDING);
}

/* turn: from the accepted attitude to this one. */
static void remember(const ff_output_config *config, ff_output_state *state, ff_pose pose, ff_vec3 turn) {
    const double T = config->cycle;
    state->sent = pose;
    state->sent_velocity.v = ff_vec3_scale(1.0 / T, ff_vec3_sub(pose.p, state->pose.p));
    state->sent_velocity.w = ff_vec3_scale(1.0 / T, turn);
    state->sent_acceleration = ff_twist_scale(1.0 / T, ff_twist_sub(state->sent_velocity, state->velocity));
}

/* The translation's step. True: the target itself is sent. *rest: where a stop after it would end. */
static bool shift(const ff_output_config *config, ff_output_state *state, const ff_vec3 *e, ff_vec3 vt,
                  ff_vec3 *d, ff_vec3 *rest) {
    const double T = config->cycle;
    const bounds b = bounds_of(config, 0);
    const part now = {state->velocity.v, state->acceleration.v};
    const ff_vec3 from = state->pose.p;
    bool sent = plan(&b, T, e, vt, e && state->steady, &now, &state->course[0], d);
    /* the other truth: the controller has taken what is called lost */
    if (state->doubtful && !near(from, *d, state->doubt.p, T * b.V)) {
        *d = ff_vec3_zero();
        state->course[0] = (ff_output_course){.active = true};
        sent = false;
    }
    const ff_vec3 v = ff_vec3_scale(1.0 / T, *d);
    const part then = {v, ff_vec3_scale(1.0 / T, ff_vec3_sub(v, now.v))};
    *rest = config->rest_unasked && !config->boxed
                ? ff_vec3_zero()
                : furthest(config, ff_vec3_add(from, *d), &then, &state->course[0]);
    return sent;
}

/* A stop would lead out of the box, and further than one that begins now, or than the robot is already. With
 * an acceleration across the motion and a bounded jerk the stop's shares of the axes are chosen anew where an
 * answer is clipped: the path may then be longer than foreseen, and so much room is kept. */
static bool leaves(const ff_output_config *config, ff_vec3 rest, ff_vec3 now, ff_vec3 at) {
    const double spare = isfinite(config->jerk) ? MARGIN : 0.0;
    bool out = false;
    for (int i = 0; i < 3; i++) {
        const double c = config->centre.a[i], before = fmax(fabs(now.a[i] - c), fabs(at.a[i] - c));
        const double path = fmax(fabs(rest.a[i] - at.a[i]), fabs(now.a[i] - at.a[i]));
        out |= !(fabs(rest.a[i] - c) + spare * path <=
                 fmax(config->box.a[i], before) * (1.0 + ROUNDING) + LAST_BITS);
    }
    return out;
}

/* The same with the box: what leaves it is not sent, the robot brakes. */
static bool shift_inside(const ff_output_config *config, ff_output_state *state, const ff_vec3 *e, ff_vec3 vt,
                         ff_vec3 *d, ff_output_out *out) {
    const part now = {state->velocity.v, state->acceleration.v};
    const ff_output_course course = state->course[0];
    const bool sent = shift(config, state, e, vt, d, &out->rest);
    if (!e || !config->boxed ||
        !leaves(config, out->rest, furthest(config, state->pose.p, &now, &course), state->pose.p))
        return sent;
    ff_vec3 rest;
    out->beyond = true;
    state->course[0] = course;
    return shift(config, state, NULL, ff_vec3_zero(), d, &rest);
}

void ff_output_step(const ff_output_config *config, ff_output_state *state, double time, ff_output_out *out) {
    const double T = config->cycle;
    const bounds linear = bounds_of(config, 0), angular = bounds_of(config, 1);
    const part turns = {state->velocity.w, state->acceleration.w};
    const ff_pose from = state->pose;
    ff_setpoint goal = {from, ff_twist_zero()};
    const bool has = target_at(config, state, time, &goal);
    const ff_vec3 e = ff_vec3_sub(goal.T.p, from.p), r = turn_between(from.q, goal.T.q);
    const ff_vec3 w = ff_quat_rotate(ff_quat_mul(ff_quat_conj(from.q), goal.T.q), goal.twist.w);
    *out = (ff_output_out){.to = goal, .braking = !has};
    ff_vec3 d, phi;
    bool sent = shift_inside(config, state, has ? &e : NULL, goal.twist.v, &d, out);
    if (!sent) {
        out->to.T.p = ff_vec3_add(from.p, d);
        out->to.twist.v = state->course[0].velocity;
        out->limited = has;
    }
    sent = plan(&angular, T, has ? &r : NULL, w, has && state->steady, &turns, &state->course[1], &phi);
    if (state->doubtful && !near(ff_vec3_zero(), phi, turn_between(from.q, state->doubt.q), T * angular.V)) {
        phi = ff_vec3_zero();
        state->course[1] = (ff_output_course){.active = true};
        sent = false;
    }
    if (!sent) {
        out->to.T.q = ff_vec3_norm(phi) > 0.0 ? ff_quat_unit(ff_quat_mul(from.q, ff_quat_exp(phi))) : from.q;
        out->to.twist.w = state->course[1].velocity;
        out->limited = has;
    }
    if (has) {
        out->lag = ff_vec3_norm(ff_vec3_sub(goal.T.p, out->to.T.p));
        out->lag_angle = ff_quat_angle(goal.T.q, out->to.T.q);
    }
    out->rests = !has && ff_vec3_norm(d) <= linear.grain && ff_vec3_norm(phi) <= angular.grain &&
                 ff_vec3_norm(out->to.twist.v) == 0.0 && ff_vec3_norm(out->to.twist.w) == 0.0;
    state->pending = true;
    remember(config, state, out->to.T, sent ? r : turn_between(from.q, out->to.T.q));
}

void ff_output_wire(const ff_output_config *config, ff_output_state *state, ff_pose pose) {
    if (!state->pending || !ff_pose_finite(pose))
        return;
    const bool moved =
                   ff_vec3_norm(ff_vec3_sub(pose.p, state->sent.p)) > 2.0 * config->resolution + LAST_BITS,
               turned = ff_vec3_norm(turn_between(state->sent.q, pose.q)) >
                        2.0 * config->angular_resolution + LAST_BITS;
    if (moved || turned) {
        const ff_pose sent = {turned ? pose.q : state->sent.q, moved ? pose.p : state->sent.p};
        remember(config, state, sent, turn_between(state->pose.q, sent.q));
    }
    state->course[0].exact &= !moved;
    state->course[1].exact &= !turned;
}
