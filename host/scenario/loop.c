/* What a scenario means to the loop, and its loads in time. */
#include "scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>

ff_rigid_load ff_load_at(const ff_load *load, double t) {
    ff_rigid_load value = {ff_vec3_zero(), ff_vec3_zero()};
    if (!(t >= load->from && t < load->to))
        return value;
    const double wave = sin(FF_PI * (t - load->from) / (load->to - load->from));
    const double part = load->kind == FF_LOAD_PULSE      ? 1.0
                        : load->kind == FF_LOAD_HALFSINE ? wave
                                                         : wave * wave;
    value.force = ff_vec3_scale(part, load->force);
    value.torque = ff_vec3_scale(part, load->torque);
    return value;
}

ff_rigid_load ff_scenario_load_at(const ff_scenario *scenario, int body, double t) {
    ff_rigid_load sum = {ff_vec3_zero(), ff_vec3_zero()};
    for (int i = 0; i < scenario->loads; i++)
        if (scenario->load[i].body == body) {
            const ff_rigid_load one = ff_load_at(&scenario->load[i], t);
            sum.force = ff_vec3_add(sum.force, one.force);
            sum.torque = ff_vec3_add(sum.torque, one.torque);
        }
    return sum;
}

bool ff_scenario_watched(const ff_scenario *scenario) {
    for (int i = 0; i < scenario->satellites; i++)
        if (scenario->satellite[i].safety_named.any)
            return true;
    return false;
}

bool ff_scenario_bounded(const ff_scenario *scenario) {
    bool bounded = ff_scenario_watched(scenario);
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_limiter_config *l = &scenario->satellite[i].limits;
        bounded |= isfinite(l->velocity) || isfinite(l->acceleration) || isfinite(l->jerk) ||
                   isfinite(l->angular_velocity) || isfinite(l->angular_acceleration) ||
                   isfinite(l->angular_jerk);
    }
    return bounded;
}

bool ff_scenario_predicts(const ff_scenario *scenario) {
    return scenario->method && (scenario->method->can & FF_CAN_PREDICT);
}

ff_safety_limits ff_scenario_watched_limits(const ff_satellite *satellite) {
    ff_safety_limits limits = satellite->safety;
    if (!satellite->safety_named.tracking)
        limits.tracking = FF_INF;
    if (!satellite->safety_named.age)
        limits.age = FF_INF;
    if (!satellite->safety_named.missed)
        limits.missed = FF_INF;
    return limits;
}

static double smaller(double a, double b, double otherwise) {
    const double least = fmin(a, b);
    return isfinite(least) ? least : otherwise;
}

void ff_scenario_output(const ff_satellite *satellite, const ff_safety_limits *safety, double cycle,
                        const ff_output_config *otherwise, ff_output_config *output) {
    const ff_limiter_config *limits = &satellite->limits;
    ff_output_config c = *otherwise;
    c.cycle = cycle;
    c.patience = 5.0 * cycle;
    c.velocity = smaller(limits->velocity, safety->velocity, c.velocity);
    c.acceleration = smaller(limits->acceleration, safety->acceleration, c.acceleration);
    c.jerk = smaller(limits->jerk, safety->jerk, c.jerk);
    c.angular_velocity = smaller(limits->angular_velocity, safety->angular_velocity, c.angular_velocity);
    c.angular_acceleration =
        smaller(limits->angular_acceleration, safety->angular_acceleration, c.angular_acceleration);
    c.angular_jerk = smaller(limits->angular_jerk, FF_INF, c.angular_jerk);
    c.stop_acceleration = fmin(safety->stop_acceleration, c.acceleration);
    c.stop_angular_acceleration = fmin(safety->stop_angular_acceleration, c.angular_acceleration);
    *output = c;
}

void ff_scenario_watched_output(const ff_scenario *scenario, int body, ff_output_config *output) {
    const ff_satellite *satellite = &scenario->satellite[body];
    static const ff_output_config unbounded = {.cycle = 1.0,
                                               .velocity = FF_INF,
                                               .acceleration = FF_INF,
                                               .jerk = FF_INF,
                                               .angular_velocity = FF_INF,
                                               .angular_acceleration = FF_INF,
                                               .angular_jerk = FF_INF};
    /* More than industrial robots do, so that a contact's own motion is never limited; the satellite's own
     * velocity is nobody's step. */
    static const ff_output_config motion = {.cycle = 1.0,
                                            .velocity = FF_INF,
                                            .acceleration = 50.0,
                                            .jerk = 50000.0,
                                            .angular_velocity = FF_INF,
                                            .angular_acceleration = 100.0,
                                            .angular_jerk = 100000.0};
    const ff_safety_limits limits = ff_scenario_watched_limits(satellite);
    ff_scenario_output(satellite, &limits, scenario->cycle,
                       ff_scenario_predicts(scenario) ? &motion : &unbounded, output);
}

static void set_wrench(const ff_scenario *scenario, const ff_satellite *satellite, ff_wrench_config *wrench) {
    const ff_sensor_config *sensor = &satellite->sensor;
    ff_wrench_default(wrench);
    wrench->environment = sensor->environment;
    /* the loop works in the inertial frame; pose and gravity are given in the lab */
    const ff_pose T_wl = ff_pose_inverse(scenario->facility_pose);
    if (sensor->environment)
        wrench->T_ws = ff_pose_mul(T_wl, sensor->pose);
    else /* body from flange, flange from sensor */
        wrench->T_bs = ff_pose_mul(ff_pose_inverse(satellite->robot.tool), sensor->pose);
    /* bias_s stays zero: the sensor's error is not known to the loop */
    wrench->force_limit = sensor->range_force;
    wrench->torque_limit = sensor->range_torque;
    wrench->gravity_w = ff_quat_rotate(T_wl.q, scenario->facility_gravity);
    if (satellite->mockup.present) {
        wrench->mockup_mass = satellite->mockup.mass;
        wrench->mockup_com_b = satellite->mockup.com;
        wrench->mockup_inertia = satellite->mockup.inertia;
    }
}

static void set_mount(const ff_scenario *scenario, const ff_satellite *satellite, ff_mount_config *mount) {
    const ff_mockup_config *mockup = &satellite->mockup;
    if (!mockup->present || !isfinite(mockup->frequency) || mockup->unknown ||
        satellite->sensor.environment || scenario->frame == FF_FRAME_RELATIVE)
        return;
    ff_mount_default(mount);
    mount->cycle = scenario->cycle;
    mount->mass = mockup->mass;
    mount->rate = 2.0 * FF_PI * mockup->frequency;
    mount->ratio = mockup->damping_ratio;
    mount->noise = satellite->sensor.kind == FF_SENSOR_IDEAL ? 0.0 : satellite->sensor.force_noise;
}

ff_rigid_state ff_scenario_nominal(const ff_scenario *scenario) {
    if (scenario->nominal == FF_NOMINAL_PRESCRIBED)
        return ff_rigid_from_twist(scenario->nominal_pose, scenario->nominal_twist);
    return scenario->satellite[scenario->nominal_of].start;
}

ff_status ff_loop_memory_open(const ff_loop_config *config, const ff_method_library *library,
                              ff_loop_memory *memory, char *message, size_t size) {
    size_t bytes = 0;
    *memory = (ff_loop_memory){.library = library};
    ff_status status = ff_loop_bytes(config, &bytes, &memory->state_bytes, message, size);
    if (status != FF_OK)
        return status;
    memory->model_bytes = bytes;
    memory->model = library ? library->take(bytes) : calloc(1, bytes);
    memory->state = library ? library->take(memory->state_bytes) : calloc(1, memory->state_bytes);
    if (!memory->model || !memory->state) {
        snprintf(message, size, "no memory for the loop: %zu bytes", bytes + memory->state_bytes);
        status = FF_ERR_MEMORY;
    } else
        status = ff_loop_create(config, memory->model, bytes, message, size);
    if (status != FF_OK)
        ff_loop_memory_close(memory);
    return status;
}

void ff_loop_memory_close(ff_loop_memory *memory) {
    if (memory->library) {
        memory->library->give(memory->model, memory->model_bytes);
        memory->library->give(memory->state, memory->state_bytes);
    } else {
        free(memory->model);
        free(memory->state);
    }
    *memory = (ff_loop_memory){0};
}

const ff_method_library *ff_scenario_library(const ff_scenario *scenario) {
    for (int m = 0; m < scenario->setups; m++)
        if (scenario->setup[m].method == scenario->method)
            return scenario->setup[m].library;
    return NULL;
}

const char *ff_scenario_method_name(const ff_scenario *scenario) {
    return scenario->method ? scenario->method->name : "ideal";
}

ff_settings *ff_scenario_setting(ff_scenario *scenario, const ff_method *method) {
    for (int m = 0; m < scenario->setups; m++)
        if (scenario->setup[m].method == method)
            return &scenario->setup[m].setting;
    return NULL;
}

void ff_scenario_settings_text(const ff_scenario *scenario, char *text, size_t size) {
    const ff_method *method = scenario->method;
    const ff_settings *setting = NULL;
    size_t used = 0;
    text[0] = 0;
    for (int m = 0; m < scenario->setups; m++)
        if (scenario->setup[m].method == method)
            setting = &scenario->setup[m].setting;
    for (uint32_t n = 0; setting && n < method->settings && used < size; n++) {
        const ff_setting *s = &method->setting[n];
        const double value = ff_settings_get(method, setting, s->name);
        const char *before = used ? ", " : "";
        if (s->type == FF_SETTING_CHOICE)
            used += (size_t)snprintf(text + used, size - used, "%s%s: %s", before, s->name,
                                     s->choice[(int)value]);
        else if (s->type != FF_SETTING_GROUP && s->type != FF_SETTING_VECTOR)
            used += (size_t)snprintf(text + used, size - used, "%s%s: %.17g", before, s->name, value);
    }
}

/* The tools' shapes and laws, for methods that may know them. */
static void set_geometry(const ff_scenario *scenario, ff_world *world) {
    world->contacts = 0;
    for (int c = 0; c < scenario->contacts; c++) {
        const ff_contact *k = &scenario->contact[c];
        if (k->kind != FF_CONTACT_WALL && k->kind != FF_CONTACT_PAIR && k->kind != FF_CONTACT_CONE)
            continue;
        world->contact[world->contacts++] =
            (ff_world_contact){.shape = k->kind == FF_CONTACT_CONE ? FF_SHAPE_CONE : FF_SHAPE_PLANE,
                               .body = k->body,
                               .against = k->kind == FF_CONTACT_WALL ? -1 : k->against,
                               .point = k->point,
                               .at = k->at,
                               .normal = ff_vec3_unit(k->normal),
                               .apex = k->apex,
                               .axis = ff_vec3_unit(k->axis),
                               .half_angle = k->half_angle,
                               .depth = k->depth,
                               .stiffness = k->stiffness,
                               .damping = k->damping,
                               .satellite_stiffness = k->satellite_stiffness,
                               .satellite_damping = k->satellite_damping,
                               .damping_depth = k->damping_depth,
                               .friction = k->friction};
    }
}

/* What methods may know of the robots: delay, lag and limit. */
/* Of the contacts: which of two bodies carries the surface, and which body meets others alone. Nothing else.
 */
static void set_touch(const ff_scenario *scenario, ff_world *world) {
    bool fixed[FF_MAX_BODIES] = {false};
    for (int c = 0; c < scenario->contacts; c++) {
        const int a = scenario->contact[c].body, b = scenario->contact[c].against;
        if (b < 0) {
            fixed[a] = true;
            continue;
        }
        world->body[b].carries_surface = true;
        world->body[a].bodies_only = world->body[b].bodies_only = true;
    }
    for (int i = 0; i < world->bodies; i++)
        world->body[i].bodies_only = world->body[i].bodies_only && !fixed[i];
}

static void set_robot(const ff_robot_config *robot, ff_world_body *body) {
    body->delay = robot->kind == FF_ROBOT_IDEAL ? 0.0 : robot->delay;
    if (ff_robot_lags(robot)) /* a ramp is followed 2 z/w late */
        body->lag = 2.0 * robot->damping / (2.0 * FF_PI * robot->frequency);
    body->acceleration =
        robot->kind == FF_ROBOT_LIMITED && isfinite(robot->acceleration) ? robot->acceleration : 0.0;
}

bool ff_scenario_holds(const ff_scenario *scenario, int body) {
    if (scenario->contact_wrench != FF_CONTACT_RULE_DEFAULT)
        return scenario->contact_wrench == FF_CONTACT_RULE_HELD;
    bool grasps = false;
    for (int i = 0; i < scenario->contacts; i++)
        grasps |= scenario->contact[i].kind == FF_CONTACT_GRASP &&
                  (scenario->contact[i].body == body || scenario->contact[i].against == body);
    return grasps && ff_scheme_holds(scenario->integrate.scheme) && ff_scenario_servicer(scenario) < 0;
}

/* Satellites that grasps connect, in a chain too, hold their wrenches to one of them: their momentum stays.
 */
static void set_held(const ff_scenario *scenario, ff_loop_config *loop) {
    for (int i = 0; i < scenario->satellites; i++)
        loop->body[i].held = ff_scenario_holds(scenario, i);
    for (int i = 0; i < scenario->contacts; i++) {
        const ff_contact *c = &scenario->contact[i];
        if (c->kind != FF_CONTACT_GRASP)
            continue;
        int *const a = &loop->body[c->body].held_by, *const o = &loop->body[c->against].held_by;
        const int by = *o >= 0 ? *o : *a >= 0 ? *a : c->against, old = *a;
        *a = *o = by;
        for (int k = 0; k < scenario->satellites && old >= 0; k++)
            if (loop->body[k].held_by == old)
                loop->body[k].held_by = by;
    }
}

/* The observer of a pair takes what both sensors read for one contact and its reaction: true as long as the
 * two satellites touch nothing but each other. */
static bool only_each_other(const ff_scenario *scenario, int a, int o) {
    for (int i = 0; i < scenario->contacts; i++) {
        const ff_contact *c = &scenario->contact[i];
        const int other = c->kind == FF_CONTACT_WALL || c->kind == FF_CONTACT_STOPS ? -1 : c->against;
        const bool first = c->body == a || c->body == o, second = other == a || other == o;
        if (first != second)
            return false;
    }
    return true;
}

/* With an arm the sensor is the gripper's and the client feels its reaction; both wrenches change the common
 * momentum of the pair by nothing, held or not. */
static void set_arm(const ff_scenario *scenario, int servicer, ff_loop_config *loop) {
    const ff_satellite *satellite = &scenario->satellite[servicer];
    ff_loop_joints_config *joints = &loop->joints;
    for (int i = 0; i < scenario->satellites; i++) {
        ff_wrench_default(&loop->body[i].wrench);
        loop->body[i].mount = (ff_mount_config){0};
        loop->body[i].held_by = -1;
        loop->body[i].reacts = i != servicer;
    }
    joints->body = servicer;
    joints->port = ff_scenario_gripper(satellite);
    for (int j = 0; j < satellite->arm.joints; j++)
        joints->q[j] = satellite->arm.q[j];
    loop->world.grasp.point = ff_vec3_zero(); /* the port itself */
}

void ff_scenario_loop(const ff_scenario *scenario, ff_loop_config *loop) {
    ff_world *world = &loop->world;
    ff_loop_default(loop);
    loop->integrate = scenario->integrate;
    loop->method = scenario->method;
    for (int m = 0; m < scenario->setups; m++)
        if (scenario->setup[m].method == scenario->method)
            loop->setting = scenario->setup[m].setting;
    loop->bodies = scenario->satellites;
    loop->relative = (ff_relative_config){.enabled = scenario->frame == FF_FRAME_RELATIVE,
                                          .nominal = scenario->nominal,
                                          .of = scenario->nominal_of,
                                          .start = ff_scenario_nominal(scenario),
                                          .integrated = scenario->relative_integrated};
    for (int i = 0; i < scenario->contacts; i++)
        if (scenario->contact[i].kind == FF_CONTACT_GRASP &&
            only_each_other(scenario, scenario->contact[i].body, scenario->contact[i].against)) {
            world->grasp = (ff_world_grasp){scenario->contact[i].body, scenario->contact[i].against,
                                            scenario->contact[i].point};
            break;
        }
    world->stops = scenario->contacts > 0;
    for (int i = 0; i < scenario->contacts; i++)
        world->stops = world->stops && scenario->contact[i].kind == FF_CONTACT_STOPS;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *satellite = &scenario->satellite[i];
        ff_loop_body_config *body = &loop->body[i];
        body->rigid = satellite->rigid;
        body->start = satellite->start;
        set_wrench(scenario, satellite, &body->wrench);
        set_mount(scenario, satellite, &body->mount);
        if (satellite->robot.kind == FF_ROBOT_JOINTS) {
            body->elastic = true;
            world->body[i].yields = true;
            ff_arm_default(FF_ARM_KR16, &body->arm);
            body->arm.base = satellite->robot.base;
            body->arm.tool = satellite->robot.tool;
            for (int a = 0; a < 6; a++) {
                body->gear_stiffness[a] = satellite->robot.gear_stiffness[a];
                body->gear_damping[a] = satellite->robot.gear_damping[a];
                body->joint_inertia[a] = satellite->robot.joint_inertia[a];
            }
        }
        set_robot(&satellite->robot, &world->body[i]);
        world->force_noise = fmax(world->force_noise, satellite->sensor.force_noise);
        ff_mount_model mount; /* what is felt of a bending mock-up is an estimate */
        if (body->mount.mass > 0.0 && ff_mount_create(&body->mount, &mount) == FF_OK) {
            world->force_noise = fmax(world->force_noise, mount.noise);
            world->swings = true;
        }
        world->torque_noise = fmax(world->torque_noise, satellite->sensor.torque_noise);
        world->skew = fmax(world->skew, satellite->sensor.delay);
        world->pose_noise = fmax(world->pose_noise, satellite->robot.pose_noise);
        world->velocity_noise = fmax(world->velocity_noise, satellite->robot.velocity_noise);
        if (satellite->sensor.kind == FF_SENSOR_NOISY && isfinite(satellite->sensor.bandwidth))
            world->sensor_lag = fmax(world->sensor_lag, 1.0 / (2.0 * FF_PI * satellite->sensor.bandwidth));
        world->offset |= satellite->sensor.kind == FF_SENSOR_NOISY;
        world->noisy |= satellite->sensor.kind >= FF_SENSOR_DEVICE || satellite->sensor.force_noise > 0.0;
    }
    set_held(scenario, loop);
    if (scenario->method && scenario->method->needs & FF_NEEDS_GEOMETRY)
        set_geometry(scenario, world);
    set_touch(scenario, world);
    const int servicer = ff_scenario_servicer(scenario);
    if (servicer >= 0)
        set_arm(scenario, servicer, loop);
}
