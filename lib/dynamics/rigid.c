#include "freefloat/dynamics.h"

ff_status ff_rigid_validate(const ff_rigid_config *config) {
    const ff_mat3 *I = &config->inertia;
    double size = 0.0;
    if (!isfinite(config->mass))
        return FF_ERR_NOT_FINITE;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            if (!isfinite(I->m[i][j]))
                return FF_ERR_NOT_FINITE;
            size = fmax(size, fabs(I->m[i][j]));
        }
    if (!(config->mass > 0.0))
        return FF_ERR_MASS;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (fabs(I->m[i][j] - I->m[j][i]) > 1e-9 * size)
                return FF_ERR_INERTIA;
    ff_vec3 p;
    ff_mat3 axes;
    ff_mat3_eigen(*I, &p, &axes);
    /* A body has positive principal moments, the largest at most the sum of the others (equal for a plate).
     */
    if (!(p.x > 0.0) || p.z > (p.x + p.y) * (1.0 + 1e-9))
        return FF_ERR_INERTIA;
    return FF_OK;
}

ff_status ff_rigid_create(const ff_rigid_config *config, ff_rigid_model *model) {
    const ff_status status = ff_rigid_validate(config);
    if (status != FF_OK)
        return status;
    const ff_mat3 *I = &config->inertia;
    ff_mat3 axes;
    model->mass = config->mass;
    model->mass_inv = 1.0 / config->mass;
    model->inertia = *I;
    model->inertia_is_diag = I->m[0][1] == 0.0 && I->m[0][2] == 0.0 && I->m[1][2] == 0.0;
    if (model->inertia_is_diag) { /* keep the body axes: no rounding through a rotation */
        model->principal = ff_vec3_make(I->m[0][0], I->m[1][1], I->m[2][2]);
        model->q_bp = ff_quat_identity();
    } else {
        ff_mat3_eigen(*I, &model->principal, &axes);
        model->q_bp = ff_quat_from_mat3(axes);
    }
    return ff_mat3_inverse(*I, &model->inertia_inv);
}

double ff_rigid_kinetic_energy(const ff_rigid_model *model, const ff_rigid_state *state) {
    const ff_vec3 Iw = ff_mat3_apply(&model->inertia, state->omega);
    return 0.5 *
           (model->mass * ff_vec3_dot(state->velocity, state->velocity) + ff_vec3_dot(state->omega, Iw));
}

ff_vec3 ff_rigid_angular_momentum(const ff_rigid_model *model, const ff_rigid_state *state) {
    return ff_quat_rotate(state->attitude, ff_mat3_apply(&model->inertia, state->omega));
}

bool ff_rigid_finite(const ff_rigid_state *state) {
    return ff_pose_finite(ff_rigid_pose(state)) && ff_twist_finite((ff_twist){state->omega, state->velocity});
}
