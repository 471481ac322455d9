/* fused: how a contact begins, ends, is settled, remembered and reported (docs/methods/fused.md, 5 and 9). */
#include "fidelity/fused/fused.h"

#include <string.h>

static double flight_speed(fused_state *state, const fused_contact *c, uint64_t k) {
    const ff__place p = fused_contact_place(c);
    double s, v;
    ff__place_coordinate(&p, state->start[c->a], &fused_at(state, c->a, k)->past.body,
                         c->b < 0 ? NULL : &fused_at(state, c->b, k)->past.body, &s, &v);
    return v;
}

static fused_contact *free_contact(fused_state *state) {
    for (int c = 0; c < FUSED_CONTACTS; c++)
        if (!state->contact[c].open && !state->contact[c].settled)
            return &state->contact[c];
    return NULL;
}

uint64_t ff__fused_group_anchor(const fused_state *state, unsigned group, uint64_t k) {
    uint64_t from = k;
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        const fused_contact *x = &state->contact[c];
        if (x->open && (group >> x->a & 1u) && x->anchor < from)
            from = x->anchor;
    }
    return from;
}

/* The energy that a group of bodies may have from sample k on. */
static void limit_from_here(const fused_model *model, fused_state *state, unsigned group, uint64_t k,
                            double limit) {
    for (int i = 0; i < model->bodies; i++)
        if (group >> i & 1u)
            fused_at(state, i, k)->past.limit = limit;
}

static double energy_of(const fused_model *model, fused_state *state, unsigned group, uint64_t k) {
    ff__march w;
    ff__fused_march_from(model, state, group, k, NULL, &w);
    return ff__march_energy(&w);
}

/* As nothing is known of it yet. */
static void set_up(fused_state *state, fused_contact *c, int a, int b, bool torque, ff_vec3 n, uint64_t k) {
    c->open = true;
    c->settled = c->frozen = c->closing = c->one.judged = c->one.tried = false;
    c->stage = REST;
    c->torque = torque;
    c->a = a;
    c->b = b;
    c->n = b < 0 || torque ? n : ff_quat_unrotate(fused_at(state, b, k)->T_r.q, n);
    c->r = ff_vec3_zero();
    c->mu = c->side = c->booked = c->refused = 0.0;
    c->joined = c->alone = c->tried = false;
    c->lean.step = 0.05;
    c->lean.misfit = 0.0;
    c->surface = c->tip = (ff_profile){0};
    c->tip_found = false;
    c->tip_due = 0;
    c->detected = k;
    memcpy(c->zero_P, state->zero[a].P, sizeof c->zero_P);
    c->due = k + 1;
    c->laws.due = k + 8;
    c->laws.trial = 0;
    c->over = (fused_ending){0};
    memset(c->bears, 0, sizeof c->bears);
    c->wall = c->spot = -1;
    c->wall_used = c->leans = false;
}

/* The point of an open contact if the torque of this sample is all its force's there: then the new contact is
 * there, too. How far it lies along the open one's normal n (body axes) shows only now that the force turns.
 */
static bool is_one_point(const fused_config *config, const fused_sample *x, ff_vec3 n, ff_vec3 *r) {
    const ff_vec3 F = ff_quat_unrotate(x->T_r.q, x->force), turn = ff_vec3_cross(n, F);
    const double size = ff_vec3_norm(F), square_turn = ff_vec3_dot(turn, turn);
    ff_vec3 left = ff_vec3_sub(x->torque, ff_vec3_cross(*r, F)), at = *r;
    const double along = square_turn > square(0.05 * size) ? ff_vec3_dot(turn, left) / square_turn : 0.0;
    if (fabs(along) < arm_longest) {
        left = ff_vec3_axpy(-along, turn, left);
        at = ff_vec3_axpy(along, n, at);
    }
    const double arm = ff_vec3_norm(at), blur = hypot(config->torque_noise, arm * config->force_noise);
    if (!(ff_vec3_norm(left) < 0.03 * arm * size + 3.0 * blur))
        return false;
    *r = at;
    return true;
}

/* The point that bears what the others leave of a force along n. */
static void first_point(const fused_config *config, fused_state *state, fused_contact *c, ff_vec3 n,
                        uint64_t k) {
    const fused_sample *x = fused_at(state, c->a, k);
    bool turning = false;
    for (int i = 0; i < FUSED_CONTACTS; i++)
        turning |=
            &state->contact[i] != c && state->contact[i].torque && fused_acts_at(&state->contact[i], c->a, k);
    if (c->torque || turning)
        return;
    c->spot = ff__fused_spot_at(config, state, c->a, k);
    if (c->spot >= 0) {
        c->r = state->spot[c->a][c->spot].r;
        return;
    }
    const ff_vec3 F = ff_quat_unrotate(x->T_r.q, ff_vec3_scale(ff_vec3_dot(n, x->force), n));
    const double FF = ff_vec3_dot(F, F);
    c->anchor = k + 1;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        if (o == c || o->torque || !fused_acts_at(o, c->a, k))
            continue;
        ff_vec3 m = o->b < 0 ? o->n : ff_quat_rotate(fused_at(state, o->b, k)->T_r.q, o->n), r = o->r;
        m = ff_quat_unrotate(x->T_r.q, m);
        if (is_one_point(config, x, m, &r)) {
            c->r = r;
            return;
        }
    }
    if (FF > 0.0)
        c->r = ff_vec3_scale(1.0 / FF, ff_vec3_cross(F, ff__fused_pure_torque(state, c->a, k, c)));
    if (!(ff_vec3_norm(c->r) <= arm_longest))
        c->r = ff_vec3_zero();
}

/* [s] The satellite may have been in the surface before the robot was: how far the robot is behind. */
static double lag_of(fused_state *state, const fused_contact *c, uint64_t k) {
    const ff__place p = fused_contact_place(c);
    const fused_sample *x = fused_at(state, c->a, k), *y = c->b < 0 ? NULL : fused_at(state, c->b, k);
    const ff_rigid_state robot_a = fused_robot_of(x), robot_b = y ? fused_robot_of(y) : fused_at_rest();
    double s, s_dot, s_r, v_r;
    ff__place_coordinate(&p, state->start[c->a], &x->past.body, y ? &y->past.body : NULL, &s, &s_dot);
    ff__place_coordinate(&p, state->start[c->a], &robot_a, y ? &robot_b : NULL, &s_r, &v_r);
    const double lag = s_dot > 0.0 ? (s - s_r) / s_dot : 0.0;
    return lag > 0.0 ? fmin(lag, 0.5) : 0.0;
}

/* Rows before k in which noise hides the onset, not before `earliest`: to where three in a row are quiet. */
static uint64_t hidden(const fused_model *model, fused_state *state, fused_contact *c, uint64_t earliest,
                       uint64_t k) {
    c->anchor = k; /* share() asks */
    const double level = fmax(1.5 * fused_noise_of(&model->config, c), 3e-3 * ff__fused_share(state, c, k));
    uint64_t quiet = 0;
    while (quiet < 400 && k > earliest + quiet + 3) {
        double sum = 0.0;
        for (uint64_t i = 0; i < 3; i++)
            sum += ff__fused_share(state, c, k - quiet - i);
        if (sum < level)
            break;
        quiet++;
    }
    return quiet;
}

/* The row before the onset. */
static uint64_t onset(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    uint64_t back =
        4 + (uint64_t)ceil((lag_of(state, c, k) + 0.2 * state->delay[c->a]) / model->integrate.cycle);
    uint64_t earliest = state->free_since[c->a];
    if (c->b >= 0 && state->free_since[c->b] > earliest)
        earliest = state->free_since[c->b];
    for (int i = 0; i < FUSED_CONTACTS; i++) { /* beside another one nothing is known of what was before it */
        const fused_contact *o = &state->contact[i];
        if (o != c && o->open && o->a == c->a && o->b == c->b && o->anchor > earliest)
            earliest = o->anchor;
    }
    back += hidden(model, state, c, earliest, k);
    if (back > fused_look_back(state))
        back = fused_look_back(state);
    return k > earliest + back ? k - back : earliest;
}

/* What the bodies may have from the anchor on. part: their groups before they touch; since: when these are in
 * contact, UINT64_MAX: they are not. */
static void limit_energy(const fused_model *model, fused_state *state, const fused_contact *c,
                         const unsigned part[2], const uint64_t since[2]) {
    const unsigned group = part[0] | part[1];
    if (c->anchor < since[0] && c->anchor < since[1]) {
        limit_from_here(model, state, group, c->anchor, energy_of(model, state, group, c->anchor));
    } else if (c->b >= 0 && part[0] != part[1]) {
        /* two groups join: what each may have by its own contacts, or has in flight */
        double sum = 0.0;
        for (int j = 0; j < 2; j++)
            sum += since[j] <= c->anchor ? fused_at(state, j ? c->b : c->a, c->anchor)->past.limit
                                         : energy_of(model, state, part[j], c->anchor);
        limit_from_here(model, state, group, c->anchor, sum);
    }
}

/* A wall that is known: the next command must not go out without it. */
void ff__fused_recall(fused_state *state, fused_contact *c, uint64_t k) {
    const fused_wall *wall = &state->wall[c->wall];
    c->wall_used = true;
    c->n = wall->n;
    c->r = wall->r;
    c->mu = wall->mu;
    c->surface = wall->surface;
    for (uint64_t i = c->anchor; i <= k; i++)
        ff__fused_take_row(state, c, i);
}

/* Opens a contact at sample k. */
fused_contact *ff__fused_begin_at(const fused_model *model, fused_state *state, const fused_onset *at,
                                  uint64_t k) {
    const int a = at->a, b = at->b, wall = at->wall;
    const bool torque = at->torque;
    const ff_vec3 n = at->n;
    fused_contact *c = free_contact(state);
    if (!c)
        return NULL;
    const unsigned part[2] = {ff__fused_group_of(state, a), b < 0 ? 0u : ff__fused_group_of(state, b)};
    const uint64_t since[2] = {ff__fused_group_anchor(state, part[0], UINT64_MAX),
                               ff__fused_group_anchor(state, part[1], UINT64_MAX)};
    const fused_sample *x = fused_at(state, a, k);
    set_up(state, c, a, b, torque, n, k);
    first_point(&model->config, state, c, n, k);
    if (wall >= 0) {
        c->n = state->wall[wall].n;
        c->r = state->wall[wall].r;
    }
    const ff__place p = fused_contact_place(c);
    const ff_rigid_state *const other = b < 0 ? NULL : &fused_at(state, b, k)->past.body;
    ff__port q;
    ff__place_open(model->view, &p, &x->past.body, other, ff__place_normal(&p, other), ff_vec3_zero(), &q);
    c->mass = 1.0 / q.mobility;
    c->anchor = onset(model, state, c, k);
    c->anchor = c->row_from = at->anchor < c->anchor ? at->anchor : c->anchor;
    c->detected = at->detected < k ? at->detected : k;
    for (int i = 0; i < model->bodies; i++)
        if ((i == a || i == b) && c->anchor > 0 && c->anchor == state->free_since[i])
            state->followed[i] = c->anchor;
    c->speed = fabs(flight_speed(state, c, c->anchor));
    const ff_rigid_state robot = fused_robot_of(x);
    const ff_vec3 tip_speed = ff_rigid_point_velocity(&robot, c->r);
    c->slides =
        b >= 0 || ff_vec3_norm(ff_vec3_axpy(-ff_vec3_dot(n, tip_speed), n, tip_speed)) > 1e-4 * c->speed;
    for (uint64_t i = c->anchor; i <= k; i++) {
        ff__fused_take_row(state, c, i);
        fused_row_of(c, i)->residual = 0.0;
        fused_row_of(c, i)->use = 1;
    }
    c->force_max = fused_row_of(c, k)->f;
    c->torque_max = ff_vec3_norm(x->torque);
    limit_energy(model, state, c, part, since);
    c->wall = wall;
    if (wall < 0)
        ff__fused_find_wall(model, state, c, k);
    if (c->wall >= 0)
        ff__fused_recall(state, c, k);
    return c;
}

void ff__fused_begin(const fused_model *model, fused_state *state, int a, int b, bool torque, ff_vec3 n,
                     uint64_t k) {
    const fused_onset at = {a, b, torque, n, -1, UINT64_MAX, UINT64_MAX};
    ff__fused_begin_at(model, state, &at, k);
}

void ff__fused_begin_on(const fused_model *model, fused_state *state, int wall, uint64_t k) {
    const fused_wall *x = &state->wall[wall];
    const ff_vec3 n = x->b < 0 ? x->n : ff_quat_rotate(fused_at(state, x->b, k)->T_r.q, x->n);
    const fused_onset at = {x->a, x->b, false, n, wall, UINT64_MAX, UINT64_MAX};
    ff__fused_begin_at(model, state, &at, k);
}

void ff__fused_reopen(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    const uint64_t end = c->end;
    c->open = true;
    c->settled = c->closing = false;
    c->stage = REST;
    c->due = k + 1;
    c->over = (fused_ending){.sum = c->over.sum};
    for (uint64_t i = end; i <= k; i++)
        ff__fused_new_row(model, state, c, i);
    ff__replay_ask(state->replay, ff__fused_group_of(state, c->a), end);
}

/* Cycles in contact: as the satellite feels it, once it is over. */
static int samples_of(fused_state *state, const fused_contact *c, uint64_t k, bool ended) {
    const ff_profile *e = &c->surface;
    if (!ended)
        return (int)(k - c->detected) + 1;
    int samples = 0;
    const uint64_t stride = 1 + (k - c->anchor) / 128; /* a long contact need not be counted to one */
    for (uint64_t i = c->anchor; i <= k; i += stride) {
        const ff__place p = fused_contact_place(c);
        double s, v;
        ff__place_coordinate(&p, state->start[c->a], &fused_at(state, c->a, i)->past.body,
                             c->b < 0 ? NULL : &fused_at(state, c->b, i)->past.body, &s, &v);
        samples += (e->valid ? s > e->x0 : fused_row_of(c, i)->f > 0.0) ? (int)stride : 0;
    }
    return samples;
}

/* Peak forces of a spring and damper. */
static void report_peaks(const fused_model *model, const fused_contact *c, double delay, fused_report *r) {
    const fused_config *config = &model->config;
    const double T = model->integrate.cycle;
    const ff_profile *e = &c->surface;
    if (e->valid && e->law == 0) {
        /* free flight until the first sample has gone round, then the robots brake as hard as they can */
        const double a = config->acceleration[c->a], b = c->b < 0 ? 0.0 : config->acceleration[c->b];
        const double brake = a > 0.0 && (c->b < 0 || b > 0.0) ? a + b : 0.0;
        r->peak_limit = c->speed * (e->k * (delay + T) + e->c);
        if (brake > 0.0)
            r->peak_limit += 0.5 * e->k * c->speed * c->speed / brake;
        const double z = fmin(0.99, e->c / (2.0 * sqrt(e->k * c->mass)));
        /* peak of a spring-damper hit with v: at the step c v, or where f' = 0 */
        const double root = sqrt(1.0 - z * z),
                     turn = atan2(root * (1.0 - 4.0 * z * z), z * (3.0 - 4.0 * z * z));
        const double phi = z < 0.5 ? exp(-z / root * turn) : 2.0 * z;
        r->peak_ideal = phi * c->speed * sqrt(e->k * c->mass);
    } else {
        r->peak_limit = r->peak_ideal = FF_NAN;
    }
}

/* What no standard deviation says. */
static unsigned outside_of(const fused_contact *c, int samples) {
    unsigned outside = 0;
    if (!c->surface.valid)
        outside |= FUSED_NO_ESTIMATE;
    if (samples < 4)
        outside |= FUSED_FEW_SAMPLES;
    if (c->frozen)
        outside |= FUSED_LOOK_BACK;
    return outside;
}

void ff__fused_fill_report(const fused_model *model, fused_state *state, const fused_contact *c, uint64_t k,
                           int body, bool ended) {
    const fused_config *config = &model->config;
    fused_report *r = &state->report[body];
    const double T = model->integrate.cycle, delay = state->delay[c->a];
    const ff_profile *e = &c->surface;
    *r = (fused_report){.known = e->valid,
                        .torque = c->torque,
                        .law = e->law,
                        .stiffness = e->k,
                        .stiffness_sd = hypot(e->sd_k, e->k_by_x0 * e->sd_x0),
                        .damping = e->c,
                        .damping_sd = hypot(e->sd_c, e->c_by_x0 * e->sd_x0),
                        .surface_sd = e->sd_x0,
                        .normal = c->n,
                        .point = c->r,
                        .friction = c->mu,
                        .delay = delay,
                        .delay_configured = config->delay[body],
                        .warm = c->wall_used,
                        .contacts = r->contacts};
    /* the tip as it entered, moved along n onto the surface */
    const fused_sample *x = fused_at(state, c->a, c->detected);
    ff_vec3 tip = ff_pose_apply(x->T_r, c->r);
    if (c->b >= 0)
        tip = ff_pose_apply(ff_pose_inverse(fused_at(state, c->b, c->detected)->T_r), tip);
    r->surface = ff_vec3_axpy(-(e->x0 + ff_vec3_dot(c->n, tip)), c->n, tip);
    r->samples = samples_of(state, c, k, ended);
    report_peaks(model, c, delay, r);
    const double w = e->valid && e->law == 0 ? sqrt(e->k / c->mass) : FF_PI / ((r->samples + 1) * T);
    r->outside = outside_of(c, r->samples);
    ff__fused_budget(model, state, c, k, body, w, r);
}

/* A free flight from the anchor: what ff__fused_begin() made of noise is undone. */
void ff__fused_withdraw(fused_state *state, fused_contact *c) {
    const unsigned group = ff__fused_group_of(state, c->a);
    c->open = false;
    c->stage = REST;
    ff__replay_ask(state->replay, group, c->anchor);
}

/* Contacts that ended stay while an open one of the group reaches back over them. */
void ff__fused_sweep(fused_state *state) {
    for (int c = 0; c < FUSED_CONTACTS; c++) {
        fused_contact *x = &state->contact[c];
        if (!x->settled || x->closing)
            continue;
        const unsigned group = ff__fused_group_of(state, x->a);
        bool needed = false;
        for (int i = 0; i < FF_MAX_BODIES; i++)
            needed |= state->replay[i].active && (state->replay[i].bodies >> x->a & 1u) &&
                      state->replay[i].at < x->end;
        for (int o = 0; o < FUSED_CONTACTS; o++) {
            const fused_contact *y = &state->contact[o];
            needed |= (y->open || y->closing) && (group >> y->a & 1u) && y->anchor < x->end;
        }
        if (needed)
            continue;
        x->settled = false;
        for (int i = 0; i < FF_MAX_BODIES; i++)
            if ((i == x->a || i == x->b) && state->dropped[i] < x->end)
                state->dropped[i] = x->end;
    }
}

/* The sensors of its bodies read no force and no torque: whatever its share of them, it bears none. */
static bool reads_nothing(const fused_config *config, fused_state *state, const fused_contact *c,
                          uint64_t k) {
    for (int i = 0; i < 2; i++) {
        const int body = i ? c->b : c->a;
        if (body < 0)
            continue;
        const fused_sample *x = fused_at(state, body, k);
        if (!(ff_vec3_norm(x->force) < fused_force_on(config->force_noise)) ||
            !(ff_vec3_norm(x->torque) < fused_torque_on(config->torque_noise)))
            return false;
    }
    return true;
}

/* Over for the satellite and for the robot? */
bool ff__fused_is_over(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    const fused_config *config = &model->config;
    const double noise = fused_noise_of(config, c);
    const ff__place p = fused_contact_place(c);
    double s, v;
    ff__place_coordinate(&p, state->start[c->a], &fused_at(state, c->a, k)->past.body,
                         c->b < 0 ? NULL : &fused_at(state, c->b, k)->past.body, &s, &v);
    const bool satellite_out =
        c->surface.valid ? v < 0.0 && ff_profile_force(&c->surface, s, v) <= 0.0 : v < 0.0;
    double sum = 0.0;
    int count = 0;
    for (uint64_t i = k; i > c->detected && count < 16; i--, count++)
        sum += fused_row_of(c, i)->f;
    const bool robot_out = fused_row_of(c, k)->f < fused_threshold(config, c) &&
                           fused_row_of(c, k)->v <= 0.0 &&
                           (noise == 0.0 || sum < (double)count * (0.75 * noise + 0.005 * c->force_max));
    c->over.quiet = satellite_out && robot_out ? c->over.quiet + 1 : 0;
    /* No force for longer than the robot can be late: it is over, whatever the model says. Noise may hide a
     * force, and gears swing. */
    c->over.silent = fused_row_of(c, k)->f < fused_threshold(config, c) || reads_nothing(config, state, c, k)
                         ? c->over.silent + 1
                         : 0;
    const bool hidden = noise > 0.0 || model->yields;
    const double wait = 1.5 * state->delay[c->a] / model->integrate.cycle + (hidden ? 24.0 : 12.0);
    /* a satellite that is said to be inside is waited for where its surface explains the rows of one contact
     * alone; any other's word is not worth it */
    const bool trusted = c->surface.valid && ff__fused_lone(state, c) &&
                         c->surface.J <= poor_misfit * (double)(c->until - c->row_from + 1);
    c->over.abandoned = (double)c->over.silent > (trusted ? wait : fmin(wait, hidden ? 54.0 : 18.0));
    return c->over.quiet >= 3 || c->over.abandoned;
}

/* The contact is over: from here on the body flies, while the settlement (a last estimate and replay) goes
 * on. */
void ff__fused_finish(fused_state *state, fused_contact *c, uint64_t k) {
    c->open = false;
    c->settled = c->closing = true;
    c->end = k;
    c->stage = PLACE;
    c->row = c->row_from;
    c->asked = k;
    c->first.surface.valid = false;
    c->more = 0;
    c->passes = 1; /* which rows take part is judged with the last surface: that may be a poor one */
    c->live = (fused_settled){.surface = c->surface, .n = c->n, .r = c->r, .mu = c->mu};
    c->live_sd = c->over.abandoned || !ff__fused_lone(state, c) ? FF_INF : state->report[c->a].impulse_sd;
    c->checked = false;
    c->refused = 0.0;
    bool left_a = false, left_b = false;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        const fused_contact *o = &state->contact[i];
        left_a |= o->open && (o->a == c->a || o->b == c->a);
        left_b |= o->open && c->b >= 0 && (o->a == c->b || o->b == c->b);
    }
    if (!left_a)
        state->free_since[c->a] = k;
    if (c->b >= 0 && !left_b)
        state->free_since[c->b] = k;
}

/* Squares of the force that a law leaves, in all rows of a contact that is alone. */
static double left_by(fused_state *state, fused_contact *c, const fused_settled *by) {
    const ff__place p = {c->torque, c->a, c->b, by->n, by->r, NULL};
    double sum = 0.0;
    for (uint64_t i = c->row_from; i <= c->end; i++) {
        if (!fused_sample_ok(state, c, i))
            continue;
        const fused_sample *x = fused_at(state, c->a, i);
        const ff_rigid_state a = fused_robot_of(x);
        const ff_rigid_state b = c->b < 0 ? fused_at_rest() : fused_robot_of(fused_at(state, c->b, i));
        double s, v;
        ff__place_coordinate(&p, state->start[c->a], &a, c->b < 0 ? NULL : &b, &s, &v);
        const ff_vec3 n = ff__place_normal(&p, c->b < 0 ? NULL : &b);
        const double f = ff_vec3_dot(n, c->torque ? x->torque : fused_measured_force(state, c->a, c->b, i));
        sum += square(f - ff_profile_force(&by->surface, s, v));
    }
    return sum;
}

bool ff__fused_stands(fused_state *state, fused_contact *c, const ff_rigid_state *was) {
    static const double least = 0.003; /* of the impulse: what is refined while the last rows come in */
    const ff_rigid_state *const begun = &fused_at(state, c->a, c->anchor)->past.body;
    ff_rigid_state *const end = &fused_at(state, c->a, c->end)->past.body;
    const ff_rigid_state *const lived = &was[c->a];
    const ff_vec3 did =
        c->torque ? ff_vec3_sub(lived->omega, begun->omega) : ff_vec3_sub(lived->velocity, begun->velocity);
    const ff_vec3 moved =
        c->torque ? ff_vec3_sub(end->omega, lived->omega) : ff_vec3_sub(end->velocity, lived->velocity);
    c->checked = true;
    if (!c->live.surface.valid || !ff__fused_lone(state, c) ||
        !(ff_vec3_norm(moved) > (2.0 * c->live_sd + least) * ff_vec3_norm(did)))
        return true;
    const fused_settled now = {.surface = c->surface, .n = c->n, .r = c->r};
    if (!(left_by(state, c, &c->live) < 0.9 * left_by(state, c, &now)))
        return true;
    state->info.refused++;
    c->refused = ff_vec3_norm(moved) / ff_vec3_norm(did);
    *end = *lived;
    if (c->b >= 0)
        fused_at(state, c->b, c->end)->past.body = was[c->b];
    c->next.surface = c->live.surface;
    c->next.n = c->live.n;
    c->next.r = c->live.r;
    c->mu = c->live.mu;
    c->first.surface.valid = false;
    c->passes = 0;
    c->taken = (fused_taken){0};
    c->row = c->row_from;
    c->stage = TAKE_FIRST;
    return false;
}

/* [J] By how much a contact's uncertainty may be wrong in what its bodies have left: the speed that it gives
 * back, m e v times the deviation of e v. */
static double energy_sd_of(const fused_contact *c, const fused_report *r) {
    const double sd = r->known ? fmin(1.0, r->restitution_sd) : 1.0;
    return c->mass * square(c->speed) * sd * fmax(sd, r->restitution);
}

/* In the account of its bodies; of one settled again once. */
void ff__fused_book(fused_state *state, fused_contact *c, double energy_sd) {
    for (int i = 0; i < FF_MAX_BODIES; i++) {
        fused_account *to = &state->account[i];
        if (i != c->a && i != c->b)
            continue;
        to->sum = fmax(0.0, to->sum + energy_sd - c->booked);
        to->squares = fmax(0.0, to->squares + square(energy_sd) - square(c->booked));
        /* the net lets none of them gain: of an elastic contact the mean of what is left of a normal
         * distribution, sd/sqrt(2 pi), is lost */
        to->sd = hypot(0.4 * to->sum, sqrt(to->squares));
    }
    c->booked = energy_sd;
}

/* Effective mass and approach along the normal that was found: those of the first sample are as noisy as that
 * is. */
static void measure_approach(const fused_model *model, fused_state *state, fused_contact *c) {
    const ff__place p = fused_contact_place(c);
    const ff_rigid_state *const a = &fused_at(state, c->a, c->anchor)->past.body,
                                *const b = c->b < 0 ? NULL : &fused_at(state, c->b, c->anchor)->past.body;
    ff__port q;
    ff__place_open(model->view, &p, a, b, ff__place_normal(&p, b), ff_vec3_zero(), &q);
    c->mass = 1.0 / q.mobility;
    c->speed = fabs(flight_speed(state, c, c->anchor));
}

/* Settled: what is known of it is final. */
void ff__fused_conclude(const fused_model *model, fused_state *state, fused_contact *c) {
    if (!c->frozen && !c->torque)
        measure_approach(model, state, c);
    state->report[c->a].contacts++;
    ff__fused_fill_report(model, state, c, c->end, c->a, true);
    ff__fused_book(state, c, energy_sd_of(c, &state->report[c->a]));
    if (ff__fused_lone(state, c))
        ff__fused_learn_spot(&model->config, state, c);
    ff__fused_remember(&model->config, state, c, c->end);
    if (c->b >= 0) {
        const uint32_t contacts = state->report[c->b].contacts + 1;
        ff__fused_fill_report(model, state, c, c->end, c->b, true);
        state->report[c->b].contacts = contacts;
    }
    c->closing = false;
    c->stage = REST;
}

/* Takes the place of the contacts beside it. */
void ff__fused_absorb(fused_state *state, fused_contact *c) {
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *o = &state->contact[i];
        if (o == c || !o->settled || o->a != c->a || o->anchor >= c->end)
            continue;
        ff__replay_ask(state->replay, ff__fused_group_of(state, c->a), o->anchor);
        o->settled = false;
        ff__fused_book(state, o, 0.0);
        if (o->wall >= 0 && o->wall != c->wall)
            state->wall[o->wall].valid = false;
        state->report[c->a].contacts--;
    }
}

/* Is one of several again. */
void ff__fused_part(fused_contact *c) {
    c->one.judged = false;
    c->end = c->until = c->one.end;
    c->n = c->next.n = c->one.before.n;
    c->r = c->next.r = c->one.before.r;
    c->mu = c->one.before.mu;
    c->surface = c->next.surface = c->one.before.surface;
    c->first.surface.valid = false;
    c->passes = 0;
}

/* Friction of a third of the normal force looks like a second contact while the sliding turns round. When all
 * contacts of a body on the world are settled that acted at one time, the earliest is judged once more as the
 * only one, with the whole force and friction. False where it is not. */
bool ff__fused_unite(const fused_model *model, fused_state *state, const fused_contact *last, uint64_t k) {
    fused_contact *e = NULL;
    int count = 0;
    uint64_t end = 0;
    double several = 0.0;
    for (int i = 0; i < FUSED_CONTACTS; i++) {
        fused_contact *o = &state->contact[i];
        if (o != last && !fused_beside(o, last))
            continue;
        if (o->a != last->a && o->b != last->a && o->a != last->b)
            continue;
        if (o->open || o->closing || o->frozen || o->wall_used || o->a != last->a || o->b >= 0)
            return false;
        count++;
        several += o->surface.valid ? o->surface.J / (double)(o->until - o->row_from + 1) : FF_INF;
        end = o->end > end ? o->end : end;
        if (!o->torque && (!e || fused_is_earlier(o, e)))
            e = o;
    }
    if (count < 2 || !e || model->config.random_estimates || e->anchor < state->dropped[e->a] ||
        k - e->row_from > 3 * ff__ring_rows(&state->history.ring) / 4)
        return false;
    for (int i = 0; i < FUSED_CONTACTS; i++) { /* the group must be all that acts there */
        const fused_contact *o = &state->contact[i];
        const bool one = o == last || fused_beside(o, last);
        if (o->settled && o->a == e->a && o != e && o->anchor < end &&
            (!one || !fused_beside(o, e) || k - o->anchor > 3 * ff__ring_rows(&state->history.ring) / 4))
            return false;
    }
    e->one.before = (fused_settled){e->surface, e->n, e->r, e->mu, several};
    e->one.end = e->end;
    e->end = end;
    e->one.judged = e->closing = e->one.tried = e->checked = true;
    e->mu = 0.0;
    e->stage = PLACE;
    e->row = e->row_from;
    e->asked = k;
    e->first.surface.valid = false;
    e->passes = 1;
    state->report[e->a].contacts--;
    return true;
}

static void settle(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    const bool again = c->one.tried;
    ff__fused_conclude(model, state, c);
    /* where they can be distinguished from friction, several contacts are tried first: friction takes longer
     */
    if (!again && ff__fused_join(model, state, c, k))
        return;
    if (again || !ff__fused_unite(model, state, c, k))
        ff__fused_join(model, state, c, k);
}

/* Contacts that act come before those that are over: what they do to the satellite cannot wait. */
static bool comes_before(const fused_contact *x, const fused_contact *y) {
    return x->open != y->open ? x->open : x->asked < y->asked;
}

/* Estimates and replays, as far as the work of a cycle allows; the contact that has waited longest first. */
void ff__fused_work_on(const fused_model *model, fused_state *state, uint64_t k, int *work) {
    ff__fused_replay_some(model, state, k, work);
    unsigned done = 0;
    for (int i = 0; i<FUSED_CONTACTS && * work> 0; i++) {
        fused_contact *c = NULL;
        for (int j = 0; j < FUSED_CONTACTS; j++) {
            fused_contact *x = &state->contact[j];
            if ((x->open || x->closing) && x->stage != REST && !(done >> j & 1u) &&
                (!c || comes_before(x, c)))
                c = x;
        }
        if (!c)
            return;
        done |= 1u << (c - state->contact);
        if (c->closing && k - c->row_from > ff__ring_rows(&state->history.ring) - 16) {
            c->stage = SETTLE; /* its rows leave the history: what is known stands */
            if (c->one.judged)
                ff__fused_part(c);
        }
        for (int stage = -1; stage != c->stage && *work > 0;) {
            stage = c->stage;
            ff__fused_estimate(model, state, c, c->closing ? c->end : k, k, work);
        }
        ff__fused_replay_some(model, state, k, work);
        if (c->stage == SETTLE && !ff__replay_active(state->replay, ff__fused_group_of(state, c->a)))
            settle(model, state, c, k);
    }
}
