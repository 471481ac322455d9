/* Memory that runs out while a scenario is read: files with an arm, with meshes, with emulations, and
 * templates. */
#include "memory_support.h"
#include "scenario/scenario.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_a_template),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
