/* HTTP GET against servers that are slow, cut, wrong or do not hang up; on 127.0.0.1. */
#include "net/socket.h"

#include "text/clock.h"
#include "support.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* One answer in two parts, with a pause between; then it hangs up, or waits until the client does. */
typedef struct peer {
    int fd;
    const char *first, *second;
    bool hangs_up;
} peer;

static void nap(double seconds) {
    nanosleep(&(struct timespec){0, (long)(1e9 * seconds)}, NULL);
}

static void *serve(void *self) {
    const peer *p = self;
    const int client = accept(p->fd, NULL, NULL);
    char request[512];
    if (client < 0 || recv(client, request, sizeof request, 0) <= 0)
        return NULL;
    send(client, p->first, strlen(p->first), MSG_NOSIGNAL);
    nap(0.02);
    if (p->second)
        send(client, p->second, strlen(p->second), MSG_NOSIGNAL);
    if (!p->hangs_up)
        while (recv(client, request, sizeof request, 0) > 0) {
        }
    close(client);
    return NULL;
}

static ff_status ask(peer p, size_t size, char *page, char *message, double *took) {
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    ff_socket_address("127.0.0.1", 0, &at);
    p.fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(p.fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(p.fd, 1), 0);
    getsockname(p.fd, (struct sockaddr *)&at, &length);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, serve, &p), 0);
    size_t used = 0;
    const int64_t begin = ff_clock_now();
    const ff_status status = ff_http_get(&at, "/page", 1.0, page, size, &used, message, 256);
    *took = 1e-9 * (double)(ff_clock_now() - begin);
    pthread_join(thread, NULL);
    close(p.fd);
    page[status == FF_OK ? used : 0] = 0;
    return status;
}

#define OK "HTTP/1.1 200 OK\r\n"

static void test_http_get(void **state) {
    (void)state;
    static const struct {
        peer peer;
        ff_status status;
        const char *page;
    } cases[] = {
        {{0, OK "\r\nab", "cd", true}, FF_OK, "abcd"},
        {{0, OK "Content-Length: 4\r\n\r\nab", "cd", true}, FF_OK, "abcd"},
        {{0, OK "Content-Length: 4\r\n\r\nab", "cd", false}, FF_OK, "abcd"}, /* it does not hang up */
        {{0, OK "content-length:4\r\nX: y\r\n\r\nabcd and more", NULL, false}, FF_OK, "abcd"},
        {{0, OK "Content-Length: 0\r\n\r\n", NULL, false}, FF_OK, ""},
        {{0, OK "Content-Le", "ngth: 2\r\n\r\nab", false}, FF_OK, "ab"},
        {{0, OK "Content-Length: 40\r\n\r\nab", "cd", true}, FF_ERR_DEVICE, ""}, /* cut */
        {{0, OK "Content-Length: 4\r\n\r\nab", NULL, false}, FF_ERR_DEVICE, ""}, /* never whole */
        {{0, OK "\r\nab", NULL, false}, FF_ERR_DEVICE, ""},                      /* no end is given */
        {{0, OK "Content-Length: 99999999999999999999\r\n\r\nab", NULL, true}, FF_OK, "ab"},
        {{0, OK "Content-Length: x\r\n\r\nab", NULL, true}, FF_OK, "ab"},
        {{0, "HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nno", NULL, true}, FF_ERR_FORMAT, ""},
        {{0, "HTTP/1.0 500 \r\n\r\n", NULL, true}, FF_ERR_FORMAT, ""},
        {{0, "HTTP/1.0 200 OK\r\n", NULL, true}, FF_ERR_FORMAT, ""},
        {{0, "nonsense", NULL, true}, FF_ERR_FORMAT, ""},
        {{0, "", NULL, true}, FF_ERR_FORMAT, ""},
    };
    char page[512], message[256];
    double took;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        message[0] = 0;
        const ff_status got = ask(cases[i].peer, sizeof page - 1, page, message, &took);
        if (got != cases[i].status || strcmp(page, cases[i].page) != 0)
            fail_msg("case %zu: %s, '%s' (%s)", i, ff_status_name(got), page, message);
        assert_true(got == FF_OK || (message[0] && !strchr(message, '\n')));
        assert_true(took < 5.0); /* one second is asked for */
    }
    assert_int_equal(
        ask((peer){0, OK "\r\nabcdefghijklmnopqrstuvwxyz", NULL, true}, 30, page, message, &took),
        FF_ERR_SIZE);
    assert_int_equal(
        ask((peer){0, OK "Content-Length: 400\r\n\r\nabcdefghijklm", NULL, true}, 30, page, message, &took),
        FF_ERR_SIZE);
}

static void test_nobody_listens(void **state) {
    (void)state;
    struct sockaddr_in at;
    char page[64], message[256] = "";
    size_t used;
    int fd;
    ff_socket_address("127.0.0.1", 0, &at);
    assert_int_equal(ff_socket_open(&at, &fd, &at, message, sizeof message), FF_OK); /* UDP: TCP is refused */
    assert_int_equal(ff_http_get(&at, "/", 1.0, page, sizeof page, &used, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_non_null(strstr(message, "no answer to HTTP GET"));
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_http_get),
                                       cmocka_unit_test(test_nobody_listens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
