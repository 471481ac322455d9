/* text/image.h: what is loaded are the bytes that were read, whatever becomes of the file; two libraries are
 * two, also where the system gives them the same descriptor. */
#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/file.h"
#include "text/image.h"

static char path[64];

static void put_bytes(const char *bytes, size_t length) {
    FILE *f = fopen(path, "w");
    assert_true(f && fwrite(bytes, 1, length, f) == length);
    assert_int_equal(fclose(f), 0);
}

static void copy_library(const char *from) {
    char *bytes;
    size_t length;
    assert_int_equal(ff_file_read(from, FF_HELD_BYTES, &bytes, &length, NULL, 0), FF_OK);
    put_bytes(bytes, length);
    free(bytes);
}

static void test_the_bytes_that_were_read_are_loaded(void **state) {
    (void)state;
    ff_held first = {0}, second = {0};
    const ff_held_file *bad, *hold;
    char why[300] = "";
    copy_library(FF_BUILD_DIR "/tests/libobsw_bad.so");
    assert_int_equal(ff_image_read(&first, path, &bad, why, sizeof why), FF_OK);
    copy_library(FF_BUILD_DIR "/examples/libobsw_hold.so");
    assert_int_equal(ff_image_read(&second, path, &hold, why, sizeof why), FF_OK);
    assert_string_not_equal(bad->sha256, hold->sha256);
    put_bytes("no library", 10);
    const ff_held_file *again;
    assert_int_equal(ff_image_read(&first, path, &again, why, sizeof why), FF_OK);
    assert_ptr_equal(again, bad);
    void *const a = ff_image_load(bad, why, sizeof why), *const b = ff_image_load(hold, why, sizeof why);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_ptr_not_equal(dlsym(a, "ff_obsw_step"), dlsym(b, "ff_obsw_step"));
    for (int n = 0; n < 2000; n++) { /* a process may do this for days; one of them stays loaded */
        void *const more = ff_image_load(hold, why, sizeof why);
        if (!more || more == a || more == b)
            fail_msg("load %d: %s", n, more ? "another library's handle" : why);
        dlclose(more);
    }
    dlclose(a);
    dlclose(b);
    ff_held_free(&first);
    ff_held_free(&second);
}

static void test_what_cannot_be_loaded_is_one_line(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *why;
    } cases[] = {{"no library", "file too short"},
                 {"RUNPATH $ORIGIN/../lib", "looks for libraries beside itself ($ORIGIN)"},
                 {"RPATH ${ORIGIN}", "looks for libraries beside itself ($ORIGIN)"}};
    const ff_held_file *file;
    char why[300] = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ff_held held = {0};
        put_bytes(cases[i].bytes, strlen(cases[i].bytes));
        assert_int_equal(ff_image_read(&held, path, &file, why, sizeof why), FF_OK);
        assert_null(ff_image_load(file, why, sizeof why));
        assert_non_null(strstr(why, cases[i].why));
        assert_null(strchr(why, '\n'));
        assert_null(strstr(why, "/proc"));
        ff_held_free(&held);
    }
    ff_held held = {0};
    assert_int_equal(ff_image_read(&held, "/tmp", &file, why, sizeof why), FF_ERR_ARGUMENT);
    assert_string_equal(why, "not a file but a folder");
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(ff_image_read(&held, path, &file, why, sizeof why), FF_ERR_ARGUMENT);
    assert_string_equal(why, "not a file but a pipe");
    unlink(path);
    /* what could not be read once is not read again: the list of inputs says that it was not */
    assert_int_equal(ff_image_read(&held, path, &file, why, sizeof why), FF_ERR_IO);
    copy_library(FF_BUILD_DIR "/examples/libobsw_hold.so");
    assert_int_equal(ff_image_read(&held, path, &file, why, sizeof why), FF_ERR_IO);
    assert_string_equal(why, "No such file or directory");
    ff_held_free(&held);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_bytes_that_were_read_are_loaded),
                                       cmocka_unit_test(test_what_cannot_be_loaded_is_one_line)};
    snprintf(path, sizeof path, "/tmp/ff-image-%d", (int)getpid());
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
