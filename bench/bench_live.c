/* What viewers cost the loop: computing time of a cycle and of handing its row to the live page, without and
 * with viewers, in alternating seconds of one paced run at 1 kHz. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "bench.h"
#include "live/control.h"

enum { VIEWERS = 4, MOST = 200000 };

static const char scenario_text[] = "name: bench-live\n"
                                    "time: {cycle: 0.001, duration: 12}\n"
                                    "method: tdpa\n"
                                    "satellites:\n"
                                    "  client: {mass: 280, inertia: [18, 20, 22], velocity: [0.01, 0.015, "
                                    "0.02], angular_velocity: [0.01, 0.02, "
                                    "0.03], robot: {kind: delay, delay: 0.04}}\n"
                                    "contacts:\n"
                                    "  - {name: front, kind: wall, body: client, at: [0, 0, 0.03], normal: "
                                    "[0, 0, -1], stiffness: 2000, damping: 5}\n"
                                    "  - {name: back, kind: wall, body: client, at: [0, 0, -0.03], normal: "
                                    "[0, 0, 1], stiffness: 2000, damping: 5}\n";

typedef struct counts {
    double compute[2][MOST], push[2][MOST];
    int n[2];
    ff_live *live;
} counts;

static ff_status take(void *self, const ff_row *row) {
    counts *c = self;
    const int with = ff_live_get_info(c->live).viewers > 0;
    const double start = bench_now_ns();
    ff_live_push(c->live, row, NULL);
    const double took = bench_now_ns() - start;
    if (c->n[with] < MOST && !row->final) {
        c->compute[with][c->n[with]] = row->compute_ns;
        c->push[with][c->n[with]++] = took;
    }
    return FF_OK;
}

/* A viewer that takes all it is sent. */
static int join_as_viewer(int port) {
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    const struct timeval wait = {.tv_sec = 1};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    char ask[512];
    const int n =
        snprintf(ask, sizeof ask,
                 "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nOrigin: http://127.0.0.1:%d\r\nConnection: "
                 "Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                 "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: freefloat\r\n\r\n",
                 port, port);
    if (connect(s, (struct sockaddr *)&to, sizeof to) != 0 || write(s, ask, (size_t)n) != n) {
        close(s);
        return -1;
    }
    return s;
}

typedef struct crowd {
    int port;
    atomic_bool stop;
    atomic_long bytes;
} crowd;

static void *come_and_go(void *self) {
    crowd *c = self;
    while (!atomic_load(&c->stop)) {
        usleep(1000000);
        int s[VIEWERS];
        for (int i = 0; i < VIEWERS; i++)
            s[i] = join_as_viewer(c->port);
        for (const double end = bench_now_ns() + 1e9; bench_now_ns() < end && !atomic_load(&c->stop);)
            for (int i = 0; i < VIEWERS; i++) {
                static char buffer[1 << 16];
                const ssize_t got = s[i] >= 0 ? recv(s[i], buffer, sizeof buffer, 0) : 0;
                atomic_fetch_add(&c->bytes, got > 0 ? got : 0);
            }
        for (int i = 0; i < VIEWERS; i++)
            if (s[i] >= 0)
                close(s[i]);
    }
    return NULL;
}

static void line(const char *what, double *values, int n) {
    if (n == 0)
        return;
    bench_sort(values, n);
    printf("%-28s %9.0f %9.0f %9.0f %8d\n", what, values[n / 2], values[(int)(0.99 * n)], values[n - 1], n);
}

int main(void) {
    static ff_scenario scenario;
    static counts c;
    char message[512] = "", warnings[512];
    const ff_scenario_options none = {0};
    ff_live_control control;
    if (ff_scenario_parse("bench", scenario_text, sizeof scenario_text - 1, &none, &scenario, message,
                          sizeof message, warnings, sizeof warnings) < 0) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    const ff_status started = ff_live_control_start(
        &control, &scenario, &(ff_live_doors){.page = "127.0.0.1:0"}, message, sizeof message);
    if (started < 0) {
        fprintf(stderr, "bench_live: %s\n", message);
        return started == FF_ERR_UNSUPPORTED ? 0 : 1;
    }
    c.live = control.live;
    crowd people = {.port = atoi(strrchr(ff_live_url(control.live), ':') + 1)};
    pthread_t thread;
    pthread_create(&thread, NULL, come_and_go, &people);
    const ff_sink sink = {.self = &c, .row = take};
    const ff_run_options options = {.sinks = &sink,
                                    .count = 1,
                                    .timing = true,
                                    .between = ff_live_control_between,
                                    .between_user = &control};
    ff_run_result result;
    ff_run(&scenario, &options, &result);
    atomic_store(&people.stop, true);
    pthread_join(thread, NULL);
    const ff_live_info info = ff_live_get_info(control.live);
    printf("live page: %d viewers come and go every second, loop at 1 kHz\n", VIEWERS);
    printf("%-28s %9s %9s %9s %8s\n", "ns", "p50", "p99", "most", "cycles");
    line("compute, no viewer", c.compute[0], c.n[0]);
    line("compute, viewers", c.compute[1], c.n[1]);
    line("push of a row, no viewer", c.push[0], c.n[0]);
    line("push of a row, viewers", c.push[1], c.n[1]);
    printf("rows %llu, dropped %llu, frames %llu, sent %.1f MB\n", (unsigned long long)info.rows,
           (unsigned long long)info.dropped, (unsigned long long)info.frames,
           1e-6 * (double)atomic_load(&people.bytes));
    ff_live_control_stop(&control);
    return 0;
}
