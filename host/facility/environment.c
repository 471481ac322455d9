#include "facility/environment.h"
#include "text/message.h"
#include "text/number.h"

#include <stdio.h>

/* Damping that grows with depth: [he2022, (24)], Step(d, 0, 0, X, c) = c s^2 (3 - 2 s), s = d/X in [0, 1]. */
static double damping_at(const ff_contact *contact, double d) {
    if (d >= contact->damping_depth)
        return contact->damping;
    const double s = d / contact->damping_depth;
    return contact->damping * s * s * (3.0 - 2.0 * s);
}

/* F = k d + c d', zero outside, and never pulling: a wall does not stick. The last is our addition to
 * [he2022, (23)], which pulls while the body leaves. */
double ff_environment_normal_force(const ff_contact *contact, double d, double rate) {
    if (!(d > 0.0))
        return d != d ? d : 0.0;
    const double f = contact->law ? contact->law->force(contact->law->self, d, rate)
                                  : contact->stiffness * d + damping_at(contact, d) * rate;
    return f < 0.0 ? 0.0 : f;
}

/* The cavity is every point whose angle from the axis is below half_angle; the rest, up to the plane of the
 * mouth at z = depth, is material. With z along the axis and rho away from it, the wall's generatrix is
 * g = (cos a, sin a) and the depth rho cos a - z sin a; behind the apex's own normals the apex is the nearest
 * point. In the material the depth is the distance to the nearest surface, which near the rim and outside it
 * is the face around the mouth: so a tip that comes in through either gains no energy. */
ff_cone_foot ff_environment_cone(const ff_contact *contact, ff_vec3 p_o) {
    const double ca = cos(contact->half_angle), sa = sin(contact->half_angle);
    const ff_vec3 p = ff_vec3_sub(p_o, contact->apex);
    const double z = ff_vec3_dot(contact->axis, p);
    const ff_vec3 across = ff_vec3_axpy(-z, contact->axis, p);
    const double rho = ff_vec3_norm(across), along = z * ca + rho * sa;
    ff_cone_foot out;
    if (along <= 0.0) {
        out.depth = ff_vec3_norm(p);
        out.normal = out.depth > 0.0 ? ff_vec3_scale(-1.0 / out.depth, p) : contact->axis;
    } else {
        /* on the axis every direction is nearest; the depth is negative there and no force asks */
        const ff_vec3 e = rho > 0.0 ? ff_vec3_scale(1.0 / rho, across) : ff_vec3_zero();
        out.depth = rho * ca - z * sa;
        out.normal = ff_vec3_axpy(-ca, e, ff_vec3_scale(sa, contact->axis));
    }
    if (contact->depth - z < out.depth) {
        out.depth = contact->depth - z;
        out.normal = contact->axis;
    }
    out.foot = ff_vec3_axpy(out.depth, out.normal, p_o);
    return out;
}

/* Normal force and friction on `body`; n and the velocity of the point relative to what it touches are
 * inertial. Friction: -mu F_n v_t/sqrt(|v_t|^2 + v_0^2), Coulomb's law for |v_t| >> v_0 and continuous at
 * rest (it creeps there instead of sticking). */
static ff_vec3 point_force(const ff_contact *contact, double d, ff_vec3 n, ff_vec3 v) {
    const double vn = ff_vec3_dot(n, v);
    const double f = ff_environment_normal_force(contact, d, -vn); /* d' = -n.v */
    ff_vec3 force = ff_vec3_scale(f, n);
    if (contact->friction > 0.0) {
        const ff_vec3 vt = ff_vec3_axpy(-vn, n, v);
        const double slip = sqrt(ff_vec3_dot(vt, vt) + FF_FRICTION_SPEED * FF_FRICTION_SPEED);
        force = ff_vec3_axpy(-contact->friction * f / slip, vt, force);
    }
    return force;
}

static bool is_zero(ff_vec3 a) {
    return a.x == 0.0 && a.y == 0.0 && a.z == 0.0;
}

static bool wall(const ff_contact *contact, const ff_setpoint *robot, ff_environment_out *out) {
    const ff_vec3 r = ff_quat_rotate(robot->T.q, contact->point);
    const double d = ff_vec3_dot(contact->normal, ff_vec3_sub(contact->at, ff_vec3_add(robot->T.p, r)));
    if (d <= 0.0)
        return false;
    const ff_vec3 v = ff_vec3_add(robot->twist.v,
                                  ff_quat_rotate(robot->T.q, ff_vec3_cross(robot->twist.w, contact->point)));
    out->force = point_force(contact, d, contact->normal, v);
    if (is_zero(out->force))
        return false;
    out->on_body.f = ff_quat_unrotate(robot->T.q, out->force);
    out->on_body.t = ff_vec3_cross(contact->point, out->on_body.f);
    return true;
}

/* Pair and cone: worked out in the body frame of `against`, where the geometry rests. The force acts on both
 * bodies at the same point, so both lie on one line of action and no momentum is created. */
static bool pair(const ff_contact *contact, const ff_setpoint *robot, ff_environment_out *out) {
    static const ff_setpoint fixed = {{{1, 0, 0, 0}, {{0, 0, 0}}}, {{{0, 0, 0}}, {{0, 0, 0}}}};
    const ff_setpoint *a = &robot[contact->body],
                      *o = contact->against >= 0 ? &robot[contact->against] : &fixed;
    const ff_vec3 p = ff_pose_apply(a->T, contact->point);
    const ff_vec3 p_o = ff_quat_unrotate(o->T.q, ff_vec3_sub(p, o->T.p));
    double d;
    ff_vec3 n_o;
    if (contact->kind == FF_CONTACT_CONE) {
        const ff_cone_foot foot = ff_environment_cone(contact, p_o);
        d = foot.depth;
        n_o = foot.normal;
    } else {
        d = ff_vec3_dot(contact->normal, ff_vec3_sub(contact->at, p_o));
        n_o = contact->normal;
    }
    if (d <= 0.0)
        return false;
    /* d' = -n.(v_a - v_o), both velocities at the tip: the turning of the normal is contained in it */
    const ff_vec3 va =
        ff_vec3_add(a->twist.v, ff_quat_rotate(a->T.q, ff_vec3_cross(a->twist.w, contact->point)));
    const ff_vec3 v_o =
        ff_vec3_sub(ff_quat_unrotate(o->T.q, ff_vec3_sub(va, o->twist.v)), ff_vec3_cross(o->twist.w, p_o));
    const ff_vec3 f_o = point_force(contact, d, n_o, v_o);
    if (is_zero(f_o))
        return false;
    out->force = ff_quat_rotate(o->T.q, f_o);
    out->on_body.f = ff_quat_unrotate(a->T.q, out->force);
    out->on_body.t = ff_vec3_cross(contact->point, out->on_body.f);
    if (contact->against >= 0) {
        out->on_other.f = ff_vec3_neg(f_o);
        out->on_other.t = ff_vec3_cross(p_o, out->on_other.f);
    }
    return true;
}

/* One axis of a stop: two one-sided spring-dampers at +-half. */
static double stop_axis(const ff_contact *law, double x, double v, double half) {
    if (x >= 0.0)
        return 0.0 - ff_environment_normal_force(law, x - half, v); /* no negative zeros in logs */
    return ff_environment_normal_force(law, -half - x, -v);
}

/* [destefano2019, II-A and VII] six decoupled axes: the CoM's inertial coordinates, and the components of the
 * rotation vector with the body rates, torques in body axes. For small angles the rate of the rotation vector
 * is the body rate; the stops are used at 0.05 rad. */
static bool stops(const ff_contact *contact, const ff_setpoint *robot, ff_environment_out *out) {
    bool turns = false;
    for (int i = 0; i < 3; i++) {
        out->force.a[i] =
            stop_axis(contact, robot->T.p.a[i], robot->twist.v.a[i], contact->stop_position.a[i]);
        turns |= contact->stop_rotation.a[i] < FF_PI;
    }
    if (turns) {
        /* damping_depth is a length: it does not apply to the rotation */
        const ff_contact law = {.stiffness = contact->rotation_stiffness,
                                .damping = contact->rotation_damping};
        const ff_vec3 r = ff_quat_log(robot->T.q);
        for (int i = 0; i < 3; i++)
            out->on_body.t.a[i] = stop_axis(&law, r.a[i], robot->twist.w.a[i], contact->stop_rotation.a[i]);
    }
    if (is_zero(out->force) && is_zero(out->on_body.t))
        return false;
    out->on_body.f = ff_quat_unrotate(robot->T.q, out->force);
    return true;
}

bool ff_environment_grasp(const ff_contact *contact, ff_grasp *grasp, double t, const ff_setpoint *robot,
                          ff_environment_out *out) {
    const ff_setpoint *a = &robot[contact->body], *o = &robot[contact->against];
    *out = (ff_environment_out){0};
    const ff_pose T_oa = ff_pose_mul(ff_pose_inverse(o->T), a->T);
    const ff_vec3 p = ff_pose_apply(T_oa, contact->point);
    if (!grasp->closed) {
        /* half a nanosecond: cycles are multiples of a number that binary cannot hold */
        if (t < contact->closes - 5e-10 || ff_vec3_norm(ff_vec3_sub(p, contact->at)) > contact->reach)
            return false;
        *grasp = (ff_grasp){true, p, T_oa.q};
    }
    const ff_vec3 v_a =
        ff_vec3_add(a->twist.v, ff_quat_rotate(a->T.q, ff_vec3_cross(a->twist.w, contact->point)));
    const ff_vec3 v =
        ff_vec3_sub(ff_quat_unrotate(o->T.q, ff_vec3_sub(v_a, o->twist.v)), ff_vec3_cross(o->twist.w, p));
    const ff_vec3 w = ff_vec3_sub(ff_quat_rotate(T_oa.q, a->twist.w), o->twist.w);
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(T_oa.q, ff_quat_conj(grasp->q)));
    const ff_vec3 f =
        ff_vec3_axpy(-contact->damping, v, ff_vec3_scale(-contact->stiffness, ff_vec3_sub(p, grasp->at)));
    const ff_vec3 m =
        ff_vec3_axpy(-contact->rotation_damping, w, ff_vec3_scale(-contact->rotation_stiffness, turn));
    out->force = ff_quat_rotate(o->T.q, f);
    out->on_body.f = ff_quat_unrotate(T_oa.q, f);
    out->on_body.t = ff_vec3_add(ff_vec3_cross(contact->point, out->on_body.f), ff_quat_unrotate(T_oa.q, m));
    out->on_other.f = ff_vec3_neg(f);
    out->on_other.t = ff_vec3_sub(ff_vec3_cross(p, out->on_other.f), m);
    return true;
}

bool ff_environment_contact(const ff_contact *contact, const ff_setpoint *robot, ff_environment_out *out) {
    *out = (ff_environment_out){0};
    switch (contact->kind) {
    case FF_CONTACT_WALL:
        return wall(contact, &robot[contact->body], out);
    case FF_CONTACT_STOPS:
        return stops(contact, &robot[contact->body], out);
    case FF_CONTACT_PAIR:
    case FF_CONTACT_CONE:
        return pair(contact, robot, out);
    case FF_CONTACT_GRASP:
        break;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------------- setup -- */

ff_status ff_environment_prepare(ff_contact *contact, int satellites, char *message, size_t size) {
    const bool grasp = contact->kind == FF_CONTACT_GRASP,
               two = contact->kind == FF_CONTACT_PAIR || contact->kind == FF_CONTACT_CONE || grasp;
    if ((unsigned)contact->kind > FF_CONTACT_GRASP)
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the contact's kind is unknown");
    if (contact->body < 0 || contact->body >= satellites)
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "the contact's body is not a satellite of the scenario");
    if (two && (contact->against >= satellites || (grasp && contact->against < 0) ||
                contact->against == contact->body))
        return ff_refuse(FF_ERR_ARGUMENT, message, size, "the contact's against must be another satellite");
    if (!ff_at_least_zero(contact->stiffness) || !ff_at_least_zero(contact->damping) ||
        !ff_at_least_zero(contact->damping_depth) || !ff_at_least_zero(contact->friction))
        return ff_refuse(FF_ERR_ARGUMENT, message, size,
                         "stiffness, damping, damping_depth and friction must be >= 0 and finite");
    if (contact->kind == FF_CONTACT_WALL || contact->kind == FF_CONTACT_PAIR) {
        contact->normal = ff_vec3_unit(contact->normal);
        if (!(ff_vec3_norm(contact->normal) > 0.5) || !ff_vec3_finite(contact->at) ||
            !ff_vec3_finite(contact->point))
            return ff_refuse(FF_ERR_SINGULAR, message, size,
                             "the contact's normal, at and point must be finite, its normal not zero");
    }
    if (contact->kind == FF_CONTACT_CONE) {
        contact->axis = ff_vec3_unit(contact->axis);
        if (!(ff_vec3_norm(contact->axis) > 0.5))
            return ff_refuse(FF_ERR_SINGULAR, message, size, "the cone's axis must not be zero");
        if (!(contact->half_angle > 0.0 && contact->half_angle < 0.5 * FF_PI) || !(contact->depth > 0.0))
            return ff_refuse(FF_ERR_ARGUMENT, message, size,
                             "the cone's half_angle must lie in (0, pi/2) [rad] and its depth be > 0 [m]");
    }
    if (grasp &&
        (!ff_at_least_zero(contact->closes) || !(contact->reach > 0.0) ||
         !ff_at_least_zero(contact->rotation_stiffness) || !ff_at_least_zero(contact->rotation_damping)))
        return ff_refuse(
            FF_ERR_ARGUMENT, message, size,
            "the grasp's closes, rotation_stiffness and rotation_damping must be >= 0 and finite, "
            "its reach > 0");
    if (contact->kind == FF_CONTACT_STOPS) {
        if (!ff_at_least_zero(contact->rotation_stiffness) || !ff_at_least_zero(contact->rotation_damping))
            return ff_refuse(FF_ERR_ARGUMENT, message, size,
                             "rotation_stiffness and rotation_damping must be >= 0 and finite");
        for (int i = 0; i < 3; i++)
            if (!(contact->stop_position.a[i] >= 0.0) || !(contact->stop_rotation.a[i] >= 0.0))
                return ff_refuse(FF_ERR_ARGUMENT, message, size, "the stops' half widths must be >= 0");
    }
    return FF_OK;
}
