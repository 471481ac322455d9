/* Memory that runs out in a session: whatever fails, one line says so, and nothing is lost or left behind. */
#include "session/session.h"

#include "folder_support.h"
#include "memory_support.h"
#include "session/identify.h"
#include "session/inertia_ratio.h"
#include "session/variant.h"

static ff_notes notes;

typedef struct work {
    const char *path;
    const char *set[4];
    int sets;
    bool files, mcap;
} work;

static bool whole(void *user, const char **text) {
    char out[128];
    snprintf(out, sizeof out, "%s/out", test_folder);
    const work *w = user;
    const ff_scenario_options load = {.set = w->set, .sets = w->sets};
    const ff_session_options options = {.out = w->files ? out : NULL, .csv = true, .mcap = w->mcap};
    ff_outcome outcome;
    ff_notes_clear(&notes);
    *text = notes.error;
    ff_session *session = ff_session_open(w->path, &load, &outcome, &notes);
    if (!session)
        return false;
    bool good = ff_session_execute(session, &options, &notes) == FF_DONE && session->summary;
    if (good && w->files) {
        const ff_session *const one = session;
        good = ff_session_report(&one, 1, options.out, &notes) == FF_DONE;
    }
    ff_session_close(session);
    return good;
}

static void test_a_run(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s",
             put_file("s.yaml",
                      "name: s\n"
                      "time: {cycle: 0.01, duration: 0.1}\n"
                      "satellites:\n"
                      "  body: {mass: 100, inertia: [10, 10, 10], velocity: [0.25, 0, 0]}\n"
                      "contacts:\n"
                      "  - {name: w, kind: wall, at: [0.01, 0, 0], normal: [-1, 0, 0], stiffness: 2000}\n"));
    work w = {.path = path, .files = true, .mcap = true};
    assert_true(memory_sweep(whole, &w) > 20);
    w.files = false;
    assert_true(memory_sweep(whole, &w) > 5);
}

/* The run alone: no memory is a failure of this computer, not a scenario that the facility refuses. */
static bool run_alone(void *user, const char **text) {
    static ff_run_result result;
    const ff_run_options options = {.count = 0};
    ff_run(user, &options, &result);
    *text = result.message;
    assert_true(result.status == FF_OK || result.status == FF_ERR_MEMORY);
    return result.status == FF_OK;
}

static void test_a_run_alone(void **state) {
    (void)state;
    static const char text[] =
        "name: m\ntime: {cycle: 0.004, duration: 0.04}\nmethod: tdpa\nsatellites:\n"
        "  body: {mass: 100, inertia: [10, 10, 10], robot: {kind: delay, delay: 0.02},\n"
        "         sensor: {kind: noisy, delay: 0.01}}\n";
    static ff_scenario scenario;
    char message[256] = "", warnings[512] = "";
    assert_int_equal(ff_scenario_parse("text", text, sizeof text - 1, NULL, &scenario, message,
                                       sizeof message, warnings, sizeof warnings),
                     FF_OK);
    assert_true(memory_sweep(run_alone, &scenario) >= 5); /* executive, loop (2), plant, rings */
}

static void test_an_emulation(void **state) {
    (void)state;
    work w = {.path = FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml",
              .set = {"time.duration=0.02"},
              .sets = 1,
              .files = true};
    assert_true(memory_sweep(whole, &w) > 5);
}

static void keep(const ff_notes *one) {
    strncat(notes.error, one->error, sizeof notes.error - strlen(notes.error) - 1);
}

static bool compare(void *path, const char **text) {
    static ff_variant variant[2];
    static ff_comparison all;
    const ff_scenario_options common = {0};
    ff_notes_clear(&notes);
    *text = notes.error;
    const int count = ff_variants_parse("direct,tdpa:reading=printed", NULL, variant, &notes);
    const bool good = count == 2 && ff_comparison_open(path, variant, count, &common, &all, keep) == FF_DONE;
    if (count == 2)
        ff_comparison_close(&all);
    return good;
}

static bool ratio(void *path, const char **text) {
    static char message[512];
    double Q[36];
    size_t n;
    message[0] = 0;
    *text = message;
    return ff_inertia_ratio_read(path, &n, Q, message, sizeof message) == FF_OK;
}

/* Gravity and the sensor's place are the log's own: without memory for them nothing is identified. */
static bool identify(void *path, const char **text) {
    ff_log_identified found;
    const ff_log_identify_config config = {.file = path, .what = FF_LOG_IDENTIFY_PAYLOAD, .own = true};
    ff_notes_clear(&notes);
    *text = notes.error;
    const ff_outcome outcome = ff_log_identify(&config, &found, &notes);
    if (outcome == FF_FAILED)
        *text = found.line[0];
    const bool good = outcome == FF_DONE && found.json;
    if (outcome == FF_DONE && !found.json)
        *text = "no memory for the JSON text"; /* as the command says it */
    free(found.json);
    return good;
}

static void test_what_analyses_begin_with(void **state) {
    (void)state;
    assert_true(memory_sweep(ratio, (void *)(uintptr_t)FF_SOURCE_DIR "/scenarios/planar-arm-emulation.yaml") >
                1);
    assert_true(memory_sweep(compare, (void *)(uintptr_t)FF_SOURCE_DIR "/scenarios/wall.yaml") > 3);
    char path[128];
    work w = {.path = FF_SOURCE_DIR "/scenarios/wall.yaml",
              .set = {"time.duration=1", "facility={gravity: [0, 0, -9.81]}",
                      "satellites.body.mockup={mass: 3, com: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1]}",
                      "satellites.body.angular_velocity=[0.4, 0.3, 0]"},
              .sets = 4,
              .files = true,
              .mcap = true};
    const char *text;
    assert_true(whole(&w, &text));
    snprintf(path, sizeof path, "%s/out/log.mcap", test_folder);
    assert_true(memory_sweep(identify, path) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run),
        cmocka_unit_test(test_a_run_alone),
        cmocka_unit_test(test_an_emulation),
        cmocka_unit_test(test_what_analyses_begin_with),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
