/* record/codec.h - how the chunks of a log are compressed: zstd, by a module of its own (text/module.h),
 * where libzstd was there when the program was built. Without it logs are written as they are, and compressed
 * ones are said to be unsupported. */
#ifndef FF_RECORD_CODEC_H
#define FF_RECORD_CODEC_H

#include <stddef.h>

typedef struct ff_codec {
    const char *name;               /* in the chunk's record */
    void *(*create)(void);          /* for one writer; NULL: no memory */
    void (*destroy)(void *context); /* NULL is fine */
    size_t (*bound)(size_t size);   /* [bytes] that size bytes need at most */
    size_t (*compress)(void *context, void *to, size_t room, const void *from, size_t size); /* 0: failed */
    size_t (*expand)(void *to, size_t room, const void *from, size_t size); /* 0: damaged, or too large */
} ff_codec;

/* NULL: this installation is without it. Loaded once. */
const ff_codec *ff_codec_zstd(void);

#endif
