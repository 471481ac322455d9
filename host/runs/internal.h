/* runs/internal.h - shared by the files of the room. */
#ifndef FF_RUNS_INTERNAL_H
#define FF_RUNS_INTERNAL_H

#include "runs/runs.h"
#include "scenario/tree.h"

#define FF_RUNS_ROOT "out/.runs"
#define FF_RUN_LOCK ".freefloat.lock"
#define FF_RUN_NEW ".freefloat.new"
#define FF_RUN_FORMER ".freefloat.former" /* what a switch sets aside until it is done */
#define FF_RUN_MANIFEST "manifest.json"

/* A result's name: `file` is relative to the folder, `below` one folder deep counts, too. */
bool ff__run_is_own(const char *file, bool below);
/* A file in the folder of a complete run that has a result's name, and that the run did not write or someone
 * has changed since. */
bool ff__run_foreign(const char *folder, const ff_manifest *former, char name[FF_FILE_PATH]);
/* folder/name; false: it is too long. */
bool ff__run_join(char path[FF_FILE_PATH], const char *folder, const char *name);
/* Is the file, or a folder on the way to it from `folder`, a link. */
bool ff__run_is_link(const char *folder, const char *file);
/* Is a folder on the way to the file a link. */
bool ff__run_leads_out(const char *folder, const char *file);
/* SHA-256 of folder/file, no link. FF_ERR_IO with errno. */
ff_status ff__run_hash(const char *folder, const char *file, char sha256[FF_SHA256_TEXT]);
/* A manifest is a file like any other: what it names must lie in its folder. */
bool ff__run_is_below(const char *name);
/* Removes a folder and all below it; keep: not the folder itself. */
void ff__run_remove(const char *folder, bool keep);
/* Is on the disk: the names in a folder. FF_ERR_IO with errno. */
ff_status ff__run_sync(const char *folder);
/* Where two logs differ first. */
typedef struct ff_log_difference {
    uint64_t rows;    /* that differ; 0: none */
    uint64_t row;     /* the first of them, from 1; 0: the columns themselves */
    char column[160]; /* in it; "": only one of them has it */
    char a[64], b[64];
} ff_log_difference;

/* log.csv or log.mcap, times of computing (timing.*) apart. FF_ERR_IO, FF_ERR_FORMAT, FF_ERR_MEMORY: not
 * compared. */
ff_status ff__run_compare_logs(const char *a, const char *b, ff_log_difference *difference);
/* [ms] since 1970 as ISO 8601, in UTC. */
void ff__run_time(int64_t ms, char text[32]);

/* flock on folder/.freefloat.lock. FF_ERR_LIMIT: another process has it; who: "process 12 on host"; FF_ERR_IO
 * with errno. */
ff_status ff__run_lock(const char *folder, int *lock, char *who, size_t size);
/* Removes the lock's file and lets go. */
void ff__run_unlock(const char *folder, int *lock);
/* Does a process write in the folder now. */
bool ff__run_locked(const char *folder);

/* Calls `take` with every file below the folder, in order of names: its path from there. The manifest is left
 * out, and without `hidden` what begins with a dot; with it our lock. Folders below the fifth are files.
 * False: `take` said so, or no memory. */
bool ff__run_files(const char *folder, bool hidden, bool (*take)(void *user, const char *file), void *user);

/* Writes path/manifest.json. end NULL: running. FF_ERR_IO with errno and the file that it was, FF_ERR_MEMORY.
 */
ff_status ff__manifest_write(const ff_run_folder *run, const ff_run_end *end, char which[FF_FILE_PATH]);
/* Why it was not read, as a sentence about its folder: not there, a link, no file, unreadable, not ours.
 * status, error: of ff_manifest_read, and errno. */
void ff__manifest_trouble(const char *folder, ff_status status, int error, char *text, size_t size);
ff_status ff__manifest_read_file(const char *path, ff_manifest *manifest);
/* Shows a complete run: switches the link, or moves the files. FF_ERR_IO with errno, and what was shown
 * before is shown still; EEXIST: a result would replace a file that the former run did not write (unless
 * `force`). FF_ERR_LIMIT: it could not be put back, and the next run completes the switch. */
ff_status ff__run_link(const ff_run_folder *run);
ff_status ff__run_move(const char *folder, bool force);
/* A folder that stands where a result's file may come; NULL: none. */
const char *ff__run_blocked(const char *folder);

#endif
