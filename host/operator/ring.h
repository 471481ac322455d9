/* operator/ring.h - a ring of fixed memory between one producer thread and one consumer thread.
 *
 * How rows leave the real-time thread, for the recorder and for the live page, and how orders reach it.
 * Neither side ever waits: a push into a full ring is refused and counted, a pop from an empty one says so.
 * Both are one copy and two atomic accesses, so that the real-time thread may push. */
#ifndef FF_OPERATOR_RING_H
#define FF_OPERATOR_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freefloat/base.h"

/* Padding keeps the two sides in cache lines of their own, wherever the ring lies. */
typedef struct ff_ring {
    unsigned char *memory;
    size_t item; /* [bytes] */
    size_t mask; /* capacity - 1 */
    char apart[64];
    atomic_size_t head;           /* next to write; the producer's */
    size_t tail_seen;             /* producer's last view of tail */
    atomic_uint_fast64_t dropped; /* pushes refused */
    char also_apart[64];
    atomic_size_t tail; /* next to read; the consumer's */
    size_t head_seen;
} ff_ring;

/* capacity is raised to a power of two. FF_ERR_MEMORY, FF_ERR_ARGUMENT. All pages are touched here. */
ff_status ff_ring_create(ff_ring *ring, size_t item, size_t capacity);
void ff_ring_free(ff_ring *ring);
/* Producer. False: full, counted as dropped. */
bool ff_ring_push(ff_ring *ring, const void *item);
/* The same in place: the slot to fill, then publish it. NULL: full, counted as dropped. */
void *ff_ring_slot(ff_ring *ring);
void ff_ring_publish(ff_ring *ring);
/* Consumer. False: empty. */
bool ff_ring_pop(ff_ring *ring, void *item);
size_t ff_ring_count(const ff_ring *ring);
uint64_t ff_ring_dropped(const ff_ring *ring);

/* Whether what was asked for is done or given up is decided once, by whoever comes first: the asker that waits
 * no longer, or who does it, at the moment of its effect. What was reported as not done is never done later.
 * A ticket is valid while FF_CLAIMS younger ones are not opened; then it counts as given up. */
enum { FF_CLAIMS = 1024 };

typedef struct ff_claims {
    uint64_t opened; /* the asker's */
    atomic_uint_fast64_t cell[FF_CLAIMS];
} ff_claims;

typedef struct ff_claim {
    ff_claims *claims; /* NULL: nobody gives it up */
    uint64_t ticket;
} ff_claim;

/* The asker, one thread. */
ff_claim ff_claim_open(ff_claims *claims);
/* Either side. True: it is the caller's; false: it was decided before. */
bool ff_claim_take(ff_claim claim);
/* Not decided yet. */
bool ff_claim_waits(ff_claim claim);

#endif
