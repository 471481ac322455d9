/* text/little.h - an integer's bytes, the lowest first, as CDR and MCAP have them. */
#ifndef FF_TEXT_LITTLE_H
#define FF_TEXT_LITTLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Up to eight bytes, usually a number that the compiler knows: one store, where the processor has this order.
 * Returns what follows them. */
static inline uint8_t *ff_store_little(uint8_t *to, uint64_t x, size_t bytes) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(to, &x, bytes);
#else
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(x >> (8 * i));
#endif
    return to + bytes;
}

#endif
