/* Notes: lines in their order, each with its newline, cut where the room ends. */
#include "support.h"
#include "text/notes.h"

static void test_lines_keep_their_order_and_kind(void **state) {
    (void)state;
    ff_notes notes;
    memset(&notes, 'x', sizeof notes);
    ff_notes_clear(&notes);
    assert_int_equal(ff_notes_error(&notes, FF_REFUSED, "mass is %d, allowed: > 0 [kg]", -1), FF_REFUSED);
    assert_int_equal(ff_notes_error(&notes, FF_FAILED, "second"), FF_FAILED);
    ff_notes_warning(&notes, "%s", ""); /* nothing to say is no line */
    ff_notes_warning(&notes, "%s", "a\nb");
    ff_notes_warning(&notes, "c\n");
    ff_notes_error(&notes, FF_FAILED, "a folder a\nb\033"); /* one line, whatever it quotes */
    assert_string_equal(notes.error, "mass is -1, allowed: > 0 [kg]\nsecond\na folder a?b?\n");
    assert_string_equal(notes.warning, "a\nb\nc\n");
}

static void test_without_notes_the_outcome_stays(void **state) {
    (void)state;
    assert_int_equal(ff_notes_error(NULL, FF_FAILED, "%s", "nobody listens"), FF_FAILED);
    ff_notes_warning(NULL, "%s", "nobody listens");
}

static void test_more_than_fits_is_cut_and_still_ends_a_line(void **state) {
    (void)state;
    static ff_notes notes;
    char line[1000];
    memset(line, 'z', sizeof line);
    line[sizeof line - 1] = 0;
    ff_notes_clear(&notes);
    for (int i = 0; i < 12; i++)
        ff_notes_error(&notes, FF_FAILED, "%s", line);
    assert_int_equal(strlen(notes.error), FF_NOTES_SIZE - 1);
    assert_int_equal(notes.error[FF_NOTES_SIZE - 2], '\n');
    assert_int_equal(notes.error[999], '\n'); /* the first line is whole */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_keep_their_order_and_kind),
        cmocka_unit_test(test_without_notes_the_outcome_stays),
        cmocka_unit_test(test_more_than_fits_is_cut_and_still_ends_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
