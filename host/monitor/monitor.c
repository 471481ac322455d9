/* What the monitor decides: the tool's motion that an answer makes, the limits it must keep, and the stop
 * that takes its place. */
#include "monitor/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    REST = 10,   /* [cycles] at rest before RSI is ended */
    RESTART = 16 /* [cycles] that a telegram may be late without being taken for a new beginning */
};

const char *const ff_monitor_names[FF_MONITOR_CAUSES] = {
    "FINE", "SILENT", "MALFORMED", "VELOCITY", "ACCELERATION", "ANGULAR_VELOCITY", "ANGULAR_ACCELERATION",
    "BOX",  "RANGE",  "SPEED",     "GEOMETRY", "ROBOT",        "RESTART",          "ENDED"};

ff_status ff_monitor_create(ff_monitor *m, const ff_monitor_config *c) {
    const double positive[] = {c->cycle,
                               c->velocity,
                               c->acceleration,
                               c->jerk,
                               c->angular_velocity,
                               c->angular_acceleration,
                               c->angular_jerk,
                               c->stop_acceleration,
                               c->stop_angular_acceleration,
                               c->misfit,
                               c->box.x,
                               c->box.y,
                               c->box.z};
    const double finite[] = {c->d1, c->a1, c->a2, c->d4, c->a3, c->d6};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (!(positive[i] > 0.0))
            return FF_ERR_ARGUMENT;
    for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
        if (!isfinite(finite[i]))
            return FF_ERR_NOT_FINITE;
    if (!isfinite(c->cycle) || !ff_pose_finite(c->base) || !ff_pose_finite(c->tool))
        return FF_ERR_NOT_FINITE;
    for (int i = 0; i < 6; i++)
        if (c->axes && (!(c->speed[i] > 0.0) || !(c->lower[i] < c->upper[i])))
            return FF_ERR_ARGUMENT;
    *m = (ff_monitor){.config = *c};
    return FF_OK;
}

/* --------------------------------------------------------------------------------------------- geometry --
 */

static ff_quat about(double x, double y, double z, double angle) {
    return ff_quat_exp(ff_vec3_make(x * angle, y * angle, z * angle));
}

/* The tool for the six axes: from the wrist outwards, then back to the base, one rotation after the other. */
static ff_pose tool_of_axes(const ff_monitor_config *c, const double q[6]) {
    const ff_quat waist = about(0, 0, 1, -q[0]), upper = about(0, 1, 0, q[1]),
                  fore = about(0, 1, 0, q[1] + q[2]);
    ff_quat hand =
        ff_quat_mul(about(1, 0, 0, -q[3]), ff_quat_mul(about(0, 1, 0, q[4]), about(1, 0, 0, -q[5])));
    hand = ff_quat_mul(hand, about(0, 1, 0, FF_PI / 2.0)); /* the flange's z points out of the hand */
    ff_vec3 p = ff_quat_rotate(hand, ff_vec3_add(c->tool.p, ff_vec3_make(0, 0, c->d6)));
    p = ff_quat_rotate(fore, ff_vec3_add(p, ff_vec3_make(c->d4, 0, c->a3)));
    p = ff_vec3_add(p, ff_quat_rotate(upper, ff_vec3_make(c->a2, 0, 0)));
    p = ff_quat_rotate(waist, ff_vec3_add(p, ff_vec3_make(c->a1, 0, 0)));
    p = ff_vec3_add(p, ff_vec3_make(0, 0, c->d1));
    const ff_quat turned = ff_quat_mul(waist, ff_quat_mul(fore, ff_quat_mul(hand, c->tool.q)));
    return (ff_pose){ff_quat_mul(c->base.q, turned), ff_vec3_add(c->base.p, ff_quat_rotate(c->base.q, p))};
}

static ff_pose tool_of_pose(const ff_monitor_config *c, const double x[6]) {
    const ff_pose T = {ff_quat_from_abc(x[3], x[4], x[5]), ff_vec3_make(x[0], x[1], x[2])};
    return ff_pose_mul(c->base, T);
}

/* Where a correction brings the tool. */
static ff_pose tool_of_total(const ff_monitor *m, const double total[6]) {
    double x[6];
    for (int i = 0; i < 6; i++)
        x[i] = m->origin[i] + total[i];
    if (m->config.axes)
        return tool_of_axes(&m->config, x);
    /* Cartesian: added to the position, turned about the base's axes */
    ff_pose T = {ff_quat_mul(ff_quat_from_abc(total[3], total[4], total[5]),
                             ff_quat_from_abc(m->origin[3], m->origin[4], m->origin[5])),
                 ff_vec3_make(x[0], x[1], x[2])};
    return ff_pose_mul(m->config.base, T);
}

static void to_si(const double wire[6], bool axes, double x[6]) {
    for (int i = 0; i < 6; i++)
        x[i] = wire[i] * (axes || i >= 3 ? MONITOR_DEG : 1e-3);
}

static void from_si(const double x[6], bool axes, double wire[6]) {
    for (int i = 0; i < 6; i++)
        wire[i] = x[i] / (axes || i >= 3 ? MONITOR_DEG : 1e-3);
}

static ff_quat turn_of(const double x[6]) {
    return ff_quat_from_abc(x[3], x[4], x[5]);
}

/* Totals from a correction that adds to what the robot has accepted, and back. Rotations do not add: one
 * turns the other. */
static void add_up(const ff_monitor *m, double x[6]) {
    const double *from = m->accepted.total;
    const ff_quat turned = ff_quat_mul(turn_of(x), turn_of(from));
    for (int i = 0; i < 6; i++)
        x[i] += from[i];
    if (!m->config.axes)
        ff_quat_to_abc(turned, &x[3], &x[4], &x[5]);
}

static void take_away(const ff_monitor *m, double x[6]) {
    const double *from = m->accepted.total;
    const ff_quat turned = ff_quat_mul(turn_of(x), ff_quat_conj(turn_of(from)));
    for (int i = 0; i < 6; i++)
        x[i] -= from[i];
    if (!m->config.axes)
        ff_quat_to_abc(turned, &x[3], &x[4], &x[5]);
}

/* The motion from what the robot was sent last. */
static void follow(const ff_monitor *m, ff_monitor_sent *s) {
    const ff_monitor_sent *from = &m->accepted;
    const double T = m->config.cycle;
    s->tool = tool_of_total(m, s->total);
    s->v = ff_vec3_scale(1.0 / T, ff_vec3_sub(s->tool.p, from->tool.p));
    s->w = ff_vec3_scale(1.0 / T, ff_quat_log(ff_quat_mul(s->tool.q, ff_quat_conj(from->tool.q))));
    s->a = ff_vec3_scale(1.0 / T, ff_vec3_sub(s->v, from->v));
    s->b = ff_vec3_scale(1.0 / T, ff_vec3_sub(s->w, from->w));
    for (int i = 0; i < 6; i++) {
        s->rate[i] = (s->total[i] - from->total[i]) / T;
        s->change[i] = (s->rate[i] - from->rate[i]) / T;
    }
}

/* The robot stands where it was last sent. */
static void stand(ff_monitor_sent *s) {
    s->v = s->w = s->a = s->b = ff_vec3_zero();
    memset(s->rate, 0, sizeof s->rate);
    memset(s->change, 0, sizeof s->change);
}

/* ------------------------------------------------------------------------------------------------- limits --
 */

/* How long a stop takes that begins with the motion s: first its acceleration goes to zero in `ease`, then
 * the velocity that is left in `fall`, by a polynomial whose largest acceleration is 1.5 v / fall and whose
 * largest jerk 6 v / fall^2. */
static void stop_times(const ff_monitor_config *c, const ff_monitor_sent *s, double *ease, double *fall) {
    *ease = fmax(ff_vec3_norm(s->a) / c->jerk, ff_vec3_norm(s->b) / c->angular_jerk);
    const double v = ff_vec3_norm(ff_vec3_axpy(0.5 * *ease, s->a, s->v)),
                 w = ff_vec3_norm(ff_vec3_axpy(0.5 * *ease, s->b, s->w));
    const double a = fmin(c->stop_acceleration, c->acceleration / 1.5),
                 b = fmin(c->stop_angular_acceleration, c->angular_acceleration / 1.5);
    *fall = fmax(fmax(v / a, sqrt(6.0 * v / c->jerk)), fmax(w / b, sqrt(6.0 * w / c->angular_jerk)));
}

/* Along one coordinate, t into such a stop. */
static double braked(double rate, double change, double ease, double fall, double t) {
    const double t1 = fmin(t, ease);
    double x = rate * t1;
    if (ease > 0.0)
        x += change * (t1 * t1 / 2.0 - t1 * t1 * t1 / (6.0 * ease));
    if (t > ease && fall > 0.0) {
        const double s = fmin(1.0, (t - ease) / fall);
        x += (rate + 0.5 * change * ease) * fall * (s - s * s * s + s * s * s * s / 2.0);
    }
    return x;
}

static void trip(ff_monitor *m, ff_monitor_cause cause, int axis, double value, double limit) {
    if (m->cause != FF_MONITOR_FINE)
        return;
    m->cause = cause;
    m->axis = axis;
    m->value = value;
    m->limit = limit;
    m->brake = m->accepted;
    m->braking = 0;
    stop_times(&m->config, &m->brake, &m->ease, &m->fall);
}

/* Outside the box by more than `slack` [m]: the axis 0, 1, 2 of the world, else -1. */
static int outside(const ff_monitor *m, ff_vec3 p, double slack) {
    for (int i = 0; i < 3; i++)
        if (!(fabs(p.a[i] - m->config.centre.a[i]) <= m->config.box.a[i] + slack))
            return i;
    return -1;
}

/* Does the motion keep every limit? Else the cause is set. */
static bool judge(ff_monitor *m, const ff_monitor_sent *s) {
    const ff_monitor_config *c = &m->config;
    for (int i = 0; c->axes && i < 6; i++) {
        const double q = m->origin[i] + s->total[i];
        if (!(q >= c->lower[i] && q <= c->upper[i]))
            trip(m, FF_MONITOR_RANGE, i + 1, q / MONITOR_DEG,
                 (q < c->lower[i] ? c->lower[i] : c->upper[i]) / MONITOR_DEG);
        if (!(fabs(s->rate[i]) <= c->speed[i]))
            trip(m, FF_MONITOR_SPEED, i + 1, fabs(s->rate[i]) / MONITOR_DEG, c->speed[i] / MONITOR_DEG);
    }
    const double v = ff_vec3_norm(s->v), w = ff_vec3_norm(s->w), a = ff_vec3_norm(s->a),
                 b = ff_vec3_norm(s->b);
    if (!(v <= c->velocity))
        trip(m, FF_MONITOR_VELOCITY, 0, v, c->velocity);
    if (!(w <= c->angular_velocity))
        trip(m, FF_MONITOR_ANGULAR_VELOCITY, 0, w, c->angular_velocity);
    if (!(a <= c->acceleration))
        trip(m, FF_MONITOR_ACCELERATION, 0, a, c->acceleration);
    if (!(b <= c->angular_acceleration))
        trip(m, FF_MONITOR_ANGULAR_ACCELERATION, 0, b, c->angular_acceleration);
    double ease, fall;
    stop_times(c, s, &ease, &fall);
    ff_vec3 rest = s->tool.p;
    for (int k = 0; k < 3; k++)
        rest.a[k] += braked(s->v.a[k], s->a.a[k], ease, fall, ease + fall);
    const int i = outside(m, rest, 0.0);
    if (i >= 0)
        trip(m, FF_MONITOR_BOX, 0, fabs(rest.a[i] - m->config.centre.a[i]), c->box.a[i]);
    return m->cause == FF_MONITOR_FINE;
}

/* --------------------------------------------------------------------------------------------- telegrams --
 */

static bool begin(ff_monitor *m, const monitor_rob *rob) {
    const ff_monitor_config *c = &m->config;
    double x[6];
    to_si(rob->tool, false, x);
    const ff_pose reported = tool_of_pose(c, x);
    if (c->axes) {
        if (!rob->has_axes)
            return false;
        to_si(rob->axis, true, m->origin);
    } else {
        memcpy(m->origin, x, sizeof x);
    }
    m->begun = true;
    m->moves = m->ended = m->answered = false;
    m->ipoc = rob->ipoc;
    m->delay = rob->delay;
    m->step = 0;
    memcpy(m->set, rob->set, sizeof m->set);
    memcpy(m->has_set, rob->has_set, sizeof m->has_set);
    m->accepted = (ff_monitor_sent){0};
    m->accepted.tool = m->first = tool_of_total(m, m->accepted.total);
    m->pending = m->accepted;
    m->seen = reported;
    const double misfit = ff_vec3_norm(ff_vec3_sub(m->first.p, reported.p));
    if (!(misfit <= c->misfit))
        trip(m, FF_MONITOR_GEOMETRY, 0, misfit, c->misfit);
    return true;
}

/* [mm or deg] by which the program's own set point, which no correction moves, is not the first telegram's;
 * infinite: it is not said any more. */
static double reset_by(const ff_monitor *m, const monitor_rob *rob) {
    double most = 0.0;
    for (int n = 0; n < 2; n++)
        for (int i = 0; i < 6 && m->has_set[n]; i++) {
            const double d = rob->has_set[n] ? fabs(rob->set[n][i] - m->set[n][i]) : FF_INF;
            most = fmax(most, n == 0 && i > 2 ? fmin(d, fabs(360.0 - d)) : d);
        }
    return most;
}

/* Where the robot itself is, whatever it was sent. */
static void look(ff_monitor *m, const monitor_rob *rob, uint64_t cycles) {
    double x[6];
    to_si(rob->tool, false, x);
    const ff_pose now = tool_of_pose(&m->config, x);
    const double v = ff_vec3_norm(ff_vec3_sub(now.p, m->seen.p)) / ((double)cycles * m->config.cycle);
    m->seen = now;
    if (!(v <= 2.0 * m->config.velocity))
        trip(m, FF_MONITOR_ROBOT, 0, v, 2.0 * m->config.velocity);
    const int i = outside(m, now.p, m->config.misfit);
    if (i >= 0)
        trip(m, FF_MONITOR_BOX, 0, fabs(now.p.a[i] - m->config.centre.a[i]), m->config.box.a[i]);
}

bool ff_monitor_telegram(ff_monitor *m, const char *bytes, size_t size) {
    monitor_rob rob;
    if (!monitor_read_rob(bytes, size, &rob))
        return false;
    if (!m->begun || (m->ended && m->cause == FF_MONITOR_FINE)) {
        m->telegrams++;
        return begin(m, &rob);
    }
    if (rob.ipoc <= m->ipoc) {
        const uint64_t behind = m->step ? (m->ipoc - rob.ipoc) / m->step : 0;
        if (rob.delay >= m->delay && behind <= RESTART)
            return false; /* repeated or overtaken on the network */
        trip(m, FF_MONITOR_RESTART, 0, (double)behind, RESTART);
    } else if (rob.delay < m->delay) {
        trip(m, FF_MONITOR_RESTART, 0, (double)rob.delay, (double)m->delay);
    }
    m->telegrams++;
    if (m->step == 0)
        m->step = rob.ipoc - m->ipoc;
    const uint64_t cycles = m->step && rob.ipoc > m->ipoc ? (rob.ipoc - m->ipoc + m->step / 2) / m->step : 1;
    /* nobody has answered telegrams that were lost: the controller counts them, unless it began again */
    if (m->moves && rob.counts && rob.ipoc > m->ipoc && rob.delay - m->delay + 1 < cycles)
        trip(m, FF_MONITOR_RESTART, 0, (double)(rob.delay - m->delay), (double)(cycles - 1));
    const double reset = reset_by(m, &rob), same = 1e-5; /* [mm, deg] */
    if (!(reset <= same))
        trip(m, FF_MONITOR_RESTART, 0, reset, same);
    const bool taken = m->answered && cycles == 1 && rob.delay == m->delay;
    if (taken) {
        m->accepted = m->pending;
    } else {
        stand(&m->accepted); /* the controller holds the last correction */
        if (m->cause != FF_MONITOR_FINE) {
            m->brake = m->accepted;
            m->ease = m->fall = 0.0;
        }
    }
    m->ipoc = rob.ipoc;
    m->delay = rob.delay;
    m->answered = false;
    look(m, &rob, cycles > 0 ? cycles : 1);
    return true;
}

bool ff_monitor_answer(ff_monitor *m, const char *bytes, size_t size) {
    monitor_sen sen;
    if (!m->begun || m->answered || m->cause != FF_MONITOR_FINE) {
        m->withheld++;
        return false;
    }
    if (!monitor_read_sen(bytes, size, m->config.axes, &sen)) {
        m->withheld++;
        trip(m, FF_MONITOR_MALFORMED, 0, (double)size, FF_MONITOR_SIZE);
        return false;
    }
    if (sen.ipoc != m->ipoc) {
        m->withheld++; /* of a cycle that is over */
        return false;
    }
    ff_monitor_sent next = {0};
    to_si(sen.value, m->config.axes, next.total);
    if (m->config.relative)
        add_up(m, next.total);
    follow(m, &next);
    if (!judge(m, &next)) {
        m->withheld++;
        return false;
    }
    m->pending = next;
    m->answered = m->moves = true;
    m->ended = sen.stop;
    m->relayed++;
    return true;
}

void ff_monitor_silence(ff_monitor *m) {
    if (m->moves && !m->answered && !m->ended)
        trip(m, FF_MONITOR_SILENT, 0, 0.0, 0.0);
}

void ff_monitor_end(ff_monitor *m) {
    if (m->moves && !m->ended)
        trip(m, FF_MONITOR_ENDED, 0, 0.0, 0.0);
}

/* --------------------------------------------------------------------------------------------------- stop --
 */

size_t ff_monitor_stop(ff_monitor *m, char *buffer, size_t size) {
    const ff_monitor_config *c = &m->config;
    if (m->cause == FF_MONITOR_FINE || m->cause == FF_MONITOR_GEOMETRY || m->cause == FF_MONITOR_RESTART ||
        m->answered || m->ended)
        return 0;
    m->braking++;
    const double t = (double)m->braking * c->cycle;
    ff_monitor_sent next = {0};
    for (int i = 0; i < 6; i++)
        next.total[i] = m->brake.total[i] + braked(m->brake.rate[i], m->brake.change[i], m->ease, m->fall, t);
    follow(m, &next);
    monitor_sen sen = {.ipoc = m->ipoc, .stop = t >= m->ease + m->fall + REST * c->cycle};
    double due[6];
    memcpy(due, next.total, sizeof due);
    if (c->relative)
        take_away(m, due);
    from_si(due, c->axes, sen.value);
    char text[48];
    snprintf(text, sizeof text, "freefloat guard: %s", ff_monitor_names[m->cause]);
    const size_t used = monitor_write_sen(&sen, c->axes, text, buffer, size);
    if (used == 0)
        return 0;
    m->pending = next;
    m->answered = true;
    m->ended = sen.stop;
    m->own++;
    return used;
}

void ff_monitor_text(const ff_monitor *m, char *text, size_t size) {
    const double v = m->value, l = m->limit;
    switch (m->cause) {
    case FF_MONITOR_SILENT:
        snprintf(
            text, size,
            "SILENT: no answer of the loop in time; see freefloat rt, the computer's load and the network");
        break;
    case FF_MONITOR_ENDED:
        snprintf(text, size,
                 "ENDED: the guard was asked to end while the robot moved; it is brought to rest first");
        break;
    case FF_MONITOR_MALFORMED:
        snprintf(text, size,
                 "MALFORMED: an answer of %.0f bytes is not a correction of the configured channel; see what "
                 "sends to this port",
                 v);
        break;
    case FF_MONITOR_RANGE:
        snprintf(text, size,
                 "RANGE: axis A%d would be at %.2f deg, its range ends at %.2f; see the scenario's reach",
                 m->axis, v, l);
        break;
    case FF_MONITOR_SPEED:
        snprintf(text, size, "SPEED: axis A%d would turn at %.2f deg/s, at most %.2f; see singularities",
                 m->axis, v, l);
        break;
    case FF_MONITOR_BOX:
        snprintf(text, size, "BOX: %.4f m from the middle of the box, it ends at %.4f m", v, l);
        break;
    case FF_MONITOR_GEOMETRY:
        snprintf(text, size,
                 "GEOMETRY: RIst is %.4f m from the tool of the configured arm, limit %.4f m; see $TOOL, "
                 "$BASE and the scenario's base and tool",
                 v, l);
        break;
    case FF_MONITOR_ROBOT:
        snprintf(text, size, "ROBOT: it moves at %.3f m/s, limit %.3f; see the controller", v, l);
        break;
    case FF_MONITOR_RESTART:
        snprintf(text, size,
                 "RESTART: the controller's program began again; bring the robot to its start and begin with "
                 "the check");
        break;
    default:
        snprintf(text, size, "%s: an answer asks for %.4g, limit %.4g (SI units); it was withheld",
                 ff_monitor_names[m->cause], v, l);
    }
}
