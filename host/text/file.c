#include "text/file.h"
#include "text/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SILENCE = 2000 }; /* [ms] */

/* At most room - 1 bytes and a zero. False with errno; ETIMEDOUT: nothing came for a time. */
static bool fill(int file, char *text, size_t room, size_t *length, bool patient) {
    while (*length + 1 < room) {
        struct pollfd ready = {.fd = file, .events = POLLIN};
        if (!patient && poll(&ready, 1, SILENCE) == 0) {
            errno = ETIMEDOUT;
            return false;
        }
        const ssize_t n = read(file, text + *length, room - 1 - *length);
        if (n < 0 && errno != EINTR)
            return false;
        if (n == 0)
            break;
        *length += n > 0 ? (size_t)n : 0;
    }
    text[*length] = 0;
    return true;
}

/* patient: of a pipe, that its writer may take its time. */
static ff_status read_open(int file, bool patient, size_t limit, char **text, size_t *length, char *why,
                           size_t size) {
    struct stat info;
    if (fstat(file, &info) != 0)
        return ff_refuse(FF_ERR_IO, why, size, "%s", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return ff_refuse(FF_ERR_ARGUMENT, why, size, "it is a folder");
    if (S_ISREG(info.st_mode) && (size_t)info.st_size > limit) {
        *length = (size_t)info.st_size;
        return ff_refuse(FF_ERR_SIZE, why, size, "it is too large");
    }
    if (!S_ISREG(info.st_mode)) /* a pipe is waited for once it is open */
        fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    /* one byte more than allowed, so that a device or pipe shows that it has more; files of /proc have no
     * size */
    const bool sized = S_ISREG(info.st_mode) && info.st_size > 0;
    const size_t room = (sized ? (size_t)info.st_size : limit + 1) + 1;
    *text = malloc(room);
    if (!*text)
        return ff_refuse(FF_ERR_MEMORY, why, size, "no memory");
    if (!fill(file, *text, room, length, patient || S_ISREG(info.st_mode)))
        return ff_refuse(FF_ERR_IO, why, size, "%s",
                         errno == ETIMEDOUT
                             ? "it is a pipe whose writer said nothing for 2 s; give a file, or - "
                               "for the standard input"
                             : strerror(errno));
    return *length > limit ? ff_refuse(FF_ERR_SIZE, why, size, "it is too large") : FF_OK;
}

static char *confined; /* NULL: everywhere */

ff_status ff_file_confine(const char *folder) {
    free(confined);
    confined = realpath(folder, NULL);
    return confined ? FF_OK : FF_ERR_IO;
}

static const int for_reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

/* A file whose true place, links followed, lies there. Looked at is what was opened, not its name once more,
 * which somebody may have changed meanwhile; and nothing outside is opened for reading. -1: there is none. */
static int open_inside(const char *path) {
    char self[40], place[FF_FILE_PATH];
    const int at = open(path, O_PATH | O_CLOEXEC);
    if (at < 0)
        return -1;
    snprintf(self, sizeof self, "/proc/self/fd/%d", at);
    const ssize_t got = readlink(self, place, sizeof place - 1);
    place[got > 0 ? got : 0] = 0;
    const size_t n = strlen(confined);
    const bool inside = strncmp(place, confined, n) == 0 && (place[n] == '/' || confined[n - 1] == '/');
    const int file = inside ? open(self, for_reading) : -1;
    close(at);
    return file;
}

/* The same, and *text is NULL where it fails. */
static ff_status read_all(int file, bool patient, size_t limit, char **text, size_t *length, char *why,
                          size_t size) {
    const ff_status status = read_open(file, patient, limit, text, length, why, size);
    if (status != FF_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* And the file is closed. */
static ff_status read_closing(int file, bool patient, size_t limit, char **text, size_t *length, char *why,
                              size_t size) {
    const ff_status status = read_all(file, patient, limit, text, length, why, size);
    const int error = errno;
    close(file);
    errno = error;
    return status;
}

ff_status ff_file_read(const char *path, size_t limit, char **text, size_t *length, char *why, size_t size) {
    *text = NULL;
    *length = 0;
    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, true, limit, text, length, why, size);
    if (!confined)
        return ff_file_read_own(path, limit, text, length, why, size);
    const int file = open_inside(path);
    if (file < 0)
        return ff_refuse(FF_ERR_IO, why, size, "there is no such file in the scenario's folder (--sandbox)");
    return read_closing(file, false, limit, text, length, why, size);
}

ff_status ff_file_read_own(const char *path, size_t limit, char **text, size_t *length, char *why,
                           size_t size) {
    *text = NULL;
    *length = 0;
    const int file = open(path, for_reading);
    if (file < 0)
        return ff_refuse(FF_ERR_IO, why, size, "%s", strerror(errno));
    /* standard input and <(...) stand there: whoever starts the program made them */
    return read_closing(file, strncmp(path, "/dev/", 5) == 0, limit, text, length, why, size);
}

bool ff_file_lock(int file) {
    int locked;
    do
        locked = flock(file, LOCK_EX | LOCK_NB);
    while (locked != 0 && errno == EINTR);
    return locked == 0 || errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
}

/* A name that is not a file of its own - a link, a pipe, a second name of something else - is not followed:
 * it goes. One writer: the lock ends with its process, and it is asked for what stands there once it is held,
 * since the former writer may have renamed it meanwhile. */
static int open_part(const char *part) {
    for (;;) {
        struct stat info, there;
        const int file = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        const bool odd = file < 0 ? errno == ELOOP || errno == ENXIO
                                  : fstat(file, &info) == 0 && (!S_ISREG(info.st_mode) || info.st_nlink > 1);
        if (file < 0 && !odd)
            return -1;
        if (!odd && !ff_file_lock(file)) {
            const int error = errno == EWOULDBLOCK ? EBUSY : errno;
            close(file);
            errno = error;
            return -1;
        }
        const bool own =
            !odd && stat(part, &there) == 0 && info.st_ino == there.st_ino && info.st_dev == there.st_dev;
        if (own && ftruncate(file, 0) == 0)
            return file;
        const int error = errno;
        if (file >= 0)
            close(file);
        errno = error;
        if (own || (odd && unlink(part) != 0))
            return -1;
    }
}

/* A write that a signal interrupts is no failure, which the C library takes it for. */
static ssize_t put_bytes(void *cookie, const char *bytes, size_t size) {
    const int *descriptor = cookie;
    size_t done = 0;
    while (done < size) {
        const ssize_t n = write(*descriptor, bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0; /* as fopencookie(3) wants it */
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int close_bytes(void *cookie) {
    const int *descriptor = cookie;
    return close(*descriptor);
}

FILE *ff_file_stream(const int *descriptor) {
    return fopencookie((void *)(uintptr_t)descriptor, "w", (cookie_io_functions_t){.write = put_bytes});
}

ff_status ff_file_begin(const char *path, ff_file_whole *whole) {
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    const int n = snprintf(whole->part, sizeof whole->part, "%.*s.%s.part", folder, path, path + folder);
    whole->file = NULL;
    if (n < 0 || (size_t)n >= sizeof whole->part)
        return FF_ERR_SIZE;
    snprintf(whole->path, sizeof whole->path, "%s", path);
    errno = 0;
    whole->descriptor = open_part(whole->part);
    if (whole->descriptor >= 0) {
        whole->file = fopencookie(&whole->descriptor, "w",
                                  (cookie_io_functions_t){.write = put_bytes, .close = close_bytes});
        if (!whole->file) {
            close(whole->descriptor);
            errno = ENOMEM;
        }
    }
    return whole->file ? FF_OK : FF_ERR_IO;
}

/* Is the file beside the place still what is written to: a descriptor may be closed or replaced by others. */
static bool is_own(const ff_file_whole *whole) {
    struct stat written, there;
    if (fstat(whole->descriptor, &written) == 0 && stat(whole->part, &there) == 0 &&
        written.st_dev == there.st_dev && written.st_ino == there.st_ino)
        return true;
    errno = EBADF;
    return false;
}

/* Closed before it is renamed, since that is when some file systems tell of a failure; locked until after it.
 */
static ff_status end(ff_file_whole *whole, bool good, bool keep, const char *cut) {
    if (!whole->file)
        return FF_ERR_IO;
    good = good && fflush(whole->file) == 0 && !ferror(whole->file) && is_own(whole) &&
           (!keep || fsync(whole->descriptor) == 0 || errno == EINVAL || errno == EROFS);
    int error = good ? 0 : errno;
    const bool rescue = cut && !good && is_own(whole);
    const int lock = dup(whole->descriptor);
    if (fclose(whole->file) != 0 && good) {
        error = errno;
        good = false;
    }
    whole->file = NULL;
    good = good && rename(whole->part, whole->path) == 0;
    error = good ? 0 : error ? error : errno ? errno : ENOSPC;
    if (good && keep && ff_folder_sync(whole->path) != FF_OK) { /* it is there, but may be lost */
        error = errno;
        good = false;
    } else if (!good && !(rescue && rename(whole->part, cut) == 0))
        unlink(whole->part);
    if (lock >= 0)
        close(lock);
    errno = error;
    return good ? FF_OK : FF_ERR_IO;
}

ff_status ff_file_end(ff_file_whole *whole, bool good) {
    return end(whole, good, false, NULL);
}

ff_status ff_file_keep(ff_file_whole *whole, bool good) {
    return end(whole, good, true, NULL);
}

ff_status ff_file_rescue(ff_file_whole *whole, const char *cut) {
    return end(whole, true, false, cut);
}

ff_status ff_file_replace(const char *path, const char *text) {
    ff_file_whole whole;
    const ff_status status = ff_file_begin(path, &whole);
    return status != FF_OK ? status : ff_file_keep(&whole, fputs(text, whole.file) >= 0);
}

ff_status ff_folder_sync(const char *path) {
    const char *slash = strrchr(path, '/');
    char folder[FF_FILE_PATH];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) /* a folder that may be written and not read */
        return errno == EACCES ? FF_OK : FF_ERR_IO;
    const bool good = fsync(file) == 0 || errno == EINVAL || errno == EROFS; /* it cannot: nothing better */
    const int error = errno;
    close(file);
    errno = error;
    return good ? FF_OK : FF_ERR_IO;
}

ff_status ff_folder_make(const char *path) {
    char part[FF_FILE_PATH];
    if ((size_t)snprintf(part, sizeof part, "%s", path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return FF_ERR_IO;
    }
    int above = 0; /* why the first folder above it could not be made */
    for (char *c = part + 1; *part && *c; c++)
        if (*c == '/') {
            *c = 0;
            if (mkdir(part, 0777) != 0 && errno != EEXIST && !above)
                above = errno;
            *c = '/';
        }
    struct stat info;
    errno = 0;
    if ((mkdir(part, 0777) != 0 && errno != EEXIST) || stat(part, &info) != 0) {
        errno = errno == ENOENT && above ? above : errno;
        return FF_ERR_IO;
    }
    if (!S_ISDIR(info.st_mode))
        errno = ENOTDIR;
    return S_ISDIR(info.st_mode) && access(part, W_OK | X_OK) == 0 ? FF_OK : FF_ERR_IO;
}
