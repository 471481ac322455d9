/* text/keep.h - the state of something that runs, as bytes: counted, saved, restored. Each part has one
 * function that names what it consists of, ff_PART_keep, for all three, so that what is saved is what is
 * restored.
 *
 * Pointers are not state: a part keeps them apart (ff_keep_around), so that bytes saved twice are the same,
 * and can be restored into another instance of the same build. */
#ifndef FF_TEXT_KEEP_H
#define FF_TEXT_KEEP_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ff_keep_does { FF_KEEP_COUNT, FF_KEEP_SAVE, FF_KEEP_RESTORE } ff_keep_does;

typedef struct ff_keeper {
    ff_keep_does does;
    unsigned char *at;  /* next byte; not written where it restores */
    size_t left;        /* [bytes] from there on */
    size_t bytes;       /* that were kept so far */
    bool failed;        /* they do not fit: nothing more is touched */
    const char *unkept; /* a part that cannot be copied: why; a constant */
} ff_keeper;

/* These bytes. */
void ff_keep(ff_keeper *keeper, void *data, size_t bytes);
/* The same but for one pointer in them: it is saved as zero, and stays as it is. */
void ff_keep_around(ff_keeper *keeper, void *data, size_t bytes, void *pointer);
/* A part that cannot be copied. */
void ff_keep_refuse(ff_keeper *keeper, const char *why);

#endif
