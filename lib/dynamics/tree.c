/* Kinematics, mass matrix, bias, inverse and forward dynamics of the floating-base tree.
 *
 * Recursions of [featherstone2008]: RNEA chapter 5, CRBA chapter 6, ABA chapter 7, floating base chapter 9.
 * Departure: all in base coordinates instead of link coordinates, see tree_layout.h; the numbers lose about
 * (reach / link size)^2 in the last digits, which is 1e-13 for an arm of 2 m. */
#include "dynamics/tree_layout.h"

/* Loop over the four links of a block; the bodies are straight-line code that a compiler can vectorise. */
#define FOR_LANES(l) for (int l = 0; l < LANES; l++)
#define GATHER6(x, array, l)                                          \
    const double x[6] = {(array)[0][l], (array)[1][l], (array)[2][l], \
                         (array)[3][l], (array)[4][l], (array)[5][l]}
#define GATHER10(x, array, l)                                                                        \
    const double x[10] = {(array)[0][l], (array)[1][l], (array)[2][l], (array)[3][l], (array)[4][l], \
                          (array)[5][l], (array)[6][l], (array)[7][l], (array)[8][l], (array)[9][l]}

/* ----------------------------------------------------------------------------------------------- positions
 * -- */

/* Rotation R0 Rz(q) of each joint, and the shift along z of a prismatic one. */
static void joint_transforms(const tree_constants *restrict k, tree_links *restrict b, const double *q,
                             size_t count) {
    lanes c = {0}, s = {0}, shift = {0};
    for (size_t l = 0; l < count && l < LANES; l++) {
        const double angle = k->revolute[l] * q[l];
        c[l] = cos(angle);
        s[l] = sin(angle);
        shift[l] = k->prismatic[l] * q[l];
    }
    FOR_LANES(l) {
        for (int r = 0; r < 3; r++) {
            const double x = k->R0[3 * r][l], y = k->R0[3 * r + 1][l];
            b->t[3 * r][l] = c[l] * x + s[l] * y;
            b->t[3 * r + 1][l] = c[l] * y - s[l] * x;
            b->t[3 * r + 2][l] = k->R0[3 * r + 2][l];
        }
        b->t[9][l] = shift[l];
    }
}

/* Poses along the tree: R_i = R_p (R0 Rz), p_i = p_p + R_p p0 + z_i shift. */
static void chain_poses(const ff_tree_model *model, ff_tree_work *work) {
    for (size_t i = 0; i < model->joints; i++) {
        const tree_constants *k = &model->block[i / LANES];
        tree_links *b = &work->block[i / LANES];
        const size_t l = i % LANES;
        const int parent = model->parent[i];
        double m[9];
        for (int e = 0; e < 9; e++)
            m[e] = b->t[e][l];
        const double x = k->p0[0][l], y = k->p0[1][l], z = k->p0[2][l], shift = b->t[9][l];
        if (parent < 0) {
            for (int e = 0; e < 9; e++)
                b->R[e][l] = m[e];
            b->p[0][l] = x + m[2] * shift;
            b->p[1][l] = y + m[5] * shift;
            b->p[2][l] = z + m[8] * shift;
            continue;
        }
        const tree_links *a = &work->block[parent / LANES];
        const int j = parent % LANES;
        for (int r = 0; r < 3; r++) {
            const double r0 = a->R[3 * r][j], r1 = a->R[3 * r + 1][j], r2 = a->R[3 * r + 2][j];
            const double axis = r0 * m[2] + r1 * m[5] + r2 * m[8];
            b->R[3 * r][l] = r0 * m[0] + r1 * m[3] + r2 * m[6];
            b->R[3 * r + 1][l] = r0 * m[1] + r1 * m[4] + r2 * m[7];
            b->R[3 * r + 2][l] = axis;
            b->p[r][l] = a->p[r][j] + r0 * x + r1 * y + r2 * z + axis * shift;
        }
    }
}

/* Joint axes and link inertias in base coordinates. */
static void link_inertias(const tree_constants *restrict k, tree_links *restrict b) {
    FOR_LANES(l) {
        const double r00 = b->R[0][l], r01 = b->R[1][l], r02 = b->R[2][l];
        const double r10 = b->R[3][l], r11 = b->R[4][l], r12 = b->R[5][l];
        const double r20 = b->R[6][l], r21 = b->R[7][l], r22 = b->R[8][l];
        const double px = b->p[0][l], py = b->p[1][l], pz = b->p[2][l];
        const double revolute = k->revolute[l], prismatic = k->prismatic[l];

        /* revolute: [z; p x z]; prismatic: [0; z] */
        b->s[0][l] = revolute * r02;
        b->s[1][l] = revolute * r12;
        b->s[2][l] = revolute * r22;
        b->s[3][l] = revolute * (py * r22 - pz * r12) + prismatic * r02;
        b->s[4][l] = revolute * (pz * r02 - px * r22) + prismatic * r12;
        b->s[5][l] = revolute * (px * r12 - py * r02) + prismatic * r22;

        const double cx = k->com[0][l], cy = k->com[1][l], cz = k->com[2][l], m = k->mass[l];
        const double x = px + r00 * cx + r01 * cy + r02 * cz;
        const double y = py + r10 * cx + r11 * cy + r12 * cz;
        const double z = pz + r20 * cx + r21 * cy + r22 * cz;
        const double hx = m * x, hy = m * y, hz = m * z;

        /* R J R^T; the trace gives the last diagonal entry. */
        const double jxx = k->inertia[XX][l], jyy = k->inertia[YY][l], jzz = k->inertia[ZZ][l];
        const double jxy = k->inertia[XY][l], jxz = k->inertia[XZ][l], jyz = k->inertia[YZ][l];
        const double a00 = r00 * jxx + r01 * jxy + r02 * jxz;
        const double a01 = r00 * jxy + r01 * jyy + r02 * jyz;
        const double a02 = r00 * jxz + r01 * jyz + r02 * jzz;
        const double a10 = r10 * jxx + r11 * jxy + r12 * jxz;
        const double a11 = r10 * jxy + r11 * jyy + r12 * jyz;
        const double a12 = r10 * jxz + r11 * jyz + r12 * jzz;
        const double xx = a00 * r00 + a01 * r01 + a02 * r02;
        const double yy = a10 * r10 + a11 * r11 + a12 * r12;
        const double xy = a00 * r10 + a01 * r11 + a02 * r12;
        const double xz = a00 * r20 + a01 * r21 + a02 * r22;
        const double yz = a10 * r20 + a11 * r21 + a12 * r22;
        const double zz = jxx + jyy + jzz - xx - yy;

        const double hxx = hx * x, hyy = hy * y, hzz = hz * z;
        b->I[XX][l] = xx + hyy + hzz;
        b->I[YY][l] = yy + hxx + hzz;
        b->I[ZZ][l] = zz + hxx + hyy;
        b->I[XY][l] = xy - hx * y;
        b->I[XZ][l] = xz - hx * z;
        b->I[YZ][l] = yz - hy * z;
        b->I[HX][l] = hx;
        b->I[HY][l] = hy;
        b->I[HZ][l] = hz;
        b->I[MASS][l] = m;
    }
}

void ff_tree_positions(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work,
                       ff_vec3 gravity) {
    work->base = state->base;
    work->R_base = ff_quat_to_mat3(state->base.q);
    const ff_vec3 g = ff_mat3_apply_transpose(&work->R_base, gravity);
    for (int k = 0; k < 3; k++)
        work->gravity[k] = g.a[k];
    for (size_t n = 0; n < model->blocks; n++)
        joint_transforms(&model->block[n], &work->block[n], &state->q[n * LANES], model->joints - n * LANES);
    chain_poses(model, work);
    for (size_t n = 0; n < model->blocks; n++)
        link_inertias(&model->block[n], &work->block[n]);
}

/* ---------------------------------------------------------------------------------------------- velocities
 * -- */

void ff_tree_velocities(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work) {
    const ff_vec3 w = state->twist.w, v = state->twist.v;
    const double base[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
    for (int k = 0; k < 6; k++)
        work->twist[k] = base[k];
    /* v_i = v_p + s q' */
    for (size_t i = 0; i < model->joints; i++) {
        tree_links *b = &work->block[i / LANES];
        const size_t l = i % LANES;
        const int parent = model->parent[i];
        const double qd = state->qd[i];
        if (parent < 0) {
            for (int k = 0; k < 6; k++)
                b->v[k][l] = base[k] + b->s[k][l] * qd;
        } else {
            for (int k = 0; k < 6; k++)
                b->v[k][l] = LINK(work->block, v, k, parent) + b->s[k][l] * qd;
        }
        b->qd[l] = qd;
    }
    /* c_i = c_p + v_i x s q': the axis is carried along by its link. */
    for (size_t n = 0; n < model->blocks; n++) {
        tree_links *restrict b = &work->block[n];
        FOR_LANES(l) {
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
    for (size_t i = 0; i < model->joints; i++) {
        const int parent = model->parent[i];
        if (parent >= 0)
            for (int k = 0; k < 6; k++)
                LINK(work->block, c, k, i) += LINK(work->block, c, k, parent);
    }
}

void ff_tree_kinematics(const ff_tree_model *model, const ff_tree_state *state, ff_tree_work *work,
                        ff_vec3 gravity) {
    ff_tree_positions(model, state, work, gravity);
    ff_tree_velocities(model, state, work);
}

/* --------------------------------------------------------------------------------------------- mass matrix
 * -- */

void ff__tree_composite(const ff_tree_model *model, ff_tree_work *work) {
    for (size_t n = 0; n < model->blocks; n++)
        for (int k = 0; k < INERTIA_SIZE; k++)
            FOR_LANES(l) work->block[n].Ic[k][l] = work->block[n].I[k][l];
    for (int k = 0; k < INERTIA_SIZE; k++)
        work->base_Ic[k] = model->base[k];
    for (size_t i = model->joints; i-- > 0;) {
        const int parent = model->parent[i];
        if (parent < 0) {
            for (int k = 0; k < INERTIA_SIZE; k++)
                work->base_Ic[k] += LINK(work->block, Ic, k, i);
        } else {
            for (int k = 0; k < INERTIA_SIZE; k++)
                LINK(work->block, Ic, k, parent) += LINK(work->block, Ic, k, i);
        }
    }
}

/* [featherstone2008, chapters 6 and 9] H_ij = s_j . F_i for ancestors j of i, F_i = Ic_i s_i. In base
 * coordinates F_i is itself the coupling M_bq of joint i, and the composite inertia of the base is M_b. */
void ff_tree_mass_matrix(const ff_tree_model *model, ff_tree_work *work, double *M) {
    const size_t n = model->joints, first = model->fixed_base ? 0 : 6, dof = n + first;
    ff__tree_composite(model, work);
    for (size_t m = 0; m < model->blocks; m++) {
        tree_links *restrict b = &work->block[m];
        FOR_LANES(l) {
            GATHER10(I, b->Ic, l);
            GATHER6(s, b->s, l);
            double y[6];
            inertia_apply(I, s, y);
            for (int k = 0; k < 6; k++)
                b->F[k][l] = y[k];
        }
    }
    for (size_t i = 0; i < n; i++) {
        const tree_links *b = &work->block[i / LANES];
        const size_t l = i % LANES;
        const double f0 = b->F[0][l], f1 = b->F[1][l], f2 = b->F[2][l];
        const double f3 = b->F[3][l], f4 = b->F[4][l], f5 = b->F[5][l];
        double *row = &M[(first + i) * dof], *column = &M[first + i];
        for (size_t j = 0; j < i; j++) {
            row[first + j] = 0.0;
            column[(first + j) * dof] = 0.0;
        }
        row[first + i] = f0 * b->s[0][l] + f1 * b->s[1][l] + f2 * b->s[2][l] + f3 * b->s[3][l] +
                         f4 * b->s[4][l] + f5 * b->s[5][l] + LINK1(model->block, rotor, i);
        for (int j = model->parent[i]; j >= 0; j = model->parent[j]) {
            const tree_links *a = &work->block[j / LANES];
            const int m = j % LANES;
            const double h = f0 * a->s[0][m] + f1 * a->s[1][m] + f2 * a->s[2][m] + f3 * a->s[3][m] +
                             f4 * a->s[4][m] + f5 * a->s[5][m];
            row[first + (size_t)j] = h;
            column[(first + (size_t)j) * dof] = h;
        }
        if (first) {
            row[0] = f0, row[1] = f1, row[2] = f2, row[3] = f3, row[4] = f4, row[5] = f5;
            column[0] = f0, column[dof] = f1, column[2 * dof] = f2;
            column[3 * dof] = f3, column[4 * dof] = f4, column[5 * dof] = f5;
        }
    }
    if (first) {
        const double *I = work->base_Ic;
        const double rows[6][6] = {
            {I[XX], I[XY], I[XZ], 0.0, -I[HZ], I[HY]}, {I[XY], I[YY], I[YZ], I[HZ], 0.0, -I[HX]},
            {I[XZ], I[YZ], I[ZZ], -I[HY], I[HX], 0.0}, {0.0, I[HZ], -I[HY], I[MASS], 0.0, 0.0},
            {-I[HZ], 0.0, I[HX], 0.0, I[MASS], 0.0},   {I[HY], -I[HX], 0.0, 0.0, 0.0, I[MASS]}};
        for (size_t r = 0; r < 6; r++)
            for (size_t c = 0; c < 6; c++)
                M[r * dof + c] = rows[r][c];
    }
}

/* -------------------------------------------------------------------------------------------------- forces
 * -- */

/* f_i = I c + v x* I v, the force that link i takes when V_b' = 0 and q'' = 0; gravity enters as an upward
 * acceleration of the whole tree. */
static void link_bias_forces(const ff_tree_model *model, ff_tree_work *work) {
    const double gx = work->gravity[0], gy = work->gravity[1], gz = work->gravity[2];
    for (size_t n = 0; n < model->blocks; n++) {
        tree_links *restrict b = &work->block[n];
        FOR_LANES(l) {
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
    const double a[6] = {0, 0, 0, -gx, -gy, -gz};
    double y[6], force[6], gyro[6];
    inertia_apply(model->base, work->twist, y);
    inertia_apply(model->base, a, force);
    cross_force(work->twist, y, gyro);
    for (int k = 0; k < 6; k++)
        work->base_f[k] = force[k] + gyro[k];
}

/* Wrenches on links, in link coordinates: less for the joints to carry. */
static void subtract_external(const ff_tree_model *model, ff_tree_work *work, const ff_wrench *external) {
    for (size_t r = 0; r < model->rows; r++) {
        const tree_row *row = &model->row[r];
        const ff_wrench x = ff_wrench_transform(row->T_joint, external[r]);
        if (row->joint < 0) {
            for (int k = 0; k < 3; k++) {
                work->base_f[k] -= x.t.a[k];
                work->base_f[3 + k] -= x.f.a[k];
            }
            continue;
        }
        tree_links *b = &work->block[row->joint / LANES];
        const int l = row->joint % LANES;
        ff_mat3 R;
        for (int k = 0; k < 9; k++)
            R.m[k / 3][k % 3] = b->R[k][l];
        const ff_vec3 p = {{b->p[0][l], b->p[1][l], b->p[2][l]}};
        const ff_vec3 f = ff_mat3_apply(&R, x.f);
        const ff_vec3 t = ff_vec3_add(ff_mat3_apply(&R, x.t), ff_vec3_cross(p, f));
        for (int k = 0; k < 3; k++) {
            b->f[k][l] -= t.a[k];
            b->f[3 + k][l] -= f.a[k];
        }
    }
}

/* Sums forces towards the base; joint i carries torque[i] = s_i . f_i. */
static void project_forces(const ff_tree_model *model, ff_tree_work *work, double *torque) {
    for (size_t i = model->joints; i-- > 0;) {
        const int parent = model->parent[i];
        const tree_links *b = &work->block[i / LANES];
        const size_t l = i % LANES;
        double t = 0.0;
        if (parent < 0) {
            for (int k = 0; k < 6; k++) {
                t += b->s[k][l] * b->f[k][l];
                work->base_f[k] += b->f[k][l];
            }
        } else {
            for (int k = 0; k < 6; k++) {
                t += b->s[k][l] * b->f[k][l];
                LINK(work->block, f, k, parent) += b->f[k][l];
            }
        }
        torque[i] = t;
    }
}

void ff_tree_bias(const ff_tree_model *model, ff_tree_work *work, double *bias) {
    const size_t first = model->fixed_base ? 0 : 6;
    link_bias_forces(model, work);
    project_forces(model, work, bias + first);
    for (size_t k = 0; k < first; k++)
        bias[k] = work->base_f[k];
}

void ff_tree_inverse_dynamics(const ff_tree_model *model, ff_tree_work *work,
                              const ff_tree_acceleration *acceleration, const ff_wrench *external,
                              ff_tree_force *force) {
    link_bias_forces(model, work);
    if (external)
        subtract_external(model, work, external);
    /* f_i += I_i a_i with a_i = a_p + s q''; G holds a. */
    const ff_vec3 w = acceleration->base.w, v = acceleration->base.v;
    const double base[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
    for (size_t i = 0; i < model->joints; i++) {
        const int parent = model->parent[i];
        for (int k = 0; k < 6; k++)
            LINK(work->block, G, k, i) = (parent < 0 ? base[k] : LINK(work->block, G, k, parent)) +
                                         LINK(work->block, s, k, i) * acceleration->qdd[i];
    }
    for (size_t n = 0; n < model->blocks; n++) {
        tree_links *restrict b = &work->block[n];
        FOR_LANES(l) {
            GATHER10(I, b->I, l);
            GATHER6(a, b->G, l);
            double y[6];
            inertia_apply(I, a, y);
            for (int k = 0; k < 6; k++)
                b->f[k][l] += y[k];
        }
    }
    double y[6];
    inertia_apply(model->base, base, y);
    for (int k = 0; k < 6; k++)
        work->base_f[k] += y[k];
    project_forces(model, work, force->torque);
    for (size_t i = 0; i < model->joints; i++)
        force->torque[i] += LINK1(model->block, rotor, i) * acceleration->qdd[i];
    for (int k = 0; k < 3; k++) {
        force->base.t.a[k] = work->base_f[k];
        force->base.f.a[k] = work->base_f[3 + k];
    }
}

/* ---------------------------------------------------------------------------------------- forward dynamics
 * -- */

static void expand_inertia(const double *I, double IA[6][6]) {
    const double rows[6][6] = {
        {I[XX], I[XY], I[XZ], 0.0, -I[HZ], I[HY]}, {I[XY], I[YY], I[YZ], I[HZ], 0.0, -I[HX]},
        {I[XZ], I[YZ], I[ZZ], -I[HY], I[HX], 0.0}, {0.0, I[HZ], -I[HY], I[MASS], 0.0, 0.0},
        {-I[HZ], 0.0, I[HX], 0.0, I[MASS], 0.0},   {I[HY], -I[HX], 0.0, 0.0, 0.0, I[MASS]}};
    for (int r = 0; r < 6; r++)
        for (int c = 0; c < 6; c++)
            IA[r][c] = rows[r][c];
}

/* x = IA^-1 x for the base's articulated inertia by IA = L D L^T. Returns false when a pivot is not positive.
 */
static bool solve6(double A[6][6], double *x) {
    double inverse[6];
    for (int j = 0; j < 6; j++) {
        if (!(A[j][j] > 0.0))
            return false;
        inverse[j] = 1.0 / A[j][j];
        for (int i = j + 1; i < 6; i++) {
            const double factor = A[i][j] * inverse[j];
            for (int k = j + 1; k <= i; k++)
                A[i][k] -= factor * A[k][j];
            x[i] -= factor * x[j];
        }
    }
    for (int j = 6; j-- > 0;) {
        double y = x[j];
        for (int i = j + 1; i < 6; i++)
            y -= A[i][j] * x[i];
        x[j] = y * inverse[j];
    }
    return true;
}

/* [featherstone2008, chapters 7 and 9]. Departure: the velocity products of every link are known before
 * (link_bias_forces), so the accelerations here are those beyond c, and the terms with c drop out of pA. */
ff_status ff_tree_forward_dynamics(const ff_tree_model *model, ff_tree_work *work, const ff_tree_force *force,
                                   const ff_wrench *external, ff_tree_acceleration *acceleration) {
    link_bias_forces(model, work);
    if (external)
        subtract_external(model, work, external);
    tree_articulated *base = &work->base_articulated;
    expand_inertia(model->base, base->IA);
    for (int k = 0; k < 6; k++)
        base->pA[k] = work->base_f[k];
    for (size_t i = 0; i < model->joints; i++) {
        const tree_links *b = &work->block[i / LANES];
        const size_t l = i % LANES;
        tree_articulated *t = &work->articulated[i];
        GATHER10(I, b->I, l);
        expand_inertia(I, t->IA);
        for (int k = 0; k < 6; k++)
            t->pA[k] = b->f[k][l];
    }

    double smallest = 1.0;
    for (size_t i = model->joints; i-- > 0;) {
        tree_articulated *restrict t = &work->articulated[i];
        tree_articulated *restrict up = model->parent[i] < 0 ? base : &work->articulated[model->parent[i]];
        GATHER6(s, work->block[i / LANES].s, i % LANES);
        double U[6];
        for (int k = 0; k < 6; k++)
            U[k] = t->IA[0][k] * s[0] + t->IA[1][k] * s[1] + t->IA[2][k] * s[2] + t->IA[3][k] * s[3] +
                   t->IA[4][k] * s[4] + t->IA[5][k] * s[5];
        double D = LINK1(model->block, rotor, i), u = force->torque[i];
        for (int k = 0; k < 6; k++) {
            D += s[k] * U[k];
            u -= s[k] * t->pA[k];
        }
        const double inverse_D = 1.0 / D;
        smallest = inverse_D > 0.0 ? smallest : -1.0;
        for (int r = 0; r < 6; r++) {
            const double factor = U[r] * inverse_D;
            for (int c = 0; c < 6; c++)
                up->IA[r][c] += t->IA[r][c] - factor * U[c];
            up->pA[r] += t->pA[r] + factor * u;
            t->U[r] = U[r];
        }
        t->u = u;
        t->inverse_D = inverse_D;
    }

    const ff_vec3 w = acceleration->base.w, v = acceleration->base.v;
    if (model->fixed_base) {
        const double a[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
        for (int k = 0; k < 6; k++)
            base->a[k] = a[k];
    } else {
        for (int k = 0; k < 3; k++) {
            base->a[k] = force->base.t.a[k] - base->pA[k];
            base->a[3 + k] = force->base.f.a[k] - base->pA[3 + k];
        }
        if (!solve6(base->IA, base->a))
            return FF_ERR_SINGULAR;
    }
    if (smallest < 0.0)
        return FF_ERR_SINGULAR;

    for (size_t i = 0; i < model->joints; i++) {
        tree_articulated *t = &work->articulated[i];
        const double *a = model->parent[i] < 0 ? base->a : work->articulated[model->parent[i]].a;
        double y = t->u;
        for (int k = 0; k < 6; k++)
            y -= t->U[k] * a[k];
        const double qdd = y * t->inverse_D;
        for (int k = 0; k < 6; k++)
            t->a[k] = a[k] + LINK(work->block, s, k, i) * qdd;
        acceleration->qdd[i] = qdd;
    }
    for (int k = 0; k < 3; k++) {
        acceleration->base.w.a[k] = base->a[k];
        acceleration->base.v.a[k] = base->a[3 + k];
    }
    return FF_OK;
}
