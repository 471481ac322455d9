/* text/sha256.h - the SHA-256 of FIPS 180-4, for what a log or a manifest must name without doubt. */
#ifndef FF_TEXT_SHA256_H
#define FF_TEXT_SHA256_H

#include "freefloat/base.h"

enum { FF_SHA256_TEXT = 65 };

/* 64 hexadecimal digits of the bytes' digest. */
void ff_sha256(const void *bytes, size_t size, char text[FF_SHA256_TEXT]);

/* The same of bytes that come in pieces: begin, add any number of times, end. */
typedef struct ff_sha256_state {
    uint32_t H[8];
    uint64_t size; /* added so far */
    unsigned char held[64];
} ff_sha256_state;

void ff_sha256_begin(ff_sha256_state *s);
void ff_sha256_add(ff_sha256_state *s, const void *bytes, size_t size);
void ff_sha256_end(ff_sha256_state *s, char text[FF_SHA256_TEXT]);
/* Of a regular file's bytes, and how many they are. sync: they are on the disk when it returns. FF_ERR_IO
 * with errno; text is empty then. */
ff_status ff_sha256_file(const char *path, bool sync, char text[FF_SHA256_TEXT], uint64_t *size);

/* The standard's own arithmetic on blocks of 64 bytes, for processors without instructions for it and for
 * comparison. */
void ff__sha256_blocks(uint32_t H[8], const unsigned char *M, size_t count);

#endif
