/* devices/bytes.h - big-endian integers at a given place. */
#ifndef FF_DEVICES_BYTES_H
#define FF_DEVICES_BYTES_H

#include <stdint.h>

static inline void ff_bytes_put16(uint8_t *at, uint16_t x) {
    at[0] = (uint8_t)(x >> 8);
    at[1] = (uint8_t)x;
}
static inline void ff_bytes_put32(uint8_t *at, uint32_t x) {
    ff_bytes_put16(at, (uint16_t)(x >> 16));
    ff_bytes_put16(at + 2, (uint16_t)x);
}
static inline uint16_t ff_bytes_get16(const uint8_t *at) {
    return (uint16_t)(((unsigned)at[0] << 8) | at[1]);
}
static inline uint32_t ff_bytes_get32(const uint8_t *at) {
    return ((uint32_t)ff_bytes_get16(at) << 16) | ff_bytes_get16(at + 2);
}

#endif
