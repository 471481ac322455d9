/* The page and Foxglove watch one loop together, over their sockets: what is said once reaches both, an order
 * is answered where it came from, and what the loop changed is seen by all. The protocol itself: tests/live.
 */
#include "live/live.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "text/clock.h"

#include "support.h"

#ifdef FF_HAVE_WEBSOCKETS

enum { PATIENCE_MS = 20000 };

static const char text[] =
    "name: f\ntime: {cycle: 0.004, duration: 1}\nsatellites: {a: {mass: 1, inertia: [1, 1, 1]}}\n";
static ff_scenario scenario;
static ff_live *live;
static unsigned char heard[1 << 20];

static void take(int fd, void *bytes, size_t n) {
    for (size_t got = 0; got < n;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        const ssize_t one = recv(fd, (char *)bytes + got, n - got, 0);
        assert_true(one > 0);
        got += (size_t)one;
    }
}

static int enter(void) {
    const char *url = ff_live_url(ff_live_next(live));
    int port = 0;
    char request[512], head[2048] = "";
    assert_int_equal(sscanf(url, "ws://127.0.0.1:%d/", &port), 1);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    assert_int_equal(inet_pton(AF_INET, "127.0.0.1", &at.sin_addr), 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    const int n =
        snprintf(request, sizeof request,
                 "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n",
                 port);
    assert_int_equal(send(fd, request, (size_t)n, MSG_NOSIGNAL), n);
    for (size_t got = 0; !strstr(head, "\r\n\r\n") && got + 1 < sizeof head; got++)
        take(fd, head + got, 1);
    assert_non_null(strstr(head, "101 "));
    return fd;
}

/* The next message, a zero behind it; its kind: 1 text, 2 binary. */
static int hear(int fd, size_t *size) {
    unsigned char head[2], more[8];
    int kind = 0;
    *size = 0;
    for (bool last = false; !last;) {
        take(fd, head, 2);
        last = head[0] & 0x80;
        kind = kind ? kind : head[0] & 0x0f;
        size_t n = head[1] & 0x7f;
        const size_t wide = n == 126 ? 2 : n == 127 ? 8 : 0;
        take(fd, more, wide);
        for (size_t i = 0; i < wide; i++)
            n = (i ? n << 8 : 0) | more[i];
        assert_true(*size + n < sizeof heard);
        take(fd, heard + *size, n);
        *size += n;
    }
    heard[*size] = 0;
    return kind;
}

static void say(int fd, int kind, const void *bytes, size_t n) {
    unsigned char frame[200] = {(unsigned char)(0x80 | kind), (unsigned char)(0x80 | n)};
    assert_true(n < 126);
    memcpy(frame + 6, bytes, n); /* a mask of zeros changes nothing */
    assert_int_equal(send(fd, frame, n + 6, MSG_NOSIGNAL), (ssize_t)n + 6);
}

static void say_text(int fd, const char *words) {
    say(fd, 1, words, strlen(words));
}

static void hear_words(int fd, const char *words) {
    size_t n;
    while (hear(fd, &n) != 1 || !strstr((const char *)heard, words)) {
    }
}

/* The next binary message of this kind. */
static size_t hear_op(int fd, int op) {
    size_t n;
    while (hear(fd, &n) != 2 || heard[0] != op) {
    }
    return n;
}

static void test_together(void **state) {
    (void)state;
    static ff_row row;
    const int fd = enter();
    hear_words(fd, "\"serverInfo\"");
    hear_words(fd, "\"advertise\"");
    hear_words(fd, "\"advertiseServices\"");
    say_text(fd, "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":7,\"channelId\":1}]}");
    say_text(fd, "{\"op\":\"getParameters\",\"parameterNames\":[],\"id\":\"a\"}");
    hear_words(fd, "\"value\":1,"); /* so the subscription was heard */
    row.k = 3;
    row.t = 0.012;
    row.body[0].satellite.attitude = ff_quat_identity();
    assert_true(ff_live_push(live, &row, NULL));
    assert_int_equal(ff_live_get_info(live).rows, 2); /* one for each */
    hear_op(fd, 2);
    const uint64_t stamp = UINT64_C(10012000000); /* 10 s before t = 0 the time of the stamps begins */
    assert_memory_equal(heard + 1, &stamp, 8);
    assert_true(hear_op(fd, 1) > 13);
    const uint32_t id = 7;
    assert_memory_equal(heard + 1, &id, 4);
    assert_memory_equal(heard + 5, &stamp, 8);
    /* an order, and its answer */
    const unsigned char call[] = {2, 1, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 'c', 'd', 'r'};
    say(fd, 2, call, sizeof call);
    ff_live_command command;
    const int64_t until = ff_clock_now() + INT64_C(1000000) * PATIENCE_MS;
    while (!ff_live_next_command(live, &command))
        assert_true(ff_clock_now() < until);
    assert_true(command.verb == FF_LIVE_HOLD && command.viewer >> 24 == 1);
    assert_true(ff_live_answer(live, &command, true, "held"));
    const size_t n = hear_op(fd, 3);
    assert_memory_equal(heard + 5, call + 5, 4);
    assert_true(n > 20 && heard[13 + 3 + 4] == 1 && strcmp((const char *)heard + n - 5, "held") == 0);
    /* without the token nothing is set; what the loop says was set is seen */
    say_text(fd, "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"gain\",\"value\":1.5}]}");
    hear_words(fd, "it needs the token");
    assert_false(ff_live_next_command(live, &command));
    say_text(fd, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[\"gain\"]}");
    say_text(fd, "{\"op\":\"getParameters\",\"parameterNames\":[\"gain\"],\"id\":\"b\"}");
    hear_words(fd, "\"id\":\"b\"");
    ff_live_set_parameter(live, 0, 1.75);
    hear_words(fd, "1.75");
    assert_false(ff_live_answer(live, &(ff_live_command){.viewer = 5u << 24}, true, "nobody's"));
    close(fd);
}

static int start(void **state) {
    (void)state;
    static ff_live_config config;
    char message[512], warnings[256];
    if (ff_scenario_parse("T", text, sizeof text - 1, NULL, &scenario, message, sizeof message, warnings,
                          sizeof warnings) != FF_OK)
        return -1;
    config = (ff_live_config){.mode = "run",
                              .scenario = &scenario,
                              .open = FF_LIVE_BIT(FF_LIVE_HOLD),
                              .guarded = FF_LIVE_BIT(FF_LIVE_SET),
                              .parameters = 1};
    config.parameter[0] = (ff_live_parameter){.name = "gain", .low = 0.5, .high = 2.0, .value = 1.0};
    const ff_live_doors doors = {.page = "127.0.0.1:0", .foxglove = "127.0.0.1:0", .control = true};
    if (ff_live_open(&config, &doors, &live, message, sizeof message) == FF_OK)
        return 0;
    print_message("%s\n", message);
    return -1;
}

static int stop(void **state) {
    (void)state;
    ff_live_stop(live);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_together)};
    return cmocka_run_group_tests(tests, start, stop);
}

#else

int main(void) {
    return 77;
}

#endif
