/* Sentences into a caller's buffer: never beyond it, and counted in full. */
#include "support.h"

#include "text/message.h"

static void test_refuse_writes_and_returns(void **state) {
    (void)state;
    char text[12];
    memset(text, '#', sizeof text);
    assert_int_equal(ff_refuse(FF_ERR_FORMAT, text, 10, "%d is too long for this", 12345), FF_ERR_FORMAT);
    assert_string_equal(text, "12345 is ");
    assert_true(text[10] == '#'); /* the byte behind the buffer */
    assert_int_equal(ff_refuse(FF_ERR_IO, NULL, 0, "nobody reads it"), FF_ERR_IO);
    assert_int_equal(ff_refuse(FF_ERR_IO, text, 0, "no room"), FF_ERR_IO);
    assert_string_equal(text, "12345 is ");
}

static void test_append_counts_in_a_first_pass(void **state) {
    (void)state;
    char text[32];
    for (size_t size = 1; size <= sizeof text; size++) {
        size_t counted = ff_append(NULL, 0, 0, "%s-%d", "abc", 42), used;
        counted = ff_append(NULL, 0, counted, "%s", "!");
        assert_int_equal(counted, 7);
        memset(text, '#', sizeof text);
        text[0] = 0;
        used = ff_append(text, size, 0, "%s-%d", "abc", 42);
        used = ff_append(text, size, used, "%s", "!");
        assert_int_equal(used, counted); /* as if it had fitted */
        const size_t kept = size - 1 < 7 ? size - 1 : 7;
        assert_memory_equal(text, "abc-42!", kept);
        assert_int_equal(text[kept], 0);
        if (size < sizeof text)
            assert_true(text[size] == '#');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuse_writes_and_returns),
        cmocka_unit_test(test_append_counts_in_a_first_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
