/* fused: contacts of one body at one time: normals, points and surfaces of all refined together, by Levenberg
 * and Marquardt's method on force and torque (docs/methods/fused.md, 9). */
#include "fidelity/fused/several.h"

#include <string.h>

enum {
    PER = 8,          /* parameters of a contact: tilt 2, surface, stiffness, damping, point 3 */
    PER_COMMON = 5,   /* at a point that is known */
    TRIALS = 24,      /* of a start */
    TRIALS_NEAR = 60, /* of one that comes near */
    ROUNDS = 1        /* of a start */
};
static const double damping_unit = 0.01; /* [s] of stiffness */

/* Parameters of a contact that are sought. */
static int per(const fused_joint *z) {
    return z->common ? PER_COMMON : PER;
}

/* What parameter q of a contact changes: of the normal, the point, the force. */
static void slope_of(const fused_point *q, const joint_act *y, const ff_rigid_state *x, const ff_vec3 *e,
                     int which, ff_vec3 *dF, ff_vec3 *dM) {
    double df = 0.0;
    *dF = *dM = ff_vec3_zero();
    if (which < 2) {
        df = -q->k * ff_vec3_dot(e[which], y->d) - q->c * ff_vec3_dot(e[which], y->u);
        *dF = ff_vec3_scale(y->f, e[which]);
        *dM = ff_vec3_scale(y->f, ff_vec3_cross(q->r, ff_quat_unrotate(x->attitude, e[which])));
    } else if (which >= PER_COMMON) {
        ff_vec3 unit = ff_vec3_zero();
        unit.a[which - PER_COMMON] = 1.0;
        df = -q->k * y->a.a[which - PER_COMMON] - q->c * ff_vec3_cross(y->a, x->omega).a[which - PER_COMMON];
        *dM = ff_vec3_scale(y->f, ff_vec3_cross(unit, y->a));
    } else
        df = which == 2 ? -q->k : which == 3 ? q->k * y->p : damping_unit * q->k * y->v;
    *dF = ff_vec3_axpy(df, q->n, *dF);
    *dM = ff_vec3_axpy(df, y->arm, *dM);
}

/* Adds row i to the sums. */
void ff__fused_add_row(fused_state *state, const fused_joint *z, fused_system *s, uint64_t i) {
    const joint_row row = joint_row_of(state, z, i);
    const int each = per(z), all = each * z->count;
    joint_act act[FUSED_JOINT];
    int on[FUSED_JOINT], n = 0;
    ff_vec3 F = row.F, M = row.M;
    for (int j = 0; j < z->count; j++) {
        act[j] = joint_act_of(&s->at[j], &row.x);
        if (!(act[j].f > 0.0))
            continue;
        on[n++] = j;
        F = ff_vec3_axpy(-act[j].f, s->at[j].n, F);
        M = ff_vec3_axpy(-act[j].f, act[j].arm, M);
    }
    double left[6], g[FUSED_JOINT_ALL][6];
    for (int c = 0; c < 3; c++) {
        left[c] = F.a[c] / z->unit;
        left[3 + c] = M.a[c] / z->unit_t;
    }
    s->J += joint_dot(left, left);
    s->J_force += left[0] * left[0] + left[1] * left[1] + left[2] * left[2];
    if (z->probing)
        return;
    for (int m = 0; m < n; m++) {
        ff_vec3 e[2], dF, dM;
        joint_tangents(s->at[on[m]].n, e);
        for (int q = 0; q < each; q++) {
            slope_of(&s->at[on[m]], &act[on[m]], &row.x, e, q, &dF, &dM);
            for (int c = 0; c < 3; c++) {
                g[each * m + q][c] = dF.a[c] / z->unit;
                g[each * m + q][3 + c] = dM.a[c] / z->unit_t;
            }
        }
    }
    for (int m = 0; m < each * n; m++) {
        const int to = each * on[m / each] + m % each;
        s->b[to] += joint_dot(g[m], left);
        for (int o = 0; o <= m / each; o++) {
            double *a = &s->A[to * all + each * on[o]];
            const int last = o < m / each ? each - 1 : m % each;
            for (int q = 0; q <= last; q++)
                a[q] += joint_dot(g[m], g[each * o + q]);
        }
    }
}

/* The points after one step of Levenberg and Marquardt. */
static bool step_points(const fused_joint *z, const fused_system *s, fused_point *to) {
    const int each = per(z), all = each * z->count;
    double A[FUSED_JOINT_ALL * FUSED_JOINT_ALL], b[FUSED_JOINT_ALL];
    /* a point along its normal, or a contact that acts in no row, is held by a weak prior: 1 m, 1 rad, all of
     * k */
    for (int i = 0; i < all; i++) {
        b[i] = s->b[i];
        for (int j = 0; j <= i; j++)
            A[i * all + j] = A[j * all + i] = s->A[i * all + j];
        A[i * all + i] = (1.0 + z->lambda) * A[i * all + i] + 1.0;
    }
    if (ff_cholesky_factor((size_t)all, A) != FF_OK)
        return false;
    ff_cholesky_solve((size_t)all, A, b);
    for (int j = 0; j < z->count; j++) {
        const double *x = &b[each * j];
        fused_point *q = &to[j];
        *q = s->at[j];
        q->n = joint_tilted(q->n, x[0], x[1]);
        if (!z->common)
            q->r = ff_vec3_add(q->r, ff_vec3_make(x[5], x[6], x[7]));
        q->x0 += x[2];
        q->c = fmax(0.0, q->c + damping_unit * q->k * x[4]);
        q->k *= exp(fmax(-1.0, fmin(1.0, x[3])));
        if (!ff_vec3_finite(q->r) || !isfinite(q->x0 + q->k + q->c) || !(ff_vec3_norm(q->r) < arm_longest))
            return false;
    }
    return true;
}

void ff__fused_begin_build(fused_joint *z, fused_system *s) {
    z->stage = BUILD;
    z->row = z->from;
    s->J = s->J_force = 0.0;
    memset(s->A, 0, sizeof s->A);
    memset(s->b, 0, sizeof s->b);
}

/* The end of a start: the best so far is kept, and the others tried where it does not explain the wrench. */
static void end_start(const fused_config *config, fused_joint *z) {
    if (z->now.J < z->J_best) {
        z->J_best = z->now.J;
        z->J_force = z->now.J_force;
        memcpy(z->best, z->now.at, sizeof z->best);
    }
    /* an onset lies between two rows, on the wrong side of one for a method that follows slopes: all are
     * sought again with the normals as they are now */
    if (z->common && !joint_exact(config, z) && z->rounds < ROUNDS &&
        z->now.J < square(0.2 * z->peak / z->unit) * joint_rows(z)) {
        z->rounds++;
        ff__fused_begin_vary(z);
        return;
    }
    z->rounds = 0;
    if (joint_exact(config, z))
        z->stage = WRITE;
    else
        ff__fused_next_start(z);
}

/* The next trial, or the end of the start. */
static void next_trial(const fused_config *config, fused_joint *z) {
    const double near = joint_rows(z) * (3.0 * joint_expected(config, z) + 30.0);
    while (z->trials < (z->now.J < near ? TRIALS_NEAR : TRIALS) && z->lambda < 1e8) {
        z->trials++;
        if (step_points(z, &z->now, z->trial.at)) {
            ff__fused_begin_build(z, &z->trial);
            return;
        }
        z->lambda *= 8.0;
    }
    end_start(config, z);
}

/* The sums at the first points of a start, or at a trial, are complete. */
void ff__fused_judge_trial(const fused_config *config, fused_joint *z) {
    if (z->probing) {
        ff__fused_judge_probe(z, z->now.J);
        z->stage = START;
        return;
    }
    if (z->trials == 0) {
        z->lambda = 1e-2;
        next_trial(config, z);
        return;
    }
    const double gain = z->now.J - z->trial.J;
    if (gain > 0.0)
        z->now = z->trial;
    z->lambda = gain > 0.0 ? fmax(1e-9, 0.1 * z->lambda) : 8.0 * z->lambda;
    if ((gain >= 0.0 && gain < 1e-3 * z->now.J && z->lambda < 1.0) || z->now.J < 1e-6 * joint_rows(z))
        end_start(config, z);
    else
        next_trial(config, z);
}
