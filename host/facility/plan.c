#include "facility/plan.h"

#include "facility/robots.h"
#include "text/message.h"

#include <string.h>

/* Why, by how much, and what there is. */
static ff_status unreachable(const ff_satellite *satellite, const ff_arm_model *arm, const ff_arm_info *info,
                             char *message, size_t size) {
    const ff_arm_config *c = &arm->config;
    const char *why = ff_arm_reason_text(info->reason);
    if (info->reason == FF_ARM_JOINT_LIMIT && info->axis > 0)
        return ff_refuse(FF_ERR_REACH, message, size,
                         "satellites.%s: at the start %s: A%d by %.4g deg, allowed: %.4g to %.4g deg",
                         satellite->name, why, info->axis, info->excess * 180.0 / FF_PI,
                         c->lower[info->axis - 1] * 180.0 / FF_PI, c->upper[info->axis - 1] * 180.0 / FF_PI);
    return ff_refuse(
        FF_ERR_REACH, message, size,
        "satellites.%s: at the start %s by %.4g m, allowed: 0 (robot.base, robot.tool, position)",
        satellite->name, why, info->excess);
}

/* park: where the satellite stands when the carriage of a rail is in the middle, which it keeps from there.
 */
static ff_status place(const ff_satellite *satellite, bool devices, ff_pose start, ff_pose park,
                       ff_arm_model *arm, ff_arm_joints *joints, char *message, size_t size) {
    const ff_robot_config *robot = &satellite->robot;
    const bool gears = !devices && robot->kind == FF_ROBOT_JOINTS,
               stands = gears || robot->kind >= FF_ROBOT_DEVICE;
    ff_arm_config config;
    if (stands && !gears)
        ff_satellite_arm(satellite, &config);
    else
        ff_arm_default(gears ? FF_ARM_KR16 : FF_ARM_KR120, &config);
    config.tool = robot->tool;
    ff_arm_joints ready = {.rail = 0.0};
    memcpy(ready.a, config.ready, sizeof ready.a);
    if (gears)
        ready = ff_robot_upright;
    if (stands)
        config.base = robot->base;
    if (ff_arm_create(&config, arm) != FF_OK)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "satellites.%s: the arm's base or tool is not valid",
                         satellite->name);
    if (!stands) {
        const ff_pose T_bf = ff_pose_mul(ff_arm_forward(arm, &ready), arm->tool_inverse);
        if (!devices)
            config.tool.q = ff_quat_unit(ff_quat_mul(ff_quat_conj(T_bf.q), start.q));
        config.base = ff_pose_mul(start, ff_pose_inverse(ff_pose_mul(T_bf, config.tool)));
        config.base.q = ff_quat_unit(config.base.q);
        ff_arm_create(&config, arm);
    }
    if (robot->rail.present) {
        /* the carriage starts in the middle, E1 = 0, and keeps the wrist's distance along the rail */
        config.rail = (ff_arm_rail){.rule = FF_ARM_RAIL_FOLLOW,
                                    .axis = ff_quat_unrotate(config.base.q, robot->rail.axis),
                                    .lower = -0.5 * robot->rail.length,
                                    .upper = 0.5 * robot->rail.length,
                                    .speed = isfinite(robot->rail.speed) ? robot->rail.speed : 1e9};
        ff_arm_create(&config, arm);
        config.rail.standoff = ff_arm_along(arm, &park);
        if (ff_arm_create(&config, arm) != FF_OK)
            return ff_refuse(FF_ERR_ARGUMENT, message, size, "satellites.%s: the robot's rail is not valid",
                             satellite->name);
    }
    ff_arm_info info;
    if (ff_arm_inverse(arm, &park, &ready, joints, &info) != FF_OK)
        return unreachable(satellite, arm, &info, message, size);
    return FF_OK;
}

/* In the frame that the robots move in. */
static ff_rigid_state start_of(const ff_scenario *scenario, int i) {
    const ff_rigid_state nominal = ff_scenario_nominal(scenario);
    return scenario->frame == FF_FRAME_RELATIVE
               ? ff_relative_from_absolute(&nominal, &scenario->satellite[i].start)
               : scenario->satellite[i].start;
}

void ff_plan_output(const ff_satellite *satellite, const ff_safety_limits *safety, double cycle,
                    ff_output_config *output) {
    ff_output_config cautious;
    ff_output_default(&cautious);
    /* nine decimals of a degree, at the end of the arm */
    cautious.resolution = cautious.angular_resolution = 1e-9;
    ff_scenario_output(satellite, safety, cycle, &cautious, output);
}

/* [s] in which the quintic of the run-up gets to a speed within the limits: its largest acceleration is 15/8
 * of the mean, its largest jerk 10/sqrt(3) of speed over time squared. */
static double ramp_time(double speed, double acceleration, double jerk) {
    return fmax(1.875 * speed / acceleration, sqrt(10.0 / sqrt(3.0) * speed / jerk));
}

ff_status ff_plan_create(const ff_scenario *scenario, ff_plan *plan, char *message, size_t size) {
    *plan = (ff_plan){.bodies = scenario->satellites, .cycle = scenario->cycle};
    if (scenario->emulates)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "an emulation has no robots that carry satellites, but an arm for freefloat rt");
    if (!scenario->method)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size, "method: ideal cannot run on devices");
    const int servicer = ff_scenario_servicer(scenario);
    if (servicer >= 0 && scenario->satellite[servicer].obsw.kind != 0)
        return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                         "satellites.%s.obsw: on devices the on-board software runs in the loop's thread and "
                         "must not be waited for, allowed: kind: builtin",
                         scenario->satellite[servicer].name);
    /* The robots make the motion relative to the nominal one. What two bodies do to each other does not
     * depend on it; a thing fixed in inertial space would have to be carried through the lab. */
    const bool relative = scenario->frame == FF_FRAME_RELATIVE;
    for (int c = 0; relative && c < scenario->contacts; c++)
        if (scenario->contact[c].kind == FF_CONTACT_WALL || scenario->contact[c].kind == FF_CONTACT_STOPS) {
            return ff_refuse(
                FF_ERR_UNSUPPORTED, message, size,
                "contacts.%s: with frame: relative nothing fixed in space can be touched on devices, "
                "allowed: pair, cone, grasp",
                scenario->contact[c].name);
        }
    bool moving = false;
    double settle = 0.0, ramp = 0.4;
    for (int i = 0; i < plan->bodies; i++) {
        const ff_satellite *satellite = &scenario->satellite[i];
        const ff_robot_config *robot = &satellite->robot;
        ff_plan_body *body = &plan->body[i];
        const ff_rigid_state start = start_of(scenario, i);
        body->start = ff_setpoint_from_state(&start);
        body->cartesian = robot->device.cartesian;
        body->increments = robot->device.increments;
        body->heartbeat = robot->device.heartbeat;
        body->delay = robot->kind == FF_ROBOT_IDEAL ? 0.0 : robot->delay;
        moving |= ff_vec3_norm(start.velocity) > 0.0 || ff_vec3_norm(start.omega) > 0.0;
        double own = body->delay + satellite->sensor.delay;
        if (ff_robot_lags(robot))
            own += 6.0 / (2.0 * FF_PI * robot->frequency * fmin(1.0, robot->damping));
        body->lag = ff_robot_lags(robot) ? robot->damping / (FF_PI * robot->frequency) : 0.0;
        settle = fmax(settle, own);
        ff_plan_output(satellite, &satellite->safety, plan->cycle, &body->output);
        ramp =
            fmax(ramp, ramp_time(ff_vec3_norm(start.velocity), body->output.acceleration, body->output.jerk));
        ramp = fmax(ramp, ramp_time(ff_vec3_norm(start.omega), body->output.angular_acceleration,
                                    body->output.angular_jerk));
    }
    if (moving) {
        plan->cruise = plan->cycle * ceil((settle + 0.05) / plan->cycle);
        plan->ramp = plan->cycle * ceil(ramp / plan->cycle);
        plan->runup = (uint64_t)llround((plan->cruise + plan->ramp) / plan->cycle);
    }
    for (int i = 0; i < plan->bodies; i++) {
        const ff_satellite *satellite = &scenario->satellite[i];
        ff_plan_body *body = &plan->body[i];
        if (satellite->robot.rail.present && body->cartesian)
            return ff_refuse(FF_ERR_UNSUPPORTED, message, size,
                             "satellites.%s: a rail is an external axis and needs channel: axes",
                             satellite->name);
        const ff_status status = place(satellite, true, body->start.T, ff_plan_runup(plan, i, -FF_INF).T,
                                       &body->arm, &body->home, message, size);
        if (status != FF_OK)
            return status;
    }
    return FF_OK;
}

ff_setpoint ff_plan_runup(const ff_plan *plan, int i, double t) {
    const ff_setpoint *start = &plan->body[i].start;
    double s = t, rate = 1.0;
    if (t < -plan->cruise) { /* s' = 10 u^3 - 15 u^4 + 6 u^5: at rest before, steady after, smooth between */
        double u = plan->ramp > 0.0 ? (t + plan->cruise + plan->ramp) / plan->ramp : 0.0;
        u = u > 0.0 ? u : 0.0;
        const double u3 = u * u * u;
        rate = u3 * (10.0 + u * (-15.0 + 6.0 * u));
        s = -plan->cruise - plan->ramp * (0.5 - u3 * u * (2.5 + u * (-3.0 + u)));
    }
    ff_setpoint at;
    at.T.p = ff_vec3_axpy(s, start->twist.v, start->T.p);
    at.T.q = ff_quat_mul(start->T.q, ff_quat_exp(ff_vec3_scale(s, start->twist.w)));
    at.twist = ff_twist_scale(rate, start->twist);
    return at;
}

/* The joints at t = 0 of the robot itself, a delay behind: as on devices, where the run-up leads the arm
 * there from the configuration that it parks in. Chosen at the start itself it may be another, and the elbow
 * of seven axes depends on how they came. */
static bool led_there(const ff_plan *plan, int i, ff_arm_joints *joints) {
    const ff_plan_body *body = &plan->body[i];
    *joints = body->home;
    for (uint64_t k = 0; k <= plan->runup; k++) {
        const double t = -(double)(plan->runup - k) * plan->cycle - body->delay;
        const double since = plan->runup ? t + plan->cruise + plan->ramp : plan->cycle;
        const ff_pose T = ff_plan_runup(plan, i, t).T;
        if (since > 0.0 && /* before that it stands, and no axis moves */
            ff_arm_inverse_after(&body->arm, &T, joints, fmin(since, plan->cycle), joints, NULL) != FF_OK)
            return false;
    }
    return true;
}

ff_status ff_plan_place(const ff_scenario *scenario, int body, bool devices, ff_arm_model *arm,
                        ff_arm_joints *joints, char *message, size_t size) {
    const ff_rigid_state start = start_of(scenario, body);
    const ff_pose T = ff_setpoint_from_state(&start).T;
    ff_plan plan;
    if (scenario->satellite[body].robot.kind >= FF_ROBOT_DEVICE &&
        ff_plan_create(scenario, &plan, message, size) == FF_OK && led_there(&plan, body, joints)) {
        *arm = plan.body[body].arm;
        return FF_OK;
    }
    return place(&scenario->satellite[body], devices, T, T, arm, joints, message, size);
}

ff_pose ff_plan_to_base(const ff_plan_body *body, ff_pose T_wb) {
    return ff_pose_mul(body->arm.base_inverse, T_wb);
}

ff_pose ff_plan_from_base(const ff_plan_body *body, ff_pose T_bt) {
    ff_pose T = ff_pose_mul(body->arm.config.base, T_bt);
    T.q = ff_quat_unit(T.q);
    return T;
}
