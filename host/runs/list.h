/* runs/list.h - the runs that are kept below out/.runs: listed, found, compared, verified, removed. */
#ifndef FF_RUNS_LIST_H
#define FF_RUNS_LIST_H

#include "runs/runs.h"

typedef struct ff_run_entry {
    char name[128], id[64], path[FF_FILE_PATH];
    char state[16]; /* running, complete, stopped, incomplete; earlier: of a version without manifests;
                       unreadable */
    int error;      /* errno: why its manifest cannot be read; it is not known what it is */
    char command[32], method[96], verdict[40], started[32];
    uint64_t bytes;
    bool linked; /* out/NAME shows it */
} ff_run_entry;

typedef struct ff_run_list {
    int count;
    ff_run_entry *entry; /* by name, then from the oldest to the newest */
} ff_run_list;

/* Of one NAME as a scenario says it, or of all (NULL). FF_ERR_MEMORY; FF_ERR_IO with errno: a folder cannot
 * be read, so that what is in it is not known. */
ff_status ff_runs_list(const char *name, ff_run_list *list);
void ff_runs_free(ff_run_list *list);
/* The folder that a word means: a folder, NAME/ID, or an ID that only one run has. False: there
 * is none (errno ENOENT), or it cannot be looked at. */
bool ff_runs_find(const char *word, char path[FF_FILE_PATH]);

typedef struct ff_runs_prune_config {
    const char *name; /* NULL: each name */
    uint64_t keep;    /* the newest complete ones */
    bool incomplete;  /* and those that were not completed */
    bool dry;         /* remove nothing */
    bool force;       /* also runs with files that they did not write */
    void (*removed)(void *user, const ff_run_entry *entry);
    void (*cut)(void *user, const ff_run_entry *entry); /* kept though not complete; may be NULL */
    void (*failed)(void *user, const ff_run_entry *entry, int error); /* it cannot be removed: errno */
    void (*kept)(void *user, const ff_run_entry *entry,
                 const char *file); /* for a file that is not its own */
    void *user;
} ff_runs_prune_config;

/* Removes older runs, never one that is linked or written. FF_ERR_MEMORY, FF_ERR_IO as for ff_runs_list. */
ff_status ff_runs_prune(const ff_runs_prune_config *config);

/* Something about two runs that is not the same, or about one that was checked. */
typedef struct ff_run_finding {
    const char *kind;  /* "run", "input", "result", "value", "log" */
    const char *what;  /* key, path, file */
    const char *a, *b; /* as texts; verify: recorded, found */
    bool good;         /* verify: the same */
} ff_run_finding;

typedef void ff_run_take(void *user, const ff_run_finding *finding);

/* Everything that differs: program, call, inputs, files, and the values of summary.json, times of computing
 * apart. FF_ERR_FORMAT: one has no manifest; FF_ERR_MEMORY. */
ff_status ff_runs_diff(const char *a, const char *b, ff_run_take *take, void *user);

typedef struct ff_run_verify {
    int checked, different; /* results and logs */
    int changed;            /* inputs that are not what they were: the results are no worse for it */
    int replayed;           /* logs, to the same bits */
} ff_run_verify;

/* Hashes inputs and results again and replays every log.mcap. FF_OK also where something differs;
 * FF_ERR_FORMAT: no complete run, with a sentence; FF_ERR_MEMORY. */
ff_status ff_runs_verify(const char *folder, const ff_catalog *catalog, ff_run_take *take, void *user,
                         ff_run_verify *out, char *message, size_t size);

#endif
