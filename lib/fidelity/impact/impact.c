/* Hard impacts: the position of the environment rebuilt from the force [lange, IV].
 *
 *   symbol           here
 *   x_c, x_dc        tip of `body` at the robots and at the satellites (ff__touch.tip)
 *   n^T(x_e - x_c)   depth: how far the tip stands inside the surface, measured along the normal n
 *   k_en, d_en       ff__impact_stiffness(), contact->damping: the mock-ups'
 *   k_d, d_d         contact->satellite_stiffness, episode->damping: the satellites'
 *   x_e, x_de        episode->offset: where the surface really lies, from its place in the scenario
 *   f, f_d           episode->force, lib/history's law at the satellites
 *
 * (18) and, for two robots, (29)-(33) in one form. With the springs in series, 1/k = 1/k_1 + 1/k_2, the force
 * says how deep the real tip stands, f/k_e; the poses say how deep it stands in the scenario's geometry,
 * depth(robots). Their difference is the environment's offset, and at the satellites
 *
 *     f_d = k_d (depth(satellites) + f/k_e - depth(robots)) + d_d depth'(satellites)            (12), (20)
 *
 * which is (32) put into (27), and (33) into (28): only the force and differences of positions enter. It is
 * ONE force, applied to both satellites with both signs at the satellites' tip: one line of action, so no
 * momentum is created whatever the error of k_e ((32) for both breaks it by 20 % when k_e is off by 5 %).
 * Departures from print, each with its reason in docs/methods/lange.md:
 *  - f_d is never negative, so it is released at zero force and does not stick; the paper's (12) would pull.
 *  - the normal is that of the known tools at the satellites' own poses; (17) is that of the robots' and
 *    turns with them. Without friction both agree where robot and satellite do. `normal: force` is (17).
 *  - the torque is (13), force times lever; (21) adds the rest of the measured torque, `torque: measured`.
 *  - friction acts by the satellites' own slip: the late robots slide and stick at other times.
 *  - (23), (24): the damping of the mock-ups is known and so is the robots' velocity, hence the force of the
 *    damper is taken off the measured one; a scalar Kalman filter holds the offset over the contact.
 *  - IV-F recomputes the first steps only; here every step since the contact began is recomputed when the
 *    offset is corrected, because a surface that moves under load does work on the satellites.
 *  - a cycle in contact is integrated in a few sub-steps by lib/history, the same as `fused`'s. */
#include "fidelity/impact/impact.h"

/* Without recomputation: the steps that are done stay, but the contact begins where the robots touched within
 * the last cycle, not at the sample that saw it (which acts as up to one cycle more delay). */
static void begin_within_cycle(const impact_model *model, const impact_state *state, int contact,
                               const ff_method_in *in, ff_rigid_state *body) {
    for (int c = 0; c < model->contacts; c++)
        if (c != contact && state->episode[c].open)
            return; /* what the others did in this cycle is not known apart */
    const impact_episode *e = &state->episode[contact];
    const double since = e->since;
    impact_flow f;
    ff__impact_flow_begin(model, &f);
    ff__impact_flow_add(model, e, contact, e->offset, e->mu, &f);
    for (int i = 0; i < model->bodies; i++) {
        const ff_rigid_model *m = &model->view[i].rigid;
        const ff_rigid_load load = in->sample[i].load;
        ff_rigid_state *x = &f.w.x[i];
        *x = body[i];
        f.w.load[i] = load;
        if (!(f.w.moving >> i & 1u))
            continue;
        ff_view_drift(&model->view[i], -since, x); /* the free motion with its loads, backwards */
        x->position = ff_vec3_axpy(0.5 * since * since * m->mass_inv, load.force, x->position);
        x->velocity = ff_vec3_axpy(-since * m->mass_inv, load.force, x->velocity);
        x->omega = ff_vec3_axpy(-since, ff_mat3_apply(&m->inertia_inv, load.torque), x->omega);
    }
    if (since > 0.0)
        ff__march_step(&f.w, since);
    for (int i = 0; i < model->bodies; i++)
        if (f.w.moving >> i & 1u)
            body[i] = f.w.x[i];
}

/* The motion one delay ahead, and one cycle more, with the contacts that are known now and no others: to
 * expect one that is not measured would let the robot turn round before it touches. */
static void predict(const impact_model *model, ff__march *w, ff_method_out *out) {
    const int bodies = model->bodies;
    w->moving = (1u << bodies) - 1u;
    double goal[2 * FF_MAX_BODIES], t = 0.0;
    for (int i = 0; i < bodies; i++) {
        goal[i] = model->delay[i];
        goal[bodies + i] = model->delay[i] + model->integrate.cycle;
    }
    for (unsigned left = (1u << (2 * bodies)) - 1u; left;) {
        double next = FF_INF;
        for (int g = 0; g < 2 * bodies; g++)
            if ((left >> g & 1u) && goal[g] < next)
                next = goal[g];
        ff__march_ahead(w, next - t);
        t = next;
        for (int g = 0; g < 2 * bodies; g++)
            if ((left >> g & 1u) && goal[g] <= t) {
                left &= ~(1u << g);
                *(g < bodies ? &out->command[g] : &out->next_command[g - bodies]) = w->x[g % bodies];
            }
    }
}

static void report(const impact_episode *e, double slope, int i, ff_method_out *out) {
    if (e->found.valid)
        out->stiffness[i] = e->found.mean_stiffness;
    if (!isnan(slope)) /* the one in use */
        out->stiffness[i] = slope;
    if (e->found_graded.valid) {
        out->damping[i] = e->found_graded.mean_damping;
        out->damping_sd[i] = e->found_graded.mean_damping_sd;
    }
}

/* What the robots say of each contact, and what that changes in the past. */
static void follow(const impact_model *model, impact_state *state, const ff_method_in *in, uint64_t now,
                   ff_method_out *out) {
    impact_measured m;
    ff__impact_measure(model, in, state, &m);
    unsigned looks = 0, spread = 0;
    bool bounded = false;
    for (int c = 0; c < model->contacts; c++) {
        const bool before = state->episode[c].open;
        const impact_look asks = ff__impact_follow(model, state, c, now, out->body, &m, &bounded);
        looks |= asks == LOOK_NOW ? 1u << c : 0u;
        spread |= asks == LOOK_SPREAD ? 1u << c : 0u;
        if (!model->set.recomputation && !before && state->episode[c].open)
            begin_within_cycle(model, state, c, in, out->body);
    }
    if (looks || (spread && !state->replay.running))
        state->looked = now;
    if (looks || spread || state->replay.running) {
        out->look_back = ff__impact_recompute(model, state, now, looks, spread, out->body, &bounded);
        if (out->look_back > 0)
            state->recomputations++;
        if (out->look_back > state->longest_look_back)
            state->longest_look_back = out->look_back;
    }
    state->bounded += bounded;
}

/* The satellites that touch something at t_(k+1), and the mean wrench that brings them there. */
static void advance(ff__march *w, double T, ff_method_out *out) {
    ff__march_step(w, T);
    for (int i = 0; i < w->bodies; i++)
        if (w->moving >> i & 1u) {
            const ff_rigid_load J = w->impulse[i];
            out->has_next[i] = out->in_contact[i] = true;
            out->next[i] = w->x[i];
            out->f_b[i] =
                (ff_wrench){ff_vec3_scale(1.0 / T, J.torque),
                            ff_quat_unrotate(out->body[i].attitude, ff_vec3_scale(1.0 / T, J.force))};
        }
}

ff_status ff__impact_step(const void *self, void *memory, const ff_method_in *in, ff_method_out *out) {
    const impact_model *model = self;
    impact_state *state = memory;
    const uint64_t now = state->history.count;
    ff_rigid_load load[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++) {
        load[i] = in->sample[i].load;
        state->noise[i] = in->detected[i].force_noise;
        state->force_on[i] = in->detected[i].force_on;
    }
    const ff_status status = ff__history_push(&state->history, out->body, load);
    if (status != FF_OK)
        return status;
    follow(model, state, in, now, out);

    impact_flow f;
    ff__impact_flow_begin(model, &f);
    for (int c = 0; c < model->contacts; c++) {
        const impact_episode *e = &state->episode[c];
        if (!e->open)
            continue;
        ff__impact_flow_add(model, e, c, e->offset, e->mu, &f);
        double deviation;
        const double k = ff__impact_stiffness(model, state, c, &deviation);
        const int pair[2] = {model->contact[c].body, model->contact[c].against};
        for (int j = 0; j < 2 && pair[j] >= 0; j++)
            report(e, model->identified ? k : FF_NAN, pair[j], out);
    }
    for (int i = 0; i < model->bodies; i++) {
        f.w.x[i] = out->body[i];
        f.w.load[i] = load[i];
    }
    if (f.w.acts)
        advance(&f.w, model->integrate.cycle, out);
    if (model->set.prediction) {
        out->has_command = true;
        for (int i = 0; i < model->bodies; i++) {
            out->lead[i] = model->delay[i];
            f.w.x[i] = out->body[i];
        }
        predict(model, &f.w, out);
    }
    return FF_OK;
}
