/* CRC-32 of logs: of each chunk, and of the file. */
#include "record/mcap.h"

#include <pthread.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

/* Eight bytes at a time: table[n] holds a byte's share with n more bytes behind it. */
static uint32_t crc_table[8][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void crc_fill(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        crc_table[0][i] = c;
    }
    for (int n = 1; n < 8; n++)
        for (int i = 0; i < 256; i++)
            crc_table[n][i] = crc_table[n - 1][i] >> 8 ^ crc_table[0][crc_table[n - 1][i] & 0xff];
}

/* The register after more bytes. */
static uint32_t by_table(uint32_t crc, const uint8_t *at, size_t size) {
    for (; size >= 8; size -= 8, at += 8) {
        const uint32_t low =
            crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        crc = crc_table[7][low & 0xff] ^ crc_table[6][low >> 8 & 0xff] ^ crc_table[5][low >> 16 & 0xff] ^
              crc_table[4][low >> 24] ^ crc_table[3][at[4]] ^ crc_table[2][at[5]] ^ crc_table[1][at[6]] ^
              crc_table[0][at[7]];
    }
    for (; size > 0; size--, at++)
        crc = crc_table[0][(crc ^ *at) & 0xff] ^ (crc >> 8);
    return crc;
}

#ifdef __x86_64__
/* Sixteen bytes are a polynomial a x^64 + b; n bits further on it has the remainder of a (x^(n+64) mod P) + b
 * (x^n mod P), which is added to what stands there [Gopal et al., "Fast CRC computation for generic
 * polynomials using PCLMULQDQ", 2009]. factor: both powers, bits reflected. */
__attribute__((target("pclmul"))) static inline __m128i moved(__m128i x, __m128i factor, __m128i onto) {
    return _mm_xor_si128(
        _mm_xor_si128(_mm_clmulepi64_si128(x, factor, 0x00), _mm_clmulepi64_si128(x, factor, 0x11)), onto);
}

static __m128i load_block(const uint8_t *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* Of `size` bytes, a multiple of 64: they shrink to sixteen with the same remainder. */
__attribute__((target("pclmul"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at,
                                                                 size_t size) {
    const __m128i by_64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4),
                  by_16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i x[4];
    for (int i = 0; i < 4; i++)
        x[i] = load_block(at + 16 * i);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
    for (at += 64, size -= 64; size; at += 64, size -= 64)
        for (int i = 0; i < 4; i++)
            x[i] = moved(x[i], by_64, load_block(at + 16 * i));
    for (int i = 1; i < 4; i++)
        x[i] = moved(x[i - 1], by_16, x[i]);
    uint8_t left[16];
    _mm_storeu_si128((__m128i *)(void *)left, x[3]);
    return by_table(0, left, sizeof left);
}

static bool has_instruction;
#endif

static void create(void) {
    crc_fill();
#ifdef __x86_64__
    unsigned a, b, c, d;
    has_instruction = __get_cpuid(1, &a, &b, &c, &d) && c & bit_PCLMUL;
#endif
}

uint32_t ff_mcap_crc32(uint32_t crc, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    pthread_once(&crc_once, create);
    crc = ~crc;
#ifdef __x86_64__
    const size_t most = has_instruction ? size / 64 * 64 : 0;
    if (most) {
        crc = by_instruction(crc, at, most);
        at += most;
        size -= most;
    }
#endif
    return ~by_table(crc, at, size);
}

/* Polynomials over the bits, the first one the highest power: a b modulo CRC-32's own. */
static uint32_t crc_times(uint32_t a, uint32_t b) {
    uint32_t product = 0;
    for (uint32_t bit = 0x80000000u; bit; bit >>= 1) {
        if (a & bit)
            product ^= b;
        b = b & 1 ? 0xedb88320u ^ (b >> 1) : b >> 1;
    }
    return product;
}

uint32_t ff_mcap_crc32_join(uint32_t crc, uint32_t next, uint64_t size) {
    uint32_t power = 0x80000000u, square = 0x00800000u; /* 1; x^8, a byte */
    for (; size; size >>= 1) {
        if (size & 1)
            power = crc_times(power, square);
        square = crc_times(square, square);
    }
    return crc_times(power, crc) ^ next;
}
