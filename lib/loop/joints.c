/* A body with joints in the loop: a servicer with its arm, and the client that its gripper touches
 * [destefano2021, Fig. 7].
 *
 * The contact wrench is measured at the port. Its reaction on the other body is the full spatial transform of
 * it between the two satellites as they stand, so the pair keeps its momentum to rounding. Methods see the
 * port as it is: what a corrected wrench adds to the measured one is not felt by the joints, so the body
 * answers it with its joints as they are (its view). */
#include "loop/cycle.h"

ff_status ff__joints_check(const ff_loop_config *config, int i, ff_rigid_model *rigid, const char **what) {
    const ff_loop_joints_config *joints = &config->joints;
    const ff_wrench_config *wrench = &config->body[i].wrench;
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
    const bool plain =
        !(config->body[i].mount.mass > 0.0) && !(wrench->mockup_mass > 0.0) && !wrench->environment;
    return plain && config->integrate.scheme == FF_SCHEME_LIE_MIDPOINT && config->method &&
                   (config->method->can & FF_CAN_TREE)
               ? FF_OK
               : FF_ERR_UNSUPPORTED;
}

double ff__joints_reset(const ff_loop_model *model, ff_loop_state *state) {
    const ff_loop_joints_config *joints = &model->config.joints;
    const double still[FF_TREE_JOINTS_MAX] = {0};
    ff_body_reset(&model->jointed, joints->work, &state->body[joints->body], joints->q, still, &state->tree);
    ff_body_state start = state->tree;
    ff_body_measure(&model->jointed, joints->work, 0.0, joints->q, still, &start, &state->view);
    const ff_rigid_state x = ff_view_from_base(&state->view, &start.motion);
    return ff_view_energy(&state->view, &x);
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

ff_status ff__joints_measure(const ff_loop_model *model, ff_loop_state *state, const ff_loop_in *in,
                             ff_loop_out *out) {
    const ff_loop_config *config = &model->config;
    const int b = config->joints.body;
    ff_energy *energy = &state->energy[b];
    if (!ff_wrench_finite(in->thrust[b]))
        return FF_ERR_NOT_FINITE;
    const ff_status status = ff_body_measure(&model->jointed, config->joints.work, config->integrate.cycle,
                                             in->q[b], in->qd[b], &state->tree, &state->view);
    if (status != FF_OK)
        return status;
    out->base[b] = state->body[b] = state->tree.motion;
    out->port[b] = state->view.port[0];
    const ff_rigid_state x = ff_view_from_base(&state->view, &state->body[b]);
    const double now = ff_view_energy(&state->view, &x);
    energy->joints += now - energy->kinetic;
    energy->kinetic = now;
    return FF_OK;
}

void ff__joints_place(const ff_loop_model *model, const ff_loop_state *state, ff_loop_out *out) {
    const ff_loop_config *config = &model->config;
    const int b = config->joints.body;
    const ff_wrench port = state->last_wrench[b];
    const ff_pose orbit = port_at(&state->view, &state->body[b]);
    out->measured_b[b] = ff_wrench_transform(state->view.port[0], port);
    for (int i = 0; i < config->bodies; i++)
        if (config->body[i].reacts)
            out->measured_b[i] = reaction_at(ff_rigid_pose(&state->body[i]), orbit, port);
}

void ff__joints_see(const ff_loop_model *model, const ff_loop_state *state, const ff_loop_in *in,
                    const ff_loop_out *out, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    const int b = config->joints.body;
    const ff_body_view *view = &state->view;
    ff_body_sample *sample = &c->sample[b];
    c->port = state->last_wrench[b];
    const ff_rigid_state robot = {sample->T_wr.p, sample->T_wr.q, sample->twist_r.v, sample->twist_r.w},
                         ride = ff_view_ride(view, 0, &robot);
    const ff_pose ground = port_at(view, &robot);
    c->ride = ff_view_ride(view, 0, &state->body[b]);
    sample->f_b = about_com(view, out->measured_b[b]);
    sample->T_wr = ff_rigid_pose(&ride);
    sample->twist_r = (ff_twist){ride.omega, ride.velocity};
    sample->load.force =
        ff_vec3_add(sample->load.force, ff_quat_rotate(state->body[b].attitude, in->thrust[b].f));
    sample->load.torque = ff_vec3_add(sample->load.torque, in->thrust[b].t);
    for (int i = 0; i < config->bodies; i++) {
        if (!config->body[i].reacts)
            continue;
        c->sample[i].f_b = reaction_at(c->sample[i].T_wr, ground, c->port);
        c->sample[i].valid = c->sample[i].valid && sample->valid;
    }
}

ff_status ff__joints_correct(const ff_loop_model *model, ff_loop_state *state, ff__cycle *c, ff_method_in *in,
                             ff_method_out *out) {
    const ff_loop_config *config = &model->config;
    const int b = config->joints.body;
    ff_rigid_model rigid[FF_MAX_BODIES];
    ff_rigid_state body[FF_MAX_BODIES];
    ff_integrate_state output[FF_MAX_BODIES];
    ff_body_view still[FF_MAX_BODIES]; /* of those without */
    const ff_body_view *view[FF_MAX_BODIES];
    for (int i = 0; i < config->bodies; i++) {
        rigid[i] = i == b ? state->view.rigid : model->rigid[i];
        body[i] = i == b ? c->ride : state->body[i];
        output[i] = state->integrate[i];
        if (i != b)
            still[i] = (ff_body_view){.rigid = model->rigid[i]};
        view[i] = i == b ? &state->view : &still[i];
    }
    ff_integrate_reset(&body[b], &output[b]);
    in->body = body;
    in->rigid = rigid;
    in->output = output;
    in->view = view;
    in->base = state->body;
    if (config->world.grasp.body == b)
        in->grasp_point = ff_vec3_sub(state->view.port[0].p, state->view.com);
    const ff_status status = ff__stage_step(&model->stage, ff__loop_method_model(model), config->bodies,
                                            state->detector, ff__loop_method_state(state), in, out);
    out->body[b] = state->body[b];
    out->f_b[b] = about_base(&state->view, out->f_b[b]);
    c->port = ff_wrench_transform(ff_pose_inverse(state->view.port[0]), out->f_b[b]);
    const ff_pose port = port_at(&state->view, &state->body[b]);
    for (int i = 0; i < config->bodies; i++)
        if (config->body[i].reacts)
            out->f_b[i] = reaction_at(ff_rigid_pose(&state->body[i]), port, c->port);
    return status;
}

void ff__joints_advance(const ff_loop_model *model, const ff_loop_state *state, const ff_loop_in *in,
                        const ff_method_out *felt, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    const int b = config->joints.body;
    const ff_wrench part = ff_wrench_scale(config->body[b].held ? 0.5 : 1.0, felt->f_b[b]);
    const ff_body_in body = {.contact = ff_rigid_load_from_body(state->body[b].attitude, part),
                             .loads = in->load[b],
                             .thrust = in->thrust[b]};
    c->tree = state->tree;
    ff_body_step(&model->jointed, &config->integrate, config->joints.work, &body, &c->tree, &c->integrate[b],
                 &c->step[b]);
    c->next[b] = c->tree.motion;
}

void ff__joints_finish(const ff_loop_model *model, int i, ff__cycle *c) {
    const ff_loop_config *config = &model->config;
    const ff_loop_joints_config *joints = &config->joints;
    const double T = config->integrate.cycle;
    const ff_pose port = ff_body_port_ahead(&model->jointed, joints->work, 0, T, &c->tree),
                  base = ff_rigid_pose(&c->next[joints->body]);
    const ff_wrench half = ff_wrench_scale(0.5, c->port);
    if (i == joints->body) {
        ff_body_finish(&model->jointed, &config->integrate, joints->work,
                       ff_rigid_load_from_body(base.q, ff_wrench_transform(port, half)), &c->tree,
                       &c->integrate[i], &c->step[i]);
        c->next[i] = c->tree.motion;
        return;
    }
    const ff_wrench late = reaction_at(ff_rigid_pose(&c->next[i]), ff_pose_mul(base, port), half);
    ff_integrate_finish(&model->rigid[i], T, ff_rigid_load_from_body(c->next[i].attitude, late), &c->next[i],
                        &c->integrate[i], &c->step[i]);
}

void ff__joints_book(const ff_loop_model *model, const ff_loop_state *state, const ff__cycle *c,
                     ff_wrench F_c, ff_energy *energy) {
    const int b = model->config.joints.body;
    const double T = model->config.integrate.cycle;
    const ff_body_view *view = &state->view;
    const ff_body_sample *sample = &c->sample[b];
    const ff_twist V_r = {sample->twist_r.w, ff_quat_unrotate(sample->T_wr.q, sample->twist_r.v)};
    const ff_twist V_s = ff_rigid_twist(&c->ride);
    const double at_robot = T * ff_power(sample->f_b, V_r), at_satellite = T * ff_power(sample->f_b, V_s);
    const double corrected = T * ff_power(about_com(view, F_c), V_s);
    energy->exchanged += at_robot;
    energy->delay += at_satellite - at_robot;
    energy->force_controller += corrected - at_satellite;
    energy->loads += c->step[b].loads;
    energy->kinetic = energy->kinetic + corrected + c->step[b].loads;
}
