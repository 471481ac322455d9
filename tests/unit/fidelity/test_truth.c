/* Methods against closed forms: sign and size of friction, the normal, two contacts at once, relative
 * motion, and the energy ledger of every method under every scheme. */
#include "loop_support.h"

#include "fidelity/fused/fused.h"
#include "loop/stage.h"

static ff_rng rng;
TEST_LOOP_MODEL(model);
TEST_LOOP_STATE(state);

/* A body that touches with its centre of mass, a robot some whole cycles late, and up to two half spaces with
 * springs and Coulomb's friction: all motion is that of a point. */
typedef struct corner {
    int delay, planes;
    double stiffness, damping, friction;
    ff_vec3 normal[2]; /* out of the surface; both pass the point `at` */
    ff_vec3 at;
    ff_setpoint ring[64];
    ff_vec3 force; /* [N] last */
} corner;

static ff_vec3 corner_force(const corner *c, ff_vec3 p, ff_vec3 v) {
    ff_vec3 F = ff_vec3_zero();
    for (int i = 0; i < c->planes; i++) {
        const ff_vec3 n = c->normal[i];
        const double depth = -ff_vec3_dot(n, ff_vec3_sub(p, c->at)), rate = -ff_vec3_dot(n, v);
        const double f = depth > 0.0 ? fmax(0.0, c->stiffness * depth + c->damping * rate) : 0.0;
        const ff_vec3 slip = ff_vec3_axpy(-ff_vec3_dot(n, v), n, v);
        const double speed = ff_vec3_norm(slip);
        F = ff_vec3_axpy(f, n, F);
        if (speed > 0.0)
            F = ff_vec3_axpy(-c->friction * f / speed, slip, F);
    }
    return F;
}

static void configure(const corner *c, const ff_method *method, double mass, ff_vec3 velocity,
                      ff_loop_config *config) {
    ff_loop_default(config);
    test_method(config, method, 0);
    config->body[0].rigid.mass = mass;
    config->body[0].rigid.inertia = ff_mat3_diag(20, 21, 22);
    config->body[0].start.velocity = velocity;
    ff_world *world = &config->world;
    world->body[0].delay = c->delay * config->integrate.cycle;
    world->contacts = c->planes;
    for (int i = 0; i < c->planes; i++)
        world->contact[i] = (ff_world_contact){.shape = FF_SHAPE_PLANE,
                                               .against = -1,
                                               .at = c->at,
                                               .normal = c->normal[i],
                                               .stiffness = c->stiffness,
                                               .damping = c->damping,
                                               .satellite_stiffness = c->stiffness,
                                               .satellite_damping = c->damping,
                                               .friction = c->friction};
}

/* The motion after `cycles`; the ledger is checked in every cycle. */
static ff_rigid_state run(corner *c, const ff_loop_config *config, int cycles) {
    ff_loop_info info;
    ff_loop_in in = {0};
    ff_loop_out out;
    char message[200] = "";
    const double T = config->integrate.cycle;
    if (test_loop_create(config, model, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    test_loop_reset(model, state, &info, &out);
    const double lead = ff_loop_lead(model, state, 0);
    const ff_rigid_state *start = &model->config.body[0].start;
    const ff_energy before = state->energy[0];
    double moved = before.kinetic;
    for (int d = 0; d < 64; d++) { /* it was on its way */
        const double t = lead - (64 - d) * T;
        ff_rigid_state s = *start;
        ff_integrate_coast(&model->rigid[0], t, T, &s);
        const ff_rigid_state nominal = ff_nominal_coast(&model->nominal, t, T, &state->nominal.motion);
        c->ring[d] =
            ff_loop_to_robot(model, &nominal, (ff_setpoint){ff_rigid_pose(&s), {s.omega, s.velocity}});
    }
    for (int k = 0; k < cycles; k++) {
        const ff_rigid_state nominal = state->nominal.motion;
        c->ring[k % 64] = out.next[0];
        const ff_setpoint robot = c->ring[(k + 64 - c->delay) % 64],
                          absolute = ff_loop_to_inertial(model, &nominal, robot);
        c->force = corner_force(c, absolute.T.p, absolute.twist.v);
        in.sensor[0] = (ff_wrench_in){.T_wb = robot.T, .twist = robot.twist};
        in.sensor[0].f_s.f = ff_quat_unrotate(absolute.T.q, c->force);
        assert_int_equal(ff_loop_step(model, state, &info, &in, &out), FF_OK);
        c->ring[k % 64] = out.command[0];
        /* kinetic = at start + everything that was booked, to rounding of what was moved */
        const ff_energy *e = &state->energy[0];
        moved += fabs(e->exchanged) + fabs(e->delay) + fabs(e->method) + fabs(e->force_controller);
        assert_near(e->kinetic, before.kinetic + ff_energy_sum(e), 1e-14 * moved);
        assert_near(e->kinetic, ff_rigid_kinetic_energy(&model->rigid[0], &state->body[0]), 1e-14 * moved);
    }
    return state->body[0];
}

/* Two unit vectors across n. */
static void across(ff_vec3 n, ff_vec3 *a, ff_vec3 *b) {
    *a = ff_vec3_unit(ff_vec3_cross(n, fabs(n.x) < 0.6 ? ff_vec3_make(1, 0, 0) : ff_vec3_make(0, 1, 0)));
    *b = ff_vec3_cross(n, *a);
}

/* ----------------------------------------------------------------------------------------------- clamp -- */

/* The largest part of a wrench that gives no more than E, by search. */
static void test_clamp_is_the_largest_part(void **unused) {
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        const double FV = ff_rng_range(&rng, -50, 50), FHF = pow(10.0, ff_rng_range(&rng, -3, 3)), T = 0.004;
        const double E = i % 5 == 0 ? -0.1 : ff_rng_range(&rng, 0, 0.3), s = ff_clamp_scale(FV, FHF, T, E);
        double best = 0.0;
        for (int n = 0; n <= 20000; n++) {
            const double x = n / 20000.0;
            if (T * FV * x + 0.5 * T * T * FHF * x * x <= fmax(E, 0.0) * (1.0 + 1e-12))
                best = x;
        }
        /* whole where all of it absorbs enough, whatever E is */
        if (T * FV + 0.5 * T * T * FHF <= E)
            best = 1.0;
        assert_near(s, best, 1.01 / 20000.0);
    }
}

/* ------------------------------------------------------------------------------------- normal, friction --
 */

/* Without friction the velocity changes along the normal alone, by (1 + e) of the approach; with it the part
 * across the normal loses mu times that, against the slip, as long as it slides. */
static void test_normal_and_friction(void **unused) {
    (void)unused;
    static const struct {
        const ff_method *method;
        double normal, friction; /* what is allowed, as part of the approach speed */
    } cases[] = {{&ff_method_impact, 1e-3, 2e-3}, {&ff_method_fused, 2e-3, 1e-2}};
    for (size_t m = 0; m < sizeof cases / sizeof *cases; m++)
        for (int i = 0; i < 12; i++) {
            const double mass = ff_rng_range(&rng, 100, 400), w = ff_rng_range(&rng, 6, 12),
                         mu = i % 3 * 0.05;
            const double v = ff_rng_range(&rng, 0.02, 0.06), slide = 0.5 * v;
            corner c = {.delay = 8, .planes = 1, .stiffness = mass * w * w, .friction = mu};
            ff_vec3 e1, e2;
            c.normal[0] = ff_vec3_unit(test_random_vec3(&rng, 1));
            across(c.normal[0], &e1, &e2);
            c.at = ff_vec3_scale(-v * 0.3, c.normal[0]);
            const double turn = ff_rng_range(&rng, 0, 6.28);
            const ff_vec3 t = ff_vec3_add(ff_vec3_scale(cos(turn), e1), ff_vec3_scale(sin(turn), e2));
            const ff_vec3 velocity = ff_vec3_axpy(slide, t, ff_vec3_scale(-v, c.normal[0]));
            ff_loop_config config;
            configure(&c, cases[m].method, mass, velocity, &config);
            const ff_rigid_state end = run(&c, &config, 450);
            const ff_vec3 change = ff_vec3_sub(end.velocity, velocity);
            const double along = ff_vec3_dot(change, c.normal[0]), lost = -ff_vec3_dot(change, t);
            const double sideways = ff_vec3_dot(change, ff_vec3_cross(c.normal[0], t));
            if (fabs(along - 2.0 * v) > cases[m].normal * v ||
                fabs(lost - 2.0 * mu * v) > cases[m].friction * v || fabs(sideways) > cases[m].friction * v)
                fail_msg("%s, mu %.2f: along %.5f of %.5f, lost %.6f of %.6f, sideways %.2g m/s",
                         cases[m].method->name, mu, along, 2.0 * v, lost, 2.0 * mu * v, sideways);
        }
}

/* Into a corner at a right angle both walls act at once, each on its own axis. `impact` knows them and
 * returns both speeds. `fused` has to tell them apart by their forces alone: it says that such a contact lies
 * outside its validity domain, and gives no energy all the same. */
static void test_two_contacts_at_once(void **unused) {
    (void)unused;
    for (int i = 0; i < 12; i++) {
        const bool known = i % 2;
        const double mass = ff_rng_range(&rng, 100, 400), w = ff_rng_range(&rng, 6, 10);
        const double v = ff_rng_range(&rng, 0.02, 0.05), late = ff_rng_range(&rng, 0.05, 0.12);
        corner c = {.delay = 6, .planes = 2, .stiffness = mass * w * w};
        c.normal[0] = ff_vec3_make(-1, 0, 0);
        c.normal[1] = ff_vec3_make(0, -1, 0);
        c.at = ff_vec3_make(0.3 * v, (0.3 + late) * v, 0); /* one a little after the other */
        ff_loop_config config;
        configure(&c, known ? &ff_method_impact : &ff_method_fused, mass, ff_vec3_make(v, v, 0), &config);
        const ff_rigid_state end = run(&c, &config, 500);
        if (known && (fabs(end.velocity.x + v) > 2e-3 * v || fabs(end.velocity.y + v) > 2e-3 * v))
            fail_msg("impact: %.5f %.5f of %.5f m/s", end.velocity.x, end.velocity.y, v);
        assert_true(end.velocity.x < 0.0 && end.velocity.y < 0.0);
        assert_near(end.velocity.z, 0.0, 2e-3 * v);
        assert_true(ff_vec3_norm(end.velocity) <= sqrt(2.0) * v * (1.0 + (known ? 2e-3 : 1e-12)));
    }
}

/* ---------------------------------------------------------------------------------------- relative frame --
 */

/* Robots that make the motion relative to a nominal one see the same contact: the satellite leaves as it does
 * when they make all of it. */
static void test_relative_motion_changes_nothing(void **unused) {
    (void)unused;
    for (int m = 0; ff_method_at(m); m++)
        for (int kind = FF_NOMINAL_FREE; kind <= FF_NOMINAL_SATELLITE; kind++) {
            const double mass = ff_rng_range(&rng, 100, 400), w = ff_rng_range(&rng, 6, 12);
            const double v = ff_rng_range(&rng, 0.02, 0.05);
            /* without delay every method must agree; with it only the robots' own part is late. It touches
             * between two samples: on one, rounding decides whether the damper acts a cycle earlier */
            corner c = {.planes = 1,
                        .stiffness = mass * w * w,
                        .damping = 0.1 * mass * w,
                        .at = {{0.3015 * v, 0, 0}}};
            c.normal[0] = ff_vec3_make(-1, 0, 0);
            ff_loop_config config;
            configure(&c, ff_method_at(m), mass, ff_vec3_make(v, 0.1 * v, 0), &config);
            config.body[0].start.omega = test_random_vec3(&rng, 0.02);
            const ff_rigid_state absolute = run(&c, &config, 450);
            config.relative = (ff_relative_config){.enabled = true,
                                                   .nominal = (ff_nominal_kind)kind,
                                                   .start = {.attitude = ff_quat_identity(),
                                                             .velocity = {{0.3 * v, 0, 0.1 * v}},
                                                             .omega = {{0, 0, 0.01}}}};
            const ff_rigid_state relative = run(&c, &config, 450);
            const double off = ff_vec3_norm(ff_vec3_sub(absolute.velocity, relative.velocity)) / v;
            /* the loop's own rounding of one mapping more; fused estimates from what the robot makes */
            if (off > (ff_method_at(m) == &ff_method_fused ? 1e-8 : 1e-12))
                fail_msg("%s, nominal %d: %.3g of the speed", ff_method_at(m)->name, kind, off);
            assert_true(absolute.velocity.x < 0.0);
        }
}

/* ----------------------------------------------------------------------------------------------- ledger --
 */

/* Every method, every scheme, loads included: run() asserts the sums in each cycle. */
static void test_the_ledger_closes_for_every_method(void **unused) {
    (void)unused;
    for (int m = 0; ff_method_at(m); m++)
        for (int scheme = 0; scheme <= FF_SCHEME_SPLITTING; scheme++)
            for (uint32_t v = 0; v < ff_method_at(m)->variants; v++) {
                const double mass = ff_rng_range(&rng, 100, 400), w = ff_rng_range(&rng, 6, 12);
                const double speed = ff_rng_range(&rng, 0.02, 0.05);
                corner c = {.delay = 3, .planes = 1, .stiffness = mass * w * w, .damping = 0.05 * mass * w};
                c.normal[0] = ff_vec3_make(-1, 0, 0);
                c.at = ff_vec3_make(0.2 * speed, 0, 0);
                ff_loop_config config;
                configure(&c, ff_method_at(m), mass, ff_vec3_make(speed, 0, 0), &config);
                test_method(&config, ff_method_at(m), (int)v);
                config.integrate.scheme = (ff_scheme)scheme;
                config.body[0].start.omega = test_random_vec3(&rng, 0.03);
                run(&c, &config, 300);
            }
}

/* No contact leaves a satellite with more energy than it came with, for all methods but direct. */
static void test_no_method_but_direct_gains_energy(void **unused) {
    (void)unused;
    double direct = 0.0;
    for (int m = 0; ff_method_at(m); m++)
        for (int i = 0; i < 8; i++) {
            const double mass = ff_rng_range(&rng, 100, 400), w = ff_rng_range(&rng, 6, 20);
            const double v = ff_rng_range(&rng, 0.02, 0.05);
            corner c = {.delay = 10, .planes = 1, .stiffness = mass * w * w};
            c.normal[0] = ff_vec3_make(-1, 0, 0);
            c.at = ff_vec3_make(0.3 * v, 0, 0);
            ff_loop_config config;
            configure(&c, ff_method_at(m), mass, ff_vec3_make(v, 0, 0), &config);
            const ff_rigid_state end = run(&c, &config, 500);
            const double gain = ff_vec3_norm(end.velocity) / v - 1.0;
            if (ff_method_at(m) == &ff_method_direct)
                direct = fmax(direct, gain);
            else if (gain > 1e-3)
                fail_msg("%s: %.3g of the speed", ff_method_at(m)->name, gain);
        }
    assert_true(direct > 0.2); /* exp(pi w tau/2) - 1 of at least w tau = .24 */
}

int main(void) {
    ff_rng_seed(&rng, test_seed(), 23);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clamp_is_the_largest_part),
        cmocka_unit_test(test_normal_and_friction),
        cmocka_unit_test(test_two_contacts_at_once),
        cmocka_unit_test(test_relative_motion_changes_nothing),
        cmocka_unit_test(test_the_ledger_closes_for_every_method),
        cmocka_unit_test(test_no_method_but_direct_gains_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
