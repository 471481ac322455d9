/* Memory that runs out in a study of a workspace and of contact stability. */
#include "folder_support.h"
#include "memory_support.h"
#include "study/contact_stability.h"
#include "study/workspace.h"

static ff_scenario scenario;
static char message[1024], page[128];

static int load(void **state) {
    const char *set[] = {"time.duration=0.04"};
    const ff_scenario_options options = {.set = set, .sets = 1, .method = "direct"};
    char warnings[256];
    if (make_folder(state) != 0)
        return -1;
    snprintf(page, sizeof page, "%s/m.html", test_folder);
    return ff_scenario_load(FF_SOURCE_DIR "/scenarios/wall.yaml", &options, &scenario, message,
                            sizeof message, warnings, sizeof warnings);
}

static bool say(ff_status status, const char **text) {
    if (status != FF_OK && !*message)
        snprintf(message, sizeof message, "%s", ff_status_text(status));
    *text = message;
    return status == FF_OK;
}

static bool workspace(void *user, const char **text) {
    (void)user;
    ff_workspace_config config;
    ff_workspace out;
    ff_workspace_default(&config);
    message[0] = 0;
    return say(ff_workspace_analyze(&scenario, &config, &out, message, sizeof message), text);
}

static void test_a_workspace(void **state) {
    (void)state;
    assert_true(memory_sweep(workspace, NULL) > 1);
}

static bool stability(void *user, const char **text) {
    (void)user;
    ff_contact_stability_config config;
    ff_contact_stability out;
    ff_contact_stability_default(&config);
    config.velocity_gain = 20;
    config.position_gain = 100;
    config.bandwidth = 25;
    config.inertia_ratio = 2;
    message[0] = 0;
    ff_status status = ff_contact_stability_analyze(&config, &out, message, sizeof message);
    if (status == FF_OK)
        status = ff_contact_stability_write_html(&config, &out, page);
    return say(status, text);
}

static void test_a_contact_stability(void **state) {
    (void)state;
    assert_true(memory_sweep(stability, NULL) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_workspace),
        cmocka_unit_test(test_a_contact_stability),
    };
    return cmocka_run_group_tests(tests, load, remove_folder);
}
