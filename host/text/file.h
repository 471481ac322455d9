/* text/file.h - whole files: read at once with a bound, written so that a reader never sees half of one. */
#ifndef FF_TEXT_FILE_H
#define FF_TEXT_FILE_H

#include <stdio.h>

#include "freefloat/base.h"

enum { FF_FILE_PATH = 4400 }; /* bytes of a path, with its end */

/* All bytes of the file and a zero after them, malloc'ed. A pipe is read to its end; "-" is the standard
 * input. FF_ERR_IO (`why`, if not NULL, is the system's reason), FF_ERR_ARGUMENT (a
 * folder), FF_ERR_SIZE (more than `limit` bytes; *length is then the file's size where it has one, else limit
 * + 1), FF_ERR_MEMORY; *text is NULL then. */
ff_status ff_file_read(const char *path, size_t limit, char **text, size_t *length, char *why, size_t size);

/* From now on files are read from this folder alone, wherever links lead. FF_ERR_IO: errno. */
ff_status ff_file_confine(const char *folder);
/* The same as ff_file_read wherever the file lies: what we wrote ourselves, where the caller chose; "-" is a
 * name. */
ff_status ff_file_read_own(const char *path, size_t limit, char **text, size_t *length, char *why,
                           size_t size);

/* A lock that ends with its process, where the file system has locks. False with errno, EWOULDBLOCK: another
 * process has it. */
bool ff_file_lock(int file);

/* A file that appears whole or not at all: written beside its place as .NAME.part, by one process at a time,
 * then renamed. */
typedef struct ff_file_whole { /* stays where it is until its end */
    FILE *file;
    int descriptor;
    char path[FF_FILE_PATH], part[FF_FILE_PATH];
} ff_file_whole;

/* FF_ERR_IO with errno, EBUSY: another process writes it; FF_ERR_SIZE: the path is too long. */
ff_status ff_file_begin(const char *path, ff_file_whole *whole);
/* Closes it and, if `good` and every byte was written, puts it in its place; otherwise removes it. FF_ERR_IO
 * with errno of the first failure, ENOSPC where the system gave none. */
ff_status ff_file_end(ff_file_whole *whole, bool good);
/* The same, and on the disk before it is in its place, which is on the disk, too: a power cut leaves the
 * former or the new one. */
ff_status ff_file_keep(ff_file_whole *whole, bool good);
/* The same as ff_file_end, but what was written before a failure stays, under a name that says so. */
ff_status ff_file_rescue(ff_file_whole *whole, const char *cut);
/* A stream to this descriptor, which stays the caller's, as must the number, whose writes are repeated where
 * a signal interrupts them: the C library drops their bytes. NULL: no memory. */
FILE *ff_file_stream(const int *descriptor);
/* Begun and kept: one text. */
ff_status ff_file_replace(const char *path, const char *text);

/* The names in the folder of this file are on the disk, where the file system can; of a folder with a /
 * behind it its own. FF_ERR_IO with errno. */
ff_status ff_folder_sync(const char *path);

/* Makes the folder and those above it. FF_ERR_IO with errno: none that can be written into. */
ff_status ff_folder_make(const char *path);

#endif
