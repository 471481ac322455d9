/* text/cdr.h - CDR as ROS 2 has it (XCDR1, little endian, 4-byte header): values into the caller's buffer,
 * and out of a stranger's bytes. Nothing is allocated; what does not fit, or is not there, is remembered. */
#ifndef FF_TEXT_CDR_H
#define FF_TEXT_CDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "freefloat/base.h"
#include "text/little.h"

enum { FF_CDR_HEADER = 4 };
static const uint8_t ff_cdr_header[FF_CDR_HEADER] = {0, 1, 0, 0};

typedef struct ff_cdr {
    uint8_t *at;
    size_t used, size;
    bool full;
} ff_cdr;

static inline ff_cdr ff_cdr_begin(void *buffer, size_t size) {
    ff_cdr c = {buffer, 0, size, size < FF_CDR_HEADER};
    if (!c.full) {
        memcpy(c.at, ff_cdr_header, FF_CDR_HEADER);
        c.used = FF_CDR_HEADER;
    }
    return c;
}

static inline void ff_cdr_put_raw(ff_cdr *c, const void *bytes, size_t size) {
    if (c->full || size > c->size - c->used) {
        c->full = true;
        return;
    }
    if (size)
        memcpy(c->at + c->used, bytes, size);
    c->used += size;
}

/* Alignment counts from the end of the header. Padding is zero, so equal messages are equal bytes. */
static inline void ff_cdr_align(ff_cdr *c, size_t to) {
    static const uint8_t zero[8] = {0};
    ff_cdr_put_raw(c, zero, (to - (c->used - FF_CDR_HEADER) % to) % to);
}

static inline void ff_cdr_put_number(ff_cdr *c, uint64_t x, size_t size) {
    uint8_t raw[8];
    ff_store_little(raw, x, size);
    if (!c->full && (c->used - FF_CDR_HEADER) % size)
        ff_cdr_align(c, size);
    ff_cdr_put_raw(c, raw, size);
}

static inline void ff_cdr_put_double(ff_cdr *c, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    ff_cdr_put_number(c, bits, 8);
}

static inline void ff_cdr_put_string(ff_cdr *c, const char *text) {
    const size_t size = strlen(text) + 1;
    ff_cdr_put_number(c, size, 4);
    ff_cdr_put_raw(c, text, size);
}

static inline void ff_cdr_put_time(ff_cdr *c, uint64_t time) {
    ff_cdr_put_number(c, time / 1000000000u, 4);
    ff_cdr_put_number(c, time % 1000000000u, 4);
}

static inline void ff_cdr_put_header(ff_cdr *c, uint64_t time, const char *frame) {
    ff_cdr_put_time(c, time);
    ff_cdr_put_string(c, frame);
}

static inline void ff_cdr_put_vec3(ff_cdr *c, ff_vec3 v) {
    for (int i = 0; i < 3; i++)
        ff_cdr_put_double(c, v.a[i]);
}

static inline void ff_cdr_put_doubles(ff_cdr *c, const double *values, size_t n) {
    ff_cdr_put_number(c, values ? n : 0, 4);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (values && n) {
        if (!c->full)
            ff_cdr_align(c, 8);
        ff_cdr_put_raw(c, values, n * sizeof *values);
    }
#else
    for (size_t i = 0; values && i < n; i++)
        ff_cdr_put_double(c, values[i]);
#endif
}

static inline ff_status ff_cdr_finish(const ff_cdr *c, size_t *used) {
    *used = c->full ? 0 : c->used;
    return c->full ? FF_ERR_SIZE : FF_OK;
}

/* Reading. */
typedef struct ff_cdr_in {
    const uint8_t *at;
    size_t used, size;
    bool bad;
} ff_cdr_in;

static inline ff_cdr_in ff_cdr_open(const void *bytes, size_t size) {
    /* the second half of the header are options, which a reader passes over: some write their padding there
     */
    return (ff_cdr_in){bytes, FF_CDR_HEADER, size,
                       size < FF_CDR_HEADER || memcmp(bytes, ff_cdr_header, FF_CDR_HEADER / 2) != 0};
}

static inline uint64_t ff_cdr_get_uint(ff_cdr_in *c, size_t size) {
    if (c->bad)
        return 0;
    const size_t skip = (size - (c->used - FF_CDR_HEADER) % size) % size;
    if (c->size - c->used < skip || c->size - c->used - skip < size) {
        c->bad = true;
        return 0;
    }
    c->used += skip;
    uint64_t x = 0;
    for (size_t i = size; i-- > 0;)
        x = x << 8 | c->at[c->used + i];
    c->used += size;
    return x;
}

static inline double ff_cdr_get_double(ff_cdr_in *c) {
    const uint64_t bits = ff_cdr_get_uint(c, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t ff_cdr_get_time(ff_cdr_in *c) {
    const uint64_t seconds = ff_cdr_get_uint(c, 4), ns = ff_cdr_get_uint(c, 4);
    return seconds * 1000000000u + ns;
}

/* A string where it stands, *length without its NUL; NULL: it is none. */
static inline const char *ff_cdr_get_span(ff_cdr_in *c, size_t *length) {
    const uint64_t size = ff_cdr_get_uint(c, 4); /* with NUL */
    if (c->bad || size == 0 || size > c->size - c->used || c->at[c->used + size - 1] != 0) {
        c->bad = true;
        return NULL;
    }
    const char *text = (const char *)(c->at + c->used);
    c->used += (size_t)size;
    *length = (size_t)size - 1;
    return text;
}

static inline ff_status ff_cdr_get_string(ff_cdr_in *c, char *text, size_t capacity) {
    const uint64_t size = ff_cdr_get_uint(c, 4); /* with NUL */
    if (c->bad || size == 0 || size > c->size - c->used || c->at[c->used + size - 1] != 0) {
        c->bad = true;
        return FF_ERR_FORMAT;
    }
    if (size > capacity)
        return FF_ERR_SIZE;
    memcpy(text, c->at + c->used, (size_t)size);
    c->used += (size_t)size;
    return FF_OK;
}

#endif
