#include "obsw/udp.h"

#include "text/clock.h"
#include "net/socket.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct udp {
    int fd;
    struct sockaddr_in peer;
    int64_t epoch; /* [ns] of t = 0; 0 before the first pace */
} udp;

static bool send_packet(void *self, const void *bytes, size_t size) {
    const udp *l = self;
    return ff_socket_send(l->fd, bytes, size, &l->peer);
}

static long receive_packet(void *self, void *buffer, size_t size, double wait) {
    const udp *l = self;
    struct sockaddr_in from = {0};
    int64_t arrived;
    /* a refusal that an earlier send met (no peer yet) wakes poll: read it away, then wait on */
    const int64_t end = ff_clock_now() + (int64_t)(1e9 * wait);
    for (;;) {
        const int64_t left = end - ff_clock_now();
        if (ff_socket_wait(l->fd, left)) {
            const long n = ff_socket_receive(l->fd, buffer, size, &from, &arrived);
            if (n != 0)
                return from.sin_addr.s_addr != l->peer.sin_addr.s_addr ? FF_OBSW_STRANGER
                       : n < 0                                         ? FF_OBSW_TOO_LONG
                                                                       : n;
        }
        if (left <= 0)
            return FF_OBSW_NOTHING;
    }
}

static double pace(void *self, double t) {
    udp *l = self;
    const int64_t at = (int64_t)(1e9 * t);
    if (!l->epoch)
        l->epoch = ff_clock_now() - at;
    return 1e-9 * (double)ff_clock_sleep_until(l->epoch + at);
}

static void close_link(void *self) {
    udp *l = self;
    close(l->fd);
    free(l);
}

ff_status ff_obsw_udp_open(const ff_obsw_udp_config *config, ff_obsw_link *out, char *message, size_t size) {
    static atomic_uint sessions;
    struct sockaddr_in here;
    udp *l = calloc(1, sizeof *l);
    if (!l) {
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    if (ff_socket_address(config->address, config->port, &l->peer) != FF_OK || !config->port ||
        ff_socket_address(config->local_address, config->local_port, &here) != FF_OK) {
        snprintf(message, size, "%s port %u and %s port %u are not two IPv4 addresses with ports",
                 config->address, config->port, config->local_address, config->local_port);
        free(l);
        return FF_ERR_DEVICE;
    }
    const ff_status status = ff_socket_open(&here, &l->fd, NULL, message, size);
    if (status != FF_OK) {
        free(l);
        return status;
    }
    /* no two sessions of one computer in a row bear the same number */
    const uint32_t session = (uint32_t)(ff_clock_real() / 1000) + atomic_fetch_add(&sessions, 1);
    *out = (ff_obsw_link){l, session, send_packet, receive_packet, pace, close_link};
    return FF_OK;
}
