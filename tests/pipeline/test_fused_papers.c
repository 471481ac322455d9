/* fused on the papers' own scenarios and on pairs of free satellites, through the virtual facility and
 * against the ideal reference. */
#include "support.h"

#include "report/metrics.h"
#include "executive/run.h"

#include "fidelity/fused/fused.h"

static ff_scenario scenario;
static ff_metrics metrics;

typedef struct outcome {
    double rebound[FF_MAX_BODIES], peak, momentum;
    int contacts;
} outcome;

typedef struct sum {
    ff_vec3 first, last;
    bool begun;
    double largest; /* [N s] change of the total momentum */
} sum;

static ff_status sum_row(void *self, const ff_row *row) {
    sum *s = self;
    ff_vec3 p = ff_vec3_zero();
    for (int i = 0; i < scenario.satellites; i++)
        p = ff_vec3_axpy(scenario.satellite[i].rigid.mass, row->body[i].satellite.velocity, p);
    if (!s->begun)
        s->first = p;
    s->begun = true;
    s->largest = fmax(s->largest, ff_vec3_norm(ff_vec3_sub(p, s->first)));
    return FF_OK;
}

static outcome judge(void) {
    char message[256] = "";
    ff_ideal_result ideal;
    if (ff_ideal_solve(&scenario, NULL, NULL, &ideal, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    assert_int_equal(ff_metrics_init(&scenario, &metrics), FF_OK);
    sum total = {0};
    const ff_sink sinks[2] = {ff_metrics_sink(&metrics), {.self = &total, .row = sum_row}};
    const ff_run_options options = {.ideal = &ideal, .sinks = sinks, .count = 2};
    ff_run_result result;
    ff_run(&scenario, &options, &result);
    if (result.status < 0)
        fail_msg("%s", result.message);
    ff_metrics_finish(&metrics, &ideal, result.status);
    outcome o = {
        .peak = metrics.peak_force_ratio[0], .momentum = total.largest, .contacts = metrics.episodes};
    for (int i = 0; i < scenario.satellites; i++)
        o.rebound[i] = metrics.rebound_error[i];
    ff_metrics_free(&metrics);
    ff_ideal_free(&ideal);
    return o;
}

/* Heavy bodies that turn slowly in long, soft contacts under noise: the force turns in the body's axes no
 * more than its noise does. The point's arm along the normal (0.4 m here) must not be drawn towards zero by
 * that noise, for then the torque left over looks like a second contact. */
static double last[FF_METHOD_VALUES];

static ff_status keep_last(void *self, const ff_row *row) {
    (void)self;
    memcpy(last, row->body[0].report, sizeof last);
    return FF_OK;
}

static void test_the_point_of_long_turning_contacts(void **unused) {
    (void)unused;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 5);
    const int cases = test_count(40, 200);
    double worst = 0.0;
    for (int i = 0; i < cases; i++) {
        const double mass = ff_rng_range(&rng, 1000, 2000), w = ff_rng_range(&rng, 0.9, 1.4);
        const ff_vec3 rate = test_random_vec3(&rng, 0.03);
        char text[1024], message[256] = "", warnings[512] = "";
        snprintf(text, sizeof text,
                 "name: long\ntime: {cycle: 0.004, duration: 6, seed: %d}\nmethod: fused\nsatellites:\n"
                 "  body: {mass: %.17g, inertia: [30, 40, 50], velocity: [%.17g, %.17g, %.17g],\n"
                 "         angular_velocity: [%.17g, %.17g, %.17g], points: {tip: [%.17g, %.17g, 0.4]},\n"
                 "         robot: {kind: delay, delay: 0.03},\n"
                 "         sensor: {kind: noisy, force_noise: 0.5, torque_noise: 0.05}}\n"
                 "contacts:\n  - {name: front, kind: wall, body: body, point: tip, at: [0, 0, 0.46],\n"
                 "     normal: [0, 0, -1], stiffness: %.17g, damping: %.17g}\n",
                 i + 1, mass, ff_rng_range(&rng, -0.01, 0.01), ff_rng_range(&rng, -0.01, 0.01),
                 ff_rng_range(&rng, 0.04, 0.08), rate.x, rate.y, rate.z, ff_rng_range(&rng, -0.03, 0.03),
                 ff_rng_range(&rng, -0.03, 0.03), mass * w * w, ff_rng_range(&rng, 0.0, 100.0));
        if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                              sizeof warnings) != FF_OK)
            fail_msg("%s", message);
        const ff_sink sink = {.self = NULL, .row = keep_last};
        const ff_run_options options = {.sinks = &sink, .count = 1};
        ff_run_result result;
        ff_run(&scenario, &options, &result);
        if (result.status < 0)
            fail_msg("case %d: %s", i, result.message);
        const unsigned outside = (unsigned)*ff_method_value(&ff_method_fused, false, last, "validity");
        if (outside & (FUSED_SEVERAL | FUSED_MISFIT | FUSED_NO_ESTIMATE))
            fail_msg("case %d: outside %u", i, outside);
        worst = fmax(worst, fabs(ff_method_value(&ff_method_fused, false, last, "contact_point_m")[2] - 0.4));
    }
    print_message("%d long contacts: the point along the normal within %.0f mm of 400\n", cases, 1e3 * worst);
}

static outcome run_file(const char *file, const char *method) {
    char message[256] = "", warnings[512] = "";
    const ff_scenario_options options = {.method = method};
    if (ff_scenario_load(file, &options, &scenario, message, sizeof message, warnings, sizeof warnings) !=
        FF_OK)
        fail_msg("%s", message);
    return judge();
}

/* Ten times better than the best published one wherever that is not exact. `impact` is given stiffness,
 * damping and geometry and marches the satellites as `fused` does: exact as well. tdpa's cap is exact on
 * elastic walls (at a wrong peak force). */
static void test_papers_scenarios(void **unused) {
    (void)unused;
    static const struct {
        const char *file, *rival[2];
    } cases[] = {{"scenarios/papers/destefano2019/vii.yaml", {"damping", NULL}},
                 {"scenarios/papers/he2022/4-1.yaml", {"damping", "impact"}},
                 {"scenarios/papers/he2022/4-2.yaml", {"damping", "impact"}},
                 {"scenarios/papers/lange/fig-6.yaml", {"impact", NULL}},
                 {"scenarios/papers/lange/fig-7.yaml", {"tdpa", "impact"}},
                 {"scenarios/papers/lange/wall.yaml", {"impact", NULL}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const outcome ours = run_file(cases[i].file, "fused");
        for (int r = 0; r < 2 && cases[i].rival[r]; r++) {
            const outcome best = run_file(cases[i].file, cases[i].rival[r]);
            print_message("%s: rebound error %.2g m/s, %s %.2g m/s; peak force over ideal %.3f, %.3f\n",
                          cases[i].file, ours.rebound[0], cases[i].rival[r], best.rebound[0], ours.peak,
                          best.peak);
            if (strcmp(cases[i].rival[r], "impact") == 0)
                assert_true(best.rebound[0] < 1e-6);
            else
                assert_true(ours.rebound[0] < 0.1 * best.rebound[0]);
            assert_true(ours.peak < fmax(1.05, best.peak + 1e-3));
        }
        assert_true(ours.rebound[0] < 1e-7);
    }
}

static void load_text(const char *text) {
    char message[256] = "", warnings[512] = "";
    if (ff_scenario_parse("text", text, strlen(text), NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
}

static const char pair_text[] =
    "name: pair\n"
    "time: {cycle: 0.004, duration: 12}\n"
    "method: fused\n"
    "satellites:\n"
    "  a: {mass: 250, inertia: [40, 50, 60], position: [-0.1, 0, 0], velocity: [0.04, 0.004, -0.003],\n"
    "      angular_velocity: [0.01, -0.02, 0.015], points: {tip: [0.5, 0.2, -0.1]}, robot: {kind: delay, "
    "delay: 0.04}}\n"
    "  b: {mass: 600, inertia: [150, 160, 170], position: [1.05, 0.1, 0.05], velocity: [0.002, 0.001, 0],\n"
    "      angular_velocity: [0, 0.01, -0.01], robot: {kind: delay, delay: 0.04}}\n"
    "contacts:\n"
    "  - {name: touch, kind: pair, body: a, point: tip, against: b, at: [-0.6, 0, 0], normal: [-1, 0, 0],\n"
    "     stiffness: 40000, damping: 300}\n";

static const char cone_text[] =
    "name: cone\n"
    "time: {cycle: 0.004, duration: 20}\n"
    "method: fused\n"
    "satellites:\n"
    "  a: {mass: 250, inertia: [40, 50, 60], position: [-0.11, 0.05, 0], velocity: [0.05, 0, 0],\n"
    "      points: {tip: [0.8, 0, 0]}, robot: {kind: delay, delay: 0.04}}\n"
    "  b: {mass: 600, inertia: [150, 160, 170], position: [1.05, 0, 0], robot: {kind: delay, delay: 0.04}}\n"
    "contacts:\n"
    "  - {name: cup, kind: cone, body: a, point: tip, against: b, apex: [-0.3, 0, 0], axis: [-1, 0, 0],\n"
    "     half_angle: 0.785, depth: 0.2, stiffness: 40000, damping: 100}\n";

static void test_two_free_satellites(void **unused) {
    (void)unused;
    load_text(pair_text);
    const outcome pair = judge();
    load_text(cone_text);
    const outcome cone = judge();
    print_message(
        "pair: rebound %.2g, %.2g m/s, momentum %.2g N s; cone: %.2g, %.2g m/s in %d contacts, %.2g N s\n",
        pair.rebound[0], pair.rebound[1], pair.momentum, cone.rebound[0], cone.rebound[1], cone.contacts,
        cone.momentum);
    assert_true(pair.rebound[0] < 5e-5 && pair.rebound[1] < 5e-5);
    assert_true(cone.rebound[0] < 5e-5 && cone.rebound[1] < 5e-5);
    assert_true(pair.momentum < 1e-12 * 12.0 && cone.momentum < 1e-12 * 12.5); /* of the total */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_papers_scenarios),
        cmocka_unit_test(test_the_point_of_long_turning_contacts),
        cmocka_unit_test(test_two_free_satellites),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
