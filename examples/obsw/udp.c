/* Carries on-board software that is written against obsw.h over UDP: space packets with the cFS headers. It
 * needs POSIX and nothing of freefloat but obsw.h:
 *
 *     cc udp.c hold.c -o hold_udp && ./hold_udp        # listens at 127.0.0.1 port 1234, answers to port 1235
 *     freefloat run FILE --set 'satellites.servicer.obsw={kind: udp}'
 *
 * For every packet of sensors it runs one step and answers with one command, so it serves lock step and free
 * running alike. A new session number starts the software anew. docs/obsw.md has the layout byte by byte.
 *
 * usage: hold_udp [PORT [ADDRESS ANSWER_PORT]]; it ends after 60 s without a packet (OBSW_IDLE sets another
 * number of seconds). */
#include "obsw.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    SENSORS_APID = 160,
    COMMAND_APID = 161,
    SENSORS_HEAD = 16, /* primary header 6, time 6, spare 4 */
    COMMAND_HEAD = 8,  /* primary header 6, function code, checksum */
    SENSORS_FIXED = 232,
    COMMAND_FIXED = 96,
    ROOM = 1024
};

static uint16_t big16(const unsigned char *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void put_big16(unsigned char *at, unsigned x) {
    at[0] = (unsigned char)(x >> 8);
    at[1] = (unsigned char)x;
}

/* Little-endian numbers at a place that moves on: byte by byte, so that any computer may run this. */
static uint64_t get(const unsigned char **at, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)(*at)[i] << 8 * i;
    *at += bytes;
    return x;
}

static void get_doubles(const unsigned char **at, double *x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bits = get(at, 8);
        memcpy(&x[i], &bits, sizeof bits);
    }
}

static void put(unsigned char **at, uint64_t x, int bytes) {
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (unsigned char)(x >> 8 * i);
}

static void put_doubles(unsigned char **at, const double *x, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        put(at, bits, 8);
    }
}

typedef struct head {
    uint32_t joints, session;
    double cycle;
} head;

/* 0 when the packet is not one of ours. */
static int read_sensors(const unsigned char *packet, long size, head *h, ff_obsw_in *in) {
    if (size < SENSORS_HEAD + SENSORS_FIXED || (big16(packet) & 0x1fff) != (0x0800 | SENSORS_APID) ||
        big16(packet + 4) + 7 != size)
        return 0;
    const unsigned char *at = packet + SENSORS_HEAD;
    const uint32_t version = (uint32_t)get(&at, 4);
    h->joints = (uint32_t)get(&at, 4);
    if (version != FF_OBSW_VERSION || h->joints > FF_OBSW_JOINTS ||
        size != SENSORS_HEAD + SENSORS_FIXED + 16 * (long)h->joints)
        return 0;
    h->session = (uint32_t)get(&at, 4);
    get(&at, 4); /* bit 0: lock step */
    in->sequence = get(&at, 8);
    get_doubles(&at, &in->t, 1);
    get_doubles(&at, &h->cycle, 1);
    get_doubles(&at, &in->camera_t, 1);
    get_doubles(&at, in->client_position, 3);
    get_doubles(&at, in->client_attitude, 4);
    get_doubles(&at, in->client_velocity, 3);
    get_doubles(&at, in->client_angular_velocity, 3);
    get_doubles(&at, &in->star_tracker_t, 1);
    get_doubles(&at, in->attitude, 4);
    get_doubles(&at, &in->gyro_t, 1);
    get_doubles(&at, in->angular_velocity, 3);
    get_doubles(&at, &in->encoder_t, 1);
    get_doubles(&at, in->q, h->joints);
    get_doubles(&at, in->qd, h->joints);
    return 1;
}

static size_t write_command(unsigned char *packet, const head *h, unsigned count, const ff_obsw_in *in,
                            const ff_obsw_out *out) {
    unsigned char *at = packet + COMMAND_HEAD;
    put(&at, FF_OBSW_VERSION, 4);
    put(&at, h->joints, 4);
    put(&at, h->session, 4);
    put(&at, out->phase, 4);
    put(&at, in->sequence, 8);
    put_doubles(&at, &in->t, 1);
    put_doubles(&at, out->force, 3);
    put_doubles(&at, out->torque, 3);
    put_doubles(&at, &out->storage, 1);
    put_doubles(&at, &out->dissipation, 1);
    put_doubles(&at, out->joint_torque, h->joints);
    const size_t size = (size_t)(at - packet);
    put_big16(packet, 0x1800 | COMMAND_APID);         /* telecommand with secondary header */
    put_big16(packet + 2, 0xc000 | (count & 0x3fff)); /* not segmented */
    put_big16(packet + 4, (unsigned)size - 7);
    packet[6] = 1; /* function code */
    packet[7] = 0;
    unsigned char check = 0xff;
    for (size_t i = 0; i < size; i++)
        check ^= packet[i];
    packet[7] = check;
    return size;
}

int main(int argc, char **argv) {
    const char *address = argc > 2 ? argv[2] : "127.0.0.1", *idle = getenv("OBSW_IDLE");
    const int port = argc > 1 ? atoi(argv[1]) : 1234, answer_port = argc > 3 ? atoi(argv[3]) : 1235;
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}, there = here;
    there.sin_port = htons((uint16_t)answer_port);
    if (inet_pton(AF_INET, address, &there.sin_addr) != 1 || port < 1 || answer_port < 1) {
        fprintf(stderr, "usage: %s [PORT [ADDRESS ANSWER_PORT]]\n", argv[0]);
        return 2;
    }
    here.sin_addr.s_addr = (ntohl(there.sin_addr.s_addr) >> 24) == 127 ? there.sin_addr.s_addr : INADDR_ANY;
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&here, sizeof here) != 0) {
        perror("bind");
        return 1;
    }
    void *self = NULL;
    head h = {0};
    uint32_t session = 0;
    unsigned count = 0;
    for (;;) {
        unsigned char packet[ROOM];
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, idle ? atoi(idle) * 1000 : 60000) != 1)
            break;
        ff_obsw_in in = {0};
        ff_obsw_out out = {0};
        const long size = (long)recv(fd, packet, sizeof packet, 0);
        if (!read_sensors(packet, size, &h, &in))
            continue;
        if (!self || h.session != session) {
            const ff_obsw_setup setup = {FF_OBSW_VERSION, h.joints, h.cycle};
            if (self)
                ff_obsw_destroy(self);
            self = ff_obsw_create(&setup);
            session = h.session;
            if (!self) {
                fprintf(stderr, "the software refuses to start\n");
                return 1;
            }
        }
        if (ff_obsw_step(self, &in, &out) != 0)
            continue; /* silence */
        const size_t used = write_command(packet, &h, count++, &in, &out);
        sendto(fd, packet, used, 0, (const struct sockaddr *)&there, sizeof there);
    }
    if (self)
        ff_obsw_destroy(self);
    close(fd);
    return 0;
}
