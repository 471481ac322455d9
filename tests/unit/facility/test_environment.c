/* Contact laws: closed forms with every sign, geometry against brute force, momentum of pairs. */
#include "unit/facility/plants.h"

#include "facility/environment.h"

static ff_setpoint rest_at(ff_vec3 p) {
    return (ff_setpoint){{ff_quat_identity(), p}, ff_twist_zero()};
}

/* d = -n.(p - at); F = max(0, k d + c d') n. */
static void test_wall_spring_and_damper(void **state) {
    (void)state;
    ff_contact wall = make_wall(ff_vec3_zero(), ff_vec3_make(0, 0, 0.03), ff_vec3_make(0, 0, -1), 2000, 5);
    ff_environment_out out;
    ff_setpoint r = rest_at(ff_vec3_make(0.5, 0.7, 0.029)); /* free side: normal points to -z */
    assert_false(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_zero(), 0.0);
    r.T.p.z = 0.03; /* touching without depth */
    r.twist.v.z = 1.0;
    assert_false(ff_environment_contact(&wall, &r, &out));
    r.T.p.z = 0.031;
    r.twist.v.z = 0.0;
    assert_true(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_make(0, 0, -2.0), 1e-12);
    r.twist.v.z = 0.1; /* going deeper: the damper adds */
    assert_true(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_make(0, 0, -2.5), 1e-12);
    r.twist.v.z = -0.1; /* leaving: it takes away */
    assert_true(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_make(0, 0, -1.5), 1e-12);
    r.twist.v.z = -0.5; /* never pulls: 2 - 2.5 < 0 */
    assert_false(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_zero(), 0.0);
}

/* d' is the point's own velocity, spin included. */
static void test_wall_rate_contains_spin(void **state) {
    (void)state;
    const ff_vec3 point = ff_vec3_make(0, 0.5, 0);
    ff_contact wall = make_wall(point, ff_vec3_make(0, 0, 0), ff_vec3_make(0, 0, -1), 1000, 10);
    ff_setpoint r = rest_at(ff_vec3_make(0, 0, 0.001));
    r.twist.w = ff_vec3_make(0.2, 0, 0); /* w x r = 0.2 * 0.5 along +z: deeper */
    ff_environment_out out;
    assert_true(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_make(0, 0, -2.0), 1e-12);
    assert_vec3_near(out.on_body.t, ff_vec3_make(-1.0, 0, 0), 1e-12);
}

/* A grasp closes at its time where the point is within reach, and holds the pose it closed at: force and
 * couple of springs and dampers, against the same law written in inertial axes; together they leave momentum
 * and angular momentum alone. */
static void test_grasp_holds_what_it_closed_at(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int run = 0; run < 200; run++) {
        const ff_contact grip = {.kind = FF_CONTACT_GRASP,
                                 .body = 0,
                                 .against = 1,
                                 .point = test_random_vec3(&rng, 0.5),
                                 .at = test_random_vec3(&rng, 0.5),
                                 .stiffness = 2000,
                                 .damping = 150,
                                 .rotation_stiffness = 200,
                                 .rotation_damping = 2,
                                 .closes = 1.0,
                                 .reach = 0.01};
        ff_setpoint r[2] = {random_setpoint(&rng, 0.5), random_setpoint(&rng, 0.5)};
        ff_grasp grasp = {0};
        ff_environment_out out;
        /* the point 5 mm from where it is held */
        const ff_vec3 there =
            ff_pose_apply(r[1].T, ff_vec3_axpy(0.005, ff_vec3_unit(test_random_vec3(&rng, 1.0)), grip.at));
        r[0].T.p = ff_vec3_sub(there, ff_quat_rotate(r[0].T.q, grip.point));
        assert_false(ff_environment_grasp(&grip, &grasp, 0.999, r, &out)); /* too early */
        ff_setpoint far[2] = {r[0], r[1]};
        far[0].T.p = ff_vec3_axpy(0.02, ff_vec3_unit(test_random_vec3(&rng, 1.0)), far[0].T.p);
        assert_false(ff_environment_grasp(&grip, &grasp, 2.0, far, &out)); /* out of reach */
        assert_true(ff_vec3_norm(out.force) == 0.0 && !grasp.closed);
        assert_true(ff_environment_grasp(&grip, &grasp, 1.0, r, &out));
        assert_true(grasp.closed);
        /* then both move on a little */
        const ff_vec3 shift = test_random_vec3(&rng, 0.01), turn = test_random_vec3(&rng, 0.05);
        const ff_quat q0 = r[0].T.q;
        r[0].T.p = ff_vec3_add(r[0].T.p, shift);
        r[0].T.q = ff_quat_mul(ff_quat_exp(turn), q0); /* about inertial axes */
        assert_true(ff_environment_grasp(&grip, &grasp, 1.1, r, &out));
        const ff_vec3 x = ff_pose_apply(r[0].T, grip.point), arm0 = ff_vec3_sub(x, r[0].T.p),
                      arm1 = ff_vec3_sub(x, r[1].T.p), w0 = ff_quat_rotate(r[0].T.q, r[0].twist.w),
                      w1 = ff_quat_rotate(r[1].T.q, r[1].twist.w);
        const ff_vec3 v = ff_vec3_sub(ff_vec3_add(r[0].twist.v, ff_vec3_cross(w0, arm0)),
                                      ff_vec3_add(r[1].twist.v, ff_vec3_cross(w1, arm1)));
        const ff_vec3 F = ff_vec3_axpy(-150, v, ff_vec3_scale(-2000, ff_vec3_sub(x, there)));
        const ff_vec3 M = ff_vec3_axpy(-2, ff_vec3_sub(w0, w1), ff_vec3_scale(-200, turn));
        const double near = 1e-9 * (ff_vec3_norm(F) + ff_vec3_norm(M));
        assert_vec3_near(out.force, F, near);
        const ff_wrench *a = &out.on_body, *b = &out.on_other;
        assert_vec3_near(ff_quat_rotate(r[0].T.q, a->f), F, near);
        assert_vec3_near(ff_quat_rotate(r[1].T.q, b->f), ff_vec3_neg(F), near);
        assert_vec3_near(ff_quat_rotate(r[0].T.q, a->t), ff_vec3_add(M, ff_vec3_cross(arm0, F)), near);
        const ff_vec3 L = ff_vec3_add(ff_vec3_add(ff_quat_rotate(r[0].T.q, a->t),
                                                  ff_vec3_cross(r[0].T.p, ff_quat_rotate(r[0].T.q, a->f))),
                                      ff_vec3_add(ff_quat_rotate(r[1].T.q, b->t),
                                                  ff_vec3_cross(r[1].T.p, ff_quat_rotate(r[1].T.q, b->f))));
        assert_vec3_near(L, ff_vec3_zero(), near);
        assert_false(ff_environment_contact(&grip, r, &out)); /* its own function only */
    }
}

/* At any orientation the law is the upright one, turned. */
static void test_wall_any_orientation(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 1);
    for (int run = 0; run < 200; run++) {
        ff_contact wall = make_wall(test_random_vec3(&rng, 0.5), test_random_vec3(&rng, 0.2),
                                    ff_vec3_unit(test_random_vec3(&rng, 1)), 2000, 5);
        wall.friction = 0.3;
        const ff_setpoint r = random_setpoint(&rng, 0.2);
        ff_environment_out out, turned;
        const bool touches = ff_environment_contact(&wall, &r, &out);
        const ff_pose T = test_random_pose(&rng, 3.0);
        ff_contact wall2 = wall;
        wall2.at = ff_pose_apply(T, wall.at);
        wall2.normal = ff_quat_rotate(T.q, wall.normal);
        const ff_setpoint r2 = {ff_pose_mul(T, r.T), {r.twist.w, ff_quat_rotate(T.q, r.twist.v)}};
        assert_int_equal(ff_environment_contact(&wall2, &r2, &turned), touches);
        assert_vec3_near(turned.force, ff_quat_rotate(T.q, out.force), 1e-10);
        assert_vec3_near(turned.on_body.f, out.on_body.f, 1e-10);
        assert_vec3_near(turned.on_body.t, out.on_body.t, 1e-10);
    }
}

/* [he2022, (24)]: nothing at the surface, half at half depth, all from X on; slopes zero at both ends. */
static void test_damping_depth_smooth_step(void **state) {
    (void)state;
    ff_contact wall = make_wall(ff_vec3_zero(), ff_vec3_zero(), ff_vec3_make(1, 0, 0), 0.0, 10.0);
    wall.damping_depth = 0.004;
    assert_near(ff_environment_normal_force(&wall, 0.002, 1.0), 5.0, 1e-12);
    assert_near(ff_environment_normal_force(&wall, 0.001, 1.0), 10.0 * (3.0 / 16 - 2.0 / 64), 1e-12);
    assert_near(ff_environment_normal_force(&wall, 0.004, 1.0), 10.0, 1e-12);
    assert_near(ff_environment_normal_force(&wall, 0.4, 1.0), 10.0, 1e-12);
    assert_near(ff_environment_normal_force(&wall, 1e-9, 1.0), 0.0, 1e-11);
    assert_near(ff_environment_normal_force(&wall, 0.004 - 1e-9, 1.0), 10.0, 1e-11);
    assert_near(ff_environment_normal_force(&wall, 0.0, 1.0), 0.0, 0.0);
    assert_near(ff_environment_normal_force(&wall, -1.0, 1.0), 0.0, 0.0);
    assert_true(isnan(ff_environment_normal_force(&wall, FF_NAN, 1.0)));
}

/* Friction opposes the sliding, mu F_n large, and vanishes smoothly at rest. */
static void test_friction_opposes_sliding(void **state) {
    (void)state;
    ff_contact wall = make_wall(ff_vec3_zero(), ff_vec3_zero(), ff_vec3_make(0, 0, 1), 1000, 0);
    wall.friction = 0.4;
    ff_setpoint r = rest_at(ff_vec3_make(0, 0, -0.01));
    r.twist.v = ff_vec3_make(0.3, -0.4, 0.2);
    ff_environment_out out;
    assert_true(ff_environment_contact(&wall, &r, &out));
    const double full = 0.4 * 10.0 / sqrt(0.25 + FF_FRICTION_SPEED * FF_FRICTION_SPEED);
    assert_vec3_near(out.force, ff_vec3_make(-0.3 * full, 0.4 * full, 10.0), 1e-12);
    assert_near(hypot(out.force.x, out.force.y), 4.0, 1e-5);
    r.twist.v = ff_vec3_make(FF_FRICTION_SPEED, 0, 0);
    assert_true(ff_environment_contact(&wall, &r, &out));
    assert_near(out.force.x, -4.0 / sqrt(2.0), 1e-12);
    r.twist.v = ff_vec3_zero();
    assert_true(ff_environment_contact(&wall, &r, &out));
    assert_vec3_near(out.force, ff_vec3_make(0, 0, 10.0), 1e-12);
}

/* Six axes, each alone, on both sides, with the damper's sign. */
static void test_stops_six_axes(void **state) {
    (void)state;
    ff_contact stops = {.kind = FF_CONTACT_STOPS,
                        .against = -1,
                        .stiffness = 2000,
                        .damping = 5,
                        .rotation_stiffness = 60,
                        .rotation_damping = 0.1,
                        .stop_position = {{0.03, 0.04, 0.05}},
                        .stop_rotation = {{0.05, 0.06, 0.07}}};
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            const double half = stops.stop_position.a[axis], angle = stops.stop_rotation.a[axis];
            ff_setpoint r = rest_at(ff_vec3_zero());
            ff_environment_out out;
            r.T.p.a[axis] = side * (half - 1e-9);
            r.twist.v.a[axis] = side * 1.0;
            assert_false(ff_environment_contact(&stops, &r, &out));
            r.T.p.a[axis] = side * (half + 0.001);
            r.twist.v.a[axis] = side * 0.02;
            assert_true(ff_environment_contact(&stops, &r, &out));
            ff_vec3 f = ff_vec3_zero();
            f.a[axis] = -side * (2.0 + 0.1);
            assert_vec3_near(out.force, f, 1e-12);
            assert_vec3_near(out.on_body.f, f, 1e-12);
            assert_vec3_near(out.on_body.t, ff_vec3_zero(), 0.0);
            r.twist.v.a[axis] = -side * 1.0; /* leaves faster than it pushes */
            assert_false(ff_environment_contact(&stops, &r, &out));

            r = rest_at(ff_vec3_zero());
            ff_vec3 rotation = ff_vec3_zero();
            rotation.a[axis] = side * (angle + 0.01);
            r.T.q = ff_quat_exp(rotation);
            r.twist.w.a[axis] = side * 0.5;
            assert_true(ff_environment_contact(&stops, &r, &out));
            ff_vec3 t = ff_vec3_zero();
            t.a[axis] = -side * (0.6 + 0.05);
            assert_vec3_near(out.on_body.t, t, 1e-12);
            assert_vec3_near(out.force, ff_vec3_zero(), 0.0);
            r.twist.w.a[axis] = -side * 0.5;
            assert_true(ff_environment_contact(&stops, &r, &out));
            t.a[axis] = -side * (0.6 - 0.05);
            assert_vec3_near(out.on_body.t, t, 1e-12);
        }
    /* a turned body: the force is inertial, seen in body axes; infinite half widths are free */
    stops.stop_rotation = (ff_vec3){{FF_INF, FF_INF, FF_INF}};
    stops.stop_position.y = FF_INF;
    ff_setpoint r = rest_at(ff_vec3_make(0.04, 1e6, 0));
    r.T.q = ff_quat_exp(ff_vec3_make(0, 0, 0.5 * FF_PI));
    ff_environment_out out;
    assert_true(ff_environment_contact(&stops, &r, &out));
    assert_vec3_near(out.force, ff_vec3_make(-20, 0, 0), 1e-12);
    assert_vec3_near(out.on_body.f, ff_vec3_make(0, 20, 0), 1e-12); /* body y looks along -x */
}

static ff_contact random_pair(ff_rng *rng, bool cone) {
    ff_contact c = make_wall(test_random_vec3(rng, 0.5), test_random_vec3(rng, 0.5),
                             ff_vec3_unit(test_random_vec3(rng, 1)), 2000, 15);
    c.kind = cone ? FF_CONTACT_CONE : FF_CONTACT_PAIR;
    c.body = 1;
    c.against = 0;
    c.friction = 0.2;
    c.apex = test_random_vec3(rng, 0.3);
    c.axis = ff_vec3_unit(test_random_vec3(rng, 1));
    c.half_angle = ff_rng_range(rng, 0.1, 1.4);
    return c;
}

/* Force and moment about the inertial origin sum to zero: no momentum is created. */
static void test_pair_and_cone_conserve_momentum(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 2);
    int touched = 0;
    for (int run = 0; run < test_count(2000, 100000); run++) {
        const ff_contact c = random_pair(&rng, run % 2);
        const ff_setpoint r[2] = {random_setpoint(&rng, 0.3), random_setpoint(&rng, 0.3)};
        ff_environment_out out;
        if (!ff_environment_contact(&c, r, &out))
            continue;
        touched++;
        const ff_vec3 f1 = ff_quat_rotate(r[1].T.q, out.on_body.f),
                      f0 = ff_quat_rotate(r[0].T.q, out.on_other.f);
        const double scale = ff_vec3_norm(f1);
        assert_true(scale > 0.0);
        assert_vec3_near(ff_vec3_add(f0, f1), ff_vec3_zero(), 1e-12 * fmax(1.0, scale));
        assert_vec3_near(f1, out.force, 1e-12 * fmax(1.0, scale));
        const ff_vec3 m1 = ff_vec3_add(ff_quat_rotate(r[1].T.q, out.on_body.t), ff_vec3_cross(r[1].T.p, f1));
        const ff_vec3 m0 = ff_vec3_add(ff_quat_rotate(r[0].T.q, out.on_other.t), ff_vec3_cross(r[0].T.p, f0));
        assert_vec3_near(ff_vec3_add(m0, m1), ff_vec3_zero(), 1e-12 * fmax(1.0, scale));
    }
    assert_true(touched > 200);
}

/* A pair against a body at rest is a wall; d' is the rate of d, by difference, for two moving bodies. */
static void test_pair_depth_rate_and_wall_limit(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 3);
    for (int run = 0; run < 200; run++) {
        ff_contact c = random_pair(&rng, false);
        c.friction = 0.0;
        ff_setpoint r[2] = {random_setpoint(&rng, 0.3), random_setpoint(&rng, 0.3)};
        /* depth after moving both along their twists for h, geometry by hand */
        double d[2];
        const double h = 1e-6;
        for (int i = 0; i < 2; i++) {
            const double t = i ? h : -h;
            ff_pose T[2];
            for (int b = 0; b < 2; b++)
                T[b] = (ff_pose){ff_quat_mul(r[b].T.q, ff_quat_exp(ff_vec3_scale(t, r[b].twist.w))),
                                 ff_vec3_axpy(t, r[b].twist.v, r[b].T.p)};
            const ff_vec3 tip = ff_pose_apply(T[1], c.point), at = ff_pose_apply(T[0], c.at);
            d[i] = -ff_vec3_dot(ff_quat_rotate(T[0].q, c.normal), ff_vec3_sub(tip, at));
        }
        const double depth = 0.5 * (d[0] + d[1]), rate = (d[1] - d[0]) / (2 * h);
        const double expected = depth > 0 ? fmax(0, 2000 * depth + 15 * rate) : 0.0;
        ff_environment_out out;
        ff_environment_contact(&c, r, &out);
        assert_vec3_near(out.force, ff_vec3_scale(expected, ff_quat_rotate(r[0].T.q, c.normal)), 1e-6);

        ff_contact wall = c;
        wall.kind = FF_CONTACT_WALL;
        wall.body = 1;
        wall.against = -1;
        wall.friction = c.friction = 0.5;
        r[0] = rest_at(ff_vec3_zero());
        ff_environment_out as_wall;
        assert_int_equal(ff_environment_contact(&c, r, &out), ff_environment_contact(&wall, r, &as_wall));
        assert_vec3_near(out.force, as_wall.force, 1e-10);
        assert_vec3_near(out.on_body.t, as_wall.on_body.t, 1e-10);
    }
}

/* The foot point is the nearest point of the surface: searched line by line around the axis. */
static void test_cone_foot_is_nearest_point(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 4);
    int behind = 0, inside = 0, faces = 0;
    for (int run = 0; run < test_count(100, 3000); run++) {
        ff_contact c = random_pair(&rng, true);
        const ff_vec3 p = ff_vec3_add(c.apex, test_random_vec3(&rng, 0.5));
        c.depth = FF_INF;
        const ff_cone_foot foot = ff_environment_cone(&c, p);
        /* surface points: apex + s (cos a axis + sin a (cos f e1 + sin f e2)), s >= 0 */
        const ff_vec3 e1 = ff_vec3_unit(
            ff_vec3_cross(c.axis, fabs(c.axis.x) < 0.7 ? ff_vec3_make(1, 0, 0) : ff_vec3_make(0, 1, 0)));
        const ff_vec3 e2 = ff_vec3_cross(c.axis, e1);
        double s = 0.0, f = FF_PI, df = FF_PI, best = FF_INF;
        for (int pass = 0; pass < 30; pass++, df *= pass == 1 ? 1e-3 : 0.5) {
            const double f0 = f;
            /* the first pass is dense: where the foot is almost the apex only a few lines reach it */
            const int half = pass == 0 ? 2000 : 8;
            for (int j = -half; j <= half; j++) {
                const double fj = f0 + df * j / half;
                const ff_vec3 dir = ff_vec3_add(ff_vec3_scale(cos(fj), e1), ff_vec3_scale(sin(fj), e2));
                const ff_vec3 line =
                    ff_vec3_axpy(sin(c.half_angle), dir, ff_vec3_scale(cos(c.half_angle), c.axis));
                double low = 0.0, high = 2.0; /* along a line the distance has one minimum */
                for (int i = 0; i < 60; i++) {
                    const double m1 = low + (high - low) / 3, m2 = high - (high - low) / 3;
                    const double l1 = ff_vec3_norm(ff_vec3_sub(p, ff_vec3_axpy(m1, line, c.apex))),
                                 l2 = ff_vec3_norm(ff_vec3_sub(p, ff_vec3_axpy(m2, line, c.apex)));
                    if (l1 <= l2)
                        high = m2;
                    else
                        low = m1;
                }
                const double distance = ff_vec3_norm(ff_vec3_sub(p, ff_vec3_axpy(low, line, c.apex)));
                if (distance < best) {
                    best = distance;
                    s = low;
                    f = fj;
                }
            }
        }
        assert_near(fabs(foot.depth), best, 1e-9);
        assert_near(ff_vec3_norm(ff_vec3_sub(p, foot.foot)), best, 1e-9);
        assert_near(ff_vec3_norm(foot.normal), 1.0, 1e-12);
        /* inside the cavity means an angle from the axis below half_angle */
        const ff_vec3 q = ff_vec3_sub(p, c.apex);
        const double angle = acos(ff_vec3_dot(q, c.axis) / ff_vec3_norm(q));
        assert_int_equal(foot.depth > 0, angle > c.half_angle);
        /* the normal leads from the tip in the material to its foot */
        assert_vec3_near(ff_vec3_axpy(foot.depth, foot.normal, p), foot.foot, 1e-12);
        /* with a mouth: the face around it where that is nearer, and free beyond it */
        c.depth = ff_rng_range(&rng, 0.05, 0.5);
        const ff_cone_foot near = ff_environment_cone(&c, p);
        const double above = ff_vec3_dot(q, c.axis) - c.depth;
        if (foot.depth > 0 && above < 0 && -above < best) {
            assert_near(near.depth, -above, 1e-12);
            assert_vec3_near(near.normal, c.axis, 1e-12);
            faces++;
        } else if (above < 0)
            assert_vec3_near(near.foot, foot.foot, 1e-12);
        else
            assert_true(near.depth <= 0);
        assert_vec3_near(ff_vec3_axpy(near.depth, near.normal, p), near.foot, 1e-12);
        behind += s < 1e-9;
        inside += foot.depth < 0;
    }
    assert_true(behind > 5 && inside > 5 && faces > 5);
}

/* A tip in the cone is pushed back into the cavity, towards axis and mouth; beyond the mouth it is free. */
static void test_cone_pushes_into_the_cavity(void **state) {
    (void)state;
    ff_contact c = {.kind = FF_CONTACT_CONE,
                    .body = 1,
                    .against = 0,
                    .stiffness = 1000,
                    .damping = 10,
                    .axis = {{1, 0, 0}},
                    .half_angle = 0.25 * FF_PI,
                    .depth = 0.5};
    ff_setpoint r[2] = {rest_at(ff_vec3_zero()), rest_at(ff_vec3_make(0.2, 0.21, 0))};
    ff_environment_out out;
    assert_true(ff_environment_contact(&c, r, &out));
    const double d = 0.01 * sqrt(0.5), f = 1000 * d * sqrt(0.5);
    assert_vec3_near(out.force, ff_vec3_make(f, -f, 0), 1e-12);
    r[1].twist.v = ff_vec3_make(-0.1, 0, 0); /* into the cone: the damper adds */
    assert_true(ff_environment_contact(&c, r, &out));
    const double g = f + 10 * 0.1 * sqrt(0.5) * sqrt(0.5);
    assert_vec3_near(out.force, ff_vec3_make(g, -g, 0), 1e-12);
    r[1].twist.v = ff_vec3_zero();
    r[1].T.p = ff_vec3_make(0.2, 0.19, 0);
    assert_false(ff_environment_contact(&c, r, &out));
    r[1].T.p = ff_vec3_make(-0.01, 0, 0); /* behind the apex: straight back */
    assert_true(ff_environment_contact(&c, r, &out));
    assert_vec3_near(out.force, ff_vec3_make(10, 0, 0), 1e-12);
    /* near the rim and outside it the face at x = 0.5 is nearer than the wall: 0.01 m below it */
    r[1].T.p = ff_vec3_make(0.49, 0.51, 0);
    assert_true(ff_environment_contact(&c, r, &out));
    assert_vec3_near(out.force, ff_vec3_make(10, 0, 0), 1e-12);
    r[1].T.p = ff_vec3_make(0.49, 0.5, 0); /* 0.01 sqrt(.5) below the wall */
    assert_true(ff_environment_contact(&c, r, &out));
    assert_vec3_near(out.force, ff_vec3_make(5, -5, 0), 1e-12);
    r[1].T.p = ff_vec3_make(0.501, 0.6, 0); /* in front of it: free */
    assert_false(ff_environment_contact(&c, r, &out));
    c.depth = FF_INF;
    r[1].T.p = ff_vec3_make(49, 52, 0);
    assert_true(ff_environment_contact(&c, r, &out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wall_spring_and_damper),
        cmocka_unit_test(test_wall_rate_contains_spin),
        cmocka_unit_test(test_grasp_holds_what_it_closed_at),
        cmocka_unit_test(test_wall_any_orientation),
        cmocka_unit_test(test_damping_depth_smooth_step),
        cmocka_unit_test(test_friction_opposes_sliding),
        cmocka_unit_test(test_stops_six_axes),
        cmocka_unit_test(test_pair_and_cone_conserve_momentum),
        cmocka_unit_test(test_pair_depth_rate_and_wall_limit),
        cmocka_unit_test(test_cone_foot_is_nearest_point),
        cmocka_unit_test(test_cone_pushes_into_the_cavity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
