/* fused with a body that has joints: the measured wrench as it is, commands one delay ahead
 * (docs/methods/arm.md). The joints have felt the measured wrench, and any law that replaces it errs by the
 * contact's stiffness over the arm's; so nothing is identified and nothing replayed. */
#include "fidelity/fused/fused.h"

/* What the delay is measured from: the robot that carries the base, without the joints' motion. */
static ff_status store(const fused_model *model, fused_state *state, const ff_method_in *in, uint64_t k) {
    ff_rigid_load load[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++) {
        const ff_body_sample *y = &in->sample[i];
        load[i] = y->load;
        load[i].force = ff_vec3_add(y->load.force, y->f_b.f); /* not a quiet time, either */
    }
    const ff_status status = ff__history_push(&state->history, in->base, load);
    for (int i = 0; i < model->bodies && status == FF_OK; i++) {
        const ff_body_sample *y = &in->sample[i];
        fused_sample *x = fused_at(state, i, k);
        x->T_r = y->T_wr;
        x->T_r.p = ff_vec3_sub(y->T_wr.p, ff_quat_rotate(y->T_wr.q, in->view[i]->com));
    }
    return status;
}

/* The body's frame `ahead` seconds on, wrench f_b (about the CoM, body axes) and loads as in the cycles to
 * come: an impulse at the start of each, joint rates kept as far as they move the CoM in the base. */
static ff_rigid_state predict(const ff_body_view *view, const ff_rigid_state *base, ff_wrench f_b,
                              ff_rigid_load load, double ahead, double T) {
    ff_rigid_state x = ff_view_from_base(view, base);
    const int steps = (int)ceil(ahead / T - 1e-9);
    for (int n = 0; n < steps; n++) {
        const double h = ahead / steps;
        const ff_vec3 push = ff_quat_unrotate(x.attitude, load.force);
        const ff_wrench at_com = {ff_vec3_sub(load.torque, ff_vec3_cross(view->com, push)), push};
        ff_view_impulse(view, ff_vec3_zero(), ff_wrench_scale(h, ff_wrench_add(f_b, at_com)), &x);
        ff_view_drift(view, h, &x);
    }
    ff_body_view later = *view;
    later.com = ff_vec3_axpy(ahead, view->com_rate, view->com);
    return ff_view_to_base(&later, &x);
}

ff_status ff__fused_joints_step(const fused_model *model, fused_state *state, const ff_method_in *in,
                                ff_method_out *out) {
    const double T = model->integrate.cycle;
    const uint64_t k = state->history.count;
    const ff_status status = store(model, state, in, k);
    if (status != FF_OK)
        return status;
    for (int i = 0; i < model->bodies; i++) {
        const ff_body_sample *y = &in->sample[i];
        ff__fused_track_delay(model, state, i, k, y->carried);
        state->report[i].delay = state->delay[i];
        out->f_b[i] = y->f_b;
        out->in_contact[i] = in->detected[i].contact;
        out->lead[i] = state->lead[i];
        out->command[i] = predict(in->view[i], &in->base[i], y->f_b, y->load, state->lead[i], T);
        out->next_command[i] = predict(in->view[i], &in->base[i], y->f_b, y->load, state->lead[i] + T, T);
    }
    out->has_command = true;
    return FF_OK;
}
