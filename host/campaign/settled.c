/* campaign/settled.c - the proof that the rest of a run is free flight.
 *
 * Not for every scenario: walls only, robots and sensors without memory beyond their delays, no noise, no
 * arm, no limits, a method of our own. There the step is a function of velocities, wrenches and the method's
 * own state. A row without wrench, correction and contact, whose velocities are those of the row before to
 * the bit, is a fixed point of that function: it repeats as long as the sensors read nothing. They read
 * nothing as long as no robot comes to a wall. Where the robots go is known: along commands that are a
 * satellite's pose, or lie ahead of it on its straight path. What is still on its way in delays is waited
 * for. */
#include "campaign/settled.h"

enum {
    QUIET = 16,     /* rows: a detector's five, an episode's five, one for each difference */
    REPLAYS = 64,   /* rows: a recomputation of the past, spread over cycles, is done */
    HISTORY = 1024, /* rows: what `impact` and `fused` can look back */
};
static const double CLEAR = 1e-6; /* [m] of a wall: far above the rounding of a path */

static bool is_zero(ff_vec3 a) {
    return a.x == 0.0 && a.y == 0.0 && a.z == 0.0;
}

static bool is_zero_wrench(const ff_wrench *f) {
    return is_zero(f->f) && is_zero(f->t);
}

static bool is_same(ff_vec3 a, ff_vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool robot_ok(const ff_robot_config *robot) {
    if (ff_robot_lags(robot)) /* from critical damping on it does not overshoot */
        return robot->damping >= 1.0 && robot->jitter == 0.0 && robot->lost == 0.0;
    return robot->kind == FF_ROBOT_IDEAL || robot->kind == FF_ROBOT_DELAY;
}

/* Reads zero where nothing touches. */
static bool sensor_ok(const ff_sensor_config *sensor) {
    return sensor->kind == FF_SENSOR_IDEAL ||
           (sensor->kind == FF_SENSOR_NOISY && sensor->force_noise == 0.0 && sensor->torque_noise == 0.0 &&
            is_zero_wrench(&sensor->bias) && sensor->drift_force == 0.0 && sensor->drift_torque == 0.0 &&
            !isfinite(sensor->bandwidth));
}

static bool method_ok(const ff_scenario *scenario) {
    static const ff_method *const known[] = {&ff_method_direct, &ff_method_tdpa, &ff_method_damping,
                                             &ff_method_impact, &ff_method_fused};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (scenario->method == known[i])
            return scenario->integrate.scheme != FF_SCHEME_PASSIVE; /* it has a velocity beside the body's */
    return false;
}

static bool scenario_ok(const ff_scenario *scenario) {
    bool good = method_ok(scenario) && scenario->frame == FF_FRAME_ABSOLUTE && !scenario->emulates &&
                !scenario->faults && !ff_scenario_bounded(scenario) && ff_scenario_servicer(scenario) < 0;
    for (int i = 0; i < scenario->satellites && good; i++) {
        const ff_satellite *satellite = &scenario->satellite[i];
        good = robot_ok(&satellite->robot) && sensor_ok(&satellite->sensor) && !satellite->mockup.present;
    }
    for (int c = 0; c < scenario->contacts && good; c++)
        good = scenario->contact[c].kind == FF_CONTACT_WALL;
    return good;
}

void ff_settled_begin(ff_settled *settled, const ff_scenario *scenario, const ff_metrics *metrics) {
    *settled = (ff_settled){.scenario = scenario, .metrics = metrics, .possible = scenario_ok(scenario)};
    if (!settled->possible)
        return;
    settled->predicts = scenario->method->can & FF_CAN_PREDICT;
    double late = 0.0;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_robot_config *robot = &scenario->satellite[i].robot;
        const ff_sensor_config *sensor = &scenario->satellite[i].sensor;
        late = fmax(late, (robot->kind == FF_ROBOT_IDEAL ? 0.0 : robot->delay + robot->jitter) +
                              (sensor->kind == FF_SENSOR_IDEAL ? 0.0 : sensor->delay));
    }
    settled->enough = (uint64_t)ceil(late / scenario->cycle) + QUIET + (settled->predicts ? REPLAYS : 0);
    for (int c = 0; c < scenario->contacts; c++)
        settled->reach[c] = ff_vec3_norm(scenario->contact[c].point);
}

/* How far a robot that lags may still come from its command's path: its error and speed of now, and its
 * command's path during the delay. */
static double slack_of(const ff_robot_config *robot, const ff_row_body *b) {
    if (!ff_robot_lags(robot))
        return 0.0;
    const ff_vec3 v = b->satellite.velocity;
    const double behind = ff_vec3_norm(ff_vec3_sub(b->inertial.T.p, b->command.T.p)),
                 speed = ff_vec3_norm(ff_vec3_sub(b->inertial.twist.v, v));
    return 2.0 * (behind + ff_vec3_norm(v) * robot->delay) + speed / (2.0 * FF_PI * robot->frequency);
}

/* [m] from the wall to the contact's point; of a body that turns to the sphere of it. */
static double gap(const ff_settled *settled, int c, bool turns, ff_vec3 p, ff_quat q) {
    const ff_contact *wall = &settled->scenario->contact[c];
    const double centre = ff_vec3_dot(wall->normal, ff_vec3_sub(p, wall->at));
    return turns ? centre - settled->reach[c]
                 : centre + ff_vec3_dot(wall->normal, ff_quat_rotate(q, wall->point));
}

/* Neither satellite nor command nor robot comes to this wall in the time that is left. */
static bool is_clear(const ff_settled *settled, int c, const ff_row *row) {
    const ff_scenario *scenario = settled->scenario;
    const ff_contact *wall = &scenario->contact[c];
    const ff_row_body *b = &row->body[wall->body];
    const ff_robot_config *robot = &scenario->satellite[wall->body].robot;
    const ff_vec3 v = b->satellite.velocity;
    const double away = ff_vec3_dot(wall->normal, v),
                 left = (double)(scenario->cycles - row->k) * scenario->cycle;
    /* how far ahead a method commands may change, and so may a wall that it remembers: straight away only */
    if (settled->predicts && away < 0.5 * ff_vec3_norm(v))
        return false;
    const double least = CLEAR + slack_of(robot, b) - fmin(away, 0.0) * left;
    const bool turns = !is_zero(b->satellite.omega) || ff_robot_lags(robot);
    return gap(settled, c, turns, b->satellite.position, b->satellite.attitude) > least &&
           gap(settled, c, turns, b->command.T.p, b->command.T.q) > least &&
           gap(settled, c, turns, b->inertial.T.p, b->inertial.T.q) > least;
}

/* A row of free flight, like the one before it. */
static bool flies(const ff_settled *settled, const ff_row *row) {
    if (row->final || row->status != FF_OK)
        return false;
    for (int c = 0; c < settled->scenario->contacts; c++)
        if (row->touching[c])
            return false;
    for (int i = 0; i < settled->scenario->satellites; i++) {
        const ff_row_body *b = &row->body[i];
        if (b->in_contact || b->settling || b->limited || !is_zero_wrench(&b->measured_b) ||
            !is_zero_wrench(&b->corrected_b) || !is_zero(b->velocity_correction.v) ||
            !is_zero(b->velocity_correction.w) || !is_same(b->satellite.velocity, settled->velocity[i]) ||
            !is_same(b->satellite.omega, settled->omega[i]))
            return false;
    }
    for (int c = 0; c < settled->scenario->contacts; c++)
        if (!is_clear(settled, c, row))
            return false;
    return true;
}

/* Nothing that began is unfinished, no load comes, nobody leaves the numbers that a loop takes. */
static bool is_over(const ff_settled *settled, const ff_row *row) {
    const ff_scenario *scenario = settled->scenario;
    const double left = (double)(scenario->cycles - row->k) * scenario->cycle;
    /* what is older than its history no method recomputes; before, it reaches back to the start */
    if (settled->flight < settled->enough ||
        (settled->predicts && row->k + REPLAYS >= HISTORY && settled->flight < settled->enough + HISTORY))
        return false;
    for (int c = 0; c < scenario->contacts; c++)
        if (settled->metrics->open[c] >= 0)
            return false;
    for (int i = 0; i < scenario->loads; i++)
        if (scenario->load[i].to > row->t - scenario->cycle)
            return false;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_rigid_state *s = &row->body[i].satellite;
        if (!(ff_vec3_norm(s->position) + left * ff_vec3_norm(s->velocity) < 0.5 * FF_LOOP_LARGEST))
            return false;
    }
    return true;
}

static ff_status take(void *self, const ff_row *row) {
    ff_settled *settled = self;
    if (!settled->possible || settled->over)
        return FF_OK;
    settled->flight = flies(settled, row) ? settled->flight + 1 : 0;
    for (int i = 0; i < settled->scenario->satellites; i++) {
        settled->velocity[i] = row->body[i].satellite.velocity;
        settled->omega[i] = row->body[i].satellite.omega;
    }
    settled->over = is_over(settled, row);
    return FF_OK;
}

ff_sink ff_settled_sink(ff_settled *settled) {
    return (ff_sink){.self = settled, .row = take};
}
