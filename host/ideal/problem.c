#include "ideal/problem.h"

#include <stdio.h>
#include <string.h>

void ff__ideal_pack(const ff_rigid_state *s, double *y) {
    memcpy(y, s->position.a, sizeof s->position.a);
    y[3] = s->attitude.w;
    y[4] = s->attitude.x;
    y[5] = s->attitude.y;
    y[6] = s->attitude.z;
    memcpy(y + 7, s->velocity.a, sizeof s->velocity.a);
    memcpy(y + 10, s->omega.a, sizeof s->omega.a);
}

/* The attitude is made unit here and nowhere else: q' = q w / 2 is linear in q, so a drift of |q| never
 * reaches the direction of q, and geometry always sees a rotation. */
ff_rigid_state ff__ideal_unpack(const double *y) {
    ff_rigid_state s;
    memcpy(s.position.a, y, sizeof s.position.a);
    s.attitude = ff_quat_unit((ff_quat){y[3], y[4], y[5], y[6]});
    memcpy(s.velocity.a, y + 7, sizeof s.velocity.a);
    memcpy(s.omega.a, y + 10, sizeof s.omega.a);
    return s;
}

/* ------------------------------------------------------------------------------------------ contact laws --
 */

/* [he2022, (24)] the damping grows with depth as 3 s^2 - 2 s^3 and stays there. */
static double damping_at(double damping, double full_depth, double depth) {
    if (!(full_depth > 0.0))
        return damping;
    const double s = fmin(fmax(depth / full_depth, 0.0), 1.0);
    return damping * s * s * (3.0 - 2.0 * s);
}

/* A pair or cone without `against` stands still in the inertial frame. */
static bool has_other(const ff_contact *c) {
    return (c->kind == FF_CONTACT_PAIR || c->kind == FF_CONTACT_CONE || c->kind == FF_CONTACT_GRASP) &&
           c->against >= 0;
}

/* Where a point contact is: everything in inertial axes. */
typedef struct place {
    ff_vec3 x;     /* point of `body` */
    ff_vec3 n;     /* unit normal towards the free side */
    ff_vec3 slide; /* velocity of the point relative to the surface, along the surface */
    ff_ideal_value value;
} place;

/* Cone in the frame of `against`: z along the axis from the apex, rho from the axis. The material is what
 * lies outside the cavity rho < z tan(a) and below the plane of its mouth, z < depth: a tip inside is as deep
 * as its nearest surface is far, the cavity's wall or the face around the mouth, so the elastic force has a
 * potential whichever surface was passed. Along a generator the wall's foot point lies s = rho sin a + z cos
 * a from the apex; behind the apex (s < 0) the nearest point of the wall is the apex itself. */
typedef struct cone_depths {
    double wall, face; /* [m] below each */
    ff_vec3 n;         /* the wall's normal, towards the cavity */
} cone_depths;

static cone_depths cone_geometry(const ff_contact *c, ff_vec3 y) {
    const double ca = cos(c->half_angle), sa = sin(c->half_angle);
    const ff_vec3 r = ff_vec3_sub(y, c->apex);
    const double z = ff_vec3_dot(r, c->axis);
    const ff_vec3 across = ff_vec3_axpy(-z, c->axis, r);
    const double rho = ff_vec3_norm(across), s = rho * sa + z * ca;
    cone_depths d = {.face = c->depth - z};
    if (s < 0.0) {
        d.wall = ff_vec3_norm(r); /* not zero, as s is not */
        d.n = ff_vec3_scale(-1.0 / d.wall, r);
    } else {
        d.wall = rho * ca - z * sa;
        const ff_vec3 out = rho > 0.0 ? ff_vec3_scale(1.0 / rho, across) : ff_vec3_zero();
        d.n = ff_vec3_axpy(-ca, out, ff_vec3_scale(sa, c->axis));
    }
    return d;
}

/* The surface that acts is the unit's until an event changes it; a point that is out meets the nearest. */
static void point_place(const ff_ideal_problem *problem, int contact, const ff_rigid_state *state, place *p) {
    const ff_contact *c = &problem->scenario->contact[contact];
    const ff_ideal_unit *unit = &problem->unit[problem->first_unit[contact]];
    const ff_rigid_state *A = &state[c->body];
    p->x = ff_pose_apply(ff_rigid_pose(A), c->point);
    ff_vec3 u = ff_rigid_point_velocity(A, c->point); /* becomes relative to the surface */
    ff_ideal_value *v = &p->value;
    v->past = -1.0;
    v->face = false;
    if (c->kind == FF_CONTACT_WALL) {
        p->n = c->normal;
        v->depth = -ff_vec3_dot(c->normal, ff_vec3_sub(p->x, c->at));
    } else {
        static const ff_rigid_state still = {.attitude = {1, 0, 0, 0}};
        const ff_rigid_state *B = c->against >= 0 ? &state[c->against] : &still;
        const ff_vec3 y = ff_quat_unrotate(B->attitude, ff_vec3_sub(p->x, B->position));
        u = ff_vec3_sub(u, ff_rigid_point_velocity(B, y));
        ff_vec3 n_b = c->normal;
        if (c->kind == FF_CONTACT_CONE) {
            const cone_depths d = cone_geometry(c, y);
            v->face = unit->mode == FF_IDEAL_OUT ? d.face < d.wall : unit->face;
            v->depth = v->face ? d.face : d.wall;
            v->past = v->face ? d.face - d.wall : d.wall - d.face;
            n_b = v->face ? c->axis : d.n;
        } else
            v->depth = -ff_vec3_dot(n_b, ff_vec3_sub(y, c->at));
        p->n = ff_quat_rotate(B->attitude, n_b);
    }
    v->gate = v->depth;
    /* The normal is the gradient of -depth, so the depth grows with the approach along it. */
    v->rate = -ff_vec3_dot(p->n, u);
    v->speed = ff_vec3_norm(u);
    p->slide = ff_vec3_axpy(v->rate, p->n, u);
    v->damping = damping_at(c->satellite_damping, c->damping_depth, v->depth);
    v->force = c->satellite_stiffness * v->depth + v->damping * v->rate;
    if (c->law) {
        v->damping = 1.0; /* its force may end before the depth does */
        v->force = c->law->force(c->law->self, fmax(v->depth, 0.0), v->rate);
    }
}

/* Stops: the six axes apart. Position in inertial axes from the origin; rotation by the components of the
 * rotation vector of the attitude, with the body's own rate about that axis. */
static ff_ideal_value stop_value(const ff_contact *c, const ff_ideal_unit *unit, const ff_rigid_state *A,
                                 ff_vec3 phi) {
    const bool turns = unit->axis >= 3;
    const int i = unit->axis % 3;
    const double x = turns ? phi.a[i] : A->position.a[i],
                 half = (turns ? c->stop_rotation : c->stop_position).a[i];
    const double rate = turns ? A->omega.a[i] : A->velocity.a[i];
    ff_ideal_value v = {.past = -1.0};
    v.gate = v.depth = unit->side * x - half;
    v.rate = unit->side * rate;
    v.damping = turns ? c->rotation_damping : damping_at(c->satellite_damping, c->damping_depth, v.depth);
    v.force = (turns ? c->rotation_stiffness : c->satellite_stiffness) * v.depth + v.damping * v.rate;
    return v;
}

/* `body` in the frame of `against`: the held point's place and velocity there, attitude and rate in its axes.
 */
typedef struct hold {
    ff_vec3 x, v, w;
    ff_quat q;
} hold;

static hold hold_of(const ff_contact *c, const ff_rigid_state *state) {
    const ff_rigid_state *A = &state[c->body], *B = &state[c->against];
    hold h;
    const ff_vec3 x = ff_pose_apply(ff_rigid_pose(A), c->point);
    h.x = ff_quat_unrotate(B->attitude, ff_vec3_sub(x, B->position));
    h.v = ff_quat_unrotate(
        B->attitude, ff_vec3_sub(ff_rigid_point_velocity(A, c->point), ff_rigid_point_velocity(B, h.x)));
    h.q = ff_quat_mul(ff_quat_conj(B->attitude), A->attitude);
    h.w = ff_vec3_sub(ff_quat_rotate(h.q, A->omega), B->omega);
    return h;
}

/* Closed: nothing more can happen. Armed: it closes where the distance falls below the reach. */
static ff_ideal_value grasp_value(const ff_ideal_problem *problem, int contact, const ff_rigid_state *state) {
    const ff_contact *c = &problem->scenario->contact[contact];
    if (problem->grasp[contact].closed || !problem->grasp[contact].armed)
        return (ff_ideal_value){
            .gate = problem->grasp[contact].closed ? 1.0 : -1.0, .force = 1.0, .past = -1.0};
    const hold h = hold_of(c, state);
    const ff_vec3 e = ff_vec3_sub(h.x, c->at);
    const double distance = ff_vec3_norm(e);
    return (ff_ideal_value){.gate = c->reach - distance,
                            .rate = distance > 0.0 ? -ff_vec3_dot(e, h.v) / distance : 0.0,
                            .force = 1.0,
                            .past = -1.0};
}

void ff__ideal_set_grasps(ff_ideal_problem *problem, double t, const double *y) {
    for (int k = 0; k < problem->scenario->contacts; k++) {
        const ff_contact *c = &problem->scenario->contact[k];
        if (c->kind != FF_CONTACT_GRASP || problem->grasp[k].closed)
            continue;
        problem->grasp[k].armed = t >= c->closes;
        ff_rigid_state state[FF_MAX_BODIES];
        state[c->body] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * c->body);
        state[c->against] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * c->against);
        ff_ideal_unit *unit = &problem->unit[problem->first_unit[k]];
        if (problem->grasp[k].armed &&
            (grasp_value(problem, k, state).gate >= 0.0 || unit->mode == FF_IDEAL_IN)) {
            const hold h = hold_of(c, state);
            problem->grasp[k].closed = true;
            problem->grasp[k].at = h.x;
            problem->grasp[k].q = h.q;
            unit->mode = FF_IDEAL_IN;
        }
    }
}

void ff__ideal_values(const ff_ideal_problem *problem, int contact, const double *y, ff_ideal_value *value) {
    const ff_contact *c = &problem->scenario->contact[contact];
    ff_rigid_state state[FF_MAX_BODIES];
    state[c->body] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * c->body);
    if (c->kind == FF_CONTACT_STOPS) {
        const ff_vec3 phi = ff_quat_log(state[c->body].attitude);
        for (int u = problem->first_unit[contact]; u < problem->first_unit[contact + 1]; u++)
            *value++ = stop_value(c, &problem->unit[u], &state[c->body], phi);
        return;
    }
    if (has_other(c))
        state[c->against] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * c->against);
    if (c->kind == FF_CONTACT_GRASP) {
        *value = grasp_value(problem, contact, state);
        return;
    }
    place p;
    point_place(problem, contact, state, &p);
    *value = p.value;
}

static void add_force(ff_rigid_load *load, const ff_rigid_state *s, ff_vec3 x, ff_vec3 F) {
    load->force = ff_vec3_add(load->force, F);
    load->torque = ff_vec3_add(load->torque,
                               ff_quat_unrotate(s->attitude, ff_vec3_cross(ff_vec3_sub(x, s->position), F)));
}

/* Force through the held point and a couple, both opposite on the two bodies; inertial axes. */
static ff_vec3 grasp_load(const ff_ideal_problem *problem, int contact, const ff_rigid_state *state,
                          ff_rigid_load *load) {
    const ff_contact *c = &problem->scenario->contact[contact];
    const ff_rigid_state *A = &state[c->body], *B = &state[c->against];
    if (!problem->grasp[contact].closed)
        return ff_vec3_zero();
    const hold h = hold_of(c, state);
    const ff_vec3 stretch = ff_vec3_sub(h.x, problem->grasp[contact].at);
    const ff_vec3 turn = ff_quat_log(ff_quat_mul(h.q, ff_quat_conj(problem->grasp[contact].q)));
    ff_vec3 F, m;
    for (int i = 0; i < 3; i++) {
        F.a[i] = -c->satellite_stiffness * stretch.a[i] - c->satellite_damping * h.v.a[i];
        m.a[i] = -c->rotation_stiffness * turn.a[i] - c->rotation_damping * h.w.a[i];
    }
    F = ff_quat_rotate(B->attitude, F);
    const ff_vec3 x = ff_pose_apply(ff_rigid_pose(A), c->point), M = ff_quat_rotate(B->attitude, m);
    add_force(&load[c->body], A, x, F);
    add_force(&load[c->against], B, x, ff_vec3_neg(F));
    load[c->body].torque = ff_vec3_add(load[c->body].torque, ff_quat_unrotate(A->attitude, M));
    load[c->against].torque = ff_vec3_sub(load[c->against].torque, m);
    return F;
}

ff_vec3 ff__ideal_contact_load(const ff_ideal_problem *problem, int contact, const ff_rigid_state *state,
                               ff_rigid_load *load) {
    const ff_contact *c = &problem->scenario->contact[contact];
    const int first = problem->first_unit[contact], last = problem->first_unit[contact + 1];
    ff_vec3 F = ff_vec3_zero();
    bool in = false;
    for (int u = first; u < last && !in; u++)
        in = problem->unit[u].mode == FF_IDEAL_IN;
    if (!in)
        return F;
    if (c->kind == FF_CONTACT_STOPS) {
        const ff_vec3 phi = ff_quat_log(state[c->body].attitude);
        for (int u = first; u < last; u++) {
            const ff_ideal_unit *unit = &problem->unit[u];
            if (unit->mode != FF_IDEAL_IN)
                continue;
            const double f = stop_value(c, unit, &state[c->body], phi).force;
            if (unit->axis < 3)
                F.a[unit->axis] -= unit->side * f;
            else
                load[c->body].torque.a[unit->axis - 3] -= unit->side * f;
        }
        load[c->body].force = ff_vec3_add(load[c->body].force, F);
        return F;
    }
    if (c->kind == FF_CONTACT_GRASP)
        return grasp_load(problem, contact, state, load);
    place p;
    point_place(problem, contact, state, &p);
    F = ff_vec3_scale(p.value.force, p.n);
    if (c->friction > 0.0) {
        const double u2 = ff_vec3_dot(p.slide, p.slide);
        F = ff_vec3_axpy(-c->friction * p.value.force / sqrt(u2 + FF_IDEAL_SLIP * FF_IDEAL_SLIP), p.slide, F);
    }
    add_force(&load[c->body], &state[c->body], p.x, F);
    /* The reaction acts at the same point: both forces on one line, so a pair's momentum is kept. */
    if (has_other(c))
        add_force(&load[c->against], &state[c->against], p.x, ff_vec3_neg(F));
    return F;
}

/* ------------------------------------------------------------------------------------------ the equations --
 */

void ff__ideal_set_loads(ff_ideal_problem *problem, double t) {
    for (int i = 0; i < problem->scenario->loads; i++) {
        const ff_load *l = &problem->scenario->load[i];
        problem->load_on[i] = l->from <= t && t < l->to;
    }
}

static double load_shape(const ff_load *l, double t) {
    const double s = sin(FF_PI * (t - l->from) / (l->to - l->from));
    switch (l->kind) {
    case FF_LOAD_HALFSINE:
        return s;
    case FF_LOAD_SIN2:
        return s * s;
    case FF_LOAD_PULSE:
    default:
        return 1.0;
    }
}

/* [destefano2019, (1), (2)] m v' = F, I w' = I w x w + tau; p' = v, q' = q w / 2. */
void ff__ideal_derivative(const ff_ideal_problem *problem, double t, const double *y, double *dy) {
    const ff_scenario *scenario = problem->scenario;
    ff_rigid_state state[FF_MAX_BODIES];
    ff_rigid_load load[FF_MAX_BODIES];
    for (int i = 0; i < scenario->satellites; i++) {
        state[i] = ff__ideal_unpack(y + FF_IDEAL_BODY_SIZE * i);
        load[i] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
    }
    for (int c = 0; c < scenario->contacts; c++)
        ff__ideal_contact_load(problem, c, state, load);
    for (int i = 0; i < scenario->loads; i++)
        if (problem->load_on[i]) {
            const ff_load *l = &scenario->load[i];
            const double s = load_shape(l, t);
            load[l->body].force = ff_vec3_axpy(s, l->force, load[l->body].force);
            load[l->body].torque = ff_vec3_axpy(s, l->torque, load[l->body].torque);
        }
    for (int i = 0; i < scenario->satellites; i++) {
        const double *yi = y + FF_IDEAL_BODY_SIZE * i;
        ff_rigid_state rate;
        const ff_vec3 w = state[i].omega;
        const ff_quat q = {yi[3], yi[4], yi[5], yi[6]}; /* as integrated, see ff__ideal_unpack */
        rate.position = state[i].velocity;
        rate.attitude = ff_quat_mul(q, (ff_quat){0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z});
        rate.velocity = ff_vec3_scale(problem->model[i].mass_inv, load[i].force);
        rate.omega = ff_rigid_angular_acceleration(&problem->model[i], w, load[i].torque);
        ff__ideal_pack(&rate, dy + FF_IDEAL_BODY_SIZE * i);
    }
}

/* ------------------------------------------------------------------------------------------------- setup --
 */

static void add_unit(ff_ideal_problem *problem, int contact, int axis, double side) {
    problem->unit[problem->units++] =
        (ff_ideal_unit){.contact = contact, .axis = axis, .side = side, .mode = FF_IDEAL_OUT};
}

static ff_status check_contact(const ff_scenario *s, const ff_contact *c, char *message, size_t size) {
    const bool grasp = c->kind == FF_CONTACT_GRASP,
               both = c->kind == FF_CONTACT_PAIR || c->kind == FF_CONTACT_CONE || grasp;
    if (c->body < 0 || c->body >= s->satellites ||
        (both && (c->against >= s->satellites || (grasp && c->against < 0) || c->against == c->body))) {
        snprintf(message, size, "contact '%s' names a satellite that does not exist, or one against itself",
                 c->name);
        return FF_ERR_ARGUMENT;
    }
    const bool turns = c->kind == FF_CONTACT_STOPS || grasp;
    if (!(c->satellite_stiffness >= 0.0) || !(c->satellite_damping >= 0.0) ||
        !isfinite(c->satellite_stiffness) || !isfinite(c->satellite_damping) ||
        (turns && (!(c->rotation_stiffness >= 0.0) || !(c->rotation_damping >= 0.0)))) {
        snprintf(message, size, "contact '%s': stiffness and damping must be finite and not negative",
                 c->name);
        return FF_ERR_ARGUMENT;
    }
    return FF_OK;
}

ff_status ff__ideal_problem_create(const ff_scenario *scenario, ff_ideal_problem *problem, char *message,
                                   size_t size) {
    memset(problem, 0, sizeof *problem);
    if (scenario->satellites < 1 || scenario->satellites > FF_MAX_BODIES || scenario->contacts < 0 ||
        scenario->contacts > FF_MAX_CONTACTS || scenario->loads < 0 || scenario->loads > FF_MAX_LOADS ||
        !(scenario->cycle > 0.0) || !isfinite(scenario->cycle)) {
        snprintf(message, size,
                 "the scenario is not valid: satellites, contacts, loads or cycle out of range");
        return FF_ERR_ARGUMENT;
    }
    if (ff_scenario_servicer(scenario) >= 0) {
        snprintf(message, size, "an arm has a reference of its own: the orbit");
        return FF_ERR_UNSUPPORTED;
    }
    problem->scenario = scenario;
    for (int i = 0; i < scenario->satellites; i++) {
        const ff_satellite *sat = &scenario->satellite[i];
        const ff_status status = ff_rigid_create(&sat->rigid, &problem->model[i]);
        if (status != FF_OK) {
            snprintf(message, size, "satellite '%s': %s", sat->name, ff_status_text(status));
            return status;
        }
        if (!ff_rigid_finite(&sat->start)) {
            snprintf(message, size, "satellite '%s': its start is not finite", sat->name);
            return FF_ERR_NOT_FINITE;
        }
    }
    for (int i = 0; i < scenario->loads; i++)
        if (scenario->load[i].body < 0 || scenario->load[i].body >= scenario->satellites) {
            snprintf(message, size, "load %d acts on a satellite that does not exist", i);
            return FF_ERR_ARGUMENT;
        }
    for (int k = 0; k < scenario->contacts; k++) {
        const ff_contact *c = &scenario->contact[k];
        const ff_status status = check_contact(scenario, c, message, size);
        if (status != FF_OK)
            return status;
        problem->first_unit[k] = problem->units;
        if (c->kind == FF_CONTACT_STOPS) {
            for (int axis = 0; axis < 6; axis++)
                if (isfinite(axis < 3 ? c->stop_position.a[axis] : c->stop_rotation.a[axis - 3])) {
                    add_unit(problem, k, axis, 1.0);
                    add_unit(problem, k, axis, -1.0);
                }
        } else
            add_unit(problem, k, -1, 1.0);
        problem->first_unit[k + 1] = problem->units;
    }
    return FF_OK;
}
