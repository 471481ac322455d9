/* Frames on the tree: pose, twist, Jacobians, J' v; and what the whole tree carries: Coriolis matrix,
 * gravity, momentum, energy. */
#include "dynamics/tree_layout.h"

/* -------------------------------------------------------------------------------------------- frames -- */

/* A frame in base coordinates, and the body that carries it. */
typedef struct placed {
    size_t body;
    ff_mat3 R;
    ff_vec3 p;
} placed;

INLINE void place(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame,
                  placed *x) {
    const bool on_base = frame->link < 0;
    const ff_pose T = on_base ? frame->offset : ff_pose_mul(model->row[frame->link].T_body, frame->offset);
    x->body = on_base ? 0 : (size_t)model->row[frame->link].body;
    const double *b = lane_read(model, work, x->body);
    const ff_mat3 R = ff_quat_to_mat3(T.q);
    for (int r = 0; r < 3; r++) {
        const double a0 = b[AT(R, 3 * r)], a1 = b[AT(R, 3 * r + 1)], a2 = b[AT(R, 3 * r + 2)];
        for (int c = 0; c < 3; c++)
            x->R.m[r][c] = a0 * R.m[0][c] + a1 * R.m[1][c] + a2 * R.m[2][c];
        x->p.a[r] = b[AT(p, r)] + (a0 * T.p.x + a1 * T.p.y + a2 * T.p.z);
    }
}

/* A motion vector from base to frame coordinates: w_f = R^T w, v_f = R^T (v + w x p). */
static ff_twist into_frame(const placed *x, ff_twist base) {
    return (ff_twist){ff_mat3_apply_transpose(&x->R, base.w),
                      ff_mat3_apply_transpose(&x->R, ff_vec3_add(base.v, ff_vec3_cross(base.w, x->p)))};
}

static ff_twist twist_of(const double *x) {
    return (ff_twist){{{x[0], x[LANES], x[2 * LANES]}}, {{x[3 * LANES], x[4 * LANES], x[5 * LANES]}}};
}

/* Twist, acceleration at v' = 0, and joint axis of a body, in base coordinates. */
static ff_twist carried_twist(const ff_tree_model *model, const ff_tree_work *work, size_t body) {
    return twist_of(lane_read(model, work, body) + AT(v, 0));
}

static ff_twist carried_bias(const ff_tree_model *model, const ff_tree_work *work, size_t body) {
    return twist_of(lane_read(model, work, body) + AT(c, 0));
}

static ff_twist axis_of(const ff_tree_model *model, const ff_tree_work *work, size_t body) {
    return twist_of(lane_read(model, work, body) + AT(s, 0));
}

ff_pose ff_tree_frame_in_base(const ff_tree_model *model, const ff_tree_work *work,
                              const ff_tree_frame *frame) {
    placed x;
    place(model, work, frame, &x);
    return (ff_pose){ff_quat_from_mat3(x.R), x.p};
}

ff_pose ff_tree_frame_pose(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame) {
    return ff_pose_mul(work->base, ff_tree_frame_in_base(model, work, frame));
}

ff_twist ff_tree_frame_twist(const ff_tree_model *model, const ff_tree_work *work,
                             const ff_tree_frame *frame) {
    placed x;
    place(model, work, frame, &x);
    return into_frame(&x, carried_twist(model, work, x.body));
}

/* into_frame for four motion vectors side by side. */
INLINE void into_frame_lanes(const placed *x, const double *restrict s, double *restrict out) {
    const double px = x->p.x, py = x->p.y, pz = x->p.z;
    WHOLE FOR_LANES {
        const double wx = s[l], wy = s[LANES + l], wz = s[2 * LANES + l];
        const double vx = s[3 * LANES + l] + (wy * pz - wz * py);
        const double vy = s[4 * LANES + l] + (wz * px - wx * pz);
        const double vz = s[5 * LANES + l] + (wx * py - wy * px);
        for (int k = 0; k < 3; k++) {
            out[k * LANES + l] = x->R.m[0][k] * wx + x->R.m[1][k] * wy + x->R.m[2][k] * wz;
            out[(3 + k) * LANES + l] = x->R.m[0][k] * vx + x->R.m[1][k] * vy + x->R.m[2][k] * vz;
        }
    }
}

/* The first lanes of six rows as columns of J. */
INLINE void put_columns(const double *restrict out, size_t count, double *restrict column, size_t dof) {
    for (size_t k = 0; k < 6; k++)
        if (count == LANES)
            WHOLE FOR_LANES column[k * dof + (size_t)l] = out[k * LANES + (size_t)l];
        else
            for (size_t l = 0; l < count; l++)
                column[k * dof + l] = out[k * LANES + l];
}

/* Columns of the base: the unit motions. Columns of joints that do not carry the frame are zero. */
INLINE void jacobian_body(const ff_tree_model *model, const ff_tree_work *work, const placed *x, double *J) {
    const size_t first = model->fixed_base ? 0 : 6, dof = model->joints + first;
    ALIGNED(32) double out[6 * LANES];
    /* Body 0 is the base: its lane falls on the column before the joints', which is written below. */
    for (size_t body = 0; body < model->bodies; body += LANES) {
        const size_t left = model->bodies - body, count = left < LANES ? left : LANES;
        into_frame_lanes(x, work->block[body / LANES].s[0], out);
        if (first || body)
            put_columns(out, count, &J[first + body - 1], dof);
        else
            put_columns(out + 1, count - 1, J, dof);
    }
    if (first) {
        into_frame_lanes(x, model->unit[0][0], out);
        put_columns(out, LANES, J, dof);
        into_frame_lanes(x, model->unit[1][0], out);
        put_columns(out, 2, &J[LANES], dof);
    }
    size_t carrier = x->body;
    for (size_t body = model->bodies - 1; body > 0; body--) {
        if (body == carrier)
            carrier = model->parent[body];
        else
            for (size_t k = 0; k < 6; k++)
                J[k * dof + first + body - 1] = 0.0;
    }
}
WIDE void jacobian_wide(const ff_tree_model *model, const ff_tree_work *work, const placed *x, double *J) {
    jacobian_body(model, work, x, J);
}

void ff_tree_frame_jacobian(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame,
                            double *J) {
    placed x;
    place(model, work, frame, &x);
    if (model->wide)
        jacobian_wide(model, work, &x, J);
    else
        jacobian_body(model, work, &x, J);
}

/* In the frame's own coordinates twist' is the spatial acceleration: the term v x v of the moving coordinates
 * vanishes. */
ff_twist ff_tree_frame_bias(const ff_tree_model *model, const ff_tree_work *work,
                            const ff_tree_frame *frame) {
    placed x;
    place(model, work, frame, &x);
    return into_frame(&x, carried_bias(model, work, x.body));
}

static ff_vec3 at_point(ff_twist base, ff_vec3 p) {
    return ff_vec3_add(base.v, ff_vec3_cross(base.w, p));
}

ff_vec3 ff_tree_point_velocity(const ff_tree_model *model, const ff_tree_work *work,
                               const ff_tree_frame *frame) {
    placed x;
    place(model, work, frame, &x);
    return ff_mat3_apply(&work->R_base, at_point(carried_twist(model, work, x.body), x.p));
}

void ff_tree_point_jacobian(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame,
                            double *J) {
    placed x;
    place(model, work, frame, &x);
    const size_t dof = ff_tree_dof(model), first = dof - model->joints;
    for (size_t k = 0; k < 3 * dof; k++)
        J[k] = 0.0;
    for (size_t c = 0; c < first; c++) {
        ff_twist unit = ff_twist_zero();
        *(c < 3 ? &unit.w.a[c] : &unit.v.a[c - 3]) = 1.0;
        const ff_vec3 v = ff_mat3_apply(&work->R_base, at_point(unit, x.p));
        for (size_t k = 0; k < 3; k++)
            J[k * dof + c] = v.a[k];
    }
    for (size_t j = x.body; j > 0; j = model->parent[j]) {
        const ff_vec3 v = ff_mat3_apply(&work->R_base, at_point(axis_of(model, work, j), x.p));
        for (size_t k = 0; k < 3; k++)
            J[k * dof + first + j - 1] = v.a[k];
    }
}

/* Acceleration of the point: v' + w' x p + w x (v + w x p) with spatial accelerations. */
ff_vec3 ff_tree_point_bias(const ff_tree_model *model, const ff_tree_work *work, const ff_tree_frame *frame) {
    placed x;
    place(model, work, frame, &x);
    const ff_twist v = carried_twist(model, work, x.body), c = carried_bias(model, work, x.body);
    return ff_mat3_apply(&work->R_base, ff_vec3_add(at_point(c, x.p), ff_vec3_cross(v.w, at_point(v, x.p))));
}

/* ----------------------------------------------------------------------------------- Coriolis matrix -- */

/* Coriolis operator of a rigid body with inertia I = (J, h, m) and twist v = (w, u): the integral over the
 * body of r x (e x r') (torque) and e x r' (force) for a unit rate e, with r' = u + w x r,
 *
 *     B = [Bw 0; -p x 0],   Bw = (h . u) 1 - u h^T - (w x) S,   S = tr(J)/2 1 - J,   p = m u + w x h.
 *
 * It equals 1/2 (v x* I - I v x + (I v) xbar*) of [echeandia2021], whose upper right block is zero:
 * B v = v x* I v, and B + B^T is the rate of I, which makes M' - 2 C skew-symmetric. Twelve numbers. */
static void coriolis_operator(const double *I, const double *v, double *B) {
    const double half = 0.5 * (I[XX] + I[YY] + I[ZZ]);
    const double S[3][3] = {
        {half - I[XX], -I[XY], -I[XZ]}, {-I[XY], half - I[YY], -I[YZ]}, {-I[XZ], -I[YZ], half - I[ZZ]}};
    const double hu = I[HX] * v[3] + I[HY] * v[4] + I[HZ] * v[5];
    for (int c = 0; c < 3; c++) {
        B[c] = -v[3] * I[HX + c] - (v[1] * S[2][c] - v[2] * S[1][c]);
        B[3 + c] = -v[4] * I[HX + c] - (v[2] * S[0][c] - v[0] * S[2][c]);
        B[6 + c] = -v[5] * I[HX + c] - (v[0] * S[1][c] - v[1] * S[0][c]);
        B[4 * c] += hu;
    }
    B[9] = I[MASS] * v[3] + v[1] * I[HZ] - v[2] * I[HY];
    B[10] = I[MASS] * v[4] + v[2] * I[HX] - v[0] * I[HZ];
    B[11] = I[MASS] * v[5] + v[0] * I[HY] - v[1] * I[HX];
}

/* y += B s, and y += B^T s: B^T = [Bw^T p x; 0 0]. */
static void coriolis_apply(const double *B, const double *s, double *y) {
    for (int r = 0; r < 3; r++)
        y[r] += B[3 * r] * s[0] + B[3 * r + 1] * s[1] + B[3 * r + 2] * s[2];
    y[3] += s[1] * B[11] - s[2] * B[10];
    y[4] += s[2] * B[9] - s[0] * B[11];
    y[5] += s[0] * B[10] - s[1] * B[9];
}

static void coriolis_apply_transpose(const double *B, const double *s, double *y) {
    for (int c = 0; c < 3; c++)
        y[c] += B[c] * s[0] + B[3 + c] * s[1] + B[6 + c] * s[2];
    y[0] += B[10] * s[5] - B[11] * s[4];
    y[1] += B[11] * s[3] - B[9] * s[5];
    y[2] += B[9] * s[4] - B[10] * s[3];
}

static double dot6(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static void gather(const double *from, size_t count, double *to) {
    for (size_t k = 0; k < count; k++)
        to[k] = from[k * LANES];
}

/* C = sum_l J_l^T (I_l J_l' + B_l J_l) with J' = v x s for joints and v_b x 1 for the base. For a joint i and
 * any ancestor j (joint or base axis), with composite I and B of the subtree of i [echeandia2021]:
 *
 *     C_ji = s_j . (I s_i' + B s_i),    C_ij = s_j' . (I s_i) + s_j . (B^T s_i). */
void ff_tree_coriolis(const ff_tree_model *model, ff_tree_work *work, double *C) {
    const size_t first = model->fixed_base ? 0 : 6, dof = model->joints + first;
    composite_inertias(model, work);
    for (size_t i = 0; i < model->bodies; i++) {
        double *b = lane_of(model, work, i), I[INERTIA_SIZE], v[6], B[12];
        gather(b + AT(I, 0), INERTIA_SIZE, I);
        gather(b + AT(v, 0), 6, v);
        coriolis_operator(I, v, B);
        for (int k = 0; k < 12; k++)
            b[AT(B, k)] = B[k];
    }
    double base[6];
    gather(lane_read(model, work, 0) + AT(v, 0), 6, base);
    memset(C, 0, dof * dof * sizeof *C);
    for (size_t i = model->bodies - 1; i > 0; i--) {
        const double *b = lane_read(model, work, i);
        double I[INERTIA_SIZE], v[6], s[6], rate[6], B[12], down[6], side[6], across[6] = {0};
        gather(b + AT(Ic, 0), INERTIA_SIZE, I);
        gather(b + AT(B, 0), 12, B);
        gather(b + AT(v, 0), 6, v);
        gather(b + AT(s, 0), 6, s);
        cross_motion(v, s, rate);
        inertia_apply(I, rate, down);
        coriolis_apply(B, s, down);
        inertia_apply(I, s, side);
        coriolis_apply_transpose(B, s, across);
        double *row = &C[(first + i - 1) * dof], *col = &C[first + i - 1];
        row[first + i - 1] = dot6(s, down);
        for (size_t j = model->parent[i]; j > 0; j = model->parent[j]) {
            const double *a = lane_read(model, work, j);
            double vj[6], sj[6], rj[6];
            gather(a + AT(v, 0), 6, vj);
            gather(a + AT(s, 0), 6, sj);
            cross_motion(vj, sj, rj);
            col[(first + j - 1) * dof] = dot6(sj, down);
            row[first + j - 1] = dot6(rj, side) + dot6(sj, across);
        }
        if (first) {
            /* (v_b x 1)^T side = -(v_b x* side) */
            double turned[6];
            cross_force(base, side, turned);
            for (size_t k = 0; k < 6; k++) {
                col[k * dof] = down[k];
                row[k] = across[k] - turned[k];
            }
        }
        double *up = lane_of(model, work, model->parent[i]);
        for (int k = 0; k < 12; k++)
            up[AT(B, k)] += B[k];
    }
    if (!first)
        return;
    double I[INERTIA_SIZE], B[12];
    gather(lane_read(model, work, 0) + AT(Ic, 0), INERTIA_SIZE, I);
    gather(lane_read(model, work, 0) + AT(B, 0), 12, B);
    for (size_t k = 0; k < 6; k++) {
        double unit[6] = {0}, rate[6], y[6];
        unit[k] = 1.0;
        cross_motion(base, unit, rate);
        inertia_apply(I, rate, y);
        coriolis_apply(B, unit, y);
        for (size_t r = 0; r < 6; r++)
            C[r * dof + k] = y[r];
    }
}

/* ---------------------------------------------------------------------------------------- whole tree -- */

/* Each joint holds the weight of its subtree: g_i = -s_i . [h x g; m g]. */
void ff_tree_gravity(const ff_tree_model *model, ff_tree_work *work, double *g) {
    const size_t first = model->fixed_base ? 0 : 6;
    const double *a = work->gravity;
    const double up[6] = {0, 0, 0, -a[0], -a[1], -a[2]};
    composite_inertias(model, work);
    for (size_t i = 0; i < model->bodies; i++) {
        const double *b = lane_read(model, work, i);
        double I[INERTIA_SIZE], s[6], y[6];
        gather(b + AT(Ic, 0), INERTIA_SIZE, I);
        gather(b + AT(s, 0), 6, s);
        inertia_apply(I, up, y);
        if (i > 0)
            g[first + i - 1] = dot6(s, y);
        else if (first)
            memcpy(g, y, sizeof y);
    }
}

/* Sum over base and links of momentum, first moment, and twice the kinetic energy. */
typedef struct carried {
    double momentum[6], moment[3], energy;
} carried;

static void carry(carried *x, const double *I, const double *v) {
    double y[6];
    inertia_apply(I, v, y);
    for (int k = 0; k < 6; k++)
        x->momentum[k] += y[k];
    for (int k = 0; k < 3; k++)
        x->moment[k] += I[HX + k];
    x->energy += dot6(y, v);
}

static carried carry_all(const ff_tree_model *model, const ff_tree_work *work) {
    carried x = {{0}, {0}, 0.0};
    lanes four[INERTIA_SIZE];
    for (size_t i = 0; i < model->bodies; i++) {
        const double *b = lane_read(model, work, i);
        double I[INERTIA_SIZE], v[6];
        if (i % LANES == 0) { /* the work is not ours to fill */
            if (work->weighed)
                memcpy(four, work->block[i / LANES].I, sizeof four);
            else
                link_inertias(&model->block[i / LANES], &work->block[i / LANES], four);
        }
        gather(&four[0][i % LANES], INERTIA_SIZE, I);
        gather(b + AT(v, 0), 6, v);
        carry(&x, I, v);
        x.energy += model->block[i / LANES].rotor[i % LANES] * b[AT(qd, 0)] * b[AT(qd, 0)];
    }
    return x;
}

ff_tree_momentum ff_tree_total_momentum(const ff_tree_model *model, const ff_tree_work *work) {
    const carried x = carry_all(model, work);
    const ff_vec3 com_b =
        ff_vec3_scale(1.0 / model->mass, (ff_vec3){{x.moment[0], x.moment[1], x.moment[2]}});
    const ff_vec3 p_b = {{x.momentum[3], x.momentum[4], x.momentum[5]}};
    const ff_vec3 l_b = {{x.momentum[0], x.momentum[1], x.momentum[2]}};
    ff_tree_momentum m;
    m.mass = model->mass;
    m.com = ff_vec3_add(work->base.p, ff_mat3_apply(&work->R_base, com_b));
    m.linear = ff_mat3_apply(&work->R_base, p_b);
    m.spin = ff_mat3_apply(&work->R_base, ff_vec3_sub(l_b, ff_vec3_cross(com_b, p_b)));
    m.origin = ff_vec3_add(m.spin, ff_vec3_cross(m.com, m.linear));
    return m;
}

double ff_tree_kinetic_energy(const ff_tree_model *model, const ff_tree_work *work) {
    return 0.5 * carry_all(model, work).energy;
}

double ff_tree_potential_energy(const ff_tree_model *model, const ff_tree_work *work) {
    const carried x = carry_all(model, work);
    const ff_vec3 g = {{work->gravity[0], work->gravity[1], work->gravity[2]}};
    const ff_vec3 moment = {{x.moment[0], x.moment[1], x.moment[2]}};
    return -ff_vec3_dot(g, ff_vec3_axpy(model->mass, ff_quat_unrotate(work->base.q, work->base.p), moment));
}
