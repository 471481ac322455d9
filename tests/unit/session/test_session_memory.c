/* Memory that runs out in a session: whatever fails, one line says so, and nothing is lost or left behind. */
#include "session/session.h"

#include "folder_support.h"
#include "memory_support.h"

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

static void test_an_emulation(void **state) {
    (void)state;
    work w = {.path = FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml",
              .set = {"time.duration=0.02"},
              .sets = 1,
              .files = true};
    assert_true(memory_sweep(whole, &w) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run),
        cmocka_unit_test(test_an_emulation),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
