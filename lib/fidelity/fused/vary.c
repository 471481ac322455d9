/* fused: surfaces that one tip touches at one time: their normals, with the surfaces found anew for each
 * (docs/methods/fused.md, 9).
 *
 * Up to three normals that are independent divide the force of every row, and stiffness, damping and place of
 * each surface follow from its part by the profile, which looks on both sides of every row for the onset.
 * What is left is a smooth function of the normals alone, two numbers each, where one of all numbers has a
 * step at each row that an onset passes. Gauss and Newton's steps, slopes by differences. */
#include "fidelity/fused/several.h"

#include <string.h>

enum { VARY_TRIALS = 10 };
static const double tilt = 1e-3; /* [rad] of a difference */

void ff__fused_begin_vary(fused_joint *z) {
    fused_vary *v = &z->vary;
    v->J = FF_INF;
    v->lambda = 1e-2;
    v->trials = v->lane = 0;
    memcpy(v->at[0], z->now.at, sizeof v->at[0]);
    z->row = 0;
    z->stage = VARY;
}

static void end_vary(fused_joint *z) {
    if (z->vary.J < FF_INF)
        memcpy(z->now.at, z->vary.base, sizeof z->now.at);
    z->trials = 0;
    ff__fused_begin_build(z, &z->now);
}

/* What the surfaces of a lane leave of a force. */
static ff_vec3 left_by(const fused_joint *z, const fused_point *q, const joint_row *row) {
    ff_vec3 F = row->F;
    for (int m = 0; m < z->count; m++)
        F = ff_vec3_axpy(-joint_act_of(&q[m], &row->x).f, q[m].n, F);
    return ff_vec3_scale(1.0 / z->unit, F);
}

/* Sums over the rows: the misfit alone, or the normal equations of all lanes. */
static double add_rows(fused_state *state, fused_joint *z, bool slopes) {
    fused_vary *v = &z->vary;
    const int all = 2 * z->count;
    double J = 0.0;
    if (slopes) {
        memset(v->A, 0, sizeof v->A);
        memset(v->b, 0, sizeof v->b);
    }
    for (uint64_t i = z->from; i <= z->to; i += joint_stride(z)) {
        if (!fused_at(state, z->body, i)->valid)
            continue;
        const joint_row row = joint_row_of(state, z, i);
        const ff_vec3 left = left_by(z, v->at[0], &row);
        ff_vec3 g[FUSED_VARIED];
        J += ff_vec3_dot(left, left);
        for (int q = 0; slopes && q < all; q++) {
            g[q] = ff_vec3_scale(1.0 / tilt, ff_vec3_sub(left, left_by(z, v->at[1 + q], &row)));
            v->b[q] += ff_vec3_dot(g[q], left);
            for (int o = 0; o <= q; o++)
                v->A[q * all + o] += ff_vec3_dot(g[q], g[o]);
        }
    }
    return J;
}

/* The normals after one step. */
static bool step_normals(fused_joint *z) {
    fused_vary *v = &z->vary;
    const int all = 2 * z->count;
    double A[FUSED_VARIED * FUSED_VARIED], b[FUSED_VARIED];
    while (v->trials++ < VARY_TRIALS) {
        for (int i = 0; i < all; i++) {
            b[i] = v->b[i];
            for (int j = 0; j <= i; j++)
                A[i * all + j] = A[j * all + i] = v->A[i * all + j];
            A[i * all + i] = (1.0 + v->lambda) * A[i * all + i] + 1.0;
        }
        if (ff_cholesky_factor((size_t)all, A) == FF_OK) {
            ff_cholesky_solve((size_t)all, A, b);
            memcpy(v->at[0], v->base, sizeof v->at[0]);
            for (int j = 0; j < z->count; j++)
                v->at[0][j].n = joint_tilted(v->base[j].n, b[2 * j], b[2 * j + 1]);
            v->lane = 0;
            z->row = 0;
            return true;
        }
        v->lambda *= 8.0;
    }
    return false;
}

static void next_lane(fused_joint *z) {
    fused_vary *v = &z->vary;
    const int q = v->lane++;
    memcpy(v->at[v->lane], v->base, sizeof v->base);
    v->at[v->lane][q / 2].n = joint_tilted(v->base[q / 2].n, q % 2 ? 0.0 : tilt, q % 2 ? tilt : 0.0);
    z->row = 0;
}

/* All surfaces of a trial are found: it is the new base, or the step was too long. */
static void judge_lane(fused_state *state, fused_joint *z, bool found) {
    fused_vary *v = &z->vary;
    const double J = found ? add_rows(state, z, false) : FF_INF, gain = v->J - J;
    if (gain > 0.0) {
        v->J = J;
        memcpy(v->base, v->at[0], sizeof v->base);
        v->lambda = fmax(1e-6, 0.1 * v->lambda);
        if (gain < 0.02 * J || J < 1e-3 * joint_rows(z))
            end_vary(z);
        else
            next_lane(z);
        return;
    }
    v->lambda *= 8.0;
    if (!(v->J < FF_INF) || !step_normals(z))
        end_vary(z);
}

/* One surface of one lane, or what follows from all of them. */
void ff__fused_vary_on(const fused_model *model, fused_state *state, fused_joint *z, int *work) {
    fused_vary *v = &z->vary;
    const int rows = (int)(z->to - z->from);
    bool found = true;
    if ((int)z->row < z->count) {
        *work -= 300 + 17 * rows;
        found = ff__fused_find_surface(model, state, z, v->at[v->lane], (int)z->row++, work);
        if (found && (int)z->row < z->count)
            return;
    }
    if (v->lane == 0) {
        *work -= (int)joint_rows(z) * 10 * z->count;
        judge_lane(state, z, found);
    } else if (!found)
        end_vary(z);
    else if (v->lane < 2 * z->count)
        next_lane(z);
    else {
        *work -= (int)joint_rows(z) * 10 * z->count * (1 + 2 * z->count);
        memcpy(v->at[0], v->base, sizeof v->at[0]);
        add_rows(state, z, true);
        if (!step_normals(z))
            end_vary(z);
    }
}
