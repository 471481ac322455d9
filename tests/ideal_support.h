/* Scenarios built by hand for the tests of host/ideal. */
#ifndef FF_TESTS_IDEAL_SUPPORT_H
#define FF_TESTS_IDEAL_SUPPORT_H

#include "support.h"

#include "ideal/ideal.h"

static inline void make_scenario(ff_scenario *s, double cycle, double duration) {
    memset(s, 0, sizeof *s);
    s->cycle = cycle;
    s->duration = duration;
    s->cycles = (uint64_t)llround(duration / cycle);
}

static inline ff_satellite *add_body(ff_scenario *s, double mass, ff_mat3 inertia) {
    ff_satellite *body = &s->satellite[s->satellites];
    snprintf(body->name, sizeof body->name, "body%d", s->satellites++);
    body->rigid.mass = mass;
    body->rigid.inertia = inertia;
    body->start.attitude = ff_quat_identity();
    return body;
}

static inline ff_contact *add_contact(ff_scenario *s, ff_contact_kind kind, double stiffness,
                                      double damping) {
    ff_contact *c = &s->contact[s->contacts];
    snprintf(c->name, sizeof c->name, "contact%d", s->contacts++);
    c->kind = kind;
    c->against = kind == FF_CONTACT_PAIR || kind == FF_CONTACT_CONE ? 1 : -1;
    c->stiffness = c->satellite_stiffness = stiffness;
    c->damping = c->satellite_damping = damping;
    c->normal = ff_vec3_make(0, 0, -1);
    c->axis = ff_vec3_make(0, 0, -1);
    c->depth = HUGE_VAL;
    c->stop_position = c->stop_rotation = ff_vec3_make(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    return c;
}

static inline ff_load *add_load(ff_scenario *s, ff_load_kind kind, ff_vec3 force, ff_vec3 torque, double from,
                                double to) {
    ff_load *l = &s->load[s->loads++];
    *l = (ff_load){.kind = kind, .force = force, .torque = torque, .from = from, .to = to};
    return l;
}

static inline void solve_or_fail(const ff_scenario *s, ff_ideal_result *r) {
    char message[256];
    const ff_status status = ff_ideal_solve(s, NULL, NULL, r, message, sizeof message);
    if (status != FF_OK)
        fail_msg("%s: %s", ff_status_name(status), message);
}

static inline const ff_rigid_state *state_of(const ff_ideal_result *r, uint64_t k, int body) {
    return &r->state[k * (uint64_t)r->bodies + (uint64_t)body];
}

/* A random physical inertia: principal moments that obey the triangle inequality, turned. */
static inline ff_mat3 random_inertia(ff_rng *rng, double size) {
    const double a = ff_rng_range(rng, 0.2, 1), b = ff_rng_range(rng, 0.2, 1), c = ff_rng_range(rng, 0.2, 1);
    const ff_mat3 R = ff_quat_to_mat3(test_random_quat(rng));
    ff_mat3 I = ff_mat3_mul(ff_mat3_mul(R, ff_mat3_diag(size * (b + c), size * (a + c), size * (a + b))),
                            ff_mat3_transpose(R));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            I.m[i][j] = I.m[j][i];
    return I;
}

#endif
