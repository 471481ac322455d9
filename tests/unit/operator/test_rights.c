/* What the operating system grants: the processor is kept awake while it is asked for, and a refusal is one
 * sentence. */
#include "operator/rights.h"
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/fsuid.h>
#include <unistd.h>

typedef struct asked {
    bool awake, nobody;
    ff_rights rights;
    bool held; /* the request's file was open */
} asked;

/* In a thread of its own: rights are the thread's, and so is the user for files. */
static void *take(void *self) {
    asked *a = self;
    if (a->nobody)
        setfsuid(65534);
    ff_rights_take(1, -1, a->awake, &a->rights);
    a->held = a->rights.awake && fcntl(a->rights.latency_fd, F_GETFD) != -1;
    return NULL;
}

static asked ask(bool awake, bool nobody) {
    asked a = {.awake = awake, .nobody = nobody};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, take, &a), 0);
    pthread_join(thread, NULL);
    return a;
}

static void test_rights_awake_until_released(void **state) {
    (void)state;
    if (access("/dev/cpu_dma_latency", R_OK | W_OK) != 0)
        test_skip("no access to /dev/cpu_dma_latency");
    asked a = ask(true, false);
    assert_true(a.rights.awake && a.held);
    assert_null(strstr(a.rights.missing, "awake"));
    const int fd = a.rights.latency_fd;
    ff_rights_release(&a.rights);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    ff_rights_release(&a.rights); /* twice does no harm */
    assert_true(a.rights.awake);  /* what was granted is remembered */
}

static void test_rights_idle_asks_for_nothing(void **state) {
    (void)state;
    asked a = ask(false, false);
    assert_false(a.rights.awake);
    assert_null(strstr(a.rights.missing, "awake"));
    ff_rights_release(&a.rights);
}

static void test_rights_refused_is_said(void **state) {
    (void)state;
    asked a = ask(true, true);
    assert_false(a.rights.awake);
    assert_non_null(strstr(a.rights.missing, "an awake processor (/dev/cpu_dma_latency)"));
    assert_non_null(strstr(a.rights.missing, "not granted: "));
    assert_non_null(strstr(a.rights.missing, "; running best effort"));
    ff_rights_release(&a.rights);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rights_awake_until_released),
                                       cmocka_unit_test(test_rights_idle_asks_for_nothing),
                                       cmocka_unit_test(test_rights_refused_is_said)};
    return test_ended(cmocka_run_group_tests(tests, NULL, NULL));
}
