/* Bodies with joints in the loop: a servicer with its arm, and the client that its gripper touches
 * [destefano2021, Fig. 7].
 *
 * The contact wrench is measured at the port. Its reaction on the other body is the full spatial transform of
 * it between the two satellites as they stand, so the pair keeps its momentum to rounding. Methods see the
 * port as it is: what a corrected wrench adds to the measured one is not felt by the joints, so the body
 * answers it with its joints as they are (its view). */
#include "loop/cycle.h"

ff_status ff__joints_check(const ff_loop_config *config, int i, ff_rigid_model *rigid, const char **what) {
    const ff_loop_joints_config *joints = &config->body[i].joints;
    const double still[FF_TREE_JOINTS_MAX] = {0};
    ff_body body;
    ff_body_state state;
    ff_body_view view;
    *what = "joints";
    ff_status status = ff_body_tree(joints->tree, 1, &joints->port, &body);
    if (status == FF_OK && !joints->work)
        status = FF_ERR_ARGUMENT;
    if (status != FF_OK)
        return status;
    ff_body_reset(&body, joints->work, &config->body[i].start, joints->q, still, &state);
    if ((status = ff_body_measure(&body, joints->work, 0.0, joints->q, still, &state, &view)) != FF_OK)
        return status;
    *rigid = view.rigid;
    *what = "joints go with lie-midpoint, a rigid mount without mock-up, and a method that can take them";
    return config->integrate.scheme == FF_SCHEME_LIE_MIDPOINT && config->method &&
                   (config->method->can & FF_CAN_TREE) && !(config->body[i].mount.mass > 0.0) &&
                   !(config->body[i].wrench.mockup_mass > 0.0) && !config->body[i].wrench.environment
               ? FF_OK
               : FF_ERR_UNSUPPORTED;
}

ff_status ff__joints_create(ff_loop_model *model, int i) {
    const ff_loop_body_config *body = &model->config.body[i];
    if (!body->joints.tree)
        return ff_body_rigid(&body->rigid, 0, NULL, &model->body[i]);
    model->joints = true;
    return ff_body_tree(body->joints.tree, 1, &body->joints.port, &model->body[i]);
}

double ff__joints_reset(const ff_loop_model *model, ff_loop_state *state, int i) {
    const ff_loop_joints_config *joints = &model->config.body[i].joints;
    const double still[FF_TREE_JOINTS_MAX] = {0};
    ff_body_view view;
    ff_body_reset(&model->body[i], joints->work, &state->body[i], joints->q, still, &state->tree[i]);
    ff_body_state start = state->tree[i];
    ff_body_measure(&model->body[i], joints->work, 0.0, joints->q, still, &start, &view);
    const ff_rigid_state x = ff_view_from_base(&view, &start.motion);
    return ff_view_energy(&view, &x);
}

/* -F about one point: what a wrench on the port, port axes, does to the body that it touches. */
static ff_wrench reaction_at(ff_pose body, ff_pose port, ff_wrench F) {
    return ff_wrench_scale(-1.0, ff_wrench_transform(ff_pose_mul(ff_pose_inverse(body), port), F));
}

static ff_wrench about_com(const ff_body_view *view, ff_wrench on_base) {
    return (ff_wrench){ff_vec3_sub(on_base.t, ff_vec3_cross(view->com, on_base.f)), on_base.f};
}

static ff_wrench about_base(const ff_body_view *view, ff_wrench at_com) {
    return (ff_wrench){ff_vec3_add(at_com.t, ff_vec3_cross(view->com, at_com.f)), at_com.f};
}

static ff_pose port_at(const ff_body_view *view, const ff_rigid_state *base) {
    return ff_pose_mul(ff_rigid_pose(base), view->port[0]);
}

ff_status ff__joints_see(const ff_loop_model *model, ff_loop_state *state, const ff_loop_in *in, ff__cycle *c,
                         ff_loop_out *out) {
    const ff_loop_config *config = &model->config;
    ff_pose port[FF_MAX_BODIES]; /* on the ground, inertial */
    for (int i = 0; i < config->bodies; i++) {
        if (!model->body[i].tree)
            continue;
        if (!ff_wrench_finite(in->thrust[i]))
            return FF_ERR_NOT_FINITE;
        const ff_status status =
            ff_body_measure(&model->body[i], config->body[i].joints.work, config->integrate.cycle, in->q[i],
                            in->qd[i], &state->tree[i], &c->view[i]);
        if (status != FF_OK)
            return status;
        const ff_body_view *view = &c->view[i];
        ff_body_sample *sample = &c->sample[i];
        out->base[i] = state->body[i] = state->tree[i].motion;
        out->port[i] = view->port[0];
        const ff_rigid_state robot = {sample->T_wr.p, sample->T_wr.q, sample->twist_r.v, sample->twist_r.w},
                             ride = ff_view_ride(view, 0, &robot);
        port[i] = port_at(view, &robot);
        c->ride[i] = ff_view_ride(view, 0, &state->body[i]);
        out->measured_b[i] = ff_wrench_transform(view->port[0], c->port[i]);
        sample->f_b = about_com(view, out->measured_b[i]);
        sample->T_wr = ff_rigid_pose(&ride);
        sample->twist_r = (ff_twist){ride.omega, ride.velocity};
        sample->load.force =
            ff_vec3_add(sample->load.force, ff_quat_rotate(state->body[i].attitude, in->thrust[i].f));
        sample->load.torque = ff_vec3_add(sample->load.torque, in->thrust[i].t);
    }
    for (int i = 0; i < config->bodies; i++) {
        const int o = config->body[i].reaction_of;
        if (o < 0)
            continue;
        c->sample[i].f_b = reaction_at(c->sample[i].T_wr, port[o], c->port[o]);
        c->sample[i].valid = c->sample[i].valid && c->sample[o].valid;
        out->measured_b[i] =
            reaction_at(ff_rigid_pose(&state->body[i]), port_at(&c->view[o], &state->body[o]), c->port[o]);
    }
    return FF_OK;
}

ff_status ff__joints_correct(const ff_loop_model *model, ff_loop_state *state, ff__cycle *c, ff_method_in *in,
                             ff_method_out *out) {
    const ff_loop_config *config = &model->config;
    ff_rigid_model rigid[FF_MAX_BODIES];
    ff_rigid_state body[FF_MAX_BODIES];
    ff_integrate_state output[FF_MAX_BODIES];
    const ff_body_view *view[FF_MAX_BODIES];
    for (int i = 0; i < config->bodies; i++) {
        const bool joints = model->body[i].tree != NULL;
        view[i] = joints ? &c->view[i] : &model->body[i].still;
        rigid[i] = view[i]->rigid;
        body[i] = joints ? c->ride[i] : state->body[i];
        output[i] = state->integrate[i];
        if (joints)
            ff_integrate_reset(&body[i], &output[i]);
    }
    in->body = body;
    in->rigid = rigid;
    in->output = output;
    in->view = view;
    in->base = state->body;
    const int holder = config->world.grasp.body;
    if (holder >= 0 && model->body[holder].tree)
        in->grasp_point = ff_vec3_sub(c->view[holder].port[0].p, c->view[holder].com);
    const ff_status status = ff__stage_step(&model->stage, ff__loop_method_model(model), config->bodies,
                                            state->detector, ff__loop_method_state(state), in, out);
    for (int i = 0; i < config->bodies; i++)
        if (model->body[i].tree) {
            out->body[i] = state->body[i];
            out->f_b[i] = about_base(&c->view[i], out->f_b[i]);
            c->port[i] = ff_wrench_transform(ff_pose_inverse(c->view[i].port[0]), out->f_b[i]);
        }
    for (int i = 0; i < config->bodies; i++) {
        const int o = config->body[i].reaction_of;
        if (o >= 0)
            out->f_b[i] = reaction_at(ff_rigid_pose(&state->body[i]), port_at(&c->view[o], &state->body[o]),
                                      c->port[o]);
    }
    return status;
}

void ff__joints_advance(const ff_loop_model *model, const ff_loop_state *state, const ff_loop_in *in,
                        const ff_method_out *felt, int i, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    const ff_wrench part = ff_wrench_scale(config->body[i].held ? 0.5 : 1.0, felt->f_b[i]);
    const ff_body_in body = {.contact = ff_rigid_load_from_body(state->body[i].attitude, part),
                             .loads = in->load[i],
                             .thrust = in->thrust[i]};
    c->tree[i] = state->tree[i];
    ff_body_step(&model->body[i], &config->integrate, config->body[i].joints.work, &body, &c->tree[i],
                 &c->integrate[i], &c->step[i]);
    c->next[i] = c->tree[i].motion;
}

void ff__joints_finish(const ff_loop_model *model, int i, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    const bool own = model->body[i].tree != NULL;
    const int o = own ? i : config->body[i].reaction_of;
    const ff_pose port = ff_body_port_ahead(&model->body[o], config->body[o].joints.work, 0,
                                            config->integrate.cycle, &c->tree[o]);
    const ff_wrench half = ff_wrench_scale(0.5, c->port[o]);
    const ff_pose base = ff_rigid_pose(&c->next[o]);
    if (own) {
        ff_body_finish(&model->body[i], &config->integrate, config->body[i].joints.work,
                       ff_rigid_load_from_body(base.q, ff_wrench_transform(port, half)), &c->tree[i],
                       &c->integrate[i], &c->step[i]);
        c->next[i] = c->tree[i].motion;
        return;
    }
    const ff_wrench late = reaction_at(ff_rigid_pose(&c->next[i]), ff_pose_mul(base, port), half);
    ff_integrate_finish(&model->rigid[i], config->integrate.cycle,
                        ff_rigid_load_from_body(c->next[i].attitude, late), &c->next[i], &c->integrate[i],
                        &c->step[i]);
}

void ff__joints_book(const ff_loop_model *model, const ff_loop_state *state, const ff__cycle *c, int i,
                     ff_wrench F_c, ff_energy *energy) {
    const double T = model->config.integrate.cycle;
    const ff_body_view *view = &c->view[i];
    const ff_body_sample *sample = &c->sample[i];
    const ff_rigid_state x = ff_view_from_base(view, &state->body[i]);
    const double now = ff_view_energy(view, &x);
    const ff_twist V_r = {sample->twist_r.w, ff_quat_unrotate(sample->T_wr.q, sample->twist_r.v)};
    const ff_twist V_s = ff_rigid_twist(&c->ride[i]);
    const double at_robot = T * ff_power(sample->f_b, V_r), at_satellite = T * ff_power(sample->f_b, V_s);
    const double corrected = T * ff_power(about_com(view, F_c), V_s);
    energy->joints += now - energy->kinetic;
    energy->exchanged += at_robot;
    energy->delay += at_satellite - at_robot;
    energy->force_controller += corrected - at_satellite;
    energy->loads += c->step[i].loads;
    energy->kinetic = now + corrected + c->step[i].loads;
}
