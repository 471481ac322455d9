/* Kinematics, mass matrix, bias, inverse and forward dynamics of the floating-base tree.
 *
 * Recursions of [featherstone2008]: RNEA chapter 5, CRBA chapter 6, ABA chapter 7, floating base chapter 9.
 * Departure: all in base coordinates instead of link coordinates, see tree_layout.h; the numbers lose about
 * (reach / link size)^2 in the last digits, which is 1e-13 for an arm of 2 m. */
#include "dynamics/tree_layout.h"

/* Loop over a row of six and its padding. */
#define FOR_ROW(c) WHOLE for (int c = 0; c < ROW; c++)
#define GATHER6(x, array, l)                                          \
    const double x[6] = {(array)[0][l], (array)[1][l], (array)[2][l], \
                         (array)[3][l], (array)[4][l], (array)[5][l]}
#define GATHER10(x, array, l)                                                                        \
    const double x[10] = {(array)[0][l], (array)[1][l], (array)[2][l], (array)[3][l], (array)[4][l], \
                          (array)[5][l], (array)[6][l], (array)[7][l], (array)[8][l], (array)[9][l]}

/* ----------------------------------------------------------------------------------------- positions -- */

/* Pose of each link in its parent's frame: R0 Rz(q), p0 + z0 shift. */
INLINE void joint_transforms(const tree_constants *restrict k, tree_bodies *restrict b, const lanes c,
                             const lanes s, const lanes shift) {
    FOR_LANES {
        const double x0 = k->R0[0][l], x1 = k->R0[3][l], x2 = k->R0[6][l];
        const double y0 = k->R0[1][l], y1 = k->R0[4][l], y2 = k->R0[7][l];
        const double z0 = k->R0[2][l], z1 = k->R0[5][l], z2 = k->R0[8][l];
        b->t[0][l] = c[l] * x0 + s[l] * y0;
        b->t[1][l] = c[l] * y0 - s[l] * x0;
        b->t[2][l] = z0;
        b->t[3][l] = c[l] * x1 + s[l] * y1;
        b->t[4][l] = c[l] * y1 - s[l] * x1;
        b->t[5][l] = z1;
        b->t[6][l] = c[l] * x2 + s[l] * y2;
        b->t[7][l] = c[l] * y2 - s[l] * x2;
        b->t[8][l] = z2;
        b->t[9][l] = k->p0[0][l] + z0 * shift[l];
        b->t[10][l] = k->p0[1][l] + z1 * shift[l];
        b->t[11][l] = k->p0[2][l] + z2 * shift[l];
    }
}

/* Poses along the tree: R_i = R_p R, p_i = p_p + R_p p. */
INLINE void chain_poses(const ff_tree_model *model, ff_tree_work *work) {
    for (size_t i = 1; i < model->bodies; i++) {
        double *restrict b = lane_of(model, work, i);
        if (model->parent[i] == 0) {
            for (int k = 0; k < 9; k++)
                b[AT(R, k)] = b[AT(t, k)];
            for (int k = 0; k < 3; k++)
                b[AT(p, k)] = b[AT(t, 9 + k)];
            continue;
        }
        const double *restrict a = lane_of(model, work, model->parent[i]);
        double m[12];
        for (int k = 0; k < 12; k++)
            m[k] = b[AT(t, k)];
        for (int r = 0; r < 3; r++) {
            const double x = a[AT(R, 3 * r)], y = a[AT(R, 3 * r + 1)], z = a[AT(R, 3 * r + 2)];
            b[AT(R, 3 * r)] = x * m[0] + y * m[3] + z * m[6];
            b[AT(R, 3 * r + 1)] = x * m[1] + y * m[4] + z * m[7];
            b[AT(R, 3 * r + 2)] = x * m[2] + y * m[5] + z * m[8];
            b[AT(p, r)] = a[AT(p, r)] + (x * m[9] + y * m[10] + z * m[11]);
        }
    }
}

/* Joint axes in base coordinates; revolute: [z; p x z], prismatic: [0; z]. */
INLINE void joint_axes(const tree_constants *restrict k, tree_bodies *restrict b) {
    FOR_LANES {
        const double zx = b->R[2][l], zy = b->R[5][l], zz = b->R[8][l];
        const double px = b->p[0][l], py = b->p[1][l], pz = b->p[2][l];
        const double revolute = k->revolute[l], prismatic = k->prismatic[l];
        b->s[0][l] = revolute * zx;
        b->s[1][l] = revolute * zy;
        b->s[2][l] = revolute * zz;
        b->s[3][l] = revolute * (py * zz - pz * zy) + prismatic * zx;
        b->s[4][l] = revolute * (pz * zx - px * zz) + prismatic * zy;
        b->s[5][l] = revolute * (px * zy - py * zx) + prismatic * zz;
    }
}

INLINE void positions_body(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work,
                           ff_vec3 gravity) {
    work->base = state->base;
    work->R_base = ff_quat_to_mat3(state->base.q);
    const ff_vec3 g = ff_mat3_apply_transpose(&work->R_base, gravity);
    for (int k = 0; k < 3; k++)
        work->gravity[k] = g.a[k];
    /* All of them before the first vector is read: what was just written one by one cannot be read as a
     * whole. */
    ALIGNED(32) lanes c[BLOCKS_MAX], s[BLOCKS_MAX], shift[BLOCKS_MAX];
    memset(&c[model->blocks - 1], 0, sizeof *c);
    memset(&s[model->blocks - 1], 0, sizeof *s);
    memset(&shift[model->blocks - 1], 0, sizeof *shift);
    c[0][0] = s[0][0] = shift[0][0] = 0.0; /* the base */
    for (size_t body = 1; body < model->bodies; body++) {
        const tree_constants *k = &model->block[body / LANES];
        const size_t n = body / LANES, l = body % LANES;
        const double q = state->q[body - 1], angle = k->revolute[l] * q;
        c[n][l] = cos(angle);
        s[n][l] = sin(angle);
        shift[n][l] = k->prismatic[l] * q;
    }
    for (size_t n = 0; n < model->blocks; n++)
        joint_transforms(&model->block[n], &work->block[n], c[n], s[n], shift[n]);
    chain_poses(model, work);
    for (size_t n = 0; n < model->blocks; n++)
        joint_axes(&model->block[n], &work->block[n]);
    work->weighed = false;
}
TWO_WIDTHS(positions,
           (const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work, ff_vec3 gravity),
           (model, state, work, gravity))

/* ---------------------------------------------------------------------------------------- velocities -- */

INLINE void velocities_body(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work) {
    double *base = lane_of(model, work, 0);
    for (int k = 0; k < 3; k++) {
        base[AT(v, k)] = state->twist.w.a[k];
        base[AT(v, 3 + k)] = state->twist.v.a[k];
    }
    /* v_i = v_p + s q' */
    for (size_t i = 1; i < model->bodies; i++) {
        double *restrict b = lane_of(model, work, i);
        const double *restrict a = lane_of(model, work, model->parent[i]);
        const double qd = state->qd[i - 1];
        for (int k = 0; k < 6; k++)
            b[AT(v, k)] = a[AT(v, k)] + b[AT(s, k)] * qd;
        b[AT(qd, 0)] = qd;
    }
    /* c_i = c_p + v_i x s q': the axis is carried along by its link. */
    for (size_t n = 0; n < model->blocks; n++) {
        tree_bodies *restrict b = &work->block[n];
        FOR_LANES {
            const double qd = b->qd[l];
            GATHER6(u, b->v, l);
            const double s[6] = {b->s[0][l] * qd, b->s[1][l] * qd, b->s[2][l] * qd,
                                 b->s[3][l] * qd, b->s[4][l] * qd, b->s[5][l] * qd};
            double c[6];
            cross_motion(u, s, c);
            for (int k = 0; k < 6; k++)
                b->c[k][l] = c[k];
        }
    }
    for (size_t i = 1; i < model->bodies; i++) {
        double *restrict b = lane_of(model, work, i);
        const double *restrict a = lane_of(model, work, model->parent[i]);
        for (int k = 0; k < 6; k++)
            b[AT(c, k)] += a[AT(c, k)];
    }
}
TWO_WIDTHS(velocities, (const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work),
           (model, state, work))

void ff_tree_kinematics(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work,
                        ff_vec3 gravity) {
    ff_tree_positions(model, state, work, gravity);
    ff_tree_velocities(model, state, work);
}

/* --------------------------------------------------------------------------------------- mass matrix -- */

/* A += the 6 x 6 matrix of a spatial inertia given by its lane; row-major with `width` columns. */
INLINE void add_inertia(const double *I, double *A, size_t width) {
    const double xx = I[LANES * XX], yy = I[LANES * YY], zz = I[LANES * ZZ];
    const double xy = I[LANES * XY], xz = I[LANES * XZ], yz = I[LANES * YZ];
    const double hx = I[LANES * HX], hy = I[LANES * HY], hz = I[LANES * HZ], m = I[LANES * MASS];
    A[0] += xx, A[1] += xy, A[2] += xz, A[4] -= hz, A[5] += hy;
    A += width;
    A[0] += xy, A[1] += yy, A[2] += yz, A[3] += hz, A[5] -= hx;
    A += width;
    A[0] += xz, A[1] += yz, A[2] += zz, A[3] -= hy, A[4] += hx;
    A += width;
    A[1] += hz, A[2] -= hy, A[3] += m;
    A += width;
    A[0] -= hz, A[2] += hx, A[4] += m;
    A += width;
    A[0] += hy, A[1] -= hx, A[5] += m;
}

/* [featherstone2008, chapters 6 and 9] H_ij = s_j . F_i for ancestors j of i, F_i = Ic_i s_i. In base
 * coordinates F_i is itself the coupling M_bq of joint i, and the composite inertia of the base is M_b. */
INLINE void mass_matrix_body(const ff_tree_model *model, ff_tree_work *work, double *M) {
    const size_t first = model->fixed_base ? 0 : 6, dof = model->joints + first;
    composite_inertias(model, work);
    for (size_t n = 0; n < model->blocks; n++) {
        tree_bodies *restrict b = &work->block[n];
        FOR_LANES {
            GATHER10(I, b->Ic, l);
            GATHER6(s, b->s, l);
            double y[6];
            inertia_apply(I, s, y);
            for (int k = 0; k < 6; k++)
                b->F[k][l] = y[k];
        }
    }
    memset(M, 0, dof * dof * sizeof *M);
    for (size_t i = 1; i < model->bodies; i++) {
        const double *b = lane_read(model, work, i);
        const double f0 = b[AT(F, 0)], f1 = b[AT(F, 1)], f2 = b[AT(F, 2)];
        const double f3 = b[AT(F, 3)], f4 = b[AT(F, 4)], f5 = b[AT(F, 5)];
        double *row = &M[(first + i - 1) * dof], *column = &M[first + i - 1];
        for (size_t j = i; j > 0; j = model->parent[j]) {
            const double *a = lane_read(model, work, j);
            const double h = (f0 * a[AT(s, 0)] + f1 * a[AT(s, 1)] + f2 * a[AT(s, 2)]) +
                             (f3 * a[AT(s, 3)] + f4 * a[AT(s, 4)] + f5 * a[AT(s, 5)]);
            row[first + j - 1] = h;
            column[(first + j - 1) * dof] = h;
        }
        row[first + i - 1] += model->block[i / LANES].rotor[i % LANES];
        if (first) {
            row[0] = f0, row[1] = f1, row[2] = f2, row[3] = f3, row[4] = f4, row[5] = f5;
            column[0] = f0, column[dof] = f1, column[2 * dof] = f2;
            column[3 * dof] = f3, column[4 * dof] = f4, column[5 * dof] = f5;
        }
    }
    if (first)
        add_inertia(lane_read(model, work, 0) + AT(Ic, 0), M, dof);
}
TWO_WIDTHS(mass_matrix, (const ff_tree_model *model, ff_tree_work *work, double *M), (model, work, M))

/* -------------------------------------------------------------------------------------------- forces -- */

/* f_i = I c + v x* I v, the force that a body takes when V_b' = 0 and q'' = 0; gravity enters as an upward
 * acceleration of the whole tree. */
INLINE void bias_forces(const ff_tree_model *model, ff_tree_work *work) {
    weigh(model, work);
    const double gx = work->gravity[0], gy = work->gravity[1], gz = work->gravity[2];
    for (size_t n = 0; n < model->blocks; n++) {
        tree_bodies *restrict b = &work->block[n];
        FOR_LANES {
            GATHER10(I, b->I, l);
            GATHER6(v, b->v, l);
            const double a[6] = {b->c[0][l],      b->c[1][l],      b->c[2][l],
                                 b->c[3][l] - gx, b->c[4][l] - gy, b->c[5][l] - gz};
            double y[6], force[6], gyro[6];
            inertia_apply(I, v, y);
            inertia_apply(I, a, force);
            cross_force(v, y, gyro);
            for (int k = 0; k < 6; k++)
                b->f[k][l] = force[k] + gyro[k];
        }
    }
}

/* Wrenches on links, in link coordinates: less for the joints to carry. */
INLINE void subtract_external(const ff_tree_model *model, ff_tree_work *work, const ff_wrench *external) {
    for (size_t r = 0; r < model->rows; r++) {
        const tree_row *row = &model->row[r];
        const ff_wrench x = ff_wrench_transform(row->T_body, external[r]);
        double *b = lane_of(model, work, (size_t)row->body);
        ff_mat3 R;
        for (int k = 0; k < 9; k++)
            R.m[k / 3][k % 3] = b[AT(R, k)];
        const ff_vec3 p = {{b[AT(p, 0)], b[AT(p, 1)], b[AT(p, 2)]}};
        const ff_vec3 f = ff_mat3_apply(&R, x.f);
        const ff_vec3 t = ff_vec3_add(ff_mat3_apply(&R, x.t), ff_vec3_cross(p, f));
        for (int k = 0; k < 3; k++) {
            b[AT(f, k)] -= t.a[k];
            b[AT(f, 3 + k)] -= f.a[k];
        }
    }
}

/* Sums forces towards the base; joint i carries torque[i] = s . f. */
INLINE void project_forces(const ff_tree_model *model, ff_tree_work *work, double *torque) {
    for (size_t i = model->bodies - 1; i > 0; i--) {
        const double *restrict b = lane_of(model, work, i);
        double *restrict a = lane_of(model, work, model->parent[i]);
        torque[i - 1] = (b[AT(s, 0)] * b[AT(f, 0)] + b[AT(s, 1)] * b[AT(f, 1)] + b[AT(s, 2)] * b[AT(f, 2)]) +
                        (b[AT(s, 3)] * b[AT(f, 3)] + b[AT(s, 4)] * b[AT(f, 4)] + b[AT(s, 5)] * b[AT(f, 5)]);
        for (int k = 0; k < 6; k++)
            a[AT(f, k)] += b[AT(f, k)];
    }
}

INLINE void bias_body(const ff_tree_model *model, ff_tree_work *work, double *bias) {
    const size_t first = model->fixed_base ? 0 : 6;
    bias_forces(model, work);
    project_forces(model, work, bias + first);
    for (size_t k = 0; k < first; k++)
        bias[k] = lane_read(model, work, 0)[AT(f, k)];
}
TWO_WIDTHS(bias, (const ff_tree_model *model, ff_tree_work *work, double *bias), (model, work, bias))

INLINE void inverse_dynamics_body(const ff_tree_model *model, ff_tree_work *work,
                                  const ff_tree_acceleration *acceleration, const ff_wrench *external,
                                  ff_tree_force *force) {
    bias_forces(model, work);
    if (external)
        subtract_external(model, work, external);
    /* f_i += I_i a_i with a_i = a_p + s q''; F holds a. */
    double *base = lane_of(model, work, 0);
    for (int k = 0; k < 3; k++) {
        base[AT(F, k)] = acceleration->base.w.a[k];
        base[AT(F, 3 + k)] = acceleration->base.v.a[k];
    }
    for (size_t i = 1; i < model->bodies; i++) {
        double *restrict b = lane_of(model, work, i);
        const double *restrict a = lane_of(model, work, model->parent[i]);
        for (int k = 0; k < 6; k++)
            b[AT(F, k)] = a[AT(F, k)] + b[AT(s, k)] * acceleration->qdd[i - 1];
    }
    for (size_t n = 0; n < model->blocks; n++) {
        tree_bodies *restrict b = &work->block[n];
        FOR_LANES {
            GATHER10(I, b->I, l);
            GATHER6(a, b->F, l);
            double y[6];
            inertia_apply(I, a, y);
            for (int k = 0; k < 6; k++)
                b->f[k][l] += y[k];
        }
    }
    project_forces(model, work, force->torque);
    for (size_t i = 1; i < model->bodies; i++)
        force->torque[i - 1] += model->block[i / LANES].rotor[i % LANES] * acceleration->qdd[i - 1];
    for (int k = 0; k < 3; k++) {
        force->base.t.a[k] = base[AT(f, k)];
        force->base.f.a[k] = base[AT(f, 3 + k)];
    }
}
TWO_WIDTHS(inverse_dynamics,
           (const ff_tree_model *model, ff_tree_work *work, const ff_tree_acceleration *acceleration,
            const ff_wrench *external, ff_tree_force *force),
           (model, work, acceleration, external, force))

/* ---------------------------------------------------------------------------------- forward dynamics -- */

/* x = A^-1 x by A = L D L^T. Returns false when a pivot is not positive. */
INLINE bool solve6(tree_vector *from, double *x) {
    double A[6][6], inverse[6];
    UNROLLED for (int i = 0; i < 6; i++) {
        UNROLLED for (int k = 0; k <= i; k++) A[i][k] = from[i][k];
    }
    UNROLLED for (int j = 0; j < 6; j++) {
        if (!(A[j][j] > 0.0))
            return false;
        inverse[j] = 1.0 / A[j][j];
        UNROLLED for (int i = j + 1; i < 6; i++) {
            const double factor = A[i][j] * inverse[j];
            UNROLLED for (int k = j + 1; k <= i; k++) A[i][k] -= factor * A[k][j];
            x[i] -= factor * x[j];
        }
    }
    UNROLLED for (int j = 5; j >= 0; j--) {
        double y = x[j];
        UNROLLED for (int i = j + 1; i < 6; i++) y -= A[i][j] * x[i];
        x[j] = y * inverse[j];
    }
    return true;
}

/* What a body without others on it carries. */
static const ALIGNED(32) tree_vector nothing[7];

/* A body's own inertia and force as rows, written well before they are read: what was just written one by
 * one cannot be read as a whole. No -0 among them: sums that begin with them begin like those from 0. */
INLINE void articulated_own(const double *restrict b, tree_articulated *restrict t) {
    const double *I = b + AT(I, 0);
    const double xx = I[LANES * XX] + 0.0, yy = I[LANES * YY] + 0.0, zz = I[LANES * ZZ] + 0.0;
    const double xy = I[LANES * XY] + 0.0, xz = I[LANES * XZ] + 0.0, yz = I[LANES * YZ] + 0.0;
    const double hx = I[LANES * HX] + 0.0, hy = I[LANES * HY] + 0.0, hz = I[LANES * HZ] + 0.0;
    const double less_hx = 0.0 - hx, less_hy = 0.0 - hy, less_hz = 0.0 - hz, m = I[LANES * MASS];
    double *A = t->I[0];
    A[0] = xx, A[1] = xy, A[2] = xz, A[3] = 0.0, A[4] = less_hz, A[5] = hy;
    A += ROW;
    A[0] = xy, A[1] = yy, A[2] = yz, A[3] = hz, A[4] = 0.0, A[5] = less_hx;
    A += ROW;
    A[0] = xz, A[1] = yz, A[2] = zz, A[3] = less_hy, A[4] = hx, A[5] = 0.0;
    A += ROW;
    A[0] = 0.0, A[1] = hz, A[2] = less_hy, A[3] = m, A[4] = 0.0, A[5] = 0.0;
    A += ROW;
    A[0] = less_hz, A[1] = 0.0, A[2] = hx, A[3] = 0.0, A[4] = m, A[5] = 0.0;
    A += ROW;
    A[0] = hy, A[1] = less_hx, A[2] = 0.0, A[3] = 0.0, A[4] = 0.0, A[5] = m;
    for (int k = 0; k < 6; k++)
        t->f[k] = b[AT(f, k)] + 0.0;
}

/* What a body with inertia IA, its joint free, adds to the body that carries it: IA - U U^T/D and pA + U u/D.
 * `first`: nothing stands there yet. */
INLINE void articulated_add(const tree_articulated *restrict t, tree_vector *restrict IA,
                            const double *restrict pA, tree_articulated *restrict up, bool first) {
    const double *restrict U = t->U;
    const double push = t->inverse_D * t->u;
    double factor[6];
    for (int r = 0; r < 6; r++)
        factor[r] = U[r] * t->inverse_D;
    FOR_ROW(c) {
        for (int r = 0; r < 6; r++) {
            const double x = IA[r][c] - factor[r] * U[c];
            up->IA[r][c] = first ? x : up->IA[r][c] + x;
        }
        const double y = pA[c] + U[c] * push;
        up->pA[c] = first ? y : up->pA[c] + y;
    }
}

/* [featherstone2008, chapters 7 and 9]. Departure: the velocity products of every body are known before
 * (bias_forces), so the accelerations here are those beyond c, and the terms with c drop out of pA. */
INLINE ff_status forward_dynamics(const ff_tree_model *model, ff_tree_work *work, const ff_tree_force *force,
                                  const ff_wrench *external, ff_tree_acceleration *acceleration) {
    bias_forces(model, work);
    if (external)
        subtract_external(model, work, external);
    enum { AHEAD = 2 };
    for (size_t i = model->bodies; i > 0 && i + AHEAD > model->bodies; i--)
        articulated_own(lane_read(model, work, i - 1), &work->articulated[i - 1]);
    bool carries[BODIES_MAX] = {false}; /* IA and pA hold what stands on the body */
    bool regular = true;
    for (size_t i = model->bodies - 1; i > 0; i--) {
        const double *restrict b = lane_of(model, work, i);
        tree_articulated *restrict t = &work->articulated[i];
        const double *on = carries[i] ? t->IA[0] : nothing[0];
        const double *push = carries[i] ? t->pA : nothing[6];
        if (i >= AHEAD)
            articulated_own(lane_read(model, work, i - AHEAD), &work->articulated[i - AHEAD]);
        ALIGNED(32) tree_vector IA[6], pA;
        double s[6];
        for (int k = 0; k < 6; k++)
            s[k] = b[AT(s, k)];
        FOR_ROW(k) {
            for (int r = 0; r < 6; r++)
                IA[r][k] = on[ROW * r + k] + t->I[r][k];
            pA[k] = push[k] + t->f[k];
            t->U[k] = (IA[0][k] * s[0] + IA[1][k] * s[1] + IA[2][k] * s[2]) +
                      (IA[3][k] * s[3] + IA[4][k] * s[4] + IA[5][k] * s[5]);
        }
        const double *U = t->U;
        const double D = (s[0] * U[0] + s[1] * U[1] + s[2] * U[2]) +
                         (s[3] * U[3] + s[4] * U[4] + s[5] * U[5]) + model->block[i / LANES].rotor[i % LANES];
        t->u = force->torque[i - 1] - (s[0] * pA[0] + s[1] * pA[1] + s[2] * pA[2]) -
               (s[3] * pA[3] + s[4] * pA[4] + s[5] * pA[5]);
        t->inverse_D = 1.0 / D;
        regular &= D > 0.0;
        const size_t parent = model->parent[i];
        if (carries[parent])
            articulated_add(t, IA, pA, &work->articulated[parent], false);
        else
            articulated_add(t, IA, pA, &work->articulated[parent], true);
        carries[parent] = true;
    }
    if (!regular)
        return FF_ERR_SINGULAR;

    tree_articulated *base = &work->articulated[0];
    if (!carries[0])
        memset(base, 0, offsetof(tree_articulated, I));
    if (model->fixed_base) {
        for (int k = 0; k < 3; k++) {
            base->a[k] = acceleration->base.w.a[k];
            base->a[3 + k] = acceleration->base.v.a[k];
        }
    } else {
        const double *b = lane_read(model, work, 0);
        for (int k = 0; k < 3; k++) {
            base->a[k] = force->base.t.a[k] - (0.0 + base->pA[k]) - b[AT(f, k)];
            base->a[3 + k] = force->base.f.a[k] - (0.0 + base->pA[3 + k]) - b[AT(f, 3 + k)];
        }
        for (int r = 0; r < 6; r++)
            for (int k = 0; k < 6; k++)
                base->IA[r][k] += base->I[r][k];
        if (!solve6(base->IA, base->a))
            return FF_ERR_SINGULAR;
        for (int k = 0; k < 3; k++) {
            acceleration->base.w.a[k] = base->a[k];
            acceleration->base.v.a[k] = base->a[3 + k];
        }
    }

    double a[6];
    memcpy(a, base->a, sizeof a);
    for (size_t i = 1; i < model->bodies; i++) {
        const double *restrict b = lane_of(model, work, i);
        tree_articulated *restrict t = &work->articulated[i];
        if (model->parent[i] != i - 1) /* else they are at hand */
            memcpy(a, work->articulated[model->parent[i]].a, sizeof a);
        const double qdd = (t->u - (t->U[0] * a[0] + t->U[1] * a[1] + t->U[2] * a[2]) -
                            (t->U[3] * a[3] + t->U[4] * a[4] + t->U[5] * a[5])) *
                           t->inverse_D;
        for (int k = 0; k < 6; k++)
            t->a[k] = a[k] = a[k] + b[AT(s, k)] * qdd;
        acceleration->qdd[i - 1] = qdd;
    }
    return FF_OK;
}

WIDE ff_status forward_dynamics_wide(const ff_tree_model *model, ff_tree_work *work,
                                     const ff_tree_force *force, const ff_wrench *external,
                                     ff_tree_acceleration *acceleration) {
    return forward_dynamics(model, work, force, external, acceleration);
}

ff_status ff_tree_forward_dynamics(const ff_tree_model *model, ff_tree_work *work, const ff_tree_force *force,
                                   const ff_wrench *external, ff_tree_acceleration *acceleration) {
    return model->wide ? forward_dynamics_wide(model, work, force, external, acceleration)
                       : forward_dynamics(model, work, force, external, acceleration);
}
