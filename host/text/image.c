#include "text/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/message.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* In memory that nobody can write any more; -1 with errno. */
static int keep_bytes(const char *name, const char *bytes, size_t length) {
    const char *slash = strrchr(name, '/');
    char plain[200]; /* the system takes 249 */
    snprintf(plain, sizeof plain, "%s", slash ? slash + 1 : name);
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int file = memfd_create(plain, flags | MFD_EXEC);
    if (file < 0 && errno == EINVAL) /* a system that does not know the last one needs it not */
        file = memfd_create(plain, flags);
    for (size_t done = 0; file >= 0 && done < length;) {
        const ssize_t n = write(file, bytes + done, length - done);
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR) {
            const int error = errno;
            close(file);
            errno = error;
            return -1;
        }
    }
    if (file >= 0)
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    return file;
}

/* The loader takes a path that it has seen for the library that it loaded from there, and the number of a
 * descriptor comes again: each load has a spelling of its own, by the bits of a counter. */
static void name_path(int file, char *path, size_t size) {
    static atomic_uint loads;
    const unsigned n = atomic_fetch_add(&loads, 1);
    size_t used = ff_append(path, size, 0, "/proc/self/fd/");
    for (int bit = 0; bit < 32; bit++)
        used = ff_append(path, size, used, n >> bit & 1 ? ".//" : "./");
    ff_append(path, size, used, "%d", file);
}

ff_status ff_image_read(ff_held *held, const char *path, const ff_held_file **file, char *why, size_t size) {
    struct stat info;
    size_t length;
    if (!ff_held_find(held, path) && stat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* a pipe may wait */
        return ff_refuse(FF_ERR_ARGUMENT, why, size, "not a file but a %s",
                         S_ISDIR(info.st_mode)    ? "folder"
                         : S_ISFIFO(info.st_mode) ? "pipe"
                                                  : "device");
    const ff_status status = ff_held_read(held, path, FF_HELD_BYTES, file, &length, why, size);
    return status == FF_ERR_SIZE ? ff_refuse(status, why, size, "it is larger than 1 GB") : status;
}

void *ff_image_load(const ff_held_file *file, char *why, size_t size) {
    char path[160]; /* 14 + 32 * 3 + a number */
    if (memmem(file->text, file->length, "$ORIGIN", 7) || memmem(file->text, file->length, "${ORIGIN}", 9)) {
        snprintf(why, size,
                 "it looks for libraries beside itself ($ORIGIN), but is loaded from memory; allowed: link "
                 "them into it, or give their folder as a whole path (-rpath) or by LD_LIBRARY_PATH");
        return NULL;
    }
    const int memory = keep_bytes(file->path, file->text, file->length);
    if (memory < 0) {
        snprintf(why, size, "it cannot be kept in memory to be loaded (memfd_create: %s)", strerror(errno));
        return NULL;
    }
    name_path(memory, path, sizeof path);
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        const size_t n = strlen(path);
        if (text && strncmp(text, path, n) == 0 && strncmp(text + n, ": ", 2) == 0)
            text += n + 2;
        snprintf(why, size, "%s", text ? text : "the loader does not say why");
    }
    close(memory);
    return library;
}
