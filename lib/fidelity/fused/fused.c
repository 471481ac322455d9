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
    WORK = 3000,        /* what estimates and replays may spend in a cycle, in units of about twenty
                           instructions; each continues in the next cycle where it stopped */
    WORK_FLIGHT = 9000, /* in flight: a settlement that ends late rewrites more; of one contact by time */
    WORK_MORE = 3000    /* further for each pair of contacts at one time: each of the two is
                           found by what is known of the other, late knowledge is wrong */
};

/* This cycle's row of each contact that is open. */
static void take_rows(const fused_model *model, fused_state *state, uint64_t k) {
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
        ff__fused_new_row(model, state, x, k);
    }
}

/* New contacts are replayed from their onset; the others may be false alarms, or an estimate falls due. */
static void follow(const fused_model *model, fused_state *state, unsigned open_before, uint64_t k) {
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (!x->open)
            continue;
        if (!(open_before >> c & 1u)) {
            ff__replay_ask(state->replay, ff__fused_group_of(state, x->a), x->anchor);
            continue;
        }
        const uint64_t age = k - x->detected;
        const double noise = fused_noise_of(&model->config, x);
        x->over.sum += fused_row_of(x, k)->f;
        if (noise > 0.0 && age >= 3 && age <= 16 && x->over.sum < 2.0 * noise * sqrt((double)age)) {
            ff__fused_withdraw(state, x);
            state->info.false_alarms++;
            continue;
        }
        if (k >= x->due && x->stage == REST) {
            x->due = k + (age < 48 ? 1 : 1 + age / 24);
            x->stage = PLACE;
            x->row = x->row_from;
            x->asked = k;
        }
    }
}

/* The last cycle with its measured end; what is recomputed from further back comes after it. */
static void replay_last(const fused_model *model, fused_state *state, uint64_t k) {
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
}

/* What a cycle may spend. Contacts that acted at one time are fitted together once each is settled: that
 * cannot wait. */
static int work_of(const fused_model *model, const fused_state *state) {
    bool open = false, several = false;
    int more = 0;
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        const fused_contact *x = &state->contact[c];
        if (!x->open && !x->closing)
            continue;
        open |= x->open;
        several |= x->closing && x->one.judged;
        for (int o = 0; o < FUSED_CONTACTS; o++)
            if (fused_beside(&state->contact[o], x)) {
                several |= x->closing;
                more += x->open && o < c ? WORK_MORE : 0;
            }
    }
    const int flight = several ? WORK_FLIGHT : fused_by_time(model->integrate.cycle, WORK_FLIGHT);
    return more + (open || flight < WORK ? WORK : flight);
}

/* Estimates and replays, and between them the contacts that are over. */
static void work_on(const fused_model *model, fused_state *state, uint64_t k) {
    int work = work_of(model, state);
    ff__fused_work_on(model, state, k, &work);
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (x->open && ff__fused_is_over(model, state, x, k))
            ff__fused_finish(state, x, k);
        else if (x->open) {
            ff__fused_fill_report(model, state, x, k, x->a, false);
            if (x->b >= 0)
                ff__fused_fill_report(model, state, x, k, x->b, false);
        }
    }
    ff__fused_work_on(model, state, k, &work);
    ff__fused_join_on(model, state, k);
    ff__fused_tip_on(state, k);
    ff__fused_sweep(state);
}

/* The satellites at t_(k+1). */
static void advance(const fused_model *model, fused_state *state, uint64_t k, ff_method_out *out) {
    const double T = model->integrate.cycle;
    unsigned seen = 0;
    for (int i = 0; i < model->bodies; i++) {
        if (seen >> i & 1u)
            continue;
        const bool touched = ff__fused_touched(state, i);
        const unsigned group = touched ? ff__fused_group_of(state, i) : 1u << i;
        seen |= group;
        ff__march w;
        ff__actor act[FUSED_CONTACTS];
        ff__fused_march_from(model, state, group, k, act, &w);
        w.net = touched;
        w.limit = fused_at(state, i, k)->past.limit;
        if (touched) {
            w.acts = ff__fused_actors(state, group, act);
            ff__replay_row(&w, k, k);
        }
        ff__march_step(&w, T);
        state->info.net += w.net_count;
        for (int b = 0; b < model->bodies; b++)
            if (group >> b & 1u) {
                const ff_rigid_load J = w.impulse[b];
                out->next[b] = w.x[b];
                fused_at(state, b, k + 1)->past.limit = w.limit;
                /* what the loop books and the log shows: the mean wrench of the cycle */
                out->f_b[b] =
                    (ff_wrench){ff_vec3_scale(1.0 / T, J.torque),
                                ff_quat_unrotate(out->body[b].attitude, ff_vec3_scale(1.0 / T, J.force))};
            }
    }
    ff__march w;
    ff__march_begin(&w, model->view, NULL, T, model->bodies, 0, NULL);
    for (int i = 0; i < model->bodies; i++) { /* matters only where the delay is below a cycle */
        w.moving = 1u << i;
        w.x[i] = out->next[i];
        w.load[i] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
        ff__march_ahead(&w, state->lead[i]);
        out->next_command[i] = w.x[i];
        out->has_next[i] = true;
    }
}

ff_status ff__fused_step(const void *self, void *memory, const ff_method_in *in, ff_method_out *out) {
    const fused_model *model = self;
    fused_state *state = memory;
    const uint64_t k = state->history.count;
    if (in->view)
        return ff__fused_joints_step(model, state, in, out);
    const ff_status status = ff__fused_store(model, state, in, out->body, k);
    if (status != FF_OK)
        return status;
    take_rows(model, state, k);
    ff__fused_check_walls(model, state, k);
    ff__fused_revise_partners(model, state, k);
    unsigned open_before = 0;
    for (int c = 0; c < FUSED_CONTACTS; c++)
        open_before |= state->contact[c].open ? 1u << c : 0u;
    for (int i = 0; i < model->bodies; i++)
        ff__fused_detect(model, state, &in->detected[i], i, k);
    follow(model, state, open_before, k);
    replay_last(model, state, k);
    work_on(model, state, k);
    for (int i = 0; i < model->bodies; i++) {
        ff__fused_track_delay(model, state, i, k, in->sample[i].carried, in->sent[i].limited);
        out->body[i] = fused_at(state, i, k)->past.body;
        out->in_contact[i] = ff__fused_touched(state, i);
        out->settling[i] = ff__fused_settling(state, i);
        out->lead[i] = state->lead[i];
        state->report[i].delay = state->delay[i];
        const fused_report *r = &state->report[i];
        if (r->known && !r->torque && r->law == 0) {
            out->stiffness[i] = r->stiffness;
            out->damping[i] = r->damping;
            out->damping_sd[i] = r->damping_sd;
        }
    }
    for (int i = 0; i < model->bodies; i++)
        ff__fused_predict(model, state, i, k, &out->command[i]);
    out->has_command = true;
    advance(model, state, k, out);
    return FF_OK;
}
