#include "operator/ring.h"

#include <stdlib.h>
#include <string.h>

ff_status ff_ring_create(ff_ring *ring, size_t item, size_t capacity) {
    *ring = (ff_ring){.item = item};
    if (item == 0 || capacity == 0 || capacity > ((size_t)1 << 24))
        return FF_ERR_ARGUMENT;
    size_t n = 1;
    while (n < capacity)
        n *= 2;
    ring->memory = malloc(n * item);
    if (!ring->memory)
        return FF_ERR_MEMORY;
    memset(ring->memory, 0, n * item); /* no page fault later, in the loop */
    ring->mask = n - 1;
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->dropped, 0);
    return FF_OK;
}

void ff_ring_free(ff_ring *ring) {
    free(ring->memory);
    ring->memory = NULL;
}

void *ff_ring_slot(ff_ring *ring) {
    const size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - ring->tail_seen > ring->mask) {
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head - ring->tail_seen > ring->mask) {
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
            return NULL;
        }
    }
    return ring->memory + (head & ring->mask) * ring->item;
}

void ff_ring_publish(ff_ring *ring) {
    const size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

bool ff_ring_push(ff_ring *ring, const void *item) {
    void *slot = ff_ring_slot(ring);
    if (!slot)
        return false;
    memcpy(slot, item, ring->item);
    ff_ring_publish(ring);
    return true;
}

bool ff_ring_pop(ff_ring *ring, void *item) {
    const size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == ring->head_seen) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (tail == ring->head_seen)
            return false;
    }
    memcpy(item, ring->memory + (tail & ring->mask) * ring->item, ring->item);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

uint64_t ff_ring_dropped(const ff_ring *ring) {
    return atomic_load_explicit(&ring->dropped, memory_order_relaxed);
}

size_t ff_ring_count(const ff_ring *ring) {
    return atomic_load_explicit(&ring->head, memory_order_acquire) -
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

ff_claim ff_claim_open(ff_claims *claims) {
    const uint64_t ticket = ++claims->opened;
    atomic_store_explicit(&claims->cell[ticket % FF_CLAIMS], 2 * ticket, memory_order_release);
    return (ff_claim){claims, ticket};
}

bool ff_claim_take(ff_claim claim) {
    if (!claim.claims)
        return true;
    uint_fast64_t open = 2 * claim.ticket;
    return atomic_compare_exchange_strong(&claim.claims->cell[claim.ticket % FF_CLAIMS], &open, open + 1);
}

bool ff_claim_waits(ff_claim claim) {
    return !claim.claims || atomic_load(&claim.claims->cell[claim.ticket % FF_CLAIMS]) == 2 * claim.ticket;
}
