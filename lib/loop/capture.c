#include "freefloat/loop.h"

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
    if (!config->servicer.tree || ff_tree_fixed_base(config->servicer.tree))
        return fault(FF_ERR_ARGUMENT, "servicer", message, size);
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
    return (ff_setpoint){ff_rigid_pose(&c), {c.omega, c.velocity}};
}

static ff_rigid_state base_state(const ff_servicer_state *s) {
    return ff_rigid_from_twist(s->g_b, s->V_b);
}

static ff_setpoint wish(const ff_capture_state *state, int which) {
    return relative(&state->nominal.motion, which == CLIENT ? state->client : base_state(&state->servicer));
}

void ff_capture_reset(const ff_capture_model *model, ff_capture_state *state, ff_tree_work *work,
                      ff_capture_out *out) {
    ff_gate_info info;
    *out = (ff_capture_out){0};
    state->k = 0;
    state->client = model->config.client_start;
    ff_integrate_reset(&state->client, &state->output);
    ff_servicer_reset(&model->config.servicer, work, &model->config.servicer_start, &state->servicer);
    ff_nominal_reset(&model->nominal, &state->nominal);
    for (int i = 0; i < 2; i++) {
        out->command[i] = out->next[i] = wish(state, i);
        ff_gate_reset(out->next[i], &state->gate[i], &info);
    }
}

void ff_capture_servicer_in(const ff_capture_model *model, const ff_capture_state *state,
                            const ff_setpoint *measured, ff_servicer_in *in) {
    const ff_rigid_state *n = &state->nominal.motion;
    const ff_rigid_state b = base_state(&state->servicer), s = ff_relative_from_absolute(n, &b);
    in->g_n = ff_rigid_pose(n);
    in->V_n = ff_rigid_twist(n);
    in->A_n = model->nominal.kind == FF_NOMINAL_FREE
                  ? ff_rigid_body_acceleration(&model->nominal.model, in->V_n, ff_wrench_zero())
                  : ff_twist_zero();
    in->g_s = ff_rigid_pose(&s);
    in->V_s = ff_rigid_twist(&s);
    in->g_m = measured->T;
    in->V_m = (ff_twist){measured->twist.w, ff_quat_unrotate(measured->T.q, measured->twist.v)};
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

static double size_of(ff_twist V) {
    return sqrt(ff_vec3_dot(V.w, V.w) + ff_vec3_dot(V.v, V.v));
}

/* (29): by how much a command's speed exceeds |V| + |Delta V|; V is the satellite's body twist. Metres and
 * radians in one norm, as printed. */
static double excess(const ff_rigid_state *nominal, const ff_setpoint *command, ff_twist V) {
    const ff_twist own = {command->twist.w, ff_quat_unrotate(command->T.q, command->twist.v)};
    return size_of(own) - size_of(V) - size_of(ff_relative_delta(command->T, ff_rigid_twist(nominal)));
}

ff_status ff_capture_step(const ff_capture_model *model, ff_capture_state *state, ff_tree_work *work,
                          const ff_capture_in *in, ff_capture_out *out) {
    const ff_capture_config *config = &model->config;
    const double T = config->integrate.cycle;
    ff_gate_info info = {0};
    if (!is_finite(model, in)) {
        for (int i = 0; i < 2; i++) {
            ff_gate_hold(&state->gate[i], &out->command[i]);
            out->next[i] = out->command[i];
            out->gate_status[i] = FF_INFO_HELD;
        }
        state->k++;
        return FF_INFO_HELD;
    }
    ff_servicer_in s;
    ff_capture_servicer_in(model, state, &in->robot[SERVICER], &s);
    for (size_t j = 0; j < ff_tree_joints(config->servicer.tree); j++) {
        s.q[j] = in->q[j];
        s.qd[j] = in->qd[j];
    }
    s.F_e = in->F_e;
    s.F_b = ff_wrench_add(in->F_b,
                          (ff_wrench){in->load[SERVICER].torque,
                                      ff_quat_unrotate(state->servicer.g_b.q, in->load[SERVICER].force)});
    ff_servicer_update(&config->servicer, work, &s, &state->servicer);

    /* (25): from the robots' motion, through (23) */
    const ff_rigid_state robot = {in->robot[CLIENT].T.p, in->robot[CLIENT].T.q, in->robot[CLIENT].twist.v,
                                  in->robot[CLIENT].twist.w};
    const ff_rigid_state mapped = ff_relative_to_absolute(&state->nominal.motion, &robot);
    out->W_c = ff_rigid_kinetic_energy(&model->client, &mapped);

    /* the reaction on the client: -F_e about one point, between the satellites as they stand */
    const ff_pose gripper = ff_pose_mul(
        state->servicer.g_b, ff_tree_frame_in_base(config->servicer.tree, work, &config->servicer.gripper));
    out->reaction = ff_wrench_scale(
        -1.0,
        ff_wrench_transform(ff_pose_mul(ff_pose_inverse(ff_rigid_pose(&state->client)), gripper), in->F_e));

    /* (2), (4), (18) */
    ff_rigid_state client = state->client;
    ff_integrate_state output = state->output;
    ff_servicer_state servicer = state->servicer;
    ff_nominal_state nominal = state->nominal;
    ff_integrate_out energies;
    ff_integrate_step(&config->integrate, &model->client,
                      ff_rigid_load_from_body(client.attitude, out->reaction), in->load[CLIENT], &client,
                      &output, &energies);
    ff_servicer_step(&config->servicer, work, &s, T, &servicer);
    ff_nominal_step(&model->nominal, &config->integrate, state->k, &nominal);
    const ff_rigid_state base = base_state(&servicer);
    if (!ff_rigid_finite(&client) || !ff_rigid_finite(&base) || !ff_rigid_finite(&nominal.motion)) {
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
        out->gate_status[i] =
            ff_gate_step(&config->gate[i], &state->gate[i], &info, wish(state, i), &out->next[i]);
    }
    /* (29), both lines, of what is about to leave */
    out->bound = fmax(excess(&nominal.motion, &out->next[CLIENT], ff_rigid_twist(&client)),
                      excess(&nominal.motion, &out->next[SERVICER], servicer.V_b));
    state->k++;
    return FF_OK;
}
