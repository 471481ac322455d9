/* freefloat/dynamics.h - models of what floats. */
#ifndef FREEFLOAT_DYNAMICS_H
#define FREEFLOAT_DYNAMICS_H

#include "freefloat/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------ rigid body -- */

typedef struct ff_rigid_config {
    double mass;     /* [kg] > 0 */
    ff_mat3 inertia; /* [kg m2] about the CoM, body axes; symmetric, positive, triangle inequality */
} ff_rigid_config;

typedef struct ff_rigid_model {
    double mass, mass_inv;
    ff_mat3 inertia, inertia_inv;
    ff_vec3 principal;    /* [kg m2] principal moments, ascending */
    ff_quat q_bp;         /* principal axes to body axes */
    bool inertia_is_diag; /* the body axes are principal axes */
} ff_rigid_model;

/* All that is needed to resume a free body. */
typedef struct ff_rigid_state {
    ff_vec3 position; /* [m] CoM, inertial */
    ff_quat attitude; /* body to inertial */
    ff_vec3 velocity; /* [m/s] inertial */
    ff_vec3 omega;    /* [rad/s] body */
} ff_rigid_state;

/* A wrench on a free body as the equations of motion take it: force inertial, torque about the CoM in body
 * axes. */
typedef struct ff_rigid_load {
    ff_vec3 force;  /* [N] inertial */
    ff_vec3 torque; /* [N m] body */
} ff_rigid_load;

/* FF_ERR_MASS, FF_ERR_INERTIA (also for a matrix that is not symmetric to 1e-9), FF_ERR_NOT_FINITE. */
ff_status ff_rigid_validate(const ff_rigid_config *config);
ff_status ff_rigid_create(const ff_rigid_config *config, ff_rigid_model *model);

/* [destefano2019, (2)] w' = I^-1 (I w x w + torque) */
static inline ff_vec3 ff_rigid_angular_acceleration(const ff_rigid_model *model, ff_vec3 w, ff_vec3 torque) {
    const ff_vec3 Iw = ff_mat3_apply(&model->inertia, w);
    return ff_mat3_apply(&model->inertia_inv, ff_vec3_add(ff_vec3_cross(Iw, w), torque));
}
/* [destefano2019, (3)] H = 1/2 m v.v + 1/2 w.I w [J] */
double ff_rigid_kinetic_energy(const ff_rigid_model *model, const ff_rigid_state *state);
/* Angular momentum about the CoM, inertial axes [N m s]. */
ff_vec3 ff_rigid_angular_momentum(const ff_rigid_model *model, const ff_rigid_state *state);
bool ff_rigid_finite(const ff_rigid_state *state);
static inline ff_pose ff_rigid_pose(const ff_rigid_state *state) {
    return (ff_pose){state->attitude, state->position};
}
/* Velocity of a body-fixed point [m/s], inertial. */
static inline ff_vec3 ff_rigid_point_velocity(const ff_rigid_state *state, ff_vec3 r_b) {
    return ff_vec3_add(state->velocity, ff_quat_rotate(state->attitude, ff_vec3_cross(state->omega, r_b)));
}
/* Power of a load at a state [W]. */
static inline double ff_rigid_power(ff_rigid_load load, ff_vec3 velocity, ff_vec3 omega) {
    return ff_vec3_dot(load.force, velocity) + ff_vec3_dot(load.torque, omega);
}
/* A wrench in body axes about the CoM, turned into the load on a body with attitude q. */
static inline ff_rigid_load ff_rigid_load_from_body(ff_quat q, ff_wrench f_b) {
    return (ff_rigid_load){ff_quat_rotate(q, f_b.f), f_b.t};
}
static inline ff_rigid_load ff_rigid_load_scale(double s, ff_rigid_load a) {
    return (ff_rigid_load){ff_vec3_scale(s, a.force), ff_vec3_scale(s, a.torque)};
}
static inline ff_rigid_load ff_rigid_load_sub(ff_rigid_load a, ff_rigid_load b) {
    return (ff_rigid_load){ff_vec3_sub(a.force, b.force), ff_vec3_sub(a.torque, b.torque)};
}

#ifdef __cplusplus
}
#endif
#endif
