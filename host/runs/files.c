/* runs/files.c - paths, locks and trees of files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runs/internal.h"

bool ff__run_join(char path[FF_FILE_PATH], const char *folder, const char *name) {
    const int n = snprintf(path, FF_FILE_PATH, "%s/%s", folder, name);
    if (n >= 0 && n < FF_FILE_PATH)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

void ff_run_plain(const char *name, char *plain, size_t size) {
    size_t n = 0;
    for (const char *c = name; *c && n + 1 < size; c++, n++)
        plain[n] = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                           strchr("_=:-+,", *c) || (*c == '.' && n > 0)
                       ? *c
                       : '_';
    plain[n] = 0;
}

bool ff_run_below(const char *folder, const char *name, char path[FF_FILE_PATH]) {
    char plain[256];
    ff_run_plain(name, plain, sizeof plain);
    return ff__run_join(path, folder, plain);
}

bool ff__run_is_link(const char *folder, const char *file) {
    char path[FF_FILE_PATH];
    struct stat info;
    if (!ff__run_join(path, folder, file))
        return false;
    for (char *end = path + strlen(folder) + 1; end;) {
        end = strchr(end, '/');
        if (end)
            *end = 0;
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            return true;
        if (end)
            *end++ = '/';
    }
    return false;
}

ff_status ff__run_hash(const char *folder, const char *file, char sha256[FF_SHA256_TEXT]) {
    char path[FF_FILE_PATH];
    uint64_t size;
    if (ff__run_is_link(folder, file)) {
        errno = ELOOP;
        return FF_ERR_IO;
    }
    return ff__run_join(path, folder, file) ? ff_sha256_file(path, false, sha256, &size) : FF_ERR_IO;
}

bool ff__run_is_below(const char *name) {
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (*part == '/' || *part == 0 || strncmp(part, "../", 3) == 0 || strcmp(part, "..") == 0)
            return false;
    return true;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

static int remove_below(const char *path, const struct stat *info, int kind, struct FTW *at) {
    return at->level == 0 ? 0 : remove_one(path, info, kind, at);
}

void ff__run_remove(const char *folder, bool keep) {
    nftw(folder, keep ? remove_below : remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

ff_status ff__run_sync(const char *folder) {
    char path[FF_FILE_PATH];
    return ff__run_join(path, folder, "") ? ff_folder_sync(path) : FF_ERR_IO;
}

/* ---------------------------------------------------------------------------------------------- locks -- */

/* Is the file still the one under its name: whoever lets go removes it. */
static bool is_there(int file, const char *path) {
    struct stat held, there;
    return fstat(file, &held) == 0 && stat(path, &there) == 0 && held.st_dev == there.st_dev &&
           held.st_ino == there.st_ino;
}

static void read_owner(int file, char *who, size_t size) {
    char text[128] = "";
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    snprintf(who, size, "%s", *text ? text : "it says not which");
}

static void write_owner(int file) {
    char host[64] = "", text[128];
    gethostname(host, sizeof host - 1);
    const int n = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(file, 0) != 0 || pwrite(file, text, (size_t)n, 0) != n) { /* a word for people only */
    }
}

ff_status ff__run_lock(const char *folder, int *lock, char *who, size_t size) {
    char path[FF_FILE_PATH];
    *lock = -1;
    if (!ff__run_join(path, folder, FF_RUN_LOCK))
        return FF_ERR_IO;
    for (;;) {
        const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (file < 0)
            return FF_ERR_IO;
        if (!ff_file_lock(file)) {
            const int error = errno;
            if (error == EWOULDBLOCK)
                read_owner(file, who, size);
            close(file);
            errno = error;
            return error == EWOULDBLOCK ? FF_ERR_LIMIT : FF_ERR_IO;
        }
        if (is_there(file,
                     path)) { /* also where the file system has no locks: the manifest is left to tell */
            write_owner(file);
            *lock = file;
            return FF_OK;
        }
        close(file);
    }
}

void ff__run_unlock(const char *folder, int *lock) {
    char path[FF_FILE_PATH];
    if (*lock < 0)
        return;
    if (ff__run_join(path, folder, FF_RUN_LOCK) && is_there(*lock, path))
        unlink(path);
    close(*lock);
    *lock = -1;
}

bool ff__run_locked(const char *folder) {
    char path[FF_FILE_PATH];
    if (!ff__run_join(path, folder, FF_RUN_LOCK))
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0)
        return false;
    const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(file);
    return held;
}

/* ---------------------------------------------------------------------------------------------- files -- */

static int is_shown(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int is_there_at_all(const struct dirent *entry) {
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
           strcmp(entry->d_name, FF_RUN_LOCK) != 0;
}

static bool walk(const char *folder, const char *below, int depth, bool hidden,
                 bool (*take)(void *user, const char *file), void *user) {
    char path[FF_FILE_PATH], file[FF_FILE_PATH];
    struct dirent **entry;
    if (*below ? !ff__run_join(path, folder, below) : snprintf(path, sizeof path, "%s", folder) < 0)
        return false;
    const int count = scandir(path, &entry, hidden ? is_there_at_all : is_shown, alphasort);
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        struct stat info;
        const bool fits = *below ? ff__run_join(file, below, entry[i]->d_name)
                                 : snprintf(file, sizeof file, "%s", entry[i]->d_name) > 0;
        good = good && fits && ff__run_join(path, folder, file);
        if (good && depth > 0 && lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            good = walk(folder, file, depth - 1, hidden, take, user);
        else if (good && (*below || strcmp(file, FF_RUN_MANIFEST) != 0))
            good = take(user, file);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return good;
}

bool ff__run_files(const char *folder, bool hidden, bool (*take)(void *user, const char *file), void *user) {
    return walk(folder, "", 4, hidden, take, user);
}
