#include "text/keep.h"

#include <string.h>

void ff_keep(ff_keeper *keeper, void *data, size_t bytes) {
    keeper->bytes += bytes;
    if (keeper->does == FF_KEEP_COUNT || keeper->failed)
        return;
    if (bytes > keeper->left) {
        keeper->failed = true;
        return;
    }
    if (keeper->does == FF_KEEP_SAVE)
        memcpy(keeper->at, data, bytes);
    else
        memcpy(data, keeper->at, bytes);
    keeper->at += bytes;
    keeper->left -= bytes;
}

void ff_keep_around(ff_keeper *keeper, void *data, size_t bytes, void *pointer) {
    void *held;
    memcpy(&held, pointer, sizeof held);
    memset(pointer, 0, sizeof held);
    ff_keep(keeper, data, bytes);
    memcpy(pointer, &held, sizeof held);
}

void ff_keep_refuse(ff_keeper *keeper, const char *why) {
    if (!keeper->unkept)
        keeper->unkept = why;
}
