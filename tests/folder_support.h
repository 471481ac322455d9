/* A folder of a test's own below /tmp, with files in it: make_folder and remove_folder are a group's setup
 * and teardown. */
#ifndef FF_TESTS_FOLDER_SUPPORT_H
#define FF_TESTS_FOLDER_SUPPORT_H

#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char test_folder[64];

static inline int make_folder(void **state) {
    (void)state;
    snprintf(test_folder, sizeof test_folder, "/tmp/ff_test_XXXXXX");
    return mkdtemp(test_folder) ? 0 : -1;
}

static inline int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder);
    return system(command); /* NOLINT: our own folder */
}

/* The path of NAME in the folder; eight may be used at a time. */
static inline const char *in_folder(const char *name) {
    static char path[8][512];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", test_folder, name);
    return p;
}

static inline const char *put_file(const char *name, const char *text) {
    const char *path = in_folder(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *put_folder(const char *name) {
    const char *path = in_folder(name);
    assert_int_equal(mkdir(path, 0777), 0);
    return path;
}

/* The file's text, malloc'ed; NULL: there is none. */
static inline char *get_file(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        return NULL;
    size_t n = 0, room = 1u << 16;
    char *text = malloc(room);
    assert_non_null(text);
    for (size_t got; (got = fread(text + n, 1, room - n - 1, file)) > 0;) {
        n += got;
        if (room - n < 2) {
            room *= 2;
            text = realloc(text, room);
            assert_non_null(text);
        }
    }
    text[n] = 0;
    fclose(file);
    return text;
}

static inline int count_lines(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* One line, and the words in it. */
#define assert_line(text, words)                                                      \
    do {                                                                              \
        if (count_lines(text) != 1 || !strstr(text, words))                           \
            fail_msg("expected one line with \"%s\", there is: \"%s\"", words, text); \
    } while (0)

#endif
