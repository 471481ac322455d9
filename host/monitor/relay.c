/* The monitor on two sockets: telegrams from the controller to the loop, answers back, each judged in
 * between. One thread, nothing allocated. */
#include "monitor/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "127.0.0.1:59152" */
static bool address_of(const char *text, struct sockaddr_in *address) {
    char host[32];
    const char *colon = strrchr(text, ':');
    if (!colon || (size_t)(colon - text) >= sizeof host)
        return false;
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    char *end;
    const unsigned long port = strtoul(colon + 1, &end, 10);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return *end == '\0' && colon[1] && port >= 1 && port <= 65535 &&
           inet_pton(AF_INET, host, &address->sin_addr) == 1;
}

static bool same(const struct sockaddr_in *a, const struct sockaddr_in *b) {
    return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

typedef struct relay {
    ff_monitor *m;
    const ff_relay_options *options;
    int outer, inner; /* towards the controller, towards the loop */
    struct sockaddr_in controller, loop;
    bool known;    /* the controller */
    bool reported; /* the cause */
    bool waits;    /* for the loop's answer */
    double deadline, last;
} relay;

static void note(relay *r, const char *line) {
    if (r->options->note)
        r->options->note(r->options->user, line);
}

static void to_controller(relay *r, const char *bytes, size_t size) {
    (void)!sendto(r->outer, bytes, size, 0, (const struct sockaddr *)&r->controller, sizeof r->controller);
    r->waits = false;
}

/* The monitor's own answer, if it has taken over. */
static void answer_instead(relay *r) {
    if (r->m->cause == FF_MONITOR_FINE)
        return;
    char bytes[FF_MONITOR_SIZE], text[256];
    const size_t size = ff_monitor_stop(r->m, bytes, sizeof bytes);
    if (size > 0)
        to_controller(r, bytes, size);
    r->waits = false;
    if (!r->reported) { /* after the answer: it must not be late */
        r->reported = true;
        ff_monitor_text(r->m, text, sizeof text);
        note(r, text);
    }
}

static void from_controller(relay *r) {
    char bytes[FF_MONITOR_SIZE];
    struct sockaddr_in from = {0};
    socklen_t length = sizeof from;
    const ssize_t size =
        recvfrom(r->outer, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
    if (size <= 0 || (r->known && !same(&from, &r->controller)))
        return;
    if (!ff_monitor_telegram(r->m, bytes, (size_t)size))
        return;
    if (!r->known)
        note(r, "a controller sends; answers are relayed while they keep the limits");
    r->controller = from;
    r->known = true;
    r->last = now();
    (void)!send(r->inner, bytes, (size_t)size, 0);
    r->waits = true;
    r->deadline = r->last + r->options->patience;
    answer_instead(r);
}

static void from_loop(relay *r) {
    char bytes[FF_MONITOR_SIZE];
    const ssize_t size = recv(r->inner, bytes, sizeof bytes, MSG_DONTWAIT);
    if (size <= 0)
        return;
    if (ff_monitor_answer(r->m, bytes, (size_t)size))
        to_controller(r, bytes, (size_t)size);
    else if (r->known)
        answer_instead(r);
}

/* One turn: whatever comes first of a datagram, the deadline and a tenth of a second. */
static void turn(relay *r) {
    double left = r->waits ? r->deadline - now() : 0.1;
    if (left > 0.0) {
        struct pollfd at[2] = {{.fd = r->inner, .events = POLLIN}, {.fd = r->outer, .events = POLLIN}};
        left = left < 0.1 ? left : 0.1;
        const struct timespec patience = {.tv_nsec = (long)(left * 1e9)};
        if (ppoll(at, 2, &patience, NULL) > 0) {
            if (at[0].revents)
                from_loop(r);
            if (at[1].revents)
                from_controller(r);
            return;
        }
    }
    if (r->waits && now() >= r->deadline) {
        r->waits = false;
        ff_monitor_silence(r->m);
        answer_instead(r);
    }
}

static int socket_for(const struct sockaddr_in *at, bool bound, char *message, size_t size) {
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const struct sockaddr *address = (const struct sockaddr *)at;
    if (fd >= 0 && (bound ? bind(fd, address, sizeof *at) : connect(fd, address, sizeof *at)) == 0)
        return fd;
    char text[INET_ADDRSTRLEN];
    snprintf(message, size, "UDP %s:%u: %s", inet_ntop(AF_INET, &at->sin_addr, text, sizeof text),
             ntohs(at->sin_port), strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

ff_status ff_relay_run(ff_monitor *monitor, const ff_relay_options *options, char *message, size_t size) {
    relay r = {.m = monitor, .options = options, .inner = -1};
    struct sockaddr_in listen;
    if (!(options->patience > 0.0)) {
        snprintf(message, size, "patience is %g s, it must be above 0", options->patience);
        return FF_ERR_ARGUMENT;
    }
    if (!address_of(options->listen, &listen) || !address_of(options->loop, &r.loop)) {
        snprintf(message, size, "%s is not ADDRESS:PORT",
                 address_of(options->listen, &listen) ? options->loop : options->listen);
        return FF_ERR_ARGUMENT;
    }
    r.outer = socket_for(&listen, true, message, size);
    r.inner = r.outer >= 0 ? socket_for(&r.loop, false, message, size) : -1;
    if (r.inner < 0) {
        if (r.outer >= 0)
            close(r.outer);
        return FF_ERR_DEVICE;
    }
    char line[256];
    snprintf(line, sizeof line,
             "listens at %s for the controller, passes on to the loop at %s; silent for %g ms: it stops",
             options->listen, options->loop, 1e3 * options->patience);
    note(&r, line);
    for (;;) {
        turn(&r);
        const bool asked = options->stop && *options->stop,
                   over = r.known && now() - r.last >= (monitor->ended ? 0.1 : options->idle);
        if (asked)
            ff_monitor_end(monitor);
        if (asked && (!r.known || !monitor->moves || monitor->ended || over))
            break;
        if (!over)
            continue;
        note(&r, "the controller has ended");
        r.known = false;
        if (options->once || monitor->cause != FF_MONITOR_FINE)
            break;
        monitor->begun = false;
    }
    close(r.inner);
    close(r.outer);
    return monitor->cause == FF_MONITOR_FINE ? FF_OK : FF_INFO_LIMITED;
}
