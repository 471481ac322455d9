/* Client and servicer with its arm in one cycle [destefano2021, Fig. 7]. */
#include "loop/stage.h"

enum { CLIENT, SERVICER };

static ff_status fault(ff_status status, const char *what, char *message, size_t size) {
    if (message && size) {
        size_t n = 0;
        const char *const parts[] = {what, ": ", ff_status_text(status)};
        for (size_t p = 0; p < 3; p++)
            for (const char *c = parts[p]; *c && n + 1 < size; c++)
                message[n++] = *c;
        message[n] = 0;
    }
    return status;
}

ff_status ff_capture_create(const ff_capture_config *config, ff_capture_model *model, char *message,
                            size_t size) {
    ff_status status;
    model->config = *config;
    if ((status = ff_integrate_validate(&config->integrate)) != FF_OK)
        return fault(status, "integrator", message, size);
    if ((status = ff_rigid_create(&config->client, &model->client)) != FF_OK)
        return fault(status, "client", message, size);
    if (config->held && !ff_scheme_holds(config->integrate.scheme))
        return fault(FF_ERR_UNSUPPORTED, "held contact wrench", message, size);
    if ((status = ff_body_tree(config->servicer.tree, 1, &config->servicer.gripper, &model->servicer)) !=
        FF_OK)
        return fault(status, "servicer", message, size);
    if (!ff_rigid_finite(&config->client_start) || !ff_pose_finite(config->servicer_start.base) ||
        !ff_twist_finite(config->servicer_start.twist))
        return fault(FF_ERR_NOT_FINITE, "start", message, size);
    if (config->nominal != FF_NOMINAL_FREE && config->nominal != FF_NOMINAL_PRESCRIBED)
        return fault(FF_ERR_ARGUMENT, "nominal motion", message, size);
    for (int i = 0; i < 2; i++) {
        model->config.gate[i].cycle = config->integrate.cycle;
        if ((status = ff_gate_validate(&model->config.gate[i])) != FF_OK)
            return fault(status, "limits", message, size);
    }
    ff_complaint complaint;
    ff_world *world = &model->config.world;
    world->integrate = config->integrate;
    world->bodies = 2;
    world->body[CLIENT].rigid = model->client;
    if (!config->method) {
        model->config.method = &ff_method_direct;
        ff_settings_default(&ff_method_direct, 0, &model->config.setting);
    }
    if (!(model->config.method->can & FF_CAN_TREE))
        return fault(FF_ERR_UNSUPPORTED, "method", message, size);
    if (world->grasp.body >= 0)
        world->grasp = (ff_world_grasp){.body = SERVICER, .against = CLIENT};
    if ((status = ff__stage_prepare(model->config.method, world, &model->config.setting, &model->stage,
                                    &complaint)) != FF_OK)
        return fault(status, "method", message, size);
    if (model->stage.model_bytes > sizeof model->method || model->stage.state_bytes > sizeof model->method)
        return fault(FF_ERR_SIZE, "method", message, size);
    ff__stage_create(&model->stage, world, &model->config.setting, model->method);
    model->config.client_start.attitude = ff_quat_unit(config->client_start.attitude);
    model->config.servicer_start.base.q = ff_quat_unit(config->servicer_start.base.q);
    model->nominal = (ff_nominal_config){
        .kind = config->nominal,
        .model = model->client,
        .start = config->nominal == FF_NOMINAL_FREE ? model->config.client_start : config->nominal_start};
    return FF_OK;
}

static ff_setpoint relative(const ff_rigid_state *nominal, ff_rigid_state absolute) {
    const ff_rigid_state c = ff_relative_from_absolute(nominal, &absolute);
    return ff_setpoint_from_state(&c);
}

static ff_setpoint wish(const ff_capture_state *state, int which) {
    return relative(&state->nominal.motion, which == CLIENT ? state->client : state->servicer.motion);
}

void ff_capture_reset(const ff_capture_model *model, ff_capture_state *state, ff_body_work *work,
                      ff_capture_out *out) {
    ff_gate_info info;
    *out = (ff_capture_out){0};
    state->k = 0;
    state->client = model->config.client_start;
    ff_integrate_reset(&state->client, &state->output);
    const ff_tree_state *start = &model->config.servicer_start;
    const ff_rigid_state base = ff_rigid_from_twist(start->base, start->twist);
    ff_body_reset(&model->servicer, work, &base, start->q, start->qd, &state->servicer);
    ff_nominal_reset(&model->nominal, &state->nominal);
    const ff_rigid_state body[FF_MAX_BODIES] = {state->client, state->servicer.motion};
    ff__stage_reset(&model->stage, model->method, 2, body, state->detector, state->method);
    for (int i = 0; i < 2; i++) {
        out->command[i] = out->next[i] = wish(state, i);
        ff_gate_reset(out->next[i], &state->gate[i], &info);
    }
}

static ff_twist body_twist(const ff_setpoint *s) {
    return (ff_twist){s->twist.w, ff_quat_unrotate(s->T.q, s->twist.v)};
}

void ff_capture_servicer_in(const ff_capture_model *model, const ff_capture_state *state,
                            const ff_setpoint *measured, ff_servicer_in *in) {
    const ff_rigid_state *n = &state->nominal.motion;
    const ff_rigid_state s = ff_relative_from_absolute(n, &state->servicer.motion);
    in->g_n = ff_rigid_pose(n);
    in->V_n = ff_rigid_twist(n);
    in->A_n = model->nominal.kind == FF_NOMINAL_FREE
                  ? ff_rigid_body_acceleration(&model->nominal.model, in->V_n, ff_wrench_zero())
                  : ff_twist_zero();
    in->g_s = ff_rigid_pose(&s);
    in->V_s = ff_rigid_twist(&s);
    in->g_m = measured[SERVICER].T;
    in->V_m = body_twist(&measured[SERVICER]);
    in->g_cm = measured[CLIENT].T;
    in->V_cm = body_twist(&measured[CLIENT]);
}

static bool is_finite(const ff_capture_model *model, const ff_capture_in *in) {
    bool finite = ff_wrench_finite(in->F_e) && ff_wrench_finite(in->F_b);
    for (int i = 0; i < 2; i++)
        finite = finite && ff_pose_finite(in->robot[i].T) && ff_twist_finite(in->robot[i].twist) &&
                 ff_vec3_finite(in->load[i].force) && ff_vec3_finite(in->load[i].torque);
    for (size_t j = 0; j < ff_tree_joints(model->config.servicer.tree); j++)
        finite = finite && isfinite(in->q[j]) && isfinite(in->qd[j]);
    return finite;
}

static ff_wrench reaction_at(ff_pose client, ff_pose gripper, ff_wrench F_e) {
    return ff_wrench_scale(-1.0, ff_wrench_transform(ff_pose_mul(ff_pose_inverse(client), gripper), F_e));
}

/* Stage 3: the wrench on the gripper that the satellites should feel. The methods see two rigid bodies: what
 * a corrected wrench adds is not felt by the joints, so the servicer answers it with its joints as they are.
 */
static ff_wrench correct(const ff_capture_model *model, ff_capture_state *state, const ff_body_view *view,
                         const ff_capture_in *in, const ff_servicer_in *s, ff_capture_out *out) {
    const ff_rigid_model rigid[FF_MAX_BODIES] = {model->client, view->rigid};
    ff_rigid_state body[FF_MAX_BODIES] = {state->client, ff_view_ride(view, 0, &state->servicer.motion)};
    /* (23) */
    const ff_pose base = ff_pose_mul(s->g_n, s->g_m);
    ff_rigid_state robot[2];
    robot[CLIENT] = ff_rigid_from_twist(ff_pose_mul(s->g_n, s->g_cm),
                                        ff_twist_add(s->V_cm, ff_relative_delta(s->g_cm, s->V_n)));
    const ff_rigid_state carried =
        ff_rigid_from_twist(base, ff_twist_add(s->V_m, ff_relative_delta(s->g_m, s->V_n)));
    robot[SERVICER] = ff_view_ride(view, 0, &carried);
    const ff_wrench on_base = ff_wrench_transform(view->port[0], in->F_e);
    const ff_wrench f_b[2] = {
        reaction_at(ff_rigid_pose(&robot[CLIENT]), ff_pose_mul(base, view->port[0]), in->F_e),
        {ff_vec3_sub(on_base.t, ff_vec3_cross(view->com, on_base.f)), on_base.f}};
    ff_body_sample sample[FF_MAX_BODIES];
    ff_integrate_state output[FF_MAX_BODIES];
    for (int i = 0; i < 2; i++) {
        sample[i] = (ff_body_sample){.f_b = f_b[i],
                                     .T_wr = ff_rigid_pose(&robot[i]),
                                     .twist_r = {robot[i].omega, robot[i].velocity},
                                     .valid = true};
        ff_integrate_reset(&body[i], &output[i]);
    }
    ff_method_in fidelity = {.body = body,
                             .rigid = rigid,
                             .sample = sample,
                             .output = output,
                             .grasp_point = ff_vec3_sub(view->port[0].p, view->com)};
    ff_method_out result;
    if (ff__stage_step(&model->stage, model->method, 2, state->detector, state->method, &fidelity, &result) <
        0)
        return in->F_e;
    if (result.observers > 0)
        out->observer = result.observer[0][0];
    const ff_wrench felt = result.f_b[SERVICER];
    return ff_wrench_transform(ff_pose_inverse(view->port[0]),
                               (ff_wrench){ff_vec3_add(felt.t, ff_vec3_cross(view->com, felt.f)), felt.f});
}

static double size_of(ff_twist V) {
    return sqrt(ff_vec3_dot(V.w, V.w) + ff_vec3_dot(V.v, V.v));
}

/* (29): by how much a command's speed exceeds |V| + |Delta V|; V is the satellite's body twist. Metres and
 * radians in one norm, as printed. */
static double excess(const ff_rigid_state *nominal, const ff_setpoint *command, ff_twist V) {
    const ff_twist own = {command->twist.w, ff_quat_unrotate(command->T.q, command->twist.v)};
    return size_of(own) - size_of(V) - size_of(ff_relative_delta(command->T, ff_rigid_twist(nominal)));
}

ff_status ff_capture_step(const ff_capture_model *model, ff_capture_state *state, ff_body_work *work,
                          const ff_capture_in *in, ff_capture_out *out) {
    const ff_capture_config *config = &model->config;
    const double T = config->integrate.cycle;
    ff_gate_info info = {0};
    if (!is_finite(model, in)) {
        for (int i = 0; i < 2; i++) {
            ff_gate_hold(&state->gate[i], &out->command[i]);
            out->next[i] = out->command[i];
        }
        state->k++;
        return FF_INFO_HELD;
    }
    ff_servicer_in s;
    ff_capture_servicer_in(model, state, in->robot, &s);
    for (size_t j = 0; j < ff_tree_joints(config->servicer.tree); j++) {
        s.q[j] = in->q[j];
        s.qd[j] = in->qd[j];
    }
    ff_body_view view;
    ff_body_measure(&model->servicer, work, T, in->q, in->qd, &state->servicer, &view);
    out->observer = FF_NAN;
    out->F_c = s.F_e =
        model->config.method == &ff_method_direct ? in->F_e : correct(model, state, &view, in, &s, out);

    /* (25): from the robots' motion, through (23) */
    const ff_rigid_state mapped = ff_rigid_from_twist(ff_pose_mul(s.g_n, s.g_cm),
                                                      ff_twist_add(s.V_cm, ff_relative_delta(s.g_cm, s.V_n)));
    out->W_c = ff_rigid_kinetic_energy(&model->client, &mapped);

    /* the reaction on the client: -F_e about one point, between the satellites as they stand */
    const ff_pose gripper = ff_pose_mul(ff_rigid_pose(&state->servicer.motion), view.port[0]);
    out->reaction = reaction_at(ff_rigid_pose(&state->client), gripper, s.F_e);

    /* (2), (4), (18) */
    ff_rigid_state client = state->client;
    ff_integrate_state output = state->output;
    ff_body_state servicer = state->servicer;
    ff_nominal_state nominal = state->nominal;
    ff_integrate_out energies;
    const bool held = config->held;
    const double part = held ? 0.5 : 1.0;
    ff_integrate_step(&config->integrate, &model->client,
                      ff_rigid_load_from_body(client.attitude, ff_wrench_scale(part, out->reaction)),
                      in->load[CLIENT], &client, &output, &energies);
    ff_integrate_state unused;
    const ff_wrench F_e = ff_wrench_scale(part, s.F_e);
    const ff_body_in body = {
        .contact = ff_rigid_load_from_body(servicer.motion.attitude, ff_wrench_transform(view.port[0], F_e)),
        .loads = in->load[SERVICER],
        .thrust = in->F_b};
    ff_body_step(&model->servicer, &config->integrate, work, &body, &servicer, &unused, &energies);
    if (held) { /* the other half, where the gripper then stands */
        const ff_pose base = ff_rigid_pose(&servicer.motion),
                      port = ff_body_port_ahead(&model->servicer, work, 0, T, &servicer);
        ff_integrate_finish(
            &model->client, T,
            ff_rigid_load_from_body(client.attitude,
                                    reaction_at(ff_rigid_pose(&client), ff_pose_mul(base, port), F_e)),
            &client, &output, &energies);
        ff_body_finish(&model->servicer, &config->integrate, work,
                       ff_rigid_load_from_body(base.q, ff_wrench_transform(port, F_e)), &servicer, &unused,
                       &energies);
    }
    ff_nominal_step(&model->nominal, &config->integrate, state->k, &nominal);
    if (!ff_rigid_finite(&client) || !ff_rigid_finite(&servicer.motion) ||
        !ff_rigid_finite(&nominal.motion)) {
        for (int i = 0; i < 2; i++) {
            ff_gate_hold(&state->gate[i], &out->command[i]);
            out->next[i] = out->command[i];
        }
        return FF_ERR_DIVERGED;
    }
    state->client = client;
    state->output = output;
    state->servicer = servicer;
    state->nominal = nominal;
    for (int i = 0; i < 2; i++) {
        out->command[i] = state->gate[i].last;
        ff_gate_step(&config->gate[i], &state->gate[i], &info, wish(state, i), &out->next[i]);
    }
    /* (29), both lines, of what is about to leave */
    out->bound = fmax(excess(&nominal.motion, &out->next[CLIENT], ff_rigid_twist(&client)),
                      excess(&nominal.motion, &out->next[SERVICER], ff_rigid_twist(&servicer.motion)));
    state->k++;
    return FF_OK;
}
