/* What compare and the analyses are asked with: variants of methods, the sessions of a comparison, inertia
 * ratios from files. */
#include "session/variant.h"

#include "folder_support.h"
#include "session/inertia_ratio.h"

static ff_notes notes;

/* No contact, no load. */
static const char free_flight[] = "name: drift\n"
                                  "time: {cycle: 0.01, duration: 2}\n"
                                  "method: direct\n"
                                  "satellites:\n"
                                  "  body: {mass: 100, inertia: [10, 10, 10], velocity: [0.25, 0, -0.5]}\n";

/* ------------------------------------------------------------------------------------------ variants -- */

static void test_a_list_of_variants_is_split_or_refused(void **state) {
    (void)state;
    static ff_variant variant[FF_MAX_VARIANTS];
    char text[1200], many[400] = "ideal";
    ff_notes_clear(&notes);
    assert_int_equal(ff_variants_parse("ideal,tdpa:reading=printed:time.cycle=0.001:integrator=euler,direct",
                                       NULL, variant, &notes),
                     3);
    assert_string_equal(notes.error, "");
    assert_string_equal(variant[0].label, "ideal");
    assert_int_equal(variant[0].sets, 0);
    assert_string_equal(variant[1].method, "tdpa");
    assert_string_equal(variant[1].label, "tdpa:reading=printed:time.cycle=0.001:integrator=euler");
    assert_int_equal(variant[1].sets, 3);
    assert_string_equal(variant[1].set[0], "tdpa.reading=printed"); /* a key of the method's own */
    assert_string_equal(variant[1].set[1], "time.cycle=0.001");     /* a full path */
    assert_string_equal(variant[1].set[2], "integrator=euler");     /* a key of the scenario's top */
    assert_string_equal(variant[2].label, "direct");
    memset(text, 'x', sizeof text);
    text[1100] = 0;
    for (int i = 0; i < 40; i++)
        sprintf(many + strlen(many), ",m%d", i);
    char longer[400] = "tdpa:reading=";
    memset(longer + 13, 'y', 300);
    const struct {
        const char *list, *says;
    } cases[] = {{"", "'' is not a method"},
                 {"direct,,tdpa", "'' is not a method"},
                 {"direct,", "'' is not a method"},
                 {":a=1", "':a=1' is not a method; example: direct,tdpa:reading=printed"},
                 {text, "is not a method"},
                 {"tdpa:reading", "'tdpa:reading' must have the form METHOD:key=value"},
                 {"tdpa:=1", "must have the form METHOD:key=value"},
                 {"tdpa:a=1:b=1:c=1:d=1:e=1:f=1:g=1:h=1:i=1", "must have the form METHOD:key=value"},
                 {longer, "is too long"},
                 {"direct,tdpa,direct", "'direct' is given twice"},
                 {many, "more than 32 variants"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_notes_clear(&notes);
        assert_int_equal(ff_variants_parse(cases[i].list, NULL, variant, &notes), -1);
        assert_line(notes.error, cases[i].says);
    }
    ff_notes_clear(&notes); /* without a catalog no library can be opened: its line, and it counts */
    assert_int_equal(ff_variants_parse("./none.so,direct", NULL, variant, &notes), 2);
    assert_line(notes.error, "--methods: method library ./none.so: ");
    assert_string_equal(variant[0].label, "./none.so");
    assert_true(variant[0].why[0] && !variant[1].why[0]);
}

static char shown[4096];

static void show(const ff_notes *one) {
    strncat(shown, one->error, sizeof shown - strlen(shown) - 1);
}

/* What a log would say of where each session came from: its own variant, also when one before it was left
 * out. */
static void test_a_comparison_leaves_out_what_cannot_take_an_arm(void **state) {
    (void)state;
    static ff_variant variant[FF_MAX_VARIANTS];
    static const char *const set[] = {"time.duration=0.2"};
    const ff_scenario_options common = {.set = set, .sets = 1};
    ff_comparison all;
    const char *const arm = FF_SOURCE_DIR "/scenarios/envisat-capture.yaml";
    int count =
        ff_variants_parse("impact,tdpa:reading=printed,direct:time.duration=0.1", NULL, variant, &notes);
    assert_int_equal(count, 3);
    *shown = 0;
    assert_int_equal(ff_comparison_open(arm, variant, count, &common, &all, show), FF_DONE);
    assert_string_equal(shown, ""); /* a row of the table says which and why */
    assert_int_equal(all.count, 2);
    assert_int_equal(all.refusals, 1);
    assert_string_equal(all.refused[0].label, "impact");
    assert_non_null(strstr(all.refused[0].why, "docs/methods/arm.md"));
    assert_null(strstr(all.refused[0].why, "--method"));
    static const char *const label[] = {"tdpa:reading=printed", "direct:time.duration=0.1"},
                             *const method[] = {"tdpa", "direct"},
                             *const own[] = {"tdpa.reading=printed", "time.duration=0.1"};
    for (int i = 0; i < 2; i++) {
        assert_string_equal(all.session[i]->label, label[i]);
        assert_string_equal(all.session[i]->method, method[i]);
        assert_int_equal(all.session[i]->sets, 2);
        assert_string_equal(all.session[i]->set[0], set[0]);
        assert_string_equal(all.session[i]->set[1], own[i]);
    }
    ff_comparison_close(&all);
    assert_int_equal(all.count, 0);

    char rigid[600], bad[600];
    snprintf(rigid, sizeof rigid, "%s", put_file("rigid.yaml", free_flight));
    snprintf(bad, sizeof bad, "%s", put_file("none.yaml", "name: x\n"));
    const struct {
        const char *file, *list, *says;
        int lines, refusals;
    } cases[] = {{arm, "impact", "", 0, 1}, /* none is left */
                 {rigid, "impact:nonsense=1,nobody", "", 0, 2},
                 {bad, "impact,direct", "none.yaml", 1, 0}, /* the file's own mistake is said once */
                 {FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml", "ideal",
                  "an emulation has no methods to compare", 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ff_scenario_options plain = {0};
        count = ff_variants_parse(cases[i].list, NULL, variant, &notes);
        *shown = 0;
        assert_int_equal(ff_comparison_open(cases[i].file, variant, count, &plain, &all, show), FF_REFUSED);
        assert_non_null(strstr(shown, cases[i].says));
        assert_int_equal(count_lines(shown), cases[i].lines);
        assert_int_equal(all.refusals, cases[i].refusals);
        ff_comparison_close(&all);
    }

    /* what is wrong with a variant is its row, and the others are compared */
    const ff_scenario_options plain = {0};
    *shown = 0;
    count = ff_variants_parse("nobody,direct,tdpa:reading=none,./none.so,impact", NULL, variant, &notes);
    assert_int_equal(ff_comparison_open(rigid, variant, count, &plain, &all, show), FF_DONE);
    assert_string_equal(shown, "");
    assert_true(all.mistaken);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.session[0]->label, "direct");
    assert_string_equal(all.session[1]->label, "impact");
    static const char *const row[][2] = {{"nobody", "unknown method 'nobody'"},
                                         {"tdpa:reading=none", "unknown reading 'none'"},
                                         {"./none.so", ""}};
    assert_int_equal(all.refusals, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(all.refused[i].label, row[i][0]);
        assert_non_null(strstr(all.refused[i].why, row[i][1]));
        assert_true(all.refused[i].why[0]);
    }
    ff_comparison_close(&all);
}

/* ------------------------------------------------------------------------------------- inertia ratios -- */

static void test_an_inertia_ratio_comes_from_a_matrix_or_a_scenario(void **state) {
    (void)state;
    char message[512];
    double Q[36];
    size_t n = 0;
    put_file("q.txt", "# Q\n 2, 0.5\t1;\r\n\n0.25 3 -1 # second\n1e-1 +2 4");
    assert_int_equal(ff_inertia_ratio_read(in_folder("q.txt"), &n, Q, message, sizeof message), FF_OK);
    static const double truth[] = {2, 0.5, 1, 0.25, 3, -1, 0.1, 2, 4};
    assert_int_equal(n, 3);
    for (int i = 0; i < 9; i++)
        assert_near(Q[i], truth[i], 0.0);
    /* appendix E of aghili: the target's link over the robot, as that scenario gives them */
    ff_outcome outcome;
    const char *const joint = FF_SOURCE_DIR "/scenarios/papers/aghili/appendix-e.yaml";
    ff_session *session = ff_session_open(joint, NULL, &outcome, &notes);
    assert_non_null(session);
    assert_int_equal(ff_inertia_ratio_read(joint, &n, Q, message, sizeof message), FF_OK);
    assert_int_equal(n, 1);
    assert_near(Q[0] * session->scenario.emulation.robot_inertia,
                session->scenario.emulation.target.link_inertia, 1e-12);
    ff_session_close(session);
    static const struct {
        const char *name, *text, *says;
    } cases[] = {{"a.txt", "1 x\n", "a.txt:1: 'x' does not fit"},
                 {"b.txt", "1 2 3 4 5 6 7\n", "b.txt:1: '7' does not fit"},
                 {"c.txt", "1e999\n", "'1e999' does not fit"},
                 {"d.txt", "1 0\n0\n", "d.txt:2: row 2 has not 2 numbers"},
                 {"e.txt", "1 0\n0 1 1\n", "e.txt:2: row 2 has not 2 numbers"},
                 {"f.txt", "1 2\n", "f.txt: 1 rows of 2 numbers, allowed is a square matrix"},
                 {"g.txt", "", "g.txt: 0 rows of 0 numbers"},
                 {"h.txt", "1\n2\n", "h.txt: 2 rows of 1 numbers"},
                 {"i.txt", "1\n2\n3\n4\n5\n6\n7\n", "i.txt:7: '7' does not fit, allowed are up to 6 rows"},
                 {"j.yaml", free_flight, "j.yaml: --inertia-ratio needs a scenario with the key 'emulation'"},
                 {"k.yml", "name: x\n", "k.yml:"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = put_file(cases[i].name, cases[i].text);
        *message = 0;
        assert_int_equal(ff_inertia_ratio_read(path, &n, Q, message, sizeof message), FF_ERR_FORMAT);
        if (!strstr(message, cases[i].says))
            fail_msg("%s: %s", cases[i].name, message);
    }
    assert_int_equal(ff_inertia_ratio_read(in_folder("none"), &n, Q, message, sizeof message), FF_ERR_IO);
    assert_non_null(strstr(message, "neither a number nor a readable file"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list_of_variants_is_split_or_refused),
        cmocka_unit_test(test_a_comparison_leaves_out_what_cannot_take_an_arm),
        cmocka_unit_test(test_an_inertia_ratio_comes_from_a_matrix_or_a_scenario),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
