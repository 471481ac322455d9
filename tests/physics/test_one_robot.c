/* he2022, Fig. 5: one robot that renders the motion relative to the target moves both satellites as two
 * robots do, in the paper's own cases. */
#include "support.h"

#include "report/metrics.h"

typedef struct outcome {
    ff_scenario scenario; /* metrics keep a pointer to it */
    ff_metrics metrics;
} outcome;

static void run_file(const char *file, const char *const *set, int sets, outcome *o) {
    char message[300], warnings[300];
    const ff_scenario_options options = {.set = set, .sets = sets};
    if (ff_scenario_load(file, &options, &o->scenario, message, sizeof message, warnings, sizeof warnings) !=
        FF_OK)
        fail_msg("%s", message);
    assert_string_equal(warnings, "");
    assert_int_equal(ff_metrics_init(&o->scenario, &o->metrics), FF_OK);
    const ff_sink sink = ff_metrics_sink(&o->metrics);
    const ff_run_options run = {.sinks = &sink, .count = 1};
    ff_run_result result;
    ff_run(&o->scenario, &run, &result);
    if (result.status != FF_OK)
        fail_msg("%s", result.message);
    ff_metrics_finish(&o->metrics, NULL, result.status);
}

static double largest; /* difference of all that was compared */

static void same_vec3(ff_vec3 a, ff_vec3 b) {
    for (int i = 0; i < 3; i++)
        largest = fmax(largest, fabs(a.a[i] - b.a[i]));
    assert_vec3_near(a, b, 1e-9);
}

static void same_motion(const ff_rigid_state *a, const ff_rigid_state *b) {
    same_vec3(a->position, b->position);
    same_vec3(a->velocity, b->velocity);
    same_vec3(a->omega, b->omega);
    assert_near(ff_quat_angle(a->attitude, b->attitude), 0, 1e-9);
}

static void compare(const char *two_file, const char *one_file, const char *const *set, int sets) {
    static outcome two, one;
    largest = 0.0;
    run_file(two_file, set, sets, &two);
    run_file(one_file, set, sets, &one);
    assert_true(two.metrics.episodes >= 1);
    assert_int_equal(one.metrics.episodes, two.metrics.episodes);
    for (int n = 0; n < two.metrics.episodes; n++) {
        const ff_episode *a = &two.metrics.episode[n], *b = &one.metrics.episode[n];
        assert_int_equal(a->contact, b->contact);
        assert_true(a->start == b->start && (a->end == b->end || (isnan(a->end) && isnan(b->end))));
        if (isnan(a->end))
            continue;
        for (int i = 0; i < 2; i++)
            same_motion(&a->after[i], &b->after[i]);
        for (int i = 0; i < 2; i++)
            same_vec3(a->impulse[i], b->impulse[i]);
        assert_true(isnan(a->stiffness) == isnan(b->stiffness));
        if (!isnan(a->stiffness)) { /* the identification sees the same motion too */
            assert_near(b->stiffness / a->stiffness, 1, 1e-9);
            assert_near(b->damping / a->damping, 1, 1e-6); /* the small part of the force */
        }
    }
    for (int i = 0; i < 2; i++)
        same_motion(&two.metrics.body[i].final, &one.metrics.body[i].final);
    assert_true(one.metrics.body[1].travel < 1e-15 && one.metrics.body[1].rotation < 1e-15);
    assert_true(one.metrics.body[0].travel > 0.01);
    print_message("%s, %s: %d contacts, largest difference %.2g\n", one.scenario.name, set[0],
                  one.metrics.episodes, largest);
    ff_metrics_free(&one.metrics);
    ff_metrics_free(&two.metrics);
}

#define HE "scenarios/papers/he2022/"

static void test_paper_cases(void **state) {
    (void)state;
    static const char *const method[] = {"method=direct", "method=tdpa", "method=damping"};
    for (int m = 0; m < 3; m++) {
        compare(HE "4-1.yaml", HE "4-1-one-robot.yaml", &method[m], 1);
        compare(HE "4-2.yaml", HE "4-2-one-robot.yaml", &method[m], 1);
    }
    static const char *const printed[] = {"method=damping", "damping.reading=printed"};
    compare(HE "4-1.yaml", HE "4-1-one-robot.yaml", printed, 2);
}

/* Both satellites turn and meet off their centres: the sensor's lever and the moving frame enter. */
static void test_turning_satellites(void **state) {
    (void)state;
    static const char *const method[] = {"method=direct", "method=tdpa", "method=damping"};
    for (int m = 0; m < 3; m++) {
        const char *const set[] = {method[m],
                                   "satellites.servicer.angular_velocity=[0.01, -0.02, 0.015]",
                                   "satellites.servicer.velocity=[0.03, 0.004, -0.002]",
                                   "satellites.target.angular_velocity=[0.004, 0.003, -0.005]",
                                   "satellites.target.velocity=[0.01, 0.002, 0]",
                                   "satellites.servicer.points={tip: [0, 0.2, -0.1]}",
                                   "contacts.front.point=tip",
                                   "contacts.front.friction=0.1"};
        compare(HE "4-1.yaml", HE "4-1-one-robot.yaml", set, 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paper_cases),
                                       cmocka_unit_test(test_turning_satellites)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
