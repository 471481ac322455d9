/* What the page may ask: lines are checked strictly, and the executive applies them only outside contact; and
 * what rows become: frames with the largest of each limit, and events. */
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
    assert_false(c.proven);
    assert_int_equal(c.id, 7);
    assert_int_equal(c.verb, FF_LIVE_HOLD);
    assert_true(parse("8 stop", &c));
    assert_true(parse("9 zero token=" TOKEN, &c));
    assert_true(c.proven);
    assert_true(parse("9 hold token=0123456789abcdef0123456789abcdee", &c)); /* needs none */
    assert_false(c.proven);
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

static void test_parse_numbers_in_their_range(void **state) {
    (void)state;
    ff_live_command c;
    make_page(false, true);
    page.open = FF_LIVE_BIT(FF_LIVE_SPEED) | FF_LIVE_BIT(FF_LIVE_SEEK);
    assert_true(parse("1 speed 0.01", &c));
    assert_near(c.value, 0.01, 0.0);
    assert_true(parse("1 seek -5.5", &c));
    assert_near(c.value, -5.5, 0.0);
    assert_false(parse("1 speed 0", &c));
    assert_false(parse("1 speed 101", &c));
    assert_false(parse("1 speed", &c));
    assert_false(parse("1 seek 1e10", &c));
    assert_string_equal(ff_live_verb_name(FF_LIVE_VERBS), "");
}

/* ------------------------------------------------------------------------------------- rows to frames -- */

enum { TIME, TOUCH, FORCE, STATUS, X, Y, X0, Y0, COLUMNS };

/* A page without a server: a contact, the loop's status, a distance in mm that trips, a gauge that does not.
 */
static void make_stream(void) {
    static double value[COLUMNS], gauge[1], most[2], frame[FF_LIVE_HISTORY * (FF_LIVE_HEAD + 2 + COLUMNS)];
    static int64_t stamp[FF_LIVE_HISTORY];
    static unsigned char in[sizeof(ff_live_item) + COLUMNS * sizeof(double)];
    memset(&page, 0, sizeof page);
    page.count = COLUMNS;
    page.status_column = STATUS;
    page.limits = 2;
    page.limit[0] = (ff_live_limit){
        .name = "distance", .unit = "mm", .column = X, .count = 2, .minus = X0, .scale = 1e3, .trips = true};
    page.limit[1] = (ff_live_limit){.name = "jerk", .unit = "m/s3", .gauge = 1, .scale = 1.0};
    atomic_init(&page.limit_now[0], 7000.0);
    atomic_init(&page.limit_now[1], 3.0);
    page.touches = 2;
    page.touch[0] = (ff_live_touch){.touching = TOUCH, .force = FORCE, .name = "wall"};
    page.touch[1] =
        (ff_live_touch){.touching = TOUCH, .force = -1, .name = "plate"}; /* no column of its force */
    page.width = FF_LIVE_HEAD + 2 + COLUMNS;
    page.value = value;
    page.gauge = gauge;
    gauge[0] = 0.0;
    page.most = most;
    page.frame = frame;
    page.stamp = stamp;
    page.in = in;
    page.last_t = -FF_INF;
    assert_int_equal(ff_ring_create(&page.ring, sizeof in, 2048), FF_OK);
    assert_int_equal(ff_ring_create(&page.notes, sizeof(ff_live_note), 16), FF_OK);
}

static void free_stream(void) {
    ff_ring_free(&page.ring);
    ff_ring_free(&page.notes);
}

static void push_row(double t, double touch, double force, double status, double x, unsigned flags) {
    const double row[COLUMNS] = {t, touch, force, status, 1.0 + x, 2.0, 1.0, 2.0};
    assert_true(ff_live_push_values(&page, row, flags));
}

/* Of the newest frame. */
static double newest(int column) {
    return page.frame[(page.made - 1) % FF_LIVE_HISTORY * (uint64_t)page.width + (uint64_t)column];
}

static void assert_note(uint64_t number, ff_live_level level, const char *words) {
    assert_true(page.noted > number);
    const ff_live_note *n = &page.note[number % FF_LIVE_EVENTS];
    assert_int_equal(n->level, level);
    assert_string_equal(n->text, words);
}

static void test_rows_become_frames_and_events(void **state) {
    (void)state;
    make_stream();
    assert_false(ff_live__drain(&page)); /* nothing came */
    ff_live_set_late(&page, 500.0);
    ff_live_set_late(&page, 200.0);
    push_row(0.0, 0, 0, 0, 5.0, 0);
    push_row(0.1, 0, 0, 0, 10.0, 0);
    push_row(0.2, 0, 0, 0, 0.0, 0);
    page.gauge[0] = 2.0;
    assert_true(ff_live__drain(&page));
    assert_int_equal(page.made, 1); /* one frame of three rows: the newest, with the largest of each limit */
    assert_near(newest(0), 0.0, 0.0);
    assert_near(newest(2), 3.0, 0.0);
    assert_near(newest(4), 500.0, 0.0); /* the latest wake */
    assert_near(newest(FF_LIVE_HEAD), 1e4, 1e-9);
    assert_near(newest(FF_LIVE_HEAD + 1), 2.0, 0.0);
    assert_near(newest(FF_LIVE_HEAD + 2 + TIME), 0.2, 0.0);
    assert_int_equal(page.noted, 1);
    assert_note(0, FF_LIVE_ALARM, "distance is 1e+04 mm, more than 7000");
    /* said once, until it has been below eight tenths of it */
    static const double x[] = {8.0, 6.0, 8.0, 5.0, 8.0};
    static const uint64_t noted[] = {1, 1, 1, 1, 2};
    page.exceeded[0] = true;
    for (size_t i = 0; i < 5; i++) {
        push_row(0.3 + 0.1 * (double)i, 0, 0, 0, x[i], 0);
        ff_live__drain(&page);
        assert_int_equal(page.noted, noted[i]);
    }
    page.gauge[0] = 4.0;
    push_row(0.9, 0, 0, 0, 0, 0);
    ff_live__drain(&page);
    assert_note(2, FF_LIVE_WARNING, "jerk is 4 m/s3, more than 3"); /* a requirement: the run continues */
    /* what the loop says, once a change */
    static const double status[] = {FF_ERR_LIMIT, FF_ERR_LIMIT, 0, 1, 0};
    for (size_t i = 0; i < 5; i++)
        push_row(1.0 + 0.1 * (double)i, 0, 0, status[i], 0, 0);
    ff_live__drain(&page);
    assert_int_equal(page.noted, 5);
    assert_int_equal(page.note[3].level, FF_LIVE_ALARM);
    assert_non_null(strstr(page.note[3].text, ff_status_text(FF_ERR_LIMIT)));
    assert_int_equal(page.note[4].level, FF_LIVE_WARNING);
    /* a contact from its first row to the fifth quiet one, with its peak, bounced once in between */
    static const double touch[] = {1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0},
                        force[] = {5, 9, 2, 0, 7, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 11; i++)
        push_row(2.0 + 0.1 * i, touch[i], force[i], 0, 0, 0);
    ff_live__drain(&page);
    assert_int_equal(page.noted, 9);
    assert_note(5, FF_LIVE_INFO, "contact at wall");
    assert_note(6, FF_LIVE_INFO, "contact at plate");
    assert_note(7, FF_LIVE_INFO, "released wall after 0.500 s, maximum 9.00 N");
    assert_note(8, FF_LIVE_INFO, "released plate after 0.500 s, maximum 0.00 N");
    free_stream();
}

static void test_a_jump_in_time_forgets_and_the_past_is_bounded(void **state) {
    (void)state;
    make_stream();
    push_row(5.0, 1, 5, FF_ERR_LIMIT, 10.0, FF_LIVE_KEEP);
    ff_live__drain(&page);
    assert_int_equal(page.made, 1);
    assert_int_equal(page.noted, 4); /* two contacts, the distance, the status */
    push_row(1.0, 1, 5, FF_ERR_LIMIT, 10.0, 0);
    ff_live__drain(&page);
    assert_near(newest(0), 1.0, 0.0);      /* restart */
    assert_int_equal(page.oldest, 1);      /* the frame of before does not count */
    assert_int_equal(page.note_oldest, 4); /* nor do its events: all is said again */
    assert_int_equal(page.noted, 8);
    push_row(2.0, 0, 0, 0, 0, FF_LIVE_RESTART);
    ff_live__drain(&page);
    assert_near(newest(0), 1.0, 0.0); /* forwards, but ordered */
    const uint64_t before = page.made;
    for (int i = 0; i < FF_LIVE_HISTORY + 10; i++)
        push_row(3.0 + i, 0, 0, 0, 0, FF_LIVE_KEEP);
    ff_live__drain(&page);
    assert_int_equal(page.made, before + FF_LIVE_HISTORY + 10); /* each is shown */
    assert_int_equal(page.made - page.oldest, FF_LIVE_HISTORY);
    /* more than the ring holds is lost to the page, and counted */
    for (int i = 0; i < 2048; i++)
        push_row(5000.0 + i, 0, 0, 0, 0, 0);
    const double row[COLUMNS] = {1e4};
    assert_false(ff_live_push_values(&page, row, 0));
    ff_live__drain(&page);
    assert_near(newest(3), 1.0, 0.0);
    /* events that do not fit, or are too long */
    char text[400];
    memset(text, 'e', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < 16; i++)
        assert_true(ff_live_event(&page, FF_LIVE_INFO, 0.0, text));
    assert_false(ff_live_event(&page, FF_LIVE_INFO, 0.0, text));
    const uint64_t noted = page.noted;
    ff_live__drain(&page);
    assert_int_equal(page.noted, noted + 16);
    assert_int_equal(strlen(page.note[noted % FF_LIVE_EVENTS].text), FF_LIVE_TEXT - 1);
    page.rows = true; /* rows of a scenario: values are refused */
    assert_false(ff_live_push_values(&page, row, 0));
    page.rows = false;
    assert_false(ff_live_push(&page, NULL, NULL));
    free_stream();
}

static void test_more_than_the_page_has_room_for_is_left_out(void **state) {
    (void)state;
    static ff_live_config config;
    static ff_tuning_table table;
    config = (ff_live_config){.parameters = FF_LIVE_MAX_PARAMETERS - 1, .limits = FF_LIVE_MAX_LIMITS - 1};
    table = (ff_tuning_table){.count = 2};
    ff_live_parameters(&table, &config);
    assert_int_equal(config.parameters, FF_LIVE_MAX_PARAMETERS);
    static ff_scenario scenario;
    char message[512], warnings[1024];
    const ff_scenario_options none = {0};
    assert_int_equal(ff_scenario_load(FF_SOURCE_DIR "/scenarios/wall.yaml", &none, &scenario, message,
                                      sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_int_equal(ff_live_limits(&scenario, &config), FF_OK);
    assert_int_equal(config.limits, FF_LIVE_MAX_LIMITS);
    assert_true(config.limit[FF_LIVE_MAX_LIMITS - 1].name[0] != 0);
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
    const ff_status started = ff_live_control_start(&b->control, &scenario,
                                                    &(ff_live_doors){.page = "127.0.0.1:0", .control = true},
                                                    message, sizeof message);
#ifndef FF_HAVE_WEBSOCKETS
    if (started == FF_ERR_UNSUPPORTED)
        test_skip("built without libwebsockets");
#endif
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
    bool interrupt; /* Ctrl-C while it is held */
} capture;

static void ask(ff_live_verb verb) {
    const ff_live_command c = {.verb = verb, .value = verb == FF_LIVE_SPEED ? 2.0 : 1.0};
    assert_true(ff_ring_push(&capture.control.live->commands, &c));
}

static bool look(void) {
    if (capture.control.held && ++capture.looks == 3) {
        if (capture.interrupt)
            return true;
        ask(FF_LIVE_RESUME);
    }
    return capture.interrupt && capture.looks >= 3;
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
        ask(FF_LIVE_SEEK);
        ask(FF_LIVE_SPEED);
    }
    if (access->k == 9) { /* the machine slept for ten seconds: it continues from here */
        capture.control.anchor_ns -= 10000000000;
        const bool go = ff_live_control_between(&capture.control, access);
        assert_near(capture.control.speed, 2.0, 0.0);
        assert_int_equal(capture.control.anchor_ns, 0);
        return go;
    }
    if (access->k == capture.stop_at)
        ask(FF_LIVE_STOP);
    return ff_live_control_between(&capture.control, access);
}

static void run_capture(const char *method, uint64_t stop_at, bool interrupt, ff_run_result *result) {
    static ff_scenario scenario;
    char message[512] = "", warnings[1024];
    const char *const set[] = {"time.duration=0.4"};
    const ff_scenario_options options = {.set = set, .sets = 1, .method = method};
    if (ff_scenario_load(FF_SOURCE_DIR "/scenarios/envisat-capture.yaml", &options, &scenario, message,
                         sizeof message, warnings, sizeof warnings) != FF_OK)
        fail_msg("%s", message);
    memset(&capture, 0, sizeof capture);
    const ff_status started = ff_live_control_start(&capture.control, &scenario,
                                                    &(ff_live_doors){.page = "127.0.0.1:0", .control = true},
                                                    message, sizeof message);
#ifndef FF_HAVE_WEBSOCKETS
    if (started == FF_ERR_UNSUPPORTED)
        test_skip("built without libwebsockets");
#endif
    if (started != FF_OK)
        fail_msg("%s", message);
    capture.control.interrupted = look;
    capture.stop_at = stop_at;
    capture.interrupt = interrupt;
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
        run_capture(method[m], UINT64_MAX, false, &result);
        assert_int_equal(result.status, FF_OK);
        /* paced, from cycle 9 on by twice: never faster than the clock */
        assert_true(result.wall_s >= 0.5 * (0.4 - 10 * 0.004) - 1e-3);
        assert_true(capture.looks >= 3); /* it stood until it was continued */
        assert_false(capture.control.stopped);
        run_capture(method[m], 11, false, &result);
        assert_int_equal(result.status, FF_ERR_LIMIT);
        assert_int_equal(result.cycles, 10); /* the last one done */
        assert_non_null(strstr(result.message, "stopped at"));
        assert_true(capture.control.stopped);
        run_capture(method[m], UINT64_MAX, true, &result);
        assert_int_equal(result.status, FF_ERR_LIMIT);
        assert_int_equal(result.cycles, 4); /* Ctrl-C ends it also while it is held, at cycle 5 */
        assert_false(capture.control.stopped);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_token_needed_where_guarded),
        cmocka_unit_test(test_parse_anything_else_refused),
        cmocka_unit_test(test_parse_numbers_in_their_range),
        cmocka_unit_test(test_rows_become_frames_and_events),
        cmocka_unit_test(test_a_jump_in_time_forgets_and_the_past_is_bounded),
        cmocka_unit_test(test_more_than_the_page_has_room_for_is_left_out),
        cmocka_unit_test(test_zero_without_contact_takes_the_bias),
        cmocka_unit_test(test_zero_in_contact_refused),
        cmocka_unit_test(test_set_outside_contact_only),
        cmocka_unit_test(test_gauges_of_a_polynomial_command),
        cmocka_unit_test(test_capture_paced_held_and_stopped),
    };
    return test_ended(cmocka_run_group_tests(tests, NULL, NULL));
}
