/* runs/folder.c - a run's folder from its beginning to its end. */
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

static ff_outcome cannot_write(const char *path, ff_notes *notes) {
    return ff_notes_error(notes, FF_REFUSED,
                          "%s: cannot write into this folder (%s); choose another with --out", path,
                          strerror(errno));
}

/* An ID is an instant in UTC [ms]. */
static void put_id(int64_t ms, char id[FF_RUN_ID]) {
    const time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    gmtime_r(&seconds, &t);
    const size_t n = strftime(id, FF_RUN_ID, "%Y%m%d-%H%M%S", &t);
    snprintf(id + n, FF_RUN_ID - n, "-%03d", (int)(ms % 1000));
}

/* False: not one of ours. */
static bool get_id(const char *id, int64_t *ms) {
    struct tm t = {0};
    int part;
    char again[FF_RUN_ID];
    if (sscanf(id, "%4d%2d%2d-%2d%2d%2d-%3d", &t.tm_year, &t.tm_mon, &t.tm_mday, &t.tm_hour, &t.tm_min,
               &t.tm_sec, &part) != 7)
        return false;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    *ms = (int64_t)timegm(&t) * 1000 + part;
    if (*ms < 0)
        return false;
    put_id(*ms, again);
    return strcmp(id, again) == 0;
}

/* IDs follow one another as the runs do, also where the clock was set back: then the new one comes right
 * behind the newest of `base` (NULL: none to follow). */
static void take_time(ff_run_folder *run, const char *base) {
    int64_t ms = ff_clock_real() / 1000000, other;
    ms = ms > 0 ? ms : 0; /* a clock before 1970 */
    ff__run_time(ms, run->started);
    DIR *dir = base ? opendir(base) : NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (get_id(entry->d_name, &other) && other >= ms)
            ms = other + 1;
    if (dir)
        closedir(dir);
    put_id(ms, run->id);
}

/* The results of another campaign, or of the same one with another file. */
static ff_outcome refuse_other(const char *path, const ff_manifest *m, const ff_run_wanted *w,
                               ff_notes *notes) {
    const char *changed = ff_manifest_changed(m, w->inputs);
    if (!m->sealed)
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: its manifest.json is damaged, so that it is not known which campaign's "
            "results these are; choose another folder with --out, or begin anew with --force",
            path);
    if (changed)
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: holds the results of another campaign: %s is not the file that it was begun "
            "with; choose another folder with --out, or begin anew with --force",
            path, changed);
    return ff_notes_error(
        notes, FF_REFUSED,
        "%s: holds the results of another campaign, begun by another build of freefloat; choose "
        "another folder with --out, or begin anew with --force",
        path);
}

/* ---------------------------------------------------------------------------------- out/.runs/NAME/ID -- */

/* A folder is made and locked under a name that nobody looks for, then gets its own: who sees a run sees its
 * lock and its manifest. */
static ff_status make_run(const char *base, ff_run_folder *run) {
    char place[FF_FILE_PATH], which[FF_FILE_PATH], who[8];
    const int n = snprintf(run->path, sizeof run->path, "%s/.new-%ld-%lld", base, (long)getpid(),
                           (long long)ff_clock_real());
    if (n < 0 || n >= (int)sizeof run->path) {
        errno = ENAMETOOLONG;
        return FF_ERR_IO;
    }
    if (mkdir(run->path, 0777) != 0)
        return FF_ERR_IO;
    run->made = true;
    ff_status status = ff__run_lock(run->path, &run->lock, who, sizeof who);
    for (bool again = true; again && status == FF_OK;) {
        take_time(run, base);
        status = ff__manifest_write(run, NULL, which);
        again = false;
        if (status == FF_OK && (!ff__run_join(place, base, run->id) || rename(run->path, place) != 0)) {
            again = errno == EEXIST || errno == ENOTEMPTY; /* another one of this millisecond */
            status = again ? FF_OK : FF_ERR_IO;
            usleep(again ? 1000 : 0);
        }
    }
    if (status == FF_OK) {
        memcpy(run->path, place, sizeof place);
        return FF_OK;
    }
    const int error = errno;
    ff__run_unlock(run->path, &run->lock);
    ff__run_remove(run->path, false);
    errno = error;
    return status;
}

static int is_run(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* The newest run that has a key and that nobody writes: where it is the same key, this one continues it, or
 * takes over from it where it is complete. */
static ff_outcome find_same(const char *base, ff_run_folder *run, ff_notes *notes) {
    struct dirent **entry;
    const int count = scandir(base, &entry, is_run, alphasort);
    ff_outcome outcome = FF_DONE;
    bool open = true;
    for (int i = count - 1; i >= 0; i--) {
        char path[FF_FILE_PATH], who[128];
        ff_manifest m = {0};
        if (open && ff__run_join(path, base, entry[i]->d_name) && !ff__run_locked(path) &&
            ff_manifest_read(path, &m) == FF_OK && *ff_manifest_text(&m, "key")) {
            const bool same = strcmp(ff_manifest_text(&m, "key"), run->wanted.key) == 0;
            open = false;
            if (ff_manifest_complete(&m) && same)
                memcpy(run->former, path, sizeof path);
            else if (!ff_manifest_complete(&m) && same) {
                run->resumed = ff__run_lock(path, &run->lock, who, sizeof who) == FF_OK;
                memcpy(run->path, path, sizeof path);
            } else if (!ff_manifest_complete(&m) && !run->wanted.force)
                outcome = refuse_other(path, &m, &run->wanted, notes);
        }
        ff_manifest_free(&m);
        if (run->resumed && !*run->id)
            snprintf(run->id, sizeof run->id, "%.38s", entry[i]->d_name);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return outcome;
}

static ff_outcome begin_own(ff_run_folder *run, ff_notes *notes) {
    char name[128], base[FF_FILE_PATH], target[FF_FILE_PATH];
    struct stat info;
    ff_run_plain(run->wanted.name, name, sizeof name);
    snprintf(run->shown, sizeof run->shown, "out/%s", name);
    snprintf(base, sizeof base, FF_RUNS_ROOT "/%s", name);
    if (lstat(run->shown, &info) == 0 && !S_ISDIR(info.st_mode)) {
        const ssize_t n = readlink(run->shown, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (strncmp(target, ".runs/", 6) != 0)
            return ff_notes_error(
                notes, FF_REFUSED,
                "%s: cannot write into this folder (it is %s%s, not ours); remove it, or choose "
                "another with --out",
                run->shown, n > 0 ? "a link to " : "a file", target);
    }
    ff_manifest there;
    const bool other = ff_manifest_read(run->shown, &there) == FF_OK && there.sealed &&
                       strcmp(ff_manifest_text(&there, "name"), run->wanted.name) != 0;
    if (other)
        ff_notes_error(
            notes, FF_REFUSED,
            "%s: shows runs of '%s', and '%s' would have the same folder; choose another name, or a "
            "folder with --out",
            run->shown, ff_show(ff_manifest_text(&there, "name")).text, ff_show(run->wanted.name).text);
    ff_manifest_free(&there);
    if (other)
        return FF_REFUSED;
    if (ff_folder_make(base) != FF_OK || access("out", W_OK | X_OK) != 0)
        return cannot_write(run->shown, notes);
    if (run->wanted.key) {
        const ff_outcome outcome = find_same(base, run, notes);
        if (outcome != FF_DONE)
            return outcome;
    }
    if (run->resumed) {
        char id[FF_RUN_ID];
        memcpy(id, run->id, sizeof id);
        take_time(run, NULL);
        memcpy(run->id, id, sizeof id);
        if (ff__manifest_write(run, NULL, target) == FF_OK)
            return FF_DONE;
        ff__run_unlock(run->path, &run->lock);
        return cannot_write(run->path, notes);
    }
    const ff_status status = make_run(base, run);
    return status == FF_ERR_MEMORY ? ff_notes_error(notes, FF_REFUSED, "%s: no memory", run->shown)
           : status != FF_OK       ? cannot_write(run->shown, notes)
                                   : FF_DONE;
}

/* -------------------------------------------------------------------------------------------- --out DIR --
 */

static bool has(const char *folder, const char *name) {
    char path[FF_FILE_PATH];
    struct stat info;
    return ff__run_join(path, folder, name) && lstat(path, &info) == 0;
}

/* Nothing but our lock. */
static bool is_empty(const char *folder) {
    DIR *dir = opendir(folder);
    bool empty = dir != NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                          strcmp(entry->d_name, FF_RUN_LOCK) == 0);
    if (dir)
        closedir(dir);
    return empty;
}

/* Nothing but files that this run reads, none with the name of a result: who keeps a scenario's results
 * beside it. */
static bool holds_inputs_alone(const char *folder, const ff_run_inputs *inputs) {
    DIR *dir = opendir(folder);
    bool alone = dir && inputs;
    for (const struct dirent *entry; alone && (entry = readdir(dir));) {
        char path[FF_FILE_PATH];
        struct stat here, there;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, FF_RUN_LOCK) == 0)
            continue;
        alone = ff__run_join(path, folder, entry->d_name) && stat(path, &here) == 0;
        bool read = false;
        for (int i = 0; alone && i < inputs->count && !read; i++)
            read = stat(inputs->item[i].path, &there) == 0 && here.st_dev == there.st_dev &&
                   here.st_ino == there.st_ino;
        alone = read && !ff__run_is_own(entry->d_name, false) &&
                strcmp(entry->d_name, FF_RUN_MANIFEST) != 0; /* a result of that name would replace it */
    }
    if (dir)
        closedir(dir);
    return alone;
}

/* Whether the folder may be written into, and how. */
/* A link in the place of a folder that we would write in, or NULL. */
static const char *planted(const char *dir, const ff_manifest *m) {
    static const char *const own[] = {FF_RUN_NEW, FF_RUN_FORMER};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (ff__run_is_link(dir, own[i]))
            return own[i];
    const ff_node *results = m && m->root ? ff_node_find(m->root, "results") : NULL;
    for (const ff_node *n = results ? results->child : NULL; n; n = n->next)
        if (ff__run_leads_out(dir, n->key))
            return n->key;
    return NULL;
}

static ff_outcome refuse_planted(const char *dir, const char *name, ff_notes *notes) {
    return ff_notes_error(
        notes, FF_REFUSED,
        "%s: its %.*s is a link, through which nothing is written; remove it, or choose another "
        "folder with --out",
        dir, (int)strcspn(name, "/"), name);
}

static ff_outcome choose_place(ff_run_folder *run, const ff_manifest *m, const char *trouble,
                               ff_notes *notes) {
    const ff_run_wanted *w = &run->wanted;
    const char *dir = run->shown, *key = ff_manifest_text(m, "key");
    run->place = FF_RUN_STAGED;
    if (is_empty(dir)) {
        run->place = FF_RUN_DIRECT;
        return FF_DONE;
    }
    if (w->key && (m->root ? *key && strcmp(key, w->key) == 0 : has(dir, "results.journal"))) {
        run->place = FF_RUN_DIRECT;
        run->resumed = true;
        return FF_DONE;
    }
    const char *blocked = ff__run_blocked(dir), *link = planted(dir, m);
    if (link)
        return refuse_planted(dir, link, notes);
    if (blocked)
        return ff_notes_error(notes, FF_REFUSED,
                              "%s: its %s is a folder, where a result's file would be; move it, or choose "
                              "another folder with --out",
                              dir, blocked);
    if (w->force || holds_inputs_alone(dir, w->inputs))
        return FF_DONE;
    if (w->key && *key)
        return refuse_other(dir, m, w, notes);
    if (!m->root)
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: is not empty, and no run of freefloat that may be replaced (%s); choose another "
            "folder with --out, or write into it with --force",
            dir, trouble);
    if (!ff_manifest_complete(m) || has(dir, FF_RUN_NEW))
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: holds a run that was not completed%s; choose another folder with --out, or "
            "replace it with --force",
            dir, has(dir, FF_RUN_NEW) ? ", in " FF_RUN_NEW : "");
    char name[FF_FILE_PATH];
    if (ff__run_foreign(dir, m, name))
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: its file %s is not what the run there wrote, and would be replaced; move it, choose another "
            "folder with --out, or replace it with --force",
            dir, name);
    return FF_DONE;
}

static bool is_half(const char *name) {
    const size_t n = strlen(name);
    return *name == '.' && (n < 3 || (n > 5 && strcmp(name + n - 5, ".part") == 0));
}

/* Nothing but files that were never whole. */
static bool holds_nothing(const char *folder) {
    DIR *dir = opendir(folder);
    bool nothing = dir != NULL;
    for (const struct dirent *entry; nothing && (entry = readdir(dir));) {
        char path[FF_FILE_PATH];
        nothing = is_half(entry->d_name) || (ff__run_join(path, folder, entry->d_name) && rmdir(path) == 0);
    }
    if (dir)
        closedir(dir);
    return nothing;
}

/* A switch that was cut short is completed: all of it was on the disk. */
static void recover(const char *dir, ff_notes *notes) {
    char fresh[FF_FILE_PATH], aside[FF_FILE_PATH];
    ff_manifest m;
    if (!ff__run_join(fresh, dir, FF_RUN_NEW) || !ff__run_join(aside, dir, FF_RUN_FORMER))
        return;
    if (!has(fresh, FF_RUN_MANIFEST)) { /* all was moved, or nothing was begun */
        if (holds_nothing(fresh))
            ff__run_remove(fresh, false);
        if (has(dir, FF_RUN_MANIFEST) && has(aside, FF_RUN_MANIFEST))
            ff__run_remove(aside, false);
    }
    if (ff_manifest_read(fresh, &m) != FF_OK)
        return;
    if (ff_manifest_complete(&m) && ff__run_move(dir, false) == FF_OK)
        ff_notes_warning(notes, "notice: %s: the switch to its complete run %s was cut short; it is done now",
                         dir, ff_manifest_text(&m, "id"));
    ff_manifest_free(&m);
}

/* .../.runs/NAME/ID, and what is below it. */
static bool is_kept(const char *place) {
    for (const char *at = place; (at = strstr(at, "/.runs/")); at++) {
        char id[FF_RUN_ID];
        int64_t ms;
        const char *slash = strchr(at + strlen("/.runs/"), '/');
        snprintf(id, sizeof id, "%.*s", slash ? (int)strcspn(slash + 1, "/") : 0, slash ? slash + 1 : "");
        if (get_id(id, &ms) || strncmp(id, "earlier-", 8) == 0)
            return true;
    }
    return false;
}

/* Does the folder, or the one in which it would be made, belong to a run that is kept: these are not written
 * over, whatever link leads there. */
static bool leads_to_runs(const char *dir) {
    char path[FF_FILE_PATH];
    char *place = NULL;
    snprintf(path, sizeof path, "%s", dir);
    for (char *slash; !(place = realpath(path, NULL)) && (slash = strrchr(path, '/'));)
        *slash = 0;
    const bool inside = place && is_kept(place);
    free(place);
    return inside;
}

static ff_outcome begin_given(ff_run_folder *run, ff_notes *notes) {
    struct stat info;
    char which[FF_FILE_PATH], who[128] = "";
    if (snprintf(run->shown, sizeof run->shown, "%s", run->wanted.out) >= (int)sizeof run->shown - 64) {
        errno = ENAMETOOLONG;
        return cannot_write("--out", notes);
    }
    if (leads_to_runs(run->shown))
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: leads to a run that is kept in out/.runs, and would replace it; choose another "
            "folder with --out, or give none",
            run->shown);
    run->made = stat(run->shown, &info) != 0;
    memcpy(run->path, run->shown, sizeof run->path);
    if (ff_folder_make(run->shown) != FF_OK)
        return cannot_write(run->shown, notes);
    const ff_status locked = ff__run_lock(run->shown, &run->lock, who, sizeof who);
    if (locked == FF_ERR_LIMIT)
        return ff_notes_error(
            notes, FF_REFUSED,
            "%s: another run writes into this folder (%s); wait for its end, or choose another "
            "with --out",
            run->shown, who);
    if (locked != FF_OK)
        return cannot_write(run->shown, notes);
    const char *link = planted(run->shown, NULL);
    if (!link)
        recover(run->shown, notes);
    ff_manifest m;
    char trouble[200] = "";
    errno = 0;
    const ff_status found = ff_manifest_read(run->shown, &m);
    if (found != FF_OK)
        ff__manifest_trouble(run->shown, found, errno, trouble, sizeof trouble);
    take_time(run, NULL);
    ff_outcome outcome = link ? refuse_planted(run->shown, link, notes)
                         : found == FF_ERR_MEMORY
                             ? ff_notes_error(notes, FF_FAILED, "%s: no memory", run->shown)
                             : choose_place(run, &m, trouble, notes);
    if (run->resumed && *ff_manifest_text(&m, "id"))
        snprintf(run->id, sizeof run->id, "%.38s", ff_manifest_text(&m, "id"));
    ff_manifest_free(&m);
    if (outcome == FF_DONE && run->place == FF_RUN_STAGED) {
        snprintf(run->path, sizeof run->path, "%.4300s/" FF_RUN_NEW, run->shown);
        ff__run_remove(run->path, false); /* of a run that was not completed: --force */
        if (mkdir(run->path, 0777) != 0)
            outcome = cannot_write(run->shown, notes);
    }
    if (outcome == FF_DONE && ff__manifest_write(run, NULL, which) != FF_OK)
        outcome = cannot_write(run->shown, notes);
    if (outcome != FF_DONE) {
        if (run->place == FF_RUN_STAGED)
            rmdir(run->path);
        ff__run_unlock(run->shown, &run->lock);
        if (run->made)
            rmdir(run->shown);
    }
    return outcome;
}

/* -------------------------------------------------------------------------------------------------- all --
 */

ff_outcome ff_run_begin(const ff_run_wanted *wanted, ff_run_folder *run, ff_notes *notes) {
    *run = (ff_run_folder){.wanted = *wanted, .lock = -1};
    if (wanted->inputs && wanted->inputs->failed)
        return ff_notes_error(notes, FF_FAILED, "%s: no memory for the list of inputs", wanted->name);
    if (wanted->out && !*wanted->out)
        return ff_notes_error(notes, FF_REFUSED, "--out '': allowed: a folder's path");
    return wanted->out ? begin_given(run, notes) : begin_own(run, notes);
}

static const char *lock_folder(const ff_run_folder *run) {
    return run->place == FF_RUN_LINKED ? run->path : run->shown;
}

ff_outcome ff_run_finish(ff_run_folder *run, const ff_run_end *end, ff_notes *notes) {
    ff_outcome outcome = FF_DONE;
    char which[FF_FILE_PATH];
    errno = 0;
    ff_status shown = FF_OK;
    const ff_status written = ff__manifest_write(run, end, which);
    if (written != FF_OK)
        outcome = ff_notes_error(notes, FF_FAILED, "%s/%s: cannot be written (%s)", run->path, which,
                                 written == FF_ERR_MEMORY ? "no memory" : strerror(errno));
    else if (!end->whole || end->stopped)
        outcome = FF_FAILED;
    else if (run->place != FF_RUN_DIRECT &&
             (shown = run->place == FF_RUN_LINKED ? ff__run_link(run)
                                                  : ff__run_move(run->shown, run->wanted.force)) != FF_OK)
        outcome = ff_notes_error(
            notes, FF_FAILED, "%s: cannot be switched to the new run (%s); it is complete in %s", run->shown,
            errno == EEXIST  ? "a file that is not of the former run has a result's name: move it, and "
                               "the next run completes the switch"
            : errno == ELOOP ? "a link stands where a folder of results belongs: remove it, and the next run "
                               "completes the switch"
                             : strerror(errno),
            run->path);
    if (shown == FF_ERR_LIMIT)
        ff_notes_warning(notes,
                         "%s holds parts of both runs, the former one's in %s/" FF_RUN_FORMER
                         "; the next run into it completes the switch",
                         run->shown, run->shown);
    else if (outcome != FF_DONE && run->place != FF_RUN_DIRECT)
        ff_notes_warning(notes, "what was written is in %s; %s is as it was", run->path, run->shown);
    ff__run_unlock(lock_folder(run), &run->lock);
    return outcome;
}

void ff_run_abandon(ff_run_folder *run) {
    if (run->lock < 0)
        return;
    char path[FF_FILE_PATH];
    if (run->resumed)
        ff__manifest_write(run, &(ff_run_end){.exit_status = FF_REFUSED}, path);
    else if (run->place == FF_RUN_DIRECT) {
        ff__run_remove(run->path, true); /* it was empty */
        close(run->lock);
        run->lock = -1;
        if (run->made)
            rmdir(run->shown);
        return;
    }
    ff__run_unlock(lock_folder(run), &run->lock);
    if (run->resumed)
        return;
    ff__run_remove(run->path, false);
    if (run->place == FF_RUN_LINKED) { /* and what is empty above it */
        memcpy(path, run->path, sizeof path);
        for (char *slash; (slash = strrchr(path, '/'));) {
            *slash = 0;
            if (rmdir(path) != 0)
                break;
        }
    }
}
