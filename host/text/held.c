#include "text/held.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "text/file.h"
#include "text/message.h"

static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER; /* of every list: it is held for a few names */

static const ff_held_file *look_up(const ff_held *held, const char *path) {
    pthread_mutex_lock(&listing);
    const ff_held_file *file = held->first;
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    pthread_mutex_unlock(&listing);
    return file;
}

const ff_held_file *ff_held_find(const ff_held *held, const char *path) {
    const ff_held_file *file = held ? look_up(held, path) : NULL;
    return file && file->status == FF_OK ? file : NULL;
}

static void drop_file(ff_held_file *file) {
    free(file->path);
    free(file->text);
    free(file);
}

/* Takes the text. Of two threads that read the same file the first one's bytes count, `newest`: these. NULL:
 * no memory. */
static const ff_held_file *hold(ff_held *held, const char *path, char *text, size_t length, ff_status status,
                                bool newest) {
    ff_held_file *fresh = malloc(sizeof *fresh);
    char *name = strdup(path);
    if (!text || !fresh || !name) {
        free(fresh);
        free(name);
        free(text);
        return NULL;
    }
    *fresh = (ff_held_file){.path = name, .text = text, .length = length, .status = status};
    if (status == FF_OK)
        ff_sha256(text, length, fresh->sha256);
    pthread_mutex_lock(&listing);
    const ff_held_file *before = newest ? NULL : held->first;
    while (before && strcmp(before->path, path) != 0)
        before = before->next;
    if (!before) {
        fresh->next = held->first;
        held->first = fresh;
    }
    pthread_mutex_unlock(&listing);
    if (before)
        drop_file(fresh);
    return before ? before : fresh;
}

ff_status ff_held_put(ff_held *held, const char *path, const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return hold(held, path, copy, length, FF_OK, true) ? FF_OK : FF_ERR_MEMORY;
}

static bool has_bytes(const ff_held *held, const char *sha256) {
    pthread_mutex_lock(&listing);
    const ff_held_file *file = held->first;
    while (file && strcmp(file->sha256, sha256) != 0)
        file = file->next;
    pthread_mutex_unlock(&listing);
    return file != NULL;
}

/* Reads it for good, or for good not. */
static const ff_held_file *read_file(ff_held *held, const char *path, size_t limit) {
    char *text = NULL, why[200] = "", sha256[FF_SHA256_TEXT];
    size_t length = 0;
    ff_status status = ff_file_read(path, limit, &text, &length, why, sizeof why);
    if (status == FF_ERR_MEMORY)
        return NULL;
    if (status == FF_OK && held->whole) {
        ff_sha256(text, length, sha256);
        if (!has_bytes(held, sha256)) {
            status = FF_ERR_LIMIT;
            ff_append(why, sizeof why, 0, "it was changed, or named, after all files were read");
        }
    }
    if (status == FF_OK)
        return hold(held, path, text, length, FF_OK, false);
    free(text);
    return hold(held, path, strdup(why), length, status, false);
}

ff_status ff_held_read(ff_held *held, const char *path, size_t limit, const ff_held_file **file,
                       size_t *length, char *why, size_t size) {
    const ff_held_file *found = look_up(held, path);
    if (!found)
        found = read_file(held, path, limit);
    *file = found && found->status == FF_OK ? found : NULL;
    *length = found ? found->length : 0;
    if (!found)
        return ff_refuse(FF_ERR_MEMORY, why, size, "no memory");
    if (!*file)
        return ff_refuse(found->status, why, size, "%s", found->text);
    return *length > limit ? ff_refuse(FF_ERR_SIZE, why, size, "it is too large") : FF_OK;
}

void ff_held_free(ff_held *held) {
    for (ff_held_file *file = held->first, *next; file; file = next) {
        next = file->next;
        drop_file(file);
    }
    *held = (ff_held){0};
}
