#include "report/pack.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef FF_HAVE_ZLIB
#include <zlib.h>
#endif

enum {
    TILE = 16,    /* columns that are turned at once: a cache line of a row */
    LONGEST = 10, /* bytes of one difference */
    PLANES = 1,   /* what an array begins with */
    DIFFERENCES = 2
};

/* The columns from `first` on, one after the other; moves: not the same bits in each row. */
static void turn(const ff_report_table *t, size_t first, size_t count, uint32_t *column,
                 uint32_t moves[TILE]) {
    uint32_t start[TILE];
    memset(moves, 0, TILE * sizeof *moves);
    memcpy(start, t->value + first, count * sizeof *start);
    for (size_t r = 0; r < t->rows; r++) {
        uint32_t row[TILE];
        memcpy(row, t->value + r * t->width + first, count * sizeof *row);
        for (size_t c = 0; c < count; c++) {
            moves[c] |= row[c] ^ start[c];
            column[c * t->rows + r] = row[c];
        }
    }
}

/* Zeros of both signs and gaps of any kind are the same to a reader. */
static bool is_constant(const uint32_t *column, size_t rows) {
    float first, value;
    memcpy(&first, column, sizeof first);
    for (size_t r = 1; r < rows; r++) {
        memcpy(&value, &column[r], sizeof value);
        if (!(value == first || (!isfinite(value) && !isfinite(first))))
            return false;
    }
    return true;
}

/* The number of a column (4 bytes) or of the time (8 bytes) as an integer. */
static inline uint64_t bits_of(const void *from, size_t row, size_t bytes) {
    return bytes == 4 ? ((const uint32_t *)from)[row] : ((const uint64_t *)from)[row];
}

static unsigned char *put_plain(unsigned char *to, const void *from, size_t rows, size_t bytes) {
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < bytes; k++)
            *to++ = (unsigned char)(bits_of(from, r, bytes) >> (8 * k));
    return to;
}

static unsigned char *put_planes(unsigned char *to, const void *from, size_t rows, size_t bytes) {
    *to++ = PLANES;
    for (size_t k = 0; k < bytes; k++)
        for (size_t r = 0; r < rows; r++)
            *to++ = (unsigned char)(bits_of(from, r, bytes) >> (8 * k));
    return to;
}

/* Inlined, so that a column is computed in 32 bits. */
static inline unsigned char *put_array(unsigned char *to, const void *from, size_t rows, size_t bytes) {
    const unsigned char *longest = to + 3 * bytes * rows / 4; /* beyond, planes are shorter in the end */
    unsigned char *at = to;
    uint64_t last = 0, before = 0;
    const size_t unused = 64 - 8 * bytes, top = 63 - unused;
    *at++ = DIFFERENCES;
    for (size_t r = 0; r < rows && at <= longest; r++) {
        const uint64_t now = bits_of(from, r, bytes), d = (now - 2 * last + before) << unused >> unused;
        uint64_t z = (d << 1 ^ (0 - (d >> top))) << unused >> unused;
        before = last;
        last = now;
        for (; z > 127; z >>= 7)
            *at++ = (unsigned char)(z | 128);
        *at++ = (unsigned char)z;
    }
    return at <= longest ? at : put_planes(to, from, rows, bytes);
}

static unsigned char *put_time(unsigned char *to, const double *time, size_t rows, bool raw) {
    return raw ? put_plain(to, time, rows, sizeof *time) : put_array(to, time, rows, sizeof *time);
}

static unsigned char *put_column(unsigned char *to, uint32_t *column, size_t rows, bool raw) {
    for (size_t r = 0; r < rows; r++) /* a gap has one form */
        column[r] = (column[r] & 0x7f800000u) == 0x7f800000u ? 0x7fc00000u : column[r];
    return raw ? put_plain(to, column, rows, sizeof *column) : put_array(to, column, rows, sizeof *column);
}

static unsigned char *deflated(unsigned char *plain, size_t *size) {
#ifdef FF_HAVE_ZLIB
    uLongf packed_size = compressBound((uLong)*size);
    unsigned char *packed = plain ? malloc(packed_size) : NULL;
    /* beyond 1 half as much time again for 2 % */
    if (packed && compress2(packed, &packed_size, plain, (uLong)*size, 1) != Z_OK) {
        free(packed);
        packed = NULL;
    }
    free(plain);
    *size = packed_size;
    return packed;
#else
    (void)size;
    return plain;
#endif
}

unsigned char *ff_report_pack(const ff_report_table *t, bool raw, bool *constant, size_t *size) {
    unsigned char *plain = malloc((t->rows * 8 + 1) + t->width * (t->rows * 4 + 1) + LONGEST), *to = plain;
    uint32_t *columns = malloc((TILE * t->rows + 1) * sizeof *columns), moves[TILE];
    const bool complete = plain && columns;
    if (complete) {
        to = put_time(to, t->time, t->rows, raw);
        for (size_t first = 0; first < t->width; first += TILE) {
            const size_t count = t->width - first < TILE ? t->width - first : TILE;
            if (t->rows)
                turn(t, first, count, columns, moves);
            for (size_t c = 0; c < count; c++) {
                uint32_t *column = columns + c * t->rows;
                constant[first + c] = t->rows == 0 || moves[c] == 0 || is_constant(column, t->rows);
                if (!constant[first + c])
                    to = put_column(to, column, t->rows, raw);
            }
        }
        *size = (size_t)(to - plain);
    }
    free(columns);
    if (!complete) {
        free(plain);
        return NULL;
    }
    return raw ? plain : deflated(plain, size);
}
