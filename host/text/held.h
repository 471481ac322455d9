/* text/held.h - files that are read once: whoever asks again, for a hash, a log, a picture or to load it,
 * gets the bytes that were read first, also from a pipe and where the file was changed meanwhile. One that
 * could not be read cannot be read again either. Any thread may call these, but for put and free. */
#ifndef FF_TEXT_HELD_H
#define FF_TEXT_HELD_H

#include "freefloat/base.h"
#include "text/sha256.h"

typedef struct ff_held_file {
    struct ff_held_file *next;
    char *path, *text; /* a zero stands behind the bytes */
    size_t length;     /* [bytes] */
    char sha256[FF_SHA256_TEXT];
    ff_status status; /* of reading it; not FF_OK: `text` is why */
} ff_held_file;

enum { FF_HELD_BYTES = 1 << 30 }; /* of whatever file: a library */

/* Zero at first. */
typedef struct ff_held {
    ff_held_file *first;
    bool whole; /* all is read: what has another path must have the bytes of one of them, FF_ERR_LIMIT */
} ff_held;

/* A file that is not on a disk, e.g. what a page's editor holds: from now on `path` is this text, which is
 * copied. FF_ERR_MEMORY. */
ff_status ff_held_put(ff_held *held, const char *path, const char *text, size_t length);
/* As ff_file_read, but for *file, which is held's. */
ff_status ff_held_read(ff_held *held, const char *path, size_t limit, const ff_held_file **file,
                       size_t *length, char *why, size_t size);
/* What was read before; NULL: it was not, or nothing is held (NULL). */
const ff_held_file *ff_held_find(const ff_held *held, const char *path);
void ff_held_free(ff_held *held);

#endif
