/* Whole bodies in contact: a tip of body 0 meets a plane or cone, fixed in space or on body 1. Robots are
 * whole cycles late; the sensors are exact or noisy. The truth is the same contact between the satellites
 * themselves, without delay, in steps of a fiftieth of a cycle. */
#ifndef FF_TESTS_LAB_H
#define FF_TESTS_LAB_H

#include "loop_support.h"

#include "fidelity/fused/fused.h"
#include "loop/stage.h"

enum { LAB_RING = 128, LAB_FINE = 50, LAB_SAID = 8 };

typedef struct lab {
    int bodies, delay[2]; /* [cycles] */
    ff_rigid_config rigid[2];
    ff_rigid_state start[2];
    ff_vec3 load;                /* [N] known, on body 0, inertial: brings it back */
    ff_world_contact contact[2]; /* pairs of tools */
    int contacts;
    ff_vec3 shift; /* [m] by which the method believes the surfaces elsewhere, frame of the surface */
    double noise, torque_noise;
    int cycles;
    uint64_t random; /* not 0: fused's estimates are drawn at random from it */
    ff_rng rng;
    /* results */
    ff_rigid_state truth[2], end[2];
    double peak, peak_truth; /* [N] of the contact force */
    double
        error; /* of the velocities after contact, all bodies, as part of the approach speed: tip included */
    double approach;       /* [m/s] of the tip along the normal at the beginning */
    double w, z;           /* [rad/s] and damping ratio of the first contact */
    double said[LAB_SAID]; /* sums over all cycles, lab_listen() */
    double known[3];       /* stiffness, damping, its deviation of body 0's surface, in the last cycle */
} lab;

/* Force on body 0, inertial, and where it acts: between the mock-ups or between the satellites. */
static inline ff_vec3 lab_force(const ff_world_contact *c, bool satellites, const ff_rigid_state *x,
                                ff_vec3 *where) {
    const double stiffness = satellites ? c->satellite_stiffness : c->stiffness,
                 damping = satellites ? c->satellite_damping : c->damping;
    const ff_rigid_state still = {.attitude = ff_quat_identity()},
                         *b = c->against < 0 ? &still : &x[c->against];
    *where = ff_pose_apply(ff_rigid_pose(&x[c->body]), c->point);
    const ff_vec3 p = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(b)), *where);
    ff_vec3 n = c->normal;
    double depth;
    if (c->shape == FF_SHAPE_PLANE) {
        depth = -ff_vec3_dot(n, ff_vec3_sub(p, c->at));
    } else {
        /* inside the funnel: distance to the mantle is rho cos a - z sin a beyond it */
        const ff_vec3 d = ff_vec3_sub(p, c->apex);
        const double z = ff_vec3_dot(d, c->axis);
        const ff_vec3 across = ff_vec3_axpy(-z, c->axis, d);
        const double rho = ff_vec3_norm(across);
        depth = rho * cos(c->half_angle) - z * sin(c->half_angle);
        n = ff_vec3_sub(ff_vec3_scale(sin(c->half_angle), c->axis),
                        ff_vec3_scale(rho > 0.0 ? cos(c->half_angle) / rho : 0.0, across));
        if (c->depth - z < depth) { /* the face around its mouth */
            depth = c->depth - z;
            n = c->axis;
        }
    }
    if (!(depth > 0.0))
        return ff_vec3_zero();
    n = ff_quat_rotate(b->attitude, n);
    const ff_vec3 v =
        ff_vec3_sub(ff_rigid_point_velocity(&x[c->body], c->point), ff_rigid_point_velocity(b, p));
    const double rate = -ff_vec3_dot(n, v),
                 q = c->damping_depth > 0.0 ? fmin(1.0, depth / c->damping_depth) : 1.0,
                 d = damping * q * q * (3.0 - 2.0 * q); /* [he2022, (24)] */
    const double f = fmax(0.0, stiffness * depth + d * rate);
    const ff_vec3 slip = ff_vec3_axpy(rate, n, v);
    const double speed = ff_vec3_norm(slip);
    return ff_vec3_axpy(speed > 0.0 ? -c->friction * f / speed : 0.0, slip, ff_vec3_scale(f, n));
}

/* Loads on all bodies; returns the size of the contact forces. */
static inline double lab_loads(const lab *l, bool satellites, const ff_rigid_state *x, ff_rigid_load *load) {
    double size = 0.0;
    for (int i = 0; i < 2; i++)
        load[i] = (ff_rigid_load){ff_vec3_zero(), ff_vec3_zero()};
    for (int n = 0; n < l->contacts; n++) {
        const ff_world_contact *c = &l->contact[n];
        ff_vec3 where;
        const ff_vec3 F = lab_force(c, satellites, x, &where);
        size += ff_vec3_norm(F);
        const int pair[2] = {c->body, c->against};
        for (int k = 0; k < 2; k++)
            if (pair[k] >= 0) {
                const ff_rigid_state *b = &x[pair[k]];
                const ff_vec3 f = ff_vec3_scale(k ? -1.0 : 1.0, F), r = ff_vec3_sub(where, b->position);
                ff_rigid_load *a = &load[pair[k]];
                a->force = ff_vec3_add(a->force, f);
                a->torque = ff_vec3_add(a->torque, ff_quat_unrotate(b->attitude, ff_vec3_cross(r, f)));
            }
    }
    return size;
}

static inline void lab_ideal(lab *l, double T) {
    ff_rigid_model m[2];
    const double h = T / LAB_FINE;
    for (int i = 0; i < l->bodies; i++) {
        assert_int_equal(ff_rigid_create(&l->rigid[i], &m[i]), FF_OK);
        l->truth[i] = l->start[i];
    }
    l->peak_truth = 0.0;
    for (long n = (long)l->cycles * LAB_FINE; n > 0; n--) { /* half kick, drift, half kick */
        for (int half = 0; half < 2; half++) {
            ff_rigid_load load[2];
            l->peak_truth = fmax(l->peak_truth, lab_loads(l, true, l->truth, load));
            for (int i = 0; i < l->bodies; i++) {
                const ff_rigid_load a = load[i];
                l->truth[i].velocity = ff_vec3_axpy(0.5 * h * m[i].mass_inv, a.force, l->truth[i].velocity);
                l->truth[i].omega =
                    ff_vec3_axpy(0.5 * h, ff_mat3_apply(&m[i].inertia_inv, a.torque), l->truth[i].omega);
            }
            l->truth[0].velocity = ff_vec3_axpy(0.5 * h * m[0].mass_inv, l->load, l->truth[0].velocity);
            if (half == 0)
                for (int i = 0; i < l->bodies; i++)
                    ff_integrate_coast(&m[i], h, h, &l->truth[i]);
        }
    }
}

static inline void lab_configure(const lab *l, const ff_method *method, int variant, ff_loop_config *config) {
    ff_loop_default(config);
    test_method(config, method, variant);
    config->bodies = l->bodies;
    for (int i = 0; i < l->bodies; i++) {
        if (i)
            config->body[i] = config->body[0];
        config->body[i].rigid = l->rigid[i];
        config->body[i].start = l->start[i];
        config->world.body[i].delay = l->delay[i] * config->integrate.cycle;
    }
    config->world.contacts = l->contacts;
    for (int n = 0; n < l->contacts; n++) {
        ff_world_contact *c = &config->world.contact[n];
        *c = l->contact[n];
        c->at = ff_vec3_add(c->at, l->shift);
        c->apex = ff_vec3_add(c->apex, l->shift);
    }
    config->world.force_noise = l->noise;
    config->world.torque_noise = l->torque_noise;
    config->world.noisy = l->noise > 0.0;
}

/* What the method says and sends in a cycle: bounds that acted, contacts, surfaces that are known, lead,
 * observers, rows looked back, commands, wrenches. */
static inline void lab_listen(lab *l, const ff_loop_out *out) {
    const ff_method_out *m = &out->fidelity;
    l->said[0] += m->bounds;
    l->said[5] += m->look_back;
    l->known[0] = m->stiffness[0];
    l->known[1] = m->damping[0];
    l->known[2] = m->damping_sd[0];
    for (int i = 0; i < l->bodies; i++) {
        const ff_vec3 p = out->command[i].T.p, f = m->f_b[i].f, t = m->f_b[i].t;
        l->said[1] += m->in_contact[i];
        l->said[2] += isfinite(m->stiffness[i]) + isfinite(m->damping[i]) + isfinite(m->damping_sd[i]);
        l->said[3] += m->lead[i];
        l->said[6] += p.x + 2.0 * p.y + 3.0 * p.z;
        l->said[7] += f.x + 2.0 * f.y + 3.0 * f.z + 4.0 * t.x + 5.0 * t.y + 6.0 * t.z;
        for (int n = 0; n < m->observers && (i == 0 || m->observers > 1); n++)
            l->said[4] += (n + 1.0) * m->observer[i][n];
    }
}

/* Robots that follow every command, `delay` cycles late, through ff_loop_step; the ledger closes in each
 * cycle. */
static inline void lab_run(lab *l, const ff_loop_config *config, ff_loop_model *model, ff_loop_state *state) {
    static ff_setpoint ring[2][LAB_RING];
    ff_loop_info info;
    ff_loop_in in = {0};
    ff_loop_out out;
    char message[200] = "";
    const double T = config->integrate.cycle;
    if (test_loop_create(config, model, message, sizeof message) != FF_OK)
        fail_msg("%s: %s", config->method->name, message);
    if (l->random)
        ((fused_model *)ff__loop_method_model(model))->config.random_estimates = l->random;
    test_loop_reset(model, state, &info, &out);
    double before[2], booked[2] = {0, 0};
    for (int i = 0; i < l->bodies; i++) {
        before[i] = state->energy[i].kinetic;
        const double lead = ff_loop_lead(model, state, i);
        for (int d = 0; d < LAB_RING; d++) { /* it was flying before */
            ff_rigid_state s = l->start[i];
            ff_integrate_coast(&model->rigid[i], lead - (LAB_RING - d) * T, T, &s);
            ring[i][d] = ff_setpoint_from_state(&s);
        }
    }
    l->peak = 0.0;
    memset(l->said, 0, sizeof l->said);
    for (int k = 0; k < l->cycles; k++) {
        ff_rigid_state robot[2] = {{.attitude = {1, 0, 0, 0}}, {.attitude = {1, 0, 0, 0}}};
        for (int i = 0; i < l->bodies; i++) {
            ring[i][k % LAB_RING] = out.next[i];
            robot[i] = ff_setpoint_to_state(&ring[i][(k + LAB_RING - l->delay[i]) % LAB_RING]);
        }
        ff_rigid_load load[2];
        l->peak = fmax(l->peak, lab_loads(l, false, robot, load));
        for (int i = 0; i < l->bodies; i++) {
            const ff_rigid_load a = load[i];
            in.sensor[i] = (ff_wrench_in){.T_wb = ff_rigid_pose(&robot[i]),
                                          .twist = {robot[i].omega, robot[i].velocity}};
            in.sensor[i].f_s = (ff_wrench){a.torque, ff_quat_unrotate(robot[i].attitude, a.force)};
            for (int axis = 0; axis < 3; axis++) {
                in.sensor[i].f_s.f.a[axis] += l->noise * ff_rng_normal(&l->rng);
                in.sensor[i].f_s.t.a[axis] += l->torque_noise * ff_rng_normal(&l->rng);
            }
        }
        in.load[0].force = l->load;
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        lab_listen(l, &out);
        for (int i = 0; i < l->bodies; i++) {
            ring[i][k % LAB_RING] = out.command[i];
            const ff_energy *e = &state->energy[i];
            booked[i] += fabs(e->exchanged) + fabs(e->delay) + fabs(e->method) + fabs(e->force_controller);
            assert_near(e->kinetic, before[i] + ff_energy_sum(e),
                        (k + 8) * 2.2e-16 * (before[i] + booked[i]));
        }
    }
    l->error = 0.0;
    for (int i = 0; i < l->bodies; i++) {
        l->end[i] = state->body[i];
        const double reach = i ? 0.5 : fmax(ff_vec3_norm(l->contact[0].point), 0.5);
        const double v = ff_vec3_norm(ff_vec3_sub(l->end[i].velocity, l->truth[i].velocity)),
                     w = ff_vec3_norm(ff_vec3_sub(l->end[i].omega, l->truth[i].omega));
        l->error = fmax(l->error, (v + reach * w) / l->approach);
    }
}

/* What a method that knows the contact may be off, as part of the approach. In the truth the damper's force c
 * v begins with one of its steps h = T/50, up to one too late: an impulse c v h, or 2 z w h of the speed;
 * friction mu turns round likewise, mu w h of it. Where a contact lets go the march misses 0.16^4/36
 * (test_march.c). Twice: the CoM's and the tip's part are added. */
static inline double lab_bound(const lab *l) {
    const double h = 0.004 / LAB_FINE;
    return 2.0 * ((2.0 * l->z + l->contact[0].friction) * l->w * h + 0.16 * 0.16 * 0.16 * 0.16 / 36.0);
}

/* A body with inertia in skew axes. */
static inline ff_rigid_config lab_body(ff_rng *rng, double mass) {
    const ff_mat3 R = ff_quat_to_mat3(test_random_quat(rng));
    ff_mat3 I = ff_mat3_mul(
        R, ff_mat3_mul(ff_mat3_diag(mass * ff_rng_range(rng, 0.2, 0.3), mass * ff_rng_range(rng, 0.2, 0.3),
                                    mass * ff_rng_range(rng, 0.2, 0.3)),
                       ff_mat3_transpose(R)));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            I.m[i][j] = I.m[j][i];
    return (ff_rigid_config){mass, I};
}

/* Body 0 flies with its tip against a plane in space (bodies 1) or on body 1, meets it after `before`
 * seconds; contact of w [rad/s] and damping ratio z of the tips' effective mass; lever [m] of the tip from
 * the CoM. */
static inline void lab_plane(lab *l, ff_rng *rng, int bodies, double lever, double w, double z, double before,
                             int cycles) {
    *l = (lab){.bodies = bodies, .delay = {8, 8}, .contacts = 1, .cycles = cycles};
    ff_rng_seed(&l->rng, ff_rng_next(rng), 5);
    for (int i = 0; i < bodies; i++) {
        l->rigid[i] = lab_body(rng, ff_rng_range(rng, 100, 300));
        l->start[i] = (ff_rigid_state){test_random_vec3(rng, 1), test_random_quat(rng),
                                       test_random_vec3(rng, 0.01), test_random_vec3(rng, 0.01)};
    }
    const ff_vec3 n = ff_vec3_unit(test_random_vec3(rng, 1)); /* inertial, to the free side */
    const double speed = ff_rng_range(rng, 0.05, 0.08);       /* the rest makes 0.03 at most of it */
    ff_world_contact *c = &l->contact[0];
    *c = (ff_world_contact){.shape = FF_SHAPE_PLANE, .against = bodies == 2 ? 1 : -1};
    /* the tip is ahead of the centre, somewhat to the side */
    const ff_vec3 arm = ff_vec3_add(ff_vec3_scale(-lever, n), test_random_vec3(rng, 0.15 * lever));
    c->point = ff_quat_unrotate(l->start[0].attitude, arm);
    l->start[0].velocity = ff_vec3_axpy(-speed, n, l->start[0].velocity);
    const ff_vec3 tip = ff_vec3_add(l->start[0].position, arm);
    ff_rigid_model m[2];
    double mobility = 0.0;
    for (int i = 0; i < bodies; i++) {
        assert_int_equal(ff_rigid_create(&l->rigid[i], &m[i]), FF_OK);
        if (i) /* the other body's face */
            l->start[1].position =
                ff_vec3_add(tip, ff_vec3_add(ff_vec3_scale(-0.6, n), test_random_vec3(rng, 0.05)));
        const ff_vec3 x =
            ff_vec3_cross(ff_quat_unrotate(l->start[i].attitude, ff_vec3_sub(tip, l->start[i].position)),
                          ff_quat_unrotate(l->start[i].attitude, n));
        mobility += m[i].mass_inv + ff_vec3_dot(x, ff_mat3_apply(&m[i].inertia_inv, x));
    }
    ff_vec3 relative = ff_rigid_point_velocity(&l->start[0], c->point);
    if (bodies == 2)
        relative = ff_vec3_sub(
            relative, ff_vec3_add(l->start[1].velocity,
                                  ff_vec3_cross(ff_quat_rotate(l->start[1].attitude, l->start[1].omega),
                                                ff_vec3_sub(tip, l->start[1].position))));
    l->approach = -ff_vec3_dot(relative, n);
    assert_true(l->approach > 0.0);
    const ff_vec3 at = ff_vec3_axpy(-before * l->approach, n, tip);
    c->at = at;
    c->normal = n;
    if (bodies == 2) {
        c->at = ff_pose_apply(ff_pose_inverse(ff_rigid_pose(&l->start[1])), at);
        c->normal = ff_quat_unrotate(l->start[1].attitude, n);
    }
    l->w = w;
    l->z = z;
    c->stiffness = c->satellite_stiffness = w * w / mobility;
    c->damping = c->satellite_damping = 2.0 * z * w / mobility;
}

/* The two bodies change their numbers: body 1 carries the tip. */
static inline void lab_swap(lab *l) {
    const ff_rigid_config rigid = l->rigid[0];
    const ff_rigid_state start = l->start[0];
    const int delay = l->delay[0];
    l->rigid[0] = l->rigid[1];
    l->rigid[1] = rigid;
    l->start[0] = l->start[1];
    l->start[1] = start;
    l->delay[0] = l->delay[1];
    l->delay[1] = delay;
    for (int n = 0; n < l->contacts; n++) {
        l->contact[n].body = 1;
        l->contact[n].against = 0;
    }
}

/* The tip inside a funnel that is fixed in space, flying against its mantle a little towards the apex. */
static inline void lab_cone(lab *l, ff_rng *rng, double lever, double w, double z, double before,
                            int cycles) {
    lab_plane(l, rng, 1, lever, w, z, before, cycles);
    ff_world_contact *c = &l->contact[0];
    const ff_vec3 n = c->normal, at = c->at;
    const double a = ff_rng_range(rng, 0.4, 0.8), rho = ff_rng_range(rng, 0.1, 0.2);
    const ff_vec3 side = ff_vec3_unit(ff_vec3_cross(n, test_random_vec3(rng, 1)));
    /* n = axis sin a - outwards cos a at the point that is met first; the apex lies rho/tan a below it */
    c->shape = FF_SHAPE_CONE;
    c->half_angle = a;
    c->depth = FF_INF;
    c->axis = ff_vec3_add(ff_vec3_scale(sin(a), n), ff_vec3_scale(cos(a), side));
    const ff_vec3 out = ff_vec3_sub(ff_vec3_scale(sin(a), side), ff_vec3_scale(cos(a), n));
    c->apex = ff_vec3_sub(at, ff_vec3_add(ff_vec3_scale(rho, out), ff_vec3_scale(rho / tan(a), c->axis)));
}

#endif
