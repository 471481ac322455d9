/* fused: surfaces that were touched before (docs/methods/fused.md, 5).
 *
 * Under noise a wall is known by all its contacts: what one of them tells is weighed by the squares of its
 * forces against those that the wall was learnt from. */
#include "fidelity/fused/fused.h"

enum { CONTACTS = 50 }; /* that a wall is known by at most: one that creeps is followed */

/* The robots at sample k along a wall. */
static void robot_at(fused_state *state, const fused_wall *x, uint64_t k, double *s, double *v) {
    const ff_rigid_state a = fused_row_robot(fused_at(state, x->a, k));
    const ff_rigid_state b = x->b < 0 ? fused_at_rest() : fused_row_robot(fused_at(state, x->b, k));
    const ff__place p = fused_wall_place(x);
    ff__place_coordinate(&p, state->start[x->a], &a, x->b < 0 ? NULL : &b, s, v);
}

static bool is_free(const fused_state *state, const fused_contact *c, int wall) {
    for (int i = 0; i < FUSED_CONTACTS; i++)
        if (&state->contact[i] != c && state->contact[i].open && state->contact[i].wall == wall)
            return false;
    return true;
}

/* The wall that a contact is on: its normal is like, and its surface is where the force of sample k says. */
void ff__fused_find_wall(const fused_model *model, fused_state *state, fused_contact *c, uint64_t k) {
    const double T = model->integrate.cycle, f = fused_row_of(c, k)->f;
    double best = FF_INF;
    for (int w = 0; w < FUSED_WALLS; w++) {
        const fused_wall *x = &state->wall[w];
        if (!x->valid || x->a != c->a || x->b != c->b || x->torque != c->torque ||
            ff_vec3_dot(x->n, c->n) < 0.8 || !is_free(state, c, w))
            continue;
        double s, v;
        robot_at(state, x, k, &s, &v);
        const ff_profile *e = &x->surface;
        const double deep = e->law == 0 && !x->beside ? fmax(0.0, f - e->c * v) / e->k : 0.0;
        const double gap = fmin(fabs(s - e->x0), fmax(0.0, fabs(s - deep - e->x0) - 0.25 * deep));
        if (gap <= fmax(5.0 * e->sd_x0, 3.0 * c->speed * T) && gap < best) {
            best = gap;
            c->wall = w;
        }
    }
}

/* [N2] of the forces that tell its normal. */
static double squares_of(const fused_contact *c) {
    return c->sum.n[0] + c->sum.n[3] + c->sum.n[5];
}

void ff__fused_lean_on_wall(const fused_config *config, fused_state *state, fused_contact *c) {
    const fused_wall *x = c->wall >= 0 ? &state->wall[c->wall] : NULL;
    ff_profile *const e = &c->next.surface;
    c->leans = false;
    if (!x || !x->valid || x->beside || c->torque || c->one.judged || x->surface.law || x->mu > 0.0 ||
        c->mu > 0.0 || !fused_noisy(config, c) || config->random_estimates || (e->valid && e->law))
        return;
    double s, v, by_wall = 0.0, by_rows = 0.0;
    int rows = 0;
    robot_at(state, x, c->detected, &s, &v);
    ff_profile wall = x->surface;
    wall.x0 += fused_row_of(c, c->detected)->s - s; /* along the new normal */
    for (uint64_t i = c->row_from; i <= c->until; i++) {
        const fused_row *const q = fused_row_of(c, i);
        if (q->use != 1)
            continue;
        by_wall += square(q->f - fused_force(&wall, q->s, q->v));
        by_rows += e->valid ? square(q->f - fused_force(e, q->s, q->v)) : 0.0;
        rows++;
    }
    const double noise = square(fused_noise_of(config, c)), own = squares_of(c),
                 part = own / (own + fmax(x->squares, 1e-12));
    const bool lone = ff__fused_lone(state, c);
    /* three numbers more explain a little more by chance; beside another contact the rows are less sure */
    const double chance = lone ? 12.0 * noise * (1.0 + own / fmax(x->squares, 1e-12))
                               : (double)rows * (8.0 * noise + square(0.03 * c->force_max));
    if (!e->valid ? by_wall > (double)rows * 9.0 * noise : by_wall - by_rows > chance)
        return;
    const double by = lone && e->valid ? part : 0.0;
    wall.k += by * (e->k - wall.k);
    wall.c += by * (e->c - wall.c);
    wall.x0 += by * (e->x0 - wall.x0);
    wall.J = by_wall / fmax(noise, square(1e-3 * c->force_max));
    if (lone && e->valid) {
        wall.sd_k = fmin(wall.sd_k, e->sd_k * sqrt(part));
        wall.sd_c = fmin(wall.sd_c, e->sd_c * sqrt(part));
        wall.sd_x0 = fmin(wall.sd_x0, e->sd_x0 * sqrt(part));
    }
    *e = wall;
    c->leans = true;
}

static int oldest(const fused_state *state) {
    int slot = 0;
    for (int w = 0; w < FUSED_WALLS; w++) {
        if (!state->wall[w].valid)
            return w;
        if (state->wall[w].last < state->wall[slot].last)
            slot = w;
    }
    return slot;
}

void ff__fused_remember(const fused_config *config, fused_state *state, fused_contact *c, uint64_t k) {
    if (!c->surface.valid || c->over.abandoned)
        return;
    int slot = c->wall;
    if (c->closing && slot >= 0 && !state->wall[slot].valid)
        return; /* found missing while the contact was settled */
    const bool beside = !ff__fused_lone(state, c);
    if (slot >= 0 && beside && !state->wall[slot].beside) { /* it was better known before */
        state->wall[slot].last = k;
        return;
    }
    double squares = squares_of(c);
    if (slot < 0)
        slot = oldest(state);
    else if (c->leans)
        squares += fmin(state->wall[slot].squares, CONTACTS * squares);
    else if (!beside && !state->wall[slot].beside && fused_noisy(config, c) &&
             c->surface.J > 6.0 * (double)(c->until - c->row_from + 1))
        return; /* not explained: no word against what was known */
    const ff_quat q = fused_at(state, c->a, c->detected)->T_r.q;
    state->wall[slot] = (fused_wall){
        .valid = true,
        .torque = c->torque,
        .a = c->a,
        .b = c->b,
        .n = c->n,
        .r = c->r,
        .surface = c->surface,
        .mu = c->mu,
        .force_max = c->force_max,
        .squares = squares,
        .spot = c->torque ? -1 : c->spot,
        .turn = c->b < 0 ? q : ff_quat_mul(ff_quat_conj(fused_at(state, c->b, c->detected)->T_r.q), q),
        .beside = beside,
        .last = k};
    c->wall = slot;
}
