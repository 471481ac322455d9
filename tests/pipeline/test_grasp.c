/* A rigid grasp of Envisat with delay in both robots (the readings' figures on destefano2021): the pair's
 * relative motion grows under `direct`; `tdpa` observes the pair as one port and scales both wrenches alike,
 * so it stays bounded and no momentum is made. */
#include "support.h"

#include <complex.h>

#include "report/metrics.h"
#include "plant_support.h"
#include "servicer_model.h"

#define DEG (FF_PI / 180)

/* The servicer with its arm locked, as one rigid body: mass, CoM in the base frame, inertia about it. */
static void locked(ff_rigid_config *rigid, ff_vec3 *com, ff_pose *gripper) {
    static _Alignas(64) unsigned char a[200000], b[200000];
    servicer_model table;
    ff_tree_model *tree;
    ff_tree_work *work;
    ff_tree_state s;
    enum { DOF = 6 + SERVICER_JOINTS };
    double M[DOF * DOF];
    servicer_model_make(&table);
    assert_int_equal(ff_tree_create(&table.config, a, sizeof a, &tree, NULL, 0), FF_OK);
    assert_int_equal(ff_tree_work_create(tree, b, sizeof b, &work), FF_OK);
    ff_tree_state_default(&s);
    memcpy(s.q, servicer_reached, sizeof servicer_reached);
    ff_tree_kinematics(tree, &s, work, ff_vec3_zero());
    ff_tree_mass_matrix(tree, work, M);
    const double m = ff_tree_mass(tree);
    /* M_b = [I_o, m c x; .., m 1]: the block of rotation and translation holds m [c] */
    *com = ff_vec3_make(M[2 * DOF + 4] / m, M[0 * DOF + 5] / m, M[1 * DOF + 3] / m);
    rigid->mass = m;
    const double c2 = ff_vec3_dot(*com, *com);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rigid->inertia.m[i][j] = M[i * DOF + j] - m * ((i == j ? c2 : 0) - com->a[i] * com->a[j]);
    const ff_tree_frame frame = servicer_gripper();
    *gripper = ff_tree_frame_in_base(tree, work, &frame);
}

static void scenario_make(ff_scenario *s, double delay, double duration, const ff_method *method) {
    ff_vec3 com;
    ff_pose gripper;
    *s = (ff_scenario){.satellites = 2, .contacts = 1, .cycle = 0.004, .seed = 1};
    s->duration = duration;
    s->cycles = (uint64_t)llround(duration / s->cycle);
    test_methods(s, method);
    s->integrate = (ff_integrate_config){.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = s->cycle};
    s->facility_pose = ff_pose_identity();
    s->frame = FF_FRAME_RELATIVE;
    s->requirements = (ff_requirements){0.01, 0.0087, 1.2, 0.05};
    for (int i = 0; i < 2; i++) {
        ff_satellite *b = &s->satellite[i];
        snprintf(b->name, sizeof b->name, i ? "servicer" : "client");
        b->start.attitude = ff_quat_identity();
        b->points = 1;
        ff_limiter_default(&b->limits);
        b->robot = test_robot(FF_ROBOT_DELAY, delay);
        b->sensor = test_sensor();
    }
    s->satellite[0].rigid = envisat_rigid;
    locked(&s->satellite[1].rigid, &com, &gripper);
    /* the gripper stands at the grapple point; 2 mm/s between the bodies */
    const ff_vec3 grapple = ff_vec3_make(-2.9, 0, 0), base = ff_vec3_sub(grapple, gripper.p);
    s->satellite[1].start.position = ff_vec3_add(base, com);
    s->satellite[1].start.velocity = ff_vec3_scale(0.002, ff_vec3_unit(ff_vec3_make(1, 1, 1)));
    s->contact[0] = (ff_contact){.kind = FF_CONTACT_GRASP,
                                 .body = 1,
                                 .against = 0,
                                 .point = ff_vec3_sub(gripper.p, com),
                                 .at = grapple,
                                 .stiffness = 1e4,
                                 .satellite_stiffness = 1e4,
                                 .rotation_stiffness = 5e3,
                                 .reach = FF_INF,
                                 .depth = FF_INF};
    snprintf(s->contact[0].name, sizeof s->contact[0].name, "grip");
}

typedef struct watch {
    const ff_scenario *s;
    ff_rigid_model model[2];
    double speed[20000]; /* [m/s] of the gripper point in the client's frame */
    double energy[20000];
    ff_vec3 linear0, angular0;
    double linear, angular; /* largest change of the total momentum */
    double largest;
    int n;
} watch;

static ff_status watch_row(void *self, const ff_row *row) {
    watch *w = self;
    const ff_rigid_state *c = &row->body[0].satellite, *b = &row->body[1].satellite;
    const ff_contact *g = &w->s->contact[0];
    const ff_vec3 x = ff_pose_apply(ff_rigid_pose(b), g->point);
    const ff_vec3 y = ff_quat_unrotate(c->attitude, ff_vec3_sub(x, c->position));
    const double v =
        ff_vec3_norm(ff_vec3_sub(ff_rigid_point_velocity(b, g->point), ff_rigid_point_velocity(c, y)));
    ff_vec3 P = ff_vec3_zero(), L = ff_vec3_zero();
    double E = 0;
    for (int i = 0; i < 2; i++) {
        const ff_rigid_state *s = &row->body[i].satellite;
        P = ff_vec3_axpy(w->model[i].mass, s->velocity, P);
        L = ff_vec3_add(
            L, ff_vec3_add(ff_rigid_angular_momentum(&w->model[i], s),
                           ff_vec3_scale(w->model[i].mass, ff_vec3_cross(s->position, s->velocity))));
        E += ff_rigid_kinetic_energy(&w->model[i], s);
    }
    if (row->k == 0) {
        w->linear0 = P;
        w->angular0 = L;
    }
    w->linear = fmax(w->linear, ff_vec3_norm(ff_vec3_sub(P, w->linear0)));
    w->angular = fmax(w->angular, ff_vec3_norm(ff_vec3_sub(L, w->angular0)));
    w->largest = fmax(w->largest, v);
    if (w->n < 20000) {
        w->energy[w->n] = E;
        w->speed[w->n++] = v;
    }
    return FF_OK;
}

static void run(const ff_scenario *s, watch *w) {
    memset(w, 0, sizeof *w);
    w->s = s;
    for (int i = 0; i < 2; i++)
        assert_int_equal(ff_rigid_create(&s->satellite[i].rigid, &w->model[i]), FF_OK);
    const ff_sink sink = {.self = w, .row = watch_row};
    const ff_run_options options = {.sinks = &sink, .count = 1};
    ff_run_result result;
    ff_run(s, &options, &result);
    if (result.status != FF_OK)
        fail_msg("%s", result.message);
}

/* Rate of the envelope: largest speed in two windows, apart by dt. */
static double growth(const watch *w, double from, double to, double width, double cycle) {
    double a = 0, b = 0;
    const int n = (int)(width / cycle);
    for (int i = 0; i < n; i++) {
        a = fmax(a, w->speed[(int)(from / cycle) + i]);
        b = fmax(b, w->speed[(int)(to / cycle) - n + i]);
    }
    return log(b / a) / (to - from - width);
}

static watch w;

/* What follows shares nothing with the loop: the largest w^2 of the pair held by the grasp, K of the six axes
 * times the mobility of both bodies at the gripper, by power iteration. */
static double stiffest_mode(const ff_scenario *s) {
    const ff_contact *g = &s->contact[0];
    const ff_vec3 r[2] = {g->at, g->point}; /* client, servicer: axes are parallel at the start */
    const double K[6] = {g->rotation_stiffness, g->rotation_stiffness, g->rotation_stiffness,
                         g->stiffness,          g->stiffness,          g->stiffness};
    double x[6] = {0.3, -0.5, 0.2, 0.7, 0.4, -0.6}, w2 = 0;
    for (int n = 0; n < 2000; n++) {
        const ff_vec3 t = ff_vec3_make(K[0] * x[0], K[1] * x[1], K[2] * x[2]),
                      f = ff_vec3_make(K[3] * x[3], K[4] * x[4], K[5] * x[5]);
        ff_vec3 turn = ff_vec3_zero(), move = ff_vec3_zero();
        for (int i = 0; i < 2; i++) {
            ff_mat3 inverse;
            assert_int_equal(ff_mat3_inverse(s->satellite[i].rigid.inertia, &inverse), FF_OK);
            const ff_vec3 rate = ff_mat3_apply(&inverse, ff_vec3_add(t, ff_vec3_cross(r[i], f)));
            turn = ff_vec3_add(turn, rate);
            move =
                ff_vec3_add(move, ff_vec3_axpy(1 / s->satellite[i].rigid.mass, f, ff_vec3_cross(rate, r[i])));
        }
        const double y[6] = {turn.x, turn.y, turn.z, move.x, move.y, move.z};
        double size = 0, along = 0;
        for (int i = 0; i < 6; i++) {
            size += K[i] * y[i] * y[i];
            along += K[i] * x[i] * x[i];
        }
        w2 = sqrt(size / along);
        for (int i = 0; i < 6; i++)
            x[i] = y[i] / sqrt(size);
    }
    return w2;
}

/* Growth of x'' = -w^2 x(t - delay) in the discrete loop: x(k+1) - 2 x(k) + x(k-1) = -(T w)^2 x_d(k), x_d
 * interpolated between two cycles as a delay robot does. held: the force acts over the cycle instead, x gains
 * T v + T^2 a/2, so the right-hand side is the mean of two cycles. The root next to exp(i w T), by Newton. */
static double loop_rate(double w2, double T, double delay, bool held_force) {
    const double cycles = delay / T, whole = floor(cycles + 1e-9), part = fmax(0.0, cycles - whole);
    double complex z = cexp(T * 0.5 * w2 * delay + T * sqrt(w2) * (double complex)I);
    for (int n = 0; n < 50; n++) {
        const double complex h = 1e-6;
        double complex at[2];
        for (int i = 0; i < 2; i++) {
            const double complex y = z + (double)i * h;
            const double complex past = (1 - part) * cpow(y, -whole) + part * cpow(y, -whole - 1);
            at[i] = y - 2 + 1 / y + T * T * w2 * past * (held_force ? 0.5 * (1 + 1 / y) : 1);
        }
        z -= h * at[0] / (at[1] - at[0]);
    }
    return log(cabs(z)) / T;
}

/* The rate of the loop is that of its exact discrete equation, under both rules for the contact wrench. The
 * readings' rates belong to a force that is held over the cycle, half a cycle more delay: the default of a
 * grasp. An impulse at the start of the cycle stays selectable. */
static void test_direct_grows_as_its_equation_says(void **state) {
    (void)state;
    static const double delay[] = {0.010, 0.020, 0.030, 0.040}, readings[] = {0.31, 0.59, 0.84, 1.09};
    static const ff_contact_rule rule[] = {FF_CONTACT_RULE_DEFAULT, FF_CONTACT_RULE_IMPULSE};
    for (int i = 0; i < 4; i++) {
        ff_scenario s;
        double rate[2], equation[2];
        const double end = 18 / readings[i]; /* the fastest mode has left the others behind */
        for (int n = 0; n < 2; n++) {
            scenario_make(&s, delay[i], end, &ff_method_direct);
            s.contact_wrench = rule[n];
            /* a rate belongs to small motions: start with so little that eighteen e-folds are still
             * millimetres */
            s.satellite[1].start.velocity = ff_vec3_scale(1e-7, s.satellite[1].start.velocity);
            run(&s, &w);
            rate[n] = growth(&w, 0.5 * end, end, 2, s.cycle);
            equation[n] = loop_rate(stiffest_mode(&s), s.cycle, delay[i], n == 0);
            assert_near(rate[n], equation[n], 0.02 * equation[n]);
        }
        print_message("delay %.0f ms: growth %.4f 1/s (equation %.4f, readings %.2f); impulse %.4f (%.4f)\n",
                      1e3 * delay[i], rate[0], equation[0], readings[i], rate[1], equation[1]);
        assert_near(rate[0], readings[i], 0.1 * readings[i]);
    }
}

static void test_tdpa_holds_the_pair(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        ff_scenario s;
        scenario_make(&s, 0.010 * (i + 1), 60, &ff_method_tdpa);
        run(&s, &w);
        print_message("delay %d ms: largest %.2f mm/s, end %.2f mm/s, momentum %.2g N s, %.2g N m s\n",
                      10 * (i + 1), 1e3 * w.largest, 1e3 * w.speed[w.n - 1], w.linear, w.angular);
        assert_true(w.largest < 0.010);
        assert_true(w.linear < 0.01);
    }
}

static void test_momentum_with_tumble(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        ff_scenario s;
        scenario_make(&s, 0.010 * (i + 1), 30, &ff_method_tdpa);
        const ff_vec3 spin = ff_vec3_make(0.2 * DEG, -0.3 * DEG, -2.5 * DEG);
        s.satellite[0].start.omega = s.satellite[1].start.omega = spin;
        s.satellite[1].start.velocity =
            ff_vec3_add(s.satellite[1].start.velocity, ff_vec3_cross(spin, s.satellite[1].start.position));
        run(&s, &w);
        print_message("tumbling, delay %d ms: largest %.2f mm/s, momentum %.2g N s, %.2g N m s\n",
                      10 * (i + 1), 1e3 * w.largest, w.linear, w.angular);
        assert_true(w.largest < 0.010);
        assert_true(w.linear < 1e-9);
        assert_true(w.angular < 1e-5);
    }
}

/* Without delay the facility's grasp is the reference's, closed at a time or within reach. */
static void test_grasp_is_the_references(void **state) {
    (void)state;
    for (int near = 0; near < 2; near++) {
        ff_scenario s;
        scenario_make(&s, 0, 6, &ff_method_direct);
        s.cycle = s.integrate.cycle = 0.0005;
        s.cycles = 12000;
        ff_contact *g = &s.contact[0];
        g->damping = g->satellite_damping = 300;
        g->rotation_damping = 150;
        if (near) { /* flies towards the grapple point and closes at 5 mm */
            s.satellite[1].start.position.x -= 0.012;
            s.satellite[1].start.velocity = ff_vec3_make(0.005, 0, 0);
            g->reach = 0.005;
        } else
            g->closes = 1.5;
        ff_ideal_result ideal;
        char message[200];
        assert_int_equal(ff_ideal_solve(&s, NULL, NULL, &ideal, message, sizeof message), FF_OK);
        assert_int_equal(ideal.contacts, 1);
        assert_near(ideal.contact[0].start, near ? 1.4 : 1.5, 1e-6);
        ff_metrics metrics;
        ff_run_result result;
        assert_int_equal(ff_metrics_init(&s, &metrics), FF_OK);
        const ff_sink sink = ff_metrics_sink(&metrics);
        const ff_run_options options = {.ideal = &ideal, .sinks = &sink, .count = 1};
        ff_run(&s, &options, &result);
        assert_int_equal(result.status, FF_OK);
        ff_metrics_finish(&metrics, &ideal, result.status);
        print_message("grasp %s: %.2g m/s, %.2g m, peak ratio %.4f\n", near ? "within reach" : "at a time",
                      metrics.body[1].error_velocity, metrics.body[1].error_position,
                      metrics.peak_force_ratio[1]);
        assert_true(metrics.body[1].error_velocity < 2e-5); /* first order in T: 0.5 ms */
        assert_true(metrics.body[1].error_omega < 2e-5);
        assert_near(metrics.peak_force_ratio[1], 1, 0.01);
        ff_metrics_free(&metrics);
        ff_ideal_free(&ideal);
    }
}

/* A held pair that flies against a wall is thrown back by it: the pair's observer must not take the wall's
 * force for a part of the grasp. Two grasps between the same two are one port. */
static void test_pair_against_a_wall(void **state) {
    (void)state;
    for (int wall = 0; wall < 2; wall++) {
        ff_scenario s;
        ff_loop_config loop;
        scenario_make(&s, 0.004, 20, &ff_method_tdpa);
        s.contact[0].damping = 2000;
        s.contact[0].rotation_damping = 1000;
        s.contacts = 2;
        if (wall)
            s.contact[1] = (ff_contact){.kind = FF_CONTACT_WALL,
                                        .body = 0,
                                        .against = -1,
                                        .at = {{0.05, 0, 0}},
                                        .normal = {{-1, 0, 0}},
                                        .stiffness = 5000,
                                        .satellite_stiffness = 5000,
                                        .depth = FF_INF,
                                        .reach = FF_INF};
        else {
            s.contact[1] = s.contact[0];
            s.contact[1].point.y += 0.3;
            s.contact[1].at.y += 0.3;
        }
        for (int i = 0; i < 2; i++)
            s.satellite[i].start.velocity = ff_vec3_make(0.01, i * 0.002, 0);
        ff_scenario_loop(&s, &loop);
        assert_int_equal(loop.world.grasp.body, wall ? -1 : 1);
        assert_true(loop.body[0].held && loop.body[1].held);
        run(&s, &w);
        print_message("%s: momentum changed by %.4g N s\n", wall ? "wall" : "two grasps", w.linear);
        if (wall)
            assert_true(w.linear > 1.5 * 93); /* 93 N s came, and nearly as much goes back */
        else
            assert_true(w.linear < 1e-9);
    }
}

typedef struct ledger {
    ff_rigid_state last[2];
    double kinetic0[2], open; /* [J] largest part of the kinetic energy that the books do not explain */
} ledger;

static ff_status ledger_row(void *self, const ff_row *row) {
    ledger *l = self;
    for (int i = 0; i < 2; i++) {
        const ff_energy *e = &row->body[i].energy;
        if (row->k == 0)
            l->kinetic0[i] = e->kinetic - ff_energy_sum(e);
        l->open = fmax(l->open, fabs(e->kinetic - l->kinetic0[i] - ff_energy_sum(e)));
        l->last[i] = row->body[i].satellite;
    }
    return FF_OK;
}

/* A held wrench moves the pair alike in every frame and form and with both integrators that take it, and its
 * energy is booked. */
static void test_held_wrench_in_every_frame(void **state) {
    (void)state;
    static const struct {
        ff_frame_kind frame;
        bool integrated;
        ff_scheme scheme;
    } how[] = {{FF_FRAME_ABSOLUTE, false, FF_SCHEME_LIE_MIDPOINT},
               {FF_FRAME_RELATIVE, false, FF_SCHEME_LIE_MIDPOINT},
               {FF_FRAME_RELATIVE, true, FF_SCHEME_LIE_MIDPOINT},
               {FF_FRAME_ABSOLUTE, false, FF_SCHEME_SPLITTING}};
    ledger l[4];
    memset(l, 0, sizeof l);
    for (int h = 0; h < 4; h++) {
        ff_scenario s;
        ff_run_result result;
        scenario_make(&s, 0, 6, &ff_method_direct);
        const ff_vec3 spin = ff_vec3_make(0.2 * DEG, -0.3 * DEG, -2.5 * DEG);
        s.satellite[0].start.omega = s.satellite[1].start.omega = spin;
        s.satellite[1].start.velocity =
            ff_vec3_add(s.satellite[1].start.velocity, ff_vec3_cross(spin, s.satellite[1].start.position));
        s.frame = how[h].frame;
        s.relative_integrated = how[h].integrated;
        s.integrate.scheme = how[h].scheme;
        const ff_sink sink = {.self = &l[h], .row = ledger_row};
        const ff_run_options options = {.sinks = &sink, .count = 1};
        ff_run(&s, &options, &result);
        assert_int_equal(result.status, FF_OK);
        double off = 0;
        for (int i = 0; i < 2; i++) {
            off = fmax(off, ff_vec3_norm(ff_vec3_sub(l[h].last[i].position, l[0].last[i].position)));
            off = fmax(off, ff_quat_angle(l[h].last[i].attitude, l[0].last[i].attitude));
        }
        print_message("%s%s, %s: %.2g off, %.2g J not booked\n", how[h].frame ? "relative" : "absolute",
                      how[h].integrated ? " integrated" : "", ff_scheme_name(how[h].scheme), off, l[h].open);
        assert_true(off < (how[h].integrated || h == 3 ? 1e-6 : 1e-9));
        assert_true(l[h].open < 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct_grows_as_its_equation_says),
        cmocka_unit_test(test_tdpa_holds_the_pair),
        cmocka_unit_test(test_momentum_with_tumble),
        cmocka_unit_test(test_grasp_is_the_references),
        cmocka_unit_test(test_pair_against_a_wall),
        cmocka_unit_test(test_held_wrench_in_every_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
