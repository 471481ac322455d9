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
    ff_held_file *fresh = malloc(sizeof *fresh);
    char *name = strdup(path);
    if (!fresh || !name) {
        free(fresh);
        free(name);
        free(text);
        return ff_refuse(FF_ERR_MEMORY, why, size, "no memory");
    }
    *fresh = (ff_held_file){.next = held->first, .path = name, .text = text, .length = *length};
    ff_sha256(text, *length, fresh->sha256);
    held->first = fresh;
    *file = fresh;
    return FF_OK;
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
