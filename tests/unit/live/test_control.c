/* What the page may ask: lines are checked strictly, and the executive applies them only outside contact. */
#include "live/control.h"
#include "live/internal.h"
#include "support.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static ff_live page; /* never started: parsing needs no server */

static void make_page(bool control, bool loopback) {
    memset(&page, 0, sizeof page);
    page.open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_STOP);
    page.guarded = FF_LIVE_BIT(FF_LIVE_ZERO) | FF_LIVE_BIT(FF_LIVE_SET);
    page.control = control;
    page.loopback = loopback;
    if (control)
        snprintf(page.token, sizeof page.token, "%s", TOKEN);
    page.parameters = 1;
    page.parameter[0] = (ff_live_parameter){.name = "threshold", .low = 0.0, .high = 50.0};
}

static bool parse(const char *line, ff_live_command *command) {
    char text[FF_LIVE_TEXT];
    const bool good = ff_live__parse(&page, line, strlen(line), command, text, sizeof text);
    assert_true(good || *text);
    return good;
}

static void test_parse_token_needed_where_guarded(void **state) {
    (void)state;
    ff_live_command c;
    make_page(true, true);
    assert_true(parse("7 hold", &c));
    assert_int_equal(c.id, 7);
    assert_int_equal(c.verb, FF_LIVE_HOLD);
    assert_true(parse("8 stop", &c));
    assert_true(parse("9 zero token=" TOKEN, &c));
    assert_true(parse("10 set threshold 2.5 token=" TOKEN, &c));
    assert_near(c.value, 2.5, 0.0);
    assert_int_equal(c.parameter, 0);
    assert_false(parse("9 zero", &c));
    assert_false(parse("9 zero token=", &c));
    assert_false(parse("9 zero token=0123456789abcdef0123456789abcdee", &c));
    assert_false(parse("9 zero token=" TOKEN "0", &c));
    assert_false(parse("9 zero token=0123456789abcdef", &c));
    assert_false(parse("10 set threshold 2.5", &c));
    make_page(false, true); /* without --control nothing guarded exists, not even with an empty token */
    assert_false(parse("9 zero token=", &c));
    assert_false(parse("9 zero token=00000000000000000000000000000000", &c));
    assert_true(parse("7 hold", &c));
    make_page(true, false); /* not on loopback: everything needs it */
    assert_false(parse("7 hold", &c));
    assert_true(parse("7 hold token=" TOKEN, &c));
}

static void test_parse_anything_else_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      " ",
                                      "hold",
                                      "x hold",
                                      "-1 hold",
                                      "1 arm",
                                      "1 arm token=" TOKEN,
                                      "1 Hold",
                                      "1 hold now",
                                      "1 resume",
                                      "1 seek 3",
                                      "9999999999 hold",
                                      "1 hold\n2 stop",
                                      "1 h\xc3\xb6ld",
                                      "1 set threshold token=" TOKEN,
                                      "1 set threshold nan token=" TOKEN,
                                      "1 set threshold inf token=" TOKEN,
                                      "1 set threshold -1 token=" TOKEN,
                                      "1 set threshold 50.001 token=" TOKEN,
                                      "1 set threshold 1x token=" TOKEN,
                                      "1 set threshold 1 2 token=" TOKEN,
                                      "1 set mass 1 token=" TOKEN,
                                      "1 set token=" TOKEN};
    ff_live_command c;
    make_page(true, true);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parse(bad[i], &c))
            fail_msg("taken: %s", bad[i]);
    char longest[FF_LIVE_MESSAGE + 2];
    memset(longest, '1', sizeof longest);
    longest[FF_LIVE_MESSAGE + 1] = 0;
    assert_false(parse(longest, &c));
    char text[FF_LIVE_TEXT];
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    for (int n = 0; n < test_count(20000, 1000000); n++) { /* no bytes break it */
        char line[64];
        for (int i = 0; i < 64; i++)
            line[i] = (char)(int)ff_rng_range(&rng, -128.0, 127.99);
        ff_live__parse(&page, line, (size_t)ff_rng_range(&rng, 0.0, 64.0), &c, text, sizeof text);
    }
}

static void test_utf8_broken_replaced_whole_kept(void **state) {
    (void)state;
    char text[] = "a\xc3\xb6\xe2\x82\xac\xf0\x9f\x9b\xb0 \xff-\xc3-\xe2\x82-\xed\xa0\x80-\xc3";
    ff_live__utf8(text);
    for (char *c = text; *c; c++)
        if (*c == '?')
            *c = '_';
    assert_string_equal(text, "a\xc3\xb6\xe2\x82\xac\xf0\x9f\x9b\xb0 _-_-__-___-_");
}

/* ------------------------------------------------------------------------------------------ the executive --
 */

static const char drifting[] =
    "name: drift\n"
    "time: {cycle: 0.004, duration: 2}\n"
    "method: tdpa\n"
    "tdpa: {threshold: 20, torque_threshold: 20}\n"
    "satellites:\n"
    "  client:\n"
    "    mass: 280\n"
    "    inertia: [18, 20, 22]\n"
    "    velocity: [0, 0, 0.02]\n"
    "    sensor: {kind: noisy, bias: [1, -2, 3, 0.1, 0.2, -0.3], pose: {position: [0.1, 0.2, 0.3]}}\n"
    "contacts:\n"
    "  - {name: wall, kind: wall, body: client, point: com, at: [0, 0, 0.028], normal: [0, 0, -1], "
    "stiffness: "
    "20000}\n";

typedef struct bench {
    ff_live_control control;
    uint64_t zero_at, set_at;
    ff_wrench bias;
    double threshold;
    bool touched_at_set;
} bench;

static bool between(void *self, const ff_run_access *access) {
    bench *b = self;
    if (access->k == b->zero_at || access->k == b->set_at) {
        const ff_live_command c = {.verb = access->k == b->zero_at ? FF_LIVE_ZERO : FF_LIVE_SET,
                                   .value = 5.0};
        assert_true(ff_ring_push(&b->control.live->commands, &c));
        b->touched_at_set = access->k > 0 && access->out->fidelity.in_contact[0];
    }
    const bool go = ff_live_control_between(&b->control, access);
    b->bias = access->model->config.body[0].wrench.bias_s;
    b->threshold = access->model->stage.detector.force_on;
    return go;
}

static void run_bench(bench *b, ff_run_result *result) {
    static ff_scenario scenario;
    char message[512] = "", warnings[1024];
    const ff_scenario_options none = {0};
    if (ff_scenario_parse("drift", drifting, sizeof drifting - 1, &none, &scenario, message, sizeof message,
                          warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    const ff_status started =
        ff_live_control_start(&b->control, &scenario, "127.0.0.1:0", true, message, sizeof message);
    if (started == FF_ERR_UNSUPPORTED)
        test_skip("built without libwebsockets");
    if (started != FF_OK)
        fail_msg("%s", message);
    b->control.paced = false;
    const ff_sink sink = ff_live_control_sink(&b->control);
    const ff_run_options options = {.sinks = &sink, .count = 1, .between = between, .between_user = b};
    ff_run(&scenario, &options, result);
    ff_live_control_stop(&b->control);
}

static void test_zero_without_contact_takes_the_bias(void **state) {
    (void)state;
    bench b = {.zero_at = 10, .set_at = UINT64_MAX};
    ff_run_result result;
    run_bench(&b, &result);
    assert_int_equal(result.status, FF_OK);
    /* the file gives force first */
    assert_vec3_near(b.bias.f, ff_vec3_make(1, -2, 3), 1e-9);
    assert_vec3_near(b.bias.t, ff_vec3_make(0.1, 0.2, -0.3), 1e-9);
}

static void test_zero_in_contact_refused(void **state) {
    (void)state;
    bench b = {.zero_at = 385, .set_at = UINT64_MAX}; /* the wall is reached after 1.4 s */
    ff_run_result result;
    run_bench(&b, &result);
    assert_true(b.touched_at_set);
    assert_vec3_near(b.bias.f, ff_vec3_zero(), 0.0);
    bench during = {.zero_at = 345, .set_at = UINT64_MAX}; /* touched while averaging: given up */
    run_bench(&during, &result);
    assert_false(during.touched_at_set);
    assert_vec3_near(during.bias.f, ff_vec3_zero(), 0.0);
}

static void test_set_outside_contact_only(void **state) {
    (void)state;
    bench b = {.zero_at = UINT64_MAX, .set_at = 100};
    ff_run_result result;
    run_bench(&b, &result);
    assert_near(b.threshold, 5.0, 0.0);
    bench touched = {.zero_at = UINT64_MAX, .set_at = 385};
    run_bench(&touched, &result);
    assert_true(touched.touched_at_set);
    assert_near(touched.threshold, 20.0, 0.0);
}

/* A command v(t) = a t + j t^2/2 has differences that are known. */
static void test_gauges_of_a_polynomial_command(void **state) {
    (void)state;
    static ff_scenario scenario;
    static ff_live_control control;
    scenario = (ff_scenario){.cycle = 0.004, .satellites = 2};
    control = (ff_live_control){.scenario = &scenario};
    const double T = scenario.cycle;
    const ff_vec3 a = ff_vec3_make(0.3, -0.2, 0.6), j = ff_vec3_make(2, 1, -2);
    for (int k = 0; k < 4; k++) {
        static ff_row row;
        double g[FF_LIVE_GATE * FF_MAX_BODIES];
        const double t = k * T;
        row = (ff_row){.k = (uint64_t)k};
        row.body[1].command.twist.v = ff_vec3_add(ff_vec3_scale(t, a), ff_vec3_scale(t * t / 2, j));
        row.body[1].command.twist.w = ff_vec3_scale(t, a);
        ff_live_control_gauges(&control, &row, g);
        const ff_vec3 mean = ff_vec3_axpy(t - T / 2, j, a);
        for (int n = 0; n < FF_LIVE_GATE; n++)
            assert_near(g[n], 0.0, 0.0); /* the other satellite rests */
        assert_near(g[4], k > 0 ? ff_vec3_norm(mean) : 0.0, 1e-12);
        assert_near(g[5], k > 0 ? 0.7 : 0.0, 1e-12);
        assert_near(g[6], k > 1 ? 3.0 : 0.0, 1e-9);
        assert_near(g[7], 0.0, 1e-9);
    }
}

/* ------------------------------------------------------------------------------------------- captures -- */

static struct {
    ff_live_control control;
    int looks; /* at Ctrl-C while it is held */
    uint64_t stop_at;
    bool loop;
} capture;

static void ask(ff_live_verb verb) {
    const ff_live_command c = {.verb = verb, .value = 1.0};
    assert_true(ff_ring_push(&capture.control.live->commands, &c));
}

static bool look(void) {
    if (capture.control.held && ++capture.looks == 3)
        ask(FF_LIVE_RESUME);
    return false;
}

static bool between_captures(void *self, const ff_run_access *access) {
    (void)self;
    assert_int_equal(access->model != NULL, capture.loop); /* the orbit has none */
    assert_int_equal(access->out != NULL, capture.loop);
    if (access->k == 5)
        ask(FF_LIVE_HOLD);
    if (access->k == 7) { /* refused: there is no threshold, or no loop behind it */
        ask(FF_LIVE_SET);
        ask(FF_LIVE_ZERO);
    }
    if (access->k == capture.stop_at)
        ask(FF_LIVE_STOP);
    return ff_live_control_between(&capture.control, access);
}

static void run_capture(const char *method, uint64_t stop_at, ff_run_result *result) {
    static ff_scenario scenario;
    char message[512] = "", warnings[1024];
    const char *const set[] = {"time.duration=0.4"};
    const ff_scenario_options options = {.set = set, .sets = 1, .method = method};
    if (ff_scenario_load(FF_SOURCE_DIR "/scenarios/envisat-capture.yaml", &options, &scenario, message,
                         sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    memset(&capture, 0, sizeof capture);
    const ff_status started =
        ff_live_control_start(&capture.control, &scenario, "127.0.0.1:0", true, message, sizeof message);
    if (started == FF_ERR_UNSUPPORTED)
        test_skip("built without libwebsockets");
    if (started != FF_OK)
        fail_msg("%s", message);
    capture.control.interrupted = look;
    capture.stop_at = stop_at;
    capture.loop = scenario.method != NULL;
    const ff_sink sink = ff_live_control_sink(&capture.control);
    const ff_run_options run = {.sinks = &sink, .count = 1, .between = between_captures};
    ff_run(&scenario, &run, result);
    ff_live_control_stop(&capture.control);
}

static void test_capture_paced_held_and_stopped(void **state) {
    (void)state;
    static const char *const method[] = {"direct", "ideal"};
    for (int m = 0; m < 2; m++) {
        ff_run_result result;
        run_capture(method[m], UINT64_MAX, &result);
        assert_int_equal(result.status, FF_OK);
        assert_true(result.wall_s >= 0.4 - 1e-3); /* paced: never faster than the clock */
        assert_true(capture.looks >= 3);          /* it stood until it was continued */
        assert_false(capture.control.stopped);
        run_capture(method[m], 11, &result);
        assert_int_equal(result.status, FF_ERR_LIMIT);
        assert_int_equal(result.cycles, 10); /* the last one done */
        assert_non_null(strstr(result.message, "stopped at"));
        assert_true(capture.control.stopped);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_token_needed_where_guarded),
        cmocka_unit_test(test_parse_anything_else_refused),
        cmocka_unit_test(test_utf8_broken_replaced_whole_kept),
        cmocka_unit_test(test_zero_without_contact_takes_the_bias),
        cmocka_unit_test(test_zero_in_contact_refused),
        cmocka_unit_test(test_set_outside_contact_only),
        cmocka_unit_test(test_gauges_of_a_polynomial_command),
        cmocka_unit_test(test_capture_paced_held_and_stopped),
    };
    return test_ended(cmocka_run_group_tests(tests, NULL, NULL));
}
