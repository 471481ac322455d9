/* runs/publish.c - how a complete run comes to be seen. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runs/internal.h"

/* ------------------------------------------------------------------------------------- out/NAME, a link --
 */

/* A plain folder of an earlier version becomes one more run: both change places in one step where the file
 * system can, so that something whole is always there. */
static bool exchange(const char *link, const char *shown) {
    struct stat info;
    if (renameat2(AT_FDCWD, link, AT_FDCWD, shown, RENAME_EXCHANGE) == 0) {
        if (lstat(link, &info) == 0 && S_ISLNK(info.st_mode)) /* another run was quicker */
            unlink(link);
        return true;
    }
    char aside[FF_FILE_PATH];
    if ((errno != EINVAL && errno != ENOSYS) || snprintf(aside, sizeof aside, "%.4300s-folder", link) < 0)
        return false;
    return rename(shown, aside) == 0 && rename(link, shown) == 0;
}

ff_status ff__run_link(const ff_run_folder *run) {
    char link[FF_FILE_PATH], target[FF_FILE_PATH];
    const char *name = run->shown + strlen("out/");
    struct stat info;
    snprintf(target, sizeof target, ".runs/%.128s/%s", name, run->id);
    const bool folder = lstat(run->shown, &info) == 0 && S_ISDIR(info.st_mode);
    snprintf(link, sizeof link, FF_RUNS_ROOT "/%.128s/%s-%s", name, folder ? "earlier" : ".link", run->id);
    unlink(link);
    if (symlink(target, link) != 0)
        return FF_ERR_IO;
    char base[FF_FILE_PATH];
    snprintf(base, sizeof base, FF_RUNS_ROOT "/%.128s", name);
    ff__run_sync(
        run->path); /* what the link names is there first; the link itself may follow when it likes */
    ff__run_sync(base);
    const bool good = folder ? exchange(link, run->shown) : rename(link, run->shown) == 0;
    if (good)
        return FF_OK;
    const int error = errno;
    unlink(link);
    errno = error;
    return FF_ERR_IO;
}

/* ------------------------------------------------------------------------------- --out DIR, file by file --
 */

/* What we write ourselves, at the top or in the folder of one method. */
static const char *const own[] = {"summary.json", "report.html",      "log.csv",          "log.mcap",
                                  "fault.csv",    "results.csv",      "results.journal",  "command",
                                  "check.json",   "delay-margin.csv", "delay-margin.html"};

bool ff__run_is_own(const char *file, bool below) {
    const char *slash = strchr(file, '/'), *name = slash ? slash + 1 : file;
    if (slash && (!below || strchr(name, '/')))
        return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0)
            return true;
    return false;
}

typedef struct foreign {
    const char *folder;
    const ff_node *former; /* results of the run that is there */
    char *name;
} foreign;

static bool is_former(void *user, const char *file) {
    const foreign *f = user;
    char path[FF_FILE_PATH], hash[FF_SHA256_TEXT];
    uint64_t size;
    const ff_node *listed = f->former ? ff_node_find(f->former, file) : NULL;
    if (!listed && !ff__run_is_own(file, false))
        return true;
    if (listed && ff__run_join(path, f->folder, file) && ff_sha256_file(path, false, hash, &size) == FF_OK &&
        listed->kind == FF_NODE_SCALAR && strcmp(hash, listed->text) == 0)
        return true;
    snprintf(f->name, FF_FILE_PATH, "%s", file);
    return false;
}

bool ff__run_foreign(const char *folder, const ff_manifest *former, char name[FF_FILE_PATH]) {
    foreign f = {.folder = folder, .former = ff_node_find(former->root, "results"), .name = name};
    *name = 0;
    return !ff__run_files(folder, is_former, &f) && *name;
}

/* A result whose place is taken by a file that the former run did not write. */
static const char *taken(const char *folder, const ff_node *fresh, const ff_node *former) {
    char path[FF_FILE_PATH];
    struct stat info;
    for (const ff_node *n = fresh ? fresh->child : NULL; n; n = n->next)
        if (!(former && ff_node_find(former, n->key)) && ff__run_join(path, folder, n->key) &&
            lstat(path, &info) == 0)
            return n->key;
    return NULL;
}

typedef struct switching {
    const char *folder;
    const ff_node *fresh, *former; /* results; NULL: none */
    bool below;                    /* the former run was ours and not completed: its files have no list */
} switching;

static bool remove_stale(void *user, const char *file) {
    const switching *s = user;
    char path[FF_FILE_PATH];
    const bool listed = s->former && ff_node_find(s->former, file);
    if ((s->fresh && ff_node_find(s->fresh, file)) || (!listed && !ff__run_is_own(file, s->below)) ||
        !ff__run_join(path, s->folder, file))
        return true;
    if (unlink(path) != 0)
        return false;
    for (char *slash; (slash = strrchr(path, '/')) && (size_t)(slash - path) > strlen(s->folder);) {
        *slash = 0;
        if (rmdir(path) != 0) /* not empty */
            break;
    }
    return true;
}

static bool move_one(const char *from, const char *to, const char *file) {
    char a[FF_FILE_PATH], b[FF_FILE_PATH];
    struct stat info;
    if (!ff__run_join(a, from, file) || !ff__run_join(b, to, file))
        return false;
    for (char *c = b + strlen(to) + 1; (c = strchr(c, '/')); c++) {
        *c = 0;
        if (mkdir(b, 0777) != 0 && errno != EEXIST)
            return false;
        *c = '/';
    }
    return rename(a, b) == 0 || (errno == ENOENT && stat(b, &info) == 0); /* moved before the cut */
}

/* The former manifest goes first and the new one comes last: in between the folder is not complete, and what
 * is still to be moved is known. Done again after a cut it comes to the same. */
ff_status ff__run_move(const char *folder, bool force) {
    char fresh[FF_FILE_PATH], at[FF_FILE_PATH], aside[FF_FILE_PATH];
    if (!ff__run_join(fresh, folder, FF_RUN_NEW) || !ff__run_join(at, folder, FF_RUN_MANIFEST) ||
        !ff__run_join(aside, folder, FF_RUN_FORMER))
        return FF_ERR_IO;
    ff_manifest m, former;
    if (ff_manifest_read(fresh, &m) != FF_OK)
        return FF_ERR_IO;
    bool good = true;
    if (!force && ff__manifest_read_file(at, &former) == FF_OK) { /* else the switch was begun before */
        good = !taken(folder, ff_node_find(m.root, "results"), ff_node_find(former.root, "results"));
        ff_manifest_free(&former);
        if (!good) {
            ff_manifest_free(&m);
            errno = EEXIST;
            return FF_ERR_IO;
        }
    }
    good = rename(at, aside) == 0 || errno == ENOENT;
    good = ff__manifest_read_file(aside, &former) != FF_ERR_MEMORY && good;
    switching s = {.folder = folder,
                   .fresh = ff_node_find(m.root, "results"),
                   .former = former.root ? ff_node_find(former.root, "results") : NULL,
                   .below = former.root && !ff_manifest_complete(&former)};
    good = good &&
           ff__run_files(folder, remove_stale, &s); /* else what is stale would seem to be of the new one */
    for (const ff_node *n = s.fresh ? s.fresh->child : NULL; n && good; n = n->next)
        good = move_one(fresh, folder, n->key);
    if (good) {
        ff__run_sync(folder);
        good = move_one(fresh, folder, FF_RUN_MANIFEST);
    }
    const int error = errno;
    if (good) {
        unlink(aside);
        ff__run_remove(fresh, false);
        ff__run_sync(folder);
    }
    ff_manifest_free(&m);
    ff_manifest_free(&former);
    errno = error;
    return good ? FF_OK : FF_ERR_IO;
}
