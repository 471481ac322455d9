/* The module zstd: chunks of a log, compressed. Level 1: rows of doubles gain little from more. */
#include <zstd.h>

#include "record/codec.h"
#include "text/module.h"

enum { LEVEL = 1 };

static void *create(void) {
    return ZSTD_createCCtx();
}

static void destroy(void *context) {
    ZSTD_freeCCtx(context);
}

static size_t compress(void *context, void *to, size_t room, const void *from, size_t size) {
    const size_t got = ZSTD_compressCCtx(context, to, room, from, size, LEVEL);
    return ZSTD_isError(got) ? 0 : got;
}

static size_t expand(void *to, size_t room, const void *from, size_t size) {
    const size_t got = ZSTD_decompress(to, room, from, size);
    return ZSTD_isError(got) ? 0 : got;
}

static const ff_codec table = {"zstd", create, destroy, ZSTD_compressBound, compress, expand};

const ff_module ff_module_offer = {FF_MODULE_VERSION, &table};
