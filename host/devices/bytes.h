/* devices/bytes.h - numbers at a given place: big-endian integers, and little-endian integers and doubles one
 * after another. */
#ifndef FF_DEVICES_BYTES_H
#define FF_DEVICES_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Little-endian; each returns the place behind it. */
static inline uint8_t *ff_bytes_put_le32(uint8_t *at, uint32_t x) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(x >> (8 * i));
    return at + 4;
}
static inline uint8_t *ff_bytes_put_le64(uint8_t *at, uint64_t x) {
    return ff_bytes_put_le32(ff_bytes_put_le32(at, (uint32_t)x), (uint32_t)(x >> 32));
}
static inline uint8_t *ff_bytes_put_doubles(uint8_t *at, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        at = ff_bytes_put_le64(at, bits);
    }
    return at;
}
static inline const uint8_t *ff_bytes_get_le32(const uint8_t *at, uint32_t *x) {
    *x = 0;
    for (int i = 0; i < 4; i++)
        *x |= (uint32_t)at[i] << (8 * i);
    return at + 4;
}
static inline const uint8_t *ff_bytes_get_le64(const uint8_t *at, uint64_t *x) {
    uint32_t low, high;
    at = ff_bytes_get_le32(ff_bytes_get_le32(at, &low), &high);
    *x = (uint64_t)high << 32 | low;
    return at;
}
static inline const uint8_t *ff_bytes_get_doubles(const uint8_t *at, double *x, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        at = ff_bytes_get_le64(at, &bits);
        memcpy(&x[i], &bits, sizeof bits);
    }
    return at;
}

#endif
