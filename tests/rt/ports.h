/* Free ports of 127.0.0.1 below the ephemeral range, ten for each kind: UDP for robots and sensors, TCP for
 * the sensors' pages. Tests run beside each other: a block of thirty belongs to whoever holds the lock on its
 * file, as in pair.sh and tools/golden, until it takes the next one or ends. FF_TEST_PORTS names the folder
 * of those files for tests that have a TMPDIR of their own (tools/mutate). */
#ifndef FF_TESTS_RT_PORTS_H
#define FF_TESTS_RT_PORTS_H

#include "network/address.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PORTS_FROM = 10240, PORTS_EACH = 30, PORTS_BLOCKS = 725 };

/* -1: someone else's. */
static inline int ports_lock(unsigned block) {
    char path[300];
    const char *own = getenv("FF_TEST_PORTS"), *folder = own ? own : getenv("TMPDIR");
    const int n = snprintf(path, sizeof path, "%.200s/ff-test-ports", folder && *folder ? folder : "/tmp");
    mkdir(path, 0777);
    snprintf(path + n, sizeof path - (size_t)n, "/%u", block);
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        return lock;
    if (lock >= 0)
        close(lock);
    return -1;
}

static inline ff_ports free_ports(void) {
    static int held = -1;
    static unsigned next;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (!next)
        next = (unsigned)now.tv_nsec / 1000u + (unsigned)getpid() * 7919u;
    for (;; next++) {
        const unsigned block = next % PORTS_BLOCKS, first = PORTS_FROM + PORTS_EACH * block;
        struct sockaddr_in at;
        int fd;
        char message[128];
        const int lock = ports_lock(block);
        bool good = lock >= 0;
        for (unsigned n = 20; n < 30 && good; n++) { /* first: of a page that was open they rest a minute */
            ff_socket_address("127.0.0.1", first + n, &at);
            fd = socket(AF_INET, SOCK_STREAM, 0);
            good = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
            if (fd >= 0)
                close(fd);
        }
        for (unsigned n = 0; n < 20 && good; n++) {
            ff_socket_address("127.0.0.1", first + n, &at);
            good = ff_socket_open(&at, &fd, NULL, message, sizeof message) == FF_OK;
            if (good)
                close(fd);
        }
        if (good) {
            if (held >= 0)
                close(held);
            held = lock;
            next++;
            return (ff_ports){first, first + 10, first + 20};
        }
        if (lock >= 0)
            close(lock);
    }
}

#endif
