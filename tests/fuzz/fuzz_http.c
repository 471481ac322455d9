/* Any bytes to the live page's socket: requests, upgrades, WebSocket frames. Connections are parted by \0\n;
 * if the first byte is 255 each is made 300 times, so that places run out. In the bytes 59999 stands for
 * the port and 32 zeros for the token. Each connection comes to an end, and afterwards a viewer gets in. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/live.h"
#include "text/module.h"

#include "fuzz.h"

extern const unsigned char ff_live_page[];
extern const size_t ff_live_page_size;
const unsigned char ff_live_page[] = "<!--ff:policy default-src 'none'--><p>";
const size_t ff_live_page_size = sizeof ff_live_page - 1;

/* The module is linked to this program: the fuzzer sees into it. */
const void *ff_module_table(const char *name, char *message, size_t size) {
    (void)name;
    (void)message;
    (void)size;
    return ff_module_offer.table;
}

enum { MOST = 300, PATIENCE_MS = 8000 };

static ff_live *live;
static int port;

static void start(void) {
    static const char *const names[] = {"t [s]", "a.velocity.x [m/s]"};
    static ff_live_config config;
    char message[256];
    config = (ff_live_config){.address = "127.0.0.1:0",
                              .mode = "view",
                              .columns = 2,
                              .names = names,
                              .title = "t",
                              .end = 10,
                              .open = FF_LIVE_BIT(FF_LIVE_HOLD) | FF_LIVE_BIT(FF_LIVE_SEEK),
                              .guarded = FF_LIVE_BIT(FF_LIVE_SET),
                              .control = true,
                              .limits = 1,
                              .parameters = 1};
    config.limit[0] =
        (ff_live_limit){.name = "speed", .unit = "m/s", .limit = 5.0, .column = 1, .count = 1, .scale = 1};
    config.parameter[0] = (ff_live_parameter){.name = "gain", .low = 0.5, .high = 2.0, .value = 1.0};
    FUZZ_CHECK(ff_live_start(&config, &live, message, sizeof message) == FF_OK);
    port = atoi(strrchr(ff_live_url(live), ':') + 1);
    char folder[] = "/tmp/ff-fuzz-http-XXXXXX", path[64];
    FUZZ_CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fault.csv", folder);
    FILE *f = fopen(path, "w");
    FUZZ_CHECK(f && fputs("t\n", f) >= 0 && fclose(f) == 0);
    FUZZ_CHECK(ff_live_offer(live, folder, "fault.csv") == FF_OK);
    unlink(path);
    rmdir(folder);
}

/* From one address of this computer after another: a port of each is in use for a minute after its
 * connection. */
static int dial(void) {
    static uint32_t from;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const struct sockaddr_in own = {.sin_family = AF_INET,
                                    .sin_addr = {htonl(0x7f000002u + from++ % 65536u)}};
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
    FUZZ_CHECK(fd >= 0 && bind(fd, (const struct sockaddr *)&own, sizeof own) == 0);
    while (connect(fd, (const struct sockaddr *)&at, sizeof at) != 0 && errno != EISCONN)
        if (errno != EINTR && errno != EALREADY) { /* libFuzzer's own alarm interrupts */
            perror("connect");
            FUZZ_CHECK(false);
        }
    return fd;
}

/* Rows come, and orders are answered, as a loop does it. */
static void live_on(void) {
    static double t;
    ff_live_command command;
    t += 0.01;
    ff_live_push_values(live, (const double[]){t, t}, 0);
    ff_live_event(live, FF_LIVE_INFO, t, "an event");
    while (ff_live_next_command(live, &command))
        ff_live_answer(live, &command, true, "done");
}

/* Reads on; patient: until the server ends it, as it must once its caller has. */
static void drain(int fd, bool patient) {
    char bytes[4096];
    shutdown(fd, SHUT_WR);
    for (int waited = 0;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        live_on();
        const int ready = poll(&p, 1, 2);
        if (ready > 0 && recv(fd, bytes, sizeof bytes, 0) <= 0)
            break;
        waited += ready > 0 ? 0 : 2;
        if (waited > 2 && !patient)
            break;
        FUZZ_CHECK(waited < PATIENCE_MS);
    }
    close(fd);
}

static void check_viewer(void) {
    char text[512], head[16] = "";
    snprintf(
        text, sizeof text,
        "GET /?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nUpgrade: "
        "websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: freefloat\r\n\r\n",
        ff_live_token(live), port, port);
    const int fd = dial();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    FUZZ_CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) > 0);
    for (ssize_t got = 0, n; got<12; got += n> 0 ? n : 0) {
        const int ready = poll(&p, 1, PATIENCE_MS);
        FUZZ_CHECK(ready == 1 || (ready < 0 && errno == EINTR));
        n = recv(fd, head + got, (size_t)(12 - got), MSG_DONTWAIT);
        FUZZ_CHECK(n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
    }
    FUZZ_CHECK(strcmp(head, "HTTP/1.1 101") == 0);
    close(fd);
}

/* What stands for port and token becomes them: of the same length. */
static void fill_in(char *text, size_t n) {
    static const char zeros[] = "00000000000000000000000000000000";
    char digits[8];
    snprintf(digits, sizeof digits, "%05d", port);
    for (char *at; (at = memmem(text, n, "59999", 5));)
        memcpy(at, digits, 5);
    for (char *at; strcmp(ff_live_token(live), zeros) != 0 && (at = memmem(text, n, zeros, 32));)
        memcpy(at, ff_live_token(live), 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static unsigned calls;
    if (!live)
        start();
    if (port == 59999 || size < 1)
        return 0;
    char *text = malloc(size);
    memcpy(text, bytes, size);
    fill_in(text, size);
    int fd[MOST], open = 0;
    const int times = bytes[0] == 255 ? MOST : 1;
    for (size_t from = 1; from < size && open < MOST;) {
        const char *end = memmem(text + from, size - from, "\0\n", 2);
        const size_t n = end ? (size_t)(end - (text + from)) : size - from;
        for (int i = 0; i < times && open < MOST; i++) {
            fd[open] = dial();
            send(fd[open++], text + from, n, MSG_NOSIGNAL);
            if (i % 16 == 15)
                live_on();
        }
        from += n + 2;
    }
    calls++;
    while (open > 0)
        drain(fd[--open], calls % 64 == 0);
    if (calls % 64 == 1 || times > 1)
        check_viewer();
    free(text);
    return 0;
}
