#include "text/held.h"

#include <stdlib.h>
#include <string.h>

#include "text/file.h"
#include "text/message.h"

const ff_held_file *ff_held_find(const ff_held *held, const char *path) {
    const ff_held_file *file = held ? held->first : NULL;
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    return file;
}

/* Takes the text. */
static const ff_held_file *hold(ff_held *held, const char *path, char *text, size_t length) {
    ff_held_file *fresh = malloc(sizeof *fresh);
    char *name = strdup(path);
    if (!text || !fresh || !name) {
        free(fresh);
        free(name);
        free(text);
        return NULL;
    }
    *fresh = (ff_held_file){.next = held->first, .path = name, .text = text, .length = length};
    ff_sha256(text, length, fresh->sha256);
    return held->first = fresh;
}

ff_status ff_held_put(ff_held *held, const char *path, const char *text, size_t length) {
    char *copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return hold(held, path, copy, length) ? FF_OK : FF_ERR_MEMORY;
}

ff_status ff_held_read(ff_held *held, const char *path, size_t limit, const ff_held_file **file,
                       size_t *length, char *why, size_t size) {
    *file = ff_held_find(held, path);
    if (*file) {
        *length = (*file)->length;
        return *length > limit ? ff_refuse(FF_ERR_SIZE, why, size, "it is too large") : FF_OK;
    }
    char *text;
    const ff_status status = ff_file_read(path, limit, &text, length, why, size);
    if (status != FF_OK)
        return status;
    *file = hold(held, path, text, *length);
    return *file ? FF_OK : ff_refuse(FF_ERR_MEMORY, why, size, "no memory");
}

void ff_held_free(ff_held *held) {
    for (ff_held_file *file = held->first, *next; file; file = next) {
        next = file->next;
        free(file->path);
        free(file->text);
        free(file);
    }
    held->first = NULL;
}
