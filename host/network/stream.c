#include "network/stream.h"

#include "text/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

long ff_stream_receive(ff_stream *stream, const ff_device *device, int fd, void *buffer, size_t size,
                       int64_t *arrived_ns) {
    *arrived_ns = 0;
    for (int tries = 0; tries < 2 && !stream->lost; tries++) {
        const size_t waits = stream->used - stream->at,
                     whole = waits ? device->frame(stream->bytes + stream->at, waits) : 0;
        if (whole > FF_STREAM_BYTES) { /* lost, or larger than anything it sends */
            stream->lost = true;
            return 0;
        }
        if (whole && whole <= waits) {
            const bool fits = whole <= size;
            if (fits)
                memcpy(buffer, stream->bytes + stream->at, whole);
            stream->at += whole;
            return fits ? (long)whole : -1;
        }
        memmove(stream->bytes, stream->bytes + stream->at, waits);
        stream->at = 0;
        stream->used = waits;
        const ssize_t n = recv(fd, stream->bytes + waits, FF_STREAM_BYTES - waits, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            stream->lost = true;
        if (n <= 0)
            return 0;
        stream->used += (size_t)n;
    }
    return 0;
}

/* Until the deadline [ns]; the device may be starting at this moment. */
static ff_status call(const struct sockaddr_in *at, int64_t deadline, const atomic_bool *stop, int *fd,
                      char *message, size_t size) {
    for (int64_t nap = 1000000;; nap = nap < 25000000 ? 2 * nap : 50000000) {
        if (ff_socket_call(at, 1.0, fd, message, size) == FF_OK)
            return FF_OK;
        if (ff_clock_now() > deadline || atomic_load(stop))
            return FF_ERR_DEVICE;
        ff_clock_sleep_until(ff_clock_now() + nap);
    }
}

static bool send_all(int fd, const char *bytes, size_t size, int64_t deadline) {
    while (size) {
        const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        } else if (ff_clock_now() > deadline ||
                   poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 50) < 0)
            return false;
    }
    return true;
}

static ff_status send_program(const ff_device *device, const void *state, const struct sockaddr_in *at,
                              int64_t deadline, const atomic_bool *stop, char *message, size_t size) {
    char text[FF_DEVICE_TEXT_MAX];
    const size_t length = device->program(state, text, sizeof text);
    int fd = -1;
    ff_status status = call(at, deadline, stop, &fd, message, size);
    if (status == FF_OK && !send_all(fd, text, length, deadline)) {
        snprintf(message, size, "the robot's controller does not take the program");
        status = FF_ERR_DEVICE;
    }
    if (fd >= 0) { /* what it says on this port is not read: closed once it has taken all of it */
        shutdown(fd, SHUT_WR);
        close(fd);
    }
    return status;
}

static ff_status converse(ff_stream *stream, const ff_device *device, void *state,
                          const struct sockaddr_in *program_at, int64_t deadline, const atomic_bool *stop,
                          int fd, bool *heard, char *message, size_t size) {
    uint8_t out[FF_DEVICE_SEND_MAX], in[FF_DEVICE_READ_MAX];
    size_t used;
    int64_t arrived;
    ff_status status = device->greet(state, NULL, 0, out, sizeof out, &used, message, size);
    while (status >= 0) {
        if (used && !send_all(fd, (const char *)out, used, deadline))
            stream->lost = true;
        if (status == FF_OK)
            return FF_OK;
        if (status == FF_INFO_LIMITED) {
            status = send_program(device, state, program_at, deadline, stop, message, size);
            if (status != FF_OK)
                return status;
        }
        long got;
        while ((got = ff_stream_receive(stream, device, fd, in, sizeof in, &arrived)) == 0) {
            if (stream->lost) {
                snprintf(message, size, "the robot's controller has closed the connection");
                return FF_ERR_DEVICE;
            }
            if (ff_clock_now() > deadline || atomic_load(stop))
                return FF_ERR_DEVICE; /* message: what is waited for */
            poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 20);
        }
        used = 0;
        *heard = *heard || got > 0;
        status = got > 0 ? device->greet(state, in, (size_t)got, out, sizeof out, &used, message, size)
                         : FF_INFO_HELD;
        if (status == FF_INFO_HELD && (ff_clock_now() > deadline || atomic_load(stop)))
            return FF_ERR_DEVICE;
    }
    return FF_ERR_DEVICE;
}

ff_status ff_stream_open(ff_stream *stream, const ff_device *device, void *state,
                         const struct sockaddr_in *at, const struct sockaddr_in *program_at, double patience,
                         const atomic_bool *stop, int *fd, bool *heard, char *message, size_t size) {
    const int64_t deadline = ff_clock_now() + (int64_t)(1e9 * patience);
    *stream = (ff_stream){.at = 0};
    ff_status status = call(at, deadline, stop, fd, message, size);
    if (status == FF_OK)
        status = converse(stream, device, state, program_at, deadline, stop, *fd, heard, message, size);
    if (status != FF_OK && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

/* Somebody has one of its topics in another type, and nobody in its own. */
static bool typed_otherwise(const ff_link *link, const ff_device_topics *topics, char *message, size_t size) {
    ff_link_state state;
    ff_link_look(link, &state);
    if (!state.other || (state.writers && (state.readers || !topics->writes)))
        return false;
    const bool read = topics->reads && strcmp(state.topic + 2, topics->reads) == 0; /* "rt/..." */
    snprintf(
        message, size,
        "%.100s has the type %.120s in this domain, allowed: %.60s; name another topic, or end who %s it",
        state.topic + 2, state.type, read ? topics->reads_type : topics->writes_type,
        read ? "publishes" : "reads or publishes");
    return true;
}

ff_status ff_stream_join(ff_link *link, const ff_device *device, void *state,
                         const ff_device_settings *settings, const struct sockaddr_in *at, double patience,
                         int loop_cpu, const atomic_bool *stop, bool *heard, char *message, size_t size) {
    const int64_t deadline = ff_clock_now() + (int64_t)(1e9 * patience);
    uint8_t in[FF_DEVICE_READ_MAX], out[FF_DEVICE_SEND_MAX];
    char address[INET_ADDRSTRLEN] = "?";
    size_t used, length = 0;
    int64_t arrived;
    ff_device_topics topics;
    device->topics(state, &topics);
    inet_ntop(AF_INET, &at->sin_addr, address, sizeof address);
    const ff_link_config config = {.address = address,
                                   .domain = (unsigned)settings->domain,
                                   .reliable = settings->facility,
                                   .loop_cpu = loop_cpu,
                                   .reads = topics.reads,
                                   .reads_type = topics.reads_type,
                                   .writes = topics.writes,
                                   .writes_type = topics.writes_type,
                                   .aside = topics.aside};
    ff_status status = ff_link_open(&config, link, message, size);
    if (status != FF_OK) {
        *heard = true; /* nobody was asked: there is another reason */
        return status;
    }
    status = device->greet(state, NULL, 0, out, sizeof out, &used, message, size);
    while (status == FF_INFO_HELD) {
        const long got = ff_link_receive(link, in, sizeof in, &arrived);
        *heard = *heard || got > 0;
        if (got > 0)
            status = device->greet(state, in, (size_t)got, out, sizeof out, &used, message, size);
        const bool late = ff_clock_now() > deadline || atomic_load(stop);
        if (status == FF_INFO_HELD && late) { /* message: what is waited for */
            length = strlen(message);
            if (typed_otherwise(link, &topics, message, size))
                *heard = true;
            else
                snprintf(message + length, size - length, " in domain %u on %s", config.domain, address);
            status = FF_ERR_DEVICE;
        }
        if (got == 0 && status == FF_INFO_HELD)
            poll(&(struct pollfd){.fd = link->fd, .events = POLLIN}, 1, 20);
    }
    if (status != FF_OK)
        ff_link_close(link);
    return status;
}
