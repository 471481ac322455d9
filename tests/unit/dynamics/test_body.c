/* Bodies and their views against truth: the tree's own sums, conservation laws, brute force. */
#include "support.h"

#include "freefloat/body.h"
#include "servicer_model.h"

enum { N = SERVICER_JOINTS, DOF = 6 + N };

typedef struct rig {
    servicer_model table;
    ff_tree_model *tree;
    ff_tree_work *tree_work;
    ff_body body;
    ff_body_work *work;
    void *memory[3];
    ff_rng rng;
} rig;

static void rig_make(rig *r) {
    char message[200];
    servicer_model_make(&r->table);
    r->table.config.base_com = ff_vec3_make(0.05, -0.02, 0.03);
    r->table.link[2].rotor_inertia = 0.3;
    size_t bytes = ff_tree_memsize(&r->table.config);
    r->memory[0] = malloc(bytes);
    assert_int_equal(ff_tree_create(&r->table.config, r->memory[0], bytes, &r->tree, message, sizeof message),
                     FF_OK);
    bytes = ff_tree_work_memsize(r->tree);
    r->memory[1] = malloc(bytes);
    assert_int_equal(ff_tree_work_create(r->tree, r->memory[1], bytes, &r->tree_work), FF_OK);
    const ff_tree_frame port[2] = {servicer_gripper(), {3, {{0.8, 0.6, 0, 0}, {{0.1, -0.2, 0.05}}}}};
    assert_int_equal(ff_body_tree(r->tree, 2, port, &r->body), FF_OK);
    bytes = ff_body_work_memsize(&r->body);
    r->memory[2] = malloc(bytes);
    assert_int_equal(ff_body_work_create(&r->body, r->memory[2], bytes, &r->work), FF_OK);
    ff_rng_seed(&r->rng, test_seed(), 0);
}

static void rig_free(rig *r) {
    for (int i = 0; i < 3; i++)
        free(r->memory[i]);
}

/* A random motion of base and joints; the tree evaluated at it. */
static void random_tree(rig *r, ff_tree_state *x) {
    ff_tree_state_default(x);
    x->base = test_random_pose(&r->rng, 3);
    x->twist = (ff_twist){test_random_vec3(&r->rng, 0.5), test_random_vec3(&r->rng, 0.5)};
    for (int i = 0; i < N; i++) {
        x->q[i] = ff_rng_range(&r->rng, -2, 2);
        x->qd[i] = ff_rng_range(&r->rng, -1, 1);
    }
    ff_tree_kinematics(r->tree, x, r->tree_work, ff_vec3_zero());
}

/* The same as a body that was reset there and measured again. */
static void as_body(rig *r, const ff_tree_state *x, ff_body_state *state, ff_body_view *view) {
    const ff_rigid_state motion = ff_rigid_from_twist(x->base, x->twist);
    ff_body_reset(&r->body, r->work, &motion, x->q, x->qd, state);
    assert_int_equal(ff_body_measure(&r->body, r->work, 0.004, x->q, x->qd, state, view), FF_OK);
}

/* A gyrostat that a tree is: about 1500 kg, random. */
static void random_view(rig *r, ff_body_view *view, ff_rigid_state *x) {
    ff_tree_state tree;
    ff_body_state state;
    random_tree(r, &tree);
    as_body(r, &tree, &state, view);
    *x = ff_view_from_base(view, &state.motion);
}

/* Mass, CoM, momenta, energy and ports are the tree's; the measured twist is the one it was reset to. */
static void test_view_of_a_tree_is_the_tree(void **unused) {
    (void)unused;
    rig r;
    rig_make(&r);
    for (int n = 0; n < test_count(200, 5000); n++) {
        ff_tree_state tree;
        ff_body_state state;
        ff_body_view view;
        random_tree(&r, &tree);
        const ff_tree_momentum m = ff_tree_total_momentum(r.tree, r.tree_work);
        as_body(&r, &tree, &state, &view);
        const ff_rigid_state x = ff_view_from_base(&view, &state.motion);
        assert_near(view.rigid.mass, m.mass, 1e-9);
        assert_vec3_near(x.position, m.com, 1e-12);
        assert_vec3_near(ff_vec3_scale(view.rigid.mass, x.velocity), m.linear, 1e-10);
        assert_vec3_near(ff_view_angular_momentum(&view, &x), m.spin, 1e-9);
        assert_near(ff_view_energy(&view, &x), ff_tree_kinetic_energy(r.tree, r.tree_work), 1e-9);
        const ff_rigid_state base = ff_view_to_base(&view, &x);
        const ff_twist V = ff_rigid_twist(&base);
        assert_vec3_near(V.w, tree.twist.w, 1e-12);
        assert_vec3_near(V.v, tree.twist.v, 1e-12);
        assert_vec3_near(base.position, tree.base.p, 1e-12);
        assert_int_equal(view.ports, 2);
        for (int p = 0; p < 2; p++) {
            const ff_rigid_state port = ff_view_port(&view, p, &x);
            const ff_pose pose = ff_tree_frame_pose(r.tree, r.tree_work, &r.body.port[p]);
            assert_vec3_near(port.position, pose.p, 1e-12);
            assert_true(ff_quat_angle(port.attitude, pose.q) < 1e-7);
            assert_vec3_near(port.velocity, ff_tree_point_velocity(r.tree, r.tree_work, &r.body.port[p]),
                             1e-12);
            const ff_twist own = ff_tree_frame_twist(r.tree, r.tree_work, &r.body.port[p]);
            assert_vec3_near(port.omega, ff_quat_rotate(view.port[p].q, own.w), 1e-12);
            /* riding with the port: the point of the locked body under it moves as the port does */
            const ff_rigid_state ride = ff_view_ride(&view, p, &base);
            assert_vec3_near(ff_rigid_point_velocity(&ride, ff_vec3_sub(view.port[p].p, view.com)),
                             port.velocity, 1e-12);
            assert_vec3_near(ride.omega, port.omega, 1e-14);
        }
        ff_body_state again = state;
        ff_body_put(&view, &x, &again);
        assert_vec3_near(again.linear, state.linear, 1e-9);
        assert_vec3_near(again.origin, state.origin, 1e-8);
        assert_vec3_near(again.motion.velocity, state.motion.velocity, 1e-13);
    }
    rig_free(&r);
}

/* A rigid body: one view, and every bit as it was. */
static void test_rigid_view_changes_no_bit(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    ff_body body;
    const ff_pose port = {{1, 0, 0, 0}, {{0.4, 0.1, -0.2}}};
    assert_int_equal(ff_body_rigid(&envisat_rigid, 1, &port, &body), FF_OK);
    assert_int_equal(ff_body_work_memsize(&body), 0);
    ff_body_work *work;
    assert_int_equal(ff_body_work_create(&body, NULL, 0, &work), FF_OK);
    assert_null(work);
    assert_int_equal(ff_body_joints(&body), 0);
    for (int n = 0; n < 100; n++) {
        const ff_rigid_state start = {test_random_vec3(&rng, 5), test_random_quat(&rng),
                                      test_random_vec3(&rng, 1), test_random_vec3(&rng, 0.3)};
        ff_body_state state;
        ff_body_view view;
        ff_body_reset(&body, NULL, &start, NULL, NULL, &state);
        assert_int_equal(ff_body_measure(&body, NULL, 0.004, NULL, NULL, &state, &view), FF_OK);
        assert_memory_equal(&state.motion, &start, sizeof start);
        assert_false(view.joints);
        ff_rigid_state x = ff_view_from_base(&view, &start), y = start;
        assert_memory_equal(&x, &start, sizeof x);
        ff_view_enter(&view, &body.still, &x);
        x = ff_view_ride(&view, 0, &x);
        assert_memory_equal(&x, &start, sizeof x);
        assert_true(ff_view_energy(&view, &x) == ff_rigid_kinetic_energy(&view.rigid, &start));
        ff_view_drift(&view, 0.004, &x);
        ff_rigid_drift(&view.rigid, 0.004, &y);
        assert_memory_equal(&x, &y, sizeof x);
        x = ff_view_to_base(&view, &x);
        assert_memory_equal(&x, &y, sizeof x);
        ff_body_put(&view, &x, &state);
        assert_memory_equal(&state.motion, &x, sizeof x);
    }
}

/* ------------------------------------------------------------------------------------------ free flight --
 */

/* w' and q' of a gyrostat by many small steps of Runge and Kutta's fourth order: no code of the library. */
typedef struct turning {
    double w[3], q[4];
} turning;

static turning turning_rate(const ff_body_view *v, const turning *x) {
    double L[3], n[3];
    turning d;
    for (int i = 0; i < 3; i++)
        L[i] = v->rigid.inertia.m[i][0] * x->w[0] + v->rigid.inertia.m[i][1] * x->w[1] +
               v->rigid.inertia.m[i][2] * x->w[2] + v->spin.a[i];
    for (int i = 0; i < 3; i++)
        n[i] = L[(i + 1) % 3] * x->w[(i + 2) % 3] - L[(i + 2) % 3] * x->w[(i + 1) % 3];
    double I[9];
    size_t pivots[3];
    memcpy(I, v->rigid.inertia.m, sizeof I);
    assert_int_equal(ff_lu_factor(3, I, pivots), FF_OK);
    ff_lu_solve(3, I, pivots, n);
    memcpy(d.w, n, sizeof n);
    const double *w = x->w, *q = x->q;
    d.q[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]);
    d.q[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]);
    d.q[2] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]);
    d.q[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]);
    return d;
}

static turning shifted(const turning *x, double h, const turning *d) {
    turning y = *x;
    for (int i = 0; i < 3; i++)
        y.w[i] += h * d->w[i];
    for (int i = 0; i < 4; i++)
        y.q[i] += h * d->q[i];
    return y;
}

static void fly_brute(const ff_body_view *v, double t, int steps, ff_rigid_state *s) {
    turning x = {{s->omega.x, s->omega.y, s->omega.z},
                 {s->attitude.w, s->attitude.x, s->attitude.y, s->attitude.z}};
    const double h = t / steps;
    for (int n = 0; n < steps; n++) {
        const turning k1 = turning_rate(v, &x), y2 = shifted(&x, h / 2, &k1), k2 = turning_rate(v, &y2),
                      y3 = shifted(&x, h / 2, &k2), k3 = turning_rate(v, &y3), y4 = shifted(&x, h, &k3),
                      k4 = turning_rate(v, &y4);
        x = shifted(&x, h / 6, &k1);
        x = shifted(&x, h / 3, &k2);
        x = shifted(&x, h / 3, &k3);
        x = shifted(&x, h / 6, &k4);
    }
    s->position = ff_vec3_axpy(t, s->velocity, s->position);
    s->omega = ff_vec3_make(x.w[0], x.w[1], x.w[2]);
    s->attitude = ff_quat_unit((ff_quat){x.q[0], x.q[1], x.q[2], x.q[3]});
}

/* A tumble of half a radian a second with joint momentum of its own size, 2 s in steps of h: error of
 * attitude [rad] and rate, largest change of the momentum in space over |I w| + |spin| (their sum may nearly
 * vanish), change of w.I w/2 over its size. */
typedef struct errors {
    double angle, rate, momentum, energy;
} errors;

static errors fly(const ff_body_view *view, ff_rigid_state x, double h) {
    const double t = 2.0;
    const int steps = (int)lround(t / h);
    ff_rigid_state truth = x;
    fly_brute(view, t, 8000, &truth);
    const ff_vec3 L = ff_view_angular_momentum(view, &x), p = x.velocity;
    const double size = ff_vec3_norm(ff_mat3_apply(&view->rigid.inertia, x.omega)) + ff_vec3_norm(view->spin);
    const double E = ff_rigid_kinetic_energy(&view->rigid, &x);
    errors e = {0};
    for (int n = 0; n < steps; n++) {
        ff_view_drift(view, h, &x);
        e.momentum =
            fmax(e.momentum, ff_vec3_norm(ff_vec3_sub(ff_view_angular_momentum(view, &x), L)) / size);
        e.energy = fmax(e.energy, fabs(ff_rigid_kinetic_energy(&view->rigid, &x) - E) / E);
    }
    assert_memory_equal(&p, &x.velocity, sizeof p);
    assert_vec3_near(x.position, truth.position, 1e-12 * steps);
    e.angle = ff_quat_angle(x.attitude, truth.attitude);
    e.rate = ff_vec3_norm(ff_vec3_sub(x.omega, truth.omega));
    return e;
}

static void test_drift_of_a_gyrostat(void **unused) {
    (void)unused;
    rig r;
    rig_make(&r);
    double coarse = 0.0, fine = 0.0, rounding = 0.0;
    for (int n = 0; n < test_count(20, 300); n++) {
        ff_body_view view;
        ff_rigid_state x;
        random_view(&r, &view, &x);
        x.omega = test_random_vec3(&r.rng, 0.5);
        view.spin = test_random_vec3(&r.rng, 500); /* as large as I w: the arm's own is a hundredth of it */
        const errors a = fly(&view, x, 0.04), b = fly(&view, x, 0.02), c = fly(&view, x, 0.004);
        if (n == 0)
            print_message("gyrostat, 2 s: %.2g, %.2g, %.2g rad at 40, 20, 4 ms; momentum %.2g, energy %.2g\n",
                          a.angle, b.angle, c.angle, c.momentum, c.energy);
        /* 500 steps of a few roundings each */
        assert_true(c.momentum < 500 * 4 * 2.2e-16);
        /* fourth order: a sixteenth of the error with half the step, unless rounding is all that is left */
        assert_true(b.angle < a.angle / 11 || b.angle < 1e-10);
        assert_true(b.rate < a.rate / 11 || b.rate < 1e-10);
        /* one number, whose leading terms may cancel in a draw: judged over all of them */
        coarse += a.energy;
        fine += b.energy;
        rounding += 100 * 4 * 2.2e-16; /* 100 steps of a few each */
        assert_true(c.angle < 1e-8);
        /* backwards is where it came from */
        ff_rigid_state y = x;
        ff_view_drift(&view, 0.004, &y);
        ff_view_drift(&view, -0.004, &y);
        assert_true(ff_quat_angle(y.attitude, x.attitude) < 1e-9);
        assert_vec3_near(y.omega, x.omega, 1e-10);
    }
    assert_true(fine < coarse / 11 + rounding && coarse > 100 * rounding);
    rig_free(&r);
}

/* Without joints the energy is what is kept to rounding, the momentum to fourth order. */
static void test_drift_of_a_rigid_body(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    ff_body body;
    assert_int_equal(ff_body_rigid(&envisat_rigid, 0, NULL, &body), FF_OK);
    for (int n = 0; n < 20; n++) {
        const ff_rigid_state x = {test_random_vec3(&rng, 1), test_random_quat(&rng),
                                  test_random_vec3(&rng, 0.1), test_random_vec3(&rng, 0.5)};
        const errors a = fly(&body.still, x, 0.04), b = fly(&body.still, x, 0.02),
                     c = fly(&body.still, x, 0.004);
        assert_true(c.energy < 500 * 4 * 2.2e-16);
        assert_true(b.momentum < a.momentum / 11 || b.momentum < 1e-10);
        assert_true(b.angle < a.angle / 11 || b.angle < 1e-10);
        assert_true(c.angle < 1e-8);
    }
    ff_rigid_state still = {.attitude = {1, 0, 0, 0}, .velocity = {{1, 2, 3}}};
    ff_view_drift(&body.still, 0.5, &still);
    assert_vec3_near(still.position, ff_vec3_make(0.5, 1, 1.5), 0);
    assert_true(still.attitude.w == 1.0);
}

/* ------------------------------------------------------------------------------------ between the views --
 */

/* Joints that were measured anew change neither momentum nor CoM; the base turns for it. */
static void test_enter_keeps_momentum(void **unused) {
    (void)unused;
    rig r;
    rig_make(&r);
    for (int n = 0; n < 200; n++) {
        ff_body_view a, b;
        ff_rigid_state x, other;
        random_view(&r, &a, &x);
        random_view(&r, &b, &other);
        const ff_vec3 L = ff_view_angular_momentum(&a, &x);
        const ff_rigid_state before = x;
        ff_view_enter(&a, &b, &x);
        assert_vec3_near(ff_view_angular_momentum(&b, &x), L, 1e-13 * (1 + ff_vec3_norm(L)) * 10);
        assert_memory_equal(&before.velocity, &x.velocity, sizeof x.velocity);
        assert_memory_equal(&before.position, &x.position, sizeof x.position);
        assert_memory_equal(&before.attitude, &x.attitude, sizeof x.attitude);
        assert_true(ff_vec3_norm(ff_vec3_sub(before.omega, x.omega)) > 1e-6); /* it did something */
        ff_view_enter(&b, &a, &x);
        assert_vec3_near(x.omega, before.omega, 1e-13);
    }
    rig_free(&r);
}

/* ------------------------------------------------------------------------------------------- impulses -- */

/* The momentum gains J, about the CoM r x J + torque; the energy J times the mean of the point's velocities.
 */
static void test_impulse_gives_its_momentum(void **unused) {
    (void)unused;
    rig r;
    rig_make(&r);
    for (int n = 0; n < 200; n++) {
        ff_body_view view;
        ff_rigid_state x;
        random_view(&r, &view, &x);
        const ff_vec3 at = test_random_vec3(&r.rng, 2);
        const ff_wrench J = {test_random_vec3(&r.rng, 5), test_random_vec3(&r.rng, 20)};
        const ff_rigid_state before = x;
        ff_view_impulse(&view, at, J, &x);
        const ff_vec3 f = ff_quat_rotate(x.attitude, J.f),
                      t = ff_quat_rotate(x.attitude, ff_vec3_add(J.t, ff_vec3_cross(at, J.f)));
        assert_vec3_near(ff_vec3_scale(view.rigid.mass, ff_vec3_sub(x.velocity, before.velocity)), f, 1e-11);
        assert_vec3_near(
            ff_vec3_sub(ff_view_angular_momentum(&view, &x), ff_view_angular_momentum(&view, &before)), t,
            1e-10);
        const ff_vec3 v = ff_vec3_scale(0.5, ff_vec3_add(ff_rigid_point_velocity(&before, at),
                                                         ff_rigid_point_velocity(&x, at))),
                      w = ff_vec3_scale(0.5, ff_vec3_add(before.omega, x.omega));
        assert_near(ff_view_energy(&view, &x) - ff_view_energy(&view, &before),
                    ff_vec3_dot(f, v) + ff_vec3_dot(J.t, w) +
                        ff_vec3_dot(view.spin, ff_vec3_sub(x.omega, before.omega)),
                    1e-9);
        assert_memory_equal(&before.position, &x.position, sizeof x.position);
    }
    rig_free(&r);
}

/* d J M_b^-1 J^T d with the tree's own mass matrix and Jacobian at the gripper, joints locked. */
static void test_mobility_is_that_of_the_locked_tree(void **unused) {
    (void)unused;
    rig r;
    rig_make(&r);
    for (int n = 0; n < 200; n++) {
        ff_tree_state tree;
        ff_body_state state;
        ff_body_view view;
        random_tree(&r, &tree);
        double M[DOF * DOF], J[3 * DOF], A[36], y[6];
        ff_tree_mass_matrix(r.tree, r.tree_work, M);
        ff_tree_point_jacobian(r.tree, r.tree_work, &r.body.port[0], J);
        const ff_vec3 d = test_random_vec3(&r.rng, 1);
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++)
                A[6 * i + j] = M[DOF * i + j];
            y[i] = J[i] * d.x + J[DOF + i] * d.y + J[2 * DOF + i] * d.z;
        }
        double z[6];
        memcpy(z, y, sizeof z);
        size_t pivots[6];
        assert_int_equal(ff_lu_factor(6, A, pivots), FF_OK);
        ff_lu_solve(6, A, pivots, z);
        double brute = 0;
        for (int i = 0; i < 6; i++)
            brute += y[i] * z[i];
        as_body(&r, &tree, &state, &view);
        const ff_rigid_state x = ff_view_from_base(&view, &state.motion);
        const ff_vec3 at = ff_vec3_sub(view.port[0].p, view.com);
        assert_near(ff_view_mobility(&view, &x, at, d), brute, 1e-12 * (1 + brute));
        /* and it is what an impulse does */
        ff_rigid_state hit = x;
        ff_view_impulse(&view, at, (ff_wrench){ff_vec3_zero(), ff_quat_unrotate(x.attitude, d)}, &hit);
        const ff_vec3 gained =
            ff_vec3_sub(ff_view_port(&view, 0, &hit).velocity, ff_view_port(&view, 0, &x).velocity);
        assert_near(ff_vec3_dot(d, gained), brute, 1e-12);
    }
    rig_free(&r);
}

/* ------------------------------------------------------------------------------------------- bad input -- */

static void test_refusals(void **unused) {
    (void)unused;
    rig r;
    rig_make(&r);
    ff_body body;
    const ff_tree_frame gripper = servicer_gripper();
    const ff_tree_frame nowhere = {N, ff_pose_identity()}, below = {-2, ff_pose_identity()},
                        broken = {0, {{1, 0, 0, 0}, {{FF_NAN, 0, 0}}}};
    const ff_pose pose = ff_pose_identity();
    assert_int_equal(ff_body_tree(NULL, 0, NULL, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(r.tree, FF_BODY_PORTS_MAX + 1, &gripper, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(r.tree, -1, &gripper, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(r.tree, 1, &nowhere, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(r.tree, 1, &below, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_tree(r.tree, 1, &broken, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_rigid(&envisat_rigid, FF_BODY_PORTS_MAX + 1, &pose, &body), FF_ERR_ARGUMENT);
    assert_int_equal(ff_body_rigid(&envisat_rigid, -1, &pose, &body), FF_ERR_ARGUMENT);
    ff_rigid_config none = envisat_rigid;
    none.mass = 0;
    assert_int_equal(ff_body_rigid(&none, 0, NULL, &body), FF_ERR_MASS);
    ff_tree_config fixed = r.table.config;
    fixed.fixed_base = true;
    const size_t bytes = ff_tree_memsize(&fixed);
    void *memory = malloc(bytes);
    ff_tree_model *tree;
    assert_int_equal(ff_tree_create(&fixed, memory, bytes, &tree, NULL, 0), FF_OK);
    assert_int_equal(ff_body_tree(tree, 0, NULL, &body), FF_ERR_ARGUMENT);
    free(memory);
    ff_body_work *work;
    assert_int_equal(ff_body_work_create(&r.body, r.memory[2], ff_body_work_memsize(&r.body) - 1, &work),
                     FF_ERR_SIZE);
    assert_null(work);
    assert_int_equal(ff_body_joints(&r.body), N);

    /* a joint that is not finite changes nothing */
    ff_tree_state x;
    ff_body_state state, before;
    ff_body_view view;
    random_tree(&r, &x);
    as_body(&r, &x, &state, &view);
    before = state;
    for (int i = 0; i < 2 * N; i++) {
        ff_tree_state y = x;
        *(i < N ? &y.q[i] : &y.qd[i - N]) = i % 2 ? FF_NAN : FF_INF;
        ff_body_view untouched = view;
        assert_int_equal(ff_body_measure(&r.body, r.work, 0.004, y.q, y.qd, &state, &untouched),
                         FF_ERR_NOT_FINITE);
        assert_memory_equal(&before, &state, sizeof state);
        assert_memory_equal(&untouched, &view, sizeof view);
    }
    rig_free(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_of_a_tree_is_the_tree),
        cmocka_unit_test(test_rigid_view_changes_no_bit),
        cmocka_unit_test(test_drift_of_a_gyrostat),
        cmocka_unit_test(test_drift_of_a_rigid_body),
        cmocka_unit_test(test_enter_keeps_momentum),
        cmocka_unit_test(test_impulse_gives_its_momentum),
        cmocka_unit_test(test_mobility_is_that_of_the_locked_tree),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
