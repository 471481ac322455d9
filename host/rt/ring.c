#include "rt/ring.h"

#include <stdlib.h>
#include <string.h>

ff_status ff_ring_create(ff_ring *ring, size_t item, size_t slots) {
    size_t length = 2;
    while (length < slots)
        length *= 2;
    ring->memory = malloc(item * length);
    if (!ring->memory)
        return FF_ERR_MEMORY;
    memset(ring->memory, 0, item * length);
    ring->item = item;
    ring->mask = length - 1;
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->dropped, 0);
    return FF_OK;
}

void ff_ring_free(ff_ring *ring) {
    free(ring->memory);
    ring->memory = NULL;
}

bool ff_ring_push(ff_ring *ring, const void *item) {
    const size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) > ring->mask) {
        atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
        return false;
    }
    memcpy(ring->memory + (head & ring->mask) * ring->item, item, ring->item);
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
    return true;
}

bool ff_ring_pop(ff_ring *ring, void *item) {
    const size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
        return false;
    memcpy(item, ring->memory + (tail & ring->mask) * ring->item, ring->item);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
    return true;
}

size_t ff_ring_count(const ff_ring *ring) {
    return atomic_load(&ring->head) - atomic_load(&ring->tail);
}

uint64_t ff_ring_dropped(const ff_ring *ring) {
    return atomic_load(&ring->dropped);
}
