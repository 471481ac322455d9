#include "record/codec.h"

#include <pthread.h>

#include "text/module.h"

static const ff_codec *zstd;

static void load(void) {
    char why[256]; /* a log without it is a log */
    zstd = ff_module_table("zstd", why, sizeof why);
}

const ff_codec *ff_codec_zstd(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return zstd;
}
