/* What a loop is made of: its configuration checked, its model derived from it. */
#include "loop/cycle.h"

void ff_loop_default(ff_loop_config *config) {
    *config = (ff_loop_config){.integrate = {.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = 0.004}, .bodies = 1};
    config->method = &ff_method_tdpa;
    ff_settings_default(config->method, 0, &config->setting);
    config->world.grasp = (ff_world_grasp){.body = -1, .against = -1};
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        ff_loop_body_config *body = &config->body[i];
        body->rigid.mass = 1.0;
        body->rigid.inertia = ff_mat3_identity();
        body->start.attitude = ff_quat_identity();
        ff_wrench_default(&body->wrench);
        body->held_by = -1;
    }
}

enum { NO_BODY = -1 };

/* "body 2: TEXT", or without a body "TEXT", without stdio. */
static ff_status fault(ff_status status, int body, const char *what, char *message, size_t size) {
    if (message && size) {
        size_t n = 0;
        const char digit[2] = {(char)('0' + body), 0};
        const char *const parts[] = {
            body >= 0 ? "body " : "", body >= 0 ? digit : "", body >= 0 ? ": " : "", what, ": ",
            ff_status_text(status)};
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            for (const char *c = parts[p]; *c && n + 1 < size; c++)
                message[n++] = *c;
        message[n] = 0;
    }
    return status;
}

static ff_status create_nominal(ff_loop_model *model, char *message, size_t size) {
    const ff_loop_config *config = &model->config;
    const ff_relative_config *relative = &config->relative;
    model->nominal = (ff_nominal_config){.kind = relative->nominal, .start.attitude = ff_quat_identity()};
    if (!relative->enabled)
        return FF_OK;
    const bool prescribed = relative->nominal == FF_NOMINAL_PRESCRIBED;
    if ((unsigned)relative->nominal > FF_NOMINAL_SATELLITE || relative->of < 0 ||
        relative->of >= config->bodies)
        return fault(FF_ERR_ARGUMENT, NO_BODY, "nominal motion", message, size);
    if (prescribed && !ff_rigid_finite(&relative->start))
        return fault(FF_ERR_NOT_FINITE, NO_BODY, "nominal motion", message, size);
    if (!prescribed && ff__has_joints(config, relative->of))
        return fault(FF_ERR_UNSUPPORTED, NO_BODY, "nominal motion of a body with joints", message, size);
    if (relative->integrated &&
        (relative->nominal == FF_NOMINAL_SATELLITE || config->joints.tree ||
         (config->integrate.scheme != FF_SCHEME_LIE_MIDPOINT && config->integrate.scheme != FF_SCHEME_EULER)))
        return fault(
            FF_ERR_UNSUPPORTED, NO_BODY,
            "the integrated form needs euler or lie-midpoint and a free or prescribed nominal motion",
            message, size);
    model->nominal.model = model->rigid[relative->of];
    model->nominal.start = prescribed ? relative->start : config->body[relative->of].start;
    model->nominal.start.attitude = ff_quat_unit(model->nominal.start.attitude);
    return FF_OK;
}

/* The parts that the method is given, and what it asks for. */
static ff_status prepare(const ff_loop_config *config, ff_world *world, ff_settings *setting,
                         ff_loop_stage *stage, char *message, size_t size) {
    ff_status status;
    if (config->bodies < 1 || config->bodies > FF_MAX_BODIES)
        return fault(FF_ERR_ARGUMENT, NO_BODY, "bodies", message, size);
    if ((status = ff_integrate_validate(&config->integrate)) != FF_OK)
        return fault(status, NO_BODY, "integrator", message, size);
    if (config->joints.tree && (config->joints.body < 0 || config->joints.body >= config->bodies))
        return fault(FF_ERR_ARGUMENT, NO_BODY, "body with joints", message, size);
    *world = config->world;
    *setting = config->setting;
    world->integrate = config->integrate;
    world->bodies = config->bodies;
    for (int i = 0; i < config->bodies; i++) {
        const ff_loop_body_config *body = &config->body[i];
        if (!ff_rigid_finite(&body->start))
            return fault(FF_ERR_NOT_FINITE, i, "start", message, size);
        if (ff__has_joints(config, i)) {
            const char *what;
            if ((status = ff__joints_check(config, i, &world->body[i].rigid, &what)) != FF_OK)
                return fault(status, i, what, message, size);
        } else if ((status = ff_rigid_create(&body->rigid, &world->body[i].rigid)) != FF_OK)
            return fault(status, i, "mass and inertia", message, size);
        world->body[i].start = body->start;
        world->body[i].start.attitude = ff_quat_unit(body->start.attitude);
    }
    ff_complaint complaint;
    if ((status = ff__stage_prepare(config->method, world, setting, stage, &complaint)) != FF_OK)
        return fault(status, NO_BODY, complaint.text, message, size);
    if (config->relative.enabled && !(config->method->can & FF_CAN_RELATIVE))
        return fault(FF_ERR_UNSUPPORTED, NO_BODY, "the method does not go with relative motion", message,
                     size);
    return FF_OK;
}

static size_t model_size(const ff_loop_config *config, const ff_loop_stage *stage) {
    const size_t arms = ff__loop_arms(config), method = stage->model_bytes;
    return ff__loop_round(sizeof(ff_loop_model)) + (arms ? ff__loop_round(method) + arms : method);
}

ff_status ff_loop_bytes(const ff_loop_config *config, size_t *model, size_t *state, char *message,
                        size_t message_size) {
    ff_world world;
    ff_settings setting;
    ff_loop_stage stage;
    const ff_status status = prepare(config, &world, &setting, &stage, message, message_size);
    if (status != FF_OK)
        return status;
    *model = model_size(config, &stage);
    *state = ff__loop_round(sizeof(ff_loop_state)) + stage.state_bytes;
    return FF_OK;
}

/* Everything of one body but its mass. */
static ff_status create_body(ff_loop_model *model, int i, char *message, size_t size) {
    ff_status status;
    ff_loop_config *config = &model->config;
    ff_loop_body_config *body = &config->body[i];
    if ((status = ff_wrench_validate(&body->wrench)) != FF_OK)
        return fault(status, i, "sensor", message, size);
    model->mount[i].elastic = false;
    if (body->mount.mass > 0.0) {
        body->mount.cycle = config->integrate.cycle;
        if (body->wrench.environment || config->relative.enabled)
            return fault(FF_ERR_UNSUPPORTED, i, "elastic mount", message, size);
        if ((status = ff_mount_create(&body->mount, &model->mount[i])) != FF_OK)
            return fault(status, i, "elastic mount", message, size);
    }
    if (body->held && (!ff_scheme_holds(config->integrate.scheme) || body->held_by >= config->bodies))
        return fault(FF_ERR_UNSUPPORTED, i, "held contact wrench", message, size);
    const bool reacts = body->reacts && (!config->joints.tree || ff__has_joints(config, i) ||
                                         body->held != config->body[config->joints.body].held);
    if (reacts)
        return fault(FF_ERR_ARGUMENT, i, "reaction", message, size);
    for (int a = 0; a < 6 && body->elastic; a++)
        if (!(body->gear_stiffness[a] > 0.0) || !(body->gear_damping[a] >= 0.0) ||
            !(body->joint_inertia[a] >= 0.0))
            return fault(FF_ERR_ARGUMENT, i, "gear stiffness", message, size);
    if (body->elastic && (status = ff_arm_create(&body->arm, ff__loop_arm(model, i))) != FF_OK)
        return fault(status, i, "arm", message, size);
    body->start.attitude = ff_quat_unit(body->start.attitude);
    return FF_OK;
}

ff_status ff_loop_create(const ff_loop_config *config, ff_loop_model *model, size_t size, char *message,
                         size_t message_size) {
    if (size < sizeof *model)
        return fault(FF_ERR_SIZE, NO_BODY, "memory of the model", message, message_size);
    model->config = *config;
    ff_status status =
        prepare(config, &model->config.world, &model->config.setting, &model->stage, message, message_size);
    if (status != FF_OK)
        return status;
    if (size < model_size(config, &model->stage))
        return fault(FF_ERR_SIZE, NO_BODY, "memory of the model", message, message_size);
    if (config->joints.tree) /* checked by prepare */
        ff_body_tree(config->joints.tree, 1, &config->joints.port, &model->jointed);
    for (int i = 0; i < config->bodies; i++) {
        model->rigid[i] = model->config.world.body[i].rigid;
        if ((status = create_body(model, i, message, message_size)) != FF_OK)
            return status;
    }
    ff__stage_create(&model->stage, &model->config.world, &model->config.setting,
                     ff__loop_method_model(model));
    return create_nominal(model, message, message_size);
}

ff_status ff_loop_update(ff_loop_model *model, const ff_world *world, const ff_settings *setting) {
    ff_world next = model->config.world;
    ff_settings set = *setting;
    ff_loop_stage stage;
    ff_complaint complaint;
    next.force_noise = world->force_noise;
    next.torque_noise = world->torque_noise;
    next.noisy = world->noisy;
    next.skew = world->skew;
    for (int i = 0; i < next.bodies; i++) {
        next.body[i].delay = world->body[i].delay;
        next.body[i].lag = world->body[i].lag;
    }
    ff_status status = ff__stage_prepare(model->config.method, &next, &set, &stage, &complaint);
    if (status != FF_OK)
        return status;
    if (stage.model_bytes != model->stage.model_bytes || stage.state_bytes != model->stage.state_bytes)
        return FF_ERR_UNSUPPORTED;
    status = ff__stage_update(&model->stage, &next, &set, ff__loop_method_model(model));
    if (status != FF_OK)
        return status;
    model->config.world = next;
    model->config.setting = set;
    return FF_OK;
}
