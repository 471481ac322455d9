/* Method impact against the published cases of lange, the figures of readings and the reference without
 * delay. Velocities are compared as vectors; momentum is summed over both satellites. */
#include "fidelity/impact/impact.h"
#include "run_support.h"

#define CASES FF_SOURCE_DIR "/scenarios/papers/lange/"

typedef struct outcome {
    int contacts;
    ff_rigid_state final[2], ideal[2];
    double speed[16];           /* [m/s] of body 0 after each contact */
    double restitution[16];     /* along the normal */
    double peak[16], robot[16]; /* [N] */
    double stiffness;           /* identified at the end */
    double damping, damping_sd; /* likewise */
    ff_vec3 point[16];          /* [m] contact point on body 1, its axes */
    double impulse_error;       /* [N s] of the impulses against the changes of momentum */
    double momentum, spin;      /* [N s], [N m s] largest change over the run */
    double energy;              /* [J] largest total kinetic energy over its start */
    double start_energy;        /* [J] */
    double error, error_omega;  /* largest against the reference */
    int look_back;              /* [cycles] */
    int touches, shortest_gap;  /* of the robots at contact 0; [cycles] between two */
    int longest; /* [cycles] contact of the robots at contact 0, gaps of the detector's quiet cycles closed */
    int at_once; /* [cycles] in which the robots touch at contacts 0 and 1 */
    uint64_t recomputations, bounded;
} outcome;

typedef struct watch {
    const ff_scenario *scenario;
    ff_rigid_model model[2];
    ff_vec3 momentum, spin;
    double worst_momentum, worst_spin, start, most;
    int touches, gap, shortest_gap;
    int run, longest, at_once;
} watch;

static ff_status watch_row(void *self, const ff_row *row) {
    watch *w = self;
    ff_vec3 p = ff_vec3_zero(), L = ff_vec3_zero();
    double energy = 0.0;
    for (int i = 0; i < w->scenario->satellites; i++) {
        const ff_rigid_state *s = &row->body[i].satellite;
        const ff_vec3 mv = ff_vec3_scale(w->model[i].mass, s->velocity);
        p = ff_vec3_add(p, mv);
        L = ff_vec3_add(
            L, ff_vec3_add(ff_vec3_cross(s->position, mv), ff_rigid_angular_momentum(&w->model[i], s)));
        energy += ff_rigid_kinetic_energy(&w->model[i], s) - row->body[i].energy.loads;
    }
    if (!row->touching[0]) {
        w->gap++;
    } else {
        w->run = w->gap > 5 ? 1 : w->run + w->gap + 1;
        w->longest = w->run > w->longest ? w->run : w->longest;
        if (w->gap > 0 && w->touches++ > 0 && w->gap < w->shortest_gap)
            w->shortest_gap = w->gap;
        w->gap = 0;
    }
    w->at_once += w->scenario->contacts > 1 && row->touching[0] && row->touching[1];
    if (row->k == 0) {
        w->momentum = p;
        w->spin = L;
        w->start = energy;
    }
    w->worst_momentum = fmax(w->worst_momentum, ff_vec3_norm(ff_vec3_sub(p, w->momentum)));
    w->worst_spin = fmax(w->worst_spin, ff_vec3_norm(ff_vec3_sub(L, w->spin)));
    w->most = fmax(w->most, energy);
    return FF_OK;
}

static void execute(const ff_scenario *scenario, outcome *out) {
    ff_ideal_result ideal;
    ff_metrics metrics;
    ff_run_result result;
    *out = (outcome){0};
    watch w = {.scenario = scenario, .shortest_gap = 1000};
    for (int i = 0; i < scenario->satellites; i++)
        ff_rigid_create(&scenario->satellite[i].rigid, &w.model[i]);
    test_run(scenario, (ff_sink){.self = &w, .row = watch_row}, &metrics, &ideal, &result);
    for (int n = 0; n < metrics.episodes && n < 16; n++) {
        ff_episode_info info;
        ff_metrics_episode(&metrics, n, &info);
        out->restitution[n] = info.restitution;
        out->speed[n] = ff_vec3_norm(metrics.episode[n].after[0].velocity);
        out->peak[n] = metrics.episode[n].peak_force[0];
        out->robot[n] = metrics.episode[n].peak_robot_force;
        out->contacts += !isnan(metrics.episode[n].end);
        out->stiffness = metrics.episode[n].stiffness;
        out->damping = metrics.episode[n].damping;
        out->damping_sd = metrics.episode[n].damping_sd;
        out->point[n] = info.point[1];
        const ff_vec3 change =
            ff_vec3_sub(metrics.episode[n].after[1].velocity, metrics.episode[n].before[1].velocity);
        if (scenario->satellites > 1) /* the reaction on the other one */
            out->impulse_error =
                fmax(out->impulse_error,
                     ff_vec3_norm(ff_vec3_axpy(w.model[1].mass, change, metrics.episode[n].impulse[0])));
    }
    for (int i = 0; i < scenario->satellites; i++) {
        out->final[i] = metrics.body[i].final;
        out->ideal[i] = ideal.state[(ideal.samples - 1) * (uint64_t)ideal.bodies + (uint64_t)i];
        out->error = fmax(out->error, metrics.body[i].error_velocity);
        out->error_omega = fmax(out->error_omega, metrics.body[i].error_omega);
    }
    out->momentum = w.worst_momentum;
    out->spin = w.worst_spin;
    out->start_energy = w.start;
    out->energy = w.most - w.start;
    if (scenario->method == &ff_method_impact) {
        const double *r = result.report;
        out->look_back = (int)lround(*ff_method_value(&ff_method_impact, true, r, "longest_look_back_s") /
                                     scenario->cycle);
        out->recomputations = (uint64_t)*ff_method_value(&ff_method_impact, true, r, "recomputations");
        out->bounded = (uint64_t)*ff_method_value(&ff_method_impact, true, r, "look_back_bounded_cycles");
    }
    out->longest = w.longest;
    out->at_once = w.at_once;
    out->touches = w.touches;
    out->shortest_gap = w.shortest_gap;
    ff_metrics_free(&metrics);
    ff_ideal_free(&ideal);
}

/* A case with overrides, ended by NULL. */
static outcome run_case(const char *file, ...) {
    static ff_scenario scenario;
    const char *set[16];
    int sets = 0;
    va_list list;
    va_start(list, file);
    for (const char *s; sets < 16 && (s = va_arg(list, const char *)) != NULL;)
        set[sets++] = s;
    va_end(list);
    char path[512];
    snprintf(path, sizeof path, "%s%s", CASES, file);
    test_load(path, NULL, set, sets, &scenario);
    outcome out;
    execute(&scenario, &out);
    return out;
}

#define DELAY(ms)                                                 \
    "satellites.servicer.robot={kind: delay, delay: 0.0" #ms "}", \
        "satellites.client.robot={kind: delay, delay: 0.0" #ms "}"

#define SWITCH(name, on) ((on) ? "impact." name "=true" : "impact." name "=false")

/* Fig. 6 with the limits that give the paper's 364 N. */
static void test_figure_6(void **state) {
    (void)state;
    const outcome o = run_case("fig-6.yaml", NULL);
    print_message(
        "client %.6f m/s, satellites %.2f N, robots %.2f N, momentum %.1g N s, looked back %d cycle\n",
        o.final[1].velocity.x, o.peak[0], o.robot[0], o.momentum, o.look_back);
    assert_int_equal(o.contacts, 1);
    assert_vec3_near(o.final[1].velocity, ff_vec3_make(0.1, 0, 0), 1e-4);
    assert_vec3_near(o.final[0].velocity, ff_vec3_zero(), 1e-4);
    assert_near(o.peak[0], 158.1, 0.5);
    assert_near(o.robot[0], 364.0, 3.0);
    assert_true(o.momentum < 1e-12);
    assert_int_equal(o.look_back, 1);
}

/* IV-F: with neither, the client leaves with v (1 + sqrt(1 + (w tau)^2))/2; either alone restores it. */
static void test_causality(void **state) {
    (void)state;
    const double w_tau = sqrt(5e4 / 50.0) * 0.024;
    for (int p = 0; p < 2; p++)
        for (int r = 0; r < 2; r++) {
            const outcome o =
                run_case("fig-6.yaml", DELAY(24), SWITCH("prediction", p), SWITCH("recomputation", r), NULL);
            print_message("prediction %d, recomputation %d: client %.6f m/s, looked back %d cycles\n", p, r,
                          o.final[1].velocity.x, o.look_back);
            assert_near(o.final[1].velocity.x, p || r ? 0.1 : 0.05 * (1 + sqrt(1 + w_tau * w_tau)),
                        p || r ? 6e-5 : 2e-4);
            assert_int_equal(o.look_back, !r ? 0 : p ? 1 : 7);
            assert_true(o.momentum < 1e-12);
        }
    const outcome o =
        run_case("fig-6.yaml", DELAY(24), "impact.prediction=false", "impact.look_back=0.012", NULL);
    assert_int_equal(o.look_back, 3); /* the bound holds, and what is beyond it costs place, not energy */
    assert_near(o.final[1].velocity.x, 0.1, 6e-5);
}

/* Fig. 5, 7: oblique, eccentric impacts in a cone. */
static void test_bar_and_cone(void **state) {
    (void)state;
    const char *const robot[3] = {
        "{kind: delay, delay: 0.012}", "{kind: delay, delay: 0.030}",
        "{kind: limited, delay: 0.012, acceleration: 0.5, angular_acceleration: 2}"};
    for (int i = 0; i < 3; i++) {
        char set[2][128];
        snprintf(set[0], sizeof set[0], "satellites.servicer.robot=%s", robot[i]);
        snprintf(set[1], sizeof set[1], "satellites.client.robot=%s", robot[i]);
        const outcome o = run_case("fig-7.yaml", set[0], set[1], NULL);
        print_message("%s: %d contacts, velocity %.2g m/s, angular %.2g rad/s, angular momentum %.1g N m s\n",
                      robot[i], o.contacts,
                      ff_vec3_norm(ff_vec3_sub(o.final[0].velocity, o.ideal[0].velocity)),
                      ff_vec3_norm(ff_vec3_sub(o.final[0].omega, o.ideal[0].omega)), o.spin);
        assert_int_equal(o.contacts, 4);
        for (int b = 0; b < 2; b++) {
            assert_vec3_near(o.final[b].velocity, o.ideal[b].velocity, 2e-4);
            assert_vec3_near(o.final[b].omega, o.ideal[b].omega, 1e-3);
        }
        assert_true(o.spin < 1e-9);
        assert_true(o.momentum < 1e-12);
        assert_true(o.impulse_error < 1e-12);
        for (int n = 0; n < 4; n++) { /* (38): on the cone of 45 degrees, to the tip's depth in it */
            const ff_vec3 r = ff_vec3_sub(o.point[n], ff_vec3_make(-0.6, 0, 0));
            assert_near(hypot(r.y, r.z), -r.x, 1e-3);
            assert_true(-r.x > 0.02);
        }
    }
}

/* What the report says of the surface: found beside the method, for any mock-up. */
static void test_surface_is_identified(void **state) {
    (void)state;
    for (int d = 0; d <= 600; d += 300) {
        char damping[64];
        snprintf(damping, sizeof damping, "contacts.docking.damping=%d", d);
        const outcome o = run_case("fig-6.yaml", DELAY(24), damping, NULL);
        print_message("mock-ups 50 N/mm, %d N s/m: found %.2f N/mm, %.1f +- %.1f N s/m\n", d,
                      1e-3 * o.stiffness, o.damping, o.damping_sd);
        assert_near(o.stiffness / 5e4, 1, 2e-3);
        assert_near(o.damping, d, 10);
    }
}

static void test_wall_keeps_its_speed(void **state) {
    (void)state;
    for (int tau = 10; tau <= 40; tau += 10) {
        char set[64];
        snprintf(set, sizeof set, "satellites.client.robot.delay=%g", 1e-3 * tau);
        const outcome o = run_case("wall.yaml", set, NULL);
        print_message("%d ms:", tau);
        for (int n = 0; n < 5; n++) {
            print_message("  %.5f %.2f N", o.speed[n] / 0.1, o.robot[n]);
            assert_near(o.speed[n] / 0.1, 1.0, 0.002);
            assert_near(o.robot[n], 223.6, 2.236);
        }
        print_message("\n");
        assert_true(o.contacts >= 5);
    }
}

/* e = exp(-(pi - 2 asin z) z/sqrt(1 - z^2)), assigned, with and without damping in the mock-ups, and with
 * that damping ignored (IV-B) where no step is recomputed. */
static void test_restitution(void **state) {
    (void)state;
    static const double e[] = {0.3, 0.5, 0.8, 1.0};
    static const double damping[] = {0, 100, 300, 600};
    for (int limited = 0; limited < 2; limited++)
        for (int d = 0; d < 4; d++) {
            char c[64], r[64];
            snprintf(c, sizeof c, "contacts.docking.damping=%g", damping[d]);
            print_message("%s, mock-ups %3.0f N s/m:", limited ? "limited" : "24 ms", damping[d]);
            for (int i = 0; i < 4; i++) {
                snprintf(r, sizeof r, "impact.restitution=%g", e[i]);
                const outcome o = limited ? run_case("fig-6.yaml", c, r, NULL)
                                          : run_case("fig-6.yaml", DELAY(24), c, r, NULL);
                const outcome plain = limited
                                          ? run_case("fig-6.yaml", c, r, "impact.observer=false",
                                                     "impact.recomputation=false", NULL)
                                          : run_case("fig-6.yaml", DELAY(24), c, r, "impact.observer=false",
                                                     "impact.recomputation=false", NULL);
                print_message("  %.4f (ignored %.3f)", o.restitution[0], plain.restitution[0]);
                assert_near(o.restitution[0], e[i], d ? 0.006 : 0.001);
            }
            print_message("\n");
        }
    /* the satellites' own damping against the reference that has it too */
    const outcome o = run_case("fig-6.yaml", "contacts.docking.satellite={stiffness: 8e4, damping: 500}",
                               "contacts.docking.damping=200", NULL);
    for (int b = 0; b < 2; b++)
        assert_vec3_near(o.final[b].velocity, o.ideal[b].velocity, 1e-4);
    for (double x = 0.15; x < 1.0; x += 0.05) {
        const double z = ff_contact_damping_ratio(x);
        assert_near(exp(-(FF_PI - 2 * asin(z)) * z / sqrt(1 - z * z)), x, 1e-14);
    }
    assert_near(ff_contact_damping_ratio(1.0), 0.0, 0.0);
}

/* What a wrong stiffness does: nothing with a pure delay, little with limited robots where the contact is
 * recomputed, much where it is not; momentum stays in every case. Identified, it does not matter. */
static void test_wrong_stiffness(void **state) {
    (void)state;
    for (int percent = -30; percent <= 30; percent += 10) {
        if (abs(percent) == 20)
            continue;
        char k[64], g[64];
        snprintf(k, sizeof k, "impact.stiffness=%g", 5e4 * (1 + 0.01 * percent));
        snprintf(g, sizeof g, "impact.guess=%g", 5e4 * (1 + 0.01 * percent));
        const outcome delay = run_case("fig-6.yaml", DELAY(24), k, NULL),
                      limited = run_case("fig-6.yaml", k, NULL),
                      done = run_case("fig-6.yaml", k, "impact.recomputation=false", NULL),
                      found = run_case("fig-6.yaml", "impact.stiffness=identified", g, NULL),
                      found_done = run_case("fig-6.yaml", "impact.stiffness=identified", g,
                                            "impact.recomputation=false", NULL);
        print_message("stiffness %+d %%: client %.5f with delay, %.5f limited, %.5f not recomputed; "
                      "identified %.0f N/m "
                      "%.5f, not recomputed %.5f\n",
                      percent, delay.final[1].velocity.x, limited.final[1].velocity.x,
                      done.final[1].velocity.x, found.stiffness, found.final[1].velocity.x,
                      found_done.final[1].velocity.x);
        assert_near(delay.final[1].velocity.x, 0.1, 1e-4);
        assert_true(fmax(limited.momentum, done.momentum) < 1e-12);
        assert_near(found.final[1].velocity.x, 0.1, 1e-4);
        assert_near(found_done.final[1].velocity.x, 0.1, 0.002);
        assert_near(found.stiffness, 5e4, 0.02 * 5e4);
        if (abs(percent) == 10)
            assert_near(limited.final[1].velocity.x, 0.1, 0.001);
        else if (percent)
            assert_near(limited.final[1].velocity.x, 0.1, 0.006);
    }
}

/* Largest difference of the velocities at the end from those of the reference [m/s]. */
static double last_error(const outcome *o, int bodies) {
    double last = 0.0;
    for (int b = 0; b < bodies; b++)
        last = fmax(last, ff_vec3_norm(ff_vec3_sub(o->final[b].velocity, o->ideal[b].velocity)));
    return last;
}

/* What the velocity at the end may be off [m/s]: 2e-4, and the impulse that white noise makes over the cycles
 * of the contact, sigma T sqrt(N), on the lighter satellite. */
static double allowed_error(double noise, double cycle, int cycles, double mass) {
    return 2e-4 + noise * cycle * sqrt((double)cycles) / mass;
}

/* A scenario that believes a hundredth of the noise: it is measured, so that nothing changes. tdpa does not
 * take noise for contact either. */
typedef struct noisy_run {
    double believed; /* [N] */
    int contacts[2]; /* cycles without and with */
} noisy_run;

static void believe_noise(void *self, ff_loop_config *config) {
    const double believed = ((const noisy_run *)self)->believed;
    config->world.force_noise = believed;
    config->world.torque_noise = 0.1 * believed;
}

static void count_noise(void *self, uint64_t k, const ff_truth *truth, const ff_loop_in *in,
                        const ff_loop_out *out) {
    noisy_run *r = self;
    (void)truth, (void)in;
    if (k >= 400)
        r->contacts[out->fidelity.in_contact[0] || out->fidelity.in_contact[1]]++;
}

static void test_noise_is_measured(void **state) {
    (void)state;
    static ff_scenario s;
    TEST_LOOP_STATE(loop);
    static const char *const set[] = {
        DELAY(24), "satellites.servicer.sensor={kind: noisy, force_noise: 3, torque_noise: 0.3}",
        "satellites.client.sensor={kind: noisy, force_noise: 3, torque_noise: 0.3}",
        "time={cycle: 0.001, duration: 2}"};
    test_load(CASES "fig-6.yaml", NULL, set, 5, &s);
    for (int i = 0; i < 2; i++) {
        noisy_run r = {.believed = i ? 0.03 : 3.0};
        test_drive_loop(&s, &(test_drive){.believe = believe_noise, .self = &r}, loop);
        print_message("noise 3 N, believed %.2f: client %.6f m/s\n", r.believed, loop->body[1].velocity.x);
        assert_vec3_near(loop->body[1].velocity, ff_vec3_make(0.1, 0, 0),
                         allowed_error(3.0, 0.001, 150, 100.0));
    }
    const char *const apart[] = {
        set[0], set[1], set[2], set[3], set[4], "method=tdpa", "satellites.servicer.velocity=[0, 0, 0]"};
    test_load(CASES "fig-6.yaml", NULL, apart, 7, &s);
    noisy_run r = {.believed = 0.03};
    test_drive_loop(&s, &(test_drive){.believe = believe_noise, .look = count_noise, .self = &r}, loop);
    print_message("tdpa: noise is taken for contact in %d of %d cycles\n", r.contacts[1],
                  r.contacts[0] + r.contacts[1]);
    assert_true(r.contacts[1] < 20);
}

/* Surfaces that do not lie where the scenario puts them: the force says where. */
static void misplace(void *self, ff_loop_config *config) {
    config->world.contact[0].at.x += *(const double *)self; /* what the method believes */
}

static void test_misplaced_surface(void **state) {
    (void)state;
    static ff_scenario s;
    TEST_LOOP_STATE(loop);
    test_load(CASES "fig-6.yaml", NULL, NULL, 0, &s);
    for (int mm = -5; mm <= 5; mm += 5) {
        double shift = 1e-3 * mm;
        test_drive_loop(&s, &(test_drive){.believe = misplace, .self = &shift}, loop);
        print_message("surface off by %+d mm: client %.6f m/s\n", mm, loop->body[1].velocity.x);
        assert_vec3_near(loop->body[1].velocity, ff_vec3_make(0.1, 0, 0), 1e-4);
    }
}

/* (38) on a cone and on a plane: the contact point from force and torque alone. */
static void test_contact_point(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 38);
    for (int i = 0; i < 1000; i++) {
        const ff_vec3 apex = test_random_vec3(&rng, 1), axis = ff_vec3_unit(test_random_vec3(&rng, 1));
        const ff_vec3 side = ff_vec3_unit(ff_vec3_cross(axis, test_random_vec3(&rng, 1)));
        const double a = ff_rng_range(&rng, 0.1, 1.4), l = ff_rng_range(&rng, 0.01, 1);
        const ff_vec3 point =
            ff_vec3_add(apex, ff_vec3_add(ff_vec3_scale(l * cos(a), axis), ff_vec3_scale(l * sin(a), side)));
        const ff_vec3 n = ff_vec3_sub(ff_vec3_scale(sin(a), axis), ff_vec3_scale(cos(a), side));
        const ff_wrench f = {ff_vec3_cross(point, ff_vec3_scale(-50, n)), ff_vec3_scale(-50, n)};
        assert_vec3_near(ff_contact_tool_point(f, apex), point, 1e-12);
    }
}

/* Whatever the contact, noise and robots: the satellites never gain energy. Up to 5 N of noise. And their
 * motion is right; none of these contacts is longer than the history. */
static void test_no_energy_is_gained(void **state) {
    (void)state;
    ff_rng rng;
    const uint64_t seed = test_seed();
    ff_rng_seed(&rng, seed, 7);
    double worst = 0.0, momentum = 0.0, error = 0.0, reached = 0.0, rubbed = 0.0;
    double part = 0.0, rubbed_part = 0.0;
    int touched = 0, bounded = 0, spread = 0;
    const int count = test_count(30, 2000);
    for (int i = 0; i < count; i++) {
        char set[12][200];
        int n = 0;
        const bool cone = ff_rng_uniform(&rng) < 0.5;
        const double noise = ff_rng_uniform(&rng) < 0.3 ? 0.0 : ff_rng_range(&rng, 0, 5),
                     k = pow(10, ff_rng_range(&rng, 4, 5.3));
        const double tau = ff_rng_range(&rng, 0, 0.03);
        const double cycle = ff_rng_range(&rng, 0.001, 0.004);
        double mass = FF_INF;
        snprintf(set[n++], 200, "time={cycle: %g, duration: %g, seed: %d}", cycle, cone ? 12.0 : 1.5, i + 1);
        for (int b = 0; b < 2; b++) {
            const char *name = b ? "client" : "servicer";
            if (ff_rng_uniform(&rng) < 0.5)
                snprintf(set[n++], 200, "satellites.%s.robot={kind: delay, delay: %g}", name, tau);
            else
                snprintf(set[n++], 200,
                         "satellites.%s.robot={kind: limited, delay: %g, acceleration: %g, "
                         "angular_acceleration: 3}",
                         name, tau, ff_rng_range(&rng, 0.4, 4));
            snprintf(set[n++], 200, "satellites.%s.sensor={kind: noisy, force_noise: %g, torque_noise: %g}",
                     name, noise, 0.1 * noise);
            const double own = ff_rng_range(&rng, 60, 1000);
            mass = fmin(mass, own);
            snprintf(set[n++], 200, "satellites.%s.mass=%g", name, own);
        }
        snprintf(set[n++], 200, "contacts.0.stiffness=%g", k);
        snprintf(set[n++], 200, "contacts.0.damping=%g",
                 ff_rng_uniform(&rng) < 0.5 ? 0.0 : ff_rng_range(&rng, 0, 0.002) * k);
        snprintf(set[n++], 200, "satellites.servicer.velocity=[%g, %g, %g]", ff_rng_range(&rng, 0.05, 0.1),
                 ff_rng_range(&rng, -0.01, 0.01), ff_rng_range(&rng, -0.01, 0.01));
        const double mu = ff_rng_uniform(&rng) < 0.3 ? ff_rng_range(&rng, 0, 0.5) : 0.0;
        snprintf(set[n++], 200, "contacts.0.friction=%g", mu);
        const outcome o = run_case(cone ? "fig-7.yaml" : "fig-6.yaml", set[0], set[1], set[2], set[3], set[4],
                                   set[5], set[6], set[7], set[8], set[9], set[10], NULL);
        touched += o.contacts > 0;
        worst = fmax(worst, o.energy / o.start_energy);
        momentum = fmax(momentum, o.momentum);
        error = fmax(error, o.error);
        const double last = last_error(&o, 2);
        bounded += o.bounded > 0;
        if (mu > 0.0) {
            rubbed = fmax(rubbed, last);
            /* where the tip sticks the reference creeps by 1e-4 m/s, and later bounces enlarge that: with a
             * tenth of it the largest error is 8.5e-5 m/s */
            rubbed_part = fmax(rubbed_part, last / (3e-4 + allowed_error(noise, cycle, o.longest, mass)));
        } else {
            reached = fmax(reached, last);
            part = fmax(part, last / allowed_error(noise, cycle, o.longest, mass));
        }
        spread += o.look_back > REPLAY_ROWS;
        if (o.energy > 1e-3 * o.start_energy)
            fail_msg(
                "case %d: energy grew by %.3g of %.3g J (cone %d, noise %.2f N, k %.3g N/m, delay %.3g s)", i,
                o.energy, o.start_energy, cone, noise, k, tau);
    }
    print_message(
        "%d cases, %d in contact: largest gain %.2g of the energy, momentum %.1g N s, largest velocity "
        "error %.3g m/s until the robots touch; at the end %.2g m/s, %.2f of what the noise allows, with "
        "friction %.2g m/s, %.2f; recomputations spread over cycles in %d, look-back too short in %d\n",
        count, touched, worst, momentum, error, reached, part, rubbed, rubbed_part, spread, bounded);
    /* what the late robots have not touched yet is not known; once they have, it is recomputed */
    assert_int_equal(bounded, 0);
    assert_true(part < 1.0);
    assert_true(rubbed_part < 1.0);
    assert_true(touched > count * test_count(7, 9) / 10); /* of few, fewer */
    assert_true(momentum < 1e-9);
}

/* Slow robots whose contact lasts for hundreds of cycles: the recomputation is spread over cycles, and the
 * motion is right as far as the history reaches. */
static void test_long_contacts(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 63);
    double part = 0.0, beyond = 0.0, energy = 0.0;
    int longest = 0, spread = 0, bounded = 0, rows = 0;
    const int count = test_count(20, 400);
    for (int n = 0; n < count; n++) {
        char set[6][128];
        const double cycle = ff_rng_range(&rng, 0.001, 0.003), a = pow(10, ff_rng_range(&rng, -1.3, -0.4)),
                     noise = n % 3 ? ff_rng_range(&rng, 0, 5) : 0.0;
        snprintf(set[0], sizeof set[0], "time={cycle: %g, duration: 3, seed: %d}", cycle, n + 1);
        for (int b = 0; b < 2; b++) {
            const char *name = b ? "client" : "servicer";
            snprintf(set[1 + b], sizeof set[1],
                     "satellites.%s.robot={kind: limited, delay: 0.02, acceleration: %g}", name, a);
            snprintf(set[3 + b], sizeof set[3], "satellites.%s.sensor={kind: noisy, force_noise: %g}", name,
                     noise);
        }
        snprintf(set[5], sizeof set[5], "contacts.docking.damping=%g",
                 n % 2 ? 0.0 : ff_rng_range(&rng, 0, 200));
        const outcome o = run_case("fig-6.yaml", set[0], set[1], set[2], set[3], set[4], set[5], NULL);
        const double ratio = last_error(&o, 2) / allowed_error(noise, cycle, o.longest, 100.0);
        energy = fmax(energy, o.energy / o.start_energy);
        longest = o.longest > longest ? o.longest : longest;
        rows = o.look_back > rows ? o.look_back : rows;
        spread += o.look_back > REPLAY_ROWS;
        if (o.bounded) {
            bounded++;
            beyond = fmax(beyond, last_error(&o, 2));
            assert_true(o.longest >= HISTORY_ROWS);
        } else {
            part = fmax(part, ratio);
        }
    }
    print_message(
        "%d cases, robots in contact for up to %d cycles, looked back up to %d, spread in %d: within "
        "%.2f of what the noise allows; beyond the history %d, within %.2g m/s; energy %.2g\n",
        count, longest, rows, spread, part, bounded, beyond, energy);
    assert_true(spread > 0); /* the draw reaches what this is about; how often is the draw's affair */
    assert_true(part < 1.0);
    assert_true(beyond < 1e-3);
    assert_true(energy < 1e-3);
}

/* Two contacts at once: a corner of two walls at any angle, or two tips of one satellite against the other,
 * the second touching before the first is over. */
static void test_two_contacts_at_once(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 22);
    const int count = test_count(60, 1000);
    double worst[2][2] = {{0}}, part = 0.0, energy = 0.0, momentum = 0.0, spin = 0.0;
    int at_once = 0, bounded = 0;
    for (int n = 0; n < count; n++) {
        char set[8][512];
        const bool pair = n % 2;
        const double noise = n % 4 < 2 ? 0.0 : ff_rng_range(&rng, 0, 5), tau = ff_rng_range(&rng, 0, 0.03);
        const double k = pow(10, ff_rng_range(&rng, 4.3, 5)), k2 = k * ff_rng_range(&rng, 0.5, 2);
        const double damping = ff_rng_uniform(&rng) < 0.5 ? 0.0 : 0.002 * k * ff_rng_uniform(&rng);
        const char *const name[2] = {pair ? "servicer" : "client", "client"};
        int i = 0;
        const double cycle = ff_rng_range(&rng, 0.002, 0.004);
        snprintf(set[i++], 512, "time={cycle: %g, duration: 1.5, seed: %d}", cycle, n + 1);
        for (int b = 0; b < 2; b++) {
            if (ff_rng_uniform(&rng) < 0.5)
                snprintf(set[i++], 512, "satellites.%s.robot={kind: delay, delay: %g}", name[b], tau);
            else
                snprintf(set[i++], 512,
                         "satellites.%s.robot={kind: limited, delay: %g, acceleration: %g, "
                         "angular_acceleration: 3}",
                         name[b], tau, ff_rng_range(&rng, 1, 4));
            snprintf(set[i++], 512, "satellites.%s.sensor={kind: noisy, force_noise: %g, torque_noise: %g}",
                     name[b], noise, 0.1 * noise);
        }
        const double mass = ff_rng_range(&rng, 60, 500);
        snprintf(set[i++], 512, "satellites.client.mass=%g", mass);
        if (pair) {
            const double y = ff_rng_range(&rng, 0.1, 0.4), z = ff_rng_range(&rng, -0.1, 0.1);
            snprintf(set[i++], 512, "satellites.servicer.points={tip: [0.5, %g, %g], low: [%g, %g, %g]}", y,
                     z, 0.5 - ff_rng_range(&rng, 0, 1e-3), -y * ff_rng_range(&rng, 0.5, 1), z);
            snprintf(
                set[i++], 512,
                "contacts=[{name: a, kind: pair, body: servicer, point: tip, against: client, at: [-0.5, "
                "0, 0], normal: [-1, 0, 0], stiffness: %g, damping: %g}, {name: b, kind: pair, body: "
                "servicer, point: low, against: client, at: [-0.5, 0, 0], normal: [-1, 0, 0], stiffness: "
                "%g, damping: %g}]",
                k, damping, k2, damping);
        } else { /* both walls are about equally far along the path, and the satellite starts before both */
            const double angle = ff_rng_range(&rng, 0.5, 2.0), side = ff_rng_range(&rng, -0.4, 0.4) * angle,
                         most = 1.45 - 0.5 * angle, ahead = fmin(fmax(side, -most), most),
                         speed = ff_rng_range(&rng, 0.05, 0.12), late = ff_rng_range(&rng, 0, 5e-4);
            const double a = ahead + 0.5 * angle, b = ahead - 0.5 * angle;
            snprintf(set[i++], 512, "satellites.client.velocity=[%g, 0, 0]", speed);
            snprintf(set[i++], 512,
                     "contacts=[{name: a, kind: wall, body: client, at: [0.03, 0, 0], normal: [%.9f, %.9f, "
                     "0], stiffness: %g, damping: %g}, {name: b, kind: wall, body: client, at: [%g, 0, 0], "
                     "normal: [%.9f, %.9f, 0], stiffness: %g, damping: %g}]",
                     -cos(a), -sin(a), k, damping, 0.03 + late, -cos(b), -sin(b), k2, damping);
        }
        const outcome o = run_case(pair ? "fig-6.yaml" : "wall.yaml", set[0], set[1], set[2], set[3], set[4],
                                   set[5], set[6], set[7], NULL);
        const double last = last_error(&o, pair ? 2 : 1);
        at_once += o.at_once > 0;
        bounded += o.bounded > 0;
        worst[pair][noise > 0.0] = fmax(worst[pair][noise > 0.0], last);
        /* walls that differ by half a radian share the noise four times enlarged */
        part = fmax(part, last / allowed_error(pair ? noise : 4.0 * noise, cycle, o.longest,
                                               pair ? fmin(mass, 100.0) : mass));
        energy = fmax(energy, o.energy / o.start_energy);
        if (pair) {
            momentum = fmax(momentum, o.momentum);
            spin = fmax(spin, o.spin);
        }
    }
    print_message("%d cases, %d with both at once, look-back too short in %d: corner within %.2g m/s, with "
                  "noise %.2g; two tips %.2g, with noise %.2g; %.2f of what the noise allows; energy %.2g, "
                  "momentum %.1g N s, %.1g N m s\n",
                  count, at_once, bounded, worst[0][0], worst[0][1], worst[1][0], worst[1][1], part, energy,
                  momentum, spin);
    assert_true(at_once > count / 2);
    assert_true(energy < 1e-3);
    assert_true(momentum < 1e-12 && spin < 1e-9);
    assert_true(fmax(worst[0][0], worst[1][0]) < 2e-4);
    assert_true(part < 1.0);
}

/* The robot has left one wall while the other still pushes: noise that the division gives to the first wall
 * must not be taken for its force, or the surface would be drawn out to the robot (seed 895: 1.3e-3 m/s). */
static void test_noise_after_the_robot_left(void **state) {
    (void)state;
    double worst = 0.0;
    const int count = test_count(20, 400);
    for (int n = 0; n < count; n++) {
        char time[96];
        snprintf(time, sizeof time, "time={cycle: 0.00235563, duration: 0.7, seed: %d}", n ? n : 895);
        const outcome o =
            run_case("wall.yaml", time, "satellites.client.robot={kind: delay, delay: 0.00246083}",
                     "satellites.client.sensor={kind: noisy, force_noise: 0.418053, torque_noise: 0.0418053}",
                     "satellites.client.mass=126.18", "satellites.client.velocity=[0.0690737, 0, 0]",
                     "contacts=[{name: a, kind: wall, body: client, at: [0.03, 0, 0], normal: [-0.671862506, "
                     "-0.740675889, 0], stiffness: 42928.3, damping: 72.2417}, {name: b, kind: wall, body: "
                     "client, at: "
                     "[0.030112, 0, 0], normal: [-0.985996106, 0.166768342, 0], stiffness: 68848.3, damping: "
                     "72.2417}]",
                     NULL);
        worst = fmax(worst, last_error(&o, 1) / allowed_error(4.0 * 0.418053, 0.00235563, o.longest, 126.18));
    }
    print_message("%d times: within %.2f of what the noise allows\n", count, worst);
    assert_true(worst < 1.0);
}

/* Friction, two contacts at once, and one that is lost and found again. */
static void test_friction_and_two_contacts(void **state) {
    (void)state;
    const outcome slide = run_case("fig-6.yaml", DELAY(12), "satellites.servicer.velocity=[0.1, 0.3, 0]",
                                   "contacts.docking.friction=0.2", NULL);
    print_message("friction: client [%.5f %.5f] m/s, ideal [%.5f %.5f], spin %.1g\n",
                  slide.final[1].velocity.x, slide.final[1].velocity.y, slide.ideal[1].velocity.x,
                  slide.ideal[1].velocity.y, slide.spin);
    for (int b = 0; b < 2; b++) {
        assert_vec3_near(slide.final[b].velocity, slide.ideal[b].velocity, 1e-3);
        assert_vec3_near(slide.final[b].omega, slide.ideal[b].omega, 2e-3);
    }
    assert_true(slide.momentum < 1e-12);
    const outcome corner =
        run_case("wall.yaml", "satellites.client.velocity=[0.1, 0.1, 0]", "time.duration=2",
                 "contacts.back={name: back, kind: wall, body: client, at: [0, 0.101, 0], normal: [0, -1, "
                 "0], stiffness: 5e4}",
                 NULL);
    print_message("corner: [%.5f %.5f] m/s\n", corner.final[0].velocity.x, corner.final[0].velocity.y);
    assert_vec3_near(corner.final[0].velocity, ff_vec3_make(-0.1, -0.1, 0), 2e-4);
    const outcome chatter =
        run_case("wall.yaml", "time.duration=6", "satellites.client.velocity=[0.02, 0, 0]",
                 "contacts.front.at=[0.01, 0, 0]", "contacts.back.at=[-0.0002, 0, 0]", NULL);
    print_message("chatter: %d contacts, speed %.6f m/s, energy gained %.2g\n", chatter.contacts,
                  ff_vec3_norm(chatter.final[0].velocity), chatter.energy / chatter.start_energy);
    assert_true(chatter.energy < 1e-3 * chatter.start_energy);
}

/* Bounce after bounce. In the fourth case the slip of the second contact ends and begins again in reverse
 * within one substep: friction of one sign over all of it would leave 1e-3 m/s. The reference itself is not
 * that sensitive: a start that differs by 1e-6 m/s changes its end by 3e-7 m/s. */
static void test_friction_in_the_cone(void **state) {
    (void)state;
    for (int i = 1; i <= 4; i++) {
        char friction[64];
        snprintf(friction, sizeof friction, "contacts.cone.friction=%g", i < 4 ? 0.1 * i : 0.435792);
        const outcome o =
            i < 4 ? run_case("fig-7.yaml", friction, NULL)
                  : run_case("fig-7.yaml", friction, "time={cycle: 0.00294129, duration: 12}",
                             "satellites.servicer.robot={kind: delay, delay: 0.00112587}",
                             "satellites.client.robot={kind: delay, delay: 0.00112587}",
                             "satellites.servicer.mass=186.943", "satellites.client.mass=169.018",
                             "contacts.cone.stiffness=62551.4", "contacts.cone.damping=0",
                             "satellites.servicer.velocity=[0.0672508, 0.000979127, -0.00462853]", NULL);
        print_message("%s: %d contacts, servicer within %.2g m/s, %.2g rad/s\n", friction, o.contacts,
                      ff_vec3_norm(ff_vec3_sub(o.final[0].velocity, o.ideal[0].velocity)),
                      ff_vec3_norm(ff_vec3_sub(o.final[0].omega, o.ideal[0].omega)));
        for (int b = 0; b < 2; b++) {
            assert_vec3_near(o.final[b].velocity, o.ideal[b].velocity, 1e-4);
            assert_vec3_near(o.final[b].omega, o.ideal[b].omega, 5e-4);
        }
        assert_true(o.momentum < 1e-12 && o.spin < 1e-9);
    }
}

/* Slip that stops during the contact, and that turns back: the satellites stick by their own slip, whatever
 * the late robots do. Against the solver-grade reference, whose friction creeps by at most 1e-4 m/s. */
static void test_friction_that_sticks(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 21);
    double worst = 0, worst_omega = 0;
    int stuck = 0;
    const int count = test_count(14, 500);
    for (int i = 0; i < count; i++) {
        char set[4][128];
        const double mu = ff_rng_range(&rng, 0.02, 0.6), tau = ff_rng_range(&rng, 0, 0.03);
        snprintf(set[0], sizeof set[0], "satellites.servicer.velocity=[0.1, %g, %g]",
                 ff_rng_range(&rng, -0.15, 0.15), ff_rng_range(&rng, -0.15, 0.15));
        snprintf(set[1], sizeof set[1], "contacts.docking.friction=%g", mu);
        snprintf(set[2], sizeof set[2], "satellites.servicer.robot={kind: delay, delay: %g}", tau);
        snprintf(set[3], sizeof set[3], "satellites.client.robot={kind: delay, delay: %g}", tau);
        const outcome o = run_case("fig-6.yaml", set[0], set[1], set[2], set[3], NULL);
        const ff_vec3 slip = ff_vec3_sub(ff_rigid_point_velocity(&o.ideal[0], ff_vec3_make(0.5, 0, 0)),
                                         ff_rigid_point_velocity(&o.ideal[1], ff_vec3_make(-0.5, 0, 0)));
        stuck += hypot(slip.y, slip.z) < 2e-3;
        for (int b = 0; b < 2; b++) {
            worst = fmax(worst, ff_vec3_norm(ff_vec3_sub(o.final[b].velocity, o.ideal[b].velocity)));
            worst_omega = fmax(worst_omega, ff_vec3_norm(ff_vec3_sub(o.final[b].omega, o.ideal[b].omega)));
        }
        assert_true(o.momentum < 1e-12);
    }
    print_message("%d of %d end without slip: velocity within %.2g m/s, angular within %.2g rad/s\n", stuck,
                  count, worst, worst_omega);
    assert_true(stuck > 0); /* few of few may slip */
    assert_true(!test_long() || (stuck > count / 3 && stuck < count));
    assert_true(worst < 1e-4 && worst_omega < 2e-4);
}

static void believe_friction(void *self, ff_loop_config *config) {
    config->world.contact[0].friction = *(const double *)self;
}

/* The scenario's coefficient is the maximum; the robots' own sliding says how much it really is. */
static void test_friction_is_measured(void **state) {
    (void)state;
    static const char *const set[] = {DELAY(12), "satellites.servicer.velocity=[0.1, 0.2, 0]",
                                      "contacts.docking.friction=0.1"};
    static ff_scenario s;
    TEST_LOOP_STATE(loop);
    test_load(CASES "fig-6.yaml", NULL, set, 4, &s);
    const outcome o = run_case("fig-6.yaml", set[0], set[1], set[2], set[3], NULL);
    double mu = 0.25;
    test_drive_loop(&s, &(test_drive){.believe = believe_friction, .self = &mu}, loop);
    print_message("friction 0.1, believed 0.25: client [%.5f %.5f] m/s, ideal [%.5f %.5f]\n",
                  loop->body[1].velocity.x, loop->body[1].velocity.y, o.ideal[1].velocity.x,
                  o.ideal[1].velocity.y);
    for (int b = 0; b < 2; b++)
        assert_vec3_near(loop->body[b].velocity, o.ideal[b].velocity, 2e-4);
}

/* --------------------------------------------------------------------------------- lost and found again --
 */

/* A load presses the satellite on a damped wall: its bounces come closer and closer, some within a few
 * cycles, until it rests. */
static void test_contact_lost_and_regained(void **state) {
    (void)state;
    static const char *const method[2] = {"impact", "damping"};
    for (int i = 0; i < 2; i++) {
        int touches = 0, gap = 1000;
        double error = 0, energy = 0;
        for (int n = 0; n < test_count(40, 400); n++) {
            char set[3][96];
            snprintf(set[0], sizeof set[0], "method=%s", method[i]);
            snprintf(set[1], sizeof set[1], "satellites.client.robot.delay=%.3f", 0.01 * (n % 4));
            snprintf(set[2], sizeof set[2],
                     "loads=[{body: client, kind: pulse, force: [%g, 0, 0], from: 0, to: 10}]",
                     5 + 60.0 * n / test_count(40, 400));
            const outcome o = run_case("wall.yaml", set[0], set[1], set[2], "time.duration=2",
                                       "satellites.client.velocity=[0.02, 0, 0]",
                                       "contacts.front.at=[0.001, 0, 0]", "contacts.front.damping=300", NULL);
            touches += o.touches;
            gap = o.shortest_gap < gap ? o.shortest_gap : gap;
            error = fmax(error, o.error);
            energy = fmax(energy, o.energy / o.start_energy);
        }
        print_message("%s: %d contacts, gaps down to %d cycles, velocity error %.2g m/s, "
                      "energy %.2g\n",
                      method[i], touches, gap, error, energy);
        assert_true(gap <= 5); /* the detectors' quiet cycles */
        assert_true(energy < 1e-12);
        if (i == 0)
            assert_true(error < 1e-3);
    }
}

typedef struct dropout {
    int first, length; /* cycles of the contact */
    int cycle;
} dropout;

static void drop(void *self, uint64_t k, const ff_truth *truth, ff_loop_in *in) {
    dropout *d = self;
    (void)k;
    d->cycle = truth->touching[0] ? d->cycle + 1 : 0;
    if (d->cycle > d->first && d->cycle <= d->first + d->length)
        for (int i = 0; i < 2; i++)
            in->sensor[i].f_s = ff_wrench_zero();
}

/* The same in the sensor: for one to four cycles of the contact it feels nothing. */
static void test_force_that_drops_out(void **state) {
    (void)state;
    static ff_scenario s;
    TEST_LOOP_STATE(loop);
    static const char *const set[] = {DELAY(12)};
    test_load(CASES "fig-6.yaml", NULL, set, 2, &s);
    for (int first = 0; first < 24; first += 3)
        for (int length = 1; length <= 4; length++) {
            dropout d = {first, length, 0};
            test_drive_loop(&s, &(test_drive){.sense = drop, .self = &d}, loop);
            assert_vec3_near(loop->body[1].velocity, ff_vec3_make(0.1, 0, 0), 1e-4);
            assert_vec3_near(loop->body[0].velocity, ff_vec3_zero(), 1e-4);
        }
}

/* --------------------------------------------------------------------------------------------- printed --
 */

/* A docking tool that twists about the normal while it touches. */
static void twist(void *self, uint64_t k, const ff_truth *truth, ff_loop_in *in) {
    (void)k;
    if (truth->touching[0])
        for (int i = 0; i < 2; i++)
            in->sensor[i].f_s.t.x += (i ? -1 : 1) * *(const double *)self;
}

/* (21) applies the measured torque beyond force times lever while the satellites touch, (13) does not. (17)
 * and (20) give the same impact where the normal does not turn. */
static void test_printed_equations(void **state) {
    (void)state;
    static const char *const reading[] = {"impact.torque=lever", "impact.torque=measured",
                                          "impact.reading=printed"};
    static ff_scenario s;
    TEST_LOOP_STATE(loop);
    double torque = 2.0;
    for (int i = 0; i < 3; i++) {
        const char *const set[] = {DELAY(12), reading[i]};
        test_load(CASES "fig-6.yaml", NULL, set, 3, &s);
        test_drive_loop(&s, &(test_drive){.sense = twist, .self = &torque}, loop);
        const double duration = FF_PI / sqrt(5e4 / 50.0), expected = i ? torque * duration / 10.0 : 0.0;
        print_message("%s: client %.6f m/s, spins %.6f %.6f rad/s, expected %.6f\n", reading[i],
                      loop->body[1].velocity.x, loop->body[0].omega.x, loop->body[1].omega.x, expected);
        assert_vec3_near(loop->body[1].velocity, ff_vec3_make(0.1, 0, 0), 1e-4);
        assert_vec3_near(loop->body[0].omega, ff_vec3_make(expected, 0, 0), 0.01 * expected + 1e-9);
        assert_vec3_near(loop->body[1].omega, ff_vec3_make(-expected, 0, 0), 0.01 * expected + 1e-9);
    }
}

/* IV-B, statically: a KR 16 pressed into a wall yields by n^T J_e K_r^-1 J_e^T n per newton. Any sign or
 * frame error of (10) or of the Jacobian shows. */
static void test_elastic_gears_give_way(void **state) {
    (void)state;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 16);
    static ff_scenario s;
    for (int n = 0; n < 10; n++) {
        char message[512], warnings[512];
        assert_int_equal(ff_scenario_load(CASES "fig-6-joints.yaml", NULL, &s, message, sizeof message,
                                          warnings, sizeof warnings),
                         FF_OK);
        s.satellites = s.contacts = 1;
        s.satellite[0].start.velocity = ff_vec3_zero();
        ff_contact *c = &s.contact[0];
        c->kind = FF_CONTACT_WALL;
        c->against = -1;
        c->point = test_random_vec3(&rng, 0.4);
        c->normal = ff_vec3_unit(test_random_vec3(&rng, 1));
        c->at = ff_vec3_axpy(2e-4, c->normal, ff_vec3_add(s.satellite[0].start.position, c->point));
        ff_plant *plant = ff_plant_create(&s, message, sizeof message, NULL);
        if (!plant)
            fail_msg("%s", message);
        const ff_setpoint stand = {ff_rigid_pose(&s.satellite[0].start), ff_twist_zero()};
        ff_truth truth;
        ff_loop_in in;
        for (uint64_t k = 0; k < 2500; k++) {
            ff_plant_write(plant, k, &stand);
            assert_int_equal(ff_plant_read(plant, k, &in, &truth), FF_OK);
        }
        ff_plant_free(plant);
        ff_arm_config config;
        ff_arm_model arm;
        ff_arm_joints joints = {.a = {0, -0.5 * FF_PI, 0.5 * FF_PI, 0, 0.1, 0}};
        ff_arm_info info;
        double J[6][7], give = 0;
        ff_arm_default(FF_ARM_KR16, &config);
        config.base = s.satellite[0].robot.base;
        config.tool = s.satellite[0].robot.tool;
        assert_int_equal(ff_arm_create(&config, &arm), FF_OK);
        assert_int_equal(ff_arm_inverse(&arm, &stand.T, &joints, &joints, &info), FF_OK);
        ff_arm_jacobian(&arm, &joints, J);
        for (int a = 0; a < 6; a++) { /* J_e: the tip's velocity along n per axis */
            const ff_vec3 w = {{J[0][a], J[1][a], J[2][a]}}, v = {{J[3][a], J[4][a], J[5][a]}};
            const double along = ff_vec3_dot(c->normal, ff_vec3_add(v, ff_vec3_cross(w, c->point)));
            give += along * along / s.satellite[0].robot.gear_stiffness[a];
        }
        const double expected = 2e-4 / (1 / c->stiffness + give);
        if (n == 0)
            print_message("wall 50 N/mm, robot %.1f N/mm: %.4f N, expected %.4f N\n", 1e-3 / give,
                          ff_vec3_norm(truth.force[0]), expected);
        assert_near(ff_vec3_norm(truth.force[0]) / expected, 1.0, 2e-3); /* J turns with the deflection */
        assert_vec3_near(in.sensor[0].T_wb.p, stand.T.p, 1e-12);         /* motors do not yield */
        assert_true(ff_vec3_norm(ff_vec3_sub(truth.robot[0].T.p, stand.T.p)) > 1e-6);
    }
}

static void test_elastic_gears_rebound(void **state) {
    (void)state;
    for (int r = 0; r < 2; r++) {
        const outcome with = run_case("fig-6-joints.yaml", SWITCH("recomputation", r), NULL),
                      without = run_case("fig-6-joints.yaml", SWITCH("recomputation", r),
                                         "impact.gears=false", NULL),
                      found = run_case("fig-6-joints.yaml", SWITCH("recomputation", r),
                                       "impact.stiffness=identified", NULL);
        print_message("recomputation %d: client %.5f with the gears' compliance, %.5f without, %.5f "
                      "identified (%.1f N/mm)\n",
                      r, with.final[1].velocity.x, without.final[1].velocity.x, found.final[1].velocity.x,
                      1e-3 * found.stiffness);
        assert_near(with.final[1].velocity.x, 0.1, r ? 1e-4 : 5e-4);
        assert_near(without.final[1].velocity.x, 0.1, r ? 1e-4 : 2e-3);
        assert_near(found.final[1].velocity.x, 0.1, r ? 1e-4 : 2e-3);
        assert_true(with.momentum < 1e-12);
    }
}

/* (3), (4) with the inertia force: a mock-up's weight and inertia, off the satellite's CoM, under gravity,
 * leave the whole loop as it is without them. */
typedef struct readings {
    double raw, residual, torque;
} readings;

static void compare_wrench(void *self, uint64_t k, const ff_truth *truth, const ff_loop_in *in,
                           const ff_loop_out *out) {
    readings *r = self;
    (void)k;
    for (int i = 0; i < 2; i++) {
        const ff_wrench d = ff_wrench_sub(out->measured_b[i], truth->contact_b[i]);
        r->residual = fmax(r->residual, ff_vec3_norm(d.f));
        r->torque = fmax(r->torque, ff_vec3_norm(d.t));
        if (!truth->touching[0])
            r->raw = fmin(r->raw, ff_vec3_norm(in->sensor[i].f_s.f));
    }
}

static void test_mockup_leaves_no_residual(void **state) {
    (void)state;
    static const char *const spin = "satellites.servicer.angular_velocity=[0.02, 0.05, -0.03]";
    const outcome bare = run_case("fig-6.yaml", DELAY(12), spin, NULL);
    static const char *const set[] = {
        DELAY(12), spin, "facility.gravity=[0, 0, -9.81]",
        "satellites.servicer.mockup={mass: 18, com: [0.2, -0.05, 0.1], inertia: [0.4, 0.5, 0.6]}",
        "satellites.client.mockup={mass: 25, com: [-0.1, 0.02, 0.03], inertia: [0.7, 0.5, 0.6]}"};
    static ff_scenario s;
    TEST_LOOP_STATE(loop);
    readings r = {.raw = 1e9};
    test_load(CASES "fig-6.yaml", NULL, set, 6, &s);
    test_drive_loop(&s, &(test_drive){.look = compare_wrench, .self = &r}, loop);
    print_message("readings of at least %.1f N without contact, residual %.1g N, %.1g N m; velocity differs "
                  "by %.1g m/s\n",
                  r.raw, r.residual, r.torque,
                  ff_vec3_norm(ff_vec3_sub(bare.final[0].velocity, loop->body[0].velocity)));
    assert_true(r.raw > 150.0); /* what the sensors carry */
    assert_true(r.residual < 1e-11 && r.torque < 1e-11);
    for (int b = 0; b < 2; b++) {
        assert_vec3_near(loop->body[b].velocity, bare.final[b].velocity, 1e-11);
        assert_vec3_near(loop->body[b].omega, bare.final[b].omega, 1e-11);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_6),
        cmocka_unit_test(test_causality),
        cmocka_unit_test(test_bar_and_cone),
        cmocka_unit_test(test_surface_is_identified),
        cmocka_unit_test(test_wall_keeps_its_speed),
        cmocka_unit_test(test_restitution),
        cmocka_unit_test(test_wrong_stiffness),
        cmocka_unit_test(test_noise_is_measured),
        cmocka_unit_test(test_misplaced_surface),
        cmocka_unit_test(test_contact_point),
        cmocka_unit_test(test_no_energy_is_gained),
        cmocka_unit_test(test_long_contacts),
        cmocka_unit_test(test_two_contacts_at_once),
        cmocka_unit_test(test_noise_after_the_robot_left),
        cmocka_unit_test(test_friction_and_two_contacts),
        cmocka_unit_test(test_friction_in_the_cone),
        cmocka_unit_test(test_friction_that_sticks),
        cmocka_unit_test(test_friction_is_measured),
        cmocka_unit_test(test_contact_lost_and_regained),
        cmocka_unit_test(test_force_that_drops_out),
        cmocka_unit_test(test_printed_equations),
        cmocka_unit_test(test_elastic_gears_give_way),
        cmocka_unit_test(test_elastic_gears_rebound),
        cmocka_unit_test(test_mockup_leaves_no_residual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
