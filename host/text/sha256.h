/* text/sha256.h - the SHA-256 of FIPS 180-4, for what a log must name without doubt. */
#ifndef FF_TEXT_SHA256_H
#define FF_TEXT_SHA256_H

#include "freefloat/base.h"

enum { FF_SHA256_TEXT = 65 };

/* 64 hexadecimal digits of the bytes' digest. */
void ff_sha256(const void *bytes, size_t size, char text[FF_SHA256_TEXT]);

#endif
