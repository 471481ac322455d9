#include "safety/safety.h"

#include <stdio.h>

#define RETREAT_SPEED 0.010 /* [m/s] */
#define RETREAT_EXTRA 0.001 /* [m] */
#define RETREAT_MOST 0.005  /* [m] with what a stop in the middle of it still moves by: */
#define RETREAT_SPARE 2.0   /* [cycles] at its speed; a stop begins from means, half a cycle old */
#define RETREAT_LEAST 1e-9  /* [m] less is not worth a step */
#define RETREAT_PACE 0.8    /* of the stop's acceleration and jerk */
#define RETREAT_GROWS 1.2   /* of the force at its begin: the wrong direction */
#define RETREAT_LONGEST 2.0 /* [s] of all of it, with what it stands meanwhile */
#define RETREAT_BLIND 5     /* [cycles] that it continues without a valid record: 0.2 mm at 4 ms */
#define RECORD_WAIT 0.5     /* [s] at rest for a valid record, before nobody knows whether something pushes */
#define SETTLE 0.1          /* [s] and what a robot at rest may move by in it: */
#define STILL_MOVES 2e-6    /* [m] twenty of the wire's last decimals */
#define STILL_TURNS 2e-5    /* [rad] ten of them */

static const struct {
    const char *name, *unit, *text, *act;
} trips[] = {
#define FF_TRIP_ROW(name, unit, text, act) {#name, unit, text, act},
    FF_TRIPS(FF_TRIP_ROW)
#undef FF_TRIP_ROW
};

const char *ff_trip_name(ff_trip_code code) {
    return (unsigned)code < FF_TRIP_CODES ? trips[code].name : "?";
}
const char *ff_trip_unit(ff_trip_code code) {
    return (unsigned)code < FF_TRIP_CODES ? trips[code].unit : "";
}
const char *ff_trip_text(ff_trip_code code) {
    return (unsigned)code < FF_TRIP_CODES ? trips[code].text : "?";
}

const char *ff_trip_act(ff_trip_code code) {
    return (unsigned)code < FF_TRIP_CODES ? trips[code].act : "";
}

void ff_trip_sentence(const ff_trip *trip, const char *satellite, char *text, size_t size) {
    const ff_trip_code code = trip->code;
    const char *unit = ff_trip_unit(code), *act = trip->act ? trip->act : ff_trip_act(code);
    char of[64] = "", how[128] = "", whose[64] = ""; /* axis, method, signal; value and limit; satellite */
    if (trip->axis)
        snprintf(of, sizeof of, "A%d: ", trip->axis);
    if (trip->of && code == FF_TRIP_CONTROLLER)
        snprintf(of, sizeof of, "%.50s%s", trip->of, trip->act ? "" : ": ");
    else if (trip->of)
        snprintf(of, sizeof of, "method '%.40s': ", trip->of);
    if (code == FF_TRIP_METHOD)
        snprintf(how, sizeof how, ": %.100s (status %d)", ff_status_text(trip->status), (int)trip->status);
    else if (trip->value != 0.0 || trip->limit != 0.0)
        snprintf(how, sizeof how, " (%.6g, allowed %.6g%s%s)", trip->value, trip->limit, *unit ? " " : "",
                 unit);
    if (satellite && code > FF_TRIP_FINISHED && code != FF_TRIP_METHOD && code != FF_TRIP_RECORDER)
        snprintf(whose, sizeof whose, ", satellite %.40s", satellite);
    snprintf(text, size, "%s: %s%s%s%s%s%s", ff_trip_name(code), of, trip->act ? "" : ff_trip_text(code), how,
             whose, *act ? ": " : "", act);
}

ff_trip ff_trip_of_step(ff_status status, const ff_loop_state *state, int bodies, const char *method) {
    if (status != FF_ERR_DIVERGED)
        return (ff_trip){.code = FF_TRIP_METHOD, .status = status, .value = (double)status, .of = method};
    ff_trip trip = {.code = FF_TRIP_DIVERGED, .status = status, .limit = FF_LOOP_LARGEST, .of = method};
    for (int i = 0; i < bodies; i++) {
        const double speed = ff_vec3_norm(state->body[i].velocity);
        if (speed > trip.value) {
            trip.value = speed;
            trip.body = i;
        }
    }
    return trip;
}

const char *ff_stop_text(ff_stop_why why) {
    static const char *const text[] = {
        "nothing pushes: the robot holds where it stopped",
        "the robot has retreated out of the contact",
        "no valid force: the robot holds where it stopped, perhaps in contact",
        "in contact, but no stiffness is known: the robot holds",
        "a grasp may be closed: the robot holds",
        "the robot has retreated as far as it may, and is still in contact: it holds",
        "in contact, but the robot does not follow its retreat: it holds; see its drives and brakes",
        "the robot has not come to rest within 60 s: stop_acceleration, acceleration or jerk is too small",
    };
    return (unsigned)why < sizeof text / sizeof *text ? text[why] : "?";
}

bool ff_stop_ended_well(ff_stop_why why) {
    return why == FF_STOP_FREE || why == FF_STOP_RETREATED;
}

/* A robot that lags is seen for half a period, or for the time in which it creeps: else it may only turn. */
static double settle_time(const ff_robot_config *robot) {
    if (!ff_robot_lags(robot))
        return SETTLE;
    return fmax(SETTLE, fmax(0.5, robot->damping / FF_PI) / robot->frequency);
}

/* A robot that lags follows y'' + 2 z w y' + w^2 y = -u'' with its error y: a stop's deceleration a leads it
 * beyond its command by at most a times the integral of the impulse response's size, 1/w^2, for z < 1 times
 * coth(pi z / (2 sqrt(1 - z^2))). [s2] */
static double swing_of(const ff_robot_config *robot) {
    if (!ff_robot_lags(robot))
        return 0.0;
    const double w = 2.0 * FF_PI * robot->frequency, z = robot->damping;
    const double more = z < 1.0 ? 1.0 / tanh(0.5 * FF_PI * z / sqrt(1.0 - z * z)) : 1.0;
    return more / (w * w);
}

void ff_safety_configure(const ff_scenario *scenario, const double *noise, ff_safety_config *config) {
    *config = (ff_safety_config){.bodies = scenario->satellites, .cycle = scenario->cycle};
    const bool relative = scenario->frame == FF_FRAME_RELATIVE;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *satellite = &scenario->satellite[i];
        const ff_rigid_state nominal = relative ? ff_scenario_nominal(scenario) : (ff_rigid_state){0};
        config->delay[i] = satellite->robot.kind == FF_ROBOT_IDEAL ? 0.0 : satellite->robot.delay;
        config->limits[i] = satellite->safety;
        config->bounded[i] = satellite->limits;
        config->origin[i] = relative ? ff_relative_from_absolute(&nominal, &satellite->start).position
                                     : satellite->start.position;
        config->stop_jerk[i] = FF_INF;
        config->settle[i] = settle_time(&satellite->robot);
        config->swing[i] = swing_of(&satellite->robot);
        config->latency[i] = satellite->sensor.delay;
        config->lag[i] = satellite->safety.tracking;
        config->contact[i] = fmax(1e-3, 5.0 * (noise ? noise[i] : satellite->sensor.force_noise));
        config->grasp[i] = FF_INF;
        double softest = FF_INF;
        for (int c = 0; c < scenario->contacts; c++) {
            const ff_contact *contact = &scenario->contact[c];
            if (contact->body != i && contact->against != i)
                continue;
            if (contact->kind == FF_CONTACT_GRASP)
                config->grasp[i] = fmin(config->grasp[i], contact->closes);
            else if (contact->stiffness > 0.0)
                softest = fmin(softest, contact->stiffness);
        }
        config->stiffness[i] = isfinite(softest) ? softest : 0.0;
    }
}

/* [m/s2] of a stop: no more than of any other motion. */
static double stops_by(const ff_output_config *output) {
    return fmin(output->stop_acceleration, output->acceleration);
}

void ff_safety_set_braking(ff_safety_config *config, int body, const ff_output_config *output) {
    config->limits[body].stop_acceleration = stops_by(output);
    config->limits[body].stop_angular_acceleration =
        fmin(output->stop_angular_acceleration, output->angular_acceleration);
    config->stop_jerk[body] = output->jerk;
}

/* [m] by which a robot that lags passes where its command comes to rest. */
static double beyond(double swing, double deceleration) {
    return swing > 0.0 ? swing * deceleration : 0.0;
}

void ff_safety_set_box(const ff_safety_config *config, int body, ff_output_config *output) {
    const ff_vec3 box = config->limits[body].box;
    output->boxed = isfinite(box.x) || isfinite(box.y) || isfinite(box.z);
    output->centre = config->origin[body];
    for (int a = 0; a < 3; a++)
        output->box.a[a] = fmax(0.0, box.a[a] - beyond(config->swing[body], stops_by(output)));
}

ff_vec3 ff_stop_point(const ff_safety_config *config, int body, const ff_setpoint *measured) {
    const ff_vec3 v = measured->twist.v;
    const ff_limiter_limits limits = {FF_INF, config->limits[body].stop_acceleration,
                                      config->stop_jerk[body]};
    const double speed = ff_vec3_norm(v), swing = config->swing[body],
                 path = ff_limiter_stop_path(&limits, speed, 0.0) +
                        fmin(beyond(swing, limits.acceleration), sqrt(swing) * speed);
    return ff_vec3_axpy(config->delay[body] + (speed > 0.0 ? path / speed : 0.0), v, measured->T.p);
}

ff_vec3 ff_safety_farthest(const ff_safety_config *config, int i, const ff_safety_body_in *b) {
    const ff_vec3 rest = ff_stop_point(config, i, &b->measured), origin = config->origin[i];
    const double more = beyond(config->swing[i], config->limits[i].stop_acceleration);
    ff_vec3 far;
    for (int a = 0; a < 3; a++)
        far.a[a] = fmax(fabs(rest.a[a] - origin.a[a]), fabs(b->rest.a[a] - origin.a[a]) + more);
    return far;
}

#define TRIP(what, is, allowed)                                      \
    return (ff_trip) {                                               \
        .code = (what), .body = i, .value = (is), .limit = (allowed) \
    }
#define WATCH(what, is, allowed)           \
    do {                                   \
        const double value_ = (is);        \
        if (!(value_ <= (allowed)))        \
            TRIP(what, value_, (allowed)); \
    } while (0)

/* What the devices report: whether the robot moves or stands makes no difference. */
static ff_trip examine_devices(const ff_safety_config *config, const ff_safety_in *in, int i) {
    const ff_safety_body_in *b = &in->body[i];
    const ff_safety_limits *limit = &config->limits[i];
    if (!ff_pose_finite(b->measured.T) || !ff_twist_finite(b->measured.twist) || !ff_wrench_finite(b->f_b))
        TRIP(FF_TRIP_NOT_FINITE, FF_NAN, 0.0);
    if (b->sensor != FF_TRIP_NONE)
        TRIP(b->sensor, b->sensor_value, b->sensor_limit);
    WATCH(FF_TRIP_FROZEN, b->same, FF_SAFETY_SAME);
    WATCH(FF_TRIP_MISSED, in->missed, limit->missed);
    if (b->clipped || !(b->apart <= FF_SAFETY_APART))
        TRIP(FF_TRIP_CLIPPED, b->clipped_by, b->clipped_limit);
    WATCH(FF_TRIP_TRACKING, b->tracking, limit->tracking);
    return (ff_trip){.code = FF_TRIP_NONE};
}

static ff_trip examine(const ff_safety_config *config, const ff_safety_memory *state, const ff_safety_in *in,
                       int i) {
    const ff_safety_body_in *b = &in->body[i];
    const ff_safety_limits *limit = &config->limits[i];
    const ff_limiter_config *most = &config->bounded[i];
    const double T = ff_safety_between(config, in);
    const ff_trip devices = examine_devices(config, in, i);
    if (devices.code != FF_TRIP_NONE)
        return devices;
    if (state->seen >= 1)
        WATCH(FF_TRIP_SPIKE, fmax(b->jump, ff_vec3_norm(ff_vec3_sub(b->f_b.f, state->force_last[i]))),
              limit->spike);
    WATCH(FF_TRIP_FORCE, ff_vec3_norm(b->f_b.f), limit->force);
    WATCH(FF_TRIP_TORQUE, ff_vec3_norm(b->f_b.t), limit->torque);
    WATCH(FF_TRIP_ENERGY, b->energy, limit->energy);
    /* the answers keep these limits, whatever is commanded: so the command counts, too */
    WATCH(FF_TRIP_VELOCITY,
          fmax(ff_vec3_norm(b->measured.twist.v), fmin(ff_vec3_norm(b->command.twist.v), most->velocity)),
          limit->velocity);
    WATCH(FF_TRIP_ANGULAR_VELOCITY,
          fmax(ff_vec3_norm(b->measured.twist.w),
               fmin(ff_vec3_norm(b->command.twist.w), most->angular_velocity)),
          limit->angular_velocity);
    /* behind its command because a stop after that would lead out of the box: with the room that is kept for
     * the stop's path it may stand before that by itself */
    const ff_vec3 asked = ff_stop_point(config, i, &b->command);
    for (int a = 0; a < 3 && b->boxed && !(b->lag <= config->lag[i]); a++)
        WATCH(FF_TRIP_BOX, fabs(asked.a[a] - config->origin[i].a[a]), limit->box.a[a]);
    WATCH(FF_TRIP_LAG, b->lag, config->lag[i]);
    const ff_vec3 far = ff_safety_farthest(config, i, b);
    for (int a = 0; a < 3; a++)
        WATCH(FF_TRIP_BOX, far.a[a], limit->box.a[a]);
    if (state->seen >= 1) {
        const ff_twist change = ff_twist_sub(b->command.twist, state->twist_last[i]);
        const ff_vec3 acceleration = ff_vec3_scale(1.0 / T, change.v);
        WATCH(FF_TRIP_ACCELERATION, fmin(ff_vec3_norm(acceleration), most->acceleration),
              limit->acceleration);
        WATCH(FF_TRIP_ANGULAR_ACCELERATION, fmin(ff_vec3_norm(change.w) / T, most->angular_acceleration),
              limit->angular_acceleration);
        if (state->seen >= 2)
            WATCH(FF_TRIP_JERK, fmin(ff_safety_jerk(state, i, acceleration, T), most->jerk), limit->jerk);
    }
    return (ff_trip){.code = FF_TRIP_NONE};
}

ff_trip ff_safety_examine(const ff_safety_config *config, const ff_safety_memory *memory,
                          const ff_safety_in *in) {
    ff_trip trip = {.code = FF_TRIP_NONE};
    for (int i = 0; i < config->bodies && trip.code == FF_TRIP_NONE; i++)
        trip = examine(config, memory, in, i);
    return trip;
}

void ff_safety_remember(const ff_safety_config *config, ff_safety_memory *state, const ff_safety_in *in) {
    for (int i = 0; i < config->bodies; i++) {
        const ff_safety_body_in *b = &in->body[i];
        if (state->seen >= 1)
            state->acceleration_last[i] = ff_vec3_scale(
                1.0 / ff_safety_between(config, in), ff_vec3_sub(b->command.twist.v, state->twist_last[i].v));
        state->twist_last[i] = b->command.twist;
        state->force_last[i] = b->f_b.f;
    }
    state->between_last = ff_safety_between(config, in);
    state->seen += state->seen < 3;
}

bool ff_safety_touching(const ff_safety_config *config, ff_safety_memory *state, const ff_safety_in *in) {
    bool any = false;
    for (int i = 0; i < config->bodies; i++) {
        if (in->body[i].force_valid)
            state->touched[i] = ff_vec3_norm(in->body[i].f_b.f) > config->contact[i];
        any |= state->touched[i];
    }
    return any;
}

static ff_trip examine_at_rest(const ff_safety_config *config, const ff_safety_memory *state,
                               const ff_safety_in *in, bool zeroed, int i) {
    const ff_safety_body_in *b = &in->body[i];
    const ff_safety_limits *limit = &config->limits[i];
    const ff_trip devices = examine_devices(config, in, i);
    if (devices.code != FF_TRIP_NONE)
        return devices;
    if (zeroed && b->force_valid) {
        if (state->seen >= 1)
            WATCH(FF_TRIP_SPIKE, fmax(b->jump, ff_vec3_norm(ff_vec3_sub(b->f_b.f, state->force_last[i]))),
                  limit->spike);
        WATCH(FF_TRIP_FORCE, ff_vec3_norm(b->f_b.f), limit->force);
        WATCH(FF_TRIP_TORQUE, ff_vec3_norm(b->f_b.t), limit->torque);
    }
    WATCH(FF_TRIP_VELOCITY, ff_vec3_norm(b->measured.twist.v), limit->velocity);
    WATCH(FF_TRIP_ANGULAR_VELOCITY, ff_vec3_norm(b->measured.twist.w), limit->angular_velocity);
    for (int a = 0; a < 3; a++)
        WATCH(FF_TRIP_BOX, fabs(b->measured.T.p.a[a] - config->origin[i].a[a]), limit->box.a[a]);
    return (ff_trip){.code = FF_TRIP_NONE};
}
#undef WATCH
#undef TRIP

ff_trip ff_safety_examine_at_rest(const ff_safety_config *config, const ff_safety_memory *memory,
                                  const ff_safety_in *in, bool zeroed) {
    ff_trip trip = {.code = FF_TRIP_NONE};
    for (int i = 0; i < config->bodies && trip.code == FF_TRIP_NONE; i++)
        trip = examine_at_rest(config, memory, in, zeroed, i);
    return trip;
}

/* ------------------------------------------------------------------------------------------------- stop --
 */

bool ff_trip_by_sensor(ff_trip_code code) {
    return code == FF_TRIP_AGE || code == FF_TRIP_RANGE || code == FF_TRIP_FROZEN || code == FF_TRIP_SENSOR ||
           code == FF_TRIP_SPIKE || code == FF_TRIP_NOT_FINITE;
}

void ff_stop_start(ff_stop_state *state) {
    *state = (ff_stop_state){.started = true};
}

static void finish(ff_stop_state *state, ff_stop_why why) {
    state->done = true;
    state->why = why;
}

/* One more step of the retreat, if it may be made. The target begins and ends at rest, within what the stop
 * may accelerate: a robot that had to catch up with it would go further. */
static bool retreat(const ff_safety_config *config, int body, ff_stop_state *state, double push) {
    const ff_limiter_limits most = {
        fmin(RETREAT_SPEED, fmin(config->limits[body].velocity, config->bounded[body].velocity)),
        RETREAT_PACE * config->limits[body].stop_acceleration, RETREAT_PACE * config->stop_jerk[body]};
    state->pace.position = 0.0;
    bool may =
        state->left > RETREAT_LEAST && push <= RETREAT_GROWS * state->push &&
        ff_limiter_step_axis(&most, &state->pace, &(ff_limiter_target){state->left, 0.0}, config->cycle) >= 0;
    const double step = fmin(state->pace.position, state->left);
    const ff_vec3 to = ff_vec3_axpy(step, state->normal, state->target.T.p);
    for (int a = 0; a < 3; a++) { /* back into its box, never further out */
        const double origin = config->origin[body].a[a], from = fabs(state->target.T.p.a[a] - origin);
        may = may && (fabs(to.a[a] - origin) <= fmax(config->limits[body].box.a[a], from));
    }
    if (!may) {
        state->left = 0.0;
        return false;
    }
    state->left -= step;
    state->step = step;
    state->target.T.p = to;
    state->target.twist.v = ff_vec3_scale(state->pace.velocity, state->normal);
    return true;
}

/* A robot that was held meanwhile has made less than half of the last step: it is led on from where it
 * stands, from rest. Catching up with its target it would overtake it at the end. */
static void wait_for_robot(ff_stop_state *state, ff_vec3 at) {
    if (!(ff_vec3_norm(ff_vec3_sub(at, state->at)) < 0.5 * state->step))
        return;
    state->left += ff_vec3_dot(ff_vec3_sub(state->target.T.p, at), state->normal);
    state->target = (ff_setpoint){{state->target.T.q, at}, ff_twist_zero()};
    state->pace = (ff_limiter_axis){0};
}

/* Counts the cycles that command and robot are at rest. */
static void look_at_rest(ff_stop_state *state, const ff_stop_in *in) {
    const double moved = ff_vec3_norm(ff_vec3_sub(in->measured.p, state->stands.p)),
                 turned = ff_quat_angle(in->measured.q, state->stands.q);
    const bool moves = moved > STILL_MOVES || turned > STILL_TURNS; /* not if that is not known */
    if (!in->rests || !state->still || moves) {
        state->stands = in->measured;
        state->still = 0;
    }
    state->still++;
    state->rested = in->rests ? state->rested + 1 : 0;
}

void ff_stop_step(const ff_safety_config *config, int body, ff_stop_state *state, const ff_stop_in *in) {
    const double T = config->cycle, push = ff_vec3_norm(in->force);
    if (state->done)
        return;
    state->taken += T;
    state->retreated += state->retreats ? T : 0.0;
    state->blind = in->force_valid ? 0 : state->blind + 1;
    state->waited = in->force_valid ? 0.0 : state->waited;
    const bool recent =
                   !state->distrusted && state->blind <= RETREAT_BLIND, /* else the last one counts not */
        pushed = push > config->contact[body], in_time = state->retreated <= RETREAT_LONGEST;
    if (state->taken > FF_STOP_LONGEST) {
        state->goes = false;
        finish(state, FF_STOP_UNFINISHED);
        return;
    }
    if (state->goes)
        wait_for_robot(state, in->at.p);
    state->at = in->at.p;
    state->goes =
        state->goes && !state->held && recent && pushed && in_time && retreat(config, body, state, push);
    if (state->goes)
        return;
    /* the robot rests a delay after its command: before that its force does not say how deep it will stand.
     * Nor does it while it retreats: damping may hide what is left of the contact, records may be lost */
    look_at_rest(state, in);
    if ((double)state->rested * T < config->delay[body] + 3.0 * T ||
        (double)state->still * T < config->settle[body] + 2.0 * T)
        return;
    if (state->grasped)
        finish(state, FF_STOP_GRASPED);
    else if (!in->force_valid) { /* the next one is waited for */
        state->waited += T;
        if (state->distrusted || state->waited > RECORD_WAIT)
            finish(state, FF_STOP_NO_FORCE);
    } else if (!pushed)
        finish(state, state->retreats ? FF_STOP_RETREATED : FF_STOP_FREE);
    else if (state->held)
        finish(state, FF_STOP_HELD);
    else if (!(config->stiffness[body] > 0.0))
        finish(state, FF_STOP_NO_STIFFNESS);
    else {
        if (!state->retreats) {
            state->retreats = true;
            state->normal = ff_vec3_scale(1.0 / push, in->force);
            state->left = fmin(push / config->stiffness[body] + RETREAT_EXTRA,
                               RETREAT_MOST - RETREAT_SPARE * RETREAT_SPEED * T);
            state->push = push;
        } else /* what the robot still moved by when it was stopped */
            state->left -= ff_vec3_norm(ff_vec3_sub(in->at.p, state->target.T.p));
        state->target = (ff_setpoint){in->at, ff_twist_zero()};
        state->pace = (ff_limiter_axis){0};
        state->rested = 0;
        state->goes = in_time && retreat(config, body, state, push);
        if (!state->goes)
            finish(state, FF_STOP_STILL_PUSHED);
    }
}
