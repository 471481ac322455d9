/* Memory that runs out in a campaign: while it is read, in its runs, in its results. */
#include "campaign/conduct.h"
#include "folder_support.h"
#include "memory_support.h"

static ff_notes notes;
static char message[2048], file[128], out[128];

static int write_files(void **state) {
    if (make_folder(state) != 0)
        return -1;
    put_file("base.yaml",
             "name: base\n"
             "time: {cycle: 0.01, duration: 0.6}\n"
             "satellites:\n"
             "  body: {mass: 200, inertia: [20, 20, 20], velocity: [0.05, 0, 0]}\n"
             "contacts:\n"
             "  - {name: right, kind: wall, at: [0.01, 0, 0], normal: [-1, 0, 0], stiffness: 2000}\n");
    snprintf(file, sizeof file, "%s",
             put_file("c.yaml",
                      "name: c\nbase: base.yaml\nmethods: [direct]\nvary:\n"
                      "  contacts.right.stiffness: {list: [1000, 4000]}\n"
                      "  satellites.body.mass: {grid: [100, 200, 2]}\n"
                      "metrics: {speed: satellites.body.final.velocity_mps.0, ratio: peak_force_ratio}\n"
                      "maps: [{x: contacts.right.stiffness, y: satellites.body.mass, show: speed}]\n"
                      "keep: {worst: 1}\n"));
    snprintf(out, sizeof out, "%s/out", test_folder);
    return 0;
}

static bool load(void *user, const char **text) {
    (void)user;
    ff_campaign *c = __real_calloc(1, sizeof *c);
    message[0] = 0;
    *text = message;
    const ff_status status = ff_campaign_load(file, NULL, c, message, sizeof message, NULL, 0);
    if (status == FF_OK)
        assert_int_equal(c->samples, 4);
    ff_campaign_free(c);
    free(c);
    return status == FF_OK;
}

static void test_reading(void **state) {
    (void)state;
    assert_true(memory_sweep(load, NULL) > 10);
}

static bool conduct(void *user, const char **text) {
    const ff_campaign *c = user;
    ff_ranks ranks = {.count = 1};
    ff_conduct made;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", out, out);
    assert_int_equal(system(command), 0); /* NOLINT: our own folder */
    const ff_conduct_options options = {.folder = out, .threads = 1};
    ff_notes_clear(&notes);
    *text = notes.error;
    ff_outcome outcome = ff_conduct_begin(c, &ranks, &options, &made, &notes);
    if (outcome == FF_DONE)
        outcome = ff_conduct_run(&made, &ranks, &notes);
    if (outcome == FF_DONE)
        outcome = ff_conduct_finish(&made, &notes);
    if (outcome ==
        FF_DONE) { /* a run that had no memory is a failed run: it is not a result like the others */
        if (made.output->runs != 4)
            fail_msg("%d runs in the results, %s", (int)made.output->runs, memory_place());
        if (made.output->failed) {
            snprintf(notes.error, sizeof notes.error, "%s", made.output->listed[0].reason);
            outcome = FF_FAILED;
        }
    }
    ff_conduct_free(&made);
    return outcome == FF_DONE;
}

static void test_from_the_folder_to_the_page(void **state) {
    (void)state;
    ff_campaign *c = calloc(1, sizeof *c);
    assert_int_equal(ff_campaign_load(file, NULL, c, message, sizeof message, NULL, 0), FF_OK);
    assert_true(memory_sweep(conduct, c) > 30);
    ff_campaign_free(c);
    free(c);
}

static bool estimate(void *user, const char **text) {
    ff_conduct_cost cost;
    ff_notes_clear(&notes);
    const bool good = ff_conduct_estimate(user, 1.0, &cost, &notes) == FF_DONE;
    if (good && cost.probes_failed)
        snprintf(notes.error, sizeof notes.error, "%d of %d probes failed: no memory", cost.probes_failed,
                 cost.probes);
    *text = notes.error;
    return good && !cost.probes_failed;
}

static void test_an_estimate(void **state) {
    (void)state;
    ff_campaign *c = calloc(1, sizeof *c);
    assert_int_equal(ff_campaign_load(file, NULL, c, message, sizeof message, NULL, 0), FF_OK);
    assert_true(memory_sweep(estimate, c) > 3);
    ff_campaign_free(c);
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_from_the_folder_to_the_page),
        cmocka_unit_test(test_an_estimate),
    };
    return cmocka_run_group_tests(tests, write_files, remove_folder);
}
