/* Free ports of 127.0.0.1 below the ephemeral range, ten for each kind: UDP for robots and sensors, TCP for
 * the sensors' pages. */
#ifndef FF_TESTS_RT_PORTS_H
#define FF_TESTS_RT_PORTS_H

#include "network/address.h"

#include <unistd.h>

static inline ff_ports free_ports(void) {
    static unsigned next;
    if (!next)
        next = 20000 + (unsigned)(getpid() * 37 % 9000);
    for (;; next += 30) {
        struct sockaddr_in at;
        int fd;
        char message[128];
        bool good = true;
        for (unsigned n = 0; n < 20 && good; n++) {
            ff_socket_address("127.0.0.1", next + n, &at);
            good = ff_socket_open(&at, &fd, NULL, message, sizeof message) == FF_OK;
            if (good)
                close(fd);
        }
        for (unsigned n = 20; n < 30 && good; n++) {
            ff_socket_address("127.0.0.1", next + n, &at);
            fd = socket(AF_INET, SOCK_STREAM, 0);
            good = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
            if (fd >= 0)
                close(fd);
        }
        if (good) {
            next += 30;
            return (ff_ports){next - 30, next - 20, next - 10};
        }
    }
}

#endif
