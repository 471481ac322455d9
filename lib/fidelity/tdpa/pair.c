/* Passivity of a pair that holds each other, in relative motion. */
#include "fidelity/tdpa/tdpa.h"

/* `body` seen from `against`: everything in the axes of `against`, twist and wrench at the gripper. */
typedef struct view {
    ff_vec3 x;  /* gripper from the CoM of `against` */
    ff_quat q;  /* attitude of `body` */
    ff_twist V; /* relative twist at the gripper */
} view;

static view view_of(ff_pose a, ff_twist a_twist, ff_pose o, ff_twist o_twist, ff_vec3 point) {
    view s;
    s.q = ff_quat_mul(ff_quat_conj(o.q), a.q);
    s.x = ff_quat_unrotate(o.q, ff_vec3_sub(ff_pose_apply(a, point), o.p));
    const ff_vec3 v = ff_vec3_add(a_twist.v, ff_quat_rotate(a.q, ff_vec3_cross(a_twist.w, point)));
    s.V.v = ff_vec3_sub(ff_quat_unrotate(o.q, ff_vec3_sub(v, o_twist.v)), ff_vec3_cross(o_twist.w, s.x));
    s.V.w = ff_vec3_sub(ff_quat_rotate(s.q, a_twist.w), o_twist.w);
    return s;
}

/* The wrench on `body` at the gripper, from both sensors: they read the same contact from its two sides. */
static ff_wrench wrench_of(const view *m, ff_vec3 point, ff_wrench on_body, ff_wrench on_other) {
    const ff_wrench a = {ff_quat_rotate(m->q, ff_vec3_sub(on_body.t, ff_vec3_cross(point, on_body.f))),
                         ff_quat_rotate(m->q, on_body.f)};
    const ff_wrench o = {ff_vec3_sub(on_other.t, ff_vec3_cross(m->x, on_other.f)), on_other.f};
    return ff_wrench_scale(0.5, ff_wrench_sub(a, o));
}

/* Acceleration of one body's gripper point under a wrench at it; r from its CoM, all in common axes. */
static ff_twist mobility(const ff_rigid_model *model, ff_quat q, ff_vec3 r, ff_wrench f) {
    const ff_vec3 torque = ff_vec3_add(f.t, ff_vec3_cross(r, f.f));
    const ff_vec3 w = ff_quat_rotate(q, ff_mat3_apply(&model->inertia_inv, ff_quat_unrotate(q, torque)));
    return (ff_twist){w, ff_vec3_add(ff_vec3_scale(model->mass_inv, f.f), ff_vec3_cross(w, r))};
}

/* Of the pair's two bodies, body first. */
static ff_twist relative_mobility(const ff_rigid_model *const model[2], const view *c, ff_vec3 r_a,
                                  ff_wrench f) {
    return ff_twist_add(mobility(model[0], c->q, r_a, f), mobility(model[1], ff_quat_identity(), c->x, f));
}

/* Lambda V: the inertia of the relative motion at the gripper. False when it cannot be had. */
static bool momentum_of(const ff_rigid_model *const model[2], const view *c, ff_vec3 r_a, ff_twist V,
                        ff_wrench *momentum) {
    double A[36], b[6] = {V.w.x, V.w.y, V.w.z, V.v.x, V.v.y, V.v.z};
    for (int j = 0; j < 6; j++) {
        ff_wrench unit = ff_wrench_zero();
        (j < 3 ? unit.t.a : unit.f.a)[j % 3] = 1.0;
        const ff_twist a = relative_mobility(model, c, r_a, unit);
        for (int i = 0; i < 3; i++) {
            A[6 * i + j] = a.w.a[i];
            A[6 * (i + 3) + j] = a.v.a[i];
        }
    }
    if (ff_cholesky_factor(6, A) != FF_OK)
        return false;
    ff_cholesky_solve(6, A, b);
    *momentum = (ff_wrench){ff_vec3_make(b[0], b[1], b[2]), ff_vec3_make(b[3], b[4], b[5])};
    return true;
}

/* Over one cycle the contact gives, at the robots, (F(k-1) + F(k))/2 . dx (measured displacement; exact for a
 * spring), and the satellites take T F.V + T^2 F.Lambda^-1 F/2. Where they took more than was given, so far,
 * the relative velocity is scaled by 1 - s: the impulse -s Lambda V dissipates (s - s^2/2) V.Lambda V. */
void ff__tdpa_pair(const tdpa_model *model, tdpa_pair *state, const ff_method_in *in, ff_method_out *out) {
    const int a = model->pair.body, o = model->pair.against;
    const double T = model->integrate.cycle;
    const ff_vec3 point = in->grasp_point;
    const ff_rigid_state *body = in->body;
    const ff_rigid_model *const rigid[2] = {&in->rigid[a], &in->rigid[o]};
    const ff_body_sample *sa = &in->sample[a], *so = &in->sample[o];
    const view m = view_of(sa->T_wr, sa->twist_r, so->T_wr, so->twist_r, point);
    const view c = view_of(ff_rigid_pose(&body[a]), (ff_twist){body[a].omega, body[a].velocity},
                           ff_rigid_pose(&body[o]), (ff_twist){body[o].omega, body[o].velocity}, point);
    const ff_vec3 r_a = ff_quat_rotate(c.q, point);
    const ff_wrench F = wrench_of(&m, point, sa->f_b, so->f_b);

    if (state->started) {
        const ff_wrench mean = ff_wrench_scale(0.5, ff_wrench_add(state->f, F));
        const ff_twist moved = {ff_quat_log(ff_quat_mul(m.q, ff_quat_conj(state->q))),
                                ff_vec3_sub(m.x, state->x)};
        state->energy += ff_power(mean, moved);
    }
    state->started = true;
    state->f = F;
    state->x = m.x;
    state->q = m.q;

    const ff_twist a_F = relative_mobility(rigid, &c, r_a, F);
    state->energy -= T * ff_power(F, c.V) + 0.5 * T * T * ff_power(F, a_F);

    ff_wrench total = F;
    const ff_twist after = ff_twist_add(c.V, ff_twist_scale(T, a_F));
    ff_wrench momentum;
    if (state->energy < 0.0 && momentum_of(rigid, &c, r_a, after, &momentum)) {
        const double twice = ff_power(momentum, after);
        if (twice > 0.0) {
            const double part = fmin(1.0, -2.0 * state->energy / twice), s = 1.0 - sqrt(1.0 - part);
            state->energy += 0.5 * part * twice;
            total = ff_wrench_sub(F, ff_wrench_scale(s / T, momentum));
        }
    }

    /* one wrench about one point, opposite on the two bodies as they stand now */
    out->f_b[a].f = ff_quat_unrotate(c.q, total.f);
    out->f_b[a].t = ff_vec3_add(ff_quat_unrotate(c.q, total.t), ff_vec3_cross(point, out->f_b[a].f));
    out->f_b[o].f = ff_vec3_neg(total.f);
    out->f_b[o].t = ff_vec3_sub(ff_vec3_neg(total.t), ff_vec3_cross(c.x, total.f));
    out->in_contact[a] = out->in_contact[o] = ff_vec3_dot(F.f, F.f) + ff_vec3_dot(F.t, F.t) > 0.0;
    out->observers = 1;
    out->observer[0][0] = state->energy;
}
