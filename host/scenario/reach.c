/* Contacts that no motion of the scenario reaches. Only what is proven counts: bodies that nothing pushes
 * move in a straight line, and a point of a body that turns stays on a sphere about its CoM. */
#include "scenario/scenario.h"

typedef struct line { /* of the contact's point in the axes of the surface, and the sphere about it */
    ff_vec3 from, velocity;
    double radius;
} line;

static bool turns(const ff_rigid_state *body) {
    return ff_vec3_norm(body->omega) > 0.0;
}

static ff_vec3 line_at(const line *l, double t) {
    return ff_vec3_axpy(t, l->velocity, l->from);
}

/* Seen from `other` (NULL: inertial), whose axes are those of the start: right while it does not turn. */
static line point_line(const ff_rigid_state *body, ff_vec3 point, const ff_rigid_state *other) {
    line l = {.from = body->position, .velocity = body->velocity};
    if (turns(body))
        l.radius = ff_vec3_norm(point);
    else
        l.from = ff_pose_apply(ff_rigid_pose(body), point);
    if (other) {
        l.from = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(other)), l.from);
        l.velocity = ff_quat_unrotate(other->attitude, ff_vec3_sub(l.velocity, other->velocity));
    }
    return l;
}

/* A height above a plane is linear in time: least at an end. */
static double plane_clearance(const ff_contact *c, const line *l, double duration) {
    const double begin = ff_vec3_dot(c->normal, ff_vec3_sub(l->from, c->at));
    return fmin(begin, begin + duration * ff_vec3_dot(c->normal, l->velocity)) - l->radius;
}

/* Distance to the cavity's surface, negative inside: convex along a line, so largest at an end. */
static double cone_depth(const ff_contact *c, ff_vec3 p) {
    const ff_vec3 r = ff_vec3_sub(p, c->apex);
    const double z = ff_vec3_dot(c->axis, r), rho = ff_vec3_norm(ff_vec3_axpy(-z, c->axis, r));
    return rho * cos(c->half_angle) - z * sin(c->half_angle);
}

/* A point beyond the mouth touches nothing. Only the part of the path before the mouth has to stay in the
 * cavity. */
static double cone_clearance(const ff_contact *c, const line *l, double duration) {
    const double z = ff_vec3_dot(c->axis, ff_vec3_sub(l->from, c->apex)) - l->radius,
                 rate = ff_vec3_dot(c->axis, l->velocity);
    const double nearest = fmin(z, z + duration * rate);
    if (nearest > c->depth)
        return nearest - c->depth;
    double begin = 0.0, end = duration;
    if (z > c->depth)
        begin = fmin((c->depth - z) / rate, duration);
    if (z + duration * rate > c->depth)
        end = fmax((c->depth - z) / rate, 0.0);
    return -l->radius - fmax(cone_depth(c, line_at(l, begin)), cone_depth(c, line_at(l, end)));
}

/* Clearance that unforced motion keeps; not above zero: nothing is proven. */
static double free_clearance(const ff_scenario *s, const ff_contact *c) {
    const double duration = s->duration + s->cycle;
    const ff_rigid_state *body = &s->satellite[c->body].start;
    if (c->kind == FF_CONTACT_WALL) {
        const line l = point_line(body, c->point, NULL);
        return plane_clearance(c, &l, duration);
    }
    if (c->kind != FF_CONTACT_PAIR && c->kind != FF_CONTACT_CONE)
        return 0.0;
    const ff_rigid_state *other = &s->satellite[c->against].start;
    const line l = point_line(body, c->point, other);
    if (!turns(other))
        return c->kind == FF_CONTACT_PAIR ? plane_clearance(c, &l, duration)
                                          : cone_clearance(c, &l, duration);
    if (c->kind == FF_CONTACT_CONE)
        return 0.0;
    /* it may turn anyhow: the point stays in a ball about its CoM, which the plane must miss */
    const ff_vec3 apart = ff_vec3_sub(body->position, other->position),
                  later = ff_vec3_axpy(duration, ff_vec3_sub(body->velocity, other->velocity), apart);
    return -ff_vec3_dot(c->normal, c->at) - fmax(ff_vec3_norm(apart), ff_vec3_norm(later)) -
           ff_vec3_norm(c->point);
}

void ff_scenario_clearance(const ff_scenario *s, double *clearance) {
    bool pushed[FF_MAX_BODIES] = {false};
    for (int i = 0; i < s->loads; i++)
        pushed[s->load[i].body] = true;
    for (int i = 0; i < s->satellites; i++)
        for (int j = 0; j < s->satellites; j++)
            pushed[i] |= s->satellite[j].arm.present; /* its thrusters and its grasp */
    for (int c = 0; c < s->contacts; c++)
        clearance[c] = free_clearance(s, &s->contact[c]);
    /* who may touch is pushed, and may then touch more */
    for (bool more = true; more;) {
        more = false;
        for (int c = 0; c < s->contacts; c++) {
            const ff_contact *k = &s->contact[c];
            const bool two = k->against >= 0;
            const bool moved = pushed[k->body] || (two && pushed[k->against]);
            if (clearance[c] > 1e-9 && !moved)
                continue;
            more |= clearance[c] > 0.0 || !pushed[k->body] || (two && !pushed[k->against]);
            clearance[c] = 0.0;
            pushed[k->body] = true;
            if (two)
                pushed[k->against] = true;
        }
    }
}
