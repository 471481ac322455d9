/* A recorded log by rows: values as written, times found, damaged files refused with their line; and played:
 * which rows a page is shown at which time. */
#include <unistd.h>

#include "folder_support.h"
#include "live/internal.h"
#include "live/recording.h"

static const char *write_file(const char *text) {
    return put_file("test_recording.csv", text);
}

static void test_rows_read_as_written(void **state) {
    (void)state;
    char message[5000];
    ff_recording r;
    const char *path =
        write_file("t [s],\"a, \"\"b\"\".x [m]\",status\n0,1.5,0\n0.1,,0\n0.2,-3.25e-7,1\n0.3,4,0\n0.4,5");
    assert_int_equal(ff_recording_open(&r, path, message, sizeof message), FF_OK);
    assert_non_null(strstr(message, "cut off: its last line was left out"));
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
    /* a number longer than any that we write, an empty one, ends of other systems, a name longer than any
     * column's */
    char text[1200] = "t [s],\"", zeros[64];
    memset(text + 7, 'n', 600);
    memset(zeros, '0', sizeof zeros - 1);
    zeros[63] = 0;
    snprintf(text + 607, sizeof text - 607, "\"\n0.%s,\r\n0.1,2", zeros);
    strcat(text, "\n");
    assert_int_equal(ff_recording_open(&r, write_file(text), message, sizeof message), FF_OK);
    assert_string_equal(message, "");
    assert_int_equal(strlen(r.name[1]), FF_COLUMN_NAME - 1);
    ff_recording_row(&r, 0, v);
    assert_near(v[0], 0.0, 0.0);
    assert_true(isnan(v[1]));
    ff_recording_row(&r, 1, v);
    assert_near(v[1], 2.0, 0.0);
    ff_recording_close(&r);
}

static void test_damaged_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "t [s],a\n",       "t [s],a\n0,1\n0.1,1,2\n",       "x,a\n0,1\n",          "t [s],a\n1,1\n0,1\n",
        "nothing",         "t [s],a\nx,1\ny,1\n",           "\"t [s]\"x,a\n0,1\n", "\n0\n",
        "t [s],a\n0,1x\n", "t [s],a,b\n0,one,2\n0.1,1,2\n", "t [s],a\n0,1 2\n",    "t [s],a\n0,1\n1e999,1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char message[5000];
        ff_recording r;
        const char *path = write_file(bad[i]);
        if (ff_recording_open(&r, path, message, sizeof message) >= 0)
            fail_msg("taken: %s", bad[i]);
        assert_non_null(strstr(message, "test_recording.csv:"));
    }
    char message[5000], wide[24000] = "t [s]";
    for (size_t n = 5; n < 23000; n += 2)
        memcpy(wide + n, ",a", 3);
    strcat(wide, "\n0\n");
    ff_recording r;
    assert_int_equal(ff_recording_open(&r, write_file(wide), message, sizeof message), FF_ERR_FORMAT);
    assert_non_null(strstr(message, "test_recording.csv:2:")); /* more columns than any log has */
    const char *const none[] = {"/nowhere/log.csv", test_folder, write_file(""), "x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_int_equal(ff_recording_open(&r, none[i], message, sizeof message), FF_ERR_IO);
        assert_non_null(strstr(message, "cannot be read, or is empty"));
    }
    assert_int_equal(ff_recording_open(&r, in_folder("none.mcap"), message, sizeof message), FF_ERR_IO);
    assert_non_null(strstr(message, "none.mcap: "));
}

/* ------------------------------------------------------------------------------------------------ played --
 */

enum { ROWS = 1000, SECOND = 1000000000 }; /* rows 10 ms apart: row n holds n */

static ff_live page; /* without a server: what was pushed waits in its ring */

typedef struct shown {
    int rows, first, last;
    unsigned first_flags, flags; /* of the first; of the others */
} shown;

static shown look(void) {
    unsigned char bytes[sizeof(ff_live_item) + 2 * sizeof(double)];
    shown s = {.first = -1};
    while (ff_ring_pop(&page.ring, bytes)) {
        ff_live_item item;
        double value[2];
        memcpy(&item, bytes, sizeof item);
        memcpy(value, bytes + sizeof item, sizeof value);
        assert_near(value[0], 0.01 * value[1], 1e-12);
        if (!s.rows++) {
            s.first = (int)value[1];
            s.first_flags = item.flags;
        } else {
            s.flags |= item.flags;
        }
        s.last = (int)value[1];
    }
    return s;
}

static void ask(ff_player *p, int64_t now, ff_live_verb verb, double value, bool done, const char *says) {
    const ff_live_command command = {.verb = verb, .value = value, .id = 7, .viewer = 3};
    ff_live_reply reply;
    assert_true(ff_ring_push(&page.commands, &command));
    assert_int_equal(ff_player_step(p, now), verb != FF_LIVE_STOP);
    assert_true(ff_ring_pop(&page.replies, &reply));
    assert_int_equal(reply.id, 7);
    assert_int_equal(reply.viewer, 3);
    assert_int_equal(reply.done, done);
    assert_string_equal(reply.text, says);
}

static void assert_shown(int rows, int first, int last, unsigned first_flags, unsigned flags) {
    const shown s = look();
    assert_int_equal(s.rows, rows);
    assert_int_equal(s.first, first);
    assert_int_equal(s.last, last);
    assert_int_equal(s.first_flags, first_flags);
    assert_int_equal(s.flags, flags);
}

static void test_a_player_shows_what_is_due(void **state) {
    (void)state;
    char *text = malloc(ROWS * 24 + 64), message[5000];
    int n = sprintf(text, "t [s],n\n");
    for (int i = 0; i < ROWS; i++)
        n += sprintf(text + n, "%.2f,%d\n", 0.01 * i, i);
    ff_recording r;
    assert_int_equal(ff_recording_open(&r, write_file(text), message, sizeof message), FF_OK);
    free(text);
    page.count = 2;
    assert_int_equal(ff_ring_create(&page.ring, sizeof(ff_live_item) + 2 * sizeof(double), 2048), FF_OK);
    assert_int_equal(ff_ring_create(&page.commands, sizeof(ff_live_command), 16), FF_OK);
    assert_int_equal(ff_ring_create(&page.replies, sizeof(ff_live_reply), 16), FF_OK);
    ff_player p;
    assert_int_equal(ff_player_init(&p, &page, &r), FF_OK);
    int64_t now = 5 * (int64_t)SECOND;
    assert_true(ff_player_step(&p, now));
    assert_shown(1, 0, 0, FF_LIVE_RESTART, 0); /* the beginning */
    assert_true(ff_player_step(&p, now += SECOND / 10 + 1000));
    assert_shown(10, 1, 10, 0, 0); /* 0.1 s later */
    ask(&p, now, FF_LIVE_SPEED, 2.0, true, "speed 2 x");
    assert_true(ff_player_step(&p, now += SECOND / 10));
    assert_shown(20, 11, 30, 0, 0);
    ask(&p, now, FF_LIVE_HOLD, 0.0, true, "paused");
    assert_int_equal(page.phase, FF_LIVE_HELD);
    assert_true(ff_player_step(&p, now += SECOND));
    assert_int_equal(look().rows, 0);
    /* a jump shows the 20 s before it at once, no more than some 600 rows, and stays paused */
    ask(&p, now, FF_LIVE_SEEK, 5.0, true, "at 5.000 s");
    assert_shown(501, 0, 500, FF_LIVE_RESTART | FF_LIVE_KEEP, FF_LIVE_KEEP);
    ask(&p, now, FF_LIVE_SEEK, 9.01, true, "at 9.010 s");
    assert_shown(451, 1, 901, FF_LIVE_RESTART | FF_LIVE_KEEP, FF_LIVE_KEEP);
    ask(&p, now, FF_LIVE_SEEK, -3.0, true, "at 0.000 s");
    assert_shown(1, 0, 0, FF_LIVE_RESTART | FF_LIVE_KEEP, 0);
    ask(&p, now, FF_LIVE_RESUME, 0.0, true, "plays");
    assert_int_equal(page.phase, FF_LIVE_RUNNING);
    assert_int_equal(look().rows, 0);
    /* far faster than it was recorded: the newest 400 rows of those that are due */
    ask(&p, now, FF_LIVE_SPEED, 100.0, true, "speed 100 x");
    assert_true(ff_player_step(&p, now += SECOND / 20));
    assert_shown(400, 101, 500, 0, 0);
    assert_true(ff_player_step(&p, now += SECOND));
    assert_shown(400, 600, 999, 0, 0);
    assert_int_equal(page.phase, FF_LIVE_ENDED);
    assert_true(ff_player_step(&p, now += SECOND));
    assert_int_equal(look().rows, 0);
    ask(&p, now, FF_LIVE_SEEK, 1e9, true, "at 9.990 s"); /* beyond the end: the end */
    assert_int_equal(look().last, 999);
    ask(&p, now, FF_LIVE_RESUME, 0.0, true, "plays"); /* at the end: from the beginning again */
    assert_shown(1, 0, 0, FF_LIVE_RESTART | FF_LIVE_KEEP, 0);
    ask(&p, now, FF_LIVE_ZERO, 0.0, false, "not offered here");
    ask(&p, now, FF_LIVE_STOP, 0.0, true, "closed");
    ff_player_free(&p);
    ff_recording_close(&r);
    ff_ring_free(&page.ring);
    ff_ring_free(&page.commands);
    ff_ring_free(&page.replies);
}

/* A log that another process cuts while it is shown: the page stops, nothing is read beyond the end. */
static void test_a_log_that_shrinks_ends_the_player(void **state) {
    (void)state;
    char message[5000];
    ff_recording r;
    const char *path = write_file("t [s],a\n0,1\n0.1,2\n0.2,3\n0.3,4\n");
    assert_int_equal(ff_recording_open(&r, path, message, sizeof message), FF_OK);
    page.count = 2;
    assert_int_equal(ff_ring_create(&page.ring, sizeof(ff_live_item) + 2 * sizeof(double), 64), FF_OK);
    assert_int_equal(ff_ring_create(&page.commands, sizeof(ff_live_command), 16), FF_OK);
    ff_player p;
    assert_int_equal(ff_player_init(&p, &page, &r), FF_OK);
    assert_true(ff_player_step(&p, SECOND));
    assert_int_equal(truncate(path, 14), 0); /* behind the first row and a part of the second */
    double v[2];
    ff_recording_row(&r, 0, v);
    assert_near(v[1], 1.0, 0.0);
    assert_false(r.lost);
    assert_false(ff_player_step(&p, 2 * (int64_t)SECOND));
    assert_true(r.lost);
    ff_recording_row(&r, 2, v);
    assert_true(isnan(v[0]) && isnan(v[1]));
    ff_player_free(&p);
    ff_recording_close(&r);
    ff_ring_free(&page.ring);
    ff_ring_free(&page.commands);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_read_as_written),
        cmocka_unit_test(test_damaged_refused),
        cmocka_unit_test(test_a_player_shows_what_is_due),
        cmocka_unit_test(test_a_log_that_shrinks_ends_the_player),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
