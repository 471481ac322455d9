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
    /* what the link names is there first; the link itself may follow when it likes */
    const bool good = ff__run_sync(run->path) == FF_OK && ff__run_sync(base) == FF_OK &&
                      (folder ? exchange(link, run->shown) : rename(link, run->shown) == 0);
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
static const char *const own[] = {"summary.json", "report.html",      "log.csv",           "log.mcap",
                                  "fault.csv",    "results.csv",      "results.journal",   "command",
                                  "check.json",   "delay-margin.csv", "delay-margin.html", "log.cut.csv"};

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
    return !ff__run_files(folder, false, is_former, &f) && *name;
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

const char *ff__run_blocked(const char *folder) {
    char path[FF_FILE_PATH];
    struct stat info;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (ff__run_join(path, folder, own[i]) && lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            return own[i];
    return ff__run_join(path, folder, FF_RUN_MANIFEST) && lstat(path, &info) == 0 && S_ISDIR(info.st_mode)
               ? FF_RUN_MANIFEST
               : NULL;
}

typedef struct switching {
    char folder[FF_FILE_PATH], from[FF_FILE_PATH], aside[FF_FILE_PATH];
    const ff_node *fresh, *former; /* results; NULL: none */
    bool below;                    /* the former run was ours and not completed: its files have no list */
} switching;

static bool is_in(const char *folder, const char *file) {
    char path[FF_FILE_PATH];
    struct stat info;
    return ff__run_join(path, folder, file) && lstat(path, &info) == 0;
}

bool ff__run_leads_out(const char *folder, const char *file) {
    char above[FF_FILE_PATH];
    const char *slash = strrchr(file, '/');
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - file) : 0, file);
    return slash && ff__run_is_link(folder, above);
}

/* With the folders that it needs, and without those that are empty then. Through no link: what it leads to is
 * not ours. */
static bool move_one(const char *from, const char *to, const char *file) {
    char a[FF_FILE_PATH], b[FF_FILE_PATH];
    if (!ff__run_join(a, from, file) || !ff__run_join(b, to, file))
        return false;
    if (ff__run_leads_out(from, file) || ff__run_leads_out(to, file)) {
        errno = ELOOP;
        return false;
    }
    for (char *c = b + strlen(to) + 1; (c = strchr(c, '/')); c++) {
        *c = 0;
        if (mkdir(b, 0777) != 0 && errno != EEXIST)
            return false;
        *c = '/';
    }
    if (rename(a, b) != 0)
        return errno == ENOENT && is_in(to, file); /* moved before the cut */
    for (char *slash; (slash = strrchr(a, '/')) && (size_t)(slash - a) > strlen(from);) {
        *slash = 0;
        if (rmdir(a) != 0) /* not empty */
            break;
    }
    return true;
}

/* What the former run wrote, what has a result's name, and what stands where a new result will; not a new one
 * that was moved before a cut. */
static bool set_aside(void *user, const char *file) {
    const switching *s = user;
    const bool fresh = s->fresh && ff_node_find(s->fresh, file);
    const bool stale = (s->former && ff_node_find(s->former, file)) || ff__run_is_own(file, s->below);
    return (fresh ? !is_in(s->from, file) : !stale) || move_one(s->folder, s->aside, file);
}

static bool give_back(void *user, const char *file) {
    const switching *s = user;
    return move_one(s->aside, s->folder, file);
}

/* Undoes it. False: it failed. */
static bool put_back(switching *s) {
    bool good = is_in(s->from, FF_RUN_MANIFEST) || move_one(s->folder, s->from, FF_RUN_MANIFEST);
    for (const ff_node *n = s->fresh ? s->fresh->child : NULL; n; n = n->next)
        good =
            (is_in(s->from, n->key) || !is_in(s->folder, n->key) || move_one(s->folder, s->from, n->key)) &&
            good;
    good = good && ff__run_files(s->aside, false, give_back, s) &&
           (!is_in(s->aside, FF_RUN_MANIFEST) || move_one(s->aside, s->folder, FF_RUN_MANIFEST));
    if (good)
        ff__run_remove(s->aside, false);
    return good;
}

/* The former run is set aside, its manifest first, then the new files are moved and the new manifest comes
 * last: in between the folder is not complete, and what is still to be moved is known. Done again after a cut
 * it comes to the same. */
static bool exchange_files(switching *s) {
    if ((mkdir(s->aside, 0777) != 0 && errno != EEXIST) ||
        (is_in(s->folder, FF_RUN_MANIFEST) && !move_one(s->folder, s->aside, FF_RUN_MANIFEST)) ||
        !ff__run_files(s->folder, false, set_aside, s))
        return false;
    for (const ff_node *n = s->fresh ? s->fresh->child : NULL; n; n = n->next)
        if (!move_one(s->from, s->folder, n->key))
            return false;
    return ff__run_sync(s->folder) == FF_OK && move_one(s->from, s->folder, FF_RUN_MANIFEST) &&
           ff__run_sync(s->folder) == FF_OK;
}

ff_status ff__run_move(const char *folder, bool force) {
    switching s = {.fresh = NULL};
    ff_manifest m, former;
    if (!ff__run_join(s.from, folder, FF_RUN_NEW) || !ff__run_join(s.aside, folder, FF_RUN_FORMER) ||
        snprintf(s.folder, sizeof s.folder, "%s", folder) < 0 || ff_manifest_read(s.from, &m) != FF_OK)
        return FF_ERR_IO;
    const bool begun = is_in(s.aside, FF_RUN_MANIFEST);
    const ff_status read = ff_manifest_read(begun ? s.aside : folder, &former);
    s.fresh = ff_node_find(m.root, "results");
    s.former = former.root ? ff_node_find(former.root, "results") : NULL;
    s.below = former.root && !ff_manifest_complete(&former);
    ff_status status = FF_OK;
    int error = ENOMEM;
    if (read == FF_ERR_MEMORY)
        status = FF_ERR_IO;
    else if (!force && !begun && former.root && taken(folder, s.fresh, s.former)) {
        status = FF_ERR_IO;
        error = EEXIST;
    } else if (!exchange_files(&s)) {
        error = errno;
        status = put_back(&s) ? FF_ERR_IO : FF_ERR_LIMIT;
    } else {
        ff__run_remove(s.aside, false);
        ff__run_remove(s.from, false);
    }
    ff_manifest_free(&m);
    ff_manifest_free(&former);
    errno = error;
    return status;
}
