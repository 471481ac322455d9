/* The parts of fused one by one: a history of robots that make a contact of known law, normal, point and
 * friction, written by hand into a state, so that each function can be asked alone. */
#ifndef FF_TESTS_FUSED_BENCH_H
#define FF_TESTS_FUSED_BENCH_H

#include "support.h"

#include "fidelity/fused/fused.h"

#define BENCH_T 0.004

/* A tip of body 0 meets a plane of body 1, or of the world, with a half sine of depth while it slides. */
typedef struct bench_truth {
    int b;               /* 1, or -1: the world */
    ff_vec3 n, r, along; /* normal and direction of sliding, axes of b; tip, axes of body 0 */
    ff_profile law;      /* x0: where the plane lies */
    double mu;
    double speed, w;  /* [m/s] of approach; [rad/s] of the half sine */
    double slide;     /* [m/s] along the plane at the onset, */
    double turn_back; /* [m/s2] and how it decreases */
    double onset;     /* [s] */
    ff_vec3 rate[2];  /* [rad/s] of the bodies, own axes */
    ff_quat q[2];     /* at t = 0 */
    ff_vec3 p, v;     /* of body b */
    ff_vec3 beside;   /* axes of b: where along the plane */
} bench_truth;

static ff_world bench_world;
static ff_settings bench_settings;
static fused_model bench_model;
static fused_state *bench_state;
static bool bench_yields; /* body 0 is on a robot whose axes do */

static inline ff_vec3 bench_unit(ff_rng *rng) {
    return ff_vec3_unit(ff_vec3_make(ff_rng_normal(rng), ff_rng_normal(rng), ff_rng_normal(rng)));
}
static inline ff_vec3 bench_across(ff_rng *rng, ff_vec3 n) {
    return ff_vec3_unit(ff_vec3_cross(n, bench_unit(rng)));
}

/* An empty state of so many bodies, at rest at the origin unless `body` says otherwise. */
static inline void bench_reset(ff_rng *rng, int bodies, double force_noise, double torque_noise,
                               const ff_rigid_state *body) {
    static const ff_rigid_state still[2] = {{.attitude = {1, 0, 0, 0}}, {.attitude = {1, 0, 0, 0}}};
    bench_world = (ff_world){.integrate = {.cycle = BENCH_T},
                             .bodies = bodies,
                             .force_noise = force_noise,
                             .torque_noise = torque_noise};
    for (int i = 0; i < bodies; i++) {
        const double mass = ff_rng_range(rng, 100.0, 300.0);
        const ff_rigid_config config = {.mass = mass,
                                        .inertia = ff_mat3_diag(0.2 * mass, 0.25 * mass, 0.3 * mass)};
        assert_int_equal(ff_rigid_create(&config, &bench_world.body[i].rigid), FF_OK);
        bench_world.body[i].delay = 8 * BENCH_T;
        bench_world.body[i].carries_surface = i == 1;
        bench_world.body[i].yields = i == 0 && bench_yields;
    }
    ff_settings_default(&ff_method_fused, 0, &bench_settings);
    ff_method_fused.resolve(&bench_world, 0, bench_settings.bytes);
    ff_method_fused.create(&bench_world, bench_settings.bytes, 0, &bench_model);
    size_t bytes = 0;
    assert_int_equal(ff_method_fused.bytes(&bench_world, bench_settings.bytes, &bytes), sizeof(fused_model));
    static size_t have;
    if (bytes > have) {
        bench_state = realloc(bench_state, bytes);
        assert_non_null(bench_state);
        have = bytes;
    }
    memset(bench_state, 0, bytes);
    ff_method_fused.reset(&bench_model, body ? body : still, bench_state);
}

/* One sample more: satellites where the robots stand, no force. */
static inline fused_sample *bench_push(const ff_rigid_state *robot) {
    static const ff_rigid_load none[FF_MAX_BODIES];
    const uint64_t k = bench_state->history.count;
    assert_int_equal(ff__history_push(&bench_state->history, robot, none), FF_OK);
    for (int i = 0; i < bench_model.bodies; i++) {
        fused_sample *x = fused_at(bench_state, i, k);
        x->T_r = ff_rigid_pose(&robot[i]);
        x->twist_r = (ff_twist){robot[i].omega, robot[i].velocity};
        x->force = x->torque = ff_vec3_zero();
        x->valid = true;
    }
    return fused_at(bench_state, 0, k);
}

static inline void bench_draw(ff_rng *rng, int bodies, bench_truth *z) {
    *z = (bench_truth){.b = bodies == 2 ? 1 : -1,
                       .n = bench_unit(rng),
                       .r = ff_vec3_scale(ff_rng_range(rng, 0.2, 0.5), bench_unit(rng)),
                       .speed = ff_rng_range(rng, 0.03, 0.08),
                       .w = ff_rng_range(rng, 8.0, 14.0),
                       .onset = 0.0815,
                       .rate = {test_random_vec3(rng, 0.1), test_random_vec3(rng, 0.1)},
                       .q = {test_random_quat(rng), ff_quat_identity()},
                       .beside = test_random_vec3(rng, 0.3)};
    z->along = bench_across(rng, z->n);
    z->law =
        (ff_profile){.valid = true, .k = ff_rng_range(rng, 5e3, 5e4), .x0 = ff_rng_range(rng, -0.3, 0.3)};
    z->law.c = 0.05 * z->law.k / z->w;
    z->slide = ff_rng_range(rng, 0.02, 0.05);
    z->beside = ff_vec3_axpy(-ff_vec3_dot(z->n, z->beside), z->n, z->beside);
    if (bodies == 2) {
        z->q[1] = test_random_quat(rng);
        z->p = test_random_vec3(rng, 1.0);
        z->v = test_random_vec3(rng, 0.05);
    }
}

/* Depth below the plane and its rate at t. */
static inline void bench_depth(const bench_truth *z, double t, double *p, double *v) {
    const double u = t - z->onset, end = FF_PI / z->w;
    *p = u < 0.0 ? z->speed * u : u < end ? z->speed / z->w * sin(z->w * u) : -z->speed * (u - end);
    *v = u < 0.0 ? z->speed : u < end ? z->speed * cos(z->w * u) : -z->speed;
}

/* The robots at t, and the force on body 0 in axes of b. */
static inline ff_vec3 bench_at(const bench_truth *z, double t, ff_rigid_state robot[2]) {
    double p, v;
    bench_depth(z, t, &p, &v);
    const double gone = z->slide * t - 0.5 * z->turn_back * t * t, moves = z->slide - z->turn_back * t;
    const ff_vec3 tip = ff_vec3_axpy(gone, z->along, ff_vec3_axpy(-(p + z->law.x0), z->n, z->beside)),
                  rate = ff_vec3_axpy(moves, z->along, ff_vec3_scale(-v, z->n));
    robot[1] = (ff_rigid_state){.attitude = ff_quat_identity()};
    if (z->b == 1)
        robot[1] = (ff_rigid_state){ff_vec3_axpy(t, z->v, z->p),
                                    ff_quat_mul(z->q[1], ff_quat_exp(ff_vec3_scale(t, z->rate[1]))), z->v,
                                    z->rate[1]};
    const ff_vec3 tip_w = ff_pose_apply(ff_rigid_pose(&robot[1]), tip),
                  rate_w = ff_vec3_add(ff_quat_rotate(robot[1].attitude, rate),
                                       ff_rigid_point_velocity(&robot[1], tip));
    const ff_quat q = ff_quat_mul(z->q[0], ff_quat_exp(ff_vec3_scale(t, z->rate[0])));
    robot[0] =
        (ff_rigid_state){ff_vec3_sub(tip_w, ff_quat_rotate(q, z->r)), q,
                         ff_vec3_sub(rate_w, ff_quat_rotate(q, ff_vec3_cross(z->rate[0], z->r))), z->rate[0]};
    const double f = ff_profile_force(&z->law, p + z->law.x0, v);
    return ff_vec3_scale(f, ff_vec3_axpy(moves < 0.0 ? z->mu : -z->mu, z->along, z->n));
}

/* A force F (axes of b) of the contact at the tip, added to sample k. */
static inline void bench_press(const bench_truth *z, uint64_t k, ff_vec3 r, ff_vec3 F) {
    fused_sample *a = fused_at(bench_state, 0, k), *b = z->b == 1 ? fused_at(bench_state, 1, k) : NULL;
    const ff_vec3 F_w = b ? ff_quat_rotate(b->T_r.q, F) : F;
    a->force = ff_vec3_add(a->force, F_w);
    a->torque = ff_vec3_add(a->torque, ff_vec3_cross(r, ff_quat_unrotate(a->T_r.q, F_w)));
    if (b) {
        const ff_vec3 tip = ff_pose_apply(ff_pose_inverse(b->T_r), ff_pose_apply(a->T_r, r));
        b->force = ff_vec3_sub(b->force, F_w);
        b->torque = ff_vec3_sub(b->torque, ff_vec3_cross(tip, F));
    }
}

/* So many samples of it, in an empty state. */
static inline void bench_play(const bench_truth *z, int samples) {
    for (int k = 0; k < samples; k++) {
        ff_rigid_state robot[2];
        const ff_vec3 F = bench_at(z, k * BENCH_T, robot);
        bench_push(robot);
        bench_press(z, (uint64_t)k, z->r, F);
    }
}

/* Contact number c of it as it stands in cycle k: place as given, rows of it from row_from on. */
static inline fused_contact *bench_open(int c, const bench_truth *z, ff_vec3 n, ff_vec3 r, uint64_t row_from,
                                        uint64_t detected, uint64_t k) {
    fused_contact *x = &bench_state->contact[c];
    const ff__ring rows = x->rows;
    *x = (fused_contact){.open = true,
                         .slides = true,
                         .b = z->b,
                         .n = n,
                         .r = r,
                         .next = {.n = n, .r = r},
                         .lean = {.step = 0.05},
                         .anchor = row_from,
                         .row_from = row_from,
                         .row = row_from,
                         .detected = detected,
                         .until = k,
                         .speed = z->speed,
                         .wall = -1,
                         .rows = rows};
    for (uint64_t i = row_from; i <= k; i++) {
        ff__fused_take_row(bench_state, x, i);
        fused_row_of(x, i)->use = 1;
        fused_row_of(x, i)->residual = 0.0;
        x->force_max = fmax(x->force_max, fused_row_of(x, i)->f);
    }
    return x;
}

static inline double bench_angle(ff_vec3 a, ff_vec3 b) {
    return asin(fmin(1.0, ff_vec3_norm(ff_vec3_cross(ff_vec3_unit(a), ff_vec3_unit(b)))));
}

/* n turned by an angle about a random axis across it. */
static inline ff_vec3 bench_tilted(ff_rng *rng, ff_vec3 n, double angle) {
    return ff_quat_rotate(ff_quat_exp(ff_vec3_scale(angle, bench_across(rng, n))), n);
}

enum { PLAY = 150, DETECTED = 22, FROM = 14 };

/* A contact of so many rows, its normal a little off and its point not known. */
static inline fused_contact *bench_played(ff_rng *rng, const bench_truth *z, int bodies, double force_noise,
                                          double torque_noise) {
    bench_reset(rng, bodies, force_noise, torque_noise, NULL);
    bench_play(z, PLAY);
    fused_contact *c = bench_open(0, z, bench_tilted(rng, z->n, 0.1), ff_vec3_zero(), FROM, DETECTED,
                                  bench_state->history.count - 1);
    for (uint64_t i = FROM; i < PLAY; i++)
        c->torque_max = fmax(c->torque_max, ff_vec3_norm(fused_at(bench_state, 0, i)->torque));
    return c;
}

static inline uint64_t bench_newest(void) {
    return bench_state->history.count - 1;
}

/* So many samples of robots at rest. */
static inline void bench_rest(int samples) {
    const ff_rigid_state still[2] = {{.attitude = {1, 0, 0, 0}}, {.attitude = {1, 0, 0, 0}}};
    for (int n = 0; n < samples; n++)
        bench_push(still);
}

/* Contact number c by hand, over and with a surface. */
static inline fused_contact *bench_settled(int c, int a, int b, uint64_t anchor, uint64_t end) {
    fused_contact *x = &bench_state->contact[c];
    const ff__ring rows = x->rows;
    *x = (fused_contact){.settled = true,
                         .a = a,
                         .b = b,
                         .n = {{1, 0, 0}},
                         .anchor = anchor,
                         .row_from = anchor,
                         .detected = anchor + 2,
                         .end = end,
                         .until = end,
                         .wall = -1,
                         .surface = {.valid = true, .k = 1000, .x0 = 0.1 * c},
                         .mass = 100,
                         .force_max = 10,
                         .rows = rows};
    return x;
}

#endif
