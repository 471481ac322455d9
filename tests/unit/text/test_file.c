/* Whole files: bounds, what is refused, and that nothing half-written ever stands at its place. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "text/file.h"

static char folder[64];

static int make(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ff_file_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int clean(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *in(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *bytes, size_t n) {
    FILE *f = fopen(in(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void test_read_whole_with_zero_bytes(void **state) {
    (void)state;
    char bytes[1000], *text;
    size_t length;
    ff_rng rng;
    ff_rng_seed(&rng, test_seed(), 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(int)ff_rng_range(&rng, -128.0, 128.0);
    bytes[10] = 0;
    put("a", bytes, sizeof bytes);
    assert_int_equal(ff_file_read(in("a"), sizeof bytes, &text, &length, NULL, 0), FF_OK); /* just allowed */
    assert_int_equal(length, sizeof bytes);
    assert_memory_equal(text, bytes, sizeof bytes);
    assert_int_equal(text[length], 0);
    free(text);
    put("empty", "", 0);
    assert_int_equal(ff_file_read(in("empty"), 10, &text, &length, NULL, 0), FF_OK);
    assert_int_equal(length, 0);
    assert_string_equal(text, "");
    free(text);
}

static void test_read_refusals_leave_no_text(void **state) {
    (void)state;
    char *text = folder, why[100];
    size_t length;
    put("a", "12345", 5);
    assert_int_equal(ff_file_read(in("a"), 4, &text, &length, why, sizeof why), FF_ERR_SIZE);
    assert_null(text);
    assert_int_equal(length, 5);
    assert_int_equal(ff_file_read("/dev/zero", 100, &text, &length, why, sizeof why), FF_ERR_SIZE);
    assert_null(text);
    assert_int_equal(length, 101);
    assert_int_equal(ff_file_read(folder, 100, &text, &length, why, sizeof why), FF_ERR_ARGUMENT);
    assert_int_equal(ff_file_read(in("none"), 100, &text, &length, why, sizeof why), FF_ERR_IO);
    assert_string_equal(why, strerror(ENOENT));
}

static void *feed(void *fd) {
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(*(int *)fd, "piece ", 6), 6);
        usleep(2000);
    }
    close(*(int *)fd);
    return NULL;
}

static void test_read_waits_for_a_pipe_s_end(void **state) {
    (void)state;
    int end[2];
    char path[64], *text;
    size_t length;
    assert_int_equal(pipe(end), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", end[0]);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, feed, &end[1]), 0);
    assert_int_equal(ff_file_read(path, 100, &text, &length, NULL, 0), FF_OK);
    pthread_join(thread, NULL);
    assert_string_equal(text, "piece piece piece ");
    free(text);
    close(end[0]);
}

static void expect(const char *name, const char *expected) {
    char *text;
    size_t length;
    assert_int_equal(ff_file_read(in(name), 1000, &text, &length, NULL, 0), FF_OK);
    assert_string_equal(text, expected);
    free(text);
}

static void test_replace_is_whole_or_not_at_all(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", in("r"));
    assert_int_equal(ff_file_replace(path, "first"), FF_OK);
    expect("r", "first");
    ff_file_whole whole;
    assert_int_equal(ff_file_begin(path, &whole), FF_OK);
    fputs("second, half of", whole.file);
    fflush(whole.file);
    expect("r", "first"); /* while it is written */
    assert_int_equal(ff_file_end(&whole, false), FF_ERR_IO);
    expect("r", "first"); /* given up */
    assert_int_equal(access(whole.part, F_OK), -1);
    assert_int_equal(ff_file_begin(path, &whole), FF_OK);
    fputs("second", whole.file);
    assert_int_equal(ff_file_end(&whole, true), FF_OK);
    expect("r", "second");
    assert_int_equal(access(whole.part, F_OK), -1);
    assert_int_equal(ff_file_end(&whole, true), FF_ERR_IO); /* nothing is open any more */
    for (int closed = 0; closed < 2;
         closed++) { /* its descriptor is not its own any more: what it holds is lost */
        assert_int_equal(ff_file_begin(path, &whole), FF_OK);
        const int null = open("/dev/null", O_WRONLY);
        assert_true(null >= 0);
        if (closed)
            assert_int_equal(close(whole.descriptor), 0);
        else
            assert_true(dup2(null, whole.descriptor) >= 0);
        close(null);
        fputs("third", whole.file);
        errno = 0;
        assert_int_equal(ff_file_end(&whole, true), FF_ERR_IO);
        assert_int_equal(errno, EBADF);
        expect("r", "second");
        assert_int_equal(access(whole.part, F_OK), -1);
    }
}

/* Beside the place: one writer, and nothing that leads elsewhere is followed or written through. */
static void test_one_writer_and_no_odd_parts(void **state) {
    (void)state;
    char path[256], victim[256];
    ff_file_whole first, second;
    snprintf(path, sizeof path, "%s", in("w"));
    snprintf(victim, sizeof victim, "%s", in("victim"));
    assert_int_equal(ff_file_begin(path, &first), FF_OK);
    fputs("first", first.file);
    errno = 0;
    assert_int_equal(ff_file_begin(path, &second), FF_ERR_IO);
    assert_int_equal(errno, EBUSY);
    assert_int_equal(ff_file_keep(&first, true), FF_OK);
    expect("w", "first");
    FILE *left = fopen(first.part, "w"); /* of a process that was killed */
    fputs("longer than what comes now", left);
    fclose(left);
    assert_int_equal(ff_file_replace(path, "second"), FF_OK);
    expect("w", "second");
    for (int odd = 0; odd < 3; odd++) {
        assert_int_equal(ff_file_replace(victim, "kept"), FF_OK);
        assert_int_equal(odd == 0   ? symlink(victim, first.part)
                         : odd == 1 ? link(victim, first.part)
                                    : mkfifo(first.part, 0666),
                         0);
        char text[] = {'o', 'd', 'd', (char)('0' + odd), 0};
        assert_int_equal(ff_file_replace(path, text), FF_OK);
        expect("w", text);
        expect("victim", "kept");
        struct stat info;
        assert_int_equal(lstat(path, &info), 0);
        assert_true(S_ISREG(info.st_mode) && info.st_nlink == 1);
    }
    assert_int_equal(mkdir(first.part, 0777), 0);
    assert_int_equal(ff_file_replace(path, "x"), FF_ERR_IO);
    assert_int_equal(errno, EISDIR);
    expect("w", "odd2");
    rmdir(first.part);
}

static void test_replace_tells_a_full_disk(void **state) {
    (void)state;
    ff_file_whole whole;
    assert_int_equal(ff_file_begin(in("full"), &whole), FF_OK);
    fclose(whole.file);
    whole.file = fopen("/dev/full", "w");
    assert_non_null(whole.file);
    fputs("x", whole.file);
    assert_int_equal(ff_file_end(&whole, true), FF_ERR_IO);
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(access(in("full"), F_OK), -1);
    assert_int_equal(ff_file_replace(in("no/such/folder"), "x"), FF_ERR_IO);
    assert_int_equal(errno, ENOENT);
    char path[FF_FILE_PATH + 10];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = 0;
    assert_int_equal(ff_file_replace(path, "x"), FF_ERR_SIZE);
}

static int drain_from;
static volatile size_t drained;

static void drain(int number) {
    static char bytes[65536];
    (void)number;
    for (ssize_t n; (n = read(drain_from, bytes, sizeof bytes)) > 0;)
        drained += (size_t)n;
}

/* A write that waits is interrupted again and again, and every byte arrives: into a pipe that only the signal
 * empties. */
static void test_an_interrupted_write_is_no_failure(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    static char text[BYTES];
    int ends[2];
    ff_file_whole whole;
    struct sigaction before, now = {.sa_handler = drain}; /* without SA_RESTART */
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    assert_int_equal(ff_file_begin(in("piped"), &whole), FF_OK);
    assert_true(dup2(ends[1], whole.descriptor) >= 0);
    drain_from = ends[0];
    sigaction(SIGALRM, &now, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    const bool good = fwrite(text, 1, BYTES, whole.file) == BYTES && fflush(whole.file) == 0;
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    drain(0);
    assert_true(good);
    assert_int_equal(drained, BYTES);
    assert_int_equal(ff_file_end(&whole, false), FF_ERR_IO);
    drained = 0; /* the same of a stream to a descriptor: the standard output */
    FILE *stream = ff_file_stream(&ends[1]);
    assert_non_null(stream);
    sigaction(SIGALRM, &now, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    const bool also = fwrite(text, 1, BYTES, stream) == BYTES && fclose(stream) == 0;
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    drain(0);
    assert_true(also);
    assert_int_equal(drained, BYTES);
    close(ends[0]);
    close(ends[1]);
}

static void test_folder_make_builds_all_levels(void **state) {
    (void)state;
    struct stat info;
    assert_int_equal(ff_folder_make(in("a/b/c")), FF_OK);
    assert_int_equal(stat(in("a/b/c"), &info), 0);
    assert_true(S_ISDIR(info.st_mode));
    assert_int_equal(ff_folder_make(in("a/b/c")), FF_OK); /* it is there */
    assert_int_equal(ff_folder_make(in("a/b/c/")), FF_OK);
    put("file", "x", 1);
    assert_int_equal(ff_folder_make(in("file")), FF_ERR_IO);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(ff_folder_make(in("file/below")), FF_ERR_IO);
    assert_int_equal(errno, ENOTDIR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read_whole_with_zero_bytes, make, clean),
        cmocka_unit_test_setup_teardown(test_read_refusals_leave_no_text, make, clean),
        cmocka_unit_test_setup_teardown(test_read_waits_for_a_pipe_s_end, make, clean),
        cmocka_unit_test_setup_teardown(test_replace_is_whole_or_not_at_all, make, clean),
        cmocka_unit_test_setup_teardown(test_one_writer_and_no_odd_parts, make, clean),
        cmocka_unit_test_setup_teardown(test_replace_tells_a_full_disk, make, clean),
        cmocka_unit_test_setup_teardown(test_an_interrupted_write_is_no_failure, make, clean),
        cmocka_unit_test_setup_teardown(test_folder_make_builds_all_levels, make, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
