/* The live page's server as a browser meets it, over its socket: the page and its headers, who is refused,
 * rows and events as they were pushed, commands with and without the token. The client is written here from
 * RFC 6455. */
#include "live/live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

#ifdef FF_HAVE_WEBSOCKETS

enum { PATIENCE_MS = 20000 }; /* never reached on a healthy server, however busy the computer */

static ff_live *live;
static int port;

static int dial(void) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    assert_int_equal(inet_pton(AF_INET, "127.0.0.1", &at.sin_addr), 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Exactly n bytes; false when the server closed before. */
static bool take(int fd, void *bytes, size_t n) {
    for (size_t got = 0; got < n;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        const ssize_t one = recv(fd, (char *)bytes + got, n - got, 0);
        if (one <= 0)
            return false;
        got += (size_t)one;
    }
    return true;
}

/* The answer's head, to its empty line. */
static void take_head(int fd, char *head, size_t size) {
    size_t n = 0;
    head[0] = 0;
    while (n + 1 < size && !strstr(head, "\r\n\r\n") && take(fd, head + n, 1))
        head[++n] = 0;
}

static int request(const char *text, char *head, size_t size) {
    const int fd = dial();
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    take_head(fd, head, size);
    return fd;
}

static int status_of(const char *method, const char *path, const char *host) {
    char text[1024], head[4096];
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\n%s%s\r\nContent-Length: 0\r\n\r\n", method, path,
             host ? "Host: " : "X: ", host ? host : "y");
    close(request(text, head, sizeof head));
    return strncmp(head, "HTTP/1.1 ", 9) == 0 ? atoi(head + 9) : 0;
}

/* Asks to be a viewer; the answer is not waited for. */
static int knock(const char *path, const char *origin) {
    char text[512];
    snprintf(text, sizeof text,
             "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Protocol: freefloat\r\n\r\n",
             path, port, origin ? "Origin: " : "X: ", origin ? origin : "y");
    const int fd = dial();
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
    return fd;
}

/* -1: not taken, *status is why. */
static int let_in(int fd, int *status) {
    char head[4096];
    take_head(fd, head, sizeof head);
    *status = strncmp(head, "HTTP/1.1 ", 9) == 0 ? atoi(head + 9) : 0;
    if (*status == 101) {
        /* RFC 6455, 1.3: the answer to this very key */
        assert_non_null(strstr(head, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        return fd;
    }
    close(fd);
    return -1;
}

static int upgrade_at(const char *path, const char *origin, int *status) {
    return let_in(knock(path, origin), status);
}

static int upgrade(const char *origin, int *status) {
    return upgrade_at("/", origin, status);
}

static int enter(void) {
    char origin[64];
    int status;
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    const int fd = upgrade(origin, &status);
    assert_int_equal(status, 101);
    return fd;
}

static void say(int fd, int opcode, const char *text, size_t n) {
    unsigned char frame[1200] = {(unsigned char)(0x80 | opcode)};
    size_t at = 2;
    if (n < 126) {
        frame[1] = (unsigned char)(0x80 | n);
    } else {
        frame[1] = 0x80 | 126;
        frame[2] = (unsigned char)(n >> 8);
        frame[3] = (unsigned char)n;
        at = 4;
    }
    at += 4; /* a mask of zeros changes nothing */
    memcpy(frame + at, text, n);
    assert_int_equal(send(fd, frame, at + n, MSG_NOSIGNAL), (ssize_t)(at + n));
}

static void order(int fd, const char *text) {
    say(fd, 1, text, strlen(text));
}

/* The next message: its opcode, its bytes with a zero after them; 8 or 0: closed. */
static int hear(int fd, char *bytes, size_t size, size_t *length) {
    unsigned char head[2], more[8];
    *length = 0;
    int first = 0;
    for (bool last = false; !last;) {
        if (!take(fd, head, 2))
            return 0;
        last = head[0] & 0x80;
        first = first ? first : head[0] & 0x0f;
        size_t n = head[1] & 0x7f;
        const size_t wide = n == 126 ? 2 : n == 127 ? 8 : 0;
        if (wide) {
            assert_true(take(fd, more, wide));
            n = 0;
            for (size_t i = 0; i < wide; i++)
                n = n << 8 | more[i];
        }
        assert_true(*length + n < size);
        assert_true(take(fd, bytes + *length, n));
        *length += n;
    }
    bytes[*length] = 0;
    return first;
}

static char heard[1 << 20];

/* The next text with these words; rows and other messages are passed over. */
static const char *hear_words(int fd, const char *words) {
    size_t n;
    for (;;) {
        const int kind = hear(fd, heard, sizeof heard, &n);
        if (kind == 0 || kind == 8)
            fail_msg("closed while waiting for %s", words);
        if (kind == 1 && strstr(heard, words))
            return heard;
    }
}

static void expect_closed(int fd) {
    size_t n;
    for (int kind = 1; kind != 0 && kind != 8;)
        kind = hear(fd, heard, sizeof heard, &n);
    close(fd);
}

static const char *const names[] = {"t [s]", "a.velocity.x [m/s]", "a.velocity.y [m/s]"};

static int start(void **state) {
    (void)state;
    static ff_live_config config;
    char message[256];
    config = (ff_live_config){.address = "localhost:0",
                              .mode = "view",
                              .columns = 3,
                              .names = names,
                              .title = "quotes \" and <tags>",
                              .begin = 0,
                              .end = 10,
                              .open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_SEEK),
                              .guarded = FF_LIVE_BIT(FF_LIVE_SET),
                              .control = true,
                              .limits = 1,
                              .parameters = 1};
    config.limit[0] =
        (ff_live_limit){.name = "speed", .unit = "m/s", .limit = 5.0, .column = 1, .count = 2, .scale = 1};
    config.parameter[0] = (ff_live_parameter){.name = "gain", .low = 0.5, .high = 2.0, .value = 1.0};
    if (ff_live_start(&config, &live, message, sizeof message) != FF_OK) {
        print_message("%s\n", message);
        return -1;
    }
    port = atoi(strrchr(ff_live_url(live), ':') + 1);
    return 0;
}

static int stop(void **state) {
    (void)state;
    ff_live_stop(live);
    return 0;
}

static void test_the_page_comes_whole_with_its_policy(void **state) {
    (void)state;
    char text[128], head[4096];
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", port);
    const int fd = request(text, head, sizeof head);
    assert_non_null(strstr(head, "200"));
    for (char *c = head; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
    assert_non_null(strstr(head, "content-security-policy: default-src 'none'"));
    assert_non_null(strstr(head, "frame-ancestors 'none'"));
    assert_non_null(strstr(head, "cache-control: no-store"));
    const char *length = strstr(head, "content-length: ");
    assert_non_null(length);
    const size_t size = (size_t)atol(length + 16);
    char *page = malloc(size + 1);
    assert_true(size > 100 && take(fd, page, size));
    page[size] = 0;
    assert_non_null(strstr(page, "</html>"));
    free(page);
    close(fd);
}

static void test_who_is_refused(void **state) {
    (void)state;
    char own[64], local[64];
    snprintf(own, sizeof own, "127.0.0.1:%d", port);
    snprintf(local, sizeof local, "localhost:%d", port);
    assert_int_equal(status_of("GET", "/", own), 200);
    assert_int_equal(status_of("GET", "/", local), 200);
    assert_int_equal(status_of("GET", "/", "evil.example"), 403); /* a name that was made to resolve here */
    assert_int_equal(status_of("GET", "/etc/passwd", own), 404);
    assert_int_equal(status_of("GET", "/favicon.ico", own), 204);
    assert_int_equal(status_of("POST", "/", own), 405);
    char longer[400];
    memset(longer, 'h', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_int_equal(status_of("GET", "/", longer), 403); /* longer than any name of ours */
    assert_int_not_equal(status_of("GET", "/", NULL), 200);
    int status;
    assert_int_equal(upgrade(NULL, &status), -1); /* not a browser's page */
    assert_int_not_equal(status, 101);
    assert_int_equal(upgrade("http://evil.example", &status), -1);
    assert_int_not_equal(status, 101);
    char secure[64];
    snprintf(secure, sizeof secure, "https://127.0.0.1:%d", port);
    assert_int_equal(upgrade(secure, &status), -1);
}

static void test_rows_and_events_arrive_as_pushed(void **state) {
    (void)state;
    const double first[] = {1.0, 0.6, 0.8}, last[] = {1.5, 6.0, 8.0};
    assert_true(ff_live_push_values(live, first, FF_LIVE_KEEP));
    const int fd = enter();
    const char *hello = hear_words(fd, "\"hello\"");
    assert_non_null(strstr(hello, "quotes \\\" and"));
    assert_non_null(strstr(hello, "a.velocity.y [m/s]"));
    assert_null(strstr(hello, ff_live_token(live))); /* the token is printed, never sent */
    ff_live_set_before(live, true);
    ff_live_event(live, FF_LIVE_INFO, -0.492, "earlier"); /* nobody knows yet how much */
    assert_non_null(strstr(hear_words(fd, "\"earlier\""), "\"t\":null"));
    assert_non_null(strstr(hear_words(fd, "\"before\":true"), "\"status\""));
    ff_live_set_before(live, false);
    ff_live_event(live, FF_LIVE_WARNING, 1.25, "look \"here\"");
    ff_live_set_phase(live, FF_LIVE_HELD);
    ff_live_set_state(live, "ARMED");
    ff_live_set_limit(live, 0, 4.5);
    ff_live_set_limit(live, 7, 1.0); /* there is none: nothing happens */
    assert_true(ff_live_push_values(live, last, FF_LIVE_KEEP));
    bool event = false, status = false, over = false, row = false;
    while (!event || !status || !over || !row) {
        size_t n;
        const int kind = hear(fd, heard, sizeof heard, &n);
        assert_true(kind == 1 || kind == 2);
        if (kind == 1) {
            event = event || strstr(heard, "look \\\"here\\\"");
            status =
                status || (strstr(heard, "\"held\"") && strstr(heard, "\"ARMED\"") && strstr(heard, "4.5"));
            over =
                over || (strstr(heard, "speed") && strstr(heard, "10")); /* |(6, 8)| m/s against its limit */
        } else {
            double head[2];
            memcpy(head, heard, sizeof head);
            assert_near(head[0], 1.0, 0.0); /* version */
            const size_t width = (size_t)head[1], rows = (n / sizeof(double) - 2) / width;
            assert_int_equal(n, (2 + rows * width) * sizeof(double));
            double *value = malloc(n);
            memcpy(value, heard + sizeof head, rows * width * sizeof(double));
            for (size_t i = 0; i < rows * width; i++) /* the three values of the last row, side by side */
                row = row ||
                      (i + 2 < rows * width && value[i] == 1.5 && value[i + 1] == 6.0 && value[i + 2] == 8.0);
            free(value);
        }
    }
    close(fd);
}

static void answer_all(bool done) {
    ff_live_command command;
    for (int i = 0; i < 4000; i++) {
        if (ff_live_next_command(live, &command)) {
            assert_true(ff_live_answer(live, &command, done, "so be it"));
            return;
        }
        usleep(5000);
    }
    fail_msg("no command came");
}

static void test_commands_with_and_without_the_token(void **state) {
    (void)state;
    const int fd = enter();
    char text[160];
    order(fd, "1 hold");
    answer_all(true);
    const char *answer = hear_words(fd, "\"id\":1,");
    assert_non_null(strstr(answer, "\"done\":true"));
    assert_non_null(strstr(answer, "so be it"));
    static const struct {
        const char *order, *answer;
    } refused[] = {{"2 set gain 1.5", "needs the token"},
                   {"3 set gain 1.5 token=0123456789abcdef0123456789abcdef", "wrong token"},
                   {"4 stop", "stop is not offered here"},
                   {"5 seek nowhere", "a number between"},
                   {"6 seek 1 2", "too many words"},
                   {"x hold", "not a command"},
                   {"8 dance", "not a command"},
                   {"9", "not a command"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        order(fd, refused[i].order);
        assert_non_null(strstr(hear_words(fd, refused[i].answer), "\"done\":false"));
    }
    static const struct {
        const char *order, *answer;
    } set[] = {{"11 set gain 7", "a number between 0.5 and 2"}, {"12 set pain 1", "no such parameter"}};
    for (size_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s token=%s", set[i].order, ff_live_token(live));
        order(fd, text);
        hear_words(fd, set[i].answer);
    }
    snprintf(text, sizeof text, "13 set gain 1.5 token=%s", ff_live_token(live));
    order(fd, text);
    ff_live_command command = {.verb = FF_LIVE_VERBS};
    for (int i = 0; i < 4000 && !ff_live_next_command(live, &command); i++)
        usleep(5000);
    assert_int_equal(command.verb, FF_LIVE_SET);
    assert_int_equal(command.parameter, 0);
    assert_near(command.value, 1.5, 0.0);
    assert_true(ff_live_answer(live, &command, false, "too late"));
    hear_words(fd, "too late");
    close(fd);
}

/* Rows of one message; its last time in *t. 0: a text. */
static size_t hear_rows(int fd, double *t) {
    size_t n;
    const int kind = hear(fd, heard, sizeof heard, &n);
    assert_true(kind == 1 || kind == 2);
    if (kind == 1)
        return 0;
    double head[2], last[3];
    memcpy(head, heard, sizeof head);
    memcpy(last, heard + n - sizeof last, sizeof last);
    *t = last[0];
    return (n / sizeof(double) - 2) / (size_t)head[1];
}

/* Rows that come faster than they are shown: a viewer gets the newest 64 of them; a new one the past, every
 * second row of it, the newest among them. After a jump only what follows it counts, and the last 128 events.
 */
static void test_a_slow_viewer_gets_the_newest(void **state) {
    (void)state;
    const int fd = enter();
    double row[3] = {2.0, 0.1, 0.1}, t = 0.0;
    hear_words(fd, "\"hello\"");
    assert_true(ff_live_push_values(live, row, FF_LIVE_KEEP | FF_LIVE_RESTART));
    while (hear_rows(fd, &t) == 0 || t != 2.0) {
    }
    size_t largest = 0;
    for (int i = 0; i < 400; i++) {
        row[0] = 3.0 + 0.01 * i;
        assert_true(ff_live_push_values(live, row, FF_LIVE_KEEP));
    }
    while (t != row[0]) {
        const size_t rows = hear_rows(fd, &t);
        largest = rows > largest ? rows : largest;
    }
    assert_in_range(largest, 1, 64);
    const int second = enter();
    size_t rows = 0;
    largest = 0;
    for (t = 0.0; t != row[0];) { /* the past comes in pieces */
        const size_t piece = hear_rows(second, &t);
        largest = piece > largest ? piece : largest;
        rows += piece;
    }
    assert_int_equal(rows, 201); /* of 401 since the jump */
    assert_in_range(largest, 1, 64);
    for (int i = 0; i < 200; i++)
        while (!ff_live_event(live, FF_LIVE_INFO, 7.0, i < 199 ? "many" : "the last"))
            usleep(2000);
    hear_words(second, "the last");
    const int third = enter();
    const char *first = hear_words(third, "\"event\""), *number = strstr(first, "\"number\":");
    assert_non_null(number);
    const long from = atol(number + 9), to = atol(strstr(hear_words(third, "the last"), "\"number\":") + 9);
    assert_int_equal(to - from, 127);
    row[0] = 0.5; /* back in time: a viewer who is there is shown that it restarts, and no event of before */
    assert_true(ff_live_push_values(live, row, 0));
    while (t != 0.5)
        hear_rows(third, &t);
    const int fourth = enter();
    for (t = 0.0; t != 0.5;) {
        hear_rows(fourth, &t);
        assert_null(strstr(heard, "the last"));
    }
    close(fd);
    close(second);
    close(third);
    close(fourth);
}

static int patient; /* a viewer whose commands nobody answers */
static ff_claim asked[8];

static void test_commands_that_wait_are_bounded(void **state) {
    (void)state;
    const int other = enter(); /* its answers are its own */
    patient = enter();
    for (int i = 0; i < 9; i++) {
        char text[32];
        snprintf(text, sizeof text, "%d hold", 20 + i);
        order(patient, text);
    }
    assert_non_null(strstr(hear_words(patient, "\"id\":28,"), "too many commands wait for the loop"));
    ff_live_command command;
    for (int i = 0; i < 8; i++) {
        while (!ff_live_next_command(live, &command))
            usleep(2000);
        assert_int_equal(command.id, 20 + i);
        asked[i] = command.claim;
        if (i == 5) /* it is done, and its answer never comes */
            assert_true(ff_claim_take(command.claim));
        if (i == 1) /* to one that does not exist, and to a command that it never gave */
            assert_true(ff_live_answer(live, &(ff_live_command){.viewer = 999, .id = 21}, true, "nobody"));
        if (i == 2)
            assert_true(
                ff_live_answer(live, &(ff_live_command){.viewer = command.viewer, .id = 99}, true, "never"));
        if (i == 3)
            assert_true(ff_live_answer(live, &command, true, "third"));
    }
    hear_words(patient, "third");
    close(other);
}

static void test_a_loop_that_does_not_answer_is_reported(void **state) {
    (void)state;
    ff_live_command command;
    order(patient, "29 hold"); /* which waits in the queue */
    for (int i = 0, lost = 0; i < 8;
         i++) { /* after three seconds, each of the others; the taken one after six */
        const char *text = hear_words(patient, "the loop ");
        assert_non_null(strstr(text, "\"done\":false"));
        if (strstr(text, "\"id\":25,"))
            assert_true(lost++ == 0 && strstr(text, "the loop took it, but its answer was lost"));
        else
            assert_non_null(strstr(text, "the loop did not answer: the order is void"));
    }
    for (int i = 0; i < 8;
         i++) /* and none of them is done later, wherever it was then; the third was answered */
        assert_int_equal(ff_claim_take(asked[i]), i == 3);
    assert_false(ff_live_next_command(live, &command));
    close(patient);
}

/* In pieces, as RFC 6455 allows: one message. */
static void test_a_message_may_come_in_pieces(void **state) {
    (void)state;
    const int fd = enter();
    const unsigned char first[] = {0x01, 0x80 | 2, 0, 0, 0, 0, '3', '1'},
                        last[] = {0x80, 0x80 | 5, 0, 0, 0, 0, ' ', 'h', 'o', 'l', 'd'};
    assert_int_equal(send(fd, first, sizeof first, MSG_NOSIGNAL), (ssize_t)sizeof first);
    assert_int_equal(send(fd, last, sizeof last, MSG_NOSIGNAL), (ssize_t)sizeof last);
    answer_all(true);
    assert_non_null(strstr(hear_words(fd, "\"id\":31,"), "so be it"));
    close(fd);
}

static void test_who_misbehaves_is_closed(void **state) {
    (void)state;
    int fd = enter();
    for (int i = 0; i < 5; i++)
        order(fd, "1 set gain 1 token=0");
    expect_closed(fd); /* five wrong tokens */
    fd = enter();
    say(fd, 2, "binary", 6);
    expect_closed(fd);
    fd = enter();
    char text[600];
    memset(text, 'x', sizeof text);
    say(fd, 1, text, sizeof text); /* longer than any command */
    expect_closed(fd);
}

/* Who says something that is answered by nothing, in whatever words, has three seconds. */
static void test_who_asks_for_nothing_is_closed(void **state) {
    (void)state;
    static const char *const words[] = {"",
                                        "G",
                                        "CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n",
                                        "CONNECT / HTTP/1.1\r\n",
                                        "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n",
                                        "\x16\x03\x01\x02"};
    int fd[sizeof words / sizeof *words];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fd[i] = dial();
        send(fd[i], words[i], strlen(words[i]), MSG_NOSIGNAL);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char c;
        while (take(fd[i], &c, 1)) /* whatever is answered; then it ends */
            ;
        close(fd[i]);
    }
}

static int enter_as_operator(void) {
    char origin[64], path[64];
    int status;
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    snprintf(path, sizeof path, "/?token=%s", ff_live_token(live));
    const int fd = upgrade_at(path, origin, &status);
    assert_true(fd >= 0);
    hear_words(fd, "\"hello\"");
    return fd;
}

/* Whether the server has closed this connection, without reading it. */
static bool was_closed(int fd) {
    struct pollfd gone = {.fd = fd, .events = POLLRDHUP};
    return poll(&gone, 1, 0) == 1;
}

/* One reads and is silent, one does not read, one asks on and on and does not read, one of these with the
 * token: who does not read is closed (after five seconds in which it takes nothing), who reads stays. */
static void test_who_does_not_read_is_closed(void **state) {
    (void)state;
    enum { READER, SILENT, ASKING, OPERATOR, COUNT };
    int fd[COUNT];
    for (int i = 0; i < COUNT; i++) /* a window made smaller now would hide the reset from its owner */
        fd[i] = i == OPERATOR ? enter_as_operator() : enter();
    char frames[40 * 7];
    for (int i = 0; i < 40; i++)
        memcpy(frames + 7 * i, "\x81\x81\0\0\0\0x", 7);
    double row[3] = {50.0, 1, 2};
    static char bytes[1 << 16];
    size_t at = 0;
    for (int ms = 0; !was_closed(fd[SILENT]) || !was_closed(fd[ASKING]) || !was_closed(fd[OPERATOR]); ms++) {
        if (ms == 3 * PATIENCE_MS)
            fail_msg("closed: silent %d, asking %d, operator %d", was_closed(fd[SILENT]),
                     was_closed(fd[ASKING]), was_closed(fd[OPERATOR]));
        for (int i = 0; i < 8; i++) {
            row[0] += 0.001;
            ff_live_push_values(live, row, FF_LIVE_KEEP);
        }
        const ssize_t n = send(fd[ASKING], frames + at, sizeof frames - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        at = (at + (size_t)(n > 0 ? n : 0)) % sizeof frames;
        while (recv(fd[READER], bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
        }
        usleep(1000);
    }
    assert_false(was_closed(fd[READER]));
    assert_true(ff_live_push_values(live, row, FF_LIVE_RESTART)); /* no long past for those who come next */
    for (int i = 0; i < COUNT; i++)
        close(fd[i]);
}

static void obeyed(int fd) {
    char text[80];
    snprintf(text, sizeof text, "5 set gain 1.5 token=%s", ff_live_token(live));
    order(fd, text);
    answer_all(true);
    hear_words(fd, "\"id\":5");
}

/* As many silent viewers as there are places, then a dozen more: those with the token stay and are obeyed,
 * and who comes finds a place. */
static void test_silent_viewers_keep_nobody_out(void **state) {
    (void)state;
    for (int i = 0; i < 4000 && ff_live_get_info(live).viewers > 0; i++)
        usleep(5000); /* those of before are gone */
    enum { MORE = 12 };
    int fd[FF_LIVE_VIEWERS + MORE];
    const int early = enter_as_operator();
    char origin[64];
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    for (int from = 0, to; from < FF_LIVE_VIEWERS + MORE - 1; from = to) { /* some at a time */
        to = from + 16 < FF_LIVE_VIEWERS + MORE - 1 ? from + 16 : FF_LIVE_VIEWERS + MORE - 1;
        for (int i = from; i < to; i++)
            fd[i] = knock("/", origin);
        for (int i = from, status; i < to; i++) {
            assert_int_equal(let_in(fd[i], &status), fd[i]);
            assert_int_equal(status, 101);
        }
        hear_words(fd[from], "\"hello\"");
    }
    assert_int_equal(ff_live_get_info(live).viewers, FF_LIVE_VIEWERS);
    const int late = enter_as_operator();
    obeyed(early);
    obeyed(late);
    int left = 0;
    for (int i = 0; i < FF_LIVE_VIEWERS + MORE - 1; i++) {
        char c;
        while (recv(fd[i], &c, 1, MSG_DONTWAIT) > 0)
            ;
        left += recv(fd[i], &c, 1, MSG_DONTWAIT) == 0;
    }
    assert_int_equal(left, MORE + 1); /* whose places were taken */
    for (int i = 0; i < FF_LIVE_VIEWERS + MORE - 1; i++)
        close(fd[i]);
    close(early);
    close(late);
}

/* Connections that never say anything, more than the server has places for them. */
static void test_idle_connections_keep_nobody_out(void **state) {
    (void)state;
    enum { IDLE = 300 };
    int fd[IDLE];
    for (int i = 0; i < IDLE; i++)
        fd[i] = dial();
    char own[64];
    snprintf(own, sizeof own, "127.0.0.1:%d", port);
    assert_int_equal(status_of("GET", "/", own), 200);
    const int operates = enter_as_operator();
    obeyed(operates);
    for (int i = 0; i < IDLE; i++) /* each is closed, by the next one or after a time */
        expect_closed(fd[i]);
    close(operates);
}

/* A flood: many silent connections, and others that come as fast as the system gives them, some silent, some
 * with half a request, some that ask for the page and do not read it. */
static atomic_bool flooding;
static atomic_int floods;

static void *flood(void *unused) {
    enum { OPEN = 300 };
    int fd[OPEN];
    char page[128];
    (void)unused;
    snprintf(page, sizeof page, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", port);
    const char *const words[] = {"", "GET / HT", page};
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    for (int i = 0; i < OPEN; i++)
        fd[i] = -1;
    for (int n = 0; atomic_load(&flooding); n++) {
        int *f = &fd[n % OPEN];
        if (*f >= 0) {
            const struct linger at_once = {.l_onoff = 1}; /* else the system's ports run out */
            setsockopt(*f, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
            close(*f);
        }
        *f = socket(AF_INET, SOCK_STREAM, 0);
        if (*f >= 0 && connect(*f, (const struct sockaddr *)&at, sizeof at) == 0) {
            send(*f, words[n % 3], strlen(words[n % 3]), MSG_NOSIGNAL);
            atomic_fetch_add(&floods, 1);
        }
    }
    for (int i = 0; i < OPEN; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    return NULL;
}

/* False: the connection was closed before all of it had come. */
static bool load_page(void) {
    char text[128], head[4096];
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", port);
    const int fd = dial();
    bool whole = send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
    if (whole)
        take_head(fd, head, sizeof head);
    const char *length = whole ? strcasestr(head, "content-length: ") : NULL;
    const size_t size = length ? (size_t)atol(length + 16) : 0;
    char *page = malloc(size + 1);
    whole = size > 100 && take(fd, page, size);
    free(page);
    close(fd);
    return whole;
}

static void test_a_flood_keeps_no_operator_out(void **state) {
    (void)state;
    enum { LOADS = 5, IDLE = 400 };
    pthread_t thread[2];
    int fd[IDLE], tries = 0;
    for (int i = 0; i < IDLE; i++)
        fd[i] = dial();
    atomic_store(&flooding, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, flood, NULL), 0);
    for (int loaded = 0; loaded < LOADS; tries++)
        loaded += load_page();
    char origin[64], path[64];
    snprintf(origin, sizeof origin, "http://127.0.0.1:%d", port);
    snprintf(path, sizeof path, "/?token=%s", ff_live_token(live));
    int operates = -1, knocks = 0;
    for (int status; operates < 0; knocks++)
        operates = upgrade_at(path, origin, &status);
    hear_words(operates, "\"hello\"");
    obeyed(operates);
    atomic_store(&flooding, false);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    print_message("beside %d connections: %d pages in %d tries, in as operator at the %d. knock\n",
                  atomic_load(&floods), LOADS, tries, knocks);
    assert_true(tries <= 2 * LOADS &&
                knocks <= 3); /* one whose sender is held up between connecting and asking is silent */
    for (int i = 0; i < IDLE; i++)
        close(fd[i]);
    close(operates);
}

/* A crowd that reads, and among it those that never read, send what is too large, come and go, or ask for
 * HTTP/2, while rows are pushed: each of the operator's orders is confirmed. Long form: 200, 50 of them
 * hostile. */
static int come_as_hostile(int kind) {
    char text[512];
    int fd = -1;
    if (kind % 4 == 0) /* silent before any request */
        return dial();
    if (kind % 4 == 1) { /* another protocol */
        fd = dial();
        snprintf(text, sizeof text,
                 "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", port);
        send(fd, text, strlen(text), MSG_NOSIGNAL);
        return fd;
    }
    fd = enter();        /* a viewer that never reads ... */
    if (kind % 4 == 2) { /* ... and sends what is too large */
        char large[600];
        memset(large, 'x', sizeof large);
        say(fd, 1, large, sizeof large);
    }
    return fd;
}

static void test_a_hostile_crowd_does_not_delay_orders(void **state) {
    (void)state;
    const int good = test_count(24, 150), hostile = test_count(8, 50), orders = test_count(5, 200);
    int crowd[150], foe[50];
    for (int i = 0; i < good; i++)
        crowd[i] = enter();
    for (int i = 0; i < hostile; i++)
        foe[i] = come_as_hostile(i);
    const int operates = enter_as_operator();
    double worst = 0.0;
    static char bytes[1 << 16];
    for (int k = 0; k < orders; k++) {
        char text[80], answer[24];
        struct timespec from, now;
        snprintf(text, sizeof text, "%d set gain 1.5 token=%s", 100 + k, ff_live_token(live));
        snprintf(answer, sizeof answer, "\"id\":%d", 100 + k);
        clock_gettime(CLOCK_MONOTONIC, &from);
        order(operates, text);
        for (bool confirmed = false; !confirmed;) {
            static double t = 100.0;
            const double row[3] = {t += 0.001, 1, 2};
            ff_live_push_values(live, row, 0);
            ff_live_command command;
            if (ff_live_next_command(live, &command))
                assert_true(ff_live_answer(live, &command, true, "so be it"));
            for (int i = 0; i < good; i++)
                recv(crowd[i], bytes, sizeof bytes, MSG_DONTWAIT);
            struct pollfd ready = {.fd = operates, .events = POLLIN};
            while (!confirmed && poll(&ready, 1, 1) == 1) {
                size_t n;
                const int kind = hear(operates, heard, sizeof heard, &n);
                assert_true(kind == 1 || kind == 2); /* never closed */
                confirmed = kind == 1 && strstr(heard, answer);
            }
            clock_gettime(CLOCK_MONOTONIC, &now);
            const double took =
                (double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec);
            worst = took > worst ? took : worst;
            if (took > 1e-3 * PATIENCE_MS)
                fail_msg("order %d was not confirmed within %g s", k, took);
        }
        const int n = k % hostile; /* one leaves, another comes */
        close(foe[n]);
        foe[n] = come_as_hostile(n);
    }
    print_message("%d orders beside %d viewers and %d hostile: the slowest confirmed after %.0f ms\n", orders,
                  good, hostile, 1e3 * worst);
    for (int i = 0; i < good; i++)
        close(crowd[i]);
    for (int i = 0; i < hostile; i++)
        close(foe[i]);
    close(operates);
}

/* More than get something in one tick: each gets all rows, in turn, several in a message. */
static void test_many_viewers_share_the_turns(void **state) {
    (void)state;
    enum { MANY = 72 };
    int fd[MANY];
    double t[MANY] = {0}, row[3] = {200.0, 1, 2};
    for (int i = 0; i < MANY; i++)
        fd[i] = enter();
    bool several = false;
    while (!several) { /* a server that gave each of them each row by itself would never end this */
        row[0] += 0.01;
        ff_live_push_values(live, row, 0);
        for (int i = 0; i < MANY; i++) {
            struct pollfd ready = {.fd = fd[i], .events = POLLIN};
            while (poll(&ready, 1, i == 0 ? 4 : 0) == 1) {
                const double before = t[i];
                const size_t rows = hear_rows(fd[i], &t[i]);
                assert_true(rows == 0 || t[i] > before);
                several = several || (before > 200.0 && rows > 1 && rows < 64);
            }
        }
    }
    row[0] = 900.0;
    assert_true(ff_live_push_values(live, row, FF_LIVE_KEEP));
    for (int i = 0; i < MANY; i++) {
        while (t[i] != 900.0)
            hear_rows(fd[i], &t[i]);
        close(fd[i]);
    }
}

/* Orders in a rush are heard some at a time; each is answered to who reads, in order. */
static void test_a_rush_of_orders_is_answered(void **state) {
    (void)state;
    enum { RUSH = 100 };
    static char rush[RUSH * 24];
    size_t used = 0;
    for (int k = 0; k < RUSH; k++) {
        const int n = snprintf(rush + used + 6, 16, "%d none", 1000 + k);
        memcpy(rush + used, (const char[]){(char)0x81, (char)(0x80 | n), 0, 0, 0, 0}, 6);
        used += 6 + (size_t)n;
    }
    const int fd = enter();
    assert_int_equal(send(fd, rush, used, MSG_NOSIGNAL), (ssize_t)used);
    for (int k = 0; k < RUSH; k++) {
        char id[24];
        snprintf(id, sizeof id, "\"id\":%d", 1000 + k);
        assert_non_null(strstr(hear_words(fd, "\"answer\""), id));
    }
    close(fd);
}

/* Nothing but HTTP/1.1 and WebSockets, and an empty answer is empty. */
static void test_no_other_protocol_is_spoken(void **state) {
    (void)state;
    char text[512], head[4096], c;
    snprintf(text, sizeof text,
             "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
             "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\nOrigin: http://127.0.0.1:%d\r\n\r\n",
             port, port);
    close(request(text, head, sizeof head));
    assert_null(strstr(head, " 101 "));
    int fd = request("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", head, sizeof head);
    assert_non_null(strstr(head, " 403 ")); /* in words of HTTP/1, no frame */
    close(fd);
    snprintf(text, sizeof text,
             "GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", port);
    fd = request(text, head, sizeof head);
    assert_non_null(strstr(head, " 204 "));
    assert_false(take(fd, &c, 1));
    close(fd);
}

static void test_an_address_that_cannot_be_served(void **state) {
    (void)state;
    static ff_live_config config;
    static const struct {
        const char *address;
        ff_status status;
    } cases[] = {{"8080", FF_ERR_ARGUMENT},
                 {"127.0.0.1:", FF_ERR_ARGUMENT},
                 {"127.0.0.1:70000", FF_ERR_ARGUMENT},
                 {"127.0.0.1:80x", FF_ERR_ARGUMENT},
                 {":80", FF_ERR_ARGUMENT},
                 {"not.a.host.name.at.all:80", FF_ERR_ARGUMENT},
                 {"127.0.0.1:-1", FF_ERR_ARGUMENT},
                 {"127.0.0.1x:80", FF_ERR_ARGUMENT},
                 {"256.0.0.1:80", FF_ERR_ARGUMENT},
                 {"127.256.0.1:80", FF_ERR_ARGUMENT},
                 {"127.0.256.1:80", FF_ERR_ARGUMENT},
                 {"127.0.0.256:80", FF_ERR_ARGUMENT},
                 {"a.name.that.is.longer.than.any.address.of.this.machine.could.ever.be:80", FF_ERR_ARGUMENT},
                 {"0.0.0.0:80", FF_ERR_ARGUMENT},  /* every address: anybody could call */
                 {"192.0.2.1:80", FF_ERR_DEVICE}}; /* RFC 5737: never this machine's */
    char message[256], taken[64];
    ff_live *other = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        config = (ff_live_config){.address = cases[i].address, .mode = "view", .columns = 1, .names = names};
        assert_int_equal(ff_live_start(&config, &other, message, sizeof message), cases[i].status);
        assert_null(other);
        assert_int_not_equal(message[0], 0);
    }
    snprintf(taken, sizeof taken, "127.0.0.1:%d", port);
    config = (ff_live_config){.address = taken, .mode = "view", .columns = 1, .names = names};
    assert_int_equal(ff_live_start(&config, &other, message, sizeof message), FF_ERR_DEVICE);
    assert_non_null(strstr(message, "cannot be listened on"));
    ff_live_stop(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_page_comes_whole_with_its_policy),
        cmocka_unit_test(test_who_is_refused),
        cmocka_unit_test(test_rows_and_events_arrive_as_pushed),
        cmocka_unit_test(test_commands_with_and_without_the_token),
        cmocka_unit_test(test_commands_that_wait_are_bounded),
        cmocka_unit_test(test_a_message_may_come_in_pieces),
        cmocka_unit_test(test_a_slow_viewer_gets_the_newest),
        cmocka_unit_test(test_who_misbehaves_is_closed),
        cmocka_unit_test(test_who_asks_for_nothing_is_closed),
        cmocka_unit_test(test_a_loop_that_does_not_answer_is_reported),
        cmocka_unit_test(test_who_does_not_read_is_closed),
        cmocka_unit_test(test_silent_viewers_keep_nobody_out),
        cmocka_unit_test(test_idle_connections_keep_nobody_out),
        cmocka_unit_test(test_a_flood_keeps_no_operator_out),
        cmocka_unit_test(test_a_hostile_crowd_does_not_delay_orders),
        cmocka_unit_test(test_many_viewers_share_the_turns),
        cmocka_unit_test(test_a_rush_of_orders_is_answered),
        cmocka_unit_test(test_no_other_protocol_is_spoken),
        cmocka_unit_test(test_an_address_that_cannot_be_served),
    };
    return cmocka_run_group_tests(tests, start, stop);
}

#else

int main(void) {
    print_message("left out: this build has no libwebsockets\n");
    return 77;
}

#endif
