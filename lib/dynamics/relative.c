#include "freefloat/dynamics.h"

ff_twist ff_relative_delta_rate(ff_pose g, ff_twist V, ff_twist V_n, ff_twist A_n) {
    const ff_pose inverse = ff_pose_inverse(g);
    return ff_twist_sub(ff_twist_transform(inverse, A_n),
                        ff_twist_cross(V, ff_twist_transform(inverse, V_n)));
}

/* C(V) V = [w x I w; m w x v] */
static ff_wrench coriolis(const ff_rigid_model *model, ff_twist V) {
    return (ff_wrench){ff_vec3_cross(V.w, ff_mat3_apply(&model->inertia, V.w)),
                       ff_vec3_scale(model->mass, ff_vec3_cross(V.w, V.v))};
}

static ff_twist solve(const ff_rigid_model *model, ff_wrench F) {
    return (ff_twist){ff_mat3_apply(&model->inertia_inv, F.t), ff_vec3_scale(model->mass_inv, F.f)};
}

ff_twist ff_rigid_body_acceleration(const ff_rigid_model *model, ff_twist V, ff_wrench F) {
    return solve(model, ff_wrench_sub(F, coriolis(model, V)));
}

ff_twist ff_relative_acceleration(const ff_rigid_model *model, ff_pose g_c, ff_twist V_c, ff_twist V_n,
                                  ff_twist A_n, ff_wrench F) {
    const ff_twist V_t = ff_twist_add(V_c, ff_relative_delta(g_c, V_n));
    return ff_twist_sub(ff_rigid_body_acceleration(model, V_t, F),
                        ff_relative_delta_rate(g_c, V_c, V_n, A_n));
}

/* (9) is (3) solved for F_c at the acceleration of (11): with M_c != M_t the bracket of (9) is
 * M_c (M_t^-1 (F - C_t V_t) - Delta V_c') + C_c V_c - F, term by term the printed one. */
ff_wrench ff_relative_robot_wrench(const ff_rigid_model *model, const ff_rigid_model *robot, ff_pose g_c,
                                   ff_twist V_c, ff_twist V_n, ff_twist A_n, ff_wrench F) {
    const ff_twist a = ff_relative_acceleration(model, g_c, V_c, V_n, A_n, F);
    const ff_wrench inertial = {ff_mat3_apply(&robot->inertia, a.w), ff_vec3_scale(robot->mass, a.v)};
    return ff_wrench_sub(ff_wrench_add(inertial, coriolis(robot, V_c)), F);
}
