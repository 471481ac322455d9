/* fused: the satellite recomputed from before the onset of each contact (docs/methods/fused.md).
 *
 * One time axis: the command is the predicted pose one delay ahead, so satellite and robot meet the surface
 * at the same instant. The surface is identified from the measured force against the *measured* robot motion
 * (freefloat/contact.h, profile), and the satellites are replayed from before the onset with the measured
 * force carried from the robot's pose to the satellite's:
 *   f_d = max(0, law(s_d, s_d') + residual),  residual = f - law(s_r, s_r') at the robot.
 * The energy net is part of every kick of the replay: the kinetic energy of the bodies in contact never
 * exceeds its value at the onset plus the work of the known loads.
 *
 * This file: one cycle; table.c has the settings and the report, fused.h names the others. */
#include "fidelity/fused/fused.h"

enum {
    WORK = 3000,     /* what estimates and replays may spend in a cycle, in units of about twenty
                        instructions; each continues in the next cycle where it stopped */
    WORK_MORE = 3000 /* further for each pair of contacts at one time: each of the two is told
                        apart by what is known of the other, late knowledge is wrong */
};

static void store(const fused_model *model, fused_state *state, const ff_method_in *in,
                  const ff_rigid_state *body, uint64_t k) {
    const double T = model->integrate.cycle, skew = model->config.skew;
    for (int i = 0; i < model->bodies; i++) {
        fused_sample *x = fused_at(state, i, k);
        const ff_body_sample *y = &in->sample[i];
        x->body = body[i];
        x->T_r = y->T_wr;
        x->twist_r = y->twist_r;
        if (skew != 0.0) {
            ff_vec3 a = ff_vec3_zero(), dw = ff_vec3_zero();
            if (k > 0) { /* the last sample's twist is already moved by the skew: differences are the same */
                a = ff_vec3_scale(1.0 / T, ff_vec3_sub(y->twist_r.v, fused_at(state, i, k - 1)->twist_r.v));
                dw = ff_vec3_scale(1.0 / T, ff_vec3_sub(y->twist_r.w, fused_at(state, i, k - 1)->twist_r.w));
                a = ff_vec3_scale(T / (T + skew), a); /* v_k - (v_(k-1) - skew a) = (T + skew) a */
                dw = ff_vec3_scale(T / (T + skew), dw);
            }
            x->T_r.p = ff_vec3_axpy(0.5 * skew * skew, a, ff_vec3_axpy(-skew, y->twist_r.v, y->T_wr.p));
            x->T_r.q = ff_quat_mul(y->T_wr.q, ff_quat_exp(ff_vec3_scale(-skew, y->twist_r.w)));
            x->twist_r.v = ff_vec3_axpy(-skew, a, y->twist_r.v);
            x->twist_r.w = ff_vec3_axpy(-skew, dw, y->twist_r.w);
        }
        x->force = ff_quat_rotate(y->T_wr.q, y->f_b.f);
        x->torque = y->f_b.t;
        x->load = y->load;
        x->valid = y->valid;
    }
}

ff_status ff__fused_step(const void *self, void *memory, const ff_method_in *in, ff_method_out *out) {
    const fused_model *model = self;
    fused_state *state = memory;
    ff_rigid_state *body = out->body;
    const fused_config *config = &model->config;
    const double T = model->integrate.cycle;
    const uint64_t k = state->k;
    if (in->view)
        return ff__fused_joints_step(model, state, in, out);
    double limit_now[FF_MAX_BODIES];
    for (int i = 0; i < model->bodies; i++)
        limit_now[i] = fused_at(state, i, k)->limit; /* written by the advance of the last cycle */
    store(model, state, in, body, k);
    for (int i = 0; i < model->bodies; i++)
        fused_at(state, i, k)->limit = limit_now[i];

    /* rows of the contacts that are open */
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (!x->open)
            continue;
        if (k - x->anchor >= fused_look_back(state)) { /* the past is frozen: the replay starts later */
            if (k - x->row_from >= fused_look_back(state)) {
                x->row_from = k - fused_look_back(state) + 1;
                x->frozen = true;
                if (x->surface.valid)
                    x->stage = REST;
                state->info.look_back++;
            }
            x->anchor = k - fused_look_back(state) + 1;
        }
        ff__fused_take_row(state, x, k);
        fused_row_of(x, k)->use = 1;
        fused_row_of(x, k)->residual = 0.0;
        if (x->surface.valid && fused_sample_ok(state, x, k)) {
            const double law = ff_profile_force(&x->surface, fused_row_of(x, k)->s, fused_row_of(x, k)->v);
            if (law > 0.0 || fused_row_of(x, k)->f > fused_threshold(config, x))
                fused_row_of(x, k)->residual = fused_row_of(x, k)->f - law;
        }
        x->force_max = fmax(x->force_max, fused_row_of(x, k)->f);
    }
    ff__fused_check_walls(model, state, k);
    unsigned open_before = 0;
    for (int c = 0; c < FUSED_CONTACTS; c++)
        open_before |= state->contact[c].open ? 1u << c : 0u;
    for (int i = 0; i < model->bodies; i++)
        ff__fused_detect(model, state, i, k);

    /* false alarms, estimates that fall due */
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (!x->open)
            continue;
        if (!(open_before >> c & 1u)) {
            ff__fused_replay_from(state, ff__fused_group_of(state, x->a), x->anchor);
            continue;
        }
        const uint64_t age = k - x->detected;
        const double noise = fused_noise_of(config, x);
        x->alarm_sum += fused_row_of(x, k)->f;
        if (noise > 0.0 && age >= 3 && age <= 16 && x->alarm_sum < 2.0 * noise * sqrt((double)age)) {
            ff__fused_cancel(state, x);
            continue;
        }
        if (k >= x->due && x->stage == REST) {
            x->due = k + (age < 48 ? 1 : 1 + age / 24);
            x->stage = PLACE;
            x->row = x->row_from;
            x->asked = k;
        }
    }
    /* the last cycle with its measured end; what is recomputed from further back comes after it */
    unsigned seen = 0;
    for (int i = 0; i < model->bodies; i++) {
        const unsigned group = ff__fused_group_of(state, i);
        if ((seen >> i & 1u) || !ff__fused_touched(state, i))
            continue;
        seen |= group;
        int one = 1;
        if (k > ff__fused_group_anchor(state, group, k))
            ff__fused_replay_to(model, state, group, k - 1, k, &one);
    }
    int work = WORK;
    for (int c = 0; c < FUSED_CONTACTS; c++)
        for (int o = 0; o < c; o++)
            if (state->contact[c].open && fused_beside(&state->contact[o], &state->contact[c]))
                work += WORK_MORE;
    ff__fused_work_on(model, state, k, &work);
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (x->open && ff__fused_is_over(model, state, x, k))
            ff__fused_finish(state, x, k);
        else if (x->open) {
            ff__fused_fill_report(model, state, x, k, x->a, false);
            if (x->b >= 0) {
                const uint32_t contacts = state->report[x->b].contacts;
                ff__fused_fill_report(model, state, x, k, x->b, false);
                state->report[x->b].contacts = contacts;
            }
        }
    }
    ff__fused_work_on(model, state, k, &work);
    ff__fused_sweep(state);
    for (int i = 0; i < model->bodies; i++) {
        ff__fused_track_delay(model, state, i, k, in->sample[i].carried, in->sent[i].limited);
        body[i] = fused_at(state, i, k)->body;
        out->in_contact[i] = ff__fused_touched(state, i) || ff__fused_settling(state, i);
        state->report[i].delay = state->delay[i];
        const fused_report *r = &state->report[i];
        if (r->known && !r->torque && r->law == 0) {
            out->stiffness[i] = r->stiffness;
            out->damping[i] = r->damping;
            out->damping_sd[i] = r->damping_sd;
        }
    }

    /* command, then the satellites at t_(k+1) */
    for (int i = 0; i < model->bodies; i++)
        ff__fused_predict(model, state, i, k, &out->command[i]);
    out->has_command = true;
    for (int i = 0; i < model->bodies; i++) {
        out->lead[i] = state->lead[i];
    }
    seen = 0;
    for (int i = 0; i < model->bodies; i++) {
        if (seen >> i & 1u)
            continue;
        const unsigned group = ff__fused_touched(state, i) ? ff__fused_group_of(state, i) : 1u << i;
        seen |= group;
        ff_rigid_state x[FF_MAX_BODIES];
        ff_rigid_load load[FF_MAX_BODIES];
        fused_actor act[FUSED_CONTACTS];
        fused_flow w = ff__fused_flow_from(model, state, group, k, x, load, act);
        w.net = ff__fused_touched(state, i);
        w.acts = w.net ? ff__fused_actors(state, group, k, k, act) : 0;
        w.limit = fused_at(state, i, k)->limit;
        ff__fused_advance(&w, T);
        state->info.net += w.net_count;
        for (int b = 0; b < model->bodies; b++)
            if (group >> b & 1u) {
                out->next[b] = x[b];
                fused_at(state, b, k + 1)->limit = w.limit;
            }
        /* what the loop books and the log shows: the mean wrench of the cycle */
        for (int c = 0; c < w.acts; c++) {
            const fused_actor *z = &act[c];
            fused_port q;
            ff__fused_open_port(model, &z->p, &body[z->p.a], z->p.b < 0 ? NULL : &body[z->p.b], z->side, &q);
            const double f = z->impulse / T;
            out->f_b[z->p.a].t = ff_vec3_axpy(f, q.moment_a, out->f_b[z->p.a].t);
            if (z->p.torque)
                continue;
            out->f_b[z->p.a].f =
                ff_vec3_axpy(f, ff_quat_unrotate(body[z->p.a].attitude, q.d_w), out->f_b[z->p.a].f);
            if (z->p.b >= 0) {
                out->f_b[z->p.b].f =
                    ff_vec3_axpy(-f, ff_quat_unrotate(body[z->p.b].attitude, q.d_w), out->f_b[z->p.b].f);
                out->f_b[z->p.b].t = ff_vec3_axpy(-f, q.moment_b, out->f_b[z->p.b].t);
            }
        }
    }
    for (int i = 0; i < model->bodies; i++) {
        out->has_next[i] = true;
        out->next_command[i] = out->next[i]; /* matters only where the delay is below a cycle */
        ff_integrate_coast(&model->body[i], state->lead[i], T, &out->next_command[i]);
    }
    state->k++;
    return FF_OK;
}
