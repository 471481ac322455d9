/* live/ring.h - a ring of fixed memory between one producer thread and one consumer thread.
 *
 * Neither side ever waits: a push into a full ring is refused and counted, a pop from an empty one says so.
 * Both are one copy and two atomic accesses, so that the real-time thread may push. */
#ifndef FF_LIVE_RING_H
#define FF_LIVE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freefloat/base.h"

/* Each side has a cache line of its own. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
typedef struct ff_live_ring {
    unsigned char *memory;
    size_t item;                     /* [bytes] */
    size_t mask;                     /* capacity - 1 */
    _Alignas(64) atomic_size_t head; /* next to write; the producer's */
    size_t tail_seen;                /* producer's last view of tail */
    atomic_uint_fast64_t dropped;    /* pushes refused */
    _Alignas(64) atomic_size_t tail; /* next to read; the consumer's */
    size_t head_seen;
} ff_live_ring;

/* capacity is raised to a power of two. FF_ERR_MEMORY, FF_ERR_ARGUMENT. All pages are touched here. */
ff_status ff_live_ring_create(ff_live_ring *ring, size_t item, size_t capacity);
void ff_live_ring_free(ff_live_ring *ring);
/* Producer. False: full, counted as dropped. */
bool ff_live_ring_push(ff_live_ring *ring, const void *item);
/* The same in place: the slot to fill, then publish it. NULL: full, counted as dropped. */
void *ff_live_ring_slot(ff_live_ring *ring);
void ff_live_ring_publish(ff_live_ring *ring);
/* Consumer. False: empty. */
bool ff_live_ring_pop(ff_live_ring *ring, void *item);
uint64_t ff_live_ring_dropped(const ff_live_ring *ring);

#endif
