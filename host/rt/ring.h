/* rt/ring.h - single producer, single consumer, no lock: how rows leave the real-time thread. */
#ifndef FF_RT_RING_H
#define FF_RT_RING_H

#include "freefloat/base.h"

#include <stdatomic.h>

typedef struct ff_ring {
    uint8_t *memory;
    size_t item;                     /* [bytes] */
    size_t mask;                     /* slots - 1 */
    _Alignas(64) atomic_size_t head; /* written by the producer */
    _Alignas(64) atomic_size_t tail; /* written by the consumer */
    _Alignas(64) atomic_uint_fast64_t dropped;
} ff_ring;

/* At least `slots` items, touched. FF_ERR_MEMORY. */
ff_status ff_ring_create(ff_ring *ring, size_t item, size_t slots);
void ff_ring_free(ff_ring *ring);
/* False: full; the item is dropped and counted. Bounded time, no call into the system. */
bool ff_ring_push(ff_ring *ring, const void *item);
bool ff_ring_pop(ff_ring *ring, void *item);
size_t ff_ring_count(const ff_ring *ring);
uint64_t ff_ring_dropped(const ff_ring *ring);

#endif
