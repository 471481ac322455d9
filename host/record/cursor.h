/* record/cursor.h - numbers and texts of MCAP records out of bytes that may end too early. */
#ifndef FF_RECORD_CURSOR_H
#define FF_RECORD_CURSOR_H

#include "record/mcap.h"

/* A cursor that turns bad at the first read beyond its end. */
typedef struct cursor {
    const uint8_t *at;
    size_t left;
    bool bad;
} cursor;

static inline uint64_t get_uint(cursor *c, int bytes) {
    if (c->bad || c->left < (size_t)bytes) {
        c->bad = true;
        return 0;
    }
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | c->at[i];
    c->at += bytes;
    c->left -= (size_t)bytes;
    return x;
}

static inline ff_mcap_text get_bytes(cursor *c, uint64_t size) {
    if (c->bad || c->left < size) {
        c->bad = true;
        return (ff_mcap_text){"", 0};
    }
    const ff_mcap_text text = {(const char *)c->at, (size_t)size};
    c->at += size;
    c->left -= (size_t)size;
    return text;
}

static inline ff_mcap_text get_text(cursor *c) {
    return get_bytes(c, get_uint(c, 4));
}

#endif
