#include "freefloat/wrench.h"

void ff_wrench_default(ff_wrench_config *config) {
    *config = (ff_wrench_config){.T_bs = ff_pose_identity(),
                                 .T_ws = ff_pose_identity(),
                                 .force_limit = FF_INF,
                                 .torque_limit = FF_INF,
                                 .max_age = FF_INF};
}

ff_status ff_wrench_validate(const ff_wrench_config *config) {
    if (!ff_pose_finite(config->T_bs) || !ff_pose_finite(config->T_ws) || !ff_wrench_finite(config->bias_s) ||
        !ff_vec3_finite(config->mockup_com_b) || !ff_vec3_finite(config->gravity_w) ||
        isinf(config->mockup_mass))
        return FF_ERR_NOT_FINITE;
    for (int i = 0; i < 9; i++)
        if (!isfinite(config->mockup_inertia.m[i / 3][i % 3]))
            return FF_ERR_NOT_FINITE;
    if (!(config->mockup_mass >= 0.0) || !(config->force_limit > 0.0) || !(config->torque_limit > 0.0) ||
        !(config->max_age >= 0.0))
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

/* [lange, (3), (4)] with the mock-up's inertia force, which the paper leaves out and the sensor sees: the
 * sensor carries m (g - a) at the mock-up's CoM and -(I w' + w x I w); the weight's torque about the CoM
 * needs its lever arm. */
ff_wrench ff_wrench_mockup(const ff_wrench_config *config, const ff_wrench_in *in) {
    const ff_vec3 r = config->mockup_com_b, w = in->twist.w, dw = in->acceleration.w;
    /* acceleration of the mock-up's CoM, body axes */
    const ff_vec3 a =
        ff_vec3_add(ff_quat_unrotate(in->T_wb.q, ff_vec3_sub(in->acceleration.v, config->gravity_w)),
                    ff_vec3_add(ff_vec3_cross(dw, r), ff_vec3_cross(w, ff_vec3_cross(w, r))));
    const ff_vec3 f = ff_vec3_scale(-config->mockup_mass, a);
    const ff_vec3 Iw = ff_mat3_apply(&config->mockup_inertia, w);
    const ff_vec3 rate = ff_vec3_add(ff_mat3_apply(&config->mockup_inertia, dw), ff_vec3_cross(w, Iw));
    return (ff_wrench){ff_vec3_sub(ff_vec3_cross(r, f), rate), f};
}

ff_status ff_wrench_condition(const ff_wrench_config *config, const ff_wrench_in *in, ff_wrench *f_b) {
    if (!ff_wrench_finite(in->f_s) || !ff_pose_finite(in->T_wb) || !ff_twist_finite(in->twist) ||
        isnan(in->age) || (config->mockup_mass > 0.0 && !ff_twist_finite(in->acceleration)))
        return FF_ERR_NOT_FINITE;
    if (in->age > config->max_age)
        return FF_INFO_STALE;
    for (int i = 0; i < 3; i++)
        if (fabs(in->f_s.f.a[i]) >= config->force_limit || fabs(in->f_s.t.a[i]) >= config->torque_limit)
            return FF_INFO_SATURATED;

    const ff_wrench net_s = ff_wrench_sub(in->f_s, config->bias_s);
    const ff_pose T_bs =
        config->environment ? ff_pose_mul(ff_pose_inverse(in->T_wb), config->T_ws) : config->T_bs;
    ff_wrench net = ff_wrench_transform(T_bs, net_s);
    if (config->mockup_mass > 0.0 && !config->environment)
        net = ff_wrench_sub(net, ff_wrench_mockup(config, in));
    *f_b = net;
    return FF_OK;
}
