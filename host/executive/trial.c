/* The small motions of the check: weight, delay and skew identified from them. */
#include "executive/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILT_RATE 0.3 /* [rad/s] peak */
#define DWELL 0.5     /* [s] at each tilt, beyond the delay */
#define STILL 0.4     /* [s] of it that is looked at */
#define SETTLE 0.3    /* [s] beyond the robot's delay */
#define CHIRP_LOW 0.5 /* [Hz] */
#define CHIRP_HIGH 3.5
#define CHIRP_TIME 4.0 /* [s] (low + high)/2 * time is whole: it ends where it began */
#define CHIRP_FADE 0.4 /* [s] */
#define STEP 1e-4      /* [s] of central differences: their error is of its square, the paths are smooth */

/* s(u) from 0 to 1 with rest at both ends. */
static double smooth(double u) {
    return u <= 0.0 ? 0.0 : u >= 1.0 ? 1.0 : u * u * u * (10.0 + u * (-15.0 + 6.0 * u));
}

/* [s] of such a path within half of these limits: its largest velocity is 15/8 of the mean, its acceleration
 * and jerk 10/sqrt(3) and 60 of the distance over time squared and cubed. */
static double smooth_time(double distance, double velocity, double acceleration, double jerk) {
    const double d = 2.0 * distance;
    return fmax(1.875 * d / velocity, fmax(sqrt(10.0 / sqrt(3.0) * d / acceleration), cbrt(60.0 * d / jerk)));
}

double ff_trial_span(const ff_output_config *limit, ff_pose from, ff_pose to) {
    const double shift = ff_vec3_norm(ff_vec3_sub(to.p, from.p)), turn = ff_quat_angle(from.q, to.q);
    return fmax(smooth_time(shift, limit->velocity, limit->acceleration, limit->jerk),
                smooth_time(turn, limit->angular_velocity, limit->angular_acceleration, limit->angular_jerk));
}

/* Offset of the chirp in units of its amplitude, 0 to 1: (1 - cos phi)/2, faded in and out. */
static double chirp(double t) {
    if (t <= 0.0 || t >= CHIRP_TIME)
        return 0.0;
    const double turns = t * (CHIRP_LOW + 0.5 * (CHIRP_HIGH - CHIRP_LOW) * t / CHIRP_TIME);
    return smooth(t / CHIRP_FADE) * smooth((CHIRP_TIME - t) / CHIRP_FADE) * 0.5 *
           (1.0 - cos(2.0 * FF_PI * turns));
}

bool ff_trial_weighs(const ff_scenario *scenario, int body, const char **why) {
    const ff_satellite *satellite = &scenario->satellite[body];
    *why = "";
    if (satellite->check.weight == FF_WEIGHT_POSES)
        return true;
    if (satellite->check.weight == FF_WEIGHT_SCENARIO)
        *why = "check: {weight: scenario}: the values of mockup are believed";
    else if (satellite->sensor.environment)
        *why = "the sensor stands in the environment: what it carries does not turn";
    else if (!(ff_vec3_norm(scenario->facility_gravity) > 0.0))
        *why = "no facility.gravity: nothing has a weight";
    return !**why;
}

void ff_trial_plan(const ff_scenario *scenario, const ff_plan *plan, int body, ff_trial *trial) {
    const ff_satellite *satellite = &scenario->satellite[body];
    const ff_check_config *c = &satellite->check;
    const ff_output_config *limit = &plan->body[body].output;
    *trial = (ff_trial){.park = ff_plan_runup(plan, body, -FF_INF).T,
                        .cycle = plan->cycle,
                        .poses = ff_trial_weighs(scenario, body, &(const char *){NULL}),
                        .chirp = c->chirp,
                        .dwell = DWELL + plan->body[body].delay,
                        .settle = SETTLE + plan->body[body].delay};
    if (trial->poses) {
        double angle = c->angle;
        if (plan->body[body].cartesian)
            angle = fmin(angle, 4.5 * FF_PI / 180.0);
        const double rate = fmin(2.0 * TILT_RATE, limit->angular_velocity);
        const ff_pose T_wl = ff_pose_inverse(scenario->facility_pose);
        const ff_vec3 down =
            ff_quat_unrotate(trial->park.q, ff_quat_rotate(T_wl.q, scenario->facility_gravity));
        /* two axes across gravity: the weight moves in both; made from a vector 13 degrees off it at least */
        ff_vec3 a = {{fabs(down.x) < 0.5 * ff_vec3_norm(down) ? 1.0 : 0.0, 1.0, 0.3}};
        a = ff_vec3_cross(down, a);
        if (!(ff_vec3_norm(a) > 0.0))
            a = ff_vec3_make(1.0, 0.0, 0.0);
        a = ff_vec3_scale(1.0 / ff_vec3_norm(a), a);
        ff_vec3 b = ff_vec3_cross(down, a);
        b = ff_vec3_norm(b) > 0.0 ? ff_vec3_scale(1.0 / ff_vec3_norm(b), b) : ff_vec3_make(0.0, 1.0, 0.0);
        trial->tilt[1] = ff_vec3_scale(angle, a);
        trial->tilt[2] = ff_vec3_scale(-angle, a);
        trial->tilt[3] = ff_vec3_scale(angle, b);
        trial->tilt[4] = ff_vec3_scale(-angle, b);
        trial->move = smooth_time(2.0 * angle, rate, limit->angular_acceleration, limit->angular_jerk);
        trial->tilt_end = 5.0 * (trial->move + trial->dwell) + trial->settle;
    }
    trial->end = trial->tilt_end;
    if (trial->chirp) {
        /* half of each limit, by the differences that the safety functions take */
        const double T = plan->cycle;
        double velocity = 0.0, acceleration = 0.0, jerk = 0.0, v[3] = {0};
        for (int k = 0; k <= (int)(CHIRP_TIME / T) + 2; k++) {
            const double t = k * T;
            v[2] = v[1];
            v[1] = v[0];
            v[0] = (chirp(t + STEP) - chirp(t - STEP)) / (2.0 * STEP);
            velocity = fmax(velocity, fabs(v[0]));
            acceleration = fmax(acceleration, fabs(v[0] - v[1]) / T);
            jerk = fmax(jerk, fabs(v[0] - 2.0 * v[1] + v[2]) / (T * T));
        }
        trial->amplitude = fmin(c->amplitude, 0.5 * limit->velocity / velocity);
        trial->amplitude = fmin(trial->amplitude, 0.5 * limit->acceleration / acceleration);
        trial->amplitude = fmin(trial->amplitude, 0.5 * limit->jerk / jerk);
        const ff_vec3 ahead = plan->body[body].start.twist.v;
        const double speed = ff_vec3_norm(ahead);
        trial->direction = speed > 0.0 ? ff_vec3_scale(-1.0 / speed, ahead) : ff_vec3_make(1.0, 0.0, 0.0);
        trial->end += CHIRP_TIME + trial->settle;
    }
}

static ff_pose trial_pose(const ff_trial *trial, double t) {
    ff_pose T = trial->park;
    if (trial->poses && t < trial->tilt_end) {
        const double span = trial->move + trial->dwell;
        const int leg = (int)fmin(4.0, floor(fmax(t, 0.0) / span));
        const double s = smooth((t - leg * span) / trial->move);
        const ff_vec3 r =
            ff_vec3_axpy(s, ff_vec3_sub(trial->tilt[leg + 1], trial->tilt[leg]), trial->tilt[leg]);
        T.q = ff_quat_mul(T.q, ff_quat_exp(r));
    } else if (trial->chirp) {
        T.p = ff_vec3_axpy(trial->amplitude * chirp(t - trial->tilt_end), trial->direction, T.p);
    }
    return T;
}

ff_setpoint ff_trial_between(ff_pose from, ff_pose to, double u, double span) {
    const double h = STEP / span, rate = (smooth(u + h) - smooth(u - h)) / (2.0 * h * span);
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(ff_quat_conj(from.q), to.q)),
                  shift = ff_vec3_sub(to.p, from.p);
    const ff_pose T = {ff_quat_mul(from.q, ff_quat_exp(ff_vec3_scale(smooth(u), turn))),
                       ff_vec3_axpy(smooth(u), shift, from.p)};
    return (ff_setpoint){T, {ff_vec3_scale(rate, turn), ff_vec3_scale(rate, shift)}};
}

ff_setpoint ff_trial_at(const ff_trial *trial, double t) {
    const double h = STEP;
    const ff_pose a = trial_pose(trial, t - h), b = trial_pose(trial, t + h);
    return (ff_setpoint){trial_pose(trial, t),
                         {ff_vec3_scale(0.5 / h, ff_quat_log(ff_quat_mul(ff_quat_conj(a.q), b.q))),
                          ff_vec3_scale(0.5 / h, ff_vec3_sub(b.p, a.p))}};
}

ff_status ff_trial_reach(const ff_trial *trial, const ff_plan_body *body, char *message, size_t size) {
    ff_arm_joints joints = body->home;
    for (int k = 0; k <= (int)(trial->end / trial->cycle); k += 10) {
        const ff_pose T = trial_pose(trial, k * trial->cycle);
        ff_arm_info info;
        if (ff_arm_inverse(&body->arm, &T, &joints, &joints, &info) != FF_OK) {
            snprintf(message, size, "the test motion cannot be made: %s", ff_arm_reason_text(info.reason));
            return FF_ERR_REACH;
        }
    }
    return FF_OK;
}

/* The samples as a table of named columns, for the fits that read logs. The contact wrench stays zero: a log
 * has it, but these fits do not read it. */
static const char *const columns[] = {
    "b.command.position.x",
    "b.command.position.y",
    "b.command.position.z",
    "b.command.attitude.w",
    "b.command.attitude.x",
    "b.command.attitude.y",
    "b.command.attitude.z",
    "b.command.velocity.x",
    "b.command.velocity.y",
    "b.command.velocity.z",
    "b.command.angular_velocity.x",
    "b.command.angular_velocity.y",
    "b.command.angular_velocity.z",
    "b.robot.position.x",
    "b.robot.position.y",
    "b.robot.position.z",
    "b.robot.attitude.w",
    "b.robot.attitude.x",
    "b.robot.attitude.y",
    "b.robot.attitude.z",
    "b.robot.velocity.x",
    "b.robot.velocity.y",
    "b.robot.velocity.z",
    "b.robot.angular_velocity.x",
    "b.robot.angular_velocity.y",
    "b.robot.angular_velocity.z",
    "b.sensor.force.x",
    "b.sensor.force.y",
    "b.sensor.force.z",
    "b.sensor.torque.x",
    "b.sensor.torque.y",
    "b.sensor.torque.z",
    "b.force_measured.x",
    "b.force_measured.y",
    "b.force_measured.z",
    "b.torque_measured.x",
    "b.torque_measured.y",
    "b.torque_measured.z",
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double *put_setpoint(double *at, const ff_setpoint *s) {
    memcpy(at, s->T.p.a, 3 * sizeof *at);
    at[3] = s->T.q.w;
    at[4] = s->T.q.x;
    at[5] = s->T.q.y;
    at[6] = s->T.q.z;
    memcpy(at + 7, s->twist.v.a, 3 * sizeof *at);
    memcpy(at + 10, s->twist.w.a, 3 * sizeof *at);
    return at + 13;
}

static ff_status make_table(const ff_trial_sample *sample, size_t count, double cycle, ff_log_table *table,
                            char *message, size_t size) {
    *table = (ff_log_table){.columns = COLUMNS, .rows = count, .cycle = cycle, .bodies = 1};
    table->body[0][0] = 'b';
    table->name = calloc(COLUMNS, sizeof *table->name);
    table->value = calloc(count * COLUMNS + 1, sizeof *table->value);
    if (!table->name || !table->value) {
        ff_log_table_free(table);
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    for (int c = 0; c < COLUMNS; c++)
        snprintf(table->name[c], FF_LOG_NAME, "%s", columns[c]);
    for (size_t k = 0; k < count; k++) {
        double *at = table->value + k * COLUMNS;
        at = put_setpoint(at, &sample[k].command);
        at = put_setpoint(at, &sample[k].robot);
        memcpy(at, sample[k].f_s.f.a, 3 * sizeof *at);
        memcpy(at + 3, sample[k].f_s.t.a, 3 * sizeof *at);
    }
    return FF_OK;
}

/* The end of the rest at a tilt, [from, to): a delayed robot has arrived, and so has an old force. */
static size_t rest_of(const ff_trial *trial, int leg, size_t count, size_t *to) {
    const double end = (leg + 1) * (trial->move + trial->dwell);
    const size_t last = (size_t)ceil(end / trial->cycle);
    *to = last < count ? last : count;
    const size_t from = (size_t)((end - STILL) / trial->cycle);
    return from < *to ? from : *to;
}

/* Only what was felt at rest: there it does not matter by how much the force is older than the pose, nor what
 * inertia the mock-up has. */
ff_status ff_trial_weigh(const ff_trial *trial, const ff_wrench_config *frames, const ff_trial_sample *sample,
                         size_t count, ff_log_payload *payload, char *message, size_t size) {
    ff_log_table table;
    ff_trial_sample *rest = calloc(count + 1, sizeof *rest);
    if (!rest) {
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    size_t used = 0;
    for (int leg = 0; leg < 5; leg++) {
        size_t to;
        for (size_t k = rest_of(trial, leg, count, &to); k < to; k++)
            rest[used++] = sample[k];
    }
    ff_status status = make_table(rest, used, trial->cycle, &table, message, size);
    free(rest);
    if (status != FF_OK)
        return status;
    status = ff_log_identify_payload(&table, 0, frames->gravity_w, frames->T_bs, payload, message, size);
    ff_log_table_free(&table);
    return status;
}

double ff_trial_drift(const ff_trial *trial, const ff_wrench_config *fitted, ff_wrench bias_s,
                      const ff_trial_sample *sample, size_t count) {
    double worst = 0.0;
    for (int leg = 0; leg < 5; leg++) {
        ff_wrench sum = ff_wrench_zero();
        int used = 0;
        size_t to;
        for (size_t k = rest_of(trial, leg, count, &to); k < to; k++) {
            const ff_wrench_in in = {.T_wb = sample[k].robot.T};
            const ff_wrench f_b = ff_wrench_transform(fitted->T_bs, ff_wrench_sub(sample[k].f_s, bias_s));
            sum = ff_wrench_add(sum, ff_wrench_sub(f_b, ff_wrench_mockup(fitted, &in)));
            used++;
        }
        if (used)
            worst = fmax(worst, ff_vec3_norm(sum.f) / used);
    }
    return worst;
}

ff_status ff_trial_time(const ff_trial *trial, const ff_trial_sample *sample, size_t count, double longest,
                        ff_log_delay *delay, char *message, size_t size) {
    ff_log_table table;
    const size_t from = (size_t)(trial->tilt_end / trial->cycle);
    if (count <= from) {
        snprintf(message, size, "the chirp was cut short");
        return FF_ERR_ARGUMENT;
    }
    ff_status status = make_table(sample + from, count - from, trial->cycle, &table, message, size);
    if (status != FF_OK)
        return status;
    status = ff_log_identify_delay(&table, 0, longest, delay, message, size);
    ff_log_table_free(&table);
    return status;
}

/* Acceleration of the robot in sensor axes at a sample, by the second difference: no phase. */
static ff_vec3 accelerated(const ff_trial *trial, const ff_wrench_config *frames,
                           const ff_trial_sample *sample, size_t k) {
    const ff_vec3 a = ff_vec3_scale(1.0 / (trial->cycle * trial->cycle),
                                    ff_vec3_sub(ff_vec3_add(sample[k + 1].robot.T.p, sample[k - 1].robot.T.p),
                                                ff_vec3_scale(2.0, sample[k].robot.T.p)));
    return ff_quat_unrotate(frames->T_bs.q, ff_quat_unrotate(sample[k].robot.T.q, a));
}

enum { SKEW_BEFORE = 3, SKEW_BEHIND = 16 }; /* [cycles] searched */

/* Sums of a line through force over acceleration of `skew` cycles earlier; each axis has a bias of its own.
 */
typedef struct aligned {
    double xx, xy, yy, slope_xx, n;
} aligned;

static aligned align_at(const ff_vec3 *x, const ff_trial_sample *sample, size_t from, size_t to,
                        double skew) {
    aligned sum = {0};
    const double whole = floor(skew), u = 1.0 - (skew - whole); /* between k - whole - 1 and k - whole */
    ff_vec3 mean_x = ff_vec3_zero(), mean_y = ff_vec3_zero();
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = from; k < to; k++) {
            const ff_vec3 *p = x + ((ptrdiff_t)k - (ptrdiff_t)whole - 1);
            for (int a = 0; a < 3; a++) {
                const double p0 = p[-1].a[a], p1 = p[0].a[a], p2 = p[1].a[a], p3 = p[2].a[a];
                /* cubic through the two, with central slopes */
                const double c1 = 0.5 * (p2 - p0), c2 = p0 - 2.5 * p1 + 2.0 * p2 - 0.5 * p3,
                             c3 = 0.5 * (p3 - p0) + 1.5 * (p1 - p2);
                const double value = p1 + u * (c1 + u * (c2 + u * c3)),
                             slope = c1 + u * (2.0 * c2 + u * 3.0 * c3), force = sample[k].f_s.f.a[a];
                if (pass == 0) {
                    mean_x.a[a] += value / (double)(to - from);
                    mean_y.a[a] += force / (double)(to - from);
                    continue;
                }
                const double dx = value - mean_x.a[a], dy = force - mean_y.a[a];
                sum.xx += dx * dx;
                sum.xy += dx * dy;
                sum.yy += dy * dy;
                sum.slope_xx += slope * slope;
            }
        }
    sum.n = 3.0 * (double)(to - from) - 5.0; /* three biases, the mass, the skew */
    return sum;
}

/* What the line leaves of the force. */
static double left_over(aligned s) {
    return s.xx > 0.0 ? s.yy - s.xy * s.xy / s.xx : s.yy;
}

/* The chirp does not turn the mock-up: its weight is constant, and the force is f = bias - m a(t - skew). */
ff_status ff_trial_align(const ff_trial *trial, const ff_wrench_config *frames, double behind,
                         const ff_trial_sample *sample, size_t count, ff_estimate *skew, char *message,
                         size_t size) {
    const size_t begin = (size_t)(trial->tilt_end / trial->cycle), room = SKEW_BEHIND + 4;
    *skew = (ff_estimate){FF_NAN, FF_NAN};
    if (count < begin + 2 * room + 50) {
        snprintf(message, size, "the chirp was cut short");
        return FF_ERR_ARGUMENT;
    }
    if (frames->environment) {
        snprintf(message, size, "the sensor stands in the environment: it feels no inertia of the mock-up");
        return FF_ERR_ARGUMENT;
    }
    ff_vec3 *x = calloc(count - begin, sizeof *x);
    if (!x) {
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    const ff_trial_sample *chirped = sample + begin;
    for (size_t k = 1; k + 1 < count - begin; k++)
        x[k] = accelerated(trial, frames, sample, begin + k);
    const size_t from = room, to = count - begin - room;
    double best = 0.0, least = FF_INF;
    for (int n = -4 * SKEW_BEFORE; n <= 4 * SKEW_BEHIND; n++) {
        const aligned s = align_at(x, chirped, from, to, 0.25 * n);
        if (s.xy < 0.0 && left_over(s) < least) {
            least = left_over(s);
            best = 0.25 * n;
        }
    }
    double low = best - 0.25, high = best + 0.25;
    for (int n = 0; n < 40; n++) { /* golden section: one minimum between */
        const double a = high - 0.618034 * (high - low), b = low + 0.618034 * (high - low);
        if (left_over(align_at(x, chirped, from, to, a)) < left_over(align_at(x, chirped, from, to, b)))
            high = b;
        else
            low = a;
    }
    best = 0.5 * (low + high);
    const aligned s = align_at(x, chirped, from, to, best);
    free(x);
    const double sd = sqrt(fmax(0.0, left_over(s)) / s.n), mass = -s.xy / s.xx;
    if (!isfinite(least) || !(mass * sqrt(s.xx) > 10.0 * sd)) {
        snprintf(message, size,
                 "the mock-up's inertia force is not seen: it has no mass, or the noise hides it");
        return FF_ERR_ARGUMENT;
    }
    *skew = (ff_estimate){best * trial->cycle - behind, trial->cycle * sd / (mass * sqrt(s.slope_xx))};
    return FF_OK;
}

double ff_check_speed(const ff_plan_body *body, const ff_rigid_state *state, size_t stride, uint64_t samples,
                      double cycle, int *axis, double *when) {
    ff_arm_joints before = body->home, now;
    ff_axes_out out;
    double most = 0.0;
    *axis = 0;
    *when = 0.0;
    for (uint64_t k = 0; k < samples; k++) {
        const ff_pose T = ff_rigid_pose(&state[k * stride]);
        /* from the run-up's start to its end it is led slowly: the first step is not one of a cycle */
        if (ff_axes_reach(&body->arm, &T, k ? cycle : FF_INF, &before, &now, &out) == FF_AXES_REACH)
            break; /* ff_check_margin says so */
        for (int a = 0; a < body->arm.config.axes && k; a++) {
            const double share = fabs(now.a[a] - before.a[a]) / (cycle * body->arm.config.speed[a]);
            if (share > most) {
                most = share;
                *axis = a + 1;
                *when = (double)k * cycle;
            }
        }
        before = now;
    }
    return most;
}

double ff_check_margin(const ff_plan_body *body, const ff_rigid_state *state, size_t stride, uint64_t samples,
                       double cycle, double *when) {
    ff_arm_joints joints = body->home;
    double least = FF_INF;
    *when = 0.0;
    for (uint64_t n = 0; n < samples + 4; n += 5) {
        const uint64_t k = n < samples ? n : samples - 1; /* the last one, too */
        const ff_pose T = ff_rigid_pose(&state[k * stride]);
        ff_arm_info info;
        if (ff_arm_inverse(&body->arm, &T, &joints, &joints, &info) != FF_OK) {
            *when = (double)k * cycle;
            return info.reason == FF_ARM_JOINT_LIMIT ? -info.excess : -FF_INF;
        }
        for (int a = 0; a < body->arm.config.axes; a++) {
            const double margin =
                fmin(joints.a[a] - body->arm.config.lower[a], body->arm.config.upper[a] - joints.a[a]);
            if (margin < least) {
                least = margin;
                *when = (double)k * cycle;
            }
        }
    }
    return least;
}
