/* What tests that run whole scenarios share: loading, running beside the reference, the energy that no
 * contact may give, and the loop on the plant by hand. */
#ifndef FF_TESTS_RUN_SUPPORT_H
#define FF_TESTS_RUN_SUPPORT_H

#include "support.h"

#include "facility/plant.h"
#include "loop_support.h"
#include "plant_support.h"
#include "report/metrics.h"
#include "executive/run.h"

static inline void test_load(const char *file, const char *method, const char *const *set, int sets,
                             ff_scenario *scenario) {
    char message[512], warnings[512];
    const ff_scenario_options options = {.set = set, .sets = sets, .method = method};
    if (ff_scenario_load(file, &options, scenario, message, sizeof message, warnings, sizeof warnings) !=
        FF_OK)
        fail_msg("%s", message);
}

/* Runs a scenario with its reference; `sink` sees the rows too. The caller frees metrics and ideal. */
static inline void test_run(const ff_scenario *scenario, ff_sink sink, ff_metrics *metrics,
                            ff_ideal_result *ideal, ff_run_result *result) {
    char message[256];
    *ideal = (ff_ideal_result){0};
    if (ff_ideal_solve(scenario, NULL, NULL, ideal, message, sizeof message) < 0)
        fail_msg("%s", message);
    assert_int_equal(ff_metrics_init(scenario, metrics), FF_OK);
    const ff_sink sinks[2] = {ff_metrics_sink(metrics), sink};
    const ff_run_options options = {.ideal = ideal, .sinks = sinks, .count = 2};
    ff_run(scenario, &options, result);
    if (result->status != FF_OK)
        fail_msg("%s", result->message);
    ff_metrics_finish(metrics, ideal, result->status);
}

/* -------------------------------------------------------------------------------------------------- walls --
 */

/* One body and one wall with everything that a scenario file would default; mass, motion and surface are the
 * caller's. */
static inline void test_one_wall(ff_scenario *s, const ff_method *method, double cycle, double duration) {
    *s = (ff_scenario){.satellites = 1, .contacts = 1, .seed = 1, .cycle = cycle, .duration = duration};
    s->cycles = (uint64_t)llround(duration / cycle);
    test_methods(s, method);
    s->integrate = (ff_integrate_config){.scheme = FF_SCHEME_LIE_MIDPOINT, .cycle = cycle};
    s->facility_pose = ff_pose_identity();
    s->requirements = (ff_requirements){0.01, 0.0087, 1.2, 0.05};
    ff_satellite *body = &s->satellite[0];
    snprintf(body->name, sizeof body->name, "body");
    body->start.attitude = ff_quat_identity();
    body->points = 1;
    ff_limiter_default(&body->limits);
    body->robot = test_robot(FF_ROBOT_DELAY, 0.0);
    body->sensor = test_sensor();
    ff_contact *wall = &s->contact[0];
    *wall = (ff_contact){.kind = FF_CONTACT_WALL, .body = 0, .against = -1, .depth = FF_INF};
    snprintf(wall->name, sizeof wall->name, "wall");
}

static inline void test_wall_surface(ff_contact *wall, double mass, double w, double z) {
    wall->stiffness = wall->satellite_stiffness = mass * w * w;
    wall->damping = wall->satellite_damping = 2.0 * z * mass * w;
}

/* A push between the first contacts, in three of ten cases. */
static inline void test_random_pulse(ff_rng *rng, double mass, ff_scenario *s) {
    if (!(ff_rng_uniform(rng) < 0.3))
        return;
    s->loads = 1;
    s->load[0] = (ff_load){.kind = FF_LOAD_PULSE,
                           .force = test_random_vec3(rng, 0.05 * mass),
                           .torque = test_random_vec3(rng, 0.01 * mass),
                           .from = 0.1,
                           .to = 0.4};
}

/* ------------------------------------------------------------------------------------------------- energy --
 */

typedef struct test_energy {
    ff_rigid_model model[FF_MAX_BODIES];
    int bodies;
    double start, largest; /* [J] kinetic, all bodies */
    double worst;          /* [J] kinetic energy over start + work of the loads */
    bool touched;
} test_energy;

static inline ff_status test_energy_row(void *self, const ff_row *row) {
    test_energy *w = self;
    double kinetic = 0, loads = 0;
    for (int i = 0; i < w->bodies; i++) {
        kinetic += ff_rigid_kinetic_energy(&w->model[i], &row->body[i].satellite);
        loads += row->body[i].energy.loads;
    }
    if (row->k == 0)
        w->start = kinetic;
    w->largest = fmax(w->largest, kinetic);
    w->worst = fmax(w->worst, kinetic - w->start - loads);
    w->touched = w->touched || row->touching[0];
    return FF_OK;
}

/* Whatever is drawn, no run gains a thousandth of its energy. */
static inline void test_no_gain(int count, void (*draw)(ff_rng *rng, ff_scenario *s)) {
    const uint64_t seed = test_seed();
    int touched = 0, bad = 0;
    double worst = -FF_INF;
    ff_scenario *s = malloc(sizeof *s);
    for (int n = 0; n < count; n++) {
        ff_rng rng;
        ff_rng_seed(&rng, seed, (uint64_t)n + 1);
        draw(&rng, s);
        s->seed = seed + (uint64_t)n;
        test_energy w = {.bodies = s->satellites};
        for (int i = 0; i < s->satellites; i++)
            assert_int_equal(ff_rigid_create(&s->satellite[i].rigid, &w.model[i]), FF_OK);
        const ff_sink sink = {.self = &w, .row = test_energy_row};
        const ff_run_options options = {.sinks = &sink, .count = 1};
        ff_run_result result;
        ff_run(s, &options, &result);
        if (result.status != FF_OK)
            fail_msg("case %d: %s", n, result.message);
        touched += w.touched;
        const double gain = w.worst / fmax(w.start, w.largest);
        worst = fmax(worst, gain);
        if (gain > 1e-3) {
            bad++;
            print_message(
                "case %d: %d satellites, robot %d, noise %.3g N, delay %.3f s, cycle %.4f s, gain %.3g\n", n,
                s->satellites, (int)s->satellite[0].robot.kind, s->satellite[0].sensor.force_noise,
                s->satellite[0].robot.delay, s->cycle, gain);
        }
    }
    free(s);
    print_message("%d cases, %d with contact, largest gain %.3g of the energy\n", count, touched, worst);
    assert_true(touched > count / 2);
    assert_int_equal(bad, 0);
}

/* ------------------------------------------------------------------------------------------------ by hand --
 */

/* The loop on the plant, cycle by cycle. `believe` changes what the loop is given, `sense` what the sensors
 * say, `look` sees a finished cycle; each may be NULL. The loop's state is left in *loop. */
typedef struct test_drive {
    void (*believe)(void *self, ff_loop_config *config);
    void (*sense)(void *self, uint64_t k, const ff_truth *truth, ff_loop_in *in);
    void (*look)(void *self, uint64_t k, const ff_truth *truth, const ff_loop_in *in, const ff_loop_out *out);
    void *self;
} test_drive;

static inline void test_drive_loop(const ff_scenario *s, const test_drive *drive, ff_loop_state *loop) {
    static ff_loop_config config;
    TEST_LOOP_MODEL(model);
    static ff_loop_info info;
    static ff_loop_in in;
    static ff_loop_out out;
    static ff_truth truth;
    char message[512];
    ff_scenario_loop(s, &config);
    if (drive->believe)
        drive->believe(drive->self, &config);
    assert_int_equal(test_loop_create(&config, model, message, sizeof message), FF_OK);
    test_loop_reset(model, loop, &info, &out);
    ff_plant *plant = ff_plant_create(s, message, sizeof message, NULL);
    if (!plant)
        fail_msg("%s", message);
    for (int i = 0; i < s->satellites; i++)
        ff_plant_set_lead(plant, i, ff_loop_lead(model, loop, i));
    for (uint64_t k = 0; k < s->cycles; k++) {
        ff_plant_write(plant, k, out.next);
        assert_int_equal(ff_plant_read(plant, k, &in, &truth), FF_OK);
        if (drive->sense)
            drive->sense(drive->self, k, &truth, &in);
        assert_int_equal(ff_loop_step(model, loop, &info, &in, &out), FF_OK);
        ff_plant_write(plant, k, out.command);
        if (drive->look)
            drive->look(drive->self, k, &truth, &in, &out);
    }
    ff_plant_free(plant);
}

#endif
