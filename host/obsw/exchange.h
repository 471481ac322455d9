/* obsw/exchange.h - how packets reach on-board software outside: an interface; obsw/udp.h makes one.
 *
 * One session is one run of one facility (or orbit): sequence numbers start at 0, the session's number is
 * new. In lock step the simulation waits for the answer to each cycle's sensors; in free running it is paced
 * by the clock and the newest command acts. */
#ifndef FF_OBSW_EXCHANGE_H
#define FF_OBSW_EXCHANGE_H

#include "devices/ccsds/onboard.h"

typedef struct ff_obsw_udp_config {
    char address[64]; /* of the on-board software */
    unsigned port;
    char local_address[64]; /* where its commands arrive */
    unsigned local_port;
    ff_obsw_wire wire;
    bool free;      /* free running instead of lock step */
    double timeout; /* [s] wall clock: longest wait for one answer in lock step */
    double connect; /* [s] wall clock: for the first answer */
} ff_obsw_udp_config;

void ff_obsw_udp_default(ff_obsw_udp_config *config);

enum { FF_OBSW_NOTHING = 0, FF_OBSW_TOO_LONG = -1, FF_OBSW_STRANGER = -2 };

typedef struct ff_obsw_link {
    void *self;
    uint32_t session; /* chosen by whoever opens */
    /* False: the datagram did not leave. */
    bool (*send)(void *self, const void *bytes, size_t size);
    /* Waits at most `wait` [s] of wall clock; returns a size or FF_OBSW_... */
    long (*receive)(void *self, void *buffer, size_t size, double wait);
    /* Sleeps until `t` [s] of wall clock after the first call; returns how late it is [s]. */
    double (*pace)(void *self, double t);
    void (*close)(void *self);
} ff_obsw_link;

/* Opens a session. FF_ERR_DEVICE with one sentence. */
typedef ff_status ff_obsw_opener(const ff_obsw_udp_config *config, ff_obsw_link *link, char *message,
                                 size_t size);

typedef struct ff_obsw_exchange_info {
    uint64_t sent, taken;
    uint64_t refused[FF_OBSW_REFUSALS];
    uint64_t waited_out;               /* lock step: cycles whose answer did not come in time */
    double answer_mean_s, answer_most; /* [s] wall clock, lock step */
    double late_most;                  /* [s] free running: how late a cycle of ours began */
} ff_obsw_exchange_info;

typedef struct ff_obsw_exchange {
    ff_obsw_udp_config config;
    ff_obsw_link link;
    uint32_t joints;
    double cycle;           /* [s] */
    uint64_t last_sequence; /* of the newest command taken */
    uint16_t last_count;
    uint16_t count; /* of our packets */
    bool met;       /* something was taken in this session */
    bool gone;      /* did not answer for long: not waited for until it speaks again */
    ff_obsw_exchange_info info;
} ff_obsw_exchange;

void ff_obsw_exchange_begin(ff_obsw_exchange *x, const ff_obsw_udp_config *config, const ff_obsw_link *link,
                            uint32_t joints, double cycle);
/* One cycle: sensors out, the command for it in. FF_OK: *out is new; FF_INFO_HELD: nothing to act on has
 * come; FF_ERR_DEVICE: there was no first answer in time. silent: [s] of run time without a command before
 * now, hold: after so long it counts as gone. */
ff_status ff_obsw_exchange_step(ff_obsw_exchange *x, const ff_obsw_in *in, double silent, double hold,
                                ff_obsw_out *out);
void ff_obsw_exchange_end(ff_obsw_exchange *x);

#endif
