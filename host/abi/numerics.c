/* abi/numerics.c - the numerics alone, on arrays: a rigid body with its integrators, a tree of links. */
#include "abi/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/urdf.h"
#include "text/shipped.h"

/* --------------------------------------------------------------------------------------------- rigid body --
 */

static ff_rigid_state state_of(const double *s) {
    return (ff_rigid_state){.position = ff__abi_vec3(s),
                            .attitude = {s[3], s[4], s[5], s[6]},
                            .velocity = ff__abi_vec3(s + 7),
                            .omega = ff__abi_vec3(s + 10)};
}

static void put_state(const ff_rigid_state *s, double *to) {
    memcpy(to, s->position.a, 3 * sizeof *to);
    to[3] = s->attitude.w;
    to[4] = s->attitude.x;
    to[5] = s->attitude.y;
    to[6] = s->attitude.z;
    memcpy(to + 7, s->velocity.a, 3 * sizeof *to);
    memcpy(to + 10, s->omega.a, 3 * sizeof *to);
}

static ff_rigid_load load_of(const double *f, size_t step, int each) {
    const double *at = f ? f + (each ? 6 * step : 0) : NULL;
    return at ? (ff_rigid_load){.force = ff__abi_vec3(at), .torque = ff__abi_vec3(at + 3)}
              : (ff_rigid_load){0};
}

static int create(const ffh_rigid *body, ff_rigid_model *model, ffh_error *error) {
    const double *i = body->inertia;
    const ff_rigid_config config = {body->mass,
                                    {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}}};
    const ff_status status = ff_rigid_create(&config, model);
    return status == FF_OK ? FFH_OK
                           : ff__abi_fail(error, FFH_ARGUMENT, "rigid body: %s", ff_status_text(status));
}

static bool unit(const double *q) {
    return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 1e-6;
}

int ffh_rigid_advance(const ffh_rigid *body, const char *integrator, double h, size_t steps,
                      const double *state, const double *contact, const double *load, int each, double *after,
                      double *energy, ffh_error *error) {
    ff_rigid_model model;
    ff_integrate_config config = {.cycle = h};
    ff__abi_clear(error);
    bool known = false;
    for (int s = FF_SCHEME_LIE_MIDPOINT; s <= FF_SCHEME_SPLITTING; s++)
        if (strcmp(ff_scheme_name((ff_scheme)s), integrator) == 0) {
            config.scheme = (ff_scheme)s;
            known = true;
        }
    if (!known)
        return ff__abi_fail(error, FFH_ARGUMENT,
                            "no integrator '%s', allowed: lie-midpoint, euler, passive, splitting",
                            integrator);
    if (create(body, &model, error) != FFH_OK)
        return FFH_ARGUMENT;
    if (ff_integrate_validate(&config) != FF_OK)
        return ff__abi_fail(error, FFH_ARGUMENT, "the cycle is %g s, allowed: > 0", h);
    if (!ff__abi_finite(state, 13) || !unit(state + 3))
        return ff__abi_fail(error, FFH_ARGUMENT, "the state must be finite, its attitude a unit quaternion");
    ff_rigid_state x = state_of(state);
    ff_integrate_state memory;
    ff_integrate_reset(&x, &memory);
    for (size_t k = 0; k < steps; k++) {
        ff_integrate_out out;
        ff_integrate_step(&config, &model, load_of(contact, k, each), load_of(load, k, each), &x, &memory,
                          &out);
        put_state(&x, after + 13 * k);
        if (energy)
            memcpy(energy + 3 * k, (double[]){out.contact, out.loads, out.scheme}, 3 * sizeof *energy);
    }
    return FFH_OK;
}

int ffh_rigid_measure(const ffh_rigid *body, const double *state, size_t n, double *kinetic, double *momentum,
                      ffh_error *error) {
    ff_rigid_model model;
    ff__abi_clear(error);
    if (create(body, &model, error) != FFH_OK)
        return FFH_ARGUMENT;
    for (size_t k = 0; k < n; k++) {
        const ff_rigid_state x = state_of(state + 13 * k);
        if (kinetic)
            kinetic[k] = ff_rigid_kinetic_energy(&model, &x);
        if (momentum) {
            const ff_vec3 p = ff_vec3_scale(model.mass, x.velocity),
                          L = ff_rigid_angular_momentum(&model, &x);
            memcpy(momentum + 6 * k, p.a, sizeof p.a);
            memcpy(momentum + 6 * k + 3, L.a, sizeof L.a);
        }
    }
    return FFH_OK;
}

/* --------------------------------------------------------------------------------------------------- tree --
 */

struct ffh_tree {
    ff_urdf urdf;
    ff_tree_model *model;
    ff_tree_work *work;
    void *memory[2];
    size_t joints, dof, links;
    int moving[FFH_JOINTS]; /* rows of the joints */
};

void ffh_tree_close(ffh_tree *tree) {
    if (!tree)
        return;
    free(tree->memory[0]);
    free(tree->memory[1]);
    free(tree);
}

static int make(ffh_tree *t, const char *path, const ffh_rigid *base, ffh_error *error) {
    char message[600] = "";
    const ff_status read = ff_urdf_load(NULL, path, false, &t->urdf, message, sizeof message);
    if (read == FF_ERR_IO)
        return ff__abi_fail(error, FFH_FILES, "%s: cannot be read: %s", path, message);
    if (read != FF_OK) {
        ff_notes notes = {.error = ""};
        const ff_outcome refused = ff_notes_error(&notes, FF_REFUSED, "%s", message);
        return ff__abi_notes(error, FFH_SCENARIO, refused, &notes);
    }
    ff_tree_link_config link[FF_URDF_LINKS];
    for (int i = 0; i < t->urdf.links; i++) {
        link[i] = ff_link_tree(&t->urdf.link[i].row);
        link[i].name = t->urdf.link[i].name;
        if (t->urdf.link[i].row.joint != FF_JOINT_FIXED && t->joints < FFH_JOINTS)
            t->moving[t->joints++] = i;
    }
    ff_tree_config config;
    ff_tree_config_default(&config);
    config.fixed_base = !base;
    config.links = t->links = (size_t)t->urdf.links;
    config.link = link;
    if (base) {
        config.base_mass = base->mass;
        config.base_com = ff__abi_vec3(base->com);
        memcpy(config.base_inertia, base->inertia, sizeof config.base_inertia);
    }
    const size_t bytes = ff_tree_memsize(&config);
    t->memory[0] = malloc(bytes ? bytes : 1);
    if (!t->memory[0])
        return ff__abi_fail(error, FFH_MEMORY, "%s: no memory", path);
    if (ff_tree_create(&config, t->memory[0], bytes, &t->model, message, sizeof message) != FF_OK)
        return ff__abi_fail(error, FFH_ARGUMENT, "%s: %s", path, message);
    const size_t work = ff_tree_work_memsize(t->model);
    t->memory[1] = malloc(work);
    if (!t->memory[1] || ff_tree_work_create(t->model, t->memory[1], work, &t->work) != FF_OK)
        return ff__abi_fail(error, FFH_MEMORY, "%s: no memory", path);
    t->joints = ff_tree_joints(t->model);
    t->dof = ff_tree_dof(t->model);
    return FFH_OK;
}

ffh_tree *ffh_tree_urdf(const char *path, const ffh_rigid *base, ffh_error *error) {
    char shipped[FF_FILE_PATH];
    ff__abi_clear(error);
    if (ff_shipped_find("scenarios", path, shipped))
        path = shipped;
    ffh_tree *t = calloc(1, sizeof *t);
    if (t && make(t, path, base, error) == FFH_OK)
        return t;
    if (!t)
        ff__abi_fail(error, FFH_MEMORY, "%s: no memory", path);
    ffh_tree_close(t);
    return NULL;
}

void ffh_tree_describe(const ffh_tree *t, ffh_tree_info *info) {
    *info = (ffh_tree_info){
        .joints = (int)t->joints, .links = (int)t->links, .dof = (int)t->dof, .mass = ff_tree_mass(t->model)};
    for (size_t j = 0; j < t->joints; j++) {
        const ff_urdf_link *link = &t->urdf.link[t->moving[j]];
        info->joint[j] = link->joint_name;
        info->lower[j] = link->row.lower;
        info->upper[j] = link->row.upper;
    }
}

static void put_pose(ff_pose T, double *to) {
    memcpy(to, T.p.a, sizeof T.p.a);
    to[3] = T.q.w;
    to[4] = T.q.x;
    to[5] = T.q.y;
    to[6] = T.q.z;
}

/* The parts of a row of dof numbers: base (angular, linear) where it is free, then joints. */
static void split(const ffh_tree *t, const double *row, ff_vec3 *angular, ff_vec3 *linear, double *joints) {
    const size_t base = t->dof - t->joints;
    if (base) {
        *angular = ff__abi_vec3(row);
        *linear = ff__abi_vec3(row + 3);
    }
    memcpy(joints, row + base, t->joints * sizeof *joints);
}

static void join(const ffh_tree *t, ff_vec3 angular, ff_vec3 linear, const double *joints, double *row) {
    const size_t base = t->dof - t->joints;
    if (base) {
        memcpy(row, angular.a, sizeof angular.a);
        memcpy(row + 3, linear.a, sizeof linear.a);
    }
    memcpy(row + base, joints, t->joints * sizeof *joints);
}

static ff_status evaluate(ffh_tree *t, const ffh_tree_ask *ask, size_t k) {
    const size_t d = t->dof;
    ff_tree_state state;
    ff_tree_state_default(&state);
    memcpy(state.q, ask->q + k * t->joints, t->joints * sizeof *state.q);
    if (ask->base) {
        const double *b = ask->base + 7 * k;
        state.base = (ff_pose){.q = {b[3], b[4], b[5], b[6]}, .p = ff__abi_vec3(b)};
    }
    if (ask->v)
        split(t, ask->v + d * k, &state.twist.w, &state.twist.v, state.qd);
    ff_tree_kinematics(t->model, &state, t->work, ask->gravity ? ff__abi_vec3(ask->gravity) : ff_vec3_zero());
    const ff_tree_frame frame = {ask->link < 0 ? (int)t->links - 1 : ask->link, ff_pose_identity()};
    if (ask->mass_matrix)
        ff_tree_mass_matrix(t->model, t->work, ask->mass_matrix + d * d * k);
    if (ask->bias)
        ff_tree_bias(t->model, t->work, ask->bias + d * k);
    if (ask->kinetic)
        ask->kinetic[k] = ff_tree_kinetic_energy(t->model, t->work);
    if (ask->pose)
        put_pose(ff_tree_frame_pose(t->model, t->work, &frame), ask->pose + 7 * k);
    if (ask->jacobian)
        ff_tree_frame_jacobian(t->model, t->work, &frame, ask->jacobian + 6 * d * k);
    if (ask->acceleration && ask->force) {
        ff_tree_acceleration a = {0};
        ff_tree_force f = {0};
        split(t, ask->acceleration + d * k, &a.base.w, &a.base.v, a.qdd);
        ff_tree_inverse_dynamics(t->model, t->work, &a, NULL, &f);
        join(t, f.base.t, f.base.f, f.torque, ask->force + d * k);
    }
    if (ask->force_in && ask->acceleration_out) {
        ff_tree_force f = {0};
        ff_tree_acceleration a = {0};
        split(t, ask->force_in + d * k, &f.base.t, &f.base.f, f.torque);
        const ff_status status = ff_tree_forward_dynamics(t->model, t->work, &f, NULL, &a);
        if (status != FF_OK)
            return status;
        join(t, a.base.w, a.base.v, a.qdd, ask->acceleration_out + d * k);
    }
    return FF_OK;
}

int ffh_tree_evaluate(ffh_tree *t, const ffh_tree_ask *ask, size_t n, ffh_error *error) {
    ff__abi_clear(error);
    if (ask->link < -1 || ask->link >= (int)t->links)
        return ff__abi_fail(error, FFH_ARGUMENT, "link %d, allowed: 0 to %zu, -1: the last", ask->link,
                            t->links - 1);
    for (size_t k = 0; k < n; k++) {
        if (ask->base && !unit(ask->base + 7 * k + 3))
            return ff__abi_fail(error, FFH_ARGUMENT, "row %zu: the base's attitude is not a unit quaternion",
                                k);
        const ff_status status = evaluate(t, ask, k);
        if (status != FF_OK)
            return ff__abi_fail(error, FFH_ARGUMENT, "row %zu: %s", k, ff_status_text(status));
    }
    return FFH_OK;
}
