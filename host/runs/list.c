/* runs/list.c - the runs below out/.runs, and which of them to keep. */
#include "runs/list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runs/internal.h"
#include "text/clock.h"

enum { STALE = 3600 }; /* [s] what a process of the last hour prepares may still be wanted */

static int is_plain(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static bool add_size(void *user, const char *file) {
    void **both = user;
    char path[FF_FILE_PATH];
    struct stat info;
    if (ff__run_join(path, both[0], file) && lstat(path, &info) == 0)
        *(uint64_t *)both[1] += (uint64_t)info.st_size;
    return true;
}

static bool is_linked(const char *name, const char *id) {
    char path[FF_FILE_PATH], target[FF_FILE_PATH], wanted[FF_FILE_PATH];
    snprintf(path, sizeof path, "out/%s", name);
    snprintf(wanted, sizeof wanted, ".runs/%s/%s", name, id);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = 0;
    return strcmp(target, wanted) == 0;
}

/* False: no memory. */
static bool describe(ff_run_entry *e) {
    ff_manifest m;
    struct stat info;
    errno = 0;
    const ff_status status = ff_manifest_read(e->path, &m);
    if (status == FF_ERR_MEMORY)
        return false;
    e->error = status == FF_ERR_IO && errno != ENOENT && errno != ENOTDIR ? errno : 0;
    const char *state = ff_manifest_text(&m, "state");
    snprintf(e->state, sizeof e->state, "%s",
             ff__run_locked(e->path)              ? "running"
             : strncmp(e->id, "earlier-", 8) == 0 ? "earlier"
             : strcmp(state, "running") == 0      ? "incomplete" /* its process is gone */
             : e->error                           ? "unreadable"
             : status != FF_OK || !*state         ? "incomplete"
                                                  : state);
    snprintf(e->command, sizeof e->command, "%s", ff_manifest_text(&m, "command"));
    snprintf(e->method, sizeof e->method, "%s", ff_manifest_text(&m, "method"));
    snprintf(e->verdict, sizeof e->verdict, "%s", ff_manifest_text(&m, "verdict"));
    snprintf(e->started, sizeof e->started, "%s", ff_manifest_text(&m, "started"));
    if (!*e->started && stat(e->path, &info) == 0) {
        struct tm t;
        gmtime_r(&info.st_mtime, &t);
        strftime(e->started, sizeof e->started, "%Y-%m-%dT%H:%M:%SZ", &t);
    }
    errno = 0;
    const bool sized =
        ff__run_files(e->path, false, add_size, (void *[]){e->path, &e->bytes}) || errno != ENOMEM;
    e->linked = is_linked(e->name, e->id);
    ff_manifest_free(&m);
    return sized;
}

/* An ID says when, or at least behind which other ones, a run began. */
static int by_id(const void *a, const void *b) {
    const ff_run_entry *x = a, *y = b;
    const int names = strcmp(x->name, y->name);
    const int earlier = (strcmp(y->state, "earlier") == 0) - (strcmp(x->state, "earlier") == 0);
    return names ? names : earlier ? earlier : strcmp(x->id, y->id);
}

/* The names in a folder, as scandir(3). -1 with errno: it cannot be read; there being none is no failure. */
static int names_in(const char *folder, struct dirent ***entry) {
    errno = 0;
    const int count = scandir(folder, entry, is_plain, alphasort);
    return count >= 0 || (errno != ENOENT && errno != ENOTDIR) ? count : (*entry = NULL, 0);
}

static bool add_name(ff_run_list *list, const char *name) {
    char base[FF_FILE_PATH];
    struct dirent **entry;
    snprintf(base, sizeof base, FF_RUNS_ROOT "/%s", name);
    const int count = names_in(base, &entry);
    bool good = count >= 0;
    for (int i = 0; i < count; i++) {
        struct stat info;
        ff_run_entry e = {.linked = false};
        snprintf(e.name, sizeof e.name, "%s", name);
        snprintf(e.id, sizeof e.id, "%.63s", entry[i]->d_name);
        if (good && ff__run_join(e.path, base, entry[i]->d_name) && lstat(e.path, &info) == 0 &&
            S_ISDIR(info.st_mode)) {
            ff_run_entry *grown = realloc(list->entry, ((size_t)list->count + 1) * sizeof *grown);
            good = grown != NULL;
            if (good) {
                list->entry = grown;
                good = describe(&e);
                list->entry[list->count++] = e;
            }
            if (!good)
                errno = ENOMEM;
        }
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return good;
}

ff_status ff_runs_list(const char *name, ff_run_list *list) {
    *list = (ff_run_list){0};
    bool good = true;
    if (name) {
        char plain[128];
        ff_run_plain(name, plain, sizeof plain);
        good = add_name(list, plain);
    } else {
        struct dirent **entry;
        const int count = names_in(FF_RUNS_ROOT, &entry);
        good = count >= 0;
        for (int i = 0; i < count; i++) {
            good = good && add_name(list, entry[i]->d_name);
            free(entry[i]);
        }
        if (count >= 0)
            free(entry);
    }
    const int error = errno;
    if (good && list->count)
        qsort(list->entry, (size_t)list->count, sizeof *list->entry, by_id);
    if (good)
        return FF_OK;
    ff_runs_free(list);
    errno = error;
    return error == ENOMEM ? FF_ERR_MEMORY : FF_ERR_IO;
}

void ff_runs_free(ff_run_list *list) {
    free(list->entry);
    *list = (ff_run_list){0};
}

/* A link is followed once: whatever is read then is of one run, also if another one is shown meanwhile. */
static void follow(char path[FF_FILE_PATH]) {
    char *place = realpath(path, NULL);
    struct stat info;
    if (place && strlen(place) < FF_FILE_PATH && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        memcpy(path, place, strlen(place) + 1);
    free(place);
}

bool ff_runs_find(const char *word, char path[FF_FILE_PATH]) {
    struct stat info;
    errno = 0;
    if (snprintf(path, FF_FILE_PATH, "%s", word) < FF_FILE_PATH && stat(path, &info) == 0 &&
        S_ISDIR(info.st_mode)) {
        for (size_t n = strlen(path); n > 1 && path[n - 1] == '/';
             n--) /* behind it a link would be followed */
            path[n - 1] = 0;
        follow(path);
        return true;
    }
    const bool hidden = errno == EACCES;
    if (ff__run_join(path, FF_RUNS_ROOT, word) && strchr(word, '/') && stat(path, &info) == 0 &&
        S_ISDIR(info.st_mode))
        return true;
    ff_run_list list;
    int found = 0;
    if (ff_runs_list(NULL, &list) != FF_OK)
        return false;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.entry[i].id, word) == 0) {
            memcpy(path, list.entry[i].path, FF_FILE_PATH);
            found++;
        }
    ff_runs_free(&list);
    errno = hidden ? EACCES : ENOENT;
    return found == 1;
}

/* --------------------------------------------------------------------------------------------- pruning -- */

/* Did the run write it: it is listed, or, where nothing is listed, has a name that we give. */
static bool is_ours(const char *file, const ff_manifest *m) {
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const size_t n = strlen(name);
    const bool part = *name == '.' && n > 5 && strcmp(name + n - 5, ".part") == 0;
    if (part || strcmp(file, FF_RUN_LOCK) == 0 || strcmp(file, FF_RUN_MANIFEST) == 0)
        return true;
    const ff_node *results = m->root ? ff_node_find(m->root, "results") : NULL;
    if (results)
        return ff_node_find(results, file) != NULL;
    return ff__run_is_own(strncmp(file, "kept/", 5) == 0 ? file + 5 : file, true) ||
           (!slash && n > 4 && strcmp(name + n - 4, ".svg") == 0);
}

/* The first file in the folder of a run that is not the run's. */
static bool find_foreign(const char *folder, const char *below, int depth, const ff_manifest *m,
                         char name[FF_FILE_PATH]) {
    char path[FF_FILE_PATH], file[FF_FILE_PATH];
    bool found = false;
    DIR *dir = ff__run_join(path, folder, below) ? opendir(path) : NULL;
    for (const struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const bool fits =
            snprintf(file, sizeof file, "%s%s%s", below, *below ? "/" : "", entry->d_name) < (int)sizeof file;
        if (fits && depth < 8 && ff__run_join(path, folder, file) && lstat(path, &info) == 0 &&
            S_ISDIR(info.st_mode)) {
            found = find_foreign(folder, file, depth + 1, m, name);
        } else if (!is_ours(file, m)) {
            snprintf(name, FF_FILE_PATH, "%s", file);
            found = true;
        }
    }
    if (dir)
        closedir(dir);
    return found;
}

/* What keeps a run from being removed unless that is forced; a folder that is no run is all of someone's. */
static bool holds_foreign(const ff_run_entry *e, char name[FF_FILE_PATH]) {
    ff_manifest m;
    const ff_status status = ff_manifest_read(e->path, &m);
    snprintf(name, FF_FILE_PATH, "folder without " FF_RUN_MANIFEST);
    const bool found =
        (status == FF_ERR_IO && strcmp(e->state, "earlier") != 0) || find_foreign(e->path, "", 0, &m, name);
    ff_manifest_free(&m);
    return found;
}

/* Under its lock, so that nobody begins to write, and once it is certain that nothing shows it; first out of
 * sight, so that half of it is never taken for a run. FF_ERR_LIMIT: it is written or shown by now; FF_ERR_IO
 * with errno. */
static ff_status remove_run(const ff_run_entry *e) {
    char who[8], gone[FF_FILE_PATH];
    int lock;
    errno = 0;
    const ff_status locked = ff__run_lock(e->path, &lock, who, sizeof who);
    if (locked != FF_OK)
        return locked == FF_ERR_IO && errno == ENOENT ? FF_ERR_LIMIT : locked; /* someone else removed it */
    const bool shown = is_linked(e->name, e->id);
    const int n = snprintf(gone, sizeof gone, FF_RUNS_ROOT "/%s/.gone-%s", e->name, e->id);
    const bool good = !shown && n > 0 && n < (int)sizeof gone && rename(e->path, gone) == 0;
    const int error = errno;
    ff__run_unlock(good ? gone : e->path, &lock);
    if (good)
        ff__run_remove(gone, false);
    errno = error;
    return good ? FF_OK : shown ? FF_ERR_LIMIT : FF_ERR_IO;
}

/* What processes that were killed left half made or half removed. */
static void sweep(const char *name) {
    char base[FF_FILE_PATH], path[FF_FILE_PATH];
    snprintf(base, sizeof base, FF_RUNS_ROOT "/%s", name);
    DIR *dir = opendir(base);
    const time_t now = (time_t)(ff_clock_real() / 1000000000);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat info;
        const char *n = entry->d_name;
        const bool half = strncmp(n, ".new-", 5) == 0 || strncmp(n, ".gone-", 6) == 0;
        if (!ff__run_join(path, base, n) || lstat(path, &info) != 0 || now - info.st_mtime < STALE)
            continue;
        if (S_ISLNK(info.st_mode))
            unlink(path);
        else if (half && !ff__run_locked(path))
            ff__run_remove(path, false);
    }
    if (dir)
        closedir(dir);
}

ff_status ff_runs_prune(const ff_runs_prune_config *config) {
    ff_run_list list;
    const ff_status listed = ff_runs_list(config->name, &list);
    if (listed != FF_OK)
        return listed;
    uint64_t complete = 0;
    for (int i = list.count - 1; i >= 0; i--) { /* from the newest */
        const ff_run_entry *e = &list.entry[i];
        const bool last = i == list.count - 1 || strcmp(e->name, list.entry[i + 1].name) != 0;
        if (last && !config->dry)
            sweep(e->name);
        complete = last ? 0 : complete;
        if (e->error) { /* whole or not: it is not known */
            if (config->failed)
                config->failed(config->user, e, e->error);
            continue;
        }
        const bool cut = strcmp(e->state, "stopped") == 0 || strcmp(e->state, "incomplete") == 0;
        bool old = cut && config->incomplete;
        if (!cut && strcmp(e->state, "running") != 0)
            old = ++complete > config->keep;
        if (cut && !old && config->cut)
            config->cut(config->user, e);
        char foreign[FF_FILE_PATH];
        if (!old || e->linked)
            continue;
        if (!config->force && holds_foreign(e, foreign)) {
            if (config->kept)
                config->kept(config->user, e, foreign);
            continue;
        }
        const ff_status status = config->dry ? FF_OK : remove_run(e);
        if (status == FF_OK && config->removed)
            config->removed(config->user, e);
        if (status == FF_ERR_IO && config->failed)
            config->failed(config->user, e, errno);
    }
    ff_runs_free(&list);
    return FF_OK;
}
