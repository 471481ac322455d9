#include "net/socket.h"

#include "text/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

ff_status ff_socket_address(const char *text, unsigned port, struct sockaddr_in *address) {
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return port <= 65535 && inet_pton(AF_INET, text, &address->sin_addr) == 1 ? FF_OK : FF_ERR_ARGUMENT;
}

bool ff_socket_is_loopback(const struct sockaddr_in *address) {
    return ntohl(address->sin_addr.s_addr) >> 24 == 127;
}

bool ff_socket_same(const struct sockaddr_in *a, const struct sockaddr_in *b) {
    return a->sin_addr.s_addr == b->sin_addr.s_addr && a->sin_port == b->sin_port;
}

static void place_text(const struct sockaddr_in *at, char *text, size_t size) {
    char address[INET_ADDRSTRLEN] = "?";
    inet_ntop(AF_INET, &at->sin_addr, address, sizeof address);
    snprintf(text, size, "%s port %u", address, ntohs(at->sin_port));
}

static ff_status refuse(const struct sockaddr_in *at, const char *what, char *message, size_t size) {
    char place[64];
    place_text(at, place, sizeof place);
    snprintf(message, size, "%s: %s (%s)", place, what, strerror(errno));
    return FF_ERR_DEVICE;
}

ff_status ff_socket_open(const struct sockaddr_in *at, int *fd, struct sockaddr_in *bound, char *message,
                         size_t size) {
    *fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return refuse(at, "no socket", message, size);
    const int on = 1, room = 1 << 20;
    setsockopt(*fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    setsockopt(*fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    const int expedited = 0xb8; /* DSCP EF, where the network honours it */
    setsockopt(*fd, IPPROTO_IP, IP_TOS, &expedited, sizeof expedited);
    if (bind(*fd, (const struct sockaddr *)at, sizeof *at) != 0) {
        refuse(at, "cannot be bound", message, size);
        close(*fd);
        *fd = -1;
        return FF_ERR_DEVICE;
    }
    socklen_t length = sizeof *bound;
    if (bound)
        getsockname(*fd, (struct sockaddr *)bound, &length);
    return FF_OK;
}

long ff_socket_receive(int fd, void *buffer, size_t size, struct sockaddr_in *from, int64_t *arrived_ns) {
    union {
        char bytes[256];
        struct cmsghdr align;
    } control;
    struct iovec part = {buffer, size};
    struct msghdr message = {.msg_name = from,
                             .msg_namelen = sizeof *from,
                             .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    *arrived_ns = 0;
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) /* a refusal that an earlier send met: more may wait behind it */
        n = recvmsg(fd, &message, MSG_DONTWAIT);
    if (n < 0)
        return 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            struct timespec t;
            memcpy(&t, CMSG_DATA(c), sizeof t);
            *arrived_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        }
    return n == 0 || message.msg_flags & MSG_TRUNC ? -1 : (long)n;
}

bool ff_socket_wait(int fd, int64_t timeout_ns) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int64_t left = timeout_ns > 0 ? timeout_ns : 0;
    const struct timespec time = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    return ppoll(&p, 1, &time, NULL) == 1;
}

bool ff_socket_send(int fd, const void *bytes, size_t size, const struct sockaddr_in *to) {
    return sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)to, sizeof *to) ==
           (ssize_t)size;
}

static bool wait_for(int fd, short events, int64_t deadline) {
    const int64_t left = deadline - ff_clock_now();
    struct pollfd p = {.fd = fd, .events = events};
    return left > 0 && poll(&p, 1, (int)(left / 1000000) + 1) == 1;
}

static void prepare(int fd) {
    const int on = 1, expedited = 0xb8;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_TOS, &expedited, sizeof expedited);
}

ff_status ff_socket_call(const struct sockaddr_in *at, double timeout, int *fd, char *message, size_t size) {
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return refuse(at, "no socket", message, size);
    int error = 0;
    socklen_t length = sizeof error;
    const int64_t deadline = ff_clock_now() + (int64_t)(1e9 * timeout);
    if (connect(*fd, (const struct sockaddr *)at, sizeof *at) != 0) {
        error = errno;
        if (error == EINPROGRESS && !wait_for(*fd, POLLOUT, deadline))
            error = ETIMEDOUT;
        else if (error == EINPROGRESS && getsockopt(*fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
            error = errno;
    }
    prepare(*fd);
    if (error == 0)
        return FF_OK;
    close(*fd);
    *fd = -1;
    errno = error;
    return refuse(at, "nobody answers", message, size);
}

ff_status ff_socket_listen(const struct sockaddr_in *at, int *fd, char *message, size_t size) {
    const int on = 1;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return refuse(at, "no socket", message, size);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*fd, (const struct sockaddr *)at, sizeof *at) == 0 && listen(*fd, 4) == 0)
        return FF_OK;
    refuse(at, "cannot be bound", message, size);
    close(*fd);
    *fd = -1;
    return FF_ERR_DEVICE;
}

int ff_socket_accept(int fd) {
    const int call = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (call >= 0)
        prepare(call);
    return call;
}

/* ------------------------------------------------------------------------------------------------ HTTP -- */

/* [bytes] of the whole answer if its headers are there and give the body's length; else SIZE_MAX: it ends
 * with the connection. */
static size_t stated_size(const char *buffer, size_t used) {
    static const char key[] = "content-length:";
    size_t stated = SIZE_MAX;
    for (size_t line = 0; line + 1 < used;) {
        const char *end = memchr(buffer + line, '\n', used - line);
        if (!end)
            return SIZE_MAX;
        const size_t next = (size_t)(end - buffer) + 1;
        if (buffer[line] == '\r' || buffer[line] == '\n') /* the empty line */
            return stated < SIZE_MAX / 2 ? next + stated : SIZE_MAX;
        if (next - line > sizeof key && strncasecmp(buffer + line, key, sizeof key - 1) == 0) {
            size_t at = line + sizeof key - 1, n = 0;
            while (buffer[at] == ' ')
                at++;
            for (stated = 0; buffer[at] >= '0' && buffer[at] <= '9' && n < 9; n++)
                stated = 10 * stated + (size_t)(buffer[at++] - '0');
            if (n == 0 || n == 9)
                stated = SIZE_MAX;
        }
        line = next;
    }
    return SIZE_MAX;
}

static ff_status exchange(int fd, const struct sockaddr_in *server, const char *path, int64_t deadline,
                          char *buffer, size_t size, size_t *used) {
    if (connect(fd, (const struct sockaddr *)server, sizeof *server) != 0 && errno != EINPROGRESS)
        return FF_ERR_DEVICE;
    int error = 0;
    socklen_t length = sizeof error;
    if (!wait_for(fd, POLLOUT, deadline) || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0 ||
        error != 0) {
        errno = error ? error : ETIMEDOUT;
        return FF_ERR_DEVICE;
    }
    char request[256], address[INET_ADDRSTRLEN] = "";
    inet_ntop(AF_INET, &server->sin_addr, address, sizeof address);
    const int n = snprintf(request, sizeof request,
                           "GET %s HTTP/1.0\r\nHost: %s\r\nConnection: close\r\n\r\n", path, address);
    if (send(fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        return FF_ERR_DEVICE;
    *used = 0;
    for (;;) {
        const size_t stated = stated_size(buffer, *used);
        if (stated <= *used) { /* some servers keep the connection open, whatever was asked */
            *used = stated;
            return FF_OK;
        }
        if (*used == size)
            return FF_ERR_SIZE;
        if (!wait_for(fd, POLLIN, deadline)) {
            errno = ETIMEDOUT;
            return FF_ERR_DEVICE;
        }
        const ssize_t got = recv(fd, buffer + *used, size - *used, 0);
        if (got == 0) {
            errno = ECONNRESET; /* if it was cut */
            return stated == SIZE_MAX ? FF_OK : FF_ERR_DEVICE;
        }
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return FF_ERR_DEVICE;
        *used += got > 0 ? (size_t)got : 0;
    }
}

ff_status ff_http_get(const struct sockaddr_in *server, const char *path, double timeout, char *buffer,
                      size_t size, size_t *used, char *message, size_t message_size) {
    const int64_t deadline = ff_clock_now() + (int64_t)(1e9 * timeout);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *used = 0;
    if (fd < 0)
        return refuse(server, "no socket", message, message_size);
    ff_status status = exchange(fd, server, path, deadline, buffer, size, used);
    close(fd);
    char place[64];
    place_text(server, place, sizeof place);
    if (status == FF_ERR_SIZE) {
        snprintf(message, message_size, "%s: the page %s is longer than %zu bytes", place, path, size);
        return status;
    }
    if (status != FF_OK)
        return refuse(server, "no answer to HTTP GET", message, message_size);
    /* status line, headers, empty line */
    size_t body = 0;
    for (size_t i = 0; i + 3 < *used && !body; i++)
        if (memcmp(buffer + i, "\r\n\r\n", 4) == 0)
            body = i + 4;
    if (*used < 12 || strncmp(buffer, "HTTP/1.", 7) != 0 || strncmp(buffer + 8, " 200", 4) != 0 || !body) {
        snprintf(message, message_size, "%s: the answer to GET %s is not HTTP 200", place, path);
        return FF_ERR_FORMAT;
    }
    *used -= body;
    memmove(buffer, buffer + body, *used);
    return FF_OK;
}

struct ff_http_server {
    int fd;
    pthread_t thread;
    atomic_bool stop;
    char path[64];
    char *page;
};

static void answer(const ff_http_server *server, int client) {
    char request[1024], head[160];
    const int64_t deadline = ff_clock_now() + 1000000000;
    size_t used = 0;
    while (used < sizeof request - 1 && wait_for(client, POLLIN, deadline)) {
        const ssize_t n = recv(client, request + used, sizeof request - 1 - used, 0);
        if (n <= 0)
            break;
        used += (size_t)n;
        request[used] = 0;
        if (strstr(request, "\r\n\r\n"))
            break;
    }
    request[used] = 0;
    const size_t length = strlen(server->path);
    const bool found = strncmp(request, "GET ", 4) == 0 && strncmp(request + 4, server->path, length) == 0 &&
                       (request[4 + length] == ' ' || request[4 + length] == '?');
    const char *page = found ? server->page : "not found\n";
    const int n =
        snprintf(head, sizeof head,
                 "HTTP/1.0 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                 found ? "200 OK" : "404 Not Found", found ? "text/xml" : "text/plain", strlen(page));
    if (send(client, head, (size_t)n, MSG_NOSIGNAL) == n)
        (void)!send(client, page, strlen(page), MSG_NOSIGNAL);
}

static void *serve(void *self) {
    ff_http_server *server = self;
    while (!atomic_load(&server->stop)) {
        const int client = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
        if (client < 0 && !atomic_load(&server->stop) && errno != EINTR && errno != ECONNABORTED)
            ff_clock_sleep_until(ff_clock_now() +
                                 50000000); /* out of descriptors, perhaps: not at once again */
        if (client < 0)
            continue;
        answer(server, client);
        close(client);
    }
    return NULL;
}

ff_status ff_http_serve(const struct sockaddr_in *at, const char *path, const char *page,
                        ff_http_server **server, char *message, size_t size) {
    ff_http_server *s = calloc(1, sizeof *s);
    *server = NULL;
    if (!s || !(s->page = strdup(page))) {
        free(s);
        snprintf(message, size, "no memory");
        return FF_ERR_MEMORY;
    }
    snprintf(s->path, sizeof s->path, "%s", path);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (s->fd < 0 || bind(s->fd, (const struct sockaddr *)at, sizeof *at) != 0 || listen(s->fd, 8) != 0 ||
        pthread_create(&s->thread, NULL, serve, s) != 0) {
        refuse(at, "cannot be served", message, size);
        if (s->fd >= 0)
            close(s->fd);
        free(s->page);
        free(s);
        return FF_ERR_DEVICE;
    }
    *server = s;
    return FF_OK;
}

void ff_http_stop(ff_http_server *server) {
    if (!server)
        return;
    atomic_store(&server->stop, true);
    shutdown(server->fd, SHUT_RDWR); /* accept returns */
    pthread_join(server->thread, NULL);
    close(server->fd);
    free(server->page);
    free(server);
}
