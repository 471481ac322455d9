/* The one sender to the robots. Everything else sets targets; here, at every telegram of a robot, its output
 * stage makes the answer (freefloat/output.h), the axes behind it are checked, and it goes out. Here, too,
 * each telegram shows what has become of the answer before it. */
#include "network/internal.h"

/* [s] for which the answer to a robot's newest telegram is meant: the pacing robot's, or its own. */
static double telegram_time(const ff_network *s, int i) {
    const bool own = i > 0 && ff_network_clock_known(s, i) && ff_network_clock_known(s, 0);
    return own ? ff_follow_time(&s->body[i].follow) : s->pace;
}

/* What stands in the last answer, as the controller rounds it. */
static ff_robot_order wire_order(const ff_network *s, int i) {
    const ff_network_body *b = &s->body[i];
    ff_robot_order at = {.joints.rail = b->axes.at.rail};
    s->address->body[i].robot->sent(b->robot, &at);
    return at;
}

/* The pose of the corrections in it. */
static ff_pose wire_pose(const ff_network *s, int i) {
    const ff_network_body *b = &s->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    const ff_robot_order at = wire_order(s, i);
    if (plan->cartesian)
        return ff_plan_from_base(plan, at.pose);
    ff_pose T = ff_pose_mul(ff_arm_forward(&plan->arm, &at.joints), ff_pose_inverse(b->T_ba));
    T.q = ff_quat_unit(T.q);
    return T;
}

/* The target from now on. The first one finds the robot at rest where its corrections begin. */
void ff__network_aim(ff_network *s, int i, const ff_setpoint *command) {
    ff_network_body *b = &s->body[i];
    if (!b->output.moved)
        ff_output_reset(&b->output, wire_pose(s, i));
    ff_output_target(&b->output, command, s->pace);
}

/* A robot stands if it makes less than a tenth of what its command has moved or turned by in the same time,
 * *by [m], or else [rad], whichever of the last answers it may be at: those of its delay, from two cycles
 * less to three and twice its lag more.
 */
static bool stands(const ff_network *s, int i, double *by) {
    const double far = 1e-4, wide = 2e-3; /* [m], [rad] less is not judged */
    const ff_network_body *b = &s->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    const uint64_t n = b->tracked, W = FF_NETWORK_STANDS,
                   delay = (uint64_t)floor(plan->delay / s->plan->cycle),
                   latest = (uint64_t)ceil((plan->delay + 2.0 * plan->lag) / s->plan->cycle) + 3;
    if (n < latest + W + 1 || latest + W + 1 > FF_NETWORK_TRACK)
        return false;
    double led = FF_INF, turned = FF_INF;
    for (uint64_t d = delay > 2 ? delay - 2 : 0; d <= latest; d++) {
        const ff_pose c1 = b->track[(n - 1 - d) % FF_NETWORK_TRACK],
                      c0 = b->track[(n - 1 - d - W) % FF_NETWORK_TRACK];
        led = fmin(led, ff_vec3_norm(ff_vec3_sub(c1.p, c0.p)));
        turned = fmin(turned, ff_quat_angle(c1.q, c0.q));
    }
    const ff_pose m1 = b->seen[(n - 1) % FF_NETWORK_TRACK], m0 = b->seen[(n - 1 - W) % FF_NETWORK_TRACK];
    const bool shifts = led > far && ff_vec3_norm(ff_vec3_sub(m1.p, m0.p))<0.1 * led, turns = turned> wide &&
                        ff_quat_angle(m1.q, m0.q) < 0.1 * turned;
    *by = shifts ? led : turned;
    return shifts || turns;
}

/* What the controller says of itself. What it has said once it says always; operating mode and override stay
 * as they were when the devices met, the others as motion needs them. */
static void watch_controller(ff_network *s, int i) {
    static const struct {
        const char *text;
        int ready;
        const char *act;
    } signals[] = {
#define FF_SIGNAL_ROW(name, text, ready, act) {text, ready, act},
        FF_SIGNALS(FF_SIGNAL_ROW)
#undef FF_SIGNAL_ROW
    };
    ff_network_body *b = &s->body[i];
    const ff_robot_report *report = &b->report;
    for (unsigned n = 0; n < FF_SIGNAL_COUNT; n++) {
        const bool here = report->signals >> n & 1u;
        if (here && !(b->signals >> n & 1u)) {
            b->signals |= 1u << n;
            b->signal[n] = report->signal[n];
        }
        if (!(b->signals >> n & 1u) || !s->speaks)
            continue;
        const unsigned wanted = signals[n].ready < 0 ? b->signal[n] : (unsigned)signals[n].ready;
        const bool most = n == FF_SIGNAL_AHEAD; /* the others are what they shall be, or not */
        if (!here || (most ? report->signal[n] > wanted : report->signal[n] != wanted))
            ff__network_find(s, (ff_trip){.code = FF_TRIP_CONTROLLER,
                                          .body = i,
                                          .of = signals[n].text,
                                          .act = signals[n].act,
                                          .value = here ? report->signal[n] : FF_NAN,
                                          .limit = wanted});
    }
}

/* The controller clips corrections silently. What it says of its limits must be what the scenario does; where
 * that says nothing, it counts. */
static void watch_limits(ff_network *s, int i) {
    ff_network_body *b = &s->body[i];
    const ff_device_settings *named = &s->scenario->satellite[i].robot.device;
    const struct {
        double told, named, *most, unit;
    } limit[] = {{b->report.clip_deg, named->clip_deg, &b->axis, FF_PI / 180.0},
                 {b->report.clip_mm, named->clip_mm, &b->shift, 1e-3}};
    for (int n = 0; n < 2; n++) {
        const bool says = limit[n].named > 0.0 && isfinite(limit[n].named);
        if (!(limit[n].told > 0.0))
            continue;
        if (says && fabs(limit[n].told - limit[n].named) > 1e-3 * limit[n].named)
            ff__network_find(s, (ff_trip){.code = FF_TRIP_CORRECTION,
                                          .body = i,
                                          .value = limit[n].told,
                                          .limit = limit[n].named});
        *limit[n].most = fmin(*limit[n].most, limit[n].unit * limit[n].told);
    }
    b->turn = fmin(b->turn, b->axis);
}

/* A program that began again would be answered with the old corrections: where no mark of it may be missed,
 * the telegrams say what they count from, unless the scenario has it that they do not. */
static void watch_origin(ff_network *s, int i) {
    const ff_device_settings *named = &s->scenario->satellite[i].robot.device;
    if (!s->body[i].report.anchored && !s->address->body[i].virtual && !(named->no_rsol && named->no_aspos))
        ff__network_find(s, (ff_trip){.code = FF_TRIP_ORIGIN, .body = i});
}

/* None of the first answers was taken: they do not say what the controller wants to hear. One alone may seem
 * to be, where its program begins again and its count of late ones with it. */
static void watch_first(ff_network *s, int i) {
    enum { FIRST = 8 }; /* fewer than the controller stops after */
    ff_network_body *b = &s->body[i];
    if (b->untaken > FIRST || !b->was_sent)
        return;
    b->was_sent = false;
    b->untaken = b->report.taken && b->was_taken ? FIRST + 1 : b->untaken + 1;
    b->was_taken = b->report.taken;
    if (b->untaken == FIRST)
        ff__network_find(s, (ff_trip){.code = FF_TRIP_LATE, .body = i, .value = FIRST, .limit = FIRST - 1});
}

/* A telegram has come: what has become of the last answer, by what the device says of it. jumped: its counter
 * says that others were lost, and no time has passed. */
void ff__network_confirm(ff_network *s, int i, bool jumped) {
    ff_network_body *b = &s->body[i];
    const bool taken = b->report.taken, stood = b->report.stood;
    const double most = b->limits.missed;
    ff_output_confirm(&b->output, taken, stood);
    ff_axes_confirm(&b->axes, taken, stood);
    if (b->report.back && b->output.moved) {
        const ff_robot_order at = wire_order(s, i);
        ff_output_stand(&b->output, wire_pose(s, i));
        ff_axes_stand(&b->axes, &at.joints);
    }
    watch_controller(s, i);
    watch_limits(s, i);
    watch_origin(s, i);
    if (!b->output.moved) {
        watch_first(s, i);
        return;
    }
    /* No answer can have come to telegrams that were lost: a Delay that has not grown by every one of them
     * belongs to a program that has begun again, and so does a counter that is ahead of the time. A program
     * that begins again and counts what it has lost itself shows nothing of that, unless it says where its
     * corrections count from: where more is lost than may be, nobody relies on it. */
    if (b->report.restarted || b->report.late < b->gap || jumped)
        b->strange = FF_TRIP_RESTART;
    else if ((double)b->gap > most && !b->report.anchored && !b->strange)
        b->strange = FF_TRIP_MISSED;
    if (b->strange)
        ff__network_find(s, (ff_trip){.code = b->strange,
                                      .body = i,
                                      .value = (double)b->gap,
                                      .limit = b->strange == FF_TRIP_MISSED ? most : 0.0});
    b->late = b->report.late > b->gap ? b->late + b->report.late - b->gap : 0;
    if ((double)b->late > most)
        ff__network_find(s,
                         (ff_trip){.code = FF_TRIP_LATE, .body = i, .value = (double)b->late, .limit = most});
    const ff_pose at = ff_plan_from_base(&s->plan->body[i], b->report.pose);
    const ff_pose before = b->tracked ? b->seen[(b->tracked - 1) % FF_NETWORK_TRACK] : at;
    const uint64_t cycles = b->gap < FF_NETWORK_TRACK ? b->gap + 1 : FF_NETWORK_TRACK;
    for (uint64_t n = 1; n <= cycles; n++, b->tracked++) {
        b->track[b->tracked % FF_NETWORK_TRACK] = b->output.pose;
        b->seen[b->tracked % FF_NETWORK_TRACK] = ff_pose_interpolate(before, at, (double)n / (double)cycles);
    }
    double by = 0.0;
    b->standing_for = stands(s, i, &by) ? b->standing_for + 1 : 0;
    if (b->standing_for > 1)
        ff__network_find(s, (ff_trip){.code = FF_TRIP_STANDS, .body = i, .value = by, .limit = 0.1 * by});
}

/* ------------------------------------------------------------------------------------------------- axes --
 */

/* Near a singularity of the wrist the axes would have to turn over at once, whatever the pose does. */
static ff_trip axes_trip(int i, const ff_axes_out *out) {
    const double deg = FF_PI / 180.0;
    const bool joint = out->info.reason == FF_ARM_JOINT_LIMIT;
    if (out->reason == FF_AXES_REACH)
        return (ff_trip){.code = joint ? FF_TRIP_JOINT : FF_TRIP_REACH,
                         .body = i,
                         .value = joint ? out->info.excess / deg : out->info.excess,
                         .axis = joint ? out->info.axis : 0};
    if (out->reason == FF_AXES_SPEED)
        return (ff_trip){.code = FF_TRIP_AXIS,
                         .body = i,
                         .value = out->speed / deg,
                         .limit = out->limit / deg,
                         .axis = out->axis};
    return (ff_trip){.code = FF_TRIP_NONE};
}

static ff_trip turned_too_far(const ff_network_body *b, int i, double angle) {
    return (ff_trip){.code = FF_TRIP_ROTATION,
                     .body = i,
                     .value = angle * 180.0 / FF_PI,
                     .limit = b->turn * 180.0 / FF_PI};
}

/* Corrections that the controller would clip: the axis, the rail or the coordinate that is farthest beyond,
 * or NONE. */
static ff_trip clipped_at(const ff_network *s, int i, const ff_arm_joints *joints, const ff_pose *pose) {
    const ff_network_body *b = &s->body[i];
    double turn = 0.0, shift = 0.0;
    int axis = 0;
    for (int a = 0; joints && a < s->plan->body[i].arm.config.axes; a++)
        if (fabs(joints->a[a] - b->axes_first.a[a]) > turn) {
            turn = fabs(joints->a[a] - b->axes_first.a[a]);
            axis = a + 1;
        }
    if (joints && s->plan->body[i].arm.config.rail.rule != FF_ARM_RAIL_NONE)
        shift = fabs(joints->rail - b->axes_first.rail);
    for (int a = 0; pose && a < 3; a++)
        shift = fmax(shift, fabs(pose->p.a[a] - b->first.p.a[a]));
    const bool far = shift > b->shift;
    if (!far && !(turn > b->axis))
        return (ff_trip){.code = FF_TRIP_NONE};
    return (ff_trip){.code = FF_TRIP_CLIPPED,
                     .body = i,
                     .value = far ? 1e3 * shift : turn * 180.0 / FF_PI,
                     .limit = far ? 1e3 * b->shift : b->axis * 180.0 / FF_PI,
                     .axis = far ? 0 : axis};
}

/* Where a set point leads, by different times of its translation and of its turn [s]. */
static ff_pose led(const ff_setpoint *from, double shift, double turn) {
    return (ff_pose){ff_follow_along(from, turn).T.q, ff_follow_along(from, shift).T.p};
}

/* A robot at the end of its reach can only stand still at once. So the arm must reach where a stop would
 * bring it, one cycle later, too: the run ends before. */
static void look_ahead(ff_network *s, int i, const ff_setpoint *to, const ff_arm_joints *at) {
    const ff_network_body *b = &s->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    const ff_safety_limits *limit = &b->limits;
    if (!(s->led & FF_LED_AHEAD))
        return;
    const double T = s->plan->cycle, slows = ff_vec3_norm(to->twist.v) / limit->stop_acceleration,
                 turns = ff_vec3_norm(to->twist.w) / limit->stop_angular_acceleration;
    const ff_pose rest = led(to, T + 0.5 * slows, T + 0.5 * turns);
    if (!plan->cartesian) {
        /* and, with the speed there is now, the axes must be fast enough from there on: where they are not,
         * the stop comes to rest */
        ff_arm_joints joints, on;
        ff_axes_out out;
        ff_pose T_wt = ff_pose_mul(rest, b->T_ba);
        if (ff_axes_reach(&plan->arm, &T_wt, T + fmax(slows, turns), at, &joints, &out) == FF_AXES_FOLLOW) {
            T_wt = ff_pose_mul(led(to, 2.0 * T + 0.5 * slows, 2.0 * T + 0.5 * turns), b->T_ba);
            ff_axes_reach(&plan->arm, &T_wt, T, &joints, &on, &out);
        }
        if (out.reason == FF_AXES_FOLLOW)
            ff__network_find(s, clipped_at(s, i, &joints, NULL));
        if (isfinite(b->axis) ||
            isfinite(b->shift)) { /* and where the output stage says that the stop ends */
            T_wt = ff_pose_mul((ff_pose){rest.q, b->out.rest}, b->T_ba);
            if (ff_axes_reach(&plan->arm, &T_wt, T + fmax(slows, turns), at, &on, &(ff_axes_out){0}) ==
                FF_AXES_FOLLOW)
                ff__network_find(s, clipped_at(s, i, &on, NULL));
        }
        ff__network_find(s, axes_trip(i, &out));
        return;
    }
    const ff_pose there = ff_plan_to_base(plan, (ff_pose){rest.q, b->out.rest});
    ff__network_find(s, clipped_at(s, i, NULL, &there));
    const double angle = ff_quat_angle(there.q, b->first.q);
    if (angle > b->turn)
        ff__network_find(s, turned_too_far(b, i, angle));
}

/* The axes of what the output stage says. */
static void fill_axes(ff_network *s, int i, ff_robot_order *order) {
    ff_network_body *b = &s->body[i];
    ff_arm_joints joints = b->axes.at;
    ff_axes_out out;
    const ff_pose T = ff_pose_mul(b->out.to.T, b->T_ba);
    if (b->out.rests)
        ff_axes_hold(&b->axes);
    else {
        ff_axes_step(&s->plan->body[i].arm, s->plan->cycle, &b->axes, &T, &joints, &out);
        if (out.reason != FF_AXES_FOLLOW)
            ff__network_find(s, axes_trip(i, &out));
        else if (!b->axes.braking)
            look_ahead(s, i, &b->out.to, &joints);
        /* a braking arm leaves the path, and its velocity with it */
        if (s->scenario->satellite[i].robot.device.facility && !b->axes.braking)
            ff_arm_rates(&s->plan->body[i].arm, &joints, &b->out.to.twist, order->rates);
    }
    order->joints = joints;
}

/* ----------------------------------------------------------------------------------------------- answer --
 */

/* The answer to the robot's last telegram, if it waits for one. end: it is commanded to stop. */
void ff__network_answer(ff_network *s, int i, bool end) {
    ff_network_body *b = &s->body[i];
    const ff_plan_body *plan = &s->plan->body[i];
    if (!b->fresh || b->strange)
        return;
    b->fresh = false;
    ff_robot_order order = {.moves = b->output.moved, .stop = end, .text = b->text, .state = s->state};
    b->text = NULL;
    if (b->output.moved) {
        ff_output_step(&b->output_config, &b->output, telegram_time(s, i), &b->out);
        if (!b->beyond)
            b->rest = b->out.rest;
        b->beyond |= b->out.beyond;
        b->boxed = b->out.beyond || (b->boxed && b->out.limited);
        if (!plan->cartesian)
            fill_axes(s, i, &order);
        else {
            order.pose = ff_plan_to_base(plan, b->out.to.T);
            look_ahead(s, i, &b->out.to, NULL);
        }
    }
    char text[FF_DEVICE_SEND_MAX];
    size_t used;
    const ff_status status =
        s->address->body[i].robot->answer(b->robot, 0.0, &order, text, sizeof text, &used);
    if (status == FF_ERR_LIMIT)
        ff__network_find(s, clipped_at(s, i, plan->cartesian ? NULL : &order.joints,
                                       plan->cartesian ? &order.pose : NULL));
    if (status == FF_ERR_LIMIT)
        ff__network_find(s, turned_too_far(b, i, ff_quat_angle(order.pose.q, b->first.q)));
    if (b->output.moved)
        ff_output_wire(&b->output_config, &b->output, wire_pose(s, i));
    if (used && s->address->body[i].robot->topics)
        ff_link_send(&b->link, !order.moves, text, used);
    else if (used)
        ff_socket_send(b->robot_fd, text, used, &b->peer);
    b->was_sent = used > 0;
    b->ended |= end;
}
