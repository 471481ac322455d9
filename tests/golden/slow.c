/* Preloaded into both sides of a lock step: every tenth datagram leaves up to 80 ms late, as on a machine
 * whose processors are busy. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void nap(void) {
    static uint32_t state;
    if (!state) {
        const char *seed = getenv("FF_SLOW_SEED");
        state = (uint32_t)(seed ? strtoul(seed, NULL, 10) : 1) * 2654435761u + (uint32_t)getpid();
    }
    state = state * 1664525u + 1013904223u;
    const uint32_t draw = state >> 16;
    if (draw % 10 == 0)
        nanosleep(&(struct timespec){0, (long)(draw % 81) * 1000000L}, NULL);
}

/* A symbol of the library behind this one: data, whatever ISO C thinks of functions. */
static void find(void *function, const char *name) {
    void *const symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

ssize_t sendto(int fd, const void *bytes, size_t size, int flags, const struct sockaddr *to,
               socklen_t length) {
    static ssize_t (*next)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    if (!next)
        find(&next, "sendto");
    nap();
    return next(fd, bytes, size, flags, to, length);
}
