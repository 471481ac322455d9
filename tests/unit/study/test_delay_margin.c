/* Go or no go: the contact along a line against closed forms, and against the scenario's own runs. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/delay_margin.h"

static const char wall[] = "name: t\n"
                           "time: {cycle: 0.001, duration: 3}\n"
                           "method: %s\n"
                           "satellites:\n"
                           "  client: {mass: 100, inertia: [8, 9, 10], velocity: [0.05, 0, 0],\n"
                           "    robot: {kind: delay, delay: %g}}\n"
                           "contacts:\n"
                           "  - {name: front, kind: wall, point: %s, at: [%g, 0, 0], normal: [-1, 0, 0], "
                           "stiffness: 2000, damping: %g}\n";

static ff_scenario *load(const char *method, double delay, const char *point, double at, double damping) {
    char text[1024], message[512], warnings[256];
    ff_scenario *s = malloc(sizeof *s);
    snprintf(text, sizeof text, wall, method, delay, point, at, damping);
    if (ff_scenario_parse("t", text, strlen(text), NULL, s, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    return s;
}

static ff_line_rebound solve(double damping, double delay) {
    const ff_line_contact c = {100.0, 2000.0, damping, 0.0, 0.05, delay};
    ff_line_rebound r;
    assert_int_equal(ff_line_contact_solve(&c, &r), FF_OK);
    return r;
}

static void test_line_without_delay_is_the_closed_form(void **state) {
    (void)state;
    const double w = sqrt(20.0);
    assert_near(solve(0.0, 0.0).rebound, 1.0, 1e-12);
    assert_near(solve(0.0, 0.0).peak, 0.05 * sqrt(2000.0 * 100.0), 1e-9);
    /* The stepped solution at a delay near zero must meet it, under, at and over the critical damping. */
    for (double z = 0.05; z < 3.0; z *= 1.7) {
        const double c = 2.0 * z * sqrt(2000.0 * 100.0);
        const ff_line_rebound sharp = solve(c, 0.0), late = solve(c, 1e-5 / w);
        assert_near(late.rebound, sharp.rebound, 1e-4);
        assert_near(late.peak / sharp.peak, 1.0, 1e-4);
    }
}

/* Damping that grows with depth [he2022, (24)]: lossless where the depth is never reached, constant damping
 * where it is at once; the stepped solution without delay meets the one with hardly any. At the critical
 * damping the rebound is exp(-2). */
static void test_line_with_damping_that_grows(void **state) {
    (void)state;
    const double w = sqrt(20.0), deepest = 0.05 / w;
    const double c = 0.4 * sqrt(2000.0 * 100.0);
    ff_line_contact line = {100.0, 2000.0, c, 1e3 * deepest, 0.05, 0.0};
    ff_line_rebound sharp, late;
    assert_int_equal(ff_line_contact_solve(&line, &sharp), FF_OK);
    /* c(x) <= c 3 (x/depth)^2: loses less than c deepest 3e-6 of 1/2 m v, and the step's own 1e-4^2 */
    assert_near(sharp.rebound, 1.0, 1e-5);
    assert_near(sharp.peak, 0.05 * sqrt(2000.0 * 100.0), 1e-4);
    assert_near(sharp.duration, FF_PI / w, 1e-3);
    line.damping_depth = 1e-4 * deepest;
    assert_int_equal(ff_line_contact_solve(&line, &sharp), FF_OK);
    assert_near(sharp.rebound, solve(c, 0.0).rebound, 1e-3);
    line.damping_depth = 0.5 * deepest;
    assert_int_equal(ff_line_contact_solve(&line, &sharp), FF_OK);
    line.delay = 1e-5 / w;
    assert_int_equal(ff_line_contact_solve(&line, &late), FF_OK);
    assert_near(late.rebound, sharp.rebound, 1e-3);
    assert_near(late.peak / sharp.peak, 1.0, 1e-3);
    assert_near(late.duration, sharp.duration, 1e-3);
    assert_near(solve(2.0 * sqrt(2000.0 * 100.0), 0.0).rebound, exp(-2.0), 1e-6);
}

static void test_line_with_delay_grows_by_the_law(void **state) {
    (void)state;
    const double w = sqrt(20.0);
    /* readings: the law is too high by .1 % at .13, 2.5 % at .4, 8 % at .6, 29 % at 1 */
    const struct {
        double x, excess, within;
    } row[] = {{0.13, 0.001, 0.0005}, {0.4, 0.025, 0.002}, {0.6, 0.08, 0.004}, {1.0, 0.29, 0.01}};
    for (int i = 0; i < 4; i++) {
        const double ratio = exp(0.5 * FF_PI * row[i].x) / solve(0.0, row[i].x / w).rebound - 1.0;
        print_message("w tau %.2f: the law is too high by %.2f %%\n", row[i].x, 100.0 * ratio);
        assert_near(ratio, row[i].excess, row[i].within);
    }
}

static void test_bad_line_is_refused(void **state) {
    (void)state;
    const ff_line_contact bad[] = {
        {0, 1, 0, 0, 1, 0},  {1, 0, 0, 0, 1, 0},      {1, 1, -1, 0, 1, 0},
        {1, 1, 0, 0, 0, 0},  {1, 1, 0, 0, 1, -1},     {1, 1, 0, 0, 1, FF_NAN},
        {1, 1, 0, -1, 1, 0}, {1, 1, 0, FF_INF, 1, 0}, {1, 1, 0, 0, 1, 1001.0}}; /* w tau beyond a thousand */
    ff_line_rebound r;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ff_line_contact_solve(&bad[i], &r), FF_ERR_ARGUMENT);
}

static ff_delay_margin analyze(const ff_scenario *s, int map) {
    ff_delay_margin_config config;
    ff_delay_margin m;
    char message[256] = "";
    ff_delay_margin_default(&config);
    config.map = map;
    for (int i = 0; ff_method_at(i); i++) /* this is about the analysis, not the methods */
        config.method[i] = ff_method_at(i) == &ff_method_direct || ff_method_at(i) == &ff_method_tdpa;
    if (ff_delay_margin_analyze(s, &config, &m, message, sizeof message) != FF_OK)
        fail_msg("%s", message);
    return m;
}

static const ff_delay_method *find(const ff_delay_margin *m, const ff_method *method) {
    for (int i = 0; i < m->methods; i++)
        if (m->method[i].method == method)
            return &m->method[i];
    fail_msg("%s was not judged", method->name);
    return NULL;
}

static void test_theory_foretells_the_run(void **state) {
    (void)state;
    const double damping[] = {0.0, 40.0, 150.0}, delay[] = {0.01, 0.04, 0.1};
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) {
            ff_scenario *s = load("direct", delay[d], "com", 0.05, damping[c]);
            ff_delay_margin m = analyze(s, 0);
            assert_near(m.mass, 100.0, 1e-9);
            assert_near(m.frequency, sqrt(20.0), 1e-12);
            assert_near(m.w_tau, sqrt(20.0) * delay[d], 1e-12);
            assert_near(m.speed, 0.05, 1e-12);
            const ff_delay_method *direct = find(&m, &ff_method_direct);
            print_message("c %g, %g ms: rebound %.5f theory %.5f, force %.4f theory %.4f N\n", damping[c],
                          1e3 * delay[d], direct->now.rebound, direct->rebound_theory, direct->now.peak_force,
                          direct->peak_force_theory);
            assert_near(direct->now.rebound, direct->rebound_theory, 2e-3);
            assert_near(direct->now.peak_force / direct->peak_force_theory, 1.0, 4e-3);
            assert_true(find(&m, &ff_method_tdpa)->now.rebound <= 1.0005);
            ff_delay_margin_free(&m);
            free(s);
        }
}

/* An off-centre point is lighter: 1/m + (r x n) I^-1 (r x n). */
static void test_effective_mass_of_an_off_centre_point(void **state) {
    (void)state;
    ff_scenario *s = load("direct", 0.02, "[0, 0.3, 0]", 0.05, 0.0);
    ff_delay_margin m = analyze(s, 0);
    assert_near(m.mass, 1.0 / (0.01 + 0.09 / 10.0), 1e-6);
    assert_near(find(&m, &ff_method_direct)->now.rebound, find(&m, &ff_method_direct)->rebound_theory, 3e-3);
    ff_delay_margin_free(&m);
    free(s);
}

/* Two satellites are one mass m1 m2/(m1 + m2) along the line; the loop of each is late by its own delay, and
 * counts by its mobility 1/m. A sensor adds its delay and that of its low pass, 1/(2 pi f). Stops: the axis
 * that is met. */
static void test_two_satellites_and_stops(void **state) {
    (void)state;
    static const char *const texts[] = {
        "name: t\ntime: {cycle: 0.002, duration: 1.6}\nmethod: direct\nsatellites:\n"
        "  a: {mass: 100, inertia: [8, 9, 10], velocity: [0.05, 0, 0], robot: {kind: delay, delay: 0.02},\n"
        "    sensor: {kind: noisy, delay: 0.004, bandwidth: 80}}\n"
        "  b: {mass: 50, inertia: [8, 9, 10], position: [1, 0, 0], robot: {kind: delay, delay: 0.04}}\n"
        "contacts:\n"
        "  - {name: plate, kind: pair, body: a, point: com, against: b, at: [-0.95, 0, 0], normal: [-1, 0, "
        "0], "
        "stiffness: 2000}\n",
        "name: t\ntime: {cycle: 0.002, duration: 2}\nmethod: direct\nsatellites:\n"
        "  a: {mass: 100, inertia: [8, 9, 10], velocity: [0, -0.05, 0], robot: {kind: ideal}}\n"
        "contacts:\n"
        "  - {name: play, kind: stops, body: a, position: [0.2, 0.05, free], stiffness: 2000, damping: 0}\n"};
    const double mass[] = {100.0 * 50.0 / 150.0, 100.0},
                 delay[] = {((0.02 + 0.004 + 1.0 / (2.0 * FF_PI * 80.0)) / 100.0 + 0.04 / 50.0) / 0.03, 0.0};
    for (int n = 0; n < 2; n++) {
        char message[512], warnings[256];
        ff_scenario *s = malloc(sizeof *s);
        if (ff_scenario_parse("t", texts[n], strlen(texts[n]), NULL, s, message, sizeof message, warnings,
                              sizeof warnings) != FF_OK)
            fail_msg("%s", message);
        ff_delay_margin m = analyze(s, 0);
        assert_near(m.mass, mass[n], 1e-6);
        assert_near(m.delay, delay[n], 1e-9);
        assert_near(m.speed, 0.05, 1e-9);
        assert_near(m.frequency, sqrt(2000.0 / mass[n]), 1e-6);
        assert_near(m.rebound_ideal, 1.0, 1e-6);                        /* no damping */
        assert_near(m.peak_ideal, 0.05 * sqrt(2000.0 * mass[n]), 1e-6); /* v sqrt(k m) */
        ff_delay_margin_free(&m);
        free(s);
    }
}

static void test_largest_delay_is_the_edge_of_the_requirements(void **state) {
    (void)state;
    ff_scenario *s = load("direct", 0.01, "com", 0.05, 40.0);
    ff_delay_margin m = analyze(s, 3);
    const double edge = find(&m, &ff_method_direct)->largest_delay;
    print_message("direct keeps the requirements up to %.3f ms\n", 1e3 * edge);
    assert_true(edge > 0.0 && !find(&m, &ff_method_direct)->at_least);
    const double step = m.delay_max / FF_DELAY_SCAN / (1 << FF_DELAY_BISECTIONS);
    for (int side = 0; side < 2; side++) {
        ff_scenario *near = load("direct", edge + (side ? 1.001 * step : 0.0), "com", 0.05, 40.0);
        ff_delay_margin one = analyze(near, 0);
        assert_int_equal(find(&one, &ff_method_direct)->now.met, side == 0);
        ff_delay_margin_free(&one);
        free(near);
    }
    assert_int_equal(m.cells, 9 * m.methods);
    for (int i = 0; i < m.cells; i++) {
        const ff_delay_cell *c = &m.cell[i];
        assert_near(c->w_tau, sqrt(c->stiffness / 100.0) * c->delay, 1e-9);
        if (c->delay == 0.0)
            assert_near(c->run.rebound, c->rebound_ideal, 3e-3);
    }
    char text[512];
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, find(&m, &ff_method_direct)->now.met ? "GO: direct" : "NO GO: direct"));
    ff_delay_margin_free(&m);
    free(s);
}

static void test_a_motion_without_contact_is_refused(void **state) {
    (void)state;
    ff_scenario *s = load("direct", 0.01, "com", 5.0, 0.0);
    ff_delay_margin_config config;
    ff_delay_margin m;
    char message[256] = "";
    ff_delay_margin_default(&config);
    assert_int_equal(ff_delay_margin_analyze(s, &config, &m, message, sizeof message), FF_ERR_ARGUMENT);
    assert_non_null(strstr(message, "no contact"));
    config.map = 99;
    assert_int_equal(ff_delay_margin_analyze(s, &config, &m, message, sizeof message), FF_ERR_ARGUMENT);
    free(s);
}

static bool stop(void *user, double part) {
    (void)part;
    return --*(int *)user > 0;
}

static void test_what_is_not_asked_well_is_refused(void **state) {
    (void)state;
    ff_scenario *s = load("direct", 0.01, "com", 0.05, 0.0);
    ff_delay_margin_config good, config;
    ff_delay_margin m;
    char message[256];
    ff_delay_margin_default(&good);
    for (int i = 0; i < FF_MAX_METHODS; i++)
        good.method[i] = false;
    good.map = 0;
#define REFUSED(change, status, says)                                                               \
    do {                                                                                            \
        config = good;                                                                              \
        change;                                                                                     \
        assert_int_equal(ff_delay_margin_analyze(s, &config, &m, message, sizeof message), status); \
        assert_string_equal(message, says);                                                         \
        assert_null(m.cell);                                                                        \
    } while (0)
    const char *const range = "delay_max must be > 0, the stiffness span > 1, the map 0 to 25 points";
    REFUSED(config.map = -1, FF_ERR_ARGUMENT, range);
    REFUSED(config.map = FF_DELAY_MAP + 1, FF_ERR_ARGUMENT, range);
    REFUSED(config.stiffness_span = 1.0, FF_ERR_ARGUMENT, range);
    REFUSED(config.delay_max = 0.0, FF_ERR_ARGUMENT, range);
    REFUSED(config.delay_max = FF_INF, FF_ERR_ARGUMENT, range);
    /* stopped in the first run, in the search, and in the map, which is last */
    int left = 1000;
    config = good;
    config.progress = stop;
    config.user = &left;
    config.map = 2;
    assert_int_equal(ff_delay_margin_analyze(s, &config, &m, message, sizeof message), FF_OK);
    ff_delay_margin_free(&m);
    const int calls[] = {1, 5, 1000 - left - 1};
    for (int i = 0; i < 3; i++) {
        int count = calls[i];
        REFUSED((config.progress = stop, config.user = &count, config.map = 2), FF_ERR_LIMIT, "stopped");
    }
    s->contact[0].stiffness = 0.0;
    s->contact[0].satellite_stiffness = 2000.0;
    REFUSED((void)0, FF_ERR_ARGUMENT,
            "the first contact has no stiffness along a line: w tau is not defined for it");
    s->contact[0].stiffness = 2000.0;
    const ff_method *method = s->method;
    s->method = NULL;
    REFUSED((void)0, FF_ERR_ARGUMENT, "no method to judge");
    s->method = method;
    s->emulates = true;
    REFUSED((void)0, FF_ERR_UNSUPPORTED,
            "an emulation has no satellite; see freefloat analyze contact-stability");
#undef REFUSED
    free(s);
}

/* Go or no go in words, from results made by hand. */
static void test_sentences(void **state) {
    (void)state;
    ff_scenario *s = load("tdpa", 0.02, "com", 0.05, 0.0);
    ff_delay_margin m = {.robot_delay = 0.02, .w_tau = 0.3, .methods = 2};
    m.method[0] = (ff_delay_method){.method = &ff_method_direct, .largest_delay = 0.012};
    m.method[1] = (ff_delay_method){.method = &ff_method_tdpa, .largest_delay = 0.034, .now = {.met = true}};
    char text[512];
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, "GO: tdpa"));
    assert_null(strstr(text, "NO GO"));
    assert_non_null(strstr(text, "34 ms"));
    m.method[1].at_least = true;
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, "up to at least 34 ms"));
    s->method = &ff_method_direct; /* its own does not keep them, another does */
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, "NO GO: direct"));
    assert_non_null(strstr(text, "; tdpa keeps them up to at least 34 ms"));
    m.method[1].at_least = false;
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, "; tdpa keeps them up to 34 ms"));
    s->method = NULL; /* ideal: the best of them */
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, "GO: tdpa"));
    m.method[1].now.met = false; /* none: the first */
    m.method[0].largest_delay = FF_NAN;
    ff_delay_margin_sentence(s, &m, text, sizeof text);
    assert_non_null(strstr(text, "NO GO: direct"));
    assert_non_null(
        strstr(text, "it keeps them at no delay that was tried; no method judged here keeps them"));
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_without_delay_is_the_closed_form),
        cmocka_unit_test(test_line_with_damping_that_grows),
        cmocka_unit_test(test_line_with_delay_grows_by_the_law),
        cmocka_unit_test(test_bad_line_is_refused),
        cmocka_unit_test(test_theory_foretells_the_run),
        cmocka_unit_test(test_effective_mass_of_an_off_centre_point),
        cmocka_unit_test(test_two_satellites_and_stops),
        cmocka_unit_test(test_largest_delay_is_the_edge_of_the_requirements),
        cmocka_unit_test(test_a_motion_without_contact_is_refused),
        cmocka_unit_test(test_what_is_not_asked_well_is_refused),
        cmocka_unit_test(test_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
