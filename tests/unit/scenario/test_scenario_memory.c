/* Memory that runs out while a scenario is read: files with an arm, with meshes, with emulations, and
 * templates. */
#include "memory_support.h"
#include "scenario/scenario.h"
#include "scenario/tree.h"
#include "text/file.h"

static ff_scenario scenario;
static char message[1024], warnings[1024];

static bool load(void *path, const char **text) {
    message[0] = 0;
    *text = message;
    const char *set[] = {"time.seed=3"};
    const ff_scenario_options options = {.set = set, .sets = 1};
    return ff_scenario_load(path, &options, &scenario, message, sizeof message, warnings, sizeof warnings) ==
           FF_OK;
}

static void test_files(void **state) {
    (void)state;
    static char *const paths[] = {FF_SOURCE_DIR "/scenarios/deos-client.yaml",
                                  FF_SOURCE_DIR "/scenarios/envisat-capture.yaml",
                                  FF_SOURCE_DIR "/scenarios/planar-arm-emulation.yaml",
                                  FF_SOURCE_DIR "/scenarios/space-robot-emulation.yaml"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_true(memory_sweep(load, paths[i]) > 1);
}

static char *text_of_file;
static size_t text_length;

static bool template(void *user, const char **text) {
    (void)user;
    static const char *const items[] = {"{kind: ideal}", "{kind: delay, delay: 0.02}"};
    const ff_scenario_slot slots[] = {{.path = "satellites.client.mass", .argument = "--set mass"},
                                      {.path = "satellites.client.robot", .items = items, .count = 2}};
    ff_scenario_template *t = NULL;
    message[0] = 0;
    *text = message;
    const ff_status status = ff_scenario_template_create("t.yaml", text_of_file, text_length, NULL, slots, 2,
                                                         &t, message, sizeof message);
    if (status != FF_OK)
        return false;
    const ff_scenario_value values[] = {{.item = -1, .text = "123.5"}, {.item = 1}};
    const bool good = ff_scenario_template_read(t, values, &scenario, message, sizeof message) == FF_OK;
    if (good) {
        assert_near(scenario.satellite[0].rigid.mass, 123.5, 0.0);
        assert_near(scenario.satellite[0].robot.delay, 0.02, 0.0);
    }
    ff_scenario_template_free(t);
    return good;
}

static void test_a_template(void **state) {
    (void)state;
    assert_int_equal(ff_file_read(FF_SOURCE_DIR "/scenarios/deos-client.yaml", 1u << 20, &text_of_file,
                                  &text_length, NULL, 0),
                     FF_OK);
    assert_true(memory_sweep(template, NULL) > 1);
    free(text_of_file);
}

/* Nodes come from blocks: the block is filled so that each allocation of --set in turn is the one that needs
 * a new one, which there is not. What is said, and no more, is that memory ran out. */
static void test_a_set_at_the_end_of_a_block(void **state) {
    (void)state;
    static const char *const assignment[] = {"contacts.0.damping=3", "loads.0.force=[1, 2, 3]",
                                             "a.b.c={d: [1]}"};
    int refused = 0, set = 0;
    for (size_t n = 0; n < sizeof assignment / sizeof *assignment; n++)
        for (size_t left = 0; left < 2048; left += 16) {
            static const char text[] = "name: a\ncontacts: [{damping: 1}]\n";
            ff_tree tree = {0};
            ff_tree_error error = {.text = ""};
            assert_int_equal(ff_tree_parse(&tree, text, sizeof text - 1, NULL, &tree.root, &error), FF_OK);
            assert_non_null(
                ff_tree_alloc(&tree, 16384 - left)); /* a block of its own, filled but for `left` */
            atomic_store(&memory_hit, false);
            atomic_store(&memory_left, 0);
            const ff_status status = ff_tree_set(&tree, assignment[n], "--set", &error);
            atomic_store(&memory_left, -1);
            assert_int_equal(status, atomic_load(&memory_hit) ? FF_ERR_MEMORY : FF_OK);
            if (status != FF_OK)
                assert_string_equal(error.text, "no memory for the scenario");
            refused += status != FF_OK;
            set += status == FF_OK;
            ff_tree_free(&tree);
        }
    assert_true(refused > 20 && set > 20);
}

static char padded[20000];

static bool padded_set(void *user, const char **text) {
    (void)user;
    static const char scenario_text[] = "name: a\ntime: {cycle: 0.004, duration: 1}\n"
                                        "satellites: {b: {mass: 2, inertia: [1, 1, 1]}}\n";
    const char *const set[] = {padded, "time.seed=3", "satellites.b.mass=4"};
    const ff_scenario_options options = {.set = set, .sets = 3};
    message[0] = 0;
    *text = message;
    const bool good = ff_scenario_parse("F", scenario_text, sizeof scenario_text - 1, &options, &scenario,
                                        message, sizeof message, warnings, sizeof warnings) == FF_OK;
    if (good)
        assert_true(scenario.seed == 3 && scenario.satellite[0].rigid.mass == 4.0);
    return good;
}

/* The same of whole scenarios: a first value of every length shifts where the blocks end. */
static void test_sets_at_the_end_of_a_block(void **state) {
    (void)state;
    for (size_t length = 100; length < 8000; length += 48) {
        snprintf(padded, sizeof padded, "passive={reading: default} #");
        memset(padded + strlen(padded), 'x', length);
        padded[27 + length] = 0;
        assert_true(memory_sweep(padded_set, NULL) >= 1);
    }
}

/* Values, items and paths that a template cannot have; a scenario that is not valid with one. */
static void test_a_template_s_refusals(void **state) {
    (void)state;
    static const char body[] = "name: a\ntime: {cycle: 0.004, duration: 1}\n"
                               "satellites: {b: {mass: 2, inertia: [1, 1, 1]}}\n";
    static const char *const empty[] = {"1", ""}, *const broken[] = {"{"},
                             *const masses[] = {"1", "'2'", "-3"};
    static const struct {
        ff_scenario_slot slot;
        const char *said;
    } row[] = {{{.path = "satellites.b.mass", .argument = "axis m", .items = empty, .count = 2},
                "axis m: an empty value"},
               {{.path = "satellites.b.mass", .argument = "axis m", .items = broken, .count = 1},
                "axis m: not valid YAML: "},
               {{.path = "name.x", .argument = "axis m"},
                "axis m: 'name' is a plain value and has no 'x', allowed: a path to a key"}};
    ff_scenario_template *t = NULL;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(ff_scenario_template_create("F", body, sizeof body - 1, NULL, &row[i].slot, 1, &t,
                                                     message, sizeof message),
                         FF_ERR_FORMAT);
        assert_null(t);
        if (strncmp(message, row[i].said, strlen(row[i].said)) != 0)
            fail_msg("'%s', not '%s'", message, row[i].said);
    }
    const ff_scenario_slot slot = {
        .path = "satellites.b.mass", .argument = "axis m", .items = masses, .count = 3};
    const ff_scenario_options options = {.method = "direct"};
    assert_int_equal(ff_scenario_template_create("F", body, sizeof body - 1, &options, &slot, 1, &t, message,
                                                 sizeof message),
                     FF_OK);
    static const struct {
        ff_scenario_value value;
        const char *said; /* "": read */
    } read[] = {
        {{.item = 0}, ""},
        {{.item = 1}, "axis m: mass must be a number, not text in quotes, allowed: a finite number > 0 [kg]"},
        {{.item = 2}, "axis m: mass is -3, allowed: > 0 [kg]"},
        {{.item = -1, .text = "7"}, ""},
        {{.item = 9, .text = "8"}, ""}, /* beyond the items: its text */
        {{.item = -1, .text = "x"},
         "axis m: mass must be a number, not 'x', allowed: a finite number > 0 [kg]"}};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        const ff_status status =
            ff_scenario_template_read(t, &read[i].value, &scenario, message, sizeof message);
        assert_int_equal(status, *read[i].said ? FF_ERR_FORMAT : FF_OK);
        assert_string_equal(message, read[i].said);
        if (status == FF_OK) {
            assert_near(scenario.satellite[0].rigid.mass, i == 0 ? 1 : i == 3 ? 7 : 8, 0);
            assert_ptr_equal(scenario.method, &ff_method_direct);
        }
    }
    assert_int_equal(ff_scenario_template_read(t, &read[2].value, &scenario, NULL, 0), FF_ERR_FORMAT);
    ff_scenario_template_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_a_template),
        cmocka_unit_test(test_a_set_at_the_end_of_a_block),
        cmocka_unit_test(test_sets_at_the_end_of_a_block),
        cmocka_unit_test(test_a_template_s_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
