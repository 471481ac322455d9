/* text/held.h: a text that is on no disk is what a path is from then on; a file is read once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "text/held.h"

static void test_put(void **state) {
    (void)state;
    ff_held held = {0};
    char text[] = "name: x\n\0behind", why[128] = "";
    const ff_held_file *file = NULL;
    size_t length = 0;
    assert_int_equal(ff_held_put(&held, "/no/such/folder/a.yaml", text, sizeof text - 1), FF_OK);
    memset(text, '!', sizeof text - 1); /* it is a copy */
    assert_int_equal(ff_held_read(&held, "/no/such/folder/a.yaml", 64, &file, &length, why, sizeof why),
                     FF_OK);
    assert_int_equal(length, 15);
    assert_memory_equal(file->text, "name: x\n\0behind", 16);
    char sum[FF_SHA256_TEXT];
    ff_sha256("name: x\n\0behind", 15, sum);
    assert_string_equal(file->sha256, sum);
    assert_int_equal(ff_held_read(&held, "/no/such/folder/a.yaml", 14, &file, &length, why, sizeof why),
                     FF_ERR_SIZE);
    assert_int_equal(ff_held_read(&held, "/no/such/folder/b.yaml", 64, &file, &length, why, sizeof why),
                     FF_ERR_IO);
    /* the newest text of a name counts */
    assert_int_equal(ff_held_put(&held, "/no/such/folder/a.yaml", "", 0), FF_OK);
    assert_int_equal(ff_held_find(&held, "/no/such/folder/a.yaml")->length, 0);
    ff_held_free(&held);
    assert_null(ff_held_find(&held, "/no/such/folder/a.yaml"));
}

static void test_read_once(void **state) {
    (void)state;
    char path[] = "/tmp/ff-held-XXXXXX", why[128];
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0 && write(descriptor, "one", 3) == 3);
    ff_held held = {0};
    const ff_held_file *file, *again;
    size_t length;
    assert_int_equal(ff_held_read(&held, path, 64, &file, &length, why, sizeof why), FF_OK);
    assert_true(write(descriptor, "two", 3) == 3);
    assert_int_equal(ff_held_read(&held, path, 64, &again, &length, why, sizeof why), FF_OK);
    assert_ptr_equal(file, again);
    assert_string_equal(again->text, "one");
    close(descriptor);
    unlink(path);
    ff_held_free(&held);
}

/* Once all is read another path is only another name for bytes that are there; what cannot be read stays so.
 */
static void test_whole(void **state) {
    (void)state;
    char path[] = "/tmp/ff-held-XXXXXX", why[128] = "", link_path[64];
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0 && write(descriptor, "one", 3) == 3);
    snprintf(link_path, sizeof link_path, "%s-link", path);
    assert_int_equal(symlink(path, link_path), 0);
    ff_held held = {0};
    const ff_held_file *file;
    size_t length;
    assert_int_equal(ff_held_read(&held, path, 64, &file, &length, why, sizeof why), FF_OK);
    held.whole = true;
    assert_int_equal(ff_held_read(&held, link_path, 64, &file, &length, why, sizeof why), FF_OK);
    assert_string_equal(file->text, "one");
    unlink(link_path);
    assert_int_equal(ff_held_read(&held, link_path, 64, &file, &length, why, sizeof why), FF_OK);
    assert_true(write(descriptor, "two", 3) == 3);
    assert_int_equal(symlink(path, link_path), 0);
    char other[80];
    snprintf(other, sizeof other, "/tmp/./%s", link_path + 5);
    for (int i = 0; i < 2; i++) {
        *why = 0;
        assert_int_equal(ff_held_read(&held, other, 64, &file, &length, why, sizeof why), FF_ERR_LIMIT);
        assert_string_equal(why, "it was changed, or named, after all files were read");
        assert_null(file);
        assert_null(ff_held_find(&held, other));
    }
    close(descriptor);
    unlink(path);
    unlink(link_path);
    ff_held_free(&held);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put), cmocka_unit_test(test_read_once),
                                       cmocka_unit_test(test_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
