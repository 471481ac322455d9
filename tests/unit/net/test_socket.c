/* HTTP GET against servers that are slow, cut, wrong or do not hang up; the one page against clients that
 * are; addresses that cannot be bound, datagrams that are empty or too long. On 127.0.0.1. */
#include "net/socket.h"

#include "text/clock.h"
#include "support.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/resource.h>
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

static struct sockaddr_in local(unsigned port) {
    struct sockaddr_in at;
    assert_int_equal(ff_socket_address("127.0.0.1", port, &at), FF_OK);
    return at;
}

/* No further descriptor can be opened, until the limit it returns is set again. */
static struct rlimit use_up_descriptors(void) {
    struct rlimit usual, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
    none = (struct rlimit){0, usual.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    return usual;
}

static void test_addresses(void **state) {
    (void)state;
    struct sockaddr_in a, b;
    static const char *const bad[] = {"", "localhost", "127.0.0", "127.0.0.256", "127.0.0.1 ", "::1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(ff_socket_address(bad[i], 80, &a), FF_ERR_ARGUMENT);
    assert_int_equal(ff_socket_address("127.0.0.1", 65536, &a), FF_ERR_ARGUMENT);
    assert_int_equal(ff_socket_address("127.9.8.7", 65535, &a), FF_OK);
    assert_true(ff_socket_is_loopback(&a));
    assert_int_equal(ff_socket_address("128.0.0.1", 65535, &b), FF_OK);
    assert_false(ff_socket_is_loopback(&b));
    assert_false(ff_socket_same(&a, &b)); /* another address */
    b = a;
    assert_true(ff_socket_same(&a, &b));
    b.sin_port = htons(65534);
    assert_false(ff_socket_same(&a, &b)); /* another port */
}

static void test_what_cannot_be_bound_is_said(void **state) {
    (void)state;
    char message[256] = "", place[64];
    int fd, other;
    struct sockaddr_in at = local(0), elsewhere;
    assert_int_equal(ff_socket_open(&at, &fd, &at, message, sizeof message), FF_OK);
    assert_int_not_equal(at.sin_port, 0);
    assert_int_equal(ff_socket_open(&at, &other, NULL, message, sizeof message), FF_ERR_DEVICE); /* taken */
    assert_int_equal(other, -1);
    snprintf(place, sizeof place, "127.0.0.1 port %u: cannot be bound", ntohs(at.sin_port));
    assert_non_null(strstr(message, place));
    ff_socket_address("192.0.2.1", 5000, &elsewhere); /* for documentation only: nobody's own (RFC 5737) */
    assert_int_equal(ff_socket_open(&elsewhere, &other, NULL, message, sizeof message), FF_ERR_DEVICE);
    assert_non_null(strstr(message, "192.0.2.1 port 5000: cannot be bound"));

    const struct rlimit usual = use_up_descriptors();
    char page[64], why[2][256];
    size_t used = 1;
    const ff_status opened = ff_socket_open(&elsewhere, &other, NULL, why[0], sizeof why[0]),
                    got = ff_http_get(&at, "/", 1.0, page, sizeof page, &used, why[1], sizeof why[1]);
    ff_http_server *server;
    const ff_status served = ff_http_serve(&at, "/", "page", &server, message, sizeof message);
    setrlimit(RLIMIT_NOFILE, &usual);
    assert_int_equal(opened, FF_ERR_DEVICE);
    assert_int_equal(got, FF_ERR_DEVICE);
    assert_int_equal(served, FF_ERR_DEVICE);
    assert_null(server);
    assert_int_equal(used, 0);
    assert_non_null(strstr(why[0], "no socket"));
    assert_non_null(strstr(why[1], "no socket"));
    assert_non_null(strstr(message, "cannot be served"));
    close(fd);
}

static void test_datagrams(void **state) {
    (void)state;
    char message[256], bytes[8], *huge = calloc(1, 70000);
    int64_t stamp = 1;
    int here, there;
    struct sockaddr_in a = local(0), b = local(0), from;
    assert_non_null(huge);
    assert_int_equal(ff_socket_open(&a, &here, &a, message, sizeof message), FF_OK);
    assert_int_equal(ff_socket_open(&b, &there, &b, message, sizeof message), FF_OK);
    assert_int_equal(ff_socket_receive(here, bytes, sizeof bytes, &from, &stamp), 0); /* none waits */
    assert_int_equal(stamp, 0);
    assert_false(ff_socket_wait(here, -5));
    assert_false(ff_socket_send(there, huge, 70000, &a)); /* longer than UDP can carry */
    assert_true(ff_socket_send(there, "", 0, &a));
    assert_true(ff_socket_send(there, huge, sizeof bytes + 1, &a));
    assert_true(ff_socket_send(there, "abcdefgh", sizeof bytes, &a));
    assert_true(ff_socket_wait(here, 1000000000));
    assert_int_equal(ff_socket_receive(here, bytes, sizeof bytes, &from, &stamp), -1); /* empty */
    assert_int_equal(ff_socket_receive(here, bytes, sizeof bytes, &from, &stamp), -1); /* too long */
    assert_int_equal(ff_socket_receive(here, bytes, sizeof bytes, &from, &stamp), sizeof bytes);
    assert_memory_equal(bytes, "abcdefgh", sizeof bytes);
    assert_true(ff_socket_same(&from, &b));
    assert_true(stamp > 0 && stamp <= ff_clock_real());
    /* a socket that is connected to a port where nobody listens learns so by the next receive: what came
     * before is not lost by it */
    close(there);
    assert_int_equal(connect(here, (struct sockaddr *)&b, sizeof b), 0);
    assert_true(send(here, "x", 1, 0) == 1);
    assert_true(ff_socket_wait(here, 1000000000)); /* the error */
    assert_int_equal(ff_socket_receive(here, bytes, sizeof bytes, &from, &stamp), 0);
    close(here);
    free(huge);
}

/* What the page's server answers to these bytes; then the client sends no more. */
static size_t answer_to(const struct sockaddr_in *at, const char *request, size_t size, char *text,
                        size_t room) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)at, sizeof *at), 0);
    assert_int_equal(send(fd, request, size, MSG_NOSIGNAL), size);
    shutdown(fd, SHUT_WR);
    size_t used = 0;
    for (ssize_t n; used + 1 < room && (n = recv(fd, text + used, room - 1 - used, 0)) > 0;)
        used += (size_t)n;
    text[used] = 0;
    close(fd);
    return used;
}

static void test_one_page(void **state) {
    (void)state;
    ff_http_server *server, *second;
    char message[256] = "", text[512];
    struct sockaddr_in at;
    ff_status status = FF_ERR_DEVICE;
    for (int tries = 0; status != FF_OK && tries < 20; tries++) { /* a port that was free a moment ago */
        socklen_t length = sizeof at;
        at = local(0);
        const int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
        getsockname(fd, (struct sockaddr *)&at, &length);
        close(fd);
        status = ff_http_serve(&at, "/page.xml", "<a/>", &server, message, sizeof message);
    }
    assert_int_equal(status, FF_OK);
    assert_int_equal(ff_http_serve(&at, "/page.xml", "<a/>", &second, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_null(second);
    assert_non_null(strstr(message, "cannot be served"));
    static const struct {
        const char *request;
        bool found;
    } cases[] = {
        {"GET /page.xml HTTP/1.0\r\n\r\n", true},
        {"GET /page.xml?index=1 HTTP/1.0\r\nHost: x\r\n\r\n", true},
        {"GET /page.xml\r\n\r\n", false}, /* neither a version nor a query behind it */
        {"GET /page.xmlx HTTP/1.0\r\n\r\n", false},
        {"GET /other HTTP/1.0\r\n\r\n", false},
        {"POST /page.xml HTTP/1.0\r\n\r\n", false},
        {"", false},                          /* hangs up */
        {"GET /page.xml HTTP/1.0\r\n", true}, /* hangs up before the empty line: what was asked is clear */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        answer_to(&at, cases[i].request, strlen(cases[i].request), text, sizeof text);
        if (cases[i].found !=
                (strncmp(text, "HTTP/1.0 200 OK\r\n", 17) == 0 && strstr(text, "\r\n\r\n<a/>")) ||
            cases[i].found == (strncmp(text, "HTTP/1.0 404 ", 13) == 0))
            fail_msg("to %s: %s", cases[i].request, text);
    }
    char page[64];
    size_t used;
    assert_int_equal(ff_http_get(&at, "/page.xml", 5.0, page, sizeof page, &used, message, sizeof message),
                     FF_ERR_SIZE);
    assert_non_null(strstr(message, "/page.xml is longer than 64 bytes"));
    char room[512];
    assert_int_equal(ff_http_get(&at, "/page.xml", 5.0, room, sizeof room, &used, message, sizeof message),
                     FF_OK);
    assert_int_equal(used, 4);
    assert_memory_equal(room, "<a/>", 4);
    char *endless = malloc(1023); /* as much as is read: no path of it is the page's */
    assert_non_null(endless);
    memset(endless, 'a', 1023);
    answer_to(&at, endless, 1023, text, sizeof text);
    free(endless);
    assert_true(strncmp(text, "HTTP/1.0 404 ", 13) == 0);
    assert_int_equal(ff_http_get(&at, "/page.xml", 0.0, room, sizeof room, &used, message, sizeof message),
                     FF_ERR_DEVICE); /* no time at all */
    assert_non_null(strstr(message, "no answer to HTTP GET"));
    ff_http_stop(server);
    ff_http_stop(NULL);
    assert_int_equal(ff_http_get(&at, "/page.xml", 1.0, room, sizeof room, &used, message, sizeof message),
                     FF_ERR_DEVICE);
    struct sockaddr_in all;
    ff_socket_address("255.255.255.255", 80, &all); /* TCP has no broadcast */
    assert_int_equal(ff_http_get(&all, "/", 1.0, room, sizeof room, &used, message, sizeof message),
                     FF_ERR_DEVICE);
    assert_non_null(strstr(message, "255.255.255.255 port 80: no answer"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_http_get),  cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_what_cannot_be_bound_is_said),
        cmocka_unit_test(test_datagrams), cmocka_unit_test(test_one_page)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
