/* SHA-256 [FIPS 180-4, 6.2]; names as in the standard. */
#include "text/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

/* One round; what the standard moves from letter to letter is the order of the arguments. */
#define ROUND(a, b, c, d, e, f, g, h, t)                                                                 \
    do {                                                                                                 \
        const uint32_t T1 =                                                                              \
            (h) + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (((e) & (f)) ^ (~(e) & (g))) + K[t] + W[t]; \
        (d) += T1;                                                                                       \
        (h) = T1 + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c))); \
    } while (0)

static void block(uint32_t H[8], const unsigned char *M) {
    uint32_t W[64];
    for (int t = 0; t < 16; t++)
        W[t] = (uint32_t)M[4 * t] << 24 | (uint32_t)M[4 * t + 1] << 16 | (uint32_t)M[4 * t + 2] << 8 |
               M[4 * t + 3];
    for (int t = 16; t < 64; t++) {
        const uint32_t s0 = rotr(W[t - 15], 7) ^ rotr(W[t - 15], 18) ^ W[t - 15] >> 3;
        const uint32_t s1 = rotr(W[t - 2], 17) ^ rotr(W[t - 2], 19) ^ W[t - 2] >> 10;
        W[t] = s1 + W[t - 7] + s0 + W[t - 16];
    }
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
    for (int t = 0; t < 64; t += 8) {
        ROUND(a, b, c, d, e, f, g, h, t);
        ROUND(h, a, b, c, d, e, f, g, t + 1);
        ROUND(g, h, a, b, c, d, e, f, t + 2);
        ROUND(f, g, h, a, b, c, d, e, t + 3);
        ROUND(e, f, g, h, a, b, c, d, t + 4);
        ROUND(d, e, f, g, h, a, b, c, t + 5);
        ROUND(c, d, e, f, g, h, a, b, t + 6);
        ROUND(b, c, d, e, f, g, h, a, t + 7);
    }
    const uint32_t v[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        H[i] += v[i];
}

void ff__sha256_blocks(uint32_t H[8], const unsigned char *M, size_t count) {
    for (; count; count--, M += 64)
        block(H, M);
}

#ifdef __x86_64__
/* The same by the processor's own instructions, some twelve times faster: a report or a log is hashed whole.
 * A register holds a, b, e, f, the other c, d, g, h, first letter highest; two rounds at a time exchange
 * their roles. */
__attribute__((target("sha,sse4.1"))) static void blocks_by_instruction(uint32_t H[8], const unsigned char *M,
                                                                        size_t count) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203); /* big-endian words */
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)H), 0xb1),
                  efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(H + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, efgh, 8), cdgh = _mm_blend_epi16(efgh, badc, 0xf0);
    for (; count; count--, M += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i W[4];
        for (int i = 0; i < 4; i++)
            W[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(M + 16 * i)), swap);
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) {
            const __m128i w = W[i % 4], next = W[(i + 1) % 4], last = W[(i + 3) % 4],
                          sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)(K + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
            W[i % 4] = _mm_sha256msg2_epu32(
                _mm_add_epi32(_mm_sha256msg1_epu32(w, next), _mm_alignr_epi8(last, W[(i + 2) % 4], 4)), last);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)H, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(H + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_instruction(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}
#endif

static void blocks(uint32_t H[8], const unsigned char *M, size_t count) {
#ifdef __x86_64__
    static atomic_int known; /* 1: no, 2: yes */
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (now == 0) {
        now = has_instruction() ? 2 : 1;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    if (now == 2) {
        blocks_by_instruction(H, M, count);
        return;
    }
#endif
    ff__sha256_blocks(H, M, count);
}

void ff_sha256_begin(ff_sha256_state *s) {
    *s = (ff_sha256_state){.H = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                 0x1f83d9ab, 0x5be0cd19}};
}

void ff_sha256_add(ff_sha256_state *s, const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    size_t held = (size_t)(s->size % 64);
    s->size += size;
    for (; size && held; held %= 64) { /* fill up what is held */
        const size_t n = size < 64 - held ? size : 64 - held;
        memcpy(s->held + held, at, n);
        at += n;
        size -= n;
        held += n;
        if (held == 64)
            blocks(s->H, s->held, 1);
    }
    blocks(s->H, at, size / 64);
    if (size % 64)
        memcpy(s->held, at + size / 64 * 64, size % 64);
}

void ff_sha256_end(ff_sha256_state *s, char text[FF_SHA256_TEXT]) {
    const size_t left = (size_t)(s->size % 64);
    unsigned char tail[128] = {0};
    memcpy(tail, s->held, left);
    tail[left] = 0x80;
    const size_t end = left < 56 ? 64 : 128;
    for (size_t i = 0; i < 8; i++)
        tail[end - 1 - i] = (unsigned char)(s->size * 8 >> 8 * i);
    blocks(s->H, tail, end / 64);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", s->H[i]);
}

void ff_sha256(const void *bytes, size_t size, char text[FF_SHA256_TEXT]) {
    ff_sha256_state s;
    ff_sha256_begin(&s);
    if (size)
        ff_sha256_add(&s, bytes, size);
    ff_sha256_end(&s, text);
}

ff_status ff_sha256_file(const char *path, bool sync, char text[FF_SHA256_TEXT], uint64_t *size) {
    unsigned char buffer[1 << 16];
    struct stat info;
    ff_sha256_state s;
    ff_sha256_begin(&s);
    text[0] = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return FF_ERR_IO;
    ssize_t n = -1;
    errno = EINVAL; /* a device or pipe: what it gave once it does not give again */
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode))
        do {
            n = read(file, buffer, sizeof buffer);
            if (n > 0)
                ff_sha256_add(&s, buffer, (size_t)n);
        } while (n > 0 || (n < 0 && errno == EINTR));
    const bool good = n == 0 && (!sync || fsync(file) == 0 || errno == EINVAL || errno == EROFS);
    const int error = errno;
    close(file);
    errno = error;
    if (!good)
        return FF_ERR_IO;
    *size = s.size;
    ff_sha256_end(&s, text);
    return FF_OK;
}
