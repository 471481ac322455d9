/* net/socket.h - every socket of the facility and of the executive: UDP without blocking, one small HTTP GET,
 * one small HTTP page. IPv4 only: the devices speak nothing else. */
#ifndef FF_NET_SOCKET_H
#define FF_NET_SOCKET_H

#include "freefloat/base.h"

#include <netinet/in.h>

/* "127.0.0.1" and a port. FF_ERR_ARGUMENT: not a dotted IPv4 address. */
ff_status ff_socket_address(const char *text, unsigned port, struct sockaddr_in *address);
/* 127.0.0.0/8: nothing outside this computer can reach it. */
bool ff_socket_is_loopback(const struct sockaddr_in *address);
bool ff_socket_same(const struct sockaddr_in *a, const struct sockaddr_in *b);
/* A UDP socket that never blocks, bound; port 0: any. *bound (may be NULL) is where it is. FF_ERR_DEVICE with
 * a sentence. */
ff_status ff_socket_open(const struct sockaddr_in *at, int *fd, struct sockaddr_in *bound, char *message,
                         size_t size);
/* One datagram. Returns its size, 0: none waits, -1: empty or longer than the buffer, dropped.
 * *arrived_ns is the kernel's stamp on CLOCK_REALTIME, 0 without. No allocation. */
long ff_socket_receive(int fd, void *buffer, size_t size, struct sockaddr_in *from, int64_t *arrived_ns);
/* Until a datagram, or an error to be read away, is there; false after `timeout_ns`. At once when it is <= 0.
 */
bool ff_socket_wait(int fd, int64_t timeout_ns);
/* False when the datagram could not be handed to the kernel. */
bool ff_socket_send(int fd, const void *bytes, size_t size, const struct sockaddr_in *to);

/* A TCP connection within `timeout` [s]; it never blocks afterwards and sends at once. FF_ERR_DEVICE with a
 * sentence. */
ff_status ff_socket_call(const struct sockaddr_in *at, double timeout, int *fd, char *message, size_t size);
/* A TCP socket that waits for calls, without blocking. FF_ERR_DEVICE with a sentence. */
ff_status ff_socket_listen(const struct sockaddr_in *at, int *fd, char *message, size_t size);
/* A call that waits, -1: none. The connection never blocks. */
int ff_socket_accept(int fd);

/* Body of an HTTP GET into the buffer, bounded in size and time [s]. FF_ERR_DEVICE, FF_ERR_FORMAT,
 * FF_ERR_SIZE with a sentence. */
ff_status ff_http_get(const struct sockaddr_in *server, const char *path, double timeout, char *buffer,
                      size_t size, size_t *used, char *message, size_t message_size);

/* One page served by a thread of its own. */
typedef struct ff_http_server ff_http_server;
ff_status ff_http_serve(const struct sockaddr_in *at, const char *path, const char *page,
                        ff_http_server **server, char *message, size_t size);
void ff_http_stop(ff_http_server *server); /* NULL is fine */

#endif
