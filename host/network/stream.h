/* network/stream.h - a device on TCP as packets: connecting, the conversation before the first telegram, and
 * the one place where bytes of a stream become packets that stand for datagrams. */
#ifndef FF_NETWORK_STREAM_H
#define FF_NETWORK_STREAM_H

#include "devices/device.h"
#include "net/topic_link.h"
#include "net/socket.h"

#include <stdatomic.h>

enum { FF_STREAM_BYTES = 8192 };

typedef struct ff_stream {
    uint8_t bytes[FF_STREAM_BYTES];
    size_t at, used; /* of the bytes that wait */
    bool lost;       /* closed, or not to be cut into packets any more */
} ff_stream;

/* Connects, greets, sends the program: until the device's telegrams follow, at most `patience` [s] or until
 * *stop. FF_ERR_DEVICE with one sentence; *fd is -1 then. *heard becomes true once it has said anything, or
 * where that it did not is not the reason. Not in real time. */
ff_status ff_stream_open(ff_stream *stream, const ff_device *device, void *state,
                         const struct sockaddr_in *at, const struct sockaddr_in *program_at, double patience,
                         const atomic_bool *stop, int *fd, bool *heard, char *message, size_t size);
/* As ff_socket_receive: the next whole packet, copied; 0: none waits; -1: one that is longer than the buffer.
 * No allocation; it never blocks. */
long ff_stream_receive(ff_stream *stream, const ff_device *device, int fd, void *buffer, size_t size,
                       int64_t *arrived_ns);

/* The same of a device on topics of ROS 2, from the interface `at`. */
ff_status ff_stream_join(ff_link *link, const ff_device *device, void *state,
                         const ff_device_settings *settings, const struct sockaddr_in *at, double patience,
                         int loop_cpu, const atomic_bool *stop, bool *heard, char *message, size_t size);

#endif
