/* fused: contacts of one body that acted at one time, fitted together once they are over
 * (docs/methods/fused.md, 9): when that is done, and what becomes of their records.
 *
 * Where the fit begins is found by edges.c; refine.c refines it. Where one point explains the torque of all
 * rows, as of a tip in a corner, all are there. */
#include "fidelity/fused/several.h"

#include <string.h>

enum {
    WORK_JOINT = 24000, /* of a cycle */
    WORK_PICK = 10      /* of a row */
};
static const double edge = 0.03; /* part of a wrench outside the span of the others: another contact */

/* Rows of the best: what each contact bears, and of that what its surface does not explain. */
static void write_rows(fused_state *state, const fused_joint *z, fused_contact *const *c) {
    for (int j = 0; j < z->count; j++) {
        c[j]->force_max = 0.0;
        c[j]->detected = z->to;
    }
    for (uint64_t i = z->to + 1; i-- > z->from;) {
        const joint_row row = joint_row_of(state, z, i);
        const bool valid = fused_at(state, z->body, i)->valid;
        joint_act act[FUSED_JOINT];
        double f[FUSED_JOINT];
        unsigned mask = 0;
        ff_vec3 F = row.F, M = row.M;
        for (int m = 0; m < z->count; m++) {
            act[m] = joint_act_of(&z->best[m], &row.x);
            mask |= act[m].f > 0.0 ? 1u << m : 0u;
            F = ff_vec3_axpy(-act[m].f, z->best[m].n, F);
            M = ff_vec3_axpy(-act[m].f, act[m].arm, M);
        }
        ff__fused_divide(z, z->best, act, mask, F, M, f);
        for (int j = 0; j < z->count; j++) {
            fused_row *const q = fused_row_of(c[j], i);
            q->s = act[j].p + c[j]->surface.x0;
            q->v = act[j].v;
            q->use = valid;
            q->residual = valid ? f[j] : 0.0;
            q->f = act[j].f + q->residual;
            c[j]->force_max = fmax(c[j]->force_max, q->f);
            if (act[j].p > 0.0)
                c[j]->detected = i;
        }
    }
}

/* All press in one direction. */
static bool is_parallel(const fused_joint *z) {
    for (int j = 1; j < z->count; j++)
        if (ff_vec3_dot(z->best[0].n, z->best[j].n) < 0.98)
            return false;
    return true;
}

/* A contact that bears next to nothing is none: noise that was taken for an edge. True where the fit goes on
 * without it. */
static bool drop_weak(const fused_config *config, fused_state *state, fused_joint *z) {
    int kept = 0;
    for (int j = 0; j < z->count; j++) {
        double most = 0.0;
        for (uint64_t i = z->from; i <= z->to; i++) {
            const joint_row row = joint_row_of(state, z, i);
            most = fmax(most, joint_act_of(&z->best[j], &row.x).f);
        }
        if (most > fmax(0.01 * z->peak, 5.0 * config->force_noise))
            z->best[kept++] = z->best[j];
    }
    if (kept == z->count || kept == 0)
        return false;
    z->count = kept;
    z->J_best = FF_INF;
    z->start = JOINT_STARTS; /* there is no other one */
    z->trials = z->rounds = 0;
    memcpy(z->now.at, z->best, sizeof z->now.at);
    ff__fused_begin_build(z, &z->now);
    return true;
}

/* Contact j of the best becomes this record. */
static void write_contact(const fused_model *model, fused_state *state, const fused_joint *z,
                          fused_contact *c, int j) {
    const fused_point *q = &z->best[j];
    c->torque = c->open = c->frozen = c->closing = c->one.judged = false;
    c->settled = c->joined = c->one.tried = true;
    c->leans = false;
    c->spot = z->common ? z->spot : -1;
    c->exact = joint_exact(&model->config, z) || is_parallel(z);
    c->a = z->body;
    c->b = -1;
    c->n = c->next.n = q->n;
    c->r = c->next.r = q->r;
    c->mu = 0.0;
    c->surface =
        (ff_profile){.valid = true, .k = q->k, .c = q->c, .x0 = q->x0 - ff_vec3_dot(q->n, q->at), .J = 0.0};
    c->anchor = c->row_from = z->from;
    c->end = c->until = z->to;
    /* what is left of force and torque, against the force; how parallel forces are divided hardly matters */
    c->side =
        fmax(0.0, z->J_best / joint_rows(z) - joint_expected(&model->config, z)) * square(z->unit / z->peak);
    if (c->exact && !joint_exact(&model->config, z))
        c->side = square(0.004) + 0.25 * z->J_force / joint_rows(z) * square(z->unit / z->peak);
    const ff__place p = fused_contact_place(c);
    const fused_sample *x = fused_at(state, z->body, z->from);
    ff__port port;
    ff__place_open(model->view, &p, &x->past.body, NULL, q->n, ff_vec3_zero(), &port);
    c->mass = 1.0 / port.mobility;
    double s;
    ff__place_coordinate(&p, state->start[z->body], &x->past.body, NULL, &s, &c->speed);
    c->speed = fabs(c->speed);
}

static fused_contact *record_for(fused_state *state, fused_joint *z) {
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < FUSED_CONTACTS; i++) {
            fused_contact *c = &state->contact[i];
            if (pass ? !c->open && !c->settled && !c->closing : (z->members >> i & 1u) != 0) {
                if (pass) { /* one more than was found before */
                    c->wall = -1;
                    c->booked = 0.0;
                    c->wall_used = c->over.abandoned = false;
                }
                z->members &= ~(1u << i);
                return c;
            }
        }
    return NULL;
}

/* The records as they were are final; but that one with friction has not been tried in their place. */
static void leave(const fused_model *model, fused_state *state, fused_joint *z, uint64_t k) {
    const fused_contact *last = NULL;
    z->stage = REST_JOINT;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        if (z->members >> i & 1u) {
            fused_contact *c = &state->contact[i];
            if (c->stage == JOINING)
                c->stage = FRICTION; /* the estimate goes on */
            else {
                c->closing = false;
                last = c;
            }
        }
    if (last && z->first && !ff__fused_unite(model, state, last, k))
        ff__fused_join(model, state, last, k);
}

/* The misfit of the records as they were found one by one. */
static double left_by_records(fused_state *state, const fused_joint *z) {
    const uint64_t stride = joint_stride(z);
    double sum = 0.0;
    for (uint64_t i = z->from; i <= z->to; i += stride) {
        if (!fused_at(state, z->body, i)->valid)
            continue;
        joint_row row = joint_row_of(state, z, i);
        for (int m = 0; m < FUSED_CONTACTS; m++) {
            const fused_contact *c = &state->contact[m];
            if (!(z->members >> m & 1u) || !c->surface.valid)
                continue;
            const ff__place p = fused_contact_place(c);
            double s, v;
            ff__place_coordinate(&p, state->start[c->a], &row.x, NULL, &s, &v);
            const double f = ff_profile_force(&c->surface, s, v);
            if (c->torque) {
                row.M = ff_vec3_axpy(-f, c->n, row.M);
                continue;
            }
            row.F = ff_vec3_axpy(-f, c->n, row.F);
            row.M = ff_vec3_axpy(-f, ff_vec3_cross(c->r, ff_quat_unrotate(row.x.attitude, c->n)), row.M);
        }
        sum += ff_vec3_dot(row.F, row.F) / square(z->unit) + ff_vec3_dot(row.M, row.M) / square(z->unit_t);
    }
    return sum;
}

/* A contact that was taken to be over leaves the robot where it was, and what that touches then looks like
 * another one. Where these surfaces explain it, it is theirs: two surfaces in one place would push twice. */
static void take_followers(fused_state *state, fused_joint *z) {
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        double left = 0.0, whole = 0.0;
        if ((z->members >> i & 1u) || o->a != z->body || o->b >= 0 || o->open || !o->settled ||
            o->anchor < z->from)
            continue;
        for (uint64_t k = o->anchor; k <= o->end; k++) {
            const joint_row row = joint_row_of(state, z, k);
            ff_vec3 F = row.F;
            for (int m = 0; m < z->count; m++)
                F = ff_vec3_axpy(-joint_act_of(&z->best[m], &row.x).f, z->best[m].n, F);
            left += ff_vec3_dot(F, F);
            whole += ff_vec3_dot(row.F, row.F);
        }
        if (left < square(0.1) * whole) {
            z->members |= 1u << i;
            z->to = o->end > z->to ? o->end : z->to;
        }
    }
}

/* One contact that is better explained as several, to a hundredth: ten times better than with the friction
 * that was tried before. Which of them bear what may not be observable (docs, 9): they are an equivalent. */
static bool is_better(const fused_model *model, const fused_state *state, const fused_joint *z, double one) {
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *c = &state->contact[i];
        if ((z->members >> i & 1u) && c->lean.tried > 0)
            one = fmin(one, c->lean.misfit * joint_rows(z));
    }
    const double rest = z->J_best - joint_rows(z) * joint_expected(&model->config, z);
    return z->count > 1 && rest < 0.1 * one && rest < square(0.01 * z->peak / z->unit) * joint_rows(z);
}

static void write_all(const fused_model *model, fused_state *state, fused_joint *z, uint64_t k) {
    int records = 0;
    if (drop_weak(&model->config, state, z))
        return;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        records += (z->members >> i & 1u) || (!state->contact[i].open && !state->contact[i].settled);
    /* A fit to three percent is better than what each was by itself; under noise it must be, as it may be
     * friction instead. */
    /* before friction is asked, to half a percent: no friction looks like a wall that well */
    const bool noisy = model->config.force_noise > 1e-3 * z->peak;
    const double close = (z->first || noisy) && !is_parallel(z) ? 0.005 : 0.03;
    const double records_left = left_by_records(state, z);
    const bool near =
        z->alone ? is_better(model, state, z, records_left)
                 : z->J_best < square(close * z->peak / z->unit) * joint_rows(z) &&
                       (model->config.force_noise == 0.0 || is_parallel(z) || z->J_best < 0.5 * records_left);
    /* what stands explains the rows to the noise: more numbers would only follow that */
    const bool stands = model->config.force_noise > 0.0 && !z->alone &&
                        records_left < joint_rows(z) * (1.3 * joint_expected(&model->config, z) + 0.05);
    if (stands || !(near || joint_exact(&model->config, z)) || records < z->count || z->count == 0) {
        leave(model, state, z, k);
        return;
    }
    take_followers(state, z);
    const unsigned old = z->members;
    unsigned now = 0;
    fused_contact *c[FUSED_JOINT];
    for (int j = 0; j < z->count; j++) {
        c[j] = record_for(state, z);
        write_contact(model, state, z, c[j], j);
        c[j]->closing = true; /* until the replay is done */
        c[j]->stage = REST;
        now |= 1u << (c[j] - state->contact);
    }
    write_rows(state, z, c);
    for (int i = 0; i < FUSED_CONTACTS; i++) /* fewer than were found before */
        if (old & ~now & 1u << i) {
            fused_contact *o = &state->contact[i];
            o->settled = o->closing = false;
            o->stage = REST;
            ff__fused_book(state, o, 0.0);
            if (o->wall >= 0)
                state->wall[o->wall].valid = false;
        }
    z->members = now;
    z->stage = REPLAY;
    ff__replay_ask(state->replay, ff__fused_group_of(state, z->body), z->from);
}

/* What is known of them is final; the report is that of the one that bore most: what another errs by
 * is little of what all did. */
static void conclude_all(const fused_model *model, fused_state *state, fused_joint *z) {
    const uint32_t contacts = state->report[z->body].contacts + (z->alone ? 1u : 0u);
    fused_contact *last = NULL;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *c = &state->contact[i];
        if (!(z->members >> i & 1u))
            continue;
        if (last)
            ff__fused_conclude(model, state, c->force_max > last->force_max ? last : c);
        last = last && last->force_max >= c->force_max ? last : c;
    }
    ff__fused_conclude(model, state, last);
    state->report[z->body].contacts = contacts;
    z->stage = REST_JOINT;
}

/* The point at which one tip touches all surfaces, if there is one. */
static void find_common(const fused_model *model, fused_state *state, fused_joint *z) {
    fused_sums sum = {0};
    double most = 0.0;
    for (uint64_t i = z->from; i <= z->to; i++) {
        const fused_sample *x = fused_at(state, z->body, i);
        if (x->valid && ff_vec3_norm(x->force) > 2.0 * model->config.force_noise) {
            ff__fused_add_torque(&sum, ff_quat_unrotate(x->T_r.q, x->force), x->torque);
            most = fmax(most, ff_vec3_norm(x->torque));
        }
    }
    z->spot = ff__fused_point_of(&model->config, state, z->body, &sum, most, &z->r);
    z->common = sum.rows > 8 && ff__fused_one_point(model, z->body, &sum, z->r, 2.5e-4) &&
                ff_vec3_norm(z->r) < arm_longest;
}

/* The records are fitted together in the cycles that follow. */
static bool begin(const fused_model *model, fused_state *state, int body, unsigned members, uint64_t from,
                  uint64_t to, bool alone, bool first) {
    fused_joint *z = &state->joint;
    const ff_rigid_model *m = &model->view[body].rigid;
    *z = (fused_joint){.body = body,
                       .members = members,
                       .from = from,
                       .to = to,
                       .alone = alone,
                       .first = first,
                       .J_best = FF_INF};
    z->arm = sqrt((m->inertia.m[0][0] + m->inertia.m[1][1] + m->inertia.m[2][2]) / (3.0 * m->mass));
    for (uint64_t i = from; i <= to; i++)
        if (fused_at(state, z->body, i)->valid)
            z->peak = fmax(z->peak, ff_vec3_norm(fused_at(state, z->body, i)->force));
    z->unit = fmax(model->config.force_noise, 1e-3 * z->peak);
    z->unit_t = fmax(model->config.torque_noise, 1e-3 * z->peak * z->arm);
    if (!(z->peak > 0.0) || !(z->arm > 0.0))
        return false;
    find_common(model, state, z);
    if (first && !z->common && model->config.force_noise > 1e-2 * z->peak)
        return false; /* noise lets two explanations pass: then the simpler one is asked first */
    z->stage = first && z->common ? GLANCE : PICK;
    z->glance = (fused_glance){.body = body,
                               .from = from,
                               .to = to,
                               .r = z->r,
                               .least = fmax(3.0 * model->config.force_noise, 0.02 * z->peak)};
    return true;
}

/* The contacts that acted at one time with one that has just been settled, where all are over. False where
 * there are not several, or others to wait for. */
bool ff__fused_join(const fused_model *model, fused_state *state, const fused_contact *last, uint64_t k) {
    unsigned members = 0;
    int count = 0, leaning = 0;
    bool first = true;
    uint64_t from = UINT64_MAX, to = 0;
    if (state->joint.stage != REST_JOINT || last->joined || model->config.random_estimates || last->b >= 0)
        return false;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (o != last && !(fused_beside(o, last) && (o->a == last->a || o->b == last->a)))
            continue;
        if (o->open || o->closing || o->frozen || o->b >= 0 || o->joined)
            return false;
        members |= 1u << i;
        first = first && !o->one.tried && !o->tried;
        leaning += o->leans; /* on walls that are known: a few rows in common tell less than they did */
        count++;
        from = o->row_from < from ? o->row_from : from;
        to = o->end > to ? o->end : to;
    }
    if (count < 2 || leaning == count || k - from > ff__ring_rows(&state->history.ring) / 2 ||
        !begin(model, state, last->a, members, from, to, false, first))
        return false;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        if (members >> i & 1u)
            state->contact[i].closing = state->contact[i].tried = true;
    return true;
}

/* Force across the normal, or torque that no point of it explains, beyond a hundredth and the noise. */
static bool looks_several(const fused_model *model, const fused_contact *c) {
    const fused_config *config = &model->config;
    const double *R = c->sum.r, trace = R[0] + R[3] + R[5], rows = (double)c->sum.rows;
    const double scatter = trace > 0.0 ? 6.0 * sqrt(rows) * square(config->force_noise) / trace : 0.0;
    return !ff__fused_one_point(model, c->a, &c->sum, c->next.r, 0.01) ||
           ff__fused_across(config, c) > 1e-4 + scatter;
}

/* One contact that is over may have been several at about one time, of which none was seen alone. */
bool ff__fused_join_alone(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    if (c->alone || !c->closing || c->torque || c->b >= 0 || c->frozen || state->joint.stage != REST_JOINT ||
        k - c->row_from > ff__ring_rows(&state->history.ring) / 2 || !looks_several(model, c))
        return false;
    c->alone = true;
    if (!begin(model, state, c->a, 1u << (c - state->contact), c->row_from, c->until, true, false))
        return false;
    c->stage = JOINING;
    return true;
}

/* Friction on one surface leaves no more across it than noise (two components of variance 1, and as much
 * again for the motion's and what slips near rest make) and a thirtieth of the force. It has fewer numbers
 * than several walls: it is asked first. Of 120 random contacts each with friction it leaves 2e-8 to 3e-4 of
 * the squares, of as many corners all but one more than 2e-3. */
static bool friction_explains(const fused_config *config, const fused_glance *z) {
    return z->left < 4.0 * z->rows * square(config->force_noise) + square(0.03) * z->whole;
}

/* Of a row in the sums: its slopes, and their products. */
static int row_cost(const fused_joint *z) {
    if (z->probing)
        return 20 + 10 * z->count;
    return z->common ? 20 + 11 * z->count * z->count : 60 + 28 * z->count * z->count;
}

/* There is nothing to begin with. */
static void next_place(fused_joint *z) {
    z->stage = START;
    if (z->probing)
        ff__fused_judge_probe(z, FF_INF);
    else
        ff__fused_next_start(z);
}

/* One cycle of it. */
void ff__fused_join_on(const fused_model *model, fused_state *state, uint64_t k) {
    fused_joint *z = &state->joint;
    int work = WORK_JOINT;
    if (z->stage == REST_JOINT)
        return;
    if (k - z->from > ff__ring_rows(&state->history.ring) - 32) { /* its rows leave the history */
        if (z->stage == REPLAY)
            conclude_all(model, state, z);
        else
            leave(model, state, z, k);
        return;
    }
    const int rows = (int)(z->to - z->from);
    while (work > 0 && z->stage != REST_JOINT) {
        if (z->stage == GLANCE) {
            if (!ff__fused_glance(state, &z->glance, &work))
                continue;
            if (friction_explains(&model->config, &z->glance)) {
                leave(model, state, z, k);
                return;
            }
            z->stage = PICK;
        } else if (z->stage == PICK) {
            work -= rows * WORK_PICK * (1 + z->count);
            ff__fused_pick_row(state, z, model->config.force_noise);
            if (z->extreme > edge && z->count < (z->common ? 3 : FUSED_JOINT)) {
                if (!ff__fused_add_edge(state, z)) {
                    leave(model, state, z, k);
                    return;
                }
                continue;
            }
            if (z->count < 2) {
                leave(model, state, z, k);
                return;
            }
            z->start = -1;
            ff__fused_next_start(z);
        } else if (z->stage == START) {
            z->stage = SURFACE;
            z->row = 0;
            if (!ff__fused_place_points(state, z))
                next_place(z);
        } else if (z->stage == SURFACE) {
            work -= 300 + 17 * rows;
            if (!ff__fused_find_surface(model, state, z, z->now.at, (int)z->row, &work)) {
                next_place(z);
                continue;
            }
            if ((int)++z->row == z->count) {
                z->trials = 0;
                if (z->common && !z->probing)
                    ff__fused_begin_vary(z);
                else
                    ff__fused_begin_build(z, &z->now);
            }
        } else if (z->stage == VARY) {
            ff__fused_vary_on(model, state, z, &work);
        } else if (z->stage == BUILD) {
            const uint64_t stride = joint_stride(z);
            fused_system *s = z->trials ? &z->trial : &z->now;
            for (; z->row <= z->to && work > 0; z->row += stride, work -= row_cost(z))
                if (fused_at(state, z->body, z->row)->valid)
                    ff__fused_add_row(state, z, s, z->row);
            if (z->row > z->to) {
                work -= 1000;
                ff__fused_judge_trial(&model->config, z);
            }
        } else if (z->stage == WRITE) {
            work -= 20 * rows * z->count;
            write_all(model, state, z, k);
            if (z->stage != BUILD)
                return;
        } else {
            ff__fused_replay_some(model, state, k, &work);
            if (!ff__replay_active(state->replay, ff__fused_group_of(state, z->body)))
                conclude_all(model, state, z);
            return;
        }
    }
}
