/* A recorded log by rows: values as written, times found, damaged files refused with their line. */
#include <unistd.h>

#include "live/recording.h"
#include "support.h"

static const char *write_file(const char *text) {
    static char path[] = FF_BUILD_DIR "/test_recording.csv";
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static void test_rows_read_as_written(void **state) {
    (void)state;
    char message[5000];
    ff_recording r;
    const char *path =
        write_file("t [s],\"a, \"\"b\"\".x [m]\",status\n0,1.5,0\n0.1,,0\n0.2,-3.25e-7,1\n0.3,4,0\n0.4,5");
    assert_int_equal(ff_recording_open(&r, path, message, sizeof message), FF_OK);
    assert_int_equal(r.columns, 3);
    assert_string_equal(r.name[1], "a, \"b\".x [m]");
    assert_int_equal(r.rows, 4); /* the last line was cut off while it was written */
    double v[3];
    ff_recording_row(&r, 2, v);
    assert_near(v[0], 0.2, 0.0);
    assert_near(v[1], -3.25e-7, 0.0);
    assert_near(v[2], 1.0, 0.0);
    ff_recording_row(&r, 1, v);
    assert_true(isnan(v[1]));
    assert_int_equal(ff_recording_at(&r, -1.0), 0);
    assert_int_equal(ff_recording_at(&r, 0.1), 1);
    assert_int_equal(ff_recording_at(&r, 0.29), 2);
    assert_int_equal(ff_recording_at(&r, 9.0), 3);
    ff_recording_close(&r);
    unlink(path);
}

static void test_damaged_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"t [s],a\n",  "t [s],a\n0,1\n0.1,1,2\n",
                                      "x,a\n0,1\n", "t [s],a\n1,1\n0,1\n",
                                      "nothing",    "t [s],a\nx,1\ny,1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[5000];
        ff_recording r;
        const char *path = write_file(bad[i]);
        if (ff_recording_open(&r, path, message, sizeof message) >= 0)
            fail_msg("taken: %s", bad[i]);
        assert_non_null(strstr(message, "test_recording.csv:"));
        unlink(path);
    }
    char message[5000];
    ff_recording r;
    assert_int_equal(ff_recording_open(&r, "/nowhere/log.csv", message, sizeof message), FF_ERR_IO);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_read_as_written),
        cmocka_unit_test(test_damaged_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
